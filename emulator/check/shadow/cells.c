/* check/shadow/cells.c - who has touched which bytes of global memory; contract in kept.h.
 *
 * Of each sector: marks of its last writes and of the reads since. Copies read, and mostly write, what no others touch,
 * in large boxes. So the accesses of a region are only listed at first; they become marks when one comes that a write
 * may share bytes with, or when there are many. What takes too much memory is forgotten: then a race may be missed, but
 * none is invented.
 */
#include "check/shadow/kept.h"

#include "base/heap.h"
#include "base/relaxed.h"

#define CELL_PAGE_SHIFT 12u /* bytes whose cells come together, as a power of two */
#define CELL_PAGE (1u << CELL_PAGE_SHIFT)
#define REGION_SHIFT 21u /* bytes of a region, as a power of two */
#define SHARDS 64u
#define SHARD_LISTS 16u
#define PAGE_CELLS (CELL_PAGE / SECTOR)
#define REGION_PAGES ((1u << REGION_SHIFT) / CELL_PAGE)
/* So many accesses are listed, where something is written: of more there are marks. */
#define LIST_READS 1024u
#define LIST_WRITES 1024u
#define LOOP_READS 8u /* different ones that a loop reads and that are folded */

/* An access in a region whose accesses are listed. */
struct listed {
    uint64_t at, stride;
    uint32_t size, rows;
    struct mark mark;
};

/* What was forgotten of a place: its bits are sectors of a page, or pages of a region. Nothing is said of it until an
 * access comes that may conflict with it (report/bounds.h). */
enum lost {
    LOST_READ,
    LOST_STRONG, /* a strong read, which conflicts with weak writes alone */
    LOST_WRITE,
    LOST_KINDS
};

/* CELL_PAGE bytes. A sector that has lost a read keeps no more of them until it is written. */
struct page {
    struct mark cell[PAGE_CELLS];
    uint64_t written[PAGE_CELLS / 64]; /* a mark of the sector is a write, or was */
    bool any_lost;
    uint64_t lost[LOST_KINDS][PAGE_CELLS / 64];
};

/* Region: 1 << REGION_SHIFT bytes of global memory, from the first access to it to the end of the launch. */
struct region {
    uint64_t number; /* address >> REGION_SHIFT */
    struct region *next;
    bool sorted;                   /* its accesses are marks; until then: */
    struct listed *reads, *writes; /*  no write shares bytes with another access */
    uint32_t num_reads, cap_reads, num_writes, cap_writes;
    bool any_lost;
    uint64_t lost[LOST_KINDS][REGION_PAGES / 64];
    uint64_t *lost_reads;            /* bit per sector: a read that there was no room to list; NULL: there was */
    struct page *page[REGION_PAGES]; /* or NULL */
};

/* Shard: some of the regions, and their lock: clusters of several islands touch memory side by side. */
struct shard {
    pthread_mutex_t lock;
    struct region *regions[SHARD_LISTS];
    struct mark *extra; /* [0] is unused */
    uint32_t num_extra, cap_extra, free_extra;
};

struct cells {
    struct shard shard[SHARDS];
    _Atomic uint64_t bytes; /* that marks and lists take */
    struct gpu *gpu;        /* to be told when there is no more room */
};

struct cells *cells_new(struct gpu *gpu) {
    struct cells *c = xcalloc(1, sizeof *c);
    c->gpu = gpu;
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&c->shard[i].lock, NULL);
    return c;
}

static bool room(struct cells *c, uint64_t bytes) {
    if (atomic_fetch_add_explicit(&c->bytes, bytes, memory_order_relaxed) + bytes <=
        event_bound(c->gpu, BOUND_CELL_BYTES))
        return true;
    atomic_fetch_sub_explicit(&c->bytes, bytes, memory_order_relaxed);
    return false;
}

/* --- what was forgotten ------------------------------------------------------------------------------------------- */

static bool is_strong(const struct mark *m) { return (m->flags & (MARK_STRONG | MARK_NARROW)) == MARK_STRONG; }

static enum lost kind_of(const struct mark *m) {
    return m->flags & MARK_WRITE ? LOST_WRITE : is_strong(m) ? LOST_STRONG : LOST_READ;
}

/* May an access conflict with one of that kind? */
static bool conflicts(const struct mark *m, enum lost kind) {
    return kind == LOST_WRITE || (m->flags & MARK_WRITE && (kind != LOST_STRONG || !is_strong(m)));
}

static bool is_set(const uint64_t *bits, uint32_t i) { return bits[i / 64] >> i % 64 & 1; }
static void set_bit(uint64_t *bits, uint32_t i) { bits[i / 64] |= UINT64_C(1) << i % 64; }

static void lose_sector(struct page *p, enum lost kind, uint32_t sector) {
    set_bit(p->lost[kind], sector);
    p->any_lost = true;
}

/* A write stands for all that was there, and what needed that has been told. */
static void regain_sector(struct page *p, uint32_t sector) {
    for (enum lost k = 0; p->any_lost && k < LOST_KINDS; k++)
        p->lost[k][sector / 64] &= ~(UINT64_C(1) << sector % 64);
}

static uint32_t page_number(uint64_t at) { return (uint32_t)(at >> CELL_PAGE_SHIFT) % REGION_PAGES; }

static uint32_t sector_number(uint64_t at) { return (uint32_t)(at / SECTOR) % (REGION_PAGES * PAGE_CELLS); }

static void lose_page(struct region *region, enum lost kind, uint64_t at) {
    set_bit(region->lost[kind], page_number(at));
    region->any_lost = true;
}

/* --- marks of a sector -------------------------------------------------------------------------------------------- */

static struct mark *next_of(const struct shard *s, const struct mark *m) { return m->next ? &s->extra[m->next] : NULL; }

static uint32_t new_extra(struct cells *c, struct shard *s) {
    const uint32_t i = s->free_extra;
    if (i) {
        s->free_extra = s->extra[i].next;
        return i;
    }
    if (!s->num_extra)
        s->num_extra = 1;
    if (s->num_extra >= s->cap_extra) {
        if (!room(c, (uint64_t)(s->cap_extra + 1) * sizeof *s->extra))
            return 0;
        s->extra = xgrow(s->extra, s->cap_extra, &s->cap_extra, sizeof *s->extra);
    }
    return s->num_extra++;
}

static void free_next(struct shard *s, struct mark *m) {
    const uint32_t i = m->next;
    m->next = s->extra[i].next;
    s->extra[i].next = s->free_extra;
    s->free_extra = i;
}

static void cover(struct mark *m, uint32_t bytes) {
    if (m->mask & bytes)
        m->flags &= (uint8_t)~MARK_SUM;
    m->mask &= ~bytes;
}

static bool same_reader(const struct mark *a, const struct mark *b) {
    return a->cluster == b->cluster && a->warp == b->warp && a->lane == b->lane && mark_unit(a) == mark_unit(b) &&
           !((a->flags | b->flags) & (MARK_OP | MARK_WRITE));
}

/* Takes away what `mine` stands for from now on: whoever is ordered behind it is behind that, or that was told. Those
 * that remain, but the first. */
static uint32_t supersede(struct shard *s, struct mark *cell, const struct mark *mine) {
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

/* The same of reads that the maker of `mine` knows of, where that reads their bytes, too. */
static uint32_t supersede_known(struct toucher *t, struct shard *s, struct mark *cell, const struct mark *mine) {
    for (struct mark *m = cell; m; m = next_of(s, m))
        if (m->mask && !(m->mask & ~mine->mask) && !((m->flags | mine->flags) & (MARK_OP | MARK_WRITE)) &&
            !(m->flags & ~mine->flags & MARK_STRONG) && marks_known(t, m, mine, m->mask))
            m->mask = 0;
    return supersede(s, cell, mine);
}

/* The oldest read of a sector goes. False: there is none, but perhaps the first mark. */
static bool lose_oldest(struct shard *s, struct page *p, uint32_t sector) {
    struct mark *before = NULL;
    for (struct mark *m = &p->cell[sector]; m->next; m = next_of(s, m))
        if (!(next_of(s, m)->flags & MARK_WRITE))
            before = m;
    if (before) {
        lose_sector(p, kind_of(next_of(s, before)), sector);
        free_next(s, before);
    }
    return before;
}

/* A place among the marks of a sector, or NULL. `t`: who comes; NULL: not known any more. A strong read is mostly a
 * poll, and the latest ones show what their threads observed. */
static struct mark *place_in(struct cells *c, struct shard *s, struct toucher *t, struct page *p, uint32_t sector,
                             const struct mark *mine) {
    const uint64_t most = event_bound(c->gpu, BOUND_MARKS);
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
    const uint32_t i = fits ? new_extra(c, s) : 0;
    if (!i)
        return NULL;
    s->extra[i].next = cell->next;
    cell->next = i;
    return &s->extra[i];
}

static void insert(struct cells *c, struct shard *s, struct toucher *t, struct page *p, uint32_t sector,
                   const struct mark *mine) {
    const enum lost kind = kind_of(mine);
    if (kind == LOST_WRITE && mine->mask == UINT32_MAX)
        regain_sector(p, sector);
    else if (kind == LOST_READ && is_set(p->lost[kind], sector))
        return;
    if (kind == LOST_WRITE)
        set_bit(p->written, sector);
    struct mark *m = place_in(c, s, t, p, sector, mine);
    if (!m) {
        lose_sector(p, kind, sector);
        return;
    }
    const uint32_t next = m->next;
    *m = *mine;
    m->next = next;
}

/* A strong write that a strong read observed is ordered before what comes behind that read (8.9.5, causality order by
 * observation), though it releases nothing. */
static bool observed(const struct toucher *t, const struct shard *s, const struct mark *cell, const struct mark *first,
                     const struct mark *mine, uint32_t both) {
    if (!(first->flags & MARK_STRONG) || first->flags & MARK_OP)
        return false;
    for (const struct mark *m = cell; m; m = next_of(s, m))
        if ((m->flags & (MARK_STRONG | MARK_WRITE | MARK_OP)) == MARK_STRONG && !(both & ~m->mask) &&
            marks_known(t, m, mine, both))
            return true;
    return false;
}

static void judge(struct toucher *t, const struct shard *s, const struct mark *cell, const struct mark *mine,
                  uint64_t at) {
    for (const struct mark *m = cell; m && !t->told; m = next_of(s, m)) {
        const uint32_t both = m->mask & mine->mask;
        if (!both || !((m->flags | mine->flags) & MARK_WRITE))
            continue;
        const struct diag *rule = marks_verdict(t, m, mine, both, at);
        if (!rule || observed(t, s, cell, m, mine, both))
            continue;
        marks_tell(t, rule, m, mine, at + (uint32_t)__builtin_ctz(both));
        t->told = race_tells(t->r, rule); /* what the strict level alone tells does not stand for the rest */
    }
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

/* NULL: there is no room. */
static struct page *page_at(struct cells *c, struct region *region, uint64_t at) {
    struct page **page = &region->page[page_number(at)];
    if (!*page && room(c, sizeof **page))
        *page = xcalloc(1, sizeof **page);
    return *page;
}

/* An access to a page, or a sector of one: does it need what was forgotten there? */
static void judge_lost(const struct cells *c, const struct region *region, uint64_t at, const struct mark *mine) {
    const uint32_t number = page_number(at), sector = at % CELL_PAGE / SECTOR;
    const struct page *p = region->page[number];
    for (enum lost k = 0; region->any_lost && k < LOST_KINDS; k++)
        if (is_set(region->lost[k], number) && conflicts(mine, k))
            event_tell_unseen(c->gpu, BOUND_CELL_BYTES);
    if (region->lost_reads && is_set(region->lost_reads, sector_number(at)) && conflicts(mine, LOST_READ))
        event_tell_unseen(c->gpu, BOUND_READS);
    for (enum lost k = 0; p && p->any_lost && k < LOST_KINDS; k++)
        if (is_set(p->lost[k], sector) && conflicts(mine, k))
            event_tell_unseen(c->gpu, BOUND_MARKS);
}

static uint32_t sum_of(const uint8_t *p, uint32_t from, uint32_t n) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (uint32_t)relaxed_load(p + i, 1) * (((from + i) * 2u + 1) * 2654435761u);
    return sum;
}

/* The part of the access [at, at + size) in the sector that begins at `base`. */
static struct mark part_of(const struct mark *m, const uint8_t *written, uint64_t at, uint32_t size, uint64_t base) {
    const uint64_t from = at > base ? at : base, end = at + size < base + SECTOR ? at + size : base + SECTOR;
    const uint32_t n = (uint32_t)(end - from), low = (uint32_t)(from - base);
    struct mark part = *m;
    part.mask = (n == SECTOR ? UINT32_MAX : (1u << n) - 1) << low;
    if (mark_unit(m) < ONE_LANE)
        part.lane = (int8_t)(m->lane + (int64_t)(base - at) / (1 << mark_unit(m)));
    if (written) {
        part.sum = sum_of(written + (from - at), low, n);
        part.flags |= MARK_SUM;
    }
    return part;
}

static void sort_list(struct cells *c, struct shard *s, struct region *region, const struct listed *list,
                      uint32_t num) {
    for (uint32_t i = 0; i < num; i++)
        for (uint32_t row = 0; row < list[i].rows; row++) {
            const uint64_t at = list[i].at + row * list[i].stride;
            for (uint64_t base = at & ~(uint64_t)(SECTOR - 1); base < at + list[i].size; base += SECTOR) {
                const struct mark part = part_of(&list[i].mark, NULL, at, list[i].size, base);
                struct page *p = page_at(c, region, base);
                if (p)
                    insert(c, s, NULL, p, base % CELL_PAGE / SECTOR, &part);
                else
                    lose_page(region, kind_of(&part), base);
            }
        }
}

/* Listed accesses become marks. */
static void sort(struct cells *c, struct shard *s, struct region *region) {
    const uint64_t bytes = (uint64_t)(region->cap_reads + region->cap_writes) * sizeof *region->reads;
    sort_list(c, s, region, region->writes, region->num_writes);
    sort_list(c, s, region, region->reads, region->num_reads);
    atomic_fetch_sub_explicit(&c->bytes, bytes, memory_order_relaxed);
    xfree(region->reads);
    xfree(region->writes);
    region->reads = region->writes = NULL;
    region->num_reads = region->cap_reads = region->num_writes = region->cap_writes = 0;
    region->sorted = true;
}

/* May two accesses share a byte? */
static bool may_share(const struct listed *a, const struct listed *b) {
    const uint64_t end_a = a->at + (a->rows - 1) * a->stride + a->size;
    const uint64_t end_b = b->at + (b->rows - 1) * b->stride + b->size;
    const uint64_t stride = a->rows > 1 ? a->stride : b->stride;
    if (a->at >= end_b || b->at >= end_a)
        return false;
    if (!stride || (a->rows > 1 && b->rows > 1 && a->stride != b->stride))
        return true;
    /* columns of rows that repeat with the same stride */
    const uint64_t further = a->at <= b->at ? (b->at - a->at) % stride : (stride - (a->at - b->at) % stride) % stride;
    return further < a->size || further + b->size > stride;
}

static bool may_conflict(const struct region *region, const struct listed *l) {
    const bool writes = l->mark.flags & MARK_WRITE;
    for (uint32_t i = 0; i < region->num_writes; i++)
        if (may_share(&region->writes[i], l))
            return true;
    for (uint32_t i = 0; writes && i < region->num_reads; i++)
        if (may_share(&region->reads[i], l))
            return true;
    return false;
}

/* Must the region be sorted, since this access cannot be listed? */
static bool is_full(const struct region *region, const struct listed *l) {
    const bool writes = l->mark.flags & MARK_WRITE;
    return (writes || region->num_writes) &&
           (region->num_reads >= LIST_READS || region->num_writes >= LIST_WRITES || may_conflict(region, l));
}

static void lose_listed(struct region *region, const struct listed *l) {
    for (uint32_t row = 0; row < l->rows; row++)
        for (uint64_t at = l->at + row * l->stride, end = at + l->size; at < end; at = (at | (CELL_PAGE - 1)) + 1)
            lose_page(region, kind_of(&l->mark), at);
}

static void lose_read(struct region *region, const struct listed *l) {
    if (!region->lost_reads)
        region->lost_reads = xcalloc(REGION_PAGES * PAGE_CELLS / 64, sizeof *region->lost_reads);
    for (uint32_t row = 0; row < l->rows; row++)
        for (uint64_t at = l->at + row * l->stride, end = at + l->size; at < end; at = (at | (SECTOR - 1)) + 1)
            set_bit(region->lost_reads, sector_number(at));
}

static void judge_listed_lost(const struct cells *c, const struct region *region, const struct listed *l) {
    for (uint32_t row = 0; row < l->rows && (region->any_lost || region->lost_reads); row++)
        for (uint64_t at = l->at + row * l->stride, end = at + l->size; at < end; at = (at | (SECTOR - 1)) + 1)
            judge_lost(c, region, at, &l->mark);
}

/* A thread reads again what it has read just now, as in a loop: the later read stands for both. */
static bool is_again(struct listed *list, uint32_t num, const struct listed *l) {
    for (uint32_t i = num; i > 0 && num - i < LOOP_READS; i--) {
        struct listed *old = &list[i - 1];
        if (old->at != l->at || old->size != l->size || old->rows != l->rows || old->mark.flags != l->mark.flags ||
            !same_reader(&old->mark, &l->mark))
            continue;
        *old = *l;
        return true;
    }
    return false;
}

static void list(struct cells *c, struct region *region, const struct listed *l) {
    const bool writes = l->mark.flags & MARK_WRITE;
    struct listed **to = writes ? &region->writes : &region->reads;
    uint32_t *num = writes ? &region->num_writes : &region->num_reads;
    uint32_t *cap = writes ? &region->cap_writes : &region->cap_reads;
    const uint64_t most = event_bound(c->gpu, BOUND_READS);
    judge_listed_lost(c, region, l);
    if (!writes && is_again(*to, *num, l))
        return;
    if (*num >= most && !writes) {
        lose_read(region, l);
        return;
    }
    if (*num == *cap && !room(c, (uint64_t)(*cap + 1) * sizeof *l)) {
        lose_listed(region, l);
        return;
    }
    *to = xgrow(*to, *num, cap, sizeof *l);
    (*to)[(*num)++] = *l;
}

static struct region *region_in(struct shard *s, uint64_t number) {
    struct region **list = &s->regions[number / SHARDS % SHARD_LISTS];
    for (struct region *k = *list; k; k = k->next)
        if (k->number == number)
            return k;
    struct region *k = xcalloc(1, sizeof *k);
    k->number = number;
    k->next = *list;
    return *list = k;
}

static void touch_row(struct toucher *t, struct cells *c, struct shard *s, struct region *region, uint64_t at,
                      uint32_t size) {
    for (uint64_t base = at & ~(uint64_t)(SECTOR - 1); base < at + size; base += SECTOR) {
        const struct mark mine = part_of(&t->mark, t->written, at, size, base);
        const uint32_t sector = base % CELL_PAGE / SECTOR;
        struct page *p = page_at(c, region, base);
        judge_lost(c, region, base, &mine);
        if (p) {
            if (mine.flags & MARK_WRITE || is_set(p->written, sector))
                judge(t, s, &p->cell[sector], &mine, base);
            insert(c, s, t, p, sector, &mine);
        } else {
            lose_page(region, kind_of(&mine), base);
        }
    }
}

/* Rows that lie in one region. */
static void touch_rows(struct toucher *t, struct cells *c, uint64_t at, uint32_t size, uint32_t rows, uint64_t stride) {
    const uint64_t number = at >> REGION_SHIFT;
    struct shard *s = &c->shard[number % SHARDS];
    pthread_mutex_lock(&s->lock);
    struct region *region = region_in(s, number);
    const struct listed l = {at, stride, size, rows, t->mark};
    if (!region->sorted && (t->written || is_full(region, &l))) /* of listed writes no values are kept */
        sort(c, s, region);
    if (region->sorted)
        for (uint32_t i = 0; i < rows; i++)
            touch_row(t, c, s, region, at + i * stride, size);
    else
        list(c, region, &l);
    pthread_mutex_unlock(&s->lock);
}

void cells_touch(struct cells *c, struct toucher *t, uint64_t at, uint32_t size, uint32_t rows, uint64_t stride) {
    for (uint32_t row = 0; row < rows;) {
        const uint64_t from = at + row * stride, end = ((from >> REGION_SHIFT) + 1) << REGION_SHIFT;
        if (from + size > end) { /* a row of two regions */
            struct toucher rest = *t;
            const uint32_t head = (uint32_t)(end - from);
            touch_rows(t, c, from, head, 1, 0);
            if (mark_unit(&t->mark) < ONE_LANE)
                rest.mark.lane = (int8_t)(t->mark.lane + (int)(head >> mark_unit(&t->mark)));
            rest.written = t->written ? t->written + head : NULL;
            rest.told = t->told;
            cells_touch(c, &rest, end, size - head, 1, 0);
            t->told = rest.told;
            row++;
            continue;
        }
        const uint64_t fit = stride ? (end - from - size) / stride + 1 : 1;
        const uint32_t n = rows - row < fit ? rows - row : (uint32_t)fit;
        touch_rows(t, c, from, size, n, stride);
        row += n;
    }
}

static void forget_in(struct cells *c, uint64_t at, uint64_t end) {
    const uint64_t number = at >> REGION_SHIFT;
    struct shard *s = &c->shard[number % SHARDS];
    pthread_mutex_lock(&s->lock);
    struct region *region = region_in(s, number);
    if (!region->sorted)
        sort(c, s, region);
    for (uint64_t base = at & ~(uint64_t)(SECTOR - 1); base < end; base += SECTOR) {
        struct page *p = region->page[page_number(base)];
        if (!p)
            continue;
        const struct mark part = part_of(&(struct mark){0}, NULL, at, (uint32_t)(end - at), base);
        for (struct mark *m = &p->cell[base % CELL_PAGE / SECTOR]; m; m = next_of(s, m))
            cover(m, part.mask);
    }
    pthread_mutex_unlock(&s->lock);
}

void cells_forget(struct cells *c, uint64_t at, uint64_t bytes) {
    for (uint64_t end = at + bytes, next; at < end; at = next) {
        next = ((at >> REGION_SHIFT) + 1) << REGION_SHIFT;
        next = next < end ? next : end;
        forget_in(c, at, next);
    }
}

static void free_region(struct region *k) {
    for (uint32_t i = 0; i < sizeof k->page / sizeof *k->page; i++)
        xfree(k->page[i]);
    xfree(k->lost_reads);
    xfree(k->reads);
    xfree(k->writes);
    xfree(k);
}

void cells_free(struct cells *c) {
    for (uint32_t i = 0; i < SHARDS; i++) {
        for (uint32_t l = 0; l < SHARD_LISTS; l++)
            for (struct region *k = c->shard[i].regions[l], *next; k; k = next) {
                next = k->next;
                free_region(k);
            }
        xfree(c->shard[i].extra);
        pthread_mutex_destroy(&c->shard[i].lock);
    }
    xfree(c);
}
