/* machine/island.h - what one host thread runs at a time, and what it has to say.
 *
 * An island is a set of SMs whose clusters can reach one another's state: shared and tensor memory, mbarriers, cluster
 * barriers. Islands share nothing but device memory, and a kernel that synchronises through that has one island, the
 * whole GPU (launch/shares.c). So islands may run on different host threads, and what one of them does is the same
 * whatever the others do meanwhile, unless clusters race (PTX ISA 8.7.1): then it depends on who comes first, but on
 * nothing worse, as device memory is touched as base/relaxed.h says. What they say (reports, printf) is kept until all
 * have had their turn, and then told in their order: island_tell.
 */
#ifndef MACHINE_ISLAND_H
#define MACHINE_ISLAND_H

#include "machine/memory.h"
#include "report/diag.h"
#include "report/findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu;
struct worker;

#define MACH_SAID (1u << 20) /* bytes to be told after which an island's turn ends */

/* Who caused an operation; copied into asynchronous operations at issue so that late faults still name the line. */
struct mach_origin {
    const struct diag_site *site; /* in the module, which outlives the launch; NULL: not known */
    const struct async_op *op;    /* whose origin it is; NULL: what the threads do themselves */
    struct diag_thread thread;
};

/* Who last wrote a word of global memory in a way that others may wait for: an atomic, or a strong store (8.4). */
#define MACH_WRITERS 64u
struct mach_writer {
    uint64_t addr;
    const struct diag_site *site; /* NULL: nobody */
    struct diag_dim3 cta;
    uint32_t warp;
};

struct island {
    struct gpu *gpu;
    struct worker *worker; /* whose host thread runs it now: memory to work in */

    uint64_t clock;         /* warp instructions of this launch up to here; %clock64 */
    uint64_t progress;      /* bumped by all that others can observe: stores, arrivals, completions, exits */
    uint64_t steps;         /* its own instructions before this round, and its operations */
    uint64_t rng;           /* MACH_SCHED_RANDOM and _PCT */
    uint64_t async_pending; /* operations queued and not yet run */
    bool crowded;           /* they are to run before the next instruction: machine/async.h */
    int fault;              /* 0, or the cuda_error of its first fault: the island stops, and so does the launch */
    uint64_t starts;        /* what the watchdog counts in this round beside instructions: launch/resident.c */
    uint32_t asked;         /* times that island_late was asked since it looked at the clock */
    uint32_t
        closed; /* CTAs that have neither executed griddepcontrol.launch_dependents nor exited; when none is left */
    bool pauses, paused;        /*  the turn is to end at once: it has */
    bool timed;                 /* MACH_SCHED_MODEL: what has changed since the scheduler last looked: */
    struct cta *woken;          /*  CTAs by mach_wake, */
    struct async_queue *issued; /*  and queues to which an operation came */

    struct said *said, **said_tail; /* oldest first */
    size_t said_bytes;
    size_t printed;                           /* of them, by printf */
    struct mem_near near[2];                  /* allocations that were found last, the latest first */
    struct mach_writer writers[MACH_WRITERS]; /* by address: the latest of those that fall together */
    struct findings found;                    /* of this launch; counts are what was met since they were told */
    const char *first_warning;                /* id of the first that was told; NULL: none */
};

/* An island of `gpu` that has said nothing; `number` tells its random numbers from those of other islands. */
void island_init(struct island *isl, struct gpu *gpu, uint32_t number);
/* Drops what was not told. */
void island_close(struct island *isl);

static inline struct mach_writer *island_writer(struct island *isl, uint64_t addr) {
    return &isl->writers[addr / 4 % MACH_WRITERS];
}

/* Reports a fault of the user's kernel once per island (later ones are dropped) and sets isl->fault. `proto` gives id,
 * rule, section, hint and cuda_error; site and thread come from `origin` (NULL: none). */
void mach_fault(struct island *isl, const struct mach_origin *origin, const struct diag *proto, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same, and false: for `return` in what is false after a fault. */
#define mach_fails(...) (mach_fault(__VA_ARGS__), false)
/* Warns about the user's kernel: one report for each bug (diag_key) of the process, FINDINGS_REPORTS a launch; how
 * often it was met is told when the launch ends. What is told goes by config.check and the class of `proto`: of class
 * DIAG_STRICT with MACH_CHECK_STRICT alone, and nothing that --suppress names (errors cannot be). With MACH_CHECK_ERROR
 * a warning is a fault, and false is returned; with MACH_CHECK_OFF nothing happens. */
bool mach_warn(struct island *isl, const struct mach_origin *origin, const struct diag *proto, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same of what `origin` and, before it, `other` did: `what`. An error is a fault at every level but off. */
bool mach_warn_pair(struct island *isl, const struct mach_origin *origin, const struct mach_origin *other,
                    const char *what, const struct diag *proto, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* What one call of the device's printf gives, at most gpu->print_fifo bytes. The oldest output of the island is dropped
 * where all of it takes more, as in the device's buffer, which is circular (CUDA C++ Programming Guide, Formatted
 * Output). False when output was dropped. */
bool mach_print(struct island *isl, const char *text, size_t len);
/* Tells all of it: reports to gpu->sink and into gpu->findings, printf to gpu->print. A fault becomes the launch's,
 * gpu->fault; what comes after a fault is dropped, in this island and in those told later. */
void island_tell(struct island *isl);

/* Must the launch be stopped, since it has run longer than config.timeout, or the process has more in memory than
 * config.memory? Then everything ends at once, and launch/run.c reports it: an instruction that asks stops where it is.
 * To be asked about every 10 us, of which it takes some nanoseconds: between the turns of warps, and in the loops of
 * instructions that can run longer. */
bool island_late(struct island *isl);

/* xorshift64*: next random number of the schedule. */
uint64_t mach_random(struct island *isl);
/* MACH_SCHED_PCT: the priority that a new agent gets, with its highest bit set. 0 under other schedules. */
uint64_t mach_priority(struct island *isl);

#endif
