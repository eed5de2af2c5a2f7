/* deadlock/deadlock.h - the report of a launch that ends before its kernel does: the cause, and where every warp is. */
#ifndef DEADLOCK_DEADLOCK_H
#define DEADLOCK_DEADLOCK_H

#include "machine/machine.h"

/* A launch between two rounds. */
struct deadlock_scene {
    struct gpu *gpu;
    struct cluster **clusters; /* the resident ones, by number */
    uint32_t num_clusters;
    uint64_t unstarted;    /* CTAs of the grid that are not resident yet */
    struct island *island; /* reports where no warp is left */
};

/* Nothing can go on. */
void deadlock_report(const struct deadlock_scene *at);
/* The launch has taken as many instructions as --watchdog allows. */
void deadlock_report_watchdog(const struct deadlock_scene *at);
/* It has taken as long as --timeout allows, or the process as much memory as --memory does (gpu->late). */
void deadlock_report_late(const struct deadlock_scene *at);

#endif
