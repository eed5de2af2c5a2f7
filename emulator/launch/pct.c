/* launch/pct.c - the schedule pct: priorities that the seed draws decide what runs next.
 *
 * After Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
 * Finding Bugs" (ASPLOS 2010). Every agent gets a random priority when it is created. Of the agents that can run, the
 * one with the highest priority does. Before DEPTH - 1 steps, drawn from the k expected ones, the agent about to run
 * gets a priority below all of these, a different one at each change. Let a bug of depth d be one that shows whenever d
 * steps come in a certain order. A run of depth d then finds it with a probability of at least 1 / (n k^(d-1)), where n
 * is the number of agents.
 *
 * Here an agent is a warp or a queue; if the operations of a queue have no order (copies), each of them is an agent. A
 * step is an instruction of a warp, or an operation. Islands know nothing of one another: n and k are those of the
 * island that has the bug. k is what the user gives, or the steps of the kernel's latest launch in this process, or
 * unknown. If it is unknown, a step's magnitude is drawn first, and 1 / k becomes 1 / (MAGNITUDES k).
 *
 * The bound does not cover what is not drawn: which lanes of a split warp go on, which SM a CTA gets, when a full queue
 * makes room (machine/async.h), and clusters beyond the window of launch/sched.c. And it holds only up to the step at
 * which an agent gives way, that is, gets a priority below all others. It does so by nanosleep; after SPIN instructions
 * without an effect on others, because it may be polling; or if no cluster has ended for long (PATIENCE in
 * launch/sched.c).
 */
#include "launch/state.h"

#define MAGNITUDES 32u
#define SPIN 4096u
#define SPIN_AGAIN 64u /* for an agent that has given way before */
/* First priorities are above 2^63 (mach_priority); those from changes are in between; those of agents that gave way are
 * below. */
#define CHANGED (UINT64_C(1) << 62)

void launch_pct_init(struct launch_island *isl) {
    const struct mach_config *config = &isl->m.gpu->config;
    const uint64_t known = config->steps ? config->steps : isl->st->grid.kernel->steps;
    for (uint32_t i = 0; i + 1 < config->depth; i++) {
        const uint64_t magnitude = UINT64_C(1) << mach_random(&isl->m) % MAGNITUDES, r = mach_random(&isl->m);
        isl->change[i] = known ? 1 + r % known : magnitude + r % magnitude;
    }
    isl->lowest = CHANGED;
}

/* The agent gets a priority below all others. */
static void give_way(struct launch_island *isl, uint64_t *priority) { *priority = --isl->lowest; }

/* The agent's priority; NULL: it cannot run. */
static uint64_t *priority_of(struct launch_agent a) { return a.w ? &a.w->priority : async_priority(a.q); }

/* The search for the agent to run next. */
struct choice {
    uint64_t below;     /* only agents with a lower priority */
    uint64_t *priority; /* of the best agent so far; NULL: none */
    struct launch_agent best;
};

static void consider(void *arg, struct launch_agent agent) {
    struct choice *c = arg;
    uint64_t *priority = priority_of(agent);
    if (!priority || *priority >= c->below || (c->priority && *priority <= *c->priority))
        return;
    c->priority = priority;
    c->best = agent;
}

/* The change of priority that is due before the next step, or NULL. */
static uint64_t *due(struct launch_island *isl) {
    for (uint32_t i = 0; i + 1 < isl->m.gpu->config.depth; i++)
        if (isl->change[i] && isl->change[i] <= launch_steps(isl) + 1)
            return &isl->change[i];
    return NULL;
}

/* Steps of a warp, until another agent may have become able to run. */
static void run_warp(struct launch_island *isl, struct warp *w) {
    const uint64_t progress = isl->m.progress, spin = w->priority < CHANGED ? SPIN_AGAIN : SPIN;
    uint64_t ran = 0;
    do
        ran += warp_run(w, 1);
    while (ran < spin && isl->m.progress == progress && !w->yielded && !isl->m.fault && warp_runnable(w) && !due(isl));
    if (ran >= spin || w->yielded)
        give_way(isl, &w->priority);
    launch_note_exit(w);
}

bool launch_run_pct(struct launch_island *isl, bool late) {
    for (uint64_t below = UINT64_MAX;;) {
        struct choice a = {.below = below};
        launch_each_agent(isl, consider, &a);
        if (!a.priority)
            return false;
        if (late) {
            late = false;
            give_way(isl, a.priority);
            continue;
        }
        uint64_t *change = due(isl);
        if (change) {
            *change = 0;
            *a.priority = CHANGED + (uint64_t)(change - isl->change);
            continue;
        }
        if (a.best.w) {
            run_warp(isl, a.best.w);
            return true;
        }
        below = *a.priority; /* its operation cannot proceed: take the next agent */
        if (async_step(a.best.q))
            return true;
    }
}
