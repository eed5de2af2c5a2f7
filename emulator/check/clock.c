/* check/clock.c - vector clocks; contract in clock.h. */
#include "check/clock.h"

#include "base/heap.h"
#include "check/far.h"

#include <string.h>

#define MADE_AT_ONCE 16u
#define ALIGN 16u
#define GROUP 4u /* entries that are compared at once: a clock has room for a multiple */
#define NO_LANE UINT32_MAX
#define MANY CLOCK_LANES

/* Entries stay below 2^31, so that they compare as signed numbers, which every host's vectors can. */
typedef int32_t four __attribute__((vector_size(4 * sizeof(int32_t)), aligned(sizeof(int32_t)), may_alias));

/* Of each place of a run of entries, not zero where one clock exceeds the other. */
struct excess {
    four a, b;
};

struct lanes {
    uint32_t time[CLOCK_LANES];
};

/* Of warp w all lanes are known up to all[w]; lane[w] up to ahead[w], or, where that is MANY, each up to
 * many[ahead[w]]. */
struct clock {
    uint32_t holders;
    uint32_t tokens; /* that it has room for */
    uint32_t num_many;
    struct lanes *many;
    struct clock *next; /* in pool->free */
    struct far *far;
    uint32_t *all, *ahead, *lane, *token; /* one behind another: entries */
    uint32_t entries[];
};

/* Clocks in one piece of memory. */
struct clocks {
    struct clocks *next;
    _Alignas(ALIGN) uint8_t memory[];
};

/* --- memory ------------------------------------------------------------------------------------------------------- */

void clock_pool_init(struct clock_pool *p, uint32_t ctas, uint32_t threads_each) {
    const uint32_t warps = (threads_each + CLOCK_LANES - 1) / CLOCK_LANES, last = threads_each % CLOCK_LANES;
    *p = (struct clock_pool){
        .warps = ctas * warps, .room = 64, .warps_each = warps, .exists_last = last ? (1u << last) - 1 : UINT32_MAX};
}

void clock_pool_close(struct clock_pool *p) {
    for (struct clocks *m = p->made, *next; m; m = next) {
        next = m->next;
        xfree(m);
    }
    p->made = NULL;
    p->free = NULL;
}

uint32_t clock_new_token(struct clock_pool *p) {
    if (p->tokens == p->room) {
        p->room *= 2;
        p->free = NULL; /* too small from now on */
    }
    return p->tokens++;
}

static uint32_t groups(const struct clock_pool *p) { return (p->warps + GROUP - 1) / GROUP; }

/* Makes clocks, MADE_AT_ONCE of them. */
static void make(struct clock_pool *p) {
    const size_t warps = (size_t)groups(p) * GROUP, entries = 3 * warps + p->room;
    const size_t each = (sizeof(struct clock) + entries * sizeof(uint32_t) + ALIGN - 1) & ~(ALIGN - 1);
    struct clocks *m = xrealloc_array(NULL, 1, sizeof *m + MADE_AT_ONCE * each);
    m->next = p->made;
    p->made = m;
    for (uint32_t i = 0; i < MADE_AT_ONCE; i++) {
        struct clock *c = (struct clock *)(m->memory + i * each);
        *c = (struct clock){.tokens = p->room, .next = p->free};
        c->all = c->entries;
        c->ahead = c->all + warps;
        c->lane = c->ahead + warps;
        c->token = c->lane + warps;
        p->free = c;
    }
}

/* Its content is not set. */
static struct clock *new_clock(struct clock_pool *p) {
    if (!p->free)
        make(p);
    struct clock *c = p->free;
    p->free = c->next;
    c->holders = 1;
    return c;
}

static struct clock *new_empty(struct clock_pool *p) {
    struct clock *c = new_clock(p);
    const size_t warps = (size_t)groups(p) * GROUP;
    memset(c->entries, 0, (3 * warps + c->tokens) * sizeof *c->entries);
    for (size_t w = 0; w < warps; w++)
        c->lane[w] = NO_LANE;
    return c;
}

struct clock *clock_hold(struct clock *c) {
    if (c)
        c->holders++;
    return c;
}

void clock_drop(struct clock_pool *p, struct clock *c) {
    if (!c || --c->holders)
        return;
    xfree(c->many);
    c->many = NULL;
    c->num_many = 0;
    far_drop(p->far, c->far);
    c->far = NULL;
    if (c->tokens != p->room) /* too small */
        return;
    c->next = p->free;
    p->free = c;
}

void clock_set(struct clock_pool *p, struct clock **to, struct clock *c) {
    struct clock *old = *to;
    *to = clock_hold(c);
    clock_drop(p, old);
}

/* A clock that *c alone holds, with room for all tokens. */
static struct clock *own(struct clock_pool *p, struct clock **c) {
    struct clock *old = *c;
    if (!old)
        return *c = new_empty(p);
    if (old->holders == 1 && old->tokens >= p->tokens)
        return old;
    struct clock *mine = new_clock(p);
    memcpy(mine->entries, old->entries, (3 * (size_t)groups(p) * GROUP + old->tokens) * sizeof *mine->entries);
    memset(mine->token + old->tokens, 0, (mine->tokens - old->tokens) * sizeof *mine->token);
    if (old->num_many) {
        mine->many = xrealloc_array(NULL, old->num_many, sizeof *mine->many);
        memcpy(mine->many, old->many, old->num_many * sizeof *mine->many);
        mine->num_many = old->num_many;
    }
    mine->far = far_hold(old->far);
    clock_drop(p, old);
    return *c = mine;
}

/* --- entries of warps --------------------------------------------------------------------------------------------- */

static void unpack(const struct clock *c, uint32_t w, struct lanes *out) {
    if (c->lane[w] == MANY) {
        *out = c->many[c->ahead[w]];
        return;
    }
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        out->time[l] = c->all[w];
    if (c->lane[w] != NO_LANE)
        out->time[c->lane[w]] = c->ahead[w];
}

static void pack(struct clock *c, uint32_t w, const struct lanes *t) {
    uint32_t least = UINT32_MAX, most = 0, further = 0, lane = 0;
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        least = t->time[l] < least ? t->time[l] : least;
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        if (t->time[l] > least) {
            further++;
            lane = l;
            most = t->time[l];
        }
    c->all[w] = least;
    if (further <= 1) {
        c->lane[w] = further ? lane : NO_LANE;
        c->ahead[w] = most;
        return;
    }
    if (c->lane[w] != MANY) {
        c->many = xrealloc_array(c->many, c->num_many + 1, sizeof *c->many);
        c->ahead[w] = c->num_many++;
        c->lane[w] = MANY;
    }
    c->many[c->ahead[w]] = *t;
}

/* Does `a` know something of warp w that `b` does not? */
static bool exceeds(const struct clock *a, const struct clock *b, uint32_t w) {
    struct lanes x, y;
    if (a->lane[w] != MANY && b->lane[w] != MANY) /* as in compare_warps */
        return a->all[w] > b->all[w] || a->ahead[w] > (a->lane[w] == b->lane[w] ? b->ahead[w] : b->all[w]);
    unpack(a, w, &x);
    unpack(b, w, &y);
    bool more = false;
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        more |= x.time[l] > y.time[l];
    return more;
}

static bool any(four v) {
    uint64_t half[2];
    memcpy(half, &v, sizeof half);
    return half[0] | half[1];
}
static four at(const uint32_t *p) { return *(const four *)p; }
static four choose(four which, four a, four b) { return (a & which) | (b & ~which); }
static four greater(four a, four b) { return choose(a > b, a, b); }
static four all_if(bool b) { return (four){0} - (int32_t)b; }

/* --- clocks as a whole -------------------------------------------------------------------------------------------- */

/* Does a exceed b somewhere, and b a? Tokens that are not in use are in step 0. */
static void compare_tokens(const struct clock_pool *p, const struct clock *a, const struct clock *b, struct excess *e) {
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

/* One of a warp's lanes that is ahead exceeds what the other clock has for that lane: its own time ahead, or that of
 * all. */
static void compare_warps(const struct clock *a, const struct clock *b, uint32_t warps, struct excess *e) {
    four more_a = {0}, more_b = {0};
    for (uint32_t w = 0; w < warps; w += GROUP) {
        const four same = at(a->lane + w) == at(b->lane + w), all_a = at(a->all + w), all_b = at(b->all + w);
        const four ahead_a = at(a->ahead + w), ahead_b = at(b->ahead + w);
        more_a |= (all_a > all_b) | (ahead_a > choose(same, ahead_b, all_b));
        more_b |= (all_b > all_a) | (ahead_b > choose(same, ahead_a, all_a));
    }
    e->a |= more_a;
    e->b |= more_b;
}

/* The same where some warp's lanes may differ. */
static void compare_lanes(const struct clock *a, const struct clock *b, uint32_t warps, struct excess *e) {
    for (uint32_t w = 0; w < warps; w++) {
        e->a |= all_if(exceeds(a, b, w));
        e->b |= all_if(exceeds(b, a, w));
    }
}

/* Does either of a and b know what the other does not? */
static void compare(const struct clock_pool *p, const struct clock *a, const struct clock *b, bool *a_more,
                    bool *b_more) {
    struct excess e = {{0}, {0}};
    compare_tokens(p, a, b, &e);
    if (a->num_many || b->num_many)
        compare_lanes(a, b, p->warps, &e);
    else
        compare_warps(a, b, p->warps, &e);
    *a_more = any(e.a) || (a->far != b->far && far_exceeds(p->far, a->far, b->far));
    *b_more = any(e.b) || (a->far != b->far && far_exceeds(p->far, b->far, a->far));
}

static void join_warp(struct clock *to, const struct clock *from, uint32_t w) {
    struct lanes x, y;
    unpack(to, w, &x);
    unpack(from, w, &y);
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        x.time[l] = x.time[l] > y.time[l] ? x.time[l] : y.time[l];
    pack(to, w, &x);
}

/* Of the warps [w, w + GROUP). A lane stays ahead where its time exceeds what all lanes have come to. */
static void join_warps(struct clock *to, const struct clock *from, uint32_t w) {
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
    *(four *)(to->lane + w) = choose(take, theirs, mine) | none; /* NO_LANE */
}

void clock_join(struct clock_pool *p, struct clock **into, struct clock *from) {
    bool more, less;
    if (!from || *into == from)
        return;
    if (!*into) {
        *into = clock_hold(from);
        return;
    }
    compare(p, *into, from, &more, &less);
    if (!less)
        return;
    if (!more) {
        clock_set(p, into, from);
        return;
    }
    struct clock *to = own(p, into);
    const uint32_t both = from->tokens < to->tokens ? from->tokens : to->tokens;
    for (uint32_t i = 0; i < both && i < p->tokens; i += GROUP)
        *(four *)(to->token + i) = greater(at(to->token + i), at(from->token + i));
    for (uint32_t w = 0; w < p->warps; w += GROUP)
        join_warps(to, from, w);
    if (to->far != from->far)
        far_join(p->far, &to->far, from->far);
}

struct clock *clock_others(struct clock_pool *p, struct clock *c, uint32_t warp, uint32_t lanes) {
    struct clock *others = clock_hold(c);
    struct lanes t;
    if (!c || c->lane[warp] == NO_LANE || (c->lane[warp] != MANY && !(lanes >> c->lane[warp] & 1)))
        return others;
    unpack(c, warp, &t);
    for (uint32_t m = lanes; m; m &= m - 1)
        t.time[__builtin_ctz(m)] = c->all[warp];
    pack(own(p, &others), warp, &t);
    return others;
}

/* --- single entries ----------------------------------------------------------------------------------------------- */

void clock_add_lanes(struct clock_pool *p, struct clock **c, uint32_t warp, uint32_t lanes, uint32_t time) {
    const uint32_t exists = warp % p->warps_each == p->warps_each - 1 ? p->exists_last : UINT32_MAX;
    struct clock *to = own(p, c);
    struct lanes t;
    if (!(exists & ~lanes) && to->lane[warp] != MANY && time >= to->all[warp] && time >= to->ahead[warp]) {
        to->all[warp] = time;
        to->ahead[warp] = 0;
        to->lane[warp] = NO_LANE;
        return;
    }
    if (!(lanes & (lanes - 1)) && (exists & ~lanes) && time > to->all[warp] &&
        (to->lane[warp] == NO_LANE ||
         to->lane[warp] == (uint32_t)__builtin_ctz(lanes))) { /* one lane, as mostly the same one */
        to->lane[warp] = (uint32_t)__builtin_ctz(lanes);
        to->ahead[warp] = time > to->ahead[warp] ? time : to->ahead[warp];
        return;
    }
    unpack(to, warp, &t);
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        if ((lanes | ~exists) >> l & 1 && t.time[l] < time)
            t.time[l] = time;
    pack(to, warp, &t);
}

void clock_add_token(struct clock_pool *p, struct clock **c, uint32_t token, uint32_t step) {
    if (clock_token(*c, token) < step)
        own(p, c)->token[token] = step;
}

/* --- many at once ------------------------------------------------------------------------------------------------- */

/* A clock that is still to take the step is held, so that what another was, and has been let go of, is none of those;
 * and what another is now is not changed by it, which would be one that both hold. */
void clock_learn(struct clock_pool *p, struct clock_step *s, struct clock **into, struct clock *from, uint32_t time,
                 uint32_t step) {
    const struct clock *was = *into;
    if ((!from || from == was) && !time && !step)
        return;
    for (uint32_t i = 0; i < s->num; i++)
        if (s->alike[i].was == was && s->alike[i].from == from && s->alike[i].time == time &&
            s->alike[i].step == step) {
            clock_set(p, into, s->alike[i].is);
            return;
        }
    clock_join(p, into, from);
    if (time)
        clock_add_lanes(p, into, s->warp, s->lanes, time);
    if (step)
        clock_add_token(p, into, s->token, step);
    if (s->num == CLOCK_ALIKE)
        return;
    s->alike[s->num].was = was;
    s->alike[s->num].from = from;
    s->alike[s->num].is = *into;
    s->alike[s->num].time = time;
    s->alike[s->num++].step = step;
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

bool clock_knows_lane(const struct clock *c, uint32_t warp, uint32_t lane, uint32_t time) {
    if (!c)
        return time == 0;
    if (time <= c->all[warp])
        return true;
    if (c->lane[warp] == MANY)
        return time <= c->many[c->ahead[warp]].time[lane];
    return c->lane[warp] == lane && time <= c->ahead[warp];
}

bool clock_knows_any(const struct clock *c, uint32_t warp, uint32_t lanes, uint32_t time) {
    for (; lanes; lanes &= lanes - 1)
        if (clock_knows_lane(c, warp, (uint32_t)__builtin_ctz(lanes), time))
            return true;
    return false;
}

uint32_t clock_all_lanes(const struct clock *c, uint32_t warp) { return c ? c->all[warp] : 0; }

uint32_t clock_token(const struct clock *c, uint32_t token) { return c && token < c->tokens ? c->token[token] : 0; }

bool clock_knows_token(const struct clock *c, uint32_t token, uint32_t step) { return clock_token(c, token) >= step; }

/* --- other clusters ----------------------------------------------------------------------------------------------- */

bool clock_exceeds(const struct clock_pool *p, const struct clock *a, const struct clock *b) {
    bool more = a && !b, less;
    if (a && b && a != b)
        compare(p, a, b, &more, &less);
    return more;
}

struct far *clock_far(const struct clock *c) {
    return c ? c->far : NULL;
}

/* Makes `to`, which knows nothing, know what `from` knows of its own cluster. */
static void copy_own(const struct clock_pool *p, struct clock *to, const struct clock *from) {
    const size_t warps = (size_t)groups(p) * GROUP;
    const uint32_t both = from->tokens < to->tokens ? from->tokens : to->tokens;
    memcpy(to->entries, from->entries, 3 * warps * sizeof *to->entries);
    memcpy(to->token, from->token, both * sizeof *to->token);
    if (from->num_many) {
        to->many = xrealloc_array(NULL, from->num_many, sizeof *to->many);
        memcpy(to->many, from->many, from->num_many * sizeof *to->many);
        to->num_many = from->num_many;
    }
}

struct clock *clock_export(struct clock_pool *p, const struct clock *c) {
    struct clock_pool *far = p->far;
    if (p->tokens > far->room) {
        while (far->room < p->tokens)
            far->room *= 2;
        far->free = NULL;
    }
    far->tokens = far->room; /* so that a join has room for what each of the two knows */
    struct clock *mine = new_empty(far);
    copy_own(p, mine, c);
    return mine;
}

void clock_import(struct clock_pool *p, struct clock **into, const struct clock *own, struct far *set) {
    if ((!own && !set) || (*into && (*into)->far == set && !clock_exceeds(p, own, *into)))
        return;
    struct clock *c = new_empty(p);
    if (own)
        copy_own(p, c, own);
    c->far = far_hold(set);
    clock_join(p, into, c);
    clock_drop(p, c);
}
