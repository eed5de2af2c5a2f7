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

/* The number of a new span, which the caller holds. */
static uint32_t new_span(struct bytes_watch *b, const struct span *s) {
    if (!b->free_span && b->made_spans == b->cap_made)
        b->span = xgrow(b->span, b->made_spans, &b->cap_made, sizeof *b->span);
    const uint32_t number = b->free_span ? b->free_span - 1 : b->made_spans++;
    b->free_span = b->free_span ? b->span[number].met : 0;
    b->span[number] = *s;
    b->span[number].holders = 1;
    note_hold(s->note);
    if (s->pieces)
        s->pieces->holders++;
    return number;
}

static inline void drop_span(struct race *r, struct bytes_watch *b, uint32_t number) {
    struct span *s = &b->span[number];
    if (--s->holders)
        return;
    note_drop(r, s->note);
    spans_drop_pieces(s->pieces);
    s->met = b->free_span;
    b->free_span = number + 1;
}

/* Place i of a list goes. */
static inline void drop_place(struct race *r, struct bytes_watch *b, struct spans *k, uint32_t i) {
    const uint32_t number = k->place[i].span;
    k->place[i] = k->place[--k->num];
    drop_span(r, b, number);
}

/* Forgets the oldest span of a list; a later access to its bytes may need it (BOUND_SPANS). */
static void forget_span(struct race *r, struct bytes_watch *b, struct spans *k) {
    const struct place *p = &k->place[0];
    struct lost_bytes *lost = &k->lost[p->write];
    const bool none = lost->from == lost->to;
    lost->from = none || p->from < lost->from ? p->from : lost->from;
    lost->to = none || p->to > lost->to ? p->to : lost->to;
    k->any_lost = true;
    drop_place(r, b, k, 0);
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
        const struct place *s = &k->place[i];
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
            const struct place *p = &b->spans[k].place[i];
            if ((!p->write && !writes) || at >= p->to || p->from >= at + size)
                continue;
            const struct span *s = &b->span[p->span];
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

/* Are the pieces of the access these, from some byte on? */
static bool are_at(const struct pieces *p, const struct event_access *e, uint32_t num) {
    if (!p || p->num != num || p->rows != e->rows || p->stride != e->stride || p->size != e->size)
        return false;
    const uint32_t from = (uint32_t)e->at[0] - p->at[0];
    uint32_t odd = 0;
    for (uint32_t i = 0; i < num; i++)
        odd |= (uint32_t)e->at[i] ^ (from + p->at[i]);
    return !odd;
}

static __attribute__((noinline)) struct pieces *new_pieces(const struct event_access *e, uint32_t num) {
    struct pieces *p = xrealloc_array(NULL, 1, sizeof *p + num * sizeof *p->at);
    int32_t from = INT32_MAX, last = 0; /* so every host's vectors can compare them */
    for (uint32_t i = 0; i < num; i++) {
        const int32_t at = (int32_t)e->at[i];
        from = at < from ? at : from;
        last = at > last ? at : last;
    }
    *p = (struct pieces){1, num, e->size, e->rows, (uint32_t)e->stride, .bytes = 0};
    p->bytes = (uint32_t)(last - from) + e->size + (e->rows - 1) * p->stride;
    for (uint32_t i = 0; i < num; i++)
        p->at[i] = (uint32_t)e->at[i] - (uint32_t)from;
    return p;
}

struct pieces *spans_pieces(struct pieces **latest, const struct event_access *e, uint32_t *from) {
    const uint32_t num = e->pieces ? e->pieces : 1;
    const uint32_t key = ((uint32_t)(e->at[num - 1] - e->at[0]) + num * 7 + e->rows) * 0x9e3779b1u;
    struct pieces **p = &latest[key / (UINT32_MAX / LATEST_PIECES + 1)];
    if (!are_at(*p, e, num)) {
        spans_drop_pieces(*p);
        *p = new_pieces(e, num);
    }
    *from = (uint32_t)e->at[0] - (*p)->at[0];
    return *p;
}

/* A new span, for one call of spans_put; and its verdicts so far: the next spans mostly have the same notes. */
struct coming {
    struct race *r;
    struct bytes_watch *b;
    struct cta *owner;
    const struct viewer *v;
    const struct span *s;
    uint32_t number;    /* of the span */
    uint32_t lists;     /* to which it was added */
    uint64_t range_bit; /* of a read; 0: a write */
    bool told;          /* a conflict of this span has been reported */
    bool asked;         /* the cache is in use: */
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
static inline uint64_t range_bit(uint32_t from, uint32_t to) {
    return UINT64_C(1) << ((from * 0x9e3779b1u ^ to * 0x85ebca6bu) >> 26);
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
static inline void add_span(struct coming *c, struct spans *k) {
    const struct span *s = c->s;
    if (k->num && k->num >= c->b->most_spans)
        forget_span(c->r, c->b, k);
    if (k->num == k->cap)
        k->place = xgrow(k->place, k->num, &k->cap, sizeof *k->place);
    k->place[k->num++] = (struct place){s->from, s->to, s->note, c->number, s->write};
    k->reads |= c->range_bit;
    c->lists++;
}

/* Fast path of put_span: adds a read of an operand if its lanes knew all writes there before, and if there is no equal
 * read that it would replace. */
static inline bool put_settled(struct coming *c, struct spans *k, const struct settled *mine) {
    const struct span *s = c->s;
    if (!is_settled(&k->settled, mine) || s->from < k->settled.from || k->settled.to < s->to || k->any_lost ||
        k->reads & c->range_bit)
        return false;
    add_span(c, k);
    return true;
}

/* An old span has no bytes of the new one: what is said of writes ends there. */
static inline void end_at(struct settled *mine, const struct span *s, const struct place *old) {
    if (s->from >= old->to)
        mine->from = old->to > mine->from ? old->to : mine->from;
    else
        mine->to = old->from < mine->to ? old->from : mine->to;
}

/* Spans have gone: k->reads, unless they are many. */
static void find_reads(struct spans *k) {
    k->reads = k->num > 64 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < k->num && k->num <= 64; i++)
        k->reads |= k->place[i].write ? 0 : range_bit(k->place[i].from, k->place[i].to);
}

/* Compares the new span with `old`, unless the list before this one has done so. */
static inline void compare(struct coming *c, struct span *old) {
    if (old->met == c->b->puts)
        return;
    const struct answer *a = ask(c, old);
    old->stays = !c->s->write && stays_known(a, c->s->note);
    old->gone = meet_span(c, old, a);
    old->met = a->rule ? 0 : c->b->puts;
}

/* Compares the new span, which `writes` or reads, with those of k, and adds it. `mine`: its lanes, if it is an operand.
 */
static inline void put_span(struct coming *c, struct spans *k, bool writes, struct settled mine) {
    const struct span *s = c->s;
    struct place *const place = k->place;
    uint32_t num = k->num;
    if (k->any_lost)
        judge_lost(c->r, k, s->from, s->to, writes);
    for (uint32_t i = 0; i < num; i++) {
        const struct place *p = &place[i];
        if (s->from >= p->to || p->from >= s->to) {
            if (!writes && p->write)
                end_at(&mine, s, p);
            continue;
        }
        const uint32_t number = p->span;
        struct span *old = &c->b->span[number];
        if (!writes && !p->write && !(s->pieces && s->from == p->from && s->to == p->to && supersedes(s, old)))
            continue;
        compare(c, old);
        if (!writes && p->write && !old->stays)
            mine.lanes = 0;
        if (old->gone) {
            place[i--] = place[--num];
            drop_span(c->r, c->b, number);
        }
    }
    if (num < k->num) {
        k->num = num;
        find_reads(k);
    }
    if (writes)
        k->settled.lanes = 0;
    else if (mine.lanes)
        settle(&k->settled, &mine);
    add_span(c, k);
}

void spans_put(struct race *r, struct bytes_watch *b, struct cta *owner, const struct viewer *v, const struct span *s) {
    const uint32_t end = (s->to - 1) / SPANS_BYTES + 1, last = end < b->num_spans ? end : b->num_spans;
    struct coming c;
    c.r = r, c.b = b, c.owner = owner, c.v = v, c.s = s, c.told = c.asked = false;
    c.number = new_span(b, s);
    c.lists = 0;
    c.range_bit = s->write ? 0 : range_bit(s->from, s->to);
    b->calm.lanes = 0;
    b->puts++;
    const struct settled lanes = operand_of(s);
    for (uint32_t k = s->from / SPANS_BYTES; k < last; k++)
        if (s->write)
            put_span(&c, &b->spans[k], true, lanes);
        else if (!put_settled(&c, &b->spans[k], &lanes))
            put_span(&c, &b->spans[k], false, lanes);
    b->span[c.number].holders += c.lists;
    drop_span(r, b, c.number);
}

void spans_free(struct race *r, struct bytes_watch *b) {
    for (uint32_t i = 0; i < b->num_spans; i++) {
        while (b->spans[i].num)
            drop_place(r, b, &b->spans[i], 0);
        xfree(b->spans[i].place);
    }
    xfree(b->spans);
    xfree(b->span);
}
