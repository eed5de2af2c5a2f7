/* What each of the host's vector units makes of a product with the bits of a B200: for every element what the rule for
 * one element makes of it. The operands are what the loops sort out: exponents near and far, zeros, sums that leave 32
 * bits, infinities and NaN, a D of any size.
 */
#include "simd/fused_lane.h"
#include "unit/engines/fixture.h"

enum { ROWS = 64, N = 8, INSTRUCTIONS = 3, ROUNDS = 4 };

static const struct type {
    const char *name;
    uint32_t step;
    int least, most, bits; /* exponents, and bits of a significand after its first */
    bool half;             /* D is f16 */
    bool scaled;           /* by factors of ue8m0 */
} types[] = {
    {"f16", 16, -14, 15, 10, false, false},   {"f16 to f16", 16, -14, 15, 10, true, false},
    {"bf16", 16, -126, 127, 7, false, false}, {"tf32", 8, -126, 127, 10, false, false},
    {"e4m3", 32, -6, 8, 3, false, false},     {"mxf8", 32, -6, 8, 3, false, true},
};

enum style { NEAR, ANY, SPAN, SPARSE, EMPTY, SPECIAL, LARGEST, LIMIT, HIGH, LOW, STYLES }; /* of A and B, */
enum d_style { D_ZERO, D_NEAR, D_BITS, D_LARGEST, D_LIMIT, D_STYLES };                     /* and of D */

static uint64_t state = 1;
static float a[2][SIMD_MAX_ROWS * SIMD_A_STRIDE], b[SIMD_MAX_ROWS * SIMD_B_STRIDE], scales_a[ROWS], scales_b[N];
static uint32_t before[ROWS * N], want[2][ROWS * N], out[ROWS * N];
static struct simd_exponents work;
static int middle[2]; /* exponents of A and of B */
static int first;     /* of SPAN and EMPTY: the least exponent */
static int span;      /* the same, which some loops end at: exponents beside it */

static uint32_t draw(uint32_t n) { return (uint32_t)(fixture_random(&state) >> 32) % n; }

static float number(int e, uint32_t significand, uint32_t sign) {
    return num_f32_from_bits(sign << 31 | (uint32_t)(e + FUSED_BIAS) << 23 | significand);
}

/* Element k of a row or column. `sign`: of LARGEST and LIMIT, whose products add up to more than 32 bits have in the
 * loops, or to -2^31. */
static float element(const struct type *t, enum style style, int of, uint32_t k, uint32_t sign) {
    int low = middle[of] - 3, high = middle[of] + 3;
    if (style == ANY || style == HIGH)
        high = t->most;
    if (style == ANY || style == LOW)
        low = t->least;
    if (style == HIGH)
        low = t->most - 2;
    if (style == LOW)
        high = t->least + 2;
    if (style == SPAN || style == EMPTY) {
        low = t->least > first ? t->least : first;
        high = low + span < t->most ? low + span : t->most;
    }
    const uint32_t all = (UINT32_C(1) << t->bits) - 1, shift = 23 - (uint32_t)t->bits;
    if (style == LARGEST)
        return number(middle[of], all << shift, sign);
    if (style == LIMIT)
        return k % t->step < 25 ? 1.5f : 1.0f;
    if (style == SPECIAL && draw(200) == 0)
        return num_f32_from_bits(draw(2) << 31 | UINT32_C(0x7f800000) | (draw(3) ? 0 : 1 << 22));
    if (style == EMPTY ? draw(64) != 0 : draw(style == SPARSE ? 2 : 40) == 0)
        return number(-FUSED_BIAS, 0, draw(2));
    const int e = draw(2) ? low + (int)draw((uint32_t)(high - low + 1)) : draw(2) ? low : high;
    return number(e, draw(all + 1) << shift, draw(2));
}

/* With a D of f16 its numbers alone. */
static uint32_t element_of_d(const struct type *t, enum d_style style, uint32_t sign) {
    const int near = middle[0] + middle[1];
    const uint32_t significand = draw(1 << 10) << 13, any = draw(2);
    if (style == D_LIMIT)
        return num_f32_bits(-0.75f);
    if (style == D_ZERO || draw(500) == 0)
        return any << 31;
    if (style == D_LARGEST)
        return num_f32_bits(number(near + 1, UINT32_C(0x7fe000), sign));
    if (style == D_NEAR)
        return num_f32_bits(number(near - 4 + (int)draw(8), significand, any));
    return t->half ? num_f32_bits(number(-14 + (int)draw(30), significand, any)) : draw(UINT32_MAX);
}

/* At most 128, but for one in `rare`, which is anything. */
static void draw_scales(float *scales, uint32_t count, uint32_t rare, bool nan) {
    for (uint32_t i = 0; i < count; i++) {
        const int e = draw(rare) ? (int)draw(24) - 16 : (int)draw(255) - 127;
        scales[i] = nan ? num_f32_from_bits(NUM_NAN_F32) : e == -127 ? 0x1p-127f : number(e, 0, 0);
    }
}

/* What the rule for one element makes of it. */
static void expect(const struct simd_fused *f, uint32_t *to) {
    for (uint32_t n = 0; n < N; n++)
        for (uint32_t r = 0; r < ROWS; r++) {
            uint32_t d = before[n * ROWS + r];
            for (uint32_t k = 0; k < f->t.k; k += f->t.step)
                d = fused_lane(f, r, n, k, k || f->t.accumulate, d);
            to[n * ROWS + r] = d;
        }
}

/* A product, and one of the same B and another A. */
static void check(const struct simd_fused *f, enum simd simd) {
    struct simd_fused of = *f;
    of.t.d = out;
    for (int i = 0; i < 2; i++) {
        of.t.a = a[i];
        memcpy(out, before, sizeof out);
        simd_fused_multiply(simd, &of, i > 0);
        CHECK_MEM(out, want[i], sizeof out);
    }
}

/* Of types of many exponents anywhere, but so that the products mostly are for the loops. */
static void draw_middles(const struct type *t) {
    middle[0] = middle[1] = (t->least + t->most) / 2;
    if (t->most < 100 || draw(2))
        return;
    middle[0] = -120 + (int)draw(240);
    middle[1] = -60 + (int)draw(110) - middle[0];
    middle[1] = middle[1] < -120 ? -120 : middle[1] > 120 ? 120 : middle[1];
}

/* A D of f16 takes one instruction. */
static void compare(const struct type *t, bool accumulate) {
    const struct simd_fused f = {.t = {.d_stride = ROWS,
                                       .lane = {0, 16, 32, 48},
                                       .segments = ROWS / SIMD_SEGMENT,
                                       .n = N,
                                       .k = t->half ? t->step : INSTRUCTIONS * t->step,
                                       .step = t->step,
                                       .a = a[1],
                                       .b = b,
                                       .accumulate = accumulate},
                                 .least_a = t->least,
                                 .least_b = t->least,
                                 .least_d = t->half ? -14 : -126,
                                 .floor = t->half ? -21 : -133,
                                 .shift = t->half ? 0 : (int)draw(2) * (int)draw(16),
                                 .odd = t->half,
                                 .sfa = t->scaled ? scales_a : NULL,
                                 .sfb = t->scaled ? scales_b : NULL,
                                 .factors = 1,
                                 .work = &work};
    expect(&f, want[1]);
    struct simd_fused first = f;
    first.t.a = a[0];
    expect(&first, want[0]);
    for (enum simd simd = SIMD_PORTABLE; simd <= SIMD_AVX512; simd++)
        if (simd_available(simd))
            check(&f, simd);
}

static void run(const struct type *t, enum style style, enum d_style d_style, bool accumulate) {
    const uint32_t sign = style == LIMIT ? 1 : draw(2);
    const enum style other = draw(2) ? ANY : style;
    const uint32_t both = draw(2); /* where the sum of A's and B's exponents ends some loops */
    first = both ? -42 : -32;
    span = (both ? 50 : 62) + (int)draw(3);
    draw_middles(t);
    for (uint32_t k = 0; k < INSTRUCTIONS * t->step; k++) {
        for (uint32_t r = 0; r < ROWS; r++)
            for (int i = 0; i < 2; i++)
                a[i][simd_tile_a(r, k)] = element(t, i ? other : style, 0, k, 0);
        for (uint32_t n = 0; n < N; n++)
            b[simd_tile_b(n, k)] = (style == LIMIT ? -1.0f : 1.0f) * element(t, style, 1, k, sign);
    }
    for (uint32_t i = 0; i < ROWS * N; i++)
        before[i] = element_of_d(t, d_style, sign);
    const bool nan = t->scaled && draw(3) == 0;
    draw_scales(scales_a, t->scaled ? ROWS : 0, ROWS / 2, nan);
    draw_scales(scales_b, t->scaled ? N : 0, 2 * N, nan);
    compare(t, accumulate);
}

/* Zeros but for elements 0 and 1 of all rows of A and columns of B, x and y. Element 0 of row 1 is by[0] times as
 * large, element 1 of column 1 by[1] times. D is much less. */
static void run_two(const struct type *t, const float x[2], const float y[2], const float by[2]) {
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t r = 0; r < ROWS; r++)
            a[0][simd_tile_a(r, k)] = a[1][simd_tile_a(r, k)] = r == 1 && k == 0 ? x[k] * by[0] : x[k];
        for (uint32_t n = 0; n < N; n++)
            b[simd_tile_b(n, k)] = n == 1 && k == 1 ? y[k] * by[1] : y[k];
    }
    for (uint32_t i = 0; i < ROWS * N; i++)
        before[i] = num_f32_bits(0x1.5p-95f);
    compare(t, true);
}

/* Where few exponents end, and infinities among few. */
static void run_edges(const struct type *t) {
    for (int far = 62; far < 66; far++)
        for (int of = 0; of < 2; of++) {
            const float by[2] = {of ? 1 : number(far, 0, 0), of ? number(far, 0, 0) : 1};
            run_two(t, (const float[]){0x1p-32f, 0}, (const float[]){0, 0x1p-32f}, by);
        }
    run_two(t, (const float[]){0x1p100f, 0x1p100f}, (const float[]){0x1p-100f, 0x1p-100f},
            (const float[]){INFINITY, 1});
    run_two(t, (const float[]){0x1p-100f, 0x1p-100f}, (const float[]){0x1p100f, 0x1p100f},
            (const float[]){1, INFINITY});
}

int main(void) {
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        for (enum style style = 0; style < STYLES; style++)
            for (enum d_style d = 0; d < D_STYLES; d++)
                for (uint32_t round = 0; round < ROUNDS; round++)
                    run(&types[i], style, d, round > 0);
    for (uint32_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].most == 127)
            run_edges(&types[i]);
    return check_report();
}
