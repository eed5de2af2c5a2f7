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
    t.hbm_row = 0;
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

/* What a warp's access finds taken later does not hold back who asks now: SM 0 is busy with 1000 sectors. */
static void test_threads(void) {
    struct clock_table t = clock_b200();
    t.thread_line = 1;
    t.l2_latency = 100;
    t.l2_rate = 32;
    struct clock_model *m = clock_model_create(&t);
    CHECK_NEAR(clock_thread_write(m, 0, 0, 1000, 1000), 1000, 0);
    CHECK_NEAR(clock_thread_write(m, 0, 0, 10, 10), 1010, 0);
    CHECK_NEAR(clock_thread_read(m, 1, 1500, 20, 20), 1620, 0);
    CHECK_NEAR(clock_thread_read(m, 0, 1500, 20, 20), 1640, 0); /* 20 sectors more through L2 */
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
    test_threads();
    test_l2_many();
    test_table();
    return check_report();
}
