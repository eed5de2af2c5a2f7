// Exact decoding of every format, one value at a time and in rows for the tensor core
// (PTX 5.2.3, 9.7.16.10.4). Rows of 8-bit and narrower types go through tables of f32 bits, which the macros
// below spell out at compile time.
#include "num/num_core.h"

#define SIGN32(c, bit) ((uint32_t)((c) >> (bit)&1) << 31)
// m * 2^e as f32 bits, for m in 1..7 and a normal result.
#define SMALL32(m, e)                                                                                                  \
    ((m) >= 4   ? (uint32_t)((e) + 2 + 127) << 23 | (uint32_t)((m)&3) << 21                                            \
     : (m) >= 2 ? (uint32_t)((e) + 1 + 127) << 23 | (uint32_t)((m)&1) << 22                                            \
     : (m) == 1 ? (uint32_t)((e) + 127) << 23                                                                          \
                : 0u)
// Magnitude bits of a code with man mantissa bits: subnormals count units of 2^(1-bias-man).
#define MAGNITUDE32(c, man, mask, bias)                                                                                \
    (((c) & (mask)) >> (man) ? (uint32_t)((((c) & (mask)) >> (man)) + 127 - (bias)) << 23 |                            \
                                   (uint32_t)((c) & ((1 << (man)) - 1)) << (23 - (man))                                \
                             : SMALL32((c) & ((1 << (man)) - 1), 1 - (bias) - (man)))

#define E4M3(c) (SIGN32(c, 7) | (((c)&0x7f) == 0x7f ? 0x7fc00000u : MAGNITUDE32(c, 3, 0x7f, 7)))
#define E5M2(c)                                                                                                        \
    (SIGN32(c, 7) | (((c)&0x7f) > 0x7c ? 0x7fc00000u : ((c)&0x7f) == 0x7c ? 0x7f800000u : MAGNITUDE32(c, 2, 0x7f, 15)))
#define E2M3(c) (SIGN32(c, 5) | MAGNITUDE32(c, 3, 0x1f, 1))
#define E3M2(c) (SIGN32(c, 5) | MAGNITUDE32(c, 2, 0x1f, 3))
#define E2M1(c) (SIGN32(c, 3) | MAGNITUDE32(c, 1, 0x7, 1))

#define FOUR(F, c) F(c), F((c) + 1), F((c) + 2), F((c) + 3)
#define SIXTEEN(F, c) FOUR(F, c), FOUR(F, (c) + 4), FOUR(F, (c) + 8), FOUR(F, (c) + 12)
#define SIXTY_FOUR(F, c) SIXTEEN(F, c), SIXTEEN(F, (c) + 16), SIXTEEN(F, (c) + 32), SIXTEEN(F, (c) + 48)

static const uint32_t e4m3_bits[256] = {SIXTY_FOUR(E4M3, 0), SIXTY_FOUR(E4M3, 64), SIXTY_FOUR(E4M3, 128),
                                        SIXTY_FOUR(E4M3, 192)};
static const uint32_t e5m2_bits[256] = {SIXTY_FOUR(E5M2, 0), SIXTY_FOUR(E5M2, 64), SIXTY_FOUR(E5M2, 128),
                                        SIXTY_FOUR(E5M2, 192)};
static const uint32_t e2m3_bits[64] = {SIXTY_FOUR(E2M3, 0)};
static const uint32_t e3m2_bits[64] = {SIXTY_FOUR(E3M2, 0)};
static const uint32_t e2m1_bits[16] = {SIXTEEN(E2M1, 0)};

static uint16_t load16(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint32_t load32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

// Rebases the exponent from 15 to 127. A subnormal's leading one is found by a subtraction: 2^-14 (1 +
// m/1024) - 2^-14. num_decode_row_f16 does the same in vectors.
float num_decode_f16(uint16_t c) {
    const uint32_t rebase = UINT32_C(112) << 23, top = UINT32_C(0x0f800000);
    uint32_t mag = (uint32_t)(c & 0x7fff) << 13, sign = (uint32_t)(c & 0x8000) << 16;
    if (mag < UINT32_C(1) << 23)
        mag = num_f32_bits(num_f32_from_bits(mag + rebase + (UINT32_C(1) << 23)) - 0x1p-14f);
    else if (mag < top)
        mag += rebase;
    else // infinity, or NaN made quiet
        mag += 2 * rebase + (mag > top ? UINT32_C(0x400000) & ~mag : 0);
    return num_f32_from_bits(sign | mag);
}
float num_decode_bf16(uint16_t c) { return num_f32_from_bits((uint32_t)c << 16); }
float num_decode_tf32(uint32_t c) { return num_f32_from_bits(c & UINT32_C(0xffffe000)); }
float num_decode_e4m3(uint8_t c) { return num_f32_from_bits(e4m3_bits[c]); }
float num_decode_e5m2(uint8_t c) { return num_f32_from_bits(e5m2_bits[c]); }
static float decode_e2m1(uint8_t c) { return num_f32_from_bits(e2m1_bits[c & 15]); }
float num_decode_ue8m0(uint8_t c) {
    return num_f32_from_bits(c == 0xff ? 0x7fc00000u : c ? (uint32_t)c << 23 : 0x00400000u);
}
float num_decode_ue4m3(uint8_t c) { return num_decode_e4m3(c & 0x7f); }

double num_decode(num_type t, uint64_t c) {
    switch (t) {
    case NUM_F64:
        return num_f64_from_bits(c);
    case NUM_F32:
        return (double)num_f32_from_bits((uint32_t)c);
    case NUM_TF32:
        return (double)num_decode_tf32((uint32_t)c);
    case NUM_F16:
        return (double)num_decode_f16((uint16_t)c);
    case NUM_BF16:
        return (double)num_decode_bf16((uint16_t)c);
    case NUM_E4M3:
        return (double)num_decode_e4m3((uint8_t)c);
    case NUM_E5M2:
        return (double)num_decode_e5m2((uint8_t)c);
    case NUM_E2M3:
        return (double)num_f32_from_bits(e2m3_bits[c & 63]);
    case NUM_E3M2:
        return (double)num_f32_from_bits(e3m2_bits[c & 63]);
    case NUM_E2M1:
        return (double)decode_e2m1((uint8_t)c);
    case NUM_UE8M0:
        return (double)num_decode_ue8m0((uint8_t)c);
    case NUM_UE4M3:
        return (double)num_decode_ue4m3((uint8_t)c);
    case NUM_S2F6:
        return (int8_t)c * 0x1p-6;
    case NUM_TYPE_COUNT:
        break;
    }
    return num_f64_from_bits(NUM_NAN_F64);
}

// Four elements at a time in vectors of the compiler's own: every host's vector unit, the same bits on each.
enum { LANES = 4 };
typedef uint16_t lanes16 __attribute__((vector_size(2 * LANES)));
typedef uint32_t lanes32 __attribute__((vector_size(4 * LANES)));
typedef float lanesf __attribute__((vector_size(4 * LANES)));

void num_decode_row_f16(const uint8_t *src, float *dst, size_t n) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes16 in;
        memcpy(&in, src + 2 * i, sizeof in);
        lanes32 c = __builtin_convertvector(in, lanes32), mag = (c & 0x7fff) << 13, exp = mag & 0x0f800000;
        lanes32 top = (lanes32)(exp == 0x0f800000), nan = (lanes32)(mag > 0x0f800000), zero = (lanes32)(exp == 0);
        lanes32 normal = (mag + (112u << 23) + (top & (112u << 23))) | (nan & 0x400000);
        lanesf small = (lanesf)(mag + (113u << 23)) - 0x1p-14f;
        lanes32 out = (c & 0x8000) << 16 | (zero & (lanes32)small) | (~zero & normal);
        memcpy(dst + i, &out, sizeof out);
    }
    for (; i < n; i++)
        dst[i] = num_decode_f16(load16(src + 2 * i));
}

void num_decode_row_bf16(const uint8_t *src, float *dst, size_t n) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes16 in;
        memcpy(&in, src + 2 * i, sizeof in);
        lanes32 out = __builtin_convertvector(in, lanes32) << 16;
        memcpy(dst + i, &out, sizeof out);
    }
    for (; i < n; i++)
        dst[i] = num_decode_bf16(load16(src + 2 * i));
}

void num_decode_row_tf32(const uint8_t *src, float *dst, size_t n) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes32 w;
        memcpy(&w, src + 4 * i, sizeof w);
        w &= UINT32_C(0xffffe000);
        memcpy(dst + i, &w, sizeof w);
    }
    for (; i < n; i++)
        dst[i] = num_decode_tf32(load32(src + 4 * i));
}

static void row_by_table(const uint32_t *table, unsigned shift, unsigned mask, const uint8_t *src, float *dst,
                         size_t n) {
    for (size_t i = 0; i < n; i++)
        memcpy(dst + i, table + (src[i] >> shift & mask), 4);
}
void num_decode_row_e4m3(const uint8_t *src, float *dst, size_t n) { row_by_table(e4m3_bits, 0, 255, src, dst, n); }
void num_decode_row_e5m2(const uint8_t *src, float *dst, size_t n) { row_by_table(e5m2_bits, 0, 255, src, dst, n); }
void num_decode_row_e2m3(const uint8_t *src, float *dst, size_t n) { row_by_table(e2m3_bits, 0, 63, src, dst, n); }
void num_decode_row_e3m2(const uint8_t *src, float *dst, size_t n) { row_by_table(e3m2_bits, 0, 63, src, dst, n); }
void num_decode_row_e2m1_mid(const uint8_t *src, float *dst, size_t n) { row_by_table(e2m1_bits, 2, 15, src, dst, n); }

void num_decode_row_e2m1_packed(const uint8_t *src, float *dst, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = decode_e2m1((uint8_t)(src[i / 2] >> 4 * (i & 1)));
}

void num_decode_row_e2m1_p64(const uint8_t *src, float *dst, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = decode_e2m1((uint8_t)(src[i / 16 * 16 + i % 16 / 2] >> 4 * (i & 1)));
}

// Element k of an atom is bits 6k..6k+5 of its 12 bytes of data: four elements in every three bytes.
static void row_of_sixes(const uint32_t *table, const uint8_t *src, float *dst, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = src + i / 16 * 16 + i % 16 / 4 * 3;
        uint32_t three = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
        dst[i] = num_f32_from_bits(table[three >> 6 * (i % 4) & 63]);
    }
}
void num_decode_row_e2m3_p32(const uint8_t *src, float *dst, size_t n) { row_of_sixes(e2m3_bits, src, dst, n); }
void num_decode_row_e3m2_p32(const uint8_t *src, float *dst, size_t n) { row_of_sixes(e3m2_bits, src, dst, n); }

void num_decode_row_ue8m0(const uint8_t *src, float *dst, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = num_decode_ue8m0(src[i]);
}

void num_decode_row_s8(const uint8_t *src, float *dst, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = (float)(int8_t)src[i];
}
void num_decode_row_u8(const uint8_t *src, float *dst, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = (float)src[i];
}
