/* f32, f64 and f32x2 arithmetic (PTX ISA 9.7.3): the host's own IEEE arithmetic under each rounding mode is the
 * reference. The approximations' accuracy is measured by num/'s tests; here only that each reaches its function. */
#include "alu_forms.h"
#include "num/num.h"

#include <fenv.h>

static float f32(uint64_t b) {
    float f;
    uint32_t w = (uint32_t)b;
    memcpy(&f, &w, 4);
    return f;
}
static uint32_t bits32(float f) {
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}
static double f64(uint64_t b) {
    double d;
    memcpy(&d, &b, 8);
    return d;
}
static uint64_t bits64(double d) {
    uint64_t b;
    memcpy(&b, &d, 8);
    return b;
}

enum { FTZ = 1, SAT = 2 };
static uint32_t flush(uint32_t b, int mods) { return mods & FTZ && !(b & 0x7f800000) ? b & 0x80000000 : b; }
static uint32_t finish(float v, int mods) {
    if (mods & SAT)
        return v != v || v <= 0 ? 0 : v > 1 ? 0x3f800000 : flush(bits32(v), mods);
    return v != v ? 0x7fffffff : flush(bits32(v), mods);
}
#define HOST2(name, T, result)                                                                                         \
    static T name(T a, T b, T c, int mode) {                                                                           \
        volatile T x = a, y = b, z = c, r;                                                                             \
        (void)y, (void)z;                                                                                              \
        fesetround(mode);                                                                                              \
        r = (result);                                                                                                  \
        fesetround(FE_TONEAREST);                                                                                      \
        return r;                                                                                                      \
    }
HOST2(add32, float, x + y)
HOST2(sub32, float, x - y)
HOST2(mul32, float, x *y)
HOST2(div32, float, x / y)
HOST2(fma32, float, fmaf(x, y, z))
HOST2(rcp32, float, 1 / x)
HOST2(sqrt32, float, sqrtf(x))
HOST2(add64, double, x + y)
HOST2(sub64, double, x - y)
HOST2(mul64, double, x *y)
HOST2(div64, double, x / y)
HOST2(fma64, double, fma(x, y, z))
HOST2(rcp64, double, 1 / x)
HOST2(sqrt64, double, sqrt(x))

#define REF(name, expr)                                                                                                \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        const uint64_t a = in->a, b = in->b, c = in->c;                                                                \
        (void)a, (void)b, (void)c;                                                                                     \
        return (expr);                                                                                                 \
    }
#define LANE(op, mode, mods, s)                                                                                        \
    (uint64_t) finish(op(f32(flush((uint32_t)(a >> s), mods)), f32(flush((uint32_t)(b >> s), mods)),                   \
                         f32(flush((uint32_t)(c >> s), mods)), mode),                                                  \
                      mods)
#define ONE(op, m, mode, mods, suffix) REF(op##_##m##suffix, LANE(op, mode, mods, 0))
#define PAIR(op, m, mode, mods, suffix)                                                                                \
    REF(op##_##m##suffix##_x2, LANE(op, mode, mods, 0) | LANE(op, mode, mods, 32) << 32)
#define MODES(F, op, mods, suffix)                                                                                     \
    F(op, rn, FE_TONEAREST, mods, suffix)                                                                              \
    F(op, rz, FE_TOWARDZERO, mods, suffix)                                                                             \
    F(op, rm, FE_DOWNWARD, mods, suffix)                                                                               \
    F(op, rp, FE_UPWARD, mods, suffix)
#define ALL32(op)                                                                                                      \
    MODES(ONE, op, 0, ) MODES(ONE, op, FTZ, _ftz) MODES(ONE, op, SAT, _sat) MODES(ONE, op, FTZ | SAT, _ftzsat)
#define ALL32X2(op) MODES(PAIR, op, 0, ) MODES(PAIR, op, FTZ, _ftz)
#define WIDE(op, m, mode, mods, suffix) REF(op##_##m, bits64(op(f64(a), f64(b), f64(c), mode)))
ALL32(add32)
ALL32(sub32)
ALL32(mul32)
ALL32(fma32)
ALL32X2(add32)
ALL32X2(sub32)
ALL32X2(mul32)
ALL32X2(fma32)
MODES(ONE, div32, 0, )
MODES(ONE, div32, FTZ, _ftz)
MODES(ONE, rcp32, 0, )
MODES(ONE, rcp32, FTZ, _ftz)
MODES(ONE, sqrt32, 0, )
MODES(ONE, sqrt32, FTZ, _ftz)
MODES(WIDE, add64, 0, )
MODES(WIDE, sub64, 0, )
MODES(WIDE, mul64, 0, )
MODES(WIDE, fma64, 0, )
MODES(WIDE, div64, 0, )
MODES(WIDE, rcp64, 0, )
MODES(WIDE, sqrt64, 0, )

/* 9.7.3.11, 9.7.3.12: the sections' pseudo-code */
enum { NAN_MOD = 4, ABS = 8, XOR = 16, MAX = 32 };
static uint32_t two(uint32_t x, uint32_t y, int mods) {
    bool nx = isnan(f32(x)), ny = isnan(f32(y));
    if ((nx && ny) || (mods & NAN_MOD && (nx || ny)))
        return 0x7fffffff;
    if (nx || ny)
        return nx ? y : x;
    if (f32(x) == f32(y)) /* -0.0 < +0.0 */
        return mods & MAX ? (x >> 31 ? y : x) : x >> 31 ? x : y;
    return (f32(x) < f32(y)) == !(mods & MAX) ? x : y;
}
static uint32_t extreme(uint64_t a, uint64_t b, const uint64_t *c, int mods) {
    uint32_t x = flush((uint32_t)a, mods), y = flush((uint32_t)b, mods), z = c ? flush((uint32_t)*c, mods) : 0;
    uint32_t sign = (x ^ y) & 0x80000000;
    if (mods & ABS)
        x &= 0x7fffffff, y &= 0x7fffffff, z &= 0x7fffffff;
    uint32_t d = two(x, y, mods);
    if (c)
        d = two(d, z, mods);
    return mods & XOR && !isnan(f32(d)) ? (d & 0x7fffffff) | sign : d;
}
static double extreme64(double a, double b, bool max) {
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b)
        return signbit(a) == max ? b : a;
    return (a < b) != max ? a : b;
}
#define MINMAX(suffix, mods)                                                                                           \
    REF(min_##suffix, extreme(a, b, NULL, (mods)))                                                                     \
    REF(max_##suffix, extreme(a, b, NULL, (mods) | MAX))                                                               \
    REF(min3_##suffix, extreme(a, b, &c, (mods)))                                                                      \
    REF(max3_##suffix, extreme(a, b, &c, (mods) | MAX))
MINMAX(plain, 0)
MINMAX(ftz, FTZ)
MINMAX(nan, NAN_MOD)
MINMAX(ftznan, FTZ | NAN_MOD)
#define MINMAX3(suffix, mods)                                                                                          \
    REF(min3_##suffix, extreme(a, b, &c, (mods)))                                                                      \
    REF(max3_##suffix, extreme(a, b, &c, (mods) | MAX))
MINMAX3(abs, ABS)
MINMAX3(all, FTZ | NAN_MOD | ABS)
#define MINMAX2(suffix, mods)                                                                                          \
    REF(min_##suffix, extreme(a, b, NULL, (mods)))                                                                     \
    REF(max_##suffix, extreme(a, b, NULL, (mods) | MAX))
MINMAX2(xor, XOR | ABS)
MINMAX2(xorall, XOR | ABS | FTZ | NAN_MOD)
REF(min_f64, bits64(extreme64(f64(a), f64(b), false)))
REF(max_f64, bits64(extreme64(f64(a), f64(b), true)))

/* 9.7.3.9, 9.7.3.10: "an unspecified NaN" is the canonical one, as an H200 gives */
static uint32_t signed_as(uint32_t a, uint32_t result) { return isnan(f32(a)) ? 0x7fffffff : result; }
REF(abs_f32, signed_as((uint32_t)a, (uint32_t)a & 0x7fffffff))
REF(neg_f32, signed_as((uint32_t)a, (uint32_t)a ^ 0x80000000))
REF(abs_ftz, signed_as((uint32_t)a, flush((uint32_t)a, FTZ) & 0x7fffffff))
REF(neg_ftz, signed_as((uint32_t)a, flush((uint32_t)a, FTZ) ^ 0x80000000))
REF(abs_f64, a & ~(UINT64_C(1) << 63))
REF(neg_f64, a ^ UINT64_C(1) << 63)
REF(copysign32, (a & 0x80000000) | (b & 0x7fffffff))
REF(copysign64, (a & UINT64_C(1) << 63) | (b & ~(UINT64_C(1) << 63)))
#define TESTP(n)                                                                                                       \
    REF(finite##n, isfinite(f##n(a)) != 0)                                                                             \
    REF(infinite##n, isinf(f##n(a)) != 0)                                                                              \
    REF(number##n, !isnan(f##n(a)))                                                                                    \
    REF(notanumber##n, isnan(f##n(a)) != 0)                                                                            \
    REF(normal##n, isnormal(f##n(a)) || f##n(a) == 0)                                                                  \
    REF(subnormal##n, fpclassify(f##n(a)) == FP_SUBNORMAL)
TESTP(32)
TESTP(64)

#define REACHES(name, call, callftz) REF(name, call) REF(name##_ftz, callftz)
REACHES(rcp_a, num_rcp_approx_f32((uint32_t)a, 0), num_rcp_approx_f32((uint32_t)a, NUM_FTZ))
REACHES(sqrt_a, num_sqrt_approx_f32((uint32_t)a, 0), num_sqrt_approx_f32((uint32_t)a, NUM_FTZ))
REACHES(rsqrt_a, num_rsqrt_approx_f32((uint32_t)a, 0), num_rsqrt_approx_f32((uint32_t)a, NUM_FTZ))
REACHES(sin_a, num_sin_approx_f32((uint32_t)a, 0), num_sin_approx_f32((uint32_t)a, NUM_FTZ))
REACHES(cos_a, num_cos_approx_f32((uint32_t)a, 0), num_cos_approx_f32((uint32_t)a, NUM_FTZ))
REACHES(lg2_a, num_lg2_approx_f32((uint32_t)a, 0), num_lg2_approx_f32((uint32_t)a, NUM_FTZ))
REACHES(ex2_a, num_ex2_approx_f32((uint32_t)a, 0), num_ex2_approx_f32((uint32_t)a, NUM_FTZ))
REACHES(div_a, num_div_approx_f32((uint32_t)a, (uint32_t)b, 0), num_div_approx_f32((uint32_t)a, (uint32_t)b, NUM_FTZ))
REACHES(div_f, num_div_full_f32((uint32_t)a, (uint32_t)b, 0), num_div_full_f32((uint32_t)a, (uint32_t)b, NUM_FTZ))
REF(tanh_a, num_tanh_approx_f32((uint32_t)a))
REF(rcp_a64, num_rcp_approx_ftz_f64(a))
REF(rsqrt_a64, num_rsqrt_approx_f64(a))
REF(rsqrt_ftz64, num_rsqrt_approx_ftz_f64(a))
/* constants as the parser and lowering give them */
REF(plus_half, LANE(add32, FE_TONEAREST, 0, 0))
static uint64_t imm_half(const struct alu_in *in) { return plus_half(&(struct alu_in){.a = in->a, .b = 0x3f000000}); }
/* Beside -FLT_MAX what a sum lost cannot be had from the sum. */
REF(rounded_down, LANE(add32, FE_DOWNWARD, 0, 0))
static uint64_t imm_max(const struct alu_in *in) { return rounded_down(&(struct alu_in){.a = in->a, .b = 0xff7fffff}); }
static uint64_t imm_f64(const struct alu_in *in) { return bits64(f64(in->a) * -2.5); }

#define OPS32(text, op, ops)                                                                                           \
    {text ".rn.f32 " ops, 'w', op##_rn}, {text ".rz.f32 " ops, 'w', op##_rz}, {text ".rm.f32 " ops, 'w', op##_rm},     \
        {text ".rp.f32 " ops, 'w', op##_rp}, {text ".rn.ftz.f32 " ops, 'w', op##_rn_ftz},                              \
        {text ".rz.ftz.f32 " ops, 'w', op##_rz_ftz}, {text ".rm.ftz.f32 " ops, 'w', op##_rm_ftz}, {                    \
        text ".rp.ftz.f32 " ops, 'w', op##_rp_ftz                                                                      \
    }
#define SAT32(text, op, ops)                                                                                           \
    {text ".rn.sat.f32 " ops, 'w', op##_rn_sat}, {text ".rz.sat.f32 " ops, 'w', op##_rz_sat},                          \
        {text ".rm.sat.f32 " ops, 'w', op##_rm_sat}, {text ".rp.sat.f32 " ops, 'w', op##_rp_sat},                      \
        {text ".rn.ftz.sat.f32 " ops, 'w', op##_rn_ftzsat}, {text ".rz.ftz.sat.f32 " ops, 'w', op##_rz_ftzsat},        \
        {text ".rm.ftz.sat.f32 " ops, 'w', op##_rm_ftzsat}, {                                                          \
        text ".rp.ftz.sat.f32 " ops, 'w', op##_rp_ftzsat                                                               \
    }
#define OPSX2(text, op, ops)                                                                                           \
    {text ".rn.f32x2 " ops, 'l', op##_rn_x2}, {text ".rz.f32x2 " ops, 'l', op##_rz_x2},                                \
        {text ".rm.f32x2 " ops, 'l', op##_rm_x2}, {text ".rp.f32x2 " ops, 'l', op##_rp_x2},                            \
        {text ".rn.ftz.f32x2 " ops, 'l', op##_rn_ftz_x2}, {text ".rp.ftz.f32x2 " ops, 'l', op##_rp_ftz_x2},            \
        {text ".rz.ftz.f32x2 " ops, 'l', op##_rz_ftz_x2}, {                                                            \
        text ".rm.ftz.f32x2 " ops, 'l', op##_rm_ftz_x2                                                                 \
    }
#define OPS64(text, op, ops)                                                                                           \
    {text ".rn.f64 " ops, 'D', op##_rn}, {text ".rz.f64 " ops, 'D', op##_rz}, {text ".rm.f64 " ops, 'D', op##_rm}, {   \
        text ".rp.f64 " ops, 'D', op##_rp                                                                              \
    }
#define D2 "%dw, %aw, %bw;"
#define D3 "%dw, %aw, %bw, %cw;"
#define L2 "%dl, %al, %bl;"
#define L3 "%dl, %al, %bl, %cl;"
#define TESTPS(n, reg)                                                                                                 \
    {"testp.finite.f" #n " %dp, " reg ";", 'p', finite##n},                                                            \
        {"testp.infinite.f" #n " %dp, " reg ";", 'p', infinite##n},                                                    \
        {"testp.number.f" #n " %dp, " reg ";", 'p', number##n},                                                        \
        {"testp.notanumber.f" #n " %dp, " reg ";", 'p', notanumber##n},                                                \
        {"testp.normal.f" #n " %dp, " reg ";", 'p', normal##n}, {                                                      \
        "testp.subnormal.f" #n " %dp, " reg ";", 'p', subnormal##n                                                     \
    }
#define APPROX1(op, ref)                                                                                               \
    {#op ".approx.f32 %dw, %aw;", 'w', ref}, { #op ".approx.ftz.f32 %dw, %aw;", 'w', ref##_ftz }

static const struct alu_case cases[] = {
    {"add.f32 " D2, 'w', add32_rn},
    {"sub.f32 " D2, 'w', sub32_rn},
    {"mul.f32 " D2, 'w', mul32_rn},
    {"add.ftz.f32 " D2, 'w', add32_rn_ftz},
    {"add.sat.f32 " D2, 'w', add32_rn_sat},
    {"add.f64 " L2, 'D', add64_rn},
    {"sub.f64 " L2, 'D', sub64_rn},
    {"mul.f64 " L2, 'D', mul64_rn},
    {"add.f32x2 " L2, 'l', add32_rn_x2},
    {"sub.f32x2 " L2, 'l', sub32_rn_x2},
    {"mul.f32x2 " L2, 'l', mul32_rn_x2},
    OPS32("add", add32, D2),
    OPS32("sub", sub32, D2),
    OPS32("mul", mul32, D2),
    OPS32("fma", fma32, D3),
    OPS32("mad", fma32, D3),
    OPS32("div", div32, D2),
    OPS32("rcp", rcp32, "%dw, %aw;"),
    OPS32("sqrt", sqrt32, "%dw, %aw;"),
    SAT32("add", add32, D2),
    SAT32("sub", sub32, D2),
    SAT32("mul", mul32, D2),
    SAT32("fma", fma32, D3),
    SAT32("mad", fma32, D3),
    OPSX2("add", add32, L2),
    OPSX2("sub", sub32, L2),
    OPSX2("mul", mul32, L2),
    OPSX2("fma", fma32, L3),
    OPS64("add", add64, L2),
    OPS64("sub", sub64, L2),
    OPS64("mul", mul64, L2),
    OPS64("fma", fma64, L3),
    OPS64("mad", fma64, L3),
    OPS64("div", div64, L2),
    OPS64("rcp", rcp64, "%dl, %al;"),
    OPS64("sqrt", sqrt64, "%dl, %al;"),
    {"abs.f32 %dw, %aw;", 'w', abs_f32},
    {"neg.f32 %dw, %aw;", 'w', neg_f32},
    {"abs.ftz.f32 %dw, %aw;", 'w', abs_ftz},
    {"neg.ftz.f32 %dw, %aw;", 'w', neg_ftz},
    {"abs.f64 %dl, %al;", 'D', abs_f64},
    {"neg.f64 %dl, %al;", 'D', neg_f64},
    {"copysign.f32 " D2, 'w', copysign32},
    {"copysign.f64 " L2, 'l', copysign64},
    {"min.f32 " D2, 'w', min_plain},
    {"max.f32 " D2, 'w', max_plain},
    {"min.ftz.f32 " D2, 'w', min_ftz},
    {"max.ftz.f32 " D2, 'w', max_ftz},
    {"min.NaN.f32 " D2, 'w', min_nan},
    {"max.NaN.f32 " D2, 'w', max_nan},
    {"min.ftz.NaN.f32 " D2, 'w', min_ftznan},
    {"max.ftz.NaN.f32 " D2, 'w', max_ftznan},
    {"min.xorsign.abs.f32 " D2, 'w', min_xor},
    {"max.xorsign.abs.f32 " D2, 'w', max_xor},
    {"min.ftz.NaN.xorsign.abs.f32 " D2, 'w', min_xorall},
    {"max.ftz.NaN.xorsign.abs.f32 " D2, 'w', max_xorall},
    {"min.f32 " D3, 'w', min3_plain},
    {"max.f32 " D3, 'w', max3_plain},
    {"min.ftz.f32 " D3, 'w', min3_ftz},
    {"max.ftz.f32 " D3, 'w', max3_ftz},
    {"min.NaN.f32 " D3, 'w', min3_nan},
    {"max.NaN.f32 " D3, 'w', max3_nan},
    {"min.ftz.NaN.f32 " D3, 'w', min3_ftznan},
    {"max.ftz.NaN.f32 " D3, 'w', max3_ftznan},
    {"min.abs.f32 " D3, 'w', min3_abs},
    {"max.abs.f32 " D3, 'w', max3_abs},
    {"min.ftz.NaN.abs.f32 " D3, 'w', min3_all},
    {"max.ftz.NaN.abs.f32 " D3, 'w', max3_all},
    {"min.f64 " L2, 'D', min_f64},
    {"max.f64 " L2, 'D', max_f64},
    TESTPS(32, "%aw"),
    TESTPS(64, "%al"),
    APPROX1(rcp, rcp_a),
    APPROX1(sqrt, sqrt_a),
    APPROX1(rsqrt, rsqrt_a),
    APPROX1(sin, sin_a),
    APPROX1(cos, cos_a),
    APPROX1(lg2, lg2_a),
    APPROX1(ex2, ex2_a),
    {"tanh.approx.f32 %dw, %aw;", 'w', tanh_a},
    {"div.approx.f32 " D2, 'w', div_a},
    {"div.approx.ftz.f32 " D2, 'w', div_a_ftz},
    {"div.full.f32 " D2, 'w', div_f},
    {"div.full.ftz.f32 " D2, 'w', div_f_ftz},
    {"rcp.approx.ftz.f64 %dl, %al;", 'D', rcp_a64},
    {"rsqrt.approx.f64 %dl, %al;", 'D', rsqrt_a64},
    {"rsqrt.approx.ftz.f64 %dl, %al;", 'D', rsqrt_ftz64},
    {"add.f32 %dw, %aw, 0f3F000000;", 'w', imm_half},
    {"add.f32 %dw, %aw, 0.5;", 'w', imm_half},
    {"add.rm.f32 %dw, %aw, 0fFF7FFFFF;", 'w', imm_max},
    {"mul.f64 %dl, %al, 0dC004000000000000;", 'D', imm_f64},
    {"mul.f64 %dl, %al, -2.5;", 'D', imm_f64},
    {"mul.f64 %dl, %al, 0fC0200000;", 'D', imm_f64},
    {"add.f32 %dw, %aw, 0d3FE0000000000000;", 'w', imm_half},
};

static const struct alu_refusal refusals[] = {
    {"add.f32 %dw, %aw, 5;", "kind of the instruction's type"},
    {"add.f64 %dl, %al, 5;", "kind of the instruction's type"},
    {"fma.f32 " D3, "not one of the instruction's forms"},
    {"mad.f32 " D3, "not one of the instruction's forms"},
    {"div.f32 " D2, "not one of the instruction's forms"},
    {"add.rn.rz.f32 " D2, "not one of the instruction's forms"},
    {"add.ftz.f64 " L2, "not one of the instruction's forms"},
    {"add.sat.f32x2 " L2, "not one of the instruction's forms"},
    {"fma.rn.f32x2 %dl, %al, %bl, %cw;", "source operand"},
    {"min.abs.f32 " D2, "number of operands"},
    {"min.xorsign.f32 " D2, "not one of the instruction's forms"},
    {"min.xorsign.abs.f32 " D3, "number of operands"},
    {"tanh.approx.ftz.f32 %dw, %aw;", "not one of the instruction's forms"},
    {"sin.f32 %dw, %aw;", "not one of the instruction's forms"},
    {"rcp.approx.f64 %dl, %al;", "not one of the instruction's forms"},
};

int main(void) {
    alu_check(cases, sizeof cases / sizeof *cases);
    alu_check_refused(refusals, sizeof refusals / sizeof *refusals);
    return check_report();
}
