/* deadlock/blame.h - who waits for whom, what the first in the chain lacks, and what the program calls that. */
#ifndef DEADLOCK_BLAME_H
#define DEADLOCK_BLAME_H

#include "base/source.h"
#include "base/strbuf.h"
#include "deadlock/ahead.h"
#include "deadlock/deadlock.h"
#include "machine/mbarrier.h"

#define DEADLOCK_NONE UINT32_MAX

/* Lanes of a warp that are held up together, or run. */
struct stuck {
    struct warp *w;
    const struct group *g;
    enum event_wait_kind kind;     /* WAIT_NONE: it runs */
    struct ahead_poll poll;        /* if it runs: what it polls; .in NULL: nothing */
    struct ahead ahead;            /* what it would do next */
    bool first;                    /* it needs nobody who is held up, too */
    const struct stuck *waits_for; /* the next on the way to the root; NULL: it is the root, or does not lead to it */
    uint32_t depth;                /* how far that is; UINT32_MAX: it does not lead there */
    uint32_t followers;            /* how many are held up by it, itself included */
    uint32_t weight;               /* how much speaks for it as the cause; 0: it is in a ring, each for the next */
    const struct cta *stray;       /* its mbarrier lacks bytes, and this CTA's got some that nobody announces */
};

/* Does a group that waits so wait for other lanes of its warp? */
static inline bool deadlock_waits_within(enum event_wait_kind kind) {
    return kind == WAIT_WARP_SYNC || kind == WAIT_JOIN || kind == WAIT_ALIGNED;
}

/* Names of mbarriers that were found, and the source files that were read. */
struct deadlock_names {
    struct deadlock_name {
        const struct diag_site *init;
        uint32_t off;
        char text[64];
    } known[64];
    struct source_files files;
};

/* The mbarrier at `off` of `cta` as the program calls it: the variable, else what the line that initialises it says,
 * with its number where the line initialises several: "full[2]". Empty where neither is known. */
const char *deadlock_barrier_name(struct deadlock_names *names, const struct cta *cta, uint32_t off,
                                  const struct warp *w);
void deadlock_forget_names(struct deadlock_names *names);

/* All groups of a launch in the order of their clusters, with what is known of who waits for whom; *root: the one to
 * blame, or NULL. deadlock_free_groups frees the list. */
struct stuck *deadlock_groups(const struct deadlock_scene *at, uint32_t *count, struct stuck **root);
void deadlock_free_groups(struct stuck *list, uint32_t count);

/* What a group waits for at an mbarrier. */
struct lack {
    const struct cta *cta; /* whose it is */
    uint32_t off;
    struct mbar_view v;
    const struct mach_mbar *object; /* NULL: it is not initialised */
    uint32_t
        came_before[MACH_MAX_CLUSTER]; /* by rank, a bit each: warps of the phase before that are not in this one */
    uint32_t passed;                   /* `phases` + 1 when the warp last passed it; 0: never */
    bool missed;                       /* phases have completed that the warp did not wait for */
};
struct lack deadlock_lack(const struct stuck *s);
/* Its first phase, in which nobody has arrived, and the warp's first wait. */
bool deadlock_is_fresh(const struct lack *k);
/* A warp of its own CTA that came before and has exited, or DEADLOCK_NONE. */
uint32_t deadlock_exited(const struct lack *k);

/* What the root lacks, in a sentence, or an empty text; and what usually causes that, or NULL: deadlock/cause.c.
 * list: all groups. */
const char *deadlock_cause(const struct deadlock_scene *at, const struct stuck *s, const struct stuck *list,
                           uint32_t count, struct deadlock_names *names, char *text, size_t size);
/* "polls 0x7f0000000000 until it is 2; it is 1" */
void deadlock_describe_poll(const struct ahead_poll *p, struct strbuf *o);

/* Where a group stands: the instruction that it waits in, or its next one. */
const struct insn *deadlock_insn(const struct warp *w, const struct group *g);

#endif
