/* Block-scaled tcgen05.mma (9.7.16.10.7), for one CTA and for pairs, against a reference that multiplies element by
 * element. Matrices are K-major with 32 bytes a row; 4-bit elements without padding are written as bytes.
 */
#include "engines/tc_layout.h"
#include "matrix.h"
#include "simd/multiply.h"

#include <math.h>

enum { A_AT = 0x400, B_AT = 0x4400, SPACE = 64 * 1024, SFA = 480, SFB = 488 /* columns, 8 of each */ };

struct setup {
    enum tc_kind kind;
    enum tc_elem a, b; /* of .kind::mxf8f6f4 */
    unsigned group;
    uint32_t m, n, block, sfa_id, sfb_id;
    bool ue4m3, accumulate, negate_b, a_in_tmem;
    uint64_t seed;
};

static float a_value[256][64], b_value[256][64], a_scale[256][4], b_scale[256][4];
static uint32_t before[2][256][128];

static bool is_packed(const struct setup *s) { return s->kind != TC_KIND_MXF8F6F4; }

static uint32_t idesc_of(const struct setup *s) {
    static const uint32_t codes[] = {0, 0, 0, 0, 1, 3, 4, 5};
    uint32_t a = is_packed(s) ? 1 : codes[s->a], b = is_packed(s) ? 1 : codes[s->b];
    return s->sfb_id << 4 | a << 7 | b << 10 | (uint32_t)s->negate_b << 14 | s->n >> 3 << 17 |
           (uint32_t)!s->ue4m3 << 23 | s->m >> 7 << 27 | s->sfa_id << 29;
}

static struct matrix plain(enum tc_elem e, uint32_t at, uint32_t rows) {
    return (struct matrix){e, false, TC_SW_NONE, at, rows * 16, 128};
}

/* One row of a matrix: its elements as numbers, and its bytes in memory. */
static void fill_row(struct cta *cta, const struct setup *s, const struct matrix *x, uint32_t row, float *value,
                     uint64_t *state) {
    for (uint32_t k = 0; k < (is_packed(s) ? 64u : 32u); k++) {
        uint32_t code = (uint32_t)(fixture_random(state) >> 20);
        if (is_packed(s)) {
            code &= 15;
            value[k] = (float)value_of(TC_E2M1, code);
            uint32_t at = place(x, row, k / 2);
            cta->smem[at] = (uint8_t)(k % 2 ? (cta->smem[at] & 15) | code << 4 : code);
            smem_clear_poison(cta, at, 1);
            continue;
        }
        code &= (1u << elem_bits(x->elem)) - 1;
        if ((x->elem == TC_E4M3 && (code & 0x7f) == 0x7f) || (x->elem == TC_E5M2 && (code & 0x7c) == 0x7c))
            code = 0; /* neither NaN nor infinity */
        value[k] = (float)value_of(x->elem, code);
        put(cta, x, row, k, code);
    }
}

/* A's rows of 32 bytes, lane by lane, as they lie in shared memory (8-bit and packed 4-bit types alike). */
static void move_a_to_tmem(struct fixture *f, const struct setup *s, const struct matrix *x, uint32_t column) {
    uint32_t rows = s->m / s->group;
    for (uint32_t c = 0; c < s->group; c++)
        for (uint32_t lane = 0; lane < 128; lane++)
            for (uint32_t k = 0; k < 32; k++) {
                struct tmem *t = f->gpu->sms[c].tmem;
                uint32_t *cell = &t->cell[column + k / 4][lane];
                uint32_t byte = f->cluster.cta[c].smem[place(x, lane % rows, k)];
                *cell = (*cell & ~(0xffu << k % 4 * 8)) | byte << k % 4 * 8;
                t->poison[column + k / 4][lane / 32] &= ~(1u << (lane % 32));
            }
}

/* Random factors of `rows` rows into partitions [first, first + 2 or 4) of the CTAs of `ctas`. */
static void fill_scales(struct fixture *f, const struct setup *s, unsigned ctas, uint32_t column, uint32_t id,
                        uint32_t rows, uint32_t partitions, float (*scale)[4], uint64_t *state) {
    uint32_t factors = (is_packed(s) ? 64 : 32) / s->block;
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = 0; i < factors; i++) {
            uint32_t random = (uint32_t)(fixture_random(state) >> 30);
            uint32_t code = s->ue4m3 ? random % 127 : 120 + random % 16;
            scale[r][i] = s->ue4m3 ? (float)num_decode(NUM_E4M3, code) : ldexpf(1, (int)code - 127);
            for (unsigned c = 0; c < 2; c++)
                for (uint32_t p = 0; p < 4; p++) {
                    if (!(ctas >> c & 1) || !(partitions >> p & 1))
                        continue;
                    struct tmem *t = f->gpu->sms[c].tmem;
                    uint32_t *cell = &t->cell[column + r / 32][32 * p + r % 32];
                    *cell = (*cell & ~(0xffu << 8 * (id + i))) | code << 8 * (id + i);
                    t->poison[column + r / 32][p] &= ~(1u << (r % 32));
                }
        }
}

static void allocate(struct fixture *f, const struct setup *s) {
    uint32_t x;
    struct cta *cta = f->cluster.cta;
    if (s->group == 1) {
        fixture_alloc(f, f->cta, 512);
        return;
    }
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 512, &x), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[1], NULL, 0, 512, &x), TC_DONE);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 512, &x), TC_DONE);
}

static struct tc_mma prepare(struct fixture *f, const struct setup *s) {
    fixture_open_on(f, s->group, SPACE, s->group);
    allocate(f, s);
    fixture_simd(f, s->seed);
    uint64_t state = s->seed;
    uint32_t rows = s->m / s->group, columns = s->n / s->group;
    bool layout_b = s->group == 2 && s->m == 128;
    struct matrix a = plain(is_packed(s) ? TC_E4M3 : s->a, A_AT, rows),
                  b = plain(is_packed(s) ? TC_E4M3 : s->b, B_AT, columns);
    for (uint32_t r = 0; r < s->m; r++)
        fill_row(&f->cluster.cta[r / rows], s, &a, r % rows, a_value[r], &state);
    for (uint32_t n = 0; n < s->n; n++)
        fill_row(&f->cluster.cta[n / columns], s, &b, n % columns, b_value[n], &state);
    for (unsigned c = 0; c < s->group; c++)
        fill_scales(f, s, 1u << c, SFA, s->sfa_id, rows, 15, a_scale + c * rows, &state);
    if (layout_b) { /* the halves of N in the halves of the lanes */
        fill_scales(f, s, 3, SFB, s->sfb_id, s->n / 2, 3, b_scale, &state);
        fill_scales(f, s, 3, SFB, s->sfb_id, s->n / 2, 12, b_scale + s->n / 2, &state);
    } else {
        fill_scales(f, s, s->group == 2 ? 3 : 1, SFB, s->sfb_id, s->n, 15, b_scale, &state);
    }
    for (unsigned c = 0; c < s->group; c++)
        for (uint32_t n = 0; n < 256; n++)
            for (uint32_t l = 0; l < 128; l++) {
                struct tmem *t = f->gpu->sms[c].tmem;
                t->cell[n][l] = before[c][n][l] =
                    num_f32_bits((float)((int)(fixture_random(&state) % 2001) - 1000) / 8);
                if (s->accumulate)
                    t->poison[n][l / 32] &= ~(1u << (l % 32));
            }
    if (s->a_in_tmem)
        move_a_to_tmem(f, s, &a, 300);
    return (struct tc_mma){.kind = s->kind,
                           .group = s->group,
                           .a_in_tmem = s->a_in_tmem,
                           .a = s->a_in_tmem ? 300 : descriptor(&a, 0),
                           .b = descriptor(&b, 0),
                           .idesc = idesc_of(s),
                           .accumulate = s->accumulate,
                           .block = s->block,
                           .sfa = SFA | s->sfa_id << 30,
                           .sfb = SFB | s->sfb_id << 30};
}

static void run(const struct setup *s) {
    struct fixture f;
    struct tc_mma mma = prepare(&f, s);
    uint32_t bad = 0;
    tc_issue_mma(f.cta, NULL, &mma);
    fixture_drain(&f);
    if (!CHECK_EQ(f.island.fault, 0))
        fprintf(stderr, "%s\n", fixture_report(&f));
    for (uint32_t r = 0; r < s->m; r++)
        for (uint32_t n = 0; n < s->n; n++) {
            const struct tc_place p = tc_layout_place(tc_layout_of(s->m, s->group), s->n, r, n);
            float acc = s->accumulate ? num_f32_from_bits(before[p.cta][p.column][p.lane]) : 0;
            const uint32_t count = is_packed(s) ? 64 : 32;
            float x[64], y[64];
            for (uint32_t k = 0; k < count; k++) {
                x[k] = a_value[r][k] * a_scale[r][k / s->block];
                y[k] = b_value[n][k] * b_scale[n][k / s->block] * (s->negate_b ? -1 : 1);
            }
            acc = sum_products(TC_E4M3, TC_E4M3, x, y, count, acc);
            uint32_t got = f.gpu->sms[p.cta].tmem->cell[p.column][p.lane];
            if (got != num_f32_bits(acc) && !bad++)
                fprintf(stderr, "    row %u n %u: %08x, want %08x\n", r, n, got, num_f32_bits(acc));
        }
    if (!CHECK_EQ(bad, 0))
        fprintf(stderr, "    kind %d a %s b %s group %u M %u N %u block %u ids %u %u ue4m3 %d\n", s->kind,
                tc_elem_name(s->a), tc_elem_name(s->b), s->group, s->m, s->n, s->block, s->sfa_id, s->sfb_id, s->ue4m3);
    fixture_close(&f);
}

static void sweep(void) {
    static const enum tc_elem elems[] = {TC_E4M3, TC_E5M2, TC_E2M3, TC_E3M2, TC_E2M1};
    static const uint32_t n1[] = {8, 40, 128, 256}, n2[] = {16, 80, 128, 256};
    uint64_t seed = 1;
    for (unsigned shape = 0; shape < 3; shape++) /* 128 alone; 128 and 256 of a pair */
        for (unsigned i = 0; i < 4; i++) {
            struct setup s = {.kind = TC_KIND_MXF8F6F4,
                              .group = shape ? 2 : 1,
                              .m = shape == 2 ? 256 : 128,
                              .n = (shape ? n2 : n1)[i],
                              .block = 32,
                              .accumulate = i % 2,
                              .negate_b = i == 2};
            for (unsigned e = 0; e < 5; e++) {
                s.a = elems[e];
                s.b = elems[(e + i) % 5];
                s.sfa_id = (e + i) % 4;
                s.sfb_id = e % 4;
                s.a_in_tmem = e < 2 && i == 1;
                s.seed = ++seed;
                run(&s);
            }
            s.a_in_tmem = i == 3;
            s.kind = TC_KIND_MXF4;
            s.sfa_id = i % 2 * 2;
            s.sfb_id = i / 2 * 2;
            s.seed = ++seed;
            run(&s);
            s.kind = TC_KIND_MXF4NVF4;
            run(&s);
            s.block = 16;
            s.sfa_id = s.sfb_id = 0;
            run(&s);
            s.ue4m3 = true;
            run(&s);
        }
}

static void refused(uint32_t idesc, enum tc_kind kind, uint32_t factors, const char *part) {
    struct tc_idesc d;
    struct tc_problem p = {.text = "nothing"};
    CHECK(!tc_idesc_decode(kind, 1, idesc, false, &d, &p) || !tc_check_scale(kind, &d, factors, &p));
    CHECK_HAS(p.text, part);
}

static void illegal(void) {
    struct setup s = {.kind = TC_KIND_MXF4NVF4, .group = 1, .m = 128, .n = 64, .block = 16, .seed = 5};
    struct fixture f;
    uint32_t good = idesc_of(&s);
    refused(good | 1u << 31, s.kind, 4, "sm_103a");
    refused(good | 1u << 15, s.kind, 4, "transpose");
    refused(good | 1u << 29, s.kind, 4, "0 with .scale_vec::4X");
    refused(good | 1u << 4, s.kind, 2, "0 or 2");
    refused(good & ~(1u << 23), s.kind, 2, "ue4m3");
    refused(good & ~(1u << 23), TC_KIND_MXF4, 2, "ue8m0");
    refused(good | 3u << 27, s.kind, 4, "M (128 with cta_group::1");
    refused(good | 1u << 24, s.kind, 4, "bits 24-26");
    struct tc_mma mma = prepare(&f, &s);
    f.gpu->sms[0].tmem->cell[SFA + 1][64 + 7] ^= 1;
    tc_issue_mma(f.cta, NULL, &mma);
    fixture_drain(&f);
    CHECK_HAS(fixture_report(&f), "scale_A, row 39");
    CHECK(fixture_faulted(&f, "tcgen05-scale-duplicates"));
    f.gpu->sms[0].tmem->cell[SFA + 1][64 + 7] ^= 1;
    f.gpu->sms[0].tmem->poison[SFB + 1][3] = 2;
    tc_issue_mma(f.cta, NULL, &mma);
    fixture_drain(&f);
    CHECK_HAS(fixture_report(&f), "scale_B, row 33: lane 97");
    CHECK(fixture_faulted(&f, "tcgen05-tmem-uninitialised"));
    mma.sfb |= 16u << 16;
    tc_issue_mma(f.cta, NULL, &mma);
    fixture_drain(&f);
    CHECK(fixture_faulted(&f, "tcgen05-scale-lane"));
    fixture_close(&f);
}

int main(void) {
    sweep();
    illegal();
    return check_report();
}
