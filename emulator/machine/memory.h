/* machine/memory.h - device memory of the emulated GPU.
 *
 * A device pointer is an address in a region that is reserved but never accessible to the host, so a host program that
 * dereferences one faults as it would with a real GPU; the bytes live in a second mapping at a constant distance,
 * private memory of the process in huge pages where the host grants them. Managed and host-mapped allocations are
 * readable by the host at the device address too: their pages are shared by both mappings.
 */
#ifndef MACHINE_MEMORY_H
#define MACHINE_MEMORY_H

#include "machine/blocks.h"

#include <stdbool.h>
#include <stdint.h>

struct devmem;

/* `capacity` bytes of device memory (address space is reserved, host memory is committed as it is touched).
 * NULL when the host refuses the reservation. */
struct devmem *mem_create(uint64_t capacity);
void mem_destroy(struct devmem *m);

/* Returns the device address, a multiple of 256 bytes and of `align`, or 0 when there is no room, here or in the budget
 * of host memory (base/budget.h). size 0 is allowed and gives a unique address. */
uint64_t mem_alloc(struct devmem *m, uint64_t size, uint64_t align, enum mem_kind kind, const char *name);
/* How many allocations there have been: the serial of the latest one. */
uint64_t mem_placed(const struct devmem *m);
/* Is there memory that the host reads and writes at its device address? */
bool mem_host_sees(const struct devmem *m);
/* Says with which flags the host asked for this allocation. */
void mem_flag(struct devmem *m, uint64_t addr, uint32_t flags);
/* Frees the block that starts at addr; false when none does, or when the host refuses to unmap a managed one: the block
 * is then what it was, but for the host, which reads and writes it no more. */
bool mem_free(struct devmem *m, uint64_t addr);

/* Host pointer to [addr, addr + size) when that lies wholly inside one live allocation or block of the heap, else NULL.
 * Any number of host threads may ask at once while none allocates or frees. The pointer is valid until the allocation
 * is freed. */
uint8_t *mem_at(const struct devmem *m, uint64_t addr, uint64_t size);
/* An allocation that was found, as long as nothing was freed after; {0}: none. */
struct mem_near {
    uint64_t addr, bytes;
    uint8_t *host;
    const uint64_t *num_freed;
    uint64_t seen; /* of them */
};
static inline bool mem_is_near(const struct mem_near *n, uint64_t addr) {
    return addr - n->addr < n->bytes && *n->num_freed == n->seen;
}
/* The live allocation or block of the heap that holds addr; false if there is none. */
bool mem_find_near(const struct devmem *m, uint64_t addr, struct mem_near *near);
/* The live allocation or block of the heap that holds addr, or the nearest one before it (for messages); false when
 * there is none. */
bool mem_nearest(const struct devmem *m, uint64_t addr, struct mem_block *out);
/* The block freed last that held addr, of the latest MEM_FREED_KEPT (for messages); false when none did. */
bool mem_freed(const struct devmem *m, uint64_t addr, struct mem_block *out);
/* Is addr inside the reserved region at all? */
bool mem_is_device(const struct devmem *m, uint64_t addr);
void mem_usage(const struct devmem *m, uint64_t *used, uint64_t *capacity);
/* What blocks of a kind are called, to be followed by their name if they have one. */
const char *mem_kind_text(enum mem_kind kind);

/* --- the heap of the device's malloc and free (CUDA C++ Programming Guide, Dynamic Global Memory Allocation) ------ */

/* Its size in bytes; false when it is in use already. It is reserved when first used. */
bool mem_set_heap(struct devmem *m, uint64_t bytes);
/* A block at a multiple of 16 bytes, or 0 when the heap is full or cannot be reserved. size 0 gives a unique address.
 * It lives until it is freed, or the memory destroyed. */
uint64_t mem_heap_alloc(struct devmem *m, uint64_t size);
/* Frees the block of the heap that starts at addr; false when none does. */
bool mem_heap_free(struct devmem *m, uint64_t addr);

#endif
