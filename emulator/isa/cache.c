/* isa/cache.c - prefetch, prefetchu, applypriority, discard, createpolicy and st.bulk (PTX ISA 9.7.9.13, .15 - .18).
 *
 * Caches are not modelled: these are hints, checked for form and, where the ISA asks for a valid range, for address.
 * A cache policy is an opaque value that no access looks into.
 */
#include "isa/isa.h"

/* --- prefetch, applypriority, discard ------------------------------------------------------------------ */

/* A prefetch of an address outside memory does nothing, as one of shared memory does. */
static enum warp_status run_prefetch(struct warp *w, const struct insn *in, uint32_t mask) {
    return warp_address_known(w, in, &in->o[0], mask) ? WARP_NEXT : WARP_FAULT;
}

bool isa_bind_prefetch(struct isa_binder *b, struct insn *in) {
    (void)b;
    const struct ptx_insn *src = in->src;
    unsigned level = 0, global = 0, other = 0, tensormap = 0, priority = 0;
    for (unsigned i = 0; i < src->num_mods; i++)
        switch ((enum ptx_mod)src->mods[i]) {
        case PTX_MOD_global:
            global++;
            break;
        case PTX_MOD_local:
            other++;
            break;
        case PTX_MOD_const:
        case PTX_MOD_param:
            other += 2;
            break;
        case PTX_MOD_L1:
        case PTX_MOD_L2:
            level++;
            break;
        case PTX_MOD_L2__evict_last:
        case PTX_MOD_L2__evict_normal:
            priority++;
            break;
        case PTX_MOD_tensormap:
            tensormap++;
            break;
        default:
            return false;
        }
    in->fn = run_prefetch;
    if (in->num_opnds != 1 || (in->o[0].kind != WARP_MEM && !(tensormap && in->o[0].kind == WARP_PARAM)))
        return false;
    if (src->op == PTX_OP_prefetchu)
        return level == 1 && src->num_mods == 1 && src->mods[0] == PTX_MOD_L1;
    if (tensormap)
        return tensormap == 1 && !level && !priority && !global && (other == 0 || other == 2);
    if (priority)
        return priority == 1 && global == 1 && !level && !other;
    return level == 1 && global + other <= 1;
}

/* applypriority and discard name 128 bytes of global memory; what discard leaves there is not defined, so that leaving
 * the bytes as they are is one of its outcomes. */
static enum warp_status run_line(struct warp *w, const struct insn *in, uint32_t mask) {
    static const struct diag not_global = {
        .id = "cache-line-space",
        .rule = "the 128 bytes must lie in global memory",
        .section = "PTX ISA 9.7.9.16",
        .cuda_error = DIAG_CUDA_ILLEGAL_ADDRESS,
    };
    if (!warp_address_known(w, in, &in->o[0], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        struct warp_loc loc;
        bool discard = in->src->op == PTX_OP_discard;
        if (!warp_resolve(w, in, l, isa_space_of(in->src), warp_address(w, &in->o[0], l), 128, 128, discard, &loc))
            return WARP_FAULT;
        if (loc.space != XS_GLOBAL)
            return warp_fault(w, in, 1u << l, &not_global, "lane %u names bytes outside global memory", l);
    }
    return WARP_NEXT;
}

bool isa_bind_cache_line(struct isa_binder *b, struct insn *in) {
    (void)b;
    const struct ptx_insn *src = in->src;
    enum ptx_mod want = src->op == PTX_OP_discard ? PTX_MOD_L2 : PTX_MOD_L2__evict_normal;
    unsigned n = src->num_mods;
    in->fn = run_line;
    if (n == 0 || n > 2 || src->mods[n - 1] != want || (n == 2 && src->mods[0] != PTX_MOD_global))
        return false;
    return in->num_opnds == 2 && in->o[0].kind == WARP_MEM && in->o[1].is_imm && in->o[1].more->src->imm == 128;
}

/* --- createpolicy -------------------------------------------------------------------------------------- */

static const struct diag policy_range = {
    .id = "createpolicy-operand",
    .rule = "primary-size is at most total-size, and a fraction lies in (0.0, 1.0]",
    .section = "PTX ISA 9.7.9.18",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
};

/* in->aux: the policy's value before operands. */
static enum warp_status run_policy(struct warp *w, const struct insn *in, uint32_t mask) {
    warp_slot d = in->o[0].slot;
    bool cvt = ptx_has(in->src, PTX_MOD_cvt), range = ptx_has(in->src, PTX_MOD_range);
    for (unsigned i = range ? 2 : 1; i < in->num_opnds; i++) {
        uint32_t bad = in->o[i].is_imm ? 0 : warp_poison(w, in->o[i].slot) & mask;
        if (bad)
            return warp_fault_poison(w, in, bad, "the cache policy");
    }
    if (range && !warp_address_known(w, in, &in->o[1], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        uint64_t v = in->aux;
        if (cvt)
            v = warp_src64(w, in->o[1].slot)[l];
        else if (range && warp_u32(w, &in->o[2], l) > warp_u32(w, &in->o[3], l))
            return warp_fault(w, in, 1u << l, &policy_range, "primary-size %u, total-size %u",
                              warp_u32(w, &in->o[2], l), warp_u32(w, &in->o[3], l));
        else if (!range && in->num_opnds == 2) {
            float f;
            memcpy(&f, &warp_src32(w, in->o[1].slot)[l], sizeof f);
            if (!(f > 0.0f && f <= 1.0f))
                return warp_fault(w, in, 1u << l, &policy_range, "fraction %g", (double)f);
        }
        warp_dst64(w, d)[l] = v;
    }
    warp_set_poison(w, d, mask, 0);
    return WARP_NEXT;
}

static int priority_code(enum ptx_mod m) {
    switch (m) {
    case PTX_MOD_L2__evict_normal:
        return 0;
    case PTX_MOD_L2__evict_first:
        return 1;
    case PTX_MOD_L2__evict_last:
        return 2;
    case PTX_MOD_L2__evict_unchanged:
        return 3;
    default:
        return -1;
    }
}

bool isa_bind_cache_policy(struct isa_binder *b, struct insn *in) {
    (void)b;
    const struct ptx_insn *src = in->src;
    unsigned n = src->num_mods, first = 1;
    in->fn = run_policy;
    if (n < 3 || src->mods[n - 1] != PTX_MOD_b64 || in->num_opnds < 1 || !isa_is_dst(&in->o[0], 64))
        return false;
    if (src->mods[0] == PTX_MOD_cvt)
        return n == 3 && src->mods[1] == PTX_MOD_L2 && in->num_opnds == 2 && in->o[1].kind == WARP_SLOT &&
               in->o[1].bits == 64;
    bool range = src->mods[0] == PTX_MOD_range;
    if (!range && src->mods[0] != PTX_MOD_fractional)
        return false;
    if (range && src->mods[1] == PTX_MOD_global)
        first++;
    if (n - 1 - first < 1 || n - 1 - first > 2)
        return false;
    int primary = priority_code((enum ptx_mod)src->mods[first]);
    int secondary = n - 1 - first == 2 ? priority_code((enum ptx_mod)src->mods[first + 1]) : 3;
    if (primary < 0 || (secondary != 1 && secondary != 3))
        return false;
    in->aux = 1ull << 60 | (uint64_t)range << 59 | (uint64_t)primary << 56 | (uint64_t)secondary << 54;
    if (range)
        return in->num_opnds == 4 && in->o[1].kind == WARP_MEM && isa_is_u32(&in->o[2]) && isa_is_u32(&in->o[3]);
    /* A constant fraction has no type word to take its width from: its value is checked here. */
    if (in->num_opnds == 2 && in->o[1].is_imm) {
        double d = 0;
        float s = 0;
        if (in->o[1].more->src->imm_kind == PTX_IMM_F32) {
            memcpy(&s, &in->o[1].more->src->imm, sizeof s);
            d = (double)s;
        } else if (in->o[1].more->src->imm_kind == PTX_IMM_F64)
            memcpy(&d, &in->o[1].more->src->imm, sizeof d);
        else
            d = (double)in->o[1].more->src->imm;
        in->num_opnds = 1;
        return d > 0.0 && d <= 1.0;
    }
    return in->num_opnds == 1 || (in->num_opnds == 2 && in->o[1].kind == WARP_SLOT && in->o[1].bits == 32);
}

/* --- st.bulk ------------------------------------------------------------------------------------------- */

#define BULK_MAX 16777216u /* 9.7.9.13 */

static const struct diag bulk_size = {
    .id = "st-bulk-size",
    .rule = "the size is a multiple of 8 and at most 16777216",
    .section = "PTX ISA 9.7.9.13",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
};
static const struct diag bulk_space = {
    .id = "st-bulk-space",
    .rule = "st.bulk writes shared memory of the executing CTA",
    .section = "PTX ISA 9.7.9.13",
    .cuda_error = DIAG_CUDA_ILLEGAL_ADDRESS,
};

static enum warp_status run_bulk(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct warp_opnd *size = &in->o[1];
    uint32_t bad = size->is_imm ? 0 : warp_poison(w, size->slot) & mask;
    if (bad)
        return warp_fault_poison(w, in, bad, "the size");
    if (!warp_address_known(w, in, &in->o[0], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        uint64_t n = size->is_imm       ? size->more->src->imm
                     : size->bits == 64 ? warp_src64(w, size->slot)[l]
                                        : warp_u32(w, size, l);
        struct warp_loc loc;
        if (n % 8 || n > BULK_MAX)
            return warp_fault(w, in, 1u << l, &bulk_size, "lane %u stores %llu bytes", l, (unsigned long long)n);
        if (!warp_resolve(w, in, l, isa_space_of(in->src), warp_address(w, &in->o[0], l), (uint32_t)n, 8, true, &loc))
            return WARP_FAULT;
        if (loc.space != XS_SHARED_CTA || loc.cta != w->cta)
            return warp_fault(w, in, 1u << l, &bulk_space, "lane %u writes elsewhere", l);
        memset(loc.host, 0, n);
        smem_clear_poison(loc.cta, loc.off, (uint32_t)n);
        warp_saw_write(w, in, loc.cta, loc.off, (uint32_t)n, l);
    }
    w->island->progress++;
    return WARP_NEXT;
}

bool isa_bind_fill(struct isa_binder *b, struct insn *in) {
    for (unsigned i = 0; i < in->src->num_mods; i++)
        if (in->src->mods[i] != PTX_MOD_weak && in->src->mods[i] != PTX_MOD_shared__cta &&
            in->src->mods[i] != PTX_MOD_shared)
            return false;
    if (in->num_opnds != 3 || in->o[0].kind != WARP_MEM || in->o[1].kind != WARP_SLOT ||
        !(in->o[1].is_imm || in->o[1].bits >= 32))
        return false;
    if (!in->o[2].is_imm || in->o[2].more->src->imm != 0) {
        b->why = "the initial value can only be the constant 0";
        return false;
    }
    in->fn = run_bulk;
    return true;
}
