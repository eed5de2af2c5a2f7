/* The handlers of each unit of the host (isa/unit.h) give what the portable ones give: every form on one line of
 * tests/silicon/forms.txt, on special and random values, by whole warps and under random guards, with equal bits also
 * where the ISA and the H200's records leave room; the .approx functions on many more values, of halves on all; and
 * loads and stores by rows, gaps and single lanes, of every size, in memory of each kind. */
#include "num/num.h"
#include "silicon/values.h"
#include "unit/isa/on_unit.h"

#include <stdlib.h>

enum { THREADS = 2048, BLOCK = 128, MAX_IN = 5, MAX_OUT = 2, FORMS = 64 };

struct form {
    char name[100];
    unsigned out[MAX_OUT], outs, ins, written;
    const Kind *in[MAX_IN];
    char literal[8][40];
};

static unsigned out_bits(const char *word) {
    return strcmp(word, "pred") == 0 ? 1 : strchr(word, 'x') || strstr(word, "32") ? 32 : strstr(word, "64") ? 64 : 16;
}

/* False for what is more than one line, or has more operands. */
static bool read_form(char *line, struct form *f) {
    char *note = strstr(line, " ; "), *save = NULL;
    bool inputs = false;
    memset(f, 0, sizeof *f);
    if (note)
        *note = 0;
    snprintf(f->name, sizeof f->name, "%s", strtok_r(line, " \n", &save));
    f->name[strcspn(f->name, "/")] = 0;
    for (char *word; (word = strtok_r(NULL, " \n", &save));) {
        if (strcmp(word, ":") == 0)
            inputs = true;
        else if (!inputs && f->outs < MAX_OUT)
            f->out[f->outs++] = out_bits(word);
        else if (inputs && *word == '=' && f->written < 8)
            snprintf(f->literal[f->written++], sizeof *f->literal, "%s", word + 1);
        else if (inputs && f->ins < MAX_IN && f->written < 8 && find_kind(word)) {
            f->in[f->ins++] = find_kind(word);
            f->written++;
        } else
            return false;
    }
    return f->outs && f->ins;
}

static void declare(FILE *o, unsigned bits, char letter, unsigned i) {
    fprintf(o, bits == 1 ? "  .reg .pred %%%c%u;\n" : "  .reg .b%3$u %%%1$c%2$u;\n", letter, i, bits);
}

/* Inputs of form `number` lie by operand, outputs by form: in[k][thread], out[number][k][thread]. A destination holds
 * the thread's number before, and is written where the thread's bit says so. */
static void write_kernel(FILE *o, const struct form *f, unsigned number) {
    fprintf(o,
            ".visible .entry k%u(.param .u64 in, .param .u64 out, .param .u64 guard) {\n  .reg .pred %%on;\n"
            "  .reg .b32 %%t, %%h<3>;\n  .reg .b64 %%g<4>;\n",
            number);
    for (unsigned i = 0; i < f->ins; i++)
        declare(o, f->in[i]->bits, 'a', i);
    for (unsigned i = 0; i < f->outs; i++)
        declare(o, f->out[i], 'd', i);
    fprintf(o, "  mov.u32 %%h0, %%ctaid.x;\n  mov.u32 %%h1, %%ntid.x;\n  mov.u32 %%h2, %%tid.x;\n"
               "  mad.lo.u32 %%t, %%h0, %%h1, %%h2;\n  ld.param.u64 %%g0, [in];\n  ld.param.u64 %%g1, [out];\n"
               "  ld.param.u64 %%g2, [guard];\n  mul.wide.u32 %%g3, %%t, 8;\n  add.u64 %%g0, %%g0, %%g3;\n"
               "  add.u64 %%g1, %%g1, %%g3;\n  add.u64 %%g2, %%g2, %%g3;\n  ld.global.u32 %%h0, [%%g2];\n"
               "  setp.ne.u32 %%on, %%h0, 0;\n");
    for (unsigned i = 0; i < f->ins; i++)
        if (f->in[i]->bits == 1)
            fprintf(o, "  ld.global.u32 %%h0, [%%g0+%u];\n  and.b32 %%h0, %%h0, 1;\n  setp.ne.u32 %%a%u, %%h0, 0;\n",
                    8 * THREADS * i, i);
        else
            fprintf(o, "  ld.global.b%u %%a%u, [%%g0+%u];\n", f->in[i]->bits, i, 8 * THREADS * i);
    for (unsigned i = 0; i < f->outs; i++)
        if (f->out[i] == 1)
            fprintf(o, "  and.b32 %%h0, %%t, 4;\n  setp.ne.u32 %%d%u, %%h0, 0;\n", i);
        else
            fprintf(o, "  cvt.u%u.u32 %%d%u, %%t;\n", f->out[i], i);
    fprintf(o, "  @%%on %s ", f->name);
    for (unsigned i = 0; i < f->outs; i++)
        fprintf(o, "%s%%d%u", i ? "|" : "", i);
    for (unsigned i = 0, value = 0; i < f->written; i++)
        if (f->literal[i][0])
            fprintf(o, ", %s", f->literal[i]);
        else
            fprintf(o, ", %%a%u", value++);
    fprintf(o, ";\n");
    for (unsigned i = 0; i < f->outs; i++)
        if (f->out[i] == 1)
            fprintf(o, "  selp.u32 %%h0, 1, 0, %%d%u;\n  st.global.u32 [%%g1+%u], %%h0;\n", i, 8 * THREADS * i);
        else
            fprintf(o, "  st.global.b%u [%%g1+%u], %%d%u;\n", f->out[i], 8 * THREADS * i, i);
    fprintf(o, "  ret;\n}\n");
}

/* All lanes in the first half of the warps, then some. */
static uint32_t guard_of(unsigned t, uint64_t *state) { return t < THREADS / 2 ? 1 : draw(state) >> 40 & 1; }

/* The outputs of `count` forms, each of THREADS threads, on one unit: owned by the caller. */
static uint64_t *run_forms(const struct form *forms, unsigned count, const char *ptx, enum simd unit) {
    const size_t bytes = 8 * (size_t)THREADS * MAX_OUT;
    uint64_t *all = calloc(count, bytes);
    struct run r;
    if (!all || !open_unit(&r, ptx, unit))
        exit(1);
    const uint64_t in = run_alloc(&r, 8 * THREADS * MAX_IN), out = run_alloc(&r, bytes),
                   guard = run_alloc(&r, 8 * THREADS);
    for (unsigned n = 0; n < count; n++) {
        uint64_t state[MAX_IN + 1];
        uint64_t *i = run_at(&r, in, 8 * THREADS * MAX_IN), *g = run_at(&r, guard, 8 * THREADS);
        for (unsigned k = 0; k <= MAX_IN; k++)
            state[k] = 20261127 + k;
        for (unsigned t = 0; t < THREADS; t++) {
            g[t] = guard_of(t, &state[MAX_IN]);
            for (unsigned k = 0; k < forms[n].ins; k++)
                i[k * THREADS + t] = value_of((const Kind **)forms[n].in, forms[n].ins, k, t, &state[k]);
        }
        char name[16];
        snprintf(name, sizeof name, "k%u", n);
        memset(run_at(&r, out, bytes), 0, bytes);
        run_ok(&r, name, (struct run_shape){.grid = THREADS / BLOCK, .block = BLOCK}, 3, (uint64_t[]){in, out, guard});
        memcpy((char *)all + n * bytes, run_at(&r, out, bytes), bytes);
    }
    run_close(&r);
    return all;
}

static void compare_forms(const struct form *forms, unsigned count) {
    char *ptx = NULL;
    size_t size;
    FILE *o = open_memstream(&ptx, &size);
    fputs(RUN_HEADER, o);
    for (unsigned n = 0; n < count; n++)
        write_kernel(o, &forms[n], n);
    fclose(o);
    uint64_t *want = run_forms(forms, count, ptx, SIMD_PORTABLE);
    for (enum simd unit = SIMD_AVX2; unit <= SIMD_AVX512 && simd_available(unit); unit++) {
        uint64_t *got = run_forms(forms, count, ptx, unit);
        for (unsigned n = 0; n < count; n++)
            for (unsigned i = 0; i < THREADS * MAX_OUT; i++)
                if (!CHECK_EQ(got[n * THREADS * MAX_OUT + i], want[n * THREADS * MAX_OUT + i])) {
                    fprintf(stderr, "%s of thread %u by %s\n", forms[n].name, i % THREADS, unit_names[unit]);
                    break;
                }
        free(got);
    }
    free(want);
    free(ptx);
}

static void test_forms(void) {
    static struct form forms[FORMS];
    char line[512];
    unsigned count = 0, all = 0;
    FILE *list = fopen("tests/silicon/forms.txt", "r");
    if (!CHECK(list != NULL))
        return;
    for (bool body = false; fgets(line, sizeof line, list);) {
        body = strncmp(line, "begin ", 6) == 0 || (body && strcmp(line, "end\n") != 0);
        if (body || *line == '#' || *line == '\n' || strcmp(line, "end\n") == 0 || !read_form(line, &forms[count]))
            continue;
        all++;
        if (++count == FORMS) {
            compare_forms(forms, count);
            count = 0;
        }
    }
    if (count)
        compare_forms(forms, count);
    fclose(list);
    CHECK(all > 1000);
}

/* Many more values of what is computed by series, and of what .ftz flushes: any bits; then warps of values that are
 * usual, as one that is not has all lanes computed otherwise: positive, of either sign and zero, and with a power of
 * two that is subnormal. The last are of few different ones, as a warp of others has one whose last bit is in doubt. */
#define PAIRS(op, c)                                                                                                   \
    "mov.b64 q0, {a, b}; mov.b64 q1, {b, c}; mov.b64 q2, {c, a}; " op " q0, q0, q1" c "; mov.b64 {%x6, %x7}, q0;\n"    \
    " mad.lo.u32 %x6, %x7, 77, %x6; mov.b32 d, %x6"
static void test_approx(void) {
    static const char *const ops[] = {"ex2.approx.f32 d, a",        "ex2.approx.ftz.f32 d, a",
                                      "lg2.approx.f32 d, a",        "lg2.approx.ftz.f32 d, a",
                                      "sin.approx.f32 d, a",        "cos.approx.ftz.f32 d, a",
                                      "tanh.approx.f32 d, a",       "rsqrt.approx.ftz.f32 d, a",
                                      "sqrt.approx.f32 d, a",       "rcp.approx.ftz.f32 d, a",
                                      "div.approx.ftz.f32 d, a, b", "div.full.f32 d, a, b",
                                      "mul.ftz.f32 d, a, b",        "fma.rn.ftz.f32 d, a, b, c",
                                      "add.ftz.sat.f32 d, a, b",    "max.ftz.NaN.f32 d, a, b",
                                      "add.ftz.f32 d, a, b",        "sub.ftz.f32 d, a, b",
                                      "fma.rm.f32 d, a, b, c",      PAIRS("fma.rn.ftz.f32x2", ", q2"),
                                      PAIRS("add.ftz.f32x2", ""),   PAIRS("fma.rp.f32x2", ", q2"),
                                      PAIRS("mul.rz.f32x2", ""),    "mul.ftz.f32 d, 0f3F7FFFFF, 0f00800000"};
    enum { OPS = sizeof ops / sizeof *ops, ROUNDS = 768, BYTES = 4 * OPS * 256 };
    static const struct {
        uint32_t keep, set, zero; /* bits of a operand, bits set in it, and those of which none makes it -0 */
    } kinds[] = {{~0u, 0, ~0u},
                 {0x07ffffff, 0x3c000000, ~0u},
                 {0x87ffffff, 0x3c000000, 0x1f0},
                 {0x003fffff, 0xc2e00000, ~0u},
                 {0x03ffffff, 0x49000000, ~0u},
                 {0x003fffff, 0x00000000, ~0u},
                 {0x03f00000, 0x3e000000, ~0u}};
    char ptx[16384];
    int n = snprintf(ptx, sizeof ptx,
                     RUN_HEADER
                     ".visible .entry k(.param .u64 out, .param .u32 seed, .param .u32 keep, .param .u32 set,\n"
                     " .param .u32 zero) {\n .reg .f32 a, b, c, d; .reg .b64 q<3>; .reg .pred %%none; .reg .b32 "
                     "%%keep, %%set, %%zero;\n"
                     " ld.param.u32 %%keep, [keep]; ld.param.u32 %%set, [set]; ld.param.u32 %%zero, [zero];\n"
                     " .reg .b32 %%x<8>;\n .reg .b64 %%o, %%w;\n ld.param.u64 %%o, [out];\n"
                     " ld.param.u32 %%x0, [seed];\n mov.u32 %%x1, %%tid.x;\n mad.lo.u32 %%x0, %%x1, 747796405, %%x0;\n"
                     " mul.wide.u32 %%w, %%x1, 4;\n add.u64 %%o, %%o, %%w;\n");
    for (unsigned i = 0; i < OPS; i++)
        n += snprintf(
            ptx + n, sizeof ptx - (size_t)n,
            " mad.lo.u32 %%x0, %%x0, 1664525, 1013904223;\n shr.u32 %%x2, %%x0, 16;\n xor.b32 %%x2, %%x2, %%x0;\n"
            " mul.lo.u32 %%x2, %%x2, 0x9e3779b1;\n and.b32 %%x3, %%x2, %%zero;\n setp.eq.u32 %%none, %%x3, 0;\n"
            " and.b32 %%x3, %%x2, %%keep;\n or.b32 %%x3, %%x3, %%set;\n selp.b32 %%x3, 0x80000000, %%x3, %%none;\n"
            " mov.b32 a, %%x3;\n xor.b32 %%x3, %%x2, 0x40490fdb;\n"
            " mul.lo.u32 %%x3, %%x3, 0x85ebca6b;\n mad.lo.u32 %%x4, %%x3, 77, %%x0;\n and.b32 %%x3, %%x3, %%keep;\n"
            " or.b32 %%x3, %%x3, %%set;\n mov.b32 b, %%x3;\n and.b32 %%x4, %%x4, %%keep;\n or.b32 %%x4, %%x4, %%set;\n"
            " mov.b32 c, %%x4;\n %s;\n st.global.f32 [%%o+%u], d;\n",
            ops[i], 1024 * i);
    snprintf(ptx + n, sizeof ptx - (size_t)n, " ret;\n}\n");
    struct run r[3];
    uint64_t out[3] = {0};
    unsigned units = 0;
    for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++, units++) {
        if (!open_unit(&r[units], ptx, unit))
            return;
        out[units] = run_alloc(&r[units], BYTES);
    }
    bool same = true;
    for (uint32_t round = 0; round < ROUNDS && same; round++)
        for (unsigned u = 0; u < units; u++) {
            const unsigned kind = round % (sizeof kinds / sizeof *kinds);
            run_ok(&r[u], "k", (struct run_shape){.block = 256}, 5,
                   (uint64_t[]){out[u], round * 2654435761u, kinds[kind].keep, kinds[kind].set, kinds[kind].zero});
            const uint32_t *got = run_at(&r[u], out[u], BYTES), *want = run_at(&r[0], out[0], BYTES);
            for (unsigned i = 0; i < BYTES / 4 && same; i++)
                if (!(same = CHECK_EQ(got[i], want[i])))
                    fprintf(stderr, "%s, round %u, thread %u by %s\n", ops[i / 256], round, i % 256, unit_names[u + 1]);
        }
    for (unsigned u = 0; u < units; u++)
        run_close(&r[u]);
}

/* Shared and global memory by every size, width and distance of the lanes: what is there and in registers at the end.
 * */
#define MOVE(type, reg, bytes, to)                                                                                     \
    "  mad.lo.u32 %s, %i, " #bytes ", %base;\n  and.b32 %s, %s, 8191;\n  and.b32 %s, %s, -" #bytes ";\n"               \
    "  add.u32 %p, %s, %sm;\n  cvt.u64.u32 %q, %s;\n  add.u64 %q, %q, %in;\n"                                          \
    "  @%on ld.global." type " " reg ", [%q];\n  @%on st.shared." type " [%p], " reg ";\n"                             \
    "  @%on ld.shared." type " " reg ", [%p];\n  add.u64 %q, %q, " #to ";\n  @%on st.global." type " [%q], " reg ";\n"
static void test_memory(void) {
    static const char ptx[] = RUN_HEADER
        ".shared .align 16 .b8 m[16384];\n"
        ".visible .entry k(.param .u64 in, .param .u32 step, .param .u32 base, .param .u32 mask,\n"
        ".param .u32 keep) {\n"
        "  .reg .pred %on;\n  .reg .b16 %h;\n  .reg .b32 %v, %v1, %v2, %v3;\n  .reg .b32 %i, %step, %base, %s, %p, "
        "%sm, %k, %w, %w1, %w2, %w3;\n"
        "  .reg .b64 %q, %in, %l;\n"
        "  ld.param.u64 %in, [in];\n  ld.param.u32 %step, [step];\n  ld.param.u32 %base, [base];\n"
        "  ld.param.u32 %k, [mask];\n  mov.u32 %i, %laneid;\n  shr.u32 %k, %k, %i;\n  and.b32 %k, %k, 1;\n"
        "  setp.ne.u32 %on, %k, 0;\n  ld.param.u32 %k, [keep];\n  and.b32 %i, %i, %k;\n  mul.lo.u32 %i, %i, %step;\n  "
        "mov.u32 %sm, m;\n"
        "  mov.b32 %v, 7;\n  mov.b32 %v1, 8;\n  mov.b32 %v2, 9;\n  mov.b32 %v3, 10;\n  mov.b16 %h, 1;\n  mov.b32 %w, "
        "2;\n  mov.b32 %w1, 3;\n  mov.b32 %w2, 4;\n  mov.b32 %w3, 5;\n  mov.b64 %l, "
        "6;\n" MOVE("u8", "%h", 1, 16384) MOVE("s8", "%h", 1, 24576) MOVE("u16", "%h", 2, 32768)
            MOVE("b32", "%w", 4, 40960) MOVE("b64", "%l", 8, 49152) MOVE("v2.b32", "{%w, %w1}", 8, 57344) MOVE(
                "v4.b32", "{%w, %w1, %w2, %w3}", 16,
                65536) "  shl.b32 %s, %i, 5;\n  and.b32 %s, %s, 8160;\n  cvt.u64.u32 %q, %s;\n  add.u64 %q, %q, %in;\n"
                       "  @%on ld.global.v8.b32 {%w, %w1, %w2, %w3, %v, %v1, %v2, %v3}, [%q];\n  add.u64 %q, %q, "
                       "73728;\n"
                       "  @%on st.global.v8.b32 [%q], {%w3, %w, %v1, %w2, %v, %v3, %w1, %v2};\n  ret;\n}\n";
    enum { BYTES = 81920 };
    static uint8_t want[BYTES];
    for (uint32_t c = 0; c < 240; c++)
        for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++) {
            struct run r;
            if (!open_unit(&r, ptx, unit))
                return;
            const uint64_t in = run_alloc(&r, BYTES);
            uint8_t *p = run_at(&r, in, BYTES);
            for (unsigned i = 0; i < BYTES; i++)
                p[i] = (uint8_t)(i * 2654435761u >> 13);
            const uint32_t keep = c % 5 == 3 ? 15 : c % 5 == 4 ? 16 : 31; /* halves that are alike, or one place each */
            const uint32_t step = c % 8 == 7 ? 0xffffffff : c % 8, mask = c < 120 ? 0xffffffff : c * 2654435761u | 1;
            run_ok(&r, "k", (struct run_shape){.block = 32}, 5, (uint64_t[]){in, step, c / 8 * 52, mask, keep});
            if (unit == SIMD_PORTABLE)
                memcpy(want, p, BYTES);
            else if (!CHECK(memcmp(want, p, BYTES) == 0))
                fprintf(stderr, "step %u, mask 0x%x by %s\n", step, mask, unit_names[unit]);
            run_close(&r);
        }
}

/* Local memory: all lanes at one place, each at its own, some of them; what a register that nothing has written leaves
 * there is reported the same, and what is written over it is not. */
static void test_local(void) {
    static const char ptx[] = RUN_HEADER
        ".visible .entry k(.param .u64 out, .param .u32 on, .param .u32 bad) {\n"
        ".local .align 16 .b8 mine[2048]; .reg .pred %on, %bad, %more; .reg .b16 %h; .reg .b32 %t, %i, %w<8>, %never;\n"
        ".reg .b64 %o, %l, %m, %d<4>; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 32, %o;\n"
        "ld.param.u32 %w0, [on]; shr.u32 %w0, %w0, %t; and.b32 %w0, %w0, 1; setp.ne.u32 %on, %w0, 0;\n"
        "ld.param.u32 %w0, [bad]; setp.ne.u32 %bad, %w0, 0; mov.u64 %l, mine; mad.lo.u32 %w1, %t, 77, 5;\n"
        "and.b32 %i, %w1, 124; cvt.u64.u32 %m, %i; add.u64 %m, %l, %m; mov.b64 %d1, {%t, %w1};\n"
        "st.local.v2.u64 [%l], {%d1, %d1}; st.local.v4.u32 [%l+16], {%t, %w1, %i, %t}; st.local.u64 [%l+32], %d1;\n"
        "mov.u32 %w2, 40; L: cvt.u64.u32 %d2, %w2; add.u64 %d2, %l, %d2; st.local.u32 [%d2], %w2;\n"
        "add.u32 %w2, %w2, 4; setp.lt.u32 %more, %w2, 2048; @%more bra L;\n"
        "@%on st.local.u32 [%m], %w1; ld.local.u32 %w3, [%l+8]; @%on ld.local.u32 %w4, "
        "[%m];\n"
        "@!%on mov.b32 %w4, 9; ld.local.u32 %w5, [%m+1024]; cvt.u16.u32 %h, %w1; st.local.u8 [%m+1025], %h;\n"
        "ld.local.u64 %d3, [%l+1000]; mov.b64 {%w6, %w7}, %d3; ld.local.u32 %w2, [%m+1024];\n"
        "@%bad st.local.u32 [%l+16], %never; @%bad st.local.u32 [%l+16], %w1; @%bad st.local.u32 [%m+512], %never;\n"
        "st.global.v4.u32 [%o], {%w2, %w3, %w4, %w5}; ld.local.v2.u32 {%w2, %w3}, [%l+16];\n"
        "st.global.v4.u32 [%o+16], {%w2, %w3, %w6, %w7}; ld.local.u32 %w0, [%l+516]; st.global.u32 [%o], %w0; ret; }\n";
    static uint8_t want[1024];
    static char log[sizeof((struct run *)0)->log];
    for (uint32_t c = 0; c < 16; c++)
        for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++) {
            struct run r;
            if (!open_unit(&r, ptx, unit))
                return;
            const uint64_t out = run_alloc(&r, sizeof want);
            const int error = run_kernel(&r, "k", (struct run_shape){.block = 32}, 3,
                                         (uint64_t[]){out, c / 2 ? c * 2654435761u : UINT32_MAX, c % 2});
            CHECK((error != 0) == (c % 2));
            if (unit == SIMD_PORTABLE) {
                memcpy(want, run_at(&r, out, sizeof want), sizeof want);
                memcpy(log, r.log, sizeof log);
            } else if (!CHECK(memcmp(want, run_at(&r, out, sizeof want), sizeof want) == 0) ||
                       !CHECK(strcmp(log, r.log) == 0))
                fprintf(stderr, "local memory, case %u by %s:\n%s", c, unit_names[unit], r.log);
            run_close(&r);
        }
}

/* ex2 and tanh of every f16 and bf16. */
static void test_half_approx(void) {
    static const char *const ops[] = {"tanh.approx.f16",     "tanh.approx.bf16",     "ex2.approx.f16",
                                      "ex2.approx.ftz.bf16", "tanh.approx.f16x2",    "tanh.approx.bf16x2",
                                      "ex2.approx.f16x2",    "ex2.approx.ftz.bf16x2"};
    for (unsigned op = 0; op < 8; op++)
        for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++) {
            char ptx[1024], code[200];
            snprintf(code, sizeof code,
                     op < 4 ? "mov.b32 {%%h0, %%h1}, %%r1; %1$s %%h0, %%h0; %1$s %%h1, %%h1; mov.b32 %%r3, {%%h0, %%h1}"
                            : "%s %%r3, %%r1",
                     ops[op]);
            snprintf(ptx, sizeof ptx,
                     RUN_HEADER
                     ".visible .entry k(.param .u64 out) {\n.reg .b16 %%h<2>; .reg .b32 %%r<4>; .reg .b64 %%o<2>;\n"
                     "mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x; mad.lo.u32 %%r0, %%r1, 256, %%r0;\n"
                     "ld.param.u64 %%o0, [out]; mad.wide.u32 %%o1, %%r0, 4, %%o0; shl.b32 %%r1, %%r0, 1;\n"
                     "add.u32 %%r2, %%r1, 1; shl.b32 %%r2, %%r2, 16; or.b32 %%r1, %%r1, %%r2;\n"
                     "%s; st.global.u32 [%%o1], %%r3; ret; }\n",
                     code);
            struct run r;
            if (!open_unit(&r, ptx, unit))
                return;
            const uint64_t out = run_alloc(&r, 65536 * sizeof(uint16_t));
            run_ok(&r, "k", (struct run_shape){.grid = 128, .block = 256}, 1, (uint64_t[]){out});
            const uint16_t *got = run_at(&r, out, 65536 * sizeof(uint16_t));
            const num_type t = op % 2 ? NUM_BF16 : NUM_F16;
            for (uint32_t a = 0; a < 65536; a++) {
                const uint16_t v = (uint16_t)a;
                if (!CHECK_EQ(got[a],
                              op & 2 ? num_ex2_approx_h(t, v, op & 1 ? NUM_FTZ : 0) : num_tanh_approx_h(t, v))) {
                    fprintf(stderr, "%s of 0x%04x by %s\n", ops[op], a, unit_names[unit]);
                    break;
                }
            }
            run_close(&r);
        }
}

/* mma.sync of every kind of element, on numbers near 1, on any bits, and on huge and tiny ones. */
static void test_mma(void) {
    static const char *const forms[] = {
        "m16n8k16.row.col.f32.f16.f16.f32 {D, D, D, D}, {A, A, A, A}, {A, A}, {A, A, A, A}",
        "m16n8k8.row.col.f16.f16.f16.f16 {D, D}, {A, A}, {A}, {A, A}",
        "m16n8k16.row.col.f32.bf16.bf16.f32 {D, D, D, D}, {A, A, A, A}, {A, A}, {A, A, A, A}",
        "m16n8k8.row.col.f32.tf32.tf32.f32 {D, D, D, D}, {A, A, A, A}, {A, A}, {A, A, A, A}",
        "m16n8k32.row.col.f32.e4m3.e5m2.f32 {D, D, D, D}, {A, A, A, A}, {A, A}, {A, A, A, A}",
        "m16n8k32.row.col.s32.s8.u8.s32 {D, D, D, D}, {A, A, A, A}, {A, A}, {A, A, A, A}",
        "m16n8k64.row.col.satfinite.s32.s4.u4.s32 {D, D, D, D}, {A, A, A, A}, {A, A}, {A, A, A, A}"};
    enum { NUM = sizeof forms / sizeof *forms, IN = 40 * 32 * 4, OUT = 16 * NUM * 32 };
    static uint8_t want[OUT];
    char *ptx = NULL;
    size_t size;
    FILE *o = open_memstream(&ptx, &size);
    fputs(RUN_HEADER
          ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b32 %l, %a<10>, %d<4>; .reg .b64 %i, %o;\n"
          "mov.u32 %l, %tid.x; ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mad.wide.u32 %i, %l, 40, %i;\n"
          "mad.wide.u32 %o, %l, 16, %o;\n",
          o);
    for (unsigned i = 0; i < 10; i++)
        fprintf(o, "ld.global.b32 %%a%u, [%%i+%u];\n", i, 4 * i);
    for (unsigned n = 0; n < NUM; n++) {
        unsigned a = 0, d = 0;
        fprintf(o, "mov.b32 %%d2, 0; mov.b32 %%d3, 0;\nmma.sync.aligned.");
        for (const char *c = forms[n]; *c; c++)
            fprintf(o,
                    *c == 'A'   ? "%%a%u"
                    : *c == 'D' ? "%%d%u"
                                : "%c",
                    *c == 'A'   ? a++
                    : *c == 'D' ? d++
                                : (unsigned)*c);
        fprintf(o, ";\n");
        for (unsigned i = 0; i < 4; i++)
            fprintf(o, "st.global.b32 [%%o+%u], %%d%u;\n", 512 * n + 4 * i, i);
    }
    fputs("ret; }\n", o);
    fclose(o);
    for (unsigned round = 0; round < 60; round++)
        for (enum simd unit = SIMD_PORTABLE; unit <= SIMD_AVX512 && simd_available(unit); unit++) {
            struct run r;
            uint64_t state = 20261127 + round;
            if (!open_unit(&r, ptx, unit))
                return;
            const uint64_t in = run_alloc(&r, IN), out = run_alloc(&r, OUT);
            uint32_t *p = run_at(&r, in, IN);
            for (unsigned i = 0; i < IN / 4; i++) {
                const uint32_t v = (uint32_t)(draw(&state) >> 24);
                p[i] = round % 3 == 0   ? v
                       : round % 3 == 1 ? (v & 0x83ff83ff) | 0x3c003c00
                                        : v & (v >> 3 & 1 ? 0x807f807f : ~0u);
            }
            run_ok(&r, "k", (struct run_shape){.block = 32}, 2, (uint64_t[]){in, out});
            if (unit == SIMD_PORTABLE)
                memcpy(want, run_at(&r, out, OUT), OUT);
            else if (!CHECK(memcmp(want, run_at(&r, out, OUT), OUT) == 0))
                fprintf(stderr, "mma.sync, round %u by %s\n", round, unit_names[unit]);
            run_close(&r);
        }
    free(ptx);
}

int main(void) {
    test_mma();
    test_forms();
    test_approx();
    test_half_approx();
    test_memory();
    test_local();
    return check_report();
}
