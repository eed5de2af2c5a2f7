/* check/grids/touches.c - which bytes tasks have accessed; contract in touches.h. */
#include "check/grids/touches.h"

#include "base/arena.h"
#include "base/heap.h"

#include <pthread.h>
#include <string.h>

#define SHARDS 64u
#define LISTS 256u /* hash lists in each shard */

/* Some of the pages: their entries, and the lock that islands take for them. */
struct shard {
    pthread_mutex_t lock;
    struct touch *list[LISTS];
};

struct touches {
    struct shard shard[SHARDS];
    _Atomic uint64_t bytes; /* of all entries */
    uint64_t most;          /* limit of `bytes` */
    struct arena sites;     /* copies of lines: touches_keep_sites() */
};

struct touches *touches_new(uint64_t most) {
    struct touches *p = xcalloc(1, sizeof *p);
    p->most = most;
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&p->shard[i].lock, NULL);
    return p;
}

/* Drops entries of tasks that are not in the window; `tasks` NULL: all. */
static bool sweep_list(struct touches *p, struct touch **at, const struct tasks *tasks) {
    while (*at) {
        struct touch *x = *at;
        if (tasks && tasks->task[x->place].number == x->number) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        atomic_fetch_sub_explicit(&p->bytes, sizeof *x, memory_order_relaxed);
        xfree(x);
    }
    return true;
}

void touches_sweep(struct touches *p, const struct tasks *tasks) {
    for (uint32_t i = 0; p->bytes && i < SHARDS * LISTS; i++)
        sweep_list(p, &p->shard[i / LISTS].list[i % LISTS], tasks);
    if (!p->bytes)
        arena_free(&p->sites);
}

void touches_free(struct touches *p) {
    if (!p)
        return;
    touches_sweep(p, NULL);
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&p->shard[i].lock);
    xfree(p);
}

/* A copy of the line that outlives its module. */
static const struct diag_site *copy_site(struct touches *p, const struct diag_site *site) {
    return site ? diag_keep(&p->sites, &(struct diag){.site = site})->site : NULL;
}

void touches_keep_sites(struct touches *p, uint64_t number) {
    const struct diag_site *from[16] = {NULL}, *to[16] = {NULL}; /* the latest copies */
    uint32_t num = 0;
    for (uint32_t i = 0; i < SHARDS * LISTS; i++)
        for (struct touch *x = p->shard[i / LISTS].list[i % LISTS]; x; x = x->next) {
            uint32_t at = 0;
            if (x->number != number)
                continue;
            while (at < 16 && from[at] != x->site)
                at++;
            if (at == 16) {
                at = num++ % 16;
                from[at] = x->site;
                to[at] = copy_site(p, x->site);
            }
            x->site = to[at];
        }
}

/* --- bytes of a page ---------------------------------------------------------------------------------------------- */

/* The bits of [from, to) that are in that word of 64. */
static uint64_t bits_of(uint32_t from, uint32_t to, uint32_t word) {
    const uint32_t low = from > word * 64 ? from - word * 64 : 0, high = to < word * 64 + 64 ? to - word * 64 : 64;
    return (high == 64 ? UINT64_MAX : (UINT64_C(1) << high) - 1) & ~((UINT64_C(1) << low) - 1);
}

/* Adds the bytes [from, to) of the page. */
static void set_bits(struct touch *x, uint32_t from, uint32_t to) {
    for (uint32_t w = from / 64; x->bytes < TOUCH_PAGE && w <= (to - 1) / 64; w++) {
        const uint64_t add = bits_of(from, to, w) & ~x->bits[w];
        x->bits[w] |= add;
        x->bytes += (uint32_t)__builtin_popcountll(add);
    }
}

/* The first set byte of [from, to); `to`: none. */
static uint32_t first_bit(const struct touch *x, uint32_t from, uint32_t to) {
    for (uint32_t w = from / 64; w <= (to - 1) / 64; w++) {
        const uint64_t both = x->bits[w] & bits_of(from, to, w);
        if (both)
            return w * 64 + (uint32_t)__builtin_ctzll(both);
    }
    return to;
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* The page's shard, and the page's list in it. */
static struct shard *shard_of(struct touches *p, uint64_t page, struct touch ***list) {
    const uint64_t hash = page * UINT64_C(0x9e3779b97f4a7c15);
    struct shard *s = &p->shard[hash >> 58];
    *list = &s->list[hash >> 50 & (LISTS - 1)];
    return s;
}

/* The entry in that list for the page and the access's task, line and flags; new if there is none. NULL: no room. */
static struct touch *entry(struct touches *p, struct touch **list, uint64_t page, const struct touching *t) {
    for (struct touch *x = *list; x; x = x->next)
        if (x->page == page && x->number == t->number && x->site == t->site && x->flags == t->flags)
            return x;
    if (atomic_fetch_add_explicit(&p->bytes, sizeof(struct touch), memory_order_relaxed) + sizeof(struct touch) >
        p->most) {
        atomic_fetch_sub_explicit(&p->bytes, sizeof(struct touch), memory_order_relaxed);
        return NULL;
    }
    struct touch *x = xcalloc(1, sizeof *x);
    x->next = *list;
    x->page = page;
    x->number = t->number;
    x->place = t->place;
    x->flags = t->flags;
    x->what = t->what;
    x->site = t->site;
    if (t->thread)
        x->thread = *t->thread;
    return *list = x;
}

bool touches_put(struct touches *p, const struct touching *t) {
    bool all = true;
    for (uint64_t at = t->at, end = t->at + t->size; at < end; at = (at / TOUCH_PAGE + 1) * TOUCH_PAGE) {
        const uint64_t page = at / TOUCH_PAGE, stop = (page + 1) * TOUCH_PAGE;
        struct touch **list;
        struct shard *s = shard_of(p, page, &list);
        pthread_mutex_lock(&s->lock);
        struct touch *x = entry(p, list, page, t);
        if (x)
            set_bits(x, at % TOUCH_PAGE, (uint32_t)((end < stop ? end : stop) - page * TOUCH_PAGE));
        all &= x != NULL;
        pthread_mutex_unlock(&s->lock);
    }
    return all;
}

void touches_meet(struct touches *p, const struct tasks *tasks, task_set of, const struct touching *t, touches_fn *fn,
                  void *ctx) {
    for (uint64_t at = t->at, end = t->at + t->size; at < end; at = (at / TOUCH_PAGE + 1) * TOUCH_PAGE) {
        const uint64_t page = at / TOUCH_PAGE, stop = (page + 1) * TOUCH_PAGE;
        const uint32_t from = at % TOUCH_PAGE, to = (uint32_t)((end < stop ? end : stop) - page * TOUCH_PAGE);
        struct touch **list;
        struct shard *s = shard_of(p, page, &list);
        pthread_mutex_lock(&s->lock);
        for (struct touch *x = *list; x; x = x->next) {
            const bool live = of & task_bit(x->place) && tasks->task[x->place].number == x->number;
            if (x->page != page || !live || !((x->flags | t->flags) & TOUCH_WRITE) ||
                x->flags & t->flags & TOUCH_STRONG)
                continue;
            const uint32_t first = first_bit(x, from, to);
            if (first < to)
                fn(ctx, x, t, page * TOUCH_PAGE + first);
        }
        pthread_mutex_unlock(&s->lock);
    }
}
