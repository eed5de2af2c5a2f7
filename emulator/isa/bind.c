/* isa/bind.c - which family gives an instruction its meaning, and the refusal of those that none knows. */
#include "isa/isa.h"

#include <stdio.h>

static const isa_bind_fn binders[PTX_FAMILY_COUNT] = {
#define FAMILY(name) [PTX_FAMILY_##name] = isa_bind_##name,
#include "ptx/families.def"
#undef FAMILY
};

DIAG(unsupported) = {
    .id = "unsupported-instruction",
    .rule = "every instruction form is either executed as the PTX ISA states or refused by name",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
    .reason = "the emulator does not have it, and says so instead of guessing.",
};

static enum warp_status do_refuse(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct diag_site *s = &in->src->site;
    struct diag d = unsupported;
    d.section = NULL;
    char section[64], where[600];
    if (in->src->op != PTX_OP_unknown) {
        snprintf(section, sizeof section, "PTX ISA %s", ptx_op_section(in->src->op));
        d.section = section;
    }
    const char *why = in->data;
    return warp_fault(w, in, mask, &d, "unsupported: %s at %s%s%s", s->ptx_text, diag_where(s, where, sizeof where),
                      why ? ": " : "", why ? why : "");
}

void isa_bind_refused(struct insn *in) {
    in->fn = do_refuse;
    in->aligned = false; /* the refusal comes first */
}

void isa_bind(struct warp_module *m, struct warp_func *f, struct insn *in) {
    struct isa_binder b = {.arena = &m->arena, .func = f};
    isa_bind_fn fn = binders[ptx_op_family(in->src->op)];
    if (ptx_has(in->src, PTX_MOD_unknown) || !fn || !isa_judge_operands(&b, in) || !fn(&b, in)) {
        in->data = b.why;
        isa_bind_refused(in);
    }
}
