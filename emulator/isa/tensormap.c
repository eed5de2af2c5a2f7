/* isa/tensormap.c - tensor maps that a kernel changes: tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.7.9.28,
 * 9.7.13.16). Copies read a map when they run, so that the proxy fences around these have nothing to do here.
 */
#include "engines/tensormap.h"
#include "base/relaxed.h"
#include "isa/form.h"
#include "isa/tell.h"

DIAG(bad_replace) = {
    DIAG_HEAD(ERROR, "tensormap-replace", "9.7.9.28"),
    .rule = "tensormap.replace changes a field of a tensor map in global memory or the CTA's own shared memory",
    .hint = "Copy a whole tensor map there first, and check the field, its ordinal and its value",
    .reason = "the map has no such field or value.",
};
DIAG(bad_fenceproxy) = {
    DIAG_HEAD(ERROR, "tensormap-cp-fenceproxy", "9.7.13.16"),
    .rule = "tensormap.cp_fenceproxy copies a whole tensor map from shared to global memory",
    .hint = "Write all of the map before: copy a map of the host there, then change its fields by tensormap.replace",
    .reason = "the bytes that arrive are not a tensor map.",
};

struct replace_form {
    enum tmap_field field;
    enum warp_space space;
    uint32_t ord;
    const struct warp_opnd *value;
};

/* All that copies read of a map in shared memory was written. */
static bool written(const struct warp *w, uint32_t l, struct warp_loc loc) {
    for (uint32_t i = 0; i < TMAP_READ; i += 32, loc.off += 32, loc.host += 32)
        if (warp_loc_poison(w, l, &loc, 32))
            return false;
    return true;
}

static enum warp_status do_replace(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct replace_form *f = in->data;
    if (!warp_known(w, in, mask, f->value, "the new value") || !warp_address_known(w, in, &in->o[0], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        struct warp_loc loc;
        uint64_t v = f->value->is_imm       ? f->value->more->src->imm
                     : f->value->bits == 64 ? warp_src64(w, f->value->slot)[l]
                                            : warp_src32(w, f->value->slot)[l];
        if (!warp_resolve(w, in, l, f->space, warp_address(w, &in->o[0], l), TMAP_BYTES, TMAP_ALIGN, true, &loc))
            return WARP_FAULT;
        const char *why = NULL;
        if (loc.space != XS_GLOBAL && (loc.space != XS_SHARED_CTA || loc.cta != w->cta))
            why = "the address is in another state space";
        else if (loc.space == XS_SHARED_CTA && !written(w, l, loc))
            why = "the map's first 64 bytes are not all written";
        else
            why = tmap_replace(loc.host, f->field, f->ord, v);
        if (why)
            return warp_fault(w, in, 1u << l, &bad_replace, "lane %u: %s", l, why);
        isa_saw_loc(w, in, &loc, warp_address(w, &in->o[0], l), TMAP_BYTES, l, EFFECT_WRITE);
    }
    return WARP_NEXT;
}

static enum warp_status do_fenceproxy(struct warp *w, const struct insn *in, uint32_t mask) {
    if (!warp_address_known(w, in, &in->o[0], mask) || !warp_address_known(w, in, &in->o[1], mask))
        return WARP_FAULT;
    WARP_FOR_LANES(l, mask) {
        struct warp_loc to, from;
        if (!warp_resolve(w, in, l, XS_GLOBAL, warp_address(w, &in->o[0], l), TMAP_BYTES, TMAP_ALIGN, true, &to) ||
            !warp_resolve(w, in, l, XS_SHARED_CTA, warp_address(w, &in->o[1], l), TMAP_BYTES, TMAP_ALIGN, false, &from))
            return WARP_FAULT;
        if (!written(w, l, from))
            return warp_fault(w, in, 1u << l, &bad_fenceproxy,
                              "lane %u: the map's first 64 bytes, at shared 0x%x, are not all written", l, from.off);
        relaxed_write(to.host, from.host, TMAP_BYTES);
        isa_saw_loc(w, in, &from, 0, TMAP_BYTES, l, EFFECT_READ);
        isa_saw_loc(w, in, &to, warp_address(w, &in->o[0], l), TMAP_BYTES, l, EFFECT_WRITE);
        const struct event_sync fence = {.kind = SYNC_FENCE,
                                         .fence = FENCE_PROXY_TENSORMAP,
                                         .space = FENCE_GLOBAL,
                                         .map = warp_address(w, &in->o[0], l)};
        isa_saw_sync(w, in, 1u << l, WANT_FENCE, fence);
    }
    return WARP_NEXT;
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

static const struct {
    enum ptx_mod word;
    enum tmap_field field;
    bool wide, ordinal, immediate;
} fields[] = {
    {PTX_MOD_global_address, TMAP_FIELD_ADDRESS, true, false, false},
    {PTX_MOD_rank, TMAP_FIELD_RANK, false, false, false},
    {PTX_MOD_box_dim, TMAP_FIELD_BOX, false, true, false},
    {PTX_MOD_global_dim, TMAP_FIELD_DIM, false, true, false},
    {PTX_MOD_global_stride, TMAP_FIELD_STRIDE, true, true, false},
    {PTX_MOD_element_stride, TMAP_FIELD_STEP, false, true, false},
    {PTX_MOD_elemtype, TMAP_FIELD_TYPE, false, false, true},
    {PTX_MOD_interleave_layout, TMAP_FIELD_INTERLEAVE, false, false, true},
    {PTX_MOD_swizzle_mode, TMAP_FIELD_SWIZZLE, false, false, true},
    {PTX_MOD_swizzle_atomicity, TMAP_FIELD_ATOMICITY, false, false, true},
    {PTX_MOD_fill_mode, TMAP_FIELD_FILL, false, false, true},
};

/* .tile.FIELD{.ss}.b1024.TYPE */
bool isa_bind_tensormap(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *src = in->src;
    struct replace_form *f = arena_alloc(b->arena, sizeof *f);
    unsigned k = 0;
    while (src->num_mods > 1 && k < sizeof fields / sizeof *fields && fields[k].word != (enum ptx_mod)src->mods[1])
        k++;
    if (k == sizeof fields / sizeof *fields ||
        !isa_spelled(src, ISA_WORDS(PTX_MOD_tile, ISA_ANY(field), ISA_MORE(ISA_ANY(space)), PTX_MOD_b1024,
                                    fields[k].wide ? PTX_MOD_b64 : PTX_MOD_b32)))
        return isa_refuse(b, "the form is .tile.FIELD{.space}.b1024, and .b64 for addresses and strides, else .b32");
    f->space = isa_space((enum ptx_mod)src->mods[2]);
    if (f->space != XS_GENERIC && f->space != XS_GLOBAL && f->space != XS_SHARED_CTA)
        return isa_refuse(b, "a tensor map is in global or shared::cta memory");
    f->field = fields[k].field;
    if (in->num_opnds != 2u + fields[k].ordinal)
        return false;
    if (fields[k].ordinal) {
        if (in->o[1].more->src->imm > UINT32_MAX)
            return false;
        f->ord = (uint32_t)in->o[1].more->src->imm;
    }
    f->value = &in->o[1 + fields[k].ordinal];
    in->data = f;
    in->fn = do_replace;
    return f->value->is_imm || !fields[k].immediate;
}

/* .global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [dst], [src], 128 */
bool isa_bind_tensormap_fence(struct isa_binder *b, struct insn *in) {
    if (!isa_spelled(in->src, ISA_WORDS(PTX_MOD_global, PTX_MOD_shared__cta, PTX_MOD_tensormap__generic,
                                        PTX_MOD_release, ISA_ANY(scope), PTX_MOD_sync, PTX_MOD_aligned)))
        return isa_refuse(b, "the form is .global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned");
    in->aligned = true;
    in->fn = do_fenceproxy;
    return in->o[2].more->src->imm == TMAP_BYTES;
}
