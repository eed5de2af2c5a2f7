/* check/know/maps.h - fence.proxy.tensormap: which changes of a tensor map a copy may see (9.7.13.4, 9.7.13.16). */
#ifndef CHECK_KNOW_MAPS_H
#define CHECK_KNOW_MAPS_H

#include "check/know/know.h"

#include <string.h>

/* A fence.proxy.tensormap::generic.release by lanes of a warp, until the launch ends. */
struct map_release {
    uint64_t clock;                      /* of the island: distinguishes executions of the fence */
    uint32_t cluster, warp, lanes, time; /* who, and when in that cluster */
};

/* A fence.proxy.tensormap::generic.acquire of the 128 bytes at `map`, until the cluster ends. */
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

/* tensormap.cp_fenceproxy: the lanes of a warp wait for one another, then read and write as one. Its qualifiers name
 * the order of its fence. */
static inline bool maps_is_copy(const struct event_access *e) {
    return e->by.what && *e->by.what == 't' && strcmp(e->by.what, "tensormap.cp_fenceproxy") == 0;
}
/* On FENCE_PROXY_TENSORMAP: remembers the release or the acquire. */
void maps_fence(struct race *r, const struct event_sync *e);
/* Do the threads of that acquire know of a release in that cluster at or after `time`, when one of its threads wrote
 * the map? */
bool maps_is_released(const struct race *r, const struct map_acquire *a, uint32_t cluster, uint32_t time);
/* At the end of the cluster. */
void maps_end(struct race *r);

#endif
