/* check/verdict/marks.h - of two conflicting accesses to global memory: is the later one ordered behind the earlier?
 *
 * Two accesses to the same bytes within a launch, one of them a write, need an order: within a cluster what its threads
 * know of one another, between clusters what came through flags (know/flags.h). Strong accesses do not race with one
 * another (8.7.1). A new launch forgets everything; what kernels owe each other is check/grids/'s
 * question.
 */
#ifndef CHECK_VERDICT_MARKS_H
#define CHECK_VERDICT_MARKS_H

#include "check/know/viewer.h"

#define SECTOR 32u /* bytes that are remembered together */

/* Mark: an access to bytes of a sector of global memory, as the shadow remembers it until the launch ends or later
 * accesses stand for it. */
struct mark {
    union {
        const struct diag_site *site;
        struct op_record *op; /* MARK_OP */
    } by;
    uint32_t mask; /* bytes; 0: none */
    uint32_t time, cluster;
    uint32_t next; /* mark of the same sector: extra[next], 0: none */
    uint32_t sum;  /* of the values written: MARK_SUM */
    uint16_t warp; /* of the cluster */
    int8_t lane;   /* byte b is the access of lane + (b >> unit) */
    uint8_t flags; /* enum mark_flag, and the unit */
};
enum mark_flag {
    MARK_WRITE = 1,
    MARK_STRONG = 2, /* told with an order, or atomic */
    MARK_NARROW = 4, /* of a scope within the cluster */
    MARK_OP = 8,
    MARK_SUM = 16,
    MARK_UNIT = 32, /* the unit is flags / MARK_UNIT, or an enum mark_of */
};
/* Whose the bytes are, where not of one lane after the other: of one, of the warp as one, of each of its 32 lanes. */
enum mark_of { ONE_LANE = 5, ONE_WARP, EVERY_LANE };
static inline uint32_t mark_unit(const struct mark *m) { return m->flags / MARK_UNIT; }

/* Who makes an access, and how. */
struct toucher {
    struct race *r;
    const struct viewer *v;
    const struct know *k;   /* of threads, or NULL */
    struct mark mark;       /* the access; its lane is that of the first byte */
    const uint8_t *written; /* what is at the first byte now, or NULL: not known */
    bool map;               /* it reads a tensor map */
    bool noncoherent;       /* ld.global.nc, ldu */
    bool told;              /* a broken rule was reported of it */
};

/* Two accesses, of which one writes, share the bytes `both` of a sector, which begins at `at`: the rule that the later
 * one, *mine, breaks, or NULL. */
const struct diag *marks_verdict(const struct toucher *t, const struct mark *first, const struct mark *mine,
                                 uint32_t both, uint64_t at);
/* Does the maker of *mine know of *first, as far as that touched bytes of `both`? */
bool marks_known(const struct toucher *t, const struct mark *first, const struct mark *mine, uint32_t both);
/* Reports that *mine breaks the rule at the address `at`. */
void marks_tell(const struct toucher *t, const struct diag *rule, const struct mark *first, const struct mark *mine,
                uint64_t at);

#endif
