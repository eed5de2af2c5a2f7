/* What a process says of its findings at its end, over several launches and devices, and in a child that it forks; and
 * what its launcher reads in the record. Each scene is a process of its own, whose stderr and exit code are looked at.
 */
#include "check.h"
#include "cudart/core/abi.h"
#include "cudart/loader/fatbin.h"
#include "launcher/parent.h"
#include "launcher/summary.h"
#include "report/record.h"
#include "report/report.h"
#include "unit/cudart/containers.h"

#include <sys/wait.h>
#include <unistd.h>

/* The source of a bulk store is written again before it was read; `quiet` waits. */
#define KERNEL(name, wait)                                                                                             \
    ".visible .entry " name "(.param .u64 out) {\n"                                                                    \
    ".reg .b64 %rd<2>; .shared .align 16 .b8 tile_" name "[16]; ld.param.u64 %rd1, [out];\n"                           \
    "st.shared.v4.u32 [tile_" name "], {1, 2, 3, 4}; fence.proxy.async.shared::cta;\n"                                 \
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile_" name "], 16; cp.async.bulk.commit_group;\n" wait      \
    "st.shared.v4.u32 [tile_" name                                                                                     \
    "], {5, 6, 7, 8}; fence.proxy.async.shared::cta; cp.async.bulk.wait_group 0; ret; }\n"
static const char text[] = ".version 9.0\n.target sm_100f\n.address_size 64\n" KERNEL("loud", "")
    KERNEL("quiet", "cp.async.bulk.wait_group.read 0;\n");

void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
int cudaLaunchKernel(const void *, struct rt_dim3, struct rt_dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaDeviceReset(void);

static char loud, quiet, out[8192], said[8192]; /* stderr, and the summary */

static void register_program(void) {
    static struct container container;
    static struct fatbin_wrapper wrapper;
    container_begin(&container);
    container_ptx(&container, 100, text);
    wrapper = (struct fatbin_wrapper){FATBIN_WRAPPER_MAGIC, 1, container.bytes, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &loud, &loud, "loud", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &quiet, &quiet, "quiet", -1, NULL, NULL, NULL, NULL, NULL);
}

static void launch(const char *kernel) {
    void *buffer = NULL, *args[] = {&buffer};
    if (cudaMalloc(&buffer, 16) != 0 ||
        cudaLaunchKernel(kernel, (struct rt_dim3){1, 1, 1}, (struct rt_dim3){1, 1, 1}, args, 0, NULL) != 0)
        _exit(99);
}

/* The exit code of a child that does `what` and ends by exit(0). */
static int child(void (*what)(void)) {
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        what();
        exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void nothing(void) {}
static void one_more(void) { launch(&loud); }

/* --- scenes ------------------------------------------------------------------------------------------------------ */

static void several_devices(void) {
    launch(&loud);
    launch(&loud);
    launch(&quiet);
    cudaDeviceReset();
    launch(&loud);
}
static void no_finding(void) { launch(&quiet); }
static void own_code(void) {
    launch(&loud);
    exit(5);
}
static void leaves_at_once(void) {
    launch(&loud);
    _exit(0);
}
static void forks(void) {
    launch(&loud);
    launch(&loud);
    if (child(nothing) != 0 || child(one_more) != 0)
        _exit(98);
}
static void last_handler(void) { (void)!write(STDERR_FILENO, "the last handler\n", 17); }
static void has_handlers(void) {
    atexit(last_handler); /* older than CUDA's, and so behind it */
    launch(&loud);
}

/* The child alone finds something. */
static void child_alone(void) {
    launch(&quiet);
    if (child(one_more) != 0)
        _exit(98);
}
static void killed(void) {
    launch(&loud);
    raise(SIGKILL);
}
static void in_tests(void) {
    setenv(RECORD_TEST, "a.py::one (call)", 1);
    launch(&loud);
    launch(&loud);
    setenv(RECORD_TEST, "a.py::two (call)", 1);
    launch(&quiet);
    setenv(RECORD_TEST, "a.py::three[x y] (call)", 1);
    launch(&loud);
}

/* Runs a scene as the launcher does: its exit code, 3 in place of 0 where the record tells of findings, with its
 * stderr in `out` and the summary in `said`. */
static int run(void (*scene)(void)) {
    int fd[2], status = 0;
    char record[PARENT_PATH];
    const int of_run = parent_record(record);
    if (!CHECK(pipe(fd) == 0 && of_run >= 0))
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        setenv(RECORD_VARIABLE, record, 1);
        dup2(fd[1], STDERR_FILENO);
        close(fd[0]);
        close(fd[1]);
        register_program();
        scene();
        exit(0);
    }
    close(fd[1]);
    size_t len = 0;
    for (ssize_t n; (n = read(fd[0], out + len, sizeof out - 1 - len)) > 0;)
        len += (size_t)n;
    out[len] = '\0';
    close(fd[0]);
    waitpid(pid, &status, 0);
    memset(said, 0, sizeof said);
    FILE *summary = fmemopen(said, sizeof said - 1, "w");
    const bool found = summary_of(of_run, pid, summary).findings != 0;
    fclose(summary);
    close(of_run);
    return !WIFEXITED(status) ? -1 : WEXITSTATUS(status) == 0 && found ? REPORT_EXIT_FOUND : WEXITSTATUS(status);
}

static unsigned times(const char *what) {
    unsigned n = 0;
    for (const char *at = out; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

int main(void) {
    CHECK_EQ(run(several_devices), REPORT_EXIT_FOUND);
    CHECK_EQ(times("[bulk-store-overwritten]\n"), 1);
    CHECK_HAS(out, "note: 2 more of [bulk-store-overwritten] at ");
    CHECK_HAS(out, " in later launches, last by CTA (0,0,0) warp 0");
    CHECK_EQ(times("more of [bulk-store-overwritten]"), 1);
    CHECK_STR(said, ""); /* all of it is in the reports */

    CHECK_EQ(run(no_finding), 0);
    CHECK_STR(out, "");
    CHECK_EQ(run(own_code), 5);
    CHECK_EQ(run(leaves_at_once), REPORT_EXIT_FOUND);
    CHECK_EQ(times("[bulk-store-overwritten]\n"), 1);

    CHECK_EQ(run(forks), REPORT_EXIT_FOUND);
    CHECK_EQ(times("[bulk-store-overwritten]\n"), 1);
    CHECK_EQ(times("note: 1 more of [bulk-store-overwritten]"), 2); /* the second child's own, and the parent's */
    CHECK_EQ(times("more of [bulk-store-overwritten]"), 2);

    CHECK_EQ(run(child_alone), REPORT_EXIT_FOUND);
    CHECK_HAS(said, "1 finding in a run of 2 processes with a device:\n  warning: ");
    CHECK_HAS(said, " [bulk-store-overwritten]: ");
    CHECK_HAS(said, " (process ");
    CHECK_EQ(run(killed), -1);
    CHECK_EQ(times("[bulk-store-overwritten]\n"), 1);

    CHECK_EQ(run(in_tests), REPORT_EXIT_FOUND);
    CHECK_HAS(said, "1 finding in a run of 1 process with a device:\n  warning: ");
    CHECK_HAS(said, " [bulk-store-overwritten]: a.py::one, a.py::three[x y]\n");

    CHECK_EQ(run(has_handlers), REPORT_EXIT_FOUND);
    CHECK_EQ(times("the last handler\n"), 1);
    return check_report();
}
