/* check/mbarrier.c - mbarriers: what a phase carries and to whom, and the rules of the objects themselves; race.h.
 *
 * An object may be used once its initialisation is ordered before (PTX ISA 9.7.13.15.9): in its CTA by any edge, by the
 * other CTAs of the cluster once it is published (9.7.13.4): after mbarrier.init a thread of the CTA executes
 * fence.mbarrier_init or another release at cluster scope, and then a cluster barrier completes. A poll by parity tells
 * two phases apart, so that those who wait for one must have seen it before the next ends (9.7.13.15.16). It ends with
 * its CTA: what other CTAs' operations signal there comes before that (5.1.7).
 */
#include "check/race.h"

#include "base/heap.h"

#include <string.h>

static struct mbar_watch *find(struct race *r, const struct cta *owner, uint32_t off) {
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

/* --- life --------------------------------------------------------------------------------------------------------- */

DIAG(mbarrier_race) = {
    .id = "mbarrier-race",
    .rule = "an mbarrier may be used once its mbarrier.init is ordered before, and no longer once it is invalidated",
    .section = "PTX ISA 9.7.13.15.9, 8.8",
    .hint = "a __syncthreads() between the thread that initialises the mbarriers and the threads that use them",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
    .reason = "where the initialisation is late the object is garbage, and the wait passes or hangs.",
};

static void begins(struct race *r, const struct event_life *e) {
    struct cta_watch *c = race_cta(r, e->owner);
    c->mbars = xgrow(c->mbars, c->num_mbars, &c->cap_mbars, sizeof *c->mbars);
    c->mbars[c->num_mbars++] = (struct mbar_watch){.off = e->off,
                                                   .token = clock_new_token(&r->clocks),
                                                   .init_warp = race_warp(r, e->by.cta, e->by.warp),
                                                   .init_lane = e->by.lanes ? (uint32_t)__builtin_ctz(e->by.lanes) : 0,
                                                   .init_time = r->time,
                                                   .init = event_origin(&e->by)};
}

DIAG(inval_unmet) = {
    .id = "mbarrier-inval-unmet",
    .rule =
        "an mbarrier is invalidated when all threads have used it, and the lanes of a warp are threads: shfl, vote and "
        "match bring them together and order nothing",
    .section = "PTX ISA 9.7.13.15.10, 9.7.13.10",
    .hint = "bar.warp.sync before one lane tells for the others. libcu++'s cuda::pipeline does without",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_STRICT,
    .reason = "the lanes have executed their last use together, and libcu++'s cuda::pipeline leaves it so.",
};

static struct mach_origin use_origin(const struct race *r, uint32_t warp, const struct mbar_use *use) {
    const struct event_by by = {.cta = &r->cluster->cta[warp / r->warps_each],
                                .site = use->site,
                                .warp = warp % r->warps_each,
                                .lanes = use->lanes};
    return event_origin(&by);
}

/* What is wrong with the use of warp `i` if `lanes`, of it (`own`) or of another, who know so much, invalidate the
 * mbarrier; or NULL. */
static const struct diag *judge_use(const struct clock *known, uint32_t i, const struct mbar_use *use, bool own,
                                    uint32_t lanes) {
    uint32_t rest = use->lanes & ~(own ? lanes : 0);
    bool some = own; /* lanes of the warp have come further */
    for (uint32_t l = 0; rest && l < CLOCK_LANES; l++)
        if (clock_knows_lane(known, i, l, use->time)) {
            some = true;
            rest &= ~(1u << l);
        }
    return !rest ? NULL : some ? &inval_unmet : &mbarrier_race;
}

/* Whoever invalidates an mbarrier knows that all have used it who did. */
static void check_inval(struct race *r, const struct event_life *e, const struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    const struct diag *rule = NULL;
    uint32_t s = 0, at = 0;
    while (s + 1 < w->num_strands && !(w->strand[s].lanes & e->by.lanes))
        s++;
    for (uint32_t i = 0; m->uses && rule != &mbarrier_race && i < r->clocks.warps; i++) {
        const struct diag *d = judge_use(w->strand[s].k.now[LAYER_SEEN], i, &m->uses[i], i == warp, e->by.lanes);
        at = d ? i : at;
        rule = d ? d : rule;
    }
    if (!rule)
        return;
    const struct mach_origin origin = event_origin(&e->by), theirs = use_origin(r, at, &m->uses[at]);
    mach_warn_pair(r->island, &origin, &theirs, "its use", rule,
                   "mbarrier.inval ends the mbarrier at shared offset 0x%x, and nothing orders it after its use",
                   e->off);
}

static void forget(struct race *r, struct mbar_watch *m) {
    know_forget(r, &m->m);
    clock_set(&r->clocks, &m->before, NULL);
    xfree(m->uses);
    xfree(m->seen);
}

static void ends(struct race *r, const struct event_life *e) {
    struct cta_watch *c = race_cta(r, e->owner);
    struct mbar_watch *m = find(r, e->owner, e->off);
    if (!m)
        return;
    check_inval(r, e, m);
    forget(r, m);
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

/* Threads of its CTA use it: do they know of its initialisation? Of other CTAs check_published says. */
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

/* --- publication -------------------------------------------------------------------------------------------------- */

DIAG(unpublished) = {
    .id = "mbarrier-unpublished",
    .rule = "the other CTAs of the cluster may use an mbarrier once its initialisation is visible to them: "
            "a release at cluster scope after mbarrier.init, and a cluster barrier after that",
    .section = "PTX ISA 9.7.13.4, 9.7.13.3",
    .hint = "fence.mbarrier_init.release.cluster by the thread that initialised, then "
            "barrier.cluster.arrive and .wait by all threads; without them it works on most runs",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
    .reason = "where the other CTA is early it finds no object yet.",
};

/* All mbarriers of a CTA in state `from` are now in state `to`. */
static void move_on(struct cta_watch *c, enum mbar_seen from, enum mbar_seen to) {
    for (uint32_t i = 0; i < c->num_mbars; i++)
        if (c->mbars[i].published == from)
            c->mbars[i].published = to;
}

static bool releases_to_cluster(const struct event_sync *e) {
    if (e->by.order == ORDER_RELAXED || e->by.order == ORDER_ACQUIRE || e->by.scope < SCOPE_CLUSTER)
        return false;
    return e->kind == SYNC_CLUSTER_ARRIVE ||
           (e->kind == SYNC_FENCE &&
            (e->fence == FENCE_MEMORY || e->fence == FENCE_SYNC_RESTRICT || e->fence == FENCE_MBARRIER_INIT));
}

void mbars_released(struct race *r, const struct event_sync *e) {
    if (releases_to_cluster(e))
        move_on(race_cta(r, e->by.cta), MBAR_FRESH, MBAR_RELEASED);
}

void mbars_met(struct race *r) {
    for (uint32_t i = 0; i < r->cluster->num_ctas; i++)
        move_on(&r->ctas[i], MBAR_RELEASED, MBAR_PUBLISHED);
}

static void check_published(const struct event_sync *e, const struct mbar_watch *m) {
    if (e->by.cta == e->owner || m->published == MBAR_PUBLISHED)
        return;
    const struct mach_origin origin = event_origin(&e->by);
    mach_warn(e->by.cta->island, &origin, &unpublished,
              "%s by cluster CTA %u on the mbarrier at shared offset 0x%x of CTA %u: since its mbarrier.init %s",
              e->by.what, e->by.cta->rank, e->off, e->owner->rank,
              m->published == MBAR_FRESH ? "no thread of that CTA has executed a release at cluster scope"
                                         : "no cluster barrier has completed");
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

/* The bytes of a copy have come; it counts as over for whoever has seen the phase end. */
static void copy_lands(struct race *r, const struct event_sync *e, struct mbar_watch *m, struct note *n) {
    if (!n || n->written.how == DONE_TOKEN)
        return;
    note_lands(r, n, &m->m);
    n->written = n->read = (struct done){.how = DONE_TOKEN, .token = m->token, .step = (uint32_t)e->phase + 1};
}

DIAG(arrives_ahead) = {
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
    .reason = "a poll that comes between sees the phase, a later one waits for ever. By default the emulator lets the "
              "poll come between.",
};

/* All arrivals of the phase before are known to these lanes, by whatever barrier: then it is over. */
static bool knows_arrivals(struct race *r, const struct mbar_watch *m, const struct strand *s, uint32_t warp,
                           uint32_t lanes) {
    bool known = m->before;
    for (; known && lanes; lanes &= lanes - 1) {
        struct clock *c = clock_hold(s->k.now[LAYER_RAN]);
        clock_add_lanes(&r->clocks, &c, warp, lanes & (0u - lanes), r->time);
        known = !clock_exceeds(&r->clocks, m->before, c);
        clock_drop(&r->clocks, c);
    }
    return known;
}

static bool threads_know(struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    for (uint32_t i = 0; i < w->num_strands; i++) {
        const struct strand *s = &w->strand[i];
        if ((s->lanes & e->by.lanes) && !clock_knows_token(s->k.now[LAYER_RAN], m->token, (uint32_t)e->phase) &&
            !knows_arrivals(r, m, s, warp, s->lanes & e->by.lanes))
            return false;
    }
    return true;
}

/* Commits of one thread, each of which ends a phase by itself: whichever comes first, the two end two. */
static bool takes_turns(const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    return n->tensor && m->first.alone && !m->operations && !e->pending && !e->tx && m->first.warp == n->warp &&
           m->first.lanes == n->lanes;
}

/* Do those who arrive know that the phase before is over? */
static void check_phase(struct race *r, const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    if (n ? clock_knows_token(n->now[LAYER_RAN], m->token, (uint32_t)e->phase) || takes_turns(e, m, n)
          : threads_know(r, e, m))
        return;
    const struct mach_origin origin = n ? n->origin : event_origin(&e->by);
    mach_warn(r->island, &origin, &arrives_ahead,
              "%s arrives in phase %llu of the mbarrier at shared offset 0x%x, and nothing orders it after the end of "
              "the phase before",
              e->by.what, (unsigned long long)e->phase, m->off);
}

DIAG(phase_unseen) = {
    .id = "mbarrier-phase-unseen",
    .rule =
        "of each phase at least one test_wait or try_wait has said that it is over before anything arrives in the next",
    .section = "PTX ISA 9.7.13.15.4",
    .hint =
        "a thread that polls until the answer is yes, before the arrivals of the next round. The arrivals are counted "
        "without that, too",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_STRICT,
    .reason =
        "an H200 counts the phases without a poll, too; its compute-sanitizer (synccheck) says \"Missing wait\" there.",
};

static void check_unseen(struct race *r, const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    if (!e->phase || (m->seen && m->saw >= e->phase))
        return;
    const struct mach_origin origin = n ? n->origin : event_origin(&e->by);
    mach_warn(
        r->island, &origin, &phase_unseen,
        "%s arrives in phase %llu of the mbarrier at shared offset 0x%x, and no poll has said that the phase before "
        "is over",
        e->by.what, (unsigned long long)e->phase, m->off);
}

static void arrives(struct race *r, const struct event_sync *e, struct mbar_watch *m, const struct note *n) {
    check_phase(r, e, m, n);
    check_unseen(r, e, m, n);
    m->first =
        (struct arrival){n && n->tensor && !m->operations && !e->pending && !e->tx, n ? n->warp : 0, n ? n->lanes : 0};
    m->operations |= e->by.op != NULL;
    const struct manner how = manner_of(e);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    if (!e->by.op)
        know_arrive(r, warp, e->by.lanes, &m->m, &how);
    else if (n && n->tensor)
        note_commit(r, n, &m->m);
    else if (n) { /* cp.async.mbarrier.arrive */
        note_arrives(r, n, e->by.lanes, &m->m);
        note_copies_done(r, n->warp, e->by.lanes ? (uint32_t)__builtin_ctz(e->by.lanes) : 0, n->time,
                         &(struct done){.how = DONE_TOKEN, .token = m->token, .step = (uint32_t)e->phase + 1});
    }
}

DIAG(phase_missed) = {
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
        if (clock_knows_any(m->m.open[LAYER_RAN], i, UINT32_MAX, use->time))
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

DIAG(expects_late) = {
    .id = "mbarrier-phase-missed",
    .rule = "expect_tx counts in the phase that is under way: while an arrival is awaited, that is the one meant",
    .section = "PTX ISA 9.7.13.15.5, 9.7.13.15.11",
    .hint = "announce all bytes of a phase before its last arrival, or with it: arrive.expect_tx. On most runs the "
            "bytes come later",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

/* Only bytes that are awaited keep the phase open, and those of copies that have been issued may come at any time. */
static void check_expect(struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    if (e->pending || e->tx <= (int64_t)e->bytes || (!m->coming && !m->brought))
        return;
    const struct mach_origin origin = event_origin(&e->by);
    mach_warn(
        r->island, &origin, &expects_late,
        "%s announces %u bytes in phase %llu of the mbarrier at shared offset 0x%x, all arrivals of which have come",
        e->by.what, e->bytes, (unsigned long long)e->phase, e->off);
}

void mbars_issued(struct race *r, const struct cta *owner, uint32_t off) {
    struct mbar_watch *m = find(r, owner, off);
    if (m)
        m->coming++;
}

static void phase_ends(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    check_seen(r, e, m);
    clock_set(&r->clocks, &m->before, m->operations ? NULL : m->m.open[LAYER_RAN]);
    m->operations = m->brought = false;
    know_token(r, &m->m, m->token, (uint32_t)e->phase + 1);
    know_phase(r, &m->m);
}

static void remember_remote(const struct event_sync *e, struct mbar_watch *m, const struct note *n) {
    if (!n || e->by.op->cta == e->owner)
        return;
    m->remote.any = true;
    m->remote.phase = e->phase;
    m->remote.origin = n->origin;
    m->remote.what = n->name;
    m->remote.by = n->tensor ? n->read : (struct done){.how = DONE_NOT};
}

void mbars_sync(struct race *r, const struct listener *self, const struct event_sync *e) {
    struct mbar_watch *m = find(r, e->owner, e->off);
    struct note *n = e->by.op ? note_of(self, e->by.op) : NULL;
    if (!m)
        return;
    if (e->kind != SYNC_MBAR_PHASE) {
        check_init(r, e, m);
        check_published(e, m);
        remember_use(r, e, m);
    }
    switch (e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
        arrives(r, e, m, n);
        remember_remote(e, m, n);
        break;
    case SYNC_MBAR_EXPECT_TX:
        m->operations = true;
        check_expect(r, e, m);
        break;
    case SYNC_MBAR_COMPLETE_TX:
        m->operations = true;
        m->brought |= e->by.op != NULL;
        m->coming -= e->by.op && m->coming;
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

/* --- the end of the CTA ------------------------------------------------------------------------------------------- */

DIAG(exits_early) = {
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
    .reason = "the arrival or the bytes come after the exit, into memory that is another CTA's.",
};

DIAG(exits_unseen) = {
    .id = "cta-exits-unseen",
    .rule =
        "shared memory ends with its CTA: that a later tcgen05.commit has arrived does not say that an earlier one has",
    .section = "PTX ISA 5.1.7, 9.7.16.12.1",
    .hint =
        "wait for the last phases of the mbarriers on which other CTAs' tcgen05.commit arrive, of every stage. Kernels "
        "of pairs that run on a B200 end so",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_STRICT,
    .reason = "kernels of pairs that run on a B200 end so.",
};

/* The phase was not seen, but the operations of the commit are known to be over, by a later one of the same thread. */
static bool is_over(const struct clock *c, const struct mbar_watch *m) {
    const struct done *d = &m->remote.by;
    return d->how == DONE_TOKEN && clock_knows_token(c, d->token, d->step);
}

/* Are the last arrivals of other CTAs' operations known to have come? */
static void check_remote(struct race *r, const struct event_life *e) {
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

DIAG(unannounced) = {
    .id = "mbarrier-bytes-unannounced",
    .rule = "expect_tx announces every byte that the copies of a phase bring to its mbarrier",
    .section = "PTX ISA 9.7.13.15.5, 9.7.13.15.6",
    .hint = "an expect_tx of fewer bytes than all copies bring lets the phase end before the last of them "
            "has landed; count those that other CTAs send, too (of a CTA pair: both halves)",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
    .reason = "where these bytes come first, the tx-count is below zero and the phase can end without others.",
};

/* Warns about bytes that landed on a CTA's mbarrier and that no expect_tx announced. */
static void check_announced(const struct cta *cta) {
    for (uint32_t i = 0; i < cta->num_mbars; i++) {
        struct mbar_view v;
        if (!mbar_last(cta, i, &v) || v.tx >= 0)
            continue;
        mach_warn(cta->island, NULL, &unannounced,
                  "CTA (%u,%u,%u), rank %u, exits, and the mbarrier at shared offset 0x%x got %d bytes that no "
                  "expect_tx announced",
                  cta->id.x, cta->id.y, cta->id.z, cta->rank, cta->mbars[i].off, (int)-v.tx);
        return;
    }
}

void mbars_life(struct race *r, const struct event_life *e) {
    if (e->kind == LIFE_MBAR_INIT)
        begins(r, e);
    else if (e->kind == LIFE_MBAR_INVAL)
        ends(r, e);
    else if (e->kind == LIFE_CTA_EXIT) {
        check_remote(r, e);
        check_announced(e->owner);
    }
}

void mbars_end(struct race *r, struct cta_watch *c) {
    for (uint32_t i = 0; i < c->num_mbars; i++)
        forget(r, &c->mbars[i]);
    xfree(c->mbars);
}
