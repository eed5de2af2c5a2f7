/* Runtime API: memory, copies, fills, symbols. Asynchronous calls do their work before they return. */
#include "cudart/core/calls.h"

#include <string.h>

RT_API int cudaMalloc(void **out, size_t size) {
    return rt_call_malloc("cudaMalloc", size, RT_MEMORY_DEVICE, NULL, out);
}

RT_API int cudaMallocHost(void **out, size_t size) {
    return rt_call_malloc("cudaMallocHost", size, RT_MEMORY_HOST, NULL, out);
}

RT_API int cudaFree(void *p) { return rt_call_free("cudaFree", p, false, NULL); }
RT_API int cudaFreeHost(void *p) { return rt_call_free("cudaFreeHost", p, true, NULL); }

static int bad_flags(const char *call, unsigned flags) {
    struct rt_context *c = rt_enter(call);
    return rt_leave(c, rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are not known", flags));
}

RT_API int cudaHostAlloc(void **out, size_t size, unsigned flags) {
    if ((flags & ~7u) != 0)
        return bad_flags("cudaHostAlloc", flags);
    return rt_call_malloc_host("cudaHostAlloc", size, flags, out);
}

RT_API int cudaMallocManaged(void **out, size_t size, unsigned flags) {
    if (flags != 1 && flags != 2) /* cudaMemAttachGlobal, cudaMemAttachHost */
        return bad_flags("cudaMallocManaged", flags);
    return rt_call_malloc("cudaMallocManaged", size, RT_MEMORY_MANAGED, NULL, out);
}

RT_API int cudaMallocAsync(void **out, size_t size, void *stream) {
    return rt_call_malloc_async("cudaMallocAsync", size, NULL, true, stream, out);
}
RT_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync);

RT_API int cudaMallocFromPoolAsync(void **out, size_t size, void *pool, void *stream) {
    return rt_call_malloc_async("cudaMallocFromPoolAsync", size, pool, false, stream, out);
}
RT_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync);

RT_API int cudaFreeAsync(void *p, void *stream) { return rt_call_free("cudaFreeAsync", p, false, stream); }
RT_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync);

RT_API int cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    struct rt_context *c = rt_enter_ready("cudaMallocPitch");
    int e = c->entered;
    size_t row = (width + 511) / 512 * 512, bytes = 0; /* cudaDevAttrTextureAlignment */
    if (e == RT_SUCCESS && (pitch == NULL || row < width || __builtin_mul_overflow(row, height, &bytes)))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%zu rows of %zu bytes", height, width);
    e = rt_then(e, rt_malloc(c, bytes, RT_MEMORY_DEVICE, out));
    return rt_leave(c, rt_give(e, pitch, row));
}

RT_API int cudaHostGetDevicePointer(void **out, void *host, unsigned flags) {
    return rt_call_host_pointer("cudaHostGetDevicePointer", out, host, flags);
}

RT_API int cudaHostGetFlags(unsigned *flags, void *host) { return rt_call_host_flags("cudaHostGetFlags", flags, host); }

RT_API int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind) {
    return rt_call_copy("cudaMemcpy", dst, src, bytes, kind, NULL);
}
RT_ALIAS(cudaMemcpy_ptds, cudaMemcpy);

RT_API int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, void *stream) {
    return rt_call_copy("cudaMemcpyAsync", dst, src, bytes, kind, stream);
}
RT_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync);

RT_API int cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes) {
    if (dst_device != 0 || src_device != 0) {
        struct rt_context *c = rt_enter("cudaMemcpyPeer");
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_DEVICE, "there is only device 0"));
    }
    return rt_call_copy("cudaMemcpyPeer", dst, src, bytes, RT_DEVICE_TO_DEVICE, NULL);
}

static int copy_2d(const char *call, void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                   size_t height, int kind, void *stream) {
    struct rt_context *c = rt_enter(call);
    int e = rt_then(rt_synchronize(c), rt_stream_check(c, stream, NULL));
    return rt_leave(c, rt_then(e, rt_copy_2d(c, dst, dst_pitch, src, src_pitch, width, height, kind, stream)));
}

RT_API int cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
                        int kind) {
    return copy_2d("cudaMemcpy2D", dst, dst_pitch, src, src_pitch, width, height, kind, NULL);
}
RT_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D);

RT_API int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                             size_t height, int kind, void *stream) {
    return copy_2d("cudaMemcpy2DAsync", dst, dst_pitch, src, src_pitch, width, height, kind, stream);
}
RT_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync);

RT_API int cudaMemset(void *p, int value, size_t bytes) {
    return rt_call_fill("cudaMemset", p, 0, (uint32_t)value, 1, bytes, 1, NULL);
}
RT_ALIAS(cudaMemset_ptds, cudaMemset);

RT_API int cudaMemsetAsync(void *p, int value, size_t bytes, void *stream) {
    return rt_call_fill("cudaMemsetAsync", p, 0, (uint32_t)value, 1, bytes, 1, stream);
}
RT_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync);

RT_API int cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    return rt_call_fill("cudaMemset2D", p, pitch, (uint32_t)value, 1, width, height, NULL);
}
RT_ALIAS(cudaMemset2D_ptds, cudaMemset2D);

RT_API int cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, void *stream) {
    return rt_call_fill("cudaMemset2DAsync", p, pitch, (uint32_t)value, 1, width, height, stream);
}
RT_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync);

/* The part [offset, offset + bytes) of a device variable. */
static int symbol_part(struct rt_context *c, const void *symbol, size_t bytes, size_t offset, void **out) {
    uint64_t address, size;
    int e = rt_symbol(c, symbol, &address, &size);
    if (e != RT_SUCCESS)
        return e;
    if (offset > size || bytes > size - offset)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "%zu bytes at offset %zu of a variable of %llu", bytes, offset,
                      (unsigned long long)size);
    *out = (void *)(uintptr_t)(address + offset);
    return RT_SUCCESS;
}

static int check_symbol_kind(struct rt_context *c, int kind, int host_side) {
    if (kind == host_side || kind == RT_DEVICE_TO_DEVICE || kind == RT_COPY_DEFAULT)
        return RT_SUCCESS;
    return rt_say(c, RT_ERROR_INVALID_MEMCPY_DIRECTION, "copy kind %d does not fit", kind);
}

/* Copies between the part of a variable and the other side: the variable is dst of RT_HOST_TO_DEVICE, src of
 * RT_DEVICE_TO_HOST. */
static int copy_symbol(const char *call, int direction, void *dst, const void *src, const void *symbol, size_t bytes,
                       size_t offset, int kind, void *stream) {
    struct rt_context *c = rt_enter(call);
    void *part = NULL;
    int e = rt_then(rt_synchronize(c), rt_stream_check(c, stream, NULL));
    e = rt_then(e, check_symbol_kind(c, kind, direction));
    e = rt_then(e, symbol_part(c, symbol, bytes, offset, &part));
    if (direction == RT_HOST_TO_DEVICE)
        dst = part;
    else
        src = part;
    return rt_leave(c, rt_then(e, rt_copy(c, dst, src, bytes, kind, stream)));
}

RT_API int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind) {
    return copy_symbol("cudaMemcpyToSymbol", RT_HOST_TO_DEVICE, NULL, src, symbol, bytes, offset, kind, NULL);
}
RT_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol);

RT_API int cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                                   void *stream) {
    return copy_symbol("cudaMemcpyToSymbolAsync", RT_HOST_TO_DEVICE, NULL, src, symbol, bytes, offset, kind, stream);
}
RT_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync);

RT_API int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind) {
    return copy_symbol("cudaMemcpyFromSymbol", RT_DEVICE_TO_HOST, dst, NULL, symbol, bytes, offset, kind, NULL);
}
RT_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol);

RT_API int cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                                     void *stream) {
    return copy_symbol("cudaMemcpyFromSymbolAsync", RT_DEVICE_TO_HOST, dst, NULL, symbol, bytes, offset, kind, stream);
}
RT_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync);

static int symbol_query(const char *call, const void *symbol, uint64_t *address, uint64_t *size) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, rt_then(c->entered, rt_symbol(c, symbol, address, size)));
}

RT_API int cudaGetSymbolAddress(void **out, const void *symbol) {
    uint64_t address = 0, size;
    int e = symbol_query("cudaGetSymbolAddress", symbol, &address, &size);
    if (out != NULL)
        *out = (void *)(uintptr_t)address;
    return e;
}

RT_API int cudaGetSymbolSize(size_t *out, const void *symbol) {
    uint64_t address, size = 0;
    int e = symbol_query("cudaGetSymbolSize", symbol, &address, &size);
    if (out != NULL)
        *out = size;
    return e;
}

/* Host memory that CUDA does not know is no error: type 0, device -2 (measured). */
int rt12_cudaPointerGetAttributes(struct rt_pointer_attributes_12 *out, const void *p) {
    struct rt_context *c = rt_enter("cudaPointerGetAttributes");
    struct mem_block b;
    rt_ready(c); /* a broken context still answers */
    if (out == NULL || c->gpu == NULL)
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_VALUE, "no place for the result"));
    memset(out, 0, sizeof *out);
    if (!rt_pointer(c, p, &out->type, &b)) {
        out->device = -2;
        out->host_pointer = (void *)(uintptr_t)p;
    } else {
        out->device_pointer = (void *)(uintptr_t)p;
        out->host_pointer = out->type == RT_MEMORY_DEVICE ? NULL : (void *)(uintptr_t)p;
    }
    return rt_leave(c, RT_SUCCESS);
}

RT_API int cudaPointerGetAttributes(struct rt_pointer_attributes_13 *out, const void *p) {
    if (out != NULL)
        memset(out, 0, sizeof *out);
    return rt12_cudaPointerGetAttributes(out ? &out->base : NULL, p);
}

RT_API int cudaMemAdvise(const void *p, size_t bytes, int advice, struct rt_mem_location location) {
    (void)advice, (void)location;
    return rt_call_advise("cudaMemAdvise", p, bytes);
}
RT_ALIAS(cudaMemAdvise_v2, cudaMemAdvise);

int rt12_cudaMemAdvise(const void *p, size_t bytes, int advice, int device) {
    (void)advice, (void)device;
    return rt_call_advise("cudaMemAdvise", p, bytes);
}

RT_API int cudaMemPrefetchAsync(const void *p, size_t bytes, struct rt_mem_location location, unsigned flags,
                                void *stream) {
    (void)location, (void)flags, (void)stream;
    return rt_call_advise("cudaMemPrefetchAsync", p, bytes);
}
RT_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync);
RT_ALIAS(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync);
RT_ALIAS(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync);

int rt12_cudaMemPrefetchAsync(const void *p, size_t bytes, int device, void *stream) {
    (void)device, (void)stream;
    return rt_call_advise("cudaMemPrefetchAsync", p, bytes);
}
extern __typeof__(rt12_cudaMemPrefetchAsync) rt12_cudaMemPrefetchAsync_ptsz
    __attribute__((alias("rt12_cudaMemPrefetchAsync")));
