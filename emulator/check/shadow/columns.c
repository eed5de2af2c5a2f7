/* check/shadow/columns.c - accesses to tensor memory; contract in kept.h.
 *
 * Areas of columns and lanes are remembered. A kernel has few different ones, and a new area replaces an equal one.
 */
#include "check/shadow/kept.h"

#include "base/heap.h"
#include "check/verdict/dealloc.h"

#include <string.h>

/* An area: columns and lanes that an operation reads or writes; until a later access that is ordered after it covers
 * it, or its columns are freed. */
struct area {
    uint32_t from, to; /* columns */
    uint32_t lanes[4];
    struct note *note;
    bool write;
};

/* The areas of a CTA's tensor memory, until the cluster ends. */
struct columns_watch {
    struct area *areas;
    uint32_t num, cap;
    bool alone;           /* none of them has a cell of the latest */
    uint32_t num_closing; /* of `closing` */
    struct area
        lost; /* columns and lanes of areas that were forgotten since the allocation; `write`: some were writes */
    struct pair_alloc alloc;                                /* a dealloc of its pair must be ordered after it */
    struct event_life closing[TMEM_COLUMNS / TMEM_GRANULE]; /* a pair's deallocations that only one CTA has executed */
};

static struct columns_watch *watch_of(struct columns *c) {
    if (!c->watch)
        c->watch = xcalloc(1, sizeof *c->watch);
    return c->watch;
}

/* Do the two share a cell? */
static bool overlap(const struct area *a, const struct area *b) {
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 4; i++)
        lanes |= a->lanes[i] & b->lanes[i];
    return lanes && a->from < b->to && b->from < a->to;
}

/* Has `a` all cells of `b`? */
static bool covers(const struct area *a, const struct area *b) {
    uint32_t left = 0;
    for (unsigned i = 0; i < 4; i++)
        left |= b->lanes[i] & ~a->lanes[i];
    return !left && a->from <= b->from && b->to <= a->to;
}

static void drop_area(struct race *r, struct columns_watch *c, uint32_t i) {
    if (c->areas[i].note)
        note_drop(r, c->areas[i].note);
    c->areas[i] = c->areas[--c->num];
}

/* Compares `old` with the access of `v` to `a`, which shares cells with it: a conflict without order is reported, once
 * for each access. Returns whether a later access need no longer be compared with `old`, if `a` covers it. */
static bool judge(struct race *r, struct cta *owner, const struct area *old, const struct area *a,
                  const struct viewer *v, bool *told) {
    if (!(old->write || a->write))
        return old->note == v->note || viewer_knows_done(v, LAYER_ORDER, old->note, old->write);
    const struct diag *rule = verdict_note(r, old->note, old->write, v, a->write, IN_TENSOR);
    if (rule && !*told && race_tells(r, rule)) {
        const struct spot at = {IN_TENSOR, owner, a->from > old->from ? a->from : old->from};
        const struct conflict f = verdict_note_conflict(r, rule, old->note, old->write, v, a->write, &at);
        conflict_tell(r, &f);
        *told = true;
    }
    return true; /* reported once */
}

/* Forgets the oldest area; a later access to its columns may need it (BOUND_AREAS). */
static void forget_area(struct race *r, struct columns_watch *c) {
    const struct area *a = &c->areas[0];
    struct area *lost = &c->lost;
    const bool none = lost->from == lost->to;
    lost->from = none || a->from < lost->from ? a->from : lost->from;
    lost->to = none || a->to > lost->to ? a->to : lost->to;
    for (unsigned i = 0; i < 4; i++)
        lost->lanes[i] |= a->lanes[i];
    lost->write |= a->write;
    drop_area(r, c, 0);
}

/* An access to columns of forgotten areas: a conflict may be missed, which is announced. */
static void judge_lost(const struct race *r, const struct columns_watch *c, const struct area *a) {
    if (overlap(&c->lost, a) && (c->lost.write || a->write))
        race_lost(r, BOUND_AREAS);
}

/* Does the access come to the same cells as the latest, which shares them with no other? */
static bool is_again(const struct columns_watch *c, const struct area *a) {
    const struct area *latest = c->num ? &c->areas[c->num - 1] : NULL;
    return latest && c->alone && latest->from == a->from && latest->to == a->to &&
           memcmp(latest->lanes, a->lanes, sizeof a->lanes) == 0;
}

/* Is it the next tcgen05.mma of the same thread into the same accumulator? They run in the order of issue (9.7.16.6.2).
 */
static bool goes_on(const struct note *first, const struct note *n) {
    return first->agent == AGENT_TENSOR_CORE && n->agent == AGENT_TENSOR_CORE && first->warp == n->warp &&
           first->lanes == n->lanes && first->cta_group == n->cta_group && first->d == n->d && first->m == n->m &&
           first->n == n->n && first->time <= n->time;
}

/* Compares the new area with all remembered ones. Those that it covers and comes after are dropped. */
static void judge_all(struct race *r, struct cta *owner, struct columns_watch *c, const struct area *a,
                      const struct viewer *v) {
    bool told = false, alone = true;
    judge_lost(r, c, a);
    for (uint32_t i = 0; i < c->num; i++) {
        if (!overlap(&c->areas[i], a))
            continue;
        if (judge(r, owner, &c->areas[i], a, v, &told) && covers(a, &c->areas[i]) && (a->write || !c->areas[i].write))
            drop_area(r, c, i--);
        else
            alone = false;
    }
    c->alone = alone;
}

/* Once one CTA of the pair has executed its tcgen05.dealloc, nothing may use the columns. */
static void check_closing(const struct event_access *e, const struct columns_watch *c, const struct area *a) {
    for (uint32_t i = 0; i < c->num_closing; i++) {
        const struct event_life *l = &c->closing[i];
        if (a->from >= l->column + l->columns || l->column >= a->to)
            continue;
        dealloc_tell_used(e, a->from, a->to, l);
        return;
    }
}

void columns_access(struct race *r, struct columns *columns, const struct event_access *e, struct note *n) {
    struct columns_watch *c = watch_of(columns);
    struct area a = {.from = (uint32_t)e->at[0], .note = n, .write = e->effect & EFFECT_WRITE};
    if (!n)
        return;
    a.to = a.from + e->columns;
    memcpy(a.lanes, e->tmem_lanes, sizeof a.lanes);
    check_closing(e, c, &a);
    if (a.write && is_again(c, &a) && goes_on(c->areas[c->num - 1].note, n)) {
        struct area *latest = &c->areas[c->num - 1];
        judge_lost(r, c, &a);
        sums_columns(r, &columns->sums, e, n);
        note_hold(n);
        note_drop(r, latest->note);
        *latest = a;
        return;
    }
    const struct viewer v = viewer_of_note(&e->by, n, true, e->what ? e->what : n->name);
    judge_all(r, e->owner, c, &a, &v);
    sums_columns(r, &columns->sums, e, n);
    if (c->num && c->num >= race_bound(r, BOUND_AREAS))
        forget_area(r, c);
    c->areas = xgrow(c->areas, c->num, &c->cap, sizeof *c->areas);
    note_hold(n);
    c->areas[c->num++] = a;
}

/* --- allocation --------------------------------------------------------------------------------------------------- */

/* On tcgen05.dealloc: its warp must know that all accesses to the columns are complete. */
static void given_back(struct race *r, const struct columns_watch *c, const struct event_life *e) {
    const uint32_t warp = race_warp_of(r, &e->by);
    const struct area all = {
        e->column, e->column + e->columns, {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, NULL, true};
    const struct warp_watch *w = &r->warps[warp];
    struct viewer v = viewer_of_strand(r, &e->by, warp, &w->strand[0], EFFECT_WRITE);
    bool told = false;
    v.lanes = UINT32_MAX;                   /* the warp does it as a whole */
    v.synchronous = w->strand[0].k.pending; /* dealloc needs no ::after_thread_sync (9.7.16.6.1) */
    judge_lost(r, c, &all);
    for (uint32_t i = 0; i < c->num; i++)
        if (overlap(&c->areas[i], &all))
            judge(r, e->owner, &c->areas[i], &all, &v, &told);
}

/* Columns are allocated, or have been freed: earlier accesses to them no longer matter. */
static void forget_columns(struct race *r, struct columns *columns, const struct event_life *e) {
    struct columns_watch *c = watch_of(columns);
    sums_gone(&columns->sums, e->column, e->column + e->columns);
    c->alone = false; /* the latest may go, or its place in the list */
    for (uint32_t i = 0; i < c->num; i++)
        if (c->areas[i].from < e->column + e->columns && e->column < c->areas[i].to)
            drop_area(r, c, i--);
    if (e->column <= c->lost.from && c->lost.to <= e->column + e->columns)
        c->lost = (struct area){0};
    for (uint32_t i = 0; i < c->num_closing; i++)
        if (c->closing[i].column == e->column)
            c->closing[i--] = c->closing[--c->num_closing];
}

void columns_life(struct race *r, struct columns *columns, const struct event_life *e) {
    struct columns_watch *c = watch_of(columns);
    switch (e->kind) {
    case LIFE_TMEM_ALLOC:
        forget_columns(r, columns, e);
        c->alloc = (struct pair_alloc){race_warp_of(r, &e->by), r->time, event_origin(&e->by)};
        break;
    case LIFE_TMEM_CLOSING:
        given_back(r, c, e);
        dealloc_check_alloc(r, e, &c->alloc);
        c->closing[c->num_closing++] = *e;
        break;
    case LIFE_TMEM_DEALLOC:
        given_back(r, c, e);
        forget_columns(r, columns, e);
        break;
    default:
        break;
    }
}

void columns_free(struct race *r, struct columns *columns) {
    struct columns_watch *c = columns->watch;
    sums_free(&columns->sums);
    if (!c)
        return;
    while (c->num)
        drop_area(r, c, 0);
    xfree(c->areas);
    xfree(c);
}
