/* clock/engine.h - the costs of a cluster's operations and instructions, for both drivers of the model: replay
 * (clock/replay.c) and execution (clock/online.c).
 */
#ifndef CLOCK_ENGINE_H
#define CLOCK_ENGINE_H

#include "clock/model.h"
#include "trace/log.h"

#define CLOCK_RANKS 16u
#define CLOCK_WARPS 64u
#define CLOCK_STORES_AHEAD 64.0 /* cycles of an SM's stores that may be pending when their warp goes on */

/* A cluster on its SMs, until it ends: in which cycle each thing for which its warps wait is complete. */
struct clock_place {
    uint32_t sm[CLOCK_RANKS];
    double umma[CLOCK_RANKS]; /* the latest completion of an UMMA or a copy to tensor memory, */
    /* by clock_warp: of a warp's loads, of its cp.async; and when its stores are known to be in L2 */
    double *loads, *copies, *stores;
};
static inline uint32_t clock_warp(uint32_t rank, uint32_t warp) {
    return rank % CLOCK_RANKS * CLOCK_WARPS + warp % CLOCK_WARPS;
}
/* Does an instruction with this text wait for its warp's stores to global memory? A release at the scope of a cluster
 * or wider does: an arrival at its barrier, if it is not relaxed (9.7.13.3), and a fence (9.7.13.4). */
bool clock_releases(const char *text);
void clock_place_init(struct clock_place *p, const uint32_t sm[CLOCK_RANKS]);
void clock_place_free(struct clock_place *p);

struct clock_start {
    double at, done; /* when its engine starts it, and when it is complete */
    double there;    /* for a load: when L2 has sent it */
};
/* Issues an operation of this name at cycle `at`. `leader`: if another operation of the same instruction has asked for
 * the same bytes (a multicast), its `there`; otherwise NULL. */
struct clock_start clock_start(struct clock_model *m, struct clock_place *p, const struct trace_op *op,
                               const char *name, double at, const double *leader);

/* Cycles from the issue of an instruction to that of the next one that needs its result. */
double clock_class_cycles(const struct clock_table *t, enum trace_run class);

#endif
