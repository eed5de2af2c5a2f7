/* Driver API: memory, copies, fills. Asynchronous calls do their work before they return. */
#include "cudart/core/calls.h"

/* Device pointers are integers in this API. */
static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

static int allocate(const char *call, uint64_t *out, size_t bytes, enum rt_memory_type type) {
    void *p = NULL;
    int e = rt_call_malloc(call, bytes, type, NULL, out ? &p : NULL);
    return rt_give(e, out, (uintptr_t)p);
}

RT_API int cuMemAlloc_v2(uint64_t *out, size_t bytes) { return allocate("cuMemAlloc", out, bytes, RT_MEMORY_DEVICE); }

/* `pool`: of one's own; NULL: the device's current one. */
static int allocate_async(const char *call, uint64_t *out, size_t bytes, void *pool, bool current, void *stream) {
    void *p = NULL;
    int e = rt_call_malloc_async(call, bytes, pool, current, stream, out ? &p : NULL);
    return rt_give(e, out, (uintptr_t)p);
}

RT_API int cuMemAllocAsync(uint64_t *out, size_t bytes, void *stream) {
    return allocate_async("cuMemAllocAsync", out, bytes, NULL, true, stream);
}
RT_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync);

RT_API int cuMemAllocFromPoolAsync(uint64_t *out, size_t bytes, void *pool, void *stream) {
    return allocate_async("cuMemAllocFromPoolAsync", out, bytes, pool, false, stream);
}
RT_ALIAS(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync);

static int bad_flags(const char *call, unsigned flags) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, rt_then(c->entered, rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are not known", flags)));
}

RT_API int cuMemAllocManaged(uint64_t *out, size_t bytes, unsigned flags) {
    if (flags != 1 && flags != 2) /* CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST */
        return bad_flags("cuMemAllocManaged", flags);
    return allocate("cuMemAllocManaged", out, bytes, RT_MEMORY_MANAGED);
}

RT_API int cuMemAllocHost_v2(void **out, size_t bytes) {
    return rt_call_malloc("cuMemAllocHost", bytes, RT_MEMORY_HOST, NULL, out);
}

RT_API int cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    return rt_call_malloc_host("cuMemHostAlloc", bytes, flags, out);
}

RT_API int cuMemAllocPitch_v2(uint64_t *out, size_t *pitch, size_t width, size_t height, unsigned element) {
    size_t row = (width + 511) / 512 * 512, bytes;
    if (pitch == NULL || row < width || __builtin_mul_overflow(row, height, &bytes) ||
        (element != 4 && element != 8 && element != 16)) /* bytes that a thread reads at once */
        return RT_ERROR_INVALID_VALUE;
    *pitch = row;
    return allocate("cuMemAllocPitch", out, bytes, RT_MEMORY_DEVICE);
}

/* Nothing to free needs no context. */
static int free_memory(const char *call, void *p, bool host) {
    if (p != NULL)
        return rt_call_free(call, p, host, NULL);
    struct rt_context *c = rt_enter(call);
    int e = rt_check_init(c);
    return rt_leave(c, rt_then(e, c->sticky));
}

RT_API int cuMemFree_v2(uint64_t address) { return free_memory("cuMemFree", pointer(address), false); }
RT_API int cuMemFreeHost(void *p) { return free_memory("cuMemFreeHost", p, true); }

RT_API int cuMemFreeAsync(uint64_t address, void *stream) {
    return rt_call_free("cuMemFreeAsync", pointer(address), false, stream);
}
RT_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync);

RT_API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    return rt_call_mem_info("cuMemGetInfo", free_bytes, total_bytes);
}

RT_API int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address) {
    int type;
    struct mem_block b;
    struct rt_context *c = rt_enter_ready("cuMemGetAddressRange");
    int e = c->entered;
    if (e == RT_SUCCESS && !rt_pointer(c, pointer(address), &type, &b))
        e = rt_say(c, RT_ERROR_NOT_FOUND, "0x%llx is in no allocation", (unsigned long long)address);
    e = rt_give(e, base, b.addr);
    return rt_leave(c, rt_give(e, bytes, b.size));
}

RT_API int cuMemHostGetDevicePointer_v2(uint64_t *out, void *host, unsigned flags) {
    void *p;
    int e = rt_call_host_pointer("cuMemHostGetDevicePointer", out ? &p : NULL, host, flags);
    return rt_give(e, out, (uintptr_t)p);
}

RT_API int cuMemHostGetFlags(unsigned *flags, void *host) {
    return rt_call_host_flags("cuMemHostGetFlags", flags, host);
}

/* Pages of managed memory stay where they are: advice and prefetching are hints. */
RT_API int cuMemAdvise_v2(uint64_t p, size_t bytes, int advice, struct rt_mem_location location) {
    (void)advice, (void)location;
    return rt_call_advise("cuMemAdvise", pointer(p), bytes);
}

RT_API int cuMemAdvise(uint64_t p, size_t bytes, int advice, int device) {
    (void)advice, (void)device;
    return rt_call_advise("cuMemAdvise", pointer(p), bytes);
}

RT_API int cuMemPrefetchAsync_v2(uint64_t p, size_t bytes, struct rt_mem_location location, unsigned flags,
                                 void *stream) {
    (void)location, (void)flags, (void)stream;
    return rt_call_advise("cuMemPrefetchAsync", pointer(p), bytes);
}
RT_ALIAS(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2);

RT_API int cuMemPrefetchAsync(uint64_t p, size_t bytes, int device, void *stream) {
    (void)device, (void)stream;
    return rt_call_advise("cuMemPrefetchAsync", pointer(p), bytes);
}
RT_ALIAS(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync);

/* --- copies and fills --------------------------------------------------------------------------------------------- */

RT_API int cuMemcpy(uint64_t dst, uint64_t src, size_t bytes) {
    return rt_call_copy("cuMemcpy", pointer(dst), pointer(src), bytes, RT_COPY_DEFAULT, NULL);
}
RT_ALIAS(cuMemcpy_ptds, cuMemcpy);

RT_API int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t bytes, void *stream) {
    return rt_call_copy("cuMemcpyAsync", pointer(dst), pointer(src), bytes, RT_COPY_DEFAULT, stream);
}
RT_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync);

RT_API int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t bytes) {
    return rt_call_copy("cuMemcpyHtoD", pointer(dst), src, bytes, RT_HOST_TO_DEVICE, NULL);
}
RT_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);

RT_API int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t bytes, void *stream) {
    return rt_call_copy("cuMemcpyHtoDAsync", pointer(dst), src, bytes, RT_HOST_TO_DEVICE, stream);
}
RT_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);

RT_API int cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t bytes) {
    return rt_call_copy("cuMemcpyDtoH", dst, pointer(src), bytes, RT_DEVICE_TO_HOST, NULL);
}
RT_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);

RT_API int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t bytes, void *stream) {
    return rt_call_copy("cuMemcpyDtoHAsync", dst, pointer(src), bytes, RT_DEVICE_TO_HOST, stream);
}
RT_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);

RT_API int cuMemcpyDtoD_v2(uint64_t dst, uint64_t src, size_t bytes) {
    return rt_call_copy("cuMemcpyDtoD", pointer(dst), pointer(src), bytes, RT_DEVICE_TO_DEVICE, NULL);
}
RT_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);

RT_API int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t bytes, void *stream) {
    return rt_call_copy("cuMemcpyDtoDAsync", pointer(dst), pointer(src), bytes, RT_DEVICE_TO_DEVICE, stream);
}
RT_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);

/* All contexts share the device's memory. */
static int copy_peer(const char *call, uint64_t dst, const void *dst_context, uint64_t src, const void *src_context,
                     size_t bytes, void *stream) {
    struct rt_context *c = rt_enter_ready(call);
    int e = rt_then(c->entered, rt_stream_check(c, stream, NULL));
    if (e == RT_SUCCESS && (!rt_context_known(c, dst_context) || !rt_context_known(c, src_context)))
        e = rt_say(c, RT_ERROR_INVALID_CONTEXT, "%p or %p is not a context of this process", dst_context, src_context);
    rt_flush_printed(c);
    return rt_leave(c, rt_then(e, rt_copy(c, pointer(dst), pointer(src), bytes, RT_DEVICE_TO_DEVICE, stream)));
}

RT_API int cuMemcpyPeer(uint64_t dst, void *dst_context, uint64_t src, void *src_context, size_t bytes) {
    return copy_peer("cuMemcpyPeer", dst, dst_context, src, src_context, bytes, NULL);
}
RT_ALIAS(cuMemcpyPeer_ptds, cuMemcpyPeer);

RT_API int cuMemcpyPeerAsync(uint64_t dst, void *dst_context, uint64_t src, void *src_context, size_t bytes,
                             void *stream) {
    return copy_peer("cuMemcpyPeerAsync", dst, dst_context, src, src_context, bytes, stream);
}
RT_ALIAS(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync);

/* Types of memory: 1 host, 2 device, 4 unified, which says nothing. */
static int kind_2d(const struct rt_driver_copy_2d *p) {
    if (p->dst_type == 4 || p->src_type == 4)
        return RT_COPY_DEFAULT;
    return p->dst_type == 2 ? (p->src_type == 2 ? RT_DEVICE_TO_DEVICE : RT_HOST_TO_DEVICE)
                            : (p->src_type == 2 ? RT_DEVICE_TO_HOST : RT_HOST_TO_HOST);
}

/* One side of a 2D copy: its first byte. */
static int side(struct rt_context *c, int type, const void *host, uint64_t device, size_t x, size_t y, size_t pitch,
                const uint8_t **out) {
    size_t offset;
    if (type < 1 || type > 4)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "memory type %d is not known", type);
    if (type == 3)
        return rt_say(c, RT_ERROR_NOT_SUPPORTED, "arrays are not supported by the emulator");
    if (__builtin_mul_overflow(y, pitch, &offset) || __builtin_add_overflow(offset, x, &offset))
        return rt_say(c, RT_ERROR_INVALID_VALUE, "row %zu of pitch %zu", y, pitch);
    *out = (const uint8_t *)((type == 1 ? (uintptr_t)host : (uintptr_t)device) + offset);
    return RT_SUCCESS;
}

static int copy_2d(const char *call, const struct rt_driver_copy_2d *p, void *stream) {
    const uint8_t *dst, *src;
    struct rt_context *c = rt_enter_ready(call);
    int e = c->entered;
    rt_flush_printed(c);
    if (e == RT_SUCCESS && p == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the parameters are a null pointer");
    e = rt_then(e, rt_stream_check(c, stream, NULL));
    if (e == RT_SUCCESS && (p->width > SIZE_MAX - p->dst_x || p->dst_x + p->width > p->dst_pitch ||
                            p->width > SIZE_MAX - p->src_x || p->src_x + p->width > p->src_pitch))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "rows of %zu bytes from %zu (to) and %zu (from) pass their pitches",
                   p->width, p->dst_x, p->src_x);
    e = rt_then(e, side(c, p->dst_type, p->dst_host, p->dst_device, p->dst_x, p->dst_y, p->dst_pitch, &dst));
    e = rt_then(e, side(c, p->src_type, p->src_host, p->src_device, p->src_x, p->src_y, p->src_pitch, &src));
    e = rt_then(e, rt_copy_2d(c, (void *)(uintptr_t)dst, p->dst_pitch, src, p->src_pitch, p->width, p->height,
                              kind_2d(p), stream));
    return rt_leave(c, e);
}

RT_API int cuMemcpy2D_v2(const struct rt_driver_copy_2d *p) { return copy_2d("cuMemcpy2D", p, NULL); }
RT_ALIAS(cuMemcpy2D_v2_ptds, cuMemcpy2D_v2);
RT_ALIAS(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2);
RT_ALIAS(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned_v2);

RT_API int cuMemcpy2DAsync_v2(const struct rt_driver_copy_2d *p, void *stream) {
    return copy_2d("cuMemcpy2DAsync", p, stream);
}
RT_ALIAS(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync_v2);

RT_API int cuMemsetD8_v2(uint64_t p, unsigned char value, size_t n) {
    return rt_call_fill("cuMemsetD8", pointer(p), 0, value, 1, n, 1, NULL);
}
RT_ALIAS(cuMemsetD8_v2_ptds, cuMemsetD8_v2);
RT_API int cuMemsetD16_v2(uint64_t p, unsigned short value, size_t n) {
    return rt_call_fill("cuMemsetD16", pointer(p), 0, value, 2, n, 1, NULL);
}
RT_ALIAS(cuMemsetD16_v2_ptds, cuMemsetD16_v2);
RT_API int cuMemsetD32_v2(uint64_t p, unsigned value, size_t n) {
    return rt_call_fill("cuMemsetD32", pointer(p), 0, value, 4, n, 1, NULL);
}
RT_ALIAS(cuMemsetD32_v2_ptds, cuMemsetD32_v2);

RT_API int cuMemsetD8Async(uint64_t p, unsigned char value, size_t n, void *stream) {
    return rt_call_fill("cuMemsetD8Async", pointer(p), 0, value, 1, n, 1, stream);
}
RT_ALIAS(cuMemsetD8Async_ptsz, cuMemsetD8Async);

RT_API int cuMemsetD16Async(uint64_t p, unsigned short value, size_t n, void *stream) {
    return rt_call_fill("cuMemsetD16Async", pointer(p), 0, value, 2, n, 1, stream);
}
RT_ALIAS(cuMemsetD16Async_ptsz, cuMemsetD16Async);

RT_API int cuMemsetD32Async(uint64_t p, unsigned value, size_t n, void *stream) {
    return rt_call_fill("cuMemsetD32Async", pointer(p), 0, value, 4, n, 1, stream);
}
RT_ALIAS(cuMemsetD32Async_ptsz, cuMemsetD32Async);

RT_API int cuMemsetD2D8_v2(uint64_t p, size_t pitch, unsigned char value, size_t width, size_t height) {
    return rt_call_fill("cuMemsetD2D8", pointer(p), pitch, value, 1, width, height, NULL);
}
RT_ALIAS(cuMemsetD2D8_v2_ptds, cuMemsetD2D8_v2);

RT_API int cuMemsetD2D8Async(uint64_t p, size_t pitch, unsigned char value, size_t width, size_t height, void *stream) {
    return rt_call_fill("cuMemsetD2D8Async", pointer(p), pitch, value, 1, width, height, stream);
}
RT_ALIAS(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async);

RT_API int cuMemsetD2D16_v2(uint64_t p, size_t pitch, unsigned short value, size_t width, size_t height) {
    return rt_call_fill("cuMemsetD2D16", pointer(p), pitch, value, 2, width, height, NULL);
}
RT_ALIAS(cuMemsetD2D16_v2_ptds, cuMemsetD2D16_v2);

RT_API int cuMemsetD2D16Async(uint64_t p, size_t pitch, unsigned short value, size_t width, size_t height,
                              void *stream) {
    return rt_call_fill("cuMemsetD2D16Async", pointer(p), pitch, value, 2, width, height, stream);
}
RT_ALIAS(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async);

RT_API int cuMemsetD2D32_v2(uint64_t p, size_t pitch, unsigned value, size_t width, size_t height) {
    return rt_call_fill("cuMemsetD2D32", pointer(p), pitch, value, 4, width, height, NULL);
}
RT_ALIAS(cuMemsetD2D32_v2_ptds, cuMemsetD2D32_v2);

RT_API int cuMemsetD2D32Async(uint64_t p, size_t pitch, unsigned value, size_t width, size_t height, void *stream) {
    return rt_call_fill("cuMemsetD2D32Async", pointer(p), pitch, value, 4, width, height, stream);
}
RT_ALIAS(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async);
