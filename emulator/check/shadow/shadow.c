/* check/shadow/shadow.c - passes accesses to the file for their memory; contract in shadow.h. */
#include "check/shadow/shadow.h"

#include "base/heap.h"
#include "check/shadow/kept.h"

struct shadow {
    struct race *r;
    struct cta_shadow {
        struct bytes_watch bytes;
        struct columns columns;
    } * ctas;                             /* by rank */
    struct pieces *pieces;                /* work buffer: the pieces of the access that is being checked, */
    uint32_t num_pieces;                  /* and its room */
    struct pieces *latest[LATEST_PIECES]; /* cache of spans.c, by a hash of the pieces */
    struct cells *global;                 /* of the launch; NULL: global memory is not checked */
};

struct shadow *shadow_new(struct race *r, struct cells *global) {
    struct shadow *s = xcalloc(1, sizeof *s);
    s->r = r;
    s->global = global;
    s->ctas = xcalloc(r->cluster->num_ctas, sizeof *s->ctas);
    return s;
}

void shadow_free(struct shadow *s) {
    for (uint32_t i = 0; i < s->r->cluster->num_ctas; i++) {
        epochs_free(s->ctas[i].bytes.epochs);
        spans_free(s->r, &s->ctas[i].bytes);
        stamps_free(&s->ctas[i].bytes);
        xfree(s->ctas[i].bytes.block);
        columns_free(s->r, &s->ctas[i].columns);
    }
    for (uint32_t i = 0; i < LATEST_PIECES; i++)
        spans_drop_pieces(s->latest[i]);
    xfree(s->pieces);
    xfree(s->ctas);
    xfree(s);
}

/* At the first access to a CTA's shared memory. */
static __attribute__((noinline)) void begin(const struct race *r, struct bytes_watch *b, const struct cta *owner) {
    b->num_blocks = (owner->smem_end + BLOCK_BYTES - 1) / BLOCK_BYTES;
    b->block = xcalloc(b->num_blocks, sizeof *b->block);
    b->num_spans = (owner->smem_end + SPANS_BYTES - 1) / SPANS_BYTES;
    b->spans = xcalloc(b->num_spans, sizeof *b->spans);
    b->most_readers = race_bound(r, BOUND_READERS);
    b->most_spans = race_bound(r, BOUND_SPANS);
    b->epochs = epochs_fit(r) ? epochs_new(r, owner) : NULL;
}

/* What is remembered of a CTA's shared memory. */
static inline struct bytes_watch *bytes_of(struct shadow *s, const struct cta *owner) {
    struct bytes_watch *b = &s->ctas[owner->rank].bytes;
    if (!b->block)
        begin(s->r, b, owner);
    return b;
}

/* --- operations on shared memory ---------------------------------------------------------------------------------- */

/* The work buffer for the pieces of an access, valid until the next one. */
static struct pieces *pieces_for(struct shadow *s, const struct event_access *e) {
    const uint32_t num = e->pieces ? e->pieces : 1;
    if (num > s->num_pieces) {
        s->num_pieces = num;
        s->pieces = xrealloc_array(s->pieces, 1, sizeof *s->pieces + num * sizeof *s->pieces->at);
    }
    s->pieces->holders = 0;
    s->pieces->num = num;
    s->pieces->size = e->size;
    s->pieces->rows = e->rows;
    s->pieces->stride = (uint32_t)e->stride;
    return s->pieces;
}

/* The span of an operation's access: from the first byte to the last. */
static struct span span_of(struct shadow *s, const struct event_access *e, struct note *n) {
    struct pieces *const p = pieces_for(s, e);
    int32_t from = INT32_MAX, last = 0; /* so every host's vectors can compare them */
    for (uint32_t i = 0; i < p->num; i++) {
        const int32_t at = (int32_t)e->at[i];
        from = at < from ? at : from;
        last = at > last ? at : last;
    }
    for (uint32_t i = 0; i < p->num; i++)
        p->at[i] = (uint32_t)e->at[i] - (uint32_t)from;
    return (struct span){.from = (uint32_t)from,
                         .to = (uint32_t)last + e->size + (e->rows - 1) * (uint32_t)e->stride,
                         .note = n,
                         .write = e->effect & EFFECT_WRITE,
                         .rows = e->of_a,
                         .pieces = p->num > 1 || p->rows > 1 ? p : NULL};
}

/* An operation's span is compared with accesses of threads, then with other operations, and remembered. */
static void put(struct shadow *s, struct cta *owner, const struct viewer *v, const struct span *span) {
    struct bytes_watch *b = bytes_of(s, owner);
    stamps_engine(s->r, b, owner, v, span);
    spans_put(s->r, b, owner, v, span, s->latest);
}

/* An operation's access to shared memory, when it runs; not for copies, which are remembered from their issue. */
static __attribute__((noinline)) void engine(struct shadow *s, struct note *n, const struct event_access *e) {
    const struct span span = span_of(s, e, n);
    if (e->of_a)
        n->a_rows = *e->of_a;
    if (e->effect == EFFECT_ATOMIC)
        n->reduces = true;
    const struct viewer v = viewer_of_note(&e->by, n, e->proxy == PROXY_ASYNC, e->what ? e->what : n->name);
    put(s, e->owner, &v, &span);
}

/* Fetches the spans of a part of shared memory into the cache. */
static void expect(const struct shadow *s, const struct cta *owner, uint32_t from, uint32_t bytes) {
    const struct bytes_watch *b = &s->ctas[owner->rank].bytes;
    for (uint32_t k = from / SPANS_BYTES; b->spans && k < b->num_spans && k * SPANS_BYTES < from + bytes; k++)
        for (uint32_t i = 0; i < 16 && i <= b->spans[k].num; i += 64 / sizeof *b->spans[k].span)
            __builtin_prefetch(b->spans[k].span + i, 1);
}

void shadow_expect(const struct shadow *s, const struct async_op *op) {
    if (op->dst_bytes)
        expect(s, op->dst, op->dst_off, op->dst_bytes);
    if (op->src_bytes)
        expect(s, op->cta, op->src_off, op->src_bytes);
}

/* A copy's bytes are remembered from its issue, because it may access them from now on. */
void shadow_issued(struct shadow *s, struct note *n, const struct async_op *op) {
    struct event_by by = event_by_op(op, ORDER_WEAK, SCOPE_NONE);
    const struct viewer v = viewer_of_note(&by, n, true, n->name);
    if (n->agent == AGENT_CP_ASYNC) /* remembered lane by lane when it runs (stamps.c) */
        return;
    n->spanned = op->dst_bytes || op->src_bytes;
    if (op->dst_bytes)
        put(s, op->dst, &v, &(struct span){op->dst_off, op->dst_off + op->dst_bytes, n, true, false, NULL});
    if (op->src_bytes)
        put(s, op->cta, &v, &(struct span){op->src_off, op->src_off + op->src_bytes, n, false, false, NULL});
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/* tcgen05.alloc writes its address: a store by the warp as a whole. */
static __attribute__((noinline)) void alloc_writes(struct shadow *s, const struct event_access *e) {
    struct event_access store = *e;
    uint64_t at[VCLOCK_LANES] = {0};
    const uint32_t first = e->by.lanes ? (uint32_t)__builtin_ctz(e->by.lanes) : 0;
    at[first] = e->at[0];
    store.at = at;
    store.by.lanes = 1u << first;
    stamps_access(s->r, bytes_of(s, e->owner), &store, NULL);
}

/* An access by threads: to the epochs if these can judge it, otherwise to the words. */
static inline void threads(struct shadow *s, const struct event_access *e) {
    struct bytes_watch *b = bytes_of(s, e->owner);
    if (!b->epochs || !epochs_access(s->r, b, e))
        stamps_access(s->r, b, e, NULL);
}

bool shadow_halves(struct shadow *s, const struct cta *cta, const struct diag_site *site, uint32_t first,
                   uint32_t second, uint32_t how) {
    struct bytes_watch *b = &s->ctas[cta->rank].bytes;
    if (b->epochs)
        return epochs_halves(s->r, b, cta, site, first, second, how);
    return b->block && how & HALVES_ROW && even_fast_row(s->r, b, cta, site, first, how);
}

/* One question at a time: the compiler would load `space` and `agent`, which were just written one by one, as one. */
void shadow_access(struct shadow *s, const struct event_access *e, struct note *n) {
    if (e->space == SPACE_GLOBAL)
        global_access(s->r, s->global, e, n);
    else if (e->space == SPACE_TENSOR)
        columns_access(s->r, &s->ctas[e->owner->rank].columns, e, n);
    else if (e->agent == AGENT_THREAD)
        threads(s, e);
    else if (e->agent == AGENT_TENSOR_ALLOC)
        alloc_writes(s, e);
    else if (e->agent == AGENT_CP_ASYNC && n)
        stamps_access(s->r, bytes_of(s, e->owner), e, n);
    else if (n && !n->spanned && e->size)
        engine(s, n, e);
}

void shadow_sync(struct shadow *s, const struct event_sync *e) {
    struct epochs *p = s->ctas[e->owner->rank].bytes.epochs;
    if (p)
        epochs_sync(s->r, p, e);
}

void shadow_life(struct shadow *s, const struct event_life *e) {
    if (e->kind != LIFE_HEAP_ALLOC)
        columns_life(s->r, &s->ctas[e->owner->rank].columns, e);
    else if (s->global && e->address)
        cells_forget(s->global, e->address, e->bytes);
}
