/* trace/describe.h - how a log describes an operation, an access and an instruction; other listeners use it, too. */
#ifndef TRACE_DESCRIBE_H
#define TRACE_DESCRIBE_H

#include "trace/log.h"

/* A row of trace_log's operations without its references to other rows: name, site, queue, leader, follows and events.
 */
struct trace_op trace_describe(const struct async_op *op, struct event_work *work);

/* The number of 32-byte sectors of global memory that an access's lanes touch. */
uint32_t trace_sectors(const struct event_access *a);

/* What an instruction counts as, by its text. `timed`: its result depends on time or on other clusters (TRACE_STEP,
 * kind 1). It counts as `own` (0 or 1) machine instructions of its class and `more` on registers. If the program has
 * machine code, these are what ptxas made of it, perhaps nothing; otherwise `own` is 1. */
struct trace_kind {
    enum trace_run run;
    bool timed;
    uint32_t own, more;
};
struct trace_kind trace_kind_of(const struct diag_site *site);

#endif
