/* launch/sched.c - chooses what runs next in an island, until its turn is over.
 *
 * The default schedule is deterministic. The warps of a cluster take turns of QUANTUM instructions; after each round
 * every asynchronous queue of the cluster completes one operation; when the cluster can do nothing more, the next one
 * runs. `eager` completes an operation at its issue (island.crowded, which warp/core.c checks after each instruction).
 * `lazy` completes one only when no warp of the island can run, or none has completed for LAZY_ROUNDS. `random` draws
 * every choice from the seed, `pct` uses the agents' priorities (launch/pct.c), `model` follows the order of their
 * times (launch/timed.c).
 */
#include "engines/tc.h"
#include "isa/isa.h"
#include "launch/state.h"
#include "warp/meet.h"

#define QUANTUM 256u         /* instructions of a warp's turn */
#define CLUSTER_ROUNDS 2000u /* rounds before the next cluster gets a turn, if this one may wait for that */
#define LAZY_ROUNDS 256u     /* rounds without a completion under lazy: running warps may poll for one */
#define STUCK_ROUNDS 32u     /* resumptions of polling waits without progress before it is a deadlock */
#define RANDOM_WINDOW 16u    /* clusters that random and pct interleave, while clusters end */
#define VAIN_ROUNDS 8u       /* rounds without any event before the next cluster gets a turn, likewise */
#define PATIENCE 65536u      /* steps without the end of a cluster: it may wait for one outside the window */

/* --- warps and queues --------------------------------------------------------------------------------------------- */

void launch_note_exit(struct warp *w) {
    struct cta *cta = w->cta;
    if (w->live || w->ended)
        return;
    w->ended = true;
    isa_registers_exit(w);
    if (--cta->live_warps)
        return;
    cta->cluster->live_ctas--;
    tell_life(cta->gpu, &(struct event_life){.by = {.cta = cta}, .kind = LIFE_CTA_EXIT, .owner = cta});
    cta_triggers(cta);
    tc_cta_exit(cta);
    for (uint32_t r = 0; r < cta->cluster->num_ctas; r++)
        mach_wake(&cta->cluster->cta[r]);
}

/* Gives every runnable warp of the cluster a turn. Sets *busy if one of them could go on at once, and did not give way.
 */
static bool run_warps(struct cluster *cl, uint32_t quantum, bool *busy) {
    bool ran = false;
    for (uint32_t r = 0; r < cl->num_ctas && !cl->island->fault; r++) {
        struct cta *cta = &cl->cta[r];
        for (uint32_t i = 0; i < cta->num_warps && !cl->island->fault; i++) {
            struct warp *w = &cta->warps[i];
            if (!warp_runnable(w))
                continue;
            if (warp_waits_on(w)) {
                ran = *busy = true;
                continue;
            }
            if (island_late(cl->island))
                return ran;
            ran |= warp_run(w, quantum) > 0;
            *busy |= !w->yielded;
            launch_note_exit(w);
        }
    }
    return ran;
}

/* Runs one operation of every queue of the cluster. Sets *woke if one was not silent: a warp may be able to go on. */
static bool step_queues(struct cluster *cl, bool *woke) {
    bool any = false;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (struct async_queue *q = cl->cta[r].queues; q && !cl->island->fault; q = q->next) {
            const bool silent = q->head && q->head->silent, done = async_step(q);
            any |= done;
            *woke |= done && !silent;
        }
    return any;
}

/* The turn is over if the island faulted, an earlier island of the round did, or it has run or printed enough. */
bool launch_turn_over(struct launch_island *isl) {
    return isl->m.fault || isl->m.paused || island_late(&isl->m) || isl->m.clock + isl->m.starts >= isl->limit ||
           isl->m.said_bytes > MACH_SAID || isl->order > atomic_load_explicit(&isl->st->stop, memory_order_relaxed);
}

/* lazy: one asynchronous operation completes. */
static bool step_one(struct launch_island *isl) {
    isl->put_off = 0;
    for (struct cluster *cl = isl->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas; r++)
            for (struct async_queue *q = cl->cta[r].queues; q; q = q->next)
                if (async_step(q))
                    return true;
    return false;
}

/* Runs a cluster until it is idle or its turn is over. True if anything happened. */
static bool run_cluster(struct launch_island *isl, struct cluster *cl) {
    const bool lazy = isl->st->grid.gpu->config.schedule == MACH_SCHED_LAZY;
    const uint32_t rounds = isl->st->shares ? CLUSTER_ROUNDS : UINT32_MAX;
    bool any = false;
    if (!launch_started(cl)) {
        launch_start_cluster(isl->st, cl);
        any = true;
    }
    bool ask = true; /* false: no warp could go on, and nothing has changed since */
    uint64_t progress = isl->m.progress;
    uint32_t vain = 0;
    for (uint32_t round = 0; round < rounds && !launch_turn_over(isl); round++) {
        bool busy = false;
        const bool ran = ask && run_warps(cl, QUANTUM, &busy);
        any |= ran;
        ask = ran;
        if (isl->m.async_pending && !lazy)
            busy |= step_queues(cl, &ask);
        else if (isl->m.async_pending && ++isl->put_off >= LAZY_ROUNDS && step_one(isl))
            busy = ask = true;
        if (!busy)
            break;
        any = true;
        vain = isl->m.progress == progress ? vain + 1 : 0;
        progress = isl->m.progress;
        if (vain == VAIN_ROUNDS && !isl->m.async_pending)
            break;
    }
    return any;
}

/* Runs every cluster. If the island's turn ends before that, its next turn continues after the last cluster, because
 * earlier ones may poll for what the later ones do. */
static bool run_all(struct launch_island *isl) {
    const uint64_t first = isl->next;
    bool any = first > 0; /* the earlier ones were not asked */
    isl->next = 0;
    for (struct cluster *cl = isl->resident; cl; cl = cl->next) {
        if (cl->number < first)
            continue;
        if (launch_turn_over(isl)) {
            isl->next = cl->number;
            return any;
        }
        any |= run_cluster(isl, cl);
    }
    return any;
}

void launch_each_agent(struct launch_island *isl, void (*fn)(void *arg, struct launch_agent agent), void *arg) {
    uint32_t clusters = 0;
    for (struct cluster *cl = isl->resident; cl && clusters < isl->window; cl = cl->next, clusters++) {
        if (!launch_started(cl))
            launch_start_cluster(isl->st, cl);
        for (uint32_t r = 0; r < cl->num_ctas; r++) {
            struct cta *cta = &cl->cta[r];
            for (uint32_t i = 0; i < cta->num_warps; i++)
                if (warp_runnable(&cta->warps[i]))
                    fn(arg, (struct launch_agent){.w = &cta->warps[i]});
            for (struct async_queue *q = cta->queues; q; q = q->next)
                fn(arg, (struct launch_agent){.q = q});
        }
    }
}

/* One choice of the schedule random. */
struct draw {
    struct launch_island *isl;
    uint32_t seen; /* agents so far */
    struct launch_agent pick;
};

/* Each agent seen replaces the pick with a probability of 1 / seen, so all are equally likely. */
static void draw(void *arg, struct launch_agent agent) {
    struct draw *d = arg;
    if ((!agent.q || agent.q->head) && mach_random(&d->isl->m) % ++d->seen == 0)
        d->pick = agent;
}

/* Runs a warp for `budget` instructions; if a pause cuts that short, it keeps the rest for the same choice. */
static void run_warp(struct launch_island *isl, struct warp *w, uint64_t budget) {
    const uint64_t ran = warp_run(w, budget);
    isl->rest = w->paused ? budget - ran : 0;
    isl->rest_of = w;
    w->paused = isl->rest > 0;
    launch_note_exit(w);
}

/* random: one choice among the runnable warps and non-empty queues, in a window of clusters. */
static bool run_random(struct launch_island *isl) {
    struct draw d = {.isl = isl};
    launch_each_agent(isl, draw, &d);
    const struct launch_agent pick = d.pick;
    if (pick.w) {
        run_warp(isl, pick.w, 1 + mach_random(&isl->m) % 64);
        return true;
    }
    if (pick.q && async_step(pick.q))
        return true;
    return pick.q ? step_one(isl) : false;
}

/* --- when nothing can run ----------------------------------------------------------------------------------------- */

/* Calls fn for every waiting group. True if one of them did something. */
static bool each_waiting(struct launch_island *isl, bool (*fn)(struct warp *, struct group *)) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas && launch_started(cl); r++)
            for (uint32_t i = 0; i < isl->st->grid.warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                for (unsigned k = 0; k < MACH_WARP && w->live; k++)
                    if (w->groups[k].state == GROUP_WAITING)
                        any |= fn(w, &w->groups[k]);
            }
    return any;
}

/* Functions for each_waiting: does the group wait in griddepcontrol.wait? */
static bool waits_for_grid(struct warp *w, struct group *g) {
    (void)w;
    return g->wait.kind == WAIT_GRID;
}

/* At an .aligned instruction it checks again where its lanes are. */
static bool resume_aligned(struct warp *w, struct group *g) {
    (void)w;
    if (g->wait.kind != WAIT_ALIGNED)
        return false;
    g->state = GROUP_READY;
    return true;
}

/* A wait that may time out (try_wait) returns false. */
static bool resume_poll(struct warp *w, struct group *g) {
    (void)w;
    if (!g->wait.polls)
        return false;
    g->timed_out = true;
    g->state = GROUP_READY;
    return true;
}

/* Lanes parked at a reconvergence point go on without the others. */
static bool release_one(struct warp *w, struct group *g) {
    if (g->wait.kind != WAIT_JOIN)
        return false;
    warp_release_parked(w, g);
    return true;
}

/* Called when nothing can run. Before each of the other attempts, groups at an .aligned instruction check once where
 * their lanes are; they wait on while these may come. First, instructions that may time out do so. Then lanes parked at
 * a reconvergence point go on alone. If neither helps, it is a deadlock. */
bool launch_unstick(struct launch_island *isl) {
    if (isl->stuck_progress != isl->m.progress) {
        isl->stuck_progress = isl->m.progress;
        isl->stuck_rounds = 0;
        isl->asked_aligned = false;
    }
    isl->asked_aligned = !isl->asked_aligned && each_waiting(isl, resume_aligned);
    if (isl->asked_aligned)
        return true;
    if (++isl->stuck_rounds <= STUCK_ROUNDS && each_waiting(isl, resume_poll))
        return true;
    if (each_waiting(isl, release_one)) {
        isl->stuck_rounds = 0;
        return true;
    }
    return false;
}

/* --- an island ---------------------------------------------------------------------------------------------------- */

/* random, pct: one choice. */
static bool choose(struct launch_island *isl) {
    if (isl->rest) { /* the turn was paused in between */
        run_warp(isl, isl->rest_of, isl->rest);
        return true;
    }
    const uint64_t steps = launch_steps(isl);
    const bool late = isl->window && steps >= isl->patience;
    if (late || !isl->window) {
        isl->window += RANDOM_WINDOW;
        isl->patience = steps + PATIENCE;
    }
    return isl->st->grid.gpu->config.schedule == MACH_SCHED_PCT ? launch_run_pct(isl, late) : run_random(isl);
}

/* Stops islands that come later in this round: their findings will not be reported. */
static void stop_later(struct launch_island *isl) {
    unsigned old = atomic_load_explicit(&isl->st->stop, memory_order_relaxed);
    while (isl->order < old && !atomic_compare_exchange_weak(&isl->st->stop, &old, isl->order))
        ;
}

/* All clusters had their rounds, and nothing happened that others can see. True if nothing ever will. The check is
 * costly, so it comes less and less often. */
static bool runs_in_vain(struct launch_island *isl) {
    if (launch_turn_over(isl) || ++isl->vain < isl->look)
        return false;
    isl->look = 2 * isl->vain;
    isl->m.pauses = false;
    if (!launch_circles(isl))
        return false;
    isl->look = 0;
    return !launch_unstick(isl);
}

void launch_take_turn(struct launch_island *isl) {
    struct launch_state *st = isl->st;
    const enum mach_schedule schedule = st->grid.gpu->config.schedule;
    if (schedule == MACH_SCHED_MODEL)
        launch_take_timed_turn(isl);
    const bool draws = schedule == MACH_SCHED_RANDOM || schedule == MACH_SCHED_PCT;
    isl->progress_before = isl->goes_on ? isl->progress_before : isl->m.progress;
    if (schedule != MACH_SCHED_MODEL && !isl->goes_on && isl->quiet && isl->resident && runs_in_vain(isl))
        isl->idle = true;
    isl->goes_on = isl->quiet = false;
    while (schedule != MACH_SCHED_MODEL && !isl->idle && isl->resident && !launch_turn_over(isl)) {
        const uint64_t progress = isl->m.progress;
        bool any = draws ? choose(isl) : run_all(isl);
        /* if clusters may wait for later ones, these are admitted as soon as there is room */
        if (launch_reap(isl, false)) {
            isl->window = 0;
            if (st->shares && st->next_cluster < st->num_clusters)
                return;
            continue;
        }
        if (any && isl->m.progress == progress && !draws && runs_in_vain(isl)) {
            isl->idle = true;
            return;
        }
        if (any || launch_turn_over(isl) || step_one(isl))
            continue;
        if (isl->wants_grid)
            return;
        if ((st->grid.held && each_waiting(isl, waits_for_grid)) || !launch_unstick(isl)) {
            isl->idle = true;
            return;
        }
    }
    isl->quiet = isl->m.progress == isl->progress_before;
    if (isl->m.fault)
        stop_later(isl);
}
