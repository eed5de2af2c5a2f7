/* launcher/parent.c - contract in parent.h. */
#include "launcher/parent.h"

#include "report/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int parent_record(char path[PARENT_PATH]) {
    const int fd = memfd_create(RECORD_NAME, MFD_CLOEXEC);
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

/* In the new process. `failed` is closed by the exec; else it takes errno to the launcher. */
static _Noreturn void become(const char *path, char **argv, const sigset_t *mask, pid_t parent, int failed) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(128 + SIGKILL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(path, argv);
    const int why = errno;
    const ssize_t lost = write(failed, &why, sizeof why);
    (void)lost;
    _exit(127);
}

/* The program has stopped, been continued or ended: its status where it has ended, else -1. */
static int look(pid_t pid) {
    siginfo_t info = {0};
    int status = -1;
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
    return -1;
}

/* A signal of the terminal, or of the kernel, has gone to the whole group; another was meant for the program. */
static int wait_for(pid_t pid, const sigset_t *set) {
    int status;
    siginfo_t info;
    while ((status = look(pid)) < 0) {
        const int signal = sigwaitinfo(set, &info);
        if (signal > 0 && signal != SIGCHLD && signal != SIGCONT && info.si_code <= 0 && info.si_pid != pid)
            kill(pid, signal);
    }
    return status;
}

int parent_run(const char *path, char **argv, pid_t *program) {
    const sigset_t set = waited_for();
    const pid_t parent = getpid();
    sigset_t mask;
    int failed[2], why = 0;
    if (pipe2(failed, O_CLOEXEC) != 0)
        return -1;
    sigprocmask(SIG_BLOCK, &set, &mask);
    const pid_t pid = *program = fork();
    if (pid == 0)
        become(path, argv, &mask, parent, failed[1]);
    close(failed[1]);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, a child leaves no status */
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
