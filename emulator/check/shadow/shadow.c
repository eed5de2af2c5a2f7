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

/* An operation's span is compared with accesses of threads, then with other operations, and remembered. */
static void put(struct shadow *s, struct cta *owner, const struct viewer *v, const struct span *span) {
    struct bytes_watch *b = bytes_of(s, owner);
    stamps_engine(s->r, b, owner, v, span);
    spans_put(s->r, b, owner, v, span);
}

/* An operation's access to shared memory, when it runs; not for copies, which are remembered from their issue. */
static __attribute__((noinline)) void engine(struct shadow *s, struct note *n, const struct event_access *e) {
    struct span span = {.from = (uint32_t)e->at[0], .note = n, .write = e->effect & EFFECT_WRITE, .rows = e->of_a};
    if (e->pieces > 1 || e->rows > 1)
        span.pieces = spans_pieces(s->latest, e, &span.from);
    span.to = span.from + (span.pieces ? span.pieces->bytes : e->size);
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
    const uint32_t first = from / SPANS_BYTES;
    for (uint32_t k = first + 1; k < b->num_spans && k * SPANS_BYTES < from + bytes; k++)
        for (uint32_t i = 0; b->spans[k].place && i < 16 && i <= b->spans[k].num; i += 64 / sizeof *b->spans[k].place)
            __builtin_prefetch(b->spans[k].place + i, 1);
    for (uint32_t i = 0; first < b->num_spans && i < 16 && i < b->spans[first].num; i++) {
        const struct place *p = &b->spans[first].place[i];
        if (p->to <= from || from + bytes <= p->from)
            continue;
        __builtin_prefetch(p->note, 1);
        __builtin_prefetch(&p->note->written, 1);
        __builtin_prefetch(&b->span[p->span], 1);
    }
}

void shadow_expect(const struct shadow *s, const struct async_op *op) {
    if (op->dst_bytes)
        expect(s, op->dst, op->dst_off, op->dst_bytes);
    if (op->src_bytes)
        expect(s, op->cta, op->src_off, op->src_bytes);
}

/* A copy's bytes are remembered from its issue, because it may access them from now on. */
void shadow_issued(struct shadow *s, struct note *n, const struct async_op *op) {
    if (n->agent == AGENT_CP_ASYNC) /* remembered lane by lane when it runs (stamps.c) */
        return;
    n->spanned = op->dst_bytes || op->src_bytes;
    if (!n->spanned)
        return;
    struct event_by by = event_by_op(op, ORDER_WEAK, SCOPE_NONE);
    const struct viewer v = viewer_of_note(&by, n, true, n->name);
    if (op->dst_bytes)
        put(s, op->dst, &v, &(struct span){op->dst_off, op->dst_off + op->dst_bytes, n, .write = true});
    if (op->src_bytes)
        put(s, op->cta, &v, &(struct span){op->src_off, op->src_off + op->src_bytes, n, .write = false});
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

uint32_t shadow_matrix(struct shadow *s, const struct cta *cta, const struct diag_site *site, const uint64_t row[8],
                       uint32_t how) {
    struct bytes_watch *b = &s->ctas[cta->rank].bytes;
    return !b->epochs && b->block ? even_matrix(s->r, b, cta, site, row, how) : 0;
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
