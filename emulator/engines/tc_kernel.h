/* engines/tc_kernel.h - the inner loops of tcgen05.mma.
 *
 * Numerics, the same bits on every host and path, each step rounded to nearest f32, subnormals kept; a NaN result is
 * 0x7fffffff. acc = D * 2^-scale or 0; then
 *  - f16 and tf32, and what stands beside them: for k ascending acc = fma(a, b, acc);
 *  - types of at most 8 significant bits (bf16, fp8, fp6, fp4): for each 16 k of bf16, 32 of the others, which is what
 *    an operation has or half of it, even = fma(a, b, even) for even k ascending from +0, odd likewise, and
 *    acc = acc + (even + odd). So sum matrix units that take bf16 (Intel AMX), but for subnormals.
 * Products of f16, fp8, fp6, fp4 and 8-bit integers are exact in f32, and so are those of bf16 and tf32 unless they leave
 * f32's range, so a separate multiplication gives the same bits; only where it might not does the portable loop call fmaf.
 * The order in which the chip sums, and its width while it does, are not documented.
 */
#ifndef ENGINES_TC_KERNEL_H
#define ENGINES_TC_KERNEL_H

#include "engines/tc.h"

#define TC_SEGMENT 16u /* rows that are neighbours both in the matrix and in tensor memory's lanes */

struct tc_tile {
    uint32_t *d; /* bits of f32: element (row, n) at d[n * d_stride + lane[row / 16] + row % 16] */
    uint32_t d_stride;
    uint32_t lane[8];          /* first lane of each segment */
    uint32_t segments;         /* M / 16: 4 or 8 */
    uint32_t n, k;             /* n is a multiple of 8 */
    uint32_t step;             /* k in each of them: even and odd k are summed apart; k is a multiple. 0: one sum */
    const float *a;            /* element (row, k) at tc_tile_a */
    const float *b;            /* element (n, k) at tc_tile_b */
    bool tiles;                /* A and B are rows of struct tc_amx instead, only with a step */
    uint32_t tiles_a, tiles_b; /* the first of them, multiples of 16 */
    bool accumulate;           /* else D is not read */
    float scale;               /* factor of D when it is */
    bool exact_products;       /* every product is representable in f32 */
};

#define TC_MAX_ROWS 256u

/* Where the 16-byte units of a K-major matrix lie in shared memory, by groups of 8 rows: two of each row of group g at
 * g * stride + unit[g * list], 16 offsets. Groups that are alike share one list (list 0), others have one each (list 16,
 * stride 0). */
struct tc_groups {
    const uint32_t *unit;
    uint32_t list, stride;
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

/* `simd`: one that this host has; of TC_SIMD_AMX only its vector unit is used. */
void tc_kernel_run(enum tc_simd simd, const struct tc_tile *t);
/* Can this host run `simd`, and which is the best? They ask CPU and kernel, which is slow in a virtual machine. */
bool tc_simd_available(enum tc_simd simd);
enum tc_simd tc_simd_best(void);

/* --- by the host's matrix unit (tc_amx.c) ---
 *
 * Operands whose sums go by steps are one bf16 part each, and the unit gives the bits of the numerics above. It takes a
 * subnormal for 0, in and out. So all that is not 0 must be at least 2^-126 among the elements; 2^-103 in D, whose last
 * bit is then worth 2^-126; and of the products' last bits, 2^-14 times the smallest of A times the smallest of B, the
 * same. Then no sum can be subnormal. Otherwise the other loops have to do it.
 *
 * --umma=fast: operands of 11 bits (f16, tf32) are split into two bf16 parts; all products of parts are formed, and each
 * is exact. What differs from the numerics above is the order of summation: even and odd k of 32 are summed apart, then
 * added to D, one product of parts after the other; and subnormals: those of bf16 and of every sum are 0. So for an
 * element of D, with u = 2^-24 and P the products of parts (2 or 4),
 *     |fast - exact| <= (K + 17 + P K / 32) u (|D| + sum |a b|) (1 + 2^-10) + 2^-126 (4 P K + sum |a| + |b|)
 * where nothing is infinite and no sum leaves f32's range. An infinity or NaN among these operands, and a scaled D, are
 * left to the other loops. */

/* f32 bits of the smallest number but 0, less 1, and of the largest (not kept of tiles); without signs. */
struct tc_range {
    uint32_t low, high;
};
/* Working memory: tiles of 16 rows and 32 elements along K, those of 16 rows behind each other. A tile of A is pairs along
 * K, each of 16 rows; A is 256 rows, or 128 in two parts. A tile of B is rows along K; B has room for two parts. */
struct tc_amx {
    _Alignas(64) uint16_t a[TC_MAX_ROWS * TC_CHAIN_K];
    _Alignas(64) uint16_t b[TC_MAX_ROWS * TC_CHAIN_K * 2];
    struct tc_range range_a, range_b;
};
/* Does the host have it, and may this process use it? Asks CPU and kernel. */
bool tc_amx_available(void);
/* False: not for these operands, D is as it was. K is even; with t->step both have one part, otherwise it is --umma=fast.
 * same_b: B is that of the call before, with this k and n. */
bool tc_amx_run(const struct tc_tile *t, unsigned parts_a, unsigned parts_b, bool same_b, struct tc_amx *work);
/* Operands of bf16 may become tiles without being numbers in between. begin: there are none. gather: 16 elements along K
 * from k on, of `rows` rows of smem, from row `row` of A (a multiple of 16, and so is `rows`) or B (of 8) on. unpack:
 * numbers at `a` and `b` after all, for a tile that tc_amx_run refused. */
void tc_amx_begin(struct tc_amx *work);
void tc_amx_gather_a(struct tc_amx *work, const uint8_t *smem, const struct tc_groups *g, uint32_t row, uint32_t rows,
                     uint32_t k);
void tc_amx_gather_b(struct tc_amx *work, const uint8_t *smem, const struct tc_groups *g, uint32_t row, uint32_t rows,
                     uint32_t k);
void tc_amx_unpack(const struct tc_amx *work, const struct tc_tile *t, float *a, float *b);

#endif
