/* simd/fused_avx512.c - simd_fused_multiply with AVX-512; the rule is fused.h's, the cut of lanes fused_lane.h's. */
#include "simd/fused_lane.h"
#include "simd/vectors.h"

#if defined(__x86_64__)

/* Exponents of D, as fused_exponent. */
AVX512 static ALWAYS_INLINE __m512i exponents_of(__m512 d, int least) {
    const __m512i u = _mm512_and_si512(_mm512_castps_si512(d), _mm512_set1_epi32(INT32_MAX));
    __m512i e = _mm512_sub_epi32(_mm512_srli_epi32(u, 23), _mm512_set1_epi32(FUSED_BIAS));
    e = _mm512_max_epi32(e, _mm512_set1_epi32(least));
    e = _mm512_mask_mov_epi32(e, _mm512_testn_epi32_mask(u, u), _mm512_set1_epi32(FUSED_ZERO));
    return _mm512_mask_mov_epi32(e, _mm512_cmpge_epi32_mask(u, _mm512_set1_epi32(0x7f800000)),
                                 _mm512_set1_epi32(FUSED_HUGE));
}

#define BITS(e) _mm512_set1_epi32((int32_t)((uint32_t)((e) + FUSED_BIAS) << 23)) /* of 2^e in f32 */

/* Few exponents: those of A and B in bytes, each more by its bias. Sums end at 255. Those of numbers are more than the
 * field of f32 by `down`; with a zero they are less. An infinity or NaN has 255, alone and in any sum. */
struct bytes {
    int bias_a, bias_b, down;
    int least, high; /* exponents of products */
};
enum { BYTE_LEAST = (FUSED_BIAS + FUSED_BITS) / 2, BYTE_SPAN = 63 }; /* of an operand of many exponents */

/* Of types of few exponents. */
static const struct bytes of_types = {63, 64, 0, 2 * -14, 2 * 15};

static bool is_narrow(const struct simd_fused *f) { return f->least_a >= -14 && f->least_b >= -14; }

/* Of numbers, as bits without their signs: the smallest but 0, less 1, and the largest. */
struct extent {
    __m512i low, high;
};
AVX512 static ALWAYS_INLINE void see(struct extent *x, __m512 number) {
    const __m512i u = _mm512_and_si512(_mm512_castps_si512(number), _mm512_set1_epi32(INT32_MAX));
    x->low = _mm512_min_epu32(x->low, _mm512_sub_epi32(u, _mm512_set1_epi32(1)));
    x->high = _mm512_max_epu32(x->high, u);
}
AVX512 static ALWAYS_INLINE int least_of(const struct extent *x) {
    return (int)((_mm512_reduce_min_epu32(x->low) + 1) >> 23) - FUSED_BIAS;
}
AVX512 static ALWAYS_INLINE int most_of(const struct extent *x) {
    return (int)(_mm512_reduce_max_epu32(x->high) >> 23) - FUSED_BIAS;
}

/* Types of many exponents, of which numbers mostly have few: sums of a number and a zero are still less than those of
 * numbers. False: there are more, or an infinity or NaN is among them. */
AVX512 static bool find_bytes(const struct simd_fused *f, bool same_b, struct bytes *to) {
    const struct simd_tile *t = &f->t;
    struct extent a = {_mm512_set1_epi32(-1), _mm512_setzero_si512()}, b = a;
    for (uint32_t row = 0; row < t->segments * SIMD_SEGMENT; row += SIMD_PANEL)
        for (uint32_t i = 0; i < t->k * SIMD_PANEL; i += SIMD_SEGMENT)
            see(&a, _mm512_loadu_ps(t->a + simd_tile_a(row, 0) + i));
    for (uint32_t n = 0; !same_b && n < t->n; n++)
        for (uint32_t k = 0; k < t->k; k += 16)
            see(&b, _mm512_maskz_loadu_ps((__mmask16)(t->k - k < 16 ? 0xff : 0xffff), t->b + simd_tile_b(n, k)));
    if (!same_b) {
        f->work->least_b = least_of(&b);
        f->work->most_b = most_of(&b);
    }
    const int least_a = least_of(&a), most_a = most_of(&a), least_b = f->work->least_b, most_b = f->work->most_b;
    *to = (struct bytes){BYTE_LEAST - least_a, BYTE_LEAST - least_b, FUSED_BITS - (least_a + least_b),
                         least_a + least_b, most_a + most_b};
    return most_a <= FUSED_BIAS && most_b <= FUSED_BIAS && most_a - least_a <= BYTE_SPAN &&
           most_b - least_b <= BYTE_SPAN && to->high - to->least <= 255 - 2 * BYTE_LEAST && to->least >= FUSED_LOW &&
           to->least <= FUSED_BITS;
}

/* least: exponent of the type's subnormals. */
AVX512 static ALWAYS_INLINE __m512i bytes_of(__m512 x, int least, int bias) {
    const __m512i u = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MAX));
    const __m512i field = _mm512_max_epi32(_mm512_srli_epi32(u, 23), _mm512_set1_epi32(least + FUSED_BIAS));
    const __m512i byte =
        _mm512_maskz_add_epi32(_mm512_test_epi32_mask(u, u), field, _mm512_set1_epi32(bias - FUSED_BIAS));
    return _mm512_mask_mov_epi32(byte, _mm512_cmpge_epi32_mask(u, _mm512_set1_epi32(0x7f800000)),
                                 _mm512_set1_epi32(255));
}

/* The first byte of each word in all of its bytes. */
AVX512 static ALWAYS_INLINE __m512i four_times(__m512i bytes) {
    return _mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(_mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0)));
}

/* As find_exponents of fused.c. A word has those of rows r, 16 + r and so on, in its bytes or halves: a shift finds
 * those of a segment. One of B fills a word; in halves B's are more by f32's bias. */
AVX512 static ALWAYS_INLINE void find_exponents(const struct simd_fused *f, bool same_b, const struct bytes *bytes,
                                                const bool narrow) {
    const struct simd_tile *t = &f->t;
    const int parts = narrow ? 4 : 2, bits = 32 / parts;
    for (uint32_t row = 0; row < t->segments * SIMD_SEGMENT; row += SIMD_PANEL) {
        const float *from = t->a + simd_tile_a(row, 0);
        int8_t *to = (int8_t *)f->work->a + simd_tile_a(row, 0) * (narrow ? 1 : 2);
        for (uint32_t i = 0; i < t->k * 4; i += (uint32_t)parts, from += parts * (int)SIMD_SEGMENT, to += 64) {
            __m512i word = _mm512_setzero_si512();
            UNROLL
            for (int p = 0; p < parts; p++) {
                const __m512 x = _mm512_loadu_ps(from + p * (int)SIMD_SEGMENT);
                const __m512i part = narrow ? bytes_of(x, f->least_a, bytes->bias_a)
                                            : _mm512_and_si512(exponents_of(x, f->least_a), _mm512_set1_epi32(0xffff));
                word = _mm512_or_si512(word, _mm512_slli_epi32(part, (unsigned)(p * bits)));
            }
            _mm512_storeu_si512(to, word);
        }
    }
    for (uint32_t n = 0; (!same_b || f->work->narrow_b != narrow) && n < t->n; n++)
        for (uint32_t i = 0; i < t->k; i += 16) { /* a row has room after its end */
            const __m512 y = _mm512_loadu_ps(t->b + simd_tile_b(n, i));
            const __m512i half = _mm512_add_epi32(exponents_of(y, f->least_b), _mm512_set1_epi32(FUSED_BIAS));
            _mm512_storeu_si512(f->work->b + simd_tile_b(n, i),
                                narrow ? four_times(bytes_of(y, f->least_b, bytes->bias_b))
                                       : _mm512_mask_blend_epi16(0xaaaaaaaa, half, _mm512_slli_epi32(half, 16)));
        }
}

/* 2^e, e in [-126, 127]. */
AVX512 static ALWAYS_INLINE __m512 power(__m512i e) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(e, _mm512_set1_epi32(FUSED_BIAS)), 23));
}

AVX512 static ALWAYS_INLINE __m512i clamp(__m512i x, int low, int high) {
    return _mm512_min_epi32(_mm512_max_epi32(x, _mm512_set1_epi32(low)), _mm512_set1_epi32(high));
}

/* What scale factors add to the exponents of a segment's products. */
AVX512 static ALWAYS_INLINE __m512i scales(const struct simd_fused *f, uint32_t seg, uint32_t n) {
    int32_t e[SIMD_SEGMENT];
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++)
        e[i] = fused_scale(f->sfa, seg * SIMD_SEGMENT + i);
    return _mm512_add_epi32(_mm512_loadu_si512(e), _mm512_set1_epi32(fused_scale(f->sfb, n)));
}

/* Bits of f32 of sum * 2^(E - 25), cut toward zero; quantum: bits of 2^(E - 25). */
AVX512 static ALWAYS_INLINE __m512i result(__m512i sum, __m512i quantum, bool odd) {
    __m512 r = _mm512_cvt_roundepi32_ps(sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    if (odd) {
        const __mmask16 lost = _mm512_cmpneq_epi32_mask(_mm512_cvttps_epi32(r), sum);
        const __m512i b = _mm512_castps_si512(r);
        r = _mm512_castsi512_ps(_mm512_mask_or_epi32(b, lost, b, _mm512_set1_epi32(1)));
    }
    return _mm512_castps_si512(_mm512_mul_ps(r, _mm512_castsi512_ps(quantum)));
}

/* The greatest exponents of the products of an instruction: two columns of four segments. */
AVX512 static ALWAYS_INLINE void survey(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k,
                                        __m512i e[2][2]) {
    const int16_t *ea = f->work->a + simd_tile_a(seg * SIMD_SEGMENT, k);
    const uint32_t *eb = f->work->b + simd_tile_b(n, k);
    UNROLL
    for (int c = 0; c < 2; c++)
        e[c][0] = e[c][1] = _mm512_set1_epi16(2 * FUSED_ZERO);
    for (uint32_t i = 0; i < f->t.step; i++, ea += SIMD_PANEL, eb++) {
        const __m512i low = _mm512_loadu_si512(ea), high = _mm512_loadu_si512(ea + 32);
        UNROLL
        for (int c = 0; c < 2; c++) {
            const __m512i v = _mm512_set1_epi32((int32_t)eb[c * (int)SIMD_B_STRIDE]);
            e[c][0] = _mm512_max_epi16(e[c][0], _mm512_add_epi16(low, v));
            e[c][1] = _mm512_max_epi16(e[c][1], _mm512_add_epi16(high, v));
        }
    }
}

/* The same by bytes, which become those of f32. */
AVX512 static ALWAYS_INLINE void survey_narrow(const struct simd_fused *f, const struct bytes *bytes, uint32_t seg,
                                               uint32_t n, uint32_t k, __m512i out[2][2]) {
    const int8_t *ea = (const int8_t *)f->work->a + simd_tile_a(seg * SIMD_SEGMENT, k);
    const uint32_t *eb = f->work->b + simd_tile_b(n, k);
    __m512i e[2][2];
    UNROLL
    for (int c = 0; c < 2; c++)
        e[c][0] = e[c][1] = _mm512_setzero_si512();
    for (uint32_t i = 0; i < f->t.step; i += 2, ea += 2 * SIMD_PANEL, eb += 2) {
        UNROLL
        for (int odd = 0; odd < 2; odd++) {
            const __m512i v = _mm512_loadu_si512(ea + odd * (int)SIMD_PANEL);
            UNROLL
            for (int c = 0; c < 2; c++) {
                const __m512i w = _mm512_set1_epi32((int32_t)eb[c * (int)SIMD_B_STRIDE + odd]);
                e[c][odd] = _mm512_max_epu8(e[c][odd], _mm512_adds_epu8(v, w));
            }
        }
    }
    UNROLL
    for (int c = 0; c < 2; c++)
        out[c][0] = _mm512_subs_epu8(_mm512_max_epu8(e[c][0], e[c][1]), _mm512_set1_epi8((char)bytes->down));
}

/* Of what a survey found the exponents of segment s. */
AVX512 static ALWAYS_INLINE __m512i found(const struct bytes *bytes, const __m512i e[2], int s, const bool narrow) {
    if (!narrow) {
        const __m512i v = s % 2 ? e[s / 2] : _mm512_slli_epi32(e[s / 2], 16);
        return _mm512_sub_epi32(_mm512_srai_epi32(v, 16), _mm512_set1_epi32(FUSED_BIAS));
    }
    const __m512i v = _mm512_and_si512(_mm512_srli_epi32(e[0], (unsigned)(8 * s)), _mm512_set1_epi32(0xff));
    const __m512i number = _mm512_sub_epi32(v, _mm512_set1_epi32(FUSED_BIAS));
    const __m512i some = _mm512_mask_mov_epi32(number, _mm512_cmplt_epi32_mask(number, _mm512_set1_epi32(bytes->least)),
                                               _mm512_set1_epi32(2 * FUSED_ZERO));
    return _mm512_mask_mov_epi32(some, _mm512_cmpgt_epi32_mask(number, _mm512_set1_epi32(bytes->high)),
                                 _mm512_set1_epi32(FUSED_HUGE));
}

/* The same where f32 has them. Of halves: 0 or 255 where f32 has none. */
AVX512 static ALWAYS_INLINE __m512i found_bits(const __m512i e[2], int s, const bool narrow) {
    if (narrow) {
        const __m512i v = s == 3 ? _mm512_srli_epi32(e[0], 1) : _mm512_slli_epi32(e[0], (unsigned)(23 - 8 * s));
        return _mm512_and_si512(v, _mm512_set1_epi32(0x7f800000));
    }
    const __m512i most = _mm512_set1_epi16(2 * FUSED_BIAS + 1);
    const __m512i half = _mm512_max_epi16(_mm512_setzero_si512(), _mm512_min_epi16(e[s / 2], most));
    return _mm512_slli_epi32(s % 2 ? _mm512_srli_epi32(half, 16) : half, 23);
}

/* --- lanes of any exponents, scale factors, a D that is scaled ---------------------------------------------------- */

/* A column of four segments before its products are summed. */
struct column {
    uint32_t *d[4];
    __m512 up[4];       /* what products are multiplied by, to count in units of 2^(E - 25) */
    __m512i quantum[4]; /* bits of 2^(E - 25) */
    __m512i sum[2][4];  /* D in these units; sums of even and of odd k stay below 2^31 */
    __mmask16 refused[4];
};

AVX512 static ALWAYS_INLINE uint32_t *cells(const struct simd_fused *f, uint32_t seg, uint32_t n) {
    return f->t.d + (size_t)n * f->t.d_stride + f->t.lane[seg];
}

/* e: what the survey found of 64 rows. */
AVX512 static ALWAYS_INLINE void align(const struct simd_fused *f, const struct bytes *bytes, uint32_t seg, uint32_t n,
                                       int shift, const __m512i e[2], struct column *x, const bool narrow) {
    const __m512 down = power(_mm512_set1_epi32(-shift));
    for (int s = 0; s < 4; s++) {
        x->d[s] = cells(f, seg + (uint32_t)s, n);
        const __m512 old = _mm512_mul_ps(_mm512_loadu_ps(x->d[s]), down);
        const __m512i of_products = found(bytes, e, s, narrow);
        const __m512i scaled = f->sfa ? scales(f, seg + (uint32_t)s, n) : _mm512_setzero_si512();
        const __m512i all =
            _mm512_max_epi32(_mm512_add_epi32(of_products, scaled), exponents_of(old, f->least_d - shift));
        const __m512i cut = clamp(all, fused_lowest(f), FUSED_HIGH);
        const __m512i place = _mm512_sub_epi32(_mm512_set1_epi32(FUSED_BITS), cut);
        x->refused[s] = _mm512_cmpgt_epi32_mask(all, _mm512_set1_epi32(FUSED_HIGH)) |
                        (_mm512_cmplt_epi32_mask(all, _mm512_set1_epi32(FUSED_LOW)) &
                         _mm512_cmpgt_epi32_mask(all, _mm512_set1_epi32(FUSED_NO_NUMBER)));
        x->quantum[s] = _mm512_castps_si512(power(_mm512_sub_epi32(_mm512_setzero_si512(), place)));
        x->up[s] = power(clamp(_mm512_add_epi32(place, scaled), -126, 127));
        x->sum[0][s] = _mm512_cvttps_epi32(_mm512_mul_ps(old, power(place)));
        x->sum[1][s] = _mm512_setzero_si512();
    }
}

/* The products, in units of 2^(E - 25), cut toward zero. With `plain` `up` has the bits of 25 - E, in [0, 125]. Added
 * to a number's exponent they multiply it, and make less than 1 of a zero or a subnormal. sums: 2, one of even and one
 * of odd k, or 1. */
AVX512 static ALWAYS_INLINE void sum_products(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k,
                                              const __m512i up[4], __m512i out[2][4], const bool plain,
                                              const int sums) {
    const float *x = f->t.a + simd_tile_a(seg * SIMD_SEGMENT, k), *y = f->t.b + simd_tile_b(n, k);
    __m512i sum[2][4];
    UNROLL
    for (int s = 0; s < 4; s++) {
        sum[0][s] = out[0][s];
        sum[1][s] = out[1][s];
    }
    TWICE
    for (uint32_t i = 0; i < f->t.step; i += 2, y += 2) {
        UNROLL
        for (int odd = 0; odd < 2; odd++, x += SIMD_PANEL) {
            const __m512 w = _mm512_set1_ps(y[odd]);
            UNROLL
            for (int s = 0; s < 4; s++) {
                __m512 p = _mm512_mul_ps(_mm512_loadu_ps(x + s * (int)SIMD_SEGMENT), w);
                p = plain ? _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), up[s]))
                          : _mm512_mul_ps(p, _mm512_castsi512_ps(up[s]));
                sum[odd % sums][s] = _mm512_add_epi32(sum[odd % sums][s], _mm512_cvttps_epi32(p));
            }
        }
    }
    UNROLL
    for (int s = 0; s < 4; s++) {
        out[0][s] = sum[0][s];
        out[1][s] = sum[1][s];
    }
}

/* Negative where the sum of two parts left 32 bits: both have the sign that it has not. */
AVX512 static ALWAYS_INLINE __m512i left(__m512i u, __m512i v, __m512i sum) {
    return _mm512_ternarylogic_epi32(u, v, sum, 0x42); /* 001 or 110 */
}

/* One instruction, four segments, two columns. */
AVX512 static ALWAYS_INLINE void block_any(const struct simd_fused *f, const struct bytes *bytes, uint32_t seg,
                                           uint32_t n, uint32_t k, const bool narrow) {
    __m512i e[2][2];
    if (narrow)
        survey_narrow(f, bytes, seg, n, k, e);
    else
        survey(f, seg, n, k, e);
    for (uint32_t i = 0; i < 2; i++) {
        struct column c;
        align(f, bytes, seg, n + i, fused_shift(f, k), e[i], &c, narrow);
        __m512i up[4] = {_mm512_castps_si512(c.up[0]), _mm512_castps_si512(c.up[1]), _mm512_castps_si512(c.up[2]),
                         _mm512_castps_si512(c.up[3])};
        sum_products(f, seg, n + i, k, up, c.sum, false, 2);
        for (uint32_t s = 0; s < 4; s++) {
            const __m512i sum = _mm512_add_epi32(c.sum[0][s], c.sum[1][s]);
            uint32_t lanes = c.refused[s] | _mm512_movepi32_mask(left(c.sum[0][s], c.sum[1][s], sum));
            uint32_t out[SIMD_SEGMENT];
            _mm512_storeu_si512(out, result(sum, c.quantum[s], f->odd));
            for (; lanes; lanes &= lanes - 1) {
                const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
                out[lane] = fused_lane(f, (seg + s) * SIMD_SEGMENT + lane, n + i, k, true, c.d[s][lane]);
            }
            _mm512_storeu_si512(c.d[s], _mm512_loadu_si512(out));
        }
    }
}

AVX512 static __attribute__((noinline)) void block_wide(const struct simd_fused *f, const struct bytes *bytes,
                                                        uint32_t seg, uint32_t n, uint32_t k) {
    block_any(f, bytes, seg, n, k, false);
}

AVX512 static __attribute__((noinline)) void block_narrow(const struct simd_fused *f, const struct bytes *bytes,
                                                          uint32_t seg, uint32_t n, uint32_t k) {
    block_any(f, bytes, seg, n, k, true);
}

/* --- nearly all --------------------------------------------------------------------------------------------------- */

/* What the loops are compiled for. */
struct form {
    bool narrow; /* exponents in bytes */
    bool half;   /* D is f16 */
    bool scaled; /* scale factors; narrow */
    int sums;    /* 1: the 8 products of an instruction and D add up to less than 2^31 */
};

/* D's exponent, where f32 has it: of 0 less than any. */
AVX512 static ALWAYS_INLINE __m512i bits_of_d(const struct simd_fused *f, __m512i old, const struct form form) {
    const __m512i field = _mm512_and_si512(old, _mm512_set1_epi32(0x7f800000));
    if (!form.half) /* what a subnormal counts is too little for the loops anyway */
        return field;
    const __mmask16 some = _mm512_test_epi32_mask(old, _mm512_set1_epi32(INT32_MAX));
    return _mm512_maskz_max_epi32(some, BITS(f->least_d), field);
}

/* found_bits of products with scale factors, which add `scaled` to each exponent: 0 or 255 where f32 has none. A factor
 * that is NaN makes one of all products. */
AVX512 static ALWAYS_INLINE __m512i scaled_bits(__m512i e, int s, __m512i scaled) {
    const __m512i v = _mm512_and_si512(_mm512_srli_epi32(e, (unsigned)(8 * s)), _mm512_set1_epi32(0xff));
    const __mmask16 some = _mm512_cmpge_epi32_mask(v, _mm512_set1_epi32(of_types.least + FUSED_BIAS)) |
                           _mm512_cmpge_epi32_mask(scaled, _mm512_set1_epi32(FUSED_HUGE / 2));
    return _mm512_slli_epi32(clamp(_mm512_maskz_add_epi32(some, v, scaled), 0, 2 * FUSED_BIAS + 1), 23);
}

/* One instruction, four segments, two columns, with exponents where f32 has them. False: nothing has happened; a lane's
 * E is not in [least, 25], the scaled exponent of its products is less than E by more than 25, or a sum left 32 bits.
 * sa: what the scale factors of rows add to exponents. */
AVX512 static ALWAYS_INLINE bool block(const struct simd_fused *f, const struct bytes *bytes, uint32_t seg, uint32_t n,
                                       uint32_t k, uint32_t *const d[4], const int32_t *sa, const struct form form) {
    const size_t at[2] = {(size_t)n * f->t.d_stride, (size_t)(n + 1) * f->t.d_stride};
    const int least = form.narrow && !form.scaled ? bytes->least : FUSED_LOW;
    __m512i e[2][2], up[2][4], scaled[2][4], sum[2][2][4], far = _mm512_setzero_si512(), lost = _mm512_setzero_si512();
    if (form.narrow)
        survey_narrow(f, bytes, seg, n, k, e);
    else
        survey(f, seg, n, k, e);
    UNROLL
    for (int i = 0; i < 2; i++)
        UNROLL
    for (int s = 0; s < 4; s++) {
        const __m512i old = _mm512_loadu_si512(d[s] + at[i]);
        __m512i all = found_bits(e[i], s, form.narrow);
        if (form.scaled) {
            const __m512i by = _mm512_add_epi32(_mm512_loadu_si512(sa + (seg + (uint32_t)s) * SIMD_SEGMENT),
                                                _mm512_set1_epi32(fused_scale(f->sfb, n + (uint32_t)i)));
            all = scaled_bits(e[i][0], s, by);
            scaled[i][s] = _mm512_slli_epi32(by, 23);
        }
        all = _mm512_max_epi32(all, bits_of_d(f, old, form));
        up[i][s] = _mm512_sub_epi32(BITS(FUSED_BITS), all);
        far = _mm512_max_epu32(far, up[i][s]);
        up[i][s] = form.half ? _mm512_min_epi32(up[i][s], BITS(FUSED_BITS - FUSED_BIAS - fused_lowest(f))) : up[i][s];
        sum[i][0][s] = _mm512_cvttps_epi32(_mm512_castsi512_ps(_mm512_add_epi32(old, up[i][s])));
        sum[i][1][s] = _mm512_setzero_si512();
        if (form.scaled) {
            up[i][s] = _mm512_add_epi32(up[i][s], scaled[i][s]);
            far = _mm512_max_epu32(far, up[i][s]);
        }
    }
    if (_mm512_cmpgt_epu32_mask(far, _mm512_set1_epi32((FUSED_BITS - least) << 23)))
        return false;
    UNROLL
    for (int i = 0; i < 2; i++) {
        sum_products(f, seg, n + (uint32_t)i, k, up[i], sum[i], true, form.sums);
        UNROLL
        for (int s = 0; s < 4; s++) {
            if (form.sums == 1)
                break;
            const __m512i both = _mm512_add_epi32(sum[i][0][s], sum[i][1][s]);
            lost = _mm512_or_si512(lost, left(sum[i][0][s], sum[i][1][s], both));
            sum[i][0][s] = both;
        }
    }
    if (form.sums == 2 && _mm512_movepi32_mask(lost))
        return false;
    UNROLL
    for (int i = 0; i < 2; i++)
        UNROLL
    for (int s = 0; s < 4; s++) {
        __m512i quantum = _mm512_sub_epi32(BITS(0), up[i][s]);
        if (form.scaled)
            quantum = _mm512_add_epi32(quantum, scaled[i][s]);
        _mm512_storeu_si512(d[s] + at[i], result(sum[i][0][s], quantum, form.half && f->odd));
    }
    return true;
}

AVX512 static ALWAYS_INLINE void run(const struct simd_fused *f, const struct bytes *bytes, bool same_b,
                                     const struct form form) {
    int32_t sa[SIMD_MAX_ROWS];
    for (uint32_t i = 0; form.scaled && i < f->t.segments * SIMD_SEGMENT; i++)
        sa[i] = fused_scale(f->sfa, i);
    find_exponents(f, same_b, bytes, form.narrow);
    f->work->narrow_b = form.narrow;
    for (uint32_t s = 0; s < f->t.segments; s += 4) {
        uint32_t *const d[4] = {cells(f, s, 0), cells(f, s + 1, 0), cells(f, s + 2, 0), cells(f, s + 3, 0)};
        for (uint32_t k = 0; k < f->t.k; k += f->t.step)
            for (uint32_t n = 0; n < f->t.n; n += 2)
                if (fused_shift(f, k) || !block(f, bytes, s, n, k, d, sa, form))
                    (form.narrow ? block_narrow : block_wide)(f, bytes, s, n, k);
    }
}

AVX512 void fused_run_avx512(const struct simd_fused *f, bool same_b) {
    const bool half = f->odd || f->least_d > -126 || f->floor > FUSED_LOW;
    for (uint32_t n = 0; !f->t.accumulate && n < f->t.n; n++) /* a D of 0 takes no part */
        for (uint32_t s = 0; s < f->t.segments; s++)
            _mm512_storeu_si512(cells(f, s, n), _mm512_setzero_si512());
    struct bytes bytes = of_types;
    const bool narrow = is_narrow(f) || find_bytes(f, same_b, &bytes), few = f->t.step <= 8;
    if (f->sfa) /* of types of few exponents, D is f32 */
        run(f, &bytes, same_b, (struct form){.narrow = true, .scaled = true, .sums = 2});
    else if (narrow && half)
        run(f, &bytes, same_b, (struct form){.narrow = true, .half = true, .sums = 2});
    else if (narrow && few)
        run(f, &bytes, same_b, (struct form){.narrow = true, .sums = 1});
    else if (narrow)
        run(f, &bytes, same_b, (struct form){.narrow = true, .sums = 2});
    else if (half)
        run(f, &bytes, same_b, (struct form){.half = true, .sums = 2});
    else if (few)
        run(f, &bytes, same_b, (struct form){.sums = 1});
    else
        run(f, &bytes, same_b, (struct form){.sums = 2});
}

/* --- four-bit operands: as in fused_avx2.c, where there is more to read ------------------------------------------- */

/* E of 16 rows of a column. */
AVX512 static ALWAYS_INLINE __m512i align_blocks(const struct simd_fused *f, const struct fused_blocks *a,
                                                 const struct fused_blocks *b, uint32_t row, uint32_t n, __m512i old,
                                                 __mmask16 *refused) {
    const __m512i u = _mm512_and_si512(old, _mm512_set1_epi32(INT32_MAX));
    __m512i x = _mm512_sub_epi32(_mm512_srli_epi32(u, 23), _mm512_set1_epi32(FUSED_BIAS));
    x = _mm512_sub_epi32(_mm512_max_epi32(x, _mm512_set1_epi32(f->least_d)), _mm512_set1_epi32(f->shift));
    __m512i e = _mm512_set1_epi32(f->floor);
    e = _mm512_mask_max_epi32(e, _mm512_test_epi32_mask(u, u), e, x);
    *refused = _mm512_cmpge_epi32_mask(u, _mm512_set1_epi32(0x7f800000));
    UNROLL
    for (int g = 0; g < FUSED_BLOCKS; g++) {
        x = _mm512_add_epi32(_mm512_loadu_si512(a->exponent[g] + row), _mm512_set1_epi32(b->exponent[g][n]));
        *refused |= _mm512_cmpgt_epi32_mask(x, _mm512_set1_epi32(FUSED_HUGE / 2));
        const __mmask16 some =
            _mm512_test_epi32_mask(_mm512_loadu_si512(a->numbers[g] + row), _mm512_set1_epi32(b->numbers[g][n]));
        e = _mm512_mask_max_epi32(e, some, e, x);
    }
    return e;
}

AVX512 static ALWAYS_INLINE __m512d power_of_two(__m256i e) {
    return _mm512_castsi512_pd(
        _mm512_slli_epi64(_mm512_add_epi64(_mm512_cvtepi32_epi64(e), _mm512_set1_epi64(1023)), 52));
}

AVX512 static ALWAYS_INLINE __m512d cut_off(__m512d x) {
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

/* The sum of 8 rows, cut to 24 bits; place: 35 - E. */
AVX512 static ALWAYS_INLINE __m512d sum_blocks(const struct simd_fused *f, const struct fused_blocks *a,
                                               const struct fused_blocks *b, uint32_t row, uint32_t n,
                                               const uint32_t *sums, size_t stride, __m256 old, __m256i place) {
    const __m256 all = _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MAX)), most = _mm256_set1_ps(FUSED_BLOCK_MOST);
    const __m512d up = power_of_two(place), down = power_of_two(_mm256_set1_epi32(-f->shift));
    __m512d sum = cut_off(_mm512_mul_pd(_mm512_mul_pd(_mm512_cvtps_pd(old), down), up));
    UNROLL
    for (int g = 0; g < FUSED_BLOCKS; g++, sums += stride) {
        const __m256 x = _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)sums));
        const __m512d exact = _mm512_cvtps_pd(_mm256_and_ps(x, _mm256_cmp_ps(_mm256_and_ps(x, all), most, _CMP_LE_OQ)));
        const __m512d factor = _mm512_mul_pd(_mm512_cvtps_pd(_mm256_loadu_ps(a->factor[g] + row)),
                                             _mm512_set1_pd((double)b->factor[g][n]));
        sum = _mm512_add_pd(sum, cut_off(_mm512_mul_pd(_mm512_mul_pd(exact, factor), up)));
    }
    sum = _mm512_mul_pd(sum, power_of_two(_mm256_sub_epi32(_mm256_setzero_si256(), place)));
    sum = _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(sum), _mm512_set1_epi64(~INT64_C(0x1fffffff))));
    return _mm512_add_pd(sum, _mm512_setzero_pd());
}

AVX512 static ALWAYS_INLINE unsigned outside(__m512d x) {
    const __m512d size = _mm512_abs_pd(x);
    const __mmask8 some = _mm512_cmp_pd_mask(size, _mm512_setzero_pd(), _CMP_NEQ_OQ);
    return _mm512_mask_cmp_pd_mask(some, size, _mm512_set1_pd(0x1p-126), _CMP_LT_OQ) |
           _mm512_cmp_pd_mask(size, _mm512_set1_pd(0x1p128), _CMP_GE_OQ);
}

AVX512 bool fused_blocks_avx512(const struct simd_fused *f, const struct fused_blocks *a, const struct fused_blocks *b,
                                uint32_t row, uint32_t n, const uint32_t *sums, size_t stride, uint32_t *d) {
    const __m512i old = f->t.accumulate ? _mm512_loadu_si512(d) : _mm512_setzero_si512();
    __mmask16 refused;
    const __m512i place =
        _mm512_sub_epi32(_mm512_set1_epi32(FUSED_BLOCK_BITS), align_blocks(f, a, b, row, n, old, &refused));
    const __m512d x = sum_blocks(f, a, b, row, n, sums, stride, _mm256_castsi256_ps(_mm512_castsi512_si256(old)),
                                 _mm512_castsi512_si256(place));
    const __m512d y =
        sum_blocks(f, a, b, row + 8, n, sums + 8, stride, _mm256_castsi256_ps(_mm512_extracti64x4_epi64(old, 1)),
                   _mm512_extracti64x4_epi64(place, 1));
    if (refused || outside(x) || outside(y))
        return false;
    _mm256_storeu_ps((float *)(void *)d, _mm512_cvtpd_ps(x));
    _mm256_storeu_ps((float *)(void *)(d + 8), _mm512_cvtpd_ps(y));
    return true;
}

#endif
