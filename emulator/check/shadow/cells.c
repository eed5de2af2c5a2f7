/* check/shadow/cells.c - the accesses to global memory, by bytes; contract in kept.h.
 *
 * Copies read, and usually write, large boxes that no other access shares. So the accesses of a region are only listed
 * at first. They move to its pages (pages.h) when a write may share bytes with another access, or when there are many.
 * If it takes too much memory, some is forgotten: then a race may be missed, but none is invented.
 *
 * Clusters of several islands access memory side by side. Lists are behind the lock of their shard. A sorted region
 * stays so, and each of its pages is behind the lock of its stripe. A shard's lock comes before a stripe's. A read that
 * would change nothing takes no lock, so that clusters which read the same bytes do not wait for one another.
 */
#include "check/shadow/pages.h"

#include "base/heap.h"

#define REGION_SHIFT 21u /* bytes of a region, as a power of two */
#define SHARDS 64u
#define SHARD_LISTS 16u
#define STRIPES 256u
#define MUCH (UINT64_C(1) << 20) /* bytes that the host gets back when they are freed; fewer are soon needed again */
#define REGION_PAGES ((1u << REGION_SHIFT) / PAGE_BYTES)
/* Limits of listed accesses in a region with a write; more become marks. */
#define LIST_READS 1024u
#define LIST_WRITES 1024u
#define LONGEST 32768u /* bytes of a row, and rows, that one listed access may have */
#define LOOP_READS 8u  /* is_again() looks at so many of the latest reads */

/* A listed access of a region. */
struct listed {
    struct brief who;    /* who.stride: bytes from row to row */
    uint32_t at;         /* in the region */
    uint16_t size, rows; /* size: bytes of a row */
};
_Static_assert(sizeof(struct listed) == 32, "as small as may be: a launch may have millions");

/* What is remembered of 1 << REGION_SHIFT bytes of global memory, from the first access to the end of the launch. */
struct region {
    uint64_t number; /* address >> REGION_SHIFT */
    struct region *next;
    atomic_bool sorted;            /* its accesses have moved to the pages; before that: */
    struct listed *reads, *writes; /* lists in which no write shares bytes with another access */
    uint32_t num_reads, cap_reads, num_writes, cap_writes;
    uint32_t latest[LOOP_READS]; /* where the latest reads begin, by their numbers; perhaps some are gone */
    struct extent {
        uint32_t from, to;
    } read, written;                              /* all listed ones are within it */
    atomic_bool any_lost;                         /* in `lost`; */
    uint64_t lost[LOST_KINDS][REGION_PAGES / 64]; /* bit for each page with an access that found no room, by kind */
    struct dropped *_Atomic dropped;              /* reads beyond BOUND_READS; NULL: none */
    struct page *_Atomic page[REGION_PAGES];      /* or NULL */
};

/* Reads that were not listed, because the list had BOUND_READS already. Lives until the launch ends. A later write
 * moves the region's accesses to its pages. */
struct dropped {
    bool alone;                                                     /* no write is listed, until the region is sorted */
    uint64_t sectors[LOST_WRITE][REGION_PAGES * PAGE_SECTORS / 64]; /* LOST_READ, LOST_STRONG: bit for each */
    struct listed latest[LOOP_READS];                               /* of those that are listed: the last ones */
};

/* Some of the regions. */
struct shard {
    pthread_mutex_t lock;
    struct region *_Atomic regions[SHARD_LISTS];
};

/* Some of the pages. */
struct stripe {
    pthread_mutex_t lock;
    struct pages pages;
};

struct cells {
    struct shard shard[SHARDS];
    struct stripe stripe[STRIPES];
    struct room room;
};

struct cells *cells_new(struct gpu *gpu) {
    struct cells *c = xcalloc(1, sizeof *c);
    c->room.gpu = gpu;
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&c->shard[i].lock, NULL);
    for (uint32_t i = 0; i < STRIPES; i++) {
        pthread_mutex_init(&c->stripe[i].lock, NULL);
        c->stripe[i].pages.room = &c->room;
    }
    return c;
}

/* --- what was forgotten ------------------------------------------------------------------------------------------- */

static uint32_t page_number(uint64_t at) { return (uint32_t)(at >> PAGE_SHIFT) % REGION_PAGES; }

static uint32_t sector_number(uint64_t at) { return (uint32_t)(at / SECTOR) % (REGION_PAGES * PAGE_SECTORS); }

static struct stripe *stripe_of(struct cells *c, uint64_t at) { return &c->stripe[(at >> PAGE_SHIFT) % STRIPES]; }

/* An access of that kind to the page at `at` found no room. */
static void lose_page(struct region *region, enum lost kind, uint64_t at) {
    bit_set(region->lost[kind], page_number(at));
    region->any_lost = true;
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

/* On an access to a sector: announces that a conflict with a forgotten access may be missed. */
static void judge_lost(const struct cells *c, const struct region *region, uint64_t at, const struct mark *mine) {
    for (enum lost k = 0; region->any_lost && k < LOST_KINDS; k++)
        if (bit_is_set(region->lost[k], page_number(at)) && conflicts(mine, k))
            event_tell_unseen(c->room.gpu, BOUND_CELL_BYTES);
    for (enum lost k = 0; region->dropped && k < LOST_WRITE; k++)
        if (bit_is_set(region->dropped->sectors[k], sector_number(at)) && conflicts(mine, k))
            event_tell_unseen(c->room.gpu, BOUND_READS);
}

/* On an access to [at, at + size), which is in one region: passes it to the pages. `t` NULL: it was compared before, so
 * it is only remembered. */
static void touch_row(struct cells *c, struct region *region, struct toucher *t, const struct mark *m,
                      const uint8_t *written, uint64_t at, uint32_t size) {
    struct mark mine = *m;
    for (uint64_t end = at + size, next; at < end; at = next) {
        struct page *_Atomic *page = &region->page[page_number(at)];
        struct stripe *s = stripe_of(c, at);
        next = (at | (PAGE_BYTES - 1)) + 1;
        next = next < end ? next : end;
        if (!t || !page_ignores(*page, &mine, at, (uint32_t)(next - at))) {
            pthread_mutex_lock(&s->lock);
            if (!*page)
                *page = page_new(&c->room);
            if (!*page || !page_touch(&s->pages, *page, t, &mine, written, at, (uint32_t)(next - at)))
                lose_page(region, kind_of(m), at);
            pthread_mutex_unlock(&s->lock);
        }
        mine.lane = mark_lane(&mine, (int32_t)(next - at));
        written = written ? written + (next - at) : NULL;
    }
}

/* Moves the accesses of a list to the pages. */
static void sort_list(struct cells *c, struct region *region, const struct listed *list, uint32_t num) {
    for (uint32_t i = 0; i < num; i++) {
        const uint64_t first = (region->number << REGION_SHIFT) + list[i].at;
        const struct mark m = brief_mark(&list[i].who);
        for (uint32_t row = 0; row < list[i].rows; row++)
            touch_row(c, region, NULL, &m, NULL, first + row * list[i].who.stride, list[i].size);
    }
}

/* Moves the listed accesses of a region to its pages; from now on all go there. */
static void sort(struct cells *c, struct region *region) {
    const uint64_t bytes = (uint64_t)(region->cap_reads + region->cap_writes) * sizeof *region->reads;
    sort_list(c, region, region->writes, region->num_writes);
    sort_list(c, region, region->reads, region->num_reads);
    room_give(&c->room, bytes);
    xfree(region->reads);
    xfree(region->writes);
    region->reads = region->writes = NULL;
    region->num_reads = region->cap_reads = region->num_writes = region->cap_writes = 0;
    region->sorted = true;
}

/* The end of the last row, in the region. */
static uint32_t end_of(const struct listed *l) { return l->at + (l->rows - 1u) * l->who.stride + l->size; }

/* May two accesses share a byte, each of which ends after the other one's begin? */
static inline bool may_share(const struct listed *a, const struct listed *b) {
    const uint32_t stride = a->rows > 1 ? a->who.stride : b->who.stride;
    if (!stride || (a->rows > 1 && b->rows > 1 && a->who.stride != b->who.stride))
        return true;
    /* both repeat with one stride: within it, b begins `further` bytes after a. They are apart if b begins after the
     * end of a's row, and ends before a's next row begins */
    const uint32_t away = a->at <= b->at ? b->at - a->at : a->at - b->at;
    const uint32_t rest = away < stride ? away : away % stride; /* mostly both begin in one row */
    const uint32_t further = a->at <= b->at || !rest ? rest : stride - rest;
    return further < a->size || further + b->size > stride;
}

/* Does an access share bytes with the extent? */
static bool is_in(const struct extent *x, const struct listed *l) { return l->at < x->to && x->from < end_of(l); }

/* The extent grows, so that it also has the access. */
static void extend(struct extent *x, const struct listed *l) {
    const uint32_t end = end_of(l);
    x->from = !x->to || l->at < x->from ? l->at : x->from;
    x->to = end > x->to ? end : x->to;
}

/* May one of so many share a byte with `l`? */
static bool may_share_any(const struct listed *list, uint32_t num, const struct listed *l) {
    const uint32_t end = end_of(l);
    for (uint32_t i = 0; i < num; i++)
        if (list[i].at < end && l->at < end_of(&list[i]) && may_share(&list[i], l))
            return true;
    return false;
}

/* May the access share bytes with a listed one, and is one of the two a write? */
static bool may_conflict(const struct region *region, const struct listed *l) {
    const bool writes = l->who.flags & MARK_WRITE;
    return (is_in(&region->written, l) && may_share_any(region->writes, region->num_writes, l)) ||
           (writes && is_in(&region->read, l) && may_share_any(region->reads, region->num_reads, l));
}

/* Must the region's accesses move to its pages, because this one cannot be listed with them? */
static bool is_full(const struct region *region, const struct listed *l) {
    const bool writes = l->who.flags & MARK_WRITE;
    return (writes || region->num_writes) && (region->dropped || region->num_reads >= LIST_READS ||
                                              region->num_writes >= LIST_WRITES || may_conflict(region, l));
}

/* An access found no room in the lists: notes its kind for its pages. */
static void lose_listed(struct region *region, const struct listed *l) {
    const struct mark m = brief_mark(&l->who);
    for (uint32_t row = 0; row < l->rows; row++)
        for (uint64_t at = l->at + row * l->who.stride, end = at + l->size; at < end; at = (at | (PAGE_BYTES - 1)) + 1)
            lose_page(region, kind_of(&m), at);
}

/* A read beyond BOUND_READS is dropped: notes its kind for its sectors. */
static void lose_read(struct region *region, const struct listed *l) {
    const struct mark m = brief_mark(&l->who);
    if (!region->dropped) {
        struct dropped *d = xcalloc(1, sizeof *d);
        d->alone = !region->num_writes;
        for (uint32_t i = 0; i < LOOP_READS && i < region->num_reads; i++)
            d->latest[i] = region->reads[region->num_reads - 1 - i];
        region->dropped = d;
    }
    for (uint32_t row = 0; row < l->rows; row++)
        for (uint64_t at = l->at + row * l->who.stride, end = at + l->size; at < end; at = (at | (SECTOR - 1)) + 1)
            bit_set(region->dropped->sectors[kind_of(&m)], sector_number(at));
}

/* judge_lost() for all sectors of an access. */
static void judge_listed_lost(const struct cells *c, const struct region *region, const struct listed *l) {
    const struct mark m = brief_mark(&l->who);
    const bool conflicts_with_reads = m.flags & MARK_WRITE && region->dropped;
    for (uint32_t row = 0; row < l->rows && (region->any_lost || conflicts_with_reads); row++)
        for (uint64_t at = l->at + row * l->who.stride, end = at + l->size; at < end; at = (at | (SECTOR - 1)) + 1)
            judge_lost(c, region, at, &m);
}

/* Is it the same read by the same reader, a thread or a warp as a whole? */
static inline bool is_same(const struct listed *old, const struct listed *l) {
    return old->at == l->at && old->who.cluster == l->who.cluster && old->who.warp == l->who.warp &&
           old->who.lane == l->who.lane && old->size == l->size && old->rows == l->rows &&
           old->who.flags == l->who.flags && !(l->who.flags & (MARK_OP | MARK_WRITE));
}

/* A thread repeats its latest read, as in a loop: the later read stands for both. */
static bool is_again(struct listed *list, uint32_t num, const struct listed *l) {
    for (uint32_t i = num; i > 0 && num - i < LOOP_READS; i--)
        if (is_same(&list[i - 1], l)) {
            list[i - 1] = *l;
            return true;
        }
    return false;
}

/* Does one of so many begin at `at`? */
static inline bool is_among(const uint32_t latest[LOOP_READS], uint32_t at) {
    uint32_t among = 0;
    for (uint32_t i = 0; i < LOOP_READS; i++)
        among |= -(uint32_t)(latest[i] == at);
    return among;
}

/* Would it change nothing to list this access? Then it needs no lock. It must be a read that list() would drop, from
 * sectors that all have a dropped read of its kind. And it must not repeat one of the latest listed reads, whose entry
 * would then be renewed (is_again). */
static bool is_dropped(const struct region *region, const struct listed *l) {
    const struct dropped *d = region->dropped;
    const struct mark m = brief_mark(&l->who);
    if (!d || !d->alone || region->any_lost || kind_of(&m) == LOST_WRITE)
        return false;
    for (uint32_t row = 0; row < l->rows; row++)
        for (uint64_t at = l->at + row * l->who.stride, end = at + l->size; at < end; at = (at | (SECTOR - 1)) + 1)
            if (!bit_is_set(d->sectors[kind_of(&m)], sector_number(at)))
                return false;
    for (uint32_t i = 0; i < LOOP_READS; i++)
        if (is_same(&d->latest[i], l))
            return false;
    return true;
}

/* Does one of the latest listed reads begin at `at`? */
static bool is_latest(const struct dropped *d, uint32_t at) {
    bool latest = false;
    for (uint32_t i = 0; i < LOOP_READS; i++)
        latest |= d->latest[i].at == at;
    return latest;
}

/* Adds an access to the lists of a region, or notes that it was lost. */
static void list(struct cells *c, struct region *region, const struct listed *l) {
    const bool writes = l->who.flags & MARK_WRITE;
    struct listed **to = writes ? &region->writes : &region->reads;
    uint32_t *num = writes ? &region->num_writes : &region->num_reads;
    uint32_t *cap = writes ? &region->cap_writes : &region->cap_reads;
    const uint64_t most = event_bound(c->room.gpu, BOUND_READS);
    if (!writes && is_among(region->latest, l->at) && is_again(*to, *num, l))
        return;
    if (*num >= most && !writes) {
        lose_read(region, l);
        return;
    }
    struct listed *grown = room_grow(&c->room, *to, *num, cap, sizeof *l);
    if (!grown) {
        lose_listed(region, l);
        return;
    }
    *to = grown;
    if (!writes)
        region->latest[*num % LOOP_READS] = l->at;
    (*to)[(*num)++] = *l;
    extend(writes ? &region->written : &region->read, l);
}

/* The region of that number in the list; NULL: no access so far. */
static inline struct region *find_region(struct region *list, uint64_t number) {
    while (list && list->number != number)
        list = list->next;
    return list;
}

/* The region with that number, new at its first access. */
static __attribute__((noinline)) struct region *new_region(struct shard *s, uint64_t number) {
    struct region *_Atomic *list = &s->regions[number / SHARDS % SHARD_LISTS];
    pthread_mutex_lock(&s->lock);
    struct region *k = find_region(*list, number);
    if (!k) {
        k = xcalloc(1, sizeof *k);
        k->number = number;
        k->next = *list;
        *list = k;
    }
    pthread_mutex_unlock(&s->lock);
    return k;
}
static inline struct region *region_in(struct shard *s, uint64_t number) {
    struct region *k = find_region(s->regions[number / SHARDS % SHARD_LISTS], number);
    return k ? k : new_region(s, number);
}

/* Lists an access, if it can be. False: the region is sorted. */
static bool touch_list(struct cells *c, struct shard *s, struct region *region, const struct toucher *t,
                       const struct listed *l) {
    if (region->sorted)
        return false;
    if (is_dropped(region, l))
        return true;
    pthread_mutex_lock(&s->lock);
    /* a write whose values are known goes to the pages, because the lists keep no values */
    if (!region->sorted && (t->written || is_full(region, l)))
        sort(c, region);
    const bool takes = !region->sorted;
    if (takes) {
        judge_listed_lost(c, region, l);
        list(c, region, l);
    }
    pthread_mutex_unlock(&s->lock);
    return takes;
}

/* On an access to rows that are in one region. */
static void touch_rows(struct toucher *t, struct cells *c, uint64_t at, uint32_t size, uint32_t rows, uint64_t stride) {
    const uint64_t number = at >> REGION_SHIFT;
    struct shard *s = &c->shard[number % SHARDS];
    struct region *region = region_in(s, number);
    struct listed l = {.who = brief_of(&t->mark), .at = at % (1u << REGION_SHIFT)};
    l.size = (uint16_t)size;
    l.rows = (uint16_t)rows;
    l.who.stride = (uint32_t)stride;
    if (touch_list(c, s, region, t, &l))
        return;
    judge_listed_lost(c, region, &l);
    for (uint32_t i = 0; i < rows; i++)
        touch_row(c, region, t, &t->mark, t->written, at + i * stride, size);
}

uint32_t cells_list_reads(struct cells *c, const struct toucher *t, const uint64_t *at, uint32_t size, uint32_t lanes) {
    const uint64_t number = at[__builtin_ctz(lanes)] >> REGION_SHIFT;
    struct shard *s = &c->shard[number % SHARDS];
    struct listed l = {.who = brief_of(&t->mark), .size = (uint16_t)size, .rows = 1};
    struct region *region = region_in(s, number);
    bool locked = false;
    uint64_t dropped = UINT64_MAX; /* an address at which each lane's read is dropped */
    for (; lanes && !region->sorted && !region->any_lost; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (at[lane] == dropped)
            continue;
        if (at[lane] >> REGION_SHIFT != number || (at[lane] + size - 1) >> REGION_SHIFT != number)
            break;
        l.at = at[lane] % (1u << REGION_SHIFT);
        l.who.lane = (int8_t)lane;
        if (is_dropped(region, &l)) {
            dropped = is_latest(region->dropped, l.at) ? UINT64_MAX : at[lane];
            continue;
        }
        if (!locked)
            pthread_mutex_lock(&s->lock);
        locked = true;
        if (region->sorted || region->num_writes || region->any_lost)
            break;
        list(c, region, &l);
    }
    if (locked)
        pthread_mutex_unlock(&s->lock);
    return lanes;
}

static inline void put_row(struct listed *l, const struct diag_site *site, uint32_t time, uint32_t cluster,
                           uint16_t warp, uint8_t flags, uint32_t at, uint32_t size) {
    l->who.by = site;
    l->who.time = time;
    l->who.cluster = cluster;
    l->who.warp = warp;
    l->who.lane = 0;
    l->who.flags = flags;
    l->who.stride = 0;
    l->at = at;
    l->size = (uint16_t)size;
    l->rows = 1;
}

bool cells_list_row(struct cells *c, const struct diag_site *site, uint32_t time, uint32_t cluster, uint16_t warp,
                    uint8_t flags, uint64_t at, uint32_t size) {
    const uint64_t number = at >> REGION_SHIFT;
    struct shard *s = &c->shard[number % SHARDS];
    struct region *region = region_in(s, number);
    if (region->sorted || region->dropped || region->any_lost || (at + size - 1) >> REGION_SHIFT != number)
        return false;
    const uint32_t in = at % (1u << REGION_SHIFT);
    pthread_mutex_lock(&s->lock);
    const bool takes = !region->sorted && !region->num_writes && !region->dropped && !region->any_lost;
    const uint32_t num = region->num_reads;
    if (takes && num < region->cap_reads && num < event_bound(c->room.gpu, BOUND_READS) &&
        !is_among(region->latest, in)) { /* list() with its questions answered */
        region->latest[num % LOOP_READS] = in;
        put_row(&region->reads[num], site, time, cluster, warp, flags, in, size);
        region->num_reads++;
        extend(&region->read, &region->reads[num]);
    } else if (takes) {
        struct listed l;
        put_row(&l, site, time, cluster, warp, flags, in, size);
        list(c, region, &l);
    }
    pthread_mutex_unlock(&s->lock);
    return takes;
}

void cells_touch(struct cells *c, struct toucher *t, uint64_t at, uint32_t size, uint32_t rows, uint64_t stride) {
    for (uint32_t row = 0; row < rows;) {
        const uint64_t from = at + row * stride, end = ((from >> REGION_SHIFT) + 1) << REGION_SHIFT;
        if (from + size > end || size > LONGEST) { /* a row in two regions, or a long one */
            struct toucher rest = *t;
            const uint32_t head = end - from < LONGEST ? (uint32_t)(end - from) : LONGEST;
            touch_rows(t, c, from, head, 1, 0);
            rest.mark.lane = mark_lane(&t->mark, (int32_t)head);
            rest.written = t->written ? t->written + head : NULL;
            rest.told = t->told;
            cells_touch(c, &rest, from + head, size - head, 1, 0);
            t->told = rest.told;
            row++;
            continue;
        }
        const uint64_t fit = stride ? (end - from - size) / stride + 1 : 1;
        const uint32_t most = fit < LONGEST ? (uint32_t)fit : LONGEST;
        const uint32_t n = rows - row < most ? rows - row : most;
        touch_rows(t, c, from, size, n, stride);
        row += n;
    }
}

/* cells_forget() in one region. */
static void forget_in(struct cells *c, uint64_t at, uint64_t end) {
    const uint64_t number = at >> REGION_SHIFT;
    struct shard *s = &c->shard[number % SHARDS];
    struct region *region = region_in(s, number);
    pthread_mutex_lock(&s->lock);
    if (!region->sorted)
        sort(c, region);
    pthread_mutex_unlock(&s->lock);
    for (uint64_t next; at < end; at = next) {
        struct stripe *of = stripe_of(c, at);
        pthread_mutex_lock(&of->lock);
        struct page *p = region->page[page_number(at)];
        next = (at | (PAGE_BYTES - 1)) + 1;
        if (p && !page_forget(&of->pages, p, at, next < end ? next : end))
            lose_page(region, LOST_WRITE, at);
        pthread_mutex_unlock(&of->lock);
    }
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
        page_free(k->page[i]);
    xfree(k->dropped);
    xfree(k->reads);
    xfree(k->writes);
    xfree(k);
}

void cells_free(struct cells *c) {
    const bool much = c->room.bytes >= MUCH;
    for (uint32_t i = 0; i < SHARDS; i++) {
        for (uint32_t l = 0; l < SHARD_LISTS; l++)
            for (struct region *k = c->shard[i].regions[l], *next; k; k = next) {
                next = k->next;
                free_region(k);
            }
        pthread_mutex_destroy(&c->shard[i].lock);
    }
    for (uint32_t i = 0; i < STRIPES; i++) {
        pages_free(&c->stripe[i].pages);
        pthread_mutex_destroy(&c->stripe[i].lock);
    }
    xfree(c);
    if (much)
        heap_trim();
}
