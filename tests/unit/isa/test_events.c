/* The stream of events (machine/events.h): who is told, operations, waits, steps, lifetimes and launches. Accesses and
 * synchronisation: test_events_access.c, test_events_sync.c. */
#include "unit/event_log.h"

static const struct run_shape ONE = {.block = 1}, WARP = {.block = 32}, WARPS = {.block = 64},
                              PAIR = {.grid = 2, .block = 32, .cluster = 2};

#define INIT(count) "@%p8 mbarrier.init.shared::cta.b64 [%r21], " count "; fence.proxy.async; bar.warp.sync -1;\n"
#define EXPECT(bytes) "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], " bytes ";\n"
#define NAP "nanosleep.u32 100; nanosleep.u32 100; nanosleep.u32 100; nanosleep.u32 100;\n"

/* --- listeners ---------------------------------------------------------------------------------------------------- */

static const char little[] = LOG_HEAD "st.shared.u32 [%r20], 1; fence.acq_rel.gpu; fence.sc.cta; bar.sync 0;\n" LOG_END;

/* Two logs of everything are told the same, and each keeps its own for each CTA. */
static void two_logs(void) {
    static struct event_log a = {.wants = WANT_ALL}, b = {.wants = WANT_ALL};
    struct run r;
    if (run_open(&r, little)) {
        log_attach(&r, &a);
        log_attach(&r, &b);
        CHECK_EQ(r.gpu->wanted, WANT_ALL);
        CHECK(run_ok(&r, "k", (struct run_shape){.grid = 3, .block = 32}, 1, &a.base));
    }
    run_close(&r);
    CHECK_HAS(a.text, "write shared");
    CHECK_STR(a.text, b.text);
    CHECK_EQ(a.watch_kept, 3);
    CHECK_EQ(b.watch_kept, 3);
}

/* Nothing but what it wants, though others want more. */
static void wants(void) {
    static struct event_log all = {.wants = WANT_ALL}, fences = {.wants = WANT_FENCE};
    struct run r;
    if (run_open(&r, little)) {
        log_attach(&r, &all);
        log_attach(&r, &fences);
        CHECK(run_ok(&r, "k", ONE, 1, &all.base));
    }
    run_close(&r);
    CHECK_STR(fences.text, "fence 0/0:1 fence memory acq_rel.gpu\nfence 0/0:1 fence memory sc.cta\n");
    CHECK(all.len > fences.len);
}

/* A listener without functions is not called; one too many is refused, and nobody hears it. */
static void attaching(void) {
    static struct event_log surplus = {.wants = WANT_ALL};
    struct run r;
    if (run_open(&r, little)) {
        const struct listener deaf = {.name = "deaf", .wants = WANT_ALL}, late = log_listener(&surplus);
        uint64_t out = run_alloc(&r, 64);
        while (r.gpu->num_listeners < MACH_LISTENERS)
            CHECK(events_attach(r.gpu, &deaf));
        CHECK(!events_attach(r.gpu, &late));
        CHECK(run_ok(&r, "k", ONE, 1, &out));
    }
    run_close(&r);
    CHECK_STR(surplus.text, "");
    struct mach_config config = mach_config_b200();
    struct gpu *gpu = gpu_create(&config);
    CHECK_EQ(gpu->wanted, 0);
    CHECK(!events_wanted(gpu, WANT_ALL));
    gpu_destroy(gpu);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static void copies(void) {
    log_gives(WANT_OP, ONE,
              LOG_HEAD INIT("1") EXPECT(
                  "128") "add.u64 %rd5, %rd1, 8192;\n"
                         "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                         "[%r20], [%rd5, {4, 2}], [%r21];\n" LOG_WAIT(
                             "w", "%r21",
                             "0") "cp.async.bulk.global.shared::cta.bulk_group [%rd1+1024], [%r20+64], 64; "
                                  "cp.async.bulk.commit_group;\n"
                                  "cp.async.bulk.wait_group 0; cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                                  "[%rd5, {8, 5}], [%r20];\n"
                                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n" LOG_END,
              "cp.async.bulk.tensor to shared memory 0#1 issued bytes 128 to 0:400 global 4090 coord 4 coord 2 "
              "signals 0:2300\n"
              "cp.async.bulk.tensor to shared memory 0#1 started\n"
              "cp.async.bulk.tensor to shared memory 0#1 completed\n"
              "cp.async.bulk to global memory 0#2 issued bytes 64 from 0:440 global 400\n"
              "cp.async.bulk to global memory 0#2 started\n"
              "cp.async.bulk to global memory 0#3 issued bytes 64 global 400 follows #2\n"
              "cp.async.bulk to global memory 0#2 completed\n"
              "cp.async.bulk to global memory 0#3 started\n"
              "cp.async.bulk to global memory 0#3 completed\n"
              "cp.async.bulk.tensor to global memory 0#4 issued bytes 128 from 0:400 global 4160 coord 8 coord 5\n"
              "cp.async.bulk.tensor to global memory 0#4 started\n"
              "cp.async.bulk.tensor to global memory 0#5 issued bytes 128 global 4160 coord 8 coord 5 follows #4\n"
              "cp.async.bulk.tensor to global memory 0#4 completed\n"
              "cp.async.bulk.tensor to global memory 0#5 started\n"
              "cp.async.bulk.tensor to global memory 0#5 completed\n");
}

static void products(void) {
    log_gives(WANT_OP, WARP,
              LOG_HEAD LOG_TENSOR
              "@%p8 tcgen05.cp.cta_group::1.128x256b [%r12+8], %rd12;\n"
              "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, %p6;\n"
              "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], [%r12+8], %rd13, %r14, %p8;\n" LOG_COMMIT
              "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r12]; tcgen05.wait::ld.sync.aligned;\n" LOG_TENSOR_END,
              "tcgen05.cp 0#1 issued 128x8x0 a 400800800040 b 0 group 1 bytes 4096 from 0:0 to 0:8\n"
              "tcgen05.mma 0#2 issued 128x8x16 a 400800800040 b 400800080140 group 1 from 0:0 to 0:0\n"
              "tcgen05.mma 0#3 issued 128x8x16 a 8 b 400800080140 group 1 from 0:0 to 0:0\n"
              "tcgen05.commit 0#4 issued signals 0:2300 ctas 1\n"
              "tcgen05.cp 0#1 started\n"
              "tcgen05.cp 0#1 completed\n"
              "tcgen05.mma 0#2 started\n"
              "tcgen05.mma 0#2 completed\n"
              "tcgen05.mma 0#3 started\n"
              "tcgen05.mma 0#3 completed\n"
              "tcgen05.commit 0#4 started\n"
              "tcgen05.commit 0#4 completed\n"
              "tcgen05.ld 0#5 issued 32x1x0 a 0 b 0 bytes 128 from 0:0\n"
              "tcgen05.ld 0#5 started\n"
              "tcgen05.ld 0#5 completed\n");
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

static void waits(void) {
    log_gives(WANT_WAIT | WANT_MBARRIER | WANT_POLL, WARPS,
              LOG_HEAD INIT("1") "bar.sync 0; setp.eq.u32 %p1, %r3, 0; @%p1 bra wait;\n" NAP
                                 "setp.eq.u32 %p2, %r1, 32; @%p2 mbarrier.arrive.shared::cta.b64 _, [%r21]; ret;\n"
                                 "wait:\n" LOG_WAIT("w", "%r21", "0") LOG_END,
              "bar 0/0:ffffffff waits barrier 0 0\n"
              "bar 0/0:ffffffff goes_on barrier 0 0\n"
              "mbarrier.try_wait 0/0:ffffffff test 2300 phase 0 parity 0 done 0 acquire.cta\n"
              "mbarrier.try_wait 0/0:ffffffff waits mbarrier 2300 0\n"
              "mbarrier.arrive 0/1:1 arrive 2300 phase 0 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive 0/1:1 PHASE 2300 phase 0 release.cta\n"
              "mbarrier.try_wait 0/0:ffffffff test 2300 phase 1 parity 0 done ffffffff acquire.cta\n"
              "mbarrier.try_wait 0/0:ffffffff goes_on mbarrier 2300 0\n");
    log_gives(WANT_WAIT | WANT_POLL, ONE,
              LOG_HEAD INIT("1") "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r21], 0, 1000;\n" LOG_END,
              "mbarrier.try_wait 0/0:1 waits mbarrier 2300 0\n"
              "mbarrier.try_wait 0/0:1 test 2300 phase 0 parity 0 done 0 acquire.cta\n"
              "mbarrier.try_wait 0/0:1 timed_out mbarrier 2300 0\n");
    log_gives(WANT_WAIT, PAIR, LOG_HEAD LOG_CLUSTER_SYNC LOG_END,
              "barrier.cluster.wait 0/0:ffffffff waits cluster 0 0\n"
              "barrier.cluster.wait 0/0:ffffffff goes_on cluster 0 0\n");
    log_gives(
        WANT_WAIT, WARP,
        LOG_HEAD LOG_TENSOR
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r1}; tcgen05.wait::st.sync.aligned;\n"
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r12]; tcgen05.wait::ld.sync.aligned;\n"
        "st.shared.u32 [%r20], 1; fence.proxy.async;\n"
        "@%p8 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r20], 16; cp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0; cp.async.ca.shared.global [%r20], [%rd1], 16; cp.async.wait_all;\n" LOG_TENSOR_END,
        "tcgen05.wait::st 0/0:ffffffff waits tmem_ldst 0 0\n"
        "tcgen05.wait::st 0/0:ffffffff goes_on tmem_ldst 0 0\n"
        "tcgen05.wait::ld 0/0:ffffffff waits tmem_ldst 0 0\n"
        "tcgen05.wait::ld 0/0:ffffffff goes_on tmem_ldst 0 0\n"
        "cp.async.bulk.wait_group 0/0:ffffffff waits async 0 0\n"
        "cp.async.bulk.wait_group 0/0:ffffffff goes_on async 0 0\n"
        "cp.async.wait_all 0/0:ffffffff waits async 0 0\n"
        "cp.async.wait_all 0/0:ffffffff goes_on async 0 0\n");
    log_gives(WANT_WAIT, WARP,
              LOG_HEAD "setp.lt.u32 %p1, %r1, 4; @!%p1 bra all; add.u32 %r5, %r1, 1; all: bar.warp.sync -1;\n" LOG_END,
              "bar.warp.sync 0/0:fffffff0 waits join 0 0\n"
              "bar.warp.sync 0/0:f waits join 0 0\n"
              "bar.warp.sync 0/0:fffffff0 goes_on join 0 0\n"
              "bar.warp.sync 0/0:f goes_on join 0 0\n");
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static void steps(void) {
    log_gives(WANT_STEP | WANT_WAIT, WARPS,
              RUN_HEADER ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .pred %p<9>;\n"
                         "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 2; @%p1 add.u32 %r2, %r1, 1; bar.sync 0;\n"
                         "@!%p1 exit; ret; }\n",
              "mov 0/0:ffffffff step live ffffffff\n"
              "setp 0/0:ffffffff step live ffffffff\n"
              "add 0/0:3 step live ffffffff\n"
              "bar 0/0:ffffffff step live ffffffff\n"
              "bar 0/0:ffffffff waits barrier 0 0\n"
              "mov 0/1:ffffffff step live ffffffff\n"
              "setp 0/1:ffffffff step live ffffffff\n"
              "add 0/1:0 step live ffffffff\n"
              "bar 0/1:ffffffff step live ffffffff\n"
              "exit 0/1:ffffffff step live ffffffff\n"
              "bar 0/0:ffffffff goes_on barrier 0 0\n"
              "exit 0/0:fffffffc step live ffffffff\n"
              "ret 0/0:3 step live 3\n");
}

/* --- lives -------------------------------------------------------------------------------------------------------- */

static void lives(void) {
    log_gives(WANT_LIFE | WANT_HOST, (struct run_shape){.grid = 2, .block = 40, .cluster = 2, .smem = 64},
              LOG_HEAD "setp.gt.u32 %p1, %r1, 3; @%p1 exit;\n" LOG_END,
              "launch k grid 2 block 40 cluster 2 shared 8192+64 stream 0\n"
              "- 0/0:0 CTA-START bytes 8256\n"
              "- 1/0:0 CTA-START bytes 8256\n"
              "- 0/0:0 CLUSTER-START\n"
              "exit 0/0:fffffff0 exit\n"
              "ret 0/0:f exit\n"
              "exit 0/1:ff exit\n"
              "- 0/0:0 CTA-EXIT\n"
              "exit 1/0:fffffff0 exit\n"
              "ret 1/0:f exit\n"
              "exit 1/1:ff exit\n"
              "- 1/0:0 CTA-EXIT\n"
              "- 0/0:0 CLUSTER-END\n"
              "- 0/0:0 CTA-END\n"
              "- 1/0:0 CTA-END\n"
              "launch_end k grid 2 block 40 cluster 2 shared 8192+64 stream 0\n");
    log_gives(WANT_LIFE, WARP,
              LOG_HEAD LOG_TENSOR "bar.warp.sync -1; @%p8 mbarrier.inval.shared::cta.b64 [%r21];\n" LOG_TENSOR_END,
              "- 0/0:0 CTA-START bytes 8192\n"
              "- 0/0:0 CLUSTER-START\n"
              "mbarrier.init 0/0:1 init 2300 count 1\n"
              "tcgen05.alloc 0/0:ffffffff alloc 0 columns 32\n"
              "mbarrier.inval 0/0:1 inval 2300\n"
              "tcgen05.dealloc 0/0:ffffffff dealloc 0 columns 32\n"
              "tcgen05.relinquish_alloc_permit 0/0:ffffffff relinquish\n"
              "ret 0/0:ffffffff exit\n"
              "- 0/0:0 CTA-EXIT\n"
              "- 0/0:0 CLUSTER-END\n"
              "- 0/0:0 CTA-END\n");
    log_gives(WANT_LIFE, PAIR,
              LOG_HEAD "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r22], 64; ld.shared.u32 %r12, "
                       "[%r22];\n" LOG_CLUSTER_SYNC "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r12, 64;\n" LOG_END,
              "- 0/0:0 CTA-START bytes 8192\n"
              "- 1/0:0 CTA-START bytes 8192\n"
              "- 0/0:0 CLUSTER-START\n"
              "tcgen05.alloc 0/0:ffffffff alloc 0 columns 64\n"
              "tcgen05.alloc 1/0:ffffffff alloc 0 columns 64\n"
              "tcgen05.dealloc 0/0:ffffffff closing 0 columns 64\n"
              "tcgen05.dealloc 0/0:ffffffff closing @1 0 columns 64\n"
              "tcgen05.dealloc 0/0:ffffffff dealloc 0 columns 64\n"
              "tcgen05.dealloc 1/0:ffffffff dealloc 0 columns 64\n"
              "ret 1/0:ffffffff exit\n"
              "- 1/0:0 CTA-EXIT\n"
              "ret 0/0:ffffffff exit\n"
              "- 0/0:0 CTA-EXIT\n"
              "- 0/0:0 CLUSTER-END\n"
              "- 0/0:0 CTA-END\n"
              "- 1/0:0 CTA-END\n");
    log_gives(WANT_LIFE, (struct run_shape){.block = 128}, LOG_HEAD "setmaxnreg.dec.sync.aligned.u32 40;\n" LOG_END,
              "- 0/0:0 CTA-START bytes 8192\n"
              "- 0/0:0 CLUSTER-START\n"
              "setmaxnreg 0/0:ffffffff registers count 40\n"
              "ret 0/0:ffffffff exit\n"
              "setmaxnreg 0/1:ffffffff registers count 40\n"
              "ret 0/1:ffffffff exit\n"
              "setmaxnreg 0/2:ffffffff registers count 40\n"
              "ret 0/2:ffffffff exit\n"
              "setmaxnreg 0/3:ffffffff registers count 40\n"
              "ret 0/3:ffffffff exit\n"
              "- 0/0:0 CTA-EXIT\n"
              "- 0/0:0 CLUSTER-END\n"
              "- 0/0:0 CTA-END\n");
}

int main(void) {
    two_logs();
    wants();
    attaching();
    copies();
    products();
    waits();
    steps();
    lives();
    return check_report();
}
