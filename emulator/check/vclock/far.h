/* check/vclock/far.h - sets: what a cluster knows of other clusters, with a clock (check/vclock/vclock.h) for each.
 *
 * A set contains only clusters that synchronised through global memory, so most sets are NULL, the set that knows
 * nothing. Kernels that synchronise so run on one host thread (launch/shares.c), so sets need no lock. Sets are shared
 * as clocks are. Their clocks belong to one pool, `pool`, which lives as long as the launch.
 */
#ifndef CHECK_VCLOCK_FAR_H
#define CHECK_VCLOCK_FAR_H

#include "check/vclock/vclock.h"

struct far;

/* Adds and removes a holder. */
struct far *far_hold(struct far *f);
void far_drop(struct vclock_pool *pool, struct far *f);

/* Adds to *into what `from` knows. */
void far_join(struct vclock_pool *pool, struct far **into, struct far *from);
/* Adds to *into what `c` knows of a cluster. */
void far_add(struct vclock_pool *pool, struct far **into, uint32_t cluster, struct vclock *c);
/* The set's clock for a cluster, or NULL. */
struct vclock *far_of(const struct far *f, uint32_t cluster);
/* Does `a` know something that `b` does not? */
bool far_exceeds(struct vclock_pool *pool, const struct far *a, const struct far *b);

#endif
