/* isa/cache.c - prefetch, prefetchu, applypriority, discard, createpolicy and st.bulk (PTX ISA 9.7.9.13, .15 - .18).
 *
 * Caches are not modelled: these are hints, checked for form and, where the ISA asks for a valid range, for address.
 * A cache policy is an opaque value that no access looks into.
 */
#include "isa/form.h"
#include "isa/tell.h"

/* --- prefetch, applypriority, discard ----------------------------------------------------------------------------- */

/* A prefetch of an address outside memory does nothing, as one of shared memory does. */
static enum warp_status do_prefetch(struct warp *w, const struct insn *in, uint32_t mask) {
    return warp_address_known(w, in, &in->o[0], mask) ? WARP_NEXT : WARP_FAULT;
}

bool isa_bind_prefetch(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *src = in->src;
    struct isa_words k;
    in->fn = do_prefetch;
    if (!isa_sort(b, src,
                  ISA_WORDS(PTX_MOD_global, PTX_MOD_local, PTX_MOD_const, PTX_MOD_param, ISA_ANY(level),
                            PTX_MOD_L2__evict_last, PTX_MOD_L2__evict_normal, PTX_MOD_tensormap),
                  &k))
        return false;
    const enum ptx_mod space = k.of[PTX_KIND_space];
    const bool level = k.of[PTX_KIND_level], priority = k.of[PTX_KIND_evict_l2], tensormap = k.of[PTX_KIND_proxy];
    if (in->o[0].kind == WARP_PARAM && !tensormap)
        return false;
    if (src->op == PTX_OP_prefetchu)
        return isa_spelled(src, ISA_WORDS(PTX_MOD_L1));
    if (tensormap)
        return !level && !priority && space != PTX_MOD_global && space != PTX_MOD_local;
    if (priority)
        return space == PTX_MOD_global && !level;
    return level && space != PTX_MOD_const && space != PTX_MOD_param;
}

DIAG(not_global) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "cache-line-space", "9.7.9.16"),
    .rule = "discard and applypriority take 128 bytes of global memory",
    .reason = "the ISA leaves the behaviour undefined.",
};

/* applypriority and discard name 128 bytes of global memory; what discard leaves there is not defined, so that leaving
 * the bytes as they are is one of its outcomes; to those who watch it is the weak write that it behaves like
 * (9.7.9.17). in->aux: the state space that is written. */
static enum warp_status do_line(struct warp *w, const struct insn *in, uint32_t mask) {
    if (!warp_address_known(w, in, &in->o[0], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        struct warp_loc loc;
        bool discard = in->src->op == PTX_OP_discard;
        if (!warp_resolve(w, in, l, (enum warp_space)in->aux, warp_address(w, &in->o[0], l), 128, 128, discard, &loc))
            return WARP_FAULT;
        if (loc.space != XS_GLOBAL)
            return warp_fault(w, in, 1u << l, &not_global, "lane %u gives an address outside global memory", l);
        if (discard)
            isa_saw_loc(w, in, &loc, warp_address(w, &in->o[0], l), 128, l, EFFECT_WRITE);
    }
    return WARP_NEXT;
}

bool isa_bind_cache_line(struct isa_binder *b, struct insn *in) {
    const enum ptx_mod line = in->src->op == PTX_OP_discard ? PTX_MOD_L2 : PTX_MOD_L2__evict_normal;
    in->fn = do_line;
    in->aux = ptx_has(in->src, PTX_MOD_global) ? XS_GLOBAL : XS_GENERIC;
    if (!isa_spelled(in->src, ISA_WORDS(ISA_MORE(PTX_MOD_global), line)))
        return isa_refuse(b, "the form is discard{.global}.L2 or applypriority{.global}.L2::evict_normal");
    return in->o[1].more->src->imm == 128;
}

/* --- createpolicy ------------------------------------------------------------------------------------------------- */

DIAG(policy_range) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "createpolicy-operand", "9.7.9.18"),
    .rule = "primary-size is at most total-size, and a fraction is in (0.0, 1.0]",
    .hint = "Write the fraction as 0.25, not as 25 percent, and both sizes in bytes",
    .reason = "the ISA leaves the policy undefined.",
};

/* in->aux: the policy's value before operands. */
static enum warp_status do_policy(struct warp *w, const struct insn *in, uint32_t mask) {
    warp_slot d = in->o[0].slot;
    bool cvt = ptx_has(in->src, PTX_MOD_cvt), range = ptx_has(in->src, PTX_MOD_range);
    for (unsigned i = range ? 2 : 1; i < in->num_opnds; i++)
        if (!warp_known(w, in, mask, &in->o[i], "the cache policy"))
            return WARP_FAULT;
    if (range && !warp_address_known(w, in, &in->o[1], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        uint64_t v = in->aux;
        if (cvt)
            v = warp_src64(w, in->o[1].slot)[l];
        else if (range && warp_u32(w, &in->o[2], l) > warp_u32(w, &in->o[3], l))
            return warp_fault(w, in, 1u << l, &policy_range, "primary-size is %u, but total-size only %u",
                              warp_u32(w, &in->o[2], l), warp_u32(w, &in->o[3], l));
        else if (!range && in->num_opnds == 2) {
            float f;
            memcpy(&f, &warp_src32(w, in->o[1].slot)[l], sizeof f);
            if (!(f > 0.0f && f <= 1.0f))
                return warp_fault(w, in, 1u << l, &policy_range, "the fraction is %g, which is not in (0, 1]",
                                  (double)f);
        }
        warp_dst64(w, d)[l] = v;
    }
    return warp_done(w, d, mask, 0);
}

static int priority_code(enum ptx_mod m) {
    switch (m) {
    case PTX_MOD_L2__evict_normal:
        return 0;
    case PTX_MOD_L2__evict_first:
        return 1;
    case PTX_MOD_L2__evict_last:
        return 2;
    default: /* .L2::evict_unchanged */
        return 3;
    }
}

/* A constant fraction has no type word to take its width from: its value is checked here. */
static bool is_fraction(const struct ptx_operand *o) {
    double d = (double)o->imm;
    float s;
    if (o->imm_kind == PTX_IMM_F32) {
        memcpy(&s, &o->imm, sizeof s);
        d = (double)s;
    } else if (o->imm_kind == PTX_IMM_F64)
        memcpy(&d, &o->imm, sizeof d);
    return d > 0.0 && d <= 1.0;
}

static bool bind_fraction(struct insn *in) {
    const struct warp_opnd *o = &in->o[1];
    if (in->num_opnds == 1 || !o->is_imm)
        return true;
    in->num_opnds = 1;
    return is_fraction(o->more->src);
}

/* {.fractional | .range{.global}}.primary{.secondary}.b64 and .cvt.L2.b64 */
bool isa_bind_cache_policy(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *src = in->src;
    const uint16_t priority = ISA_ANY(evict_l2);
    const bool range = ptx_has(src, PTX_MOD_range);
    in->fn = do_policy;
    if (isa_spelled(src, ISA_WORDS(PTX_MOD_cvt, PTX_MOD_L2, PTX_MOD_b64)))
        return true;
    if (!isa_spelled(
            src, range ? ISA_WORDS(PTX_MOD_range, ISA_MORE(PTX_MOD_global), priority, ISA_MORE(priority), PTX_MOD_b64)
                       : ISA_WORDS(PTX_MOD_fractional, priority, ISA_MORE(priority), PTX_MOD_b64)))
        return isa_refuse(b, "the form is .fractional or .range, one or two priorities, .b64; or .cvt.L2.b64");
    const uint16_t *last = &src->mods[src->num_mods - 2];
    const bool two = ptx_mod_kind((enum ptx_mod)last[-1]) == PTX_KIND_evict_l2;
    const int primary = priority_code((enum ptx_mod)last[two ? -1 : 0]);
    const int secondary = two ? priority_code((enum ptx_mod) * last) : 3;
    if (secondary != 1 && secondary != 3)
        return isa_refuse(b, "the secondary priority is .L2::evict_first or .L2::evict_unchanged");
    in->aux = 1ull << 60 | (uint64_t)range << 59 | (uint64_t)primary << 56 | (uint64_t)secondary << 54;
    if (!range)
        return bind_fraction(in);
    return true;
}

/* --- st.bulk ------------------------------------------------------------------------------------------------------ */

#define BULK_MAX 16777216u /* 9.7.9.13 */

DIAG(bulk_size) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "st-bulk-size", "9.7.9.13"),
    .rule = "the size is a multiple of 8 and at most 16777216",
    .reason = "the ISA leaves the behaviour undefined.",
};
DIAG(bulk_space) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "st-bulk-space", "9.7.9.13"),
    .rule = "st.bulk writes shared memory of the executing CTA",
    .hint = "Pass an address in the CTA's own shared memory. Write global or another CTA's memory by other stores",
    .reason = "the ISA leaves the behaviour undefined.",
};

/* in->aux: the state space that is written. */
static enum warp_status do_bulk(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct warp_opnd *size = &in->o[1];
    if (!warp_known(w, in, mask, size, "the size") || !warp_address_known(w, in, &in->o[0], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        uint64_t n = size->is_imm ? size->more->src->imm : warp_src64(w, size->slot)[l];
        struct warp_loc loc;
        if (n % 8 || n > BULK_MAX)
            return warp_fault(w, in, 1u << l, &bulk_size, "lane %u stores %llu bytes: %s", l, (unsigned long long)n,
                              n % 8 ? "no multiple of 8" : "too many");
        if (!warp_resolve(w, in, l, (enum warp_space)in->aux, warp_address(w, &in->o[0], l), (uint32_t)n, 8, true,
                          &loc))
            return WARP_FAULT;
        if (loc.space != XS_SHARED_CTA || loc.cta != w->cta)
            return warp_fault(w, in, 1u << l, &bulk_space, "lane %u writes outside its CTA's shared memory", l);
        memset(loc.host, 0, n);
        smem_clear_poison(loc.cta, loc.off, (uint32_t)n);
        isa_saw_loc(w, in, &loc, 0, (uint32_t)n, l, EFFECT_WRITE);
    }
    w->island->progress++;
    return WARP_NEXT;
}

bool isa_bind_fill(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    if (!isa_sort(b, in->src, ISA_WORDS(PTX_MOD_weak, PTX_MOD_shared, PTX_MOD_shared__cta), &k))
        return false;
    if (in->o[2].more->src->imm != 0)
        return isa_refuse(b, "the initial value can only be the constant 0");
    in->fn = do_bulk;
    in->aux = isa_space(k.of[PTX_KIND_space]);
    return true;
}
