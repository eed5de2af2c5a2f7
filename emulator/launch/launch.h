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
    uint64_t stream; /* its handle */
    bool early;      /* programmatic stream serialisation: the grid may begin before the one before it ends */
    bool may_stay;   /* it may be under way when launch_start returns */
    /* NULL, or told when it has ended, while gpu->clock and gpu->steps are its own; it ran for so many nanoseconds */
    void (*ended)(void *ctx, uint64_t took);
    void *ended_ctx;
};

/* Runs a grid to its end. 0, or the cuda_error of its fault (already reported). Configuration errors that the driver
 * answers (sizes, limits) are the shim's to check first; this function treats them as broken invariants. */
int launch_run(struct gpu *gpu, const struct launch_config *launch);
/* The same, but under MACH_SCHED_RANDOM a launch of may_stay may be left under way, and one that joins those under way
 * overlaps with them; else they are finished first. 0, or the first fault of any of them. launch/together.c */
int launch_start(struct gpu *gpu, const struct launch_config *launch);
bool launch_joins(const struct gpu *gpu, const struct launch_config *launch);
/* Runs all that is under way to its end. */
int launch_finish(struct gpu *gpu);
/* How many clusters of this launch shape can be resident at once (cudaOccupancyMaxActiveClusters). */
uint32_t launch_max_resident_clusters(const struct gpu *gpu, const struct launch_config *launch);

#endif
