/* check/shadow/slabs.c - slabs: parts of shared memory in which each lane of one warp has a row; contract in stamps.h.
 *
 * An epilogue goes through such a slab with 16 bytes for each lane at a time, swizzled, and then a copy takes it as a
 * whole, or has brought it. Lanes in rows of their own have no conflict with one another. So a slab only keeps the
 * accesses, in place of the stamps of all quads. As soon as anyone else comes, it becomes stamps.
 */
#include "check/shadow/stamps.h"

#include "base/heap.h"

/* Rows have as many bytes, as a power of two. */
#define ROW_LEAST 6u
#define ROW_MOST 7u

/* Where a slab would begin, if these are quads in rows of so many bytes, or UINT32_MAX. */
static inline uint32_t begin_of(const uint64_t at[VCLOCK_LANES], uint32_t shift) {
    const uint64_t begin = at[0] & ~((UINT64_C(1) << shift) - 1);
    uint64_t odd = begin % GROUP_BYTES;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        odd |= at[l] % QUAD | (((at[l] - begin) >> shift) ^ l);
    return odd ? UINT32_MAX : (uint32_t)begin;
}

/* For each group of a slab, by its number. */
#define FOR_GROUPS(g, s)                                                                                               \
    for (uint32_t g = (s)->begin / GROUP_BYTES; g < ((s)->begin + slab_bytes(s)) / GROUP_BYTES; g++)

static inline uint32_t slab_bytes(const struct slab *s) { return VCLOCK_LANES << s->shift; }

static inline struct group *group_in(struct bytes_watch *b, uint32_t g, bool wrote) {
    struct block *k = &b->block[g / (BLOCK_BYTES / GROUP_BYTES)];
    return (wrote ? k->wrote : k->read) + g % (BLOCK_BYTES / GROUP_BYTES);
}

/* Its groups get the times of its latest accesses. Its earlier ones have joined them. */
static void settle(struct bytes_watch *b, const struct slab *s) {
    for (unsigned wrote = 0; wrote < 2; wrote++)
        FOR_GROUPS(g, s) {
            struct group *of = group_in(b, g, wrote);
            of->time = s->latest[wrote] > of->time ? s->latest[wrote] : of->time;
        }
}

/* Has it no accesses? */
static bool is_empty(const struct slab *s) { return !s->latest[false] && !s->latest[true]; }

/* An operation has overwritten its bytes. The same accesses will mostly come again. */
static void make_empty(struct slab *s) {
    s->latest[false] = s->latest[true] = 0;
    for (uint32_t i = 0; i < s->num; i++)
        s->list[i].time = 0;
}

/* The slab is empty, or has become stamps. */
static void drop(struct bytes_watch *b, uint32_t number) {
    struct slab *s = &b->slabs[number];
    FOR_GROUPS(g, s) { b->slab_at[g] = 0; }
    xfree(s->held);
    *s = b->slabs[--b->num_slabs];
    if (number < b->num_slabs)
        FOR_GROUPS(g, s) { b->slab_at[g] = (uint8_t)(number + 1); }
}

/* A new slab, if no access is remembered there. */
static struct slab *new_slab(struct bytes_watch *b, uint32_t begin, uint32_t shift, uint32_t warp) {
    const struct slab mine = {.begin = begin, .shift = (uint8_t)shift, .warp = (uint16_t)warp};
    if (b->num_slabs == UINT8_MAX || begin + slab_bytes(&mine) > b->num_blocks * BLOCK_BYTES)
        return NULL;
    FOR_GROUPS(g, &mine) {
        if (b->slab_at[g] && is_empty(&b->slabs[b->slab_at[g] - 1]))
            drop(b, b->slab_at[g] - 1u);
        if (b->slab_at[g] || group_in(b, g, true)->time || group_in(b, g, false)->time)
            return NULL;
    }
    FOR_GROUPS(g, &mine) { b->slab_at[g] = (uint8_t)(b->num_slabs + 1); }
    b->slabs = xgrow(b->slabs, b->num_slabs, &b->cap_slabs, sizeof *b->slabs);
    b->slabs[b->num_slabs] = mine;
    return &b->slabs[b->num_slabs++];
}

struct slab *slabs_find(struct bytes_watch *b, const uint64_t at[VCLOCK_LANES], uint32_t warp) {
    const uint32_t shift = at[VCLOCK_LANES - 1] - at[0] < VCLOCK_LANES << ROW_LEAST ? ROW_LEAST : ROW_MOST;
    const uint32_t begin = begin_of(at, shift);
    if (begin == UINT32_MAX)
        return NULL;
    const uint32_t number = b->slab_at[begin / GROUP_BYTES];
    struct slab *s = number ? &b->slabs[number - 1] : NULL;
    if (!s || s->begin != begin || s->shift != shift)
        return new_slab(b, begin, shift, warp);
    if (is_empty(s))
        s->warp = (uint16_t)warp;
    return s->warp == warp ? s : NULL;
}

/* The same kind of access to the same quads? */
static inline bool is_alike(const struct slab_access *a, const struct slab_access *b) {
    return a->writes == b->writes && memcmp(a->quad, b->quad, sizeof a->quad) == 0;
}

/* Remembers access i of a slab, which is by these quads. */
static inline void put(struct slab *s, uint32_t i, const struct event_access *e, uint32_t time) {
    struct slab_access *a = &s->list[i];
    s->next = (uint8_t)(i + 1 < s->num ? i + 1 : 0);
    a->time = s->latest[a->writes] = time;
    if (!a->writes)
        return;
    if (!s->held)
        s->held = xcalloc(1, slab_bytes(s));
    const uint8_t *const from = e->owner->smem + s->begin;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        memcpy(s->held + a->quad[l] * QUAD, from + a->quad[l] * QUAD, QUAD);
}

struct slab *slabs_next(struct bytes_watch *b, const struct event_access *e, uint32_t warp, bool writes) {
    const uint32_t number = b->slab_at[e->at[0] / GROUP_BYTES];
    struct slab *s = number ? &b->slabs[number - 1] : NULL;
    if (!s || s->warp != warp || s->next >= s->num || s->list[s->next].writes != writes)
        return NULL;
    const uint8_t *const quad = s->list[s->next].quad;
    uint32_t odd = 0;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        odd |= (uint32_t)e->at[l] ^ (s->begin + quad[l] * QUAD);
    return odd ? NULL : s;
}

void slabs_again(struct slab *s, const struct event_access *e, uint32_t time) { put(s, s->next, e, time); }

bool slabs_put(struct slab *s, const struct event_access *e, uint32_t time, bool writes) {
    struct slab_access a = {.writes = writes};
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        a.quad[l] = (uint8_t)((e->at[l] - s->begin) / QUAD);
    uint32_t i = s->next; /* mostly the same ones come again, in the same order */
    if (i >= s->num || !is_alike(&s->list[i], &a))
        for (i = 0; i < s->num && !is_alike(&s->list[i], &a);)
            i++;
    if (i == SLAB_ACCESSES)
        return false;
    if (i == s->num)
        s->list[s->num++] = a;
    put(s, i, e, time);
    return true;
}

/* An access becomes stamps. */
static void stamp_access(struct bytes_watch *b, const struct slab *s, const struct slab_access *a) {
    for (uint32_t l = 0; l < VCLOCK_LANES; l++) {
        const uint32_t in = a->quad[l] * QUAD, at = s->begin + in;
        struct block *k = even_block(b, at);
        struct word *q = quad_at(k, at);
        const struct stamp mine = {a->time, {{s->warp, (uint8_t)l, 0}}};
        *q = a->writes ? (struct word){.wrote = mine} : (struct word){q->wrote, mine};
        if (a->writes)
            memcpy(k->held + at % BLOCK_BYTES, s->held + in, QUAD);
    }
}

/* All accesses of a slab become stamps, in the order in which they came; an equal one has replaced the one before. */
static void flush(struct bytes_watch *b, uint32_t number) {
    struct slab *s = &b->slabs[number];
    settle(b, s);
    while (s->num) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < s->num; i++)
            first = s->list[i].time < s->list[first].time ? i : first;
        if (s->list[first].time)
            stamp_access(b, s, &s->list[first]);
        s->list[first] = s->list[--s->num];
    }
    drop(b, number);
}

void slabs_flush_some(struct bytes_watch *b, uint32_t from, uint32_t to) {
    for (uint32_t g = from / GROUP_BYTES; g <= (to - 1) / GROUP_BYTES && g < SMEM_MOST / GROUP_BYTES; g++)
        if (b->slab_at[g])
            flush(b, b->slab_at[g] - 1u);
}

/* Does the operation know all accesses of the slab? */
static bool is_known_slab(struct touch *t, const struct slab *s) {
    bool known = !t->writes || !t->b->lost_readers;
    FOR_GROUPS(g, s) {
        known = known && knows_group(t, group_in(t->b, g, true)) &&
                (!t->writes || knows_group(t, group_in(t->b, g, false)));
    }
    return known;
}

void slabs_engine(struct touch *t, const struct span *span) {
    struct bytes_watch *b = t->b;
    for (uint32_t i = b->num_slabs; i-- > 0;) {
        struct slab *s = &b->slabs[i];
        if (s->begin >= span->to || span->from >= s->begin + slab_bytes(s))
            continue;
        settle(b, s);
        const bool known = !span->pieces && is_known_slab(t, s);
        if (known && !t->writes)
            continue;
        if (!known || s->begin < span->from || span->to < s->begin + slab_bytes(s)) {
            flush(b, i);
            continue;
        }
        FOR_GROUPS(g, s) {
            b->groups[g / 64] &= ~(UINT64_C(1) << g % 64);
            *group_in(b, g, true) = *group_in(b, g, false) = (struct group){0};
        }
        make_empty(s);
    }
}

void slabs_free(struct bytes_watch *b) {
    while (b->num_slabs)
        drop(b, b->num_slabs - 1);
    xfree(b->slabs);
}
