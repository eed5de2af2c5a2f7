/* check/verdict/mbarriers.h - the rules of mbarriers as objects, and their reports.
 *
 * An object may be used once its initialisation is ordered before the use (PTX ISA 9.7.13.15.9): in its CTA by any
 * edge, by the other CTAs of the cluster once it is published (9.7.13.4). To publish it, a thread of its CTA executes
 * fence.mbarrier_init or another release at cluster scope after mbarrier.init, and then a cluster barrier completes.
 *
 * A poll by parity tells two phases apart. So those who wait for a phase must have seen it before the next one ends
 * (9.7.13.15.16). The object ends with its CTA: what other CTAs' operations signal there comes before that (5.1.7).
 */
#ifndef CHECK_VERDICT_MBARRIERS_H
#define CHECK_VERDICT_MBARRIERS_H

#include "check/know/cluster.h"

/* SYNC_MBAR_*, before mbars_sync: which rules does the event break? `n` is the note of its operation, or NULL. */
void verdict_mbar_sync(struct race *r, const struct event_sync *e, const struct mbar_watch *m, const struct note *n);
/* Threads store to shared memory: over an mbarrier that is not invalidated? */
void verdict_mbar_store(struct race *r, const struct event_access *e);
/* LIFE_MBAR_INVAL, before mbars_end: do the threads that execute it know of all uses? */
void verdict_mbar_inval(struct race *r, const struct event_life *e);
/* LIFE_CTA_EXIT: has all come that was to come? */
void verdict_mbar_exit(const struct race *r, const struct event_life *e);

#endif
