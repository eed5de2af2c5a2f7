/* launch/known.h - who can notice when an instruction runs, under MACH_SCHED_MODEL. Only for launch/timed.c. */
#ifndef LAUNCH_KNOWN_H
#define LAUNCH_KNOWN_H

#include "machine/timing.h"
#include "warp/insn.h"

/* What is known of an instruction. */
struct known {
    const struct insn *in;
    struct mach_cost cost;
    /* nobody can notice when it runs: it touches registers alone, accesses shared memory weakly, or orders memory */
    bool registers;
    bool weak; /* a weak access to global memory, or by a generic address */
};

struct known launch_known(const struct insn *in, struct mach_cost cost);

#endif
