/* check/shadow/kept.h - what the files of the shadow keep, and how they call one another: in the order in which they
 * stand here, each file calls those before it. For this folder alone: check/shadow/shadow.h is the interface.
 */
#ifndef CHECK_SHADOW_KEPT_H
#define CHECK_SHADOW_KEPT_H

#include "check/shadow/shadow.h"
#include "check/verdict/marks.h"
#include "check/verdict/verdict.h"

struct sum;

/* --- sums.c: findings about rows of operand A --------------------------------------------------------------------- */

/* The lanes of D that rows of operand A decide, and those rows are what a finding is about. */
struct rows {
    struct note *mma;
    const struct cta *owner;
    uint32_t lanes[4];
    bool comes; /* it was found when the operand was read */
};

/* Tensor memory is read or written; columns of it are allocated or given back; the cluster ends. `sums`: of a CTA. */
void sums_columns(const struct race *r, struct sum **sums, const struct event_access *e, struct note *n);
void sums_gone(struct sum **sums, uint32_t from, uint32_t to);
void sums_free(struct sum **sums);
/* Adds the lanes that piece i of operand A decides. */
void sums_add_piece(struct rows *rows, uint32_t i);
/* Reports the finding and returns true. Or, where it is about rows of operand A (else NULL), keeps it until one of the
 * lanes is read, or drops it if nobody wants it. */
bool sums_tell(const struct race *r, const struct rows *rows, const struct conflict *f);

/* --- shared memory ------------------------------------------------------------------------------------------------ */

#define BLOCK_BYTES 4096u
#define QUAD 16u /* bytes that threads mostly touch at once */

/* Word: who wrote 4 bytes last, and who has read them since; until an operation overwrites them in order. A word is
 * split into bytes only where these have different fates. */
struct word {
    struct stamp wrote, read;
    uint32_t value; /* that was written; of a quad, block.held has it */
};

/* Pieces: the bytes of a span that is not one run. Spans share them; the last holder frees them. */
struct pieces {
    uint32_t holders;
    uint32_t num, size, rows, stride; /* num of `size` bytes each, and these again `rows` times, `stride` apart */
    uint32_t at[];
};

/* Span: what an operation reads or writes in shared memory; until a later one that is ordered behind it covers it. */
struct span {
    uint32_t from, to;
    struct note *note;
    bool write;
    bool rows;             /* of operand A: its note says where they go */
    struct pieces *pieces; /* NULL: all bytes */
};

/* Block: BLOCK_BYTES of shared memory, until the cluster ends. */
struct block {
    struct word *quads;                       /* 16 bytes each; NULL: no thread has touched the block */
    uint8_t *held;                            /* what threads wrote to each quad as one */
    struct word *words;                       /* 4 bytes each; NULL: no quad has parted */
    uint64_t parted[BLOCK_BYTES / QUAD / 64]; /* bit per quad: its words count in its place */
    struct span *spans;
    uint32_t num_spans, cap_spans;
    bool any_lost; /* spans were forgotten (BOUND_SPANS): */
    struct lost_bytes {
        uint32_t from, to; /* from == to: none */
    } lost[2];             /*  where, those that read, and those that wrote */
};

/* The shared memory of a CTA, until the cluster ends. */
struct bytes_watch {
    uint32_t num_blocks;
    struct block *block;
    struct readers *lists; /* of places that several threads have read */
    uint32_t num_lists, cap_lists;
    uint64_t most_readers; /* of one of them: BOUND_READERS */
    uint32_t free_lists;   /* the first of them, + 1 */
    struct split *splits;  /* words of which the bytes count */
    uint32_t num_splits, cap_splits;
};

#define LATEST_PIECES 256u

/* spans.c. Might an operation have a say in what threads do in [from, to)? */
bool spans_doubt(const struct race *r, const struct bytes_watch *b, const struct viewer *v, uint32_t from, uint32_t to,
                 bool writes);
/* A thread reads or writes [at, at + size): is a conflict with an operation reported? */
bool spans_meet(const struct race *r, const struct bytes_watch *b, struct cta *owner, const struct viewer *v,
                uint32_t at, uint32_t size, bool writes);
/* An operation touches *s: against what other operations do. `latest`: pieces that are at hand. */
void spans_put(struct race *r, struct bytes_watch *b, struct cta *owner, const struct viewer *v, const struct span *s,
               struct pieces **latest);
void spans_free(struct race *r, struct bytes_watch *b);
void spans_drop_pieces(struct pieces *p);

/* stamps.c. Threads touch shared memory; `copy`: their cp.async does, or NULL. */
void stamps_access(struct race *r, struct bytes_watch *b, const struct event_access *e, const struct note *copy);
/* An operation touches *s: against what threads did. */
void stamps_engine(struct race *r, struct bytes_watch *b, struct cta *owner, const struct viewer *v,
                   const struct span *s);
void stamps_free(struct bytes_watch *b);

/* --- columns.c: tensor memory ------------------------------------------------------------------------------------- */

/* The tensor memory of a CTA's SM, until the cluster ends. */
struct columns {
    struct columns_watch *watch; /* areas that are in use, or NULL */
    struct sum *sums;            /* what tcgen05.mma has added up */
};

void columns_access(struct race *r, struct columns *c, const struct event_access *e, struct note *n);
void columns_life(struct race *r, struct columns *c, const struct event_life *e);
void columns_free(struct race *r, struct columns *c);

/* --- cells.c, global.c: global memory ----------------------------------------------------------------------------- */

/* [at, at + size), and that again `rows` times, `stride` apart, are touched as t->mark says; its lane is that of the
 * first byte. */
void cells_touch(struct cells *c, struct toucher *t, uint64_t at, uint32_t size, uint32_t rows, uint64_t stride);
/* The device's malloc gives [at, at + bytes): what was done there before, is behind its free. */
void cells_forget(struct cells *c, uint64_t at, uint64_t bytes);

/* Threads or an operation, whose note is `n`, touch global memory. */
void global_access(struct race *r, struct cells *c, const struct event_access *e, struct note *n);

#endif
