/* view/times.h - when the events of a log happen, by the model of a B200 (clock/clock.h), for those who show them. */
#ifndef VIEW_TIMES_H
#define VIEW_TIMES_H

#include "clock/clock.h"
#include "view/say.h"

struct times {
    struct say_times *say; /* by cluster */
    struct clock_result result;
    char doubts[160]; /* what the replay cannot be trusted with; empty: nothing */
};

/* False where the clock cannot tell: `why` says so in a sentence, and there is nothing to free. */
bool times_make(struct times *t, const struct trace_log *log, char *why, size_t size);
/* Those of a cluster whose events happen at these cycles, by event. To be given back with times_free_cluster. */
struct say_times times_cluster(const struct trace_cluster *c, const double *cycle, const uint32_t *causes);
void times_free_cluster(struct say_times *times);

void times_free(struct times *t, const struct trace_log *log);

#endif
