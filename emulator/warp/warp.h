/* warp/warp.h - a warp's state, and what a handler may read, write and ask for.
 *
 * A warp executes one *group* of lanes at a time: lanes that share pc and frame. Groups split at divergent branches and
 * meet again at the branch's immediate post-dominator. Instructions and slots: warp/insn.h.
 */
#ifndef WARP_WARP_H
#define WARP_WARP_H

#include "machine/events.h"
#include "warp/insn.h"

#define WARP_ALL_LANES 0xffffffffu

/* --- warps -------------------------------------------------------------------------------------------------------- */

struct warp_wait {
    enum event_wait_kind kind;
    bool polls;     /* may be resumed with warp_timed_out(): try_wait and repeated test_wait */
    bool one_mbar;  /* a try_wait whose lanes all wait for one phase of one object: mbar_waits(mbar) says how long */
    uint32_t mbar;  /* mbar_index */
    uint32_t exits; /* cluster->exits when it was suspended */
    uint32_t addr;  /* shared address or barrier number */
    uint64_t value;
    const struct insn *in;
    const uint32_t *left; /* all lanes wait, unguarded, while this is not 0; or NULL */
};

/* What lanes of a warp waited for last: for the report of what they then find unwritten. */
struct warp_waited {
    const struct ptx_insn *in; /* NULL: for nothing */
    enum event_wait_kind kind;
    bool no, again; /* a poll of an mbarrier was answered no; or yes, as the phase was over before: seen, or none yet */
};

/* MACH_SCHED_MODEL: when lanes are next. */
struct warp_time {
    double at;
    bool issued;          /* their next instruction is, and takes effect at `at` */
    double slots, cycles; /* else: of instructions that ran ahead of `at` and are not issued yet */
};

/* Lanes that execute together. */
struct group {
    uint32_t mask;
    uint32_t pc;
    uint32_t frame; /* index into w->frames */
    int32_t join;   /* innermost reconvergence entry, -1: none */
    enum { GROUP_FREE = 0, GROUP_READY, GROUP_WAITING } state;
    bool timed_out; /* resumed without its condition: a polling instruction answers false */
    bool told;      /* that it waits, and not yet that it does no more */
    bool again;     /* it has come to its next instruction before, and waited there or parted from other lanes */
    uint64_t epoch; /* cta->epoch when it was suspended */
    uint32_t polls; /* failing test_wait in a row without any progress of the CTA */
    struct warp_wait wait;
    struct warp_time time;
};

struct warp_join {
    uint32_t mask, arrived, pc, frame;
    int32_t parent;
    bool used;
};

struct warp_frame {
    const struct warp_func *func;
    uint32_t base;  /* first slot in w->slots */
    uint32_t slots; /* from there on; the next record's follow. A free one keeps both */
    uint32_t next_free, prev_free;
    uint32_t parent;     /* frame index of the caller */
    uint64_t number;     /* of the call, from 1: the record is taken again */
    uint32_t depth;      /* callers below it */
    uint32_t ret_pc;     /* where the caller goes on */
    uint32_t local_base; /* byte offset of this activation's .local variables */
    uint32_t mask;       /* lanes still inside */
    const struct insn *call;
    bool used;
};

struct warp_grid;   /* warp/core.h */
struct isa_async;   /* isa/async_group.c: async-groups */
struct isa_pending; /* isa/tcgen05.c: tcgen05.ld results on their way into registers */
struct warp_notes;  /* warp/unwritten.c: who read what nothing had written */
struct warp_loads;  /* warp/loads.c: registers that await global memory */
struct warp_parts;  /* warp/parts.c: registers of which some bits were written */

struct warp {
    struct cta *cta;
    struct gpu *gpu;
    struct island *island;
    struct warp_grid *grid;
    uint32_t index;          /* warp in CTA */
    uint32_t lanes;          /* threads that the block gives it, */
    uint32_t live;           /*  and those of them that have not exited */
    uint64_t priority;       /* MACH_SCHED_PCT */
    struct mach_agent agent; /* MACH_SCHED_MODEL */
    bool yielded;            /* its last turn ended with WARP_YIELD */
    bool paused;             /* or in between: its next turn goes on with the same group (launch/together.c) */
    bool ended;              /* all lanes exited and the CTA has counted it (launch/sched.c) */
    /* current group, valid while a handler runs */
    struct group *g;
    const struct warp_func *func;
    uint32_t *base;          /* slots of the current frame */
    uint32_t *pz;            /* poison of the current frame, one word per slot */
    const uint32_t *read[2]; /* what a source's slots count from: base, and the function's constants */
    /* storage */
    uint32_t *slots, *poison;
    uint32_t num_slots, zeroed; /* those behind were never part of a frame, and hold anything */
    struct warp_frame *frames;  /* in the order of their slots */
    uint32_t num_frames;        /* records there is room for */
    uint32_t end_frame;         /* those behind were never used, or are no more */
    uint64_t calls;             /* so far, the kernel's own included */
    uint32_t free_frame;        /* list of free ones before it, latest first, ends with UINT32_MAX */
    struct group groups[MACH_WARP];
    uint32_t num_groups; /* groups behind these were never used */
    uint32_t riding;     /* lanes that share the current instruction only (warp/meet.c) */
    struct warp_join joins[MACH_WARP];
    uint8_t *local;            /* .local memory: lane l, byte b at local[l * local_stride + b] */
    uint8_t *local_poison;     /* bit per byte, same order */
    uint64_t local_written[4]; /* bit for each of the first words: known not to be poison, in any lane */
    uint32_t local_stride;
    struct warp_notes *notes;
    struct warp_parts *parts; /* NULL: no register was ever written in part */
    /* the chain that runs: warp/chain.h */
    const struct chain_op *chain; /* where it was entered, or began its last round: */
    uint64_t chain_clock;         /*  the island's clock before that, */
    uint64_t chain_left;          /*  and so many instructions may be done from there on */
    enum warp_status chain_status;
    /* families' per-warp state */
    struct warp_loads *loads; /* WANT_LOADS: warp/loads.c */
    uint32_t cc, cc_known;    /* CC.CF of each lane, and whether it was ever written: isa/carry.c */
    /* Where it is set, asked before each instruction, which runs when it answers NEXT: loads of tensor memory are on
     * their way into registers (isa/tcgen05_ldst.c). */
    warp_fn before;
    struct isa_pending *tmem_pending;
    struct async_queue *tmem_queue; /* tcgen05.ld/st of this warp */
    uint64_t polled[MACH_WARP];     /* by lane: phases that the mbarrier had completed when its poll was suspended */
    uint32_t peeks;                 /* test_wait since one was last answered yes, and turns given up in them */
    uint64_t came_back;             /* try_wait that were answered no at once, a bit each: isa/mbarrier.c */
    uint32_t cluster_arrived, cluster_here, cluster_done; /* lanes: isa/barrier.c */
    uint64_t cluster_phase;
    struct warp_waited waited;
    uint32_t bar_waiting;           /* named barrier + 1 that the warp has arrived at and waits for; 0: none */
    uint64_t bar_phase;             /* its generation */
    struct isa_async *async_groups; /* of its threads: isa/async_group.c */
    struct async_queue *copy_queue; /* cp.async of this warp */
    uint32_t regs;                  /* per thread, as setmaxnreg left them; 0: as at launch. isa/grid_control.c */
    uint32_t setmaxnregs;           /* executed */
    bool setmaxnreg_told;           /* the warpgroup's first: they differ, and that was reported */
    const struct insn *last_setmaxnreg;
};

/* --- reading and writing operands (all inline, used by every handler) --------------------------------------------- */

static inline const uint32_t *warp_src32(const struct warp *w, warp_slot s) {
    const uint32_t constant = (uint32_t)(s >> 31); /* no branch: all ones or 0 */
    return w->read[constant & 1] + (size_t)((uint32_t)s ^ constant) * MACH_WARP;
}
static inline const uint64_t *warp_src64(const struct warp *w, warp_slot s) {
    return (const uint64_t *)(const void *)warp_src32(w, s);
}
static inline uint32_t *warp_dst32(struct warp *w, warp_slot s) { return w->base + (size_t)s * MACH_WARP; }
static inline uint64_t *warp_dst64(struct warp *w, warp_slot s) { return (uint64_t *)(void *)warp_dst32(w, s); }
/* Poisoned lanes of a source; constants never are. */
static inline uint32_t warp_poison(const struct warp *w, warp_slot s) {
    const uint32_t constant = (uint32_t)(s >> 31);
    return w->pz[(uint32_t)s & ~constant] & ~constant;
}
/* Of lanes `mask` of w->slots from `slot` on nothing is a written part any more. w->parts is not NULL. */
void warp_forget_parts(struct warp *w, uint32_t slot, uint32_t slots, uint32_t mask);
/* Operand i < WARP_FAST_OPNDS of the same, which is a slot: as a source, as a destination, and the source's poison. */
static inline const void *warp_fast_src(const struct warp *w, const struct insn *in, unsigned i) {
    return (const char *)w->read[in->from[i]] + in->at[i];
}
static inline void *warp_fast_dst(struct warp *w, const struct insn *in, unsigned i) {
    return (char *)w->base + in->at[i];
}
static inline uint32_t warp_fast_poison(const struct warp *w, const struct insn *in, unsigned i) {
    return w->pz[in->poison[i]];
}
/* Destination lanes `mask` become poison, all their bits, where `p` says so, and clean elsewhere. */
static inline void warp_set_poison(struct warp *w, warp_slot s, uint32_t mask, uint32_t p) {
    w->pz[s] = (w->pz[s] & ~mask) | (p & mask);
    if (p & mask && w->parts)
        warp_forget_parts(w, (uint32_t)(w->pz - w->poison) + (uint32_t)s, 1, p & mask);
}
/* The same, as the last that a handler does. */
static inline enum warp_status warp_done(struct warp *w, warp_slot s, uint32_t mask, uint32_t p) {
    warp_set_poison(w, s, mask, p);
    return WARP_NEXT;
}
/* Predicate source with its negation applied: bit per lane. */
static inline uint32_t warp_pred(const struct warp *w, const struct warp_opnd *o) {
    uint32_t v = warp_src32(w, o->slot)[0];
    return o->neg ? ~v : v;
}
static inline void warp_set_pred(struct warp *w, warp_slot s, uint32_t mask, uint32_t value) {
    if (s == WARP_SINK)
        return;
    uint32_t *d = warp_dst32(w, s);
    d[0] = (d[0] & ~mask) | (value & mask);
}
static inline unsigned warp_lowest(uint32_t mask) { return (unsigned)__builtin_ctz(mask); }
#define WARP_FOR_LANES(l, mask) for (uint32_t m_ = (mask), l; m_ && (l = warp_lowest(m_), 1); m_ &= m_ - 1)

/* --- services for handlers ---------------------------------------------------------------------------------------- */

/* Reports a fault of lanes `lanes` at this instruction and returns WARP_FAULT. */
enum warp_status warp_fault(struct warp *w, const struct insn *in, uint32_t lanes, const struct diag *proto,
                            const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same, and false: for `return` in what is false after a fault. */
#define warp_fails(...) ((void)warp_fault(__VA_ARGS__), false)
/* Fault for a poisoned operand that decides something: `what` is "the address", "the instruction descriptor", ... */
enum warp_status warp_fault_poison(struct warp *w, const struct insn *in, uint32_t lanes, const char *what);
/* Who executes this: for asynchronous operations. */
struct mach_origin warp_origin(const struct warp *w, const struct insn *in, uint32_t lanes);
/* Writes it where there are zeros, but for the operation. */
void warp_set_origin(const struct warp *w, const struct insn *in, uint32_t lanes, struct mach_origin *o);
/* The same for events, without order and scope. */
static inline struct event_by warp_by(const struct warp *w, const struct insn *in, uint32_t lanes) {
    return (struct event_by){
        .cta = w->cta, .site = &in->src->site, .what = ptx_op_text(in->src->op), .warp = w->index, .lanes = lanes};
}

/* Suspends the current group until its CTA's epoch changes; returns WARP_WAIT. The instruction then runs again. */
enum warp_status warp_wait(struct warp *w, const struct insn *in, const struct warp_wait *wait);
/* Gives up the warp's turn in an instruction that runs again in the next; returns what it returns. */
enum warp_status warp_give_way(struct warp *w);
/* True (once) when the group was resumed because nothing in the launch can progress: a polling instruction now
 * answers "not yet" so that the program can go on. */
bool warp_timed_out(struct warp *w);
/* For X.sync with a membermask: true when all live lanes of `membermask` are here and form the current group (they are
 * merged into it and `mask` is to be re-read from w->g->mask); false after suspending: return WARP_WAIT or WARP_GONE as
 * *status says. */
bool warp_sync_lanes(struct warp *w, const struct insn *in, uint32_t membermask, enum warp_status *status);

/* After it: the lanes that came from one place, and their instruction there (struct insn, `meets`). For `*p` = {0} and
 * from then on the next ones; false when there are no more. */
struct warp_part {
    const struct insn *in;
    uint32_t lanes;
    unsigned next; /* of the warp's groups */
};
bool warp_next_part(const struct warp *w, const struct insn *in, struct warp_part *p);

/* %tid of a lane. */
struct diag_dim3 warp_tid(const struct warp *w, uint32_t lane);
void warp_set_tid(const struct warp *w, uint32_t lane, struct diag_dim3 *tid);

/* --- lane addresses (warp/address.c) ------------------------------------------------------------------------------ */

enum warp_space { XS_GENERIC, XS_GLOBAL, XS_SHARED_CTA, XS_SHARED_CLUSTER, XS_LOCAL, XS_PARAM, XS_CONST };

/* Where one lane's access lands. host points to the bytes; for shared memory cta/off name it as well (poison lives
 * there); for local memory off is the byte offset in the lane's local memory. */
struct warp_loc {
    uint8_t *host;
    enum warp_space space; /* XS_GLOBAL, XS_SHARED_CTA, XS_LOCAL or XS_PARAM after resolution */
    struct cta *cta;
    uint32_t off;
};
/* Address of lane `lane` of a MEM operand: base register + offset. 32-bit bases are zero-extended. */
uint64_t warp_address(const struct warp *w, const struct warp_opnd *o, uint32_t lane);
/* Resolves and checks one access of `size` bytes (power of two alignment `align`). False after reporting a fault. */
bool warp_resolve(struct warp *w, const struct insn *in, uint32_t lane, enum warp_space space, uint64_t addr,
                  uint32_t size, uint32_t align, bool write, struct warp_loc *loc);
/* Poison of size bytes at a location as a bit per byte (LSB = first byte); size <= 32. 0 for global and param. */
uint32_t warp_loc_poison(const struct warp *w, uint32_t lane, const struct warp_loc *loc, uint32_t size);
/* A shared-memory operand ([addr] of mbarrier, tcgen05.alloc, ...): the CTA and offset it names, checked for `size`
 * bytes and alignment; `cluster` allows other CTAs. Accepts generic addresses when `generic`. False after reporting. */
bool warp_smem_operand(struct warp *w, const struct insn *in, uint32_t lane, const struct warp_opnd *o, bool cluster,
                       bool generic, uint32_t size, struct cta **cta, uint32_t *off);

#endif
