/* simd/amx.c - D += A * B by the host's matrix unit; contract and bound in amx.h. */
#include "simd/amx.h"

#include "base/fatal.h"
#include "num/num.h"
#include "simd/vectors.h"

#if defined(AMX)
#define TILE 512u     /* 16-bit elements of a tile register: 16 rows of 64 bytes */
#define TILE_K 32u    /* of them along K */
#define TILE_ROWS 16u /* rows of A, or of B */
#define STEPS (SIMD_MAX_K / TILE_K)

/* What the compiler has stored is in memory before the matrix unit reads it: gcc's intrinsics do not say so. */
#define IN_MEMORY() __asm__ volatile("" ::: "memory")

/* --- operands as bf16 parts --------------------------------------------------------------------------------------- */

/* The first 8 significant bits, and what they leave: exact, the same sign. */
AMX static ALWAYS_INLINE __m512 high_part(__m512 x) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32((int32_t)0xffff0000)));
}
/* A struct simd_range of many numbers. */
struct range {
    __m512i low, high;
};
AMX static ALWAYS_INLINE struct range range_start(void) {
    return (struct range){_mm512_set1_epi32(-1), _mm512_setzero_si512()};
}
AMX static ALWAYS_INLINE void range_add(struct range *r, __m512 x) {
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MAX));
    r->low = _mm512_min_epu32(r->low, _mm512_sub_epi32(bits, _mm512_set1_epi32(1))); /* 0 wraps round */
    r->high = _mm512_max_epu32(r->high, bits);
}
AMX static struct simd_range range_end(const struct range *r) {
    return (struct simd_range){_mm512_reduce_min_epu32(r->low), _mm512_reduce_max_epu32(r->high)};
}

/* bf16 of 32 numbers that are one, in their order. */
AMX static ALWAYS_INLINE __m512i narrow(__m512 x, __m512 y) {
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return _mm512_permutexvar_epi64(order, _mm512_packus_epi32(_mm512_srli_epi32(_mm512_castps_si512(x), 16),
                                                               _mm512_srli_epi32(_mm512_castps_si512(y), 16)));
}
/* The same, one of x and one of y in turn. */
AMX static ALWAYS_INLINE __m512i narrow_pair(__m512 x, __m512 y) {
    return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(x), 16), _mm512_castps_si512(high_part(y)));
}

/* Tile (group of 16 rows, part, step along K) of an operand. */
static ALWAYS_INLINE size_t tile_at(uint32_t group, uint32_t parts, uint32_t part, uint32_t step) {
    return ((size_t)(group * parts + part) * STEPS + step) * TILE;
}

/* Elements of a row of B from k on, 0 behind its end. */
AMX static ALWAYS_INLINE __m512 load_b(const struct simd_tile *t, uint32_t n, uint32_t k) {
    uint32_t left = t->k > k ? t->k - k : 0;
    return _mm512_maskz_loadu_ps(left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1), t->b + simd_tile_b(n, k));
}

/* Rows of B: a tile has 16 rows, 32 elements along K each. */
AMX static struct simd_range pack_b(const struct simd_tile *t, uint32_t parts, uint16_t *out) {
    struct range all = range_start();
    for (uint32_t n = 0; n < t->n; n++)
        for (uint32_t i = 0; i * TILE_K < t->k; i++) {
            __m512 x = load_b(t, n, i * TILE_K), y = load_b(t, n, i * TILE_K + 16);
            uint16_t *to = out + tile_at(n / TILE_ROWS, parts, 0, i) + n % TILE_ROWS * TILE_K;
            _mm512_storeu_si512(to, narrow(x, y));
            range_add(&all, x);
            range_add(&all, y);
            if (parts == 2)
                _mm512_storeu_si512(to + STEPS * TILE,
                                    narrow(_mm512_sub_ps(x, high_part(x)), _mm512_sub_ps(y, high_part(y))));
        }
    return range_end(&all);
}

/* Rows of A: a tile has 16 pairs of elements along K, of 16 rows each. */
AMX static struct simd_range pack_a(const struct simd_tile *t, uint32_t parts, uint16_t *out) {
    struct range all = range_start();
    for (uint32_t s = 0; s < t->segments; s++)
        for (uint32_t k = 0; k < (t->k + TILE_K - 1) / TILE_K * TILE_K; k += 2) {
            __m512 x = _mm512_setzero_ps(), y = x;
            if (k < t->k) { /* K is even */
                x = _mm512_loadu_ps(t->a + simd_tile_a(s * SIMD_SEGMENT, k));
                y = _mm512_loadu_ps(t->a + simd_tile_a(s * SIMD_SEGMENT, k + 1));
            }
            uint16_t *to = out + tile_at(s, parts, 0, k / TILE_K) + k % TILE_K / 2 * 2 * SIMD_SEGMENT;
            _mm512_storeu_si512(to, narrow_pair(x, y));
            range_add(&all, x);
            range_add(&all, y);
            if (parts == 2)
                _mm512_storeu_si512(to + STEPS * TILE,
                                    narrow_pair(_mm512_sub_ps(x, high_part(x)), _mm512_sub_ps(y, high_part(y))));
        }
    return range_end(&all);
}

/* --- the product -------------------------------------------------------------------------------------------------- */

/* Palette 1, eight tiles: 0 to 3 are D's, 4 and 5 B's, 6 and 7 A's. */
struct config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};

/* Of D and B `n` rows, 16 or 8; of A and B `k` elements along K, 32 or 16. */
#define BYTES(k)                                                                                                       \
    { 64, 64, 64, 64, 2 * (k), 2 * (k), 64, 64 }
#define ROWS(n, k)                                                                                                     \
    { n, n, n, n, n, n, (k) / 2, (k) / 2 }
static const struct config whole[2] = {{.palette = 1, .bytes = BYTES(32), .rows = ROWS(16, 32)},
                                       {.palette = 1, .bytes = BYTES(16), .rows = ROWS(16, 16)}};
static const struct config half[2] = {{.palette = 1, .bytes = BYTES(32), .rows = ROWS(8, 32)},
                                      {.palette = 1, .bytes = BYTES(16), .rows = ROWS(8, 16)}};

struct operands {
    const uint16_t *a, *b;
    uint32_t parts_a, parts_b;
    uint32_t k; /* elements along K of an instruction: those of a tile or half of them */
};

/* 32 rows of A and 32 columns of D, or with !wide 16 (or 8). */
AMX static ALWAYS_INLINE void block(const struct simd_tile *t, const struct operands *o, uint32_t seg, uint32_t n,
                                    const bool wide) {
    const size_t row = (size_t)t->d_stride * sizeof *t->d;
    uint32_t *d00 = t->d + (size_t)n * t->d_stride + t->lane[seg],
             *d01 = t->d + (size_t)n * t->d_stride + t->lane[seg + 1];
    const size_t right = (size_t)TILE_ROWS * t->d_stride; /* of the wide block */
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (t->accumulate) {
        _tile_loadd(0, d00, row);
        _tile_loadd(1, d01, row);
        if (wide) {
            _tile_loadd(2, d00 + right, row);
            _tile_loadd(3, d01 + right, row);
        }
    }
    const uint16_t *a0 = o->a + tile_at(seg, o->parts_a, 0, 0), *a1 = o->a + tile_at(seg + 1, o->parts_a, 0, 0);
    const uint16_t *b0 = o->b + tile_at(n / TILE_ROWS, o->parts_b, 0, 0),
                   *b1 = o->b + tile_at(n / TILE_ROWS + 1, o->parts_b, 0, 0);
    const size_t part = STEPS * (size_t)TILE;
    for (uint32_t k = 0; k < t->k; k += o->k) {
        /* half a tile along K: half a row of B's, half of A's rows */
        const size_t at = k / TILE_K * (size_t)TILE, in_b = at + k % TILE_K, in_a = at + k % TILE_K * TILE_ROWS;
        for (uint32_t pb = 0; pb < o->parts_b; pb++) {
            _tile_loadd(4, b0 + in_b + pb * part, 64);
            if (wide)
                _tile_loadd(5, b1 + in_b + pb * part, 64);
            for (uint32_t pa = 0; pa < o->parts_a; pa++) {
                _tile_loadd(6, a0 + in_a + pa * part, 64);
                _tile_loadd(7, a1 + in_a + pa * part, 64);
                _tile_dpbf16ps(0, 4, 6);
                _tile_dpbf16ps(1, 4, 7);
                if (wide) {
                    _tile_dpbf16ps(2, 5, 6);
                    _tile_dpbf16ps(3, 5, 7);
                }
            }
        }
    }
    _tile_stored(0, d00, row);
    _tile_stored(1, d01, row);
    if (wide) {
        _tile_stored(2, d00 + right, row);
        _tile_stored(3, d01 + right, row);
    }
}

/* The NaN that a tcgen05.mma gives. */
AMX static void unify_nan(const struct simd_tile *t) {
    const __m512i nan = _mm512_set1_epi32((int32_t)NUM_NAN_F32);
    for (uint32_t n = 0; n < t->n; n++)
        for (uint32_t s = 0; s < t->segments; s++) {
            uint32_t *d = t->d + (size_t)n * t->d_stride + t->lane[s];
            __m512 v = _mm512_loadu_ps(d);
            _mm512_mask_storeu_epi32(d, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
        }
}

AMX static void multiply(const struct simd_tile *t, const struct operands *o) {
    const uint32_t wide = t->n & ~31u, last = t->n & ~15u;
    const bool short_k = o->k == 16;
    IN_MEMORY();
    _tile_loadconfig(&whole[short_k]);
    for (uint32_t s = 0; s < t->segments; s += 2) {
        for (uint32_t n = 0; n < wide; n += 32)
            block(t, o, s, n, true);
        if (wide < last)
            block(t, o, s, wide, false);
    }
    if (last < t->n) {
        _tile_loadconfig(&half[short_k]);
        for (uint32_t s = 0; s < t->segments; s += 2)
            block(t, o, s, last, false);
    }
    _tile_release();
    IN_MEMORY();
    unify_nan(t);
}

/* Is every number of D 0 or so large that its last bit is worth 2^-126? */
AMX static bool is_large(const struct simd_tile *t) {
    struct range all = range_start();
    for (uint32_t n = 0; n < t->n; n++)
        for (uint32_t s = 0; s < t->segments; s++)
            range_add(&all, _mm512_loadu_ps(t->d + (size_t)n * t->d_stride + t->lane[s]));
    return range_end(&all).low >= (24u << 23) - 1; /* biased exponent 24 */
}

/* Is no number subnormal, neither in nor on the way? */
static bool is_normal(const struct simd_tile *t, const struct simd_amx *work) {
    const uint32_t none = UINT32_MAX, low_a = work->range_a.low, low_b = work->range_b.low;
    const uint32_t a = (low_a + 1) >> 23, b = (low_b + 1) >> 23; /* biased exponents */
    if (low_a != none && low_b != none && a + b < 2 * 127 - 126 + 14)
        return false;
    return (low_a == none || a) && (low_b == none || b) && (!t->accumulate || is_large(t));
}

bool simd_amx_multiply(const struct simd_tile *t, unsigned parts_a, unsigned parts_b, bool same_b,
                       struct simd_amx *work) {
    if (t->accumulate && t->scale != 1)
        return false;
    struct operands o = {
        .a = work->a, .b = work->b, .parts_a = parts_a, .parts_b = parts_b, .k = t->step ? t->step : TILE_K};
    if (t->tiles) {
        if ((t->tiles_a | t->tiles_b) % TILE_ROWS)
            fatal_broken("rows %u of A and %u of B begin no tile", t->tiles_a, t->tiles_b);
        o.a += tile_at(t->tiles_a / TILE_ROWS, 1, 0, 0);
        o.b += tile_at(t->tiles_b / TILE_ROWS, 1, 0, 0);
    } else {
        work->range_a = pack_a(t, parts_a, work->a);
        if (!same_b)
            work->range_b = pack_b(t, parts_b, work->b);
    }
    /* in parts, an infinity would meet a part that is 0 */
    const uint32_t infinity = UINT32_C(0x7f800000);
    if (t->step ? !is_normal(t, work) : work->range_a.high >= infinity || work->range_b.high >= infinity)
        return false;
    multiply(t, &o);
    return true;
}

/* --- bf16 as it comes --------------------------------------------------------------------------------------------- */

/* The smallest of bf16 numbers but 0, as range_add has it. */
AMX static ALWAYS_INLINE __m512i low_bf16(__m512i low, __m512i x) {
    return _mm512_min_epu16(low,
                            _mm512_sub_epi16(_mm512_and_si512(x, _mm512_set1_epi16(INT16_MAX)), _mm512_set1_epi16(1)));
}
AMX static void note_low(struct simd_range *r, __m512i low) {
    const __m512i least =
        _mm512_min_epu32(_mm512_srli_epi32(low, 16), _mm512_and_si512(low, _mm512_set1_epi32(0xffff)));
    const uint32_t one = _mm512_reduce_min_epu32(least), bits = one == 0xffff ? UINT32_MAX : ((one + 1) << 16) - 1;
    r->low = bits < r->low ? bits : r->low;
}

/* The two units of a row: row i of group n. */
AMX static ALWAYS_INLINE __m256i row_of(const uint8_t *smem, const struct simd_groups *g, uint32_t n, uint32_t i) {
    const uint8_t *group = smem + (size_t)n * g->stride;
    const uint32_t *unit = g->unit + n * g->list + 2 * i;
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(group + unit[0]))),
        _mm_loadu_si128((const __m128i *)(const void *)(group + unit[1])), 1);
}
AMX static ALWAYS_INLINE __m512i two_rows(__m256i x, __m256i y) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1);
}

void simd_amx_begin(struct simd_amx *work) { work->range_a = work->range_b = (struct simd_range){.low = UINT32_MAX}; }

AMX void simd_amx_gather_a(struct simd_amx *work, const uint8_t *smem, const struct simd_groups *g, uint32_t row,
                           uint32_t rows, uint32_t k) {
    const __m512i left = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                  right = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i low = _mm512_set1_epi16(-1);
    for (uint32_t r = 0; r < rows; r += TILE_ROWS) {
        uint16_t *to = work->a + tile_at((row + r) / TILE_ROWS, 1, 0, k / TILE_K) + k % TILE_K * TILE_ROWS;
        __m512i x[8], y[8];
        UNROLL
        for (uint32_t i = 0; i < 8; i++) { /* rows i and i + 8 */
            x[i] = two_rows(row_of(smem, g, r / 8, i), row_of(smem, g, r / 8 + 1, i));
            low = low_bf16(low, x[i]);
        }
        UNROLL
        for (int i = 0; i < 8; i += 2) {
            y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
            y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
        }
        /* x[q + c]: pairs c, c + 4 of rows q to q + 3, then of rows 8 + q to 11 + q */
        UNROLL
        for (int q = 0; q < 8; q += 4)
            UNROLL
        for (int h = 0; h < 2; h++) {
            x[q + 2 * h] = _mm512_unpacklo_epi64(y[q + h], y[q + h + 2]);
            x[q + 2 * h + 1] = _mm512_unpackhi_epi64(y[q + h], y[q + h + 2]);
        }
        UNROLL
        for (int c = 0; c < 4; c++) {
            _mm512_storeu_si512(to + c * 32, _mm512_permutex2var_epi64(x[c], left, x[4 + c]));
            _mm512_storeu_si512(to + (c + 4) * 32, _mm512_permutex2var_epi64(x[c], right, x[4 + c]));
        }
    }
    note_low(&work->range_a, low);
}

AMX void simd_amx_gather_b(struct simd_amx *work, const uint8_t *smem, const struct simd_groups *g, uint32_t row,
                           uint32_t rows, uint32_t k) {
    __m512i low = _mm512_set1_epi16(-1);
    for (uint32_t r = 0; r < rows; r += 8) {
        const uint32_t at = row + r;
        uint16_t *to = work->b + tile_at(at / TILE_ROWS, 1, 0, k / TILE_K) + at % TILE_ROWS * TILE_K + k % TILE_K;
        UNROLL
        for (uint32_t i = 0; i < 8; i += 2, to += 2 * TILE_K) {
            const __m256i x = row_of(smem, g, r / 8, i), y = row_of(smem, g, r / 8, i + 1);
            low = low_bf16(low, two_rows(x, y));
            _mm256_storeu_si256((__m256i *)(void *)to, x);
            _mm256_storeu_si256((__m256i *)(void *)(to + TILE_K), y);
        }
    }
    note_low(&work->range_b, low);
}

void simd_amx_unpack(const struct simd_amx *work, const struct simd_tile *t, float *a, float *b) {
    for (uint32_t k = 0; k < t->k; k++) {
        for (uint32_t r = 0; r < t->segments * SIMD_SEGMENT; r++)
            a[simd_tile_a(r, k)] = num_decode_bf16(work->a[tile_at((t->tiles_a + r) / TILE_ROWS, 1, 0, k / TILE_K) +
                                                           k % TILE_K / 2 * 32 + r % TILE_ROWS * 2 + k % 2]);
        for (uint32_t n = 0; n < t->n; n++)
            b[simd_tile_b(n, k)] = num_decode_bf16(work->b[tile_at((t->tiles_b + n) / TILE_ROWS, 1, 0, k / TILE_K) +
                                                           (t->tiles_b + n) % TILE_ROWS * TILE_K + k % TILE_K]);
    }
}

#else

bool simd_amx_multiply(const struct simd_tile *t, unsigned parts_a, unsigned parts_b, bool same_b,
                       struct simd_amx *work) {
    (void)t, (void)parts_a, (void)parts_b, (void)same_b, (void)work;
    return false;
}

void simd_amx_begin(struct simd_amx *work) { (void)work; }

void simd_amx_gather_a(struct simd_amx *work, const uint8_t *smem, const struct simd_groups *g, uint32_t row,
                       uint32_t rows, uint32_t k) {
    (void)work, (void)smem, (void)g, (void)row, (void)rows, (void)k;
}

void simd_amx_gather_b(struct simd_amx *work, const uint8_t *smem, const struct simd_groups *g, uint32_t row,
                       uint32_t rows, uint32_t k) {
    (void)work, (void)smem, (void)g, (void)row, (void)rows, (void)k;
}

void simd_amx_unpack(const struct simd_amx *work, const struct simd_tile *t, float *a, float *b) {
    (void)work, (void)t, (void)a, (void)b;
}

#endif
