/* isa/series.h - the .approx functions of f32 for AVX-512: short series around the nearest of 16 points.
 *
 * As in isa/approx.h, a lane has a doubt if the last bit may not be what num/ gives. The series here err by less than
 * 2^-36 of the result, so that one lane in 4096 has a doubt. Then the handler does the instruction as isa/approx.h has
 * it. So it does for the operands that a function leaves out: infinities, subnormal numbers and zeros, unless its
 * comment names them.
 */
#ifndef ISA_SERIES_H
#define ISA_SERIES_H

#include "isa/vector.h"

#if defined(ISA_VECTORS)
#define SERIES_INLINE static inline __attribute__((always_inline))
#define SERIES_EACH(i, n) UNROLL for (unsigned i = 0; i < n; i++)

/* All lanes: as floats, and as doubles. A step is done for all of them before the next: the host starts few that
 * wait for each other. */
struct series_floats {
    __m512 of[2];
};
struct series {
    __m512d of[4];
};
SERIES_INLINE struct series series_wide(struct series_floats v) {
    struct series d;
    SERIES_EACH(i, 4)
    d.of[i] = _mm512_cvtps_pd(i % 2 ? _mm512_extractf32x8_ps(v.of[i / 2], 1) : _mm512_castps512_ps256(v.of[i / 2]));
    return d;
}
SERIES_INLINE struct series series_all(double v) {
    const __m512d all = _mm512_set1_pd(v);
    return (struct series){{all, all, all, all}};
}
#define SERIES_OP(name, value)                                                                                         \
    SERIES_INLINE struct series series_##name(struct series a, struct series b, struct series c) {                     \
        SERIES_EACH(i, 4) {                                                                                            \
            const __m512d x = a.of[i], y = b.of[i], z = c.of[i];                                                       \
            (void)z;                                                                                                   \
            a.of[i] = value;                                                                                           \
        }                                                                                                              \
        return a;                                                                                                      \
    }
SERIES_OP(fma, _mm512_fmadd_pd(x, y, z))
SERIES_OP(minus_fma, _mm512_fnmadd_pd(x, y, z))
SERIES_OP(mul_, _mm512_mul_pd(x, y))
SERIES_OP(add_, _mm512_add_pd(x, y))
SERIES_OP(div_, _mm512_div_pd(x, y))
SERIES_OP(scale_, _mm512_scalef_pd(x, y))
#define series_mul(a, b) series_mul_(a, b, b)
#define series_add(a, b) series_add_(a, b, b)
#define series_div(a, b) series_div_(a, b, b)
#define series_scale(a, b) series_scale_(a, b, b)
/* a x + b */
SERIES_INLINE struct series series_step(struct series a, struct series x, double b) {
    return series_fma(a, x, series_all(b));
}

/* 16 doubles, of which the low 4 bits of an index choose. */
struct series_table {
    double of[16];
};
SERIES_INLINE struct series series_at(const struct series_table *t, const __m512i index[4]) {
    struct series d;
    SERIES_EACH(i, 4)
    d.of[i] = _mm512_permutex2var_pd(_mm512_loadu_pd(t->of), index[i], _mm512_loadu_pd(t->of + 8));
    return d;
}
/* Indices: bits of floats, and of doubles. */
SERIES_INLINE struct series series_at_floats(const struct series_table *t, struct series_floats v) {
    __m512i index[4];
    SERIES_EACH(i, 4) {
        const __m512i bits = _mm512_castps_si512(v.of[i / 2]);
        index[i] = _mm512_cvtepu32_epi64(i % 2 ? _mm512_extracti32x8_epi32(bits, 1) : _mm512_castsi512_si256(bits));
    }
    return series_at(t, index);
}
SERIES_INLINE struct series series_at_doubles(const struct series_table *t, struct series v, int more) {
    __m512i index[4];
    SERIES_EACH(i, 4)
    index[i] = _mm512_add_epi64(_mm512_castpd_si512(v.of[i]), _mm512_set1_epi64(more));
    return series_at(t, index);
}

/* As floats. Doubtful: what is nearer than 2^-36 to the middle of two. */
SERIES_INLINE struct series_floats series_round(struct series v, uint32_t *doubt) {
    const __m512i middle = _mm512_set1_epi64(0x10000 - 0x10000000), rest = _mm512_set1_epi64(0x1fffffff & -0x20000);
    struct series_floats d;
    SERIES_EACH(i, 4)
    *doubt |= (uint32_t)_mm512_testn_epi64_mask(_mm512_add_epi64(_mm512_castpd_si512(v.of[i]), middle), rest) << 8 * i;
    SERIES_EACH(i, 2)
    d.of[i] =
        _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(v.of[2 * i])), _mm512_cvtpd_ps(v.of[2 * i + 1]), 1);
    return d;
}
/* Lanes of which the comparison with v is true. */
#define SERIES_IF(x, v, how)                                                                                           \
    ((uint32_t)_mm512_cmp_ps_mask((x).of[0], _mm512_set1_ps(v), how) |                                                 \
     (uint32_t)_mm512_cmp_ps_mask((x).of[1], _mm512_set1_ps(v), how) << 16)
/* v in these lanes. */
SERIES_INLINE struct series_floats series_set(struct series_floats x, uint32_t lanes, struct series_floats v) {
    SERIES_EACH(i, 2)
    x.of[i] = _mm512_mask_mov_ps(x.of[i], (__mmask16)(lanes >> 16 * i), v.of[i]);
    return x;
}
SERIES_INLINE struct series_floats series_same(uint32_t bits) {
    const __m512 v = _mm512_castsi512_ps(_mm512_set1_epi32((int)bits));
    return (struct series_floats){{v, v}};
}
SERIES_INLINE struct series_floats series_size(struct series_floats x) {
    SERIES_EACH(i, 2)
    x.of[i] = _mm512_and_ps(x.of[i], series_same(0x7fffffff).of[i]);
    return x;
}
#define SERIES_NORMAL 0x1p-126f
#define SERIES_POSITIVE(x, f)                                                                                          \
    (SERIES_IF(x, (f)&NUM_FTZ ? SERIES_NORMAL : 0x1p-149f, _CMP_GE_OQ) & SERIES_IF(x, 0x1.fffffep127f, _CMP_LE_OQ))

/* 2^(i / 16) */
static const struct series_table series_powers = {
    {0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
     0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0,
     0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0,
     0x1.ea4afa2a490dap+0}};

/* 2^n 2^r, n the multiple of 1 / 16 next to x. Also of zeros, subnormal numbers, infinities and NaN; a result that is
 * not normal is doubtful, or with .ftz zero. */
SERIES_INLINE struct series_floats series_ex2(struct series_floats x, unsigned f, uint32_t *doubt) {
    struct series_floats r, sum, n;
    SERIES_EACH(i, 2) {
        r.of[i] = _mm512_reduce_ps(x.of[i], 4 << 4 | _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        sum.of[i] = _mm512_add_ps(x.of[i], _mm512_set1_ps(0x1.8p19f)); /* 16 n in the low bits */
        n.of[i] = _mm512_sub_ps(x.of[i], r.of[i]);
    }
    const struct series z = series_wide(r), t = series_at_floats(&series_powers, sum);
    struct series p = series_step(series_all(0x1.3b2bfa0553142p-7), z, 0x1.c6b3488206d06p-5);
    p = series_step(p, z, 0x1.ebfbdff78ad41p-3);
    p = series_step(p, z, 0x1.62e42fee4615fp-1);
    struct series_floats d = series_round(series_fma(series_mul(t, z), p, t), doubt);
    SERIES_EACH(i, 2)
    d.of[i] = _mm512_scalef_ps(d.of[i], n.of[i]);
    const uint32_t low = SERIES_IF(x, -126, _CMP_LT_OQ), nan = SERIES_IF(x, 0, _CMP_UNORD_Q);
    if (f & NUM_FTZ)
        d = series_set(d, low, series_same(0));
    else
        *doubt |= low & SERIES_IF(x, -152, _CMP_GT_OQ);
    return series_set(d, nan, series_same(NUM_NAN_F32));
}

/* tanh x = m / (m + 2), m = e^2x - 1 = 2^n e^2r - 1, n the multiple of 1 / 16 next to 2x / ln 2. Also of infinities
 * and NaN. */
SERIES_INLINE struct series_floats series_tanh(struct series_floats x, unsigned f, uint32_t *doubt) {
    struct series_floats within;
    const struct series magic = series_all(0x1.8p48); /* 16 n in the low bits */
    (void)f;
    SERIES_EACH(i, 2)
    within.of[i] = _mm512_min_ps(_mm512_max_ps(x.of[i], _mm512_set1_ps(-20)), _mm512_set1_ps(20));
    const struct series a = series_wide(within), s = series_fma(a, series_all(0x1.71547652b82fep+1), magic);
    const struct series n = series_add(s, series_all(-0x1.8p48));
    struct series r = series_fma(n, series_all(-0x1.62e42fefa39efp-2), a); /* half of ln 2 */
    r = series_fma(n, series_all(-0x1.abc9e3b39803fp-57), r);
    struct series e = series_step(series_all(0x1.11120af7211b8p-2), r, 0x1.55570aa826c45p-1);
    e = series_step(e, r, 0x1.55555554dd44bp+0);
    e = series_step(e, r, 0x1.fffffffe5bc58p+0);
    e = series_mul(series_step(e, r, 2), r);
    const struct series p = series_scale(series_at_doubles(&series_powers, s, 0), n);
    const struct series m = series_fma(p, e, series_add(p, series_all(-1)));
    const struct series_floats d = series_round(series_div(m, series_add(m, series_all(2))), doubt);
    *doubt |= SERIES_IF(series_size(x), SERIES_NORMAL, _CMP_LT_OQ);
    return series_set(d, SERIES_IF(x, 0, _CMP_UNORD_Q), series_same(NUM_NAN_F32));
}

/* log2 x = n + log2 1/q + log2 (1 + z), x = 2^n m, m from 3/4 to 3/2, z = m q - 1. q is a multiple of 1 / 16 near 1/m,
 * so that z is exact; it is at most 0.0606. By the multiple of 1 / 16 next to m, 12 to 24. */
static const float series_inverse[16] = {16 / 16.f, 15 / 16.f, 14 / 16.f, 13 / 16.f, 13 / 16.f, 12 / 16.f,
                                         12 / 16.f, 11 / 16.f, 11 / 16.f, 0,         0,         0,
                                         21 / 16.f, 20 / 16.f, 18 / 16.f, 17 / 16.f};
static const struct series_table series_logs = {
    {0, 0x1.7d60496cfbb4cp-4, 0x1.8a8980abfbd32p-3, 0x1.32bfee370ee68p-2, 0x1.32bfee370ee68p-2, 0x1.a8ff971810a5ep-2,
     0x1.a8ff971810a5ep-2, 0x1.14c560fe68af9p-1, 0x1.14c560fe68af9p-1, 0, 0, 0, -0x1.91bba891f1709p-2,
     -0x1.49a784bcd1b8bp-2, -0x1.5c01a39fbd688p-3, -0x1.663f6fac91316p-4}};
SERIES_INLINE struct series_floats series_lg2(struct series_floats x, unsigned f, uint32_t *doubt) {
    struct series_floats n, near, z;
    SERIES_EACH(i, 2) {
        const __m512 m = _mm512_getmant_ps(x.of[i], _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src);
        n.of[i] = _mm512_sub_ps(_mm512_getexp_ps(x.of[i]), _mm512_getexp_ps(m));
        near.of[i] = _mm512_add_ps(m, _mm512_set1_ps(0x1.8p19f));
        const __m512 q = _mm512_permutexvar_ps(_mm512_castps_si512(near.of[i]), _mm512_loadu_ps(series_inverse));
        z.of[i] = _mm512_fmsub_ps(m, q, _mm512_set1_ps(1));
    }
    const struct series a = series_wide(z), whole = series_add(series_at_floats(&series_logs, near), series_wide(n));
    struct series p = series_step(series_all(0x1.a83588dfa6c81p-3), a, -0x1.eed27bb3f7e5dp-3);
    p = series_step(p, a, 0x1.2776457e2b37ap-2);
    p = series_step(p, a, -0x1.7153e6d3cdbc5p-2);
    p = series_step(p, a, 0x1.ec709dd29f5f9p-2);
    p = series_step(p, a, -0x1.7154765b27710p-1);
    p = series_step(p, a, 0x1.71547652b82fep+0);
    *doubt |= ~SERIES_POSITIVE(x, f);
    return series_round(series_fma(p, a, whole), doubt);
}

/* sin (n pi / 8) */
static const struct series_table series_sines = {
    {0, 0x1.87de2a6aea963p-2, 0x1.6a09e667f3bcdp-1, 0x1.d906bcf328d46p-1, 1, 0x1.d906bcf328d46p-1, 0x1.6a09e667f3bcdp-1,
     0x1.87de2a6aea963p-2, 0, -0x1.87de2a6aea963p-2, -0x1.6a09e667f3bcdp-1, -0x1.d906bcf328d46p-1, -1,
     -0x1.d906bcf328d46p-1, -0x1.6a09e667f3bcdp-1, -0x1.87de2a6aea963p-2}};
/* sin (s + r) = sin s cos r + cos s sin r, s the multiple of pi / 8 next to x, and `turn` of them more. Also of zeros,
 * not of 2^20 and more. */
SERIES_INLINE struct series_floats series_sine(struct series_floats x, int turn, uint32_t *doubt) {
    const struct series a = series_wide(x), s = series_fma(a, series_all(0x1.45f306dc9c883p+1), series_all(0x1.8p52));
    const struct series n = series_add(s, series_all(-0x1.8p52));
    struct series r = series_fma(n, series_all(-0x1.921fb54442d18p-2), a);
    r = series_fma(n, series_all(-0x1.1a62633145c07p-56), r);
    const struct series q = series_mul(r, r);
    struct series c = series_step(series_all(-0x1.6bb68cb2b1d01p-10), q, 0x1.55554a352c714p-5);
    struct series e = series_step(series_all(-0x1.9fc47b82082b3p-13), q, 0x1.11110c1f13529p-7);
    c = series_mul(series_step(c, q, -0x1.ffffffff3ccb6p-2), q);
    e = series_fma(series_mul(series_step(e, q, -0x1.5555555529f30p-3), q), r, r);
    const struct series sine = series_at_doubles(&series_sines, s, turn);
    const struct series cosine = series_at_doubles(&series_sines, s, turn + 4);
    const struct series_floats d = series_round(series_fma(cosine, e, series_fma(sine, c, sine)), doubt);
    const struct series_floats size = series_size(x);
    const uint32_t zero = SERIES_IF(size, 0, _CMP_EQ_OQ);
    *doubt |= ~zero & ~(SERIES_IF(size, SERIES_NORMAL, _CMP_GE_OQ) & SERIES_IF(size, 0x1p20f, _CMP_LT_OQ));
    return turn ? d : series_set(d, zero, x);
}
SERIES_INLINE struct series_floats series_sin(struct series_floats x, unsigned f, uint32_t *doubt) {
    (void)f;
    return series_sine(x, 0, doubt);
}
SERIES_INLINE struct series_floats series_cos(struct series_floats x, unsigned f, uint32_t *doubt) {
    (void)f;
    return series_sine(x, 4, doubt);
}

/* y (1 - e)^-1/2, y near 1 / root x, e = 1 - x y^2 */
SERIES_INLINE struct series_floats series_rsqrt(struct series_floats x, unsigned f, uint32_t *doubt) {
    const struct series a = series_wide(x);
    struct series y;
    SERIES_EACH(i, 4)
    y.of[i] = _mm512_rsqrt14_pd(a.of[i]);
    const struct series e = series_minus_fma(series_mul(a, y), y, series_all(1));
    const struct series p = series_step(series_step(series_all(0.3125), e, 0.375), e, 0.5);
    *doubt |= ~SERIES_POSITIVE(x, f);
    return series_round(series_fma(series_mul(y, e), p, y), doubt);
}

/* The handler `name`; `name`_any does what is in doubt, and poison. */
#define SERIES(name, value)                                                                                            \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        uint32_t doubt = 0;                                                                                            \
        const struct series_floats x = {{vector_of(w, in, 1, 0), vector_of(w, in, 1, 1)}};                             \
        const struct series_floats v = value(x, alu_num_flags(in), &doubt);                                            \
        if (__builtin_expect(((doubt | ALU_POISON_1) & mask) != 0, 0))                                                 \
            return name##_any(w, in, mask);                                                                            \
        return vector_end(w, in, mask, v.of, 2);                                                                       \
    }
/* As ALU_SURE1, with `value` before it. */
#define SERIES1(name, value, fast, expr)                                                                               \
    ALU_SURE1(name##_any, fast, expr)                                                                                  \
    SERIES(name, value)
#else
#define SERIES1(name, value, fast, expr) ALU_SURE1(name, fast, expr)
#endif

#endif
