/* isa/tcgen05.c - tcgen05: binding, and the handlers of alloc, dealloc, relinquish_alloc_permit and fence
 * (PTX ISA 9.7.16.7, 9.7.16.11).
 */
#include "isa/tcgen05.h"

#include <string.h>

/* What .target lets a text use (target notes of 9.7.16.7 to .12): nothing of tcgen05 without a suffix, and less with
 * the family's `f` than with `a`. */
static bool target_has(struct isa_binder *b, const struct ptx_insn *p) {
    const char *target = b->func->module->ptx->target;
    size_t n = strlen(target);
    char suffix = n > 0 ? target[n - 1] : 0;
    if (suffix == 'a')
        return true;
    if (suffix != 'f')
        return isa_refuse(b, "tcgen05 needs .target sm_100f or sm_100a");
    if (p->op == PTX_OP_tcgen05_shift)
        return isa_refuse(b, "tcgen05.shift needs .target sm_100a: the family sm_100f has none");
    if (ptx_has(p, PTX_MOD_kind__i8))
        return isa_refuse(b, ".kind::i8 needs .target sm_100a: the family sm_100f has none");
    if (ptx_has(p, PTX_MOD_scale_vec__1X) || ptx_has(p, PTX_MOD_scale_vec__2X) || ptx_has(p, PTX_MOD_scale_vec__4X))
        return isa_refuse(b,
                          ".scale_vec::1X, ::2X and ::4X need .target sm_100a; for sm_100f say .block32 or .block16");
    return true;
}

bool isa_tmem_sort(struct isa_binder *b, const struct ptx_insn *p, const uint16_t *form, struct isa_words *k) {
    return target_has(b, p) && isa_sort(b, p, form, k);
}

bool isa_tmem_group(struct isa_binder *b, struct insn *in, const uint16_t *form, struct isa_words *k) {
    if (!isa_tmem_sort(b, in->src, form, k))
        return false;
    in->aux = ptx_mod_number(k->of[PTX_KIND_cta_group]);
    return in->aux || isa_refuse(b, "the .cta_group is missing");
}

bool isa_tmem_aligned(struct isa_binder *b, struct insn *in, warp_fn fn) {
    if (!ptx_has(in->src, PTX_MOD_sync) || !ptx_has(in->src, PTX_MOD_aligned))
        return isa_refuse(b, ".sync.aligned is mandatory");
    in->aligned = true;
    in->fn = fn;
    return true;
}

DIAG(not_uniform) = {
    DIAG_HEAD(ERROR, "tcgen05-not-uniform", "9.7.16.7.1, 9.7.16.8"),
    .rule = "all threads of the warp must give a collective tcgen05 instruction the same operands",
    .hint = "Compute the address from the warp's number, not from the lane's",
    .reason = "the instruction has one operand for all threads, and the ISA leaves undefined whose.",
};

bool isa_tmem_uniform(struct warp *w, const struct insn *in, uint32_t mask, const struct warp_opnd *o, const char *what,
                      uint32_t *value) {
    bool mem = o->kind == WARP_MEM;
    if ((mem && !o->has_base) || (!mem && o->is_imm)) {
        *value = mem ? (uint32_t)o->offset : warp_u32(w, o, 0);
        return true;
    }
    if (!warp_known(w, in, mask, o, what))
        return false;
    uint32_t first = warp_lowest(mask), v = mem ? (uint32_t)warp_address(w, o, first) : warp_u32(w, o, first);
    WARP_FOR_LANES(l, mask) {
        uint32_t other = mem ? (uint32_t)warp_address(w, o, l) : warp_u32(w, o, l);
        if (other == v)
            continue;
        return warp_fails(w, in, 1u << l | 1u << first, &not_uniform, "%s is 0x%x in lane %u and 0x%x in lane %u", what,
                          v, first, other, l);
    }
    *value = v;
    return true;
}

/* --- alloc, dealloc, relinquish_alloc_permit ---------------------------------------------------------------------- */

/* Has the pair's other CTA not come to its tcgen05.alloc yet? */
static bool lacks_peer(struct cta *cta, const struct insn *in) {
    return in->aux == 2 && tc_state_of(cta_peer(cta))->alloc.state != TC_ASKED;
}

static enum warp_status do_alloc(struct warp *w, const struct insn *in, uint32_t mask) {
    struct mach_origin origin = warp_origin(w, in, mask);
    struct cta *cta = w->cta, *owner;
    uint32_t columns, dst, off, taddr;
    bool generic = !ptx_has(in->src, PTX_MOD_shared__cta);
    if (!isa_tmem_uniform(w, in, mask, &in->o[1], "the number of columns", &columns) ||
        !isa_tmem_uniform(w, in, mask, &in->o[0], "the destination address", &dst) ||
        !warp_smem_operand(w, in, warp_lowest(mask), &in->o[0], false, generic, 4, &owner, &off) ||
        !tc_use_group(cta, &origin, (unsigned)in->aux))
        return WARP_FAULT;
    switch (in->aux == 2 ? tc_pair_alloc(cta, &origin, w->index, columns, &taddr)
                         : tc_alloc(cta, &origin, columns, &taddr)) {
    case TC_FAULT:
        return WARP_FAULT;
    case TC_BLOCKED:
        return warp_wait(
            w, in, &(struct warp_wait){.kind = lacks_peer(cta, in) ? WAIT_PAIR : WAIT_TMEM_ALLOC, .value = columns});
    case TC_DONE:
        break;
    }
    memcpy(owner->smem + off, &taddr, sizeof taddr);
    smem_clear_poison(owner, off, sizeof taddr);
    if (events_wanted(w->gpu, WANT_ENGINE_WRITE))
        events_send_access(w->gpu, &(struct event_access){.by = warp_by(w, in, mask),
                                                          .agent = AGENT_TENSOR_ALLOC,
                                                          .space = SPACE_SHARED,
                                                          .effect = EFFECT_WRITE,
                                                          .owner = owner,
                                                          .at = &(uint64_t){off},
                                                          .size = sizeof taddr,
                                                          .rows = 1});
    return WARP_NEXT;
}

static enum warp_status do_dealloc(struct warp *w, const struct insn *in, uint32_t mask) {
    struct mach_origin origin = warp_origin(w, in, mask);
    uint32_t taddr, columns;
    if (!isa_tmem_uniform(w, in, mask, &in->o[0], "the tensor memory address", &taddr) ||
        !isa_tmem_uniform(w, in, mask, &in->o[1], "the number of columns", &columns) ||
        !tc_use_group(w->cta, &origin, (unsigned)in->aux))
        return WARP_FAULT;
    if (in->aux == 1)
        return tc_dealloc(w->cta, &origin, taddr, columns) ? WARP_NEXT : WARP_FAULT;
    switch (tc_pair_dealloc(w->cta, &origin, w->index, taddr, columns)) {
    case TC_BLOCKED:
        return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_PAIR, .value = columns});
    case TC_DONE:
        return WARP_NEXT;
    case TC_FAULT:
        break;
    }
    return WARP_FAULT;
}

static enum warp_status do_relinquish(struct warp *w, const struct insn *in, uint32_t mask) {
    struct mach_origin origin = warp_origin(w, in, mask);
    bool ok = tc_use_group(w->cta, &origin, (unsigned)in->aux) && tc_relinquish(w->cta, &origin);
    return ok ? WARP_NEXT : WARP_FAULT;
}

bool isa_bind_tcgen05_alloc(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    if (!isa_tmem_group(
            b, in, ISA_WORDS(ISA_ANY(cta_group), PTX_MOD_sync, PTX_MOD_aligned, PTX_MOD_shared__cta, PTX_MOD_b32), &k))
        return false;
    switch (in->src->op) {
    case PTX_OP_tcgen05_alloc:
        return isa_tmem_aligned(b, in, do_alloc);
    case PTX_OP_tcgen05_dealloc:
        return isa_tmem_aligned(b, in, do_dealloc);
    default:
        return isa_tmem_aligned(b, in, do_relinquish);
    }
}

/* --- fence -------------------------------------------------------------------------------------------------------- */

/* Orders nothing here: queues run in order, and threads see what has run. */
static enum warp_status do_fence(struct warp *w, const struct insn *in, uint32_t mask) {
    const bool before = in->src->op == PTX_OP_tcgen05_fence_before_thread_sync;
    tell_sync(w->gpu, &(struct event_sync){.by = warp_by(w, in, mask),
                                           .kind = before ? SYNC_TCGEN05_FENCE_BEFORE : SYNC_TCGEN05_FENCE_AFTER,
                                           .owner = w->cta});
    return WARP_NEXT;
}

bool isa_bind_tcgen05_fence(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    in->fn = do_fence;
    return isa_tmem_sort(b, in->src, ISA_WORDS(PTX_MOD_unknown), &k);
}
