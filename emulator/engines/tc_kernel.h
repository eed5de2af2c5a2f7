/* engines/tc_kernel.h - the inner loops of tcgen05.mma.
 *
 * Numerics, the same bits on every host and path: for each element, acc = D * 2^-scale or 0; then for k
 * ascending acc = fma(a, b, acc), one rounding to nearest f32 a step, subnormals kept; a NaN result is
 * 0x7fffffff. Products of f16, fp8, fp6, fp4 and 8-bit integers are exact in f32, and so are those of bf16
 * and tf32 unless they leave f32's range, so a separate multiplication gives the same bits; only where it
 * might not does the portable loop call fmaf. The order in which the chip sums, and its width while it does,
 * are not documented.
 */
#ifndef ENGINES_TC_KERNEL_H
#define ENGINES_TC_KERNEL_H

#include "engines/tc.h"

#define TC_SEGMENT 16u /* rows that are neighbours both in the matrix and in tensor memory's lanes */

struct tc_tile {
    uint32_t *d; /* bits of f32: element (row, n) at d[n * d_stride + lane[row / 16] + row % 16] */
    uint32_t d_stride;
    uint32_t lane[8];    /* first lane of each segment */
    uint32_t segments;   /* M / 16: 4 or 8 */
    uint32_t n, k;       /* n is a multiple of 8 */
    const float *a;      /* element (row, k) at tc_tile_a */
    const float *b;      /* element (n, k) at tc_tile_b */
    bool accumulate;     /* else D is not read */
    float scale;         /* factor of D when it is */
    bool exact_products; /* every product is representable in f32 */
};

/* Operands are laid out for TC_CHAIN_K elements along K, of which a product has the first k. A: panels of 64 rows that
 * are neighbours for each k. B: rows along K, a cache line apart more than a power of two. */
#define TC_CHAIN_K 256u
#define TC_PANEL 64u
#define TC_A_STRIDE TC_CHAIN_K         /* elements that a row takes */
#define TC_B_STRIDE (TC_CHAIN_K + 16u) /* the same */
static inline size_t tc_tile_a(uint32_t row, uint32_t k) {
    return ((size_t)(row / TC_PANEL) * TC_CHAIN_K + k) * TC_PANEL + row % TC_PANEL;
}
static inline size_t tc_tile_b(uint32_t n, uint32_t k) { return (size_t)n * TC_B_STRIDE + k; }

/* `simd`: one that this host has. */
void tc_kernel_run(enum tc_simd simd, const struct tc_tile *t);
/* Can this host run `simd`, and which is the best? They ask the CPU, which is slow in a virtual machine. */
bool tc_simd_available(enum tc_simd simd);
enum tc_simd tc_simd_best(void);

#endif
