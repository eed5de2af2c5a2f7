/* machine/memory.c - device memory: a sorted table of allocations over two mappings; contract in memory.h. */
#include "machine/memory.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/poison.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEM_ALIGN 256u /* cudaMalloc's alignment guarantee */
/* The unit of what the host maps and takes back: a multiple of every host's page (4, 16 or 64 KiB; 64 on most that have
 * a GB200), and the same on all, so that device addresses differ by the same amounts. */
#define PAGE 65536ull
#define HUGE_PAGE (2ull << 20)

struct devmem {
    uint64_t base;    /* device address of the region; never accessible, except managed pages */
    uint8_t *backing; /* the same bytes, accessible to the emulator */
    uint64_t capacity;
    uint64_t used;
    void *front_map, *back_map; /* what mem_create mapped: each HUGE_PAGE longer than the region */
    int fd;                     /* memfd behind both sides of managed blocks; -1 before the first */
    struct mem_block *blocks;   /* sorted by addr, disjoint, each followed by at least one unallocated byte */
    uint32_t num, cap;
    struct mem_block freed[MEM_FREED_KEPT]; /* a ring: block number i is at i % MEM_FREED_KEPT */
    uint64_t num_freed;
    uint64_t forbidden; /* end of the part of the region in which bytes were forbidden (base/poison.h) */
};

static uint8_t *huge_aligned(void *p) { return (uint8_t *)p + (-(uintptr_t)p & (HUGE_PAGE - 1)); }

/* Rows of a tile lie on a page each: with huge pages, where the host grants them, a copy does not miss the TLB for
 * every row. Only pages that belong to the block as a whole, so that small blocks stay cheap to touch. */
static void want_huge_pages(const struct devmem *m, uint64_t at, uint64_t bytes) {
    uint8_t *p = m->backing + (at - m->base), *first = huge_aligned(p);
    const uint64_t lost = (uint64_t)(first - p);
    if (bytes >= lost + HUGE_PAGE)
        madvise(first, (bytes - lost) & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
}

struct devmem *mem_create(uint64_t capacity) {
    capacity = (capacity + PAGE - 1) & ~(PAGE - 1);
    if (capacity > UINT64_MAX / 2)
        return NULL;
    const uint64_t bytes = capacity + HUGE_PAGE;
    void *front = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *back = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (front == MAP_FAILED || back == MAP_FAILED) {
        if (front != MAP_FAILED)
            munmap(front, bytes);
        if (back != MAP_FAILED)
            munmap(back, bytes);
        return NULL;
    }
    struct devmem *m = xcalloc(1, sizeof *m);
    m->base = (uint64_t)(uintptr_t)huge_aligned(front);
    m->backing = huge_aligned(back);
    m->capacity = capacity;
    m->front_map = front;
    m->back_map = back;
    m->fd = -1;
    return m;
}

void mem_destroy(struct devmem *m) {
    if (!m)
        return;
    poison_forgive(m->backing, m->forbidden);
    munmap(m->front_map, m->capacity + HUGE_PAGE);
    munmap(m->back_map, m->capacity + HUGE_PAGE);
    if (m->fd >= 0)
        close(m->fd);
    free(m->blocks);
    free(m);
}

/* --- managed memory: pages of a memfd on both sides --------------------------------------------------------------- */

static bool open_shared(struct devmem *m) {
    if (m->fd >= 0)
        return true;
    int fd = memfd_create("sm100emu-managed-memory", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    if (ftruncate(fd, (off_t)m->capacity) != 0) {
        close(fd);
        return false;
    }
    m->fd = fd;
    return true;
}

static bool map_at(void *at, uint64_t bytes, int prot, int flags, int fd, uint64_t offset) {
    return mmap(at, bytes, prot, flags | MAP_FIXED, fd, (off_t)offset) != MAP_FAILED;
}

/* Takes [at, at + bytes) away from the host again: private, unshared pages. */
static void unshare(struct devmem *m, uint64_t at, uint64_t bytes) {
    const uint64_t offset = at - m->base;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (!map_at((void *)(uintptr_t)at, bytes, PROT_NONE, flags, -1, 0) ||
        !map_at(m->backing + offset, bytes, PROT_READ | PROT_WRITE, flags, -1, 0))
        diag_broken("the host refuses to take back %llu bytes of managed memory", (unsigned long long)bytes);
}

/* False when the host refuses; nothing has changed then. */
static bool share(struct devmem *m, uint64_t at, uint64_t bytes) {
    const uint64_t offset = at - m->base;
    const int prot = PROT_READ | PROT_WRITE;
    if (!open_shared(m))
        return false;
    if (map_at(m->backing + offset, bytes, prot, MAP_SHARED, m->fd, offset) &&
        map_at((void *)(uintptr_t)at, bytes, prot, MAP_SHARED, m->fd, offset))
        return true;
    unshare(m, at, bytes);
    return false;
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

/* A block may be touched, what lies between it and the next may not: as far as an error is likely to reach. */
static void fence_block(struct devmem *m, const struct mem_block *b, uint64_t next) {
    uint64_t end = b->addr + b->size, gap = next - end < PAGE ? next - end : PAGE;
    poison_forgive(m->backing + (b->addr - m->base), b->size);
    poison_forbid(m->backing + (end - m->base), gap);
    if (m->forbidden < end + gap - m->base)
        m->forbidden = end + gap - m->base;
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
    if (kind == MEM_MANAGED && !share(m, at, need))
        return 0;
    if (kind != MEM_MANAGED)
        want_huge_pages(m, at, size);
    m->blocks = xgrow(m->blocks, m->num, &m->cap, sizeof *m->blocks);
    b.addr = at;
    fence_block(m, &b, i < m->num ? m->blocks[i].addr : m->base + m->capacity);
    memmove(&m->blocks[i + 1], &m->blocks[i], (m->num - i) * sizeof *m->blocks);
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
    /* Hand whole pages back to the host; a partial page keeps its bytes, as freed device memory would. */
    uint64_t first = (addr - m->base + PAGE - 1) & ~(PAGE - 1), last = (addr - m->base + need) & ~(PAGE - 1);
    if (last > first)
        madvise(m->backing + first, last - first, b->kind == MEM_MANAGED ? MADV_REMOVE : MADV_DONTNEED);
    if (b->kind == MEM_MANAGED)
        unshare(m, addr, need);
    poison_forbid(m->backing + (addr - m->base), b->size);
    m->used -= need;
    struct mem_block *kept = &m->freed[m->num_freed++ % MEM_FREED_KEPT];
    *kept = *b;
    kept->name = NULL; /* the name lives as long as the block */
    m->num--;
    memmove(b, b + 1, (m->num - i) * sizeof *b);
    return true;
}

uint8_t *mem_at(const struct devmem *m, uint64_t addr, uint64_t size) {
    size_t i = upper(m, addr);
    if (i == 0)
        return NULL;
    const struct mem_block *b = &m->blocks[i - 1];
    if (addr - b->addr > b->size || size > b->size - (addr - b->addr))
        return NULL;
    return m->backing + (addr - m->base);
}

bool mem_nearest(const struct devmem *m, uint64_t addr, struct mem_block *out) {
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

bool mem_is_device(const struct devmem *m, uint64_t addr) { return addr >= m->base && addr - m->base < m->capacity; }

void mem_usage(const struct devmem *m, uint64_t *used, uint64_t *capacity) {
    *used = m->used;
    *capacity = m->capacity;
}
