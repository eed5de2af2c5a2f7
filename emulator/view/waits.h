/* view/waits.h - who waited for what, by role and barrier, on the clock of a B200: for --stats and --stats-json. */
#ifndef VIEW_WAITS_H
#define VIEW_WAITS_H

#include "clock/clock.h"
#include "view/names.h"

#include <stdio.h>

/* All waits of the warps of one role for one thing: "mma" for "full", whichever of them. */
struct waits_row {
    const char *role, *object; /* without the numbers behind them */
    uint64_t count;            /* waits that took time */
    double cycles, longest;    /* of warps, summed; of the one that took longest */
};

struct waits {
    double cycles;      /* of the launch */
    double tensor, tma; /* shares of its SMs' cycles that their tensor cores, their TMAs worked */
    uint64_t l2, hbm;   /* bytes */
    uint32_t sms;
    char doubts[160];       /* what the times cannot be trusted with, or "" */
    char refused[512];      /* why there are none, or "" */
    struct waits_row *rows; /* those that took the most cycles first */
    uint32_t num_rows;
    struct names *names; /* hold the text */
};

/* Replays the log, which is to stay until waits_free. newest: as of names_make. */
struct waits *waits_make(const struct trace_log *log, int64_t newest);
void waits_free(struct waits *w);

/* Rows behind the counters of --stats, the first ten. */
void waits_print(const struct waits *w, FILE *f);
/* `"clock":{...}` of --stats-json: the keys are the fields above. */
void waits_json(const struct waits *w, FILE *f);

#endif
