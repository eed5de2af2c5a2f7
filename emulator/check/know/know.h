/* check/know/know.h - what threads know of the acts of others, and how synchronisation passes it on.
 *
 * An edge of the memory model carries some kinds of order and not others (docs/memory-model.md). So a thread has a
 * layer for each kind, and each layer is a clock (check/vclock/vclock.h). Threads that synchronise add their clocks to
 * a meeting and take the clocks of the others from it.
 */
#ifndef CHECK_KNOW_KNOW_H
#define CHECK_KNOW_KNOW_H

#include "check/vclock/vclock.h"
#include "machine/events.h"

struct race;

/* The kinds of order that an edge may carry: one layer for each. Numbers are sections of the PTX ISA. */
enum layer {
    LAYER_ORDER,  /* causality order of the generic proxy: a release pattern that an acquire pattern observes (8.8) */
    LAYER_SEEN,   /* only that an act has been executed: relaxed arrivals and waits pass it on, too */
    LAYER_RAN,    /* as SEEN; completing an operation also passes on what its issuer had done */
    LAYER_FENCED, /* the part of ORDER that a fence.proxy.async makes known to the async proxy (8.6, 9.7.13.4) */
    LAYER_FENCED_GLOBAL, /* the same for global memory, because fence.proxy.async names its memory */
    LAYER_HALF,   /* the part of ORDER that fence.proxy.async::generic.release covers; .acquire makes it FENCED */
    LAYER_SHARED, /* beyond ORDER, for shared memory alone: what only fences with .sync_restrict ordered (9.7.13.4) */
    LAYER_PERFORMED, /* made visible to the whole GPU by any thread's fence of gpu scope; passed on like SEEN */
    /* only at the strict level: */
    LAYER_TENSOR,        /* tcgen05 operations, through tcgen05.fence (9.7.16.6.4) */
    LAYER_SCOPED,        /* the part of ORDER within all scopes (8.5); in a meeting, from threads at cluster scope */
    LAYER_TENSOR_SCOPED, /* the same of LAYER_TENSOR (9.7.16.11.1) */
    LAYER_NEAR,          /* only in meetings: SCOPED facts from the object's own CTA, at any scope */
    LAYER_TENSOR_NEAR,   /* the same of TENSOR_SCOPED */
    LAYER_BEHIND,        /* only in threads: LAYER_SEEN at their last fence::after_thread_sync */
    LAYERS
};

/* What threads know, until their warp ends. A thread knows all its own acts, so `now` holds its own lane only as far as
 * others passed it back. Times are in events of the cluster (struct race). */
struct know {
    struct vclock *now[LAYERS];      /* what counts as known at present */
    struct vclock *released[LAYERS]; /* `now` at the last release fence; LAYER_TENSOR: fence::before_thread_sync */
    struct vclock *pending[LAYERS];  /* from relaxed waits: joins `now` at an acquire fence; TENSOR: ::after_... */
    struct vclock *narrow;           /* the part of pending[LAYER_ORDER] that a fence of .cta or .cluster scope takes */
    bool narrow_news;                /* it may hold more than now[LAYER_SHARED] has taken of it */
    uint32_t released_at;            /* time of that release fence, 0: never; */
    uint32_t released_all_at;        /* and of the last one without .sync_restrict, for ORDER */
    enum event_scope released_scope; /* the scope of that */
    uint32_t before_at;              /* time of the last fence::before_thread_sync */
    uint32_t fenced_at;              /* a proxy fence covers the thread's own accesses until this time, */
    uint32_t released_fenced_at;     /* and this was its value at released_at */
    uint32_t global_at, released_global_at; /* the same for LAYER_FENCED_GLOBAL */
    uint32_t half_at, released_half_at;     /* and for LAYER_HALF */
};

/* A strand: lanes of a warp that know the same about others. Strands split when only some lanes synchronise, and merge
 * when they know the same again. */
struct strand {
    uint32_t lanes;
    struct know k;
};

/* A meeting: what synchronisation on one object passes on. The object is an mbarrier, a barrier of the CTA or of the
 * cluster, or a word that strong accesses use. A meeting lives as long as its object. */
struct meeting {
    struct vclock *done[LAYERS]; /* from completed phases: for threads that observe one */
    struct vclock *open[LAYERS]; /* from the arrivals in the current phase */
    /* Cache: the clock that `open` got last, which those who come next may know, too. */
    struct vclock *joined[LAYERS];
};

/* The .sem and .scope of an arrival, a wait or a fence. near: its object is in the thread's own CTA. far: the observed
 * writers are in other clusters, so only a fence of gpu scope orders them (8.7). restricted: a fence with
 * .sync_restrict. */
struct sem {
    enum event_order order;
    enum event_scope scope;
    bool near, far, restricted;
};
/* Those of an arrival or a wait on an object of the cluster. */
static inline struct sem sem_of(const struct event_sync *e) {
    struct sem how; /* member by member: a copy of what was just written has to wait for it */
    how.order = e->by.order;
    how.scope = e->by.scope;
    how.near = e->by.cta == e->owner;
    how.far = false;
    how.restricted = e->fence == FENCE_SYNC_RESTRICT || e->fence == FENCE_PROXY_ASYNC_GENERIC;
    return how;
}
static inline bool sem_releases(enum event_order o) {
    return o == ORDER_RELEASE || o == ORDER_ACQ_REL || o == ORDER_SC;
}
static inline bool sem_acquires(enum event_order o) {
    return o == ORDER_ACQUIRE || o == ORDER_ACQ_REL || o == ORDER_SC;
}

/* In all functions below, `warp` is the warp's number in the cluster, and `lanes` are those of its threads that act.
 * The other files of this folder call them, and listener.c, each for one kind of synchronisation. */

/* Lanes arrive: what they know and did joins the current phase. */
void know_arrive(struct race *r, uint32_t warp, uint32_t lanes, struct meeting *m, const struct sem *how);
/* The same for one lane, but only what it knows of others joins the phase. own[l]: the time until which its own acts go
 * along in that layer; 0: none do. */
void know_release(struct race *r, uint32_t warp, uint32_t lane, struct meeting *m, uint32_t own[LAYERS],
                  const struct sem *how);
/* The current phase completes. */
void know_phase(struct race *r, struct meeting *m);
/* Threads that observe the end of the current phase will know that the object with the token has done `step` steps. */
void know_token(struct race *r, struct meeting *m, uint32_t token, uint32_t step);
/* Lanes observe a completed phase. `within`: by layer, a clock that the phase includes; or NULL. */
void know_observe(struct race *r, uint32_t warp, uint32_t lanes, const struct meeting *m,
                  struct vclock *const within[LAYERS], const struct sem *how);

/* fence and membar; `wide`: of gpu or system scope, so it also orders what came from other clusters (8.7). */
void know_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct sem *how, bool wide);
/* fence.proxy.async, for the memory that it names. */
void know_proxy_fence(struct race *r, uint32_t warp, uint32_t lanes, enum event_fence_space space);
/* fence.proxy.async::generic.release or .acquire. */
void know_half_fence(struct race *r, uint32_t warp, uint32_t lanes, const struct sem *how);
/* tcgen05.fence::before_thread_sync or ::after_thread_sync. */
void know_tensor_fence(struct race *r, uint32_t warp, uint32_t lanes, bool before);
/* bar.warp.sync. */
void know_warp_sync(struct race *r, uint32_t warp, uint32_t lanes);

/* Frees what a strand, or a meeting, knows. */
void know_drop(struct race *r, struct know *k);
void know_forget(struct race *r, struct meeting *m);

#endif
