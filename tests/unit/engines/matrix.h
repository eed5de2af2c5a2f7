/* matrix.h - matrices in shared memory by the canonical layouts of PTX ISA 9.7.16.3.3, written as CuTe
 * layouts over elements and independent of the emulator's own addressing, and the bits of their elements.
 */
#ifndef TESTS_ENGINES_MATRIX_H
#define TESTS_ENGINES_MATRIX_H

#include "engines/tc_desc.h"
#include "fixture.h"
#include "num/num.h"

/* Swizzle<B, M, S> of cute/swizzle.hpp on a byte address. */
static inline uint32_t cute_swizzle(uint32_t b, uint32_t m, uint32_t s, uint32_t x) {
    uint32_t source = ((1u << b) - 1) << (m + s);
    return x ^ (x & source) >> s;
}

struct matrix {
    enum tc_elem elem;
    bool mn_major;
    enum tc_swizzle swizzle;
    uint32_t start, lbo, sbo; /* bytes */
};

static inline uint32_t elem_bytes(enum tc_elem e) { return e == TC_TF32 ? 4 : e <= TC_BF16 ? 2 : 1; }
static inline uint32_t elem_bits(enum tc_elem e) {
    return e == TC_TF32 ? 32 : e <= TC_BF16 ? 16 : e == TC_E2M1 ? 4 : e == TC_E2M3 || e == TC_E3M2 ? 6 : 8;
}

/* Linear byte offset from the start, before swizzling. */
static inline uint32_t linear(const struct matrix *x, uint32_t mn, uint32_t k) {
    uint32_t e = elem_bytes(x->elem), T = 16 / e, w;
    switch (x->swizzle) {
    case TC_SW_32B:
        w = 2;
        break;
    case TC_SW_64B:
        w = 4;
        break;
    case TC_SW_NONE:
        w = 1;
        break;
    default:
        w = 8;
    }
    if (!x->mn_major) {
        if (x->swizzle == TC_SW_NONE) /* ((8,m),(T,2k)):((1T,SBO),(1,LBO)) */
            return mn % 8 * T * e + mn / 8 * x->sbo + k % T * e + k / T * x->lbo;
        return mn % 8 * w * T * e + mn / 8 * x->sbo + k * e; /* ((8,m),(T,2k)):((wT,SBO),(1,T)) */
    }
    if (x->swizzle == TC_SW_NONE) /* ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO)) */
        return mn % T * e + mn / T * x->sbo + k % 8 * T * e + k / 8 * x->lbo;
    uint32_t r = x->swizzle == TC_SW_128B_32B ? 4 : 8; /* ((T,w,m),(r,k)):((1,T,LBO),(wT,SBO)) */
    return mn % (w * T) * e + mn / (w * T) * x->lbo + k % r * w * T * e + k / r * x->sbo;
}

static inline uint32_t place(const struct matrix *x, uint32_t mn, uint32_t k) {
    uint32_t a = x->start + linear(x, mn, k);
    switch (x->swizzle) {
    case TC_SW_128B_32B:
        return cute_swizzle(2, 5, 2, a);
    case TC_SW_128B:
        return cute_swizzle(3, 4, 3, a);
    case TC_SW_64B:
        return cute_swizzle(2, 4, 3, a);
    case TC_SW_32B:
        return cute_swizzle(1, 4, 3, a);
    case TC_SW_NONE:
        break;
    }
    return a;
}

static inline void put_bits(uint8_t *p, uint32_t at, uint32_t bits, uint32_t value) {
    for (uint32_t i = 0; i < bits; i++, at++)
        p[at / 8] = (uint8_t)((p[at / 8] & ~(1u << (at % 8))) | (value >> i & 1) << (at % 8));
}

/* Writes an element, marking its bits' bytes as written: 4- and 6-bit ones are packed at the front of 16-byte
 * units. */
static inline void put(struct cta *cta, const struct matrix *x, uint32_t mn, uint32_t k, uint32_t code) {
    uint32_t bits = elem_bits(x->elem), a = place(x, mn, k);
    uint32_t bit = bits >= 8 ? a * 8 : (a & ~15u) * 8 + (a & 15) * bits;
    put_bits(cta->smem, bit, bits, code);
    smem_clear_poison(cta, bit / 8, (bit + bits - 1) / 8 - bit / 8 + 1);
}

static inline uint64_t descriptor(const struct matrix *x, uint32_t advance) {
    return (uint64_t)((x->start + advance) >> 4) | (uint64_t)(x->lbo >> 4) << 16 | (uint64_t)(x->sbo >> 4) << 32 |
           1ull << 46 | (uint64_t)x->swizzle << 61;
}

static inline double value_of(enum tc_elem e, uint32_t code) {
    static const num_type types[] = {NUM_F16, NUM_BF16, NUM_TF32, NUM_E4M3, NUM_E5M2, NUM_E2M3, NUM_E3M2, NUM_E2M1};
    if (e == TC_U8)
        return (uint8_t)code;
    if (e == TC_S8)
        return (int8_t)code;
    return num_decode(types[e], code);
}

/* acc and the products x[k] * y[k], in the order that simd/multiply.h states for operands of these types. */
static inline float sum_products(enum tc_elem a, enum tc_elem b, const float *x, const float *y, uint32_t count,
                                 float acc) {
    const bool wide = a == TC_F16 || a == TC_TF32 || b == TC_F16 || b == TC_TF32;
    const uint32_t step = a == TC_BF16 ? 16 : 32;
    for (uint32_t k = 0; wide && k < count; k++)
        acc = fmaf(x[k], y[k], acc);
    for (uint32_t k = 0; !wide && k < count; k += step) {
        float sum[2] = {0, 0};
        for (uint32_t i = k; i < k + step; i++)
            sum[i % 2] = fmaf(x[i], y[i], sum[i % 2]);
        acc += sum[0] + sum[1];
    }
    return acc;
}

#endif
