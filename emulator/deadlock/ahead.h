/* deadlock/ahead.h - what lanes that are held up would do once they went on: which barriers they would come to.
 *
 * They are followed in a copy of their warp, which computes and loads, and does nothing that others could notice: a
 * store, a copy or an arrival is passed over, and each wait is taken for one that is over. What they would have read
 * after the stores of others may differ, so this says who can be waited for, and nothing of the values.
 */
#ifndef DEADLOCK_AHEAD_H
#define DEADLOCK_AHEAD_H

#include "warp/core.h"

/* What is done to an mbarrier. */
enum ahead_what {
    AHEAD_ARRIVES = 1, /* by a thread, */
    AHEAD_COMMITS = 2, /* by an operation of the tensor core: data is ready, or has been read */
    AHEAD_BYTES = 4,   /* complete-tx: data comes */
    AHEAD_EXPECTS = 8,
    AHEAD_WAITS = 16,
    AHEAD_STORES = 32, /* to global memory */
};

/* What is done to an mbarrier or, where `cta` is NULL, to a word of global memory that is polled. */
struct ahead_use {
    const struct cta *cta;
    uint64_t off; /* or its address */
    uint32_t what;
};

/* A loop that reads a word of global memory and comes back to the same registers: the word as it is, and what would end
 * the loop. */
struct ahead_poll {
    const struct insn *in; /* NULL: there is none */
    uint64_t addr, value;
    enum ptx_mod until; /* comparison of the word with `wanted` */
    uint64_t wanted;
    bool known;                /* is that so? */
    const struct insn *branch; /* what closes or leaves the loop */
    bool taken;                /* by those who stay in it */
};

/* Of one group. */
struct ahead {
    struct ahead_use *uses;
    uint32_t num, cap;
    const struct ptx_insn **met; /* of those that lanes execute together: .sync and .aligned */
    uint32_t num_met, cap_met;
    uint32_t bars; /* named barriers of its CTA, a bit each */
    bool cluster;  /* the cluster's barrier */
    bool whole;    /* it was followed to its end, so that there is nothing else */
};

/* What the lanes that run poll. No island runs meanwhile, here and below. */
void ahead_find_poll(const struct warp *w, const struct group *g, struct ahead_poll *out);
/* Follows group `g` of `w`, out of the loop `poll` if it is in one, for at most *budget instructions, and takes those
 * that it took off that. Of stores those to one of the `words` are told. */
void ahead_look(const struct warp *w, const struct group *g, const struct ahead_poll *poll, const uint64_t *words,
                uint32_t num_words, uint64_t *budget, struct ahead *out);
void ahead_free(struct ahead *a);

/* What it would do to that mbarrier or word; 0: nothing. */
uint32_t ahead_what(const struct ahead *a, const struct cta *cta, uint64_t off);
/* Would it come to that instruction, one of those in `met`? */
bool ahead_meets(const struct ahead *a, const struct ptx_insn *in);

#endif
