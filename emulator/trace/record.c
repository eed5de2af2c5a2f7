/* trace/record.c - the listener that makes logs: turns events into what build.h keeps; contract in record.h. */
#include "trace/record.h"

#include "base/heap.h"
#include "trace/build.h"
#include "trace/describe.h"

/* --- events ------------------------------------------------------------------------------------------------------- */

static struct cluster_track *track_of(const struct listener *self, const struct cta *cta) {
    return cta ? *event_watch(self, &cta->cluster->cta[0]) : NULL;
}

static struct warp_track *warp_of(struct cluster_track *t, const struct event_by *by) {
    return &t->ctas[by->cta->rank].warps[by->warp < t->warps_each ? by->warp : 0];
}

static uint32_t op_number(const struct listener *self, const struct async_op *op) {
    return op ? (uint32_t)(uintptr_t)*event_op_watch(self, op) : 0;
}

/* The common part of an event: its maker and, for acts of operations, their start as the cause. */
static struct trace_event event_of(const struct listener *self, struct cluster_track *t, const struct event_by *by,
                                   enum trace_class class, uint32_t kind) {
    const uint32_t op = op_number(self, by->op);
    return (struct trace_event){
        .class = (uint8_t) class,
        .kind = (uint8_t)kind,
        .rank = (uint8_t)by->cta->rank,
        .warp = by->lanes ? (uint8_t)by->warp : TRACE_NO_WARP,
        .lanes = by->lanes,
        .site = track_site(t, by->site),
        .op = op,
        .cause = op ? t->out.ops[op - 1].started : 0,
        .times = 1,
    };
}

/* Appends an event. An act of threads takes along the warp's steps since its last event. */
static uint32_t put(struct cluster_track *t, const struct event_by *by, struct trace_event *e) {
    struct warp_track *w = !by->op && by->lanes ? warp_of(t, by) : NULL;
    for (unsigned k = 0; w && k < RUN_KINDS; k++) {
        e->ran[k] = (uint16_t)w->ran[k];
        w->ran[k] = 0;
    }
    if (w) {
        e->used = w->used;
        w->used = 0;
    }
    const uint32_t number = track_append(t, e);
    if (w)
        w->last = number;
    return number;
}

/* --- mbarriers ---------------------------------------------------------------------------------------------------- */

static struct mbar_track *mbar_at(struct cluster_track *t, const struct cta *owner, uint32_t off) {
    struct cta_track *c = &t->ctas[owner->rank];
    const uint32_t n = off < owner->smem_end ? c->mbar_at[off / 8] : 0;
    return n ? &c->mbars[n - 1] : NULL;
}

/* Begins a new object at this place. */
static struct mbar_track *mbar_begin(struct cluster_track *t, const struct cta *owner, const struct event_life *e,
                                     uint32_t site) {
    struct cta_track *c = &t->ctas[owner->rank];
    c->mbars = xgrow(c->mbars, c->num_mbars, &c->cap_mbars, sizeof *c->mbars);
    struct mbar_track *m = &c->mbars[c->num_mbars++];
    *m = (struct mbar_track){
        .object = track_object(
            t,
            &(struct trace_object){
                .kind = OBJECT_MBARRIER, .rank = owner->rank, .at = e->off, .count = e->count, .site = site},
            "mbarrier")};
    c->mbar_at[e->off / 8] = c->num_mbars;
    return m;
}

static void mbar_phase(struct mbar_track *m, uint32_t phase, uint32_t event) {
    while (m->num_phases <= phase) {
        m->phases = xgrow(m->phases, m->num_phases, &m->cap_phases, sizeof *m->phases);
        m->phases[m->num_phases++] = 0;
    }
    m->phases[phase] = event;
}

/* The event that completed the phase before `phase`; before the first phase: mbarrier.init. */
static uint32_t mbar_completed(const struct mbar_track *m, uint64_t phase) {
    return phase == 0 ? m->init : phase <= m->num_phases ? m->phases[phase - 1] : 0;
}

/* Is it one more failed poll of the same kind, with nothing in between? */
static bool fails_again(struct cluster_track *t, struct warp_track *w, const struct trace_event *e) {
    struct trace_event *before = w->last ? &t->out.events[w->last - 1] : NULL;
    if (!before || e->count || before->class != TRACE_SYNC || before->kind != SYNC_MBAR_TEST || before->count ||
        before->site != e->site || before->lanes != e->lanes || before->object != e->object ||
        before->what != e->what || before->times == UINT16_MAX)
        return false;
    before->times++;
    before->phase = e->phase;
    before->pending = e->pending;
    before->tx = e->tx;
    return true;
}

static void on_test(struct cluster_track *t, const struct event_sync *s, const struct mbar_track *m,
                    struct trace_event *e) {
    struct warp_track *w = warp_of(t, &s->by);
    e->count = (uint32_t)__builtin_popcount(s->done);
    e->what = (uint16_t)s->parity;
    e->cause = s->done && m ? mbar_completed(m, s->phase) : 0;
    if (fails_again(t, w, e))
        return;
    const uint32_t number = put(t, &s->by, e);
    if (s->done)
        w->test = number;
}

static void on_mbarrier(const struct listener *self, struct cluster_track *t, const struct event_sync *s) {
    struct mbar_track *m = mbar_at(t, s->owner, s->off);
    struct trace_event e = event_of(self, t, &s->by, TRACE_SYNC, s->kind);
    e.object = m ? m->object : 0;
    e.phase = (uint32_t)s->phase;
    e.count = s->count;
    e.pending = s->pending;
    e.tx = s->tx;
    e.value = s->bytes;
    if (s->kind == SYNC_MBAR_TEST) {
        on_test(t, s, m, &e);
        return;
    }
    if (s->kind == SYNC_MBAR_PHASE && m)
        e.cause = m->changed;
    const uint32_t number = put(t, &s->by, &e);
    if (!m)
        return;
    if (s->kind == SYNC_MBAR_PHASE)
        mbar_phase(m, e.phase, number);
    else
        m->changed = number;
}

/* --- barriers of CTA and cluster ---------------------------------------------------------------------------------- */

static void on_barrier(struct cluster_track *t, const struct event_sync *s, struct trace_event *e) {
    const bool of_cta = s->kind < SYNC_CLUSTER_ARRIVE;
    struct barrier_track *b = of_cta ? &t->ctas[s->owner->rank].bar[s->number % MACH_BARRIERS] : &t->barrier;
    if (!b->object)
        b->object = track_object(t,
                                 &(struct trace_object){.kind = of_cta ? OBJECT_BARRIER : OBJECT_CLUSTER_BARRIER,
                                                        .rank = of_cta ? s->owner->rank : 0,
                                                        .at = of_cta ? s->number : 0,
                                                        .count = s->count},
                                 of_cta ? "barrier" : "cluster barrier");
    e->object = b->object;
    e->phase = (uint32_t)s->phase;
    e->count = s->count;
    const bool passes = s->kind == SYNC_BAR_PASS || s->kind == SYNC_CLUSTER_PASS;
    const bool over = s->kind == SYNC_BAR_PHASE || s->kind == SYNC_CLUSTER_PHASE;
    const uint32_t exit = warp_of(t, &s->by)->exit;
    e->cause = passes ? b->phase : over && s->by.lanes ? b->arrived : over ? exit ?: t->exited : 0;
    const uint32_t number = put(t, &s->by, e);
    if (over)
        b->phase = number;
    else if (!passes)
        b->arrived = number;
}

/* --- other synchronisation ---------------------------------------------------------------------------------------- */

static uint32_t op_by_number(const struct cluster_track *t, uint32_t rank, uint64_t number) {
    const struct cta_track *c = &t->ctas[rank];
    return number && number <= c->num_ops ? c->ops[number - 1] : 0;
}

static void on_other(struct cluster_track *t, const struct event_sync *s, struct trace_event *e) {
    struct warp_track *w = warp_of(t, &s->by);
    e->count = s->count;
    switch (s->kind) {
    case SYNC_FENCE:
        e->what = (uint16_t)s->fence;
        e->value = s->map;
        break;
    case SYNC_GROUP_COMMIT:
    case SYNC_GROUP_WAIT:
        e->what = (uint16_t)((s->bulk ? 1 : 0) | (s->read ? 2 : 0) | s->count << 2);
        e->cause = s->kind == SYNC_GROUP_WAIT ? w->copied : 0;
        break;
    case SYNC_TCGEN05_USE:
        e->value = op_by_number(t, e->rank, s->awaited);
        e->cause = e->value ? t->out.ops[e->value - 1].completed : 0;
        break;
    case SYNC_TCGEN05_WAIT_LD:
    case SYNC_TCGEN05_WAIT_ST:
        e->cause = w->loaded;
        break;
    default:
        break;
    }
    put(t, &s->by, e);
}

static void on_sync(const struct listener *self, const struct event_sync *s) {
    struct cluster_track *t = track_of(self, s->by.cta);
    if (!t || s->kind == SYNC_WARP)
        return;
    if (s->kind <= SYNC_MBAR_TEST) {
        on_mbarrier(self, t, s);
        return;
    }
    struct trace_event e = event_of(self, t, &s->by, TRACE_SYNC, s->kind);
    if (s->kind <= SYNC_CLUSTER_PASS)
        on_barrier(t, s, &e);
    else
        on_other(t, s, &e);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static struct queue_track *queue_at(struct cluster_track *t, const struct async_queue *q) {
    struct cta_track *c = &t->ctas[q->cta->rank];
    for (uint32_t i = 0; i < c->num_queues; i++)
        if (c->queues[i].queue == q)
            return &c->queues[i];
    const struct trace_object o = {
        .kind = OBJECT_QUEUE, .rank = q->cta->rank, .at = c->num_queues, .count = q->unordered};
    c->queues = xgrow(c->queues, c->num_queues, &c->cap_queues, sizeof *c->queues);
    c->queues[c->num_queues] = (struct queue_track){.queue = q, .object = track_object(t, &o, q->name)};
    return &c->queues[c->num_queues++];
}

/* A tile begins: trace/record.h. */
static void count_tiles(struct cluster_track *t, const struct trace_op *o) {
    struct cta_track *c = &t->ctas[o->rank];
    if (!o->accumulate && (c->accumulates || !c->tiles))
        t->tile = c->tiles++ > t->tile ? c->tiles - 1 : t->tile;
    c->accumulates = o->accumulate;
    if (t->window->tiles)
        t->outside = t->tile < t->window->first_tile || t->tile > t->window->last_tile;
}

/* The first operation of the same instruction: an instruction is one step of its warp. */
static uint32_t leader_of(struct warp_track *w, uint32_t number) {
    if (!w->issued || w->issued_at != w->steps)
        w->issued = number;
    w->issued_at = w->steps;
    return w->issued;
}

static uint32_t op_begin(const struct listener *self, struct cluster_track *t, const struct event_op *e) {
    const struct async_op *op = e->by.op;
    struct cta_track *c = &t->ctas[op->cta->rank];
    struct event_work k;
    struct trace_op o = trace_describe(op, &k);
    o.follows = op_by_number(t, o.rank, k.follows);
    o.site = track_site(t, e->by.site);
    o.queue = queue_at(t, e->queue)->object;
    if (o.agent == AGENT_TENSOR_CORE)
        count_tiles(t, &o);
    const uint32_t number = track_op(t, &o, op->name);
    t->out.ops[number - 1].leader =
        o.follows ? number : leader_of(&c->warps[o.warp < t->warps_each ? o.warp : 0], number);
    while (c->num_ops < op->number) {
        c->ops = xgrow(c->ops, c->num_ops, &c->cap_ops, sizeof *c->ops);
        c->ops[c->num_ops++] = 0;
    }
    c->ops[op->number - 1] = number;
    *event_op_watch(self, op) = (void *)(uintptr_t)number;
    return number;
}

/* An operation of an ordered queue starts when the one before is complete. Others start when issued. */
static uint32_t start_cause(const struct queue_track *q, const struct trace_op *o) {
    const bool behind = !q->queue->unordered && q->completed > o->issued;
    return behind ? q->completed : o->issued;
}

static void note_completed(struct cluster_track *t, const struct async_op *op, struct trace_op *o, uint32_t event) {
    struct cta_track *c = &t->ctas[o->rank];
    struct warp_track *w = &c->warps[o->warp < t->warps_each ? o->warp : 0];
    c->completed = event;
    if (o->agent == AGENT_TENSOR_LDST)
        w->loaded = event;
    else if (o->agent == AGENT_CP_ASYNC || o->agent == AGENT_TMA || o->agent == AGENT_BULK)
        w->copied = event;
    if (o->agent != AGENT_CLC)
        return;
    struct event_work k; /* it knows its work only now */
    trace_describe(op, &k);
    o->taken = k.taken;
    o->first = k.first;
}

static void on_op(const struct listener *self, const struct event_op *op) {
    struct cluster_track *t = track_of(self, op->by.cta);
    if (!t)
        return;
    const uint32_t number = op->stage == OP_ISSUED ? op_begin(self, t, op) : op_number(self, op->by.op);
    if (!number)
        return;
    struct trace_op *o = &t->out.ops[number - 1];
    struct queue_track *q = queue_at(t, op->queue);
    struct trace_event e = event_of(self, t, &op->by, TRACE_OP, op->stage);
    e.object = q->object;
    if (op->stage == OP_ISSUED && o->follows)
        e.cause = t->out.ops[o->follows - 1].started;
    else if (op->stage == OP_ISSUED)
        e.cause = 0;
    else if (op->stage == OP_STARTED)
        e.cause = start_cause(q, o);
    /* the issue is a step of the warp, the rest is the unit's */
    const bool of_warp = op->stage == OP_ISSUED && !o->follows;
    const uint32_t event =
        of_warp ? put(t, &(struct event_by){.cta = op->by.cta, .warp = op->by.warp, .lanes = op->by.lanes}, &e)
                : track_append(t, &e);
    if (op->stage == OP_ISSUED) {
        o->issued = event;
    } else if (op->stage == OP_STARTED) {
        o->started = event;
    } else {
        o->completed = q->completed = event;
        note_completed(t, op->by.op, o, event);
    }
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

/* An event for the arrival of lanes of the warp at an instruction. */
static uint32_t step_event(const struct listener *self, struct cluster_track *t, const struct event_by *by,
                           struct step *s) {
    if (!s->lanes)
        return 0;
    struct event_by who = *by;
    who.lanes = s->lanes;
    who.site = s->site;
    struct trace_event e = event_of(self, t, &who, TRACE_STEP, 0);
    if (!s->event)
        s->event = put(t, &who, &e);
    return s->event;
}

/* The cause: other lanes of the warp came, or exited. */
static uint32_t meeting_cause(const struct listener *self, struct cluster_track *t, const struct event_by *by,
                              struct warp_track *w) {
    struct step *came = w->now.lanes & by->lanes ? &w->other : &w->now;
    if (w->exit && w->exit_at >= came->at)
        return w->exit;
    return step_event(self, t, by, came);
}

/* The cause: tensor memory was freed, perhaps by a CTA of another cluster. */
static uint32_t room_cause(const struct listener *self, struct cluster_track *t, const struct event_by *by,
                           struct trace_event *e) {
    const struct launch_track *l = *event_launch_watch(self, by->cta->gpu);
    const struct sm_track *sm = &l->sms[by->cta->sm->id];
    if (sm->cluster != t->out.number + 1)
        e->cluster = (uint32_t)sm->cluster;
    return sm->event;
}

static uint32_t wait_cause(const struct listener *self, struct cluster_track *t, const struct event_wait *x,
                           struct trace_event *e) {
    struct cta_track *c = &t->ctas[e->rank];
    struct warp_track *w = warp_of(t, &x->by);
    switch (x->kind) {
    case WAIT_MBARRIER:
        return w->test ? t->out.events[w->test - 1].cause : 0;
    case WAIT_BARRIER:
        return c->bar[x->off % MACH_BARRIERS].phase;
    case WAIT_CLUSTER:
        return t->barrier.phase;
    case WAIT_WARP_SYNC:
    case WAIT_ALIGNED:
    case WAIT_JOIN:
    case WAIT_RIDING:
        return meeting_cause(self, t, &x->by, w);
    case WAIT_TMEM_ALLOC:
        return room_cause(self, t, &x->by, e);
    case WAIT_PAIR:
        return (e->rank ^ 1) < t->out.ctas ? t->ctas[e->rank ^ 1].alloc : 0;
    case WAIT_REGISTERS:
        return c->registers;
    case WAIT_TMEM_LDST:
        return w->loaded;
    case WAIT_ASYNC:
        return w->copied;
    case WAIT_ROOM:
        return c->completed;
    case WAIT_GRID: /* of another launch */
    case WAIT_NONE:
    case WAIT_LAST:
        break;
    }
    return 0;
}

static void on_wait(const struct listener *self, const struct event_wait *x) {
    struct cluster_track *t = track_of(self, x->by.cta);
    if (!t)
        return;
    struct trace_event e = event_of(self, t, &x->by, TRACE_WAIT, x->end);
    const struct mbar_track *m = x->owner ? mbar_at(t, x->owner, x->off) : NULL;
    e.what = (uint16_t)x->kind;
    e.value = x->value;
    if (m)
        e.object = m->object;
    else if (x->kind == WAIT_BARRIER)
        e.object = t->ctas[e.rank].bar[x->off % MACH_BARRIERS].object;
    else if (x->kind == WAIT_CLUSTER)
        e.object = t->barrier.object;
    if (x->end == WAIT_MET)
        e.cause = wait_cause(self, t, x, &e);
    const uint32_t number = put(t, &x->by, &e);
    if (x->end == WAIT_BEGINS && (x->kind == WAIT_PAIR || x->kind == WAIT_TMEM_ALLOC))
        t->ctas[e.rank].alloc = number;
}

/* --- instructions and global memory ------------------------------------------------------------------------------- */

/* Before a count of steps overflows, an event takes it. */
#define RUN_FULL (UINT16_MAX - 4096u)

/* From so many instructions after the warp's last event, the wait for a load is an event of its own. */
#define USE_APART 8u

/* The instruction waits for a load; earlier ones did not. */
static void note_use(const struct listener *self, struct cluster_track *t, const struct event_step *s,
                     struct warp_track *w) {
    uint32_t event = 0, ran = 0;
    for (uint32_t i = 0; i < TRACE_LOADS; i++)
        if (w->loads[i].number <= s->uses && w->loads[i].event > event)
            event = w->loads[i].event;
    for (unsigned k = 0; k < RUN_KINDS; k++)
        ran += w->ran[k];
    if (event && ran >= USE_APART && s->by.lanes) {
        struct trace_event e = event_of(self, t, &s->by, TRACE_STEP, 0);
        put(t, &s->by, &e);
    }
    w->used = event > w->used ? event : w->used;
}

/* True if a count is full, and an event must take it. */
static bool count(struct warp_track *w, const struct site_seen *seen) {
    w->ran[seen->run] += seen->own;
    w->ran[RUN_ALU] += seen->more;
    return w->ran[seen->run] >= RUN_FULL || w->ran[RUN_ALU] >= RUN_FULL;
}

static void on_step(const struct listener *self, const struct event_step *s) {
    struct cluster_track *t = track_of(self, s->by.cta);
    if (!t)
        return;
    struct warp_track *w = warp_of(t, &s->by);
    const struct site_seen *seen = track_seen(t, s->by.site);
    w->steps++;
    t->counted += s->by.site->sass != 0;
    if (s->uses)
        note_use(self, t, s, w);
    if (!s->by.lanes) { /* it is issued, too */
        count(w, seen);
        return;
    }
    if (w->now.lanes && !(w->now.lanes & s->by.lanes))
        w->other = w->now;
    w->now = (struct step){.lanes = s->by.lanes, .site = s->by.site, .at = w->steps};
    const bool full = count(w, seen);
    if (!seen->timed && !full)
        return;
    struct trace_event e = event_of(self, t, &s->by, TRACE_STEP, seen->timed);
    w->now.event = put(t, &s->by, &e);
}

static void on_access(const struct listener *self, const struct event_access *a) {
    struct cluster_track *t = track_of(self, a->by.cta);
    if (!t || !a->by.lanes || !a->size || a->agent != AGENT_THREAD)
        return;
    struct warp_track *w = warp_of(t, &a->by);
    if (w->global && w->global == w->last && w->global_at == w->steps) {
        t->out.events[w->global - 1].value += trace_sectors(a);
        t->out.events[w->global - 1].pending += track_spans(t, a);
        return;
    }
    struct trace_event e = event_of(self, t, &a->by, TRACE_GLOBAL, a->effect);
    e.count = a->size;
    e.value = trace_sectors(a);
    e.what = a->by.order != ORDER_WEAK;
    e.phase = t->out.num_spans + 1;
    e.pending = track_spans(t, a);
    w->global = put(t, &a->by, &e);
    w->global_at = w->steps;
    if (a->effect != EFFECT_WRITE && w->global)
        w->loads[w->num_loads++ % TRACE_LOADS] = (struct load){a->load, w->global};
}

/* --- lifetimes ---------------------------------------------------------------------------------------------------- */

static void cluster_begins(const struct listener *self, const struct cta *first) {
    struct launch_track *l = *event_launch_watch(self, first->gpu);
    struct cluster *cl = first->cluster;
    if (cl->number >= l->num_clusters || !track_wanted(l, cl))
        return;
    *event_watch(self, &cl->cta[0]) = l->clusters[cl->number] = track_open(l, cl);
}

static void cluster_ends(const struct listener *self, const struct cta *first) {
    struct cluster_track *t = track_of(self, first);
    if (!t)
        return;
    if (first->cluster->live_ctas)
        t->out.complete = 0;
    track_close(t);
    *event_watch(self, &first->cluster->cta[0]) = NULL;
}

static void note_life(const struct listener *self, struct cluster_track *t, const struct cta *owner,
                      const struct event_life *x, uint32_t number) {
    struct cta_track *c = &t->ctas[x->by.cta->rank];
    struct launch_track *l = *event_launch_watch(self, x->by.cta->gpu);
    switch (x->kind) {
    case LIFE_TMEM_ALLOC:
    case LIFE_TMEM_CLOSING:
        c->alloc = number;
        break;
    case LIFE_TMEM_DEALLOC:
    case LIFE_TMEM_RELINQUISH:
        c->alloc = x->kind == LIFE_TMEM_DEALLOC ? number : c->alloc;
        c->relinquished |= x->kind == LIFE_TMEM_RELINQUISH;
        l->sms[owner->sm->id] = (struct sm_track){.cluster = t->out.number + 1, .event = number};
        break;
    case LIFE_CTA_EXIT:
        if (c->alloc && !c->relinquished) /* the permit becomes free */
            l->sms[owner->sm->id] = (struct sm_track){.cluster = t->out.number + 1, .event = number};
        break;
    case LIFE_LANES_EXIT:
        t->exited = warp_of(t, &x->by)->exit = number;
        warp_of(t, &x->by)->exit_at = warp_of(t, &x->by)->steps;
        break;
    case LIFE_REGISTERS:
        c->registers = number;
        break;
    default:
        break;
    }
}

static void on_life(const struct listener *self, const struct event_life *x) {
    if (x->kind == LIFE_CLUSTER_START)
        cluster_begins(self, x->owner);
    struct cluster_track *t = x->by.cta ? track_of(self, x->by.cta) : NULL;
    if (x->kind == LIFE_CLUSTER_END)
        cluster_ends(self, x->owner);
    if (!t || x->kind == LIFE_CLUSTER_END || x->kind == LIFE_CTA_END || x->kind == LIFE_CTA_START ||
        x->kind == LIFE_HEAP_ALLOC || x->kind == LIFE_HEAP_FREE)
        return;
    const struct cta *owner = x->owner ? x->owner : x->by.cta;
    struct trace_event e = event_of(self, t, &x->by, TRACE_LIFE, x->kind);
    e.count = x->kind == LIFE_MBAR_INIT || x->kind == LIFE_REGISTERS ? x->count : x->columns;
    e.value = x->column;
    e.pending = owner->rank;
    struct mbar_track *m = NULL;
    if (x->kind == LIFE_MBAR_INIT)
        m = mbar_begin(t, owner, x, e.site);
    else if (x->kind == LIFE_MBAR_INVAL)
        m = mbar_at(t, owner, x->off);
    e.object = m ? m->object : 0;
    const uint32_t number = put(t, &x->by, &e);
    if (m)
        m->changed = m->init = number;
    note_life(self, t, owner, x, number);
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

static void on_host(const struct listener *self, const struct event_host *h) {
    if (h->kind == HOST_LAUNCH) {
        *event_launch_watch(self, h->gpu) = track_launch(self->ctx, h);
    } else if (h->kind == HOST_LAUNCH_END) {
        struct launch_track *l = *event_launch_watch(self, h->gpu);
        *event_launch_watch(self, h->gpu) = NULL;
        track_merge(l, h->gpu);
    }
}

bool trace_attach(struct gpu *gpu, const struct trace_sink *sink) {
    return events_attach(gpu, &(struct listener){.name = "trace",
                                                 .wants = WANT_MBARRIER | WANT_POLL | WANT_BARRIER | WANT_FENCE |
                                                          WANT_OP | WANT_WAIT | WANT_STEP | WANT_LIFE | WANT_HOST |
                                                          WANT_GLOBAL | WANT_LOADS,
                                                 .ctx = (void *)(uintptr_t)sink,
                                                 .access = on_access,
                                                 .sync = on_sync,
                                                 .op = on_op,
                                                 .wait = on_wait,
                                                 .step = on_step,
                                                 .life = on_life,
                                                 .host = on_host});
}
