/* isa/half.c - f16, bf16 and mixed-precision arithmetic (PTX ISA 9.7.4, 9.7.5).
 *
 * The x2 types are two independent operations on the halves of a 32-bit register. Mixed precision converts its half
 * operands to f32, which is exact, and then is f32 arithmetic.
 */
#include "isa/half.h"
#include "isa/alu.h"

/* --- plain add, sub, mul, fma: round to nearest, no flush, no saturation ------------------------------------------ */

/* p + c, rounded to odd: what was lost makes the last bit one, so that the rounding that follows is the only one. */
static inline double sum_odd(double p, double c) {
    const double s = p + c, t = s - p, lost = (p - (s - t)) + (c - t);
    uint64_t bits = num_f64_bits(s);
    if (lost != 0 && !(bits & 1) && s - s == 0)
        bits += (lost > 0) == (s > 0) ? 1 : ~UINT64_C(0);
    return num_f64_from_bits(bits);
}
#define VALUE(a) half_value(a, man)
static inline uint16_t plain_fma(uint16_t a, uint16_t b, uint16_t c, int man, int bias) {
    return half_nearest(sum_odd(VALUE(a) * VALUE(b), VALUE(c)), man, bias);
}
static inline uint16_t plain_add(uint16_t a, uint16_t b, int man, int bias) {
    return half_nearest(sum_odd(VALUE(a), VALUE(b)), man, bias);
}
static inline uint16_t plain_mul(uint16_t a, uint16_t b, int man, int bias) {
    return half_nearest(VALUE(a) * VALUE(b), man, bias);
}
#define PLAIN(t, T, man, bias)                                                                                         \
    ALU_FN2(add_plain_##t, T, T, T, plain_add(a, b, man, bias))                                                        \
    ALU_FN2(sub_plain_##t, T, T, T, plain_add(a, b ^ 0x8000, man, bias))                                               \
    ALU_FN2(mul_plain_##t, T, T, T, plain_mul(a, b, man, bias))                                                        \
    ALU_FN3(fma_plain_##t, T, T, T, T, plain_fma(a, b, c, man, bias))
PLAIN(bf16, u16, 7, 127)
PLAIN(bf16x2, u16x2, 7, 127)

/* --- every form --------------------------------------------------------------------------------------------------- */

/* Among the flags of num.h in in->aux: the operands are bf16, not f16. */
enum { BF16_OPERANDS = 1 << 20 };
static inline num_type type_in(unsigned f) { return f & BF16_OPERANDS ? NUM_BF16 : NUM_F16; }
static inline unsigned flags_in(unsigned f) { return f & ~(unsigned)BF16_OPERANDS; }

/* 9.7.4.1 - 9.7.4.10; T the lanes' type, u16 or u16x2 */
#define F16(t, T)                                                                                                      \
    ALU_FN2(add_##t, T, T, T, half_add_f16(a, b, f))                                                                   \
    ALU_FN2(sub_##t, T, T, T, half_add_f16(a, b ^ 0x8000u, f))                                                         \
    ALU_FN2(mul_##t, T, T, T, half_mul_f16(a, b, f))                                                                   \
    ALU_FN3(fma_##t, T, T, T, T, half_fma_f16(a, b, c, f))
F16(f16, u16)
F16(f16x2, u16x2)
#define BF16(t, T)                                                                                                     \
    ALU_LONG2(add_##t, T, T, T, num_add_h(NUM_BF16, a, b, flags_in(f)))                                                \
    ALU_LONG2(sub_##t, T, T, T, num_sub_h(NUM_BF16, a, b, flags_in(f)))                                                \
    ALU_LONG2(mul_##t, T, T, T, num_mul_h(NUM_BF16, a, b, flags_in(f)))                                                \
    ALU_LONG3(fma_##t, T, T, T, T, num_fma_h(NUM_BF16, a, b, c, flags_in(f)))
BF16(bf16, u16)
BF16(bf16x2, u16x2)
static inline uint32_t inf_in(unsigned f) { return f & BF16_OPERANDS ? 0x7f80 : 0x7c00; }
#define HALF(T)                                                                                                        \
    ALU_FN1(neg_##T, T, T, half_neg(a, inf_in(f), f))                                                                  \
    ALU_FN1(abs_##T, T, T, half_abs(a, inf_in(f), f))                                                                  \
    ALU_FN2(min_##T, T, T, T, half_pick(a, b, inf_in(f), f, false))                                                    \
    ALU_FN2(max_##T, T, T, T, half_pick(a, b, inf_in(f), f, true))                                                     \
    ALU_LONG1(tanh_##T, T, T, num_tanh_approx_h(type_in(f), a))                                                        \
    ALU_LONG1(ex2_##T, T, T, num_ex2_approx_h(type_in(f), a, flags_in(f)))
HALF(u16)
HALF(u16x2)
static inline uint32_t both(uint32_t low, uint32_t high) { return low | high << 16; }
#define PAIR_APPROX(name, t, fn, is_bf16, num)                                                                         \
    ALU_SURE1(name##_##t, both(fn(a & 0xffff, is_bf16, doubt), fn(a >> 16, is_bf16, doubt)),                           \
              both(num(a & 0xffff), num(a >> 16)))
#define TANH_F16(a) num_tanh_approx_h(NUM_F16, (uint16_t)(a))
#define TANH_BF16(a) num_tanh_approx_h(NUM_BF16, (uint16_t)(a))
#define EX2_F16(a) num_ex2_approx_h(NUM_F16, (uint16_t)(a), 0)
#define EX2_BF16(a) num_ex2_approx_h(NUM_BF16, (uint16_t)(a), NUM_FTZ)
PAIR_APPROX(tanh, f16x2, half_tanh, false, TANH_F16)
PAIR_APPROX(tanh, bf16x2, half_tanh, true, TANH_BF16)
PAIR_APPROX(ex2, f16x2, half_ex2, false, EX2_F16)
PAIR_APPROX(ex2, bf16x2, half_ex2, true, EX2_BF16)

/* 9.7.5 */
static inline uint32_t from_f16(uint16_t a) { return num_f32_bits(num_decode_f16(a)); }
static inline uint32_t from_bf16(uint16_t a) { return (uint32_t)a << 16; }
#define MIXED(t)                                                                                                       \
    ALU_LONG2(add_f32_##t, u32, u16, u32, num_add_f32(from_##t(a), b, r, f))                                           \
    ALU_LONG2(sub_f32_##t, u32, u16, u32, num_sub_f32(from_##t(a), b, r, f))                                           \
    ALU_LONG3(fma_f32_##t, u32, u16, u16, u32, num_fma_f32(from_##t(a), from_##t(b), c, r, f))
MIXED(f16)
MIXED(bf16)

#define RN ALU_M(rn)
#define FTZ ALU_M(ftz)
#define SAT ALU_M(sat)
#define RELU ALU_M(relu)
#define NAN_ ALU_M(NaN)
#define SIGN (ALU_M(abs) | ALU_M(xorsign))
#define APPROX ALU_M(approx)
/* One type, and that of its lanes: signatures of 2, 3 and 4 operands; `ftz`, `sat`: the bits where the type has them,
 * `how`: as ex2 needs. */
#define ROWS(t, T, s2, s3, s4, ftz, sat, how)                                                                          \
    ALU_ROW(add, t, 0, RN | ftz | sat, s3, add_##t), ALU_ROW(sub, t, 0, RN | ftz | sat, s3, sub_##t),                  \
        ALU_ROW(mul, t, 0, RN | ftz | sat, s3, mul_##t), ALU_ROW(fma, t, RN, ftz | sat, s4, fma_##t),                  \
        ALU_ROW(fma, t, RN | RELU, ftz, s4, fma_##t), ALU_ROW(neg, t, 0, ftz, s2, neg_##T),                            \
        ALU_ROW(abs, t, 0, ftz, s2, abs_##T), ALU_ROW(min, t, 0, ftz | NAN_, s3, min_##T),                             \
        ALU_ROW(min, t, SIGN, ftz | NAN_, s3, min_##T), ALU_ROW(max, t, 0, ftz | NAN_, s3, max_##T),                   \
        ALU_ROW(max, t, SIGN, ftz | NAN_, s3, max_##T), ALU_ROW(tanh, t, APPROX, 0, s2, tanh_##T),                     \
        ALU_ROW(ex2, t, how, 0, s2, ex2_##T)
#define MIXED_ROWS(t)                                                                                                  \
    ALU_ROW2(add, f32, t, 0, ALU_RND | SAT, "whw", add_f32_##t),                                                       \
        ALU_ROW2(sub, f32, t, 0, ALU_RND | SAT, "whw", sub_f32_##t),                                                   \
        ALU_ROW2(fma, f32, t, ALU_NEED_RND, ALU_RND | SAT, "whhw", fma_f32_##t)

#define PLAIN_ROWS(t, s3, s4)                                                                                          \
    ALU_ROW(add, t, 0, RN, s3, add_plain_##t), ALU_ROW(sub, t, 0, RN, s3, sub_plain_##t),                              \
        ALU_ROW(mul, t, 0, RN, s3, mul_plain_##t), ALU_ROW(fma, t, RN, 0, s4, fma_plain_##t)

static const struct alu_row rows[] = {
    ALU_ROW(tanh, f16x2, APPROX, 0, "ww", tanh_f16x2),
    ALU_ROW(tanh, bf16x2, APPROX, 0, "ww", tanh_bf16x2),
    ALU_ROW(ex2, f16x2, APPROX, 0, "ww", ex2_f16x2),
    ALU_ROW(ex2, bf16x2, APPROX | FTZ, 0, "ww", ex2_bf16x2),
    PLAIN_ROWS(bf16, "hhh", "hhhh"),
    PLAIN_ROWS(bf16x2, "www", "wwww"),
    ROWS(f16, u16, "hh", "hhh", "hhhh", FTZ, SAT, APPROX),
    ROWS(bf16, u16, "hh", "hhh", "hhhh", 0, 0, APPROX | FTZ),
    ROWS(f16x2, u16x2, "ww", "www", "wwww", FTZ, SAT, APPROX),
    ROWS(bf16x2, u16x2, "ww", "www", "wwww", 0, 0, APPROX | FTZ),
    MIXED_ROWS(f16),
    MIXED_ROWS(bf16),
};

bool alu_bind_half(struct isa_binder *b, struct insn *in) {
    if (ptx_has(in->src, PTX_MOD_oob)) /* 9.7.4.4 */
        return isa_refuse(b, "the ISA does not say which bits the OOB NaN of .oob has");
    if (!alu_bind(b, in, rows, sizeof rows / sizeof *rows))
        return false;
    const enum ptx_type t = ptx_insn_type(in->src, 0);
    if (t == PTX_BF16 || t == PTX_BF16X2)
        in->aux |= (uint64_t)BF16_OPERANDS << 8;
    return true;
}
