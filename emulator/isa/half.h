/* isa/half.h - f16 and bf16 without branches, so that loops over lanes vectorise.
 *
 * Same values as num/'s num_decode and num_encode with NUM_RN. `man` and `bias` are the format's mantissa bits and
 * exponent bias: 10 and 15 for f16, 7 and 127 for bf16.
 */
#ifndef ISA_HALF_H
#define ISA_HALF_H

#include "num/num.h"

/* A code exactly as a double; `man` mantissa bits of the format. NaN and infinity keep their class. */
static inline double half_value(uint16_t a, int man) {
    const uint32_t magnitude = (uint32_t)(a & 0x7fff) << (23 - man);
    /* f16's exponents are 112 below f32's; the product is exact for subnormals too */
    const float scaled = num_f32_from_bits(magnitude) * (man == 10 ? 0x1p112f : 1.0f);
    const float v = man == 10 && magnitude >= 0x0f800000 ? num_f32_from_bits(magnitude | 0x7f800000) : scaled;
    return a & 0x8000 ? -(double)v : (double)v;
}

/* The code nearest to v, ties to even. Below the normal range adding a power of two leaves the rounded multiple of the
 * smallest subnormal in the low bits; above it the mantissa is rounded in place and a carry runs into the exponent. */
static inline uint16_t half_nearest(double v, int man, int bias) {
    const uint64_t bits = num_f64_bits(v), magnitude = bits & ~(UINT64_C(1) << 63);
    const int drop = 52 - man;
    const uint64_t least = (uint64_t)(1024 - bias) << 52, inf = 0x7fff >> man << man;
    const double unit = num_f64_from_bits((uint64_t)(1076 - bias - man) << 52);
    const uint64_t small = num_f64_bits(num_f64_from_bits(magnitude) + unit) - num_f64_bits(unit);
    const uint64_t rounded = magnitude + ((UINT64_C(1) << (drop - 1)) - 1) + (magnitude >> drop & 1);
    const uint64_t normal = (rounded - ((uint64_t)(1023 - bias) << 52)) >> drop;
    const uint64_t code = magnitude < least ? small : normal > inf ? inf : normal;
    return v != v ? 0x7fff : (uint16_t)(code | (bits >> 48 & 0x8000));
}

/* The code nearest to an f32, ties to even, of a format of `man` mantissa bits below 11; without its sign, and
 * unbounded. As half_nearest, in 32 bits. */
static inline uint32_t half_magnitude(uint32_t magnitude, int man, int bias) {
    const int drop = 23 - man;
    const uint32_t least = (uint32_t)(128 - bias) << 23, magic = (uint32_t)(151 - bias - man) << 23;
    const uint32_t small = num_f32_bits(num_f32_from_bits(magnitude) + num_f32_from_bits(magic)) - magic;
    const uint32_t rounded = magnitude + ((UINT32_C(1) << (drop - 1)) - 1) + (magnitude >> drop & 1);
    return magnitude < least ? small : (rounded - ((uint32_t)(127 - bias) << 23)) >> drop;
}
static inline uint32_t half_f16_of_f32(uint32_t a) {
    const uint32_t magnitude = a & 0x7fffffff, code = half_magnitude(magnitude, 10, 15);
    return magnitude > 0x7f800000 ? 0x7fff : (code > 0x7c00 ? 0x7c00 : code) | (a >> 16 & 0x8000);
}
/* An f16 as f32 bits; NaN keeps its class. */
static inline uint32_t half_f32_of_f16(uint32_t a) {
    const uint32_t magnitude = (a & 0x7fff) << 13;
    const uint32_t v = num_f32_bits(num_f32_from_bits(magnitude) * 0x1p112f);
    return (magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : v) | (a & 0x8000) << 16;
}
/* e4m3 (man 3) or e5m2 (man 2) of an f32: .satfinite, and .relu. */
static inline uint32_t half_f8_of_f32(uint32_t a, int man, bool relu) {
    const uint32_t most = man == 3 ? 0x7e : 0x7b, magnitude = a & 0x7fffffff, sign = a >> 24 & 0x80;
    const uint32_t code = half_magnitude(magnitude, man, man == 3 ? 7 : 15), capped = code > most ? most : code;
    return magnitude > 0x7f800000 ? 0x7f : (relu & (sign != 0)) ? 0 : capped | sign;
}
/* e2m1 of an f32: .satfinite, and .relu; a NaN is the largest. */
static inline uint32_t half_e2m1_of_f32(uint32_t a, bool relu) {
    const uint32_t magnitude = a & 0x7fffffff, sign = a >> 28 & 8, code = half_magnitude(magnitude, 1, 1);
    return magnitude > 0x7f800000 ? 7 : (relu & (sign != 0)) ? 0 : (code > 7 ? 7 : code) | sign;
}
/* ue8m0 of an f32's magnitude, rounded down or up; the code 0 is 2^-127, a subnormal number. */
static inline uint32_t half_ue8m0_of_f32(uint32_t a, bool up, bool satfinite) {
    const uint32_t magnitude = a & 0x7fffffff, more = magnitude < 0x00800000 ? 0x3fffff : 0x7fffff;
    const uint32_t code = (magnitude + (up ? more : 0)) >> 23, most = satfinite ? 0xfe : 0xff;
    return magnitude > 0x7f800000 ? 0xff : code > most ? most : code;
}
/* bf16 of ue8m0. */
static inline uint32_t half_bf16_of_ue8m0(uint32_t a) { return a == 0xff ? 0x7fff : a ? a << 7 : 0x40; }
/* f16 of an 8-bit float, which is exact. */
static inline uint32_t half_f16_of_f8(uint32_t a, int man, bool relu) {
    const uint32_t magnitude = a & 0x7f, sign = (a & 0x80) << 8;
    const uint32_t v = num_f32_bits(num_f32_from_bits(magnitude << 20) * 0x1p120f); /* e4m3: normal in f16, or zero */
    const uint32_t code = man == 2 ? magnitude << 8 : magnitude ? (v >> 13) - (112 << 10) : 0;
    return magnitude > (man == 2 ? 0x7cu : 0x7eu) ? 0x7fff : (relu & (sign != 0)) ? 0 : code | sign;
}

#define HALF_INLINE static inline __attribute__((always_inline)) /* vectorised or not, the rest is small */

/* --- f16 arithmetic in f32, with .ftz, .sat, .relu: num/arith.c --------------------------------------------------- */

/* All ones where f has the flag: a condition on f alone keeps gcc from vectorising. */
HALF_INLINE uint32_t half_mask(unsigned f, unsigned flag) { return 0u - (f / flag & 1); }

HALF_INLINE uint32_t half_flush(uint32_t a, uint32_t inf, unsigned f) {
    return a & inf ? a : a & ~(0x7fff & half_mask(f, NUM_FTZ));
}
/* p + c in f32, rounded to odd: enough for one rounding to f16. Both are multiples of 2^-48 below 2^33. */
HALF_INLINE uint32_t half_sum_odd(float p, float c) {
    const float s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    const uint32_t bits = num_f32_bits(s), some = 0u - (uint32_t)__builtin_islessgreater(lost, 0); /* no NaN */
    const uint32_t up = (uint32_t)((int32_t)(num_f32_bits(lost) ^ bits) >> 31);
    return (bits + (up & some)) | (some & 1);
}
/* The end of a result, before it is made a code: what .ftz flushes is below the least normal number after a rounding
 * without a lower end of the exponent. */
HALF_INLINE uint32_t half_finish_f16(uint32_t odd, unsigned f) {
    const uint32_t sat = half_mask(f, NUM_SAT), drop = 0x80000000 & (sat | half_mask(f, NUM_RELU));
    const uint32_t least = 0x387ff000 & half_mask(f, NUM_FTZ); /* 2^-14 - 2^-26 */
    const uint32_t magnitude = odd & 0x7fffffff, most = 0xffffffff & ~(0xc07fffff & sat);
    const uint32_t flushed = magnitude < least ? odd & 0x80000000 : odd;
    const uint32_t positive = flushed & drop ? 0 : flushed > most ? most : flushed;
    return magnitude > 0x7f800000 ? 0x7fffffff & ~sat : positive;
}
/* An operand, subnormals flushed. */
HALF_INLINE float half_operand_f16(float a, unsigned f) {
    const uint32_t bits = num_f32_bits(a), magnitude = bits & 0x7fffffff;
    return num_f32_from_bits(magnitude < (0x38800000 & half_mask(f, NUM_FTZ)) ? bits & 0x80000000 : bits);
}
HALF_INLINE uint32_t half_add_f16(float a, float b, unsigned f) {
    return half_finish_f16(half_sum_odd(half_operand_f16(a, f), half_operand_f16(b, f)), f);
}
HALF_INLINE uint32_t half_sub_f16(float a, float b, unsigned f) { return half_add_f16(a, -b, f); }
HALF_INLINE uint32_t half_mul_f16(float a, float b, unsigned f) {
    return half_finish_f16(num_f32_bits(half_operand_f16(a, f) * half_operand_f16(b, f)), f);
}
HALF_INLINE uint32_t half_fma_f16(float a, float b, float c, unsigned f) {
    return half_finish_f16(half_sum_odd(half_operand_f16(a, f) * half_operand_f16(b, f), half_operand_f16(c, f)), f);
}

/* --- bf16 arithmetic in f32, with .relu --------------------------------------------------------------------------- */

HALF_INLINE uint32_t half_bf16_of_f32(uint32_t a) {
    const uint32_t magnitude = a & 0x7fffffff, code = (magnitude + 0x7fff + (magnitude >> 16 & 1)) >> 16;
    return magnitude > 0x7f800000 ? 0x7fff : code | (a >> 16 & 0x8000);
}
HALF_INLINE uint32_t half_finish_bf16(uint32_t odd, unsigned f) {
    const uint32_t code = half_bf16_of_f32(odd);
    return code & 0x8000 & half_mask(f, NUM_RELU) ? 0 : code;
}
/* The product, which an f32 has room for; doubtful where it is too large or too small. */
HALF_INLINE float half_product_bf16(uint32_t a, uint32_t b, uint32_t *doubt) {
    const float p = num_f32_from_bits(a << 16) * num_f32_from_bits(b << 16);
    const uint32_t least = 0x0d800000, most = 0x7f000000; /* 2^-100, 2^127 */
    const bool far = (num_f32_bits(p) & 0x7fffffff) - least >= most - least;
    const bool number = ((a & 0x7fff) - 1 < 0x7f7f) & ((b & 0x7fff) - 1 < 0x7f7f); /* of others it is exact */
    *doubt |= far & number;
    return p;
}
HALF_INLINE uint32_t half_add_bf16(uint32_t a, uint32_t b, unsigned f, uint32_t *doubt) {
    (void)doubt;
    return half_finish_bf16(half_sum_odd(num_f32_from_bits(a << 16), num_f32_from_bits(b << 16)), f);
}
HALF_INLINE uint32_t half_sub_bf16(uint32_t a, uint32_t b, unsigned f, uint32_t *doubt) {
    return half_add_bf16(a, b ^ 0x8000, f, doubt);
}
HALF_INLINE uint32_t half_mul_bf16(uint32_t a, uint32_t b, unsigned f, uint32_t *doubt) {
    return half_finish_bf16(num_f32_bits(half_product_bf16(a, b, doubt)), f);
}
HALF_INLINE uint32_t half_fma_bf16(uint32_t a, uint32_t b, uint32_t c, unsigned f, uint32_t *doubt) {
    return half_finish_bf16(half_sum_odd(half_product_bf16(a, b, doubt), num_f32_from_bits(c << 16)), f);
}

/* --- .approx functions of f16 and bf16, in f32: num/approx.c; the tests compare all codes ------------------------- */

/* The code of an f32 in the format, to nearest. */
HALF_INLINE uint32_t half_of_f32(uint32_t a, bool bf16) { return bf16 ? half_bf16_of_f32(a) : half_f16_of_f32(a); }
HALF_INLINE float half_f32(uint32_t a, bool bf16) { return num_f32_from_bits(bf16 ? a << 16 : half_f32_of_f16(a)); }

/* (e^r - 1) / r, |r| <= ln 2 / 2 */
HALF_INLINE float half_exp_tail(float r) {
    const float q = r * r, low = __builtin_fmaf(r, 0.5f, 1.0f), mid = __builtin_fmaf(r, 1 / 24.0f, 1 / 6.0f),
                high = __builtin_fmaf(r, 1 / 720.0f, 1 / 120.0f);
    return __builtin_fmaf(__builtin_fmaf(__builtin_fmaf(q, 1 / 5040.0f, high), q, mid), q, low);
}
/* The integer nearest to v, |v| < 2^22; 2^k of it, -126 to 127. */
HALF_INLINE float half_integer(float v) { return (v + 0x1.8p23f) - 0x1.8p23f; }
HALF_INLINE float half_power(float n) {
    return num_f32_from_bits((num_f32_bits(n + 0x1.8p23f) - num_f32_bits(0x1.8p23f) + 127) << 23);
}

/* Of bf16 with .ftz, as all its forms have; of f16 no result is too small for an f32. No result but of an integer is
 * the middle of two codes: what an f32 says is there is above it. */
HALF_INLINE float half_ex2(float x, bool bf16) {
    const float least = bf16 ? -126 : -32, most = bf16 ? 128 : 32, low = x > least ? x : least;
    const float v = low < most ? low : most, n = half_integer(v), r = (v - n) * 0x1.62e43p-1f;
    const bool top = bf16 & (n > 127); /* a power that is no number: by halves */
    const float half = __builtin_fmaf(r * 0.5f, half_exp_tail(r), 0.5f);
    const float power = half * half_power(top ? 127 : n) * (top ? 4 : 2);
    const uint32_t above = num_f32_bits(power) | (r != 0), d = (bf16 & (x < least)) ? 0 : above;
    return num_f32_from_bits(x == x ? d : NUM_NAN_F32);
}

/* tanh x = m / (m + 2), m = e^2x - 1; of a small x the code is x's own: x^3 / 3 is less than half of its last bit. */
HALF_INLINE float half_tanh(float x, bool bf16) {
    (void)bf16;
    const uint32_t bits = num_f32_bits(x), sign = bits & 0x80000000;
    const float size = num_f32_from_bits(bits ^ sign), v = size < 10 ? 2 * size : 20;
    const float n = half_integer(v * 0x1.715476p+0f), p = half_power(n);
    const float r = __builtin_fmaf(n, 0x1.bd0106p-13f, __builtin_fmaf(n, -0x1.63p-1f, v));
    const float m = __builtin_fmaf(r * half_exp_tail(r), p, p - 1), d = size < 0x1p-7f ? size : m / (m + 2);
    return x == x ? num_f32_from_bits(num_f32_bits(d) | sign) : num_f32_from_bits(NUM_NAN_F32);
}

/* --- sign and order of f16 (inf 0x7c00) and bf16 (0x7f80): num/order.c -------------------------------------------- */

HALF_INLINE uint32_t half_abs(uint32_t a, uint32_t inf, unsigned f) {
    return (a & 0x7fff) > inf ? 0x7fff : half_flush(a, inf, f) & 0x7fff;
}
HALF_INLINE uint32_t half_neg(uint32_t a, uint32_t inf, unsigned f) {
    return (a & 0x7fff) > inf ? 0x7fff : half_flush(a, inf, f) ^ 0x8000;
}
HALF_INLINE uint32_t half_pick(uint32_t a, uint32_t b, uint32_t inf, unsigned f, bool larger) {
    const uint32_t keep = ~(0x8000 & half_mask(f, NUM_ABS)), xor = half_mask(f, NUM_XORSIGN);
    const uint32_t x = half_flush(a, inf, f), y = half_flush(b, inf, f), sign = (x ^ y) & 0x8000;
    const uint32_t u = x & keep, v = y & keep;
    const bool nu = (u & 0x7fff) > inf, nv = (v & 0x7fff) > inf;
    const uint32_t ru = u & 0x8000 ? ~u & 0xffff : u | 0x8000, rv = v & 0x8000 ? ~v & 0xffff : v | 0x8000;
    const uint32_t most = larger ? (ru > rv ? u : v) : (ru > rv ? v : u);
    const uint32_t d = nu ? v : nv ? u : most, signed_d = (d & ~(xor&0x8000)) | (sign & xor);
    const uint32_t nans = (uint32_t)nu + nv + (half_mask(f, NUM_NAN) & 1); /* 2: enough for a NaN */
    return ((nu | nv) & (nans > 1)) ? 0x7fff : signed_d;
}

#endif
