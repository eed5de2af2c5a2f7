/* lower/flow.h - the flow graph of a function: its blocks and the ways between them.
 *
 * Instruction num_insns, which the text does not have, is the end: a block of its own, and the last one. A `ret` of a
 * function leads there; a kernel's `ret`, `exit` and `trap` lead nowhere, since the thread ends. A guarded instruction
 * may also go on to the next one.
 */
#ifndef LAUNCH_FLOW_H
#define LAUNCH_FLOW_H

#include "ptx/ir.h"

struct flow_block {
    uint32_t first, last;  /* instructions, inclusive */
    uint32_t *succ, *pred; /* blocks; one that two ways lead to is there twice */
    uint32_t num_succ, num_pred;
};

struct flow {
    const struct ptx_func *func;
    struct flow_block *blocks; /* in the order of the text */
    uint32_t num_blocks;
    uint32_t *block_of; /* by instruction, the end included */
    uint64_t num_edges;
    struct arena arena; /* of all this; released by arena_free */
};

struct flow lower_flow(const struct ptx_func *func);

#endif
