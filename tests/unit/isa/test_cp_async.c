/* The non-bulk cp.async family as PTX (PTX ISA 9.7.9.25.3, 9.7.13.15.15). */
#include "unit/run_ptx.h"

#include "check/check.h"

/* 64 threads; %rd4: this thread's 16 bytes of `in`, %r22: of shared memory, %rd3: of `out`; @%p8: thread 0. */
#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 in, .param .u64 out) {\n"                                                    \
    ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<30>;\n"                                                         \
    ".shared .align 16 .b8 sm[4096]; .shared .align 8 .b64 mb[4];\n"                                                   \
    "mov.u32 %r1, %tid.x; mov.u32 %r20, sm; mov.u32 %r21, mb; setp.eq.u32 %p8, %r1, 0; shl.b32 %r2, %r1, "             \
    "4; "                                                                                                              \
    "add.u32 %r22, %r20, %r2; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mul.wide.u32 %rd5, %r1, "             \
    "16; "                                                                                                             \
    "add.s64 %rd4, %rd1, %rd5; add.s64 %rd3, %rd2, %rd5;\n"
#define OUT                                                                                                            \
    "ld.shared.v4.u32 {%r30, %r31, %r32, %r33}, [%r22]; st.global.v4.u32 [%rd3], {%r30, %r31, %r32, "                  \
    "%r33};\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    HEAD("all") "cp.async.cg.shared.global [%r22], [%rd4], 16; cp.async.wait_all;\n" OUT "ret; }\n"
    HEAD("pieces") /* 4 and 8 bytes, src-size, ignore-src, hints */
    "mov.b64 %rd6, 0; and.b32 %r3, %r1, 7; setp.lt.u32 %p1, %r1, 32; mov.u32 %r4, 3; "
    "cp.async.ca.shared::cta.global.L2::128B [%r22], [%rd4], 4; "
    "cp.async.ca.shared.global [%r22+4], [%rd4+4], 4, %r4; "
    "cp.async.ca.shared.global.L2::cache_hint [%r22+8], [%rd4+8], 8, %p1, %rd6; cp.async.wait_all;\n" OUT "ret; }\n"
    HEAD("groups") /* the older of two groups is waited for, the newer then overwrites it */
    "cp.async.ca.shared.global [%r22], [%rd4], 16; cp.async.commit_group; cp.async.commit_group; "
    "cp.async.ca.shared.global [%r22+1024], [%rd4+16], 16; cp.async.commit_group; cp.async.wait_group 1;\n" OUT
    "cp.async.wait_group 0; ld.shared.u32 %r30, [%r22+1024]; st.global.u32 [%rd3+4], %r30; ret; }\n"
    HEAD("nowait")
    "cp.async.ca.shared.global [%r22], [%rd4], 16; cp.async.commit_group; cp.async.wait_group 1;\n" OUT "ret; }\n"
    HEAD("noinc") /* 64 arrivals of copies and no other */
    "@%p8 mbarrier.init.shared::cta.b64 [%r21], 64; bar.sync 0;\n"
    "cp.async.ca.shared.global [%r22], [%rd4], 16; cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r21];\n"
    "w: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r21], 0; @!%p7 bra w;\n" OUT "ret; }\n"
    HEAD("inc") /* the copies' arrivals announce themselves: 64 of the threads complete the phase */
    "@%p8 mbarrier.init.shared::cta.b64 [%r21], 64; bar.sync 0; cvta.shared.u64 %rd7, mb;\n"
    "cp.async.ca.shared.global [%r22], [%rd4], 16; cp.async.mbarrier.arrive.b64 [%rd7]; "
    "mbarrier.arrive.shared::cta.b64 _, [%r21];\n"
    "w: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r21], 0; @!%p7 bra w;\n" OUT "ret; }\n"
    HEAD("half") /* only even lanes copy and wait */
    "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, 77; st.shared.u32 [%r22], %r4;\n"
    "@%p1 cp.async.ca.shared.global [%r22], [%rd4], 4; @%p1 cp.async.commit_group; @%p1 cp.async.wait_group 0;\n"
    "ld.shared.u32 %r30, [%r22]; st.global.u32 [%rd3], %r30; ret; }\n"
    HEAD("parted") /* lanes commit one copy of all apart, copy apart, and together again */
    "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; cp.async.ca.shared.global [%r22], [%rd4], 16;\n"
    "@%p1 cp.async.commit_group; @!%p1 cp.async.commit_group; "
    "@%p1 cp.async.ca.shared.global [%r22+1024], [%rd4+8], 4; cp.async.commit_group; cp.async.wait_group 1;\n" OUT
    "cp.async.wait_group 0; @%p1 ld.shared.u32 %r30, [%r22+1024]; st.global.u32 [%rd3+4], %r30;\n"
    "cp.async.ca.shared.global [%r22], [%rd4+12], 4; cp.async.wait_all; ld.shared.u32 %r30, [%r22]; "
    "st.global.u32 [%rd3+8], %r30; ret; }\n"
    HEAD("swapped") /* lanes 5 and 6 of each warp copy each other's bytes */
    "and.b32 %r3, %r1, 31; mov.b64 %rd6, 0; setp.eq.u32 %p1, %r3, 5; @%p1 mov.b64 %rd6, 16; setp.eq.u32 %p2, %r3, 6; "
    "@%p2 mov.b64 %rd6, -16; add.s64 %rd4, %rd4, %rd6;\n"
    "cp.async.cg.shared.global [%r22], [%rd4], 16; cp.async.wait_all;\n" OUT "ret; }\n"
    HEAD("misaligned") "cp.async.ca.shared.global [%r22+4], [%rd4], 8; ret; }\n"
    HEAD("outside") "cp.async.ca.shared.global [%r22], [%rd4+2048], 16; ret; }\n"
    HEAD("end") "cp.async.ca.shared.global [%r22], [%rd4+80], 16; ret; }\n" /* the last of `in` */
    HEAD("beyond") "cp.async.ca.shared.global [%r22+3600], [%rd4], 16; ret; }\n"
    HEAD("toomuch") "mov.u32 %r4, 9; cp.async.ca.shared.global [%r22], [%rd4], 8, %r4; ret; }\n"
    HEAD("badsize") "cp.async.cg.shared.global [%r22], [%rd4], 8; ret; }\n"
    HEAD("proxy") /* a bulk store reads what cp.async wrote through the generic proxy */
    "cp.async.ca.shared.global [%r22], [%rd4], 16; cp.async.wait_all; bar.sync 0; @!%p8 bra done;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r20], 1024; cp.async.bulk.commit_group; "
    "cp.async.bulk.wait_group 0;\n"
    "done: ret; }\n";
/* clang-format on */

static const struct run_shape shape = {.block = 64};

#define VALUE(i) ((i) + 0xab000001u) /* of word i of `in` */

/* Runs a kernel on `in` and a cleared out. */
static void run_case(struct run *r, const char *name, const uint64_t args[2]) {
    memset(run_at(r, args[1], 1024), 0, 1024);
    run_ok(r, name, shape, 2, args);
}

static void copies(struct run *r, const uint64_t args[2], bool lazy) {
    static const char *const whole[] = {"all", "noinc", "inc"};
    for (unsigned k = 0; k < 3; k++) {
        run_case(r, whole[k], args);
        for (uint32_t i = 0; i < 256; i++)
            CHECK_EQ(run_u32(r, args[1], i), VALUE(i));
    }
    run_case(r, "parted", args);
    for (uint32_t i = 0; i < 256; i++)
        CHECK_EQ(run_u32(r, args[1], i), VALUE(i % 4 == 2 ? i + 1 : i % 4 != 1 ? i : i % 8 == 1 ? i + 1 : i - 1));
    run_case(r, "pieces", args);
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t want = VALUE(i);
        if (i % 4 == 1)
            want &= 0xffffff; /* 3 of 4 bytes */
        if (i % 4 >= 2 && i / 4 < 32)
            want = 0; /* ignored */
        CHECK_EQ(run_u32(r, args[1], i), want);
    }
    run_case(r, "swapped", args);
    for (uint32_t i = 0; i < 256; i++) {
        const uint32_t lane = i / 4 % 32;
        CHECK_EQ(run_u32(r, args[1], i), VALUE(lane == 5 ? i + 4 : lane == 6 ? i - 4 : i));
    }
    run_case(r, "groups", args);
    for (uint32_t i = 0; i < 63; i++) {
        CHECK_EQ(run_u32(r, args[1], 4 * i), VALUE(4 * i));
        CHECK_EQ(run_u32(r, args[1], 4 * i + 1), VALUE(4 * i + 4));
    }
    run_case(r, "half", args);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(run_u32(r, args[1], 4 * i), i % 2 ? 77 : VALUE(4 * i));
    if (lazy) /* nothing has arrived: what is stored was never written */
        CHECK(run_faults(r, "nowait", shape, 2, args, "uninitialised"));
}

static void faults(struct run *r, const uint64_t args[2]) {
    CHECK(run_faults(r, "misaligned", shape, 2, args, "misaligned-address"));
    CHECK(run_faults(r, "outside", shape, 2, args, "global-out-of-bounds"));
    CHECK(run_faults(r, "end", shape, 2, args, "global-out-of-bounds"));
    CHECK(run_faults(r, "beyond", shape, 2, args, "shared-out-of-bounds"));
    CHECK(run_faults(r, "toomuch", shape, 2, args, "cp-async-src-size"));
    CHECK(run_faults(r, "badsize", shape, 2, args, "cp-size is 4, 8 or 16"));
    run_check_races(r);
    CHECK(run_faults(r, "proxy", shape, 2, args, "missing-proxy-fence"));
}

int main(void) {
    static const enum mach_schedule schedules[] = {MACH_SCHED_DEFAULT, MACH_SCHED_EAGER, MACH_SCHED_LAZY,
                                                   MACH_SCHED_RANDOM};
    for (unsigned i = 0; i < 12; i++) {
        struct mach_config c = mach_config_b200();
        c.schedule = schedules[i % 4];
        c.host_vectors = i / 4; /* all that the host has, none, AVX2 */
        c.watchdog = 100000000;
        c.check = MACH_CHECK_ERROR;
        struct run r;
        if (run_open_config(&r, text, &c)) {
            uint64_t args[2] = {run_alloc(&r, 1024 + 64), run_alloc(&r, 1024)};
            for (uint32_t k = 0; k < 272; k++)
                ((uint32_t *)run_at(&r, args[0], 1088))[k] = VALUE(k);
            copies(&r, args, c.schedule == MACH_SCHED_LAZY);
            faults(&r, args);
        }
        run_close(&r);
    }
    return check_report();
}
