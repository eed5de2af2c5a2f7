/* isa/barrier.c - bar and barrier{.cta}, barrier.cluster, membar and fence (PTX ISA 9.7.13.1, .3, .4).
 *
 * Barriers count warps: a warp arrives when all its live threads stand at a barrier instruction of one kind, not
 * necessarily at the same one, and then counts as 32 threads. Without a thread count the warps that have exited are not
 * waited for. A warp that waits runs the instruction again after every change of the CTA; warp.bar_waiting tells that
 * it has arrived.
 *
 * Memory is sequentially consistent here, so that fences have no effect on values. Their forms are checked.
 */
#include "isa/form.h"
#include "isa/tell.h"
#include "warp/meet.h"

/* --- bar, barrier ------------------------------------------------------------------------------------------------- */

enum bar_op { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

struct bar_form {
    enum bar_op op;
    const struct warp_opnd *a, *b, *c; /* barrier, thread count or NULL, predicate or NULL */
    warp_slot dst;
};

DIAG(bar_number) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "barrier-number", "9.7.13.1"),
    .rule = "a CTA has barriers 0 .. 15, and all lanes of a warp name the same one",
    .hint = "Compute the number from the warp or its role, not from the lane, and keep it below 16",
    .reason = "there is no such barrier.",
};
DIAG(bar_count) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "barrier-count", "9.7.13.1"),
    .rule = "the thread count is a non-zero multiple of the warp size, the same for all that use the barrier at the "
            "same time",
    .hint = "Check whether two roles use the same barrier number, and whether the count is in threads, not in warps",
    .reason = "the barrier completes too early or never.",
};

/* The barrier's number, or the thread count: the warp arrives as one, so that all lanes name the same, each at its own
 * instruction (an H100 takes two numbers for an illegal instruction). False after a fault. */
static bool uniform(struct warp *w, const struct insn *in, bool count, uint32_t *value) {
    const char *what = count ? "the thread count" : "the barrier number";
    const struct bar_form *form = in->data;
    const struct warp_opnd *own = count ? form->b : form->a;
    if (!w->riding && (!own || own->slot < 0)) {
        *value = own ? warp_u32(w, own, 0) : w->cta->num_warps * MACH_WARP;
        return true;
    }
    bool first = true;
    *value = 0;
    for (struct warp_part p = {0}; warp_next_part(w, in, &p); first = false) {
        const struct bar_form *f = p.in->data;
        const struct warp_opnd *o = count ? f->b : f->a;
        if (o && !warp_known(w, p.in, p.lanes, o, what))
            return false;
        if (first)
            *value = o ? warp_u32(w, o, warp_lowest(p.lanes)) : w->cta->num_warps * MACH_WARP;
        WARP_FOR_LANES(l, p.lanes) {
            const uint32_t lane = o ? warp_u32(w, o, l) : w->cta->num_warps * MACH_WARP;
            if (lane != *value)
                return warp_fails(w, p.in, p.lanes, count ? &bar_count : &bar_number,
                                  "%s differs among the lanes of a warp: %u and %u", what, *value, lane);
        }
    }
    return true;
}

/* The lanes whose predicate, each at its own instruction, is true. False after a fault. */
static bool predicates(struct warp *w, const struct insn *in, uint32_t *set) {
    *set = 0;
    for (struct warp_part p = {0}; warp_next_part(w, in, &p);) {
        const struct bar_form *f = p.in->data;
        if (f->c && !warp_known(w, p.in, p.lanes, f->c, "the predicate"))
            return false;
        *set |= f->c ? warp_pred(w, f->c) & p.lanes : 0;
    }
    return true;
}

/* Threads of all warps that have not exited, in whole warps. */
static uint32_t live_threads(const struct cta *cta) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < cta->num_warps; i++)
        n += cta->warps[i].live ? MACH_WARP : 0;
    return n;
}

static void tell_bar(const struct warp *w, const struct insn *in, uint32_t lanes, enum event_sync_kind kind,
                     uint32_t number, uint64_t phase) {
    const struct event_sync e = {.kind = kind, .number = number, .phase = phase, .count = w->cta->bar[number].expected};
    isa_saw_sync(w, in, lanes, WANT_BARRIER, e);
}

/* Has everyone come? Then the barrier starts its next generation; `last`: lanes that have just arrived, or 0. */
static void bar_check(struct warp *w, const struct insn *in, uint32_t number, bool counted, uint32_t last) {
    struct cta *cta = w->cta;
    struct mach_barrier *bar = &cta->bar[number];
    uint32_t need = counted ? bar->expected : live_threads(cta);
    if (!bar->expected || bar->arrived < need)
        return;
    tell_bar(w, in, last, SYNC_BAR_PHASE, number, bar->phase);
    bar->last_popc = bar->red_popc;
    bar->last_and = bar->red_and;
    bar->last_or = bar->red_or;
    bar->expected = bar->arrived = 0;
    bar->phase++;
    mach_wake(cta);
}

static bool bar_arrive(struct warp *w, const struct insn *in, uint32_t mask, uint32_t number) {
    struct cta *cta = w->cta;
    struct mach_barrier *bar = &cta->bar[number];
    uint32_t count, pred;
    if (!uniform(w, in, true, &count) || !predicates(w, in, &pred))
        return false;
    if (count == 0 || count % MACH_WARP)
        return warp_fails(w, in, mask, &bar_count, "barrier %u is given %u threads", number, count);
    if (!bar->expected) {
        bar->expected = count;
        bar->arrived = 0;
        bar->red_popc = 0;
        bar->red_and = 1;
        bar->red_or = 0;
    } else if (bar->expected != count)
        return warp_fails(w, in, mask, &bar_count,
                          "barrier %u waits for %u threads (%u have arrived), and this warp says %u", number,
                          bar->expected, bar->arrived, count);
    bar->arrived += MACH_WARP;
    bar->red_popc += (uint32_t)__builtin_popcount(pred);
    bar->red_and &= pred == mask;
    bar->red_or |= pred != 0;
    cta->island->progress++;
    return true;
}

static void bar_result(struct warp *w, const struct bar_form *f, const struct mach_barrier *bar, uint32_t lanes) {
    if (f->op == BAR_POPC) {
        WARP_FOR_LANES(l, lanes) warp_dst32(w, f->dst)[l] = bar->last_popc;
    } else if (f->op == BAR_AND || f->op == BAR_OR) {
        bool v = f->op == BAR_AND ? bar->last_and : bar->last_or;
        warp_set_pred(w, f->dst, lanes, v ? WARP_ALL_LANES : 0);
    }
    if (f->op >= BAR_POPC && f->dst != WARP_SINK)
        warp_set_poison(w, f->dst, lanes, 0);
}

/* Counts the warp at its barrier; w->bar_waiting then names it. */
static bool bar_enter(struct warp *w, const struct insn *in, uint32_t mask) {
    uint32_t number;
    if (!uniform(w, in, false, &number))
        return false;
    if (number >= MACH_BARRIERS)
        return warp_fails(w, in, mask, &bar_number, "barrier %u does not exist", number);
    uint64_t phase = w->cta->bar[number].phase;
    if (!bar_arrive(w, in, mask, number))
        return false;
    w->bar_waiting = number + 1;
    w->bar_phase = phase;
    tell_bar(w, in, mask, SYNC_BAR_ARRIVE, number, phase);
    return true;
}

/* A warp that has arrived waits. Its lanes may have come from different places: then each group waits by itself. */
static bool still_waits(struct warp *w, const struct insn *in, uint32_t last) {
    const struct bar_form *f = in->data;
    const struct mach_barrier *bar = &w->cta->bar[w->bar_waiting - 1];
    if (bar->phase == w->bar_phase)
        bar_check(w, in, w->bar_waiting - 1, f->b != NULL, last);
    return bar->phase == w->bar_phase;
}

static enum warp_status bar_wait(struct warp *w, const struct insn *in) {
    return warp_wait(w, in,
                     &(struct warp_wait){.kind = WAIT_BARRIER, .addr = w->bar_waiting - 1, .value = w->bar_phase});
}

static enum warp_status do_bar(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct bar_form *f = in->data;
    enum warp_status status = WARP_JUMP;
    if (warp_isolate(w, in, mask))
        return status;
    if (w->bar_waiting && still_waits(w, in, 0))
        return bar_wait(w, in);
    if (!warp_sync_lanes(w, in, w->live, &status))
        return status;
    mask = w->g->mask;
    if (!w->bar_waiting) {
        if (!bar_enter(w, in, mask))
            return WARP_FAULT;
        const bool waits = still_waits(w, in, mask);
        if (f->op == BAR_ARRIVE) {
            w->bar_waiting = 0;
            return WARP_NEXT;
        }
        if (waits)
            return bar_wait(w, in);
    }
    w->waited = (struct warp_waited){.in = in->src, .kind = WAIT_BARRIER};
    tell_bar(w, in, mask, SYNC_BAR_PASS, w->bar_waiting - 1, w->bar_phase);
    const struct mach_barrier *bar = &w->cta->bar[w->bar_waiting - 1];
    w->bar_waiting = 0;
    for (struct warp_part p = {0}; warp_next_part(w, in, &p);)
        bar_result(w, p.in->data, bar, p.lanes);
    return WARP_NEXT;
}

static enum bar_op bar_op(const struct ptx_insn *src) {
    if (ptx_has(src, PTX_MOD_red))
        return ptx_has(src, PTX_MOD_popc) ? BAR_POPC : ptx_has(src, PTX_MOD_and) ? BAR_AND : BAR_OR;
    return ptx_has(src, PTX_MOD_arrive) ? BAR_ARRIVE : BAR_SYNC;
}

/* {d,} barrier {, count} {, predicate} */
static void bar_operands(struct insn *in, struct bar_form *f) {
    const bool red = f->op >= BAR_POPC;
    const unsigned first = red ? 1 : 0, n = in->num_opnds - (red ? 2 : 0);
    f->a = &in->o[first];
    f->b = n == 2 ? &in->o[first + 1] : NULL;
    f->c = red ? &in->o[in->num_opnds - 1] : NULL;
    f->dst = red ? in->o[0].slot : WARP_SINK;
}

bool isa_bind_barrier(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *src = in->src;
    struct bar_form *f = arena_alloc(b->arena, sizeof *f);
    struct isa_words k;
    if (!isa_sort(b, src,
                  ISA_WORDS(PTX_MOD_cta, PTX_MOD_aligned, PTX_MOD_sync, PTX_MOD_arrive, PTX_MOD_red, PTX_MOD_popc,
                            PTX_MOD_and, PTX_MOD_or, PTX_MOD_u32, PTX_MOD_pred),
                  &k))
        return false;
    f->op = bar_op(src);
    const bool red = f->op >= BAR_POPC;
    const enum ptx_mod type = !red ? PTX_MOD_unknown : f->op == BAR_POPC ? PTX_MOD_u32 : PTX_MOD_pred;
    if (ptx_has(src, PTX_MOD_sync) + ptx_has(src, PTX_MOD_arrive) + red != 1 || k.of[PTX_KIND_type] != type ||
        red != (k.of[PTX_KIND_operation] != 0))
        return isa_refuse(b, "the action is one of .sync, .arrive, .red.popc.u32, .red.and.pred and .red.or.pred");
    if (src->op == PTX_OP_bar && ptx_has(src, PTX_MOD_aligned))
        return false;
    bar_operands(in, f);
    if (f->op == BAR_ARRIVE && !f->b)
        return isa_refuse(b, "arrive needs a thread count");
    in->aligned |= src->op == PTX_OP_bar; /* bar.sync is barrier.sync.aligned */
    in->meets = MEETS_BARRIER + f->op;    /* also where the two arms of a branch have one each: so does an H100 */
    in->data = f;
    in->fn = do_bar;
    return true;
}

/* --- barrier.cluster ---------------------------------------------------------------------------------------------- */

DIAG(cluster_twice) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "barrier-cluster-arrive-twice", "9.7.13.3"),
    .rule = "each thread arrives once before the cluster barrier completes, and waits before it arrives again",
    .hint = "Add barrier.cluster.wait after each arrive",
    .reason = "the second arrival counts for a phase that has not begun, in every order.",
};
DIAG(cluster_no_arrive) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "barrier-cluster-wait-without-arrive", "9.7.13.3"),
    .rule = "barrier.cluster.wait waits for the barrier at which the thread has arrived",
    .hint = "Add barrier.cluster.arrive before the wait: the barrier cannot complete before this thread has arrived",
    .reason = "the wait has no phase to wait for; the ISA leaves it undefined.",
};

static void tell_cluster(const struct warp *w, const struct insn *in, uint32_t lanes, enum event_sync_kind kind,
                         uint64_t phase) {
    isa_saw_sync(w, in, lanes, WANT_BARRIER, (struct event_sync){.kind = kind, .phase = phase});
}

/* Completes the barrier when all live threads of the cluster have arrived in it: lanes `last` just now, or 0. */
static void cluster_check(const struct warp *by, const struct insn *in, uint32_t last) {
    struct cluster *cl = by->cta->cluster;
    if (!cl->bar_arrived)
        return;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (uint32_t i = 0; i < cl->cta[r].num_warps; i++) {
            const struct warp *w = &cl->cta[r].warps[i];
            bool here = w->cluster_phase == cl->bar_phase;
            if (w->live & ~(here ? w->cluster_arrived : 0))
                return;
        }
    tell_cluster(by, in, last, SYNC_CLUSTER_PHASE, cl->bar_phase);
    cl->bar_arrived = 0;
    cl->bar_phase++;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        mach_wake(&cl->cta[r]);
}

/* A thread waits for all others of its warp that have not exited; they may stand in other instructions of the same
 * kind (9.7.13.3; so does an H200). Lanes of warp.cluster_arrived are between an arrive and its wait, those of
 * cluster_here stand at either, those of cluster_done need only go on from there. False where the handler returns
 * *status: NEXT where one of them has acted for this one. */
static bool cluster_together(struct warp *w, const struct insn *in, uint32_t mask, enum warp_status *status) {
    *status = WARP_JUMP;
    if (warp_isolate(w, in, mask))
        return false;
    *status = WARP_NEXT;
    if (w->cluster_done & mask) {
        w->cluster_done &= ~mask;
        return false;
    }
    w->cluster_here |= mask;
    if (!(w->live & ~w->cluster_here))
        return true;
    *status = warp_wait(w, in, &(struct warp_wait){.kind = WAIT_WARP_SYNC, .value = w->live});
    return false;
}

/* The lanes of `mask` have acted for all of the warp. */
static void cluster_acted(struct warp *w, uint32_t mask) {
    w->cluster_done = w->live & ~mask;
    w->cluster_here = 0;
    if (w->cluster_done)
        mach_wake(w->cta);
}

static enum warp_status do_cluster_arrive(struct warp *w, const struct insn *in, uint32_t mask) {
    enum warp_status status;
    struct cluster *cl = w->cta->cluster;
    if (w->cluster_arrived & mask & ~w->cluster_done)
        return warp_fault(w, in, w->cluster_arrived & mask, &cluster_twice,
                          "a thread arrives at the cluster barrier again before it has waited");
    if (!cluster_together(w, in, mask, &status))
        return status;
    cluster_acted(w, mask);
    mask = w->live;
    w->cluster_arrived = mask;
    w->cluster_phase = cl->bar_phase;
    cl->bar_arrived += (uint32_t)__builtin_popcount(mask);
    w->island->progress++;
    tell_cluster(w, in, mask, SYNC_CLUSTER_ARRIVE, cl->bar_phase);
    cluster_check(w, in, mask);
    return WARP_NEXT;
}

static enum warp_status do_cluster_wait(struct warp *w, const struct insn *in, uint32_t mask) {
    enum warp_status status;
    struct cluster *cl = w->cta->cluster;
    if (mask & ~w->cluster_arrived & ~w->cluster_done)
        return warp_fault(w, in, mask & ~w->cluster_arrived, &cluster_no_arrive,
                          "a thread waits at the cluster barrier without having arrived");
    if (!cluster_together(w, in, mask, &status))
        return status;
    if (w->cluster_phase == cl->bar_phase)
        cluster_check(w, in, 0); /* a thread may have exited */
    if (w->cluster_phase == cl->bar_phase)
        return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_CLUSTER, .value = cl->bar_phase});
    w->cluster_arrived = 0;
    cluster_acted(w, mask);
    w->waited = (struct warp_waited){.in = in->src, .kind = WAIT_CLUSTER};
    tell_cluster(w, in, w->live, SYNC_CLUSTER_PASS, w->cluster_phase);
    return WARP_NEXT;
}

bool isa_bind_cluster_barrier(struct isa_binder *b, struct insn *in) {
    static const uint16_t arrive_words[] = {PTX_MOD_aligned, PTX_MOD_release, PTX_MOD_relaxed, PTX_MOD_unknown};
    static const uint16_t wait_words[] = {PTX_MOD_aligned, PTX_MOD_acquire, PTX_MOD_unknown};
    const bool arrive = in->src->op == PTX_OP_barrier_cluster_arrive;
    struct isa_words k;
    in->fn = arrive ? do_cluster_arrive : do_cluster_wait;
    return isa_sort(b, in->src, arrive ? arrive_words : wait_words, &k);
}

/* --- membar, fence ------------------------------------------------------------------------------------------------ */

DIAG(tensormap_fence) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "fence-tensormap-address", "9.7.13.4"),
    .rule = "the 128 bytes that the proxy fence names are in global memory",
    .hint = "Pass the address of the tensor map that copies will use, in global memory",
    .reason = "the fence does not order the accesses that the kernel means.",
};

/* aux, from isa_bind_fence, says which fence it is: an enum event_fence, and above it an enum event_fence_space. */
static void tell_fence(const struct warp *w, const struct insn *in, uint32_t lanes, uint64_t map) {
    const struct event_sync e = {.kind = SYNC_FENCE,
                                 .fence = (enum event_fence)(in->aux & 0xff),
                                 .space = (enum event_fence_space)(in->aux >> 8),
                                 .map = map};
    isa_saw_sync(w, in, lanes, WANT_FENCE, e);
}

static enum warp_status do_fence(struct warp *w, const struct insn *in, uint32_t mask) {
    tell_fence(w, in, mask, 0);
    return WARP_NEXT;
}

static enum warp_status do_fence_range(struct warp *w, const struct insn *in, uint32_t mask) {
    if (!warp_address_known(w, in, &in->o[0], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        struct warp_loc loc;
        if (!warp_resolve(w, in, l, XS_GENERIC, warp_address(w, &in->o[0], l), 128, 1, false, &loc))
            return WARP_FAULT;
        if (loc.space != XS_GLOBAL)
            return warp_fault(w, in, 1u << l, &tensormap_fence, "lane %u gives an address outside global memory", l);
        tell_fence(w, in, 1u << l, warp_address(w, &in->o[0], l));
    }
    return WARP_NEXT;
}

/* The legal spellings of a fence after its opcode, word by word. */
static const struct fence_spelling {
    enum ptx_op op;
    enum ptx_mod word[4];
    bool scoped; /* a scope word follows */
    bool range;  /* takes [addr], 128 */
} spellings[] = {
    {PTX_OP_membar, {PTX_MOD_cta}, false, false},
    {PTX_OP_membar, {PTX_MOD_gl}, false, false},
    {PTX_OP_membar, {PTX_MOD_sys}, false, false},
    {PTX_OP_membar_proxy, {PTX_MOD_alias}, false, false},
    {PTX_OP_membar_proxy, {PTX_MOD_async}, false, false},
    {PTX_OP_membar_proxy, {PTX_MOD_async, PTX_MOD_global}, false, false},
    {PTX_OP_membar_proxy, {PTX_MOD_async, PTX_MOD_shared__cta}, false, false},
    {PTX_OP_membar_proxy, {PTX_MOD_async, PTX_MOD_shared__cluster}, false, false},
    {PTX_OP_fence, {0}, true, false},
    {PTX_OP_fence, {PTX_MOD_sc}, true, false},
    {PTX_OP_fence, {PTX_MOD_acq_rel}, true, false},
    {PTX_OP_fence, {PTX_MOD_acquire}, true, false},
    {PTX_OP_fence, {PTX_MOD_release}, true, false},
    {PTX_OP_fence, {PTX_MOD_acquire, PTX_MOD_sync_restrict__shared__cluster, PTX_MOD_cluster}, false, false},
    {PTX_OP_fence, {PTX_MOD_release, PTX_MOD_sync_restrict__shared__cta, PTX_MOD_cluster}, false, false},
    {PTX_OP_fence_mbarrier_init, {PTX_MOD_release, PTX_MOD_cluster}, false, false},
    {PTX_OP_fence_proxy, {PTX_MOD_alias}, false, false},
    {PTX_OP_fence_proxy, {PTX_MOD_async}, false, false},
    {PTX_OP_fence_proxy, {PTX_MOD_async, PTX_MOD_global}, false, false},
    {PTX_OP_fence_proxy, {PTX_MOD_async, PTX_MOD_shared__cta}, false, false},
    {PTX_OP_fence_proxy, {PTX_MOD_async, PTX_MOD_shared__cluster}, false, false},
    {PTX_OP_fence_proxy, {PTX_MOD_tensormap__generic, PTX_MOD_release}, true, false},
    {PTX_OP_fence_proxy, {PTX_MOD_tensormap__generic, PTX_MOD_acquire}, true, true},
    {PTX_OP_fence_proxy,
     {PTX_MOD_async__generic, PTX_MOD_acquire, PTX_MOD_sync_restrict__shared__cluster, PTX_MOD_cluster},
     false,
     false},
    {PTX_OP_fence_proxy,
     {PTX_MOD_async__generic, PTX_MOD_release, PTX_MOD_sync_restrict__shared__cta, PTX_MOD_cluster},
     false,
     false},
};

/* The order of sem and scope is free, as ptxas takes it: the ISA's own examples write fence.cluster.acq_rel.
 */
static bool spelled(const struct ptx_insn *src, const struct fence_spelling *s) {
    unsigned words = 0, scopes = 0;
    while (words < 4 && s->word[words])
        words++;
    if (src->op != s->op || src->num_mods != words + s->scoped)
        return false;
    unsigned next = 0;
    for (unsigned i = 0; i < src->num_mods; i++) {
        enum ptx_mod m = (enum ptx_mod)src->mods[i];
        if (s->scoped && ptx_mod_kind(m) == PTX_KIND_scope)
            scopes++;
        else if (next == words || s->word[next++] != m)
            return false;
    }
    return next == words && scopes == s->scoped;
}

static uint64_t fence_kind(const struct fence_spelling *s) {
    switch (s->word[0]) {
    case PTX_MOD_alias:
        return FENCE_PROXY_ALIAS;
    case PTX_MOD_async:
        return FENCE_PROXY_ASYNC | (s->word[1] == 0                ? FENCE_ALL
                                    : s->word[1] == PTX_MOD_global ? FENCE_GLOBAL
                                                                   : FENCE_SHARED)
                                       << 8;
    case PTX_MOD_async__generic:
        return FENCE_PROXY_ASYNC_GENERIC | FENCE_SHARED << 8;
    case PTX_MOD_tensormap__generic:
        return FENCE_PROXY_TENSORMAP | FENCE_GLOBAL << 8;
    default:
        break;
    }
    if (s->op == PTX_OP_fence_mbarrier_init)
        return FENCE_MBARRIER_INIT;
    const bool restricted =
        s->word[1] == PTX_MOD_sync_restrict__shared__cluster || s->word[1] == PTX_MOD_sync_restrict__shared__cta;
    return restricted ? FENCE_SYNC_RESTRICT | FENCE_SHARED << 8 : FENCE_MEMORY;
}

bool isa_bind_fence(struct isa_binder *b, struct insn *in) {
    (void)b;
    for (unsigned i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const struct fence_spelling *s = &spellings[i];
        if (!spelled(in->src, s))
            continue;
        in->fn = s->range ? do_fence_range : do_fence;
        in->aux = fence_kind(s);
        if (!s->range)
            return in->num_opnds == 0;
        return in->num_opnds == 2 && in->o[1].more->src->imm == 128;
    }
    return false;
}
