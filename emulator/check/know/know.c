/* check/know/know.c - what threads know, and how synchronisation passes it on; contract in know.h. */
#include "check/know/cluster.h"

/* --- strands ------------------------------------------------------------------------------------------------------ */

/* *to knows the same as *from, and holds its clocks, too. */
static void copy_know(struct know *to, const struct know *from) {
    *to = *from;
    for (unsigned l = 0; l < LAYERS; l++) {
        vclock_hold(to->now[l]);
        vclock_hold(to->released[l]);
        vclock_hold(to->pending[l]);
    }
    vclock_hold(to->narrow);
}

void know_drop(struct race *r, struct know *k) {
    for (unsigned l = 0; l < LAYERS; l++) {
        vclock_drop(&r->clocks, k->now[l]);
        vclock_drop(&r->clocks, k->released[l]);
        vclock_drop(&r->clocks, k->pending[l]);
    }
    vclock_drop(&r->clocks, k->narrow);
}

/* Splits strands so that each is either within `lanes` or has none of them. */
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

/* Do both know the same? Equal clocks of lanes that synchronised together are one clock, so pointers are compared. */
static bool same(const struct know *a, const struct know *b) {
    for (unsigned l = 0; l < LAYERS; l++)
        if (a->now[l] != b->now[l] || a->released[l] != b->released[l] || a->pending[l] != b->pending[l])
            return false;
    return a->narrow == b->narrow && a->released_at == b->released_at && a->released_all_at == b->released_all_at &&
           a->released_scope == b->released_scope && a->before_at == b->before_at && a->fenced_at == b->fenced_at &&
           a->released_fenced_at == b->released_fenced_at && a->global_at == b->global_at &&
           a->released_global_at == b->released_global_at && a->half_at == b->half_at &&
           a->released_half_at == b->released_half_at;
}

/* Makes strands one again that know the same. */
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

/* For each strand s of warp w that has some of the lanes `of`. */
#define FOR_STRANDS(s, w, of)                                                                                          \
    for (struct strand *s = (w)->strand; s < (w)->strand + (w)->num_strands; s++)                                      \
        if (s->lanes & (of))

/* --- meetings ----------------------------------------------------------------------------------------------------- */

/* An arrival by lanes of a strand; for one call of know_arrive or know_release. */
struct arriving {
    struct race *r;
    struct vclock **to;      /* the meeting's clocks of the current phase, by layer */
    uint32_t *own;           /* NULL, or receives the lanes' own time in each layer, which then joins no clock */
    struct vclock **joined;  /* `joined` of the meeting; or NULL */
    struct vclock_step step; /* the lanes */
};

/* The phase gets what the lanes know in a layer, and their own acts up to `time`. What has joined an open phase stays,
 * so a clock that joined before need not join again. */
static void give_some(struct arriving *a, enum layer l, struct vclock *known, uint32_t time) {
    if (a->own) {
        a->own[l] = time;
        time = 0;
    }
    if (a->joined && a->joined[l] == known)
        known = NULL;
    else if (a->joined)
        vclock_set(&a->r->clocks, &a->joined[l], known);
    vclock_learn(&a->r->clocks, &a->step, &a->to[l], known, time, 0);
}
static inline void give(struct arriving *a, enum layer l, struct vclock *known, uint32_t time) {
    if (known || time || a->own) /* in most layers nothing */
        give_some(a, l, known, time);
}

/* The layer of a meeting that holds the same order from threads of the object's own CTA. */
static enum layer near_of(enum layer l) { return l + (LAYER_NEAR - LAYER_SCOPED); }

/* The phase gets a scoped layer, for the threads that the arrival's scope includes: its CTA's, or at cluster scope all
 * (8.5). */
static void give_scoped(struct arriving *a, enum layer l, struct vclock *known, uint32_t time, const struct sem *how) {
    if (how->near)
        give(a, near_of(l), known, time);
    if (how->scope >= SCOPE_CLUSTER)
        give(a, l, known, time);
}

/* *to gets a scoped layer, as far as the scope of the wait includes the threads that gave it. */
static void take_scoped(struct race *r, struct vclock **to, const struct meeting *m, enum layer l,
                        const struct sem *how) {
    if (how->near)
        vclock_join(&r->clocks, to, m->done[near_of(l)]);
    if (how->scope >= SCOPE_CLUSTER)
        vclock_join(&r->clocks, to, m->done[l]);
}

/* The part of arrive (below) for the layers of the strict level. A release fence limits a relaxed arrival to its scope.
 */
static void arrive_strict(struct arriving *a, const struct know *k, const struct sem *how) {
    static const enum layer both[] = {LAYER_TENSOR, LAYER_TENSOR_SCOPED};
    /* a fence and a relaxed arrival reach the threads within both scopes */
    const struct sem fence = {how->order, how->scope < k->released_scope ? how->scope : k->released_scope, how->near,
                              false, false};
    if (sem_releases(how->order))
        give_scoped(a, LAYER_SCOPED, k->now[LAYER_SCOPED], a->r->time, how);
    else if (k->released_at)
        give_scoped(a, LAYER_SCOPED, k->released[LAYER_SCOPED], k->released_at, &fence);
    /* what the lanes knew at their last fence::before_thread_sync, and what they only pass on: it came by waits, and
     * no ::after_thread_sync has made it theirs yet */
    struct vclock *known[2];
    for (unsigned i = 0; i < 2; i++) {
        known[i] = vclock_hold(k->released[both[i]]);
        vclock_join(&a->r->clocks, &known[i], k->pending[both[i]]);
    }
    give(a, LAYER_TENSOR, known[0], k->before_at);
    give_scoped(a, LAYER_TENSOR_SCOPED, known[1], k->before_at, how);
    for (unsigned i = 0; i < 2; i++) /* held until the vclock_step is over */
        vclock_drop(&a->r->clocks, known[i]);
}

/* The phase gets, in each layer, what the arrival may carry: a release carries what the lanes know now, a relaxed
 * arrival what they knew at their last release fence (8.8). */
static void arrive(struct arriving *a, const struct know *k, const struct sem *how) {
    give(a, LAYER_SEEN, k->now[LAYER_SEEN], a->r->time);
    give(a, LAYER_RAN, k->now[LAYER_RAN], a->r->time);
    if (sem_releases(how->order)) {
        give(a, LAYER_ORDER, k->now[LAYER_ORDER], a->r->time);
        give(a, LAYER_FENCED, k->now[LAYER_FENCED], k->fenced_at);
        give(a, LAYER_FENCED_GLOBAL, k->now[LAYER_FENCED_GLOBAL], k->global_at);
        give(a, LAYER_HALF, k->now[LAYER_HALF], k->half_at);
        give(a, LAYER_SHARED, k->now[LAYER_SHARED], 0);
    } else if (k->released_at) {
        give(a, LAYER_ORDER, k->released[LAYER_ORDER], k->released_all_at);
        give(a, LAYER_FENCED, k->released[LAYER_FENCED], k->released_fenced_at);
        give(a, LAYER_FENCED_GLOBAL, k->released[LAYER_FENCED_GLOBAL], k->released_global_at);
        give(a, LAYER_HALF, k->released[LAYER_HALF], k->released_half_at);
        give(a, LAYER_SHARED, k->released[LAYER_SHARED], k->released_at > k->released_all_at ? k->released_at : 0);
    }
    give(a, LAYER_PERFORMED, k->now[LAYER_PERFORMED], 0);
    if (a->r->strict)
        arrive_strict(a, k, how);
}

void know_arrive(struct race *r, uint32_t warp, uint32_t lanes, struct meeting *m, const struct sem *how) {
    struct arriving a;
    a.r = r;
    a.to = m->open;
    a.own = NULL;
    a.joined = m->joined;
    FOR_STRANDS(s, &r->warps[warp], lanes) {
        vclock_step_begin(&a.step, warp, s->lanes & lanes, 0);
        arrive(&a, &s->k, how);
    }
}

void know_release(struct race *r, uint32_t warp, uint32_t lane, struct meeting *m, uint32_t own[LAYERS],
                  const struct sem *how) {
    struct arriving a = {.r = r, .to = m->open, .own = own};
    vclock_step_begin(&a.step, warp, 1u << lane, 0);
    arrive(&a, &race_strand(r, warp, 1u << lane)->k, how);
}

/* Empties the cache `joined`. */
static void forget_joined(struct race *r, struct meeting *m) {
    for (unsigned l = 0; l < race_layers(r); l++)
        if (m->joined[l])
            vclock_set(&r->clocks, &m->joined[l], NULL);
}

void know_phase(struct race *r, struct meeting *m) {
    struct vclock_step step;
    bool left = false;
    vclock_step_begin(&step, 0, 0, 0);
    forget_joined(r, m);
    for (unsigned l = 0; l < race_layers(r); l++)
        if (m->open[l] && !vclock_follows(&r->clocks, &m->done[l], &m->open[l])) {
            vclock_learn(&r->clocks, &step, &m->done[l], m->open[l], 0, 0);
            left = true; /* held until the step is over */
        }
    for (unsigned l = 0; left && l < race_layers(r); l++)
        vclock_set(&r->clocks, &m->open[l], NULL);
}

/* Not in the layers of proxy fences, nor in PERFORMED: these are about accesses of threads, tokens about operations. As
 * in a vclock_step, clocks that were one stay one. */
void know_token(struct race *r, struct meeting *m, uint32_t token, uint32_t step) {
    static const enum layer all[] = {LAYER_ORDER,  LAYER_SEEN,          LAYER_RAN,  LAYER_TENSOR,
                                     LAYER_SCOPED, LAYER_TENSOR_SCOPED, LAYER_NEAR, LAYER_TENSOR_NEAR};
    const struct vclock *was[sizeof all / sizeof *all];
    for (unsigned i = 0, j; i < sizeof all / sizeof *all && all[i] < race_layers(r); i++) {
        was[i] = m->open[all[i]];
        for (j = 0; was[j] != was[i]; j++)
            ;
        if (j < i)
            vclock_set(&r->clocks, &m->open[all[i]], m->open[all[j]]);
        else
            vclock_add_token(&r->clocks, &m->open[all[i]], token, step);
    }
}

/* *to gets what the phase passes on in a layer. */
static inline void observe(struct race *r, struct vclock_step *step, struct vclock **to, enum layer l,
                           const struct meeting *m, struct vclock *const within[LAYERS]) {
    if (within && *to == within[l])
        vclock_set(&r->clocks, to, m->done[l]);
    else
        vclock_learn(&r->clocks, step, to, m->done[l], 0, 0);
}

void know_observe(struct race *r, uint32_t warp, uint32_t lanes, const struct meeting *m,
                  struct vclock *const within[LAYERS], const struct sem *how) {
    static const enum layer by_wait[] = {LAYER_SEEN, LAYER_RAN, LAYER_PERFORMED};
    static const enum layer by_acquire[] = {LAYER_ORDER, LAYER_FENCED, LAYER_FENCED_GLOBAL, LAYER_HALF, LAYER_SHARED};
    struct warp_watch *w = &r->warps[warp];
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        struct vclock **to = sem_acquires(how->order) ? s->k.now : s->k.pending;
        struct vclock_step step;
        vclock_step_begin(&step, 0, 0, 0);
        for (unsigned i = 0; i < 3; i++)
            observe(r, &step, &s->k.now[by_wait[i]], by_wait[i], m, within);
        for (unsigned i = 0; i < 5; i++)
            observe(r, &step, &to[by_acquire[i]], by_acquire[i], m, within);
        if (!sem_acquires(how->order) && !how->far && m->done[LAYER_ORDER]) {
            vclock_learn(&r->clocks, &step, &s->k.narrow, m->done[LAYER_ORDER], 0, 0);
            s->k.narrow_news = true;
        }
        if (!r->strict)
            continue;
        vclock_join(&r->clocks, &s->k.pending[LAYER_TENSOR], m->done[LAYER_TENSOR]);
        take_scoped(r, &to[LAYER_SCOPED], m, LAYER_SCOPED, how);
        take_scoped(r, &s->k.pending[LAYER_TENSOR_SCOPED], m, LAYER_TENSOR_SCOPED, how);
    }
    merge(r, w);
}

void know_forget(struct race *r, struct meeting *m) {
    for (unsigned l = 0; l < LAYERS; l++) {
        vclock_set(&r->clocks, &m->done[l], NULL);
        vclock_set(&r->clocks, &m->open[l], NULL);
    }
    forget_joined(r, m);
}

/* --- fences ------------------------------------------------------------------------------------------------------- */

/* A fence in one layer: as an acquire it adds to `now` what relaxed waits left pending; as a release it keeps what
 * later relaxed arrivals may pass on (8.8). */
static void fence_layer(struct race *r, struct know *k, enum layer l, enum event_order order) {
    if (sem_acquires(order)) {
        vclock_join(&r->clocks, &k->now[l], k->pending[l]);
        vclock_set(&r->clocks, &k->pending[l], NULL);
    }
    if (sem_releases(order))
        vclock_set(&r->clocks, &k->released[l], k->now[l]);
}

/* The same in LAYER_ORDER, for a fence whose scope leaves out other clusters: what came from those stays pending (8.7).
 */
static void fence_narrow(struct race *r, struct know *k, enum event_order order) {
    if (sem_acquires(order))
        vclock_join(&r->clocks, &k->now[LAYER_ORDER], k->narrow);
    if (sem_releases(order))
        vclock_set(&r->clocks, &k->released[LAYER_ORDER], k->now[LAYER_ORDER]);
}

/* A fence with .sync_restrict: what it orders beyond ORDER is in LAYER_SHARED. Its scope is .cluster. */
static void fence_restricted(struct race *r, struct know *k, enum event_order order) {
    fence_layer(r, k, LAYER_SHARED, order);
    if (sem_acquires(order) && k->narrow_news) {
        vclock_join(&r->clocks, &k->now[LAYER_SHARED], k->narrow);
        k->narrow_news = false;
    }
    if (sem_releases(order))
        vclock_join(&r->clocks, &k->released[LAYER_SHARED], k->now[LAYER_ORDER]);
}

/* The same for a fence without. */
static void fence_all(struct race *r, struct know *k, const struct sem *how, bool wide) {
    if (wide)
        fence_layer(r, k, LAYER_ORDER, how->order);
    else
        fence_narrow(r, k, how->order);
    if (sem_acquires(how->order))
        vclock_set(&r->clocks, &k->narrow, NULL);
    fence_layer(r, k, LAYER_FENCED_GLOBAL, how->order);
    fence_layer(r, k, LAYER_SHARED, how->order);
    if (!sem_releases(how->order))
        return;
    k->released_all_at = r->time;
    k->released_global_at = k->global_at;
    k->released_scope = how->scope;
}

void know_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct sem *how, bool wide) {
    struct warp_watch *w = &r->warps[warp];
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        if (how->restricted)
            fence_restricted(r, &s->k, how->order);
        else
            fence_all(r, &s->k, how, wide);
        fence_layer(r, &s->k, LAYER_FENCED, how->order);
        fence_layer(r, &s->k, LAYER_HALF, how->order);
        fence_layer(r, &s->k, LAYER_SCOPED, how->order);
        if (!sem_releases(how->order))
            continue;
        s->k.released_at = r->time;
        if (s->k.released_scope < how->scope)
            s->k.released_scope = how->scope;
        s->k.released_fenced_at = s->k.fenced_at;
        s->k.released_half_at = s->k.half_at;
        if (!wide)
            continue;
        vclock_join(&r->clocks, &s->k.now[LAYER_PERFORMED], s->k.now[LAYER_ORDER]);
        vclock_add_lanes(&r->clocks, &s->k.now[LAYER_PERFORMED], warp, s->lanes, r->time);
    }
    merge(r, w);
}

void know_proxy_fence(struct race *r, uint32_t warp, uint32_t lanes, enum event_fence_space space) {
    struct warp_watch *w = &r->warps[warp];
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        if (space != FENCE_GLOBAL) {
            vclock_join(&r->clocks, &s->k.now[LAYER_FENCED], s->k.now[LAYER_ORDER]);
            vclock_join(&r->clocks, &s->k.now[LAYER_FENCED], s->k.now[LAYER_SHARED]);
            s->k.fenced_at = r->time;
        }
        if (space != FENCE_SHARED) {
            vclock_join(&r->clocks, &s->k.now[LAYER_FENCED_GLOBAL], s->k.now[LAYER_ORDER]);
            s->k.global_at = r->time;
        }
    }
    merge(r, w);
}

/* fence.proxy.async::generic.acquire makes known to the async proxy what a .release covers. Each of the two also acts
 * as a thread fence with .sync_restrict. The .release acts as if that fence followed it, because a later relaxed
 * arrival passes on what the .release covers (9.7.13.17, example). The .acquire acts as if that fence preceded it. */
void know_half_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct sem *how) {
    struct warp_watch *w = &r->warps[warp];
    if (sem_acquires(how->order))
        know_fence(r, warp, lanes, how, false);
    split(w, lanes);
    FOR_STRANDS(s, w, lanes) {
        struct know *k = &s->k;
        if (sem_releases(how->order)) {
            vclock_join(&r->clocks, &k->now[LAYER_HALF], k->now[LAYER_ORDER]);
            vclock_join(&r->clocks, &k->now[LAYER_HALF], k->now[LAYER_SHARED]);
            k->half_at = r->time;
        } else {
            vclock_join(&r->clocks, &k->now[LAYER_FENCED], k->now[LAYER_HALF]);
            k->fenced_at = k->half_at > k->fenced_at ? k->half_at : k->fenced_at;
        }
    }
    merge(r, w);
    if (sem_releases(how->order))
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
                vclock_set(&r->clocks, &k->released[both[i]], k->now[both[i]]);
                continue;
            }
            vclock_join(&r->clocks, &k->now[both[i]], k->pending[both[i]]);
            vclock_set(&r->clocks, &k->pending[both[i]], NULL);
        }
        if (before)
            k->before_at = r->time;
        else if (r->strict)
            vclock_set(&r->clocks, &k->now[LAYER_BEHIND], k->now[LAYER_SEEN]);
    }
    merge(r, w);
}

/* bar.warp.sync of a warp whose 32 lanes know the same, so no meeting is needed: each learns the acts of the others.
 * Their tcgen05 operations before ::before_thread_sync become pending, until ::after_thread_sync (LAYER_TENSOR). */
static void meet_alone(struct race *r, struct know *k, uint32_t warp) {
    static const enum layer all[] = {LAYER_ORDER, LAYER_SEEN, LAYER_RAN, LAYER_SCOPED};
    static const enum layer both[] = {LAYER_TENSOR, LAYER_TENSOR_SCOPED};
    struct vclock_step step;
    vclock_step_begin(&step, warp, UINT32_MAX, 0);
    for (unsigned i = 0; i < 3u + r->strict; i++)
        vclock_learn(&r->clocks, &step, &k->now[all[i]], NULL, r->time, 0);
    if (k->fenced_at)
        vclock_add_lanes(&r->clocks, &k->now[LAYER_FENCED], warp, UINT32_MAX, k->fenced_at);
    if (k->global_at)
        vclock_add_lanes(&r->clocks, &k->now[LAYER_FENCED_GLOBAL], warp, UINT32_MAX, k->global_at);
    if (k->half_at)
        vclock_add_lanes(&r->clocks, &k->now[LAYER_HALF], warp, UINT32_MAX, k->half_at);
    if (!r->strict)
        return;
    for (unsigned i = 0; i < 2; i++)
        vclock_learn(&r->clocks, &step, &k->pending[both[i]], k->released[both[i]], k->before_at, 0);
}

/* bar.warp.sync orders the memory accesses of its participants (9.7.13.2). */
void know_warp_sync(struct race *r, uint32_t warp, uint32_t lanes) {
    static const struct sem how = {.order = ORDER_ACQ_REL, .scope = SCOPE_CTA, .near = true};
    struct meeting m = {.open = {NULL}};
    if (r->warps[warp].num_strands == 1 && lanes == UINT32_MAX) {
        meet_alone(r, &r->warps[warp].strand[0].k, warp);
        return;
    }
    know_arrive(r, warp, lanes, &m, &how);
    know_phase(r, &m);
    know_observe(r, warp, lanes, &m, NULL, &how);
    know_forget(r, &m);
}
