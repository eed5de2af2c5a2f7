/* exec/sched.c - launches: which CTAs are resident, and who runs next.
 *
 * CTAs become resident as exec/place.h says, in the order of their numbers; one costs host memory only once it has run.
 * A launch goes in rounds: clusters are admitted, every island (machine/island.h) has a turn, and what they said is told in
 * the order of their clusters. The islands are what the kernel's clusters cannot leave: an SM, a TPC or a GPC, by their
 * size; they run on all host threads and a turn lasts until nothing in the island can go on. A kernel whose clusters may
 * see one another (exec/shares.c) has one island. What happens in an island does not depend on the others, so results are
 * the same on any number of threads.
 *
 * The default schedule is deterministic: the warps of a cluster take turns of QUANTUM instructions, after each round every
 * asynchronous queue of the cluster completes one operation, and the next cluster of the island runs when this one can do
 * nothing more. `eager` completes an operation when it is issued, `lazy` only when no warp of the island can run, `random`
 * draws every choice from the seed.
 */
#include "exec/core.h"
#include "exec/place.h"

#include <stdlib.h>

#include "engines/tc.h"
#include "machine/mbarrier.h"

#define QUANTUM 256u             /* instructions of a warp's turn */
#define CLUSTER_ROUNDS 2000u     /* rounds before the next cluster gets a turn, where it may wait for that */
#define TURN (UINT64_C(1) << 24) /* instructions of an island's turn */
#define TURN_SAID (1u << 20)     /* bytes that it says */
#define STUCK_ROUNDS 32u         /* times that polling waits are resumed without any progress before it is a deadlock */
#define RANDOM_WINDOW 16u        /* clusters that random mode interleaves */

/* --- residency ----------------------------------------------------------------------------------------------------- */

static struct place_needs cta_needs(const struct exec_launch_state *st) {
    uint32_t warp_regs = (st->regs * MACH_WARP + 255) & ~255u; /* registers are given to warps in units of 256 */
    uint32_t smem = st->smem.static_bytes + st->cfg->dynamic_smem + st->gpu->config.smem_reserved;
    return (struct place_needs){st->warps * MACH_WARP, st->warps * warp_regs, (smem + 127) & ~127u};
}

struct diag_dim3 exec_cluster_id(const struct exec_launch_state *st, uint64_t number) {
    return (struct diag_dim3){(uint32_t)(number % st->clusters.x), (uint32_t)(number / st->clusters.x % st->clusters.y),
                              (uint32_t)(number / ((uint64_t)st->clusters.x * st->clusters.y))};
}

static bool admit(struct exec_launch_state *st) {
    if (st->next_cluster == st->num_clusters)
        return false;
    struct place_needs n = cta_needs(st);
    struct diag_dim3 dim = st->cfg->cluster;
    struct sm *sms[MACH_MAX_CLUSTER];
    if (!place_cluster(st->gpu, &n, dim.x * dim.y * dim.z, sms))
        return false;
    struct exec_island *isl = &st->islands[st->island_of[sms[0]->id]];
    struct cluster *cl = xcalloc(1, sizeof *cl);
    cluster_init(cl, &isl->m, exec_cluster_id(st, st->next_cluster), dim, sms);
    cl->number = st->next_cluster++;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        cl->cta[r].live_warps = cl->cta[r].num_warps = st->warps;
    *isl->resident_tail = cl;
    isl->resident_tail = &cl->next;
    return true;
}

struct cluster *exec_next_resident(const struct exec_launch_state *st, const struct cluster *after) {
    struct cluster *next = NULL;
    for (uint32_t i = 0; i < st->num_islands; i++)
        for (struct cluster *cl = st->islands[i].resident; cl; cl = cl->next)
            if ((!after || cl->number > after->number) && (!next || cl->number < next->number))
                next = cl;
    return next;
}

/* --- starting and ending CTAs --------------------------------------------------------------------------------------- */

static void start_cluster(struct exec_launch_state *st, struct cluster *cl) {
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        struct cta *cta = &cl->cta[r];
        cta_alloc_smem(cta, st->smem.static_bytes + st->cfg->dynamic_smem);
        cta->warps = worker_alloc(cl->island->worker, st->warps * sizeof *cta->warps);
        for (uint32_t i = 0; i < st->warps; i++)
            exec_warp_create(&cta->warps[i], st, cta, i);
    }
}

static bool queues_empty(const struct cluster *cl) {
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (const struct async_queue *q = cl->cta[r].queues; q; q = q->next)
            if (q->head)
                return false;
    return true;
}

/* A warp ran: has its CTA ended? */
static void note_exit(struct warp *w) {
    struct cta *cta = w->cta;
    if (w->live || w->ended)
        return;
    w->ended = true;
    if (--cta->live_warps)
        return;
    cta->cluster->live_ctas--;
    mbar_cta_exit(cta);
    tc_cta_exit(cta);
    for (uint32_t r = 0; r < cta->cluster->num_ctas; r++)
        mach_wake(&cta->cluster->cta[r]);
}

static void free_cluster(struct exec_launch_state *st, struct cluster *cl) {
    struct place_needs n = cta_needs(st);
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        struct cta *cta = &cl->cta[r];
        for (uint32_t i = 0; cta->warps && i < st->warps; i++)
            exec_warp_destroy(&cta->warps[i]);
        worker_free(cl->island->worker, cta->warps);
        tc_cta_release(cta);
        place_leave(cta->sm, &n);
    }
    cluster_release(cl);
    free(cl);
}

/* Removes the clusters that have ended; true when there was one. */
static bool reap(struct exec_island *isl, bool all) {
    bool any = false;
    struct cluster **p = &isl->resident;
    while (*p) {
        struct cluster *cl = *p;
        if (!all && (cl->live_ctas || !queues_empty(cl))) {
            p = &cl->next;
            continue;
        }
        *p = cl->next;
        free_cluster(isl->st, cl);
        any = true;
    }
    isl->resident_tail = p;
    return any;
}

/* --- running --------------------------------------------------------------------------------------------------------- */

static bool started(const struct cluster *cl) { return cl->cta[0].warps != NULL; }

/* A turn for every warp of the cluster that can run. Sets *busy when one of them would go on at once, rather than having
 * given way. */
static bool run_warps(struct cluster *cl, uint32_t quantum, bool *busy) {
    bool ran = false;
    for (uint32_t r = 0; r < cl->num_ctas && !cl->island->fault; r++) {
        struct cta *cta = &cl->cta[r];
        for (uint32_t i = 0; i < cta->num_warps && !cl->island->fault; i++) {
            struct warp *w = &cta->warps[i];
            if (!exec_runnable(w))
                continue;
            ran |= exec_run_warp(w, quantum) > 0;
            *busy |= !w->yielded;
            note_exit(w);
        }
    }
    return ran;
}

/* One operation of every queue of the cluster. Sets *woke when one was not silent: a warp may be able to go on. */
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

/* The island's turn is over: it faulted, or one did that comes before it, or it has run long enough. */
static bool turn_over(struct exec_island *isl) {
    return isl->m.fault || isl->m.clock >= isl->limit || isl->m.said_bytes > TURN_SAID ||
           isl->order > atomic_load_explicit(&isl->st->stop, memory_order_relaxed);
}

/* Runs a cluster until it is idle or its turn is over; true when anything happened. */
static bool run_cluster(struct exec_island *isl, struct cluster *cl) {
    const bool lazy = isl->st->gpu->config.schedule == MACH_SCHED_LAZY;
    const uint32_t rounds = isl->st->shares ? CLUSTER_ROUNDS : UINT32_MAX;
    bool any = false;
    if (!started(cl)) {
        start_cluster(isl->st, cl);
        any = true;
    }
    bool ask = true; /* false: no warp could go on, and nothing has happened to change that */
    for (uint32_t round = 0; round < rounds && !turn_over(isl); round++) {
        bool busy = false;
        const bool ran = ask && run_warps(cl, QUANTUM, &busy);
        any |= ran;
        ask = ran;
        if (isl->m.async_pending && !lazy)
            busy |= step_queues(cl, &ask);
        if (!busy)
            break;
        any = true;
    }
    return any;
}

static bool run_all(struct exec_island *isl) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl && !turn_over(isl); cl = cl->next)
        any |= run_cluster(isl, cl);
    return any;
}

/* lazy: no warp can run, so one asynchronous operation completes. */
static bool step_one(struct exec_island *isl) {
    for (struct cluster *cl = isl->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas; r++)
            for (struct async_queue *q = cl->cta[r].queues; q; q = q->next)
                if (async_step(q))
                    return true;
    return false;
}

/* random: one choice among the warps that can run and the queues that hold something, in a window of clusters. */
static bool run_random(struct exec_island *isl) {
    struct agent {
        struct warp *w;
        struct async_queue *q;
    } pick = {0};
    uint32_t seen = 0, clusters = 0;
    for (struct cluster *cl = isl->resident; cl && clusters < RANDOM_WINDOW; cl = cl->next, clusters++) {
        if (!started(cl))
            start_cluster(isl->st, cl);
        for (uint32_t r = 0; r < cl->num_ctas; r++) {
            struct cta *cta = &cl->cta[r];
            for (uint32_t i = 0; i < cta->num_warps; i++)
                if (exec_runnable(&cta->warps[i]) && mach_random(&isl->m) % ++seen == 0)
                    pick = (struct agent){.w = &cta->warps[i]};
            for (struct async_queue *q = cta->queues; q; q = q->next)
                if (q->head && mach_random(&isl->m) % ++seen == 0)
                    pick = (struct agent){.q = q};
        }
    }
    if (pick.w) {
        exec_run_warp(pick.w, 1 + mach_random(&isl->m) % 64);
        note_exit(pick.w);
        return true;
    }
    if (pick.q && async_step(pick.q))
        return true;
    return pick.q ? step_one(isl) : false;
}

/* --- when nothing can run --------------------------------------------------------------------------------------------- */

/* Calls fn for every waiting group; true when one of them did something. */
static bool each_waiting(struct exec_island *isl, bool (*fn)(struct warp *, struct group *)) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas && started(cl); r++)
            for (uint32_t i = 0; i < isl->st->warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                for (unsigned k = 0; k < MACH_WARP && w->live; k++)
                    if (w->groups[k].state == GROUP_WAITING)
                        any |= fn(w, &w->groups[k]);
            }
    return any;
}

static bool resume_aligned(struct warp *w, struct group *g) {
    (void)w;
    if (g->wait.kind != WAIT_ALIGNED)
        return false;
    g->state = GROUP_READY;
    return true;
}

static bool resume_poll(struct warp *w, struct group *g) {
    (void)w;
    if (!g->wait.polls)
        return false;
    g->timed_out = true;
    g->state = GROUP_READY;
    return true;
}

static bool release_one(struct warp *w, struct group *g) {
    if (g->wait.kind != WAIT_JOIN)
        return false;
    exec_release_parked(w, g);
    return true;
}

/* Nothing can run. Instructions that may time out do; then lanes parked at a reconvergence point go on alone; when
 * neither helps it is a deadlock. */
static bool unstick(struct exec_island *isl) {
    if (isl->stuck_progress != isl->m.progress) {
        isl->stuck_progress = isl->m.progress;
        isl->stuck_rounds = 0;
    }
    if (each_waiting(isl, resume_aligned))
        return true;
    if (++isl->stuck_rounds <= STUCK_ROUNDS && each_waiting(isl, resume_poll))
        return true;
    if (each_waiting(isl, release_one)) {
        isl->stuck_rounds = 0;
        return true;
    }
    return false;
}

/* --- rounds ---------------------------------------------------------------------------------------------------------- */

/* Islands that come later in this round are not told what they find now. */
static void stop_later(struct exec_island *isl) {
    unsigned old = atomic_load_explicit(&isl->st->stop, memory_order_relaxed);
    while (isl->order < old && !atomic_compare_exchange_weak(&isl->st->stop, &old, isl->order))
        ;
}

static void take_turn(struct exec_island *isl) {
    struct exec_launch_state *st = isl->st;
    const bool random = st->gpu->config.schedule == MACH_SCHED_RANDOM;
    while (isl->resident && !turn_over(isl)) {
        bool any = random ? run_random(isl) : run_all(isl);
        /* where clusters may wait for later ones, these come in as soon as there is room */
        if (reap(isl, false)) {
            if (st->shares && st->next_cluster < st->num_clusters)
                return;
            continue;
        }
        if (any || turn_over(isl) || step_one(isl))
            continue;
        if (isl->wants_grid)
            return;
        if (!unstick(isl)) {
            isl->idle = true;
            return;
        }
    }
    if (isl->m.fault)
        stop_later(isl);
}

static void run_island(void *arg, uint32_t item, struct worker *worker) {
    struct exec_island *isl = ((struct exec_island **)arg)[item];
    isl->m.worker = worker;
    take_turn(isl);
    if (isl->resident) /* another thread may have its next turn */
        tc_flush(isl->resident);
}

static int by_cluster(const void *a, const void *b) {
    const struct exec_island *x = *(struct exec_island *const *)a, *y = *(struct exec_island *const *)b;
    return x->resident->number < y->resident->number ? -1 : x->resident->number > y->resident->number;
}

/* The islands with clusters, in the order of these, ready for a turn. */
static uint32_t begin_round(struct exec_launch_state *st, struct exec_island **active) {
    struct gpu *gpu = st->gpu;
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->num_islands; i++)
        if (st->islands[i].resident)
            active[n++] = &st->islands[i];
    qsort(active, n, sizeof(struct exec_island *), by_cluster);
    uint64_t left = gpu->config.watchdog - gpu->clock, turn = n && left / n < TURN ? left / n + 1 : TURN;
    atomic_store(&st->stop, UINT32_MAX);
    st->grid_free = st->shares;
    for (uint32_t i = 0; i < n; i++) {
        active[i]->order = i + 1;
        active[i]->idle = active[i]->wants_grid = false;
        active[i]->m.clock = gpu->clock;
        active[i]->limit = gpu->clock + turn;
    }
    return n;
}

/* Gives the clusters of an island the work that they asked the grid for. */
static bool serve(struct exec_island *isl) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl && !isl->m.fault; cl = cl->next)
        any |= exec_serve_cancels(cl);
    island_tell(&isl->m);
    return any;
}

/* Adds up what the islands did, and serves them in their order. True when one of them can go on. */
static bool end_round(struct exec_launch_state *st, struct exec_island **active, uint32_t n) {
    struct gpu *gpu = st->gpu;
    uint64_t start = gpu->clock;
    bool any = false;
    for (uint32_t i = 0; i < n && !gpu->fault; i++) {
        gpu->clock += active[i]->m.clock - start;
        any |= !active[i]->idle;
        island_tell(&active[i]->m);
    }
    st->grid_free = true;
    for (uint32_t i = 0; i < n && !gpu->fault; i++)
        any |= active[i]->wants_grid && serve(active[i]);
    return any;
}

static void run_grid(struct exec_launch_state *st) {
    struct gpu *gpu = st->gpu;
    struct exec_island **active = xcalloc(st->num_islands, sizeof(struct exec_island *));
    while (!gpu->fault) {
        while (admit(st))
            ;
        uint32_t n = begin_round(st, active);
        if (!n)
            break;
        crew_run(&gpu->crew, gpu->workers, gpu->config.threads, n, run_island, active);
        bool any = end_round(st, active, n);
        if (gpu->fault)
            break;
        if (gpu->clock >= gpu->config.watchdog)
            exec_report_watchdog(st);
        else if (!any)
            exec_report_deadlock(st);
    }
    free(active);
}

/* Which SMs make an island: those that the kernel's clusters may lie on together. */
static void make_islands(struct exec_launch_state *st) {
    struct gpu *gpu = st->gpu;
    const uint32_t sms = gpu->config.num_sms;
    const struct diag_dim3 dim = st->cfg->cluster;
    const uint32_t ctas = dim.x * dim.y * dim.z;
    st->shares = exec_kernel_shares(st->kernel);
    st->island_of = xcalloc(sms, sizeof *st->island_of);
    uint32_t first, count;
    for (uint32_t g = 0; !st->shares && ctas > 2 && mach_gpc(&gpu->config, g, &first, &count); g++)
        for (uint32_t i = first; i < first + count; i++)
            st->island_of[i] = g;
    for (uint32_t i = 0; !st->shares && ctas <= 2 && i < sms; i++)
        st->island_of[i] = ctas == 2 ? i / 2 : i;
    st->num_islands = st->island_of[sms - 1] + 1;
    st->islands = xcalloc(st->num_islands, sizeof *st->islands);
    for (uint32_t i = 0; i < st->num_islands; i++) {
        struct exec_island *isl = &st->islands[i];
        island_init(&isl->m, gpu, i);
        isl->st = st;
        isl->resident_tail = &isl->resident;
    }
}

static void close_islands(struct exec_launch_state *st) {
    for (uint32_t i = 0; i < st->num_islands; i++) {
        st->islands[i].m.worker = &st->gpu->workers[0];
        reap(&st->islands[i], true);
        island_close(&st->islands[i].m);
    }
    free(st->islands);
    free(st->island_of);
}

int exec_launch(struct gpu *gpu, const struct exec_launch *cfg) {
    struct exec_launch_state st = {.gpu = gpu, .cfg = cfg, .kernel = cfg->kernel};
    struct exec_kernel_info info = exec_kernel_info(cfg->kernel);
    st.smem = exec_smem_layout(cfg->kernel->module, cfg->kernel);
    st.threads = cfg->block.x * cfg->block.y * cfg->block.z;
    st.warps = (st.threads + MACH_WARP - 1) / MACH_WARP;
    st.regs = info.regs;
    st.clusters =
        (struct diag_dim3){cfg->grid.x / cfg->cluster.x, cfg->grid.y / cfg->cluster.y, cfg->grid.z / cfg->cluster.z};
    st.num_clusters = (uint64_t)st.clusters.x * st.clusters.y * st.clusters.z;
    st.param_bytes = info.param_bytes;
    st.params = xcalloc(info.param_bytes + 1, 1);
    if (cfg->param_bytes < info.param_bytes || !st.threads || st.warps > MACH_MAX_WARPS || !st.num_clusters)
        diag_broken("launch of %s with an impossible configuration", cfg->kernel->src->name);
    if (info.param_bytes != 0) /* a kernel without parameters may come without a buffer */
        memcpy(st.params, cfg->params, info.param_bytes);
    gpu->fault = 0;
    gpu->warnings = 0;
    gpu->clock = 0;
    struct place_needs n = cta_needs(&st);
    struct sm *sms[MACH_MAX_CLUSTER];
    uint32_t ctas = cfg->cluster.x * cfg->cluster.y * cfg->cluster.z;
    if (!place_cluster(gpu, &n, ctas, sms))
        diag_broken("a cluster of %s does not fit an empty GPU", cfg->kernel->src->name);
    for (uint32_t i = 0; i < ctas; i++)
        place_leave(sms[i], &n);
    make_islands(&st);
    run_grid(&st);
    close_islands(&st);
    free(st.smem.offset);
    free(st.params);
    return gpu->fault;
}

uint32_t exec_max_resident_clusters(const struct gpu *gpu, const struct exec_launch *cfg) {
    struct gpu empty = {.config = gpu->config};
    struct exec_launch_state st = {.gpu = &empty, .cfg = cfg, .kernel = cfg->kernel};
    st.smem = exec_smem_layout(cfg->kernel->module, cfg->kernel);
    st.threads = cfg->block.x * cfg->block.y * cfg->block.z;
    st.warps = (st.threads + MACH_WARP - 1) / MACH_WARP;
    st.regs = exec_kernel_info(cfg->kernel).regs;
    struct place_needs n = cta_needs(&st);
    free(st.smem.offset);
    return place_capacity(&gpu->config, &n, cfg->cluster.x * cfg->cluster.y * cfg->cluster.z);
}
