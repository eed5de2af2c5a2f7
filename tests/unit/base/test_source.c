/* Lines of source files, and what they call things. */
#include "base/source.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void initialises(const char *line, const char *name, int32_t index) {
    char out[64] = "-";
    int32_t got = -9;
    const bool found = source_initialises(line, out, sizeof out, &got);
    CHECK_STR(found ? out : "-", name);
    if (found)
        CHECK_EQ(got, index);
}

static void check_initialises(void) {
    initialises("mbarrier_init(smem_address(&s->full[i]), 1);", "full", SOURCE_SOME_INDEX);
    initialises("mbarrier_init(smem_address(&s->full), 1);", "full", SOURCE_WITHOUT_INDEX);
    initialises("    mbarrier_init(done, 1);", "done", SOURCE_WITHOUT_INDEX);
    initialises("ptx::mbarrier_init(&bar[2], 1);", "bar", 2);
    initialises("init(&a[i][1], 1);", "a", SOURCE_SOME_INDEX);
    initialises("full_barriers[i]->init(1);", "full_barriers", SOURCE_SOME_INDEX);
    initialises("pipe.empty.init(2);", "empty", SOURCE_WITHOUT_INDEX);
    initialises("this->init(2);", "-", 0);
    initialises("init(a, 1), init(b, 1);", "-", 0);
    initialises("initialise(a);", "-", 0);
    initialises("", "-", 0);
}

static void calls(const char *line, const char *name) {
    char out[64];
    CHECK_STR(source_calls(line, out, sizeof out) ? out : "-", name);
}

static void check_calls(void) {
    calls("            mma_role(&g, &p, s, UMMA_KIND_F16);", "mma_role");
    calls("if (elect_one()) k_loop(&g, &share, s, &a, &b);", "k_loop");
    calls("epilogue(&g, tmem_at(accumulator, window, 0), g.c + at);", "epilogue");
    calls("const struct row r = find_row(s, out);", "find_row");
    calls("tma_store_wait_read<BUFFERS - 1>(); /* f(x) */", "tma_store_wait_read");
    calls("for (work w = first(g); w.valid;) {", "first");
    calls("if (a < b && c(d)) return;", "c");
    calls("x = y + 1; // f(x)", "-");
    calls("while (true)", "-");
}

static void argument(const char *line, const char *name) {
    char out[64];
    CHECK_STR(source_argument(line, out, sizeof out) ? out : "-", name);
}

static void check_arguments(void) {
    argument("clc_try_cancel(smem_address(s->answer[empty.at]), full);", "answer");
    argument("bulk_load(&s->tile, from, bytes, full);", "tile");
    argument("load(to, from);", "to");
    argument("load(f(g(deep)), from);", "deep");
    argument("load(4, from);", "-");
    argument("nothing", "-");
}

static void check_symbols(void) {
    char out[64];
    source_symbol("_ZZ4kernvE3bar", out, sizeof out);
    CHECK_STR(out, "bar");
    source_symbol("plain", out, sizeof out);
    CHECK_STR(out, "plain");
    source_symbol("_Z999", out, sizeof out);
    CHECK_STR(out, "_Z999");
}

static void check_words(void) {
    const char *at = "a_x += 12 * w.m; /* n */", *word;
    char all[64] = "";
    size_t n, len = 0;
    while ((word = source_word(&at, &n)) != NULL) {
        check_append(all, sizeof all, &len, word, n);
        check_append(all, sizeof all, &len, " ", 1);
    }
    CHECK_STR(all, "a_x w m ");
}

static void check_files(void) {
    char path[] = "/tmp/test_source.XXXXXX.cu", line[SOURCE_LINE];
    struct source_files files = {0};
    struct stat st;
    FILE *f = fdopen(mkstemps(path, 3), "w");
    if (!CHECK(f != NULL))
        return;
    fputs("one\r\ntwo\n\nfour", f);
    fclose(f);
    CHECK(source_line(&files, path, 1, line));
    CHECK_STR(line, "one");
    CHECK(source_line(&files, path, 4, line));
    CHECK_STR(line, "four");
    CHECK(source_line(&files, path, 3, line));
    CHECK_STR(line, "");
    CHECK(!source_line(&files, path, 5, line));
    CHECK(!source_line(&files, path, 0, line));
    CHECK(!source_line(&files, "/", 1, line));
    CHECK(!source_line(&files, "/nowhere/at/all.cu", 1, line));
    CHECK(!source_line(&files, "", 1, line));
    CHECK(!source_line(&files, NULL, 1, line));
    source_free(&files);
    /* a file that was changed after the program was made has other lines */
    CHECK(stat(path, &st) == 0);
    files.newest = st.st_mtime - 1;
    CHECK(!source_line(&files, path, 1, line));
    source_free(&files);
    files.newest = st.st_mtime;
    CHECK(source_line(&files, path, 1, line));
    source_free(&files);
    unlink(path);
}

static bool opens(const char *folder, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = source_open(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Which files are quoted: those that are called sources, and those of the user's own folder. */
static void check_open(void) {
    char folder[] = "/tmp/test_source.XXXXXX", path[64], to[64];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    static const char *const names[] = {"k.cu", "k.py", "secret", "cu", "k.cu.bak", ".cu"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *f = fopen(path, "w");
        if (CHECK(f != NULL))
            fclose(f);
    }
    snprintf(path, sizeof path, "%s/link.cu", folder);
    CHECK(symlink("secret", path) == 0);
    snprintf(path, sizeof path, "%s/folder.cu", folder);
    CHECK(mkdir(path, 0700) == 0);
    unsetenv(SOURCE_ROOT);
    CHECK(opens(folder, "k.cu") && opens(folder, "k.py"));
    CHECK(!opens(folder, "secret") && !opens(folder, "cu") && !opens(folder, "k.cu.bak"));
    CHECK(!opens(folder, "link.cu") && !opens(folder, "folder.cu") && !opens(folder, "none.cu"));
    CHECK(!opens("/dev", "zero"));
    setenv(SOURCE_ROOT, folder, 1);
    CHECK(opens(folder, "secret") && opens(folder, "link.cu") && !opens(folder, "folder.cu"));
    CHECK(!opens("/etc", "hostname"));
    snprintf(to, sizeof to, "%.*s", (int)strlen(folder) - 1, folder); /* another folder, whose name begins the same */
    setenv(SOURCE_ROOT, to, 1);
    CHECK(!opens(folder, "secret"));
    unsetenv(SOURCE_ROOT);
    static const char *const made[] = {"k.cu", "k.py", "secret", "cu", "k.cu.bak", ".cu", "link.cu", "folder.cu"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, made[i]);
        CHECK(remove(path) == 0);
    }
    rmdir(folder);
}

static void plain(const char *text, const char *want, bool utf8) {
    char copy[32];
    snprintf(copy, sizeof copy, "%s", text);
    CHECK_EQ(source_plain(copy, strlen(copy)), utf8);
    CHECK_STR(copy, want);
}

static void check_plain(void) {
    plain("a\tb", "a b", true);
    plain("\033[31mred\177", "?[31mred?", true);
    plain("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80", "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80", true);
    plain("\xc2\x9b"
          "31m",
          "??31m", true); /* CSI in one character */
    plain("\xe9t\xe9 x", "?t? x", false);
    plain("\xc0\xaf", "??", false); /* '/' in two bytes */
    plain("\xed\xa0\x80", "???", false);
    plain("\xf4\x90\x80\x80", "????", false);
    plain("cut \xe2\x82", "cut ??", true);
    char two[] = "a\0b\n";
    CHECK(source_plain(two, sizeof two));
    CHECK(memcmp(two, "a\0b?", sizeof two) == 0);
}

int main(void) {
    check_open();
    check_plain();
    check_initialises();
    check_calls();
    check_arguments();
    check_symbols();
    check_words();
    check_files();
    return check_report();
}
