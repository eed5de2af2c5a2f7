/* check/shadow/kept.h - what the files of the shadow keep, and how they call one another: each file calls only those
 * before it here. Only for this folder; check/shadow/shadow.h is the interface.
 */
#ifndef CHECK_SHADOW_KEPT_H
#define CHECK_SHADOW_KEPT_H

#include "check/shadow/shadow.h"
#include "check/verdict/marks.h"
#include "check/verdict/verdict.h"

struct sum;

/* --- sums.c: findings about rows of operand A --------------------------------------------------------------------- */

/* A finding is about rows of operand A; these lanes of D depend on those rows. Exists while the finding is decided. */
struct rows {
    struct note *mma;
    const struct cta *owner;
    uint32_t lanes[4];
    bool comes; /* it was found when the operand was read */
};

/* On an access to tensor memory; when columns are allocated or freed; at the end of the cluster. `sums`: of a CTA. */
void sums_columns(const struct race *r, struct sum **sums, const struct event_access *e, struct note *n);
void sums_gone(struct sum **sums, uint32_t from, uint32_t to);
void sums_free(struct sum **sums);
/* Adds the lanes that depend on piece i of operand A. */
void sums_add_piece(struct rows *rows, uint32_t i);
/* Reports the finding and returns true. If it is about rows of operand A (otherwise `rows` is NULL), it keeps the
 * finding until one of the lanes is read, or drops it if no one can read them. */
bool sums_tell(const struct race *r, const struct rows *rows, const struct conflict *f);

/* --- shared memory ------------------------------------------------------------------------------------------------ */

#define SMEM_MOST (256u << 10) /* bytes: more than any CTA has */
#define BLOCK_BYTES 4096u
#define QUAD 16u /* bytes that threads usually access together */
#define LINE 64u /* the same of warps: rows of lanes with a word each are two lines */

/* A word: the last writer of 4 bytes and their readers since, until an operation overwrites them in order. It is split
 * into bytes only if these have different histories. The values that were written are in block.held. */
struct word {
    struct stamp wrote, read;
};

/* Lanes of a warp usually access memory side by side. Then a quad has one stamp for several lanes. The upper bits of
 * its `lane` say how they share the quad; the others are the lane of the first byte. In the stamp of a list of
 * readers the upper bits are the greatest `enum share` of any reader. If other lanes or bytes come, or a conflict is
 * possible, the quad is split into its words. */
#define SHARE 32u
enum share {
    SHARE_ONE, /* one lane has all bytes */
    SHARE_DOUBLES,
    SHARE_WORDS,
    SHARE_FINE, /* from here on lanes have less than a word each */
    SHARE_HALVES = SHARE_FINE,
    SHARE_BYTES,
    SHARE_ACROSS, /* 2 bytes for each lane, and each lane is 4 after the one before: ldmatrix.trans */
};
static inline enum share share_of(const struct stamp *s) { return s->lane / SHARE; }
static inline uint32_t share_lane(uint32_t lane, uint32_t byte) {
    static const uint8_t shift[] = {[SHARE_ONE] = 4,    [SHARE_DOUBLES] = 3, [SHARE_WORDS] = 2,
                                    [SHARE_HALVES] = 1, [SHARE_BYTES] = 0,   [SHARE_ACROSS] = 1};
    const uint32_t step = lane / SHARE == SHARE_ACROSS ? 4 : 1;
    return lane % SHARE + step * (byte >> shift[lane / SHARE]);
}
static inline uint32_t share_lanes(uint32_t lane) {
    static const uint32_t lanes[] = {[SHARE_ONE] = 1,       [SHARE_DOUBLES] = 0x3,  [SHARE_WORDS] = 0xf,
                                     [SHARE_HALVES] = 0xff, [SHARE_BYTES] = 0xffff, [SHARE_ACROSS] = 0x11111111};
    return lanes[lane / SHARE] << lane % SHARE;
}
static inline struct stamp share_part(const struct stamp *s, uint32_t byte) {
    return (struct stamp){s->time, {{s->warp, (uint8_t)share_lane(s->lane, byte), s->flags}}};
}
static inline bool is_shared(const struct word *quad) { return (quad->wrote.lane | quad->read.lane) >= SHARE; }

/* Pieces: the bytes of a span that is not contiguous. Spans share them, also spans in different places, such as the
 * stages of an operand; the last holder frees them. */
struct pieces {
    uint32_t holders;
    uint32_t num, size, rows, stride; /* num pieces of `size` bytes, repeated `rows` times, `stride` apart */
    uint32_t bytes;                   /* from the first to the last */
    uint32_t at[];                    /* of each, from the first byte of the span */
};

/* A span: bytes of shared memory that an operation reads or writes; until a later span that is ordered after it covers
 * it. */
struct span {
    uint32_t from, to;
    struct note *note;
    struct pieces *pieces; /* NULL: all bytes */
    bool write;
    bool rows; /* of operand A: its note has their lanes of D */
    /* The latest comparison with a span, if the two broke no rule: the number of that span, whether it replaces this
     * one, and stays_known() of the two. */
    bool gone, stays;
    uint32_t met;
    uint32_t holders; /* lists that have it, and spans_put */
};

/* A group: the quads that share a word of `parted`. Its accesses of one kind by threads are, or include, those that the
 * quads have. */
#define GROUP_QUADS 64u
#define GROUP_BYTES (GROUP_QUADS * QUAD)
struct group {
    uint32_t time; /* of the latest; 0: none */
    uint16_t warp; /* that made all of them, */
    bool mixed;    /* unless several warps did, or stamps with flags */
};

/* What is remembered of BLOCK_BYTES of shared memory, until the cluster ends. */
struct block {
    struct word *quads; /* 16 bytes each; NULL: no thread has accessed the block */
    struct word *lines; /* 64 bytes each: the stamps of a line's first quad; the lanes of the others follow it */
    uint64_t lined;     /* bit for each line: it counts instead of its quads */
    uint8_t *held;      /* the values that threads wrote */
    struct word *words; /* 4 bytes each; NULL: no quad is split */
    uint64_t parted[BLOCK_BYTES / GROUP_BYTES]; /* bit for each quad: its words count instead */
    struct group wrote[BLOCK_BYTES / GROUP_BYTES], read[BLOCK_BYTES / GROUP_BYTES];
};

/* A slab: bytes in which each lane of one warp has a row of 1 << shift bytes. All accesses of threads there are those
 * of the slab, instead of stamps: as long as all are by this warp's lanes to quads of their own rows. */
#define SLAB_ACCESSES 16u
struct slab {
    uint32_t begin;
    uint16_t warp;
    uint8_t shift;
    uint8_t next; /* access that comes next if they come as before */
    uint32_t num;
    uint32_t latest[2]; /* times of the latest read and write; 0: none. Its groups may have the times of earlier ones */
    uint8_t *held;      /* the values that were written; NULL: none */
    struct slab_access {
        uint32_t time; /* 0: an operation's write has replaced it */
        bool writes;
        uint8_t quad[VCLOCK_LANES]; /* the number of each lane's quad in the slab */
    } list[SLAB_ACCESSES];          /* the latest of each kind with these quads */
};

/* The list of the spans that have bytes in the same SPANS_BYTES of shared memory, until the cluster ends. An operand of
 * a stage has mostly that size. Conflicts are looked for in the list's order. */
#define SPANS_BYTES 16384u
struct spans {
    struct place {
        uint32_t from, to;
        struct note *note;
        uint32_t span; /* its number in bytes_watch.span */
        bool write;
    } * place;
    uint32_t num, cap;
    /* The bytes at which each write is one that the tensor core knew, in an operation that these lanes issued at
     * `time`. Their later operations know no less. Until the next write. */
    struct settled {
        uint32_t from, to, warp, lanes, time; /* lanes 0: none */
    } settled;
    uint64_t reads; /* bit for each read, by a hash of its range; perhaps some are gone */
    bool any_lost;  /* spans were forgotten (BOUND_SPANS), */
    struct lost_bytes {
        uint32_t from, to; /* from == to: none */
    } lost[2];             /* at these bytes: reads, writes */
};

/* The bytes for which spans_doubt has last found no doubt, and for whom; until the next span. */
struct calm {
    uint32_t from, to, warp, lanes; /* lanes 0: none */
    bool writes;
};
/* Is there no doubt about this access either? Threads only learn more. */
static inline bool is_calm(const struct calm *c, uint32_t warp, uint32_t lanes, uint32_t from, uint32_t to,
                           bool writes) {
    return c->warp == warp && !(lanes & ~c->lanes) && c->from <= from && to <= c->to && c->writes >= writes;
}

struct epochs; /* epochs.c */

/* What is remembered of a CTA's shared memory, until the cluster ends. */
struct bytes_watch {
    struct epochs *epochs; /* NULL: the words below have all accesses */
    uint32_t num_blocks, num_spans;
    uint64_t groups[SMEM_MOST / GROUP_BYTES / 64]; /* bit for each group: it may have accesses of threads */
    struct block *block;
    struct spans *spans;
    struct span *span; /* those in the lists, and free ones */
    uint32_t made_spans, cap_made;
    uint32_t free_span; /* first free one + 1; the next is in `met` */
    uint32_t puts;      /* spans so far */
    struct calm calm;
    struct slab *slabs;
    uint32_t num_slabs, cap_slabs;
    uint8_t slab_at[SMEM_MOST / GROUP_BYTES]; /* for each group: number of its slab + 1, or 0 */
    struct readers *lists;                    /* readers of places that several threads have read */
    uint32_t num_lists, cap_lists;
    bool lost_readers;     /* a list has dropped some */
    uint64_t most_readers; /* limit for one list: BOUND_READERS */
    uint64_t most_spans;   /* BOUND_SPANS */
    uint32_t free_lists;   /* first free list + 1 */
    struct split *splits;  /* words that are split into bytes */
    uint32_t num_splits, cap_splits;
};

#define LATEST_PIECES 256u

/* spans.c. May an operation conflict with an access of threads to [from, to)? False needs no further check. */
bool spans_doubt(const struct race *r, struct bytes_watch *b, const struct viewer *v, uint32_t from, uint32_t to,
                 bool writes);
/* On an access by a thread to [at, at + size). Returns whether a conflict with an operation was reported. */
bool spans_meet(const struct race *r, const struct bytes_watch *b, struct cta *owner, const struct viewer *v,
                uint32_t at, uint32_t size, bool writes);
/* On an access by an operation to *s, whose pieces the caller holds: checks it against other operations. */
void spans_put(struct race *r, struct bytes_watch *b, struct cta *owner, const struct viewer *v, const struct span *s);
/* The pieces of an operation's access, from the cache `latest`, which holds them. *from: the first byte. */
struct pieces *spans_pieces(struct pieces **latest, const struct event_access *e, uint32_t *from);
void spans_free(struct race *r, struct bytes_watch *b);
void spans_drop_pieces(struct pieces *p);

/* stamps.c. On an access by threads to shared memory; `copy`: by their cp.async, or NULL. */
void stamps_access(struct race *r, struct bytes_watch *b, const struct event_access *e, const struct note *copy);
/* even.c. The same for a row in its short form, from `at` on (enum event_halves). False: it needs stamps_access. */
bool even_fast_row(struct race *r, struct bytes_watch *b, const struct cta *cta, const struct diag_site *site,
                   uint32_t at, uint32_t how);
/* The same for a matrix (enum event_matrix), whose last access is now. Returns how many of its accesses need no more,
 * of which the first ones. */
uint32_t even_matrix(struct race *r, struct bytes_watch *b, const struct cta *cta, const struct diag_site *site,
                     const uint64_t row[8], uint32_t how);
/* operations.c. On an access by an operation to *s: checks it against accesses of threads. */
void stamps_engine(struct race *r, struct bytes_watch *b, struct cta *owner, const struct viewer *v,
                   const struct span *s);
void stamps_free(struct bytes_watch *b);

/* readers.c: lists of readers, by their numbers in `lists`. The flag of a stamp says that its `time` is one. */
#define READERS_STAMP STAMP_NEXT
struct readers {
    uint32_t num, cap;
    uint32_t next; /* next free one + 1 */
    bool lost;     /* some were dropped: BOUND_READERS */
    struct reader {
        uint32_t time, lanes;
        uint16_t warp;
        uint8_t flags;
        uint8_t share; /* stamp.lane of lanes that share the quad; 0: each of `lanes` has all of the place */
    } * list;
};
/* The number of an empty list. */
uint32_t readers_new(struct bytes_watch *b);
/* Appends a reader. If there are more than `most`, the oldest is dropped. */
void readers_append(struct readers *list, const struct stamp *s, uint64_t most);
/* Empties the stamp, and frees its list. */
void readers_clear(struct bytes_watch *b, struct stamp *read);
/* Drops readers that a new one, with this clock, knows of: what is ordered after it is ordered after them. */
void readers_drop_known(struct readers *list, const struct vclock *now);
/* A copy of the readers of the place's byte, for a part of the place. */
struct stamp readers_copy(struct bytes_watch *b, const struct stamp *read, uint32_t byte);

/* An access of threads that had no conflict when it came. */
struct past {
    uint32_t time, lanes;
    uint16_t warp;
    bool writes, strong;
    uint32_t size;
    const uint32_t *at;   /* for each lane of the warp */
    const uint8_t *found; /* the bytes written: `size` for each of `lanes`, one after the other */
};
/* The words remember it as if it came now, without a comparison. */
void stamps_remember(struct race *r, struct bytes_watch *b, struct cta *owner, const struct past *a);

/* epochs.c. Can accesses of this cluster be compared by epochs? */
bool epochs_fit(const struct race *r);
struct epochs *epochs_new(const struct race *r, const struct cta *cta);
void epochs_free(struct epochs *p);
/* On an access of threads to shared memory. True: it has no conflict and is remembered. False: the words have all
 * accesses before this one. */
bool epochs_access(struct race *r, struct bytes_watch *b, const struct event_access *e);
/* The same for an access in its short form (enum event_halves). False: it needs epochs_access. */
bool epochs_halves(struct race *r, struct bytes_watch *b, const struct cta *cta, const struct diag_site *site,
                   uint32_t first, uint32_t second, uint32_t how);
/* On SYNC_BAR_*. */
void epochs_sync(const struct race *r, struct epochs *p, const struct event_sync *e);

/* --- columns.c: tensor memory ------------------------------------------------------------------------------------- */

/* What is remembered of a CTA's tensor memory, until the cluster ends. */
struct columns {
    struct columns_watch *watch; /* the areas; NULL: none so far */
    struct sum *sums;            /* the sums of tcgen05.mma */
};

void columns_access(struct race *r, struct columns *c, const struct event_access *e, struct note *n);
void columns_life(struct race *r, struct columns *c, const struct event_life *e);
void columns_free(struct race *r, struct columns *c);

/* --- cells.c, global.c: global memory ----------------------------------------------------------------------------- */

/* On an access as t->mark says to [at, at + size), repeated `rows` times, `stride` apart; its lane is that of the first
 * byte. */
void cells_touch(struct cells *c, struct toucher *t, uint64_t at, uint32_t size, uint32_t rows, uint64_t stride);
/* The same for reads of `size` bytes at `at[]` by lanes of a warp, each with a run of its own. Takes those that only
 * need to be listed, in order; returns the others. */
uint32_t cells_list_reads(struct cells *c, const struct toucher *t, const uint64_t *at, uint32_t size, uint32_t lanes);
/* The same for a read of [at, at + size), which is in one row: a run. False: nothing was done. The mark comes in
 * registers, because what was just written in parts is slow to load as a whole. */
bool cells_list_row(struct cells *c, const struct diag_site *site, uint32_t time, uint32_t cluster, uint16_t warp,
                    uint8_t flags, uint64_t at, uint32_t size);
/* The device's malloc returns [at, at + bytes): earlier accesses are ordered before, by their free. */
void cells_forget(struct cells *c, uint64_t at, uint64_t bytes);

/* On an access to global memory, by threads or by the operation with the note `n`. */
void global_access(struct race *r, struct cells *c, const struct event_access *e, struct note *n);

#endif
