/* launch/launch.h - runs a grid from its first cluster to its last; the shim calls it. */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "machine/machine.h"

struct warp_func;

struct launch_config {
    const struct warp_func *kernel;
    struct diag_dim3 grid;    /* CTAs */
    struct diag_dim3 block;   /* threads */
    struct diag_dim3 cluster; /* CTAs; {1,1,1} for none; divides grid */
    bool clustered;           /* the kernel or the launch names a cluster size, perhaps one CTA */
    uint32_t dynamic_smem;    /* bytes */
    const void *params;       /* param_bytes, laid out by ptx_param_offset */
    uint64_t param_bytes;
    uint64_t stream; /* its handle */
    bool early;      /* programmatic stream serialisation: it may begin before the grid before it ends */
    bool may_stay;   /* it may still run when launch_start returns */
    /* NULL, or called at its end, while gpu->clock and gpu->steps are its own; `took`: nanoseconds of its run */
    void (*ended)(void *ctx, uint64_t took);
    void *ended_ctx;
};

/* Runs a grid to its end. Returns 0, or the cuda_error of its fault, which is already reported. The shim checks
 * configuration errors that the driver answers (sizes, limits) before; here they are broken invariants. */
int launch_run(struct gpu *gpu, const struct launch_config *launch);
/* The same. But under MACH_SCHED_RANDOM a launch with may_stay may be left running, and a launch that joins running
 * ones overlaps with them; otherwise those are finished first. Returns 0, or the first fault of any of them.
 * launch/together.c */
int launch_start(struct gpu *gpu, const struct launch_config *launch);
bool launch_joins(const struct gpu *gpu, const struct launch_config *launch);
/* Runs all running launches to their end. */
int launch_finish(struct gpu *gpu);
/* How many clusters of this launch shape can be resident at once (cudaOccupancyMaxActiveClusters). */
uint32_t launch_max_resident_clusters(const struct gpu *gpu, const struct launch_config *launch);

#endif
