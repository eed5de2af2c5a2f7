/* exec/exec.h - the executor's internal contract: lowered instructions, warps, and what a handler may do.
 *
 * A PTX function is lowered once (exec/lower.c): every operand becomes a slot of the thread's frame, every instruction
 * gets the handler that its family's bind function chose. A warp executes one *group* of lanes at a time: lanes that
 * share pc and frame. Groups split at divergent branches and meet again at the branch's immediate post-dominator.
 *
 * Slots. A slot is 32 lanes of 32 bits (u32[32]); lane l of a 32-bit (or narrower, zero-extended) register is word l.
 * 64-bit registers take two consecutive slots viewed as u64[32]; 128-bit ones four, u64[32] low then u64[32] high.
 * A predicate takes one slot of which only word 0 is used: bit l is lane l. Poison is a u32 lane mask per register,
 * kept at the register's first slot: bit l says that lane l holds something never written. Immediates, variable
 * addresses, and special registers that do not change are slots too, so handlers read every source alike.
 */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "base/arena.h"
#include "machine/async.h"
#include "machine/machine.h"
#include "ptx/ir.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXEC_ALL_LANES 0xffffffffu

struct warp;
struct insn;

enum exec_status {
    EXEC_NEXT,  /* done; go to the next instruction */
    EXEC_JUMP,  /* the handler set w->g->pc (and perhaps split the group): control flow only */
    EXEC_WAIT,  /* exec_wait() suspended the group: the same instruction runs again when woken */
    EXEC_GONE,  /* the group no longer exists: its lanes exited or joined another group */
    EXEC_YIELD, /* done, but every other warp that can runs first (nanosleep) */
    EXEC_FAULT, /* reported; the launch ends */
};

/* `mask`: the lanes of the current group whose guard is true; never 0. */
typedef enum exec_status (*exec_fn)(struct warp *w, const struct insn *in, uint32_t mask);

typedef int32_t exec_slot; /* >= 0: frame slot; < 0: constant number ~slot of the function */

enum exec_opnd_kind {
    EXEC_NONE = 0,
    EXEC_SLOT,    /* register, immediate, special register, address of a variable: slot/bits */
    EXEC_VEC,     /* list[0..num_sub), each as wide as bits; EXEC_SINK elements are discarded */
    EXEC_MEM,     /* address = slot (if has_base; bits 32 or 64) + offset; space-specific, see `var_space` */
    EXEC_PARAM,   /* static address in call/formal parameter slots: bytes [offset, ...) from slot `slot` */
    EXEC_LABEL,   /* target */
    EXEC_FUNC,    /* func */
    EXEC_TABLE,   /* table (ptx_table), label targets already valid */
    EXEC_DISCARD, /* _ */
};
#define EXEC_SINK INT32_MAX /* an exec_slot that discards */

/* What every execution reads; a warp goes through thousands of them, so they are small. */
struct exec_opnd {
    uint8_t kind;   /* enum exec_opnd_kind */
    uint8_t bits;   /* register width: 1 (predicate), 16, 32, 64, 128; immediates take the width of their use */
    bool neg;       /* predicate source written as !p */
    bool is_imm;    /* SLOT that holds an immediate: more->imm has its bits as written */
    bool imm_float; /* its form: 0f, 0d or decimal */
    bool has_base;  /* MEM */
    exec_slot slot;
    uint32_t num_sub; /* MEM: compound parts after the first comma; VEC: elements */
    union {
        int64_t offset;                /* MEM, PARAM */
        const exec_slot *list;         /* VEC */
        uint32_t target;               /* LABEL: instruction index */
        const struct exec_func *func;  /* FUNC */
        const struct ptx_table *table; /* TABLE */
    };
    const struct exec_opnd_more *more; /* NULL in an empty operand */
};
struct exec_opnd_more {
    const struct ptx_operand *src;
    const struct exec_opnd *sub; /* num_sub of them */
    uint64_t imm;                /* also the size of the variable of a PARAM */
};

/* A kernel's instructions and operands are read in turn by all its warps: they lie close together. */
#define EXEC_MAX_OPNDS 12
struct insn {
    exec_fn fn;
    /* destinations and sources in the order written, num_opnds of them; a d|p pair is two. While the instruction is
     * bound, those up to EXEC_MAX_OPNDS are there too, and empty. */
    struct exec_opnd *o;
    uint64_t aux;     /* free for the family: set by bind, read by fn */
    const void *data; /* free for the family: arena memory of the function */
    exec_slot guard;  /* predicate slot, or EXEC_SINK when unguarded */
    bool guard_neg;
    bool aligned; /* .aligned: all live lanes of the warp must execute it together (checked by the core) */
    uint8_t num_opnds;
    uint32_t join;              /* branches: pc where split lanes meet again, or UINT32_MAX */
    const struct ptx_insn *src; /* site, modifiers, operands as written */
};

struct exec_func {
    const struct ptx_func *src;
    const struct exec_module *module;
    struct insn *code;
    uint32_t num_insns;     /* the last one is a synthetic `ret` */
    uint32_t frame_slots;   /* registers, hidden registers, parameters */
    const uint32_t *consts; /* num_consts slots of 32 words */
    uint32_t num_consts;
    const struct exec_init *inits; /* hidden slots filled when a frame is made */
    uint32_t num_inits;
    exec_slot *reg_slot;              /* by ptx_reg index */
    exec_slot *var_slot;              /* call/formal parameter variables: first slot, by ptx_var index for body vars */
    exec_slot *param_slot, *ret_slot; /* formal parameters and returns (not for kernels) */
    uint32_t local_bytes;             /* .local bytes of one activation */
    uint32_t registers;               /* per thread in the machine code; 0: unknown */
};

/* --- warps ---------------------------------------------------------------------------------------------------- */

enum exec_wait_kind {
    WAIT_NONE = 0,
    WAIT_MBARRIER,   /* try_wait / test_wait polling; addr, parity or state */
    WAIT_BARRIER,    /* bar.sync: named barrier `addr`, phase in `value` */
    WAIT_CLUSTER,    /* barrier.cluster.wait */
    WAIT_WARP_SYNC,  /* *.sync: waits for the other lanes of membermask `value` */
    WAIT_TMEM_ALLOC, /* columns or permit: `value` columns */
    WAIT_PAIR,       /* a warp of the pair's other CTA must execute the same instruction */
    WAIT_REGISTERS,  /* setmaxnreg.inc to `value` registers; the CTA's pool has `addr` */
    WAIT_TMEM_LDST,  /* tcgen05.wait::ld / ::st */
    WAIT_ASYNC,      /* cp.async / bulk wait_group */
    WAIT_JOIN,       /* parked at a reconvergence point */
    WAIT_ALIGNED,    /* at an .aligned instruction until the warp's other lanes come */
    WAIT_RIDING,     /* executing one .sync instruction as part of another group */
    WAIT_LAST
};

struct exec_wait {
    enum exec_wait_kind kind;
    bool polls;     /* may be resumed with exec_timed_out(): try_wait and repeated test_wait */
    bool one_mbar;  /* a try_wait whose lanes all wait for one phase of one object: mbar_waits(mbar) says how long */
    uint32_t mbar;  /* mbar_index */
    uint32_t exits; /* cluster->exits when it was suspended */
    uint32_t addr;  /* shared address or barrier number */
    uint64_t value;
    const struct insn *in;
};

/* Lanes that execute together. */
struct group {
    uint32_t mask;
    uint32_t pc;
    uint32_t frame; /* index into w->frames */
    int32_t join;   /* innermost reconvergence entry, -1: none */
    enum { GROUP_FREE = 0, GROUP_READY, GROUP_WAITING } state;
    bool timed_out; /* resumed without its condition: a polling instruction answers false */
    uint64_t epoch; /* cta->epoch when it was suspended */
    uint32_t polls; /* failing test_wait in a row without any progress of the CTA */
    struct exec_wait wait;
};

struct exec_join {
    uint32_t mask, arrived, pc, frame;
    int32_t parent;
    bool used;
};

struct exec_frame {
    const struct exec_func *func;
    uint32_t base;       /* first slot in w->slots */
    uint32_t parent;     /* frame index of the caller */
    uint32_t depth;      /* callers below it */
    uint32_t ret_pc;     /* where the caller goes on */
    uint32_t local_base; /* byte offset of this activation's .local variables */
    uint32_t mask;       /* lanes still inside */
    const struct insn *call;
    bool used;
};

struct exec_async;   /* exec/cp_async.c: async-groups */
struct exec_pending; /* exec/tcgen05.c: tcgen05.ld results on their way into registers */

struct warp {
    struct cta *cta;
    struct gpu *gpu;
    struct island *island;
    struct exec_launch_state *launch;
    uint32_t index; /* warp in CTA */
    uint32_t live;  /* lanes not exited */
    bool yielded;   /* its last turn ended with EXEC_YIELD */
    bool ended;     /* all lanes exited and the CTA has counted it (exec/sched.c) */
    /* current group, valid while a handler runs */
    struct group *g;
    const struct exec_func *func;
    uint32_t *base; /* slots of the current frame */
    uint32_t *pz;   /* poison of the current frame, one word per slot */
    const uint32_t *consts;
    /* storage */
    uint32_t *slots, *poison;
    uint32_t num_slots;
    struct exec_frame *frames;
    uint32_t num_frames;
    struct group groups[MACH_WARP];
    uint32_t num_groups; /* groups behind these were never used */
    uint32_t riding;     /* lanes that share the current instruction only (exec/core.c) */
    struct exec_join joins[MACH_WARP];
    uint8_t *local;        /* .local memory: lane l, byte b at local[l * local_stride + b] */
    uint8_t *local_poison; /* bit per byte, same order */
    uint32_t local_stride;
    /* families' per-warp state */
    uint32_t cc, cc_known; /* CC.CF of each lane, and whether it was ever written: exec/carry.c */
    struct exec_pending *tmem_pending;
    uint32_t tmem_loads;            /* tcgen05.ld issued and not yet waited for */
    struct async_queue *tmem_queue; /* tcgen05.ld/st of this warp */
    uint32_t cluster_arrived;       /* lanes between barrier.cluster.arrive and .wait */
    uint64_t cluster_phase;
    uint32_t bar_waiting;        /* named barrier + 1 that the warp has arrived at and waits for; 0: none */
    uint64_t bar_phase;          /* its generation */
    struct exec_async *cp_async; /* async-groups of its threads: exec/cp_async.c */
    uint32_t regs;               /* per thread, as setmaxnreg left them; 0: as at launch. exec/grid.c */
    uint32_t setmaxnregs;        /* executed */
    const struct insn *last_setmaxnreg;
};

/* --- reading and writing operands (all inline, used by every handler) ------------------------------------------ */

static inline const uint32_t *exec_src32(const struct warp *w, exec_slot s) {
    return s >= 0 ? w->base + (size_t)s * MACH_WARP : w->consts + (size_t)~s * MACH_WARP;
}
static inline const uint64_t *exec_src64(const struct warp *w, exec_slot s) {
    return (const uint64_t *)(const void *)exec_src32(w, s);
}
static inline uint32_t *exec_dst32(struct warp *w, exec_slot s) { return w->base + (size_t)s * MACH_WARP; }
static inline uint64_t *exec_dst64(struct warp *w, exec_slot s) { return (uint64_t *)(void *)exec_dst32(w, s); }
/* Poisoned lanes of a source; constants never are. */
static inline uint32_t exec_poison(const struct warp *w, exec_slot s) { return s >= 0 ? w->pz[s] : 0; }
/* Destination lanes `mask` become poison where `p` says so, and clean elsewhere. */
static inline void exec_set_poison(struct warp *w, exec_slot s, uint32_t mask, uint32_t p) {
    w->pz[s] = (w->pz[s] & ~mask) | (p & mask);
}
/* Predicate source with its negation applied: bit per lane. */
static inline uint32_t exec_pred(const struct warp *w, const struct exec_opnd *o) {
    uint32_t v = exec_src32(w, o->slot)[0];
    return o->neg ? ~v : v;
}
static inline void exec_set_pred(struct warp *w, exec_slot s, uint32_t mask, uint32_t value) {
    if (s == EXEC_SINK)
        return;
    uint32_t *d = exec_dst32(w, s);
    d[0] = (d[0] & ~mask) | (value & mask);
}
static inline unsigned exec_lowest(uint32_t mask) { return (unsigned)__builtin_ctz(mask); }
#define EXEC_FOR_LANES(l, mask) for (uint32_t m_ = (mask), l; m_ && (l = exec_lowest(m_), 1); m_ &= m_ - 1)

/* --- services for handlers -------------------------------------------------------------------------------------- */

/* Reports a fault of lanes `lanes` at this instruction and returns EXEC_FAULT. */
enum exec_status exec_fault(struct warp *w, const struct insn *in, uint32_t lanes, const struct diag *proto,
                            const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Fault for a poisoned operand that decides something: `what` is "the address", "the instruction descriptor", ... */
enum exec_status exec_fault_poison(struct warp *w, const struct insn *in, uint32_t lanes, const char *what);
/* Who executes this: for asynchronous operations. */
struct mach_origin exec_origin(const struct warp *w, const struct insn *in, uint32_t lanes);

/* Suspends the current group until its CTA's epoch changes; returns EXEC_WAIT. The instruction then runs again. */
enum exec_status exec_wait(struct warp *w, const struct insn *in, const struct exec_wait *wait);
/* True (once) when the group was resumed because nothing in the launch can progress: a polling instruction now
 * answers "not yet" so that the program can go on. */
bool exec_timed_out(struct warp *w);
/* For X.sync with a membermask: true when all live lanes of `membermask` are here and form the current group (they are
 * merged into it and `mask` is to be re-read from w->g->mask); false after suspending: return EXEC_WAIT or EXEC_GONE as
 * *status says. */
bool exec_warp_sync(struct warp *w, const struct insn *in, uint32_t membermask, enum exec_status *status);

/* Called before an instruction while tcgen05.ld of this warp are not waited for: completes those whose registers it uses,
 * and warns when it tells others to go on (exec/tcgen05_ldst.c). */
enum exec_status exec_tmem_use(struct warp *w, const struct insn *in, uint32_t mask);
/* Frees what tcgen05.ld/st keep for a warp; the queues of its CTA run no more (exec/tcgen05_ldst.c). */
void exec_tmem_destroy(struct warp *w);

/* %tid of a lane. */
struct diag_dim3 exec_tid(const struct warp *w, uint32_t lane);

/* --- lane addresses (exec/address.c) --------------------------------------------------------------------------- */

enum exec_space { XS_GENERIC, XS_GLOBAL, XS_SHARED_CTA, XS_SHARED_CLUSTER, XS_LOCAL, XS_PARAM, XS_CONST };

/* Where one lane's access lands. host points to the bytes; for shared memory cta/off name it as well (poison lives
 * there); for local memory off is the byte offset in the lane's local memory. */
struct exec_loc {
    uint8_t *host;
    enum exec_space space; /* XS_GLOBAL, XS_SHARED_CTA, XS_LOCAL or XS_PARAM after resolution */
    struct cta *cta;
    uint32_t off;
};
/* Address of lane `lane` of a MEM operand: base register + offset. 32-bit bases are zero-extended. */
uint64_t exec_address(const struct warp *w, const struct exec_opnd *o, uint32_t lane);
/* Resolves and checks one access of `size` bytes (power of two alignment `align`). False after reporting a fault. */
bool exec_resolve(struct warp *w, const struct insn *in, uint32_t lane, enum exec_space space, uint64_t addr,
                  uint32_t size, uint32_t align, bool write, struct exec_loc *loc);
/* Poison of size bytes at a location as a bit per byte (LSB = first byte); size <= 32. Always 0 for global and param. */
uint32_t exec_loc_poison(const struct warp *w, uint32_t lane, const struct exec_loc *loc, uint32_t size);
/* A shared-memory operand ([addr] of mbarrier, tcgen05.alloc, ...): the CTA and offset it names, checked for `size` bytes and
 * alignment; `cluster` allows other CTAs. Accepts generic addresses when `generic`. False after reporting. */
bool exec_smem_operand(struct warp *w, const struct insn *in, uint32_t lane, const struct exec_opnd *o, bool cluster,
                       bool generic, uint32_t size, struct cta **cta, uint32_t *off);

/* --- binding (exec/bind.c and the families) ----------------------------------------------------------------------- */

struct exec_binder {
    struct arena *arena; /* for insn->data; lives as long as the function */
    const struct exec_func *func;
    const char *why; /* set on refusal: a constant sentence, or NULL for "unsupported" */
};
/* Chooses in->fn (and aux/data/aligned) from in->src; operands are already lowered. False: the form is unsupported or
 * illegal; the core then binds a handler that refuses the instruction by name when it is reached. */
typedef bool (*exec_bind_fn)(struct exec_binder *b, struct insn *in);

bool exec_bind_integer(struct exec_binder *b, struct insn *in); /* exec/integer.c   9.7.1, 9.7.2 */
bool exec_bind_float(struct exec_binder *b, struct insn *in);   /* exec/float.c     9.7.3-9.7.5 */
bool exec_bind_compare(struct exec_binder *b, struct insn *in); /* exec/compare.c   9.7.6, 9.7.7 */
bool exec_bind_logic(struct exec_binder *b, struct insn *in);   /* exec/logic.c     9.7.8 */
bool exec_bind_cvt(struct exec_binder *b, struct insn *in);     /* exec/cvt.c       9.7.9.20-22 */
bool exec_bind_move(struct exec_binder *b,
                    struct insn *in); /* exec/move.c      mov, prmt, isspacep, mapa, getctarank */
bool exec_bind_memory(struct exec_binder *b, struct insn *in);  /* exec/memory.c    ld, st, prefetch, ... */
bool exec_bind_atomic(struct exec_binder *b, struct insn *in);  /* exec/atomic.c    atom, red */
bool exec_bind_control(struct exec_binder *b, struct insn *in); /* exec/control.c   bra, call, ret, exit, trap */
bool exec_bind_barrier(struct exec_binder *b,
                       struct insn *in); /* exec/barrier.c   bar, barrier, barrier.cluster, fences */
bool exec_bind_mbarrier(struct exec_binder *b, struct insn *in); /* exec/mbarrier.c  9.7.13.15 */
bool exec_bind_warp(struct exec_binder *b,
                    struct insn *in); /* exec/warp_ops.c  shfl, vote, match, redux, elect, activemask */
bool exec_bind_tcgen05(struct exec_binder *b, struct insn *in); /* exec/tcgen05.c   9.7.16 */
bool exec_bind_bulk(struct exec_binder *b, struct insn *in); /* exec/bulk.c      cp.async.bulk, cp.reduce.async.bulk */
bool exec_bind_cp_async(struct exec_binder *b, struct insn *in); /* exec/cp_async.c  cp.async */
bool exec_bind_tensormap(struct exec_binder *b,
                         struct insn *in); /* exec/tensormap.c tensormap.replace, .cp_fenceproxy */
bool exec_bind_grid(struct exec_binder *b,
                    struct insn *in); /* exec/grid.c      griddepcontrol, clusterlaunchcontrol, setmaxnreg */
bool exec_bind_mma_sync(struct exec_binder *b, struct insn *in); /* exec/mma_sync.c  9.7.14.5: mma.sync */
bool exec_bind_misc(struct exec_binder *b, struct insn *in);     /* exec/misc.c      nanosleep, pmevent */

#endif
