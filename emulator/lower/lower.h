/* lower/lower.h - a module of PTX as code that warps execute: what the rooms below and the shim see of it. */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "machine/machine.h"
#include "ptx/ir.h"

struct warp_module;
struct warp_func;

/* Takes ownership of `ptx` (also on failure), lowers every function, places module variables in device memory and
 * initialises them. NULL after reporting through gpu->sink. */
struct warp_module *lower_module_load(struct gpu *gpu, struct ptx_module *ptx);
void lower_module_unload(struct warp_module *m);
/* Registers per thread of a function, as the machine code beside the PTX tells. Unknown names are passed over. */
void lower_set_registers(struct warp_module *m, const char *name, uint32_t registers);
/* Machine instructions by line of the PTX, for lines below `lines`: becomes diag_site.sass. Not of a basic block for
 * which they are more than twice its instructions of PTX: ptxas has made copies of it, which run in turn. */
void lower_set_counts(struct warp_module *m, const uint32_t *counts, uint32_t lines);
/* A kernel by name, or NULL. */
const struct warp_func *lower_find_kernel(const struct warp_module *m, const char *name);
/* The name of kernel `i` of a module, in the order of its text; NULL: it has no more. */
const char *lower_kernel_name(const struct warp_module *m, uint32_t i);
/* Device address and size of a module variable; false when there is none. */
bool lower_find_var(const struct warp_module *m, const char *name, uint64_t *addr, uint64_t *size);

struct lower_kernel_info {
    const struct ptx_func *ptx;
    uint32_t static_smem; /* bytes */
    uint32_t local_bytes; /* per thread */
    uint32_t regs;        /* 32-bit registers of a thread: lower_set_registers, else .maxnreg, else an estimate */
    bool regs_known;      /* not the estimate; ptxas knew how many there are at the kernel's entry */
    uint32_t const_bytes; /* of its module's constant variables */
    uint32_t max_threads; /* .maxntid product or 1024 */
    uint64_t param_bytes;
    struct diag_dim3 cluster; /* .reqnctapercluster, 0 when none */
};
struct lower_kernel_info lower_kernel_info(const struct warp_func *kernel);

/* Shared-memory layout of one kernel. */
struct lower_smem_layout {
    uint32_t *offset; /* by dense variable number; 0: not part of this kernel */
    uint32_t static_bytes;
};
/* The caller frees `offset`. */
struct lower_smem_layout lower_smem_layout(const struct warp_module *m, const struct warp_func *kernel);

#endif
