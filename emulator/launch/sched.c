/* launch/sched.c - launches: which CTAs are resident, and who runs next.
 *
 * CTAs become resident as launch/place.h says, in the order of their numbers; one costs host memory only once it has
 * run. A launch goes in rounds: clusters are admitted, every island (machine/island.h) has a turn, and what they said
 * is told in the order of their clusters. The islands are what the kernel's clusters cannot leave: an SM, a TPC or a
 * GPC, by their size; they run on all host threads and a turn lasts until nothing in the island can go on. A kernel
 * whose clusters may see one another (launch/shares.c) has one island. What happens in an island does not depend on the
 * others, so results are the same on any number of threads.
 *
 * The default schedule is deterministic: the warps of a cluster take turns of QUANTUM instructions, after each round
 * every asynchronous queue of the cluster completes one operation, and the next cluster of the island runs when this
 * one can do nothing more. `eager` completes an operation when it is issued, `lazy` only when no warp of the island can
 * run, `random` draws every choice from the seed.
 */
#include "isa/isa.h"
#include "launch/place.h"
#include "launch/state.h"

#include <stdlib.h>

#include "engines/tc.h"
#include "machine/mbarrier.h"

#define QUANTUM 256u             /* instructions of a warp's turn */
#define CLUSTER_ROUNDS 2000u     /* rounds before the next cluster gets a turn, where it may wait for that */
#define TURN (UINT64_C(1) << 24) /* instructions of an island's turn */
#define TURN_SAID (1u << 20)     /* bytes that it says */
#define STUCK_ROUNDS 32u         /* times that polling waits are resumed without any progress before it is a deadlock */
#define RANDOM_WINDOW 16u        /* clusters that random mode interleaves */

/* --- residency ---------------------------------------------------------------------------------------------------- */

static struct place_needs cta_needs(const struct launch_state *st) {
    uint32_t warp_regs = (st->regs * MACH_WARP + 255) & ~255u; /* registers are given to warps in units of 256 */
    uint32_t smem = st->static_smem + st->grid.dynamic_smem + st->grid.gpu->config.smem_reserved;
    return (struct place_needs){st->grid.warps * MACH_WARP, st->grid.warps * warp_regs, (smem + 127) & ~127u};
}

static bool admit(struct launch_state *st) {
    if (st->next_cluster == st->num_clusters)
        return false;
    struct place_needs n = cta_needs(st);
    struct diag_dim3 dim = st->grid.cluster;
    struct sm *sms[MACH_MAX_CLUSTER];
    if (!place_cluster(st->grid.gpu, &n, dim.x * dim.y * dim.z, sms))
        return false;
    struct launch_island *isl = &st->islands[st->island_of[sms[0]->id]];
    struct cluster *cl = xcalloc(1, sizeof *cl);
    cluster_init(cl, &isl->m, warp_cluster_id(&st->grid, st->next_cluster), dim, sms);
    cl->number = st->next_cluster++;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        cl->cta[r].live_warps = cl->cta[r].num_warps = st->grid.warps;
    *isl->resident_tail = cl;
    isl->resident_tail = &cl->next;
    return true;
}

struct cluster *launch_next_resident(const struct launch_state *st, const struct cluster *after) {
    struct cluster *next = NULL;
    for (uint32_t i = 0; i < st->num_islands; i++)
        for (struct cluster *cl = st->islands[i].resident; cl; cl = cl->next)
            if ((!after || cl->number > after->number) && (!next || cl->number < next->number))
                next = cl;
    return next;
}

/* --- starting and ending CTAs ------------------------------------------------------------------------------------- */

static void start_cluster(struct launch_state *st, struct cluster *cl) {
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        struct cta *cta = &cl->cta[r];
        cta_alloc_smem(cta, st->static_smem + st->grid.dynamic_smem);
        cta->warps = worker_alloc(cl->island->worker, st->grid.warps * sizeof *cta->warps);
        for (uint32_t i = 0; i < st->grid.warps; i++)
            warp_create(&cta->warps[i], &st->grid, cta, i);
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

static void free_cluster(struct launch_state *st, struct cluster *cl) {
    struct place_needs n = cta_needs(st);
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        struct cta *cta = &cl->cta[r];
        for (uint32_t i = 0; cta->warps && i < st->grid.warps; i++) {
            isa_warp_destroy(&cta->warps[i]);
            warp_destroy(&cta->warps[i]);
        }
        worker_free(cl->island->worker, cta->warps);
        tc_cta_release(cta);
        place_leave(cta->sm, &n);
    }
    cluster_release(cl);
    free(cl);
}

/* Removes the clusters that have ended; true when there was one. */
static bool reap(struct launch_island *isl, bool all) {
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

/* --- running ------------------------------------------------------------------------------------------------------ */

static bool started(const struct cluster *cl) { return cl->cta[0].warps != NULL; }

/* A turn for every warp of the cluster that can run. Sets *busy when one of them would go on at once, rather than
 * having given way. */
static bool run_warps(struct cluster *cl, uint32_t quantum, bool *busy) {
    bool ran = false;
    for (uint32_t r = 0; r < cl->num_ctas && !cl->island->fault; r++) {
        struct cta *cta = &cl->cta[r];
        for (uint32_t i = 0; i < cta->num_warps && !cl->island->fault; i++) {
            struct warp *w = &cta->warps[i];
            if (!warp_runnable(w))
                continue;
            ran |= warp_run(w, quantum) > 0;
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
static bool turn_over(struct launch_island *isl) {
    return isl->m.fault || isl->m.clock >= isl->limit || isl->m.said_bytes > TURN_SAID ||
           isl->order > atomic_load_explicit(&isl->st->stop, memory_order_relaxed);
}

/* Runs a cluster until it is idle or its turn is over; true when anything happened. */
static bool run_cluster(struct launch_island *isl, struct cluster *cl) {
    const bool lazy = isl->st->grid.gpu->config.schedule == MACH_SCHED_LAZY;
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

static bool run_all(struct launch_island *isl) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl && !turn_over(isl); cl = cl->next)
        any |= run_cluster(isl, cl);
    return any;
}

/* lazy: no warp can run, so one asynchronous operation completes. */
static bool step_one(struct launch_island *isl) {
    for (struct cluster *cl = isl->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas; r++)
            for (struct async_queue *q = cl->cta[r].queues; q; q = q->next)
                if (async_step(q))
                    return true;
    return false;
}

/* random: one choice among the warps that can run and the queues that hold something, in a window of clusters. */
static bool run_random(struct launch_island *isl) {
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
                if (warp_runnable(&cta->warps[i]) && mach_random(&isl->m) % ++seen == 0)
                    pick = (struct agent){.w = &cta->warps[i]};
            for (struct async_queue *q = cta->queues; q; q = q->next)
                if (q->head && mach_random(&isl->m) % ++seen == 0)
                    pick = (struct agent){.q = q};
        }
    }
    if (pick.w) {
        warp_run(pick.w, 1 + mach_random(&isl->m) % 64);
        note_exit(pick.w);
        return true;
    }
    if (pick.q && async_step(pick.q))
        return true;
    return pick.q ? step_one(isl) : false;
}

/* --- when nothing can run ----------------------------------------------------------------------------------------- */

/* Calls fn for every waiting group; true when one of them did something. */
static bool each_waiting(struct launch_island *isl, bool (*fn)(struct warp *, struct group *)) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas && started(cl); r++)
            for (uint32_t i = 0; i < isl->st->grid.warps; i++) {
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
    warp_release_parked(w, g);
    return true;
}

/* Nothing can run. Instructions that may time out do; then lanes parked at a reconvergence point go on alone; when
 * neither helps it is a deadlock. */
static bool unstick(struct launch_island *isl) {
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

/* --- rounds ------------------------------------------------------------------------------------------------------- */

/* Islands that come later in this round are not told what they find now. */
static void stop_later(struct launch_island *isl) {
    unsigned old = atomic_load_explicit(&isl->st->stop, memory_order_relaxed);
    while (isl->order < old && !atomic_compare_exchange_weak(&isl->st->stop, &old, isl->order))
        ;
}

static void take_turn(struct launch_island *isl) {
    struct launch_state *st = isl->st;
    const bool random = st->grid.gpu->config.schedule == MACH_SCHED_RANDOM;
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
    struct launch_island *isl = ((struct launch_island **)arg)[item];
    isl->m.worker = worker;
    take_turn(isl);
    if (isl->resident) /* another thread may have its next turn */
        tc_flush(isl->resident);
}

static int by_cluster(const void *a, const void *b) {
    const struct launch_island *x = *(struct launch_island *const *)a, *y = *(struct launch_island *const *)b;
    return x->resident->number < y->resident->number ? -1 : x->resident->number > y->resident->number;
}

/* The islands with clusters, in the order of these, ready for a turn. */
static uint32_t begin_round(struct launch_state *st, struct launch_island **active) {
    struct gpu *gpu = st->grid.gpu;
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->num_islands; i++)
        if (st->islands[i].resident)
            active[n++] = &st->islands[i];
    qsort(active, n, sizeof(struct launch_island *), by_cluster);
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
static bool serve(struct launch_island *isl) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl && !isl->m.fault; cl = cl->next)
        any |= isa_serve_cancels(cl);
    island_tell(&isl->m);
    return any;
}

/* Adds up what the islands did, and serves them in their order. True when one of them can go on. */
static bool end_round(struct launch_state *st, struct launch_island **active, uint32_t n) {
    struct gpu *gpu = st->grid.gpu;
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

static void run_grid(struct launch_state *st) {
    struct gpu *gpu = st->grid.gpu;
    struct launch_island **active = xcalloc(st->num_islands, sizeof(struct launch_island *));
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
            launch_report_watchdog(st);
        else if (!any)
            launch_report_deadlock(st);
    }
    free(active);
}

/* Which SMs make an island: those that the kernel's clusters may lie on together. */
static void make_islands(struct launch_state *st) {
    struct gpu *gpu = st->grid.gpu;
    const uint32_t sms = gpu->config.num_sms;
    const struct diag_dim3 dim = st->grid.cluster;
    const uint32_t ctas = dim.x * dim.y * dim.z;
    st->shares = launch_kernel_shares(st->grid.kernel);
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
        struct launch_island *isl = &st->islands[i];
        island_init(&isl->m, gpu, i);
        isl->st = st;
        isl->resident_tail = &isl->resident;
    }
}

static void close_islands(struct launch_state *st) {
    for (uint32_t i = 0; i < st->num_islands; i++) {
        st->islands[i].m.worker = &st->grid.gpu->workers[0];
        reap(&st->islands[i], true);
        island_close(&st->islands[i].m);
    }
    free(st->islands);
    free(st->island_of);
}

static enum warp_grid_answer take_cluster(struct warp_grid *grid, struct island *isl, struct diag_dim3 *id) {
    struct launch_state *st = (struct launch_state *)grid;
    if (!st->grid_free) {
        ((struct launch_island *)isl)->wants_grid = true;
        return GRID_LATER;
    }
    if (st->next_cluster == st->num_clusters)
        return GRID_EMPTY;
    *id = warp_cluster_id(grid, st->next_cluster++);
    return GRID_TAKEN;
}

/* The launch before its first cluster, without parameters; the caller frees `smem->offset`. */
static struct launch_state describe(struct gpu *gpu, const struct launch_config *cfg,
                                    const struct launch_kernel_info *info, const struct launch_smem_layout *smem) {
    const uint32_t threads = cfg->block.x * cfg->block.y * cfg->block.z;
    const struct diag_dim3 clusters = {cfg->grid.x / cfg->cluster.x, cfg->grid.y / cfg->cluster.y,
                                       cfg->grid.z / cfg->cluster.z};
    return (struct launch_state){
        .grid = {.gpu = gpu,
                 .kernel = cfg->kernel,
                 .ctas = cfg->grid,
                 .block = cfg->block,
                 .cluster = cfg->cluster,
                 .clusters = clusters,
                 .threads = threads,
                 .warps = (threads + MACH_WARP - 1) / MACH_WARP,
                 .regs = info->regs_known ? (info->regs + 7) / 8 * 8 : 0,
                 .dynamic_smem = cfg->dynamic_smem,
                 .smem_offset = smem->offset,
                 .param_bytes = info->param_bytes,
                 .take_cluster = take_cluster},
        .static_smem = smem->static_bytes,
        .regs = info->regs,
        .num_clusters = (uint64_t)clusters.x * clusters.y * clusters.z,
    };
}

int launch_run(struct gpu *gpu, const struct launch_config *cfg) {
    const struct launch_kernel_info info = launch_kernel_info(cfg->kernel);
    const struct launch_smem_layout smem = launch_smem_layout(cfg->kernel->module, cfg->kernel);
    struct launch_state st = describe(gpu, cfg, &info, &smem);
    if (cfg->param_bytes < info.param_bytes || !st.grid.threads || st.grid.warps > MACH_MAX_WARPS || !st.num_clusters)
        diag_broken("launch of %s with an impossible configuration", cfg->kernel->src->name);
    uint8_t *params = st.grid.params = xcalloc(info.param_bytes + 1, 1);
    if (info.param_bytes != 0) /* a kernel without parameters may come without a buffer */
        memcpy(params, cfg->params, info.param_bytes);
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
    free(smem.offset);
    free(params);
    return gpu->fault;
}

uint32_t launch_max_resident_clusters(const struct gpu *gpu, const struct launch_config *cfg) {
    struct gpu empty = {.config = gpu->config};
    const struct launch_kernel_info info = launch_kernel_info(cfg->kernel);
    const struct launch_smem_layout smem = launch_smem_layout(cfg->kernel->module, cfg->kernel);
    const struct launch_state st = describe(&empty, cfg, &info, &smem);
    const struct place_needs n = cta_needs(&st);
    free(smem.offset);
    return place_capacity(&gpu->config, &n, cfg->cluster.x * cfg->cluster.y * cfg->cluster.z);
}
