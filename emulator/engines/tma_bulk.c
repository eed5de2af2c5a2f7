/* engines/tma_bulk.c - bulk copies and reductions of contiguous bytes (PTX ISA 9.7.9.25.4). */
#include "base/arena.h"
#include "base/relaxed.h"
#include "engines/tma_copy.h"

#include <string.h>

DIAG(granule) = {
    DIAG_FAULT(MISALIGNED_ADDRESS, "bulk-copy-size", "9.7.9.25.4.1"),
    .rule = "the size and both addresses of a bulk copy are multiples of 16 bytes",
    .hint = "Round the last piece up to 16 bytes, or copy its tail with ordinary loads",
    .reason = "the ISA leaves it undefined: the unit counts in 16 bytes.",
};

/* Size and global address of a bulk copy. */
static bool judge(struct cta *cta, const struct mach_origin *origin, const char *name, uint32_t size, uint64_t addr) {
    if (size % 16)
        mach_fault(cta->island, origin, &granule, "%s copies %u bytes, which is no multiple of 16", name, size);
    else if (addr % 16)
        mach_fault(cta->island, origin, &granule, "%s uses global address 0x%llx, which is no multiple of 16", name,
                   (unsigned long long)addr);
    else
        return true;
    return false;
}

/* --- global to shared --------------------------------------------------------------------------------------------- */

struct bulk_load {
    struct async_op op;
    struct tma_place place;
    uint64_t src;
    uint32_t size;
};

static bool run_load(struct async_op *op) {
    const struct bulk_load *l = (const struct bulk_load *)op;
    if (!tma_check_place(op, &l->place, l->size))
        return true;
    if (l->size) {
        const uint8_t *from = tma_global(op, l->src, l->size, false);
        if (!from)
            return true;
        relaxed_read(l->place.cta->smem + l->place.off, from, l->size);
        smem_clear_poison(l->place.cta, l->place.off, l->size);
        tma_tell_global(op, EFFECT_READ, l->src, l->size, 1, 0);
        tma_tell_shared(op, EFFECT_WRITE, l->place.cta, l->place.off, l->size);
    }
    tma_signal(op, &l->place, l->size);
    return true;
}

static void describe_load(const struct async_op *op, struct event_work *work) {
    const struct bulk_load *l = (const struct bulk_load *)op;
    tma_describe_place(&l->place, l->size, work);
    work->global = l->src;
}

static const struct async_kind load_kind = {AGENT_BULK, run_load, describe_load};

bool tma_issue_bulk_load(struct cta *cta, const struct mach_origin *origin, uint64_t src, uint32_t size,
                         const struct tma_target *to) {
    const char *name = "cp.async.bulk to shared memory";
    struct tma_place places[MACH_MAX_CLUSTER];
    uint32_t n;
    if (!judge(cta, origin, name, size, src) || !tma_places(cta, origin, name, to, 16, places, &n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct bulk_load *l = async_op_create(sizeof *l, &load_kind, name, cta, origin);
        l->place = places[i];
        l->src = src;
        l->size = size;
        async_lands(&l->op, places[i].cta, places[i].off, size);
        async_issue(tma_load_queue(cta), &l->op);
    }
    return true;
}

/* --- shared to global --------------------------------------------------------------------------------------------- */

struct bulk_store {
    struct async_op op;
    uint64_t dst;
    uint32_t src, size;
    uint16_t mask;
    uint64_t follows; /* of the second operation: number of the first */
    num_op reduce;
    enum tma_element type;
    struct tma_track *track;
    uint8_t data[]; /* of the second operation */
};

/* The bytes that were written: a piece of every 16 for each run of bits in the mask. */
static void tell_written(const struct async_op *op, const struct bulk_store *s) {
    const enum event_effect effect = s->reduce == NUM_OP_NONE ? EFFECT_WRITE : EFFECT_ATOMIC;
    if (s->mask == 0xffff)
        tma_tell_global(op, effect, s->dst, s->size, 1, 0);
    for (uint32_t lo = 0, hi; s->mask != 0xffff && lo < 16; lo = hi + 1) {
        for (hi = lo; s->mask >> hi & 1; hi++)
            ;
        if (hi > lo)
            tma_tell_global(op, effect, s->dst + lo, hi - lo, s->size / 16, 16);
    }
}

static bool run_write(struct async_op *op) {
    struct bulk_store *s = (struct bulk_store *)op;
    uint8_t *to = s->size ? tma_global(op, s->dst, s->size, true) : s->data;
    if (!to)
        return true;
    if (s->reduce != NUM_OP_NONE)
        tma_reduce_bytes(s->reduce, s->type, to, s->data, s->size);
    else if (s->mask == 0xffff)
        relaxed_write(to, s->data, s->size);
    else
        for (uint32_t i = 0; i < s->size; i++)
            if (s->mask >> i % 16 & 1)
                relaxed_store(to + i, 1, s->data[i]);
    if (s->size)
        tell_written(op, s);
    s->track->writing--;
    return true;
}

static void describe_store(const struct async_op *op, struct event_work *work) {
    const struct bulk_store *s = (const struct bulk_store *)op;
    work->bytes = s->size;
    work->global = s->dst;
    work->from = op->src_bytes ? op->cta : NULL;
    work->from_off = s->src;
    work->follows = s->follows;
}

static const struct async_kind write_kind = {AGENT_BULK, run_write, describe_store};

/* First byte of the source that would be copied and was never written, or UINT32_MAX. */
static uint32_t first_poison(struct cta *cta, uint32_t off, uint32_t size, uint16_t mask) {
    if (!size || !smem_poisoned(cta, off, size))
        return UINT32_MAX;
    for (uint32_t i = 0; i < size; i++)
        if (mask >> i % 16 & 1 && smem_poisoned(cta, off + i, 1))
            return off + i;
    return UINT32_MAX;
}

static bool run_store(struct async_op *op) {
    const struct bulk_store *s = (const struct bulk_store *)op;
    if (!tma_check_source(op, s->src, s->size))
        return true;
    uint32_t bad = first_poison(op->cta, s->src, s->size, s->mask);
    if (bad != UINT32_MAX) {
        tma_fault_poison(op, bad);
        return true;
    }
    struct bulk_store *w = async_op_create_with(sizeof *w, s->size, &write_kind, op->name, op->cta, &op->origin);
    w->follows = op->number;
    w->dst = s->dst;
    w->size = s->size;
    w->mask = s->mask;
    w->reduce = s->reduce;
    w->type = s->type;
    w->track = s->track;
    memcpy(w->data, op->cta->smem + s->src, s->size);
    async_issue(tma_store_queue(op->cta), &w->op);
    s->track->reading--;
    return true;
}

static const struct async_kind store_kind = {AGENT_BULK, run_store, describe_store};

bool tma_issue_bulk_store(struct cta *cta, const struct mach_origin *origin, uint64_t dst, uint32_t src, uint32_t size,
                          uint16_t mask, num_op op, enum tma_element type, struct tma_track *track) {
    const char *name = op == NUM_OP_NONE ? "cp.async.bulk to global memory" : "cp.reduce.async.bulk to global memory";
    uint32_t off;
    if (!judge(cta, origin, name, size, dst) || !tma_source(cta, origin, name, src, 16, &off))
        return false;
    struct bulk_store *s = async_op_create(sizeof *s, &store_kind, name, cta, origin);
    s->dst = dst;
    s->src = off;
    s->size = size;
    s->mask = mask;
    s->reduce = op;
    s->type = type;
    s->track = track;
    track->reading++;
    track->writing++;
    async_reads(&s->op, off, size);
    async_issue(tma_store_queue(cta), &s->op);
    return true;
}

/* --- shared to shared of another CTA ------------------------------------------------------------------------------ */

struct bulk_peer {
    struct async_op op;
    struct tma_place place;
    uint32_t src, size;
    num_op reduce;
    enum tma_element type;
};

DIAG(reduces_unwritten) = {
    DIAG_HEAD(ERROR, "bulk-reduce-uninitialised", "9.7.9.25.4.2"),
    .rule = "a reduction must find initialised bytes at its destination",
    .hint = "Initialise the destination before, for example with zeros",
    .reason = "the sum is garbage in every order.",
};

static bool run_peer(struct async_op *op) {
    const struct bulk_peer *p = (const struct bulk_peer *)op;
    struct cta *to = p->place.cta;
    if (!tma_check_source(op, p->src, p->size) || !tma_check_place(op, &p->place, p->size))
        return true;
    uint32_t bad = first_poison(op->cta, p->src, p->size, 0xffff);
    if (bad != UINT32_MAX) {
        tma_fault_poison(op, bad);
        return true;
    }
    if (p->reduce != NUM_OP_NONE) {
        bad = first_poison(to, p->place.off, p->size, 0xffff);
        if (bad != UINT32_MAX) {
            mach_fault(op->cta->island, &op->origin, &reduces_unwritten,
                       "%s finds shared offset 0x%x of rank %u never written", op->name, bad, to->rank);
            return true;
        }
        tma_reduce_bytes(p->reduce, p->type, to->smem + p->place.off, op->cta->smem + p->src, p->size);
    } else
        memcpy(to->smem + p->place.off, op->cta->smem + p->src, p->size);
    smem_clear_poison(to, p->place.off, p->size);
    tma_tell_shared(op, p->reduce == NUM_OP_NONE ? EFFECT_WRITE : EFFECT_ATOMIC, to, p->place.off, p->size);
    tma_signal(op, &p->place, p->size);
    return true;
}

static void describe_peer(const struct async_op *op, struct event_work *work) {
    const struct bulk_peer *p = (const struct bulk_peer *)op;
    tma_describe_place(&p->place, p->size, work);
    work->from = op->cta;
    work->from_off = p->src;
}

static const struct async_kind peer_kind = {AGENT_BULK, run_peer, describe_peer};

DIAG(to_itself) = {
    DIAG_HEAD(ERROR, "bulk-copy-own", "9.7.9.25.4.1"),
    .rule = "a copy from .shared::cta to .shared::cluster goes to another CTA",
    .hint = "Pass the addresses that mapa gives for the other CTA. Inside one CTA copy with ordinary loads and stores",
    .reason = "the ISA has no such copy inside one CTA.",
};

bool tma_issue_bulk_peer(struct cta *cta, const struct mach_origin *origin, uint32_t dst, uint32_t src, uint32_t size,
                         uint32_t mbar, num_op op, enum tma_element type) {
    const char *name = op == NUM_OP_NONE ? "cp.async.bulk to another CTA" : "cp.reduce.async.bulk to another CTA";
    struct tma_place place[MACH_MAX_CLUSTER];
    const struct tma_target to = {.dst = dst, .mbar = mbar, .cta_group = 1};
    uint32_t off, n;
    if (!judge(cta, origin, name, size, 0) || !tma_source(cta, origin, name, src, 16, &off) ||
        !tma_places(cta, origin, name, &to, 16, place, &n))
        return false;
    if (place[0].cta == cta)
        return mach_fails(cta->island, origin, &to_itself, "%s of rank %u, which is the executing CTA", name,
                          cta->rank);
    struct bulk_peer *p = async_op_create(sizeof *p, &peer_kind, name, cta, origin);
    p->place = place[0];
    p->src = off;
    p->size = size;
    p->reduce = op;
    p->type = type;
    if (op == NUM_OP_NONE) {
        async_lands(&p->op, place[0].cta, place[0].off, size);
        async_reads(&p->op, off, size);
    }
    async_issue(tma_load_queue(cta), &p->op);
    return true;
}
