/* Runtime API: devices, limits, versions, errors. */
#include "cudart/core/device.h"
#include "cudart/core/calls.h"
#include "cudart/core/errors.h"

#include <stdio.h>
#include <string.h>

/* Calls that change nothing on this device but check their arguments. */
static int accept(const char *call) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, c->entered);
}

RT_API int cudaGetDeviceCount(int *count) { return rt_call_answer("cudaGetDeviceCount", count, 1); }
RT_API int cudaGetDevice(int *device) { return rt_call_answer("cudaGetDevice", device, 0); }

RT_API int cudaSetDevice(int device) {
    struct rt_context *c = rt_enter("cudaSetDevice");
    int e = rt_check_device(c, device);
    return rt_leave(c, rt_then(e, rt_context_use_primary(c)));
}

RT_API int cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    struct rt_context *c = rt_enter("cudaInitDevice");
    return rt_leave(c, rt_check_device(c, device));
}

RT_API int cudaSetValidDevices(int *devices, int count) {
    struct rt_context *c = rt_enter("cudaSetValidDevices");
    int e = count < 0 || (count > 0 && devices == NULL) ? rt_say(c, RT_ERROR_INVALID_VALUE, "%d devices", count) : 0;
    for (int i = 0; i < count && e == RT_SUCCESS; i++)
        e = rt_check_device(c, devices[i]);
    return rt_leave(c, e);
}

RT_API int cudaChooseDevice(int *device, const void *prop) {
    (void)prop;
    return cudaGetDevice(device);
}

RT_API int cudaSetDeviceFlags(unsigned flags) {
    (void)flags; /* how the host waits: there is nothing to wait for */
    struct rt_context *c = rt_enter("cudaSetDeviceFlags");
    return rt_leave(c, RT_SUCCESS);
}

RT_API int cudaGetDeviceFlags(unsigned *flags) {
    return rt_call_answer("cudaGetDeviceFlags", (int *)flags, 8); /* cudaDeviceMapHost */
}

RT_API int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    struct rt_context *c = rt_enter("cudaDeviceGetAttribute");
    int e = rt_then(rt_check_out(c, value), rt_check_device(c, device));
    if (e == RT_SUCCESS && !rt_device_attribute(attribute, value))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "device attribute %d is not known", attribute);
    return rt_leave(c, e);
}

static uint64_t memory_capacity(struct rt_context *c) {
    uint64_t used = 0, capacity = 0;
    rt_ready(c);
    if (c->gpu != NULL)
        mem_usage(c->gpu->mem, &used, &capacity);
    return capacity;
}

RT_API int cudaGetDeviceProperties(struct rt_prop_13 *prop, int device) {
    struct rt_context *c = rt_enter("cudaGetDeviceProperties");
    int e = rt_then(rt_check_out(c, prop), rt_check_device(c, device));
    if (e == RT_SUCCESS)
        rt_device_prop_13(prop, memory_capacity(c));
    return rt_leave(c, e);
}

/* Programs built with CUDA 12 ask for this name; the one without _v2 is that of CUDA 11, whose struct ends earlier. */
RT_API int cudaGetDeviceProperties_v2(struct rt_prop_12 *prop, int device) {
    struct rt_context *c = rt_enter("cudaGetDeviceProperties");
    int e = rt_then(rt_check_out(c, prop), rt_check_device(c, device));
    if (e == RT_SUCCESS)
        rt_device_prop_12(prop, memory_capacity(c));
    return rt_leave(c, e);
}

int rt12_cudaGetDeviceProperties(void *prop, int device) {
    struct rt_prop_12 all;
    int e = cudaGetDeviceProperties_v2(prop ? &all : NULL, device);
    if (e == RT_SUCCESS && prop != NULL)
        memcpy(prop, &all, offsetof(struct rt_prop_12, hostRegisterSupported));
    return e;
}

RT_API int cudaDeviceSynchronize(void) {
    struct rt_context *c = rt_enter("cudaDeviceSynchronize");
    return rt_leave(c, rt_synchronize(c));
}
RT_ALIAS(cudaThreadSynchronize, cudaDeviceSynchronize);

RT_API int cudaDeviceReset(void) {
    struct rt_context *c = rt_enter("cudaDeviceReset");
    rt_reset(c);
    return rt_leave(c, RT_SUCCESS);
}
RT_ALIAS(cudaThreadExit, cudaDeviceReset);

RT_API int cudaDeviceGetLimit(size_t *value, int limit) {
    struct rt_context *c = rt_enter("cudaDeviceGetLimit");
    int e = rt_then(rt_check_out(c, value), rt_check_limit(c, limit));
    e = rt_then(e, rt_ready(c));
    return rt_leave(c, rt_give(e, value, c->limits[limit]));
}

RT_API int cudaDeviceSetLimit(int limit, size_t value) {
    struct rt_context *c = rt_enter_ready("cudaDeviceSetLimit");
    return rt_leave(c, rt_then(c->entered, rt_set_limit(c, limit, value)));
}

RT_API int cudaDeviceGetCacheConfig(int *config) {
    return rt_call_answer("cudaDeviceGetCacheConfig", config, 0); /* cudaFuncCachePreferNone */
}

RT_API int cudaDeviceSetCacheConfig(int config) {
    (void)config;
    return accept("cudaDeviceSetCacheConfig");
}

RT_API int cudaDeviceGetSharedMemConfig(int *config) {
    return rt_call_answer("cudaDeviceGetSharedMemConfig", config, 1); /* cudaSharedMemBankSizeFourByte */
}

RT_API int cudaDeviceSetSharedMemConfig(int config) {
    (void)config;
    return accept("cudaDeviceSetSharedMemConfig");
}

RT_API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    struct rt_context *c = rt_enter("cudaDeviceGetStreamPriorityRange");
    if (least != NULL)
        *least = RT_LEAST_PRIORITY;
    if (greatest != NULL)
        *greatest = RT_GREATEST_PRIORITY;
    return rt_leave(c, RT_SUCCESS);
}

RT_API int cudaDeviceGetPCIBusId(char *text, int len, int device) {
    return rt_call_pci_bus_id("cudaDeviceGetPCIBusId", text, len, device);
}

RT_API int cudaDeviceGetByPCIBusId(int *device, const char *text) {
    return rt_call_device_by_pci("cudaDeviceGetByPCIBusId", device, text);
}

RT_API int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    struct rt_context *c = rt_enter("cudaDeviceCanAccessPeer");
    int e = rt_then(rt_check_out(c, can), rt_check_device(c, device));
    e = rt_then(e, rt_check_device(c, peer));
    return rt_leave(c, rt_give(e, can, 0));
}

RT_API int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return rt_call_mem_info("cudaMemGetInfo", free_bytes, total_bytes);
}

RT_API int cudaDriverGetVersion(int *out) { return rt_call_answer("cudaDriverGetVersion", out, RT_VERSION_13); }
RT_API int cudaRuntimeGetVersion(int *out) { return rt_call_answer("cudaRuntimeGetVersion", out, RT_VERSION_13); }
int rt12_cudaRuntimeGetVersion(int *out) { return rt_call_answer("cudaRuntimeGetVersion", out, RT_VERSION_12); }

RT_API int cudaCtxResetPersistingL2Cache(void) { return accept("cudaCtxResetPersistingL2Cache"); }
RT_API int cudaProfilerStart(void) { return accept("cudaProfilerStart"); }
RT_API int cudaProfilerStop(void) { return accept("cudaProfilerStop"); }

/* Also clears a sticky error from the thread's memory; the next call that reaches the device answers it again. */
RT_API int cudaGetLastError(void) {
    int e = rt_thread()->last_error;
    rt_thread()->last_error = RT_SUCCESS;
    return e;
}

RT_API int cudaPeekAtLastError(void) { return rt_thread()->last_error; }

RT_API const char *cudaGetErrorName(int code) {
    const char *name = rt_error_name(code);
    return name ? name : "unrecognized error code";
}

RT_API const char *cudaGetErrorString(int code) {
    const char *text = rt_error_name(code) ? rt_error_text(code) : NULL;
    return text ? text : "unrecognized error code";
}

RT_API struct rt_channel_desc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct rt_channel_desc){x, y, z, w, kind};
}
