/* report/report.h - what a process says of its findings beside their reports: the file of --check-json, what is told
 * at its end, and its lines in the record of the run (report/record.h), of which the launcher makes the exit code.
 *
 * Strict findings, which --check=strict alone reports, are counted in one line when the process ends. They are shown in
 * full when a kernel or the program fails, so that a wrong result does not stay without its hint. A process that ends
 * without exit handlers (_exit, a signal) ends without the line.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/findings.h"
#include "report/suppress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The launcher's exit code where the program's is 0 and something was found. */
#define REPORT_EXIT_FOUND 3
/* In place of 0 or 3, with --require-complete: the checks did not see all. */
#define REPORT_EXIT_UNSEEN 4

struct report {
    struct findings *findings; /* of every device that the process has, one after the other; NULL before the first */
    struct suppressions suppressions;
    const char *const *call; /* the API call that runs, which its lines on stderr name */
    char *json;              /* the file of --check-json, NULL: none; owned */
    unsigned turn;           /* of the processes of the run that write it, which this one is; 0: it is alone */
    bool json_lost;          /* that it cannot be written was said */
    uint64_t written;        /* findings->met, as the file has it */
    uint64_t launches;       /* findings->launches, as the file has it */
    char *record;            /* the path of the run's record, NULL: none; owned */
    bool record_lost;        /* that the record of the run cannot be written was said */
    uint32_t unseen;         /* findings->unseen, as the file and the record have it */
    bool ended;              /* what is told once at the end was */
};

/* Before the first device, once: reads the file of --suppress and begins that of --check-json; NULL: none. False, with
 * the reason in `why`, where that cannot be done. */
bool report_open(struct report *r, const char *const *call, const char *suppress, const char *json, char *why,
                 size_t why_size);
/* A kernel has failed: shows in full what the check level kept back, since it may be why. */
void report_strict(const struct report *r);
/* What the parent found is the parent's to tell. */
void report_fork(struct report *r);
/* The process ends with `status`: shows what the check level kept back, in full where that is not 0, else in one line;
 * tells what was met again since its report, and which suppressions fitted nothing; the file of --check-json has its
 * last counts. Does it again for what has come since. */
void report_end(struct report *r, int status);

#endif
