/* launch/pct.c - the schedule pct: who runs next goes by priorities that the seed draws.
 *
 * After Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
 * Finding Bugs" (ASPLOS 2010). Every agent gets a random priority when it comes into being; of those that can run, the
 * one of the highest priority does. Before DEPTH - 1 steps, drawn from the k that are expected, the agent that is about
 * to run gets a priority below all of these, each change another. A bug of depth d, one that shows whenever d steps
 * come in a certain order, is then found by a run of depth d with a probability of 1 / (n k^(d-1)) or more, n being the
 * number of agents.
 *
 * Here an agent is a warp, a queue, or, where the operations of a queue have no order (copies), each of them by itself;
 * a step is an instruction of a warp or an operation. Islands know nothing of one another: n and k are those of the
 * island that has the bug. k is what the user gives, or what the kernel's latest launch in this process took, or
 * unknown. Then a step is drawn by its magnitude first, and 1 / k becomes 1 / (MAGNITUDES k).
 *
 * The bound does not hold for what is not drawn: which lanes of a warp that have parted go on, which SM a CTA gets,
 * when a full queue makes room (machine/async.h), and clusters beyond the window of launch/sched.c. And it holds up to
 * the step at which an agent gives way, that is gets a priority below all others: by nanosleep; after SPIN instructions
 * that others cannot notice, since it may be polling; where no cluster has ended for long (PATIENCE in launch/sched.c).
 */
#include "launch/state.h"

#define MAGNITUDES 32u
#define SPIN 4096u
#define SPIN_AGAIN 64u /* of an agent that has given way before */
/* Agents' first priorities are above 2^63 (mach_priority), those of changes between, of agents that gave way below. */
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

static void give_way(struct launch_island *isl, uint64_t *priority) { *priority = --isl->lowest; }

/* NULL: it is nobody. */
static uint64_t *priority_of(struct launch_agent a) { return a.w ? &a.w->priority : async_priority(a.q); }

struct choice {
    uint64_t below;
    uint64_t *priority; /* of the best one so far; NULL: there is none */
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
        below = *a.priority; /* its operation cannot proceed: the next agent */
        if (async_step(a.best.q))
            return true;
    }
}
