/* check/shadow/pages.c - runs and marks of 4096 bytes of global memory; contract in pages.h. */
#include "check/shadow/pages.h"

#include "base/budget.h"
#include "base/heap.h"
#include "base/relaxed.h"

#include <string.h>

#define LEFT_TO_OTHERS (UINT64_C(64) << 20) /* bytes of the process's budget that stay free for others */
#define PAGE_RUNS 64u                       /* a page with more gets marks */

typedef atomic_uint lost_bytes[PAGE_SECTORS]; /* bit for each byte of a sector */

/* What is remembered of a page, until the launch ends. If a read of a byte was forgotten, no more reads of it are kept
 * until it is written. */
struct page {
    struct brief *runs; /* in order of arrival, */
    uint32_t num_runs, cap_runs;
    uint32_t *sums;                      /* and for each sector its run's MARK_SUM; or NULL */
    struct mark *cell;                   /* NULL: it has runs */
    atomic_bool sorted;                  /* it has marks, all of them */
    uint64_t written[PAGE_SECTORS / 64]; /* bit for each sector that has, or had, a mark of a write */
    lost_bytes *_Atomic lost;            /* [LOST_KINDS]: bytes with a forgotten access of that kind; or NULL */
};

bool room_take(struct room *room, uint64_t bytes) {
    if (atomic_fetch_add_explicit(&room->bytes, bytes, memory_order_relaxed) + bytes <=
            event_bound(room->gpu, BOUND_CELL_BYTES) &&
        budget_left() >= bytes + LEFT_TO_OTHERS)
        return true;
    room_give(room, bytes);
    return false;
}

void room_give(struct room *room, uint64_t bytes) {
    atomic_fetch_sub_explicit(&room->bytes, bytes, memory_order_relaxed);
}

void *room_grow_other(struct room *room, void *list, uint32_t *cap, size_t size) {
    const uint32_t more = *cap ? *cap : 4;
    if (!room_take(room, more * size))
        return NULL;
    *cap += more;
    return xrealloc_array(list, *cap, size);
}

struct page *page_new(struct room *room) {
    struct page *p = NULL;
    return room_take(room, sizeof *p) ? xcalloc(1, sizeof *p) : NULL;
}

void page_free(struct page *p) {
    if (!p)
        return;
    xfree(p->runs);
    xfree(p->sums);
    xfree(p->cell);
    xfree(p->lost);
    xfree(p);
}

/* Notes that an access of that kind to bytes of a sector was forgotten; if there is no room for that, announces it now.
 */
static void lose_bytes(struct pages *s, struct page *p, enum lost kind, uint32_t sector, uint32_t bytes) {
    if (!p->lost && room_take(s->room, LOST_KINDS * sizeof *p->lost))
        p->lost = xcalloc(LOST_KINDS, sizeof *p->lost);
    if (p->lost)
        atomic_fetch_or_explicit(&p->lost[kind][sector], bytes, memory_order_relaxed);
    else
        event_tell_unseen(s->room->gpu, BOUND_CELL_BYTES);
}

/* After a write to these bytes: conflicts with earlier accesses have been reported, so forgotten ones no longer matter.
 */
static void regain_bytes(struct page *p, uint32_t sector, uint32_t bytes) {
    for (enum lost k = 0; p->lost && k < LOST_KINDS; k++)
        atomic_fetch_and_explicit(&p->lost[k][sector], ~bytes, memory_order_relaxed);
}

/* --- marks of a sector -------------------------------------------------------------------------------------------- */

static struct mark *extra_at(const struct pages *s, uint32_t i) { return &s->extra[i / EXTRA][i % EXTRA]; }

/* The sector's next mark, or NULL. */
static struct mark *next_of(const struct pages *s, const struct mark *m) {
    return m->next ? extra_at(s, m->next) : NULL;
}

/* The number of a free mark beyond the first; 0: no room. */
static uint32_t new_extra(struct pages *s) {
    const uint32_t i = s->free_extra, block = s->num_extra / EXTRA;
    if (i) {
        s->free_extra = extra_at(s, i)->next;
        return i;
    }
    if (s->num_extra % EXTRA == 0) {
        if (!room_take(s->room, EXTRA * sizeof **s->extra))
            return 0;
        s->extra = xgrow(s->extra, block, &s->cap_extra, sizeof *s->extra);
        s->extra[block] = xrealloc_array(NULL, EXTRA, sizeof **s->extra);
        s->num_extra += block == 0;
    }
    return s->num_extra++;
}

void pages_free(struct pages *s) {
    for (uint32_t i = 0; i * EXTRA < s->num_extra; i++)
        xfree(s->extra[i]);
    xfree(s->extra);
}

/* Frees the mark after *m. */
static void free_next(struct pages *s, struct mark *m) {
    const uint32_t i = m->next;
    m->next = extra_at(s, i)->next;
    extra_at(s, i)->next = s->free_extra;
    s->free_extra = i;
}

/* Takes bytes away from a mark. */
static void cover(struct mark *m, uint32_t bytes) {
    if (m->mask & bytes)
        m->flags &= (uint8_t)~MARK_SUM;
    m->mask &= ~bytes;
}

/* Drops the marks that `mine` replaces: an access that is ordered after `mine` is ordered after them, or that was
 * reported. Returns how many remain, without the first. */
static uint32_t supersede(struct pages *s, struct mark *cell, const struct mark *mine) {
    uint32_t num = 0;
    for (struct mark *m = cell; m; m = next_of(s, m))
        if (mine->flags & MARK_WRITE || same_reader(m, mine))
            cover(m, mine->mask);
    for (struct mark *m = cell; m->next;)
        if (next_of(s, m)->mask) {
            m = next_of(s, m);
            num++;
        } else {
            free_next(s, m);
        }
    return num;
}

/* The same for reads that the maker of `mine` knows of, if `mine` reads their bytes, too. */
static uint32_t supersede_known(struct toucher *t, struct pages *s, struct mark *cell, const struct mark *mine) {
    for (struct mark *m = cell; m; m = next_of(s, m))
        if (m->mask && !(m->mask & ~mine->mask) && !((m->flags | mine->flags) & (MARK_OP | MARK_WRITE)) &&
            !(m->flags & ~mine->flags & MARK_STRONG) && marks_known(t, m, mine, m->mask))
            m->mask = 0;
    return supersede(s, cell, mine);
}

/* Drops the oldest read of a sector. False: there is none, except perhaps the first mark. */
static bool lose_oldest(struct pages *s, struct page *p, uint32_t sector) {
    struct mark *before = NULL;
    for (struct mark *m = &p->cell[sector]; m->next; m = next_of(s, m))
        if (!(next_of(s, m)->flags & MARK_WRITE))
            before = m;
    if (before) {
        lose_bytes(s, p, kind_of(next_of(s, before)), sector, next_of(s, before)->mask);
        free_next(s, before);
    }
    return before;
}

/* A place for a mark in a sector, or NULL. `t`: the maker of the access; NULL: no longer known. Strong reads are
 * usually polls, so the latest ones are kept: they show what their threads observed. */
static struct mark *place_in(struct pages *s, struct toucher *t, struct page *p, uint32_t sector,
                             const struct mark *mine) {
    const uint64_t most = event_bound(s->room->gpu, BOUND_MARKS);
    struct mark *cell = &p->cell[sector];
    if (!cell->mask && !cell->next)
        return cell;
    uint32_t num = supersede(s, cell, mine);
    if (num + 1 >= most && t && t->v->now[LAYER_ORDER])
        num = supersede_known(t, s, cell, mine);
    if (!cell->mask)
        return cell;
    const bool fits =
        num + 1 < most || mine->flags & MARK_WRITE || (mine->flags & MARK_STRONG && lose_oldest(s, p, sector));
    const uint32_t i = fits ? new_extra(s) : 0;
    if (!i)
        return NULL;
    extra_at(s, i)->next = cell->next;
    cell->next = i;
    return extra_at(s, i);
}

/* Adds a mark to a sector, or notes that it was forgotten. */
static void insert(struct pages *s, struct toucher *t, struct page *p, uint32_t sector, const struct mark *mine) {
    const enum lost kind = kind_of(mine);
    if (kind == LOST_WRITE)
        regain_bytes(p, sector, mine->mask);
    else if (kind == LOST_READ && p->lost && !(mine->mask & ~p->lost[kind][sector]))
        return;
    if (kind == LOST_WRITE)
        bit_set(p->written, sector);
    struct mark *m = place_in(s, t, p, sector, mine);
    if (!m) {
        lose_bytes(s, p, kind, sector, mine->mask);
        return;
    }
    const uint32_t next = m->next;
    *m = *mine;
    m->next = next;
}

/* A strong write that a strong read observed is ordered before what comes after that read (8.9.5, causality order by
 * observation), although it releases nothing. */
static bool observed(const struct toucher *t, const struct pages *s, const struct mark *cell, const struct mark *first,
                     const struct mark *mine, uint32_t both) {
    if (!(first->flags & MARK_STRONG) || first->flags & MARK_OP)
        return false;
    for (const struct mark *m = cell; m; m = next_of(s, m))
        if ((m->flags & (MARK_STRONG | MARK_WRITE | MARK_OP)) == MARK_STRONG && !(both & ~m->mask) &&
            marks_known(t, m, mine, both))
            return true;
    return false;
}

/* Compares `mine` with the marks of its sector at `at`, and reports a conflict without order. */
static void judge(struct toucher *t, const struct pages *s, const struct mark *cell, const struct mark *mine,
                  uint64_t at) {
    for (const struct mark *m = cell; m && !t->told; m = next_of(s, m)) {
        const uint32_t both = m->mask & mine->mask;
        if (!both || !((m->flags | mine->flags) & MARK_WRITE))
            continue;
        const struct diag *rule = marks_verdict(t, m, mine, both, at);
        if (!rule || observed(t, s, cell, m, mine, both))
            continue;
        marks_tell(t, rule, m, mine, at + (uint32_t)__builtin_ctz(both));
        t->told = race_tells(t->r, rule); /* a strict finding does not hide others */
    }
}

/* --- parts of an access ------------------------------------------------------------------------------------------- */

/* A hash of the values of n bytes, of which the first is byte `from` of its sector; the other bytes count as 0. */
static uint32_t sum_of(const uint8_t *p, uint32_t from, uint32_t n) {
    static const uint64_t factor[SECTOR / 8] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                                0xd6e8feb86659fd93};
    uint64_t sum = 0;
    if (n == SECTOR && (uintptr_t)p % 8 == 0) {
        for (uint32_t i = 0; i < SECTOR / 8; i++)
            sum += relaxed_load(p + 8 * (size_t)i, 8) * factor[i];
        return (uint32_t)(sum >> 32);
    }
    for (uint32_t i = 0, size; i < n; i += size) {
        const uint32_t at = from + i;
        size = (uint32_t)relaxed_piece(p + i, n - i);
        sum += (relaxed_load(p + i, size) << at % 8 * 8) * factor[at / 8];
    }
    return (uint32_t)(sum >> 32);
}

/* The part of the access [at, at + size) in the sector that begins at `base`. */
static struct mark part_of(const struct mark *m, const uint8_t *written, uint64_t at, uint32_t size, uint64_t base) {
    const uint64_t from = at > base ? at : base, end = at + size < base + SECTOR ? at + size : base + SECTOR;
    const uint32_t n = (uint32_t)(end - from), low = (uint32_t)(from - base);
    struct mark part = *m;
    part.mask = (n == SECTOR ? UINT32_MAX : (1u << n) - 1) << low;
    part.lane = mark_lane(m, (int32_t)(base - at));
    if (written) {
        part.sum = sum_of(written + (from - at), low, n);
        part.flags |= MARK_SUM;
    }
    return part;
}

static uint32_t sector_of(uint64_t at) { return at % PAGE_BYTES / SECTOR; }

/* For each sector with bytes of [at, at + size): `base` is its address. */
#define FOR_SECTORS(base, at, size)                                                                                    \
    for (uint64_t base = (at) & ~(uint64_t)(SECTOR - 1); base < (at) + (size); base += SECTOR)

/* The part of a run in the sector that begins at `base`, of the page at `page`. */
static struct mark part_of_run(const struct page *p, const struct brief *r, uint64_t page, uint64_t base) {
    const struct mark m = brief_mark(r);
    struct mark part = part_of(&m, NULL, page + r->from, (uint32_t)r->to - r->from, base);
    part.sum = r->flags & MARK_SUM ? p->sums[sector_of(base)] : 0;
    return part;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static bool meet(const struct brief *a, const struct brief *b) { return a->from < b->to && b->from < a->to; }
static bool within(const struct brief *a, const struct brief *b) { return b->from <= a->from && a->to <= b->to; }

/* Can both be runs of a page, perhaps with the later one replacing the earlier? */
static bool go_together(const struct brief *old, const struct brief *mine) {
    const bool writes = mine->flags & MARK_WRITE, wrote = old->flags & MARK_WRITE;
    if (writes && meet(old, mine))
        return within(old, mine);
    return !(writes && wrote) || (old->to - 1u) / SECTOR < mine->from / SECTOR ||
           (mine->to - 1u) / SECTOR < old->from / SECTOR;
}

/* Can the page take the access as a run? *met: it shares bytes with others. */
static bool takes_run(const struct page *p, const struct brief *mine, bool *met) {
    *met = false;
    if (p->cell || p->num_runs == PAGE_RUNS || mine->flags & MARK_STRONG)
        return false;
    for (uint32_t i = 0; i < p->num_runs; i++) {
        if (!go_together(&p->runs[i], mine))
            return false;
        *met |= meet(&p->runs[i], mine);
    }
    return true;
}

/* Is it an earlier access to the same bytes by the same lanes? */
static bool is_again(const struct toucher *t, const struct brief *old, const struct brief *mine) {
    const uint32_t unit = mine->flags / MARK_UNIT;
    return old->from == mine->from && old->to == mine->to && old->lane == mine->lane && old->warp == mine->warp &&
           old->cluster == mine->cluster && old->flags / MARK_UNIT == unit && unit != EVERY_LANE &&
           !((old->flags | mine->flags) & MARK_OP) && old->time <= t->v->time && !t->noncoherent;
}

/* Compares a new access, sector by sector, with a run that shares bytes with it. */
static void judge_run(struct toucher *t, const struct page *p, const struct brief *old, const struct mark *m,
                      const uint8_t *written, uint64_t at, uint32_t size) {
    const uint64_t page = at & ~(uint64_t)(PAGE_BYTES - 1);
    FOR_SECTORS(base, at, size) {
        if (t->told || page + old->to <= base || base + SECTOR <= page + old->from)
            continue;
        const struct mark first = part_of_run(p, old, page, base), mine = part_of(m, written, at, size, base);
        const uint32_t both = first.mask & mine.mask;
        const struct diag *rule = both ? marks_verdict(t, &first, &mine, both, base) : NULL;
        if (!rule)
            continue;
        marks_tell(t, rule, &first, &mine, base + (uint32_t)__builtin_ctz(both));
        t->told = race_tells(t->r, rule);
    }
}

/* May the later read replace the earlier one? With the same begin, each byte has the same lane. */
static bool is_replaced(const struct brief *old, const struct brief *mine) {
    if (mine->flags & MARK_WRITE || !within(old, mine))
        return within(old, mine);
    const struct mark a = brief_mark(old), b = brief_mark(mine);
    return old->from == mine->from && old->flags == mine->flags && same_reader(&a, &b);
}

/* Drops the runs that `mine` replaces. */
static void replace_runs(struct page *p, const struct brief *mine) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->num_runs; i++)
        if (!is_replaced(&p->runs[i], mine))
            p->runs[left++] = p->runs[i];
    p->num_runs = left;
}

/* Adds a run. False: no room. */
static bool add_run(struct pages *s, struct page *p, const struct brief *mine, const uint8_t *written) {
    if (written && !p->sums) {
        if (!room_take(s->room, PAGE_SECTORS * sizeof *p->sums))
            return false;
        p->sums = xcalloc(PAGE_SECTORS, sizeof *p->sums);
    }
    struct brief *runs = room_grow(s->room, p->runs, p->num_runs, &p->cap_runs, sizeof *p->runs);
    if (!runs)
        return false;
    p->runs = runs;
    p->runs[p->num_runs++] = *mine;
    for (uint32_t i = mine->from, next; written && i < mine->to; i = next) {
        next = (i | (SECTOR - 1)) + 1;
        next = next < mine->to ? next : mine->to;
        p->sums[i / SECTOR] = sum_of(written + (i - mine->from), i % SECTOR, next - i);
    }
    return true;
}

/* Turns the runs of a page into marks. False: no room. */
static bool sort_page(struct pages *s, struct page *p, uint64_t page) {
    if (p->cell)
        return true;
    if (!room_take(s->room, PAGE_SECTORS * sizeof *p->cell))
        return false;
    p->cell = xcalloc(PAGE_SECTORS, sizeof *p->cell);
    for (uint32_t i = 0; i < p->num_runs; i++) {
        const struct brief *r = &p->runs[i];
        FOR_SECTORS(base, page + r->from, (uint64_t)r->to - r->from) {
            const struct mark part = part_of_run(p, r, page, base);
            insert(s, NULL, p, sector_of(base), &part);
        }
    }
    room_give(s->room, p->cap_runs * sizeof *p->runs + (p->sums ? PAGE_SECTORS * sizeof *p->sums : 0));
    xfree(p->runs);
    xfree(p->sums);
    p->runs = NULL;
    p->sums = NULL;
    p->num_runs = p->cap_runs = 0;
    p->sorted = true;
    return true;
}

/* --- a page ------------------------------------------------------------------------------------------------------- */

/* On an access to a sector of a page with marks: compares it if a conflict is possible, and adds it. */
static void touch_sector(struct pages *s, struct page *p, struct toucher *t, const struct mark *mine, uint64_t base) {
    const uint32_t sector = sector_of(base);
    for (enum lost k = 0; t && p->lost && k < LOST_KINDS; k++)
        if (p->lost[k][sector] & mine->mask && conflicts(mine, k))
            event_tell_unseen(s->room->gpu, BOUND_MARKS);
    if (t && (mine->flags & MARK_WRITE || bit_is_set(p->written, sector)))
        judge(t, s, &p->cell[sector], mine, base);
    insert(s, t, p, sector, mine);
}

bool page_touch(struct pages *s, struct page *p, struct toucher *t, const struct mark *m, const uint8_t *written,
                uint64_t at, uint32_t size) {
    struct brief mine = brief_of(m);
    mine.flags |= written ? MARK_SUM : 0;
    mine.from = at % PAGE_BYTES;
    mine.to = (uint16_t)(mine.from + size);
    bool met;
    if (takes_run(p, &mine, &met)) {
        for (uint32_t i = 0; t && met && i < p->num_runs; i++)
            if ((p->runs[i].flags | mine.flags) & MARK_WRITE && meet(&p->runs[i], &mine) &&
                !is_again(t, &p->runs[i], &mine))
                judge_run(t, p, &p->runs[i], m, written, at, size);
        if (met)
            replace_runs(p, &mine);
        return add_run(s, p, &mine, written);
    }
    if (!sort_page(s, p, at & ~(uint64_t)(PAGE_BYTES - 1)))
        return false;
    FOR_SECTORS(base, at, size) {
        const struct mark part = part_of(m, written, at, size, base);
        touch_sector(s, p, t, &part, base);
    }
    return true;
}

bool page_ignores(const struct page *p, const struct mark *m, uint64_t at, uint32_t size) {
    if (!p || kind_of(m) != LOST_READ || !p->sorted || !p->lost)
        return false;
    FOR_SECTORS(base, at, size) {
        const struct mark part = part_of(m, NULL, at, size, base);
        const uint32_t sector = sector_of(base);
        /* A write sets `written`, and clears `lost`, which later reads may set again: that is loaded first. */
        if (part.mask & ~atomic_load_explicit(&p->lost[LOST_READ][sector], memory_order_acquire) ||
            bit_is_set(p->written, sector))
            return false;
    }
    return true;
}

bool page_forget(struct pages *s, struct page *p, uint64_t at, uint64_t end) {
    const uint64_t page = at & ~(uint64_t)(PAGE_BYTES - 1);
    uint32_t left = 0, parted = 0;
    for (uint32_t i = 0; i < p->num_runs; i++) {
        const struct brief *r = &p->runs[i];
        const bool inside = at <= page + r->from && page + r->to <= end;
        parted += !inside && at < page + r->to && page + r->from < end;
        if (!inside)
            p->runs[left++] = *r;
    }
    p->num_runs = left;
    if (parted && !sort_page(s, p, page)) {
        p->num_runs = 0;
        return false;
    }
    for (uint64_t base = at & ~(uint64_t)(SECTOR - 1); p->cell && base < end; base += SECTOR) {
        const struct mark part = part_of(&(struct mark){0}, NULL, at, (uint32_t)(end - at), base);
        for (struct mark *m = &p->cell[sector_of(base)]; m; m = next_of(s, m))
            cover(m, part.mask);
    }
    return true;
}
