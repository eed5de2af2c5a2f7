/* warp/chain.h - straight-line code of a kernel as a chain of functions that call each other (isa/links.c).
 *
 * A link does one unguarded instruction for all 32 lanes and goes on to the next, to which it hands its result in the
 * host's registers: what a vector stores is not there to be loaded for a dozen cycles. It finds its registers and the
 * constants at fixed distances from the frame, and trusts that no source is poison: that was looked up once, where the
 * chain is entered. What has no link of its own is done by its handler, called in between.
 */
#ifndef WARP_CHAIN_H
#define WARP_CHAIN_H

#include "warp/warp.h"

#define CHAIN_MOST 128u /* links */
#define CHAIN_LEAST 3u
#define CHAIN_PART 6u /* a turn that ends within a chain runs so many links or more as a copy, fewer one by one */

/* Instructions that have links: name, sources that a link before can hand over. mul_w_u and mul_w_s are mul.wide, add_w
 * is for 64 bits. ld and st: a word of each lane, of global memory, ld_s and st_s of shared memory; a store's address
 * is the last source. setp: insn.aux is what flips its result. selp: its predicate is not handed. The
 * others are for 32 bits. */
/* clang-format off */
#define CHAIN_LINKS(F)                                                                              \
    F(mov, 1) F(add, 2) F(sub, 2) F(mul, 2) F(mad, 3) F(and, 2) F(or, 2) F(xor, 2) F(shl, 2)        \
    F(shr_u, 2) F(shr_s, 2) F(add_f, 2) F(sub_f, 2) F(mul_f, 2) F(fma_f, 3)                         \
    F(mul_w_u, 0) F(mul_w_s, 0) F(add_w, 2) F(ld, 1) F(ld_s, 1) F(st, 1) F(st_s, 1)                 \
    F(setp_eq, 2) F(setp_lt_u, 2) F(setp_gt_u, 2) F(setp_lt_s, 2) F(setp_gt_s, 2) F(selp, 2)
/* clang-format on */
enum chain_link {
    CHAIN_NONE,
#define F(name, sources) CHAIN_##name,
    CHAIN_LINKS(F)
#undef F
        CHAIN_LINK_COUNT
};

typedef void (*chain_fn)(void); /* of the type that isa/links.c knows */

/* at: chain_byte of the destination, then of the sources. A link that writes no register has one as its destination
 * that is never poison. The end of a loop has the branch's predicate, and the branch. */
struct chain_op {
    chain_fn fn;
    uint64_t at;
    const struct insn *in;
};

/* Bytes from the frame's first slot, 16 bits for each place. */
#define CHAIN_SLOTS 4096u /* that can be named so */
static inline uint64_t chain_place(uint32_t slot, unsigned i) {
    return (uint64_t)(slot * (MACH_WARP * (uint32_t)sizeof(uint32_t) / 8)) << 16 * i;
}
static inline uint64_t chain_byte(uint64_t at, unsigned i) { return (uint64_t)(uint16_t)(at >> 16 * i) * 8; }

/* The host's unit's: of an instruction, whose source number `handed` (0: none) is the result of the link before, and
 * whose second source may be a constant; of one without a link; of the end. `run` runs a chain from a link on, as which
 * it calls `entered`, and returns the link that was not done. */
struct chain_links {
    chain_fn own[CHAIN_LINK_COUNT][4][2], any, end;
    const struct chain_op *(*run)(struct warp *w, const struct chain_op *op, chain_fn entered);
};

/* What it takes to enter a chain at a link. */
struct chain_entry {
    chain_fn fn;        /* nothing is handed to it */
    uint32_t written;   /* so many words of poison in chain.written are those that links before it write */
    uint32_t num_fresh; /* of the links around it, up to those that are `any`: the words of poison of what they write */
    const uint32_t *fresh; /* and nothing in the chain reads before */
};

struct warp_chain {
    uint32_t num;                    /* links before the end */
    uint32_t num_live;               /* words of poison of what it reads and has not written: */
    const uint32_t *live, *written;  /* and of what it writes, in order */
    const struct chain_op *op;       /* after the last link the end, then one that is no loop's */
    const struct chain_entry *entry; /* one for each link, and for the end */
    const struct insn *code;         /* the first link's */
    const struct chain_links *links;
};

/* What the next links write is clean from here on. None of them reads it before. */
static inline void chain_clean(struct warp *w, const struct chain_entry *entry) {
    for (uint32_t i = 0; i < entry->num_fresh; i++)
        w->pz[entry->fresh[i]] = 0;
}

/* Runs the chain that *in is in, at most `most` links to its end, and the island's clock. A loop starts again from its
 * first link, as long as all lanes take its branch and a whole round more is within `budget` instructions. Returns how
 * many were done and sets *in to the next; *status: of the last. */
static inline uint64_t chain_run(struct warp *w, const struct insn **in, uint32_t most, uint64_t budget,
                                 enum warp_status *status) {
    const struct warp_chain *c = (*in)->chain;
    const uint32_t at = (*in)->chain_at;
    const struct chain_entry *entry = &c->entry[at];
    const struct chain_op *first = c->op + at;
    struct chain_op part[CHAIN_MOST];
    uint32_t poison = 0;
    for (uint32_t i = 0; i < c->num_live; i++)
        poison |= w->pz[c->live[i]];
    for (uint32_t i = 0; i < entry->written; i++)
        poison |= w->pz[c->written[i]];
    if (poison)
        return 0;
    if (most < c->num - at) {
        memcpy(part, first, most * sizeof *part);
        part[most] = c->op[c->num + 1];
        first = part;
    }
    chain_clean(w, entry);
    const uint64_t before = w->island->clock;
    w->chain = first;
    w->chain_clock = before;
    w->chain_left = budget;
    w->chain_status = WARP_NEXT;
    const struct chain_op *end = c->links->run(w, first, entry->fn);
    *in = first == part ? *in + (end - part) : c->code + (end - c->op);
    *status = w->chain_status;
    w->island->clock = w->chain_clock + (uint64_t)(end - w->chain);
    return w->island->clock - before;
}

#endif
