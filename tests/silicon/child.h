/* child.h - a case in a process of its own. A kernel that fails takes its whole process with it: on an H200 a context
 * that is made afterwards gets the same error. A child cannot inherit the driver: all children are started before
 * their parent opens it.
 */
#ifndef TESTS_SILICON_CHILD_H
#define TESTS_SILICON_CHILD_H

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"

enum { CHILD_SECONDS = 20, HANGS = 600 }; /* of CPU time, and by the clock */

/* Forks: the parent gets what the child prints, the child, whose time is bounded, NULL. */
static inline FILE *fork_child(const char *name) {
    int ends[2];
    fflush(NULL);
    if (pipe(ends))
        die("pipe", name);
    const pid_t child = fork();
    if (child < 0)
        die("fork", name);
    if (child > 0) {
        close(ends[1]);
        return checked(fdopen(ends[0], "r"));
    }
    if (dup2(ends[1], STDOUT_FILENO) < 0)
        die("dup2", name);
    setrlimit(RLIMIT_CPU, &(struct rlimit){CHILD_SECONDS, CHILD_SECONDS + 1});
    alarm(HANGS);
    return NULL;
}

/* run(arg) prints one line, which is read from the result. */
static inline FILE *start_child(const char *name, void (*run)(const void *arg), const void *arg) {
    FILE *from = fork_child(name);
    if (from)
        return from;
    run(arg);
    fflush(stdout);
    _exit(0);
}

/* The line of a child is a case of its parent. */
static inline void finish_child(Record *r, const char *name, const char *apart, FILE *from) {
    char line[512] = "";
    if (!fgets(line, sizeof line, from))
        snprintf(line, sizeof line, "%s ended without a word\n", name);
    fclose(from);
    wait(NULL);
    put_line(r, name, apart, line);
}

#endif
