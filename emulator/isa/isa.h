/* isa/isa.h - how an instruction gets its meaning: the families' binders (isa/bind.c chooses), and what they share. */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "isa/unit.h"
#include "warp/access.h"
#include "warp/core.h"

struct isa_binder {
    struct arena *arena; /* for insn->data; lives as long as the function */
    const struct warp_func *func;
    const char *why; /* set on refusal: a sentence, constant or in the arena; NULL for "unsupported" */
};

static inline bool isa_refuse(struct isa_binder *b, const char *why) {
    b->why = why;
    return false;
}

/* Chooses in->fn (and aux/data/aligned) from in->src; operands are already lowered. False: the form is unsupported or
 * illegal; the core then binds a handler that refuses the instruction by name when it is reached. */
typedef bool (*isa_bind_fn)(struct isa_binder *b, struct insn *in);

/* One for each family (ptx/families.def), in the file of the family's handlers. */
#define FAMILY(name) bool isa_bind_##name(struct isa_binder *b, struct insn *in);
#include "ptx/families.def"
#undef FAMILY

/* Chooses the family and binds; what that refuses gets a handler that refuses it by name when it is reached. */
void isa_bind(struct warp_module *m, struct warp_func *f, struct insn *in); /* isa/bind.c */
void isa_bind_refused(struct insn *in);
/* The host's unit for the handlers of a module, an enum simd. */
uint32_t isa_unit(const struct gpu *gpu);
/* The links that it has for chains (warp/chain.h), or NULL. */
const struct chain_links *isa_chain_links(uint32_t unit);

/* isa/operands.c: is every operand what the operands column of ptx/opcodes.def has in its place? False, with the
 * reason, where one is not. Every binder's operands have been judged so. */
bool isa_judge_operands(struct isa_binder *b, const struct insn *in);
/* Is what was judged as wide: a register, or a constant, special register or address of a variable that is read so? */
bool isa_has_bits(const struct warp_opnd *o, unsigned bits);
/* A list of `count` elements? */
static inline bool isa_is_list(const struct warp_opnd *o, uint32_t count) {
    return o->kind == WARP_VEC && o->num_sub == count;
}
/* May the constant stand where a value of the type does? */
bool isa_takes_constant(const struct warp_opnd *o, enum ptx_type type);

/* Call of a function without a body (vprintf, __assertfail, malloc, ...): isa/builtin.c. NULL: unknown. */
warp_fn isa_builtin(const char *name);

/* --- for the scheduler -------------------------------------------------------------------------------------------- */

void isa_group_destroy(struct warp *w); /* async-groups: isa/async_group.c */
void isa_tmem_destroy(struct warp *w);  /* tcgen05.ld and .st under way: isa/tcgen05_ldst.c */
/* Frees what the families keep for a warp; the queues of its CTA run no more. */
static inline void isa_warp_destroy(struct warp *w) {
    isa_group_destroy(w);
    isa_tmem_destroy(w);
}
/* The warp has ended: has its warpgroup executed the same setmaxnreg? isa/grid_control.c */
void isa_registers_exit(struct warp *w);
/* Runs the cluster's queued clusterlaunchcontrol.try_cancel; true when there was one. isa/grid_control.c */
bool isa_serve_cancels(struct cluster *cl);

#endif
