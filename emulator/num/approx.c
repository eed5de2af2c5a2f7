// The .approx and .full instructions (PTX 9.7.3.8, 13-22; 9.7.4.9-10), computed in double and rounded to the
// type. The hardware's tables and last bits are not public; every result here lies within the error that the
// ISA states.
#include <math.h>

#include "num/num_core.h"

static double operand(uint32_t a, unsigned flags) {
    return (double)num_f32_from_bits(flags & NUM_FTZ ? (uint32_t)num_ftz(NUM_F32, a) : a);
}
static uint32_t result(double x, unsigned flags) { return (uint32_t)num_encode(NUM_F32, x, NUM_RN, flags & NUM_FTZ); }

uint32_t num_rcp_approx_f32(uint32_t a, unsigned flags) { return num_rcp_f32(a, NUM_RN, flags); }
uint32_t num_sqrt_approx_f32(uint32_t a, unsigned flags) { return num_sqrt_f32(a, NUM_RN, flags); }
uint32_t num_div_full_f32(uint32_t a, uint32_t b, unsigned flags) { return num_div_f32(a, b, NUM_RN, flags); }

// sqrt(-0) is -0, so a negative zero gives -inf, and anything else negative NaN, as the table has it.
static double inverse_sqrt(double x) { return 1.0 / sqrt(x); }

uint32_t num_rsqrt_approx_f32(uint32_t a, unsigned flags) { return result(inverse_sqrt(operand(a, flags)), flags); }
uint32_t num_sin_approx_f32(uint32_t a, unsigned flags) { return result(sin(operand(a, flags)), flags); }
uint32_t num_cos_approx_f32(uint32_t a, unsigned flags) { return result(cos(operand(a, flags)), flags); }
uint32_t num_ex2_approx_f32(uint32_t a, unsigned flags) { return result(exp2(operand(a, flags)), flags); }
uint32_t num_lg2_approx_f32(uint32_t a, unsigned flags) { return result(log2(operand(a, flags)), flags); }
uint32_t num_tanh_approx_f32(uint32_t a) { return result(tanh(operand(a, 0)), 0); }

uint32_t num_div_approx_f32(uint32_t a, uint32_t b, unsigned flags) {
    uint32_t size = b & INT32_MAX;
    bool nan = num_is_nan(NUM_F32, a);
    if (size > UINT32_C(0x7e800000) && size < UINT32_C(0x7f800000) && !nan)
        return num_is_inf(NUM_F32, a) ? NUM_NAN_F32 : (a ^ b) & UINT32_C(0x80000000);
    return num_div_f32(a, b, NUM_RN, flags);
}

// 1.11.20: the upper word of a double. Subnormals count as zeros, on both sides; a NaN whose payload is
// in the lower word alone counts as the infinity that its upper word is.
static uint64_t upper_word(double x) {
    if (x != x)
        return UINT64_C(0x7fffffff00000000);
    return num_ftz(NUM_F64, num_f64_bits(x)) & UINT64_C(0xffffffff00000000);
}
static double from_upper_word(uint64_t a) {
    return num_f64_from_bits(num_ftz(NUM_F64, a & UINT64_C(0xffffffff00000000)));
}

uint64_t num_rcp_approx_ftz_f64(uint64_t a) { return upper_word(1.0 / from_upper_word(a)); }

uint64_t num_rsqrt_approx_ftz_f64(uint64_t a) { return upper_word(inverse_sqrt(from_upper_word(a))); }

uint64_t num_rsqrt_approx_f64(uint64_t a) {
    if (num_is_nan(NUM_F64, a))
        return a | UINT64_C(1) << 51;
    double x = inverse_sqrt(num_f64_from_bits(a));
    return x == x ? num_f64_bits(x) : NUM_NAN_F64;
}

static double operand_h(num_type t, uint16_t a, unsigned flags) {
    return num_decode(t, flags & NUM_FTZ ? num_ftz(t, a) : a);
}

uint16_t num_ex2_approx_h(num_type t, uint16_t a, unsigned flags) {
    uint16_t h = (uint16_t)num_encode(t, exp2(operand_h(t, a, flags)), NUM_RN, 0);
    return flags & NUM_FTZ ? (uint16_t)num_ftz(t, h) : h;
}

uint16_t num_tanh_approx_h(num_type t, uint16_t a) {
    return (uint16_t)num_encode(t, tanh(operand_h(t, a, 0)), NUM_RN, 0);
}
