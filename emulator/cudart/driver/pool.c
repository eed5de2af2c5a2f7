/* Driver API: pools of stream-ordered memory. */
#include "cudart/core/calls.h"

RT_API int cuMemPoolCreate(void **pool, const struct rt_pool_props *props) {
    return rt_call_pool_create("cuMemPoolCreate", pool, props);
}

RT_API int cuMemPoolDestroy(void *pool) { return rt_call_pool_destroy("cuMemPoolDestroy", pool); }

RT_API int cuMemPoolTrimTo(void *pool, size_t bytes) {
    (void)bytes;
    return rt_call_pool_trim("cuMemPoolTrimTo", pool);
}

RT_API int cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
    return rt_call_pool_get("cuMemPoolGetAttribute", pool, attribute, value);
}

RT_API int cuMemPoolSetAttribute(void *pool, int attribute, const void *value) {
    return rt_call_pool_set("cuMemPoolSetAttribute", pool, attribute, value);
}

RT_API int cuMemPoolSetAccess(void *pool, const struct rt_pool_access *list, size_t count) {
    return rt_call_pool_set_access("cuMemPoolSetAccess", pool, list, count);
}

RT_API int cuMemPoolGetAccess(int *flags, void *pool, const struct rt_mem_location *location) {
    return rt_call_pool_get_access("cuMemPoolGetAccess", pool, location, flags);
}

RT_API int cuDeviceGetDefaultMemPool(void **pool, int device) {
    return rt_call_default_pool("cuDeviceGetDefaultMemPool", pool, device);
}

RT_API int cuDeviceGetMemPool(void **pool, int device) {
    return rt_call_current_pool("cuDeviceGetMemPool", pool, device);
}

RT_API int cuDeviceSetMemPool(int device, void *pool) { return rt_call_use_pool("cuDeviceSetMemPool", device, pool); }
