/* check/know/barriers.h - barriers of a CTA, and the barrier of the cluster: what they carry to whom. */
#ifndef CHECK_KNOW_BARRIERS_H
#define CHECK_KNOW_BARRIERS_H

#include "check/know/know.h"

/* Barriers of a CTA, by number. Of each: the generation under way. What a complete generation carries belongs to its
 * warps alone (struct warp_watch). */
struct cta_bars {
    struct meeting met[MACH_BARRIERS];
    uint32_t arrived[MACH_BARRIERS]; /* warps, in that generation: how many, */
    uint32_t warps[MACH_BARRIERS];   /*  and which */
};

/* SYNC_BAR_*; SYNC_CLUSTER_*. */
void barriers_sync_cta(struct race *r, const struct event_sync *e);
void barriers_sync_cluster(struct race *r, const struct event_sync *e);
/* LIFE_LANES_EXIT: later barriers do not wait for these lanes. */
void barriers_exit(struct race *r, const struct event_life *e);

#endif
