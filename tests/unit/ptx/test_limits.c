/* Hostile sizes: what repeats stays linear, what nests is bounded, what is huge is refused by a sentence. */
#include "unit/ptx/parse.h"

#include <time.h>

struct buffer {
    char *s;
    size_t len, cap;
};

static void add(struct buffer *b, const char *s) {
    size_t n = strlen(s);
    while (b->len + n + 1 > b->cap) {
        b->cap = b->cap ? b->cap * 2 : 4096;
        b->s = realloc(b->s, b->cap);
    }
    memcpy(b->s + b->len, s, n + 1);
    b->len += n;
}

static void repeat(struct buffer *b, const char *s, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        add(b, s);
}

/* Parses and frees the buffer; the report ends up in `report`. Returns the number of instructions of k, -1 if
 * refused. */
static char report[4096];
static long parsed(struct buffer *b) {
    struct ptx_module *m = parse_quietly(b->s, b->len, report);
    const struct ptx_func *k = m ? ptx_find_func(m, "k") : NULL;
    long n = !m ? -1 : k ? (long)k->num_insns : 0;
    ptx_module_free(m);
    free(b->s);
    *b = (struct buffer){0};
    return n;
}

static void nesting(void) {
    struct buffer b = {0};
    add(&b, HEAD ".entry k() {");
    repeat(&b, "{", 60);
    add(&b, "ret;");
    repeat(&b, "}", 61);
    CHECK_EQ(parsed(&b), 1);

    add(&b, HEAD ".entry k() {");
    repeat(&b, "{ L: bra X; bra L; ", 1000);
    CHECK_EQ(parsed(&b), -1);
    CHECK_HAS(report, "more than 64 levels of braces");

    static const char *const deep[] = {"(", "-", "{", "[%rd1, ", "0 ? 0 : ", "(.s64)"};
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        add(&b, KERNEL_HEAD "mov.b32 %r1, ");
        repeat(&b, deep[i], 100000);
        CHECK_EQ(parsed(&b), -1);
        CHECK_HAS(report, "more than 64 levels of nesting");
    }
    add(&b, HEAD ".global .b32 x");
    repeat(&b, "[1]", 100);
    CHECK_EQ(parsed(&b), -1);
    CHECK_HAS(report, "more than 8 array dimensions");
}

static void counts(void) {
    struct buffer b = {0};
    add(&b, KERNEL_HEAD "add.b32 ");
    repeat(&b, "%r1, ", 12);
    add(&b, "%r2; }");
    CHECK_EQ(parsed(&b), -1);
    CHECK_HAS(report, "more than 12 operands");

    add(&b, KERNEL_HEAD "add");
    repeat(&b, ".cc", 21);
    add(&b, " %r1; }");
    CHECK_EQ(parsed(&b), -1);
    CHECK_HAS(report, "more than 20 modifiers");

    add(&b, KERNEL_HEAD "add");
    repeat(&b, ".cc", 20);
    add(&b, " %r1; }");
    CHECK_EQ(parsed(&b), 1);

    add(&b, KERNEL_HEAD);
    repeat(&b, ";", (1 << 20) + 1);
    add(&b, "}");
    CHECK_EQ(parsed(&b), -1);
    CHECK_HAS(report, "more than 1048576 instructions");

    add(&b, KERNEL_HEAD "mov.b32 {");
    repeat(&b, "_,", (1 << 16) + 1);
    CHECK_EQ(parsed(&b), -1);
    CHECK_HAS(report, "more than 65536 elements");

    add(&b, KERNEL_HEAD "M0: ");
    for (unsigned i = 0; i < 20; i++) {
        char text[64];
        snprintf(text, sizeof text, "t%u: .branchtargets N<65536>;", i);
        add(&b, text);
    }
    CHECK_EQ(parsed(&b), -1);
    CHECK_HAS(report, "more than 1048576 labels");

    CHECK_HAS(refused(HEAD ".global .b8 x[0xFFFFFFFFFF][0xFFFFFFFFFF];"), "larger than 1 TiB");
    CHECK_HAS(refused(HEAD ".global .b8 x[0xFFFFFFFFFFFFFFFF];"), "an array dimension must be between");
    CHECK_HAS(refused(HEAD ".global .b8 x[0xFFFFFFFF] = {1};"), "initialised variables of the module are larger");
    CHECK_HAS(refused(HEAD ".global .b8 x[][0xFFFFFFFF] = {{1}, {2}};"), "larger than 256 MiB");
    CHECK_HAS(refused(HEAD ".file 65536 \"x\""), "file numbers end at");
    CHECK_HAS(refused(KERNEL(".reg .b32 %x<99999999>;")), "more than 16777216 registers");
    CHECK_HAS(refused(KERNEL("t: .branchtargets N<99999999>;")), "more than 65536 labels");
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU time of n and of 8 n of the same thing: linear work grows 8 times, quadratic 64 times. */
static void linear(const char *what, const char *piece) {
    double took[2];
    for (int k = 0; k < 2; k++) {
        unsigned n = k ? 64000 : 8000;
        struct buffer b = {0};
        add(&b, KERNEL_HEAD);
        for (unsigned i = 0; i < n; i++) {
            char text[256];
            snprintf(text, sizeof text, piece, i, i, i);
            add(&b, text);
        }
        add(&b, "}\n");
        double start = seconds();
        CHECK(parsed(&b) >= 0);
        took[k] = seconds() - start;
    }
    if (!CHECK(took[1] < 32 * took[0] + 0.5))
        fprintf(stderr, "    %s: %.3f s, then %.3f s for 8 times as much\n%s", what, took[0], took[1], report);
}

int main(void) {
    nesting();
    counts();
    linear("registers", ".reg .b32 r%u; mov.b32 r%u, 1;\n");
    linear("ranges", ".reg .b32 r%u_<5>; mov.b32 r%u_3, 1;\n");
    linear("labels", "bra L%u; L%u: ret;\n");
    linear("labels of an outer scope", "{ M: bra L%u; } L%u:\n");
    linear("variables", ".shared .b32 v%u; mov.b32 %%r1, v%u;\n");
    linear("tables", "t%u: .branchtargets L%u; L%u:\n");
    return check_report();
}
