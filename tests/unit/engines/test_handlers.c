/* tcgen05 as PTX: what the handlers decode, refuse and report. One warp; A is 128 x 16 and B 8 x 16 of ones
 * in f16, K-major without swizzling, so that every element of D counts 16 for each tcgen05.mma.
 */
#include "unit/run_ptx.h"

#include <stdarg.h>

/* %ta: 32 columns. %da, %db, %id: the operands. %one: true, %none: false. %first: lane 0. */
static const char BEGIN[] =
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<64>; .reg .b32 %ta, %id, %lane; .reg .b64 %rd<16>; .reg .b64 %da, %db, %out;\n"
    ".reg .pred %p<8>, %one, %none, %first; .reg .b16 %h<4>; .reg .b32 %junk; .reg .b64 %wild;\n"
    ".shared .align 1024 .b8 tile[8192]; .shared .align 4 .b32 slot; .shared .align 8 .b64 bar;\n"
    "ld.param.u64 %out, [out];\n"
    "mov.u32 %lane, %tid.x; setp.eq.u32 %first, %lane, 0; setp.ge.u32 %one, %lane, 0; setp.lt.u32 %none, "
    "%lane, 0;\n"
    "mul.wide.u32 %rd0, %lane, 4; add.u64 %out, %out, %rd0;\n"
    "mov.u32 %r0, tile; shl.b32 %r1, %lane, 2; add.u32 %r1, %r1, %r0; mov.u32 %r2, 0;\n"
    "FILL: st.shared.u32 [%r1], 0x3c003c00; add.u32 %r1, %r1, 128; add.u32 %r2, %r2, 1;\n"
    "setp.lt.u32 %p0, %r2, 64; @%p0 bra FILL;\n"
    "@%first mbarrier.init.shared.b64 [bar], 1;\n"
    "fence.proxy.async; bar.warp.sync 0xffffffff;\n"
    "mov.u32 %r3, slot; mov.u32 %r4, 32;\n"
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], %r4;\n"
    "ld.shared.u32 %ta, [slot];\n"
    "and.b32 %r5, %r0, 0x3ffff; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd1, %r5;\n"
    "or.b64 %da, %rd1, 0x0000400800800000; add.u64 %rd2, %rd1, 256; or.b64 %db, %rd2, 0x0000400800080000;\n"
    "mov.u32 %id, 0x08020010;\n";
/* Lane 0 commits, all wait; column 3 goes to `out`. */
static const char RESULT[] = "@%first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
                             "WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra WAIT;\n"
                             "tcgen05.fence::after_thread_sync;\n"
                             "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r10, %r11, %r12, %r13}, [%ta];\n"
                             "tcgen05.wait::ld.sync.aligned;\n"
                             "cvt.rzi.u32.f32 %r13, %r13; st.global.u32 [%out], %r13;\n";
static const char END[] = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %ta, 32;\n"
                          "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nret;\n}\n";

static char text[65536];

static const char *kernel(const char *first, ...) {
    va_list ap;
    va_start(ap, first);
    snprintf(text, sizeof text, "%s%s", RUN_HEADER, BEGIN);
    for (const char *part = first; part; part = va_arg(ap, const char *))
        strncat(text, part, sizeof text - strlen(text) - 1);
    va_end(ap);
    return text;
}

static const struct run_shape WARP = {.block = 32};

/* The kernel must end, and every lane give `want`. */
static void gives(const char *ptx, uint32_t want) {
    struct run r;
    if (run_open(&r, ptx)) {
        uint64_t out = run_alloc(&r, 128);
        if (run_ok(&r, "k", WARP, 1, &out)) {
            uint32_t bad = 0;
            for (uint32_t l = 0; l < 32; l++)
                bad += run_u32(&r, out, l) != want;
            if (!CHECK_EQ(bad, 0))
                fprintf(stderr, "    lane 0 has %u, want %u\n", run_u32(&r, out, 0), want);
        }
    }
    run_close(&r);
}

static void fails(const char *ptx, const char *id, const char *part) {
    struct run r;
    if (run_open(&r, ptx)) {
        uint64_t out = run_alloc(&r, 128);
        if (run_faults(&r, "k", WARP, 1, &out, id))
            CHECK_HAS(r.log, part);
    }
    run_close(&r);
}

static void multiplies(void) {
    const char *first = "@%first tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, %none;\n";
    gives(kernel(first, RESULT, END, NULL), 16);
    gives(kernel(first, "@%first tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, %one;\n", RESULT, END, NULL),
          32);
    gives(
        kernel(first, "@%first tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, %one, 3;\n", RESULT, END, NULL),
        18);
    gives(kernel(first,
                 "@%first tcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [%ta+0], %da, %db, %id, "
                 "!%none;\n",
                 RESULT, END, NULL),
          32);
    /* A mask that disables all lanes: the second product is lost. */
    gives(kernel(first,
                 "mov.u32 %r20, 0xffffffff;\n"
                 "@%first tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, {%r20, %r20, %r20, %r20}, "
                 "%one;\n",
                 RESULT, END, NULL),
          16);
    /* Each active lane issues: 32 products more. */
    gives(kernel(first,
                 "bar.warp.sync 0xffffffff;\ntcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, %one;\n"
                 "bar.warp.sync 0xffffffff;\n",
                 RESULT, END, NULL),
          16 * 33);
}

static void a_from_tmem(void) {
    gives(kernel("@%first tcgen05.cp.cta_group::1.128x256b [%ta+8], %da;\n"
                 "@%first tcgen05.mma.cta_group::1.kind::f16 [%ta], [%ta+8], %db, %id, %none;\n",
                 RESULT, END, NULL),
          16);
    gives(kernel("@%first tcgen05.cp.cta_group::1.128x128b [%ta+8], %da;\n"
                 "@%first tcgen05.cp.cta_group::1.32x128b.warpx4 [%ta+12], %da;\n"
                 "@%first tcgen05.shift.cta_group::1.down [%ta+8];\n"
                 "@%first tcgen05.mma.cta_group::1.kind::f16.ashift [%ta], [%ta+8], %db, %id, %none;\n",
                 RESULT, END, NULL),
          16);
}

static void stores(void) {
    /* st, wait::st, ld in another image: 16x64b.x2 of one warp covers lanes 0-15, columns 0-3. */
    gives(kernel("mov.u32 %r20, 0x42280000; mov.u32 %r21, 0x42280000;\n" /* 42.0 */
                 "tcgen05.st.sync.aligned.16x64b.x2.b32 [%ta], {%r20, %r21};\n"
                 "mov.u32 %r20, 0;\n" /* the store has its values */
                 "add.u32 %r22, %ta, 0x100000;\n"
                 "tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r22], 2, {%r21, %r21};\n"
                 "tcgen05.wait::st.sync.aligned;\n",
                 RESULT, END, NULL),
          42);
    /* A load delivers into the frame of the function that issued it. */
    char with_func[sizeof text];
    snprintf(with_func, sizeof with_func,
             "%s.func (.param .b32 o) f(.param .b32 a)\n{\n.reg .b32 %%x, %%a;\n"
             "ld.param.b32 %%a, [a];\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%%x}, "
             "[%%a];\ntcgen05.wait::ld.sync.aligned;\n"
             "add.u32 %%x, %%x, 1;\nst.param.b32 [o], %%x;\nret;\n}\n",
             RUN_HEADER);
    const char *body = kernel("tcgen05.st.sync.aligned.32x32b.x1.b32 [%ta], {%r4};\ntcgen05.wait::st.sync.aligned;\n"
                              "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%ta];\n"
                              "{\n.param .b32 pa; .param .b32 po;\nst.param.b32 [pa], %ta;\ncall.uni (po), f, (pa);\n"
                              "ld.param.b32 %r31, [po];\n}\ntcgen05.wait::ld.sync.aligned;\n"
                              "add.u32 %r30, %r30, %r31; st.global.u32 [%out], %r30;\n",
                              END, NULL);
    strncat(with_func, body + strlen(RUN_HEADER), sizeof with_func - strlen(with_func) - 1);
    gives(with_func, 65);
}

/* A load ends with the call that issued it: the next one, whose frame takes the same place, has its own registers. */
static void outlived(void) {
    char with_func[sizeof text];
    snprintf(with_func, sizeof with_func,
             "%s.func f(.param .b32 a, .param .b64 o)\n{\n.reg .b32 %%x, %%a;\n.reg .b64 %%o;\n.reg .pred %%p;\n"
             "ld.param.b32 %%a, [a];\nld.param.b64 %%o, [o];\nsetp.eq.u64 %%p, %%o, 0;\n@!%%p bra LATER;\n"
             "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%%x}, [%%a];\nret;\n"
             "LATER:\ntcgen05.wait::ld.sync.aligned;\nst.global.u32 [%%o], %%x;\nret;\n}\n",
             RUN_HEADER);
    const char *body = kernel("tcgen05.st.sync.aligned.32x32b.x1.b32 [%ta], {%r4};\ntcgen05.wait::st.sync.aligned;\n"
                              "{\n.param .b32 pa; .param .b64 po;\nst.param.b32 [pa], %ta;\n"
                              "st.param.b64 [po], 0;\ncall.uni f, (pa, po);\ncall.uni f, (pa, po);\n"
                              "st.param.b64 [po], %out;\ncall.uni f, (pa, po);\n}\n",
                              END, NULL);
    strncat(with_func, body + strlen(RUN_HEADER), sizeof with_func - strlen(with_func) - 1);
    fails(with_func, "uninitialised-global-store", "never written");
}

/* A load that nothing waited for: the register dependency holds, and the dealloc behind it is warned about. */
static void register_dependency(void) {
    struct run r;
    if (run_open(&r, kernel("tcgen05.st.sync.aligned.32x32b.x1.b32 [%ta], {%r4};\ntcgen05.wait::st.sync.aligned;\n"
                            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%ta];\n"
                            "add.u32 %r30, %r30, 1; st.global.u32 [%out], %r30;\n",
                            END, NULL))) {
        uint64_t out = run_alloc(&r, 128);
        run_check_races(&r);
        CHECK(run_ok(&r, "k", WARP, 1, &out));
        CHECK_EQ(run_u32(&r, out, 7), 33);
        CHECK_HAS(r.log, "tcgen05-ld-not-waited");
    }
    run_close(&r);
}

/* Lanes are numbered in seven bits, and the upper two are the warp's: an address with others names the warp's lanes,
 * which is told where asked for. */
static void lane_beyond(const char *far, const char *report, enum mach_check check) {
    struct run r;
    char add[64];
    snprintf(add, sizeof add, "add.u32 %%r40, %%ta, %s;\n", far);
    if (run_open(&r, kernel(add,
                            "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r40], {%r4};\n"
                            "tcgen05.wait::st.sync.aligned;\n"
                            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%ta];\n"
                            "tcgen05.wait::ld.sync.aligned;\nst.global.u32 [%out], %r30;\n",
                            END, NULL))) {
        uint64_t out = run_alloc(&r, 128);
        r.gpu->config.check = check;
        CHECK(run_ok(&r, "k", WARP, 1, &out));
        CHECK_EQ(run_u32(&r, out, 7), 32);
        if (check == MACH_CHECK_STRICT)
            CHECK_HAS(r.log, report);
        else
            CHECK_STR(r.log, "");
    }
    run_close(&r);
}

static void faults(void) {
    const char *mma = "@%first tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, %none;\n";
    fails(kernel("add.u32 %r40, %ta, %lane;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r41}, [%r40];\n", END, NULL),
          "tcgen05-not-uniform", "the tensor memory address");
    fails(kernel("add.u32 %r40, %ta, 0x100000;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r41}, [%r40];\n", END, NULL),
          "tcgen05-lane-alignment", "starts at lane 16");
    fails(
        kernel("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r41}, [%ta+500];\ntcgen05.wait::ld.sync.aligned;\n", END, NULL),
        "tcgen05-tmem-unallocated", "tcgen05.ld");
    fails(kernel("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r41}, [%junk];\n", END, NULL), "never written",
          "the tensor memory address");
    fails(kernel("mov.u32 %id, %junk;\n", mma, RESULT, END, NULL), "never written", "the instruction descriptor");
    fails(kernel("mov.u64 %db, %wild;\n", mma, RESULT, END, NULL), "never written", "the descriptor of B");
    fails(kernel("mov.u32 %id, 0x08420010;\n", mma, RESULT, END, NULL), "tcgen05-mma-shape", "264");
    fails(
        kernel("mov.u32 %r40, 48;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], %r40;\n", END, NULL),
        "tcgen05-alloc-columns", "48");
    fails(kernel("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 32;\n",
                 END, NULL),
          "tcgen05-alloc-after-relinquish", "32");
    fails(kernel("add.u32 %ta, %ta, 32;\n", END, NULL), "tcgen05-dealloc-mismatch", "0x00000020");
    fails(kernel("ret;\n}\n", NULL), "tcgen05-dealloc-missing", "tcgen05.alloc.cta_group::1");
    fails(kernel("mov.u16 %h0, 2;\n@%first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
                 ".multicast::cluster.b64 [bar], %h0;\n",
                 END, NULL),
          "tcgen05-commit-mask", "0x0002");
    fails(kernel("@%first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [slot+64];\n", RESULT,
                 END, NULL),
          "shared", "");
    fails(kernel("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r41}, [%ta];\ntcgen05.wait::ld.sync.aligned;\n"
                 "add.u32 %r41, %r41, 1;\nsetp.eq.u32 %p3, %r41, 0;\nselp.u32 %r41, 1, 2, %p3;\n"
                 "st.global.u32 [%out], %r41;\n",
                 END, NULL),
          "never written", "uninitialised-global-store");
}

/* Forms that are not here yet, or are no forms at all, by name and with the reason. */
static void refusals(void) {
    static const struct {
        const char *insn, *why;
    } forms[] = {
        {"tcgen05.mma.sp.cta_group::1.kind::f16 [%ta], %da, %db, [%ta], %id, %one;", "sparse"},
        {"tcgen05.mma.ws.cta_group::1.kind::f16 [%ta], %da, %db, %id, %one;", "weight-stationary mode"},
        {"tcgen05.mma.cta_group::1.kind::mxf8f6f4 [%ta], %da, %db, %id, [%ta], [%ta], %one;", "needs .block_scale"},
        {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%ta], %da, %db, %id, [%ta], [%ta], "
         "%one;",
         "scale_vectorsize"},
        {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%ta], %da, %db, %id, [%ta], [%ta], %one;",
         "scale_vectorsize"},
        {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%ta], %da, %db, %id, %one;", "[scale-A], [scale-B]"},
        {"tcgen05.mma.cta_group::1.kind::i8 [%ta], %da, %db, %id, %one, 1;", "scale-input-d is 0 to 15"},
        {"tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, %one, 16;", "scale-input-d is 0 to 15"},
        {"tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, {%r1, %r1}, %one;",
         "disable-output-lane has 4 elements"},
        {"tcgen05.mma.cta_group::1.kind::f16.ashift [%ta], %da, %db, %id, %one;", ".ashift needs A in tensor memory"},
        {"tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::use [%ta], [%ta], %db, %id, %one;", "excludes"},
        {"tcgen05.cp.cta_group::1.64x128b [%ta], %da;", ".warpx2"},
        {"tcgen05.cp.cta_group::1.128x256b.warpx4 [%ta], %da;", "neither"},
        {"tcgen05.cp.cta_group::1.128x256b.b6x16_p32 [%ta], %da;", "decompression"},
        {"tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%ta];", "Tables 49"},
        {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1}, [%ta];", "number of registers"},
        {"tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%r1}, [%ta];", ".pack::16b"},
        {"tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%ta], 600, {%r1};", "immHalfSplitoff"},
        {"tcgen05.ld.red.sync.aligned.32x32b.x2.u32.max {%r1, %r2}, %r3, [%ta];", "sm_103f"},
        {"tcgen05.commit.cta_group::1.b64 [bar];", "completion mechanism"},
    };
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        fails(kernel(forms[i].insn, "\n", END, NULL), "unsupported", forms[i].why);
}

/* `target`: 7 characters in the place of sm_100a */
static const char *for_target(const char *target, const char *insn, const char *result) {
    char *at = strstr((kernel(insn, "\n", result, END, NULL), text), "sm_100a");
    if (CHECK(at != NULL))
        memcpy(at, target, 7);
    return text;
}

/* Not refused, whatever else is wrong with its operands. */
static void supported(const char *ptx) {
    struct run r;
    if (run_open(&r, ptx)) {
        uint64_t out = run_alloc(&r, 128);
        run_kernel(&r, "k", WARP, 1, &out);
        if (!CHECK(strstr(r.log, "unsupported") == NULL))
            fprintf(stderr, "%s\n", r.log);
    }
    run_close(&r);
}

/* What .target has not is refused, as by ptxas. */
static void targets(void) {
    static const char f16[] = "@%first tcgen05.mma.cta_group::1.kind::f16 [%ta], %da, %db, %id, %none;";
    static const struct {
        const char *insn, *why;
    } forms[] = {
        {"tcgen05.shift.cta_group::1.down [%ta];", "tcgen05.shift needs .target sm_100a"},
        {"tcgen05.mma.cta_group::1.kind::i8 [%ta], %da, %db, %id, %one;", ".kind::i8 needs .target sm_100a"},
        {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%ta], %da, %db, %id, [%ta], "
         "[%ta], %one;",
         "say .block32"},
        {"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%ta], %da, %db, %id, [%ta], [%ta], "
         "%one;",
         "say .block32"},
        {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%ta], %da, %db, %id, [%ta], "
         "[%ta], %one;",
         "say .block32"},
    };
    gives(for_target("sm_100f", f16, RESULT), 16);
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        fails(for_target("sm_100f", forms[i].insn, ""), "unsupported", forms[i].why);
        supported(for_target("sm_100a", forms[i].insn, ""));
    }
    fails(for_target("sm_100 ", f16, RESULT), "unsupported", "tcgen05 needs .target sm_100f or sm_100a");
    fails(for_target("sm_90  ", f16, RESULT), "unsupported", "tcgen05 needs .target sm_100f or sm_100a");
}

int main(void) {
    multiplies();
    a_from_tmem();
    stores();
    outlived();
    register_dependency();
    for (int level = 0; level < 2; level++) {
        lane_beyond("0x800000", "tcgen05.st starts at lane 128; lane 0 is taken", (enum mach_check)level);
        lane_beyond("0x400000", "tcgen05-lane-window", (enum mach_check)level);
    }
    faults();
    refusals();
    targets();
    return check_report();
}
