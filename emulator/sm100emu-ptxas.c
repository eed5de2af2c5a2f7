/* sm100emu-ptxas - in ptxas's place for front ends that compile while the program runs: hands on the PTX.
 *
 *   ptxas [OPTIONS] FILE.ptx -o FILE.cubin
 *
 * The file that it writes in the cubin's place is the PTX with a mark (cudart/loader/marked.h), which cuModuleLoadData
 * of the emulator takes, line tables and all. The real ptxas runs before, with the same arguments: it refuses what it
 * refuses anywhere, in its words and with its exit status, and its register counts go along. It is the one that the
 * user had chosen, else the one of the Triton that calls, else the one of the path. Where there is none, the emulator's
 * own parser looks for errors. --version is the real one's, since front ends choose the PTX version by it, and a line
 * that says who answered, since Triton's cache goes by that text: no cubin of the one is ever taken for one of the
 * other.
 */
#include "cudart/loader/fatbin.h"
#include "cudart/loader/marked.h"
#include "launcher/frontends.h"
#include "ptx/ir.h"
#include "report/diag.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Without a real one: the release of the newest PTX that was tried, 9.4 (docs/conformance.md). */
#define RELEASE "13.4"

enum { FAILED = 1, SYNTAX = 255 };

static _Noreturn void stop(int status, const char *what, const char *why) {
    fprintf(stderr, "ptxas (sm100emu): %s: %s\n", what, why);
    exit(status);
}

/* --- the real one ------------------------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const char *path) {
    struct stat b;
    return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* A program, and not this one. */
static bool is_real(const char *path) {
    struct stat self, st;
    return stat("/proc/self/exe", &self) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0 && !same_file(&self, path);
}

/* What the user had set before the launcher did. */
static bool find_chosen(char *path, size_t size) {
    static const char *const variables[] = {FRONTEND_WAS "TRITON_PTXAS_BLACKWELL_PATH",
                                            FRONTEND_WAS "TRITON_PTXAS_PATH"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *chosen = getenv(variables[i]);
        if (chosen != NULL && snprintf(path, size, "%s", chosen) < (int)size && is_real(path))
            return true;
    }
    return false;
}

/* The process that calls has loaded triton/_C/libtriton.so; its ptxas is in triton/backends/nvidia/bin. */
static bool find_triton(char *path, size_t size) {
    static const char *const names[] = {"ptxas-blackwell", "ptxas"};
    char maps[32], line[PATH_MAX + 128];
    bool found = false;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", (long)getppid());
    FILE *f = fopen(maps, "re");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        char *root = strchr(line, '/'), *end = strstr(line, "/_C/libtriton.so");
        for (size_t i = 0; root != NULL && end != NULL && !found && i < sizeof names / sizeof *names; i++)
            found =
                snprintf(path, size, "%.*s/backends/nvidia/bin/%s", (int)(end - root), root, names[i]) < (int)size &&
                is_real(path);
    }
    if (f != NULL)
        fclose(f);
    return found;
}

static bool find_in_path(char *path, size_t size) {
    const char *p = getenv("PATH"), *home = getenv("CUDA_HOME");
    for (size_t n = 0; p != NULL; p = p[n] ? p + n + 1 : NULL) {
        n = strcspn(p, ":");
        if (snprintf(path, size, "%.*s/ptxas", n ? (int)n : 1, n ? p : ".") < (int)size && is_real(path))
            return true;
    }
    return home != NULL && snprintf(path, size, "%s/bin/ptxas", home) < (int)size && is_real(path);
}

/* Runs it: its exit status, as a shell gives it. */
static int run_real(const char *path, char **argv) {
    int status = 0;
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, a child leaves no status */
    const pid_t pid = fork();
    if (pid == 0) {
        unsetenv(FRONTEND_WAS "TRITON_PTXAS_BLACKWELL_PATH"); /* it may be a stand-in of another installation */
        unsetenv(FRONTEND_WAS "TRITON_PTXAS_PATH");
        execv(path, argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        stop(FAILED, path, strerror(errno));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static _Noreturn void tell_version(const char *real, char **argv) {
    int status = 0;
    if (real != NULL)
        status = run_real(real, argv);
    else
        printf("Cuda compilation tools, release " RELEASE ", V" RELEASE "\n");
    if (status == 0)
        printf("sm100emu " VERSION " runs its PTX%s\n", real ? "" : "; there is no ptxas here");
    exit(status == 0 && fflush(stdout) != 0 ? FAILED : status);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

/* The whole file and a zero byte; NULL, with errno: it cannot be had. */
static char *read_file(const char *path, size_t *len) {
    FILE *f = fopen(path, "rbe");
    struct stat st;
    char *bytes = NULL;
    if (f == NULL)
        return NULL;
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size <= MARKED_MAX_CODE)
        bytes = calloc((size_t)st.st_size + 1, 1);
    *len = bytes != NULL ? fread(bytes, 1, (size_t)st.st_size, f) : 0;
    fclose(f);
    return bytes;
}

/* The argument that is a file of PTX: its text, or NULL. */
static char *read_input(char **argv, const char **name, size_t *len) {
    for (char **a = argv + 1; *a != NULL; a++) {
        char *text = **a != '-' ? read_file(*a, len) : NULL;
        if (text != NULL && fatbin_ptx_version(text, *len) != 0) {
            *name = *a;
            return text;
        }
        free(text);
    }
    return NULL;
}

static const char *find_output(char **argv) {
    const char *output = NULL;
    for (char **a = argv + 1; *a != NULL; a++)
        if (strncmp(*a, "--output-file=", 14) == 0)
            output = *a + 14;
        else if ((strcmp(*a, "-o") == 0 || strcmp(*a, "--output-file") == 0) && a[1] != NULL)
            output = *++a;
    return output;
}

static void write_marked(const char *path, const char *ptx, size_t ptx_len, const char *code, size_t code_len) {
    const struct marked_head head = {MARKED_MAGIC, MARKED_VERSION, sizeof head, ptx_len, code_len};
    FILE *f = fopen(path, "wbe");
    bool ok = f != NULL && fwrite(&head, sizeof head, 1, f) == 1 && fwrite(ptx, ptx_len + 1, 1, f) == 1 &&
              fwrite(code, 1, code_len, f) == code_len;
    ok = f != NULL && fclose(f) == 0 && ok;
    if (!ok)
        stop(FAILED, path, strerror(errno));
}

/* --- both --------------------------------------------------------------------------------------------------------- */

static bool asks_version(char **argv) {
    for (char **a = argv + 1; *a != NULL; a++)
        if (strcmp(*a, "--version") == 0 || strcmp(*a, "-V") == 0)
            return true;
    return false;
}

int main(int argc, char **argv) {
    char path[PATH_MAX];
    const char *name = NULL, *output = find_output(argv);
    size_t ptx_len = 0, code_len = 0;
    const bool real =
        find_chosen(path, sizeof path) || find_triton(path, sizeof path) || find_in_path(path, sizeof path);
    (void)argc;
    if (asks_version(argv))
        tell_version(real ? path : NULL, argv);
    char *ptx = read_input(argv, &name, &ptx_len), *code = NULL;
    if (ptx == NULL || output == NULL) /* other uses are the real one's */
        return real ? run_real(path, argv) : (stop(FAILED, "usage", "ptxas [OPTIONS] FILE.ptx -o FILE"), FAILED);
    ptx_len = strlen(ptx);
    if (ptx_len > FATBIN_MAX_TEXT)
        stop(FAILED, name, "the emulator takes no PTX of more than 256 MiB");
    if (real) {
        const int status = run_real(path, argv);
        if (status != 0)
            return status;
        code = read_file(output, &code_len);
    } else {
        const struct diag_sink to = diag_stderr();
        if (ptx_parse(ptx, ptx_len, name, &to) == NULL)
            return SYNTAX;
    }
    write_marked(output, ptx, ptx_len, code ? code : "", code_len);
    return 0;
}
