/* clock/graph.c - contract in clock/graph.h. One pass over the events in the order of the log, where an event comes
 * after everything that it waits for. */
#include "clock/graph.h"

#include "base/heap.h"

#include <string.h>

#define MAX_WARPS 64u
#define GROUPS 64u /* limit of distinct async-groups of a warp */

/* The state of the pass for a warp. All are numbers of events + 1. */
struct warp_state {
    uint32_t last[32];          /* by lane: its latest event in program order */
    uint32_t loads, stores;     /* tcgen05.ld and .st since the last wait: the latest operation + 1 of a list */
    uint32_t bulk_open, open;   /* operations not yet in a group: bulk, cp.async */
    uint32_t groups[2][GROUPS]; /* lists of committed groups, the latest at [num - 1] */
    uint32_t num_groups[2];
};
/* An edge with its first event, before they are sorted. */
struct raw_edge {
    uint32_t from;
    struct clock_edge edge;
};
struct pass {
    const struct trace_log *log;
    const struct trace_cluster *c;
    const struct clock_table *costs;
    struct clock_graph *g;
    struct raw_edge *raw;
    uint32_t num, cap;
    struct warp_state *warps; /* rank * MAX_WARPS + warp */
    uint32_t *contributes;    /* by object: latest event of the current phase, + 1 */
    uint32_t *before;         /* by event: the one before in that list */
    uint32_t *phase;          /* by object: its latest phase + 1 */
    uint32_t *asked;          /* by object: latest test since then with the answer "no", + 1; by event in `before` */
    uint32_t *op_next;        /* by operation: the next in its list of loads, stores or a group */
    uint32_t start[16];       /* by rank: LIFE_CTA_START + 1 */
    uint32_t begin;           /* LIFE_CLUSTER_START + 1 */
};

/* Adds an edge from event `from` - 1, if there is one. */
static void edge(struct pass *p, uint32_t from, uint32_t to, double lag, bool order) {
    if (!from || from - 1 >= to)
        return;
    p->raw = xgrow(p->raw, p->num, &p->cap, sizeof *p->raw);
    p->raw[p->num++] = (struct raw_edge){from - 1, {to, (float)lag, order}};
    p->g->pending[to]++;
}

static struct warp_state *warp_of(struct pass *p, uint32_t rank, uint32_t warp) {
    return &p->warps[(size_t)(rank % 16) * MAX_WARPS + warp % MAX_WARPS];
}

/* Orders the event after the last events of its lanes. Events of other lanes are on another path through the program.
 */
static void after_own(struct pass *p, uint32_t i, const struct trace_event *e) {
    struct warp_state *w = warp_of(p, e->rank, e->warp);
    const uint32_t lanes = e->lanes ? e->lanes : ~0u;
    uint32_t told = 0;
    for (uint32_t l = 0; l < 32; l++) {
        if (!(lanes >> l & 1))
            continue;
        if (w->last[l] && w->last[l] != told) /* lanes that run together have the same last event */
            edge(p, told = w->last[l], i, 0, true);
        if (!w->last[l] && !told) {
            const uint32_t start = p->start[e->rank % 16] ? p->start[e->rank % 16] : p->begin;
            edge(p, start, i, 0, true);
            told = start;
        }
        w->last[l] = i + 1;
    }
}

static void contribute(struct pass *p, uint32_t i, uint32_t object) {
    p->before[i] = p->contributes[object - 1];
    p->contributes[object - 1] = i + 1;
}

/* Cycles until an arrival takes effect. */
static double arrival(const struct pass *p, const struct trace_event *e) {
    if (clock_by_op(e))
        return 0;
    if (e->kind == SYNC_BAR_ARRIVE)
        return p->costs->barrier;
    if (e->kind == SYNC_CLUSTER_ARRIVE)
        return p->costs->cluster_barrier;
    return p->c->objects[e->object - 1].rank == e->rank ? p->costs->arrive : p->costs->arrive_remote;
}

static void phase(struct pass *p, uint32_t i, const struct trace_event *e) {
    const uint32_t object = e->object - 1;
    for (uint32_t n = p->contributes[object]; n; n = p->before[n - 1])
        edge(p, n, i, arrival(p, &p->c->events[n - 1]), false);
    edge(p, p->phase[object], i, 0, false);
    p->contributes[object] = 0;
    p->phase[object] = i + 1;
    for (uint32_t n = p->asked[object]; n; n = p->before[n - 1])
        p->g->decides[n - 1] = i + 1;
    p->asked[object] = 0;
}

/* --- lists of operations ------------------------------------------------------------------------------------------ */

static void push(struct pass *p, uint32_t *list, uint32_t op) {
    p->op_next[op - 1] = *list;
    *list = op;
}

static void after_list(struct pass *p, uint32_t i, uint32_t *list) {
    for (uint32_t op = *list; op; op = p->op_next[op - 1])
        edge(p, p->c->ops[op - 1].completed, i, 0, false);
    *list = 0;
}

static void group_commit(struct pass *p, const struct trace_event *e) {
    struct warp_state *w = warp_of(p, e->rank, e->warp);
    const uint32_t bulk = e->what & 1;
    uint32_t *open = bulk ? &w->bulk_open : &w->open;
    if (w->num_groups[bulk] == GROUPS) {
        memmove(w->groups[bulk], w->groups[bulk] + 1, (GROUPS - 1) * sizeof(uint32_t));
        w->num_groups[bulk]--;
    }
    w->groups[bulk][w->num_groups[bulk]++] = *open;
    *open = 0;
}

/* wait_group: orders the event after all but the latest groups. With .read only after the reads of their sources, so
 * not after the second halves of stores. */
static void group_wait(struct pass *p, uint32_t i, const struct trace_event *e) {
    struct warp_state *w = warp_of(p, e->rank, e->warp);
    const uint32_t bulk = e->what & 1, stay = e->what >> 2;
    for (uint32_t n = 0; n + stay < w->num_groups[bulk]; n++)
        for (uint32_t op = w->groups[bulk][n]; op; op = p->op_next[op - 1])
            if (!(e->what & 2 && p->c->ops[op - 1].follows))
                edge(p, p->c->ops[op - 1].completed, i, p->costs->wake, false);
}

static void issued(struct pass *p, uint32_t i, const struct trace_event *e) {
    const struct trace_op *op = &p->c->ops[e->op - 1];
    struct warp_state *w = warp_of(p, op->rank, op->warp);
    if (op->issued != i + 1) /* each operation is in one list, once */
        return;
    if (op->follows) { /* the second half of a store belongs to the group of the first */
        edge(p, p->c->ops[op->follows - 1].started, i, 0, false);
        for (uint32_t bulk = 0; bulk < 2; bulk++)
            for (uint32_t n = 0; n < w->num_groups[bulk]; n++)
                for (uint32_t o = w->groups[bulk][n]; o; o = p->op_next[o - 1])
                    if (o == op->follows) {
                        push(p, &w->groups[bulk][n], e->op);
                        return;
                    }
        push(p, &w->bulk_open, e->op);
    } else if (op->agent == AGENT_TENSOR_LDST)
        push(p, op->to ? &w->stores : &w->loads, e->op);
    else if (op->agent == AGENT_CP_ASYNC)
        push(p, &w->open, e->op);
    else if ((op->agent == AGENT_TMA || op->agent == AGENT_BULK) && !op->signals)
        push(p, &w->bulk_open, e->op);
}

static void operation(struct pass *p, uint32_t i, const struct trace_event *e) {
    const struct trace_op *op = &p->c->ops[e->op - 1];
    if (e->kind == OP_ISSUED)
        issued(p, i, e);
    else if (e->kind == OP_STARTED) {
        edge(p, op->issued, i, 0, false);
        if (op->leader && op->leader != e->op)
            edge(p, p->c->ops[op->leader - 1].started, i, 0, false);
        if (op->follows)
            edge(p, p->c->ops[op->follows - 1].completed, i, 0, false);
    } else
        edge(p, op->started, i, 0, false);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void sync(struct pass *p, uint32_t i, const struct trace_event *e) {
    struct warp_state *w = e->warp == TRACE_NO_WARP ? NULL : warp_of(p, e->rank, e->warp);
    switch (e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
    case SYNC_MBAR_EXPECT_TX:
    case SYNC_MBAR_COMPLETE_TX:
    case SYNC_MBAR_PENDING:
    case SYNC_BAR_ARRIVE:
    case SYNC_CLUSTER_ARRIVE:
        if (e->object)
            contribute(p, i, e->object);
        break;
    case SYNC_MBAR_TEST:
        if (e->count)
            edge(p, e->cluster ? 0 : e->cause, i, p->costs->wake, false);
        else if (e->object) {
            p->before[i] = p->asked[e->object - 1];
            p->asked[e->object - 1] = i + 1;
        }
        break;
    case SYNC_BAR_PASS:
    case SYNC_CLUSTER_PASS:
    case SYNC_TCGEN05_USE:
        edge(p, e->cluster ? 0 : e->cause, i, 0, false);
        break;
    case SYNC_GROUP_COMMIT:
        if (w)
            group_commit(p, e);
        break;
    case SYNC_GROUP_WAIT:
        if (w)
            group_wait(p, i, e);
        break;
    case SYNC_TCGEN05_WAIT_LD:
    case SYNC_TCGEN05_WAIT_ST:
        if (w)
            after_list(p, i, e->kind == SYNC_TCGEN05_WAIT_LD ? &w->loads : &w->stores);
        break;
    default:
        break;
    }
}

/* Orders the end of a wait after its cause. */
static void wait(struct pass *p, uint32_t i, const struct trace_event *e) {
    if (e->kind == WAIT_MET && !e->cluster && e->cause && e->cause - 1 < i) {
        const struct trace_event *cause = &p->c->events[e->cause - 1];
        const bool mbarrier = cause->class == TRACE_SYNC && cause->kind == SYNC_MBAR_PHASE;
        edge(p, e->cause, i, mbarrier ? p->costs->wake : 0, false);
    }
}

/* Orders the end of a CTA or cluster after everything that was done in it. */
static void life(struct pass *p, uint32_t i, const struct trace_event *e) {
    if (e->kind == LIFE_CLUSTER_START)
        p->begin = i + 1;
    else if (e->kind == LIFE_CTA_START)
        p->start[e->rank % 16] = i + 1;
    else if (e->kind == LIFE_CTA_EXIT || e->kind == LIFE_CTA_END || e->kind == LIFE_CLUSTER_END) {
        for (uint32_t r = 0; r < 16; r++)
            for (uint32_t w = 0; w < MAX_WARPS && (e->kind == LIFE_CLUSTER_END || r == e->rank); w++)
                for (uint32_t l = 0, told = 0; l < 32; l++) {
                    const uint32_t last = warp_of(p, r, w)->last[l];
                    if (last && last != told)
                        edge(p, told = last, i, 0, false);
                }
        for (uint32_t o = 0; e->kind == LIFE_CLUSTER_END && o < p->c->num_ops; o++)
            edge(p, p->c->ops[o].completed, i, 0, false);
    }
}

static void one(struct pass *p, uint32_t i) {
    const struct trace_event *e = &p->c->events[i];
    if (clock_is_phase(e)) {
        if (e->object)
            phase(p, i, e);
        return;
    }
    if (clock_by_op(e) && e->class != TRACE_OP)
        edge(p, p->c->ops[e->op - 1].started, i, 0, false);
    if (clock_in_program(p->log, p->c, e))
        after_own(p, i, e);
    if (e->class == TRACE_OP)
        operation(p, i, e);
    else if (e->class == TRACE_SYNC)
        sync(p, i, e);
    else if (e->class == TRACE_WAIT)
        wait(p, i, e);
    else if (e->class == TRACE_LIFE)
        life(p, i, e);
}

/* Sorts the edges by their first event. */
static void sort_edges(struct pass *p) {
    struct clock_graph *g = p->g;
    const uint32_t n = p->c->num_events;
    g->first = xcalloc((size_t)n + 2, sizeof *g->first);
    g->edges = xcalloc((size_t)p->num + 1, sizeof *g->edges);
    for (uint32_t i = 0; i < p->num; i++)
        g->first[p->raw[i].from + 2]++;
    for (uint32_t i = 2; i <= n + 1; i++)
        g->first[i] += g->first[i - 1];
    for (uint32_t i = 0; i < p->num; i++)
        g->edges[g->first[p->raw[i].from + 1]++] = p->raw[i].edge;
}

void clock_graph_make(struct clock_graph *g, const struct trace_log *log, const struct trace_cluster *c,
                      const struct clock_table *costs) {
    const uint32_t n = c->num_events, objects = c->num_objects;
    *g = (struct clock_graph){0};
    g->pending = xcalloc((size_t)n + 1, sizeof *g->pending);
    g->decides = xcalloc((size_t)n + 1, sizeof *g->decides);
    struct pass p = {.log = log, .c = c, .costs = costs, .g = g};
    p.warps = xcalloc((size_t)16 * MAX_WARPS, sizeof *p.warps);
    p.contributes = xcalloc((size_t)3 * objects + 1, sizeof *p.contributes);
    p.phase = p.contributes + objects;
    p.asked = p.phase + objects;
    p.before = xcalloc((size_t)n + 1, sizeof *p.before);
    p.op_next = xcalloc((size_t)c->num_ops + 1, sizeof *p.op_next);
    for (uint32_t i = 0; i < n; i++)
        one(&p, i);
    sort_edges(&p);
    xfree(p.raw);
    xfree(p.warps);
    xfree(p.contributes);
    xfree(p.before);
    xfree(p.op_next);
}

void clock_graph_free(struct clock_graph *g) {
    xfree(g->edges);
    xfree(g->first);
    xfree(g->pending);
    xfree(g->decides);
    *g = (struct clock_graph){0};
}
