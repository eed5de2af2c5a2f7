/* report/text: the text of a report, its parts when some are missing, and that nothing overruns. */
#include "base/arena.h"
#include "base/fatal.h"
#include "report/diag.h"
#include "report/rules.h"

#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[8192];

static void keep(void *ctx, const char *text, size_t len) {
    (void)ctx;
    if (!CHECK(len < sizeof out))
        return;
    memcpy(out, text, len);
    out[len] = '\0';
    CHECK_EQ(strlen(out), len);
    CHECK(len > 0 && out[len - 1] == '\n');
}

static const struct diag_sink sink = {.write = keep};

static struct diag_site site(void) {
    return (struct diag_site){.src_file = "01_tmem_alloc.cu",
                              .src_line = 57,
                              .ptx_name = "01.sm_100f.ptx",
                              .ptx_line = 123,
                              .ptx_text = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r18], %r19;",
                              .func = "_Z9tmem_demoPj"};
}

static void whole_report(void) {
    struct diag_site s = site();
    struct diag_thread t = {.cta = {1, 2, 0}, .cluster_size = 1, .warp = 3, .lanes = UINT32_MAX, .tid = {96, 0, 0}};
    struct diag d = {.id = "tcgen05-alloc-columns",
                     .rule = "the number of columns must be a power of two between 32 and 512",
                     .section = "PTX ISA 9.7.16.7.1",
                     .hint = "ask for 64",
                     .site = &s,
                     .thread = &t};
    diag_report(&sink, &d, "tcgen05.alloc of %d columns", 48);
    CHECK_STR(out,
              "error: tcgen05.alloc of 48 columns                                       [tcgen05-alloc-columns]\n"
              "  --> 01_tmem_alloc.cu:57 in tmem_demo\n"
              "   ptx: 01.sm_100f.ptx:123   tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r18], %r19;\n"
              "   by:  CTA (1,2,0) warp 3, lanes 0-31 (first thread (96,0,0))\n"
              "   rule: the number of columns must be a power of two between 32 and 512   (PTX ISA 9.7.16.7.1)\n"
              "   hint: ask for 64\n"
              "   more: " DIAG_PAGE "#tcgen05-alloc-columns\n");
    d.warning = true;
    diag_report(&sink, &d, "x");
    CHECK_HAS(out, "warning: x ");
}

static void missing_parts(void) {
    diag_report(&sink, &(struct diag){.id = NULL}, "only a sentence");
    CHECK_STR(out, "error: only a sentence\n");
    struct diag_site s = site();
    s.src_file = NULL;
    s.func = "plain";
    diag_report(&sink, &(struct diag){.id = "i", .site = &s, .section = "PTX ISA 9"}, "m");
    CHECK_HAS(out, "  --> 01.sm_100f.ptx:123 in plain\n   ptx: tcgen05.alloc");
    CHECK_HAS(out, "   rule: (PTX ISA 9)\n");
    diag_report(&sink, &(struct diag){.site = &(struct diag_site){0}}, "m");
    CHECK_HAS(out, "  --> PTX:0\n");
    diag_report(NULL, &(struct diag){0}, "nobody listens");
    diag_report(&(struct diag_sink){0}, &(struct diag){0}, "nobody listens");
}

static void thread_is(struct diag_thread t, const char *want) {
    diag_report(&sink, &(struct diag){.thread = &t}, "m");
    CHECK_HAS(out, want);
}

static void threads(void) {
    thread_is((struct diag_thread){.warp = 1, .lanes = 0x80000001, .tid = {32, 0, 0}},
              "   by:  CTA (0,0,0) warp 1, lanes 0,31 (first thread (32,0,0))\n");
    thread_is((struct diag_thread){.warp = 1, .lanes = 0xF0, .tid = {4, 0, 0}}, "lanes 4-7 (first");
    thread_is((struct diag_thread){.warp = 1, .lanes = 0x20, .tid = {5, 1, 2}}, "lane 5 (thread (5,1,2))\n");
    thread_is((struct diag_thread){.warp = 1, .lanes = 0}, "   by:  CTA (0,0,0) warp 1\n");
    thread_is((struct diag_thread){.warp = 0, .lanes = 1, .cluster_size = 4, .cluster_rank = 2},
              "   by:  CTA (0,0,0), rank 2 of a cluster of 4, warp 0, lane 0");
    thread_is((struct diag_thread){.warp = DIAG_NO_WARP, .cluster_size = 4, .cluster_rank = 2},
              "   by:  CTA (0,0,0), rank 2 of a cluster of 4\n");
}

static void function_is(const char *symbol, const char *want) {
    struct diag_site s = {.ptx_name = "p", .func = symbol};
    char line[512];
    snprintf(line, sizeof line, " in %s\n", want);
    diag_report(&sink, &(struct diag){.site = &s}, "m");
    CHECK_HAS(out, line);
}

static void functions(void) {
    function_is("tmem_demo", "tmem_demo");
    function_is("_Z4gemmPK6__halfi", "gemm");
    function_is("_ZN4cute4gemmIiEEvT_", "cute::gemm<...>");
    function_is("_ZNK2ns1C1fEi", "ns::C::f");
    function_is("_ZN12_GLOBAL__N_13fooEv", "foo");
    function_is("_Z6kernelILi128EEvPf", "kernel<...>");
    function_is("_Z99short", "_Z99short");
    function_is("_Z", "_Z");
    function_is("_ZN", "_ZN");
    function_is("_ZN3foo", "foo");
    function_is("_Z99999999999999999999999x", "_Z99999999999999999999999x");
}

static void paths_below_the_working_directory_are_short(void) {
    char cwd[4096], path[8192];
    if (!CHECK(getcwd(cwd, sizeof cwd) != NULL))
        return;
    snprintf(path, sizeof path, "%s/sub/k.cu", cwd);
    struct diag_site s = {.src_file = path, .src_line = 4, .ptx_name = "p"};
    diag_report(&sink, &(struct diag){.site = &s}, "m");
    CHECK_HAS(out, "  --> sub/k.cu:4\n");
    s.src_file = "/elsewhere/k.cu";
    diag_report(&sink, &(struct diag){.site = &s}, "m");
    CHECK_HAS(out, "  --> /elsewhere/k.cu:4\n");
}

/* A file of its own: the line, in place of the tabs blanks, and a mark below the column. */
static void excerpts(void) {
    char path[] = "/tmp/test_diag.XXXXXX.cu", want[256];
    const int fd = mkstemps(path, 3);
    static const char text[] = "first\n\twait(\001bar);  \r\n\n    last";
    if (!CHECK(fd >= 0) || !CHECK(write(fd, text, sizeof text - 1) == sizeof text - 1))
        return;
    close(fd);
    struct diag_inline call = {.file = path, .line = 4, .column = 999};
    struct diag_inline inner = {.file = "gone.cuh", .line = 9, .outer = &call};
    struct diag_site s = {.src_file = path, .src_line = 2, .src_column = 7, .inlined = &inner, .ptx_name = "p"};
    diag_report(&sink, &(struct diag){.site = &s}, "m");
    snprintf(want, sizeof want,
             "  --> %s:2\n      2 |  wait(?bar);\n        |       ^\n"
             "   from: gone.cuh:9, %s:4\n      4 |     last\n        |     ^\n",
             path, path);
    CHECK_HAS(out, want);
    s.inlined = NULL;
    const uint32_t absent[] = {0, 3, 5, 4000000000u}; /* line 3 has nothing to show */
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        s.src_line = absent[i];
        diag_report(&sink, &(struct diag){.site = &s}, "m");
        CHECK(!strstr(out, " | "));
    }
    s.src_line = 1;
    s.src_file = "/dev/zero"; /* no regular file: it would never end */
    diag_report(&sink, &(struct diag){.site = &s}, "m");
    CHECK(!strstr(out, " | "));
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < 1000; i++)
        fputc('x', f);
    if (f)
        fclose(f);
    s.src_file = path;
    diag_report(&sink, &(struct diag){.site = &s}, "m");
    CHECK_HAS(out, "xxx...\n");
    unlink(path);
}

static void two_parties(void) {
    struct diag_site s = site(), earlier = site();
    struct diag_thread t = {.cluster_size = 1, .warp = 3}, u = {.cluster_size = 1, .warp = 1, .lanes = 1};
    earlier.src_line = 31;
    struct diag_party other = {"a store", &earlier, &u};
    diag_report(&sink, &(struct diag){.id = "race", .site = &s, .thread = &t, .other = &other}, "a load");
    const char *second = strstr(out, "  and: a store\n  --> 01_tmem_alloc.cu:31 in tmem_demo\n");
    if (CHECK(second != NULL))
        CHECK_HAS(second, "   by:  CTA (0,0,0) warp 1, lane 0 (thread (0,0,0))\n");
    CHECK_HAS(out, "  --> 01_tmem_alloc.cu:57 in tmem_demo\n");
}

static void repeats(void) {
    struct diag_site s = site();
    struct diag_thread t = {.cta = {3, 0, 0}, .cluster_size = 1, .warp = 2};
    const struct diag d = {.id = "i", .site = &s};
    diag_report_more(&sink, &d, 37, "", &t);
    CHECK_STR(out, "note: 37 more of [i] at 01_tmem_alloc.cu:57, last by CTA (3,0,0) warp 2\n");
    diag_report_more(&sink, &(struct diag){.id = "i"}, 1, " in later launches", NULL);
    CHECK_STR(out, "note: 1 more of [i] in later launches\n");
}

/* A bug is a rule and the lines of its parties: not the function, the instruction's text or the thread. */
static void keys(void) {
    struct diag_site s = site(), same = site(), line = site(), second = site();
    struct diag_inline call = {.file = "a.cu", .line = 1}, elsewhere = {.file = "a.cu", .line = 2};
    same.func = "_Z9otherPj";
    same.ptx_line = 7;
    line.src_line++;
    const struct diag d = {.id = "i", .site = &s}, e = {.id = "i", .site = &same};
    CHECK_EQ(diag_key(&d), diag_key(&e));
    CHECK(diag_key(&d) != diag_key(&(struct diag){.id = "j", .site = &s}));
    CHECK(diag_key(&d) != diag_key(&(struct diag){.id = "i", .site = &line}));
    CHECK(diag_key(&d) != diag_key(&(struct diag){.id = "i"}));
    second.inlined = &call;
    const uint64_t here = diag_key(&(struct diag){.id = "i", .site = &second});
    second.inlined = &elsewhere;
    CHECK(here != diag_key(&(struct diag){.id = "i", .site = &second}) && here != diag_key(&d));
    struct diag_party one = {.site = &s}, two = {.site = &line};
    CHECK(diag_key(&(struct diag){.id = "i", .site = &s, .other = &one}) !=
          diag_key(&(struct diag){.id = "i", .site = &s, .other = &two}));
    s.src_file = same.src_file = NULL; /* the lines of the PTX, where there is no other */
    CHECK(diag_key(&d) != diag_key(&e));
}

/* A copy says the same when everything else is gone. */
static void copies(void) {
    char first[sizeof out], file[] = "k.cu", func[] = "k", what[] = "a store", hint[] = "wait";
    struct diag_inline outer = {.file = file, .line = 9}, call = {.file = file, .line = 8, .outer = &outer};
    struct diag_site s = {
        .src_file = file, .src_line = 5, .inlined = &call, .ptx_name = file, .ptx_text = func, .func = func};
    struct diag_thread t = {.cta = {1, 0, 0}, .warp = 3}, u = {.warp = 4};
    struct diag_party other = {what, &s, &u};
    struct diag d = {.id = "i", .hint = hint, .site = &s, .thread = &t, .other = &other};
    struct arena a = {0};
    diag_report(&sink, &d, "m");
    memcpy(first, out, sizeof out);
    const struct diag *copy = diag_keep(&a, &d);
    char *const texts[] = {file, func, what, hint};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        memset(texts[i], '!', strlen(texts[i]));
    memset(&call, 0, sizeof call);
    memset(&s, 0, sizeof s);
    memset(&t, 0, sizeof t);
    memset(&u, 0, sizeof u);
    memset(&other, 0, sizeof other);
    diag_report(&sink, copy, "m");
    CHECK_STR(out, first);
    arena_free(&a);
}

DIAG(listed) = {.id = "listed"};
DIAG_ARRAY(more, 3) = {[0] = {.id = "listed", .reason = "so"}, [2] = {.id = "another"}};

/* Ids are found in single definitions and in arrays with gaps; the definition that says its reason comes first. */
static void ids(void) {
    CHECK(rules_find("listed") == &more[0]);
    CHECK(rules_find("another") == &more[2]);
    CHECK(rules_find("list") == NULL);
    CHECK_EQ(listed.class, DIAG_ERROR);
}

static void nothing_overruns(void) {
    static char big[20000];
    memset(big, 'x', sizeof big - 1);
    struct diag_site s = {.src_file = big, .src_line = 1, .ptx_name = big, .ptx_text = big, .func = big};
    struct diag_thread t = {.lanes = 0x55555555, .cluster_size = 16};
    for (size_t n = 0; n < 6000; n += 37) {
        struct diag d = {.id = big, .rule = big, .section = big, .hint = big, .site = &s, .thread = &t};
        diag_report(&sink, &d, "%.*s", (int)n, big);
    }
    diag_report(&sink, &(struct diag){.site = &s}, "m");
    CHECK_HAS(out, "xxx ...;\n");
}

/* What a call writes on stderr. */
static void stderr_of(void (*call)(void), int *status) {
    int fd[2];
    out[0] = '\0';
    if (!CHECK(pipe(fd) == 0))
        return;
    pid_t child = fork();
    if (child == 0) {
        dup2(fd[1], STDERR_FILENO);
        call();
        _exit(0);
    }
    close(fd[1]);
    size_t len = 0;
    for (ssize_t n; (n = read(fd[0], out + len, sizeof out - 1 - len)) > 0;)
        len += (size_t)n;
    out[len] = '\0';
    close(fd[0]);
    waitpid(child, status, 0);
}

static void api(void) { diag_api("cudaMalloc", "%d bytes", -1); }
static void broken(void) { fatal_broken("state %d", 7); }
static void to_stderr(void) {
    struct diag_sink s = diag_stderr();
    diag_report(&s, &(struct diag){0}, "m");
}

static void the_other_doors(void) {
    int status = 0;
    stderr_of(api, &status);
    CHECK_STR(out, "sm100emu: cudaMalloc: -1 bytes\n");
    stderr_of(to_stderr, &status);
    CHECK_STR(out, "error: m\n");
    stderr_of(broken, &status);
    CHECK_HAS(out, "broken invariant");
    CHECK_HAS(out, "state 7\n");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
    whole_report();
    missing_parts();
    threads();
    functions();
    paths_below_the_working_directory_are_short();
    excerpts();
    two_parties();
    repeats();
    keys();
    copies();
    ids();
    nothing_overruns();
    the_other_doors();
    return check_report();
}
