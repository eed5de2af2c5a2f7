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

/* A conflict: nothing orders the access of `later` after that of `earlier`; `place`: the bytes or cells that both
 * access. `but`: they are ordered, and the order is wrong; NULL: they are not. It lives until it is reported, or until
 * no one can read what it decides (check/shadow/sums.c). */
struct conflict {
    const struct diag *rule;
    struct party later, earlier;
    char place[120];
    const char *but;
    struct mach_origin told; /* the cause: an arrival by another lane of the earlier party's warp; or no site */
    char why[240];           /* the cause in words; or empty */
};
void conflict_tell(const struct race *r, const struct conflict *f);

#endif
