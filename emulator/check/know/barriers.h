/* check/know/barriers.h - the barriers of a CTA and the barrier of the cluster: what they pass on, and to whom. */
#ifndef CHECK_KNOW_BARRIERS_H
#define CHECK_KNOW_BARRIERS_H

#include "check/know/know.h"

/* The barriers of a CTA, by number: the current generation of each. When it completes, each of its warps keeps what it
 * passes on (struct warp_watch). Lives with its CTA. */
struct cta_bars {
    struct meeting met[MACH_BARRIERS];
    uint32_t arrived[MACH_BARRIERS]; /* how many warps, in that generation, */
    uint32_t warps[MACH_BARRIERS];   /*  and which */
};

/* On SYNC_BAR_* and on SYNC_CLUSTER_*: arrivals, the end of a generation, a thread that passes. */
void barriers_sync_cta(struct race *r, const struct event_sync *e);
void barriers_sync_cluster(struct race *r, const struct event_sync *e);
/* On LIFE_LANES_EXIT: later barriers do not wait for these lanes. */
void barriers_exit(struct race *r, const struct event_life *e);

#endif
