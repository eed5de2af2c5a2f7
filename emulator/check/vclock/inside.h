/* check/vclock/inside.h - the insides of clocks and of sets of clocks. Only for this folder.
 *
 * A clock holds a set of other clusters' clocks, and a set holds clocks. So each file does one thing for both: pool.c
 * makes and frees them, join.c compares and joins them, vclock.c and far.c read and change the contents of one.
 */
#ifndef CHECK_VCLOCK_INSIDE_H
#define CHECK_VCLOCK_INSIDE_H

#include "check/vclock/far.h"

#include <stddef.h>

#define GROUP 8u /* the most entries compared at once; the size of a clock is a multiple */
#define LINE 64u /* bytes */
#define NO_LANE UINT32_MAX
#define MANY VCLOCK_LANES
#define DIGIT 4u /* bits of a cluster's number for each level of a set */
#define CHILDREN (1u << DIGIT)

/* A time for each lane of a warp. */
struct lanes {
    uint32_t time[VCLOCK_LANES];
};

/* A clock: it knows all lanes of warp w up to all[w], and the lane with number lane[w] up to ahead[w]. If lane[w] is
 * NO_LANE, no lane is ahead. If lane[w] is MANY, it knows each lane up to its time in many[ahead[w]]. It lives while it
 * has holders; after that the pool keeps it for reuse. It begins a cache line, and so do its entries. */
struct vclock {
    struct vclock_held held;
    uint32_t tokens; /* room for so many; those from vclock_tokens on have no values */
    uint32_t num_many;
    struct lanes *many;             /* for warps in which several lanes differ; NULL: none */
    struct vclock *next;            /* in pool->free */
    struct far *far;                /* what it knows of other clusters; NULL: nothing */
    uint32_t *ahead, *lane, *token; /* consecutive parts of the entries, after all[]; token: steps that it knows */
    _Alignas(LINE) uint32_t all[];  /* the entries */
};

/* A set: a tree by the digits of the clusters' numbers. It lives while it has holders. Sets share equal parts: if each
 * cluster of a grid learns of all before it, through a counter, they need neither memory nor time for each. This one
 * contains clusters 0 to 16^(level + 1) - 1. */
struct far {
    uint32_t holders, level;
    union {
        struct far *far[CHILDREN];      /* sets of the level below; */
        struct vclock *clock[CHILDREN]; /* at level 0 */
    } of;
};

/* --- pool.c ------------------------------------------------------------------------------------------------------- */

/* The number of entries for the cluster's warps: a multiple of GROUP. */
static inline size_t vclock_warps(const struct vclock_pool *p) {
    return ((size_t)p->warps + GROUP - 1) / GROUP * GROUP;
}
/* The number of tokens in use, rounded up in the same way. */
static inline uint32_t vclock_tokens(const struct vclock_pool *p) { return (p->tokens + GROUP - 1) / GROUP * GROUP; }
/* Adds free clocks to the pool. */
void vclock_make(struct vclock_pool *p);
/* The clock that vclock_take returns next, which has one holder then. Its entries have no values, but room for all
 * tokens. */
static inline struct vclock *vclock_spare(struct vclock_pool *p) {
    if (!p->free)
        vclock_make(p);
    return p->free;
}
static inline struct vclock *vclock_take(struct vclock_pool *p) {
    struct vclock *c = vclock_spare(p);
    p->free = c->next;
    c->held.holders = 1;
    return c;
}
/* A clock that knows nothing. */
struct vclock *vclock_new(struct vclock_pool *p);
/* Copies to the empty `to` what `from` knows of its own cluster. */
void vclock_copy(const struct vclock_pool *p, struct vclock *to, const struct vclock *from);
/* A clock with *c as its only holder and room for all tokens: *c itself, or a copy in its place. */
struct vclock *vclock_own_copy(struct vclock_pool *p, struct vclock **c);
static inline struct vclock *vclock_own(struct vclock_pool *p, struct vclock **c) {
    return *c && (*c)->held.holders == 1 && (*c)->tokens >= p->tokens ? *c : vclock_own_copy(p, c);
}
/* Reads the times of a warp's lanes; writes them. */
void vclock_unpack(const struct vclock *c, uint32_t w, struct lanes *out);
void vclock_pack(struct vclock *c, uint32_t w, const struct lanes *t);

/* The same for sets. */
struct far *far_new(struct vclock_pool *pool, uint32_t level);
struct far *far_own(struct vclock_pool *pool, struct far **f);
/* Adds a level to *f. */
void far_raise(struct vclock_pool *pool, struct far **f);

#endif
