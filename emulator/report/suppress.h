/* report/suppress.h - findings that are not to be told: the file of --suppress.
 *
 *   # a comment
 *   rule-id [file-glob[:line] [function-glob]]
 *
 * A line names a rule, and where it may be broken: the glob holds for the path of the source as it was compiled, as
 * reports show it, or for the file's name alone; the line may be the instruction's own or that of a call inlined around
 * it. The function is as reports show it or as its symbol. Of a finding of two parties either one will do. Globs are
 * those of fnmatch(3), and '*' crosses slashes. Errors are never suppressed. A
 * list has 1 MiB at most.
 */
#ifndef REPORT_SUPPRESS_H
#define REPORT_SUPPRESS_H

#include "base/arena.h"
#include "report/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct suppression {
    struct suppression *next;
    unsigned at; /* line of the list's file */
    const char *rule;
    const char *file; /* NULL: any */
    uint32_t line;    /* 0: any */
    const char *func; /* NULL: any */
};

struct suppressions {
    const char *path;
    struct suppression *first;
    struct arena arena;
};

/* Reads a file into an empty list. False, with the reason in `why`, where it cannot be read, a line is none of the
 * above or a rule is unknown. */
bool suppress_read(struct suppressions *s, const char *path, char *why, size_t why_size);
/* Can that file be read? The library has this function under the name SUPPRESS_CHECK, for the launcher. */
typedef bool suppress_check(const char *path, char *why, size_t why_size);
#define SUPPRESS_CHECK "sm100emu_suppress_check"
suppress_check sm100emu_suppress_check;
void suppress_free(struct suppressions *s);
/* The first line that names the finding; NULL: none, or no list. */
const struct suppression *suppress_match(const struct suppressions *s, const struct diag *d);

#endif
