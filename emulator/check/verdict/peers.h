/* check/verdict/peers.h - may the shared memory of another CTA of the cluster be touched?
 *
 * It may, from when that CTA runs (PTX ISA 5.1.7: shared memory is owned by an executing CTA) until it ends. CTAs of a
 * cluster run at the same time, but need not start at the same time. Who knows of anything that a thread of the other
 * CTA has executed knows that it runs; a barrier of the cluster tells so, also after .arrive.relaxed (9.7.13.3).
 */
#ifndef CHECK_VERDICT_PEERS_H
#define CHECK_VERDICT_PEERS_H

#include "check/know/cluster.h"

/* Another CTA's shared memory is accessed; `n` is the note of the operation that does it, or NULL: threads do. */
void verdict_peer(struct race *r, const struct event_access *e, const struct note *n);

#endif
