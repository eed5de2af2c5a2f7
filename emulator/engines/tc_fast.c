/* engines/tc_fast.c - D += A * B by the host's matrix unit (Intel AMX); contract and bound in tc_kernel.h. */
#include "engines/tc_kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AVX512 __attribute__((target("avx512f,avx512bw")))
#define AMX __attribute__((target("avx512f,avx512bw,amx-tile,amx-bf16")))
#define ALWAYS_INLINE inline __attribute__((always_inline))

#define TILE 512u     /* 16-bit elements of a tile register: 16 rows of 64 bytes */
#define TILE_K 32u    /* of them along K */
#define TILE_ROWS 16u /* rows of A, or of B */
#define NAN_BITS 0x7fffffff

/* What the compiler has stored is in memory before the matrix unit reads it: gcc's intrinsics do not say so. */
#define IN_MEMORY() __asm__ volatile("" ::: "memory")

/* --- may it be used? --- */

bool tc_fast_available(void) {
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    const unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
    unsigned a, b, c, d;
    if (!tc_simd_available(TC_SIMD_AVX512) || !__builtin_cpu_supports("avx512bw") ||
        !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    return (d & amx_bf16) && (d & amx_tile) &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

/* --- operands as bf16 parts --- */

/* The first 8 significant bits, and what they leave: exact, the same sign. */
AVX512 static ALWAYS_INLINE __m512 high_part(__m512 x) {
    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32((int32_t)0xffff0000)));
}
AVX512 static ALWAYS_INLINE __mmask16 not_finite(__m512 x) {
    const __m512i e = _mm512_set1_epi32(0x7f800000);
    return _mm512_cmpeq_epi32_mask(_mm512_and_si512(_mm512_castps_si512(x), e), e);
}
/* bf16 of 32 numbers that are one, in their order. */
AVX512 static ALWAYS_INLINE __m512i narrow(__m512 x, __m512 y) {
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return _mm512_permutexvar_epi64(order,
                                    _mm512_packus_epi32(_mm512_srli_epi32(_mm512_castps_si512(x), 16),
                                                        _mm512_srli_epi32(_mm512_castps_si512(y), 16)));
}
/* The same, one of x and one of y in turn. */
AVX512 static ALWAYS_INLINE __m512i narrow_pair(__m512 x, __m512 y) {
    return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(x), 16), _mm512_castps_si512(high_part(y)));
}

/* Tile (group of 16 rows, part, step along K) of an operand. */
static ALWAYS_INLINE size_t tile_at(uint32_t group, uint32_t parts, uint32_t part, uint32_t steps,
                                    uint32_t step) {
    return ((size_t)(group * parts + part) * steps + step) * TILE;
}

/* Elements of a row of B from k on, 0 behind its end. */
AVX512 static ALWAYS_INLINE __m512 load_b(const struct tc_tile *t, uint32_t n, uint32_t k) {
    uint32_t left = t->k > k ? t->k - k : 0;
    return _mm512_maskz_loadu_ps(left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1), t->b + tc_tile_b(n, k));
}

/* Rows of B: a tile has 16 rows, 32 elements along K each. False: some number is not finite. */
AVX512 static bool pack_b(const struct tc_tile *t, uint32_t parts, uint32_t steps, uint16_t *out) {
    __mmask16 bad = 0;
    for (uint32_t n = 0; n < t->n; n++)
        for (uint32_t i = 0; i < steps; i++) {
            __m512 x = load_b(t, n, i * TILE_K), y = load_b(t, n, i * TILE_K + 16);
            uint16_t *to = out + tile_at(n / TILE_ROWS, parts, 0, steps, i) + n % TILE_ROWS * TILE_K;
            _mm512_storeu_si512(to, narrow(x, y));
            bad |= not_finite(x) | not_finite(y);
            if (parts == 2)
                _mm512_storeu_si512(to + steps * TILE,
                                    narrow(_mm512_sub_ps(x, high_part(x)), _mm512_sub_ps(y, high_part(y))));
        }
    return !bad;
}

/* Rows of A: a tile has 16 pairs of elements along K, of 16 rows each. */
AVX512 static bool pack_a(const struct tc_tile *t, uint32_t parts, uint32_t steps, uint16_t *out) {
    __mmask16 bad = 0;
    for (uint32_t s = 0; s < t->segments; s++)
        for (uint32_t k = 0; k < steps * TILE_K; k += 2) {
            __m512 x = _mm512_setzero_ps(), y = x;
            if (k < t->k) { /* K is even */
                x = _mm512_loadu_ps(t->a + tc_tile_a(s * TC_SEGMENT, k));
                y = _mm512_loadu_ps(t->a + tc_tile_a(s * TC_SEGMENT, k + 1));
            }
            uint16_t *to = out + tile_at(s, parts, 0, steps, k / TILE_K) + k % TILE_K / 2 * 2 * TC_SEGMENT;
            _mm512_storeu_si512(to, narrow_pair(x, y));
            bad |= not_finite(x) | not_finite(y);
            if (parts == 2)
                _mm512_storeu_si512(to + steps * TILE, narrow_pair(_mm512_sub_ps(x, high_part(x)),
                                                                   _mm512_sub_ps(y, high_part(y))));
        }
    return !bad;
}

/* --- the product --- */

/* Palette 1, eight tiles: 0 to 3 are D's, 4 and 5 B's, 6 and 7 A's. Of D and B all 16 rows, or 8. */
struct config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};
static const struct config whole = {
    .palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
static const struct config half = {
    .palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {8, 8, 8, 8, 8, 8, 16, 16}};

struct operands {
    const uint16_t *a, *b;
    uint32_t parts_a, parts_b, steps;
};

/* 32 rows of A and 32 columns of D, or with !wide 16 (or 8). */
AMX static ALWAYS_INLINE void block(const struct tc_tile *t, const struct operands *o, uint32_t seg,
                                    uint32_t n, const bool wide) {
    const size_t row = (size_t)t->d_stride * sizeof *t->d;
    uint32_t *d00 = t->d + (size_t)n * t->d_stride + t->lane[seg],
             *d01 = t->d + (size_t)n * t->d_stride + t->lane[seg + 1];
    uint32_t *d10 = d00 + (size_t)TILE_ROWS * t->d_stride, *d11 = d01 + (size_t)TILE_ROWS * t->d_stride;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (t->accumulate) {
        _tile_loadd(0, d00, row);
        _tile_loadd(1, d01, row);
        if (wide) {
            _tile_loadd(2, d10, row);
            _tile_loadd(3, d11, row);
        }
    }
    const uint16_t *a0 = o->a + tile_at(seg, o->parts_a, 0, o->steps, 0),
                   *a1 = o->a + tile_at(seg + 1, o->parts_a, 0, o->steps, 0);
    const uint16_t *b0 = o->b + tile_at(n / TILE_ROWS, o->parts_b, 0, o->steps, 0),
                   *b1 = o->b + tile_at(n / TILE_ROWS + 1, o->parts_b, 0, o->steps, 0);
    const size_t part = o->steps * (size_t)TILE;
    for (size_t i = 0; i < part; i += TILE)
        for (size_t pb = i; pb < o->parts_b * part; pb += part) {
            _tile_loadd(4, b0 + pb, 64);
            if (wide)
                _tile_loadd(5, b1 + pb, 64);
            for (size_t pa = i; pa < o->parts_a * part; pa += part) {
                _tile_loadd(6, a0 + pa, 64);
                _tile_loadd(7, a1 + pa, 64);
                _tile_dpbf16ps(0, 4, 6);
                _tile_dpbf16ps(1, 4, 7);
                if (wide) {
                    _tile_dpbf16ps(2, 5, 6);
                    _tile_dpbf16ps(3, 5, 7);
                }
            }
        }
    _tile_stored(0, d00, row);
    _tile_stored(1, d01, row);
    if (wide) {
        _tile_stored(2, d10, row);
        _tile_stored(3, d11, row);
    }
}

/* The NaN that a tcgen05.mma gives. */
AVX512 static void unify_nan(const struct tc_tile *t, uint32_t seg, uint32_t n, uint32_t count) {
    const __m512i nan = _mm512_set1_epi32(NAN_BITS);
    for (uint32_t c = n; c < n + count; c++)
        for (uint32_t s = seg; s < seg + 2; s++) {
            uint32_t *d = t->d + (size_t)c * t->d_stride + t->lane[s];
            __m512 v = _mm512_loadu_ps(d);
            _mm512_mask_storeu_epi32(d, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
        }
}

AMX static void multiply(const struct tc_tile *t, const struct operands *o) {
    const uint32_t wide = t->n & ~31u, last = t->n & ~15u;
    IN_MEMORY();
    _tile_loadconfig(&whole);
    for (uint32_t s = 0; s < t->segments; s += 2) {
        for (uint32_t n = 0; n < wide; n += 32)
            block(t, o, s, n, true);
        if (wide < last)
            block(t, o, s, wide, false);
    }
    if (last < t->n) {
        _tile_loadconfig(&half);
        for (uint32_t s = 0; s < t->segments; s += 2)
            block(t, o, s, last, false);
    }
    _tile_release();
    IN_MEMORY();
    for (uint32_t s = 0; s < t->segments; s += 2)
        unify_nan(t, s, 0, t->n);
}

bool tc_fast_run(const struct tc_tile *t, unsigned parts_a, unsigned parts_b, bool same_b,
                 struct tc_fast *work) {
    struct operands o = {work->a, work->b, parts_a, parts_b, (t->k + TILE_K - 1) / TILE_K};
    if (t->accumulate && t->scale != 1)
        return false;
    bool finite = pack_a(t, parts_a, o.steps, work->a);
    if (!same_b)
        work->b_finite = pack_b(t, parts_b, o.steps, work->b);
    if (parts_a * parts_b > 1 && !(finite && work->b_finite)) /* an infinity times a part that is 0 */
        return false;
    multiply(t, &o);
    return true;
}

#else

bool tc_fast_available(void) { return false; }

bool tc_fast_run(const struct tc_tile *t, unsigned parts_a, unsigned parts_b, bool same_b,
                 struct tc_fast *work) {
    (void)t, (void)parts_a, (void)parts_b, (void)same_b, (void)work;
    return false;
}

#endif
