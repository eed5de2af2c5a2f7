/* isa/isa.h - how an instruction gets its meaning: the families' binders (isa/bind.c chooses), and what they share. */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "warp/access.h"
#include "warp/core.h"

struct isa_binder {
    struct arena *arena; /* for insn->data; lives as long as the function */
    const struct warp_func *func;
    const char *why; /* set on refusal: a constant sentence, or NULL for "unsupported" */
};
/* Chooses in->fn (and aux/data/aligned) from in->src; operands are already lowered. False: the form is unsupported or
 * illegal; the core then binds a handler that refuses the instruction by name when it is reached. */
typedef bool (*isa_bind_fn)(struct isa_binder *b, struct insn *in);

bool isa_bind_integer(struct isa_binder *b, struct insn *in); /* isa/integer.c   9.7.1, 9.7.2 */
bool isa_bind_float(struct isa_binder *b, struct insn *in);   /* isa/float.c     9.7.3-9.7.5 */
bool isa_bind_compare(struct isa_binder *b, struct insn *in); /* isa/compare.c   9.7.6, 9.7.7 */
bool isa_bind_logic(struct isa_binder *b, struct insn *in);   /* isa/logic.c     9.7.8 */
bool isa_bind_cvt(struct isa_binder *b, struct insn *in);     /* isa/cvt.c       9.7.9.20-22 */
bool isa_bind_move(struct isa_binder *b, struct insn *in);   /* isa/move.c      mov, prmt, isspacep, mapa, getctarank */
bool isa_bind_memory(struct isa_binder *b, struct insn *in); /* isa/memory.c    ld, st, prefetch, ... */
bool isa_bind_atomic(struct isa_binder *b, struct insn *in); /* isa/atomic.c    atom, red */
bool isa_bind_control(struct isa_binder *b, struct insn *in); /* isa/control.c   bra, call, ret, exit, trap */
bool isa_bind_barrier(struct isa_binder *b,
                      struct insn *in); /* isa/barrier.c   bar, barrier, barrier.cluster, fences */
bool isa_bind_mbarrier(struct isa_binder *b, struct insn *in); /* isa/mbarrier.c  9.7.13.15 */
bool isa_bind_warp(struct isa_binder *b,
                   struct insn *in); /* isa/warp_ops.c  shfl, vote, match, redux, elect, activemask */
bool isa_bind_tcgen05(struct isa_binder *b, struct insn *in);  /* isa/tcgen05.c   9.7.16 */
bool isa_bind_bulk(struct isa_binder *b, struct insn *in);     /* isa/bulk.c      cp.async.bulk, cp.reduce.async.bulk */
bool isa_bind_cp_async(struct isa_binder *b, struct insn *in); /* isa/cp_async.c  cp.async */
bool isa_bind_tensormap(struct isa_binder *b, struct insn *in); /* isa/tensormap.c tensormap.replace, .cp_fenceproxy */
bool isa_bind_grid(struct isa_binder *b,
                   struct insn *in); /* isa/grid_control.c      griddepcontrol, clusterlaunchcontrol, setmaxnreg */
bool isa_bind_mma_sync(struct isa_binder *b, struct insn *in); /* isa/mma_sync.c  9.7.14.5: mma.sync */
bool isa_bind_misc(struct isa_binder *b, struct insn *in);     /* isa/misc.c      nanosleep, pmevent */

/* Parts of isa_bind_memory in files of their own. */
bool isa_bind_cache(struct isa_binder *b, struct insn *in);  /* isa/cache.c: prefetch, createpolicy, st.bulk, ... */
bool isa_bind_matrix(struct isa_binder *b, struct insn *in); /* isa/ldmatrix.c: ldmatrix, stmatrix, movmatrix */

/* Chooses the family and binds; what that refuses gets a handler that refuses it by name when it is reached. */
void isa_bind(struct warp_module *m, struct warp_func *f, struct insn *in); /* isa/bind.c */
void isa_bind_refused(struct insn *in);

/* A register of `bits` that may be written: neither a constant nor a special register. */
static inline bool isa_is_dst(const struct warp_opnd *o, unsigned bits) {
    return o->kind == WARP_SLOT && o->more->src->kind == PTX_OPND_REG && o->bits == bits;
}
/* The same, or `_`. */
static inline bool isa_is_dst_or_sink(const struct warp_opnd *o, unsigned bits) {
    return o->kind == WARP_DISCARD || isa_is_dst(o, bits);
}
/* A source of 32 bits that warp_u32 reads. */
static inline bool isa_is_u32(const struct warp_opnd *o) {
    return o->kind == WARP_SLOT && (o->is_imm || o->bits == 32);
}
/* State space of ld, st, atom and the like from the words of the instruction; XS_GENERIC when none is
 * written. */
enum warp_space isa_space_of(const struct ptx_insn *in);

/* Call of a function without a body (vprintf, __assertfail, malloc, ...): isa/builtin.c. NULL: unknown. */
warp_fn isa_builtin(const char *name);

/* --- for the scheduler --- */

void isa_group_destroy(struct warp *w); /* async-groups: isa/cp_async.c */
void isa_tmem_destroy(struct warp *w);  /* tcgen05.ld and .st under way: isa/tcgen05_ldst.c */
/* Frees what the families keep for a warp; the queues of its CTA run no more. */
static inline void isa_warp_destroy(struct warp *w) {
    isa_group_destroy(w);
    isa_tmem_destroy(w);
}
/* Runs the cluster's queued clusterlaunchcontrol.try_cancel; true when there was one. isa/grid_control.c */
bool isa_serve_cancels(struct cluster *cl);

#endif
