/* stats/wavefronts.c - contract in wavefronts.h. */
#include "stats/wavefronts.h"

#define BANKS 32u
#define LANES 32u
#define WORD 4u
#define MAX_WORDS (LANES * 4u) /* of a portion */

/* Different words of each bank, where a bank has several: the most of any. */
static uint32_t count_words(const uint64_t *word, uint32_t n) {
    uint64_t seen[MAX_WORDS];
    uint32_t next[MAX_WORDS], first[BANKS], depth[BANKS] = {0}, most = 0; /* lists: index + 1, 0 the end */
    for (uint32_t b = 0; b < BANKS; b++)
        first[b] = 0;
    for (uint32_t i = 0, kept = 0; i < n; i++) {
        const uint32_t bank = word[i] % BANKS;
        uint32_t at = first[bank];
        while (at && seen[at - 1] != word[i])
            at = next[at - 1];
        if (at)
            continue;
        seen[kept] = word[i];
        next[kept] = first[bank];
        first[bank] = ++kept;
        depth[bank]++;
        most = depth[bank] > most ? depth[bank] : most;
    }
    return most;
}

/* Is no bank accessed twice? */
static bool all_apart(const uint64_t *at, uint32_t size, uint32_t count) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t here = ((1u << (size + WORD - 1) / WORD) - 1) << at[i] / WORD % BANKS;
        if (seen & here)
            return false;
        seen |= here;
    }
    return true;
}

uint32_t stats_portion(const uint64_t *at, uint32_t size, uint32_t count) {
    uint64_t word[MAX_WORDS];
    uint32_t n = 0;
    if (all_apart(at, size, count))
        return count > 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t w = at[i] / WORD; w * WORD < at[i] + size && n < MAX_WORDS; w++)
            word[n++] = w;
    return count_words(word, n);
}

/* Have active lanes l and l ^ bit the same address? */
static bool in_pairs(const uint64_t *at, uint32_t lanes, uint32_t bit) {
    for (uint32_t l = 0; l < LANES; l++)
        if (lanes >> l & lanes >> (l ^ bit) & 1 && at[l] != at[l ^ bit])
            return false;
    return true;
}

uint32_t stats_wavefronts(const uint64_t *at, uint32_t size, uint32_t lanes, bool load, uint32_t *least) {
    uint32_t sum = 0, width = size <= 4 ? LANES : size <= 8 ? LANES / 2 : LANES / 4;
    if (load && size > 4 && (in_pairs(at, lanes, 1) || in_pairs(at, lanes, 2)))
        width *= 2;
    *least = 0;
    for (uint32_t first = 0; first < LANES; first += width) {
        uint64_t some[LANES];
        uint32_t n = 0;
        for (uint32_t l = first; l < first + width; l++)
            if (lanes >> l & 1)
                some[n++] = at[l];
        sum += stats_portion(some, size, n);
        *least += n != 0;
    }
    return sum;
}

static void sort_pieces(struct stats_piece *p, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        const struct stats_piece x = p[i];
        uint32_t j = i;
        for (; j > 0 && p[j - 1].at > x.at; j--)
            p[j] = p[j - 1];
        p[j] = x;
    }
}

uint32_t stats_sectors(struct stats_piece *p, uint32_t n, uint64_t *bytes) {
    uint32_t sectors = 0;
    uint64_t end = 0, next = 0; /* behind the bytes and the sectors that were counted */
    sort_pieces(p, n);
    *bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t from = p[i].at > end ? p[i].at : end, to = p[i].at + p[i].size;
        if (to <= from)
            continue;
        *bytes += to - from;
        end = to;
        const uint64_t first = from / STATS_SECTOR, last = (to - 1) / STATS_SECTOR;
        sectors += (uint32_t)(last + 1 - (first > next ? first : next));
        next = last + 1;
    }
    return sectors;
}
