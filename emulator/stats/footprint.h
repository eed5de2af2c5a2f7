/* stats/footprint.h - which sectors of global memory a launch has touched: a bit for each of 32 bytes.
 *
 * All islands share one footprint. What a host thread finds in it, it remembers in a view of its own, so that it locks
 * only where it comes to a page for the first time.
 */
#ifndef STATS_FOOTPRINT_H
#define STATS_FOOTPRINT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define FOOTPRINT_WORDS 64u /* of a page, of 64 sectors each: 128 KiB */
#define FOOTPRINT_SEEN 256u

struct footprint {
    pthread_mutex_t lock;
    struct footprint_page {
        uint64_t number;                   /* address / 128 KiB */
        uint64_t bits[2][FOOTPRINT_WORDS]; /* read, written */
    } * *page;                             /* a hash table of `room` places, `used` of them taken */
    uint32_t room, used;
};

struct footprint_view {
    struct footprint *of;
    struct footprint_page *seen[FOOTPRINT_SEEN]; /* by their numbers' low bits */
};

void footprint_init(struct footprint *f);
/* `rows` times `bytes`, `stride` apart, are read (`write` false) or written. */
void footprint_add(struct footprint_view *v, bool write, uint64_t at, uint64_t bytes, uint64_t rows, uint64_t stride);
/* Sectors that were read, or written. */
uint64_t footprint_count(const struct footprint *f, bool write);
void footprint_free(struct footprint *f);

#endif
