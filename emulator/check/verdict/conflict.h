/* check/verdict/conflict.h - a broken rule, its parties and its place: what the checker reports. */
#ifndef CHECK_VERDICT_CONFLICT_H
#define CHECK_VERDICT_CONFLICT_H

#include "check/know/cluster.h"

/* One of the two makers of conflicting accesses. */
struct party {
    struct mach_origin origin;
    const char *what; /* "a store", "operand A of tcgen05.mma" */
    bool writes;
};

/* A conflict: nothing orders the access of `later` after that of `earlier`. Exists until it is reported, or until no
 * one can read the values that it affects (check/shadow/sums.c). */
struct conflict {
    const struct diag *rule; /* the broken rule */
    struct party later, earlier;
    char place[120];         /* the bytes or cells that both access, in words */
    const char *but;         /* in words: what is wrong although they are ordered; NULL: they are not ordered */
    struct mach_origin told; /* the cause: an arrival by another lane of the earlier party's warp; or no site */
    char why[240];           /* the cause in words; or empty */
};
/* Reports it, at the level of the rule's class. */
void conflict_tell(const struct race *r, const struct conflict *f);

#endif
