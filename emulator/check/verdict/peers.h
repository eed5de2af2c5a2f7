/* check/verdict/peers.h - may a thread access the shared memory of another CTA of the cluster?
 *
 * It may while that CTA runs (PTX ISA 5.1.7: shared memory is owned by an executing CTA). CTAs of a cluster run at the
 * same time, but need not start at the same time. A thread that knows of any act of the other CTA's threads knows that
 * it runs. A barrier of the cluster proves it, too, also after .arrive.relaxed (9.7.13.3).
 */
#ifndef CHECK_VERDICT_PEERS_H
#define CHECK_VERDICT_PEERS_H

#include "check/know/cluster.h"

/* On an access to another CTA's shared memory. `n`: note of the operation that makes it; NULL: threads make it. */
void verdict_peer(struct race *r, const struct event_access *e, const struct note *n);

#endif
