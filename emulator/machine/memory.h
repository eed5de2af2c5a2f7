/* machine/memory.h - device memory of the emulated GPU.
 *
 * A device pointer is an address in a region that is reserved but never accessible to the host, so a host program that
 * dereferences one faults as it would with a real GPU; the bytes live in a second mapping at a constant distance,
 * private memory of the process in huge pages where the host grants them. Managed and host-mapped allocations are
 * readable by the host at the device address too: their pages are shared by both mappings.
 */
#ifndef MACHINE_MEMORY_H
#define MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct devmem;

enum mem_kind {
    MEM_DEVICE,  /* cudaMalloc: host access faults */
    MEM_MANAGED, /* cudaMallocManaged, cudaHostAlloc: the host uses the same address */
    MEM_MODULE,  /* variables of a module */
};

struct mem_block {
    uint64_t addr; /* device address, aligned to 256 bytes */
    uint64_t size; /* bytes as asked for: the bound that accesses are checked against */
    enum mem_kind kind;
    const char *name; /* variable name or NULL; not owned */
};

/* `capacity` bytes of device memory (address space is reserved, host memory is committed as it is touched).
 * NULL when the host refuses the reservation. */
struct devmem *mem_create(uint64_t capacity);
void mem_destroy(struct devmem *m);

/* Returns the device address, or 0 when there is no room, here or in the budget of host memory (base/budget.h). size 0 is allowed and gives a unique address. */
uint64_t mem_alloc(struct devmem *m, uint64_t size, uint64_t align, enum mem_kind kind, const char *name);
/* Frees the block that starts at addr; false when none does, or when the host refuses to unmap a managed one: the block
 * is then what it was, but for the host, which reads and writes it no more. */
bool mem_free(struct devmem *m, uint64_t addr);

/* Host pointer to [addr, addr + size) when that lies wholly inside one live allocation, else NULL: a binary search. Any
 * number of host threads may ask at once while none allocates or frees. The pointer is valid until the allocation is
 * freed. */
uint8_t *mem_at(const struct devmem *m, uint64_t addr, uint64_t size);
/* The live allocation that holds addr, or the nearest one before it (for messages); false when there is none. */
bool mem_nearest(const struct devmem *m, uint64_t addr, struct mem_block *out);
/* The block freed last that held addr, of the latest MEM_FREED_KEPT (for messages); false when none did. */
#define MEM_FREED_KEPT 256u
bool mem_freed(const struct devmem *m, uint64_t addr, struct mem_block *out);
/* Is addr inside the reserved region at all? */
bool mem_is_device(const struct devmem *m, uint64_t addr);
void mem_usage(const struct devmem *m, uint64_t *used, uint64_t *capacity);

#endif
