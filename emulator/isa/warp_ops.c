/* isa/warp_ops.c - what the threads of a warp do together: shfl.sync (PTX ISA 9.7.9.6), vote.sync, match.sync,
 * activemask, redux.sync, elect.sync (9.7.13.9 - .12, .14) and bar.warp.sync (9.7.13.2).
 *
 * The members of `membermask` that are alive meet first (warp_sync_lanes); a thread that is not in its own mask is a
 * fault. A shuffle from a thread that does not take part gives poison.
 */
#include "isa/form.h"
#include "isa/tell.h"
#include "num/num.h"
#include "simd/vectors.h"
#include "warp/meet.h"
#include "warp/parts.h"

DIAG(mask_self) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "membermask-without-self", "9.7.9.6"),
    .rule = "a thread that executes a .sync instruction must be in its membermask",
    .hint = "Build the mask from the threads that take this branch. Usual causes are 0xffffffff in a branch of fewer "
            "threads, __activemask(), or a mask for another branch",
    .reason = "the ISA leaves the behaviour undefined.",
};
DIAG(mask_differs) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "membermask-differs", "9.7.9.6"),
    .rule = "all threads of a membermask execute the instruction with the same mask",
    .hint = "Let all threads that meet at this instruction pass the same mask",
    .reason = "the threads that execute it do not agree on whom they wait for.",
};

/* How one instruction is done once its members have met. */
typedef enum warp_status (*warp_fn)(struct warp *w, const struct insn *in, uint32_t members);

struct warp_form {
    warp_fn run;
    const struct warp_opnd *members;
    enum ptx_mod mode;
    enum ptx_type type;
    bool abs, nan;
    bool fixed; /* shfl.sync with constant b and c: where each lane reads */
    uint32_t fixed_source[MACH_WARP];
    uint32_t fixed_in_range;
};

/* Waits for the members; then each set of lanes with one membermask acts by itself. */
static enum warp_status do_sync(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct warp_form *f = in->data;
    if (!warp_known(w, in, mask, f->members, "the membermask"))
        return WARP_FAULT;
    uint32_t members = warp_u32(w, f->members, warp_lowest(mask)), same = 0;
    if (f->members->is_imm && (mask & members) == WARP_ALL_LANES)
        return f->run(w, in, WARP_ALL_LANES);
    uint32_t look = f->members->is_imm && !(mask & ~members) ? 0 : mask; /* a constant that names all of them */
    same = mask & ~look;
    WARP_FOR_LANES(l, look) {
        uint32_t own = warp_u32(w, f->members, l);
        if (!(own >> l & 1))
            return warp_fault(w, in, 1u << l, &mask_self, "lane %u is not in its own membermask, 0x%08x", l, own);
        same |= own == members ? 1u << l : 0;
    }
    if (same == mask) {
        enum warp_status status;
        if (members & w->g->mask & ~mask && warp_isolate(w, in, mask))
            return WARP_JUMP;
        if (!warp_sync_lanes(w, in, members, &status))
            return status;
        return f->run(w, in, members & w->g->mask);
    }
    for (uint32_t left = mask; left;) { /* converged lanes with several masks: each must be complete here */
        members = warp_u32(w, f->members, warp_lowest(left));
        uint32_t lanes = 0;
        WARP_FOR_LANES(l, left) lanes |= warp_u32(w, f->members, l) == members ? 1u << l : 0;
        if (lanes != (members & w->live))
            return warp_fault(w, in, lanes, &mask_differs, "membermask 0x%08x names lanes that come with another mask",
                              members);
        enum warp_status status = f->run(w, in, lanes);
        if (status != WARP_NEXT)
            return status;
        left &= ~lanes;
    }
    return WARP_NEXT;
}

/* --- shfl.sync ---------------------------------------------------------------------------------------------------- */

/* 9.7.9.6, Semantics. Returns the source lane, *in_range the predicate. */
static uint32_t shfl_source(enum ptx_mod mode, uint32_t lane, uint32_t b, uint32_t c, bool *in_range) {
    uint32_t bval = b & 31, cval = c & 31, seg = c >> 8 & 31;
    int32_t max = (int32_t)((lane & seg) | (cval & ~seg & 31)), min = (int32_t)(lane & seg), j;
    switch (mode) {
    case PTX_MOD_up:
        j = (int32_t)lane - (int32_t)bval;
        *in_range = j >= max;
        break;
    case PTX_MOD_down:
        j = (int32_t)(lane + bval);
        *in_range = j <= max;
        break;
    case PTX_MOD_bfly:
        j = (int32_t)(lane ^ bval);
        *in_range = j <= max;
        break;
    default:
        j = min | (int32_t)(bval & ~seg & 31);
        *in_range = j <= max;
        break;
    }
    return *in_range ? (uint32_t)j : lane;
}

/* The same of all lanes, where it is not fixed: the source lanes, and the predicates as bits. */
static uint32_t shfl_sources(const struct warp *w, const struct warp_form *f, const struct warp_opnd *b,
                             const struct warp_opnd *c, uint32_t source[MACH_WARP]) {
    uint32_t ins = 0, bval[MACH_WARP], max[MACH_WARP], seg[MACH_WARP], in[MACH_WARP];
    const uint32_t *bs = warp_src32(w, b->slot), *cs = warp_src32(w, c->slot);
    const bool bfly = f->mode == PTX_MOD_bfly;
    if (!b->is_imm && c->is_imm && (c->more->src->imm & 0x1f1f) == 31 && (bfly || f->mode == PTX_MOD_idx)) {
        for (uint32_t l = 0; l < MACH_WARP; l++) /* the warp is one segment: each lane's source is in range */
            source[l] = (bs[l] & 31) ^ (bfly ? l : 0);
        return WARP_ALL_LANES;
    }
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        const uint32_t cl = c->is_imm ? (uint32_t)c->more->src->imm : cs[l];
        bval[l] = (b->is_imm ? (uint32_t)b->more->src->imm : bs[l]) & 31;
        seg[l] = cl >> 8 & 31;
        max[l] = (l & seg[l]) | (cl & ~seg[l] & 31);
    }
    if (f->mode == PTX_MOD_up)
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            source[l] = l - bval[l];
            in[l] = (int32_t)source[l] >= (int32_t)max[l];
        }
    else
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            const uint32_t down = l + bval[l], other = l ^ bval[l], idx = (l & seg[l]) | (bval[l] & ~seg[l]);
            source[l] = f->mode == PTX_MOD_down ? down : bfly ? other : idx;
            in[l] = source[l] <= max[l];
        }
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        source[l] = in[l] ? source[l] : l;
        ins |= in[l] << l;
    }
    return ins;
}

/* d[l] = a[source[l]], where d may be a. */
static void permute(uint32_t *d, const uint32_t *a, const uint32_t source[MACH_WARP]) {
#if defined(ISA_UNIT) && defined(__AVX512F__)
    const __m512i low = _mm512_loadu_si512(a), high = _mm512_loadu_si512(a + 16);
    _mm512_storeu_si512(d, _mm512_permutex2var_epi32(low, _mm512_loadu_si512(source), high));
    _mm512_storeu_si512(d + 16, _mm512_permutex2var_epi32(low, _mm512_loadu_si512(source + 16), high));
#elif defined(ISA_UNIT)
    const __m256i_u *const from = (const __m256i_u *)a;
    const __m256i part[4] = {from[0], from[1], from[2], from[3]};
    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m256i at = ((const __m256i_u *)source)[i]; /* bits 0 to 2 in a part, which bits 3 and 4 choose */
        const __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)),
                     upper = _mm256_castsi256_ps(_mm256_slli_epi32(at, 27));
        __m256 v[4];
        UNROLL
        for (unsigned k = 0; k < 4; k++)
            v[k] = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(part[k], at));
        const __m256 low = _mm256_blendv_ps(v[0], v[1], odd), high = _mm256_blendv_ps(v[2], v[3], odd);
        _mm256_storeu_ps((float *)d + 8 * i, _mm256_blendv_ps(low, high, upper));
    }
#else
    uint32_t copy[MACH_WARP];
    memcpy(copy, a, sizeof copy);
    for (uint32_t l = 0; l < MACH_WARP; l++)
        d[l] = copy[source[l]];
#endif
}

/* All lanes, nothing poisoned. */
static enum warp_status shfl_all(struct warp *w, const struct insn *in, const struct warp_opnd *a,
                                 const struct warp_opnd *b, const struct warp_opnd *c) {
    const struct warp_form *f = in->data;
    uint32_t source[MACH_WARP];
    const uint32_t preds = f->fixed ? f->fixed_in_range : shfl_sources(w, f, b, c, source);
    permute(warp_dst32(w, in->o[0].slot), warp_src32(w, a->slot), f->fixed ? f->fixed_source : source);
    w->pz[in->o[0].slot] = 0;
    if (in->num_opnds == 6 && in->o[1].kind == WARP_SLOT) {
        warp_set_pred(w, in->o[1].slot, WARP_ALL_LANES, preds);
        w->pz[in->o[1].slot] = 0;
    }
    return WARP_NEXT;
}

/* Operands: d, [p,] a, b, c, membermask. */
static enum warp_status run_shfl(struct warp *w, const struct insn *in, uint32_t members) {
    const struct warp_form *f = in->data;
    unsigned n = in->num_opnds;
    const struct warp_opnd *a = &in->o[n - 4], *b = &in->o[n - 3], *c = &in->o[n - 2];
    uint32_t bad = ((b->is_imm ? 0 : warp_poison(w, b->slot)) | (c->is_imm ? 0 : warp_poison(w, c->slot))) & members;
    if (bad)
        return warp_fault_poison(w, in, bad, "the source lane");
    uint32_t copy[MACH_WARP], from = warp_poison(w, a->slot), poison = 0, preds = 0;
    if (members == WARP_ALL_LANES && !from)
        return shfl_all(w, in, a, b, c);
    memcpy(copy, warp_src32(w, a->slot), sizeof copy);
    uint32_t out[MACH_WARP], unwritten[MACH_WARP];
    uint32_t absent = from | ~members; /* lanes that have nothing to give */
    WARP_FOR_LANES(l, members) {
        bool in_range = f->fixed_in_range >> l & 1;
        uint32_t j =
            f->fixed ? f->fixed_source[l] : shfl_source(f->mode, l, warp_u32(w, b, l), warp_u32(w, c, l), &in_range);
        out[l] = copy[j];
        preds |= (uint32_t)in_range << l;
        poison |= (absent >> j & 1) << l;
        unwritten[l] = members >> j & 1 ? (uint32_t)warp_unwritten(w, a->slot, 32, j) : UINT32_MAX;
    }
    WARP_FOR_LANES(l, members) warp_dst32(w, in->o[0].slot)[l] = out[l];
    warp_set_poison(w, in->o[0].slot, members & ~poison, 0);
    WARP_FOR_LANES(l, poison) { warp_set_unwritten(w, in->o[0].slot, 32, l, unwritten[l]); }
    if (n == 6 && in->o[1].kind == WARP_SLOT) {
        warp_set_pred(w, in->o[1].slot, members, preds);
        warp_set_poison(w, in->o[1].slot, members, 0);
    }
    return WARP_NEXT;
}

static bool bind_shfl(struct insn *in, struct warp_form *f) {
    unsigned n = in->num_opnds;
    if (!isa_spelled(in->src, ISA_WORDS(ISA_ANY(shuffle), PTX_MOD_b32)))
        return false;
    f->mode = (enum ptx_mod)in->src->mods[0];
    f->run = run_shfl;
    const struct warp_opnd *b = &in->o[n - 3], *c = &in->o[n - 2];
    f->fixed = b->is_imm && c->is_imm;
    for (uint32_t l = 0; f->fixed && l < MACH_WARP; l++) {
        bool in_range;
        f->fixed_source[l] =
            shfl_source(f->mode, l, (uint32_t)b->more->src->imm, (uint32_t)c->more->src->imm, &in_range);
        f->fixed_in_range |= (uint32_t)in_range << l;
    }
    return true;
}

/* --- vote.sync ---------------------------------------------------------------------------------------------------- */

static enum warp_status run_vote(struct warp *w, const struct insn *in, uint32_t members) {
    const struct warp_form *f = in->data;
    warp_slot d = in->o[0].slot;
    uint32_t a = warp_pred(w, &in->o[1]) & members, bad = warp_poison(w, in->o[1].slot) & members;
    if (f->mode == PTX_MOD_ballot) {
        WARP_FOR_LANES(l, members) warp_dst32(w, d)[l] = a;
        warp_set_poison(w, d, members, bad ? members : 0);
        return WARP_NEXT;
    }
    bool v = f->mode == PTX_MOD_all ? a == members : f->mode == PTX_MOD_any ? a != 0 : a == 0 || a == members;
    warp_set_pred(w, d, members, v ? WARP_ALL_LANES : 0);
    return warp_done(w, d, members, bad ? members : 0);
}

static bool bind_vote(struct insn *in, struct warp_form *f) {
    const bool ballot = ptx_has(in->src, PTX_MOD_ballot);
    if (!isa_spelled(in->src, ISA_WORDS(ISA_ANY(vote), ballot ? PTX_MOD_b32 : PTX_MOD_pred)))
        return false;
    f->mode = (enum ptx_mod)in->src->mods[0];
    f->run = run_vote;
    return true;
}

/* --- match.sync --------------------------------------------------------------------------------------------------- */

static enum warp_status run_match(struct warp *w, const struct insn *in, uint32_t members) {
    const struct warp_form *f = in->data;
    const struct warp_opnd *a = &in->o[in->num_opnds - 2];
    uint32_t bad = warp_poison(w, a->slot) & members;
    uint64_t v[MACH_WARP];
    uint32_t out[MACH_WARP], all = members;
    WARP_FOR_LANES(l, members) v[l] = a->bits == 64 ? warp_src64(w, a->slot)[l] : warp_src32(w, a->slot)[l];
    WARP_FOR_LANES(l, members) {
        out[l] = 0;
        for (uint32_t m = members; m; m &= m - 1)
            out[l] |= v[warp_lowest(m)] == v[l] ? m & (0u - m) : 0;
        all &= out[l];
    }
    bool every = all == members;
    if (in->o[0].kind == WARP_SLOT) {
        WARP_FOR_LANES(l, members)
        warp_dst32(w, in->o[0].slot)[l] = f->mode == PTX_MOD_any ? out[l] : every ? members : 0;
        warp_set_poison(w, in->o[0].slot, members, bad ? members : 0);
    }
    if (in->num_opnds == 4 && in->o[1].kind == WARP_SLOT) {
        warp_set_pred(w, in->o[1].slot, members, every ? WARP_ALL_LANES : 0);
        warp_set_poison(w, in->o[1].slot, members, bad ? members : 0);
    }
    return WARP_NEXT;
}

static bool bind_match(struct isa_binder *b, struct insn *in, struct warp_form *f) {
    struct isa_words k;
    if (!isa_sort(b, in->src, ISA_WORDS(PTX_MOD_any, PTX_MOD_all, PTX_MOD_sync, PTX_MOD_b32, PTX_MOD_b64), &k))
        return false;
    f->mode = k.of[PTX_KIND_vote];
    f->run = run_match;
    return k.of[PTX_KIND_type] && f->mode;
}

/* --- redux.sync --------------------------------------------------------------------------------------------------- */

static enum warp_status run_redux(struct warp *w, const struct insn *in, uint32_t members) {
    const struct warp_form *f = in->data;
    warp_slot d = in->o[0].slot, s = in->o[1].slot;
    uint32_t bad = warp_poison(w, s) & members, first = warp_lowest(members);
    const uint32_t *src = warp_src32(w, s);
    unsigned flags = f->nan ? NUM_NAN : 0;
    uint32_t abs = f->abs ? 0x7fffffffu : 0xffffffffu;
    uint32_t acc = src[first] & abs;
    const num_op op = isa_reduction(f->mode);
    if (f->type == PTX_F32)
        acc = (uint32_t)num_min(NUM_F32, acc, acc, flags); /* a lone NaN becomes canonical */
    WARP_FOR_LANES(l, members & ~(1u << first)) {
        uint32_t v = src[l] & abs;
        if (f->type != PTX_F32)
            acc = (uint32_t)num_reduce(op, f->type == PTX_S32, false, acc, v);
        else
            acc = (uint32_t)(op == NUM_OP_MIN ? num_min(NUM_F32, acc, v, flags) : num_max(NUM_F32, acc, v, flags));
    }
    WARP_FOR_LANES(l, members) warp_dst32(w, d)[l] = acc;
    return warp_done(w, d, members, bad ? members : 0);
}

static bool bind_redux(struct isa_binder *b, struct insn *in, struct warp_form *f) {
    struct isa_words k;
    if (!isa_sort(b, in->src, ISA_WORDS(PTX_MOD_abs, PTX_MOD_NaN, ISA_ANY(type), ISA_ANY(operation)), &k))
        return false;
    f->abs = ptx_has(in->src, PTX_MOD_abs);
    f->nan = ptx_has(in->src, PTX_MOD_NaN);
    f->type = ptx_mod_type(k.of[PTX_KIND_type]);
    f->mode = k.of[PTX_KIND_operation];
    f->run = run_redux;
    bool order = f->mode == PTX_MOD_min || f->mode == PTX_MOD_max;
    bool logic = f->mode == PTX_MOD_and || f->mode == PTX_MOD_or || f->mode == PTX_MOD_xor;
    bool ok = (f->type == PTX_B32 && logic) || (f->type == PTX_F32 && order) ||
              ((f->type == PTX_U32 || f->type == PTX_S32) && (order || f->mode == PTX_MOD_add));
    return ok && (f->type == PTX_F32 || (!f->abs && !f->nan));
}

/* --- elect.sync, bar.warp.sync, activemask ------------------------------------------------------------------------ */

static void set_all(uint32_t *d, uint32_t lanes, uint32_t value) {
    if (lanes == WARP_ALL_LANES)
        for (uint32_t l = 0; l < MACH_WARP; l++)
            d[l] = value;
    else
        WARP_FOR_LANES(l, lanes) { d[l] = value; }
}

/* 9.7.13.14: the same leader every time for one membermask; here, as on the chip, the lowest lane. */
static enum warp_status run_elect(struct warp *w, const struct insn *in, uint32_t members) {
    uint32_t leader = warp_lowest(members);
    if (in->o[0].kind == WARP_SLOT) {
        set_all(warp_dst32(w, in->o[0].slot), members, leader);
        warp_set_poison(w, in->o[0].slot, members, 0);
    }
    warp_set_pred(w, in->o[1].slot, members, 1u << leader);
    return warp_done(w, in->o[1].slot, members, 0);
}

static enum warp_status run_warp_bar(struct warp *w, const struct insn *in, uint32_t members) {
    isa_saw_sync(w, in, members, WANT_BARRIER, (struct event_sync){.kind = SYNC_WARP, .members = members});
    return WARP_NEXT;
}

static enum warp_status do_activemask(struct warp *w, const struct insn *in, uint32_t mask) {
    set_all(warp_dst32(w, in->o[0].slot), mask, mask);
    return warp_done(w, in->o[0].slot, mask, 0);
}

bool isa_bind_warp(struct isa_binder *b, struct insn *in) {
    struct warp_form *f = arena_alloc(b->arena, sizeof *f);
    bool ok = false;
    switch (in->src->op) {
    case PTX_OP_activemask:
        in->fn = do_activemask;
        return isa_spelled(in->src, ISA_WORDS(PTX_MOD_b32));
    case PTX_OP_shfl_sync:
        ok = bind_shfl(in, f);
        break;
    case PTX_OP_vote_sync:
        ok = bind_vote(in, f);
        break;
    case PTX_OP_match_sync:
        ok = bind_match(b, in, f);
        break;
    case PTX_OP_redux_sync:
        ok = bind_redux(b, in, f);
        break;
    case PTX_OP_elect_sync:
    case PTX_OP_bar_warp_sync:
        f->run = in->src->op == PTX_OP_elect_sync ? run_elect : run_warp_bar;
        in->meets = in->src->op == PTX_OP_bar_warp_sync ? MEETS_WARP : MEETS_HERE; /* 9.7.13.2 */
        ok = in->src->num_mods == 0;
        break;
    case PTX_OP_shfl:
    case PTX_OP_vote:
        return isa_refuse(b, "removed for sm_70 and later: use the .sync form");
    default:
        return false;
    }
    if (!ok)
        return false;
    f->members = &in->o[in->num_opnds - 1];
    in->data = f;
    in->fn = do_sync;
    return true;
}
