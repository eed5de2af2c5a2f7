/* machine/blocks.h - a range of addresses, given out in blocks.
 *
 * A search tree by address whose nodes know the largest gap below them: placement is first fit, and placing, freeing
 * and finding a block take a time that grows with the logarithm of the number of live blocks. Where a block comes to
 * lie depends on the calls before alone. Any number of host threads may look while none places or frees.
 */
#ifndef MACHINE_BLOCKS_H
#define MACHINE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum mem_kind {
    MEM_DEVICE,         /* cudaMalloc: host access faults */
    MEM_MANAGED,        /* cudaMallocManaged: the host uses the same address */
    MEM_HOST,           /* cudaMallocHost, cudaHostAlloc: the same */
    MEM_MODULE,         /* variables of a module */
    MEM_MODULE_MANAGED, /* __managed__ ones: the host uses the same address */
    MEM_HEAP,           /* the heap of the device's malloc, and its blocks */
};

struct mem_block {
    uint64_t addr; /* device address */
    uint64_t size; /* bytes as asked for: the bound that accesses are checked against */
    enum mem_kind kind;
    const char *name; /* variable name or NULL; not owned */
    uint64_t serial;  /* from 1 on; no other block of the range has had it */
    uint32_t flags;   /* with which the host asked for it (cudaHostAlloc) */
};

#define MEM_FREED_KEPT 256u

struct blocks {
    uint64_t base, end;
    struct block_node *nodes; /* [0] is no node, [1] is where the range ends */
    uint32_t num, cap, root;
    uint32_t secret;                        /* what the tree's shape hangs on */
    uint32_t spare;                         /* list of the unused nodes by .left; 0: none */
    bool starved;                           /* the host once had no memory for more nodes */
    struct mem_block freed[MEM_FREED_KEPT]; /* a ring: block number i is at i % MEM_FREED_KEPT */
    uint64_t num_freed, num_placed;
};

/* Nothing of [base, end) is given out; base is not 0. False, and nothing is open, where the host has no memory. */
bool blocks_open(struct blocks *b, uint64_t base, uint64_t end);
void blocks_close(struct blocks *b);
/* Places `what` at the lowest multiple of `align` with `footprint` bytes free, at least one more than its size, so that
 * its end is in no block; where many gaps are too short for the alignment alone, at a low one. Returns its address; 0
 * when there is no room, or the host has no memory. */
uint64_t blocks_place(struct blocks *b, const struct mem_block *what, uint64_t footprint, uint64_t align);
/* Frees the block that starts at addr, and says which it was and how long its footprint; false when none does. */
bool blocks_free(struct blocks *b, uint64_t addr, struct mem_block *was, uint64_t *footprint);
/* Says with which flags the host asked for the block that starts at addr. */
void blocks_flag(struct blocks *b, uint64_t addr, uint32_t flags);
/* The block that holds addr, below the end of the range, or the last one before it; NULL when there is none. Valid
 * until one is placed or freed. */
const struct mem_block *blocks_find(const struct blocks *b, uint64_t addr);
/* The block freed last that held addr, of the latest MEM_FREED_KEPT; its name is not kept. False when none did. */
bool blocks_freed(const struct blocks *b, uint64_t addr, struct mem_block *out);

#endif
