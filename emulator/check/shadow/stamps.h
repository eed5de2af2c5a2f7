/* check/shadow/stamps.h - words and quads of shared memory, and the stamps in them. Only for stamps.c, even.c and
 * operations.c.
 */
#ifndef CHECK_SHADOW_STAMPS_H
#define CHECK_SHADOW_STAMPS_H

#include "check/shadow/kept.h"

#include <string.h>

#define WORD 4u
#define BLOCK_WORDS (BLOCK_BYTES / WORD)
/* Flags of a stamp that only these files set; READERS_STAMP is one, too. */
#define STAMP_SPLIT (2 * STAMP_NEXT) /* of a word: `time` is the number of the split into bytes */
#define STAMP_WROTE (4 * STAMP_NEXT) /* among the readers: a weak store that its thread's own atomic has replaced */

/* The bytes of a word that have different histories, until the cluster ends. */
struct split {
    struct word byte[WORD];
};

/* One lane's access, or an operation's, during its check. */
struct touch {
    struct race *r;
    struct cta *owner;
    struct bytes_watch *b;
    struct viewer *v; /* its lanes: those of the current part */
    struct stamp stamp;
    bool writes, strong;
    bool told, told_strictly; /* a finding of this instruction was reported: any; a strict one */
    const struct rows *rows;  /* an operation that reads operand A: its rows; otherwise NULL; */
    uint32_t piece;           /*  and the number of the piece of A that is being checked */
    bool quiet;               /* no operation can conflict with it */
    bool silent;              /* it was judged when it came, and is only remembered now; */
    const uint8_t *found;     /* then: the lane's written bytes, */
    uint32_t found_at;        /*  and where they are */
    /* Cache: all lanes of this warp are known up to this time. */
    uint32_t known_warp, known_time;
};

/* --- places ------------------------------------------------------------------------------------------------------- */

/* The bytes written at `at`. */
static inline const uint8_t *written_at(const struct touch *t, uint32_t at) {
    return t->found ? t->found + (at - t->found_at) : t->owner->smem + at;
}

static inline bool is_parted(const struct block *k, uint32_t at) {
    const uint32_t q = at % BLOCK_BYTES / QUAD;
    return k->parted[q / 64] >> q % 64 & 1;
}

static inline void set_parted(struct block *k, uint32_t at, bool parted) {
    const uint32_t q = at % BLOCK_BYTES / QUAD;
    k->parted[q / 64] = (k->parted[q / 64] & ~(UINT64_C(1) << q % 64)) | (uint64_t)parted << q % 64;
}

static inline struct word *quad_at(const struct block *k, uint32_t at) { return &k->quads[at % BLOCK_BYTES / QUAD]; }
static inline struct word *word_at(const struct block *k, uint32_t at) { return &k->words[at % BLOCK_BYTES / WORD]; }

/* What a line says of its quad i: the lanes come in order, as many in each quad as share it. */
static inline struct stamp line_part(const struct stamp *s, uint32_t i) {
    const uint32_t lane = s->time ? s->lane + (i << share_of(s)) : s->lane;
    return (struct stamp){s->time, {{s->warp, (uint8_t)lane, s->flags}}};
}

static inline uint32_t line_of(uint32_t at) { return at % BLOCK_BYTES / LINE; }

/* The block of that offset, in which the quads there count; they are allocated at the first access. */
struct block *even_block(struct bytes_watch *b, uint32_t at);
/* From now on the quads of that line count. */
void even_part_line(struct block *k, uint32_t line);
static inline void part_line(struct block *k, uint32_t at) {
    if (k->lined >> line_of(at) & 1)
        even_part_line(k, line_of(at));
}

/* Keeps the value that is written to a place: a quad, a word or a byte. */
static inline void hold(const struct touch *t, const struct block *k, uint32_t at, uint32_t bytes) {
    uint8_t *const held = k->held + at % BLOCK_BYTES;
    if (bytes == WORD)
        memcpy(held, written_at(t, at), WORD);
    else if (bytes == QUAD)
        memcpy(held, written_at(t, at), QUAD);
    else
        *held = *written_at(t, at);
}
/* Is it the value that is there already? */
static inline bool is_held(const struct touch *t, const struct block *k, uint32_t at, uint32_t bytes) {
    const uint8_t *const held = k->held + at % BLOCK_BYTES;
    return !(bytes == WORD ? memcmp(held, written_at(t, at), WORD) : memcmp(held, written_at(t, at), bytes));
}

/* A stamp as one number: its `who` is the upper half. */
static inline uint64_t stamp_bits(const struct stamp *s) {
    uint64_t bits;
    memcpy(&bits, s, sizeof bits);
    return bits;
}

/* Is the stamp empty, or one with this `who`? */
static inline bool is_mine(uint64_t stamp, uint32_t who) { return stamp >> 32 == who || !stamp; }

/* --- known accesses ----------------------------------------------------------------------------------------------- */

/* Fast path: is the stamp's access known to be ordered before this one? Stamps with flags need the full check; but an
 * access that is only remembered is not checked again. */
static inline bool is_known(struct touch *t, const struct stamp *s) {
    if (s->flags)
        return t->silent;
    if (s->warp != t->known_warp && !t->silent) {
        t->known_warp = s->warp;
        t->known_time = verdict_known_time(t->r, s->warp, t->v);
    }
    return s->time <= t->known_time;
}

/* The same for the stamp of readers. */
static inline bool are_known(struct touch *t, const struct stamp *read) {
    if (!(read->flags & READERS_STAMP))
        return is_known(t, read);
    const struct readers *list = &t->b->lists[read->time];
    for (uint32_t i = 0; i < list->num; i++)
        if (!is_known(t, &(struct stamp){list->list[i].time, {{list->list[i].warp, 0, list->list[i].flags}}}))
            return false;
    return !list->lost;
}

/* Is the stamp empty, or an access by the same lane, with neither of the two having flags? */
static inline bool is_own(const struct stamp *s, const struct stamp *mine) {
    return s->who == mine->who ? !mine->flags || !s->time : !s->time && !s->flags;
}

/* Fast path: is an access plainly in order? */
static inline bool is_plain(struct touch *t, const struct stamp *s, const struct stamp *mine) {
    return is_own(s, mine) || is_known(t, s);
}

/* Does the operation know all accesses of the group? */
static inline bool knows_group(struct touch *t, const struct group *g) {
    return !g->time || (!g->mixed && is_known(t, &(struct stamp){g->time, {{g->warp, 0, 0}}}));
}

/* --- stamps.c ----------------------------------------------------------------------------------------------------- */

/* Is the access of `first` ordered before this one, or no conflict? If not, it is reported. */
void stamps_judge(struct touch *t, const struct stamp *first, bool wrote, uint32_t at);
/* The same for each reader of a place. */
void stamps_judge_readers(struct touch *t, const struct stamp *read, uint32_t at);
/* Splits a quad into its four words. */
void stamps_part_quad(struct touch *t, struct block *k, uint32_t at);

/* --- slabs.c ------------------------------------------------------------------------------------------------------ */

/* The slab, new or not, for the access of a warp to quads at these addresses; NULL: none. The caller asks before the
 * access joins its groups. */
struct slab *slabs_find(struct bytes_watch *b, const uint64_t at[VCLOCK_LANES], uint32_t warp);
/* Fast path: the slab of an access to the quads that come next there; NULL: another access. If no operation may
 * conflict with it, slabs_again remembers it. */
struct slab *slabs_next(struct bytes_watch *b, const struct event_access *e, uint32_t warp, bool writes);
void slabs_again(struct slab *s, const struct event_access *e, uint32_t time);
/* Remembers the access. False: there is no room. */
bool slabs_put(struct slab *s, const struct event_access *e, uint32_t time, bool writes);
/* Another access comes to [from, to): the slabs there become stamps. */
void slabs_flush_some(struct bytes_watch *b, uint32_t from, uint32_t to);
static inline void slabs_flush(struct bytes_watch *b, uint32_t from, uint32_t to) {
    if (b->num_slabs)
        slabs_flush_some(b, from, to);
}
/* The same for an operation's access to *span, unless the operation knows all accesses of the slab. */
void slabs_engine(struct touch *t, const struct span *span);
void slabs_free(struct bytes_watch *b);

/* --- even.c ------------------------------------------------------------------------------------------------------- */

/* An access by lanes of a warp, with these flags of its stamps, joins all groups with bytes of [from, to). Stamps with
 * flags may come among the readers, too. */
void even_join(struct bytes_watch *b, uint32_t from, uint32_t to, uint32_t time, uint32_t warp, bool writes,
               uint8_t flags);
/* Fast path for lanes that access whole quads together, without a doubt about operations; returns the lanes that need
 * the full check: those from the first quad on whose earlier accesses are not plainly in order. */
uint32_t even_touch(struct touch *t, const struct event_access *e, uint32_t lanes);
/* A row: a weak access by all lanes of a warp with one strand, one after the other. */
struct row {
    struct race *r;
    const struct cta *owner;
    uint32_t warp, at, size;
    bool writes;
    const struct event_access *e; /* NULL: its short form, by default checks */
};
/* The same for a row from a quad's first byte on. Goes on while the earlier accesses are by the same lanes or, but for
 * reads, plainly in order. */
uint32_t even_row(struct bytes_watch *b, const struct row *row);
/* The same where no operation is remembered, with all that is to be remembered but the site. False: some lanes need the
 * full check. */
bool even_whole_row(struct bytes_watch *b, const struct row *row);
/* The same for four quads, each shared by every fourth lane: a matrix with .trans. */
bool even_across(struct race *r, struct bytes_watch *b, const struct event_access *e, uint32_t warp);

#endif
