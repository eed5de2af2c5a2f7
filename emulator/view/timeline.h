/* view/timeline.h - the first tiles of a cluster as text: who does what when, and why. */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

#include "view/event_rows.h"

struct timeline {
    uint32_t cluster; /* in log->clusters */
    uint32_t first_tile, last_tile;
    uint32_t ctas;   /* ranks that are shown: bits */
    uint32_t repeat; /* how often rows of one sort are shown in the first tile, and once in those behind; 0: always */
};

/* The first two tiles of the first cluster, in its first two CTAs. */
struct timeline timeline_default(void);

/* False where the log has no such cluster or tile: `why` says what it has. */
bool timeline_print(struct rows *r, const struct trace_log *log, struct names *names, const struct say_times *times,
                    const struct timeline *t, char *why, size_t size);

#endif
