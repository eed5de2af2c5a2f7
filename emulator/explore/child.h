/* explore/child.h - runs of the program as processes, several at a time. */
#ifndef EXPLORE_CHILD_H
#define EXPLORE_CHILD_H

#include "explore/explore.h"
#include "explore/outcome.h"

#include <sys/types.h>

struct child {
    pid_t pid;             /* 0: none */
    int pipe[2];           /* what it writes to standard output and standard error; -1: closed */
    int record;            /* what its processes found (report/record.h) */
    uint64_t run;          /* its number: the caller's */
    uint64_t began, limit; /* by now_ns, nanoseconds */
    struct outcome outcome;
};

/* Starts the program with --schedule as given. A kernel of it is stopped after `seconds`, unless the environment says
 * when, and the process after twice that. Standard input is empty. */
void child_start(struct child *c, const struct explore *e, const char *schedule, double seconds);
/* Waits until something happens or `milliseconds` have passed, and gathers what the children print. Returns one that
 * has ended, with its outcome, or NULL. */
struct child *child_wait(struct child *children, uint32_t num, int milliseconds);
/* Ends a child and drops its outcome. */
void child_stop(struct child *c);

#endif
