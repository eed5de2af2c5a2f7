/* clock/load.h - from cycles to time: at which clock a launch ran.
 *
 * The model counts cycles. A B200 lowers its clock while its tensor cores work: at once by some, each GPC for itself,
 * and by more when its power limit acts, after some milliseconds of launches in a row. So a launch has a time only in a
 * state of the chip. The costs load_burst and load_sustained of clock/table.def say how much the clock falls; both are
 * fitted to a GEMM on random operands. Operands of zeros, whose bits do not toggle, are nearer to CLOCK_BOOST.
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
/* As it is parsed. */
void clock_state_text(const struct clock_state *state, char *text, unsigned long size);

/* The costs in this state: those of L2 and HBM, in cycles, depend on a locked clock. */
struct clock_table clock_b200_in(const struct clock_state *state);

/* For which share of the time tensor cores worked. */
struct clock_load {
    double all;  /* those of all SMs of the chip */
    double gpcs; /* those of the SMs of a GPC: a mean of the GPCs, each weighted by the work of its tensor cores */
};
struct clock_time {
    double ghz; /* on average */
    double ns;
    double low, high; /* ns: eight of ten kernels of the held-out ladder lie between; or equal to `ns` */
};
/* The time of so many cycles, by costs of clock_b200_in. */
struct clock_time clock_time(const struct clock_table *costs, const struct clock_state *state, double cycles,
                             struct clock_load load);

#endif
