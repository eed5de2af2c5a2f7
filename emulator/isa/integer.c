/* isa/integer.c - integer arithmetic (PTX ISA 9.7.1).
 *
 * Results wrap modulo 2^n unless .sat says otherwise, so signed and unsigned forms share a handler wherever only the
 * low n bits count; expressions then work on unsigned values.
 */
#include "isa/alu.h"
#include "simd/vectors.h"

__extension__ typedef unsigned __int128 alu_u128;
__extension__ typedef __int128 alu_s128;

static inline int32_t clamp_s32(int64_t v) {
    return (int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* 9.7.1.1, 9.7.1.2 */
ALU_FN2(add_16, u16, u16, u16, a + b)
ALU_FN2(add_32, u32, u32, u32, a + b)
ALU_FN2(add_64, u64, u64, u64, a + b)
ALU_FN2(add_16x2, u16x2, u16x2, u16x2, a + b)
ALU_LONG2(add_sat_s32, s32, s32, s32, clamp_s32((int64_t)a + b))
ALU_FN2(sub_16, u16, u16, u16, a - b)
ALU_FN2(sub_32, u32, u32, u32, a - b)
ALU_FN2(sub_64, u64, u64, u64, a - b)
ALU_LONG2(sub_sat_s32, s32, s32, s32, clamp_s32((int64_t)a - b))

/* 9.7.1.3 */
ALU_FN2(mul_lo_16, u16, u16, u16, (uint32_t)a *b)
ALU_FN2(mul_lo_32, u32, u32, u32, a *b)
ALU_FN2(mul_lo_64, u64, u64, u64, a *b)
static inline uint16_t hi_u16(uint16_t a, uint16_t b) { return (uint16_t)((uint32_t)a * b >> 16); }
static inline int16_t hi_s16(int16_t a, int16_t b) { return (int16_t)((int32_t)a * b >> 16); }
static inline uint32_t hi_u32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline int32_t hi_s32(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }
static inline uint64_t hi_u64(uint64_t a, uint64_t b) { return (uint64_t)((alu_u128)a * b >> 64); }
static inline int64_t hi_s64(int64_t a, int64_t b) { return (int64_t)((alu_s128)a * b >> 64); }
ALU_FN2(mul_hi_u16, u16, u16, u16, hi_u16(a, b))
ALU_FN2(mul_hi_s16, s16, s16, s16, hi_s16(a, b))
ALU_FN2(mul_hi_u32, u32, u32, u32, hi_u32(a, b))
ALU_FN2(mul_hi_s32, s32, s32, s32, hi_s32(a, b))
ALU_LONG2(mul_hi_u64, u64, u64, u64, hi_u64(a, b))
ALU_LONG2(mul_hi_s64, s64, s64, s64, hi_s64(a, b))
ALU_FN2(mul_wide_u16, u32, u16, u16, (uint32_t)a *b)
ALU_FN2(mul_wide_s16, s32, s16, s16, (int32_t)a *b)
#if defined(ISA_UNIT)
/* The host's product of the low halves of words of 64 bits: compilers take the whole words'. */
#if defined(__AVX512F__)
#define WIDE_ALL(name, multiply512, multiply256)                                                                       \
    static ALU_INLINE void name##_all(uint64_t *d, const uint32_t *a, const uint32_t *b) {                             \
        for (uint32_t l = 0; l < MACH_WARP; l += 8) {                                                                  \
            const __m512i x = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i_u *)(a + l)));                   \
            const __m512i y = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i_u *)(b + l)));                   \
            _mm512_storeu_si512(d + l, multiply512(x, y));                                                             \
        }                                                                                                              \
    }
#else
#define WIDE_ALL(name, multiply512, multiply256)                                                                       \
    static ALU_INLINE void name##_all(uint64_t *d, const uint32_t *a, const uint32_t *b) {                             \
        for (uint32_t l = 0; l < MACH_WARP; l += 4) {                                                                  \
            const __m256i x = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i_u *)(a + l)));                      \
            const __m256i y = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i_u *)(b + l)));                      \
            _mm256_storeu_si256((__m256i_u *)(d + l), multiply256(x, y));                                              \
        }                                                                                                              \
    }
#endif
#define MUL_WIDE(name, T, multiply)                                                                                    \
    WIDE_ALL(name, _mm512_##multiply, _mm256_##multiply)                                                               \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const uint32_t *a = warp_fast_src(w, in, 1), *b = warp_fast_src(w, in, 2);                                     \
        uint64_t *d = warp_fast_dst(w, in, 0);                                                                         \
        if (mask == WARP_ALL_LANES)                                                                                    \
            name##_all(d, a, b);                                                                                       \
        else                                                                                                           \
            ALU_SET_SOME(mask, d, (uint64_t)((T##64_t)(T##32_t)a[l] * (T##32_t)b[l]))                                  \
    }                                                                                                                  \
    ALU_HANDLER(name, 2)
MUL_WIDE(mul_wide_u32, uint, mul_epu32)
MUL_WIDE(mul_wide_s32, int, mul_epi32)
#else
ALU_FN2(mul_wide_u32, u64, u32, u32, (uint64_t)a *b)
ALU_FN2(mul_wide_s32, s64, s32, s32, (int64_t)a *b)
#endif

/* 9.7.1.4 */
ALU_FN3(mad_lo_16, u16, u16, u16, u16, (uint32_t)a *b + c)
ALU_FN3(mad_lo_32, u32, u32, u32, u32, a *b + c)
ALU_FN3(mad_lo_64, u64, u64, u64, u64, a *b + c)
ALU_FN3(mad_hi_u16, u16, u16, u16, u16, hi_u16(a, b) + c)
ALU_FN3(mad_hi_s16, s16, s16, s16, s16, hi_s16(a, b) + c)
ALU_FN3(mad_hi_u32, u32, u32, u32, u32, hi_u32(a, b) + c)
ALU_FN3(mad_hi_s32, s32, s32, s32, u32, (uint32_t)hi_s32(a, b) + c)
ALU_LONG3(mad_hi_u64, u64, u64, u64, u64, hi_u64(a, b) + c)
ALU_LONG3(mad_hi_s64, s64, s64, s64, u64, (uint64_t)hi_s64(a, b) + c)
ALU_LONG3(mad_hi_sat_s32, s32, s32, s32, s32, clamp_s32((int64_t)hi_s32(a, b) + c))
ALU_FN3(mad_wide_u16, u32, u16, u16, u32, (uint32_t)a *b + c)
ALU_FN3(mad_wide_s16, s32, s16, s16, u32, (uint32_t)((int32_t)a *b) + c)
ALU_FN3(mad_wide_u32, u64, u32, u32, u64, (uint64_t)a *b + c)
ALU_FN3(mad_wide_s32, s64, s32, s32, u64, (uint64_t)((int64_t)a *b) + c)

/* 9.7.1.5, 9.7.1.6: the sources' low 24 bits; .hi is bits 47..16 of the product */
static inline uint64_t mul24_u(uint32_t a, uint32_t b) { return (uint64_t)(a & 0xffffff) * (b & 0xffffff); }
static inline int64_t mul24_s(uint32_t a, uint32_t b) {
    return (int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8);
}
ALU_FN2(mul24_lo_u32, u32, u32, u32, mul24_u(a, b))
ALU_FN2(mul24_lo_s32, s32, u32, u32, mul24_s(a, b))
ALU_FN2(mul24_hi_u32, u32, u32, u32, mul24_u(a, b) >> 16)
ALU_FN2(mul24_hi_s32, s32, u32, u32, mul24_s(a, b) >> 16)
ALU_FN3(mad24_lo_u32, u32, u32, u32, u32, mul24_u(a, b) + c)
ALU_FN3(mad24_lo_s32, u32, u32, u32, u32, (uint64_t)mul24_s(a, b) + c)
ALU_FN3(mad24_hi_u32, u32, u32, u32, u32, (mul24_u(a, b) >> 16) + c)
ALU_FN3(mad24_hi_s32, u32, u32, u32, u32, (uint64_t)(mul24_s(a, b) >> 16) + c)
ALU_LONG3(mad24_hi_sat_s32, s32, u32, u32, s32, clamp_s32((mul24_s(a, b) >> 16) + c))

/* 9.7.1.7 */
ALU_FN3(sad_u16, u16, u16, u16, u16, c + (a < b ? b - a : a - b))
ALU_FN3(sad_s16, u16, s16, s16, u16, c + (a < b ? b - a : a - b))
ALU_FN3(sad_u32, u32, u32, u32, u32, c + (a < b ? b - a : a - b))
ALU_FN3(sad_s32, u32, s32, s32, u32, c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b))
ALU_FN3(sad_u64, u64, u64, u64, u64, c + (a < b ? b - a : a - b))
ALU_FN3(sad_s64, u64, s64, s64, u64, c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))

/* 9.7.1.8, 9.7.1.9: a zero divisor gives a machine-specific quotient and remainder, on an H200 all ones at every width.
 * Otherwise the quotient rounds toward zero, and the one that overflows wraps. */
#define DIV_U(bits, T)                                                                                                 \
    ALU_LONG2(div_u##bits, u##bits, u##bits, u##bits, b ? a / b : (T) ~(T)0)                                           \
    ALU_LONG2(rem_u##bits, u##bits, u##bits, u##bits, b ? a % b : (T) ~(T)0)
#define DIV_S(bits, T, U)                                                                                              \
    ALU_LONG2(div_s##bits, s##bits, s##bits, s##bits, b == 0 ? (T)-1 : b == -1 ? (T)(0 - (U)a) : (T)(a / b))           \
    ALU_LONG2(rem_s##bits, s##bits, s##bits, s##bits, b == 0 ? (T)-1 : b == -1 ? (T)0 : (T)(a % b))
DIV_U(16, uint16_t)
DIV_U(64, uint64_t)
DIV_S(16, int16_t, uint16_t)
DIV_S(64, int64_t, uint64_t)
#if defined(ISA_UNIT)
#if defined(__AVX512F__)
static ALU_INLINE double double_of(uint32_t a) { return a; }
static ALU_INLINE uint32_t whole_of(double v) { return (uint32_t)v; }
#else /* AVX2 has the signed conversions alone */
static ALU_INLINE double double_of(uint32_t a) { return (double)(int32_t)(a ^ 0x80000000) + 0x1p31; }
static ALU_INLINE uint32_t whole_of(double v) { return (uint32_t)num_f64_bits(__builtin_trunc(v) + 0x1p52); }
#endif
/* A quotient of 32-bit integers, rounded to a double, is not rounded up to the next integer. */
static ALU_INLINE uint32_t quotient_u(uint32_t a, uint32_t b) {
    const uint32_t q = whole_of(double_of(a) / double_of(b ? b : 1));
    return b ? q : UINT32_MAX;
}
static ALU_INLINE int32_t quotient_s(int32_t a, int32_t b) {
    const int32_t q = (int32_t)((double)a / (double)((uint32_t)b + 1 < 2 ? 1 : b));
    return b == 0 ? -1 : b == -1 ? (int32_t)(0 - (uint32_t)a) : q;
}
ALU_FN2(div_u32, u32, u32, u32, quotient_u(a, b))
ALU_FN2(rem_u32, u32, u32, u32, b ? a - quotient_u(a, b) * b : UINT32_MAX)
ALU_FN2(div_s32, s32, s32, s32, quotient_s(a, b))
ALU_FN2(rem_s32, s32, s32, s32, b ? (int32_t)((uint32_t)a - (uint32_t)quotient_s(a, b) * (uint32_t)b) : -1)
#else
DIV_U(32, uint32_t)
DIV_S(32, int32_t, uint32_t)
#endif

/* 9.7.1.10, 9.7.1.11: the smallest negative number is its own negation */
#define SIGN(bits, U)                                                                                                  \
    ALU_FN1(abs_s##bits, u##bits, s##bits, a < 0 ? 0 - (U)a : (U)a)                                                    \
    ALU_FN1(neg_s##bits, u##bits, u##bits, 0 - a)
SIGN(16, uint16_t)
SIGN(32, uint32_t)
SIGN(64, uint64_t)

/* 9.7.1.12, 9.7.1.13 */
#define MIN_MAX(T)                                                                                                     \
    ALU_FN2(min_##T, T, T, T, a < b ? a : b)                                                                           \
    ALU_FN2(max_##T, T, T, T, a > b ? a : b)
MIN_MAX(u16)
MIN_MAX(s16)
MIN_MAX(u32)
MIN_MAX(s32)
MIN_MAX(u64)
MIN_MAX(s64)
MIN_MAX(u16x2)
MIN_MAX(s16x2)
#define MIN_MAX_RELU(T)                                                                                                \
    ALU_FN2(min_relu_##T, T, T, T, a < 0 || b < 0 ? 0 : a < b ? a : b)                                                 \
    ALU_FN2(max_relu_##T, T, T, T, a < 0 && b < 0 ? 0 : a > b ? a : b)
MIN_MAX_RELU(s32)
MIN_MAX_RELU(s16x2)

/* 9.7.1.14, 9.7.1.15 */
ALU_LONG1(popc_b32, u32, u32, __builtin_popcount(a))
ALU_LONG1(popc_b64, u32, u64, __builtin_popcountll(a))
ALU_LONG1(clz_b32, u32, u32, a ? __builtin_clz(a) : 32)
ALU_LONG1(clz_b64, u32, u64, a ? __builtin_clzll(a) : 64)

/* 9.7.1.16 */
static inline uint32_t find_top(uint64_t a) { return a ? 63 - (uint32_t)__builtin_clzll(a) : UINT32_MAX; }
static inline uint32_t shift_to_top(uint32_t pos, uint32_t msb) { return pos == UINT32_MAX ? pos : msb - pos; }
static inline uint64_t flip_s32(int32_t a) { return (uint32_t)(a < 0 ? ~a : a); }
static inline uint64_t flip_s64(int64_t a) { return (uint64_t)(a < 0 ? ~a : a); }
ALU_LONG1(bfind_u32, u32, u32, find_top(a))
ALU_LONG1(bfind_s32, u32, s32, find_top(flip_s32(a)))
ALU_LONG1(bfind_u64, u32, u64, find_top(a))
ALU_LONG1(bfind_s64, u32, s64, find_top(flip_s64(a)))
ALU_LONG1(bfind_shiftamt_u32, u32, u32, shift_to_top(find_top(a), 31))
ALU_LONG1(bfind_shiftamt_s32, u32, s32, shift_to_top(find_top(flip_s32(a)), 31))
ALU_LONG1(bfind_shiftamt_u64, u32, u64, shift_to_top(find_top(a), 63))
ALU_LONG1(bfind_shiftamt_s64, u32, s64, shift_to_top(find_top(flip_s64(a)), 63))

/* 9.7.1.17; a base above 31 is undefined behaviour and finds nothing here */
static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset) {
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int64_t count = offset < 0 ? -(int64_t)offset : offset;
    int step = offset > 0 ? 1 : -1;
    for (int pos = (int)base; pos >= 0 && pos < 32; pos += step)
        if (mask >> pos & 1 && --count == 0)
            return (uint32_t)pos;
    return UINT32_MAX;
}
ALU_LONG3(fns_b32, u32, u32, u32, s32, find_nth(a, b, c))

/* 9.7.1.18 */
static inline uint32_t reverse32(uint32_t a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}
ALU_LONG1(brev_b32, u32, u32, reverse32(a))
ALU_LONG1(brev_b64, u64, u64, (uint64_t)reverse32((uint32_t)a) << 32 | reverse32((uint32_t)(a >> 32)))

/* 9.7.1.19: position and length are the low 8 bits of b and c */
static inline uint64_t extract_u(uint64_t a, uint32_t b, uint32_t c) {
    uint32_t pos = b & 0xff, len = c & 0xff;
    if (pos > 63 || len == 0)
        return 0;
    return a >> pos & (len > 63 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1);
}
static inline int64_t extract_s(int64_t a, uint32_t b, uint32_t c, uint32_t width) {
    uint32_t pos = b & 0xff, len = c & 0xff;
    if (len == 0)
        return 0;
    if (pos >= width)
        return a < 0 ? -1 : 0;
    if (pos + len >= width)
        return a >> pos;
    return (int64_t)((uint64_t)a << (64 - pos - len)) >> (64 - len);
}
ALU_LONG3(bfe_u32, u32, u32, u32, u32, extract_u(a, b, c))
ALU_LONG3(bfe_s32, s32, s32, u32, u32, extract_s(a, b, c, 32))
ALU_LONG3(bfe_u64, u64, u64, u32, u32, extract_u(a, b, c))
ALU_LONG3(bfe_s64, s64, s64, u32, u32, extract_s(a, b, c, 64))

/* 9.7.1.20 */
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t c, uint32_t d) {
    uint32_t pos = c & 0xff, len = d & 0xff;
    if (pos > 63 || len == 0)
        return b;
    uint64_t m = (len > 63 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1) << pos;
    return (b & ~m) | (a << pos & m);
}
ALU_LONG4(bfi_b32, u32, u32, u32, u32, u32, insert(a, b, c, e))
ALU_LONG4(bfi_b64, u64, u64, u64, u32, u32, insert(a, b, c, e))

/* 9.7.1.21: b & 31 bits are kept; in clamp mode 32 and more keep all */
static inline uint32_t extend(uint32_t a, uint32_t b, bool clamp, bool is_signed) {
    uint32_t n = b & 31;
    if (clamp && b >= 32)
        return a;
    if (n == 0)
        return 0;
    return is_signed ? (uint32_t)((int32_t)(a << (32 - n)) >> (32 - n)) : a << (32 - n) >> (32 - n);
}
ALU_LONG2(szext_clamp_u32, u32, u32, u32, extend(a, b, true, false))
ALU_LONG2(szext_clamp_s32, u32, u32, u32, extend(a, b, true, true))
ALU_LONG2(szext_wrap_u32, u32, u32, u32, extend(a, b, false, false))
ALU_LONG2(szext_wrap_s32, u32, u32, u32, extend(a, b, false, true))

/* 9.7.1.22 */
static inline uint32_t bit_mask(uint32_t a, uint32_t b, bool clamp) {
    if (clamp && a >= 32)
        return 0;
    uint32_t pos = a & 31, len = clamp && b >= 32 ? 32 : b & 31;
    return (uint32_t)(((UINT64_C(1) << len) - 1) << pos);
}
ALU_LONG2(bmsk_clamp, u32, u32, u32, bit_mask(a, b, true))
ALU_LONG2(bmsk_wrap, u32, u32, u32, bit_mask(a, b, false))

/* 9.7.1.23, 9.7.1.24 */
static inline int32_t byte_of(uint32_t v, unsigned i, bool is_signed) {
    uint8_t x = (uint8_t)(v >> (8 * i));
    return is_signed ? (int8_t)x : x;
}
static inline int32_t half_of(uint32_t v, unsigned i, bool is_signed) {
    uint16_t x = (uint16_t)(v >> (16 * i));
    return is_signed ? (int16_t)x : x;
}
static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb) {
    for (unsigned i = 0; i < 4; i++)
        c += (uint32_t)(byte_of(a, i, sa) * byte_of(b, i, sb));
    return c;
}
static inline uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb, unsigned first) {
    for (unsigned i = 0; i < 2; i++)
        c += (uint32_t)(half_of(a, i, sa) * byte_of(b, first + i, sb));
    return c;
}
#define DOT(ta, tb, sa, sb)                                                                                            \
    ALU_LONG3(dp4a_##ta##_##tb, u32, u32, u32, u32, dot4(a, b, c, sa, sb))                                             \
    ALU_LONG3(dp2a_lo_##ta##_##tb, u32, u32, u32, u32, dot2(a, b, c, sa, sb, 0))                                       \
    ALU_LONG3(dp2a_hi_##ta##_##tb, u32, u32, u32, u32, dot2(a, b, c, sa, sb, 2))
DOT(u32, u32, false, false)
DOT(u32, s32, false, true)
DOT(s32, u32, true, false)
DOT(s32, s32, true, true)

/* --- forms -------------------------------------------------------------------------------------------------------- */

#define LO ALU_M(lo)
#define HI ALU_M(hi)
#define WIDE ALU_M(wide)
#define SAT ALU_M(sat)
#define RELU ALU_M(relu)
#define SIX(op, need, gh, gw, gd, fu16, fs16, fu32, fs32, fu64, fs64)                                                  \
    ALU_ROW(op, u16, need, 0, gh, fu16), ALU_ROW(op, s16, need, 0, gh, fs16), ALU_ROW(op, u32, need, 0, gw, fu32),     \
        ALU_ROW(op, s32, need, 0, gw, fs32), ALU_ROW(op, u64, need, 0, gd, fu64), ALU_ROW(op, s64, need, 0, gd, fs64)
#define SAME(op, need, sig, f)                                                                                         \
    SIX(op, need, sig("h"), sig("w"), sig("d"), f##_16, f##_16, f##_32, f##_32, f##_64, f##_64)
#define BOTH(op, need, sig, f)                                                                                         \
    SIX(op, need, sig("h"), sig("w"), sig("d"), f##_u16, f##_s16, f##_u32, f##_s32, f##_u64, f##_s64)
#define TWO(t) t t t
#define THREE(t) t t t t
#define FOUR_WIDE(op, f, gh, gw)                                                                                       \
    ALU_ROW(op, u16, WIDE, 0, gh, f##_wide_u16), ALU_ROW(op, s16, WIDE, 0, gh, f##_wide_s16),                          \
        ALU_ROW(op, u32, WIDE, 0, gw, f##_wide_u32), ALU_ROW(op, s32, WIDE, 0, gw, f##_wide_s32)
#define SIGNED(op)                                                                                                     \
    ALU_ROW(op, s16, 0, 0, "hh", op##_s16), ALU_ROW(op, s32, 0, 0, "ww", op##_s32),                                    \
        ALU_ROW(op, s64, 0, 0, "dd", op##_s64)
#define BFIND(t, sig)                                                                                                  \
    ALU_ROW(bfind, t, 0, 0, sig, bfind_##t), ALU_ROW(bfind, t, ALU_M(shiftamt), 0, sig, bfind_shiftamt_##t)
#define DOTS(ta, tb)                                                                                                   \
    ALU_ROW2(dp4a, ta, tb, 0, 0, "wwww", dp4a_##ta##_##tb),                                                            \
        ALU_ROW2(dp2a, ta, tb, LO, 0, "wwww", dp2a_lo_##ta##_##tb),                                                    \
        ALU_ROW2(dp2a, ta, tb, HI, 0, "wwww", dp2a_hi_##ta##_##tb)
#define MINMAX_ROWS(op)                                                                                                \
    BOTH(op, 0, TWO, op), ALU_ROW(op, u16x2, 0, 0, "www", op##_u16x2), ALU_ROW(op, s16x2, 0, 0, "www", op##_s16x2),    \
        ALU_ROW(op, s32, RELU, 0, "www", op##_relu_s32), ALU_ROW(op, s16x2, RELU, 0, "www", op##_relu_s16x2)

static const struct alu_row rows[] = {
    SAME(add, 0, TWO, add),
    ALU_ROW(add, u16x2, 0, 0, "www", add_16x2),
    ALU_ROW(add, s16x2, 0, 0, "www", add_16x2),
    ALU_ROW(add, s32, SAT, 0, "www", add_sat_s32),
    SAME(sub, 0, TWO, sub),
    ALU_ROW(sub, s32, SAT, 0, "www", sub_sat_s32),
    SAME(mul, LO, TWO, mul_lo),
    BOTH(mul, HI, TWO, mul_hi),
    FOUR_WIDE(mul, mul, "whh", "dww"),
    SAME(mad, LO, THREE, mad_lo),
    BOTH(mad, HI, THREE, mad_hi),
    FOUR_WIDE(mad, mad, "whhw", "dwwd"),
    ALU_ROW(mad, s32, HI | SAT, 0, "wwww", mad_hi_sat_s32),
    ALU_ROW(mul24, u32, LO, 0, "www", mul24_lo_u32),
    ALU_ROW(mul24, s32, LO, 0, "www", mul24_lo_s32),
    ALU_ROW(mul24, u32, HI, 0, "www", mul24_hi_u32),
    ALU_ROW(mul24, s32, HI, 0, "www", mul24_hi_s32),
    ALU_ROW(mad24, u32, LO, 0, "wwww", mad24_lo_u32),
    ALU_ROW(mad24, s32, LO, 0, "wwww", mad24_lo_s32),
    ALU_ROW(mad24, u32, HI, 0, "wwww", mad24_hi_u32),
    ALU_ROW(mad24, s32, HI, 0, "wwww", mad24_hi_s32),
    ALU_ROW(mad24, s32, HI | SAT, 0, "wwww", mad24_hi_sat_s32),
    BOTH(sad, 0, THREE, sad),
    BOTH(div, 0, TWO, div),
    BOTH(rem, 0, TWO, rem),
    SIGNED(abs),
    SIGNED(neg),
    MINMAX_ROWS(min),
    MINMAX_ROWS(max),
    ALU_ROW(popc, b32, 0, 0, "ww", popc_b32),
    ALU_ROW(popc, b64, 0, 0, "wd", popc_b64),
    ALU_ROW(clz, b32, 0, 0, "ww", clz_b32),
    ALU_ROW(clz, b64, 0, 0, "wd", clz_b64),
    BFIND(u32, "ww"),
    BFIND(s32, "ww"),
    BFIND(u64, "wd"),
    BFIND(s64, "wd"),
    ALU_ROW(fns, b32, 0, 0, "wwww", fns_b32),
    ALU_ROW(brev, b32, 0, 0, "ww", brev_b32),
    ALU_ROW(brev, b64, 0, 0, "dd", brev_b64),
    ALU_ROW(bfe, u32, 0, 0, "wwww", bfe_u32),
    ALU_ROW(bfe, s32, 0, 0, "wwww", bfe_s32),
    ALU_ROW(bfe, u64, 0, 0, "ddww", bfe_u64),
    ALU_ROW(bfe, s64, 0, 0, "ddww", bfe_s64),
    ALU_ROW(bfi, b32, 0, 0, "wwwww", bfi_b32),
    ALU_ROW(bfi, b64, 0, 0, "dddww", bfi_b64),
    ALU_ROW(szext, u32, ALU_M(clamp), 0, "www", szext_clamp_u32),
    ALU_ROW(szext, s32, ALU_M(clamp), 0, "www", szext_clamp_s32),
    ALU_ROW(szext, u32, ALU_M(wrap), 0, "www", szext_wrap_u32),
    ALU_ROW(szext, s32, ALU_M(wrap), 0, "www", szext_wrap_s32),
    ALU_ROW(bmsk, b32, ALU_M(clamp), 0, "www", bmsk_clamp),
    ALU_ROW(bmsk, b32, ALU_M(wrap), 0, "www", bmsk_wrap),
    DOTS(u32, u32),
    DOTS(u32, s32),
    DOTS(s32, u32),
    DOTS(s32, s32),
};

bool isa_bind_integer(struct isa_binder *b, struct insn *in) {
    if (ptx_has(in->src, PTX_MOD_cc))
        return isa_bind_carry(b, in);
    if (!alu_bind(b, in, rows, sizeof rows / sizeof *rows))
        return false;
    ALU_LINKED(add_32, add)
    ALU_LINKED(sub_32, sub)
    ALU_LINKED(mul_lo_32, mul)
    ALU_LINKED(mad_lo_32, mad)
    ALU_LINKED(mul_wide_u32, mul_w_u)
    ALU_LINKED(mul_wide_s32, mul_w_s)
    ALU_LINKED(add_64, add_w)
    return true;
}
