/* isa/bind.c - which family gives an instruction its meaning, and the refusal of those that none knows. */
#include "isa/tell.h"
#include "simd/simd.h"

#include <stdio.h>

static const isa_bind_fn binders[PTX_FAMILY_COUNT] = {
#define FAMILY(name) [PTX_FAMILY_##name] = isa_bind_##name,
#include "ptx/families.def"
#undef FAMILY
};

#if defined(__x86_64__)
#define F(name)                                                                                                        \
    bool isa_bind_##name##_avx2(struct isa_binder *b, struct insn *in);                                                \
    bool isa_bind_##name##_avx512(struct isa_binder *b, struct insn *in);
ISA_UNIT_FAMILIES(F)
#undef F
#define F(name) [PTX_FAMILY_##name] = {isa_bind_##name##_avx2, isa_bind_##name##_avx512},
static const isa_bind_fn unit_binders[PTX_FAMILY_COUNT][2] = {ISA_UNIT_FAMILIES(F)};
#undef F

static isa_bind_fn binder_of(enum ptx_family family, enum simd unit) {
    const isa_bind_fn fn = unit >= SIMD_AVX2 ? unit_binders[family][unit >= SIMD_AVX512] : NULL;
    return fn ? fn : binders[family];
}

extern const struct chain_links isa_chain_links_avx2, isa_chain_links_avx512;
const struct chain_links *isa_chain_links(uint32_t unit) {
    return unit >= SIMD_AVX512 ? &isa_chain_links_avx512 : unit == SIMD_AVX2 ? &isa_chain_links_avx2 : NULL;
}
#else
const struct chain_links *isa_chain_links(uint32_t unit) {
    (void)unit;
    return NULL;
}

static isa_bind_fn binder_of(enum ptx_family family, enum simd unit) {
    (void)unit;
    return binders[family];
}
#endif

uint32_t isa_unit(const struct gpu *gpu) { return simd_best((enum simd)gpu->config.host_vectors); }

DIAG(unsupported) = {
    .id = "unsupported-instruction",
    .rule = "the emulator executes every form as the PTX ISA states, or refuses it by name",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
    .reason = "the emulator does not support it.",
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

/* Is it of those whose handlers work on registers, load and store, copy or arrive, and leave control and waiting alone?
 * What reads the clock is, too: the core counts before each instruction. */
static bool is_straight(const struct insn *in) {
    const enum ptx_family f = ptx_op_family(in->src->op);
    return (ptx_op_computes(in->src->op) || f == PTX_FAMILY_address || f == PTX_FAMILY_convert ||
            f == PTX_FAMILY_memory || f == PTX_FAMILY_cp_async || in->src->op == PTX_OP_mbarrier_arrive) &&
           !in->aligned;
}

void isa_bind(struct warp_module *m, struct warp_func *f, struct insn *in) {
    struct isa_binder b = {.arena = &m->arena, .func = f};
    isa_bind_fn fn = binder_of(ptx_op_family(in->src->op), (enum simd)m->simd);
    if (ptx_has(in->src, PTX_MOD_unknown) || !fn || !isa_judge_operands(&b, in) || !fn(&b, in)) {
        in->data = b.why;
        isa_bind_refused(in);
        return;
    }
    in->straight = is_straight(in);
    isa_read_semantics(in);
    for (unsigned i = 0; i < WARP_FAST_OPNDS && i < in->num_opnds; i++) {
        const warp_slot s = in->o[i].slot;
        if (in->o[i].kind != WARP_SLOT && in->o[i].kind != WARP_FUNC)
            continue;
        in->from[i] = s < 0;
        in->at[i] = (s < 0 ? ~s : s) * (int32_t)(MACH_WARP * sizeof(uint32_t));
        in->poison[i] = (uint32_t)(s < 0 ? f->clean : s);
    }
}
