/* check/verdict/cause.h - why two accesses to shared or tensor memory are not ordered.
 *
 * A rule has a hint for each cause. When verdict.c has found that a rule is broken, it asks for the cause, which is
 * computed from what threads did: their polls, arrivals and groups. `first` and `v` as in verdict.h.
 */
#ifndef CHECK_VERDICT_CAUSE_H
#define CHECK_VERDICT_CAUSE_H

#include "check/verdict/verdict.h"

enum cause {
    CAUSE_ANY,        /* not known */
    CAUSE_WARP,       /* both threads are lanes of one warp */
    CAUSE_CLUSTER,    /* the threads are in two CTAs */
    CAUSE_TELLER,     /* another lane of the first thread's warp arrived for it, after its access */
    CAUSE_LATE,       /* the first thread arrived before its access */
    CAUSE_WAITER,     /* another thread has waited, and has not synchronised with this one since */
    CAUSE_COMMIT,     /* a copy in no group; a tcgen05.commit by a thread that had issued nothing */
    CAUSE_GROUP,      /* the copy's group is committed, but the N of wait_group left it pending */
    CAUSE_OTHER_WAIT, /* a wait_group, but the copy signals an mbarrier */
    CAUSE_OWN,        /* the accessing thread executed wait_group, which covers only its own copies */
    CAUSE_PEER,       /* the copy's destination is another CTA: it signals there, and is in no group */
    CAUSE_PARITY,     /* a wait asked for a phase that was already over */
    CAUSE_RETURN,     /* the reader signals (or would), but the writer does not wait for it */
    CAUSE_UNWAITED,   /* the copy's group is committed, but its thread has not waited since */
    CAUSE_EARLY,      /* the copy was issued before this thread's first store to its source */
    CAUSE_RELEASE,    /* a relaxed arrival without a fence before it */
    CAUSE_ACQUIRE,    /* a relaxed wait without a fence after it */
    CAUSES
};

/* Is the warp in the viewer's CTA? */
static inline bool race_is_near(const struct race *r, uint32_t warp, const struct viewer *v) {
    return warp / r->warps_each == v->warp / r->warps_each;
}

/* The arrival by another lane of the first thread's warp, after the access, that the operation `v` knows of: that lane
 * arrived for its warp, but nothing orders its arrival after this access. NULL: none, or forgotten, or `v` is threads.
 */
const struct tell *cause_lane_that_told(const struct race *r, const struct stamp *first, const struct viewer *v);
/* Is the first thread a round ahead of `v`? `v` knows that it executed the same line before, but not this time: so the
 * first thread did not wait for `v`. */
bool cause_is_ahead(const struct race *r, const struct stamp *first, const struct viewer *v);

/* For two accesses of threads that nothing orders. */
enum cause cause_of_race(const struct race *r, const struct stamp *first, bool wrote, const struct viewer *v,
                         bool writes);
/* For a lane's cp.async: has the lane waited for it, and is it in a group? */
enum cause cause_of_copy(const struct race *r, const struct stamp *first, const struct viewer *v);
/* For an operation `v` that writes bytes that its own thread accesses after the issue. Other threads: CAUSE_ANY. */
enum cause cause_under_way(const struct race *r, const struct stamp *first, const struct viewer *v);
/* For an operation that writes shared memory; for a copy that reads it (`v`: who overwrites its source; NULL: it does
 * not matter who). */
enum cause cause_of_write(const struct race *r, const struct note *n, const struct viewer *v);
enum cause cause_of_read(const struct race *r, const struct note *n, const struct viewer *v);
/* For a tcgen05.mma, .cp or .shift and an access to its cells of tensor memory. */
enum cause cause_of_mma(const struct race *r, const struct note *first, const struct viewer *v);
/* For an access that `v` knows only as executed: does the arrival not release, or does the wait not acquire? */
enum cause cause_of_handover(const struct race *r, const struct stamp *first, const struct viewer *v);

/* The wait after which one of the two took the other as complete, if it asked for a phase that was already over:
 * CAUSE_PARITY. Or NULL. */
const struct poll *cause_stale(const struct race *r, const struct note *first, const struct viewer *v);
/* Writes the report's clause about that wait; about the tcgen05.commit that is CAUSE_COMMIT of cause_of_mma. */
void cause_say_stale(const struct poll *p, char *text, size_t size);
void cause_say_commit(const struct race *r, const struct note *first, const struct viewer *v, char *text, size_t size);

#endif
