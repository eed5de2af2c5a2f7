/* Driver API: initialisation, devices, contexts, error names, entry points. All contexts share one device. */
#include "cudart/core/device.h"
#include "cudart/core/calls.h"
#include "cudart/core/errors.h"
#include "cudart/driver/entry.h"

#include "base/heap.h"

#include <stdio.h>
#include <string.h>

RT_API int cuInit(unsigned flags) {
    struct rt_context *c = rt_enter("cuInit");
    if (flags != 0)
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_VALUE, "flags must be 0"));
    c->driver_ready = true;
    return rt_leave(c, RT_SUCCESS);
}

RT_API int cuDriverGetVersion(int *version) { return rt_call_answer("cuDriverGetVersion", version, RT_VERSION_13); }

RT_API int cuDeviceGet(int *device, int ordinal) {
    struct rt_context *c = rt_enter("cuDeviceGet");
    int e = rt_then(rt_check_device(c, ordinal), rt_check_out(c, device));
    return rt_leave(c, rt_give(e, device, 0));
}

RT_API int cuDeviceGetCount(int *count) {
    struct rt_context *c = rt_enter("cuDeviceGetCount");
    int e = rt_then(rt_check_device(c, 0), rt_check_out(c, count));
    return rt_leave(c, rt_give(e, count, 1));
}

RT_API int cuDeviceGetName(char *name, int len, int device) {
    struct rt_context *c = rt_enter("cuDeviceGetName");
    int e = rt_check_device(c, device);
    if (e == RT_SUCCESS && (name == NULL || len <= 0))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%d characters for the name", len);
    if (e == RT_SUCCESS)
        snprintf(name, (size_t)len, "%s", RT_DEVICE_NAME);
    return rt_leave(c, e);
}

RT_API int cuDeviceGetUuid(char *uuid, int device) {
    struct rt_context *c = rt_enter("cuDeviceGetUuid");
    struct rt_prop_13 prop;
    int e = rt_then(rt_check_device(c, device), rt_check_out(c, uuid));
    rt_device_prop_13(&prop, 0);
    if (e == RT_SUCCESS)
        memcpy(uuid, prop.uuid, sizeof prop.uuid);
    return rt_leave(c, e);
}
RT_ALIAS(cuDeviceGetUuid_v2, cuDeviceGetUuid);

RT_API int cuDeviceGetAttribute(int *value, int attribute, int device) {
    struct rt_context *c = rt_enter("cuDeviceGetAttribute");
    int e = rt_then(rt_check_device(c, device), rt_check_out(c, value));
    if (e == RT_SUCCESS && !rt_device_attribute(attribute, value))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "device attribute %d is not known", attribute);
    return rt_leave(c, e);
}

RT_API int cuDeviceGetPCIBusId(char *text, int len, int device) {
    return rt_call_pci_bus_id("cuDeviceGetPCIBusId", text, len, device);
}

RT_API int cuDeviceGetByPCIBusId(int *device, const char *text) {
    return rt_call_device_by_pci("cuDeviceGetByPCIBusId", device, text);
}

/* A link has two ends, and there is one device. */
RT_API int cuDeviceGetP2PAttribute(int *value, int attribute, int from, int to) {
    (void)value, (void)attribute;
    struct rt_context *c = rt_enter("cuDeviceGetP2PAttribute");
    int e = rt_then(rt_check_device(c, from), rt_check_device(c, to));
    return rt_leave(c, rt_then(e, rt_say(c, RT_ERROR_INVALID_DEVICE, "both ends are device %d", from)));
}

RT_API int cuDeviceGetProperties(struct rt_driver_prop *out, int device) {
    struct rt_context *c = rt_enter("cuDeviceGetProperties");
    struct rt_prop_12 p;
    int e = rt_then(rt_check_device(c, device), rt_check_out(c, out));
    rt_device_prop_12(&p, 0);
    const struct rt_driver_prop prop = {
        .max_threads = p.maxThreadsPerBlock,
        .max_block = {p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]},
        .max_grid = {p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]},
        .shared = (int)p.sharedMemPerBlock,
        .constant = (int)p.totalConstMem,
        .warp = p.warpSize,
        .pitch = (int)p.memPitch,
        .registers = p.regsPerBlock,
        .clock = p.clockRate,
        .texture_alignment = (int)p.textureAlignment,
    };
    return rt_leave(c, rt_give(e, out, prop));
}

RT_API int cuDeviceComputeCapability(int *major, int *minor, int device) {
    int e = cuDeviceGetAttribute(major, 75, device);
    return e == RT_SUCCESS ? cuDeviceGetAttribute(minor, 76, device) : e;
}

RT_API int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    struct rt_context *c = rt_enter("cuDeviceCanAccessPeer");
    int e = rt_then(rt_check_device(c, device), rt_check_device(c, peer));
    e = rt_then(e, rt_check_out(c, can));
    return rt_leave(c, rt_give(e, can, 0));
}

RT_API int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    struct rt_context *c = rt_enter("cuDeviceTotalMem");
    uint64_t used, capacity;
    int e = rt_then(rt_check_device(c, device), rt_check_out(c, bytes));
    e = rt_then(e, rt_ready(c));
    if (e == RT_SUCCESS) {
        mem_usage(c->gpu->mem, &used, &capacity);
        *bytes = capacity;
    }
    return rt_leave(c, e);
}

/* --- contexts ----------------------------------------------------------------------------------------------------- */

static int check_context(struct rt_context *c, const void *context) {
    int e = rt_check_init(c);
    if (e == RT_SUCCESS && context == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the context is a null pointer");
    if (e == RT_SUCCESS && !rt_context_known(c, context))
        e = rt_say(c, RT_ERROR_INVALID_CONTEXT, "%p is not a context of this process", context);
    return e;
}

/* CUctx_flags: one way to wait (1, 2, 4) or none, and five switches. */
static int check_flags(struct rt_context *c, unsigned flags) {
    const unsigned wait = flags & 7;
    if (flags > 0xff || (wait & (wait - 1)) != 0)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are no context's", flags);
    return RT_SUCCESS;
}

RT_API int cuCtxCreate_v2(void **context, unsigned flags, int device) {
    struct rt_context *c = rt_enter("cuCtxCreate");
    int e = rt_then(rt_check_device(c, device), rt_check_out(c, context));
    e = rt_then(e, check_flags(c, flags));
    e = rt_then(e, c->sticky); /* a fault is the process's, not the context's (measured on an H200) */
    struct rt_driver_context *d = e == RT_SUCCESS ? rt_context_create(c, flags, false) : NULL;
    if (d == NULL)
        return rt_leave(c, rt_then(e, RT_ERROR_MEMORY_ALLOCATION));
    *context = d;
    return rt_leave(c, rt_context_push(c, d));
}

RT_ALIAS(cuCtxCreate, cuCtxCreate_v2);

/* Parts of the SMs for a context of its own. */
RT_API int cuCtxCreate_v3(void **context, const void *params, int num_params, unsigned flags, int device) {
    if (params != NULL || num_params != 0) {
        struct rt_context *c = rt_enter("cuCtxCreate");
        return rt_leave(c, rt_say(c, RT_ERROR_NOT_SUPPORTED, "execution affinity is not supported by the emulator"));
    }
    return cuCtxCreate_v2(context, flags, device);
}

RT_API int cuCtxCreate_v4(void **context, const void *params, unsigned flags, int device) {
    if (params != NULL) {
        struct rt_context *c = rt_enter("cuCtxCreate");
        return rt_leave(c, rt_say(c, RT_ERROR_NOT_SUPPORTED, "creation parameters are not supported by the emulator"));
    }
    return cuCtxCreate_v2(context, flags, device);
}

static int check_own(struct rt_context *c, const struct rt_driver_context *d) {
    int e = check_context(c, d);
    if (e == RT_SUCCESS && d->primary)
        e = rt_say(c, RT_ERROR_INVALID_CONTEXT, "the primary context is released, not destroyed");
    return e;
}

static void destroy(struct rt_context *c, struct rt_driver_context *d) {
    struct rt_driver_context **p = &c->contexts;
    while (*p != d)
        p = &(*p)->next;
    *p = d->next;
    if (rt_context_current() == d)
        rt_context_pop();
    rt_flush_printed(c);
    xfree(d);
}

RT_API int cuCtxDestroy_v2(void *context) {
    struct rt_context *c = rt_enter("cuCtxDestroy");
    int e = check_own(c, context);
    if (e == RT_SUCCESS)
        destroy(c, context);
    return rt_leave(c, e);
}
RT_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);

/* The current context, with one user more. */
RT_API int cuCtxAttach(void **context, unsigned flags) {
    struct rt_context *c = rt_enter("cuCtxAttach");
    int e = rt_then(rt_check_init(c), rt_check_context(c));
    e = rt_then(e, rt_check_out(c, context));
    if (e == RT_SUCCESS && flags != 0)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "flags must be 0");
    if (e == RT_SUCCESS)
        rt_context_current()->attached++;
    return rt_leave(c, rt_give(e, context, rt_context_current()));
}

/* The last user to leave destroys it. */
RT_API int cuCtxDetach(void *context) {
    struct rt_driver_context *d = context;
    struct rt_context *c = rt_enter("cuCtxDetach");
    int e = check_own(c, d);
    if (e == RT_SUCCESS && rt_context_current() != d)
        e = rt_say(c, RT_ERROR_INVALID_CONTEXT, "the context is not current");
    if (e == RT_SUCCESS && d->attached != 0)
        d->attached--;
    else if (e == RT_SUCCESS)
        destroy(c, d);
    return rt_leave(c, e);
}

RT_API int cuDevicePrimaryCtxRetain(void **context, int device) {
    struct rt_context *c = rt_enter("cuDevicePrimaryCtxRetain");
    int e = rt_then(rt_check_device(c, device), rt_check_out(c, context));
    struct rt_driver_context *d;
    e = rt_then(e, rt_context_primary(c, &d));
    if (e == RT_SUCCESS) {
        *context = d;
        c->primary_refs++;
    }
    return rt_leave(c, e);
}

RT_API int cuDevicePrimaryCtxRelease_v2(int device) {
    struct rt_context *c = rt_enter("cuDevicePrimaryCtxRelease");
    int e = rt_check_device(c, device);
    if (e == RT_SUCCESS && c->primary_refs == 0)
        e = rt_say(c, RT_ERROR_INVALID_CONTEXT, "the primary context was not retained");
    if (e == RT_SUCCESS)
        c->primary_refs--;
    return rt_leave(c, e);
}
RT_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

RT_API int cuDevicePrimaryCtxReset_v2(int device) {
    struct rt_context *c = rt_enter("cuDevicePrimaryCtxReset");
    int e = rt_check_device(c, device);
    if (e == RT_SUCCESS)
        rt_reset(c);
    return rt_leave(c, e);
}
RT_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

RT_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
    struct rt_context *c = rt_enter("cuDevicePrimaryCtxSetFlags");
    struct rt_driver_context *d;
    int e = rt_then(rt_check_device(c, device), check_flags(c, flags));
    e = rt_then(e, rt_context_primary(c, &d));
    if (e == RT_SUCCESS)
        d->flags = flags;
    return rt_leave(c, e);
}
RT_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

RT_API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    struct rt_context *c = rt_enter("cuDevicePrimaryCtxGetState");
    struct rt_driver_context *d;
    int e = rt_then(rt_check_device(c, device), rt_context_primary(c, &d));
    e = rt_give(e, flags, d->flags);
    return rt_leave(c, rt_give(e, active, c->primary_refs != 0 || c->primary_used));
}

RT_API int cuCtxSetCurrent(void *context) {
    struct rt_context *c = rt_enter("cuCtxSetCurrent");
    int e = context == NULL ? rt_check_init(c) : check_context(c, context);
    return rt_leave(c, rt_then(e, rt_context_set(c, context)));
}

RT_API int cuCtxGetCurrent(void **context) {
    struct rt_context *c = rt_enter("cuCtxGetCurrent");
    int e = rt_then(rt_check_init(c), rt_check_out(c, context));
    return rt_leave(c, rt_give(e, context, rt_context_current()));
}

RT_API int cuCtxPushCurrent_v2(void *context) {
    struct rt_context *c = rt_enter("cuCtxPushCurrent");
    int e = check_context(c, context);
    return rt_leave(c, rt_then(e, rt_context_push(c, context)));
}
RT_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);

/* A context must be current. */
static int check_current(struct rt_context *c) {
    int e = rt_check_init(c);
    return rt_then(e, rt_check_context(c));
}

RT_API int cuCtxPopCurrent_v2(void **context) {
    struct rt_context *c = rt_enter("cuCtxPopCurrent");
    int e = rt_check_init(c);
    if (e == RT_SUCCESS && rt_context_current() == NULL)
        e = rt_say(c, RT_ERROR_INVALID_CONTEXT, "no context is current");
    e = rt_give(e, context, rt_context_current());
    if (e == RT_SUCCESS)
        rt_context_pop();
    return rt_leave(c, e);
}
RT_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);

RT_API int cuCtxGetDevice(int *device) {
    struct rt_context *c = rt_enter("cuCtxGetDevice");
    int e = rt_then(check_current(c), rt_check_out(c, device));
    return rt_leave(c, rt_give(e, device, 0));
}

/* A context that is given, or the current one for NULL. */
static int check_given(struct rt_context *c, const void *context) {
    return context != NULL ? check_context(c, context) : check_current(c);
}

RT_API int cuCtxGetDevice_v2(int *device, void *context) {
    struct rt_context *c = rt_enter("cuCtxGetDevice");
    int e = rt_then(check_given(c, context), rt_check_out(c, device));
    return rt_leave(c, rt_give(e, device, 0));
}

RT_API int cuCtxGetId(void *context, unsigned long long *id) {
    struct rt_context *c = rt_enter("cuCtxGetId");
    int e = rt_then(check_given(c, context), rt_check_out(c, id));
    const struct rt_driver_context *d = context != NULL ? context : rt_context_current();
    return rt_leave(c, rt_give(e, id, d->id));
}

RT_API int cuCtxGetFlags(unsigned *flags) {
    struct rt_context *c = rt_enter("cuCtxGetFlags");
    int e = rt_then(check_current(c), rt_check_out(c, flags));
    return rt_leave(c, rt_give(e, flags, rt_context_current()->flags));
}

RT_API int cuCtxSetFlags(unsigned flags) {
    struct rt_context *c = rt_enter("cuCtxSetFlags");
    int e = rt_then(check_current(c), check_flags(c, flags));
    return rt_leave(c, rt_give(e, &rt_context_current()->flags, flags));
}

RT_API int cuCtxGetApiVersion(void *context, unsigned *version) {
    struct rt_context *c = rt_enter("cuCtxGetApiVersion");
    int e = context == NULL ? rt_check_init(c) : check_context(c, context);
    return rt_leave(c, rt_give(e, version, RT_VERSION_13));
}

RT_API int cuCtxSynchronize(void) {
    struct rt_context *c = rt_enter("cuCtxSynchronize");
    int e = check_current(c);
    return rt_leave(c, rt_then(e, rt_synchronize(c)));
}

RT_API int cuCtxSynchronize_v2(void *context) {
    struct rt_context *c = rt_enter("cuCtxSynchronize");
    int e = check_given(c, context);
    return rt_leave(c, rt_then(e, rt_synchronize(c)));
}

RT_API int cuCtxGetLimit(size_t *value, int limit) {
    struct rt_context *c = rt_enter_ready("cuCtxGetLimit");
    int e = rt_then(c->entered, rt_check_out(c, value));
    e = rt_then(e, rt_check_limit(c, limit));
    return rt_leave(c, rt_give(e, value, c->limits[limit]));
}

RT_API int cuCtxSetLimit(int limit, size_t value) {
    struct rt_context *c = rt_enter_ready("cuCtxSetLimit");
    return rt_leave(c, rt_then(c->entered, rt_set_limit(c, limit, value)));
}

RT_API int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    struct rt_context *c = rt_enter("cuCtxGetStreamPriorityRange");
    int e = check_current(c);
    e = rt_give(e, least, RT_LEAST_PRIORITY);
    return rt_leave(c, rt_give(e, greatest, RT_GREATEST_PRIORITY));
}

/* Preferences about caches and banks: hints, which are not kept. */
static int preference(const char *call, int *out, int value) {
    struct rt_context *c = rt_enter(call);
    int e = rt_then(check_current(c), rt_check_out(c, out));
    return rt_leave(c, rt_give(e, out, value));
}

static int prefer(const char *call, int value, int most) {
    struct rt_context *c = rt_enter(call);
    int e = check_current(c);
    if (e == RT_SUCCESS && (value < 0 || value > most))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "a preference of %d: 0 to %d", value, most);
    return rt_leave(c, e);
}

RT_API int cuCtxGetCacheConfig(int *config) { return preference("cuCtxGetCacheConfig", config, 0); }
RT_API int cuCtxSetCacheConfig(int config) { return prefer("cuCtxSetCacheConfig", config, 3); }
RT_API int cuCtxGetSharedMemConfig(int *config) {
    return preference("cuCtxGetSharedMemConfig", config, 1);
} /* 4 bytes */
RT_API int cuCtxSetSharedMemConfig(int config) { return prefer("cuCtxSetSharedMemConfig", config, 2); }

static int accept(const char *call) {
    struct rt_context *c = rt_enter(call);
    return rt_leave(c, rt_check_init(c));
}

RT_API int cuCtxResetPersistingL2Cache(void) { return accept("cuCtxResetPersistingL2Cache"); }
RT_API int cuProfilerStart(void) { return accept("cuProfilerStart"); }
RT_API int cuProfilerStop(void) { return accept("cuProfilerStop"); }

/* --- errors and entry points -------------------------------------------------------------------------------------- */

RT_API int cuGetErrorName(int code, const char **name) {
    const char *text = rt_driver_error_name(code);
    if (name != NULL)
        *name = text;
    return text != NULL && name != NULL ? RT_SUCCESS : RT_ERROR_INVALID_VALUE;
}

RT_API int cuGetErrorString(int code, const char **text) {
    bool known = rt_driver_error_name(code) != NULL;
    if (text != NULL)
        *text = known ? rt_error_text(code) : NULL;
    return known && text != NULL ? RT_SUCCESS : RT_ERROR_INVALID_VALUE;
}

RT_API int cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
    (void)flags; /* legacy or per-thread default stream: the same here */
    return driver_entry("cuGetProcAddress", name, out, version, NULL);
}

RT_API int cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *result) {
    (void)flags;
    return driver_entry("cuGetProcAddress", name, out, version, result);
}

/* The table by which a runtime that is linked into the program, or into a library of its own, reaches the driver. It is
 * not documented, and the emulator has none. */
RT_API int cuGetExportTable(const void **table, const void *id) {
    (void)table, (void)id;
    struct rt_context *c = rt_enter("cuGetExportTable");
    if (!c->table_told)
        rt_say(c, 0,
               "not supported by the emulator: a CUDA runtime asks for it that is linked statically; run the program "
               "by sm100emu, which takes that runtime's place, or build it with -cudart shared");
    c->table_told = true;
    return rt_leave(c, RT_ERROR_NOT_SUPPORTED);
}
