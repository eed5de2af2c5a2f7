/* check/know.c - what threads know, and how it passes from one to another; race.h. */
#include "check/race.h"

#include "base/heap.h"

static bool releases(enum event_order o) { return o == ORDER_RELEASE || o == ORDER_ACQ_REL || o == ORDER_SC; }
static bool acquires(enum event_order o) { return o == ORDER_ACQUIRE || o == ORDER_ACQ_REL || o == ORDER_SC; }

/* --- strands ------------------------------------------------------------------------------------------------------ */

static void copy_know(struct know *to, const struct know *from) {
    *to = *from;
    for (unsigned l = 0; l < LAYERS; l++) {
        clock_hold(to->now[l]);
        clock_hold(to->released[l]);
        clock_hold(to->pending[l]);
    }
}

void know_drop(struct race *r, struct know *k) {
    for (unsigned l = 0; l < LAYERS; l++) {
        clock_drop(&r->clocks, k->now[l]);
        clock_drop(&r->clocks, k->released[l]);
        clock_drop(&r->clocks, k->pending[l]);
    }
}

/* Makes strands such that `lanes` are some of them and no part of others. */
static void split(struct warp_watch *w, uint32_t lanes) {
    for (uint32_t i = 0, n = w->num_strands; i < n; i++) {
        struct strand *s = &w->strand[i];
        const uint32_t part = s->lanes & lanes;
        if (!part || part == s->lanes)
            continue;
        struct strand *t = &w->strand[w->num_strands++];
        copy_know(&t->k, &s->k);
        t->lanes = part;
        s->lanes &= ~part;
    }
}

static bool same(const struct know *a, const struct know *b) {
    for (unsigned l = 0; l < LAYERS; l++)
        if (a->now[l] != b->now[l] || a->released[l] != b->released[l] || a->pending[l] != b->pending[l])
            return false;
    return a->released_at == b->released_at && a->released_scope == b->released_scope && a->before_at == b->before_at &&
           a->fenced_at == b->fenced_at && a->released_fenced_at == b->released_fenced_at &&
           a->global_at == b->global_at && a->released_global_at == b->released_global_at && a->half_at == b->half_at &&
           a->released_half_at == b->released_half_at;
}

static void merge(struct race *r, struct warp_watch *w) {
    for (uint32_t i = 0; i < w->num_strands; i++)
        for (uint32_t j = i + 1; j < w->num_strands; j++) {
            if (!same(&w->strand[i].k, &w->strand[j].k))
                continue;
            w->strand[i].lanes |= w->strand[j].lanes;
            know_drop(r, &w->strand[j].k);
            w->strand[j--] = w->strand[--w->num_strands];
        }
}

#define FOR_STRANDS(s, w, of)                                                                                          \
    for (struct strand *s = (w)->strand; s < (w)->strand + (w)->num_strands; s++)                                      \
        if (s->lanes & (of))

/* --- meetings ----------------------------------------------------------------------------------------------------- */

/* `lanes` of a warp give what they know in a layer, and what they have done themselves up to `time`. */
static void give(struct race *r, struct clock **to, struct clock *known, uint32_t warp, uint32_t lanes, uint32_t time) {
    clock_join(&r->clocks, to, known);
    if (time)
        clock_add_lanes(&r->clocks, to, warp, lanes, time);
}

/* To those who may take it, by the scope: `to` are the meeting's layers from `scoped` to its like for the CTA. */
static void give_scoped(struct race *r, struct clock **to, struct clock *known, uint32_t warp, uint32_t lanes,
                        uint32_t time, const struct manner *how) {
    if (how->near)
        give(r, &to[LAYER_NEAR - LAYER_SCOPED], known, warp, lanes, time);
    if (how->scope >= SCOPE_CLUSTER)
        give(r, to, known, warp, lanes, time);
}

static void take_scoped(struct race *r, struct clock **to, struct clock *const *from, const struct manner *how) {
    if (how->near)
        clock_join(&r->clocks, to, from[LAYER_NEAR - LAYER_SCOPED]);
    if (how->scope >= SCOPE_CLUSTER)
        clock_join(&r->clocks, to, from[0]);
}

/* What only the strict level asks for. */
static void arrive_strict(struct race *r, const struct know *k, uint32_t warp, uint32_t lanes, struct clock **to,
                          const struct manner *how) {
    const struct manner fence = {how->order, how->scope < k->released_scope ? how->scope : k->released_scope,
                                 how->near};
    if (releases(how->order))
        give_scoped(r, &to[LAYER_SCOPED], k->now[LAYER_SCOPED], warp, lanes, r->time, how);
    else if (k->released_at)
        give_scoped(r, &to[LAYER_SCOPED], k->released[LAYER_SCOPED], warp, lanes, k->released_at, &fence);
    give(r, &to[LAYER_TENSOR], k->released[LAYER_TENSOR], warp, lanes, k->before_at);
    clock_join(&r->clocks, &to[LAYER_TENSOR], k->pending[LAYER_TENSOR]);
    give_scoped(r, &to[LAYER_TENSOR_SCOPED], k->released[LAYER_TENSOR_SCOPED], warp, lanes, k->before_at, how);
    give_scoped(r, &to[LAYER_TENSOR_SCOPED], k->pending[LAYER_TENSOR_SCOPED], warp, lanes, 0, how);
}

static void arrive(struct race *r, const struct know *k, uint32_t warp, uint32_t lanes, struct clock **to,
                   const struct manner *how) {
    give(r, &to[LAYER_SEEN], k->now[LAYER_SEEN], warp, lanes, r->time);
    give(r, &to[LAYER_RAN], k->now[LAYER_RAN], warp, lanes, r->time);
    if (releases(how->order)) {
        give(r, &to[LAYER_ORDER], k->now[LAYER_ORDER], warp, lanes, r->time);
        give(r, &to[LAYER_FENCED], k->now[LAYER_FENCED], warp, lanes, k->fenced_at);
        give(r, &to[LAYER_FENCED_GLOBAL], k->now[LAYER_FENCED_GLOBAL], warp, lanes, k->global_at);
        give(r, &to[LAYER_HALF], k->now[LAYER_HALF], warp, lanes, k->half_at);
    } else if (k->released_at) {
        give(r, &to[LAYER_ORDER], k->released[LAYER_ORDER], warp, lanes, k->released_at);
        give(r, &to[LAYER_FENCED], k->released[LAYER_FENCED], warp, lanes, k->released_fenced_at);
        give(r, &to[LAYER_FENCED_GLOBAL], k->released[LAYER_FENCED_GLOBAL], warp, lanes, k->released_global_at);
        give(r, &to[LAYER_HALF], k->released[LAYER_HALF], warp, lanes, k->released_half_at);
    }
    clock_join(&r->clocks, &to[LAYER_PERFORMED], k->now[LAYER_PERFORMED]);
    if (r->strict)
        arrive_strict(r, k, warp, lanes, to, how);
}

void know_arrive(struct race *r, uint32_t warp, uint32_t lanes, struct meeting *m, const struct manner *how) {
    FOR_STRANDS(s, &r->warps[warp], lanes) arrive(r, &s->k, warp, s->lanes & lanes, m->open, how);
}

void know_phase(struct race *r, struct meeting *m) {
    for (unsigned l = 0; l < LAYERS; l++) {
        clock_join(&r->clocks, &m->done[l], m->open[l]);
        clock_set(&r->clocks, &m->open[l], NULL);
    }
    clock_set(&r->clocks, &m->carried, NULL);
}

void know_observe(struct race *r, uint32_t warp, uint32_t lanes, const struct meeting *m, const struct manner *how) {
    struct warp_watch *w = &r->warps[warp];
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        struct clock **to = acquires(how->order) ? s->k.now : s->k.pending;
        clock_join(&r->clocks, &s->k.now[LAYER_SEEN], m->done[LAYER_SEEN]);
        clock_join(&r->clocks, &s->k.now[LAYER_RAN], m->done[LAYER_RAN]);
        clock_join(&r->clocks, &to[LAYER_ORDER], m->done[LAYER_ORDER]);
        clock_join(&r->clocks, &to[LAYER_FENCED], m->done[LAYER_FENCED]);
        clock_join(&r->clocks, &to[LAYER_FENCED_GLOBAL], m->done[LAYER_FENCED_GLOBAL]);
        clock_join(&r->clocks, &to[LAYER_HALF], m->done[LAYER_HALF]);
        clock_join(&r->clocks, &s->k.now[LAYER_PERFORMED], m->done[LAYER_PERFORMED]);
        if (!r->strict)
            continue;
        clock_join(&r->clocks, &s->k.pending[LAYER_TENSOR], m->done[LAYER_TENSOR]);
        take_scoped(r, &to[LAYER_SCOPED], &m->done[LAYER_SCOPED], how);
        take_scoped(r, &s->k.pending[LAYER_TENSOR_SCOPED], &m->done[LAYER_TENSOR_SCOPED], how);
    }
    merge(r, w);
}

void know_forget(struct race *r, struct meeting *m) {
    for (unsigned l = 0; l < LAYERS; l++) {
        clock_set(&r->clocks, &m->done[l], NULL);
        clock_set(&r->clocks, &m->open[l], NULL);
    }
    clock_set(&r->clocks, &m->carried, NULL);
}

/* --- fences ------------------------------------------------------------------------------------------------------- */

static void fence_layer(struct race *r, struct know *k, enum layer l, enum event_order order) {
    if (acquires(order)) {
        clock_join(&r->clocks, &k->now[l], k->pending[l]);
        clock_set(&r->clocks, &k->pending[l], NULL);
    }
    if (releases(order))
        clock_set(&r->clocks, &k->released[l], k->now[l]);
}

void know_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct manner *how, bool wide) {
    struct warp_watch *w = &r->warps[warp];
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        fence_layer(r, &s->k, LAYER_ORDER, how->order);
        fence_layer(r, &s->k, LAYER_FENCED, how->order);
        fence_layer(r, &s->k, LAYER_FENCED_GLOBAL, how->order);
        fence_layer(r, &s->k, LAYER_HALF, how->order);
        fence_layer(r, &s->k, LAYER_SCOPED, how->order);
        if (!releases(how->order))
            continue;
        s->k.released_at = r->time;
        s->k.released_scope = how->scope;
        s->k.released_fenced_at = s->k.fenced_at;
        s->k.released_global_at = s->k.global_at;
        s->k.released_half_at = s->k.half_at;
        if (wide)
            give(r, &s->k.now[LAYER_PERFORMED], s->k.now[LAYER_ORDER], warp, s->lanes, r->time);
    }
    merge(r, w);
}

void know_proxy_fence(struct race *r, uint32_t warp, uint32_t lanes, enum event_fence_space space) {
    struct warp_watch *w = &r->warps[warp];
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        if (space != FENCE_GLOBAL) {
            clock_join(&r->clocks, &s->k.now[LAYER_FENCED], s->k.now[LAYER_ORDER]);
            s->k.fenced_at = r->time;
        }
        if (space != FENCE_SHARED) {
            clock_join(&r->clocks, &s->k.now[LAYER_FENCED_GLOBAL], s->k.now[LAYER_ORDER]);
            s->k.global_at = r->time;
        }
    }
    merge(r, w);
}

/* What the release covers the acquire makes known to the async proxy. Each is a thread fence too: the release is one
 * behind it, for what it covers goes with a relaxed arrival (9.7.13.17, example), the acquire one before. */
void know_half_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct manner *how) {
    struct warp_watch *w = &r->warps[warp];
    if (acquires(how->order))
        know_fence(r, warp, lanes, how, false);
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        struct know *k = &s->k;
        if (releases(how->order)) {
            clock_join(&r->clocks, &k->now[LAYER_HALF], k->now[LAYER_ORDER]);
            k->half_at = r->time;
        } else {
            clock_join(&r->clocks, &k->now[LAYER_FENCED], k->now[LAYER_HALF]);
            k->fenced_at = k->half_at > k->fenced_at ? k->half_at : k->fenced_at;
        }
    }
    merge(r, w);
    if (releases(how->order))
        know_fence(r, warp, lanes, how, false);
}

void know_tensor_fence(struct race *r, uint32_t warp, uint32_t lanes, bool before) {
    static const enum layer both[] = {LAYER_TENSOR, LAYER_TENSOR_SCOPED};
    struct warp_watch *w = &r->warps[warp];
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        struct know *k = &s->k;
        for (unsigned i = 0; i < 2; i++) {
            if (before) {
                clock_set(&r->clocks, &k->released[both[i]], k->now[both[i]]);
                continue;
            }
            clock_join(&r->clocks, &k->now[both[i]], k->pending[both[i]]);
            clock_set(&r->clocks, &k->pending[both[i]], NULL);
        }
        if (before)
            k->before_at = r->time;
        else if (r->strict)
            clock_set(&r->clocks, &k->now[LAYER_BEHIND], k->now[LAYER_SEEN]);
    }
    merge(r, w);
}

/* All lanes of the warp, which know the same, tell one another what they did. */
static void meet_alone(struct race *r, struct know *k, uint32_t warp) {
    static const enum layer all[] = {LAYER_ORDER, LAYER_SEEN, LAYER_RAN, LAYER_SCOPED};
    for (unsigned i = 0; i < 3u + r->strict; i++)
        clock_add_lanes(&r->clocks, &k->now[all[i]], warp, UINT32_MAX, r->time);
    if (k->fenced_at)
        clock_add_lanes(&r->clocks, &k->now[LAYER_FENCED], warp, UINT32_MAX, k->fenced_at);
    if (k->global_at)
        clock_add_lanes(&r->clocks, &k->now[LAYER_FENCED_GLOBAL], warp, UINT32_MAX, k->global_at);
    if (k->half_at)
        clock_add_lanes(&r->clocks, &k->now[LAYER_HALF], warp, UINT32_MAX, k->half_at);
    if (!r->strict)
        return;
    give(r, &k->pending[LAYER_TENSOR], k->released[LAYER_TENSOR], warp, UINT32_MAX, k->before_at);
    give(r, &k->pending[LAYER_TENSOR_SCOPED], k->released[LAYER_TENSOR_SCOPED], warp, UINT32_MAX, k->before_at);
}

/* Orders the memory accesses of those who take part (9.7.13.2). */
void know_warp_sync(struct race *r, uint32_t warp, uint32_t lanes) {
    static const struct manner how = {ORDER_ACQ_REL, SCOPE_CTA, true};
    struct meeting m = {{NULL}, {NULL}, NULL};
    if (r->warps[warp].num_strands == 1 && lanes == UINT32_MAX) {
        meet_alone(r, &r->warps[warp].strand[0].k, warp);
        return;
    }
    know_arrive(r, warp, lanes, &m, &how);
    know_phase(r, &m);
    know_observe(r, warp, lanes, &m, &how);
    know_forget(r, &m);
}
