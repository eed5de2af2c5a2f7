/* trace/build.h - a cluster's part of a log while it grows, and how the parts become a log.
 *
 * A cluster is written by the host thread that runs its island; parts meet when the launch has ended (trace/merge.c).
 * Until then a site is a number of the cluster's own, and a cause in another cluster that cluster's number in the grid.
 */
#ifndef TRACE_BUILD_H
#define TRACE_BUILD_H

#include "trace/record.h"

#define TRACE_SEEN 1024u /* a power of two */
#define TRACE_LOADS 16u  /* of a warp in flight: one that is further back has answered */

/* An instruction that the cluster has met. */
struct site_seen {
    const struct diag_site *site;
    uint32_t number; /* from 1; 0: no event has needed it */
    enum trace_run run;
    bool timed;         /* what it gives depends on time or on other clusters: TRACE_STEP, kind 1 */
    uint32_t own, more; /* struct trace_kind */
};

/* A warp, and the group of its lanes that runs. */
struct warp_track {
    uint32_t last;      /* its latest event */
    uint32_t test;      /* SYNC_MBAR_TEST, answered yes, */
    uint32_t exit;      /* LIFE_LANES_EXIT, */
    uint64_t exit_at;   /*  and the warp's steps then */
    uint32_t loaded;    /* OP_COMPLETED of tcgen05.ld and .st, */
    uint32_t copied;    /*  and of what async-groups hold */
    uint32_t issued;    /* the first operation of its latest instruction that issued one, */
    uint64_t issued_at; /*  and the warp's steps then */
    uint64_t steps;
    uint32_t global; /* its latest event, where that is TRACE_GLOBAL, and the instruction is the same: */
    uint64_t global_at;
    struct load {
        uint32_t number, event; /* of the warp's loads of global memory (struct event_access) */
    } loads[TRACE_LOADS];       /* the latest, */
    uint32_t num_loads;         /*  of so many */
    uint32_t used;              /* since its last event: trace_event.used */
    uint32_t ran[RUN_KINDS];
    struct step {
        uint32_t lanes; /* 0: none */
        const struct diag_site *site;
        uint32_t event; /* that tells of it, or 0 */
        uint64_t at;    /* the warp's steps */
    } now, other;       /* the latest step, and the one before it by other lanes */
};

struct barrier_track {
    uint32_t object, arrived, phase; /* the events */
};

struct mbar_track {
    uint32_t object, init, changed; /* changed: the latest event that may complete the phase */
    uint32_t *phases;               /* events, by phase */
    uint32_t num_phases, cap_phases;
};

struct queue_track {
    const struct async_queue *queue;
    uint32_t object, completed; /* completed: the latest event */
};

struct cta_track {
    struct warp_track *warps;
    struct mbar_track *mbars;
    uint32_t num_mbars, cap_mbars;
    uint32_t *mbar_at; /* by offset / 8: number of the track from 1 */
    struct queue_track *queues;
    uint32_t num_queues, cap_queues;
    struct barrier_track bar[MACH_BARRIERS];
    uint32_t *ops; /* operations, by their number in the CTA less 1 */
    uint32_t num_ops, cap_ops;
    uint32_t alloc, registers, completed; /* the latest LIFE_TMEM_*, or wait of a pair; LIFE_REGISTERS; OP_COMPLETED */
    uint32_t tiles;                       /* begun */
    bool relinquished;                    /* the permit to allocate */
    bool accumulates;                     /* its latest tcgen05.mma does */
};

struct cluster_track {
    struct trace_cluster out;
    const struct trace_window *window;
    uint32_t warps_each;
    uint64_t max_events;
    uint64_t counted; /* trace_log.counted */
    struct cta_track *ctas;
    struct barrier_track barrier;
    uint32_t exited;                       /* LIFE_LANES_EXIT, the latest event */
    uint32_t tile;                         /* the latest that one of its CTAs began, from 0 */
    bool outside;                          /* of the window of tiles */
    const char **object_names, **op_names; /* beside out.objects and out.ops */
    uint32_t cap_objects, cap_ops, cap_events, cap_spans, cap_object_names, cap_op_names;
    struct site_seen *sites; /* in the order of their numbers */
    uint32_t num_sites, cap_sites;
    uint32_t *site_at; /* open addressing, 2 * cap_sites places or so: numbers */
    uint32_t site_places;
    struct site_seen seen[TRACE_SEEN]; /* direct-mapped */
};

/* What is known of a launch. */
struct launch_track {
    const struct trace_sink *sink;
    struct trace_log *log; /* its header */
    const char *kernel;
    struct cluster_track **clusters; /* by number; NULL: not started, or not in the window */
    uint64_t num_clusters;
    uint64_t window_events; /* the most that a cluster keeps */
    struct sm_track {
        uint64_t cluster; /* number + 1 */
        uint32_t event;
    } * sms; /* who gave back tensor memory, or the permit to allocate it, last */
};

struct launch_track *track_launch(const struct trace_sink *sink, const struct event_host *h);
/* Puts the clusters' parts into a log, hands it to the sink and frees `l`. */
void track_merge(struct launch_track *l, const struct gpu *gpu);

/* Is the cluster in the window? */
bool track_wanted(const struct launch_track *l, const struct cluster *cl);
struct cluster_track *track_open(const struct launch_track *l, const struct cluster *cl);
void track_close(struct cluster_track *t);
/* The instruction, with or without a number. */
struct site_seen *track_seen(struct cluster_track *t, const struct diag_site *site);
/* Its number, from 1; 0 of NULL. */
uint32_t track_site(struct cluster_track *t, const struct diag_site *site);
/* Appends; the number of the event, or 0 where it is not kept. */
uint32_t track_append(struct cluster_track *t, const struct trace_event *e);
/* The access's addresses, for event_global; how many spans they are. */
uint32_t track_spans(struct cluster_track *t, const struct event_access *a);
/* Adds a row; its number. `name` is a string constant, or NULL. */
uint32_t track_object(struct cluster_track *t, const struct trace_object *o, const char *name);
uint32_t track_op(struct cluster_track *t, const struct trace_op *o, const char *name);

#endif
