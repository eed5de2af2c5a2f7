/* random.h - the random numbers of the steps: the same from one seed on every machine. Host only. */
#ifndef COMMON_RANDOM_H
#define COMMON_RANDOM_H

#include <stdint.h>

/* The next number of a splitmix64 sequence as a float in [-1, 1). */
static inline float random_float(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return (float)(int32_t)(z >> 32) * 0x1p-31f;
}

#endif
