/* isa/cp_async.c - cp.async, and cp.async.mbarrier.arrive (PTX ISA 9.7.9.25.3.1, 9.7.13.15.15).
 *
 * The copies of a warp's lanes that one instruction starts are one operation; those of a warp run in issue order, which
 * is one of the orders that the ISA allows, and lets an mbarrier arrive behind them. They write shared memory through
 * the generic proxy: a tensor core that reads it needs a proxy fence.
 */
#include "isa/async_group.h"

#include "base/relaxed.h"
#include "isa/form.h"
#include "isa/tell.h"
#include "machine/mbarrier.h"

#define INLINE static inline __attribute__((always_inline))

/* --- cp.async ----------------------------------------------------------------------------------------------------- */

struct copy_form {
    uint32_t size;                 /* 4, 8, 16 */
    const struct warp_opnd *bytes; /* src-size, or NULL */
    const struct warp_opnd *skip;  /* ignore-src, or NULL */
};

struct copy_lane {
    uint64_t addr;       /* in global memory */
    uint32_t bytes, off; /* read from there; the rest is zeros */
    struct tma_track *track;
};
struct copy_op {
    struct async_op op;
    uint32_t lanes, size;
    bool whole;              /* each lane reads all that it writes */
    bool row;                /* so do all lanes, one after the other in both memories: lane[0] says where */
    uint32_t counts;         /* lanes in whose groups it is */
    struct copy_lane lane[]; /* MACH_WARP of them; a row that lane 0 counts for all has one */
};

static struct copy_lane lane_at(const struct copy_op *c, uint32_t l) {
    if (!c->row)
        return c->lane[l];
    return (struct copy_lane){c->lane[0].addr + l * c->size, c->size, c->lane[0].off + l * c->size, NULL};
}

DIAG(source_freed) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "cp-async-source-freed", "9.7.9.25.3.1"),
    .rule = "a copy reads its source until it has completed",
    .hint = "Add cp.async.wait_group or cp.async.wait_all before the free()",
    .reason = "the copy reads the contents of the next allocation there.",
};

/* Lanes `lanes` have read or written, as cp.async does it: through the generic proxy. */
static void tell_copy(const struct copy_op *c, uint32_t lanes, uint32_t size, enum event_space space,
                      const uint64_t *at) {
    struct event_by by = event_by_op(&c->op, ORDER_WEAK, SCOPE_NONE);
    by.lanes = lanes;
    tell_access(c->op.cta->gpu, &(struct event_access){.by = by,
                                                       .agent = AGENT_CP_ASYNC,
                                                       .space = space,
                                                       .effect = space == SPACE_SHARED ? EFFECT_WRITE : EFFECT_READ,
                                                       .owner = space == SPACE_SHARED ? c->op.cta : NULL,
                                                       .at = at,
                                                       .size = size});
}

/* Lanes that bring to one place what a lane before them brings there: whichever comes last, the same is there. */
static uint32_t repeats(const struct copy_op *c) {
    uint32_t found = 0, highest = 0;
    WARP_FOR_LANES(l, c->lanes) {
        const struct copy_lane *k = &c->lane[l];
        if (k->off > highest || !(c->lanes & ((1u << l) - 1))) {
            highest = k->off;
            continue;
        }
        WARP_FOR_LANES(i, c->lanes & ((1u << l) - 1)) {
            const struct copy_lane *before = &c->lane[i];
            if (before->off == k->off && before->bytes == k->bytes && (before->addr == k->addr || !k->bytes))
                found |= 1u << l;
        }
    }
    return found;
}

static void tell_copies(const struct copy_op *c) {
    const bool reads = events_wanted(c->op.cta->gpu, WANT_GLOBAL);
    uint64_t to[MACH_WARP], from[MACH_WARP];
    uint32_t whole = 0; /* lanes that read all they write */
    WARP_FOR_LANES(l, c->lanes) {
        const struct copy_lane k = lane_at(c, l);
        to[l] = k.off;
        from[l] = k.addr;
        if (k.bytes == c->size)
            whole |= 1u << l;
        else if (reads && k.bytes)
            tell_copy(c, 1u << l, k.bytes, SPACE_GLOBAL, from);
    }
    if (reads && whole)
        tell_copy(c, whole, c->size, SPACE_GLOBAL, from);
    tell_copy(c, c->row ? c->lanes : c->lanes & ~repeats(c), c->size, SPACE_SHARED, to);
}

/* Of lanes that write one run of bytes and read whole words of one live allocation. */
INLINE void copy_words(const struct copy_op *c, const uint8_t *from, uint64_t low, uint8_t *to, uint32_t size) {
    const uint32_t word = size == 4 ? 4 : 8;
    WARP_FOR_LANES(l, c->lanes) {
        const uint8_t *p = from + (c->lane[l].addr - low);
        const uint64_t v = relaxed_load(p, word), more = size == 16 ? relaxed_load(p + 8, 8) : 0;
        memcpy(to, &v, word);
        if (size == 16)
            memcpy(to + 8, &more, 8);
        to += size;
    }
}

/* The same of all lanes, one after the other in both memories. */
static void copy_row(uint8_t *to, const uint8_t *from, uint32_t size) {
#if defined(ISA_UNIT) && !defined(__SANITIZE_THREAD__)
    if (size == 16)
        unit_copy(to, from, MACH_WARP * 16);
    else if (size == 8)
        unit_copy(to, from, MACH_WARP * 8);
    else
        unit_copy(to, from, MACH_WARP * 4);
#else
    relaxed_read(to, from, MACH_WARP * size);
#endif
}

/* False: they do not, and nothing has happened. */
static bool run_together(const struct copy_op *c) {
    struct cta *cta = c->op.cta;
    uint64_t low = c->lane[0].addr, high = low + (MACH_WARP - 1) * c->size;
    if (!c->op.dst_bytes || !c->whole)
        return false;
    if (!c->row) {
        low = UINT64_MAX, high = 0;
        WARP_FOR_LANES(l, c->lanes) {
            low = c->lane[l].addr < low ? c->lane[l].addr : low;
            high = c->lane[l].addr > high ? c->lane[l].addr : high;
        }
    }
    const struct mem_near *block = island_near(cta->island, low);
    if (!block || block->bytes - (low - block->addr) < high - low + c->size)
        return false;
    const uint8_t *from = block->host + (low - block->addr);
    uint8_t *to = cta->smem + c->op.dst_off;
    if (c->row)
        copy_row(to, from, c->size);
    else if (c->size == 16)
        copy_words(c, from, low, to, 16);
    else
        copy_words(c, from, low, to, c->size);
    smem_clear_poison(cta, c->op.dst_off, c->op.dst_bytes);
    return true;
}

static bool run_copy(struct async_op *op) {
    struct copy_op *c = (struct copy_op *)op;
    struct cta *cta = op->cta;
    WARP_FOR_LANES(l, run_together(c) ? 0 : c->lanes) {
        const struct copy_lane k = lane_at(c, l);
        uint8_t data[16] = {0};
        const uint8_t *from = k.bytes ? mem_at(cta->gpu->mem, k.addr, k.bytes) : data;
        if (!from) {
            mach_fault(cta->island, &op->origin, &source_freed,
                       "lane %u's cp.async reads %u bytes at 0x%llx, which were freed after it was issued", l, k.bytes,
                       (unsigned long long)k.addr);
            return true;
        }
        relaxed_read(data, from, k.bytes);
        memcpy(cta->smem + k.off, data, c->size);
        smem_clear_poison(cta, k.off, c->size);
    }
    WARP_FOR_LANES(l, c->counts) {
        c->lane[l].track->reading--;
        c->lane[l].track->writing--;
    }
    if (events_wanted(cta->gpu, WANT_SHARED_WRITE | WANT_GLOBAL))
        tell_copies(c);
    return true;
}

static void describe_copy(const struct async_op *op, struct event_work *work) {
    const struct copy_op *c = (const struct copy_op *)op;
    work->to = op->cta;
    work->to_off = c->lane[warp_lowest(c->lanes)].off;
    work->bytes = (uint64_t)c->size * (uint32_t)__builtin_popcount(c->lanes);
}

static const struct async_kind copy_kind = {AGENT_CP_ASYNC, run_copy, describe_copy};

static struct async_queue *copy_queue(struct warp *w) {
    if (!w->copy_queue)
        w->copy_queue = async_queue_create(w->cta, "cp.async");
    return w->copy_queue;
}

DIAG(src_size) = {
    DIAG_HEAD(ERROR, "cp-async-src-size", "9.7.9.25.3.1"),
    .rule =
        "cp.async writes cp-size bytes. It reads the first src-size bytes and fills the rest with zeros, so src-size "
        "must not be larger than cp-size",
    .hint = "Limit src-size to 0 .. cp-size. It counts bytes, not elements; past the last element it must be 0",
    .reason = "the ISA leaves the behaviour undefined.",
};

/* Source bytes of a lane; false after a fault. */
static bool lane_bytes(struct warp *w, const struct insn *in, const struct copy_form *f, uint32_t l, uint32_t *bytes) {
    const struct warp_opnd *o = f->bytes ? f->bytes : f->skip;
    *bytes = f->size;
    if (!o)
        return true;
    if (!warp_known(w, in, 1u << l, o, f->bytes ? "the source size" : "the predicate"))
        return false;
    if (f->skip)
        *bytes = warp_pred(w, o) >> l & 1 ? 0 : f->size;
    else
        *bytes = warp_u32(w, o, l);
    if (*bytes <= f->size)
        return true;
    return warp_fails(w, in, 1u << l, &src_size, "lane %u: src-size is %u bytes, but cp-size only %u", l, *bytes,
                      f->size);
}

/* Tells what it will write, for reports, where its lanes write one run of bytes. */
static void lands(struct copy_op *c) {
    const uint32_t first = c->lane[warp_lowest(c->lanes)].off;
    uint32_t bytes = c->row ? MACH_WARP * c->size : 0;
    WARP_FOR_LANES(l, c->row ? 0 : c->lanes) {
        if (c->lane[l].off != first + bytes)
            return;
        bytes += c->size;
    }
    c->op.dst = c->op.cta;
    c->op.dst_off = first;
    c->op.dst_bytes = bytes;
    c->op.committed = &c->lane[warp_lowest(c->lanes)].track->committed;
}

/* Bits in which an address is not 2^k bytes from the one before. For hosts without vectors too, unlike reach.h's. */
#define UNEVEN(type)                                                                                                   \
    INLINE type uneven_##type(const type *b, uint32_t k) {                                                             \
        const type first = b[0];                                                                                       \
        type rest = 0;                                                                                                 \
        for (type l = 0; l < MACH_WARP; l++)                                                                           \
            rest |= b[l] ^ (first + (l << k));                                                                         \
        return rest;                                                                                                   \
    }
UNEVEN(uint32_t)
UNEVEN(uint64_t)

/* The first lane's place if all lanes copy whole words, one after the other in one allocation and in this CTA's shared
 * memory. False: no, or not seen here. */
static bool find_row(struct warp *w, const struct insn *in, uint32_t mask, struct copy_lane *first) {
    const struct copy_form *f = in->data;
    const struct warp_opnd *const to = &in->o[0], *const from = &in->o[1];
    const struct cta *cta = w->cta;
    const uint32_t bytes = MACH_WARP * f->size, k = (uint32_t)__builtin_ctz(f->size);
    if (mask != WARP_ALL_LANES || f->bytes || f->skip || !to->has_base || to->bits != 32 || !from->has_base ||
        from->bits != 64)
        return false;
    const uint32_t *const b = warp_src32(w, to->slot);
    const uint64_t *const a = warp_src64(w, from->slot), addr = a[0] + (uint64_t)from->offset;
    const uint64_t off = b[0] + (uint64_t)to->offset - ((uint64_t)cta->rank << MACH_SMEM_RANK_SHIFT);
    if ((off | addr) & (f->size - 1) || off < MACH_SMEM_FIRST || off >= cta->smem_end || cta->smem_end - off < bytes ||
        b[31] - b[0] != 31 * f->size || b[31] < b[0] || a[31] - a[0] != 31 * f->size ||
        uneven_uint32_t(b, k) | uneven_uint64_t(a, k))
        return false;
    const struct mem_near *block = island_near(w->island, addr);
    *first = (struct copy_lane){addr, f->size, (uint32_t)off, NULL};
    return block && block->bytes - (addr - block->addr) >= bytes;
}

/* The lanes' places if all copy whole words from one object to this CTA's shared memory. False: no, or unknown. */
static bool find_together(struct warp *w, const struct insn *in, uint32_t mask, struct copy_op *c) {
    const struct copy_form *f = in->data;
    struct warp_span to, from;
    if (f->bytes || f->skip || !warp_span(w, &in->o[0], mask, XS_SHARED_CTA, f->size, f->size, true, &to) ||
        !warp_span(w, &in->o[1], mask, XS_GLOBAL, f->size, f->size, false, &from))
        return false;
    WARP_FOR_LANES(l, mask) {
        c->lane[l].addr = from.base + warp_span_at(&from, l);
        c->lane[l].bytes = f->size;
        c->lane[l].off = (uint32_t)warp_span_at(&to, l);
    }
    return true;
}

/* The same lane by lane; false after a fault. */
static bool find_each(struct warp *w, const struct insn *in, uint32_t mask, struct copy_op *c) {
    const struct copy_form *f = in->data;
    WARP_FOR_LANES(l, mask) {
        struct copy_lane *k = &c->lane[l];
        struct warp_loc to, from;
        k->addr = warp_address(w, &in->o[1], l);
        if (!lane_bytes(w, in, f, l, &k->bytes) ||
            !warp_resolve(w, in, l, XS_SHARED_CTA, warp_address(w, &in->o[0], l), f->size, f->size, true, &to) ||
            (k->bytes && !warp_resolve(w, in, l, XS_GLOBAL, k->addr, k->bytes, f->size, false, &from)))
            return false;
        k->off = to.off;
    }
    return true;
}

/* An operation that keeps the places of so many lanes. In flight each counts as much (ASYNC_MAX_BYTES). */
static struct copy_op *new_copy(struct warp *w, const struct insn *in, uint32_t mask, uint32_t kept) {
    const size_t size = sizeof(struct copy_op), lane = sizeof(struct copy_lane);
    struct copy_op *c = async_op_create_with(size, kept * lane, &copy_kind, "cp.async", w->cta, NULL);
    warp_set_origin(w, in, mask, &c->op.origin);
    c->op.bytes = (uint32_t)(size + MACH_WARP * lane);
    return c;
}

static enum warp_status do_copy(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct copy_form *f = in->data;
    if (!warp_address_known(w, in, &in->o[0], mask) || !warp_address_known(w, in, &in->o[1], mask))
        return WARP_FAULT;
    struct copy_lane first;
    const bool row = find_row(w, in, mask, &first);
    const uint32_t counts = isa_group_lanes(w, ASYNC_COPY, mask);
    struct copy_op *c = new_copy(w, in, mask, row && counts == 1 ? 1 : MACH_WARP);
    c->lanes = mask;
    c->size = f->size;
    c->row = row;
    c->counts = counts;
    if (row)
        c->lane[0] = first;
    c->whole = row || find_together(w, in, mask, c);
    if (!c->whole && !find_each(w, in, mask, c)) {
        async_op_free(&c->op);
        return WARP_FAULT;
    }
    WARP_FOR_LANES(l, counts) {
        struct tma_track *track = isa_group_open(w, ASYNC_COPY, l);
        c->lane[l].track = track;
        track->reading++;
        track->writing++;
    }
    lands(c);
    async_issue(copy_queue(w), &c->op);
    return WARP_NEXT;
}

bool isa_bind_cp_async(struct isa_binder *b, struct insn *in) {
    struct copy_form *f = arena_alloc(b->arena, sizeof *f);
    struct isa_words k;
    if (!isa_sort(b, in->src,
                  ISA_WORDS(PTX_MOD_ca, PTX_MOD_cg, ISA_MORE(PTX_MOD_shared), ISA_MORE(PTX_MOD_shared__cta),
                            ISA_MORE(PTX_MOD_global), PTX_MOD_L2__cache_hint, ISA_ANY(prefetch)),
                  &k))
        return false;
    const unsigned hint = ptx_has(in->src, PTX_MOD_L2__cache_hint), n = in->num_opnds;
    const bool cg = k.of[PTX_KIND_cache] == PTX_MOD_cg;
    if (!k.of[PTX_KIND_cache] || !k.second ||
        (k.of[PTX_KIND_space] == PTX_MOD_global) == (k.second == PTX_MOD_global) || n < 3 + hint || n > 4 + hint)
        return false;
    f->size = (uint32_t)in->o[2].more->src->imm;
    if (f->size != 16 && (cg || (f->size != 4 && f->size != 8)))
        return isa_refuse(b, "cp-size is 4, 8 or 16, and 16 with .cg");
    if (n == 4 + hint) {
        if (in->o[3].bits == 1)
            f->skip = &in->o[3];
        else
            f->bytes = &in->o[3];
    }
    in->data = f;
    in->fn = do_copy;
    return true;
}

/* --- cp.async.mbarrier.arrive (9.7.13.15.15) ---------------------------------------------------------------------- */

struct arrive_op {
    struct async_op op;
    uint32_t lanes;
    uint32_t off[MACH_WARP];
};

static void mbar_failed(struct cta *cta, const struct mach_origin *origin, enum mbar_error e, uint32_t off) {
    mach_fault(cta->island, origin, mbar_error_diag(e), "cp.async.mbarrier.arrive arrives on mbarrier 0x%x: %s", off,
               mbar_error_text(e));
}

static bool run_arrive(struct async_op *op) {
    const struct arrive_op *a = (const struct arrive_op *)op;
    struct event_by by = event_by_op(op, ORDER_RELEASE, SCOPE_CTA);
    WARP_FOR_LANES(l, a->lanes) {
        by.lanes = 1u << l;
        enum mbar_error e = mbar_arrive(&by, op->cta, a->off[l], 1, false, NULL);
        if (e == MBAR_OK)
            continue;
        mbar_failed(op->cta, &op->origin, e, a->off[l]);
        return true;
    }
    return true;
}

static void describe_arrive(const struct async_op *op, struct event_work *work) {
    const struct arrive_op *a = (const struct arrive_op *)op;
    work->signals = op->cta;
    work->signals_off = a->off[warp_lowest(a->lanes)];
}

static const struct async_kind arrive_kind = {AGENT_COMMIT, run_arrive, describe_arrive};

static enum warp_status do_arrive(struct warp *w, const struct insn *in, uint32_t mask) {
    const bool noinc = ptx_has(in->src, PTX_MOD_noinc), generic = in->aux;
    uint32_t off[MACH_WARP] = {0};
    struct mach_origin origin = warp_origin(w, in, mask);
    struct event_by by = isa_by(w, in, mask);
    WARP_FOR_LANES(l, mask) {
        struct cta *cta;
        by.lanes = 1u << l;
        if (!warp_smem_operand(w, in, l, &in->o[0], false, generic, 8, &cta, &off[l]))
            return WARP_FAULT;
        enum mbar_error e = noinc ? MBAR_OK : mbar_add_pending(&by, cta, off[l]);
        if (e == MBAR_OK)
            continue;
        mbar_failed(cta, &origin, e, off[l]);
        return WARP_FAULT;
    }
    struct arrive_op *a = async_op_create(sizeof *a, &arrive_kind, "cp.async.mbarrier.arrive", w->cta, &origin);
    a->lanes = mask;
    memcpy(a->off, off, sizeof off);
    async_issue(copy_queue(w), &a->op); /* behind this thread's earlier copies */
    return WARP_NEXT;
}

bool isa_bind_cp_async_arrive(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    if (!isa_sort(b, in->src, ISA_WORDS(PTX_MOD_noinc, PTX_MOD_shared, PTX_MOD_shared__cta, PTX_MOD_b64), &k))
        return false;
    in->aux = !k.of[PTX_KIND_space];
    in->fn = do_arrive;
    return k.of[PTX_KIND_type];
}
