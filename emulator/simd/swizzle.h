/* simd/swizzle.h - the swizzling of shared memory: an XOR of an address's own bits (PTX ISA 5.5.7 for tensor maps,
 * 9.7.16.4.1 for the matrices of tcgen05.mma). Inside every `pattern` bytes it exchanges atoms of 16, 32 or 64 bytes; a
 * row is what they are exchanged in.
 */
#ifndef SIMD_SWIZZLE_H
#define SIMD_SWIZZLE_H

#include <stdint.h>

enum simd_swizzle_mode {
    SIMD_SWIZZLE_NONE,
    SIMD_SWIZZLE_32B,
    SIMD_SWIZZLE_64B,
    SIMD_SWIZZLE_128B,
    SIMD_SWIZZLE_128B_ATOM_32B,
    SIMD_SWIZZLE_128B_ATOM_64B
};

struct simd_swizzle {
    uint32_t row;         /* bytes; 16 without swizzling */
    uint32_t mask, shift; /* address ^= (address - start >> 7 & mask) << shift */
    uint32_t start;       /* of a pattern that begins at no multiple of its size; else 0 */
};

static inline struct simd_swizzle simd_swizzle_of(enum simd_swizzle_mode mode) {
    static const struct simd_swizzle modes[] = {
        [SIMD_SWIZZLE_NONE] = {16, 0, 0, 0},
        [SIMD_SWIZZLE_32B] = {32, 1, 4, 0},
        [SIMD_SWIZZLE_64B] = {64, 3, 4, 0},
        [SIMD_SWIZZLE_128B] = {128, 7, 4, 0},
        [SIMD_SWIZZLE_128B_ATOM_32B] = {128, 3, 5, 0},
        [SIMD_SWIZZLE_128B_ATOM_64B] = {128, 1, 6, 0},
    };
    return modes[mode];
}

/* Bytes after which the XOR repeats itself. */
static inline uint32_t simd_swizzle_pattern(const struct simd_swizzle *s) { return 128 * (s->mask + 1); }

static inline uint32_t simd_swizzled(const struct simd_swizzle *s, uint32_t address) {
    return address ^ ((address - s->start) >> 7 & s->mask) << s->shift;
}

#endif
