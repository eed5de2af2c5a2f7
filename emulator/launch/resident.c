/* launch/resident.c - which clusters are resident, and in which island.
 *
 * CTAs become resident in the order of their numbers, as launch/place.h says. A CTA costs host memory only when it
 * first runs. An island (machine/island.h) is the part of the GPU that a cluster of the kernel cannot leave: an SM, a
 * TPC or a GPC, by the cluster's size. A kernel whose clusters may see one another (launch/shares.c) has one island,
 * and so has every kernel under MACH_SCHED_MODEL.
 */
#include "base/fatal.h"
#include "base/heap.h"
#include "engines/tc.h"
#include "isa/isa.h"
#include "launch/state.h"

#include <stdlib.h>

/* --- room --------------------------------------------------------------------------------------------------------- */

struct place_needs launch_cta_needs(const struct launch_state *st) {
    uint32_t warp_regs = (st->regs * MACH_WARP + 255) & ~255u; /* registers are given to warps in units of 256 */
    uint32_t smem = st->static_smem + st->grid.dynamic_smem + st->grid.gpu->config.smem_reserved;
    return (struct place_needs){st->grid.warps * MACH_WARP, st->grid.warps * warp_regs, (smem + 127) & ~127u};
}

bool launch_admit(struct launch_state *st) {
    if (st->next_cluster == st->num_clusters)
        return false;
    struct place_needs n = launch_cta_needs(st);
    struct diag_dim3 dim = st->grid.cluster;
    struct sm *sms[MACH_MAX_CLUSTER];
    if (!place_cluster(st->grid.gpu, &n, dim.x * dim.y * dim.z, sms))
        return false;
    struct launch_island *isl = &st->islands[st->island_of[sms[0]->id]];
    struct cluster *cl = xcalloc(1, sizeof *cl);
    cluster_init(cl, &isl->m, warp_cluster_id(&st->grid, st->next_cluster), dim, sms);
    cl->number = st->next_cluster++;
    cl->block = st->grid.block;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        cl->cta[r].live_warps = cl->cta[r].num_warps = st->grid.warps;
    isl->m.closed += cl->num_ctas;
    *isl->resident_tail = cl;
    isl->resident_tail = &cl->next;
    return true;
}

static int by_number(const void *a, const void *b) {
    const struct cluster *const *x = a, *const *y = b;
    return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

struct cluster **launch_residents(const struct launch_state *st, uint32_t *count) {
    struct cluster **list = NULL;
    uint32_t cap = 0;
    *count = 0;
    for (uint32_t i = 0; i < st->num_islands; i++)
        for (struct cluster *cl = st->islands[i].resident; cl; cl = cl->next) {
            list = xgrow(list, *count, &cap, sizeof *list);
            list[(*count)++] = cl;
        }
    if (list)
        qsort(list, *count, sizeof *list, by_number);
    return list;
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

static void tell(struct cta *cta, enum event_life_kind kind, uint32_t bytes) {
    tell_life(cta->gpu, &(struct event_life){.by = {.cta = cta}, .kind = kind, .owner = cta, .bytes = bytes});
}

/* The start and end of a CTA take the host about as long as this many instructions. The watchdog counts them so, to
 * stop a grid of 2^31 empty CTAs, too. */
#define START_INSTRUCTIONS 64u

void launch_start_cluster(struct launch_state *st, struct cluster *cl) {
    cl->island->starts += START_INSTRUCTIONS * cl->num_ctas;
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        struct cta *cta = &cl->cta[r];
        cta_alloc_smem(cta, st->static_smem + st->grid.dynamic_smem);
        cta->warps = worker_alloc_zeroed(cl->island->worker, st->grid.warps * sizeof *cta->warps, 0);
        for (uint32_t i = 0; i < st->grid.warps; i++) {
            warp_create(&cta->warps[i], &st->grid, cta, i);
            cta->warps[i].priority = mach_priority(cl->island);
        }
        tell(cta, LIFE_CTA_START, cta->smem_end - MACH_SMEM_FIRST);
    }
    tell(cl->cta, LIFE_CLUSTER_START, 0);
}

bool launch_has_ended(const struct cluster *cl) {
    for (uint32_t r = 0; r < cl->num_ctas && !cl->live_ctas; r++)
        for (const struct async_queue *q = cl->cta[r].queues; q; q = q->next)
            if (q->head)
                return false;
    return !cl->live_ctas;
}

/* Ends a cluster: announces it, gives its room back and frees it. */
static void free_cluster(struct launch_state *st, struct cluster *cl) {
    struct place_needs n = launch_cta_needs(st);
    tell(cl->cta, LIFE_CLUSTER_END, 0);
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
    xfree(cl);
}

bool launch_reap(struct launch_island *isl, bool all) {
    bool any = false;
    struct cluster **p = &isl->resident;
    while (*p) {
        struct cluster *cl = *p;
        if (!all && !launch_has_ended(cl)) {
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

/* --- islands ------------------------------------------------------------------------------------------------------ */

void launch_make_islands(struct launch_state *st) {
    struct gpu *gpu = st->grid.gpu;
    const uint32_t sms = gpu->config.num_sms;
    const struct diag_dim3 dim = st->grid.cluster;
    const uint32_t ctas = dim.x * dim.y * dim.z;
    st->shares = launch_kernel_shares(st->grid.kernel) || gpu->config.schedule == MACH_SCHED_MODEL;
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
        if (gpu->config.schedule == MACH_SCHED_PCT)
            launch_pct_init(isl);
        isl->m.timed = gpu->config.schedule == MACH_SCHED_MODEL;
        if (isl->m.timed && !gpu->timing)
            fatal_broken("MACH_SCHED_MODEL without a model");
    }
}

void launch_close_islands(struct launch_state *st) {
    for (uint32_t i = 0; i < st->num_islands; i++) {
        st->islands[i].m.worker = &st->grid.gpu->workers[0];
        launch_reap(&st->islands[i], true);
        launch_timed_free(&st->islands[i]);
        island_close(&st->islands[i].m);
    }
    xfree(st->islands);
    xfree(st->island_of);
}
