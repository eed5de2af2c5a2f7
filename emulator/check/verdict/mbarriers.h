/* check/verdict/mbarriers.h - the rules for mbarriers as objects, and their reports. Called by check/listener.c.
 *
 * A use of an object must be ordered after its initialisation (PTX ISA 9.7.13.15.9). In its own CTA any edge does; for
 * the other CTAs of the cluster the object must be published (9.7.13.4). To publish it, a thread of its CTA executes
 * fence.mbarrier_init or another release at cluster scope after mbarrier.init, and then a cluster barrier completes.
 *
 * A poll by parity can tell only two phases apart. So threads that wait for a phase must have seen it end before the
 * next one ends (9.7.13.15.16). The object ends with its CTA, so signals from other CTAs' operations must come before
 * that (5.1.7).
 */
#ifndef CHECK_VERDICT_MBARRIERS_H
#define CHECK_VERDICT_MBARRIERS_H

#include "check/know/cluster.h"

/* On SYNC_MBAR_*, before mbars_sync. `n` is the note of the operation that does it, or NULL. */
void verdict_mbar_sync(struct race *r, const struct event_sync *e, struct mbar_watch *m, const struct note *n);
/* For arrivals of lanes together: do they break no rule for sure? */
bool verdict_mbar_joins(const struct race *r, const struct event_sync *e, const struct mbar_watch *m);
/* On a store to shared memory: does it overwrite an mbarrier that is not invalidated? */
void verdict_mbar_store(struct race *r, const struct event_access *e);
/* On LIFE_MBAR_INVAL, before mbars_end: do the executing threads know of all uses? */
void verdict_mbar_inval(struct race *r, const struct event_life *e);
/* On LIFE_CTA_EXIT: have all expected arrivals and bytes come? */
void verdict_mbar_exit(const struct race *r, const struct event_life *e);

#endif
