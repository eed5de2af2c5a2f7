/* check/race.c - the happens-before checker as a listener: from events to what race.h keeps. */
#include "check/race.h"

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
}

static void end_cta(struct race *r, const struct listener *self, const struct cta *cta) {
    struct cta_watch *c = race_cta(r, cta);
    for (const struct async_queue *q = cta->queues; q; q = q->next)
        for (const struct async_op *op = q->head; op; op = op->next)
            note_over(r, self, op);
    for (uint32_t i = 0; i < MACH_BARRIERS; i++)
        know_forget(r, &c->bar[i]);
    know_forget(r, &c->exited);
    for (uint32_t i = 0; i < c->num_mbars; i++) {
        know_forget(r, &c->mbars[i].m);
        xfree(c->mbars[i].uses);
        xfree(c->mbars[i].seen);
    }
    xfree(c->mbars);
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
    for (struct note *n = r->free_notes, *next; n; n = next) {
        next = n->next;
        xfree(n);
    }
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
    struct span s = {UINT32_MAX, 0, n, e->effect & EFFECT_WRITE, NULL};
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
    if (!r || e->space == SPACE_LOCAL)
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

/* --- how -------- */

static struct manner manner_of(const struct event_sync *e) {
    return (struct manner){e->by.order, e->by.scope, e->by.cta == e->owner};
}

/* --- exits -------------------------------------------------------------------------------------------------------- */

static const struct diag exits_early = {
    .id = "cta-exits-early",
    .rule =
        "shared memory ends with its CTA: what operations of other CTAs signal there must have come, and some thread "
        "of the CTA know it, before its last thread exits",
    .section = "PTX ISA 5.1.7, 9.7.16.12.1",
    .hint = "wait for the last phases of the mbarriers on which other CTAs' tcgen05.commit and copies arrive, of every "
            "stage, or meet at a cluster barrier behind such a wait. Mostly they come in time; else they hit another "
            "CTA's memory",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

static void remember_remote(const struct event_sync *e, struct mbar_watch *m, const struct note *n) {
    if (!n || e->by.op->cta == e->owner)
        return;
    m->remote.any = true;
    m->remote.phase = e->phase;
    m->remote.origin = n->origin;
    m->remote.what = n->name;
    m->remote.by = n->tensor ? n->read : (struct done){.how = DONE_NOT};
}

static void lanes_exit(struct race *r, const struct event_life *e) {
    static const struct manner how = {ORDER_RELAXED, SCOPE_CTA, true};
    know_arrive(r, race_warp(r, e->by.cta, e->by.warp), e->by.lanes, &race_cta(r, e->owner)->exited, &how);
}

static const struct diag exits_unseen = {
    .id = "cta-exits-unseen",
    .rule =
        "shared memory ends with its CTA: that a later tcgen05.commit has arrived does not say that an earlier one has",
    .section = "PTX ISA 5.1.7, 9.7.16.12.1",
    .hint =
        "wait for the last phases of the mbarriers on which other CTAs' tcgen05.commit arrive, of every stage. Chips "
        "give the arrivals of one thread's commits in order, and kernels of pairs end so",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_STRICT,
};

/* The phase was not seen, but the operations of the commit are known to be over, by a later one of the same thread. */
static bool is_over(const struct clock *c, const struct mbar_watch *m) {
    const struct done *d = &m->remote.by;
    return d->how == DONE_TOKEN && clock_knows_token(c, d->token, d->step);
}

static void cta_exits(struct race *r, const struct event_life *e) {
    const struct cta_watch *c = race_cta(r, e->owner);
    for (uint32_t i = 0; i < c->num_mbars; i++) {
        const struct mbar_watch *m = &c->mbars[i];
        const struct clock *known = c->exited.open[LAYER_RAN];
        if (!m->remote.any || clock_knows_token(known, m->token, (uint32_t)m->remote.phase + 1))
            continue;
        mach_warn_pair(r->island, &m->remote.origin, &m->init, "mbarrier.init",
                       is_over(known, m) ? &exits_unseen : &exits_early,
                       "%s arrives in phase %llu of the mbarrier at shared offset 0x%x of cluster CTA %u, and nothing "
                       "orders the exit of that CTA after it",
                       m->remote.what, (unsigned long long)m->remote.phase, m->off, e->owner->rank);
        return;
    }
}

/* Barriers wait for those who have not exited: the others are behind them (9.7.13.1, 9.7.13.3). */
static void count_exited(struct race *r, const struct cta_watch *c, struct meeting *m) {
    clock_join(&r->clocks, &m->open[LAYER_SEEN], c->exited.open[LAYER_SEEN]);
    clock_join(&r->clocks, &m->open[LAYER_RAN], c->exited.open[LAYER_RAN]);
}

/* --- mbarriers ---------------------------------------------------------------------------------------------------- */

static struct mbar_watch *find_mbar(struct race *r, const struct cta *owner, uint32_t off) {
    struct cta_watch *c = race_cta(r, owner);
    uint32_t *place = &c->place[off / 8 % (sizeof c->place / sizeof *c->place)];
    if (*place < c->num_mbars && c->mbars[*place].off == off)
        return &c->mbars[*place];
    for (uint32_t i = 0; i < c->num_mbars; i++)
        if (c->mbars[i].off == off) {
            *place = i;
            return &c->mbars[i];
        }
    return NULL;
}

static const struct diag mbarrier_race = {
    .id = "mbarrier-race",
    .rule = "an mbarrier may be used once its mbarrier.init is ordered before, and no longer once it is invalidated",
    .section = "PTX ISA 9.7.13.15.9, 8.8",
    .hint = "a __syncthreads() between the thread that initialises the mbarriers and the threads that use them",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

static void mbar_begins(struct race *r, const struct event_life *e) {
    struct cta_watch *c = race_cta(r, e->owner);
    c->mbars = xgrow(c->mbars, c->num_mbars, &c->cap_mbars, sizeof *c->mbars);
    c->mbars[c->num_mbars++] = (struct mbar_watch){.off = e->off,
                                                   .token = clock_new_token(&r->clocks),
                                                   .init_warp = race_warp(r, e->by.cta, e->by.warp),
                                                   .init_lane = e->by.lanes ? (uint32_t)__builtin_ctz(e->by.lanes) : 0,
                                                   .init_time = r->time,
                                                   .init = event_origin(&e->by)};
}

static struct mach_origin use_origin(const struct race *r, uint32_t warp, const struct mbar_use *use) {
    const struct event_by by = {.cta = &r->cluster->cta[warp / r->warps_each],
                                .site = use->site,
                                .warp = warp % r->warps_each,
                                .lanes = use->lanes};
    return event_origin(&by);
}

/* Whoever invalidates an mbarrier knows that all have used it who did. */
static void check_inval(struct race *r, const struct event_life *e, const struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    for (uint32_t i = 0; m->uses && i < r->clocks.warps; i++)
        for (uint32_t lanes = m->uses[i].lanes & ~(i == warp ? e->by.lanes : 0); lanes; lanes &= lanes - 1) {
            const struct mbar_use *use = &m->uses[i];
            const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            uint32_t s = 0;
            while (s + 1 < w->num_strands && !(w->strand[s].lanes & e->by.lanes))
                s++;
            if (clock_knows_lane(w->strand[s].k.now[LAYER_SEEN], i, lane, use->time))
                continue;
            const struct mach_origin origin = event_origin(&e->by), theirs = use_origin(r, i, use);
            mach_warn_pair(
                r->island, &origin, &theirs, "its use", &mbarrier_race,
                "mbarrier.inval ends the mbarrier at shared offset 0x%x, and nothing orders it after its use", e->off);
            return;
        }
}

static void mbar_ends(struct race *r, const struct event_life *e) {
    struct cta_watch *c = race_cta(r, e->owner);
    struct mbar_watch *m = find_mbar(r, e->owner, e->off);
    if (!m)
        return;
    check_inval(r, e, m);
    know_forget(r, &m->m);
    xfree(m->uses);
    xfree(m->seen);
    *m = c->mbars[--c->num_mbars];
}

static void remember_use(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    if (e->by.op)
        return;
    if (!m->uses)
        m->uses = xcalloc(r->clocks.warps, sizeof *m->uses);
    struct mbar_use *use = &m->uses[race_warp(r, e->by.cta, e->by.warp)];
    *use = (struct mbar_use){r->time, e->by.lanes, e->by.site}; /* of other lanes nothing is kept */
}

/* Threads of its CTA use it: do they know of its initialisation? Of other CTAs check/mbarrier.c says. */
static void check_init(struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    if (e->by.op || e->by.cta != e->owner || !m->init_time)
        return;
    for (uint32_t i = 0; i < w->num_strands; i++) {
        const struct strand *s = &w->strand[i];
        const uint32_t lanes = s->lanes & e->by.lanes & ~(warp == m->init_warp ? 1u << m->init_lane : 0);
        if (!lanes || clock_knows_lane(s->k.now[LAYER_SEEN], m->init_warp, m->init_lane, m->init_time))
            continue;
        struct event_by by = e->by;
        by.lanes = lanes;
        const struct mach_origin origin = event_origin(&by);
        mach_warn_pair(r->island, &origin, &m->init, "mbarrier.init", &mbarrier_race,
                       "%s uses the mbarrier at shared offset 0x%x, and nothing orders it after its mbarrier.init",
                       e->by.what, m->off);
        return;
    }
}

/* The bytes of a copy have come; it counts as over for whoever has seen the phase end. */
static void copy_lands(struct race *r, const struct event_sync *e, struct mbar_watch *m, struct note *n) {
    if (!n || n->written.how == DONE_TOKEN)
        return;
    note_lands(r, n, &m->m);
    n->written = n->read = (struct done){.how = DONE_TOKEN, .token = m->token, .step = (uint32_t)e->phase + 1};
}

static const struct diag arrives_ahead = {
    .id = "mbarrier-phase-missed",
    .rule =
        "an arrival counts in the phase that is under way: whoever arrives knows that the phase before it is over, or "
        "it may count in that one",
    .section = "PTX ISA 9.7.13.15.6, 9.7.13.15.13",
    .hint =
        "a thread that arrives once a round waits in between, on this mbarrier or on one that is ordered behind it. "
        "On most runs the others keep up",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

/* Do those who arrive know that the phase before is over? */
static void check_phase(struct race *r, const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    const struct warp_watch *w = &r->warps[race_warp(r, e->by.cta, e->by.warp)];
    bool knows = n ? clock_knows_token(n->now[LAYER_RAN], m->token, (uint32_t)e->phase) : true;
    for (uint32_t i = 0; !n && knows && i < w->num_strands; i++)
        if (w->strand[i].lanes & e->by.lanes)
            knows = clock_knows_token(w->strand[i].k.now[LAYER_RAN], m->token, (uint32_t)e->phase);
    if (knows)
        return;
    const struct mach_origin origin = n ? n->origin : event_origin(&e->by);
    mach_warn(r->island, &origin, &arrives_ahead,
              "%s arrives in phase %llu of the mbarrier at shared offset 0x%x, and nothing orders it after the end of "
              "the phase before",
              e->by.what, (unsigned long long)e->phase, m->off);
}

static void arrives(struct race *r, const struct event_sync *e, struct mbar_watch *m, const struct note *n) {
    check_phase(r, e, m, n);
    const struct manner how = manner_of(e);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    if (!e->by.op)
        know_arrive(r, warp, e->by.lanes, &m->m, &how);
    else if (n && n->tensor)
        note_commit(r, n, &m->m);
    else if (n) /* cp.async.mbarrier.arrive */
        note_copies_done(r, n->warp, e->by.lanes ? (uint32_t)__builtin_ctz(e->by.lanes) : 0, n->time,
                         &(struct done){.how = DONE_TOKEN, .token = m->token, .step = (uint32_t)e->phase + 1});
}

static const struct diag phase_missed = {
    .id = "mbarrier-phase-missed",
    .rule =
        "a poll by parity tells the current phase from the one before it, so that a phase may end only when all who "
        "wait for the phase before have seen that",
    .section = "PTX ISA 9.7.13.15.16",
    .hint =
        "let the arrivals of a phase wait for those who have seen the last, as by a barrier on which they arrive: one "
        "who polls late waits for ever. On most runs they come in time",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

/* Those who saw the phase before: were the arrivals of this one ordered behind that? A warp counts as one. */
static void check_seen(struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    for (uint32_t i = 0; m->seen && m->saw == e->phase && i < r->clocks.warps; i++) {
        const struct mbar_use *use = &m->seen[i];
        bool known = !use->time;
        for (uint32_t l = 0; !known && l < CLOCK_LANES; l++)
            known = clock_knows_lane(m->m.open[LAYER_RAN], i, l, use->time);
        if (known)
            continue;
        const struct mach_origin origin = event_origin(&e->by), theirs = use_origin(r, i, use);
        mach_warn_pair(r->island, &origin, &theirs, "a poll, which saw the phase before", &phase_missed,
                       "%s ends phase %llu of the mbarrier at shared offset 0x%x, and nothing orders it after the poll "
                       "that saw the phase before it end",
                       e->by.what, (unsigned long long)e->phase, m->off);
        return;
    }
}

/* A poll saw that a phase is complete. */
static void remember_seen(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    if (!m->seen)
        m->seen = xcalloc(r->clocks.warps, sizeof *m->seen);
    if (m->saw != e->phase)
        memset(m->seen, 0, r->clocks.warps * sizeof *m->seen);
    m->saw = e->phase;
    struct mbar_use *use = &m->seen[race_warp(r, e->by.cta, e->by.warp)];
    if (!use->time)
        *use = (struct mbar_use){r->time, e->done, e->by.site};
}

/* The polls of some lanes were answered with yes. */
static void saw_phase(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    const struct manner how = manner_of(e);
    remember_seen(r, e, m);
    know_observe(r, race_warp(r, e->by.cta, e->by.warp), e->done, &m->m, &how);
}

static void phase_ends(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    check_seen(r, e, m);
    static const enum layer all[] = {LAYER_ORDER, LAYER_SEEN, LAYER_RAN, LAYER_TENSOR, LAYER_NEAR, LAYER_SCOPED};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        clock_add_token(&r->clocks, &m->m.open[all[i]], m->token, (uint32_t)e->phase + 1);
    know_phase(r, &m->m);
}

static void mbarrier(struct race *r, const struct listener *self, const struct event_sync *e) {
    struct mbar_watch *m = find_mbar(r, e->owner, e->off);
    struct note *n = e->by.op ? note_of(self, e->by.op) : NULL;
    if (!m)
        return;
    if (e->kind != SYNC_MBAR_PHASE) {
        check_init(r, e, m);
        remember_use(r, e, m);
    }
    switch (e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
        arrives(r, e, m, n);
        remember_remote(e, m, n);
        break;
    case SYNC_MBAR_COMPLETE_TX:
        copy_lands(r, e, m, n);
        remember_remote(e, m, n);
        break;
    case SYNC_MBAR_PHASE:
        phase_ends(r, e, m);
        break;
    case SYNC_MBAR_TEST:
        if (e->done)
            saw_phase(r, e, m);
        break;
    default:
        break;
    }
}

/* --- other synchronisation ---------------------------------------------------------------------------------------- */

static void barrier(struct race *r, const struct event_sync *e, struct meeting *m) {
    const struct manner how = manner_of(e);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    switch (e->kind) {
    case SYNC_BAR_ARRIVE:
    case SYNC_CLUSTER_ARRIVE:
        if (e->kind == SYNC_BAR_ARRIVE)
            race_cta(r, e->owner)->bar_arrived[e->number]++;
        know_arrive(r, warp, e->by.lanes, m, &how);
        break;
    case SYNC_BAR_PHASE:
        if (race_cta(r, e->owner)->bar_arrived[e->number] * MACH_WARP < e->count) /* the others have exited */
            count_exited(r, race_cta(r, e->owner), m);
        race_cta(r, e->owner)->bar_arrived[e->number] = 0;
        know_phase(r, m);
        break;
    case SYNC_CLUSTER_PHASE:
        for (uint32_t i = 0; i < r->cluster->num_ctas; i++)
            count_exited(r, &r->ctas[i], m);
        know_phase(r, m);
        break;
    default:
        know_observe(r, warp, e->by.lanes, m, &how);
        break;
    }
}

static void fence(struct race *r, const struct event_sync *e, uint32_t warp) {
    const struct manner how = manner_of(e);
    switch (e->fence) {
    case FENCE_MEMORY:
    case FENCE_SYNC_RESTRICT:
        know_fence(r, warp, e->by.lanes, &how, how.scope >= SCOPE_GPU);
        break;
    case FENCE_PROXY_ASYNC:
        know_proxy_fence(r, warp, e->by.lanes, e->space);
        break;
    case FENCE_PROXY_ASYNC_GENERIC:
        know_fence(r, warp, e->by.lanes, &how, false);
        know_proxy_fence(r, warp, e->by.lanes, e->space);
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
        mbarrier(r, self, e);
        break;
    case SYNC_BAR_ARRIVE:
    case SYNC_BAR_PHASE:
    case SYNC_BAR_PASS:
        barrier(r, e, &race_cta(r, e->owner)->bar[e->number]);
        break;
    case SYNC_CLUSTER_ARRIVE:
    case SYNC_CLUSTER_PHASE:
    case SYNC_CLUSTER_PASS:
        barrier(r, e, &r->barrier);
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
        spans_engine(r, op->dst, &v, &(struct span){op->dst_off, op->dst_off + op->dst_bytes, n, true, NULL});
    if (op->src_bytes)
        spans_engine(r, op->cta, &v, &(struct span){op->src_off, op->src_off + op->src_bytes, n, false, NULL});
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
        cta_exits(r, e);
        break;
    case LIFE_MBAR_INIT:
        mbar_begins(r, e);
        break;
    case LIFE_MBAR_INVAL:
        mbar_ends(r, e);
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
