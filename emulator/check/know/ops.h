/* check/know/ops.h - asynchronous operations: what each knows, and for whom it counts as complete.
 *
 * An operation comes after what the threads that issued it knew. It is done for those whom its completion has reached:
 *   tcgen05.mma, .cp, .shift   by a tcgen05.commit of the same thread, issued later, on an mbarrier (9.7.16.12)
 *   copies that signal         by the phase of that mbarrier; they release their own bytes alone (8.9.1.1)
 *   copies in bulk-groups      by wait_group of the thread, their sources by wait_group.read (9.7.9.25.3.2)
 *   tcgen05.ld, .st            by tcgen05.wait of the warp (9.7.16.8.5)
 *   cp.async                   by wait_group of the thread, or cp.async.mbarrier.arrive (9.7.13.15.15)
 */
#ifndef CHECK_KNOW_OPS_H
#define CHECK_KNOW_OPS_H

#include "check/know/know.h"

struct grid_watch;

/* How it becomes known that a part of an operation is over. */
struct done {
    enum {
        DONE_NOT,      /* not yet, for anybody */
        DONE_TOKEN,    /* for those who know `step` steps of the token */
        DONE_THREAD,   /* for those who know one of the lanes up to `time` */
        DONE_FORGOTTEN /* for everybody: it is no longer followed, BOUND_BULK */
    } how;
    uint32_t token, step;
    uint32_t warp, lanes, time;
};

/* Memory that is freed with its last holder. */
struct shared_part {
    uint32_t holders;
};
void shared_part_drop(struct shared_part *p);

/* Note: what is remembered of an asynchronous operation, from its issue until no one holds it: the operation until it
 * is over, lists of those not waited for, and the shadow of memory while it remembers what the operation touched. */
struct note {
    uint32_t holders;
    enum event_agent agent;
    const char *name;
    struct cta *cta; /* that issued it, */
    struct mach_origin origin;
    uint64_t number;
    uint32_t warp, lanes;          /*  and its warp in the cluster, */
    uint32_t time;                 /*  and when */
    uint64_t clock;                /* of the island: which execution of the instruction */
    uint32_t source;               /* its offset in shared memory */
    struct vclock *now[LAYERS];    /* what its issuers knew then */
    uint32_t fenced_at, global_at; /*  and which of their own accesses a proxy fence covered: struct know */
    struct done read, written;     /* the shared or tensor memory that it reads, writes */
    struct done then;              /* an operation of another thread that runs behind it (9.7.16.6.4.3) */
    bool spanned;                  /* its memory was noted when it was issued */
    bool tensor;                   /* tcgen05.mma, .cp, .shift, .commit */
    bool shifts, copies_4x256b;    /* tcgen05.shift, tcgen05.cp.4x256b */
    bool loads, used;              /* tcgen05.ld; a register of it was used */
    bool reduces;                  /* what it writes to shared memory, it writes by a reduction */
    bool signals;                  /* it signals an mbarrier, and is in no group, */
    uint32_t mbar_rank, mbar_off;  /*  and this is it */
    bool fresh;                    /* tcgen05.mma that does not add to D */
    bool follows;                  /* the second half of a store */
    uint32_t cta_group, d, m, n;   /* of tcgen05 operations: the instruction's shape, and where D is */
    uint32_t group;                /* bulk-group of the lane that it belongs to */
    struct note *next;             /* in a list of its warp's operations that are not waited for */
    struct op_record *record;      /* what is kept of it until the launch ends, or NULL */
    struct event_rows a_rows;      /* tcgen05.mma: where rows of operand A go, */
    struct shared_part *sum[2];    /*  and the shadow's sums that it adds to, in its CTA and the peer's */
};

/* What is kept of an operation that touched global memory, until the launch ends: another cluster may touch the same
 * bytes when this one has ended. */
struct op_record {
    const struct note *note; /* while there is one; after that: */
    struct done read, written;
    struct done waited;            /* a wait_group of its thread covers its reading of a tensor map, too */
    uint32_t cluster, warp, lanes; /* that issued it */
    uint64_t clock;                /* note.clock, .source */
    uint32_t source;
    const struct diag_site *site;
    const char *name;
};

#define COPY_GROUPS 16u
#define COPY_WAITS 16u /* BOUND_COPY_WAITS is no more */

/* The cp.async of a lane, until its warp ends. Of groups and waits the latest are kept. */
struct lane_copies {
    uint32_t groups;                 /* committed so far, */
    uint32_t committed[COPY_GROUPS]; /*  and the latest of them when */
    uint32_t num_waited;
    uint32_t forgotten; /* `until` of the latest wait that is no longer kept */
    struct copies_waited {
        uint32_t until; /* those issued up to then are complete */
        struct done done;
    } waited[COPY_WAITS];
};

/* The operations of a warp that may still be waited for, until the warp ends. */
struct warp_ops {
    struct note *loads, *stores; /* tcgen05.ld and .st */
    struct note *bulk;           /* operations in bulk-groups of its lanes, */
    uint32_t num_bulk;           /*  so many */
    struct note *maps;           /* loads that signal an mbarrier, whose tensor map is in global memory */
    uint32_t *bulk_groups;       /* committed by each lane, or NULL */
    struct lane_copies *copies;  /* of each lane, or NULL */
    uint32_t group_waited[2];    /* the latest wait_group of a lane: of cp.async, of bulk operations */
    struct tensor_queue {
        uint32_t token, steps; /* of the tcgen05 operations of one lane */
        bool used;
    } * tensor; /* of each lane, or NULL */
};

/* --- life --------------------------------------------------------------------------------------------------------- */

/* An operation has been issued, which is as `work` says: its note, which the operation holds until it is over. */
struct note *note_issued(struct race *r, const struct listener *self, const struct event_op *e,
                         const struct event_work *work);
struct note *note_of(const struct listener *self, const struct async_op *op);
void note_over(struct race *r, const struct listener *self, const struct async_op *op);
/* The operation goes on to another CTA's memory: from now on its note is a new one, of that alone. */
struct note *note_again(struct race *r, const struct listener *self, const struct async_op *op);
/* One holder more, and one fewer. */
struct note *note_hold(struct note *n);
void note_drop(struct race *r, struct note *n);
/* What the launch keeps of the operation; NULL: it keeps too many already. */
struct op_record *note_record(struct race *r, struct note *n);
/* The cluster ends; the launch ends. */
void notes_end_warp(struct race *r, struct warp_ops *w);
void notes_end(struct race *r);
void notes_end_launch(struct grid_watch *g);

/* --- waits of threads, in their own program order ----------------------------------------------------------------- */

/* tcgen05.wait::ld (`loads`) or ::st; an instruction uses a register of tcgen05.ld `number`. */
void note_waited(struct race *r, uint32_t warp, bool loads);
void note_used_ld(struct race *r, uint32_t warp, uint64_t number);
/* A copy reads a tensor map in global memory. That is over when the copy is, or, as this reading belongs to a
 * bulk-group (9.7.9.27.1.2), behind wait_group of its thread, also where the copy signals an mbarrier; of the data that
 * such a copy reads the same is then taken to be over. */
void note_reads_map(struct race *r, struct note *n);
/* commit_group and wait_group, of cp.async.bulk or cp.async. `but`: so many groups may be pending; `read`: .read. */
void note_group_commit(struct race *r, uint32_t warp, uint32_t lanes, bool bulk);
void note_group_wait(struct race *r, uint32_t warp, uint32_t lanes, uint32_t but, bool bulk, bool read);
/* cp.async that a lane issued up to the time `until` are over, for those whom *done names. */
void note_copies_done(struct race *r, uint32_t warp, uint32_t lane, uint32_t until, const struct done *done);

/* --- completion on an mbarrier ------------------------------------------------------------------------------------ */

/* The phase under way gets what goes along when a copy's bytes have come; when a tcgen05.commit arrives; when
 * cp.async.mbarrier.arrive of lanes arrives: of what they did before it is known only that it was executed. */
void note_lands(struct race *r, const struct note *n, struct meeting *m);
void note_commit(struct race *r, const struct note *n, struct meeting *m);
void note_arrives(struct race *r, const struct note *n, uint32_t lanes, struct meeting *m);

#endif
