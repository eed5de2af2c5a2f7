/* check/vclock/vclock.h - vector clocks: what an agent of a cluster knows to have happened before it.
 *
 * Time is the cluster's count of events (`time` of struct race, check/know/cluster.h). A clock has an entry for each
 * lane of each warp of the cluster: accesses of that lane up to the entry are ordered before whoever holds the clock.
 * The lanes of a warp mostly know the same and are known alike. So an entry is one time for all lanes and, if one lane
 * is further, a second time for that one. Only if several differ, there are 32.
 *
 * A clock also has an entry for each token. A token counts the steps of a thing that completes in steps, such as the
 * phases of an mbarrier or the tcgen05 operations of a thread.
 *
 * Of other clusters a clock knows what came through global memory: a set of their clocks (check/vclock/far.h), mostly
 * none.
 *
 * Clocks are shared: several holders may have the same one, and a shared clock never changes. A function that changes
 * one first gives its holder a copy. NULL is the clock that knows nothing. Whatever holds a clock drops it, too.
 */
#ifndef CHECK_VCLOCK_VCLOCK_H
#define CHECK_VCLOCK_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define VCLOCK_LANES 32u

struct vclock;
struct far;

/* What the clocks of a cluster have in common, from the start of the cluster to its end; of sets of other clusters'
 * clocks, from the start of the launch to its end. One host thread uses a pool at a time. */
struct vclock_pool {
    uint32_t warps;          /* of the cluster */
    uint32_t tokens, room;   /* in use; a new clock has room for so many */
    uint32_t exists_last;    /* the lanes that exist in the last warp of a CTA */
    uint32_t warps_each;     /* of a CTA */
    struct vclock *free;     /* to be used again */
    struct vclocks *made;    /* what they all lie in */
    struct vclock_pool *far; /* the pool of the clocks in sets of other clusters' clocks */
    uint64_t bytes;          /* that its clocks take, about, and in that pool the sets */
};

/* `threads_each`: of a CTA. */
void vclock_pool_init(struct vclock_pool *p, uint32_t ctas, uint32_t threads_each);
/* Frees all clocks of the pool, held or not. */
void vclock_pool_close(struct vclock_pool *p);
/* A new token, in step 0. */
uint32_t vclock_new_token(struct vclock_pool *p);

/* One holder more, and one fewer. */
struct vclock *vclock_hold(struct vclock *c);
void vclock_drop(struct vclock_pool *p, struct vclock *c);
/* *to holds `c` in place of what it held. */
void vclock_set(struct vclock_pool *p, struct vclock **to, struct vclock *c);

/* *into knows what `from` knows, too. */
void vclock_join_other(struct vclock_pool *p, struct vclock **into, struct vclock *from);
static inline void vclock_join(struct vclock_pool *p, struct vclock **into, struct vclock *from) {
    if (from && *into != from)
        vclock_join_other(p, into, from);
}
/* What `c` knows, but of these lanes no more than of all lanes of their warp. The caller holds the answer, which may be
 * NULL. */
struct vclock *vclock_others(struct vclock_pool *p, struct vclock *c, uint32_t warp, uint32_t lanes);
/* *c knows the lanes of a warp up to `time`, the token up to `step`. */
void vclock_add_lanes(struct vclock_pool *p, struct vclock **c, uint32_t warp, uint32_t lanes, uint32_t time);
void vclock_add_token(struct vclock_pool *p, struct vclock **c, uint32_t token, uint32_t step);

/* A step: several clocks learn something, each once. Clocks that were one before and learn the same are one afterwards,
 * and the work is done once. */
#define VCLOCK_ALIKE 8u
struct vclock_step {
    uint32_t warp, lanes, token;
    uint32_t num;
    struct {
        const struct vclock *was, *from;
        struct vclock *is;
        uint32_t time, step;
    } alike[VCLOCK_ALIKE];
};
static inline void vclock_step_begin(struct vclock_step *s, uint32_t warp, uint32_t lanes, uint32_t token) {
    s->warp = warp;
    s->lanes = lanes;
    s->token = token;
    s->num = 0;
}
/* *into knows what `from` knows, the lanes of the step up to `time` and its token up to `step`. NULL and 0 add nothing.
 * The caller holds each `from` until the step is over. */
void vclock_learn(struct vclock_pool *p, struct vclock_step *s, struct vclock **into, struct vclock *from,
                  uint32_t time, uint32_t step);

/* Does the clock know what the lane did up to `time`? */
bool vclock_knows_lane(const struct vclock *c, uint32_t warp, uint32_t lane, uint32_t time);
/* The same of at least one of the lanes. */
bool vclock_knows_any(const struct vclock *c, uint32_t warp, uint32_t lanes, uint32_t time);
/* The time up to which it knows all lanes of the warp. */
uint32_t vclock_all_lanes(const struct vclock *c, uint32_t warp);
/* Does the clock know that the token has taken so many steps? */
bool vclock_knows_token(const struct vclock *c, uint32_t token, uint32_t step);
/* The number of steps of the token that it knows. */
uint32_t vclock_token(const struct vclock *c, uint32_t token);

/* Does `a` know something that `b` does not? */
bool vclock_exceeds(const struct vclock_pool *p, const struct vclock *a, const struct vclock *b);

/* What it knows of other clusters; NULL: nothing. */
struct far *vclock_far(const struct vclock *c);
/* What *c knows of its own cluster, as a clock of p->far. */
struct vclock *vclock_export(struct vclock_pool *p, const struct vclock *c);
/* *into knows what `own`, a clock of p->far, says of its own cluster, and what the set says of the others. Each may be
 * NULL. */
void vclock_import(struct vclock_pool *p, struct vclock **into, const struct vclock *own, struct far *set);

#endif
