/* simd/fused.c - D += A * B with the bits of a B200: the rule for one element, the portable loops, and the kinds whose
 * operands have four bits; contract in fused.h. */
#include "simd/fused_lane.h"

#include <math.h>
#include <string.h>

/* --- one element, in integers ------------------------------------------------------------------------------------- */

/* significand * 2^(exponent - fraction) */
struct number {
    int64_t significand;
    int exponent;
};

enum { OPERAND_FRACTION = 10 }; /* bits of a significand below its first, at most */

/* Of a finite one; where its exponent is less than `least`, what is moved out of the significand is 0. */
static inline struct number number_of(float x, int least, int fraction) {
    const uint32_t u = num_f32_bits(x) & UINT32_C(0x7fffffff), field = u >> 23;
    const int of_x = field ? (int)field - FUSED_BIAS : -126, e = of_x < least ? least : of_x;
    const int64_t significand = (int64_t)(u & 0x7fffff) | (field ? 0x800000 : 0);
    const int drop = 23 + e - of_x; /* much for 0, and for what stands in rows of A that were never written */
    const int64_t v = drop > 62 ? 0 : significand << fraction >> drop;
    return (struct number){num_f32_bits(x) >> 31 ? -v : v, u ? e : FUSED_ZERO};
}

/* v * 2^-shift, cut toward zero. */
static inline int64_t cut(int64_t v, int shift) {
    if (shift > 62)
        return 0;
    return v < 0 ? -(-v >> shift) : v >> shift;
}

/* Bits of f32 of v * 2^e, cut toward zero; odd: the last bit tells of what was cut off. */
static inline uint32_t to_f32(int64_t v, int e, bool odd) {
    if (v == 0)
        return 0;
    const uint32_t sign = v < 0 ? UINT32_C(1) << 31 : 0;
    const uint64_t u = v < 0 ? (uint64_t)-v : (uint64_t)v;
    const int first = 63 - __builtin_clzll(u) + e; /* exponent of the first bit */
    if (first > FUSED_BIAS)
        return sign | UINT32_C(0x7f800000);
    const int last = (first < -126 ? -126 : first) - 23, drop = last - e;
    const uint64_t kept = drop > 63 ? 0 : drop > 0 ? u >> drop : u << -drop; /* 24 bits at most */
    const bool lost = drop > 63 || (drop > 0 && u != kept << drop);
    if (kept == 0 && !odd)
        return 0;
    /* the first bit of a normal number makes its exponent's field one more */
    return sign | (((uint32_t)(last + 149) << 23) + (uint32_t)kept) | (odd && lost);
}

/* What is no finite number among products and D. */
struct specials {
    bool nan, plus, minus;
};

static void see(struct specials *s, float x) {
    s->nan |= isnan(x);
    s->plus |= isinf(x) && x > 0;
    s->minus |= isinf(x) && x < 0;
}

static uint32_t special_result(const struct specials *s) {
    if (s->nan || (s->plus && s->minus))
        return NUM_NAN_F32;
    return s->plus ? UINT32_C(0x7f800000) : UINT32_C(0xff800000);
}

/* The products of one instruction: of each the exponent, and the significand with `fraction` bits. False where there is
 * something else among them. */
static bool products_of(const struct simd_fused *f, const float *a, const float *b, struct number *p,
                        struct specials *s) {
    bool finite = true;
    for (uint32_t i = 0; i < f->t.step; i++) {
        const float u = a[(size_t)i * SIMD_PANEL], v = b[i];
        if (!isfinite(u) || !isfinite(v)) {
            see(s, u * v);
            finite = false;
            continue;
        }
        const struct number x = number_of(u, f->least_a, OPERAND_FRACTION),
                            y = number_of(v, f->least_b, OPERAND_FRACTION);
        p[i] = (struct number){x.significand * y.significand, x.exponent + y.exponent};
    }
    return finite;
}

uint32_t fused_lane(const struct simd_fused *f, uint32_t row, uint32_t n, uint32_t k, bool read, uint32_t bits) {
    struct number p[SIMD_FUSED_STEP];
    struct specials s = {0};
    const float d = read ? num_f32_from_bits(bits) : 0;
    const bool finite = products_of(f, f->t.a + simd_tile_a(row, k), f->t.b + simd_tile_b(n, k), p, &s);
    int scale = 0;
    see(&s, d);
    if (f->sfa) {
        const int x = fused_scale(f->sfa, row), y = fused_scale(f->sfb, n);
        s.nan |= x == FUSED_HUGE || y == FUSED_HUGE;
        scale = x + y;
    }
    if (s.nan || s.plus || s.minus || !finite)
        return special_result(&s);
    struct number accumulator = number_of(d, f->least_d, FUSED_BITS);
    accumulator.exponent -= fused_shift(f, k);
    int greatest = accumulator.exponent > f->floor ? accumulator.exponent : f->floor;
    for (uint32_t i = 0; i < f->t.step; i++) {
        p[i].exponent += scale;
        greatest = p[i].exponent > greatest ? p[i].exponent : greatest;
    }
    int64_t sum = cut(accumulator.significand, greatest - accumulator.exponent);
    for (uint32_t i = 0; i < f->t.step; i++)
        sum += cut(p[i].significand * (1 << (FUSED_BITS - 2 * OPERAND_FRACTION)), greatest - p[i].exponent);
    return to_f32(sum, greatest - FUSED_BITS, f->odd);
}

/* --- portable ----------------------------------------------------------------------------------------------------- */

/* The exponents of A, and of B unless they are those of the call before. */
static void find_exponents(const struct simd_fused *f, bool same_b) {
    const struct simd_tile *t = &f->t;
    for (uint32_t row = 0; row < t->segments * SIMD_SEGMENT; row += SIMD_PANEL) {
        const float *from = t->a + simd_tile_a(row, 0);
        int16_t *to = f->work->a + simd_tile_a(row, 0);
        for (uint32_t i = 0; i < t->k * SIMD_PANEL; i++)
            to[i] = (int16_t)fused_exponent(from[i], f->least_a);
    }
    for (uint32_t n = 0; !same_b && n < t->n; n++) {
        const float *from = t->b + simd_tile_b(n, 0);
        uint32_t *to = f->work->b + simd_tile_b(n, 0);
        for (uint32_t i = 0; i < t->k; i++)
            to[i] = (uint32_t)(fused_exponent(from[i], f->least_b) & 0xffff) * UINT32_C(0x10001);
    }
}

/* 2^e, -126 <= e <= 127. */
static inline float power(int32_t e) { return num_f32_from_bits((uint32_t)(e + FUSED_BIAS) << 23); }

static inline int32_t clamp(int32_t x, int32_t low, int32_t high) { return x < low ? low : x > high ? high : x; }

/* A segment of a column and one instruction: exponents of products, of D; and D. */
struct segment {
    int32_t e[SIMD_SEGMENT];
    float d[SIMD_SEGMENT];
    bool refused; /* a lane of it is not for these loops */
};

/* The greatest exponents; scaled: what scale factors add to those of products. */
static void align(const struct simd_fused *f, const int16_t *ea, const uint32_t *eb, const int32_t *scaled, int shift,
                  struct segment *s) {
    int16_t e[SIMD_SEGMENT];
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++)
        e[i] = 2 * FUSED_ZERO;
    for (uint32_t k = 0; k < f->t.step; k++)
        for (uint32_t i = 0; i < SIMD_SEGMENT; i++) {
            const int16_t v = (int16_t)(ea[(size_t)k * SIMD_PANEL + i] + (int16_t)eb[k]);
            e[i] = v > e[i] ? v : e[i];
        }
    const float down = power(-shift);
    int32_t refused = 0;
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++) {
        s->d[i] *= down;
        const int32_t of_d = fused_exponent(s->d[i], f->least_d - shift), of_p = e[i] + scaled[i];
        s->e[i] = of_d > of_p ? of_d : of_p;
        refused |= (s->e[i] > FUSED_HIGH) | ((s->e[i] < FUSED_LOW) & (s->e[i] > FUSED_NO_NUMBER));
    }
    s->refused = refused != 0;
}

/* The sums of a segment that is not refused, as bits of f32. */
static void sum_segment(const struct simd_fused *f, const float *a, const float *b, const int32_t *scaled,
                        const struct segment *s, uint32_t *out) {
    int32_t even[SIMD_SEGMENT], odd[SIMD_SEGMENT];
    float up[SIMD_SEGMENT];
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++) {
        const int32_t e = clamp(s->e[i], fused_lowest(f), FUSED_HIGH);
        up[i] = power(clamp(FUSED_BITS - e + scaled[i], -126, 127));
        even[i] = (int32_t)(s->d[i] * power(FUSED_BITS - e));
        odd[i] = 0;
    }
    for (uint32_t k = 0; k < f->t.step; k += 2, a += 2 * SIMD_PANEL, b += 2)
        for (uint32_t i = 0; i < SIMD_SEGMENT; i++) {
            even[i] += (int32_t)(a[i] * b[0] * up[i]);
            odd[i] += (int32_t)(a[SIMD_PANEL + i] * b[1] * up[i]);
        }
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++)
        out[i] = to_f32((int64_t)even[i] + odd[i], clamp(s->e[i], fused_lowest(f), FUSED_HIGH) - FUSED_BITS, f->odd);
}

static void segment_portable(const struct simd_fused *f, uint32_t seg, uint32_t n, uint32_t k) {
    const uint32_t row = seg * SIMD_SEGMENT;
    const bool read = k || f->t.accumulate;
    const size_t at_a = simd_tile_a(row, k), at_b = simd_tile_b(n, k);
    uint32_t *d = f->t.d + (size_t)n * f->t.d_stride + f->t.lane[seg];
    int32_t scaled[SIMD_SEGMENT] = {0};
    struct segment s = {.d = {0}};
    if (read)
        memcpy(s.d, d, sizeof s.d);
    for (uint32_t i = 0; f->sfa && i < SIMD_SEGMENT; i++)
        scaled[i] = fused_scale(f->sfa, row + i) + fused_scale(f->sfb, n);
    align(f, f->work->a + at_a, f->work->b + at_b, scaled, fused_shift(f, k), &s);
    if (!s.refused) {
        sum_segment(f, f->t.a + at_a, f->t.b + at_b, scaled, &s, d);
        return;
    }
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++)
        d[i] = fused_lane(f, row + i, n, k, read, d[i]);
}

static void run_portable(const struct simd_fused *f, bool same_b) {
    find_exponents(f, same_b);
    for (uint32_t n = 0; n < f->t.n; n++)
        for (uint32_t s = 0; s < f->t.segments; s++)
            for (uint32_t k = 0; k < f->t.k; k += f->t.step)
                segment_portable(f, s, n, k);
}

void simd_fused_multiply(enum simd simd, const struct simd_fused *f, bool same_b) {
#if defined(__x86_64__)
    if (simd >= SIMD_AVX512) {
        fused_run_avx512(f, same_b);
        return;
    }
    if (simd == SIMD_AVX2) {
        fused_run_avx2(f, same_b);
        return;
    }
#else
    (void)simd;
#endif
    run_portable(f, same_b);
}

/* --- four-bit operands -------------------------------------------------------------------------------------------- */

enum {
    SUM_FRACTION = 2,   /* products of e2m1 are multiples of 1/4 */
    SCALE_FRACTION = 3, /* of ue4m3; ue8m0 has none */
    COLUMNS = 8,        /* of D at a time: their sums stay in the L1 cache */
};

static struct number factor_of(const struct simd_fused *f, float x) {
    if (isnan(x))
        return (struct number){0, FUSED_HUGE};
    return x == 0x1p-127f ? (struct number){1 << SCALE_FRACTION, -127} /* subnormal in f32 */
                          : number_of(x, f->least_scale, SCALE_FRACTION);
}

static void find_factors(const struct simd_fused *f, const float *from, uint32_t count, struct fused_blocks *to) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t g = 0; g < FUSED_BLOCKS; g++) {
            to->factor[g][i] = from[i * f->factors + g * f->factors / FUSED_BLOCKS];
            to->exponent[g][i] = factor_of(f, to->factor[g][i]).exponent;
        }
}

/* Compiled for each vector unit. */
static ALWAYS_INLINE void find_numbers(const struct simd_fused *f, uint32_t rows, struct fused_blocks *a,
                                       struct fused_blocks *b) {
    for (uint32_t g = 0; g < FUSED_BLOCKS; g++) {
        for (uint32_t row = 0; row < rows; row += SIMD_PANEL) {
            const float *x = f->t.a + simd_tile_a(row, g * FUSED_BLOCK);
            int32_t bits[SIMD_PANEL] = {0};
            for (uint32_t k = 0; k < FUSED_BLOCK; k++, x += SIMD_PANEL)
                for (size_t i = 0; i < SIMD_PANEL; i++)
                    bits[i] |= x[i] != 0 ? 1 << k : 0;
            memcpy(a->numbers[g] + row, bits, sizeof bits);
        }
        for (uint32_t n = 0; n < f->t.n; n++) {
            const float *y = f->t.b + simd_tile_b(n, g * FUSED_BLOCK);
            int32_t bits = 0;
            for (size_t k = 0; k < FUSED_BLOCK; k++)
                bits |= y[k] != 0 ? 1 << k : 0;
            b->numbers[g][n] = bits;
        }
    }
}

#if defined(__x86_64__)
AVX512 static void find_numbers_avx512(const struct simd_fused *f, uint32_t rows, struct fused_blocks *a,
                                       struct fused_blocks *b) {
    find_numbers(f, rows, a, b);
}
AVX2 static void find_numbers_avx2(const struct simd_fused *f, uint32_t rows, struct fused_blocks *a,
                                   struct fused_blocks *b) {
    find_numbers(f, rows, a, b);
}
#endif

/* The sum of a block, which in rows of A that were never written may be anything. */
static inline float checked(uint32_t bits) {
    const float sum = num_f32_from_bits(bits);
    return fabsf(sum) <= (float)FUSED_BLOCK_MOST ? sum : 0;
}

/* D of one element after the instruction: `sums` are those of its blocks, a stride apart. */
static uint32_t blocks_lane(const struct simd_fused *f, const struct fused_blocks *a, const struct fused_blocks *b,
                            uint32_t row, uint32_t n, const uint32_t *sums, size_t stride, float d) {
    struct number p[FUSED_BLOCKS + 1];
    struct specials s = {0};
    int greatest = f->floor;
    if (!isfinite(d))
        see(&s, d);
    for (uint32_t g = 0; g < FUSED_BLOCKS; g++) {
        const struct number u = factor_of(f, a->factor[g][row]), v = factor_of(f, b->factor[g][n]);
        p[g] = (struct number){(int64_t)(checked(sums[g * stride]) * (1 << SUM_FRACTION)) * u.significand *
                                   v.significand * (1 << (FUSED_BLOCK_BITS - SUM_FRACTION - 2 * SCALE_FRACTION)),
                               u.exponent + v.exponent};
        s.nan |= p[g].exponent > FUSED_HUGE / 2;
        if (!(a->numbers[g][row] & b->numbers[g][n]))
            p[g].exponent = FUSED_ZERO;
    }
    if (s.nan || s.plus || s.minus)
        return special_result(&s);
    p[FUSED_BLOCKS] = number_of(d, f->least_d, FUSED_BLOCK_BITS);
    p[FUSED_BLOCKS].exponent -= f->shift;
    for (uint32_t i = 0; i <= FUSED_BLOCKS; i++)
        greatest = p[i].exponent > greatest ? p[i].exponent : greatest;
    int64_t sum = 0;
    for (uint32_t i = 0; i <= FUSED_BLOCKS; i++)
        sum += cut(p[i].significand, greatest - p[i].exponent);
    return to_f32(sum, greatest - FUSED_BLOCK_BITS, false);
}

/* Columns of D, whose sums are `sums`. */
static void blocks_columns(enum simd simd, const struct simd_fused *f, const struct fused_blocks *a,
                           const struct fused_blocks *b, uint32_t first, const uint32_t *sums) {
    const uint32_t rows = f->t.segments * SIMD_SEGMENT;
    const size_t stride = (size_t)rows * COLUMNS;
    for (uint32_t n = first; n < first + COLUMNS; n++)
        for (uint32_t r = 0; r < rows; r += SIMD_SEGMENT, sums += SIMD_SEGMENT) {
            uint32_t *d = f->t.d + (size_t)n * f->t.d_stride + f->t.lane[r / SIMD_SEGMENT];
#if defined(__x86_64__)
            if (simd >= SIMD_AVX512 ? fused_blocks_avx512(f, a, b, r, n, sums, stride, d)
                                    : simd == SIMD_AVX2 && fused_blocks_avx2(f, a, b, r, n, sums, stride, d))
                continue;
#else
            (void)simd;
#endif
            for (uint32_t i = 0; i < SIMD_SEGMENT; i++)
                d[i] = blocks_lane(f, a, b, r + i, n, sums + i, stride, f->t.accumulate ? num_f32_from_bits(d[i]) : 0);
        }
}

void simd_fused_blocks(enum simd simd, const struct simd_fused *f) {
    const uint32_t rows = f->t.segments * SIMD_SEGMENT;
    _Alignas(64) uint32_t sums[FUSED_BLOCKS * COLUMNS * SIMD_MAX_ROWS];
    struct fused_blocks a, b;
    struct simd_tile t = f->t; /* of one block: any order gives the same sum */
    find_factors(f, f->sfa, rows, &a);
    find_factors(f, f->sfb, f->t.n, &b);
#if defined(__x86_64__)
    if (simd >= SIMD_AVX512)
        find_numbers_avx512(f, rows, &a, &b);
    else if (simd == SIMD_AVX2)
        find_numbers_avx2(f, rows, &a, &b);
    else
#endif
        find_numbers(f, rows, &a, &b);
    t.d_stride = rows;
    t.n = COLUMNS;
    t.k = FUSED_BLOCK;
    t.step = 0;
    t.accumulate = false;
    t.exact_products = true;
    for (uint32_t s = 0; s < t.segments; s++)
        t.lane[s] = s * SIMD_SEGMENT;
    for (uint32_t n = 0; n < f->t.n; n += COLUMNS) {
        for (uint32_t g = 0; g < FUSED_BLOCKS; g++) {
            t.d = sums + g * rows * COLUMNS;
            t.a = f->t.a + simd_tile_a(0, g * FUSED_BLOCK);
            t.b = f->t.b + simd_tile_b(n, g * FUSED_BLOCK);
            simd_multiply(simd, &t);
        }
        blocks_columns(simd, f, &a, &b, n, sums);
    }
}
