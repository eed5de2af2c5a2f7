/* values.h - the values that tests/silicon feeds to instructions: for each kind of operand the special values of its
 * type, then seeded random ones. The same program makes them wherever it runs, so that only outputs are recorded. */
#ifndef TESTS_SILICON_VALUES_H
#define TESTS_SILICON_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint64_t SPECIAL_16[] = {0,      1,      2,      7,      8,      15,     16,     31,
                                      32,     0x7f,   0x80,   0xff,   0x100,  0x1234, 0x7ffe, 0x7fff,
                                      0x8000, 0x8001, 0xff00, 0xff7f, 0xff80, 0xfffe, 0xffff};
static const uint64_t SPECIAL_32[] = {
    0,          1,          2,          3,          7,          8,          15,         16,
    31,         32,         33,         0x7f,       0x80,       0xff,       0x100,      0x7fff,
    0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,   0x1000000,  0x3fffffff,
    0x55555555, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaaa, 0xffff0000, 0xffff7fff,
    0xffff8000, 0xffffff7f, 0xffffff80, 0xfffffffe, 0xffffffff};
static const uint64_t SPECIAL_64[] = {0,
                                      1,
                                      2,
                                      7,
                                      63,
                                      64,
                                      0xff,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      0x5555555555555555,
                                      0x001fffffffffffff,
                                      0x0020000000000001,
                                      0x7ffffffffffffffe,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0x8000000000000001,
                                      0xaaaaaaaaaaaaaaaa,
                                      0xffffffff00000000,
                                      0xffffffff7fffffff,
                                      0xffffffff80000000,
                                      0xfffffffffffffffe,
                                      0xffffffffffffffff};
/* Floating point: the positive ones; a random bit adds the sign where a value is drawn, and both are in the crossed
 * part. Zero, subnormals, one and its neighbours, powers of two where integers and narrow formats end, ties, the
 * largest numbers, infinity, quiet and signalling NaNs. */
static const uint64_t SPECIAL_F16[] = {0,      1,      2,      0x3ff,  0x400,  0x401,  0x3800, 0x3bff,
                                       0x3c00, 0x3c01, 0x3e00, 0x4000, 0x4200, 0x57f8, 0x5bf8, 0x5c00,
                                       0x7800, 0x7bff, 0x7c00, 0x7c01, 0x7d55, 0x7e00, 0x7e01, 0x7fff};
static const uint64_t SPECIAL_BF16[] = {0,      1,      0x40,   0x7f,   0x80,   0x81,   0x3f00, 0x3f7f,
                                        0x3f80, 0x3f81, 0x3fc0, 0x4000, 0x4040, 0x42ff, 0x4780, 0x4f00,
                                        0x7f00, 0x7f7f, 0x7f80, 0x7f81, 0x7faa, 0x7fc0, 0x7fc1, 0x7fff};
static const uint64_t SPECIAL_F32[] = {
    0,          1,          2,          0x7fffff,   0x800000,   0x800001,   0x1000000,  0x33000000, 0x33000001,
    0x33800000, 0x38000000, 0x387fe000, 0x387fffff, 0x38800000, 0x3a800000, 0x3b000000, 0x3b800000, 0x3e800000,
    0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3f807fff, 0x3f808000, 0x3f808001,
    0x3f818000, 0x3f801000, 0x3f803000, 0x3fc00000, 0x40000000, 0x40200000, 0x40400000, 0x40490fdb, 0x42ff0000,
    0x43000000, 0x43008000, 0x437f8000, 0x43e00000, 0x43e80000, 0x43f00000, 0x46fffe00, 0x47000000, 0x477fe000,
    0x477fefff, 0x477ff000, 0x477fff80, 0x47800000, 0x47600000, 0x47700000, 0x4b000001, 0x4b7fffff, 0x4effffff,
    0x4f000000, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0x5f7fffff, 0x5f800000, 0x7e800000, 0x7f000000,
    0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fa00000, 0x7fc00000, 0x7fc12345, 0x7fffffff};
static const uint64_t SPECIAL_F64[] = {0,
                                       1,
                                       0xfffffffffffff,
                                       0x10000000000000,
                                       0x10000000000001,
                                       0x3690000000000000,
                                       0x36a0000000000000,
                                       0x380fffffe0000000,
                                       0x3810000000000000,
                                       0x3e70000000000000,
                                       0x3f10000000000000,
                                       0x3fdfffffffffffff,
                                       0x3fe0000000000000,
                                       0x3fefffffffffffff,
                                       0x3ff0000000000000,
                                       0x3ff0000000000001,
                                       0x3ff0000010000000,
                                       0x3ff0000030000000,
                                       0x3ff0000010000001,
                                       0x3ff8000000000000,
                                       0x4000000000000000,
                                       0x4004000000000000,
                                       0x405fe00000000000,
                                       0x40effc0000000000,
                                       0x40effe0000000000,
                                       0x41dfffffffc00000,
                                       0x41dfffffffe00000,
                                       0x41e0000000000000,
                                       0x41efffffffe00000,
                                       0x41f0000000000000,
                                       0x43dfffffffffffff,
                                       0x43e0000000000000,
                                       0x43efffffffffffff,
                                       0x43f0000000000000,
                                       0x47efffffe0000000,
                                       0x47effffff0000000,
                                       0x7fe0000000000000,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0x7ff0000000000001,
                                       0x7ff8000000000000,
                                       0x7ff8000012345678,
                                       0x7fffffffffffffff};
/* Shift counts, bit positions, lengths */
static const uint64_t SPECIAL_COUNT[] = {
    0,  1,  2,  3,  4,  5,  7,  8,  9,  12,  15,  16,  17,  18,  19,  23,  24,  25,         28,         30,        31,
    32, 33, 40, 48, 60, 62, 63, 64, 65, 100, 127, 128, 192, 254, 255, 256, 257, 0x7fffffff, 0x80000000, 0xffffffff};

typedef struct Kind {
    const char *name;
    unsigned bits; /* of the register; 1: a predicate */
    const uint64_t *special;
    size_t specials;
    unsigned mantissa; /* floating point: its bits of fraction, otherwise 0 */
    unsigned element;  /* bits of an element; a packed kind has two of them */
    int nonzero;       /* zero becomes one */
} Kind;

#define SPECIALS(a) a, sizeof a / sizeof *a
static const Kind KINDS[] = {
    {"pred", 1, NULL, 0, 0, 1, 0},
    {"b16", 16, SPECIALS(SPECIAL_16), 0, 16, 0},
    {"b32", 32, SPECIALS(SPECIAL_32), 0, 32, 0},
    {"b64", 64, SPECIALS(SPECIAL_64), 0, 64, 0},
    {"b16x2", 32, SPECIALS(SPECIAL_16), 0, 16, 0},
    {"nz16", 16, SPECIALS(SPECIAL_16), 0, 16, 1}, /* divisors: dividing by zero is left to the machine (9.7.1.8) */
    {"nz32", 32, SPECIALS(SPECIAL_32), 0, 32, 1},
    {"nz64", 64, SPECIALS(SPECIAL_64), 0, 64, 1},
    {"count", 32, SPECIALS(SPECIAL_COUNT), 0, 32, 0},
    {"count8", 32, SPECIALS(SPECIAL_COUNT), 0, 8, 0}, /* 0 to 255 */
    {"f16", 16, SPECIALS(SPECIAL_F16), 10, 16, 0},
    {"bf16", 16, SPECIALS(SPECIAL_BF16), 7, 16, 0},
    {"f16x2", 32, SPECIALS(SPECIAL_F16), 10, 16, 0},
    {"bf16x2", 32, SPECIALS(SPECIAL_BF16), 7, 16, 0},
    {"f32", 32, SPECIALS(SPECIAL_F32), 23, 32, 0},
    {"f64", 64, SPECIALS(SPECIAL_F64), 52, 64, 0},
    {"angle", 32, NULL, 0, 23, 32, 0}, /* f32 from -2 pi to 2 pi, where .approx has its bound (9.7.3.18) */
    {"raw64", 64, NULL, 0, 0, 64, 0},  /* random bits only */
};

static inline const Kind *find_kind(const char *name) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i].name, name) == 0)
            return &KINDS[i];
    return NULL;
}

/* splitmix64 */
static inline uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline uint64_t low_bits(unsigned bits) { return bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1; }

/* Specials of a kind, both signs of floating-point ones counted. */
static inline size_t special_count(const Kind *k) { return k->mantissa ? 2 * k->specials : k->specials; }
static inline uint64_t special_at(const Kind *k, size_t i) {
    uint64_t v = k->special[i % k->specials] & low_bits(k->element);
    return i >= k->specials ? v | UINT64_C(1) << (k->element - 1) : v;
}

/* One element, a third each: special; any bits; integers of any magnitude, floats within 2^8 of one. */
static inline uint64_t draw_element(const Kind *k, uint64_t *state) {
    const uint64_t r = draw(state), v = draw(state) & low_bits(k->element);
    if (k->specials && r % 3 == 0)
        return special_at(k, (r >> 8) % special_count(k));
    if (r % 3 == 1 || (!k->specials && !k->mantissa))
        return v;
    if (!k->mantissa)
        return v >> ((r >> 8) % k->element);
    const unsigned exponent_bits = k->element - 1 - k->mantissa;
    const uint64_t bias = low_bits(exponent_bits - 1), exponent = bias - 8 + (r >> 8) % 17;
    return (v & (low_bits(k->mantissa) | UINT64_C(1) << (k->element - 1))) | exponent << k->mantissa;
}

static inline uint64_t draw_value(const Kind *k, uint64_t *state) {
    if (strcmp(k->name, "angle") == 0) {
        const uint64_t r = draw(state);
        const float x = (float)((double)(int64_t)r / 9223372036854775808.0 * 6.2831850);
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    uint64_t v = draw_element(k, state);
    if (k->bits == 2 * k->element)
        v |= draw_element(k, state) << k->element;
    return k->nonzero && v == 0 ? 1 : v;
}

/* Value of operand `op` of `n` in vector `i`: all 65536 of a lone 16-bit operand, all specials of a lone wider one or
 * all pairs of two, then random ones. */
static inline uint64_t value_of(const Kind *const kinds[], unsigned n, unsigned op, uint64_t i, uint64_t *state) {
    const Kind *k = kinds[op];
    const uint64_t random = draw_value(k, state);
    if (n == 1 && k->bits == 16)
        return k->nonzero && !(i & 0xffff) ? 1 : i & 0xffff;
    if (!k->specials || k->bits == 2 * k->element || n > 2)
        return random;
    const size_t first = special_count(kinds[0]), mine = special_count(k);
    if (n == 2 && (!kinds[1 - op]->specials || kinds[1 - op]->bits == 2 * kinds[1 - op]->element))
        return random;
    const uint64_t crossed = n == 1 ? mine : first * special_count(kinds[1]);
    if (i >= crossed)
        return random;
    const uint64_t v = special_at(k, op == 0 ? i % first : i / first);
    return k->nonzero && v == 0 ? 1 : v;
}

#endif
