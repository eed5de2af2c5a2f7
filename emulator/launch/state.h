/* launch/state.h - what launch/'s own files share: a launch under way. */
#ifndef LAUNCH_STATE_H
#define LAUNCH_STATE_H

#include "launch/launch.h"
#include "launch/place.h"
#include "lower/lower.h"
#include "warp/core.h"

#include <stdatomic.h>

#define LAUNCH_FULL_TURN UINT64_MAX

/* One launch, from the first CTA to the last. */
struct launch_state {
    struct warp_grid grid; /* first: take_cluster finds the rest by it */
    uint32_t static_smem;  /* bytes */
    uint32_t regs;         /* per thread, for residency */
    uint64_t next_cluster, num_clusters;
    bool shares;                   /* launch_kernel_shares, or MACH_SCHED_MODEL: there is one island */
    bool grid_free;                /* next_cluster may be taken: no other island runs */
    struct launch_island *islands; /* in the order of their SMs */
    uint32_t num_islands;
    uint32_t *island_of; /* by SM */
    atomic_uint stop;    /* islands that come later in this round need not go on */
    struct launch_config config;
    /* the round under way */
    struct launch_island **active;
    uint32_t num_active;
    bool in_round; /* it is paused: some islands go on with their turns, */
    bool second;   /*  and do so now */
    /* launch/together.c */
    bool may_stay;               /* it may be under way when the call that made it returns: not so far */
    struct launch_state *before; /* the grid whose end griddepcontrol.wait waits for; NULL: it has completed */
    bool woken;                  /* it has, since the last round ended */
    uint32_t flight;             /* the gpu's, while it is this launch's: */
    uint64_t clock, starts, steps;
    void *watch[MACH_LISTENERS];
    uint64_t took; /* nanoseconds */
};

/* What a launch knows of an island. */
struct launch_island {
    struct island m; /* first: take_cluster finds the rest by it */
    struct launch_state *st;
    struct cluster *resident, **resident_tail; /* by number */
    uint32_t order;                            /* in this round, from 1 */
    uint64_t limit;                            /* m.clock + m.starts at which its turn ends */
    uint64_t next;   /* the number of the cluster that its next turn begins with; 0: the first */
    bool idle;       /* nothing in it can go on */
    bool wants_grid; /* but clusterlaunchcontrol.try_cancel will, when the round is over */
    uint64_t stuck_progress;
    bool quiet;          /* nothing happened in its last turn */
    uint32_t vain, look; /* rounds in which nothing happened, in a row; after how many launch_circles is asked next */
    uint32_t put_off;    /* lazy: rounds since an operation last completed */
    uint32_t stuck_rounds;
    /* MACH_SCHED_RANDOM and _PCT */
    uint32_t window;   /* so many clusters are interleaved, the first of those resident; 0: one has ended */
    uint64_t patience; /* the step at which there will be more, unless one ends */
    /* MACH_SCHED_PCT: launch/pct.c */
    uint64_t change[MACH_MAX_DEPTH - 1]; /* steps before which the agent that is to run gets a low priority; 0: none */
    uint64_t lowest;                     /* priority given so far */
    struct timed *timed;                 /* MACH_SCHED_MODEL: launch/timed.c */
    /* MACH_SCHED_RANDOM: its turn was paused */
    bool goes_on;             /* and is not over */
    uint64_t progress_before; /* when it began */
    struct warp *rest_of;     /* who has so many instructions left of a choice */
    uint64_t rest;
    bool asked_aligned; /* groups at .aligned instructions were resumed, and nothing has happened since */
};

/* --- a launch ----------------------------------------------------------------------------------------------------- */
/* May clusters of this kernel see what others do while they run? launch/shares.c */
bool launch_kernel_shares(const struct warp_func *kernel);
/* Has it, or what it calls, this griddepcontrol: .launch_dependents or .wait? launch/shares.c */
bool launch_kernel_has(const struct warp_func *kernel, enum ptx_mod action);

/* --- rounds: launch/run.c ----------------------------------------------------------------------------------------- */
/* A launch begins: all but its clusters. */
struct launch_state *launch_begin(struct gpu *gpu, const struct launch_config *launch);
/* A round of at most `turn` instructions for each island. */
enum launch_round {
    ROUND_MOVED,
    ROUND_IDLE,  /* nothing can go on, or has come yet */
    ROUND_OPEN,  /* likewise of may_stay: all of its CTAs have let dependents start */
    ROUND_ENDED, /* the launch has, or it has faulted */
};
enum launch_round launch_round(struct launch_state *st, uint64_t turn);
/* It is stuck, or has run too long: reports it. False: it is neither. */
bool launch_stuck(struct launch_state *st, enum launch_round round);
/* It is over: tells it, and frees it. `last`: no other is under way. */
void launch_end(struct launch_state *st, bool last);

/* --- residency: launch/resident.c --------------------------------------------------------------------------------- */
/* What a CTA takes of its SM. */
struct place_needs launch_cta_needs(const struct launch_state *st);
/* Which SMs make an island: those that the kernel's clusters may lie on together. */
void launch_make_islands(struct launch_state *st);
/* Ends every cluster that is still there, and drops what was not told. */
void launch_close_islands(struct launch_state *st);
/* The next cluster of the grid becomes resident. False: there is none, or no room. */
bool launch_admit(struct launch_state *st);
/* Gives the cluster its shared memory and warps. */
void launch_start_cluster(struct launch_state *st, struct cluster *cl);
static inline bool launch_started(const struct cluster *cl) { return cl->cta[0].warps != NULL; }
/* Have its CTAs exited, and is nothing in their queues? */
bool launch_has_ended(const struct cluster *cl);
/* Removes the clusters that have ended, or all; true when there was one. */
bool launch_reap(struct launch_island *isl, bool all);
/* The resident clusters by their numbers, in a list that the caller frees; between turns only. */
struct cluster **launch_residents(const struct launch_state *st, uint32_t *count);

/* --- running ------------------------------------------------------------------------------------------------------ */
/* Runs an island until nothing in it can go on or its turn is over: launch/sched.c */
void launch_take_turn(struct launch_island *isl);
/* A warp ran: has its CTA ended? launch/sched.c */
void launch_note_exit(struct warp *w);
/* Instructions and operations of the island in this launch so far. */
static inline uint64_t launch_steps(const struct launch_island *isl) {
    return isl->m.steps + isl->m.clock - isl->m.gpu->clock;
}
/* MACH_SCHED_RANDOM and _PCT: what may come next, a warp that can run or a queue. Calls `fn` for each of those of the
 * window; launch/sched.c */
struct launch_agent {
    struct warp *w; /* or NULL: */
    struct async_queue *q;
};
void launch_each_agent(struct launch_island *isl, void (*fn)(void *arg, struct launch_agent agent), void *arg);
/* MACH_SCHED_PCT: before an island's first turn; some steps of the agent that comes first, false when there is none.
 * `late`: whoever that is gives way first, since nothing has ended for long. launch/pct.c */
void launch_pct_init(struct launch_island *isl);
bool launch_run_pct(struct launch_island *isl, bool late);

/* A turn has passed in which nothing happened that others can see: will none ever happen? launch/spin.c */
bool launch_circles(struct launch_island *isl);

/* Is the island's turn over? And when nothing in it can run: true when it has found something that can. */
bool launch_turn_over(struct launch_island *isl);
bool launch_unstick(struct launch_island *isl);
/* MACH_SCHED_MODEL: a turn; and what hangs on the island for it. launch/timed.c */
void launch_take_timed_turn(struct launch_island *isl);
void launch_timed_free(struct launch_island *isl);

#endif
