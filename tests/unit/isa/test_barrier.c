/* bar, barrier, barrier.cluster and fences (PTX ISA 9.7.13.1, .3, .4) run as PTX. */
#include "unit/run_ptx.h"

/* %r1 thread, %r2 warp, %r3 lane, x: a word per thread of shared memory at %r20, own word at %r21. */
#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<9>; .shared .align 4 .b32 x[1024];\n"                           \
    "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; mov.u32 %r20, x; shl.b32 %r4, %r1, "              \
    "2;\n"                                                                                                             \
    "add.u32 %r21, %r20, %r4; ld.param.u64 %rd1, [out]; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x;\n"                \
    "mad.lo.u32 %r7, %r5, %r6, %r1; mul.wide.u32 %rd2, %r7, 4; add.s64 %rd2, %rd1, %rd2;\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    HEAD("reverse") /* every thread reads what another warp wrote */
    "st.shared.u32 [%r21], %r1; bar.sync 0; sub.u32 %r8, %r6, %r1; sub.u32 %r8, %r8, 1; "
    "shl.b32 %r8, %r8, 2;\n"
    "add.u32 %r8, %r20, %r8; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd2], %r9; ret; }\n"
    HEAD("loop") /* 10 generations, one after the other */
    "mov.u32 %r10, 0; mov.u32 %r11, 0; st.shared.u32 [%r21], 0; bar.sync 3;\n"
    "top: xor.b32 %r12, %r1, 32; shl.b32 %r12, %r12, 2; add.u32 %r12, %r20, %r12; "
    "ld.shared.u32 %r13, [%r12]; bar.sync 3;\n"
    "add.u32 %r13, %r13, 1; st.shared.u32 [%r21], %r13; bar.sync 3; add.u32 %r10, %r10, 1; "
    "setp.lt.u32 %p1, %r10, 10; @%p1 bra top;\n"
    "st.global.u32 [%rd2], %r13; ret; }\n"
    HEAD("exited") /* warp 0 has left: the others do not wait for it */
    "setp.eq.u32 %p1, %r2, 0; @%p1 exit; st.shared.u32 [%r21], %r1; bar.sync 0; xor.b32 %r8, %r21, 128; "
    "setp.eq.u32 %p2, %r2, 1;\n"
    "@%p2 bra done; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd2], %r9; done: ret; }\n"
    HEAD("late_exit") /* warp 0 leaves while the others wait already */
    "setp.eq.u32 %p1, %r2, 0; @%p1 bra slow; bar.sync 0; st.global.u32 [%rd2], 1; ret;\n"
    "slow: nanosleep.u32 100; nanosleep.u32 100; nanosleep.u32 100; exit; }\n"
    HEAD("pairs") /* producer arrives, consumer waits; counts of 64 */
    "setp.ne.u32 %p1, %r2, 0; @%p1 bra consume; st.shared.u32 [%r21], %r3; bar.arrive 1, 64; ret;\n"
    "consume: bar.sync 1, 64; shl.b32 %r8, %r3, 2; add.u32 %r8, %r20, %r8; ld.shared.u32 %r9, [%r8]; "
    "st.global.u32 [%rd2], %r9; ret; }\n"
    HEAD("reduce")
    "setp.lt.u32 %p1, %r1, 40; bar.red.popc.u32 %r8, 2, %p1; bar.red.popc.u32 %r9, 2, !%p1; "
    "setp.lt.u32 %p2, %r1, 1000;\n"
    "bar.red.and.pred %p3, 2, %p1; bar.red.or.pred %p4, 2, %p1; bar.red.and.pred %p5, 2, %p2; "
    "barrier.cta.red.or.aligned.pred %p6, 2, 128, !%p2;\n"
    "selp.u32 %r10, 1, 0, %p3; selp.u32 %r11, 2, 0, %p4; selp.u32 %r12, 4, 0, %p5; "
    "selp.u32 %r13, 8, 0, %p6;\n"
    "add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; add.u32 %r10, %r10, %r13; "
    "mad.lo.u32 %r8, %r8, 1000, %r9; mad.lo.u32 %r8, %r8, 100, %r10;\n"
    "st.global.u32 [%rd2], %r8; ret; }\n"
    HEAD("diverged") /* barrier without .aligned: the lanes of a warp come from two sides of a branch and by a guard */
    "and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 0; st.shared.u32 [%r21], %r1; @%p1 bra even; "
    "add.u32 %r9, %r1, 7; even:\n"
    "@%p1 nanosleep.u32 20; barrier.sync 0; xor.b32 %r10, %r21, 128; ld.shared.u32 %r11, [%r10]; "
    "st.global.u32 [%rd2], %r11; ret; }\n"
    HEAD("arms") /* the lanes of a warp arrive, and wait, at barriers of their own in the two arms of a branch */
    "and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 0; st.shared.u32 [%r21], %r1; xor.b32 %r10, %r21, 128; @%p1 bra even;\n"
    "barrier.sync 4; ld.shared.u32 %r11, [%r10]; barrier.arrive 5, 64; barrier.sync 6, 64; bra done;\n"
    "even: nanosleep.u32 20; barrier.sync 4; ld.shared.u32 %r11, [%r10]; add.u32 %r11, %r11, 1000;"
    "barrier.arrive 5, 64; barrier.sync 6, 64;\n"
    "done: st.global.u32 [%rd2], %r11; ret; }\n"
    HEAD("arms_red") /* and each arm takes the result into its own register */
    "and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 0; setp.lt.u32 %p2, %r1, 40; mov.u32 %r9, 4; @%p1 bra even;\n"
    "barrier.red.popc.u32 %r10, %r9, %p2; bra done; even: barrier.red.popc.u32 %r11, 4, !%p2;\n"
    "add.u32 %r10, %r11, 100; done: st.global.u32 [%rd2], %r10; ret; }\n"
    HEAD("two_numbers")
    "setp.lt.u32 %p1, %r3, 16; @%p1 bra other; barrier.sync 4; ret; other: barrier.sync 5; ret; }\n"
    HEAD("two_kinds") /* hangs on an H100 */
    "setp.lt.u32 %p1, %r3, 16; @%p1 bra other; barrier.sync 4, 64; ret; other: barrier.arrive 4, 64; ret; }\n"
    HEAD("split") /* an aligned barrier after lanes left at different depths */
    "setp.eq.u32 %p1, %r3, 5; @%p1 bra out1; setp.eq.u32 %p2, %r3, 9; @%p2 bra out2; "
    "out0: st.shared.u32 [%r21], %r1; bar.sync 0;\n"
    "xor.b32 %r10, %r21, 128; ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2], %r11; ret; "
    "out1: nanosleep.u32 50; out2: bra out0; }\n"
    HEAD("riders") /* lanes at one aligned barrier that are to meet again at different places */
    "st.shared.u32 [%r21], %r1; mov.u32 %r12, 0; and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 1;\n"
    "and.b32 %r9, %r1, 3; setp.eq.u32 %p2, %r9, 0; setp.gt.u32 %p3, %r1, 5000;\n"
    "@%p1 bra b; @%p3 bra end; @%p2 bra b; @%p3 bra m; nanosleep.u32 20;\n"
    "b: bar.sync 0; xor.b32 %r10, %r21, 128; ld.shared.u32 %r12, [%r10];\n"
    "m: add.u32 %r12, %r12, 1; end: st.global.u32 [%rd2], %r12; ret; }\n"
    HEAD("guard_red") /* the lanes that a guard leaves out do not arrive; they exit */
    "setp.lt.u32 %p1, %r3, 16; setp.lt.u32 %p2, %r1, 5000; @%p1 barrier.cta.red.popc.u32 %r8, 2, %p2;\n"
    "@!%p1 exit; st.global.u32 [%rd2], %r8; ret; }\n"
    HEAD("register")
    "mov.u32 %r8, 9; mov.u32 %r9, 64; barrier.sync %r8, %r9; st.global.u32 [%rd2], 1; ret; }\n"
    HEAD("number")
    "mov.u32 %r8, 16; bar.sync %r8; ret; }\n"
    HEAD("count")
    "bar.sync 0, 33; ret; }\n"
    HEAD("mismatch")
    "setp.eq.u32 %p1, %r2, 0; @%p1 bra other; bar.sync 0, 64; ret; other: bar.sync 0, 96; ret; }\n"
    HEAD("dead")
    "setp.eq.u32 %p1, %r2, 0; @%p1 bra other; bar.sync 0, 64; ret; other: bar.sync 1, 64; ret; }\n"
    HEAD("guarded")
    "setp.lt.u32 %p1, %r3, 16; @%p1 bar.sync 0; ret; }\n"
    HEAD("poison")
    "bar.sync %r30; ret; }\n"
    HEAD("fences")
    "membar.cta; membar.gl; membar.sys; fence.sc.cta; fence.acq_rel.gpu; fence.acquire.cluster; "
    "fence.release.sys; fence.cta;\n"
    "fence.proxy.alias; fence.proxy.async; fence.proxy.async.global; fence.proxy.async.shared::cta; "
    "fence.proxy.async.shared::cluster;\n"
    "fence.mbarrier_init.release.cluster; fence.acquire.sync_restrict::shared::cluster.cluster; "
    "fence.release.sync_restrict::shared::cta.cluster;\n"
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; membar.proxy.alias;\n"
    "fence.proxy.tensormap::generic.release.gpu; "
    "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128; st.global.u32 [%rd2], 1; ret; }\n"
    HEAD("fence_bad")
    "fence.mbarrier_init.release.cta; ret; }\n"
    HEAD("fence_range")
    "cvta.shared.u64 %rd3, x; fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128; ret; }\n";
/* clang-format on */

/* clang-format off */
#define ROUND(label, rounds)                                                                                           \
    label ": add.u32 %r13, %r12, %r5; st.shared::cluster.u32 [%r11], %r13; barrier.cluster.arrive; "                   \
    "barrier.cluster.wait; ld.shared.u32 %r15, [%r21]; mad.lo.u32 %r14, %r14, 10, %r15;\n"                             \
    "barrier.cluster.arrive; barrier.cluster.wait; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, " rounds ";\n"        \
    "@%p2 bra " label "; st.global.u32 [%rd2], %r14; ret;\n"
static const char cluster[] = RUN_HEADER
    HEAD("apart") /* odd and even threads arrive and wait in instructions of their own; the odd ones leave earlier */
    "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1; mapa.shared::cluster.u32 %r11, %r21, %r8; mov.u32 %r12, 0;\n"
    "mov.u32 %r14, 0; and.b32 %r9, %r3, 1; setp.eq.u32 %p1, %r9, 1; @%p1 bra odd;\n"
    ROUND("even", "3") ROUND("odd", "2") "}\n"
    HEAD("ring") /* five rounds around the cluster through each other's shared memory */
    "mov.u32 %r8, %cluster_ctarank; mov.u32 %r9, %cluster_nctarank; add.u32 %r10, %r8, 1; "
    "rem.u32 %r10, %r10, %r9;\n"
    "mapa.shared::cluster.u32 %r11, %r21, %r10; mov.u32 %r12, 0; mov.u32 %r13, %r8;\n"
    "top: st.shared::cluster.u32 [%r11], %r13; barrier.cluster.arrive.release.aligned; "
    "barrier.cluster.wait.acquire.aligned;\n"
    "ld.shared.u32 %r13, [%r21]; fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; "
    "barrier.cluster.wait; add.u32 %r12, %r12, 1;\n"
    "setp.lt.u32 %p1, %r12, 5; @%p1 bra top; st.global.u32 [%rd2], %r13; ret; }\n"
    HEAD("arrive_exit") /* warp 1 arrives and leaves; rank 1's warp 0 leaves without arriving */
    "mov.u32 %r8, %cluster_ctarank; setp.eq.u32 %p1, %r2, 1; setp.eq.u32 %p2, %r8, 1; @%p1 bra leave; "
    "@%p2 bra gone;\n"
    "barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%rd2], 1; ret; "
    "leave: barrier.cluster.arrive; ret;\n"
    "gone: nanosleep.u32 10; nanosleep.u32 10; ret; }\n"
    HEAD("twice")
    "barrier.cluster.arrive; barrier.cluster.arrive; ret; }\n"
    HEAD("nowait")
    "barrier.cluster.wait; ret; }\n"
    HEAD("remote_gone") /* rank 0 reads rank 1's memory after rank 1 has exited */
    "mov.u32 %r8, %cluster_ctarank; setp.eq.u32 %p1, %r8, 1; @%p1 exit; "
    "mapa.shared::cluster.u32 %r9, %r21, 1; mov.u32 %r12, 0;\n"
    "top: nanosleep.u32 100; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 50; @%p2 bra top; "
    "ld.shared::cluster.u32 %r10, [%r9]; ret; }\n"
    HEAD("dead")
    "mov.u32 %r8, %cluster_ctarank; setp.eq.u32 %p1, %r8, 1; @%p1 bra other; barrier.cluster.arrive; "
    "barrier.cluster.wait; ret; other: bar.sync 0, 1024; ret; }\n";
/* clang-format on */

static void test_cta(struct run *r) {
    uint64_t out = run_alloc(r, 4096);
    uint32_t *v = run_at(r, out, 4096);
    if (run_ok(r, "reverse", (struct run_shape){.block = 1000}, 1, &out))
        for (unsigned i = 0; i < 1000; i++)
            CHECK_EQ(v[i], 999 - i);
    if (run_ok(r, "loop", (struct run_shape){.block = 128}, 1, &out))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(v[i], 10);
    memset(v, 0xee, 4096);
    if (run_ok(r, "exited", (struct run_shape){.block = 128}, 1, &out))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(v[i], i < 64 ? 0xeeeeeeee : i ^ 32);
    if (run_ok(r, "late_exit", (struct run_shape){.block = 96}, 1, &out))
        for (unsigned i = 32; i < 96; i++)
            CHECK_EQ(v[i], 1);
    if (run_ok(r, "pairs", (struct run_shape){.block = 64}, 1, &out))
        for (unsigned i = 32; i < 64; i++)
            CHECK_EQ(v[i], i - 32);
    if (run_ok(r, "diverged", (struct run_shape){.block = 64}, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], i ^ 32);
    if (run_ok(r, "arms", (struct run_shape){.block = 64}, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], (i ^ 32) + (i % 2 ? 0 : 1000));
    memset(v, 0, 4096);
    if (run_ok(r, "split", (struct run_shape){.block = 64}, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], i ^ 32);
    if (run_ok(r, "riders", (struct run_shape){.block = 64}, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], (i ^ 32) + 1);
    CHECK(run_ok(r, "register", (struct run_shape){.block = 64}, 1, &out) && v[63] == 1);
    memset(v, 0, 4096);
    CHECK(run_ok(r, "fences", (struct run_shape){.block = 1}, 1, &out) && v[0] == 1);
}

static void test_reductions(struct run *r) {
    const uint64_t out = run_alloc(r, 4096);
    uint32_t *v = run_at(r, out, 4096);
    if (run_ok(r, "reduce", (struct run_shape){.block = 128}, 1, &out))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(v[i], (40 * 1000 + 88) * 100 + 2 + 4);
    if (run_ok(r, "arms_red", (struct run_shape){.block = 64}, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], 20 + 12 + (i % 2 ? 0 : 100));
    memset(v, 0, 4096);
    if (run_ok(r, "guard_red", (struct run_shape){.block = 64}, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], i % 32 < 16 ? 32 : 0);
}

static void test_cta_faults(struct run *r) {
    const uint64_t out = run_alloc(r, 4096);
    static const char *const faults[][2] = {
        {"number", "barrier-number"},      {"count", "barrier-count"},
        {"mismatch", "barrier-count"},     {"dead", "waits at barrier"},
        {"guarded", "aligned-diverged"},   {"poison", "the barrier number"},
        {"fence_bad", "unsupported"},      {"fence_range", "fence-tensormap-address"},
        {"two_numbers", "barrier-number"}, {"two_kinds", "a thread at a barrier waits"}};
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!run_faults(r, faults[i][0], (struct run_shape){.block = 64}, 1, &out, faults[i][1]))
            fprintf(stderr, "in kernel %s\n", faults[i][0]);
}

static void test_cluster(struct run *r) {
    uint64_t out = run_alloc(r, 4096);
    uint32_t *v = run_at(r, out, 4096);
    struct run_shape two = {.grid = 2, .block = 64, .cluster = 2};
    if (run_ok(r, "ring", (struct run_shape){.grid = 8, .block = 64, .cluster = 8}, 1, &out))
        for (unsigned i = 0; i < 512; i++)
            CHECK_EQ(v[i], (i / 64 + 8 - 5) % 8);
    if (run_ok(r, "apart", two, 1, &out))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(v[i], i < 64 ? (i % 2 ? 12 : 123) : (i % 2 ? 1 : 12));
    memset(v, 0, 4096);
    if (run_ok(r, "arrive_exit", two, 1, &out))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(v[i], i < 32);
    run_faults(r, "twice", two, 1, &out, "barrier-cluster-arrive-twice");
    run_faults(r, "nowait", two, 1, &out, "barrier-cluster-wait-without-arrive");
    run_faults(r, "remote_gone", two, 1, &out, "shared-cta-exited");
    run_faults(r, "dead", two, 1, &out, "cluster barrier");
}

/* The same under every order of execution. */
static void test_schedules(void) {
    static const enum mach_schedule order[] = {MACH_SCHED_DEFAULT, MACH_SCHED_EAGER, MACH_SCHED_LAZY, MACH_SCHED_RANDOM,
                                               MACH_SCHED_RANDOM};
    for (unsigned i = 0; i < 5; i++) {
        struct mach_config c = mach_config_b200();
        struct run r;
        c.watchdog = 100000000;
        c.schedule = order[i];
        c.seed = i + 7;
        if (run_open_config(&r, text, &c)) {
            test_cta(&r);
            test_reductions(&r);
            test_cta_faults(&r);
        }
        run_close(&r);
        if (run_open_config(&r, cluster, &c))
            test_cluster(&r);
        run_close(&r);
    }
}

int main(void) {
    test_schedules();
    return check_report();
}
