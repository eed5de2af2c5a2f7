/* Lines of source files, and what they call things. */
#include "base/source.h"
#include "check.h"

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
    char path[] = "/tmp/test_source.XXXXXX", line[SOURCE_LINE];
    struct source_files files = {0};
    struct stat st;
    FILE *f = fdopen(mkstemp(path), "w");
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

int main(void) {
    check_initialises();
    check_calls();
    check_arguments();
    check_symbols();
    check_words();
    check_files();
    return check_report();
}
