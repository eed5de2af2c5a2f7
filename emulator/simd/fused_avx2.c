/* simd/fused_avx2.c - simd_fused_multiply with AVX2; the rule is fused.h's, the cut of lanes fused_lane.h's. */
#include "simd/fused_lane.h"
#include "simd/vectors.h"

#if defined(__x86_64__)

enum { LANES = 8, PARTS = 4 /* of the rows that are multiplied at a time: two segments */ };

AVX2 static ALWAYS_INLINE __m256i load(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }

/* The greatest exponents of the products of an instruction: of each segment 16 of 16 bits. */
AVX2 static ALWAYS_INLINE void survey(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k, __m256i e[2]) {
    const int16_t *ea = f->work->a + simd_tile_a(row, k);
    const uint32_t *eb = f->work->b + simd_tile_b(n, k);
    e[0] = e[1] = _mm256_set1_epi16(2 * FUSED_ZERO);
    for (uint32_t i = 0; i < f->t.step; i++, ea += SIMD_PANEL, eb++) {
        const __m256i v = _mm256_set1_epi32((int32_t)*eb);
        e[0] = _mm256_max_epi16(e[0], _mm256_add_epi16(load(ea), v));
        e[1] = _mm256_max_epi16(e[1], _mm256_add_epi16(load(ea + SIMD_SEGMENT), v));
    }
}

/* Exponents of D, as fused_exponent. */
AVX2 static ALWAYS_INLINE __m256i exponents_of(__m256 d, int least) {
    const __m256i u = _mm256_and_si256(_mm256_castps_si256(d), _mm256_set1_epi32(INT32_MAX));
    __m256i e = _mm256_sub_epi32(_mm256_srli_epi32(u, 23), _mm256_set1_epi32(FUSED_BIAS));
    e = _mm256_max_epi32(e, _mm256_set1_epi32(least));
    e = _mm256_blendv_epi8(e, _mm256_set1_epi32(FUSED_ZERO), _mm256_cmpeq_epi32(u, _mm256_setzero_si256()));
    return _mm256_blendv_epi8(e, _mm256_set1_epi32(FUSED_HUGE), _mm256_cmpgt_epi32(u, _mm256_set1_epi32(0x7f7fffff)));
}

/* Part p of two segments. */
AVX2 static ALWAYS_INLINE __m256i words_of(const __m256i e[2], int p) {
    return _mm256_cvtepi16_epi32(p % 2 ? _mm256_extracti128_si256(e[p / 2], 1) : _mm256_castsi256_si128(e[p / 2]));
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

/* A column of two segments before its products are summed. */
struct column {
    __m256 up[PARTS];      /* what products are multiplied by, to count in units of 2^(E - 25) */
    __m256i e[PARTS];      /* E */
    __m256i sum[2][PARTS]; /* D in these units; sums of even and of odd k stay below 2^31 */
    __m256i refused[PARTS];
};

/* e: what the survey found. */
AVX2 static ALWAYS_INLINE void align(const struct simd_fused *f, uint32_t row, uint32_t n, int shift, bool read,
                                     uint32_t *const d[PARTS], const __m256i e[2], struct column *c) {
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        const __m256 old = load_d(d[h], read, shift);
        const __m256i scaled = f->sfa ? scales(f, row + (uint32_t)(LANES * h), n) : _mm256_setzero_si256();
        const __m256i all =
            _mm256_max_epi32(_mm256_add_epi32(words_of(e, h), scaled), exponents_of(old, f->least_d - shift));
        c->refused[h] = _mm256_or_si256(_mm256_cmpgt_epi32(all, _mm256_set1_epi32(FUSED_HIGH)),
                                        _mm256_and_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(FUSED_LOW), all),
                                                         _mm256_cmpgt_epi32(all, _mm256_set1_epi32(FUSED_NO_NUMBER))));
        c->e[h] = clamp(all, fused_lowest(f), FUSED_HIGH);
        const __m256i place = _mm256_sub_epi32(_mm256_set1_epi32(FUSED_BITS), c->e[h]);
        c->up[h] = power(clamp(_mm256_add_epi32(place, scaled), -126, 127));
        c->sum[0][h] = _mm256_cvttps_epi32(_mm256_mul_ps(old, power(place)));
    }
}

#define BITS(e) _mm256_set1_epi32((int32_t)((uint32_t)((e) + FUSED_BIAS) << 23)) /* of 2^e in f32 */

/* The same without scale factors or a D that is scaled, as nearly always, with exponents where f32 has them. False: not
 * for these lanes, of which one has an E that is not in [FUSED_LOW, 25]. */
AVX2 static ALWAYS_INLINE bool align_plain(const struct simd_fused *f, bool read, uint32_t *const d[PARTS],
                                           const __m256i e[2], struct column *c) {
    const __m256i least = _mm256_set1_epi16(-FUSED_BIAS), most = _mm256_set1_epi16(FUSED_BIAS + 1);
    const __m256i in[2] = {_mm256_max_epi16(least, _mm256_min_epi16(most, e[0])),
                           _mm256_max_epi16(least, _mm256_min_epi16(most, e[1]))};
    __m256i other = _mm256_setzero_si256();
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        const __m256i of_products = _mm256_add_epi32(_mm256_slli_epi32(words_of(in, h), 23), BITS(0));
        const __m256i old = read ? load(d[h]) : _mm256_setzero_si256();
        const __m256i none =
            _mm256_cmpeq_epi32(_mm256_setzero_si256(), _mm256_and_si256(old, _mm256_set1_epi32(INT32_MAX)));
        const __m256i field = _mm256_and_si256(old, _mm256_set1_epi32(0x7f800000));
        const __m256i of_d = _mm256_andnot_si256(none, _mm256_max_epi32(field, BITS(f->least_d)));
        const __m256i all = _mm256_max_epi32(of_products, of_d);
        other = _mm256_or_si256(other, _mm256_or_si256(_mm256_cmpgt_epi32(all, BITS(FUSED_BITS)),
                                                       _mm256_cmpgt_epi32(BITS(FUSED_LOW), all)));
        const __m256i bits = _mm256_max_epi32(all, BITS(fused_lowest(f)));
        c->e[h] = _mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(FUSED_BIAS));
        c->up[h] = _mm256_castsi256_ps(_mm256_sub_epi32(BITS(FUSED_BIAS + FUSED_BITS), bits));
        c->sum[0][h] = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_castsi256_ps(old), c->up[h]));
        c->refused[h] = _mm256_setzero_si256();
    }
    return !lanes_of(other);
}

/* The products, in units of 2^(E - 25), cut toward zero. With `plain` 25 - E is in [0, 125]: added to a product's
 * exponent it multiplies it, and makes less than 1 of a zero or a subnormal. */
AVX2 static ALWAYS_INLINE void sum_products(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k,
                                            struct column *c, const bool plain) {
    const float *x = f->t.a + simd_tile_a(row, k), *y = f->t.b + simd_tile_b(n, k);
    __m256i sum[2][PARTS], up[PARTS];
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        up[h] = plain ? _mm256_sub_epi32(_mm256_castps_si256(c->up[h]), BITS(0)) : _mm256_castps_si256(c->up[h]);
        sum[0][h] = c->sum[0][h];
        sum[1][h] = _mm256_setzero_si256();
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
                sum[odd][h] = _mm256_add_epi32(sum[odd][h], _mm256_cvttps_epi32(p));
            }
        }
    }
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        c->sum[0][h] = sum[0][h];
        c->sum[1][h] = sum[1][h];
    }
}

/* One instruction, two segments, one column. */
AVX2 static ALWAYS_INLINE void column_avx2(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k) {
    const bool read = k || f->t.accumulate;
    const uint32_t row = seg * SIMD_SEGMENT;
    const int shift = fused_shift(f, k);
    uint32_t *column = f->t.d + (size_t)n * f->t.d_stride, *first = column + f->t.lane[seg],
             *second = column + f->t.lane[seg + 1], *d[PARTS] = {first, first + LANES, second, second + LANES};
    __m256i e[2];
    struct column c;
    survey(f, row, n, k, e);
    if (!f->sfa && !shift && align_plain(f, read, d, e, &c)) {
        sum_products(f, row, n, k, &c, true);
    } else {
        align(f, row, n, shift, read, d, e, &c);
        sum_products(f, row, n, k, &c, false);
    }
    UNROLL
    for (int h = 0; h < PARTS; h++) {
        const __m256i u = c.sum[0][h], v = c.sum[1][h], w = _mm256_add_epi32(u, v);
        /* both have the sign that their sum has not: it left 32 bits. -2^31 has no magnitude there. */
        const __m256i left = _mm256_or_si256(_mm256_and_si256(_mm256_xor_si256(u, w), _mm256_xor_si256(v, w)),
                                             _mm256_cmpeq_epi32(w, _mm256_set1_epi32(INT32_MIN)));
        const uint32_t lanes = lanes_of(_mm256_or_si256(c.refused[h], left));
        __m256i r = result(w, c.e[h], f->odd);
        uint32_t out[LANES];
        if (lanes) {
            _mm256_storeu_si256((__m256i *)(void *)out, r);
            refused_lanes(f, row + (uint32_t)(LANES * h), n, k, read, lanes, d[h], out);
            r = load(out);
        }
        _mm256_storeu_si256((__m256i *)(void *)d[h], r);
    }
}

AVX2 void fused_run_avx2(const struct simd_fused *f, bool same_b) {
    fused_exponents(f, same_b);
    for (uint32_t s = 0; s < f->t.segments; s += 2)
        for (uint32_t k = 0; k < f->t.k; k += f->t.step)
            for (uint32_t n = 0; n < f->t.n; n++)
                column_avx2(f, s, n, k);
}

#endif
