/* Device memory for the APIs: allocation, copies, fills. Contract in context.h.
 *
 * Error codes are those of the real runtime (measured on an H200, CUDA 12.9 and 13.0), but bounds are exact: a copy of
 * one byte too many fails even where the real allocation was rounded up.
 */
#include "cudart/core/context.h"

#include "base/budget.h"

#include <string.h>

/* CUDA C++ Programming Guide, Dynamic Global Memory Allocation, Interoperability with Host Memory API */
#define OF_HEAP "was allocated by malloc() in a kernel, and no call of the host's may use it"

enum { DEVICE_ALIGN = 256 }; /* what cudaMalloc guarantees (CUDA C++ Programming Guide, device memory accesses) */

int rt_malloc(struct rt_context *c, size_t size, enum rt_memory_type type, void **out) {
    if (size == 0 && c->driver && type != RT_MEMORY_HOST)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "0 bytes");
    if (out == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "no place for the pointer");
    *out = NULL;
    if (size == 0)
        return RT_SUCCESS;
    enum mem_kind kind = type == RT_MEMORY_DEVICE ? MEM_DEVICE : type == RT_MEMORY_HOST ? MEM_HOST : MEM_MANAGED;
    uint64_t address = mem_alloc(c->gpu->mem, size, DEVICE_ALIGN, kind, NULL);
    if (address == 0) {
        uint64_t used, capacity;
        mem_usage(c->gpu->mem, &used, &capacity);
        return rt_say(c, RT_ERROR_MEMORY_ALLOCATION,
                      "%zu bytes asked for, %llu of %llu in use; %llu of the host's are left to the process (--memory)",
                      size, (unsigned long long)used, (unsigned long long)capacity, (unsigned long long)budget_room());
    }
    *out = (void *)(uintptr_t)address;
    tell_host(c->gpu, &(struct event_host){.kind = HOST_ALLOC, .dst = address, .bytes = size});
    return RT_SUCCESS;
}

/* The live block that holds address, if any. */
static bool block_at(struct rt_context *c, uint64_t address, struct mem_block *b) {
    return mem_is_device(c->gpu->mem, address) && mem_nearest(c->gpu->mem, address, b) && address >= b->addr &&
           (address - b->addr < b->size || address == b->addr);
}

int rt_free(struct rt_context *c, void *p, bool host) {
    struct mem_block b;
    uint64_t address = (uintptr_t)p;
    if (p == NULL)
        return RT_SUCCESS;
    if (!block_at(c, address, &b))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%p was not allocated, or is freed already", p);
    if (b.kind == MEM_HEAP)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%p " OF_HEAP ": free() in a kernel frees it", p);
    if (b.kind == MEM_MODULE || b.kind == MEM_MODULE_MANAGED)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%p belongs to the variable %s of a module", p, b.name ? b.name : "?");
    if (b.addr != address)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%p is %llu bytes into an allocation: free its start", p,
                      (unsigned long long)(address - b.addr));
    if (host != (b.kind == MEM_HOST))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%p is %s", p,
                      host ? "device memory: cudaFree frees it" : "page-locked host memory: cudaFreeHost frees it");
    if (!mem_free(c->gpu->mem, address))
        return rt_say(c, RT_ERROR_OPERATING_SYSTEM, "the host refuses to take back the %llu bytes at %p",
                      (unsigned long long)b.size, p);
    rt_pool_freed(c, address);
    tell_host(c->gpu, &(struct event_host){.kind = HOST_FREE, .dst = address});
    return RT_SUCCESS;
}

bool rt_pointer(struct rt_context *c, const void *p, int *type, struct mem_block *block) {
    static const int types[] = {[MEM_DEVICE] = RT_MEMORY_DEVICE,
                                [MEM_MANAGED] = RT_MEMORY_MANAGED,
                                [MEM_HOST] = RT_MEMORY_HOST,
                                [MEM_MODULE] = RT_MEMORY_DEVICE,
                                [MEM_MODULE_MANAGED] = RT_MEMORY_MANAGED};
    if (!block_at(c, (uintptr_t)p, block) || block->kind == MEM_HEAP)
        return false;
    *type = types[block->kind];
    return true;
}

/* `bytes` of host memory behind p for reading or writing: device memory inside one allocation, or the host's own. */
static int resolve(struct rt_context *c, const void *p, size_t bytes, const char *role, uint8_t **out) {
    uint64_t address = (uintptr_t)p;
    struct mem_block b;
    if (p == NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "the %s is a null pointer", role);
    if (!mem_is_device(c->gpu->mem, address)) {
        *out = (uint8_t *)(uintptr_t)p;
        return RT_SUCCESS;
    }
    if (!block_at(c, address, &b))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "the %s %p is in no live allocation", role, p);
    if (b.kind == MEM_HEAP)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "the %s %p " OF_HEAP ": copy it in a kernel", role, p);
    *out = mem_at(c->gpu->mem, address, bytes);
    if (*out != NULL)
        return RT_SUCCESS;
    return rt_say(c, RT_ERROR_INVALID_VALUE, "the %s: %zu bytes at offset %llu of an allocation of %llu", role, bytes,
                  (unsigned long long)(address - b.addr), (unsigned long long)b.size);
}

/* The device's side of a copy must be memory that CUDA knows: device, managed or page-locked. */
static bool known(const struct rt_context *c, const void *p) {
    return mem_is_device(c->gpu->mem, (uintptr_t)p); /* resolve() says what else is wrong with it */
}

/* The host's side may be any memory, the device's too (measured on an H200). */
static int check_kind(struct rt_context *c, const void *dst, const void *src, int kind) {
    static const char *const names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost",
                                        "cudaMemcpyDeviceToDevice"};
    if (kind < RT_HOST_TO_HOST || kind > RT_COPY_DEFAULT)
        return rt_say(c, RT_ERROR_INVALID_MEMCPY_DIRECTION, "%d is not a cudaMemcpyKind", kind);
    /* The real runtime takes host-to-host as "by the pointers", too. */
    if (kind == RT_COPY_DEFAULT || kind == RT_HOST_TO_HOST)
        return RT_SUCCESS;
    bool to_device = kind != RT_DEVICE_TO_HOST, from_device = kind != RT_HOST_TO_DEVICE;
    if (to_device && !known(c, dst))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: the destination %p is host memory", names[kind], dst);
    if (from_device && !known(c, src))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%s: the source %p is host memory", names[kind], src);

    return RT_SUCCESS;
}

static bool is_host(struct rt_context *c, const void *p) {
    struct mem_block b;
    return !block_at(c, (uintptr_t)p, &b) || b.kind == MEM_HOST;
}

/* Memory is copied or filled on a stream: `rows` pieces of `bytes` bytes. `src` NULL: filled. Copies within the device
 * and fills do not hold up the host (CUDA Runtime API, API synchronization behavior). */
static void tell_copy(struct rt_context *c, void *stream, const void *dst, size_t dst_pitch, const void *src,
                      size_t src_pitch, size_t bytes, size_t rows) {
    tell_host(c->gpu,
              &(struct event_host){.kind = HOST_COPY,
                                   .stream = (uintptr_t)stream,
                                   .dst = (uintptr_t)dst,
                                   .src = (uintptr_t)src,
                                   .dst_pitch = dst_pitch,
                                   .src_pitch = src_pitch,
                                   .bytes = bytes,
                                   .rows = rows,
                                   .blocks = src && !strstr(c->call, "Async") && (is_host(c, dst) || is_host(c, src))});
}

int rt_copy(struct rt_context *c, void *dst, const void *src, size_t bytes, int kind, void *stream) {
    uint8_t *to, *from;
    if (bytes == 0)
        return RT_SUCCESS;
    int e = check_kind(c, dst, src, kind);
    e = rt_then(e, resolve(c, dst, bytes, "destination", &to));
    e = rt_then(e, resolve(c, src, bytes, "source", &from));
    if (e != RT_SUCCESS)
        return e;
    memmove(to, from, bytes);
    tell_copy(c, stream, dst, bytes, src, bytes, bytes, 1);
    return e;
}

/* Bytes from the first to the last of a pitched rectangle; false when that does not fit 64 bits. */
static bool span(size_t pitch, size_t width, size_t height, size_t *out) {
    return !__builtin_mul_overflow(pitch, height - 1, out) && !__builtin_add_overflow(*out, width, out);
}

int rt_copy_2d(struct rt_context *c, void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
               size_t height, int kind, void *stream) {
    uint8_t *to, *from;
    size_t to_bytes, from_bytes;
    if (width > dst_pitch || width > src_pitch)
        return rt_say(c, RT_ERROR_INVALID_PITCH, "rows of %zu bytes with pitches of %zu (to) and %zu (from)", width,
                      dst_pitch, src_pitch);
    if (width == 0 || height == 0)
        return RT_SUCCESS;
    if (!span(dst_pitch, width, height, &to_bytes) || !span(src_pitch, width, height, &from_bytes))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%zu rows of these pitches pass the end of memory", height);
    int e = check_kind(c, dst, src, kind);
    e = rt_then(e, resolve(c, dst, to_bytes, "destination", &to));
    e = rt_then(e, resolve(c, src, from_bytes, "source", &from));
    for (size_t y = 0; e == RT_SUCCESS && y < height; y++)
        memmove(to + y * dst_pitch, from + y * src_pitch, width);
    if (e == RT_SUCCESS)
        tell_copy(c, stream, dst, dst_pitch, src, src_pitch, width, height);
    return e;
}

static void fill_row(uint8_t *p, uint32_t value, unsigned element, size_t count) {
    if (element == 1)
        memset(p, (int)(value & 0xFF), count);
    else
        for (size_t i = 0; i < count; i++)
            memcpy(p + i * element, &value, element); /* little-endian hosts only: x86-64, aarch64 */
}

int rt_fill_2d(struct rt_context *c, void *p, size_t pitch, uint32_t value, unsigned element, size_t width,
               size_t height, void *stream) {
    uint8_t *to;
    size_t row, bytes;
    if (width == 0 || height == 0)
        return RT_SUCCESS;
    if (__builtin_mul_overflow(width, (size_t)element, &row) || (height > 1 && row > pitch) ||
        !span(pitch, row, height, &bytes))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%zu rows of %zu elements do not fit a pitch of %zu bytes", height,
                      width, pitch);
    if ((uintptr_t)p % element != 0)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%p is not aligned to the element's %u bytes", p, element);
    if (!mem_is_device(c->gpu->mem, (uintptr_t)p))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%p is not device memory", p);
    int e = resolve(c, p, bytes, "destination", &to);
    for (size_t y = 0; e == RT_SUCCESS && y < height; y++)
        fill_row(to + y * pitch, value, element, width);
    if (e == RT_SUCCESS)
        tell_copy(c, stream, p, pitch, NULL, 0, row, height);
    return e;
}
