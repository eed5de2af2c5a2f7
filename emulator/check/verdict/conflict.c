/* check/verdict/conflict.c - reports of a broken rule; contract in conflict.h. */
#include "check/verdict/conflict.h"

#include <stdio.h>

void conflict_tell(const struct race *r, const struct conflict *f) {
    const struct party *later = &f->later, *earlier = &f->earlier;
    char said[160];
    snprintf(said, sizeof said, "%s, which %s it", earlier->what, earlier->writes ? "writes" : "reads");
    mach_warn_pair(r->island, &later->origin, &earlier->origin, said, f->rule,
                   "%s %s %s, and nothing orders it after %s", later->what, later->writes ? "writes" : "reads",
                   f->place, earlier->what);
}
