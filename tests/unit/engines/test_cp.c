/* tcgen05.cp in every shape and format, tcgen05.shift, tcgen05.commit, and the order of the queue. */
#include "machine/mbarrier.h"
#include "matrix.h"

#define SRC 0x800u

/* Which source row a lane receives, UINT32_MAX: none (9.7.16.9.2). */
static uint32_t source_row(enum tc_cp_shape shape, uint32_t lane) {
    uint32_t warp = lane / 32, in_warp = lane % 32;
    switch (shape) {
    case TC_CP_128X256B:
    case TC_CP_128X128B:
        return lane;
    case TC_CP_4X256B:
        return in_warp == 0 ? warp : UINT32_MAX;
    case TC_CP_64X128B_02_13: /* warps 0 and 2 take the first half, 1 and 3 the second */
        return warp % 2 * 32 + in_warp;
    case TC_CP_64X128B_01_23:
        return warp / 2 * 32 + in_warp;
    case TC_CP_32X128B:
        return in_warp;
    }
    return UINT32_MAX;
}

static const struct {
    enum tc_cp_shape shape;
    uint32_t rows, bytes;
} SHAPES[] = {{TC_CP_128X256B, 128, 32},     {TC_CP_4X256B, 4, 32},         {TC_CP_128X128B, 128, 16},
              {TC_CP_64X128B_02_13, 64, 16}, {TC_CP_64X128B_01_23, 64, 16}, {TC_CP_32X128B, 32, 16}};

/* Byte i of a row as it arrives: the code, in its container where it was decompressed. */
static uint8_t byte_of(enum tc_cp_format format, uint32_t row, uint32_t i) {
    uint32_t v = row * 37 + i * 11 + 5;
    return (uint8_t)(format == TC_CP_RAW ? v : format == TC_CP_B6X16_P32 ? v & 0x3f : (v & 0xf) << 2);
}

static void copies(void) {
    static const enum tc_swizzle swizzles[] = {TC_SW_NONE, TC_SW_128B, TC_SW_64B, TC_SW_32B};
    static const enum tc_elem elems[] = {
        [TC_CP_RAW] = TC_E4M3, [TC_CP_B6X16_P32] = TC_E2M3, [TC_CP_B4X16_P64] = TC_E2M1};
    for (int s = 0; s < 6; s++)
        for (int format = 0; format < 3; format++)
            for (int w = 0; w < 4; w++) {
                struct fixture f;
                fixture_open(&f, 1, 0x8000);
                uint32_t taddr = fixture_alloc(&f, f.cta, 32) + 3, lane0 = SHAPES[s].shape == TC_CP_4X256B ? 31 : 0;
                struct matrix x = {elems[format], false, swizzles[w], SRC, 2048, w == 0 ? 128 : 1024};
                for (uint32_t r = 0; r < SHAPES[s].rows; r++)
                    for (uint32_t i = 0; i < SHAPES[s].bytes; i++)
                        put(f.cta, &x, r, i,
                            byte_of((enum tc_cp_format)format, r, i) >> (format == TC_CP_B4X16_P64 ? 2 : 0));
                tc_issue_cp(f.cta, NULL, 1, SHAPES[s].shape, (enum tc_cp_format)format, taddr | lane0 << 16,
                            descriptor(&x, 0));
                fixture_drain(&f);
                if (!CHECK_EQ(f.island.fault, 0))
                    fprintf(stderr, "%s\n", fixture_report(&f));
                const struct tmem *t = f.gpu->sms[0].tmem;
                uint32_t bad = 0;
                for (uint32_t c = 0; c < 32; c++)
                    for (uint32_t l = 0; l < 128; l++) {
                        uint32_t row = l < lane0 ? UINT32_MAX : source_row(SHAPES[s].shape, l - lane0);
                        bool in = c >= 3 && c < 3 + SHAPES[s].bytes / 4 && row != UINT32_MAX;
                        uint32_t v = 0;
                        for (uint32_t i = 0; i < 4; i++)
                            v |= (uint32_t)byte_of((enum tc_cp_format)format, row, (c - 3) * 4 + i) << (8 * i);
                        bad += (t->poison[c][l / 32] >> (l % 32) & 1) == in;
                        bad += in && t->cell[c][l] != v;
                    }
                CHECK_EQ(bad, 0);
                fixture_close(&f);
            }
}

/* What cp decompresses is what an A in tensor memory must look like: both ways into the tensor core agree. */
static void decompressed_operand(void) {
    for (int format = TC_CP_B6X16_P32; format <= TC_CP_B4X16_P64; format++) {
        struct fixture f;
        fixture_open(&f, 1, 0x8000);
        uint32_t taddr = fixture_alloc(&f, f.cta, 64), code = format == TC_CP_B6X16_P32 ? 3 : 5;
        enum tc_elem e = format == TC_CP_B6X16_P32 ? TC_E2M3 : TC_E2M1;
        struct matrix x = {e, false, TC_SW_128B, SRC, 0, 1024}, y = {TC_E4M3, false, TC_SW_128B, SRC + 0x4000, 0, 1024};
        uint64_t state = 3;
        for (uint32_t r = 0; r < 128; r++)
            for (uint32_t k = 0; k < 32; k++)
                put(f.cta, &x, r, k, (uint32_t)fixture_random(&state) & ((1u << elem_bits(e)) - 1));
        for (uint32_t n = 0; n < 16; n++)
            for (uint32_t k = 0; k < 32; k++)
                put(f.cta, &y, n, k, (uint32_t)fixture_random(&state) & 0x77);
        struct tc_mma m = {.group = 1,
                           .kind = TC_KIND_F8F6F4,
                           .d = taddr,
                           .a = descriptor(&x, 0),
                           .b = descriptor(&y, 0),
                           .idesc = 1u << 4 | code << 7 | 2u << 17 | 8u << 24};
        tc_issue_mma(f.cta, NULL, &m);
        tc_issue_cp(f.cta, NULL, 1, TC_CP_128X256B, (enum tc_cp_format)format, taddr + 32, descriptor(&x, 0));
        m.a_in_tmem = true;
        m.a = taddr + 32;
        m.d = taddr + 16;
        tc_issue_mma(f.cta, NULL, &m);
        fixture_drain(&f);
        CHECK_EQ(f.island.fault, 0);
        const struct tmem *t = f.gpu->sms[0].tmem;
        CHECK_MEM(t->cell[taddr], t->cell[taddr + 16], 16 * sizeof t->cell[0]);
        uint32_t nonzero = 0;
        for (uint32_t l = 0; l < 128; l++)
            nonzero += t->cell[taddr][l] != 0;
        CHECK(nonzero > 64);
        fixture_close(&f);
    }
}

static void copy_faults(void) {
    struct fixture f;
    fixture_open(&f, 1, 0x2000);
    uint32_t taddr = fixture_alloc(&f, f.cta, 32);
    smem_clear_poison(f.cta, MACH_SMEM_FIRST, 0x2000);
    struct matrix x = {TC_E4M3, false, TC_SW_NONE, SRC, 2048, 128};
    static const struct {
        enum tc_cp_shape shape;
        uint32_t lane; /* the first that is too far */
    } lanes[] = {{TC_CP_128X256B, 1},      {TC_CP_128X128B, 1}, {TC_CP_64X128B_02_13, 1},
                 {TC_CP_64X128B_01_23, 1}, {TC_CP_32X128B, 1},  {TC_CP_4X256B, 32}};
    for (int i = 0; i < 6; i++) {
        tc_issue_cp(f.cta, NULL, 1, lanes[i].shape, TC_CP_RAW, taddr | lanes[i].lane << 16, descriptor(&x, 0));
        fixture_drain(&f);
        CHECK(fixture_faulted(&f, "tcgen05-cp-lanes"));
        tc_issue_cp(f.cta, NULL, 1, lanes[i].shape, TC_CP_RAW, taddr | (lanes[i].lane - 1) << 16, descriptor(&x, 0));
        fixture_drain(&f);
        CHECK_EQ(f.island.fault, 0);
    }
    tc_issue_cp(f.cta, NULL, 1, TC_CP_128X256B, TC_CP_RAW, taddr + 25, descriptor(&x, 0));
    fixture_drain(&f);
    CHECK(fixture_faulted(&f, "tcgen05-tmem-unallocated"));
    tc_issue_cp(f.cta, NULL, 1, TC_CP_128X256B, TC_CP_RAW, taddr, descriptor(&x, 0) ^ 1ull << 47);
    fixture_drain(&f);
    CHECK(fixture_faulted(&f, "tcgen05-smem-descriptor"));
    x.start = 0x1c00;
    tc_issue_cp(f.cta, NULL, 1, TC_CP_128X256B, TC_CP_RAW, taddr, descriptor(&x, 0));
    fixture_drain(&f);
    CHECK(fixture_faulted(&f, "tcgen05-smem-bounds"));
    x.start = SRC;
    smem_set_poison(f.cta, SRC + 5 * 16 + 12, 4);
    tc_issue_cp(f.cta, NULL, 1, TC_CP_32X128B, TC_CP_RAW, taddr, descriptor(&x, 0));
    fixture_drain(&f);
    CHECK_HAS(fixture_report(&f), "row 5");
    CHECK(fixture_faulted(&f, "tcgen05-smem-uninitialised"));
    tc_issue_cp(f.cta, NULL, 1, TC_CP_32X128B, TC_CP_B6X16_P32, taddr, descriptor(&x, 0));
    fixture_drain(&f);
    CHECK_EQ(f.island.fault, 0); /* padding */
    fixture_close(&f);
}

static void shift(void) {
    struct fixture f;
    fixture_open(&f, 1, 0x400);
    uint32_t taddr = fixture_alloc(&f, f.cta, 32);
    struct tmem *t = f.gpu->sms[0].tmem;
    for (uint32_t c = 0; c < 32; c++)
        for (uint32_t l = 0; l < 128; l++)
            t->cell[c][l] = c << 8 | l;
    memset(t->poison, 0, sizeof t->poison);
    t->poison[5][1] = 1u << 7 | 1u << 31;
    tc_issue_shift(f.cta, NULL, 1, (taddr + 4) | 32u << 16);
    fixture_drain(&f);
    CHECK_EQ(f.island.fault, 0);
    uint32_t bad = 0;
    for (uint32_t c = 0; c < 32; c++)
        for (uint32_t l = 0; l < 128; l++) {
            bool moved = c >= 4 && c < 12 && l >= 32 && l < 63;
            bad += t->cell[c][l] != (c << 8 | (moved ? l + 1 : l));
        }
    CHECK_EQ(bad, 0);
    CHECK_EQ(t->poison[5][1], 1u << 6 | 1u << 30 | 1u << 31);
    for (uint32_t lane = 1; lane < 200; lane += 15) {
        tc_issue_shift(f.cta, NULL, 1, taddr | lane << 16);
        fixture_drain(&f);
        CHECK(fixture_faulted(&f, "tcgen05-shift-lane"));
    }
    tc_issue_shift(f.cta, NULL, 1, taddr + 25);
    fixture_drain(&f);
    CHECK(fixture_faulted(&f, "tcgen05-tmem-unallocated"));
    fixture_close(&f);
}

static uint32_t pending(struct cta *cta, uint32_t off) {
    struct mbar_view v = {0};
    CHECK_EQ(mbar_peek(cta, off, &v), MBAR_OK);
    return v.pending;
}

static const struct event_by somebody; /* nobody listens */

static void commits(void) {
    struct fixture f;
    fixture_open(&f, 4, 0x400);
    const uint32_t off = 0x410;
    uint32_t taddr = fixture_alloc(&f, f.cta, 32);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQ(mbar_init(&somebody, &f.cluster.cta[i], off, 5), MBAR_OK);
    memset(f.gpu->sms[0].tmem->poison, 0, sizeof f.gpu->sms[0].tmem->poison);
    tc_issue_shift(f.cta, NULL, 1, taddr);
    tc_issue_commit(f.cta, NULL, 1u << 0, off);
    tc_issue_commit(f.cta, NULL, 1u << 1 | 1u << 3, off);
    struct async_queue *q = tc_queue(f.cta);
    CHECK_EQ(pending(f.cta, off), 5);
    CHECK(async_step(q)); /* the shift comes first */
    CHECK_EQ(pending(f.cta, off), 5);
    uint64_t epoch = f.cta->epoch;
    CHECK(async_step(q));
    CHECK(f.cta->epoch != epoch);
    CHECK_EQ(pending(f.cta, off), 4);
    CHECK(async_step(q));
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQ(pending(&f.cluster.cta[i], off), i == 2 ? 5 : 4);
    CHECK(!async_step(q));
    tc_issue_commit(f.cta, NULL, 1, off + 8);
    fixture_drain(&f);
    CHECK(f.island.fault != 0);
    CHECK_HAS(fixture_report(&f), "tcgen05.commit");
    fixture_close(&f);
}

int main(void) {
    copies();
    decompressed_operand();
    copy_faults();
    shift();
    commits();
    return check_report();
}
