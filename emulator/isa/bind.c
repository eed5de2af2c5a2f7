/* isa/bind.c - which family gives an instruction its meaning, and the refusal of those that none knows. */
#include "isa/isa.h"

#include <stdio.h>

enum warp_space isa_space_of(const struct ptx_insn *in) {
    for (unsigned i = 0; i < in->num_mods; i++)
        switch ((enum ptx_mod)in->mods[i]) {
        case PTX_MOD_global:
            return XS_GLOBAL;
        case PTX_MOD_shared:
        case PTX_MOD_shared__cta:
            return XS_SHARED_CTA;
        case PTX_MOD_shared__cluster:
            return XS_SHARED_CLUSTER;
        case PTX_MOD_local:
            return XS_LOCAL;
        case PTX_MOD_const:
            return XS_CONST;
        case PTX_MOD_param:
        case PTX_MOD_param__entry:
        case PTX_MOD_param__func:
            return XS_PARAM;
        default:
            break;
        }
    return XS_GENERIC;
}

/* By section of the ISA: a new opcode finds its room here. */
/* clang-format off */
static isa_bind_fn family(enum ptx_op op) {
    switch (op) {
    case PTX_OP_and: case PTX_OP_or: case PTX_OP_xor: case PTX_OP_not: case PTX_OP_cnot: case PTX_OP_lop3:
    case PTX_OP_shf: case PTX_OP_shl: case PTX_OP_shr:
        return isa_bind_logic;
    case PTX_OP_set: case PTX_OP_setp: case PTX_OP_selp: case PTX_OP_slct:
        return isa_bind_compare;
    case PTX_OP_cvt: case PTX_OP_cvt_pack:
        return isa_bind_cvt;
    case PTX_OP_mov: case PTX_OP_prmt: case PTX_OP_isspacep: case PTX_OP_cvta: case PTX_OP_mapa: case PTX_OP_getctarank:
        return isa_bind_move;
    case PTX_OP_ld: case PTX_OP_ldu: case PTX_OP_st: case PTX_OP_prefetch: case PTX_OP_prefetchu:
    case PTX_OP_applypriority: case PTX_OP_discard: case PTX_OP_createpolicy: case PTX_OP_ldmatrix: case PTX_OP_stmatrix: case PTX_OP_movmatrix:
    case PTX_OP_st_bulk:
        return isa_bind_memory;
    case PTX_OP_mma:
        return isa_bind_mma_sync;
    case PTX_OP_atom: case PTX_OP_red:
        return isa_bind_atomic;
    case PTX_OP_bra: case PTX_OP_brx_idx: case PTX_OP_call: case PTX_OP_ret: case PTX_OP_exit: case PTX_OP_trap:
    case PTX_OP_brkpt:
        return isa_bind_control;
    case PTX_OP_bar: case PTX_OP_barrier: case PTX_OP_barrier_cluster_arrive: case PTX_OP_barrier_cluster_wait:
    case PTX_OP_membar: case PTX_OP_membar_proxy: case PTX_OP_fence: case PTX_OP_fence_proxy:
    case PTX_OP_fence_mbarrier_init:
        return isa_bind_barrier;
    case PTX_OP_mbarrier_init: case PTX_OP_mbarrier_inval: case PTX_OP_mbarrier_expect_tx:
    case PTX_OP_mbarrier_complete_tx: case PTX_OP_mbarrier_arrive: case PTX_OP_mbarrier_arrive_drop:
    case PTX_OP_mbarrier_test_wait: case PTX_OP_mbarrier_try_wait: case PTX_OP_mbarrier_pending_count:
        return isa_bind_mbarrier;
    case PTX_OP_bar_warp_sync: case PTX_OP_shfl_sync: case PTX_OP_shfl: case PTX_OP_vote: case PTX_OP_vote_sync:
    case PTX_OP_match_sync: case PTX_OP_activemask: case PTX_OP_redux_sync: case PTX_OP_elect_sync:
        return isa_bind_warp;
    case PTX_OP_cp_async_bulk: case PTX_OP_cp_reduce_async_bulk: case PTX_OP_cp_async_bulk_prefetch:
    case PTX_OP_cp_async_bulk_tensor: case PTX_OP_cp_reduce_async_bulk_tensor:
    case PTX_OP_cp_async_bulk_prefetch_tensor: case PTX_OP_cp_async_bulk_commit_group:
    case PTX_OP_cp_async_bulk_wait_group:
        return isa_bind_bulk;
    case PTX_OP_cp_async: case PTX_OP_cp_async_commit_group: case PTX_OP_cp_async_wait_group:
    case PTX_OP_cp_async_wait_all: case PTX_OP_cp_async_mbarrier_arrive:
        return isa_bind_cp_async;
    case PTX_OP_tensormap_replace: case PTX_OP_tensormap_cp_fenceproxy:
        return isa_bind_tensormap;
    case PTX_OP_griddepcontrol: case PTX_OP_clusterlaunchcontrol_try_cancel:
    case PTX_OP_clusterlaunchcontrol_query_cancel: case PTX_OP_setmaxnreg:
        return isa_bind_grid;
    case PTX_OP_nanosleep: case PTX_OP_pmevent:
        return isa_bind_misc;
    default:
        break;
    }
    if (op >= PTX_OP_tcgen05_alloc && op <= PTX_OP_tcgen05_commit)
        return isa_bind_tcgen05;
    return NULL;
}
/* clang-format on */

static const struct diag unsupported = {
    .id = "unsupported-instruction",
    .rule = "every instruction form is either executed as the PTX ISA states or refused by name",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
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

/* The integer and floating-point families share opcodes (add, mul, min, ...): the first type decides. */
static isa_bind_fn arithmetic(const struct ptx_insn *p) {
    switch (ptx_insn_type(p, 0)) {
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_F32:
    case PTX_F64:
    case PTX_F32X2:
        return isa_bind_float;
    default:
        return isa_bind_integer;
    }
}

void isa_bind(struct warp_module *m, struct warp_func *f, struct insn *in) {
    struct isa_binder b = {.arena = &m->arena, .func = f};
    enum ptx_op op = in->src->op;
    isa_bind_fn fn = family(op);
    if (!fn && op >= PTX_OP_add && op <= PTX_OP_tanh)
        fn = arithmetic(in->src);
    bool known = true;
    for (unsigned i = 0; i < in->src->num_mods; i++)
        known &= in->src->mods[i] != PTX_MOD_unknown;
    if (!known || !fn || !fn(&b, in)) {
        in->data = b.why;
        isa_bind_refused(in);
    }
}
