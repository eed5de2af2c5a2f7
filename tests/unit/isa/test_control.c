/* Control flow: divergence, calls and the places where lanes meet again, held to the same code in C. */
#include "unit/run_ptx.h"

#define LANES 64u

/* A kernel `k(out)`: %tid in %r0, the address of the thread's u32 in %rd0. */
#define KERNEL(body)                                                                                                   \
    ".visible .entry k(.param .u64 out) {\n"                                                                           \
    ".reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .pred %p<8>;\n"                                                          \
    "mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %r0, 4, %rd0;\n" body "}\n"

static void check(const char *ptx, uint32_t (*want)(uint32_t tid)) {
    struct run r;
    if (run_open(&r, ptx)) {
        uint64_t out = run_alloc(&r, 4 * LANES);
        if (run_ok(&r, "k", (struct run_shape){.block = LANES}, 1, &out))
            for (uint32_t t = 0; t < LANES; t++)
                if (!CHECK_EQ(run_u32(&r, out, t), want(t)))
                    break;
    }
    run_close(&r);
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

static uint32_t nested_reference(uint32_t tid) {
    uint32_t acc = tid, i, j;
    for (i = 0; i < 3 + tid % 5; i++)
        for (j = 0; j < 2 + (tid + i) % 7; j++) {
            if ((i * j + tid) % 3 == 0)
                continue;
            if ((i + j + tid) % 11 == 6)
                break;
            if (((acc ^ j) & 63) == 5)
                return acc;
            acc = acc * 31 + i * j;
        }
    return acc;
}

static void nested_loops(void) {
    check(RUN_HEADER KERNEL("mov.b32 %r1, %r0; mov.b32 %r2, 0; rem.u32 %r4, %r0, 5; add.u32 %r4, %r4, 3;\n"
                            "OUTER: setp.ge.u32 %p1, %r2, %r4; @%p1 bra DONE;\n"
                            "mov.b32 %r3, 0; add.u32 %r5, %r0, %r2; rem.u32 %r5, %r5, 7; add.u32 %r5, %r5, 2;\n"
                            "INNER: setp.ge.u32 %p1, %r3, %r5; @%p1 bra NEXT;\n"
                            "mul.lo.u32 %r6, %r2, %r3; add.u32 %r7, %r6, %r0; rem.u32 %r7, %r7, 3;\n"
                            "setp.eq.u32 %p1, %r7, 0; @%p1 bra CONTINUE;\n"
                            "add.u32 %r7, %r2, %r3; add.u32 %r7, %r7, %r0; rem.u32 %r7, %r7, 11;\n"
                            "setp.eq.u32 %p1, %r7, 6; @%p1 bra NEXT;\n"
                            "xor.b32 %r7, %r1, %r3; and.b32 %r7, %r7, 63; setp.eq.u32 %p1, %r7, 5; @%p1 bra EARLY;\n"
                            "mad.lo.u32 %r1, %r1, 31, %r6;\n"
                            "CONTINUE: add.u32 %r3, %r3, 1; bra INNER;\n"
                            "NEXT: add.u32 %r2, %r2, 1; bra OUTER;\n"
                            "EARLY: st.global.u32 [%rd0], %r1; exit;\n"
                            "DONE: st.global.u32 [%rd0], %r1; ret;"),
          nested_reference);
}

/* Lanes meet behind an `if` in a loop, also where the only way out of the loop ends the thread. */
static uint32_t all_lanes(uint32_t tid) {
    (void)tid;
    return 0xffffffff;
}

static void loop_that_ends_the_thread(void) {
    check(RUN_HEADER KERNEL("mov.b32 %r1, 0; mov.b32 %r3, -1;\n"
                            "LOOP: add.u32 %r2, %r0, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;\n"
                            "@%p1 bra ELSE; add.u32 %r4, %r2, 1; bra MEET; ELSE: add.u32 %r4, %r2, 2;\n"
                            "MEET: activemask.b32 %r5; and.b32 %r3, %r3, %r5; st.global.u32 [%rd0], %r3;\n"
                            "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra LOOP; ret;"),
          all_lanes);
    check(RUN_HEADER KERNEL("mov.b32 %r1, 0; mov.b32 %r3, -1;\n"
                            "LOOP: setp.ge.u32 %p1, %r1, 4; @%p1 bra END;\n"
                            "add.u32 %r2, %r0, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0;\n"
                            "@%p1 bra ELSE; add.u32 %r4, %r2, 1; bra MEET; ELSE: add.u32 %r4, %r2, 2;\n"
                            "MEET: activemask.b32 %r5; and.b32 %r3, %r3, %r5; st.global.u32 [%rd0], %r3;\n"
                            "add.u32 %r1, %r1, 1; bra LOOP; END: exit;"),
          all_lanes);
}

/* Forty regions in one another, each entered apart and then together: more than a warp has lanes. */
static void many_regions(void) {
    char ptx[16384];
    size_t n =
        (size_t)snprintf(ptx, sizeof ptx,
                         RUN_HEADER ".visible .entry k(.param .u64 out) {\n.reg .b32 %%r<20>; .reg .b64 %%rd<8>; "
                                    ".reg .pred %%p<8>;\nmov.u32 %%r0, %%tid.x; ld.param.u64 %%rd0, [out]; "
                                    "mad.wide.u32 %%rd0, %%r0, 4, %%rd0; and.b32 %%r1, %%r0, 1; "
                                    "setp.eq.u32 %%p1, %%r1, 0; setp.gt.u32 %%p2, %%r0, 4096; mov.b32 %%r2, 0;\n");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(ptx + n, sizeof ptx - n,
                              "@%%p1 bra X%d; add.u32 %%r2, %%r2, 1; @%%p2 bra END%d; X%d: bar.warp.sync -1;\n", i, i,
                              i);
    for (int i = 39; i >= 0; i--)
        n += (size_t)snprintf(ptx + n, sizeof ptx - n, "END%d: add.u32 %%r2, %%r2, 1;\n", i);
    snprintf(ptx + n, sizeof ptx - n, "st.global.u32 [%%rd0], %%r2; ret; }\n");
    struct run r;
    if (run_open(&r, ptx)) {
        uint64_t out = run_alloc(&r, 4 * LANES);
        run_ok(&r, "k", (struct run_shape){.block = LANES}, 1, &out);
        CHECK_EQ(run_u32(&r, out, 4), 40);
        CHECK_EQ(run_u32(&r, out, 5), 80);
    }
    run_close(&r);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* uint32_t f(n): recursion that parts at every level, with early returns. */
#define FIB                                                                                                            \
    ".func (.param .b32 ret) fib(.param .b32 n) {\n"                                                                   \
    ".reg .b32 %r<8>; .reg .pred %p1;\n"                                                                               \
    "ld.param.u32 %r1, [n]; setp.gt.u32 %p1, %r1, 1; @%p1 bra MORE; st.param.b32 [ret], %r1; ret;\n"                   \
    "MORE: sub.u32 %r2, %r1, 1; sub.u32 %r3, %r1, 2;\n"                                                                \
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fib, (a); ld.param.b32 %r4, [b]; }\n"            \
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), fib, (a); ld.param.b32 %r5, [b]; }\n"            \
    "add.u32 %r4, %r4, %r5; st.param.b32 [ret], %r4; ret; }\n"

static uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static uint32_t fib_of_tid(uint32_t tid) { return fib(tid % 12); }

static void recursion(void) {
    check(RUN_HEADER FIB KERNEL("rem.u32 %r1, %r0, 12;\n"
                                "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), fib, (a);\n"
                                "ld.param.b32 %r2, [b]; } st.global.u32 [%rd0], %r2; ret;"),
          fib_of_tid);
}

/* Every thread of a warp in an activation of its own, 40 to 71 deep. */
static uint32_t depth_of_tid(uint32_t tid) { return 40 + tid % 32; }

static void deep_and_apart(void) {
    check(RUN_HEADER
          ".func (.param .b32 ret) deep(.param .b32 n, .param .b32 tid) {\n"
          ".reg .b32 %r<8>; .reg .pred %p<3>; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [tid];\n"
          "mov.b32 %r3, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra END; sub.u32 %r4, %r1, 1; and.b32 %r5, %r2, 1;\n"
          "setp.eq.u32 %p2, %r5, 0; shr.u32 %r5, %r2, 1;\n"
          "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r4; st.param.b32 [b], %r5;\n"
          "@%p2 bra EVEN; call (c), deep, (a, b); bra BACK; EVEN: call (c), deep, (a, b);\n"
          "BACK: ld.param.b32 %r3, [c]; } add.u32 %r3, %r3, 1;\n"
          "END: st.param.b32 [ret], %r3; ret; }\n" KERNEL(
              "and.b32 %r1, %r0, 31; add.u32 %r1, %r1, 40;\n"
              "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b32 [b], %r0;\n"
              "call (c), deep, (a, b); ld.param.b32 %r2, [c]; } st.global.u32 [%rd0], %r2; ret;"),
          depth_of_tid);
}

/* Indirect calls to three functions, one of which ends some threads and another of which recurses. */
static uint32_t indirect_reference(uint32_t tid) {
    switch (tid % 3) {
    case 0:
        return fib(tid % 7) + 1000;
    case 1:
        return tid % 4 == 1 ? 77 : 5 * tid + 1000;
    default:
        return tid + 1 + 1000;
    }
}

static void indirect_calls(void) {
    check(RUN_HEADER FIB
          ".func (.param .b32 ret) zero(.param .b32 n) { .reg .b32 %r<4>; .param .b32 a; .param .b32 b;\n"
          "ld.param.u32 %r1, [n]; rem.u32 %r1, %r1, 7; st.param.b32 [a], %r1; call (b), fib, (a);\n"
          "ld.param.b32 %r2, [b]; st.param.b32 [ret], %r2; ret; }\n"
          ".global .u64 base;\n"
          ".func (.param .b32 ret) one(.param .b32 n) { .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p1;\n"
          "ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 3; setp.ne.u32 %p1, %r2, 1; @%p1 bra ON;\n"
          "ld.global.u64 %rd1, [base]; mad.wide.u32 %rd1, %r1, 4, %rd1; st.global.u32 [%rd1], 77; exit;\n"
          "ON: mul.lo.u32 %r1, %r1, 5; st.param.b32 [ret], %r1; ret; }\n"
          ".func (.param .b32 ret) two(.param .b32 n) { .reg .b32 %r<4>;\n"
          "ld.param.u32 %r1, [n]; add.u32 %r1, %r1, 1; st.param.b32 [ret], %r1; ret; }\n"
          ".global .u64 table[3] = {zero, one, two};\n" KERNEL(
              "ld.param.u64 %rd1, [out]; st.global.u64 [base], %rd1; rem.u32 %r1, %r0, 3; mov.u64 %rd2, "
              "table;\n"
              "mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.u64 %rd3, [%rd2];\n"
              "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0;\n"
              "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
              "call (b), %rd3, (a), P; ld.param.b32 %r2, [b]; }\n"
              "add.u32 %r2, %r2, 1000; st.global.u32 [%rd0], %r2; ret;"),
          indirect_reference);
}

/* Behind a call of several functions the lanes are together again: the next call is one for all, and a .sync
 * instruction in it finds them. */
static uint32_t together_reference(uint32_t tid) { return (tid % 32 == 31 ? tid : tid + 1) % 2; }

static void together_after_call(void) {
    check(RUN_HEADER
          ".func (.param .b32 ret) even() { st.param.b32 [ret], 0; ret; }\n"
          ".func (.param .b32 ret) odd() { st.param.b32 [ret], 1; ret; }\n"
          ".func (.param .b32 ret) next(.param .b32 n) { .reg .b32 %r<3>; ld.param.u32 %r1, [n];\n"
          "shfl.sync.down.b32 %r2, %r1, 1, 31, -1; st.param.b32 [ret], %r2; ret; }\n"
          ".global .u64 table[2] = {even, odd};\n" KERNEL(
              "rem.u32 %r1, %r0, 2; mov.u64 %rd2, table; mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.u64 %rd3, [%rd2];\n"
              "{ .param .b32 b; .param .b32 c;\n"
              "P: .callprototype (.param .b32 _) _ ();\n"
              "call (b), %rd3, (), P; ld.param.b32 %r2, [b]; st.param.b32 [b], %r2; call (c), next, (b);\n"
              "ld.param.b32 %r2, [c]; } st.global.u32 [%rd0], %r2; ret;"),
          together_reference);
}

/* A guarded call, and a function without an instruction. */
static uint32_t guarded_reference(uint32_t tid) { return tid % 5 == 2 ? 9 : 3; }

static void guarded_calls(void) {
    check(RUN_HEADER ".func nothing() { }\n"
                     ".func (.param .b32 ret) nine() { st.param.b32 [ret], 9; ret; }\n" KERNEL(
                         "rem.u32 %r1, %r0, 5; setp.eq.u32 %p1, %r1, 2; mov.b32 %r2, 3;\n"
                         "{ .param .b32 b; st.param.b32 [b], 3; @%p1 call (b), nine; call nothing;\n"
                         "ld.param.b32 %r2, [b]; } st.global.u32 [%rd0], %r2; ret;"),
          guarded_reference);
}

static uint32_t brx_reference(uint32_t tid) {
    uint32_t acc = 0;
    for (uint32_t i = 0; i < 4; i++)
        switch ((tid + i) % 4) {
        case 0:
            acc += 1;
            break;
        case 1:
            acc = acc * 3 + 7;
            break;
        case 2:
            break;
        default:
            acc ^= 0x55;
            break;
        }
    return tid % 6 == 3 ? 0 : acc;
}

static void branch_tables(void) {
    check(RUN_HEADER KERNEL("mov.b32 %r1, 0; mov.b32 %r2, 0; rem.u32 %r4, %r0, 6; setp.ne.u32 %p2, %r4, 3;\n"
                            "LOOP: add.u32 %r3, %r0, %r1; and.b32 %r3, %r3, 3;\n"
                            "T: .branchtargets A, B, C, D, C;\n"
                            "@%p2 brx.idx %r3, T; bra C;\n"
                            "A: add.u32 %r2, %r2, 1; bra C;\n"
                            "B: mad.lo.u32 %r2, %r2, 3, 7; bra C;\n"
                            "D: xor.b32 %r2, %r2, 0x55;\n"
                            "C: activemask.b32 %r5; setp.ne.u32 %p1, %r5, -1; @%p1 trap;\n"
                            "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra LOOP;\n"
                            "st.global.u32 [%rd0], %r2; ret;"),
          brx_reference);
}

/* --- constants whose type is not the instruction's ---------------------------------------------------------------- */

static uint32_t constants_reference(uint32_t tid) { return tid % 2 ? 0x1f : 0x1e; }

static void constants(void) {
    check(RUN_HEADER KERNEL(
              "mov.b32 %r9, 0; cvt.u64.u32 %rd1, %r0; and.b32 %r8, %r0, 1; setp.ne.u32 %p7, %r8, 0;\n"
              "vote.sync.ballot.b32 %r1, 1, 0xffffffff; setp.eq.u32 %p1, %r1, -1; @%p1 or.b32 %r9, %r9, 2;\n"
              "vote.sync.all.pred %p1, 1, 0xffffffff; @%p1 or.b32 %r9, %r9, 4;\n"
              "match.any.sync.b64 %r1, %rd1, 0xffffffff; setp.ne.u32 %p1, %r1, 0; @%p1 or.b32 %r9, %r9, 8;\n"
              "setp.le.u32 %p2, %r0, 64; barrier.cta.red.and.pred %p1, 1, 64, %p2; @%p1 or.b32 %r9, %r9, 16;\n"
              "selp.b32 %r1, 1, 0, %p7; or.b32 %r9, %r9, %r1;\n"
              "st.global.u32 [%rd0], %r9; ret;"),
          constants_reference);
}

/* --- printf ------------------------------------------------------------------------------------------------------- */

static void keep_text(void *ctx, const char *text, size_t len) {
    size_t used = strlen(ctx);
    check_append(ctx, 4096, &used, text, len);
}

/* The format and %s stand in device memory, the arguments in local memory. */
static void print(void) {
    static const char format[] = "[%s|%8s|%-6.2s|%hhd|%5.1f|%lld|%lc|%%|%.999f|%4x]\n", word[] = "word";
    char ptx[8192], text[4096] = "", want[4096];
    snprintf(ptx, sizeof ptx, "%s",
             RUN_HEADER ".extern .func (.param .b32 ret) vprintf(.param .b64 f, .param .b64 a);\n" KERNEL(
                 ".local .align 8 .b8 buf[80]; mov.u64 %rd1, buf; ld.param.u64 %rd2, [out]; add.u64 %rd3, %rd2, "
                 "512;\n"
                 "st.local.u64 [%rd1], %rd3; st.local.u64 [%rd1+8], %rd3; st.local.u64 [%rd1+16], %rd3;\n"
                 "st.local.u32 [%rd1+24], 300; st.local.f64 [%rd1+32], 0d40091EB851EB851F; st.local.u64 "
                 "[%rd1+40], -5;\n"
                 "st.local.u64 [%rd1+48], 65; st.local.f64 [%rd1+56], 0d3FE0000000000000; st.local.u32 [%rd1+64], "
                 "171;\n"
                 "cvta.local.u64 %rd1, %rd1; add.u64 %rd2, %rd2, 256;\n"
                 "{ .param .b64 f; .param .b64 a; .param .b32 b; st.param.b64 [f], %rd2; st.param.b64 [a], %rd1;\n"
                 "call (b), vprintf, (f, a); ld.param.b32 %r1, [b]; } st.global.u32 [%rd0], %r1; ret;"));
    snprintf(want, sizeof want, "[word|    word|wo    |44|  3.1|-5|A|%%|%.999f|  ab]\n", 0.5);
    struct run r;
    if (run_open(&r, ptx)) {
        uint64_t out = run_alloc(&r, 1024);
        memcpy(run_at(&r, out + 256, sizeof format), format, sizeof format);
        memcpy(run_at(&r, out + 512, sizeof word), word, sizeof word);
        r.gpu->print = keep_text;
        r.gpu->print_ctx = text;
        run_ok(&r, "k", (struct run_shape){.block = 1}, 1, &out);
        CHECK_STR(text, want);
        CHECK_EQ(run_u32(&r, out, 0), 9);
        r.gpu->print = NULL; /* nobody listens */
        run_ok(&r, "k", (struct run_shape){.block = 32}, 1, &out);
    }
    run_close(&r);
}

/* --- what a stranger's kernel may try ----------------------------------------------------------------------------- */

static void faults(const char *ptx, const char *id) {
    struct run r;
    if (run_open(&r, ptx)) {
        uint64_t out = run_alloc(&r, 4 * LANES);
        run_faults(&r, "k", (struct run_shape){.block = LANES}, 1, &out, id);
    }
    run_close(&r);
}

static void hostile_calls(void) {
    faults(RUN_HEADER ".visible .entry victim(.param .align 4 .b8 p[4096]) { ret; }\n" KERNEL(
               "mov.u64 %rd1, victim;\n"
               "{ .param .align 4 .b8 a[4096]; P: .callprototype _ (.param .align 4 .b8 _[4096]);\n"
               "call %rd1, (a), P; } ret;"),
           "call-target");
    faults(RUN_HEADER ".extern .func (.param .b32 ret) vprintf(.param .b64 f, .param .b64 a);\n" KERNEL(
               "{ .param .b8 a[0]; .param .b8 c[0]; .param .b8 b[0]; call (b), vprintf, (a, c); } ret;"),
           "builtin-arguments");
}

static void refused_load(const char *ptx) {
    struct run r = {0};
    struct mach_config c = mach_config_b200();
    r.gpu = gpu_create(&c);
    r.gpu->sink = (struct diag_sink){run_collect_, &r};
    struct ptx_module *m = ptx_parse(ptx, strlen(ptx), "test.ptx", &r.gpu->sink);
    if (CHECK(m != NULL))
        r.module = lower_module_load(r.gpu, m);
    CHECK(r.module == NULL);
    CHECK_HAS(r.log, "module-function");
    run_close(&r);
}

static void impossible_sizes(void) {
    refused_load(RUN_HEADER KERNEL("{ .param .b8 a[17179869184]; st.param.b32 [a+4096], %r0; } ret;"));
    refused_load(RUN_HEADER ".visible .entry k(.param .b8 p[1099511627776]) { ret; }");
}

/* What a kernel held when it failed is free for the next launch. */
static void after_a_fault(void) {
    static const char ptx[] = RUN_HEADER
        ".shared .align 4 .b32 base;\n"
        ".visible .entry k(.param .u32 fail) { .reg .b32 %r<4>; .reg .pred %p<3>; ld.param.u32 %r1, [fail];\n"
        "setp.ne.u32 %p1, %r1, 0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 512;\n"
        "@%p1 trap; ld.shared.u32 %r2, [base];\n"
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 512; ret; }\n";
    struct run r;
    if (run_open(&r, ptx)) {
        for (uint64_t fail = 1; fail < 3; fail++) /* the second launch holds the columns again */
            run_faults(&r, "k", (struct run_shape){.grid = 400, .block = 32}, 1, &fail, "[trap]");
        run_ok(&r, "k", (struct run_shape){.grid = 400, .block = 32}, 1, (uint64_t[]){0});
    }
    run_close(&r);
}

int main(void) {
    nested_loops();
    loop_that_ends_the_thread();
    recursion();
    deep_and_apart();
    indirect_calls();
    together_after_call();
    guarded_calls();
    branch_tables();
    many_regions();
    constants();
    print();
    after_a_fault();
    hostile_calls();
    impossible_sizes();
    return check_report();
}
