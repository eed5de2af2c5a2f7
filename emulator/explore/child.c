/* explore/child.c - contract in child.h. */
#include "explore/child.h"

#include "base/heap.h"
#include "base/now.h"
#include "launcher/parent.h"
#include "launcher/summary.h"
#include "report/record.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what) {
    fprintf(stderr, "sm100emu: %s: %s\n", what, strerror(errno));
    exit(126);
}

/* In the new process: becomes the program. It has one thread, so that the exploration takes no more CPUs than jobs. */
static _Noreturn void become(const struct explore *e, const char *schedule, double seconds, const int *out,
                             const char *record) {
    char number[32];
    const int empty = open("/dev/null", O_RDONLY);
    snprintf(number, sizeof number, "%.3f", seconds);
    setpgid(0, 0);
    parent_is(&e->parent);
    if (empty < 0 || dup2(empty, 0) < 0 || dup2(out[0], 1) < 0 || dup2(out[1], 2) < 0 ||
        setenv(RECORD_VARIABLE, record, 1) != 0 || setenv(RECORD_RUN_VARIABLE, record, 1) != 0 ||
        setenv("SM100EMU_SCHEDULE", schedule, 1) != 0 || setenv("SM100EMU_THREADS", "1", 0) != 0 ||
        setenv("SM100EMU_TIMEOUT", number, 0) != 0 || setenv("SM100EMU_TIME", "1", 1) != 0)
        _exit(126);
    execv(e->path, e->argv);
    _exit(126);
}

void child_start(struct child *c, const struct explore *e, const char *schedule, double seconds) {
    char record[PARENT_PATH];
    int to[2][2];
    if (pipe2(to[0], O_CLOEXEC | O_NONBLOCK) != 0 || pipe2(to[1], O_CLOEXEC | O_NONBLOCK) != 0)
        give_up("no pipe for a run");
    c->record = parent_record(record);
    if (c->record < 0)
        give_up("no record for a run");
    for (unsigned i = 0; i < 2; i++) /* it is this process that never waits for one of them */
        fcntl(to[i][1], F_SETFL, 0);
    c->pid = fork();
    if (c->pid < 0)
        give_up("no process for a run");
    if (c->pid == 0)
        become(e, schedule, seconds, (const int[]){to[0][1], to[1][1]}, record);
    for (unsigned i = 0; i < 2; i++) {
        close(to[i][1]);
        c->pipe[i] = to[i][0];
    }
    c->outcome = (struct outcome){0};
    c->began = now_ns();
    c->limit = (uint64_t)(2e9 * seconds);
}

static void close_pipe(struct child *c, unsigned i) {
    if (c->pipe[i] >= 0)
        close(c->pipe[i]);
    c->pipe[i] = -1;
}

static void kill_all(const struct child *c) {
    kill(-c->pid, SIGKILL);
    kill(c->pid, SIGKILL); /* it may not have its group yet */
}

/* Takes what there is in a pipe, and closes it at the end. */
static void gather(struct child *c, unsigned i) {
    struct text *to = i == 0 ? &c->outcome.out : &c->outcome.err;
    char bytes[65536];
    ssize_t n;
    while (c->pipe[i] >= 0 && (n = read(c->pipe[i], bytes, sizeof bytes)) >= 0) {
        if (n == 0)
            close_pipe(c, i);
        else if (to->len < OUTCOME_BYTES)
            text_add(to, bytes, (size_t)n);
        if (to->len >= OUTCOME_BYTES && !c->outcome.stopped) {
            c->outcome.stopped = true;
            kill_all(c);
        }
    }
}

/* Has it ended? Who holds its pipes after that is not waited for. */
static bool ended(struct child *c) {
    const uint64_t took = now_ns() - c->began;
    if (took > c->limit && !c->outcome.stopped) {
        c->outcome.stopped = true;
        kill_all(c);
    }
    if (waitpid(c->pid, &c->outcome.status, WNOHANG) != c->pid)
        return false;
    c->outcome.seconds = 1e-9 * (double)took;
    for (unsigned i = 0; i < 2; i++) {
        gather(c, i);
        close_pipe(c, i);
    }
    kill(-c->pid, SIGKILL);
    const bool found = summary_of(c->record, c->pid, NULL).findings != 0;
    if (found && c->outcome.status == 0)
        c->outcome.status = W_EXITCODE(REPORT_EXIT_FOUND, 0);
    close(c->record);
    c->pid = 0;
    return true;
}

struct child *child_wait(struct child *children, uint32_t num, int milliseconds) {
    struct pollfd *fds = xcalloc(2 * (size_t)num, sizeof *fds);
    for (uint32_t i = 0; i < 2 * num; i++)
        fds[i] = (struct pollfd){.fd = children[i / 2].pid ? children[i / 2].pipe[i % 2] : -1, .events = POLLIN};
    poll(fds, 2 * num, milliseconds);
    xfree(fds);
    struct child *done = NULL;
    for (uint32_t i = 0; i < num && !done; i++) {
        if (!children[i].pid)
            continue;
        gather(&children[i], 0);
        gather(&children[i], 1);
        if (ended(&children[i]))
            done = &children[i];
    }
    return done;
}

void child_stop(struct child *c) {
    if (c->pid) {
        kill_all(c);
        waitpid(c->pid, &c->outcome.status, 0);
        close_pipe(c, 0);
        close_pipe(c, 1);
        close(c->record);
    }
    c->pid = 0;
    outcome_free(&c->outcome);
}
