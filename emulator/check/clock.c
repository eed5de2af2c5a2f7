/* check/clock.c - vector clocks; contract in clock.h. */
#include "check/clock.h"

#include "base/heap.h"

#include <string.h>

#define GROUP 8u /* entries that are compared at once: a clock has room for a multiple */
#define NO_LANE 0xffu
#define MANY 0xfeu

typedef uint32_t eight __attribute__((vector_size(GROUP * sizeof(uint32_t)), aligned(sizeof(uint32_t)), may_alias));
typedef int32_t excess_lanes __attribute__((vector_size(GROUP * sizeof(int32_t))));

struct excess {
    excess_lanes a, b; /* not zero where it exceeds the other */
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
    uint32_t *all, *ahead, *token;
    uint8_t *lane;
};

/* --- memory ------------------------------------------------------------------------------------------------------- */

void clock_pool_init(struct clock_pool *p, uint32_t ctas, uint32_t threads_each) {
    const uint32_t warps = (threads_each + CLOCK_LANES - 1) / CLOCK_LANES, last = threads_each % CLOCK_LANES;
    *p = (struct clock_pool){.warps = ctas * warps,
                             .room = 64,
                             .warps_each = warps,
                             .exists_last = last ? (1u << last) - 1 : UINT32_MAX};
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

/* Of eight entries: does a exceed b somewhere, and b a? */
static void compare_eight(const uint32_t *a, const uint32_t *b, struct excess *e) {
    const eight x = *(const eight *)a, y = *(const eight *)b;
    e->a |= x > y;
    e->b |= y > x;
}

static bool any(excess_lanes e) {
    int32_t sum = 0;
    for (unsigned i = 0; i < GROUP; i++)
        sum |= e[i];
    return sum;
}

static void compare_tokens(const struct clock *a, const struct clock *b, struct excess *e) {
    const uint32_t both = a->tokens < b->tokens ? a->tokens : b->tokens;
    for (uint32_t i = 0; i < both; i += GROUP)
        compare_eight(a->token + i, b->token + i, e);
    for (uint32_t i = both; i < a->tokens; i++)
        e->a[0] |= a->token[i] != 0;
    for (uint32_t i = both; i < b->tokens; i++)
        e->b[0] |= b->token[i] != 0;
}

/* Does either of a and b know what the other does not? */
static void compare(const struct clock_pool *p, const struct clock *a, const struct clock *b, bool *a_more,
                    bool *b_more) {
    struct excess e = {{0}, {0}};
    compare_tokens(a, b, &e);
    for (uint32_t g = 0; g < groups(p); g++) {
        if (comparable(a, b, g)) {
            compare_eight(a->all + g * GROUP, b->all + g * GROUP, &e);
            compare_eight(a->ahead + g * GROUP, b->ahead + g * GROUP, &e);
            continue;
        }
        for (uint32_t w = g * GROUP; w < (g + 1) * GROUP; w++) {
            e.a[0] |= exceeds(a, b, w);
            e.b[0] |= exceeds(b, a, w);
        }
    }
    *a_more = any(e.a);
    *b_more = any(e.b);
}

/* Of eight entries the greater ones into `to`. */
static void join_eight(uint32_t *to, const uint32_t *from) {
    const eight x = *(const eight *)to, y = *(const eight *)from;
    const excess_lanes more = x > y;
    *(eight *)to = (x & (eight)more) | (y & ~(eight)more);
}

static void join_tokens(struct clock *to, const struct clock *from) {
    const uint32_t both = to->tokens < from->tokens ? to->tokens : from->tokens;
    for (uint32_t i = 0; i < both; i += GROUP)
        join_eight(to->token + i, from->token + i);
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
    join_eight(to->all + first, from->all + first);
    join_eight(to->ahead + first, from->ahead + first);
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
    join_tokens(to, from);
    for (uint32_t g = 0; g < groups(p); g++)
        join_group(to, from, g);
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

uint32_t clock_all_lanes(const struct clock *c, uint32_t warp) { return c ? c->all[warp] : 0; }

uint32_t clock_token(const struct clock *c, uint32_t token) { return c && token < c->tokens ? c->token[token] : 0; }

bool clock_knows_token(const struct clock *c, uint32_t token, uint32_t step) { return clock_token(c, token) >= step; }
