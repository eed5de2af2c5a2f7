/* warp/loads.h - which registers await a load of global memory: the chip's scoreboard.
 *
 * A load does not hold its warp. The warp goes on until an instruction needs a register that the load writes, and waits
 * there (CUDA C++ Programming Guide, "Multiprocessor Level": until the operands of its next instruction are ready). The
 * emulator has the value at once; the clock asks for what it would have waited. Kept where a listener wants it
 * (WANT_LOADS). Loads are numbered for each warp, from 1 on.
 *
 * The order that counts is the machine code's. Within a basic block ptxas issues loads ahead of what needs the ones
 * before: arithmetic, and stores to shared memory, which no load of global memory can see. It does not move them over a
 * store to global memory, which may be of the same bytes, over what synchronises, or into another block. So what is
 * needed in a block is waited for at the first instruction of these kinds, or where the address of another load needs
 * it.
 */
#ifndef WARP_LOADS_H
#define WARP_LOADS_H

#include "warp/warp.h"

struct warp_loads {
    uint32_t num;    /* loads so far */
    uint32_t wanted; /* the latest that an instruction has needed, */
    uint32_t used;   /*  and that the warp has waited for */
    uint32_t slots;  /* of the array: */
    uint32_t *of;    /* by slot of w->slots: the latest load whose result is in it, or 0 */
};

void warp_loads_free(struct warp *w);
/* in->loads, when its source and operands are known. */
uint8_t warp_loads_kind(const struct insn *in);
/* Does any register await a load, or what was computed of one? */
static inline bool warp_loads_pending(const struct warp *w) { return w->loads && w->loads->used != w->loads->num; }
/* The latest load that the group's next instruction waits for, and no instruction before it has; 0: none. */
uint32_t warp_loads_uses(const struct warp *w, const struct group *g, const struct insn *in);
/* The group executes it: the same answer. */
uint32_t warp_loads_execute(struct warp *w, const struct group *g, const struct insn *in);

#endif
