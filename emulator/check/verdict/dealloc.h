/* check/verdict/dealloc.h - the rules of a CTA pair's tcgen05.dealloc (9.7.16.7.1), and their reports. */
#ifndef CHECK_VERDICT_DEALLOC_H
#define CHECK_VERDICT_DEALLOC_H

#include "check/know/cluster.h"

/* The tcgen05.alloc that a CTA executed last. */
struct pair_alloc {
    uint32_t warp, time;
    struct mach_origin origin;
};

/* An access to columns [from, to), of which one CTA of the pair has already executed the dealloc `l`. */
void dealloc_tell_used(const struct event_access *e, uint32_t from, uint32_t to, const struct event_life *l);
/* A CTA executes the pair's dealloc: does it know that its peer has executed the alloc? */
void dealloc_check_alloc(const struct race *r, const struct event_life *e, const struct pair_alloc *peer);

#endif
