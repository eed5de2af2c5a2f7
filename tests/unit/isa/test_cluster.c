/* Clusters as PTX sees them: atomics and mbarriers of other CTAs, CTA pairs in tcgen05 (9.7.16.5), clusterlaunchcontrol
 * (9.7.13.17-18), setmaxnreg (9.7.19.5), griddepcontrol (9.7.13.13), under every schedule.
 */
#include "unit/run_ptx.h"

/* %r1 thread, %r2 warp, %r3 rank, %r4 CTAs of the cluster, %r5 CTA, %r6 word of shared memory `x`, %r7 mbarriers `mb`;
 * %rd1 out; %p0: thread 0. */
#define HEAD(name) ".visible .entry " name "(.param .u64 out)\n"
#define BODY                                                                                                           \
    "{ .reg .pred %p<9>; .reg .b32 %r<60>; .reg .b64 %rd<30>; .reg .b128 %q<3>; .reg .b16 %rs<3>;\n"                   \
    ".shared .align 16 .b8 handle[16]; .shared .align 8 .b64 mb[4]; .shared .align 4 .b32 x[8];\n"                     \
    "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, "                           \
    "%cluster_nctarank;\n"                                                                                             \
    "mov.u32 %r5, %ctaid.x; mov.u32 %r6, x; mov.u32 %r7, mb; ld.param.u64 %rd1, [out]; setp.eq.u32 %p0, "              \
    "%r1, 0;\n"
#define SYNC "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
#define WAIT(label, addr, par)                                                                                         \
    label ": mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p8, [" addr "], " par "; @!%p8 bra " label ";"  \
          "\n"
/* out[index] = value */
#define OUT(index, value)                                                                                              \
    "mul.wide.u32 %rd20, " index ", 4; add.s64 %rd20, %rd1, %rd20; st.global.u32 [%rd20], " value ";\n"

/* One CTA's tile after another: ctaid in %r20, %r21; leaves when no cluster is left. `first`: who asks. */
#define STEAL_LOOP(first, multicast)                                                                                   \
    "mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ctaid.y; mov.u32 %r23, 0; mov.u32 %r30, %nctaid.x; "                       \
    "mov.u32 %r8, handle;\n"                                                                                           \
    "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1;\n" SYNC                                                              \
    "top: @%p0 mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%r7], 16;\n"                              \
    "setp.eq.and.u32 %p1, %r3, " first ", %p0;\n"                                                                      \
    "@%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" multicast                    \
    ".b128 [%r8], [%r7];\n"                                                                                            \
    "mad.lo.u32 %r24, %r21, %r30, %r20; mul.wide.u32 %rd20, %r24, 4; add.s64 %rd20, %rd1, %rd20;\n"                    \
    "@%p0 red.global.add.u32 [%rd20], 1;\n" WAIT(                                                                      \
        "w", "%r7",                                                                                                    \
        "%r23") "xor.b32 %r23, %r23, 1; ld.shared.b128 %q0, [%r8];\n"                                                  \
                "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0; @!%p2 bra done;\n"                  \
                "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r20, %r21, _, _}, %q0;\n"             \
                "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r25, %q0;\n"                           \
                "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r26, %q0;\n"                           \
                "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r27, %q0;\n"                           \
                "xor.b32 %r28, %r20, %r25; xor.b32 %r29, %r21, %r26; or.b32 %r28, %r28, %r29; or.b32 %r28, "           \
                "%r28, %r27;\n"                                                                                        \
                "setp.ne.u32 %p3, %r28, 0; @%p3 trap; add.u32 %r20, %r20, %r3;\n"                                      \
                "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n" SYNC                        \
                "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; bra top;\n"                \
                "done: " SYNC "ret; }\n"

#define RELAXED "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;\n"
#define REMOTE_ARRIVE                                                                                                  \
    "xor.b32 %r10, %r3, 1; mapa.shared::cluster.u32 %r11, %r7, %r10;\n"                                                \
    "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];\n" WAIT("w", "%r7", "0") SYNC "ret; }\n"
#define ALLOC2 "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6], 64;\n"
#define DEALLOC2 "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 64;\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    HEAD("atoms") BODY /* each CTA's counters are worked on by its neighbour */
    "st.shared.u32 [%r6], 0; st.shared.u32 [%r6+4], 0;\n" SYNC
    "add.u32 %r10, %r3, 1; rem.u32 %r10, %r10, %r4; mapa.shared::cluster.u32 %r11, %r6, %r10;\n"
    "atom.shared::cluster.add.u32 %r12, [%r11], %r5; cvta.shared.u64 %rd2, x; mapa.u64 %rd3, %rd2, %r10;\n"
    "red.relaxed.cluster.max.u32 [%rd3+4], %r1; ld.u32 %r13, [%rd3+4];\n" SYNC
    "ld.shared.u32 %r14, [%r6]; ld.shared.u32 %r15, [%r6+4]; shl.b32 %r16, %r15, 16; or.b32 %r14, %r14, %r16;\n"
    "@!%p0 bra end;" OUT("%r5", "%r14") "end: " SYNC "ret; }\n"
    HEAD("remote") BODY /* all threads of the cluster arrive at rank 0's barrier; bytes come from rank 1 */
    "mul.lo.u32 %r10, %r4, 64; add.u32 %r10, %r10, 1; @%p0 mbarrier.init.shared::cta.b64 [%r7], %r10;\n"
    "@%p0 st.shared.u32 [%r6], 0;\n" "fence.mbarrier_init.release.cluster;\n" SYNC
    "mapa.shared::cluster.u32 %r11, %r7, 0; mapa.shared::cluster.u32 %r12, %r6, 0;\n"
    "red.release.cluster.shared::cluster.add.u32 [%r12], 1;\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];\n"
    "setp.eq.and.u32 %p1, %r3, 1, %p0;\n"
    "@%p1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r11], 48;\n"
    "@%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r11], 48;\n"
    "setp.ne.u32 %p2, %r3, 0; @%p2 bra end;\n" WAIT("w", "%r7", "0")
    "ld.shared.u32 %r13, [%r6];" OUT("%r1", "%r13") "end: " SYNC "ret; }\n"
    HEAD("remote_gone") BODY /* rank 0 leaves before the arrive */
    "@%p0 mbarrier.init.shared::cta.b64 [%r7], 64;\n" SYNC "setp.eq.u32 %p1, %r3, 0; @%p1 ret;\n"
    "mapa.shared::cluster.u32 %r11, %r7, 0; mov.u32 %r12, 0;\n"
    "top: nanosleep.u32 100; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 50; @%p2 bra top;\n"
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11]; ret; }\n"
    HEAD("relaxed") BODY /* nothing releases the initialisation */
    "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1;\n" RELAXED REMOTE_ARRIVE
    HEAD("fenced") BODY "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1; @%p0 fence.mbarrier_init.release.cluster;\n"
    RELAXED REMOTE_ARRIVE
    HEAD("no_barrier") BODY /* nothing but time between the initialisation and the arrive */
    "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1; @%p0 fence.mbarrier_init.release.cluster; mov.u32 %r12, 0;\n"
    "top: nanosleep.u32 100; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 50; @%p2 bra top;\n" REMOTE_ARRIVE
    HEAD("steal") BODY STEAL_LOOP("0", "")
    HEAD("steal2") BODY STEAL_LOOP("0", ".multicast::cluster::all")
    HEAD("greedy") BODY
    "mov.u32 %r8, handle; @%p0 mbarrier.init.shared::cta.b64 [%r7], 1; bar.sync 0; mov.u32 %r23, 0;\n"
    "top: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 16;\n"
    "cvta.shared.u64 %rd3, handle; cvta.shared.u64 %rd4, mb;\n"
    "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%rd3], [%rd4];\n" WAIT("w", "%r7", "%r23")
    "xor.b32 %r23, %r23, 1; ld.shared.b128 %q0, [%r8]; "
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;\n"
    "bra top; }\n"
    HEAD("garbage") BODY "mov.u64 %rd3, 5; mov.b128 %q0, {%rd3, %rd3};\n"
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0; ret; }\n"
    HEAD("late") BODY /* the response comes for a CTA that has exited */
    "mov.u32 %r8, handle; @%p0 mbarrier.init.shared::cta.b64 [%r7], 1;\n" SYNC
    "setp.eq.u32 %p1, %r3, 1; @%p1 ret; mov.u32 %r12, 0;\n"
    "top: nanosleep.u32 100; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 50; @%p2 bra top;\n"
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 16;\n"
    "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
    "[%r8], [%r7];\n" WAIT("w", "%r7", "0") "ret; }\n"
    HEAD("depends") BODY "griddepcontrol.wait; griddepcontrol.launch_dependents; griddepcontrol.launch_dependents;\n"
    OUT("%r1", "7") "ret; }\n"
    HEAD("registers") ".maxnreg 64 " BODY /* warpgroup 1 takes what warpgroup 0 gives */
    "setp.lt.u32 %p1, %r2, 4; @%p1 bra give; setmaxnreg.inc.sync.aligned.u32 104;" OUT("%r1", "1") "ret;\n"
    "give: nanosleep.u32 100; setmaxnreg.dec.sync.aligned.u32 24;" OUT("%r1", "2") "ret; }\n"
    HEAD("free_registers") BODY /* the count at launch is not known: no effect */
    "setmaxnreg.inc.sync.aligned.u32 256;" OUT("%r1", "3") "ret; }\n"
    HEAD("ignored") ".maxntid 256 " BODY /* ptxas leaves it out */
    "setmaxnreg.dec.sync.aligned.u32 40;" OUT("%r1", "5") "ret; }\n"
    HEAD("bounded") ".maxntid 256 .minnctapersm 1 " BODY "setmaxnreg.dec.sync.aligned.u32 40; ret; }\n"
    HEAD("too_many") ".maxnreg 64 " BODY "setmaxnreg.inc.sync.aligned.u32 72; ret; }\n"
    HEAD("wrong_way") ".maxnreg 64 " BODY "setmaxnreg.dec.sync.aligned.u32 72; ret; }\n"
    HEAD("two_counts") ".maxnreg 64 " BODY
    "setp.eq.u32 %p1, %r2, 1; @%p1 bra b; setmaxnreg.dec.sync.aligned.u32 32; ret;\n"
    "b: setmaxnreg.dec.sync.aligned.u32 40; ret; }\n"
    HEAD("own_counts") ".maxnreg 64 " BODY /* warp 0 gives 40 registers a thread away, and warp 1 alone takes them */
    "setp.gt.u32 %p1, %r2, 1; @%p1 bra end; setp.eq.u32 %p1, %r2, 1; @%p1 bra b;\n"
    "setmaxnreg.dec.sync.aligned.u32 24; bra end;\n"
    "b: setmaxnreg.inc.sync.aligned.u32 104;\n"
    "end:" OUT("%r1", "4") "ret; }\n"
    HEAD("no_sync") ".maxnreg 64 " BODY "setp.eq.u32 %p1, %r2, 1; @%p1 bra b; setmaxnreg.dec.sync.aligned.u32 32;\n"
    "setmaxnreg.dec.sync.aligned.u32 24; b: ret; }\n"
    HEAD("odd_count") ".maxnreg 64 " BODY "setmaxnreg.dec.sync.aligned.u32 28; ret; }\n"
    HEAD("alone") BODY SYNC "setp.eq.u32 %p1, %r3, 0; @%p1 bra a;\n" SYNC "ret; a: " ALLOC2 "ret; }\n"
    HEAD("pair") BODY /* the address is the same in both; a commit reaches both */
    "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1;\n" SYNC "setp.ne.u32 %p1, %r2, 1; @%p1 bra join;\n" ALLOC2
    "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
    "join: bar.sync 0; ld.shared.u32 %r10, [%r6]; and.b32 %r11, %r3, 1; setp.eq.and.u32 %p2, %r11, 0, %p0;\n"
    "shl.b32 %r12, 3, %r3; cvt.u16.u32 %rs1, %r12;\n"
    "@%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r7], %rs1;\n"
    WAIT("w", "%r7", "0") SYNC "@%p1 bra end;" DEALLOC2 "end: @!%p0 bra out; add.u32 %r10, %r10, 1;"
    OUT("%r5", "%r10") "out: ret; }\n"
    HEAD("table48") BODY SYNC ALLOC2
    "ld.shared.u32 %r10, [%r6]; setp.eq.u32 %p1, %r3, 0; @%p1 bra first;\n" SYNC DEALLOC2
    "ret; first: " DEALLOC2 SYNC "ret; }\n"
    HEAD("leaves") BODY SYNC "setp.eq.u32 %p1, %r3, 1; @%p1 ret;\n" ALLOC2 "ret; }\n"
    HEAD("counts") BODY SYNC "setp.eq.u32 %p1, %r3, 1; @%p1 bra b;\n" ALLOC2
    "ret; b: tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r6], 32; ret; }\n"
    HEAD("mixed") BODY SYNC ALLOC2
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r7]; ret; }\n"
    HEAD("commit_gone") BODY /* rank 1 leaves before rank 0's commit reaches it */
    "@%p0 mbarrier.init.shared::cta.b64 [%r7], 1;\n" SYNC "setp.eq.u32 %p1, %r3, 1; @%p1 ret; mov.u32 %r12, 0;\n"
    "top: nanosleep.u32 100; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 50; @%p2 bra top; mov.u16 %rs1, 3;\n"
    "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r7], %rs1;\n"
    WAIT("w", "%r7", "0") "ret; }\n";
/* clang-format on */

static const struct run_shape two = {.grid = 2, .block = 32, .cluster = 2};

static void test_dsmem(struct run *r, uint64_t out) {
    if (run_ok(r, "atoms", (struct run_shape){.grid = 8, .block = 64, .cluster = 4}, 1, &out))
        for (uint32_t i = 0; i < 8; i++)
            CHECK_EQ(run_u32(r, out, i), 64 * (i / 4 * 4 + (i + 3) % 4) | 63 << 16);
    if (run_ok(r, "remote", (struct run_shape){.grid = 4, .block = 64, .cluster = 4}, 1, &out))
        for (uint32_t i = 0; i < 64; i++)
            CHECK_EQ(run_u32(r, out, i), 256);
    run_faults(r, "remote_gone", two, 1, &out, "shared-cta-exited");
}

/* mbarriers used before the other CTAs can know that they are initialised: a warning, or a fault. */
static void test_publication(const struct mach_config *config) {
    struct run r;
    if (run_open_config(&r, text, config)) {
        const uint64_t out = run_alloc(&r, 4096);
        run_check_races(&r);
        run_ok(&r, "relaxed", two, 1, &out);
        CHECK_HAS(r.log, "mbarrier-unpublished");
        r.gpu->config.check = MACH_CHECK_ERROR;
        run_faults(&r, "relaxed", two, 1, &out, "no release.cluster since mbarrier.init");
        run_ok(&r, "fenced", two, 1, &out);
        run_ok(&r, "remote", (struct run_shape){.grid = 4, .block = 64, .cluster = 4}, 1, &out);
        if (config->schedule != MACH_SCHED_RANDOM) /* in which an arrive may even come before the init */
            run_faults(&r, "no_barrier", two, 1, &out, "no cluster barrier since mbarrier.init");
    }
    run_close(&r);
}

/* A grid of more CTAs than the GPU holds: each is done once, some by CTAs that took them over. */
static void test_cancel(struct run *r) {
    uint64_t out = run_alloc(r, 4 * 600);
    const struct warp_func *f = lower_find_kernel(r->module, "steal2");
    struct launch_config launch = {.kernel = f,
                                   .grid = {40, 15, 1},
                                   .block = {32, 1, 1},
                                   .cluster = {2, 1, 1},
                                   .dynamic_smem = 200 * 1024,
                                   .params = &out,
                                   .param_bytes = 8};
    CHECK(launch_max_resident_clusters(r->gpu, &launch) == 74);
    r->log_len = 0;
    if (!CHECK_EQ(launch_run(r->gpu, &launch), 0))
        fprintf(stderr, "%s", r->log);
    for (uint32_t i = 0; i < 600; i++)
        CHECK_EQ(run_u32(r, out, i), 1);
    if (run_ok(r, "steal", (struct run_shape){.grid = 600, .block = 64, .smem = 200 * 1024}, 1, &out))
        for (uint32_t i = 0; i < 600; i++)
            CHECK_EQ(run_u32(r, out, i), 2);
    if (run_ok(r, "steal", (struct run_shape){.grid = 3, .block = 64}, 1, &out)) /* nothing to take */
        for (uint32_t i = 0; i < 4; i++)
            CHECK_EQ(run_u32(r, out, i), i < 3 ? 3 : 2);
    run_faults(r, "greedy", (struct run_shape){.grid = 1}, 1, &out, "clusterlaunchcontrol-after-failure");
    run_faults(r, "garbage", (struct run_shape){.grid = 1}, 1, &out, "clusterlaunchcontrol-response");
    run_faults(r, "late", two, 1, &out, "clusterlaunchcontrol-cta-exited");
}

/* setmaxnreg that is not the warpgroup's: each warp gets its own registers, and that is told where asked for. */
static void test_warpgroups(struct run *r, uint64_t out) {
    const struct run_shape groups = {.block = 256};
    run_ok(r, "two_counts", groups, 1, &out);
    CHECK_EQ(r->log_len, 0);
    CHECK(run_ok(r, "own_counts", groups, 1, &out) && run_u32(r, out, 255) == 4);
    CHECK_EQ(r->log_len, 0);
    r->gpu->config.check = MACH_CHECK_STRICT;
    run_ok(r, "two_counts", groups, 1, &out);
    CHECK_HAS(r->log, "warning: ");
    CHECK_HAS(r->log, "another one, at");
    CHECK_HAS(r->log, "setmaxnreg-warpgroup");
    run_ok(r, "no_sync", groups, 1, &out);
    CHECK_HAS(r->log, "executes its setmaxnreg number 2, warp ");
    run_faults(r, "wrong_way", (struct run_shape){.block = 96}, 1, &out, "setmaxnreg-direction");
    CHECK_HAS(r->log, "warpgroup is not whole");
    r->gpu->config.check = MACH_CHECK_WARN;
}

static void test_registers(struct run *r, uint64_t out) {
    struct run_shape groups = {.block = 256};
    if (run_ok(r, "registers", groups, 1, &out))
        for (uint32_t i = 0; i < 256; i++)
            CHECK_EQ(run_u32(r, out, i), i < 128 ? 2 : 1);
    CHECK(run_ok(r, "free_registers", groups, 1, &out) && run_u32(r, out, 255) == 3);
    CHECK(run_ok(r, "depends", groups, 1, &out) && run_u32(r, out, 255) == 7);
    lower_set_registers(r->module, "ignored", 24);
    lower_set_registers(r->module, "bounded", 24);
    CHECK(run_ok(r, "ignored", groups, 1, &out) && run_u32(r, out, 255) == 5);
    run_faults(r, "bounded", groups, 1, &out, "setmaxnreg-direction");
    run_faults(r, "too_many", groups, 1, &out, "registers a thread; 0 are left");
    run_faults(r, "wrong_way", groups, 1, &out, "setmaxnreg-direction");
    test_warpgroups(r, out);
    run_faults(r, "odd_count", groups, 1, &out, "a multiple of 8 from 24 to 256");
}

static void test_pair(struct run *r, uint64_t out) {
    if (run_ok(r, "pair", (struct run_shape){.grid = 8, .block = 64, .cluster = 4}, 1, &out))
        for (uint32_t i = 0; i < 8; i++)
            CHECK_EQ(run_u32(r, out, i), 1);
    run_faults(r, "table48", two, 1, &out, "deadlock");
    CHECK_HAS(r->log, "waits until a warp of its pair's other CTA, rank 1");
    run_faults(r, "alone", two, 1, &out, "one warp of each CTA of the pair executes");
    CHECK_HAS(r->log, "waits until a warp of its pair's other CTA, rank 1");
    run_faults(r, "leaves", two, 1, &out, "tcgen05-pair-exited");
    run_faults(r, "counts", two, 1, &out, "tcgen05-pair-mismatch");
    run_faults(r, "mixed", two, 1, &out, "tcgen05-cta-group-mixed");
    run_faults(r, "leaves", (struct run_shape){.grid = 1, .block = 32}, 1, &out, "tcgen05-pair-missing");
    run_faults(r, "commit_gone", two, 1, &out, "mbarrier-cta-exited");
}

int main(void) {
    static const enum mach_schedule order[] = {MACH_SCHED_DEFAULT, MACH_SCHED_EAGER, MACH_SCHED_LAZY, MACH_SCHED_RANDOM,
                                               MACH_SCHED_RANDOM};
    for (unsigned i = 0; i < 5; i++) {
        struct mach_config c = mach_config_b200();
        struct run r;
        c.schedule = order[i];
        c.seed = i;
        c.watchdog = 100000000;
        if (run_open_config(&r, text, &c)) {
            uint64_t out = run_alloc(&r, 4096);
            test_dsmem(&r, out);
            test_cancel(&r);
            test_registers(&r, out);
            test_pair(&r, out);
        }
        run_close(&r);
        test_publication(&c);
    }
    return check_report();
}
