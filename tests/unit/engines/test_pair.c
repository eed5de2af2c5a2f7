/* .cta_group::2: tcgen05.mma of a CTA pair against a reference that multiplies element by element and knows the layouts
 * only as 9.7.16.10.5 and CUTLASS's mma_traits_sm100_frag.hpp give them; cp and shift in both CTAs; allocation that
 * both CTAs take part in.
 */
#include "engines/tc_layout.h"
#include "machine/mbarrier.h"
#include "matrix.h"
#include "simd/multiply.h"

#include <math.h>

enum { A_AT = 0x400, B_AT = 0x8400, SPACE = 227 * 1024 - 0x400 };

struct setup {
    enum tc_kind kind;
    enum tc_elem a, b;
    enum tc_dtype d;
    uint32_t m, n;
    bool mn_a, mn_b, a_in_tmem, accumulate, ashift;
    enum tc_swizzle swizzle_a, swizzle_b;
    uint32_t issuer; /* rank in the pair */
    uint32_t disable[8];
    uint64_t seed;
};

static uint32_t a_codes[256][32], b_codes[256][32], before[2][256][128];

static void open_pair(struct fixture *f) { fixture_open_on(f, 2, SPACE, 2); }

/* Both CTAs allocate; the address is the same. */
static uint32_t alloc_pair(struct fixture *f, uint32_t columns) {
    struct cta *cta = f->cluster.cta;
    uint32_t even = 1, odd = 2;
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, columns, &even), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[1], NULL, 0, columns, &odd), TC_DONE);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, columns, &even), TC_DONE);
    CHECK_EQ(even, odd);
    return even;
}

static uint32_t idesc_of(const struct setup *s) {
    static const uint32_t codes[] = {0, 1, 2, 0, 1, 3, 4, 5, 0, 1};
    uint32_t d = s->d == TC_D_F16 ? 0 : s->d == TC_D_F32 ? 1 : 2;
    return d << 4 | codes[s->a] << 7 | codes[s->b] << 10 | (uint32_t)s->mn_a << 15 | (uint32_t)s->mn_b << 16 |
           s->n >> 3 << 17 | s->m >> 4 << 24;
}

static uint32_t random_code(enum tc_elem e, uint64_t *state) {
    uint32_t r = (uint32_t)(fixture_random(state) >> 20);
    static const num_type types[] = {NUM_F16, NUM_BF16, NUM_TF32, NUM_E4M3, NUM_E5M2};
    if (e > TC_E5M2)
        return r & ((1u << elem_bits(e)) - 1);
    return (uint32_t)num_encode(types[e], ldexp((int)(r % 513) - 256, -(int)(r >> 13 & 15)), NUM_RN, NUM_SATFINITE);
}

static struct matrix place_matrix(enum tc_elem e, bool mn, enum tc_swizzle sw, uint32_t start, uint32_t rows,
                                  uint32_t k) {
    uint32_t width = sw == TC_SW_NONE ? 16 : sw == TC_SW_32B ? 32 : sw == TC_SW_64B ? 64 : 128;
    uint32_t pattern = sw == TC_SW_128B_32B ? 512 : width * 8;
    struct matrix x = {e, mn, sw, start, 0, 0};
    if (!mn) {
        x.sbo = sw == TC_SW_NONE ? 128 : pattern;
        x.lbo = sw == TC_SW_NONE ? rows * 16 : 0;
    } else if (sw == TC_SW_NONE) {
        x.lbo = 128;
        x.sbo = k / 8 * 128;
    } else {
        x.sbo = pattern;
        x.lbo = k / (pattern / width) * pattern;
    }
    return x;
}

/* Row `row` of A, in tensor memory: layout B has it twice. */
static void put_a_tmem(struct fixture *f, const struct setup *s, uint32_t column, uint32_t row, uint32_t k,
                       uint32_t code) {
    uint32_t per = 4 / elem_bytes(s->a), bits = 32 / per, shift = k % per * bits, rows = s->m / 2;
    uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    struct tmem *t = f->gpu->sms[row / rows].tmem;
    for (uint32_t lane = row % rows; lane < 128; lane += rows) {
        uint32_t *cell = &t->cell[column + k / per][lane];
        *cell = (*cell & ~(mask << shift)) | (s->a == TC_E2M1 ? code << 2 : code) << shift;
        t->poison[column + k / per][lane / 32] &= ~(1u << (lane % 32));
    }
}

static void fill(struct fixture *f, const struct setup *s, const struct matrix *a, const struct matrix *b, uint32_t k,
                 uint32_t a_column) {
    uint64_t state = s->seed;
    for (uint32_t r = 0; r < s->m; r++)
        for (uint32_t i = 0; i < k; i++) {
            a_codes[r][i] = random_code(s->a, &state);
            if (s->a_in_tmem)
                put_a_tmem(f, s, a_column, r, i, a_codes[r][i]);
            else
                put(&f->cluster.cta[r / (s->m / 2)], a, r % (s->m / 2), i, a_codes[r][i]);
        }
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t i = 0; i < k; i++)
            put(&f->cluster.cta[n / (s->n / 2)], b, n % (s->n / 2), i, b_codes[n][i] = random_code(s->b, &state));
}

static uint32_t combine(const struct setup *s, uint32_t old, uint32_t row, uint32_t n, uint32_t k) {
    uint32_t from = s->ashift && (row + 1) % (s->m / 2) ? row + 1 : row; /* the last row of each CTA stays */
    int64_t sum = s->accumulate ? (int32_t)old : 0;
    float acc = !s->accumulate ? 0 : s->d == TC_D_F16 ? num_decode_f16((uint16_t)old) : num_f32_from_bits(old);
    float x[32], y[32];
    for (uint32_t i = 0; i < k; i++) {
        x[i] = (float)value_of(s->a, a_codes[from][i]);
        y[i] = (float)value_of(s->b, b_codes[n][i]);
        sum += s->d == TC_D_S32 ? (int64_t)x[i] * (int64_t)y[i] : 0;
    }
    if (s->d == TC_D_S32)
        return (uint32_t)(uint64_t)sum;
    acc = sum_products(s->a, s->b, x, y, k, acc);
    return s->d == TC_D_F16 ? (uint32_t)num_encode(NUM_F16, (double)acc, NUM_RN, 0) : num_f32_bits(acc);
}

/* Cells that D does not cover must keep what they held; with accumulate every cell was written before. */
static void compare(struct fixture *f, const struct setup *s, uint32_t d_column, uint32_t k) {
    static bool covered[2][256][128];
    uint32_t bad = 0, poison = 0;
    memset(covered, 0, sizeof covered);
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t r = 0; r < s->m; r++) {
            struct tc_place p = tc_layout_place(tc_layout_of(s->m, 2), s->n, r, n);
            const struct tmem *t = f->gpu->sms[p.cta].tmem;
            bool kept = s->disable[4 * p.cta + p.lane / 32] >> (p.lane % 32) & 1;
            uint32_t old = before[p.cta][p.column][p.lane], got = t->cell[d_column + p.column][p.lane];
            uint32_t want = kept ? old : combine(s, old, r, n, k);
            covered[p.cta][p.column][p.lane] = !kept;
            if (got != want && !bad++)
                fprintf(stderr, "    row %u n %u: %08x, want %08x\n", r, n, got, want);
        }
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t n = 0; n < 256; n++)
            for (uint32_t l = 0; l < 128; l++) {
                const struct tmem *t = f->gpu->sms[c].tmem;
                bad += !covered[c][n][l] && t->cell[d_column + n][l] != before[c][n][l];
                poison += (t->poison[d_column + n][l / 32] >> (l % 32) & 1) == (covered[c][n][l] || s->accumulate);
            }
    if (!CHECK_EQ(bad, 0) || !CHECK_EQ(poison, 0))
        fprintf(stderr, "    kind %d, a %s b %s d %d, M %u N %u, major %d %d, swizzle %d %d, tmem %d, issuer %u\n",
                s->kind, tc_elem_name(s->a), tc_elem_name(s->b), s->d, s->m, s->n, s->mn_a, s->mn_b, s->swizzle_a,
                s->swizzle_b, s->a_in_tmem, s->issuer);
}

static void run(const struct setup *s) {
    struct fixture f;
    open_pair(&f);
    fixture_simd(&f, s->seed);
    uint32_t base = alloc_pair(&f, 512), d_column = base + 72, a_column = base + 8, k = 32 / elem_bytes(s->a);
    struct matrix a = place_matrix(s->a, s->mn_a, s->swizzle_a, A_AT, s->m / 2, k);
    struct matrix b = place_matrix(s->b, s->mn_b, s->swizzle_b, B_AT, s->n / 2, k);
    uint64_t state = s->seed + 1;
    fill(&f, s, &a, &b, k, a_column);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t n = 0; n < 256; n++)
            for (uint32_t l = 0; l < 128; l++) {
                struct tmem *t = f.gpu->sms[c].tmem;
                uint32_t r = (uint32_t)fixture_random(&state);
                t->cell[d_column + n][l] = before[c][n][l] =
                    s->d == TC_D_F16 ? r & 0x3fff : num_f32_bits((float)((int)(r % 2001) - 1000) / 8);
                if (s->accumulate)
                    t->poison[d_column + n][l / 32] &= ~(1u << (l % 32));
            }
    struct tc_mma mma = {.kind = s->kind,
                         .group = 2,
                         .d = d_column,
                         .a_in_tmem = s->a_in_tmem,
                         .a = s->a_in_tmem ? a_column : descriptor(&a, 0),
                         .b = descriptor(&b, 0),
                         .idesc = idesc_of(s),
                         .accumulate = s->accumulate,
                         .ashift = s->ashift};
    memcpy(mma.disable, s->disable, sizeof mma.disable);
    tc_issue_mma(&f.cluster.cta[s->issuer], NULL, &mma);
    fixture_drain(&f);
    if (!CHECK_EQ(f.island.fault, 0))
        fprintf(stderr, "%s\n", fixture_report(&f));
    compare(&f, s, d_column, k);
    fixture_close(&f);
}

/* Every N of Table 39, both M. */
static void shapes(void) {
    for (uint32_t m = 128; m <= 256; m += 128)
        for (uint32_t n = 16; n <= 256; n += 16) {
            struct setup s = {.kind = TC_KIND_F16,
                              .a = TC_F16,
                              .b = TC_F16,
                              .d = TC_D_F32,
                              .m = m,
                              .n = n,
                              .swizzle_a = TC_SW_128B,
                              .swizzle_b = TC_SW_128B,
                              .seed = m + n,
                              .issuer = n / 16 % 2,
                              .accumulate = n % 48 == 0};
            run(&s);
            struct setup by_steps = s;
            by_steps.a = by_steps.b = TC_BF16;
            for (by_steps.seed = 1000; by_steps.seed <= 1000 + SIMD_AMX; by_steps.seed++) /* all loops */
                run(&by_steps);
            if (n % 32)
                continue;
            s.kind = TC_KIND_I8;
            s.a = TC_S8;
            s.b = TC_U8;
            s.d = TC_D_S32;
            run(&s);
        }
}

static void types_and_layouts(void) {
    static const struct {
        enum tc_kind kind;
        enum tc_elem a, b;
        enum tc_dtype d;
    } types[] = {
        {TC_KIND_F16, TC_BF16, TC_BF16, TC_D_F32},    {TC_KIND_F16, TC_F16, TC_F16, TC_D_F16},
        {TC_KIND_TF32, TC_TF32, TC_TF32, TC_D_F32},   {TC_KIND_F8F6F4, TC_E4M3, TC_E5M2, TC_D_F32},
        {TC_KIND_F8F6F4, TC_E2M3, TC_E2M1, TC_D_F16}, {TC_KIND_F8F6F4, TC_E2M1, TC_E3M2, TC_D_F32},
        {TC_KIND_I8, TC_U8, TC_S8, TC_D_S32},
    };
    static const enum tc_swizzle swizzles[] = {TC_SW_NONE, TC_SW_128B, TC_SW_64B, TC_SW_32B};
    uint64_t seed = 100;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        for (unsigned form = 0; form < 32; form++) {
            struct setup s = {.kind = types[i].kind,
                              .a = types[i].a,
                              .b = types[i].b,
                              .d = types[i].d,
                              .m = form & 1 ? 128 : 256,
                              .n = form & 2 ? 96 : 64,
                              .mn_a = form & 4,
                              .mn_b = form & 8,
                              .swizzle_a = swizzles[form % 4],
                              .swizzle_b = swizzles[(form / 4 + i) % 4],
                              .accumulate = form % 3 == 0,
                              .a_in_tmem = form >= 16,
                              .issuer = form / 2 % 2,
                              .seed = ++seed};
            s.mn_a &= !s.a_in_tmem && !(s.a >= TC_E2M3 && s.a <= TC_E2M1);
            s.mn_b &= !(s.b >= TC_E2M3 && s.b <= TC_E2M1);
            if (s.mn_a && s.a == TC_TF32)
                s.swizzle_a = TC_SW_128B_32B;
            if (s.mn_b && s.b == TC_TF32)
                s.swizzle_b = TC_SW_128B_32B;
            run(&s);
        }
}

static void disabled_lanes_and_shift(void) {
    struct setup s = {.kind = TC_KIND_F16, .a = TC_F16, .b = TC_F16, .d = TC_D_F32, .n = 32, .seed = 7};
    for (s.m = 128; s.m <= 256; s.m += 128) {
        for (unsigned i = 0; i < 8; i++)
            s.disable[i] = 0x01020408u << i | (i == 5 ? UINT32_MAX : 0);
        run(&s);
        memset(s.disable, 0, sizeof s.disable);
        struct setup t = s;
        t.a_in_tmem = t.ashift = true;
        run(&t);
    }
}

static void refused(uint32_t idesc, bool a_in_tmem, enum tc_kind kind, const char *part) {
    struct tc_idesc d;
    struct tc_problem p;

    CHECK(!tc_idesc_decode(kind, 2, idesc, a_in_tmem, &d, &p));
    CHECK_HAS(p.text, part);
}

static void illegal_shapes(void) {
    struct setup s = {.kind = TC_KIND_F16, .a = TC_F16, .b = TC_F16, .d = TC_D_F32, .m = 64, .n = 64};
    refused(idesc_of(&s), false, s.kind, "128 or 256 with cta_group::2");
    s.m = 128;
    s.n = 24;
    refused(idesc_of(&s), false, s.kind, "16, 32, ... 256 with cta_group::2");
    s = (struct setup){.kind = TC_KIND_I8, .a = TC_S8, .b = TC_S8, .d = TC_D_S32, .m = 256, .n = 48};
    refused(idesc_of(&s), false, s.kind, "32, 64, ... 256 with cta_group::2");
    s = (struct setup){
        .kind = TC_KIND_F8F6F4, .a = TC_E4M3, .b = TC_E4M3, .d = TC_D_F32, .m = 256, .n = 48, .mn_b = true};
    refused(idesc_of(&s), false, s.kind, "Table 52");
}

/* Faults name the CTA concerned. */
static void faults(void) {
    struct fixture f;
    open_pair(&f);
    uint32_t base = alloc_pair(&f, 64);
    struct setup s = {.kind = TC_KIND_F16, .a = TC_F16, .b = TC_F16, .d = TC_D_F32, .m = 128, .n = 64};
    struct matrix a = place_matrix(s.a, false, TC_SW_NONE, A_AT, 64, 16);
    struct matrix b = place_matrix(s.b, false, TC_SW_NONE, B_AT, 32, 16);
    struct tc_mma mma = {
        .kind = s.kind, .group = 2, .d = base, .a = descriptor(&a, 0), .b = descriptor(&b, 0), .idesc = idesc_of(&s)};
    fill(&f, &s, &a, &b, 16, 0);
    mma.accumulate = true;
    tc_issue_mma(f.cta, NULL, &mma);
    fixture_drain(&f);
    CHECK(fixture_faulted(&f, "tcgen05-accumulator-uninitialised"));
    mma.accumulate = false;
    mma.d = base + 48; /* layout B takes N / 2 columns: 48 .. 79 */
    tc_issue_mma(f.cta, NULL, &mma);
    fixture_drain(&f);
    CHECK(fixture_faulted(&f, "tcgen05-tmem-unallocated"));
    mma.d = base + 32;
    tc_issue_mma(f.cta, NULL, &mma);
    fixture_drain(&f);
    CHECK_EQ(f.island.fault, 0);
    tc_issue_mma(f.cta, NULL, &mma);
    f.cluster.cta[1].live_warps = 0;
    fixture_drain(&f);
    CHECK_HAS(fixture_report(&f), "cluster CTA 0, whose peer, CTA 1, has exited");
    CHECK(fixture_faulted(&f, "tcgen05-pair-exited"));
    fixture_close(&f);
    fixture_open(&f, 1, SPACE);
    CHECK_EQ(tc_pair_alloc(f.cta, NULL, 0, 32, &base), TC_FAULT);
    CHECK(fixture_faulted(&f, "tcgen05-pair-missing"));
    fixture_close(&f);
}

static void copies(void) {
    struct fixture f;
    open_pair(&f);
    uint32_t base = alloc_pair(&f, 32);
    struct matrix x = place_matrix(TC_E4M3, false, TC_SW_NONE, A_AT, 128, 32);
    uint32_t bad = 0;
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t r = 0; r < 128; r++)
            for (uint32_t k = 0; k < 32; k++)
                put(&f.cluster.cta[c], &x, r, k, (c * 97 + r * 3 + k) & 0xff);
    tc_issue_cp(&f.cluster.cta[1], NULL, 2, TC_CP_128X256B, TC_CP_RAW, base, descriptor(&x, 0));
    tc_issue_shift(&f.cluster.cta[1], NULL, 2, base | 32u << 16);
    fixture_drain(&f);
    CHECK_EQ(f.island.fault, 0);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t r = 0; r < 128; r++)
            for (uint32_t k = 0; k < 32; k++) {
                uint32_t from = r >= 32 && r < 63 ? r + 1 : r;
                uint32_t got = f.gpu->sms[c].tmem->cell[base + k / 4][r] >> (k % 4 * 8) & 0xff;
                bad += got != ((c * 97 + from * 3 + k) & 0xff);
            }
    CHECK_EQ(bad, 0);
    fixture_close(&f);
}

static bool use_columns(struct cta *cta, uint32_t column, uint32_t n) {
    return tc_use_cells(cta, NULL, &(struct tc_cells){"tcgen05.ld", AGENT_TENSOR_LDST, EFFECT_READ, column, n, {0}});
}

static void collective_allocation(void) {
    struct fixture f;
    open_pair(&f);
    struct cta *cta = f.cluster.cta;
    uint32_t t0 = alloc_pair(&f, 128), t1 = alloc_pair(&f, 64), x;
    CHECK(t0 != t1);
    for (uint32_t c = 0; c < 2; c++)
        CHECK(tc_owns(&cta[c], t0, 128) && tc_owns(&cta[c], t1, 64));
    /* a second warp of the CTA waits for the first */
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 1, 32, &x), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 2, 64, &x), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[1], NULL, 0, 32, &x), TC_DONE);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 2, 64, &x), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 1, 32, &x), TC_DONE);
    /* deallocation: the first blocks, and its columns are out of bounds from then on */
    CHECK(use_columns(&cta[1], t0, 8));
    CHECK_EQ(tc_pair_dealloc(&cta[0], NULL, 0, t0, 128), TC_BLOCKED);
    CHECK(tc_owns(&cta[0], t0, 128) && tc_owns(&cta[1], t0, 128));
    CHECK(use_columns(&cta[1], t1, 64));
    CHECK_EQ(tc_pair_dealloc(&cta[1], NULL, 3, t0, 128), TC_DONE);
    CHECK(!tc_owns(&cta[0], t0, 1) && !tc_owns(&cta[1], t0, 1));
    CHECK_EQ(tc_pair_dealloc(&cta[0], NULL, 0, t0, 128), TC_DONE);
    /* operands that differ */
    CHECK_EQ(tc_pair_dealloc(&cta[0], NULL, 0, t1, 64), TC_BLOCKED);
    CHECK_EQ(tc_pair_dealloc(&cta[1], NULL, 0, t1 + 64, 32), TC_FAULT);
    CHECK(fixture_faulted(&f, "tcgen05-pair-mismatch"));
    fixture_close(&f);

    open_pair(&f);
    cta = f.cluster.cta;
    CHECK_EQ(tc_pair_alloc(&cta[1], NULL, 0, 64, &x), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 32, &x), TC_FAULT);
    CHECK_HAS(fixture_report(&f), "of 32 columns at 0x00000000 in cluster CTA 0, and of 64");
    CHECK(fixture_faulted(&f, "tcgen05-pair-mismatch"));
    fixture_close(&f);
}

/* Two pairs on the same two SMs: the second gets its columns when the first gives them and the permit back. */
static void two_pairs(void) {
    struct fixture f;
    fixture_open_on(&f, 4, SPACE, 2);
    struct cta *cta = f.cluster.cta;
    uint32_t x, base = alloc_pair(&f, 512);
    CHECK_EQ(tc_pair_alloc(&cta[2], NULL, 0, 256, &x), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[3], NULL, 0, 256, &x), TC_BLOCKED);
    CHECK_EQ(tc_pair_dealloc(&cta[0], NULL, 0, base, 512), TC_BLOCKED);
    CHECK_EQ(tc_pair_dealloc(&cta[1], NULL, 0, base, 512), TC_DONE);
    CHECK_EQ(tc_pair_alloc(&cta[2], NULL, 0, 256, &x), TC_BLOCKED); /* the permit */
    CHECK(tc_relinquish(&cta[0], NULL));
    CHECK_EQ(tc_pair_alloc(&cta[3], NULL, 0, 256, &x), TC_BLOCKED); /* of one SM is not enough */
    CHECK(tc_relinquish(&cta[1], NULL));
    CHECK_EQ(tc_pair_alloc(&cta[3], NULL, 0, 256, &x), TC_DONE);
    CHECK_EQ(tc_pair_alloc(&cta[2], NULL, 0, 256, &base), TC_DONE);
    CHECK_EQ(x, base);
    CHECK(tc_owns(&cta[2], base, 256) && tc_owns(&cta[3], base, 256));
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 32, &x), TC_FAULT);
    CHECK(fixture_faulted(&f, "tcgen05-alloc-after-relinquish"));
    fixture_close(&f);
}

int main(void) {
    shapes();
    types_and_layouts();
    disabled_lanes_and_shift();
    illegal_shapes();
    faults();
    copies();
    collective_allocation();
    two_pairs();
    return check_report();
}
