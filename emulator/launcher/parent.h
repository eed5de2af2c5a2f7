/* launcher/parent.h - the program as a child of the launcher, which waits for it.
 *
 * The launcher stays, since what is asked of it comes at the end: one summary, and an exit code, of all the processes
 * that the program starts. No process among them could give it: a shell or a test runner never loads CUDA, and many end
 * by _exit. What users rely on is as if the launcher had become the program:
 *
 *   - standard input, the terminal and the process group are shared, so the terminal's signals reach the program;
 *   - a signal that a process sends to the launcher goes on to the program, and so does one of a timer or a limit that
 *     was set before the launcher;
 *   - a program that is stopped stops the launcher, which its shell waits for, and goes on with it;
 *   - the launcher ends as the program does, by the same signal, without a core of its own;
 *   - a launcher that is killed takes the program along (not the program's children, as before).
 *
 * Signals are blocked and taken one after the other with sigwaitinfo: there is no handler, and no moment in which one
 * is lost.
 */
#ifndef LAUNCHER_PARENT_H
#define LAUNCHER_PARENT_H

#include <signal.h>
#include <sys/types.h>

/* This process, for its children. Where SIGCHLD is ignored, a child leaves no status: parent_make, once and before any
 * fork, sees that one does. parent_is, in the child, gives the program what was found for SIGCHLD, and ends the child
 * with its parent. */
struct parent {
    pid_t id;
    struct sigaction sigchld;
};
struct parent parent_make(void);
void parent_is(const struct parent *parent);

/* A file in memory for the record of a run (report/record.h), and its path for the processes of the run. */
#define PARENT_PATH 64
int parent_record(char path[PARENT_PATH]);
/* Runs the program at `path`: its status as of waitpid and its id, or -1 and errno where it cannot be started. */
int parent_run(const struct parent *self, const char *path, char **argv, pid_t *program);
/* Ends this process with `status`, as of waitpid. */
_Noreturn void parent_end(int status);

#endif
