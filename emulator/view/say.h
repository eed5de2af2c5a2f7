/* view/say.h - events of a log in words: who, what, why, and from which line. */
#ifndef VIEW_SAY_H
#define VIEW_SAY_H

#include "view/names.h"

/* When the events of a cluster happen by the clock; view/times.h makes them. */
struct say_times {
    const double *cycle;    /* by event */
    const uint32_t *causes; /* numbers of the events that decided it, 0: none; NULL: those of the log */
    const uint32_t *order;  /* the numbers of all events, in the order of time */
    const uint32_t
        *pending; /* by event, of an mbarrier after it: arrivals and bytes of the phase that are still to come */
    const int32_t *tx;
};

/* A cluster of a log; events, objects and operations are numbers from 1, as the log's references. */
struct say {
    const struct trace_log *log;
    const struct trace_cluster *c;
    const struct names_cluster *n;
    struct names *names;
    uint32_t cluster;              /* in log->clusters */
    const struct say_times *times; /* NULL: the order of events alone is known */
};

/* times: by cluster, or NULL. */
struct say say_of(const struct trace_log *log, struct names *names, uint32_t cluster, const struct say_times *times);

/* When an event happens: the cycle, or without a clock its number. */
static inline double say_when(const struct say *s, uint32_t event) {
    return s->times ? s->times->cycle[event - 1] : event;
}
/* The number of the n-th event, from 0, in the order of time. */
static inline uint32_t say_nth(const struct say *s, uint32_t n) { return s->times ? s->times->order[n] : n + 1; }

/* Text that does not fit is cut. Each returns buf. */

/* What an operation is: "TMA load A stage 0 -> cta1", "UMMA 256x256x16, D columns 0-255" */
const char *say_op(const struct say *t, uint32_t op, char *buf, size_t size);
/* The whole instruction that it is one of: "TMA load A stage 0 -> cta0-3" */
const char *say_instruction(const struct say *t, uint32_t op, char *buf, size_t size);
/* Whose doing an event is: "load", "TMA", of a completed phase the barrier's name */
const char *say_who(const struct say *t, uint32_t event, char *buf, size_t size);
/* Where it happens: the CTA's rank; of a phase the object's. */
uint32_t say_rank(const struct say *t, uint32_t event);
/* What happens: "arrives at full[0]@cta0" */
const char *say_what(const struct say *t, uint32_t event, char *buf, size_t size);
/* What made it happen here: "phase 3 of full[0]@cta0, completed by TMA load B stage 0 -> cta0"; empty: the thread's own
 * course, or not known. */
const char *say_why(const struct say *t, uint32_t event, char *buf, size_t size);
/* An event in a few words, as the cause of another: "cta1's TMA load B stage 0 -> cta1" */
const char *say_brief(const struct say *t, uint32_t event, char *buf, size_t size);
/* The file that the kernel stands in, without its folder; empty: not known. */
const char *say_file(const struct say *t);
/* The line that it stands in, in the file of the kernel: "05_persistent_warpspec.cu:211"; empty: not known. */
const char *say_where(const struct say *t, uint32_t site, char *buf, size_t size);

/* The event that made this one happen here: a number, 0: none, or another cluster's (say_why names it). By the clock it
 * may be the warp's own last one, which had nothing to wait for: then what the log says. */
uint32_t say_cause(const struct say *t, uint32_t event);
/* Has the phase of an mbarrier or barrier completed? */
bool say_is_phase(const struct trace_event *e);

#endif
