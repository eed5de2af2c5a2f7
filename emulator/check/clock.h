/* check/clock.h - vector clocks: what an agent of a cluster knows to have happened before it.
 *
 * Time is the cluster's count of events (struct race, check/race.h). A clock has an entry for each lane of each warp of
 * the cluster: accesses of that lane up to the time are ordered before whoever holds the clock. Lanes of a warp mostly
 * know and are known alike, so an entry is one time for all lanes and, where one lane is further, a second for that
 * one; only where several differ are there 32. It also has an entry for each token: a thing that completes in steps, as
 * the phases of an mbarrier or the tcgen05 operations of a thread, which it counts.
 *
 * Of other clusters a clock knows what came through global memory: a set of clocks of theirs (check/far.h), mostly
 * none.
 *
 * Clocks are shared: many hold one, none changes one that another holds. NULL is the clock that knows nothing.
 */
#ifndef CHECK_CLOCK_H
#define CHECK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_LANES 32u

struct clock;
struct far;

/* What the clocks of a cluster have in common; one host thread uses them at a time. */
struct clock_pool {
    uint32_t warps;         /* of the cluster */
    uint32_t tokens, room;  /* in use; a new clock has room for so many */
    uint32_t exists_last;   /* lanes that the last warp of each CTA has, */
    uint32_t warps_each;    /*  which has so many warps */
    struct clock *free;     /* to be used again */
    struct clocks *made;    /* what they all lie in */
    struct clock_pool *far; /* of the clocks in sets of other clusters' */
};

void clock_pool_init(struct clock_pool *p, uint32_t ctas, uint32_t threads_each);
void clock_pool_close(struct clock_pool *p);
/* A new token, in step 0. */
uint32_t clock_new_token(struct clock_pool *p);

/* One holder more, and one fewer. */
struct clock *clock_hold(struct clock *c);
void clock_drop(struct clock_pool *p, struct clock *c);
/* *to holds `c` in place of what it held. */
void clock_set(struct clock_pool *p, struct clock **to, struct clock *c);

/* *into knows what `from` knows, too. */
void clock_join(struct clock_pool *p, struct clock **into, struct clock *from);
/* What `c` knows, but of these lanes no more than of all of their warp: a clock that the caller holds, or NULL. */
struct clock *clock_others(struct clock_pool *p, struct clock *c, uint32_t warp, uint32_t lanes);
/* *c knows the lanes of a warp up to `time`, the token up to `step`. */
void clock_add_lanes(struct clock_pool *p, struct clock **c, uint32_t warp, uint32_t lanes, uint32_t time);
void clock_add_token(struct clock_pool *p, struct clock **c, uint32_t token, uint32_t step);

/* One step that several clocks take, each once. Those that were one and learn the same are one afterwards, for the work
 * of one. */
#define CLOCK_ALIKE 8u
struct clock_step {
    uint32_t warp, lanes, token;
    uint32_t num;
    struct {
        const struct clock *was, *from;
        struct clock *is;
        uint32_t time, step;
    } alike[CLOCK_ALIKE];
};
static inline void clock_step_begin(struct clock_step *s, uint32_t warp, uint32_t lanes, uint32_t token) {
    s->warp = warp;
    s->lanes = lanes;
    s->token = token;
    s->num = 0;
}
/* *into knows what `from` knows, the lanes of the step up to `time` and its token up to `step`; each may be nothing. */
void clock_learn(struct clock_pool *p, struct clock_step *s, struct clock **into, struct clock *from, uint32_t time,
                 uint32_t step);

bool clock_knows_lane(const struct clock *c, uint32_t warp, uint32_t lane, uint32_t time);
/* One of the lanes. */
bool clock_knows_any(const struct clock *c, uint32_t warp, uint32_t lanes, uint32_t time);
/* All lanes of the warp are known up to then. */
uint32_t clock_all_lanes(const struct clock *c, uint32_t warp);
bool clock_knows_token(const struct clock *c, uint32_t token, uint32_t step);
/* How far it knows the token. */
uint32_t clock_token(const struct clock *c, uint32_t token);

/* Does `a` know something that `b` does not? */
bool clock_exceeds(const struct clock_pool *p, const struct clock *a, const struct clock *b);

/* What it knows of other clusters; NULL: nothing. */
struct far *clock_far(const struct clock *c);
/* What *c knows of its own cluster, as a clock of p->far. */
struct clock *clock_export(struct clock_pool *p, const struct clock *c);
/* *into knows what `own`, a clock of p->far, says of its cluster, and of others the set. Each may be NULL. */
void clock_import(struct clock_pool *p, struct clock **into, const struct clock *own, struct far *set);

#endif
