/* cudart/core/cycles.c - the modelled part of --stats: a launch's log, replayed on the clock, summed by who waited for
 * what; contract in cycles.h. */
#include "cudart/core/cycles.h"

#include "base/compare.h"
#include "base/heap.h"
#include "clock/clock.h"
#include "view/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a warp has waited for, where no object of the log says it. */
static const char *sync_name(uint32_t kind) {
    if (kind == SYNC_TCGEN05_WAIT_LD || kind == SYNC_TCGEN05_USE)
        return "tcgen05.ld";
    return kind == SYNC_TCGEN05_WAIT_ST ? "tcgen05.st" : kind == SYNC_GROUP_WAIT ? "its copies" : NULL;
}

/* "full" of full[0]: barriers of an array are one. */
static void put_name(char *to, size_t size, const char *name) {
    snprintf(to, size, "%.*s", (int)strcspn(name, "["), name);
}

static struct stats_wait *row_of(struct stats_cycles *s, const char *role, const char *what) {
    for (uint32_t i = 0; i < s->num_waits; i++)
        if (strcmp(s->waits[i].role, role) == 0 && strcmp(s->waits[i].what, what) == 0)
            return &s->waits[i];
    s->waits = xgrow(s->waits, s->num_waits, &s->cap_waits, sizeof *s->waits);
    struct stats_wait *w = &s->waits[s->num_waits++];
    *w = (struct stats_wait){0};
    snprintf(w->role, sizeof w->role, "%s", role);
    snprintf(w->what, sizeof w->what, "%s", what);
    return w;
}

/* What threads waited for in an event; false where it is none of those that wait. */
static bool waited_for(const struct trace_event *e, const struct trace_cluster *c, const struct names_cluster *n,
                       char *what, size_t size) {
    if (e->class != TRACE_SYNC && e->class != TRACE_WAIT)
        return false;
    if (e->object && c->objects[e->object - 1].kind != OBJECT_QUEUE) {
        put_name(what, size, n->objects[e->object - 1]);
        return true;
    }
    const char *name = e->class == TRACE_SYNC ? sync_name(e->kind) : NULL;
    snprintf(what, size, "%s", name ? name : "");
    return name != NULL;
}

/* The events of one warp so far. */
struct course {
    uint32_t last; /* its latest event: number, 0: none */
    double first;  /* when the first was */
    char role[sizeof((struct stats_wait *)0)->role];
};

/* An event that something other than the warp's own course decided has been waited for since the event before it. */
static void add_event(struct stats_cycles *s, struct course *w, const struct trace_cluster *c,
                      const struct names_cluster *n, const struct clock_cluster *k, uint32_t i) {
    const double before = k->cycle[w->last - 1], waited = k->cycle[i] - before;
    char what[sizeof s->waits->what];
    if (k->cause[i] == 0 || k->cause[i] == w->last || !(waited > 0) ||
        !waited_for(&c->events[i], c, n, what, sizeof what))
        return;
    struct stats_wait *row = row_of(s, w->role, what);
    row->waits++;
    row->cycles += waited;
}

static void add_life(struct stats_cycles *s, const struct course *w, double end) {
    struct stats_wait *row = row_of(s, w->role, "");
    row->waits++;
    row->cycles += end - w->first;
}

static void add_cluster(struct stats_cycles *s, const struct trace_cluster *c, const struct names_cluster *n,
                        const struct clock_cluster *k) {
    const uint32_t warps = n->num_warps;
    struct course *course = xcalloc((size_t)c->ctas * warps + 1, sizeof *course);
    for (uint32_t i = 0; i < c->num_events; i++) {
        const struct trace_event *e = &c->events[i];
        if (e->op || e->warp == TRACE_NO_WARP || e->warp >= warps || e->rank >= c->ctas)
            continue;
        const uint32_t at = e->rank * warps + e->warp;
        struct course *w = &course[at];
        if (w->last == 0) {
            w->first = k->cycle[i];
            put_name(w->role, sizeof w->role, n->warps[at]);
        } else {
            add_event(s, w, c, n, k, i);
        }
        w->last = i + 1;
    }
    for (uint32_t at = 0; at < c->ctas * warps; at++)
        if (course[at].last)
            add_life(s, &course[at], k->cycle[course[at].last - 1]);
    xfree(course);
}

static int by_cycles(const void *x, const void *y) {
    const struct stats_wait *a = x, *b = y;
    return COMPARE(b->cycles, a->cycles) ?: strcmp(a->role, b->role) ?: strcmp(a->what, b->what);
}

/* The rows of lives become shares of those of waits, and go. */
static void finish(struct stats_cycles *s) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->num_waits; i++) {
        const struct stats_wait *life = s->waits[i].what[0] ? row_of(s, s->waits[i].role, "") : NULL;
        s->waits[i].share = life && life->cycles > 0 ? s->waits[i].cycles / life->cycles : 0;
        s->waits[i].warps = life ? life->waits : 0;
    }
    for (uint32_t i = 0; i < s->num_waits; i++)
        if (s->waits[i].what[0])
            s->waits[kept++] = s->waits[i];
    s->num_waits = kept;
    if (kept)
        qsort(s->waits, kept, sizeof *s->waits, by_cycles);
}

struct stats_time rt_time(const struct clock_state *state, double cycles, struct clock_load load) {
    const struct clock_table table = clock_b200_in(state);
    const struct clock_time t = clock_time(&table, state, cycles, load);
    struct stats_time found = {.ghz = t.ghz, .ns = t.ns, .low = t.low, .high = t.high};
    clock_state_text(state, found.state, sizeof found.state);
    return found;
}

struct stats_cycles *rt_cycles(const struct trace_log *log, const struct clock_state *state, int64_t newest) {
    const struct clock_table table = clock_b200_in(state);
    struct stats_cycles *s = xcalloc(1, sizeof *s);
    struct clock_result r = {0};
    if (!clock_replay(log, &table, &r, s->why, sizeof s->why))
        return s;
    struct names *names = names_make(log, newest);
    for (uint32_t i = 0; i < r.num_clusters; i++)
        add_cluster(s, &log->clusters[i], names_of(names, i), &r.clusters[i]);
    finish(s);
    s->cycles = r.cycles;
    s->sms = r.sms;
    s->tensor = r.sms && r.cycles > 0 ? r.busy.tensor / (r.cycles * r.sms) : 0;
    s->tma = r.sms && r.cycles > 0 ? r.busy.tma / (r.cycles * r.sms) : 0;
    s->hbm = r.cycles > 0 ? r.busy.hbm / r.cycles : 0;
    s->time = rt_time(state, r.cycles, r.load);
    s->time.ptx = 2 * log->counted < log->instructions;
    s->l2_bytes = r.busy.l2_bytes;
    s->hbm_bytes = r.busy.hbm_bytes;
    clock_doubts_text(&r.doubts, s->doubts, sizeof s->doubts);
    names_free(names);
    clock_result_free(&r, log);
    return s;
}
