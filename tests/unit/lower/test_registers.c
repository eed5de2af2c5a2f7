/* Registers that share frame slots: values keep to themselves, and what was never written stays so. */
#include "unit/run_ptx.h"
#include "warp/warp.h"

#define KERNEL(name)                                                                                                   \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .pred %p<40>; .reg .b16 %h<20>; .reg .b32 %r<400>; .reg .b64 %rd<40>;\n"                                     \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;\n"

/* Steps 2 to 9 of a chain in registers of their own */
#define CHAIN(op)                                                                                                      \
    op "%r2, %r1, 1;" op "%r3, %r2, 1;" op "%r4, %r3, 1;" op "%r5, %r4, 1;" op "%r6, %r5, 1;" op "%r7, %r6, 1;" op     \
       "%r8, %r7, 1;" op "%r9, %r8, 1;\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    KERNEL("chain")
    CHAIN("add.u32 ")
    "st.global.u32 [%rd2], %r9; ret; }\n"
    KERNEL("loop") /* %r10 and %r11 are carried around, over registers that come and go */
    "mov.u32 %r10, 0; mov.u32 %r11, 1;\n"
    "top:" CHAIN("add.u32 ")
    "add.u32 %r10, %r10, %r9; add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, 11; @%p1 bra top;\n"
    "st.global.u32 [%rd2], %r10; ret; }\n"
    KERNEL("backwards") /* the value's last use stands above its definition */
    "mov.u32 %r20, 0; bra set;\n"
    "use: add.u32 %r21, %r20, %r22; st.global.u32 [%rd2], %r21; ret;\n"
    "set: add.u32 %r22, %r1, 7;" CHAIN("xor.b32 ")
    "add.u32 %r20, %r9, %r20; bra use; }\n"
    KERNEL("parted") /* odd and even lanes are elsewhere, with other registers */
    "and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; add.u32 %r30, %r1, 5; @%p1 bra even;\n"
    CHAIN("add.u32 ")
    "nanosleep.u32 10; add.u32 %r40, %r9, %r30; bra done;\n"
    "even: mul.lo.u32 %r11, %r1, 3; nanosleep.u32 10; mul.lo.u32 %r12, %r11, 3; nanosleep.u32 10; "
    "mul.lo.u32 %r13, %r12, 3; add.u32 %r40, %r13, %r30;\n"
    "done: st.global.u32 [%rd2], %r40; ret; }\n"
    KERNEL("guarded") /* written twice, each time by some of the lanes */
    "and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0;" CHAIN("add.u32 ")
    "@%p1 add.u32 %r12, %r9, 100; @!%p1 add.u32 %r12, %r9, 200; xor.b32 %r13, %r12, 1; xor.b32 %r14, %r13, 1;\n"
    "st.global.u32 [%rd2], %r14; ret; }\n"
    KERNEL("predicates") /* %p2 to %p4 come and go while %p1 lives, and numbers of other widths with them */
    "setp.lt.u32 %p1, %r1, 16; setp.lt.u32 %p2, %r1, 3; selp.u32 %r10, 1, 0, %p2; setp.lt.u32 %p3, %r1, 5; "
    "cvt.u16.u32 %h1, %r1; add.u16 %h2, %h1, 1; cvt.u32.u16 %r12, %h2; selp.u32 %r11, 2, 0, %p3; "
    "mul.wide.u32 %rd5, %r12, 1000; cvt.u32.u64 %r14, %rd5; or.b32 %r13, %r10, %r11; "
    "setp.ge.u32 %p4, %r1, 30; @%p4 or.b32 %r13, %r13, 4; selp.u32 %r15, 8, 0, %p1; or.b32 %r16, %r13, %r15; "
    "add.u32 %r17, %r16, %r14; st.global.u32 [%rd2], %r17; ret; }\n"
    KERNEL("table")
    "and.b32 %r10, %r1, 1; add.u32 %r11, %r1, 9;\n"
    "ways: .branchtargets one, two;\n" CHAIN("add.u32 ")
    "brx.idx %r10, ways;\n"
    "one: add.u32 %r12, %r11, %r9; bra end;\n"
    "two: mov.u32 %r13, 50; add.u32 %r12, %r11, %r13;\n"
    "end: st.global.u32 [%rd2], %r12; ret; }\n"
    KERNEL("around") /* %r20 is read in the loop's second block, and must outlive the others, wherever they stand */
    "mov.u32 %r10, 0; mov.u32 %r11, 0; add.u32 %r20, %r1, 7;\n"
    "top: add.u32 %r11, %r11, 1; setp.gt.u32 %p1, %r11, 3; @%p1 bra out;\n"
    "add.u32 %r10, %r10, %r20; bra first;\n"
    "second: add.u32 %r10, %r10, 1; bra top;\n"
    "out: st.global.u32 [%rd2], %r10; ret;\n"
    "first:" CHAIN("add.u32 ")
    "add.u32 %r10, %r10, %r9; bra second; }\n"
    KERNEL("late") /* %r31 is written at the wait, though nothing reads it */
    ".shared .align 4 .b32 base;\n"
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32; ld.shared.u32 %r30, [base];\n"
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r31}, [%r30];" CHAIN("add.u32 ")
    "tcgen05.wait::ld.sync.aligned; add.u32 %r32, %r9, %r2; st.global.u32 [%rd2], %r32;\n"
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r30, 32; ret; }\n"
    KERNEL("never") /* %r50 is read and never written, long after others have given up their slots */
    CHAIN("add.u32 ")
    "add.u32 %r51, %r50, %r9; st.global.u32 [%rd2], %r51; ret; }\n"
    KERNEL("one_way") /* %r50 is written on the way that no lane takes */
    CHAIN("add.u32 ")
    "setp.gt.u32 %p1, %r9, 10000; @!%p1 bra past; mov.u32 %r50, 3;\n"
    "past: add.u32 %r51, %r50, 1; st.global.u32 [%rd2], %r51; ret; }\n"
    KERNEL("some_lanes") /* and under a guard, by lane 3 alone */
    CHAIN("add.u32 ")
    "setp.eq.u32 %p1, %r1, 3; @%p1 mov.u32 %r50, 3; st.global.u32 [%rd2], %r50; ret; }\n";
/* clang-format on */

static uint32_t expected(const char *name, uint32_t l) {
    if (!strcmp(name, "chain"))
        return l + 8;
    if (!strcmp(name, "loop"))
        return 10 * (l + 8);
    if (!strcmp(name, "backwards"))
        return l + l + 7;
    if (!strcmp(name, "parted"))
        return l % 2 ? l + 8 + l + 5 : 27 * l + l + 5;
    if (!strcmp(name, "guarded"))
        return l + 8 + (l % 2 ? 200 : 100);
    if (!strcmp(name, "predicates"))
        return ((l < 3 ? 1 : 0) | (l < 5 ? 2 : 0) | (l >= 30 ? 4 : 0) | (l < 16 ? 8 : 0)) + 1000 * (l + 1);
    if (!strcmp(name, "around"))
        return 3 * (l + 7 + l + 8 + 1);
    if (!strcmp(name, "late"))
        return 2 * l + 9;
    return l + 9 + (l % 2 ? 50 : l + 8); /* table */
}

static void test_values(struct run *r, uint64_t out) {
    static const char *const names[] = {"chain",      "loop",  "backwards", "parted", "guarded",
                                        "predicates", "table", "around",    "late"};
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++) {
        memset(run_at(r, out, 128), 0xee, 128);
        if (!run_ok(r, names[k], (struct run_shape){.block = 32}, 1, &out))
            continue;
        for (uint32_t l = 0; l < 32; l++)
            if (!CHECK_EQ(run_u32(r, out, l), expected(names[k], l)))
                fprintf(stderr, "in kernel %s\n", names[k]);
    }
}

static void test_poison(struct run *r, uint64_t out) {
    static const char *const names[] = {"never", "one_way", "some_lanes"};
    for (unsigned k = 0; k < 3; k++) {
        run_faults(r, names[k], (struct run_shape){.block = 32}, 1, &out, "uninitialised-global-store");
        CHECK_HAS(r->log, k == 2 ? "31 of 32 lanes" : "32 of 32 lanes");
    }
}

/* A thousand registers, of which three hold something at a time. */
static void test_size(void) {
    static char long_text[65536];
    struct run r;
    size_t n =
        (size_t)snprintf(long_text, sizeof long_text,
                         RUN_HEADER ".visible .entry k(.param .u64 out) {\n.reg .b32 %%r<1001>; .reg .b64 %%rd<4>; "
                                    "ld.param.u64 %%rd1, [out]; mov.u32 %%r0, %%tid.x;\n");
    for (unsigned i = 1; i <= 1000; i++)
        n += (size_t)snprintf(long_text + n, sizeof long_text - n, "add.u32 %%r%u, %%r%u, 1;\n", i, i - 1);
    snprintf(long_text + n, sizeof long_text - n,
             "mul.wide.u32 %%rd2, %%r0, 4; add.s64 %%rd3, %%rd1, %%rd2; st.global.u32 [%%rd3], %%r1000; ret; }\n");
    if (run_open(&r, long_text)) {
        uint64_t out = run_alloc(&r, 128);
        if (run_ok(&r, "k", (struct run_shape){.block = 32}, 1, &out))
            for (uint32_t l = 0; l < 32; l++)
                CHECK_EQ(run_u32(&r, out, l), l + 1000);
        CHECK(lower_find_kernel(r.module, "k")->frame_slots < 20);
    }
    run_close(&r);
}

/* A hundred blocks, each of which goes on to the one above it: too many passes to follow %r1 through, so that nobody
 * shares. */
static void test_limit(void) {
    static char long_text[65536];
    struct run r;
    size_t n =
        (size_t)snprintf(long_text, sizeof long_text,
                         RUN_HEADER ".visible .entry k(.param .u64 out) {\n.reg .b32 %%r<303>; .reg .b64 %%rd<4>; "
                                    "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, 0; bra b99;\n"
                                    "b0: add.u32 %%r3, %%r1, 5; mul.wide.u32 %%rd2, %%r1, 4; "
                                    "add.s64 %%rd3, %%rd1, %%rd2; st.global.u32 [%%rd3], %%r3; ret;\n");
    for (unsigned i = 1; i < 100; i++)
        n += (size_t)snprintf(long_text + n, sizeof long_text - n,
                              "b%u: add.u32 %%r%u, %%r2, 1; add.u32 %%r2, %%r%u, 1; bra b%u;\n", i, i + 100, i + 100,
                              i - 1);
    snprintf(long_text + n, sizeof long_text - n, "}\n");
    if (run_open(&r, long_text)) {
        uint64_t out = run_alloc(&r, 128);
        if (run_ok(&r, "k", (struct run_shape){.block = 32}, 1, &out))
            for (uint32_t l = 0; l < 32; l++)
                CHECK_EQ(run_u32(&r, out, l), l + 5);
        CHECK(lower_find_kernel(r.module, "k")->frame_slots > 100);
    }
    run_close(&r);
}

int main(void) {
    static const enum mach_schedule order[] = {MACH_SCHED_DEFAULT, MACH_SCHED_RANDOM};
    for (unsigned i = 0; i < 2; i++) {
        struct mach_config c = mach_config_b200();
        struct run r;
        c.watchdog = 1000000;
        c.schedule = order[i];
        if (run_open_config(&r, text, &c)) {
            uint64_t out = run_alloc(&r, 128);
            test_values(&r, out);
            test_poison(&r, out);
        }
        run_close(&r);
    }
    test_size();
    test_limit();
    return check_report();
}
