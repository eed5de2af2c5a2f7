/* isa/space.c - addresses between state spaces: isspacep, cvta, mapa, getctarank (PTX ISA 9.7.9.19, .20, .23, .24).
 *
 * A generic address of shared, local or kernel-parameter memory is its window's base plus the address in the space;
 * those of global and constant memory are the same numbers in both (machine/machine.h). Where the ISA leaves a result
 * undefined - an address outside the space's window - the result is poison.
 */
#include "isa/alu.h"
#include "isa/isa.h"

static inline bool in_window(uint64_t a, uint64_t base) { return a - base < MACH_WINDOW_SIZE; }

/* Base of the window of a space, 0 for global and const. */
static uint64_t window_of(enum ptx_mod space) {
    switch (space) {
    case PTX_MOD_shared:
    case PTX_MOD_shared__cta:
    case PTX_MOD_shared__cluster:
        return MACH_WINDOW_SHARED;
    case PTX_MOD_local:
        return MACH_WINDOW_LOCAL;
    case PTX_MOD_param:
    case PTX_MOD_param__entry:
        return MACH_WINDOW_PARAM;
    default:
        return 0;
    }
}

/* --- cvta: in->aux is the window's base --------------------------------------------------------------------------- */

static enum warp_status cvta(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint64_t *a = warp_src64(w, in->o[1].slot), base = in->aux;
    uint64_t *d = warp_dst64(w, in->o[0].slot);
    ALU_SET(mask, d, a[l] + base);
    return alu_poison(w, in, mask, 1);
}

static enum warp_status cvta_to(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint64_t *a = warp_src64(w, in->o[1].slot), base = in->aux;
    uint64_t *d = warp_dst64(w, in->o[0].slot);
    uint32_t outside = 0;
    if (base)
        WARP_FOR_LANES(l, mask) outside |= (uint32_t)!in_window(a[l], base) << l;
    ALU_SET(mask, d, a[l] - base);
    return warp_done(w, in->o[0].slot, mask, warp_poison(w, in->o[1].slot) | outside);
}

/* --- isspacep: in->aux is the space's modifier -------------------------------------------------------------------- */

static bool is_const_address(const struct warp *w, uint64_t a) {
    const struct warp_module *m = w->func->module;
    for (uint32_t i = 0; i < m->ptx->num_vars; i++) {
        const struct ptx_var *v = m->ptx->vars[i];
        if (v->space == PTX_SPACE_CONST && m->var_addr[v->index] && a - m->var_addr[v->index] < v->size)
            return true;
    }
    return false;
}

static bool in_space(const struct warp *w, uint64_t a, enum ptx_mod space) {
    const uint32_t rank = (uint32_t)(a & 0xffffffff) >> MACH_SMEM_RANK_SHIFT;
    switch (space) {
    case PTX_MOD_shared:
    case PTX_MOD_shared__cta: /* this CTA's own variables only */
        return in_window(a, MACH_WINDOW_SHARED) && rank == w->cta->rank;
    case PTX_MOD_shared__cluster: /* the whole window, ranks that are not there too (measured on an H200) */
        return in_window(a, MACH_WINDOW_SHARED);
    case PTX_MOD_const:
        return is_const_address(w, a);
    case PTX_MOD_global: /* kernel parameters count as global */
        return !in_window(a, MACH_WINDOW_SHARED) && !in_window(a, MACH_WINDOW_LOCAL) && !is_const_address(w, a);
    default:
        return in_window(a, window_of(space));
    }
}

static enum warp_status isspacep(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint64_t *a = warp_src64(w, in->o[1].slot);
    uint32_t p = 0;
    WARP_FOR_LANES(l, mask) p |= (uint32_t)in_space(w, a[l], (enum ptx_mod)in->aux) << l;
    warp_set_pred(w, in->o[0].slot, mask, p);
    return alu_poison(w, in, mask, 1);
}

/* --- mapa, getctarank --------------------------------------------------------------------------------------------- */

/* A rank that the cluster does not have gives an address that no CTA of it has. */
static inline uint32_t with_rank(const struct warp *w, uint32_t a, uint32_t rank) {
    const uint32_t r = rank < w->cta->cluster->num_ctas ? rank : 0xff;
    return (a & ((1u << MACH_SMEM_RANK_SHIFT) - 1)) | r << MACH_SMEM_RANK_SHIFT;
}

static enum warp_status mapa_32(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *a = warp_src32(w, in->o[1].slot), *b = warp_src32(w, in->o[2].slot);
    uint32_t *d = warp_dst32(w, in->o[0].slot);
    WARP_FOR_LANES(l, mask) d[l] = with_rank(w, a[l], b[l]);
    return alu_poison(w, in, mask, 2);
}

/* in->aux: the base of the addresses, 0 for shared::cluster ones and the window for generic ones */
static enum warp_status mapa_64(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint64_t *a = warp_src64(w, in->o[1].slot), base = in->aux;
    const uint32_t *b = warp_src32(w, in->o[2].slot);
    uint64_t *d = warp_dst64(w, in->o[0].slot);
    uint32_t outside = 0;
    WARP_FOR_LANES(l, mask) {
        outside |= (uint32_t)!in_window(a[l], base) << l;
        d[l] = base + with_rank(w, (uint32_t)(a[l] - base), b[l]);
    }
    const uint32_t from = warp_poison(w, in->o[1].slot) | warp_poison(w, in->o[2].slot);
    return warp_done(w, in->o[0].slot, mask, from | outside);
}

static enum warp_status getctarank_32(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *a = warp_src32(w, in->o[1].slot);
    uint32_t *d = warp_dst32(w, in->o[0].slot);
    WARP_FOR_LANES(l, mask) d[l] = a[l] >> MACH_SMEM_RANK_SHIFT;
    return alu_poison(w, in, mask, 1);
}

static enum warp_status getctarank_64(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint64_t *a = warp_src64(w, in->o[1].slot), base = in->aux;
    uint32_t *d = warp_dst32(w, in->o[0].slot), outside = 0;
    WARP_FOR_LANES(l, mask) {
        outside |= (uint32_t)!in_window(a[l], base) << l;
        d[l] = (uint32_t)(a[l] - base) >> MACH_SMEM_RANK_SHIFT;
    }
    return warp_done(w, in->o[0].slot, mask, warp_poison(w, in->o[1].slot) | outside);
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

static bool bind_mapa(struct isa_binder *b, struct insn *in, const struct alu_form *form) {
    const bool mapa = in->src->op == PTX_OP_mapa, wide = form->type[0] == PTX_MOD_u64;
    if (form->flags || (form->space && form->space != PTX_MOD_shared__cluster))
        return isa_refuse(b, "the space is .shared::cluster or left out");
    if (!wide && !form->space)
        return isa_refuse(b, "generic addresses are 64 bits wide");
    if (!alu_operands(b, in, mapa ? (wide ? "ddw" : "www") : wide ? "wd" : "ww"))
        return false;
    in->aux = form->space ? 0 : MACH_WINDOW_SHARED;
    in->fn = mapa ? (wide ? mapa_64 : mapa_32) : wide ? getctarank_64 : getctarank_32;
    return true;
}

bool isa_bind_address(struct isa_binder *b, struct insn *in) {
    struct alu_form form;
    if (!alu_parse(b, in->src, &form))
        return false;
    const enum ptx_op op = in->src->op;
    if (form.cmp || form.num_types != (op == PTX_OP_isspacep ? 0 : 1) ||
        (form.num_types && form.type[0] != PTX_MOD_u32 && form.type[0] != PTX_MOD_u64))
        return isa_refuse(b, "an address has the type .u32 or .u64");
    if (op == PTX_OP_mapa || op == PTX_OP_getctarank)
        return bind_mapa(b, in, &form);
    if (!form.space || form.flags & ~(op == PTX_OP_cvta ? ALU_M(to) : 0))
        return isa_refuse(b, "this combination of modifiers is not one of the instruction's forms");
    if ((form.num_types && form.type[0] != PTX_MOD_u64) || !alu_operands(b, in, op == PTX_OP_cvta ? "dd" : "pd"))
        return isa_refuse(b, "generic addresses are 64 bits wide");
    in->aux = op == PTX_OP_cvta ? window_of(form.space) : (uint64_t)form.space;
    in->fn = op != PTX_OP_cvta ? isspacep : form.flags ? cvta_to : cvta;
    return true;
}
