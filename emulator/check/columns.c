/* check/columns.c - accesses to tensor memory; race.h.
 *
 * What is kept are areas: columns and lanes that an operation reads or writes. A kernel has few different ones, and an
 * area that comes again takes the place of its like.
 */
#include "check/race.h"

#include "base/heap.h"

#include <string.h>

#define MAX_AREAS 512u /* of more, the oldest is forgotten */

struct area {
    uint32_t from, to; /* columns */
    uint32_t lanes[4];
    struct note *note;
    bool write;
};

struct columns_watch {
    struct area *areas;
    uint32_t num, cap;
    /* the latest tcgen05.alloc of this CTA: what a dealloc of its pair must be ordered behind */
    uint32_t alloc_warp, alloc_time;
    struct mach_origin alloc;
    struct event_life
        closing[TMEM_COLUMNS / TMEM_GRANULE]; /* a pair's deallocations that one CTA of two has executed */
    uint32_t num_closing;
};

static struct columns_watch *columns_of(struct race *r, struct cta *owner) {
    struct cta_watch *c = race_cta(r, owner);
    if (!c->columns)
        c->columns = xcalloc(1, sizeof *c->columns);
    return c->columns;
}

static bool overlap(const struct area *a, const struct area *b) {
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 4; i++)
        lanes |= a->lanes[i] & b->lanes[i];
    return lanes && a->from < b->to && b->from < a->to;
}

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

/* Is `old` ordered before the access of `v` to `a`? Reports where not. */
static bool judge(struct race *r, struct cta *owner, const struct area *old, const struct area *a,
                  const struct viewer *v, bool *told) {
    if (!(old->write || a->write))
        return old->note == v->note || verdict_knows(v, old->note, old->write);
    const struct diag *rule = verdict_note(r, old->note, old->write, v, a->write, IN_TENSOR);
    if (rule && !*told && race_tells(r, rule)) {
        verdict_tell_note(r, rule, old->note, old->write, v, a->write, owner, a->from > old->from ? a->from : old->from,
                          IN_TENSOR, NULL);
        *told = true;
    }
    return true; /* told once */
}

static void judge_all(struct race *r, struct cta *owner, struct columns_watch *c, const struct area *a,
                      const struct viewer *v) {
    bool told = false;
    for (uint32_t i = 0; i < c->num; i++)
        if (overlap(&c->areas[i], a) && judge(r, owner, &c->areas[i], a, v, &told) && covers(a, &c->areas[i]) &&
            (a->write || !c->areas[i].write))
            drop_area(r, c, i--);
}

DIAG(closing) = {
    .id = "tcgen05-pair-dealloc-early",
    .rule = "the CTAs of a pair must synchronise their accesses to tensor memory before either of them "
            "attempts to deallocate it",
    .section = "PTX ISA 9.7.16.7.1",
    .hint = "barrier.cluster.arrive and .wait by both CTAs after their last access, then tcgen05.dealloc",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
    .reason = "where the other CTA is late its last accesses meet columns that are given away.",
};

/* From when one CTA of the pair has executed its tcgen05.dealloc nothing may use the columns. */
static void check_closing(const struct event_access *e, const struct columns_watch *c, const struct area *a) {
    for (uint32_t i = 0; i < c->num_closing; i++) {
        const struct event_life *l = &c->closing[i];
        if (a->from >= l->column + l->columns || l->column >= a->to)
            continue;
        const struct mach_origin origin = event_origin(&e->by);
        char where[600];
        mach_warn(e->owner->island, &origin, &closing,
                  "%s uses columns %u to %u of cluster CTA %u; CTA %u has already executed the pair's "
                  "tcgen05.dealloc, at %s",
                  e->what, a->from, a->to - 1, e->owner->rank, l->by.cta->rank,
                  diag_where(l->by.site, where, sizeof where));
        return;
    }
}

void columns_access(struct race *r, const struct event_access *e, const struct note *n) {
    struct columns_watch *c = columns_of(r, e->owner);
    struct area a = {
        .from = (uint32_t)e->at[0], .note = (struct note *)(uintptr_t)n, .write = e->effect & EFFECT_WRITE};
    if (!n)
        return;
    a.to = a.from + e->columns;
    memcpy(a.lanes, e->tmem_lanes, sizeof a.lanes);
    check_closing(e, c, &a);
    const struct viewer v = viewer_of_note(&e->by, n, true, e->what ? e->what : n->name);
    judge_all(r, e->owner, c, &a, &v);
    rows_columns(r, e, a.note);
    if (c->num == MAX_AREAS)
        drop_area(r, c, 0);
    c->areas = xgrow(c->areas, c->num, &c->cap, sizeof *c->areas);
    note_hold(a.note);
    c->areas[c->num++] = a;
}

/* --- allocation --------------------------------------------------------------------------------------------------- */

DIAG(pair_unordered) = {
    .id = "tcgen05-pair-dealloc-unordered",
    .rule =
        "of a pair, neither CTA may execute tcgen05.dealloc before the other's tcgen05.alloc: the pair synchronises "
        "between them",
    .section = "PTX ISA 9.7.16.7.1",
    .hint =
        "a cluster barrier, or an mbarrier that the peer arrives on, between the allocation and the end of the kernel. "
        "On a B300 it fails every time (NVIDIA/cutlass#3435)",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .reason = "on a B300 one of the orders fails in every run (NVIDIA/cutlass#3435).",
};

/* A thread gives back columns: everything that uses them is over, and it knows. */
static void given_back(struct race *r, const struct event_life *e) {
    struct columns_watch *c = columns_of(r, e->owner);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct area all = {
        e->column, e->column + e->columns, {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, NULL, true};
    const struct warp_watch *w = &r->warps[warp];
    struct viewer v = viewer_of_strand(r, &e->by, warp, &w->strand[0], EFFECT_WRITE);
    bool told = false;
    v.lanes = UINT32_MAX; /* the warp does it as one */
    v.synchronous = w->strand[0].k.pending;
    for (uint32_t i = 0; i < c->num; i++)
        if (overlap(&c->areas[i], &all))
            judge(r, e->owner, &c->areas[i], &all, &v, &told);
}

static void forget_columns(struct race *r, const struct event_life *e) {
    struct columns_watch *c = columns_of(r, e->owner);
    rows_gone(race_cta(r, e->owner), e->column, e->column + e->columns);
    for (uint32_t i = 0; i < c->num; i++)
        if (c->areas[i].from < e->column + e->columns && e->column < c->areas[i].to)
            drop_area(r, c, i--);
    for (uint32_t i = 0; i < c->num_closing; i++)
        if (c->closing[i].column == e->column)
            c->closing[i--] = c->closing[--c->num_closing];
}

/* A CTA executes the pair's dealloc: does it know that the peer has executed the alloc? */
static void pair_closing(struct race *r, const struct event_life *e) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct columns_watch *c = columns_of(r, e->owner);
    const struct strand *s = &r->warps[warp].strand[0];
    if (e->owner == e->by.cta || clock_knows_any(s->k.now[LAYER_SEEN], c->alloc_warp, UINT32_MAX, c->alloc_time))
        return;
    const struct mach_origin origin = event_origin(&e->by);
    mach_warn_pair(r->island, &origin, &c->alloc, "tcgen05.alloc of the peer", &pair_unordered,
                   "tcgen05.dealloc by cluster CTA %u, and nothing orders it after the tcgen05.alloc of CTA %u",
                   e->by.cta->rank, e->owner->rank);
}

void columns_life(struct race *r, const struct event_life *e) {
    struct columns_watch *c = columns_of(r, e->owner);
    switch (e->kind) {
    case LIFE_TMEM_ALLOC:
        forget_columns(r, e);
        c->alloc_warp = race_warp(r, e->by.cta, e->by.warp);
        c->alloc_time = r->time;
        c->alloc = event_origin(&e->by);
        break;
    case LIFE_TMEM_CLOSING:
        given_back(r, e);
        pair_closing(r, e);
        c->closing[c->num_closing++] = *e;
        break;
    case LIFE_TMEM_DEALLOC:
        given_back(r, e);
        forget_columns(r, e);
        break;
    default:
        break;
    }
}

void columns_free(struct race *r, struct cta_watch *c) {
    struct columns_watch *w = c->columns;
    rows_free(c);
    if (!w)
        return;
    while (w->num)
        drop_area(r, w, 0);
    xfree(w->areas);
    xfree(w);
    c->columns = NULL;
}
