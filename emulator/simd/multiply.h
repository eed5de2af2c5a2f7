/* simd/multiply.h - the inner loops of tcgen05.mma.
 *
 * Numerics, the same bits on every host and path, each step rounded to nearest f32, subnormals kept; a NaN result is
 * 0x7fffffff. acc = D * 2^-scale or 0; then
 *  - f16 and tf32, and what stands beside them: for k ascending acc = fma(a, b, acc);
 *  - types of at most 8 significant bits (bf16, fp8, fp6, fp4): for each 16 k of bf16, 32 of the others, which is what
 *    an operation has or half of it, even = fma(a, b, even) for even k ascending from +0, odd likewise, and
 *    acc = acc + (even + odd). So sum matrix units that take bf16 (Intel AMX), but for subnormals.
 * Products of f16, fp8, fp6, fp4 and 8-bit integers are exact in f32, and so are those of bf16 and tf32 unless they
 * leave f32's range, so a separate multiplication gives the same bits; only where it might not does the portable loop
 * call fmaf. NVIDIA does not document how the chip sums; what others found is fused.h's.
 */
#ifndef SIMD_MULTIPLY_H
#define SIMD_MULTIPLY_H

#include "simd/simd.h"

#include <stddef.h>
#include <stdint.h>

#define SIMD_SEGMENT 16u   /* rows that are neighbours both in the matrix and in memory */
#define SIMD_MAX_ROWS 256u /* of an operand */

struct simd_tile {
    uint32_t *d; /* bits of f32: element (row, n) at d[n * d_stride + lane[row / 16] + row % 16] */
    uint32_t d_stride;
    uint32_t lane[8];          /* where each segment begins in a column of D */
    uint32_t segments;         /* M / 16: 4 or 8 */
    uint32_t n, k;             /* n is a multiple of 8 */
    uint32_t step;             /* 16 or 32 k: even and odd ones are summed apart; k is a multiple. 0: one sum */
    const float *a;            /* element (row, k) at simd_tile_a */
    const float *b;            /* element (n, k) at simd_tile_b */
    bool tiles;                /* A and B are rows of struct simd_amx instead, only with a step */
    uint32_t tiles_a, tiles_b; /* the first of them, multiples of 16 */
    bool accumulate;           /* else D is not read */
    float scale;               /* factor of D when it is */
    bool exact_products;       /* every product is representable in f32 */
};

/* Operands are laid out for SIMD_MAX_K elements along K, of which a product has the first k. A: panels of 64 rows that
 * are neighbours for each k. B: rows along K, a cache line apart more than a power of two. */
#define SIMD_MAX_K 128u
#define SIMD_PANEL 64u
#define SIMD_A_STRIDE SIMD_MAX_K         /* elements that a row takes */
#define SIMD_B_STRIDE (SIMD_MAX_K + 16u) /* the same */
static inline size_t simd_tile_a(uint32_t row, uint32_t k) {
    return ((size_t)(row / SIMD_PANEL) * SIMD_MAX_K + k) * SIMD_PANEL + row % SIMD_PANEL;
}
static inline size_t simd_tile_b(uint32_t n, uint32_t k) { return (size_t)n * SIMD_B_STRIDE + k; }

/* `simd`: one that this host has; of SIMD_AMX only its vector unit is used. */
void simd_multiply(enum simd simd, const struct simd_tile *t);
/* Bits of f32 to bits of f16, to nearest even; NaN is 0x7fff. */
void simd_narrow_f16(const uint32_t *from, uint32_t *to, uint32_t n);

#endif
