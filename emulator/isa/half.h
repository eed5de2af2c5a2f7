/* isa/half.h - f16 and bf16 without branches, so that loops over lanes vectorise: the forms without .ftz, .sat, .relu.
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

#endif
