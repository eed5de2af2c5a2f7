/* simd/fused_avx2.c - simd_fused_multiply with AVX2; the rule is fused.h's, the cut of lanes fused_lane.h's. */
#include "simd/fused_lane.h"
#include "simd/vectors.h"

#if defined(__x86_64__)

enum { LANES = 8 };

/* The greatest exponents of the products of an instruction, of one segment: 16 of 16 bits. */
AVX2 static ALWAYS_INLINE __m256i survey(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k) {
    const int16_t *ea = f->work->a + simd_tile_a(seg * SIMD_SEGMENT, k);
    const uint32_t *eb = f->work->b + simd_tile_b(n, k);
    __m256i e = _mm256_set1_epi16(2 * FUSED_ZERO);
    for (uint32_t i = 0; i < f->t.step; i++, ea += SIMD_PANEL, eb++)
        e = _mm256_max_epi16(e, _mm256_add_epi16(_mm256_loadu_si256((const __m256i *)(const void *)ea),
                                                 _mm256_set1_epi32((int32_t)*eb)));
    return e;
}

/* Exponents of D, as fused_exponent. */
AVX2 static ALWAYS_INLINE __m256i exponents_of(__m256 d, int least) {
    const __m256i u = _mm256_and_si256(_mm256_castps_si256(d), _mm256_set1_epi32(INT32_MAX));
    __m256i e = _mm256_sub_epi32(_mm256_srli_epi32(u, 23), _mm256_set1_epi32(FUSED_BIAS));
    e = _mm256_max_epi32(e, _mm256_set1_epi32(least));
    e = _mm256_blendv_epi8(e, _mm256_set1_epi32(FUSED_ZERO), _mm256_cmpeq_epi32(u, _mm256_setzero_si256()));
    return _mm256_blendv_epi8(e, _mm256_set1_epi32(FUSED_HUGE), _mm256_cmpgt_epi32(u, _mm256_set1_epi32(0x7f7fffff)));
}

/* 2^e, e in [-126, 127]. */
AVX2 static ALWAYS_INLINE __m256 power(__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(FUSED_BIAS)), 23));
}

AVX2 static ALWAYS_INLINE __m256i clamp(__m256i x, int low, int high) {
    return _mm256_min_epi32(_mm256_max_epi32(x, _mm256_set1_epi32(low)), _mm256_set1_epi32(high));
}

AVX2 static ALWAYS_INLINE __m256 load_d(const uint32_t *d, bool read, int shift) {
    if (!read)
        return _mm256_setzero_ps();
    return _mm256_mul_ps(_mm256_loadu_ps((const float *)(const void *)d), power(_mm256_set1_epi32(-shift)));
}

/* What scale factors add to the exponents of products of 8 rows. */
AVX2 static ALWAYS_INLINE __m256i scales(const struct simd_fused *f, uint32_t row, uint32_t n) {
    int32_t e[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        e[i] = fused_scale(f->sfa, row + i);
    return _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)(const void *)e),
                            _mm256_set1_epi32(fused_scale(f->sfb, n)));
}

/* Bits of f32 of sum * 2^(e - 25), cut toward zero: rounded to nearest, then one place back where that was up. */
AVX2 static ALWAYS_INLINE __m256i result(__m256i sum, __m256i e, bool odd) {
    const __m256i u = _mm256_abs_epi32(sum), sign = _mm256_and_si256(sum, _mm256_set1_epi32(INT32_MIN));
    __m256i r = _mm256_castps_si256(_mm256_cvtepi32_ps(u));
    /* 2^31 becomes -2^31: the difference is negative then, too */
    const __m256i down = _mm256_srai_epi32(_mm256_sub_epi32(u, _mm256_cvttps_epi32(_mm256_castsi256_ps(r))), 31);
    r = _mm256_add_epi32(r, down);
    if (odd) {
        const __m256i same = _mm256_cmpeq_epi32(_mm256_cvttps_epi32(_mm256_castsi256_ps(r)), u);
        r = _mm256_or_si256(r, _mm256_andnot_si256(same, _mm256_set1_epi32(1)));
    }
    r = _mm256_or_si256(r, _mm256_and_si256(sign, _mm256_cmpgt_epi32(r, _mm256_setzero_si256())));
    const __m256 quantum = power(_mm256_sub_epi32(e, _mm256_set1_epi32(FUSED_BITS)));
    return _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(r), quantum));
}

/* The lanes that the loop does not take. */
static void refused_lanes(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k, bool read, uint32_t lanes,
                          const uint32_t *d, uint32_t *out) {
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(lanes);
        out[i] = fused_lane(f, row + i, n, k, read, d[i]);
    }
}

AVX2 static ALWAYS_INLINE uint32_t lanes_of(__m256i mask) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

/* One instruction, one segment, two columns. Sums of even and of odd k stay below 2^31. */
AVX2 static ALWAYS_INLINE void block_avx2(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k) {
    const bool read = k || f->t.accumulate;
    const int shift = fused_shift(f, k);
    const uint32_t row = seg * SIMD_SEGMENT;
    uint32_t *d[2] = {f->t.d + (size_t)n * f->t.d_stride + f->t.lane[seg],
                      f->t.d + (size_t)(n + 1) * f->t.d_stride + f->t.lane[seg]};
    __m256i e[2][2], sum[2][2][2], refused[2][2];
    __m256 up[2][2];
    UNROLL
    for (int c = 0; c < 2; c++) {
        const __m256i both = survey(f, seg, n + (uint32_t)c, k);
        e[c][0] = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(both));
        e[c][1] = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(both, 1));
        UNROLL
        for (int h = 0; h < 2; h++) {
            const __m256 old = load_d(d[c] + LANES * h, read, shift);
            const __m256i scaled =
                f->sfa ? scales(f, row + (uint32_t)(LANES * h), n + (uint32_t)c) : _mm256_setzero_si256();
            const __m256i all =
                _mm256_max_epi32(_mm256_add_epi32(e[c][h], scaled), exponents_of(old, f->least_d - shift));
            refused[c][h] =
                _mm256_or_si256(_mm256_cmpgt_epi32(all, _mm256_set1_epi32(FUSED_HIGH)),
                                _mm256_and_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(FUSED_LOW), all),
                                                 _mm256_cmpgt_epi32(all, _mm256_set1_epi32(FUSED_NO_NUMBER))));
            e[c][h] = clamp(all, fused_lowest(f), FUSED_HIGH);
            const __m256i place = _mm256_sub_epi32(_mm256_set1_epi32(FUSED_BITS), e[c][h]);
            up[c][h] = power(clamp(_mm256_add_epi32(place, scaled), -126, 127));
            sum[0][c][h] = _mm256_cvttps_epi32(_mm256_mul_ps(old, power(place)));
            sum[1][c][h] = _mm256_setzero_si256();
        }
    }
    const float *x = f->t.a + simd_tile_a(row, k), *y = f->t.b + simd_tile_b(n, k);
    for (uint32_t i = 0; i < f->t.step; i += 2, y += 2) {
        UNROLL
        for (int odd = 0; odd < 2; odd++, x += SIMD_PANEL) {
            UNROLL
            for (int c = 0; c < 2; c++) {
                const __m256 w = _mm256_set1_ps(y[c * (int)SIMD_B_STRIDE + odd]);
                UNROLL
                for (int h = 0; h < 2; h++) {
                    const __m256 p = _mm256_mul_ps(_mm256_mul_ps(_mm256_loadu_ps(x + LANES * h), w), up[c][h]);
                    sum[odd][c][h] = _mm256_add_epi32(sum[odd][c][h], _mm256_cvttps_epi32(p));
                }
            }
        }
    }
    UNROLL
    for (int c = 0; c < 2; c++)
        UNROLL
    for (int h = 0; h < 2; h++) {
        const __m256i u = sum[0][c][h], v = sum[1][c][h], w = _mm256_add_epi32(u, v);
        /* both have the sign that their sum has not: it left 32 bits. -2^31 has no magnitude there. */
        const __m256i left = _mm256_or_si256(_mm256_and_si256(_mm256_xor_si256(u, w), _mm256_xor_si256(v, w)),
                                             _mm256_cmpeq_epi32(w, _mm256_set1_epi32(INT32_MIN)));
        const uint32_t lanes = lanes_of(_mm256_or_si256(refused[c][h], left));
        const __m256i r = result(w, e[c][h], f->odd);
        uint32_t out[LANES], *to = d[c] + LANES * h;
        _mm256_storeu_si256((__m256i *)(void *)out, r);
        if (lanes)
            refused_lanes(f, row + (uint32_t)(LANES * h), n + (uint32_t)c, k, read, lanes, to, out);
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_loadu_si256((const __m256i *)(const void *)out));
    }
}

AVX2 void fused_run_avx2(const struct simd_fused *f, bool same_b) {
    fused_exponents(f, same_b);
    for (uint32_t s = 0; s < f->t.segments; s++)
        for (uint32_t k = 0; k < f->t.k; k += f->t.step)
            for (uint32_t n = 0; n < f->t.n; n += 2)
                block_avx2(f, s, n, k);
}

#endif
