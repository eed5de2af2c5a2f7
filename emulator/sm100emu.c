/* sm100emu - runs a CUDA program on the emulated B200, or a program that starts some.
 *
 *   sm100emu [OPTIONS] PROGRAM [ARGS...]
 *   eval "$(sm100emu [OPTIONS] --env)"
 *
 * Looks PROGRAM up as the shell does, reads its ELF headers, or those of a script's interpreter, and refuses what
 * cannot work, by name and with the flag that mends it. A program's file does not say whether it uses CUDA: an
 * interpreter loads it later, a test runner or a script starts others. So all that these need is in the environment:
 * the emulator's folder first in LD_LIBRARY_PATH, the redirection of static runtimes in LD_PRELOAD, the options, and
 * what front ends want (launcher/frontends.def).
 *
 * The program runs as a child (launcher/parent.h says why). The exit status is the program's, but 3 in place of 0 where
 * something was found in the kernels of any of its processes; launcher/summary.h says by which. With
 * --require-complete it is 4 in place of 0 or 3 where the checks did not see all (report/bounds.h). Own failures: 2 for
 * wrong use, 126 for a program that cannot run, 127 for one that is not there. With --explore the program runs many
 * times (explore/explore.h). --env prints the environment for a shell instead; then there is no summary, and no exit
 * code.
 */
#include "cudart/core/options.h"
#include "cudart/loader/elfcheck.h"
#include "explore/explore.h"
#include "launcher/frontends.h"
#include "launcher/parent.h"
#include "launcher/summary.h"
#include "report/record.h"
#include "report/report.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The Makefile defines VERSION, and LIBRARIES: the folder where `make install` puts the libraries, as seen from this
 * program's. */
#define LIBRARY "libsm100emu.so"
#define STATIC_LIBRARY "libsm100emu-static.so"

/* Of --explore: these many runs take years, and no host has so many processes at a time. */
#define MAX_SEEDS 1000000000u
#define MAX_JOBS 1024u

/* Scripts whose interpreter is a script: as many as Linux follows. */
#define MAX_SCRIPTS 5u

enum { FAILED = 1, WRONG_USE = 2, CANNOT_RUN = 126, NOT_FOUND = 127 };

static const char help_text[] =
    "usage: sm100emu [OPTIONS] PROGRAM [ARGS...]\n"
    "Runs a CUDA program on an emulated B200 (sm_100). The program needs PTX for sm_100f or sm_100a:\n"
    "  nvcc -arch=sm_100a -lineinfo prog.cu -o prog && sm100emu ./prog\n"
    "The CUDA runtime, version 12 or 13, may be the static one, which is nvcc's default, or the shared one.\n"
    "PROGRAM may also start such programs, or load CUDA later: python, pytest, a script.\n"
    "\n"
    "  --schedule=default|eager|lazy|model|random:SEED|pct:SEED,DEPTH\n"
    "                  in which order warps and asynchronous operations run; the PTX memory model allows all of\n"
    "                  these orders. random and pct draw one; pct gives warps priorities, and changes them DEPTH - 1\n"
    "                  times. model follows a model of a B200's time, which %clock reads; --time shows its cycles\n"
    "  --check=warn|strict|error|off\n"
    "                  what to do about a missing order, fence or wait that most runs survive: warn (default),\n"
    "                  stop with an error, or nothing. strict warns also about what only the ISA forbids\n"
    "  --check-json=FILE\n"
    "                  also write the findings to FILE, as SARIF 2.1.0; %p in its name is the process's id\n"
    "  --require-complete\n"
    "                  end with 4 in place of 0 or 3 if the checks had no room to see all of a launch; a line always\n"
    "                  says what they did not see\n"
    "  --suppress=FILE do not report the findings that FILE names, each in a line:\n"
    "                  rule-id [file-glob[:line] [function-glob]]\n"
    "  --source-root=FOLDER\n"
    "                  reports and logs also quote files below FOLDER without the name of a source file\n"
    "  --trace=FILE    write a log of every event, operation and wait to FILE; sm100emu-log shows it; %p is the\n"
    "                  process's id\n"
    "  --trace-ctas=FIRST-LAST\n"
    "                  log only clusters with one of these CTAs\n"
    "  --trace-tiles=FIRST-LAST\n"
    "                  log clusters only while they compute these of their tiles\n"
    "  --follow=WHAT   after each kernel print the events of one thing on stderr: a barrier or a buffer by its\n"
    "                  name as full[0]@cta0, a shared address as 0x418@cta1, columns of tensor memory as tmem:0-255,\n"
    "                  a tile as tile:3@cluster0. In @ctaN, N is the CTA's rank in the cluster\n"
    "  --umma=exact|fast|b200\n"
    "                  exact (default): tcgen05.mma gives the same bits on every host. fast: if the CPU has a\n"
    "                  matrix unit (AMX), it sums f16 and tf32, in another order. b200: the bits that a B200 gives,\n"
    "                  on every host\n"
    "  --host-vectors=portable|avx2|avx512|amx\n"
    "                  the largest of the CPU's vector and matrix units to use (default: the largest). Results do\n"
    "                  not depend on it, except under --umma=fast\n"
    "  --gpc-sizes=N,N,...\n"
    "                  SMs of each GPC; a cluster lives in one GPC (default: 20,18,18,18,20,18,18,18)\n"
    "  --threads=N     host threads that run clusters side by side (default: one for each CPU). The results are\n"
    "                  the same with any number, unless clusters race\n"
    "  --watchdog=N    stop a kernel after N warp instructions\n"
    "  --timeout=SECONDS\n"
    "                  stop a kernel after that time (default: none)\n"
    "  --memory=BYTES  how much of the host's memory the process may take, with its device memory; K, M, G and T\n"
    "                  are units (default: 80% of the smaller of physical memory and the cgroup's limit)\n"
    "  --verbose       reports leave nothing out: a deadlock lists every warp\n"
    "  --time          after each kernel print its time and warp instructions, on stderr; with --clock or\n"
    "                  --schedule=model also its cycles and time on a model of a B200\n"
    "  --clock=sustained|burst|boost|FREQUENCY\n"
    "                  for --time and --stats, the state of the modelled chip: slowed by launches in a row\n"
    "                  (default), as after a pause, at its highest clock, or locked at 1.965GHz or 1300MHz\n"
    "  --stats         also print exact counters: instructions and divergence, bytes by path, bank conflicts,\n"
    "                  coalescing, UMMAs, mbarriers; and modelled cycles: who waited for what\n"
    "  --stats-json=FILE\n"
    "                  write the counters of every launch to FILE; %p in its name is the process's id\n"
    "  --explore=N     run the program under eager, lazy, and random and pct with the seeds 1 to N. If the exit code,\n"
    "                  output or report of one differs from the default's, name the first, and end with 3\n"
    "  --jobs=N        processes of --explore at a time (default: one for each CPU)\n"
    "  --ignore=REGEX  --explore does not compare what this finds in lines of the output, such as times\n"
    "  --env           print what a shell has to export to run programs without sm100emu before their names:\n"
    "                  eval \"$(sm100emu --check=error --env)\"\n"
    "  --version       version of the emulator\n"
    "  --help          this text\n";

__attribute__((format(printf, 2, 3))) static _Noreturn void stop(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("sm100emu: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

/* The value of "--name=value", or NULL when the argument is another option. */
static const char *value_of(const char *arg, const char *name) {
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static void set_environment(const char *name, const char *value) {
    if (setenv(name, value, 1) != 0)
        stop(CANNOT_RUN, "cannot set %s: %s", name, strerror(errno));
}

/* A whole number from 1 to `most`. */
static uint64_t number_of(const char *name, const char *value, uint64_t most) {
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(value, &end, 10);
    if (errno != 0 || *value < '0' || *value > '9' || *end != 0 || n == 0 || n > most)
        stop(WRONG_USE, "%s=%s: expected a number, 1 to %llu", name, value, (unsigned long long)most);
    return n;
}

/* Options of an exploration: false for another. */
static bool take_explore_option(const char *arg, struct explore *e) {
    const char *seeds = value_of(arg, "--explore"), *jobs = value_of(arg, "--jobs"),
               *ignore = value_of(arg, "--ignore");
    char why[256];
    if (seeds != NULL)
        e->seeds = number_of("--explore", seeds, MAX_SEEDS);
    if (jobs != NULL)
        e->jobs = (uint32_t)number_of("--jobs", jobs, MAX_JOBS);
    if (ignore != NULL && !explore_pattern(ignore, why, sizeof why))
        stop(WRONG_USE, "--ignore=%s: expected a regular expression: %s", ignore, why);
    if (ignore != NULL)
        e->ignore = ignore;
    return seeds != NULL || jobs != NULL || ignore != NULL;
}

/* An exploration has its own schedules, and its own options only where there is one. */
static void check_explore(const struct explore *e) {
    if (e->seeds == 0 && (e->jobs != 0 || e->ignore != NULL))
        stop(WRONG_USE, "%s is for --explore=N", e->jobs != 0 ? "--jobs" : "--ignore");
    for (const char *const *o = e->options; e->seeds != 0 && *o != NULL; o++)
        if (value_of(*o, "--schedule") != NULL)
            stop(WRONG_USE, "--explore chooses the schedules: leave %s out", *o);
        else if (value_of(*o, "--stats-json") != NULL)
            stop(WRONG_USE, "--explore runs many processes: leave %s out", *o);
}

/* A path that holds wherever the program goes. */
static const char *from_root(const char *path, char *buf, size_t size) {
    char cwd[PATH_MAX];
    if (path[0] == '/' || getcwd(cwd, sizeof cwd) == NULL)
        return path;
    if (snprintf(buf, size, "%s/%s", cwd, path) >= (int)size)
        stop(WRONG_USE, "%s: too long a path", path);
    return buf;
}

/* Prints what was asked for, and ends. */
static _Noreturn void tell(const char *text) {
    if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
        stop(FAILED, "stdout takes no more: %s", strerror(errno));
    exit(0);
}

/* Handles one option. Wrong values stop here, so that the library need not. */
static void take_option(const char *arg) {
    static const char *const switches[][2] = {
        {"--time", "SM100EMU_TIME"}, {"--stats", "SM100EMU_STATS"}, {"--verbose", "SM100EMU_VERBOSE"}};
    struct mach_config config = {0};
    char path[2 * PATH_MAX];
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)
        tell(help_text);
    if (strcmp(arg, "--version") == 0)
        tell("sm100emu " VERSION "\n");
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (strcmp(arg, switches[i][0]) == 0) {
            set_environment(switches[i][1], "1");
            return;
        }
    for (unsigned i = 0; i < RT_NUM_OPTIONS; i++) {
        const struct rt_option *o = &rt_options[i];
        const char *value = value_of(arg, o->name);
        if (value == NULL)
            continue;
        if (!rt_option_take(o, value, &config))
            stop(WRONG_USE, "%s=%s: expected %s", o->name, value, o->expects);
        set_environment(o->env, !o->parse ? from_root(value, path, sizeof path) : value);
        return;
    }
    stop(WRONG_USE, "%s is no option; --help lists them", arg);
}

static int is_program(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As execvp: a name with a slash is a path, another is searched for in PATH. */
static void look_up(const char *name, char *path, size_t size) {
    if (strchr(name, '/') != NULL) {
        snprintf(path, size, "%s", name);
        if (access(path, F_OK) != 0)
            stop(NOT_FOUND, "%s: %s", name, strerror(errno));
        if (!is_program(path))
            stop(CANNOT_RUN, "%s: not an executable file", name);
        return;
    }
    const char *p = getenv("PATH");
    for (p = p ? p : "/usr/local/bin:/bin:/usr/bin";; p++) {
        size_t n = strcspn(p, ":");
        if (snprintf(path, size, "%.*s/%s", n ? (int)n : 1, n ? p : ".", name) < (int)size && is_program(path))
            return;
        p += n;
        if (*p == 0)
            stop(NOT_FOUND, "%s: not found in PATH", name);
    }
}

/* Maps a file that is to be read; never empty. */
static void *map_file(const char *name, const char *path, size_t *size) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        stop(CANNOT_RUN, "%s: cannot be read: %s", name, strerror(errno));
    *size = st.st_size > 0 ? (size_t)st.st_size : 0;
    void *bytes = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED)
        stop(CANNOT_RUN, "%s: %s", name, *size ? strerror(errno) : "an empty file");
    close(fd);
    return bytes;
}

/* Judges a program, or the interpreter that runs a script. True where its file says that it uses CUDA. */
static bool check_program(const char *name, const char *path) {
    char interpreter[ELF_INTERPRETER], why[512];
    struct elf_facts facts;
    size_t size;
    for (unsigned depth = 0;; depth++) {
        unsigned char *bytes = map_file(name, path, &size);
        const bool script = elf_interpreter(bytes, size, interpreter);
        if (script ? !*interpreter || depth == MAX_SCRIPTS
                   : !elf_read(bytes, size, &facts, why, sizeof why) || !elf_judge(&facts, why, sizeof why))
            stop(CANNOT_RUN, "%s: %s", name, script ? "is a script whose first line names no interpreter" : why);
        munmap(bytes, size);
        if (!script)
            return facts.fatbin || facts.needs_cuda || facts.needs_cudart != 0;
        if (!is_program(interpreter))
            stop(CANNOT_RUN, "%s: is a script for %s, which is no executable file", name, interpreter);
        name = path = interpreter;
    }
}

/* The library lies in emulator/ beside this program (where it was built), or in LIBRARIES (where installed). */
static void find_library(char *folder, size_t size) {
    static const char *const places[] = {"emulator", LIBRARIES};
    char self[PATH_MAX], candidate[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        stop(CANNOT_RUN, "cannot find its own folder: %s", strerror(errno));
    self[n] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s/" LIBRARY, self, places[i]);
        if (access(candidate, R_OK) == 0) {
            snprintf(folder, size, "%s/%s", self, places[i]);
            return;
        }
    }
    stop(CANNOT_RUN, "%s is neither in %s/emulator nor in %s/" LIBRARIES ": make puts it there", LIBRARY, self, self);
}

/* The redirection of static runtimes (sm100emu-static.c), for the program and its children. After what is there: a
 * sanitizer's runtime must be the first. A launcher around this one has put its own there, or that of another
 * installation, which goes. LD_PRELOAD ends a name at a space or a colon; without the folder, the loader finds it in
 * LD_LIBRARY_PATH. */
static void append_preload(const char *folder) {
    const char *old = getenv("LD_PRELOAD");
    char all[4 * PATH_MAX];
    const size_t last = strlen(STATIC_LIBRARY);
    const bool bare = strchr(folder, ' ') != NULL;
    size_t len = 0, n;
    for (const char *name = old ? old : ""; *(name += strspn(name, " :")) != 0; name += n) {
        n = strcspn(name, " :");
        if (n >= last && memcmp(name + n - last, STATIC_LIBRARY, last) == 0 && (n == last || name[n - last - 1] == '/'))
            continue;
        if (len + n + 1 < sizeof all)
            memcpy(all + len, name, n);
        len += n + 1;
        if (len < sizeof all)
            all[len - 1] = ':';
    }
    if (len >= sizeof all || snprintf(all + len, sizeof all - len, "%s%s%s", bare ? "" : folder, bare ? "" : "/",
                                      STATIC_LIBRARY) >= (int)(sizeof all - len))
        stop(CANNOT_RUN, "LD_PRELOAD is too long");
    set_environment("LD_PRELOAD", all);
    old = getenv("ASAN_OPTIONS"); /* of a host program: its runtime refuses to be anything but the first library */
    if (old && strncmp(old, "verify_asan_link_order=0", 24) == 0)
        return;
    if (snprintf(all, sizeof all, "verify_asan_link_order=0%s%s", old ? ":" : "", old ? old : "") < (int)sizeof all)
        set_environment("ASAN_OPTIONS", all);
}

/* Once, where a launcher around this one has done it. */
static void prepend_library_path(const char *folder) {
    const char *old = getenv("LD_LIBRARY_PATH");
    const size_t len = strlen(folder), size = len + (old ? strlen(old) : 0) + 2;
    if (old && strncmp(old, folder, len) == 0 && (old[len] == 0 || old[len] == ':')) {
        set_environment("LD_LIBRARY_PATH", old);
        return;
    }
    char *all = malloc(size);
    if (all == NULL)
        stop(CANNOT_RUN, "no memory");
    snprintf(all, size, "%s%s%s", folder, old && *old ? ":" : "", old ? old : "");
    set_environment("LD_LIBRARY_PATH", all);
    free(all);
}

/* The library knows which rules there are: this program is linked without those who give them. */
static void check_suppressions(const char *folder) {
    const char *path = getenv("SM100EMU_SUPPRESS");
    char library[PATH_MAX + 80], why[512];
    if (path == NULL)
        return;
    snprintf(library, sizeof library, "%s/" LIBRARY, folder);
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    suppress_check *const check = opened ? (suppress_check *)dlsym(opened, SUPPRESS_CHECK) : NULL;
    if (check == NULL)
        stop(CANNOT_RUN, "%s", dlerror());
    if (!check(path, why, sizeof why))
        stop(WRONG_USE, "--suppress: %s", why);
}

/* --- what the command line asks for ------------------------------------------------------------------------------- */

/* "NAME=value" as a shell reads it: a quote in the value ends the text, stands for itself, and begins it again. */
static void print_export(const char *variable) {
    const char *value = strchr(variable, '=') + 1;
    printf("export %.*s'", (int)(value - variable), variable);
    for (const char *c = value; *c; c++)
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    puts("'");
}

/* What was set here, since setenv makes a string of its own: options, front ends' variables, the libraries' path. */
static int print_environment(char *const *before) {
    for (char **v = environ; *v != NULL; v++) {
        char *const *b = before;
        while (*b != NULL && *b != *v)
            b++;
        if (*b == NULL && strchr(*v, '=') != NULL)
            print_export(*v);
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        stop(FAILED, "stdout takes no more: %s", strerror(errno));
    return 0;
}

/* The strings of the environment as they are now. */
static char **keep_environment(void) {
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **kept = calloc(n + 1, sizeof *kept);
    if (kept == NULL)
        stop(CANNOT_RUN, "no memory");
    memcpy(kept, environ, n * sizeof *kept);
    return kept;
}

/* What this program itself was asked for. */
struct request {
    bool print;     /* --env */
    bool complete;  /* --require-complete */
    bool uses_cuda; /* the program's file says so */
    struct parent self;
};

/* Runs the program, says what its processes found, and ends as it does. */
static _Noreturn void run_program(const char *path, char **argv, const struct request *q) {
    char name[PARENT_PATH];
    const char *around = getenv(RECORD_VARIABLE); /* of a launcher around this one */
    char *outer = around && *around ? strdup(around) : NULL;
    const int record = parent_record(name);
    pid_t program;
    if (record < 0)
        stop(CANNOT_RUN, "no memory for the record of the run: %s", strerror(errno));
    set_environment(RECORD_VARIABLE, name);
    if (outer == NULL)
        set_environment(RECORD_RUN_VARIABLE, name);
    int status = parent_run(&q->self, path, argv, &program);
    if (status < 0)
        stop(CANNOT_RUN, "%s: %s", argv[0], strerror(errno));
    record_seal(record);
    if (!record_hand_on(outer, record))
        fprintf(stderr, "sm100emu: note: " RECORD_LOST "\n");
    free(outer);
    const struct summary s = summary_of(record, program, stderr);
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (well && s.processes == 0 && !q->uses_cuda)
        fprintf(stderr, "sm100emu: note: no process of this run used CUDA before the program ended\n");
    if (well && s.unseen && q->complete)
        exit(REPORT_EXIT_UNSEEN);
    if (well && s.findings != 0)
        exit(REPORT_EXIT_FOUND);
    parent_end(status);
}

/* Takes the options: the number of arguments before the program's name. */
static int take_options(int argc, char **argv, struct explore *e, struct request *q) {
    const char **options = calloc((size_t)argc + 1, sizeof *options);
    int i = 1;
    if (options == NULL)
        stop(CANNOT_RUN, "no memory");
    e->options = options;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (take_explore_option(argv[i], e))
            continue;
        if (strcmp(argv[i], "--env") == 0) {
            q->print = true;
            continue;
        }
        if (strcmp(argv[i], "--require-complete") == 0) {
            q->complete = true;
            continue;
        }
        take_option(argv[i]);
        *options++ = argv[i];
    }
    check_explore(e);
    if (q->print && (e->seeds != 0 || i < argc))
        stop(WRONG_USE, "--env takes options and no program, and goes without --explore");
    if (q->complete && (e->seeds != 0 || q->print))
        stop(WRONG_USE, "--require-complete is about the exit code, and goes without --explore and --env");
    return i;
}

int main(int argc, char **argv) {
    static char path[PATH_MAX];
    char folder[PATH_MAX + 64], why[PATH_MAX + 256];
    static char **before;
    static struct explore explore;
    struct request request = {.uses_cuda = true, .self = parent_make()};
    before = keep_environment();
    explore.launcher = argv[0];
    const int i = take_options(argc, argv, &explore, &request);
    if (i >= argc && !request.print)
        stop(WRONG_USE, "no program given; --help says how");
    if (!request.print) {
        look_up(argv[i], path, sizeof path);
        request.uses_cuda = check_program(argv[i], path);
    }
    find_library(folder, sizeof folder);
    if (strpbrk(folder, ":;") != NULL) /* they end a folder's name in LD_LIBRARY_PATH */
        stop(CANNOT_RUN, "%s: a folder with a colon or a semicolon in its name cannot be searched for libraries",
             folder);
    check_suppressions(folder);
    prepend_library_path(folder);
    append_preload(folder);
    if (!frontends_set(folder, set_environment, why, sizeof why))
        stop(CANNOT_RUN, "%s", why);
    if (request.print)
        return print_environment(before);
    explore.parent = request.self;
    explore.path = path;
    explore.argv = &argv[i];
    if (explore.seeds != 0)
        return explore_run(&explore);
    run_program(path, &argv[i], &request);
}
