/* check/verdict/marks.h - are two conflicting accesses to global memory ordered?
 *
 * Two accesses to the same bytes within a launch, one of them a write, need an order. Within a cluster it comes from
 * what its threads know of one another, between clusters from flags (know/flags.h). Strong accesses do not race with
 * one another (8.7.1). A new launch starts with nothing remembered; check/grids/ checks the order between kernels.
 */
#ifndef CHECK_VERDICT_MARKS_H
#define CHECK_VERDICT_MARKS_H

#include "check/know/viewer.h"

#define SECTOR 32u /* bytes */

/* A mark: an access to bytes of a sector of global memory, as the shadow remembers it until the launch ends or until
 * later accesses replace it. */
struct mark {
    union {
        const struct diag_site *site; /* the line; or NULL */
        struct op_record *op;         /* MARK_OP: the operation */
    } by;
    uint32_t mask;          /* bit for each byte of the sector; 0: no mark */
    uint32_t time, cluster; /* time: in events of that cluster; cluster: number in the launch */
    uint32_t next;          /* next mark of the sector, an index of extra[] (shadow/pages.h); 0: none */
    uint32_t sum;           /* hash of the written values: MARK_SUM */
    uint16_t warp;          /* number in the cluster */
    int8_t lane;            /* byte b of the sector was accessed by lane + (b >> unit): 1 << unit bytes for each lane */
    uint8_t flags;          /* enum mark_flag, and the unit */
};
enum mark_flag {
    MARK_WRITE = 1,
    MARK_STRONG = 2, /* has an order in its words, or is atomic */
    MARK_NARROW = 4, /* its scope is within the cluster */
    MARK_OP = 8,     /* by an operation, not by threads */
    MARK_SUM = 16,   /* `sum` is known */
    MARK_UNIT = 32,  /* the unit, or an enum mark_of, is flags / MARK_UNIT */
};
/* One lane has all bytes of a sector: it is also the unit of 32 bytes for each lane. In place of a unit: the warp
 * accessed them as a whole; each of its 32 lanes accessed all. */
enum mark_of { ONE_LANE = 5, ONE_WARP, EVERY_LANE };
_Static_assert(1 << ONE_LANE == SECTOR, "ONE_LANE is a unit");
static inline uint32_t mark_unit(const struct mark *m) { return m->flags / MARK_UNIT; }
/* The lane of the byte that is so many bytes after the first one, or before it. Operations have no lanes. */
static inline int8_t mark_lane(const struct mark *m, int32_t further) {
    const uint32_t unit = mark_unit(m);
    if (unit > ONE_LANE || m->flags & MARK_OP)
        return m->lane;
    return (int8_t)(m->lane + (further < 0 ? -(-further >> unit) : further >> unit));
}

/* An access and its maker, during its check. */
struct toucher {
    struct race *r;
    const struct viewer *v;
    const struct know *k;   /* of threads; NULL: an operation */
    struct mark mark;       /* the access; `lane` is that of the first byte */
    const uint8_t *written; /* current value at the first byte; NULL: not known */
    bool map;               /* it reads a tensor map */
    bool noncoherent;       /* ld.global.nc, ldu */
    bool told;              /* a broken rule was reported for it */
};

/* The rule that *mine, the later of two accesses, breaks; NULL: none. They share the bytes `both` of the sector at
 * `at`, and one of them writes. */
const struct diag *marks_verdict(const struct toucher *t, const struct mark *first, const struct mark *mine,
                                 uint32_t both, uint64_t at);
/* Does the maker of *mine know of *first, for the bytes `both`? */
bool marks_known(const struct toucher *t, const struct mark *first, const struct mark *mine, uint32_t both);
/* Reports that *mine breaks the rule at address `at`. */
void marks_tell(const struct toucher *t, const struct diag *rule, const struct mark *first, const struct mark *mine,
                uint64_t at);

#endif
