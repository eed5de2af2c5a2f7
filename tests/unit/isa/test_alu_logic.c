/* Logic and shift instructions (PTX ISA 9.7.8): bit by bit, and by multiplication and division for shifts. */
#include "alu_forms.h"

#define REF(name, expr)                                                                                                \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        const uint64_t a = in->a, b = in->b, c = in->c, e = in->e;                                                     \
        (void)a, (void)b, (void)c, (void)e;                                                                            \
        return (expr);                                                                                                 \
    }
static uint64_t low(uint64_t v, unsigned n) { return n == 64 ? v : v & ((UINT64_C(1) << n) - 1); }
/* Each result bit from a truth table of the two source bits: bit 2x+y for bits x, y. */
static uint64_t bitwise(uint64_t a, uint64_t b, unsigned table, unsigned n) {
    uint64_t d = 0;
    for (unsigned i = 0; i < n; i++)
        d |= (uint64_t)(table >> (2 * (a >> i & 1) + (b >> i & 1)) & 1) << i;
    return d;
}
#define BITWISE(n)                                                                                                     \
    REF(and_##n, bitwise(a, b, 8, n))                                                                                  \
    REF(or_##n, bitwise(a, b, 14, n))                                                                                  \
    REF(xor_##n, bitwise(a, b, 6, n))                                                                                  \
    REF(not_##n, bitwise(a, a, 1, n))
#define SHIFTING(n)                                                                                                    \
    REF(cnot_##n, low(a, n) == 0)                                                                                      \
    REF(shl_##n, low(b, 32) >= n ? 0 : low(a << low(b, 32), n))                                                        \
    REF(shr_u##n, low(b, 32) >= n ? 0 : low(a, n) >> low(b, 32))                                                       \
    REF(shr_s##n, shift_signed(a, b, n))                                                                               \
    REF(shl_n##n, (b & 127) >= n ? 0 : low(a << (b & 127), n))                                                         \
    REF(shr_nu##n, (b & 127) >= n ? 0 : low(a, n) >> (b & 127))                                                        \
    REF(shr_ns##n, shift_signed(a, b & 127, n))
static uint64_t shift_signed(uint64_t a, uint64_t b, unsigned n) {
    uint64_t d = 0, by = low(b, 32);
    for (unsigned i = 0; i < n; i++)
        d |= (a >> (i + by < n ? i + by : n - 1) & 1) << i;
    return d;
}
BITWISE(1)
BITWISE(16)
BITWISE(32)
BITWISE(64)
SHIFTING(16)
SHIFTING(32)
SHIFTING(64)
/* cnot of a value that is zero often enough */
REF(cnot_few, (a & 1) == 0)
REF(andn_p, a & ~b & 1)

/* 9.7.8.6: position 4a + 2b + c of the table */
static uint64_t lop3(const struct alu_in *in, unsigned lut) {
    uint64_t d = 0;
    for (unsigned i = 0; i < 32; i++)
        d |= (uint64_t)(lut >> (4 * (in->a >> i & 1) + 2 * (in->b >> i & 1) + (in->c >> i & 1)) & 1) << i;
    return d;
}
/* clang-format off */
#define LUTS(F)                                                                    \
    F(0x00) F(0x01) F(0x02) F(0x04) F(0x08) F(0x10) F(0x20) F(0x40) F(0x80)        \
    F(0xff) F(0xfe) F(0x96) F(0xe8) F(0xca) F(0xd8) F(0xf8) F(0x1a) F(0x3c)        \
    F(0xc0) F(0x30) F(0x6a) F(0xac) F(0xf0) F(0xcc) F(0xaa) F(0x5a)
/* clang-format on */
#define LUT_REF(n)                                                                                                     \
    static uint64_t lop3_##n(const struct alu_in *in) { return lop3(in, n); }                                          \
    static uint64_t lop3_or_##n(const struct alu_in *in) { return (lop3(in, n) != 0) | (in->e & 1); }                  \
    static uint64_t lop3_and_##n(const struct alu_in *in) { return (lop3(in, n) != 0) & (in->e & 1); }
#define LUT_ROW(n)                                                                                                     \
    {"lop3.b32 %dw, %aw, %bw, %cw, " #n ";", 'w', lop3_##n},                                                           \
        {"lop3.or.b32 %dw|%dp, %aw, %bw, %cw, " #n ", %ep;", 'p', lop3_or_##n},                                        \
        {"lop3.and.b32 _|%dp, %aw, %bw, %cw, " #n ", %ep;", 'p', lop3_and_##n},                                        \
        {"lop3.and.b32 %dw|%qp, %aw, %bw, %cw, " #n ", %ep;", 'w', lop3_##n},
LUTS(LUT_REF)

/* 9.7.8.7 on the 64-bit value b:a, by halving and doubling */
static uint64_t funnel(const struct alu_in *in, bool left, bool clamp, uint32_t c) {
    uint64_t v = in->b << 32 | low(in->a, 32);
    for (uint32_t n = clamp ? (c > 32 ? 32 : c) : c % 32; n; n--)
        v = left ? v * 2 : v / 2;
    return left ? v >> 32 : low(v, 32);
}
REF(shf_lc, funnel(in, true, true, (uint32_t)c))
REF(shf_lw, funnel(in, true, false, (uint32_t)c))
REF(shf_rc, funnel(in, false, true, (uint32_t)c))
REF(shf_rw, funnel(in, false, false, (uint32_t)c))
REF(shf_lcn, funnel(in, true, true, (uint32_t)c & 63))
REF(shf_lwn, funnel(in, true, false, (uint32_t)c & 63))
REF(shf_rcn, funnel(in, false, true, (uint32_t)c & 63))
REF(shf_rwn, funnel(in, false, false, (uint32_t)c & 63))
REF(rotl7, funnel(&(struct alu_in){a, a, 0, 0}, true, true, 7))
REF(imm16, low(a << 3, 16))
REF(imm64, (uint64_t)((int64_t)a >> 33))
REF(and_imm64, a &UINT64_C(0xff00ff0000000000))

#define TWO(op)                                                                                                        \
    {#op ".pred %dp, %ap, %bp;", 'p', op##_1}, {#op ".b16 %dh, %ah, %bh;", 'h', op##_16},                              \
        {#op ".b32 %dw, %aw, %bw;", 'w', op##_32}, {                                                                   \
#op ".b64 %dl, %al, %bl;", 'l', op##_64                                                                        \
    }
#define NEAR "and.b32 %bw, %bw, 127; "
#define SHIFTS(n, s)                                                                                                   \
    {"shl.b" #n " %d" #s ", %a" #s ", %bw;", #s[0], shl_##n},                                                          \
        {"shr.b" #n " %d" #s ", %a" #s ", %bw;", #s[0], shr_u##n},                                                     \
        {"shr.u" #n " %d" #s ", %a" #s ", %bw;", #s[0], shr_u##n},                                                     \
        {"shr.s" #n " %d" #s ", %a" #s ", %bw;", #s[0], shr_s##n},                                                     \
        {NEAR "shl.b" #n " %d" #s ", %a" #s ", %bw;", #s[0], shl_n##n},                                                \
        {NEAR "shr.u" #n " %d" #s ", %a" #s ", %bw;", #s[0], shr_nu##n}, {                                             \
        NEAR "shr.s" #n " %d" #s ", %a" #s ", %bw;", #s[0], shr_ns##n                                                  \
    }
#define NEARC "and.b32 %cw, %cw, 63; "

static const struct alu_case cases[] = {
    LUTS(LUT_ROW) TWO(and),
    TWO(or),
    TWO(xor),
    {"not.pred %dp, %ap;", 'p', not_1},
    {"not.b16 %dh, %ah;", 'h', not_16},
    {"not.b32 %dw, %aw;", 'w', not_32},
    {"not.b64 %dl, %al;", 'l', not_64},
    {"and.pred %dp, %ap, !%bp;", 'p', andn_p},
    {"cnot.b16 %dh, %ah;", 'h', cnot_16},
    {"cnot.b32 %dw, %aw;", 'w', cnot_32},
    {"cnot.b64 %dl, %al;", 'l', cnot_64},
    {"and.b16 %ah, %ah, 1; cnot.b16 %dh, %ah;", 'h', cnot_few},
    {"and.b32 %aw, %aw, 1; cnot.b32 %dw, %aw;", 'w', cnot_few},
    {"and.b64 %al, %al, 1; cnot.b64 %dl, %al;", 'l', cnot_few},
    {"shf.l.clamp.b32 %dw, %aw, %bw, %cw;", 'w', shf_lc},
    {"shf.l.wrap.b32 %dw, %aw, %bw, %cw;", 'w', shf_lw},
    {"shf.r.clamp.b32 %dw, %aw, %bw, %cw;", 'w', shf_rc},
    {"shf.r.wrap.b32 %dw, %aw, %bw, %cw;", 'w', shf_rw},
    {NEARC "shf.l.clamp.b32 %dw, %aw, %bw, %cw;", 'w', shf_lcn},
    {NEARC "shf.l.wrap.b32 %dw, %aw, %bw, %cw;", 'w', shf_lwn},
    {NEARC "shf.r.clamp.b32 %dw, %aw, %bw, %cw;", 'w', shf_rcn},
    {NEARC "shf.r.wrap.b32 %dw, %aw, %bw, %cw;", 'w', shf_rwn},
    SHIFTS(16, h),
    SHIFTS(32, w),
    SHIFTS(64, l),
    /* immediates */
    {"shf.l.wrap.b32 %dw, %aw, %aw, 7;", 'w', rotl7},
    {"shl.b16 %dh, %ah, 3;", 'h', imm16},
    {"shr.s64 %dl, %al, 33;", 'l', imm64},
    {"and.b64 %dl, %al, 0xff00ff0000000000;", 'l', and_imm64},
};

static const struct alu_refusal refusals[] = {
    {"and.u32 %dw, %aw, %bw;", "not one of the instruction's forms"},
    {"and.b64 %dl, %aw, %bl;", "source operand"},
    {"shl.b64 %dl, %al, %bl;", "source operand"},
    {"shl.s32 %dw, %aw, %bw;", "not one of the instruction's forms"},
    {"shf.l.b32 %dw, %aw, %bw, %cw;", "not one of the instruction's forms"},
    {"lop3.b32 %dw, %aw, %bw, %cw, 256;", "0 to 255"},
    {"lop3.b32 %dw, %aw, %bw, %cw, %ew;", "operand 5 must be a constant"},
    {"lop3.xor.b32 %dw|%dp, %aw, %bw, %cw, 1, %ep;", "at most one of .or and .and"},
    {"lop3.or.b32 %dw, %aw, %bw, %cw, 1, %ep;", "number of operands"},
    {"not.pred %dp, %aw;", "source operand"},
};

int main(void) {
    alu_check(cases, sizeof cases / sizeof *cases);
    alu_check_refused(refusals, sizeof refusals / sizeof *refusals);
    return check_report();
}
