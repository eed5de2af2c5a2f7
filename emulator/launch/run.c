/* launch/run.c - runs a launch in rounds; contract in launch.h.
 *
 * In a round clusters are admitted, every island has a turn (launch/sched.c), and then their reports are printed in the
 * order of the clusters. All host threads run the turns of a round. An island does not depend on the others, unless
 * they race through global memory, so results are the same with any number of threads.
 */
#include "base/compare.h"
#include "base/fatal.h"
#include "base/heap.h"
#include "deadlock/deadlock.h"
#include "engines/tc.h"
#include "isa/isa.h"
#include "launch/state.h"
#include "warp/unwritten.h"

#include <stdio.h>
#include <stdlib.h>

#define TURN (UINT64_C(1) << 24) /* instructions of an island's turn */

/* --- rounds ------------------------------------------------------------------------------------------------------- */

/* On any host thread: the turn of one island of the round. */
static void run_island(void *arg, uint32_t item, struct worker *worker) {
    struct launch_state *st = arg;
    struct launch_island *isl = st->active[item];
    if (st->second && !isl->goes_on)
        return;
    isl->m.worker = worker;
    launch_take_turn(isl);
    if (isl->resident) /* another thread may have its next turn */
        tc_flush(isl->resident);
}

static int by_cluster(const void *a, const void *b) {
    const struct launch_island *x = *(struct launch_island *const *)a, *y = *(struct launch_island *const *)b;
    return COMPARE(x->resident->number, y->resident->number);
}

/* Prepares a turn of each island that has clusters, in the order of their first clusters. `most`: instructions. */
static void begin_round(struct launch_state *st, uint64_t most) {
    struct gpu *gpu = st->grid.gpu;
    struct launch_island **active = st->active;
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->num_islands; i++)
        if (st->islands[i].resident)
            active[n++] = &st->islands[i];
    qsort(active, n, sizeof(struct launch_island *), by_cluster);
    uint64_t left = gpu->config.watchdog - gpu->clock - gpu->starts, turn = n && left / n < TURN ? left / n + 1 : TURN;
    atomic_store(&st->stop, UINT32_MAX);
    st->grid_free = st->shares;
    st->num_active = n;
    for (uint32_t i = 0; i < n; i++) {
        active[i]->order = i + 1;
        active[i]->idle = active[i]->wants_grid = false;
        active[i]->m.clock = gpu->clock;
        active[i]->m.starts = 0;
        active[i]->limit = gpu->clock + (turn < most ? turn : most);
        active[i]->m.pauses = st->may_stay;
    }
}

/* Gives the clusters of an island the work that they asked the grid for. */
static bool serve(struct launch_island *isl) {
    bool any = false;
    for (struct cluster *cl = isl->resident; cl && !isl->m.fault; cl = cl->next)
        any |= isa_serve_cancels(cl);
    island_tell(&isl->m);
    return any;
}

/* Adds up the work of the islands and serves them in order. True if one of them can go on. */
static bool end_round(struct launch_state *st) {
    struct gpu *gpu = st->grid.gpu;
    struct launch_island **active = st->active;
    const uint32_t n = st->num_active;
    uint64_t start = gpu->clock;
    bool any = false;
    for (uint32_t i = 0; i < n && !gpu->fault; i++) {
        gpu->clock += active[i]->m.clock - start;
        active[i]->m.steps += active[i]->m.clock - start;
        gpu->steps = active[i]->m.steps > gpu->steps ? active[i]->m.steps : gpu->steps;
        gpu->starts += active[i]->m.starts;
        any |= !active[i]->idle;
        island_tell(&active[i]->m);
    }
    st->grid_free = true;
    for (uint32_t i = 0; i < n && !gpu->fault; i++)
        any |= active[i]->wants_grid && serve(active[i]);
    return any;
}

/* The launch ends here; `report` says why. */
static void give_up(struct launch_state *st, void (*report)(const struct deadlock_scene *at)) {
    const struct diag_dim3 dim = st->grid.cluster;
    struct deadlock_scene at = {.gpu = st->grid.gpu,
                                .unstarted = (st->num_clusters - st->next_cluster) * dim.x * dim.y * dim.z,
                                .island = &st->islands[0].m};
    at.clusters = launch_residents(st, &at.num_clusters);
    report(&at);
    xfree(at.clusters);
}

bool launch_stuck(struct launch_state *st, enum launch_round round) {
    struct gpu *gpu = st->grid.gpu;
    if (gpu->fault || round == ROUND_ENDED)
        return false;
    if (atomic_load(&gpu->late) != MACH_IN_TIME)
        give_up(st, deadlock_report_late);
    else if (gpu->clock + gpu->starts >= gpu->config.watchdog)
        give_up(st, deadlock_report_watchdog);
    else if (round == ROUND_IDLE)
        give_up(st, deadlock_report);
    else
        return false;
    return true;
}

/* Have all CTAs of the grid executed griddepcontrol.launch_dependents, or exited? */
static bool is_open(const struct launch_state *st) {
    uint64_t closed = st->num_clusters - st->next_cluster;
    for (uint32_t i = 0; i < st->num_islands; i++)
        closed += st->islands[i].m.closed;
    return !closed;
}

/* May the launch be left running now, because its dependents may start? At most once. */
static bool stays(struct launch_state *st) {
    const bool yes = st->may_stay && is_open(st) && !st->grid.gpu->fault;
    st->may_stay &= !yes;
    return yes;
}

/* Islands with a paused turn go on; the others have had theirs. False: none was paused. */
static bool go_on(struct launch_state *st, uint64_t turn) {
    bool any = false;
    for (uint32_t i = 0; i < st->num_active; i++) {
        struct launch_island *isl = st->active[i];
        any |= isl->goes_on = isl->m.paused;
        isl->m.paused = isl->m.pauses = false;
        if (isl->goes_on && turn < isl->limit - isl->m.clock)
            isl->limit = isl->m.clock + turn;
    }
    return any;
}

/* The turns of a round: with a full turn on all host threads. */
static void run_islands(struct launch_state *st, uint64_t turn) {
    struct gpu *gpu = st->grid.gpu;
    if (turn == LAUNCH_FULL_TURN)
        crew_run(&gpu->crew, gpu->workers, gpu->config.threads, st->num_active, run_island, st);
    else /* overlapping launches may share SMs, and so the state of islands */
        for (uint32_t i = 0; i < st->num_active; i++)
            run_island(st, i, &gpu->workers[0]);
}

enum launch_round launch_round(struct launch_state *st, uint64_t turn) {
    if (!st->in_round) {
        while (launch_admit(st))
            ;
        begin_round(st, turn);
        if (!st->num_active)
            return st->next_cluster < st->num_clusters ? ROUND_IDLE : ROUND_ENDED;
        run_islands(st, turn);
        if (stays(st)) {
            st->in_round = true;
            return ROUND_OPEN;
        }
    }
    st->in_round = false;
    if (go_on(st, turn)) {
        st->second = true;
        run_islands(st, turn);
        st->second = false;
    }
    const bool any = end_round(st) || st->woken;
    st->woken = false;
    if (st->grid.gpu->fault)
        return ROUND_ENDED;
    return stays(st) ? ROUND_OPEN : any ? ROUND_MOVED : ROUND_IDLE;
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

/* clusterlaunchcontrol.try_cancel takes the next cluster off the grid (9.7.13.17). While other islands run, it is put
 * off to the end of the round, when islands are served in order: so results do not depend on host threads. */
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

/* The state of the launch before its first cluster, without parameters; the caller frees `smem->offset`. */
static struct launch_state describe_launch(struct gpu *gpu, const struct launch_config *cfg,
                                           const struct lower_kernel_info *info, const struct lower_smem_layout *smem) {
    const uint32_t threads = cfg->block.x * cfg->block.y * cfg->block.z;
    const struct diag_dim3 clusters = {cfg->grid.x / cfg->cluster.x, cfg->grid.y / cfg->cluster.y,
                                       cfg->grid.z / cfg->cluster.z};
    return (struct launch_state){
        .grid = {.gpu = gpu,
                 .kernel = cfg->kernel,
                 .ctas = cfg->grid,
                 .block = cfg->block,
                 .cluster = cfg->cluster,
                 .clustered = cfg->clustered,
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

/* Sends HOST_LAUNCH or HOST_LAUNCH_END. */
static void tell(const struct launch_state *st, enum event_host_kind kind) {
    const struct launch_config *cfg = &st->config;
    const struct place_needs n = launch_cta_needs(st);
    const uint32_t ctas = cfg->cluster.x * cfg->cluster.y * cfg->cluster.z;
    tell_host(st->grid.gpu, &(struct event_host){.kind = kind,
                                                 .gpu = st->grid.gpu,
                                                 .stream = cfg->stream,
                                                 .kernel = cfg->kernel->src->name,
                                                 .grid = cfg->grid,
                                                 .block = cfg->block,
                                                 .cluster = cfg->cluster,
                                                 .static_smem = st->static_smem,
                                                 .dynamic_smem = cfg->dynamic_smem,
                                                 .resident = place_capacity(&st->grid.gpu->config, &n, ctas),
                                                 .early = cfg->early,
                                                 .triggers = launch_kernel_has(cfg->kernel, PTX_MOD_launch_dependents),
                                                 .waits = launch_kernel_has(cfg->kernel, PTX_MOD_wait),
                                                 .plain = launch_kernel_is_plain(cfg->kernel)});
}

/* Prints a progress line that the next output overwrites. next_cluster changes only between rounds, when no island
 * runs. */
static void tell_progress(const struct island *isl, double seconds) {
    const struct launch_state *st = ((const struct launch_island *)isl)->st;
    char name[160], clusters[80] = "";
    if (st->next_cluster < st->num_clusters)
        snprintf(clusters, sizeof clusters, ", %llu of %llu clusters begun", (unsigned long long)st->next_cluster,
                 (unsigned long long)st->num_clusters);
    fprintf(stderr, "sm100emu: %s runs for %.0f s%s\033[K\r",
            diag_function(st->grid.kernel->src->name, name, sizeof name), seconds, clusters);
}

struct launch_state *launch_begin(struct gpu *gpu, const struct launch_config *cfg) {
    const struct lower_kernel_info info = lower_kernel_info(cfg->kernel);
    const struct lower_smem_layout smem = lower_smem_layout(cfg->kernel->module, cfg->kernel);
    struct launch_state *st = xcalloc(1, sizeof *st);
    *st = describe_launch(gpu, cfg, &info, &smem);
    st->config = *cfg;
    if (cfg->param_bytes < info.param_bytes || !st->grid.threads || st->grid.warps > MACH_MAX_WARPS ||
        !st->num_clusters)
        fatal_broken("launch of %s with an impossible configuration", cfg->kernel->src->name);
    st->grid.params = xcalloc(info.param_bytes + 1, 1);
    if (info.param_bytes != 0) /* a kernel without parameters may have no buffer */
        memcpy(st->grid.params, cfg->params, info.param_bytes);
    gpu->progress = tell_progress;
    gpu->explain = warp_explain_unwritten;
    const struct place_needs n = launch_cta_needs(st);
    if (!place_capacity(&gpu->config, &n, cfg->cluster.x * cfg->cluster.y * cfg->cluster.z))
        fatal_broken("a cluster of %s does not fit an empty GPU", cfg->kernel->src->name);
    tell(st, HOST_LAUNCH);
    launch_make_islands(st);
    st->active = xcalloc(st->num_islands, sizeof *st->active);
    return st;
}

void launch_end(struct launch_state *st, bool last) {
    struct gpu *gpu = st->grid.gpu;
    const struct launch_config *cfg = &st->config;
    /* its module is not const, and no other thread launches on this GPU now */
    cfg->kernel->module->funcs[cfg->kernel - cfg->kernel->module->funcs].steps = gpu->steps;
    launch_close_islands(st);
    if (last)
        gpu_end_launch(gpu);
    tell(st, HOST_LAUNCH_END);
    if (cfg->ended)
        cfg->ended(cfg->ended_ctx, st->took);
    xfree((void *)(uintptr_t)st->grid.smem_offset);
    xfree(st->grid.params);
    xfree(st->active);
    xfree(st);
}

uint32_t launch_max_resident_clusters(const struct gpu *gpu, const struct launch_config *cfg) {
    struct gpu empty = {.config = gpu->config};
    const struct lower_kernel_info info = lower_kernel_info(cfg->kernel);
    const struct lower_smem_layout smem = lower_smem_layout(cfg->kernel->module, cfg->kernel);
    const struct launch_state st = describe_launch(&empty, cfg, &info, &smem);
    const struct place_needs n = launch_cta_needs(&st);
    xfree(smem.offset);
    return place_capacity(&gpu->config, &n, cfg->cluster.x * cfg->cluster.y * cfg->cluster.z);
}
