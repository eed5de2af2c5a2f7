/* check/know/phases.h - mbarriers: what their phases pass on, and what their rules need (verdict/mbarriers.h).
 *
 * Warps are numbered in the cluster, times are in its events (struct race), and phases count from 0.
 */
#ifndef CHECK_KNOW_PHASES_H
#define CHECK_KNOW_PHASES_H

#include "check/know/ops.h"

#include <stddef.h>

/* A use of an mbarrier by lanes of a warp: an arrival, expect_tx or a poll. */
struct mbar_use {
    uint32_t warp, time, lanes;
    const struct diag_site *site;
};

/* The lanes of a warp that arrived on an mbarrier, in the latest phase with an arrival of that warp. */
struct mbar_part {
    uint64_t phase;
    uint32_t lanes, before; /* before: those that arrived in phase - 1 */
};

/* What is remembered of a warp for an mbarrier. */
struct mbar_warp {
    struct mbar_use use; /* its latest use; see also `others` */
    struct mbar_part part;
};

/* An mbarrier.init by threads of a warp. */
struct mbar_init {
    uint32_t warp, lanes, time;
    struct mach_origin origin;
};

/* What is remembered of an mbarrier, from its mbarrier.init until mbarrier.inval or the end of its CTA. */
struct mbar_watch {
    /* asked at most events, so side by side: */
    uint32_t off, token; /* shared offset; token that counts its phases, or VCLOCK_NO_TOKEN so far */
    uint64_t told; /* bit for each of the first 64 warps of the cluster: all its lanes know of its initialisation */
    uint64_t saw;  /* see `seen` */
    uint32_t num_seen;
    uint32_t coming; /* copies in flight that bring bytes, for this phase or another */
    enum mbar_seen {
        MBAR_FRESH,    /* mbarrier.init has been executed, */
        MBAR_RELEASED, /* then a release at cluster scope by its CTA, */
        MBAR_PUBLISHED /* then a cluster barrier completed: any CTA may use it (9.7.13.4) */
    } published;
    bool operations; /* in this phase: an operation arrived, or bytes came or were announced, */
    bool brought;    /* and copies brought bytes */
    struct arrival {
        bool alone; /* it ended its phase as the only arrival, without bytes */
        uint32_t warp, lanes;
    } first;                 /* a tcgen05.commit in this phase or the one before; its thread */
    struct mbar_warp *warps; /* for each warp of the cluster; NULL: no thread has used it so far */
    struct mbar_use *seen;   /* each warp's first poll that saw phase `saw` - 1 end; NULL: none so far */
    struct vclock *before;   /* all arrivals of the phase before, in LAYER_RAN; NULL: some were by operations */
    struct carried carried;  /* what has come in the current phase, */
    struct meeting m;        /* and what its phases pass on */
    struct {
        bool any;
        uint64_t phase;
        struct mach_origin origin;
        const char *what;
        struct done by; /* for a commit: when its operations are complete */
    } remote;           /* the latest arrival or bytes from another CTA's operation */
    struct {
        uint32_t warp, lanes; /* lanes 0: none so far */
        bool idle;            /* its thread had issued nothing that it could track */
        const struct diag_site *site;
    } commit;                        /* the latest tcgen05.commit issued for it */
    struct mbar_use *others;         /* uses before those in `warps`, by lanes that took no part in these */
    uint32_t (*place)[VCLOCK_LANES]; /* for each warp and lane: index of its use in `others` + 1, 0: none; or NULL */
    uint32_t num_others, cap_others, cap_seen;
    uint32_t num_init, cap_init;
    struct mbar_init *init; /* at least one; more if mbarrier.init came again before any use */
};

/* The mbarriers of a CTA, until it ends. */
struct mbars {
    struct mbar_watch *list;
    uint32_t num, cap;
    uint32_t from, to;  /* range of the shared offsets of all, also of earlier ones; from == to: none so far */
    uint32_t place[64]; /* cache: index in `list`, by offset / 8 */
};

/* The lanes of the warp that arrived in the phase before `phase`. */
uint32_t mbars_took_part(const struct mbar_watch *m, uint32_t warp, uint64_t phase);
/* The mbarrier at that offset, or NULL. */
struct mbar_watch *mbars_find(struct race *r, const struct cta *owner, uint32_t off);
/* On LIFE_MBAR_INIT, also again for an object that exists; on LIFE_MBAR_INVAL; at the end of the cluster. */
void mbars_begin(struct race *r, const struct event_life *e);
void mbars_end(struct race *r, const struct event_life *e);
void mbars_forget(struct race *r, struct mbars *b);
/* Fetches what an event needs, which may have left the cache. */
static inline void mbars_expect(const struct mbar_watch *m, uint32_t warp) {
    for (size_t i = 0; i < offsetof(struct mbar_watch, remote); i += 64)
        __builtin_prefetch((const char *)m + i, 1);
    __builtin_prefetch(m->seen);
    if (m->warps)
        __builtin_prefetch(&m->warps[warp], 1);
}
/* On SYNC_MBAR_*; `n` is the note of the operation that does it, or NULL. */
void mbars_sync(struct race *r, const struct event_sync *e, struct mbar_watch *m, struct note *n);
/* The same for arrivals of lanes together, one event for each, the last of them now. */
void mbars_join(struct race *r, const struct event_sync *e, struct mbar_watch *m);
/* At the issue of an operation: if it is a tcgen05.commit, its mbarriers remember it. */
void mbars_commit_issued(struct race *r, const struct note *n, const struct event_work *work);
/* At the issue of a copy whose bytes will complete a transaction on that mbarrier. */
void mbars_issued(struct race *r, const struct cta *owner, uint32_t off);
/* On a fence or an arrival at the cluster barrier: it may be a release that publishes the CTA's mbarriers. */
void mbars_released(struct race *r, const struct event_sync *e);
/* At the end of a phase of the cluster barrier: released mbarriers are published. */
void mbars_met(struct race *r);

#endif
