/* check/shadow/epochs.c - accesses of threads to shared memory, compared by epochs; contract in kept.h.
 *
 * A barrier that all threads of a CTA pass orders what they did before it before what they do after it (9.7.13.1). The
 * time between two such barriers is an epoch. For each word a cell keeps who wrote it last and who has read it since,
 * and in which epoch. An access has no conflict if its words were accessed in epochs that its warp knows to be over,
 * or by the thread itself, or if all accesses are reads. Most accesses are like that, and one comparison for each word
 * shows it. They are put into a log, and are dropped from it when all warps know that their epoch is over.
 *
 * At any other access, or when the log is full, the accesses in it move to the words of stamps.c, which keep more:
 * times, lines, all readers. So nothing is missed, and the findings are the same (tests/tools/epochs.py). Only accesses
 * that can no longer matter are dropped.
 *
 * Dropped accesses could matter if others than the threads of the CTA accessed its memory: an asynchronous operation
 * needs more than a barrier (8.6), and threads of another CTA do not take part in the barrier. Clusters with such
 * operations or with several CTAs have no epochs.
 */
#include "check/shadow/kept.h"

#include "base/heap.h"

#include <string.h>

#define WORD 4u
/* A cell: the epoch, and the thread's number in the CTA + 1, or one of these. 0: none. */
#define WHO_BITS 11u
#define WHO ((1u << WHO_BITS) - 1)
#define MANY (WHO - 1)   /* several threads, or parts of a word */
#define STRONG (WHO - 2) /* atomics of any threads, but no other strong accesses */
#define LAST_EPOCH (UINT32_MAX >> WHO_BITS)
#define LOG_FIRST (16u << 10) /* bytes of a log, at first, */
#define LOG_MOST (128u << 10) /*  and at most */
#define TRIES 256u            /* more misses than this, and than hits: the CTA goes on without epochs */

#define HALF (VCLOCK_LANES / 2)

/* An entry of the log, a multiple of 8 bytes. Uneven addresses of the lanes follow it, in words if they have words, and
 * then what the lanes wrote.
 * `strong`: an atomic, or any access with an order (STAMP_STRONG); the cells' STRONG is for atomics alone. */
struct entry {
    uint32_t time, lanes;
    uint32_t first[2], step[2]; /* even: all lanes access, lane l of each half at `first` + l * `step` */
    uint16_t warp;
    uint8_t size;
    bool writes, strong, even;
};

#define ENTRY_MOST (sizeof(struct entry) + VCLOCK_LANES * (WORD + QUAD))

/* The epochs of a CTA, until its cluster ends or it goes on without them. */
struct epochs {
    uint32_t now; /* number of the current epoch, from 1 */
    uint32_t words, warps;
    uint32_t *wrote, *read; /* cells, by word */
    uint8_t *log;
    uint32_t room;         /* bytes of the log: all of it, */
    uint32_t used, ended;  /*  those in use; and of these, those of epochs before this one */
    uint32_t hits, misses; /* accesses that the cells showed to have no conflict; others */
    struct epoch_warp {
        uint32_t known;         /* the warp knows that epochs before this one are over; << WHO_BITS, as in a cell */
        uint32_t next;          /* `known` after it passes the barrier at which it has arrived; 0: no change */
        uint32_t last, arrived; /* times of its last access, and of its last arrival */
        uint32_t number;        /* of the barrier at which it arrived last */
    } warp[MACH_MAX_WARPS];
    struct epoch_bar {
        uint32_t warps; /* that have arrived, */
        bool partly;    /*  one of them without some of its lanes */
    } bar[MACH_BARRIERS];
};

bool epochs_fit(const struct race *r) { return r->grid && r->grid->plain && r->cluster->num_ctas == 1; }

struct epochs *epochs_new(const struct race *r, const struct cta *cta) {
    struct epochs *p = xcalloc(1, sizeof *p);
    p->now = 1;
    p->warps = r->warps_each;
    for (uint32_t i = 0; i < p->warps; i++)
        p->warp[i].known = p->now << WHO_BITS;
    p->words = (cta->smem_end + WORD - 1) / WORD;
    p->wrote = xcalloc(2 * (size_t)p->words, sizeof *p->wrote);
    p->read = p->wrote + p->words;
    return p;
}

void epochs_free(struct epochs *p) {
    if (!p)
        return;
    xfree(p->wrote);
    xfree(p->log);
    xfree(p);
}

/* --- the log ------------------------------------------------------------------------------------------------------ */

/* The bytes of a lane's uneven address: words of shared memory are fewer than 1 << 16. */
static inline uint32_t place_bytes(const struct entry *n) {
    return n->size < WORD ? sizeof(uint32_t) : sizeof(uint16_t);
}

static uint32_t entry_bytes(const struct entry *n) {
    const uint32_t lanes = (uint32_t)__builtin_popcount(n->lanes);
    const uint32_t bytes = sizeof *n + (n->even ? 0 : lanes * place_bytes(n)) + (n->writes ? lanes * n->size : 0);
    return (bytes + 7) & ~7u;
}

/* Writes the uneven addresses; returns their end. */
static uint8_t *put_places(uint8_t *to, const struct entry *n, const uint64_t *at) {
    const uint32_t bytes = place_bytes(n);
    if (n->size < WORD)
        for (uint32_t m = n->lanes; m; m &= m - 1, to += bytes)
            memcpy(to, &(uint32_t){(uint32_t)at[__builtin_ctz(m)]}, sizeof(uint32_t));
    else
        for (uint32_t m = n->lanes; m; m &= m - 1, to += bytes)
            memcpy(to, &(uint16_t){(uint16_t)(at[__builtin_ctz(m)] / WORD)}, sizeof(uint16_t));
    return to;
}

/* Reads the addresses, even or not; returns the end of the uneven ones. */
static const uint8_t *get_places(const uint8_t *from, const struct entry *n, uint32_t at[VCLOCK_LANES]) {
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        at[l] = n->first[l / HALF] + l % HALF * n->step[l / HALF];
    for (uint32_t m = n->even ? 0 : n->lanes; m; m &= m - 1, from += place_bytes(n)) {
        uint16_t word = 0;
        memcpy(n->size < WORD ? (void *)&at[__builtin_ctz(m)] : &word, from, place_bytes(n));
        at[__builtin_ctz(m)] = n->size < WORD ? at[__builtin_ctz(m)] : word * WORD;
    }
    return from;
}

/* Copies what the lanes wrote. */
static void put_written(uint8_t *to, const struct entry *n, const struct event_access *e) {
    const uint8_t *smem = e->owner->smem;
    if (n->size == WORD) {
        for (uint32_t m = n->lanes; m; m &= m - 1, to += WORD)
            memcpy(to, smem + e->at[__builtin_ctz(m)], WORD);
    } else {
        for (uint32_t m = n->lanes; m; m &= m - 1, to += n->size)
            memcpy(to, smem + e->at[__builtin_ctz(m)], n->size);
    }
}

/* The end of the log, with room for an entry. */
static inline uint8_t *end_of_log(struct epochs *p) {
    if (p->room - p->used < ENTRY_MOST) {
        p->room = p->room ? LOG_MOST : LOG_FIRST;
        p->log = xrealloc_array(p->log, p->room, 1);
    }
    return p->log + p->used;
}

/* Adds an access to the log. */
static void put_down(struct race *r, struct epochs *p, const struct event_access *e, uint32_t warp, bool strong) {
    const struct entry n = {.time = r->time,
                            .lanes = e->by.lanes,
                            .first = {e->halves ? (uint32_t)e->at[0] : 0, e->halves ? (uint32_t)e->at[HALF] : 0},
                            .step = {(uint32_t)e->step, (uint32_t)e->high},
                            .warp = (uint16_t)warp,
                            .size = (uint8_t)e->size,
                            .writes = e->effect & EFFECT_WRITE,
                            .strong = strong,
                            .even = e->halves};
    uint8_t *to = end_of_log(p);
    memcpy(to, &n, sizeof n);
    p->used += entry_bytes(&n);
    to += sizeof n;
    if (!n.even)
        to = put_places(to, &n, e->at);
    if (n.writes)
        put_written(to, &n, e);
}

/* The same in its short form. */
static inline void put_halves(struct epochs *p, const struct cta *cta, uint32_t time, uint32_t warp, uint32_t first,
                              uint32_t second, uint32_t how) {
    const uint32_t size = how >> 16 & UINT8_MAX, half = HALF * size;
    const struct entry n = {.time = time,
                            .lanes = UINT32_MAX,
                            .first = {first, second},
                            .step = {how & HALVES_FIRST ? size : 0, how & HALVES_SECOND ? size : 0},
                            .warp = (uint16_t)warp,
                            .size = (uint8_t)size,
                            .writes = how & HALVES_WRITE,
                            .even = true};
    uint8_t *to = end_of_log(p);
    memcpy(to, &n, sizeof n);
    p->used += (uint32_t)sizeof n;
    if (n.writes) { /* rows */
        memcpy(to + sizeof n, cta->smem + first, half);
        memcpy(to + sizeof n + half, cta->smem + second, half);
        p->used += 2 * half;
    }
}

/* The accesses in the log move to the words. */
static void move_on(struct race *r, struct bytes_watch *b, struct cta *owner) {
    struct epochs *p = b->epochs;
    for (uint32_t from = 0; from < p->used;) {
        struct entry n;
        uint32_t at[VCLOCK_LANES];
        memcpy(&n, p->log + from, sizeof n);
        const uint8_t *const rest = get_places(p->log + from + sizeof n, &n, at);
        stamps_remember(r, b, owner, &(struct past){n.time, n.lanes, n.warp, n.writes, n.strong, n.size, at, rest});
        from += entry_bytes(&n);
    }
    p->used = p->ended = 0;
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* An access of lanes of a warp, during its check. */
struct visit {
    uint32_t first;       /* number of the warp's first thread, + 1 */
    uint32_t known, mark; /* cells below `known` are of epochs that are over; mark: the current epoch in a cell */
    uint32_t strong;      /* STRONG: it is an atomic, which conflicts with no other atomic; or 0 */
    bool writes;
};

/* Is the cell of an epoch that is over, or of `who` alone? */
static inline bool is_free(const struct visit *v, uint32_t cell, uint32_t who) {
    return cell < v->known || (cell & WHO) == who;
}

/* Do the cells alone show that an access of lane l has no conflict? */
static inline bool fits(const struct epochs *p, const struct visit *v, uint32_t l, uint32_t word) {
    const uint32_t who = v->first + l, wrote = p->wrote[word], read = p->read[word];
    /* an atomic fits only other atomics: even after a weak store of its own thread the words must keep that store,
     * against atomics of others (stamps.c, hidden_store) */
    if (v->strong)
        return is_free(v, wrote, STRONG) && (is_free(v, read, who));
    return is_free(v, wrote, who) && (!v->writes || is_free(v, read, who));
}

/* Lane l's access becomes the latest one in the cells of a word. */
static inline void enter(struct epochs *p, const struct visit *v, uint32_t l, uint32_t word) {
    const uint32_t who = v->first + l, read = p->read[word];
    if (v->writes) {
        p->wrote[word] = v->mark | (v->strong ? STRONG : who);
        p->read[word] = 0;
    } else {
        p->read[word] = v->mark | (is_free(v, read, who) ? who : MANY);
    }
}

/* Enters lanes that access a word each. False: not all fit, and some have been entered. */
static inline bool visit_words(struct epochs *p, const struct visit *v, const struct event_access *e) {
    for (uint32_t m = e->by.lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m), word = (uint32_t)e->at[l] / WORD;
        if (!fits(p, v, l, word))
            return false;
        enter(p, v, l, word);
    }
    return true;
}

#define PART 8u
typedef uint32_t cells __attribute__((vector_size(PART * sizeof(uint32_t)), aligned(sizeof(uint32_t)), may_alias));
/* All bits of each cell that is free for a lane, as in is_free. */
#define FREE_CELLS(cell, known, who) ((cells)((cell) < (known)) | (cells)((((cell) ^ (who)) & WHO) == 0))

/* visit_words for lanes side by side, all at once: `num` words, a multiple of PART, 1 << shift of them for each lane
 * from the one whose number + 1 is `first`. False: not all fit, and nothing was done. */
static inline __attribute__((always_inline)) bool enter_row(uint32_t *wrote, uint32_t *read, const struct visit *v,
                                                            uint32_t first, uint32_t num, uint32_t shift, bool writes) {
    const cells from = ((cells){0, 1, 2, 3, 4, 5, 6, 7} >> shift) + first;
    const uint32_t known = v->known, mark = v->mark, next = PART >> shift;
    cells who = from, free = ~(cells){0}, none = {0};
    for (uint32_t i = 0; i < num; i += PART, who += next) {
        free &= FREE_CELLS(*(const cells *)(wrote + i), known, who);
        if (writes)
            free &= FREE_CELLS(*(const cells *)(read + i), known, who);
    }
    uint64_t part[PART / 2];
    memcpy(part, &free, sizeof part);
    if ((part[0] & part[1] & part[2] & part[3]) != UINT64_MAX)
        return false;
    who = from;
    for (uint32_t i = 0; i < num; i += PART, who += next) {
        if (writes) {
            *(cells *)(wrote + i) = who | mark;
            *(cells *)(read + i) = none;
        } else {
            free = FREE_CELLS(*(const cells *)(read + i), known, who);
            *(cells *)(read + i) = (who & free) | (~free & MANY) | mark;
        }
    }
    return true;
}

/* For the host's vectors (struct vclock_pool). */
#define ENTER(name, UNIT)                                                                                              \
    UNIT static bool name(struct epochs *p, const struct visit *v, uint32_t word, uint32_t first, uint32_t num,        \
                          uint32_t shift) {                                                                            \
        return v->writes ? enter_row(p->wrote + word, p->read + word, v, first, num, shift, true)                      \
                         : enter_row(p->wrote + word, p->read + word, v, first, num, shift, false);                    \
    }
ENTER(enter_row_4, )
#if defined(__x86_64__)
ENTER(enter_row_8, __attribute__((target("avx2"))))
#define ENTER_ROW(wide) ((wide) ? enter_row_8 : enter_row_4)
#else
#define ENTER_ROW(wide) ((void)(wide), enter_row_4)
#endif

/* A whole warp reads words in parts, or half of it one word. False: nothing was done. */
static inline bool read_together(struct epochs *p, const struct visit *v, uint32_t word, uint32_t num) {
    bool over = !v->writes;
    for (uint32_t i = 0; i < num; i++)
        over &= p->wrote[word + i] < v->known;
    for (uint32_t i = 0; over && i < num; i++)
        p->read[word + i] = v->mark | MANY;
    return over;
}

/* visit_words for an access in its short form (enum event_halves). False: not all fit, or the form is another one, and
 * half of the lanes may have been entered. */
static inline bool visit_halves(struct epochs *p, const struct visit *v, bool wide, uint32_t first, uint32_t second,
                                uint32_t how) {
    const uint32_t size = how >> 16 & UINT8_MAX, bytes = VCLOCK_LANES * size;
    if ((first | second) % WORD || v->strong)
        return false;
    if (how & HALVES_ROW)
        return size < WORD
                   ? read_together(p, v, first / WORD, bytes / WORD)
                   : ENTER_ROW(wide)(p, v, first / WORD, v->first, bytes / WORD, (uint32_t)__builtin_ctz(size / WORD));
    return size == WORD &&
           (how & HALVES_FIRST ? ENTER_ROW(wide)(p, v, first / WORD, v->first, HALF, 0)
                               : read_together(p, v, first / WORD, 1)) &&
           (how & HALVES_SECOND ? ENTER_ROW(wide)(p, v, second / WORD, v->first + HALF, HALF, 0)
                                : read_together(p, v, second / WORD, 1));
}

/* Compares an access of any form with the cells, and enters it. False: not all lanes fit, and some may have been
 * entered. Words get a struct visit with constants in it, so the compiler can leave out the tests of them. */
static bool visit_all(struct epochs *p, const struct visit *v, bool wide, const struct event_access *e) {
    const uint32_t size = e->size, row = e->affine && e->step == size ? HALVES_ROW : 0;
    const uint32_t rows = (e->step == size ? HALVES_FIRST : 0) | (e->high == size ? HALVES_SECOND : 0);
    if (e->halves && (e->step == size || !e->step) && (e->high == size || !e->high) &&
        visit_halves(p, v, wide, (uint32_t)e->at[0], (uint32_t)e->at[HALF], size << 16 | rows | row))
        return true;
    if (e->size <= WORD)
        return v->strong   ? visit_words(p, &(struct visit){v->first, v->known, v->mark, STRONG, true}, e)
               : v->writes ? visit_words(p, &(struct visit){v->first, v->known, v->mark, 0, true}, e)
                           : visit_words(p, &(struct visit){v->first, v->known, v->mark, 0, false}, e);
    for (uint32_t m = e->by.lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m), at = (uint32_t)e->at[l];
        for (uint32_t word = at / WORD; word <= (at + e->size - 1) / WORD; word++) {
            if (!fits(p, v, l, word))
                return false;
            enter(p, v, l, word);
        }
    }
    return true;
}

/* On an access that goes to the words: from now on the cells of its words fit no access in this epoch, so these go to
 * the words, too. */
static void leave_to_words(struct epochs *p, uint32_t mark, const struct event_access *e) {
    for (uint32_t m = e->by.lanes; m; m &= m - 1) {
        const uint32_t at = (uint32_t)e->at[__builtin_ctz(m)];
        for (uint32_t word = at / WORD; word <= (at + e->size - 1) / WORD && word < p->words; word++)
            *(e->effect & EFFECT_WRITE ? &p->wrote[word] : &p->read[word]) = mark | MANY;
    }
}

bool epochs_halves(struct race *r, struct bytes_watch *b, const struct cta *cta, const struct diag_site *site,
                   uint32_t first, uint32_t second, uint32_t how) {
    struct epochs *p = b->epochs;
    const uint32_t warp = race_warp(r, cta, how & UINT16_MAX);
    struct epoch_warp *w = &p->warp[warp];
    const struct visit v = {
        .first = warp * VCLOCK_LANES + 1, .known = w->known, .mark = p->now << WHO_BITS, .writes = how & HALVES_WRITE};
    if (p->used + ENTRY_MOST > LOG_MOST || !visit_halves(p, &v, r->clocks.wide, first, second, how))
        return false;
    put_halves(p, cta, r->time, warp, first, second, how);
    sites_remember(&r->warps[warp].sites, r->time, site);
    w->last = r->time;
    p->hits++;
    return true;
}

bool epochs_access(struct race *r, struct bytes_watch *b, const struct event_access *e) {
    struct epochs *p = b->epochs;
    const uint32_t warp = race_warp_of(r, &e->by);
    struct epoch_warp *w = &p->warp[warp];
    const bool atomic = e->effect == EFFECT_ATOMIC, strong = atomic || e->by.order != ORDER_WEAK;
    const struct visit v = {.first = warp * VCLOCK_LANES + 1,
                            .known = w->known,
                            .mark = p->now << WHO_BITS,
                            .strong = atomic ? STRONG : 0,
                            .writes = e->effect & EFFECT_WRITE};
    event_spread(e);
    w->last = r->time;
    if (p->used + ENTRY_MOST > LOG_MOST)
        move_on(r, b, e->owner);
    if (e->size <= QUAD && visit_all(p, &v, r->clocks.wide, e)) {
        put_down(r, p, e, warp, strong);
        sites_remember(&r->warps[warp].sites, r->time, e->by.site);
        p->hits++;
        return true;
    }
    move_on(r, b, e->owner);
    leave_to_words(p, v.mark, e);
    if (++p->misses > TRIES && p->misses > p->hits) {
        epochs_free(p);
        b->epochs = NULL;
    }
    return false;
}

/* --- barriers ----------------------------------------------------------------------------------------------------- */

/* The lanes of the warp that exist. */
static uint32_t lanes_of(const struct race *r, uint32_t warp) {
    return warp + 1 == r->warps_each ? r->clocks.exists_last : UINT32_MAX;
}

/* Have all threads of the CTA arrived, and accessed nothing since? */
static bool met_all(const struct epochs *p, uint32_t number) {
    const struct epoch_bar *bar = &p->bar[number];
    for (uint32_t i = 0; i < p->warps; i++)
        if (!(bar->warps >> i & 1) || p->warp[i].number != number || p->warp[i].last > p->warp[i].arrived)
            return false;
    return !bar->partly;
}

/* Once all warps know that the earlier epochs are over, no later access conflicts with one in them. */
static void drop_ended(struct epochs *p) {
    for (uint32_t i = 0; i < p->warps; i++)
        if (p->warp[i].known != p->now << WHO_BITS)
            return;
    if (!p->ended) /* there may be no log */
        return;
    memmove(p->log, p->log + p->ended, p->used - p->ended);
    p->used -= p->ended;
    p->ended = 0;
}

void epochs_sync(const struct race *r, struct epochs *p, const struct event_sync *e) {
    struct epoch_bar *bar = &p->bar[e->number];
    struct epoch_warp *w = &p->warp[race_warp_of(r, &e->by)];
    switch (e->kind) {
    case SYNC_BAR_ARRIVE:
        bar->warps |= UINT32_C(1) << e->by.warp;
        bar->partly |= e->by.lanes != lanes_of(r, e->by.warp);
        w->arrived = r->time;
        w->number = e->number;
        w->next = 0;
        break;
    case SYNC_BAR_PHASE:
        if (p->now < LAST_EPOCH && met_all(p, e->number)) {
            p->now++;
            p->ended = p->used;
            for (uint32_t i = 0; i < p->warps; i++)
                p->warp[i].next = p->now << WHO_BITS;
        }
        *bar = (struct epoch_bar){0};
        break;
    default: /* SYNC_BAR_PASS: the warp knows what the barrier ended */
        if (!w->next || w->number != e->number || e->by.lanes != lanes_of(r, e->by.warp))
            return;
        w->known = w->next;
        w->next = 0;
        drop_ended(p);
        break;
    }
}
