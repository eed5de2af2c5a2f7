/* check/vclock/join.c - compares and joins clocks and sets of clocks; contract in inside.h. */
#include "check/vclock/inside.h"

#include <string.h>

/* Four entries. They stay below 2^31, so they are compared as signed numbers: every host's vectors can do that. */
typedef int32_t four __attribute__((vector_size(4 * sizeof(int32_t)), aligned(sizeof(int32_t)), may_alias));

/* For each entry of a group: `a` is not zero if clock a exceeds clock b there, `b` if clock b exceeds clock a. Exists
 * during one comparison. */
struct excess {
    four a, b;
};

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* Does `a` know more of warp w than `b` does? */
static bool exceeds(const struct vclock *a, const struct vclock *b, uint32_t w) {
    struct lanes x, y;
    if (a->lane[w] != MANY && b->lane[w] != MANY) /* see compare_warps, which does this for four warps at once */
        return a->all[w] > b->all[w] || a->ahead[w] > (a->lane[w] == b->lane[w] ? b->ahead[w] : b->all[w]);
    vclock_unpack(a, w, &x);
    vclock_unpack(b, w, &y);
    bool more = false;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        more |= x.time[l] > y.time[l];
    return more;
}

/* Is an entry not zero? */
static bool any(four v) {
    uint64_t half[2];
    memcpy(half, &v, sizeof half);
    return half[0] | half[1];
}
static four at(const uint32_t *p) { return *(const four *)p; }
/* For each entry: a's if all bits of `which` are set there, b's if none are. */
static four choose(four which, four a, four b) { return (a & which) | (b & ~which); }
static four greater(four a, four b) { return choose(a > b, a, b); }
static four all_if(bool b) { return (four){0} - (int32_t)b; }

/* Adds to *e which clock exceeds the other in a token. Unused tokens are in step 0. */
static void compare_tokens(const struct vclock_pool *p, const struct vclock *a, const struct vclock *b,
                           struct excess *e) {
    const uint32_t both = a->tokens < b->tokens ? a->tokens : b->tokens, used = (p->tokens + GROUP - 1) & ~(GROUP - 1);
    four more_a = {0}, more_b = {0};
    for (uint32_t i = 0; i < (used < both ? used : both); i += GROUP) {
        more_a |= at(a->token + i) > at(b->token + i);
        more_b |= at(b->token + i) > at(a->token + i);
    }
    for (uint32_t i = both; i < a->tokens; i += GROUP)
        more_a |= at(a->token + i);
    for (uint32_t i = both; i < b->tokens; i += GROUP)
        more_b |= at(b->token + i);
    e->a |= more_a;
    e->b |= more_b;
}

/* The same for warps. If a lane is ahead of its warp, `ahead` is greater than `all`; if none is, it is 0. So the lane
 * is compared with the other clock's `ahead` if that is for the same lane, otherwise with its `all`. Warps in which
 * several lanes differ are compared lane by lane. */
static void compare_warps(const struct vclock *a, const struct vclock *b, uint32_t warps, struct excess *e) {
    const bool several = a->num_many || b->num_many;
    four more_a = {0}, more_b = {0};
    for (uint32_t w = 0; w < warps; w += GROUP) {
        const four lane_a = at(a->lane + w), lane_b = at(b->lane + w);
        if (several && any((lane_a == (int32_t)MANY) | (lane_b == (int32_t)MANY))) {
            for (uint32_t i = w; i < w + GROUP; i++) {
                more_a |= all_if(exceeds(a, b, i));
                more_b |= all_if(exceeds(b, a, i));
            }
            continue;
        }
        const four same = lane_a == lane_b, all_a = at(a->all + w), all_b = at(b->all + w);
        const four ahead_a = at(a->ahead + w), ahead_b = at(b->ahead + w);
        more_a |= (all_a > all_b) | (ahead_a > choose(same, ahead_b, all_b));
        more_b |= (all_b > all_a) | (ahead_b > choose(same, ahead_a, all_a));
    }
    e->a |= more_a;
    e->b |= more_b;
}

/* Does a know more than b somewhere, and b more than a? */
static void compare(const struct vclock_pool *p, const struct vclock *a, const struct vclock *b, bool *a_more,
                    bool *b_more) {
    struct excess e = {{0}, {0}};
    compare_tokens(p, a, b, &e);
    compare_warps(a, b, p->warps, &e);
    *a_more = any(e.a) || (a->far != b->far && far_exceeds(p->far, a->far, b->far));
    *b_more = any(e.b) || (a->far != b->far && far_exceeds(p->far, b->far, a->far));
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

/* Joins a warp lane by lane. */
static void join_warp(struct vclock *to, const struct vclock *from, uint32_t w) {
    struct lanes x, y;
    vclock_unpack(to, w, &x);
    vclock_unpack(from, w, &y);
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        x.time[l] = x.time[l] > y.time[l] ? x.time[l] : y.time[l];
    vclock_pack(to, w, &x);
}

/* Joins warps [w, w + GROUP). A lane is ahead afterwards if its time exceeds the joined time of all lanes. If two lanes
 * of a warp would be, the group is joined lane by lane. */
static void join_warps(struct vclock *to, const struct vclock *from, uint32_t w) {
    const four mine = at(to->lane + w), theirs = at(from->lane + w), all = greater(at(to->all + w), at(from->all + w));
    const four ahead = at(to->ahead + w), ahead_from = at(from->ahead + w);
    const four keep = ahead > all, come = ahead_from > all, many = (mine == (int32_t)MANY) | (theirs == (int32_t)MANY);
    if (any(many | (keep & come & (mine != theirs)))) {
        for (uint32_t i = w; i < w + GROUP; i++)
            join_warp(to, from, i);
        return;
    }
    const four take = come & (ahead_from > ahead), none = ~(keep | come);
    *(four *)(to->all + w) = all;
    *(four *)(to->ahead + w) = choose(take, ahead_from, ahead) & ~none;
    *(four *)(to->lane + w) = choose(take, theirs, mine) | none; /* `none`: all bits set, NO_LANE */
}

/* If one of the two knows all that the other does, *into becomes that one; only otherwise is a clock changed. */
void vclock_join_other(struct vclock_pool *p, struct vclock **into, struct vclock *from) {
    bool more, less;
    if (!*into) {
        *into = vclock_hold(from);
        return;
    }
    compare(p, *into, from, &more, &less);
    if (!less)
        return;
    if (!more) {
        vclock_set(p, into, from);
        return;
    }
    struct vclock *to = vclock_own(p, into);
    const uint32_t both = from->tokens < to->tokens ? from->tokens : to->tokens;
    for (uint32_t i = 0; i < both && i < p->tokens; i += GROUP)
        *(four *)(to->token + i) = greater(at(to->token + i), at(from->token + i));
    for (uint32_t w = 0; w < p->warps; w += GROUP)
        join_warps(to, from, w);
    if (to->far != from->far)
        far_join(p->far, &to->far, from->far);
}

/* Does `a` know no more than `b`? False also if that takes a closer look. */
static bool is_within(const struct vclock_pool *p, const struct vclock *a, const struct vclock *b) {
    if (a->num_many || b->num_many || a->far != b->far || a->tokens != b->tokens)
        return false;
    four more = {0};
    for (uint32_t i = 0; i < p->tokens; i += GROUP)
        more |= at(a->token + i) > at(b->token + i);
    for (uint32_t w = 0; w < p->warps; w += GROUP) {
        const four all_b = at(b->all + w), same = at(a->lane + w) == at(b->lane + w);
        more |= (at(a->all + w) > all_b) | (at(a->ahead + w) > choose(same, at(b->ahead + w), all_b));
    }
    return !any(more);
}

bool vclock_follows(struct vclock_pool *p, struct vclock **into, struct vclock *from) {
    const size_t entries = 3 * vclock_warps(p) + p->tokens;
    if (!from || *into == from || (*into && !is_within(p, *into, from)) ||
        (*into && memcmp((*into)->entries, from->entries, entries * sizeof *from->entries) == 0))
        return false;
    vclock_set(p, into, from);
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
