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

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* An access by lanes of a warp, with these flags of its stamps, joins a group. */
static void join_group(struct group *g, uint32_t time, uint32_t warp, uint8_t flags) {
    g->mixed = flags || (g->time && (g->mixed || g->warp != warp));
    g->time = time > g->time ? time : g->time;
    g->warp = (uint16_t)warp;
}

/* What is remembered of a group that has not been accessed for so many events may have left the cache. */
#define LONG_AGO 64u

/* Fetches it. */
static void expect_group(const struct block *k, uint32_t g, bool writes) {
    const char *const quads = (const char *)&k->quads[g * GROUP_QUADS];
    for (uint32_t i = 0; i < GROUP_QUADS * sizeof *k->quads; i += 64)
        __builtin_prefetch(quads + i, 1);
    for (uint32_t i = 0; writes && i < GROUP_BYTES; i += 64)
        __builtin_prefetch(k->held + g * GROUP_BYTES + i, 1);
}

/* An access joins group i of the memory. */
static void join_any(struct bytes_watch *b, uint32_t i, uint32_t time, uint32_t warp, bool writes, uint8_t flags) {
    struct block *k = &b->block[i / (BLOCK_BYTES / GROUP_BYTES)];
    const uint32_t g = i % (BLOCK_BYTES / GROUP_BYTES);
    b->groups[i / 64] |= UINT64_C(1) << i % 64;
    if (k->quads && time - k->wrote[g].time > LONG_AGO && time - k->read[g].time > LONG_AGO)
        expect_group(k, g, writes);
    if (writes || flags)
        join_group(&k->wrote[g], time, warp, flags);
    if (!writes || flags)
        join_group(&k->read[g], time, warp, flags);
}
static inline void join_one(struct bytes_watch *b, uint32_t i, uint32_t time, uint32_t warp, bool writes,
                            uint8_t flags) {
    struct block *k = &b->block[i / (BLOCK_BYTES / GROUP_BYTES)];
    struct group *of = (writes ? k->wrote : k->read) + i % (BLOCK_BYTES / GROUP_BYTES);
    if (!flags && of->time && of->warp == warp && time >= of->time && time - of->time <= LONG_AGO)
        of->time = time; /* mostly by the warp that has made all before */
    else
        join_any(b, i, time, warp, writes, flags);
}

void even_join(struct bytes_watch *b, uint32_t from, uint32_t to, uint32_t time, uint32_t warp, bool writes,
               uint8_t flags) {
    for (uint32_t i = from / GROUP_BYTES; i <= (to - 1) / GROUP_BYTES; i++)
        join_one(b, i, time, warp, writes, flags);
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

/* A row during its check. */
struct row_touch {
    struct row row;
    struct block *k;
    uint32_t at;                     /* offset in the block */
    uint32_t who;                    /* of the first quad's stamp */
    uint32_t known_warp, known_time; /* cache: all lanes of this warp are known up to this time */
};

/* verdict_known_time for the row's warp. By default it needs no viewer. */
static __attribute__((noinline)) uint32_t known_time(const struct row *row, uint32_t of) {
    struct warp_watch *w = &row->r->warps[row->warp];
    if (!row->e || !row->r->strict) {
        w->known_warp = of;
        w->known_time = vclock_all_lanes(w->strand->k.now[LAYER_ORDER], of);
        return w->known_time;
    }
    const struct viewer v = viewer_of_strand(row->r, &row->e->by, row->warp, w->strand, row->e->effect);
    return verdict_known_time(row->r, of, &v);
}

/* As is_plain, for a stamp of others than the lanes themselves. */
static inline bool row_knows(struct row_touch *x, const struct stamp *s) {
    if (s->flags || !s->time)
        return !s->flags;
    if (s->warp != x->known_warp) {
        x->known_warp = s->warp;
        x->known_time = known_time(&x->row, s->warp);
    }
    return s->time <= x->known_time;
}

/* Can an access by these lanes take the place of what the quad, or the line, has? */
static inline bool row_fits(struct row_touch *x, const struct word *w, uint32_t who) {
    return (is_mine(stamp_bits(&w->wrote), who) || row_knows(x, &w->wrote)) && is_mine(stamp_bits(&w->read), who);
}

/* On an access to `num` places of `bytes` bytes, all quads or all lines, from *w on; each has so many lanes more than
 * the one before. Returns how many it enters: those before the first that needs the full check. */
static inline uint32_t row_places(struct row_touch *x, struct word *w, uint32_t num, uint32_t bytes, uint32_t lanes) {
    const struct stamp first = {.time = x->row.r->time, .who = x->who}, lane = {.lane = 1};
    const uint64_t next = lanes * stamp_bits(&lane), none = 0;
    uint64_t mine = stamp_bits(&first);
    if (!x->row.writes) {
        for (uint32_t i = 0; i < num; i++, w++, mine += next) {
            if (!row_fits(x, w, (uint32_t)(mine >> 32)))
                return i;
            memcpy(&w->read, &mine, sizeof mine);
        }
        return num;
    }
    const uint8_t *from = x->row.owner->smem + x->row.at;
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
static __attribute__((noinline)) uint32_t row_quads(struct row_touch x) {
    const uint32_t size = x.row.size, end = x.at + VCLOCK_LANES * size, num = (end - x.at) / QUAD;
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

uint32_t even_row(struct bytes_watch *b, const struct row *row) {
    const uint32_t at = row->at, size = row->size, in = at % BLOCK_BYTES;
    struct block *k = &b->block[at / BLOCK_BYTES];
    if (at % QUAD || size > QUAD || !shares[size] || !k->quads || in + VCLOCK_LANES * size > BLOCK_BYTES)
        return UINT32_MAX;
    struct row_touch x = {*row, k, in, 0, UINT32_MAX, 0};
    x.who = (struct stamp){.warp = (uint16_t)row->warp, .lane = shares[size] - 1}.who;
    const uint32_t num = VCLOCK_LANES * size / LINE, lanes = LINE >> __builtin_ctz(size);
    if (!num || at % LINE || ~k->lined >> in / LINE << (64 - num))
        return row_quads(x);
    const uint32_t done = row_places(&x, k->lines + in / LINE, num, LINE, lanes);
    return done == num ? 0 : UINT32_MAX << done * lanes;
}

/* --- whole rows --------------------------------------------------------------------------------------------------- */

bool even_whole_row(struct bytes_watch *b, const struct row *row) {
    const uint32_t from = row->at, end = from + VCLOCK_LANES * row->size;
    const struct spans *k = &b->spans[from / SPANS_BYTES];
    if (k->num || k->any_lost || b->slab_at[from / GROUP_BYTES] || b->slab_at[(end - 1) / GROUP_BYTES] ||
        even_row(b, row))
        return false;
    even_join(b, from, end, row->r->time, row->warp, row->writes, 0);
    return true;
}

/* The same by lines (rows of bytes: by quads), if these count and the warp was the last one in their groups. False:
 * perhaps some have been entered. It calls nothing: even_whole_row has the rest, and does all again. */
static inline __attribute__((always_inline)) bool touch_places(const struct race *r, const struct warp_watch *w,
                                                               struct block *k, const struct cta *cta, uint32_t warp,
                                                               uint32_t at, uint32_t size, bool writes) {
    const uint32_t in = at % BLOCK_BYTES, bytes = VCLOCK_LANES * size, place = size == 1 ? QUAD : LINE;
    const uint32_t num = bytes / place, any_lane = (struct stamp){.lane = UINT8_MAX}.who;
    const uint64_t all = (UINT64_C(1) << num) - 1, none = 0;
    const uint64_t next = stamp_bits(&(struct stamp){.lane = 1}) * place >> __builtin_ctz(size);
    uint64_t mine = stamp_bits(&(struct stamp){r->time, {{(uint16_t)warp, shares[size] - 1, 0}}});
    if (place == LINE
            ? in % LINE || (k->lined >> in / LINE & all) != all
            : in % bytes || k->lined >> in / LINE & 1 || !k->quads || is_parted(k, in) || is_parted(k, in + QUAD))
        return false;
    struct group *const groups = writes ? k->wrote : k->read;
    struct group *const g = groups + in / GROUP_BYTES, *const last = groups + (in + bytes - 1) / GROUP_BYTES;
    if (g->warp != warp || !g->time || (last != g && (last->warp != warp || !last->time)))
        return false;
    struct word *p = place == LINE ? k->lines + in / LINE : k->quads + in / QUAD;
    for (uint32_t i = 0; i < num; i++, p++, mine += next) {
        const uint64_t wrote = stamp_bits(&p->wrote), read = stamp_bits(&p->read);
        const bool again = !((read ^ mine) >> 32) && (uint32_t)read;
        if (read && !again)
            return false;
        /* a line's readers know its writer, or it would not be one */
        if (!(again && !writes && place == LINE) && wrote && (wrote ^ mine) >> 32 &&
            (((uint32_t)(wrote >> 32) & ~any_lane) != w->known_warp || (uint32_t)wrote > w->known_time))
            return false;
        memcpy(writes ? &p->wrote : &p->read, &mine, sizeof mine);
        if (writes)
            memcpy(&p->read, &none, sizeof none);
    }
    g->time = last->time = r->time;
    if (writes)
        memcpy(k->held + in, cta->smem + at, bytes);
    return true;
}

/* even_fast_row without its fast path for words. */
static __attribute__((noinline)) bool other_row(struct race *r, struct bytes_watch *b, const struct cta *cta,
                                                const struct diag_site *site, uint32_t at, uint32_t how) {
    const uint32_t warp = race_warp(r, cta, how & UINT16_MAX), size = how >> 16 & UINT8_MAX;
    struct warp_watch *w = &r->warps[warp];
    const struct spans *spans = &b->spans[at / SPANS_BYTES];
    struct block *k = &b->block[at / BLOCK_BYTES];
    const bool writes = how & HALVES_WRITE, fast = !spans->num && !spans->any_lost && !b->num_slabs && size != WORD;
    if (w->num_strands != 1)
        return false;
    if (!(fast && (writes ? touch_places(r, w, k, cta, warp, at, size, true)
                          : touch_places(r, w, k, cta, warp, at, size, false))) &&
        !even_whole_row(b, &(struct row){r, cta, warp, at, size, writes, NULL}))
        return false;
    sites_remember(&w->sites, r->time, site);
    return true;
}

bool even_fast_row(struct race *r, struct bytes_watch *b, const struct cta *cta, const struct diag_site *site,
                   uint32_t at, uint32_t how) {
    const uint32_t warp = race_warp(r, cta, how & UINT16_MAX);
    struct warp_watch *w = &r->warps[warp];
    const struct spans *spans = &b->spans[at / SPANS_BYTES];
    struct block *k = &b->block[at / BLOCK_BYTES];
    if ((how >> 16 & UINT8_MAX) != WORD || w->num_strands != 1 || spans->num || spans->any_lost || b->num_slabs ||
        !(how & HALVES_WRITE ? touch_places(r, w, k, cta, warp, at, WORD, true)
                             : touch_places(r, w, k, cta, warp, at, WORD, false)))
        return other_row(r, b, cta, site, at, how);
    sites_remember(&w->sites, r->time, site);
    return true;
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

/* On an access at `time` to 8 / step quads, which no operation has accessed: at at[0], at[step] and so on. The lanes
 * share them as `share` says, each so many lanes after the one before. False: some need the full check. */
static inline bool touch_matrix(struct row_touch *x, struct bytes_watch *b, const uint64_t *at, uint32_t step,
                                uint32_t time, enum share share, uint32_t lanes) {
    const struct stamp first = {time, {{(uint16_t)x->row.warp, (uint8_t)(share * SHARE), 0}}};
    const uint64_t next = lanes * stamp_bits(&(struct stamp){.lane = 1}), none = 0;
    uint64_t mine = stamp_bits(&first), parted = 0;
    uint32_t group = 0;
    for (uint32_t i = 0; i < 8; i += step, mine += next) {
        const uint32_t from = (uint32_t)at[i], in = from % BLOCK_BYTES;
        if (!i || from / GROUP_BYTES != group) {
            const struct spans *spans = &b->spans[from / SPANS_BYTES];
            x->k = &b->block[from / BLOCK_BYTES];
            if (spans->num || spans->any_lost || !x->k->quads)
                return false;
            group = from / GROUP_BYTES;
            parted = x->k->parted[in / GROUP_BYTES];
            join_one(b, group, time, x->row.warp, x->row.writes, 0);
        }
        part_line(x->k, in);
        struct word *q = x->k->quads + in / QUAD;
        if (parted >> in / QUAD % GROUP_QUADS & 1 || !row_fits(x, q, (uint32_t)(mine >> 32)))
            return false;
        memcpy(x->row.writes ? &q->wrote : &q->read, &mine, sizeof mine);
        if (x->row.writes) {
            memcpy(&q->read, &none, sizeof none);
            memcpy(x->k->held + in, x->row.owner->smem + from, QUAD);
        }
    }
    return true;
}

bool even_across(struct race *r, struct bytes_watch *b, const struct event_access *e, uint32_t warp) {
    struct row_touch x = {.row = {r, e->owner, warp, 0, e->size, e->effect & EFFECT_WRITE, e}};
    const uint64_t at[] = {e->at[0], 0, e->at[1], 0, e->at[2], 0, e->at[3], 0};
    x.known_warp = UINT32_MAX;
    return is_across(e->at) && touch_matrix(&x, b, at, 2, r->time, SHARE_ACROSS, 1);
}

uint32_t even_matrix(struct race *r, struct bytes_watch *b, const struct cta *cta, const struct diag_site *site,
                     const uint64_t row[8], uint32_t how) {
    const uint32_t warp = race_warp(r, cta, how & UINT16_MAX);
    struct warp_watch *w = &r->warps[warp];
    struct row_touch x = {.row = {.r = r, .owner = cta, .warp = warp, .writes = how & HALVES_WRITE}};
    x.known_warp = UINT32_MAX;
    if (w->num_strands != 1 || b->num_slabs)
        return 0;
    if (!(how & MATRIX_TRANS)) {
        if (!touch_matrix(&x, b, row, 1, r->time, SHARE_WORDS, 4))
            return 0;
        sites_remember(&w->sites, r->time, site);
        return 1;
    }
    for (uint32_t h = 0; h < 2; h++) {
        if (!touch_matrix(&x, b, row + h, 2, r->time - 1 + h, SHARE_ACROSS, 1))
            return h;
        sites_remember(&w->sites, r->time - 1 + h, site);
    }
    return 2;
}
