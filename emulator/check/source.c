/* check/source.c - does the source of a bulk store stay as it is until the store has read it (PTX ISA 9.7.9.25.1)?
 *
 * The source's bytes are digested when the store is issued, and again when it reads them.
 */
#include "check/check.h"

#include <string.h>

struct source {
    struct source *next;
    uint64_t number, digest; /* of the operation, of its source */
};

static const struct diag overwritten = {
    .id = "bulk-store-overwritten",
    .rule = "the source of a bulk copy must not change before the copy has read it",
    .section = "PTX ISA 9.7.9.25.1, 9.7.9.25.4",
    .hint = "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read by the thread that issued the "
            "copy, then a barrier, before the buffer is written again",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

#define PRIME UINT64_C(0x100000001b3)

/* FNV-1a in four lanes, a word of 8 bytes at a time; `bytes` is a multiple of 16. */
static uint64_t digest(const uint8_t *p, uint64_t bytes) {
    uint64_t h[4], w[4];
    for (unsigned k = 0; k < 4; k++)
        h[k] = UINT64_C(0xcbf29ce484222325) + k;
    for (; bytes >= sizeof w; p += sizeof w, bytes -= sizeof w) {
        memcpy(w, p, sizeof w);
        h[0] = (h[0] ^ w[0]) * PRIME;
        h[1] = (h[1] ^ w[1]) * PRIME;
        h[2] = (h[2] ^ w[2]) * PRIME;
        h[3] = (h[3] ^ w[3]) * PRIME;
    }
    memcpy(w, p, bytes);
    for (unsigned k = 0; k < bytes / 8; k++)
        h[k] = (h[k] ^ w[k]) * PRIME;
    return ((((h[0] ^ h[1]) * PRIME ^ h[2]) * PRIME) ^ h[3]) * PRIME;
}

static uint64_t digest_of(const struct async_op *op) { return digest(op->cta->smem + op->src_off, op->src_bytes); }

static void issued(const struct listener *self, const struct event_op *e) {
    const struct async_op *op = e->by.op;
    if (e->stage != OP_ISSUED)
        return;
    struct source *s = worker_alloc(op->cta->island->worker, sizeof *s);
    *s = (struct source){*event_watch(self, op->cta), op->number, digest_of(op)};
    *event_watch(self, op->cta) = s;
}

/* Its source is read now. */
static void access(const struct listener *self, const struct event_access *e) {
    const struct async_op *op = e->by.op;
    if (!op || !op->src_bytes || e->space != SPACE_SHARED || e->effect != EFFECT_READ)
        return;
    struct source **at = (struct source **)event_watch(self, op->cta), *s;
    while (*at && (*at)->number != op->number)
        at = &(*at)->next;
    if (!(s = *at))
        return;
    if (digest_of(op) != s->digest)
        mach_warn(op->cta->island, &op->origin, &overwritten,
                  "%s reads %u bytes at shared offset 0x%x, some of which have been overwritten since it was issued",
                  op->name, op->src_bytes, op->src_off);
    *at = s->next;
    worker_free(op->cta->island->worker, s);
}

static void life(const struct listener *self, const struct event_life *e) {
    struct source *s = *event_watch(self, e->owner);
    if (e->kind != LIFE_CTA_END)
        return;
    for (struct source *next; s; s = next) {
        next = s->next;
        worker_free(e->owner->island->worker, s);
    }
    *event_watch(self, e->owner) = NULL;
}

/* What the tensor core reads is none of its business. */
static bool settled(const struct listener *self, struct cta *cta, uint32_t off, uint32_t size) {
    (void)self, (void)cta, (void)off, (void)size;
    return true;
}

struct listener check_source(void) {
    return (struct listener){.name = "sources of stores",
                             .wants = WANT_OP_SOURCE | WANT_ENGINE_READ | WANT_LIFE,
                             .access = access,
                             .settled = settled,
                             .op = issued,
                             .life = life};
}
