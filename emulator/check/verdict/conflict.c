/* check/verdict/conflict.c - reports of a broken rule; contract in conflict.h. */
#include "check/verdict/conflict.h"

#include <stdio.h>

void conflict_tell(const struct race *r, const struct conflict *f) {
    const struct party *later = &f->later, *earlier = &f->earlier;
    char said[480];
    if (f->told.site) {
        const uint32_t lane = (uint32_t)__builtin_ctz(earlier->origin.thread.lanes | 1u << 31);
        snprintf(said, sizeof said, "%s, which %s %s; %s may write there first", earlier->what,
                 earlier->writes ? "writes" : "reads", f->place, later->what);
        mach_warn_pair(r->island, &f->told, &earlier->origin, said, f->rule,
                       "lane %u arrives for its warp; nothing orders that after %s by lane %u",
                       (uint32_t)__builtin_ctz(f->told.thread.lanes | 1u << 31), earlier->what, lane);
        return;
    }
    snprintf(said, sizeof said, "%s, which %s it", earlier->what, earlier->writes ? "writes" : "reads");
    mach_warn_pair(r->island, &later->origin, &earlier->origin, said, f->rule, "%s %s %s, and %s %s%s%s", later->what,
                   later->writes ? "writes" : "reads", f->place, f->but ? f->but : "nothing orders it after",
                   earlier->what, *f->why ? ": " : "", f->why);
}
