/* clock/graph.h - which events of a cluster wait for which.
 *
 * Edges go from an event to a later one of the same cluster's log. Order edges are those of a thread's program: what
 * its warp ran in between is issued behind them. The others say what an event waits for beside that, and how long that
 * takes to come through.
 */
#ifndef CLOCK_GRAPH_H
#define CLOCK_GRAPH_H

#include "clock/table.h"
#include "trace/log.h"

struct clock_edge {
    uint32_t to;
    float lag;
    bool order;
};

struct clock_graph {
    struct clock_edge *edges; /* event e's are those from first[e] to first[e + 1] */
    uint32_t *first;
    uint32_t *pending; /* by event: how many it waits for */
    uint32_t *decides; /* of a test answered "no": the event of the phase that it asked for + 1, of a read of the
                          answer's; 0: none came */
};

/* What an event is to the clock. */
static inline bool clock_by_op(const struct trace_event *e) {
    return e->op && !(e->class == TRACE_OP && e->kind == OP_ISSUED);
}
static inline bool clock_is_phase(const struct trace_event *e) {
    return e->class == TRACE_SYNC &&
           (e->kind == SYNC_MBAR_PHASE || e->kind == SYNC_BAR_PHASE || e->kind == SYNC_CLUSTER_PHASE);
}
static inline bool clock_is_test(const struct trace_event *e, bool yes) {
    return e->class == TRACE_SYNC && e->kind == SYNC_MBAR_TEST && (e->count != 0) == yes;
}
/* Of threads, in the order of their program. */
static inline bool clock_in_program(const struct trace_log *log, const struct trace_cluster *c,
                                    const struct trace_event *e) {
    (void)log;
    if (e->warp == TRACE_NO_WARP || clock_by_op(e) || clock_is_phase(e))
        return false;
    return !(e->class == TRACE_OP && c->ops[e->op - 1].follows);
}

void clock_graph_make(struct clock_graph *g, const struct trace_log *log, const struct trace_cluster *c,
                      const struct clock_table *costs);
void clock_graph_free(struct clock_graph *g);

#endif
