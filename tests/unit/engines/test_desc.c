/* Descriptors: known values, every field's limits, the tables of legal forms, and the faults of a tcgen05.mma
 * that breaks one of them.
 */
#include "matrix.h"

#define A_AT 0x400u
#define B_AT 0x4400u

static void known_values(void) {
    struct tc_idesc d;
    struct tc_problem p;
    CHECK(tc_idesc_decode(TC_KIND_F16, 1, 0x08400010, false, &d, &p));
    CHECK_EQ(d.m, 128);
    CHECK_EQ(d.n, 256);
    CHECK_EQ(d.k, 16);
    CHECK_EQ(d.a, TC_F16);
    CHECK_EQ(d.b, TC_F16);
    CHECK_EQ(d.d, TC_D_F32);
    CHECK(!d.mn_major_a && !d.mn_major_b && !d.negate_a && !d.negate_b);
    struct tc_desc s;
    /* 128B-swizzled K-major tile at 0x8400, rows of 128 bytes: SBO 1024. */
    CHECK(tc_desc_decode(0x4000404000010840ull, "A", &s, &p));
    CHECK_EQ(s.start, 0x8400);
    CHECK_EQ(s.lbo, 16);
    CHECK_EQ(s.sbo, 1024);
    CHECK_EQ(s.swizzle, TC_SW_128B);
    CHECK_EQ(tc_desc_unit_k(&s, 0, 0), 0x8400);
    CHECK_EQ(tc_desc_unit_k(&s, 1, 0), 0x8480 + 16);
    CHECK_EQ(tc_desc_unit_k(&s, 7, 1), 0x8780 + 16 * 6);
    CHECK_EQ(tc_desc_unit_k(&s, 8, 0), 0x8800);
}

/* The units of all layouts, against the CuTe form of matrix.h. */
static void units(void) {
    static const enum tc_swizzle swizzles[] = {TC_SW_NONE, TC_SW_128B_32B, TC_SW_128B, TC_SW_64B, TC_SW_32B};
    uint64_t state = 7;
    struct tc_problem p;
    for (int i = 0; i < 5; i++)
        for (int round = 0; round < 8; round++) {
            uint32_t lbo = (uint32_t)(fixture_random(&state) % 16384) * 16,
                     sbo = (uint32_t)(fixture_random(&state) % 16384) * 16;
            uint32_t start = (uint32_t)(fixture_random(&state) % 200) * 1024, bad = 0;
            for (int mn = 0; mn < 2; mn++) {
                struct matrix x = {TC_F16, mn, swizzles[i], start, lbo, sbo};
                struct tc_desc d;
                CHECK(tc_desc_decode(descriptor(&x, 0), "A", &d, &p));
                for (uint32_t row = 0; row < 256; row += mn ? 8 : 1)
                    for (uint32_t k = 0; k < 16; k += mn ? 1 : 8)
                        bad += place(&x, row, k) !=
                               (mn ? simd_swizzled(&d.xor,
                                                   d.start + tc_desc_chunk_mn(&d, row / 8) + tc_desc_line_mn(&d, k))
                                   : tc_desc_unit_k(&d, row, k / 8));
            }
            CHECK_EQ(bad, 0);
        }
}

static void smem_fields(void) {
    const uint64_t good = 0x4000404000010840ull;
    struct tc_desc d;
    struct tc_problem p;
    for (unsigned bit = 0; bit < 64; bit++) {
        bool fixed = (bit >= 46 && bit <= 48) || (bit >= 53 && bit <= 60) || (bit >= 14 && bit <= 15) ||
                     (bit >= 30 && bit <= 31);
        if (!fixed)
            continue;
        CHECK(!tc_desc_decode(good ^ 1ull << bit, "A", &d, &p));
        CHECK_STR(p.rule->id, "tcgen05-smem-descriptor");
    }
    for (uint64_t mode = 0; mode < 8; mode++) {
        bool legal = mode == 0 || mode == 1 || mode == 2 || mode == 4 || mode == 6;
        CHECK_EQ(tc_desc_decode((good & ~(7ull << 61)) | mode << 61, "A", &d, &p), legal);
    }
    CHECK(!tc_desc_decode(good | 1ull << 52, "A", &d, &p));
    CHECK_STR(p.rule->id, "unsupported");
}

/* Table 41: the pattern's start, with and without a base offset; steps inside a row are silent. */
static void base_offset(void) {
    static const struct {
        enum tc_swizzle s;
        uint32_t pattern, width;
    } modes[] = {{TC_SW_128B, 1024, 128}, {TC_SW_64B, 512, 64}, {TC_SW_32B, 256, 32}, {TC_SW_128B_32B, 512, 128}};
    struct tc_desc d;
    struct tc_problem p;
    for (int i = 0; i < 4; i++)
        for (uint32_t offset = 0; offset < 8; offset++)
            for (uint32_t start = 0x2000; start < 0x2800; start += 16) {
                uint64_t bits =
                    1ull << 46 | (uint64_t)modes[i].s << 61 | start >> 4 | (uint64_t)offset << 49 | 64ull << 32;
                uint32_t into = (start + modes[i].pattern * 8 - offset * 128) % modes[i].pattern;
                const bool suits = into < modes[i].width;
                CHECK_EQ(tc_desc_decode(bits, "A", &d, &p), suits || !offset);
                CHECK_EQ(p.rule == NULL, suits);
                const bool wider = modes[i].width < 128 && (start % 1024 < 128 || (i == 2 && start % 512 < 64));
                if (!suits)
                    CHECK_STR(p.rule->id, offset  ? "tcgen05-smem-base-mismatch"
                                          : wider ? "tcgen05-smem-swizzle"
                                                  : "tcgen05-smem-base-offset");
            }
    /* Without one, a row has the phase of its own address. */
    CHECK(tc_desc_decode(1ull << 46 | 2ull << 61 | 0x2200 >> 4 | 64ull << 32, "A", &d, &p));
    for (uint32_t r = 0; r < 8; r++)
        CHECK_EQ(tc_desc_unit_k(&d, r, 1), (0x2200 + r * 128 + 16) ^ ((r + 4) % 8) << 4);
    /* With base offset 3 the pattern starts at 3 * 128: row r of it has phase r. */
    CHECK(tc_desc_decode(1ull << 46 | 2ull << 61 | 0x2180 >> 4 | 3ull << 49 | 64ull << 32, "A", &d, &p));
    for (uint32_t r = 0; r < 8; r++)
        CHECK_EQ(tc_desc_unit_k(&d, r, 0), (0x2180 + r * 128) ^ r << 4);
}

static uint32_t idesc(uint32_t d, uint32_t a, uint32_t b, uint32_t m, uint32_t n) {
    return d << 4 | a << 7 | b << 10 | n >> 3 << 17 | m >> 4 << 24;
}

static bool decodes(enum tc_kind kind, uint32_t bits, bool a_in_tmem, struct tc_problem *p) {
    struct tc_idesc d;
    return tc_idesc_decode(kind, 1, bits, a_in_tmem, &d, p);
}

static void instruction_fields(void) {
    struct tc_problem p;
    static const struct {
        enum tc_kind kind;
        uint32_t dtypes, elems; /* sets of legal codes */
    } kinds[] = {{TC_KIND_F16, 3, 3}, {TC_KIND_TF32, 2, 4}, {TC_KIND_F8F6F4, 3, 0x3b}, {TC_KIND_I8, 4, 3}};
    for (int i = 0; i < 4; i++)
        for (uint32_t d = 0; d < 4; d++)
            for (uint32_t a = 0; a < 8; a++)
                for (uint32_t b = 0; b < 8; b++) {
                    bool legal = kinds[i].dtypes >> d & 1 && kinds[i].elems >> a & 1 && kinds[i].elems >> b & 1;
                    if (kinds[i].kind == TC_KIND_F16 && d == 0 && (a || b))
                        legal = false; /* bf16 has no f16 accumulator */
                    CHECK_EQ(decodes(kinds[i].kind, idesc(d, a, b, 128, 64), false, &p), legal);
                }
    for (unsigned bit = 0; bit < 32; bit++) {
        bool refused = bit == 2 || bit == 3 || bit == 6 || bit == 23 || bit == 29;
        if (refused) {
            CHECK(!decodes(TC_KIND_F16, idesc(1, 0, 0, 128, 64) | 1u << bit, false, &p));
            CHECK_STR(p.rule->id, "tcgen05-instruction-descriptor");
        }
    }
    CHECK(decodes(TC_KIND_I8, idesc(2, 0, 0, 128, 64) | 1u << 3, false, &p));
    for (unsigned bit = 13; bit <= 14; bit++) {
        CHECK(!decodes(TC_KIND_I8, idesc(2, 0, 0, 128, 64) | 1u << bit, false, &p));
        CHECK(decodes(TC_KIND_TF32, idesc(1, 2, 2, 128, 64) | 1u << bit, false, &p));
    }
}

/* Table 39 and 52 over all M and N that the fields can hold. */
static void shapes(void) {
    struct tc_problem p;
    const uint32_t transpose_b = 1u << 16, transpose_a = 1u << 15;
    for (uint32_t m = 0; m < 512; m += 16)
        for (uint32_t n = 0; n < 512; n += 8) {
            bool m_ok = m == 64 || m == 128, n_ok = n >= 8 && n <= 256, even = n % 16 == 0;
            CHECK_EQ(decodes(TC_KIND_F16, idesc(1, 0, 0, m, n), false, &p), m_ok && n_ok);
            CHECK_EQ(decodes(TC_KIND_F16, idesc(1, 0, 0, m, n) | transpose_b, false, &p), m_ok && n_ok);
            CHECK_EQ(decodes(TC_KIND_TF32, idesc(1, 2, 2, m, n), true, &p), m_ok && n_ok);
            CHECK_EQ(decodes(TC_KIND_F8F6F4, idesc(1, 0, 1, m, n), false, &p), m_ok && n_ok);
            CHECK_EQ(decodes(TC_KIND_F8F6F4, idesc(1, 0, 1, m, n) | transpose_b, false, &p), m_ok && n_ok && even);
            CHECK_EQ(decodes(TC_KIND_I8, idesc(2, 0, 1, m, n), false, &p), m_ok && n_ok && (even || n <= 24));
            CHECK_EQ(decodes(TC_KIND_I8, idesc(2, 0, 1, m, n) | transpose_b, false, &p), m_ok && n_ok && even);
        }
    CHECK(!decodes(TC_KIND_F16, idesc(1, 0, 0, 128, 264), false, &p));
    CHECK_HAS(p.text, "264");
    CHECK_HAS(p.text, "Table 39");
    CHECK_STR(p.rule->id, "tcgen05-mma-shape");
    CHECK(!decodes(TC_KIND_I8, idesc(2, 0, 0, 128, 8) | transpose_b, false, &p));
    CHECK_HAS(p.text, "Table 52");
    CHECK(!decodes(TC_KIND_F16, idesc(1, 0, 0, 128, 64) | transpose_a, true, &p));
    CHECK_HAS(p.text, "Table 53");
    CHECK_STR(p.rule->id, "tcgen05-mma-major");
    CHECK(decodes(TC_KIND_F8F6F4, idesc(1, 0, 0, 128, 64) | transpose_a, false, &p) && !p.rule);
    CHECK(decodes(TC_KIND_F8F6F4, idesc(1, 5, 0, 128, 64) | transpose_a, false, &p));
    CHECK_STR(p.rule->id, "tcgen05-mma-narrow-major");
    CHECK_HAS(p.text, "(15) of a 4- or 6-bit A (Table 54)");
    CHECK(decodes(TC_KIND_F8F6F4, idesc(1, 0, 3, 128, 64) | transpose_b, false, &p));
    CHECK_STR(p.rule->id, "tcgen05-mma-narrow-major");
    CHECK_HAS(p.text, "(16) of a 4- or 6-bit B (Table 54)");
}

/* Tables 54 and 55. */
static void swizzle_legality(void) {
    static const enum tc_swizzle swizzles[] = {TC_SW_NONE, TC_SW_128B_32B, TC_SW_128B, TC_SW_64B, TC_SW_32B};
    struct tc_problem p;
    for (int e = TC_F16; e <= TC_S8; e++)
        for (int mn = 0; mn < 2; mn++)
            for (int i = 0; i < 5; i++) {
                bool base32 = swizzles[i] == TC_SW_128B_32B, legal = mn && e == TC_TF32 ? base32 : !base32;
                CHECK_EQ(tc_check_swizzle("A", (enum tc_elem)e, mn, swizzles[i], &p), legal);
            }
}

/* --- faults of whole operations ----------------------------------------------------------------------------------- */

static struct tc_mma good_mma(uint32_t taddr) {
    struct matrix a = {TC_F16, false, TC_SW_128B, A_AT, 0, 1024}, b = {TC_F16, false, TC_SW_128B, B_AT, 0, 1024};
    return (struct tc_mma){.group = 1,
                           .kind = TC_KIND_F16,
                           .d = taddr,
                           .a = descriptor(&a, 0),
                           .b = descriptor(&b, 0),
                           .idesc = idesc(1, 0, 0, 128, 64)};
}

static bool faults(struct fixture *f, const struct tc_mma *mma, const char *id, const char *part) {
    tc_issue_mma(f->cta, NULL, mma);
    fixture_drain(f);
    bool has = strstr(fixture_report(f), part) != NULL;
    if (!has)
        fprintf(stderr, "expected \"%s\", got: %s\n", part, f->report);
    return fixture_faulted(f, id) && has;
}

static bool runs(struct fixture *f, const struct tc_mma *mma) {
    tc_issue_mma(f->cta, NULL, mma);
    fixture_drain(f);
    return !f->island.fault;
}

/* Columns 0 to 7 of D are written and read by two sums. From then on they are known to have no poison. Returns the
 * second of the two. */
static struct tc_mma add_twice(struct fixture *f, struct tc_mma m, uint32_t taddr) {
    m.d = taddr, m.idesc = idesc(1, 0, 0, 128, 8);
    CHECK(runs(f, &m));
    m.d = taddr + 8; /* another sum, so that D is looked at */
    CHECK(runs(f, &m));
    m.accumulate = true, m.d = taddr;
    CHECK(runs(f, &m));
    return m;
}

/* A in tensor memory has few rows: where nothing was written in a warp's lanes, those of D become garbage. */
static void few_rows(struct fixture *f, struct tc_mma m, uint32_t taddr) {
    uint32_t(*poison)[4] = f->gpu->sms[0].tmem->poison + taddr;
    m.a_in_tmem = true, m.a = taddr + 16, m.d = taddr, m.idesc = idesc(1, 0, 0, 128, 8);
    for (uint32_t c = 16; c < 24; c++)
        poison[c][0] = poison[c][2] = poison[c][3] = 0, poison[c][1] = UINT32_MAX;
    CHECK(runs(f, &m));
    CHECK(poison[3][0] == 0 && poison[3][1] == UINT32_MAX && poison[3][2] == 0);
    m.accumulate = true;
    CHECK(runs(f, &m));
    m.accumulate = false, m.d = taddr + 8; /* another sum, so that D is looked at */
    CHECK(runs(f, &m));
    m.accumulate = true, m.d = taddr;
    CHECK(runs(f, &m));
    m.ashift = true, m.accumulate = false;
    CHECK(runs(f, &m));
    CHECK(poison[3][0] == UINT32_C(1) << 31 && poison[3][1] == UINT32_MAX >> 1);
    m.ashift = false;
    CHECK(runs(f, &m));
    for (uint32_t c = 16; c < 24; c++)
        poison[c][1] = 0;
    m.d = taddr + 8;
    CHECK(runs(f, &m));
    m.accumulate = true, m.d = taddr;
    CHECK(faults(f, &m, "tcgen05-accumulator-uninitialised", "lane 32"));
    poison[18][1] = 1;
    CHECK(faults(f, &m, "tcgen05-tmem-uninitialised", "lane 32, column 18"));
    for (uint32_t c = 16; c < 24; c++)
        memset(poison[c], 0xff, sizeof poison[c]);
    CHECK(faults(f, &m, "tcgen05-tmem-uninitialised", "lane 0, column 16"));
}

/* A matrix that starts in the middle of the pattern, with base offset 0: it runs, and that is told where asked for. */
static void mid_pattern(struct fixture *f, const struct tc_mma *m) {
    for (int strict = 0; strict < 2; strict++) {
        fixture_clear(f);
        f->gpu->config.check = strict ? MACH_CHECK_STRICT : MACH_CHECK_WARN;
        tc_issue_mma(f->cta, NULL, m);
        fixture_drain(f);
        CHECK_EQ(f->island.fault, 0);
        CHECK_EQ(strstr(fixture_report(f), "tcgen05-smem-base-offset") != NULL, strict);
    }
    f->gpu->config.check = MACH_CHECK_WARN;
    fixture_clear(f);
}

static void operations(void) {
    struct fixture f;
    fixture_open(&f, 1, 0x7000);
    uint32_t taddr = fixture_alloc(&f, f.cta, 64);
    smem_clear_poison(f.cta, MACH_SMEM_FIRST, 0x7000);
    struct tc_mma good = good_mma(taddr), m = good;
    CHECK(runs(&f, &m));
    m.accumulate = true;
    CHECK(runs(&f, &m));

    m = good, m.idesc = idesc(1, 0, 0, 128, 264);
    CHECK(faults(&f, &m, "tcgen05-mma-shape", "264"));
    m = good, m.idesc = idesc(1, 0, 0, 128, 72);
    CHECK(faults(&f, &m, "tcgen05-tmem-unallocated", "columns 0 to 71"));
    m = good, m.d = taddr + 1;
    CHECK(faults(&f, &m, "tcgen05-tmem-unallocated", "accumulator D"));
    m = good, m.d = taddr | 16u << 16;
    CHECK(faults(&f, &m, "tcgen05-mma-lane", "lane 16"));
    m = good, m.d = taddr | 8u << 16, m.idesc = idesc(1, 0, 0, 64, 32);
    CHECK(faults(&f, &m, "tcgen05-mma-lane", "lane 8"));
    m = good, m.a_in_tmem = true, m.a = taddr | 16u << 16, m.idesc = idesc(1, 0, 0, 64, 32);
    CHECK(faults(&f, &m, "tcgen05-mma-lane", "A starts at lane 16"));
    m = good, m.a_in_tmem = true, m.a = taddr + 60;
    CHECK(faults(&f, &m, "tcgen05-tmem-unallocated", "matrix A"));
    m = good, m.ashift = true;
    CHECK(faults(&f, &m, "tcgen05-mma-ashift", "shared memory"));
    m = good, m.ashift = true, m.a_in_tmem = true, m.a = taddr, m.idesc = idesc(1, 0, 0, 64, 32);
    CHECK(faults(&f, &m, "tcgen05-mma-ashift", "M = 64"));
    m = good, m.a ^= 1ull << 46;
    CHECK(faults(&f, &m, "tcgen05-smem-descriptor", "bits 46-48"));
    m = good, m.b |= 3ull << 61;
    CHECK(faults(&f, &m, "tcgen05-smem-descriptor", "descriptor of B"));
    m = good, m.a |= 1ull << 49;
    CHECK(faults(&f, &m, "tcgen05-smem-base-mismatch", "matrix A"));
    m = good, m.a += 0x80 >> 4;
    mid_pattern(&f, &m);
    m = good, m.a += 32 >> 4;
    CHECK(runs(&f, &m)); /* an advance along K */
    m = good, m.b |= 1ull << 61, m.b &= ~(2ull << 61);
    CHECK(faults(&f, &m, "tcgen05-mma-swizzle", "Table 55"));
    m = good, m.kind = TC_KIND_TF32, m.idesc = idesc(1, 2, 2, 128, 64) | 1u << 15;
    CHECK(faults(&f, &m, "tcgen05-mma-swizzle", "Table 54"));
    m = good, m.b = (m.b & ~0x3fffull) | 0x5c00 >> 4; /* 64 rows need 8 KiB */
    CHECK(faults(&f, &m, "tcgen05-smem-bounds", "matrix B, row 48, k 0 to 7"));
    m = good, m.a = (m.a & ~0x3fffull);
    CHECK(faults(&f, &m, "tcgen05-smem-bounds", "matrix A, row 0, k 0 to 7"));
    /* The last unit ends where shared memory ends, and 16 bytes behind it. */
    struct matrix last = {TC_F16, false, TC_SW_NONE, f.cta->smem_end - 256, 128, 128};
    m = good, m.idesc = idesc(1, 0, 0, 128, 8), m.b = descriptor(&last, 0);
    CHECK(runs(&f, &m));
    m.b = descriptor(&last, 16);
    CHECK(faults(&f, &m, "tcgen05-smem-bounds", "matrix B, row 7, k 8 to 15"));
    smem_set_poison(f.cta, (A_AT + 17 * 128 + 16) ^ 1 << 4, 1); /* row 17, second chunk */
    CHECK(faults(&f, &good, "tcgen05-smem-uninitialised", "matrix A, row 17, k 8 to 15"));
    smem_clear_poison(f.cta, MACH_SMEM_FIRST, 0x7000);
    smem_set_poison(f.cta, B_AT + 32 + 2, 2); /* the next K step's bytes */
    tc_issue_mma(f.cta, NULL, &good);
    fixture_drain(&f);
    CHECK_EQ(f.island.fault, 0);
    m = add_twice(&f, good, taddr);
    const struct tc_access st = {.shape = TC_32X32B, .num = 1, .taddr = (taddr + 7) | 64u << 16, .threads = UINT32_MAX};
    CHECK(tc_store(f.cta, NULL, &st, (const uint32_t[32]){0}, &(uint32_t){4}));
    CHECK(faults(&f, &m, "tcgen05-accumulator-uninitialised", "row 66, column 7"));
    f.gpu->sms[0].tmem->poison[taddr + 7][2] = 0;
    f.gpu->sms[0].tmem->poison[taddr + 9][2] |= 4;
    m = good, m.accumulate = true;
    CHECK(faults(&f, &m, "tcgen05-accumulator-uninitialised", "row 66, column 9"));
    m = good, m.accumulate = true, m.disable[2] = 4;
    CHECK(runs(&f, &m)); /* the row is not read */
    m = good, m.a_in_tmem = true, m.a = taddr + 4;
    CHECK(faults(&f, &m, "tcgen05-tmem-uninitialised", "row 66: lane 66, column 9"));
    add_twice(&f, good, taddr);
    few_rows(&f, good, taddr);
    m = add_twice(&f, good, taddr);
    CHECK(fixture_alloc(&f, f.cta, 64) != taddr); /* so tensor memory stays */
    CHECK(tc_dealloc(f.cta, NULL, taddr, 64));
    CHECK(faults(&f, &good, "tcgen05-tmem-unallocated", "accumulator D"));
    CHECK_EQ(fixture_alloc(&f, f.cta, 64), taddr);
    CHECK(faults(&f, &m, "tcgen05-accumulator-uninitialised", "row 0, column 0"));
    fixture_close(&f);
}

/* Padding of 4- and 6-bit units is never looked at. */
static void padding(void) {
    struct fixture f;
    fixture_open(&f, 1, 0x8000);
    uint32_t taddr = fixture_alloc(&f, f.cta, 64);
    for (uint32_t i = MACH_SMEM_FIRST; i < 0x8000; i += 16)
        smem_clear_poison(f.cta, i, 12);
    struct tc_mma m = good_mma(taddr);
    m.kind = TC_KIND_F8F6F4;
    m.idesc = idesc(1, 3, 5, 128, 64);
    tc_issue_mma(f.cta, NULL, &m);
    fixture_drain(&f);
    CHECK_EQ(f.island.fault, 0);
    m.idesc = idesc(1, 3, 0, 128, 64);
    CHECK(faults(&f, &m, "tcgen05-smem-uninitialised", "matrix B"));
    fixture_close(&f);
}

int main(void) {
    known_values();
    units();
    smem_fields();
    base_offset();
    instruction_fields();
    shapes();
    swizzle_legality();
    operations();
    padding();
    return check_report();
}
