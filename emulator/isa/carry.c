/* isa/carry.c - extended-precision integer arithmetic (PTX ISA 9.7.2): add.cc, addc, sub.cc, subc, mad.cc, madc.
 *
 * The condition code register holds one flag per thread, CC.CF: the carry out of an addition, or the borrow out of a
 * subtraction. w->cc has it as a lane mask and w->cc_known says in which lanes it was ever written.
 */
#include "isa/alu.h"

__extension__ typedef unsigned __int128 alu_u128;
__extension__ typedef __int128 alu_s128;

enum { CARRY_IN = 1, CARRY_OUT = 2 };

static uint32_t high32(uint32_t a, uint32_t b, bool is_signed) {
    return is_signed ? (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32) : (uint32_t)((uint64_t)a * b >> 32);
}
static uint64_t high64(uint64_t a, uint64_t b, bool is_signed) {
    return is_signed ? (uint64_t)((alu_s128)(int64_t)a * (int64_t)b >> 64) : (uint64_t)((alu_u128)a * b >> 64);
}

static enum warp_status finish(struct warp *w, const struct insn *in, uint32_t mask, uint32_t carry, unsigned sources) {
    uint32_t p = in->aux & CARRY_IN ? ~w->cc_known : 0;
    for (unsigned i = 1; i <= sources; i++)
        p |= warp_poison(w, in->o[i].slot);
    warp_set_poison(w, in->o[0].slot, mask, p);
    if (in->aux & CARRY_OUT) {
        w->cc = (w->cc & ~mask) | (carry & mask);
        w->cc_known = (w->cc_known & ~mask) | (~p & mask);
    }
    return WARP_NEXT;
}

/* `sum` is the exact result one bit wider than the operands, as a two's complement number: its bit n is the carry out
 * of an addition and the borrow out of a subtraction. */
#define CARRY_FN(name, W, WIDE, BITS, n, sum)                                                                          \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        const W *pa = warp_src##BITS(w, in->o[1].slot), *pb = warp_src##BITS(w, in->o[2].slot);                        \
        const W *pc = (n) == 3 ? warp_src##BITS(w, in->o[3].slot) : pa;                                                \
        W *pd = warp_dst##BITS(w, in->o[0].slot);                                                                      \
        const uint32_t cc = in->aux & CARRY_IN ? w->cc : 0;                                                            \
        uint32_t carry = 0;                                                                                            \
        WARP_FOR_LANES(l, mask) {                                                                                      \
            const WIDE a = pa[l], b = pb[l], c = pc[l], cf = cc >> l & 1;                                              \
            (void)c;                                                                                                   \
            const WIDE s = (sum);                                                                                      \
            pd[l] = (W)s;                                                                                              \
            carry |= (uint32_t)(s >> BITS & 1) << l;                                                                   \
        }                                                                                                              \
        return finish(w, in, mask, carry, n);                                                                          \
    }

CARRY_FN(add_32, uint32_t, uint64_t, 32, 2, a + b + cf)
CARRY_FN(add_64, uint64_t, alu_u128, 64, 2, a + b + cf)
CARRY_FN(sub_32, uint32_t, uint64_t, 32, 2, a - b - cf)
CARRY_FN(sub_64, uint64_t, alu_u128, 64, 2, a - b - cf)
CARRY_FN(mad_lo_32, uint32_t, uint64_t, 32, 3, (uint64_t)(uint32_t)(a *b) + c + cf)
CARRY_FN(mad_lo_64, uint64_t, alu_u128, 64, 3, (alu_u128)(uint64_t)(a *b) + c + cf)
CARRY_FN(mad_hi_u32, uint32_t, uint64_t, 32, 3, (uint64_t)high32((uint32_t)a, (uint32_t)b, false) + c + cf)
CARRY_FN(mad_hi_s32, uint32_t, uint64_t, 32, 3, (uint64_t)high32((uint32_t)a, (uint32_t)b, true) + c + cf)
CARRY_FN(mad_hi_u64, uint64_t, alu_u128, 64, 3, (alu_u128)high64((uint64_t)a, (uint64_t)b, false) + c + cf)
CARRY_FN(mad_hi_s64, uint64_t, alu_u128, 64, 3, (alu_u128)high64((uint64_t)a, (uint64_t)b, true) + c + cf)

#define CC ALU_M(cc)
#define LO ALU_M(lo)
#define HI ALU_M(hi)
#define SUM(op, need, may, f)                                                                                          \
    ALU_ROW(op, u32, need, may, "www", f##_32), ALU_ROW(op, s32, need, may, "www", f##_32),                            \
        ALU_ROW(op, u64, need, may, "ddd", f##_64), ALU_ROW(op, s64, need, may, "ddd", f##_64)
#define PRODUCT(op, need, may)                                                                                         \
    ALU_ROW(op, u32, need | LO, may, "wwww", mad_lo_32), ALU_ROW(op, s32, need | LO, may, "wwww", mad_lo_32),          \
        ALU_ROW(op, u64, need | LO, may, "dddd", mad_lo_64), ALU_ROW(op, s64, need | LO, may, "dddd", mad_lo_64),      \
        ALU_ROW(op, u32, need | HI, may, "wwww", mad_hi_u32), ALU_ROW(op, s32, need | HI, may, "wwww", mad_hi_s32),    \
        ALU_ROW(op, u64, need | HI, may, "dddd", mad_hi_u64), ALU_ROW(op, s64, need | HI, may, "dddd", mad_hi_s64)

static const struct alu_row rows[] = {
    SUM(add, CC, 0, add),  SUM(addc, 0, CC, add), SUM(sub, CC, 0, sub),
    SUM(subc, 0, CC, sub), PRODUCT(mad, CC, 0),   PRODUCT(madc, 0, CC),
};

bool isa_bind_carry(struct isa_binder *b, struct insn *in) {
    if (!alu_bind(b, in, rows, sizeof rows / sizeof *rows))
        return false;
    enum ptx_op op = in->src->op;
    in->aux = (op == PTX_OP_addc || op == PTX_OP_subc || op == PTX_OP_madc ? CARRY_IN : 0) |
              (ptx_has(in->src, PTX_MOD_cc) ? CARRY_OUT : 0);
    return true;
}
