/* deadlock/blame.h - who waits for whom, what the first in the chain lacks, and what the program calls that. */
#ifndef DEADLOCK_BLAME_H
#define DEADLOCK_BLAME_H

#include "base/source.h"
#include "deadlock/deadlock.h"
#include "machine/mbarrier.h"
#include "warp/core.h"

#define DEADLOCK_NONE UINT32_MAX

/* Lanes of a warp that are held up together, or run. */
struct stuck {
    struct warp *w;
    const struct group *g;
    enum event_wait_kind kind; /* WAIT_NONE: it runs */
    uint32_t waits_for;        /* another one, which would have to go on first, or DEADLOCK_NONE: nobody is known */
    uint32_t followers;        /* how many wait for it, those that wait for these included */
    uint32_t weight;           /* how much speaks for it as the cause */
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

/* All groups of a launch in the order of their clusters, with what is known of who waits for whom. The caller frees the
 * list. */
struct stuck *deadlock_groups(const struct deadlock_scene *at, uint32_t *count);
/* The one to blame, or DEADLOCK_NONE. */
uint32_t deadlock_root(const struct stuck *list, uint32_t count);
/* What it lacks, in a sentence, and what usually causes that, or NULL. */
const char *deadlock_cause(const struct stuck *s, struct deadlock_names *names, char *text, size_t size);

/* Where a group stands: the instruction that it waits in, or its next one. */
const struct insn *deadlock_insn(const struct warp *w, const struct group *g);

#endif
