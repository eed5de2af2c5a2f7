/* simd/fused_lane.h - private to simd/fused*.c: the rule of fused.h for one element, and what the loops of all vector
 * units have in common.
 *
 * The loops take lanes whose greatest exponent E lies in [FUSED_LOW, FUSED_HIGH]. There products and D are numbers of
 * f32, or so small that they are cut to 0 whatever f32 makes of them; times 2^(25 - E) they are below 2^27, and sums of
 * half of them fit 32 bits. The quantum 2^(E - 25) is a normal number, and so is every result but 0. All other lanes,
 * rare in what people multiply, are fused_lane's.
 */
#ifndef SIMD_FUSED_LANE_H
#define SIMD_FUSED_LANE_H

#include "num/num.h"
#include "simd/fused.h"
#include "simd/target.h"

enum {
    FUSED_BITS = 25,  /* of fraction below E */
    FUSED_BIAS = 127, /* of f32's exponent */
    FUSED_LOW = -100,
    FUSED_HIGH = 124,
    /* In place of exponents. What two numbers and two scale factors add up to lies in [-506, 508]; with a ZERO it is
     * less, and an infinity or NaN is more with whatever it meets. */
    FUSED_ZERO = -4000,
    FUSED_NO_NUMBER = -1000, /* less: all products are zero, and D */
    FUSED_HUGE = 9000,
};

/* f32 bits of element (row, n) of D after the instruction that begins at k; `d` are those before it, if it is read. */
uint32_t fused_lane(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k, bool read, uint32_t d);

/* Exponent for the loops. */
static ALWAYS_INLINE int32_t fused_exponent(float x, int32_t least) {
    const uint32_t u = num_f32_bits(x) & UINT32_C(0x7fffffff);
    int32_t e = (int32_t)(u >> 23) - FUSED_BIAS;
    e = e < least ? least : e;
    e = u == 0 ? FUSED_ZERO : e;
    return u >= UINT32_C(0x7f800000) ? FUSED_HUGE : e;
}

/* Below it there is nothing for the loops. */
static inline int32_t fused_lowest(const struct simd_fused *f) { return f->floor > FUSED_LOW ? f->floor : FUSED_LOW; }

/* scale-input-d of the instruction that begins at k. */
static inline int fused_shift(const struct simd_fused *f, uint32_t k) { return k ? 0 : f->shift; }

/* Exponents of scale factors, which with one factor a row are powers of two. */
static inline int32_t fused_scale(const float *factors, uint32_t i) {
    const uint32_t u = num_f32_bits(factors[i]);
    const int32_t e = (int32_t)(u >> 23) - FUSED_BIAS; /* 2^-127 is subnormal in f32: the field is 0 */
    return u > UINT32_C(0x7f800000) ? FUSED_HUGE : e;
}

/* Four-bit operands. */
enum {
    FUSED_BLOCK_BITS = 35, /* of fraction below E */
    FUSED_BLOCK = 16,      /* products that are summed exactly */
    FUSED_BLOCKS = 4,      /* of an instruction */
    FUSED_BLOCK_MOST = FUSED_BLOCK * 6 * 6,
};

/* Of the blocks of rows of A, or of columns of B. */
struct fused_blocks {
    float factor[FUSED_BLOCKS][SIMD_MAX_ROWS];
    int32_t exponent[FUSED_BLOCKS][SIMD_MAX_ROWS]; /* of the factor; NaN: FUSED_HUGE */
    int32_t numbers[FUSED_BLOCKS][SIMD_MAX_ROWS];  /* bit per element that is not 0 */
};

#if defined(__x86_64__)
/* An instruction of four-bit operands, one column: D of the segment that begins at `row`. `sums` are those of its
 * blocks, a stride apart. Doubles hold all that there is on the way: a sum has 12 bits, a factor 4, and what is cut is
 * below 2^47. False: a lane of it is not for these loops, and d is as it was. */
bool fused_blocks_avx2(const struct simd_fused *f, const struct fused_blocks *a, const struct fused_blocks *b,
                       uint32_t row, uint32_t n, const uint32_t *sums, size_t stride, uint32_t *d);
bool fused_blocks_avx512(const struct simd_fused *f, const struct fused_blocks *a, const struct fused_blocks *b,
                         uint32_t row, uint32_t n, const uint32_t *sums, size_t stride, uint32_t *d);
void fused_run_avx2(const struct simd_fused *f, bool same_b);
void fused_run_avx512(const struct simd_fused *f, bool same_b);
#endif

#endif
