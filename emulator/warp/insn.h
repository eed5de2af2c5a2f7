/* warp/insn.h - a PTX function as warps execute it: instructions on slots. Made by lower/lower.c, read-only after.
 *
 * Every operand is a slot of the thread's frame, every instruction has the handler that its family's bind function
 * chose (isa/isa.h).
 *
 * Slots. A slot is 32 lanes of 32 bits (u32[32]); lane l of a 32-bit (or narrower, zero-extended) register is word l.
 * 64-bit registers take two consecutive slots viewed as u64[32]; 128-bit ones four, u64[32] low then u64[32] high.
 * A predicate takes one slot of which only word 0 is used: bit l is lane l. Poison is a u32 lane mask per register,
 * kept at the register's first slot: bit l says that lane l holds something never written (which bits: warp/parts.h).
 * Immediates, variable
 * addresses, and special registers that do not change are slots too, so handlers read every source alike.
 */
#ifndef WARP_INSN_H
#define WARP_INSN_H

#include "base/arena.h"
#include "ptx/ir.h"

#include <stdbool.h>
#include <stdint.h>

struct gpu;
struct warp;
struct insn;

enum warp_status {
    WARP_NEXT,  /* done; go to the next instruction */
    WARP_JUMP,  /* the handler set w->g->pc (and perhaps split the group): control flow only */
    WARP_WAIT,  /* warp_wait() suspended the group: the same instruction runs again when woken */
    WARP_GONE,  /* the group no longer exists: its lanes exited or joined another group */
    WARP_YIELD, /* done, but every other warp that can runs first (nanosleep) */
    WARP_FAULT, /* reported; the launch ends */
};

struct warp_chain;
struct chain_op;

/* `mask`: the lanes of the current group whose guard is true; never 0. */
typedef enum warp_status (*warp_fn)(struct warp *w, const struct insn *in, uint32_t mask);

typedef int32_t warp_slot; /* >= 0: frame slot; < 0: constant number ~slot of the function */

enum warp_opnd_kind {
    WARP_NONE = 0,
    WARP_SLOT,    /* register, immediate, special register, address of a variable: slot/bits */
    WARP_VEC,     /* list[0..num_sub), each as wide as bits; WARP_SINK elements are discarded */
    WARP_MEM,     /* address = slot (if has_base; bits 32 or 64) + offset, in the space that the instruction names */
    WARP_PARAM,   /* static address in call/formal parameter slots: bytes [offset, ...) from slot `slot` */
    WARP_LABEL,   /* target */
    WARP_FUNC,    /* func */
    WARP_TABLE,   /* table (ptx_table), label targets already valid */
    WARP_DISCARD, /* _ */
};
#define WARP_SINK INT32_MAX /* a warp_slot that discards */

/* What every execution reads; a warp goes through thousands of them, so they are small. */
struct warp_opnd {
    uint8_t kind;   /* enum warp_opnd_kind */
    uint8_t bits;   /* register width: 1 (predicate), 16, 32, 64, 128; immediates take the width of their use */
    bool neg;       /* predicate source written as !p */
    bool is_imm;    /* SLOT that holds an immediate: more->imm has its bits as written */
    bool imm_float; /* its form: 0f, 0d or decimal */
    bool has_base;  /* MEM */
    warp_slot slot;
    uint32_t num_sub; /* MEM: compound parts after the first comma; VEC: elements */
    union {
        int64_t offset;                /* MEM, PARAM */
        const warp_slot *list;         /* VEC */
        uint32_t target;               /* LABEL: instruction index */
        const struct warp_func *func;  /* FUNC */
        const struct ptx_table *table; /* TABLE */
    };
    const struct warp_opnd_more *more; /* NULL in an empty operand */
};
struct warp_opnd_more {
    const struct ptx_operand *src;
    const struct warp_opnd *sub; /* num_sub of them */
    uint64_t imm;                /* also the size of the variable of a PARAM */
};

/* A kernel's instructions and operands are read in turn by all its warps: they lie close together. */
#define WARP_MAX_OPNDS 12
#define WARP_FAST_OPNDS 5
struct insn {
    warp_fn fn;
    /* destinations and sources in the order written, num_opnds of them; a d|p pair is two. While the instruction is
     * bound, those up to WARP_MAX_OPNDS are there too, and empty. */
    struct warp_opnd *o;
    uint64_t aux;     /* free for the family: set by bind, read by fn */
    const void *data; /* free for the family: arena memory of the function */
    warp_slot guard;  /* predicate slot, or WARP_SINK when unguarded */
    bool guard_neg;
    bool aligned; /* .aligned: all live lanes of the warp must execute it together (checked by the core) */
    uint8_t num_opnds;
    uint8_t link;  /* an enum chain_link */
    bool straight; /* its handler returns WARP_NEXT or WARP_FAULT, asks for no group, and has no part of `aligned` */
    bool branch;   /* a `bra` */
    /* A .sync instruction that synchronises lanes in different places of one function: those at instructions with the
     * same number. MEETS_BARRIER is the first of `barrier`, one for each operation. */
    enum { MEETS_HERE, MEETS_WARP, MEETS_BARRIER } meets;
    uint32_t join;                  /* branches: pc where split lanes meet again, or UINT32_MAX */
    const struct warp_chain *chain; /* that it is in, or NULL: warp/chain.h */
    uint32_t chain_at;              /*  as this link */
    uint32_t run; /* so many instructions from here on are straight, and no jump leads to one after the first */
    const struct ptx_insn *src; /* site, modifiers, operands as written */
    /* The first operands that are slots, once more, so that handlers find them without a branch: bytes from
     * w->read[from], and the word of w->pz with their poison, for constants one that never has any. */
    int32_t at[WARP_FAST_OPNDS];
    uint32_t poison[WARP_FAST_OPNDS];
    uint8_t from[WARP_FAST_OPNDS];
    uint8_t loads;               /* what it is to loads of global memory under way: warp/loads.c */
    uint8_t order, scope, proxy; /* of its accesses, as enum event_order, event_scope and event_proxy: isa/tell.c */
};

struct warp_func {
    const struct ptx_func *src;
    const struct warp_module *module;
    struct insn *code;
    uint32_t num_insns;     /* the last one is a synthetic `ret` */
    uint32_t frame_slots;   /* registers, hidden registers, parameters */
    warp_slot clean;        /* a slot that is never poison */
    const uint32_t *consts; /* num_consts slots of 32 words */
    uint32_t num_consts;
    bool chained;                  /* it has chains: its frame's slots are followed by the constants */
    const struct warp_init *inits; /* hidden slots filled when a frame is made */
    uint32_t num_inits;
    warp_slot *reg_slot;              /* by ptx_reg index */
    warp_slot *var_slot;              /* call/formal parameter variables: first slot, by ptx_var index for body vars */
    warp_slot *param_slot, *ret_slot; /* formal parameters and returns (not for kernels) */
    uint32_t local_bytes;             /* .local bytes of one activation */
    uint32_t registers;               /* per thread in the machine code; 0: unknown */
    uint64_t steps;                   /* of a kernel: gpu.steps of its latest launch; 0: there was none */
};

/* A hidden slot that is filled when a frame is made. */
struct warp_init {
    enum { INIT_SREG, INIT_SHARED, INIT_LOCAL } kind;
    uint8_t bits;
    warp_slot slot;
    enum ptx_sreg sreg; /* INIT_SREG */
    uint32_t var;       /* INIT_SHARED: dense module-wide number of the variable */
    int64_t offset;     /* added to the address; INIT_LOCAL: the whole offset in the activation */
};

/* A loaded module (lower/module.c): its functions in slots, its variables in device memory. */
struct warp_module {
    struct gpu *gpu;
    uint32_t simd; /* the host's unit that handlers are bound for, an enum simd */
    struct ptx_module *ptx;
    struct arena arena;
    struct warp_func *funcs; /* by ptx_func index */
    uint64_t *var_addr;      /* device address of module variables by ptx_var index; 0: not in device memory */
    uint32_t *var_base;      /* dense number of a function's first variable, by function index */
    uint32_t num_dense_vars; /* module variables first, then each function's */
};

/* Value of a function's address, and back (UINT32_MAX when it is none). */
#define WARP_CODE_ADDRESS(index) (((uint64_t)(index) + 1) << 8)

#endif
