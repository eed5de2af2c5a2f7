/* isa/float.c - f32, f64 and f32x2 arithmetic (PTX ISA 9.7.3). Half and mixed precision are in isa/half.c.
 *
 * Values are register bits throughout; num/ does the arithmetic, one rounding each. The forms that compilers emit most
 * (round to nearest, no flush, no saturation) have loops of their own here that the compiler vectorises; their results
 * are the same, NaN included: a NaN result of f32 arithmetic is 0x7fffffff.
 */
#include "isa/alu.h"
#include "isa/approx.h"
#include "isa/series.h"

#include <math.h>

static inline float fl(uint32_t bits) { return num_f32_from_bits(bits); }
static inline uint32_t bits_of(float v) { return v == v ? num_f32_bits(v) : NUM_NAN_F32; }

/* 9.7.3.3 - 9.7.3.7, round to nearest even */
ALU_FN2(add_rn_f32, u32, u32, u32, bits_of(fl(a) + fl(b)))
ALU_FN2(sub_rn_f32, u32, u32, u32, bits_of(fl(a) - fl(b)))
ALU_FN2(mul_rn_f32, u32, u32, u32, bits_of(fl(a) * fl(b)))
/* A host with a fused multiply-add instruction does all lanes at once. */
#if defined(__FMA__) || defined(__aarch64__)
ALU_FN3(fma_rn_f32, u32, u32, u32, u32, bits_of(__builtin_fmaf(fl(a), fl(b), fl(c))))
ALU_PAIR3(fma_rn_f32x2, bits_of(__builtin_fmaf(fl(a), fl(b), fl(c))))
#else
ALU_LONG3(fma_rn_f32, u32, u32, u32, u32, num_fma_f32(a, b, c, NUM_RN, 0))
ALU_LONG3(fma_rn_f32x2, u32x2, u32x2, u32x2, u32x2, num_fma_f32(a, b, c, NUM_RN, 0))
#endif
ALU_PAIR2(add_rn_f32x2, bits_of(fl(a) + fl(b)))
ALU_PAIR2(sub_rn_f32x2, bits_of(fl(a) - fl(b)))
ALU_PAIR2(mul_rn_f32x2, bits_of(fl(a) * fl(b)))

/* With other roundings, .ftz and .sat. `vector`: what the host does for an operation of `n` operands, without .sat. */
#if defined(ISA_VECTORS)
#define ADD(a, b, c, round) _mm512_add_round_ps(a, b, round)
#define SUB(a, b, c, round) _mm512_sub_round_ps(a, b, round)
#define MUL(a, b, c, round) _mm512_mul_round_ps(a, b, round)
#define FUSED(a, b, c, round) _mm512_fmadd_round_ps(a, b, c, round)
#define NEAREST(op) op##_NEAREST
#define ADD_NEAREST(a, b, c) _mm512_add_ps(a, b)
#define SUB_NEAREST(a, b, c) _mm512_sub_ps(a, b)
#define MUL_NEAREST(a, b, c) _mm512_mul_ps(a, b)
#define FUSED_NEAREST(a, b, c) _mm512_fmadd_ps(a, b, c)
#define BY_HOST(op, n, vector, flags, rounded, expr)                                                                   \
    ALU_SURE##n(op##_flags_f32_any, flags, expr) VECTOR_FLUSHED(op##_flags_f32, n, 2, NEAREST(vector))                 \
        ALU_SURE##n(op##_f32_any, rounded, expr) VECTOR_ROUNDED(op##_f32, n, 2, vector)                                \
            ALU_SURE_PAIR##n(op##_flags_f32x2_any, flags, expr)                                                        \
                VECTOR_FLUSHED(op##_flags_f32x2, n, 4, NEAREST(vector))                                                \
                    ALU_SURE_PAIR##n(op##_f32x2_any, rounded, expr) VECTOR_ROUNDED(op##_f32x2, n, 4, vector)
#else
#define BY_HOST(op, n, vector, flags, rounded, expr)                                                                   \
    ALU_SURE##n(op##_flags_f32, flags, expr) ALU_SURE##n(op##_f32, rounded, expr)                                      \
        ALU_SURE_PAIR##n(op##_flags_f32x2, flags, expr) ALU_SURE_PAIR##n(op##_f32x2, rounded, expr)
#endif
BY_HOST(add, 2, ADD, approx_add(a, b, f, doubt), approx_add_round(a, b, r, f, doubt), num_add_f32(a, b, r, f))
BY_HOST(sub, 2, SUB, approx_add(a, b ^ 0x80000000, f, doubt), approx_add_round(a, b ^ 0x80000000, r, f, doubt),
        num_sub_f32(a, b, r, f))
BY_HOST(mul, 2, MUL, approx_mul(a, b, f, doubt), approx_mul_round(a, b, r, f, doubt), num_mul_f32(a, b, r, f))
BY_HOST(fma, 3, FUSED, approx_fma(a, b, c, f, doubt), approx_fma_round(a, b, c, r, f, doubt),
        num_fma_f32(a, b, c, r, f))

ALU_SURE_WIDE2(add_rn_f64, approx_wide(approx_f64(a) + approx_f64(b), doubt), num_add_f64(a, b, r))
ALU_SURE_WIDE2(sub_rn_f64, approx_wide(approx_f64(a) - approx_f64(b), doubt), num_sub_f64(a, b, r))
ALU_SURE_WIDE2(mul_rn_f64, approx_wide(approx_f64(a) * approx_f64(b), doubt), num_mul_f64(a, b, r))
ALU_SURE_WIDE3(fma_rn_f64, approx_wide(__builtin_fma(approx_f64(a), approx_f64(b), approx_f64(c)), doubt),
               num_fma_f64(a, b, c, r))
ALU_SURE_WIDE2(div_rn_f64, approx_wide(approx_f64(a) / approx_f64(b), doubt), num_div_f64(a, b, r))
ALU_SURE_WIDE1(rcp_rn_f64, approx_wide(1 / approx_f64(a), doubt), num_rcp_f64(a, r))
ALU_SURE_WIDE1(sqrt_rn_f64, approx_wide(__builtin_sqrt(approx_f64(a)), doubt), num_sqrt_f64(a, r))
ALU_LONG2(add_f64, u64, u64, u64, num_add_f64(a, b, r))
ALU_LONG2(sub_f64, u64, u64, u64, num_sub_f64(a, b, r))
ALU_LONG2(mul_f64, u64, u64, u64, num_mul_f64(a, b, r))
ALU_LONG3(fma_f64, u64, u64, u64, u64, num_fma_f64(a, b, c, r))

/* 9.7.3.8 */
ALU_LONG2(div_f32, u32, u32, u32, num_div_f32(a, b, r, f))
ALU_SURE2(div_approx_f32, approx_div_approx(a, b, f, doubt), num_div_approx_f32(a, b, f))
ALU_SURE2(div_full_f32, approx_div(a, b, f, doubt), num_div_full_f32(a, b, f))
ALU_SURE2(div_rn_f32, approx_div(a, b, f, doubt), num_div_f32(a, b, r, f))
ALU_LONG2(div_f64, u64, u64, u64, num_div_f64(a, b, r))

/* 9.7.3.9, 9.7.3.10, 9.7.3.2 */
ALU_FN1(abs_f32, u32, u32, (a & 0x7fffffff) > 0x7f800000 ? NUM_NAN_F32 : approx_flush(a, f) & 0x7fffffff)
ALU_FN1(neg_f32, u32, u32, (a & 0x7fffffff) > 0x7f800000 ? NUM_NAN_F32 : approx_flush(a, f) ^ 0x80000000)
ALU_FN1(abs_plain_f32, u32, u32, (a & 0x7fffffff) > 0x7f800000 ? NUM_NAN_F32 : a & 0x7fffffff)
ALU_FN1(neg_plain_f32, u32, u32, (a & 0x7fffffff) > 0x7f800000 ? NUM_NAN_F32 : a ^ 0x80000000)
ALU_LONG1(abs_f64, u64, u64, num_abs(NUM_F64, a, f))
ALU_LONG1(neg_f64, u64, u64, num_neg(NUM_F64, a, f))
ALU_FN2(copysign_f32, u32, u32, u32, (a & 0x80000000) | (b & 0x7fffffff))
ALU_FN2(copysign_f64, u64, u64, u64, (a & UINT64_C(1) << 63) | (b & ~(UINT64_C(1) << 63)))

/* 9.7.3.11, 9.7.3.12. Of equal operands the minimum takes either sign bit, the maximum only a common one: -0 < +0. */
static inline uint32_t min_plain(uint32_t a, uint32_t b) {
    float x = fl(a), y = fl(b);
    uint32_t other = x == y ? a | b : x == x ? a : y == y ? b : NUM_NAN_F32;
    return x < y ? a : y < x ? b : other;
}
static inline uint32_t max_plain(uint32_t a, uint32_t b) {
    float x = fl(a), y = fl(b);
    uint32_t other = x == y ? a & b : x == x ? a : y == y ? b : NUM_NAN_F32;
    return x > y ? a : y > x ? b : other;
}
ALU_FN2(min_plain_f32, u32, u32, u32, min_plain(a, b))
ALU_FN2(max_plain_f32, u32, u32, u32, max_plain(a, b))
ALU_SURE2(min_f32, approx_pick(a, b, f, false), num_min(NUM_F32, a, b, f))
ALU_SURE2(max_f32, approx_pick(a, b, f, true), num_max(NUM_F32, a, b, f))
ALU_SURE3(min3_f32, approx_pick(approx_pick(a, b, f, false), c, f, false),
          num_min(NUM_F32, num_min(NUM_F32, a, b, f), c, f))
ALU_SURE3(max3_f32, approx_pick(approx_pick(a, b, f, true), c, f, true),
          num_max(NUM_F32, num_max(NUM_F32, a, b, f), c, f))
ALU_LONG2(min_f64, u64, u64, u64, num_min(NUM_F64, a, b, 0))
ALU_LONG2(max_f64, u64, u64, u64, num_max(NUM_F64, a, b, 0))

/* 9.7.3.13 - 9.7.3.22 */
ALU_LONG1(rcp_f32, u32, u32, num_rcp_f32(a, r, f))
ALU_SURE1(rcp_approx_f32, approx_div(0x3f800000, a, f, doubt), num_rcp_approx_f32(a, f))
ALU_SURE1(rcp_rn_f32, approx_div(0x3f800000, a, f, doubt), num_rcp_f32(a, r, f))
ALU_LONG1(rcp_f64, u64, u64, num_rcp_f64(a, r))
ALU_LONG1(rcp_approx_ftz_f64, u64, u64, num_rcp_approx_ftz_f64(a))
ALU_LONG1(sqrt_f32, u32, u32, num_sqrt_f32(a, r, f))
ALU_SURE1(sqrt_approx_f32, approx_sqrt(a, f), num_sqrt_approx_f32(a, f))
ALU_SURE1(sqrt_rn_f32, approx_sqrt(a, f), num_sqrt_f32(a, r, f))
ALU_LONG1(sqrt_f64, u64, u64, num_sqrt_f64(a, r))
SERIES1(rsqrt_f32, series_rsqrt, approx_rsqrt(a, f), num_rsqrt_approx_f32(a, f))
ALU_LONG1(rsqrt_f64, u64, u64, num_rsqrt_approx_f64(a))
ALU_LONG1(rsqrt_ftz_f64, u64, u64, num_rsqrt_approx_ftz_f64(a))
SERIES1(sin_f32, series_sin, approx_sine(a, f, 0, doubt), num_sin_approx_f32(a, f))
SERIES1(cos_f32, series_cos, approx_sine(a, f, 1, doubt), num_cos_approx_f32(a, f))
SERIES1(lg2_f32, series_lg2, approx_lg2(a, f, doubt), num_lg2_approx_f32(a, f))
SERIES1(ex2_f32, series_ex2, approx_ex2(a, f, doubt), num_ex2_approx_f32(a, f))
SERIES1(tanh_f32, series_tanh, approx_tanh(a, doubt), num_tanh_approx_f32(a))

/* 9.7.3.1: zeros count as normal */
#define TESTP(name, bits, T, cond)                                                                                     \
    static enum warp_status testp_##name##_f##bits(struct warp *w, const struct insn *in, uint32_t mask) {             \
        const uint##bits##_t *pa = warp_src##bits(w, in->o[1].slot);                                                   \
        uint32_t p = 0;                                                                                                \
        WARP_FOR_LANES(l, mask) {                                                                                      \
            const uint64_t a = pa[l];                                                                                  \
            p |= (uint32_t)(cond) << l;                                                                                \
        }                                                                                                              \
        warp_set_pred(w, in->o[0].slot, mask, p);                                                                      \
        return alu_poison(w, in, mask, 1);                                                                             \
    }
#define TESTP_ALL(bits, T)                                                                                             \
    TESTP(finite, bits, T, !num_is_nan(T, a) && !num_is_inf(T, a))                                                     \
    TESTP(infinite, bits, T, num_is_inf(T, a))                                                                         \
    TESTP(number, bits, T, !num_is_nan(T, a))                                                                          \
    TESTP(notanumber, bits, T, num_is_nan(T, a))                                                                       \
    TESTP(normal, bits, T, !num_is_nan(T, a) && !num_is_inf(T, a) && !num_is_subnormal(T, a))                          \
    TESTP(subnormal, bits, T, num_is_subnormal(T, a))
TESTP_ALL(32, NUM_F32)
TESTP_ALL(64, NUM_F64)

/* --- forms -------------------------------------------------------------------------------------------------------- */

#define FTZ ALU_M(ftz)
#define SAT ALU_M(sat)
#define APPROX ALU_M(approx)
#define FULL ALU_M(full)
#define NAN_ ALU_M(NaN)
#define ABS ALU_M(abs)
#define XOR ALU_M(xorsign)
#define RN ALU_M(rn)
/* The first row that takes the form wins: the plain forms come before the general ones. */
#define SUM(op)                                                                                                        \
    ALU_ROW(op, f32, 0, RN, "www", op##_rn_f32), ALU_ROW(op, f32, 0, RN | FTZ | SAT, "www", op##_flags_f32),           \
        ALU_ROW(op, f32, 0, ALU_RND | FTZ | SAT, "www", op##_f32), ALU_ROW(op, f32x2, 0, RN, "ddd", op##_rn_f32x2),    \
        ALU_ROW(op, f32x2, 0, RN | FTZ, "ddd", op##_flags_f32x2),                                                      \
        ALU_ROW(op, f32x2, 0, ALU_RND | FTZ, "ddd", op##_f32x2), ALU_ROW(op, f64, 0, RN, "ddd", op##_rn_f64),          \
        ALU_ROW(op, f64, 0, ALU_RND, "ddd", op##_f64)
#define FMA(op)                                                                                                        \
    ALU_ROW(op, f32, RN, 0, "wwww", fma_rn_f32), ALU_ROW(op, f32, RN, FTZ | SAT, "wwww", fma_flags_f32),               \
        ALU_ROW(op, f32, ALU_NEED_RND, ALU_RND | FTZ | SAT, "wwww", fma_f32),                                          \
        ALU_ROW(op, f64, RN, 0, "dddd", fma_rn_f64), ALU_ROW(op, f64, ALU_NEED_RND, ALU_RND, "dddd", fma_f64)
#define IEEE(op, sw, sd)                                                                                               \
    ALU_ROW(op, f32, RN, FTZ, sw, op##_rn_f32), ALU_ROW(op, f32, ALU_NEED_RND, ALU_RND | FTZ, sw, op##_f32),           \
        ALU_ROW(op, f64, RN, 0, sd, op##_rn_f64), ALU_ROW(op, f64, ALU_NEED_RND, ALU_RND, sd, op##_f64)
#define MINMAX(op)                                                                                                     \
    ALU_ROW(op, f32, 0, 0, "www", op##_plain_f32), ALU_ROW(op, f32, 0, FTZ | NAN_, "www", op##_f32),                   \
        ALU_ROW(op, f32, XOR | ABS, FTZ | NAN_, "www", op##_f32),                                                      \
        ALU_ROW(op, f32, 0, FTZ | NAN_ | ABS, "wwww", op##3_f32), ALU_ROW(op, f64, 0, 0, "ddd", op##_f64)
#define APPROX_F32(op, fn) ALU_ROW(op, f32, APPROX, FTZ, "ww", fn)
#define TESTP_ROWS(t, sig)                                                                                             \
    ALU_ROW(testp, t, ALU_M(finite), 0, sig, testp_finite_##t),                                                        \
        ALU_ROW(testp, t, ALU_M(infinite), 0, sig, testp_infinite_##t),                                                \
        ALU_ROW(testp, t, ALU_M(number), 0, sig, testp_number_##t),                                                    \
        ALU_ROW(testp, t, ALU_M(notanumber), 0, sig, testp_notanumber_##t),                                            \
        ALU_ROW(testp, t, ALU_M(normal), 0, sig, testp_normal_##t),                                                    \
        ALU_ROW(testp, t, ALU_M(subnormal), 0, sig, testp_subnormal_##t)

static const struct alu_row rows[] = {
    SUM(add),
    SUM(sub),
    SUM(mul),
    FMA(fma),
    FMA(mad),
    ALU_ROW(fma, f32x2, RN, 0, "dddd", fma_rn_f32x2),
    ALU_ROW(fma, f32x2, RN, FTZ, "dddd", fma_flags_f32x2),
    ALU_ROW(fma, f32x2, ALU_NEED_RND, ALU_RND | FTZ, "dddd", fma_f32x2),
    IEEE(div, "www", "ddd"),
    ALU_ROW(div, f32, APPROX, FTZ, "www", div_approx_f32),
    ALU_ROW(div, f32, FULL, FTZ, "www", div_full_f32),
    ALU_ROW(abs, f32, 0, 0, "ww", abs_plain_f32),
    ALU_ROW(abs, f32, 0, FTZ, "ww", abs_f32), /* here .abs is the opcode */
    ALU_ROW(abs, f64, 0, 0, "dd", abs_f64),
    ALU_ROW(neg, f32, 0, 0, "ww", neg_plain_f32),
    ALU_ROW(neg, f32, 0, FTZ, "ww", neg_f32),
    ALU_ROW(neg, f64, 0, 0, "dd", neg_f64),
    ALU_ROW(copysign, f32, 0, 0, "www", copysign_f32),
    ALU_ROW(copysign, f64, 0, 0, "ddd", copysign_f64),
    MINMAX(min),
    MINMAX(max),
    IEEE(rcp, "ww", "dd"),
    APPROX_F32(rcp, rcp_approx_f32),
    ALU_ROW(rcp, f64, APPROX | FTZ, 0, "dd", rcp_approx_ftz_f64),
    IEEE(sqrt, "ww", "dd"),
    APPROX_F32(sqrt, sqrt_approx_f32),
    APPROX_F32(rsqrt, rsqrt_f32),
    ALU_ROW(rsqrt, f64, APPROX, 0, "dd", rsqrt_f64),
    ALU_ROW(rsqrt, f64, APPROX | FTZ, 0, "dd", rsqrt_ftz_f64),
    APPROX_F32(sin, sin_f32),
    APPROX_F32(cos, cos_f32),
    APPROX_F32(lg2, lg2_f32),
    APPROX_F32(ex2, ex2_f32),
    ALU_ROW(tanh, f32, APPROX, 0, "ww", tanh_f32),
    TESTP_ROWS(f32, "pw"),
    TESTP_ROWS(f64, "pd"),
};

static bool is_float(enum ptx_type t) {
    return t == PTX_F32 || t == PTX_F64 || t == PTX_F32X2 || t == PTX_F16 || t == PTX_BF16 || t == PTX_F16X2 ||
           t == PTX_BF16X2;
}
static bool is_half(enum ptx_type t) { return is_float(t) && t != PTX_F32 && t != PTX_F64 && t != PTX_F32X2; }

/* Without a fused multiply-add of the host this one takes ten times as long: the portable handlers use that too. */
#if defined(__x86_64__) && !defined(ISA_UNIT)
bool isa_bind_float_avx2(struct isa_binder *b, struct insn *in);
static bool bind_fma(struct isa_binder *b, struct insn *in) {
    const bool fused = in->fn == fma_rn_f32 || in->fn == fma_rn_f32x2;
    return !fused || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2") || isa_bind_float_avx2(b, in);
}
#else
static bool bind_fma(struct isa_binder *b, struct insn *in) {
    (void)b, (void)in;
    return true;
}
#endif

bool isa_bind_float(struct isa_binder *b, struct insn *in) {
    enum ptx_type t0 = ptx_insn_type(in->src, 0), t1 = ptx_insn_type(in->src, 1);
    if (is_half(t0) || is_half(t1))
        return alu_bind_half(b, in);
    if (!alu_bind(b, in, rows, sizeof rows / sizeof *rows))
        return false;
    ALU_LINKED(add_rn_f32, add_f)
    ALU_LINKED(sub_rn_f32, sub_f)
    ALU_LINKED(mul_rn_f32, mul_f)
    ALU_LINKED(fma_rn_f32, fma_f)
    return bind_fma(b, in);
}

bool isa_bind_arithmetic(struct isa_binder *b, struct insn *in) {
    return is_float(ptx_insn_type(in->src, 0)) ? isa_bind_float(b, in) : isa_bind_integer(b, in);
}
