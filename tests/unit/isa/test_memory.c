/* Loads and stores (PTX ISA 9.7.9.8 - .18) and ldmatrix/stmatrix, run as PTX. */
#include "unit/run_ptx.h"

/* Lane l: %tid.x in %r1, the address in[l * stride] in %rd1, out[l * 64] in %rd2. */
#define KERNEL(name, stride)                                                                                           \
    ".visible .entry " name "(.param .u64 in, .param .u64 out) {\n"                                                    \
    ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .b128 %q<4>;\n"                     \
    ".shared .align 16 .b8 sm[4096]; .local .align 16 .b8 lc[64];\n"                                                   \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"                                        \
    "mul.wide.u32 %rd3, %r1, " stride "; add.s64 %rd1, %rd1, %rd3;\n"                                                  \
    "mul.wide.u32 %rd4, %r1, 64; add.s64 %rd2, %rd2, %rd4;\n"                                                          \
    "mov.u32 %r2, sm; mad.lo.u32 %r3, %r1, " stride ", %r2;\n"

/* clang-format off */
static const char widths[] = RUN_HEADER
    KERNEL("extend", "8") /* 8- and 16-bit values into wider registers: sign or zero (9.4.1) */
    "ld.global.s8 %r4, [%rd1]; ld.global.u8 %r5, [%rd1]; ld.global.b8 %h1, [%rd1+1]; "
    "ld.global.s8 %h2, [%rd1+1];\n"
    "ld.global.s16 %r6, [%rd1]; ld.global.u16 %rd5, [%rd1]; ld.global.s32 %rd6, [%rd1+4]; "
    "ld.global.u32 %rd7, [%rd1+4];\n"
    "cvt.u32.u16 %r7, %h1; cvt.u32.u16 %r8, %h2;\n"
    "st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7}; st.global.u32 [%rd2+16], %r8; "
    "st.global.u64 [%rd2+24], %rd5;\n"
    "st.global.v2.b64 [%rd2+32], {%rd6, %rd7}; ret; }\n"
    KERNEL("narrow", "8") /* stores chop wider registers */
    "ld.global.u64 %rd5, [%rd1]; st.global.u8 [%rd2], %rd5; cvt.u32.u64 %r4, %rd5; "
    "st.global.u16 [%rd2+2], %r4;\n"
    "st.global.b8 [%rd2+1], %r4; st.global.u32 [%rd2+4], %rd5; ret; }\n"
    KERNEL("wide", "32")
    "ld.global.v8.b32 {%r10,%r11,%r12,_,%r14,%r15,%r16,%r17}, [%rd1];\n"
    "st.global.v8.b32 [%rd2], {%r17,%r16,%r15,%r14,_,%r12,%r11,%r10};\n"
    "ld.global.nc.L1::no_allocate.L2::evict_first.v4.u64 {%rd10,%rd11,%rd12,%rd13}, [%rd1];\n"
    "st.global.v4.b64 [%rd2+32], {%rd13,%rd12,%rd11,%rd10}; ret; }\n"
    KERNEL("bulk", "8") /* st.bulk clears what was never written, and what was */
    "setp.eq.u32 %p1, %r1, 0; st.shared.u64 [%r3], -1; bar.sync 0; @%p1 st.bulk.weak.shared::cta [%r2+8], 4080, 0; "
    "bar.sync 0;\n"
    "ld.shared.u64 {%rd5}, [%r3]; ld.shared.u64 %rd6, [%r3+2048];\n" /* braces around one register */
    "st.global.u64 [%rd2], {%rd5}; st.global.u64 [%rd2+8], %rd6; ret; }\n"
    KERNEL("quad", "16")
    "ld.global.b128 %q1, [%rd1]; st.shared.b128 [%r3], %q1; "
    "ld.shared.v4.b32 {%r10,%r11,%r12,%r13}, [%r3];\n"
    "st.global.v4.b32 [%rd2], {%r13,%r12,%r11,%r10}; mov.b128 {%rd5,%rd6}, %q1;\n"
    "st.global.v2.u64 [%rd2+16], {%rd6,%rd5}; ret; }\n"
    KERNEL("hints", "8")
    "ld.volatile.global.u32 %r4, [%rd1]; ld.relaxed.gpu.global.u32 %r5, [%rd1]; "
    "ld.acquire.sys.global.u32 %r6, [%rd1];\n"
    "ld.global.ca.u32 %r7, [%rd1]; ld.global.cv.u32 %r8, [%rd1]; "
    "ld.weak.global.L2::128B.u32 %r9, [%rd1];\n"
    "createpolicy.fractional.L2::evict_last.b64 %rd9, 0.5; "
    "ld.global.L2::cache_hint.u32 %r10, [%rd1], %rd9;\n"
    "ld.mmio.relaxed.sys.global.u32 %r11, [%rd1]; ldu.global.u32 %r12, [%rd1]; ld.u32 %r13, [%rd1];\n"
    "add.u32 %r4,%r4,%r5; add.u32 %r4,%r4,%r6; add.u32 %r4,%r4,%r7; add.u32 %r4,%r4,%r8; "
    "add.u32 %r4,%r4,%r9;\n"
    "add.u32 %r4,%r4,%r10; add.u32 %r4,%r4,%r11; add.u32 %r4,%r4,%r12; add.u32 %r4,%r4,%r13;\n"
    "st.release.gpu.global.u32 [%rd2], %r4; st.global.wt.u32 [%rd2+4], %r4; "
    "st.relaxed.cta.global.L1::no_allocate.u32 [%rd2+8], %r4;\n"
    "st.global.L2::cache_hint.u32 [%rd2+12], %r4, %rd9; st.volatile.u32 [%rd2+16], %r4;\n"
    "prefetch.global.L2 [%rd1]; prefetchu.L1 [%rd1]; prefetch.global.L2::evict_last [%rd1]; ret; }\n";
/* clang-format on */

static void test_widths(void) {
    struct run r;
    if (!run_open(&r, widths))
        return run_close(&r);
    uint64_t in = run_alloc(&r, 32 * 32), out = run_alloc(&r, 32 * 64), args[] = {in, out};
    uint8_t *b = run_at(&r, in, 32 * 32);
    for (unsigned i = 0; i < 32 * 32; i++)
        b[i] = (uint8_t)(i * 37 + 129);
    struct run_shape warp = {.block = 32};
    if (run_ok(&r, "extend", warp, 2, args))
        for (unsigned l = 0; l < 32; l++) {
            const uint8_t *p = b + 8 * l;
            int16_t h;
            int32_t w;
            memcpy(&h, p, 2);
            memcpy(&w, p + 4, 4);
            CHECK_EQ((int32_t)run_u32(&r, out, 16 * l), (int8_t)p[0]);
            CHECK_EQ(run_u32(&r, out, 16 * l + 1), p[0]);
            CHECK_EQ((int32_t)run_u32(&r, out, 16 * l + 2), h);
            CHECK_EQ(run_u32(&r, out, 16 * l + 3), p[1]);
            CHECK_EQ(run_u32(&r, out, 16 * l + 4), (uint16_t)(int8_t)p[1]);
            CHECK_EQ(run_u64(&r, out, 8 * l + 3), (uint16_t)h);
            CHECK_EQ(run_u64(&r, out, 8 * l + 4), (uint64_t)(int64_t)w);
            CHECK_EQ(run_u64(&r, out, 8 * l + 5), (uint32_t)w);
        }
    if (run_ok(&r, "narrow", warp, 2, args))
        for (unsigned l = 0; l < 32; l++) {
            const uint8_t *p = b + 8 * l, want[8] = {p[0], p[0], p[0], p[1], p[0], p[1], p[2], p[3]};
            CHECK_MEM(run_at(&r, out + 64 * l, 8), want, 8);
        }
    if (run_ok(&r, "wide", warp, 2, args))
        for (unsigned l = 0; l < 32; l++)
            for (unsigned k = 0; k < 8; k++) {
                uint32_t v;
                memcpy(&v, b + 32 * l + 4 * (7 - k), 4);
                if (k != 3 && k != 4)
                    CHECK_EQ(run_u32(&r, out, 16 * l + k), v);
                memcpy(&v, b + 32 * l + 4 * ((3 - k / 2) * 2 + k % 2), 4);
                CHECK_EQ(run_u32(&r, out, 16 * l + 8 + k), v);
            }
    if (run_ok(&r, "bulk", warp, 2, args))
        for (unsigned l = 0; l < 32; l++) {
            CHECK_EQ(run_u64(&r, out, 8 * l), l ? 0 : UINT64_MAX);
            CHECK_EQ(run_u64(&r, out, 8 * l + 1), 0);
        }
    if (run_ok(&r, "quad", warp, 2, args))
        for (unsigned l = 0; l < 32; l++)
            for (unsigned k = 0; k < 4; k++) {
                uint32_t v;
                memcpy(&v, b + 16 * l + 4 * (3 - k), 4);
                CHECK_EQ(run_u32(&r, out, 16 * l + k), v);
                memcpy(&v, b + 16 * l + 4 * (k ^ 2), 4);
                CHECK_EQ(run_u32(&r, out, 16 * l + 4 + k), v);
            }
    if (run_ok(&r, "hints", warp, 2, args))
        for (unsigned l = 0; l < 32; l++) {
            uint32_t v;
            memcpy(&v, b + 8 * l, 4);
            for (unsigned k = 0; k < 5; k++)
                CHECK_EQ(run_u32(&r, out, 16 * l + k), 10 * v);
        }
    run_close(&r);
}

/* Spaces and windows: shared, local, generic, parameters, constants. */
/* clang-format off */
static const char spaces[] = RUN_HEADER
    ".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n"
    ".visible .global .align 8 .u64 gvar = 77;\n"
    KERNEL("spaces", "4")
    ".reg .b64 %g<8>;\n"
    "st.shared.u32 [%r3], %r1; cvta.shared.u64 %g1, sm; mul.wide.u32 %rd5, %r1, 4; "
    "add.s64 %g1, %g1, %rd5;\n"
    "ld.u32 %r4, [%g1]; st.global.u32 [%rd2], %r4;\n"
    /* generic load of shared memory */
    "st.local.u32 [lc+8], %r1; mov.u64 %rd6, lc; cvta.local.u64 %g2, %rd6; st.u32 [%g2+12], 1234;\n"
    "ld.local.v2.u32 {%r5, %r6}, [lc+8];\n"
    "ld.u32 %r7, [%g2+8]; add.u32 %r7, %r7, %r6; st.global.v2.u32 [%rd2+8], {%r5, %r7};\n"
    "and.b32 %r8, %r1, 3; mul.wide.u32 %rd7, %r8, 4; mov.u64 %rd8, table; add.s64 %rd8, %rd8, %rd7;\n"
    "ld.const.u32 %r9, [%rd8]; ld.const.u32 %r10, [table+4]; st.global.v2.u32 [%rd2+16], {%r9, %r10};\n"
    "cvta.global.u64 %g3, gvar; ld.u64 %rd9, [%g3]; ld.global.u64 %rd10, [gvar]; "
    "st.global.v2.u64 [%rd2+32], {%rd9, %rd10};\n"
    "mov.b64 %g4, in; cvta.param.u64 %g4, %g4; ld.u64 %rd11, [%g4]; st.global.u64 [%rd2+48], %rd11; "
    "ret; }\n"
    ".func (.param .b64 r) twice(.param .b32 a, .param .align 4 .b8 s[8]) {\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<3>; ld.param.u32 %r1, [a]; ld.param.v2.u16 {%r2, %r3}, [s+4];\n"
    "add.u32 %r1, %r1, %r2; mul.wide.u32 %rd1, %r1, %r3; st.param.b64 [r], %rd1; ret; }\n"
    KERNEL("calls", "4")
    "{ .param .b32 a; .param .align 4 .b8 s[8]; .param .b64 r;\n"
    "st.param.b32 [a], %r1; st.param.b8 [s+4], 3; st.param.b8 [s+5], 1; st.param.b16 [s+6], 100; "
    "st.param.b32 [s], 0;\n"
    "call (r), twice, (a, s); ld.param.b64 %rd5, [r]; }\n"
    "st.global.u64 [%rd2], %rd5; ret; }\n"
    /* what pads a structure behind its character was never written */
    ".func (.param .b32 r) first(.param .align 4 .b8 s[4]) {\n"
    ".reg .b32 %r1; ld.param.u8 %r1, [s]; st.param.b32 [r], %r1; ret; }\n"
    KERNEL("padded", "4")
    "{ .param .align 4 .b8 s[4]; .param .b32 r; .reg .b16 %c, %pad; mov.u16 %c, 7;\n"
    "st.param.v4.b8 [s], {%c, %pad, %pad, %pad}; call (r), first, (s); ld.param.b32 %r4, [r]; }\n"
    "st.global.u32 [%rd2], %r4; ret; }\n"
    KERNEL("unwritten", "4")
    "{ .param .align 4 .b8 s[4]; .param .b32 r; .reg .b16 %pad;\n"
    "st.param.v2.b8 [s], {%pad, %pad}; call (r), first, (s); ld.param.b32 %r4, [r]; }\n"
    "st.global.u32 [%rd2], %r4; ret; }\n";
/* clang-format on */

static void test_spaces(void) {
    struct run r;
    if (!run_open(&r, spaces))
        return run_close(&r);
    uint64_t out = run_alloc(&r, 64 * 64), args[] = {0x1234567890, out};
    static const uint32_t table[] = {11, 22, 33, 44};
    if (run_ok(&r, "spaces", (struct run_shape){.block = 64}, 2, args))
        for (unsigned l = 0; l < 64; l++) {
            CHECK_EQ(run_u32(&r, out, 16 * l), l);
            CHECK_EQ(run_u32(&r, out, 16 * l + 2), l);
            CHECK_EQ(run_u32(&r, out, 16 * l + 3), l + 1234);
            CHECK_EQ(run_u32(&r, out, 16 * l + 4), table[l & 3]);
            CHECK_EQ(run_u32(&r, out, 16 * l + 5), 22);
            CHECK_EQ(run_u64(&r, out, 8 * l + 4), 77);
            CHECK_EQ(run_u64(&r, out, 8 * l + 5), 77);
            CHECK_EQ(run_u64(&r, out, 8 * l + 6), 0x1234567890);
        }
    if (run_ok(&r, "calls", (struct run_shape){.block = 32}, 2, args))
        for (unsigned l = 0; l < 32; l++)
            CHECK_EQ(run_u64(&r, out, 8 * l), (l + 3 + 256) * 100);
    if (run_ok(&r, "padded", (struct run_shape){.block = 1}, 2, args))
        CHECK_EQ(run_u32(&r, out, 0), 7);
    run_faults(&r, "unwritten", (struct run_shape){.block = 1}, 2, args, "uninitialised-global-store");
    run_close(&r);
}

/* Remote shared memory: CTA r writes into CTA r ^ 1. */
/* clang-format off */
static const char remote[] = RUN_HEADER
    ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %rd<9>; "
    ".shared .align 4 .b32 x[32];\n"
    "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r3, x; "
    "mapa.shared::cluster.u32 %r4, %r3, %r2;\n"
    "mov.u32 %r5, %tid.x; mad.lo.u32 %r4, %r5, 4, %r4; mad.lo.u32 %r6, %r1, 100, %r5; "
    "st.shared::cluster.u32 [%r4], %r6;\n"
    "barrier.cluster.arrive; barrier.cluster.wait;\n"
    "mad.lo.u32 %r3, %r5, 4, %r3; ld.shared.u32 %r7, [%r3]; ld.param.u64 %rd1, [out]; "
    "mad.lo.u32 %r8, %r1, 32, %r5;\n"
    "mul.wide.u32 %rd2, %r8, 4; add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r7; ret; }\n"
    ".visible .entry own(.param .u64 out) { .reg .b32 %r<9>; .shared .align 4 .b32 x[32];\n"
    "mov.u32 %r3, x; mapa.shared::cluster.u32 %r4, %r3, 1; mov.u32 %r1, %cluster_ctarank;\n"
    "st.shared::cta.u32 [%r4], %r1; barrier.cluster.arrive; barrier.cluster.wait; ret; }\n";
/* clang-format on */

static void test_remote(void) {
    struct run r;
    if (run_open(&r, remote)) {
        uint64_t out = run_alloc(&r, 4 * 128);
        if (run_ok(&r, "k", (struct run_shape){.grid = 4, .block = 32, .cluster = 4}, 1, &out))
            for (unsigned i = 0; i < 128; i++)
                CHECK_EQ(run_u32(&r, out, i), (i / 32 ^ 1) * 100 + i % 32);
        run_faults(&r, "own", (struct run_shape){.grid = 2, .block = 32, .cluster = 2}, 1, &out, "shared-cta-not-own");
    }
    run_close(&r);
}

#define BAD(name, body) KERNEL(name, "4") body " ret; }\n"

/* clang-format off */
static const char bad[] = RUN_HEADER
    BAD("past", "ld.global.u32 %r4, [%rd1+96]; st.global.u32 [%rd2], %r4;")
    BAD("straddle", "ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd2+2048];")
    BAD("null", "mov.u64 %rd5, 0; st.global.u32 [%rd5+8], %r1;")
    BAD("odd", "ld.global.u32 %r4, [%rd1+2];")
    BAD("vecodd", "ld.global.v2.u32 {%r4, %r5}, [%rd1];")
    BAD("smem", "st.shared.u32 [%r3+4096], %r1;")
    BAD("system", "mov.u32 %r4, 0; ld.shared.u32 %r4, [%r4+512];")
    BAD("local", "st.local.u32 [lc+65536], %r1;")
    BAD("param", "ld.param.u64 %rd5, [in+16];")
    BAD("poison", "ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd2], %r4;")
    BAD("poison_byte",
        "st.shared.u8 [%r3], 1; st.shared.u16 [%r3+2], 1; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd2], %r4;")
    BAD("poison_of_local", "ld.local.u32 %r4, [lc]; add.u32 %r5, %r4, 1; st.global.u32 [%rd2], %r5;")
    BAD("poison_local",
        "ld.local.u32 %r4, [lc]; st.shared.u32 [%r3], %r4; ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd2], %r5;")
    BAD("poison_addr", "ld.global.u32 %r4, [%rd20];")
    BAD("wide_shared", "cvta.shared.u64 %rd5, sm; ld.v8.b32 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%rd5];")
    BAD("no_f16", "ld.global.f16 %h1, [%rd1];")
    BAD("no_scope", "ld.relaxed.global.u32 %r4, [%rd1];")
    BAD("st_const", "st.const.u32 [%rd1], %r1;")
    BAD("v8_shared", "ld.shared.v8.b32 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r3];")
    BAD("into_constant", "ld.global.u32 5, [%rd1];")
    BAD("into_special", "ld.global.u32 %tid.x, [%rd1];")
    BAD("mixed_vector", "ld.global.v2.u32 {%r4, %rd5}, [%rd1];")
    BAD("into_predicate", "ld.global.u8 %p1, [%rd1];")
    BAD("matrix_mixed", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, 7}, [%r3];")
    BAD("matrix_b8", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r4, %r5}, [%r3];")
    BAD("matrix_row", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3+8];")
    BAD("bulk", "st.bulk.weak.shared::cta [%r2], 12, 0;")
    BAD("too_narrow", "ld.global.u64 %r4, [%rd1];");
/* clang-format on */

static void test_bad(void) {
    static const struct {
        const char *kernel, *id, *text;
    } cases[] = {
        {"past", "global-out-of-bounds", "right after the 128-byte allocation"},
        {"straddle", "global-out-of-bounds", "past the 2052-byte allocation"},
        {"null", "global-out-of-bounds", "null pointer"},
        {"odd", "misaligned-address", "no multiple of 4"},
        {"vecodd", "misaligned-address", "no multiple of 8"},
        {"smem", "shared-out-of-bounds", "right after the CTA's 4096 bytes"},
        {"system", "shared-out-of-bounds", "the system owns"},
        {"local", "local-out-of-bounds", "local offset"},
        {"param", "param-out-of-bounds", "parameter offset 16"},
        {"poison", "uninitialised-global-store", "never written"},
        {"poison_byte", "uninitialised-global-store", "never written"},
        {"poison_of_local", "uninitialised-global-store", "ld read local memory that nothing had written"},
        {"poison_local", "uninitialised-global-store", "ld read local memory that nothing had written"},
        {"poison_addr", "", "the address"},
        {"wide_shared", "wide-access-space", "32 bytes"},
        {"no_f16", "unsupported", "use .b16"},
        {"no_scope", "unsupported", "need a scope"},
        {"st_const", "unsupported", "constant memory"},
        {"v8_shared", "unsupported", "32 in global"},
        {"too_narrow", "unsupported", "must be a 64-bit register"},
        {"into_constant", "unsupported", "operand 1 is a destination"},
        {"into_special", "unsupported", "operand 1 is a destination"},
        {"mixed_vector", "unsupported", "several widths"},
        {"into_predicate", "unsupported", "operand 1 is a destination"},
        {"matrix_mixed", "unsupported", "ldmatrix"},
        {"matrix_b8", "unsupported", "figures"},
        {"matrix_row", "misaligned-address", "multiple of 16"},
        {"bulk", "st-bulk-size", "12 bytes"},
    };
    struct run r;
    if (!run_open(&r, bad))
        return run_close(&r);
    uint64_t in = run_alloc(&r, 128), out = run_alloc(&r, 2052), args[] = {in, out};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_faults(&r, cases[i].kernel, (struct run_shape){.block = 32}, 2, args, cases[i].id);
        if (!CHECK_HAS(r.log, cases[i].text))
            fprintf(stderr, "in kernel %s\n", cases[i].kernel);
    }
    run_close(&r);
}

/* clang-format off */
static const char matrix[] = RUN_HEADER
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
    ".reg .b32 %r<40>; .reg .b64 %rd<8>; .shared .align 16 .b8 sm[512]; "
    ".shared .align 16 .b8 to[512];\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; "
    "mul.wide.u32 %rd3, %r1, 16;\n"
    "add.s64 %rd1, %rd1, %rd3; ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd1]; mov.u32 %r2, sm; "
    "shl.b32 %r3, %r1, 4;\n"
    "add.u32 %r2, %r2, %r3; st.shared.v4.u32 [%r2], {%r4,%r5,%r6,%r7}; bar.warp.sync -1;\n"
    "mov.u32 %r8, to; add.u32 %r8, %r8, %r3;\n"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10,%r11,%r12,%r13}, [%r2];\n"
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14,%r15}, [%r2];\n"
    "movmatrix.sync.aligned.m8n8.trans.b16 %r16, %r10;\n"
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r8], {%r10,%r11,%r12,%r13}; bar.warp.sync -1;\n"
    "ld.shared.v4.u32 {%r20,%r21,%r22,%r23}, [%r8];\n"
    "mul.wide.u32 %rd4, %r1, 64; add.s64 %rd2, %rd2, %rd4;\n"
    "st.global.v4.u32 [%rd2], {%r10,%r11,%r12,%r13}; st.global.v2.u32 [%rd2+16], {%r14,%r15}; "
    "st.global.u32 [%rd2+24], %r16;\n"
    "st.global.v4.u32 [%rd2+32], {%r20,%r21,%r22,%r23}; xor.b32 %r24, %r1, 5; shl.b32 %r24, %r24, 4;\n"
    "mov.u32 %r25, to; add.u32 %r24, %r24, %r25; bar.warp.sync -1;\n"
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r24], {%r10,%r11,%r12,%r13}; bar.warp.sync -1;\n"
    "ld.shared.v4.u32 {%r20,%r21,%r22,%r23}, [%r8]; st.global.v4.u32 [%rd2+48], {%r20,%r21,%r22,%r23}; ret; }\n";
/* clang-format on */

static void test_matrix(void) {
    struct run r;
    if (!run_open(&r, matrix))
        return run_close(&r);
    uint64_t in = run_alloc(&r, 512), out = run_alloc(&r, 32 * 64);
    uint16_t m[4][8][8];
    for (unsigned i = 0; i < 256; i++)
        m[i / 64][i / 8 % 8][i % 8] = (uint16_t)(i * 257 + 3);
    memcpy(run_at(&r, in, 512), m, 512);
    if (run_ok(&r, "k", (struct run_shape){.block = 32}, 2, (uint64_t[]){in, out}))
        for (unsigned l = 0; l < 32; l++) {
            unsigned g = l / 4, t = 2 * (l % 4);
            for (unsigned k = 0; k < 4; k++)
                CHECK_EQ(run_u32(&r, out, 16 * l + k), m[k][g][t] | (uint32_t)m[k][g][t + 1] << 16);
            for (unsigned k = 0; k < 2; k++)
                CHECK_EQ(run_u32(&r, out, 16 * l + 4 + k), m[k][t][g] | (uint32_t)m[k][t + 1][g] << 16);
            CHECK_EQ(run_u32(&r, out, 16 * l + 6), m[0][t][g] | (uint32_t)m[0][t + 1][g] << 16);
            for (unsigned k = 0; k < 8; k++) { /* stored transposed: row l % 8 of matrix l / 8 is its column */
                uint16_t v;
                memcpy(&v, run_at(&r, out + 64 * l + 32 + 2 * k, 2), 2);
                CHECK_EQ(v, m[l / 8][k][l % 8]);
                memcpy(&v, run_at(&r, out + 64 * l + 48 + 2 * k, 2), 2); /* rows in another order */
                CHECK_EQ(v, m[l / 8][(l ^ 5) % 8][k]);
            }
        }
    run_close(&r);
}

/* 16 bytes a lane at addresses that are not evenly spaced, as in a swizzled tile: lane l's lie in line l,
 * chunk l % 8. */
/* clang-format off */
#define QUAD(name)                                                                                           \
    KERNEL(name, "16")                                                                                       \
    "mov.u32 %r20, %r1; and.b32 %r4, %r1, 7; shl.b32 %r4, %r4, 4; shl.b32 %r5, %r1, 7; add.u32 %r4, %r4, %r5;\n" \
    "add.u32 %r4, %r4, %r2; add.u32 %r10, %r1, 100; add.u32 %r11, %r1, 200; add.u32 %r12, %r1, 300; "        \
    "add.u32 %r13, %r1, 400; xor.b32 %r6, %r1, 31; and.b32 %r7, %r6, 7; shl.b32 %r7, %r7, 4;\n"             \
    "shl.b32 %r8, %r6, 7; add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, %r2; setp.eq.u32 %p1, %r1, 5; "           \
    "@!%p1 mov.u32 %r21, %r12;\n"
static const char quads[] = RUN_HEADER
    QUAD("swizzled") /* each lane reads what lane 31 - l stored, over its own address */
    "st.shared.v4.u32 [%r4], {%r10,%r11,%r12,%r13}; bar.warp.sync -1;\n"
    "ld.shared.v4.u32 {%r14,%r7,%r15,%r16}, [%r7];\n"
    "st.global.v4.u32 [%rd2], {%r14,%r7,%r15,%r16}; ret; }\n"
    QUAD("same") /* all lanes store to one place: one of them is seen whole */
    "st.shared.v4.u32 [sm], {%r10,%r11,%r12,%r13}; bar.warp.sync -1; ld.shared.v4.u32 {%r14,%r17,%r15,%r16}, [sm];\n"
    "st.global.v4.u32 [%rd2], {%r14,%r17,%r15,%r16}; ret; }\n"
    QUAD("last") /* the same by a register: it is the highest lane's */
    "st.shared.v4.u32 [%r2], {%r10,%r11,%r12,%r13}; bar.warp.sync -1; ld.shared.v4.u32 {%r14,%r17,%r15,%r16}, [%r2];\n"
    "st.global.v4.u32 [%rd2], {%r14,%r17,%r15,%r16}; ret; }\n"
    QUAD("hole") /* the third word of lane 5 was never written: lane 26 may store the others */
    "st.shared.v4.u32 [%r4], {%r10,%r11,%r21,%r13}; bar.warp.sync -1;\n"
    "ld.shared.v4.u32 {%r14,%r17,%r15,%r16}, [%r7];\n"
    "st.global.v2.u32 [%rd2], {%r14,%r17}; st.global.u32 [%rd2+12], %r16; st.global.u32 [%rd2+8], %r15; ret; }\n"
    QUAD("unwritten")
    "@!%p1 st.shared.v4.u32 [%r4], {%r10,%r11,%r12,%r13}; bar.warp.sync -1;\n"
    "ld.shared.v4.u32 {%r14,%r17,%r15,%r16}, [%r7]; st.global.u32 [%rd2], %r16; ret; }\n";
/* clang-format on */

static void test_quads(void) {
    struct run r;
    if (!run_open(&r, quads))
        return run_close(&r);
    uint64_t in = run_alloc(&r, 512), out = run_alloc(&r, 32 * 64), args[] = {in, out};
    const struct run_shape warp = {.block = 32};
    if (run_ok(&r, "swizzled", warp, 2, args))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(run_u32(&r, out, i / 4 * 16 + i % 4), 31 - i / 4 + 100 * (i % 4 + 1));
    if (run_ok(&r, "same", warp, 2, args))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(run_u32(&r, out, i / 4 * 16 + i % 4), run_u32(&r, out, 0) - 100 + 100 * (i % 4 + 1));
    CHECK(run_u32(&r, out, 0) >= 100 && run_u32(&r, out, 0) < 132);
    if (run_ok(&r, "last", warp, 2, args))
        for (unsigned i = 0; i < 128; i++)
            CHECK_EQ(run_u32(&r, out, i / 4 * 16 + i % 4), 31 + 100 * (i % 4 + 1));
    memset(run_at(&r, out, 32 * 64), 0, 32 * 64);
    run_faults(&r, "hole", warp, 2, args, "uninitialised-global-store");
    CHECK_HAS(r.log, "1 of 32 lanes");
    CHECK_HAS(r.log, "lane 26");
    CHECK_EQ(run_u32(&r, out, 26 * 16), 105);
    CHECK_EQ(run_u32(&r, out, 26 * 16 + 3), 405);
    run_faults(&r, "unwritten", warp, 2, args, "uninitialised-global-store");
    CHECK_HAS(r.log, "1 of 32 lanes");
    run_close(&r);
}

int main(void) {
    test_quads();
    test_widths();
    test_spaces();
    test_remote();
    test_bad();
    test_matrix();
    return check_report();
}
