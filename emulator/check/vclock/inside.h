/* check/vclock/inside.h - what clocks and sets of clocks are made of. For this folder alone.
 *
 * A clock holds a set of other clusters' clocks, and a set holds clocks. So each file does one thing for both: pool.c
 * makes and lets go of them, join.c compares and joins them; vclock.c and far.c look at and change what one holds.
 */
#ifndef CHECK_VCLOCK_INSIDE_H
#define CHECK_VCLOCK_INSIDE_H

#include "check/vclock/far.h"

#include <stddef.h>

#define GROUP 4u /* entries that are compared at once: a clock has room for a multiple */
#define NO_LANE UINT32_MAX
#define MANY VCLOCK_LANES
#define DIGIT 4u
#define CHILDREN (1u << DIGIT)

struct lanes {
    uint32_t time[VCLOCK_LANES];
};

/* Of warp w all lanes are known up to all[w]; lane[w] up to ahead[w], or, where that is MANY, each up to
 * many[ahead[w]]. Lives while somebody holds it; then it waits in the pool to be used again. */
struct vclock {
    uint32_t holders;
    uint32_t tokens; /* that it has room for */
    uint32_t num_many;
    struct lanes *many;
    struct vclock *next; /* in pool->free */
    struct far *far;
    uint32_t *all, *ahead, *lane, *token; /* one behind another: entries */
    uint32_t entries[];
};

/* A set is a tree by the digits of the clusters' numbers. Sets share the parts that they have in common, so that a grid
 * in which each cluster learns of all before it, by a counter, takes neither their memory nor their time each time.
 * This one is of the clusters from 0 to 16^(level + 1) - 1, and lives while somebody holds it. */
struct far {
    uint32_t holders, level;
    union {
        struct far *far[CHILDREN];      /* of the level below; */
        struct vclock *clock[CHILDREN]; /* at level 0 */
    } of;
};

/* --- pool.c ------------------------------------------------------------------------------------------------------- */

/* Entries for the warps of the cluster: a multiple of GROUP. */
static inline size_t vclock_warps(const struct vclock_pool *p) {
    return ((size_t)p->warps + GROUP - 1) / GROUP * GROUP;
}
/* A clock that knows nothing. */
struct vclock *vclock_new(struct vclock_pool *p);
/* `to`, which knows nothing, knows what `from` knows of its own cluster. */
void vclock_copy(const struct vclock_pool *p, struct vclock *to, const struct vclock *from);
/* A clock that *c alone holds, with room for all tokens: *c, or a copy in its place. */
struct vclock *vclock_own_copy(struct vclock_pool *p, struct vclock **c);
static inline struct vclock *vclock_own(struct vclock_pool *p, struct vclock **c) {
    return *c && (*c)->holders == 1 && (*c)->tokens >= p->tokens ? *c : vclock_own_copy(p, c);
}
/* The times of a warp's lanes, and back. */
void vclock_unpack(const struct vclock *c, uint32_t w, struct lanes *out);
void vclock_pack(struct vclock *c, uint32_t w, const struct lanes *t);

/* The same of sets. */
struct far *far_new(struct vclock_pool *pool, uint32_t level);
struct far *far_own(struct vclock_pool *pool, struct far **f);
/* *f gets one level more. */
void far_raise(struct vclock_pool *pool, struct far **f);

#endif
