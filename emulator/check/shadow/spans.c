/* check/shadow/spans.c - the bytes of shared memory that asynchronous operations read and write; contract in kept.h.
 *
 * A span is kept until a later one that is ordered after it covers it. A copy's span is kept from its issue, because
 * the copy may run at any time after that. The tensor core's operands are kept from their read.
 */
#include "check/shadow/kept.h"

#include "base/heap.h"

#include <string.h>

#define ANSWERS 16u /* verdicts cached in struct coming, by note.number */

/* Are they the same bytes, if both spans begin at the same one? */
static bool same_pieces(const struct pieces *a, const struct pieces *b) {
    return a == b || (a && b && a->num == b->num && a->rows == b->rows && a->stride == b->stride &&
                      a->size == b->size && memcmp(a->at, b->at, a->num * sizeof *a->at) == 0);
}

/* Does the span have a byte of [at, at + size)? */
static bool covers(const struct span *s, uint32_t at, uint32_t size) {
    if (at >= s->to || s->from >= at + size)
        return false;
    if (!s->pieces)
        return true;
    for (uint32_t g = 0; g < s->pieces->rows; g++)
        for (uint32_t i = 0; i < s->pieces->num; i++) {
            const uint32_t p = s->from + s->pieces->at[i] + g * s->pieces->stride;
            if (at < p + s->pieces->size && p < at + size)
                return true;
        }
    return false;
}

/* The first common byte, or UINT32_MAX. */
static uint32_t common(const struct span *a, const struct span *b) {
    if (a->from >= b->to || b->from >= a->to)
        return UINT32_MAX;
    if (!a->pieces)
        return b->pieces ? common(b, a) : a->from > b->from ? a->from : b->from;
    for (uint32_t g = 0; g < a->pieces->rows; g++)
        for (uint32_t i = 0; i < a->pieces->num; i++) {
            const uint32_t p = a->from + a->pieces->at[i] + g * a->pieces->stride;
            if (covers(b, p, a->pieces->size))
                return p;
        }
    return UINT32_MAX;
}

/* For two spans with common bytes. If one is operand A with pieces: fills *rows with the lanes of D that depend on the
 * common rows, and returns it. Otherwise NULL. */
static const struct rows *common_rows(const struct span *a, const struct span *b, const struct cta *owner,
                                      struct rows *rows) {
    if (!a->rows)
        return b->rows ? common_rows(b, a, owner, rows) : NULL;
    if (!a->pieces)
        return NULL;
    rows->mma = a->note;
    rows->owner = owner;
    for (uint32_t g = 0; g < a->pieces->rows; g++)
        for (uint32_t i = 0; i < a->pieces->num; i++)
            if (covers(b, a->from + a->pieces->at[i] + g * a->pieces->stride, a->pieces->size))
                sums_add_piece(rows, g * a->pieces->num + i);
    return rows;
}

void spans_drop_pieces(struct pieces *p) {
    if (p && !--p->holders)
        xfree(p);
}

static void drop_span(struct race *r, struct spans *k, uint32_t i) {
    note_drop(r, k->span[i].note);
    spans_drop_pieces(k->span[i].pieces);
    k->span[i] = k->span[--k->num];
}

/* Forgets the oldest span; a later access to its bytes may need it (BOUND_SPANS). */
static void forget_span(struct race *r, struct spans *k) {
    const struct span *s = &k->span[0];
    struct lost_bytes *lost = &k->lost[s->write];
    const bool none = lost->from == lost->to;
    lost->from = none || s->from < lost->from ? s->from : lost->from;
    lost->to = none || s->to > lost->to ? s->to : lost->to;
    k->any_lost = true;
    drop_span(r, k, 0);
}

/* On an access that may conflict with forgotten spans: announces that a conflict may be missed. */
static void judge_lost(const struct race *r, const struct spans *k, uint32_t from, uint32_t to, bool writes) {
    for (unsigned wrote = !writes; wrote < 2; wrote++)
        if (from < k->lost[wrote].to && k->lost[wrote].from < to)
            race_lost(r, BOUND_SPANS);
}

/* The part of spans_doubt for the spans k. *calm gets the bytes around the access up to the next span. */
static bool doubt(const struct race *r, const struct spans *k, const struct viewer *others, uint32_t from, uint32_t to,
                  bool writes, struct calm *calm) {
    for (uint32_t i = 0; i < k->num; i++) {
        const struct span *s = &k->span[i];
        if (!s->write && !writes)
            continue;
        if (from >= s->to)
            calm->from = s->to > calm->from ? s->to : calm->from;
        else if (s->from >= to)
            calm->to = s->from < calm->to ? s->from : calm->to;
        else if (verdict_note(r, s->note, s->write, others, writes, IN_SHARED))
            return true;
    }
    return false;
}

bool spans_doubt(const struct race *r, struct bytes_watch *b, const struct viewer *v, uint32_t from, uint32_t to,
                 bool writes) {
    if (!v->note && is_calm(&b->calm, v->warp, v->lanes, from, to, writes))
        return false;
    const uint32_t first = from / SPANS_BYTES, last = (to - 1) / SPANS_BYTES;
    struct calm calm = {first * SPANS_BYTES, (last + 1) * SPANS_BYTES, v->warp, v->note ? 0 : v->lanes, writes};
    struct viewer others = *v;
    others.lanes = 0; /* the acts of one lane are not the other lanes' own */
    for (uint32_t k = first; k <= last && k < b->num_spans; k++) {
        if (b->spans[k].any_lost)
            judge_lost(r, &b->spans[k], from, to, writes);
        calm.lanes = b->spans[k].any_lost ? 0 : calm.lanes;
        if (doubt(r, &b->spans[k], &others, from, to, writes, &calm))
            return true;
    }
    b->calm = calm;
    return false;
}

bool spans_meet(const struct race *r, const struct bytes_watch *b, struct cta *owner, const struct viewer *v,
                uint32_t at, uint32_t size, bool writes) {
    for (uint32_t k = at / SPANS_BYTES; k <= (at + size - 1) / SPANS_BYTES && k < b->num_spans; k++)
        for (uint32_t i = 0; i < b->spans[k].num; i++) {
            const struct span *s = &b->spans[k].span[i];
            if ((!s->write && !writes) || at >= s->to || s->from >= at + size)
                continue;
            const struct diag *rule = verdict_note(r, s->note, s->write, v, writes, IN_SHARED);
            if (!rule || !race_tells(r, rule) || !covers(s, at, size))
                continue;
            struct rows rows = {.comes = false};
            const struct rows *of_a = common_rows(s, &(struct span){.from = at, .to = at + size}, owner, &rows);
            const struct conflict f =
                verdict_note_conflict(r, rule, s->note, s->write, v, writes, &(struct spot){IN_SHARED, owner, at});
            if (sums_tell(r, of_a, &f))
                return true;
        }
    return false;
}

/* If `s` is ordered after `old`, may `s` replace it: does each later access that conflicts with `old` also conflict
 * with `s`? */
static bool supersedes(const struct span *s, const struct span *old) {
    if (s->pieces || s->from > old->from || s->to < old->to)
        return s->from == old->from && s->to == old->to && s->write == old->write &&
               same_pieces(s->pieces, old->pieces);
    return s->write;
}

/* Tensor core operations of one thread complete in order, so the later one stands for both. */
static bool same_queue(const struct note *a, const struct note *b) {
    return a->tensor && b->tensor && a->warp == b->warp && a->lanes == b->lanes;
}

/* Pieces to keep for a span, which holds them. The stages of an operand have the same ones, so the latest are cached.
 */
static struct pieces *keep_pieces(struct pieces **latest, const struct pieces *p) {
    if (!p)
        return NULL;
    const uint32_t key = (p->at[p->num - 1] + p->num * 7 + p->rows) * 0x9e3779b1u;
    struct pieces **at = &latest[key / (UINT32_MAX / LATEST_PIECES + 1)];
    if (!same_pieces(*at, p)) {
        spans_drop_pieces(*at);
        *at = xcalloc(1, sizeof **at + p->num * sizeof *p->at);
        memcpy(*at, p, sizeof *p + p->num * sizeof *p->at);
        (*at)->holders = 1;
    }
    (*at)->holders++;
    return *at;
}

/* A new span, for one call of spans_put; and its verdicts so far: the next spans mostly have the same notes. */
struct coming {
    struct race *r;
    struct bytes_watch *b;
    struct cta *owner;
    const struct viewer *v;
    const struct span *s;
    bool told;  /* a conflict of this span has been reported */
    bool asked; /* the cache is in use: */
    struct answer {
        const struct note *note;      /* of the old span */
        bool write, conflict, behind; /* the old span is a write; they conflict; the new one is ordered after it */
        const struct diag *rule;      /* that the conflict breaks, or NULL */
    } answer[ANSWERS];
};

/* The verdict about the new span and `old`: from the cache, or new. */
static const struct answer *ask(struct coming *c, const struct span *old) {
    for (uint32_t i = 0; i < ANSWERS && !c->asked; i++)
        c->answer[i].note = NULL; /* the rest is not read */
    c->asked = true;
    struct answer *a = &c->answer[old->note->number % ANSWERS];
    if (a->note == old->note && a->write == old->write)
        return a;
    a->note = old->note;
    a->write = old->write;
    a->conflict = (c->s->write || old->write) && old->note != c->s->note;
    a->rule = a->conflict ? verdict_note(c->r, old->note, old->write, c->v, c->s->write, IN_SHARED) : NULL;
    a->behind = a->conflict
                    ? !a->rule
                    : same_queue(c->s->note, old->note) || viewer_knows_done(c->v, LAYER_ORDER, old->note, old->write);
    return a;
}

/* Fast path: a bit for the range of a span, of 64. */
static inline uint64_t range_bit(const struct span *s) {
    return UINT64_C(1) << ((s->from * 0x9e3779b1u ^ s->to * 0x85ebca6bu) >> 26);
}

/* The lane that reads an operand. */
static inline struct settled operand_of(const struct span *s) {
    const struct note *n = s->note;
    const bool operand = !s->write && n->tensor && !(n->lanes & (n->lanes - 1));
    return (struct settled){0, UINT32_MAX, n->warp, operand ? n->lanes : 0, n->time};
}

/* Are the lanes of *mine those of *k, in an operation that they have not issued before that of *k? */
static bool is_settled(const struct settled *k, const struct settled *mine) {
    return mine->lanes && mine->lanes == k->lanes && mine->warp == k->warp && mine->time >= k->time;
}

/* The read of an operand by `n` was compared with a write. Will later reads by the same lanes break no rule with it,
 * either? Lanes only learn more, and the write of a copy that signals an mbarrier stays complete once it is. */
static bool stays_known(const struct answer *a, const struct note *n) {
    return !a->rule && !a->note->tensor && a->note->written.how == DONE_TOKEN && a->note->time <= n->time;
}

/* Compares the new span with `old`, which may have bytes of it. True: the new one replaces it. */
static inline bool meet_span(struct coming *c, const struct span *old, const struct answer *a) {
    const struct span *s = c->s;
    const uint32_t at = a->rule ? common(old, s) : UINT32_MAX;
    if (at != UINT32_MAX && !c->told && race_tells(c->r, a->rule)) {
        struct rows rows = {.comes = s->rows};
        const struct conflict f = verdict_note_conflict(c->r, a->rule, old->note, old->write, c->v, s->write,
                                                        &(struct spot){IN_SHARED, c->owner, at});
        c->told = sums_tell(c->r, common_rows(s, old, c->owner, &rows), &f);
    }
    return (a->behind || at != UINT32_MAX) && supersedes(s, old);
}

/* The read of a tensor core's operand has been compared with all writes of k. None breaks a rule with it at the bytes
 * of *mine; they are joined with those before, if these are the same lanes'. */
static void settle(struct settled *k, const struct settled *mine) {
    const bool joins = is_settled(k, mine) && mine->from <= k->to && k->from <= mine->to;
    const uint32_t from = joins && k->from < mine->from ? k->from : mine->from;
    const uint32_t to = joins && k->to > mine->to ? k->to : mine->to;
    *k = *mine;
    k->from = from;
    k->to = to;
}

/* The new span has been compared with those of k: adds it. */
static inline void add_span(struct race *r, struct bytes_watch *b, struct spans *k, const struct span *s) {
    if (k->num && k->num >= b->most_spans)
        forget_span(r, k);
    if (k->num == k->cap)
        k->span = xgrow(k->span, k->num, &k->cap, sizeof *k->span);
    k->span[k->num++] = *s;
    k->reads |= s->write ? 0 : range_bit(s);
    if (s->pieces)
        s->pieces->holders++;
    note_hold(s->note);
}

/* Fast path of put_span: adds a read of an operand if its lanes knew all writes there before, and if there is no equal
 * read that it would replace. */
static inline bool put_settled(struct coming *c, struct spans *k, const struct settled *mine) {
    const struct span *s = c->s;
    if (!is_settled(&k->settled, mine) || s->from < k->settled.from || k->settled.to < s->to || k->any_lost ||
        k->reads & range_bit(s))
        return false;
    add_span(c->r, c->b, k, s);
    return true;
}

/* An old span has no bytes of the new one: what is said of writes ends there. */
static inline void end_at(struct settled *mine, const struct span *s, const struct span *old) {
    if (s->from >= old->to)
        mine->from = old->to > mine->from ? old->to : mine->from;
    else
        mine->to = old->from < mine->to ? old->from : mine->to;
}

/* Spans have gone: k->reads, unless they are many. */
static void find_reads(struct spans *k) {
    k->reads = k->num > 64 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < k->num && k->num <= 64; i++)
        k->reads |= k->span[i].write ? 0 : range_bit(&k->span[i]);
}

/* Compares the new span with those of k, and adds it. `mine`: its lanes, if it is an operand. */
static void put_span(struct coming *c, struct spans *k, struct settled mine) {
    const struct span *s = c->s;
    const uint32_t num = k->num;
    if (k->any_lost)
        judge_lost(c->r, k, s->from, s->to, s->write);
    for (uint32_t i = 0; i < k->num; i++) {
        const struct span *old = &k->span[i];
        if (s->from >= old->to || old->from >= s->to) {
            if (mine.lanes && old->write)
                end_at(&mine, s, old);
            continue;
        }
        if (!s->write && !old->write && !supersedes(s, old))
            continue;
        const struct answer *a = ask(c, old);
        if (mine.lanes && old->write && !stays_known(a, s->note))
            mine.lanes = 0;
        if (meet_span(c, old, a))
            drop_span(c->r, k, i--);
    }
    if (k->num < num)
        find_reads(k);
    if (s->write)
        k->settled.lanes = 0;
    else if (mine.lanes)
        settle(&k->settled, &mine);
    add_span(c->r, c->b, k, s);
}

void spans_put(struct race *r, struct bytes_watch *b, struct cta *owner, const struct viewer *v, const struct span *s,
               struct pieces **latest) {
    struct span mine = *s;
    struct coming c;
    c.r = r, c.b = b, c.owner = owner, c.v = v, c.s = &mine, c.told = c.asked = false;
    b->calm.lanes = 0;
    mine.pieces = keep_pieces(latest, s->pieces);
    const struct settled lanes = operand_of(s);
    for (uint32_t k = s->from / SPANS_BYTES; k <= (s->to - 1) / SPANS_BYTES && k < b->num_spans; k++)
        if (!put_settled(&c, &b->spans[k], &lanes))
            put_span(&c, &b->spans[k], lanes);
    spans_drop_pieces(mine.pieces);
}

void spans_free(struct race *r, struct bytes_watch *b) {
    for (uint32_t i = 0; i < b->num_spans; i++) {
        while (b->spans[i].num)
            drop_span(r, &b->spans[i], 0);
        xfree(b->spans[i].span);
    }
    xfree(b->spans);
}
