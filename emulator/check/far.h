/* check/far.h - what a cluster knows of others: for each of them a clock (check/clock.h) of that cluster.
 *
 * Only what has synchronised through global memory is in a set, so that it is mostly NULL: the set that knows nothing.
 * Kernels that synchronise so run on one host thread (launch/shares.c), and sets have no lock. Sets are shared as
 * clocks are; their clocks belong to one pool, which outlives the clusters: `pool`.
 */
#ifndef CHECK_FAR_H
#define CHECK_FAR_H

#include "check/clock.h"

struct far;

/* One holder more, and one fewer. */
struct far *far_hold(struct far *f);
void far_drop(struct clock_pool *pool, struct far *f);

/* *into knows what `from` knows, too. */
void far_join(struct clock_pool *pool, struct far **into, struct far *from);
/* *into knows what `c` knows of a cluster, too. */
void far_add(struct clock_pool *pool, struct far **into, uint32_t cluster, struct clock *c);
/* What it knows of a cluster, or NULL. */
struct clock *far_of(const struct far *f, uint32_t cluster);
/* Does `a` know something that `b` does not? */
bool far_exceeds(struct clock_pool *pool, const struct far *a, const struct far *b);

#endif
