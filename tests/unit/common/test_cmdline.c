/* test_cmdline.c - the steps' command line: values, refusals and exit codes. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../common/cmdline.h"
#include "../../check.h"

static const char *const words[] = {"f16", "bf16", NULL};
static int m, columns, type;
static float alpha;
static uint64_t seed;
static const struct cl_option table[] = {
    {"m", CL_INT, &m, "rows", 128, 1024, 128, NULL},
    {"columns", CL_POW2, &columns, "columns", 32, 512, 0, NULL},
    {"alpha", CL_FLOAT, &alpha, "factor", 0, 0, 0, NULL},
    {"seed", CL_SEED, &seed, "of the inputs", 0, 0, 0, NULL},
    {"type", CL_CHOICE, &type, "of A and B", 0, 0, 0, words},
};
enum { COUNT = sizeof table / sizeof table[0] };

static void defaults(void) {
    m = 512;
    columns = 256;
    type = 0;
    alpha = 1;
    seed = 1;
}

static void parse(int argc, char **argv) { cmdline_parse(argc, argv, "a test", table, COUNT); }

/* Runs the parser in a child; its exit code, 99 where it returned, and what it printed. */
static int run(char *first, char *second, char *text, size_t size) {
    int ends[2], status = -1;
    size_t used = 0;
    ssize_t n;
    if (pipe(ends))
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char *argv[] = {(char *)"dir/step", first, second, NULL};
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        parse(second ? 3 : 2, argv);
        _exit(99);
    }
    close(ends[1]);
    while (used + 1 < size && (n = read(ends[0], text + used, size - used - 1)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void accepts(void) {
    char *argv[] = {(char *)"step",         (char *)"--m",
                    (char *)"256",          (char *)"--alpha=-2.5e-1",
                    (char *)"--type",       (char *)"bf16",
                    (char *)"--seed",       (char *)"18446744073709551615",
                    (char *)"--columns=32", NULL};
    defaults();
    parse(9, argv);
    CHECK_EQ(m, 256);
    CHECK_EQ(columns, 32);
    CHECK_EQ(type, 1);
    CHECK_NEAR(alpha, -0.25, 0);
    CHECK_EQ(seed, ~0ull);
}

/* One line that says what is allowed, and exit code 2. */
static void refuses(const char *option, const char *value, const char *allowed) {
    char text[1024], first[64], second[64];
    snprintf(first, sizeof first, "%s", option);
    snprintf(second, sizeof second, "%s", value);
    CHECK_EQ(run(first, second, text, sizeof text), 2);
    CHECK_HAS(text, allowed);
    CHECK(strchr(text, '\n') && strchr(text, '\n')[1] == '\0');
}

static void refusals(void) {
    static const char *const bad_m[] = {"0", "100", "-128", "1152", "128x", "1e3", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad_m / sizeof bad_m[0]; i++)
        refuses("--m", bad_m[i], "step: --m takes a multiple of 128 from 128 to 1024");
    refuses("--m", "", "step: --m needs a value: a multiple of 128 from 128 to 1024");
    refuses("--columns", "48", "a power of two from 32 to 512");
    refuses("--columns", "1024", "a power of two from 32 to 512");
    refuses("--alpha", "nan", "a finite number");
    refuses("--alpha", "inf", "a finite number");
    refuses("--alpha", "1e999", "a finite number");
    refuses("--alpha", "one", "a finite number");
    refuses("--seed", "-1", "a whole number from 0 to 2^64 - 1");
    refuses("--seed", "18446744073709551616", "a whole number");
    refuses("--type", "fp16", "f16 or bf16");
    refuses("--rows", "128", "--rows is not an option");
    refuses("m", "128", "m is not an option");
    refuses("--mm", "128", "--mm is not an option");
}

int main(void) {
    char text[1024];
    accepts();
    defaults();
    refusals();
    CHECK_EQ(run((char *)"--m", NULL, text, sizeof text), 2); /* a value is missing */
    CHECK_EQ(run((char *)"--help", NULL, text, sizeof text), 0);
    CHECK_HAS(text, "--columns   columns: a power of two from 32 to 512 (default 256)");
    CHECK_HAS(text, "f16 or bf16 (default f16)");
    return check_report();
}
