/* atom and red (PTX ISA 9.7.13.5, 9.7.13.6): every operation against a model that applies the lanes in order. */
#include "unit/run_ptx.h"

/* The cell is at [%rd1] in global memory or at [%r20] in shared memory; lane l's operand is in[l], out[l] is the
 * result. */
#define HEAD(name)                                                                                                     \
    ".visible .entry " name "(.param .u64 cell, .param .u64 in, .param .u64 out) {\n"                                  \
    ".reg .pred %p<4>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .f64 %d<4>; .reg .b64 "              \
    "%rd<20>; .reg .b128 %q<4>;\n"                                                                                     \
    ".shared .align 16 .b8 sm[64]; mov.u32 %r20, sm;\n"                                                                \
    "ld.param.u64 %rd1, [cell]; ld.param.u64 %rd5, [in]; ld.param.u64 %rd6, [out]; mov.u32 %r1, %tid.x;\n"             \
    "mul.wide.u32 %rd7, %r1, 8; add.s64 %rd5, %rd5, %rd7; add.s64 %rd6, %rd6, %rd7;\n"                                 \
    "ld.global.u64 %rd8, [%rd5]; cvt.u32.u64 %r2, %rd8; cvt.u16.u64 %h1, %rd8; mov.b32 %f1, %r2; mov.b64 "             \
    "%d1, %rd8;\n"

#define G32(op, type)                                                                                                  \
    HEAD("g_" op "_" type)                                                                                             \
    "atom.global." op "." type " %r3, [%rd1], %r2; st.global.u32 [%rd6], %r3; ret; "                                   \
    "}\n"
#define G64(op, type)                                                                                                  \
    HEAD("g_" op "_" type)                                                                                             \
    "atom.global." op "." type " %rd9, [%rd1], %rd8; st.global.u64 [%rd6], %rd9; ret; }\n"
/* shared: copied in, operated on, copied out by lane 0 */
#define S32(op, type)                                                                                                  \
    HEAD("s_" op "_" type)                                                                                             \
    "ld.global.u32 %r4, [%rd1]; st.shared.u32 [%r20], %r4; bar.sync 0;\n"                                              \
    "atom.shared." op "." type " %r3, [%r20], %r2; st.global.u32 [%rd6], %r3; bar.sync 0;\n"                           \
    "ld.shared.u32 %r4, [%r20]; st.global.u32 [%rd1], %r4; ret; }\n"

/* clang-format off */
static const char text[] = RUN_HEADER
    G32("add", "u32") G32("add", "s32") G32("min", "u32") G32("min", "s32") G32("max", "u32")
    G32("max", "s32") G32("inc", "u32") G32("dec", "u32") G32("and", "b32") G32("or", "b32")
    G32("xor", "b32") G32("exch", "b32") G64("add", "u64") G64("min", "u64") G64("min", "s64")
    G64("max", "u64") G64("max", "s64") G64("and", "b64") G64("or", "b64") G64("xor", "b64")
    G64("exch", "b64") S32("add", "u32") S32("min", "s32") S32("max", "u32") S32("inc", "u32")
    S32("dec", "u32") S32("exch", "b32")
    HEAD("cas")
    "add.u32 %r3, %r1, 5; add.u32 %r4, %r1, 6; atom.global.acq_rel.gpu.cas.b32 %r5, [%rd1], %r3, %r4; "
    "st.global.u32 [%rd6], %r5; ret; }\n"
    HEAD("cas16")
    "cvt.u16.u32 %h2, %r1; add.u16 %h3, %h2, 1; atom.global.cas.b16 %h4, [%rd1], %h2, %h3; "
    "st.global.u16 [%rd6], %h4; ret; }\n"
    HEAD("cas128")
    "cvt.u64.u32 %rd9, %r1; add.u64 %rd10, %rd9, 1; mov.b128 %q1, {%rd9, %rd9}; "
    "mov.b128 %q2, {%rd10, %rd10};\n"
    "atom.global.cas.b128 %q3, [%rd1], %q1, %q2; mov.b128 {%rd11, %rd12}, %q3; "
    "add.u64 %rd11, %rd11, %rd12; st.global.u64 [%rd6], %rd11; ret; }\n"
    HEAD("f32")
    "red.global.add.f32 [%rd1], %f1; ret; }\n"
    HEAD("f32s")
    "mov.u32 %r4, 0; st.shared.u32 [%r20], %r4; bar.sync 0; red.shared.add.f32 [%r20], %f1; "
    "bar.sync 0;\n"
    "ld.shared.u32 %r4, [%r20]; st.global.u32 [%rd1], %r4; ret; }\n"
    HEAD("f64")
    "red.relaxed.sys.global.add.f64 [%rd1], %d1; ret; }\n"
    HEAD("half")
    "mov.b32 %r3, {%h1, %h1}; red.global.add.noftz.f16x2 [%rd1], %r3; "
    "red.global.add.noftz.bf16 [%rd1+4], %h1; atom.add.noftz.f16 %h2, [%rd1+8], %h1; ret; }\n"
    HEAD("vector")
    "atom.global.add.v4.f32 {%f2, %f3, %f4, %f5}, [%rd1], {%f1, %f1, %f1, %f1};\n"
    "red.global.max.noftz.v2.f16x2 [%rd1+16], {%r2, %r2}; red.global.v2.f32.add [%rd1+24], {%f1, %f1}; "
    "ret; }\n"
    HEAD("generic")
    "mov.u32 %r4, 0; st.shared.u32 [%r20], %r4; bar.sync 0; cvta.shared.u64 %rd9, sm; "
    "red.add.u32 [%rd9], %r2; red.add.u32 [%rd1], %r2; bar.sync 0;\n"
    "ld.shared.u32 %r4, [%r20]; st.global.u32 [%rd1+4], %r4; ret; }\n"
    HEAD("sink")
    "atom.global.add.u32 _, [%rd1], 3; ret; }\n"
    HEAD("vec_shared")
    "cvta.shared.u64 %rd9, sm; red.add.v2.f32 [%rd9], {%f1, %f1}; ret; }\n"
    HEAD("unset")
    "red.shared.add.u32 [%r20], 1; ld.shared.u32 %r4, [%r20]; st.global.u32 [%rd1], %r4; ret; }\n"
    HEAD("unset_cas")
    "atom.shared.cas.b32 %r3, [%r20], %r2, %r2; ret; }\n"
    HEAD("unset_operand")
    "red.global.add.u32 [%rd1], %r30; ret; }\n"
    HEAD("local")
    "mov.u64 %rd9, 0; .local .b32 x; cvta.local.u64 %rd9, %rd9; st.local.u32 [x], 0; "
    "red.add.u32 [%rd9], 1; ret; }\n"
    HEAD("misaligned")
    "atom.global.add.u32 %r3, [%rd1+2], 1; ret; }\n"
    HEAD("bad_op")
    "atom.global.inc.s32 %r3, [%rd1], 1; ret; }\n"
    HEAD("bad_ftz")
    "red.global.add.f16 [%rd1], %h1; ret; }\n"
    HEAD("bad_acquire")
    "red.acquire.gpu.global.add.u32 [%rd1], 1; ret; }\n"
    HEAD("bad_cas")
    "red.global.cas.b32 [%rd1], 1, 2; ret; }\n";
/* clang-format on */

static uint64_t model(const char *op, const char *type, uint64_t a, uint64_t b) {
    bool sign = type[0] == 's', wide = type[1] == '6';
    int64_t sa = wide ? (int64_t)a : (int32_t)a, sb = wide ? (int64_t)b : (int32_t)b;
    uint64_t v;
    if (!strcmp(op, "add"))
        v = a + b;
    else if (!strcmp(op, "min"))
        v = sign ? (sa < sb ? a : b) : (a < b ? a : b);
    else if (!strcmp(op, "max"))
        v = sign ? (sa < sb ? b : a) : (a < b ? b : a);
    else if (!strcmp(op, "inc"))
        v = a >= b ? 0 : a + 1;
    else if (!strcmp(op, "dec"))
        v = a == 0 || a > b ? b : a - 1;
    else if (!strcmp(op, "and"))
        v = a & b;
    else if (!strcmp(op, "or"))
        v = a | b;
    else if (!strcmp(op, "xor"))
        v = a ^ b;
    else
        v = b;
    return wide ? v : (uint32_t)v;
}

static const struct run_shape warp = {.block = 32};

static void test_integers(struct run *r, uint64_t cell, uint64_t in, uint64_t out) {
    static const char *const names[] = {"g_add_u32", "g_add_s32", "g_min_u32",  "g_min_s32", "g_max_u32", "g_max_s32",
                                        "g_inc_u32", "g_dec_u32", "g_and_b32",  "g_or_b32",  "g_xor_b32", "g_exch_b32",
                                        "g_add_u64", "g_min_u64", "g_min_s64",  "g_max_u64", "g_max_s64", "g_and_b64",
                                        "g_or_b64",  "g_xor_b64", "g_exch_b64", "s_add_u32", "s_min_s32", "s_max_u32",
                                        "s_inc_u32", "s_dec_u32", "s_exch_b32"};
    uint64_t args[] = {cell, in, out};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char op[16], type[8];
        sscanf(names[i] + 2, "%15[a-z]_%7s", op, type);
        bool wide = type[1] == '6', small = !strcmp(op, "inc") || !strcmp(op, "dec");
        uint64_t v = 0x9000000080000005u, *operand = run_at(r, in, 256);
        if (small)
            v = 3;
        for (unsigned l = 0; l < 32; l++)
            operand[l] = small ? 5 + l % 3 : (l + 1) * 0x9E3779B97F4A7C15u;
        memcpy(run_at(r, cell, 8), &v, 8);
        v = wide ? v : (uint32_t)v;
        if (!run_ok(r, names[i], warp, 3, args))
            continue;
        for (unsigned l = 0; l < 32; l++) {
            CHECK_EQ(wide ? run_u64(r, out, l) : run_u32(r, out, 2 * l), v);
            v = model(op, type, v, wide ? operand[l] : (uint32_t)operand[l]);
        }
        CHECK_EQ(wide ? run_u64(r, cell, 0) : run_u32(r, cell, 0), v);
    }
}

static void test_cas(struct run *r, uint64_t cell, uint64_t in, uint64_t out) {
    uint64_t args[] = {cell, in, out};
    uint32_t *c = run_at(r, cell, 64);
    *c = 5;
    if (run_ok(r, "cas", warp, 3, args))
        for (unsigned l = 0; l < 32; l++)
            CHECK_EQ(run_u32(r, out, 2 * l), 5 + l);
    CHECK_EQ(*c, 37);
    *c = 0xabcd0000;
    if (run_ok(r, "cas16", warp, 3, args))
        CHECK_EQ(*c, 0xabcd0020);
    memset(c, 0, 16);
    if (run_ok(r, "cas128", warp, 3, args)) {
        CHECK_EQ(run_u64(r, cell, 0), 32);
        CHECK_EQ(run_u64(r, cell, 1), 32);
        CHECK_EQ(run_u64(r, out, 31), 62);
    }
}

static void set_floats(struct run *r, uint64_t in, float f) {
    for (unsigned l = 0; l < 32; l++)
        memcpy(run_at(r, in + 8 * l, 4), &f, 4);
}

static void test_floats(struct run *r, uint64_t cell, uint64_t in, uint64_t out) {
    uint64_t args[] = {cell, in, out};
    float got[8];
    memset(run_at(r, cell, 64), 0, 64);
    set_floats(r, in, 0.5f);
    if (run_ok(r, "f32", warp, 3, args)) {
        memcpy(got, run_at(r, cell, 4), 4);
        CHECK(got[0] == 16.0f);
    }
    /* subnormals: flushed in global memory, kept in shared memory */
    memset(run_at(r, cell, 64), 0, 64);
    set_floats(r, in, 0x1p-140f);
    if (run_ok(r, "f32", warp, 3, args))
        CHECK_EQ(run_u32(r, cell, 0), 0);
    if (run_ok(r, "f32s", warp, 3, args)) {
        memcpy(got, run_at(r, cell, 4), 4);
        CHECK(got[0] == 0x1p-135f);
    }
    memset(run_at(r, cell, 64), 0, 64);
    for (unsigned l = 0; l < 32; l++) {
        double d = l + 0.25;
        memcpy(run_at(r, in + 8 * l, 8), &d, 8);
    }
    if (run_ok(r, "f64", warp, 3, args)) {
        double d;
        memcpy(&d, run_at(r, cell, 8), 8);
        CHECK(d == 504.0);
    }
    memset(run_at(r, cell, 64), 0, 64);
    for (unsigned l = 0; l < 32; l++)
        memcpy(run_at(r, in + 8 * l, 2), &(uint16_t){0x3c00}, 2); /* 1.0 in f16, 0.0078125 in bf16 */
    if (run_ok(r, "half", warp, 3, args)) {
        CHECK_EQ(run_u32(r, cell, 0), 0x50005000); /* 32.0 */
        CHECK_EQ(run_u32(r, cell, 1), 0x3e80);     /* 0.25 */
        CHECK_EQ(run_u32(r, cell, 2), 0x5000);
    }
    memset(run_at(r, cell, 64), 0, 64);
    set_floats(r, in, 1.0f); /* 0x3f800000: the halves 1.875 and 0 */
    if (run_ok(r, "vector", warp, 3, args)) {
        memcpy(got, run_at(r, cell, 32), 32);
        CHECK(got[0] == 32.0f && got[1] == 32.0f && got[2] == 32.0f && got[3] == 32.0f);
        CHECK_EQ(run_u32(r, cell, 4), 0x3f800000);
        CHECK_EQ(run_u32(r, cell, 5), 0x3f800000);
        CHECK(got[6] == 32.0f && got[7] == 32.0f);
    }
}

static void test_rest(struct run *r, uint64_t cell, uint64_t in, uint64_t out) {
    static const char *const faults[][2] = {{"vec_shared", "atomic-vector-space"},
                                            {"unset", "uninitialised-global-store"},
                                            {"unset_cas", "uninitialised-atomic"},
                                            {"unset_operand", "uninitialised-atomic"},
                                            {"local", "atomic-space"},
                                            {"misaligned", "misaligned-address"},
                                            {"bad_op", "does not exist for this type"},
                                            {"bad_ftz", ".noftz is required"},
                                            {"bad_acquire", "red does not acquire"},
                                            {"bad_cas", "unsupported"}};
    uint64_t args[] = {cell, in, out};
    for (unsigned l = 0; l < 32; l++)
        memcpy(run_at(r, in + 8 * l, 4), &l, 4);
    memset(run_at(r, cell, 64), 0, 64);
    if (run_ok(r, "generic", warp, 3, args)) {
        CHECK_EQ(run_u32(r, cell, 0), 496);
        CHECK_EQ(run_u32(r, cell, 1), 496);
    }
    memset(run_at(r, cell, 64), 0, 64);
    if (run_ok(r, "sink", (struct run_shape){.grid = 3, .block = 100}, 3, args))
        CHECK_EQ(run_u32(r, cell, 0), 900);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        if (!run_faults(r, faults[i][0], warp, 3, args, faults[i][1]))
            fprintf(stderr, "in kernel %s\n", faults[i][0]);
}

int main(void) {
    struct run r;
    if (run_open(&r, text)) {
        uint64_t cell = run_alloc(&r, 64), in = run_alloc(&r, 1024), out = run_alloc(&r, 1024);
        test_integers(&r, cell, in, out);
        test_cas(&r, cell, in, out);
        test_floats(&r, cell, in, out);
        test_rest(&r, cell, in, out);
    }
    run_close(&r);
    return check_report();
}
