/* What the stream of events tells of synchronisation (machine/events.h, struct event_sync): mbarriers, barriers,
 * fences, async-groups, tensor memory, grids. */
#include "unit/event_log.h"

static const struct run_shape ONE = {.block = 1}, TWO = {.block = 2}, WARP = {.block = 32}, WARPS = {.block = 64},
                              PAIR = {.grid = 2, .block = 32, .cluster = 2};
enum { MBARRIER = WANT_MBARRIER | WANT_POLL };

#define ARRIVE "mbarrier.arrive.shared::cta.b64 _, [%r21];\n"
#define TRY(par) "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r21], " par ";\n"
#define TEST(par) "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r21], " par ";\n"
#define INIT(count) "@%p8 mbarrier.init.shared::cta.b64 [%r21], " count "; bar.warp.sync -1;\n"

/* 9.7.13.15.13, .16: release at .cta and acquire at .cta by default; expect-tx and complete-tx are relaxed. */
static void phases(void) {
    log_gives(MBARRIER, ONE,
              LOG_HEAD INIT("2") TEST("0") TEST("1") ARRIVE ARRIVE TEST("0") TEST("1")
                  TRY("0") "mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%r21], 2;\n"
                           "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p1, [%r21], 1;\n" LOG_END,
              "mbarrier.test_wait 0/0:1 test 2300 phase 0 parity 0 done 0 acquire.cta\n"
              "mbarrier.test_wait 0/0:1 test 2300 phase 0 parity 1 done 1 acquire.cta\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 1,0 release.cta\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive 0/0:1 PHASE 2300 phase 0 release.cta\n"
              "mbarrier.test_wait 0/0:1 test 2300 phase 1 parity 0 done 1 acquire.cta\n"
              "mbarrier.test_wait 0/0:1 test 2300 phase 1 parity 1 done 0 acquire.cta\n"
              "mbarrier.try_wait 0/0:1 test 2300 phase 1 parity 0 done 1 acquire.cta\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 1 count 2 awaits 0,0 relaxed.cluster\n"
              "mbarrier.arrive 0/0:1 PHASE 2300 phase 1 relaxed.cluster\n"
              "mbarrier.try_wait 0/0:1 test 2300 phase 2 parity 1 done 1 relaxed.cluster\n");
}

static void bytes(void) {
    log_gives(MBARRIER, ONE,
              LOG_HEAD INIT("1") "mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [%r21], 96;\n"
                                 "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r21], 32;\n"
                                 "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r21], 64;\n"
                                 "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r21], 64;\n" TRY("0") LOG_END,
              "mbarrier.arrive 0/0:1 expect 2300 phase 0 bytes 96 awaits 1,96 release.cluster\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 0,96 release.cluster\n"
              "mbarrier.expect_tx 0/0:1 expect 2300 phase 0 bytes 32 awaits 0,128 relaxed.cta\n"
              "mbarrier.complete_tx 0/0:1 complete 2300 phase 0 bytes 64 awaits 0,64 relaxed.cta\n"
              "mbarrier.complete_tx 0/0:1 complete 2300 phase 0 bytes 64 awaits 0,0 relaxed.cta\n"
              "mbarrier.complete_tx 0/0:1 PHASE 2300 phase 0 relaxed.cta\n"
              "mbarrier.try_wait 0/0:1 test 2300 phase 1 parity 0 done 1 acquire.cta\n");
}

static void drops(void) {
    log_gives(MBARRIER, TWO,
              LOG_HEAD INIT("3") "@%p8 " ARRIVE "mbarrier.arrive_drop.shared::cta.b64 _, [%r21];\n"
                                 "@%p8 " ARRIVE "@%p8 mbarrier.inval.shared::cta.b64 [%r21];\n" LOG_END,
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 2,0 release.cta\n"
              "mbarrier.arrive_drop 0/0:1 drop 2300 phase 0 count 1 awaits 1,0 release.cta\n"
              "mbarrier.arrive_drop 0/0:2 drop 2300 phase 0 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive_drop 0/0:2 PHASE 2300 phase 0 release.cta\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 1 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive 0/0:1 PHASE 2300 phase 1 release.cta\n");
}

static void by_state(void) {
    log_gives(MBARRIER, ONE,
              LOG_HEAD INIT("2") "mbarrier.arrive.noComplete.shared::cta.b64 %rd5, [%r21], 1;\n"
                                 "mbarrier.test_wait.shared::cta.b64 %p1, [%r21], %rd5;\n" ARRIVE
                                 "mbarrier.test_wait.shared::cta.b64 %p1, [%r21], %rd5;\n" LOG_END,
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 1,0 release.cta\n"
              "mbarrier.test_wait 0/0:1 test 2300 phase 0 parity 0 done 0 acquire.cta\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive 0/0:1 PHASE 2300 phase 0 release.cta\n"
              "mbarrier.test_wait 0/0:1 test 2300 phase 1 parity 0 done 1 acquire.cta\n");
}

/* A poll that is answered for the phase before the latest, whose parity is asked for again, says so. */
static void missed(void) {
    log_gives(MBARRIER, WARPS,
              LOG_HEAD INIT("1") "bar.sync 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra wait; nanosleep.u32 10;\n"
                                 "@%p8 " ARRIVE "@%p8 " ARRIVE "ret;\nwait:\n" LOG_WAIT("w", "%r21", "0") LOG_END,
              "mbarrier.try_wait 0/1:ffffffff test 2300 phase 0 parity 0 done 0 acquire.cta\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive 0/0:1 PHASE 2300 phase 0 release.cta\n"
              "mbarrier.arrive 0/0:1 arrive 2300 phase 1 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive 0/0:1 PHASE 2300 phase 1 release.cta\n"
              "mbarrier.try_wait 0/1:ffffffff test 2300 phase 1 parity 0 done ffffffff acquire.cta\n");
}

/* Lanes of one try_wait ask for two parities: the answer of each. */
static void lanes_differ(void) {
    log_gives(MBARRIER, TWO, LOG_HEAD INIT("1") "@%p8 " ARRIVE TEST("%r1") LOG_END,
              "mbarrier.arrive 0/0:1 arrive 2300 phase 0 count 1 awaits 0,0 release.cta\n"
              "mbarrier.arrive 0/0:1 PHASE 2300 phase 0 release.cta\n"
              "mbarrier.test_wait 0/0:1 test 2300 phase 1 parity 0 done 1 acquire.cta\n"
              "mbarrier.test_wait 0/0:2 test 2300 phase 1 parity 1 done 0 acquire.cta\n");
}

static void of_peer(void) {
    log_gives(MBARRIER, PAIR,
              LOG_HEAD INIT(
                  "1") "fence.mbarrier_init.release.cluster; " LOG_CLUSTER_SYNC
                       "mapa.shared::cluster.u32 %r5, %r21, 1; setp.eq.u32 %p1, %r2, 0; and.pred %p1, %p1, %p8;\n"
                       "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\n" LOG_CLUSTER_SYNC LOG_END,
              "mbarrier.arrive 0/0:1 arrive 2300@1 phase 0 count 1 awaits 0,0 release.cluster\n"
              "mbarrier.arrive 0/0:1 PHASE 2300@1 phase 0 release.cluster\n");
}

static void by_operations(void) {
    log_gives(
        MBARRIER & ~WANT_POLL, WARP,
        LOG_HEAD LOG_TENSOR
        "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, %p6;\n" LOG_COMMIT
        "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 64;\n"
        "@%p8 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%rd1], 64, [%r21];\n" LOG_WAIT(
            "v", "%r21", "1") LOG_TENSOR_END,
        "tcgen05.commit 0#2 arrive 2300 phase 0 count 1 awaits 0,0 relaxed.cluster\n"
        "tcgen05.commit 0#2 PHASE 2300 phase 0 relaxed.cluster\n"
        "mbarrier.arrive 0/0:1 expect 2300 phase 1 bytes 64 awaits 1,64 release.cta\n"
        "mbarrier.arrive 0/0:1 arrive 2300 phase 1 count 1 awaits 0,64 release.cta\n"
        "cp.async.bulk to shared memory 0#3 complete 2300 phase 1 bytes 64 awaits 0,0 release.cluster\n"
        "cp.async.bulk to shared memory 0#3 PHASE 2300 phase 1 release.cluster\n");
}

/* A commit for both CTAs of a cluster, with nothing before it. */
static void commit_to_both(void) {
    log_gives(MBARRIER & ~WANT_POLL, PAIR,
              LOG_HEAD INIT(
                  "1") "fence.mbarrier_init.release.cluster; mov.b16 %h1, 3; " LOG_CLUSTER_SYNC
                       "setp.eq.u32 %p1, %r2, 1; and.pred %p1, %p1, %p8;\n"
                       "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                       "[%r21], %h1;\n" LOG_WAIT("w", "%r21", "0") LOG_CLUSTER_SYNC LOG_END,
              "tcgen05.commit 1#1 arrive 2300@0 phase 0 count 1 awaits 0,0 relaxed.cluster\n"
              "tcgen05.commit 1#1 PHASE 2300@0 phase 0 relaxed.cluster\n"
              "tcgen05.commit 1#1 arrive 2300 phase 0 count 1 awaits 0,0 relaxed.cluster\n"
              "tcgen05.commit 1#1 PHASE 2300 phase 0 relaxed.cluster\n");
}

static void cp_async_arrives(void) {
    log_gives(MBARRIER & ~WANT_POLL, ONE,
              LOG_HEAD INIT("1") "cp.async.ca.shared.global [%r20], [%rd1], 16;\n"
                                 "cp.async.mbarrier.arrive.shared::cta.b64 [%r21]; "
                                 "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r21];\n" LOG_WAIT("w", "%r21", "0")
                                     LOG_END,
              "cp.async.mbarrier.arrive 0/0:1 pending 2300 phase 0 count 1 awaits 2,0\n"
              "cp.async.mbarrier.arrive 0#2 arrive 2300 phase 0 count 1 awaits 1,0 release.cta\n"
              "cp.async.mbarrier.arrive 0#3 arrive 2300 phase 0 count 1 awaits 0,0 release.cta\n"
              "cp.async.mbarrier.arrive 0#3 PHASE 2300 phase 0 release.cta\n");
}

static void barriers(void) {
    log_gives(WANT_BARRIER, WARPS, LOG_HEAD "bar.sync 0; bar.sync 0;\n" LOG_END,
              "bar 0/0:ffffffff bar_arrive 0 phase 0 of 64 acq_rel.cta\n"
              "bar 0/1:ffffffff bar_arrive 0 phase 0 of 64 acq_rel.cta\n"
              "bar 0/1:ffffffff BAR 0 phase 0 acq_rel.cta\n"
              "bar 0/1:ffffffff pass 0 phase 0 acq_rel.cta\n"
              "bar 0/1:ffffffff bar_arrive 0 phase 1 of 64 acq_rel.cta\n"
              "bar 0/0:ffffffff pass 0 phase 0 acq_rel.cta\n"
              "bar 0/0:ffffffff bar_arrive 0 phase 1 of 64 acq_rel.cta\n"
              "bar 0/0:ffffffff BAR 0 phase 1 acq_rel.cta\n"
              "bar 0/0:ffffffff pass 0 phase 1 acq_rel.cta\n"
              "bar 0/1:ffffffff pass 0 phase 1 acq_rel.cta\n");
    log_gives(WANT_BARRIER, WARPS,
              LOG_HEAD "setp.eq.u32 %p1, %r3, 0; @%p1 bra first; bar.arrive 3, 64; ret;\n"
                       "first: bar.sync 3, 64;\n" LOG_END,
              "bar 0/0:ffffffff bar_arrive 3 phase 0 of 64 acq_rel.cta\n"
              "bar 0/1:ffffffff bar_arrive 3 phase 0 of 64 acq_rel.cta\n"
              "bar 0/1:ffffffff BAR 3 phase 0 acq_rel.cta\n"
              "bar 0/0:ffffffff pass 3 phase 0 acq_rel.cta\n");
    /* the second warp exits instead: nobody's arrival completes the barrier */
    log_gives(WANT_BARRIER, WARPS,
              LOG_HEAD "setp.eq.u32 %p1, %r3, 0; @%p1 bra first; mov.u32 %r5, 0;\n"
                       "top: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5000; @%p2 bra top; ret;\n"
                       "first: bar.sync 0;\n" LOG_END,
              "bar 0/0:ffffffff bar_arrive 0 phase 0 of 64 acq_rel.cta\n"
              "bar 0/0:0 BAR 0 phase 0 acq_rel.cta\n"
              "bar 0/0:ffffffff pass 0 phase 0 acq_rel.cta\n");
}

static void cluster_barriers(void) {
    log_gives(WANT_BARRIER, PAIR,
              LOG_HEAD LOG_CLUSTER_SYNC "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;\n" LOG_END,
              "barrier.cluster.arrive 0/0:ffffffff cl_arrive phase 0 release.cluster\n"
              "barrier.cluster.arrive 1/0:ffffffff cl_arrive phase 0 release.cluster\n"
              "barrier.cluster.arrive 1/0:ffffffff CLUSTER phase 0 release.cluster\n"
              "barrier.cluster.wait 1/0:ffffffff cl_pass phase 0 acquire.cluster\n"
              "barrier.cluster.arrive 1/0:ffffffff cl_arrive phase 1 relaxed.cluster\n"
              "barrier.cluster.wait 0/0:ffffffff cl_pass phase 0 acquire.cluster\n"
              "barrier.cluster.arrive 0/0:ffffffff cl_arrive phase 1 relaxed.cluster\n"
              "barrier.cluster.arrive 0/0:ffffffff CLUSTER phase 1 relaxed.cluster\n"
              "barrier.cluster.wait 0/0:ffffffff cl_pass phase 1 acquire.cluster\n"
              "barrier.cluster.wait 1/0:ffffffff cl_pass phase 1 acquire.cluster\n");
    log_gives(WANT_BARRIER, PAIR, /* the second CTA exits instead */
              LOG_HEAD "setp.eq.u32 %p1, %r2, 0; @%p1 bra first; mov.u32 %r5, 0;\n"
                       "top: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5000; @%p2 bra top; ret;\n"
                       "first: " LOG_CLUSTER_SYNC LOG_END,
              "barrier.cluster.arrive 0/0:ffffffff cl_arrive phase 0 release.cluster\n"
              "barrier.cluster.wait 0/0:0 CLUSTER phase 0 acquire.cluster\n"
              "barrier.cluster.wait 0/0:ffffffff cl_pass phase 0 acquire.cluster\n");
}

static void warps(void) {
    log_gives(WANT_BARRIER, WARP,
              LOG_HEAD "setp.lt.u32 %p1, %r1, 4; @!%p1 bra all; bar.warp.sync 15; all: bar.warp.sync -1;\n" LOG_END,
              "bar.warp.sync 0/0:f warp members f acq_rel.cta\n"
              "bar.warp.sync 0/0:ffffffff warp members ffffffff acq_rel.cta\n");
}

static void fences(void) {
    log_gives(WANT_FENCE, ONE,
              LOG_HEAD
              "membar.cta; membar.gl; membar.sys; fence.sc.cta; fence.acq_rel.gpu; fence.acquire.cluster;\n"
              "fence.release.sys; fence.cta; fence.proxy.alias; fence.proxy.async; fence.proxy.async.global;\n"
              "fence.proxy.async.shared::cta; fence.proxy.async.shared::cluster; fence.mbarrier_init.release.cluster;\n"
              "fence.acquire.sync_restrict::shared::cluster.cluster;\n"
              "fence.release.sync_restrict::shared::cta.cluster;\n"
              "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n"
              "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster; membar.proxy.alias;\n"
              "fence.proxy.tensormap::generic.release.gpu; add.u64 %rd2, %rd1, 256;\n"
              "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n" LOG_END,
              "membar 0/0:1 fence memory sc.cta\n"
              "membar 0/0:1 fence memory sc.gpu\n"
              "membar 0/0:1 fence memory sc.sys\n"
              "fence 0/0:1 fence memory sc.cta\n"
              "fence 0/0:1 fence memory acq_rel.gpu\n"
              "fence 0/0:1 fence memory acquire.cluster\n"
              "fence 0/0:1 fence memory release.sys\n"
              "fence 0/0:1 fence memory acq_rel.cta\n"
              "fence.proxy 0/0:1 fence alias\n"
              "fence.proxy 0/0:1 fence async\n"
              "fence.proxy 0/0:1 fence async global\n"
              "fence.proxy 0/0:1 fence async shared\n"
              "fence.proxy 0/0:1 fence async shared\n"
              "fence.mbarrier_init 0/0:1 fence mbarrier_init release.cluster\n"
              "fence 0/0:1 fence sync_restrict shared acquire.cluster\n"
              "fence 0/0:1 fence sync_restrict shared release.cluster\n"
              "fence.proxy 0/0:1 fence async_generic shared acquire.cluster\n"
              "fence.proxy 0/0:1 fence async_generic shared release.cluster\n"
              "membar.proxy 0/0:1 fence alias\n"
              "fence.proxy 0/0:1 fence tensormap release.gpu\n"
              "fence.proxy 0/0:1 fence tensormap map 100 acquire.gpu\n");
}

static void groups(void) {
    log_gives(WANT_FENCE, ONE,
              LOG_HEAD
              "cp.async.ca.shared.global [%r20], [%rd1], 16; cp.async.commit_group; cp.async.commit_group;\n"
              "cp.async.wait_group 1; cp.async.wait_all; fence.proxy.async;\n"
              "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r20], 16; cp.async.bulk.commit_group;\n"
              "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 2; cp.async.bulk.wait_group 0;\n" LOG_END,
              "cp.async.commit_group 0/0:1 commit\n"
              "cp.async.commit_group 0/0:1 commit\n"
              "cp.async.wait_group 0/0:1 wait but 1\n"
              "cp.async.wait_all 0/0:1 wait but 0\n"
              "fence.proxy 0/0:1 fence async\n"
              "cp.async.bulk.commit_group 0/0:1 commit bulk\n"
              "cp.async.bulk.wait_group 0/0:1 wait bulk read but 0\n"
              "cp.async.bulk.wait_group 0/0:1 wait bulk but 2\n"
              "cp.async.bulk.wait_group 0/0:1 wait bulk but 0\n");
}

static void tensor_memory(void) {
    log_gives(WANT_FENCE, WARP,
              LOG_HEAD LOG_TENSOR
              "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r1}; tcgen05.wait::st.sync.aligned;\n"
              "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r12]; tcgen05.wait::ld.sync.aligned;\n"
              "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r31}, [%r12]; add.u32 %r31, %r31, 1;\n"
              "tcgen05.wait::ld.sync.aligned; tcgen05.fence::before_thread_sync; "
              "tcgen05.fence::after_thread_sync;\n" LOG_TENSOR_END,
              "fence.proxy 0/0:ffffffff fence async\n"
              "tcgen05.wait::st 0/0:ffffffff wait_st\n"
              "tcgen05.ld 0/0:ffffffff ld\n"
              "tcgen05.wait::ld 0/0:ffffffff wait_ld\n"
              "tcgen05.ld 0/0:ffffffff ld\n"
              "add 0/0:ffffffff use of #3\n"
              "tcgen05.wait::ld 0/0:ffffffff wait_ld\n"
              "tcgen05.fence::before_thread_sync 0/0:ffffffff fence_before\n"
              "tcgen05.fence::after_thread_sync 0/0:ffffffff fence_after\n");
}

static void grids(void) {
    log_gives(WANT_FENCE, ONE, LOG_HEAD "griddepcontrol.wait; griddepcontrol.launch_dependents;\n" LOG_END,
              "griddepcontrol 0/0:1 grid_wait\n"
              "griddepcontrol 0/0:1 grid_launch\n");
}

int main(void) {
    phases();
    bytes();
    drops();
    by_state();
    lanes_differ();
    of_peer();
    by_operations();
    commit_to_both();
    missed();
    cp_async_arrives();
    barriers();
    cluster_barriers();
    warps();
    fences();
    groups();
    tensor_memory();
    grids();
    return check_report();
}
