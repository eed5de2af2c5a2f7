/* simd/fused_avx2.c - simd_fused_multiply with AVX2; the rule is fused.h's, the cut of lanes fused_lane.h's. */
#include "simd/fused_lane.h"
#include "simd/vectors.h"

#if defined(__x86_64__)

enum { LANES = 8, PARTS = 4 /* of the rows that are multiplied at a time: two segments */ };

AVX2 static ALWAYS_INLINE __m256i load(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }
AVX2 static ALWAYS_INLINE void store(void *at, __m256i x) { _mm256_storeu_si256((__m256i *)at, x); }

#define BITS(e) _mm256_set1_epi32((int32_t)((uint32_t)((e) + FUSED_BIAS) << 23)) /* of 2^e in f32 */

/* Exponents of 8 numbers, as fused_exponent. */
AVX2 static ALWAYS_INLINE __m256i exponents_of(__m256 d, int least) {
    const __m256i u = _mm256_and_si256(_mm256_castps_si256(d), _mm256_set1_epi32(INT32_MAX));
    __m256i e = _mm256_sub_epi32(_mm256_srli_epi32(u, 23), _mm256_set1_epi32(FUSED_BIAS));
    e = _mm256_max_epi32(e, _mm256_set1_epi32(least));
    e = _mm256_blendv_epi8(e, _mm256_set1_epi32(FUSED_ZERO), _mm256_cmpeq_epi32(u, _mm256_setzero_si256()));
    return _mm256_blendv_epi8(e, _mm256_set1_epi32(FUSED_HUGE), _mm256_cmpgt_epi32(u, _mm256_set1_epi32(0x7f7fffff)));
}

/* As find_exponents of fused.c. A word has those of rows r and 8 + r, in its halves. B's, more by f32's bias, fill both
 * halves. */
AVX2 static ALWAYS_INLINE void find_exponents(const struct simd_fused *f, bool same_b) {
    const struct simd_tile *t = &f->t;
    for (uint32_t row = 0; row < t->segments * SIMD_SEGMENT; row += SIMD_PANEL) {
        const float *from = t->a + simd_tile_a(row, 0);
        int16_t *to = f->work->a + simd_tile_a(row, 0);
        for (uint32_t i = 0; i < t->k * SIMD_PANEL; i += SIMD_SEGMENT) {
            const __m256i e = exponents_of(_mm256_loadu_ps(from + i), f->least_a),
                          g = exponents_of(_mm256_loadu_ps(from + i + LANES), f->least_a);
            store(to + i, _mm256_blend_epi16(e, _mm256_slli_epi32(g, 16), 0xaa));
        }
    }
    for (uint32_t n = 0; !same_b && n < t->n; n++)
        for (uint32_t i = 0; i < t->k; i += LANES) {
            const __m256i e = _mm256_add_epi32(exponents_of(_mm256_loadu_ps(t->b + simd_tile_b(n, i)), f->least_b),
                                               _mm256_set1_epi32(FUSED_BIAS));
            store(f->work->b + simd_tile_b(n, i), _mm256_blend_epi16(e, _mm256_slli_epi32(e, 16), 0xaa));
        }
}

/* The greatest exponents of the products of an instruction: of each segment 16 of 16 bits. */
AVX2 static ALWAYS_INLINE void survey(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k, __m256i e[2]) {
    const int16_t *ea = f->work->a + simd_tile_a(row, k);
    const uint32_t *eb = f->work->b + simd_tile_b(n, k);
    __m256i x = _mm256_set1_epi16(2 * FUSED_ZERO), y = x;
    for (uint32_t i = 0; i < f->t.step; i++, ea += SIMD_PANEL, eb++) {
        const __m256i v = _mm256_set1_epi32((int32_t)*eb);
        x = _mm256_max_epi16(x, _mm256_add_epi16(load(ea), v));
        y = _mm256_max_epi16(y, _mm256_add_epi16(load(ea + SIMD_SEGMENT), v));
    }
    e[0] = x;
    e[1] = y;
}

/* Of what a survey found the exponents of part p of two segments. */
AVX2 static ALWAYS_INLINE __m256i found(const __m256i e[2], int p) {
    const __m256i v = p % 2 ? e[p / 2] : _mm256_slli_epi32(e[p / 2], 16);
    return _mm256_sub_epi32(_mm256_srai_epi32(v, 16), _mm256_set1_epi32(FUSED_BIAS));
}

/* The same where f32 has them, 0 or 255 where it has none. */
AVX2 static ALWAYS_INLINE __m256i found_bits(const __m256i e[2], int p) {
    const __m256i most = _mm256_set1_epi16(2 * FUSED_BIAS + 1);
    const __m256i half = _mm256_max_epi16(_mm256_setzero_si256(), _mm256_min_epi16(e[p / 2], most));
    return _mm256_slli_epi32(p % 2 ? _mm256_srli_epi32(half, 16) : half, 23);
}

/* 2^e, e in [-126, 127]. */
AVX2 static ALWAYS_INLINE __m256 power(__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(FUSED_BIAS)), 23));
}

AVX2 static ALWAYS_INLINE __m256i clamp(__m256i x, int low, int high) {
    return _mm256_min_epi32(_mm256_max_epi32(x, _mm256_set1_epi32(low)), _mm256_set1_epi32(high));
}

/* What scale factors add to the exponents of products of 8 rows. */
AVX2 static ALWAYS_INLINE __m256i scales(const struct simd_fused *f, uint32_t row, uint32_t n) {
    int32_t e[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        e[i] = fused_scale(f->sfa, row + i);
    return _mm256_add_epi32(load(e), _mm256_set1_epi32(fused_scale(f->sfb, n)));
}

/* Bits of f32 of sum * 2^(E - 25), cut toward zero; quantum: bits of 2^(E - 25). Without the first bit that f32 has no
 * room for, which is 24 places below the first one of all, rounding to nearest is a cut. -2^31, whose magnitude is
 * itself, comes out as it is. */
AVX2 static ALWAYS_INLINE __m256i result(__m256i sum, __m256i quantum, bool odd) {
    const __m256i u = _mm256_abs_epi32(sum);
    const __m256i kept = _mm256_sign_epi32(_mm256_andnot_si256(_mm256_srli_epi32(u, 24), u), sum);
    __m256i r = _mm256_castps_si256(_mm256_cvtepi32_ps(kept));
    if (odd) {
        const __m256i same = _mm256_cmpeq_epi32(_mm256_cvttps_epi32(_mm256_castsi256_ps(r)), sum);
        r = _mm256_or_si256(r, _mm256_andnot_si256(same, _mm256_set1_epi32(1)));
    }
    return _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(r), _mm256_castsi256_ps(quantum)));
}

AVX2 static ALWAYS_INLINE uint32_t lanes_of(__m256i mask) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

AVX2 static ALWAYS_INLINE uint32_t *cells(const struct simd_fused *f, uint32_t row, uint32_t n) {
    return f->t.d + (size_t)n * f->t.d_stride + f->t.lane[row / SIMD_SEGMENT] + row % SIMD_SEGMENT;
}

/* Negative where the sum of two parts left 32 bits: both have the sign that it has not. */
AVX2 static ALWAYS_INLINE __m256i left(__m256i u, __m256i v, __m256i sum) {
    return _mm256_and_si256(_mm256_xor_si256(u, sum), _mm256_xor_si256(v, sum));
}

/* The products, in units of 2^(E - 25), cut toward zero. With `plain` `up` has the bits of 25 - E, in [0, 125]. Added
 * to a number's exponent they multiply it, and make less than 1 of a zero or a subnormal. sums: 2, one of even and one
 * of odd k, or 1. */
AVX2 static ALWAYS_INLINE void sum_products(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k,
                                            const __m256i up[PARTS], __m256i out[2][PARTS], const bool plain,
                                            const int sums) {
    const float *x = f->t.a + simd_tile_a(row, k), *y = f->t.b + simd_tile_b(n, k);
    __m256i sum[2][PARTS];
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        sum[0][h] = out[0][h];
        sum[1][h] = out[1][h];
    }
    for (uint32_t i = 0; i < f->t.step; i += 2, y += 2) {
        UNROLL
        for (int odd = 0; odd < 2; odd++, x += SIMD_PANEL) {
            const __m256 w = _mm256_set1_ps(y[odd]);
            UNROLL
            for (int h = 0; h < PARTS; h++) {
                __m256 p = _mm256_mul_ps(_mm256_loadu_ps(x + LANES * h), w);
                p = plain ? _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), up[h]))
                          : _mm256_mul_ps(p, _mm256_castsi256_ps(up[h]));
                sum[odd % sums][h] = _mm256_add_epi32(sum[odd % sums][h], _mm256_cvttps_epi32(p));
            }
        }
    }
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        out[0][h] = sum[0][h];
        out[1][h] = sum[1][h];
    }
}

/* One instruction, two segments, one column: lanes of any exponents, a D that is scaled. */
AVX2 static __attribute__((noinline)) void column_any(const struct simd_fused *f, uint32_t row, uint32_t n,
                                                      uint32_t k) {
    const int shift = fused_shift(f, k);
    const __m256 down = power(_mm256_set1_epi32(-shift));
    __m256i e[2], up[PARTS], quantum[PARTS], sum[2][PARTS], refused[PARTS];
    survey(f, row, n, k, e);
    for (int h = 0; h < PARTS; h++) {
        const uint32_t first = row + (uint32_t)(LANES * h);
        const __m256 old = _mm256_mul_ps(_mm256_castsi256_ps(load(cells(f, first, n))), down);
        const __m256i scaled = f->sfa ? scales(f, first, n) : _mm256_setzero_si256();
        const __m256i all =
            _mm256_max_epi32(_mm256_add_epi32(found(e, h), scaled), exponents_of(old, f->least_d - shift));
        refused[h] = _mm256_or_si256(_mm256_cmpgt_epi32(all, _mm256_set1_epi32(FUSED_HIGH)),
                                     _mm256_and_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(FUSED_LOW), all),
                                                      _mm256_cmpgt_epi32(all, _mm256_set1_epi32(FUSED_NO_NUMBER))));
        const __m256i cut = clamp(all, fused_lowest(f), FUSED_HIGH);
        const __m256i place = _mm256_sub_epi32(_mm256_set1_epi32(FUSED_BITS), cut);
        quantum[h] = _mm256_castps_si256(power(_mm256_sub_epi32(_mm256_setzero_si256(), place)));
        up[h] = _mm256_castps_si256(power(clamp(_mm256_add_epi32(place, scaled), -126, 127)));
        sum[0][h] = _mm256_cvttps_epi32(_mm256_mul_ps(old, power(place)));
        sum[1][h] = _mm256_setzero_si256();
    }
    sum_products(f, row, n, k, up, sum, false, 2);
    for (uint32_t h = 0; h < PARTS; h++) {
        const __m256i both = _mm256_add_epi32(sum[0][h], sum[1][h]);
        uint32_t lanes = lanes_of(_mm256_or_si256(refused[h], left(sum[0][h], sum[1][h], both)));
        uint32_t *d = cells(f, row + LANES * h, n), out[LANES];
        store(out, result(both, quantum[h], f->odd));
        for (; lanes; lanes &= lanes - 1) {
            const uint32_t i = (uint32_t)__builtin_ctz(lanes);
            out[i] = fused_lane(f, row + LANES * h + i, n, k, true, d[i]);
        }
        store(d, load(out));
    }
}

/* D's exponents, where f32 has them: of 0 less than any. half: D is f16. */
AVX2 static ALWAYS_INLINE __m256i bits_of_d(const struct simd_fused *f, __m256i old, const bool half) {
    const __m256i field = _mm256_and_si256(old, _mm256_set1_epi32(0x7f800000));
    if (!half) /* what a subnormal counts is too little for the loops anyway */
        return field;
    const __m256i none =
        _mm256_cmpeq_epi32(_mm256_setzero_si256(), _mm256_and_si256(old, _mm256_set1_epi32(INT32_MAX)));
    return _mm256_andnot_si256(none, _mm256_max_epi32(field, BITS(f->least_d)));
}

/* What the loops are compiled for. */
struct form {
    bool half;   /* D is f16 */
    bool scaled; /* scale factors */
    int sums;    /* 1: the 8 products of an instruction and D add up to less than 2^31 */
};

/* found_bits of products with scale factors, which add `scaled` to each exponent: 0 or 255 where f32 has none. */
AVX2 static ALWAYS_INLINE __m256i scaled_bits(const __m256i e[2], int p, __m256i scaled) {
    const __m256i v = _mm256_add_epi32(found(e, p), _mm256_add_epi32(scaled, _mm256_set1_epi32(FUSED_BIAS)));
    return _mm256_slli_epi32(clamp(v, 0, 2 * FUSED_BIAS + 1), 23);
}

/* The same as column_any, as nearly always, with exponents where f32 has them. False: nothing has happened; a lane's E
 * is not in [FUSED_LOW, 25], the scaled exponent of its products is less than E by more than 25, or a sum left 32 bits.
 * sa: what the scale factors of rows add to exponents. */
AVX2 static ALWAYS_INLINE bool column(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k,
                                      const int32_t *sa, const struct form form) {
    __m256i e[2], up[PARTS], sum[2][PARTS], quantum[PARTS], far = _mm256_setzero_si256();
    survey(f, row, n, k, e);
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        const __m256i old = load(cells(f, row + (uint32_t)(LANES * h), n));
        __m256i all, scaled = _mm256_setzero_si256();
        if (form.scaled) {
            scaled = _mm256_add_epi32(load(sa + row + LANES * h), _mm256_set1_epi32(fused_scale(f->sfb, n)));
            all = scaled_bits(e, h, scaled);
        } else {
            all = found_bits(e, h);
        }
        all = _mm256_max_epi32(all, bits_of_d(f, old, form.half));
        up[h] = _mm256_sub_epi32(BITS(FUSED_BITS), all);
        far = _mm256_max_epu32(far, up[h]);
        up[h] = form.half ? _mm256_min_epi32(up[h], BITS(FUSED_BITS - FUSED_BIAS - fused_lowest(f))) : up[h];
        quantum[h] = _mm256_sub_epi32(BITS(0), up[h]);
        sum[0][h] = _mm256_cvttps_epi32(_mm256_castsi256_ps(_mm256_add_epi32(old, up[h])));
        sum[1][h] = _mm256_setzero_si256();
        if (form.scaled) {
            up[h] = _mm256_add_epi32(up[h], _mm256_slli_epi32(scaled, 23));
            far = _mm256_max_epu32(far, up[h]);
        }
    }
    const __m256i most = _mm256_set1_epi32((FUSED_BITS - FUSED_LOW) << 23);
    if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(far, most), most)) != -1)
        return false;
    sum_products(f, row, n, k, up, sum, true, form.sums);
    __m256i lost = _mm256_setzero_si256();
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        if (form.sums == 1)
            break;
        const __m256i both = _mm256_add_epi32(sum[0][h], sum[1][h]);
        lost = _mm256_or_si256(lost, left(sum[0][h], sum[1][h], both));
        sum[0][h] = both;
    }
    if (lanes_of(lost))
        return false;
    UNROLL
    for (int h = 0; h < PARTS; h++)
        store(cells(f, row + (uint32_t)(LANES * h), n), result(sum[0][h], quantum[h], form.half && f->odd));
    return true;
}

AVX2 static ALWAYS_INLINE void run(const struct simd_fused *f, bool same_b, const struct form form) {
    int32_t sa[SIMD_MAX_ROWS];
    for (uint32_t i = 0; form.scaled && i < f->t.segments * SIMD_SEGMENT; i++)
        sa[i] = fused_scale(f->sfa, i);
    find_exponents(f, same_b);
    for (uint32_t row = 0; row < f->t.segments * SIMD_SEGMENT; row += 2 * SIMD_SEGMENT)
        for (uint32_t k = 0; k < f->t.k; k += f->t.step)
            for (uint32_t n = 0; n < f->t.n; n++)
                if (fused_shift(f, k) || !column(f, row, n, k, sa, form))
                    column_any(f, row, n, k);
}

AVX2 void fused_run_avx2(const struct simd_fused *f, bool same_b) {
    for (uint32_t n = 0; !f->t.accumulate && n < f->t.n; n++) /* a D of 0 takes no part */
        for (uint32_t row = 0; row < f->t.segments * SIMD_SEGMENT; row += LANES)
            store(cells(f, row, n), _mm256_setzero_si256());
    if (f->sfa) /* D is f32 */
        run(f, same_b, (struct form){.scaled = true, .sums = 2});
    else if (f->odd || f->least_d > -126 || f->floor > FUSED_LOW)
        run(f, same_b, (struct form){.half = true, .sums = 2});
    else if (f->t.step <= 8)
        run(f, same_b, (struct form){.sums = 1});
    else
        run(f, same_b, (struct form){.sums = 2});
}

/* --- four-bit operands -------------------------------------------------------------------------------------------- */

/* E of 8 rows of a column. */
AVX2 static ALWAYS_INLINE __m256i align_blocks(const struct simd_fused *f, const struct fused_blocks *a,
                                               const struct fused_blocks *b, uint32_t row, uint32_t n, __m256i old,
                                               __m256i *refused) {
    const __m256i zero = _mm256_set1_epi32(FUSED_ZERO);
    const __m256i u = _mm256_and_si256(old, _mm256_set1_epi32(INT32_MAX));
    __m256i x = _mm256_sub_epi32(_mm256_srli_epi32(u, 23), _mm256_set1_epi32(FUSED_BIAS));
    x = _mm256_sub_epi32(_mm256_max_epi32(x, _mm256_set1_epi32(f->least_d)), _mm256_set1_epi32(f->shift));
    x = _mm256_blendv_epi8(x, zero, _mm256_cmpeq_epi32(u, _mm256_setzero_si256()));
    __m256i e = _mm256_max_epi32(x, _mm256_set1_epi32(f->floor));
    *refused = _mm256_or_si256(*refused, _mm256_cmpgt_epi32(u, _mm256_set1_epi32(0x7f7fffff)));
    UNROLL
    for (int g = 0; g < FUSED_BLOCKS; g++) {
        x = _mm256_add_epi32(load(a->exponent[g] + row), _mm256_set1_epi32(b->exponent[g][n]));
        *refused = _mm256_or_si256(*refused, _mm256_cmpgt_epi32(x, _mm256_set1_epi32(FUSED_HUGE / 2)));
        const __m256i both = _mm256_and_si256(load(a->numbers[g] + row), _mm256_set1_epi32(b->numbers[g][n]));
        e = _mm256_max_epi32(e, _mm256_blendv_epi8(x, zero, _mm256_cmpeq_epi32(both, _mm256_setzero_si256())));
    }
    return e;
}

/* 2^e */
AVX2 static ALWAYS_INLINE __m256d power_of_two(__m128i e) {
    return _mm256_castsi256_pd(
        _mm256_slli_epi64(_mm256_add_epi64(_mm256_cvtepi32_epi64(e), _mm256_set1_epi64x(1023)), 52));
}

AVX2 static ALWAYS_INLINE __m256d cut_off(__m256d x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/* The sum of 4 rows, cut to 24 bits; place: 35 - E. */
AVX2 static ALWAYS_INLINE __m256d sum_blocks(const struct simd_fused *f, const struct fused_blocks *a,
                                             const struct fused_blocks *b, uint32_t row, uint32_t n,
                                             const uint32_t *sums, size_t stride, __m128 old, __m128i place) {
    const __m128 all = _mm_castsi128_ps(_mm_set1_epi32(INT32_MAX)), most = _mm_set1_ps(FUSED_BLOCK_MOST);
    const __m256d up = power_of_two(place), down = power_of_two(_mm_set1_epi32(-f->shift));
    __m256d sum = cut_off(_mm256_mul_pd(_mm256_mul_pd(_mm256_cvtps_pd(old), down), up));
    UNROLL
    for (int g = 0; g < FUSED_BLOCKS; g++, sums += stride) {
        /* anything in rows of A that were never written */
        const __m128 x = _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)sums));
        const __m256d exact = _mm256_cvtps_pd(_mm_and_ps(x, _mm_cmple_ps(_mm_and_ps(x, all), most)));
        const __m256d factor =
            _mm256_mul_pd(_mm256_cvtps_pd(_mm_loadu_ps(a->factor[g] + row)), _mm256_set1_pd((double)b->factor[g][n]));
        sum = _mm256_add_pd(sum, cut_off(_mm256_mul_pd(_mm256_mul_pd(exact, factor), up)));
    }
    sum = _mm256_mul_pd(sum, power_of_two(_mm_sub_epi32(_mm_setzero_si128(), place)));
    sum = _mm256_and_pd(sum, _mm256_castsi256_pd(_mm256_set1_epi64x(~INT64_C(0x1fffffff))));
    return _mm256_add_pd(sum, _mm256_setzero_pd()); /* no -0 */
}

/* Bit per number that is none of f32's normal ones, nor 0. */
AVX2 static ALWAYS_INLINE int outside(__m256d x) {
    const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
    const __m256d small = _mm256_and_pd(_mm256_cmp_pd(size, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ),
                                        _mm256_cmp_pd(size, _mm256_setzero_pd(), _CMP_NEQ_OQ));
    return _mm256_movemask_pd(_mm256_or_pd(small, _mm256_cmp_pd(size, _mm256_set1_pd(0x1p128), _CMP_GE_OQ)));
}

AVX2 bool fused_blocks_avx2(const struct simd_fused *f, const struct fused_blocks *a, const struct fused_blocks *b,
                            uint32_t row, uint32_t n, const uint32_t *sums, size_t stride, uint32_t *d) {
    __m256i refused = _mm256_setzero_si256();
    __m256 out[2];
    int bad = 0;
    UNROLL
    for (uint32_t h = 0; h < 2; h++) {
        const uint32_t at = LANES * h;
        const __m256i old = f->t.accumulate ? load(d + at) : _mm256_setzero_si256();
        const __m256i place =
            _mm256_sub_epi32(_mm256_set1_epi32(FUSED_BLOCK_BITS), align_blocks(f, a, b, row + at, n, old, &refused));
        const __m256d x = sum_blocks(f, a, b, row + at, n, sums + at, stride,
                                     _mm_castsi128_ps(_mm256_castsi256_si128(old)), _mm256_castsi256_si128(place));
        const __m256d y =
            sum_blocks(f, a, b, row + at + 4, n, sums + at + 4, stride,
                       _mm_castsi128_ps(_mm256_extracti128_si256(old, 1)), _mm256_extracti128_si256(place, 1));
        bad |= outside(x) | outside(y);
        out[h] = _mm256_set_m128(_mm256_cvtpd_ps(y), _mm256_cvtpd_ps(x));
    }
    if (bad || lanes_of(refused))
        return false;
    store(d, _mm256_castps_si256(out[0]));
    store(d + LANES, _mm256_castps_si256(out[1]));
    return true;
}

#endif
