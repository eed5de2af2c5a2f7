/* isa/mbarrier.c - the mbarrier instructions (PTX ISA 9.7.13.15.10 - .17; .init: isa/mbarrier_init.c). The objects are
 * machine/mbarrier.c's.
 *
 * Lanes act one after another in ascending order and may name different objects. test_wait and try_wait
 * answer each lane by itself. A try_wait of which no lane's phase is complete suspends the group until its
 * CTA changes; it answers false the first time that a warp comes to wait in it, and when nothing else in the
 * launch can run, which stand for the system-dependent time limit of the ISA. A test_wait answers at once, or
 * under the default schedule PEEK_TURNS later (looks_again), but a group that asks POLL_LIMIT times while its
 * CTA does not change is suspended likewise, so that a loop of test_wait costs nothing and counts as waiting
 * when nothing can run any more.
 *
 * A parity names the current phase and the one before it alone (9.7.13.15.16), so a poll that comes after two phases
 * have completed misses the first. Under the default schedule one that is suspended does not: it is answered as if it
 * had been asked in between.
 *
 * Under MACH_SCHED_MODEL polls take time: a try_wait is suspended until its phase is over, a test_wait answers by what
 * has come through to it by then.
 */
#include "isa/mbarrier.h"

#include "warp/meet.h"

#include <stdio.h>

#define POLL_LIMIT 16u
#define POLL_LIMIT_TIMED 1024u /* under MACH_SCHED_MODEL, where they take time */
#define PEEK_TURNS 8u

#define INLINE static inline __attribute__((always_inline))

DIAG(bad_parity) = {
    DIAG_HEAD(ERROR, "mbarrier-parity", "9.7.13.15.16"),
    .rule = "the phase parity is 0 for even phases and 1 for odd ones",
    .hint = "Pass the lowest bit of the phase counter",
    .reason = "a parity other than 0 and 1 names no phase.",
};
DIAG(remote_state) = {
    DIAG_HEAD(ERROR, "mbarrier-remote-state", "9.7.13.15.13"),
    .rule = "an arrive on another CTA's mbarrier returns no state: its destination must be _",
    .reason = "an arrive returns a state only of the executing CTA's own mbarrier.",
};
DIAG(completed) = {
    DIAG_HEAD(ERROR, "mbarrier-no-complete", "9.7.13.15.13"),
    .rule = "an arrive with .noComplete must not complete the phase",
    .reason = "the ISA leaves the behaviour undefined.",
};
DIAG(missed) = {
    DIAG_HEAD(WARNING, "mbarrier-phase-missed", "9.7.13.15.16"),
    .rule = "test_wait and try_wait can ask only for the current phase and the one before it. A phase can be observed "
            "until the next one completes",
    .hint = "Let the last arrival of the next phase wait until all threads that wait for this phase have seen it. A "
            "ring of stages does it with a second mbarrier for \"empty\". A thread that misses a phase waits for ever, "
            "or for a later one",
    .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
};

/* What happened to the mbarrier at shared offset `off`, with its state where it has one. */
static void describe_error(char *text, size_t size, const struct cta *cta, uint32_t off, enum mbar_error e,
                           uint32_t value) {
    struct mbar_view v = {0};
    bool live = mbar_peek(cta, off, &v) == MBAR_OK;
    if (e == MBAR_BAD_COUNT)
        snprintf(text, size, "arrival count %u for the mbarrier at shared offset 0x%x", value, off);
    else if (e == MBAR_NOT_INITIALISED)
        snprintf(text, size, "there is no initialised mbarrier at shared offset 0x%x", off);
    else if (e == MBAR_CORRUPT)
        snprintf(text, size, "the mbarrier at shared offset 0x%x was overwritten", off);
    else if (e == MBAR_TOO_MANY_ARRIVALS && live)
        snprintf(text, size, "%u arrival%s on mbarrier 0x%x, which awaits %u of %u", value, value == 1 ? "" : "s", off,
                 v.pending, v.expected);
    else if (e == MBAR_TX_RANGE && live)
        snprintf(text, size, "%u more bytes for the mbarrier at shared offset 0x%x, whose tx-count is %d", value, off,
                 v.tx);
    else
        snprintf(text, size, "mbarrier 0x%x of cluster CTA %u: %s", off, cta->rank, mbar_error_text(e));
}

DIAG(arrives_unwaited) = {
    .id = "mbarrier-too-many-arrivals",
    .rule = "a phase takes no more arrivals than mbarrier.init announced",
    .section = "PTX ISA 9.7.13.15.2",
    .hint = "Flip the parity of that wait once for each phase. It asked for the phase before, passed at once, and so "
            "the warp arrives twice in one phase",
    .reason = "the phase completes early, and every later one is out of step.",
};

enum warp_status isa_mbar_fault(struct warp *w, const struct insn *in, uint32_t lane, struct cta *cta, uint32_t off,
                                enum mbar_error e, uint32_t value, uint32_t together) {
    char text[300];
    describe_error(text, sizeof text, cta, off, e, value);
    const size_t n = strlen(text);
    if (e == MBAR_TOO_MANY_ARRIVALS && together > 1)
        snprintf(text + n, sizeof text - n, "; %u threads arrive together", together);
    else if (e == MBAR_TOO_MANY_ARRIVALS && cta == w->cta && mbar_index(cta, off) < cta->num_mbars &&
             cta->mbars[mbar_index(cta, off)].again >> w->index & 1) {
        snprintf(text + n, sizeof text - n,
                 ": a wait of this warp for it passed though no phase had ended since the last");
        return warp_fault(w, in, 1u << lane, &arrives_unwaited, "%s", text);
    }
    return warp_fault(w, in, 1u << lane, mbar_error_diag(e), "%s", text);
}

/* --- inval, expect_tx, complete_tx -------------------------------------------------------------------------------- */

static enum warp_status do_simple(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mbar_form *f = in->data;
    if (f->value && !warp_known(w, in, mask, f->value, "the count"))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        struct cta *cta;
        uint32_t off, value = f->value ? warp_u32(w, f->value, l) : 0;
        if (!isa_mbar_locate(w, in, f, l, &cta, &off))
            return WARP_FAULT;
        const struct event_by by = isa_mbar_actor(w, in, 1u << l);
        enum mbar_error e = MBAR_OK;
        if (in->src->op == PTX_OP_mbarrier_inval)
            e = mbar_inval(&by, cta, off);
        else if (in->src->op == PTX_OP_mbarrier_expect_tx)
            e = mbar_expect_tx(&by, cta, off, value);
        else
            e = mbar_complete_tx(&by, cta, off, value);
        if (e != MBAR_OK)
            return isa_mbar_fault(w, in, l, cta, off, e, value, 1);
    }
    return WARP_NEXT;
}

/* --- arrive, arrive_drop ------------------------------------------------------------------------------------------ */

/* Are all 32 words, or pairs of them, the same? */
INLINE bool all_the_same(const uint32_t *b, unsigned bits) {
    typedef uint64_t two __attribute__((vector_size(16), aligned(4), may_alias));
    const uint64_t pair = b[0] | (uint64_t)b[bits == 64] << 32;
    const two first = {pair, pair}, *v = (const two *)b;
    two rest = {0};
    for (unsigned i = 0; i < bits / 4; i += 8, v += 8)
        rest |= (((v[0] ^ first) | (v[1] ^ first)) | ((v[2] ^ first) | (v[3] ^ first))) |
                (((v[4] ^ first) | (v[5] ^ first)) | ((v[6] ^ first) | (v[7] ^ first)));
    return !(rest[0] | rest[1]);
}

/* Do all lanes of `mask` name one object, by addresses that are known? */
INLINE bool name_the_same(const struct warp *w, const struct mbar_form *f, uint32_t mask) {
    const uint32_t first = warp_lowest(mask);
    uint64_t rest = 0;
    if (!f->addr->has_base)
        return true;
    const uint32_t *const b = warp_src32(w, f->addr->slot);
    if (mask == WARP_ALL_LANES)
        return !warp_poison(w, f->addr->slot) && (f->addr->bits == 64 ? all_the_same(b, 64) : all_the_same(b, 32));
    if (f->addr->bits == 64)
        WARP_FOR_LANES(l, mask) { rest |= warp_src64(w, f->addr->slot)[l] ^ warp_src64(w, f->addr->slot)[first]; }
    else
        WARP_FOR_LANES(l, mask) { rest |= b[l] ^ b[first]; }
    return !rest && !(warp_poison(w, f->addr->slot) & mask);
}

/* The lanes arrive at one object of their CTA with one count, within its phase, and nobody wants to know of each: then
 * all are one arrival. False: nothing has happened. */
static inline bool arrive_together(struct warp *w, const struct insn *in, uint32_t mask, uint64_t states[MACH_WARP]) {
    const struct mbar_form *f = in->data;
    const struct warp_opnd *const o = f->addr;
    const uint32_t first = warp_lowest(mask);
    if (!f->together || !(mask & (mask - 1)) || w->gpu->apart & WANT_MBARRIER ||
        (f->bytes && events_wanted(w->gpu, WANT_MBARRIER)) || !name_the_same(w, f, mask))
        return false;
    uint64_t off = (uint64_t)o->offset - ((uint64_t)w->cta->rank << MACH_SMEM_RANK_SHIFT);
    if (o->has_base)
        off += o->bits == 64 ? warp_src64(w, o->slot)[first] : warp_src32(w, o->slot)[first];
    if (off > UINT32_MAX)
        return false;
    const struct event_by by = isa_mbar_actor(w, in, mask);
    if (mbar_arrive_together(&by, w->cta, (uint32_t)off, f->bytes, f->count, f->has_state ? &states[first] : NULL) !=
        MBAR_OK)
        return false;
    if (!f->has_state)
        return true;
    uint64_t state = states[first]; /* each lane's has the arrivals before it, in the lowest bits */
    WARP_FOR_LANES(l, mask) {
        states[l] = state;
        state -= f->count;
    }
    return true;
}

static enum warp_status do_arrive(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mbar_form *f = in->data;
    if (f->value && !warp_known(w, in, mask, f->value, f->expect_tx ? "the tx-count" : "the count"))
        return WARP_FAULT;
    uint64_t states[MACH_WARP];
    WARP_FOR_LANES(l, arrive_together(w, in, mask, states) ? 0 : mask) {
        struct cta *cta;
        uint32_t off, value = f->value ? warp_u32(w, f->value, l) : 1;
        if (!isa_mbar_locate(w, in, f, l, &cta, &off))
            return WARP_FAULT;
        if (cta != w->cta && f->has_state)
            return warp_fault(w, in, 1u << l, &remote_state,
                              "lane %u asks for the state of an mbarrier of cluster CTA %u", l, cta->rank);
        struct mbar_view v;
        if (f->no_complete && mbar_peek(cta, off, &v) == MBAR_OK && v.tx == 0 && v.pending == value)
            return warp_fault(w, in, 1u << l, &completed,
                              "lane %u arrives with .noComplete and the last %u arrivals of the phase", l, value);
        const struct event_by by = isa_mbar_actor(w, in, 1u << l);
        enum mbar_error e = f->expect_tx ? mbar_arrive_expect_tx(&by, cta, off, value, f->drop, &states[l])
                                         : mbar_arrive(&by, cta, off, value, f->drop, &states[l]);
        if (e != MBAR_OK)
            return isa_mbar_fault(w, in, l, cta, off, e, f->expect_tx && e == MBAR_TOO_MANY_ARRIVALS ? 1 : value,
                                  (uint32_t)__builtin_popcount(mask));
    }
    if (f->has_state) {
        uint64_t *d = warp_dst64(w, f->dst);
        WARP_FOR_LANES(l, mask) d[l] = states[l];
        warp_set_poison(w, f->dst, mask, 0);
    }
    return WARP_NEXT;
}

/* --- test_wait, try_wait ------------------------------------------------------------------------------------------ */

/* Do all lanes of `mask` name one object and one phase, by addresses that are known? */
static bool ask_the_same(const struct warp *w, const struct mbar_form *f, uint32_t mask) {
    const uint32_t first = warp_lowest(mask);
    uint64_t rest = 0;
    if (!name_the_same(w, f, mask))
        return false;
    if (!(mask & (mask - 1)))
        return true;
    if (!f->value->is_imm && !f->parity) {
        const uint64_t *v = warp_src64(w, f->value->slot);
        WARP_FOR_LANES(l, mask) { rest |= v[l] ^ v[first]; }
    } else if (!f->value->is_imm) {
        const uint32_t *v = warp_src32(w, f->value->slot);
        WARP_FOR_LANES(l, mask) { rest |= v[l] ^ v[first]; }
    }
    return !rest;
}

/* Lane l asks again, after it was suspended: has it missed a phase? False after a fault. */
static bool test_again(struct warp *w, const struct insn *in, uint32_t l, const struct cta *cta, uint32_t off,
                       bool *complete) {
    const uint32_t index = mbar_index(cta, off);
    const uint64_t then = w->polled[l], now = cta->mbars[index].phases;
    if (now < then + 2)
        return true;
    const struct mach_origin origin = warp_origin(w, in, 1u << l);
    *complete |= w->gpu->config.schedule == MACH_SCHED_DEFAULT;
    return mach_warn(w->island, &origin, &missed,
                     "the mbarrier at shared offset 0x%x has completed %llu phases since lane %u began to wait for one",
                     off, (unsigned long long)(now - then), l);
}

/* Is the phase that lane l asks for complete? Else *wait, where it is still empty, says what the lane waits for. False
 * after a fault. */
static bool test_lane(struct warp *w, const struct insn *in, uint32_t l, bool *complete, struct warp_wait *wait) {
    const struct mbar_form *f = in->data;
    struct cta *cta;
    uint32_t off;
    if (!isa_mbar_locate(w, in, f, l, &cta, &off))
        return false;
    uint64_t state = f->parity ? warp_u32(w, f->value, l) : warp_src64(w, f->value->slot)[l];
    if (f->parity && state > 1)
        return warp_fails(w, in, 1u << l, &bad_parity, "lane %u waits for phase parity %u, not 0 or 1", l,
                          (uint32_t)state);
    enum mbar_error e =
        f->parity ? mbar_test_parity(cta, off, (uint32_t)state, complete) : mbar_test_state(cta, off, state, complete);
    if (e != MBAR_OK) {
        isa_mbar_fault(w, in, l, cta, off, e, (uint32_t)state, 1);
        return false;
    }
    if (w->g->wait.polls && !test_again(w, in, l, cta, off, complete))
        return false;
    if (!*complete)
        w->polled[l] = cta->mbars[mbar_index(cta, off)].phases;
    if (!*complete && wait->kind == WAIT_NONE)
        *wait = (struct warp_wait){.kind = WAIT_MBARRIER,
                                   .polls = true,
                                   .mbar = mbar_index(cta, off),
                                   .addr = cta->rank << MACH_SMEM_RANK_SHIFT | off,
                                   .value = f->parity ? state : mbar_state_phase(state)};
    return true;
}

/* Lanes whose phase is complete in *done; *wait: what the lowest of the others waits for. False after a
 * fault. */
static bool test_lanes(struct warp *w, const struct insn *in, uint32_t mask, uint32_t *done, struct warp_wait *wait) {
    const struct mbar_form *f = in->data;
    bool complete = false, same = ask_the_same(w, f, mask);
    *done = 0;
    if (same) {
        const uint64_t *first = &w->polled[warp_lowest(mask)];
        if (!test_lane(w, in, warp_lowest(mask), &complete, wait))
            return false;
        *done = complete ? mask : 0;
        WARP_FOR_LANES(l, mask) w->polled[l] = *first;
        wait->one_mbar = f->is_try;
        return true;
    }
    WARP_FOR_LANES(l, mask) {
        if (!test_lane(w, in, l, &complete, wait))
            return false;
        if (complete)
            *done |= 1u << l;
    }
    return true;
}

/* The lanes of `done` go on: the reports of those who wait in vain ask who has passed what. True: the warp had seen
 * that phase before, or none has ended yet. */
static bool note_pass(struct warp *w, const struct insn *in, uint32_t done) {
    const struct mbar_form *f = in->data;
    struct cta *cta;
    uint32_t off;
    return isa_mbar_locate(w, in, f, warp_lowest(done), &cta, &off) && mbar_passed(cta, off, w->index);
}

/* A poll of lanes `mask` is answered: yes for `done`. Lanes that name one object are told of together. */
static void tell_polls(struct warp *w, const struct insn *in, uint32_t mask, uint32_t done) {
    const struct mbar_form *f = in->data;
    const bool same = ask_the_same(w, f, mask);
    for (uint32_t left = mask; left;) {
        const uint32_t l = warp_lowest(left), lanes = same ? left : 1u << l;
        left &= ~lanes;
        struct cta *cta;
        uint32_t off;
        struct mbar_view v;
        if (!isa_mbar_locate(w, in, f, l, &cta, &off) || mbar_peek(cta, off, &v) != MBAR_OK)
            return;
        const uint64_t state = f->parity ? warp_u32(w, f->value, l) : warp_src64(w, f->value->slot)[l];
        const uint32_t parity = (uint32_t)(f->parity ? state : mbar_state_phase(state));
        const bool later = (done & lanes) && parity == v.phase; /* as if asked before the latest phase was over */
        events_send_sync(w->gpu, &(struct event_sync){.by = isa_by(w, in, lanes),
                                                      .kind = SYNC_MBAR_TEST,
                                                      .owner = cta,
                                                      .off = off,
                                                      .phase = later ? w->polled[l] + 1 : v.phases,
                                                      .pending = v.pending,
                                                      .tx = v.tx,
                                                      .parity = parity,
                                                      .done = done & lanes});
    }
}

/* A try_wait may come back before its phase is complete. Each that names no time of its own does so the first time that
 * a warp has to wait in it: who asks once, rather than until the answer is yes, is seen. A bit stands for several in
 * long functions. */
static bool comes_back(struct warp *w, const struct insn *in) {
    if (in->num_opnds > 3 || w->island->timed) /* suspendTimeHint; MACH_SCHED_MODEL: the limit is long */
        return false;
    const uint64_t bit = UINT64_C(1) << (in - w->func->code) % 64;
    const bool first = !(w->came_back & bit);
    w->came_back |= bit;
    return first;
}

/* Under the default schedule every second test_wait that would say no waits some turns for a yes first: of who looks
 * ahead and does one thing or another, both are seen. */
static bool looks_again(struct warp *w) {
    const uint32_t turn = w->peeks++ % (PEEK_TURNS + 2);
    return w->gpu->config.schedule == MACH_SCHED_DEFAULT && turn != 0 && turn <= PEEK_TURNS;
}

/* MACH_SCHED_MODEL: of the lanes whose phase is over, those to which that has come through. */
static uint32_t seen(struct warp *w, const struct insn *in, uint32_t done) {
    const struct mach_timing *t = w->gpu->timing;
    uint32_t seen = 0;
    WARP_FOR_LANES(l, done) {
        struct cta *cta;
        uint32_t off;
        if (isa_mbar_locate(w, in, in->data, l, &cta, &off) && t->sees(t->ctx, cta, off))
            seen |= 1u << l;
    }
    return seen;
}

/* How many test_wait in a row say no before they suspend. */
static uint32_t poll_limit(const struct warp *w) { return w->island->timed ? POLL_LIMIT_TIMED : POLL_LIMIT; }

static enum warp_status do_wait(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mbar_form *f = in->data;
    struct group *g = w->g;
    struct warp_wait wait = {.kind = WAIT_NONE};
    uint32_t done;
    bool limit = warp_timed_out(w), again = false;
    if (!warp_known(w, in, mask, f->value, f->parity ? "the phase parity" : "the state") ||
        !test_lanes(w, in, mask, &done, &wait))
        return WARP_FAULT;
    if (done && !f->is_try && w->island->timed)
        done = seen(w, in, done);
    if (done) {
        g->polls = 0;
        if (!f->is_try)
            w->peeks = 0;
        again = note_pass(w, in, done);
    } else if (f->is_try) {
        if (!limit && !comes_back(w, in))
            return warp_isolate(w, in, mask) ? WARP_JUMP : warp_wait(w, in, &wait);
    } else {
        if (!limit && looks_again(w)) {
            if (warp_isolate(w, in, mask))
                return WARP_JUMP;
            g->wait.polls = true; /* and may miss a phase meanwhile */
            return warp_give_way(w);
        }
        if (g->epoch != w->cta->epoch)
            g->polls = 0;
        g->epoch = w->cta->epoch;
        if (++g->polls > poll_limit(w) && !limit && wait.kind != WAIT_NONE)
            return warp_isolate(w, in, mask) ? WARP_JUMP : warp_wait(w, in, &wait);
    }
    if (events_wanted(w->gpu, WANT_POLL))
        tell_polls(w, in, mask, done);
    w->waited = (struct warp_waited){in->src, WAIT_MBARRIER, .no = done != mask, .again = again};
    g->wait.polls = false; /* what it asks next is another question */
    warp_set_pred(w, f->dst, mask, done);
    if (f->dst != WARP_SINK)
        warp_set_poison(w, f->dst, mask, 0);
    return WARP_NEXT;
}

static enum warp_status do_pending_count(struct warp *w, const struct insn *in, uint32_t mask) {
    warp_slot d = in->o[0].slot, s = in->o[1].slot;
    WARP_FOR_LANES(l, mask) warp_dst32(w, d)[l] = mbar_pending_count(warp_src64(w, s)[l]);
    return warp_done(w, d, mask, warp_poison(w, s));
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

/* What the words say; a scope comes with a memory order and only then. */
static bool bind_words(struct isa_binder *b, const struct ptx_insn *src, struct mbar_form *f, struct isa_words *k) {
    if (!isa_sort(b, src,
                  ISA_WORDS(PTX_MOD_release, PTX_MOD_acquire, PTX_MOD_relaxed, PTX_MOD_cta, PTX_MOD_cluster,
                            PTX_MOD_shared, PTX_MOD_shared__cta, PTX_MOD_shared__cluster, PTX_MOD_expect_tx,
                            PTX_MOD_noComplete, PTX_MOD_parity, PTX_MOD_b64),
                  k))
        return false;
    f->generic = !k->of[PTX_KIND_space];
    f->cluster = k->of[PTX_KIND_space] == PTX_MOD_shared__cluster;
    f->expect_tx = ptx_has(src, PTX_MOD_expect_tx);
    f->no_complete = ptx_has(src, PTX_MOD_noComplete);
    f->parity = ptx_has(src, PTX_MOD_parity);
    if (!k->of[PTX_KIND_type])
        return isa_refuse(b, "the type is .b64");
    return !k->of[PTX_KIND_order] == !k->of[PTX_KIND_scope] ||
           isa_refuse(b, "a memory order needs a scope, and the reverse");
}

static bool bind_simple(struct isa_binder *b, struct insn *in, struct mbar_form *f, const struct isa_words *k) {
    bool tx = in->src->op == PTX_OP_mbarrier_expect_tx || in->src->op == PTX_OP_mbarrier_complete_tx;
    bool value = in->src->op != PTX_OP_mbarrier_inval;
    const enum ptx_mod order = k->of[PTX_KIND_order];
    if (f->expect_tx || f->no_complete || f->parity)
        return false;
    if (!tx && (f->cluster || order))
        return isa_refuse(b, "an mbarrier is initialised and invalidated by its own CTA");
    if (order && order != PTX_MOD_relaxed)
        return false;
    f->cluster |= tx && f->generic;
    f->addr = &in->o[0];
    f->value = value ? &in->o[1] : NULL;
    in->fn = in->src->op == PTX_OP_mbarrier_init ? isa_do_mbar_init : do_simple;
    return true;
}

static bool bind_arrive(struct isa_binder *b, struct insn *in, struct mbar_form *f, const struct isa_words *k) {
    f->drop = in->src->op == PTX_OP_mbarrier_arrive_drop;
    if (f->parity || k->of[PTX_KIND_order] == PTX_MOD_acquire)
        return false;
    f->has_state = in->o[0].kind == WARP_SLOT;
    if (f->has_state && f->cluster)
        return isa_refuse(b, "an arrive on .shared::cluster returns no state");
    if (f->no_complete &&
        (f->expect_tx || f->cluster || in->num_opnds != 3 ||
         (k->of[PTX_KIND_order] && (k->of[PTX_KIND_order] != PTX_MOD_release || k->of[PTX_KIND_scope] != PTX_MOD_cta))))
        return false;
    if (f->expect_tx && in->num_opnds != 3)
        return false;
    f->cluster |= f->generic;
    f->dst = f->has_state ? in->o[0].slot : WARP_SINK;
    f->addr = &in->o[1];
    f->value = in->num_opnds == 3 ? &in->o[2] : NULL;
    const uint32_t value = f->value && f->value->is_imm ? (uint32_t)f->value->more->src->imm : 1;
    f->bytes = f->expect_tx ? value : 0;
    f->count = f->expect_tx ? 1 : value;
    f->together =
        !f->generic && !f->drop && !f->no_complete && !(f->value && !f->value->is_imm) && !(f->has_state && f->bytes);
    in->fn = do_arrive;
    return true;
}

static bool bind_wait(struct isa_binder *b, struct insn *in, struct mbar_form *f, const struct isa_words *k) {
    f->is_try = in->src->op == PTX_OP_mbarrier_try_wait;
    if (f->cluster)
        return isa_refuse(b, "threads wait on mbarriers of their own CTA only");
    if (f->expect_tx || f->no_complete || k->of[PTX_KIND_order] == PTX_MOD_release)
        return false;
    f->dst = in->o[0].slot;
    f->addr = &in->o[1];
    f->value = &in->o[2];
    in->fn = do_wait;
    return true;
}

bool isa_bind_mbarrier(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    struct mbar_form *f = arena_alloc(b->arena, sizeof *f);
    if (!bind_words(b, in->src, f, &k))
        return false;
    in->data = f;
    switch (in->src->op) {
    case PTX_OP_mbarrier_init:
    case PTX_OP_mbarrier_inval:
    case PTX_OP_mbarrier_expect_tx:
    case PTX_OP_mbarrier_complete_tx:
        return bind_simple(b, in, f, &k);
    case PTX_OP_mbarrier_arrive:
    case PTX_OP_mbarrier_arrive_drop:
        return bind_arrive(b, in, f, &k);
    case PTX_OP_mbarrier_test_wait:
    case PTX_OP_mbarrier_try_wait:
        return bind_wait(b, in, f, &k);
    case PTX_OP_mbarrier_pending_count:
        in->fn = do_pending_count;
        return !k.of[PTX_KIND_space] && !k.of[PTX_KIND_order];
    default:
        return false;
    }
}
