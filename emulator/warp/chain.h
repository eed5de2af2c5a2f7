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

#define CHAIN_MOST 48u /* links */
#define CHAIN_LEAST 3u
#define CHAIN_PART 6u /* a turn that ends within a chain runs so many links or more as a copy, fewer one by one */

/* Instructions that have links: name, sources that a link before can hand over. mul_w_u and mul_w_s are mul.wide, add_w
 * is for 64 bits. ld: a word of each lane, from global memory. setp: insn.aux is what flips its result. The others are
 * for 32 bits. */
/* clang-format off */
#define CHAIN_LINKS(F)                                                                              \
    F(mov, 1) F(add, 2) F(sub, 2) F(mul, 2) F(mad, 3) F(and, 2) F(or, 2) F(xor, 2) F(shl, 2)        \
    F(shr_u, 2) F(shr_s, 2) F(add_f, 2) F(sub_f, 2) F(mul_f, 2) F(fma_f, 3)                         \
    F(mul_w_u, 0) F(mul_w_s, 0) F(add_w, 2) F(ld, 1)                                            \
    F(setp_eq, 2) F(setp_lt_u, 2) F(setp_gt_u, 2) F(setp_lt_s, 2) F(setp_gt_s, 2)
/* clang-format on */
enum chain_link {
    CHAIN_NONE,
#define F(name, sources) CHAIN_##name,
    CHAIN_LINKS(F)
#undef F
        CHAIN_LINK_COUNT
};

typedef void (*chain_fn)(void); /* of the type that isa/links.c knows */

struct chain_op {
    chain_fn fn, entered; /* after the link before it, and where the chain is entered */
    uint32_t at[4];       /* bytes from the frame's first slot: destination, sources */
    uint32_t pz;          /* the destination's word of poison; where it writes no register, one that is never poison */
    uint32_t num_fresh; /* of the links around it, up to those that are `any`: the words of poison of what they write */
    const uint32_t *fresh; /*  and nothing in the chain reads before */
    const struct insn *in;
};

/* The host's unit's: of an instruction, whose source number `handed` (0: none) is the result of the link before; of one
 * without a link; of the end; and what runs a chain from its first link on and returns the one that was not done. */
struct chain_links {
    chain_fn own[CHAIN_LINK_COUNT][4], any, end;
    const struct chain_op *(*run)(struct warp *w, const struct chain_op *op);
};

struct warp_chain {
    uint32_t num;      /* links before the end */
    uint32_t num_live; /* words of poison of what it reads and has not written: */
    const uint32_t *live;
    const struct chain_op *op;
    const struct chain_links *links;
};

/* What the next links write is clean from here on. None of them reads it before. */
static inline void chain_clean(struct warp *w, const struct chain_op *op) {
    for (uint32_t i = 0; i < op->num_fresh; i++)
        w->pz[op->fresh[i]] = 0;
}

/* Runs it from link `at` on, at most `most` links, and the island's clock; how many instructions were done. *status: of
 * the last. */
static inline uint32_t chain_run(struct warp *w, const struct warp_chain *c, uint32_t at, uint32_t most,
                                 enum warp_status *status) {
    const struct chain_op *first = c->op + at;
    struct chain_op part[CHAIN_MOST];
    uint32_t poison = 0;
    for (uint32_t i = 0; i < c->num_live; i++)
        poison |= w->pz[c->live[i]];
    for (uint32_t i = 0; i < at; i++)
        poison |= w->pz[c->op[i].pz];
    if (poison)
        return 0;
    if (most < c->num - at) {
        memcpy(part, first, most * sizeof *part);
        part[most] = c->op[c->num];
        first = part;
    }
    chain_clean(w, first);
    w->chain_clock = w->island->clock;
    w->chain = first;
    w->chain_status = WARP_NEXT;
    const uint32_t n = (uint32_t)(c->links->run(w, first) - first);
    *status = w->chain_status;
    w->island->clock = w->chain_clock + n;
    return n;
}

#endif
