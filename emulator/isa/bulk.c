/* isa/bulk.c - bulk and tensor copies, their reductions and prefetches, and bulk async-groups (PTX ISA 9.7.9.25.4,
 * 9.7.9.27.1, 9.7.9.27.2). The copies themselves are engines/tma.h's.
 *
 * Every lane that executes one starts its own copy; kernels elect one lane.
 */
#include "isa/async_group.h"
#include "isa/form.h"

struct bulk_form {
    enum ptx_mod dst, src; /* the first and second state space; prefetch has a source only */
    uint32_t rank;
    unsigned cta_group; /* 0: not written */
    bool gather4, scatter4, multicast, hint, cp_mask;
    num_op op;
    enum tma_element type;
};

/* --- words -------------------------------------------------------------------------------------------------------- */

static enum tma_element type_of(enum ptx_mod m) {
    static const struct {
        enum ptx_mod mod;
        enum tma_element type;
    } types[] = {{PTX_MOD_u32, TMA_E_U32},   {PTX_MOD_s32, TMA_E_S32}, {PTX_MOD_u64, TMA_E_U64},
                 {PTX_MOD_s64, TMA_E_S64},   {PTX_MOD_f16, TMA_E_F16}, {PTX_MOD_f32, TMA_E_F32_FTZ},
                 {PTX_MOD_bf16, TMA_E_BF16}, {PTX_MOD_f64, TMA_E_F64}, {PTX_MOD_b32, TMA_E_B32},
                 {PTX_MOD_b64, TMA_E_B64}};
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].mod == m)
            return types[i].type;
    return TMA_E_NONE;
}

/* Sorts the words, which CUTLASS writes in several orders, into *k and in->data. NULL: refused. */
static const struct bulk_form *form_of(struct isa_binder *b, struct insn *in, const uint16_t *words,
                                       struct isa_words *k) {
    if (!isa_sort(b, in->src, words, k))
        return NULL;
    struct bulk_form *f = arena_alloc(b->arena, sizeof *f);
    f->dst = k->of[PTX_KIND_space];
    f->src = k->second;
    f->rank = ptx_mod_number(k->of[PTX_KIND_dimension]);
    f->cta_group = ptx_mod_number(k->of[PTX_KIND_cta_group]);
    f->gather4 = k->of[PTX_KIND_mode] == PTX_MOD_tile__gather4;
    f->scatter4 = k->of[PTX_KIND_mode] == PTX_MOD_tile__scatter4;
    f->multicast = k->of[PTX_KIND_multicast];
    f->hint = ptx_has(in->src, PTX_MOD_L2__cache_hint);
    f->cp_mask = ptx_has(in->src, PTX_MOD_cp_mask);
    f->op = isa_reduction(k->of[PTX_KIND_operation]);
    f->type = type_of(k->of[PTX_KIND_type]);
    in->data = f;
    return (k->of[PTX_KIND_operation] && f->op == NUM_OP_NONE) || (k->of[PTX_KIND_type] && f->type == TMA_E_NONE) ? NULL
                                                                                                                  : f;
}

/* What all have: two state spaces, of which prefetch has one. */
#define BULK_WORDS                                                                                                     \
    ISA_MORE(PTX_MOD_global), ISA_MORE(PTX_MOD_shared__cta), ISA_MORE(PTX_MOD_shared__cluster),                        \
        PTX_MOD_mbarrier__complete_tx__bytes, PTX_MOD_bulk_group, PTX_MOD_multicast__cluster, PTX_MOD_L2__cache_hint,  \
        PTX_MOD_L2, ISA_ANY(operation)

/* --- operands ----------------------------------------------------------------------------------------------------- */

/* [tensorMap, {coordinates}] */
static bool is_tensor(const struct warp_opnd *o, const struct bulk_form *f) {
    return o->num_sub == 1 && o->more->sub[0].num_sub == (f->gather4 || f->scatter4 ? 5 : f->rank);
}

DIAG(map_space) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "tensormap-space", "9.7.9.27.1.2"),
    .rule = "a tensor map is in kernel parameters, constant or global memory",
    .hint = "Pass it as `const __grid_constant__ CUtensorMap`: without __grid_constant__ the kernel makes a local copy",
    .reason = "the unit cannot read a map there.",
};

/* The box of lane l; false after a fault. */
static bool read_box(struct warp *w, const struct insn *in, const struct warp_opnd *o, uint32_t l,
                     struct tma_box *box) {
    const struct bulk_form *f = in->data;
    const struct warp_opnd *v = &o->more->sub[0];
    const struct ptx_var *var = o->more->src->kind == PTX_OPND_MEM ? o->more->src->var : NULL;
    struct warp_loc loc;
    if (!warp_known(w, in, 1u << l, o, "the address of the tensor map") ||
        !warp_resolve(w, in, l, var && var->space == PTX_SPACE_PARAM ? XS_PARAM : XS_GENERIC, warp_address(w, o, l),
                      TMAP_BYTES, TMAP_ALIGN, false, &loc))
        return false;
    if (loc.space != XS_GLOBAL && loc.space != XS_PARAM)
        return warp_fails(w, in, 1u << l, &map_space, "lane %u gives a tensor map in %s memory", l,
                          loc.space == XS_LOCAL ? "local" : "shared");
    *box = (struct tma_box){.map = loc.host,
                            .map_address = loc.space == XS_GLOBAL ? warp_address(w, o, l) : 0,
                            .rank = f->rank,
                            .rows4 = f->gather4 || f->scatter4};
    for (uint32_t i = 0; i < v->num_sub; i++) {
        if (!warp_known(w, in, 1u << l, &v->more->sub[i], "a tensor coordinate"))
            return false;
        box->coord[i] = (int32_t)warp_u32(w, &v->more->sub[i], l);
    }
    return true;
}

/* Destination, mbarrier and mask of lane l. */
static bool read_target(struct warp *w, const struct insn *in, const struct warp_opnd *dst,
                        const struct warp_opnd *mbar, const struct warp_opnd *mask, uint32_t l, struct tma_target *to) {
    const struct bulk_form *f = in->data;
    if (!warp_known(w, in, 1u << l, dst, "the destination address") ||
        !warp_known(w, in, 1u << l, mbar, "the address of the mbarrier") ||
        (f->multicast && !warp_known(w, in, 1u << l, mask, "the multicast mask")))
        return false;
    *to = (struct tma_target){.dst = (uint32_t)warp_address(w, dst, l),
                              .mbar = (uint32_t)warp_address(w, mbar, l),
                              .cta_group = f->cta_group == 2 ? 2 : 1,
                              .own = f->dst == PTX_MOD_shared__cta,
                              .multicast = f->multicast,
                              .ctas = f->multicast ? warp_u32(w, mask, l) & 0xffff : 0};
    return true;
}

/* --- tensor copies ------------------------------------------------------------------------------------------------ */

static enum warp_status do_tensor_load(struct warp *w, const struct insn *in, uint32_t mask) {
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        struct tma_box box;
        struct tma_target to;
        if (!read_box(w, in, &in->o[1], l, &box) || !read_target(w, in, &in->o[0], &in->o[2], &in->o[3], l, &to) ||
            !tma_issue_load(w->cta, &origin, &box, &to))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}

static enum warp_status do_tensor_store(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct bulk_form *f = in->data;
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        struct tma_box box;
        if (!read_box(w, in, &in->o[0], l, &box) || !warp_known(w, in, 1u << l, &in->o[1], "the source address") ||
            !tma_issue_store(w->cta, &origin, &box, (uint32_t)warp_address(w, &in->o[1], l), f->op,
                             isa_group_open(w, ASYNC_BULK, l)))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}

/* A hint: caches are not modelled. The operands must nevertheless make sense. */
static enum warp_status do_tensor_prefetch(struct warp *w, const struct insn *in, uint32_t mask) {
    WARP_FOR_LANES(l, mask) {
        struct tma_box box;
        if (!read_box(w, in, &in->o[0], l, &box))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}

static bool bind_tensor_load(struct isa_binder *b, struct insn *in, const struct isa_words *k) {
    const struct bulk_form *f = in->data;
    in->fn = do_tensor_load;
    if (f->dst == PTX_MOD_shared__cta && f->multicast)
        return isa_refuse(b, ".multicast::cluster needs .shared::cluster");
    return f->dst != PTX_MOD_global && k->of[PTX_KIND_completion] == PTX_MOD_mbarrier__complete_tx__bytes &&
           !f->scatter4 && in->num_opnds == 3u + f->multicast + f->hint && is_tensor(&in->o[1], f);
}

static bool bind_tensor_store(struct insn *in, const struct isa_words *k) {
    const struct bulk_form *f = in->data;
    in->fn = do_tensor_store;
    return f->dst == PTX_MOD_global && f->src == PTX_MOD_shared__cta &&
           k->of[PTX_KIND_completion] == PTX_MOD_bulk_group && !f->multicast && !f->cta_group && !f->gather4 &&
           !(f->op != NUM_OP_NONE && f->scatter4) && in->num_opnds == 2u + f->hint && is_tensor(&in->o[0], f);
}

static bool bind_tensor_prefetch(struct insn *in, const struct isa_words *k) {
    const struct bulk_form *f = in->data;
    in->fn = do_tensor_prefetch;
    return f->dst == PTX_MOD_global && !f->src && !k->of[PTX_KIND_completion] && !f->multicast && !f->cta_group &&
           !f->scatter4 && in->num_opnds == 1u + f->hint && is_tensor(&in->o[0], f);
}

bool isa_bind_tensor_copy(struct isa_binder *b, struct insn *in) {
    const enum ptx_op op = in->src->op;
    const bool prefetch = op == PTX_OP_cp_async_bulk_prefetch_tensor, reduce = op == PTX_OP_cp_reduce_async_bulk_tensor;
    struct isa_words k;
    const struct bulk_form *f =
        form_of(b, in, ISA_WORDS(BULK_WORDS, ISA_ANY(dimension), ISA_ANY(mode), ISA_ANY(cta_group)), &k);
    if (!f)
        return false;
    if (k.of[PTX_KIND_mode] && k.of[PTX_KIND_mode] != PTX_MOD_tile && !f->gather4 && !f->scatter4)
        return isa_refuse(b, "im2col modes are not supported");
    if (!f->rank || reduce != (f->op != NUM_OP_NONE) || prefetch != (k.of[PTX_KIND_level] != 0))
        return false;
    if ((f->gather4 || f->scatter4) && f->rank != 2)
        return isa_refuse(b, "gather4 and scatter4 are .2d");
    if (prefetch)
        return bind_tensor_prefetch(in, &k);
    return !reduce && f->src == PTX_MOD_global ? bind_tensor_load(b, in, &k) : bind_tensor_store(in, &k);
}

/* --- bulk copies of contiguous bytes ------------------------------------------------------------------------------ */

static enum warp_status do_bulk_load(struct warp *w, const struct insn *in, uint32_t mask) {
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        struct tma_target to;
        if (!warp_known(w, in, 1u << l, &in->o[1], "the source address") ||
            !warp_known(w, in, 1u << l, &in->o[2], "the size") ||
            !read_target(w, in, &in->o[0], &in->o[3], &in->o[4], l, &to) ||
            !tma_issue_bulk_load(w->cta, &origin, warp_address(w, &in->o[1], l), warp_u32(w, &in->o[2], l), &to))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}

static enum warp_status do_bulk_peer(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct bulk_form *f = in->data;
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        if (!warp_known(w, in, 1u << l, &in->o[0], "the destination address") ||
            !warp_known(w, in, 1u << l, &in->o[1], "the source address") ||
            !warp_known(w, in, 1u << l, &in->o[2], "the size") ||
            !warp_known(w, in, 1u << l, &in->o[3], "the address of the mbarrier") ||
            !tma_issue_bulk_peer(w->cta, &origin, (uint32_t)warp_address(w, &in->o[0], l),
                                 (uint32_t)warp_address(w, &in->o[1], l), warp_u32(w, &in->o[2], l),
                                 (uint32_t)warp_address(w, &in->o[3], l), f->op, f->type))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}

static enum warp_status do_bulk_store(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct bulk_form *f = in->data;
    const struct warp_opnd *bytes = f->cp_mask ? &in->o[3 + f->hint] : NULL;
    WARP_FOR_LANES(l, mask) {
        struct mach_origin origin = warp_origin(w, in, 1u << l);
        if (!warp_known(w, in, 1u << l, &in->o[0], "the destination address") ||
            !warp_known(w, in, 1u << l, &in->o[1], "the source address") ||
            !warp_known(w, in, 1u << l, &in->o[2], "the size") ||
            (bytes && !warp_known(w, in, 1u << l, bytes, "the byte mask")) ||
            !tma_issue_bulk_store(w->cta, &origin, warp_address(w, &in->o[0], l),
                                  (uint32_t)warp_address(w, &in->o[1], l), warp_u32(w, &in->o[2], l),
                                  bytes ? (uint16_t)warp_u32(w, bytes, l) : 0xffff, f->op, f->type,
                                  isa_group_open(w, ASYNC_BULK, l)))
            return WARP_FAULT;
    }
    return WARP_NEXT;
}

static enum warp_status do_bulk_prefetch(struct warp *w, const struct insn *in, uint32_t mask) {
    WARP_FOR_LANES(l, mask)
    if (!warp_known(w, in, 1u << l, &in->o[0], "the source address") ||
        !warp_known(w, in, 1u << l, &in->o[1], "the size"))
        return WARP_FAULT;
    return WARP_NEXT;
}

/* add.f16 and add.bf16 must say .noftz, and nothing else may (9.7.9.25.4.2). */
static bool reduction(struct isa_binder *b, const struct bulk_form *f, bool noftz) {
    const bool half_add = f->op == NUM_OP_ADD && (f->type == TMA_E_F16 || f->type == TMA_E_BF16);
    if (f->op == NUM_OP_NONE)
        return f->type == TMA_E_NONE && !noftz;
    if (!tma_reduce_exists(f->op, f->type, f->dst != PTX_MOD_global, false))
        return isa_refuse(b, "this reduction is not defined for the element type and destination");
    return noftz == half_add || isa_refuse(b, ".noftz goes with add.f16 and add.bf16, which need it");
}

static bool bind_bulk_prefetch(struct insn *in, const struct isa_words *k) {
    const struct bulk_form *f = in->data;
    in->fn = do_bulk_prefetch;
    return k->of[PTX_KIND_level] && f->dst == PTX_MOD_global && !f->src && in->num_opnds == 2u + f->hint &&
           !k->of[PTX_KIND_completion] && !f->multicast && !f->cp_mask;
}

static bool bind_bulk_store(struct insn *in, const struct isa_words *k) {
    const struct bulk_form *f = in->data;
    in->fn = do_bulk_store;
    return f->src == PTX_MOD_shared__cta && k->of[PTX_KIND_completion] == PTX_MOD_bulk_group && !f->multicast &&
           in->num_opnds == 3u + f->hint + f->cp_mask && (!f->cp_mask || f->op == NUM_OP_NONE);
}

static bool bind_bulk_load(struct insn *in, const struct isa_words *k) {
    const struct bulk_form *f = in->data;
    const unsigned n = in->num_opnds;
    if (k->of[PTX_KIND_completion] != PTX_MOD_mbarrier__complete_tx__bytes || f->cp_mask || n < 4)
        return false;
    if (f->src == PTX_MOD_shared__cta) {
        in->fn = do_bulk_peer;
        return f->dst == PTX_MOD_shared__cluster && n == 4 && !f->multicast && !f->hint;
    }
    in->fn = do_bulk_load;
    return f->src == PTX_MOD_global && f->op == NUM_OP_NONE && n == 4u + f->multicast + f->hint &&
           (!f->multicast || f->dst == PTX_MOD_shared__cluster);
}

bool isa_bind_bulk_copy(struct isa_binder *b, struct insn *in) {
    const enum ptx_op op = in->src->op;
    struct isa_words k;
    const struct bulk_form *f =
        form_of(b, in, ISA_WORDS(BULK_WORDS, ISA_ANY(type), PTX_MOD_cp_mask, PTX_MOD_noftz), &k);
    if (!f || (f->op != NUM_OP_NONE) != (op == PTX_OP_cp_reduce_async_bulk))
        return false;
    if (op == PTX_OP_cp_async_bulk_prefetch)
        return bind_bulk_prefetch(in, &k);
    if (k.of[PTX_KIND_level] || !reduction(b, f, ptx_has(in->src, PTX_MOD_noftz)))
        return false;
    return f->dst == PTX_MOD_global ? bind_bulk_store(in, &k) : bind_bulk_load(in, &k);
}

/* --- bulk async-groups (9.7.9.27.2) ------------------------------------------------------------------------------- */

static enum warp_status do_commit(struct warp *w, const struct insn *in, uint32_t mask) {
    isa_group_commit(w, in, ASYNC_BULK, mask);
    return WARP_NEXT;
}

static enum warp_status do_wait(struct warp *w, const struct insn *in, uint32_t mask) {
    return isa_group_wait(w, in, mask, ASYNC_BULK, (uint32_t)in->aux, ptx_has(in->src, PTX_MOD_read));
}

bool isa_bind_bulk_group(struct isa_binder *b, struct insn *in) {
    (void)b;
    const bool wait = in->src->op == PTX_OP_cp_async_bulk_wait_group, read = ptx_has(in->src, PTX_MOD_read);
    in->fn = wait ? do_wait : do_commit;
    if (in->src->num_mods != (wait && read))
        return false;
    in->aux = wait ? (uint32_t)in->o[0].more->src->imm : 0;
    return true;
}
