/* clock/replay.c - replays the events of a log in the order of the clock.
 *
 * An event is due when everything that it waits for (clock/graph.h) has taken place. Of the due events of all clusters
 * the earliest is next. It asks the agents (clock/model.h) for what it needs, and then its time is known. Clusters that
 * were not resident at first start on the SMs of a cluster that has ended.
 */
#include "clock/clock.h"

#include "base/heap.h"
#include "clock/engine.h"
#include "clock/graph.h"
#include "clock/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A cluster on its SMs, until it ends. Arrays by event, by operation, by rank, or by rank and warp. */
struct live {
    const struct trace_cluster *c;
    struct clock_graph graph;
    double begin, end;
    double *order, *other; /* when the program has reached the event; when everything else that it waits for is there */
    double
        *issued; /* for threads: when the instruction was issued, 0: not yet; for a load that has taken place: when its
                       data come */
    uint32_t *order_by, *other_by; /* events + 1 */
    double *cycle;
    uint32_t *cause;
    double *done, *there; /* operations: when complete; for a load, when L2 has sent it */
    struct clock_place place;
    uint32_t left;
};
/* An event that can take place. */
struct due {
    double at; /* cycle */
    uint32_t cluster, event;
};
/* The replay of a launch. */
struct replay {
    const struct trace_log *log;
    const struct clock_table *costs;
    struct clock_model *model;
    struct clock_result *r;
    struct live *live; /* by cluster */
    struct due *heap;
    uint32_t num_due, cap_due;
    uint32_t next; /* cluster to start */
    double end;
};

/* --- what is due -------------------------------------------------------------------------------------------------- */

static bool sooner(const struct due *a, const struct due *b) {
    if (a->at != b->at)
        return a->at < b->at;
    return a->cluster != b->cluster ? a->cluster < b->cluster : a->event < b->event;
}

static void push(struct replay *r, struct due d) {
    r->heap = xgrow(r->heap, r->num_due, &r->cap_due, sizeof *r->heap);
    uint32_t i = r->num_due++;
    for (; i && sooner(&d, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
        r->heap[i] = r->heap[(i - 1) / 2];
    r->heap[i] = d;
}

static struct due pop(struct replay *r) {
    const struct due first = r->heap[0], last = r->heap[--r->num_due];
    uint32_t i = 0;
    for (uint32_t k = 1; k < r->num_due; k = 2 * i + 1) {
        if (k + 1 < r->num_due && sooner(&r->heap[k + 1], &r->heap[k]))
            k++;
        if (!sooner(&r->heap[k], &last))
            break;
        r->heap[i] = r->heap[k];
        i = k;
    }
    r->heap[i] = last;
    return first;
}

static void push_event(struct replay *r, uint32_t cluster, uint32_t event) {
    const struct live *l = &r->live[cluster];
    push(r, (struct due){fmax(fmax(l->order[event], l->other[event]), l->begin), cluster, event});
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

/* Starts an operation at cycle `at` or later. Returns its start; l->done is its end. */
static double start(struct replay *r, struct live *l, uint32_t number, double at) {
    const struct trace_op *op = &l->c->ops[number - 1];
    const bool copied = op->leader && op->leader != number; /* a multicast asks for the bytes once */
    const struct clock_start s = clock_start(r->model, &l->place, op, trace_string(r->log, op->name), at,
                                             copied ? &l->there[op->leader - 1] : NULL);
    l->there[number - 1] = s.there;
    l->done[number - 1] = s.done;
    r->r->doubts.clc += op->agent == AGENT_CLC;
    return s.at;
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* Is it a "yes" of a test_wait for a phase that is not over by the clock? */
static bool forced_yes(const struct replay *r, const struct live *l, uint32_t i, double asked) {
    const struct trace_event *e = &l->c->events[i];
    if (!clock_is_test(e, true) || l->other[i] <= asked || !e->site ||
        !strstr(trace_string(r->log, r->log->sites[e->site - 1].text), "test_wait"))
        return false;
    if (!l->order_by[i])
        return true;
    const struct trace_event *last = &l->c->events[l->order_by[i] - 1]; /* a loop of polls waits for its answer */
    return !(clock_is_test(last, false) && last->object == e->object);
}

/* The warp issues its instructions since its last event, this event's own last, from cycle `at`. */
static double issue(struct replay *r, const struct live *l, uint32_t i, double at) {
    const struct trace_event *e = &l->c->events[i];
    double slots = 0, cycles = 0;
    for (uint32_t k = 0; k < RUN_KINDS; k++) {
        slots += e->ran[k];
        cycles += e->ran[k] * clock_class_cycles(r->costs, (enum trace_run)k);
    }
    if (clock_is_test(e, false) && e->times > 1) { /* a run of polls: other events show the wait that it stands for */
        slots /= e->times;
        cycles /= e->times;
    }
    return clock_issue(r->model, l->place.sm[e->rank % CLOCK_RANKS], e->warp, at, slots, cycles);
}

/* The lines of an access to global memory. */
static struct clock_access access_of(const struct trace_cluster *c, const struct trace_event *e) {
    struct clock_access a = {.strong = e->what & 1};
    for (uint32_t i = 0; i < e->pending; i++) {
        const struct trace_span *s = &c->spans[e->phase - 1 + i];
        for (uint32_t n = 0; n < s->lanes; n++)
            clock_touch_lane(&a, s->first + (uint64_t)((int64_t)s->step * n), e->count);
    }
    return a;
}

static bool releases(const struct replay *r, const struct trace_event *e) {
    return e->class == TRACE_SYNC && (e->kind == SYNC_CLUSTER_ARRIVE || e->kind == SYNC_FENCE) && e->site &&
           clock_releases(trace_string(r->log, r->log->sites[e->site - 1].text));
}

/* An event of threads with an instruction that was issued at cycle `at`. */
static double thread(struct replay *r, struct live *l, uint32_t i, double at) {
    const struct trace_event *e = &l->c->events[i];
    const uint32_t warp = clock_warp(e->rank, e->warp);
    double *const loads = &l->place.loads[warp], *const stores = &l->place.stores[warp];
    const uint32_t sm = l->place.sm[e->rank % CLOCK_RANKS];
    if (e->class == TRACE_GLOBAL) {
        const struct clock_access a = access_of(l->c, e);
        if (e->kind != EFFECT_WRITE)
            l->issued[i] = *loads = fmax(*loads, clock_thread_read(r->model, sm, at, &a));
        else {
            const double out = clock_thread_write(r->model, sm, at, &a);
            *stores = fmax(*stores, out + r->costs->thread_latency);
            at = fmax(at, out - CLOCK_STORES_AHEAD);
        }
    }
    if (e->class == TRACE_STEP && e->kind == 1)
        r->r->doubts.timed++;
    if (forced_yes(r, l, i, at))
        r->r->doubts.answers++;
    l->cause[i] = l->other[i] > at ? l->other_by[i] : l->order_by[i];
    return fmax(at, l->other[i]);
}

/* The cycle at which an event of threads takes place. False: its next request to the agents comes later, and it is due
 * again then. The agents are asked in the order of time: a warp that waited for a load issues when its data are there,
 * and the next access to global memory goes out when it has been issued. */
static bool in_program(struct replay *r, struct live *l, const struct due *d, double *at) {
    const struct trace_event *e = &l->c->events[d->event];
    const bool global = e->class == TRACE_GLOBAL;
    double *const issued = &l->issued[d->event];
    if (!*issued) {
        double from = fmax(l->order[d->event], l->begin);
        if (e->class == TRACE_SYNC && e->kind == SYNC_FENCE) /* it orders all of them */
            from = fmax(from, l->place.loads[clock_warp(e->rank, e->warp)]);
        else if (e->used)
            from = fmax(from, l->issued[e->used - 1]);
        if (l->place.stores[clock_warp(e->rank, e->warp)] > from && releases(r, e))
            from = l->place.stores[clock_warp(e->rank, e->warp)];
        if (from > d->at) {
            push(r, (struct due){from, d->cluster, d->event});
            return false;
        }
        *issued = issue(r, l, d->event, from);
        if (global && *issued > d->at) {
            push(r, (struct due){*issued, d->cluster, d->event});
            return false;
        }
    }
    *at = thread(r, l, d->event, *issued);
    return true;
}

/* --- clusters ----------------------------------------------------------------------------------------------------- */

static void begin(struct replay *r, uint32_t cluster, double at, const uint32_t *sm) {
    struct live *l = &r->live[cluster];
    const struct trace_cluster *c = l->c = &r->log->clusters[cluster];
    const size_t n = c->num_events + 1u;
    clock_graph_make(&l->graph, r->log, c, r->costs);
    l->begin = l->end = at;
    l->order = xcalloc(3 * n, sizeof *l->order);
    l->other = l->order + n;
    l->issued = l->other + n;
    l->order_by = xcalloc(2 * n, sizeof *l->order_by);
    l->other_by = l->order_by + n;
    l->cycle = xcalloc(n, sizeof *l->cycle);
    l->cause = xcalloc(n, sizeof *l->cause);
    l->done = xcalloc(2 * (c->num_ops + 1u), sizeof *l->done);
    l->there = l->done + c->num_ops;
    clock_place_init(&l->place, sm);
    l->left = c->num_events;
    for (uint32_t i = 0; i < c->num_events; i++)
        if (!l->graph.pending[i])
            push_event(r, cluster, i);
}

/* The number of tests with the answer "no" for which the clock says "yes", if the threads then do something other than
 * ask again. */
static uint64_t forced_no(const struct live *l) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < l->c->num_events; i++) {
        const struct trace_event *e = &l->c->events[i];
        const uint32_t phase = l->graph.decides[i];
        if (!clock_is_test(e, false) || !phase || l->cycle[phase - 1] > l->cycle[i])
            continue;
        bool again = false;
        for (uint32_t k = l->graph.first[i]; k < l->graph.first[i + 1]; k++) {
            const struct trace_event *next = &l->c->events[l->graph.edges[k].to];
            again |= l->graph.edges[k].order && next->object == e->object &&
                     (next->class == TRACE_WAIT || (next->class == TRACE_SYNC && next->kind == SYNC_MBAR_TEST));
        }
        n += !again;
    }
    return n;
}

static void release(struct replay *r, uint32_t cluster) {
    struct live *l = &r->live[cluster];
    r->r->doubts.answers += forced_no(l);
    r->end = fmax(r->end, l->end);
    clock_graph_free(&l->graph);
    xfree(l->order);
    xfree(l->order_by);
    xfree(l->done);
    clock_place_free(&l->place);
    if (r->r->clusters)
        r->r->clusters[cluster] = (struct clock_cluster){l->cycle, l->cause};
    else {
        xfree(l->cycle);
        xfree(l->cause);
    }
}

/* A cluster has ended: its SMs go to the next cluster with any event. */
static void end(struct replay *r, uint32_t cluster) {
    const struct live *l = &r->live[cluster];
    release(r, cluster);
    while (r->next < r->log->num_clusters) {
        const uint32_t next = r->next++;
        begin(r, next, l->end + r->costs->cta_start, l->place.sm);
        if (r->live[next].left)
            return;
        release(r, next);
    }
}

/* If several causes let an event take place at the same time, the first counts; for arrivals at a barrier the last in
 * the emulator's order, because it completes the phase. */
static bool decides(const struct live *l, uint32_t to, double at, uint32_t by) {
    const struct trace_event *e = &l->c->events[to];
    const bool phase = e->class == TRACE_SYNC &&
                       (e->kind == SYNC_MBAR_PHASE || e->kind == SYNC_BAR_PHASE || e->kind == SYNC_CLUSTER_PHASE);
    return at > l->other[to] || (phase && at == l->other[to] && by > l->other_by[to]);
}

/* Passes the time of event i to the events that wait for it. */
static void tell(struct replay *r, uint32_t cluster, uint32_t i) {
    struct live *l = &r->live[cluster];
    for (uint32_t k = l->graph.first[i]; k < l->graph.first[i + 1]; k++) {
        const struct clock_edge *e = &l->graph.edges[k];
        double *since = e->order ? l->order : l->other;
        uint32_t *by = e->order ? l->order_by : l->other_by;
        const double at = l->cycle[i] + e->lag;
        if (!by[e->to] || (e->order ? at > since[e->to] : decides(l, e->to, at, i + 1))) {
            since[e->to] = at;
            by[e->to] = i + 1;
        }
        if (--l->graph.pending[e->to] == 0)
            push_event(r, cluster, e->to);
    }
}

static void take_place(struct replay *r, const struct due *d) {
    struct live *l = &r->live[d->cluster];
    const uint32_t i = d->event;
    const struct trace_event *e = &l->c->events[i];
    if (clock_in_program(r->log, l->c, e)) {
        if (!in_program(r, l, d, &l->cycle[i]))
            return;
    } else {
        l->cycle[i] = d->at;
        if (e->class == TRACE_OP && e->kind == OP_STARTED)
            l->cycle[i] = start(r, l, e->op, d->at);
        else if (clock_by_op(e))
            l->cycle[i] = fmax(d->at, l->done[e->op - 1]);
        l->cause[i] = l->other[i] > l->order[i] || !l->order_by[i] ? l->other_by[i] : l->order_by[i];
    }
    l->end = fmax(l->end, l->cycle[i]);
    tell(r, d->cluster, i);
    if (--l->left == 0)
        end(r, d->cluster);
}

static void launch(struct replay *r) {
    const uint32_t n = r->log->num_clusters, resident = r->log->resident ? r->log->resident : n;
    clock_model_rewind(r->model);
    r->model->single = r->log->cluster.x * r->log->cluster.y * r->log->cluster.z == 1;
    memset(&r->r->doubts, 0, sizeof r->r->doubts);
    r->next = n < resident ? n : resident;
    r->end = r->costs->launch;
    for (uint32_t i = 0, first = r->next; i < first; i++) {
        begin(r, i, r->costs->launch, r->log->clusters[i].sm);
        if (!r->live[i].left)
            end(r, i);
    }
    while (r->num_due) {
        const struct due d = pop(r);
        take_place(r, &d);
    }
    r->r->cycles = r->end;
}

static void sum_busy(const struct clock_model *m, struct clock_result *r) {
    r->load = clock_load_of(m, r->cycles);
    r->busy = (struct clock_busy){.hbm = m->hbm.busy, .l2_bytes = m->l2_bytes, .hbm_bytes = m->hbm_bytes};
    for (uint32_t i = 0; i < CLOCK_MAX_SMS; i++) {
        r->busy.tensor += m->sm[i].tensor.busy;
        r->busy.tma += m->sm[i].tma.busy;
        for (uint32_t k = 0; k < 4; k++)
            if (m->sm[i].issue[k].free > 0) {
                r->sms++;
                break;
            }
    }
}

static bool refuse(const struct trace_log *log, char *why, size_t size) {
    if (log->version != TRACE_VERSION)
        snprintf(why, size, "the log is of version %u, this is %u", log->version, TRACE_VERSION);
    else if (log->cut)
        snprintf(why, size, "the log is cut off: a window was chosen, or there was no more room");
    else {
        for (uint32_t i = 0; i < log->num_clusters && !log->fault; i++)
            if (!log->clusters[i].complete) {
                snprintf(why, size, "cluster %u of the log is cut off", i);
                return true;
            }
        return false;
    }
    return true;
}

bool clock_replay_with(const struct trace_log *log, const struct clock_table *table,
                       const struct clock_options *options, struct clock_result *result, char *why, size_t size) {
    *result = (struct clock_result){.num_clusters = log->num_clusters, .fault = log->fault};
    if (refuse(log, why, size))
        return false;
    struct replay r = {.log = log, .costs = table, .model = clock_model_create(table), .r = result};
    r.live = xcalloc(log->num_clusters + 1u, sizeof *r.live);
    const uint32_t launches = options && options->launches ? options->launches : 1;
    for (uint32_t i = 0; i < launches; i++) {
        if (i + 1 == launches && !(options && options->cycles_alone))
            result->clusters = xcalloc(log->num_clusters + 1u, sizeof *result->clusters);
        memset(r.live, 0, (log->num_clusters + 1u) * sizeof *r.live);
        launch(&r);
    }
    sum_busy(r.model, result);
    clock_model_free(r.model);
    xfree(r.live);
    xfree(r.heap);
    return true;
}

bool clock_replay(const struct trace_log *log, const struct clock_table *table, struct clock_result *r, char *why,
                  size_t size) {
    return clock_replay_with(log, table, NULL, r, why, size);
}

void clock_result_free(struct clock_result *r, const struct trace_log *log) {
    for (uint32_t i = 0; r->clusters && i < log->num_clusters; i++) {
        xfree(r->clusters[i].cycle);
        xfree(r->clusters[i].cause);
    }
    xfree(r->clusters);
    r->clusters = NULL;
}

void clock_doubts_text(const struct clock_doubts *d, char *text, size_t size) {
    size_t n = 0;
    const struct {
        uint64_t count;
        const char *one, *many;
    } of[] = {
        {d->answers, "answer of a barrier would differ", "answers of barriers would differ"},
        {d->timed, "result depends on time", "results depend on time"},
        {d->clc, "answer of try_cancel depends on who asks first", "answers of try_cancel depend on who asks first"},
    };
    snprintf(text, size, "%s", "");
    for (size_t i = 0; i < sizeof of / sizeof of[0] && n < size; i++)
        if (of[i].count)
            n += (size_t)snprintf(text + n, size - n, "%s%llu %s", n ? ", " : "", (unsigned long long)of[i].count,
                                  of[i].count == 1 ? of[i].one : of[i].many);
    if (n && n < size)
        snprintf(text + n, size - n, "; use --schedule=model");
}
