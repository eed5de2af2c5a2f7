/* clock/load.h - from cycles to time: the clock at which a launch ran.
 *
 * The model counts cycles. A B200 lowers its clock while its tensor cores work: each GPC a little at once, and the chip
 * more when its power limit acts, after some milliseconds of launches in a row. So the time of a launch depends on the
 * state of the chip. The costs load_burst and load_sustained of clock/table.def say how much the clock falls. Both are
 * fitted to a GEMM on random operands; with zeros, whose bits do not toggle, the clock stays nearer to CLOCK_BOOST.
 */
#ifndef CLOCK_LOAD_H
#define CLOCK_LOAD_H

#include "clock/table.h"

struct clock_state {
    enum {
        CLOCK_SUSTAINED, /* launches in a row, for 10 ms or more */
        CLOCK_BURST,     /* a launch after a pause */
        CLOCK_BOOST,     /* the highest clock, whatever the load */
        CLOCK_LOCKED,    /* at `ghz`, as by nvidia-smi --lock-gpu-clocks */
    } kind;
    double ghz;
};

/* "sustained", "burst", "boost", or a frequency from 0.1 to 3 GHz, as "1.3GHz" or "1300MHz". */
bool clock_state_parse(const char *text, struct clock_state *state);
/* The state in words that clock_state_parse() takes. */
void clock_state_text(const struct clock_state *state, char *text, unsigned long size);

/* The costs in this state: those of L2 and HBM, in cycles, depend on a locked clock. */
struct clock_table clock_b200_in(const struct clock_state *state);

/* The share of the time, 0 to 1, in which tensor cores worked. */
struct clock_load {
    double all;  /* of all SMs of the chip */
    double gpcs; /* of the SMs of a GPC: the mean of all GPCs, each weighted by the work of its tensor cores */
};
struct clock_time {
    double ghz; /* the mean */
    double ns;
    double low, high; /* ns; eight of ten kernels of the held-out ladder are between. Both `ns`: no band is known */
};
/* The time that `cycles` take, with the costs of clock_b200_in(). */
struct clock_time clock_time(const struct clock_table *costs, const struct clock_state *state, double cycles,
                             struct clock_load load);

#endif
