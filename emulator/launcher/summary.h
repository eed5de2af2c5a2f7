/* launcher/summary.h - what all processes of a run found, out of its record (report/record.h).
 *
 * One line a bug: a rule broken at a place, however many processes and tests met it, and who they are. A run of one
 * process that is the program itself and names no test has shown all of that in its reports: of it there is no summary.
 */
#ifndef LAUNCHER_SUMMARY_H
#define LAUNCHER_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct summary {
    uint32_t processes; /* that had a device */
    uint32_t findings;
    bool unseen; /* the checks of a process did not see all (report/bounds.h) */
};

/* Reads the record and, where `out` is not NULL, writes the summary of a run whose program was `program`. */
struct summary summary_of(int record, pid_t program, FILE *out);

#endif
