// f32, f16 and bf16 arithmetic (PTX 9.7.3, 9.7.4). Sums and products are taken in double, rounded to odd, and
// rounded once more to the type: with 53 bits against at most 24 that equals a single rounding in every mode.
#include <math.h>

#include "num/num_core.h"
#include "num/soft.h"

// a + b, rounded to odd in double: a later rounding to <= 51 bits then equals the rounding of the exact sum. Knuth's
// two-sum gives the exact error; when there is one, the neighbour with an odd significand is taken.
static double add_odd(double a, double b) {
    double s = a + b;
    if (!(s - s == 0))
        return s;
    double t = s - a;
    double e = (a - (s - t)) + (b - t);
    uint64_t bits = num_f64_bits(s);
    if (e == 0 || bits & 1)
        return s;
    return num_f64_from_bits((e > 0) == (s > 0) ? bits + 1 : bits - 1);
}

// Flush an f32 operand when asked.
static double operand(uint32_t a, unsigned flags) {
    return (double)num_f32_from_bits(flags & NUM_FTZ ? (uint32_t)num_ftz(NUM_F32, a) : a);
}

static uint32_t finish_f32(double x, num_round r, unsigned flags) {
    flags &= NUM_FTZ | NUM_SAT;
    if (r != NUM_RN || flags)
        return (uint32_t)num_encode(NUM_F32, x, r, flags);
    float f = (float)x;
    return f == f ? num_f32_bits(f) : NUM_NAN_F32;
}

// An exact zero sum of terms of opposite sign is -0 when rounding down (IEEE 754, 6.3); C's sum has made it
// +0.
static double signed_zero(double sum, double a, double b, num_round r) {
    return r == NUM_RM && sum == 0 && (signbit(a) || signbit(b)) ? -0.0 : sum;
}

uint32_t num_add_f32_slow(uint32_t a, uint32_t b, num_round r, unsigned flags) {
    double x = operand(a, flags), y = operand(b, flags);
    return finish_f32(signed_zero(add_odd(x, y), x, y, r), r, flags);
}

uint32_t num_mul_f32_slow(uint32_t a, uint32_t b, num_round r, unsigned flags) {
    return finish_f32(operand(a, flags) * operand(b, flags), r, flags);
}

uint32_t num_fma_f32(uint32_t a, uint32_t b, uint32_t c, num_round r, unsigned flags) {
    double p = operand(a, flags) * operand(b, flags), z = operand(c, flags);
    return finish_f32(signed_zero(add_odd(p, z), p, z, r), r, flags);
}

uint32_t num_div_f32(uint32_t a, uint32_t b, num_round r, unsigned flags) {
    double x = operand(a, flags), y = operand(b, flags);
    if (r == NUM_RN && !(flags & NUM_FTZ)) {
        float q = (float)x / (float)y;
        return q == q ? num_f32_bits(q) : NUM_NAN_F32;
    }
    num_value v = num_soft_div(num_unpack_f64(x), num_unpack_f64(y));
    return (uint32_t)num_pack(num_format_of(NUM_F32), v, r, flags & NUM_FTZ, 0, 0);
}

uint32_t num_rcp_f32(uint32_t a, num_round r, unsigned flags) { return num_div_f32(UINT32_C(0x3f800000), a, r, flags); }

uint32_t num_sqrt_f32(uint32_t a, num_round r, unsigned flags) {
    if (r == NUM_RN) // the root of a normal number is normal, so .ftz is settled by the operand
        return finish_f32((double)sqrtf((float)operand(a, flags)), r, 0);
    num_value v = num_soft_sqrt(num_unpack_f64(operand(a, flags)));
    return (uint32_t)num_pack(num_format_of(NUM_F32), v, r, flags & NUM_FTZ, 0, 0);
}

static double operand_h(num_type t, uint16_t a, unsigned flags) {
    return num_decode(t, flags & NUM_FTZ ? num_ftz(t, a) : a);
}

static uint16_t finish_h(num_type t, double x, unsigned flags) {
    unsigned flush = flags & NUM_FTZ ? NUM_FTZ_RESULT : 0;
    return (uint16_t)num_encode(t, x, NUM_RN, (flags & (NUM_SAT | NUM_RELU)) | flush);
}

uint16_t num_add_h(num_type t, uint16_t a, uint16_t b, unsigned flags) {
    return finish_h(t, add_odd(operand_h(t, a, flags), operand_h(t, b, flags)), flags);
}

uint16_t num_sub_h(num_type t, uint16_t a, uint16_t b, unsigned flags) { return num_add_h(t, a, b ^ 0x8000, flags); }

uint16_t num_mul_h(num_type t, uint16_t a, uint16_t b, unsigned flags) {
    return finish_h(t, operand_h(t, a, flags) * operand_h(t, b, flags), flags);
}

uint16_t num_fma_h(num_type t, uint16_t a, uint16_t b, uint16_t c, unsigned flags) {
    double p = operand_h(t, a, flags) * operand_h(t, b, flags);
    return finish_h(t, add_odd(p, operand_h(t, c, flags)), flags);
}
