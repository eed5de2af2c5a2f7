/* check/shadow/even.c - accesses to shared memory by lanes that share quads of 16 bytes; contract in stamps.h.
 *
 * Lanes side by side, the rows of ldmatrix and its columns with .trans: each quad is accessed as a whole, by lanes in a
 * known order. If the earlier accesses to it were alike, or are known, one stamp stands for all of its words.
 */
#include "check/shadow/stamps.h"

#include "base/heap.h"

/* Is it a cp.async that is known to be complete, whichever lane asks? */
static bool is_copied(struct touch *t, const struct stamp *s) {
    const enum layer layer = t->r->strict ? LAYER_SCOPED : LAYER_ORDER;
    t->v->lanes = 0;
    return s->flags == STAMP_COPY && viewer_knows_copy(t->r, t->v, layer, s->warp, s->lane, s->time);
}

/* Adds readers that share a quad, as add_reader does for each word. False: the words must do it. */
static bool add_readers(struct touch *t, struct stamp *read, const struct stamp *mine) {
    const struct vclock *now = t->v->now[LAYER_FENCED];
    if (is_own(read, mine) || (!read->flags && vclock_all_lanes(now, read->warp) >= read->time)) {
        *read = *mine;
        return true;
    }
    if (!(read->flags & READERS_STAMP)) {
        const struct stamp first = *read;
        if (!first.flags &&
            (first.warp == mine->warp || vclock_knows_any(now, first.warp, share_lanes(first.lane), first.time)))
            return false;
        *read = (struct stamp){.time = readers_new(t->b), .lane = first.lane & ~(SHARE - 1), .flags = READERS_STAMP};
        readers_append(&t->b->lists[read->time], &first, UINT64_MAX);
    }
    struct readers *list = &t->b->lists[read->time];
    for (uint32_t i = 0; i < list->num; i++)
        if (list->list[i].warp == mine->warp && !list->list[i].flags && list->list[i].share != mine->lane)
            return false;
    if (list->num >= t->b->most_readers)
        return false;
    readers_append(list, mine, t->b->most_readers);
    const uint8_t share = mine->lane & ~(SHARE - 1);
    read->lane = share > read->lane ? share : read->lane;
    return true;
}

/* The words of a quad become one again, if the accesses to all of them are plainly in order. */
static bool rejoin(struct touch *t, struct block *k, uint32_t at) {
    for (uint32_t i = 0; i < QUAD; i += WORD) {
        const struct word *w = word_at(k, at + i);
        const struct stamp mine = share_part(&t->stamp, i);
        const bool own = share_of(&t->stamp) < SHARE_FINE;
        if (!(own && is_own(&w->wrote, &mine)) && !is_known(t, &w->wrote))
            return false;
        if (!(own && is_own(&w->read, &mine)) && !are_known(t, &w->read))
            return false;
    }
    for (uint32_t i = 0; i < QUAD; i += WORD)
        readers_clear(t->b, &word_at(k, at + i)->read);
    set_parted(k, at, false);
    *quad_at(k, at) = (struct word){0};
    return true;
}

/* On an access to a whole quad, as t->stamp says. False: nothing was done. */
static bool touch_together(struct touch *t, uint32_t at) {
    struct block *k = &t->b->block[at / BLOCK_BYTES];
    const struct stamp *mine = &t->stamp;
    part_line(k, at);
    if (!k->quads || (is_parted(k, at) && !(t->writes && rejoin(t, k, at))))
        return false;
    struct word *q = quad_at(k, at);
    if (!is_plain(t, &q->wrote, mine) && !is_copied(t, &q->wrote))
        return false;
    if (!t->writes)
        return add_readers(t, &q->read, mine);
    if (!is_own(&q->read, mine) && !are_known(t, &q->read))
        return false;
    if (q->read.flags)
        readers_clear(t->b, &q->read);
    q->read = (struct stamp){0};
    q->wrote = *mine;
    hold(t, k, at, QUAD);
    return true;
}

/* Do `num` lanes have a quad, each as many bytes of it after the other? */
static inline bool is_quad(const uint64_t *at, uint32_t num, uint32_t further) {
    uint64_t odd = at[0] % QUAD;
    for (uint32_t i = 1; i < num; i++)
        odd |= at[i * further] ^ (at[0] + i * (QUAD / num));
    return !odd;
}

/* How lanes share a quad, by the bytes of each: the upper bits of the stamp's lane, + 1; 0: otherwise. */
static const uint8_t shares[QUAD + 1] = {[1] = SHARE_BYTES * SHARE + 1,
                                         [2] = SHARE_HALVES * SHARE + 1,
                                         [4] = SHARE_WORDS * SHARE + 1,
                                         [8] = SHARE_DOUBLES * SHARE + 1,
                                         [QUAD] = SHARE_ONE * SHARE + 1};

uint32_t even_touch(struct touch *t, const struct event_access *e, uint32_t lanes) {
    const bool across = e->size == 2 && lanes == UINT32_MAX && e->at[4] == e->at[0] + 2;
    const uint32_t num = QUAD / e->size, further = across ? 4 : 1, step = across ? 1 : num;
    const uint32_t share = across ? SHARE_ACROSS * SHARE : shares[e->size] - 1u;
    const bool row = e->affine && e->step == e->size && e->at[0] % QUAD == 0;
    const uint32_t next_lane = (struct stamp){.lane = 1}.who;
    t->stamp.lane = 0;
    const uint32_t first = t->stamp.who + share * next_lane;
    for (uint32_t l = 0; l < (across ? 4 : VCLOCK_LANES); l += step) {
        const uint32_t mine = share_lanes(share + l);
        if (!(lanes & mine))
            continue;
        t->stamp.who = first + l * next_lane;
        const bool quad = !(mine & ~lanes) && (row || is_quad(e->at + l, num, further));
        if (!quad || !touch_together(t, (uint32_t)e->at[l]))
            break;
        lanes &= ~mine;
    }
    return lanes;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

void even_part_line(struct block *k, uint32_t line) {
    const struct word *l = &k->lines[line];
    struct word *q = k->quads + line * (LINE / QUAD);
    for (uint32_t i = 0; i < LINE / QUAD; i++)
        q[i] = (struct word){line_part(&l->wrote, i), line_part(&l->read, i)};
    k->lined &= ~(UINT64_C(1) << line);
}

struct block *even_block(struct bytes_watch *b, uint32_t at) {
    struct block *k = &b->block[at / BLOCK_BYTES];
    if (!k->quads) {
        k->quads = xcalloc(BLOCK_BYTES / QUAD + BLOCK_BYTES / LINE, sizeof *k->quads);
        k->lines = k->quads + BLOCK_BYTES / QUAD;
        k->held = xcalloc(BLOCK_BYTES, 1);
    }
    part_line(k, at);
    return k;
}

static inline bool is_part(const struct stamp *s, const struct stamp *first, uint32_t i) {
    const struct stamp should = line_part(first, i);
    return s->time == should.time && s->who == should.who;
}

/* After a row: from now on the line counts, if it can say the same of earlier writes as its quads. */
static void join_line(struct block *k, uint32_t line) {
    const struct word *q = k->quads + line * (LINE / QUAD);
    for (uint32_t i = 0; i < LINE / QUAD; i++)
        if (q[i].wrote.flags || !is_part(&q[i].wrote, &q->wrote, i))
            return;
    k->lines[line] = *q;
    k->lined |= UINT64_C(1) << line;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Are some of these quads split into words? They are at most 64. */
static inline bool any_parted(const struct block *k, uint32_t first, uint32_t num) {
    const uint64_t from = k->parted[first / 64] >> first % 64;
    const uint32_t last = first + num - 1;
    return last / 64 == first / 64 ? from << (64 - num) : from | k->parted[last / 64] << (63 - last % 64);
}

/* A row during its check: all lanes of a warp, one after the other. */
struct row {
    struct race *r;
    const struct event_access *e;
    struct block *k;
    uint32_t warp, at;               /* at: offset in the block */
    uint32_t who;                    /* of the first quad's stamp */
    uint32_t known_warp, known_time; /* cache: all lanes of this warp are known up to this time */
};

/* verdict_known_time for `warp`, which has one strand. By default it needs no viewer. */
static __attribute__((noinline)) uint32_t known_time(const struct race *r, const struct event_access *e, uint32_t warp,
                                                     uint32_t of) {
    const struct strand *all = r->warps[warp].strand;
    if (!r->strict)
        return vclock_all_lanes(all->k.now[LAYER_ORDER], of);
    const struct viewer v = viewer_of_strand(r, &e->by, warp, all, e->effect);
    return verdict_known_time(r, of, &v);
}

/* As is_plain, for a stamp of others than the lanes themselves. */
static inline bool row_knows(struct row *x, const struct stamp *s) {
    if (s->flags || !s->time)
        return !s->flags;
    if (s->warp != x->known_warp) {
        x->known_warp = s->warp;
        x->known_time = known_time(x->r, x->e, x->warp, s->warp);
    }
    return s->time <= x->known_time;
}

/* Can an access by these lanes take the place of what the quad, or the line, has? */
static inline bool row_fits(struct row *x, const struct word *w, uint32_t who) {
    return (w->wrote.who == who || row_knows(x, &w->wrote)) && (w->read.who == who || !(w->read.time | w->read.flags));
}

/* On an access to `num` places of `bytes` bytes, all quads or all lines, from *w on; each has so many lanes more than
 * the one before. Returns how many it enters: those before the first that needs the full check. */
static inline uint32_t row_places(struct row *x, struct word *w, uint32_t num, uint32_t bytes, uint32_t lanes) {
    const struct stamp first = {.time = x->r->time, .who = x->who}, lane = {.lane = 1};
    const uint64_t next = lanes * stamp_bits(&lane), none = 0;
    uint64_t mine = stamp_bits(&first);
    if (!(x->e->effect & EFFECT_WRITE)) {
        for (uint32_t i = 0; i < num; i++, w++, mine += next) {
            if (!row_fits(x, w, (uint32_t)(mine >> 32)))
                return i;
            memcpy(&w->read, &mine, sizeof mine);
        }
        return num;
    }
    const uint8_t *from = x->e->owner->smem + x->e->at[0];
    uint8_t *held = x->k->held + x->at;
    for (uint32_t i = 0; i < num; i++, w++, mine += next, held += bytes, from += bytes) {
        if (!row_fits(x, w, (uint32_t)(mine >> 32)))
            return i;
        memcpy(&w->wrote, &mine, sizeof mine);
        memcpy(&w->read, &none, sizeof none);
        memcpy(held, from, bytes);
    }
    return num;
}

/* On a row whose lines do not all count: by quads. Returns the lanes that need the full check. */
static __attribute__((noinline)) uint32_t row_quads(struct row x) {
    const uint32_t size = x.e->size, end = x.at + VCLOCK_LANES * size, num = (end - x.at) / QUAD;
    const uint32_t lanes = QUAD >> __builtin_ctz(size);
    for (uint32_t at = x.at; at < end; at += QUAD)
        part_line(x.k, at);
    if (any_parted(x.k, x.at / QUAD, num))
        return UINT32_MAX;
    const uint32_t done = row_places(&x, x.k->quads + x.at / QUAD, num, QUAD, lanes);
    if (done < num)
        return UINT32_MAX << done * lanes;
    for (uint32_t at = x.at; at % LINE == 0 && at + LINE <= end; at += LINE)
        join_line(x.k, at / LINE);
    return 0;
}

uint32_t even_row(struct race *r, struct bytes_watch *b, const struct event_access *e, uint32_t warp) {
    const uint32_t at = (uint32_t)e->at[0], size = e->size, in = at % BLOCK_BYTES;
    struct block *k = &b->block[at / BLOCK_BYTES];
    if (at % QUAD || size > QUAD || !shares[size] || !k->quads || in + VCLOCK_LANES * size > BLOCK_BYTES)
        return UINT32_MAX;
    struct row x = {r, e, k, warp, in, 0, UINT32_MAX, 0};
    x.who = (struct stamp){.warp = (uint16_t)warp, .lane = shares[size] - 1}.who;
    const uint32_t num = VCLOCK_LANES * size / LINE, lanes = LINE >> __builtin_ctz(size);
    if (!num || at % LINE || ~k->lined >> in / LINE << (64 - num))
        return row_quads(x);
    const uint32_t done = row_places(&x, k->lines + in / LINE, num, LINE, lanes);
    return done == num ? 0 : UINT32_MAX << done * lanes;
}

/* The first four lanes have a quad each, of which the other lanes have the next 2 bytes. */
typedef uint64_t two_places __attribute__((vector_size(16), aligned(8), may_alias));
static inline bool is_across(const uint64_t *at) {
    const two_places *const places = (const void *)at;
    two_places first = places[0], other = places[1], odd = (first | other) & (QUAD - 1);
    for (uint32_t i = 2; i < VCLOCK_LANES / 2; i += 2) {
        first += 2;
        other += 2;
        odd |= (places[i] ^ first) | (places[i + 1] ^ other);
    }
    return !(odd[0] | odd[1]);
}

bool even_across(struct race *r, struct bytes_watch *b, const struct event_access *e, uint32_t warp) {
    if (!is_across(e->at))
        return false;
    const bool writes = e->effect & EFFECT_WRITE;
    struct row x = {.r = r, .e = e, .warp = warp, .known_warp = UINT32_MAX};
    struct stamp mine = {r->time, {{(uint16_t)warp, SHARE_ACROSS * SHARE, 0}}};
    for (uint32_t l = 0; l < 4; l++, mine.lane++) {
        const uint32_t at = (uint32_t)e->at[l];
        const struct spans *spans = &b->spans[at / SPANS_BYTES];
        struct block *k = &b->block[at / BLOCK_BYTES];
        if (spans->num || spans->any_lost || !k->quads)
            return false;
        part_line(k, at);
        struct word *q = quad_at(k, at);
        if (is_parted(k, at) || !row_fits(&x, q, mine.who))
            return false;
        *q = writes ? (struct word){.wrote = mine} : (struct word){q->wrote, mine};
        if (writes)
            memcpy(k->held + at % BLOCK_BYTES, e->owner->smem + at, QUAD);
    }
    return true;
}
