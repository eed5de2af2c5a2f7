/* launcher/parent.c - contract in parent.h. */
#include "launcher/parent.h"

#include "report/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the record: beyond those that scripts choose (report/record.h says why the program inherits it). */
#define FIRST_DESCRIPTOR 200

int parent_record(char path[PARENT_PATH]) {
    const int made = memfd_create(RECORD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const int high = made >= 0 ? fcntl(made, F_DUPFD, FIRST_DESCRIPTOR) : -1;
    const int fd = high >= 0 ? high : made;
    if (high >= 0)
        close(made);
    snprintf(path, PARENT_PATH, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return fd;
}

/* All but those that the launcher's own faults raise. */
static sigset_t waited_for(void) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&set, faults[i]);
    return set;
}

struct parent parent_make(void) {
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct parent self = {.id = getpid()};
    sigaction(SIGCHLD, &usual, &self.sigchld);
    return self;
}

void parent_is(const struct parent *parent) {
    sigaction(SIGCHLD, &parent->sigchld, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent->id)
        _exit(128 + SIGKILL);
}

/* In the new process. `failed` is closed by the exec; else it takes errno to the launcher. */
static _Noreturn void become(const char *path, char **argv, const sigset_t *mask, const struct parent *parent,
                             int failed) {
    parent_is(parent);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(path, argv);
    const int why = errno;
    const ssize_t lost = write(failed, &why, sizeof why);
    (void)lost;
    _exit(127);
}

/* The program has stopped, been continued or ended: its status where it has ended, else -1. A child that is none any
 * more has ended, and nobody knows how. */
static int look(pid_t pid) {
    siginfo_t info = {0};
    int status = -1;
    errno = 0;
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid) {
        if (waitpid(pid, &status, WUNTRACED | WNOHANG) == pid && !WIFSTOPPED(status))
            return status;
        if (WIFSTOPPED(status)) {
            raise(SIGSTOP); /* the shell has its prompt, until it sends SIGCONT */
            kill(pid, SIGCONT);
        }
        info = (siginfo_t){0};
        status = -1;
    }
    return errno == ECHILD ? W_EXITCODE(1, 0) : -1;
}

/* Of the kernel's signals those of the terminal have gone to the whole group. Another is the launcher's alone, such as
 * that of a timer, which an exec keeps and a fork does not, and was meant for the program. */
static bool is_for_program(const siginfo_t *info, pid_t pid) {
    static const int terminal[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGHUP};
    if (info->si_signo == SIGCHLD || info->si_signo == SIGCONT)
        return false;
    for (size_t i = 0; i < sizeof terminal / sizeof *terminal; i++)
        if (info->si_code == SI_KERNEL && info->si_signo == terminal[i])
            return false;
    return info->si_code == SI_KERNEL || (info->si_code <= 0 && info->si_pid != pid);
}

static int wait_for(pid_t pid, const sigset_t *set) {
    int status;
    siginfo_t info;
    while ((status = look(pid)) < 0) {
        const int signal = sigwaitinfo(set, &info);
        if (signal > 0 && is_for_program(&info, pid))
            kill(pid, signal);
    }
    return status;
}

int parent_run(const struct parent *self, const char *path, char **argv, pid_t *program) {
    const sigset_t set = waited_for();
    sigset_t mask;
    int failed[2], why = 0;
    if (pipe2(failed, O_CLOEXEC) != 0)
        return -1;
    sigprocmask(SIG_BLOCK, &set, &mask);
    const pid_t pid = *program = fork();
    if (pid == 0)
        become(path, argv, &mask, self, failed[1]);
    close(failed[1]);
    if (pid < 0)
        why = errno;
    else if (read(failed[0], &why, sizeof why) != sizeof why)
        why = 0;
    close(failed[0]);
    const int status = pid < 0 ? -1 : wait_for(pid, &set);
    errno = why;
    return why ? -1 : status;
}

void parent_end(int status) {
    const struct rlimit none = {0};
    sigset_t all;
    if (!WIFSIGNALED(status))
        exit(WEXITSTATUS(status));
    fflush(NULL);
    sigfillset(&all);
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    raise(WTERMSIG(status));
    exit(128 + WTERMSIG(status));
}
