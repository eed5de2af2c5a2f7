/* machine/memory.c - device memory: a sorted table of allocations over two mappings; contract in memory.h. */
#include "machine/memory.h"

#include "base/arena.h"
#include "base/diag.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEM_ALIGN 256u /* cudaMalloc's alignment guarantee */
#define PAGE 4096ull

struct devmem {
    uint64_t base;    /* device address of the region; never accessible, except managed pages */
    uint8_t *backing; /* the same bytes, accessible to the emulator */
    uint64_t capacity;
    uint64_t used;
    int fd;                   /* memfd behind both mappings */
    struct mem_block *blocks; /* sorted by addr, disjoint, each followed by at least one unallocated byte */
    size_t num, cap;
    atomic_size_t last;                     /* index of the last hit; a hint that several threads share */
    struct mem_block freed[MEM_FREED_KEPT]; /* a ring: block number i is at i % MEM_FREED_KEPT */
    uint64_t num_freed;
};

struct devmem *mem_create(uint64_t capacity) {
    capacity = (capacity + PAGE - 1) & ~(PAGE - 1);
    int fd = memfd_create("sm100emu-device-memory", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (ftruncate(fd, (off_t)capacity) != 0) {
        close(fd);
        return NULL;
    }
    void *front = mmap(NULL, capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *back = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (front == MAP_FAILED || back == MAP_FAILED) {
        if (front != MAP_FAILED)
            munmap(front, capacity);
        if (back != MAP_FAILED)
            munmap(back, capacity);
        close(fd);
        return NULL;
    }
    struct devmem *m = xcalloc(1, sizeof *m);
    m->base = (uint64_t)(uintptr_t)front;
    m->backing = back;
    m->capacity = capacity;
    m->fd = fd;
    return m;
}

void mem_destroy(struct devmem *m) {
    if (!m)
        return;
    munmap((void *)(uintptr_t)m->base, m->capacity);
    munmap(m->backing, m->capacity);
    close(m->fd);
    free(m->blocks);
    free(m);
}

/* Bytes a block occupies: at least one past its end stays free, so that one-past-the-end never hits a neighbour. */
static uint64_t footprint(const struct mem_block *b) {
    uint64_t align = b->kind == MEM_MANAGED ? PAGE : MEM_ALIGN;
    return (b->size + align) & ~(align - 1);
}

/* Index of the first block with addr greater than `addr`. */
static size_t upper(const struct devmem *m, uint64_t addr) {
    size_t lo = 0, hi = m->num;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->blocks[mid].addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint64_t mem_alloc(struct devmem *m, uint64_t size, uint64_t align, enum mem_kind kind, const char *name) {
    if (size > m->capacity || align > m->capacity)
        return 0;
    uint64_t unit = kind == MEM_MANAGED ? PAGE : MEM_ALIGN;
    if (align < unit)
        align = unit;
    struct mem_block b = {.size = size, .kind = kind, .name = name};
    uint64_t need = footprint(&b), at = m->base;
    size_t i = 0;
    for (; i <= m->num; i++) { /* first fit */
        at = (at + align - 1) & ~(align - 1);
        uint64_t end = i < m->num ? m->blocks[i].addr : m->base + m->capacity;
        if (at < end && need <= end - at)
            break;
        if (i < m->num)
            at = m->blocks[i].addr + footprint(&m->blocks[i]);
    }
    if (i > m->num)
        return 0;
    if (kind == MEM_MANAGED && mmap((void *)(uintptr_t)at, need, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_FIXED, m->fd, (off_t)(at - m->base)) == MAP_FAILED)
        return 0;
    if (m->num == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->blocks = xrealloc_array(m->blocks, m->cap, sizeof *m->blocks);
    }
    memmove(&m->blocks[i + 1], &m->blocks[i], (m->num - i) * sizeof *m->blocks);
    b.addr = at;
    m->blocks[i] = b;
    m->num++;
    m->used += need;
    return at;
}

bool mem_free(struct devmem *m, uint64_t addr) {
    size_t i = upper(m, addr);
    if (i == 0 || m->blocks[i - 1].addr != addr)
        return false;
    struct mem_block *b = &m->blocks[--i];
    uint64_t need = footprint(b);
    if (b->kind == MEM_MANAGED &&
        mmap((void *)(uintptr_t)addr, need, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        diag_broken("the host refuses to take back %llu bytes of managed memory", (unsigned long long)need);
    /* Hand whole pages back to the host; a partial page keeps its bytes, as freed device memory would. */
    uint64_t first = (addr - m->base + PAGE - 1) & ~(PAGE - 1), last = (addr - m->base + need) & ~(PAGE - 1);
    if (last > first)
        madvise(m->backing + first, last - first, MADV_REMOVE);
    m->used -= need;
    struct mem_block *kept = &m->freed[m->num_freed++ % MEM_FREED_KEPT];
    *kept = *b;
    kept->name = NULL; /* the name lives as long as the block */
    m->num--;
    memmove(b, b + 1, (m->num - i) * sizeof *b);
    m->last = 0;
    return true;
}

uint8_t *mem_at(struct devmem *m, uint64_t addr, uint64_t size) {
    if (m->num == 0)
        return NULL;
    size_t last = atomic_load_explicit(&m->last, memory_order_relaxed);
    const struct mem_block *b = &m->blocks[last < m->num ? last : 0];
    if (addr < b->addr || addr - b->addr > b->size || size > b->size - (addr - b->addr)) {
        size_t i = upper(m, addr);
        if (i == 0)
            return NULL;
        b = &m->blocks[i - 1];
        if (addr - b->addr > b->size || size > b->size - (addr - b->addr))
            return NULL;
        atomic_store_explicit(&m->last, i - 1, memory_order_relaxed);
    }
    return m->backing + (addr - m->base);
}

bool mem_nearest(struct devmem *m, uint64_t addr, struct mem_block *out) {
    size_t i = upper(m, addr);
    if (i == 0)
        return false;
    *out = m->blocks[i - 1];
    return true;
}

bool mem_freed(const struct devmem *m, uint64_t addr, struct mem_block *out) {
    uint64_t kept = m->num_freed < MEM_FREED_KEPT ? m->num_freed : MEM_FREED_KEPT;
    for (uint64_t i = 1; i <= kept; i++) {
        const struct mem_block *b = &m->freed[(m->num_freed - i) % MEM_FREED_KEPT];
        if (addr < b->addr || addr - b->addr >= b->size)
            continue;
        *out = *b;
        return true;
    }
    return false;
}

bool mem_is_device(const struct devmem *m, uint64_t addr) {
    return addr >= m->base && addr - m->base < m->capacity;
}

void mem_usage(const struct devmem *m, uint64_t *used, uint64_t *capacity) {
    *used = m->used;
    *capacity = m->capacity;
}
