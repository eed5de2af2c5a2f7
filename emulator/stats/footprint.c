/* stats/footprint.c - contract in footprint.h. */
#include "stats/footprint.h"

#include "base/heap.h"
#include "stats/wavefronts.h"

#define PER_PAGE (64u * FOOTPRINT_WORDS)
#define FIRST_ROOM 64u

void footprint_init(struct footprint *f) {
    *f = (struct footprint){0};
    pthread_mutex_init(&f->lock, NULL);
}

/* The place of a page, or a free one. */
static uint32_t place_of(const struct footprint *f, uint64_t number) {
    uint32_t i = (uint32_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (f->room - 1);
    while (f->page[i] && f->page[i]->number != number)
        i = (i + 1) & (f->room - 1);
    return i;
}

static void grow(struct footprint *f) {
    const struct footprint old = *f;
    f->room = old.room ? 2 * old.room : FIRST_ROOM;
    f->page = xcalloc(f->room, sizeof(struct footprint_page *));
    for (uint32_t i = 0; i < old.room; i++)
        if (old.page[i])
            f->page[place_of(f, old.page[i]->number)] = old.page[i];
    xfree(old.page);
}

static struct footprint_page *find(struct footprint *f, uint64_t number) {
    pthread_mutex_lock(&f->lock);
    if (2 * f->used >= f->room)
        grow(f);
    struct footprint_page **p = &f->page[place_of(f, number)];
    if (!*p) {
        *p = xcalloc(1, sizeof **p);
        (*p)->number = number;
        f->used++;
    }
    struct footprint_page *page = *p;
    pthread_mutex_unlock(&f->lock);
    return page;
}

static struct footprint_page *page_of(struct footprint_view *v, uint64_t number) {
    struct footprint_page **seen = &v->seen[number % FOOTPRINT_SEEN];
    if (!*seen || (*seen)->number != number)
        *seen = find(v->of, number);
    return *seen;
}

/* Sectors [from, to). Others may set bits of the same word. */
static void add_sectors(struct footprint_view *v, bool write, uint64_t from, uint64_t to) {
    while (from < to) {
        const uint64_t in_word = 64 - from % 64, n = to - from < in_word ? to - from : in_word;
        const uint64_t bits = (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << from % 64;
        uint64_t *word = &page_of(v, from / PER_PAGE)->bits[write][from % PER_PAGE / 64];
        if (bits & ~__atomic_load_n(word, __ATOMIC_RELAXED))
            __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
        from += n;
    }
}

void footprint_add(struct footprint_view *v, bool write, uint64_t at, uint64_t bytes, uint64_t rows, uint64_t stride) {
    for (uint64_t r = 0; r < rows && bytes; r++, at += stride)
        add_sectors(v, write, at / STATS_SECTOR, (at + bytes - 1) / STATS_SECTOR + 1);
}

uint64_t footprint_count(const struct footprint *f, bool write) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->room; i++)
        for (unsigned k = 0; k < FOOTPRINT_WORDS && f->page[i]; k++)
            n += (uint64_t)__builtin_popcountll(f->page[i]->bits[write][k]);
    return n;
}

void footprint_free(struct footprint *f) {
    for (uint32_t i = 0; i < f->room; i++)
        xfree(f->page[i]);
    xfree(f->page);
    pthread_mutex_destroy(&f->lock);
}
