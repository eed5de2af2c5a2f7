/* Products that are put off (tc_chain.h): random sequences of everything that reads or changes tensor memory, run once
 * as they are and once with every product computed at its operation, must be seen and end alike; and what is put off is
 * computed when its columns are looked at, not before.
 */
#include "engines/tc_chain.h"
#include "fixture.h"

enum { SPACE = 48 * 1024, B_AT = 16384, STEPS = 400, LOADS = STEPS * 8 * 32, INTEGERS = 128, SFA = 208, SFB = 216 };

static const uint32_t accumulators[] = {0, 64, INTEGERS}; /* columns; 64 columns each, the last of integers */

struct form {
    unsigned group;
    uint32_t m; /* of the whole matrix */
    enum simd simd;
    uint64_t seed;
    enum { F16, BF16, SCALED /* e4m3 */ } type;
};

struct outcome {
    uint32_t cell[2][TMEM_COLUMNS][TMEM_LANES];
    uint32_t poison[2][TMEM_COLUMNS][TMEM_LANES / 32];
    uint32_t loads[LOADS], num_loads;
    bool at_once;
    uint32_t longest; /* elements along K that were put off at once */
};

/* Moderate numbers of either sign in f16, small ones in bf16, or anything as bytes; with `mask` ffbf in e4m3, too. */
static void fill(struct cta *cta, uint32_t mask, uint64_t *state) {
    for (uint32_t i = MACH_SMEM_FIRST; i < cta->smem_end; i += 2) {
        uint32_t v = (((uint32_t)(fixture_random(state) >> 20) & 0x83ff) | 0x3800) & mask;
        cta->smem[i] = (uint8_t)v;
        cta->smem[i + 1] = (uint8_t)(v >> 8);
    }
    smem_clear_poison(cta, MACH_SMEM_FIRST, cta->smem_end - MACH_SMEM_FIRST);
}

static uint32_t open_form(struct fixture *f, const struct form *x) {
    uint64_t state = x->seed;
    uint32_t base = 0;
    fixture_open_on(f, x->group, SPACE, x->group);
    struct cta *cta = f->cluster.cta;
    for (uint32_t i = 0; i < x->group; i++) {
        fill(&cta[i], x->type == SCALED ? 0xffbf : 0xffff, &state);
        tc_state_of(&cta[i])->simd = x->simd;
    }
    if (x->group == 1)
        return fixture_alloc(f, cta, 512);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 512, &base), TC_BLOCKED);
    CHECK_EQ(tc_pair_alloc(&cta[1], NULL, 0, 512, &base), TC_DONE);
    CHECK_EQ(tc_pair_alloc(&cta[0], NULL, 0, 512, &base), TC_DONE);
    return base;
}

/* Tiles of 128 bytes along K, 128-byte swizzle. */
static uint64_t descriptor(uint32_t offset) {
    return (uint64_t)(MACH_SMEM_FIRST + offset) >> 4 | UINT64_C(1) << 16 | UINT64_C(64) << 32 | UINT64_C(1) << 46 |
           UINT64_C(2) << 61;
}

/* Runs the queues; what is put off is computed at once, or not here. */
static void run_queues(struct fixture *f, bool at_once) {
    for (uint32_t i = 0; i < f->cluster.num_ctas; i++)
        for (struct async_queue *q = f->cluster.cta[i].queues; q; q = q->next)
            while (q->head && async_step(q))
                if (at_once)
                    tc_flush(&f->cluster);
}

static struct tc_mma ordinary(const struct form *x, uint32_t accumulator, uint32_t n) {
    bool integer = accumulators[accumulator] == INTEGERS;
    struct tc_mma mma = {.kind = integer ? TC_KIND_I8 : TC_KIND_F16,
                         .group = x->group,
                         .d = accumulators[accumulator],
                         .a = descriptor(0),
                         .b = descriptor(B_AT),
                         .accumulate = true};
    mma.idesc = (integer ? 2u : 1u) << 4 | n >> 3 << 17 | x->m >> 4 << 24;
    if (integer || x->type == BF16)
        mma.idesc |= 1 << 7 | 1 << 10; /* signed, or bf16 */
    if (x->type == SCALED && !integer) {
        mma.kind = TC_KIND_MXF8F6F4;
        mma.idesc = n >> 3 << 17 | 1u << 23 | x->m >> 7 << 27; /* ue8m0 */
        mma.block = 32;
        mma.sfa = SFA;
        mma.sfb = SFB;
    }
    return mma;
}

/* What lanes 0 to 31 of a column hold. */
static void look(struct fixture *f, struct cta *cta, struct outcome *o, uint32_t column) {
    struct tc_access a = {.shape = TC_32X32B, .num = 1, .taddr = column, .threads = UINT32_MAX};
    uint32_t poison;
    run_queues(f, o->at_once);
    CHECK(tc_load(cta, NULL, &a, o->loads + o->num_loads, &poison));
    o->num_loads += 32;
}

/* A product, of one kind or another, into one of the accumulators. */
static void issue_mma(struct fixture *f, const struct form *x, struct outcome *o, uint64_t *state) {
    uint32_t r = (uint32_t)(fixture_random(state) >> 16), which = r >> 4 & 31, acc = r % 8 < 5 ? 0 : r % 8 % 3;
    struct cta *cta = &f->cluster.cta[x->group == 2 && r >> 9 & 1];
    struct tc_mma mma = ordinary(x, acc, which == 0 ? 32 : 64);
    mma.a += r >> 10 & 6; /* 32 bytes further along K each */
    mma.b += r >> 13 & 6;
    if (mma.block) /* which byte of the factors' cells */
        mma.idesc |= (r >> 17 & 3) << 29 | (r >> 19 & 3) << 4;
    if (which == 1)
        mma.accumulate = false;
    else if (which == 2 && acc < 2 && x->type != SCALED)
        mma.scale_d = r >> 16 & 15;
    else if (which == 3)
        mma.disable[r >> 16 & 7] = r;
    else if (which == 4 && acc < 2)
        mma.d += 32; /* overlaps */
    else if (which == 5 && acc == 2)
        mma.idesc |= 1 << 3; /* saturating */
    else if (which == 6 && acc < 2)
        mma.idesc |= 1 << 13; /* -A */
    else if (which == 7) {    /* A behind the accumulators, then out of D itself */
        mma.a_in_tmem = true;
        mma.a = 192;
        tc_issue_mma(cta, NULL, &mma);
        mma.a = mma.d + (r >> 16 & 0x38);
    }
    tc_issue_mma(cta, NULL, &mma);
    if (which != 4 && which != 7)
        return;
    look(f, cta, o, mma.d + (r >> 20 & 63));
    mma = ordinary(x, acc, 64); /* numbers that are read as others may be NaN: begins again */
    mma.accumulate = false;
    run_queues(f, o->at_once);
    if (which == 4 && x->m / x->group == 128)
        tc_issue_mma(cta, NULL, &mma);
}

/* Something else that looks at tensor memory, or changes it. */
static void observe(struct fixture *f, const struct form *x, struct outcome *o, uint64_t *state) {
    uint32_t r = (uint32_t)(fixture_random(state) >> 16), c = x->group == 2 && r & 1, column = r >> 8 & 0xb8;
    struct cta *cta = &f->cluster.cta[c];
    struct tc_access a = {.shape = r & 2 ? TC_32X32B : TC_16X32BX2,
                          .num = 4,
                          .split = 64,
                          .taddr = (column >> 1) | (r >> 4 & 3) << 21,
                          .threads = UINT32_MAX};
    uint32_t data[8 * 32], poison[8] = {0};
    switch (r >> 24 & 7) {
    case 0:
        for (uint32_t i = 0; i < 4 * 32; i++) /* f32 between 1 and 2 */
            data[i] = (uint32_t)(fixture_random(state) >> 41) | 0x3f800000;
        CHECK(tc_store(cta, NULL, &a, data, poison));
        break;
    case 1:
        tc_issue_cp(cta, NULL, x->group, TC_CP_128X256B, TC_CP_RAW, column, descriptor(0));
        break;
    case 2:
        tc_issue_shift(cta, NULL, x->group, column | (r >> 4 & 3) << 21);
        break;
    default:
        CHECK(tc_load(cta, NULL, &a, data, poison));
        memcpy(o->loads + o->num_loads, data, 4 * 32 * sizeof *data);
        o->num_loads += 4 * 32;
        break;
    }
}

static void run(const struct form *x, bool at_once, struct outcome *o) {
    struct fixture f;
    uint64_t state = x->seed + 1;
    memset(o, 0, sizeof *o);
    o->at_once = at_once;
    CHECK_EQ(open_form(&f, x), 0);
    for (uint32_t c = 0; c < x->group; c++) { /* everything is initialised */
        memset(f.gpu->sms[c].tmem->cell, 0, sizeof o->cell[0]);
        memset(f.gpu->sms[c].tmem->poison, 0, sizeof o->poison[0]);
        for (uint32_t i = 0; i < 8 * TMEM_LANES; i++)
            f.gpu->sms[c].tmem->cell[192 + i / TMEM_LANES][i % TMEM_LANES] = 0x3c013802 + i;
        for (uint32_t i = 0; i < 16 * TMEM_LANES; i++) /* 1/4 to 2, in each partition the same, of each CTA others */
            f.gpu->sms[c].tmem->cell[SFA + i / TMEM_LANES][i % TMEM_LANES] =
                0x7d7d7d7d + ((c + i % 32 * (i / TMEM_LANES + 3) * 0x10305) & 0x03030303);
    }
    for (uint32_t i = 0; i < STEPS && !f.island.fault; i++) {
        if (fixture_random(&state) >> 40 & 7)
            issue_mma(&f, x, o, &state);
        else
            observe(&f, x, o, &state);
        run_queues(&f, at_once);
        uint32_t k = tc_scratch_of(f.cta)->chain.k;
        o->longest = k > o->longest ? k : o->longest;
    }
    if (!CHECK_EQ(f.island.fault, 0))
        fprintf(stderr, "%s\n", fixture_report(&f));
    tc_flush(&f.cluster);
    for (uint32_t c = 0; c < x->group; c++) {
        memcpy(o->cell[c], f.gpu->sms[c].tmem->cell, sizeof o->cell[c]);
        memcpy(o->poison[c], f.gpu->sms[c].tmem->poison, sizeof o->poison[c]);
    }
    fixture_close(&f);
}

static void sequences(void) {
    static struct outcome one, many;
    static const struct form forms[] = {
        {1, 128, SIMD_BEST, 1, F16},     {1, 64, SIMD_BEST, 2, F16},      {2, 256, SIMD_BEST, 3, F16},
        {2, 128, SIMD_BEST, 4, F16},     {1, 128, SIMD_PORTABLE, 5, F16}, {2, 128, SIMD_AVX2, 6, F16},
        {1, 128, SIMD_BEST, 7, BF16},    {1, 64, SIMD_BEST, 8, BF16},     {2, 256, SIMD_BEST, 9, BF16},
        {2, 128, SIMD_BEST, 10, BF16},   {2, 128, SIMD_AVX512, 11, BF16}, {1, 128, SIMD_BEST, 12, SCALED},
        {2, 256, SIMD_BEST, 13, SCALED}, {2, 128, SIMD_BEST, 14, SCALED}, {1, 128, SIMD_PORTABLE, 15, SCALED},
        {2, 256, SIMD_AVX2, 16, SCALED}};
    for (unsigned i = 0; i < 2 * sizeof forms / sizeof *forms; i++) {
        struct form x = forms[i / 2];
        x.seed += i % 2 * 100;
        run(&x, true, &one);
        run(&x, false, &many);
        CHECK_EQ(one.longest, 0);
        CHECK(many.longest > 64);
        CHECK_EQ(one.num_loads, many.num_loads);
        if (!CHECK(memcmp(one.loads, many.loads, sizeof one.loads) == 0) ||
            !CHECK(memcmp(one.cell, many.cell, sizeof one.cell) == 0) ||
            !CHECK(memcmp(one.poison, many.poison, sizeof one.poison) == 0))
            fprintf(stderr, "    group %u, M %u, path %d, seed %d\n", x.group, x.m, x.simd, (int)x.seed);
    }
}

/* When what was put off is computed. */
static void precisely(void) {
    const struct form x = {1, 128, SIMD_BEST, 9, F16};
    struct fixture f;
    uint32_t data[32], poison[1];
    CHECK_EQ(open_form(&f, &x), 0);
    const struct tc_chain *chain = &tc_scratch_of(f.cta)->chain;
    struct tc_access a = {.shape = TC_32X32B, .num = 1, .taddr = 64, .threads = UINT32_MAX};
    CHECK(tc_store(f.cta, NULL, &a, data, (uint32_t[]){0}));
    for (uint32_t i = 0; i < 3; i++) {
        struct tc_mma mma = ordinary(&x, 0, 64);
        mma.accumulate = i;
        tc_issue_mma(f.cta, NULL, &mma);
        run_queues(&f, false);
        CHECK_EQ(chain->k, 16 * (i + 1));
    }
    CHECK(tc_load(f.cta, NULL, &a, data, poison)); /* the column behind it */
    CHECK_EQ(chain->k, 48);
    a.taddr = 63;
    CHECK(tc_load(f.cta, NULL, &a, data, poison));
    CHECK_EQ(chain->k, 0);
    for (uint32_t i = 0; i <= SIMD_MAX_K / 16; i++) { /* it is full */
        struct tc_mma mma = ordinary(&x, 1, 64);
        mma.accumulate = i;
        tc_issue_mma(f.cta, NULL, &mma);
        run_queues(&f, false);
        CHECK_EQ(chain->k, 16 * (i + 1) % SIMD_MAX_K);
    }
    fixture_close(&f);
}

/* Columns that are given back and allocated by another CTA; a CTA that goes away. */
static void owners(void) {
    struct fixture f;
    uint32_t data[32], poison[1], seen[32];
    const struct form x = {1, 128, SIMD_BEST, 10, F16};
    fixture_open(&f, 2, SPACE);
    struct cta *cta = f.cluster.cta;
    uint64_t state = 1;
    fill(&cta[0], 0xffff, &state);
    struct tc_access a = {.shape = TC_32X32B, .num = 1, .threads = UINT32_MAX};
    struct tc_mma mma = ordinary(&x, 0, 64);
    mma.accumulate = false;
    CHECK_EQ(fixture_alloc(&f, &cta[0], 64), 0);
    CHECK_EQ(fixture_alloc(&f, &cta[0], 64), 64); /* an SM keeps its tensor memory while it has an owner */
    tc_issue_mma(&cta[0], NULL, &mma);
    run_queues(&f, false);
    CHECK(tc_dealloc(&cta[0], NULL, 0, 64));
    CHECK(tc_relinquish(&cta[0], NULL));
    CHECK_EQ(fixture_alloc(&f, &cta[1], 64), 0);
    for (uint32_t i = 0; i < 32; i++)
        data[i] = i;
    CHECK(tc_store(&cta[1], NULL, &a, data, (uint32_t[]){0}));
    tc_flush(&f.cluster);
    CHECK(tc_load(&cta[1], NULL, &a, seen, poison));
    CHECK(memcmp(data, seen, sizeof data) == 0);
    CHECK_EQ(poison[0], 0);
    fill(&cta[1], 0xffff, &state);
    tc_issue_mma(&cta[1], NULL, &mma);
    run_queues(&f, false);
    tc_cta_release(&cta[1]);
    tc_flush(&f.cluster);
    CHECK(memcmp(f.gpu->sms[0].tmem->cell[0], data, sizeof data) == 0);
    fixture_close(&f);
}

/* Scale factors that a product leaves: zero, 2^-127, where larger ones stood. */
static void scale_factors(void) {
    const struct form x = {1, 128, SIMD_BEST, 11, F16};
    struct fixture f;
    CHECK_EQ(open_form(&f, &x), 0);
    struct tmem *t = f.gpu->sms[0].tmem;
    memset(t->poison, 0, sizeof t->poison);
    for (uint32_t c = 0; c < 64; c++)
        for (uint32_t l = 0; l < TMEM_LANES; l++)
            t->cell[c][l] = 0x7f7f7f7f;
    memset(f.cta->smem + MACH_SMEM_FIRST, 0x38, B_AT); /* ones of e4m3 */
    memset(f.cta->smem + MACH_SMEM_FIRST + B_AT, 0, 64 * 128);
    struct tc_mma zero = ordinary(&x, 0, 64), scaled = ordinary(&x, 1, 64);
    zero.accumulate = scaled.accumulate = false;
    scaled.kind = TC_KIND_MXF8F6F4;
    scaled.idesc = 64 >> 3 << 17 | 1u << 23 | 128 >> 7 << 27; /* e4m3, ue8m0 */
    scaled.block = 32;
    scaled.sfa = 0;
    scaled.sfb = 4;
    scaled.b = descriptor(0);
    tc_issue_mma(f.cta, NULL, &zero);
    tc_issue_mma(f.cta, NULL, &scaled);
    run_queues(&f, false);
    if (!CHECK_EQ(f.island.fault, 0))
        fprintf(stderr, "%s\n", fixture_report(&f));
    tc_flush(&f.cluster);
    uint32_t large = 0;
    for (uint32_t c = 64; c < 128; c++)
        for (uint32_t l = 0; l < TMEM_LANES; l++)
            large += (t->cell[c][l] & 0x7fffffff) > 0x00800000; /* a factor of 2^-254 leaves none */
    CHECK_EQ(large, 0);
    for (uint32_t c = 64; c < 192; c++)
        for (uint32_t l = 0; l < TMEM_LANES; l++)
            t->cell[c][l] = 0x7f7f7f7f;
    scaled.sfa = scaled.sfb = 128; /* the same out of what is put off itself, which is zero */
    scaled.b = descriptor(B_AT);
    tc_issue_mma(f.cta, NULL, &scaled);
    scaled.accumulate = true;
    scaled.sfa = scaled.sfb = 64;
    scaled.b = descriptor(0);
    tc_issue_mma(f.cta, NULL, &scaled);
    run_queues(&f, false);
    if (!CHECK_EQ(f.island.fault, 0))
        fprintf(stderr, "%s\n", fixture_report(&f));
    tc_flush(&f.cluster);
    for (uint32_t c = 64; c < 128; c++)
        for (uint32_t l = 0; l < TMEM_LANES; l++)
            large += (t->cell[c][l] & 0x7fffffff) > 0x00800000;
    CHECK_EQ(large, 0);
    fixture_close(&f);
}

int main(void) {
    sequences();
    precisely();
    owners();
    scale_factors();
    return check_report();
}
