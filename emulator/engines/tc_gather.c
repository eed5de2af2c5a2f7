/* engines/tc_gather.c - matrices in shared memory on their way into the multiplier, by the host's vector unit; contract
 * in tc_operand.h. */
#include "engines/tc_operand.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* --- where units lie --- */

static ALWAYS_INLINE void locate(const struct tc_desc *d, uint32_t rows, uint32_t *off) {
    const struct tc_desc c = *d;
    for (uint32_t i = 0; i < 2 * rows; i++)
        off[i] = tc_desc_unit_k(&c, i / 2, i % 2);
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
#include <cpuid.h>
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX2 __attribute__((target("avx2,fma,f16c")))

AVX512 static void locate_avx512(const struct tc_desc *d, uint32_t rows, uint32_t *off) {
    locate(d, rows, off);
}
AVX2 static void locate_avx2(const struct tc_desc *d, uint32_t rows, uint32_t *off) { locate(d, rows, off); }
AVX512 static void span_avx512(const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {
    span(off, count, low, high);
}
AVX2 static void span_avx2(const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {
    span(off, count, low, high);
}
#endif

void tc_locate_k(enum tc_simd simd, const struct tc_desc *d, uint32_t rows, uint32_t *off) {
#if defined(__x86_64__)
    if (simd == TC_SIMD_AVX512) {
        locate_avx512(d, rows, off);
        return;
    }
    if (simd == TC_SIMD_AVX2) {
        locate_avx2(d, rows, off);
        return;
    }
#else
    (void)simd;
#endif
    locate(d, rows, off);
}

void tc_span(enum tc_simd simd, const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {
#if defined(__x86_64__)
    if (simd == TC_SIMD_AVX512) {
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

/* --- 16-bit elements --- */

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

AVX512 static ALWAYS_INLINE void gather_avx512(const struct tc_operand *o, const uint8_t *smem,
                                               const uint32_t *off, float *out, bool bf16) {
    if (!o->panels) {
        for (uint32_t r = 0; r < o->rows; r++)
            _mm512_storeu_ps(out + tc_tile_b(r, 0), row_avx512(smem, off + 2 * r, bf16));
        return;
    }
    for (uint32_t r = 0; r < o->rows; r += 16) {
        __m512 v[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            v[i] = row_avx512(smem, off + 2 * (r + i), bf16);
        transpose_avx512(v);
        float *to = out + tc_tile_a(r, 0);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++)
            _mm512_storeu_ps(to + i * TC_PANEL, v[i]);
    }
}

AVX512 static void gather_f16_avx512(const struct tc_operand *o, const uint8_t *smem, const uint32_t *off,
                                     float *out) {
    gather_avx512(o, smem, off, out, false);
}
AVX512 static void gather_bf16_avx512(const struct tc_operand *o, const uint8_t *smem, const uint32_t *off,
                                      float *out) {
    gather_avx512(o, smem, off, out, true);
}

/* Half a row: 8 elements. */
AVX2 static ALWAYS_INLINE __m256 half_avx2(const uint8_t *smem, uint32_t off, bool bf16) {
    __m128i v = unit(smem, off);
    return bf16 ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16)) : _mm256_cvtph_ps(v);
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

AVX2 static ALWAYS_INLINE void gather_avx2(const struct tc_operand *o, const uint8_t *smem,
                                           const uint32_t *off, float *out, bool bf16) {
    if (!o->panels) {
        for (uint32_t i = 0; i < 2 * o->rows; i++)
            _mm256_storeu_ps(out + tc_tile_b(i / 2, i % 2 * 8), half_avx2(smem, off[i], bf16));
        return;
    }
    for (uint32_t r = 0; r < o->rows; r += 8)
        for (uint32_t h = 0; h < 2; h++) {
            __m256 v[8];
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                v[i] = half_avx2(smem, off[2 * (r + i) + h], bf16);
            transpose_avx2(v);
            float *to = out + tc_tile_a(r, 8 * h);
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++)
                _mm256_storeu_ps(to + i * TC_PANEL, v[i]);
        }
}

AVX2 static void gather_f16_avx2(const struct tc_operand *o, const uint8_t *smem, const uint32_t *off,
                                 float *out) {
    gather_avx2(o, smem, off, out, false);
}
AVX2 static void gather_bf16_avx2(const struct tc_operand *o, const uint8_t *smem, const uint32_t *off,
                                  float *out) {
    gather_avx2(o, smem, off, out, true);
}

/* F16C is CPUID leaf 1, ECX bit 29; __builtin_cpu_supports of clang 14 does not know its name. */
static bool host_has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

bool tc_gather16(enum tc_simd simd, const struct tc_operand *o, const uint8_t *smem, const uint32_t *off,
                 float *out) {
    if (o->mn_major || (o->elem != TC_F16 && o->elem != TC_BF16))
        return false;
    if (simd == TC_SIMD_AVX512) {
        (o->elem == TC_F16 ? gather_f16_avx512 : gather_bf16_avx512)(o, smem, off, out);
        return true;
    }
    if (simd == TC_SIMD_AVX2 && host_has_f16c()) {
        (o->elem == TC_F16 ? gather_f16_avx2 : gather_bf16_avx2)(o, smem, off, out);
        return true;
    }
    return false;
}

#else

bool tc_gather16(enum tc_simd simd, const struct tc_operand *o, const uint8_t *smem, const uint32_t *off,
                 float *out) {
    (void)simd, (void)o, (void)smem, (void)off, (void)out;
    return false;
}

#endif
