/* check/know/cluster.h - the state of check/know/: what is known in a cluster and in a launch.
 *
 * One host thread at a time uses the state of a cluster. Clusters of several islands run side by side and share the
 * state of the launch. They know nothing of one another: a kernel with strong accesses of gpu scope has only one island
 * (launch/shares.c). So only lists need a lock.
 */
#ifndef CHECK_KNOW_CLUSTER_H
#define CHECK_KNOW_CLUSTER_H

#include "check/know/barriers.h"
#include "check/know/flags.h"
#include "check/know/maps.h"
#include "check/know/phases.h"
#include "check/know/sites.h"

#include <pthread.h>
#include <stdatomic.h>

/* What is remembered of a warp until its cluster ends. */
struct warp_watch {
    uint16_t num_strands;
    struct strand *strand;     /* room for VCLOCK_LANES */
    struct warp_ops ops;       /* its operations for which a thread may still wait */
    uint32_t bar;              /* number of the CTA barrier at which it arrived last, */
    struct bar_passed *passed; /* and what that generation passed on; NULL: none has completed */
    struct sites sites;        /* the lines of its accesses */
    struct tells tells;        /* its latest arrivals, */
    struct polls polls;        /* and polls */
    struct giver *giver;       /* what it last released to words (flags.c), or NULL */
    struct flag_hint heard;    /* the latest word with a hint that it read: its writers released nothing */
    uint32_t known_warp;       /* cache (shadow/even.c): its threads know all lanes of this warp */
    uint32_t known_time;       /*  up to this time */
    uint32_t peers;            /* bit for each CTA of the cluster that is known to run (check/verdict/peers.c) */
};

/* What is remembered of a CTA until its cluster ends. */
struct cta_watch {
    struct cta_bars bars;
    struct mbars mbars;
    struct meeting exited; /* `open`: what exited threads knew and did */
    bool triggered;        /* one of its threads has executed griddepcontrol.launch_dependents */
};

/* What is remembered of a launch, from its start to its end. */
struct grid_watch {
    struct vclock_pool far;                /* the clocks in sets of other clusters' clocks */
    struct diag_dim3 grid, block, cluster; /* in CTAs */
    struct flags flags;                    /* words used at .gpu or .sys scope */
    struct flag_hint hints[HINTS];         /* by the word's hash */
    bool plain;                            /* threads alone access shared memory (struct event_host) */
    bool quiet;                            /* too many flags, BOUND_FLAG_BYTES: global memory is no longer checked */
    _Atomic uint32_t num_records;
    pthread_mutex_t lock; /* for the members below */
    struct record_chunk *chunks;
    struct map_release *releases;
    uint32_t num_releases, cap_releases;
    bool lost_releases; /* there were more: BOUND_RELEASES */
};

/* What is remembered of one cluster, from its start to its end. */
struct race {
    /* asked at each event, so side by side: */
    uint32_t time;            /* events so far */
    uint32_t most_time;       /* BOUND_EVENTS: then time stops, and accesses are no longer checked */
    bool strict;              /* --check=strict */
    uint32_t warps_each;      /* in a CTA */
    struct warp_watch *warps; /* clocks.warps entries */
    struct cta_watch *ctas;
    struct note *free_notes;
    struct insight *free_insights;
    struct vclock_pool clocks; /* all its clocks and tokens */
    struct cluster *cluster;
    struct island *island;
    struct meeting barrier;         /* of the cluster */
    struct notes *made;             /* the memory of all notes, */
    struct insights *made_insights; /* and of all insights */
    /* of global memory */
    struct grid_watch *grid; /* NULL: global memory is not checked */
    uint32_t number;         /* of the cluster in the launch */
    struct flags flags;      /* words in shared memory, or used at .cta or .cluster scope */
    struct map_acquires acquires;
    struct record_chunk *chunk; /* of the launch, with room for records */
};

/* At the start and end of a cluster; of a launch. `grid`: of the launch; NULL: global memory is not checked. `wide`: as
 * in struct vclock_pool. */
void race_begin(struct race *r, struct cluster *cl, struct grid_watch *grid, struct site_logs *logs);
void race_end(struct race *r, const struct listener *self);
void race_begin_launch(struct grid_watch *g, const struct event_host *e, bool wide);
void race_end_launch(struct grid_watch *g);

/* The number in the cluster of a CTA's warp; of the acting threads' warp. */
static inline uint32_t race_warp(const struct race *r, const struct cta *cta, uint32_t warp) {
    return cta->rank * r->warps_each + warp;
}
static inline uint32_t race_warp_of(const struct race *r, const struct event_by *by) {
    return race_warp(r, by->cta, by->warp);
}
/* The value of a bound: how much is kept at most. And, when a finding may have needed what was dropped: the run says
 * so once (report/bounds.h). */
static inline uint64_t race_bound(const struct race *r, enum bound b) { return event_bound(r->cluster->cta[0].gpu, b); }
static inline void race_lost(const struct race *r, enum bound b) { event_tell_unseen(r->cluster->cta[0].gpu, b); }
/* The number of layers that are kept at the level of --check. */
static inline unsigned race_layers(const struct race *r) { return r->strict ? LAYERS : LAYER_TENSOR; }
/* Is the rule reported at that level? If not, it must not hide another one. */
static inline bool race_tells(const struct race *r, const struct diag *rule) {
    return r->strict || rule->class != DIAG_STRICT;
}
static inline struct cta_watch *race_cta(struct race *r, const struct cta *cta) { return &r->ctas[cta->rank]; }
/* The strand of the first of these lanes; the last strand if none has them. */
static inline const struct strand *race_strand(const struct race *r, uint32_t warp, uint32_t lanes) {
    const struct warp_watch *w = &r->warps[warp];
    uint32_t i = 0;
    while (i + 1u < w->num_strands && !(w->strand[i].lanes & lanes))
        i++;
    return &w->strand[i];
}
/* Lanes of a warp at a line, as reports name them. */
struct mach_origin race_origin(const struct race *r, uint32_t warp, uint32_t lanes, const struct diag_site *site);

#endif
