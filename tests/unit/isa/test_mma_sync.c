/* mma.sync as PTX, held to the sums of small integers, which every type here holds exactly. The inputs are written by
 * element from the fragment figures' formulas (PTX ISA 9.7.14.5.6 - .11), register by register; the results are read
 * the same way.
 */
#include "unit/run_ptx.h"

struct form {
    const char *text; /* shape and types */
    unsigned k, bits, acc_bits;
    int least, count;  /* values least .. least + count - 1 */
    uint32_t codes[8]; /* of those values */
};

static const struct form forms[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", 8, 16, 32, -2, 5, {0xc000, 0xbc00, 0, 0x3c00, 0x4000}},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 32, -2, 5, {0xc000, 0xbc00, 0, 0x3c00, 0x4000}},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 16, -2, 5, {0xc000, 0xbc00, 0, 0x3c00, 0x4000}},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 8, 16, 32, -2, 5, {0xc000, 0xbf80, 0, 0x3f80, 0x4000}},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 32, -2, 5, {0xc000, 0xbf80, 0, 0x3f80, 0x4000}},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 32, 32, -1, 3, {0xbf800000, 0, 0x3f800000}},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 32, 32, -1, 3, {0xbf800000, 0, 0x3f800000}},
    {"m16n8k16.row.col.f32.e4m3.e4m3.f32", 16, 8, 32, -2, 5, {0xc0, 0xb8, 0, 0x38, 0x40}},
    {"m16n8k32.row.col.f32.e5m2.e5m2.f32", 32, 8, 32, -2, 5, {0xc0, 0xbc, 0, 0x3c, 0x40}},
    {"m16n8k32.row.col.f16.e4m3.e4m3.f16", 32, 8, 16, -2, 5, {0xc0, 0xb8, 0, 0x38, 0x40}},
    {"m16n8k16.row.col.s32.s8.s8.s32", 16, 8, 0, -3, 7, {253, 254, 255, 0, 1, 2, 3}},
    {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 32, 8, 0, -3, 7, {253, 254, 255, 0, 1, 2, 3}},
    {"m16n8k32.row.col.s32.u8.u8.s32", 32, 8, 0, 250, 6, {250, 251, 252, 253, 254, 255}},
    {"m16n8k64.row.col.s32.s4.s4.s32", 64, 4, 0, -3, 7, {13, 14, 15, 0, 1, 2, 3}},
};

static int a[16][64], b[64][8], c[16][8];
static uint32_t seed;

static int draw(const struct form *f) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 16) % (unsigned)f->count);
}

/* f16 and f32 of an integer below 2048 in magnitude. */
static uint32_t number(int v, unsigned bits) {
    if (!bits)
        return (uint32_t)v;
    float x = (float)v;
    uint32_t u;
    memcpy(&u, &x, 4);
    if (bits == 32 || !v)
        return u;
    return (u >> 31) << 15 | ((u >> 23 & 0xff) - 112) << 10 | (u >> 13 & 0x3ff);
}

static void fill(const struct form *f) {
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < f->k; k++)
            a[i][k] = draw(f);
    for (unsigned k = 0; k < f->k; k++)
        for (unsigned j = 0; j < 8; j++)
            b[k][j] = draw(f);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 8; j++)
            c[i][j] = (int)(i * 8 + j) - 70;
}

/* The row of element i of A in lane l, as the ISA writes it for each number of elements per lane. */
static void where_a(const struct form *f, unsigned l, unsigned i, unsigned *row, unsigned *col) {
    unsigned g = l >> 2, t = l % 4, e = 32 / f->bits, reg = i / e;
    *row = reg == 0 || reg == 2 ? g : g + 8;
    *col = t * e + i % e + (reg >= 2 ? 4 * e : 0);
}

static void lane_words(const struct form *f, unsigned l, uint32_t *words) {
    unsigned e = 32 / f->bits, regs_a = f->k * f->bits / 64, regs_c = f->acc_bits == 16 ? 2 : 4;
    memset(words, 0, 10 * sizeof *words);
    for (unsigned i = 0; i < regs_a * e; i++) {
        unsigned row, col;
        where_a(f, l, i, &row, &col);
        words[i / e] |= f->codes[a[row][col]] << (i % e * f->bits);
    }
    for (unsigned i = 0; i < regs_a / 2 * e; i++)
        words[4 + i / e] |= f->codes[b[l % 4 * e + i % e + i / e * 4 * e][l >> 2]] << (i % e * f->bits);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t v = number(c[(l >> 2) + (i >= 2 ? 8 : 0)][l % 4 * 2 + (i & 1)], f->acc_bits);
        if (regs_c == 4)
            words[6 + i] = v;
        else
            words[6 + i / 2] |= v << (i % 2 * 16);
    }
}

static void list(char *out, const char *name, unsigned n) {
    size_t at = (size_t)sprintf(out, "{");
    for (unsigned i = 0; i < n; i++)
        at += (size_t)sprintf(out + at, "%s%%%s%u", i ? ", " : "", name, i);
    strcpy(out + at, "}");
}

/* Lane l's ten words come from in[l * 10]; its results go to out[l * 4]. `before` is PTX ahead of the mma. */
static const char *program(const struct form *f, const char *before) {
    static char text[4096];
    unsigned regs_a = f->k * f->bits / 64, regs_c = f->acc_bits == 16 ? 2 : 4;
    char d[64], ra[64], rb[64], rc[64];
    list(d, "d", regs_c), list(ra, "a", regs_a), list(rb, "b", regs_a / 2), list(rc, "c", regs_c);
    snprintf(text, sizeof text,
             RUN_HEADER
             ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
             ".reg .b32 %%a<4>, %%b<2>, %%c<4>, %%d<4>, %%t; .reg .b64 %%i, %%o, %%w; .reg .pred %%p;\n"
             "ld.param.u64 %%i, [in]; ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x;\n"
             "mul.wide.u32 %%w, %%t, 40; add.u64 %%i, %%i, %%w; mul.wide.u32 %%w, %%t, 16; add.u64 %%o, %%o, "
             "%%w;\n"
             "ld.global.u32 %%a0, [%%i]; ld.global.u32 %%a1, [%%i+4]; ld.global.u32 %%a2, [%%i+8];\n"
             "ld.global.u32 %%a3, [%%i+12]; ld.global.u32 %%b0, [%%i+16]; ld.global.u32 %%b1, [%%i+20];\n"
             "ld.global.u32 %%c0, [%%i+24]; ld.global.u32 %%c1, [%%i+28]; ld.global.u32 %%c2, [%%i+32];\n"
             "ld.global.u32 %%c3, [%%i+36]; mov.u32 %%d2, 0; mov.u32 %%d3, 0;\n%s\n"
             "mma.sync.aligned.%s %s, %s, %s, %s;\n"
             "st.global.u32 [%%o], %%d0; st.global.u32 [%%o+4], %%d1;\n"
             "st.global.u32 [%%o+8], %%d2; st.global.u32 [%%o+12], %%d3; ret; }\n",
             before, f->text, d, ra, rb, rc);
    return text;
}

static unsigned wrong(struct run *r, const struct form *f, uint64_t out) {
    unsigned bad = 0;
    for (unsigned l = 0; l < 32; l++)
        for (unsigned i = 0; i < 4; i++) {
            unsigned row = (l >> 2) + (i >= 2 ? 8 : 0), col = l % 4 * 2 + (i & 1);
            int want = c[row][col];
            for (unsigned k = 0; k < f->k; k++)
                want += (a[row][k] + f->least) * (b[k][col] + f->least);
            uint32_t got = f->acc_bits == 16 ? run_u32(r, out, l * 4 + i / 2) >> (i % 2 * 16) & 0xffff
                                             : run_u32(r, out, l * 4 + i);
            bad += got != number(want, f->acc_bits);
        }
    return bad;
}

static void multiplies(const struct form *f) {
    struct run r;
    if (run_open(&r, program(f, ""))) {
        uint64_t arg[2] = {run_alloc(&r, 32 * 40), run_alloc(&r, 32 * 16)};
        fill(f);
        for (unsigned l = 0; l < 32; l++)
            lane_words(f, l, run_at(&r, arg[0] + 40 * l, 40));
        if (run_ok(&r, "k", (struct run_shape){.block = 32}, 2, arg) && !CHECK_EQ(wrong(&r, f, arg[1]), 0))
            fprintf(stderr, "    %s\n", f->text);
    }
    run_close(&r);
}

static void fails(const struct form *f, const char *before, uint32_t threads, const char *id) {
    struct run r;
    if (run_open(&r, program(f, before))) {
        uint64_t arg[2] = {run_alloc(&r, 32 * 40), run_alloc(&r, 32 * 16)};
        run_faults(&r, "k", (struct run_shape){.block = threads}, 2, arg, id);
    }
    run_close(&r);
}

/* 16 is added to 2^31 - 8: the sum clamps, or wraps. */
static void saturates(bool satfinite) {
    struct form f = {
        satfinite ? "m16n8k16.row.col.satfinite.s32.u8.u8.s32" : "m16n8k16.row.col.s32.u8.u8.s32", 16, 8, 0, 0, 1, {0}};
    struct run r;
    if (run_open(&r, program(&f, ""))) {
        uint64_t arg[2] = {run_alloc(&r, 32 * 40), run_alloc(&r, 32 * 16)};
        uint32_t *in = run_at(&r, arg[0], 32 * 40);
        memset(in, 1, 32 * 40); /* every element is 1: sums of 16 */
        for (unsigned l = 0; l < 32; l++)
            for (unsigned i = 6; i < 10; i++)
                in[l * 10 + i] = 0x7ffffff8;
        if (run_ok(&r, "k", (struct run_shape){.block = 32}, 2, arg))
            CHECK_EQ(run_u32(&r, arg[1], 77), satfinite ? 0x7fffffff : 0x80000008);
    }
    run_close(&r);
}

int main(void) {
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        for (seed = 1; seed < 4; seed++)
            multiplies(&forms[i]);
    saturates(true);
    saturates(false);
    /* a row of A never written makes its results poison, and a poisoned store to global memory is a fault */
    fails(&forms[1], ".reg .b32 %never; mov.b32 %a1, %never;", 32, "uninitialised-global-store");
    fails(&forms[1], "setp.gt.u32 %p, %t, 30; @%p ret;", 32, "mma-warp-incomplete");
    struct form refused = forms[1];
    refused.text = "m16n8k16.row.col.f32.f16.bf16.f32";
    fails(&refused, "", 32, "unsupported");
    refused.text = "m16n8k16.col.row.f32.f16.f16.f32";
    fails(&refused, "", 32, "unsupported");
    return check_report();
}
