/* clock/graph.h - which events of a cluster wait for which.
 *
 * An edge goes from an event to a later one of the same cluster's log. Order edges follow a thread's program: the
 * instructions between two events of its warp are issued after the first. The other edges say what else an event waits
 * for, and how many cycles that takes to arrive.
 */
#ifndef CLOCK_GRAPH_H
#define CLOCK_GRAPH_H

#include "clock/table.h"
#include "trace/log.h"

struct clock_edge {
    uint32_t to; /* the later event */
    float lag;   /* cycles */
    bool order;  /* an order edge */
};

struct clock_graph {
    struct clock_edge *edges; /* those of event e are first[e] to first[e + 1] - 1 */
    uint32_t *first;
    uint32_t *pending; /* by event: number of events for which it waits */
    /* by event: for a test with the answer "no" the event of the phase that it asked for, + 1; for a read of an answer
     * of clusterlaunchcontrol the event that brought it; 0: none came */
    uint32_t *decides;
};

/* The kinds of events for the clock. */
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
/* Is it an event of threads, in program order? */
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
