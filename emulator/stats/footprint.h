/* stats/footprint.h - which sectors of global memory have been touched: a bit for each of 32 bytes. */
#ifndef STATS_FOOTPRINT_H
#define STATS_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#define FOOTPRINT_WORDS 64u /* of a page, of 64 sectors each: 128 KiB */

struct footprint {
    struct footprint_page {
        uint64_t number; /* address / 128 KiB, + 1; 0: free */
        uint64_t bits[2][FOOTPRINT_WORDS];
    } * page; /* a hash table of `room` places, `used` of them taken */
    uint32_t room, used, last;
};

/* `rows` times `bytes`, `stride` apart, are read (`write` false) or written. */
void footprint_add(struct footprint *f, bool write, uint64_t at, uint64_t bytes, uint64_t rows, uint64_t stride);
/* Adds what another has. */
void footprint_join(struct footprint *f, const struct footprint *other);
/* Sectors that were read, or written. */
uint64_t footprint_count(const struct footprint *f, bool write);
void footprint_free(struct footprint *f);

#endif
