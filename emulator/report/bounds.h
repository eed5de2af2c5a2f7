/* report/bounds.h - what the checks no longer see of a launch, because they keep no more than they have room for.
 *
 * bounds.def lists the bounds. Where one makes the checks forget something, nothing is said yet: most of what is
 * forgotten nobody touches again. A loss is told of when a finding could have needed it: somebody makes an access that
 * may conflict with one that was forgotten. It is a line on stderr when the process ends, a notification in the file of
 * --check-json and a text in that of --stats-json. --require-complete makes an exit code of it.
 *
 * Not in the list: what is kept in another form when there is much of it (struct region), what only a report's choice
 * of words needs (struct tells), and what comes back by itself (caches).
 */
#ifndef REPORT_BOUNDS_H
#define REPORT_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

enum bound {
#define BOUND(name, most, text) BOUND_##name,
#include "report/bounds.def"
#undef BOUND
    BOUNDS
};
_Static_assert(BOUNDS <= 32, "a set of bounds is a uint32_t");

/* Of a GPU: part of its configuration. */
struct bounds {
    uint64_t most[BOUNDS];
};

/* For tests alone: SM100EMU_BOUNDS, as "SPANS=1,AREAS=2". False: no such bound, no number, or a higher one. */
#define BOUNDS_VARIABLE "SM100EMU_BOUNDS"
bool bounds_lower(struct bounds *bounds, const char *text);

static inline struct bounds bounds_default(void) {
    return (struct bounds){{
#define BOUND(name, most, text) [BOUND_##name] = (most),
#include "report/bounds.def"
#undef BOUND
    }};
}

/* What may have been missed, and why. */
static inline const char *bound_text(enum bound b) {
    static const char *const texts[BOUNDS] = {
#define BOUND(name, most, text) [BOUND_##name] = (text),
#include "report/bounds.def"
#undef BOUND
    };
    return texts[b];
}

#endif
