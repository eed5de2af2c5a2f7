/* What the stream of events tells of accesses to memory (machine/events.h, struct event_access). */
#include "unit/event_log.h"

/* %r4: 4 times the thread; %r5, %rd2: a word of shared and of global memory for each thread. */
#define WORDS LOG_HEAD "shl.b32 %r4, %r1, 2; add.u32 %r5, %r20, %r4; cvt.u64.u32 %rd2, %r4; add.u64 %rd2, %rd1, %rd2;\n"

enum { THREADS = WANT_SHARED_READ | WANT_SHARED_WRITE | WANT_GLOBAL };
static const struct run_shape ONE = {.block = 1}, TWO = {.block = 2}, WARP = {.block = 32},
                              PAIR = {.grid = 2, .block = 32, .cluster = 2};

static void plain(void) {
    log_gives(THREADS, TWO,
              WORDS "st.shared.u32 [%r5], %r1; ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd2], 7;\n"
                    "ld.global.u32 %r6, [%rd2]; ld.global.nc.u8 %r6, [%rd2];\n"
                    "mul.wide.u32 %rd3, %r1, 64; add.u64 %rd3, %rd1, %rd3; st.global.v4.u32 [%rd3+32], {1, 2, 3, 4};\n"
                    "@%p8 st.shared.v2.u64 [%r20+16], {%rd1, %rd1}; @!%p8 st.shared.u16 [%r20+8], %r6;\n"
                    "setp.gt.u32 %p1, %r1, 5; @%p1 st.shared.u32 [%r5], 0;\n" LOG_END,
              "st 0/0:3 write shared 400+4 size 4 weak\n"
              "ld 0/0:3 read shared 400+4 size 4 weak\n"
              "st 0/0:3 write global 0+4 size 4 weak\n"
              "ld 0/0:3 read global 0+4 size 4 weak\n"
              "ld 0/0:3 read global 0+4 size 1 weak nc\n"
              "st 0/0:3 write global 20+40 size 16 weak\n"
              "st 0/0:1 write shared 410 size 16 weak\n"
              "st 0/0:2 write shared 408 size 2 weak\n");
}

/* It has one thread. */
static void local_is_not_told(void) {
    log_gives(THREADS, TWO,
              WORDS ".local .align 8 .b8 a[32]; mov.u64 %rd4, a; cvta.local.u64 %rd5, %rd4;\n"
                    "st.local.u32 [a+8], %r1; ld.local.u32 %r6, [%rd4+8]; st.u64 [%rd5+16], %rd1;\n"
                    "ld.shared.u32 %r6, [%r5];\n" LOG_END,
              "ld 0/0:3 read shared 400+4 size 4 weak\n");
}

/* 9.7.9.8, 9.7.9.12: .volatile is relaxed at system scope; .mmio only relaxed.sys. */
static void strong(void) {
    log_gives(THREADS, TWO,
              WORDS "add.u32 %r6, %r1, 16; st.relaxed.gpu.global.u32 [%rd2], %r6;\n"
                    "ld.relaxed.gpu.global.u32 %r7, [%rd2]; ld.acquire.sys.global.u8 %r7, [%rd2];\n"
                    "st.release.cluster.shared::cta.u32 [%r5], %r6; ld.acquire.cluster.shared::cta.u32 %r7, [%r5];\n"
                    "st.volatile.shared.u32 [%r5], 5; ld.volatile.shared.u32 %r7, [%r5];\n"
                    "ld.relaxed.cta.global.v2.u32 {%r7, %r8}, [%rd1];\n"
                    "ld.relaxed.cta.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd1];\n"
                    "ld.mmio.relaxed.sys.global.u32 %r7, [%rd2];\n" LOG_END,
              "st 0/0:3 write global 0+4 size 4 relaxed.gpu\n"
              "ld 0/0:3 read global 0+4 size 4 relaxed.gpu got 10 11\n"
              "ld 0/0:3 read global 0+4 size 1 acquire.sys got 10 11\n"
              "st 0/0:3 write shared 400+4 size 4 release.cluster\n"
              "ld 0/0:3 read shared 400+4 size 4 acquire.cluster got 10 11\n"
              "st 0/0:3 write shared 400+4 size 4 relaxed.sys\n"
              "ld 0/0:3 read shared 400+4 size 4 relaxed.sys got 5 5\n"
              "ld 0/0:3 read global 0+0 size 8 relaxed.cta got 1100000010 1100000010\n"
              "ld 0/0:3 read global 0+0 size 16 relaxed.cta got 1100000010 1100000010\n"
              "ld 0/0:3 read global 0+4 size 4 relaxed.sys got 10 11\n");
}

/* 9.7.13.5-6: without a semantics an atomic is relaxed, without a scope at .gpu. */
static void atomics(void) {
    log_gives(THREADS, TWO,
              WORDS ".reg .f32 %f1; mov.b32 %f1, 0; @%p8 st.shared.u32 [%r20], 3; bar.warp.sync 3; atom.shared.add.u32 "
                    "%r6, [%r20], 2;\n"
                    "atom.global.acq_rel.cluster.exch.b64 %rd3, [%rd1], 9; red.global.add.u32 [%rd2+64], 1;\n"
                    "red.release.cta.shared.max.u32 [%r20], 9; atom.global.acquire.sys.cas.b32 %r6, [%rd2+64], 1, 8;\n"
                    "atom.global.add.v4.f32 {_, _, _, _}, [%rd1+128], {%f1, %f1, %f1, %f1};\n" LOG_END,
              "st 0/0:1 write shared 400 size 4 weak\n"
              "atom 0/0:3 atomic shared 400+0 size 4 relaxed.gpu got 3 5\n"
              "atom 0/0:3 atomic global 0+0 size 8 acq_rel.cluster got 0 9\n"
              "red 0/0:3 atomic global 40+4 size 4 relaxed.gpu got 0 0\n" /* what lay there */
              "red 0/0:3 atomic shared 400+0 size 4 release.cta got 7 9\n"
              "atom 0/0:3 atomic global 40+4 size 4 acquire.sys got 1 1\n"
              "atom 0/0:3 atomic global 80+0 size 16 relaxed.gpu got 0 0\n");
}

/* Each lane touches the elements that it gets or gives, not the row whose address it brings (9.7.15.5.15-16). */
static void matrices(void) {
    log_gives(THREADS, WARP,
              WORDS "shl.b32 %r6, %r1, 4; add.u32 %r6, %r20, %r6;\n"
                    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6], {%r1, %r1, %r1, %r1};\n"
                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r6];\n" LOG_END,
              "stmatrix 0/0:ffffffff write shared 400+4 size 4 weak\n"
              "stmatrix 0/0:ffffffff write shared 480+4 size 4 weak\n"
              "stmatrix 0/0:ffffffff write shared 500+4 size 4 weak\n"
              "stmatrix 0/0:ffffffff write shared 580+4 size 4 weak\n"
              "ldmatrix 0/0:ffffffff read shared 400+4 size 4 weak\n");
}

static void store_bulk(void) {
    log_gives(THREADS, TWO, WORDS "@%p8 st.bulk.weak.shared::cta [%r20], 1024, 0;\n" LOG_END,
              "st.bulk 0/0:1 write shared 400 size 1024 weak\n");
}

/* Reads and writes of shared memory are told apart. */
static void by_effect(void) {
    static const char text[] =
        WORDS "st.shared.u32 [%r5], 1; ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r5+64];\n" LOG_END;
    log_gives(WANT_SHARED_READ, TWO, text,
              "ld 0/0:3 read shared 400+4 size 4 weak\n"
              "ld 0/0:3 read shared 440+4 size 4 weak\n");
    log_gives(WANT_SHARED_WRITE, TWO, text, "st 0/0:3 write shared 400+4 size 4 weak\n");
}

static void peers(void) {
    log_gives(THREADS, PAIR,
              WORDS LOG_CLUSTER_SYNC
              "xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r20, %r6;\n"
              "setp.eq.u32 %p1, %r2, 0; @!%p8 bra done; @!%p1 bra done;\n"
              "st.shared::cluster.u32 [%r7+4], 5; atom.relaxed.cluster.shared::cluster.add.u32 %r8, [%r7+4], 1;\n"
              "cvt.u64.u32 %rd3, %r7; cvta.shared::cluster.u64 %rd3, %rd3; ld.u32 %r9, [%rd3+4];\n"
              "done: " LOG_CLUSTER_SYNC LOG_END,
              "st 0/0:1 write shared@1 404 size 4 weak\n"
              "atom 0/0:1 atomic shared@1 404 size 4 relaxed.cluster got 5\n"
              "ld 0/0:1 read shared@1 404 size 4 weak\n");
}

enum { ENGINES = WANT_ENGINE_READ | WANT_ENGINE_WRITE | WANT_ENGINE_GLOBAL | WANT_TENSOR };

static void cp_async(void) {
    log_gives(THREADS, TWO,
              WORDS
              "shl.b32 %r6, %r1, 4; add.u32 %r7, %r20, %r6; mul.wide.u32 %rd3, %r1, 32; add.u64 %rd3, %rd1, %rd3;\n"
              "cp.async.cg.shared.global [%r7], [%rd3], 16; mov.u32 %r8, 4;\n"
              "@%p8 cp.async.ca.shared.global [%r7+64], [%rd3], 8, %r8; cp.async.wait_all;\n" LOG_END,
              "cp.async 0#1:3 read global 0+20 size 16 cp_async\n" /* those that copy less: by themselves */
              "cp.async 0#1:3 write shared 400+10 size 16 cp_async\n"
              "cp.async 0#2:1 read global 0 size 4 cp_async\n"
              "cp.async 0#2:1 write shared 440 size 8 cp_async\n");
}

#define INIT "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;\n"
#define EXPECT(bytes) "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], " bytes ";\n"

static void bulk(void) {
    log_gives(ENGINES, TWO,
              WORDS INIT EXPECT(
                  "256") "@%p8 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%rd1+512], 256, "
                         "[%r21];\n" LOG_WAIT(
                             "w", "%r21",
                             "0") "@%p8 cp.async.bulk.global.shared::cta.bulk_group [%rd1+1024], [%r20+64], 128;\n"
                                  "@%p8 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1+2048], "
                                  "[%r20], 32;\n"
                                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n" LOG_END,
              "cp.async.bulk to shared memory 0#1 read global 200 rows 1+0 size 256 bulk async\n"
              "cp.async.bulk to shared memory 0#1 write shared 400 rows 1+0 size 256 bulk async\n"
              "cp.async.bulk to global memory 0#2 read shared 440 rows 1+0 size 128 bulk async\n"
              "cp.reduce.async.bulk to global memory 0#3 read shared 400 rows 1+0 size 32 bulk async\n"
              "cp.async.bulk to global memory 0#4 write global 400 rows 1+0 size 128 bulk async\n"
              "cp.reduce.async.bulk to global memory 0#5 atomic global 800 rows 1+0 size 32 bulk async\n");
}

static void bulk_to_peer(void) {
    log_gives(ENGINES, PAIR,
              WORDS INIT
              "st.shared.u32 [%r5], 1; fence.proxy.async; " LOG_CLUSTER_SYNC
              "setp.eq.u32 %p1, %r2, 0; @!%p1 bra wait; xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r20, %r6;\n"
              "mapa.shared::cluster.u32 %r8, %r21, %r6; add.u32 %r7, %r7, 256;\n"
              "@%p8 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r20], 128, [%r8];\n"
              "bra done; wait: " EXPECT("128") LOG_WAIT("w", "%r21", "0") "done: " LOG_CLUSTER_SYNC LOG_END,
              "cp.async.bulk to another CTA 0#1 read shared 400 rows 1+0 size 128 bulk async\n"
              "cp.async.bulk to another CTA 0#1 write shared@1 500 rows 1+0 size 128 bulk async\n");
}

static void tensor_copies(void) {
    log_gives(ENGINES, TWO,
              WORDS INIT EXPECT(
                  "128") "add.u64 %rd5, %rd1, 8192;\n"
                         "@%p8 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                         "[%r20], [%rd5, {4, 2}], [%r21];\n" LOG_WAIT(
                             "w", "%r21",
                             "0") "@%p8 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd5, {8, 5}], [%r20];\n"
                                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n" LOG_END,
              "cp.async.bulk.tensor to shared memory 0#1 read global "
              "(tensor map) 2000 rows 1+0 size 128 tma tensormap\n"
              "cp.async.bulk.tensor to shared memory 0#1 write shared 400 rows 1+0 size 128 tma async\n"
              "cp.async.bulk.tensor to shared memory 0#1 read global 4090 rows 4+40 size 32 tma async\n"
              "cp.async.bulk.tensor to global memory 0#2 read global "
              "(tensor map) 2000 rows 1+0 size 128 tma tensormap\n"
              "cp.async.bulk.tensor to global memory 0#2 read shared 400 rows 1+0 size 128 tma async\n"
              "cp.async.bulk.tensor to global memory 0#3 write global 4160 rows 4+40 size 32 tma async\n");
}

/* One copy into both CTAs of the cluster: told for each, but for its map, which is read once. */
static void multicast(void) {
    log_gives(ENGINES, PAIR,
              WORDS INIT "mov.b16 %h1, 3; add.u64 %rd5, %rd1, 8192; " EXPECT("128") LOG_CLUSTER_SYNC
              "setp.eq.u32 %p1, %r2, 0; and.pred %p1, %p1, %p8;\n"
              "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
              "[%r20], [%rd5, {0, 0}], [%r21], %h1;\n" LOG_WAIT("w", "%r21", "0") LOG_CLUSTER_SYNC LOG_END,
              "cp.async.bulk.tensor to shared memory 0#1 read global "
              "(tensor map) 2000 rows 1+0 size 128 tma tensormap\n"
              "cp.async.bulk.tensor to shared memory 0#1 write shared 400 rows 1+0 size 128 tma async\n"
              "cp.async.bulk.tensor to shared memory 0#1 read global 4000 rows 4+40 size 32 tma async\n"
              "cp.async.bulk.tensor to shared memory 0#2 write shared@1 400 rows 1+0 size 128 tma async\n"
              "cp.async.bulk.tensor to shared memory 0#2 read global 4000 rows 4+40 size 32 tma async\n");
}

/* 9.7.9.28, 9.7.13.16: threads change a tensor map as a whole and copy it with the semantics that the copy names. */
static void tensor_maps(void) {
    log_gives(
        THREADS, ONE,
        WORDS INIT EXPECT(
            "128") "add.u64 %rd5, %rd1, 8192; "
                   "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%rd5], 128, "
                   "[%r21];\n" LOG_WAIT(
                       "w", "%r21",
                       "0") "mov.b64 %rd6, 0x1230; tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r20], "
                            "%rd6;\n"
                            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                            "[%rd1+9216], [%r20], 128;\n" LOG_END,
        "tensormap.replace 0/0:1 write shared 400 size 128 weak\n"
        "tensormap.cp_fenceproxy 0/0:1 read shared 400 size 128 release.gpu got 1230\n"
        "tensormap.cp_fenceproxy 0/0:1 write global 2400 size 128 release.gpu\n");
}

/* The address that tcgen05.alloc writes to shared memory. */
static void allocation(void) {
    log_gives(WANT_ENGINE_WRITE, WARP,
              LOG_HEAD "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r22], 32; ld.shared.u32 %r12, "
                       "[%r22];\n" LOG_TENSOR_END,
              "tcgen05.alloc 0/0:ffffffff write shared 2380 rows 1+0 size 4 alloc\n");
}

static void tensor_core(void) {
    log_gives(
        ENGINES, WARP,
        LOG_HEAD LOG_TENSOR
        "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, %p6;\n"
        "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, %p8;\n"
        "@%p8 tcgen05.cp.cta_group::1.128x256b [%r12+8], %rd12;\n"
        "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], [%r12+8], %rd13, %r14, %p8;\n" LOG_COMMIT
        "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30, %r31, %r32, %r33}, [%r12+2];\n"
        "tcgen05.wait::ld.sync.aligned; tcgen05.st.sync.aligned.16x64b.x2.b32 [%r12+16], {%r30, %r31};\n"
        "tcgen05.wait::st.sync.aligned;\n" LOG_TENSOR_END,
        "tcgen05.alloc 0/0:ffffffff write shared 2380 rows 1+0 size 4 alloc\n"
        "tcgen05.mma 0#1 write tensor (accumulator D) 0 columns 8 lanes ffffffff,ffffffff,ffffffff,ffffffff core\n"
        "operand A of tcgen05.mma 0#1 read 400-1400 bytes 4096 async\n"
        "operand B of tcgen05.mma 0#1 read 1400-1500 bytes 256 async\n"
        "tcgen05.mma 0#2 update tensor (accumulator D) 0 columns 8 lanes ffffffff,ffffffff,ffffffff,ffffffff core\n"
        "operand A of tcgen05.mma 0#2 read 400-1400 bytes 4096 async\n"
        "operand B of tcgen05.mma 0#2 read 1400-1500 bytes 256 async\n"
        "tcgen05.cp 0#3 write tensor 8 columns 8 lanes ffffffff,ffffffff,ffffffff,ffffffff copy\n"
        "tcgen05.cp 0#3 read 400-1400 bytes 4096 async\n"
        "tcgen05.mma 0#4 update tensor (accumulator D) 0 columns 8 lanes ffffffff,ffffffff,ffffffff,ffffffff core\n"
        "tcgen05.mma 0#4 read tensor (matrix A) 8 columns 8 lanes ffffffff,ffffffff,ffffffff,ffffffff core\n"
        "operand B of tcgen05.mma 0#4 read 1400-1500 bytes 256 async\n"
        "tcgen05.ld 0#6 read tensor 2 columns 4 lanes ffffffff,0,0,0 ldst\n"
        "tcgen05.st 0#7 write tensor 10 columns 4 lanes ffff,0,0,0 ldst\n");
}

int main(void) {
    plain();
    local_is_not_told();
    strong();
    atomics();
    matrices();
    store_bulk();
    by_effect();
    peers();
    cp_async();
    bulk();
    bulk_to_peer();
    tensor_copies();
    multicast();
    tensor_maps();
    allocation();
    tensor_core();
    return check_report();
}
