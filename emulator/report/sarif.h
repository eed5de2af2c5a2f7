/* report/sarif.h - what was found, as SARIF 2.1.0 (OASIS), for --check-json. */
#ifndef REPORT_SARIF_H
#define REPORT_SARIF_H

#include "report/findings.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes a run with all that was found of the level chosen, and what was suppressed, to a file beside `path`, which
 * then takes its place: a reader has the old one or the new one, whole. "%p" in the path is the process's id. `turn` is
 * 0 where the file begins anew; else the number of this process's run in it, from 1, and the runs of others stay.
 * False, with the reason in `why`, where that cannot be done. */
bool sarif_write(const struct findings *f, const char *path, unsigned turn, char *why, size_t why_size);

#endif
