/* warp/loads.c - see warp/loads.h. */
#include "warp/loads.h"

#include "base/heap.h"

#include <string.h>

enum { LOADS = 1, MOVES = 2, READS_MEMORY = 4 }; /* insn.loads */

void warp_loads_free(struct warp *w) {
    if (w->loads)
        xfree(w->loads->of);
    xfree(w->loads);
    w->loads = NULL;
}

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t of_slot(const struct warp_loads *l, uint32_t base, warp_slot s) {
    return s < 0 || s == WARP_SINK || base + (uint32_t)s >= l->slots ? 0 : l->of[base + (uint32_t)s];
}

/* The latest load that wrote one of the operand's registers. */
static uint32_t of_operand(const struct warp_loads *l, uint32_t base, const struct warp_opnd *o) {
    uint32_t n = 0;
    if (o->kind == WARP_SLOT || (o->kind == WARP_MEM && o->has_base))
        n = of_slot(l, base, o->slot);
    if (o->kind == WARP_MEM && o->num_sub) /* the coordinates after a tensor map */
        o = &o->more->sub[0];
    for (uint32_t k = 0; o->kind == WARP_VEC && k < o->num_sub; k++)
        n = later(n, of_slot(l, base, o->list[k]));
    return n;
}

static void set_operand(struct warp_loads *l, uint32_t base, const struct warp_opnd *o, uint32_t load) {
    if (o->kind == WARP_SLOT && o->slot >= 0 && o->slot != WARP_SINK)
        l->of[base + (uint32_t)o->slot] = load;
    for (uint32_t k = 0; o->kind == WARP_VEC && k < o->num_sub; k++)
        if (o->list[k] >= 0 && o->list[k] != WARP_SINK)
            l->of[base + (uint32_t)o->list[k]] = load;
}

static bool of_shared(const struct insn *in) {
    return ptx_has(in->src, PTX_MOD_shared) || ptx_has(in->src, PTX_MOD_shared__cta) ||
           ptx_has(in->src, PTX_MOD_shared__cluster) || ptx_has(in->src, PTX_MOD_local);
}

/* A load of global memory, or by a generic address (9.7.9.8 to .10), or an atomic that gives an answer. */
static bool is_load(const struct insn *in) {
    const enum ptx_op op = in->src->op;
    if (op != PTX_OP_ld && op != PTX_OP_ldu && op != PTX_OP_atom)
        return false;
    return !ptx_has(in->src, PTX_MOD_param) && !ptx_has(in->src, PTX_MOD_const) && !of_shared(in);
}

static void make_room(struct warp *w) {
    struct warp_loads *l = w->loads ? w->loads : (w->loads = xcalloc(1, sizeof *l));
    if (l->slots >= w->num_slots)
        return;
    l->of = xrealloc_array(l->of, w->num_slots, sizeof *l->of);
    memset(l->of + l->slots, 0, (w->num_slots - l->slots) * sizeof *l->of);
    l->slots = w->num_slots;
}

/* What the compiler moves back behind the loads of the same basic block that are independent of it. */
static bool moves(const struct insn *in) {
    const enum ptx_family f = ptx_op_family(in->src->op);
    return ptx_op_computes(in->src->op) || f == PTX_FAMILY_address || f == PTX_FAMILY_convert || f == PTX_FAMILY_mma ||
           (in->src->op == PTX_OP_st && of_shared(in));
}

uint8_t warp_loads_kind(const struct insn *in) {
    const bool reads = in->src->op == PTX_OP_ld || in->src->op == PTX_OP_ldu;
    return (uint8_t)((is_load(in) ? LOADS : 0) | (moves(in) ? MOVES : 0) | (reads ? READS_MEMORY : 0));
}

/* The latest load whose result the instruction needs. Its first operand is what it writes, if it is a register. */
static uint32_t of_operands(const struct warp *w, const struct group *g, const struct insn *in) {
    const uint32_t base = w->frames[g->frame].base;
    uint32_t n = 0;
    for (unsigned i = 0; i < in->num_opnds; i++)
        if (i || in->o[i].kind == WARP_MEM)
            n = later(n, of_operand(w->loads, base, &in->o[i]));
    return n > w->loads->used ? n : 0;
}

uint32_t warp_loads_uses(const struct warp *w, const struct group *g, const struct insn *in) {
    const struct warp_loads *l = w->loads;
    if (!warp_loads_pending(w) || in->loads & MOVES)
        return 0;
    const uint32_t n = of_operands(w, g, in);
    return in->loads & READS_MEMORY ? n : later(n, l->wanted > l->used ? l->wanted : 0);
}

uint32_t warp_loads_execute(struct warp *w, const struct group *g, const struct insn *in) {
    if (!(in->loads & LOADS) && !warp_loads_pending(w))
        return 0;
    const uint32_t uses = warp_loads_uses(w, g, in), base = w->frames[g->frame].base;
    if (uses)
        w->loads->used = uses;
    if (in->loads & LOADS && in->num_opnds) {
        make_room(w);
        set_operand(w->loads, base, &in->o[0], ++w->loads->num);
    } else if (w->loads && w->loads->used != w->loads->num && in->num_opnds) {
        make_room(w);
        const uint32_t n = in->loads & MOVES ? of_operands(w, g, in) : 0;
        w->loads->wanted = later(w->loads->wanted, n);
        set_operand(w->loads, base, &in->o[0], n);
    }
    return uses;
}
