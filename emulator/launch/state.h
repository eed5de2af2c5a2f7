/* launch/state.h - the state of a running launch, for the files of launch/ only. */
#ifndef LAUNCH_STATE_H
#define LAUNCH_STATE_H

#include "launch/launch.h"
#include "launch/place.h"
#include "lower/lower.h"
#include "warp/core.h"

#include <stdatomic.h>

#define LAUNCH_FULL_TURN UINT64_MAX

/* One launch, from its first CTA to its last. */
struct launch_state {
    struct warp_grid grid; /* first: take_cluster finds the rest by it */
    uint32_t static_smem;  /* bytes */
    uint32_t regs;         /* per thread, for residency */
    uint64_t next_cluster, num_clusters;
    bool shares;                   /* launch_kernel_shares, or MACH_SCHED_MODEL: there is one island */
    bool grid_free;                /* take_cluster() may take next_cluster now, because no other island runs */
    struct launch_island *islands; /* in the order of their SMs */
    uint32_t num_islands;
    uint32_t *island_of; /* by SM */
    atomic_uint stop;    /* islands after this number need not go on in this round */
    struct launch_config config;
    /* of the current round: */
    struct launch_island **active;
    uint32_t num_active;
    bool in_round; /* it is paused: some islands have to continue their turns, */
    bool second;   /* and they do so now */
    /* launch/together.c */
    bool may_stay;               /* it may still run when its call returns; false once that has happened */
    struct launch_state *before; /* the grid for which griddepcontrol.wait waits; NULL: that has completed */
    bool woken;                  /* that happened since the last round ended */
    uint32_t flight;             /* values of the gpu for this launch: */
    uint64_t clock, starts, steps;
    void *watch[MACH_LISTENERS];
    uint64_t took; /* nanoseconds */
};

/* What a launch keeps for an island, until its end. */
struct launch_island {
    struct island m; /* first: take_cluster finds the rest by it */
    struct launch_state *st;
    struct cluster *resident, **resident_tail; /* by number */
    uint32_t order;                            /* in this round, from 1 */
    uint64_t limit;                            /* m.clock + m.starts at which its turn ends */
    uint64_t next;                             /* number of the cluster with which its next turn begins; 0: the first */
    bool idle;                                 /* nothing in it can go on, */
    bool wants_grid;                           /* except clusterlaunchcontrol.try_cancel, after the round */
    uint64_t stuck_progress;                   /* m.progress at the latest call of launch_unstick */
    bool quiet;                                /* nothing that others can see happened in its last turn */
    uint32_t vain, look;   /* rounds in a row without any event; number of them before launch_circles is called next */
    uint32_t put_off;      /* lazy: rounds since the last completion of an operation */
    uint32_t stuck_rounds; /* calls of launch_unstick since that progress */
    /* MACH_SCHED_RANDOM and _PCT */
    uint32_t window;   /* number of interleaved clusters, the first resident ones; 0: one has ended */
    uint64_t patience; /* step at which the window grows, unless a cluster ends */
    /* MACH_SCHED_PCT: launch/pct.c */
    uint64_t change[MACH_MAX_DEPTH - 1]; /* steps before which the next agent gets a low priority; 0: none */
    uint64_t lowest;                     /* lowest priority so far */
    struct timed *timed;                 /* MACH_SCHED_MODEL: launch/timed.c */
    /* MACH_SCHED_RANDOM: its turn was paused */
    bool goes_on;             /* and has to go on */
    uint64_t progress_before; /* m.progress at its start */
    struct warp *rest_of;     /* the warp that still has `rest` instructions of a choice */
    uint64_t rest;
    bool asked_aligned; /* groups at .aligned instructions were resumed without any event since */
};

/* --- a launch ----------------------------------------------------------------------------------------------------- */
/* May clusters of this kernel see the acts of others while they run? launch/shares.c */
bool launch_kernel_shares(const struct warp_func *kernel);
/* Does it, or a function that it calls, contain this griddepcontrol (.launch_dependents or .wait)? launch/shares.c */
bool launch_kernel_has(const struct warp_func *kernel, enum ptx_mod action);
/* Are there no asynchronous operations, mbarriers and tensor memory in it, nor in what it calls? launch/shares.c */
bool launch_kernel_is_plain(const struct warp_func *kernel);

/* --- rounds: launch/run.c ----------------------------------------------------------------------------------------- */
/* Begins a launch: everything but its clusters. */
struct launch_state *launch_begin(struct gpu *gpu, const struct launch_config *launch);
/* Runs a round of at most `turn` instructions for each island. */
enum launch_round {
    ROUND_MOVED,
    ROUND_IDLE,  /* nothing can go on, or no cluster has come yet */
    ROUND_OPEN,  /* the same, with may_stay: all its CTAs have let dependents start */
    ROUND_ENDED, /* the launch has ended, or faulted */
};
enum launch_round launch_round(struct launch_state *st, uint64_t turn);
/* Reports a launch that is stuck or has run too long. False: it is neither. */
bool launch_stuck(struct launch_state *st, enum launch_round round);
/* Announces the end of a launch and frees it. `last`: no other one runs. */
void launch_end(struct launch_state *st, bool last);

/* --- residency: launch/resident.c --------------------------------------------------------------------------------- */
/* What a CTA needs of its SM. */
struct place_needs launch_cta_needs(const struct launch_state *st);
/* Groups SMs into islands: an island has the SMs over which a cluster of the kernel may spread. */
void launch_make_islands(struct launch_state *st);
/* Ends every remaining cluster, and drops unprinted reports. */
void launch_close_islands(struct launch_state *st);
/* The next cluster of the grid becomes resident. False: there is none, or no room. */
bool launch_admit(struct launch_state *st);
/* Gives the cluster its shared memory and warps. */
void launch_start_cluster(struct launch_state *st, struct cluster *cl);
static inline bool launch_started(const struct cluster *cl) { return cl->cta[0].warps != NULL; }
/* Have its CTAs exited, with empty queues? */
bool launch_has_ended(const struct cluster *cl);
/* Removes the clusters that have ended, or all. True if there was one. */
bool launch_reap(struct launch_island *isl, bool all);
/* The resident clusters by number, in a list that the caller frees; call it only between turns. */
struct cluster **launch_residents(const struct launch_state *st, uint32_t *count);

/* --- running ------------------------------------------------------------------------------------------------------ */
/* Runs an island until nothing in it can go on, or its turn is over: launch/sched.c */
void launch_take_turn(struct launch_island *isl);
/* Called after a warp ran: has its CTA ended? launch/sched.c */
void launch_note_exit(struct warp *w);
/* Instructions and operations of the island in this launch so far. */
static inline uint64_t launch_steps(const struct launch_island *isl) {
    return isl->m.steps + isl->m.clock - isl->m.gpu->clock;
}
/* MACH_SCHED_RANDOM and _PCT: an agent that may run next, a runnable warp or a queue. Calls `fn` for each one in the
 * window; launch/sched.c */
struct launch_agent {
    struct warp *w; /* or NULL: */
    struct async_queue *q;
};
void launch_each_agent(struct launch_island *isl, void (*fn)(void *arg, struct launch_agent agent), void *arg);
/* MACH_SCHED_PCT: called before an island's first turn; runs some steps of the first agent, false: there is none.
 * `late`: that agent first gives way, because no cluster has ended for long. launch/pct.c */
void launch_pct_init(struct launch_island *isl);
bool launch_run_pct(struct launch_island *isl, bool late);

/* Called after a turn without an event that others can see. True if there will never be one. launch/spin.c */
bool launch_circles(struct launch_island *isl);

/* Is the island's turn over? And: nothing in it can run, so it looks for waits that may end; false: there are none. */
bool launch_turn_over(struct launch_island *isl);
bool launch_unstick(struct launch_island *isl);
/* MACH_SCHED_MODEL: runs a turn; frees the island's state for it. launch/timed.c */
void launch_take_timed_turn(struct launch_island *isl);
void launch_timed_free(struct launch_island *isl);

#endif
