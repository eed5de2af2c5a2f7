/* machine/mbarrier.h - mbarrier objects: 8 bytes of shared memory with a state machine (PTX ISA 9.7.13.15).
 *
 * The object lives in the CTA's shared memory, so overwriting it corrupts it as on the chip. Layout of the 64 bits here
 * (opaque to programs): pending arrivals 20, expected arrivals 20, tx-count 21 signed, phase 1, tag 2.
 * Every function takes the owning CTA and the byte offset, already resolved and 8-byte aligned, and returns MBAR_OK or
 * what rule was broken; the caller turns that into a report (mbar_error_diag gives rule and section).
 * Phase completion wakes the owning CTA.
 */
#ifndef MACHINE_MBARRIER_H
#define MACHINE_MBARRIER_H

#include "machine/machine.h"

#include <string.h>

#define MBAR_PHASE_BIT 61

struct event_by; /* machine/events.h: who does it; CTA (NULL: not known), warp and site, the rest for who listens */

enum mbar_error {
    MBAR_OK = 0,
    MBAR_NOT_INITIALISED,   /* no mbarrier.init since the memory was allocated, or after inval */
    MBAR_CORRUPT,           /* the 8 bytes were overwritten by something else */
    MBAR_BAD_COUNT,         /* init count outside 1 .. 2^20-1 */
    MBAR_LIVE,              /* init over a live object */
    MBAR_TOO_MANY_ARRIVALS, /* arrivals exceed what the phase still expects */
    MBAR_TX_RANGE,          /* tx-count leaves -(2^20-1) .. 2^20-1 */
    MBAR_CTA_EXITED,        /* the CTA that owns it has exited */
    MBAR_ERRORS,
};

struct mbar_view {
    uint64_t phases;   /* completed since mbarrier.init */
    uint32_t pending;  /* arrivals still expected in this phase */
    uint32_t expected; /* arrivals of the next phase */
    int32_t tx;        /* bytes still expected */
    uint32_t phase;    /* parity of the current, incomplete phase: 0 or 1 */
};

/* By one thread, or by lanes of a warp together. */
enum mbar_error mbar_init(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t count);
/* What is one more init of the object that is there? Anything but NOT, init_again puts a new one in its place. With OWN
 * and SAME nobody has done anything to it since. */
enum mbar_again {
    MBAR_AGAIN_NOT,
    MBAR_AGAIN_OWN,  /* by the one thread that has initialised it */
    MBAR_AGAIN_SAME, /* by the same instruction with the same count: in every order it is the same object */
    MBAR_AGAIN_USED, /* by the warp that has initialised it, between two phases: no arrival and no byte is lost */
};
enum mbar_again mbar_again(const struct event_by *by, const struct cta *cta, uint32_t off, uint32_t count);
enum mbar_error mbar_init_again(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t count);
enum mbar_error mbar_inval(const struct event_by *by, struct cta *cta, uint32_t off);
enum mbar_error mbar_arrive(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t count, bool drop,
                            uint64_t *state);
enum mbar_error mbar_expect_tx(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes);
enum mbar_error mbar_complete_tx(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes);
/* expect_tx followed by arrive with count 1, as one step (no phase can complete in between). */
enum mbar_error mbar_arrive_expect_tx(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes,
                                      bool drop, uint64_t *state);
/* An arrival by each of by->lanes, each with `count` and after an expect_tx of `bytes`, as one step. On an
 * error nothing has happened. */
enum mbar_error mbar_arrive_together(const struct event_by *by, struct cta *cta, uint32_t off, uint32_t bytes,
                                     uint32_t count, uint64_t *state);
/* Pending arrivals + 1: what cp.async.mbarrier.arrive without .noinc does when it is issued (9.7.13.15.15). */
enum mbar_error mbar_add_pending(const struct event_by *by, struct cta *cta, uint32_t off);
/* A warp of the CTA has found a phase of the object complete. True: it had found the same one before. */
bool mbar_passed(struct cta *cta, uint32_t off, uint32_t warp);
/* Has the phase named by `state` (from an arrive), or by parity, completed? */
enum mbar_error mbar_test_state(struct cta *cta, uint32_t off, uint64_t state, bool *done);
enum mbar_error mbar_test_parity(struct cta *cta, uint32_t off, uint32_t parity, bool *done);
enum mbar_error mbar_peek(const struct cta *cta, uint32_t off, struct mbar_view *out);
/* The CTA's object of that index as the last mbarrier operation left it, also after the CTA has exited; false when its
 * bits make no object. */
bool mbar_last(const struct cta *cta, uint32_t index, struct mbar_view *out);
/* Pending count in an opaque state (mbarrier.pending_count). */
uint32_t mbar_pending_count(uint64_t state);
/* Parity of the phase that a state names. */
static inline uint32_t mbar_state_phase(uint64_t state) { return (uint32_t)(state >> MBAR_PHASE_BIT) & 1; }

/* For those who look at one object often. mbar_index: its number in the CTA's table, or UINT32_MAX where there is none;
 * it stays the object's own until another object of the CTA is invalidated. mbar_waits: the object with that number
 * still lies at `off`, only mbarrier operations wrote its bytes, and it has completed `phases` phases and no more. */
uint32_t mbar_index(const struct cta *cta, uint32_t off);
static inline bool mbar_waits(const struct cta *cta, uint32_t index, uint32_t off, uint64_t phases) {
    uint64_t bits;
    if (cta->live_warps == 0 || index >= cta->num_mbars || cta->mbars[index].off != off)
        return false;
    memcpy(&bits, cta->smem + off, sizeof bits);
    return bits == cta->mbars[index].bits && cta->mbars[index].phases == phases;
}

/* What is reported about an error; not for MBAR_OK. */
const struct diag *mbar_error_diag(enum mbar_error e);
/* The same of an operation issued by `issuer`, on an mbarrier of `owner`. */
const struct diag *mbar_op_error_diag(enum mbar_error e, const struct cta *issuer, const struct cta *owner);
/* The error as the end of a headline, after "mbarrier 0x400 of cluster CTA 1: ". */
const char *mbar_error_text(enum mbar_error e);

#endif
