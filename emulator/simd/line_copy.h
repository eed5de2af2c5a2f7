/* simd/line_copy.h - copies boxes of whole lines of 128 bytes into swizzled memory and out of it: what matrices in half
 * precision come as. The lines are one behind the other there, and the 16-byte chunks of each are exchanged by its
 * number, which is the 128B swizzle (swizzle.h). `at` is a multiple of 128.
 */
#ifndef SIMD_LINE_COPY_H
#define SIMD_LINE_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* Rows of 128 bytes, `stride` apart and aligned to 16, to smem + at: shared bytes (base/relaxed.h), read once, each
 * aligned 8 of them whole. */
void simd_lines(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride);
/* Lines from smem + at on, out as rows of 128 bytes behind each other. */
void simd_lines_out(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows);
/* Rows of `bytes` each, one behind the other, to shared bytes `stride` apart, past the host's caches: a kernel seldom
 * reads its results again soon. False, and nothing has happened: they are no whole lines of a cache. */
bool simd_rows_away(uint8_t *to, uint64_t stride, uint32_t rows, const uint8_t *from, uint32_t bytes);
/* The first two by the loops for hosts without AVX-512. */
void simd_lines_portable(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride);
void simd_lines_out_portable(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows);

#endif
