/* view/json.h - logs as JSON, for other programs.
 *
 *   {"version": 1, "logs": [{"kernel": ..., "schedule": ..., "fault": 0, "cut": 0, "grid": [x, y, z], "block": ...,
 *     "cluster": ..., "smem": bytes, "resident": clusters, "instructions": n, "text": ["", ...],
 *     "sites": COLUMNS, "calls": COLUMNS,
 *     "clusters": [{"number": 0, "id": [x, y, z], "sm": [by rank], "complete": 1,
 *                   "objects": COLUMNS, "ops": COLUMNS, "events": COLUMNS,
 *                   "names": {"objects": ["full[0]", ...], "warps": [["load", ...] by rank],
 *                             "smem": [[rank, from, to, "A stage 0"], ...], "tmem": the same},
 *                   "cycle": [...], "blame": [...]}]}]}
 *
 * COLUMNS is an object with an array for each field of the structure in trace/log.h, by its name. Text is a place in
 * "text". An event's `ran` is five columns, ran_alu and so on. Numbers over 2^53 are strings of decimal digits.
 * "cycle" is when an event happens on the clock, from the launch, and "blame" the event that decided it, or 0; both are
 * left out where the clock cannot tell, and the log has "untimed", which says why, or "doubts", where it is not sure.
 */
#ifndef VIEW_JSON_H
#define VIEW_JSON_H

#include "trace/log.h"

#include <stdio.h>

/* Logs of one run, launch by launch. */
struct view_run {
    struct trace_log *const *logs;
    uint32_t count;
    int64_t newest;    /* of source files, as of names_make (view/names.h) */
    const char *warps; /* of names_call_warps, or NULL */
};

/* like: another run, whose names for warps are taken (names_like), or NULL; clock: with times. False with errno when
 * the file takes no more. */
bool view_json(FILE *file, const struct view_run *run, const struct view_run *like, bool clock);

#endif
