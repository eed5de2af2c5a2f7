/* check/verdict/verdict.h - are two conflicting accesses to shared or tensor memory ordered, and if not, which rule is
 * broken?
 *
 * The report begins with the later of the two accesses in the order of the kernel's program. An operation counts from
 * its issue: an access by a thread after that is the later one, even if the operation itself runs after it.
 *
 * In this folder `first` is the access that the shadow remembers (`wrote`: it is a write), and `v` is the maker of the
 * new one (`writes`: a write). The shadow asks when both access the same bytes or cells, and one of them writes.
 */
#ifndef CHECK_VERDICT_VERDICT_H
#define CHECK_VERDICT_VERDICT_H

#include "check/know/viewer.h"
#include "check/verdict/conflict.h"

/* A stamp: a thread's access, as the shadow of shared memory remembers it until later accesses replace it. */
struct stamp {
    uint32_t time; /* of the access, in events of the cluster; 0: no access */
    union {
        struct {
            uint16_t warp; /* of the cluster */
            uint8_t lane;
            uint8_t flags; /* enum stamp_flag */
        };
        uint32_t who; /* all three */
    };
};
enum stamp_flag {
    STAMP_STRONG = 1, /* it has an order; morally strong accesses do not race (8.7.1) */
    STAMP_COPY = 2,   /* a cp.async that the thread issued then */
    STAMP_WARP = 4,   /* by the warp as a whole: tcgen05.alloc writes its address, or tensormap.cp_fenceproxy */
    STAMP_NARROW = 8, /* strong, with a scope that leaves out the other CTAs of the cluster */
    STAMP_NEXT = 16   /* from here on: the shadow's own flags */
};

enum where { IN_SHARED, IN_TENSOR };

/* Is a thread's access ordered before that of `v`? NULL, or the rule that the two break. */
const struct diag *verdict_stamp(const struct race *r, const struct stamp *first, bool wrote, const struct viewer *v,
                                 bool writes);
/* The same for two strong accesses: they race if the scope of one leaves out the other thread (8.7). `narrow`: the
 * scope of the access of `v` is .cta. */
const struct diag *verdict_strong(const struct race *r, const struct stamp *first, const struct viewer *v, bool narrow);
/* The time up to which the plain accesses of the warp's threads (without a stamp_flag) are ordered before that of `v`,
 * by all rules: a shortcut for verdict_stamp. */
uint32_t verdict_known_time(const struct race *r, uint32_t warp, const struct viewer *v);
/* As verdict_stamp, for an access that the operation `first` has made or will make since its issue. */
const struct diag *verdict_note_other(const struct race *r, struct note *first, bool wrote, const struct viewer *v,
                                      bool writes, enum where where);
static inline const struct diag *verdict_note(const struct race *r, struct note *first, bool wrote,
                                              const struct viewer *v, bool writes, enum where where) {
    const struct done *d = wrote ? &first->written : &first->read;
    /* fast path: an operation comes after another one that is known to be complete */
    if (where == IN_SHARED && !r->strict && v->note && first->time <= v->note->time && d->how == DONE_TOKEN &&
        !(first->tensor && v->note->tensor) &&
        (vclock_knows_token(v->now[LAYER_ORDER], d->token, d->step) ||
         vclock_knows_token(v->now[LAYER_SHARED], d->token, d->step)))
        return NULL;
    return verdict_note_other(r, first, wrote, v, writes, where);
}

/* The place of a conflict, for a report. */
struct spot {
    enum where where;
    const struct cta *owner;
    uint32_t at; /* shared offset, or column, in the owner's memory */
};
/* The conflict of the same two accesses, for conflict_tell. */
struct conflict verdict_stamp_conflict(const struct race *r, const struct diag *rule, const struct stamp *first,
                                       bool wrote, const struct viewer *v, bool writes, const struct spot *at);
struct conflict verdict_note_conflict(const struct race *r, const struct diag *rule, const struct note *first,
                                      bool wrote, const struct viewer *v, bool writes, const struct spot *at);

#endif
