/* check/shadow/operations.c - compares accesses of asynchronous operations to shared memory with those of threads,
 * which stamps.c keeps; contract in kept.h. Operations themselves are kept in spans.c.
 */
#include "check/shadow/stamps.h"

#define PIECES_AHEAD 16u /* expect_piece fetches so many pieces ahead */

/* An operation accesses a place: compares it with what threads did there. Operations are remembered by spans.c. */
static void engine_place(struct touch *t, struct word *w, uint32_t at) {
    if (w->wrote.time)
        stamps_judge(t, &w->wrote, true, at);
    if (t->writes && (w->read.time || w->read.flags))
        stamps_judge_readers(t, &w->read, at);
}

static void engine_word(struct touch *t, struct word *w, uint32_t base, uint32_t at, uint32_t end) {
    if (!(w->wrote.flags & STAMP_SPLIT)) {
        engine_place(t, w, base);
        return;
    }
    for (uint32_t i = at; i < end; i++)
        engine_place(t, &t->b->splits[w->wrote.time].byte[i - base], i);
}

/* After an operation's write: forgets the accesses of threads, which are ordered before it or were reported. If it
 * wrote only part of a word that is not split, nothing is forgotten: the stamps are also those of the other bytes. */
static void forget(struct touch *t, struct word *w, uint32_t base, uint32_t at, uint32_t end) {
    if (w->wrote.flags & STAMP_SPLIT) {
        struct split *s = &t->b->splits[w->wrote.time];
        for (uint32_t i = at; i < end; i++) {
            readers_clear(t->b, &s->byte[i - base].read);
            s->byte[i - base].wrote = (struct stamp){0};
        }
    } else if (end - at == WORD) {
        readers_clear(t->b, &w->read);
        w->wrote = (struct stamp){0};
    }
}

/* From now on quads [i, end) of a block count. */
static inline void part_lines(struct block *k, uint32_t i, uint32_t end) {
    for (uint32_t line = i * QUAD / LINE; k->lined && line * LINE < end * QUAD; line++)
        part_line(k, line * LINE);
}

/* The same for accesses to quads [i, end) of a block, which are in one group. A write clears them. */
static bool engine_group(struct touch *t, struct block *k, uint32_t i, uint32_t end) {
    struct group *wrote = &k->wrote[i / GROUP_QUADS], *read = &k->read[i / GROUP_QUADS];
    if (k->parted[i / GROUP_QUADS] || !knows_group(t, wrote))
        return false;
    if (!t->writes)
        return true;
    if (t->b->lost_readers || !knows_group(t, read))
        return false;
    if (end - i == GROUP_QUADS) {
        const uint32_t number = (uint32_t)(k - t->b->block) * (BLOCK_BYTES / GROUP_BYTES) + i / GROUP_QUADS;
        t->b->groups[number / 64] &= ~(UINT64_C(1) << number % 64);
        *wrote = *read = (struct group){0};
    }
    part_lines(k, i, end);
    for (; i < end; i++) {
        k->quads[i].wrote = (struct stamp){0};
        readers_clear(t->b, &k->quads[i].read);
    }
    return true;
}

/* Fast path: skips whole quads from `at` on, as long as the operation knows all accesses of threads there; a write also
 * clears them. Returns where it stopped. */
static uint32_t engine_quads(struct touch *t, struct block *k, uint32_t at, uint32_t end) {
    const uint32_t first = at % BLOCK_BYTES / QUAD, last = first + (end - at) / QUAD;
    uint32_t i = first;
    while (at % QUAD == 0 && i < last) {
        const uint32_t next = (i / GROUP_QUADS + 1) * GROUP_QUADS, stop = next < last ? next : last;
        if (engine_group(t, k, i, stop)) {
            i = stop;
            continue;
        }
        part_lines(k, i, stop);
        for (; i < stop && !(k->parted[i / GROUP_QUADS] >> i % GROUP_QUADS & 1); i++) {
            struct word *q = &k->quads[i];
            if (q->wrote.time && !is_known(t, &q->wrote))
                break;
            if (!t->writes)
                continue;
            if ((q->read.time || q->read.flags) && !are_known(t, &q->read))
                break;
            q->wrote = (struct stamp){0};
            readers_clear(t->b, &q->read);
        }
        if (i < stop)
            break;
    }
    return at + (i - first) * QUAD;
}

/* An operation's access to a quad that is not split; `whole`: to all its bytes. If lanes share the quad, this only
 * splits it. Otherwise it compares the quad; after a write to the whole quad it forgets it, after a write to a part it
 * splits it. If the quad is split now, the caller goes on with its words. */
static void engine_quad(struct touch *t, struct block *k, uint32_t at, bool whole) {
    struct word *q = quad_at(k, at);
    if (!t->writes && is_known(t, &q->wrote))
        return;
    if (is_shared(q)) {
        stamps_part_quad(t, k, at);
        return;
    }
    engine_place(t, q, at);
    if (t->writes && whole) {
        readers_clear(t->b, &q->read);
        q->wrote = (struct stamp){0};
    } else if (t->writes) { /* accesses to the other bytes stay */
        stamps_part_quad(t, k, at);
    }
}

/* An operation's access to [at, end), which is in one block. */
static void engine_words(struct touch *t, struct block *k, uint32_t at, uint32_t end) {
    for (uint32_t next; (at = engine_quads(t, k, at, end)) < end; at = next) {
        const uint32_t base = at & ~(WORD - 1), quad = (at & ~(QUAD - 1)) + QUAD;
        part_line(k, at);
        if (!is_parted(k, at)) {
            engine_quad(t, k, at, at % QUAD == 0 && quad <= end);
            next = end < quad ? end : quad;
            if (!is_parted(k, at))
                continue;
        }
        next = end < base + WORD ? end : base + WORD;
        struct word *w = word_at(k, at);
        if (!t->writes && is_known(t, &w->wrote))
            continue;
        engine_word(t, w, base, at, next);
        if (t->writes)
            forget(t, w, base, at, next);
    }
}

static void engine_range(struct touch *t, uint32_t at, uint32_t end) {
    for (uint32_t next; at < end; at = next) {
        const uint32_t block = at / BLOCK_BYTES, last = (block + 1) * BLOCK_BYTES;
        if (block >= t->b->num_blocks)
            return;
        next = end < last ? end : last;
        if (t->b->block[block].quads)
            engine_words(t, &t->b->block[block], at, next);
    }
}

/* May accesses of threads be remembered in the groups of [from, to)? */
static bool any_groups(const struct bytes_watch *b, uint32_t from, uint32_t to) {
    const uint32_t first = from / GROUP_BYTES, last = (to - 1) / GROUP_BYTES;
    for (uint32_t i = first / 64; i <= last / 64 && i < sizeof b->groups / sizeof *b->groups; i++) {
        const uint64_t after = i == first / 64 ? UINT64_MAX << first % 64 : UINT64_MAX;
        const uint64_t before = i == last / 64 ? UINT64_MAX >> (63 - last % 64) : UINT64_MAX;
        if (b->groups[i] & after & before)
            return true;
    }
    return false;
}

/* The CPU does not foresee the addresses of an operand's pieces, which are a stride apart. If their CTA has not run for
 * long, what is remembered of them may have left the cache. So this fetches it for a piece that will be compared soon.
 */
static void expect_piece(const struct bytes_watch *b, const struct span *s, uint32_t number) {
    const struct pieces *p = s->pieces;
    if (number >= p->rows * p->num)
        return;
    const uint32_t at = s->from + p->at[number % p->num] + number / p->num * p->stride;
    const struct word *quads = at / BLOCK_BYTES < b->num_blocks ? b->block[at / BLOCK_BYTES].quads : NULL;
    if (!quads)
        return;
    __builtin_prefetch(&quads[at % BLOCK_BYTES / QUAD], 1);
    __builtin_prefetch((const char *)&quads[at % BLOCK_BYTES / QUAD + 2] - 1, 1);
}

void stamps_engine(struct race *r, struct bytes_watch *b, struct cta *owner, const struct viewer *v,
                   const struct span *s) {
    if (!any_groups(b, s->from, s->to))
        return;
    struct viewer mine = *v;
    struct touch t = {.r = r, .owner = owner, .b = b, .v = &mine, .writes = s->write, .known_warp = UINT32_MAX};
    slabs_engine(&t, s);
    if (!s->pieces) {
        engine_range(&t, s->from, s->to);
        return;
    }
    const struct rows rows = {.mma = s->note, .owner = owner, .comes = true};
    t.rows = s->rows ? &rows : NULL;
    for (uint32_t g = 0; g < s->pieces->rows; g++)
        for (uint32_t i = 0; i < s->pieces->num; i++) {
            const uint32_t at = s->from + s->pieces->at[i] + g * s->pieces->stride;
            t.piece = g * s->pieces->num + i;
            expect_piece(b, s, t.piece + PIECES_AHEAD);
            engine_range(&t, at, at + s->pieces->size);
        }
}
