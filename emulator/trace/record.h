/* trace/record.h - the listener that makes logs (trace/log.h). */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include "trace/log.h"

/* Which part of a launch to keep; all zero: all of it. */
struct trace_window {
    uint32_t first_cta, last_cta; /* clusters with a CTA of these numbers, x fastest; both 0 and `ctas` false: all */
    bool ctas;
    /* From the begin of a cluster's tile `first_tile` to the end of its tile `last_tile`. A tile begins with a
     * tcgen05.mma that does not accumulate, at the start or after one that does. */
    uint32_t first_tile, last_tile;
    bool tiles;
    uint64_t bytes; /* limit for all events of a launch; 0: none */
};

/* Receives the logs. Called at the end of a launch, by the launching thread. The receiver owns `log` and frees it with
 * trace_free (trace/file.h). */
struct trace_sink {
    void (*take)(void *ctx, struct trace_log *log);
    void *ctx;
    struct trace_window window;
    const char *schedule; /* as in --schedule=; outlives the gpu */
};

/* Attaches the listener, before the first launch. False: there are MACH_LISTENERS already. */
bool trace_attach(struct gpu *gpu, const struct trace_sink *sink);

#endif
