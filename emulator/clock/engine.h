/* clock/engine.h - what the operations and the instructions of a cluster cost, for both drivers of the model: replay
 * (clock/replay.c) and execution (clock/online.c).
 */
#ifndef CLOCK_ENGINE_H
#define CLOCK_ENGINE_H

#include "clock/model.h"
#include "trace/log.h"

#define CLOCK_RANKS 16u
#define CLOCK_WARPS 64u
#define CLOCK_STORES_AHEAD 64.0 /* cycles that an SM's stores may still take when their warp goes on */

/* A cluster on its SMs: when what its warps wait for is there. */
struct clock_place {
    uint32_t sm[CLOCK_RANKS];
    double umma[CLOCK_RANKS]; /* the latest completion of an UMMA or a copy to tensor memory, */
    double *loads, *copies;   /*  of a thread's reads, and of cp.async: by clock_warp */
};
static inline uint32_t clock_warp(uint32_t rank, uint32_t warp) {
    return rank % CLOCK_RANKS * CLOCK_WARPS + warp % CLOCK_WARPS;
}
void clock_place_init(struct clock_place *p, const uint32_t sm[CLOCK_RANKS]);
void clock_place_free(struct clock_place *p);

struct clock_start {
    double at, done; /* its engine takes it up, and it is complete */
    double there;    /* of a load: L2 has sent it */
};
/* An operation of this name is issued at `at`. `leader`: `there` of the operation of the same instruction that has
 * asked for the same bytes, or NULL. */
struct clock_start clock_start(struct clock_model *m, struct clock_place *p, const struct trace_op *op,
                               const char *name, double at, const double *leader);

/* From the issue of an instruction to that of the next that needs it. */
double clock_class_cycles(const struct clock_table *t, enum trace_run class);

#endif
