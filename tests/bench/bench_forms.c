/* bench_forms.c - nanoseconds that the emulator takes for a warp instruction, by form.
 *
 *     bench_forms [LIST [CSV [WORD]]]   LIST: tests/silicon/known_good.txt; only forms that contain WORD
 *
 * The forms are those that known-good kernels executed, and after them some that were slow. A form is run in a loop of
 * COPIES of it by four warps on one thread, with checks off and with the default checks. The cost of the loop itself is
 * taken off. What a round needs so that no check finds anything, a wait for copies or for a phase, counts for the form.
 * A ratio is to a plain fma.rn.f32 of the same level, which gives 4 bytes a lane: "by bytes" it is divided by the
 * number of 4 bytes that the form moves for a lane. Instructions that start an asynchronous engine or need a cluster
 * are left out, and counted.
 */
#include "unit/run_ptx.h"

#include "base/fatal.h"

#include <time.h>

enum { COPIES = 32, ROUNDS = 3, WARPS = 4, MAX_FORMS = 512, SMEM = COPIES * WARPS * 32 * 16, SLOW = 8 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- how a form is written ---------------------------------------------------------------------------------------- */

/* Operands by the start of a form's name; the first that fits counts. D and S stand for registers of the width of its
 * first and of its last type: p, h, w, d or q; G and M for an address in global and in shared memory, lane after lane;
 * A for the one that the form names; + for an offset of the copy's own. A text with a brace is the whole statement, and
 * $ the form's name. */
static const struct operands {
    const char *start, *text;
} operands[] = {
    {"fma.rn", "D0, S1, S2, S3"},
    {"mad.", "D0, S1, S2, S3"},
    {"mul.wide.s16", "w0, h1, h2"},
    {"mul.wide", "d0, w1, w2"},
    {"abs.", "D0, S1"},
    {"neg.", "D0, S1"},
    {"not.", "D0, S1"},
    {"mov.", "D0, S1"},
    {"cvt.rn.bf16x2.f32", "w0, w1, w2"},
    {"cvt.rn.f16x2.f32", "w0, w1, w2"},
    {"cvt.rn.satfinite.e2m1x2.f32", "{ .reg .b8 t; $ t, %w1, %w2; }"},
    {"cvt.rn.satfinite.e4m3x2.f32", "h0, w1, w2"},
    {"cvt.rp.satfinite.ue8m0x2.f32", "h0, w1, w2"},
    {"cvt.rn.bf16x2.ue8m0x2", "w0, h1"},
    {"cvt.s16.s8", "h0, h1"},
    {"cvt.s32.s8", "w0, w1"},
    {"cvt.", "D0, S1"},
    {"cvta.to.global", "d0, d1"},

    {"cvta.", "d0, d1"},
    {"setp.", "p0, S1, S2"},
    {"selp.", "D0, S1, S2, p1"},
    {"shl.b16", "h0, h1, w2"},
    {"shl.b64", "d0, d1, w2"},
    {"shr.", "D0, S1, w2"},
    {"shl.", "D0, S1, w2"},
    {"shfl.sync.bfly.b32", "w0, w1, 1, 31, -1"},
    {"shfl.sync.idx.b32", "w0, w1, wl, 31, -1"},
    {"elect.sync", "w0|%p0, -1"},
    {"bar.warp.sync", "-1"},
    {"bar.sync", "0"},
    {"bra.uni", "{ $ L; L: }"},
    {"bra", "{ @%pd $ L; mov.b32 %w0, %w1; L: }"},
    {"ex2.", "D0, S1"},
    {"rcp.", "D0, S1"},
    {"rsqrt.", "D0, S1"},
    {"sqrt.", "D0, S1"},
    {"lg2.", "D0, S1"},
    {"sin.", "D0, S1"},
    {"tanh.", "D0, S1"},

    {"ld.param.v2.f32", "{%w0, %w4}, [some]"},
    {"ld.param.v2.u32", "{%w0, %w4}, [some]"},
    {"ld.param.v2.u64", "{%d0, %d4}, [some]"},
    {"ld.param.v4", "{%w0, %w4, %w5, %w6}, [some]"},
    {"ld.param.u8", "h0, [some]"},
    {"ld.param", "D0, [some]"},
    {"ld.shared", "D0, [M]"},
    {"ld.local", "D0, [%dl]"},
    {"ld.global.v4", "{%w0, %w4, %w5, %w6}, [G]"},
    {"ld.global.v8", "{%w0, %w4, %w5, %w6, %w7, %w8, %w9, %w10}, [G]"},
    {"ld.v4", "{%w0, %w4, %w5, %w6}, [G]"},
    {"ld.", "D0, [G]"},
    {"st.param", ""},
    {"st.global.v4", "[G], {%w1, %w2, %w3, %w1}"},
    {"st.v4", "[G], {%w1, %w2, %w3, %w1}"},
    {"st.global.v8", "[G], {%w1, %w2, %w3, %w1, %w1, %w2, %w3, %w1}"},
    {"st.relaxed", "[G], {%w1, %w2, %w3, %w1, %w1, %w2, %w3, %w1}"},
    {"st.shared.v4", "[M], {%w1, %w2, %w3, %w1}"},
    {"st.shared.u8", "[M], %h1"},
    {"st.shared", "[M], S1"},
    {"st.local.v2", "[%dl], {%w1, %w2}"},
    {"st.local", "[%dl], S1"},
    {"st.", "[G], S1"},
    {"ldmatrix.", "{%w0, %w4, %w5, %w6}, [M]"},
    {"stmatrix.", "[M], {%w1, %w2, %w3, %w1}"},
    {"mma.sync", "{%w0, %w4, %w5, %w6}, {%w1, %w2, %w3, %w1}, {%w2, %w3}, {%w1, %w2, %w3, %w1}"},
    {"atom.", "w0, [A], w1"},
    {"red.", "[A], w1"},
    {"cp.async.cg", "[M+], [G], 16"},
    {"cp.async.ca", "[M+], [G], 4"},
    {"cp.async.commit_group", ""},
    {"cp.async.wait_group", "0"},
    {"cp.async.wait_all", ""},
    {"fence.", ""},
    {"mbarrier.arrive.expect_tx.shared::cta", "{ $ _, [%wb], 0; }"},
    {"mbarrier.arrive.expect_tx.release.cta.shared::cta", "{ $ _, [%wb], 0; }"},
    {"mbarrier.arrive.shared::cta", "{ $ _, [%wb]; }"},
    {"mbarrier.test_wait.parity", "p0, [%wb2], 1"},
    {"mbarrier.try_wait.parity", "p0, [%wb2], 1"},
    {"prefetch.tensormap", ""},
};

/* What ends each round. The arrivals of a round are one phase. */
static const struct operands closes[] = {
    {"cp.async.ca", "cp.async.wait_all;\n"},
    {"cp.async.cg", "cp.async.wait_all;\n"},
    {"mbarrier.arrive", "and.b32 %w0, %i, 1; mbarrier.test_wait.parity.shared::cta.b64 %p0, [%wb], %w0;\n"},
};

static const char *const more[] = {
    "mul.ftz.f32",
    "fma.rn.ftz.f32",
    "fma.rn.ftz.f32x2",
    "add.rz.f32",
    "add.f64",
    "mul.f64",
    "fma.rn.f64",
    "fma.rn.f16x2",
    "fma.rn.relu.f16x2",
    "fma.rn.bf16x2",
    "max.f16x2",
    "tanh.approx.f16x2",
    "ex2.approx.f16x2",
    "tanh.approx.f32",
    "sin.approx.f32",
    "lg2.approx.f32",
    "sqrt.rn.f32",
    "rcp.rn.f32",
    "cvt.rn.f16x2.f32",
    "ld.shared.u8",
    "red.global.add.u32",
    "red.global.add.f32",
    "red.shared.add.u32",
    "atom.global.add.u32",
    "atom.shared.add.u32",
    "cp.async.ca.shared.global",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
};

/* Started engines, clusters, and what cannot be repeated. */
static const char *const other[] = {"tcgen05.",       "cp.async.bulk", "cp.reduce",  "clusterlaunch", "barrier.cluster",
                                    "griddepcontrol", "call",          "ret",        "bar.arrive",    "shared::cluster",
                                    "st.param",       "prefetch.",     "cvta.param", "mbarrier.init"};

static char letter(const char *type) {
    if (strcmp(type, "pred") == 0)
        return 'p';
    if (strstr(type, "x2"))
        return strstr(type, "32x2") ? 'd' : 'w';
    return strstr(type, "128") ? 'q' : strstr(type, "64") ? 'd' : strstr(type, "32") ? 'w' : 'h';
}

static bool is_type(const char *word) {
    static const char *const starts[] = {"u8",  "s8",  "b8",  "u16", "s16", "b16", "u32",  "s32",  "b32",
                                         "u64", "s64", "b64", "f32", "f64", "f16", "bf16", "b128", "pred"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(word, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static void types_of(const char *form, char *first, char *last) {
    char text[160], *save = NULL;
    snprintf(text, sizeof text, "%s", form);
    *first = 0;
    for (char *word = strtok_r(text, ".", &save); word; word = strtok_r(NULL, ".", &save))
        if (is_type(word)) {
            *last = letter(word);
            *first = *first ? *first : *last;
        }
}

/* Bytes of a lane's access. */
static unsigned bytes_of(const char *form, char last) {
    static const struct {
        const char *word;
        unsigned bytes;
    } wide[] = {{"matrix", 16}, {".cg.", 16}, {".v8", 32}, {".v4", 16}, {"b128", 16}, {"u8", 1}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strstr(form, wide[i].word))
            return wide[i].bytes;
    if (strstr(form, ".v2"))
        return last == 'd' ? 16 : 8;
    return last == 'h' ? 2 : last == 'd' ? 8 : 4;
}

/* The first text of the list that fits the form, or `other`. */
static const char *text_of(const char *form, const struct operands *list, size_t num, const char *other) {
    for (size_t i = 0; i < num; i++)
        if (strncmp(form, list[i].start, strlen(list[i].start)) == 0)
            return list[i].text;
    return other;
}
#define TEXT_OF(form, list, other) text_of(form, list, sizeof(list) / sizeof *(list), other)

/* One copy of the statement. */
static void write_copy(FILE *o, const char *form, unsigned copy) {
    const char *const text = TEXT_OF(form, operands, "D0, S1, S2");
    char first = 'w', last = 'w';
    types_of(form, &first, &last);
    const bool whole = text[0] == '{' && strchr(text, '$');
    if (!whole)
        fprintf(o, "%s ", form);
    for (const char *t = text; *t; t++) {
        const bool start = t == text || strchr(" [|", t[-1]);
        if (*t == '$')
            fputs(form, o);
        else if (*t == '+')
            fprintf(o, "+%u", copy * WARPS * 32 * 16);
        else if (strchr("GMA", *t))
            fprintf(o, "%%%c%u", *t == 'M' || (*t == 'A' && strstr(form, "shared")) ? 'm' : 'g', bytes_of(form, last));
        else if (!whole && start && *t == 'D')
            fprintf(o, "%%%c", first);
        else if (!whole && start && *t == 'S')
            fprintf(o, "%%%c", last);
        else if (!whole && start && strchr("phwdq", *t) && t[1] && strncmp(t, "some", 4) != 0)
            fprintf(o, "%%%c", *t);
        else
            fputc(*t, o);
    }
    fputs(whole ? "\n" : ";\n", o);
}

static char *write_module(const char *form) {
    char *ptx = NULL;
    size_t size;
    FILE *o = open_memstream(&ptx, &size);
    fputs(RUN_HEADER
          ".extern .shared .align 32 .b8 tile[]; .shared .align 8 .b64 bar[8]; .shared .align 4 .b8 last[512];\n"
          ".visible .entry k(.param .u64 data, .param .u32 times, .param .align 16 .b8 some[32]) {\n"
          ".local .align 16 .b8 mine[64];\n"
          ".reg .pred %p<4>, %pd, %go; .reg .b16 %h<8>; .reg .b32 %w<16>, %wl, %wb, %wb2, %i, %n, %m<33>, %last;\n"
          ".reg .b64 %d<8>, %dl, %g<33>; .reg .b128 %q<4>;\n"
          "mov.u32 %wl, %tid.x; mov.u64 %dl, mine; mov.u32 %last, last; mad.lo.u32 %last, %wl, 4, %last;\n"
          "mov.u32 %wb, bar; shr.u32 %w0, %wl, 5; mad.lo.u32 %wb, %w0, 16, %wb; add.u32 %wb2, %wb, 8;\n"
          "and.b32 %w0, %wl, 31; setp.eq.u32 %p3, %w0, 0; @%p3 mbarrier.init.shared::cta.b64 [%wb], 1024;\n"
          "@%p3 mbarrier.init.shared::cta.b64 [%wb2], 1; bar.sync 0;\n"
          "ld.param.u32 %n, [times]; mov.u32 %i, 0; and.b32 %w0, %wl, 1; ld.param.u64 %g0, [data]; mov.u32 %m0, tile;\n"
          "setp.ne.u32 %pd, %w0, 0; setp.ne.u32 %p0, %w0, 0; setp.ne.u32 %p1, %w0, 0; setp.eq.u32 %p2, %w0, 0;\n"
          "mad.lo.u32 %w1, %wl, 5, 0x3f803f80; add.u32 %w2, %w1, 0x30003; mad.lo.u32 %w3, %wl, 9, 0x3fa03fa1;\n"
          "mov.b64 %d1, {%w1, %w2}; mov.b64 %d2, {%w2, %w3}; mov.b64 %d3, {%w3, %w1};\n"
          "mov.b128 %q1, {%d1, %d2}; mov.b128 %q2, {%d2, %d1};\n"
          "cvt.u16.u32 %h1, %w1; mov.b16 %h2, %h1; mov.b16 %h3, %h1;\n",
          o);
    for (unsigned b = 1; b <= 32; b *= 2)
        fprintf(o, "mad.wide.u32 %%g%u, %%wl, %u, %%g0; mad.lo.u32 %%m%u, %%wl, %u, %%m0;\n", b, b, b, b < 32 ? b : 16);
    fputs("st.shared.v4.b32 [%m16], {%w1, %w2, %w3, %w1}; st.local.v4.b32 [%dl], {%w1, %w2, %w3, %w1};\n"
          "bar.sync 0;\ntop:\n",
          o);
    for (unsigned i = 0; *form && i < COPIES; i++)
        write_copy(o, form, i);
    fputs(TEXT_OF(form, closes, ""), o);
    /* the store: what changes nothing is looked at by the scheduler */
    fprintf(o,
            "st.shared.b32 [%%last], %%w1; add.u32 %%i, %%i, 1; setp.lt.u32 %%go, %%i, %%n; @%%go bra top; ret; }\n");
    fclose(o);
    return ptx;
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static double launch(struct run *r, uint64_t data, uint32_t times) {
    const double t = now();
    if (run_kernel(r, "k", (struct run_shape){.block = 32 * WARPS, .smem = SMEM}, 3, (uint64_t[]){data, times, 1}) != 0)
        fatal_broken("%s", r->log);
    if (*r->log)
        fatal_broken("a form is measured in a kernel with a finding: %s", r->log);
    return now() - t;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds for one round of the loop in one warp. */
static double round_of(const char *form, bool checks) {
    struct run r;
    struct mach_config config = mach_config_b200();
    char *ptx = write_module(form);
    double ns[ROUNDS];
    if (!run_open_config(&r, ptx, &config))
        fatal_broken("%s cannot be measured", form);
    if (checks)
        run_check_races(&r);
    const uint64_t data = run_alloc(&r, 32 * 32 * WARPS);
    uint32_t times = 8;
    double none = launch(&r, data, 1), t = launch(&r, data, times);
    for (; t < 2e-3 && times < 1u << 14; t = launch(&r, data, times))
        times *= 2;
    for (unsigned i = 0; i < ROUNDS; i++) {
        none = launch(&r, data, 1);
        ns[i] = 1e9 * (launch(&r, data, times) - none) / (times - 1) / WARPS;
    }
    qsort(ns, ROUNDS, sizeof *ns, by_value);
    run_close(&r);
    free(ptx);
    return ns[ROUNDS / 2];
}

/* 4 bytes that the form moves for a lane, at least 1. */
static double words_of(const char *form) {
    static const char *const moving[] = {"ld", "st", "cp.async.c"};
    char first = 'w', last = 'w';
    types_of(form, &first, &last);
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        if (strncmp(form, moving[i], strlen(moving[i])) == 0 && bytes_of(form, last) > 4)
            return bytes_of(form, last) / 4.0;
    return 1;
}

/* Atomics, mma, waits and divergent branches may cost more than others. */
static bool may_be_slow(const char *form) {
    static const char *const starts[] = {"atom.", "red.", "mma.", "bar.", "bra"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(form, starts[i], strlen(starts[i])) == 0)
            return true;
    return strstr(form, "wait");
}

static bool left_out(const char *form) {
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strstr(form, other[i]))
            return true;
    return false;
}

static unsigned read_list(const char *path, char forms[MAX_FORMS][160], unsigned *outside) {
    FILE *list = fopen(path, "r");
    char line[512];
    unsigned n = 0;
    if (!list)
        fatal_broken("%s cannot be read", path);
    while (n < MAX_FORMS && fgets(line, sizeof line, list))
        if (*line != '#' && sscanf(line, "%159s", forms[n]) == 1) {
            if (left_out(forms[n]))
                ++*outside;
            else
                n++;
        }
    fclose(list);
    for (size_t i = 0; n < MAX_FORMS && i < sizeof more / sizeof *more; i++)
        snprintf(forms[n++], sizeof *forms, "%s", more[i]);
    return n;
}

int main(int argc, char **argv) {
    static char forms[MAX_FORMS][160];
    unsigned outside = 0, too_slow = 0;
    const unsigned n = read_list(argc > 1 ? argv[1] : "tests/silicon/known_good.txt", forms, &outside);
    const unsigned listed = n - (unsigned)(sizeof more / sizeof *more);
    FILE *csv = argc > 2 && *argv[2] ? fopen(argv[2], "w") : NULL;
    double loop[2], fma[2];
    if (argc > 2 && *argv[2] && !csv)
        fatal_broken("%s cannot be written", argv[2]);
    for (int checks = 0; checks < 2; checks++) {
        loop[checks] = round_of("", checks);
        fma[checks] = (round_of("fma.rn.f32", checks) - loop[checks]) / COPIES;
    }
    printf("forms: ns a warp instruction, one core; times that of fma.rn.f32; the same by bytes\n"
           "  %-56s %8s %6s %6s   %8s %6s %6s\n",
           "", "off", "ratio", "bytes", "default", "ratio", "bytes");
    if (csv)
        fprintf(csv, "form,off_ns,off_ratio,off_by_bytes,default_ns,default_ratio,default_by_bytes\n");
    for (unsigned i = 0; i < n; i++) {
        double ns[2], ratio[2], words = words_of(forms[i]);
        if (argc > 3 && !strstr(forms[i], argv[3]))
            continue;
        for (int checks = 0; checks < 2; checks++) {
            ns[checks] = (round_of(forms[i], checks) - loop[checks]) / COPIES;
            ratio[checks] = ns[checks] / fma[checks];
        }
        const bool slow = ratio[0] / words > SLOW && !may_be_slow(forms[i]);
        too_slow += slow && i < listed;
        printf("  %-56s %8.1f %6.1f %6.1f   %8.1f %6.1f %6.1f%s\n", forms[i], ns[0], ratio[0], ratio[0] / words, ns[1],
               ratio[1], ratio[1] / words, slow ? "  slow" : "");
        if (csv)
            fprintf(csv, "%s,%.1f,%.2f,%.2f,%.1f,%.2f,%.2f\n", forms[i], ns[0], ratio[0], ratio[0] / words, ns[1],
                    ratio[1], ratio[1] / words);
    }
    printf("  slow: more than %d times fma for the same bytes with checks off, and no atomic, mma, wait or branch:\n"
           "  %u of the list\n",
           SLOW, too_slow);
    printf("  %u forms of the list are not here: they start an engine, call, or need a cluster\n", outside);
    if (csv)
        fclose(csv);
    return 0;
}
