/* check/vclock/join.c - compares and joins clocks and sets of clocks; contract in inside.h. */
#include "check/vclock/inside.h"

#include <string.h>

/* --- warps lane by lane ------------------------------------------------------------------------------------------- */

/* Does `a` know more of warp w than `b` does? */
static bool exceeds(const struct vclock *a, const struct vclock *b, uint32_t w) {
    struct lanes x, y;
    if (a->lane[w] != MANY && b->lane[w] != MANY) /* see compare, which does this for several warps at once */
        return a->all[w] > b->all[w] || a->ahead[w] > (a->lane[w] == b->lane[w] ? b->ahead[w] : b->all[w]);
    vclock_unpack(a, w, &x);
    vclock_unpack(b, w, &y);
    bool more = false;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        more |= x.time[l] > y.time[l];
    return more;
}

/* Joins a warp lane by lane. */
static void join_warp(struct vclock *to, const struct vclock *from, uint32_t w) {
    struct lanes x, y;
    vclock_unpack(to, w, &x);
    vclock_unpack(from, w, &y);
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        x.time[l] = x.time[l] > y.time[l] ? x.time[l] : y.time[l];
    vclock_pack(to, w, &x);
}

/* --- many at once ------------------------------------------------------------------------------------------------- */

#define STEP 4
#define NAMED(name) name##_4
#define UNIT
#include "check/vclock/loops.def"

#if defined(__x86_64__)
typedef long long vec_of_long __attribute__((vector_size(32)));
#define STEP 8
#define NAMED(name) name##_8
#define UNIT __attribute__((target("avx2")))
#include "check/vclock/loops.def"
#define FOR_HOST(p, name) ((p)->wide ? name##_8 : name##_4)
#else
#define FOR_HOST(p, name) name##_4
#endif

/* Does a know more than b somewhere, and b more than a? */
static void compare(const struct vclock_pool *p, const struct vclock *a, const struct vclock *b, bool *a_more,
                    bool *b_more) {
    FOR_HOST(p, compare)(p, a, b, a_more, b_more);
    if (a->far == b->far)
        return;
    *a_more = *a_more || far_exceeds(p->far, a->far, b->far);
    *b_more = *b_more || far_exceeds(p->far, b->far, a->far);
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

/* Fast path of join: compares the two clocks and writes their join in one go. False: nothing was done. */
static inline bool join_new(struct vclock_pool *p, struct vclock **into, struct vclock *from) {
    bool more, less;
    struct vclock *old = *into, *both;
    if (old->far != from->far || old->tokens != p->room || from->tokens != p->room)
        return false;
    both = vclock_spare(p);
    if (!FOR_HOST(p, merge)(p, both, old, from, &more, &less))
        return false;
    if (!less)
        return true;
    if (more) {
        *into = vclock_take(p);
        both->far = far_hold(old->far);
    } else {
        *into = vclock_hold(from);
    }
    vclock_drop(p, old);
    return true;
}

static void join_slowly(struct vclock_pool *p, struct vclock **into, struct vclock *from) {
    bool more, less;
    compare(p, *into, from, &more, &less);
    if (!less)
        return;
    if (!more) {
        vclock_set(p, into, from);
        return;
    }
    struct vclock *to = vclock_own(p, into);
    FOR_HOST(p, join)(p, to, from);
    if (to->far != from->far)
        far_join(p->far, &to->far, from->far);
}

/* If one of the two knows all that the other does, *into becomes that one. */
static inline void join(struct vclock_pool *p, struct vclock **into, struct vclock *from) {
    if (!*into) {
        *into = vclock_hold(from);
    } else if (!join_new(p, into, from)) {
        join_slowly(p, into, from);
    }
}

void vclock_join_other(struct vclock_pool *p, struct vclock **into, struct vclock *from) { join(p, into, from); }

/* The step's table `alike` finds clocks that learn the same. Nothing holds the clocks that it points to, but this is
 * safe: *into is held, so it is none of the freed clocks in `was`. If it is also in `is`, it has two holders, so it is
 * copied before it learns, and the table stays right. */
void vclock_learn_other(struct vclock_pool *p, struct vclock_step *s, struct vclock **into, struct vclock *from,
                        uint32_t time, uint32_t step) {
    const struct vclock *was = *into;
    for (uint32_t i = 0; i < s->num; i++)
        if (s->alike[i].was == was && s->alike[i].from == from && s->alike[i].time == time &&
            s->alike[i].step == step) {
            vclock_set(p, into, s->alike[i].is);
            return;
        }
    if (from && from != was)
        join(p, into, from);
    if (time)
        vclock_add_lanes(p, into, s->warp, s->lanes, time);
    if (step)
        vclock_add_token(p, into, s->token, step);
    if (s->num == VCLOCK_ALIKE)
        return;
    s->alike[s->num].was = was;
    s->alike[s->num].from = from;
    s->alike[s->num].is = *into;
    s->alike[s->num].time = time;
    s->alike[s->num++].step = step;
}

bool vclock_follows(struct vclock_pool *p, struct vclock **into, struct vclock **from) {
    struct vclock *old = *into, *new = *from;
    if (!new || old == new ||
        (old && (old->num_many || new->num_many || old->far != new->far || old->tokens != new->tokens ||
                 !FOR_HOST(p, precedes)(p, old, new))))
        return false;
    *into = new;
    *from = NULL;
    vclock_drop(p, old);
    return true;
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

bool vclock_exceeds(const struct vclock_pool *p, const struct vclock *a, const struct vclock *b) {
    bool more = a && !b, less;
    if (a && b && a != b)
        compare(p, a, b, &more, &less);
    return more;
}

bool far_exceeds(struct vclock_pool *pool, const struct far *a, const struct far *b) {
    if (a == b || !a)
        return false;
    if (!b)
        return true;
    if (a->level < b->level)
        return far_exceeds(pool, a, b->of.far[0]);
    bool more = false;
    for (uint32_t i = 0; i < CHILDREN && !more; i++)
        if (a->level > b->level)
            more = far_exceeds(pool, a->of.far[i], i ? NULL : b);
        else if (a->level)
            more = far_exceeds(pool, a->of.far[i], b->of.far[i]);
        else
            more = vclock_exceeds(pool, a->of.clock[i], b->of.clock[i]);
    return more;
}

/* --- sets --------------------------------------------------------------------------------------------------------- */

/* As vclock_join_other. If the two know the same, *into also becomes `from`: equal sets become one, which saves memory
 * and later comparisons. */
void far_join(struct vclock_pool *pool, struct far **into, struct far *from) {
    const bool news = far_exceeds(pool, from, *into);
    if (*into == from || (!news && far_exceeds(pool, *into, from)))
        return;
    if (!news || !*into || !far_exceeds(pool, *into, from)) {
        struct far *old = *into;
        *into = far_hold(from);
        far_drop(pool, old);
        return;
    }
    while ((*into)->level < from->level)
        far_raise(pool, into);
    struct far *to = far_own(pool, into);
    if (to->level > from->level) {
        far_join(pool, &to->of.far[0], from);
        return;
    }
    for (uint32_t i = 0; i < CHILDREN; i++)
        if (to->level)
            far_join(pool, &to->of.far[i], from->of.far[i]);
        else
            vclock_join(pool, &to->of.clock[i], from->of.clock[i]);
}
