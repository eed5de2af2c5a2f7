/* simd/amx.h - D += A * B by the host's matrix unit (Intel AMX).
 *
 * Operands whose sums go by steps are one bf16 part each, and the unit gives the bits of multiply.h. It takes a
 * subnormal for 0, in and out. So all that is not 0 must be at least 2^-126 among the elements; 2^-103 in D, whose last
 * bit is then worth 2^-126; and of the products' last bits, 2^-14 times the smallest of A times the smallest of B, the
 * same. Then no sum can be subnormal. Otherwise the other loops have to do it.
 *
 * --umma=fast: operands of 11 bits (f16, tf32) are split into two bf16 parts; all products of parts are formed, and
 * each is exact. What differs from multiply.h is the order of summation: even and odd k of 32 are summed apart, then
 * added to D, one product of parts after the other; and subnormals: those of bf16 and of every sum are 0. So for an
 * element of D, with u = 2^-24 and P the products of parts (2 or 4),
 *     |fast - exact| <= (K + 17 + P K / 32) u (|D| + sum |a b|) (1 + 2^-10) + 2^-126 (4 P K + sum |a| + |b|)
 * where nothing is infinite and no sum leaves f32's range. An infinity or NaN among these operands, and a scaled D, are
 * left to the other loops.
 *
 * Only where simd_available(SIMD_AMX); elsewhere simd_amx_multiply is false and the others do nothing.
 */
#ifndef SIMD_AMX_H
#define SIMD_AMX_H

#include "simd/gather.h"

/* f32 bits of the smallest number but 0, less 1, and of the largest (not kept of tiles); without signs. */
struct simd_range {
    uint32_t low, high;
};
/* Working memory: tiles of 16 rows and 32 elements along K, those of 16 rows behind each other. A tile of A is pairs
 * along K, each of 16 rows; A is 256 rows, or 128 in two parts. A tile of B is rows along K; B has room for two
 * parts. */
struct simd_amx {
    _Alignas(64) uint16_t a[SIMD_MAX_ROWS * SIMD_MAX_K];
    _Alignas(64) uint16_t b[SIMD_MAX_ROWS * SIMD_MAX_K * 2];
    struct simd_range range_a, range_b;
};
/* False: not for these operands, D is as it was. K is even; with t->step both have one part, otherwise it is
 * --umma=fast. same_b: B is that of the call before, with this k and n. */
bool simd_amx_multiply(const struct simd_tile *t, unsigned parts_a, unsigned parts_b, bool same_b,
                       struct simd_amx *work);
/* Operands of bf16 may become tiles without being numbers in between. begin: there are none. gather: 16 elements along
 * K from k on, of `rows` rows of smem, from row `row` of A (a multiple of 16, and so is `rows`) or B (of 8) on. unpack:
 * numbers at `a` and `b` after all, for a tile that simd_amx_multiply refused. */
void simd_amx_begin(struct simd_amx *work);
void simd_amx_gather_a(struct simd_amx *work, const uint8_t *smem, const struct simd_groups *g, uint32_t row,
                       uint32_t rows, uint32_t k);
void simd_amx_gather_b(struct simd_amx *work, const uint8_t *smem, const struct simd_groups *g, uint32_t row,
                       uint32_t rows, uint32_t k);
void simd_amx_unpack(const struct simd_amx *work, const struct simd_tile *t, float *a, float *b);

#endif
