/* simd/gather.c - matrices on their way into the multiplier; contract in gather.h. */
#include "simd/gather.h"

#include "num/num.h"
#include "simd/vectors.h"

#include <string.h>

/* --- where units lie ---------------------------------------------------------------------------------------------- */

static ALWAYS_INLINE void locate(const struct simd_swizzle *swizzle, const uint32_t *line, uint32_t lines,
                                 const uint32_t *unit, uint32_t units, uint32_t *restrict off) {
    const struct simd_swizzle s = *swizzle;
    for (uint32_t l = 0; l < lines; l++, off += units)
        for (uint32_t u = 0; u < units; u++)
            off[u] = simd_swizzled(&s, line[l] + unit[u]);
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

static ALWAYS_INLINE void scale_panels(float *a, const float *factors, uint32_t rows, uint32_t k, uint32_t block) {
    const uint32_t each = k / block;
    float f[SIMD_PANEL];
    for (uint32_t r = 0; r < rows; r += SIMD_PANEL)
        for (uint32_t b = 0; b < each; b++) {
            for (uint32_t i = 0; i < SIMD_PANEL; i++)
                f[i] = factors[(r + i) * each + b];
            float *x = a + simd_tile_a(r, b * block);
            for (uint32_t i = 0; i < block; i++, x += SIMD_PANEL)
                for (uint32_t j = 0; j < SIMD_PANEL; j++)
                    x[j] *= f[j];
        }
}

static ALWAYS_INLINE void scale_rows(const float *b, const float *factors, uint32_t rows, uint32_t k, uint32_t block,
                                     float *out) {
    for (uint32_t n = 0; n < rows; n++, b += SIMD_B_STRIDE, out += SIMD_B_STRIDE)
        for (uint32_t i = 0; i < k; i += 16) { /* of a block of 16 or 32 */
            const float f = factors[n * (k / block) + i / block];
            INDEPENDENT /* out is b, or shares nothing with it */
                for (uint32_t j = 0; j < 16; j++) out[i + j] = b[i + j] * f;
        }
}

/* The same loops, compiled for each vector unit. */
#define VECTOR_LOOPS(NAME, TARGET)                                                                                     \
    TARGET static void locate_##NAME(const struct simd_swizzle *s, const uint32_t *line, uint32_t lines,               \
                                     const uint32_t *unit, uint32_t units, uint32_t *off) {                            \
        if (units == 16) /* 8 rows of a K-major matrix */                                                              \
            locate(s, line, lines, unit, 16, off);                                                                     \
        else                                                                                                           \
            locate(s, line, lines, unit, units, off);                                                                  \
    }                                                                                                                  \
    TARGET static void span_##NAME(const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {               \
        span(off, count, low, high);                                                                                   \
    }                                                                                                                  \
    TARGET static void scale_panels_##NAME(float *a, const float *factors, uint32_t rows, uint32_t k,                  \
                                           uint32_t block) {                                                           \
        scale_panels(a, factors, rows, k, block);                                                                      \
    }                                                                                                                  \
    TARGET static void scale_rows_##NAME(const float *b, const float *factors, uint32_t rows, uint32_t k,              \
                                         uint32_t block, float *out) {                                                 \
        scale_rows(b, factors, rows, k, block, out);                                                                   \
    }
VECTOR_LOOPS(portable, )
#if defined(__x86_64__)
VECTOR_LOOPS(avx512, AVX512)
VECTOR_LOOPS(avx2, AVX2)
#define CHOOSE(simd, NAME) ((simd) >= SIMD_AVX512 ? NAME##_avx512 : (simd) == SIMD_AVX2 ? NAME##_avx2 : NAME##_portable)
#else
#define CHOOSE(simd, NAME) ((void)(simd), NAME##_portable)
#endif

void simd_locate(enum simd simd, const struct simd_swizzle *s, const uint32_t *line, uint32_t lines,
                 const uint32_t *unit, uint32_t units, uint32_t *off) {
    CHOOSE(simd, locate)(s, line, lines, unit, units, off);
}

void simd_span(enum simd simd, const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high) {
    CHOOSE(simd, span)(off, count, low, high);
}

void simd_scale_panels(enum simd simd, float *a, const float *factors, uint32_t rows, uint32_t k, uint32_t block) {
    CHOOSE(simd, scale_panels)(a, factors, rows, k, block);
}

void simd_scale_rows(enum simd simd, const float *b, const float *factors, uint32_t rows, uint32_t k, uint32_t block,
                     float *out) {
    CHOOSE(simd, scale_rows)(b, factors, rows, k, block, out);
}

/* --- portable ----------------------------------------------------------------------------------------------------- */

typedef float vec4 __attribute__((vector_size(16)));

/* gcc 11 lacks clang's way to shuffle, and clang gcc's. */
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE __builtin_shufflevector
#else
typedef int32_t index4 __attribute__((vector_size(16)));
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (index4){__VA_ARGS__})
#endif

/* rows x columns, both multiples of 4, in blocks of 4 x 4. */
static void transpose(const float *from, uint32_t rows, uint32_t columns, float *to, uint32_t stride) {
    for (uint32_t r = 0; r < rows; r += 4)
        for (uint32_t c = 0; c < columns; c += 4) {
            vec4 v[4];
            for (uint32_t i = 0; i < 4; i++)
                memcpy(&v[i], from + (size_t)(r + i) * columns + c, sizeof v[i]);
            vec4 p = SHUFFLE(v[0], v[1], 0, 4, 1, 5), q = SHUFFLE(v[2], v[3], 0, 4, 1, 5);
            vec4 x = SHUFFLE(v[0], v[1], 2, 6, 3, 7), y = SHUFFLE(v[2], v[3], 2, 6, 3, 7);
            v[0] = SHUFFLE(p, q, 0, 1, 4, 5);
            v[1] = SHUFFLE(p, q, 2, 3, 6, 7);
            v[2] = SHUFFLE(x, y, 0, 1, 4, 5);
            v[3] = SHUFFLE(x, y, 2, 3, 6, 7);
            for (uint32_t i = 0; i < 4; i++)
                memcpy(to + (size_t)(c + i) * stride + r, &v[i], sizeof v[i]);
        }
}

static void copy_rows(const float *from, uint32_t rows, uint32_t from_stride, uint32_t columns, float *to,
                      uint32_t stride) {
    for (uint32_t r = 0; r < rows; r++)
        memcpy(to + (size_t)r * stride, from + (size_t)r * from_stride, columns * sizeof *to);
}

/* Elements in the order they lie in. */
static void decode_rows(enum simd_elem e, const uint8_t *raw, float *out, size_t n) {
    static void (*const decoders[])(const uint8_t *, float *, size_t) = {
        [SIMD_F16] = num_decode_row_f16,
        [SIMD_BF16] = num_decode_row_bf16,
        [SIMD_TF32] = num_decode_row_tf32,
        [SIMD_E4M3] = num_decode_row_e4m3,
        [SIMD_E5M2] = num_decode_row_e5m2,
        [SIMD_U8] = num_decode_row_u8,
        [SIMD_S8] = num_decode_row_s8,
        [SIMD_E2M3] = num_decode_row_e2m3,
        [SIMD_E3M2] = num_decode_row_e3m2,
        [SIMD_E2M1_MID] = num_decode_row_e2m1_mid,
        [SIMD_E2M3_P32] = num_decode_row_e2m3_p32,
        [SIMD_E3M2_P32] = num_decode_row_e3m2_p32,
        [SIMD_E2M1_P64] = num_decode_row_e2m1_p64,
        [SIMD_E2M1_PACKED] = num_decode_row_e2m1_packed,
    };
    decoders[e](raw, out, n);
}

void simd_decode(const struct simd_matrix *m, struct simd_decoder *work, float *out) {
    decode_rows(m->elem, work->raw, work->decoded, (size_t)m->rows * m->k);
    if (!m->panels && m->mn_major)
        transpose(work->decoded, m->k, m->rows, out, SIMD_B_STRIDE);
    else if (!m->panels)
        copy_rows(work->decoded, m->rows, m->k, m->k, out, SIMD_B_STRIDE);
    for (uint32_t r = 0; m->panels && r < m->rows; r += SIMD_PANEL) {
        float *to = out + simd_tile_a(r, 0);
        if (m->mn_major)
            copy_rows(work->decoded + r, m->k, m->rows, SIMD_PANEL, to, SIMD_PANEL);
        else
            transpose(work->decoded + (size_t)r * m->k, SIMD_PANEL, m->k, to, SIMD_PANEL);
    }
}

/* A line of the matrix: where its units are, as offsets from `base`. */
struct line {
    const uint8_t *base;
    const uint32_t *unit;
};
static ALWAYS_INLINE struct line line_at(const struct simd_matrix *m, const uint8_t *smem, const struct simd_groups *g,
                                         uint32_t l) {
    if (m->mn_major)
        return (struct line){smem, g->unit + l * m->units};
    return (struct line){smem + (size_t)(l / 8) * g->stride, g->unit + l / 8 * g->list + l % 8 * 2};
}

static void gather_portable(const struct simd_matrix *m, const uint8_t *smem, const struct simd_groups *g,
                            struct simd_decoder *work, float *out) {
    uint8_t *to = work->raw;
    for (uint32_t l = 0; l < m->lines; l++) {
        const struct line line = line_at(m, smem, g, l);
        for (uint32_t u = 0; u < m->units; u++, to += 16)
            memcpy(to, line.base + line.unit[u], 16);
    }
    simd_decode(m, work, out);
}

/* --- x86-64 ------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)

static ALWAYS_INLINE __m128i unit(const uint8_t *smem, uint32_t off) {
    return _mm_loadu_si128((const __m128i *)(const void *)(smem + off));
}

/* Eight e2m1, two to a byte, the lower half first. Each is an f16 whose lower byte is 0. */
AVX2 static ALWAYS_INLINE __m256 octet_e2m1(const uint8_t *at) {
    const __m128i upper = _mm_setr_epi8(0x00, 0x38, 0x3c, 0x3e, 0x40, 0x42, 0x44, 0x46, (char)0x80, (char)0xb8,
                                        (char)0xbc, (char)0xbe, (char)0xc0, (char)0xc2, (char)0xc4, (char)0xc6),
                  low = _mm_set1_epi8(15);
    int32_t eight;
    memcpy(&eight, at, sizeof eight);
    const __m128i v = _mm_cvtsi32_si128(eight);
    const __m128i code = _mm_unpacklo_epi8(_mm_and_si128(v, low), _mm_and_si128(_mm_srli_epi16(v, 4), low));
    return _mm256_cvtph_ps(_mm_unpacklo_epi8(_mm_setzero_si128(), _mm_shuffle_epi8(upper, code)));
}

/* Numbers of 8 halves: f16, or bytes that are the upper part of each. e4m3 is f16 with another bias
 * and one NaN. */
AVX2 static ALWAYS_INLINE __m256 octet_of(enum simd_elem e, __m128i v) {
    if (e == SIMD_S8)
        return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_srai_epi16(v, 8)));
    if (e == SIMD_U8)
        return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_srli_epi16(v, 8)));
    if (e != SIMD_E4M3) /* e5m2 is the upper half of an f16 */
        return _mm256_cvtph_ps(v);
    const __m128i number = _mm_set1_epi16(0x3f80);
    v = _mm_and_si128(_mm_srai_epi16(v, 1), _mm_set1_epi16((int16_t)0xbf80));
    const __m128i nan = _mm_cmpeq_epi16(_mm_and_si128(v, number), number);
    v = _mm_or_si128(v, _mm_and_si128(nan, _mm_set1_epi16(0x7e00)));
    return _mm256_mul_ps(_mm256_cvtph_ps(v), _mm256_set1_ps(256)); /* bias 15 for 7 */
}

/* Elements 8 j .. 8 j + 7 of a line. */
AVX2 static ALWAYS_INLINE __m256 octet(enum simd_elem e, const struct line line, uint32_t j) {
    const uint8_t *smem = line.base;
    const uint32_t *off = line.unit;
    if (e == SIMD_TF32) {
        __m256i v =
            _mm256_inserti128_si256(_mm256_castsi128_si256(unit(smem, off[2 * j])), unit(smem, off[2 * j + 1]), 1);
        return _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32((int32_t)0xffffe000)));
    }
    if (e == SIMD_F16)
        return octet_of(e, unit(smem, off[j]));
    if (e == SIMD_BF16)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(unit(smem, off[j])), 16));
    if (e == SIMD_E2M1_PACKED || e == SIMD_E2M1_P64) {
        const uint32_t each = e == SIMD_E2M1_PACKED ? 4 : 2; /* octets of a unit */
        return octet_e2m1(smem + off[j / each] + j % each * 4);
    }
    const __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)(smem + off[j / 2] + j % 2 * 8));
    return octet_of(e, _mm_unpacklo_epi8(_mm_setzero_si128(), v));
}

AVX2 static ALWAYS_INLINE void transpose_avx2(__m256 r[8]) {
    __m256 t[8];
    UNROLL
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    UNROLL
    for (int i = 0; i < 8; i += 4)
        UNROLL
    for (int h = 0; h < 2; h++) {
        r[i + 2 * h] = _mm256_shuffle_ps(t[i + h], t[i + h + 2], 0x44);
        r[i + 2 * h + 1] = _mm256_shuffle_ps(t[i + h], t[i + h + 2], 0xee);
    }
    UNROLL
    for (int c = 0; c < 4; c++) {
        t[c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x20);
        t[4 + c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x31);
    }
    UNROLL
    for (int c = 0; c < 8; c++)
        r[c] = t[c];
}

/* MN-major: 8 elements of a line are neighbours in a panel of A, and one each of 8 rows of B. */
AVX2 static ALWAYS_INLINE void gather_lines(enum simd_elem e, const struct simd_matrix *m, const uint8_t *smem,
                                            const struct simd_groups *g, float *out) {
    for (uint32_t l = 0; m->panels && l < m->lines; l++)
        for (uint32_t j = 0; j < m->rows / 8; j++)
            _mm256_storeu_ps(out + simd_tile_a(8 * j, l), octet(e, line_at(m, smem, g, l), j));
    for (uint32_t l = 0; !m->panels && l < m->lines; l += 8)
        for (uint32_t j = 0; j < m->rows / 8; j++) {
            __m256 v[8];
            UNROLL
            for (uint32_t i = 0; i < 8; i++)
                v[i] = octet(e, line_at(m, smem, g, l + i), j);
            transpose_avx2(v);
            UNROLL
            for (uint32_t i = 0; i < 8; i++)
                _mm256_storeu_ps(out + simd_tile_b(8 * j + i, l), v[i]);
        }
}

/* 8 rows of 8 words of 32 bits of a K-major matrix: v[c] becomes word c of each. */
AVX2 static ALWAYS_INLINE void load_octet(const struct simd_matrix *m, const uint8_t *smem, const struct simd_groups *g,
                                          uint32_t row, __m256 v[8]) {
    const struct line group = line_at(m, smem, g, row);
    UNROLL
    for (int i = 0; i < 8; i++)
        v[i] = _mm256_castsi256_ps(_mm256_inserti128_si256(_mm256_castsi128_si256(unit(group.base, group.unit[2 * i])),
                                                           unit(group.base, group.unit[2 * i + 1]), 1));
    transpose_avx2(v);
}

/* Two of the four bytes of 8 words, from byte i on, as the upper halves of 16 bits: 8 of one, then 8 of the other. */
AVX2 static ALWAYS_INLINE __m256i part_bytes(__m256i v, int i) {
    const __m256i order = _mm256_setr_epi8(-1, 0, -1, 4, -1, 8, -1, 12, -1, 1, -1, 5, -1, 9, -1, 13, /* of both lanes */
                                           -1, 0, -1, 4, -1, 8, -1, 12, -1, 1, -1, 5, -1, 9, -1, 13);
    return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(_mm256_srli_epi32(v, 8 * i), order), 0xd8);
}

AVX2 static ALWAYS_INLINE void store_two(enum simd_elem e, __m256i v, float *to) {
    _mm256_storeu_ps(to, octet_of(e, _mm256_castsi256_si128(v)));
    _mm256_storeu_ps(to + SIMD_PANEL, octet_of(e, _mm256_extracti128_si256(v, 1)));
}

/* A word of 8 rows of A: its elements along K. */
AVX2 static ALWAYS_INLINE void store_octet(enum simd_elem e, __m256i v, float *to) {
    if (e == SIMD_E2M1_PACKED || e == SIMD_E2M1_P64) {
        const __m256 numbers = _mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6);
        const __m256i sign = _mm256_set1_epi32(INT32_MIN);
        UNROLL
        for (int i = 0; i < 8; i++, to += SIMD_PANEL) {
            const __m256 magnitude = _mm256_permutevar8x32_ps(numbers, _mm256_srli_epi32(v, 4 * i));
            const __m256i minus = _mm256_and_si256(_mm256_slli_epi32(v, 28 - 4 * i), sign);
            _mm256_storeu_ps(to, _mm256_or_ps(magnitude, _mm256_castsi256_ps(minus)));
        }
        return;
    }
    if (e == SIMD_TF32) {
        _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32((int32_t)0xffffe000))));
        return;
    }
    if (e == SIMD_BF16) {
        const __m256i upper = _mm256_and_si256(v, _mm256_set1_epi32((int32_t)0xffff0000));
        _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_slli_epi32(v, 16)));
        _mm256_storeu_ps(to + SIMD_PANEL, _mm256_castsi256_ps(upper));
        return;
    }
    if (e == SIMD_F16) { /* its lower halves, then the upper ones */
        const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, /* of both lanes */
                                               0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
        store_two(e, _mm256_permute4x64_epi64(_mm256_shuffle_epi8(v, order), 0xd8), to);
        return;
    }
    store_two(e, part_bytes(v, 0), to);
    store_two(e, part_bytes(v, 2), to + 2 * SIMD_PANEL);
}

/* A row of B. */
AVX2 static ALWAYS_INLINE void store_line(enum simd_elem e, const struct line row, float *to) {
    _mm256_storeu_ps(to, octet(e, row, 0));
    if (e == SIMD_TF32)
        return;
    _mm256_storeu_ps(to + 8, octet(e, row, 1));
    if (e == SIMD_F16 || e == SIMD_BF16)
        return;
    _mm256_storeu_ps(to + 16, octet(e, row, 2));
    _mm256_storeu_ps(to + 24, octet(e, row, 3));
    if (e != SIMD_E2M1_PACKED)
        return;
    UNROLL
    for (uint32_t j = 4; j < 8; j++)
        _mm256_storeu_ps(to + 8 * j, octet(e, row, j));
}

/* K-major. Of A words are turned, before they become numbers. */
AVX2 static ALWAYS_INLINE void gather_words(enum simd_elem e, const struct simd_matrix *m, const uint8_t *smem,
                                            const struct simd_groups *g, float *out) {
    const uint32_t each = m->k / 8; /* elements of a word */
    for (uint32_t r = 0; !m->panels && r < m->rows; r += 8) {
        const struct line group = line_at(m, smem, g, r);
        UNROLL
        for (uint32_t i = 0; i < 8; i++)
            store_line(e, (struct line){group.base, group.unit + 2 * i}, out + simd_tile_b(r + i, 0));
    }
    for (uint32_t r = 0; m->panels && r < m->rows; r += 8) {
        __m256 v[8];
        load_octet(m, smem, g, r, v);
        UNROLL
        for (uint32_t c = 0; c < 8; c++)
            if (e != SIMD_E2M1_P64)
                store_octet(e, _mm256_castps_si256(v[c]), out + simd_tile_a(r, c * each));
            else if (c % 4 < 2) /* the other half of a unit is padding */
                store_octet(e, _mm256_castps_si256(v[c]), out + simd_tile_a(r, c / 4 * 16 + c % 4 * 8));
    }
}

#define GATHER(ELEM)                                                                                                   \
    case ELEM:                                                                                                         \
        (m->mn_major ? gather_lines : gather_words)(ELEM, m, smem, g, out);                                            \
        return true

/* False: not for this type. */
AVX2 static bool gather_avx2(const struct simd_matrix *m, const uint8_t *smem, const struct simd_groups *g,
                             float *out) {
    switch (m->elem) {
        GATHER(SIMD_F16);
        GATHER(SIMD_BF16);
        GATHER(SIMD_TF32);
        GATHER(SIMD_E4M3);
        GATHER(SIMD_E5M2);
        GATHER(SIMD_U8);
        GATHER(SIMD_S8);
        GATHER(SIMD_E2M1_P64);
        GATHER(SIMD_E2M1_PACKED);
    default:
        return false;
    }
}

/* --- AVX-512: K-major matrices of some types ---------------------------------------------------------------------- */

/* Row i of a group, whose first line it is given. */
AVX512 static ALWAYS_INLINE __m256i row_of(const struct line *first, int i) {
    const uint32_t *at = first->unit + 2 * i;
    return _mm256_inserti128_si256(_mm256_castsi128_si256(unit(first->base, at[0])), unit(first->base, at[1]), 1);
}

/* 16 rows of 8 words of 32 bits: v[c] becomes word c of each. */
AVX512 static ALWAYS_INLINE void load_words(const struct simd_matrix *m, const uint8_t *smem,
                                            const struct simd_groups *g, uint32_t row, __m512i v[8]) {
    __m512i t[8];
    const struct line group[2] = {line_at(m, smem, g, row), line_at(m, smem, g, row + 8)};
    UNROLL
    for (int i = 0; i < 8; i++) { /* rows i and i + 4 of the first 8, then of the others */
        const struct line *from = &group[i / 4];
        v[i] = _mm512_inserti64x4(_mm512_castsi256_si512(row_of(from, i % 4)), row_of(from, i % 4 + 4), 1);
    }
    UNROLL
    for (int i = 0; i < 8; i += 4) {
        const __m512i a = _mm512_unpacklo_epi32(v[i], v[i + 1]), b = _mm512_unpacklo_epi32(v[i + 2], v[i + 3]),
                      c = _mm512_unpackhi_epi32(v[i], v[i + 1]), d = _mm512_unpackhi_epi32(v[i + 2], v[i + 3]);
        t[i] = _mm512_unpacklo_epi64(a, b);
        t[i + 1] = _mm512_unpackhi_epi64(a, b);
        t[i + 2] = _mm512_unpacklo_epi64(c, d);
        t[i + 3] = _mm512_unpackhi_epi64(c, d);
    }
    UNROLL
    for (int c = 0; c < 4; c++) {
        v[c] = _mm512_shuffle_i32x4(t[c], t[4 + c], 0x88);
        v[4 + c] = _mm512_shuffle_i32x4(t[c], t[4 + c], 0xdd);
    }
}

/* Bits of f16 of the bytes that are the upper halves of 32 halves; e4m3 as in octet(), which has a factor left. */
AVX512 static ALWAYS_INLINE __m512i halves_of(enum simd_elem e, __m512i v) {
    if (e == SIMD_E5M2)
        return _mm512_and_si512(v, _mm512_set1_epi16((int16_t)0xff00));
    const __m512i number = _mm512_set1_epi16(0x3f80);
    v = _mm512_and_si512(_mm512_srai_epi16(v, 1), _mm512_set1_epi16((int16_t)0xbf80));
    const __mmask32 nan = _mm512_cmpeq_epi16_mask(_mm512_and_si512(v, number), number);
    return _mm512_mask_mov_epi16(v, nan, _mm512_or_si512(v, _mm512_set1_epi16(0x7e00)));
}

/* Half h of 32 halves, as numbers. */
AVX512 static ALWAYS_INLINE __m512 numbers_of(enum simd_elem e, __m512i v, int h) {
    const __m512 x = _mm512_cvtph_ps(h ? _mm512_extracti64x4_epi64(v, 1) : _mm512_castsi512_si256(v));
    return e == SIMD_E4M3 ? _mm512_mul_ps(x, _mm512_set1_ps(256)) : x; /* bias 15 for 7 */
}

/* The lower halves of 16 words, then the upper ones. */
AVX512 static ALWAYS_INLINE __m512i part_words(__m512i v) {
    static const uint16_t order[] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                     1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    return _mm512_permutexvar_epi16(_mm512_loadu_si512(order), v);
}

/* A word of 16 rows of A: its elements along K. */
AVX512 static ALWAYS_INLINE void store_word(enum simd_elem e, __m512i v, float *to) {
    const __m512i tf32 = _mm512_set1_epi32((int32_t)0xffffe000), bf16 = _mm512_set1_epi32((int32_t)0xffff0000);
    if (e == SIMD_TF32) {
        _mm512_storeu_si512(to, _mm512_and_si512(v, tf32));
    } else if (e == SIMD_BF16) {
        _mm512_storeu_si512(to, _mm512_slli_epi32(v, 16));
        _mm512_storeu_si512(to + SIMD_PANEL, _mm512_and_si512(v, bf16));
    } else if (e == SIMD_F16) {
        v = part_words(v);
        _mm512_storeu_ps(to, numbers_of(e, v, 0));
        _mm512_storeu_ps(to + SIMD_PANEL, numbers_of(e, v, 1));
    } else { /* bytes: those of even k, those of odd k */
        UNROLL
        for (int odd = 0; odd < 2; odd++, to += SIMD_PANEL) {
            const __m512i w = part_words(halves_of(e, odd ? v : _mm512_slli_epi16(v, 8)));
            _mm512_storeu_ps(to, numbers_of(e, w, 0));
            _mm512_storeu_ps(to + 2 * SIMD_PANEL, numbers_of(e, w, 1));
        }
    }
}

/* A row of B. */
AVX512 static ALWAYS_INLINE void store_row(enum simd_elem e, __m256i v, float *to) {
    if (e == SIMD_TF32) {
        const __m256i all = _mm256_set1_epi32((int32_t)0xffffe000);
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_and_si256(v, all));
    } else if (e == SIMD_BF16) {
        _mm512_storeu_si512(to, _mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
    } else if (e == SIMD_F16) {
        _mm512_storeu_ps(to, _mm512_cvtph_ps(v));
    } else {
        const __m512i w = halves_of(e, _mm512_slli_epi16(_mm512_cvtepu8_epi16(v), 8));
        _mm512_storeu_ps(to, numbers_of(e, w, 0));
        _mm512_storeu_ps(to + 16, numbers_of(e, w, 1));
    }
}

AVX512 static ALWAYS_INLINE void gather_rows(enum simd_elem e, const struct simd_matrix *m, const uint8_t *smem,
                                             const struct simd_groups *g, float *out) {
    const uint32_t each = m->k / 8; /* elements of a word */
    for (uint32_t r = 0; !m->panels && r < m->rows; r += 8) {
        const struct line group = line_at(m, smem, g, r);
        UNROLL
        for (int i = 0; i < 8; i++)
            store_row(e, row_of(&group, i), out + simd_tile_b(r + (uint32_t)i, 0));
    }
    for (uint32_t r = 0; m->panels && r < m->rows; r += 16) {
        __m512i v[8];
        load_words(m, smem, g, r, v);
        UNROLL
        for (uint32_t c = 0; c < 8; c++)
            store_word(e, v[c], out + simd_tile_a(r, c * each));
    }
}

#define GATHER_ROWS(ELEM)                                                                                              \
    case ELEM:                                                                                                         \
        gather_rows(ELEM, m, smem, g, out);                                                                            \
        return true

/* False: not for this matrix. */
AVX512 static bool gather_avx512(const struct simd_matrix *m, const uint8_t *smem, const struct simd_groups *g,
                                 float *out) {
    if (m->mn_major)
        return false;
    switch (m->elem) {
        GATHER_ROWS(SIMD_F16);
        GATHER_ROWS(SIMD_BF16);
        GATHER_ROWS(SIMD_TF32);
        GATHER_ROWS(SIMD_E4M3);
        GATHER_ROWS(SIMD_E5M2);
    default:
        return false;
    }
}

#endif

void simd_gather(enum simd simd, const struct simd_matrix *m, const uint8_t *smem, const struct simd_groups *g,
                 struct simd_decoder *work, float *out) {
#if defined(__x86_64__)
    if ((simd >= SIMD_AVX512 && gather_avx512(m, smem, g, out)) || (simd >= SIMD_AVX2 && gather_avx2(m, smem, g, out)))
        return;
#else
    (void)simd;
#endif
    gather_portable(m, smem, g, work, out);
}
