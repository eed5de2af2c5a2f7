/* trace/record.h - the listener that makes logs (trace/log.h). */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include "trace/log.h"

/* What is kept of a launch; zeroed: all of it. */
struct trace_window {
    uint32_t first_cta, last_cta; /* clusters with a CTA of these numbers, x fastest; both 0 and `ctas` false: all */
    bool ctas;
    /* From a cluster's tile `first_tile` until its tile `last_tile` is over. A tile begins with a tcgen05.mma that does
     * not accumulate, behind one that does or at the start. */
    uint32_t first_tile, last_tile;
    bool tiles;
    uint64_t bytes; /* of all events of a launch, past which nothing more is kept; 0: no bound */
};

/* Who takes the logs: called when a launch has ended, by the thread that launched; `log` is its own then, to be freed
 * with trace_free (trace/file.h). */
struct trace_sink {
    void (*take)(void *ctx, struct trace_log *log);
    void *ctx;
    struct trace_window window;
    const char *schedule; /* as in --schedule=; outlives the gpu */
};

/* Attaches the listener, before the first launch; false when there are MACH_LISTENERS already. */
bool trace_attach(struct gpu *gpu, const struct trace_sink *sink);

#endif
