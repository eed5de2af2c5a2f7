/* trace/describe.h - what a log says of an operation, an access and an instruction, for others who are told of them. */
#ifndef TRACE_DESCRIBE_H
#define TRACE_DESCRIBE_H

#include "trace/log.h"

/* A row of trace_log's operations without what refers to other rows: name, site, queue, leader, follows and events. */
struct trace_op trace_describe(const struct async_op *op, struct event_work *work);

/* 32-byte sectors of global memory that the lanes of an access touch. */
uint32_t trace_sectors(const struct event_access *a);

/* An instruction by its text. `timed`: what it gives depends on time or on other clusters: TRACE_STEP, kind 1. It counts
 * as `own` of its class, 0 or 1, and as `more` on registers: with machine code beside the PTX as what ptxas made of it, which
 * may be nothing; else as 1. */
struct trace_kind {
    enum trace_run run;
    bool timed;
    uint32_t own, more;
};
struct trace_kind trace_kind_of(const struct diag_site *site);

#endif
