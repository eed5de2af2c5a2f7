/* check/verdict/conflict.h - a broken rule, by whom, where: what the checker reports. */
#ifndef CHECK_VERDICT_CONFLICT_H
#define CHECK_VERDICT_CONFLICT_H

#include "check/know/cluster.h"

/* Party: one of the two that make conflicting accesses. */
struct party {
    struct mach_origin origin;
    const char *what; /* "a store", "operand A of tcgen05.mma" */
    bool writes;
};

/* Nothing orders what `later` does after what `earlier` does; `place`: what both touch. `but`: they are in order, and
 * that is wrong; NULL: they are not. Until it is reported, or until nobody can read what it decides
 * (check/shadow/sums.c). */
struct conflict {
    const struct diag *rule;
    struct party later, earlier;
    char place[120];
    const char *but;
    struct mach_origin told; /* an arrival by another lane of the earlier one's warp, which is the cause; or no site */
    char why[240];           /* what is known of the cause, to be said; or empty */
};
void conflict_tell(const struct race *r, const struct conflict *f);

#endif
