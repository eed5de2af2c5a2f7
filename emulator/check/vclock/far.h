/* check/vclock/far.h - sets: what a cluster knows of other clusters, a clock (check/vclock/vclock.h) for each of them.
 *
 * Only clusters that synchronised through global memory are in a set, so a set is mostly NULL: the one that knows
 * nothing. Kernels that synchronise so run on one host thread (launch/shares.c), and sets have no lock. Sets are shared
 * as clocks are. Their clocks belong to one pool, which outlives the clusters: `pool`.
 */
#ifndef CHECK_VCLOCK_FAR_H
#define CHECK_VCLOCK_FAR_H

#include "check/vclock/vclock.h"

struct far;

/* One holder more, and one fewer. */
struct far *far_hold(struct far *f);
void far_drop(struct vclock_pool *pool, struct far *f);

/* *into knows what `from` knows, too. */
void far_join(struct vclock_pool *pool, struct far **into, struct far *from);
/* *into knows what `c` knows of a cluster, too. */
void far_add(struct vclock_pool *pool, struct far **into, uint32_t cluster, struct vclock *c);
/* The clock that it has for a cluster, or NULL. */
struct vclock *far_of(const struct far *f, uint32_t cluster);
/* Does `a` know something that `b` does not? */
bool far_exceeds(struct vclock_pool *pool, const struct far *a, const struct far *b);

#endif
