/* Comparison and selection (PTX ISA 9.7.6, 9.7.7): every operator, type and boolean form against C's comparisons. */
#include "alu_forms.h"

enum op { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM_, NAN__ };
enum { LESS = 1, SAME = 2, MORE = 4, UNORDERED = 8 };
/* The relations for which an operator is true (9.3.1). */
static const int truth[] = {
    [EQ] = SAME,
    [NE] = LESS | MORE,
    [LT] = LESS,
    [LE] = LESS | SAME,
    [GT] = MORE,
    [GE] = MORE | SAME,
    [EQU] = SAME | UNORDERED,
    [NEU] = LESS | MORE | UNORDERED,
    [LTU] = LESS | UNORDERED,
    [LEU] = LESS | SAME | UNORDERED,
    [GTU] = MORE | UNORDERED,
    [GEU] = MORE | SAME | UNORDERED,
    [NUM_] = LESS | SAME | MORE,
    [NAN__] = UNORDERED,
};
static int relation(double x, double y) {
    return isnan(x) || isnan(y) ? UNORDERED : x < y ? LESS : x > y ? MORE : SAME;
}

static double f32(uint64_t b, bool ftz) {
    uint32_t w = (uint32_t)b;
    if (ftz && !(w & 0x7f800000))
        w &= 0x80000000;
    float f;
    memcpy(&f, &w, 4);
    return f;
}
static double f64(uint64_t b) {
    double d;
    memcpy(&d, &b, 8);
    return d;
}
/* man mantissa bits of a 16-bit format */
static double half(uint64_t b, int man, int bias, bool ftz) {
    uint32_t c = b & 0xffff;
    int e = (int)(c & 0x7fff) >> man, m = (int)c & ((1 << man) - 1), top = 0x7fff >> man;
    double v = e == top ? (m ? NAN : INFINITY)
               : e      ? ldexp(1 + ldexp(m, -man), e - bias)
               : ftz    ? 0
                        : ldexp(m, 1 - bias - man);
    return c & 0x8000 ? -v : v;
}
#define ORDER(T)                                                                                                       \
    static int rel_##T(const struct alu_in *in) {                                                                      \
        T x = (T)in->a, y = (T)in->b;                                                                                  \
        return x < y ? LESS : x > y ? MORE : SAME;                                                                     \
    }
ORDER(uint16_t)
ORDER(int16_t)
ORDER(uint32_t)
ORDER(int32_t)
ORDER(uint64_t)
ORDER(int64_t)
static int rel_f32(const struct alu_in *in) { return relation(f32(in->a, false), f32(in->b, false)); }
static int rel_f32z(const struct alu_in *in) { return relation(f32(in->a, true), f32(in->b, true)); }
static int rel_f64(const struct alu_in *in) { return relation(f64(in->a), f64(in->b)); }
static int rel_f16(const struct alu_in *in) { return relation(half(in->a, 10, 15, false), half(in->b, 10, 15, false)); }
static int rel_f16z(const struct alu_in *in) { return relation(half(in->a, 10, 15, true), half(in->b, 10, 15, true)); }
static int rel_bf16(const struct alu_in *in) {
    return relation(half(in->a, 7, 127, false), half(in->b, 7, 127, false));
}
static int rel_f16h(const struct alu_in *in) {
    return relation(half(in->a >> 16, 10, 15, false), half(in->b >> 16, 10, 15, false));
}
static int rel_f16zh(const struct alu_in *in) {
    return relation(half(in->a >> 16, 10, 15, true), half(in->b >> 16, 10, 15, true));
}
static int rel_bf16h(const struct alu_in *in) {
    return relation(half(in->a >> 16, 7, 127, false), half(in->b >> 16, 7, 127, false));
}

#define C(in) ((in)->c & 1)
#define AND_(t, in) ((t)&C(in))
#define OR_(t, in) ((t) | C(in))
#define XOR_(t, in) ((t) ^ C(in))
#define ANDN(t, in) ((t) & !C(in))
#define PLAIN(t, in) (t)
#define T(R, O, in) ((uint64_t)((truth[O] & rel_##R(in)) != 0))
/* p alone; p|q with q of the complement; p|q of two halves */
#define P1(name, R, O, B)                                                                                              \
    static uint64_t name(const struct alu_in *in) { return B(T(R, O, in), in); }
#define PQ(name, R, O, B)                                                                                              \
    static uint64_t name(const struct alu_in *in) { return B(T(R, O, in), in) | B(!T(R, O, in), in) << 1; }
#define HQ(name, R, H, O, B)                                                                                           \
    static uint64_t name(const struct alu_in *in) { return B(T(R, O, in), in) | B(T(H, O, in), in) << 1; }
#define OUT(name, R, O, B, yes)                                                                                        \
    static uint64_t name(const struct alu_in *in) { return B(T(R, O, in), in) ? yes : 0; }
#define OUT2(name, R, H, O, B, yes)                                                                                    \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        return (B(T(R, O, in), in) ? (uint64_t)yes : 0) | (B(T(H, O, in), in) ? (uint64_t)yes << 16 : 0);              \
    }

/* clang-format off */
#define INT_OPS(F, t, R, s)                                                        \
    F(t, R, eq, EQ, s) F(t, R, ne, NE, s) F(t, R, lt, LT, s)                       \
    F(t, R, le, LE, s) F(t, R, gt, GT, s) F(t, R, ge, GE, s)
#define LOW_OPS(F, t, R, s) F(t, R, lo, LT, s) F(t, R, ls, LE, s) F(t, R, hi, GT, s) F(t, R, hs, GE, s)
#define BIT_OPS(F, t, R, s) F(t, R, eq, EQ, s) F(t, R, ne, NE, s)
#define FLT_OPS(F, t, R, s)                                                        \
    INT_OPS(F, t, R, s)                                                            \
    F(t, R, equ, EQU, s) F(t, R, neu, NEU, s) F(t, R, ltu, LTU, s)                 \
    F(t, R, leu, LEU, s) F(t, R, gtu, GTU, s) F(t, R, geu, GEU, s)                 \
    F(t, R, num, NUM_, s) F(t, R, nan, NAN__, s)
#define EVERY(F)                                                                   \
    INT_OPS(F, u16, uint16_t, h) LOW_OPS(F, u16, uint16_t, h)                      \
    INT_OPS(F, s16, int16_t, h) BIT_OPS(F, b16, uint16_t, h)                       \
    INT_OPS(F, u32, uint32_t, w) LOW_OPS(F, u32, uint32_t, w)                      \
    INT_OPS(F, s32, int32_t, w) BIT_OPS(F, b32, uint32_t, w)                       \
    INT_OPS(F, u64, uint64_t, l) LOW_OPS(F, u64, uint64_t, l)                      \
    INT_OPS(F, s64, int64_t, l) BIT_OPS(F, b64, uint64_t, l)                       \
    FLT_OPS(F, f32, f32, w) FLT_OPS(F, f64, f64, l)
/* clang-format on */

#define DEF_P(t, R, o, O, s) P1(p_##o##_##t, R, O, PLAIN)
#define ROW_P(t, R, o, O, s) {"setp." #o "." #t " %dp, %a" #s ", %b" #s ";", 'p', p_##o##_##t},
EVERY(DEF_P)
FLT_OPS(DEF_P, f16, f16, h)
FLT_OPS(DEF_P, bf16, bf16, h)
#define DEF_Z(t, R, o, O, s) P1(z_##o##_##t, R##z, O, PLAIN)
#define ROW_Z(t, R, o, O, s) {"setp." #o ".ftz." #t " %dp, %a" #s ", %b" #s ";", 'p', z_##o##_##t},
FLT_OPS(DEF_Z, f32, f32, w)
FLT_OPS(DEF_Z, f16, f16, h)
#define DEF_S(t, R, o, O, s)                                                                                           \
    OUT(s_##o##_##t, R, O, PLAIN, UINT64_C(0xffffffff)) OUT(f_##o##_##t, R, O, PLAIN, 0x3f800000)
#define ROW_S(t, R, o, O, s)                                                                                           \
    {"set." #o ".u32." #t " %dw, %a" #s ", %b" #s ";", 'w', s_##o##_##t},                                              \
        {"set." #o ".f32." #t " %dw, %a" #s ", %b" #s ";", 'w', f_##o##_##t},
EVERY(DEF_S)

PQ(pq_lt_s32, int32_t, LT, PLAIN)
PQ(pq_geu_f32, f32, GEU, PLAIN)
PQ(pq_and_s32, int32_t, LT, AND_)
PQ(pq_or_u64, uint64_t, LE, OR_)
PQ(pq_xor_f64, f64, EQ, XOR_)
PQ(pq_andn_u16, uint16_t, GT, ANDN)
PQ(pq_andz_f32, f32z, EQ, AND_)
P1(p_and_s32, int32_t, LT, AND_)
P1(p_or_f32, f32, LTU, OR_)
P1(p_xor_b64, uint64_t, NE, XOR_)
P1(p_andn_s16, int16_t, GE, ANDN)
P1(p_and_f16, f16, LT, AND_)
P1(p_or_bf16, bf16, NEU, OR_)
HQ(hq_lt_f16, f16, f16h, LT, PLAIN)
HQ(hq_num_f16, f16, f16h, NUM_, PLAIN)
HQ(hq_eqz_f16, f16z, f16zh, EQ, PLAIN)
HQ(hq_and_f16, f16, f16h, GE, AND_)
HQ(hq_neu_bf16, bf16, bf16h, NEU, PLAIN)
HQ(hq_xor_bf16, bf16, bf16h, LE, XOR_)
OUT(s_and_s32, int32_t, LT, AND_, UINT64_C(0xffffffff))
OUT(s_or_f32, f32z, LT, OR_, 0x3f800000)
OUT(s_xor_u64, uint64_t, GE, XOR_, UINT64_C(0xffffffff))
OUT(h_lt_f16, f16, LT, PLAIN, 0x3c00)
OUT(h_eq_s64, int64_t, EQ, PLAIN, 0x3c00)
OUT(h_f32, f32, GT, PLAIN, 0x3c00)
OUT(b_ltu_f16, f16, LTU, OR_, 0x3f80)
OUT(b_ne_u32, uint32_t, NE, PLAIN, 0x3f80)
OUT(u16_f16, f16z, GE, PLAIN, 0xffff)
OUT(s16_bf16, bf16, NAN__, PLAIN, 0xffff)
OUT(u32_f16, f16, LE, AND_, UINT64_C(0xffffffff))
OUT(s32_bf16, bf16, NUM_, XOR_, UINT64_C(0xffffffff))
OUT2(x2_f16, f16, f16h, EQ, PLAIN, 0x3c00)
OUT2(x2_bf16, bf16, bf16h, EQU, PLAIN, 0x3f80)
OUT2(x2_u32_f16, f16, f16h, GT, PLAIN, 0xffff)
OUT2(x2_s32_bf16, bf16, bf16h, GEU, OR_, 0xffff)

#define REF(name, expr)                                                                                                \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        const uint64_t a = in->a, b = in->b, c = in->c;                                                                \
        return (expr);                                                                                                 \
    }
REF(sel16, (c & 1 ? a : b) & 0xffff)
REF(sel32, (c & 1 ? a : b) & 0xffffffff)
REF(sel64, c & 1 ? a : b)
REF(seln32, (c & 1 ? b : a) & 0xffffffff)
REF(slct16, ((int32_t)c >= 0 ? a : b) & 0xffff)
REF(slct32, ((int32_t)c >= 0 ? a : b) & 0xffffffff)
REF(slct64, (int32_t)c >= 0 ? a : b)
REF(slctf16, (f32(c, false) >= 0 ? a : b) & 0xffff)
REF(slctf32, (f32(c, false) >= 0 ? a : b) & 0xffffffff)
REF(slctf64, f32(c, false) >= 0 ? a : b)
REF(slctz32, (f32(c, true) >= 0 ? a : b) & 0xffffffff)

#define SELP(t, s, n)                                                                                                  \
    { "selp." #t " %d" #s ", %a" #s ", %b" #s ", %cp;", #s[0], sel##n }
#define SLCT(t, s, n)                                                                                                  \
    {"slct." #t ".s32 %d" #s ", %a" #s ", %b" #s ", %cw;", #s[0], slct##n}, {                                          \
        "slct." #t ".f32 %d" #s ", %a" #s ", %b" #s ", %cw;", #s[0], slctf##n                                          \
    }

static const struct alu_case cases[] = {
    EVERY(ROW_P) FLT_OPS(ROW_P, f16, f16, h) FLT_OPS(ROW_P, bf16, bf16, h) FLT_OPS(ROW_Z, f32, f32, w)
        FLT_OPS(ROW_Z, f16, f16, h) EVERY(ROW_S)
    /* p|q and BoolOp */
    {"setp.lt.s32 %dp|%qp, %aw, %bw;", 'P', pq_lt_s32},
    {"setp.geu.f32 %dp|%qp, %aw, %bw;", 'P', pq_geu_f32},
    {"setp.lt.and.s32 %dp|%qp, %aw, %bw, %cp;", 'P', pq_and_s32},
    {"setp.le.or.u64 %dp|%qp, %al, %bl, %cp;", 'P', pq_or_u64},
    {"setp.eq.xor.f64 %dp|%qp, %al, %bl, %cp;", 'P', pq_xor_f64},
    {"setp.hi.and.u16 %dp|%qp, %ah, %bh, !%cp;", 'P', pq_andn_u16},
    {"setp.eq.and.ftz.f32 %dp|%qp, %aw, %bw, %cp;", 'P', pq_andz_f32},
    {"setp.lt.and.s32 %dp, %aw, %bw, %cp;", 'p', p_and_s32},
    {"setp.lt.and.s32 %dp|_, %aw, %bw, %cp;", 'p', p_and_s32},
    {"setp.ltu.or.f32 %dp, %aw, %bw, %cp;", 'p', p_or_f32},
    {"setp.ne.xor.b64 %dp, %al, %bl, %cp;", 'p', p_xor_b64},
    {"setp.ge.and.s16 %dp, %ah, %bh, !%cp;", 'p', p_andn_s16},
    {"setp.lt.and.f16 %dp, %ah, %bh, %cp;", 'p', p_and_f16},
    {"setp.neu.or.bf16 %dp, %ah, %bh, %cp;", 'p', p_or_bf16},
    {"setp.lt.f16x2 %dp|%qp, %aw, %bw;", 'P', hq_lt_f16},
    {"setp.num.f16x2 %dp|%qp, %aw, %bw;", 'P', hq_num_f16},
    {"setp.eq.ftz.f16x2 %dp|%qp, %aw, %bw;", 'P', hq_eqz_f16},
    {"setp.ge.and.f16x2 %dp|%qp, %aw, %bw, %cp;", 'P', hq_and_f16},
    {"setp.neu.bf16x2 %dp|%qp, %aw, %bw;", 'P', hq_neu_bf16},
    {"setp.le.xor.bf16x2 %dp|%qp, %aw, %bw, %cp;", 'P', hq_xor_bf16},
    {"set.lt.and.s32.s32 %dw, %aw, %bw, %cp;", 'w', s_and_s32},
    {"set.lt.or.ftz.f32.f32 %dw, %aw, %bw, %cp;", 'w', s_or_f32},
    {"set.hs.xor.u32.u64 %dw, %al, %bl, %cp;", 'w', s_xor_u64},
    {"set.lt.f16.f16 %dh, %ah, %bh;", 'h', h_lt_f16},
    {"set.eq.f16.s64 %dh, %al, %bl;", 'h', h_eq_s64},
    {"set.gt.f16.f32 %dh, %aw, %bw;", 'h', h_f32},
    {"set.ltu.or.bf16.f16 %dh, %ah, %bh, %cp;", 'h', b_ltu_f16},
    {"set.ne.bf16.u32 %dh, %aw, %bw;", 'h', b_ne_u32},
    {"set.ge.ftz.u16.f16 %dh, %ah, %bh;", 'h', u16_f16},
    {"set.nan.s16.bf16 %dh, %ah, %bh;", 'h', s16_bf16},
    {"set.le.and.u32.f16 %dw, %ah, %bh, %cp;", 'w', u32_f16},
    {"set.num.xor.s32.bf16 %dw, %ah, %bh, %cp;", 'w', s32_bf16},
    {"set.eq.f16x2.f16x2 %dw, %aw, %bw;", 'w', x2_f16},
    {"set.equ.bf16x2.bf16x2 %dw, %aw, %bw;", 'w', x2_bf16},
    {"set.gt.u32.f16x2 %dw, %aw, %bw;", 'w', x2_u32_f16},
    {"set.geu.or.s32.bf16x2 %dw, %aw, %bw, %cp;", 'w', x2_s32_bf16},
    SELP(b16, h, 16),
    SELP(u16, h, 16),
    SELP(s16, h, 16),
    SELP(b32, w, 32),
    SELP(u32, w, 32),
    SELP(s32, w, 32),
    SELP(f32, w, 32),
    SELP(b64, l, 64),
    SELP(u64, l, 64),
    SELP(s64, l, 64),
    SELP(f64, l, 64),
    {"selp.b32 %dw, %aw, %bw, !%cp;", 'w', seln32},
    SLCT(b16, h, 16),
    SLCT(u16, h, 16),
    SLCT(s16, h, 16),
    SLCT(b32, w, 32),
    SLCT(u32, w, 32),
    SLCT(s32, w, 32),
    SLCT(f32, w, 32),
    SLCT(b64, l, 64),
    SLCT(u64, l, 64),
    SLCT(s64, l, 64),
    SLCT(f64, l, 64),
    {"slct.ftz.b32.f32 %dw, %aw, %bw, %cw;", 'w', slctz32},
};

static const struct alu_refusal refusals[] = {
    {"setp.lt.f32 %dp, %aw, 0;", "kind of the instruction's type"},
    {"setp.lt.b32 %dp, %aw, %bw;", "not defined for this type"},
    {"setp.lo.s32 %dp, %aw, %bw;", "not defined for this type"},
    {"setp.ltu.s32 %dp, %aw, %bw;", "not defined for this type"},
    {"setp.lo.f32 %dp, %aw, %bw;", "not defined for this type"},
    {"setp.lt.ftz.f64 %dp, %al, %bl;", ".ftz is for"},
    {"setp.lt.ftz.bf16 %dp, %ah, %bh;", ".ftz is for"},
    {"setp.lt.f16 %dp|%qp, %ah, %bh;", "p|q for the x2 types"},
    {"setp.lt.f16x2 %dp, %aw, %bw;", "p|q for the x2 types"},
    {"setp.lt.and.s32 %dp, %aw, %bw;", "number of operands"},
    {"setp.lt.s32 %dw, %aw, %bw;", "a predicate register or _"},
    {"setp.lt.s32 %dp, %al, %bl;", "operand 2 is a source"},
    {"set.lt.f16.bf16 %dh, %ah, %bh;", "does not go from"},
    {"set.lt.u16.s32 %dh, %aw, %bw;", "does not go from"},
    {"selp.b32 %dw, %aw, %bw, %cw;", "source operand"},
    {"slct.b32.u32 %dw, %aw, %bw, %cw;", "not one of the instruction's forms"},
};

int main(void) {
    alu_check(cases, sizeof cases / sizeof *cases);
    alu_check_refused(refusals, sizeof refusals / sizeof *refusals);
    return check_report();
}
