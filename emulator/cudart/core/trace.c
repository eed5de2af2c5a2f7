/* cudart/core/trace.c - the file of --trace, and what --follow shows; contract in context.h. */
#include "base/fatal.h"
#include "base/path.h"
#include "base/source.h"
#include "cudart/core/context.h"
#include "cudart/core/options.h"
#include "trace/file.h"
#include "view/follow.h"
#include "view/times.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (UINT64_C(1) << 30) /* of a launch's events */

/* As in --schedule=. */
static void name_schedule(const struct mach_config *config, char *text, size_t size) {
    static const char *const names[] = {
        [MACH_SCHED_DEFAULT] = "default", [MACH_SCHED_EAGER] = "eager", [MACH_SCHED_LAZY] = "lazy",
        [MACH_SCHED_RANDOM] = "random",   [MACH_SCHED_PCT] = "pct",     [MACH_SCHED_MODEL] = "model"};
    if (config->schedule == MACH_SCHED_RANDOM)
        snprintf(text, size, "random:%" PRIu64, config->seed);
    else if (config->schedule == MACH_SCHED_PCT)
        snprintf(text, size, "pct:%" PRIu64 ",%u", config->seed, config->depth);
    else
        snprintf(text, size, "%s", names[config->schedule]);
}

/* The events of --follow, on stderr. */
static void show_followed(struct rt_context *c, const struct trace_log *log) {
    struct rows rows = rows_to(stderr);
    char why[512];
    struct names *names = names_make(log, source_program_time());
    struct times times;
    const bool clock = times_make(&times, log, why, sizeof why);
    if (!follow_print(&rows, log, names, clock ? times.say : NULL, c->trace.follow, why, sizeof why)) {
        rt_say(c, 0, "--follow: %s", why);
        follow_list(stderr, log, names, c->trace.follow);
    }
    fflush(stderr);
    if (clock)
        times_free(&times, log);
    names_free(names);
}

bool rt_time_wanted(const struct rt_context *c) {
    return c->time && c->clock_asked && !c->statistics.shown && c->clock == NULL;
}

/* Counters come with the cycles that a log gives. */
static bool wants_cycles(const struct rt_context *c) {
    return c->statistics.shown || c->statistics.json != NULL || rt_time_wanted(c);
}

/* A launch has ended, by a call that holds the context. */
static void on_log(void *ctx, struct trace_log *log) {
    struct rt_context *c = ctx;
    struct rt_trace *t = &c->trace;
    const bool windowed = t->sink.window.ctas || t->sink.window.tiles;
    const bool mine = t->pid == (long)getpid();
    const bool shown = t->file != NULL || t->follow[0];
    if (mine && shown && log->cut && !windowed && !t->lost) {
        rt_say(c, 0,
               "--trace: the log is cut: it has more than %" PRIu64 " MiB of events; --trace-ctas and "
               "--trace-tiles choose a window",
               MOST_BYTES >> 20);
        t->lost = true;
    }
    if (mine && t->follow[0])
        show_followed(c, log);
    if (mine && t->file != NULL && !trace_write(t->file, log) && !t->lost) {
        c->unwritten = rt_say(c, RT_ERROR_OPERATING_SYSTEM, "--trace: the file takes no more: %s", strerror(errno));
        t->lost = true;
    }
    trace_free(c->statistics.log);
    c->statistics.log = wants_cycles(c) ? log : NULL;
    if (!wants_cycles(c))
        trace_free(log);
}

int rt_trace_open(struct rt_context *c, const struct mach_config *config) {
    struct rt_trace *t = &c->trace;
    char path[PATH_MAX];
    t->pid = (long)getpid();
    snprintf(t->follow, sizeof t->follow, "%s", config->follow ? config->follow : "");
    if (config->trace != NULL && t->file == NULL) {
        path_of_option(config->trace, path, sizeof path);
        t->file = fopen(path, "wbe");
        if (t->file == NULL)
            return rt_say(c, RT_ERROR_NOT_INITIALIZED, "--trace: %s: %s", path, strerror(errno));
    }
    name_schedule(config, t->schedule, sizeof t->schedule);
    t->sink = (struct trace_sink){.take = on_log,
                                  .ctx = c,
                                  .window = {.ctas = config->trace_some_ctas,
                                             .first_cta = config->trace_ctas[0],
                                             .last_cta = config->trace_ctas[1],
                                             .tiles = config->trace_some_tiles,
                                             .first_tile = config->trace_tiles[0],
                                             .last_tile = config->trace_tiles[1],
                                             .bytes = MOST_BYTES},
                                  .schedule = t->schedule};
    return RT_SUCCESS;
}

void rt_trace_attach(struct rt_context *c) {
    const bool wanted = c->trace.file != NULL || c->trace.follow[0] || wants_cycles(c);
    if (wanted && !trace_attach(c->gpu, &c->trace.sink))
        fatal_broken("more than %u listeners", MACH_LISTENERS);
}
