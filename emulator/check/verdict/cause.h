/* check/verdict/cause.h - why two accesses to shared or tensor memory are not ordered.
 *
 * A rule has a hint for each cause. The checker computes the cause from what threads did: their polls, arrivals and
 * groups. CAUSE_ANY: the cause is not known.
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
    CAUSE_PARITY,   /* a wait asked for a phase that was already over */
    CAUSE_RETURN,   /* the reader signals (or would), but the writer does not wait for it */
    CAUSE_UNWAITED, /* committed, but no wait since */
    CAUSE_EARLY,    /* the operation was issued before its thread's first store */
    CAUSE_RELEASE,  /* a relaxed arrival; a relaxed wait */
    CAUSE_ACQUIRE,
    CAUSES
};

static inline bool race_is_near(const struct race *r, uint32_t warp, const struct viewer *v) {
    return warp / r->warps_each == v->warp / r->warps_each;
}

/* The arrival, by another lane of the thread's warp after the access, through which a later operation knows of that
 * lane. NULL: none, or forgotten. Then the missing wait is not this thread's fault. */
const struct tell *cause_lane_that_told(const struct race *r, const struct stamp *first, const struct viewer *v);
/* Is the thread a round ahead? It has executed the same line before, and `v` knows that: so this thread did not wait.
 */
bool cause_is_ahead(const struct race *r, const struct stamp *first, const struct viewer *v);

enum cause cause_of_race(const struct race *r, const struct stamp *first, bool wrote, const struct viewer *v,
                         bool writes);
/* For a lane's cp.async: has the lane waited for it, and is it in a group? */
enum cause cause_of_copy(const struct race *r, const struct stamp *first, const struct viewer *v);
/* For an operation `v` that writes bytes that its own thread accesses after the issue. Other threads: CAUSE_ANY. */
enum cause cause_under_way(const struct race *r, const struct stamp *first, const struct viewer *v);
/* For an operation that writes shared memory; that reads it (`v` NULL: the overwriting access does not matter). */
enum cause cause_of_write(const struct race *r, const struct note *n, const struct viewer *v);
enum cause cause_of_read(const struct race *r, const struct note *n, const struct viewer *v);
/* For a tcgen05 operation and an access to its cells. */
enum cause cause_of_mma(const struct race *r, const struct note *first, const struct viewer *v);
/* Known by execution only: does the arrival not release, or does the wait not acquire? */
enum cause cause_of_handover(const struct race *r, const struct stamp *first, const struct viewer *v);

/* The wait after which one of the two took the other as complete, if it asked for a phase that was already over. Or
 * NULL. */
const struct poll *cause_stale(const struct race *r, const struct note *first, const struct viewer *v);
void cause_say_stale(const struct poll *p, char *text, size_t size);
/* The sentence for CAUSE_COMMIT of cause_of_mma. */
void cause_say_commit(const struct race *r, const struct note *first, const struct viewer *v, char *text, size_t size);

#endif
