/* check/race.c - the happens-before checker as a listener: from events to what race.h keeps. */
#include "check/race.h"

#include "base/fatal.h"
#include "base/heap.h"
#include "check/global.h"

#include <string.h>

/* --- what is kept ------------------------------------------------------------------------------------------------- */

static struct race *race_of(const struct listener *self, const struct cluster *cl) {
    return *event_watch(self, &cl->cta[0]);
}

static struct race *begin(const struct listener *self, struct cluster *cl) {
    const uint32_t threads = cl->block.x * cl->block.y * cl->block.z;
    struct race *r = xcalloc(1, sizeof *r);
    clock_pool_init(&r->clocks, cl->num_ctas, threads);
    r->cluster = cl;
    r->island = cl->island;
    r->strict = cl->cta[0].gpu->config.check == MACH_CHECK_STRICT;
    r->warps_each = r->clocks.warps_each;
    r->warps = xcalloc(r->clocks.warps, sizeof *r->warps);
    r->ctas = xcalloc(cl->num_ctas, sizeof *r->ctas);
    for (uint32_t w = 0; w < r->clocks.warps; w++) {
        r->warps[w].strand = xcalloc(CLOCK_LANES, sizeof(struct strand));
        r->warps[w].strand[0].lanes = UINT32_MAX;
        r->warps[w].num_strands = 1;
    }
    global_begin(r, self);
    return *event_watch(self, &cl->cta[0]) = r;
}

static void drop_list(struct race *r, struct note *n) {
    for (struct note *next; n; n = next) {
        next = n->next;
        note_drop(r, n);
    }
}

static void end_warp(struct race *r, struct warp_watch *w) {
    for (uint32_t i = 0; i < w->num_strands; i++)
        know_drop(r, &w->strand[i].k);
    drop_list(r, w->loads);
    drop_list(r, w->stores);
    drop_list(r, w->bulk);
    xfree(w->strand);
    xfree(w->bulk_groups);
    xfree(w->copies);
    xfree(w->tensor);
    xfree(w->log);
    know_forget(r, &w->bar_met);
}

static void end_cta(struct race *r, const struct listener *self, const struct cta *cta) {
    struct cta_watch *c = race_cta(r, cta);
    for (const struct async_queue *q = cta->queues; q; q = q->next)
        for (const struct async_op *op = q->head; op; op = op->next)
            note_over(r, self, op);
    for (uint32_t i = 0; i < MACH_BARRIERS; i++)
        know_forget(r, &c->bar[i]);
    know_forget(r, &c->exited);
    mbars_end(r, c);
    bytes_free(r, c);
    columns_free(r, c);
}

static void end(const struct listener *self, struct cluster *cl) {
    struct race *r = race_of(self, cl);
    if (!r)
        return;
    for (uint32_t i = 0; i < cl->num_ctas; i++)
        end_cta(r, self, &cl->cta[i]);
    for (uint32_t w = 0; w < r->clocks.warps; w++)
        end_warp(r, &r->warps[w]);
    know_forget(r, &r->barrier);
    global_end(r);
    notes_end(r);
    clock_pool_close(&r->clocks);
    spans_forget(r);
    xfree(r->pieces);
    xfree(r->warps);
    xfree(r->ctas);
    xfree(r);
    *event_watch(self, &cl->cta[0]) = NULL;
}

/* --- who ---------------------------------------------------------------------------------------------------------- */

static const char *thread_what(const struct event_by *by, enum event_effect effect) {
    return by->what ? by->what : effect & EFFECT_WRITE ? "a store" : "a load";
}

struct viewer viewer_of_strand(const struct race *r, const struct event_by *by, uint32_t warp, const struct strand *s,
                               enum event_effect effect) {
    return (struct viewer){.now = s->k.now,
                           .warp = warp,
                           .lanes = s->lanes & by->lanes,
                           .time = r->time,
                           .fenced_at = s->k.fenced_at,
                           .global_at = s->k.global_at,
                           .by = by,
                           .agent = AGENT_THREAD,
                           .what = thread_what(by, effect)};
}

struct viewer viewer_of_note(const struct event_by *by, const struct note *n, bool async, const char *what) {
    return (struct viewer){.now = n->now,
                           .warp = n->warp,
                           .lanes = n->lanes,
                           .time = n->time,
                           .fenced_at = n->fenced_at,
                           .global_at = n->global_at,
                           .note = n,
                           .by = by,
                           .agent = n->agent,
                           .async = async,
                           .what = what};
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* For the time of an access. */
static struct pieces *pieces_of(struct race *r, const struct event_access *e) {
    const uint32_t num = e->pieces ? e->pieces : 1;
    if (num > r->num_pieces) {
        r->num_pieces = num;
        r->pieces = xrealloc_array(r->pieces, 1, sizeof *r->pieces + num * sizeof *r->pieces->at);
    }
    struct pieces *p = r->pieces;
    *p = (struct pieces){0, num, e->size, e->rows, (uint32_t)e->stride};
    for (uint32_t i = 0; i < num; i++)
        p->at[i] = (uint32_t)e->at[i];
    return p;
}

static struct span span_of(const struct event_access *e, struct note *n) {
    struct span s = {UINT32_MAX, 0, n, e->effect & EFFECT_WRITE, e->of_a, NULL};
    for (uint32_t i = 0; i < (e->pieces ? e->pieces : 1); i++) {
        const uint32_t at = (uint32_t)e->at[i];
        s.from = at < s.from ? at : s.from;
        s.to = at > s.to ? at : s.to;
    }
    s.to += e->size + (e->rows - 1) * (uint32_t)e->stride;
    return s;
}

/* An operation touches shared memory. */
static void engine(struct race *r, struct note *n, const struct event_access *e) {
    struct span s = span_of(e, n);
    if (e->pieces > 1 || e->rows > 1)
        s.pieces = pieces_of(r, e);
    if (e->of_a)
        n->a_rows = *e->of_a;
    if (e->effect == EFFECT_ATOMIC)
        n->reduces = true;
    const struct viewer v = viewer_of_note(&e->by, n, e->proxy == PROXY_ASYNC, e->what ? e->what : n->name);
    spans_engine(r, e->owner, &v, &s);
}

/* tcgen05.alloc writes its address, the warp as one. */
static void alloc_writes(struct race *r, const struct event_access *e) {
    struct event_access store = *e;
    uint64_t at[CLOCK_LANES] = {0};
    const uint32_t first = e->by.lanes ? (uint32_t)__builtin_ctz(e->by.lanes) : 0;
    at[first] = e->at[0];
    store.at = at;
    store.by.lanes = 1u << first;
    words_access(r, &store, NULL);
}

static void access(const struct listener *self, const struct event_access *e) {
    struct race *r = race_of(self, e->by.cta->cluster);
    struct note *n = e->by.op ? note_of(self, e->by.op) : NULL;
    if (!r)
        return;
    r->time += !e->by.op;
    if (e->agent == AGENT_THREAD && e->by.order != ORDER_WEAK)
        global_sync(r, e);
    if (e->space == SPACE_GLOBAL)
        global_access(r, e, n);
    else if (e->space == SPACE_TENSOR)
        columns_access(r, e, n);
    else if (e->agent == AGENT_THREAD)
        words_access(r, e, NULL);
    else if (e->agent == AGENT_TENSOR_ALLOC)
        alloc_writes(r, e);
    else if (e->agent == AGENT_CP_ASYNC && n)
        words_access(r, e, n);
    else if (n && !n->spanned && e->size)
        engine(r, n->written.how == DONE_TOKEN && e->agent == AGENT_CLC ? note_again(r, self, e->by.op) : n, e);
}

/* --- synchronisation ---------------------------------------------------------------------------------------------- */

/* Barriers wait for those who have not exited: the others are behind them (9.7.13.1, 9.7.13.3). */
static void count_exited(struct race *r, const struct cta_watch *c, struct meeting *m) {
    clock_join(&r->clocks, &m->open[LAYER_SEEN], c->exited.open[LAYER_SEEN]);
    clock_join(&r->clocks, &m->open[LAYER_RAN], c->exited.open[LAYER_RAN]);
}

/* A generation is complete. Those are ordered who took part in it, and nobody else: not the next one of that number. */
static void bar_completes(struct race *r, struct cta_watch *c, const struct event_sync *e, struct meeting *m) {
    if (c->bar_arrived[e->number] * MACH_WARP < e->count) /* the others have exited */
        count_exited(r, c, m);
    for (uint32_t left = c->bar_warps[e->number]; left; left &= left - 1) {
        struct warp_watch *w = &r->warps[race_warp(r, e->owner, (uint32_t)__builtin_ctz(left))];
        for (unsigned l = 0; w->bar == e->number && l < race_layers(r); l++)
            clock_set(&r->clocks, &w->bar_met.done[l], m->open[l]);
    }
    know_forget(r, m);
    c->bar_arrived[e->number] = c->bar_warps[e->number] = 0;
}

static void bar(struct race *r, const struct event_sync *e) {
    struct cta_watch *c = race_cta(r, e->owner);
    const struct manner how = manner_of(e);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    switch (e->kind) {
    case SYNC_BAR_ARRIVE:
        c->bar_arrived[e->number]++;
        c->bar_warps[e->number] |= UINT32_C(1) << e->by.warp;
        r->warps[warp].bar = e->number;
        mbars_released(r, e);
        know_arrive(r, warp, e->by.lanes, &c->bar[e->number], &how);
        break;
    case SYNC_BAR_PHASE:
        bar_completes(r, c, e, &c->bar[e->number]);
        break;
    default:
        know_observe(r, warp, e->by.lanes, &r->warps[warp].bar_met, &how);
        break;
    }
}

static void cluster_barrier(struct race *r, const struct event_sync *e) {
    const struct manner how = manner_of(e);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    switch (e->kind) {
    case SYNC_CLUSTER_ARRIVE:
        mbars_released(r, e);
        know_arrive(r, warp, e->by.lanes, &r->barrier, &how);
        break;
    case SYNC_CLUSTER_PHASE:
        for (uint32_t i = 0; i < r->cluster->num_ctas; i++)
            count_exited(r, &r->ctas[i], &r->barrier);
        mbars_met(r);
        know_phase(r, &r->barrier);
        break;
    default:
        know_observe(r, warp, e->by.lanes, &r->barrier, &how);
        break;
    }
}

static void fence(struct race *r, const struct event_sync *e, uint32_t warp) {
    const struct manner how = manner_of(e);
    mbars_released(r, e);
    switch (e->fence) {
    case FENCE_MEMORY:
    case FENCE_SYNC_RESTRICT:
        know_fence(r, warp, e->by.lanes, &how, how.scope >= SCOPE_GPU);
        break;
    case FENCE_PROXY_ASYNC:
        know_proxy_fence(r, warp, e->by.lanes, e->space);
        break;
    case FENCE_PROXY_ASYNC_GENERIC:
        know_half_fence(r, warp, e->by.lanes, &how);
        break;
    case FENCE_PROXY_TENSORMAP:
        global_map_fence(r, e);
        break;
    default:
        break;
    }
}

static void sync_of_warp(struct race *r, const struct event_sync *e) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    switch (e->kind) {
    case SYNC_WARP:
        know_warp_sync(r, warp, e->members);
        break;
    case SYNC_FENCE:
        fence(r, e, warp);
        break;
    case SYNC_GROUP_COMMIT:
        note_group_commit(r, warp, e->by.lanes, e->bulk);
        break;
    case SYNC_GROUP_WAIT:
        note_group_wait(r, warp, e->by.lanes, e->count, e->bulk, e->read);
        break;
    case SYNC_TCGEN05_WAIT_LD:
        note_waited_ld(r, warp);
        break;
    case SYNC_TCGEN05_USE:
        note_used_ld(r, warp, e->awaited);
        break;
    case SYNC_TCGEN05_WAIT_ST:
        note_waited_st(r, warp);
        break;
    case SYNC_TCGEN05_FENCE_BEFORE:
    case SYNC_TCGEN05_FENCE_AFTER:
        know_tensor_fence(r, warp, e->by.lanes, e->kind == SYNC_TCGEN05_FENCE_BEFORE);
        break;
    default:
        break;
    }
}

static void sync(const struct listener *self, const struct event_sync *e) {
    struct race *r = race_of(self, e->by.cta->cluster);
    if (!r)
        return;
    r->time++;
    switch (e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
    case SYNC_MBAR_EXPECT_TX:
    case SYNC_MBAR_COMPLETE_TX:
    case SYNC_MBAR_PENDING:
    case SYNC_MBAR_PHASE:
    case SYNC_MBAR_TEST:
        mbars_sync(r, self, e);
        break;
    case SYNC_BAR_ARRIVE:
    case SYNC_BAR_PHASE:
    case SYNC_BAR_PASS:
        bar(r, e);
        break;
    case SYNC_CLUSTER_ARRIVE:
    case SYNC_CLUSTER_PHASE:
    case SYNC_CLUSTER_PASS:
        cluster_barrier(r, e);
        break;
    default:
        sync_of_warp(r, e);
        break;
    }
}

/* --- operations --------------------------------------------------------------------------------------------------- */

/* A copy is noted where it will read or write, since it may do so from now on. */
static void issued(struct race *r, struct note *n, const struct async_op *op) {
    struct event_by by = event_by_op(op, ORDER_WEAK, SCOPE_NONE);
    const struct viewer v = viewer_of_note(&by, n, true, n->name);
    n->spanned = op->dst_bytes || op->src_bytes;
    if (n->agent == AGENT_CP_ASYNC)
        words_remember(&r->warps[n->warp], n->time, op->origin.site);
    if (op->dst_bytes)
        spans_engine(r, op->dst, &v, &(struct span){op->dst_off, op->dst_off + op->dst_bytes, n, true, false, NULL});
    if (op->src_bytes)
        spans_engine(r, op->cta, &v, &(struct span){op->src_off, op->src_off + op->src_bytes, n, false, false, NULL});
}

static void op(const struct listener *self, const struct event_op *e) {
    struct race *r = race_of(self, e->by.cta->cluster);
    if (!r)
        return;
    r->time++;
    if (e->stage == OP_ISSUED)
        issued(r, note_issued(r, self, e), e->by.op);
    else if (e->stage == OP_COMPLETED)
        note_over(r, self, e->by.op);
}

static void lanes_exit(struct race *r, const struct event_life *e) {
    static const struct manner how = {ORDER_RELAXED, SCOPE_CTA, true};
    know_arrive(r, race_warp(r, e->by.cta, e->by.warp), e->by.lanes, &race_cta(r, e->owner)->exited, &how);
}

static void life(const struct listener *self, const struct event_life *e) {
    struct cluster *cl = e->owner->cluster;
    if (e->kind == LIFE_CLUSTER_START)
        begin(self, cl);
    struct race *r = race_of(self, cl);
    if (!r)
        return;
    r->time++;
    switch (e->kind) {
    case LIFE_CLUSTER_END:
        end(self, cl);
        break;
    case LIFE_LANES_EXIT:
        lanes_exit(r, e);
        break;
    case LIFE_CTA_EXIT:
    case LIFE_MBAR_INIT:
    case LIFE_MBAR_INVAL:
        mbars_life(r, e);
        break;
    case LIFE_HEAP_ALLOC:
        if (r->global && e->address)
            cells_forget(r->global->launch, e->address, e->bytes);
        break;
    case LIFE_TMEM_ALLOC:
    case LIFE_TMEM_CLOSING:
    case LIFE_TMEM_DEALLOC:
        columns_life(r, e);
        break;
    default:
        break;
    }
}

static void host(const struct listener *self, const struct event_host *e) {
    if (e->kind == HOST_LAUNCH)
        global_launch(self, e);
    else if (e->kind == HOST_LAUNCH_END)
        global_launch_end(self, e);
}

struct listener check_race(void) {
    return (struct listener){.name = "order of accesses",
                             .wants = WANT_SHARED_READ | WANT_SHARED_WRITE | WANT_ENGINE_READ | WANT_ENGINE_WRITE |
                                      WANT_GLOBAL | WANT_ENGINE_GLOBAL | WANT_TENSOR | WANT_MBARRIER | WANT_POLL |
                                      WANT_BARRIER | WANT_FENCE | WANT_OP | WANT_LIFE | WANT_HOST,
                             .access = access,
                             .sync = sync,
                             .op = op,
                             .life = life,
                             .host = host};
}

void check_attach(struct gpu *gpu) {
    const struct listener l = check_race();
    if (!events_attach(gpu, &l))
        fatal_broken("no room for the listener %s", l.name);
}
