/* machine/timing.h - when things take place, under MACH_SCHED_MODEL.
 *
 * Whoever knows what takes how long (clock/online.h) gives the gpu a struct mach_timing before a launch. The scheduler
 * (launch/timed.c) keeps warps and queues as agents in the order of their times, asks it what each costs, and sets
 * `now`: all clusters of a launch are in one order of time. Times are cycles of an SM since the launch before ended.
 */
#ifndef MACHINE_TIMING_H
#define MACHINE_TIMING_H

#include <stdbool.h>
#include <stdint.h>

struct async_op;
struct async_queue;
struct cta;
struct diag_site;
struct mach_timed;
struct warp;

/* Who does one thing after the other: a warp or a queue. */
struct mach_agent {
    uint64_t order;           /* among those of the same time */
    uint32_t number;          /* in the scheduler's heap, from 1; 0: not there */
    struct warp *w;           /* or NULL: */
    struct mach_timed *timed; /* of a warp: struct mach_timing's */
    struct async_queue *q;
};

/* What an instruction is to time. */
struct mach_cost {
    double slots;     /* instructions that are issued for it, */
    double cycles;    /* and from the first's issue to that of the next that needs it */
    bool registers;   /* nobody but its own warp can tell when it runs, and it cannot tell itself */
    bool needs_loads; /* it waits for all that its warp has read of global memory: a fence */
};

struct mach_timing {
    void *ctx;
    double now;     /* in the running launch; 0 before the first event */
    double goes_on; /* the warp of the running instruction issues no more before; those who are told of it raise it */
    uint64_t steps; /* instructions and operations run: what is issued at one number is one instruction's */

    /* The running instruction is ahead of its time: its accesses to global memory are kept until access() */
    bool ahead;

    /* A cluster becomes resident now: when its warps begin. */
    double (*begin)(void *ctx);
    /* What it keeps of a warp, until the cluster's end. */
    struct mach_timed *(*warp)(void *ctx, const struct cta *cta, uint32_t warp);
    struct mach_cost (*cost)(void *ctx, const struct diag_site *site);
    /* When this load of the warp (struct event_access) and those before it have answered. */
    double (*answered)(void *ctx, const struct mach_timed *w, uint32_t load);
    /* What the warp's instruction at `site` accessed ahead of its time, as load number `load`, takes place now. */
    void (*access)(void *ctx, struct mach_timed *w, const struct diag_site *site, uint32_t load);
    /* That will be soon, after about so many others' turns: prefetches for the host what it takes. */
    void (*expect)(void *ctx, const struct mach_timed *w, uint32_t turns);
    /* The warp issues `slots` instructions from `at` on, of which the last is needed `cycles` later: when that is. */
    double (*issue)(void *ctx, const struct mach_timed *w, double at, double slots, double cycles);
    /* An operation is issued now: when it will be complete. */
    double (*take_up)(void *ctx, const struct async_op *op);
    /* Has it come through to the threads of its CTA by now that the mbarrier's latest phase is over? */
    bool (*sees)(void *ctx, struct cta *cta, uint32_t off);
    /* %globaltimer, in nanoseconds, or %clock64 */
    uint64_t (*read)(void *ctx, bool nanoseconds);
    double (*cycles)(void *ctx, double nanoseconds);
};

static inline void timing_raise(struct mach_timing *t, double at) {
    if (t->goes_on < at)
        t->goes_on = at;
}

#endif
