/* isa/grid_control.c - instructions by which a kernel speaks with the launch: griddepcontrol, clusterlaunchcontrol,
 * setmaxnreg (PTX ISA 9.7.13.13, 9.7.13.17, 9.7.13.18, 9.7.19.5).
 */
#include "isa/form.h"
#include "isa/tell.h"
#include "machine/mbarrier.h"
#include "warp/meet.h"
#include "warp/unwritten.h"

/* --- griddepcontrol ----------------------------------------------------------------------------------------------- */

/* The prerequisite grid has completed before this one started, unless both overlap (launch/together.c): then its end
 * wakes those who wait here. */
static enum warp_status do_grid_wait(struct warp *w, const struct insn *in, uint32_t mask) {
    if (w->grid->held)
        return warp_isolate(w, in, mask) ? WARP_JUMP : warp_wait(w, in, &(struct warp_wait){.kind = WAIT_GRID});
    isa_saw_sync(w, in, mask, WANT_FENCE, (struct event_sync){.kind = SYNC_GRID_WAIT});
    return WARP_NEXT;
}

/* Once all CTAs have executed it, or have exited, dependents may start: an island whose CTAs all have stops here where
 * that is of interest. */
static enum warp_status do_launch_dependents(struct warp *w, const struct insn *in, uint32_t mask) {
    isa_saw_sync(w, in, mask, WANT_FENCE, (struct event_sync){.kind = SYNC_GRID_LAUNCH_DEPENDENTS});
    cta_triggers(w->cta);
    w->paused = w->island->paused;
    return w->paused ? WARP_YIELD : WARP_NEXT;
}

bool isa_bind_grid(struct isa_binder *b, struct insn *in) {
    if (!isa_spelled(in->src, ISA_WORDS(ISA_ANY(action))))
        return isa_refuse(b, "the action is .launch_dependents or .wait");
    in->fn = in->src->mods[0] == PTX_MOD_wait ? do_grid_wait : do_launch_dependents;
    return true;
}

/* --- clusterlaunchcontrol ----------------------------------------------------------------------------------------- */

/* The response, opaque to programs: ctaid.x; ctaid.y | ctaid.z << 16; a mark; 1 or 0 for success or failure. */
#define RESPONSE_BYTES 16u
#define RESPONSE_MARK UINT32_C(0x4c434c43)

DIAG(not_a_response) = {
    DIAG_HEAD(ERROR, "clusterlaunchcontrol-response", "9.7.13.18"),
    .rule = "clusterlaunchcontrol.query_cancel takes the 16 bytes that a completed try_cancel wrote",
    .hint = "Wait for the mbarrier before the response is read, and read it whole with one ld.shared.b128",
    .reason = "the 16 bytes are not an answer, so no value read from them means anything.",
};
DIAG(cancel_after_failure) = {
    DIAG_HEAD(ERROR, "clusterlaunchcontrol-after-failure", "9.7.13.17"),
    .rule = "a CTA that has observed a failed clusterlaunchcontrol.try_cancel must not issue another one",
    .hint = "Leave the loop once query_cancel.is_canceled is false",
    .reason = "the ISA leaves the behaviour undefined.",
};
DIAG(cancel_exited) = {
    DIAG_HEAD(ERROR, "clusterlaunchcontrol-cta-exited", "9.7.13.17"),
    .rule = "with .multicast::cluster::all no CTA of the cluster may have exited",
    .hint = "End the kernel with barrier.cluster.arrive and .wait",
    .reason = "the answer would be written into memory of a CTA that has exited.",
};

struct cancel_op {
    struct async_op op;
    uint32_t addr, mbar; /* offsets */
    bool all;
    bool taken;             /* the answer */
    struct diag_dim3 first; /* CTA of the cluster that was taken */
};

static bool answer(const struct cancel_op *c, struct cta *to, const uint32_t response[4]) {
    const struct async_op *op = &c->op;
    if (!to->live_warps)
        return mach_fails(op->cta->island, &op->origin, &cancel_exited,
                          "the response of cluster CTA %u's try_cancel comes after the exit of CTA %u", op->cta->rank,
                          to->rank);
    memcpy(to->smem + c->addr, response, RESPONSE_BYTES);
    smem_clear_poison(to, c->addr, RESPONSE_BYTES);
    const struct event_by by = event_by_op(op, ORDER_RELEASE, SCOPE_CLUSTER);
    tell_access(op->cta->gpu, &(struct event_access){.by = by,
                                                     .agent = AGENT_CLC,
                                                     .space = SPACE_SHARED,
                                                     .effect = EFFECT_WRITE,
                                                     .proxy = PROXY_ASYNC,
                                                     .owner = to,
                                                     .what = op->name,
                                                     .at = &(uint64_t){c->addr},
                                                     .size = RESPONSE_BYTES,
                                                     .rows = 1});
    enum mbar_error e = mbar_complete_tx(&by, to, c->mbar, RESPONSE_BYTES);
    if (e == MBAR_OK)
        return true;
    return mach_fails(op->cta->island, &op->origin, mbar_op_error_diag(e, op->cta, to),
                      "clusterlaunchcontrol.try_cancel signals %u bytes to mbarrier 0x%x of cluster CTA %u: %s",
                      RESPONSE_BYTES, c->mbar, to->rank, mbar_error_text(e));
}

/* Takes the next cluster that is not resident yet off the launch, which no island may do while others run. */
static bool run_cancel(struct async_op *op) {
    struct cancel_op *c = (struct cancel_op *)op;
    struct warp_grid *grid = op->cta->warps->grid;
    struct diag_dim3 id, dim = grid->cluster;
    enum warp_grid_answer taken = grid->take_cluster(grid, op->cta->island, &id);
    if (taken == GRID_LATER)
        return false;
    c->taken = taken == GRID_TAKEN;
    if (c->taken)
        c->first = (struct diag_dim3){id.x * dim.x, id.y * dim.y, id.z * dim.z};
    const uint32_t response[4] = {c->first.x, c->first.y | c->first.z << 16, RESPONSE_MARK, c->taken};
    struct cluster *cl = op->cta->cluster;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        if ((c->all || r == op->cta->rank) && !answer(c, &cl->cta[r], response))
            break;
    return true;
}

static void describe_cancel(const struct async_op *op, struct event_work *work) {
    const struct cancel_op *c = (const struct cancel_op *)op;
    work->bytes = RESPONSE_BYTES;
    work->to = work->signals = op->cta;
    work->to_off = c->addr;
    work->signals_off = c->mbar;
    work->taken = c->taken;
    work->first = c->first;
    work->ctas = c->all ? (1u << op->cta->cluster->num_ctas) - 1 : 1u << op->cta->rank;
}

static const struct async_kind cancel_kind = {AGENT_CLC, run_cancel, describe_cancel};

static struct async_queue *cancel_queue(struct cta *cta) {
    static const char name[] = "cluster launch control";
    struct async_queue *q = cta->queues;
    while (q && q->name != name)
        q = q->next;
    return q ? q : async_queue_create(cta, name);
}

bool isa_serve_cancels(struct cluster *cl) {
    bool any = false;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (struct async_queue *q = cl->cta[r].queues; q; q = q->next)
            while (q->head && q->head->kind == &cancel_kind && async_step(q))
                any = true;
    return any;
}

static enum warp_status do_try_cancel(struct warp *w, const struct insn *in, uint32_t mask) {
    bool generic = !ptx_has(in->src, PTX_MOD_shared__cta), all = ptx_has(in->src, PTX_MOD_multicast__cluster__all);
    if (w->cta->ops_pending >= ASYNC_MAX_OPS) { /* requests, which wait for the end of the round */
        if (warp_isolate(w, in, mask))
            return WARP_JUMP;
        return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_ROOM});
    }
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        struct cta *cta;
        uint32_t addr, mbar;
        if (!warp_smem_operand(w, in, l, &in->o[0], false, generic, RESPONSE_BYTES, &cta, &addr) ||
            !warp_smem_operand(w, in, l, &in->o[1], false, generic, 8, &cta, &mbar))
            return WARP_FAULT;
        if (w->cta->cancel_failed)
            return warp_fault(w, in, 1u << l, &cancel_after_failure,
                              "try_cancel in a CTA that has already read a failed response");
        struct cancel_op *c =
            async_op_create(sizeof *c, &cancel_kind, "clusterlaunchcontrol.try_cancel", w->cta, &origin);
        c->addr = addr;
        c->mbar = mbar;
        c->all = all;
        async_issue(cancel_queue(w->cta), &c->op);
    }
    return WARP_NEXT;
}

bool isa_bind_cancel(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    if (!isa_sort(b, in->src,
                  ISA_WORDS(PTX_MOD_async, PTX_MOD_mbarrier__complete_tx__bytes, PTX_MOD_b128, PTX_MOD_shared__cta,
                            PTX_MOD_multicast__cluster__all),
                  &k))
        return false;
    if (!k.of[PTX_KIND_proxy] || !k.of[PTX_KIND_completion] || !k.of[PTX_KIND_type])
        return isa_refuse(b, ".async, .mbarrier::complete_tx::bytes and .b128 are mandatory");
    in->fn = do_try_cancel;
    return true;
}

/* Words 0, 1 and 3 of the response in lane l; false after a fault. */
static bool read_response(struct warp *w, const struct insn *in, uint32_t l, warp_slot slot, uint32_t out[3]) {
    uint64_t low = warp_src64(w, slot)[l], high = warp_src64(w, slot + 2)[l];
    if ((uint32_t)high != RESPONSE_MARK || high >> 32 > 1)
        return warp_fails(w, in, 1u << l, &not_a_response,
                          "lane %u's register, 0x%016llx%016llx, is not the answer of a try_cancel", l,
                          (unsigned long long)high, (unsigned long long)low);
    out[0] = (uint32_t)low;
    out[1] = (uint32_t)(low >> 32);
    out[2] = (uint32_t)(high >> 32);
    return true;
}

static enum warp_status do_is_canceled(struct warp *w, const struct insn *in, uint32_t mask) {
    warp_slot from = in->o[1].slot;
    uint32_t yes = 0, r[3];
    if (!warp_known(w, in, mask, &in->o[1], "the response"))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        if (!read_response(w, in, l, from, r))
            return WARP_FAULT;
        yes |= r[2] << l;
    }
    if (mask & ~yes)
        w->cta->cancel_failed = true;
    warp_set_pred(w, in->o[0].slot, mask, yes);
    return warp_done(w, in->o[0].slot, mask, 0);
}

/* in->aux: the dimension of a single destination. After a failed request the result is not defined. */
static enum warp_status do_first_ctaid(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct warp_opnd *d = &in->o[0];
    warp_slot from = in->o[1].slot;
    uint32_t unknown = 0, value[4][MACH_WARP] = {{0}}, r[3];
    if (!warp_known(w, in, mask, &in->o[1], "the response"))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        if (!read_response(w, in, l, from, r))
            return WARP_FAULT;
        value[0][l] = r[0];
        value[1][l] = r[1] & 0xffff;
        value[2][l] = r[1] >> 16;
        unknown |= !r[2] ? 1u << l : 0;
    }
    for (uint32_t i = 0; i < (d->kind == WARP_VEC ? d->num_sub : 1); i++) {
        warp_slot to = d->kind == WARP_VEC ? d->list[i] : d->slot;
        const uint32_t *v = value[d->kind == WARP_VEC ? i : in->aux];
        if (to == WARP_SINK)
            continue;
        uint32_t *out = warp_dst32(w, to);
        WARP_FOR_LANES(l, mask) out[l] = v[l];
        warp_set_poison(w, to, mask, i == 3 ? mask : unknown);
        if (unknown)
            warp_found_unwritten(w, in, unknown, WARP_FROM_ANSWER, NULL, 0, 0);
    }
    return WARP_NEXT;
}

bool isa_bind_cancel_query(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *p = in->src;
    in->fn = do_first_ctaid;
    if (isa_spelled(p, ISA_WORDS(PTX_MOD_get_first_ctaid, PTX_MOD_v4, PTX_MOD_b32, PTX_MOD_b128)))
        return isa_is_list(&in->o[0], 4) || isa_refuse(b, "the list has four registers");
    if (isa_spelled(p, ISA_WORDS(PTX_MOD_is_canceled, PTX_MOD_pred, PTX_MOD_b128))) {
        in->fn = do_is_canceled;
        return true;
    }
    in->aux = ptx_has(p, PTX_MOD_get_first_ctaid__y) ? 1 : ptx_has(p, PTX_MOD_get_first_ctaid__z) ? 2 : 0;
    return isa_spelled(p, ISA_WORDS(ISA_ANY(query), PTX_MOD_b32, PTX_MOD_b128)) &&
           !ptx_has(p, PTX_MOD_get_first_ctaid) && !ptx_has(p, PTX_MOD_is_canceled);
}

/* --- setmaxnreg --------------------------------------------------------------------------------------------------- */

#define WARPGROUP 4u

DIAG(reg_direction) = {
    DIAG_HEAD(ERROR, "setmaxnreg-direction", "9.7.19.5"),
    .rule = "setmaxnreg.dec must not raise, and .inc must not lower, the number of registers that the warp owns",
    .hint = "Compare with the count at launch, which ptxas chose for the kernel (--maxrregcount, __launch_bounds__ or "
            ".maxnreg)",
    .reason = "the ISA leaves the behaviour undefined, and registers in use may be lost.",
};
DIAG(reg_warpgroup) = {
    DIAG_HEAD(STRICT, "setmaxnreg-warpgroup", "9.7.19.5"),
    .rule = "all warps of a warpgroup (4 warps, the first a multiple of 4) must execute the same setmaxnreg, and "
            "synchronise before the next one",
    .hint = "Give roles to whole warpgroups, or do without setmaxnreg. The chip gives each warp its own registers; the "
            "ISA does not promise it",
    .reason = "NVIDIA's own attention kernels (CUTLASS example 77) let the warps of a warpgroup differ, and each gets "
              "its own count.",
};

static uint32_t held(const struct warp *w) { return w->regs ? w->regs : w->grid->regs; }

/* What the CTA's warps leave in its pool, per thread. */
static int64_t pool(const struct warp *w) {
    int64_t left = 0;
    for (uint32_t i = 0; i < w->cta->num_warps; i++)
        left += (int64_t)w->grid->regs - held(&w->cta->warps[i]);
    return left;
}

/* The first warp of the warpgroup; NULL: the CTA has not all of its warps. */
static struct warp *warpgroup(const struct warp *w) {
    const uint32_t first = w->index / WARPGROUP * WARPGROUP;
    return first + WARPGROUP > w->cta->num_warps ? NULL : &w->cta->warps[first];
}

static bool same_setmaxnreg(const struct insn *a, const struct insn *b) {
    return a->aux == b->aux && ptx_has(a->src, PTX_MOD_inc) == ptx_has(b->src, PTX_MOD_inc);
}

/* False: a fault. */
static bool check_warpgroup(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mach_origin origin = warp_origin(w, in, mask);
    struct warp *group = warpgroup(w);
    if (!group)
        return mach_warn(w->island, &origin, &reg_warpgroup,
                         "setmaxnreg by warp %u of a CTA of %u warps: its warpgroup is not whole", w->index,
                         w->cta->num_warps);
    for (const struct warp *o = group; o < group + WARPGROUP; o++) {
        char where[600];
        if (o->setmaxnregs < w->setmaxnregs) {
            group->setmaxnreg_told = true;
            return mach_warn(w->island, &origin, &reg_warpgroup,
                             "warp %u executes its setmaxnreg number %u, warp %u only %u so far", w->index,
                             w->setmaxnregs + 1, o->index, o->setmaxnregs);
        }
        if (o->setmaxnregs == w->setmaxnregs + 1 && !same_setmaxnreg(o->last_setmaxnreg, in))
            return mach_warn(w->island, &origin, &reg_warpgroup,
                             "warp %u executes this one, warp %u another one, at %s", w->index, o->index,
                             diag_where(&o->last_setmaxnreg->src->site, where, sizeof where));
    }
    return true;
}

/* A warp of a warpgroup that waits for no other one is not missed by the others before it has exited. */
void isa_registers_exit(struct warp *w) {
    struct warp *group = warpgroup(w);
    if (!group || group->setmaxnreg_told)
        return;
    const struct warp *most = group, *least = group;
    for (const struct warp *o = group; o < group + WARPGROUP; o++) {
        if (!o->ended)
            return;
        most = o->setmaxnregs > most->setmaxnregs ? o : most;
        least = o->setmaxnregs < least->setmaxnregs ? o : least;
    }
    if (most->setmaxnregs == least->setmaxnregs)
        return;
    const struct mach_origin origin = warp_origin(most, most->last_setmaxnreg, most->lanes);
    mach_warn(w->island, &origin, &reg_warpgroup,
              "warp %u executed setmaxnreg %u times, but warp %u of its warpgroup %u times", most->index,
              most->setmaxnregs, least->index, least->setmaxnregs);
}

static enum warp_status do_setmaxnreg(struct warp *w, const struct insn *in, uint32_t mask) {
    uint32_t wanted = (uint32_t)in->aux, now = held(w);
    bool inc = ptx_has(in->src, PTX_MOD_inc);
    if (!check_warpgroup(w, in, mask))
        return WARP_FAULT;
    if (now && (inc ? wanted < now : wanted > now))
        return warp_fault(w, in, mask, &reg_direction, "setmaxnreg.%s to %u registers in a warp that owns %u",
                          inc ? "inc" : "dec", wanted, now);
    if (now && inc && pool(w) < (int64_t)wanted - now)
        return warp_wait(w, in,
                         &(struct warp_wait){.kind = WAIT_REGISTERS, .addr = (uint32_t)pool(w), .value = wanted});
    w->setmaxnregs++;
    w->last_setmaxnreg = in;
    if (now) {
        w->regs = wanted;
        mach_wake(w->cta); /* others may wait for what came free */
    }
    tell_life(w->gpu, &(struct event_life){
                          .by = warp_by(w, in, mask), .kind = LIFE_REGISTERS, .owner = w->cta, .count = wanted});
    return WARP_NEXT;
}

bool isa_bind_registers(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    if (!isa_sort(b, in->src, ISA_WORDS(PTX_MOD_inc, PTX_MOD_dec, PTX_MOD_sync, PTX_MOD_aligned, PTX_MOD_u32), &k) ||
        in->src->num_mods != 4 || !k.of[PTX_KIND_operation])
        return isa_refuse(b, "the form is setmaxnreg.inc or .dec, .sync.aligned.u32");
    if (in->o[0].more->src->imm < 24 || in->o[0].more->src->imm > 256 || in->o[0].more->src->imm % 8)
        return isa_refuse(b, "the count is an immediate, a multiple of 8 from 24 to 256");
    in->aux = in->o[0].more->src->imm;
    in->aligned = true;
    in->fn = do_setmaxnreg;
    return true;
}
