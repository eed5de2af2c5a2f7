/* stats/tally.h - what is counted while a launch runs, of each island by itself: one host thread runs it at a time. */
#ifndef STATS_TALLY_H
#define STATS_TALLY_H

#include "stats/footprint.h"
#include "stats/stats.h"
#include "stats/wavefronts.h"

#define TALLY_PIECES 256u /* of one instruction: 32 lanes of 8 elements */

/* The access of a warp instruction, which may be told in several events. */
struct request {
    bool open, load;
    enum event_space space;
    uint32_t site; /* its number */
    struct event_by by;
    uint32_t lanes, size;                   /* shared memory: `at` of these */
    uint64_t at[2 * MACH_WARP];             /*  of a matrix with .trans, both elements of each */
    struct stats_piece piece[TALLY_PIECES]; /* global memory, `pieces` */
    uint32_t pieces;
};

struct tally {
    struct tally *next;
    const struct island *island;
    struct stats sum;
    struct footprint_view touched; /* global memory */
    const struct diag_site **key;  /* of the sites: a hash table of `room` places, with their numbers */
    uint32_t *number;
    uint32_t room;
    struct request request;
    uint64_t steps;
    struct { /* the latest operation that was issued, to tell its multicast copies */
        struct event_by by;
        uint64_t steps;
    } op;
};

/* The counters of an instruction; valid until the next call. */
struct stats_site *tally_site(struct tally *t, const struct diag_site *site, const char *what);
/* An access of threads, or of their cp.async, to shared or global memory. */
void tally_access(struct tally *t, const struct event_access *e);
/* What has been told of the instruction's access is all of it. */
void tally_close(struct tally *t);
/* An operation is issued. */
void tally_op(struct tally *t, const struct listener *self, const struct event_op *e);
/* Adds the counters of `from`. */
void tally_join(struct tally *t, const struct tally *from);
/* Puts the tables into their orders, and ends the counting: what is left is `sum`. */
void tally_finish(struct tally *t);
void tally_free(struct tally *t);

#endif
