/* lower/module.c - loading a module: variables into device memory, functions into slots; contract in lower.h. */
#include "base/heap.h"
#include "base/now.h"
#include "isa/isa.h"
#include "lower/parts.h"

#include <string.h>

static bool in_device_memory(const struct ptx_var *v) {
    return v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
}

DIAG(no_memory) = {
    .id = "module-memory",
    .rule = "the variables of a module must fit into device memory",
    .cuda_error = DIAG_CUDA_INVALID_PTX,
    .reason = "the chip's memory is limited, too.",
};

DIAG(late) = {
    .id = "module-timeout",
    .rule = "a module must load within the time that --timeout=SECONDS gives a launch",
    .hint = "Give it a longer --timeout: the module has very many or very large variables or functions",
    .cuda_error = DIAG_CUDA_INVALID_PTX,
    .reason = "a limit of the emulation, not of the module.",
};

/* Is the time over? deadline: by now_ns; 0: none. */
static bool is_late(const struct warp_module *m, uint64_t deadline, const char *at) {
    const bool over = deadline && now_ns() > deadline;
    if (over)
        diag_report(&m->gpu->sink, &late, "the module is not loaded after %.3f seconds, at %s",
                    (double)m->gpu->config.timeout / 1e9, at);
    return over;
}

static bool place_vars(struct warp_module *m, uint64_t deadline) {
    const struct ptx_module *p = m->ptx;
    m->var_addr = arena_array(&m->arena, p->num_vars + 1, sizeof *m->var_addr);
    for (uint32_t i = 0; i < p->num_vars; i++) {
        const struct ptx_var *v = p->vars[i];
        if (!in_device_memory(v) || v->is_extern)
            continue;
        if (is_late(m, deadline, v->name))
            return false;
        const enum mem_kind kind = v->managed ? MEM_MODULE_MANAGED : MEM_MODULE;
        m->var_addr[i] = mem_alloc(m->gpu->mem, v->size, v->align, kind, v->name);
        if (!m->var_addr[i]) {
            diag_report(&m->gpu->sink, &no_memory, "no room for %s (%llu bytes)", v->name, (unsigned long long)v->size);
            return false;
        }
        uint8_t *host = mem_at(m->gpu->mem, m->var_addr[i], v->size);
        if (v->size)
            memset(host, 0, v->size);
        if (v->init && v->size)
            memcpy(host, v->init, v->size);
    }
    return true;
}

/* Initialisers that are addresses: of variables, or of functions (5.4.4). */
static void relocate(struct warp_module *m) {
    const struct ptx_module *p = m->ptx;
    for (uint32_t i = 0; i < p->num_vars; i++) {
        const struct ptx_var *v = p->vars[i];
        for (uint32_t k = 0; k < v->num_relocs && m->var_addr[i]; k++) {
            const struct ptx_reloc *r = &v->relocs[k];
            const struct ptx_var *to = ptx_find_var(p, r->symbol);
            const struct ptx_func *fn = to ? NULL : ptx_find_func(p, r->symbol);
            uint64_t value = to ? m->var_addr[to->index] : fn ? WARP_CODE_ADDRESS(fn->index) : 0;
            value += (uint64_t)r->addend;
            uint8_t *at = mem_at(m->gpu->mem, m->var_addr[i] + r->offset, r->size);
            if (at && r->size <= sizeof value)
                memcpy(at, &value, r->size);
        }
    }
}

DIAG(bad_function) = {
    .id = "module-function",
    .rule = "a function's registers, parameters and local variables must fit the emulator's limits",
    .cuda_error = DIAG_CUDA_INVALID_PTX,
    .reason = "a limit of the emulator.",
};

struct warp_module *lower_module_load(struct gpu *gpu, struct ptx_module *ptx) {
    struct warp_module *m = xcalloc(1, sizeof *m);
    m->gpu = gpu;
    m->simd = isa_unit(gpu);
    m->ptx = ptx;
    const uint64_t deadline = gpu->config.timeout ? now_ns() + gpu->config.timeout : 0;
    bool ok = place_vars(m, deadline);
    m->funcs = arena_array(&m->arena, ptx->num_funcs + 1, sizeof *m->funcs);
    m->var_base = arena_array(&m->arena, ptx->num_funcs + 1, sizeof *m->var_base);
    m->num_dense_vars = ptx->num_vars;
    for (uint32_t i = 0; i < ptx->num_funcs; i++) {
        m->funcs[i].src = ptx->funcs[i];
        m->funcs[i].module = m;
        m->var_base[i] = m->num_dense_vars;
        m->num_dense_vars += ptx->funcs[i]->num_vars;
    }
    if (ok)
        relocate(m);
    for (uint32_t i = 0; ok && i < ptx->num_funcs; i++) {
        ok = !is_late(m, deadline, ptx->funcs[i]->name);
        if (!ok)
            break;
        ok = lower_func(m, &m->funcs[i]);
        if (!ok)
            diag_report(&gpu->sink, &bad_function, "%s is too large", ptx->funcs[i]->name);
    }
    if (ok)
        return m;
    lower_module_unload(m);
    return NULL;
}

void lower_module_unload(struct warp_module *m) {
    if (!m)
        return;
    for (uint32_t i = 0; m->var_addr && i < m->ptx->num_vars; i++)
        if (m->var_addr[i])
            mem_free(m->gpu->mem, m->var_addr[i]);
    arena_free(&m->arena);
    ptx_module_free(m->ptx);
    xfree(m);
}

const struct warp_func *lower_find_kernel(const struct warp_module *m, const char *name) {
    const struct ptx_func *f = ptx_find_func(m->ptx, name);
    return f && f->is_entry ? &m->funcs[f->index] : NULL;
}

const char *lower_kernel_name(const struct warp_module *m, uint32_t i) {
    for (uint32_t k = 0; k < m->ptx->num_funcs; k++)
        if (m->ptx->funcs[k]->is_entry && i-- == 0)
            return m->ptx->funcs[k]->name;
    return NULL;
}

void lower_set_registers(struct warp_module *m, const char *name, uint32_t registers) {
    const struct ptx_func *f = ptx_find_func(m->ptx, name);
    if (f)
        m->funcs[f->index].registers = registers;
}

bool lower_find_var(const struct warp_module *m, const char *name, uint64_t *addr, uint64_t *size) {
    const struct ptx_var *v = ptx_find_var(m->ptx, name);
    if (!v || !m->var_addr[v->index])
        return false;
    *addr = m->var_addr[v->index];
    *size = v->size;
    return true;
}

/* --- shared memory of a kernel ------------------------------------------------------------------------------------ */

/* Functions a kernel can reach: by name, or all of them when it calls through a pointer. */
static void reach(const struct warp_module *m, const struct warp_func *f, uint8_t *seen, uint32_t *stack) {
    uint32_t sp = 0;
    stack[sp++] = f->src->index;
    seen[f->src->index] = 1;
    while (sp) {
        const struct warp_func *g = &m->funcs[stack[--sp]];
        for (uint32_t i = 0; i < g->num_insns; i++) {
            const struct insn *in = &g->code[i];
            bool indirect = in->src->op == PTX_OP_call && in->num_opnds > 1 && in->o[1].kind == WARP_SLOT;
            for (uint32_t t = 0; indirect && t < m->ptx->num_funcs; t++)
                if (!seen[t]) {
                    seen[t] = 1;
                    stack[sp++] = t;
                }
            for (unsigned k = 0; k < in->num_opnds; k++) {
                const struct warp_func *callee = in->o[k].kind == WARP_FUNC ? in->o[k].func : NULL;
                if (callee && !seen[callee->src->index]) {
                    seen[callee->src->index] = 1;
                    stack[sp++] = callee->src->index;
                }
            }
        }
    }
}

/* The shared variables that the function names. */
static void mark_used(const struct warp_func *f, uint8_t *used) {
    for (uint32_t i = 0; i < f->num_inits; i++)
        if (f->inits[i].kind == INIT_SHARED)
            used[f->inits[i].var] = 1;
}

static void place_shared(const struct ptx_var *v, uint32_t dense, bool dynamic, const uint8_t *used,
                         struct lower_smem_layout *s, uint64_t *at, uint64_t dynamic_at) {
    if (v->space != PTX_SPACE_SHARED || !used[dense] || (v->is_extern && v->incomplete) != dynamic)
        return;
    uint64_t align = v->align ? v->align : 1;
    if (dynamic) {
        s->offset[dense] = (uint32_t)dynamic_at;
        return;
    }
    *at = (*at + align - 1) & ~(align - 1);
    s->offset[dense] = (uint32_t)*at;
    *at += v->size;
}

#define SMEM_LIMIT (1u << MACH_SMEM_RANK_SHIFT)

struct lower_smem_layout lower_smem_layout(const struct warp_module *m, const struct warp_func *kernel) {
    struct lower_smem_layout s = {.offset = xcalloc(m->num_dense_vars + 1, sizeof *s.offset)};
    uint8_t *seen = xcalloc(m->ptx->num_funcs + 1, 1), *used = xcalloc(m->num_dense_vars + 1, 1);
    uint32_t *stack = xcalloc(m->ptx->num_funcs + 1, sizeof *stack);
    reach(m, kernel, seen, stack);
    for (uint32_t i = 0; i < m->ptx->num_funcs; i++)
        if (seen[i])
            mark_used(&m->funcs[i], used);
    uint64_t at = MACH_SMEM_FIRST, dynamic_at = 0, align = 16;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        for (uint32_t i = 0; i < m->ptx->num_vars; i++)
            place_shared(m->ptx->vars[i], i, dynamic, used, &s, &at, dynamic_at);
        for (uint32_t f = 0; f < m->ptx->num_funcs; f++)
            for (uint32_t i = 0; seen[f] && i < m->ptx->funcs[f]->num_vars; i++)
                place_shared(m->ptx->funcs[f]->vars[i], m->var_base[f] + i, dynamic, used, &s, &at, dynamic_at);
        if (dynamic || at > SMEM_LIMIT)
            break;
        /* the dynamic part follows, aligned as its most demanding declaration asks */
        for (uint32_t i = 0; i < m->ptx->num_vars; i++) {
            const struct ptx_var *v = m->ptx->vars[i];
            if (v->space == PTX_SPACE_SHARED && v->is_extern && v->incomplete && used[i] && v->align > align)
                align = v->align;
        }
        dynamic_at = (at + align - 1) & ~(align - 1);
    }
    s.static_bytes = at > SMEM_LIMIT ? SMEM_LIMIT : (uint32_t)((dynamic_at ? dynamic_at : at) - MACH_SMEM_FIRST);
    if (at == MACH_SMEM_FIRST)
        s.static_bytes = 0;
    xfree(seen);
    xfree(used);
    xfree(stack);
    return s;
}

/* --- facts about a kernel ----------------------------------------------------------------------------------------- */

struct lower_kernel_info lower_kernel_info(const struct warp_func *kernel) {
    const struct ptx_func *p = kernel->src;
    struct lower_smem_layout s = lower_smem_layout(kernel->module, kernel);
    struct lower_kernel_info info = {.ptx = p, .static_smem = s.static_bytes, .local_bytes = kernel->local_bytes};
    xfree(s.offset);
    ptx_param_offset(p, p->num_params, &info.param_bytes);
    uint64_t limit =
        p->reqntid.x   ? (uint64_t)p->reqntid.x * (p->reqntid.y ? p->reqntid.y : 1) * (p->reqntid.z ? p->reqntid.z : 1)
        : p->maxntid.x ? (uint64_t)p->maxntid.x * (p->maxntid.y ? p->maxntid.y : 1) * (p->maxntid.z ? p->maxntid.z : 1)
                       : 1024;
    info.max_threads = limit < 1024 ? (uint32_t)limit : 1024;
    info.regs = kernel->registers ? kernel->registers : p->maxnreg ? p->maxnreg : 32;
    /* Without these ptxas leaves setmaxnreg out ("unable to determine register count at entry", C7508), as 9.7.19.5
     * allows. It obeys --maxrregcount as well, which the PTX does not show. */
    const bool bounded = p->maxnreg || (p->minnctapersm && (p->maxntid.x || p->reqntid.x));
    info.regs_known = bounded && (kernel->registers || p->maxnreg);
    for (uint32_t i = 0; i < kernel->module->ptx->num_vars; i++) {
        const struct ptx_var *v = kernel->module->ptx->vars[i];
        if (v->space == PTX_SPACE_CONST)
            info.const_bytes = (info.const_bytes + v->align - 1) / v->align * v->align + (uint32_t)v->size;
    }
    info.cluster = (struct diag_dim3){p->reqnctapercluster.x, p->reqnctapercluster.y, p->reqnctapercluster.z};
    if (info.cluster.x && !info.cluster.y)
        info.cluster.y = 1;
    if (info.cluster.x && !info.cluster.z)
        info.cluster.z = 1;
    return info;
}
