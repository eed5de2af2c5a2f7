/* simd/fused_avx512.c - simd_fused_multiply with AVX-512; the rule is fused.h's, the cut of lanes fused_lane.h's. */
#include "simd/fused_lane.h"
#include "simd/vectors.h"

#if defined(__x86_64__)

/* C columns of four segments: their lanes' greatest exponents, cut to what the loops take, and what they refuse. */
struct block {
    __m512i e[2][4];
    __mmask16 refused[2][4];
};

/* The greatest exponents of the products of an instruction. */
AVX512 static ALWAYS_INLINE void survey(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k, const int C,
                                        struct block *b) {
    const int16_t *ea = f->work->a + simd_tile_a(seg * SIMD_SEGMENT, k);
    const uint32_t *eb = f->work->b + simd_tile_b(n, k);
    __m512i e[2][2];
    UNROLL
    for (int c = 0; c < C; c++)
        e[c][0] = e[c][1] = _mm512_set1_epi16(2 * FUSED_ZERO);
    for (uint32_t i = 0; i < f->t.step; i++, ea += SIMD_PANEL, eb++) {
        const __m512i low = _mm512_loadu_si512(ea), high = _mm512_loadu_si512(ea + 32);
        UNROLL
        for (int c = 0; c < C; c++) {
            const __m512i v = _mm512_set1_epi32((int32_t)eb[c * SIMD_B_STRIDE]);
            e[c][0] = _mm512_max_epi16(e[c][0], _mm512_add_epi16(low, v));
            e[c][1] = _mm512_max_epi16(e[c][1], _mm512_add_epi16(high, v));
        }
    }
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int h = 0; h < 2; h++) {
        b->e[c][2 * h] = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(e[c][h]));
        b->e[c][2 * h + 1] = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(e[c][h], 1));
    }
}

/* Exponents of D, as fused_exponent. */
AVX512 static ALWAYS_INLINE __m512i exponents_of(__m512 d, int least) {
    const __m512i u = _mm512_and_si512(_mm512_castps_si512(d), _mm512_set1_epi32(INT32_MAX));
    __m512i e = _mm512_sub_epi32(_mm512_srli_epi32(u, 23), _mm512_set1_epi32(FUSED_BIAS));
    e = _mm512_max_epi32(e, _mm512_set1_epi32(least));
    e = _mm512_mask_mov_epi32(e, _mm512_testn_epi32_mask(u, u), _mm512_set1_epi32(FUSED_ZERO));
    return _mm512_mask_mov_epi32(e, _mm512_cmpge_epi32_mask(u, _mm512_set1_epi32(0x7f800000)),
                                 _mm512_set1_epi32(FUSED_HUGE));
}

/* 2^e, e in [-126, 127]. */
AVX512 static ALWAYS_INLINE __m512 power(__m512i e) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(e, _mm512_set1_epi32(FUSED_BIAS)), 23));
}

AVX512 static ALWAYS_INLINE __m512i clamp(__m512i x, int low, int high) {
    return _mm512_min_epi32(_mm512_max_epi32(x, _mm512_set1_epi32(low)), _mm512_set1_epi32(high));
}

AVX512 static ALWAYS_INLINE __m512 load_d(const uint32_t *d, bool read, int shift) {
    if (!read)
        return _mm512_setzero_ps();
    return _mm512_mul_ps(_mm512_loadu_ps(d), power(_mm512_set1_epi32(-shift)));
}

/* What scale factors add to the exponents of a segment's products. */
AVX512 static ALWAYS_INLINE __m512i scales(const struct simd_fused *f, uint32_t seg, uint32_t n) {
    int32_t e[SIMD_SEGMENT];
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++)
        e[i] = fused_scale(f->sfa, seg * SIMD_SEGMENT + i);
    return _mm512_add_epi32(_mm512_loadu_si512(e), _mm512_set1_epi32(fused_scale(f->sfb, n)));
}

/* Bits of f32 of sum * 2^(e - 25), cut toward zero. */
AVX512 static ALWAYS_INLINE __m512i result(__m512i sum, __m512i e, bool odd) {
    __m512 r = _mm512_cvt_roundepi32_ps(sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    if (odd) {
        const __mmask16 lost = _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(r), sum);
        const __m512i bits = _mm512_castps_si512(r);
        r = _mm512_castsi512_ps(_mm512_mask_or_epi32(bits, lost, bits, _mm512_set1_epi32(1)));
    }
    return _mm512_castps_si512(_mm512_mul_ps(r, power(_mm512_sub_epi32(e, _mm512_set1_epi32(FUSED_BITS)))));
}

/* The lanes that the loop does not take. */
static void refused_lanes(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k, bool read, uint32_t lanes,
                          const uint32_t *d, uint32_t *out) {
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(lanes);
        out[i] = fused_lane(f, seg * SIMD_SEGMENT + i, n, k, read, d[i]);
    }
}

/* One instruction, four segments, C columns. Sums of even and of odd k stay below 2^31. */
AVX512 static ALWAYS_INLINE void block_avx512(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k,
                                              const int C) {
    const bool read = k || f->t.accumulate;
    const int shift = fused_shift(f, k);
    const int least_d = f->least_d - shift;
    const uint32_t lane[4] = {f->t.lane[seg], f->t.lane[seg + 1], f->t.lane[seg + 2], f->t.lane[seg + 3]};
    uint32_t *d = f->t.d + (size_t)n * f->t.d_stride;
    struct block b;
    __m512 up[2][4];
    __m512i sum[2][2][4];
    survey(f, seg, n, k, C, &b);
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int s = 0; s < 4; s++) {
        const __m512 old = load_d(d + c * f->t.d_stride + lane[s], read, shift);
        const __m512i scaled = f->sfa ? scales(f, seg + (uint32_t)s, n + (uint32_t)c) : _mm512_setzero_si512();
        const __m512i e = _mm512_max_epi32(_mm512_add_epi32(b.e[c][s], scaled), exponents_of(old, least_d)),
                      bits = _mm512_set1_epi32(FUSED_BITS);
        b.refused[c][s] = _mm512_cmpgt_epi32_mask(e, _mm512_set1_epi32(FUSED_HIGH)) |
                          (_mm512_cmplt_epi32_mask(e, _mm512_set1_epi32(FUSED_LOW)) &
                           _mm512_cmpgt_epi32_mask(e, _mm512_set1_epi32(FUSED_NO_NUMBER)));
        b.e[c][s] = clamp(e, fused_lowest(f), FUSED_HIGH);
        const __m512i place = _mm512_sub_epi32(bits, b.e[c][s]);
        up[c][s] = power(clamp(_mm512_add_epi32(place, scaled), -126, 127));
        sum[0][c][s] = _mm512_cvttps_epi32(_mm512_mul_ps(old, power(place)));
        sum[1][c][s] = _mm512_setzero_si512();
    }
    const float *x = f->t.a + simd_tile_a(seg * SIMD_SEGMENT, k), *y = f->t.b + simd_tile_b(n, k);
    for (uint32_t i = 0; i < f->t.step; i += 2, y += 2) {
        UNROLL
        for (int odd = 0; odd < 2; odd++, x += SIMD_PANEL) {
            UNROLL
            for (int c = 0; c < C; c++) {
                const __m512 w = _mm512_set1_ps(y[c * SIMD_B_STRIDE + odd]);
                UNROLL
                for (int s = 0; s < 4; s++) {
                    const __m512 p = _mm512_mul_ps(_mm512_mul_ps(_mm512_loadu_ps(x + s * SIMD_SEGMENT), w), up[c][s]);
                    sum[odd][c][s] = _mm512_add_epi32(sum[odd][c][s], _mm512_cvttps_epi32(p));
                }
            }
        }
    }
    UNROLL
    for (int c = 0; c < C; c++, d += f->t.d_stride)
        UNROLL
    for (int s = 0; s < 4; s++) {
        const __m512i u = sum[0][c][s], v = sum[1][c][s], w = _mm512_add_epi32(u, v);
        /* both have the sign that their sum has not: it left 32 bits */
        const __mmask16 left = _mm512_movepi32_mask(_mm512_and_si512(_mm512_xor_si512(u, w), _mm512_xor_si512(v, w)));
        const uint32_t refused = (uint32_t)(b.refused[c][s] | left);
        uint32_t out[SIMD_SEGMENT];
        const __m512i r = result(w, b.e[c][s], f->odd);
        if (!refused) {
            _mm512_storeu_si512(d + lane[s], r);
            continue;
        }
        _mm512_storeu_si512(out, r);
        refused_lanes(f, seg + (uint32_t)s, n + (uint32_t)c, k, read, refused, d + lane[s], out);
        _mm512_storeu_si512(d + lane[s], _mm512_loadu_si512(out));
    }
}

AVX512 void fused_run_avx512(const struct simd_fused *f, bool same_b) {
    fused_exponents(f, same_b);
    for (uint32_t s = 0; s < f->t.segments; s += 4)
        for (uint32_t k = 0; k < f->t.k; k += f->t.step)
            for (uint32_t n = 0; n < f->t.n; n += 2)
                block_avx512(f, s, n, k, 2);
}

#endif
