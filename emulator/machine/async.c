/* machine/async.c - queues of asynchronous operations; contract in async.h. */
#include "machine/async.h"

#include "base/arena.h"

#include <stdlib.h>

struct async_queue *async_queue_create(struct cta *cta, const char *name) {
    struct async_queue *q = xcalloc(1, sizeof *q);
    q->cta = cta;
    q->name = name;
    /* Appended, so that the scheduler visits queues in the order of creation. */
    struct async_queue **end = &cta->queues;
    while (*end)
        end = &(*end)->next;
    *end = q;
    return q;
}

void *async_op_create(size_t size, const char *name, struct cta *cta, const struct mach_origin *origin,
                      bool (*run)(struct async_op *)) {
    if (size < sizeof(struct async_op))
        diag_broken("asynchronous operation of %zu bytes", size);
    struct async_op *op = xcalloc(1, size);
    op->cta = cta;
    op->name = name;
    op->run = run;
    if (origin)
        op->origin = *origin;
    return op;
}

void async_issue(struct async_queue *q, struct async_op *op) {
    struct gpu *gpu = q->cta->gpu;
    op->seq = gpu->async_seq++;
    op->next = NULL;
    if (q->tail)
        q->tail->next = op;
    else
        q->head = op;
    q->tail = op;
    gpu->async_pending++;
    gpu->progress++;
}

bool async_step(struct async_queue *q) {
    struct async_op *op = q->head;
    if (!op || !op->run(op))
        return false;
    q->head = op->next;
    if (!q->head)
        q->tail = NULL;
    q->cta->gpu->async_pending--;
    mach_wake(q->cta);
    free(op);
    return true;
}
