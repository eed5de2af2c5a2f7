/* check/shadow/stamps.c - accesses of threads to shared memory, word by word; contract in kept.h.
 *
 * Each word has its last writer and the readers since. Earlier accesses are ordered before that write, or were
 * reported. Several readers are in a list (readers.c). A word whose bytes have different histories is split into bytes.
 * Four words with the same history, as a thread's vector access or lanes side by side (even.c) leave them, are one
 * quad. Accesses of operations are compared with these in operations.c.
 */
#include "check/shadow/stamps.h"

#include "base/heap.h"

#include <string.h>

/* --- one place: a word, or a byte of one -------------------------------------------------------------------------- */

/* Reports a conflict with `first` at a place; about operand A it may be kept instead (sums.c). */
static bool tell(const struct touch *t, const struct diag *rule, const struct stamp *first, bool wrote, uint32_t at) {
    const struct spot spot = {IN_SHARED, t->owner, at};
    const struct conflict f = verdict_stamp_conflict(t->r, rule, first, wrote, t->v, t->writes, &spot);
    if (!t->rows)
        return sums_tell(t->r, NULL, &f);
    struct rows rows = *t->rows;
    sums_add_piece(&rows, t->piece);
    return sums_tell(t->r, &rows, &f);
}

/* Reports once for each instruction. A finding of the strict level does not hide a later one. */
static void report(struct touch *t, const struct diag *rule, const struct stamp *first, bool wrote, uint32_t at) {
    bool *told = rule->class == DIAG_STRICT ? &t->told_strictly : &t->told;
    if (!*told)
        *told = tell(t, rule, first, wrote, at);
}

void stamps_judge(struct touch *t, const struct stamp *first, bool wrote, uint32_t at) {
    if (is_known(t, first))
        return;
    const bool warp = (first->flags | t->stamp.flags) & STAMP_WARP;
    const bool own = first->warp == t->stamp.warp && (first->lane == t->stamp.lane || warp);
    if (own && !(first->flags & STAMP_COPY) && !t->v->note)
        return;
    const struct diag *rule = t->strong && first->flags & STAMP_STRONG
                                  ? verdict_strong(t->r, first, t->v, t->stamp.flags & STAMP_NARROW)
                                  : verdict_stamp(t->r, first, wrote, t->v, t->writes);
    if (rule)
        report(t, rule, first, wrote, at);
}

void stamps_judge_readers(struct touch *t, const struct stamp *read, uint32_t at) {
    if (!(read->flags & READERS_STAMP)) {
        stamps_judge(t, read, read->flags & STAMP_WROTE, at);
        return;
    }
    const struct readers *list = &t->b->lists[read->time];
    if (list->lost)
        race_lost(t->r, BOUND_READERS);
    for (uint32_t i = 0; i < list->num; i++) {
        const struct reader *one = &list->list[i];
        if (is_known(t, &(struct stamp){one->time, {{one->warp, 0, one->flags}}})) /* then all its lanes */
            continue;
        for (uint32_t m = one->lanes; m; m &= m - 1)
            stamps_judge(t, &(struct stamp){one->time, {{one->warp, (uint8_t)__builtin_ctz(m), one->flags}}},
                         one->flags & STAMP_WROTE, at);
    }
}

/* Adds a reader, and drops one that it knows of: what is ordered after the new one is ordered after that. */
static void add_reader(struct touch *t, struct stamp *read) {
    const struct stamp *s = &t->stamp;
    const bool own = read->warp == s->warp && read->lane == s->lane;
    if (!read->flags &&
        (!read->time || own || vclock_knows_lane(t->v->now[LAYER_FENCED], read->warp, read->lane, read->time))) {
        *read = *s;
        return;
    }
    if (!(read->flags & READERS_STAMP)) {
        const struct stamp first = *read;
        *read = (struct stamp){.time = readers_new(t->b), .flags = READERS_STAMP};
        readers_append(&t->b->lists[read->time], &first, UINT64_MAX);
    }
    struct readers *list = &t->b->lists[read->time];
    if (list->num == t->b->most_readers)
        readers_drop_known(list, t->v->now[LAYER_FENCED]);
    readers_append(list, s, t->b->most_readers);
    t->b->lost_readers |= list->lost;
}

/* Does a thread write the value that is there already? Then the result is the same in each order, and intended. This
 * also covers lanes that write one place with one instruction: a later read gets the value of one of these lanes.
 * The value is read from memory after the instruction, so it is that lane's value for all of them. */
static bool is_same_write(const struct touch *t, const struct block *k, uint32_t at, uint32_t bytes) {
    return t->writes && !t->v->note && is_held(t, k, at, bytes);
}

/* Fast path: a plainly ordered access replaces the earlier ones. The caller keeps a write's value. False: nothing was
 * done, because it is another kind of access. */
static inline bool touch_plainly(struct touch *t, struct word *w, const struct stamp *mine, bool writes) {
    if (mine->flags & STAMP_STRONG || t->silent || !is_plain(t, &w->wrote, mine) ||
        !(is_own(&w->read, mine) || (writes && are_known(t, &w->read))))
        return false;
    if (!writes) {
        w->read = *mine;
        return true;
    }
    w->wrote = *mine;
    if (w->read.flags)
        readers_clear(t->b, &w->read);
    w->read = (struct stamp){0};
    return true;
}

/* A place keeps one writer. If a thread's atomic replaces its own weak store, a later atomic by another thread would
 * find only an atomic, and the missing order with the store would not show. So the store stays, among the readers. */
static struct stamp hidden_store(const struct touch *t, const struct word *w) {
    const struct stamp *s[] = {&w->wrote, &w->read};
    for (unsigned i = 0; t->strong && !t->v->note && i < 2; i++)
        if (s[i]->time && s[i]->flags == (i ? STAMP_WROTE : 0) && s[i]->warp == t->stamp.warp &&
            s[i]->lane == t->stamp.lane)
            return (struct stamp){s[i]->time, {{s[i]->warp, s[i]->lane, STAMP_WROTE}}};
    return (struct stamp){0};
}

/* On an access to a place: compares it with what is remembered, reports, and remembers it. */
static void touch_place(struct touch *t, struct word *w, uint32_t at, uint32_t bytes) {
    const struct block *k = &t->b->block[at / BLOCK_BYTES];
    const bool plain = touch_plainly(t, w, &t->stamp, t->writes);
    if (!plain && w->wrote.time && !is_same_write(t, k, at, bytes))
        stamps_judge(t, &w->wrote, true, at);
    if (t->writes)
        hold(t, k, at, bytes);
    if (plain)
        return;
    if (!t->writes) {
        add_reader(t, &w->read);
        return;
    }
    const struct stamp hidden = hidden_store(t, w);
    if (w->read.time || w->read.flags)
        stamps_judge_readers(t, &w->read, at);
    readers_clear(t->b, &w->read);
    w->read = hidden;
    w->wrote = t->stamp;
}

/* --- words and bytes ---------------------------------------------------------------------------------------------- */

/* The word's four bytes, each with a history of its own; splits the word at the first call. */
static struct split *split_word(struct bytes_watch *b, struct word *w) {
    if (w->wrote.flags & STAMP_SPLIT)
        return &b->splits[w->wrote.time];
    b->splits = xgrow(b->splits, b->num_splits, &b->cap_splits, sizeof *b->splits);
    struct split *s = &b->splits[b->num_splits];
    for (uint32_t i = 0; i < WORD; i++)
        s->byte[i] = (struct word){w->wrote, readers_copy(b, &w->read, 0)};
    readers_clear(b, &w->read);
    w->wrote = (struct stamp){.time = b->num_splits++, .flags = STAMP_SPLIT};
    return s;
}

/* Lanes share the word at byte `at` of a quad: gives each byte its own lane. */
static void split_shared(struct bytes_watch *b, const struct word *quad, struct word *w, uint32_t at) {
    struct split *s = split_word(b, w);
    for (uint32_t i = 0; i < WORD; i++) {
        struct word *byte = &s->byte[i];
        readers_clear(b, &byte->read);
        byte->wrote = share_part(&quad->wrote, at + i);
        byte->read = readers_copy(b, &quad->read, at + i);
    }
}

void stamps_part_quad(struct touch *t, struct block *k, uint32_t at) {
    const uint32_t base = at & ~(QUAD - 1);
    struct word *q = quad_at(k, base);
    const bool fine = share_of(&q->wrote) >= SHARE_FINE || share_of(&q->read) >= SHARE_FINE;
    if (!k->words)
        k->words = xcalloc(BLOCK_WORDS, sizeof *k->words);
    for (uint32_t i = 0; i < QUAD; i += WORD) {
        struct word *w = word_at(k, base + i);
        *w = (struct word){share_part(&q->wrote, i), readers_copy(t->b, &q->read, i)};
        if (fine)
            split_shared(t->b, q, w, i);
    }
    readers_clear(t->b, &q->read);
    set_parted(k, base, true);
}

/* On an access to bytes [at, end) of the word at `base`. */
static void touch_word(struct touch *t, struct word *w, uint32_t base, uint32_t at, uint32_t end) {
    const bool split = w->wrote.flags & STAMP_SPLIT;
    if (!split && end - at == WORD) {
        touch_place(t, w, base, WORD);
        return;
    }
    struct split *s = split_word(t->b, w);
    for (uint32_t i = at; i < end; i++)
        touch_place(t, &s->byte[i - base], i, 1);
}

/* On an access to a whole quad. */
static void touch_quad(struct touch *t, struct block *k, uint32_t at) {
    struct word *q = quad_at(k, at);
    bool split = false;
    if (!is_parted(k, at) && is_shared(q))
        stamps_part_quad(t, k, at);
    if (!is_parted(k, at)) {
        touch_place(t, q, at, QUAD);
        return;
    }
    for (uint32_t i = 0; i < QUAD; i += WORD) {
        touch_word(t, word_at(k, at + i), at + i, at + i, at + i + WORD);
        split |= word_at(k, at + i)->wrote.flags & STAMP_SPLIT;
    }
    if (!t->writes || split)
        return;
    *q = (struct word){.wrote = t->stamp};
    set_parted(k, at, false);
}

/* On a lane's access to [at, at + size): compares it with operations, and its words with other threads. */
static void touch_lane(struct touch *t, uint32_t at, uint32_t size) {
    if (!t->quiet && !t->told && spans_meet(t->r, t->b, t->owner, t->v, at, size, t->writes))
        t->told = true;
    for (uint32_t end = at + size, next; at < end; at = next) {
        const uint32_t base = at & ~(WORD - 1);
        struct block *k = even_block(t->b, at);
        next = end < base + WORD ? end : base + WORD;
        if (at % QUAD == 0 && end - at >= QUAD) {
            next = at + QUAD;
            touch_quad(t, k, at);
            continue;
        }
        if (!is_parted(k, at))
            stamps_part_quad(t, k, at);
        touch_word(t, word_at(k, at), base, at, next);
    }
}

/* Fast path for lanes with a quad each; returns the lanes that need the full check. */
static inline uint32_t touch_quads(struct touch *t, const uint64_t *at, uint32_t lanes, bool writes) {
    const uint32_t next_lane = (struct stamp){.lane = 1}.who;
    struct stamp mine = {.time = t->stamp.time, .warp = t->stamp.warp, .flags = t->stamp.flags};
    const uint32_t first = mine.who;
    struct block *k = t->b->block;
    uint32_t number = UINT32_MAX;
    bool any_parted = false;
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes), a = (uint32_t)at[lane];
        if (a / BLOCK_BYTES != number) {
            number = a / BLOCK_BYTES;
            k = &t->b->block[number];
            any_parted = k->parted[0] | k->parted[1] | k->parted[2] | k->parted[3];
        }
        mine.who = first + lane * next_lane;
        part_line(k, a);
        if (a % QUAD || !k->quads || (any_parted && is_parted(k, a)) || !touch_plainly(t, quad_at(k, a), &mine, writes))
            break;
        if (writes)
            hold(t, k, a, QUAD);
    }
    return lanes;
}

/* Are all these addresses those of quads? */
static inline bool are_quads(const uint64_t at[VCLOCK_LANES]) {
    uint64_t odd = 0;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        odd |= at[l];
    return odd % QUAD == 0;
}

/* Do the stamps of a quad let the lane with this `who` go on? The first question mostly has the answer. */
static inline bool is_free(uint64_t wrote, uint64_t read, uint32_t who, bool writes) {
    return !(writes ? ((wrote >> 32) ^ who) | read : wrote | read) || (is_mine(wrote, who) && is_mine(read, who));
}

/* The same for weak accesses by all lanes of a warp, as long as no other thread's are remembered. */
static inline uint32_t touch_own_quads(const struct touch *t, const uint64_t at[VCLOCK_LANES], bool writes) {
    const struct stamp first = {.time = t->stamp.time, .warp = t->stamp.warp}, lane = {.lane = 1};
    const uint8_t *const smem = t->owner->smem;
    uint64_t mine = stamp_bits(&first), none = 0, wrote, read;
    uint32_t begin = 0; /* of the block */
    struct block *k = NULL;
    uint8_t *held = NULL;
    char *quads = NULL;
    bool lined = false;
    _Static_assert(sizeof(struct word) == QUAD, "a quad's stamps are as far from the first as the quad");
    if (!are_quads(at))
        return UINT32_MAX;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++, mine += stamp_bits(&lane)) {
        const uint32_t a = (uint32_t)at[l];
        if (!k || a - begin >= BLOCK_BYTES) {
            k = &t->b->block[a / BLOCK_BYTES];
            begin = a & ~(BLOCK_BYTES - 1);
            quads = (char *)k->quads;
            held = k->held;
            lined = k->lined;
            if (!quads || k->parted[0] | k->parted[1] | k->parted[2] | k->parted[3])
                return UINT32_MAX << l;
        }
        char *const q = quads + a % BLOCK_BYTES;
        if (lined)
            part_line(k, a);
        memcpy(&wrote, q, sizeof wrote);
        memcpy(&read, q + sizeof wrote, sizeof read);
        if (!is_free(wrote, read, (uint32_t)(mine >> 32), writes))
            return UINT32_MAX << l;
        memcpy(writes ? q : q + sizeof wrote, &mine, sizeof mine);
        if (writes) {
            memcpy(q + sizeof wrote, &none, sizeof none);
            memcpy(held + a % BLOCK_BYTES, smem + a, QUAD);
        }
    }
    return 0;
}

/* Fast path for an atomic after atomics, none with a scope that leaves out a thread: they do not race (8.7.1). */
static inline bool touch_after_atomics(const struct touch *t, struct word *w) {
    if (t->stamp.flags != STAMP_STRONG || !t->writes || stamp_bits(&w->read) ||
        (w->wrote.flags != STAMP_STRONG && stamp_bits(&w->wrote)))
        return false;
    w->wrote = t->stamp;
    return true;
}

/* The same for a lane that accesses a word. */
static inline bool touch_one_word(struct touch *t, uint32_t at) {
    const struct block *k = &t->b->block[at / BLOCK_BYTES];
    if (at % WORD || !k->quads || !is_parted(k, at))
        return false;
    struct word *w = word_at(k, at);
    if (!touch_after_atomics(t, w) && !touch_plainly(t, w, &t->stamp, t->writes))
        return false;
    if (t->writes)
        hold(t, k, at, WORD);
    return true;
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* With the clusters in turns, what is remembered of [from, to) may have left the cache: fetches it. */
static void expect_quads(const struct bytes_watch *b, uint32_t from, uint32_t to) {
    const struct block *k = &b->block[from / BLOCK_BYTES];
    if (from / BLOCK_BYTES != (to - 1) / BLOCK_BYTES || from / BLOCK_BYTES >= b->num_blocks || !k->quads)
        return;
    for (uint32_t at = from; at < to; at += 4 * QUAD)
        __builtin_prefetch(quad_at(k, at), 1);
    for (uint32_t at = from; at < to; at += 4 * QUAD)
        __builtin_prefetch(k->held + at % BLOCK_BYTES, 1);
}

/* The least and the greatest address of lanes; `along`: those of the first and the last lane. */
static inline void find_range(const struct event_access *e, uint32_t lanes, bool along, uint32_t *from, uint32_t *to) {
    *from = along ? (uint32_t)e->at[0] : UINT32_MAX;
    *to = along ? (uint32_t)e->at[VCLOCK_LANES - 1] : 0;
    if (!along && lanes == UINT32_MAX) {
        int32_t least = INT32_MAX, most = 0; /* so every host's vectors can compare them */
        for (uint32_t l = 0; l < VCLOCK_LANES; l++) {
            const int32_t at = (int32_t)e->at[l];
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        *from = (uint32_t)least;
        *to = (uint32_t)most;
    }
    for (uint32_t m = along || lanes == UINT32_MAX ? 0 : lanes; m; m &= m - 1) {
        const uint32_t at = (uint32_t)e->at[__builtin_ctz(m)];
        *from = at < *from ? at : *from;
        *to = at > *to ? at : *to;
    }
}

/* The lanes that touch_lanes has left. Of the fast paths, too, each returns the lanes that it left, and the loop goes
 * on with the first of them. `together`: so many lanes side by side share a quad; 0: even_touch does not apply. */
static void touch_rest(struct touch *t, const struct event_access *e, uint32_t lanes, uint8_t flags) {
    const bool quads = t->quiet && e->size == QUAD, words = t->quiet && e->size == WORD;
    if (quads && !flags && lanes == UINT32_MAX)
        lanes = t->writes ? touch_own_quads(t, e->at, true) : touch_own_quads(t, e->at, false);
    const uint32_t together = t->quiet && !flags && e->size && e->size < QUAD ? QUAD / e->size : 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        if (quads && !(m = t->writes ? touch_quads(t, e->at, m, true) : touch_quads(t, e->at, m, false)))
            break;
        if (together && (uint32_t)__builtin_ctz(m) % together == 0 && !(m = even_touch(t, e, m)))
            break;
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        t->v->lanes = flags & STAMP_WARP ? UINT32_MAX : 1u << l;
        t->stamp.lane = (uint8_t)l;
        if (!words || !touch_one_word(t, (uint32_t)e->at[l]))
            touch_lane(t, (uint32_t)e->at[l], e->size);
    }
}

/* On an access by lanes of a warp that have one viewer: compares each lane's access and remembers it. `time` and
 * `flags` go into the stamps. The fast paths are tried first. [from, to + size) includes the bytes of all lanes. */
static void touch_lanes(struct touch *t, const struct event_access *e, uint32_t warp, uint32_t lanes, uint32_t time,
                        uint8_t flags) {
    const bool along = e->affine && e->step >= 0;
    uint32_t from, to;
    if (!lanes)
        return;
    find_range(e, lanes, along, &from, &to);
    if (t->owner->island->timed && to - from <= VCLOCK_LANES * QUAD)
        expect_quads(t->b, from, to + e->size);
    t->known_warp = UINT32_MAX;
    const bool rows = e->size == QUAD && !(e->affine && e->step == e->size) && !flags && lanes == UINT32_MAX;
    struct slab *slab = rows ? slabs_find(t->b, e->at, warp) : NULL;
    even_join(t->b, from, to + e->size, time, warp, t->writes, flags);
    t->quiet = !spans_doubt(t->r, t->b, t->v, from, to + e->size, t->writes);
    if (slab && t->quiet && slabs_put(slab, e, time, t->writes))
        return;
    slabs_flush(t->b, from, to + e->size);
    if (t->quiet && !flags && lanes == UINT32_MAX && along && e->step == e->size) {
        const struct row row = {t->r, e->owner, warp, from, e->size, t->writes, e};
        if (!(lanes = even_row(t->b, &row)))
            return;
    }
    t->stamp = (struct stamp){time, {{(uint16_t)warp, 0, flags}}};
    touch_rest(t, e, lanes, flags);
}

/* Fast path of stamps_remember for a whole word without readers of several threads. False: nothing was done. */
static inline bool remember_word(const struct touch *t, uint32_t at) {
    const struct block *k = &t->b->block[at / BLOCK_BYTES];
    if (at % WORD || !k->quads || !is_parted(k, at))
        return false;
    struct word *w = word_at(k, at);
    if (w->wrote.flags & STAMP_SPLIT || (t->writes ? w->read.flags & READERS_STAMP : !is_own(&w->read, &t->stamp)))
        return false;
    if (!t->writes) {
        w->read = t->stamp;
        return true;
    }
    w->read = hidden_store(t, w);
    w->wrote = t->stamp;
    hold(t, k, at, WORD);
    return true;
}

void stamps_remember(struct race *r, struct bytes_watch *b, struct cta *owner, const struct past *a) {
    static struct vclock *const nothing[LAYERS];
    struct viewer nobody = {.now = nothing};
    struct touch t = {.r = r, .owner = owner, .b = b, .v = &nobody, .writes = a->writes, .strong = a->strong};
    t.quiet = t.silent = true;
    t.known_time = UINT32_MAX;
    t.stamp = (struct stamp){a->time, {{a->warp, 0, a->strong ? STAMP_STRONG : 0}}};
    t.found = a->writes ? a->found : NULL;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        t.stamp.lane = (uint8_t)__builtin_ctz(m);
        t.found_at = a->at[t.stamp.lane];
        slabs_flush(b, t.found_at, t.found_at + a->size);
        even_join(b, t.found_at, t.found_at + a->size, a->time, a->warp, a->writes, t.stamp.flags);
        if (a->size != WORD || !remember_word(&t, t.found_at))
            touch_lane(&t, t.found_at, a->size);
        t.found += a->writes ? a->size : 0;
    }
}

/* Fast path for weak accesses by lanes with one viewer, in an order in which they share quads. False: another order, or
 * some need the full check. */
static inline bool touch_evenly(struct race *r, struct bytes_watch *b, const struct event_access *e, uint32_t warp) {
    if (e->affine && e->step == e->size) {
        const struct row row = {r, e->owner, warp, (uint32_t)e->at[0], e->size, e->effect & EFFECT_WRITE, e};
        return even_whole_row(b, &row);
    }
    return e->size == 2 && !e->halves && !b->num_slabs && e->by.lanes == UINT32_MAX && even_across(r, b, e, warp);
}

/* stamps_access, strand by strand. */
static __attribute__((noinline)) void touch_strands(struct race *r, struct bytes_watch *b, const struct event_access *e,
                                                    const struct note *copy, uint32_t warp) {
    event_spread(e);
    struct warp_watch *w = &r->warps[warp];
    struct touch t = {.r = r, .owner = e->owner, .b = b, .writes = e->effect & EFFECT_WRITE};
    t.strong = e->by.order != ORDER_WEAK || e->effect == EFFECT_ATOMIC;
    const bool as_one = e->agent == AGENT_TENSOR_ALLOC || maps_is_copy(e);
    const bool narrow = t.strong && e->by.scope < SCOPE_CLUSTER && r->cluster->num_ctas > 1;
    const uint8_t flags = (t.strong ? STAMP_STRONG : 0) | (as_one ? STAMP_WARP : 0) | (narrow ? STAMP_NARROW : 0);
    if (copy) {
        struct viewer v = viewer_of_note(&e->by, copy, false, copy->name);
        t.v = &v;
        touch_lanes(&t, e, warp, e->by.lanes, copy->time, STAMP_COPY);
        return;
    }
    sites_remember(&w->sites, r->time, e->by.site);
    for (uint32_t i = 0; i < w->num_strands; i++) {
        struct viewer v = viewer_of_strand(r, &e->by, warp, &w->strand[i], e->effect);
        t.v = &v;
        touch_lanes(&t, e, warp, e->by.lanes & w->strand[i].lanes, r->time, flags);
    }
}

/* Fast path for weak accesses by all lanes with one viewer, which come to a slab as before. */
static inline bool touch_slab(struct race *r, struct bytes_watch *b, const struct event_access *e, uint32_t warp) {
    const struct strand *strand = &r->warps[warp].strand[0];
    const bool writes = e->effect & EFFECT_WRITE;
    if (!b->num_slabs || e->size != QUAD || (e->by.lanes & strand->lanes) != UINT32_MAX)
        return false;
    event_spread(e);
    const uint32_t from = (uint32_t)e->at[0], to = (uint32_t)e->at[VCLOCK_LANES - 1] + QUAD;
    struct slab *s = slabs_next(b, e, warp, writes);
    if (!s)
        return false;
    if (!is_calm(&b->calm, warp, UINT32_MAX, from, to, writes)) {
        const struct viewer v = viewer_of_strand(r, &e->by, warp, strand, e->effect);
        if (spans_doubt(r, b, &v, from, to, writes))
            return false;
    }
    if (!s->latest[writes])
        even_join(b, from, to, r->time, warp, writes, 0);
    slabs_again(s, e, r->time);
    return true;
}

void stamps_access(struct race *r, struct bytes_watch *b, const struct event_access *e, const struct note *copy) {
    const uint32_t warp = race_warp_of(r, &e->by);
    struct warp_watch *w = &r->warps[warp];
    const bool plain = e->agent == AGENT_THREAD && e->by.order == ORDER_WEAK && e->effect != EFFECT_ATOMIC &&
                       w->num_strands == 1 && !maps_is_copy(e);
    if (plain && (touch_slab(r, b, e, warp) || touch_evenly(r, b, e, warp)))
        sites_remember(&w->sites, r->time, e->by.site);
    else
        touch_strands(r, b, e, copy, warp);
}

void stamps_free(struct bytes_watch *b) {
    for (uint32_t i = 0; i < b->num_blocks; i++) {
        xfree(b->block[i].quads);
        xfree(b->block[i].held);
        xfree(b->block[i].words);
    }
    for (uint32_t i = 0; i < b->num_lists; i++)
        xfree(b->lists[i].list);
    slabs_free(b);
    xfree(b->lists);
    xfree(b->splits);
}
