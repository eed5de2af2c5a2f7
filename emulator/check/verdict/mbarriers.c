/* check/verdict/mbarriers.c - the rules for mbarriers as objects; contract in mbarriers.h. */
#include "check/verdict/mbarriers.h"

/* --- life --------------------------------------------------------------------------------------------------------- */

DIAG(mbarrier_race) = {
    DIAG_HEAD(WARNING, "mbarrier-race", "9.7.13.15.9, 8.8"),
    .rule = "an mbarrier may be used only after its mbarrier.init, in an order that is guaranteed, and not after "
            "mbarrier.inval",
    .hint = "Add __syncthreads() between the thread that initialises the mbarriers and the threads that use them",
    .reason = "if the initialisation is late, the object is garbage, and the wait passes or hangs.",
};

DIAG(inval_unmet) = {
    DIAG_HEAD(STRICT, "mbarrier-inval-unmet", "9.7.13.15.10, 9.7.13.10"),
    .rule = "an mbarrier may be invalidated only after all threads have used it. The lanes of a warp are separate "
            "threads: shfl, vote and match bring them together but order nothing",
    .hint = "Add bar.warp.sync before one lane signals for the others. libcu++'s cuda::pipeline does without",
    .reason = "the lanes have executed their last use together. libcu++'s cuda::pipeline relies on this.",
};

/* The rule that `lanes` break by mbarrier.inval after that use, or NULL. `own`: they are of the warp that used it;
 * `known`: their knowledge. */
static const struct diag *judge_use(const struct vclock *known, const struct mbar_use *use, bool own, uint32_t lanes) {
    uint32_t rest = use->lanes & ~(own ? lanes : 0);
    bool some = own; /* is at least one of the using lanes known to be done? */
    for (uint32_t l = 0; rest && l < VCLOCK_LANES; l++)
        if (vclock_knows_lane(known, use->warp, l, use->time)) {
            some = true;
            rest &= ~(1u << l);
        }
    return !rest ? NULL : some ? &inval_unmet : &mbarrier_race;
}

void verdict_mbar_inval(struct race *r, const struct event_life *e) {
    const struct mbar_watch *m = mbars_find(r, e->owner, e->off);
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct vclock *known = race_strand(r, warp, e->by.lanes)->k.now[LAYER_SEEN];
    const struct diag *rule = NULL;
    const struct mbar_use *at = NULL;
    const uint32_t num = m && m->warps ? r->clocks.warps : 0;
    for (uint32_t i = 0; m && rule != &mbarrier_race && i < num + m->num_others; i++) {
        const struct mbar_use *use = i < num ? &m->warps[i].use : &m->others[i - num];
        const struct diag *d = judge_use(known, use, use->warp == warp, e->by.lanes);
        at = d ? use : at;
        rule = d ? d : rule;
    }
    if (!rule)
        return;
    const struct mach_origin origin = event_origin(&e->by), theirs = race_origin(r, at->warp, at->lanes, at->site);
    mach_warn_pair(r->island, &origin, &theirs, "its use", rule,
                   "mbarrier.inval ends the mbarrier at shared offset 0x%x, and nothing orders it after its use",
                   e->off);
}

/* Those lanes of an mbarrier.init that the clock does not know. */
static uint32_t missing_lanes(const struct vclock *known, const struct mbar_init *init) {
    uint32_t missing = vclock_all_lanes(known, init->warp) < init->time ? init->lanes : 0;
    for (uint32_t rest = missing; rest; rest &= rest - 1)
        if (vclock_knows_lane(known, init->warp, (uint32_t)__builtin_ctz(rest), init->time))
            missing &= ~(rest & (0u - rest));
    return missing;
}

/* Those of `lanes` (of that warp) that do not know the mbarrier.init of another lane. */
static uint32_t lanes_early(const struct vclock *known, const struct mbar_init *init, uint32_t warp, uint32_t lanes) {
    const uint32_t missing = missing_lanes(known, init);
    const bool one = !(missing & (missing - 1));
    return !missing ? 0 : warp == init->warp && one ? lanes & ~missing : lanes;
}

/* For a use by threads of the mbarrier's own CTA: do they know of its initialisation? For threads of other CTAs see
 * check_published. */
static void check_init(struct race *r, const struct event_sync *e, struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    bool all = warp < 64;
    if (e->by.op || e->by.cta != e->owner || (all && m->told >> warp & 1))
        return;
    for (uint32_t i = 0; i < w->num_strands * m->num_init; i++) {
        const struct strand *s = &w->strand[i / m->num_init];
        const struct mbar_init *init = &m->init[i % m->num_init];
        struct event_by by = e->by;
        all = all && !missing_lanes(s->k.now[LAYER_SEEN], init);
        by.lanes = all ? 0 : lanes_early(s->k.now[LAYER_SEEN], init, warp, s->lanes & e->by.lanes);
        if (!by.lanes)
            continue;
        const struct mach_origin origin = event_origin(&by);
        mach_warn_pair(r->island, &origin, &init->origin, "mbarrier.init", &mbarrier_race,
                       "%s uses the mbarrier at shared offset 0x%x, and nothing orders it after its mbarrier.init",
                       e->by.what, m->off);
        return;
    }
    m->told |= (uint64_t)all << warp % 64;
}

DIAG(stored_over) = {
    DIAG_HEAD(STRICT, "mbarrier-not-invalidated", "9.7.13.15.3, 9.7.13.15.10"),
    .rule = "only mbarrier operations may access the memory of a valid mbarrier object; mbarrier.inval ends the "
            "object's life",
    .hint =
        "Add mbarrier.inval and a barrier before the memory is used for something else. If the mbarrier is still in "
        "use, the store goes to a wrong address",
    .reason = "nothing breaks if no thread uses the object any more.",
};

void verdict_mbar_store(struct race *r, const struct event_access *e) {
    const struct mbars *b = &race_cta(r, e->owner)->mbars;
    uint32_t near = 0;
    for (uint32_t left = b->num ? e->by.lanes : 0; left; left &= left - 1) {
        const uint64_t at = e->at[__builtin_ctz(left)];
        near |= at < b->to && b->from < at + e->size ? left & (0u - left) : 0;
    }
    for (uint32_t i = 0; near && i < b->num; i++) {
        uint32_t over = 0;
        for (uint32_t left = near; left; left &= left - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(left);
            over |= e->at[l] < b->list[i].off + 8 && b->list[i].off < e->at[l] + e->size ? 1u << l : 0;
        }
        if (!over)
            continue;
        struct event_by by = e->by;
        by.lanes = over;
        const struct mach_origin origin = event_origin(&by);
        mach_warn_pair(r->island, &origin, &b->list[i].init->origin, "mbarrier.init", &stored_over,
                       "%s writes over the mbarrier at shared offset 0x%x, which is not invalidated",
                       e->by.what ? e->by.what : "a store", b->list[i].off);
        return;
    }
}

/* --- publication -------------------------------------------------------------------------------------------------- */

DIAG(unpublished) = {
    DIAG_HEAD(WARNING, "mbarrier-unpublished", "9.7.13.4, 9.7.13.3"),
    .rule = "other CTAs of the cluster may use an mbarrier only when its initialisation is visible to them. That takes "
            "a release at cluster scope after mbarrier.init, and a cluster barrier after that",
    .hint = "Add fence.mbarrier_init.release.cluster in the thread that initialises, then barrier.cluster.arrive and "
            ".wait in all threads. Without them the kernel works on most runs",
    .reason = "if the other CTA is early, it finds no object yet.",
};

DIAG(init_unmet) = {
    DIAG_HEAD(STRICT, "mbarrier-init-unmet", "9.7.13.4, 9.7.13.3"),
    .rule = "other CTAs of the cluster may use an mbarrier only when its initialisation is visible to them. That takes "
            "a release at cluster scope after mbarrier.init, and a cluster barrier after that",
    .hint = "Initialise all mbarriers before the kernel's first cluster barrier, or add another cluster barrier. Here "
            "only a copy or a commit connects the two CTAs, and neither makes its issuer's earlier accesses visible",
    .reason = "the mbarrier is initialised before its use all the same: the other CTA has waited for an operation that "
              "was issued after mbarrier.init. CuTe DSL's TmemAllocator relies on this.",
};

/* Does the clock know every mbarrier.init of the object? */
static bool knows_inits(const struct vclock *known, const struct mbar_watch *m) {
    for (uint32_t i = 0; i < m->num_init; i++)
        if (missing_lanes(known, &m->init[i]))
            return false;
    return true;
}

/* Do the threads of *e (or the issuer of the operation `n`) know of the initialisation, and has a thread of its CTA
 * released it since? */
static bool knows_init(struct race *r, const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    if (m->published == MBAR_FRESH)
        return false;
    if (n)
        return knows_inits(n->now[LAYER_RAN], m);
    for (uint32_t i = 0; i < w->num_strands; i++) {
        const struct strand *s = &w->strand[i];
        if (s->lanes & e->by.lanes && !knows_inits(s->k.now[LAYER_RAN], m))
            return false;
    }
    return true;
}

/* For a use by another CTA: has the object been published to it (9.7.13.4)? */
static void check_published(struct race *r, const struct event_sync *e, const struct mbar_watch *m,
                            const struct note *n) {
    if (e->by.cta == e->owner || m->published == MBAR_PUBLISHED)
        return;
    const struct mach_origin origin = event_origin(&e->by);
    mach_warn(e->by.cta->island, &origin, knows_init(r, e, m, n) ? &init_unmet : &unpublished,
              "%s on cluster CTA %u's mbarrier 0x%x: no %s since mbarrier.init", e->by.what, e->owner->rank, e->off,
              m->published == MBAR_FRESH ? "release.cluster" : "cluster barrier");
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

#define ARRIVES_AHEAD                                                                                                  \
    DIAG_HEAD(WARNING, "mbarrier-phase-missed", "9.7.13.15.6, 9.7.13.15.13"),                                          \
        .rule = "an arrival counts in the phase that is current. A thread must know that the phase before is over "    \
                "before it arrives, or its arrival may count in that one"
DIAG(arrives_ahead) = {
    ARRIVES_AHEAD,
    .hint = "Let a thread that arrives once each round wait in between: on this mbarrier, or on one whose phases "
            "follow from it. On most runs the others keep up",
    .reason = "a thread that polls in time sees the phase; one that polls later waits for ever. By default the "
              "emulator lets it poll in time.",
};
DIAG(arrives_uncounted) = {
    ARRIVES_AHEAD,
    .hint = "Let mbarrier.init count all arrivals of a round (lanes, warps, CTAs, and the counts given to arrive), or "
            "let fewer threads arrive. The phase before ended without this thread",
};
DIAG(arrives_again) = {
    ARRIVES_AHEAD,
    .hint = "Let the thread wait between its arrivals: it arrived in the phase before, too. If it does wait, flip the "
            "parity of the wait once for each phase, or correct its mbarrier",
};

/* Do the lanes of a strand know, through any synchronisation, all arrivals of the phase before? Then it is over. */
static bool knows_arrivals(struct race *r, const struct mbar_watch *m, const struct strand *s, uint32_t warp,
                           uint32_t lanes) {
    bool known = m->before;
    for (; known && lanes; lanes &= lanes - 1) {
        struct vclock *c = vclock_hold(s->k.now[LAYER_RAN]);
        vclock_add_lanes(&r->clocks, &c, warp, lanes & (0u - lanes), r->time);
        known = !vclock_exceeds(&r->clocks, m->before, c);
        vclock_drop(&r->clocks, c);
    }
    return known;
}

/* Do the arriving threads know that the phase before is over: from its end, or from all its arrivals? */
static bool threads_know(struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    for (uint32_t i = 0; i < w->num_strands; i++) {
        const struct strand *s = &w->strand[i];
        if ((s->lanes & e->by.lanes) && !vclock_knows_token(s->k.now[LAYER_RAN], m->token, (uint32_t)e->phase) &&
            !knows_arrivals(r, m, s, warp, s->lanes & e->by.lanes))
            return false;
    }
    return true;
}

/* Has the same thread's tcgen05.commit ended the phase before, and does each of the two commits end its phase alone?
 * Then they end two phases, whichever comes first. */
static bool takes_turns(const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    return n->tensor && m->first.alone && !m->operations && !e->pending && !e->tx && m->first.warp == n->warp &&
           m->first.lanes == n->lanes;
}

/* For an arrival: do its threads (or the issuer of the operation `n`) know that the phase before is over? */
static void check_phase(struct race *r, const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    if (n ? vclock_knows_token(n->now[LAYER_RAN], m->token, (uint32_t)e->phase) || takes_turns(e, m, n)
          : threads_know(r, e, m))
        return;
    const struct mach_origin origin = n ? n->origin : event_origin(&e->by);
    const bool again = !n && mbars_took_part(m, race_warp(r, e->by.cta, e->by.warp), e->phase) & e->by.lanes;
    mach_warn(r->island, &origin,
              again             ? &arrives_again
              : n || !m->before ? &arrives_ahead /* an operation arrives now, or did in the phase before */
                                : &arrives_uncounted,
              "nothing orders %s in phase %llu of mbarrier 0x%x after the end of phase %llu", e->by.what,
              (unsigned long long)e->phase, m->off, (unsigned long long)e->phase - 1);
}

DIAG(phase_unseen) = {
    DIAG_HEAD(STRICT, "mbarrier-phase-unseen", "9.7.13.15.4"),
    .rule =
        "for each phase, at least one test_wait or try_wait must return true before anything arrives in the next phase",
    .hint = "Let one thread poll until the answer is true, before the arrivals of the next phase",
    .reason =
        "an H200 counts the phases without a poll, too, where compute-sanitizer (synccheck) reports \"Missing wait\".",
};

/* For an arrival: has any poll seen the phase before end (9.7.13.15.4)? */
static void check_unseen(struct race *r, const struct event_sync *e, const struct mbar_watch *m, const struct note *n) {
    if (!e->phase || (m->seen && m->saw >= e->phase))
        return;
    const struct mach_origin origin = n ? n->origin : event_origin(&e->by);
    mach_warn(r->island, &origin, &phase_unseen,
              "%s in phase %llu of mbarrier 0x%x, and no poll has seen phase %llu end", e->by.what,
              (unsigned long long)e->phase, m->off, (unsigned long long)e->phase - 1);
}

DIAG(phase_missed) = {
    DIAG_HEAD(WARNING, "mbarrier-phase-missed", "9.7.13.15.16"),
    .rule = "a wait by parity can tell only the current phase from the one before it. So a phase must not end until "
            "all threads that wait for the phase before have seen that one end",
    .hint = "Let the arrivals of this phase wait until all threads have seen the phase before, for example on an "
            "mbarrier on which these threads arrive. A thread that polls too late waits for ever",
};

/* At the end of a phase: are its arrivals ordered after the polls that saw the end of the phase before? Lanes of a warp
 * count as one. */
static void check_seen(struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    const struct mbar_use *first = NULL; /* of the lowest warp */
    for (uint32_t i = 0; m->saw == e->phase && i < m->num_seen; i++) {
        const struct mbar_use *use = &m->seen[i];
        if (!(first && first->warp < use->warp) &&
            !vclock_knows_any(m->m.open[LAYER_RAN], use->warp, UINT32_MAX, use->time))
            first = use;
    }
    if (!first)
        return;
    const struct mach_origin origin = event_origin(&e->by);
    const struct mach_origin theirs = race_origin(r, first->warp, first->lanes, first->site);
    mach_warn_pair(r->island, &origin, &theirs, "a poll, which saw the phase before", &phase_missed,
                   "%s ends phase %llu of mbarrier 0x%x; nothing orders it after polls of phase %llu", e->by.what,
                   (unsigned long long)e->phase, m->off, (unsigned long long)e->phase - 1);
}

DIAG(expects_late) = {
    DIAG_HEAD(WARNING, "mbarrier-phase-missed", "9.7.13.15.5, 9.7.13.15.11"),
    .rule = "expect_tx counts in the current phase: the one for which an arrival is still pending",
    .hint = "Announce all bytes of a phase before its last arrival, or with it: mbarrier.arrive.expect_tx. On most "
            "runs the bytes come later",
};

/* For an expect_tx: has the phase still an arrival pending? If not, only pending bytes keep it open, and the bytes of
 * issued copies may come at any time. */
static void check_expect(struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    if (e->pending || e->tx <= (int64_t)e->bytes || (!m->coming && !m->brought))
        return;
    const struct mach_origin origin = event_origin(&e->by);
    mach_warn(r->island, &origin, &expects_late,
              "%s announces %u bytes in phase %llu of mbarrier 0x%x, after all its arrivals", e->by.what, e->bytes,
              (unsigned long long)e->phase, e->off);
}

void verdict_mbar_sync(struct race *r, const struct event_sync *e, struct mbar_watch *m, const struct note *n) {
    if (e->kind == SYNC_MBAR_PHASE) {
        check_seen(r, e, m);
        return;
    }
    check_init(r, e, m);
    check_published(r, e, m, n);
    if (e->kind == SYNC_MBAR_ARRIVE || e->kind == SYNC_MBAR_DROP) {
        check_phase(r, e, m, n);
        check_unseen(r, e, m, n);
    } else if (e->kind == SYNC_MBAR_EXPECT_TX) {
        check_expect(r, e, m);
    }
}

bool verdict_mbar_joins(const struct race *r, const struct event_sync *e, const struct mbar_watch *m) {
    const uint32_t warp = race_warp_of(r, &e->by);
    const struct warp_watch *w = &r->warps[warp];
    if (e->by.cta != e->owner || warp >= 64 || !(m->told >> warp & 1) || (e->phase && m->saw < e->phase))
        return false;
    for (uint32_t i = 0; i < w->num_strands; i++)
        if (!vclock_knows_token(w->strand[i].k.now[LAYER_RAN], m->token, (uint32_t)e->phase))
            return false;
    return true;
}

/* --- the end of the CTA ------------------------------------------------------------------------------------------- */

DIAG(exits_early) = {
    DIAG_HEAD(WARNING, "cta-exits-early", "5.1.7, 9.7.16.12.1"),
    .rule = "shared memory ends with its CTA. Before its last thread exits, all arrivals and bytes from other CTAs "
            "must have come, and some thread of the CTA must have observed that",
    .hint = "Wait for the last phase of every mbarrier, of every stage, on which other CTAs' copies and tcgen05.commit "
            "arrive. Or add a cluster barrier after such a wait. Mostly the arrivals come in time",
    .reason = "the arrival or the bytes may come after the exit, into memory that is another CTA's.",
};

DIAG(exits_unseen) = {
    DIAG_HEAD(STRICT, "cta-exits-unseen", "5.1.7, 9.7.16.12.1"),
    .rule = "shared memory ends with its CTA. The arrival of a later tcgen05.commit does not prove that an earlier one "
            "has arrived",
    .hint = "Wait for the last phase of every mbarrier, of every stage, on which other CTAs' tcgen05.commit arrives. "
            "Pair kernels that run on a B200 do without",
    .reason = "pair kernels that run on a B200 end without these waits.",
};

/* If the last remote arrival is a tcgen05.commit: does the clock know, from a later commit of the same thread, that its
 * operations are complete? */
static bool is_over(const struct vclock *c, const struct mbar_watch *m) {
    const struct done *d = &m->remote.by;
    return d->how == DONE_TOKEN && vclock_knows_token(c, d->token, d->step);
}

/* At the exit of a CTA: does it know that the last arrivals of other CTAs' operations have come? */
static void check_remote(const struct race *r, const struct event_life *e) {
    const struct cta_watch *c = &r->ctas[e->owner->rank];
    for (uint32_t i = 0; i < c->mbars.num; i++) {
        const struct mbar_watch *m = &c->mbars.list[i];
        const struct vclock *known = c->exited.open[LAYER_RAN];
        if (!m->remote.any || vclock_knows_token(known, m->token, (uint32_t)m->remote.phase + 1))
            continue;
        mach_warn_pair(r->island, &m->remote.origin, &m->init->origin, "mbarrier.init",
                       is_over(known, m) ? &exits_unseen : &exits_early,
                       "cluster CTA %u may exit before %s reaches mbarrier 0x%x, phase %llu", e->owner->rank,
                       m->remote.what, m->off, (unsigned long long)m->remote.phase);
        return;
    }
}

DIAG(unannounced) = {
    DIAG_HEAD(WARNING, "mbarrier-bytes-unannounced", "9.7.13.15.5, 9.7.13.15.6"),
    .rule = "expect_tx must announce every byte that the copies of a phase bring to its mbarrier",
    .hint =
        "Let expect_tx announce all bytes of the phase, also those that other CTAs send (of a CTA pair: both halves)",
    .reason =
        "if these bytes come first, they stand for announced ones, and the phase can end before those have arrived.",
};

/* At the exit of a CTA: have bytes come to one of its mbarriers that no expect_tx announced? */
static void check_announced(const struct cta *cta) {
    for (uint32_t i = 0; i < cta->num_mbars; i++) {
        struct mbar_view v;
        if (!mbar_last(cta, i, &v) || v.tx >= 0)
            continue;
        mach_warn(cta->island, NULL, &unannounced,
                  "no expect_tx announced %d bytes on mbarrier 0x%x of CTA (%u,%u,%u), rank %u", (int)-v.tx,
                  cta->mbars[i].off, cta->id.x, cta->id.y, cta->id.z, cta->rank);
        return;
    }
}

void verdict_mbar_exit(const struct race *r, const struct event_life *e) {
    check_remote(r, e);
    check_announced(e->owner);
}
