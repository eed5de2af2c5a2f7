/* machine/async.h - operations that complete later.
 *
 * TMA copies, UMMAs, commits, tcgen05.ld/st/cp and bulk stores are issued into queues. Operations of one queue run in
 * issue order (but see `unordered`); queues are independent of each other, and the scheduler (launch/sched.c) decides
 * when each runs its next operation: at once (eager), only when no warp can run (lazy), in a fixed interleaving
 * (default), by a seed (random), by priorities that a seed draws (pct), or at the times of a model (machine/timing.h).
 * An operation reads its operands when it runs, not when it is issued.
 *
 * A unit takes up so many operations and no more: a warp that issues one to a CTA whose operations in flight have
 * reached a bound gives way until they have run, under any schedule, and goes on then. None of them waits for a warp,
 * so that always comes to pass; but clusterlaunchcontrol.try_cancel waits for the grid (isa/grid_control.c).
 */
#ifndef MACHINE_ASYNC_H
#define MACHINE_ASYNC_H

#include "machine/machine.h"

/* Of one CTA in flight: far more than a kernel that waits for what it issues has, and little of the host's memory. The
 * bytes are those that operations hold, and those of shared memory that they read and hold until they write them. */
#define ASYNC_MAX_OPS 1024u
#define ASYNC_MAX_BYTES (UINT64_C(1) << 20)

/* Who touches memory. */
enum event_agent {
    AGENT_THREAD,       /* ld, st, atom, red, ldmatrix ...: told when the instruction runs */
    AGENT_CP_ASYNC,     /* cp.async, by lanes: 9.7.9.25.3 */
    AGENT_TMA,          /* tensor copies: 9.7.9.27 */
    AGENT_BULK,         /* bulk copies of contiguous bytes: 9.7.9.25.4 */
    AGENT_TENSOR_CORE,  /* tcgen05.mma: 9.7.16.10 */
    AGENT_TENSOR_COPY,  /* tcgen05.cp and .shift: 9.7.16.9 */
    AGENT_TENSOR_LDST,  /* tcgen05.ld and .st: 9.7.16.8 */
    AGENT_TENSOR_ALLOC, /* tcgen05.alloc, of the word that gets the address: 9.7.16.7.1 */
    AGENT_COMMIT,       /* tcgen05.commit and cp.async.mbarrier.arrive: no access, an arrival */
    AGENT_CLC,          /* clusterlaunchcontrol.try_cancel: 9.7.13.17 */
};

struct event_work;

/* What operations of one sort have in common. */
struct async_kind {
    enum event_agent agent;
    /* Does the work. Returns true when done, false when it cannot proceed yet (it stays at the head and is tried again
     * after other agents made progress). Faults through mach_fault(&op->origin). */
    bool (*run)(struct async_op *op);
    /* What it is, for those who watch (machine/events.h): fills *work, which is zeroed. */
    void (*describe)(const struct async_op *op, struct event_work *work);
};

struct async_op {
    struct async_op *next;
    struct cta *cta; /* issuer */
    const struct async_kind *kind;
    uint64_t number;  /* in its CTA, from 1, in the order of issue */
    const char *name; /* "tcgen05.mma": for reports of what is still in flight */
    struct mach_origin origin;
    bool started; /* its engine has taken it up */
    bool silent;  /* no instruction waits for it: what follows it in its queue, an ordered one, tells of it */
    /* Shared memory that it will write, async_lands: dst_bytes at dst_off of dst. */
    struct cta *dst;
    uint32_t dst_off, dst_bytes;
    const bool *committed; /* of cp.async: its async-group is; NULL: it has none that is waited for */
    /* Shared memory of the issuer that it will read, async_reads. */
    uint32_t src_off, src_bytes;
    uint32_t bytes;              /* of the whole operation */
    uint64_t priority;           /* MACH_SCHED_PCT, in an unordered queue */
    double due;                  /* MACH_SCHED_MODEL: when it is complete */
    void *watch[MACH_LISTENERS]; /* what each listener keeps for it: machine/events.h */
    /* the operation's own data follows in the enclosing struct */
};

struct async_queue {
    struct async_queue *next; /* list of the CTA's queues */
    struct cta *cta;
    const char *name; /* "tensor core", "bulk copy to shared memory", ... */
    struct async_op *head, *tail;
    uint32_t count;
    uint64_t priority;               /* MACH_SCHED_PCT, of an ordered queue */
    struct mach_agent agent;         /* MACH_SCHED_MODEL, */
    struct async_queue *next_issued; /*  and its place in its island's list, where `listed` */
    bool listed;
    bool unordered; /* its operations have no order among themselves: MACH_SCHED_RANDOM and _PCT run any of them next,
                       MACH_SCHED_MODEL the one that is due first */
};

/* A new, empty queue of a CTA; lives until cluster_release. */
struct async_queue *async_queue_create(struct cta *cta, const char *name);
/* A zeroed operation of `size` bytes, which starts with a struct async_op. */
void *async_op_create(size_t size, const struct async_kind *kind, const char *name, struct cta *cta,
                      const struct mach_origin *origin);
/* The same with `data` bytes behind it, which are not zeroed. */
void *async_op_create_with(size_t size, size_t data, const struct async_kind *kind, const char *name, struct cta *cta,
                           const struct mach_origin *origin);
/* The operation will write [off, off + bytes) of `dst`. Until it has run these bytes are poison: whoever reads them did
 * not wait for it, or it was issued before they had been read. Nothing happens where they are no memory of a running
 * CTA; its run function reports that. Call it before async_issue. */
void async_lands(struct async_op *op, struct cta *dst, uint32_t off, uint64_t bytes);
/* The operation will read [off, off + bytes) of its issuer's shared memory, which threads must not change until then.
 * Nothing happens where they are no memory of it; its run function reports that. Call it before async_issue. */
void async_reads(struct async_op *op, uint32_t off, uint64_t bytes);
/* An operation under way in the cluster that will write a byte of [off, off + bytes) of `cta`, or NULL. */
const struct async_op *async_landing(const struct cta *cta, uint32_t off, uint32_t bytes);
/* Gives back an operation that was not issued. */
void async_op_free(struct async_op *op);
/* Appends; ownership passes to the queue, which frees the operation after it ran. */
void async_issue(struct async_queue *q, struct async_op *op);
/* Runs the head of the queue, or of an unordered one under MACH_SCHED_RANDOM any operation, under MACH_SCHED_PCT that
 * of the highest priority, under MACH_SCHED_MODEL that which is due first. True when an operation completed. Counts as
 * progress and, unless it was silent, wakes the issuer's CTA. */
bool async_step(struct async_queue *q);
/* MACH_SCHED_PCT: the priority of what async_step would run; NULL: nothing. */
uint64_t *async_priority(struct async_queue *q);
/* MACH_SCHED_MODEL: when what async_step would run is due; the queue is not empty. */
double async_due(struct async_queue *q);
/* Runs what the CTA has in flight; to be called where island.crowded is set, between two instructions. */
void async_make_room(struct cta *cta);

#endif
