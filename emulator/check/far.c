/* check/far.c - sets of clocks of other clusters; contract in far.h.
 *
 * A set is a tree by the digits of the clusters' numbers. Sets share the parts that they have in common, so that a grid
 * in which each cluster learns of all before it, by a counter, takes neither their memory nor their time each time.
 */
#include "check/far.h"

#include "base/heap.h"

#include <string.h>

#define DIGIT 4u
#define CHILDREN (1u << DIGIT)

/* Clusters from 0 to 16^(level + 1) - 1. */
struct far {
    uint32_t holders, level;
    union {
        struct far *far[CHILDREN];     /* of the level below; */
        struct clock *clock[CHILDREN]; /* at level 0 */
    } of;
};

static uint32_t digit(uint32_t cluster, uint32_t level) { return cluster >> level * DIGIT & (CHILDREN - 1); }

static bool is_within(const struct far *f, uint32_t cluster) {
    return (uint64_t)cluster >> (f->level + 1) * DIGIT == 0;
}

/* --- holders ------------------------------------------------------------------------------------------------------ */

struct far *far_hold(struct far *f) {
    if (f)
        f->holders++;
    return f;
}

void far_drop(struct clock_pool *pool, struct far *f) {
    if (!f || --f->holders)
        return;
    for (uint32_t i = 0; i < CHILDREN; i++)
        if (f->level)
            far_drop(pool, f->of.far[i]);
        else
            clock_drop(pool, f->of.clock[i]);
    xfree(f);
}

static struct far *new_far(uint32_t level) {
    struct far *f = xcalloc(1, sizeof *f);
    f->holders = 1;
    f->level = level;
    return f;
}

/* A set that *f alone holds. */
static struct far *own(struct clock_pool *pool, struct far **f) {
    struct far *old = *f;
    if (old->holders == 1)
        return old;
    struct far *mine = new_far(old->level);
    for (uint32_t i = 0; i < CHILDREN; i++)
        if (old->level)
            mine->of.far[i] = far_hold(old->of.far[i]);
        else
            mine->of.clock[i] = clock_hold(old->of.clock[i]);
    far_drop(pool, old);
    return *f = mine;
}

/* One level more. */
static void raise(struct far **f) {
    struct far *top = new_far((*f)->level + 1);
    top->of.far[0] = *f;
    *f = top;
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

struct clock *far_of(const struct far *f, uint32_t cluster) {
    if (f && !is_within(f, cluster))
        return NULL;
    for (; f && f->level; f = f->of.far[digit(cluster, f->level)])
        ;
    return f ? f->of.clock[digit(cluster, 0)] : NULL;
}

bool far_exceeds(struct clock_pool *pool, const struct far *a, const struct far *b) {
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
            more = clock_exceeds(pool, a->of.clock[i], b->of.clock[i]);
    return more;
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

void far_join(struct clock_pool *pool, struct far **into, struct far *from) {
    const bool news = far_exceeds(pool, from, *into);
    if (*into == from || (!news && far_exceeds(pool, *into, from)))
        return;
    if (!news || !*into || !far_exceeds(pool, *into, from)) { /* equal ones become one, too */
        struct far *old = *into;
        *into = far_hold(from);
        far_drop(pool, old);
        return;
    }
    while ((*into)->level < from->level)
        raise(into);
    struct far *to = own(pool, into);
    if (to->level > from->level) {
        far_join(pool, &to->of.far[0], from);
        return;
    }
    for (uint32_t i = 0; i < CHILDREN; i++)
        if (to->level)
            far_join(pool, &to->of.far[i], from->of.far[i]);
        else
            clock_join(pool, &to->of.clock[i], from->of.clock[i]);
}

void far_add(struct clock_pool *pool, struct far **into, uint32_t cluster, struct clock *c) {
    if (!c || !clock_exceeds(pool, c, far_of(*into, cluster)))
        return;
    if (!*into)
        *into = new_far(0);
    while (!is_within(*into, cluster))
        raise(into);
    struct far *to = own(pool, into);
    while (to->level) {
        struct far **below = &to->of.far[digit(cluster, to->level)];
        if (!*below)
            *below = new_far(to->level - 1);
        to = own(pool, below);
    }
    clock_join(pool, &to->of.clock[digit(cluster, 0)], c);
}
