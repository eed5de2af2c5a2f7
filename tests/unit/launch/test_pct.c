/* The schedule pct: a seed gives the same events on any number of host threads, depth and steps do what they are to do,
 * and no agent of a low priority is forgotten. Also what random and pct share: all clusters come in some time. */
#include "unit/event_log.h"

#include "launch/state.h"

#include <stdio.h>

#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .pred %p<8>; .shared .align 128 .b8 sm[1024];\n"                        \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, sm;\n"                         \
    "setp.eq.u32 %p0, %r2, 0; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd2, %rd1, %rd2;\n"
#define COPY(to, bar)                                                                                                  \
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+" bar "], 16;\n"                                           \
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3+" to "], [%rd1], 16, [%r3+" bar       \
    "];\n"
#define START                                                                                                          \
    "@%p0 mbarrier.init.shared::cta.b64 [%r3], 1; @%p0 mbarrier.init.shared::cta.b64 [%r3+8], 1; bar.sync 0;\n"
#define WAIT(label, bar)                                                                                               \
    label ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3+" bar "], 0; @!%p1 bra " label ";\n"

static const char text[] = RUN_HEADER
    /* a mistake of depth 2: out[1] = 1 where warp 1 looks while warp 0 is in its loop */
    HEAD("window") "setp.gt.u32 %p1, %r2, 31; @%p1 bra look; st.volatile.global.u64 [%rd1], 1; mov.u32 %r4, 100;\n"
                   "top: sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra top; st.volatile.global.u64 [%rd1], 0; "
                   "ret;\n"
                   "look: ld.volatile.global.u64 %rd3, [%rd1]; st.global.u64 [%rd1+8], %rd3; ret; }\n"
    /* out[0] = 1 where the second of two copies came first, 0 where the first did or both */
    HEAD("copies") START COPY("128", "0") COPY("256", "8")
        WAIT("w", "8") "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r3], 0; selp.u64 %rd3, 0, 1, %p2;\n" WAIT(
            "v", "0") "st.global.u64 [%rd2], %rd3; ret; }\n"
    /* work in which every CTA has something to interleave, and none sees another's */
    HEAD("work") START COPY("128", "0")
        COPY("256", "8") "and.b32 %r4, %r1, 7; add.u32 %r4, %r4, 3;\n"
                         "top: sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra top; atom.shared.add.u32 %r5, "
                         "[%r3+16], %r2;\n" WAIT("w", "8")
                             WAIT("v", "0") "bar.sync 0; @%p0 st.global.u64 [%rd2], 1; ret; }\n"
    /* all CTAs meet through global memory: those that poll change nothing, or (greedy) bump what looks like progress */
    HEAD(
        "meet") "atom.global.add.u64 %rd3, [%rd1], 1; cvt.u64.u32 %rd5, %nctaid.x;\n"
                "top: ld.relaxed.gpu.global.u64 %rd4, [%rd1]; setp.lt.u64 %p1, %rd4, %rd5; @%p1 bra top; ret; }\n" HEAD(
                    "greedy") "atom.global.add.u64 %rd3, [%rd1], 1; cvt.u64.u32 %rd5, %nctaid.x;\n"
                              "top: atom.global.add.u64 %rd4, [%rd1], 0; setp.lt.u64 %p1, %rd4, %rd5; @%p1 bra top; "
                              "ret; }\n" HEAD(
                                  "naps") "atom.global.add.u64 %rd3, [%rd1], 1; cvt.u64.u32 %rd5, %nctaid.x;\n"
                                          "top: nanosleep.u32 10; ld.relaxed.gpu.global.u64 %rd4, [%rd1]; setp.lt.u64 "
                                          "%p1, %rd4, %rd5; @%p1 bra top; ret; }\n";

static bool start(struct run *r, enum mach_schedule schedule, uint64_t seed, uint32_t depth, uint64_t steps,
                  uint32_t threads) {
    struct mach_config c = mach_config_b200();
    c.schedule = schedule;
    c.seed = seed;
    c.depth = depth;
    c.steps = steps;
    c.threads = threads;
    c.watchdog = 100000000;
    return run_open_config(r, text, &c);
}

/* --- the same events ---------------------------------------------------------------------------------------------- */

#define CTAS 12u

/* A log for each SM: what happens on one is one island's. */
static struct sms { struct event_log log[CTAS]; } once, again;

static struct listener of_sm(const struct listener *self, const struct cta *cta) {
    struct sms *sms = self->ctx;
    CHECK(cta->sm->id < CTAS);
    return log_listener(&sms->log[cta->sm->id % CTAS]);
}

static void on_access(const struct listener *self, const struct event_access *e) {
    const struct listener l = of_sm(self, e->by.cta);
    log_access(&l, e);
}

static void on_sync(const struct listener *self, const struct event_sync *e) {
    const struct listener l = of_sm(self, e->by.cta);
    log_sync(&l, e);
}

static void on_op(const struct listener *self, const struct event_op *e) {
    const struct listener l = of_sm(self, e->by.cta);
    log_op(&l, e);
}

static void on_step(const struct listener *self, const struct event_step *e) {
    const struct listener l = of_sm(self, e->by.cta);
    log_step(&l, e);
}

static void observe(struct sms *sms, uint64_t seed, uint32_t threads) {
    struct run r;
    memset(sms, 0, sizeof *sms);
    if (start(&r, MACH_SCHED_PCT, seed, 3, 0, threads)) {
        const struct listener l = {.name = "sms",
                                   .wants = WANT_SHARED_READ | WANT_SHARED_WRITE | WANT_SYNC | WANT_OP | WANT_STEP,
                                   .ctx = sms,
                                   .access = on_access,
                                   .sync = on_sync,
                                   .op = on_op,
                                   .step = on_step};
        CHECK(events_attach(r.gpu, &l));
        const uint64_t out = run_alloc(&r, 8 * CTAS);
        for (unsigned i = 0; i < CTAS; i++)
            sms->log[i].base = out;
        run_ok(&r, "work", (struct run_shape){.grid = CTAS, .block = 96}, 1, &out);
    }
    run_close(&r);
    for (unsigned i = 0; i < CTAS; i++)
        sms->log[i].base = 0;
}

static void test_events(void) {
    unsigned other = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        observe(&once, seed, 1);
        for (uint32_t threads = 1; threads <= 4; threads++) {
            observe(&again, seed, threads);
            for (unsigned i = 0; i < CTAS; i++) {
                CHECK(once.log[i].len > 1000);
                CHECK_STR(again.log[i].text, once.log[i].text);
            }
        }
        observe(&again, seed + 100, 1);
        for (unsigned i = 0; i < CTAS; i++)
            other += strcmp(again.log[i].text, once.log[i].text) != 0;
        for (unsigned i = 1; i < CTAS; i++) /* islands do not run in step either */
            other += strcmp(once.log[i].text, once.log[0].text) != 0;
    }
    CHECK(other > 60 && other <= 3 * (2 * CTAS - 1));
}

/* --- what is found ------------------------------------------------------------------------------------------------ */

#define SEEDS 200u

/* In how many of SEEDS runs, of which the launch with that number counts, out[word] is 1 behind the kernel. */
static unsigned found(const char *kernel, uint32_t block, unsigned word, uint32_t depth, uint64_t steps,
                      unsigned launches) {
    unsigned n = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct run r;
        if (start(&r, MACH_SCHED_PCT, seed, depth, steps, 1)) {
            const uint64_t out = run_alloc(&r, 64);
            for (unsigned i = 0; i < launches; i++)
                run_ok(&r, kernel, (struct run_shape){.block = block}, 1, &out);
            n += run_u64(&r, out, word) == 1;
        }
        run_close(&r);
    }
    return n;
}

/* Two warps and about 320 steps: one in two has warp 0 go first, and nearly every change then comes in its loop. */
static void test_depth(void) {
    struct run r;
    uint64_t steps = 0;
    if (start(&r, MACH_SCHED_DEFAULT, 0, 0, 0, 1)) {
        const uint64_t out = run_alloc(&r, 64);
        run_ok(&r, "window", (struct run_shape){.block = 64}, 1, &out);
        steps = r.gpu->steps;
        CHECK_EQ(steps, r.gpu->clock);
        CHECK(steps > 310 && steps < 350);
    }
    run_close(&r);
    CHECK_EQ(found("window", 64, 1, 1, 0, 1), 0);
    const unsigned given = found("window", 64, 1, 2, steps, 1), unknown = found("window", 64, 1, 2, 0, 1);
    const unsigned latest = found("window", 64, 1, 2, 0, 2), many = found("window", 64, 1, 2, 1000 * steps, 1);
    CHECK(given > SEEDS / 3 && given < SEEDS * 2 / 3);
    CHECK(latest > SEEDS / 3 && latest < SEEDS * 2 / 3);
    CHECK(unknown > SEEDS / 20 && unknown < SEEDS / 4);
    CHECK(many < SEEDS / 40);
}

/* Copies are agents of their own. */
static void test_copies(void) {
    const unsigned n = found("copies", 32, 0, 1, 0, 1);
    CHECK(n > SEEDS / 10 && n < SEEDS * 9 / 10);
}

/* --- nobody is forgotten ------------------------------------------------------------------------------------------ */

static void test_meet(void) {
    static const char *const kernels[] = {"meet", "greedy", "naps"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct run r;
            if (start(&r, seed % 2 ? MACH_SCHED_PCT : MACH_SCHED_RANDOM, seed, 3, 0, 1)) {
                const uint64_t out = run_alloc(&r, 64);
                run_ok(&r, kernels[i], (struct run_shape){.grid = 20, .block = 1}, 1, &out);
                CHECK_EQ(run_u64(&r, out, 0), 20);
            }
            run_close(&r);
        }
}

int main(void) {
    test_events();
    test_depth();
    test_copies();
    test_meet();
    return check_report();
}
