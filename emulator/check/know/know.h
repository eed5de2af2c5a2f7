/* check/know/know.h - what threads know of what others did, and how synchronisation passes it on.
 *
 * An edge of the memory model carries one kind of order and not another (docs/memory-model.md). So what a thread knows
 * is kept in layers, a clock (check/vclock/vclock.h) for each kind. Threads that synchronise hand their clocks to a
 * meeting and take those of the others from it.
 */
#ifndef CHECK_KNOW_KNOW_H
#define CHECK_KNOW_KNOW_H

#include "check/vclock/vclock.h"
#include "machine/events.h"

struct race;

/* What an edge carries. */
enum layer {
    LAYER_ORDER,  /* causality order of the generic proxy: a release pattern, observed by an acquire pattern (8.8) */
    LAYER_SEEN,   /* execution alone: also through relaxed arrivals and waits */
    LAYER_RAN,    /* as SEEN; completing an operation also passes on what its issuer had done */
    LAYER_FENCED, /* of LAYER_ORDER what a fence.proxy.async makes known to the async proxy (8.6, 9.7.13.4) */
    LAYER_FENCED_GLOBAL, /* as LAYER_FENCED, of global memory: fence.proxy.async names the memory that it is for */
    LAYER_HALF, /* of LAYER_ORDER what fence.proxy.async::generic.release covers: its .acquire makes it LAYER_FENCED */
    LAYER_PERFORMED, /* what fences of gpu scope, by any thread, have made visible to the device, by execution alone */
    /* kept at the strict level only */
    LAYER_TENSOR,        /* tcgen05 operations, through tcgen05.fence (9.7.16.6.4) */
    LAYER_SCOPED,        /* of LAYER_ORDER what the scopes take in (8.5); in a meeting, from threads at cluster scope */
    LAYER_TENSOR_SCOPED, /* the same of LAYER_TENSOR (9.7.16.11.1) */
    LAYER_NEAR,          /* only in meetings: SCOPED facts from the object's own CTA, at any scope */
    LAYER_TENSOR_NEAR,   /* the same of TENSOR_SCOPED */
    LAYER_BEHIND,        /* only of threads: what they knew in LAYER_SEEN at their last fence::after_thread_sync */
    LAYERS
};

/* What threads know, until their warp ends. A thread knows all that it did itself, so its own lane is in `now` only as
 * far as others passed it back. */
struct know {
    struct vclock *now[LAYERS];
    struct vclock *released[LAYERS]; /* `now` at the last release fence; LAYER_TENSOR: fence::before_thread_sync */
    struct vclock *pending[LAYERS];  /* from relaxed waits: counts after an acquire fence; fence::after_thread_sync */
    struct vclock *narrow;           /* of pending[LAYER_ORDER] what a fence of .cta or .cluster scope takes, too */
    uint32_t released_at;            /* time of that release fence, 0: never */
    enum event_scope released_scope; /* its scope */
    uint32_t before_at;              /* time of the last fence::before_thread_sync */
    uint32_t fenced_at;              /* a proxy fence covers the thread's own accesses up to this time, */
    uint32_t released_fenced_at;     /*  and did up to this one at released_at */
    uint32_t global_at, released_global_at; /* the same of LAYER_FENCED_GLOBAL */
    uint32_t half_at, released_half_at;     /*  and of LAYER_HALF */
};

/* Strand: lanes of a warp that know the same of others. They part when some of them synchronise alone, and become one
 * again when they know the same again. */
struct strand {
    uint32_t lanes;
    struct know k;
};

/* Meeting: what synchronisation on one object carries. The object is an mbarrier, a barrier of the CTA, the cluster's
 * barrier, or a word of memory that strong accesses use. A meeting lives as long as its object. */
struct meeting {
    struct vclock *done[LAYERS]; /* what completed phases carry: for those who observe one */
    struct vclock *open[LAYERS]; /* what has arrived in the phase under way */
    struct vclock *carried;      /* LAYER_RAN of the issuer of the latest operation that arrived in it */
};

/* The .sem and .scope of an arrival or a wait; near: its object is in the thread's own CTA; far: those who gave what
 * is observed are in other clusters, so that it takes a fence of gpu scope (8.7). */
struct sem {
    enum event_order order;
    enum event_scope scope;
    bool near, far;
};
static inline struct sem sem_of(const struct event_sync *e) {
    return (struct sem){e->by.order, e->by.scope, e->by.cta == e->owner, false};
}
static inline bool sem_releases(enum event_order o) {
    return o == ORDER_RELEASE || o == ORDER_ACQ_REL || o == ORDER_SC;
}
static inline bool sem_acquires(enum event_order o) {
    return o == ORDER_ACQUIRE || o == ORDER_ACQ_REL || o == ORDER_SC;
}

/* Below, `warp` is the warp's number in the cluster. */

/* Lanes arrive: the phase under way gets what they know and what they did. */
void know_arrive(struct race *r, uint32_t warp, uint32_t lanes, struct meeting *m, const struct sem *how);
/* The same of one lane, but that the phase gets only what it knows of others; own[l]: up to when what it did itself
 * goes along in that layer, 0: nothing does. */
void know_release(struct race *r, uint32_t warp, uint32_t lane, struct meeting *m, uint32_t own[LAYERS],
                  const struct sem *how);
/* The phase under way is complete. */
void know_phase(struct race *r, struct meeting *m);
/* Whoever sees the phase under way complete knows `step` steps of the token. */
void know_token(struct race *r, struct meeting *m, uint32_t token, uint32_t step);
/* Lanes have observed a completed phase. */
void know_observe(struct race *r, uint32_t warp, uint32_t lanes, const struct meeting *m, const struct sem *how);

/* fence and membar; `wide`: of gpu or system scope. */
void know_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct sem *how, bool wide);
/* fence.proxy.async, for the memory that it names. */
void know_proxy_fence(struct race *r, uint32_t warp, uint32_t lanes, enum event_fence_space space);
/* fence.proxy.async::generic.release or .acquire. */
void know_half_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct sem *how);
/* tcgen05.fence::before_thread_sync or ::after_thread_sync. */
void know_tensor_fence(struct race *r, uint32_t warp, uint32_t lanes, bool before);
/* bar.warp.sync. */
void know_warp_sync(struct race *r, uint32_t warp, uint32_t lanes);

/* What a strand, or a meeting, knew is forgotten. */
void know_drop(struct race *r, struct know *k);
void know_forget(struct race *r, struct meeting *m);

#endif
