/* cvt and cvt.pack (PTX ISA 9.7.9.21, 9.7.9.22).
 *
 * Integers: 128-bit arithmetic. Floating point: the exact value as a double, or an integer, brought to the destination
 * by searching the destination's values, which are enumerated from the format's definition (5.2.3). */
#include "alu_forms.h"

__extension__ typedef __int128 s128;

enum mode { RN, RZ, RM, RP, RNA };
enum { FTZ = 1, SAT = 2, RELU = 4, SATF = 8 };

/* --- formats ------------------------------------------------------------------------------------------------------ */

/* exp 0: an integer of `man` bits. special: 0 IEEE, 1 only NaN at the top (e4m3), 2 nothing special */
struct type {
    int exp, man, bias, special;
    bool is_signed; /* integers */
};
static const struct type U8 = {0, 8, 0, 0, false}, S8 = {0, 8, 0, 0, true}, U16 = {0, 16, 0, 0, false},
                         S16 = {0, 16, 0, 0, true}, U32 = {0, 32, 0, 0, false}, S32 = {0, 32, 0, 0, true},
                         U64 = {0, 64, 0, 0, false}, S64 = {0, 64, 0, 0, true}, F16 = {5, 10, 15, 0, true},
                         BF16 = {8, 7, 127, 0, true}, F32 = {8, 23, 127, 0, true}, F64 = {11, 52, 1023, 0, true},
                         TF32 = {8, 10, 127, 0, true}, E4M3 = {4, 3, 7, 1, true}, E5M2 = {5, 2, 15, 0, true},
                         E2M3 = {2, 3, 1, 2, true}, E3M2 = {3, 2, 3, 2, true}, E2M1 = {2, 1, 1, 2, true};

static int bits(const struct type *t) { return t->exp ? 1 + t->exp + t->man : t->man; }
static uint64_t low(uint64_t v, int n) { return n >= 64 ? v : v & ((UINT64_C(1) << n) - 1); }

/* A value exactly: sign and magnitude sig * 2^exp. */
struct exact {
    bool neg, nan, inf;
    uint64_t sig;
    int exp;
};
static struct exact decode(const struct type *t, uint64_t code) {
    struct exact x = {0};
    code = low(code, bits(t));
    if (!t->exp) {
        x.neg = t->is_signed && code >> (t->man - 1);
        x.sig = x.neg ? low(0 - code, t->man) : code;
        return x;
    }
    int e = (int)(code >> t->man) & ((1 << t->exp) - 1), top = (1 << t->exp) - 1;
    uint64_t m = low(code, t->man);
    x.neg = code >> (bits(t) - 1);
    if (e == top && t->special == 0) {
        x.nan = m != 0;
        x.inf = !x.nan;
    } else if (e == top && t->special == 1 && m == low(~UINT64_C(0), t->man)) {
        x.nan = true;
    } else {
        x.sig = e ? m | UINT64_C(1) << t->man : m;
        x.exp = (e ? e : 1) - t->bias - t->man;
    }
    return x;
}
/* Sign of |x| - |y|, both finite. */
static int magnitude_order(struct exact x, struct exact y) {
    if (!x.sig || !y.sig)
        return !x.sig && !y.sig ? 0 : x.sig ? 1 : -1;
    int tx = 63 - __builtin_clzll(x.sig) + x.exp, ty = 63 - __builtin_clzll(y.sig) + y.exp;
    if (tx != ty)
        return tx > ty ? 1 : -1;
    uint64_t a = x.sig << __builtin_clzll(x.sig), b = y.sig << __builtin_clzll(y.sig);
    return (a > b) - (a < b);
}
static uint64_t largest(const struct type *t) {
    uint64_t all = low(~UINT64_C(0), t->exp + t->man);
    return t->special == 2 ? all : t->special == 1 ? all - 1 : (all >> t->man << t->man) - 1;
}
static uint64_t nan_of(const struct type *t) {
    return t->special == 2 ? largest(t) : low(~UINT64_C(0), t->exp + t->man);
}
/* The middle of a code and the next, exactly. */
static struct exact middle(const struct type *t, uint64_t code) {
    struct exact x = decode(t, code), y = x;
    struct exact next = code == largest(t) ? (struct exact){.sig = x.sig + 1, .exp = x.exp} : decode(t, code + 1);
    y.exp = x.exp - 1;
    int shift = next.exp - x.exp; /* 0 or 1 */
    y.sig = x.sig + (next.sig << shift);
    return y;
}
static uint64_t encode(const struct type *t, struct exact x, enum mode mode, int mods) {
    uint64_t sign = (uint64_t)x.neg << (bits(t) - 1), max = largest(t);
    if (x.nan)
        return mods & SAT ? 0 : nan_of(t);
    if (x.neg && mods & (RELU | SAT))
        return 0;
    bool away = mode == RN || mode == RNA || (mode == RP && !x.neg) || (mode == RM && x.neg);
    uint64_t code, over = t->special == 2 || mods & SATF ? max : max + 1;
    if (x.inf) {
        code = over;
    } else {
        uint64_t lo = 0, hi = max + 1; /* value(lo) <= |x| */
        while (hi - lo > 1) {
            uint64_t mid = lo + (hi - lo) / 2;
            if (magnitude_order(decode(t, mid), x) <= 0)
                lo = mid;
            else
                hi = mid;
        }
        int inexact = magnitude_order(x, decode(t, lo)), half = magnitude_order(x, middle(t, lo));
        bool up = inexact && (mode == RN ? half > 0 || (half == 0 && lo & 1) : mode == RNA ? half >= 0 : away);
        code = lo + up;
        if (code > max)
            code = over;
    }
    uint64_t one = (uint64_t)t->bias << t->man;
    if (mods & SAT && code > one)
        code = one;
    if (mods & FTZ && t->exp == 8 && t->man == 23 && code < UINT64_C(1) << 23)
        code = 0;
    if (t->special == 1 && code > max)
        return nan_of(t);
    return sign | code;
}
static struct exact flush(const struct type *t, struct exact x, int mods) {
    if (mods & FTZ && t->exp == 8 && t->man == 23 && x.sig && !(x.sig >> 23))
        x.sig = 0;
    return x;
}
/* x rounded to an integer, as sign and magnitude */
static struct exact integral(struct exact x, enum mode mode) {
    if (x.nan || x.inf || x.exp >= 0)
        return x;
    int drop = -x.exp;
    uint64_t whole = drop > 63 ? 0 : x.sig >> drop, rest = drop > 63 ? x.sig : low(x.sig, drop);
    int half = drop > 64 ? -1 : drop == 64 ? (rest > UINT64_C(1) << 63) - (rest < UINT64_C(1) << 63) : 0;
    if (drop < 64)
        half = (rest > UINT64_C(1) << (drop - 1)) - (rest < UINT64_C(1) << (drop - 1));
    bool up =
        rest && (mode == RN ? half > 0 || (half == 0 && whole & 1) : (mode == RP && !x.neg) || (mode == RM && x.neg));
    return (struct exact){.neg = x.neg, .sig = whole + up};
}
static uint64_t to_int(const struct type *d, const struct type *s, struct exact x, enum mode mode) {
    uint64_t top = UINT64_C(1) << (d->man - 1), most = d->is_signed ? top - 1 : low(~UINT64_C(0), d->man);
    if (x.nan) /* 9.7.9.21, Integer Notes */
        return s->exp != 11 && d->man != 64 ? 0 : top;
    if (x.neg && !d->is_signed)
        return 0;
    if (!x.inf)
        x = integral(x, mode);
    bool huge = x.inf || (x.exp > 0 && x.sig && 63 - __builtin_clzll(x.sig) + x.exp > 63);
    uint64_t v = huge ? ~UINT64_C(0) : x.exp > 0 ? x.sig << x.exp : x.sig;
    if (x.neg)
        return low(0 - (v > top ? top : v), d->man);
    return v > most ? most : v;
}
static uint64_t int_to_int(const struct type *d, const struct type *s, uint64_t a, int mods) {
    struct exact x = decode(s, a);
    s128 v = x.neg ? -(s128)x.sig : (s128)x.sig;
    if (mods & SAT) {
        s128 most = ((s128)1 << (d->man - d->is_signed)) - 1, least = d->is_signed ? -most - 1 : 0;
        v = v > most ? most : v < least ? least : v;
    }
    return low((uint64_t)v, d->man);
}

/* --- references --------------------------------------------------------------------------------------------------- */

/* The ISA leaves NaN codes open. As an H200 gives them: conversions from f64 keep sign and payload, cvt.f32.bf16
 * appends zeros, and the rest is the canonical NaN. */
static bool kept_nan(const struct type *d, const struct type *s, uint64_t a, uint64_t *code) {
    if (s == &F64)
        *code = (a >> 63) << (bits(d) - 1) | nan_of(&(struct type){d->exp, 0, 0, 0, true}) << d->man |
                UINT64_C(1) << (d->man - 1) | low(a, 52) >> (52 - d->man);
    else
        *code = low(a, 16) << 16;
    return s == &F64 || (s == &BF16 && d == &F32);
}
static uint64_t convert(const struct type *d, const struct type *s, uint64_t a, enum mode mode, int mods) {
    uint64_t code;
    if (!d->exp && !s->exp)
        return int_to_int(d, s, a, mods);
    struct exact x = flush(s, decode(s, a), mods);
    if (x.nan && d->exp && !(mods & SAT) && kept_nan(d, s, a, &code))
        return code;
    return d->exp ? encode(d, x, mode, mods) : to_int(d, s, x, mode);
}
static uint64_t round_same(const struct type *t, uint64_t a, enum mode mode, int mods) {
    return encode(t, integral(flush(t, decode(t, a), mods), mode), RN, mods);
}
#define CVT(name, D, S, mode, mods)                                                                                    \
    static uint64_t name(const struct alu_in *in) { return convert(&D, &S, in->a, mode, mods); }
#define CVT_EXT(name, D, S, mode, mods, to)                                                                            \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        uint64_t v = convert(&D, &S, in->a, mode, mods);                                                               \
        return low(D.is_signed && !D.exp && v >> (D.man - 1) ? v | ~low(~UINT64_C(0), D.man) : v, to);                 \
    }

/* name(lower), TYPE, width letter of its natural register, bits of that register; u8 and s8 live in .b16 registers */
#define INTS(F, ...)                                                                                                   \
    F(u8, U8, h, 16, __VA_ARGS__)                                                                                      \
    F(s8, S8, h, 16, __VA_ARGS__)                                                                                      \
    F(u16, U16, h, 16, __VA_ARGS__)                                                                                    \
    F(s16, S16, h, 16, __VA_ARGS__)                                                                                    \
    F(u32, U32, w, 32, __VA_ARGS__)                                                                                    \
    F(s32, S32, w, 32, __VA_ARGS__) F(u64, U64, l, 64, __VA_ARGS__) F(s64, S64, l, 64, __VA_ARGS__)
#define INTS2(F, ...)                                                                                                  \
    F(u8, U8, h, 16, __VA_ARGS__)                                                                                      \
    F(s8, S8, h, 16, __VA_ARGS__)                                                                                      \
    F(u16, U16, h, 16, __VA_ARGS__)                                                                                    \
    F(s16, S16, h, 16, __VA_ARGS__)                                                                                    \
    F(u32, U32, w, 32, __VA_ARGS__)                                                                                    \
    F(s32, S32, w, 32, __VA_ARGS__) F(u64, U64, l, 64, __VA_ARGS__) F(s64, S64, l, 64, __VA_ARGS__)
#define FLTS(F, ...)                                                                                                   \
    F(f16, F16, h, 16, __VA_ARGS__)                                                                                    \
    F(bf16, BF16, h, 16, __VA_ARGS__) F(f32, F32, w, 32, __VA_ARGS__) F(f64, F64, l, 64, __VA_ARGS__)

/* int -> int, with .sat where the range allows it (a refused form would fail), and from and into wider registers */
#define DEF_II2(d, D, dr, db, s, S, sr, sb) CVT_EXT(ii_##d##_##s, D, S, RN, 0, db)
#define DEF_II(s, S, sr, sb, x) INTS2(DEF_II2, s, S, sr, sb)
#define ROW_II2(d, D, dr, db, s, S, sr, sb) {"cvt." #d "." #s " %d" #dr ", %a" #sr ";", #dr[0], ii_##d##_##s},
#define ROW_II(s, S, sr, sb, x) INTS2(ROW_II2, s, S, sr, sb)
INTS(DEF_II, 0)

#define FOUR(F, ...) F(rn, RN, __VA_ARGS__) F(rz, RZ, __VA_ARGS__) F(rm, RM, __VA_ARGS__) F(rp, RP, __VA_ARGS__)
/* int -> float */
#define DEF_IF3(m, M, d, D, dr, s, S, sr) CVT(if_##m##_##d##_##s, D, S, M, 0)
#define DEF_IF2(s, S, sr, sb, d, D, dr, db) FOUR(DEF_IF3, d, D, dr, s, S, sr)
#define DEF_IF(d, D, dr, db, x) INTS2(DEF_IF2, d, D, dr, db)
#define ROW_IF3(m, M, d, D, dr, s, S, sr)                                                                              \
    {"cvt." #m "." #d "." #s " %d" #dr ", %a" #sr ";", #dr[0] == 'l' ? 'D' : #dr[0], if_##m##_##d##_##s},
#define ROW_IF2(s, S, sr, sb, d, D, dr, db) FOUR(ROW_IF3, d, D, dr, s, S, sr)
#define ROW_IF(d, D, dr, db, x) INTS2(ROW_IF2, d, D, dr, db)
FLTS(DEF_IF, 0)
/* float -> int */
#define DEF_FI3(m, M, d, D, dr, db, s, S, sr) CVT_EXT(fi_##m##_##d##_##s, D, S, M, 0, db)
#define DEF_FI2(d, D, dr, db, s, S, sr, sb) FOUR(DEF_FI3, d, D, dr, db, s, S, sr)
#define DEF_FI(s, S, sr, sb, x) INTS2(DEF_FI2, s, S, sr, sb)
#define ROW_FI3(m, M, d, D, dr, db, s, S, sr)                                                                          \
    {"cvt." #m "i." #d "." #s " %d" #dr ", %a" #sr ";", #dr[0], fi_##m##_##d##_##s},
#define ROW_FI2(d, D, dr, db, s, S, sr, sb) FOUR(ROW_FI3, d, D, dr, db, s, S, sr)
#define ROW_FI(s, S, sr, sb, x) INTS2(ROW_FI2, s, S, sr, sb)
FLTS(DEF_FI, 0)
/* float -> the same float: integral values, and plain copies with .sat and .ftz */
#define INTEGRAL(m, M, t, T, r)                                                                                        \
    static uint64_t same_##m##_##t(const struct alu_in *in) { return round_same(&T, in->a, M, 0); }
#define DEF_SAME(t, T, r, b, x) FOUR(INTEGRAL, t, T, r)
#define ROW_SAME2(m, M, t, T, r)                                                                                       \
    {"cvt." #m "i." #t "." #t " %d" #r ", %a" #r ";", #r[0] == 'l' ? 'D' : #r[0], same_##m##_##t},
#define ROW_SAME(t, T, r, b, x) FOUR(ROW_SAME2, t, T, r)
FLTS(DEF_SAME, 0)
/* Moves, NaNs too (measured on an H200) */
static uint64_t same_f32(const struct alu_in *in) { return low(in->a, 32); }
static uint64_t same_f64(const struct alu_in *in) { return in->a; }
static uint64_t same_ftz(const struct alu_in *in) { return round_same(&F32, in->a, RP, FTZ); }
static uint64_t same_sat(const struct alu_in *in) { return round_same(&F32, in->a, RN, SAT); }
/* float -> narrower or equally wide float */
#define NARROWING(F)                                                                                                   \
    F(f16, F16, h, bf16, BF16, h)                                                                                      \
    F(f16, F16, h, f32, F32, w)                                                                                        \
    F(f16, F16, h, f64, F64, l)                                                                                        \
    F(bf16, BF16, h, f16, F16, h)                                                                                      \
    F(bf16, BF16, h, f32, F32, w) F(bf16, BF16, h, f64, F64, l) F(f32, F32, w, f64, F64, l)
#define DEF_FF2(m, M, d, D, dr, s, S, sr) CVT(ff_##m##_##d##_##s, D, S, M, 0)
#define DEF_FF(d, D, dr, s, S, sr) FOUR(DEF_FF2, d, D, dr, s, S, sr)
#define ROW_FF2(m, M, d, D, dr, s, S, sr)                                                                              \
    {"cvt." #m "." #d "." #s " %d" #dr ", %a" #sr ";", #dr[0], ff_##m##_##d##_##s},
#define ROW_FF(d, D, dr, s, S, sr) FOUR(ROW_FF2, d, D, dr, s, S, sr)
NARROWING(DEF_FF)
#define WIDENING(F)                                                                                                    \
    F(f32, F32, w, f16, F16, h)                                                                                        \
    F(f32, F32, w, bf16, BF16, h)                                                                                      \
    F(f64, F64, l, f16, F16, h) F(f64, F64, l, bf16, BF16, h) F(f64, F64, l, f32, F32, w)
#define DEF_W(d, D, dr, s, S, sr) CVT(wide_##d##_##s, D, S, RN, 0)
#define ROW_W(d, D, dr, s, S, sr)                                                                                      \
    {"cvt." #d "." #s " %d" #dr ", %a" #sr ";", #dr[0] == 'l' ? 'D' : #dr[0], wide_##d##_##s},
WIDENING(DEF_W)
CVT(copy_sat32, F32, F32, RN, SAT)
CVT(copy_ftz32, F32, F32, RN, FTZ)
CVT(copy_sat64, F64, F64, RN, SAT)
CVT(sat_f16_f32, F16, F32, RZ, SAT)
CVT(ftz_f16_f32, F16, F32, RN, FTZ)
CVT(ftz_f32_f64, F32, F64, RN, FTZ)
CVT(sat_f32_s32, F32, S32, RN, SAT)
CVT(ftz_s32_f32, S32, F32, RP, FTZ)
CVT(zero_s32_f32, S32, F32, RZ, FTZ)
CVT(zero_u32_f32, U32, F32, RZ, FTZ)
CVT(ftz_f32_f16, F32, F16, RN, FTZ)
CVT(relu_f16, F16, F32, RN, RELU)
CVT(satf_f16, F16, F32, RZ, SATF)
CVT(both_bf16, BF16, F32, RN, RELU | SATF)
CVT(relu_bf16, BF16, F32, RZ, RELU)
CVT(sat_u8_s32, U8, S32, RN, SAT)
CVT_EXT(sat_s8_s32, S8, S32, RN, SAT, 32)
CVT(sat_u16_s16, U16, S16, RN, SAT)
CVT(sat_s32_u32, S32, U32, RN, SAT)
CVT(sat_u32_s64, U32, S64, RN, SAT)
CVT(sat_s64_u64, S64, U64, RN, SAT)
/* registers wider than the types */
CVT_EXT(reg_s8_64, S8, S32, RN, 0, 64)
CVT_EXT(reg_u8_64, U8, S32, RN, 0, 64)
CVT_EXT(reg_s16_32, S16, F32, RZ, 0, 32)
CVT_EXT(reg_u32_64, U32, S16, RN, 0, 64)
CVT_EXT(src_s8_w, S32, S8, RN, 0, 32)
CVT(src_u16_l, U32, U16, RN, 0)
CVT(src_f16_w, F32, F16, RN, 0)

/* --- packed formats ----------------------------------------------------------------------------------------------- */

static uint64_t pair(const struct type *d, const struct type *s, uint64_t hi, uint64_t lo, int field, enum mode m,
                     int mods) {
    return convert(d, s, hi, m, mods) << field | convert(d, s, lo, m, mods);
}
#define TWO(name, D, field, mode, mods)                                                                                \
    static uint64_t name(const struct alu_in *in) { return pair(&D, &F32, in->a, in->b, field, mode, mods); }
#define HALVES(name, D, S, sbits, field, mode, mods)                                                                   \
    static uint64_t name(const struct alu_in *in) { return pair(&D, &S, in->a >> sbits, in->a, field, mode, mods); }
TWO(two_f16, F16, 16, RN, 0)
TWO(two_f16z, F16, 16, RZ, 0)
TWO(two_f16rs, F16, 16, RN, RELU | SATF)
TWO(two_bf16, BF16, 16, RN, 0)
TWO(two_bf16z, BF16, 16, RZ, SATF)
TWO(two_bf16r, BF16, 16, RN, RELU)
#define NARROW_REFS(t, T, field)                                                                                       \
    TWO(two_##t, T, field, RN, SATF)                                                                                   \
    TWO(two_relu_##t, T, field, RN, SATF | RELU)                                                                       \
    HALVES(f16_##t, T, F16, 16, field, RN, SATF)                                                                       \
    HALVES(bf16_relu_##t, T, BF16, 16, field, RN, SATF | RELU)                                                         \
    HALVES(up_##t, F16, T, field, 16, RN, 0)                                                                           \
    HALVES(up_relu_##t, F16, T, field, 16, RN, RELU)
NARROW_REFS(e4m3, E4M3, 8)
NARROW_REFS(e5m2, E5M2, 8)
NARROW_REFS(e2m3, E2M3, 8)
NARROW_REFS(e3m2, E3M2, 8)
NARROW_REFS(e2m1, E2M1, 4)
#define NARROW_ROWS(t, dst)                                                                                            \
    {"cvt.rn.satfinite." #t "x2.f32 %dh, %aw, %bw;", 'h', two_##t},                                                    \
        {"cvt.rn.satfinite.relu." #t "x2.f32 %dh, %aw, %bw;", 'h', two_relu_##t},                                      \
        {"cvt.rn.satfinite." #t "x2.f16x2 %dh, %aw;", 'h', f16_##t},                                                   \
        {"cvt.rn.satfinite.relu." #t "x2.bf16x2 %dh, %aw;", 'h', bf16_relu_##t},                                       \
        {"cvt.rn.f16x2." #t "x2 %dw, %ah;", 'w', up_##t}, {                                                            \
        "cvt.rn.relu.f16x2." #t "x2 %dw, %ah;", 'w', up_relu_##t                                                       \
    }

/* tf32: 13 low bits are zero, of NaN too; .rna without .satfinite cuts a NaN (measured on an H200) */
static uint64_t tf32(const struct alu_in *in, enum mode m, int mods) {
    struct exact x = decode(&F32, in->a);
    if (x.nan && m == RNA && !mods)
        return low(in->a, 32) & 0xffffe000;
    return encode(&TF32, x, m, mods) << 13;
}
#define TF(name, m, mods)                                                                                              \
    static uint64_t name(const struct alu_in *in) { return tf32(in, m, mods); }
TF(tf32_rna, RNA, 0)
TF(tf32_rnas, RNA, SATF)
TF(tf32_rn, RN, 0)
TF(tf32_rzr, RZ, RELU)
TF(tf32_rns, RN, SATF | RELU)

/* ue8m0: the power of two below or above the magnitude (5.2.3) */
static uint64_t power(struct exact x, bool up, bool satf) {
    if (x.nan)
        return 0xff;
    if (x.inf)
        return satf ? 0xfe : 0xff;
    if (!x.sig)
        return 0;
    int top = 63 - __builtin_clzll(x.sig), e = top + x.exp + (up && low(x.sig, top));
    return e < -127 ? 0 : e > 127 ? (satf ? 0xfe : 0xff) : (uint64_t)(e + 127);
}
#define UE(name, S, up, satf, hi, lo)                                                                                  \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        return power(decode(&S, hi), up, satf) << 8 | power(decode(&S, lo), up, satf);                                 \
    }
UE(ue_rz, F32, false, false, in->a, in->b)
UE(ue_rp, F32, true, false, in->a, in->b)
UE(ue_rps, F32, true, true, in->a, in->b)
UE(ue_bf, BF16, true, true, in->a >> 16, in->a)
UE(ue_bfz, BF16, false, false, in->a >> 16, in->a)
static uint64_t up_scale(uint64_t c) { return (c & 0xff) == 0xff ? 0x7fff : (c & 0xff) ? (c & 0xff) << 7 : 0x40; }
static uint64_t ue_up(const struct alu_in *in) { return up_scale(in->a >> 8) << 16 | up_scale(in->a); }

/* s2f6 = s8 / 64 (5.2.4) with ue8m0 scales */
static uint64_t to_s2f6(double x, uint64_t scale, bool relu) {
    x /= (scale & 0xff) == 0xff ? NAN : ldexp(1, (int)(scale & 0xff) - 127);
    if (isnan(x))
        return 0x7f;
    if (signbit(x) && relu)
        return 0;
    double v = x * 64;
    v = v > 127 ? 127 : v < -128 ? -128 : nearbyint(v);
    return (uint8_t)(int8_t)v;
}
static double f32(uint64_t b) {
    float f;
    uint32_t w = (uint32_t)b;
    memcpy(&f, &w, 4);
    return f;
}
static double bf16(uint64_t b) { return f32((b & 0xffff) << 16); }
static uint64_t s2f6_plain(const struct alu_in *in) {
    return to_s2f6(f32(in->a), 0x7f, false) << 8 | to_s2f6(f32(in->b), 0x7f, false);
}
static uint64_t s2f6_scaled(const struct alu_in *in) {
    return to_s2f6(f32(in->a), in->c >> 8, true) << 8 | to_s2f6(f32(in->b), in->c, true);
}
static uint64_t s2f6_bf16(const struct alu_in *in) {
    return to_s2f6(bf16(in->a >> 16), in->c >> 8, false) << 8 | to_s2f6(bf16(in->a), in->c, false);
}
static uint64_t from_s2f6(uint64_t v) {
    return convert(&BF16, &F64,
                   (union {
                       double d;
                       uint64_t u;
                   }){(int8_t)v / 64.0}
                       .u,
                   RN, 0);
}
static uint64_t s2f6_up(const struct alu_in *in) { return from_s2f6(in->a >> 8) << 16 | from_s2f6(in->a); }

/* .rs: away from zero with the carry of the random bits into the kept mantissa; only values whose discarded part is the
 * plain 13 or 16 bits, others are zeroed first */
static uint64_t stochastic(uint64_t a, uint64_t r, int drop, int man, int bias) {
    uint32_t w = (uint32_t)a, e = w >> 23 & 0xff;
    if (e < 127 - 13 || e > 127 + 13)
        return 0x5555;
    uint32_t m = (w & 0x7fffffff) + (uint32_t)(r & ((1u << drop) - 1));
    uint32_t kept = m >> drop;
    kept -= (uint32_t)(127 - bias) << man;
    return (w >> 31) << 15 | kept;
}
static uint64_t rs_pair(const struct alu_in *in, int drop, int man, int bias) {
    uint64_t hi = stochastic(in->a, in->c >> 16, drop, man, bias), lo = stochastic(in->b, in->c, drop, man, bias);
    return hi << 16 | lo;
}
static uint64_t rs_f16(const struct alu_in *in) { return rs_pair(in, 13, 10, 15); }
static uint64_t rs_bf16(const struct alu_in *in) { return rs_pair(in, 16, 7, 127); }
/* replaces results outside the tested exponents by the reference's marker */
#define RS(form)                                                                                                       \
    form " { .reg .b32 %x, %y; .reg .pred %s, %t; shr.u32 %x, %aw, 23; and.b32 %x, %x, 255; sub.s32 %x, "              \
         "%x, 114; "                                                                                                   \
         "setp.gt.u32 %s, %x, 26; shr.u32 %y, %bw, 23; and.b32 %y, %y, 255; sub.s32 %y, %y, 114; "                     \
         "setp.gt.u32 %t, %y, 26; "                                                                                    \
         "@%s and.b32 %dw, %dw, 0xffff; @%s or.b32 %dw, %dw, 0x55550000; @%t and.b32 %dw, %dw, 0xffff0000; "           \
         "@%t or.b32 %dw, %dw, 0x5555; }"

/* 9.7.9.22 */
static uint64_t clamp(uint64_t a, int n, bool sgn) {
    s128 v = (int32_t)a, most = ((s128)1 << (n - sgn)) - 1, least = sgn ? -most - 1 : 0;
    return low((uint64_t)(v > most ? most : v < least ? least : v), n);
}
#define PACK(name, n, sgn)                                                                                             \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        return low(clamp(in->b, n, sgn) | clamp(in->a, n, sgn) << n | (n == 16 ? 0 : in->c << (2 * n)), 32);           \
    }
PACK(pack_u16, 16, false)
PACK(pack_s16, 16, true)
PACK(pack_u8, 8, false)
PACK(pack_s8, 8, true)
PACK(pack_u4, 4, false)
PACK(pack_s4, 4, true)
PACK(pack_u2, 2, false)
PACK(pack_s2, 2, true)
static uint64_t e2m1_byte(const struct alu_in *in) { return two_e2m1(in) << 8 | 0x21; }

static const struct alu_case cases[] = {
    INTS(ROW_II, 0) FLTS(ROW_IF, 0) FLTS(ROW_FI, 0) FLTS(ROW_SAME, 0) NARROWING(ROW_FF)
        WIDENING(ROW_W){"cvt.rpi.ftz.f32.f32 %dw, %aw;", 'w', same_ftz},
    {"cvt.rni.sat.f32.f32 %dw, %aw;", 'w', same_sat},
    {"cvt.f32.f32 %dw, %aw;", 'w', same_f32},
    {"cvt.f64.f64 %dl, %al;", 'l', same_f64},
    {"cvt.sat.f32.f32 %dw, %aw;", 'w', copy_sat32},
    {"cvt.ftz.f32.f32 %dw, %aw;", 'w', copy_ftz32},
    {"cvt.sat.f64.f64 %dl, %al;", 'D', copy_sat64},
    {"cvt.rz.sat.f16.f32 %dh, %aw;", 'h', sat_f16_f32},
    {"cvt.rn.ftz.f16.f32 %dh, %aw;", 'h', ftz_f16_f32},
    {"cvt.rn.ftz.f32.f64 %dw, %al;", 'w', ftz_f32_f64},
    {"cvt.rn.sat.f32.s32 %dw, %aw;", 'w', sat_f32_s32},
    {"cvt.rpi.ftz.s32.f32 %dw, %aw;", 'w', ftz_s32_f32},
    {"cvt.rpi.ftz.sat.s32.f32 %dw, %aw;", 'w', ftz_s32_f32},
    {"cvt.rzi.ftz.s32.f32 %dw, %aw;", 'w', zero_s32_f32},
    {"cvt.rzi.ftz.u32.f32 %dw, %aw;", 'w', zero_u32_f32},
    {"cvt.ftz.f32.f16 %dw, %ah;", 'w', ftz_f32_f16},
    {"cvt.rn.relu.f16.f32 %dh, %aw;", 'h', relu_f16},
    {"cvt.rz.satfinite.f16.f32 %dh, %aw;", 'h', satf_f16},
    {"cvt.rn.relu.satfinite.bf16.f32 %dh, %aw;", 'h', both_bf16},
    {"cvt.rz.relu.bf16.f32 %dh, %aw;", 'h', relu_bf16},
    {"cvt.sat.u8.s32 %dw, %aw;", 'w', sat_u8_s32},
    {"cvt.sat.s8.s32 %dw, %aw;", 'w', sat_s8_s32},
    {"cvt.sat.u16.s16 %dh, %ah;", 'h', sat_u16_s16},
    {"cvt.sat.s32.u32 %dw, %aw;", 'w', sat_s32_u32},
    {"cvt.sat.u32.s64 %dw, %al;", 'w', sat_u32_s64},
    {"cvt.sat.s64.u64 %dl, %al;", 'l', sat_s64_u64},
    {"cvt.s8.s32 %dl, %aw;", 'l', reg_s8_64},
    {"cvt.u8.s32 %dl, %aw;", 'l', reg_u8_64},
    {"cvt.rzi.s16.f32 %dw, %aw;", 'w', reg_s16_32},
    {"cvt.u32.s16 %dl, %ah;", 'l', reg_u32_64},
    {"cvt.s32.s8 %dw, %aw;", 'w', src_s8_w},
    {"cvt.u32.u16 %dw, %al;", 'w', src_u16_l},
    {"cvt.f32.f16 %dw, %aw;", 'w', src_f16_w},
    /* pairs */
    {"cvt.rn.f16x2.f32 %dw, %aw, %bw;", 'w', two_f16},
    {"cvt.rz.f16x2.f32 %dw, %aw, %bw;", 'w', two_f16z},
    {"cvt.rn.relu.satfinite.f16x2.f32 %dw, %aw, %bw;", 'w', two_f16rs},
    {"cvt.rn.bf16x2.f32 %dw, %aw, %bw;", 'w', two_bf16},
    {"cvt.rz.satfinite.bf16x2.f32 %dw, %aw, %bw;", 'w', two_bf16z},
    {"cvt.rn.relu.bf16x2.f32 %dw, %aw, %bw;", 'w', two_bf16r},
    NARROW_ROWS(e4m3, h),
    NARROW_ROWS(e5m2, h),
    NARROW_ROWS(e2m3, h),
    NARROW_ROWS(e3m2, h),
    NARROW_ROWS(e2m1, h),
    {"{ .reg .b8 %x, %y; mov.b16 {%y, _}, 0x21; cvt.rn.satfinite.e2m1x2.f32 %x, %aw, %bw; mov.b16 %dh, {%y, "
     "%x}; }",
     'h', e2m1_byte},
    {"cvt.rna.tf32.f32 %dw, %aw;", 'w', tf32_rna},
    {"cvt.rna.satfinite.tf32.f32 %dw, %aw;", 'w', tf32_rnas},
    {"cvt.rn.tf32.f32 %dw, %aw;", 'w', tf32_rn},
    {"cvt.rz.relu.tf32.f32 %dw, %aw;", 'w', tf32_rzr},
    {"cvt.rn.satfinite.relu.tf32.f32 %dw, %aw;", 'w', tf32_rns},
    {"cvt.rz.ue8m0x2.f32 %dh, %aw, %bw;", 'h', ue_rz},
    {"cvt.rp.ue8m0x2.f32 %dh, %aw, %bw;", 'h', ue_rp},
    {"cvt.rp.satfinite.ue8m0x2.f32 %dh, %aw, %bw;", 'h', ue_rps},
    {"cvt.rp.satfinite.ue8m0x2.bf16x2 %dh, %aw;", 'h', ue_bf},
    {"cvt.rz.ue8m0x2.bf16x2 %dh, %aw;", 'h', ue_bfz},
    {"cvt.rn.bf16x2.ue8m0x2 %dw, %ah;", 'w', ue_up},
    {"cvt.rn.satfinite.s2f6x2.f32 %dh, %aw, %bw;", 'h', s2f6_plain},
    {"cvt.rn.satfinite.relu.scaled::n2::ue8m0.s2f6x2.f32 %dh, %aw, %bw, %ch;", 'h', s2f6_scaled},
    {"cvt.rn.satfinite.scaled::n2::ue8m0.s2f6x2.bf16x2 %dh, %aw, %ch;", 'h', s2f6_bf16},
    {"cvt.rn.bf16x2.s2f6x2 %dw, %ah;", 'w', s2f6_up},
    {RS("cvt.rs.f16x2.f32 %dw, %aw, %bw, %cw;"), 'w', rs_f16},
    {RS("cvt.rs.bf16x2.f32 %dw, %aw, %bw, %cw;"), 'w', rs_bf16},
    {"cvt.pack.sat.u16.s32 %dw, %aw, %bw;", 'w', pack_u16},
    {"cvt.pack.sat.s16.s32 %dw, %aw, %bw;", 'w', pack_s16},
    {"cvt.pack.sat.u8.s32.b32 %dw, %aw, %bw, %cw;", 'w', pack_u8},
    {"cvt.pack.sat.s8.s32.b32 %dw, %aw, %bw, %cw;", 'w', pack_s8},
    {"cvt.pack.sat.u4.s32.b32 %dw, %aw, %bw, %cw;", 'w', pack_u4},
    {"cvt.pack.sat.s4.s32.b32 %dw, %aw, %bw, %cw;", 'w', pack_s4},
    {"cvt.pack.sat.u2.s32.b32 %dw, %aw, %bw, %cw;", 'w', pack_u2},
    {"cvt.pack.sat.s2.s32.b32 %dw, %aw, %bw, %cw;", 'w', pack_s2},
};

static const struct alu_refusal refusals[] = {
    {"cvt.s32.f32 %dw, %aw;", "needs a rounding modifier"},
    {"cvt.f32.s32 %dw, %aw;", "needs a rounding modifier"},
    {"cvt.f32.f64 %dw, %al;", "needs a rounding modifier"},
    {"cvt.rn.s32.f32 %dw, %aw;", "does not go with"},
    {"cvt.rni.f32.s32 %dw, %aw;", "does not go with"},
    {"cvt.rn.s32.s16 %dw, %ah;", "does not go with"},
    {"cvt.sat.s32.s16 %dw, %ah;", "holds every source value"},
    {"cvt.sat.u64.u32 %dl, %aw;", "holds every source value"},
    {"cvt.ftz.f64.f16 %dl, %ah;", ".ftz is for"},
    {"cvt.rm.relu.f16.f32 %dh, %aw;", "need .rn or .rz"},
    {"cvt.u32.u64 %dh, %al;", "not a register that holds"},
    {"cvt.u64.u32 %dl, %ah;", "not a register that holds"},
    {"cvt.rn.e4m3x2.f32 %dh, %aw, %bw;", "not one of cvt's forms"},
    {"cvt.rm.f16x2.f32 %dw, %aw, %bw;", "not one of cvt's forms"},
    {"cvt.rn.ue8m0x2.f32 %dh, %aw, %bw;", "not one of cvt's forms"},
    {"cvt.rs.satfinite.e4m3x4.f32 %dw, {%aw, %bw, %cw, %ew}, %aw;", "random bits"},
    {"cvt.pack.u16.s32 %dw, %aw, %bw;", "cvt.pack's forms"},
    {"cvt.pack.sat.u8.s32 %dw, %aw, %bw;", "cvt.pack's forms"},
};

int main(void) {
    alu_check(cases, sizeof cases / sizeof *cases);
    alu_check_refused(refusals, sizeof refusals / sizeof *refusals);
    return check_report();
}
