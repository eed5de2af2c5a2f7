/* machine/memory.c - device memory: blocks over two mappings, and the heap in one of them; contract in memory.h. */
#include "machine/memory.h"

#include "base/budget.h"
#include "base/heap.h"
#include "base/poison.h"
#include "report/diag.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEM_ALIGN 256u /* cudaMalloc's alignment guarantee */
/* The unit of what the host maps and takes back: a multiple of every host's page (4, 16 or 64 KiB; 64 on most that have
 * a GB200), and the same on all, so that device addresses differ by the same amounts. */
#define PAGE 65536ull
#define HUGE_PAGE (2ull << 20)
#define HEAP_ALIGN 16u          /* of the device's malloc */
#define HEAP_BYTES (8ull << 20) /* cudaLimitMallocHeapSize, where none is set */

struct devmem {
    uint64_t base;    /* device address of the region; never accessible, except managed pages */
    uint8_t *backing; /* the same bytes, accessible to the emulator */
    uint64_t capacity;
    uint64_t used;
    void *front_map, *back_map; /* what mem_create mapped: each HUGE_PAGE longer than the region */
    int fd;                     /* memfd behind both sides of managed blocks; -1 before the first */
    struct blocks blocks;
    uint64_t shared;    /* of these, those that the host sees */
    struct blocks heap; /* base 0: not reserved yet */
    uint64_t heap_bytes;
    bool told_starved;
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

/* Where device addresses begin if the host has room there: the same in every run, so that logs of one program are. The
 * place is one that ThreadSanitizer, too, leaves to programs. */
#define WISH ((void *)(uintptr_t)0x7e9000000000u)

struct devmem *mem_create(uint64_t capacity) {
    capacity = (capacity + PAGE - 1) & ~(PAGE - 1);
    if (capacity > UINT64_MAX / 2)
        return NULL;
    const uint64_t bytes = capacity + HUGE_PAGE;
    void *front = mmap(WISH, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *back = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct devmem *m = try_calloc(1, sizeof *m);
    if (front == MAP_FAILED || back == MAP_FAILED || !m) {
        if (front != MAP_FAILED)
            munmap(front, bytes);
        if (back != MAP_FAILED)
            munmap(back, bytes);
        xfree(m);
        return NULL;
    }
    m->base = (uint64_t)(uintptr_t)huge_aligned(front);
    m->backing = huge_aligned(back);
    m->capacity = capacity;
    m->front_map = front;
    m->back_map = back;
    m->fd = -1;
    m->heap_bytes = HEAP_BYTES;
    if (!blocks_open(&m->blocks, m->base, m->base + capacity)) {
        mem_destroy(m);
        return NULL;
    }
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
    budget_give(m->used);
    blocks_close(&m->blocks);
    blocks_close(&m->heap);
    xfree(m);
}

/* --- managed memory: pages of a memfd on both sides --------------------------------------------------------------- */

static bool open_shared(struct devmem *m) {
    if (m->fd >= 0)
        return true;
    struct rlimit largest_file; /* beyond it ftruncate would end the process with SIGXFSZ */
    if (getrlimit(RLIMIT_FSIZE, &largest_file) == 0 && largest_file.rlim_cur < m->capacity)
        return false;
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

/* Takes [at, at + bytes) away from the host again: private, unshared pages. False where the host refuses, which has so
 * many mappings at most: what is still shared then holds bytes as well as private pages do. */
static bool unshare(struct devmem *m, uint64_t at, uint64_t bytes) {
    const uint64_t offset = at - m->base;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return map_at((void *)(uintptr_t)at, bytes, PROT_NONE, flags, -1, 0) &&
           map_at(m->backing + offset, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

/* False when the host refuses; nothing that shows has changed then. */
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

static bool host_sees(enum mem_kind kind) {
    return kind == MEM_MANAGED || kind == MEM_HOST || kind == MEM_MODULE_MANAGED;
}

/* Bytes a block of `size` occupies: at least one past its end stays free, so that one-past-the-end never hits a
 * neighbour. */
static uint64_t footprint(uint64_t size, enum mem_kind kind) {
    const uint64_t unit = host_sees(kind) ? PAGE : MEM_ALIGN;
    return (size + unit) & ~(unit - 1);
}

/* A block may be touched, what lies behind it in its footprint may not. */
static void fence_block(struct devmem *m, uint64_t at, uint64_t size, uint64_t footprint) {
    const uint64_t end = at - m->base + footprint;
    poison_forgive(m->backing + (at - m->base), size);
    poison_forbid(m->backing + (at - m->base) + size, footprint - size);
    if (m->forbidden < end)
        m->forbidden = end;
}

uint64_t mem_alloc(struct devmem *m, uint64_t size, uint64_t align, enum mem_kind kind, const char *name) {
    if (size > m->capacity || align > m->capacity)
        return 0;
    const uint64_t unit = host_sees(kind) ? PAGE : MEM_ALIGN, need = footprint(size, kind);
    const struct mem_block b = {.size = size, .kind = kind, .name = name};
    if (!budget_take(need))
        return 0;
    struct mem_block was;
    uint64_t at = blocks_place(&m->blocks, &b, need, align < unit ? unit : align), gone;
    if (at && host_sees(kind) && !share(m, at, need)) {
        blocks_free(&m->blocks, at, &was, &gone);
        at = 0;
    }
    if (!at) {
        budget_give(need);
        return 0;
    }
    if (!host_sees(kind))
        want_huge_pages(m, at, size);
    fence_block(m, at, size, need);
    m->used += need;
    m->shared += host_sees(kind);
    return at;
}

bool mem_free(struct devmem *m, uint64_t addr) {
    const struct mem_block *found = blocks_find(&m->blocks, addr);
    if (!found || found->addr != addr)
        return false;
    if (host_sees(found->kind) && !unshare(m, addr, footprint(found->size, found->kind)))
        return false;
    struct mem_block b;
    uint64_t need;
    blocks_free(&m->blocks, addr, &b, &need);
    /* Hand whole pages back to the host; a partial page keeps its bytes, as freed device memory would. */
    uint64_t first = (addr - m->base + PAGE - 1) & ~(PAGE - 1), last = (addr - m->base + need) & ~(PAGE - 1);
    if (last > first && host_sees(b.kind))
        fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first, (off_t)(last - first));
    else if (last > first)
        madvise(m->backing + first, last - first, MADV_DONTNEED);
    poison_forbid(m->backing + (addr - m->base), b.size);
    m->used -= need;
    m->shared -= host_sees(b.kind);
    budget_give(need);
    return true;
}

bool mem_host_sees(const struct devmem *m) { return m->shared > 0; }

uint64_t mem_placed(const struct devmem *m) { return m->blocks.num_placed; }

void mem_flag(struct devmem *m, uint64_t addr, uint32_t flags) { blocks_flag(&m->blocks, addr, flags); }

/* In the heap, its blocks are what is allocated. */
static const struct mem_block *block_at(const struct devmem *m, uint64_t addr) {
    const struct mem_block *b = blocks_find(&m->blocks, addr);
    return b && b->kind == MEM_HEAP ? blocks_find(&m->heap, addr) : b;
}

uint8_t *mem_at(const struct devmem *m, uint64_t addr, uint64_t size) {
    const struct mem_block *b = block_at(m, addr);
    if (!b || addr - b->addr > b->size || size > b->size - (addr - b->addr))
        return NULL;
    return m->backing + (addr - m->base);
}

bool mem_find_near(const struct devmem *m, uint64_t addr, struct mem_near *near) {
    const struct mem_block *b = block_at(m, addr);
    if (!b || addr - b->addr >= b->size)
        return false;
    const uint64_t *num_freed = b->kind == MEM_HEAP ? &m->heap.num_freed : &m->blocks.num_freed;
    *near = (struct mem_near){b->addr, b->size, m->backing + (b->addr - m->base), num_freed, *num_freed};
    return true;
}

bool mem_nearest(const struct devmem *m, uint64_t addr, struct mem_block *out) {
    const struct mem_block *b = block_at(m, addr);
    if (b)
        *out = *b;
    return b;
}

void mem_place(const struct devmem *m, uint64_t addr, char text[MEM_PLACE]) {
    const struct mem_block *b = block_at(m, addr);
    const int n = snprintf(text, MEM_PLACE, "0x%llx", (unsigned long long)addr);
    if (b && addr - b->addr < b->size)
        snprintf(text + n, MEM_PLACE - (size_t)n, ", byte %llu/%llu", (unsigned long long)(addr - b->addr),
                 (unsigned long long)b->size);
}

bool mem_freed(const struct devmem *m, uint64_t addr, struct mem_block *out) {
    const bool of_heap = m->heap.base && addr - m->heap.base < m->heap.end - m->heap.base;
    return blocks_freed(of_heap ? &m->heap : &m->blocks, addr, out);
}

const char *mem_kind_text(enum mem_kind kind) {
    static const char *const text[] = {"allocation", "managed allocation", "page-locked allocation",
                                       "variable",   "managed variable",   "block of the device's heap"};
    return text[kind];
}

/* --- the heap ----------------------------------------------------------------------------------------------------- */

bool mem_set_heap(struct devmem *m, uint64_t bytes) {
    if (m->heap.base)
        return false;
    m->heap_bytes = bytes;
    return true;
}

static bool reserve_heap(struct devmem *m) {
    const uint64_t at = mem_alloc(m, m->heap_bytes, MEM_ALIGN, MEM_HEAP, NULL);
    if (at && blocks_open(&m->heap, at, at + m->heap_bytes / HEAP_ALIGN * HEAP_ALIGN))
        return true;
    mem_free(m, at);
    return false;
}

/* A kernel sees only that its malloc returns NULL. */
static uint64_t heap_starved(struct devmem *m) {
    if (!m->told_starved)
        diag_api("malloc", "the host has no memory for the device's heap: it returns NULL to kernels");
    m->told_starved = true;
    return 0;
}

uint64_t mem_heap_alloc(struct devmem *m, uint64_t size) {
    const struct mem_block b = {.size = size, .kind = MEM_HEAP};
    if (size >= m->heap_bytes)
        return 0;
    if (!m->heap.base && !reserve_heap(m))
        return heap_starved(m);
    const uint64_t need = (size + HEAP_ALIGN) & ~(uint64_t)(HEAP_ALIGN - 1);
    const uint64_t at = blocks_place(&m->heap, &b, need, HEAP_ALIGN);
    if (!at)
        return m->heap.starved ? heap_starved(m) : 0;
    fence_block(m, at, size, need);
    return at;
}

bool mem_heap_free(struct devmem *m, uint64_t addr) {
    struct mem_block was;
    uint64_t footprint;
    if (!m->heap.base || !blocks_free(&m->heap, addr, &was, &footprint))
        return false;
    poison_forbid(m->backing + (addr - m->base), was.size);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool mem_is_device(const struct devmem *m, uint64_t addr) { return addr >= m->base && addr - m->base < m->capacity; }

void mem_usage(const struct devmem *m, uint64_t *used, uint64_t *capacity) {
    *used = m->used;
    *capacity = m->capacity;
}
