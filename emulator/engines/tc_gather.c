/* engines/tc_gather.c - matrices in shared memory on their way into the multiplier, by the host's vector unit; contract
 * in tc_operand.h. */
#include "engines/tc_operand.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* The same loops, compiled for each vector unit. */
#define VECTOR_LOOPS(NAME, TARGET)                                                                                     \
    TARGET static void locate_##NAME(const struct tc_desc *d, const struct tc_operand *o, uint32_t *off) {             \
        locate(d, o, off);                                                                                             \
    }                                                                                                                  \
    TARGET static void span_##NAME(const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {               \
        span(off, count, low, high);                                                                                   \
    }

/* --- where units lie --- */

static ALWAYS_INLINE void locate(const struct tc_desc *d, const struct tc_operand *o, uint32_t *off) {
    const struct tc_desc c = *d;
    const uint32_t lines = tc_lines(o), units = tc_line_units(o);
    if (o->mn_major) {
        uint32_t chunk[TC_MAX_ROWS * 4 / 16];
        for (uint32_t u = 0; u < units; u++)
            chunk[u] = c.start + tc_desc_chunk_mn(&c, u);
        for (uint32_t l = 0; l < lines; l++) {
            const uint32_t line = tc_desc_line_mn(&c, l);
            for (uint32_t u = 0; u < units; u++)
                off[l * units + u] = tc_desc_swizzle(&c, chunk[u] + line);
        }
    } else {
        uint32_t group[16]; /* 8 rows, which repeat every SBO; M and N are multiples of 8 */
        for (uint32_t i = 0; i < 16; i++)
            group[i] = c.start + i / 2 * c.width + i % 2 * c.along_k;
        for (uint32_t l = 0, at = 0; l < lines; l += 8, at += c.sbo, off += 16)
            for (uint32_t i = 0; i < 16; i++)
                off[i] = tc_desc_swizzle(&c, group[i] + at);
    }
}

static ALWAYS_INLINE void span(const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {
    uint32_t lo = UINT32_MAX, hi = 0;
    for (uint32_t i = 0; i < count; i++) {
        lo = off[i] < lo ? off[i] : lo;
        hi = off[i] > hi ? off[i] : hi;
    }
    *low = lo;
    *high = hi;
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX2 __attribute__((target("avx2,fma,f16c")))

VECTOR_LOOPS(avx512, AVX512)
VECTOR_LOOPS(avx2, AVX2)
#endif

void tc_locate(enum tc_simd simd, const struct tc_desc *d, const struct tc_operand *o, uint32_t *off) {
#if defined(__x86_64__)
    if (simd >= TC_SIMD_AVX512) {
        locate_avx512(d, o, off);
        return;
    }
    if (simd == TC_SIMD_AVX2) {
        locate_avx2(d, o, off);
        return;
    }
#else
    (void)simd;
#endif
    locate(d, o, off);
}

void tc_span(enum tc_simd simd, const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {
#if defined(__x86_64__)
    if (simd >= TC_SIMD_AVX512) {
        span_avx512(off, count, low, high);
        return;
    }
    if (simd == TC_SIMD_AVX2) {
        span_avx2(off, count, low, high);
        return;
    }
#else
    (void)simd;
#endif
    span(off, count, low, high);
}

/* --- elements --- */

#if defined(__x86_64__)

static ALWAYS_INLINE __m128i unit(const uint8_t *smem, uint32_t off) {
    return _mm_loadu_si128((const __m128i *)(const void *)(smem + off));
}

/* A row: 16 elements. The conversion from f16 is exact and makes NaNs quiet, as num_decode_f16 does. */
AVX512 static ALWAYS_INLINE __m512 row_avx512(const uint8_t *smem, const uint32_t *off, bool bf16) {
    __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(unit(smem, off[0])), unit(smem, off[1]), 1);
    return bf16 ? _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16)) : _mm512_cvtph_ps(v);
}

/* 16 x 16 elements: rows of 16 become columns. */
AVX512 static ALWAYS_INLINE void transpose_avx512(__m512 r[16]) {
    __m512 t[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 16
        for (int h = 0; h < 2; h++) {
            __m512d a = _mm512_castps_pd(t[i + h]), b = _mm512_castps_pd(t[i + h + 2]);
            r[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            r[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
        /* r[4 g + c]: columns c, c + 4, c + 8, c + 12 of rows 4 g .. 4 g + 3 */
#pragma GCC unroll 16
    for (int c = 0; c < 4; c++) {
        t[c] = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88);
        t[4 + c] = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xdd);
        t[8 + c] = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88);
        t[12 + c] = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xdd);
    }
#pragma GCC unroll 16
    for (int c = 0; c < 4; c++) {
        r[c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0x88);
        r[4 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0x88);
        r[8 + c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0xdd);
        r[12 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0xdd);
    }
}

AVX512 static ALWAYS_INLINE void gather_groups(const struct tc_operand *o, const uint8_t *smem,
                                               const struct tc_groups *g, float *out, bool bf16) {
    if (!o->panels) {
        for (uint32_t r = 0; r < o->rows; r += 8) {
            const uint8_t *group = smem + (size_t)(r / 8) * g->stride;
            const uint32_t *unit = g->unit + r / 8 * g->list;
            float *to = out + tc_tile_b(r, 0);
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                _mm512_storeu_ps(to + i * TC_B_STRIDE, row_avx512(group, unit + 2 * i, bf16));
        }
        return;
    }
    for (uint32_t r = 0; r < o->rows; r += 16) {
        const uint8_t *group[2] = {smem + (size_t)(r / 8) * g->stride, smem + (size_t)(r / 8 + 1) * g->stride};
        const uint32_t *unit[2] = {g->unit + r / 8 * g->list, g->unit + (r / 8 + 1) * g->list};
        float *to = out + tc_tile_a(r, 0);
        __m512 v[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            v[i] = row_avx512(group[i / 8], unit[i / 8] + 2 * (i % 8), bf16);
        transpose_avx512(v);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            _mm512_storeu_ps(to + i * TC_PANEL, v[i]);
    }
}

AVX512 static void gather_f16(const struct tc_operand *o, const uint8_t *smem, const struct tc_groups *g, float *out) {
    gather_groups(o, smem, g, out, false);
}
AVX512 static void gather_bf16(const struct tc_operand *o, const uint8_t *smem, const struct tc_groups *g, float *out) {
    gather_groups(o, smem, g, out, true);
}

void tc_gather_groups(const struct tc_operand *o, const uint8_t *smem, const struct tc_groups *g, float *out) {
    (o->elem == TC_F16 ? gather_f16 : gather_bf16)(o, smem, g, out);
}

/* Elements 8 j .. 8 j + 7 of the line whose units lie at off[]. e4m3 is f16 with another bias and one NaN. */
AVX2 static ALWAYS_INLINE __m256 octet(enum tc_elem e, const uint8_t *smem, const uint32_t *off, uint32_t j) {
    if (e == TC_TF32) {
        __m256i v =
            _mm256_inserti128_si256(_mm256_castsi128_si256(unit(smem, off[2 * j])), unit(smem, off[2 * j + 1]), 1);
        return _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32((int32_t)0xffffe000)));
    }
    if (e == TC_F16)
        return _mm256_cvtph_ps(unit(smem, off[j]));
    if (e == TC_BF16)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(unit(smem, off[j])), 16));
    __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(smem + off[j / 2] + j % 2 * 8));
    if (e == TC_S8)
        return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(v));
    if (e == TC_U8)
        return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(v));
    if (e == TC_E5M2) /* the upper half of an f16 */
        return _mm256_cvtph_ps(_mm_unpacklo_epi8(_mm_setzero_si128(), v));
    const __m128i sign_and_number = _mm_set1_epi16((int16_t)0xbf80), number = _mm_set1_epi16(0x3f80);
    v = _mm_and_si128(_mm_slli_epi16(_mm_cvtepi8_epi16(v), 7), sign_and_number);
    __m128i nan = _mm_cmpeq_epi16(_mm_and_si128(v, number), number);
    v = _mm_or_si128(v, _mm_and_si128(nan, _mm_set1_epi16(0x7e00)));
    return _mm256_mul_ps(_mm256_cvtph_ps(v), _mm256_set1_ps(256)); /* bias 15 for 7 */
}

AVX2 static ALWAYS_INLINE void transpose_avx2(__m256 r[8]) {
    __m256 t[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 8
        for (int h = 0; h < 2; h++) {
            r[i + 2 * h] = _mm256_shuffle_ps(t[i + h], t[i + h + 2], 0x44);
            r[i + 2 * h + 1] = _mm256_shuffle_ps(t[i + h], t[i + h + 2], 0xee);
        }
#pragma GCC unroll 8
    for (int c = 0; c < 4; c++) {
        t[c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x20);
        t[4 + c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x31);
    }
#pragma GCC unroll 8
    for (int c = 0; c < 8; c++)
        r[c] = t[c];
}

/* Lines run along K, or along M or N; in the multiplier's layout 8 elements of a line are neighbours, or one each of 8
 * lines. */
AVX2 static ALWAYS_INLINE void gather(enum tc_elem e, const struct tc_operand *o, const uint8_t *smem,
                                      const uint32_t *off, float *out) {
    const bool mn = o->mn_major, panels = o->panels;
    const uint32_t lines = tc_lines(o), units = tc_line_units(o), octets = (mn ? o->rows : o->k) / 8;
    if (mn == panels) {
        for (uint32_t l = 0; l < lines; l++)
            for (uint32_t j = 0; j < octets; j++)
                _mm256_storeu_ps(out + (mn ? tc_tile_a(8 * j, l) : tc_tile_b(l, 8 * j)),
                                 octet(e, smem, off + l * units, j));
        return;
    }
    const size_t step = panels ? TC_PANEL : TC_B_STRIDE;
    for (uint32_t l = 0; l < lines; l += 8)
        for (uint32_t j = 0; j < octets; j++) {
            __m256 v[8];
#pragma GCC unroll 8
            for (uint32_t i = 0; i < 8; i++)
                v[i] = octet(e, smem, off + (l + i) * units, j);
            transpose_avx2(v);
            float *to = out + (panels ? tc_tile_a(l, 8 * j) : tc_tile_b(8 * j, l));
#pragma GCC unroll 8
            for (uint32_t i = 0; i < 8; i++)
                _mm256_storeu_ps(to + i * step, v[i]);
        }
}

AVX2 static bool gather_avx2(const struct tc_operand *o, const uint8_t *smem, const uint32_t *off, float *out) {
    switch (o->elem) {
    case TC_F16:
        gather(TC_F16, o, smem, off, out);
        return true;
    case TC_BF16:
        gather(TC_BF16, o, smem, off, out);
        return true;
    case TC_TF32:
        gather(TC_TF32, o, smem, off, out);
        return true;
    case TC_E4M3:
        gather(TC_E4M3, o, smem, off, out);
        return true;
    case TC_E5M2:
        gather(TC_E5M2, o, smem, off, out);
        return true;
    case TC_U8:
        gather(TC_U8, o, smem, off, out);
        return true;
    case TC_S8:
        gather(TC_S8, o, smem, off, out);
        return true;
    default:
        return false;
    }
}

bool tc_gather(enum tc_simd simd, const struct tc_operand *o, const uint8_t *smem, const uint32_t *off, float *out) {
    if (simd == TC_SIMD_PORTABLE)
        return false;
    return gather_avx2(o, smem, off, out);
}

#else

bool tc_gather(enum tc_simd simd, const struct tc_operand *o, const uint8_t *smem, const uint32_t *off, float *out) {
    (void)simd, (void)o, (void)smem, (void)off, (void)out;
    return false;
}

void tc_gather_groups(const struct tc_operand *o, const uint8_t *smem, const struct tc_groups *g, float *out) {
    (void)o, (void)smem, (void)g, (void)out;
}

#endif
