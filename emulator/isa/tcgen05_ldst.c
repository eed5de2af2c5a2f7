/* isa/tcgen05_ldst.c - tcgen05.ld, .st and .wait (PTX ISA 9.7.16.8).
 *
 * A load makes its destination registers poison and runs later, into a buffer of its own; tcgen05.wait::ld waits for
 * all loads of the warp and moves their results into the registers, in issue order. A register that is used earlier is
 * completed first: true register dependencies are respected (9.7.16.6.4.5). But a thread that tells others to go on
 * while its loads are not waited for is warned, since nothing orders the reading of the cells. A store takes its
 * registers' values when it is issued. Loads and stores of a warp run in issue order.
 */
#include "base/heap.h"
#include "isa/tcgen05.h"
#include "machine/worker.h"
#include "warp/unwritten.h"

/* A tcgen05.ld between issue and wait. */
struct pending_ld {
    struct pending_ld *next;
    const struct insn *in;
    uint32_t frame; /* index into w->frames, of the registers */
    uint64_t call;  /* the frame's number: they end with it */
    uint32_t mask, regs;
    bool done;
    uint64_t op;      /* its number */
    uint32_t words[]; /* 32 per register, then a poison mask per register */
};

struct isa_pending {
    struct pending_ld *first, **end;
    uint32_t stores; /* issued and not yet run */
};

static struct isa_pending *pending_of(struct warp *w) {
    if (!w->tmem_pending) {
        w->tmem_pending = xcalloc(1, sizeof *w->tmem_pending);
        w->tmem_pending->end = &w->tmem_pending->first;
        w->tmem_queue = async_queue_create(w->cta, "tcgen05.ld/st");
    }
    return w->tmem_pending;
}

void isa_tmem_destroy(struct warp *w) {
    if (!w->tmem_pending)
        return;
    for (struct pending_ld *p = w->tmem_pending->first, *next; p; p = next) {
        next = p->next;
        worker_free(w->island->worker, p);
    }
    xfree(w->tmem_pending);
    w->tmem_pending = NULL;
}

/* The shape of an access; its operands' places. */
struct ldst_form {
    struct tc_access access; /* without address and threads */
    uint32_t regs;
    const warp_slot *list;
};

DIAG(beyond_lanes) = {
    DIAG_HEAD(STRICT, "tcgen05-lane-beyond-128", "9.7.16.1"),
    .rule = "a tensor memory address names a lane from 0 to 127 of the CTA's own tensor memory. The CTAs of a pair do "
            "not share one numbering",
    .hint = "Leave the CTA's rank out of the address. Kernels that run on B200s include it, but the ISA does not "
            "promise that it is ignored",
    .reason = "kernels published with results on B200s add a rank to the lane. The chip uses seven bits of it, and so "
              "does the emulator.",
};

/* The lane field has 16 bits (9.7.16.1.1) for 128 lanes; the rest is ignored. */
static bool wrap_lane(struct warp *w, const struct mach_origin *origin, const char *name, uint32_t *taddr) {
    uint32_t lane = *taddr >> 16;
    if (lane < TMEM_LANES)
        return true;
    *taddr &= ((uint32_t)TMEM_LANES << 16) - 1;
    return mach_warn(w->island, origin, &beyond_lanes, "%s starts at lane %u; lane %u is taken", name, lane,
                     *taddr >> 16);
}

static bool access_of(struct warp *w, const struct insn *in, uint32_t mask, const struct warp_opnd *address,
                      const char *name, struct mach_origin *origin, struct tc_access *a) {
    const struct ldst_form *f = in->data;
    *a = f->access;
    a->threads = mask;
    *origin = warp_origin(w, in, mask);
    return isa_tmem_uniform(w, in, mask, address, "the tensor memory address", &a->taddr) &&
           wrap_lane(w, origin, name, &a->taddr) && tc_check_window(w->cta, origin, name, a, w->index);
}

static enum warp_status use_loads(struct warp *w, const struct insn *in, uint32_t mask);

static bool has_registers(const struct warp *w, const struct pending_ld *p) {
    return w->frames[p->frame].used && w->frames[p->frame].number == p->call;
}

/* Takes *at off the list. */
static void drop(const struct warp *w, struct isa_pending *all, struct pending_ld **at) {
    struct pending_ld *p = *at;
    *at = p->next;
    if (!p->next)
        all->end = at;
    worker_free(w->island->worker, p);
}

/* Nobody asks for loads whose function has returned: those that are done go. */
static void drop_returned(const struct warp *w, struct isa_pending *all) {
    for (struct pending_ld **at = &all->first; *at;)
        if ((*at)->done && !has_registers(w, *at))
            drop(w, all, at);
        else
            at = &(*at)->next;
}

static void tell_sync_of(const struct warp *w, const struct insn *in, uint32_t mask, enum event_sync_kind kind,
                         uint64_t op) {
    tell_sync(w->gpu, &(struct event_sync){.by = warp_by(w, in, mask), .kind = kind, .owner = w->cta, .awaited = op});
}

static enum warp_status do_ld(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct ldst_form *f = in->data;
    struct mach_origin origin;
    struct tc_access a;
    if (!access_of(w, in, mask, &in->o[1], "tcgen05.ld", &origin, &a))
        return WARP_FAULT;
    struct isa_pending *all = pending_of(w);
    drop_returned(w, all);
    struct pending_ld *p =
        worker_alloc_zeroed(w->island->worker, sizeof *p + f->regs * 33 * sizeof(uint32_t), sizeof *p);
    p->in = in;
    p->frame = w->g->frame;
    p->call = w->frames[p->frame].number;
    p->mask = mask;
    p->regs = f->regs;
    *all->end = p;
    all->end = &p->next;
    w->before = use_loads;
    for (uint32_t r = 0; r < f->regs; r++)
        warp_set_poison(w, f->list[r], mask, mask);
    p->op = tc_issue_ld(w->tmem_queue, &origin, &a, p->words, p->words + 32 * f->regs, &p->done);
    tell_sync_of(w, in, mask, SYNC_TCGEN05_LD, p->op);
    return WARP_NEXT;
}

static enum warp_status do_st(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct ldst_form *f = in->data;
    struct mach_origin origin;
    struct tc_access a;
    uint32_t data[128 * MACH_WARP], poison[128], unwritten = 0;
    if (!access_of(w, in, mask, &in->o[0], "tcgen05.st", &origin, &a))
        return WARP_FAULT;
    for (uint32_t r = 0; r < f->regs; r++) {
        memcpy(data + r * MACH_WARP, warp_src32(w, f->list[r]), MACH_WARP * sizeof *data);
        poison[r] = warp_poison(w, f->list[r]);
        unwritten |= poison[r];
    }
    if (unwritten & mask)
        warp_stored_unwritten(w, in, unwritten & mask, WARP_FROM_TENSOR, NULL, 0, 0);
    struct isa_pending *all = pending_of(w);
    tc_issue_st(w->tmem_queue, &origin, &a, data, poison, &all->stores);
    return WARP_NEXT;
}

/* Results of a completed load into the registers of the frame that asked for it, if it still exists. */
static void deliver(struct warp *w, const struct pending_ld *p) {
    const struct warp_frame *fr = &w->frames[p->frame];
    const struct ldst_form *f = p->in->data;
    const uint32_t *poison = p->words + p->regs * MACH_WARP;
    uint32_t unwritten = 0;
    if (!has_registers(w, p))
        return;
    for (uint32_t r = 0; r < p->regs; r++) {
        size_t slot = (size_t)fr->base + (size_t)f->list[r];
        uint32_t *to = w->slots + slot * MACH_WARP;
        const uint32_t *from = p->words + (size_t)r * MACH_WARP;
        if (p->mask == UINT32_MAX) {
            memcpy(to, from, MACH_WARP * sizeof *to);
        } else {
            WARP_FOR_LANES(l, p->mask)
            to[l] = from[l];
        }
        w->poison[slot] = (w->poison[slot] & ~p->mask) | (poison[r] & p->mask);
        if (w->parts)
            warp_forget_parts(w, (uint32_t)slot, 1, p->mask);
        unwritten |= poison[r] & p->mask;
    }
    if (unwritten)
        warp_found_unwritten(w, p->in, unwritten, WARP_FROM_TENSOR, NULL, 0, 0);
}

static enum warp_status do_wait_ld(struct warp *w, const struct insn *in, uint32_t mask) {
    struct isa_pending *all = w->tmem_pending;
    for (const struct pending_ld *p = all ? all->first : NULL; p; p = p->next)
        if (!p->done)
            return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_TMEM_LDST});
    while (all && all->first) {
        deliver(w, all->first);
        drop(w, all, &all->first);
    }
    w->before = NULL;
    tell_sync_of(w, in, mask, SYNC_TCGEN05_WAIT_LD, 0);
    return WARP_NEXT;
}

/* The load among the pending ones whose results this slot of the current frame awaits. */
static struct pending_ld **awaited(struct warp *w, warp_slot slot) {
    for (struct pending_ld **at = &w->tmem_pending->first; *at; at = &(*at)->next) {
        const struct ldst_form *f = (*at)->in->data;
        const bool here = (*at)->frame == w->g->frame && has_registers(w, *at);
        for (uint32_t r = 0; here && r < (*at)->regs; r++)
            if (f->list[r] == slot)
                return at;
    }
    return NULL;
}

/* One register of an instruction: a true dependency on a load is respected (9.7.16.6.4.5). */
static enum warp_status use_slot(struct warp *w, const struct insn *in, uint32_t mask, warp_slot slot) {
    if (slot < 0 || slot == WARP_SINK || !(warp_poison(w, slot) & mask))
        return WARP_NEXT;
    struct pending_ld **at = awaited(w, slot), *p = at ? *at : NULL;
    if (!p)
        return WARP_NEXT;
    if (!p->done)
        return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_TMEM_LDST});
    tell_sync_of(w, in, mask, SYNC_TCGEN05_USE, p->op);
    deliver(w, p);
    drop(w, w->tmem_pending, at);
    return WARP_NEXT;
}

/* warp.before: completes the loads whose registers an instruction uses. */
static enum warp_status use_loads(struct warp *w, const struct insn *in, uint32_t mask) {
    enum warp_status s = WARP_NEXT;
    for (unsigned i = 0; i < in->num_opnds && s == WARP_NEXT; i++) {
        const struct warp_opnd *o = &in->o[i];
        if (o->kind == WARP_SLOT || (o->kind == WARP_MEM && o->has_base))
            s = use_slot(w, in, mask, o->slot);
        if (o->kind == WARP_MEM && o->num_sub) /* the coordinates behind a tensor map */
            o = &o->more->sub[0];
        for (uint32_t k = 0; o->kind == WARP_VEC && k < o->num_sub && s == WARP_NEXT; k++)
            s = use_slot(w, in, mask, o->list[k]);
    }
    return s;
}

static enum warp_status do_wait_st(struct warp *w, const struct insn *in, uint32_t mask) {
    if (w->tmem_pending && w->tmem_pending->stores)
        return warp_wait(w, in, &(struct warp_wait){.kind = WAIT_TMEM_LDST});
    tell_sync_of(w, in, mask, SYNC_TCGEN05_WAIT_ST, 0);
    return WARP_NEXT;
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

static bool shape_of(enum ptx_mod word, enum tc_shape *shape) {
    static const struct {
        enum ptx_mod mod;
        enum tc_shape shape;
    } shapes[] = {{PTX_MOD__32x32b, TC_32X32B},
                  {PTX_MOD__16x64b, TC_16X64B},
                  {PTX_MOD__16x128b, TC_16X128B},
                  {PTX_MOD__16x256b, TC_16X256B},
                  {PTX_MOD__16x32bx2, TC_16X32BX2}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].mod == word) {
            *shape = shapes[i].shape;
            return true;
        }
    return false;
}

bool isa_bind_tcgen05_ldst(struct isa_binder *b, struct insn *in) {
    const bool load = in->src->op == PTX_OP_tcgen05_ld;
    struct ldst_form *f = arena_alloc(b->arena, sizeof *f);
    struct isa_words k;
    if (in->src->op == PTX_OP_tcgen05_ld_red)
        return isa_refuse(b, "tcgen05.ld.red needs sm_101a, sm_103f or later (PTX ISA 9.7.16.8.3)");
    if (!isa_tmem_sort(b, in->src,
                       ISA_WORDS(PTX_MOD_sync, PTX_MOD_aligned, ISA_ANY(shape), ISA_ANY(repeat), PTX_MOD_b32,
                                 PTX_MOD_pack__16b, PTX_MOD_unpack__16b),
                       &k))
        return false;
    f->access.num = ptx_mod_number(k.of[PTX_KIND_repeat]);
    if (!shape_of(k.of[PTX_KIND_shape], &f->access.shape) || !f->access.num)
        return isa_refuse(b, "the shape or the repeat factor is missing, or not one of tensor memory");
    f->regs = tc_image_regs(f->access.shape, f->access.num);
    if (!f->regs)
        return isa_refuse(b, "the shape has no such repeat factor (Tables 49 and 50)");
    f->access.pack = ptx_has(in->src, load ? PTX_MOD_pack__16b : PTX_MOD_unpack__16b);
    if (ptx_has(in->src, load ? PTX_MOD_unpack__16b : PTX_MOD_pack__16b))
        return isa_refuse(b, "a load takes .pack::16b, a store .unpack::16b");
    /* ld: r, [taddr] {, split}; st: [taddr] {, split}, r */
    bool split = f->access.shape == TC_16X32BX2;
    unsigned count = split ? 3 : 2, half = load ? 2 : 1, regs = load ? 0 : count - 1;
    if (in->num_opnds != count)
        return isa_refuse(b, "operands do not suit the shape");
    if (split) {
        if (in->o[half].more->imm >= TMEM_COLUMNS)
            return isa_refuse(b, "immHalfSplitoff is not a number of columns below 512");
        f->access.split = (uint32_t)in->o[half].more->imm;
    }
    f->list = in->o[regs].list;
    if (!isa_is_list(&in->o[regs], f->regs))
        return isa_refuse(b, "the number of registers does not suit shape and repeat factor (Tables 49 and 50)");
    in->data = f;
    return isa_tmem_aligned(b, in, load ? do_ld : do_st);
}

bool isa_bind_tcgen05_wait(struct isa_binder *b, struct insn *in) {
    struct isa_words k;
    return isa_tmem_sort(b, in->src, ISA_WORDS(PTX_MOD_sync, PTX_MOD_aligned), &k) &&
           isa_tmem_aligned(b, in, in->src->op == PTX_OP_tcgen05_wait_ld ? do_wait_ld : do_wait_st);
}
