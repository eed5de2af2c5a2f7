/* check/vclock/pool.c - allocates and frees clocks and sets; contract in inside.h. */
#include "check/vclock/inside.h"

#include "base/heap.h"

#include <string.h>

#define MADE_AT_ONCE 16u

/* A block of MADE_AT_ONCE clocks; until the pool closes. */
struct vclocks {
    struct vclocks *next;
    size_t each; /* bytes of a clock */
    _Alignas(LINE) uint8_t memory[];
};
static struct vclock *clock_of(struct vclocks *m, uint32_t i) { return (void *)(m->memory + i * m->each); }

/* --- clocks ------------------------------------------------------------------------------------------------------- */

void vclock_pool_init(struct vclock_pool *p, uint32_t ctas, uint32_t threads_each) {
    const uint32_t warps = (threads_each + VCLOCK_LANES - 1) / VCLOCK_LANES, last = threads_each % VCLOCK_LANES;
    *p = (struct vclock_pool){
        .warps = ctas * warps, .room = 64, .warps_each = warps, .exists_last = last ? (1u << last) - 1 : UINT32_MAX};
}

void vclock_pool_close(struct vclock_pool *p) {
    for (struct vclocks *m = p->made, *next; m; m = next) {
        next = m->next;
        xfree(m);
    }
    p->made = NULL;
    p->free = NULL;
}

/* The first token of a GROUP gives a value to all of it, in all clocks that have room. */
uint32_t vclock_new_token(struct vclock_pool *p) {
    if (p->tokens == p->room) {
        p->room *= 2;
        p->free = NULL; /* they are too small now */
    }
    for (struct vclocks *m = p->tokens % GROUP ? NULL : p->made; m; m = m->next)
        for (uint32_t i = 0; i < MADE_AT_ONCE; i++)
            if (clock_of(m, i)->tokens > p->tokens)
                memset(clock_of(m, i)->token + p->tokens, 0, GROUP * sizeof(uint32_t));
    return p->tokens++;
}

void vclock_make(struct vclock_pool *p) {
    const size_t warps = vclock_warps(p), entries = 3 * warps + p->room;
    const size_t each = (sizeof(struct vclock) + entries * sizeof(uint32_t) + LINE - 1) & ~(size_t)(LINE - 1);
    struct vclocks *m = xaligned(LINE, sizeof *m + MADE_AT_ONCE * each);
    m->next = p->made;
    m->each = each;
    p->made = m;
    p->bytes += sizeof *m + MADE_AT_ONCE * each;
    for (uint32_t i = 0; i < MADE_AT_ONCE; i++) {
        struct vclock *c = clock_of(m, i);
        *c = (struct vclock){.tokens = p->room, .next = p->free};
        c->ahead = c->all + warps;
        c->lane = c->ahead + warps;
        c->token = c->lane + warps;
        p->free = c;
    }
}

struct vclock *vclock_new(struct vclock_pool *p) {
    struct vclock *c = vclock_take(p);
    const size_t warps = vclock_warps(p);
    memset(c->all, 0, (3 * warps + vclock_tokens(p)) * sizeof *c->all);
    for (size_t w = 0; w < warps; w++)
        c->lane[w] = NO_LANE;
    return c;
}

/* The last holder has dropped it. */
void vclock_over(struct vclock_pool *p, struct vclock *c) {
    if (c->many)
        xfree(c->many);
    c->many = NULL;
    c->num_many = 0;
    if (c->far)
        far_drop(p->far, c->far);
    c->far = NULL;
    if (c->tokens != p->room) /* too small for reuse: its block keeps it until the pool closes */
        return;
    c->next = p->free;
    p->free = c;
}

void vclock_copy(const struct vclock_pool *p, struct vclock *to, const struct vclock *from) {
    const uint32_t used = vclock_tokens(p), num = from->tokens < used ? from->tokens : used;
    memcpy(to->all, from->all, (3 * vclock_warps(p) + num) * sizeof *to->all);
    if (from->num_many) {
        to->many = xrealloc_array(NULL, from->num_many, sizeof *to->many);
        memcpy(to->many, from->many, from->num_many * sizeof *to->many);
        to->num_many = from->num_many;
    }
}

struct vclock *vclock_own_copy(struct vclock_pool *p, struct vclock **c) {
    struct vclock *old = *c;
    if (!old)
        return *c = vclock_new(p);
    struct vclock *mine = vclock_take(p);
    vclock_copy(p, mine, old);
    if (old->tokens < vclock_tokens(p))
        memset(mine->token + old->tokens, 0, (vclock_tokens(p) - old->tokens) * sizeof *mine->token);
    mine->far = far_hold(old->far);
    vclock_drop(p, old);
    return *c = mine;
}

/* --- entries of warps --------------------------------------------------------------------------------------------- */

void vclock_unpack(const struct vclock *c, uint32_t w, struct lanes *out) {
    if (c->lane[w] == MANY) {
        *out = c->many[c->ahead[w]];
        return;
    }
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        out->time[l] = c->all[w];
    if (c->lane[w] != NO_LANE)
        out->time[c->lane[w]] = c->ahead[w];
}

void vclock_pack(struct vclock *c, uint32_t w, const struct lanes *t) {
    uint32_t least = UINT32_MAX, most = 0, further = 0, lane = 0;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        least = t->time[l] < least ? t->time[l] : least;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
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

/* --- sets --------------------------------------------------------------------------------------------------------- */

struct far *far_hold(struct far *f) {
    if (f)
        f->holders++;
    return f;
}

void far_drop(struct vclock_pool *pool, struct far *f) {
    if (!f || --f->holders)
        return;
    for (uint32_t i = 0; i < CHILDREN; i++)
        if (f->level)
            far_drop(pool, f->of.far[i]);
        else
            vclock_drop(pool, f->of.clock[i]);
    pool->bytes -= sizeof *f;
    xfree(f);
}

struct far *far_new(struct vclock_pool *pool, uint32_t level) {
    struct far *f = xcalloc(1, sizeof *f);
    pool->bytes += sizeof *f;
    f->holders = 1;
    f->level = level;
    return f;
}

struct far *far_own(struct vclock_pool *pool, struct far **f) {
    struct far *old = *f;
    if (old->holders == 1)
        return old;
    struct far *mine = far_new(pool, old->level);
    for (uint32_t i = 0; i < CHILDREN; i++)
        if (old->level)
            mine->of.far[i] = far_hold(old->of.far[i]);
        else
            mine->of.clock[i] = vclock_hold(old->of.clock[i]);
    far_drop(pool, old);
    return *f = mine;
}

void far_raise(struct vclock_pool *pool, struct far **f) {
    struct far *top = far_new(pool, (*f)->level + 1);
    top->of.far[0] = *f;
    *f = top;
}
