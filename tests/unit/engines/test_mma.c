/* tcgen05.mma against a reference that multiplies element by element, in the order and rounding that
 * simd/multiply.h states: every result must be equal in all bits, on every path of the inner loops.
 */
#include "engines/tc_layout.h"
#include "matrix.h"
#include "simd/multiply.h"

#include <math.h>

enum { MAX_STEPS = 4, A_AT = 0x400, SPACE = 227 * 1024 - 0x400 };

struct setup {
    enum tc_kind kind;
    enum tc_elem a, b;
    enum tc_dtype d;
    uint32_t m, n, steps;
    bool mn_a, mn_b, negate_a, negate_b, a_in_tmem, saturate, accumulate, ashift, wild;
    enum tc_swizzle swizzle_a, swizzle_b;
    uint32_t gap; /* bytes between groups of 8 rows of K-major operands */
    uint32_t scale_d, lane;
    uint32_t disable[4];
    enum { ORDINARY, TINY, HUGE_PRODUCTS } range; /* of bf16 operands */
    uint64_t seed;
};

static uint32_t type_code(enum tc_elem e) {
    static const uint32_t codes[] = {0, 1, 2, 0, 1, 3, 4, 5, 0, 1};
    return codes[e];
}

static uint32_t idesc_of(const struct setup *s) {
    uint32_t d = s->d == TC_D_F16 ? 0 : s->d == TC_D_F32 ? 1 : 2;
    return (uint32_t)s->saturate << 3 | d << 4 | type_code(s->a) << 7 | type_code(s->b) << 10 |
           (uint32_t)s->negate_a << 13 | (uint32_t)s->negate_b << 14 | (uint32_t)s->mn_a << 15 |
           (uint32_t)s->mn_b << 16 | s->n >> 3 << 17 | s->m >> 4 << 24;
}

/* A code of the type: any at all when wild, else a finite one of moderate size, of sizes so different that a sum
 * depends on its order. */
static uint32_t random_code(enum tc_elem e, bool wild, uint64_t *state) {
    uint32_t r = (uint32_t)(fixture_random(state) >> 20);
    if (wild || e >= TC_E2M3)
        return elem_bits(e) == 32 ? r : r & ((1u << elem_bits(e)) - 1);
    double x = ldexp((int)(r % 513) - 256, -(int)(r >> 13 & 15));
    static const num_type types[] = {NUM_F16, NUM_BF16, NUM_TF32, NUM_E4M3, NUM_E5M2};
    return (uint32_t)num_encode(types[e], x, NUM_RN, NUM_SATFINITE) | (e == TC_TF32 ? r & 0x1fff : 0);
}

/* bf16 whose products straddle f32's smallest subnormal; or two products of which the second, 2^128 or more, only fits
 * once the first is added.
 */
static uint32_t ranged_code(const struct setup *s, bool is_b, uint32_t k, uint64_t *state) {
    uint32_t r = (uint32_t)(fixture_random(state) >> 20);
    if (s->range == TINY)
        return (r & 0x807f) | (50 + (r >> 8) % 15) << 7;
    if (k > 1)
        return 0;
    uint32_t exponent = 127 + (k == 0 && !is_b ? 63 : 64), sign = k == 0 && is_b ? 0x8000 : 0;
    return sign | exponent << 7 | (k == 0 ? 0x7f : r & 0x1f);
}

static uint32_t row_lane(const struct setup *s, uint32_t row) {
    return tc_layout_place(tc_layout_of(s->m, 1), s->n, row, 0).lane + s->lane;
}

static uint32_t a_codes[128][MAX_STEPS * 32], b_codes[256][MAX_STEPS * 32];
static uint32_t want[256][128];

static struct matrix place_matrix(enum tc_elem e, bool mn, enum tc_swizzle sw, uint32_t start, uint32_t rows,
                                  uint32_t k_total) {
    uint32_t width = sw == TC_SW_NONE ? 16 : sw == TC_SW_32B ? 32 : sw == TC_SW_64B ? 64 : 128;
    uint32_t pattern = sw == TC_SW_128B_32B ? 512 : width * 8;
    struct matrix x = {e, mn, sw, start, 0, 0};
    if (!mn) { /* 8-row groups one after another; without swizzling, columns of units beside them */
        x.sbo = sw == TC_SW_NONE ? 128 : pattern;
        x.lbo = sw == TC_SW_NONE ? rows * 16 : 0;
    } else if (sw == TC_SW_NONE) {
        x.lbo = 128;
        x.sbo = k_total / 8 * 128;
    } else { /* patterns along K first, then along M or N */
        x.sbo = pattern;
        x.lbo = k_total / (pattern / width) * pattern;
    }
    return x;
}

/* Bytes from one K step to the next. */
static uint32_t advance_of(const struct matrix *x, uint32_t k) { return linear(x, 0, k); }

static void fill(struct fixture *f, const struct setup *s, const struct matrix *a, const struct matrix *b,
                 uint32_t k_total, uint32_t a_column) {
    uint64_t state = s->seed;
    struct tmem *t = f->gpu->sms[0].tmem;
    for (uint32_t r = 0; r < s->m; r++)
        for (uint32_t k = 0; k < k_total; k++) {
            uint32_t c = a_codes[r][k] =
                s->range ? ranged_code(s, false, k, &state) : random_code(s->a, s->wild, &state);
            if (!s->a_in_tmem) {
                put(f->cta, a, r, k, c);
                continue;
            }
            uint32_t per = 4 / elem_bytes(s->a), bits = 32 / per, column = a_column + k / per;
            if (s->a == TC_E2M1)
                c <<= 2; /* bits 2-5 of its byte */
            uint32_t *cell = &t->cell[column][row_lane(s, r)], shift = k % per * bits;
            uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
            *cell = (*cell & ~(mask << shift)) | (c & mask) << shift;
            t->poison[column][row_lane(s, r) / 32] &= ~(1u << (row_lane(s, r) % 32));
        }
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t k = 0; k < k_total; k++)
            put(f->cta, b, n, k,
                b_codes[n][k] = s->range ? ranged_code(s, true, k, &state) : random_code(s->b, s->wild, &state));
}

/* One element of D as it stands, as a cell. */
static uint32_t combine(const struct setup *s, uint32_t old, uint32_t row, uint32_t n, uint32_t k0, uint32_t k_count,
                        bool accumulate) {
    uint32_t from = s->ashift && row + 1 < s->m ? row + 1 : row;
    if (s->d == TC_D_S32) {
        int64_t sum = accumulate ? (int32_t)old : 0;
        for (uint32_t k = k0; k < k0 + k_count; k++)
            sum += (int64_t)value_of(s->a, a_codes[from][k]) * (int64_t)value_of(s->b, b_codes[n][k]);
        if (s->saturate)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        return (uint32_t)(uint64_t)sum;
    }
    float acc = 0;
    if (accumulate)
        acc = (s->d == TC_D_F16 ? num_decode_f16((uint16_t)old) : num_f32_from_bits(old)) * ldexpf(1, -(int)s->scale_d);
    float x[32], y[32];
    for (uint32_t i = 0; i < k_count; i++) {
        x[i] = (float)value_of(s->a, a_codes[from][k0 + i]) * (s->negate_a ? -1 : 1);
        y[i] = (float)value_of(s->b, b_codes[n][k0 + i]) * (s->negate_b ? -1 : 1);
    }
    acc = sum_products(s->a, s->b, x, y, k_count, acc);
    uint32_t bits = isnan(acc) ? 0x7fffffff : num_f32_bits(acc);
    return s->d == TC_D_F16 ? (uint32_t)num_encode(NUM_F16, (double)num_f32_from_bits(bits), NUM_RN, 0) : bits;
}

static void run(const struct setup *s, enum simd simd) {
    struct fixture f;
    fixture_open(&f, 1, SPACE);
    uint32_t base = fixture_alloc(&f, f.cta, 512), d_column = base + 40, a_column = base;
    uint32_t k = 32 / elem_bytes(s->a), k_total = k * s->steps;
    struct matrix a = place_matrix(s->a, s->mn_a, s->swizzle_a, A_AT, s->m, k_total);
    struct matrix b = place_matrix(s->b, s->mn_b, s->swizzle_b, A_AT + 0x8000, s->n, k_total);
    a.sbo += s->gap;
    b.sbo += s->gap;
    if (s->gap) /* so that nothing about it is special */
        smem_clear_poison(f.cta, MACH_SMEM_FIRST, f.cta->smem_end - MACH_SMEM_FIRST);
    struct tmem *t = f.gpu->sms[0].tmem;
    tc_state_of(f.cta)->simd = simd;
    fill(&f, s, &a, &b, k_total, a_column);
    uint64_t state = s->seed + 1;
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t r = 0; r < 128; r++) {
            uint32_t edge = (uint32_t)fixture_random(&state) % 4000000;
            uint32_t v = s->saturate        ? (r & 1 ? INT32_MAX - edge : UINT32_C(0x80000000) + edge)
                         : s->d == TC_D_S32 ? (uint32_t)fixture_random(&state)
                         : s->d == TC_D_F16 ? (uint32_t)fixture_random(&state) & 0x3fff
                                            : num_f32_bits((float)((int)(fixture_random(&state) % 2001) - 1000) / 8);
            t->cell[d_column + n][r] = v;
            if (s->accumulate)
                t->poison[d_column + n][r / 32] &= ~(1u << (r % 32));
        }
    memcpy(want, t->cell[d_column], s->n * sizeof want[0]);
    for (uint32_t step = 0; step < s->steps; step++) {
        struct tc_mma mma = {.kind = s->kind,
                             .group = 1,
                             .d = d_column | s->lane << 16,
                             .a_in_tmem = s->a_in_tmem,
                             .a = s->a_in_tmem ? (a_column + step * 8) | s->lane << 16
                                               : descriptor(&a, advance_of(&a, step * k)),
                             .b = descriptor(&b, advance_of(&b, step * k)),
                             .idesc = idesc_of(s),
                             .accumulate = s->accumulate || step,
                             .ashift = s->ashift,
                             .scale_d = s->scale_d};
        memcpy(mma.disable, s->disable, sizeof s->disable);
        tc_issue_mma(f.cta, NULL, &mma);
        for (uint32_t n = 0; n < s->n; n++)
            for (uint32_t r = 0; r < s->m; r++) {
                uint32_t lane = row_lane(s, r);
                if (!(s->disable[lane / 32] >> (lane % 32) & 1))
                    want[n][lane] = combine(s, want[n][lane], r, n, step * k, k, mma.accumulate);
            }
    }
    fixture_drain(&f);
    if (!CHECK_EQ(f.island.fault, 0))
        fprintf(stderr, "%s\n", fixture_report(&f));
    uint32_t bad = 0, poison = 0;
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t l = 0; l < 128; l++) {
            bool row = s->m == 128 || (l - s->lane) % 32 < 16, kept = s->disable[l / 32] >> (l % 32) & 1;
            bool clean = s->accumulate || (row && !kept);
            if (t->cell[d_column + n][l] != want[n][l] && !bad++)
                fprintf(stderr, "    column %u lane %u: %08x, want %08x\n", n, l, t->cell[d_column + n][l], want[n][l]);
            poison += (t->poison[d_column + n][l / 32] >> (l % 32) & 1) == clean;
        }
    if (!CHECK_EQ(bad, 0) || !CHECK_EQ(poison, 0))
        fprintf(stderr,
                "    kind %d, a %s b %s d %d, M %u N %u steps %u, major %d %d, swizzle %d %d, tmem %d, path %d\n",
                s->kind, tc_elem_name(s->a), tc_elem_name(s->b), s->d, s->m, s->n, s->steps, s->mn_a, s->mn_b,
                s->swizzle_a, s->swizzle_b, s->a_in_tmem, simd);
    fixture_close(&f);
}

static void run_all(const struct setup *s) {
    for (enum simd simd = SIMD_PORTABLE; simd <= SIMD_AMX; simd++)
        if (simd_available(simd))
            run(s, simd);
}

/* Every pair of types, in every major-ness and swizzling that is legal for them. */
static void types_and_layouts(void) {
    static const struct {
        enum tc_kind kind;
        enum tc_elem a, b;
        enum tc_dtype d;
    } types[] = {
        {TC_KIND_F16, TC_F16, TC_F16, TC_D_F32},      {TC_KIND_F16, TC_BF16, TC_BF16, TC_D_F32},
        {TC_KIND_F16, TC_F16, TC_F16, TC_D_F16},      {TC_KIND_F16, TC_F16, TC_BF16, TC_D_F32},
        {TC_KIND_TF32, TC_TF32, TC_TF32, TC_D_F32},   {TC_KIND_F8F6F4, TC_E4M3, TC_E4M3, TC_D_F32},
        {TC_KIND_F8F6F4, TC_E5M2, TC_E4M3, TC_D_F32}, {TC_KIND_F8F6F4, TC_E4M3, TC_E5M2, TC_D_F16},
        {TC_KIND_F8F6F4, TC_E2M3, TC_E3M2, TC_D_F32}, {TC_KIND_F8F6F4, TC_E2M1, TC_E2M3, TC_D_F32},
        {TC_KIND_F8F6F4, TC_E3M2, TC_E2M1, TC_D_F16}, {TC_KIND_F8F6F4, TC_E2M1, TC_E5M2, TC_D_F32},
        {TC_KIND_I8, TC_U8, TC_U8, TC_D_S32},         {TC_KIND_I8, TC_S8, TC_S8, TC_D_S32},
        {TC_KIND_I8, TC_U8, TC_S8, TC_D_S32},
    };
    static const enum tc_swizzle swizzles[] = {TC_SW_NONE, TC_SW_128B_32B, TC_SW_128B, TC_SW_64B, TC_SW_32B};
    struct tc_problem p;
    uint64_t seed = 1;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        for (unsigned form = 0; form < 5 * 2 * 2; form++) {
            struct setup s = {.kind = types[i].kind,
                              .a = types[i].a,
                              .b = types[i].b,
                              .d = types[i].d,
                              .m = form & 1 ? 64 : 128,
                              .n = form & 2 ? 48 : 16,
                              .steps = 1,
                              .mn_a = form >= 10,
                              .mn_b = form & 4,
                              .swizzle_a = swizzles[form % 5],
                              .seed = ++seed};
            if (s.mn_a && s.a == TC_TF32)
                s.swizzle_a = TC_SW_128B_32B;
            s.swizzle_b = s.mn_b && s.b == TC_TF32 ? TC_SW_128B_32B : swizzles[(form * 3 + i) % 5];
            bool sub_a = s.a >= TC_E2M3 && s.a <= TC_E2M1, sub_b = s.b >= TC_E2M3 && s.b <= TC_E2M1;
            s.mn_a &= !sub_a;
            s.mn_b &= !sub_b;
            if (!tc_check_swizzle("A", s.a, s.mn_a, s.swizzle_a, &p))
                s.swizzle_a = TC_SW_64B;
            if (!tc_check_swizzle("B", s.b, s.mn_b, s.swizzle_b, &p))
                s.swizzle_b = TC_SW_32B;
            s.wild = form % 4 == 3;
            s.accumulate = form % 3 == 0;
            run_all(&s);
        }
}

/* All N that Table 39 allows, both M. */
static void shapes(void) {
    for (uint32_t n = 8; n <= 256; n += 8)
        for (uint32_t m = 64; m <= 128; m += 64) {
            struct setup s = {.kind = TC_KIND_F16,
                              .a = TC_F16,
                              .b = TC_F16,
                              .d = TC_D_F32,
                              .m = m,
                              .n = n,
                              .steps = 1,
                              .swizzle_a = TC_SW_128B,
                              .swizzle_b = TC_SW_128B,
                              .seed = n * 2 + m};
            run(&s, SIMD_BEST);
            if (n <= 32 || n % 16 == 0) {
                s.kind = TC_KIND_I8;
                s.a = s.b = TC_S8;
                s.d = TC_D_S32;
                run(&s, SIMD_BEST);
            }
        }
}

/* Several K steps into one accumulator: the descriptor moves by 32 bytes inside a swizzled row, or by
 * strides. */
static void k_steps(void) {
    for (unsigned form = 0; form < 8; form++) {
        struct setup s = {.kind = TC_KIND_F16,
                          .a = TC_BF16,
                          .b = TC_BF16,
                          .d = TC_D_F32,
                          .m = 128,
                          .n = 64,
                          .mn_a = form & 1,
                          .mn_b = form & 2,
                          .steps = form & 4 ? 2 : 4,
                          .seed = 100 + form};
        s.swizzle_a = s.mn_a || form & 4 ? TC_SW_64B : TC_SW_128B;
        s.swizzle_b = form & 4 ? TC_SW_NONE : TC_SW_128B;
        s.accumulate = form & 1;
        run_all(&s);
    }
    /* groups of 8 rows that begin elsewhere in the swizzling's pattern than the one before */
    for (unsigned form = 0; form < 2 * 3; form++) {
        static const enum tc_swizzle swizzles[] = {TC_SW_128B, TC_SW_64B, TC_SW_32B};
        const enum tc_swizzle swizzle = swizzles[form % 3];
        struct setup s = {.kind = TC_KIND_F16,
                          .a = form / 3 ? TC_BF16 : TC_F16,
                          .b = form / 3 ? TC_BF16 : TC_F16,
                          .d = TC_D_F32,
                          .m = 128,
                          .n = 48,
                          .steps = 1,
                          .swizzle_a = swizzle,
                          .swizzle_b = swizzle,
                          .gap = 16u << (3 + form % 2),
                          .seed = 300 + form};
        run_all(&s);
    }
    struct setup t = {.kind = TC_KIND_TF32,
                      .a = TC_TF32,
                      .b = TC_TF32,
                      .d = TC_D_F32,
                      .m = 128,
                      .n = 32,
                      .mn_a = true,
                      .mn_b = true,
                      .steps = 4,
                      .swizzle_a = TC_SW_128B_32B,
                      .swizzle_b = TC_SW_128B_32B,
                      .seed = 200};
    run_all(&t);
    struct setup e = {.kind = TC_KIND_F8F6F4,
                      .a = TC_E4M3,
                      .b = TC_E4M3,
                      .d = TC_D_F32,
                      .m = 64,
                      .n = 256,
                      .steps = 4,
                      .swizzle_a = TC_SW_128B,
                      .swizzle_b = TC_SW_128B,
                      .seed = 201};
    run_all(&e);
}

/* A in tensor memory, M = 64 in lower and upper half, .ashift. */
static void a_in_tmem(void) {
    static const enum tc_elem elems[] = {TC_F16, TC_BF16, TC_TF32, TC_E4M3, TC_E5M2, TC_E2M3, TC_E3M2, TC_E2M1, TC_S8};
    for (unsigned i = 0; i < sizeof elems / sizeof *elems; i++)
        for (unsigned form = 0; form < 3; form++) {
            enum tc_elem e = elems[i];
            struct setup s = {.a = e,
                              .b = e,
                              .d = e == TC_S8 ? TC_D_S32 : TC_D_F32,
                              .n = 32,
                              .steps = 2,
                              .seed = 300 + i,
                              .a_in_tmem = true,
                              .swizzle_b = TC_SW_128B,
                              .m = form ? 64 : 128,
                              .lane = form == 2 ? 16 : 0};
            s.kind = e <= TC_BF16   ? TC_KIND_F16
                     : e == TC_TF32 ? TC_KIND_TF32
                     : e == TC_S8   ? TC_KIND_I8
                                    : TC_KIND_F8F6F4;
            run_all(&s);
            s.ashift = true;
            if (!form)
                run_all(&s);
        }
    struct setup half = {.kind = TC_KIND_F16,
                         .a = TC_F16,
                         .b = TC_F16,
                         .d = TC_D_F32,
                         .m = 64,
                         .n = 32,
                         .steps = 1,
                         .lane = 16,
                         .swizzle_a = TC_SW_32B,
                         .swizzle_b = TC_SW_32B,
                         .seed = 333};
    run_all(&half);
}

static void options(void) {
    struct setup s = {.kind = TC_KIND_F16,
                      .a = TC_F16,
                      .b = TC_F16,
                      .d = TC_D_F32,
                      .m = 128,
                      .n = 24,
                      .steps = 2,
                      .swizzle_a = TC_SW_128B,
                      .swizzle_b = TC_SW_128B,
                      .accumulate = true,
                      .seed = 400};
    for (unsigned form = 0; form < 4; form++) {
        s.negate_a = form & 1;
        s.negate_b = form & 2;
        run_all(&s);
    }
    for (s.scale_d = 0; s.scale_d <= 15; s.scale_d++)
        run_all(&s);
    s.scale_d = 3;
    s.d = TC_D_F16;
    run_all(&s);
    s.scale_d = 0;
    for (unsigned form = 0; form < 6; form++) {
        s.m = form & 1 ? 64 : 128;
        s.accumulate = form & 2;
        s.d = form >= 4 ? TC_D_F16 : TC_D_F32;
        s.disable[0] = 0x0000ff01;
        s.disable[1] = 0;
        s.disable[2] = UINT32_MAX;
        s.disable[3] = 0x80000000;
        s.steps = 1;
        run_all(&s);
    }
    struct setup i = {.kind = TC_KIND_I8,
                      .a = TC_U8,
                      .b = TC_U8,
                      .d = TC_D_S32,
                      .m = 64,
                      .n = 32,
                      .steps = 4,
                      .swizzle_a = TC_SW_128B,
                      .swizzle_b = TC_SW_128B,
                      .accumulate = true,
                      .seed = 401};
    run_all(&i);
    i.saturate = true;
    run_all(&i);
    i.a = TC_S8;
    run_all(&i);
}

/* Products of bf16 and tf32 that leave f32's range need one rounding, on all paths. */
static void wide_exponents(void) {
    struct setup s = {.kind = TC_KIND_F16,
                      .a = TC_BF16,
                      .b = TC_BF16,
                      .d = TC_D_F32,
                      .m = 128,
                      .n = 64,
                      .steps = 4,
                      .swizzle_a = TC_SW_128B,
                      .swizzle_b = TC_SW_128B,
                      .wild = true,
                      .seed = 500};
    for (; s.seed < 504; s.seed++)
        run_all(&s);
    s.wild = false;
    s.steps = 1;
    s.range = TINY;
    run_all(&s);
    s.range = HUGE_PRODUCTS;
    run_all(&s);
    s.range = ORDINARY;
    s.wild = true;
    s.kind = TC_KIND_TF32;
    s.a = s.b = TC_TF32;
    for (; s.seed < 508; s.seed++)
        run_all(&s);
}

int main(void) {
    types_and_layouts();
    shapes();
    k_steps();
    a_in_tmem();
    options();
    wide_exponents();
    return check_report();
}
