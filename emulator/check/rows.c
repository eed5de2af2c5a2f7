/* check/rows.c - what is found about rows of operand A of tcgen05.mma; race.h.
 *
 * Row r of A decides row r of D alone. Kernels multiply more rows than a tile has: M is 128 over 64 rows, and behind
 * them lie other stages, which copies write meanwhile. What comes of those rows is D that nobody reads. So a finding
 * about rows of A is kept with the sum that they go into, and told when a lane of D that they decide is read. What was
 * read before the finding is told at once, and what is overwritten, deallocated or left unread is not told, unless the
 * same operation breaks the same rule with operand B, and so in all rows.
 *
 * A sum is what tcgen05.mma with the same columns of D add up from the first that does not read D.
 */
#include "check/race.h"

#include "base/heap.h"

#include <string.h>

#define MAX_FINDINGS 64u /* of a sum; those beyond are not kept */

struct sum {
    uint32_t holders;
    struct sum *next;     /* of its CTA's */
    uint32_t from, to;    /* columns, */
    uint32_t lanes[4];    /*  and lanes that hold it still; */
    uint32_t was_read[4]; /*  that have been read */
    struct kept {
        uint64_t number; /* of the tcgen05.mma, */
        bool comes;      /*  and that it found when it read its operand */
        uint32_t lanes[4];
        struct conflict f;
    } * kept;
    uint32_t num_kept, cap_kept;
    uint64_t told; /* the latest tcgen05.mma of which such a finding was told: one is enough */
};

static bool meet(const uint32_t a[4], const uint32_t b[4]) {
    return (a[0] & b[0]) | (a[1] & b[1]) | (a[2] & b[2]) | (a[3] & b[3]);
}

static bool within(const uint32_t a[4], const uint32_t b[4]) {
    return !((a[0] & ~b[0]) | (a[1] & ~b[1]) | (a[2] & ~b[2]) | (a[3] & ~b[3]));
}

static void drop(struct sum *s) {
    if (!s || --s->holders)
        return;
    xfree(s->kept);
    xfree(s);
}

void rows_release(struct note *n) {
    drop(n->sum[0]);
    drop(n->sum[1]);
    n->sum[0] = n->sum[1] = NULL;
}

void rows_free(struct cta_watch *c) {
    for (struct sum *s = c->sums, *next; s; s = next) {
        next = s->next;
        drop(s);
    }
    c->sums = NULL;
}

/* --- what happens to D -------------------------------------------------------------------------------------------- */

/* Columns of a sum are overwritten in these lanes: what remains of it is what can still be read. */
static void shrink(struct sum *s, uint32_t from, uint32_t to, const uint32_t lanes[4]) {
    if (from <= s->from && s->to <= to)
        for (unsigned i = 0; i < 4; i++)
            s->lanes[i] &= ~lanes[i];
    else if (within(s->lanes, lanes) && from <= s->from)
        s->from = to;
    else if (within(s->lanes, lanes) && s->to <= to)
        s->to = from;
}

static void overwrite(struct cta_watch *c, uint32_t from, uint32_t to, const uint32_t lanes[4]) {
    static const uint32_t none[4];
    for (struct sum **at = &c->sums, *s; (s = *at);) {
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

void rows_gone(struct cta_watch *c, uint32_t from, uint32_t to) {
    overwrite(c, from, to, (const uint32_t[4]){UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX});
}

static void read_lanes(struct race *r, struct sum *s, const uint32_t lanes[4]) {
    uint32_t left = 0;
    for (unsigned i = 0; i < 4; i++)
        s->was_read[i] |= s->lanes[i] & lanes[i];
    for (uint32_t i = 0; i < s->num_kept; i++) {
        const struct kept *k = &s->kept[i];
        const bool again = k->comes && k->number == s->told;
        if (!again && !meet(k->lanes, s->was_read)) {
            s->kept[left++] = *k;
            continue;
        }
        if (!again)
            verdict_tell_conflict(r, &k->f);
        if (k->comes)
            s->told = k->number;
    }
    s->num_kept = left;
}

/* The sum that the operation adds to: it has one already, of its other lanes; or those before it made it. */
static void join(struct cta_watch *c, struct note *n, const struct event_access *e) {
    const uint32_t from = (uint32_t)e->at[0], to = from + e->columns;
    struct sum **mine = &n->sum[e->owner != n->cta], *s = *mine;
    for (s = s ? s : c->sums; s && !*mine; s = s->next)
        if (s->from == from && s->to == to && within(e->tmem_lanes, s->lanes) && e->effect & EFFECT_READ)
            break;
    if (!s) {
        s = xcalloc(1, sizeof *s);
        *s = (struct sum){.holders = 1, .next = c->sums, .from = from, .to = to};
        c->sums = s;
    }
    for (unsigned i = 0; i < 4; i++)
        s->lanes[i] |= e->tmem_lanes[i];
    s->holders += !*mine;
    *mine = s;
}

void rows_columns(struct race *r, const struct event_access *e, struct note *n) {
    struct cta_watch *c = race_cta(r, e->owner);
    const uint32_t from = (uint32_t)e->at[0], to = from + e->columns;
    const bool adds = e->agent == AGENT_TENSOR_CORE && e->effect & EFFECT_WRITE;
    if (e->effect & EFFECT_READ && !adds)
        for (struct sum *s = c->sums; s; s = s->next)
            if (s->from < to && from < s->to)
                read_lanes(r, s, e->tmem_lanes);
    if (!(e->effect & EFFECT_READ))
        overwrite(c, from, to, e->tmem_lanes);
    if (adds)
        join(c, n, e);
}

/* --- findings ----------------------------------------------------------------------------------------------------- */

void rows_piece(struct rows *rows, uint32_t i) {
    const struct event_rows *a = &rows->mma->a_rows;
    const uint32_t first = a->per_piece ? i % a->line * a->per_piece : i / a->line;
    for (uint32_t row = first; row < first + (a->per_piece ? a->per_piece : 1); row++) {
        const uint32_t lane = (a->lane + row / 16 * a->stride + row % 16) % TMEM_LANES;
        rows->lanes[lane / 32] |= UINT32_C(1) << lane % 32;
        rows->lanes[(lane + a->twin) % TMEM_LANES / 32] |= UINT32_C(1) << lane % 32;
    }
}

static bool alike(const struct conflict *a, const struct conflict *b) {
    return a->rule == b->rule && a->later.origin.site == b->later.origin.site &&
           a->earlier.origin.site == b->earlier.origin.site;
}

/* Is it kept already: by itself, as what was found first about these rows, or of an operation before? */
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

bool rows_keep(const struct rows *rows, const struct conflict *f) {
    struct sum *s = rows->mma->sum[rows->owner != rows->mma->cta];
    if (!s || meet(rows->lanes, s->was_read))
        return false;
    if (!meet(rows->lanes, s->lanes) || is_kept(s, rows, f) || s->num_kept == MAX_FINDINGS)
        return true;
    s->kept = xgrow(s->kept, s->num_kept, &s->cap_kept, sizeof *s->kept);
    struct kept *k = &s->kept[s->num_kept++];
    *k = (struct kept){.number = rows->mma->number, .comes = rows->comes, .f = *f};
    memcpy(k->lanes, rows->lanes, sizeof k->lanes);
    return true;
}

void rows_tell(struct race *r, const struct note *n, const struct diag *rule) {
    for (unsigned h = 0; h < 2; h++)
        for (uint32_t i = 0; n->sum[h] && i < n->sum[h]->num_kept; i++) {
            const struct kept *k = &n->sum[h]->kept[i];
            if (!k->comes || k->number != n->number || k->f.rule != rule || n->sum[h]->told == n->number)
                continue;
            verdict_tell_conflict(r, &k->f);
            n->sum[h]->told = n->number;
        }
}
