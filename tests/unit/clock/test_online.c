/* The schedule model: programs whose control flow depends on time, at the times of the clock. The numbers are derived
 * from the table's costs by hand: an instruction on registers or a branch is 4 cycles. */
#include "clock/online.h"
#include "unit/run_ptx.h"
#include "warp/warp.h"

#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .pred %p<8>; .shared .align 128 .b8 sm[1024];\n"                        \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, sm;\n"                         \
    "mul.wide.u32 %rd2, %r1, 32; add.u64 %rd2, %rd1, %rd2;\n"

static const char text[] = RUN_HEADER
    /* out[0]: rounds until 20000 cycles have passed; out[1]: the cycles; out[2]: the nanoseconds */
    HEAD("until") "mov.u64 %rd3, %globaltimer; mov.u64 %rd4, %clock64; mov.u64 %rd6, 0;\n"
                  "top: add.u64 %rd6, %rd6, 1; mov.u64 %rd5, %clock64; sub.u64 %rd5, %rd5, %rd4;\n"
                  "setp.lt.u64 %p1, %rd5, 20000; @%p1 bra top; mov.u64 %rd7, %globaltimer; sub.u64 %rd7, %rd7, %rd3;\n"
                  "st.global.u64 [%rd1], %rd6; st.global.u64 [%rd1+8], %rd5; st.global.u64 [%rd1+16], %rd7; ret; }\n"
    /* 110 items by an atomic; CTA 1 takes ten times as long for one. out[4 * CTA + 1]: those it took */
    HEAD("queue") "mov.u64 %rd6, 0; setp.eq.u32 %p2, %r1, 1; selp.u32 %r5, 1000, 100, %p2;\n"
                  "take: atom.global.add.u64 %rd3, [%rd1], 1; setp.ge.u64 %p1, %rd3, 110; @%p1 bra out;\n"
                  "add.u64 %rd6, %rd6, 1; mov.u32 %r4, %r5;\n"
                  "work: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra work; bra take;\n"
                  "out: st.global.u64 [%rd2+8], %rd6; ret; }\n"
    /* warp 1 arrives after 1000 rounds of 12 cycles; out[0]: how often warp 0 is told "no" before */
    HEAD("peek") "setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], 1; bar.sync 0; mov.u64 %rd6, 0;\n"
                 "setp.eq.u32 %p2, %r2, 32; @%p1 bra ask; @%p2 bra run; ret;\n"
                 "ask: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r3], 0; add.u64 %rd6, %rd6, 1;\n"
                 "@!%p3 bra ask; st.global.u64 [%rd1], %rd6; ret;\n"
                 "run: mov.u32 %r4, 1000;\n"
                 "more: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra more;\n"
                 "mbarrier.arrive.shared::cta.b64 _, [%r3]; ret; }\n"
    /* when each CTA begins and ends, and between the two, behind a sleep of 1000 ns */
    HEAD("spans") "mov.u64 %rd3, %clock64; nanosleep.u32 1000; mov.u64 %rd4, %clock64; st.global.u64 [%rd2], %rd3;\n"
                  "st.global.u64 [%rd2+8], %rd4; ret; }\n"
    /* who asks once is told when the phase is over, and not before */
    HEAD("once") "setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], 1; bar.sync 0;\n"
                 "setp.eq.u32 %p2, %r2, 32; @%p1 bra ask; @%p2 bra run; ret;\n"
                 "ask: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0; mov.u64 %rd3, %clock64;\n"
                 "selp.u64 %rd4, 1, 0, %p3; st.global.u64 [%rd1], %rd4; st.global.u64 [%rd1+8], %rd3; ret;\n"
                 "run: mov.u32 %r4, 1000;\n"
                 "more: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra more;\n"
                 "mbarrier.arrive.shared::cta.b64 _, [%r3]; mov.u64 %rd3, %clock64; st.global.u64 [%rd1+16], %rd3;\n"
                 "ret; }\n"
    /* CTA 1 arrives at CTA 0's mbarrier after 12000 cycles: out[1], when. CTA 0 asks all the time: how often from
     * out[3] on, out[2], and when it is told, out[0] */
    HEAD("remote") "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\n"
                   "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @!%p1 bra run;\n"
                   "mov.u64 %rd6, 0; mov.u64 %rd5, %clock64;\n"
                   "ask: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r3], 0; add.u64 %rd6, %rd6, 1;\n"
                   "@!%p3 bra ask; mov.u64 %rd3, %clock64; st.global.u64 [%rd1], %rd3;\n"
                   "st.global.u64 [%rd1+16], %rd6; st.global.u64 [%rd1+24], %rd5; bra end;\n"
                   "run: mov.u32 %r4, 1000; mapa.shared::cluster.u32 %r5, %r3, 0;\n"
                   "more: sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra more;\n"
                   "mov.u64 %rd3, %clock64; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\n"
                   "st.global.u64 [%rd1+8], %rd3;\n"
                   "end: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }\n"
    /* lane 0 waits for lane 1, which waits for lane 0 where they would meet: it goes on alone */
    HEAD("parted") "setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared::cta.b64 [%r3], 1; @!%p1 bra meet;\n"
                   "ask: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0; @!%p3 bra ask;\n"
                   "meet: @!%p1 mbarrier.arrive.shared::cta.b64 _, [%r3]; @%p1 st.global.u64 [%rd1], 1; ret; }\n"
    /* two loads, between clocks that follow: one load; both; the sum of the two that another asks by; what was stored
     * */
    HEAD("loads") "mov.u64 %rd10, %clock64; ld.global.u64 %rd3, [%rd1+4096]; ld.global.u64 %rd4, [%rd1+8192];\n"
                  "mov.u64 %rd11, %clock64; add.u64 %rd5, %rd3, %rd4; mov.u64 %rd12, %clock64;\n"
                  "st.global.u64 [%rd1+64], %rd5; mov.u64 %rd13, %clock64; ld.global.u64 %rd6, [%rd1+64];\n"
                  "add.u64 %rd6, %rd6, %rd1; ld.global.u64 %rd7, [%rd6+12288]; mov.u64 %rd14, %clock64;\n"
                  "st.global.u64 [%rd1], %rd10; st.global.u64 [%rd1+8], %rd11; st.global.u64 [%rd1+16], %rd12;\n"
                  "st.global.u64 [%rd1+24], %rd13; st.global.u64 [%rd1+32], %rd14; ret; }\n"
    /* guards that nothing has written, which hold 0, in straight code between clocks */
    HEAD("guards") "mov.u64 %rd10, %clock64; add.u32 %r4, %r2, 1; @%p6 add.u32 %r4, %r4, 100;\n"
                   "@!%p6 ld.global.u32 %r6, [%rd1+4096]; add.u32 %r4, %r4, 10; add.u32 %r5, %r4, 1;\n"
                   "mov.u64 %rd11, %clock64; st.global.u32 [%rd1], %r4; st.global.u32 [%rd1+4], %r5;\n"
                   "sub.u64 %rd3, %rd11, %rd10; st.global.u64 [%rd1+8], %rd3; ret; }\n"
    /* out[2 * thread]: when a loop of three loads is over; the other: another of 200 laps, and what
     * even and odd lanes do by themselves. Warps 0 and 4 share a sub-partition. */
    HEAD("laps") "mov.u64 %rd10, %clock64; mov.u32 %r4, 3; add.u64 %rd3, %rd1, 4096;\n"
                 "lap: ld.global.u64 %rd4, [%rd3]; add.u64 %rd3, %rd3, 4096; sub.u32 %r4, %r4, 1;\n"
                 "setp.ne.u32 %p1, %r4, 0; @%p1 bra lap; mov.u64 %rd11, %clock64; mov.u32 %r4, 200;\n"
                 "dry: sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra dry; ld.global.u32 %r5, [%rd1+64];\n"
                 "and.b32 %r6, %r2, 1; setp.eq.u32 %p1, %r6, 1; @%p1 bra odd; add.u32 %r6, %r6, 1; add.u32 %r6, %r6, "
                 "1;\n"
                 "mov.u64 %rd12, %clock64; bra meet; odd: add.u32 %r6, %r6, 1; mov.u64 %rd12, %clock64;\n"
                 "meet: sub.u64 %rd11, %rd11, %rd10; sub.u64 %rd12, %rd12, %rd10;\n"
                 "mul.wide.u32 %rd5, %r2, 16; add.u64 %rd5, %rd1, %rd5;\n"
                 "st.global.u64 [%rd5], %rd11; st.global.u64 [%rd5+8], %rd12; ret; }\n"
    /* nobody arrives; nobody stops */
    HEAD("stuck") "mbarrier.init.shared::cta.b64 [%r3], 1;\n"
                  "ask: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0; @!%p3 bra ask; ret; }\n" HEAD(
                      "peeks") "mbarrier.init.shared::cta.b64 [%r3], 1;\n"
                               "ask: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r3], 0; @!%p3 bra ask; ret; "
                               "}\n" HEAD("endless") "top: add.u32 %r4, %r4, 1; bra top; }\n" HEAD(
                                   "spins") "top: ld.volatile.global.u64 %rd3, [%rd1]; setp.eq.u64 %p1, %rd3, 0; @%p1 "
                                            "bra top; ret; }\n";

/* Round ones in place of what was measured. */
static struct clock_table round_costs(void) {
    static const struct {
        const char *name;
        double value;
    } costs[] = {{"alu", 4},
                 {"control", 4},
                 {"global", 8},
                 {"async", 8},
                 {"arrive", 10},
                 {"arrive_remote", 200},
                 {"wake", 20},
                 {"barrier", 20},
                 {"clock", 2},
                 {"launch", 1500},
                 {"cta_start", 500},
                 {"l1_latency", 30},
                 {"thread_latency", 500},
                 {"hbm_latency", 0},
                 {"hbm_line", 0},
                 {"l2_far", 0}};
    struct clock_table t = clock_b200();
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        CHECK(clock_table_set(&t, costs[i].name, costs[i].value));
    return t;
}

struct timed_run {
    struct run r;
    struct clock_online *clock;
    uint64_t out;
};

static bool start_with(struct timed_run *t, uint64_t watchdog, const char *ptx) {
    struct mach_config c = mach_config_b200();
    c.schedule = MACH_SCHED_MODEL;
    c.watchdog = watchdog;
    c.threads = 3;
    if (!run_open_config(&t->r, ptx, &c))
        return false;
    const struct clock_table costs = round_costs();
    t->clock = clock_online_attach(t->r.gpu, &costs);
    t->out = run_alloc(&t->r, 32 * 1024);
    return CHECK(t->clock != NULL);
}

static bool start(struct timed_run *t, uint64_t watchdog) { return start_with(t, watchdog, text); }

static void stop(struct timed_run *t) {
    run_close(&t->r);
    clock_online_free(t->clock);
}

static uint64_t word(struct timed_run *t, uint32_t i) { return run_u64(&t->r, t->out, i); }

static int run(struct timed_run *t, const char *kernel, struct run_shape shape) {
    memset(run_at(&t->r, t->out, 32 * 1024), 0, 32 * 1024);
    return run_kernel(&t->r, kernel, shape, 1, &t->out);
}

/* A round reads the clock once: 5 instructions of 4 cycles. */
static void test_clock(void) {
    struct timed_run t;
    if (start(&t, 1000000)) {
        CHECK_EQ(run(&t, "until", (struct run_shape){.block = 32}), 0);
        CHECK_EQ(word(&t, 0), 1001); /* the first is 12 cycles behind the read before the loop, */
        CHECK_EQ(word(&t, 1), 20012);
        CHECK_EQ(word(&t, 2), 10016); /*  that of %globaltimer 4 cycles before it, and the last 16 behind; 2 GHz */
        const double cycles = clock_online_cycles(t.clock);
        CHECK_EQ(run(&t, "until", (struct run_shape){.block = 32}), 0);
        CHECK_EQ(clock_online_cycles(t.clock) == cycles, 1);
    }
    stop(&t);
}

/* An item takes CTA 0 so much longer than 100 rounds of 12 cycles as the answer of the atomic does. */
static void test_queue(void) {
    struct timed_run t;
    if (start(&t, 10000000)) {
        CHECK_EQ(run(&t, "queue", (struct run_shape){.grid = 2}), 0);
        const uint64_t fast = word(&t, 1), slow = word(&t, 5);
        CHECK_EQ(fast + slow, 110);
        CHECK(fast > 4 * slow && fast < 11 * slow);
    }
    stop(&t);
}

static void test_waits(void) {
    struct timed_run t;
    if (start(&t, 10000000)) {
        /* 12000 cycles; a round is a test_wait of 8, an addition and a branch of 4 */
        CHECK_EQ(run(&t, "peek", (struct run_shape){.block = 64}), 0);
        CHECK(word(&t, 0) > 735 && word(&t, 0) < 765);
        CHECK_EQ(run(&t, "once", (struct run_shape){.block = 64}), 0);
        CHECK_EQ(word(&t, 0), 1);
        /* the arrival takes 10 cycles to come through, the waiting warp 20 to go on; %clock is read 4 behind each */
        CHECK_EQ(word(&t, 1) - word(&t, 2), 30);
    }
    stop(&t);
}

/* An arrival in another CTA issues in 8 cycles and takes 200 to come through: until then test_wait says no. A round of
 * test_wait, addition and branch takes 16; the answer 20 from when it came through, at least; the read of the clock
 * 12. */
static void test_remote(void) {
    struct timed_run t;
    if (start(&t, 10000000)) {
        CHECK_EQ(run(&t, "remote", (struct run_shape){.grid = 2, .block = 1, .cluster = 2}), 0);
        const uint64_t told = word(&t, 0), arrives = word(&t, 1) + 8, asked = word(&t, 2), since = word(&t, 3);
        CHECK(arrives > 12000 && told >= arrives + 200 + 20 + 12 && told <= arrives + 200 + 20 + 12 + 16);
        CHECK(asked >= (arrives + 200 - since) / 16 && asked <= (arrives + 200 - since) / 16 + 1);
        CHECK_EQ(run(&t, "parted", (struct run_shape){.block = 2}), 0);
        CHECK_EQ(word(&t, 0), 1);
    }
    stop(&t);
}

/* One CTA an SM; the last comes when the first has ended. */
static void test_later_clusters(void) {
    struct timed_run t;
    if (start(&t, 10000000)) {
        const struct clock_table costs = round_costs();
        CHECK_EQ(run(&t, "spans", (struct run_shape){.grid = 149, .block = 32, .smem = 200 << 10}), 0);
        uint64_t first = UINT64_MAX;
        for (uint32_t i = 0; i < 148; i++) {
            CHECK(word(&t, 4 * i) >= (uint64_t)costs.launch && word(&t, 4 * i) < (uint64_t)costs.launch + 100);
            const uint64_t slept = word(&t, 4 * i + 1) - word(&t, 4 * i);
            CHECK(slept >= 2000 && slept < 2000 + 20);
            first = word(&t, 4 * i + 1) < first ? word(&t, 4 * i + 1) : first;
        }
        const uint64_t last = word(&t, (uint32_t)4 * 148);
        CHECK(last > first + (uint64_t)costs.cta_start && last < first + (uint64_t)costs.cta_start + 200);
        CHECK(clock_online_cycles(t.clock) >= (double)last + 2000);
    }
    stop(&t);
}

/* Loads of 8 cycles each do not hold the warp, nor does their sum; the store of it waits for the second. What it stored
 * comes from L1, for the address of the next load. */
static void test_loads(void) {
    struct timed_run t;
    if (start(&t, 10000000)) {
        CHECK_EQ(run(&t, "loads", (struct run_shape){.block = 1}), 0);
        CHECK_EQ(word(&t, 1) - word(&t, 0), 8 + 8 + 4);
        CHECK_EQ(word(&t, 2) - word(&t, 1), 4 + 4);
        const uint64_t stored = word(&t, 3) - word(&t, 0);
        CHECK(stored >= 8 + 8 + 1000 + 8 && stored < 8 + 8 + 1000 + 8 + 16);
        const uint64_t chased = word(&t, 4) - word(&t, 3);
        CHECK(chased >= 8 + 30 + 4 + 8 && chased < 8 + 30 + 4 + 8 + 16);
    }
    stop(&t);
}

/* Straight code stops before a guard that has to be looked at, and goes on: each instruction once, and in its time. */
static void test_guards(void) {
    struct timed_run t;
    if (start(&t, 10000000)) {
        CHECK_EQ(run(&t, "guards", (struct run_shape){.block = 1}), 0);
        CHECK_EQ(word(&t, 0), UINT64_C(12) << 32 | 11);
        CHECK_EQ(word(&t, 1), 4 + 4 + 8 + 4 + 4 + 4);
    }
    stop(&t);
}

/* A lap of the first loop takes 8 cycles and four times 4; of the second three times 4. Lanes that take a branch
 * another way than others end what is run at once. */
static void test_laps(void) {
    struct timed_run t;
    if (start(&t, 10000000)) {
        CHECK_EQ(run(&t, "laps", (struct run_shape){.block = 1}), 0);
        CHECK_EQ(word(&t, 0), 4 + 4 + 3 * (8 + 4 * 4) + 4);
        CHECK_EQ(word(&t, 1), 84 + 4 + 200 * 12 + 8 + 3 * 4 + 2 * 4 + 4);
        CHECK_EQ(run(&t, "laps", (struct run_shape){.block = 160}), 0);
        for (uint32_t thread = 0; thread < 160; thread += thread == 31 ? 97 : 1) { /* of warps 0 and 4 */
            CHECK_EQ(word(&t, 2 * thread), 84);
            CHECK_EQ(word(&t, 2 * thread + 1), thread % 2 ? 2516 : 2520);
        }
    }
    stop(&t);
}

/* Lines 0 to 4 of the first block became 0 to 3 machine instructions; of the second ptxas made copies, and its PTX
 * counts. */
static const char counted_text[] = RUN_HEADER ".visible .entry counted(.param .u64 out) {\n"
                                              ".reg .b32 %r<4>; .reg .b64 %rd<8>;\n"
                                              "ld.param.u64 %rd1, [out];\n"
                                              "mov.u64 %rd2, %clock64;\n"
                                              "mov.u32 %r1, 5;\n"
                                              "mov.u64 %rd3, %clock64;\n"
                                              "add.u32 %r2, %r1, 1;\n"
                                              "mov.u64 %rd4, %clock64;\n"
                                              "st.global.u64 [%rd1], %rd2;\n"
                                              "st.global.u64 [%rd1+8], %rd3;\n"
                                              "st.global.u64 [%rd1+16], %rd4;\n"
                                              "bra next;\n"
                                              "next: mov.u64 %rd5, %clock64;\n"
                                              "add.u32 %r3, %r2, 1;\n"
                                              "mov.u64 %rd6, %clock64;\n"
                                              "st.global.u64 [%rd1+24], %rd5;\n"
                                              "st.global.u64 [%rd1+32], %rd6;\n"
                                              "ret;\n}\n";

static void test_counts(void) {
    static const uint32_t became[] = {1, 1, 0, 1, 3, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9};
    struct timed_run t;
    uint32_t counts[64] = {0};
    if (start_with(&t, 1000000, counted_text)) {
        const struct ptx_func *f = t.r.module->ptx->funcs[0];
        CHECK_EQ(run(&t, "counted", (struct run_shape){.block = 1}), 0);
        CHECK_EQ(word(&t, 1) - word(&t, 0), 4 + 4);
        CHECK(clock_online_ptx(t.clock));
        for (uint32_t i = 0; i < sizeof became / sizeof *became; i++)
            counts[f->insns[i].site.ptx_line] = became[i];
        lower_set_counts(t.r.module, counts, 64);
        CHECK_EQ(f->insns[4].site.sass, 4);
        CHECK_EQ(f->insns[11].site.sass, 0);
        CHECK_EQ(run(&t, "counted", (struct run_shape){.block = 1}), 0);
        CHECK_EQ(word(&t, 1) - word(&t, 0), 4 + 0);
        CHECK_EQ(word(&t, 2) - word(&t, 1), 4 + 3 * 4);
        CHECK_EQ(word(&t, 4) - word(&t, 3), 4 + 4);
        CHECK(!clock_online_ptx(t.clock));
    }
    stop(&t);
}

/* Thread 0 queues 64 products of ones, K = 16, which are added up. In the midst of them thread 32 overwrites the first
 * row of A, two pieces of 16 bytes. out[0]: the sum; when the first product is issued, the last is known to be done,
 * the row is overwritten. */
static const char overtaken_text[] = RUN_HEADER
    ".shared .align 1024 .b8 tiles[5120]; .shared .align 8 .b64 done; .shared .align 4 .b32 base;\n"
    ".visible .entry overtaken(.param .u64 out) {\n"
    ".reg .pred %p, %q, %more; .reg .b32 %t, %i, %s, %x, %d; .reg .b64 %a, %b, %out, %from, %to;\n"
    "ld.param.u64 %out, [out]; mov.b32 %t, %tid.x; setp.eq.u32 %p, %t, 0; setp.lt.u32 %q, %t, 32;\n"
    "@%q tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;\n"
    "@%p mbarrier.init.shared::cta.b64 [done], 1; mov.b32 %i, 0; mov.b32 %s, tiles;\n"
    "mad.lo.u32 %x, %t, 16, %s;\n" /* 4096 bytes of A, 1024 of B */
    "fill: st.shared.v4.b32 [%x], {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00};\n"
    "add.u32 %x, %x, 1024; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 5; @%more bra fill;\n"
    "fence.proxy.async.shared::cta; bar.sync 0; tcgen05.fence::after_thread_sync; mov.b32 %i, 0; @!%q bra idle;\n"
    "ld.shared.b32 %d, [base]; shr.u32 %s, %s, 4; cvt.u64.u32 %a, %s; add.u64 %b, %a, 256;\n"
    "or.b64 %a, %a, 0x0000400800800000; or.b64 %b, %b, 0x0000400800200000; mov.u64 %from, %clock64;\n"
    "mma: setp.ne.u32 %more, %i, 0;\n"
    "@%p tcgen05.mma.cta_group::1.kind::f16 [%d], %a, %b, 0x08080010, %more;\n"
    "add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 64; @%more bra mma;\n"
    "@%p tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n"
    "wait: mbarrier.try_wait.parity.shared::cta.b64 %more, [done], 0; @!%more bra wait;\n"
    "mov.u64 %to, %clock64; tcgen05.fence::after_thread_sync;\n"
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%x}, [%d]; tcgen05.wait::ld.sync.aligned;\n"
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 32; @!%p ret;\n"
    "st.global.b32 [%out], %x; st.global.u64 [%out+8], %from; st.global.u64 [%out+16], %to; ret;\n"
    "idle: add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 150; @%more bra idle;\n"
    "setp.eq.u32 %p, %t, 32; @!%p ret; mov.u64 %from, %clock64;\n"
    "st.volatile.shared.v4.b32 [tiles], {0, 0, 0, 0}; st.volatile.shared.v4.b32 [tiles+2048], {0, 0, 0, 0};\n"
    "st.global.u64 [%out+24], %from; ret; }\n";

/* Operations of the tensor core run in a row only up to the time at which another of the cluster does something. */
static void test_overtaken(void) {
    struct timed_run t;
    if (start_with(&t, 1000000, overtaken_text)) {
        CHECK_EQ(run(&t, "overtaken", (struct run_shape){.block = 64}), 0);
        const uint32_t bits = (uint32_t)word(&t, 0);
        float sum;
        memcpy(&sum, &bits, sizeof sum);
        const double before = 64.0 * (double)(word(&t, 3) - word(&t, 1)) / (double)(word(&t, 2) - word(&t, 1));
        CHECK(before > 8 && before < 56 && sum > 16 * (before - 3) && sum < 16 * (before + 3));
    }
    stop(&t);
}

static void fails(const char *kernel, const char *id) {
    struct timed_run t;
    if (start(&t, 200000))
        run_faults(&t.r, kernel, (struct run_shape){.block = 1}, 1, &t.out, id);
    stop(&t);
}

static void test_reports(void) {
    fails("stuck", "deadlock");
    fails("peeks", "deadlock");
    fails("endless", "watchdog");
    fails("spins", "watchdog");
}

int main(void) {
    test_clock();
    test_queue();
    test_waits();
    test_remote();
    test_loads();
    test_guards();
    test_laps();
    test_counts();
    test_overtaken();
    test_later_clusters();
    test_reports();
    return check_report();
}
