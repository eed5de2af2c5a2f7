/* check/clock.c - vector clocks; contract in clock.h. */
#include "check/clock.h"

#include "base/heap.h"
#include "check/far.h"

#include <string.h>

#define GROUP 8u /* entries that are compared at once: a clock has room for a multiple */
#define NO_LANE 0xffu
#define MANY 0xfeu

/* Entries stay below 2^31, so that they compare as signed numbers, which every host's vectors can. */
typedef int32_t four __attribute__((vector_size(4 * sizeof(int32_t)), aligned(sizeof(int32_t)), may_alias));

/* Not zero where one exceeds the other. */
struct excess {
    uint32_t a, b;
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
    uint32_t *all, *ahead, *token;
    uint8_t *lane;
};

/* --- memory ------------------------------------------------------------------------------------------------------- */

void clock_pool_init(struct clock_pool *p, uint32_t ctas, uint32_t threads_each) {
    const uint32_t warps = (threads_each + CLOCK_LANES - 1) / CLOCK_LANES, last = threads_each % CLOCK_LANES;
    *p = (struct clock_pool){
        .warps = ctas * warps, .room = 64, .warps_each = warps, .exists_last = last ? (1u << last) - 1 : UINT32_MAX};
}

static void free_clock(struct clock *c) {
    xfree(c->many);
    xfree(c);
}

static void empty(struct clock_pool *p) {
    for (struct clock *c = p->free, *next; c; c = next) {
        next = c->next;
        free_clock(c);
    }
    p->free = NULL;
}

void clock_pool_close(struct clock_pool *p) { empty(p); }

uint32_t clock_new_token(struct clock_pool *p) {
    if (p->tokens == p->room) {
        p->room *= 2;
        empty(p);
    }
    return p->tokens++;
}

static uint32_t groups(const struct clock_pool *p) { return (p->warps + GROUP - 1) / GROUP; }

/* Its content is not set. */
static struct clock *new_clock(struct clock_pool *p) {
    struct clock *c = p->free;
    const size_t warps = (size_t)groups(p) * GROUP;
    if (c) {
        p->free = c->next;
    } else {
        c = xcalloc(1, sizeof *c + warps * (2 * sizeof(uint32_t) + 1) + p->room * sizeof(uint32_t));
        c->all = (uint32_t *)(c + 1);
        c->ahead = c->all + warps;
        c->token = c->ahead + warps;
        c->lane = (uint8_t *)(c->token + p->room);
        c->tokens = p->room;
    }
    c->holders = 1;
    return c;
}

static struct clock *new_empty(struct clock_pool *p) {
    struct clock *c = new_clock(p);
    const size_t warps = (size_t)groups(p) * GROUP;
    memset(c->all, 0, 2 * warps * sizeof *c->all + c->tokens * sizeof *c->token);
    memset(c->lane, NO_LANE, warps);
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
    if (c->tokens != p->room) {
        free_clock(c);
        return;
    }
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
    const size_t warps = (size_t)groups(p) * GROUP;
    memcpy(mine->all, old->all, 2 * warps * sizeof *mine->all);
    memcpy(mine->lane, old->lane, warps);
    memcpy(mine->token, old->token, old->tokens * sizeof *mine->token);
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
        c->lane[w] = further ? (uint8_t)lane : NO_LANE;
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
    if (a->all[w] > b->all[w] || a->lane[w] == NO_LANE)
        return a->all[w] > b->all[w];
    if (a->lane[w] == b->lane[w] && a->lane[w] != MANY)
        return a->ahead[w] > b->ahead[w];
    struct lanes x, y;
    unpack(a, w, &x);
    unpack(b, w, &y);
    bool more = false;
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        more |= x.time[l] > y.time[l];
    return more;
}

/* One of the warps of a group with the same lanes ahead of the others: the times say it all. */
static bool comparable(const struct clock *a, const struct clock *b, uint32_t g) {
    uint64_t x, y;
    memcpy(&x, a->lane + g * GROUP, sizeof x);
    memcpy(&y, b->lane + g * GROUP, sizeof y);
    return x == y && !a->num_many && !b->num_many;
}

static uint32_t any(four v) { return (uint32_t)(v[0] | v[1] | v[2] | v[3]); }

/* Of `num` entries, a multiple of eight: does a exceed b somewhere, and b a? */
static void compare_run(const uint32_t *a, const uint32_t *b, uint32_t num, struct excess *e) {
    four more_a = {0}, more_b = {0};
    for (uint32_t i = 0; i < num; i += 4) {
        const four x = *(const four *)(a + i), y = *(const four *)(b + i);
        more_a |= x > y;
        more_b |= y > x;
    }
    e->a |= any(more_a);
    e->b |= any(more_b);
}

static void compare_tokens(const struct clock *a, const struct clock *b, struct excess *e) {
    const uint32_t both = a->tokens < b->tokens ? a->tokens : b->tokens;
    compare_run(a->token, b->token, both, e);
    for (uint32_t i = both; i < a->tokens; i++)
        e->a |= a->token[i];
    for (uint32_t i = both; i < b->tokens; i++)
        e->b |= b->token[i];
}

/* Does either of a and b know what the other does not? */
static void compare(const struct clock_pool *p, const struct clock *a, const struct clock *b, bool *a_more,
                    bool *b_more) {
    struct excess e = {far_exceeds(p->far, a->far, b->far), far_exceeds(p->far, b->far, a->far)};
    compare_tokens(a, b, &e);
    for (uint32_t g = 0; g < groups(p) && !(e.a && e.b); g++) {
        if (comparable(a, b, g)) {
            compare_run(a->all + g * GROUP, b->all + g * GROUP, GROUP, &e);
            compare_run(a->ahead + g * GROUP, b->ahead + g * GROUP, GROUP, &e);
            continue;
        }
        for (uint32_t w = g * GROUP; w < (g + 1) * GROUP; w++) {
            e.a |= exceeds(a, b, w);
            e.b |= exceeds(b, a, w);
        }
    }
    *a_more = e.a;
    *b_more = e.b;
}

/* Of `num` entries, a multiple of eight, the greater ones into `to`. */
static void join_run(uint32_t *to, const uint32_t *from, uint32_t num) {
    for (uint32_t i = 0; i < num; i += 4) {
        const four x = *(const four *)(to + i), y = *(const four *)(from + i), more = x > y;
        *(four *)(to + i) = (x & more) | (y & ~more);
    }
}

static void join_warp(struct clock *to, const struct clock *from, uint32_t w) {
    struct lanes x, y;
    if (!exceeds(from, to, w))
        return;
    unpack(to, w, &x);
    unpack(from, w, &y);
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        x.time[l] = x.time[l] > y.time[l] ? x.time[l] : y.time[l];
    pack(to, w, &x);
}

static void join_group(struct clock *to, const struct clock *from, uint32_t g) {
    const uint32_t first = g * GROUP;
    if (!comparable(to, from, g)) {
        for (uint32_t w = first; w < first + GROUP; w++)
            join_warp(to, from, w);
        return;
    }
    join_run(to->all + first, from->all + first, GROUP);
    join_run(to->ahead + first, from->ahead + first, GROUP);
    for (uint32_t w = first; w < first + GROUP; w++)
        if (to->lane[w] != NO_LANE && to->ahead[w] <= to->all[w]) { /* the others have caught up */
            to->lane[w] = NO_LANE;
            to->ahead[w] = 0;
        }
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
    join_run(to->token, from->token, from->tokens < to->tokens ? from->tokens : to->tokens);
    for (uint32_t g = 0; g < groups(p); g++)
        join_group(to, from, g);
    far_join(p->far, &to->far, from->far);
}

void clock_join_others(struct clock_pool *p, struct clock **into, struct clock *from, uint32_t warp, uint32_t lanes) {
    struct lanes mine = {{0}}, theirs;
    bool news = false;
    if (!from)
        return;
    if (*into)
        unpack(*into, warp, &mine);
    unpack(from, warp, &theirs);
    for (uint32_t l = 0; l < CLOCK_LANES; l++)
        if (lanes >> l & 1 && theirs.time[l] > mine.time[l]) {
            theirs.time[l] = mine.time[l];
            news = true;
        }
    struct clock *others = clock_hold(from);
    if (news)
        pack(own(p, &others), warp, &theirs);
    clock_join(p, into, others);
    clock_drop(p, others);
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
        (to->lane[warp] == NO_LANE || to->lane[warp] == __builtin_ctz(lanes))) { /* one lane, as mostly the same one */
        to->lane[warp] = (uint8_t)__builtin_ctz(lanes);
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
    memcpy(to->all, from->all, 2 * warps * sizeof *to->all);
    memcpy(to->lane, from->lane, warps);
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
        empty(far);
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
