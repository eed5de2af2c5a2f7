/* machine/async.c - queues of asynchronous operations; contract in async.h. */
#include "machine/async.h"

#include "base/fatal.h"
#include "base/heap.h"
#include "machine/events.h"

struct async_queue *async_queue_create(struct cta *cta, const char *name) {
    struct async_queue *q = xcalloc(1, sizeof *q);
    q->cta = cta;
    q->name = name;
    q->priority = mach_priority(cta->island);
    /* Appended, so that the scheduler visits queues in the order of creation. */
    struct async_queue **end = &cta->queues;
    while (*end)
        end = &(*end)->next;
    *end = q;
    return q;
}

void *async_op_create(size_t size, const struct async_kind *kind, const char *name, struct cta *cta,
                      const struct mach_origin *origin) {
    return async_op_create_with(size, 0, kind, name, cta, origin);
}

void *async_op_create_with(size_t size, size_t data, const struct async_kind *kind, const char *name, struct cta *cta,
                           const struct mach_origin *origin) {
    if (size < sizeof(struct async_op))
        fatal_broken("asynchronous operation of %zu bytes", size);
    struct async_op *op = worker_alloc_zeroed(cta->island->worker, size + data, size);
    op->cta = cta;
    op->bytes = (uint32_t)(size + data);
    op->name = name;
    op->kind = kind;
    if (origin)
        op->origin = *origin;
    op->origin.op = op;
    return op;
}

void async_op_free(struct async_op *op) { worker_free(op->cta->island->worker, op); }

static void tell_stage(const struct async_queue *q, const struct async_op *op, enum event_op_stage stage) {
    if (events_wanted(q->cta->gpu, WANT_OP))
        events_send_op(q->cta->gpu,
                       &(struct event_op){.by = event_by_op(op, ORDER_WEAK, SCOPE_NONE), .stage = stage, .queue = q});
}

static uint64_t held_by(const struct async_op *op) { return (uint64_t)op->bytes + op->src_bytes; }

/* MACH_SCHED_MODEL: its engine says when it is complete, of an ordered queue not before the one before it. */
static void take_up(struct async_queue *q, struct async_op *op, const struct async_op *before) {
    struct island *isl = q->cta->island;
    op->due = isl->gpu->timing->take_up(isl->gpu->timing->ctx, op);
    if (before && before->due > op->due)
        op->due = before->due;
    if (q->listed)
        return;
    q->listed = true;
    q->next_issued = isl->issued;
    isl->issued = q;
}

void async_issue(struct async_queue *q, struct async_op *op) {
    struct cta *cta = q->cta;
    struct island *isl = cta->island;
    if (op->silent && q->unordered)
        fatal_broken("%s: nothing follows it in its queue", op->name);
    const struct async_op *before = q->unordered ? NULL : q->tail;
    op->next = NULL;
    if (q->tail)
        q->tail->next = op;
    else
        q->head = op;
    q->tail = op;
    q->count++;
    op->number = ++cta->ops_issued;
    if (q->unordered)
        op->priority = mach_priority(isl);
    cta->ops_bytes += held_by(op);
    if (++cta->ops_pending >= ASYNC_MAX_OPS || cta->ops_bytes >= ASYNC_MAX_BYTES ||
        cta->gpu->config.schedule == MACH_SCHED_EAGER)
        isl->crowded = true;
    isl->async_pending++;
    isl->progress++;
    tell_stage(q, op, OP_ISSUED);
    if (isl->timed)
        take_up(q, op, before);
}

void async_lands(struct async_op *op, struct cta *dst, uint32_t off, uint64_t bytes) {
    if (!bytes || !dst->live_warps || off < MACH_SMEM_FIRST || off > dst->smem_end || bytes > dst->smem_end - off)
        return;
    op->dst = dst;
    op->dst_off = off;
    op->dst_bytes = (uint32_t)bytes;
    smem_set_poison(dst, off, (uint32_t)bytes);
}

void async_reads(struct async_op *op, uint32_t off, uint64_t bytes) {
    if (off < MACH_SMEM_FIRST || off > op->cta->smem_end || bytes > op->cta->smem_end - off)
        return;
    op->src_off = off;
    op->src_bytes = (uint32_t)bytes;
}

const struct async_op *async_landing(const struct cta *cta, uint32_t off, uint32_t bytes) {
    const struct cluster *cl = cta->cluster;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (const struct async_queue *q = cl->cta[r].queues; q; q = q->next)
            for (const struct async_op *op = q->head; op; op = op->next)
                if (op->dst == cta && off < op->dst_off + op->dst_bytes && op->dst_off < off + bytes)
                    return op;
    return NULL;
}

/* The link to the operation that runs next. */
static struct async_op **next_op(struct async_queue *q) {
    const enum mach_schedule schedule = q->cta->gpu->config.schedule;
    struct async_op **at = &q->head;
    if (!q->unordered || (schedule != MACH_SCHED_RANDOM && schedule != MACH_SCHED_PCT && schedule != MACH_SCHED_MODEL))
        return at;
    if (schedule == MACH_SCHED_MODEL) {
        for (struct async_op **p = at; *p; p = &(*p)->next)
            if ((*p)->due < (*at)->due)
                at = p;
        return at;
    }
    if (schedule == MACH_SCHED_PCT) {
        for (struct async_op **p = at; *p; p = &(*p)->next)
            if ((*p)->priority > (*at)->priority)
                at = p;
        return at;
    }
    for (uint64_t skip = q->count ? mach_random(q->cta->island) % q->count : 0; skip; skip--)
        at = &(*at)->next;
    return at;
}

uint64_t *async_priority(struct async_queue *q) {
    if (!q->head)
        return NULL;
    return q->unordered ? &(*next_op(q))->priority : &q->priority;
}

double async_due(struct async_queue *q) { return (*next_op(q))->due; }

bool async_step(struct async_queue *q) {
    struct async_op **at = next_op(q), *op = *at;
    if (!op)
        return false;
    if (!op->started)
        tell_stage(q, op, OP_STARTED);
    op->started = true;
    if (!op->kind->run(op))
        return false;
    tell_stage(q, op, OP_COMPLETED);
    /* operations that `op` issued are behind it: its link is still the same */
    *at = op->next;
    if (q->tail == op)
        q->tail = at == &q->head ? NULL : (struct async_op *)(void *)at; /* `next` is an operation's first member */
    q->count--;
    q->cta->island->async_pending--;
    q->cta->island->steps++;
    q->cta->ops_pending--;
    q->cta->ops_bytes -= held_by(op);
    if (op->silent)
        q->cta->island->progress++;
    else
        mach_wake(q->cta);
    async_op_free(op);
    return true;
}

void async_make_room(struct cta *cta) {
    struct island *isl = cta->island;
    for (struct async_queue *q = cta->queues; q; q = q->next)
        while (q->head && !isl->fault && !island_late(isl)) {
            const double due = isl->timed ? async_due(q) : 0;
            if (!async_step(q))
                break;
            if (isl->timed)
                timing_raise(isl->gpu->timing, due);
        }
    cta->island->crowded = false;
}
