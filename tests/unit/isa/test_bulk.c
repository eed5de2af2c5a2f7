/* Bulk and tensor copies, bulk groups and tensormap.replace as PTX (PTX ISA 9.7.9.25.4, 9.7.9.27, 9.7.9.28,
 * 9.7.13.16). */
#include "unit/run_ptx.h"

#include "check/check.h"
#include "engines/tensormap.h"

/* %r1 thread, %r2 CTA's rank; sm: 8 KiB of shared memory at %r20, mb: barriers at %r21; @%p8: thread 0. */
#define HEAD(name, params)                                                                                             \
    ".visible .entry " name "(" params ") {\n"                                                                         \
    ".reg .pred %p<9>; .reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %rd<30>; .reg .f32 %f<4>;\n"                       \
    ".shared .align 1024 .b8 sm[8192]; .shared .align 8 .b64 mb[4];\n"                                                 \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r20, sm; mov.u32 %r21, mb; "                         \
    "setp.eq.u32 %p8, %r1, 0;\n"
#define MAP ".param .align 64 .b8 map[128]"
#define OUT "ld.param.u64 %rd1, [out];\n"
#define INIT "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
#define EXPECT(bytes) "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], " bytes ";\n"
#define WAIT(label, par) label ": mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r21], " par "; @!%p7 bra " label ";\n"
#define MAP_ADDRESS "mov.b64 %rd10, map; cvta.param.u64 %rd10, %rd10;\n"
#define TILE "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
#define CLUSTER_SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"
/* a word of shared memory per thread to out[rank * 64 + tid] */
#define STORE_WORD                                                                                                     \
    "shl.b32 %r30, %r1, 2; add.u32 %r31, %r20, %r30; ld.shared.u32 %r32, [%r31]; mad.lo.u32 %r33, %r2, 64, "           \
    "%r1; "                                                                                                            \
    "mul.wide.u32 %rd3, %r33, 4; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r32;\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    HEAD("tile", MAP ", .param .u64 out") OUT INIT MAP_ADDRESS EXPECT("256")
    "mov.u32 %r5, 4; @%p8 " TILE " [%r20], [%rd10, {%r5, 2}], [%r21];\n" WAIT("w", "0") STORE_WORD "ret; }\n"

    HEAD("named", MAP ", .param .u64 out") OUT INIT EXPECT("256") /* the parameter by its name; hints; .shared::cta */
    "mov.b64 %rd5, 0; @%p8 cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint [map, {4, 2}], %rd5;\n"
    "@%p8 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
    "[%r20], [map, {4, 2}], [%r21], %rd5;\n" WAIT("w", "0") STORE_WORD "ret; }\n"

    HEAD("local", MAP ", .param .u64 out") INIT /* a copy on the stack */
    ".local .align 64 .b8 copy[128]; mov.b64 %rd6, copy; cvta.local.u64 %rd7, %rd6; st.local.u64 [%rd6], 0;\n"
    TILE " [%r20], [%rd7, {0, 0}], [%r21]; ret; }\n"

    HEAD("multicast", MAP ", .param .u64 out") OUT MAP_ADDRESS /* each of 4 CTAs loads a quarter for all */
    "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; fence.mbarrier_init.release.cluster;\n" CLUSTER_SYNC EXPECT("512")
    "mov.b16 %h1, 15; shl.b32 %r5, %r2, 7; add.u32 %r5, %r20, %r5; shl.b32 %r6, %r2, 1; "
    "@%p8 " TILE ".multicast::cluster [%r5], [%rd10, {0, %r6}], [%r21], %h1;\n" WAIT("w", "0") STORE_WORD
    CLUSTER_SYNC "ret; }\n"

    HEAD("pair", MAP ", .param .u64 out") OUT MAP_ADDRESS /* both CTAs' copies signal the even one, bit 24 cleared */
    "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; fence.mbarrier_init.release.cluster;\n" CLUSTER_SYNC
    "and.b32 %r5, %r21, 0xFEFFFFFF; setp.eq.u32 %p1, %r2, 0; and.pred %p2, %p1, %p8;\n"
    "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 512;\n"
    "@%p8 cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r20], [%rd10, {0, %r2}], [%r5];\n"
    "@!%p1 bra sync;\n" WAIT("w", "0") "sync: " CLUSTER_SYNC STORE_WORD "ret; }\n"

    HEAD("wrongpeer", MAP ", .param .u64 out") OUT MAP_ADDRESS /* the same without .cta_group::2 */
    "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; fence.mbarrier_init.release.cluster;\n" CLUSTER_SYNC
    "and.b32 %r5, %r21, 0xFEFFFFFF; setp.eq.u32 %p1, %r2, 1; and.pred %p1, %p1, %p8;\n"
    "@%p1 " TILE " [%r20], [%rd10, {0, 0}], [%r5];\n" CLUSTER_SYNC "ret; }\n"

    HEAD("early", MAP ", .param .u64 out") OUT MAP_ADDRESS /* rank 1 leaves while rank 0 still copies into it */
    "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; fence.mbarrier_init.release.cluster;\n" CLUSTER_SYNC
    "setp.eq.u32 %p1, %r2, 1; @%p1 ret; mov.u32 %r5, 0; "
    "nap: nanosleep.u32 1000; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 300; @%p2 bra nap; mov.b16 %h1, 3; "
    "@%p8 " TILE ".multicast::cluster [%r20], [%rd10, {0, 0}], [%r21], %h1; ret; }\n"

    HEAD("roundtrip", MAP ", .param .u64 out") OUT MAP_ADDRESS /* words in, doubled by a reduction, a group per step */
    "shl.b32 %r3, %r1, 2; add.u32 %r4, %r20, %r3; add.u32 %r5, %r1, 100; st.shared.u32 [%r4], %r5; "
    "fence.proxy.async.shared::cta; bar.sync 0; @!%p8 bra done;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd10, {0, 0}], [%r20]; cp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\n"
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd10, {0, 0}], [%r20]; "
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
    "done: ret; }\n"

    HEAD("bytes", ".param .u64 in, .param .u64 out") OUT "ld.param.u64 %rd2, [in];\n" INIT EXPECT("256")
    "mov.u32 %r5, 256;\n"
    "@%p8 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd2], %r5, [%r21];\n"
    "@%p8 cp.async.bulk.prefetch.L2.global [%rd2], 256;\n" WAIT("w", "0")
    "@!%p8 bra done; mov.b16 %h1, 0x000f;\n"
    "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r20], 128, %h1; cp.async.bulk.commit_group;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1+128], [%r20], 128; cp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group 1; cp.async.bulk.wait_group 0;\n"
    "done: ret; }\n"

    HEAD("peer", ".param .u64 out") OUT /* rank r's words go to rank r ^ 1 */
    "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; shl.b32 %r3, %r1, 2; add.u32 %r4, %r20, %r3; "
    "mad.lo.u32 %r5, %r2, 1000, %r1; st.shared.u32 [%r4+1024], %r5; fence.mbarrier_init.release.cluster; "
    "fence.proxy.async;\n"
    CLUSTER_SYNC EXPECT("256")
    "xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r20, %r6; mapa.shared::cluster.u32 %r8, %r21, %r6; "
    "add.u32 %r9, %r20, 1024;\n"
    "@%p8 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7], [%r9], 256, [%r8];\n"
    WAIT("w", "0") STORE_WORD CLUSTER_SYNC "ret; }\n"

    HEAD("unwritten", ".param .u64 out") OUT /* 4 of 16 bytes are written; or gone before they are read */
    "st.shared.u32 [%r20], 5; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r20], 16; ret; }\n"

    HEAD("nofence", ".param .u64 out") OUT /* no fence.proxy.async between the stores and the copy */
    "shl.b32 %r3, %r1, 2; add.u32 %r4, %r20, %r3; st.shared.u32 [%r4], %r1; bar.sync 0; @!%p8 bra done;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r20], 256; cp.async.bulk.commit_group; "
    "cp.async.bulk.wait_group 0;\n"
    "done: ret; }\n"

    HEAD("replace", MAP ", .param .u64 gmap, .param .u64 out, .param .u64 other") OUT INIT
    "ld.param.u64 %rd11, [gmap]; ld.param.u64 %rd12, [other]; setp.lt.u32 %p1, %r1, 32; @!%p1 bra wait;\n"
    "shl.b32 %r3, %r1, 2; add.u32 %r4, %r20, %r3; mov.b64 %rd13, map; cvt.u64.u32 %rd14, %r3; "
    "add.s64 %rd13, %rd13, %rd14; "
    "ld.param.u32 %r5, [%rd13]; st.shared.u32 [%r4], %r5; bar.warp.sync -1;\n"
    "@%p8 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r20], %rd12;\n"
    "@%p8 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r20], 1, 2; bar.warp.sync -1;\n"
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd11], [%r20], 128;\n"
    "fence.proxy.tensormap::generic.acquire.gpu [%rd11], 128;\n" EXPECT("128")
    "@%p8 " TILE " [%r20], [%rd11, {0, 0}], [%r21];\n"
    "wait: " WAIT("w", "0") "setp.lt.u32 %p2, %r1, 32; @!%p2 ret;\n" STORE_WORD "ret; }\n"

    HEAD("im2col", MAP) INIT MAP_ADDRESS "mov.b16 %h1, 0;\n"
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
    "[%r20], [%rd10, {0,0,0}], [%r21], {%h1}; ret; }\n"
    HEAD("fewcoords", MAP) INIT MAP_ADDRESS
    "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd10, {0,0}], [%r21]; "
    "ret; }\n"
    HEAD("badreduce", ".param .u64 out") OUT
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%rd1], [%r20], 16; ret; }\n";
/* clang-format on */

/* A kernel whose first parameter is the map, the others 64-bit values. */
static int launch(struct run *r, const char *name, uint32_t ctas, const uint8_t *map, const uint64_t *args,
                  unsigned n) {
    const struct warp_func *f = lower_find_kernel(r->module, name);
    r->log_len = 0;
    r->log[0] = 0;
    if (!CHECK(f != NULL))
        return -1;
    struct lower_kernel_info info = lower_kernel_info(f);
    uint8_t params[512] = {0};
    memcpy(params, map, 128);
    for (unsigned i = 0; i < n; i++)
        memcpy(params + ptx_param_offset(info.ptx, i + 1, NULL), &args[i], 8);
    struct launch_config launch = {.kernel = f,
                                   .grid = {ctas, 1, 1},
                                   .block = {64, 1, 1},
                                   .cluster = {ctas, 1, 1},
                                   .params = params,
                                   .param_bytes = info.param_bytes};
    return launch_run(r->gpu, &launch);
}

static void launch_ok(struct run *r, const char *name, uint32_t ctas, const uint8_t *map, const uint64_t *args,
                      unsigned n) {
    if (!CHECK_EQ(launch(r, name, ctas, map, args, n), 0))
        fprintf(stderr, "%s: %s\n", name, r->log);
}

static void launch_faults(struct run *r, const char *name, uint32_t ctas, const uint8_t *map, const uint64_t *args,
                          unsigned n, const char *part) {
    CHECK(launch(r, name, ctas, map, args, n) != 0);
    if (!CHECK_HAS(r->log, part))
        fprintf(stderr, "    in %s\n", name);
}

/* Words: 16 a row of 64 bytes, 32 rows, boxes of 16 words by `rows`; word i is i + 7. */
static uint64_t words(struct run *r, uint8_t map[TMAP_BYTES], uint32_t rows) {
    uint64_t in = run_alloc(r, 2048 + 64);
    uint32_t *p = run_at(r, in, 2048);
    for (uint32_t i = 0; i < 512; i++)
        p[i] = i + 7;
    struct tmap m = {
        .type = TMAP_U32, .rank = 2, .address = in, .dim = {16, 32}, .stride = {64}, .box = {16, rows}, .step = {1, 1}};
    CHECK(tmap_encode(&m, map) == NULL);
    return in;
}

static void tensor_copies(struct run *r) {
    uint8_t map[TMAP_BYTES];
    uint64_t out = run_alloc(r, 4096);
    words(r, map, 4);
    static const char *const kernels[] = {"tile", "named"};
    for (unsigned k = 0; k < 2; k++) {
        memset(run_at(r, out, 4096), 0xee, 4096);
        launch_ok(r, kernels[k], 1, map, &out, 1);
        for (uint32_t i = 0; i < 64; i++) /* from column 4, row 2: the last four columns are outside */
            CHECK_EQ(run_u32(r, out, i), i % 16 < 12 ? (2 + i / 16) * 16 + 4 + i % 16 + 7 : 0);
    }
    launch_faults(r, "local", 1, map, &out, 1, "tensormap-space");
    launch_faults(r, "im2col", 1, map, NULL, 0, "im2col modes are not supported");
    launch_faults(r, "fewcoords", 1, map, NULL, 0, "unsupported");
    uint64_t in = words(r, map, 4);
    launch_ok(r, "roundtrip", 1, map, NULL, 0);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(run_u32(r, in, i), 2 * (i + 100));
    CHECK_EQ(run_u32(r, in, 64), 64 + 7);
}

static void clusters(struct run *r) {
    uint8_t map[TMAP_BYTES];
    uint64_t out = run_alloc(r, 4096);
    words(r, map, 2);
    launch_ok(r, "multicast", 4, map, &out, 1);
    for (uint32_t c = 0; c < 4; c++)
        for (uint32_t i = 0; i < 64; i++)
            CHECK_EQ(run_u32(r, out, 64 * c + i), i + 7);
    launch_faults(r, "multicast", 2, map, &out, 1, "multicast-mask");
    launch_faults(r, "early", 2, map, &out, 1, "bulk-copy-cta-exited");
    words(r, map, 4);
    launch_ok(r, "pair", 2, map, &out, 1);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t i = 0; i < 64; i++)
            CHECK_EQ(run_u32(r, out, 64 * c + i), 16 * c + i + 7);
    launch_faults(r, "wrongpeer", 2, map, &out, 1, "bulk-copy-mbarrier-cta");
    CHECK(run_ok(r, "peer", (struct run_shape){.grid = 4, .block = 64, .cluster = 4}, 1, &out));
    for (uint32_t c = 0; c < 4; c++)
        for (uint32_t i = 0; i < 64; i++)
            CHECK_EQ(run_u32(r, out, 64 * c + i), 1000 * (c ^ 1) + i);
}

static void contiguous(struct run *r) {
    uint64_t args[2] = {run_alloc(r, 512), run_alloc(r, 512)};
    for (uint32_t i = 0; i < 128; i++) {
        ((uint32_t *)run_at(r, args[0], 512))[i] = i + 1;
        ((uint32_t *)run_at(r, args[1], 512))[i] = 1000000;
    }
    CHECK(run_ok(r, "bytes", (struct run_shape){.block = 64}, 2, args));
    for (uint32_t i = 0; i < 32; i++) {
        CHECK_EQ(run_u32(r, args[1], i), i % 4 == 0 ? i + 1 : 1000000); /* the mask keeps 4 bytes of 16 */
        CHECK_EQ(run_u32(r, args[1], 32 + i), 1000000 + i + 1);
    }
    CHECK(run_faults(r, "unwritten", (struct run_shape){.block = 1}, 1, args, "bulk-store-"));
    CHECK(run_faults(r, "badreduce", (struct run_shape){.block = 1}, 1, args, "this reduction is not defined"));
}

static void replaced(struct run *r) {
    uint8_t map[TMAP_BYTES];
    uint64_t args[3] = {run_alloc(r, 128), run_alloc(r, 256), 0};
    args[2] = words(r, map, 4);
    uint64_t first = words(r, map, 4);
    ((uint32_t *)run_at(r, args[2], 4))[5] = 4711; /* only there */
    CHECK(first != args[2]);
    launch_ok(r, "replace", 1, map, args, 3);
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(run_u32(r, args[1], i), i == 5 ? 4711 : i + 7);
    struct tmap m;
    CHECK(tmap_decode(run_at(r, args[0], 128), &m) == NULL);
    CHECK_EQ(m.address, args[2]);
    CHECK_EQ(m.box[1], 2);
}

/* A store whose source nobody fenced. */
static void watched(struct run *r) {
    uint8_t map[TMAP_BYTES];
    uint64_t out = run_alloc(r, 256);
    words(r, map, 4);
    run_check_races(r);
    CHECK(run_faults(r, "nofence", (struct run_shape){.block = 64}, 1, &out, "missing-proxy-fence"));
    CHECK_HAS(r->log, "cp.async.bulk to global memory");
    launch_ok(r, "roundtrip", 1, map, NULL, 0);
    CHECK_EQ(r->log_len, 0);
}

int main(void) {
    static const struct {
        enum mach_schedule schedule;
        uint64_t seed;
    } runs[] = {{MACH_SCHED_DEFAULT, 0}, {MACH_SCHED_EAGER, 0},  {MACH_SCHED_LAZY, 0},
                {MACH_SCHED_RANDOM, 1},  {MACH_SCHED_RANDOM, 2}, {MACH_SCHED_RANDOM, 3}};
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct mach_config c = mach_config_b200();
        c.schedule = runs[i].schedule;
        c.seed = runs[i].seed;
        c.watchdog = 100000000;
        c.check = MACH_CHECK_ERROR;
        struct run r;
        if (run_open_config(&r, text, &c)) {
            tensor_copies(&r);
            clusters(&r);
            contiguous(&r);
            replaced(&r);
            watched(&r);
        }
        run_close(&r);
    }
    return check_report();
}
