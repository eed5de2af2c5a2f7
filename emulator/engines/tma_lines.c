/* engines/tma_lines.c - boxes of whole lines into shared memory; contract in tma_copy.h. */
#include "engines/tma_copy.h"

#include <string.h>

/* The next box mostly lies beside this one, each row in a page of its own: into L2, as L1 is smaller than a box. A number,
 * as it may lie outside of the allocation. */
static inline void fetch_ahead(const uint8_t *row) {
    const uintptr_t next = (uintptr_t)row + 128;
    __builtin_prefetch((const void *)next, 0, 2);
    __builtin_prefetch((const void *)(next + 64), 0, 2);
}

void tma_lines_portable(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    for (uint32_t r = 0; r < rows; r++, at += 128) {
        const uint8_t *row = from + r * stride;
        fetch_ahead(row);
        for (uint32_t c = 0; c < 128; c += 16)
            memcpy(smem + (at | (c ^ (at >> 3 & 0x70))), row + c, 16);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

/* Nearly all of the time goes into waiting for the rows: the fewer instructions each takes, the more are under way. Bits
 * 0 and 1 of the turn exchange chunks of half a line, bit 2 the halves. */
__attribute__((target("avx512f"))) static void lines_avx512(uint8_t *smem, uint32_t at, uint32_t rows,
                                                            const uint8_t *from, uint64_t stride) {
    const __m512i in_order = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    for (uint32_t r = 0; r < rows; r++, at += 128) {
        const uint8_t *row = from + r * stride;
        fetch_ahead(row);
        const uint32_t turn = at >> 7 & 7, half = (turn & 4) * 16;
        const __m512i order = _mm512_xor_si512(in_order, _mm512_set1_epi64(2 * (turn & 3)));
        const __m512i lo = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(row));
        const __m512i hi = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(row + 64));
        _mm512_storeu_si512(smem + (at | half), lo);
        _mm512_storeu_si512(smem + (at | (half ^ 64)), hi);
    }
}

void tma_lines(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    /* not an inquiry of the CPU: what one found as the program started */
    if (__builtin_cpu_supports("avx512f"))
        lines_avx512(smem, at, rows, from, stride);
    else
        tma_lines_portable(smem, at, rows, from, stride);
}

#else

void tma_lines(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride) {
    tma_lines_portable(smem, at, rows, from, stride);
}

#endif
