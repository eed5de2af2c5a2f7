/* clock/online.h - the clock within execution: --schedule=model.
 *
 * It listens to the machine's events and is a struct mach_timing over the agents of clock/model.h. The scheduler
 * (launch/timed.c) asks it what each instruction and operation costs, and runs them at the times that follow. It uses
 * the costs of clock/replay.c, which does the same later with a log.
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
/* Cycles of the last launch, from the end of the launch before it to its own end; and the share of them in which tensor
 * cores worked. */
double clock_online_cycles(const struct clock_online *o);
struct clock_load clock_online_load(const struct clock_online *o);
/* Are most instructions counted in PTX, because there is no machine code with a table of lines? */
bool clock_online_ptx(const struct clock_online *o);

#endif
