/* check/shadow/pages.h - what is remembered of 4096 bytes of global memory. Only for cells.c.
 *
 * A page begins with runs: a run is one access to any number of adjacent bytes. It keeps runs as long as they are few,
 * no sector has two writes, and a write covers, and so replaces, the earlier runs that it meets. A kernel that streams
 * through memory never needs more. After that the page has marks, for each sector its own.
 *
 * If there is no room for an access, it is forgotten, but its kind is noted for its bytes. This is announced only when
 * an access comes that may conflict with it (report/bounds.h).
 */
#ifndef CHECK_SHADOW_PAGES_H
#define CHECK_SHADOW_PAGES_H

#include "check/shadow/kept.h"

#include <string.h>

#define PAGE_SHIFT 12u
#define PAGE_BYTES (1u << PAGE_SHIFT)
#define PAGE_SECTORS (PAGE_BYTES / SECTOR)

/* The memory of pages and lists, up to BOUND_CELL_BYTES. Any thread may ask for it. */
struct room {
    _Atomic uint64_t bytes; /* in use */
    struct gpu *gpu;
};
/* Reserves bytes; false: there are not so many left. And gives them back. */
bool room_take(struct room *room, uint64_t bytes);
void room_give(struct room *room, uint64_t bytes);
/* As xgrow, with memory from `room`. NULL: there is none, and nothing has changed. */
void *room_grow_other(struct room *room, void *list, uint32_t *cap, size_t size);
static inline void *room_grow(struct room *room, void *list, uint32_t num, uint32_t *cap, size_t size) {
    return num < *cap ? list : room_grow_other(room, list, cap, size);
}

/* The kinds of forgotten accesses. */
enum lost {
    LOST_READ,
    LOST_STRONG, /* a strong read, which conflicts only with weak writes */
    LOST_WRITE,
    LOST_KINDS
};
static inline bool is_strong(const struct mark *m) { return (m->flags & (MARK_STRONG | MARK_NARROW)) == MARK_STRONG; }
static inline enum lost kind_of(const struct mark *m) {
    return m->flags & MARK_WRITE ? LOST_WRITE : is_strong(m) ? LOST_STRONG : LOST_READ;
}
/* May an access conflict with a forgotten one of that kind? */
static inline bool conflicts(const struct mark *m, enum lost kind) {
    return kind == LOST_WRITE || (m->flags & MARK_WRITE && (kind != LOST_STRONG || !is_strong(m)));
}
/* Bits that threads of several islands set and read, behind a lock or not. */
static inline bool bit_is_set(const uint64_t *bits, uint32_t i) {
    return __atomic_load_n(&bits[i / 64], __ATOMIC_RELAXED) >> i % 64 & 1;
}
static inline void bit_set(uint64_t *bits, uint32_t i) {
    if (!bit_is_set(bits, i))
        __atomic_fetch_or(&bits[i / 64], UINT64_C(1) << i % 64, __ATOMIC_RELAXED);
}

/* A mark without its bytes: a run of a page's bytes, or a region's rows. Members as in struct mark. */
struct brief {
    const void *by; /* mark.by.op or .site */
    uint32_t time, cluster;
    uint16_t warp;
    int8_t lane; /* lane of the first byte */
    uint8_t flags;
    union {
        struct {
            uint16_t from, to; /* bytes of the page */
        };
        uint32_t stride; /* bytes from row to row */
    };
};
static inline struct brief brief_of(const struct mark *m) {
    return (struct brief){.by = m->flags & MARK_OP ? (const void *)m->by.op : (const void *)m->by.site,
                          .time = m->time,
                          .cluster = m->cluster,
                          .warp = m->warp,
                          .lane = m->lane,
                          .flags = m->flags};
}
static inline struct mark brief_mark(const struct brief *b) {
    struct mark m = {.time = b->time, .cluster = b->cluster, .warp = b->warp, .lane = b->lane, .flags = b->flags};
    memcpy(&m.by, &b->by, sizeof m.by);
    return m;
}

struct page;

#define EXTRA 256u /* marks: in blocks, as a list of 4 MiB that grows would leave as much behind unused */

/* What the pages of a stripe have in common, until the launch ends. Used by one thread at a time. */
struct pages {
    struct room *room;
    struct mark **extra; /* marks beyond the first of their sectors, EXTRA in each block; the first is unused */
    uint32_t num_extra, cap_extra, free_extra;
};

void pages_free(struct pages *s);

/* Are both reads by the same thread, or by the same warp as a whole? Then the later one replaces the earlier, for its
 * own bytes. */
static inline bool same_reader(const struct mark *a, const struct mark *b) {
    return a->cluster == b->cluster && a->warp == b->warp && a->lane == b->lane && mark_unit(a) == mark_unit(b) &&
           !((a->flags | b->flags) & (MARK_OP | MARK_WRITE));
}

/* A page without accesses; NULL: no room. */
struct page *page_new(struct room *room);
void page_free(struct page *p);
/* On an access as *m says to [at, at + size), which is in the page; its lane is that of the first byte. `t`: the maker,
 * to which conflicts are reported; NULL: already reported. `written`: current value; NULL: not known. False: no room to
 * keep it. */
bool page_touch(struct pages *s, struct page *p, struct toucher *t, const struct mark *m, const uint8_t *written,
                uint64_t at, uint32_t size);
/* Would such an access change nothing? It is a read of bytes that nobody has written, with forgotten reads. NULL: no
 * page. Any thread may ask, also while others touch the page. */
bool page_ignores(const struct page *p, const struct mark *m, uint64_t at, uint32_t size);
/* Forgets [at, end), which is in the page. False: no room for the rest. */
bool page_forget(struct pages *s, struct page *p, uint64_t at, uint64_t end);

#endif
