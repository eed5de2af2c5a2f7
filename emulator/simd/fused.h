/* simd/fused.h - the inner loops of tcgen05.mma with the bits of a B200 (--umma=b200).
 *
 * One instruction, for each element of D. Its `step` products along K and D are numbers (significand, exponent):
 *  - a product is not normalised: its significand is the product of its operands' (below 4), its exponent the sum of
 *    theirs and of its scale factors'. A subnormal counts its type's least exponent, with a significand below 1.
 *  - Zeros, of products and of D, take no part. The others are aligned to the greatest exponent E among them, which is
 *    at least -133 (for f16: -21), and cut toward zero at 2^(E - 25).
 *  - Their sum is exact. It is cut toward zero to f32, below its normal range to the grid of its subnormals; to f16 it
 *    is rounded to nearest even. Overflow is an infinity, a zero sum +0.
 *  - infinity x 0, infinity - infinity and what has a NaN give NaN, 0x7fffffff (0x7fff in f16).
 * .kind::mxf4 and .kind::mxf4nvf4: simd_fused_blocks.
 *
 * Sources: MMA-Sim (arXiv 2511.10909), and an H200's wgmma (docs/conformance.md). Every path gives the same bits.
 */
#ifndef SIMD_FUSED_H
#define SIMD_FUSED_H

#include "simd/multiply.h"

#define SIMD_FUSED_STEP 32u /* K of an instruction, at most; simd_fused_blocks has its own */

/* Exponents of the operands, as the loops of each unit want them; of B also the least and the greatest of its numbers,
 * and whether its exponents are bytes. */
struct simd_exponents {
    _Alignas(64) int16_t a[SIMD_MAX_ROWS * SIMD_MAX_K];
    _Alignas(64) uint32_t b[SIMD_MAX_ROWS * SIMD_B_STRIDE];
    int least_b, most_b;
    bool narrow_b;
};

struct simd_fused {
    struct simd_tile t;            /* step: the instruction's K; scale, tiles and exact_products do not count */
    int least_a, least_b, least_d; /* exponents of the types' subnormals */
    int floor;                     /* E is not less */
    int shift; /* scale-input-d of the first instruction: D counts as D * 2^-shift, its exponent less by it */
    bool odd;  /* for f16: cut to f32, the last bit of which is set where anything was cut off, so that
                                         rounding that to f16 rounds once */
    const float *sfa, *sfb; /* scale factors: of row r sfa[r * factors], of column n sfb[n * factors]; NULL: none */
    uint32_t factors;       /* of a row; with simd_fused_multiply 1 */
    int least_scale;        /* exponent of the subnormals of simd_fused_blocks' factors */
    struct simd_exponents *work;
};

/* `simd`: one that this host has; of SIMD_AMX only its vector unit is used. same_b: B, its type and the extents along N
 * and K are those of the call before with this `work`. */
void simd_fused_multiply(enum simd simd, const struct simd_fused *f, bool same_b);

/* One instruction of .kind::mxf4 or .kind::mxf4nvf4, K = 64: each 16 products are summed exactly and multiplied by the
 * significands of their two scale factors. These four and D are aligned to the greatest exponent E, which for the 16 is
 * the sum of their factors' exponents whatever they add up to, and cut toward zero at 2^(E - 35); E is at least -139.
 * Where all 16 products or a factor are zero, and where D is, nothing takes part. The sum is cut to f32. */
void simd_fused_blocks(enum simd simd, const struct simd_fused *f);

#endif
