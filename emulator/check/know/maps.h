/* check/know/maps.h - fence.proxy.tensormap: which changes of tensor maps copies may see (9.7.13.4, 9.7.13.16). */
#ifndef CHECK_KNOW_MAPS_H
#define CHECK_KNOW_MAPS_H

#include "check/know/know.h"

#include <string.h>

/* fence.proxy.tensormap::generic.release by lanes of a warp; kept until the launch ends. */
struct map_release {
    uint64_t clock; /* of the island: which execution of the fence */
    uint32_t cluster, warp, lanes, time;
};

/* fence.proxy.tensormap::generic.acquire of the 128 bytes at `map`; kept until the cluster ends. */
struct map_acquire {
    uint64_t map, clock;
    uint32_t warp, lanes, time;
    struct vclock *known; /* LAYER_ORDER of the threads at that time */
};
struct map_acquires {
    struct map_acquire *list;
    uint32_t num, cap;
    bool lost; /* there were more: BOUND_ACQUIRES */
};

/* tensormap.cp_fenceproxy: the lanes of a warp, which wait for one another, read and write as one. The order in its
 * words is that of its fence. */
static inline bool maps_is_copy(const struct event_access *e) {
    return e->by.what && strcmp(e->by.what, "tensormap.cp_fenceproxy") == 0;
}
/* FENCE_PROXY_TENSORMAP. */
void maps_fence(struct race *r, const struct event_sync *e);
/* Do threads who acquired so know of a release behind what a lane of that warp and cluster wrote at `time`? */
bool maps_is_released(const struct race *r, const struct map_acquire *a, uint32_t cluster, uint32_t time);
/* The cluster ends. */
void maps_end(struct race *r);

#endif
