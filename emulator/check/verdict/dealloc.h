/* check/verdict/dealloc.h - the rules for tcgen05.dealloc of a CTA pair (9.7.16.7.1), and their reports. */
#ifndef CHECK_VERDICT_DEALLOC_H
#define CHECK_VERDICT_DEALLOC_H

#include "check/know/cluster.h"

/* The latest tcgen05.alloc of a CTA, until its cluster ends. */
struct pair_alloc {
    uint32_t warp, time; /* warp: of the cluster */
    struct mach_origin origin;
};

/* Reports an access to columns [from, to) after one CTA of the pair has executed the dealloc `l` of these columns. */
void dealloc_tell_used(const struct event_access *e, uint32_t from, uint32_t to, const struct event_life *l);
/* On a CTA's dealloc for the pair: does it know that its peer has executed the alloc? */
void dealloc_check_alloc(const struct race *r, const struct event_life *e, const struct pair_alloc *peer);

#endif
