/* check/vclock/vclock.h - vector clocks: what an agent of a cluster knows to have happened before.
 *
 * Time is the cluster's count of events (`time` of struct race, check/know/cluster.h). A clock has an entry for each
 * lane of each warp of the cluster: the lane's accesses up to the entry are ordered before the clock's holder. The
 * lanes of a warp mostly know the same and are known alike. So an entry is one time for all lanes and, if one lane is
 * further, a second time for that one. Only if several lanes differ, there are 32 times.
 *
 * A clock also has an entry for each token. A token counts the steps of an object that completes in steps, such as the
 * phases of an mbarrier or the tcgen05 operations of a thread.
 *
 * For other clusters a clock has what came through global memory: a set of their clocks (check/vclock/far.h), mostly
 * NULL.
 *
 * Clocks are shared: several holders may have the same one, and a shared clock never changes. A function that changes a
 * clock first gives its holder a copy. NULL is the clock that knows nothing. Each holder of a clock must drop it.
 */
#ifndef CHECK_VCLOCK_VCLOCK_H
#define CHECK_VCLOCK_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define VCLOCK_LANES 32u

struct vclock;
struct far;

/* What the clocks of a cluster have in common, from the start of the cluster to its end; for the clocks in sets, from
 * the start of the launch to its end. One host thread at a time uses a pool. */
struct vclock_pool {
    uint32_t warps;          /* of the cluster */
    uint32_t tokens, room;   /* tokens in use; room of a new clock */
    uint32_t exists_last;    /* the lanes that exist in the last warp of a CTA */
    uint32_t warps_each;     /* of a CTA */
    bool wide;               /* the host has AVX2, and may use it */
    struct vclock *free;     /* for reuse */
    struct vclocks *made;    /* the memory of all clocks */
    struct vclock_pool *far; /* the pool of the clocks in sets of other clusters' clocks */
    uint64_t bytes;          /* approximate size of its clocks; in `far` also of the sets */
};

/* `threads_each`: threads in a CTA. */
void vclock_pool_init(struct vclock_pool *p, uint32_t ctas, uint32_t threads_each);
/* Frees all clocks of the pool, held or not. */
void vclock_pool_close(struct vclock_pool *p);
/* A new token, in step 0; and a number that none has, which is always in step 0. */
uint32_t vclock_new_token(struct vclock_pool *p);
#define VCLOCK_NO_TOKEN UINT32_MAX

/* The first member of a clock: its number of holders. */
struct vclock_held {
    uint32_t holders;
};
/* Adds and removes a holder. */
static inline struct vclock *vclock_hold(struct vclock *c) {
    if (c)
        ((struct vclock_held *)c)->holders++;
    return c;
}
void vclock_over(struct vclock_pool *p, struct vclock *c);
static inline void vclock_drop(struct vclock_pool *p, struct vclock *c) {
    if (c && !--((struct vclock_held *)c)->holders)
        vclock_over(p, c);
}
/* *to drops its clock and holds `c`. */
static inline void vclock_set(struct vclock_pool *p, struct vclock **to, struct vclock *c) {
    struct vclock *old = *to;
    *to = vclock_hold(c);
    vclock_drop(p, old);
}

/* Adds to *into what `from` knows. */
void vclock_join_other(struct vclock_pool *p, struct vclock **into, struct vclock *from);
static inline void vclock_join(struct vclock_pool *p, struct vclock **into, struct vclock *from) {
    if (from && *into != from)
        vclock_join_other(p, into, from);
}
/* If *from knows all that *into does, and more, it moves to *into; *from is NULL then. False: nothing was done. */
bool vclock_follows(struct vclock_pool *p, struct vclock **into, struct vclock **from);
/* What `c` knows, but for these lanes no more than it knows of all lanes of their warp. The caller holds the result,
 * which may be NULL. */
struct vclock *vclock_others(struct vclock_pool *p, struct vclock *c, uint32_t warp, uint32_t lanes);
/* Adds to *c the lanes of a warp up to `time`; the token up to `step`. */
void vclock_add_lanes(struct vclock_pool *p, struct vclock **c, uint32_t warp, uint32_t lanes, uint32_t time);
void vclock_add_token(struct vclock_pool *p, struct vclock **c, uint32_t token, uint32_t step);

/* A step: several clocks learn something, each once. Equal clocks that learn the same stay one clock, and the work is
 * done once. A step lives for one call in know.c. */
#define VCLOCK_ALIKE 8u
struct vclock_step {
    uint32_t warp, lanes, token; /* lanes of that warp, and the token, of which clocks may learn */
    uint32_t num;
    struct {
        const struct vclock *was, *from; /* a clock that learned from `from`, up to `time` and `step`, */
        struct vclock *is;               /* and what it became */
        uint32_t time, step;
    } alike[VCLOCK_ALIKE]; /* the first `num` are in use */
};
static inline void vclock_step_begin(struct vclock_step *s, uint32_t warp, uint32_t lanes, uint32_t token) {
    s->warp = warp;
    s->lanes = lanes;
    s->token = token;
    s->num = 0;
}
/* Adds to *into what `from` knows, the lanes of the step up to `time`, and its token up to `step`. NULL and 0 add
 * nothing. The caller holds each `from` until the step is over. */
void vclock_learn_other(struct vclock_pool *p, struct vclock_step *s, struct vclock **into, struct vclock *from,
                        uint32_t time, uint32_t step);
static inline void vclock_learn(struct vclock_pool *p, struct vclock_step *s, struct vclock **into, struct vclock *from,
                                uint32_t time, uint32_t step) {
    if (!*into && !time && !step)
        *into = vclock_hold(from);
    else if ((from && from != *into) || time || step)
        vclock_learn_other(p, s, into, from, time, step);
}

/* Does the clock know the lane's acts up to `time`? */
bool vclock_knows_lane(const struct vclock *c, uint32_t warp, uint32_t lane, uint32_t time);
/* The same for at least one of the lanes. */
bool vclock_knows_any(const struct vclock *c, uint32_t warp, uint32_t lanes, uint32_t time);
/* The time up to which the clock knows all lanes of the warp. */
uint32_t vclock_all_lanes(const struct vclock *c, uint32_t warp);
/* Does the clock know `step` steps of the token? */
bool vclock_knows_token(const struct vclock *c, uint32_t token, uint32_t step);
/* How many steps of the token the clock knows. */
uint32_t vclock_token(const struct vclock *c, uint32_t token);

/* Does `a` know something that `b` does not? */
bool vclock_exceeds(const struct vclock_pool *p, const struct vclock *a, const struct vclock *b);

/* What the clock knows of other clusters; NULL: nothing. */
struct far *vclock_far(const struct vclock *c);
/* A clock of p->far with what *c knows of its own cluster. */
struct vclock *vclock_export(struct vclock_pool *p, const struct vclock *c);
/* Adds to *into what `own`, a clock of p->far, knows of its own cluster, and what the set knows of the others. Each may
 * be NULL. */
void vclock_import(struct vclock_pool *p, struct vclock **into, const struct vclock *own, struct far *set);

#endif
