/* explore/explore.h - one program under many schedules: does one of them change what it does?
 *
 * The program runs as a process of its own for each schedule: twice under the default one, which says whether its
 * output can be compared at all, then under eager, lazy, random:1, pct:1,3, random:2, pct:2,3 and so on. Compared are
 * the exit code (3 in place of 0 where something was found by any process of the run, as without --explore) or signal,
 * standard output, and the reports, by id and places. The first schedule in that order that differs is told, with the
 * command that shows it again.
 */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include "launcher/parent.h"
#include <stdbool.h>
#include <stddef.h>

#include <stdint.h>

/* The depth of pct: mistakes that take three steps in a certain order, or fewer. */
#define EXPLORE_DEPTH 3

struct explore {
    uint64_t seeds;
    uint32_t jobs;        /* processes at a time; 0: one for each CPU */
    const char *ignore;   /* extended regular expression of what is not compared in a line of output; NULL: all is */
    const char *path;     /* of the program */
    char **argv;          /*  and its arguments, the program's name first, NULL last */
    const char *launcher; /* the words that a command to show a run again begins with, */
    const char *const *options; /*  NULL last, without those of the exploration */
    struct parent parent;       /* the launcher */
};

/* The exit status: EXPLORE_DIFFERS, EXPLORE_USELESS where two runs under the default schedule differ, or what the
 * program's was in all of the runs. */
enum { EXPLORE_DIFFERS = 3, EXPLORE_USELESS = 2 };
int explore_run(const struct explore *e);

/* Is it an extended regular expression? If not, says why. */
bool explore_pattern(const char *ignore, char *why, size_t size);

#endif
