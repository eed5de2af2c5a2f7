/* The replay of logs made by hand, held to times worked out by hand. */
#include "clock/engine.h"
#include "unit/clock/log.h"

static struct clock_result replay_times(struct hand *h, const struct clock_table *t, uint32_t launches) {
    struct clock_result r;
    char why[256] = "";
    for (uint32_t i = 0; i < h->log.num_clusters; i++) {
        h->clusters[i].num_objects = LOG_MOST;
        h->clusters[i].num_ops = LOG_MOST;
    }
    CHECK(clock_replay_with(&h->log, t, &(struct clock_options){launches, false}, &r, why, sizeof why));
    CHECK_STR(why, "");
    return r;
}

static double at(const struct clock_result *r, uint32_t event) { return r->clusters[0].cycle[event - 1]; }
static uint32_t cause(const struct clock_result *r, uint32_t event) { return r->clusters[0].cause[event - 1]; }

/* What a warp ran stands between its events: 3 instructions of 10 cycles each. */
static void test_program(void) {
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 1, 1);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_FENCE, 0, 3);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_FENCE, 0, 1);
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, 1), 1000, 0);
    CHECK_NEAR(at(&r, 2), 1030, 0);
    CHECK_NEAR(at(&r, 3), 1040, 0);
    CHECK_EQ(cause(&r, 3), 2);
    CHECK_NEAR(r.cycles, 1040, 0);
    clock_result_free(&r, &h.log);
}

/* Lane 1 waits for an arrival that comes late; lane 0 of the same warp is not behind it, until they meet. */
static void test_divergence(void) {
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 1, 1);
    hand_thread(&h, 0, TRACE_WAIT, WAIT_BEGINS, 1, 1)->lanes = 2;
    hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_ARRIVE, 1, 50);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_PHASE, 1, 0);
    const uint32_t phase = hand_last(&h);
    struct trace_event *met = hand_thread(&h, 0, TRACE_WAIT, WAIT_MET, 1, 0);
    met->lanes = 2;
    met->cause = phase;
    hand_thread(&h, 0, TRACE_SYNC, SYNC_FENCE, 0, 4);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_WARP, 0, 1)->lanes = 3;
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, phase + 1), 1508, 0);
    CHECK_NEAR(at(&r, phase + 2), 1040, 0);
    CHECK_NEAR(at(&r, phase + 3), 1518, 0);
    clock_result_free(&r, &h.log);
}

/* Warps 0 and 4 share a sub-partition, which issues one instruction a cycle; warp 1 has one of its own. */
static void test_issue_slots(void) {
    struct hand h;
    struct clock_table t = hand_costs();
    t.alu = 1;
    hand_open(&h, 1, 1);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_FENCE, 0, 100);
    hand_thread(&h, 4, TRACE_SYNC, SYNC_FENCE, 0, 100);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_FENCE, 0, 100);
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, 2), 1100, 0);
    CHECK_NEAR(at(&r, 3), 1200, 0);
    CHECK_NEAR(at(&r, 4), 1100, 0);
    clock_result_free(&r, &h.log);
}

/* Two arrivals complete a phase. In the log warp 1's is the last, on the clock warp 0's: 20 instructions against 2. The
 * phase is complete at 1000 + 200 + 5, who waits goes on 3 later. */
static void test_last_arrival(void) {
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 1, 1);
    hand_thread(&h, 2, TRACE_WAIT, WAIT_BEGINS, 1, 1);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_MBAR_ARRIVE, 1, 20);
    const uint32_t late = hand_last(&h);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_ARRIVE, 1, 2);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_PHASE, 1, 0)->cause = late + 1;
    const uint32_t phase = hand_last(&h);
    hand_thread(&h, 2, TRACE_SYNC, SYNC_MBAR_TEST, 1, 0)->count = 1;
    h.events[0][hand_last(&h) - 1].cause = phase;
    hand_thread(&h, 2, TRACE_WAIT, WAIT_MET, 1, 0)->cause = phase;
    hand_thread(&h, 1, TRACE_SYNC, SYNC_FENCE, 0, 1); /* warp 1 does not wait for the phase */
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, phase), 1205, 0);
    CHECK_EQ(cause(&r, phase), late);
    CHECK_NEAR(at(&r, phase + 1), 1208, 0);
    CHECK_EQ(cause(&r, phase + 1), phase);
    CHECK_NEAR(at(&r, phase + 2), 1208, 0);
    CHECK_NEAR(at(&r, phase + 3), 1030, 0);
    CHECK_EQ(r.doubts.answers, 0);
    clock_result_free(&r, &h.log);
}

/* Two arrivals at one time: the last in the log completes the phase. */
static void test_arrivals_at_one_time(void) {
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 1, 1);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_MBAR_ARRIVE, 1, 5);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_ARRIVE, 1, 5);
    const uint32_t last = hand_last(&h);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_PHASE, 1, 0)->cause = last;
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, last - 1), at(&r, last), 0);
    CHECK_EQ(cause(&r, last + 1), last);
    clock_result_free(&r, &h.log);
}

/* A bar.sync of two warps: passed with the later one, and 7 cycles. */
static void test_cta_barrier(void) {
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 1, 1);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_BAR_ARRIVE, 1, 4);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_BAR_ARRIVE, 1, 1);
    hand_thread(&h, 1, TRACE_SYNC, SYNC_BAR_PHASE, 1, 0);
    const uint32_t phase = hand_last(&h);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_BAR_PASS, 1, 0)->cause = phase;
    hand_thread(&h, 1, TRACE_SYNC, SYNC_BAR_PASS, 1, 0)->cause = phase;
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, phase), 1047, 0);
    CHECK_NEAR(at(&r, phase + 1), 1047, 0);
    CHECK_NEAR(at(&r, phase + 2), 1047, 0);
    clock_result_free(&r, &h.log);
}

/* Two UMMAs 128x256 one behind the other and a commit: the second starts 128 cycles after the first, and the arrival
 * comes its latency after that: 136 + 128 as measured to the end of a wait, less 2 x 8 + 3 for issue and wake. */
static void test_umma_chain(void) {
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 1, 1);
    for (uint32_t i = 0; i < 2; i++)
        h.ops[i] =
            (struct trace_op){.agent = AGENT_TENSOR_CORE, .m = 128, .n = 256, .k = 16, .cta_group = 1, .leader = i + 1};
    h.ops[2] = (struct trace_op){.agent = AGENT_COMMIT, .name = TEXT_COMMIT, .leader = 3};
    for (uint32_t op = 1; op <= 3; op++)
        hand_op(&h, 0, op, OP_ISSUED, 1);
    for (uint32_t op = 1; op <= 2; op++) {
        hand_op(&h, 0, op, OP_STARTED, 0);
        hand_op(&h, 0, op, OP_COMPLETED, 0);
    }
    hand_op(&h, 0, 3, OP_STARTED, 0);
    hand_signal(&h, 3, SYNC_MBAR_ARRIVE, 1);
    hand_signal(&h, 3, SYNC_MBAR_PHASE, 1);
    const uint32_t phase = hand_last(&h);
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, h.ops[0].started), 1010, 0);
    CHECK_NEAR(at(&r, h.ops[1].started), 1138, 0);
    CHECK_NEAR(at(&r, phase), 1138 + 264 - 19, 0);
    CHECK_NEAR(r.busy.tensor, 256, 0);
    clock_result_free(&r, &h.log);
}

static void load(struct hand *h) {
    h->ops[0] = (struct trace_op){
        .agent = AGENT_TMA, .leader = 1, .to = 1, .signals = 1, .bytes = 16384, .row = 128, .global = 0x10000};
    hand_op(h, 0, 1, OP_ISSUED, 1);
    hand_op(h, 0, 1, OP_STARTED, 0);
    hand_signal(h, 1, SYNC_MBAR_COMPLETE_TX, 1);
    hand_op(h, 0, 1, OP_COMPLETED, 0);
}

static struct clock_table load_costs(void) {
    struct clock_table t = hand_costs();
    t.tma_issue = 100;
    t.tma_box = 20;
    t.tma_line = 3;
    t.tma_port = 64;
    t.tma_slot = 0;
    t.l2_latency = 300;
    t.l2_rate = t.hbm_rate = 1e9;
    t.hbm_latency = 500;
    t.hbm_line = 1;
    t.hbm_lines = 64;
    return t;
}

/* 128 rows of one line: asked for at 1010 + 100 + 20 + 3 x 128; from HBM 500 + 64 later, on the way 300; the others
 * have come when the last one takes its 2. The second launch finds them in L2. */
static void test_load(void) {
    struct hand h;
    const struct clock_table t = load_costs();
    hand_open(&h, 1, 1);
    load(&h);
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, h.ops[0].completed), 1514 + 564 + 300 + 2, 1e-3);
    CHECK_EQ(r.busy.hbm_bytes, 16384);
    clock_result_free(&r, &h.log);
    r = replay_times(&h, &t, 2);
    CHECK_NEAR(at(&r, h.ops[0].completed), 1514 + 300 + 2, 1e-3);
    CHECK_EQ(r.busy.hbm_bytes, 0);
    CHECK_EQ(r.busy.l2_bytes, 16384);
    clock_result_free(&r, &h.log);
}

/* A port of 16 bytes a cycle is slower than the asking: all lines after the first. A line has a turn of its own. */
static void test_slow_port(void) {
    for (uint32_t slot = 0; slot < 2; slot++) {
        struct hand h;
        struct clock_table t = load_costs();
        t.tma_port = slot ? 64 : 16;
        t.tma_slot = slot ? 8 : 0;
        hand_open(&h, 1, 1);
        load(&h);
        struct clock_result r = replay_times(&h, &t, 2);
        CHECK_NEAR(at(&r, h.ops[0].completed), 1514 - 127 * 3 + 300 + 128 * 8, 1e-3);
        clock_result_free(&r, &h.log);
    }
}

/* 32 lanes of warp 0 access 16 bytes each, `step` bytes apart, after `alu` instructions. */
static struct trace_event *hand_global(struct hand *h, uint32_t effect, uint64_t first, int32_t step, uint32_t alu) {
    struct trace_event *e = hand_thread(h, 0, TRACE_GLOBAL, effect, 0, alu);
    h->spans[h->clusters[0].num_spans] = (struct trace_span){first, step, 32};
    e->phase = ++h->clusters[0].num_spans;
    e->pending = 1;
    e->lanes = ~0u;
    e->count = 16;
    return e;
}

/* A warp stores 16 bytes a lane: side by side they are 4 lines, a row each 32. A store waits where more than 64 lines
 * are before it. */
static void test_stores(void) {
    for (uint32_t apart = 0; apart < 2; apart++) {
        struct hand h;
        const struct clock_table t = hand_costs();
        hand_open(&h, 1, 1);
        for (uint32_t i = 0; i < 20; i++)
            hand_global(&h, EFFECT_WRITE, 0x10000, apart ? 512 : 16, i == 0);
        struct clock_result r = replay_times(&h, &t, 1);
        CHECK_NEAR(at(&r, hand_last(&h)), 1010 + (apart ? 20 * 32 : 20 * 4) - 64, 0);
        clock_result_free(&r, &h.log);
    }
}

/* Loads in flight: the second goes out one instruction after the first. A store that uses neither goes on, one that
 * uses the first waits for it, and a fence for both. */
static void test_loads(void) {
    struct hand h;
    struct clock_table t = hand_costs();
    t.thread_latency = 500;
    t.hbm_latency = t.l2_far = t.hbm_line = 0;
    t.l2_rate = t.hbm_rate = 1e9;
    hand_open(&h, 1, 1);
    hand_global(&h, EFFECT_READ, 0x10000, 16, 1);
    const uint32_t first = hand_last(&h);
    hand_global(&h, EFFECT_READ, 0x20000, 16, 1);
    hand_global(&h, EFFECT_WRITE, 0x30000, 16, 1);
    hand_global(&h, EFFECT_WRITE, 0x30000, 16, 1)->used = first;
    hand_thread(&h, 0, TRACE_SYNC, SYNC_FENCE, 0, 1);
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(at(&r, first), 1010, 0);
    CHECK_NEAR(at(&r, first + 1), 1020, 0);
    CHECK_NEAR(at(&r, first + 2), 1030, 0);
    CHECK_NEAR(at(&r, first + 3), 1010 + 4 + 500 + 10, 1e-3);
    CHECK_NEAR(at(&r, first + 4), 1020 + 4 + 500 + 10, 1e-3);
    clock_result_free(&r, &h.log);
}

/* A release at the scope of a cluster waits until the warp's stores are known to be in L2; one of the CTA does not, nor
 * does that of a warp without stores. */
static void test_release(void) {
    const char *const texts[] = {"fence.acq_rel.cluster;", "fence.acq_rel.cta;"};
    for (uint32_t i = 0; i < 2; i++) {
        struct hand h;
        struct clock_table t = hand_costs();
        t.thread_latency = 500;
        hand_open(&h, 1, 1);
        char text[32];
        snprintf(text, sizeof text, "%c%s", 0, texts[i]); /* 0: no text */
        h.log.text = text;
        h.log.text_bytes = sizeof text;
        h.sites[SITE_TEST - 1].text = 1;
        hand_global(&h, EFFECT_WRITE, 0x10000, 16, 1);
        hand_thread(&h, 0, TRACE_SYNC, SYNC_FENCE, 0, 1)->site = SITE_TEST;
        const uint32_t fence = hand_last(&h);
        hand_thread(&h, 1, TRACE_SYNC, SYNC_FENCE, 0, 1)->site = SITE_TEST;
        struct clock_result r = replay_times(&h, &t, 1);
        CHECK_NEAR(at(&r, fence), i ? 1020 : 1010 + 4 + 500 + 10, 1e-3);
        CHECK_NEAR(at(&r, hand_last(&h)), 1010, 0);
        clock_result_free(&r, &h.log);
    }
    CHECK(clock_releases("barrier.cluster.arrive.aligned;") && clock_releases("membar.gl;"));
    CHECK(clock_releases("fence.sc.gpu;") && clock_releases("fence.release.sync_restrict::shared::cta.cluster;"));
    CHECK(!clock_releases("barrier.cluster.arrive.relaxed.aligned;") && !clock_releases("fence.proxy.async;"));
    CHECK(!clock_releases("membar.cta;") && !clock_releases("barrier.cluster.wait.acquire;"));
}

/* One cluster fits: the second starts 100 cycles after the first has ended. */
static void test_resident(void) {
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 2, 1);
    for (uint32_t c = 0; c < 2; c++)
        hand_add(&h, c, (struct trace_event){.class = TRACE_SYNC, .kind = SYNC_FENCE, .lanes = 1, .ran = {5}});
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_NEAR(r.clusters[0].cycle[1], 1050, 0);
    CHECK_NEAR(r.clusters[1].cycle[0], 1150, 0);
    CHECK_NEAR(r.cycles, 1200, 0);
    CHECK_EQ(r.sms, 1);
    clock_result_free(&r, &h.log);
    h.log.resident = 2;
    r = replay_times(&h, &t, 1);
    CHECK_NEAR(r.cycles, 1050, 0);
    CHECK_EQ(r.sms, 2);
    clock_result_free(&r, &h.log);
}

/* Warp 1 asks after `asked` instructions and goes on to something else; warp 0 arrives after `arrives`. In the log the
 * answer was "no", or "yes" where `yes`. */
static uint64_t answers(uint32_t asked, uint32_t arrives, bool yes, bool again) {
    struct hand h;
    const struct clock_table t = hand_costs();
    struct trace_event *test;
    hand_open(&h, 1, 1);
    if (!yes) {
        hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_TEST, 1, asked)->site = SITE_TEST;
        if (!again)
            hand_thread(&h, 1, TRACE_SYNC, SYNC_FENCE, 0, 1);
    }
    hand_thread(&h, 0, TRACE_SYNC, SYNC_MBAR_ARRIVE, 1, arrives);
    hand_thread(&h, 0, TRACE_SYNC, SYNC_MBAR_PHASE, 1, 0);
    const uint32_t phase = hand_last(&h);
    if (yes || again) {
        test = hand_thread(&h, 1, TRACE_SYNC, SYNC_MBAR_TEST, 1, yes ? asked : 1);
        test->site = SITE_TEST;
        test->count = 1;
        test->cause = phase;
    }
    struct clock_result r = replay_times(&h, &t, 1);
    const uint64_t n = r.doubts.answers;
    clock_result_free(&r, &h.log);
    return n;
}

static void test_doubts(void) {
    char text[128];
    CHECK_EQ(answers(1, 20, false, false), 0); /* no, and it is no on the clock */
    CHECK_EQ(answers(20, 1, false, false), 1);
    CHECK_EQ(answers(20, 1, false, true), 0); /* asks again: a wait */
    CHECK_EQ(answers(1, 20, false, true), 0);
    CHECK_EQ(answers(20, 1, true, false), 0);
    CHECK_EQ(answers(1, 20, true, false), 1);
    struct hand h;
    const struct clock_table t = hand_costs();
    hand_open(&h, 1, 1);
    hand_thread(&h, 0, TRACE_STEP, 1, 0, 1);
    hand_thread(&h, 0, TRACE_STEP, 0, 0, 1);
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_EQ(r.doubts.timed, 1);
    clock_doubts_text(&r.doubts, text, sizeof text);
    CHECK_STR(text, "1 result depends on time; use --schedule=model");
    clock_result_free(&r, &h.log);
    clock_doubts_text(&(struct clock_doubts){12, 0, 2}, text, sizeof text);
    CHECK_STR(text, "12 answers of barriers would differ, 2 answers of try_cancel depend on who asks first; use "
                    "--schedule=model");
    clock_doubts_text(&(struct clock_doubts){0}, text, sizeof text);
    CHECK_STR(text, "");
}

static void refused(struct hand *h, const char *part) {
    struct clock_result r;
    char why[256] = "";
    const struct clock_table t = hand_costs();
    CHECK(!clock_replay(&h->log, &t, &r, why, sizeof why));
    CHECK_HAS(why, part);
    clock_result_free(&r, &h->log);
}

static void test_refusals(void) {
    struct hand h;
    hand_open(&h, 1, 1);
    h.log.cut = 1;
    refused(&h, "cut off");
    hand_open(&h, 1, 1);
    h.clusters[0].complete = 0;
    refused(&h, "cluster 0 of the log is cut off");
    hand_open(&h, 1, 1);
    h.log.version++;
    refused(&h, "version");
    hand_open(&h, 1, 1); /* up to the fault */
    h.clusters[0].complete = 0;
    h.log.fault = 700;
    hand_thread(&h, 0, TRACE_WAIT, WAIT_BEGINS, 1, 2);
    const struct clock_table t = hand_costs();
    struct clock_result r = replay_times(&h, &t, 1);
    CHECK_EQ(r.fault, 700);
    CHECK_NEAR(r.cycles, 1020, 0);
    clock_result_free(&r, &h.log);
}

int main(void) {
    test_program();
    test_divergence();
    test_issue_slots();
    test_last_arrival();
    test_arrivals_at_one_time();
    test_cta_barrier();
    test_umma_chain();
    test_load();
    test_slow_port();
    test_stores();
    test_loads();
    test_release();
    test_resident();
    test_doubts();
    test_refusals();
    return check_report();
}
