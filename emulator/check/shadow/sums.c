/* check/shadow/sums.c - findings about rows of operand A of tcgen05.mma; contract in kept.h.
 *
 * Row r of A affects only row r of D. Kernels multiply more rows than a tile has: M is 128 for 64 rows, and the bytes
 * after them are other stages, which copies write meanwhile. These rows make lanes of D that no one reads. So a finding
 * about rows of A, unless row 0 is one, is kept with the sum to which they add, and reported when a lane of D that
 * depends on them is read. If the lane was read before the finding, it is reported at once. If the lane is overwritten,
 * deallocated or never read, it is not reported.
 */
#include "check/shadow/kept.h"

#include "base/heap.h"

#include <string.h>

/* The sum of tcgen05.mma operations with the same columns of D: from the first that does not read D until no lane holds
 * it. Its operations hold the memory longer: struct note. */
struct sum {
    struct shared_part held; /* holders: its CTA's list and its operations */
    struct sum *next;        /* in its CTA's list */
    uint32_t from, to;       /* columns, */
    uint32_t lanes[4];       /* and lanes that still hold it; */
    uint32_t was_read[4];    /* lanes that have been read */
    struct kept {
        uint64_t number;   /* of the tcgen05.mma, */
        bool comes;        /* and whether it was found at the read of the operand */
        uint32_t lanes[4]; /* of D that depend on the rows of the finding */
        struct conflict f;
    } * kept; /* findings: until one of their lanes is read, or no lane holds the sum */
    uint32_t num_kept, cap_kept;
    uint32_t lost[4]; /* lanes of findings beyond BOUND_FINDINGS, which are dropped */
    bool gone;        /* removed from the list */
    uint64_t told;    /* the latest tcgen05.mma with such a reported finding: one is enough */
};

/* Have both a common lane? */
static bool meet(const uint32_t a[4], const uint32_t b[4]) {
    return (a[0] & b[0]) | (a[1] & b[1]) | (a[2] & b[2]) | (a[3] & b[3]);
}

/* Are all lanes of `a` in `b`? */
static bool within(const uint32_t a[4], const uint32_t b[4]) {
    return !((a[0] & ~b[0]) | (a[1] & ~b[1]) | (a[2] & ~b[2]) | (a[3] & ~b[3]));
}

/* The sum leaves its CTA's list, because no lane holds it any more: its findings are dropped. */
static void drop(struct sum *s) {
    xfree(s->kept);
    s->kept = NULL;
    s->num_kept = s->cap_kept = 0;
    s->gone = true;
    shared_part_drop(&s->held);
}

void sums_free(struct sum **sums) {
    for (struct sum *s = *sums, *next; s; s = next) {
        next = s->next;
        drop(s);
    }
}

/* --- what happens to D -------------------------------------------------------------------------------------------- */

/* Columns [from, to) of a sum are overwritten in these lanes. It keeps the part that can still be read, or more. */
static void shrink(struct sum *s, uint32_t from, uint32_t to, const uint32_t lanes[4]) {
    if (from <= s->from && s->to <= to)
        for (unsigned i = 0; i < 4; i++)
            s->lanes[i] &= ~lanes[i];
    else if (within(s->lanes, lanes) && from <= s->from)
        s->from = to;
    else if (within(s->lanes, lanes) && s->to <= to)
        s->to = from;
}

/* Lanes of columns [from, to) are overwritten: in all sums of a CTA. */
static void overwrite(struct sum **sums, uint32_t from, uint32_t to, const uint32_t lanes[4]) {
    static const uint32_t none[4];
    for (struct sum **at = sums, *s; (s = *at);) {
        if (s->from < to && from < s->to)
            shrink(s, from, to, lanes);
        if (within(s->lanes, none)) {
            *at = s->next;
            drop(s);
        } else {
            at = &s->next;
        }
    }
}

void sums_gone(struct sum **sums, uint32_t from, uint32_t to) {
    overwrite(sums, from, to, (const uint32_t[4]){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX});
}

/* Lanes of a sum are read: reports the kept findings that they depend on. */
static void read_lanes(const struct race *r, struct sum *s, const uint32_t lanes[4]) {
    uint32_t left = 0;
    for (unsigned i = 0; i < 4; i++)
        s->was_read[i] |= s->lanes[i] & lanes[i];
    if (meet(s->lost, s->was_read))
        race_lost(r, BOUND_FINDINGS);
    for (uint32_t i = 0; i < s->num_kept; i++) {
        const struct kept *k = &s->kept[i];
        const bool again = k->comes && k->number == s->told;
        if (!again && !meet(k->lanes, s->was_read)) {
            s->kept[left++] = *k;
            continue;
        }
        if (!again)
            conflict_tell(r, &k->f);
        if (k->comes)
            s->told = k->number;
    }
    s->num_kept = left;
}

/* A tcgen05.mma writes lanes of D: finds the sum to which it adds. That is the sum of its other lanes, or if it reads D
 * the sum of earlier operations there, or a new one. */
static void join(struct sum **sums, struct note *n, const struct event_access *e) {
    const uint32_t from = (uint32_t)e->at[0], to = from + e->columns;
    struct shared_part **mine = &n->sum[e->owner != n->cta];
    struct sum *s = (struct sum *)*mine;
    for (s = s ? s : *sums; s && !*mine; s = s->next)
        if (s->from == from && s->to == to && within(e->tmem_lanes, s->lanes) && e->effect & EFFECT_READ)
            break;
    if (!s) {
        s = xcalloc(1, sizeof *s);
        *s = (struct sum){.held.holders = 1, .next = *sums, .from = from, .to = to};
        *sums = s;
    }
    for (unsigned i = 0; i < 4; i++)
        s->lanes[i] |= e->tmem_lanes[i];
    s->held.holders += !*mine;
    *mine = &s->held;
}

void sums_columns(const struct race *r, struct sum **sums, const struct event_access *e, struct note *n) {
    const uint32_t from = (uint32_t)e->at[0], to = from + e->columns;
    const bool adds = e->agent == AGENT_TENSOR_CORE && e->effect & EFFECT_WRITE;
    if (e->effect & EFFECT_READ && !adds)
        for (struct sum *s = *sums; s; s = s->next)
            if (s->from < to && from < s->to)
                read_lanes(r, s, e->tmem_lanes);
    if (!(e->effect & EFFECT_READ))
        overwrite(sums, from, to, e->tmem_lanes);
    if (adds)
        join(sums, n, e);
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

void sums_add_piece(struct rows *rows, uint32_t i) {
    const struct event_rows *a = &rows->mma->a_rows;
    const uint32_t first = a->per_piece ? i % a->line * a->per_piece : i / a->line;
    for (uint32_t row = first; row < first + (a->per_piece ? a->per_piece : 1); row++) {
        const uint32_t lane = (a->lane + row / 16 * a->stride + row % 16) % TMEM_LANES;
        rows->lanes[lane / 32] |= UINT32_C(1) << lane % 32;
        rows->lanes[(lane + a->twin) % TMEM_LANES / 32] |= UINT32_C(1) << lane % 32;
    }
}

/* The same rule, broken by the same two lines? */
static bool alike(const struct conflict *a, const struct conflict *b) {
    return a->rule == b->rule && a->later.origin.site == b->later.origin.site &&
           a->earlier.origin.site == b->earlier.origin.site;
}

/* Is this finding kept already, or one that stands for it: about the same rows, or between the same lines? */
static bool is_kept(struct sum *s, const struct rows *rows, const struct conflict *f) {
    for (uint32_t i = 0; i < s->num_kept; i++) {
        struct kept *k = &s->kept[i];
        const bool same = k->number == rows->mma->number, covered = within(rows->lanes, k->lanes);
        if (covered && ((same && k->comes && rows->comes) || alike(&k->f, f)))
            return true;
        if (!same || !alike(&k->f, f))
            continue;
        for (unsigned w = 0; w < 4; w++)
            k->lanes[w] |= rows->lanes[w];
        return true;
    }
    return false;
}

/* True: the finding is kept until one of its lanes is read, or it is dropped because no one can read them. False:
 * report it now. */
static bool keep(const struct race *r, const struct rows *rows, const struct conflict *f) {
    struct sum *s = (struct sum *)rows->mma->sum[rows->owner != rows->mma->cta];
    const uint32_t first = rows->mma->a_rows.lane % TMEM_LANES; /* row 0: every tile has it */
    if (!s || meet(rows->lanes, s->was_read) || rows->lanes[first / 32] >> first % 32 & 1)
        return false;
    if (s->gone || !meet(rows->lanes, s->lanes) || is_kept(s, rows, f))
        return true;
    if (s->num_kept >= race_bound(r, BOUND_FINDINGS)) {
        for (unsigned i = 0; i < 4; i++)
            s->lost[i] |= rows->lanes[i];
        return true;
    }
    s->kept = xgrow(s->kept, s->num_kept, &s->cap_kept, sizeof *s->kept);
    struct kept *k = &s->kept[s->num_kept++];
    *k = (struct kept){.number = rows->mma->number, .comes = rows->comes, .f = *f};
    memcpy(k->lanes, rows->lanes, sizeof k->lanes);
    return true;
}

bool sums_tell(const struct race *r, const struct rows *rows, const struct conflict *f) {
    if (rows && keep(r, rows, f))
        return false;
    conflict_tell(r, f);
    return true;
}
