/* Multicast and signals, bulk copies of bytes, order, and what must not be copied. */
#include "tma_bench.h"

/* --- clusters ----------------------------------------------------------------------------------------------------- */

static void test_multicast(void) {
    struct bench b;
    bench_open(&b, 16);
    struct cluster *cl = &b.f.cluster;
    struct tmap m = map_2d(&b);
    encode(&b, &m);
    struct tma_box box = {.map = b.map, .rank = 2};
    for (uint32_t r = 0; r < 16; r++)
        init(&cl->cta[r]);
    static const uint16_t masks[] = {0x1111, 0x000f, 0x8001, 0xffff, 0x0100, 0};
    for (unsigned k = 0; k < 6; k++) {
        const uint32_t issuer = k * 3;
        for (uint32_t r = 0; r < 16; r++)
            smem_set_poison(&cl->cta[r], DATA, 2048);
        CHECK(tma_issue_load(&cl->cta[issuer], NULL, &box,
                             &(struct tma_target){.dst = at(issuer, DATA + 1024),
                                                  .mbar = at(issuer, MBAR),
                                                  .cta_group = 1,
                                                  .multicast = true,
                                                  .ctas = masks[k]}));
        fixture_drain(&b.f);
        for (uint32_t r = 0; r < 16; r++) {
            struct mbar_view v = {0};
            CHECK_EQ(mbar_peek(&cl->cta[r], MBAR, &v), MBAR_OK);
            CHECK_EQ((uint32_t)v.tx, masks[k] >> r & 1 ? (uint32_t)-1024 : 0);
            CHECK_EQ(smem_poisoned(&cl->cta[r], DATA + 1024, 1024), !(masks[k] >> r & 1));
            CHECK(smem_poisoned(&cl->cta[r], DATA, 1));
            if (v.tx)
                CHECK_EQ(mbar_expect_tx(&somebody, &cl->cta[r], MBAR, 1024), MBAR_OK);
        }
    }
    CHECK_EQ(b.f.length, 0);
    bench_close(&b);
}

/* 9.7.9.27.1.2: with .cta_group::2 every destination's signal goes to the CTA of its pair whose parity the mbarrier
 * has. */
static void test_pair_signals(void) {
    struct bench b;
    bench_open(&b, 8);
    struct cluster *cl = &b.f.cluster;
    struct tmap m = map_2d(&b);
    encode(&b, &m);
    struct tma_box box = {.map = b.map, .rank = 2};
    for (uint32_t r = 0; r < 8; r++)
        init(&cl->cta[r]);
    static const struct {
        uint32_t issuer, mbar, multicast, ctas;
        int tx[8]; /* boxes that each barrier is told of */
    } cases[] = {
        {1, 1 & ~1u, 0, 0, {1, 0, 0, 0, 0, 0, 0, 0}},    {1, 1, 0, 0, {0, 1, 0, 0, 0, 0, 0, 0}},
        {0, 1, 0, 0, {0, 1, 0, 0, 0, 0, 0, 0}},          {5, 4, 1, 0xff, {2, 0, 2, 0, 2, 0, 2, 0}},
        {5, 5, 1, 0x33, {0, 2, 0, 0, 0, 2, 0, 0}},       {2, 2, 1, 0x05, {1, 0, 1, 0, 0, 0, 0, 0}},
        {3, 3 & ~1u, 1, 0xa0, {0, 0, 0, 0, 1, 0, 1, 0}},
    };
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        const uint32_t i = cases[k].issuer;
        CHECK(tma_issue_load(&cl->cta[i], NULL, &box,
                             &(struct tma_target){.dst = at(i, DATA),
                                                  .mbar = at(cases[k].mbar, MBAR),
                                                  .cta_group = 2,
                                                  .multicast = cases[k].multicast,
                                                  .ctas = cases[k].ctas}));
        fixture_drain(&b.f);
        for (uint32_t r = 0; r < 8; r++) {
            struct mbar_view v = {0};
            CHECK_EQ(mbar_peek(&cl->cta[r], MBAR, &v), MBAR_OK);
            CHECK_EQ((uint32_t)v.tx, (uint32_t)(-1024 * cases[k].tx[r]));
            if (v.tx)
                CHECK_EQ(mbar_expect_tx(&somebody, &cl->cta[r], MBAR, (uint32_t)-v.tx), MBAR_OK);
        }
    }
    CHECK_EQ(b.f.length, 0);
    bench_close(&b);
}

/* --- bulk copies of bytes ----------------------------------------------------------------------------------------- */

static void test_bulk(void) {
    struct bench b;
    bench_open(&b, 4);
    struct cluster *cl = &b.f.cluster;
    for (uint32_t r = 0; r < 4; r++)
        init(&cl->cta[r]);
    expect(&cl->cta[2], 4096);
    CHECK(tma_issue_bulk_load(&cl->cta[0], NULL, b.global + 32, 4096,
                              &(struct tma_target){.dst = at(2, DATA + 16), .mbar = at(2, MBAR), .cta_group = 1}));
    fixture_drain(&b.f);
    CHECK_EQ(phase(&cl->cta[2]), 1);
    CHECK_MEM(cl->cta[2].smem + DATA + 16, b.bytes + 32, 4096);
    CHECK(!smem_poisoned(&cl->cta[2], DATA + 16, 4096) && smem_poisoned(&cl->cta[2], DATA, 16));
    expect(&cl->cta[3], 4096);
    CHECK(tma_issue_bulk_peer(&cl->cta[2], NULL, at(3, DATA), at(2, DATA + 16), 4096, at(3, MBAR), NUM_OP_NONE,
                              TMA_E_NONE));
    fixture_drain(&b.f);
    CHECK_EQ(phase(&cl->cta[3]), 1);
    CHECK_MEM(cl->cta[3].smem + DATA, b.bytes + 32, 4096);
    expect(&cl->cta[3], 16);
    CHECK(
        tma_issue_bulk_peer(&cl->cta[2], NULL, at(3, DATA), at(2, DATA + 16), 16, at(3, MBAR), NUM_OP_ADD, TMA_E_U32));
    fixture_drain(&b.f);
    uint32_t was, now;
    memcpy(&was, b.bytes + 32, 4);
    memcpy(&now, cl->cta[3].smem + DATA, 4);
    CHECK_EQ(now, 2 * was);
    CHECK_EQ(b.f.length, 0);
    /* what must not be */
    struct tma_target to = {.dst = at(0, DATA), .mbar = at(0, MBAR), .cta_group = 1};
    CHECK(!tma_issue_bulk_load(&cl->cta[0], NULL, b.global, 24, &to));
    CHECK(fixture_faulted(&b.f, "bulk-copy-size"));
    CHECK(!tma_issue_bulk_load(&cl->cta[0], NULL, b.global + 8, 16, &to));
    CHECK(fixture_faulted(&b.f, "bulk-copy-size"));
    to.dst += 8;
    CHECK(!tma_issue_bulk_load(&cl->cta[0], NULL, b.global, 16, &to));
    CHECK(fixture_faulted(&b.f, "bulk-copy-alignment"));
    CHECK(!tma_issue_bulk_peer(&cl->cta[2], NULL, at(2, DATA), at(2, DATA + 16), 16, at(2, MBAR), NUM_OP_NONE,
                               TMA_E_NONE));
    CHECK(fixture_faulted(&b.f, "bulk-copy-own"));
    CHECK(
        tma_issue_bulk_peer(&cl->cta[2], NULL, at(1, DATA), at(2, DATA + 16), 16, at(1, MBAR), NUM_OP_ADD, TMA_E_U32));
    fixture_drain(&b.f);
    CHECK(fixture_faulted(&b.f, "bulk-reduce-uninitialised"));
    bench_close(&b);
}

/* Which NaN an f64 sum is: measured on an H200, and not that of add.f64, which makes it quiet. */
static void test_f64_nan(void) {
    static const uint64_t cases[][3] = {{0x7ff0000000000001, 0x3ff0000000000000, 0x7ff0000000000001},
                                        {0x3ff0000000000000, 0xfff0000000000001, 0xfff0000000000001},
                                        {0x7fffffffffffffff, 0xfff8000000000000, 0xfff8000000000000},
                                        {0x7ff8000012345678, 0xc000000000000000, 0x7ff8000012345678},
                                        {0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t dst = cases[i][0];
        tma_reduce_bytes(NUM_OP_ADD, TMA_E_F64, (uint8_t *)&dst, (const uint8_t *)&cases[i][1], 8);
        CHECK_EQ(dst, cases[i][2]);
    }
}

/* --- order -------------------------------------------------------------------------------------------------------- */

/* Copies complete in any order under the random schedule, in issue order otherwise. */
static void test_order(void) {
    unsigned firsts = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct bench b;
        bench_open(&b, 1);
        b.f.gpu->config.schedule = seed == 1 ? MACH_SCHED_DEFAULT : MACH_SCHED_RANDOM;
        b.f.island.rng = seed * 0x9E3779B97F4A7C15ull;
        CHECK_EQ(mbar_init(&somebody, b.f.cta, MBAR, 1), MBAR_OK);
        for (uint32_t i = 0; i < 8; i++)
            CHECK(tma_issue_bulk_load(b.f.cta, NULL, b.global, 16,
                                      &(struct tma_target){.dst = DATA + 16 * i, .mbar = MBAR, .cta_group = 1}));
        CHECK(async_step(b.f.cta->queues));
        for (uint32_t i = 0; i < 8; i++)
            if (!smem_poisoned(b.f.cta, DATA + 16 * i, 16)) {
                firsts |= 1u << i;
                CHECK(seed != 1 || i == 0);
            }
        fixture_drain(&b.f);
        CHECK(!smem_poisoned(b.f.cta, DATA, 128));
        CHECK_EQ(b.f.island.async_pending, 0);
        CHECK(b.f.cta->queues->tail == NULL);
        bench_close(&b);
    }
    CHECK_EQ(firsts, 0xff); /* each was first at least once */
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

static void load_faults(struct bench *b, const struct tma_box *box, struct tma_target to, const char *id) {
    if (tma_issue_load(b->f.cta, NULL, box, &to))
        fixture_drain(&b->f);
    CHECK(fixture_faulted(&b->f, id));
}

static void test_load_faults(void) {
    struct bench b;
    bench_open(&b, 3);
    struct cluster *cl = &b.f.cluster;
    struct tmap m = map_2d(&b);
    encode(&b, &m);
    for (uint32_t r = 0; r < 3; r++)
        init(&cl->cta[r]);
    struct tma_box box = {.map = b.map, .rank = 2};
    const struct tma_target ok = {.dst = DATA, .mbar = MBAR, .cta_group = 1};
    struct tma_target to = ok;
#define TARGET(id, ...) (to = ok, __VA_ARGS__, load_faults(&b, &box, to, id))
    TARGET("bulk-copy-alignment", to.dst += 64);
    TARGET("multiple of 8", to.mbar += 4);
    TARGET("multicast-mask", to.multicast = true, to.ctas = 0x9);
    TARGET("bulk-copy-mbarrier-cta", to.mbar = at(1, MBAR));
    TARGET("bulk-copy-mbarrier-cta", to.mbar = at(2, MBAR), to.cta_group = 2);
    TARGET("multicast-no-peer", to.mbar = at(1, MBAR), to.cta_group = 2, to.multicast = true, to.ctas = 4);
    TARGET("bulk-copy-not-own", to.dst = at(1, DATA), to.mbar = at(1, MBAR), to.own = true);
    TARGET("bulk-copy-rank", to.dst = at(3, DATA), to.mbar = at(3, MBAR));
    TARGET("mbarrier-not-initialised", to.mbar += 8);
    TARGET("mbarrier-not-initialised", to.mbar = 0xfffff8);
    TARGET("bulk-copy-bounds", to.dst = 0x400 + SMEM - 512);
    TARGET("bulk-copy-bounds", to.dst = 0x380);
    TARGET("tensor-copy-rank", box.rank = 3);
    box.rank = 2;
    m.dim[1] = (UINT64_C(1) << 31) + 1; /* measured: one less is taken */
    encode(&b, &m);
    TARGET("more than 2^31", to.cta_group = 1);
    m.dim[1] = 32;
    encode(&b, &m);
    TARGET("tensor-copy-box", box.coord[0] = 1); /* measured: not at a multiple of 16 bytes of the row */
    box.coord[0] = 0;
    cl->cta[1].live_warps = 0;
    TARGET("bulk-copy-cta-exited", to.multicast = true, to.ctas = 3);
    TARGET("bulk-copy-cta-exited", to.dst = at(1, DATA), to.mbar = MBAR, to.cta_group = 2);
    TARGET("mbarrier-cta-exited", to.mbar = at(1, MBAR), to.cta_group = 2);
    m.address = b.global + GLOBAL - 1024;
    encode(&b, &m);
    TARGET("bulk-copy-global-bounds", box.coord[1] = 4);
    m.address = 0x1000;
    encode(&b, &m);
    TARGET("no device address", box.coord[1] = 0);
    m = map_2d(&b);
    m.rank = 3;
    m.stride[1] = 4096;
    m.interleave = TMAP_INTERLEAVE_16B;
    encode(&b, &m);
    TARGET("interleaved layouts", box.rank = 3);
    m.interleave = TMAP_INTERLEAVE_NONE;
    m.swizzle = TMAP_SWIZZLE_96B;
    m.box[0] = 48;
    encode(&b, &m);
    TARGET("96-byte swizzle", to.cta_group = 1);
    TARGET("unsupported-tensor-copy", to.cta_group = 1);
    b.map[11] ^= 0x40;
    TARGET("tensormap-invalid", to.cta_group = 1);
    m = map_2d(&b);
    encode(&b, &m);
    b.map[8] |= 1;
    TARGET("im2col tensor maps are not supported", box.rank = 2);
    TARGET("unsupported-tensor-copy", box.rank = 2);
    encode(&b, &m);
    b.map[0] ^= 8; /* measured: another error than that of bytes that are no map */
    TARGET("tensormap-address", box.rank = 2);
    TARGET("globalAddress must be a multiple of 16", box.rank = 2);
    encode(&b, &m);
    memset(b.map + 56, 0xff, 4); /* a box of 2^32 rows and more, which only a change of the bytes can make */
    b.map[8] ^= (1 ^ 4) << 4;    /* rank 5 */
    TARGET("bulk-copy-bounds", box.rank = 5);
    bench_close(&b);
}

static void test_store_faults(void) {
    struct bench b;
    bench_open(&b, 2);
    struct cta *cta = b.f.cta;
    struct tmap m = map_2d(&b);
    encode(&b, &m);
    struct tma_box box = {.map = b.map, .rank = 2};
    struct tma_track t = {0};
#define STORE(id, src)                                                                                                 \
    do {                                                                                                               \
        if (tma_issue_store(cta, NULL, &box, src, NUM_OP_NONE, &t))                                                    \
            fixture_drain(&b.f);                                                                                       \
        CHECK(fixture_faulted(&b.f, id));                                                                              \
    } while (0)
    smem_clear_poison(cta, DATA, 1024);
    smem_set_poison(cta, DATA + 512 + 37, 1);
    STORE("bulk-store-uninitialised", DATA);
    box.coord[1] = 28; /* rows 4 to 7 lie outside: what was not written is not needed */
    CHECK(tma_issue_store(cta, NULL, &box, DATA, NUM_OP_NONE, &t));
    fixture_drain(&b.f);
    CHECK_EQ(b.f.length, 0);
    box.coord[1] = -1;
    STORE("must not be negative", DATA);
    box.coord[1] = 0;
    STORE("bulk-copy-alignment", DATA + 64);
    STORE("bulk-copy-not-own", at(1, DATA));
    STORE("bulk-copy-bounds", 0x400 + SMEM - 896);
    smem_clear_poison(cta, DATA, 1024);
    cta->live_warps = 0; /* the chip keeps the memory: told only where asked for, and the store completes */
    for (int strict = 0; strict < 2; strict++) {
        uint8_t *to = mem_at(b.f.gpu->mem, b.global, 1);
        fixture_clear(&b.f);
        memset(cta->smem + DATA, 0x5a + strict, 1024);
        b.f.gpu->config.check = strict ? MACH_CHECK_STRICT : MACH_CHECK_WARN;
        CHECK(tma_issue_store(cta, NULL, &box, DATA, NUM_OP_NONE, &t));
        fixture_drain(&b.f);
        CHECK_EQ(b.f.island.fault, 0);
        CHECK_EQ(strstr(fixture_report(&b.f), "bulk-store-cta-exited") != NULL, strict);
        CHECK_EQ(*to, 0x5a + strict);
    }
    bench_close(&b);
}

int main(void) {
    test_multicast();
    test_pair_signals();
    test_bulk();
    test_f64_nan();
    test_order();
    test_load_faults();
    test_store_faults();
    return check_report();
}
