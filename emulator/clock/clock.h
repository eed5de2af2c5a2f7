/* clock/clock.h - when each event of a log takes place on a B200, in cycles of an SM from the launch on.
 *
 * The model (clock/model.h) is a set of agents, each with what it has to do next and since when it is free: warps'
 * issue slots, the TMA, the tensor core, L2, HBM. They take their costs from one table (clock/table.def) and are asked
 * in the order of time. Two drivers ask them:
 *
 * - Replay, here. A log (trace/log.h) says which event depends on which. A phase is complete with the last of its
 *   arrivals and bytes *on the clock*, whichever came last in the emulator; then threads that waited for it go on. The
 *   operations of a queue run in the order of their issue on the clock. What a program did is not changed: if it would
 *   have done something else at these times, `doubts` counts it.
 *
 * - Execution itself, --schedule=model (clock/online.h). The scheduler asks the same agents and runs what is earliest,
 *   so the program does what it does at these times. For this the agents know nothing of logs: struct clock_model takes
 *   SMs, shapes, addresses and times, no events.
 */
#ifndef CLOCK_CLOCK_H
#define CLOCK_CLOCK_H

#include "clock/load.h"
#include "clock/table.h"
#include "trace/log.h"

/* The times of a cluster's events. */
struct clock_cluster {
    double *cycle; /* by event */
    /* by event: the last event of the same cluster for which it waited, as its number + 1; 0: none */
    uint32_t *cause;
};

/* The points in which the replay may be wrong. */
struct clock_doubts {
    uint64_t answers; /* answers of test_wait and try_wait that differ by the clock */
    uint64_t timed;   /* instructions whose result depends on time: clocks read, work taken by atomics */
    uint64_t clc;     /* answers of clusterlaunchcontrol.try_cancel, which depend on who asks first */
};

/* How much the engines and memories worked. */
struct clock_busy {
    double tensor;      /* busy cycles of the tensor cores, summed over all SMs */
    double tma, hbm;    /* the same for the TMAs; for HBM */
    uint64_t l2_bytes;  /* bytes requested from L2, */
    uint64_t hbm_bytes; /* and bytes to or from HBM */
};

struct clock_result {
    struct clock_cluster *clusters; /* as the log's */
    uint32_t num_clusters;
    double cycles;  /* from the end of the launch before it to its own end */
    uint32_t fault; /* the log's: the launch ended there in an error; 0: none */
    uint32_t sms;   /* number that took part */
    struct clock_doubts doubts;
    struct clock_busy busy;
    struct clock_load load;
};

struct clock_options {
    uint32_t launches; /* replays of the log in a row, of which the last counts; the contents of L2 stay. 0: 1 */
    bool cycles_alone; /* no clusters in the result */
};

/* Replays a log. False, with a sentence in `why`, if the log is cut off or of another version. A log that ends in a
 * fault is replayed up to it. `options` may be NULL. */
bool clock_replay_with(const struct trace_log *log, const struct clock_table *table,
                       const struct clock_options *options, struct clock_result *r, char *why, size_t size);
bool clock_replay(const struct trace_log *log, const struct clock_table *table, struct clock_result *r, char *why,
                  size_t size);
void clock_result_free(struct clock_result *r, const struct trace_log *log);

/* "12 answers would differ; use --schedule=model", or "" if there is no doubt. */
void clock_doubts_text(const struct clock_doubts *doubts, char *text, size_t size);

#endif
