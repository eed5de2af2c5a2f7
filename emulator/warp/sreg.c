/* warp/sreg.c - special registers that do not change while a thread lives (PTX ISA section 10). */
#include "warp/core.h"

void warp_set_tid(const struct warp *w, uint32_t lane, struct diag_dim3 *tid) {
    const struct diag_dim3 *b = &w->grid->block;
    const uint32_t n = w->index * MACH_WARP + lane, row = n < b->x ? 0 : n / b->x; /* mostly no division */
    tid->x = row ? n % b->x : n;
    tid->y = row ? row % b->y : 0;
    tid->z = row ? row / b->y : 0;
}

struct diag_dim3 warp_tid(const struct warp *w, uint32_t lane) {
    struct diag_dim3 tid;
    warp_set_tid(w, lane, &tid);
    return tid;
}

/* Registers with three components follow each other as x, y, z in sregs.def. */
static bool triple(enum ptx_sreg r, enum ptx_sreg x, struct diag_dim3 d, uint64_t *v) {
    if (r < x || r > x + 2)
        return false;
    *v = r == x ? d.x : r == x + 1 ? d.y : d.z;
    return true;
}

static bool geometry(const struct warp *w, enum ptx_sreg r, uint32_t lane, uint64_t *v) {
    const struct warp_grid *g = w->grid;
    const struct cluster *cl = w->cta->cluster;
    if (r >= PTX_SREG_tid_x && r <= PTX_SREG_tid_z)
        return triple(r, PTX_SREG_tid_x, warp_tid(w, lane), v);
    return triple(r, PTX_SREG_ntid_x, g->block, v) || triple(r, PTX_SREG_ctaid_x, w->cta->id, v) ||
           triple(r, PTX_SREG_nctaid_x, g->ctas, v) || triple(r, PTX_SREG_clusterid_x, cl->id, v) ||
           triple(r, PTX_SREG_nclusterid_x, g->clusters, v) ||
           triple(r, PTX_SREG_cluster_ctaid_x, w->cta->rank_id, v) || triple(r, PTX_SREG_cluster_nctaid_x, cl->dim, v);
}

/* clang-format off */
bool warp_sreg(const struct warp *w, enum ptx_sreg r, uint32_t lane, uint64_t *v) {
    const struct warp_grid *g = w->grid;
    const struct cluster *cl = w->cta->cluster;
    switch (r) {
    case PTX_SREG_cluster_ctarank: *v = w->cta->rank; return true;
    case PTX_SREG_cluster_nctarank: *v = cl->num_ctas; return true;
    case PTX_SREG_is_explicit_cluster: *v = g->clustered; return true;
    case PTX_SREG_laneid: *v = lane; return true;
    case PTX_SREG_warpid: *v = w->index; return true;
    case PTX_SREG_nwarpid: *v = g->gpu->config.threads_per_sm / MACH_WARP; return true;
    case PTX_SREG_smid: *v = w->cta->sm->id; return true;
    case PTX_SREG_nsmid: *v = g->gpu->config.num_sms; return true;
    case PTX_SREG_gridid: *v = 1; return true;
    case PTX_SREG_lanemask_eq: *v = 1u << lane; return true;
    case PTX_SREG_lanemask_lt: *v = (1u << lane) - 1; return true;
    case PTX_SREG_lanemask_le: *v = ((1u << lane) - 1) | 1u << lane; return true;
    case PTX_SREG_lanemask_ge: *v = ~((1u << lane) - 1); return true;
    case PTX_SREG_lanemask_gt: *v = ~((1u << lane) - 1) & ~(1u << lane); return true;
    case PTX_SREG_total_smem_size: *v = w->cta->smem_end - MACH_SMEM_FIRST; return true;
    case PTX_SREG_dynamic_smem_size: *v = g->dynamic_smem; return true;
    case PTX_SREG_aggr_smem_size: /* with the part the system keeps (10.32) */
        *v = w->cta->smem_end - MACH_SMEM_FIRST + g->gpu->config.smem_reserved;
        return true;
    default: return geometry(w, r, lane, v);
    }
}
/* clang-format on */
