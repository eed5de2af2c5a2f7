/* warp/core.h - frames of a warp, its grid, and the loop that runs its instructions: for control flow and for those who
 * create and schedule warps.
 */
#ifndef WARP_CORE_H
#define WARP_CORE_H

#include "warp/warp.h"

enum warp_grid_answer { GRID_TAKEN, GRID_EMPTY, GRID_LATER };

/* What a warp sees of its launch. Read-only while CTAs run. */
struct warp_grid {
    struct gpu *gpu;
    const struct warp_func *kernel;
    struct diag_dim3 ctas;       /* %nctaid */
    struct diag_dim3 block;      /* %ntid */
    struct diag_dim3 cluster;    /* CTAs of one */
    bool clustered;              /* %is_explicit_cluster */
    struct diag_dim3 clusters;   /* %nclusterid */
    uint32_t threads, warps;     /* per CTA */
    uint32_t regs;               /* per thread at launch, where the compiled code or .maxnreg tells; else 0 */
    uint32_t dynamic_smem;       /* bytes */
    const uint32_t *smem_offset; /* of the kernel's shared variables, by dense number */
    uint8_t *params;             /* kernel parameters as loads of the param window see them */
    uint64_t param_bytes;
    bool held; /* the grid before this one, which griddepcontrol.wait waits for, is under way */
    /* Takes the next cluster that is not resident yet off the grid (clusterlaunchcontrol): its %clusterid. LATER: not
     * while other islands run; `isl` is asked again when its turn is over. */
    enum warp_grid_answer (*take_cluster)(struct warp_grid *g, struct island *isl, struct diag_dim3 *id);
};

/* %clusterid of the cluster with that number. */
static inline struct diag_dim3 warp_cluster_id(const struct warp_grid *g, uint64_t number) {
    return (struct diag_dim3){(uint32_t)(number % g->clusters.x), (uint32_t)(number / g->clusters.x % g->clusters.y),
                              (uint32_t)(number / ((uint64_t)g->clusters.x * g->clusters.y))};
}

/* Tells that the guard of an instruction is poison for lanes `bad`. True: they go on with what the register holds. */
bool warp_guard_unknown(struct warp *w, const struct insn *in, uint32_t bad);

/* Pushes a frame for `f` and moves the current group into it; false after a fault (depth). */
bool warp_push_frame(struct warp *w, const struct insn *call, const struct warp_func *f, uint32_t ret_pc);
void warp_pop_frame(struct warp *w);
/* `lanes` are gone from the frame and all its callers. */
void warp_leave_frames(struct warp *w, uint32_t frame, uint32_t lanes);
/* Handlers see the frame of the current group. */
static inline void warp_load_frame(struct warp *w) {
    const struct warp_frame *fr = &w->frames[w->g->frame];
    w->func = fr->func;
    w->base = w->slots + (size_t)fr->base * MACH_WARP;
    w->pz = w->poison + fr->base;
    w->read[0] = w->base;
    w->read[1] = fr->func->consts;
}

/* Runs one group of `w` for at most `budget` instructions; returns how many it ran. */
uint64_t warp_run(struct warp *w, uint64_t budget);
/* Has the warp a group that would do something? */
bool warp_runnable(struct warp *w);
/* The warp is runnable: would its instruction only suspend it again, as its wait says (struct warp_wait, `left`)? Then
 * that has happened, and it counts as an instruction that was run. */
bool warp_waits_on(struct warp *w);

/* MACH_SCHED_MODEL: groups are run by their times. Groups whose wait may be over become ready at `now`; true when there
 * was one. */
bool warp_resume(struct warp *w, double now);
/* The instruction of a ready group; NULL: it parks at a reconvergence point. */
const struct insn *warp_next(const struct warp *w, const struct group *g);
/* Is the guard of this, its next instruction, the same for all lanes, and known? */
bool warp_goes_one_way(struct warp *w, struct group *g, const struct insn *in);
/* Runs it, or parks. */
void warp_step(struct warp *w, struct group *g);
/* Runs the next `n` instructions, which are straight, with no listener for steps. It stops after one that faults, and
 * before one whose guard has to be looked at. Returns how many it ran. */
uint32_t warp_step_straight(struct warp *w, struct group *g, uint32_t n);

void warp_create(struct warp *w, struct warp_grid *grid, struct cta *cta, uint32_t index);
/* Frees what the warp's core holds; the families' part comes first (isa_warp_destroy). */
void warp_destroy(struct warp *w);

/* Value of a special register that does not change during a launch (ptx_sreg_is_fixed), for one lane; false when it
 * is dynamic. */
bool warp_sreg(const struct warp *w, enum ptx_sreg r, uint32_t lane, uint64_t *value);

#endif
