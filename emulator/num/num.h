// Number formats and floating-point arithmetic of sm_100 PTX, on raw bit patterns.
//
// Contract
//  - Every value is passed as its register bits: f32 in a uint32_t, f16 and bf16 in a uint16_t, f64 in a
//    uint64_t. Nothing here keeps state; every function is pure and may be called from any thread.
//  - Conversions and arithmetic round once: f64 -> f16 is one rounding, fma is one rounding, in every mode.
//  - The host must run in its default floating-point environment (round to nearest, no flush to zero); a
//    program linked with -ffast-math may have changed it: num_env_is_default() tells. The host's mode is
//    never changed here.
//  - A NaN result is canonical: 0x7fffffff (f32), 0x7fffe000 (tf32), 0x7fff (f16, bf16), 0x7f (e4m3, e5m2),
//    0xff (ue8m0). f64 arithmetic and conversions from and to f64 keep a NaN operand's sign and payload,
//    made quiet; an invalid f64 operation gives NUM_NAN_F64. cvt.f32.bf16 appends zeros to a NaN too.
//  - `.ftz` flushes subnormal inputs, and results that are subnormal after rounding to full precision, to a
//    zero of the same sign.
//  - `.sat` clamps to [+0.0, 1.0], NaN -> +0.0. `.relu` gives +0.0 for everything with a sign bit, NaN ->
//    canonical NaN.
//  - Where the ISA leaves a result open (NaN above all), it is what an H200 gives. Arithmetic, min, max, cvt
//    among f64, f32, f16, bf16, tf32, e4m3, e5m2 and integers have been compared with an H200 bit for bit.
//    Two differences stay: cvt.{rm,rp}.ftz.f16.f32 flushes its input here, as 9.7.9.21 says, and not there;
//    cvt.rna.satfinite.tf32 leaves a NaN here, and numbers there (docs/conformance.md). The 6- and 4-bit types, ue8m0,
//    s2f6 and .rs, which sm_90 lacks, follow the ISA's text alone.
//  - Unused flags are ignored; which flag an instruction may carry is the front end's business.
//  - Links with -lm.
//
// Sources: PTX ISA 9.1, 5.2.3 (alternate formats), 5.2.4 (s2f6), 6.5 (conversions), 9.7.3 (f32, f64), 9.7.4
// (f16, bf16), 9.7.9.21 (cvt), 9.7.16.10.4 (packing for tcgen05.mma); OCP 8-bit Floating Point and
// Microscaling Formats v1.0.
#ifndef NUM_NUM_H
#define NUM_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Floating-point (and fixed-point) formats. Bits: 64, 32, 32, 16, 16, 8, 8, 6, 6, 4, 8, 7, 8.
typedef enum num_type {
    NUM_F64,
    NUM_F32,
    NUM_TF32, // f32 whose low 13 bits do not count (5.2.3 leaves the layout open; this is the hardware's)
    NUM_F16,
    NUM_BF16,
    NUM_E4M3,  // no infinity; NaN is 0x7f, 0xff; largest 448
    NUM_E5M2,  // IEEE-like; largest 57344
    NUM_E2M3,  // no infinity, no NaN; largest 7.5
    NUM_E3M2,  // no infinity, no NaN; largest 28
    NUM_E2M1,  // no infinity, no NaN; largest 6
    NUM_UE8M0, // unsigned power of two, 2^(code-127); 0xff is NaN; there is no zero
    NUM_UE4M3, // unsigned 7-bit e4m3; 0x7f is NaN; a source format only
    NUM_S2F6,  // two's complement fixed point, s8 * 2^-6
    NUM_TYPE_COUNT
} num_type;

// Integer types of cvt.
typedef enum num_int { NUM_U8, NUM_S8, NUM_U16, NUM_S16, NUM_U32, NUM_S32, NUM_U64, NUM_S64, NUM_INT_COUNT } num_int;

// Rounding (PTX 6.5.2). Integer rounding uses the same names: NUM_RN is .rni, NUM_RZ .rzi, NUM_RM .rmi,
// NUM_RP .rpi.
typedef enum num_round { NUM_RN, NUM_RZ, NUM_RM, NUM_RP, NUM_RNA } num_round;

// Modifiers, ored together.
enum {
    NUM_FTZ = 1,
    NUM_SAT = 2,
    NUM_RELU = 4,
    NUM_SATFINITE = 8,
    NUM_NAN = 16,     // min, max: .NaN
    NUM_ABS = 32,     // min, max: .abs
    NUM_XORSIGN = 64, // min, max: .xorsign (with NUM_ABS)
};

#define NUM_NAN_F16 UINT16_C(0x7fff)
#define NUM_NAN_BF16 UINT16_C(0x7fff)
#define NUM_NAN_F32 UINT32_C(0x7fffffff)
#define NUM_NAN_F64 UINT64_C(0xfff8000000000000) // what an invalid f64 operation gives

static inline float num_f32_from_bits(uint32_t b) {
    float f;
    memcpy(&f, &b, sizeof f);
    return f;
}
static inline uint32_t num_f32_bits(float f) {
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return b;
}
static inline double num_f64_from_bits(uint64_t b) {
    double d;
    memcpy(&d, &b, sizeof d);
    return d;
}
static inline uint64_t num_f64_bits(double d) {
    uint64_t b;
    memcpy(&b, &d, sizeof b);
    return b;
}

// True when the calling thread rounds to nearest and keeps subnormals, as everything below needs.
bool num_env_is_default(void);

// --- formats ---------------------------------------------------------------------------------------------------------

// Width in bits of one value (6 for e2m3, 4 for e2m1, 7 for ue4m3).
unsigned num_type_bits(num_type t);

// Exact value of a code (bits above the type's width are ignored). NaN keeps its sign; payloads are quiet.
// num_decode serves every type; the rest are its fast forms.
double num_decode(num_type t, uint64_t code);
float num_decode_f16(uint16_t code);
float num_decode_bf16(uint16_t code);
float num_decode_tf32(uint32_t code);
float num_decode_e4m3(uint8_t code);
float num_decode_e5m2(uint8_t code);
float num_decode_ue8m0(uint8_t code);
float num_decode_ue4m3(uint8_t code);

// Nearest code of `x` under a rounding mode; flags NUM_SAT, NUM_RELU, NUM_SATFINITE, NUM_FTZ (the last for
// f32 only). Without NUM_SATFINITE an overflow is IEEE's (infinity or largest, by mode) where the type has an
// infinity, NaN in e4m3 and ue8m0, and the largest value where there is neither. With it, an overflow or
// infinity is the largest value of the sign; NaN stays NaN, and becomes +largest in types without one. ue8m0
// ignores the sign and takes NUM_RZ or NUM_RP (of the magnitude). s2f6 clamps to [-2, 127/64]. ue4m3 is no
// destination: returns its NaN. tf32 comes back in f32 layout with its low 13 bits zero (NaN: 0x7fffe000).
// PTX 9.7.9.21.
uint64_t num_encode(num_type t, double x, num_round r, unsigned flags);

// cvt.rs, stochastic rounding of an f32: the random bits are added to the discarded mantissa bits, and a
// carry out rounds away from zero. `rbits` holds the element's own bits: 13 of them for f16, 16 for bf16;
// they are aligned with the most significant discarded bits (subnormal f16 results discard more than 13).
// Flags NUM_RELU, NUM_SATFINITE. .rs to the 8-, 6- and 4-bit formats is not here: how their operands share
// rbits is stated only in figures.
uint16_t num_f32_to_f16_rs(uint32_t a, uint16_t rbits, unsigned flags);
uint16_t num_f32_to_bf16_rs(uint32_t a, uint16_t rbits, unsigned flags);

// cvt to s2f6 with a ue8m0 scale: s2f6(x / scale), and back: bf16(s2f6) * scale. A scale of 0x7f is 1.
// Flags NUM_RELU (both), NUM_SATFINITE (to bf16). NaN, and a NaN scale, give +127/64 (9.7.9.21, .satfinite).
uint8_t num_to_s2f6_scaled(double x, uint8_t scale, unsigned flags);
uint16_t num_s2f6_to_bf16_scaled(uint8_t code, uint8_t scale, unsigned flags);

// --- rows for the tensor core ----------------------------------------------------------------------------------------
// Decode n consecutive elements. src needs no alignment; dst and src must not overlap. The bytes read are
// given in brackets.

void num_decode_row_f16(const uint8_t *src, float *dst, size_t n);   // [2n]
void num_decode_row_bf16(const uint8_t *src, float *dst, size_t n);  // [2n]
void num_decode_row_tf32(const uint8_t *src, float *dst, size_t n);  // [4n] f32 with 13 low bits ignored
void num_decode_row_e4m3(const uint8_t *src, float *dst, size_t n);  // [n]
void num_decode_row_e5m2(const uint8_t *src, float *dst, size_t n);  // [n]
void num_decode_row_ue8m0(const uint8_t *src, float *dst, size_t n); // [n]
// 6-bit types, one in each byte, in its low bits (upper bits ignored), as cvt and tcgen05.cp leave them. [n]
void num_decode_row_e2m3(const uint8_t *src, float *dst, size_t n);
void num_decode_row_e3m2(const uint8_t *src, float *dst, size_t n);
// e2m1 in bits 5:2 of each byte, the container of mma.sync's f8f6f4 fragments. [n]
void num_decode_row_e2m1_mid(const uint8_t *src, float *dst, size_t n);
// Shared memory of kind::f8f6f4 and mxf8f6f4 (5.5.1.1): 16 elements in each 16-byte atom, packed from its
// lowest bit, then padding: b4x16_p64 (8 bytes of data), b6x16_p32 (12 bytes of data). [16 * ceil(n/16),
// padding unread]
void num_decode_row_e2m1_p64(const uint8_t *src, float *dst, size_t n);
void num_decode_row_e2m3_p32(const uint8_t *src, float *dst, size_t n);
void num_decode_row_e3m2_p32(const uint8_t *src, float *dst, size_t n);
// Two e2m1 a byte, the first in the low half (kind::mxf4, mxf4nvf4). [ceil(n/2)]
void num_decode_row_e2m1_packed(const uint8_t *src, float *dst, size_t n);
void num_decode_row_s8(const uint8_t *src, float *dst, size_t n); // [n]
void num_decode_row_u8(const uint8_t *src, float *dst, size_t n); // [n]

// --- cvt -------------------------------------------------------------------------------------------------------------

// cvt.dst.src between floating-point formats, one element; packing is the caller's. NUM_FTZ acts on an f32
// source and an f32 result. Flags as in num_encode.
uint64_t num_cvt_ff(num_type dst, num_type src, uint64_t a, num_round r, unsigned flags);
// cvt.{rni,rzi,rmi,rpi}.t.t: round to an integral value of the same type (f16, bf16, f32, f64). Flags FTZ,
// SAT.
uint64_t num_cvt_round(num_type t, uint64_t a, num_round r, unsigned flags);
// Float to integer: rounds, then clamps to the range. NaN is 0 when the source is not f64 and the destination
// is not 64 bits wide, else 1 << (width-1) (9.7.9.21, Integer Notes). The result is sign-extended to 64 bits
// when dst is signed.
uint64_t num_cvt_fi(num_int dst, num_type src, uint64_t a, num_round r, unsigned flags);
// Integer to float (f16, bf16, f32, f64). Bits of `a` above the source's width are ignored. Flag NUM_SAT.
uint64_t num_cvt_if(num_type dst, num_int src, uint64_t a, num_round r, unsigned flags);
// Integer to integer: chops, or clamps with NUM_SAT; extended to 64 bits by the destination's signedness.
uint64_t num_cvt_ii(num_int dst, num_int src, uint64_t a, unsigned flags);

// --- f32 and f64 arithmetic ------------------------------------------------------------------------------------------
// add, sub, mul, fma: r in {RN, RZ, RM, RP}; f32 flags FTZ, SAT. div, sqrt, rcp: the .rnd forms; f32 flag
// FTZ. Mixed precision (9.7.5): decode the f16 or bf16 operands to f32 first, which is exact.

uint32_t num_add_f32_slow(uint32_t a, uint32_t b, num_round r, unsigned flags);
uint32_t num_mul_f32_slow(uint32_t a, uint32_t b, num_round r, unsigned flags);
uint32_t num_fma_f32(uint32_t a, uint32_t b, uint32_t c, num_round r, unsigned flags);
uint32_t num_div_f32(uint32_t a, uint32_t b, num_round r, unsigned flags);
uint32_t num_rcp_f32(uint32_t a, num_round r, unsigned flags);
uint32_t num_sqrt_f32(uint32_t a, num_round r, unsigned flags);

static inline uint32_t num_add_f32(uint32_t a, uint32_t b, num_round r, unsigned flags) {
    if (r != NUM_RN || flags)
        return num_add_f32_slow(a, b, r, flags);
    float s = num_f32_from_bits(a) + num_f32_from_bits(b);
    return s == s ? num_f32_bits(s) : NUM_NAN_F32;
}
static inline uint32_t num_sub_f32(uint32_t a, uint32_t b, num_round r, unsigned flags) {
    return num_add_f32(a, b ^ UINT32_C(0x80000000), r, flags);
}
static inline uint32_t num_mul_f32(uint32_t a, uint32_t b, num_round r, unsigned flags) {
    if (r != NUM_RN || flags)
        return num_mul_f32_slow(a, b, r, flags);
    float s = num_f32_from_bits(a) * num_f32_from_bits(b);
    return s == s ? num_f32_bits(s) : NUM_NAN_F32;
}

uint64_t num_add_f64(uint64_t a, uint64_t b, num_round r);
uint64_t num_sub_f64(uint64_t a, uint64_t b, num_round r);
uint64_t num_mul_f64(uint64_t a, uint64_t b, num_round r);
uint64_t num_fma_f64(uint64_t a, uint64_t b, uint64_t c, num_round r);
uint64_t num_div_f64(uint64_t a, uint64_t b, num_round r);
uint64_t num_rcp_f64(uint64_t a, num_round r);
uint64_t num_sqrt_f64(uint64_t a, num_round r);

// --- f16 and bf16 arithmetic (9.7.4), always .rn ---------------------------------------------------------------------
// t is NUM_F16 or NUM_BF16. Flags: FTZ, SAT (f16), RELU (fma). fma.oob is not here: no section gives OOB-
// NaN's code.

uint16_t num_add_h(num_type t, uint16_t a, uint16_t b, unsigned flags);
uint16_t num_sub_h(num_type t, uint16_t a, uint16_t b, unsigned flags);
uint16_t num_mul_h(num_type t, uint16_t a, uint16_t b, unsigned flags);
uint16_t num_fma_h(num_type t, uint16_t a, uint16_t b, uint16_t c, unsigned flags);

// --- sign, order, class ----------------------------------------------------------------------------------------------
// t is one of f16, bf16, f32, f64; operands and results are in the low bits of a uint64_t.

// A NaN becomes canonical, in f64 quiet.
uint64_t num_abs(num_type t, uint64_t a, unsigned flags);
uint64_t num_neg(num_type t, uint64_t a, unsigned flags);
// Flush a subnormal to a zero of its sign.
uint64_t num_ftz(num_type t, uint64_t a);
// min, max (9.7.3.11, 9.7.4.7): -0.0 < +0.0; one NaN operand is ignored unless NUM_NAN; a NaN result is
// canonical (f64: b's, made quiet). The three-operand forms are num_min(num_min(a, b), c) with the same
// flags (no NUM_XORSIGN).
uint64_t num_min(num_type t, uint64_t a, uint64_t b, unsigned flags);
uint64_t num_max(num_type t, uint64_t a, uint64_t b, unsigned flags);
// testp (9.7.3.1); zeros count as normal.
bool num_is_nan(num_type t, uint64_t a);
bool num_is_inf(num_type t, uint64_t a);
bool num_is_subnormal(num_type t, uint64_t a);

// --- reductions ------------------------------------------------------------------------------------------------------
// What atomics (9.7.13.5), bulk reductions (9.7.9.25.4.2) and redux.sync (9.7.13.11) do with what is there, a, and what
// comes, b.
typedef enum num_op {
    NUM_OP_NONE, // gives b
    NUM_OP_ADD,
    NUM_OP_MIN,
    NUM_OP_MAX,
    NUM_OP_INC,
    NUM_OP_DEC,
    NUM_OP_AND,
    NUM_OP_OR,
    NUM_OP_XOR
} num_op;

// Of integers of 32 bits or, where `wide`, 64; the result's low bits count.
uint64_t num_reduce(num_op op, bool sign, bool wide, uint64_t a, uint64_t b);
// add, min or max of f16 or bf16.
uint16_t num_reduce_h(num_op op, num_type t, uint16_t a, uint16_t b);

// --- approximations --------------------------------------------------------------------------------------------------
// The hardware's last bits are its own and not documented. Here each is the correctly rounded (or nearly
// so) result of a double computation: inside every bound that 9.7.3 and 9.7.4 state, but not bit-equal to
// the chip. Special values follow the ISA's tables. Flag NUM_FTZ.

uint32_t num_rcp_approx_f32(uint32_t a, unsigned flags);
uint32_t num_sqrt_approx_f32(uint32_t a, unsigned flags);
uint32_t num_rsqrt_approx_f32(uint32_t a, unsigned flags);
uint32_t num_sin_approx_f32(uint32_t a, unsigned flags);
uint32_t num_cos_approx_f32(uint32_t a, unsigned flags);
uint32_t num_lg2_approx_f32(uint32_t a, unsigned flags);
uint32_t num_ex2_approx_f32(uint32_t a, unsigned flags);
uint32_t num_tanh_approx_f32(uint32_t a);
// 2^126 < |b| < 2^128: NaN if a is infinite, else a zero of the quotient's sign (9.7.3.8).
uint32_t num_div_approx_f32(uint32_t a, uint32_t b, unsigned flags);
uint32_t num_div_full_f32(uint32_t a, uint32_t b, unsigned flags);
// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: on the upper 32 bits; the lower 32 of the result are zero.
uint64_t num_rcp_approx_ftz_f64(uint64_t a);
uint64_t num_rsqrt_approx_ftz_f64(uint64_t a);
uint64_t num_rsqrt_approx_f64(uint64_t a);
// f16, bf16. ex2.approx.ftz.bf16 always flushes; pass NUM_FTZ.
uint16_t num_ex2_approx_h(num_type t, uint16_t a, unsigned flags);
uint16_t num_tanh_approx_h(num_type t, uint16_t a);

#endif
