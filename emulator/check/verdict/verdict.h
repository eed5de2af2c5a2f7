/* check/verdict/verdict.h - of two conflicting accesses to shared or tensor memory: are they ordered, and if not, which
 * rule is broken?
 *
 * The report first names the access that comes second by what the kernel does. An operation counts from its issue: what
 * a thread touches after that is second, even if the operation itself runs later.
 */
#ifndef CHECK_VERDICT_VERDICT_H
#define CHECK_VERDICT_VERDICT_H

#include "check/know/viewer.h"
#include "check/verdict/conflict.h"

/* Stamp: an access of a thread, as the shadow of shared memory remembers it. */
struct stamp {
    uint32_t time; /* 0: none */
    uint16_t warp; /* of the cluster */
    uint8_t lane;
    uint8_t flags; /* enum stamp_flag */
};
enum stamp_flag {
    STAMP_STRONG = 1, /* with an order: morally strong accesses do not race (8.7.1) */
    STAMP_COPY = 2,   /* cp.async of the thread, issued then */
    STAMP_WARP = 4,   /* by the warp as one: all of its lanes */
    STAMP_NARROW = 8, /* strong, and of a scope that leaves the other CTAs of the cluster out */
    STAMP_NEXT = 16   /* from here on the shadow's own flags */
};

enum where { IN_SHARED, IN_TENSOR };

/* Is the access of a thread, a write (`wrote`) or a read, ordered before what `v` does now, a write (`writes`) or a
 * read? NULL, or the rule that is broken. */
const struct diag *verdict_stamp(const struct race *r, const struct stamp *first, bool wrote, const struct viewer *v,
                                 bool writes);
/* The same of two strong accesses, which race if the scope of one leaves the other thread out (8.7). */
const struct diag *verdict_strong(const struct race *r, const struct stamp *first, const struct viewer *v, bool narrow);
/* The same of what an operation has done, or will do. */
const struct diag *verdict_note(const struct race *r, struct note *first, bool wrote, const struct viewer *v,
                                bool writes, enum where where);

/* Where two accesses meet, for a report. */
struct spot {
    enum where where;
    const struct cta *owner;
    uint32_t at; /* shared offset, or column, in the owner's memory */
};
/* The conflict of the same two accesses. */
struct conflict verdict_stamp_conflict(const struct race *r, const struct diag *rule, const struct stamp *first,
                                       bool wrote, const struct viewer *v, bool writes, const struct spot *at);
struct conflict verdict_note_conflict(const struct race *r, const struct diag *rule, const struct note *first,
                                      bool wrote, const struct viewer *v, bool writes, const struct spot *at);

#endif
