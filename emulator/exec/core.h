/* exec/core.h - what the executor's own files share beyond exec.h: modules, launches, groups and frames. */
#ifndef EXEC_CORE_H
#define EXEC_CORE_H

#include "exec/exec.h"
#include "exec/launch.h"

#include <stdatomic.h>

/* A hidden slot that is filled when a frame is made. */
struct exec_init {
    enum { INIT_SREG, INIT_SHARED, INIT_LOCAL } kind;
    uint8_t bits;
    exec_slot slot;
    enum ptx_sreg sreg; /* INIT_SREG */
    uint32_t var;       /* INIT_SHARED: dense module-wide number of the variable */
    int64_t offset;     /* added to the address; INIT_LOCAL: the whole offset in the activation */
};

struct exec_module {
    struct gpu *gpu;
    struct ptx_module *ptx;
    struct arena arena;
    struct exec_func *funcs; /* by ptx_func index */
    uint64_t *var_addr;      /* device address of module variables by ptx_var index; 0: not in device memory */
    uint32_t *var_base;      /* dense number of a function's first variable, by function index */
    uint32_t num_dense_vars; /* module variables first, then each function's */
};

/* Shared-memory layout of one kernel, made at its first launch and kept by the module. */
struct exec_smem_layout {
    uint32_t *offset; /* by dense variable number; 0: not part of this kernel */
    uint32_t static_bytes;
};

/* One launch, from the first CTA to the last. */
struct exec_launch_state {
    struct gpu *gpu;
    const struct exec_launch *cfg;
    const struct exec_func *kernel;
    struct exec_smem_layout smem;
    uint8_t *params; /* kernel parameters as loads of the param window see them */
    uint64_t param_bytes;
    uint32_t threads;          /* per CTA */
    uint32_t warps;            /* per CTA */
    uint32_t regs;             /* per thread, for residency */
    struct diag_dim3 clusters; /* grid in clusters */
    uint64_t next_cluster, num_clusters;
    bool shares;                 /* exec_kernel_shares: there is one island */
    bool grid_free;              /* next_cluster may be taken: no other island runs */
    struct exec_island *islands; /* in the order of their SMs */
    uint32_t num_islands;
    uint32_t *island_of; /* by SM */
    atomic_uint stop;    /* islands that come later in this round need not go on */
};

/* What the scheduler knows of an island (exec/sched.c). */
struct exec_island {
    struct island m;
    struct exec_launch_state *st;
    struct cluster *resident, **resident_tail; /* by number */
    uint32_t order;                            /* in this round, from 1 */
    uint64_t limit;                            /* m.clock at which its turn ends */
    bool idle;                                 /* nothing in it can go on */
    bool wants_grid;                           /* but clusterlaunchcontrol.try_cancel will, when the round is over */
    uint64_t stuck_progress;
    uint32_t stuck_rounds;
};

/* --- groups and frames (exec/core.c) --- */
struct group *exec_new_group(struct warp *w, uint32_t mask, uint32_t pc, uint32_t frame, int32_t join);
/* Splits the current group at a branch: `taken` lanes go to target, the others to fall. */
void exec_split(struct warp *w, const struct insn *in, uint32_t taken, uint32_t target, uint32_t fall);
/* Lets a parked group go on without the lanes it waits for (the last resort when nothing else can run). */
void exec_release_parked(struct warp *w, struct group *g);
/* Lanes of the current group leave the warp for good. */
enum exec_status exec_lanes_exit(struct warp *w, uint32_t lanes);
/* Pushes a frame for `f` and moves the current group into it; false after a fault (depth). */
bool exec_push_frame(struct warp *w, const struct insn *call, const struct exec_func *f, uint32_t ret_pc);
void exec_pop_frame(struct warp *w);
void exec_load_frame(struct warp *w);

/* Runs one group of `w` for at most `budget` instructions; returns how many it ran. */
uint64_t exec_run_warp(struct warp *w, uint64_t budget);
/* Has the warp a group that would do something? */
bool exec_runnable(struct warp *w);

void exec_warp_create(struct warp *w, struct exec_launch_state *st, struct cta *cta, uint32_t index);
void exec_warp_destroy(struct warp *w);

/* --- lowering --- */
bool exec_lower_func(struct exec_module *m, struct exec_func *f); /* exec/lower.c */
/* Gives the registers of a kernel frame slots from *next_slot on, by ptx_reg index: exec/registers.c. False, with nothing
 * given, where each is to have its own. */
bool exec_share_registers(const struct ptx_func *p, exec_slot *slot, uint32_t *next_slot);
void exec_find_joins(struct exec_module *m, struct exec_func *f);            /* exec/cfg.c */
void exec_bind(struct exec_module *m, struct exec_func *f, struct insn *in); /* exec/bind.c */
void exec_bind_refused(struct insn *in); /* the handler that refuses the instruction by name when it is reached */
/* Value of a function's address, and back (UINT32_MAX when it is none). */
#define EXEC_CODE_ADDRESS(index) (((uint64_t)(index) + 1) << 8)
uint32_t exec_dense_var(const struct exec_module *m, const struct ptx_var *v);
struct exec_smem_layout exec_smem_layout(const struct exec_module *m,
                                         const struct exec_func *kernel); /* exec/module.c */

/* Value of a special register that does not change during a launch, for one lane; false when it is dynamic. */
bool exec_sreg(const struct warp *w, enum ptx_sreg r, uint32_t lane, uint64_t *value);
bool exec_sreg_is_static(enum ptx_sreg r);

/* Call of a function without a body (vprintf, __assertfail, malloc, ...): exec/builtin.c. NULL: unknown. */
exec_fn exec_builtin(const char *name);

/* Runs the cluster's queued clusterlaunchcontrol.try_cancel; true when there was one. exec/grid.c */
bool exec_serve_cancels(struct cluster *cl);
/* May clusters of this kernel see what others do while they run? exec/shares.c */
bool exec_kernel_shares(const struct exec_func *kernel);
/* %clusterid of the cluster with that number (exec/sched.c). */
struct diag_dim3 exec_cluster_id(const struct exec_launch_state *st, uint64_t number);

/* The resident cluster with the next number after that of `cl` (NULL: the first), or NULL; between turns only. */
struct cluster *exec_next_resident(const struct exec_launch_state *st, const struct cluster *cl);

/* Reports (exec/report.c). */
void exec_report_deadlock(struct exec_launch_state *st);
void exec_report_watchdog(struct exec_launch_state *st);

#endif
