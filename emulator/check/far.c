/* check/far.c - sets of clocks of other clusters; contract in far.h. */
#include "check/far.h"

#include "base/heap.h"

#include <string.h>

struct far {
    uint32_t holders, num, cap;
    struct item {
        uint32_t cluster;
        struct clock *clock;
    } * item; /* ascending */
};

struct far *far_hold(struct far *f) {
    if (f)
        f->holders++;
    return f;
}

void far_drop(struct clock_pool *pool, struct far *f) {
    if (!f || --f->holders)
        return;
    for (uint32_t i = 0; i < f->num; i++)
        clock_drop(pool, f->item[i].clock);
    xfree(f->item);
    xfree(f);
}

/* Where the cluster is, or would be. */
static uint32_t place_of(const struct far *f, uint32_t cluster) {
    uint32_t low = 0, high = f->num;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (f->item[middle].cluster < cluster)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct clock *far_of(const struct far *f, uint32_t cluster) {
    const uint32_t i = f ? place_of(f, cluster) : 0;
    return f && i < f->num && f->item[i].cluster == cluster ? f->item[i].clock : NULL;
}

bool far_exceeds(struct clock_pool *pool, const struct far *a, const struct far *b) {
    if (a == b || !a)
        return false;
    if (!b || a->num > b->num)
        return true;
    for (uint32_t i = 0; i < a->num; i++)
        if (clock_exceeds(pool, a->item[i].clock, far_of(b, a->item[i].cluster)))
            return true;
    return false;
}

/* A set that *f alone holds. */
static struct far *own(struct clock_pool *pool, struct far **f) {
    struct far *old = *f;
    if (old && old->holders == 1)
        return old;
    struct far *mine = xcalloc(1, sizeof *mine);
    mine->holders = 1;
    if (old) {
        mine->num = mine->cap = old->num;
        mine->item = xrealloc_array(NULL, old->num, sizeof *mine->item);
        memcpy(mine->item, old->item, old->num * sizeof *mine->item);
        for (uint32_t i = 0; i < mine->num; i++)
            clock_hold(mine->item[i].clock);
        far_drop(pool, old);
    }
    return *f = mine;
}

void far_add(struct clock_pool *pool, struct far **into, uint32_t cluster, struct clock *c) {
    if (!c || !clock_exceeds(pool, c, far_of(*into, cluster)))
        return;
    struct far *to = own(pool, into);
    const uint32_t i = place_of(to, cluster);
    if (i == to->num || to->item[i].cluster != cluster) {
        to->item = xgrow(to->item, to->num, &to->cap, sizeof *to->item);
        memmove(&to->item[i + 1], &to->item[i], (to->num - i) * sizeof *to->item);
        to->item[i] = (struct item){cluster, NULL};
        to->num++;
    }
    clock_join(pool, &to->item[i].clock, c);
}

void far_join(struct clock_pool *pool, struct far **into, struct far *from) {
    if (!from || *into == from)
        return;
    if (!far_exceeds(pool, *into, from)) {
        struct far *old = *into;
        *into = far_hold(from);
        far_drop(pool, old);
        return;
    }
    for (uint32_t i = 0; i < from->num; i++)
        far_add(pool, into, from->item[i].cluster, from->item[i].clock);
}
