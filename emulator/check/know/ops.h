/* check/know/ops.h - asynchronous operations: what each knows, and which threads may take it as complete.
 *
 * An operation comes after everything that its issuing threads knew. A thread may take it as complete after
 * synchronising through:
 *   tcgen05.mma, .cp, .shift   a later tcgen05.commit of the same thread on an mbarrier (9.7.16.12)
 *   copies that signal         the phase of that mbarrier; they release only their own bytes (8.9.1.1)
 *   copies in bulk-groups      wait_group of the thread; for their sources wait_group.read (9.7.9.25.3.2)
 *   tcgen05.ld, .st            tcgen05.wait of the warp (9.7.16.8.5)
 *   cp.async                   wait_group of the thread, or cp.async.mbarrier.arrive (9.7.13.15.15)
 */
#ifndef CHECK_KNOW_OPS_H
#define CHECK_KNOW_OPS_H

#include "check/know/know.h"

struct grid_watch;

/* Which threads know that a part of an operation is complete. */
struct done {
    enum {
        DONE_NOT,      /* none so far */
        DONE_TOKEN,    /* those that know `step` steps of the token */
        DONE_THREAD,   /* those that know one of the lanes up to `time` */
        DONE_FORGOTTEN /* all: it is no longer tracked, BOUND_BULK */
    } how;
    union {
        struct {
            uint32_t token, step;
        };
        struct {
            uint32_t warp, lanes, time;
        };
    };
};

/* Times at which a thread issued its latest tcgen05.mma and .shift, and the latest .mma before that .shift; 0: none. */
struct tensor_times {
    uint32_t mma, shift, mma_then_shift;
};

/* Memory with a count of holders; the last one frees it. */
struct shared_part {
    uint32_t holders;
};
void shared_part_drop(struct shared_part *p);

/* An insight: what threads knew at the issue of operations. Those that a thread issues in a row mostly share it. */
struct insight {
    uint32_t holders;
    struct insight *next; /* in race.free_insights */
    struct vclock *now[LAYERS];
};

/* A note: what is remembered of an asynchronous operation. It lives from the issue until its last holder drops it.
 * Holders are the operation until it completes, the lists of operations that no wait has covered, and the shadow of
 * memory while it remembers the operation. */
struct note {
    /* asked most, so in the first cache line: */
    uint32_t holders;
    uint32_t warp, lanes;        /* the issuer's warp in the cluster, */
    uint32_t time;               /* and the time of the issue */
    uint64_t number;             /* of the operation in its CTA (struct async_op) */
    uint32_t cta_group, d, m, n; /* for tcgen05 operations: shape, and address of D */
    enum event_agent agent;
    uint32_t group;             /* its bulk-group: how many its lane had committed before */
    bool spanned;               /* the shadow remembers its bytes since the issue, and ignores them when it runs */
    bool tensor;                /* tcgen05.mma, .cp, .shift, .commit */
    bool reduces;               /* its writes to shared memory are a reduction */
    bool follows;               /* the second half of a store: its writes to global memory */
    bool shifts, copies_4x256b; /* tcgen05.shift, tcgen05.cp.4x256b */
    bool loads, used;           /* tcgen05.ld; a register of it was used */
    bool fresh;                 /* tcgen05.mma that does not add to D */
    bool signals;               /* it signals an mbarrier and is in no group; */
    uint32_t mbar_rank;         /* rank of that mbarrier's CTA */
    /* in the second: */
    struct done read, written;  /* its reads and writes of shared or tensor memory */
    struct done then;           /* a later operation of another thread that runs after it (9.7.16.6.4.3) */
    struct insight *insight;    /* what its issuers knew at the issue: */
    struct vclock *const *now;  /* its clocks, by layer */
    struct op_record *record;   /* its record until the launch ends, or NULL */
    struct shared_part *sum[2]; /* the shadow's sums that it adds to, in its CTA and the peer */
    struct note *next;          /* in a list of struct warp_ops, or in race.free_notes */
    /* and the rest */
    uint32_t fenced_at, global_at; /* how far a proxy fence covered the issuers' own accesses: struct know */
    struct cta *cta;               /* of the issuer */
    uint32_t mbar_off;             /* the mbarrier that it signals */
    struct tensor_times before;    /* of tcgen05.mma, .cp and .shift: what its thread had issued before */
    struct event_rows a_rows;      /* tcgen05.mma: the rows of D for rows of operand A */
    const char *name;              /* as reports name it */
    struct mach_origin origin;
    uint64_t clock;  /* of the island: distinguishes executions of the instruction */
    uint32_t source; /* shared offset of its source */
};

/* What is remembered of an operation that accessed global memory, until the launch ends: after the end of its cluster,
 * another cluster may access the same bytes. */
struct op_record {
    const struct note *note; /* as long as it exists; after that: */
    struct done read, written;
    struct done waited;            /* for its read of a tensor map: a wait_group of its thread has covered that */
    uint32_t cluster, warp, lanes; /* that issued it */
    uint64_t clock;                /* note.clock, .source */
    uint32_t source;
    const struct diag_site *site;
    const char *name;
};

#define COPY_GROUPS 16u
#define COPY_WAITS 16u /* BOUND_COPY_WAITS is at most this */

/* The cp.async operations of a lane, until its warp ends: the latest groups and waits. */
struct lane_copies {
    uint32_t groups;                 /* number committed so far, */
    uint32_t committed[COPY_GROUPS]; /* and the times of the latest, a ring buffer */
    uint32_t num_waited;             /* entries put into `waited` so far, a ring buffer, too */
    uint32_t forgotten;              /* `until` of the latest wait that was dropped */
    struct copies_waited {
        uint32_t until; /* copies issued up to this time are complete */
        struct done done;
    } waited[COPY_WAITS];
};

/* The operations of a warp for which a thread may still wait, until the warp ends. */
struct warp_ops {
    struct note *loads, *stores; /* tcgen05.ld and .st */
    struct note *bulk;           /* operations in bulk-groups of its lanes; */
    uint32_t num_bulk;           /* their number */
    struct note *writing;        /* from here on, second halves of stores that wait only for their writes; or NULL */
    struct insight *latest;      /* of the operation that was issued last, or NULL */
    struct note *maps;           /* loads that signal an mbarrier, with their tensor map in global memory */
    uint32_t *bulk_groups;       /* number committed by each lane, or NULL */
    struct lane_copies *copies;  /* of each lane, or NULL */
    uint32_t group_waited[2];    /* time of the latest wait_group of any lane: for cp.async, for bulk operations */
    struct tensor_queue {
        uint32_t token, steps; /* the token's steps are that lane's tcgen05 operations; so many were issued */
        struct tensor_times latest;
        bool used;
    } * tensor; /* of each lane, or NULL */
};

/* --- life --------------------------------------------------------------------------------------------------------- */

/* On OP_ISSUED; `work` describes the operation. Returns its note, which the operation holds until it completes. */
struct note *note_issued(struct race *r, const struct listener *self, const struct event_op *e,
                         const struct event_work *work);
/* The operation's note; NULL: none. And on OP_COMPLETED: the operation no longer holds it. */
struct note *note_of(const struct listener *self, const struct async_op *op);
void note_over(struct race *r, const struct listener *self, const struct async_op *op);
/* The operation continues in another CTA's memory: from now on its note is a new one, for that part. */
struct note *note_again(struct race *r, const struct listener *self, const struct async_op *op);
/* Adds and removes a holder. */
static inline struct note *note_hold(struct note *n) {
    n->holders++;
    return n;
}
void note_free(struct race *r, struct note *n);
static inline void note_drop(struct race *r, struct note *n) {
    if (!--n->holders)
        note_free(r, n);
}
/* The operation's record in the launch; NULL: BOUND_RECORDS is reached. */
struct op_record *note_record(struct race *r, struct note *n);
/* At the end of a warp, of the cluster, of the launch. */
void notes_end_warp(struct race *r, struct warp_ops *w);
void notes_end(struct race *r);
void notes_end_launch(struct grid_watch *g);

/* --- waits of threads, in their own program order ----------------------------------------------------------------- */

/* On tcgen05.wait::ld (`loads`) or ::st. On the use of a register that tcgen05.ld `number` loads. */
void note_waited(struct race *r, uint32_t warp, bool loads);
void note_used_ld(struct race *r, uint32_t warp, uint64_t number);
/* A copy reads a tensor map in global memory. This read ends with the copy. It also belongs to a bulk-group
 * (9.7.9.27.1.2), so wait_group of its thread covers it, even if the copy signals an mbarrier. Then the read of the
 * copy's data counts as complete, too. */
void note_reads_map(struct race *r, struct note *n);
/* On commit_group and wait_group, of cp.async.bulk (`bulk`) or cp.async. `but`: this many groups may be pending;
 * `read`: .read. */
void note_group_commit(struct race *r, uint32_t warp, uint32_t lanes, bool bulk);
void note_group_wait(struct race *r, uint32_t warp, uint32_t lanes, uint32_t but, bool bulk, bool read);
/* The lane's cp.async that were issued up to `until` are complete, for the threads that *done names. */
void note_copies_done(struct race *r, uint32_t warp, uint32_t lane, uint32_t until, const struct done *done);

/* --- completion on an mbarrier ------------------------------------------------------------------------------------ */

/* The latest operations that have come to an mbarrier in its current phase; NULL: none. */
struct carried {
    struct note *latest, *before;
};
void carried_forget(struct race *r, struct carried *c);

/* The current phase of an mbarrier gets what is passed on by a copy's bytes; by a tcgen05.commit; by a
 * cp.async.mbarrier.arrive of lanes, which passes on only that their earlier acts were executed. */
void note_lands(struct race *r, struct note *n, struct meeting *m, struct carried *c);
void note_commit(struct race *r, struct note *n, struct meeting *m, struct carried *c);
void note_arrives(struct race *r, const struct note *n, uint32_t lanes, struct meeting *m);

#endif
