/* Integer arithmetic (PTX ISA 9.7.1, 9.7.2): every form against bit loops and wide arithmetic written from the text. */
#include "alu_forms.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* Value of the low n bits of v. */
static s128 sx(uint64_t v, unsigned n) {
    s128 x = 0;
    for (unsigned i = 0; i < n; i++)
        if (v >> i & 1)
            x += i == n - 1 ? -((s128)1 << i) : (s128)1 << i;
    return x;
}
static s128 zx(uint64_t v, unsigned n) {
    s128 x = 0;
    for (unsigned i = 0; i < n; i++)
        if (v >> i & 1)
            x += (s128)1 << i;
    return x;
}
static uint64_t cut(s128 v, unsigned n) { return (uint64_t)v & (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1); }
static s128 least(unsigned n) { return -((s128)1 << (n - 1)); }
static s128 most(unsigned n) { return ((s128)1 << (n - 1)) - 1; }
static s128 limit(s128 v, unsigned n) { return v < least(n) ? least(n) : v > most(n) ? most(n) : v; }
/* Bits hi..lo of the product of two n-bit values. */
static u128 product(uint64_t a, uint64_t b, unsigned n, bool sgn) {
    return sgn ? (u128)(sx(a, n) * sx(b, n)) : (u128)zx(a, n) * (u128)zx(b, n);
}
static s128 high(uint64_t a, uint64_t b, unsigned n, bool sgn) {
    u128 t = product(a, b, n, sgn);
    return sgn ? sx((uint64_t)(t >> n), n) : zx((uint64_t)(t >> n), n);
}
static s128 quotient(s128 a, s128 b) { return b ? a / b : -1; }
static s128 remainder_(s128 a, s128 b) { return b ? a - a / b * b : -1; }
static s128 magnitude(s128 a) { return a < 0 ? -a : a; }

#define REF(name, expr)                                                                                                \
    static uint64_t name(const struct alu_in *in) {                                                                    \
        const uint64_t a = in->a, b = in->b, c = in->c, e = in->e;                                                     \
        (void)a, (void)b, (void)c, (void)e;                                                                            \
        return (expr);                                                                                                 \
    }
/* X: sx or zx; n the width */
#define FAMILY(T, X, n, S)                                                                                             \
    REF(add_##T, cut(X(a, n) + X(b, n), n))                                                                            \
    REF(sub_##T, cut(X(a, n) - X(b, n), n))                                                                            \
    REF(mul_lo_##T, cut((s128)product(a, b, n, S), n))                                                                 \
    REF(mul_hi_##T, cut(high(a, b, n, S), n))                                                                          \
    REF(mad_lo_##T, cut((s128)(product(a, b, n, S) + (u128)X(c, n)), n))                                               \
    REF(mad_hi_##T, cut(high(a, b, n, S) + X(c, n), n))                                                                \
    REF(sad_##T, cut(X(c, n) + magnitude(X(a, n) - X(b, n)), n))                                                       \
    REF(div_##T, cut(quotient(X(a, n), X(b, n)), n))                                                                   \
    REF(rem_##T, cut(remainder_(X(a, n), X(b, n)), n))                                                                 \
    REF(min_##T, cut(X(a, n) < X(b, n) ? X(a, n) : X(b, n), n))                                                        \
    REF(max_##T, cut(X(a, n) > X(b, n) ? X(a, n) : X(b, n), n))
FAMILY(u16, zx, 16, false)
FAMILY(s16, sx, 16, true)
FAMILY(u32, zx, 32, false)
FAMILY(s32, sx, 32, true)
FAMILY(u64, zx, 64, false)
FAMILY(s64, sx, 64, true)
REF(add_sat, cut(limit(sx(a, 32) + sx(b, 32), 32), 32))
REF(sub_sat, cut(limit(sx(a, 32) - sx(b, 32), 32), 32))
REF(mad_hi_sat, cut(limit(high(a, b, 32, true) + sx(c, 32), 32), 32))
REF(mul_wide_u16, cut((s128)product(a, b, 16, false), 32))
REF(mul_wide_s16, cut((s128)product(a, b, 16, true), 32))
REF(mul_wide_u32, cut((s128)product(a, b, 32, false), 64))
REF(mul_wide_s32, cut((s128)product(a, b, 32, true), 64))
REF(mad_wide_u16, cut((s128)product(a, b, 16, false) + sx(c, 32), 32))
REF(mad_wide_s16, cut((s128)product(a, b, 16, true) + sx(c, 32), 32))
REF(mad_wide_u32, cut((s128)product(a, b, 32, false) + sx(c, 64), 64))
REF(mad_wide_s32, cut((s128)product(a, b, 32, true) + sx(c, 64), 64))
REF(mul24_lo_u32, cut(zx(a, 24) * zx(b, 24), 32))
REF(mul24_lo_s32, cut(sx(a, 24) * sx(b, 24), 32))
REF(mul24_hi_u32, cut(zx(a, 24) * zx(b, 24) >> 16, 32))
REF(mul24_hi_s32, cut(sx(a, 24) * sx(b, 24) >> 16, 32))
REF(mad24_lo_u32, cut(zx(a, 24) * zx(b, 24) + zx(c, 32), 32))
REF(mad24_lo_s32, cut(sx(a, 24) * sx(b, 24) + sx(c, 32), 32))
REF(mad24_hi_u32, cut((zx(a, 24) * zx(b, 24) >> 16) + zx(c, 32), 32))
REF(mad24_hi_s32, cut((sx(a, 24) * sx(b, 24) >> 16) + sx(c, 32), 32))
REF(mad24_hi_sat, cut(limit((sx(a, 24) * sx(b, 24) >> 16) + sx(c, 32), 32), 32))
REF(abs_s16, cut(magnitude(sx(a, 16)), 16))
REF(abs_s32, cut(magnitude(sx(a, 32)), 32))
REF(abs_s64, cut(magnitude(sx(a, 64)), 64))
REF(neg_s16, cut(-sx(a, 16), 16))
REF(neg_s32, cut(-sx(a, 32), 32))
REF(neg_s64, cut(-sx(a, 64), 64))

#define HALVES(f) (f(a & 0xffff, b & 0xffff) | f(a >> 16 & 0xffff, b >> 16 & 0xffff) << 16)
static uint64_t h_add(uint64_t a, uint64_t b) { return (a + b) & 0xffff; }
static uint64_t h_minu(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t h_maxu(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t h_mins(uint64_t a, uint64_t b) { return sx(a, 16) < sx(b, 16) ? a : b; }
static uint64_t h_maxs(uint64_t a, uint64_t b) { return sx(a, 16) > sx(b, 16) ? a : b; }
static uint64_t h_minr(uint64_t a, uint64_t b) { return h_mins(a, b) & 0x8000 ? 0 : h_mins(a, b); }
static uint64_t h_maxr(uint64_t a, uint64_t b) { return h_maxs(a, b) & 0x8000 ? 0 : h_maxs(a, b); }
REF(add_x2, HALVES(h_add))
REF(min_u16x2, HALVES(h_minu))
REF(max_u16x2, HALVES(h_maxu))
REF(min_s16x2, HALVES(h_mins))
REF(max_s16x2, HALVES(h_maxs))
REF(min_relu_s16x2, HALVES(h_minr))
REF(max_relu_s16x2, HALVES(h_maxr))
REF(min_relu_s32, min_s32(in) >> 31 ? 0 : min_s32(in))
REF(max_relu_s32, max_s32(in) >> 31 ? 0 : max_s32(in))

/* 9.7.1.14 - 9.7.1.22, as the sections' own pseudo-code */
static uint64_t ones(uint64_t a, unsigned n) {
    uint64_t d = 0;
    for (unsigned i = 0; i < n; i++)
        d += a >> i & 1;
    return d;
}
static uint64_t leading(uint64_t a, unsigned n) {
    uint64_t d = 0;
    while (d < n && !(a >> (n - 1 - d) & 1))
        d++;
    return d;
}
static uint64_t bfind(uint64_t a, unsigned n, bool sgn, bool shift) {
    if (sgn && a >> (n - 1) & 1)
        a = ~a;
    for (int i = (int)n - 1; i >= 0; i--)
        if (a >> i & 1)
            return shift ? n - 1 - (unsigned)i : (unsigned)i;
    return 0xffffffff;
}
static uint64_t fns(uint32_t mask, int64_t base, int32_t offset) {
    if (base < 0 || base > 31)
        return 0xffffffff;
    if (!offset)
        return mask >> base & 1 ? (uint64_t)base : 0xffffffff;
    int64_t count = (offset < 0 ? -(int64_t)offset : offset) - 1, pos = base, inc = offset > 0 ? 1 : -1;
    for (; pos >= 0 && pos < 32; pos += inc) {
        if (!(mask >> pos & 1))
            continue;
        if (!count)
            return (uint64_t)pos;
        count--;
    }
    return 0xffffffff;
}
static uint64_t brev(uint64_t a, unsigned n) {
    uint64_t d = 0;
    for (unsigned i = 0; i < n; i++)
        d |= (a >> i & 1) << (n - 1 - i);
    return d;
}
static uint64_t bfe(uint64_t a, uint64_t b, uint64_t c, int n, bool sgn) {
    int pos = (int)(b & 255), len = (int)(c & 255), msb = n - 1;
    int at = pos + len - 1 < msb ? pos + len - 1 : msb;
    uint64_t sbit = !sgn || len == 0 ? 0 : a >> at & 1, d = 0;
    for (int i = 0; i <= msb; i++)
        d |= (i < len && pos + i <= msb ? a >> (pos + i) & 1 : sbit) << i;
    return d;
}
static uint64_t bfi(uint64_t a, uint64_t b, uint64_t c, uint64_t e, int n) {
    int pos = (int)(c & 255), len = (int)(e & 255);
    uint64_t f = n == 32 ? b & 0xffffffff : b;
    for (int i = 0; i < len && pos + i < n; i++)
        f = (f & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    return f;
}
static uint64_t szext(uint32_t a, uint32_t b, bool clamp, bool sgn) {
    uint32_t b1 = b & 0x1f, too_large = b >= 32 && clamp, mask = too_large ? 0 : ~0u << b1;
    uint32_t sign = b1 == 0 || too_large || !sgn ? 0 : a >> ((b1 - 1) & 0x1f) & 1;
    return (a & ~mask) | (sign ? mask : 0);
}
static uint64_t bmsk(uint32_t a, uint32_t b, bool clamp) {
    uint32_t a1 = a & 0x1f, mask0 = ~0u << a1, b1 = b & 0x1f, sum = a1 + b1;
    uint32_t mask1 = sum < 32 ? ~0u << sum : 0;
    bool over = sum >= 32;
    if (clamp && a >= 32)
        mask0 = 0, over = true;
    if (clamp && b >= 32)
        over = true;
    if (over)
        mask1 = 0;
    else if (b1 == 0)
        mask1 = ~0u;
    return mask0 & ~mask1;
}
static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, bool sa, bool sb, unsigned n, unsigned first) {
    s128 d = zx(c, 32);
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = a >> (32 / n * i), y = b >> (8 * (first + i));
        d += (sa ? sx(x, 32 / n) : zx(x, 32 / n)) * (sb ? sx(y, 8) : zx(y, 8));
    }
    return cut(d, 32);
}
REF(popc32, ones(a, 32))
REF(popc64, ones(a, 64))
REF(clz32, leading(a & 0xffffffff, 32))
REF(clz64, leading(a, 64))
REF(bfind_u32, bfind(a & 0xffffffff, 32, false, false))
REF(bfind_s32,
    bfind(a & 0xffffffff, 32, true, false) == 0xffffffff ? 0xffffffff : bfind((uint64_t)sx(a, 32), 32, true, false))
REF(bfind_u64, bfind(a, 64, false, false))
REF(bfind_s64, bfind(a, 64, true, false))
REF(bfinds_u32, bfind(a & 0xffffffff, 32, false, true))
REF(bfinds_s32, bfind(a & 0xffffffff, 32, true, true))
REF(bfinds_u64, bfind(a, 64, false, true))
REF(bfinds_s64, bfind(a, 64, true, true))
REF(fns_near, fns((uint32_t)a, (int64_t)(b & 31), (int32_t)(sx(c, 5))))
REF(brev32, brev(a, 32))
REF(brev64, brev(a, 64))
REF(bfe_u32, bfe(a, b, c, 32, false))
REF(bfe_s32, bfe(a, b, c, 32, true))
REF(bfe_u64, bfe(a, b, c, 64, false))
REF(bfe_s64, bfe(a, b, c, 64, true))
REF(bfe_near_u32, bfe(a, b & 63, c & 63, 32, false))
REF(bfe_near_s32, bfe(a, b & 63, c & 63, 32, true))
REF(bfe_near_u64, bfe(a, b & 63, c & 63, 64, false))
REF(bfe_near_s64, bfe(a, b & 63, c & 63, 64, true))
REF(bfi32, bfi(a, b, c, e, 32))
REF(bfi64, bfi(a, b, c, e, 64))
REF(bfi_near32, bfi(a, b, c & 31, e & 31, 32))
REF(bfi_near64, bfi(a, b, c & 31, e & 31, 64))
REF(szext_cu, szext((uint32_t)a, (uint32_t)b, true, false))
REF(szext_cs, szext((uint32_t)a, (uint32_t)b, true, true))
REF(szext_wu, szext((uint32_t)a, (uint32_t)b, false, false))
REF(szext_ws, szext((uint32_t)a, (uint32_t)b, false, true))
REF(bmsk_c, bmsk((uint32_t)a, (uint32_t)b, true))
REF(bmsk_w, bmsk((uint32_t)a, (uint32_t)b, false))
REF(bmsk_near, bmsk((uint32_t)a & 63, (uint32_t)b & 63, true))
#define DOTS(n, sa, sb)                                                                                                \
    REF(dp4a_##n, dot(a, b, c, sa, sb, 4, 0))                                                                          \
    REF(dp2a_lo_##n, dot(a, b, c, sa, sb, 2, 0))                                                                       \
    REF(dp2a_hi_##n, dot(a, b, c, sa, sb, 2, 2))
DOTS(uu, false, false)
DOTS(us, false, true)
DOTS(su, true, false)
DOTS(ss, true, true)

/* 9.7.2: what the second instruction of a chain sees of the first one's carry */
static uint64_t carry_add(const struct alu_in *in, unsigned n) {
    uint64_t c = (uint64_t)(((u128)zx(in->a, n) + (u128)zx(in->b, n)) >> n);
    return cut(zx(in->c, n) + zx(in->e, n) + (s128)c, n);
}
static uint64_t borrow_sub(const struct alu_in *in, unsigned n) {
    return cut(zx(in->c, n) - zx(in->e, n) - (zx(in->a, n) < zx(in->b, n)), n);
}
/* two chained links and the flag of the second */
static uint64_t carry_out2(const struct alu_in *in, unsigned n) {
    u128 c = ((u128)zx(in->a, n) + (u128)zx(in->b, n)) >> n;
    return (uint64_t)(((u128)zx(in->c, n) + (u128)zx(in->e, n) + c) >> n);
}
static uint64_t borrow_out2(const struct alu_in *in, unsigned n) {
    s128 c = zx(in->a, n) < zx(in->b, n);
    return cut(-(s128)(zx(in->c, n) < zx(in->e, n) + c), n);
}
static u128 part(uint64_t a, uint64_t b, unsigned n, bool hi, bool sgn) {
    u128 p = product(a, b, n, sgn);
    return (hi ? p >> n : p) & (((u128)1 << n) - 1);
}
/* mad.X.cc q = a*b + c, then madc.Y d = a*e + c + CF */
static uint64_t mad_chain(const struct alu_in *in, unsigned n, bool hi1, bool hi2, bool sgn) {
    u128 cf = (part(in->a, in->b, n, hi1, sgn) + (u128)zx(in->c, n)) >> n;
    return cut((s128)(part(in->a, in->e, n, hi2, sgn) + (u128)zx(in->c, n) + cf), n);
}
REF(addc32, carry_add(in, 32))
REF(addc64, carry_add(in, 64))
REF(subc32, borrow_sub(in, 32))
REF(subc64, borrow_sub(in, 64))
REF(add_out32, carry_out2(in, 32))
REF(add_out64, carry_out2(in, 64))
REF(sub_out32, borrow_out2(in, 32))
REF(sub_out64, borrow_out2(in, 64))
REF(mad_ll_u32, mad_chain(in, 32, false, false, false))
REF(mad_lh_u32, mad_chain(in, 32, false, true, false))
REF(mad_hl_s32, mad_chain(in, 32, true, false, true))
REF(mad_hh_s32, mad_chain(in, 32, true, true, true))
REF(mad_lh_u64, mad_chain(in, 64, false, true, false))
REF(mad_hh_s64, mad_chain(in, 64, true, true, true))
REF(mad_hl_u64, mad_chain(in, 64, true, false, false))
REF(mad_ll_s64, mad_chain(in, 64, false, false, true))

#define SIX(op, f, s16, s32, s64)                                                                                      \
    {#op ".u16 " s16, 'h', f##_u16}, {#op ".s16 " s16, 'h', f##_s16}, {#op ".u32 " s32, 'w', f##_u32},                 \
        {#op ".s32 " s32, 'w', f##_s32}, {#op ".u64 " s64, 'l', f##_u64}, {                                            \
#op ".s64 " s64, 'l', f##_s64                                                                                  \
    }
#define TWO(op, f) SIX(op, f, "%dh, %ah, %bh;", "%dw, %aw, %bw;", "%dl, %al, %bl;")
#define THREE(op, f) SIX(op, f, "%dh, %ah, %bh, %ch;", "%dw, %aw, %bw, %cw;", "%dl, %al, %bl, %cl;")

static const struct alu_case cases[] = {
    TWO(add, add),
    TWO(sub, sub),
    TWO(mul.lo, mul_lo),
    TWO(mul.hi, mul_hi),
    TWO(div, div),
    TWO(rem, rem),
    TWO(min, min),
    TWO(max, max),
    THREE(mad.lo, mad_lo),
    THREE(mad.hi, mad_hi),
    THREE(sad, sad),
    {"add.sat.s32 %dw, %aw, %bw;", 'w', add_sat},
    {"sub.sat.s32 %dw, %aw, %bw;", 'w', sub_sat},
    {"mad.hi.sat.s32 %dw, %aw, %bw, %cw;", 'w', mad_hi_sat},
    {"mul.wide.u16 %dw, %ah, %bh;", 'w', mul_wide_u16},
    {"mul.wide.s16 %dw, %ah, %bh;", 'w', mul_wide_s16},
    {"mul.wide.u32 %dl, %aw, %bw;", 'l', mul_wide_u32},
    {"mul.wide.s32 %dl, %aw, %bw;", 'l', mul_wide_s32},
    {"mad.wide.u16 %dw, %ah, %bh, %cw;", 'w', mad_wide_u16},
    {"mad.wide.s16 %dw, %ah, %bh, %cw;", 'w', mad_wide_s16},
    {"mad.wide.u32 %dl, %aw, %bw, %cl;", 'l', mad_wide_u32},
    {"mad.wide.s32 %dl, %aw, %bw, %cl;", 'l', mad_wide_s32},
    {"mul24.lo.u32 %dw, %aw, %bw;", 'w', mul24_lo_u32},
    {"mul24.lo.s32 %dw, %aw, %bw;", 'w', mul24_lo_s32},
    {"mul24.hi.u32 %dw, %aw, %bw;", 'w', mul24_hi_u32},
    {"mul24.hi.s32 %dw, %aw, %bw;", 'w', mul24_hi_s32},
    {"mad24.lo.u32 %dw, %aw, %bw, %cw;", 'w', mad24_lo_u32},
    {"mad24.lo.s32 %dw, %aw, %bw, %cw;", 'w', mad24_lo_s32},
    {"mad24.hi.u32 %dw, %aw, %bw, %cw;", 'w', mad24_hi_u32},
    {"mad24.hi.s32 %dw, %aw, %bw, %cw;", 'w', mad24_hi_s32},
    {"mad24.hi.sat.s32 %dw, %aw, %bw, %cw;", 'w', mad24_hi_sat},
    {"abs.s16 %dh, %ah;", 'h', abs_s16},
    {"abs.s32 %dw, %aw;", 'w', abs_s32},
    {"abs.s64 %dl, %al;", 'l', abs_s64},
    {"neg.s16 %dh, %ah;", 'h', neg_s16},
    {"neg.s32 %dw, %aw;", 'w', neg_s32},
    {"neg.s64 %dl, %al;", 'l', neg_s64},
    {"add.u16x2 %dw, %aw, %bw;", 'w', add_x2},
    {"add.s16x2 %dw, %aw, %bw;", 'w', add_x2},
    {"min.u16x2 %dw, %aw, %bw;", 'w', min_u16x2},
    {"max.u16x2 %dw, %aw, %bw;", 'w', max_u16x2},
    {"min.s16x2 %dw, %aw, %bw;", 'w', min_s16x2},
    {"max.s16x2 %dw, %aw, %bw;", 'w', max_s16x2},
    {"min.relu.s16x2 %dw, %aw, %bw;", 'w', min_relu_s16x2},
    {"max.relu.s16x2 %dw, %aw, %bw;", 'w', max_relu_s16x2},
    {"min.relu.s32 %dw, %aw, %bw;", 'w', min_relu_s32},
    {"max.relu.s32 %dw, %aw, %bw;", 'w', max_relu_s32},
    {"popc.b32 %dw, %aw;", 'w', popc32},
    {"popc.b64 %dw, %al;", 'w', popc64},
    {"clz.b32 %dw, %aw;", 'w', clz32},
    {"clz.b64 %dw, %al;", 'w', clz64},
    {"bfind.u32 %dw, %aw;", 'w', bfind_u32},
    {"bfind.s32 %dw, %aw;", 'w', bfind_s32},
    {"bfind.u64 %dw, %al;", 'w', bfind_u64},
    {"bfind.s64 %dw, %al;", 'w', bfind_s64},
    {"bfind.shiftamt.u32 %dw, %aw;", 'w', bfinds_u32},
    {"bfind.shiftamt.s32 %dw, %aw;", 'w', bfinds_s32},
    {"bfind.shiftamt.u64 %dw, %al;", 'w', bfinds_u64},
    {"bfind.shiftamt.s64 %dw, %al;", 'w', bfinds_s64},
    {"brev.b32 %dw, %aw;", 'w', brev32},
    {"brev.b64 %dl, %al;", 'l', brev64},
    {"bfe.u32 %dw, %aw, %bw, %cw;", 'w', bfe_u32},
    {"bfe.s32 %dw, %aw, %bw, %cw;", 'w', bfe_s32},
    {"bfe.u64 %dl, %al, %bw, %cw;", 'l', bfe_u64},
    {"bfe.s64 %dl, %al, %bw, %cw;", 'l', bfe_s64},
    {"bfi.b32 %dw, %aw, %bw, %cw, %ew;", 'w', bfi32},
    {"bfi.b64 %dl, %al, %bl, %cw, %ew;", 'l', bfi64},
    {"szext.clamp.u32 %dw, %aw, %bw;", 'w', szext_cu},
    {"szext.clamp.s32 %dw, %aw, %bw;", 'w', szext_cs},
    {"szext.wrap.u32 %dw, %aw, %bw;", 'w', szext_wu},
    {"szext.wrap.s32 %dw, %aw, %bw;", 'w', szext_ws},
    {"bmsk.clamp.b32 %dw, %aw, %bw;", 'w', bmsk_c},
    {"bmsk.wrap.b32 %dw, %aw, %bw;", 'w', bmsk_w},
    {"dp4a.u32.u32 %dw, %aw, %bw, %cw;", 'w', dp4a_uu},
    {"dp4a.u32.s32 %dw, %aw, %bw, %cw;", 'w', dp4a_us},
    {"dp4a.s32.u32 %dw, %aw, %bw, %cw;", 'w', dp4a_su},
    {"dp4a.s32.s32 %dw, %aw, %bw, %cw;", 'w', dp4a_ss},
    {"dp2a.lo.u32.u32 %dw, %aw, %bw, %cw;", 'w', dp2a_lo_uu},
    {"dp2a.lo.u32.s32 %dw, %aw, %bw, %cw;", 'w', dp2a_lo_us},
    {"dp2a.lo.s32.u32 %dw, %aw, %bw, %cw;", 'w', dp2a_lo_su},
    {"dp2a.lo.s32.s32 %dw, %aw, %bw, %cw;", 'w', dp2a_lo_ss},
    {"dp2a.hi.u32.u32 %dw, %aw, %bw, %cw;", 'w', dp2a_hi_uu},
    {"dp2a.hi.u32.s32 %dw, %aw, %bw, %cw;", 'w', dp2a_hi_us},
    {"dp2a.hi.s32.u32 %dw, %aw, %bw, %cw;", 'w', dp2a_hi_su},
    {"dp2a.hi.s32.s32 %dw, %aw, %bw, %cw;", 'w', dp2a_hi_ss},
    /* operands brought near the width first */
    {"and.b32 %bw, %bw, 31; and.b32 %cw, %cw, 31; shl.b32 %cw, %cw, 27; shr.s32 %cw, %cw, 27; fns.b32 %dw, "
     "%aw, %bw, %cw;",
     'w', fns_near},
    {"and.b32 %bw, %bw, 63; and.b32 %cw, %cw, 63; bfe.u32 %dw, %aw, %bw, %cw;", 'w', bfe_near_u32},
    {"and.b32 %bw, %bw, 63; and.b32 %cw, %cw, 63; bfe.s32 %dw, %aw, %bw, %cw;", 'w', bfe_near_s32},
    {"and.b32 %bw, %bw, 63; and.b32 %cw, %cw, 63; bfe.u64 %dl, %al, %bw, %cw;", 'l', bfe_near_u64},
    {"and.b32 %bw, %bw, 63; and.b32 %cw, %cw, 63; bfe.s64 %dl, %al, %bw, %cw;", 'l', bfe_near_s64},
    {"and.b32 %cw, %cw, 31; and.b32 %ew, %ew, 31; bfi.b32 %dw, %aw, %bw, %cw, %ew;", 'w', bfi_near32},
    {"and.b32 %cw, %cw, 31; and.b32 %ew, %ew, 31; bfi.b64 %dl, %al, %bl, %cw, %ew;", 'l', bfi_near64},
    {"and.b32 %aw, %aw, 63; and.b32 %bw, %bw, 63; bmsk.clamp.b32 %dw, %aw, %bw;", 'w', bmsk_near},
    /* chains through the carry flag */
    {"add.cc.u32 %qw, %aw, %bw; addc.u32 %dw, %cw, %ew;", 'w', addc32},
    {"add.cc.s32 %qw, %aw, %bw; addc.s32 %dw, %cw, %ew;", 'w', addc32},
    {"add.cc.u64 %ql, %al, %bl; addc.u64 %dl, %cl, %el;", 'l', addc64},
    {"add.cc.s64 %ql, %al, %bl; addc.s64 %dl, %cl, %el;", 'l', addc64},
    {"sub.cc.u32 %qw, %aw, %bw; subc.u32 %dw, %cw, %ew;", 'w', subc32},
    {"sub.cc.s32 %qw, %aw, %bw; subc.s32 %dw, %cw, %ew;", 'w', subc32},
    {"sub.cc.u64 %ql, %al, %bl; subc.u64 %dl, %cl, %el;", 'l', subc64},
    {"sub.cc.s64 %ql, %al, %bl; subc.s64 %dl, %cl, %el;", 'l', subc64},
    {"add.cc.u32 %qw, %aw, %bw; addc.cc.u32 %qw, %cw, %ew; addc.u32 %dw, 0, 0;", 'w', add_out32},
    {"add.cc.u64 %ql, %al, %bl; addc.cc.u64 %ql, %cl, %el; addc.u64 %dl, 0, 0;", 'l', add_out64},
    {"sub.cc.u32 %qw, %aw, %bw; subc.cc.u32 %qw, %cw, %ew; subc.u32 %dw, 0, 0;", 'w', sub_out32},
    {"sub.cc.u64 %ql, %al, %bl; subc.cc.u64 %ql, %cl, %el; subc.u64 %dl, 0, 0;", 'l', sub_out64},
    {"mad.lo.cc.u32 %qw, %aw, %bw, %cw; madc.lo.u32 %dw, %aw, %ew, %cw;", 'w', mad_ll_u32},
    {"mad.lo.cc.u32 %qw, %aw, %bw, %cw; madc.hi.u32 %dw, %aw, %ew, %cw;", 'w', mad_lh_u32},
    {"mad.hi.cc.s32 %qw, %aw, %bw, %cw; madc.lo.s32 %dw, %aw, %ew, %cw;", 'w', mad_hl_s32},
    {"mad.hi.cc.s32 %qw, %aw, %bw, %cw; madc.hi.cc.s32 %dw, %aw, %ew, %cw;", 'w', mad_hh_s32},
    {"mad.lo.cc.u64 %ql, %al, %bl, %cl; madc.hi.u64 %dl, %al, %el, %cl;", 'l', mad_lh_u64},
    {"mad.hi.cc.s64 %ql, %al, %bl, %cl; madc.hi.cc.s64 %dl, %al, %el, %cl;", 'l', mad_hh_s64},
    {"mad.hi.cc.u64 %ql, %al, %bl, %cl; madc.lo.u64 %dl, %al, %el, %cl;", 'l', mad_hl_u64},
    {"mad.lo.cc.s64 %ql, %al, %bl, %cl; madc.lo.s64 %dl, %al, %el, %cl;", 'l', mad_ll_s64},
};

static const struct alu_refusal refusals[] = {
    {"add.s32 %dw, %aw, 1.5;", "kind of the instruction's type"},
    {"add.sat.u32 %dw, %aw, %bw;", "not one of the instruction's forms"},
    {"mul.u32 %dw, %aw, %bw;", "not one of the instruction's forms"},
    {"mul.wide.u64 %dl, %al, %bl;", "not one of the instruction's forms"},
    {"sub.u16x2 %dw, %aw, %bw;", "not one of the instruction's forms"},
    {"abs.u32 %dw, %aw;", "not one of the instruction's forms"},
    {"min.relu.u32 %dw, %aw, %bw;", "not one of the instruction's forms"},
    {"addc.u16 %dh, %ah, %bh;", "not one of the instruction's forms"},
    {"add.u64 %dw, %al, %bl;", "destination"},
    {"add.u64 %dl, %aw, %bl;", "source operand"},
    {"add.u32 %dw, %al, %bw;", "source operand"},
    {"add.u32 %dw, %ap, %bw;", "source operand"},
    {"add.u32 %dw, %aw;", "operand 3 is missing"},
    {"add.u32.clamp.clamp %dw, %aw, %bw;", "modifier"},
};

int main(void) {
    alu_check(cases, sizeof cases / sizeof *cases);
    alu_check_refused(refusals, sizeof refusals / sizeof *refusals);
    return check_report();
}
