/* check/know/phases.h - mbarriers: what their phases carry, and what their rules need to know (verdict/mbarriers.h). */
#ifndef CHECK_KNOW_PHASES_H
#define CHECK_KNOW_PHASES_H

#include "check/know/ops.h"

/* A use of an mbarrier by a warp. */
struct mbar_use {
    uint32_t warp, time, lanes;
    const struct diag_site *site;
};

/* Lanes of a warp that have arrived on an mbarrier: in `phase`, the latest in which any did, and in the one before. */
struct mbar_part {
    uint64_t phase;
    uint32_t lanes, before;
};

/* Threads of a warp that initialise an mbarrier. */
struct mbar_init {
    uint32_t warp, lanes, time;
    struct mach_origin origin;
};

/* An mbarrier, from its mbarrier.init until mbarrier.inval or the end of its CTA. */
struct mbar_watch {
    uint32_t off, token;    /* its shared offset; the token counts its phases */
    struct mbar_init *init; /* at least one; several where mbarrier.init came again before any use */
    uint32_t num_init, cap_init;
    enum mbar_seen { MBAR_FRESH, MBAR_RELEASED, MBAR_PUBLISHED } published; /* to the other CTAs */
    struct mbar_use *uses;   /* the latest of each warp of the cluster, or NULL; */
    struct mbar_use *others; /*  and those of lanes that did not take part in it, */
    uint32_t num_others, cap_others;
    struct mbar_use *seen; /* each warp's first poll that saw phase `saw` complete, or NULL */
    uint64_t saw;
    struct mbar_part *parts; /* of each warp of the cluster, or NULL */
    struct vclock *before;   /* all arrivals of the phase before, in LAYER_RAN; NULL: some were not threads' */
    bool operations;         /* in this phase an operation arrived, or bytes came or were announced */
    bool brought;            /*  and copies brought bytes; */
    uint32_t coming;         /* copies that are on the way with bytes, for this phase or another */
    struct arrival {
        bool alone; /* it ended its phase, as the only arrival, and without bytes */
        uint32_t warp, lanes;
    } first; /* a tcgen05.commit in this phase, or the one before; its thread */
    struct {
        bool any;
        uint64_t phase;
        struct mach_origin origin;
        const char *what;
        struct done by; /* of a commit: when its operations are over */
    } remote;           /* the latest arrival, or bytes, of another CTA's operation */
    struct {
        uint32_t warp, lanes; /* lanes 0: none was */
        bool idle;            /* its thread had issued nothing for it to track */
        const struct diag_site *site;
    } commit; /* the latest tcgen05.commit that was issued for it */
    struct meeting m;
};

/* The mbarriers of a CTA. */
struct mbars {
    struct mbar_watch *list;
    uint32_t num, cap;
    uint32_t place[64]; /* where the mbarrier with that offset / 8 mostly is */
};

/* Which lanes of the warp arrived in the phase before this one? */
uint32_t mbars_took_part(const struct mbar_watch *m, uint32_t warp, uint64_t phase);
/* The mbarrier at that offset, or NULL. */
struct mbar_watch *mbars_find(struct race *r, const struct cta *owner, uint32_t off);
/* LIFE_MBAR_INIT, also of an object that is there and not yet used; LIFE_MBAR_INVAL; the end of the cluster. */
void mbars_begin(struct race *r, const struct event_life *e);
void mbars_end(struct race *r, const struct event_life *e);
void mbars_forget(struct race *r, struct mbars *b);
/* SYNC_MBAR_* of the mbarrier; `n` is the note of the operation that does it, or NULL. */
void mbars_sync(struct race *r, const struct event_sync *e, struct mbar_watch *m, struct note *n);
/* A tcgen05.commit has been issued that will arrive there; nothing happens if it is another operation. */
void mbars_commit_issued(struct race *r, const struct note *n, const struct event_work *work);
/* A copy has been issued whose bytes are counted there. */
void mbars_issued(struct race *r, const struct cta *owner, uint32_t off);
/* Threads execute a fence or arrive at the cluster barrier: perhaps a release that publishes their CTA's mbarriers. */
void mbars_released(struct race *r, const struct event_sync *e);
/* The cluster barrier completes. */
void mbars_met(struct race *r);

#endif
