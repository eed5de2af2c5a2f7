/* simd/multiply.c - D += A * B in f32; numerics and operands in multiply.h. */
#include "simd/multiply.h"

#include "num/num.h"
#include "simd/vectors.h"

#include <math.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* --- portable ----------------------------------------------------------------------------------------------------- */

/* Four lanes; the compilers turn it into whatever the host's baseline has. */
typedef float vec4 __attribute__((vector_size(16)));
typedef int32_t mask4 __attribute__((vector_size(16)));

static void load_segment(const struct simd_tile *t, const uint32_t *d, vec4 acc[4]) {
    memset(acc, 0, 4 * sizeof *acc);
    if (!t->accumulate)
        return;
    memcpy(acc, d, 4 * sizeof *acc);
    UNROLL
    for (int i = 0; i < 4; i++)
        acc[i] *= t->scale;
}

static void store_segment(uint32_t *d, const vec4 acc[4]) {
    UNROLL
    for (int i = 0; i < 4; i++) {
        mask4 bits;
        memcpy(&bits, &acc[i], sizeof bits);
        mask4 number = (bits & INT32_MAX) <= INT32_C(0x7f800000); /* not NaN */
        bits = (bits & number) | (~number & (int32_t)NUM_NAN_F32);
        memcpy(d + 4 * i, &bits, sizeof bits);
    }
}

/* One segment, two columns. */
static void pair_portable(const struct simd_tile *t, uint32_t seg, uint32_t n) {
    uint32_t *d0 = t->d + (size_t)n * t->d_stride + t->lane[seg], *d1 = d0 + t->d_stride;
    const float *a = t->a + simd_tile_a(seg * SIMD_SEGMENT, 0), *b0 = t->b + simd_tile_b(n, 0),
                *b1 = t->b + simd_tile_b(n + 1, 0);
    vec4 x[4], y[4];
    load_segment(t, d0, x);
    load_segment(t, d1, y);
    for (uint32_t k = 0; k < t->k; k++, a += SIMD_PANEL) {
        vec4 v[4];
        memcpy(v, a, sizeof v);
        vec4 p = {b0[k], b0[k], b0[k], b0[k]}, q = {b1[k], b1[k], b1[k], b1[k]};
        UNROLL
        for (int i = 0; i < 4; i++) {
            x[i] += v[i] * p;
            y[i] += v[i] * q;
        }
    }
    store_segment(d0, x);
    store_segment(d1, y);
}

/* One segment, one column, by steps. */
static void steps_portable(const struct simd_tile *t, uint32_t seg, uint32_t n) {
    uint32_t *d = t->d + (size_t)n * t->d_stride + t->lane[seg];
    const float *a = t->a + simd_tile_a(seg * SIMD_SEGMENT, 0), *b = t->b + simd_tile_b(n, 0);
    vec4 acc[4];
    load_segment(t, d, acc);
    for (uint32_t k = 0; k < t->k; k += t->step) {
        vec4 even[4] = {0}, odd[4] = {0};
        for (uint32_t i = k; i < k + t->step; i += 2, a += 2 * SIMD_PANEL) {
            vec4 v[4], w[4];
            memcpy(v, a, sizeof v);
            memcpy(w, a + SIMD_PANEL, sizeof w);
            vec4 p = {b[i], b[i], b[i], b[i]}, q = {b[i + 1], b[i + 1], b[i + 1], b[i + 1]};
            UNROLL
            for (int j = 0; j < 4; j++) {
                even[j] += v[j] * p;
                odd[j] += w[j] * q;
            }
        }
        UNROLL
        for (int j = 0; j < 4; j++)
            acc[j] += even[j] + odd[j];
    }
    store_segment(d, acc);
}

/* sum a * b over k from `first` on, every `by`-th of `count`, added to acc. */
static float sum_fmaf(const struct simd_tile *t, uint32_t row, uint32_t n, uint32_t first, uint32_t count, uint32_t by,
                      float acc) {
    for (uint32_t k = first; k < first + count; k += by)
        acc = fmaf(t->a[simd_tile_a(row, k)], t->b[simd_tile_b(n, k)], acc);
    return acc;
}

/* Products may leave f32's range: one rounding needs fmaf. */
static void segment_fmaf(const struct simd_tile *t, uint32_t seg, uint32_t n) {
    uint32_t *d = t->d + (size_t)n * t->d_stride + t->lane[seg];
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++) {
        const uint32_t row = seg * SIMD_SEGMENT + i;
        float acc = 0;
        if (t->accumulate) {
            memcpy(&acc, d + i, sizeof acc);
            acc *= t->scale;
        }
        if (!t->step)
            acc = sum_fmaf(t, row, n, 0, t->k, 1, acc);
        for (uint32_t k = 0; t->step && k < t->k; k += t->step)
            acc += sum_fmaf(t, row, n, k, t->step, 2, 0) + sum_fmaf(t, row, n, k + 1, t->step - 1, 2, 0);
        uint32_t bits = NUM_NAN_F32;
        if (!isnan(acc))
            memcpy(&bits, &acc, sizeof bits);
        d[i] = bits;
    }
}

static void run_portable(const struct simd_tile *t) {
    for (uint32_t n = 0; n < t->n; n += 2)
        for (uint32_t s = 0; s < t->segments; s++) {
            if (!t->exact_products) {
                segment_fmaf(t, s, n);
                segment_fmaf(t, s, n + 1);
            } else if (t->step) {
                steps_portable(t, s, n);
                steps_portable(t, s, n + 1);
            } else {
                pair_portable(t, s, n);
            }
        }
}

/* --- x86-64 with FMA ---------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Four segments, C columns: 4 * C accumulators, of which 24 and what is multiplied fit the registers. */
AVX512 static ALWAYS_INLINE void block_avx512(const struct simd_tile *t, uint32_t seg, uint32_t n, const int C) {
    __m512 acc[6][4];
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int s = 0; s < 4; s++) {
        acc[c][s] = _mm512_setzero_ps();
        if (t->accumulate)
            acc[c][s] = _mm512_mul_ps(
                _mm512_castsi512_ps(_mm512_loadu_si512(t->d + (size_t)(n + c) * t->d_stride + t->lane[seg + s])),
                _mm512_set1_ps(t->scale));
    }
    const float *a = t->a + simd_tile_a(seg * SIMD_SEGMENT, 0), *b = t->b + simd_tile_b(n, 0);
    for (uint32_t k = 0; k < t->k; k++, a += SIMD_PANEL, b++) {
        __m512 v[4];
        UNROLL
        for (int s = 0; s < 4; s++)
            v[s] = _mm512_loadu_ps(a + s * SIMD_SEGMENT);
        UNROLL
        for (int c = 0; c < C; c++) {
            __m512 w = _mm512_set1_ps(b[c * SIMD_B_STRIDE]);
            UNROLL
            for (int s = 0; s < 4; s++)
                acc[c][s] = _mm512_fmadd_ps(v[s], w, acc[c][s]);
        }
    }
    const __m512i nan = _mm512_set1_epi32((int32_t)NUM_NAN_F32);
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int s = 0; s < 4; s++) {
        __mmask16 bad = _mm512_cmp_ps_mask(acc[c][s], acc[c][s], _CMP_UNORD_Q);
        _mm512_storeu_si512(t->d + (size_t)(n + c) * t->d_stride + t->lane[seg + s],
                            _mm512_mask_mov_epi32(_mm512_castps_si512(acc[c][s]), bad, nan));
    }
}

/* By steps: two segments, four columns. The sums of even k, those of odd k and D itself stay in registers. A step has
 * no branch. */
AVX512 static ALWAYS_INLINE void steps_avx512(const struct simd_tile *t, uint32_t seg, uint32_t n,
                                              const uint32_t step) {
    enum { C = 4, S = 2 };
    const float *a = t->a + simd_tile_a(seg * SIMD_SEGMENT, 0), *b = t->b + simd_tile_b(n, 0);
    __m512 acc[C][S], sum[2][C][S];
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int s = 0; s < S; s++) {
        const uint32_t *d = t->d + (size_t)(n + (uint32_t)c) * t->d_stride + t->lane[seg + (uint32_t)s];
        acc[c][s] = t->accumulate ? _mm512_mul_ps(_mm512_loadu_ps(d), _mm512_set1_ps(t->scale)) : _mm512_setzero_ps();
    }
    for (uint32_t k = 0; k < t->k; k += step) {
        UNROLL
        for (int c = 0; c < C; c++)
            UNROLL
        for (int s = 0; s < S; s++)
            sum[0][c][s] = sum[1][c][s] = _mm512_setzero_ps();
        UNROLL
        for (uint32_t pair = 0; pair < step / 2; pair++, b += 2) {
            UNROLL
            for (int odd = 0; odd < 2; odd++, a += SIMD_PANEL) {
                __m512 v0 = _mm512_loadu_ps(a), v1 = _mm512_loadu_ps(a + SIMD_SEGMENT);
                __asm__("" : "+v"(v0), "+v"(v1)); /* else gcc keeps them in memory */
                UNROLL
                for (int c = 0; c < C; c++) {
                    const __m512 w = _mm512_set1_ps(b[c * (int)SIMD_B_STRIDE + odd]);
                    sum[odd][c][0] = _mm512_fmadd_ps(v0, w, sum[odd][c][0]);
                    sum[odd][c][1] = _mm512_fmadd_ps(v1, w, sum[odd][c][1]);
                }
            }
        }
        UNROLL
        for (int c = 0; c < C; c++)
            UNROLL
        for (int s = 0; s < S; s++)
            acc[c][s] = _mm512_add_ps(acc[c][s], _mm512_add_ps(sum[0][c][s], sum[1][c][s]));
    }
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32((int32_t)NUM_NAN_F32));
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int s = 0; s < S; s++)
        _mm512_storeu_ps(t->d + (size_t)(n + (uint32_t)c) * t->d_stride + t->lane[seg + (uint32_t)s],
                         _mm512_mask_mov_ps(acc[c][s], _mm512_cmp_ps_mask(acc[c][s], acc[c][s], _CMP_UNORD_Q), nan));
}

AVX512 static void run_avx512(const struct simd_tile *t) {
    for (uint32_t s = 0; s < t->segments; s += 4) {
        uint32_t n = 0;
        for (; n + 6 <= t->n; n += 6)
            block_avx512(t, s, n, 6);
        if (t->n - n == 4)
            block_avx512(t, s, n, 4);
        else if (t->n - n == 2)
            block_avx512(t, s, n, 2);
    }
}

/* 32 rows of A stay in the L1 cache. */
AVX512 static void run_steps_avx512(const struct simd_tile *t) {
    for (uint32_t s = 0; s < t->segments; s += 2)
        for (uint32_t n = 0; n < t->n; n += 4)
            if (t->step == 16)
                steps_avx512(t, s, n, 16);
            else
                steps_avx512(t, s, n, 32);
}

/* One segment, C columns: 2 * C accumulators, of which 12 fit. */
AVX2 static ALWAYS_INLINE void block_avx2(const struct simd_tile *t, uint32_t seg, uint32_t n, const int C) {
    __m256 acc[6][2];
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int h = 0; h < 2; h++) {
        acc[c][h] = _mm256_setzero_ps();
        if (t->accumulate) {
            const uint32_t *d = t->d + (size_t)(n + c) * t->d_stride + t->lane[seg] + 8 * h;
            acc[c][h] = _mm256_mul_ps(_mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)(const void *)d)),
                                      _mm256_set1_ps(t->scale));
        }
    }
    const float *a = t->a + simd_tile_a(seg * SIMD_SEGMENT, 0), *b = t->b + simd_tile_b(n, 0);
    for (uint32_t k = 0; k < t->k; k++, a += SIMD_PANEL, b++) {
        __m256 v0 = _mm256_loadu_ps(a), v1 = _mm256_loadu_ps(a + 8);
        UNROLL
        for (int c = 0; c < C; c++) {
            __m256 w = _mm256_set1_ps(b[c * SIMD_B_STRIDE]);
            acc[c][0] = _mm256_fmadd_ps(v0, w, acc[c][0]);
            acc[c][1] = _mm256_fmadd_ps(v1, w, acc[c][1]);
        }
    }
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int32_t)NUM_NAN_F32));
    UNROLL
    for (int c = 0; c < C; c++)
        UNROLL
    for (int h = 0; h < 2; h++) {
        __m256 bad = _mm256_cmp_ps(acc[c][h], acc[c][h], _CMP_UNORD_Q);
        uint32_t *d = t->d + (size_t)(n + c) * t->d_stride + t->lane[seg] + 8 * h;
        _mm256_storeu_si256((__m256i *)(void *)d, _mm256_castps_si256(_mm256_blendv_ps(acc[c][h], nan, bad)));
    }
}

/* A segment of A by pairs along K: of each pair four vectors, whose lanes are even and odd k of one row in turn. The
 * sum of neighbours (vhaddps) in the first two, and in the others, is 8 rows in their order. */
AVX2 static void pair_rows(const struct simd_tile *t, uint32_t seg, float *to) {
    const float *a = t->a + simd_tile_a(seg * SIMD_SEGMENT, 0);
    for (uint32_t k = 0; k < t->k; k += 2, a += 2 * SIMD_PANEL)
        for (int h = 0; h < 2; h++, to += SIMD_SEGMENT) {
            const __m256 even = _mm256_loadu_ps(a + 8 * h), odd = _mm256_loadu_ps(a + SIMD_PANEL + 8 * h);
            _mm256_store_ps(to, _mm256_unpacklo_ps(even, odd));
            _mm256_store_ps(to + 8, _mm256_unpackhi_ps(even, odd));
        }
}

/* By steps: one segment, as pair_rows has it, and two columns. Everything stays in registers: a store costs as much as
 * two fused multiply-adds on some hosts. */
AVX2 static ALWAYS_INLINE void steps_avx2(const struct simd_tile *t, const float *a, uint32_t seg, uint32_t n) {
    const float *b = t->b + simd_tile_b(n, 0);
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int32_t)NUM_NAN_F32));
    uint32_t *d = t->d + (size_t)n * t->d_stride + t->lane[seg];
    __m256 acc[2][2], sum[2][4];
    UNROLL
    for (int i = 0; i < 4; i++) {
        const float *at = (const float *)(const void *)(d + (i / 2 ? t->d_stride : 0) + i % 2 * 8);
        acc[i / 2][i % 2] =
            t->accumulate ? _mm256_mul_ps(_mm256_loadu_ps(at), _mm256_set1_ps(t->scale)) : _mm256_setzero_ps();
    }
    for (uint32_t k = 0; k < t->k; k += t->step) {
        UNROLL
        for (int i = 0; i < 4; i++)
            sum[0][i] = sum[1][i] = _mm256_setzero_ps();
        for (const float *end = b + t->step; b < end; b += 2, a += 2 * SIMD_SEGMENT) {
            double pair[2];
            memcpy(&pair[0], b, sizeof *pair);
            memcpy(&pair[1], b + SIMD_B_STRIDE, sizeof *pair);
            const __m256 x = _mm256_castpd_ps(_mm256_set1_pd(pair[0])), y = _mm256_castpd_ps(_mm256_set1_pd(pair[1]));
            UNROLL
            for (int i = 0; i < 4; i++) {
                __m256 v = _mm256_load_ps(a + 8 * i);
                __asm__("" : "+x"(v)); /* else gcc loads it again for each column */
                sum[0][i] = _mm256_fmadd_ps(v, x, sum[0][i]);
                sum[1][i] = _mm256_fmadd_ps(v, y, sum[1][i]);
            }
        }
        UNROLL
        for (int i = 0; i < 4; i++)
            acc[i / 2][i % 2] =
                _mm256_add_ps(acc[i / 2][i % 2], _mm256_hadd_ps(sum[i / 2][i % 2 * 2], sum[i / 2][i % 2 * 2 + 1]));
    }
    UNROLL
    for (int i = 0; i < 4; i++) {
        const __m256 v = acc[i / 2][i % 2];
        _mm256_storeu_ps((float *)(void *)(d + (i / 2 ? t->d_stride : 0) + i % 2 * 8),
                         _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    }
}

AVX2 static void run_avx2(const struct simd_tile *t) {
    for (uint32_t s = 0; s < t->segments; s++) {
        uint32_t n = 0;
        for (; n + 6 <= t->n; n += 6)
            block_avx2(t, s, n, 6);
        if (t->n - n == 4)
            block_avx2(t, s, n, 4);
        else if (t->n - n == 2)
            block_avx2(t, s, n, 2);
    }
}

AVX2 static void run_steps_avx2(const struct simd_tile *t) {
    _Alignas(32) float rows[SIMD_SEGMENT * SIMD_MAX_K];
    for (uint32_t s = 0; s < t->segments; s++) {
        pair_rows(t, s, rows);
        for (uint32_t n = 0; n < t->n; n += 2)
            steps_avx2(t, rows, s, n);
    }
}

#endif

void simd_multiply(enum simd simd, const struct simd_tile *t) {
#if defined(__x86_64__)
    if (simd >= SIMD_AVX512) {
        (t->step ? run_steps_avx512 : run_avx512)(t);
        return;
    }
    if (simd == SIMD_AVX2) {
        (t->step ? run_steps_avx2 : run_avx2)(t);
        return;
    }
#else
    (void)simd;
#endif
    run_portable(t);
}

/* Without branches, for the compiler's vectors. */
static inline uint32_t f16_of(uint32_t bits) {
    uint32_t sign = bits >> 16 & 0x8000, a = bits & UINT32_C(0x7fffffff);
    uint32_t normal = (a - UINT32_C(0x38000000) + 0xfff + (a >> 13 & 1)) >> 13;
    /* below 2^-14: adding 0.5 rounds at 2^-24, the last place of a subnormal */
    uint32_t small = a < UINT32_C(0x38800000) ? a : 0;
    uint32_t subnormal = num_f32_bits(num_f32_from_bits(small) + 0.5f) - UINT32_C(0x3f000000);
    uint32_t v = a < UINT32_C(0x38800000) ? subnormal : normal;
    v = a >= UINT32_C(0x477ff000) ? 0x7c00 : v; /* 65520 and more */
    return a > UINT32_C(0x7f800000) ? NUM_NAN_F16 : sign | v;
}

void simd_narrow_f16(const uint32_t *from, uint32_t *to, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        to[i] = f16_of(from[i]);
}
