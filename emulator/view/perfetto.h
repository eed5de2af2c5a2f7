/* view/perfetto.h - a log in the trace-event format, which Perfetto and chrome://tracing open.
 *
 * A process is a CTA of a cluster; its threads are its warps by their tasks, its queues, and its barriers. Slices are
 * waits, operations and phases, arrows lead from causes to what they let go on, counters show what an mbarrier lacks.
 * A cycle of the clock, or the number of an event where there is no clock, is shown as 1 ns; "otherData" says which.
 *
 * The format: "Trace Event Format" of the Chromium project, JSON object form.
 */
#ifndef VIEW_PERFETTO_H
#define VIEW_PERFETTO_H

#include "view/say.h"

#include <stdio.h>

/* False with errno when the file takes no more. */
bool perfetto_write(FILE *file, const struct trace_log *log, struct names *names, const struct say_times *times);

#endif
