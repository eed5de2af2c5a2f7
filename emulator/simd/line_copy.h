/* simd/line_copy.h - copies boxes of whole lines of 128 bytes into swizzled memory and out of it: what matrices in half
 * precision come as. The lines are one behind the other there, and the 16-byte chunks of each are exchanged by its
 * number, which is the 128B swizzle (swizzle.h). `at` is a multiple of 128.
 */
#ifndef SIMD_LINE_COPY_H
#define SIMD_LINE_COPY_H

#include <stdint.h>

/* Rows of 128 bytes, `stride` apart and aligned to 16, to smem + at: shared bytes (base/relaxed.h), read once, each
 * aligned 8 of them whole. */
void simd_lines(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride);
/* Lines from smem + at on, out as rows of 128 bytes behind each other. */
void simd_lines_out(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows);
/* The same by the loops for hosts without AVX-512. */
void simd_lines_portable(uint8_t *smem, uint32_t at, uint32_t rows, const uint8_t *from, uint64_t stride);
void simd_lines_out_portable(uint8_t *to, const uint8_t *smem, uint32_t at, uint32_t rows);

#endif
