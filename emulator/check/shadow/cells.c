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

#define CELL_PAGE 4096u  /* bytes whose cells come together */
#define REGION_SHIFT 21u /* bytes of a region, as a power of two */
#define SHARDS 64u
#define SHARD_LISTS 16u
#define PAGE_CELLS (CELL_PAGE / SECTOR)
#define MAX_MARKS 12u                   /* of one sector; of more, the oldest read is forgotten */
#define MAX_READS (1u << 14)            /* listed, likewise; */
#define MAX_READS_WRITTEN (1u << 10)    /*  where something is written, too, */
#define MAX_WRITES (1u << 10)           /*  and so many writes */
#define MAX_BYTES (UINT64_C(768) << 20) /* that all of it may take */

/* An access in a region whose accesses are listed. */
struct listed {
    uint64_t at, stride;
    uint32_t size, rows;
    struct mark mark;
};

/* Region: 1 << REGION_SHIFT bytes of global memory, from the first access to it to the end of the launch. */
struct region {
    uint64_t number; /* address >> REGION_SHIFT */
    struct region *next;
    bool sorted;                   /* its accesses are marks; until then: */
    struct listed *reads, *writes; /*  no write shares bytes with another access */
    uint32_t num_reads, cap_reads, num_writes, cap_writes, oldest;
    struct mark *page[(1u << REGION_SHIFT) / CELL_PAGE]; /* cells, or NULL */
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
    const bool fits = atomic_fetch_add_explicit(&c->bytes, bytes, memory_order_relaxed) + bytes <= MAX_BYTES;
    if (!fits)
        event_tell_unseen(c->gpu, UNSEEN_GLOBAL_MEMORY);
    return fits;
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

/* Takes away what `mine` stands for from now on: whoever is ordered behind it is behind that, or that was told. */
static void supersede(struct shard *s, struct mark *cell, const struct mark *mine) {
    uint32_t num = 0;
    for (struct mark *m = cell; m; m = next_of(s, m), num++)
        if (mine->flags & MARK_WRITE || same_reader(m, mine))
            cover(m, mine->mask);
    struct mark *last = NULL; /* before the last read */
    for (struct mark *m = cell; m->next;) {
        const struct mark *n = next_of(s, m);
        if (!n->mask) {
            free_next(s, m);
            num--;
            continue;
        }
        if (!(n->flags & MARK_WRITE))
            last = m;
        m = next_of(s, m);
    }
    if (num >= MAX_MARKS && last)
        free_next(s, last);
}

static void insert(struct cells *c, struct shard *s, struct mark *cell, const struct mark *mine) {
    const uint32_t next = cell->next;
    if (cell->mask || next)
        supersede(s, cell, mine);
    if (!cell->mask) {
        const uint32_t after = cell->next;
        *cell = *mine;
        cell->next = after;
        return;
    }
    const uint32_t i = new_extra(c, s);
    if (!i)
        return;
    s->extra[i] = *mine;
    s->extra[i].next = cell->next;
    cell->next = i;
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

static struct mark *cell_at(struct cells *c, struct region *region, uint64_t at) {
    const uint64_t off = at & ((UINT64_C(1) << REGION_SHIFT) - 1);
    struct mark **page = &region->page[off / CELL_PAGE];
    if (!*page) {
        if (!room(c, PAGE_CELLS * sizeof **page))
            return NULL;
        *page = xcalloc(PAGE_CELLS, sizeof **page);
    }
    return &(*page)[off % CELL_PAGE / SECTOR];
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
                struct mark *cell = cell_at(c, region, base);
                if (cell)
                    insert(c, s, cell, &part);
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
           (region->num_reads >= MAX_READS_WRITTEN || region->num_writes >= MAX_WRITES || may_conflict(region, l));
}

static void list(struct cells *c, struct region *region, const struct listed *l) {
    const bool writes = l->mark.flags & MARK_WRITE;
    struct listed **to = writes ? &region->writes : &region->reads;
    uint32_t *num = writes ? &region->num_writes : &region->num_reads;
    uint32_t *cap = writes ? &region->cap_writes : &region->cap_reads;
    if (*num == MAX_READS) {
        (*to)[region->oldest++ % MAX_READS] = *l;
        return;
    }
    if (*num == *cap && !room(c, (uint64_t)(*cap + 1) * sizeof *l))
        return;
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
        struct mark *cell = cell_at(c, region, base);
        if (!cell)
            return;
        const struct mark mine = part_of(&t->mark, t->written, at, size, base);
        judge(t, s, cell, &mine, base);
        insert(c, s, cell, &mine);
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
    const uint64_t number = at >> REGION_SHIFT, mask = (UINT64_C(1) << REGION_SHIFT) - 1;
    struct shard *s = &c->shard[number % SHARDS];
    pthread_mutex_lock(&s->lock);
    struct region *region = region_in(s, number);
    if (!region->sorted)
        sort(c, s, region);
    for (uint64_t base = at & ~(uint64_t)(SECTOR - 1); base < end; base += SECTOR) {
        struct mark *cell = region->page[(base & mask) / CELL_PAGE];
        if (!cell)
            continue;
        const struct mark part = part_of(&(struct mark){0}, NULL, at, (uint32_t)(end - at), base);
        for (struct mark *m = &cell[base % CELL_PAGE / SECTOR]; m; m = next_of(s, m))
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
