/* Runtime API: pools of stream-ordered memory. */
#include "cudart/core/calls.h"

RT_API int cudaMemPoolCreate(void **pool, const struct rt_pool_props *props) {
    return rt_call_pool_create("cudaMemPoolCreate", pool, props);
}

RT_API int cudaMemPoolDestroy(void *pool) { return rt_call_pool_destroy("cudaMemPoolDestroy", pool); }

RT_API int cudaMemPoolTrimTo(void *pool, size_t bytes) {
    (void)bytes;
    return rt_call_pool_trim("cudaMemPoolTrimTo", pool);
}

RT_API int cudaMemPoolGetAttribute(void *pool, int attribute, void *value) {
    return rt_call_pool_get("cudaMemPoolGetAttribute", pool, attribute, value);
}

RT_API int cudaMemPoolSetAttribute(void *pool, int attribute, const void *value) {
    return rt_call_pool_set("cudaMemPoolSetAttribute", pool, attribute, value);
}

RT_API int cudaMemPoolSetAccess(void *pool, const struct rt_pool_access *list, size_t count) {
    return rt_call_pool_set_access("cudaMemPoolSetAccess", pool, list, count);
}

RT_API int cudaMemPoolGetAccess(int *flags, void *pool, const struct rt_mem_location *location) {
    return rt_call_pool_get_access("cudaMemPoolGetAccess", pool, location, flags);
}

RT_API int cudaDeviceGetDefaultMemPool(void **pool, int device) {
    return rt_call_default_pool("cudaDeviceGetDefaultMemPool", pool, device);
}

RT_API int cudaDeviceGetMemPool(void **pool, int device) {
    return rt_call_current_pool("cudaDeviceGetMemPool", pool, device);
}

RT_API int cudaDeviceSetMemPool(int device, void *pool) {
    return rt_call_use_pool("cudaDeviceSetMemPool", device, pool);
}
