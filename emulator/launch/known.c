/* launch/known.c - contract in known.h. */
#include "launch/known.h"

static bool of_registers(const struct insn *in) {
    switch (ptx_op_family(in->src->op)) {
    case PTX_FAMILY_address:
    case PTX_FAMILY_convert:
    case PTX_FAMILY_mma:
        return true;
    case PTX_FAMILY_control:
        return in->src->op == PTX_OP_bra || in->src->op == PTX_OP_brx_idx;
    case PTX_FAMILY_memory:
        return ptx_has(in->src, PTX_MOD_param) || ptx_has(in->src, PTX_MOD_const);
    default:
        return ptx_op_computes(in->src->op);
    }
}

/* Weak loads and stores. Others notice them only by a later synchronisation, but in global memory they take time that
 * depends on other warps'. */
static bool is_weak(const struct ptx_insn *src) {
    return (src->op == PTX_OP_ld || src->op == PTX_OP_st) && !ptx_has(src, PTX_MOD_shared__cluster) &&
           !ptx_has(src, PTX_MOD_volatile) && !ptx_has(src, PTX_MOD_relaxed) && !ptx_has(src, PTX_MOD_acquire) &&
           !ptx_has(src, PTX_MOD_release);
}

/* Weak accesses to shared memory, and what orders memory alone: others notice them only by a later synchronisation,
 * which runs at its own time. */
static bool of_order(const struct insn *in) {
    const struct ptx_insn *src = in->src;
    const bool own = ptx_has(src, PTX_MOD_shared) || ptx_has(src, PTX_MOD_shared__cta) || ptx_has(src, PTX_MOD_local);
    return is_weak(src) ? own : src->op == PTX_OP_fence ? !ptx_has(src, PTX_MOD_sc) : src->op == PTX_OP_bar_warp_sync;
}

struct known launch_known(const struct insn *in, struct mach_cost cost) {
    const bool registers = (cost.registers && of_registers(in)) || of_order(in);
    return (struct known){in, cost, registers, !registers && is_weak(in->src)};
}
