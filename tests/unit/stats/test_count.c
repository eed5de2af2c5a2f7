/* What is counted of small kernels, against numbers derived by hand. */
#include "unit/stats/count.h"

static const struct run_shape WARP = {.block = 32}, PAIR = {.grid = 2, .cluster = 2, .block = 32};
/* %r5 = sm + 4 tid, %rd3 = global + 4 tid */
#define WORDS "shl.b32 %r4, %r1, 2; add.u32 %r5, %r20, %r4; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd1, %rd3;\n"
#define MINE LOG_HEAD WORDS

/* --- instructions ------------------------------------------------------------------------------------------------- */

#define PLAIN RUN_HEADER ".visible .entry k(.param .u64 out) {\n"

/* 40 threads: lanes 8 to 31 of warp 0 add, lanes 0 to 7 jump; all 8 lanes of warp 1 add. */
static void divergence(void) {
    struct counted c;
    count(&c, (struct run_shape){.block = 40},
          PLAIN ".reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f;\n"
                "mov.u32 %r1, %tid.x;\n"
                "setp.lt.u32 %p, %r1, 8;\n"
                "@%p bra done;\n"
                "add.u32 %r2, %r1, 1;\n"
                "done: mov.f32 %f, 0f3F800000;\n"
                "@%p add.f32 %f, %f, %f;\n"
                "ret;\n}\n");
    const struct stats_site all = stats_total(c.s), bra = count_of(&c, "bra", 0), add = count_of(&c, "add", 0),
                            guarded = count_of(&c, "add", 1), ret = count_of(&c, "ret", 0);
    CHECK_EQ(c.s->ctas, 1);
    CHECK_EQ(c.s->warps, 2);
    CHECK_EQ(all.issued, 14);
    CHECK_EQ(all.lanes, 3 * 40 + 8 + 32 + 8 + 40);
    CHECK_EQ(bra.issued, 2);
    CHECK_EQ(bra.lanes, 8);
    CHECK_EQ(bra.splits, 1);
    CHECK_EQ(bra.idle, 1);
    CHECK_EQ(bra.partial, 0);
    CHECK_EQ(add.partial, 1);
    CHECK_EQ(add.lanes, 24 + 8);
    CHECK_EQ(guarded.idle, 1);
    CHECK_EQ(guarded.partial, 0); /* all lanes came to it: a guard is no divergence */
    CHECK_EQ(guarded.splits, 0);
    CHECK_EQ(ret.lanes, 40);
    CHECK_EQ(all.splits, 1);
    CHECK_EQ(count_kind(&c, STATS_CONTROL), 4);
    CHECK_EQ(count_kind(&c, STATS_INTEGER), 4);
    CHECK_EQ(count_kind(&c, STATS_FLOAT), 2);
    CHECK_EQ(count_kind(&c, STATS_MOVE), 4);
    count_free(&c);
}

/* Lanes that have exited are not missed. */
static void exited(void) {
    struct counted c;
    count(&c, WARP,
          PLAIN ".reg .pred %p; .reg .b32 %r<4>;\n"
                "mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 8; @%p exit; add.u32 %r2, %r1, 1; ret;\n}\n");
    const struct stats_site add = count_of(&c, "add", 0);
    CHECK_EQ(add.lanes, 24);
    CHECK_EQ(add.partial, 0);
    CHECK_EQ(stats_total(c.s).splits, 0);
    count_free(&c);
}

/* Opcodes and words to kinds; of generic addresses by what was accessed. */
static void kinds(void) {
    static const struct {
        const char *what, *text;
        enum stats_kind kind;
        bool global, shared; /* accessed */
    } rows[] = {
        {"add", "add.u32 %r1, %r2, 1;", STATS_INTEGER, false, false},
        {"add", "add.f32 %r1, %r2, 1;", STATS_FLOAT, false, false},
        {"fma", "fma.rn.bf16x2 %r1, %r2, %r3, %r4;", STATS_FLOAT, false, false},
        {"add", "@%p1 add.rn.f32x2 %rd1, %rd2, %rd3;", STATS_FLOAT, false, false},
        {"setp", "setp.lt.u32 %p1, %r1, 8;", STATS_INTEGER, false, false},
        {"setp", "setp.lt.f64 %p1, %fd1, %fd2;", STATS_FLOAT, false, false},
        {"cvt", "cvt.rn.f32.u32 %f1, %r1;", STATS_CONVERT, false, false},
        {"cvta", "cvta.to.global.u64 %rd1, %rd2;", STATS_MOVE, false, false},
        {"ld", "ld.param.u64 %rd1, [out];", STATS_LD_PARAM, false, false},
        {"ld", "@!%p2 ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];", STATS_LD_ST_SHARED, false, true},
        {"ld", "ld.global.nc.u32 %r1, [%rd1];", STATS_LD_ST_GLOBAL, false, false},
        {"st", "st.u32 [%rd1], %r1;", STATS_LD_ST_GLOBAL, true, false},
        {"st", "st.u32 [%rd1], %r1;", STATS_LD_ST_SHARED, false, true},
        {"st", "st.local.u32 [%rd1], %r1;", STATS_LD_ST_LOCAL, false, false},
        {"ld", "ld.acquire.cluster.shared::cluster.u32 %r1, [%r2];", STATS_LD_ST_SHARED, false, false},
        {"red", "red.relaxed.gpu.global.add.u32 [%rd1], %r1;", STATS_LD_ST_GLOBAL, false, false},
        {"cp.async.bulk.tensor", "", STATS_COPY, false, false},
        {"cp.async.mbarrier.arrive", "", STATS_MBARRIER, false, false},
        {"cp.async.wait_all", "", STATS_COPY, false, false},
        {"bar", "bar.sync 0;", STATS_BARRIER, false, false},
        {"bar.warp.sync", "", STATS_WARP, false, false},
        {"barrier.cluster.wait", "", STATS_BARRIER, false, false},
        {"fence.proxy", "", STATS_BARRIER, false, false},
        {"tcgen05.wait::ld", "", STATS_TCGEN05, false, false},
        {"bra", "bra.uni $L1;", STATS_CONTROL, false, false},
        {"elect.sync", "", STATS_WARP, false, false},
        {"mma", "", STATS_MATRIX, false, false},
        {"mbarrier.try_wait", "", STATS_MBARRIER, false, false},
        {"setmaxnreg", "", STATS_OTHER, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct diag_site site = {.ptx_text = rows[i].text};
        const struct stats_site s = {
            .site = &site, .what = rows[i].what, .global.bytes = rows[i].global, .shared.bytes = rows[i].shared};
        if (!CHECK_EQ(stats_kind_of(&s), rows[i].kind))
            fprintf(stderr, "    %s: %s\n", rows[i].what, rows[i].text);
    }
    for (unsigned k = 0; k < STATS_KINDS; k++)
        CHECK(stats_kind_name((enum stats_kind)k) && stats_kind_key((enum stats_kind)k));
}

/* --- shared memory ------------------------------------------------------------------------------------------------ */

/* Stores at 4 tid (no conflict), 8 tid (2 ways) and of 16 bytes at 128 tid (8 ways in each quarter), and a load of one
 * word by all. */
static void shared(void) {
    struct counted c;
    count(&c, WARP,
          MINE "shl.b32 %r6, %r1, 3; add.u32 %r6, %r20, %r6; shl.b32 %r7, %r1, 7; add.u32 %r7, %r20, %r7;\n"
               "st.shared.u32 [%r5], 1;\n"
               "st.shared.u32 [%r6], 1;\n"
               "st.shared.v4.u32 [%r7], {%r1, %r1, %r1, %r1};\n"
               "@%p8 st.shared.u32 [%r20], 1;\n"
               "ld.shared.u32 %r8, [%r20];\n" LOG_END);
    const struct stats_shared plain = count_of(&c, "st", 0).shared, two = count_of(&c, "st", 1).shared,
                              eight = count_of(&c, "st", 2).shared, one = count_of(&c, "ld", 1).shared;
    CHECK_EQ(plain.wavefronts, 1);
    CHECK_EQ(plain.least, 1);
    CHECK_EQ(plain.bytes, 128);
    CHECK_EQ(two.wavefronts, 2);
    CHECK_EQ(two.least, 1);
    CHECK_EQ(eight.wavefronts, 32);
    CHECK_EQ(eight.least, 4);
    CHECK_EQ(eight.bytes, 512);
    CHECK_EQ(eight.requests, 1);
    CHECK_EQ(count_of(&c, "st", 3).shared.wavefronts, 1); /* of one lane */
    CHECK_EQ(one.wavefronts, 1);
    CHECK_EQ(c.s->bytes[AGENT_THREAD][SPACE_SHARED][STATS_WRITE], 128 + 128 + 512 + 4);
    CHECK_EQ(c.s->bytes[AGENT_THREAD][SPACE_SHARED][STATS_READ], 128);
    CHECK_EQ(stats_total(c.s).shared.wavefronts, 37);
    CHECK_EQ(count_kind(&c, STATS_LD_ST_SHARED), 5);
    count_free(&c);
}

/* Rows of matrices 16 bytes apart lie in different banks, 128 bytes apart in the same four. */
static void matrices(void) {
    struct counted c;
    count(&c, WARP,
          MINE "shl.b32 %r6, %r1, 4; add.u32 %r6, %r20, %r6; and.b32 %r7, %r1, 7; shl.b32 %r7, %r7, 7;\n"
               "add.u32 %r7, %r20, %r7; shr.u32 %r8, %r1, 3; shl.b32 %r8, %r8, 4; add.u32 %r7, %r7, %r8;\n"
               "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r6], {%r1, %r1, %r1, %r1};\n"
               "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r7], {%r1, %r1, %r1, %r1};\n"
               "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r9, %r10}, [%r7];\n"
               "ld.shared.u32 %r8, [%r5];\n" LOG_END);
    const struct stats_shared plain = count_of(&c, "stmatrix", 0).shared, trans = count_of(&c, "stmatrix", 1).shared,
                              load = count_of(&c, "ldmatrix", 0).shared, after = count_of(&c, "ld", 1).shared;
    CHECK_EQ(plain.requests, 4);
    CHECK_EQ(plain.wavefronts, 4);
    CHECK_EQ(plain.bytes, 512);
    CHECK_EQ(trans.requests, 4);
    CHECK_EQ(trans.wavefronts, 32);
    CHECK_EQ(trans.least, 4);
    CHECK_EQ(trans.bytes, 512);
    CHECK_EQ(load.wavefronts, 16);
    CHECK_EQ(load.least, 2);
    CHECK_EQ(after.wavefronts, 1);
    count_free(&c);
}

/* Another CTA's memory is not reached through one's own banks; blocks and atomics are bytes. */
static void others(void) {
    struct counted c;
    count(&c, PAIR,
          MINE "xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r5, %r6;\n"
               "@%p8 st.bulk.weak.shared::cta [%r20], 1024, 0;\n" LOG_CLUSTER_SYNC
               "st.shared::cluster.u32 [%r7], %r1;\n" LOG_CLUSTER_SYNC "atom.shared.add.u32 %r8, [%r20], 1;\n" LOG_END);
    const struct stats_shared far = count_of(&c, "st", 0).shared;
    CHECK_EQ(far.requests, 0);
    CHECK_EQ(far.bytes, 256);
    CHECK_EQ(c.s->remote, 256);
    CHECK_EQ(count_of(&c, "st.bulk", 0).shared.requests, 0);
    CHECK_EQ(count_of(&c, "atom", 0).shared.requests, 2);
    CHECK_EQ(c.s->bytes[AGENT_THREAD][SPACE_SHARED][STATS_WRITE], 256 + 2 * 1024);
    CHECK_EQ(c.s->bytes[AGENT_THREAD][SPACE_SHARED][STATS_ATOMIC], 256);
    CHECK_EQ(c.s->cluster_phases, 2);
    count_free(&c);
}

/* --- global memory ------------------------------------------------------------------------------------------------ */

/* 128 bytes coalesced are 4 sectors; a word of every second one of 64 bytes 32; 16 bytes at 24 two. */
static void global(void) {
    struct counted c;
    count(&c, WARP,
          MINE "mul.wide.u32 %rd4, %r1, 64; add.u64 %rd4, %rd1, %rd4; add.u64 %rd4, %rd4, 8192;\n"
               "ld.global.u32 %r8, [%rd3];\n"
               "st.global.u32 [%rd4], %r8;\n"
               "@%p8 ld.global.v2.u32 {%r9, %r10}, [%rd1+24];\n"
               "st.global.v8.u32 [%rd4], {%r1, _, %r1, %r1, %r1, %r1, %r1, %r1};\n"
               "red.global.add.u32 [%rd1], 1;\n" LOG_END);
    const struct stats_global load = count_of(&c, "ld", 1).global, store = count_of(&c, "st", 0).global,
                              edge = count_of(&c, "ld", 2).global, wide = count_of(&c, "st", 1).global,
                              red = count_of(&c, "red", 0).global;
    CHECK_EQ(load.sectors, 4);
    CHECK_EQ(load.least, 4);
    CHECK_EQ(load.requests, 1);
    CHECK_EQ(store.sectors, 32);
    CHECK_EQ(store.least, 4);
    CHECK_EQ(store.bytes, 128);
    CHECK_EQ(edge.sectors, 1);
    CHECK_EQ(edge.least, 1);
    CHECK_EQ(wide.requests, 1);
    CHECK_EQ(wide.sectors, 32);
    CHECK_EQ(wide.bytes, 32 * 28);
    CHECK_EQ(wide.least, 28);
    CHECK_EQ(red.sectors, 1);
    CHECK_EQ(red.bytes, 128);
    CHECK_EQ(c.s->bytes[AGENT_THREAD][SPACE_GLOBAL][STATS_READ], 128 + 8);
    CHECK_EQ(c.s->bytes[AGENT_THREAD][SPACE_GLOBAL][STATS_WRITE], 128 + 32 * 28);
    CHECK_EQ(c.s->bytes[AGENT_THREAD][SPACE_GLOBAL][STATS_ATOMIC], 128);
    CHECK_EQ(c.s->remote, 0);
    CHECK_EQ(c.s->footprint_read, 128);             /* the word that red updates is among them */
    CHECK_EQ(c.s->footprint_written, 32 * 32 + 32); /* its sector is not among those */
    count_free(&c);
}

/* cp.async: one request for lanes that copy all and lane 0, that copies less; what they write is bytes. Twice. */
static void copies_of_threads(void) {
    struct mach_config config = mach_config_b200();
    struct counted c;
    config.schedule = MACH_SCHED_LAZY; /* both run when the threads wait for them */
    count_under(&c, WARP,
                MINE
                "shl.b32 %r6, %r1, 4; add.u32 %r7, %r20, %r6; mul.wide.u32 %rd3, %r1, 32; add.u64 %rd3, %rd1, %rd3;\n"
                "selp.b32 %r8, 4, 16, %p8; mov.u32 %r9, 0;\n"
                "more: cp.async.cg.shared.global [%r7], [%rd3], 16, %r8;\n"
                "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 2; @%p1 bra more;\n"
                "cp.async.wait_all;\n" LOG_END,
                &config);
    const struct stats_site copy = count_of(&c, "cp.async", 0);
    CHECK_EQ(copy.global.requests, 2);
    CHECK_EQ(copy.global.sectors, 2 * 32);
    CHECK_EQ(copy.global.bytes, 2 * (31 * 16 + 4));
    CHECK_EQ(copy.global.least, 2 * ((31 * 16 + 4 + 31) / 32));
    CHECK_EQ(copy.shared.bytes, 2 * 512);
    CHECK_EQ(copy.shared.requests, 0);
    CHECK_EQ(c.s->bytes[AGENT_CP_ASYNC][SPACE_SHARED][STATS_WRITE], 2 * 512);
    CHECK_EQ(c.s->bytes[AGENT_CP_ASYNC][SPACE_GLOBAL][STATS_READ], 2 * (31 * 16 + 4));
    CHECK_EQ(count_op(&c, "cp.async").instructions, 2);
    CHECK_EQ(count_op(&c, "cp.async").count, 2);
    count_free(&c);
}

/* --- engines ------------------------------------------------------------------------------------------------------ */

#define INIT "@%p8 mbarrier.init.shared::cta.b64 [%r21], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;\n"
#define EXPECT(bytes) "@%p8 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], " bytes ";\n"

/* A box of 4 rows of 32 bytes for both CTAs: 128 bytes are read once, 256 arrive; then CTA 0 fetches another by itself,
 * and stores it. */
static void multicast(void) {
    struct counted c;
    count(&c, PAIR,
          MINE INIT "mov.b16 %h1, 3; add.u64 %rd5, %rd1, 8192; " EXPECT("128") LOG_CLUSTER_SYNC
          "setp.eq.u32 %p1, %r2, 0; and.pred %p1, %p1, %p8;\n"
          "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%r20], [%rd5, {0, 0}], [%r21], %h1;\n" LOG_WAIT("w", "%r21", "0") EXPECT(
              "128") "@%p8 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r20], [%rd5, "
                     "{0, 0}], "
                     "[%r21];\n" LOG_WAIT(
                         "v", "%r21",
                         "1") "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd5, {8, 8}], [%r20];\n"
                              "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n" LOG_CLUSTER_SYNC LOG_END);
    const struct stats_op loads = count_op(&c, "cp.async.bulk.tensor to shared memory"),
                          stores = count_op(&c, "cp.async.bulk.tensor to global memory");
    CHECK_EQ(loads.instructions, 3);
    CHECK_EQ(loads.count, 4);
    CHECK_EQ(loads.bytes, 512);
    CHECK_EQ(stores.instructions, 1);
    CHECK_EQ(stores.count, 1);
    CHECK_EQ(stores.bytes, 128);
    CHECK_EQ(c.s->bytes[AGENT_TMA][SPACE_GLOBAL][STATS_READ], 3 * 128);
    CHECK_EQ(c.s->multicast_saved, 128);
    CHECK_EQ(c.s->bytes[AGENT_TMA][SPACE_SHARED][STATS_WRITE], 4 * 128);
    CHECK_EQ(c.s->bytes[AGENT_TMA][SPACE_SHARED][STATS_READ], 128);
    CHECK_EQ(c.s->bytes[AGENT_TMA][SPACE_GLOBAL][STATS_WRITE], 128);
    CHECK_EQ(c.s->footprint_read, 128); /* the same box again and again */
    CHECK_EQ(c.s->footprint_written, 128);
    CHECK_EQ(c.s->mbar_inits, 2);
    CHECK_EQ(c.s->mbar_phases, 4);
    CHECK_EQ(c.s->mbar_arrivals, 4);
    CHECK_EQ(c.s->mbar_op_arrivals, 0);
    CHECK_EQ(c.s->mbar_bytes, 512);
    CHECK_EQ(count_kind(&c, STATS_COPY), 2 * 5);
    count_free(&c);
}

/* The same instruction again is no multicast. */
static void repeated(void) {
    struct counted c;
    count(&c, WARP,
          MINE INIT "mov.u32 %r9, 0; " EXPECT(
              "512") "more: @%p8 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r20], [%rd1], 256, "
                     "[%r21];\n"
                     "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 2; @%p1 bra more;\n" LOG_WAIT("w", "%r21", "0")
                         LOG_END);
    CHECK_EQ(count_op(&c, "cp.async.bulk to shared memory").instructions, 2);
    CHECK_EQ(c.s->multicast_saved, 0);
    CHECK_EQ(c.s->bytes[AGENT_BULK][SPACE_GLOBAL][STATS_READ], 512);
    CHECK_EQ(c.s->footprint_read, 256);
    count_free(&c);
}

/* D is 128 lanes by 8 columns of 4 bytes: 4 KiB, written by the first UMMA, updated by two. */
static void tensor_core(void) {
    struct counted c;
    count(&c, WARP,
          LOG_HEAD LOG_TENSOR "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, %p6;\n"
                              "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], %rd12, %rd13, %r14, %p8;\n"
                              "@%p8 tcgen05.cp.cta_group::1.128x256b [%r12+8], %rd12;\n"
                              "@%p8 tcgen05.mma.cta_group::1.kind::f16 [%r12], [%r12+8], %rd13, %r14, %p8;\n" LOG_COMMIT
                              "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30, %r31, %r32, %r33}, [%r12+2];\n"
                              "tcgen05.wait::ld.sync.aligned;\n" LOG_TENSOR_END);
    const uint64_t *core = c.s->bytes[AGENT_TENSOR_CORE][SPACE_TENSOR];
    CHECK_EQ(c.s->num_ummas, 1);
    CHECK_EQ(c.s->ummas[0].count, 3);
    CHECK_EQ(c.s->ummas[0].m, 128);
    CHECK_EQ(c.s->ummas[0].n, 8);
    CHECK_EQ(c.s->ummas[0].k, 16);
    CHECK_EQ(c.s->ummas[0].cta_group, 1);
    CHECK_EQ(c.s->ummas[0].kind_len, 3);
    CHECK(memcmp(c.s->ummas[0].kind, "f16", 3) == 0);
    CHECK_NEAR(c.s->ummas[0].flop, 3 * 2 * 128 * 8 * 16, 0);
    CHECK_EQ(core[STATS_WRITE], 3 * 4096);
    CHECK_EQ(core[STATS_READ], 2 * 4096 + 4096); /* and A, 128 lanes of 8 columns, once */
    CHECK_EQ(c.s->bytes[AGENT_TENSOR_CORE][SPACE_SHARED][STATS_READ], 2 * 4096 + 3 * 256);
    CHECK_EQ(c.s->bytes[AGENT_TENSOR_COPY][SPACE_SHARED][STATS_READ], 4096);
    CHECK_EQ(c.s->bytes[AGENT_TENSOR_COPY][SPACE_TENSOR][STATS_WRITE], 4096);
    CHECK_EQ(c.s->bytes[AGENT_TENSOR_LDST][SPACE_TENSOR][STATS_READ], 32 * 4 * 4);
    CHECK_EQ(c.s->bytes[AGENT_TENSOR_ALLOC][SPACE_SHARED][STATS_WRITE], 4);
    CHECK_EQ(c.s->mbar_op_arrivals, 1);
    CHECK_EQ(c.s->mbar_phases, 1);
    CHECK_EQ(count_op(&c, "tcgen05.mma").count, 3);
    count_free(&c);
}

/* --- waits -------------------------------------------------------------------------------------------------------- */

/* test_wait asks once and is told "not yet"; try_wait of warp 1 waits until warp 0 has arrived. */
static void polls(void) {
    struct counted c;
    count(&c, (struct run_shape){.block = 64},
          MINE INIT "bar.sync 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra other;\n"
                    "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r21], 0;\n"
                    "nanosleep.u32 100; nanosleep.u32 100; nanosleep.u32 100;\n"
                    "@%p8 mbarrier.arrive.shared::cta.b64 _, [%r21]; bra done;\n"
                    "other:" LOG_WAIT("w", "%r21", "0") "done: bar.sync 0;\n" LOG_END);
    const struct stats_site test = count_of(&c, "mbarrier.test_wait", 0), wait = count_of(&c, "mbarrier.try_wait", 0);
    CHECK_EQ(test.polls, 1);
    CHECK_EQ(test.failed, 1);
    CHECK_EQ(test.waits, 0);
    CHECK_EQ(wait.polls, wait.failed + 1);
    CHECK_EQ(wait.waits, 1);
    CHECK_EQ(c.s->mbar_polls, test.polls + wait.polls);
    CHECK_EQ(c.s->mbar_failed, test.failed + wait.failed);
    CHECK_EQ(c.s->mbar_waits, 1);
    CHECK_EQ(c.s->mbar_arrivals, 1);
    CHECK_EQ(c.s->bar_phases, 2);
    count_free(&c);
}

int main(void) {
    divergence();
    exited();
    kinds();
    shared();
    matrices();
    others();
    global();
    copies_of_threads();
    multicast();
    repeated();
    tensor_core();
    polls();
    return check_report();
}
