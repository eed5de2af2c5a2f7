/* check/know/viewer.h - a viewer: the maker of the access that is being checked, and what it knows of earlier ones. */
#ifndef CHECK_KNOW_VIEWER_H
#define CHECK_KNOW_VIEWER_H

#include "check/know/cluster.h"

/* Lanes of a strand, or an operation. Exists only during the check of the access. */
struct viewer {
    struct vclock *const *now;           /* what it knows of others: threads now, an operation at its issue */
    uint32_t warp, lanes;                /* its own lanes: it knows their acts up to `time`, */
    uint32_t time, fenced_at, global_at; /* and a proxy fence covers them up to these (struct know) */
    const struct note *note;             /* the operation; NULL: threads */
    const struct event_by *by;           /* of the event that is being checked */
    enum event_agent agent;
    bool async; /* it accesses memory through the async proxy */
    /* For a synchronous tcgen05 operation: the clocks that count without tcgen05.fence::after_thread_sync, by layer
     * (9.7.16.6.1). NULL: any other access. */
    struct vclock *const *synchronous;
    const char *what; /* the access, as reports name it */
};

static inline struct viewer viewer_of_strand(const struct race *r, const struct event_by *by, uint32_t warp,
                                             const struct strand *s, enum event_effect effect) {
    return (struct viewer){.now = s->k.now,
                           .warp = warp,
                           .lanes = s->lanes & by->lanes,
                           .time = r->time,
                           .fenced_at = s->k.fenced_at,
                           .global_at = s->k.global_at,
                           .by = by,
                           .agent = AGENT_THREAD,
                           .what = by->what                ? by->what
                                   : effect & EFFECT_WRITE ? "a store"
                                                           : "a load"};
}
static inline struct viewer viewer_of_note(const struct event_by *by, const struct note *n, bool async,
                                           const char *what) {
    return (struct viewer){.now = n->now,
                           .warp = n->warp,
                           .lanes = n->lanes,
                           .time = n->time,
                           .fenced_at = n->fenced_at,
                           .global_at = n->global_at,
                           .note = n,
                           .by = by,
                           .agent = n->agent,
                           .async = async,
                           .what = what};
}

/* The viewer's own lanes if `warp` is its own and the time is not later; otherwise none. */
static inline uint32_t viewer_own_lanes(const struct viewer *v, enum layer layer, uint32_t warp, uint32_t time) {
    return warp == v->warp && time <= (layer == LAYER_FENCED ? v->fenced_at : v->time) ? v->lanes : 0;
}
/* The next functions ask for shared and tensor memory: there LAYER_ORDER includes LAYER_SHARED. */

/* Does the viewer know the lane's acts up to `time`? */
static inline bool viewer_knows_lane(const struct viewer *v, enum layer layer, uint32_t warp, uint32_t lane,
                                     uint32_t time) {
    return viewer_own_lanes(v, layer, warp, time) >> lane & 1 || vclock_knows_lane(v->now[layer], warp, lane, time) ||
           (layer == LAYER_ORDER && vclock_knows_lane(v->now[LAYER_SHARED], warp, lane, time));
}
/* The same for at least one of the lanes of *d up to its time, or for `all`. */
bool viewer_knows_lanes(const struct viewer *v, enum layer layer, const struct done *d, bool all);
/* Does the viewer know that the part of an operation with this *d is complete? */
bool viewer_knows_step(const struct viewer *v, enum layer layer, const struct done *d);
/* Does the viewer know that a part of the operation is complete: its write (`wrote`) or its read? */
bool viewer_knows_done(const struct viewer *v, enum layer layer, const struct note *n, bool wrote);
/* Does the viewer know that a lane's cp.async of that time is complete, from the lane's waits since then? */
bool viewer_knows_copy(const struct race *r, const struct viewer *v, enum layer layer, uint32_t warp, uint32_t lane,
                       uint32_t time);

#endif
