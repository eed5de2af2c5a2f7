/* The mbarrier instructions (PTX ISA 9.7.13.15) run as PTX. */
#include "unit/run_ptx.h"

/* %r1 thread, %r2 warp, %r3 lane; mb: 8 barriers at %r20 (generic %rd20); x: a word per thread at %r22. */
#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<30>; .shared .align 8 .b64 mb[8]; .shared .align 4 "            \
    ".b32 x[1024];\n"                                                                                                  \
    "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; mov.u32 %r20, mb; mov.u32 %r21, x; "              \
    "shl.b32 %r4, %r1, 2;\n"                                                                                           \
    "add.u32 %r22, %r21, %r4; cvta.shared.u64 %rd20, mb; ld.param.u64 %rd1, [out]; mov.u32 %r5, %ctaid.x; "            \
    "mov.u32 %r6, %ntid.x;\n"                                                                                          \
    "mad.lo.u32 %r7, %r5, %r6, %r1; mul.wide.u32 %rd2, %r7, 4; add.s64 %rd2, %rd1, %rd2; setp.eq.u32 %p8, "            \
    "%r1, 0;\n"

/* Waits for parity `par` of [addr] */
#define WAIT(label, addr, par)                                                                                         \
    label ": mbarrier.try_wait.parity.shared::cta.b64 %p7, [" addr "], " par "; @!%p7 bra " label ";\n"
/* Barriers 0 and 1, of one arrival */
#define INIT_BOTH "@%p8 mbarrier.init.shared.b64 [mb], 1; @%p8 mbarrier.init.shared.b64 [mb+8], 1; bar.sync 0;\n"
#define INIT(addr, count) "@%p8 mbarrier.init.shared::cta.b64 [" addr "], " count "; bar.sync 0;\n"
/* Warp 1 waits for a phase; warp 0 completes it and the next at once. */
#define MISSED(poll)                                                                                                   \
    INIT_BOTH "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; nanosleep.u32 10; nanosleep.u32 10; "                         \
              "@%p8 mbarrier.arrive.shared.b64 _, [mb]; @%p8 mbarrier.arrive.shared.b64 _, [mb]; ret;\n"               \
              "waiter: mbarrier." poll ".parity.shared.b64 %p4, [mb], 0; @!%p4 bra waiter; st.global.u32 [%rd2], 6; "  \
              "ret; }\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    HEAD("phases") /* 64 threads, 9 phases; each reads what the other warp wrote in the phase before */
    INIT("%r20", "64")
    "mov.u32 %r10, 0; mov.u32 %r11, 0; st.shared.u32 [%r22], 0;\n"
    "top: and.b32 %r12, %r10, 1; mbarrier.arrive.shared::cta.b64 _, [%r20];\n"
    WAIT("w", "%r20", "%r12")
    "xor.b32 %r13, %r1, 32; shl.b32 %r13, %r13, 2; add.u32 %r13, %r21, %r13; "
    "ld.shared.u32 %r14, [%r13]; bar.sync 0; add.u32 %r14, %r14, 1; st.shared.u32 [%r22], %r14; "
    "add.u32 %r10, %r10, 1;\n"
    "setp.lt.u32 %p1, %r10, 9; @%p1 bra top; st.global.u32 [%rd2], %r14; ret; }\n"
    HEAD("apart") /* one instruction arrives at two objects */
    "@%p8 mbarrier.init.shared.b64 [mb], 32; @%p8 mbarrier.init.shared.b64 [mb+8], 32; bar.sync 0;\n"
    "and.b32 %r9, %r3, 1; shl.b32 %r9, %r9, 3; add.u32 %r9, %r9, %r20; mbarrier.arrive.shared::cta.b64 _, [%r9];\n"
    WAIT("w", "%r9", "0")
    "st.global.u32 [%rd2], 1; ret; }\n"
    HEAD("state") /* generic addresses, the state form, test_wait polling, pending_count */
    "@%p8 mbarrier.init.b64 [%rd20], 97; bar.sync 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra late; "
    "mov.u32 %r9, 1; mbarrier.arrive.b64 %rd5, [%rd20], %r9;\n"
    "poll: mbarrier.test_wait.acquire.cta.b64 %p2, [%rd20], %rd5; @!%p2 bra poll; "
    "ld.shared.u32 %r10, [x]; st.global.u32 [%rd2], %r10; ret;\n"
    "late: nanosleep.u32 100; @%p8 st.shared.u32 [x], 4321; bar.warp.sync -1; "
    "mbarrier.arrive.noComplete.release.cta.shared.b64 %rd6, [mb], 1;\n"
    "mbarrier.pending_count.b64 %r11, %rd6; st.global.u32 [%rd2], %r11; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb]; ret; }\n"
    HEAD("lastone") /* as above, but one arrival of .noComplete too many */
    "@%p8 mbarrier.init.b64 [%rd20], 32; bar.sync 0; mbarrier.arrive.noComplete.b64 %rd6, [%rd20], 1; "
    "ret; }\n"
    HEAD("bytes") /* one thread expects, another warp completes in pieces */
    INIT("%r20", "1")
    "setp.eq.u32 %p1, %r1, 0; "
    "@%p1 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd5, [%r20], 4096; bar.sync 0;\n"
    "setp.eq.u32 %p2, %r2, 1; @%p2 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r20], 128; "
    "@%p2 bra done;\n"
    WAIT("w", "%r20", "0")
    "done: st.global.u32 [%rd2], 1; ret; }\n"
    HEAD("drop") /* warp 0 leaves the barrier after the first phase */
    INIT("%r20", "64")
    "setp.eq.u32 %p1, %r2, 0; @!%p1 bra stay; mbarrier.arrive_drop.shared::cta.b64 _, [%r20]; ret;\n"
    "stay: mbarrier.arrive.shared::cta.b64 %rd5, [%r20];\n"
    WAIT("w", "%r20", "0")
    "mbarrier.arrive.shared::cta.b64 %rd5, [%r20];\n"
    WAIT("w2", "%r20", "1")
    "st.global.u32 [%rd2], 7; ret; }\n"
    HEAD("lanes") /* lanes of one warp wait on different barriers of one instruction; barrier l % 4 completes in turn */
    "setp.lt.u32 %p1, %r1, 4; shl.b32 %r9, %r1, 3; add.u32 %r9, %r20, %r9; "
    "@%p1 mbarrier.init.shared.b64 [%r9], 1; bar.sync 0;\n"
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; mov.u32 %r10, 4;\n"
    "next: sub.u32 %r10, %r10, 1; nanosleep.u32 10; shl.b32 %r11, %r10, 3; add.u32 %r11, %r20, %r11; "
    "@%p8 mbarrier.arrive.shared.b64 _, [%r11];\n"
    "setp.ne.u32 %p3, %r10, 0; @%p3 bra next; ret;\n"
    "waiter: and.b32 %r12, %r1, 3; shl.b32 %r12, %r12, 3; add.u32 %r12, %r20, %r12;\n"
    WAIT("w", "%r12", "0")
    "st.global.u32 [%rd2], %r3; ret; }\n"
    HEAD("reuse")
    "@%p8 mbarrier.init.shared.b64 [mb], 1; @%p8 mbarrier.inval.shared.b64 [mb]; bar.sync 0; "
    "@%p8 mbarrier.init.shared.b64 [mb], 2; @%p8 mbarrier.arrive.shared.b64 _, [mb], 2;\n"
    "bar.sync 0;\n"
    WAIT("w", "%r20", "0")
    "st.global.u32 [%rd2], 1; ret; }\n"
    HEAD("timeout") /* try_wait answers false in the end: the program can go on */
    INIT("%r20", "2")
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r20], 0, 1000; selp.u32 %r9, 1, 2, %p1; "
    "st.global.u32 [%rd2], %r9; ret; }\n"
    HEAD("previous")
    INIT("%r20", "2")
    WAIT("w", "%r20", "1")
    "st.global.u32 [%rd2], 5; ret; }\n"
    HEAD("guard_wait") /* the lanes a guard leaves out bring the arrival */
    INIT("%r20", "16")
    "setp.lt.u32 %p1, %r3, 16; @%p1 mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r20], 0, 1000; "
    "@!%p1 mbarrier.arrive.shared.b64 _, [%r20];\n"
    "mov.u32 %r9, 1; @%p1 selp.u32 %r9, 1, 0, %p2; st.global.u32 [%rd2], %r9; ret; }\n"
    HEAD("dead_try")
    INIT("%r20", "3")
    "@%p8 mbarrier.arrive.shared.b64 _, [%r20];\n"
    WAIT("w", "%r20", "0")
    "ret; }\n"
    HEAD("dead_test")
    INIT("%r20", "3")
    "@%p8 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 48;\n"
    "w: mbarrier.test_wait.parity.shared.b64 %p1, [%r20], 0; @!%p1 bra w; ret; }\n"
    HEAD("uninit")
    "mbarrier.arrive.shared.b64 _, [%r20]; ret; }\n"
    HEAD("count")
    "mbarrier.init.shared.b64 [%r20], 0; ret; }\n"
    HEAD("live")
    "add.u32 %r10, %r1, 1; mbarrier.init.shared.b64 [%r20], %r10; ret; }\n"
    HEAD("many")
    INIT("%r20", "31")
    "mbarrier.arrive.shared.b64 _, [%r20], 2; ret; }\n"
    HEAD("txrange")
    INIT("%r20", "1")
    "mbarrier.expect_tx.shared.b64 [%r20], 1048575; ret; }\n"
    HEAD("overwritten")
    INIT("%r20", "1")
    "@%p8 st.shared.u64 [%r20], 0; @%p8 mbarrier.arrive.shared.b64 _, [%r20]; ret; }\n"
    HEAD("parity")
    INIT("%r20", "1")
    "mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 2; ret; }\n"
    HEAD("misaligned")
    "mbarrier.init.shared.b64 [%r20+4], 1; ret; }\n"
    HEAD("global")
    "mbarrier.init.b64 [%rd1], 1; ret; }\n"
    HEAD("poison")
    "mbarrier.init.shared.b64 [%r30], 1; ret; }\n"
    HEAD("poison_count")
    "mbarrier.init.shared.b64 [%r20], %r30; ret; }\n"
    HEAD("wait_cluster")
    "mbarrier.try_wait.parity.shared::cluster.b64 %p1, [%r20], 0; ret; }\n"
    HEAD("state_cluster")
    "mbarrier.arrive.shared::cluster.b64 %rd5, [%r20]; ret; }\n"
    HEAD("sem_alone")
    "mbarrier.arrive.release.shared.b64 _, [%r20]; ret; }\n"
    HEAD("quiet") /* 500 phases of another barrier pass before the one that 31 warps wait for */
    INIT_BOTH
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; mov.u32 %r10, 500;\n"
    "next: nanosleep.u32 10; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; sub.u32 %r10, %r10, 1; "
    "setp.ne.u32 %p3, %r10, 0; @%p3 bra next; @%p8 mbarrier.arrive.shared.b64 _, [mb];\n"
    "waiter:\n"
    WAIT("w", "%r20", "0")
    "mov.u64 %rd9, %clock64; cvt.u32.u64 %r9, %rd9; st.global.u32 [%rd2], %r9; ret; }\n"
    HEAD("quiet_bar") /* the same while they wait at a barrier of the CTA, the last for a warp that exits */
    INIT_BOTH
    "setp.eq.u32 %p2, %r2, 0; @!%p2 bra waiter; mov.u32 %r10, 500;\n"
    "next: nanosleep.u32 10; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; sub.u32 %r10, %r10, 1; "
    "setp.ne.u32 %p3, %r10, 0; @%p3 bra next; bar.sync 0; ret;\n"
    "waiter: bar.sync 0; bar.sync 0; "
    "mov.u64 %rd9, %clock64; cvt.u32.u64 %r9, %rd9; st.global.u32 [%rd2], %r9; ret; }\n"
    HEAD("quiet_cluster")
    INIT_BOTH
    "setp.eq.u32 %p2, %r2, 0; @!%p2 bra waiter; mov.u32 %r10, 500;\n"
    "next: nanosleep.u32 10; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; sub.u32 %r10, %r10, 1; "
    "setp.ne.u32 %p3, %r10, 0; @%p3 bra next; barrier.cluster.arrive; barrier.cluster.wait; ret;\n"
    "waiter: barrier.cluster.arrive; barrier.cluster.wait; barrier.cluster.arrive; barrier.cluster.wait; "
    "mov.u64 %rd9, %clock64; cvt.u32.u64 %r9, %rd9; st.global.u32 [%rd2], %r9; ret; }\n"
    HEAD("missed_try") MISSED("try_wait")
    HEAD("missed_test") MISSED("test_wait")
    HEAD("missed_lanes") /* the same of lanes that wait for two objects */
    INIT_BOTH
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; nanosleep.u32 10; nanosleep.u32 10; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb]; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb]; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; ret;\n"
    "waiter: and.b32 %r9, %r3, 1; shl.b32 %r9, %r9, 3; add.u32 %r9, %r20, %r9;\n"
    WAIT("w", "%r9", "0")
    "st.global.u32 [%rd2], 6; ret; }\n"
    HEAD("anew") /* a wait for a third phase, behind another wait: nothing is missed */
    INIT_BOTH
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb+8]; nanosleep.u32 10; nanosleep.u32 10; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb]; nanosleep.u32 10; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; ret;\n"
    "waiter:\n"
    WAIT("w", "%r20", "0")
    WAIT("w2", "mb+8", "0")
    "st.global.u32 [%rd2], 6; ret; }\n"
    HEAD("moved") /* while others wait for barrier 7, barrier 0 is invalidated, and initialised again */
    "setp.lt.u32 %p1, %r1, 8; shl.b32 %r9, %r1, 3; add.u32 %r9, %r20, %r9; "
    "@%p1 mbarrier.init.shared.b64 [%r9], 1; bar.sync 0;\n"
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; nanosleep.u32 10; @%p8 mbarrier.inval.shared.b64 [mb]; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb+8]; nanosleep.u32 10; @%p8 mbarrier.init.shared.b64 [mb], 1; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb+16]; nanosleep.u32 10; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb+56];\n"
    "waiter:\n"
    WAIT("w", "mb+56", "0")
    "st.global.u32 [%rd2], 3; ret; }\n"
    HEAD("gone") /* the barrier that a warp waits for is invalidated */
    INIT_BOTH
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; nanosleep.u32 10; nanosleep.u32 10; "
    "@%p8 mbarrier.inval.shared.b64 [mb]; @%p8 mbarrier.arrive.shared.b64 _, [mb+8]; ret;\n"
    "waiter:\n"
    WAIT("w", "%r20", "0")
    "ret; }\n"
    HEAD("trampled") /* or its bytes are changed, though not its phase */
    INIT_BOTH
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; nanosleep.u32 10; nanosleep.u32 10; "
    "ld.shared.u64 %rd9, [mb]; add.s64 %rd9, %rd9, 1; @%p8 st.shared.u64 [mb], %rd9; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb+8]; ret;\n"
    "waiter:\n"
    WAIT("w", "%r20", "0")
    "ret; }\n"
    HEAD("either") /* test_wait of two barriers in turn: the wait for one ends with the other's phase */
    INIT_BOTH
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra waiter; mov.u32 %r10, 40;\n"
    "next: nanosleep.u32 10; sub.u32 %r10, %r10, 1; setp.ne.u32 %p3, %r10, 0; @%p3 bra next; "
    "@%p8 mbarrier.arrive.shared.b64 _, [mb+8]; ret;\n"
    "waiter: mbarrier.test_wait.parity.shared.b64 %p4, [mb], 0; @%p4 bra done; "
    "mbarrier.test_wait.parity.shared.b64 %p5, [mb+8], 0; @!%p5 bra waiter;\n"
    "done: mov.u64 %rd9, %clock64; cvt.u32.u64 %r9, %rd9; st.global.u32 [%rd2], %r9; ret; }\n";
/* clang-format on */

/* clang-format off */
static const char cluster[] = RUN_HEADER
    HEAD("remote") /* all CTAs arrive at rank 0's barrier; rank 0 waits, then rank 0 sends bytes to all */
    "mov.u32 %r8, %cluster_ctarank; mov.u32 %r9, %cluster_nctarank; mul.lo.u32 %r10, %r9, 32; "
    "@%p8 mbarrier.init.shared::cta.b64 [%r20], %r10;\n"
    "@%p8 mbarrier.init.shared::cta.b64 [mb+8], 1; @%p8 fence.mbarrier_init.release.cluster; "
    "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n"
    "mapa.shared::cluster.u32 %r11, %r20, 0; "
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11]; "
    "@%p8 mbarrier.arrive.expect_tx.shared.b64 _, [mb+8], 32;\n"
    "setp.ne.u32 %p1, %r8, 0; @%p1 bra rest;\n"
    WAIT("w", "%r20", "0")
    "setp.lt.u32 %p2, %r1, %r9; add.u32 %r13, %r20, 8; mapa.shared::cluster.u32 %r12, %r13, %r1; "
    "@%p2 mbarrier.complete_tx.shared::cluster.b64 [%r12], 32;\n"
    "rest: \n"
    WAIT("w2", "mb+8", "0")
    "st.global.u32 [%rd2], 1; barrier.cluster.arrive; barrier.cluster.wait; ret; }\n"
    HEAD("remote_generic") /* generic addresses reach other CTAs, without a state */
    "@%p8 mbarrier.init.b64 [%rd20], 1; barrier.cluster.arrive; barrier.cluster.wait; "
    "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1;\n"
    "mapa.u64 %rd5, %rd20, %r8; @%p8 mbarrier.arrive.release.cluster.b64 _, [%rd5];\n"
    WAIT("w", "%r20", "0")
    "st.global.u32 [%rd2], 1; barrier.cluster.arrive; barrier.cluster.wait; ret; }\n"
    HEAD("remote_state")
    "@%p8 mbarrier.init.b64 [%rd20], 1; barrier.cluster.arrive; barrier.cluster.wait; "
    "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1;\n"
    "mapa.u64 %rd5, %rd20, %r8; @%p8 mbarrier.arrive.release.cluster.b64 %rd6, [%rd5]; "
    "barrier.cluster.arrive; barrier.cluster.wait; ret; }\n"
    HEAD("remote_wait")
    "mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1; mapa.u64 %rd5, %rd20, %r8; "
    "mbarrier.try_wait.parity.b64 %p1, [%rd5], 0; barrier.cluster.arrive; barrier.cluster.wait; ret; "
    "}\n";
/* clang-format on */

static void test_runs(struct run *r, uint64_t out) {
    uint32_t *v = run_at(r, out, 4096);
    struct run_shape two = {.block = 64};
    if (run_ok(r, "phases", two, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], 9);
    if (run_ok(r, "state", (struct run_shape){.block = 96}, 1, &out)) {
        for (unsigned i = 32; i < 96; i++)
            CHECK_EQ(v[i], 4321);
        CHECK(v[0] >= 33 && v[0] <= 97 && v[31] == v[0] - 31);
    }
    static const struct {
        const char *name;
        unsigned threads, first;
        uint32_t value;
    } simple[] = {{"bytes", 64, 0, 1},   {"apart", 64, 0, 1},    {"drop", 64, 32, 7},     {"reuse", 64, 0, 1},
                  {"timeout", 32, 0, 2}, {"previous", 64, 0, 5}, {"guard_wait", 32, 0, 1}};
    for (unsigned k = 0; k < sizeof simple / sizeof *simple; k++) {
        memset(v, 0, 4096);
        if (run_ok(r, simple[k].name, (struct run_shape){.block = simple[k].threads}, 1, &out))
            for (unsigned i = simple[k].first; i < simple[k].threads; i++)
                CHECK_EQ(v[i], simple[k].value);
    }
    if (run_ok(r, "lanes", two, 1, &out))
        for (unsigned i = 32; i < 64; i++)
            CHECK_EQ(v[i], i - 32);
}

/* A waiter is not run again by changes that are not its own, and misses none that is. The times are the launch's count
 * of instructions. */
static void test_wakes(struct run *r, uint64_t out) {
    uint32_t *v = run_at(r, out, 4096);
    struct run_shape two = {.block = 64};
    static const char *const quiet[] = {"quiet", "quiet_bar", "quiet_cluster"};
    for (unsigned i = 0; i < 3; i++)
        if (run_ok(r, quiet[i], (struct run_shape){.block = 1024}, 1, &out))
            CHECK(v[1023] > 2500 && v[1023] < 8000);
    if (run_ok(r, "anew", two, 1, &out)) {
        CHECK_EQ(v[63], 6);
        CHECK_EQ(r->log_len, 0);
    }
    if (run_ok(r, "moved", two, 1, &out))
        CHECK_EQ(v[63], 3);
    if (run_ok(r, "either", two, 1, &out))
        CHECK(v[63] < 10000);
    run_faults(r, "gone", two, 1, &out, "mbarrier-not-initialised");
    run_faults(r, "trampled", two, 1, &out, "mbarrier-overwritten");
}

/* Two phases complete before a waiter runs again: by default it sees the first, which could have been missed. */
static void test_missed(struct run *r, uint64_t out) {
    static const char *const kernels[] = {"missed_try", "missed_test", "missed_lanes"};
    uint32_t *v = run_at(r, out, 4096);
    for (unsigned i = 0; i < 3; i++) {
        const struct run_shape two = {.block = 64};
        memset(v, 0, 4096);
        if (r->gpu->config.schedule == MACH_SCHED_LAZY) {
            run_faults(r, kernels[i], two, 1, &out, "nobody has arrived in it");
        } else if (r->gpu->config.schedule == MACH_SCHED_DEFAULT && run_ok(r, kernels[i], two, 1, &out)) {
            CHECK_EQ(v[32], 6);
            CHECK_EQ(v[63], 6);
            r->gpu->config.check = MACH_CHECK_ERROR;
            run_faults(r, kernels[i], two, 1, &out, "has completed 2 phases since lane 0 began to wait for one");
            r->gpu->config.check = MACH_CHECK_OFF;
            run_ok(r, kernels[i], two, 1, &out);
            CHECK_EQ(r->log_len, 0);
            r->gpu->config.check = MACH_CHECK_WARN;
            run_kernel(r, kernels[i], two, 1, &out);
        } else
            continue;
        CHECK_HAS(r->log, "warning: ");
        CHECK_HAS(r->log, "mbarrier-phase-missed");
    }
}

static void test_faults(struct run *r, uint64_t out) {
    static const char *const faults[][3] = {
        {"dead_try", "2 of 3 arrivals pending", "tx-count 0"},
        {"dead_test", "2 of 3 arrivals pending", "tx-count 48"},
        {"lastone", "mbarrier-no-complete", "last 1"},
        {"uninit", "mbarrier-not-initialised", "0x400"},
        {"count", "mbarrier-count", "from 1 to 2^20-1"},
        {"live", "mbarrier-init-live", "initialised before"},
        {"many", "mbarrier-too-many-arrivals", "awaits 1 of 31"},
        {"txrange", "mbarrier-tx-count", "1048575"},
        {"overwritten", "mbarrier-overwritten", "was overwritten"},
        {"parity", "mbarrier-parity", "parity 2"},
        {"misaligned", "misaligned-address", "multiple of 8"},
        {"global", "shared-out-of-bounds", "not in shared memory"},
        {"poison", "the address", ""},
        {"poison_count", "the count", ""},
        {"wait_cluster", "unsupported", "own CTA"},
        {"state_cluster", "unsupported", "no state"},
        {"sem_alone", "unsupported", ""},
    };
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool ok = run_faults(r, faults[i][0], (struct run_shape){.block = 32}, 1, &out, faults[i][1]);
        if (!CHECK_HAS(r->log, faults[i][2]) || !ok)
            fprintf(stderr, "in kernel %s\n", faults[i][0]);
    }
}

static void test_cluster(struct run *r) {
    uint64_t out = run_alloc(r, 4096);
    uint32_t *v = run_at(r, out, 4096);
    if (run_ok(r, "remote", (struct run_shape){.grid = 8, .block = 32, .cluster = 8}, 1, &out))
        for (unsigned i = 0; i < 256; i++)
            CHECK_EQ(v[i], 1);
    memset(v, 0, 4096);
    struct run_shape two = {.grid = 2, .block = 32, .cluster = 2};
    if (run_ok(r, "remote_generic", two, 1, &out))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(v[i], 1);
    run_faults(r, "remote_state", two, 1, &out, "mbarrier-remote-state");
    run_faults(r, "remote_wait", two, 1, &out, "shared-cta-not-own");
}

int main(void) {
    static const enum mach_schedule order[] = {MACH_SCHED_DEFAULT, MACH_SCHED_LAZY, MACH_SCHED_RANDOM};
    for (unsigned i = 0; i < 3; i++) {
        struct mach_config c = mach_config_b200();
        struct run r;
        c.watchdog = 10000000;
        c.schedule = order[i];
        if (run_open_config(&r, text, &c)) {
            uint64_t out = run_alloc(&r, 4096);
            test_runs(&r, out);
            test_wakes(&r, out);
            test_missed(&r, out);
            test_faults(&r, out);
        }
        run_close(&r);
        if (run_open_config(&r, cluster, &c))
            test_cluster(&r);
        run_close(&r);
    }
    return check_report();
}
