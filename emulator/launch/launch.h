/* launch/launch.h - a grid, from its first cluster to its last, as the shim starts it. */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "machine/machine.h"

struct warp_func;

struct launch_config {
    const struct warp_func *kernel;
    struct diag_dim3 grid;    /* CTAs */
    struct diag_dim3 block;   /* threads */
    struct diag_dim3 cluster; /* CTAs; {1,1,1} for none; divides grid */
    bool clustered;           /* the kernel or the launch gives a cluster size, which may be one CTA */
    uint32_t dynamic_smem;    /* bytes */
    const void *params;       /* param_bytes, laid out by ptx_param_offset */
    uint64_t param_bytes;
    uint64_t stream; /* for those who watch: its handle, and whether the grid may begin before the one before it ends */
    bool early;
};

/* Runs a grid to its end. 0, or the cuda_error of its fault (already reported). Configuration errors that the driver
 * answers (sizes, limits) are the shim's to check first; this function treats them as broken invariants. */
int launch_run(struct gpu *gpu, const struct launch_config *launch);
/* How many clusters of this launch shape can be resident at once (cudaOccupancyMaxActiveClusters). */
uint32_t launch_max_resident_clusters(const struct gpu *gpu, const struct launch_config *launch);

#endif
