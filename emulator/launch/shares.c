/* launch/shares.c - can clusters of a kernel see the acts of others while they run?
 *
 * Clusters meet only in global memory. Weak accesses do not synchronise (PTX ISA 8.9): a kernel has a data race if one
 * cluster reads with them what another writes. So clusters can run separately, each to its end, unless the kernel has
 * strong accesses to memory that may be global (8.4: .volatile, .relaxed, .acquire, .release, .mmio; atomics and
 * reductions) or fences wider than a cluster. Work that they take from the grid (clusterlaunchcontrol) is handed out
 * between their turns.
 */
#include "launch/state.h"

static bool has_any(const struct ptx_insn *in, const enum ptx_mod *mods, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ptx_has(in, mods[i]))
            return true;
    return false;
}
#define HAS_ANY(in, ...)                                                                                               \
    has_any(in, (const enum ptx_mod[]){__VA_ARGS__}, sizeof((const enum ptx_mod[]){__VA_ARGS__}) / sizeof(enum ptx_mod))

/* Is the address in a state space of one cluster or thread? */
static bool is_private(const struct ptx_insn *in) {
    return HAS_ANY(in, PTX_MOD_shared, PTX_MOD_shared__cta, PTX_MOD_shared__cluster, PTX_MOD_local, PTX_MOD_param,
                   PTX_MOD_const);
}

static bool is_narrow(const struct ptx_insn *in) { return HAS_ANY(in, PTX_MOD_cta, PTX_MOD_cluster); }

/* Can the instruction meet an act of another cluster? */
static bool insn_shares(const struct ptx_insn *in) {
    switch (in->op) {
    case PTX_OP_ld:
    case PTX_OP_st:
        return HAS_ANY(in, PTX_MOD_volatile, PTX_MOD_relaxed, PTX_MOD_acquire, PTX_MOD_release, PTX_MOD_mmio) &&
               !is_private(in) && !is_narrow(in);
    case PTX_OP_atom:
    case PTX_OP_red:
        return !is_private(in);
    case PTX_OP_cp_reduce_async_bulk:
        return ptx_has(in, PTX_MOD_global);
    case PTX_OP_cp_reduce_async_bulk_tensor:
        return true;
    case PTX_OP_membar:
    case PTX_OP_membar_proxy:
    case PTX_OP_fence:
    case PTX_OP_fence_proxy:
        return HAS_ANY(in, PTX_MOD_gpu, PTX_MOD_gl, PTX_MOD_sys);
    default:
        return false;
    }
}

/* Is it a call of one of the module's own functions, or of one that uses the device's heap? */
static bool calls_out(const struct ptx_insn *in) {
    if (in->op != PTX_OP_call)
        return false;
    const struct ptx_func *f = in->operands[1].kind == PTX_OPND_FUNC ? in->operands[1].func : NULL;
    return !f || !f->is_extern || (strcmp(f->name, "vprintf") != 0 && strcmp(f->name, "__assertfail") != 0);
}

static bool func_shares(const struct ptx_func *f, bool *calls) {
    for (uint32_t i = 0; i < f->num_insns; i++) {
        if (insn_shares(&f->insns[i]))
            return true;
        *calls |= calls_out(&f->insns[i]);
    }
    return false;
}

bool launch_kernel_shares(const struct warp_func *kernel) {
    const struct ptx_module *m = kernel->module->ptx;
    bool calls = false;
    if (func_shares(kernel->src, &calls))
        return true;
    for (uint32_t i = 0; calls && i < m->num_funcs; i++) {
        const struct ptx_func *f = m->funcs[i];
        bool heap = f->is_extern && (strcmp(f->name, "malloc") == 0 || strcmp(f->name, "free") == 0);
        if (heap || (!f->is_entry && func_shares(f, &calls)))
            return true;
    }
    return false;
}

typedef bool asks(const struct ptx_insn *in, enum ptx_mod word);

static bool func_has(const struct ptx_func *f, asks *is_such, enum ptx_mod word, bool *calls) {
    for (uint32_t i = 0; i < f->num_insns; i++) {
        if (is_such(&f->insns[i], word))
            return true;
        *calls |= calls_out(&f->insns[i]);
    }
    return false;
}

/* Has the kernel, or a function of its module that it may call, such an instruction? */
static bool kernel_has(const struct warp_func *kernel, asks *is_such, enum ptx_mod word) {
    const struct ptx_module *m = kernel->module->ptx;
    bool calls = false, has = func_has(kernel->src, is_such, word, &calls);
    for (uint32_t i = 0; calls && !has && i < m->num_funcs; i++)
        has = !m->funcs[i]->is_entry && func_has(m->funcs[i], is_such, word, &calls);
    return has;
}

static bool is_griddepcontrol(const struct ptx_insn *in, enum ptx_mod action) {
    return in->op == PTX_OP_griddepcontrol && ptx_has(in, action);
}

bool launch_kernel_has(const struct warp_func *kernel, enum ptx_mod action) {
    return kernel_has(kernel, is_griddepcontrol, action);
}

/* Is the instruction of a family that an engine serves, or that waits for an engine? */
static bool is_async(const struct ptx_insn *in, enum ptx_mod word) {
    (void)word;
    const enum ptx_family f = ptx_op_family(in->op);
    return (f >= PTX_FAMILY_cp_async && f <= PTX_FAMILY_tensormap_fence) || f >= PTX_FAMILY_tcgen05_alloc ||
           f == PTX_FAMILY_mbarrier || f == PTX_FAMILY_cancel || f == PTX_FAMILY_none;
}

bool launch_kernel_is_plain(const struct warp_func *kernel) { return !kernel_has(kernel, is_async, PTX_MOD_unknown); }
