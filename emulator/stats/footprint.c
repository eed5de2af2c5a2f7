/* stats/footprint.c - contract in footprint.h. */
#include "stats/footprint.h"

#include "base/heap.h"
#include "stats/access.h"

#define PER_PAGE (64u * FOOTPRINT_WORDS)
#define FIRST_ROOM 64u

/* The place of a page, or a free one. */
static uint32_t place_of(const struct footprint *f, uint64_t number) {
    uint32_t i = (uint32_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (f->room - 1);
    while (f->page[i].number && f->page[i].number != number)
        i = (i + 1) & (f->room - 1);
    return i;
}

static void grow(struct footprint *f) {
    const struct footprint old = *f;
    f->room = old.room ? 2 * old.room : FIRST_ROOM;
    f->page = xcalloc(f->room, sizeof *f->page);
    for (uint32_t i = 0; i < old.room; i++)
        if (old.page[i].number)
            f->page[place_of(f, old.page[i].number)] = old.page[i];
    xfree(old.page);
}

static struct footprint_page *page_of(struct footprint *f, uint64_t number) {
    if (f->used && f->page[f->last].number == number)
        return &f->page[f->last];
    if (2 * f->used >= f->room)
        grow(f);
    f->last = place_of(f, number);
    struct footprint_page *p = &f->page[f->last];
    f->used += p->number == 0;
    p->number = number;
    return p;
}

/* Sectors [from, to). */
static void add_sectors(struct footprint *f, bool write, uint64_t from, uint64_t to) {
    while (from < to) {
        const uint64_t in_word = 64 - from % 64, n = to - from < in_word ? to - from : in_word;
        struct footprint_page *p = page_of(f, from / PER_PAGE + 1);
        p->bits[write][from % PER_PAGE / 64] |= (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << from % 64;
        from += n;
    }
}

void footprint_add(struct footprint *f, bool write, uint64_t at, uint64_t bytes, uint64_t rows, uint64_t stride) {
    for (uint64_t r = 0; r < rows && bytes; r++, at += stride)
        add_sectors(f, write, at / STATS_SECTOR, (at + bytes - 1) / STATS_SECTOR + 1);
}

void footprint_join(struct footprint *f, const struct footprint *other) {
    for (uint32_t i = 0; i < other->room; i++) {
        const struct footprint_page *from = &other->page[i];
        if (!from->number)
            continue;
        struct footprint_page *to = page_of(f, from->number);
        for (unsigned w = 0; w < 2; w++)
            for (unsigned k = 0; k < FOOTPRINT_WORDS; k++)
                to->bits[w][k] |= from->bits[w][k];
    }
}

uint64_t footprint_count(const struct footprint *f, bool write) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->room; i++)
        for (unsigned k = 0; k < FOOTPRINT_WORDS; k++)
            n += (uint64_t)__builtin_popcountll(f->page[i].bits[write][k]);
    return n;
}

void footprint_free(struct footprint *f) {
    xfree(f->page);
    *f = (struct footprint){0};
}
