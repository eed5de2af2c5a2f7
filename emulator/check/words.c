/* check/words.c - accesses of threads to shared memory, word by word; race.h.
 *
 * Of each word: who wrote it last, and who has read it since. What came before that write is ordered before it, or was
 * told. Several readers, and bytes of a word with different fates, are kept apart.
 */
#include "check/race.h"

#include "base/heap.h"

#define WORD 4u
#define BLOCK_WORDS (BLOCK_BYTES / WORD)
#define MAX_READERS 128u /* of one place; of more, the oldest are forgotten */

struct readers {
    uint32_t num, cap;
    struct reader {
        uint32_t time, lanes;
        uint16_t warp;
        uint8_t flags;
    } *list;
};

struct split {
    struct word byte[WORD];
};

/* One lane's access. */
struct touch {
    struct race *r;
    struct cta *owner;
    struct bytes_watch *b;
    struct viewer v;
    struct stamp stamp;
    bool writes, strong;
    bool told; /* of this instruction */
};

struct bytes_watch *bytes_of(struct race *r, struct cta *owner) {
    struct cta_watch *c = race_cta(r, owner);
    if (c->bytes)
        return c->bytes;
    struct bytes_watch *b = c->bytes = xcalloc(1, sizeof *b);
    b->num_blocks = (owner->smem_end + BLOCK_BYTES - 1) / BLOCK_BYTES;
    b->block = xcalloc(b->num_blocks, sizeof *b->block);
    return b;
}

/* --- one place: a word, or a byte of one -------------------------------------------------------------------------- */

static void report(struct touch *t, const struct diag *rule, const struct stamp *first, bool wrote, uint32_t at) {
    if (!t->told)
        verdict_tell_stamp(t->r, rule, first, wrote, &t->v, t->writes, t->owner, at);
    t->told = true;
}

/* Is what `first` did ordered before the access, or no conflict? */
static void judge(struct touch *t, const struct stamp *first, bool wrote, uint32_t at) {
    const bool warp = (first->flags | t->stamp.flags) & STAMP_WARP;
    const bool own = first->warp == t->stamp.warp && (first->lane == t->stamp.lane || warp);
    if (own && !(first->flags & STAMP_COPY) && !t->v.note)
        return;
    if (t->strong && first->flags & STAMP_STRONG)
        return;
    const struct diag *rule = verdict_stamp(t->r, first, wrote, &t->v, t->writes);
    if (rule)
        report(t, rule, first, wrote, at);
}

static void judge_readers(struct touch *t, const struct stamp *read, uint32_t at) {
    if (!(read->flags & STAMP_MANY)) {
        judge(t, read, false, at);
        return;
    }
    const struct readers *list = &t->b->lists[read->time];
    for (uint32_t i = 0; i < list->num; i++)
        for (uint32_t m = list->list[i].lanes; m; m &= m - 1) {
            const struct reader *one = &list->list[i];
            judge(t, &(struct stamp){one->time, one->warp, (uint8_t)__builtin_ctz(m), one->flags}, false, at);
        }
}

static uint32_t new_list(struct bytes_watch *b) {
    for (uint32_t i = 0; i < b->num_lists; i++)
        if (!b->lists[i].num)
            return i;
    b->lists = xgrow(b->lists, b->num_lists, &b->cap_lists, sizeof *b->lists);
    b->lists[b->num_lists] = (struct readers){0};
    return b->num_lists++;
}

static void append(struct readers *list, const struct stamp *s) {
    for (uint32_t i = 0; i < list->num; i++) {
        struct reader *one = &list->list[i];
        if (one->warp != s->warp || one->flags != s->flags)
            continue;
        if (one->time == s->time) {
            one->lanes |= 1u << s->lane;
            return;
        }
        one->lanes &= ~(1u << s->lane); /* the later one counts */
        if (!one->lanes)
            list->list[i--] = list->list[--list->num];
    }
    if (list->num == MAX_READERS)
        list->list[0] = list->list[--list->num];
    list->list = xgrow(list->list, list->num, &list->cap, sizeof *list->list);
    list->list[list->num++] = (struct reader){s->time, 1u << s->lane, s->warp, s->flags};
}

static void clear_readers(struct bytes_watch *b, struct stamp *read) {
    if (read->flags & STAMP_MANY)
        b->lists[read->time].num = 0;
    *read = (struct stamp){0};
}

/* A reader more. One that the new one knows of need not be kept: whoever is ordered behind the new one is behind it. */
static void add_reader(struct touch *t, struct stamp *read) {
    const struct stamp *s = &t->stamp;
    const bool own = read->warp == s->warp && read->lane == s->lane;
    if (!read->flags && (!read->time || own || clock_knows_lane(t->v.now[LAYER_FENCED], read->warp, read->lane, read->time))) {
        *read = *s;
        return;
    }
    if (!(read->flags & STAMP_MANY)) {
        const struct stamp first = *read;
        *read = (struct stamp){.time = new_list(t->b), .flags = STAMP_MANY};
        append(&t->b->lists[read->time], &first);
    }
    append(&t->b->lists[read->time], s);
}

static void touch_place(struct touch *t, struct word *w, uint32_t at) {
    if (w->wrote.time)
        judge(t, &w->wrote, true, at);
    if (!t->writes) {
        add_reader(t, &w->read);
        return;
    }
    if (w->read.time || w->read.flags)
        judge_readers(t, &w->read, at);
    clear_readers(t->b, &w->read);
    w->wrote = t->stamp;
}

/* --- words and bytes ---------------------------------------------------------------------------------------------- */

static struct split *split_word(struct bytes_watch *b, struct word *w) {
    if (w->wrote.flags & STAMP_SPLIT)
        return &b->splits[w->wrote.time];
    b->splits = xgrow(b->splits, b->num_splits, &b->cap_splits, sizeof *b->splits);
    struct split *s = &b->splits[b->num_splits];
    for (uint32_t i = 0; i < WORD; i++) {
        s->byte[i].wrote = w->wrote;
        s->byte[i].read = (struct stamp){0};
        if (w->read.flags & STAMP_MANY) {
            const uint32_t list = new_list(b);
            for (uint32_t k = 0; k < b->lists[w->read.time].num; k++) {
                const struct reader *one = &b->lists[w->read.time].list[k];
                for (uint32_t m = one->lanes; m; m &= m - 1)
                    append(&b->lists[list],
                           &(struct stamp){one->time, one->warp, (uint8_t)__builtin_ctz(m), one->flags});
            }
            s->byte[i].read = (struct stamp){.time = list, .flags = STAMP_MANY};
        } else {
            s->byte[i].read = w->read;
        }
    }
    clear_readers(b, &w->read);
    w->wrote = (struct stamp){.time = b->num_splits++, .flags = STAMP_SPLIT};
    return s;
}

/* Bytes [at, end) of the word that begins at `base`. */
static void touch_word(struct touch *t, struct word *w, uint32_t base, uint32_t at, uint32_t end) {
    const bool split = w->wrote.flags & STAMP_SPLIT;
    if (!split && end - at == WORD) {
        touch_place(t, w, base);
        return;
    }
    struct split *s = split_word(t->b, w);
    for (uint32_t i = at; i < end; i++)
        touch_place(t, &s->byte[i - base], i);
}

static struct word *words_at(struct bytes_watch *b, uint32_t block) {
    struct block *k = &b->block[block];
    if (!k->words)
        k->words = xcalloc(BLOCK_WORDS, sizeof *k->words);
    return k->words;
}

static void touch_lane(struct touch *t, uint32_t at, uint32_t size) {
    if (spans_meet(t->r, t->owner, &t->v, at, size, t->writes))
        t->told = true;
    for (uint32_t end = at + size, next; at < end; at = next) {
        const uint32_t base = at & ~(WORD - 1);
        next = end < base + WORD ? end : base + WORD;
        struct word *words = words_at(t->b, at / BLOCK_BYTES);
        touch_word(t, &words[base % BLOCK_BYTES / WORD], base, at, next);
    }
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void remember(struct warp_watch *w, uint32_t time, const struct diag_site *site) {
    if (w->log_end && w->log[(w->log_end - 1) % w->log_room].time == time)
        return;
    if (w->log_end == w->log_room && w->log_room < RACE_LOG) {
        w->log_room = w->log_room ? 4 * w->log_room : 256;
        w->log = xrealloc_array(w->log, w->log_room, sizeof *w->log);
    }
    w->log[w->log_end++ % w->log_room] = (struct place){time, site};
}

static void touch_lanes(struct touch *t, const struct event_access *e, uint32_t warp, uint32_t lanes, uint32_t time,
                        uint8_t flags) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        t->v.lanes = 1u << l;
        t->stamp = (struct stamp){time, (uint16_t)warp, (uint8_t)l, flags};
        touch_lane(t, (uint32_t)e->at[l], e->size);
    }
}

void words_access(struct race *r, const struct event_access *e, const struct note *copy) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    struct warp_watch *w = &r->warps[warp];
    struct touch t = {.r = r, .owner = e->owner, .b = bytes_of(r, e->owner), .writes = e->effect & EFFECT_WRITE};
    t.strong = e->by.order != ORDER_WEAK || e->effect == EFFECT_ATOMIC;
    const uint8_t flags = (t.strong ? STAMP_STRONG : 0) | (e->agent == AGENT_TENSOR_ALLOC ? STAMP_WARP : 0);
    if (copy) {
        t.v = viewer_of_note(&e->by, copy, false, copy->name);
        touch_lanes(&t, e, warp, e->by.lanes, copy->time, STAMP_COPY);
        return;
    }
    remember(w, r->time, e->by.site);
    for (uint32_t i = 0; i < w->num_strands; i++) {
        t.v = viewer_of_strand(r, &e->by, warp, &w->strand[i], e->effect);
        touch_lanes(&t, e, warp, e->by.lanes & w->strand[i].lanes, r->time, flags);
    }
}

/* --- against operations ------------------------------------------------------------------------------------------- */

static void engine_place(struct touch *t, struct word *w, uint32_t at) {
    if (w->wrote.time)
        judge(t, &w->wrote, true, at);
    if (t->writes && (w->read.time || w->read.flags))
        judge_readers(t, &w->read, at);
}

static void engine_word(struct touch *t, struct word *w, uint32_t base, uint32_t at, uint32_t end) {
    if (!(w->wrote.flags & STAMP_SPLIT)) {
        engine_place(t, w, base);
        return;
    }
    for (uint32_t i = at; i < end; i++)
        engine_place(t, &t->b->splits[w->wrote.time].byte[i - base], i);
}

/* What threads did there is behind the operation now. */
static void forget(struct touch *t, struct word *w, uint32_t base, uint32_t at, uint32_t end) {
    if (w->wrote.flags & STAMP_SPLIT) {
        struct split *s = &t->b->splits[w->wrote.time];
        for (uint32_t i = at; i < end; i++) {
            clear_readers(t->b, &s->byte[i - base].read);
            s->byte[i - base].wrote = (struct stamp){0};
        }
    } else if (end - at == WORD) {
        clear_readers(t->b, &w->read);
        w->wrote = (struct stamp){0};
    }
}

static void engine_range(struct touch *t, uint32_t at, uint32_t end) {
    for (uint32_t next; at < end; at = next) {
        const uint32_t base = at & ~(WORD - 1), block = at / BLOCK_BYTES;
        next = end < base + WORD ? end : base + WORD;
        if (block >= t->b->num_blocks)
            return;
        struct block *k = &t->b->block[block];
        if (!k->words) {
            next = (block + 1) * BLOCK_BYTES;
            continue;
        }
        struct word *w = &k->words[base % BLOCK_BYTES / WORD];
        engine_word(t, w, base, at, next);
        if (t->writes)
            forget(t, w, base, at, next);
    }
}

static bool any_words(const struct bytes_watch *b, uint32_t from, uint32_t to) {
    for (uint32_t i = from / BLOCK_BYTES; i <= (to - 1) / BLOCK_BYTES && i < b->num_blocks; i++)
        if (b->block[i].words)
            return true;
    return false;
}

void words_engine(struct race *r, struct cta *owner, const struct viewer *v, const struct span *s) {
    struct touch t = {.r = r, .owner = owner, .b = bytes_of(r, owner), .v = *v, .writes = s->write};
    if (!any_words(t.b, s->from, s->to))
        return;
    if (!s->pieces) {
        engine_range(&t, s->from, s->to);
        return;
    }
    for (uint32_t g = 0; g < s->pieces->rows; g++)
        for (uint32_t i = 0; i < s->pieces->num; i++) {
            const uint32_t at = s->pieces->at[i] + g * s->pieces->stride;
            engine_range(&t, at, at + s->pieces->size);
        }
}

void words_free(struct bytes_watch *b) {
    for (uint32_t i = 0; i < b->num_blocks; i++)
        xfree(b->block[i].words);
    for (uint32_t i = 0; i < b->num_lists; i++)
        xfree(b->lists[i].list);
    xfree(b->lists);
    xfree(b->splits);
}
