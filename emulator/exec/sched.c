/* exec/sched.c - launches: which CTAs are resident, and who runs next.
 *
 * CTAs become resident as exec/place.h says, in the order of their numbers. A resident CTA costs host memory only once it
 * has run. The default schedule is deterministic: the warps of a cluster take turns of
 * QUANTUM instructions, after each round every asynchronous queue of the cluster completes one operation, and the next
 * cluster runs when this one can do nothing more. `eager` completes an operation when it is issued, `lazy` only when no
 * warp of the launch can run, `random` draws every choice from the seed.
 */
#include "exec/core.h"
#include "exec/place.h"

#include <stdlib.h>

#include "engines/tc.h"
#include "machine/mbarrier.h"

#define QUANTUM 256u         /* instructions of a warp's turn */
#define CLUSTER_ROUNDS 2000u /* rounds before the next cluster gets a turn */
#define STUCK_ROUNDS                                                                                         \
    32u /* times that polling waits are resumed without any progress before it is a deadlock */
#define RANDOM_WINDOW 16u /* clusters that random mode interleaves */

/* --- residency ----------------------------------------------------------------------------------------------------- */

static struct place_needs cta_needs(const struct exec_launch_state *st) {
    uint32_t warp_regs =
        (st->regs * MACH_WARP + 255) & ~255u; /* registers are given to warps in units of 256 */
    uint32_t smem = st->smem.static_bytes + st->cfg->dynamic_smem + st->gpu->config.smem_reserved;
    return (struct place_needs){st->warps * MACH_WARP, st->warps * warp_regs, (smem + 127) & ~127u};
}

struct diag_dim3 exec_cluster_id(const struct exec_launch_state *st, uint64_t number) {
    return (struct diag_dim3){(uint32_t)(number % st->clusters.x),
                              (uint32_t)(number / st->clusters.x % st->clusters.y),
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
    struct diag_dim3 id = exec_cluster_id(st, st->next_cluster++);
    struct cluster *cl = xcalloc(1, sizeof *cl);
    cluster_init(cl, st->gpu, id, dim, sms);
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        cl->cta[r].live_warps = cl->cta[r].num_warps = st->warps;
    *st->resident_tail = cl;
    st->resident_tail = &cl->next;
    st->num_resident++;
    return true;
}

/* --- starting and ending CTAs --------------------------------------------------------------------------------------- */

static void start_cluster(struct exec_launch_state *st, struct cluster *cl) {
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        struct cta *cta = &cl->cta[r];
        cta_alloc_smem(cta, st->smem.static_bytes + st->cfg->dynamic_smem);
        cta->warps = xcalloc(st->warps, sizeof *cta->warps);
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
        free(cta->warps);
        tc_cta_release(cta);
        place_leave(cta->sm, &n);
    }
    cluster_release(cl);
    free(cl);
    st->num_resident--;
}

/* Removes the clusters that have ended; true when there was one. */
static bool reap(struct exec_launch_state *st, bool all) {
    bool any = false;
    for (struct cluster **p = &st->resident; *p;) {
        struct cluster *cl = *p;
        if (!all && (cl->live_ctas || !queues_empty(cl))) {
            p = &cl->next;
            continue;
        }
        *p = cl->next;
        free_cluster(st, cl);
        any = true;
    }
    st->resident_tail = &st->resident;
    while (*st->resident_tail)
        st->resident_tail = &(*st->resident_tail)->next;
    return any;
}

/* --- running --------------------------------------------------------------------------------------------------------- */

static bool started(const struct cluster *cl) { return cl->cta[0].warps != NULL; }

/* A turn for every warp of the cluster that can run. Sets *busy when one of them would go on at once, rather than having
 * given way. */
static bool run_warps(struct cluster *cl, uint32_t quantum, bool *busy) {
    bool ran = false;
    for (uint32_t r = 0; r < cl->num_ctas && !cl->gpu->fault; r++) {
        struct cta *cta = &cl->cta[r];
        for (uint32_t i = 0; i < cta->num_warps && !cl->gpu->fault; i++) {
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

/* One operation of every queue of the cluster. */
static bool step_queues(struct cluster *cl) {
    bool any = false;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (struct async_queue *q = cl->cta[r].queues; q && !cl->gpu->fault; q = q->next)
            any |= async_step(q);
    return any;
}

static bool over_budget(struct gpu *gpu) { return gpu->clock >= gpu->config.watchdog; }

/* Runs a cluster until it is idle or its turn is over; true when anything happened. */
static bool run_cluster(struct exec_launch_state *st, struct cluster *cl) {
    struct gpu *gpu = st->gpu;
    bool any = false;
    if (!started(cl)) {
        start_cluster(st, cl);
        any = true;
    }
    for (uint32_t round = 0; round < CLUSTER_ROUNDS && !gpu->fault && !over_budget(gpu); round++) {
        bool busy = false;
        any |= run_warps(cl, QUANTUM, &busy);
        if (gpu->async_pending && gpu->config.schedule != MACH_SCHED_LAZY)
            busy |= step_queues(cl);
        if (!busy)
            break;
        any = true;
    }
    return any;
}

static bool run_all(struct exec_launch_state *st) {
    bool any = false;
    for (struct cluster *cl = st->resident; cl && !st->gpu->fault && !over_budget(st->gpu); cl = cl->next)
        any |= run_cluster(st, cl);
    return any;
}

/* lazy: no warp can run, so one asynchronous operation completes. */
static bool step_one(struct exec_launch_state *st) {
    for (struct cluster *cl = st->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas; r++)
            for (struct async_queue *q = cl->cta[r].queues; q; q = q->next)
                if (async_step(q))
                    return true;
    return false;
}

/* random: one choice among the warps that can run and the queues that hold something, in a window of clusters. */
static bool run_random(struct exec_launch_state *st) {
    struct gpu *gpu = st->gpu;
    struct agent {
        struct warp *w;
        struct async_queue *q;
    } pick = {0};
    uint32_t seen = 0, clusters = 0;
    for (struct cluster *cl = st->resident; cl && clusters < RANDOM_WINDOW; cl = cl->next, clusters++) {
        if (!started(cl))
            start_cluster(st, cl);
        for (uint32_t r = 0; r < cl->num_ctas; r++) {
            struct cta *cta = &cl->cta[r];
            for (uint32_t i = 0; i < cta->num_warps; i++)
                if (exec_runnable(&cta->warps[i]) && mach_random(gpu) % ++seen == 0)
                    pick = (struct agent){.w = &cta->warps[i]};
            for (struct async_queue *q = cta->queues; q; q = q->next)
                if (q->head && mach_random(gpu) % ++seen == 0)
                    pick = (struct agent){.q = q};
        }
    }
    if (pick.w) {
        exec_run_warp(pick.w, 1 + mach_random(gpu) % 64);
        note_exit(pick.w);
        return true;
    }
    if (pick.q && async_step(pick.q))
        return true;
    return pick.q ? step_one(st) : false;
}

/* --- when nothing can run --------------------------------------------------------------------------------------------- */

/* Calls fn for every waiting group; true when one of them did something. */
static bool each_waiting(struct exec_launch_state *st, bool (*fn)(struct warp *, struct group *)) {
    bool any = false;
    for (struct cluster *cl = st->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas && started(cl); r++)
            for (uint32_t i = 0; i < st->warps; i++) {
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
static bool unstick(struct exec_launch_state *st) {
    if (st->stuck_progress != st->gpu->progress) {
        st->stuck_progress = st->gpu->progress;
        st->stuck_rounds = 0;
    }
    if (each_waiting(st, resume_aligned))
        return true;
    if (++st->stuck_rounds <= STUCK_ROUNDS && each_waiting(st, resume_poll))
        return true;
    if (each_waiting(st, release_one)) {
        st->stuck_rounds = 0;
        return true;
    }
    return false;
}

static void run_grid(struct exec_launch_state *st) {
    struct gpu *gpu = st->gpu;
    while (!gpu->fault) {
        while (admit(st))
            ;
        if (!st->resident)
            return;
        bool any = gpu->config.schedule == MACH_SCHED_RANDOM ? run_random(st) : run_all(st);
        if (gpu->fault)
            return;
        if (over_budget(gpu)) {
            exec_report_watchdog(st);
            return;
        }
        any |= reap(st, false);
        if (!any && !step_one(st) && !unstick(st))
            exec_report_deadlock(st);
    }
}

int exec_launch(struct gpu *gpu, const struct exec_launch *cfg) {
    struct exec_launch_state st = {.gpu = gpu, .cfg = cfg, .kernel = cfg->kernel};
    struct exec_kernel_info info = exec_kernel_info(cfg->kernel);
    st.smem = exec_smem_layout(cfg->kernel->module, cfg->kernel);
    st.threads = cfg->block.x * cfg->block.y * cfg->block.z;
    st.warps = (st.threads + MACH_WARP - 1) / MACH_WARP;
    st.regs = info.regs;
    st.clusters = (struct diag_dim3){cfg->grid.x / cfg->cluster.x, cfg->grid.y / cfg->cluster.y,
                                     cfg->grid.z / cfg->cluster.z};
    st.num_clusters = (uint64_t)st.clusters.x * st.clusters.y * st.clusters.z;
    st.resident_tail = &st.resident;
    st.param_bytes = info.param_bytes;
    st.params = xcalloc(info.param_bytes + 1, 1);
    if (cfg->param_bytes < info.param_bytes || !st.threads || st.warps > MACH_MAX_WARPS || !st.num_clusters)
        diag_broken("launch of %s with an impossible configuration", cfg->kernel->src->name);
    if (info.param_bytes != 0) /* a kernel without parameters may come without a buffer */
        memcpy(st.params, cfg->params, info.param_bytes);
    gpu->fault = 0;
    gpu->warnings = 0;
    gpu->clock = 0;
    gpu->async_pending = 0;
    struct place_needs n = cta_needs(&st);
    struct sm *sms[MACH_MAX_CLUSTER];
    uint32_t ctas = cfg->cluster.x * cfg->cluster.y * cfg->cluster.z;
    if (!place_cluster(gpu, &n, ctas, sms))
        diag_broken("a cluster of %s does not fit an empty GPU", cfg->kernel->src->name);
    for (uint32_t i = 0; i < ctas; i++)
        place_leave(sms[i], &n);
    run_grid(&st);
    reap(&st, true);
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
