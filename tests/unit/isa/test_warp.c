/* Operations of a warp (PTX ISA 9.7.9.6, 9.7.13.2, .9 - .14) against a model on the host. */
#include "simd/simd.h"
#include "unit/run_ptx.h"

#include <stdlib.h>

#define REGS ".reg .pred %p<9>; .reg .b16 %h<4>; .reg .b32 %r<30>; .reg .f32 %f<9>; .reg .b64 %rd<20>;\n"
/* Lane l reads in[l] into %r4; results go to out[l * 8 ...] at %rd2. */
#define KERNEL(name)                                                                                                   \
    ".visible .entry " name "(.param .u64 in, .param .u64 out) {\n" REGS                                               \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"                                        \
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; ld.global.u32 %r4, [%rd1];\n"                                \
    "mul.wide.u32 %rd4, %r1, 32; add.s64 %rd2, %rd2, %rd4;\n"

#define SHFL(mode, p, b, c, at)                                                                                        \
    "shfl.sync." mode ".b32 %r5|" p ", %r4, " b ", " c ", 0xffffffff; selp.u32 %r6, 1, 0, " p ";\n"                    \
    "st.global.v2.u32 [%rd2+" at "], {%r5, %r6};\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    KERNEL("shfl")
    SHFL("up", "%p1", "3", "0", "0") SHFL("down", "%p2", "5", "0x1f", "8")
    SHFL("bfly", "%p3", "16", "0x1f", "16") SHFL("idx", "%p4", "%r1", "0x1807", "24")
    "ret; }\n"
    KERNEL("shfl8") /* segments of 8 lanes */
    SHFL("up", "%p1", "1", "0x1800", "0") SHFL("down", "%p2", "2", "0x181f", "8")
    SHFL("bfly", "%p3", "7", "0x181f", "16") SHFL("idx", "%p4", "2", "0x181f", "24")
    "ret; }\n"
    KERNEL("half") /* only the upper half takes part: 1 reads a member, 2 reads a thread that does not take part */
    "mov.u32 %r5, 0; setp.lt.u32 %p1, %r1, 16; @%p1 bra done;\n"
    "shfl.sync.idx.b32 %r5, %r4, 20, 0x1f, 0xffff0000;\n"
    "done: st.global.u32 [%rd2], %r5; ret; }\n"
    KERNEL("outside")
    "setp.lt.u32 %p1, %r1, 16; @%p1 bra done;\n"
    "shfl.sync.idx.b32 %r5, %r4, 3, 0x1f, 0xffff0000; st.global.u32 [%rd2], %r5;\n"
    "done: ret; }\n"
    KERNEL("vote")
    "and.b32 %r5, %r4, 1; setp.ne.u32 %p1, %r5, 0; setp.lt.u32 %p2, %r1, 32;\n"
    "vote.sync.all.pred %p3, %p1, 0xffffffff; vote.sync.any.pred %p4, %p1, 0xffffffff;\n"
    "vote.sync.uni.pred %p5, %p1, 0xffffffff; vote.sync.all.pred %p6, %p2, 0xffffffff;\n"
    "vote.sync.any.pred %p7, !%p2, 0xffffffff; vote.sync.uni.pred %p8, %p2, 0xffffffff;\n"
    "selp.u32 %r6, 1, 0, %p3; selp.u32 %r7, 2, 0, %p4; selp.u32 %r8, 4, 0, %p5; "
    "selp.u32 %r9, 8, 0, %p6;\n"
    "selp.u32 %r10, 16, 0, %p7; selp.u32 %r11, 32, 0, %p8; or.b32 %r6, %r6, %r7; "
    "or.b32 %r6, %r6, %r8;\n"
    "or.b32 %r6, %r6, %r9; or.b32 %r6, %r6, %r10; or.b32 %r6, %r6, %r11;\n"
    "vote.sync.ballot.b32 %r12, %p1, 0xffffffff; vote.sync.ballot.b32 %r13, !%p1, 0xffffffff;\n"
    "st.global.v4.u32 [%rd2], {%r6, %r12, %r13, %r1}; ret; }\n"
    KERNEL("votepart") /* a mask of three lanes, given as a constant */
    "mov.u32 %r12, 0; setp.gt.u32 %p1, %r1, 2; @%p1 bra done; setp.eq.u32 %p2, %r1, 1;\n"
    "vote.sync.any.pred %p3, %p2, 7; vote.sync.ballot.b32 %r12, %p2, 7; selp.u32 %r13, 8, 0, %p3; "
    "or.b32 %r12, %r12, %r13;\n"
    "done: st.global.u32 [%rd2], %r12; ret; }\n"
    KERNEL("match")
    "and.b32 %r5, %r4, 3; cvt.u64.u32 %rd5, %r5; shl.b64 %rd5, %rd5, 40;\n"
    "match.any.sync.b32 %r6, %r5, 0xffffffff; match.any.sync.b64 %r7, %rd5, 0xffffffff;\n"
    "match.all.sync.b32 %r8|%p1, %r5, 0xffffffff; shr.u32 %r9, %r1, 5; "
    "match.all.sync.b32 %r10|%p2, %r9, 0xffffffff;\n"
    "selp.u32 %r11, 1, 0, %p1; selp.u32 %r12, 2, 0, %p2; or.b32 %r11, %r11, %r12;\n"
    "st.global.v4.u32 [%rd2], {%r6, %r7, %r8, %r10}; st.global.u32 [%rd2+16], %r11; ret; }\n"
    KERNEL("redux")
    "redux.sync.add.u32 %r5, %r4, 0xffffffff; redux.sync.min.u32 %r6, %r4, 0xffffffff; "
    "redux.sync.max.u32 %r7, %r4, 0xffffffff;\n"
    "redux.sync.min.s32 %r8, %r4, 0xffffffff; redux.sync.max.s32 %r9, %r4, 0xffffffff; "
    "redux.sync.and.b32 %r10, %r4, 0xffffffff;\n"
    "redux.sync.or.b32 %r11, %r4, 0xffffffff; redux.sync.xor.b32 %r12, %r4, 0xffffffff;\n"
    "st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8}; "
    "st.global.v4.u32 [%rd2+16], {%r9, %r10, %r11, %r12}; ret; }\n"
    KERNEL("reduxf")
    "mov.b32 %f1, %r4; redux.sync.min.f32 %f2, %f1, 0xffffffff; "
    "redux.sync.max.f32 %f3, %f1, 0xffffffff;\n"
    "redux.sync.max.abs.f32 %f4, %f1, 0xffffffff; redux.sync.min.NaN.f32 %f5, %f1, 0xffffffff;\n"
    "st.global.v4.f32 [%rd2], {%f2, %f3, %f4, %f5}; ret; }\n"
    KERNEL("elect")
    "elect.sync %r5|%p1, 0xffffffff; selp.u32 %r6, 1, 0, %p1; activemask.b32 %r7; mov.u32 %r8, 99;\n"
    "setp.lt.u32 %p2, %r1, 12; @%p2 bra done; elect.sync %r8|%p3, 0xfffff000; activemask.b32 %r7;\n"
    "elect.sync _|%p4, 0xfffff000; selp.u32 %r9, 2, 0, %p4; or.b32 %r6, %r6, %r9;\n"
    "done: st.global.v4.u32 [%rd2], {%r5, %r6, %r7, %r8}; ret; }\n"
    KERNEL("self")
    "elect.sync %r5|%p1, 0xfffffffe; ret; }\n"
    KERNEL("old")
    "vote.all.pred %p1, %p2; ret; }\n"
    KERNEL("missing") /* lane 0 never comes */
    "setp.eq.u32 %p1, %r1, 0; @%p1 bra spin; bar.warp.sync 0xffffffff; ret;\n"
    "spin: nanosleep.u32 100; ld.volatile.global.u32 %r5, [%rd2]; setp.eq.u32 %p2, %r5, 0; "
    "@%p2 bra spin; ret; }\n"
    KERNEL("apart") /* the two sides of a branch meet at bar.warp.syncs of their own and exchange through memory */
    ".shared .align 4 .b32 x[32]; mov.u32 %r20, x; shl.b32 %r21, %r1, 2; add.u32 %r21, %r20, %r21; "
    "xor.b32 %r22, %r21, 4;\n"
    "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra even;\n"
    "st.shared.u32 [%r21], %r4; bar.warp.sync 0xffffffff; ld.shared.u32 %r6, [%r22]; bra done;\n"
    "even: add.u32 %r7, %r4, 1000; st.shared.u32 [%r21], %r7; bar.warp.sync 0xffffffff; "
    "ld.shared.u32 %r6, [%r22];\n"
    "done: st.global.u32 [%rd2], %r6; ret; }\n"
    KERNEL("guardbar") /* half of the warp waits at a guarded barrier for what the other half stores later */
    ".shared .align 4 .b32 x[32]; mov.u32 %r20, x; shl.b32 %r21, %r1, 2; add.u32 %r21, %r20, %r21; mov.u32 %r6, 0;\n"
    "setp.lt.u32 %p1, %r1, 16; @%p1 bar.warp.sync 0xffffffff; @%p1 ld.shared.u32 %r6, [%r21+64];\n"
    "@!%p1 st.shared.u32 [%r21], %r4; @!%p1 bar.warp.sync 0xffffffff; st.global.u32 [%rd2], %r6; ret; }\n"
    KERNEL("guarded") /* a guard that leaves the mask's lanes */
    "mov.u32 %r6, 0; setp.lt.u32 %p1, %r1, 4; vote.sync.ballot.b32 %r5, %p1, 0xffffffff;\n"
    "@%p1 redux.sync.add.u32 %r6, %r4, %r5; st.global.u32 [%rd2], %r6; ret; }\n";
/* clang-format on */

static int32_t lane_of(const char *mode, int32_t l, int32_t b, int32_t c, bool *ok) {
    int32_t seg = c >> 8 & 31, max = (l & seg) | (c & 31 & ~seg), j;
    if (mode[0] == 'u') {
        j = l - b;
        *ok = j >= max;
    } else {
        j = mode[0] == 'd' ? l + b : mode[0] == 'b' ? l ^ b : (l & seg) | (b & ~seg & 31);
        *ok = j <= max;
    }
    return *ok ? j : l;
}

static void check_shfl(struct run *r, uint64_t out, const uint32_t *in, unsigned at, const char *mode, int32_t b,
                       int32_t c) {
    for (int32_t l = 0; l < 32; l++) {
        bool ok;
        int32_t j = lane_of(mode, l, b < 0 ? l : b, c, &ok);
        CHECK_EQ(run_u32(r, out, 8 * (unsigned)l + at), in[j]);
        CHECK_EQ(run_u32(r, out, 8 * (unsigned)l + at + 1), ok);
    }
}

static const struct run_shape warp = {.block = 32};

static void test_shfl(struct run *r, uint64_t in, uint64_t out) {
    uint64_t args[] = {in, out};
    uint32_t *v = run_at(r, in, 128);
    if (run_ok(r, "shfl", warp, 2, args)) {
        check_shfl(r, out, v, 0, "up", 3, 0);
        check_shfl(r, out, v, 2, "down", 5, 31);
        check_shfl(r, out, v, 4, "bfly", 16, 31);
        check_shfl(r, out, v, 6, "idx", -1, 0x1807);
    }
    if (run_ok(r, "shfl8", warp, 2, args)) {
        check_shfl(r, out, v, 0, "up", 1, 0x1800);
        check_shfl(r, out, v, 2, "down", 2, 0x181f);
        check_shfl(r, out, v, 4, "bfly", 7, 0x181f);
        check_shfl(r, out, v, 6, "idx", 2, 0x181f);
    }
    if (run_ok(r, "half", warp, 2, args))
        for (unsigned l = 0; l < 32; l++)
            CHECK_EQ(run_u32(r, out, 8 * l), l < 16 ? 0 : v[20]);
    run_faults(r, "outside", warp, 2, args, "uninitialised-global-store");
}

static void test_votes(struct run *r, uint64_t in, uint64_t out) {
    uint64_t args[] = {in, out};
    uint32_t *v = run_at(r, in, 128), odd = 0;
    for (unsigned l = 0; l < 32; l++)
        odd |= (v[l] & 1) << l;
    if (run_ok(r, "vote", warp, 2, args))
        for (unsigned l = 0; l < 32; l++) {
            CHECK_EQ(run_u32(r, out, 8 * l), 2 + 8 + 32);
            CHECK_EQ(run_u32(r, out, 8 * l + 1), odd);
            CHECK_EQ(run_u32(r, out, 8 * l + 2), ~odd);
        }
    if (run_ok(r, "votepart", warp, 2, args))
        for (unsigned l = 0; l < 32; l++)
            CHECK_EQ(run_u32(r, out, 8 * l), l <= 2 ? 8 + 2 : 0);
    if (run_ok(r, "match", warp, 2, args))
        for (unsigned l = 0; l < 32; l++) {
            uint32_t same = 0;
            for (unsigned k = 0; k < 32; k++)
                same |= (uint32_t)((v[k] & 3) == (v[l] & 3)) << k;
            CHECK_EQ(run_u32(r, out, 8 * l), same);
            CHECK_EQ(run_u32(r, out, 8 * l + 1), same);
            CHECK_EQ(run_u32(r, out, 8 * l + 2), 0);
            CHECK_EQ(run_u32(r, out, 8 * l + 3), 0xffffffffu);
            CHECK_EQ(run_u32(r, out, 8 * l + 4), 2);
        }
    if (run_ok(r, "elect", warp, 2, args))
        for (unsigned l = 0; l < 32; l++) {
            CHECK_EQ(run_u32(r, out, 8 * l), 0);
            CHECK_EQ(run_u32(r, out, 8 * l + 1), l == 0 ? 1 : l == 12 ? 2 : 0);
            CHECK_EQ(run_u32(r, out, 8 * l + 2), l < 12 ? 0xffffffffu : 0xfffff000u);
            CHECK_EQ(run_u32(r, out, 8 * l + 3), l < 12 ? 99 : 12);
        }
}

static void test_redux(struct run *r, uint64_t in, uint64_t out) {
    uint64_t args[] = {in, out};
    uint32_t *v = run_at(r, in, 128), want[8] = {0, v[0], v[0], v[0], v[0], v[0], 0, 0};
    for (unsigned l = 0; l < 32; l++) {
        want[0] += v[l];
        want[1] = v[l] < want[1] ? v[l] : want[1];
        want[2] = v[l] > want[2] ? v[l] : want[2];
        want[3] = (int32_t)v[l] < (int32_t)want[3] ? v[l] : want[3];
        want[4] = (int32_t)v[l] > (int32_t)want[4] ? v[l] : want[4];
        want[5] &= v[l];
        want[6] |= v[l];
        want[7] ^= v[l];
    }
    if (run_ok(r, "redux", warp, 2, args))
        for (unsigned l = 0; l < 32; l++)
            CHECK_MEM(run_at(r, out + 32 * l, 32), want, 32);
    if (run_ok(r, "guarded", warp, 2, args))
        for (unsigned l = 0; l < 32; l++)
            CHECK_EQ(run_u32(r, out, 8 * l), l < 4 ? v[0] + v[1] + v[2] + v[3] : 0);
    uint32_t keep[32];
    memcpy(keep, v, sizeof keep);
    float f[32];
    for (unsigned l = 0; l < 32; l++)
        f[l] = l == 9 ? NAN : (float)l - 20.5f;
    memcpy(v, f, sizeof f);
    if (run_ok(r, "reduxf", warp, 2, args)) {
        float got[4];
        memcpy(got, run_at(r, out + 32 * 5, 16), 16);
        CHECK(got[0] == -20.5f && got[1] == 10.5f && got[2] == 20.5f);
        CHECK_EQ(run_u32(r, out, 8 * 5 + 3), 0x7fffffffu);
    }
    memcpy(v, keep, sizeof keep);
}

/* Each mode, with lanes and limits that are constants and that differ from lane to lane. */
static void test_shfl_operands(enum simd unit) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const uint32_t constant[][2] = {{0, 31}, {5, 0x81f}, {9, 0x1807}, {31, 0}, {34, 0x1f1f}, {16, 0x101f}};
    enum { KINDS = 4, NUM = 4 * KINDS * sizeof constant / sizeof *constant };
    struct run r;
    struct mach_config config = mach_config_b200();
    config.host_vectors = unit;
    char *ptx = NULL;
    size_t size;
    FILE *o = open_memstream(&ptx, &size);
    fputs(RUN_HEADER KERNEL("k") "ld.global.u32 %r7, [%rd1+128]; ld.global.u32 %r8, [%rd1+256];\n"
                                 "mad.wide.s32 %rd2, %r1, -24, %rd2;\n",
          o);
    for (unsigned n = 0; n < NUM; n++) {
        const uint32_t *c = constant[n / 16];
        char b_text[16] = "%r7", c_text[16] = "%r8";
        if (n & 1)
            snprintf(b_text, sizeof b_text, "%u", c[0]);
        if (n & 2)
            snprintf(c_text, sizeof c_text, "%u", c[1]);
        fprintf(o,
                "shfl.sync.%s.b32 %%r5|%%p1, %%r4, %s, %s, -1; selp.u32 %%r6, 1, 0, %%p1;\n"
                "st.global.v2.u32 [%%rd2+%u], {%%r5, %%r6};\n",
                modes[n / KINDS % 4], b_text, c_text, 256 * n);
    }
    fputs("ret; }\n", o);
    fclose(o);
    if (!run_open_config(&r, ptx, &config))
        return;
    const uint64_t in = run_alloc(&r, 3 * 128), out = run_alloc(&r, 256 * NUM);
    uint32_t *v = run_at(&r, in, 3 * 128), state = 20261128;
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 96; i++)
            v[i] = (state = state * 1664525 + 1013904223) >> (i < 32 ? 0 : 16);
        if (!run_ok(&r, "k", warp, 2, (uint64_t[]){in, out}))
            break;
        for (unsigned n = 0; n < NUM; n++)
            for (unsigned l = 0; l < 32; l++) {
                const uint32_t *c = constant[n / 16], b = n & 1 ? c[0] : v[32 + l], limit = n & 2 ? c[1] : v[64 + l];
                bool ok;
                const int32_t j = lane_of(modes[n / KINDS % 4], (int32_t)l, (int32_t)b & 31, (int32_t)limit, &ok);
                CHECK_EQ(run_u32(&r, out, 64 * n + 2 * l), v[j]);
                CHECK_EQ(run_u32(&r, out, 64 * n + 2 * l + 1), ok);
            }
    }
    run_close(&r);
    free(ptx);
}

/* %tid counts x, then y, then z, also within a warp (10.1). */
static void test_tid(void) {
    struct run r;
    if (!run_open(&r, RUN_HEADER
                  ".visible .entry k(.param .u64 out) { .reg .u32 %x, %y, %z, %n; .reg .u64 %o;\n"
                  "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z; ld.param.u64 %o, [out];\n"
                  "mad.lo.u32 %n, %z, 3, %y; mad.lo.u32 %n, %n, 7, %x; mad.wide.u32 %o, %n, 4, %o;\n"
                  "mad.lo.u32 %n, %z, 256, %y; mad.lo.u32 %n, %n, 256, %x; st.global.u32 [%o], %n; ret; }\n"))
        return;
    const uint64_t out = run_alloc(&r, 4 * 7 * 3 * 5);
    run_ok(&r, "k", (struct run_shape){.block = 7, .block_y = 3, .block_z = 5}, 1, (uint64_t[]){out});
    for (uint32_t i = 0; i < 7 * 3 * 5; i++)
        CHECK_EQ(run_u32(&r, out, i), i % 7 + 256 * (i / 7 % 3) + 65536 * (i / 21));
    run_close(&r);
}

int main(void) {
    test_tid();
    for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++)
        test_shfl_operands(unit);
    struct run r;
    if (run_open(&r, text)) {
        uint64_t in = run_alloc(&r, 128), out = run_alloc(&r, 32 * 32), args[] = {in, out};
        uint32_t *v = run_at(&r, in, 128);
        for (unsigned l = 0; l < 32; l++)
            v[l] = (l + 1) * 2654435761u;
        test_shfl(&r, in, out);
        test_votes(&r, in, out);
        test_redux(&r, in, out);
        run_faults(&r, "self", warp, 2, args, "membermask-without-self");
        run_faults(&r, "old", warp, 2, args, "use the .sync form");
        if (run_ok(&r, "apart", warp, 2, args))
            for (unsigned l = 0; l < 32; l++)
                CHECK_EQ(run_u32(&r, out, 8 * l), v[l ^ 1] + (l & 1 ? 1000 : 0));
        if (run_ok(&r, "guardbar", warp, 2, args))
            for (unsigned l = 0; l < 32; l++)
                CHECK_EQ(run_u32(&r, out, 8 * l), l < 16 ? v[l + 16] : 0);
        memset(run_at(&r, out, 32 * 32), 0, 32 * 32);
        r.gpu->config.watchdog = 100000;
        run_faults(&r, "missing", warp, 2, args, "watchdog");
    }
    run_close(&r);
    return check_report();
}
