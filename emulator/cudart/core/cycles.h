/* cudart/core/cycles.h - what a launch took on the model of a B200 (clock/clock.h), from its log. */
#ifndef CUDART_CORE_CYCLES_H
#define CUDART_CORE_CYCLES_H

#include "clock/load.h"
#include "stats/stats.h"
#include "trace/log.h"

/* To be freed with the counters that get it. newest: as of names_make (view/names.h). */
struct stats_cycles *rt_cycles(const struct trace_log *log, const struct clock_state *state, int64_t newest);
/* Of a launch that took so many cycles; `tensor` is as in clock_time. */
struct stats_time rt_time(const struct clock_state *state, double cycles, struct clock_load load);

#endif
