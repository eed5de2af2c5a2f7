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
};

struct ahead_use {
    const struct cta *cta;
    uint32_t off;
    uint32_t what;
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

/* Follows group `g` of `w` for at most *budget instructions, and takes those that it took off that. No island runs
 * meanwhile. */
void ahead_look(const struct warp *w, const struct group *g, uint64_t *budget, struct ahead *out);
void ahead_free(struct ahead *a);

/* What it would do to that mbarrier; 0: nothing. */
uint32_t ahead_what(const struct ahead *a, const struct cta *cta, uint32_t off);
/* Would it come to that instruction, one of those in `met`? */
bool ahead_meets(const struct ahead *a, const struct ptx_insn *in);

#endif
