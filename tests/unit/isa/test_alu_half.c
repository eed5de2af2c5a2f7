/* f16, bf16 and mixed-precision arithmetic (PTX ISA 9.7.4, 9.7.5), and comparisons of halves (9.7.7).
 *
 * Reference: the exact result as a sum of two doubles, rounded by searching the format's values. */
#include "alu_forms.h"
#include "num/num.h"

#include <fenv.h>

struct half_format {
    int man, bias;
};
static const struct half_format F16 = {10, 15}, BF16 = {7, 127};
enum { FTZ = 1, SAT = 2, RELU = 4, NAN_MOD = 8, XOR = 16, MAX = 32 };

static double value(const struct half_format *f, uint32_t code) {
    int e = (code & 0x7fff) >> f->man, m = code & ((1 << f->man) - 1), top = (0x7fff >> f->man);
    double v = e == top ? (m ? NAN : INFINITY)
               : e      ? ldexp(1 + ldexp(m, -f->man), e - f->bias)
                        : ldexp(m, 1 - f->bias - f->man);
    return code & 0x8000 ? -v : v;
}
static bool subnormal(const struct half_format *f, uint32_t code) {
    return (code & 0x7fff) && !((code & 0x7fff) >> f->man);
}
static uint32_t flush(const struct half_format *f, uint32_t code, int mods) {
    return mods & FTZ && subnormal(f, code) ? code & 0x8000 : code;
}
/* hi + lo, |lo| at most half a unit of hi's last place, to the nearest code, ties to even. */
static uint32_t nearest(const struct half_format *f, double hi, double lo) {
    if (isnan(hi))
        return 0x7fff;
    uint32_t sign = signbit(hi) ? 0x8000 : 0;
    if (sign)
        hi = -hi, lo = -lo;
    const uint32_t inf = (uint32_t)(0x7fff >> f->man) << f->man;
    if (isinf(hi))
        return sign | inf;
    uint32_t low = 0, high = inf; /* value(low) <= x; what lies at inf counts as 2^(emax+1) */
    while (high - low > 1) {
        uint32_t mid = (low + high) / 2;
        double v = value(f, mid);
        if (v < hi || (v == hi && lo >= 0))
            low = mid;
        else
            high = mid;
    }
    double below = value(f, low), above = high == inf ? 2 * value(f, inf - 1) - value(f, inf - 2) : value(f, high);
    double middle = below + (above - below) / 2, beyond = hi - middle;
    bool up = beyond > 0 || (beyond == 0 && (lo > 0 || (lo == 0 && (low & 1))));
    return sign | (up ? high : low);
}
static uint32_t finish(const struct half_format *f, uint32_t code, int mods) {
    bool nan = isnan(value(f, code));
    if (mods & SAT)
        return nan || code & 0x8000 ? 0 : value(f, code) > 1 ? (uint32_t)f->bias << f->man : flush(f, code, mods);
    if (mods & RELU && !nan && code & 0x8000)
        return 0;
    return flush(f, code, mods);
}
static void two_sum(double a, double b, double *hi, double *lo) {
    volatile double s = a + b, bb = s - a, x = s - bb, y = a - x, z = b - bb;
    *hi = s;
    *lo = isfinite(s) ? y + z : 0;
}

static uint32_t add_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    double hi, lo;
    (void)c;
    two_sum(value(f, flush(f, a, mods)), value(f, flush(f, b, mods)), &hi, &lo);
    return finish(f, nearest(f, hi, lo), mods);
}
static uint32_t sub_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    return add_(f, a, b ^ 0x8000, c, mods);
}
static uint32_t mul_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    (void)c;
    return finish(f, nearest(f, value(f, flush(f, a, mods)) * value(f, flush(f, b, mods)), 0), mods);
}
static uint32_t fma_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    double hi, lo;
    two_sum(value(f, flush(f, a, mods)) * value(f, flush(f, b, mods)), value(f, flush(f, c, mods)), &hi, &lo);
    return finish(f, nearest(f, hi, lo), mods);
}
static uint32_t neg_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    (void)b, (void)c;
    return isnan(value(f, a)) ? 0x7fff : flush(f, a, mods) ^ 0x8000;
}
static uint32_t abs_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    (void)b, (void)c;
    return isnan(value(f, a)) ? 0x7fff : flush(f, a, mods) & 0x7fff;
}
static uint32_t min_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    (void)c;
    a = flush(f, a, mods);
    b = flush(f, b, mods);
    uint32_t sign = (a ^ b) & 0x8000, d;
    if (mods & XOR)
        a &= 0x7fff, b &= 0x7fff;
    double x = value(f, a), y = value(f, b);
    if ((isnan(x) && isnan(y)) || (mods & NAN_MOD && (isnan(x) || isnan(y))))
        return 0x7fff;
    if (isnan(x) || isnan(y))
        d = isnan(x) ? b : a;
    else if (x == y)
        d = (a & 0x8000 ? mods & MAX : !(mods & MAX)) ? b : a;
    else
        d = (x < y) == !(mods & MAX) ? a : b;
    return mods & XOR ? (d & 0x7fff) | sign : d;
}
static uint32_t tanh_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    (void)b, (void)c, (void)mods;
    return num_tanh_approx_h(f == &F16 ? NUM_F16 : NUM_BF16, (uint16_t)a);
}
static uint32_t ex2_(const struct half_format *f, uint32_t a, uint32_t b, uint32_t c, int mods) {
    (void)b, (void)c;
    return num_ex2_approx_h(f == &F16 ? NUM_F16 : NUM_BF16, (uint16_t)a, mods & FTZ ? NUM_FTZ : 0);
}

typedef uint32_t half_fn(const struct half_format *, uint32_t, uint32_t, uint32_t, int);
static uint64_t one(half_fn *fn, const struct half_format *f, const struct alu_in *in, int mods) {
    return fn(f, in->a & 0xffff, in->b & 0xffff, in->c & 0xffff, mods);
}
static uint64_t both(half_fn *fn, const struct half_format *f, const struct alu_in *in, int mods) {
    uint32_t hi = fn(f, in->a >> 16 & 0xffff, in->b >> 16 & 0xffff, in->c >> 16 & 0xffff, mods);
    return one(fn, f, in, mods) | (uint64_t)hi << 16;
}
#define REFS(op, suffix, mods)                                                                                         \
    static uint64_t op##suffix##_f16(const struct alu_in *in) { return one(op##_, &F16, in, mods); }                   \
    static uint64_t op##suffix##_f16x2(const struct alu_in *in) { return both(op##_, &F16, in, mods); }
#define BREFS(op, suffix, mods)                                                                                        \
    static uint64_t op##suffix##_bf16(const struct alu_in *in) { return one(op##_, &BF16, in, mods); }                 \
    static uint64_t op##suffix##_bf16x2(const struct alu_in *in) { return both(op##_, &BF16, in, mods); }
#define ARITH(op) REFS(op, , 0) REFS(op, _ftz, FTZ) REFS(op, _sat, SAT) REFS(op, _ftzsat, FTZ | SAT) BREFS(op, , 0)
ARITH(add)
ARITH(sub)
ARITH(mul)
ARITH(fma)
REFS(fma, _relu, RELU)
REFS(fma, _ftzrelu, FTZ | RELU)
BREFS(fma, _relu, RELU)
REFS(neg, , 0)
REFS(neg, _ftz, FTZ)
BREFS(neg, , 0)
REFS(abs, , 0)
REFS(abs, _ftz, FTZ)
BREFS(abs, , 0)
#define max_ min_
/* clang-format off */
#define MINMAX(op, m)                                                              \
    REFS(op, , m) REFS(op, _ftz, FTZ | m) REFS(op, _nan, NAN_MOD | m)              \
    REFS(op, _xor, XOR | m) REFS(op, _all, FTZ | NAN_MOD | XOR | m)                \
    BREFS(op, , m) BREFS(op, _nan, NAN_MOD | m) BREFS(op, _xor, XOR | m)           \
    BREFS(op, _nanxor, NAN_MOD | XOR | m)
/* clang-format on */
MINMAX(min, 0)
MINMAX(max, MAX)
REFS(tanh, , 0)
BREFS(tanh, , 0)
REFS(ex2, , 0)
BREFS(ex2, , FTZ)

/* 9.7.5: the halves are exact in f32 */
static float f32(uint64_t b) {
    float f;
    uint32_t w = (uint32_t)b;
    memcpy(&f, &w, 4);
    return f;
}
enum mixed_op { MADD, MSUB, MFMA };
static uint64_t mixed(const struct alu_in *in, enum mixed_op op, const struct half_format *f, int mode, int mods) {
    volatile float a = (float)value(f, in->a & 0xffff), h = (float)value(f, in->b & 0xffff), b = f32(in->b),
                   c = f32(in->c), r;
    fesetround(mode);
    r = op == MADD ? a + b : op == MSUB ? a - b : fmaf(a, h, c);
    fesetround(FE_TONEAREST);
    float v = r;
    uint32_t w;
    if (mods & SAT)
        v = v != v || v <= 0 ? 0 : v > 1 ? 1 : v;
    memcpy(&w, &v, 4);
    return v != v ? 0x7fffffff : w;
}
#define MIXED(n, op, t, F)                                                                                             \
    static uint64_t n##_##t##_rn(const struct alu_in *in) { return mixed(in, op, &F, FE_TONEAREST, 0); }               \
    static uint64_t n##_##t##_rz(const struct alu_in *in) { return mixed(in, op, &F, FE_TOWARDZERO, 0); }              \
    static uint64_t n##_##t##_rm(const struct alu_in *in) { return mixed(in, op, &F, FE_DOWNWARD, 0); }                \
    static uint64_t n##_##t##_rp(const struct alu_in *in) { return mixed(in, op, &F, FE_UPWARD, 0); }                  \
    static uint64_t n##_##t##_sat(const struct alu_in *in) { return mixed(in, op, &F, FE_TONEAREST, SAT); }
MIXED(madd, MADD, f16, F16)
MIXED(madd, MADD, bf16, BF16)
MIXED(msub, MSUB, f16, F16)
MIXED(msub, MSUB, bf16, BF16)
MIXED(mfma, MFMA, f16, F16)
MIXED(mfma, MFMA, bf16, BF16)

#define H2 " %dh, %ah, %bh;"
#define H3 " %dh, %ah, %bh, %ch;"
#define H1 " %dh, %ah;"
#define W1 " %dw, %aw;"
#define W2 " %dw, %aw, %bw;"
#define W3 " %dw, %aw, %bw, %cw;"
#define F_(text, ref, h, w)                                                                                            \
    {text ".f16" h, 'h', ref##_f16}, { text ".f16x2" w, 'w', ref##_f16x2 }
#define B_(text, ref, h, w)                                                                                            \
    {text ".bf16" h, 'h', ref##_bf16}, { text ".bf16x2" w, 'w', ref##_bf16x2 }
#define SUM(op)                                                                                                        \
    F_(#op, op, H2, W2), F_(#op ".rn", op, H2, W2), F_(#op ".ftz", op##_ftz, H2, W2),                                  \
        F_(#op ".rn.sat", op##_sat, H2, W2), F_(#op ".ftz.sat", op##_ftzsat, H2, W2), B_(#op, op, H2, W2),             \
        B_(#op ".rn", op, H2, W2)
#define EXTREME(op)                                                                                                    \
    F_(#op, op, H2, W2), F_(#op ".ftz", op##_ftz, H2, W2), F_(#op ".NaN", op##_nan, H2, W2),                           \
        F_(#op ".xorsign.abs", op##_xor, H2, W2), F_(#op ".ftz.NaN.xorsign.abs", op##_all, H2, W2),                    \
        B_(#op, op, H2, W2), B_(#op ".NaN", op##_nan, H2, W2), B_(#op ".xorsign.abs", op##_xor, H2, W2),               \
        B_(#op ".NaN.xorsign.abs", op##_nanxor, H2, W2)
#define MIX(op, ref, t, ops)                                                                                           \
    {#op ".rn.f32." #t ops, 'w', ref##_##t##_rn}, {#op ".rz.f32." #t ops, 'w', ref##_##t##_rz},                        \
        {#op ".rm.f32." #t ops, 'w', ref##_##t##_rm}, {#op ".rp.f32." #t ops, 'w', ref##_##t##_rp}, {                  \
#op ".rn.sat.f32." #t ops, 'w', ref##_##t##_sat                                                                \
    }

static const struct alu_case cases[] = {
    SUM(add),
    SUM(sub),
    SUM(mul),
    F_("fma.rn", fma, H3, W3),
    F_("fma.rn.ftz", fma_ftz, H3, W3),
    F_("fma.rn.sat", fma_sat, H3, W3),
    F_("fma.rn.ftz.sat", fma_ftzsat, H3, W3),
    F_("fma.rn.relu", fma_relu, H3, W3),
    F_("fma.rn.ftz.relu", fma_ftzrelu, H3, W3),
    B_("fma.rn", fma, H3, W3),
    B_("fma.rn.relu", fma_relu, H3, W3),
    F_("neg", neg, H1, W1),
    F_("neg.ftz", neg_ftz, H1, W1),
    B_("neg", neg, H1, W1),
    F_("abs", abs, H1, W1),
    F_("abs.ftz", abs_ftz, H1, W1),
    B_("abs", abs, H1, W1),
    EXTREME(min),
    EXTREME(max),
    F_("tanh.approx", tanh, H1, W1),
    B_("tanh.approx", tanh, H1, W1),
    F_("ex2.approx", ex2, H1, W1),
    B_("ex2.approx.ftz", ex2, H1, W1),
    MIX(add, madd, f16, " %dw, %ah, %bw;"),
    MIX(add, madd, bf16, " %dw, %ah, %bw;"),
    MIX(sub, msub, f16, " %dw, %ah, %bw;"),
    MIX(sub, msub, bf16, " %dw, %ah, %bw;"),
    MIX(fma, mfma, f16, " %dw, %ah, %bh, %cw;"),
    MIX(fma, mfma, bf16, " %dw, %ah, %bh, %cw;"),
    {"add.f32.f16 %dw, %ah, %bw;", 'w', madd_f16_rn},
    {"sub.f32.bf16 %dw, %ah, %bw;", 'w', msub_bf16_rn},
};

static const struct alu_refusal refusals[] = {
    {"add.rz.f16" H2, "not one of the instruction's forms"},
    {"add.sat.bf16" H2, "not one of the instruction's forms"},
    {"fma.f16" H3, "not one of the instruction's forms"},
    {"fma.rn.sat.relu.f16" H3, "not one of the instruction's forms"},
    {"fma.rn.oob.f16" H3, "OOB NaN"},
    {"ex2.approx.bf16" H1, "not one of the instruction's forms"},
    {"min.abs.f16" H2, "not one of the instruction's forms"},
    {"add.f16x2 %dh, %aw, %bw;", "destination"},
    {"fma.f32.f16 %dw, %ah, %bh, %cw;", "not one of the instruction's forms"},
};

int main(void) {
    alu_check(cases, sizeof cases / sizeof *cases);
    alu_check_refused(refusals, sizeof refusals / sizeof *refusals);
    return check_report();
}
