/* clock/online.h - the clock within execution: --schedule=model.
 *
 * A listener of the machine's events and a struct mach_timing over the agents of clock/model.h. The scheduler
 * (launch/timed.c) asks it what instructions and operations cost, at the times that this gives; what clock/replay.c
 * does with a log happens here as the program runs, by the same costs.
 */
#ifndef CLOCK_ONLINE_H
#define CLOCK_ONLINE_H

#include "clock/load.h"
#include "clock/table.h"
#include "machine/events.h"

struct clock_online;

/* Gives the gpu its times, before the first launch; NULL when there are too many listeners. */
struct clock_online *clock_online_attach(struct gpu *gpu, const struct clock_table *costs);
void clock_online_free(struct clock_online *o);
/* Cycles of the last launch, from the end of one before it to its own end; and for which share of them tensor cores
 * worked. */
double clock_online_cycles(const struct clock_online *o);
struct clock_load clock_online_load(const struct clock_online *o);
/* Are most instructions that it met counted as PTX has them, for want of machine code with a table of lines? */
bool clock_online_ptx(const struct clock_online *o);

#endif
