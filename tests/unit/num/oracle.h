// An independent rounding oracle: finds the code by bisection over all codes of a format, comparing the exact
// value with decoded values and midpoints in 113-bit arithmetic. It shares only num_decode, which
// test_formats proves.
#ifndef NUM_ORACLE_H
#define NUM_ORACLE_H

#include <math.h>

#include "num/num.h"

#if defined(__x86_64__)
typedef __float128 quad;
#else
typedef long double quad; // binary128 on aarch64
#endif

// Sign of (|exact value| - v) for v >= 0.
typedef int (*oracle_cmp)(const void *exact, quad v);

typedef struct oracle_sum { // s + e, |e| below half an ulp of s
    quad s, e;
} oracle_sum;

static inline int oracle_sign(quad x) { return (x > 0) - (x < 0); }

static inline int oracle_cmp_sum(const void *p, quad v) {
    const oracle_sum *x = p;
    int flip = x->s < 0 ? -1 : 1;
    quad d = flip * x->s - v; // exact where it matters: zero only when equal
    return d != 0 ? oracle_sign(d) : oracle_sign(flip * x->e);
}

static inline oracle_sum oracle_add(quad a, quad b) {
    quad s = a + b, t = s - a;
    return (oracle_sum){s, (a - (s - t)) + (b - t)};
}

static inline uint64_t oracle_max_code(num_type t) {
    static const uint64_t max[NUM_TYPE_COUNT] = {[NUM_F64] = 0x7fefffffffffffff,
                                                 [NUM_F32] = 0x7f7fffff,
                                                 [NUM_TF32] = 0x7f7fe000 >> 13,
                                                 [NUM_F16] = 0x7bff,
                                                 [NUM_BF16] = 0x7f7f,
                                                 [NUM_E4M3] = 0x7e,
                                                 [NUM_E5M2] = 0x7b,
                                                 [NUM_E2M3] = 0x1f,
                                                 [NUM_E3M2] = 0x1f,
                                                 [NUM_E2M1] = 7};
    return max[t];
}

static inline quad oracle_value(num_type t, uint64_t code) {
    uint64_t max = oracle_max_code(t), up = t == NUM_TF32 ? 13 : 0;
    if (code <= max)
        return (quad)num_decode(t, code << up);
    return 2 * (quad)num_decode(t, max << up) - (quad)num_decode(t, (max - 1) << up); // what would come next
}

// Code of the magnitude of an exact nonzero value; max + 1 stands for an overflow that the mode rounds away.
static inline uint64_t oracle_magnitude(num_type t, const void *x, oracle_cmp cmp, bool negative, num_round r) {
    uint64_t lo = 0, hi = oracle_max_code(t) + 1; // value(lo) <= |x|; hi: first code above, or max + 1
    bool beyond = cmp(x, oracle_value(t, hi)) >= 0;
    while (hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (cmp(x, oracle_value(t, mid)) >= 0)
            lo = mid;
        else
            hi = mid;
    }
    if (!beyond && cmp(x, oracle_value(t, lo)) == 0)
        return lo;
    int half = beyond ? 1 : cmp(x, (oracle_value(t, lo) + oracle_value(t, hi)) / 2);
    switch (r) {
    case NUM_RN:
        return half > 0 || (half == 0 && lo & 1) ? hi : lo;
    case NUM_RNA:
        return half >= 0 ? hi : lo;
    case NUM_RZ:
        return lo;
    case NUM_RM:
        return negative ? hi : lo;
    case NUM_RP:
        return negative ? lo : hi;
    }
    return lo;
}

// The whole code of an exact nonzero value, for the formats with a sign.
static inline uint64_t oracle_code(num_type t, const void *x, oracle_cmp cmp, bool negative, num_round r,
                                   bool satfinite) {
    uint64_t m = oracle_magnitude(t, x, cmp, negative, r), max = oracle_max_code(t);
    bool no_inf = t == NUM_E2M3 || t == NUM_E3M2 || t == NUM_E2M1;
    if (m > max && (satfinite || no_inf))
        m = max;
    if (m > max && t == NUM_E4M3)
        return 0x7f;
    uint64_t sign = (uint64_t)negative << (t == NUM_TF32 ? 18 : num_type_bits(t) - 1);
    return (m | sign) << (t == NUM_TF32 ? 13 : 0);
}

static inline uint64_t oracle_encode(num_type t, double x, num_round r, bool satfinite) {
    oracle_sum s = {(quad)x, 0};
    return oracle_code(t, &s, oracle_cmp_sum, x < 0, r, satfinite);
}

// splitmix64, by Sebastiano Vigna (public domain).
static inline uint64_t oracle_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// A finite nonzero f32 whose exponent lies in a window round `centre`, often with few significant bits.
static inline uint32_t oracle_f32(uint64_t *state, int centre, int spread) {
    uint64_t r = oracle_random(state);
    int e = centre + (int)(r % (2 * (unsigned)spread + 1)) - spread;
    e = e < 0 ? 0 : e > 254 ? 254 : e;
    uint32_t man = (uint32_t)(r >> 20) & 0x7fffff;
    if (r >> 60 < 6)
        man &= 0x7fffffu << (r >> 54 & 31) & 0x7fffff;
    if (r >> 60 == 15)
        man |= 0x7fffffu >> (r >> 54 & 31);
    return (uint32_t)(r >> 8 & 1) << 31 | (uint32_t)e << 23 | man | (e == 0);
}

static inline uint64_t oracle_f64(uint64_t *state, int centre, int spread) {
    uint64_t r = oracle_random(state), q = oracle_random(state);
    int e = centre + (int)(r % (2 * (unsigned)spread + 1)) - spread;
    e = e < 0 ? 0 : e > 2046 ? 2046 : e;
    uint64_t man = q & UINT64_C(0xfffffffffffff);
    if (r >> 60 < 6)
        man &= UINT64_C(0xfffffffffffff) << (r >> 50 & 63) & UINT64_C(0xfffffffffffff);
    if (r >> 60 == 15)
        man |= UINT64_C(0xfffffffffffff) >> (r >> 50 & 63);
    return (r >> 8 & 1) << 63 | (uint64_t)e << 52 | man | (e == 0);
}

#endif
