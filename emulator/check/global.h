/* check/global.h - global memory in the happens-before checker (check/race.h): what all clusters of a launch share.
 *
 * Two accesses to the same bytes within a launch, one of them a write, need an order: within a cluster what its threads
 * know of one another, between clusters what came through words of global memory that strong accesses use (8.8, 8.9).
 * Strong accesses do not race with one another (8.7.1). A new launch forgets everything: streams, and grids that begin
 * before the last has ended (9.7.13.13), are not modelled.
 *
 *   check/global.c          the listener's side: events to accesses; what is kept of asynchronous operations
 *   check/global_cells.c    who has touched which bytes
 *   check/global_words.c    words through which threads synchronise
 *   check/global_verdict.c  is the later of two accesses ordered behind the earlier?
 *
 * Clusters of several islands touch memory side by side, so that the cells have locks. They know nothing of one another
 * then: a kernel with strong accesses of gpu scope has one island (launch/shares.c), and words need no lock.
 */
#ifndef CHECK_GLOBAL_H
#define CHECK_GLOBAL_H

#include "check/far.h"
#include "check/race.h"

#include <pthread.h>
#include <stdatomic.h>

#define SECTOR 32u              /* bytes that a cell is for */
#define CELL_PAGE 4096u         /* bytes whose cells come together */
#define REGION_SHIFT 21u        /* bytes of a region, as a power of two */
#define MAX_RELEASES (1u << 16) /* of tensor maps, in a launch; of more nothing can be said */
#define WORD_TAKERS 4u
#define SHARDS 64u
#define SHARD_LISTS 16u

/* An access to bytes of a sector. */
struct mark {
    union {
        const struct diag_site *site;
        struct global_op *op; /* MARK_OP */
    } by;
    uint32_t mask; /* bytes; 0: none */
    uint32_t time, cluster;
    uint32_t next; /* mark of the same sector: extra[next], 0: none */
    uint32_t sum;  /* of the values written: MARK_SUM */
    uint16_t warp; /* of the cluster */
    int8_t lane;   /* byte b is the access of lane + (b >> unit) */
    uint8_t flags; /* enum mark_flag, and the unit */
};
enum mark_flag {
    MARK_WRITE = 1,
    MARK_STRONG = 2, /* told with an order, or atomic */
    MARK_NARROW = 4, /* of a scope within the cluster */
    MARK_OP = 8,
    MARK_SUM = 16,
    MARK_UNIT = 32, /* the unit is flags / MARK_UNIT, or an enum mark_of */
};
/* Whose the bytes are, where not of one lane after the other: of one, of the warp as one, of each of its 32 lanes. */
enum mark_of { ONE_LANE = 5, ONE_WARP, EVERY_LANE };
static inline uint32_t mark_unit(const struct mark *m) { return m->flags / MARK_UNIT; }

/* What is kept of an asynchronous operation until the launch ends. */
struct global_op {
    const struct note *note; /* while there is one; then what it said last: */
    struct done read, written;
    uint32_t cluster, lanes; /* that issued it */
    uint64_t clock;          /* note.clock, .source */
    uint32_t source, warp;
    const struct diag_site *site;
    const char *name;
};

/* An access in a region whose accesses are listed. */
struct listed {
    uint64_t at, stride;
    uint32_t size, rows;
    struct mark mark;
};

struct region {
    uint64_t number; /* address >> REGION_SHIFT */
    struct region *next;
    bool sorted;                   /* its accesses are marks; until then: */
    struct listed *reads, *writes; /*  no write shares bytes with another access */
    uint32_t num_reads, cap_reads, num_writes, cap_writes, oldest;
    struct mark *page[(1u << REGION_SHIFT) / CELL_PAGE]; /* cells, or NULL */
};

struct shard {
    pthread_mutex_t lock;
    struct region *regions[SHARD_LISTS];
    struct mark *extra; /* [0] is unused */
    uint32_t num_extra, cap_extra, free_extra;
};

/* A word that strong accesses use, and what it gives to who reads it: what its release sequence has released (8.8). */
struct word_given {
    uint64_t key; /* 0: none */
    uint32_t cluster;
    uint16_t warp; /* who wrote it last */
    uint8_t lane;
    uint32_t version; /* of what it gives, from 1 */
    struct taker {    /* took that version: polls need not take it again */
        uint32_t version, cluster;
        uint16_t warp;
        uint8_t lane, order;
    } taker[WORD_TAKERS];
    union {
        struct clock *own[LAYERS]; /* of a cluster's table */
        struct far *far[LAYERS];   /* of the launch's */
    } given;
};
struct words {
    struct word_given *word; /* hashed: 1 << bits of them */
    uint32_t num, bits;
};

struct map_release {
    uint64_t clock; /* of the island: which execution of the fence */
    uint32_t cluster, warp, lanes, time;
};
struct map_acquire {
    uint64_t map, clock;
    uint32_t warp, lanes, time;
    struct clock *known; /* LAYER_ORDER at that time */
};

/* What is kept for a launch. */
struct global {
    struct clock_pool far;
    struct diag_dim3 grid, block, cluster; /* in CTAs */
    struct words words;
    bool quiet; /* too many words: nothing can be told any more */
    struct shard shard[SHARDS];
    _Atomic uint64_t bytes; /* that cells and reads take */
    _Atomic uint32_t num_ops;
    pthread_mutex_t lock; /* of what follows */
    struct op_chunk *chunks;
    struct map_release *releases;
    uint32_t num_releases, cap_releases;
};

/* What is kept for a cluster. */
struct global_watch {
    struct global *launch;
    uint32_t cluster;
    struct words words; /* of shared memory, and those of global memory that are used within the cluster */
    struct op_chunk *chunk;
    uint32_t reads; /* by threads, of which MAX_READS are looked at */
    struct map_acquire *acquires;
    uint32_t num_acquires, cap_acquires;
};

/* --- global.c ----------------------------------------------------------------------------------------------------- */

void global_launch(const struct listener *self, const struct event_host *e);
void global_launch_end(const struct listener *self, const struct event_host *e);
void global_begin(struct race *r, const struct listener *self);
void global_end(struct race *r);
/* Threads or an operation, whose note is `n`, touch global memory. */
void global_access(struct race *r, const struct event_access *e, struct note *n);
void global_map_fence(struct race *r, const struct event_sync *e);
/* tensormap.cp_fenceproxy: the lanes of a warp, which wait for one another, read and write as one; the order that its
 * words say is its fence's. */
bool global_is_map_copy(const struct event_access *e);
/* The note of an operation goes. */
void global_note_ends(struct note *n);

/* --- global_words.c ----------------------------------------------------------------------------------------------- */

/* Threads touch words of shared or global memory by a strong access: what they learn, and give on. */
void global_sync(struct race *r, const struct event_access *e);
/* Of a cluster; of the launch. */
void global_words_end(struct race *r);
void global_words_free(struct global *g);

/* --- global_verdict.c --------------------------------------------------------------------------------------------- */

/* Who makes an access, and whether a broken rule was told of it. */
struct toucher {
    struct race *r;
    const struct viewer *v;
    const struct know *k; /* of threads, or NULL */
    struct mark mark;
    const uint8_t *written; /* what is at the first byte now, or NULL: not known */
    bool map;               /* reads a tensor map */
    bool told;
};

/* Two accesses, of which one writes, share the bytes `both` of a sector, which begins at `at`: the rule that the later
 * one, *mine, breaks, or NULL. */
const struct diag *global_verdict(const struct toucher *t, const struct mark *first, const struct mark *mine,
                                  uint32_t both, uint64_t at);
/* Does who makes the access *mine know of *first, as far as that touched bytes of `both`? */
bool global_knows(const struct toucher *t, const struct mark *first, const struct mark *mine, uint32_t both);
void global_tell(const struct toucher *t, const struct diag *rule, const struct mark *first, const struct mark *mine,
                 uint64_t at);

/* --- global_cells.c ----------------------------------------------------------------------------------------------- */

/* [at, at + size), and that again `rows` times, `stride` apart, are touched as t->mark says; its lane is that of the
 * first byte. */
void cells_touch(struct toucher *t, uint64_t at, uint32_t size, uint32_t rows, uint64_t stride);
/* The device's malloc gives [at, at + bytes): what was done there before, is behind its free. */
void cells_forget(struct global *g, uint64_t at, uint64_t bytes);
void cells_free(struct global *g);

#endif
