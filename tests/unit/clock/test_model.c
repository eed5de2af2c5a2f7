/* The agents by themselves: the tensor core as measured, what L2 keeps, the table. */
#include "unit/clock/log.h"

/* Rows of tests/clock/figures/fit_umma.csv: interval and latency. */
static const struct {
    struct clock_umma u;
    double interval, latency;
} measured[] = {
    {{64, 64, 16, 1, false, false, 0}, 32.02, 152},   {{64, 256, 16, 1, false, false, 0}, 128.0, 248},
    {{128, 64, 16, 1, false, false, 0}, 48.02, 168},  {{128, 96, 16, 1, false, false, 0}, 56.02, 184},
    {{128, 256, 16, 1, false, false, 0}, 128.0, 264}, {{128, 64, 16, 1, false, true, 0}, 32.02, 136},
    {{128, 64, 16, 2, false, false, 1}, 25.02, 173},  {{128, 256, 16, 2, false, false, 1}, 64.02, 229},
    {{256, 64, 16, 2, false, false, 1}, 43.02, 202},  {{256, 256, 16, 2, false, false, 1}, 128.03, 298},
    {{256, 256, 16, 2, false, true, 1}, 128.02, 266}, {{128, 128, 16, 2, false, true, 1}, 32.02, 178},
};

static void test_umma(void) {
    const struct clock_table t = clock_b200();
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        CHECK_NEAR(clock_umma_interval(&t, &measured[i].u, 0), measured[i].interval, 1.1);
        CHECK_NEAR(clock_umma_latency(&t, &measured[i].u) + 2 * t.async + t.wake, measured[i].latency, 8.1);
    }
    const struct clock_umma tf32 = {128, 256, 8, 1, true, false, 0};
    CHECK_NEAR(clock_umma_interval(&t, &tf32, 0), 256, 0);
    /* reads of shared memory take longer while bytes arrive, where they are what takes longest */
    const struct clock_umma narrow = {128, 64, 16, 1, false, false, 0}, wide = {128, 256, 16, 1, false, false, 0};
    struct clock_table half = t;
    half.umma_sharing = 0.5;
    CHECK_NEAR(clock_umma_interval(&half, &narrow, 1), 72, 0);
    CHECK_NEAR(clock_umma_interval(&half, &wide, 0.5), 128, 0);
}

/* A pair's UMMA takes both tensor cores. */
static void test_pair(void) {
    const struct clock_table t = clock_b200();
    struct clock_model *m = clock_model_create(&t);
    const struct clock_umma pair = {256, 256, 16, 2, false, false, 1}, one = {128, 256, 16, 1, false, false, 0};
    double done;
    CHECK_NEAR(clock_run_umma(m, 1, 100, &one, &done), 100, 0);
    CHECK_NEAR(clock_run_umma(m, 0, 100, &pair, &done), 228, 0);
    CHECK_NEAR(clock_run_umma(m, 0, 100, &one, &done), 356, 0);
    CHECK_NEAR(clock_run_umma(m, 1, 100, &one, &done), 356, 0);
    CHECK_NEAR(clock_run_umma(m, 2, 100, &one, &done), 100, 0);
    clock_model_free(m);
}

/* Room for two boxes of 1 KB: the third takes the place of the one used longest ago. Who asks for a box that is on its
 * way waits for it. Rows shorter than a granule bring their neighbours. */
static void test_l2(void) {
    struct clock_table t = clock_b200();
    t.l2_bytes = 2048;
    t.hbm_latency = 100;
    t.hbm_line = 0;
    t.hbm_rate = 1024;
    t.hbm_granule = 128;
    struct clock_model *m = clock_model_create(&t);
    const struct clock_box a = {0x1000, 1024, 128}, b = {0x2000, 1024, 128}, c = {0x3000, 1024, 128};
    CHECK_NEAR(clock_l2_look(m, 0, 0, &a), 101, 0);
    CHECK_NEAR(clock_l2_look(m, 5, 5, &a), 101, 0);
    CHECK_NEAR(clock_l2_look(m, 200, 200, &b), 301, 0);
    CHECK_NEAR(clock_l2_look(m, 400, 400, &a), 400, 0);
    CHECK_NEAR(clock_l2_look(m, 500, 500, &c), 601, 0); /* in place of b */
    CHECK_NEAR(clock_l2_look(m, 700, 700, &a), 700, 0);
    CHECK_NEAR(clock_l2_look(m, 800, 800, &b), 901, 0);
    CHECK_EQ(m->hbm_bytes, 4096);
    const struct clock_box narrow = {0x8000, 64, 32}, next = {0x8020, 64, 32}, other = {0x8080, 64, 32};
    CHECK_NEAR(clock_l2_look(m, 1000, 1000, &narrow), 1100.25, 0);
    CHECK_NEAR(clock_l2_look(m, 1200, 1200, &next), 1200, 0);
    CHECK_NEAR(clock_l2_look(m, 1300, 1300, &other), 1400.25, 0);
    const uint64_t before = m->hbm_bytes;
    clock_l2_look(m, 2000, 2000, &(struct clock_box){0x10000, 512 * 16, 16}); /* 128 x 4 of 16 bytes */
    CHECK_EQ(m->hbm_bytes - before, 512 * 16);
    clock_model_free(m);
}

/* L2 finds by its address a line that was asked for by its number, whatever HBM's granule. */
static void test_l2_lines(void) {
    for (double granule = 64; granule <= 256; granule *= 2) {
        struct clock_table t = clock_b200();
        t.hbm_granule = granule;
        struct clock_model *m = clock_model_create(&t);
        for (uint64_t line = 1000; line < 1008; line++) {
            const struct clock_box box = {.address = line * 128, .bytes = 128};
            const double there = clock_l2_line(m, 0, 1, line);
            CHECK(there > 1 && clock_l2_look(m, 0, 1, &box) == there);
        }
        CHECK_EQ(m->hbm_bytes, 1024);
        clock_model_free(m);
    }
}

/* 32 lanes access 16 bytes each, `step` apart. */
static struct clock_access lanes(uint64_t first, uint32_t step) {
    struct clock_access a = {0};
    for (uint32_t i = 0; i < 32; i++)
        clock_touch_lane(&a, first + (uint64_t)i * step, 16);
    return a;
}

static struct clock_table thread_costs(void) {
    struct clock_table t = clock_b200();
    t.thread_line = 1;
    t.thread_latency = 100;
    t.l1_latency = 10;
    t.l2_far = 0;
    t.l2_rate = t.hbm_rate = 1e9;
    t.hbm_latency = 1000;
    t.hbm_line = 0;
    return t;
}

/* Side by side, 512 bytes are 4 whole lines; in a row each 32 lines. An odd address touches two words in part. */
static void test_touches(void) {
    struct clock_access a = lanes(0x1000, 16);
    CHECK_EQ(a.num, 4);
    CHECK_EQ(a.touches[3].words, UINT32_MAX);
    CHECK_EQ(a.touches[3].whole, UINT32_MAX);
    a = lanes(0x1000, 512);
    CHECK_EQ(a.num, 32);
    CHECK_EQ(a.touches[31].line, (0x1000 + 31 * 512) / 128);
    CHECK_EQ(a.touches[31].whole, 0xf);
    a = lanes(0x1000, 0);
    CHECK_EQ(a.num, 1);
    a = (struct clock_access){0};
    clock_touch_lane(&a, 0x107e, 8); /* 2 bytes of one line, 6 of the next */
    CHECK_EQ(a.num, 2);
    CHECK_EQ(a.touches[0].words, UINT32_C(1) << 31);
    CHECK_EQ(a.touches[0].whole, 0);
    CHECK_EQ(a.touches[1].words, 3);
    CHECK_EQ(a.touches[1].whole, 1);
    clock_touch_lane(&a, 0x1000, 4); /* a line below, one that is there */
    CHECK_EQ(a.num, 2);
}

/* Sectors: of a row each the first 16 bytes miss L2 and L1, the next 16 are in the sector that came, the third go to
 * L2, where the line is. What a warp finds taken later does not hold back who asks now. */
static void test_thread_reads(void) {
    const struct clock_table t = thread_costs();
    struct clock_model *m = clock_model_create(&t);
    struct clock_access a = lanes(0x10000, 512), b = lanes(0x10010, 512), c = lanes(0x10020, 512);
    CHECK_NEAR(clock_thread_read(m, 0, 0, &a), 32 + 1000 + 100, 1e-3);
    CHECK_NEAR(clock_thread_read(m, 0, 100, &b), 1132, 1e-3); /* on its way already */
    CHECK_NEAR(clock_thread_read(m, 0, 2000, &b), 2000 + 32 + 10, 1e-3);
    CHECK_NEAR(clock_thread_read(m, 0, 3000, &c), 3000 + 32 + 100, 1e-3);
    CHECK_EQ(m->l2_bytes, 2 * 32 * 32);
    CHECK_EQ(m->hbm_bytes, 32 * 128);
    CHECK_NEAR(clock_thread_read(m, 1, 4000, &a), 4000 + 32 + 100, 1e-3); /* another SM's L1 */
    a.strong = true;
    CHECK_NEAR(clock_thread_read(m, 0, 5000, &a), 5000 + 32 + 100, 1e-3);
    clock_model_rewind(m); /* a launch begins with an empty L1 */
    a.strong = false;
    CHECK_NEAR(clock_thread_read(m, 0, 0, &a), 32 + 100, 1e-3);
    clock_model_free(m);
}

/* A load of what was stored hits; of a sector that was stored in part, and asks for the rest, does not. HBM gets what
 * was written, L2 its sectors. */
static void test_thread_writes(void) {
    const struct clock_table t = thread_costs();
    struct clock_model *m = clock_model_create(&t);
    struct clock_access a = lanes(0x10000, 512), b = lanes(0x10010, 512);
    CHECK_NEAR(clock_thread_write(m, 0, 0, &a), 32, 0);
    CHECK_NEAR(clock_thread_write(m, 0, 0, &a), 64, 0); /* behind it */
    CHECK_EQ(m->hbm_bytes, 2 * 32 * 16);
    CHECK_EQ(m->l2_bytes, 2 * 32 * 32);
    CHECK_NEAR(clock_thread_read(m, 0, 100, &a), 100 + 32 + 10, 0);
    CHECK_NEAR(clock_thread_read(m, 0, 200, &b), 200 + 32 + 100, 1e-3); /* in L2, as it was written */
    CHECK_NEAR(clock_thread_read(m, 1, 300, &a), 300 + 32 + 100, 1e-3);
    clock_model_free(m);
}

/* L1 keeps what was used last: 4 lines here. */
static void test_l1_room(void) {
    struct clock_table t = thread_costs();
    t.l1_bytes = 512;
    struct clock_model *m = clock_model_create(&t);
    for (uint64_t i = 0; i < 5; i++) {
        struct clock_access a = {0}, first = {0};
        clock_touch_lane(&a, i * 128, 4);
        clock_touch_lane(&first, 0, 4);
        clock_thread_read(m, 0, 1000.0 * (double)i, &a);
        if (i < 3)
            clock_thread_read(m, 0, 1000.0 * (double)i, &first);
    }
    const uint64_t asked = m->l2_bytes;
    struct clock_access a = {0};
    clock_touch_lane(&a, 0, 4);
    clock_thread_read(m, 0, 9000, &a);
    CHECK_EQ(m->l2_bytes, asked);
    a = (struct clock_access){0};
    clock_touch_lane(&a, 128, 4);
    clock_thread_read(m, 0, 9000, &a);
    CHECK_EQ(m->l2_bytes, asked + 32);
    clock_model_free(m);
}

/* The half of L2 that is not the SM's own is further, and is the other one for an SM of the other half. */
static void test_l2_halves(void) {
    struct clock_table t = thread_costs();
    t.l2_far = 60;
    struct clock_model *m = clock_model_create(&t);
    uint32_t far = 0;
    for (uint64_t line = 0; line < 1000; line++) {
        struct clock_access a = {.strong = true};
        clock_touch_lane(&a, line * 128, 4);
        clock_thread_read(m, 0, 0, &a);
        const double at = 10000.0 * (double)(line + 1);
        const double near = clock_thread_read(m, 0, at, &a) - at, other = clock_thread_read(m, 147, at, &a) - at;
        CHECK_NEAR(near + other, 2 * 101 + 60, 1e-3);
        far += near > 130;
    }
    CHECK(far > 400 && far < 600);
    clock_model_free(m);
}

/* What was written to L2 goes to HBM while nobody reads there, and holds nobody until L2 is full of it. */
static void test_write_back(void) {
    struct clock_table t = thread_costs();
    t.hbm_rate = 1;
    t.l2_bytes = 4096;
    struct clock_model *m = clock_model_create(&t);
    const struct clock_box box = {0x100000, 128, 0}, next = {0x200000, 128, 0}, last = {0x300000, 128, 0};
    clock_store_write(m, 0, &(struct clock_box){0, 4000, 0});
    CHECK_NEAR(clock_l2_look(m, 0, 0, &box), 128 + 1000, 0);
    CHECK_NEAR(clock_l2_look(m, 1128, 1128, &next), 1128 + 128 + 1000, 0); /* 1000 bytes written meanwhile */
    CHECK_NEAR(m->unwritten, 3000, 0);
    clock_store_write(m, 1256, &(struct clock_box){0, 2000, 0});
    CHECK_NEAR(clock_l2_look(m, 1256, 1256, &last), 1256 + 904 + 128 + 1000, 0); /* 5000 are 904 too many */
    clock_model_free(m);
}

enum { KEYS = 3000, ROOM = 2000 };

/* Held to a list that is searched: boxes asked for in no order, of which two thirds have room. */
static void test_l2_many(void) {
    struct clock_table t = clock_b200();
    t.l2_bytes = ROOM * 1024;
    struct clock_model *m = clock_model_create(&t);
    static uint64_t used[KEYS]; /* when, from 1 */
    uint64_t seed = 1, misses = 0, held = 0;
    for (uint64_t now = 1; now <= 20000; now++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint64_t key = (seed >> 33) % KEYS;
        if (!used[key]) {
            uint64_t oldest = KEYS;
            for (uint64_t k = 0; k < KEYS && held == ROOM; k++)
                if (used[k] && (oldest == KEYS || used[k] < used[oldest]))
                    oldest = k;
            if (oldest < KEYS)
                used[oldest] = 0;
            else
                held++;
            misses++;
        }
        used[key] = now;
        clock_l2_look(m, 0, 0, &(struct clock_box){key * 4096, 1024, 128});
    }
    CHECK_EQ(m->hbm_bytes, misses * 1024);
    clock_model_free(m);
}

/* SMs of one GPC that ask for the same bytes before L2 has sent them share its answer; others, and later ones, do not.
 * Of a launch with clusters SMs 0 to 19 are one GPC; without, SMs 0, 8, 16 and so on. */
static void test_sharing(void) {
    struct clock_table t = clock_b200();
    t.l2_rate = 1;
    struct clock_model *m = clock_model_create(&t);
    const struct clock_box box = {0x1000, 1024, 128}, more = {0x1000, 2048, 128};
    for (uint32_t single = 0; single < 2; single++) {
        const uint32_t same = single ? 8 : 19, other = single ? 1 : 20;
        clock_model_rewind(m);
        m->single = single;
        CHECK_NEAR(clock_l2_send(m, 0, 0, 10, 50, &box), 1024, 0);
        CHECK_NEAR(clock_l2_send(m, same, 100, 110, 110, &box), 1024, 0);
        CHECK_NEAR(clock_l2_send(m, other, 100, 110, 110, &box), 2048, 0);
        CHECK_NEAR(clock_l2_send(m, same, 200, 210, 210, &more), 4096, 0);
        CHECK_NEAR(clock_l2_send(m, same, 5000, 5010, 5010, &box), 6024, 0);
        CHECK_EQ(m->l2_bytes, 3 * 1024 + 2048);
    }
    clock_model_free(m);
}

static void test_gpcs(void) {
    uint32_t tpcs[CLOCK_GPCS] = {0};
    for (uint32_t sm = 0; sm < 148; sm += 2) {
        CHECK(clock_gpc(sm) == clock_gpc(sm + 1));
        tpcs[clock_gpc(sm)]++;
    }
    CHECK(tpcs[0] == 5 && tpcs[7] == 9);
    for (uint32_t g = 1; g < 7; g++)
        CHECK(tpcs[g] == 10);
    const struct clock_table t = clock_b200();
    struct clock_model *m = clock_model_create(&t);
    CHECK(clock_load_of(m, 100).all == 0 && clock_load_of(m, 100).gpcs == 0 && clock_load_of(m, 0).all == 0);
    for (uint32_t sm = 0; sm < 148; sm++)
        if (clock_gpc(sm) == 3)
            m->sm[sm].tensor.busy = 50;
    CHECK_NEAR(clock_load_of(m, 100).all, 0.5 * 20 / 148, 1e-12);
    CHECK_NEAR(clock_load_of(m, 100).gpcs, 0.5, 1e-12); /* one GPC works, half of the time */
    for (uint32_t sm = 0; sm < 148; sm++)
        m->sm[sm].tensor.busy = 100;
    CHECK_NEAR(clock_load_of(m, 100).gpcs, 1, 1e-12);
    clock_model_free(m);
}

static void test_stores(void) {
    struct clock_table t = clock_b200();
    t.tma_issue = t.tma_box = t.tma_line = 0;
    t.tma_read = 32;
    struct clock_model *m = clock_model_create(&t);
    const struct clock_box box = {.address = 0, .bytes = 4096, .row = 128};
    CHECK_NEAR(clock_store_read(m, 0, 1000, &box), 1128, 0); /* at its rate, */
    CHECK_NEAR(clock_store_read(m, 0, 1000, &box), 1256, 0); /* one after the other, */
    CHECK_NEAR(clock_store_read(m, 1, 1000, &box), 1128, 0); /* each SM for itself; */
    CHECK_NEAR(m->sm[0].tma.free, 1000, 0);                  /* loads may be asked for meanwhile */
    clock_model_free(m);
}

static void test_table(void) {
    struct clock_table t = clock_b200();
    CHECK(clock_table_set(&t, "wake", 77));
    CHECK_NEAR(t.wake, 77, 0);
    CHECK(!clock_table_set(&t, "wak", 1));
    unsigned n = 0;
    for (struct clock_cost c; (c = clock_table_line(n)).name; n++)
        CHECK(c.source && *c.source);
    CHECK_EQ(n, sizeof t / sizeof(double));
}

int main(void) {
    test_umma();
    test_pair();
    test_l2();
    test_sharing();
    test_l2_lines();
    test_touches();
    test_thread_reads();
    test_thread_writes();
    test_l1_room();
    test_l2_halves();
    test_write_back();
    test_l2_many();
    test_gpcs();
    test_stores();
    test_table();
    return check_report();
}
