/* check/know/barriers.h - the barriers of a CTA and the barrier of the cluster: what they pass on, and to whom. */
#ifndef CHECK_KNOW_BARRIERS_H
#define CHECK_KNOW_BARRIERS_H

#include "check/know/know.h"

/* The barriers of a CTA, by number: the current generation of each. Lives with its CTA. */
struct cta_bars {
    struct meeting met[MACH_BARRIERS];
    uint32_t arrived[MACH_BARRIERS]; /* how many warps, in that generation, */
    uint32_t warps[MACH_BARRIERS];   /*  and which */
};

/* What a completed generation passes on, in m.done. The warps that took part hold it. */
struct bar_passed {
    uint32_t holders;
    struct meeting m;
};

/* On SYNC_BAR_* and on SYNC_CLUSTER_*: arrivals, the end of a generation, a thread that passes. */
void barriers_sync_cta(struct race *r, const struct event_sync *e);
void barriers_sync_cluster(struct race *r, const struct event_sync *e);
/* A warp no longer holds *p, which may be NULL. */
void barriers_drop(struct race *r, struct bar_passed **p);
/* On LIFE_LANES_EXIT: later barriers do not wait for these lanes. */
void barriers_exit(struct race *r, const struct event_life *e);

#endif
