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

/* f64 to nearest is the host's; which NaN it is, num/ knows. */
APPROX_INLINE double approx_f64(uint64_t bits) { return num_f64_from_bits(bits); }
APPROX_INLINE uint64_t approx_wide(double v, uint32_t *doubt) {
    *doubt |= v != v;
    return num_f64_bits(v);
}

/* All ones where f has the flag: a condition on f alone keeps gcc from vectorising. */
APPROX_INLINE uint32_t approx_mask(unsigned f, unsigned flag) { return 0u - (f / flag & 1); }

/* A subnormal becomes a zero of its sign where .ftz asks for that. */
APPROX_INLINE uint32_t approx_flush(uint32_t a, unsigned f) {
    return a & 0x7f800000 ? a : a & ~(0x7fffffff & approx_mask(f, NUM_FTZ));
}
APPROX_INLINE float approx_operand(uint32_t a, unsigned f) { return approx_f32(approx_flush(a, f)); }

/* The end of a sum, product or quotient that the host has rounded to nearest. */
APPROX_INLINE uint32_t approx_finish(float v, unsigned f, uint32_t *doubt) {
    const uint32_t r = approx_bits(v), flushed = approx_flush(r, f);
    const float s = approx_f32(flushed);
    const uint32_t sat = approx_mask(f, NUM_SAT);
    *doubt |= (r & 0x7fffffff) == 0x00800000 ? f & NUM_FTZ : 0;
    const uint32_t clamped = s > 0 ? s < 1 ? flushed : 0x3f800000 : 0; /* NaN and -0 give +0 */
    return (clamped & sat) | (flushed & ~sat);
}

/* cvt.f32.f32 with .ftz, .sat */
APPROX_INLINE uint32_t approx_exact(uint32_t a, unsigned f) {
    uint32_t none = 0;
    return approx_finish(approx_operand(a, f), f, &none);
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
    const uint32_t keep = ~(0x80000000 & approx_mask(f, NUM_ABS)), xor = approx_mask(f, NUM_XORSIGN);
    const uint32_t x = approx_flush(a, f), y = approx_flush(b, f), sign = (x ^ y) & 0x80000000;
    const uint32_t u = x & keep, v = y & keep;
    const bool nu = (u & 0x7fffffff) > 0x7f800000, nv = (v & 0x7fffffff) > 0x7f800000;
    const int32_t ru = (int32_t)(u ^ ((uint32_t)((int32_t)u >> 31) & 0x7fffffff));
    const int32_t rv = (int32_t)(v ^ ((uint32_t)((int32_t)v >> 31) & 0x7fffffff));
    const uint32_t most = larger ? (ru > rv ? u : v) : (ru > rv ? v : u);
    const uint32_t d = nu ? v : nv ? u : most;
    const uint32_t signed_d = (d & ~(xor&0x80000000)) | (sign & xor);
    const uint32_t nans = (uint32_t)nu + nv + (approx_mask(f, NUM_NAN) & 1); /* 2: enough for a NaN */
    return ((nu | nv) & (nans > 1)) ? NUM_NAN_F32 : signed_d;
}

/* --- other roundings ---------------------------------------------------------------------------------------------- */

/* s, which was rounded to nearest and lost `lost`, rounded as r says. Doubtful: what .ftz may flush, and what is not
 * finite. */
APPROX_INLINE uint32_t approx_stepped(float s, float lost, num_round r, unsigned f, uint32_t *doubt) {
    const uint32_t bits = num_f32_bits(s), some = 0u - (uint32_t)(lost != 0), minus = 0u - (bits >> 31);
    const uint32_t over = 0u - ((num_f32_bits(lost) ^ bits) >> 31); /* its magnitude is too large */
    const uint32_t down = 0u - (uint32_t)(r == NUM_RM), up = 0u - (uint32_t)(r == NUM_RP);
    const uint32_t shrinks = over & ((0u - (uint32_t)(r == NUM_RZ)) | (down & ~minus) | (up & minus));
    const uint32_t grows = ~over & ((down & minus) | (up & ~minus));
    const uint32_t d = bits + (shrinks & some) - (grows & some), magnitude = d & 0x7fffffff;
    *doubt |= (magnitude - 1 < 0x00800000 ? f & NUM_FTZ : 0) | ((bits & 0x7f800000) == 0x7f800000);
    uint32_t none = 0;
    return approx_finish(approx_f32(d), f & NUM_SAT, &none);
}
APPROX_INLINE uint32_t approx_add_round(uint32_t a, uint32_t b, num_round r, unsigned f, uint32_t *doubt) {
    const float x = approx_operand(a, f), y = approx_operand(b, f), s = x + y, t = s - x;
    const uint32_t minus = (num_f32_bits(x) | num_f32_bits(y)) & (r == NUM_RM ? 0x80000000 : 0);
    const float zero = approx_f32(num_f32_bits(s) | minus); /* an exact sum */
    const float lost = (x - (s - t)) + (y - t);
    *doubt |= lost != lost; /* t overflows beside an operand near FLT_MAX */
    return approx_stepped(s == 0 ? zero : s, lost, r, f, doubt);
}
/* What a product loses is an f32, unless that is too small. */
APPROX_INLINE uint32_t approx_mul_round(uint32_t a, uint32_t b, num_round r, unsigned f, uint32_t *doubt) {
    const float x = approx_operand(a, f), y = approx_operand(b, f), s = x * y;
    *doubt |= ((num_f32_bits(s) & 0x7fffffff) < 0x0d800000) & (x != 0) & (y != 0); /* 2^-100 */
    return approx_stepped(s, __builtin_fmaf(x, y, -s), r, f, doubt);
}

/* The sum of a and b, of which the double has more bits than an f32 and a half, rounded as r says: the f32 next to the
 * double, or that before or after it. `signs`: theirs, for a sum of zero. Doubtful: what .ftz may flush. */
APPROX_INLINE uint32_t approx_directed(double a, double b, uint32_t signs, num_round r, unsigned f, uint32_t *doubt) {
    const double s = a + b, t = s - a, lost = (a - (s - t)) + (b - t), v = (double)(float)s;
    const uint32_t n = num_f32_bits((float)s), minus = 0u - (n >> 31);
    const uint32_t less = 0u - (uint32_t)((v > s) | ((v == s) & (lost < 0))); /* the sum than n */
    const uint32_t more = 0u - (uint32_t)((v < s) | ((v == s) & (lost > 0)));
    const uint32_t zero = 0u - (uint32_t)(r == NUM_RZ);
    const uint32_t down = less & ((0u - (uint32_t)(r == NUM_RM)) | (zero & ~minus));
    const uint32_t up = more & ((0u - (uint32_t)(r == NUM_RP)) | (zero & minus));
    const uint32_t nothing = 0u - (uint32_t)(s == 0), away = 1 | ~minus; /* to minus infinity: -1 or 1 */
    const uint32_t d = (n + (down & away) - (up & away)) | (nothing & signs & (r == NUM_RM ? 0x80000000 : 0));
    *doubt |= (d & 0x7fffffff) - 1 < 0x00800000 ? f & NUM_FTZ : 0;
    uint32_t none = 0;
    return approx_finish(approx_f32(d), f & NUM_SAT, &none);
}
APPROX_INLINE uint32_t approx_fma_round(uint32_t a, uint32_t b, uint32_t c, num_round r, unsigned f, uint32_t *doubt) {
    return approx_directed((double)approx_operand(a, f) * (double)approx_operand(b, f), (double)approx_operand(c, f),
                           (a ^ b) | c, r, f, doubt);
}

/* --- series ------------------------------------------------------------------------------------------------------- */

/* v as the nearest float, and a doubt where it is too near to the middle of two, or not a normal number by far. */
APPROX_INLINE uint32_t approx_round(double v, uint32_t *doubt) {
    const uint32_t d = num_f32_bits((float)v), rest = (uint32_t)num_f64_bits(v) & 0x1fffffff;
    *doubt |= (rest - (0x10000000 - 0x400) < 0x800) | ((d & 0x7fffffff) - 0x00800010 >= 0x7f800000 - 0x00800010);
    return d;
}

/* The integer nearest to v, |v| < 2^31, as a double and in the low bits of *k. */
APPROX_INLINE double approx_nearest(double v, uint64_t *k) {
    const double magic = 0x1.8p52, s = v + magic;
    *k = num_f64_bits(s);
    return s - magic;
}
/* 2^k, k an integer in low bits, -1022 to 1023. */
APPROX_INLINE double approx_power(uint64_t k) { return num_f64_from_bits((k + 1023) << 52); }

/* a + b x + c x^2 + d x^3, where q is x^2: short chains run side by side. */
APPROX_INLINE double approx_cubic(double x, double q, double a, double b, double c, double d) {
    return __builtin_fma(__builtin_fma(d, x, c), q, __builtin_fma(b, x, a));
}

/* Of values for which another result is chosen in the end anything may come out. */
APPROX_INLINE double approx_within(float x, float most) {
    const float low = x > -most ? x : -most;
    return (double)(low < most ? low : most);
}

/* (e^r - 1 - r) / r^2, |r| <= ln 2 / 2, up to r^12 / 12! */
APPROX_INLINE double approx_exp_tail(double r) {
    const double q = r * r, w = q * q;
    const double low = approx_cubic(r, q, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0);
    const double mid = approx_cubic(r, q, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0, 1.0 / 362880.0);
    const double high = __builtin_fma(q, 1.0 / 479001600.0, __builtin_fma(r, 1.0 / 39916800.0, 1.0 / 3628800.0));
    return __builtin_fma(__builtin_fma(high, w, mid), w, low);
}

#define APPROX_LN2 0x1.62e42fefa39efp-1

APPROX_INLINE uint32_t approx_ex2(uint32_t a, unsigned f, uint32_t *doubt) {
    const float x = approx_operand(a, f);
    const uint32_t bits = num_f32_bits(x), size = bits & 0x7fffffff, minus = 0 - (bits >> 31);
    const uint32_t least = 0x43170000 - (0x001b0000 & approx_mask(f, NUM_FTZ)); /* 151, 126 */
    const bool usual = size <= ((least & minus) | (0x42ffffff & ~minus));
    uint64_t k;
    uint32_t unsure = 0;
    const double v = approx_within(x, 152), n = approx_nearest(v, &k), r = (v - n) * APPROX_LN2;
    const double e = __builtin_fma(r * r, approx_exp_tail(r), r);
    const uint32_t d = approx_round(__builtin_fma(e, approx_power(k), approx_power(k)), &unsure);
    *doubt |= unsure & usual;
    const uint32_t beyond = size > 0x7f800000 ? NUM_NAN_F32 : 0x7f800000 & ~minus;
    return usual ? d : beyond;
}

/* tanh x = m / (m + 2), m = e^2x - 1 */
APPROX_INLINE uint32_t approx_tanh(uint32_t a, uint32_t *doubt) {
    const float x = approx_f32(a), size = approx_f32(a & 0x7fffffff);
    const bool one = size > 20, zero = size == 0; /* NaN is neither */
    uint64_t k;
    uint32_t unsure = 0;
    const double v = 2 * approx_within(x, 20);
    const double n = approx_nearest(v * 0x1.71547652b82fep+0, &k);
    const double r = __builtin_fma(n, -0x1.abc9e3b39803fp-56, __builtin_fma(n, -APPROX_LN2, v));
    const double e = __builtin_fma(r * r, approx_exp_tail(r), r), p = approx_power(k);
    const double m = __builtin_fma(e, p, p - 1);
    const uint32_t d = approx_round(m / (m + 2), &unsure);
    *doubt |= unsure & (size <= 20) & !zero;
    return x != x ? NUM_NAN_F32 : zero ? a : one ? (a & 0x80000000) | 0x3f800000 : d;
}

/* log2 of m * 2^n, m from root 1/2 to root 2: n + 2 / ln 2 * artanh z, z = (m - 1) / (m + 1) */
APPROX_INLINE uint32_t approx_lg2(uint32_t a, unsigned f, uint32_t *doubt) {
    const float x = approx_operand(a, f);
    const bool one = x == 1, plain = (x > 0) & (x <= 0x1.fffffep127f), usual = plain & (x != 1);
    const uint64_t bits = num_f64_bits((double)x);
    const uint64_t up = bits - num_f64_bits(0x1.6a09e667f3bcdp-1); /* from root 1/2 on the exponent counts one more */
    const int64_t n = (int64_t)up >> 52;
    const double m = num_f64_from_bits(bits - ((uint64_t)n << 52)), z = (m - 1) / (m + 1), q = z * z;
    const double w = q * q, u = w * w;
    const double low = approx_cubic(q, w, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0);
    const double mid = approx_cubic(q, w, 1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0);
    const double high = __builtin_fma(q, 1.0 / 21.0, 1.0 / 19.0);
    double s = __builtin_fma(__builtin_fma(high, u, mid), u, low);
    s = __builtin_fma(s * q, z, z);
    uint32_t unsure = 0;
    const double whole = num_f64_from_bits((uint64_t)n + num_f64_bits(0x1.8p52)) - 0x1.8p52;
    const uint32_t d = approx_round(__builtin_fma(s, 0x1.71547652b82fep+1, whole), &unsure);
    *doubt |= unsure & usual;
    const uint32_t special = x == 0 ? 0xff800000 : x > 0 ? 0x7f800000 : NUM_NAN_F32;
    return usual ? d : one ? 0 : special;
}

/* Multiples of pi / 2 are taken off, k of them; the quadrant says which series. */
APPROX_INLINE uint32_t approx_sine(uint32_t a, unsigned f, uint64_t quadrant, uint32_t *doubt) {
    const float x = approx_operand(a, f), size = approx_f32(num_f32_bits(x) & 0x7fffffff);
    const bool plain = size < 0x1p20f;
    uint64_t k;
    const double v = (double)x, n = approx_nearest(v * 0x1.45f306dc9c883p-1, &k);
    const double r = __builtin_fma(n, -0x1.1a62633145c07p-54, __builtin_fma(n, -0x1.921fb54442d18p+0, v));
    const double q = r * r;
    const double w = q * q, w2 = w * w;
    const double s_low = approx_cubic(q, w, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0);
    const double s_high =
        approx_cubic(q, w, -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0);
    const double s = __builtin_fma(__builtin_fma(s_high, w2, s_low) * q, r, r);
    const double c_low = approx_cubic(q, w, -0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0);
    const double c_high =
        approx_cubic(q, w, -1.0 / 3628800.0, 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0);
    const double c = __builtin_fma(__builtin_fma(c_high, w2, c_low), q, 1.0);
    const uint64_t at = k + quadrant;
    const uint64_t bits = (at & 1 ? num_f64_bits(c) : num_f64_bits(s)) ^ (at & 2) << 62;
    uint32_t unsure = 0;
    const uint32_t d = approx_round(num_f64_from_bits(bits), &unsure);
    const bool zero = size == 0;
    *doubt |= (unsure | !plain) & !zero;
    return zero ? quadrant ? 0x3f800000 : num_f32_bits(x) : d;
}

/* 1 / root a: the host's root and quotient are correctly rounded, as num/'s are. */
APPROX_INLINE uint32_t approx_rsqrt(uint32_t a, unsigned f) {
    const double v = 1.0 / __builtin_sqrt((double)approx_operand(a, f));
    return approx_bits((float)v);
}

#endif
