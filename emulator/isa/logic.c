/* isa/logic.c - logic and shift instructions (PTX ISA 9.7.8), on predicates too.
 *
 * A predicate register is one word, a bit per lane. Poison of predicates is exact: false and poison is false. So is
 * that of lop3's bits; isa/bits.c has the others.
 */
#include "isa/alu.h"
#include "warp/parts.h"

#define BITWISE(n, T)                                                                                                  \
    ALU_FN2(and_##n, T, T, T, a &b)                                                                                    \
    ALU_FN2(or_##n, T, T, T, a | b)                                                                                    \
    ALU_FN2(xor_##n, T, T, T, a ^ b)                                                                                   \
    ALU_FN1(not_##n, T, T, ~a)                                                                                         \
    ALU_FN1(cnot_##n, T, T, a == 0)
BITWISE(b16, u16)
BITWISE(b32, u32)
BITWISE(b64, u64)

/* 9.7.8.1 - 9.7.8.4, .pred */
#define PRED_FN(name, value, poison)                                                                                   \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        const struct warp_opnd *y = &in->o[in->num_opnds - 1]; /* `not` has one source */                              \
        const uint32_t a = warp_pred(w, &in->o[1]), b = warp_pred(w, y);                                               \
        const uint32_t pa = warp_poison(w, in->o[1].slot), pb = warp_poison(w, y->slot);                               \
        (void)b, (void)pb;                                                                                             \
        warp_set_pred(w, in->o[0].slot, mask, (value));                                                                \
        return warp_done(w, in->o[0].slot, mask, (poison));                                                            \
    }
PRED_FN(and_pred, a &b, alu_and_poison(a, pa, b, pb))
PRED_FN(or_pred, a | b, alu_or_poison(a, pa, b, pb))
PRED_FN(xor_pred, a ^ b, pa | pb)
PRED_FN(not_pred, ~a, pa)

/* 9.7.8.6. in->aux: the table in bits 0..7, which sources it depends on in bits 8..10. */
static inline uint32_t mux(uint32_t s, uint32_t one, uint32_t zero) { return (s & one) | (~s & zero); }
/* t[i]: bit i of the table in every bit; a is bit 2 of i, b bit 1, c bit 0 */
static inline uint32_t table3(const uint32_t t[8], uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t one = mux(b, mux(c, t[7], t[6]), mux(c, t[5], t[4]));
    const uint32_t zero = mux(b, mux(c, t[3], t[2]), mux(c, t[1], t[0]));
    return mux(a, one, zero);
}

/* Of lanes `poison` of lop3's result the bits that differ with what the bits that nothing wrote might be; returns the
 * lanes that have such. */
static uint32_t lop3_unwritten(const struct warp *w, const struct warp_opnd *src, const uint32_t t[8], uint32_t poison,
                               uint64_t unwritten[MACH_WARP]) {
    uint32_t lanes = 0;
    WARP_FOR_LANES(l, poison) {
        uint32_t u[3], v[3], all = UINT32_MAX, any = 0;
        for (unsigned i = 0; i < 3; i++) {
            u[i] = (uint32_t)warp_unwritten(w, src[i].slot, 32, l);
            v[i] = warp_src32(w, src[i].slot)[l] & ~u[i];
        }
        for (unsigned k = 0; k < 8; k++) {
            const uint32_t d =
                table3(t, v[0] | (k & 4 ? u[0] : 0), v[1] | (k & 2 ? u[1] : 0), v[2] | (k & 1 ? u[2] : 0));
            all &= d;
            any |= d;
        }
        unwritten[l] = any & ~all;
        lanes |= unwritten[l] ? 1u << l : 0;
    }
    return lanes;
}

static enum warp_status lop3(struct warp *w, const struct insn *in, uint32_t mask) {
    const bool paired = in->num_opnds > 5; /* d|p, a, b, c, immLut, q */
    const struct warp_opnd *src = &in->o[paired ? 2 : 1], *q = &in->o[6];
    const uint32_t *pa = warp_src32(w, src[0].slot), *pb = warp_src32(w, src[1].slot), *pc = warp_src32(w, src[2].slot);
    uint32_t d[MACH_WARP], t[8], poison = 0, nonzero = 0;
    uint64_t unwritten[MACH_WARP];
    for (unsigned i = 0; i < 8; i++)
        t[i] = 0 - (uint32_t)(in->aux >> i & 1);
    for (uint32_t l = 0; l < MACH_WARP; l++)
        d[l] = table3(t, pa[l], pb[l], pc[l]);
    for (unsigned i = 0; i < 3; i++)
        poison |= in->aux >> (8 + i) & 1 ? warp_poison(w, src[i].slot) & mask : 0;
    if (__builtin_expect(poison != 0, 0))
        poison = lop3_unwritten(w, src, t, poison, unwritten);
    if (paired && !alu_is_sink(&in->o[1])) {
        const uint32_t v = warp_pred(w, q), pv = warp_poison(w, q->slot);
        const bool is_or = ptx_has(in->src, PTX_MOD_or);
        for (uint32_t l = 0; l < MACH_WARP; l++)
            nonzero |= (uint32_t)(d[l] != 0) << l;
        warp_set_pred(w, in->o[1].slot, mask, is_or ? nonzero | v : nonzero & v);
        warp_set_poison(w, in->o[1].slot, mask,
                        is_or ? alu_or_poison(nonzero, poison, v, pv) : alu_and_poison(nonzero, poison, v, pv));
    }
    if (alu_is_sink(&in->o[0]))
        return WARP_NEXT;
    uint32_t *pd = warp_dst32(w, in->o[0].slot);
    ALU_SET(mask, pd, d[l]);
    if (__builtin_expect(poison != 0, 0))
        WARP_FOR_LANES(l, poison) { warp_set_unwritten(w, in->o[0].slot, 32, l, unwritten[l]); }
    return warp_done(w, in->o[0].slot, mask & ~poison, 0);
}

/* 9.7.8.7: [b, a] shifted; the amount is clamped to 32 or taken modulo 32 */
static inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n) {
    return (uint32_t)(((uint64_t)b << 32 | a) << n >> 32);
}
static inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n) {
    return (uint32_t)(((uint64_t)b << 32 | a) >> n);
}
static inline uint32_t at_most(uint32_t n, uint32_t most) { return n < most ? n : most; }
ALU_FN3(shf_l_clamp, u32, u32, u32, u32, funnel_left(a, b, at_most(c, 32)))
ALU_FN3(shf_l_wrap, u32, u32, u32, u32, funnel_left(a, b, c & 31))
ALU_FN3(shf_r_clamp, u32, u32, u32, u32, funnel_right(a, b, at_most(c, 32)))
ALU_FN3(shf_r_wrap, u32, u32, u32, u32, funnel_right(a, b, c & 31))

/* 9.7.8.8, 9.7.8.9: amounts above the width act as the width */
ALU_FN2(shl_b16, u16, u16, u32, b > 15 ? 0 : (uint32_t)a << b)
ALU_FN2(shl_b32, u32, u32, u32, b > 31 ? 0 : a << (b & 31))
ALU_FN2(shl_b64, u64, u64, u32, b > 63 ? 0 : a << (b & 63))
ALU_FN2(shr_u16, u16, u16, u32, b > 15 ? 0 : a >> b)
ALU_FN2(shr_u32, u32, u32, u32, b > 31 ? 0 : a >> (b & 31))
ALU_FN2(shr_u64, u64, u64, u32, b > 63 ? 0 : a >> (b & 63))
ALU_FN2(shr_s16, s16, s16, u32, a >> at_most(b, 15))
ALU_FN2(shr_s32, s32, s32, u32, a >> at_most(b, 31))
ALU_FN2(shr_s64, s64, s64, u32, a >> at_most(b, 63))

#define LOGIC(op)                                                                                                      \
    ALU_ROW(op, b16, 0, 0, "hhh", op##_b16), ALU_ROW(op, b32, 0, 0, "www", op##_b32),                                  \
        ALU_ROW(op, b64, 0, 0, "ddd", op##_b64), ALU_ROW(op, pred, 0, 0, "ppp", op##_pred)
#define UNARY(op)                                                                                                      \
    ALU_ROW(op, b16, 0, 0, "hh", op##_b16), ALU_ROW(op, b32, 0, 0, "ww", op##_b32),                                    \
        ALU_ROW(op, b64, 0, 0, "dd", op##_b64)
#define SHR(n, sig)                                                                                                    \
    ALU_ROW(shr, b##n, 0, 0, sig, shr_u##n), ALU_ROW(shr, u##n, 0, 0, sig, shr_u##n),                                  \
        ALU_ROW(shr, s##n, 0, 0, sig, shr_s##n)

static const struct alu_row rows[] = {
    LOGIC(and),
    LOGIC(or),
    LOGIC(xor),
    UNARY(not ),
    ALU_ROW(not, pred, 0, 0, "pp", not_pred),
    UNARY(cnot),
    ALU_ROW(shf, b32, ALU_M(l) | ALU_M(clamp), 0, "wwww", shf_l_clamp),
    ALU_ROW(shf, b32, ALU_M(l) | ALU_M(wrap), 0, "wwww", shf_l_wrap),
    ALU_ROW(shf, b32, ALU_M(r) | ALU_M(clamp), 0, "wwww", shf_r_clamp),
    ALU_ROW(shf, b32, ALU_M(r) | ALU_M(wrap), 0, "wwww", shf_r_wrap),
    ALU_ROW(shl, b16, 0, 0, "hhw", shl_b16),
    ALU_ROW(shl, b32, 0, 0, "www", shl_b32),
    ALU_ROW(shl, b64, 0, 0, "ddw", shl_b64),
    SHR(16, "hhw"),
    SHR(32, "www"),
    SHR(64, "ddw"),
};

static bool bind_lop3(struct isa_binder *b, struct insn *in) {
    struct alu_form form;
    if (!alu_parse(b, in->src, &form))
        return false;
    const bool paired = form.flags != 0;
    const unsigned dests = paired ? 2 : 1;
    if (form.cmp || form.space || form.num_types != 1 || form.type[0] != PTX_MOD_b32 ||
        (paired && form.flags != ALU_M(or) && form.flags != ALU_M(and)))
        return isa_refuse(b, "lop3 takes .b32 and at most one of .or and .and");
    if (in->num_opnds != (paired ? 7 : 5))
        return isa_refuse(b, "wrong number of operands");
    const struct warp_opnd *lut = &in->o[dests + 3];
    if (lut->imm_float || lut->more->imm > 255)
        return isa_refuse(b, "immLut is an integer constant from 0 to 255");
    const uint64_t t = lut->more->imm;
    in->aux = t | (uint64_t)((t >> 4 & 0x0f) != (t & 0x0f)) << 8 | (uint64_t)((t >> 2 & 0x33) != (t & 0x33)) << 9 |
              (uint64_t)((t >> 1 & 0x55) != (t & 0x55)) << 10;
    in->fn = lop3;
    return true;
}

bool isa_bind_logic(struct isa_binder *b, struct insn *in) {
    if (in->src->op == PTX_OP_lop3)
        return bind_lop3(b, in);
    if (!alu_bind(b, in, rows, sizeof rows / sizeof *rows))
        return false;
    ALU_LINKED(and_b32, and)
    ALU_LINKED(or_b32, or)
    ALU_LINKED(xor_b32, xor)
    ALU_LINKED(shl_b32, shl)
    ALU_LINKED(shr_u32, shr_u)
    ALU_LINKED(shr_s32, shr_s)
    return true;
}
