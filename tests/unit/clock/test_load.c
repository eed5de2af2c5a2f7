/* From cycles to time: what --clock takes, costs in ns and GB/s, and the clock under load. */
#include "check.h"
#include "clock/load.h"

#include <string.h>

static void test_states(void) {
    static const struct {
        const char *text, *again;
        struct clock_state state;
    } good[] = {
        {"sustained", "sustained", {CLOCK_SUSTAINED, 0}},
        {"burst", "burst", {CLOCK_BURST, 0}},
        {"boost", "boost", {CLOCK_BOOST, 0}},
        {"1.965GHz", "1.965GHz", {CLOCK_LOCKED, 1.965}},
        {"1300MHz", "1.3GHz", {CLOCK_LOCKED, 1.3}},
        {"0.1GHz", "0.1GHz", {CLOCK_LOCKED, 0.1}},
        {"3000MHz", "3GHz", {CLOCK_LOCKED, 3}},
    };
    static const char *const bad[] = {"",       "Boost",  "1.3",      "1.3 GHz", " 1.3GHz", "+1.3GHz",
                                      "-1GHz",  "0GHz",   "0.099GHz", "3.01GHz", "1.3ghz",  "1.3GHzx",
                                      "1e0GHz", "0x1GHz", "infGHz",   "nanGHz",  "1..3GHz", "GHz"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct clock_state s;
        char text[24];
        if (!CHECK(clock_state_parse(good[i].text, &s)))
            continue;
        CHECK_EQ(s.kind, good[i].state.kind);
        CHECK_NEAR(s.ghz, good[i].state.ghz, 1e-12);
        clock_state_text(&s, text, sizeof text);
        CHECK_STR(text, good[i].again);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct clock_state s;
        if (!CHECK(!clock_state_parse(bad[i], &s)))
            fprintf(stderr, "  \"%s\"\n", bad[i]);
    }
}

/* What is in ns takes half the cycles at half the clock, what is in cycles as many; rates the other way. */
static void test_units(void) {
    const struct clock_table full = clock_b200();
    struct clock_table half = full;
    CHECK(clock_table_set(&half, "clock", full.clock / 2));
    CHECK_NEAR(half.clock, full.clock / 2, 0);
    CHECK_NEAR(half.l2_latency, full.l2_latency / 2, 1e-9);
    CHECK_NEAR(half.hbm_rate, full.hbm_rate * 2, 1e-6);
    CHECK_NEAR(half.umma_a, full.umma_a, 0);
    CHECK_NEAR(half.wake, full.wake, 0);
    CHECK(clock_table_set(&half, "l2_latency", 100));
    CHECK_NEAR(half.l2_latency, 100 * full.clock / 2, 1e-9);
    CHECK(clock_table_set(&half, "hbm_rate", 1000));
    CHECK_NEAR(half.hbm_rate, 1000 / (full.clock / 2), 1e-9);
    CHECK(clock_table_set(&half, "clock", full.clock));
    CHECK_NEAR(half.l2_latency, 100 * full.clock, 1e-9);
    for (unsigned n = 0; clock_table_line(n).name; n++) {
        const struct clock_cost c = clock_table_line(n);
        CHECK((strcmp(c.unit, "GHz") == 0) == (strcmp(c.name, "clock") == 0));
    }
}

static void test_time(void) {
    struct clock_table t = clock_b200();
    CHECK(clock_table_set(&t, "clock", 2));
    t.load_burst = 0.25;
    t.load_sustained = 0.5;
    t.band_low = 0.75;
    t.band_high = 1.5;
    const struct clock_state boost = {CLOCK_BOOST, 0}, burst = {CLOCK_BURST, 0}, sustained = {CLOCK_SUSTAINED, 0};
    /* at once it is a matter of the GPCs at work, in a row of all of the chip */
    const struct clock_load full = {1, 1}, part = {0.25, 1}, half = {0.5, 1}, none = {0};
    const struct clock_time a = clock_time(&t, &boost, 1000, full), b = clock_time(&t, &burst, 1000, part),
                            c = clock_time(&t, &sustained, 1000, half), d = clock_time(&t, &sustained, 1000, none);
    CHECK_NEAR(a.ghz, 2, 0);
    CHECK_NEAR(a.ns, 500, 0);
    CHECK(a.low == a.ns && a.high == a.ns);
    CHECK_NEAR(b.ghz, 1.5, 0);
    CHECK(b.low == b.ns && b.high == b.ns);
    CHECK_NEAR(c.ghz, 1.5, 0);
    CHECK_NEAR(c.low, 500, 1e-9);
    CHECK_NEAR(c.high, 1000, 1e-9);
    CHECK_NEAR(d.ns, 500, 0);
    const struct clock_state locked = {CLOCK_LOCKED, 1.3};
    const struct clock_table slow = clock_b200_in(&locked), usual = clock_b200_in(&sustained);
    CHECK_NEAR(slow.clock, 1.3, 0);
    CHECK_NEAR(usual.clock, clock_b200().clock, 0);
    CHECK_NEAR(clock_time(&slow, &locked, 1300, full).ns, 1000, 1e-9);
}

int main(void) {
    test_states();
    test_units();
    test_time();
    return check_report();
}
