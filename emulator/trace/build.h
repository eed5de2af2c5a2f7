/* trace/build.h - a cluster's part of a log while it grows, and how the parts become a log.
 *
 * The host thread that runs the cluster's island writes its part. The parts are merged when the launch has ended
 * (trace/merge.c). Until then a site is a number within the cluster, and a cause in another cluster is that cluster's
 * number in the grid.
 */
#ifndef TRACE_BUILD_H
#define TRACE_BUILD_H

#include "trace/record.h"

#define TRACE_SEEN 1024u /* a power of two */
#define TRACE_LOADS 16u  /* loads of a warp in flight; an older one has answered */

/* An instruction that the cluster has executed. */
struct site_seen {
    const struct diag_site *site;
    uint32_t number; /* from 1; 0: no event needs it so far */
    enum trace_run run;
    bool timed;         /* its result depends on time or on other clusters: TRACE_STEP, kind 1 */
    uint32_t own, more; /* struct trace_kind */
};

/* A warp and its running group of lanes, until the cluster ends. */
struct warp_track {
    uint32_t last;      /* its latest event */
    uint32_t test;      /* SYNC_MBAR_TEST that returned true, */
    uint32_t exit;      /* LIFE_LANES_EXIT, */
    uint64_t exit_at;   /*  and the warp's steps then */
    uint32_t loaded;    /* OP_COMPLETED of tcgen05.ld and .st, */
    uint32_t copied;    /* and of operations in async-groups */
    uint32_t issued;    /* first operation of its latest issuing instruction, */
    uint64_t issued_at; /*  and the warp's steps then */
    uint64_t steps;
    uint32_t global; /* its latest event, if that is TRACE_GLOBAL and of the same instruction */
    uint64_t global_at;
    struct load {
        uint32_t number, event; /* a load of global memory: its number (struct event_access) and event */
    } loads[TRACE_LOADS];       /* the latest, */
    uint32_t num_loads;         /*  of so many */
    uint32_t used;              /* since its last event: trace_event.used */
    uint32_t ran[RUN_KINDS];
    struct step {
        uint32_t lanes; /* 0: none */
        const struct diag_site *site;
        uint32_t event; /* the event for it, or 0 */
        uint64_t at;    /* the warp's steps */
    } now, other;       /* the latest step, and the one before it by other lanes */
};

/* A barrier of a CTA or of the cluster: its object, and the events of the latest arrival and phase. */
struct barrier_track {
    uint32_t object, arrived, phase;
};

/* An mbarrier, from its mbarrier.init to the next one at this place. */
struct mbar_track {
    uint32_t object, init, changed; /* changed: latest event that may complete the phase */
    uint32_t *phases;               /* events, by phase */
    uint32_t num_phases, cap_phases;
};

/* A queue of asynchronous operations, until the cluster ends. */
struct queue_track {
    const struct async_queue *queue;
    uint32_t object, completed; /* completed: the latest event */
};

/* A CTA, until its cluster ends. */
struct cta_track {
    struct warp_track *warps;
    struct mbar_track *mbars;
    uint32_t num_mbars, cap_mbars;
    uint32_t *mbar_at; /* by offset / 8: number of the track from 1 */
    struct queue_track *queues;
    uint32_t num_queues, cap_queues;
    struct barrier_track bar[MACH_BARRIERS];
    uint32_t *ops; /* operations, by their number in the CTA - 1 */
    uint32_t num_ops, cap_ops;
    uint32_t alloc, registers, completed; /* the latest LIFE_TMEM_* or wait of a pair; LIFE_REGISTERS; OP_COMPLETED */
    uint32_t tiles;                       /* number that have begun */
    bool relinquished;                    /* the permit to allocate */
    bool accumulates;                     /* its latest tcgen05.mma accumulates */
};

/* A cluster, until its part is merged into the log. */
struct cluster_track {
    struct trace_cluster out; /* its part of the log */
    const struct trace_window *window;
    uint32_t warps_each;
    uint64_t max_events;
    uint64_t counted; /* trace_log.counted */
    struct cta_track *ctas;
    struct barrier_track barrier;
    uint32_t exited;                       /* LIFE_LANES_EXIT, the latest event */
    uint32_t tile;                         /* the latest tile that one of its CTAs began, from 0 */
    bool outside;                          /* it is outside the window of tiles */
    const char **object_names, **op_names; /* parallel to out.objects and out.ops */
    uint32_t cap_objects, cap_ops, cap_events, cap_spans, cap_object_names, cap_op_names;
    struct site_seen *sites; /* in the order of their numbers */
    uint32_t num_sites, cap_sites;
    uint32_t *site_at; /* open addressing, 2 * cap_sites places or so: numbers */
    uint32_t site_places;
    struct site_seen seen[TRACE_SEEN]; /* direct-mapped */
};

/* What is remembered of a launch until its log is made. */
struct launch_track {
    const struct trace_sink *sink;
    struct trace_log *log; /* its header */
    const char *kernel;
    struct cluster_track **clusters; /* by number; NULL: not started, or not in the window */
    uint64_t num_clusters;
    uint64_t window_events; /* limit of events for each cluster */
    struct sm_track {
        uint64_t cluster; /* number + 1 */
        uint32_t event;
    } * sms; /* the latest to free tensor memory or the permit to allocate it */
};

struct launch_track *track_launch(const struct trace_sink *sink, const struct event_host *h);
/* Merges the clusters' parts into a log, passes it to the sink and frees `l`. */
void track_merge(struct launch_track *l, const struct gpu *gpu);

/* Is the cluster in the window? */
bool track_wanted(const struct launch_track *l, const struct cluster *cl);
struct cluster_track *track_open(const struct launch_track *l, const struct cluster *cl);
void track_close(struct cluster_track *t);
/* The entry of the instruction, which may have no number yet. */
struct site_seen *track_seen(struct cluster_track *t, const struct diag_site *site);
/* The instruction's number, from 1; 0 for NULL. */
uint32_t track_site(struct cluster_track *t, const struct diag_site *site);
/* Appends an event. Returns its number, or 0 if it is not kept. */
uint32_t track_append(struct cluster_track *t, const struct trace_event *e);
/* Keeps the access's addresses for event_global. Returns the number of spans. */
uint32_t track_spans(struct cluster_track *t, const struct event_access *a);
/* Adds a row and returns its number. `name` is a string constant, or NULL. */
uint32_t track_object(struct cluster_track *t, const struct trace_object *o, const char *name);
uint32_t track_op(struct cluster_track *t, const struct trace_op *o, const char *name);

#endif
