/* isa/approx.h - f32 arithmetic with .ftz and .sat, and the .approx functions, so that loops over lanes vectorise.
 *
 * A value comes with a doubt: 0, or that it may not be the last bit of what num/ gives. A handler with a doubtful lane
 * asks num/ (ALU_SURE1). So the results are num/'s, bit for bit.
 *
 * - What .ftz flushes is tiny after a rounding without a lower end of the exponent (num/format.c). A host's result that
 *   is the smallest normal number may have been that: doubtful. One below is, for certain.
 * - Functions are series in double whose error is below 2^-48. Where num/'s double, which is as good, may fall on the
 *   other side of the middle between two floats, the lane is doubtful: one in a million. So are results that are not
 *   normal numbers.
 */
#ifndef ISA_APPROX_H
#define ISA_APPROX_H

#include "num/num.h"

#define APPROX_INLINE static inline __attribute__((always_inline))

APPROX_INLINE float approx_f32(uint32_t bits) { return num_f32_from_bits(bits); }
APPROX_INLINE uint32_t approx_bits(float v) { return v == v ? num_f32_bits(v) : NUM_NAN_F32; }

/* A subnormal becomes a zero of its sign where .ftz asks for that. */
APPROX_INLINE uint32_t approx_flush(uint32_t a, unsigned f) {
    const uint32_t keep = f & NUM_FTZ ? 0x80000000 : 0xffffffff;
    return a & 0x7f800000 ? a : a & keep;
}
APPROX_INLINE float approx_operand(uint32_t a, unsigned f) { return approx_f32(approx_flush(a, f)); }

/* The end of a sum, product or quotient that the host has rounded to nearest. */
APPROX_INLINE uint32_t approx_finish(float v, unsigned f, uint32_t *doubt) {
    const uint32_t r = approx_bits(v), flushed = approx_flush(r, f);
    const float s = approx_f32(flushed);
    *doubt |= f & NUM_FTZ && (r & 0x7fffffff) == 0x00800000;
    const uint32_t clamped = s > 0 ? s < 1 ? flushed : 0x3f800000 : 0; /* NaN and -0 give +0 */
    return f & NUM_SAT ? clamped : flushed;
}

APPROX_INLINE uint32_t approx_add(uint32_t a, uint32_t b, unsigned f, uint32_t *doubt) {
    uint32_t exact = 0; /* a sum that small is */
    (void)doubt;
    return approx_finish(approx_operand(a, f) + approx_operand(b, f), f, &exact);
}
APPROX_INLINE uint32_t approx_mul(uint32_t a, uint32_t b, unsigned f, uint32_t *doubt) {
    return approx_finish(approx_operand(a, f) * approx_operand(b, f), f, doubt);
}
APPROX_INLINE uint32_t approx_fma(uint32_t a, uint32_t b, uint32_t c, unsigned f, uint32_t *doubt) {
    return approx_finish(__builtin_fmaf(approx_operand(a, f), approx_operand(b, f), approx_operand(c, f)), f, doubt);
}
APPROX_INLINE uint32_t approx_div(uint32_t a, uint32_t b, unsigned f, uint32_t *doubt) {
    return approx_finish(approx_operand(a, f) / approx_operand(b, f), f & NUM_FTZ, doubt);
}
/* 9.7.3.8: 2^126 < |b| < 2^128 */
APPROX_INLINE uint32_t approx_div_approx(uint32_t a, uint32_t b, unsigned f, uint32_t *doubt) {
    const uint32_t size = b & 0x7fffffff, of_a = a & 0x7fffffff;
    const uint32_t q = approx_div(a, b, f, doubt);
    const uint32_t large = of_a == 0x7f800000 ? NUM_NAN_F32 : (a ^ b) & 0x80000000;
    return size > 0x7e800000 && size < 0x7f800000 && of_a <= 0x7f800000 ? large : q;
}
/* The root of a normal number is normal. */
APPROX_INLINE uint32_t approx_sqrt(uint32_t a, unsigned f) {
    return approx_bits(__builtin_sqrtf(approx_operand(a, f)));
}

/* min and max with .ftz, .NaN, .abs, .xorsign: num/order.c */
APPROX_INLINE uint32_t approx_pick(uint32_t a, uint32_t b, unsigned f, bool larger) {
    const uint32_t keep = f & NUM_ABS ? 0x7fffffff : 0xffffffff;
    const uint32_t x = approx_flush(a, f), y = approx_flush(b, f), sign = (x ^ y) & 0x80000000;
    const uint32_t u = x & keep, v = y & keep;
    const bool nu = (u & 0x7fffffff) > 0x7f800000, nv = (v & 0x7fffffff) > 0x7f800000;
    const int32_t ru = (int32_t)(u ^ ((uint32_t)((int32_t)u >> 31) & 0x7fffffff));
    const int32_t rv = (int32_t)(v ^ ((uint32_t)((int32_t)v >> 31) & 0x7fffffff));
    const uint32_t most = larger ? (ru > rv ? u : v) : (ru > rv ? v : u);
    const uint32_t d = nu ? v : nv ? u : most;
    const uint32_t signed_d = f & NUM_XORSIGN ? (d & 0x7fffffff) | sign : d;
    return (nu & nv) || (f & NUM_NAN && (nu | nv)) ? NUM_NAN_F32 : signed_d;
}

/* --- series ------------------------------------------------------------------------------------------------------- */

/* v as the nearest float, and a doubt where it is too near to the middle of two, or not normal. */
APPROX_INLINE uint32_t approx_round(double v, uint32_t *doubt) {
    const uint64_t bits = num_f64_bits(v), magnitude = bits & ~(UINT64_C(1) << 63);
    const uint32_t rest = (uint32_t)bits & 0x1fffffff;
    *doubt |= rest - (0x10000000 - 0x400) < 0x800;
    *doubt |= magnitude < num_f64_bits(0x1.00001p-126) || magnitude >= num_f64_bits(0x1p128);
    return num_f32_bits((float)v);
}

/* The integer nearest to v, |v| < 2^31, as a double and in the low bits of *k. */
APPROX_INLINE double approx_nearest(double v, uint64_t *k) {
    const double magic = 0x1.8p52, s = v + magic;
    *k = num_f64_bits(s);
    return s - magic;
}
/* 2^k, k an integer in low bits, -1022 to 1023. */
APPROX_INLINE double approx_power(uint64_t k) { return num_f64_from_bits((k + 1023) << 52); }

/* (e^r - 1 - r) / r^2, |r| <= ln 2 / 2 */
APPROX_INLINE double approx_exp_tail(double r) {
    double s = 1.0 / 87178291200.0; /* 1 / 14! */
    s = __builtin_fma(s, r, 1.0 / 6227020800.0);
    s = __builtin_fma(s, r, 1.0 / 479001600.0);
    s = __builtin_fma(s, r, 1.0 / 39916800.0);
    s = __builtin_fma(s, r, 1.0 / 3628800.0);
    s = __builtin_fma(s, r, 1.0 / 362880.0);
    s = __builtin_fma(s, r, 1.0 / 40320.0);
    s = __builtin_fma(s, r, 1.0 / 5040.0);
    s = __builtin_fma(s, r, 1.0 / 720.0);
    s = __builtin_fma(s, r, 1.0 / 120.0);
    s = __builtin_fma(s, r, 1.0 / 24.0);
    s = __builtin_fma(s, r, 1.0 / 6.0);
    return __builtin_fma(s, r, 0.5);
}

#define APPROX_LN2 0x1.62e42fefa39efp-1

APPROX_INLINE uint32_t approx_ex2(uint32_t a, unsigned f, uint32_t *doubt) {
    const float x = approx_operand(a, f);
    const bool tiny = x < (f & NUM_FTZ ? -126.0f : -151.0f), huge = x >= 128, nan = x != x;
    uint64_t k;
    uint32_t unsure = 0;
    const double v = (double)(tiny || huge || nan ? 0 : x), n = approx_nearest(v, &k), r = (v - n) * APPROX_LN2;
    const double e = __builtin_fma(r * r, approx_exp_tail(r), r);
    const uint32_t d = approx_round(__builtin_fma(e, approx_power(k), approx_power(k)), &unsure);
    *doubt |= unsure;
    return nan ? NUM_NAN_F32 : tiny ? 0 : huge ? 0x7f800000 : d;
}

/* tanh x = m / (m + 2), m = e^2x - 1 */
APPROX_INLINE uint32_t approx_tanh(uint32_t a, uint32_t *doubt) {
    const float x = approx_f32(a), size = approx_f32(a & 0x7fffffff);
    const bool one = size > 20, zero = size == 0; /* NaN is neither */
    uint64_t k;
    uint32_t unsure = 0;
    const double v = size <= 20 && !zero ? 2 * (double)x : 1;
    const double n = approx_nearest(v * 0x1.71547652b82fep+0, &k);
    const double r = __builtin_fma(n, -0x1.abc9e3b39803fp-56, __builtin_fma(n, -APPROX_LN2, v));
    const double e = __builtin_fma(r * r, approx_exp_tail(r), r), p = approx_power(k);
    const double m = __builtin_fma(e, p, p - 1);
    const uint32_t d = approx_round(m / (m + 2), &unsure);
    *doubt |= unsure;
    return x != x ? NUM_NAN_F32 : zero ? a : one ? (a & 0x80000000) | 0x3f800000 : d;
}

/* log2 of m * 2^n, m from root 1/2 to root 2: n + 2 / ln 2 * artanh z, z = (m - 1) / (m + 1) */
APPROX_INLINE uint32_t approx_lg2(uint32_t a, unsigned f, uint32_t *doubt) {
    const float x = approx_operand(a, f);
    const bool plain = x > 0 && x <= 0x1.fffffep127f, one = x == 1;
    const uint64_t bits = num_f64_bits((double)(plain && !one ? x : 2.0f));
    const uint64_t up = bits - num_f64_bits(0x1.6a09e667f3bcdp-1); /* from root 1/2 on the exponent counts one more */
    const int64_t n = (int64_t)up >> 52;
    const double m = num_f64_from_bits(bits - ((uint64_t)n << 52)), z = (m - 1) / (m + 1), q = z * z;
    double s = 1.0 / 21.0;
    s = __builtin_fma(s, q, 1.0 / 19.0);
    s = __builtin_fma(s, q, 1.0 / 17.0);
    s = __builtin_fma(s, q, 1.0 / 15.0);
    s = __builtin_fma(s, q, 1.0 / 13.0);
    s = __builtin_fma(s, q, 1.0 / 11.0);
    s = __builtin_fma(s, q, 1.0 / 9.0);
    s = __builtin_fma(s, q, 1.0 / 7.0);
    s = __builtin_fma(s, q, 1.0 / 5.0);
    s = __builtin_fma(s, q, 1.0 / 3.0);
    s = __builtin_fma(s * q, z, z);
    uint32_t unsure = 0;
    const double whole = num_f64_from_bits((uint64_t)n + num_f64_bits(0x1.8p52)) - 0x1.8p52;
    const uint32_t d = approx_round(__builtin_fma(s, 0x1.71547652b82fep+1, whole), &unsure);
    *doubt |= plain && !one ? unsure : 0;
    const uint32_t special = x == 0 ? 0xff800000 : x > 0 ? 0x7f800000 : NUM_NAN_F32;
    return one ? 0 : plain ? d : special;
}

/* Multiples of pi / 2 are taken off, k of them; the quadrant says which series. */
APPROX_INLINE uint32_t approx_sine(uint32_t a, unsigned f, uint64_t quadrant, uint32_t *doubt) {
    const float x = approx_operand(a, f), size = approx_f32(num_f32_bits(x) & 0x7fffffff);
    const bool plain = size < 0x1p20f;
    uint64_t k;
    const double v = plain ? (double)x : 1, n = approx_nearest(v * 0x1.45f306dc9c883p-1, &k);
    const double r = __builtin_fma(n, -0x1.1a62633145c07p-54, __builtin_fma(n, -0x1.921fb54442d18p+0, v));
    const double q = r * r;
    double s = 1.0 / 355687428096000.0; /* 1 / 17! */
    s = __builtin_fma(s, q, -1.0 / 1307674368000.0);
    s = __builtin_fma(s, q, 1.0 / 6227020800.0);
    s = __builtin_fma(s, q, -1.0 / 39916800.0);
    s = __builtin_fma(s, q, 1.0 / 362880.0);
    s = __builtin_fma(s, q, -1.0 / 5040.0);
    s = __builtin_fma(s, q, 1.0 / 120.0);
    s = __builtin_fma(s, q, -1.0 / 6.0);
    s = __builtin_fma(s * q, r, r);
    double c = 1.0 / 20922789888000.0; /* 1 / 16! */
    c = __builtin_fma(c, q, -1.0 / 87178291200.0);
    c = __builtin_fma(c, q, 1.0 / 479001600.0);
    c = __builtin_fma(c, q, -1.0 / 3628800.0);
    c = __builtin_fma(c, q, 1.0 / 40320.0);
    c = __builtin_fma(c, q, -1.0 / 720.0);
    c = __builtin_fma(c, q, 1.0 / 24.0);
    c = __builtin_fma(c, q, -0.5);
    c = __builtin_fma(c, q, 1.0);
    const uint64_t at = k + quadrant;
    const uint64_t u = (at & 1 ? num_f64_bits(c) : num_f64_bits(s)) ^ (at & 2) << 62;
    uint32_t unsure = 0;
    const uint32_t d = approx_round(num_f64_from_bits(u), &unsure);
    const bool zero = size == 0;
    *doubt |= zero ? 0 : plain ? unsure : 1;
    return zero ? quadrant ? 0x3f800000 : num_f32_bits(x) : d;
}

/* 1 / root a: the host's root and quotient are correctly rounded, as num/'s are. */
APPROX_INLINE uint32_t approx_rsqrt(uint32_t a, unsigned f) {
    const double v = 1.0 / __builtin_sqrt((double)approx_operand(a, f));
    return approx_bits((float)v);
}

#endif
