/* The matrix unit beside the other loops: equal bits where sums go by steps, and what it must leave to them; with
 * --umma=fast the bound that simd/amx.h states. On a host without a matrix unit nothing is tested.
 */
#include "simd/amx.h"
#include "unit/engines/fixture.h"

#include <math.h>

static float a[128 * SIMD_A_STRIDE], b[256 * SIMD_B_STRIDE];
static uint32_t fast_d[256 * 128], exact_d[256 * 128], first_d[256 * 128];
static struct simd_amx work;

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* `bits` significant bits, of either sign, exponents from -range to range. */
static float random_float(uint64_t *state, uint32_t bits, uint32_t range) {
    uint32_t r = (uint32_t)(fixture_random(state) >> 20);
    uint32_t exponent = 127 + (r >> 24) % (2 * range + 1) - range;
    return float_of((r & 1) << 31 | exponent << 23 | ((r >> 1 & 0x7fffff) & ~((1u << (24 - bits)) - 1)));
}

struct setup {
    uint32_t m, n, k, step, bits_a, bits_b, range;
    bool accumulate, split_lanes;
};

static struct simd_tile make_tile(const struct setup *s, uint64_t *state) {
    struct simd_tile t = {.d_stride = 128,
                          .segments = s->m / 16,
                          .n = s->n,
                          .k = s->k,
                          .step = s->step,
                          .a = a,
                          .b = b,
                          .accumulate = s->accumulate,
                          .scale = 1};
    for (uint32_t i = 0; i < t.segments; i++)
        t.lane[i] = i * (s->split_lanes ? 32 : 16);
    memset(a, 0xff, sizeof a); /* NaN where nothing may be read */
    memset(b, 0xff, sizeof b);
    for (uint32_t k = 0; k < s->k; k++) {
        for (uint32_t r = 0; r < s->m; r++)
            a[simd_tile_a(r, k)] = random_float(state, s->bits_a, s->range);
        for (uint32_t n = 0; n < s->n; n++)
            b[simd_tile_b(n, k)] = random_float(state, s->bits_b, s->range);
    }
    for (uint32_t i = 0; i < 256 * 128; i++) {
        float x = random_float(state, 24, 4);
        memcpy(&first_d[i], &x, sizeof x);
    }
    return t;
}

/* Both ways; false: the matrix unit did nothing. */
static bool multiply(struct simd_tile *t, unsigned parts_a, unsigned parts_b) {
    memcpy(fast_d, first_d, sizeof first_d);
    memcpy(exact_d, first_d, sizeof first_d);
    t->d = exact_d;
    simd_multiply(SIMD_PORTABLE, t);
    t->d = fast_d;
    return simd_amx_multiply(t, parts_a, parts_b, false, &work);
}

/* How far the two are apart, as a share of what simd/amx.h allows; 2 where something else was written. */
static double distance(const struct setup *s, const struct simd_tile *t, uint32_t products) {
    static bool inside[256 * 128];
    double worst = 0, u = ldexp(1, -24), tiny = ldexp(1, -126);
    memset(inside, 0, sizeof inside);
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t r = 0; r < s->m; r++) {
            uint32_t at = n * 128 + t->lane[r / 16] + r % 16;
            double sum = s->accumulate ? fabs((double)float_of(first_d[at])) : 0, ab = 0;
            for (uint32_t k = 0; k < s->k; k++) {
                double x = fabs((double)a[simd_tile_a(r, k)]), y = fabs((double)b[simd_tile_b(n, k)]);
                sum += x * y;
                ab += x + y;
            }
            double bound = (s->k + 17 + products * s->k / 32.0) * u * sum * (1 + ldexp(1, -10)) +
                           tiny * (4 * products * s->k + ab);
            double d = fabs((double)float_of(fast_d[at]) - (double)float_of(exact_d[at])) / bound;
            worst = !(d <= worst) ? d : worst; /* and NaN */
            inside[at] = true;
        }
    for (uint32_t i = 0; i < 256 * 128; i++)
        if (!inside[i] && fast_d[i] != first_d[i])
            worst = 2;
    return worst;
}

static void bounds(void) {
    uint64_t state = 1;
    for (unsigned form = 0; form < 48; form++) {
        static const uint32_t ks[] = {SIMD_MAX_K, 8, 16, 40, 112, 32};
        static const uint32_t ns[] = {256, 8, 24, 16, 48, 120, 64};
        struct setup s = {.m = form % 4 ? 128 : 64,
                          .n = ns[form % 7],
                          .k = ks[form % 6],
                          .bits_a = form % 3 != 1 ? 11 : 8,
                          .bits_b = form % 3 != 2 ? 11 : 8,
                          .range = form % 5 == 4 ? 63 : 7,
                          .accumulate = form % 5 != 1,
                          .split_lanes = form % 4 == 0};
        unsigned parts_a = s.bits_a > 8 ? 2 : 1, parts_b = s.bits_b > 8 ? 2 : 1;
        struct simd_tile t = make_tile(&s, &state);
        CHECK(multiply(&t, parts_a, parts_b));
        double d = distance(&s, &t, parts_a * parts_b);
        if (!CHECK(d <= 1))
            fprintf(stderr, "    %g of the bound: M %u N %u K %u, parts %u %u\n", d, s.m, s.n, s.k, parts_a, parts_b);
    }
}

/* Subnormals count as 0, and the bound says so. */
static void subnormals(void) {
    uint64_t state = 2;
    struct setup s = {.m = 64, .n = 16, .k = 32, .bits_a = 8, .bits_b = 11, .range = 2, .accumulate = true};
    struct simd_tile t = make_tile(&s, &state);
    for (uint32_t k = 0; k < s.k; k++)
        for (uint32_t r = 0; r < s.m; r++)
            a[simd_tile_a(r, k)] = float_of(r % 2 ? 0x00010000 * (1 + k) : 0x00800000 * (1 + k % 3));
    for (uint32_t i = 0; i < 256 * 128; i++)
        first_d[i] = i % 0x7fffff;
    CHECK(multiply(&t, 1, 2));
    CHECK(distance(&s, &t, 2) <= 1);
    CHECK_EQ(fast_d[1], 0); /* all of odd rows are */
}

/* An infinity or NaN in parts is refused. */
static void not_finite(void) {
    uint64_t state = 3;
    struct setup s = {.m = 128, .n = 24, .k = 32, .bits_a = 11, .bits_b = 8, .range = 3, .accumulate = true};
    for (unsigned i = 0; i < 3; i++) {
        struct simd_tile t = make_tile(&s, &state);
        *(i % 2 ? &a[simd_tile_a(127, 31)] : &b[simd_tile_b(23, 0)]) = i == 2 ? NAN : -INFINITY;
        CHECK(!multiply(&t, 2, 1));
        CHECK(memcmp(fast_d, first_d, sizeof first_d) == 0);
    }
    struct simd_tile t = make_tile(&s, &state);
    t.scale = 0.5f;
    CHECK(!multiply(&t, 2, 1));
}

static void set_exponent(float *x, uint32_t biased) {
    uint32_t bits;
    memcpy(&bits, x, sizeof bits);
    *x = float_of((bits & 0x807fffff) | biased << 23);
}

/* By steps: every bit is that of the portable loop, also where sums cancel, overflow or are not numbers. */
static void steps(void) {
    uint64_t state = 5;
    for (unsigned form = 0; form < 60; form++) {
        static const uint32_t ks[] = {SIMD_MAX_K, 16, 32, 48, 112, 80};
        static const uint32_t ns[] = {256, 8, 24, 16, 48, 120, 64};
        struct setup s = {.m = form % 3 ? 128 : 64,
                          .n = ns[form % 7],
                          .k = ks[form % 6],
                          .step = form % 2 || ks[form % 6] % 32 ? 16 : 32,
                          .bits_a = 8,
                          .bits_b = form % 4 ? 8 : 3,
                          .range = form % 5 == 4 ? 25 : 3,
                          .accumulate = form % 4 != 1,
                          .split_lanes = form % 3 == 0};
        struct simd_tile t = make_tile(&s, &state);
        for (uint32_t i = 0; i < s.m; i++) {
            a[simd_tile_a(i, i % s.k)] = i % 2 ? 0.0f : -0.0f;
            b[simd_tile_b(i % s.n, i % s.k)] = i % 3 ? 0.0f : -0.0f;
            /* cancels the product before it in the same sum, or in the other */
            uint32_t k = i % (s.k - 2), from = k + 1 + i % 2;
            a[simd_tile_a(i, from)] = -a[simd_tile_a(i, k)];
            b[simd_tile_b(i % s.n, from)] = b[simd_tile_b(i % s.n, k)];
            first_d[t.lane[i / 16] + i % 16] = i % 2 ? 0x80000000 : 0;
        }
        if (form % 6 == 5) {
            a[simd_tile_a(5, 3)] = INFINITY;
            b[simd_tile_b(s.n - 1, 9)] = -NAN;
            set_exponent(&a[simd_tile_a(6, 1)], 254);
            set_exponent(&b[simd_tile_b(2, 1)], 250);
            first_d[128 + t.lane[0]] = 0xff800000;
            first_d[256 + t.lane[0]] = 0xffc12345;
        }
        CHECK(multiply(&t, 1, 1));
        if (!CHECK(memcmp(fast_d, exact_d, sizeof fast_d) == 0))
            fprintf(stderr, "    form %u: M %u N %u K %u step %u\n", form, s.m, s.n, s.k, s.step);
    }
}

/* What could be subnormal on the way is left to the other loops, and nothing else: one number of each operand and of D
 * is the smallest. */
static void left(void) {
    static const struct {
        uint32_t a, b, d; /* biased exponents; 0: subnormal */
        bool taken;
    } all[] = {{71, 71, 24, true},   {70, 71, 24, false},  {71, 71, 23, false},  {1, 141, 100, true},
               {1, 140, 100, false}, {0, 160, 100, false}, {160, 0, 100, false}, {100, 100, 0, false}};
    for (unsigned i = 0; i < 2 * sizeof all / sizeof *all; i++) {
        uint64_t state = i;
        const bool accumulate = i % 2, d_counts = all[i / 2].d < 24;
        struct setup s = {.m = 128, .n = 32, .k = 48, .step = 16, .bits_a = 8, .bits_b = 8, .range = 3};
        s.accumulate = accumulate;
        struct simd_tile t = make_tile(&s, &state);
        for (uint32_t k = 0; k < s.k; k++) { /* so that the smallest decide */
            for (uint32_t r = 0; r < s.m; r++)
                set_exponent(&a[simd_tile_a(r, k)], all[i / 2].a + (all[i / 2].a && (r + k) % 9));
            for (uint32_t n = 0; n < s.n; n++)
                set_exponent(&b[simd_tile_b(n, k)], all[i / 2].b + (all[i / 2].b && (n + k) % 7));
        }
        for (uint32_t e = 0; e < 256 * 128; e++)
            first_d[e] = (first_d[e] & 0x807fffff) | (all[i / 2].d + (e % 5 != 0)) << 23;
        CHECK_EQ(multiply(&t, 1, 1), all[i / 2].taken || (d_counts && !accumulate));
        if (all[i / 2].taken && !CHECK(memcmp(fast_d, exact_d, sizeof fast_d) == 0))
            fprintf(stderr, "    exponents %u, %u, %u\n", all[i / 2].a, all[i / 2].b, all[i / 2].d);
    }
}

/* bf16 that becomes tiles without being numbers: one element of either operand decides whether the sums might become
 * subnormal, wherever it is, and what was refused comes back as numbers. */
static void gathered(void) {
    enum { M = 64, N = 32, K = 48, ROW_A = 64, ROW_B = 16, ROW = 2 * K, B_AT = M * ROW };
    static uint8_t smem[(M + N) * ROW];
    static const uint32_t exponents[] = {42, 41, 0}; /* beside 100 of the other operand; subnormal */
    uint64_t state = 6;
    for (unsigned form = 0; form < 3 * 2 * 8; form++) {
        const bool in_b = form & 1, last_row = form & 2, odd = form & 4, late = form & 8;
        const uint32_t exponent = exponents[form / 16], rows = in_b ? N : M;
        for (uint32_t i = 0; i < (M + N) * K; i++) {
            const uint32_t r = (uint32_t)(fixture_random(&state) >> 20);
            const uint32_t bits = (r & 0x807f) | (100 + r % 3 * (i % 5)) << 7;
            smem[2 * i] = (uint8_t)bits;
            smem[2 * i + 1] = (uint8_t)(bits >> 8);
        }
        uint8_t *decides = smem + (in_b ? B_AT : 0) + (last_row ? rows - 1 : 0) * ROW + 2 * ((late ? 32 + 8 : 4) + odd);
        const uint32_t bits = exponent << 7 | 0x8001;
        decides[0] = (uint8_t)bits;
        decides[1] = (uint8_t)(bits >> 8);
        smem[5 * ROW + 6] = smem[5 * ROW + 7] = 0; /* a zero decides nothing */
        smem[B_AT + 14] = 0;
        smem[B_AT + 15] = 0x80;
        simd_amx_begin(&work);
        for (uint32_t k = 0; k < K; k += 16) {
            uint32_t off[2 * M];
            for (uint32_t i = 0; i < 2 * M; i++)
                off[i] = i / 2 * ROW + 2 * k + i % 2 * 16;
            /* groups that are alike, and groups with a list each */
            const struct simd_groups alike = {off, 0, 8 * ROW}, listed = {off, 16, 0};
            simd_amx_gather_a(&work, smem, late ? &alike : &listed, ROW_A, M, k);
            simd_amx_gather_b(&work, smem + B_AT, odd ? &alike : &listed, ROW_B, N, k);
        }
        struct setup s = {.m = M, .n = N, .k = K, .step = 16, .bits_a = 8, .bits_b = 8, .range = 3};
        struct simd_tile t = make_tile(&s, &state);
        t.tiles = true;
        t.tiles_a = ROW_A;
        t.tiles_b = ROW_B;
        simd_amx_unpack(&work, &t, a, b);
        CHECK_EQ(multiply(&t, 1, 1), exponent == 42);
        if (exponent == 42)
            CHECK(memcmp(fast_d, exact_d, sizeof fast_d) == 0);
        for (uint32_t k = 0; k < K; k++) {
            uint32_t wrong = 0;
            for (uint32_t r = 0; r < M + N; r++) {
                const float x = r < M ? a[simd_tile_a(r, k)] : b[simd_tile_b(r - M, k)];
                const uint8_t *p = smem + r * ROW + 2 * k;
                wrong += memcmp(&x, (uint8_t[]){0, 0, p[0], p[1]}, 4) != 0;
            }
            CHECK_EQ(wrong, 0);
        }
    }
}

int main(void) {
    if (!simd_available(SIMD_AMX)) {
        printf("no matrix unit here\n");
        return 0;
    }
    bounds();
    subnormals();
    not_finite();
    steps();
    left();
    gathered();
    return check_report();
}
