/* view/times.c - when the events of a log happen; contract in times.h. */
#include "view/times.h"

#include "base/compare.h"
#include "base/heap.h"

#include <stdlib.h>

/* --- the order of time -------------------------------------------------------------------------------------------- */

struct moment {
    double cycle;
    uint32_t event;
};

static int by_time(const void *a, const void *b) {
    const struct moment *p = a, *q = b;
    return COMPARE(p->cycle, q->cycle) ?: COMPARE(p->event, q->event);
}

static uint32_t *sort_events(const struct trace_cluster *c, const double *cycle) {
    struct moment *list = xcalloc((size_t)c->num_events + 1, sizeof *list);
    uint32_t *order = xcalloc((size_t)c->num_events + 1, sizeof *order);
    for (uint32_t i = 0; i < c->num_events; i++)
        list[i] = (struct moment){cycle[i], i + 1};
    qsort(list, c->num_events, sizeof *list, by_time);
    for (uint32_t i = 0; i < c->num_events; i++)
        order[i] = list[i].event;
    xfree(list);
    return order;
}

/* --- mbarriers ---------------------------------------------------------------------------------------------------- */

/* What has come of a phase, and of the one before or behind it: bytes may come before the phase that they belong to
 * begins. */
struct progress {
    uint32_t count; /* arrivals of a phase */
    struct {
        uint32_t phase;
        int64_t arrived, tx;
    } of[2]; /* by the phase's parity */
};

static void note(const struct trace_event *e, struct progress *p, uint32_t *pending, int32_t *tx) {
    const uint32_t side = e->phase & 1;
    if (p->of[side].phase != e->phase) {
        p->of[side].phase = e->phase;
        p->of[side].arrived = p->of[side].tx = 0;
    }
    if (e->kind == SYNC_MBAR_ARRIVE || e->kind == SYNC_MBAR_DROP)
        p->of[side].arrived += e->count;
    else if (e->kind == SYNC_MBAR_PENDING)
        p->of[side].arrived--;
    else if (e->kind == SYNC_MBAR_EXPECT_TX)
        p->of[side].tx += (int64_t)e->value;
    else if (e->kind == SYNC_MBAR_COMPLETE_TX)
        p->of[side].tx -= (int64_t)e->value;
    const int64_t left = (int64_t)p->count - p->of[side].arrived;
    *pending = left > 0 ? (uint32_t)left : 0;
    *tx = (int32_t)p->of[side].tx;
    if (e->kind == SYNC_MBAR_DROP && p->count >= e->count) { /* in the phases to come */
        p->count -= e->count;
        p->of[side].arrived -= e->count;
    }
}

struct say_times times_cluster(const struct trace_cluster *c, const double *cycle, const uint32_t *causes) {
    uint32_t *order = sort_events(c, cycle), *pending = xcalloc((size_t)c->num_events + 1, sizeof *pending);
    int32_t *tx = xcalloc((size_t)c->num_events + 1, sizeof *tx);
    struct progress *all = xcalloc((size_t)c->num_objects + 1, sizeof *all);
    for (uint32_t i = 0; i < c->num_objects; i++)
        all[i].count = c->objects[i].count;
    for (uint32_t i = 0; i < c->num_events; i++) {
        const uint32_t event = order[i];
        const struct trace_event *e = &c->events[event - 1];
        if (e->class == TRACE_SYNC && e->kind < SYNC_MBAR_PHASE && e->object)
            note(e, &all[e->object - 1], &pending[event - 1], &tx[event - 1]);
        else if (e->class == TRACE_SYNC && e->kind == SYNC_MBAR_PHASE && e->object)
            pending[event - 1] = all[e->object - 1].count;
    }
    xfree(all);
    return (struct say_times){.cycle = cycle, .causes = causes, .order = order, .pending = pending, .tx = tx};
}

void times_free_cluster(struct say_times *times) {
    xfree((void *)(uintptr_t)times->order);
    xfree((void *)(uintptr_t)times->pending);
    xfree((void *)(uintptr_t)times->tx);
}

/* --- logs --------------------------------------------------------------------------------------------------------- */

bool times_make(struct times *t, const struct trace_log *log, char *why, size_t size) {
    *t = (struct times){0};
    const struct clock_table table = clock_b200();
    if (!clock_replay(log, &table, &t->result, why, size))
        return false;
    t->say = xcalloc((size_t)log->num_clusters + 1, sizeof *t->say);
    for (uint32_t i = 0; i < log->num_clusters; i++)
        t->say[i] = times_cluster(&log->clusters[i], t->result.clusters[i].cycle, t->result.clusters[i].cause);
    clock_doubts_text(&t->result.doubts, t->doubts, sizeof t->doubts);
    return true;
}

void times_free(struct times *t, const struct trace_log *log) {
    for (uint32_t i = 0; i < log->num_clusters; i++)
        times_free_cluster(&t->say[i]);
    xfree(t->say);
    clock_result_free(&t->result, log);
}
