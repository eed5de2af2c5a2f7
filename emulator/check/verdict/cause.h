/* check/verdict/cause.h - of two accesses to shared or tensor memory that nothing orders: what is known of the cause.
 *
 * A rule has a hint for each cause, which the checker computes from what threads did: their polls, arrivals, groups.
 * CAUSE_ANY is where it knows none.
 */
#ifndef CHECK_VERDICT_CAUSE_H
#define CHECK_VERDICT_CAUSE_H

#include "check/verdict/verdict.h"

enum cause {
    CAUSE_ANY,
    CAUSE_WARP,
    CAUSE_CLUSTER,
    CAUSE_TELLER,
    CAUSE_LATE,
    CAUSE_WAITER,
    CAUSE_COMMIT,
    CAUSE_GROUP,
    CAUSE_OTHER_WAIT,
    CAUSE_OWN,
    CAUSE_PEER,
    CAUSE_PARITY,   /* a wait asked for a phase that was over */
    CAUSE_RETURN,   /* who reads tells, or would, and who writes does not wait for it */
    CAUSE_UNWAITED, /* committed, and never waited for */
    CAUSE_EARLY,    /* the operation was issued before the first store */
    CAUSE_RELEASE,  /* a relaxed arrival; a relaxed wait */
    CAUSE_ACQUIRE,
    CAUSES
};

static inline bool race_is_near(const struct race *r, uint32_t warp, const struct viewer *v) {
    return warp / r->warps_each == v->warp / r->warps_each;
}

/* The arrival by which an operation that was issued later knows of another lane of the thread's warp, from behind that
 * lane's own access; NULL: there is none, or it is forgotten. The thread is not the one that did not wait then. */
const struct tell *cause_lane_that_told(const struct race *r, const struct stamp *first, const struct viewer *v);
/* The thread has done the same before, and that is known to `v`: it is a round ahead, and the one that did not wait. */
bool cause_is_ahead(const struct race *r, const struct stamp *first, const struct viewer *v);

enum cause cause_of_race(const struct race *r, const struct stamp *first, bool wrote, const struct viewer *v,
                         bool writes);
/* Of a lane's cp.async: has the lane waited for it, is it in a group? */
enum cause cause_of_copy(const struct race *r, const struct stamp *first, const struct viewer *v);
/* Of an operation `v` that writes what its own thread touches after the issue; of another thread it says nothing. */
enum cause cause_under_way(const struct race *r, const struct stamp *first, const struct viewer *v);
/* Of an operation that writes shared memory; that reads it, `v` NULL: by whom it is overwritten is not asked. */
enum cause cause_of_write(const struct race *r, const struct note *n, const struct viewer *v);
enum cause cause_of_read(const struct race *r, const struct note *n, const struct viewer *v);
/* Of a tcgen05 operation and who touches its cells. */
enum cause cause_of_mma(const struct race *r, const struct note *first, const struct viewer *v);
/* Known by execution alone: is it the arrival that does not release, or the wait that does not acquire? */
enum cause cause_of_handover(const struct race *r, const struct stamp *first, const struct viewer *v);

/* The wait by which one of the two took the other to be over, if it asked for a phase that was over before; NULL. */
const struct poll *cause_stale(const struct race *r, const struct note *first, const struct viewer *v);
void cause_say_stale(const struct poll *p, char *text, size_t size);
/* CAUSE_COMMIT of cause_of_mma. */
void cause_say_commit(const struct race *r, const struct note *first, const struct viewer *v, char *text, size_t size);

#endif
