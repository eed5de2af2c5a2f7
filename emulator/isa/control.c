/* isa/control.c - bra, brx.idx, call, ret, exit, trap, brkpt (PTX ISA 9.7.12, 9.7.19). */
#include "isa/isa.h"
#include "warp/meet.h"
#include "warp/parts.h"

/* 9.7.12.3. `mask` are the lanes whose guard is true; the others fall through. */
static enum warp_status do_bra(struct warp *w, const struct insn *in, uint32_t mask) {
    struct group *g = w->g;
    uint32_t target = in->o[0].target;
    if (mask == g->mask) {
        g->pc = target - 1; /* the group stays as it is, and the core goes on behind that */
        return WARP_NEXT;
    }
    warp_split(w, in, mask, target, g->pc + 1);
    return WARP_JUMP;
}

DIAG(brx_range) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "brx-index", "9.7.12.4"),
    .rule = "the index must be smaller than the length of the .branchtargets list",
    .hint = "Check how the index is computed: it counts from 0, and each value needs a target in the list",
    .reason = "the branch reads past the end of its table.",
};

/* 9.7.12.4: one target per distinct index; groups are split off one by one. */
static enum warp_status do_brx(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *index = warp_src32(w, in->o[0].slot);
    const struct ptx_table *t = in->o[1].table;
    if (!warp_known(w, in, mask, &in->o[0], "the branch index"))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask)
    if (index[l] >= t->count)
        return warp_fault(w, in, 1u << l, &brx_range, "the branch index is %u, but the list has %u targets", index[l],
                          t->count);
    uint32_t fall = w->g->pc + 1;
    if (mask != w->g->mask)
        warp_split(w, in, mask, fall, fall); /* the others fall through as a group of their own */
    while (mask) {
        uint32_t target = t->labels[index[warp_lowest(mask)]], same = 0;
        WARP_FOR_LANES(l, mask)
        same |= (uint32_t)(t->labels[index[l]] == target) << l;
        mask &= ~same;
        if (!mask)
            w->g->pc = target;
        else {
            warp_split(w, in, mask, w->g->pc, target); /* `same` become a group at target */
        }
    }
    return WARP_JUMP;
}

/* Copies `words` 32-bit words of parameter slots, from slot `from` of w->slots to slot `to`, lanes `mask`. */
static void copy_slots(struct warp *w, uint32_t from, uint32_t to, uint32_t words, uint32_t mask) {
    for (uint32_t s = 0; s < words; s++, from++, to++) {
        const uint32_t *a = w->slots + (size_t)from * MACH_WARP;
        uint32_t *d = w->slots + (size_t)to * MACH_WARP;
        WARP_FOR_LANES(l, mask) { d[l] = a[l]; }
        w->poison[to] = (w->poison[to] & ~mask) | (w->poison[from] & mask);
        warp_copy_part(w, from, to, mask);
    }
}

static uint32_t words(uint64_t bytes) { return (uint32_t)((bytes + 3) / 4); }

DIAG(bad_call) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "call-target", "9.7.12.5"),
    .rule = "the target of a call must be a function whose parameters match the call",
    .hint = "Check that the function pointer was taken in device code, that the function is linked into this module, "
            "and that the call passes the parameters which it declares",
    .reason = "the ISA does not define such a call.",
};

static const struct warp_func *call_target(struct warp *w, const struct insn *in, uint32_t *mask,
                                           enum warp_status *status) {
    const struct warp_opnd *o = &in->o[1];
    if (o->kind == WARP_FUNC)
        return o->func;
    if (!warp_known(w, in, *mask, o, "the address of the called function")) {
        *status = WARP_FAULT;
        return NULL;
    }
    const uint64_t *addr = warp_src64(w, o->slot);
    uint64_t first = addr[warp_lowest(*mask)];
    uint32_t same = 0;
    WARP_FOR_LANES(l, *mask)
    same |= (uint32_t)(addr[l] == first) << l;
    uint32_t n = w->func->module->ptx->num_funcs;
    uint64_t index = (first >> 8) - 1;
    if (first & 0xff || index >= n) {
        *status = warp_fault(w, in, same, &bad_call, "indirect call of 0x%llx, which is not a function",
                             (unsigned long long)first);
        return NULL;
    }
    *mask = same;
    return &w->func->module->funcs[index];
}

static bool params_match(const struct insn *in, const struct ptx_func *p) {
    const struct warp_opnd *rets = &in->o[0], *args = &in->o[2];
    if (p->is_entry) /* its parameters lie in the constant bank, not in slots */
        return false;
    if (rets->num_sub != p->num_rets || args->num_sub < p->num_params)
        return false;
    for (uint32_t i = 0; i < p->num_rets; i++)
        if (rets->more->sub[i].kind != WARP_PARAM || words(rets->more->sub[i].more->imm) != words(p->rets[i].size))
            return false;
    for (uint32_t i = 0; i < p->num_params; i++)
        if (args->more->sub[i].kind != WARP_PARAM || words(args->more->sub[i].more->imm) < words(p->params[i].size))
            return false;
    return true;
}

/* 9.7.12.5. Arguments are copied into the callee's formal parameters. */
static enum warp_status do_call(struct warp *w, const struct insn *in, uint32_t mask) {
    enum warp_status status = WARP_FAULT;
    uint32_t now = mask;
    const struct warp_func *f = call_target(w, in, &now, &status);
    if (!f)
        return status;
    if (f->src->is_extern) {
        warp_fn fn = isa_builtin(f->src->name);
        if (!fn)
            return warp_fault(w, in, mask, &bad_call, "call of %s, which has no body in this module", f->src->name);
        if (now == mask)
            return fn(w, in, mask);
    }
    if (!params_match(in, f->src))
        return warp_fault(w, in, now, &bad_call, "the arguments do not match the parameters of %s", f->src->name);
    struct group *g = w->g;
    uint32_t next = g->pc + 1;
    if (mask != g->mask) /* guarded call: the others go on behind it */
        warp_split(w, in, mask, g->pc, next);
    if (now != mask) { /* several targets: the rest calls later */
        warp_split(w, in, now, g->pc, g->pc);
        return WARP_JUMP;
    }
    uint32_t caller_base = w->frames[g->frame].base;
    if (!warp_push_frame(w, in, f, next))
        return WARP_FAULT;
    const struct warp_opnd *args = &in->o[2];
    for (uint32_t i = 0; i < f->src->num_params; i++) {
        uint32_t from = caller_base + (uint32_t)args->more->sub[i].slot;
        copy_slots(w, from, w->frames[g->frame].base + (uint32_t)f->param_slot[i], words(f->src->params[i].size), mask);
    }
    g->pc = 0;
    return WARP_JUMP;
}

/* 9.7.12.6. In a function every `ret` jumps to the synthetic last instruction, where lanes that part ways meet; in a
 * kernel the threads end. */
static enum warp_status do_ret(struct warp *w, const struct insn *in, uint32_t mask) {
    struct group *g = w->g;
    if (g->frame == 0)
        return warp_lanes_exit(w, mask);
    const struct warp_func *f = w->func;
    uint32_t end = f->num_insns - 1;
    if (g->pc != end) {
        if (mask == g->mask)
            g->pc = end;
        else
            warp_split(w, in, mask, end, g->pc + 1);
        return WARP_JUMP;
    }
    const struct insn *call = w->frames[g->frame].call;
    uint32_t callee_base = w->frames[g->frame].base;
    warp_pop_frame(w);
    for (uint32_t i = 0; i < f->src->num_rets; i++) {
        uint32_t from = callee_base + (uint32_t)f->ret_slot[i];
        uint32_t to = w->frames[g->frame].base + (uint32_t)call->o[0].more->sub[i].slot;
        copy_slots(w, from, to, words(f->src->rets[i].size), mask);
    }
    return WARP_JUMP;
}

static enum warp_status do_exit(struct warp *w, const struct insn *in, uint32_t mask) {
    (void)in;
    return warp_lanes_exit(w, mask);
}

DIAG(trapped) = {
    DIAG_HEAD(ERROR, "trap", "9.7.19.4"),
    .rule = "trap stops the grid and returns an error to the host",
    .hint = "Find the check in the kernel that failed: __trap, a device assertion, or a path that must not be reached",
    .reason = "the program asked for it.",
};

static enum warp_status do_trap(struct warp *w, const struct insn *in, uint32_t mask) {
    return warp_fault(w, in, mask, &trapped, "the kernel executed %s", in->src->op == PTX_OP_trap ? "trap" : "brkpt");
}

bool isa_bind_control(struct isa_binder *b, struct insn *in) {
    switch (in->src->op) {
    case PTX_OP_bra:
        in->fn = do_bra;
        in->branch = true;
        return in->o[0].target < b->func->num_insns;
    case PTX_OP_brx_idx:
        in->fn = do_brx;
        if (!in->o[1].table->labels)
            return isa_refuse(b, "the list is one of functions");
        for (uint32_t i = 0; i < in->o[1].table->count; i++)
            if (in->o[1].table->labels[i] >= b->func->num_insns)
                return false;
        return true;
    case PTX_OP_call:
        in->fn = do_call;
        return true;
    case PTX_OP_ret:
        in->fn = do_ret;
        return true;
    case PTX_OP_exit:
        in->fn = do_exit;
        return true;
    case PTX_OP_trap:  /* 9.7.19.4 */
    case PTX_OP_brkpt: /* 9.7.19.1: suspends under a debugger; without one the chip reports an error */
        in->fn = do_trap;
        return true;
    default:
        return false;
    }
}
