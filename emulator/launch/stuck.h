/* launch/stuck.h - a launch that cannot go on: who waits for whom, and what the first in the chain lacks.
 */
#ifndef LAUNCH_STUCK_H
#define LAUNCH_STUCK_H

#include "base/source.h"
#include "launch/state.h"
#include "machine/mbarrier.h"

#define STUCK_NONE UINT32_MAX

/* Lanes of a warp that are held up together, or run. */
struct stuck {
    struct warp *w;
    const struct group *g;
    enum event_wait_kind kind; /* WAIT_NONE: it runs */
    uint32_t waits_for;        /* another one, which would have to go on first, or STUCK_NONE: nobody is known */
    uint32_t followers;        /* how many wait for it, those that wait for these included */
    uint32_t weight;           /* how much speaks for it as the cause */
};

/* Does a group that waits so wait for other lanes of its warp? */
static inline bool stuck_waits_within(enum event_wait_kind kind) {
    return kind == WAIT_WARP_SYNC || kind == WAIT_JOIN || kind == WAIT_ALIGNED;
}

/* Names of mbarriers that were found, and the source files that were read. */
struct stuck_names {
    struct stuck_name {
        const struct diag_site *init;
        uint32_t off;
        char text[64];
    } known[64];
    struct source_files files;
};

/* The mbarrier at `off` of `cta` as the program calls it: the variable, else what the line that initialises it says,
 * with its number where the line initialises several: "full[2]". Empty where neither is known. */
const char *stuck_barrier_name(struct stuck_names *names, const struct cta *cta, uint32_t off, const struct warp *w);
void stuck_forget_names(struct stuck_names *names);

/* All groups of a launch in the order of their clusters, with what is known of who waits for whom. The caller frees the
 * list. */
struct stuck *stuck_list(const struct launch_state *st, uint32_t *count);
/* The one to blame, or STUCK_NONE. */
uint32_t stuck_root(const struct stuck *list, uint32_t count);
/* What it lacks, in a sentence, and what usually causes that, or NULL. */
const char *stuck_cause(const struct stuck *s, struct stuck_names *names, char *text, size_t size);

/* Where a group stands: the instruction that it waits in, or its next one. */
const struct insn *stuck_insn(const struct warp *w, const struct group *g);

#endif
