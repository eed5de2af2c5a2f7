/* check/vclock/far.c - reads and changes the contents of a set of clocks, and what a clock knows of other clusters;
 * contract in far.h and vclock.h. */
#include "check/vclock/inside.h"

/* The digit of a cluster's number that chooses the child at that level. */
static uint32_t digit(uint32_t cluster, uint32_t level) { return cluster >> level * DIGIT & (CHILDREN - 1); }

/* Has the set, as high as it is, a place for the cluster? */
static bool is_within(const struct far *f, uint32_t cluster) {
    return (uint64_t)cluster >> (f->level + 1) * DIGIT == 0;
}

struct vclock *far_of(const struct far *f, uint32_t cluster) {
    if (f && !is_within(f, cluster))
        return NULL;
    for (; f && f->level; f = f->of.far[digit(cluster, f->level)])
        ;
    return f ? f->of.clock[digit(cluster, 0)] : NULL;
}

void far_add(struct vclock_pool *pool, struct far **into, uint32_t cluster, struct vclock *c) {
    if (!c || !vclock_exceeds(pool, c, far_of(*into, cluster)))
        return;
    if (!*into)
        *into = far_new(pool, 0);
    while (!is_within(*into, cluster))
        far_raise(pool, into);
    struct far *to = far_own(pool, into);
    while (to->level) {
        struct far **below = &to->of.far[digit(cluster, to->level)];
        if (!*below)
            *below = far_new(pool, to->level - 1);
        to = far_own(pool, below);
    }
    vclock_join(pool, &to->of.clock[digit(cluster, 0)], c);
}

/* --- clocks of other clusters ------------------------------------------------------------------------------------- */

struct far *vclock_far(const struct vclock *c) {
    return c ? c->far : NULL;
}

struct vclock *vclock_export(struct vclock_pool *p, const struct vclock *c) {
    struct vclock_pool *far = p->far;
    if (p->tokens > far->room) {
        while (far->room < p->tokens)
            far->room *= 2;
        far->free = NULL;
    }
    far->tokens = far->room; /* so a join has room for both */
    struct vclock *mine = vclock_new(far);
    vclock_copy(p, mine, c);
    return mine;
}

void vclock_import(struct vclock_pool *p, struct vclock **into, const struct vclock *own, struct far *set) {
    if ((!own && !set) || (*into && (*into)->far == set && !vclock_exceeds(p, own, *into)))
        return;
    struct vclock *c = vclock_new(p);
    if (own)
        vclock_copy(p, c, own);
    c->far = far_hold(set);
    vclock_join(p, into, c);
    vclock_drop(p, c);
}
