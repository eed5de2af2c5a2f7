/* simd/line_copy.c - boxes of whole lines; contract in line_copy.h. */
#include "simd/line_copy.h"

#include "base/relaxed.h"
#include "simd/swizzle.h"
#include "simd/vectors.h"

#include <string.h>

/* The next box mostly lies beside this one, each row in a page of its own: into L2, as L1 is smaller than a box. The
 * one after it too, which only comes nearer: rows a power of two apart share few sets, and L2 may lose it again. In the
 * loops of the products, between the copies, the same fetches take longer: their operands come from L2 as well.
 * Numbers, as they may lie outside the allocation. */
static inline void fetch_ahead(const uint8_t *row) {
    const uintptr_t next = (uintptr_t)row + 128;
    UNROLL
    for (uint32_t line = 0; line < 4; line++)
        __builtin_prefetch((const void *)(next + 64 * line), 0, 2);
}

/* Where chunk c, of 16 bytes, of the line at `at` lies. */
static inline uint32_t chunk_at(uint32_t at, uint32_t c) {
    const struct simd_swizzle s = simd_swizzle_of(SIMD_SWIZZLE_128B);
    return simd_swizzled(&s, at | c);
}

void simd_lines_portable(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    for (uint32_t r = 0; r < rows; r++, at += 128) {
        const uint8_t *row = from + r * stride;
        fetch_ahead(row);
        UNROLL for (uint32_t c = 0; c < 128; c += 16) {
            uint8_t *to = smem + chunk_at(at, c);
            const uint64_t lo = relaxed_load(row + c, 8), hi = relaxed_load(row + c + 8, 8);
            memcpy(to, &lo, 8);
            memcpy(to + 8, &hi, 8);
        }
    }
}

void simd_lines_out_portable(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows) {
    for (uint32_t r = 0; r < rows; r++, at += 128, to += 128)
        for (uint32_t c = 0; c < 128; c += 16)
            memcpy(to + c, smem + chunk_at(at, c), 16);
}

#if defined(__x86_64__)

/* Bits 0 and 1 of a line's turn exchange chunks of half a line, bit 2 the halves. Twice is as if never. */
struct turn {
    __m512i order;
    uint32_t half;
};
AVX512 static inline struct turn turn_of(uint32_t at) {
    const uint32_t turn = at >> 7 & simd_swizzle_of(SIMD_SWIZZLE_128B).mask;
    return (struct turn){_mm512_xor_si512(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(2 * (turn & 3))),
                         (turn & 4) * 16};
}

/* Only in the three functions below is ThreadSanitizer told to look away. The rows are shared bytes (base/relaxed.h),
 * and C has no atomic access of 16 bytes or more. Rows are aligned to 16 bytes, so the CPU reads or writes at least
 * each 8 of them at once. That is all that base/relaxed.h would do; and nothing here looks at what they are. */
#define RACES __attribute__((no_sanitize("thread")))

/* Nearly all of the time goes into waiting for the rows: the fewer instructions each takes, the more are under way. */
AVX512 RACES static void lines_avx512(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    for (uint32_t r = 0; r < rows; r++, at += 128) {
        const uint8_t *row = from + r * stride;
        fetch_ahead(row);
        const struct turn t = turn_of(at);
        const __m512i lo = _mm512_permutexvar_epi64(t.order, _mm512_loadu_si512(row));
        const __m512i hi = _mm512_permutexvar_epi64(t.order, _mm512_loadu_si512(row + 64));
        _mm512_storeu_si512(smem + (at | t.half), lo);
        _mm512_storeu_si512(smem + (at | (t.half ^ 64)), hi);
    }
}

/* The same by half lines: bit 0 of the turn exchanges their halves, bits 1 and 2 the half lines. */
AVX2 RACES static void lines_avx2(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    for (uint32_t r = 0; r < rows; r++, at += 128) {
        const uint8_t *row = from + r * stride;
        fetch_ahead(row);
        const uint32_t turn = at >> 7 & simd_swizzle_of(SIMD_SWIZZLE_128B).mask, far = (turn & 6) * 16;
        __m256i v[4];
        UNROLL
        for (int i = 0; i < 4; i++)
            v[i] = _mm256_loadu_si256((const __m256i *)(const void *)(row + 32 * i));
        UNROLL
        for (int i = 0; i < 4; i++)
            _mm256_storeu_si256((__m256i *)(void *)(smem + (at | (32u * (uint32_t)i ^ far))),
                                turn & 1 ? _mm256_permute4x64_epi64(v[i], 0x4e) : v[i]);
    }
}

/* Without the fetch of lines that are overwritten as a whole. Such stores are in no order: the fence puts them before
 * what the thread tells others. */
RACES bool simd_rows_away(uint8_t *to, uint64_t stride, uint32_t rows, const uint8_t *from, uint32_t bytes) {
    if (((uintptr_t)to | stride | bytes) % 64)
        return false;
    for (uint32_t r = 0; r < rows; r++, to += stride, from += bytes)
        for (uint32_t i = 0; i < bytes; i += 16)
            _mm_stream_si128((__m128i *)(void *)(to + i), _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    _mm_sfence();
    return true;
}

AVX512 static void lines_out_avx512(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows) {
    for (uint32_t r = 0; r < rows; r++, at += 128, to += 128) {
        const struct turn t = turn_of(at);
        const __m512i lo = _mm512_loadu_si512(smem + (at | t.half));
        const __m512i hi = _mm512_loadu_si512(smem + (at | (t.half ^ 64)));
        _mm512_storeu_si512(to, _mm512_permutexvar_epi64(t.order, lo));
        _mm512_storeu_si512(to + 64, _mm512_permutexvar_epi64(t.order, hi));
    }
}

void simd_lines(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    (has_avx512()                     ? lines_avx512
     : __builtin_cpu_supports("avx2") ? lines_avx2
                                      : simd_lines_portable)(smem, at, rows, from, stride);
}

void simd_lines_out(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows) {
    (has_avx512() ? lines_out_avx512 : simd_lines_out_portable)(to, smem, at, rows);
}

#else

bool simd_rows_away(uint8_t *to, uint64_t stride, uint32_t rows, const uint8_t *from, uint32_t bytes) {
    (void)to, (void)stride, (void)rows, (void)from, (void)bytes;
    return false;
}

void simd_lines(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    simd_lines_portable(smem, at, rows, from, stride);
}

void simd_lines_out(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows) {
    simd_lines_out_portable(to, smem, at, rows);
}

#endif
