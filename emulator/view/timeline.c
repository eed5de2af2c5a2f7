/* view/timeline.c - the first tiles of a cluster as text; contract in timeline.h.
 *
 * A row stands for an event that a reader follows: what is issued, what is announced and arrives, what completes and
 * what that lets go on. What a warp does several times in a row is one row with a number; what a loop repeats is shown
 * a few times in each tile, and then counted.
 */
#include "view/timeline.h"

#include "base/heap.h"
#include "base/strbuf.h"
#include "view/tiles.h"

#include <math.h>
#include <string.h>

/* Events of one sort, next to each other in what their warp does. */
struct run {
    uint32_t first, last, count;
    uint32_t from, end; /* columns of tensor memory */
    double when;
    uint32_t began; /* the wait that ended, or 0 */
    uint64_t key;
};

struct draft {
    const struct timeline *t;
    const struct say *s;
    struct run *runs;
    uint32_t count, cap;
    uint32_t *waits; /* by rank and warp: the latest wait that began */
};

struct timeline timeline_default(void) {
    return (struct timeline){.last_tile = 1, .ctas = 3, .repeat = 2};
}

/* --- which events ------------------------------------------------------------------------------------------------- */

static bool shows_op(const struct say *s, const struct trace_event *e) {
    const struct trace_op *op = e->op ? &s->c->ops[e->op - 1] : NULL;
    return op && e->kind == OP_ISSUED && op->leader == e->op && !op->follows;
}

static bool shows_sync(const struct say *s, uint32_t number) {
    const struct trace_event *e = &s->c->events[number - 1];
    switch ((enum event_sync_kind)e->kind) {
    case SYNC_MBAR_PHASE:
    case SYNC_BAR_PHASE:
    case SYNC_CLUSTER_PHASE:
    case SYNC_MBAR_EXPECT_TX:
        return true;
    case SYNC_MBAR_ARRIVE: /* of threads, and not the arrival of an expect_tx, which comes right behind it */
    case SYNC_MBAR_DROP:
        return !e->op && !(number > 1 && e[-1].class == TRACE_SYNC && e[-1].kind == SYNC_MBAR_EXPECT_TX &&
                           e[-1].site == e->site && e[-1].rank == e->rank && e[-1].warp == e->warp);
    default:
        return false;
    }
}

static bool shows_wait(const struct trace_event *e) {
    return e->kind == WAIT_MET && (e->what == WAIT_MBARRIER || e->what == WAIT_TMEM_ALLOC || e->what == WAIT_PAIR ||
                                   e->what == WAIT_REGISTERS || e->what == WAIT_ASYNC || e->what == WAIT_ROOM);
}

static bool shows(const struct draft *d, uint32_t number) {
    const struct trace_event *e = &d->s->c->events[number - 1];
    const uint32_t rank = say_rank(d->s, number);
    if (rank >= 32 || !(d->t->ctas >> rank & 1))
        return false;
    switch ((enum trace_class)e->class) {
    case TRACE_SYNC:
        return shows_sync(d->s, number);
    case TRACE_OP:
        return shows_op(d->s, e);
    case TRACE_WAIT:
        return shows_wait(e);
    case TRACE_LIFE:
        return e->kind == LIFE_TMEM_ALLOC || e->kind == LIFE_TMEM_DEALLOC || e->kind == LIFE_MBAR_INIT ||
               e->kind == LIFE_CTA_EXIT;
    case TRACE_GLOBAL:
        return true;
    case TRACE_STEP:
        return false;
    }
    return false;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* Is it one of several that a row may stand for? */
static bool folds(const struct say *s, const struct trace_event *e) {
    if (e->class == TRACE_OP) {
        const uint32_t agent = s->c->ops[e->op - 1].agent;
        return agent == AGENT_TENSOR_CORE || agent == AGENT_TENSOR_LDST || agent == AGENT_TENSOR_COPY ||
               agent == AGENT_CP_ASYNC;
    }
    return e->class == TRACE_GLOBAL || (e->class == TRACE_LIFE && e->kind == LIFE_MBAR_INIT) ||
           (e->class == TRACE_SYNC && e->kind == SYNC_MBAR_ARRIVE);
}

static uint64_t mix(uint64_t key, uint64_t n) { return (key ^ n) * UINT64_C(0x100000001B3); }

static uint64_t mix_text(uint64_t key, const char *text, const char *until) {
    for (size_t n = strcspn(text, until); n; n--)
        key = mix(key, (unsigned char)*text++);
    return key;
}

/* What rows of one sort have in common: who, what, and the name of the object without its index. */
static uint64_t key_of(const struct say *s, uint32_t number) {
    const struct trace_event *e = &s->c->events[number - 1];
    uint64_t key = mix(UINT64_C(0xCBF29CE484222325), say_rank(s, number));
    if (say_is_phase(e) || e->warp == TRACE_NO_WARP || e->warp >= s->n->num_warps)
        key = mix(key, 300);
    else
        key = mix_text(key, names_alike(s->names) ? "warp" : s->n->warps[e->rank * s->n->num_warps + e->warp], "");
    key = mix(key, e->class * 256u + e->kind);
    if (e->op && !say_is_phase(e)) {
        const struct trace_op *op = &s->c->ops[e->op - 1];
        key = mix(mix(mix(key, op->m), op->n), op->k);
        key = mix_text(key, trace_string(s->log, op->name), "");
        key = mix(key, op->agent == AGENT_TENSOR_CORE ? op->to_off : e->site);
    } else if (e->object && e->class != TRACE_LIFE) {
        key = mix_text(key, s->n->objects[e->object - 1], "[");
    }
    return e->class == TRACE_WAIT ? mix(key, e->what) : key;
}

static void widen(struct run *r, const struct say *s, uint32_t number) {
    const struct trace_event *e = &s->c->events[number - 1];
    const struct trace_op *op = e->class == TRACE_OP ? &s->c->ops[e->op - 1] : NULL;
    if (!op)
        return;
    const uint32_t first = (op->to ? op->to_off : op->from_off) & 0xffff;
    uint32_t end = first + op->n;
    if (op->agent == AGENT_TENSOR_CORE)
        names_accumulator(op, &end);
    r->from = r->count == 1 || first < r->from ? first : r->from;
    r->end = end > r->end ? end : r->end;
}

/* The latest run of the event's warp, of the few latest ones. */
static struct run *run_before(struct draft *d, const struct trace_event *e) {
    for (uint32_t i = d->count; i > 0 && i + 512 > d->count; i--) {
        const struct trace_event *other = &d->s->c->events[d->runs[i - 1].first - 1];
        if (other->rank == e->rank && other->warp == e->warp && !say_is_phase(other))
            return &d->runs[i - 1];
    }
    return NULL;
}

static void add(struct draft *d, uint32_t number) {
    const struct say *s = d->s;
    const struct trace_event *e = &s->c->events[number - 1];
    const uint64_t key = key_of(s, number);
    struct run *before = folds(s, e) ? run_before(d, e) : NULL;
    const bool same = before && s->c->events[before->last - 1].object == e->object;
    if (before && before->key == key && (same || e->class != TRACE_SYNC)) {
        before->last = number;
        before->count++;
        widen(before, s, number);
        return;
    }
    d->runs = xgrow(d->runs, d->count, &d->cap, sizeof *d->runs);
    struct run *r = &d->runs[d->count++];
    *r = (struct run){.first = number, .last = number, .count = 1, .key = key, .when = say_when(s, number)};
    if (e->class == TRACE_WAIT)
        r->began = d->waits[e->rank * 256u + e->warp];
    widen(r, s, number);
}

static void note_wait(struct draft *d, uint32_t number) {
    const struct trace_event *e = &d->s->c->events[number - 1];
    if (e->class == TRACE_WAIT && e->kind == WAIT_BEGINS)
        d->waits[e->rank * 256u + e->warp] = number;
}

static void take(struct draft *d, uint32_t number) {
    note_wait(d, number);
    if (shows(d, number))
        add(d, number);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void put_what(struct strbuf *w, const struct say *s, const struct run *r) {
    const struct trace_event *e = &s->c->events[r->first - 1];
    const struct trace_op *op = e->class == TRACE_OP ? &s->c->ops[e->op - 1] : NULL;
    char text[320];
    if (op && folds(s, e)) {
        if (r->count > 1)
            strbuf_put(w, "%u x ", r->count);
        if (op->agent == AGENT_TENSOR_CORE)
            strbuf_put(w, "UMMA %ux%ux%u, D%s", op->m, op->n, op->k, op->accumulate ? " +=," : " =,");
        else
            strbuf_put(w, "%s", trace_string(s->log, op->name));
        if (r->end > r->from && op->agent != AGENT_CP_ASYNC)
            strbuf_put(w, " columns %u-%u", r->from, r->end - 1);
        return;
    }
    if (op) {
        strbuf_put(w, "%s", say_instruction(s, e->op, text, sizeof text));
        return;
    }
    if (r->count > 1 && e->class == TRACE_LIFE) {
        strbuf_put(w, "initialises %u mbarriers", r->count);
        return;
    }
    strbuf_put(w, "%s", say_what(s, r->last, text, sizeof text));
    if (r->began && s->times)
        strbuf_put(w, ", %.0f cycles", r->when - say_when(s, r->began));
    else if (r->began)
        strbuf_put(w, ", since %u", r->began);
    if (r->count > 1)
        strbuf_put(w, ", %u times", r->count);
}

/* Of a wait that a phase ended, what completed that: the phase has a row of its own. */
static const char *put_why(const struct say *s, uint32_t number, char *buf, size_t size) {
    const struct trace_event *e = &s->c->events[number - 1];
    const uint32_t phase = say_cause(s, number);
    const bool is_phase = phase && say_is_phase(&s->c->events[phase - 1]);
    const uint32_t cause = is_phase ? say_cause(s, phase) : 0;
    buf[0] = 0;
    if (e->class == TRACE_OP)
        return buf;
    if (e->class != TRACE_WAIT || !cause)
        return say_why(s, number, buf, size);
    return say_brief(s, cause, buf, size);
}

static void put_run(const struct rows *out, const struct say *s, const struct run *r) {
    char who[80], what[400], why[400], where[160];
    const struct trace_event *e = &s->c->events[r->first - 1];
    struct strbuf w = strbuf_in(what, sizeof what);
    put_what(&w, s, r);
    rows_put(out, &(struct row){.when = r->when,
                                .clock = s->times != NULL,
                                .rank = say_rank(s, r->first),
                                .milestone = say_is_phase(e),
                                .who = say_who(s, r->first, who, sizeof who),
                                .what = what,
                                .why = put_why(s, r->first, why, sizeof why),
                                .where = say_where(s, e->site, where, sizeof where)});
}

/* How often each key was seen: open addressing, a power of two of places. */
struct seen {
    uint64_t *key;
    uint32_t *times;
    uint32_t places;
};

static uint32_t count_key(struct seen *seen, uint64_t key) {
    uint32_t at = (uint32_t)(key >> 20) & (seen->places - 1);
    while (seen->times[at] && seen->key[at] != key)
        at = (at + 1) & (seen->places - 1);
    seen->key[at] = key;
    return ++seen->times[at];
}

#define MANY_HIDDEN 8u /* rows that are counted before that is said */

/* Prints the rows of one tile; repeat: how often those of one sort. */
static void put_tile(const struct rows *out, const struct draft *d, uint32_t repeat) {
    struct seen seen = {.places = 16};
    uint32_t hidden = 0;
    while (seen.places / 2 < d->count)
        seen.places *= 2;
    seen.key = xcalloc(seen.places, sizeof *seen.key);
    seen.times = xcalloc(seen.places, sizeof *seen.times);
    for (uint32_t i = 0; i < d->count; i++) {
        const uint32_t times = count_key(&seen, d->runs[i].key);
        if (repeat && times > repeat) {
            hidden++;
            continue;
        }
        if (hidden >= MANY_HIDDEN) {
            rows_note(out, "      ... %u more like those above", hidden);
            hidden = 0;
        }
        put_run(out, d->s, &d->runs[i]);
    }
    if (hidden)
        rows_note(out, "      ... %u more like those above", hidden);
    xfree(seen.key);
    xfree(seen.times);
}

/* --- a cluster ---------------------------------------------------------------------------------------------------- */

static void put_head(struct rows *out, const struct say *s, const struct timeline *t) {
    char kernel[128], ctas[128];
    struct strbuf w = strbuf_in(ctas, sizeof ctas);
    const uint32_t all = s->c->ctas < 32 ? (1u << s->c->ctas) - 1 : UINT32_MAX;
    strbuf_bits(&w, t->ctas & all);
    rows_note(out, "%s, cluster %llu of %u in the log: cta%s of %u (by rank)",
              diag_function(trace_string(s->log, s->log->kernel), kernel, sizeof kernel),
              (unsigned long long)s->c->number, s->log->num_clusters, ctas, s->c->ctas);
    rows_head(out, s);
}

/* When the first CTA begins a tile. */
static double tile_time(const struct say *s, const uint32_t *tiles, uint32_t tile) {
    double first = HUGE_VAL;
    for (uint32_t i = 0; i < s->c->num_ops; i++)
        if (tiles[i] == tile && s->c->ops[i].issued && say_when(s, s->c->ops[i].issued) < first)
            first = say_when(s, s->c->ops[i].issued);
    return first;
}

/* That there is more. */
static void put_rest(struct rows *out, const struct say *s, const uint32_t *tiles, uint32_t next) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < s->c->num_ops; i++)
        last = tiles[i] != TILES_NONE && tiles[i] > last && s->c->ops[i].issued ? tiles[i] : last;
    if (next == last)
        rows_note(out, "--- left out: tile %u (--tiles=%u)", last, last);
    else if (next < last)
        rows_note(out, "--- left out: tiles %u to %u (--tiles=%u-%u)", next, last, next, last);
}

static bool check(const struct trace_log *log, const struct timeline *t, char *why, size_t size) {
    if (t->cluster >= log->num_clusters) {
        snprintf(why, size, "there is no cluster %u: the log has %u", t->cluster, log->num_clusters);
        return false;
    }
    return true;
}

bool timeline_print(struct rows *out, const struct trace_log *log, struct names *names, const struct say_times *times,
                    const struct timeline *t, char *why, size_t size) {
    if (!check(log, t, why, size))
        return false;
    const struct say s = say_of(log, names, t->cluster, times);
    struct draft d = {.t = t, .s = &s, .waits = xcalloc(256 * 256, sizeof *d.waits)};
    uint32_t *tiles = tiles_of(s.c), at = 0;
    const bool has_tiles = tile_time(&s, tiles, 0) < HUGE_VAL;
    const bool has_first = t->first_tile == 0 || tile_time(&s, tiles, t->first_tile) < HUGE_VAL;
    if (has_first)
        put_head(out, &s, t);
    else
        snprintf(why, size, "cluster %u has no tile %u in the log", t->cluster, t->first_tile);
    while (has_first && t->first_tile && at < s.c->num_events &&
           say_when(&s, say_nth(&s, at)) < tile_time(&s, tiles, t->first_tile))
        note_wait(&d, say_nth(&s, at++));
    for (uint32_t tile = t->first_tile; has_first && at < s.c->num_events && tile <= t->last_tile; tile++) {
        const double next = tile_time(&s, tiles, tile + 1);
        d.count = 0;
        for (; at < s.c->num_events && say_when(&s, say_nth(&s, at)) < next; at++)
            take(&d, say_nth(&s, at));
        if (has_tiles)
            rows_note(out, "--- tile %u", tile);
        /* behind the first tile the sorts are known */
        put_tile(out, &d, tile == t->first_tile ? t->repeat : t->repeat > 1 ? 1 : t->repeat);
    }
    if (has_first)
        put_rest(out, &s, tiles, t->last_tile + 1);
    xfree(d.runs);
    xfree(d.waits);
    xfree(tiles);
    return has_first;
}
