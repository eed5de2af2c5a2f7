/* Findings: a report a bug, counts of the rest, what is cut, what is suppressed, and what is below the level chosen. */
#include "machine/machine.h"
#include "report/suppress.h"

#include "tests/check.h"

#include <unistd.h>

static char out[16384];
static size_t length;

static void collect(void *ctx, const char *text, size_t len) {
    (void)ctx;
    check_append(out, sizeof out, &length, text, len);
}

DIAG(warning) = {.id = "missing-proxy-fence", .class = DIAG_WARNING, .cuda_error = 719};
DIAG(strict) = {.id = "mbarrier-unpublished", .class = DIAG_STRICT, .cuda_error = 719};
DIAG(fatal) = {.id = "deadlock", .class = DIAG_ERROR, .cuda_error = 719};

static struct gpu *open_gpu(enum mach_check check) {
    struct mach_config c = mach_config_b200();
    c.check = check;
    struct gpu *gpu = gpu_create(&c);
    gpu->sink = (struct diag_sink){.write = collect};
    return gpu;
}

static void begin(struct gpu *gpu, struct island *isl) {
    gpu_begin_launch(gpu);
    island_init(isl, gpu, 0);
    length = 0;
    out[0] = 0;
}

static void end(struct gpu *gpu, struct island *isl) {
    island_tell(isl);
    island_close(isl);
    gpu_end_launch(gpu);
}

/* Line `line` of file `file` breaks a rule in CTA `cta`. */
static bool meet(struct island *isl, const struct diag *d, const char *file, uint32_t line, uint32_t cta) {
    struct diag_site s = {.src_file = file, .src_line = line, .ptx_name = "p", .func = "_Z4gemmPf"};
    const struct mach_origin o = {.site = &s, .thread = {.cta = {cta, 0, 0}, .cluster_size = 1, .warp = 1}};
    return mach_warn(isl, &o, d, "CTA %u", cta);
}

static unsigned lines(const char *begin) {
    unsigned n = 0;
    for (const char *at = out; (at = strstr(at, begin)) != NULL; at++)
        n += at == out || at[-1] == '\n';
    return n;
}

static void one_report_a_bug(void) {
    struct gpu *gpu = open_gpu(MACH_CHECK_WARN);
    struct island isl;
    begin(gpu, &isl);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK(meet(&isl, &warning, "a.cu", 7, i));
        CHECK(meet(&isl, &warning, "a.cu", 8, i));
        island_tell(&isl); /* a turn's end */
    }
    end(gpu, &isl);
    CHECK_EQ(lines("warning: "), 2);
    CHECK_HAS(out, "warning: CTA 0 ");
    CHECK_HAS(out, "note: 4 more of [missing-proxy-fence] at a.cu:7, last by CTA (4,0,0) warp 1\n"
                   "note: 4 more of [missing-proxy-fence] at a.cu:8, last by CTA (4,0,0) warp 1\n");
    begin(gpu, &isl); /* the next launch: nothing new, told when the process ends */
    meet(&isl, &warning, "a.cu", 8, 9);
    end(gpu, &isl);
    CHECK_STR(out, "");
    findings_tell_more(gpu->findings, &gpu->sink, true, " in later launches");
    CHECK_STR(out, "note: 1 more of [missing-proxy-fence] at a.cu:8 in later launches, last by CTA (9,0,0) warp 1\n");
    findings_tell_more(gpu->findings, &gpu->sink, true, " in later launches");
    CHECK_EQ(lines("note: "), 1);
    CHECK_EQ(findings_of_level(gpu->findings), 2);
    CHECK_EQ(gpu->findings->first->count, 5);
    CHECK_EQ(gpu->findings->last->count, 6);
    gpu_destroy(gpu);
}

/* The line of either party makes another bug. */
static void both_lines(void) {
    struct gpu *gpu = open_gpu(MACH_CHECK_WARN);
    struct island isl;
    begin(gpu, &isl);
    for (uint32_t i = 0; i < 4; i++) {
        struct diag_site s = {.src_file = "a.cu", .src_line = 5}, t = {.src_file = "a.cu", .src_line = 1 + i / 2};
        const struct mach_origin by = {.site = &s, .thread = {.warp = i}}, other = {.site = &t};
        CHECK(mach_warn_pair(&isl, &by, &other, "a store", &warning, "a load"));
    }
    end(gpu, &isl);
    CHECK_EQ(lines("warning: a load"), 2);
    CHECK_EQ(lines("  and: a store"), 2);
    CHECK_EQ(lines("note: 1 more of [missing-proxy-fence] at a.cu:5"), 2);
    gpu_destroy(gpu);
}

static void what_is_cut_is_counted(void) {
    struct gpu *gpu = open_gpu(MACH_CHECK_WARN);
    struct island isl, second;
    begin(gpu, &isl);
    island_init(&second, gpu, 1);
    for (uint32_t i = 0; i < FINDINGS_REPORTS + 3; i++) {
        meet(&isl, &warning, "a.cu", 1 + i, 0);
        meet(&second, &warning, "a.cu", 1 + i, 1);
        island_tell(&isl);
        island_tell(&second);
    }
    island_close(&second);
    end(gpu, &isl);
    CHECK_EQ(lines("warning: "), FINDINGS_REPORTS);
    CHECK_EQ(lines("note: 1 more of "), FINDINGS_REPORTS);
    CHECK_HAS(out, "note: 3 more findings of this launch are not shown, only counted\n");
    CHECK_EQ(findings_of_level(gpu->findings), FINDINGS_REPORTS + 3);
    begin(gpu, &isl); /* there is room again */
    meet(&isl, &warning, "a.cu", FINDINGS_REPORTS + 2, 1);
    meet(&isl, &warning, "a.cu", 1, 1);
    end(gpu, &isl);
    CHECK_EQ(lines("warning: "), 1);
    begin(gpu, &isl);
    for (uint32_t i = 0; i < FINDINGS_MAX + 9; i++)
        meet(&isl, &warning, "b.cu", 1 + i, 0);
    end(gpu, &isl);
    CHECK_EQ(gpu->findings->num, FINDINGS_MAX);
    CHECK_EQ(gpu->findings->lost, 9 + FINDINGS_REPORTS + 3);
    begin(gpu, &isl); /* an error has room all the same */
    CHECK(!meet(&isl, &fatal, "c.cu", 1, 0));
    end(gpu, &isl);
    CHECK_EQ(lines("error: "), 1);
    CHECK_EQ(gpu->fault, 719);
    gpu_destroy(gpu);
}

/* What islands met that are told behind one with a fault depends on the host's threads: it is dropped. */
static void nothing_behind_a_fault(void) {
    struct gpu *gpu = open_gpu(MACH_CHECK_WARN);
    struct island first, second;
    begin(gpu, &first);
    island_init(&second, gpu, 1);
    meet(&first, &warning, "a.cu", 1, 0);
    meet(&second, &warning, "a.cu", 1, 1);
    meet(&second, &warning, "a.cu", 2, 1);
    meet(&first, &fatal, "a.cu", 3, 0);
    meet(&first, &warning, "a.cu", 4, 0);
    island_tell(&first);
    island_tell(&second);
    island_close(&second);
    end(gpu, &first);
    CHECK_EQ(gpu->findings->num, 2);
    CHECK_EQ(gpu->findings->met, 2);
    CHECK_EQ(gpu->findings->first->count, 1);
    CHECK_EQ(lines("note: "), 0);
    gpu_destroy(gpu);
}

/* Class and level: what is told, and whether the kernel goes on. */
static void levels(void) {
    static const struct {
        enum mach_check check;
        const struct diag *d;
        bool goes_on;
        const char *begin;
    } cases[] = {{MACH_CHECK_OFF, &warning, true, ""},          {MACH_CHECK_OFF, &fatal, true, ""},
                 {MACH_CHECK_WARN, &warning, true, "warning"},  {MACH_CHECK_WARN, &strict, true, ""},
                 {MACH_CHECK_WARN, &fatal, false, "error"},     {MACH_CHECK_ERROR, &warning, false, "error"},
                 {MACH_CHECK_ERROR, &strict, true, ""},         {MACH_CHECK_STRICT, &strict, true, "warning"},
                 {MACH_CHECK_STRICT, &warning, true, "warning"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gpu *gpu = open_gpu(cases[i].check);
        struct island isl;
        begin(gpu, &isl);
        CHECK_EQ(meet(&isl, cases[i].d, "a.cu", 1, 0), cases[i].goes_on);
        end(gpu, &isl);
        CHECK_EQ(strlen(cases[i].begin) != 0, length != 0);
        CHECK(strncmp(out, cases[i].begin, strlen(cases[i].begin)) == 0);
        CHECK_EQ(gpu->fault, cases[i].goes_on ? 0 : 719);
        CHECK_EQ(findings_of_level(gpu->findings), length != 0);
        const struct finding *f = gpu->findings->first; /* what is below the level is known all the same */
        if (cases[i].d == &strict && CHECK(f != NULL) && cases[i].check != MACH_CHECK_STRICT)
            CHECK_EQ(f->state, FINDING_BELOW);
        gpu_destroy(gpu);
    }
}

/* --- suppressions ------------------------------------------------------------------------------------------------ */

static bool read_text(struct suppressions *s, const char *text, char why[256]) {
    char path[] = "/tmp/test_findings.XXXXXX";
    const int fd = mkstemp(path);
    if (!CHECK(fd >= 0) || !CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text)))
        return false;
    close(fd);
    memset(s, 0, sizeof *s);
    const bool ok = suppress_read(s, path, why, 256);
    unlink(path);
    return ok;
}

static unsigned matched_by(const char *text, const struct diag *d) {
    struct suppressions s;
    char why[256] = "";
    unsigned at = 0;
    if (CHECK(read_text(&s, text, why))) {
        const struct suppression *x = suppress_match(&s, d);
        at = x ? x->at : 0;
    } else {
        fprintf(stderr, "%s\n", why);
    }
    suppress_free(&s);
    return at;
}

static void suppressions_fit(void) {
    struct diag_inline call = {.file = "/src/main.cu", .line = 40};
    struct diag_site s = {.src_file = "/src/lib/tma.cuh", .src_line = 12, .inlined = &call, .func = "_Z4gemmPf"};
    struct diag_site t = {.ptx_name = "k.ptx", .ptx_line = 3, .func = "other"};
    const struct diag_party other = {.what = "a store", .site = &t};
    const struct diag d = {.id = "deadlock", .site = &s, .other = &other};
    CHECK_EQ(matched_by("", &d), 0);
    CHECK_EQ(matched_by("# deadlock\n\n  deadlock # all\n", &d), 3);
    CHECK_EQ(matched_by("missing-proxy-fence\n", &d), 0);
    CHECK_EQ(matched_by("deadlock tma.cuh\n", &d), 1);
    CHECK_EQ(matched_by("deadlock */lib/*:12", &d), 1);
    CHECK_EQ(matched_by("deadlock tma.cuh:13\ndeadlock main.cu:40\n", &d), 2);
    CHECK_EQ(matched_by("deadlock main.cu:12\n", &d), 0);
    CHECK_EQ(matched_by("deadlock lib/tma.cuh\n", &d), 0);
    CHECK_EQ(matched_by("deadlock * ge?m\n", &d), 1);
    CHECK_EQ(matched_by("deadlock * _Z4gemm*\n", &d), 1);
    CHECK_EQ(matched_by("deadlock * gem\n", &d), 0);
    CHECK_EQ(matched_by("deadlock k.ptx:3 other\n", &d), 1);
    CHECK_EQ(matched_by("deadlock k.ptx:3 gemm\n", &d), 0); /* of one party both hold */
    CHECK_EQ(matched_by("deadlock *\n", &(struct diag){.id = "deadlock"}), 0);
    CHECK_EQ(matched_by("deadlock\n", &(struct diag){.id = "deadlock"}), 1);
}

static void wrong_suppressions(void) {
    struct suppressions s;
    char why[256];
    CHECK(!read_text(&s, "deadlock\n dead-look a.cu\n", why));
    CHECK_HAS(why, ":2: dead-look: there is no such rule");
    suppress_free(&s);
    CHECK(!read_text(&s, "deadlock a.cu gemm now\n", why));
    CHECK_HAS(why, ":1: deadlock: a line is `rule-id [file-glob[:line] [function-glob]]'");
    suppress_free(&s);
    memset(&s, 0, sizeof s);
    CHECK(!suppress_read(&s, "/nowhere/s.txt", why, sizeof why));
    CHECK_HAS(why, "/nowhere/s.txt: ");
    CHECK(!suppress_read(&s, "/", why, sizeof why));
    suppress_free(&s);
}

/* Nothing is told of what is suppressed, and no level makes an error of it; but of an error itself. */
static void suppressed(void) {
    struct suppressions s;
    char why[256] = "";
    CHECK(read_text(&s, "missing-proxy-fence a.cu:7\ndeadlock\n", why));
    struct gpu *gpu = open_gpu(MACH_CHECK_ERROR);
    struct island isl;
    gpu->findings->suppressions = &s;
    begin(gpu, &isl);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(meet(&isl, &warning, "a.cu", 7, i));
    island_tell(&isl);
    CHECK_STR(out, "");
    CHECK_EQ(findings_of_level(gpu->findings), 0);
    const struct finding *f = gpu->findings->first;
    if (CHECK(f != NULL)) {
        CHECK_EQ(f->state, FINDING_SUPPRESSED);
        CHECK_EQ(f->count, 3);
        CHECK(f->suppression == s.first);
    }
    CHECK(!meet(&isl, &fatal, "a.cu", 7, 0));
    end(gpu, &isl);
    CHECK_EQ(lines("error: "), 1);
    begin(gpu, &isl);
    CHECK(!meet(&isl, &warning, "a.cu", 8, 0));
    end(gpu, &isl);
    CHECK_EQ(lines("error: "), 1);
    gpu_destroy(gpu);
    suppress_free(&s);
}

int main(void) {
    one_report_a_bug();
    both_lines();
    what_is_cut_is_counted();
    nothing_behind_a_fault();
    levels();
    suppressions_fit();
    wrong_suppressions();
    suppressed();
    return check_report();
}
