/* Entry points that both APIs have; contract in calls.h. */
#include "cudart/core/calls.h"

#include "base/budget.h"

#include <stdio.h>

int rt_call_pci_bus_id(const char *call, char *text, int len, int device) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_device(c, device);
    if (e == RT_SUCCESS && (text == NULL || len < 13))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "13 characters are needed, %d given", len);
    if (e == RT_SUCCESS)
        snprintf(text, (size_t)len, "0000:00:00.0");
    return rt_leave(c, e);
}

/* [domain]:[bus]:[device].[function], [domain]:[bus]:[device] or [bus]:[device].[function] */
int rt_call_device_by_pci(const char *call, int *device, const char *text) {
    unsigned n[4] = {0};
    char end;
    struct rt_context *c = rt_enter(call);
    int e = rt_then(rt_check_init(c), rt_check_out(c, device));
    if (e == RT_SUCCESS && (text == NULL || (sscanf(text, "%x:%x:%x.%x%c", &n[0], &n[1], &n[2], &n[3], &end) != 4 &&
                                             sscanf(text, "%x:%x:%x%c", &n[0], &n[1], &n[2], &end) != 3 &&
                                             sscanf(text, "%x:%x.%x%c", &n[0], &n[1], &n[2], &end) != 3)))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%s is no PCI bus id", text ? text : "(null)");
    if (e == RT_SUCCESS && (n[0] | n[1] | n[2] | n[3]) != 0)
        e = rt_say(c, RT_ERROR_INVALID_DEVICE, "%s; there is only 0000:00:00.0", text);
    return rt_leave(c, rt_give(e, device, 0));
}

int rt_call_answer(const char *call, int *out, int value) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_out(c, out);
    return rt_leave(c, rt_give(e, out, value));
}

/* Arguments are not looked at: a C caller passes them in registers or cleans its own stack. */
int rt_call_unsupported(const char *call, unsigned stub) {
    struct rt_context *c = rt_enter(call);
    bool *told = &c->stub_told[c->driver][stub];
    if (!*told)
        rt_say(c, 0, "not supported by the emulator");
    *told = true;
    return rt_leave(c, RT_ERROR_NOT_SUPPORTED);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

int rt_call_malloc(const char *call, size_t size, enum rt_memory_type type, void *stream, void **out) {
    struct rt_context *c = rt_enter_ready(call);
    int e = rt_then(c->entered, rt_stream_check(c, stream, NULL));
    return rt_leave(c, rt_then(e, rt_malloc(c, size, type, out)));
}

/* Portable, mapped and write-combined (1, 2, 4): page-locked memory here is all of it. */
int rt_call_malloc_host(const char *call, size_t size, unsigned flags, void **out) {
    struct rt_context *c = rt_enter_ready(call);
    int e = c->entered;
    if (flags > 7)
        return rt_leave(c, rt_then(e, rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are not known", flags)));
    e = rt_then(e, rt_malloc(c, size, RT_MEMORY_HOST, out));
    if (e == RT_SUCCESS && *out != NULL)
        mem_flag(c->gpu->mem, (uintptr_t)*out, flags);
    return rt_leave(c, e);
}

int rt_call_malloc_async(const char *call, size_t size, void *pool, bool current, void *stream, void **out) {
    struct rt_pool *p = pool;
    struct rt_context *c = rt_enter_ready(call);
    int e = rt_then(c->entered, rt_stream_check(c, stream, NULL));
    e = rt_then(e, current ? rt_pool_current(c, &p) : rt_pool_check(c, pool));
    return rt_leave(c, rt_then(e, rt_pool_malloc(c, p, size, out)));
}

int rt_call_free(const char *call, void *p, bool host, void *stream) {
    struct rt_context *c = rt_enter_ready(call);
    int e = rt_then(c->entered, rt_stream_check(c, stream, NULL));
    return rt_leave(c, rt_then(e, rt_free(c, p, host)));
}

int rt_call_mem_info(const char *call, size_t *free_bytes, size_t *total_bytes) {
    struct rt_context *c = rt_enter_ready(call);
    int e = c->entered;
    if (e == RT_SUCCESS) {
        uint64_t used, capacity;
        mem_usage(c->gpu->mem, &used, &capacity);
        if (free_bytes != NULL)
            *free_bytes = capacity - used < budget_left() ? capacity - used : budget_left();
        if (total_bytes != NULL)
            *total_bytes = capacity;
    }
    return rt_leave(c, e);
}

/* Page-locked host memory at this address. */
static int check_host(struct rt_context *c, const void *host, struct mem_block *b) {
    int type;
    return rt_pointer(c, host, &type, b) && type == RT_MEMORY_HOST
               ? RT_SUCCESS
               : rt_say(c, RT_ERROR_INVALID_VALUE, "%p is not page-locked host memory", host);
}

int rt_call_host_flags(const char *call, unsigned *out, void *host) {
    struct mem_block b = {0};
    struct rt_context *c = rt_enter_ready(call);
    int e = rt_then(c->entered, check_host(c, host, &b));
    return rt_leave(c, rt_give(e, out, b.flags | 2));
}

int rt_call_host_pointer(const char *call, void **out, void *host, unsigned flags) {
    int type;
    struct mem_block b;
    struct rt_context *c = rt_enter_ready(call);
    int e = c->entered;
    if (e == RT_SUCCESS && (out == NULL || flags != 0 || !rt_pointer(c, host, &type, &b) || type != RT_MEMORY_HOST))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%p is not page-locked host memory", host);
    return rt_leave(c, rt_give(e, out, host));
}

int rt_call_copy(const char *call, void *dst, const void *src, size_t bytes, int kind, void *stream) {
    struct rt_context *c = rt_enter_ready(call);
    int e = c->entered;
    rt_flush_printed(c);
    e = rt_then(e, rt_stream_check(c, stream, NULL));
    return rt_leave(c, rt_then(e, rt_copy(c, dst, src, bytes, kind, stream)));
}

int rt_call_fill(const char *call, void *p, size_t pitch, uint32_t value, unsigned element, size_t width, size_t height,
                 void *stream) {
    struct rt_context *c = rt_enter_ready(call);
    int e = rt_then(c->entered, rt_stream_check(c, stream, NULL));
    return rt_leave(c, rt_then(e, rt_fill_2d(c, p, pitch, value, element, width, height, stream)));
}

int rt_call_advise(const char *call, const void *p, size_t bytes) {
    struct rt_context *c = rt_enter_ready(call);
    struct mem_block b;
    int type, e = c->entered;
    if (e == RT_SUCCESS &&
        (!rt_pointer(c, p, &type, &b) || type != RT_MEMORY_MANAGED || bytes > b.size - ((uintptr_t)p - b.addr)))
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "%zu bytes at %p are not managed memory", bytes, p);
    return rt_leave(c, e);
}

/* --- pools -------------------------------------------------------------------------------------------------------- */

int rt_call_pool_create(const char *call, void **pool, const struct rt_pool_props *props) {
    struct rt_context *c = rt_enter(call);
    int e = rt_then(rt_check_init(c), rt_ready(c));
    return rt_leave(c, rt_then(e, rt_pool_create(c, props, pool)));
}

int rt_call_pool_destroy(const char *call, void *pool) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_init(c);
    return rt_leave(c, rt_then(e, rt_pool_destroy(c, pool)));
}

/* No pool keeps memory. */
int rt_call_pool_trim(const char *call, void *pool) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_init(c);
    return rt_leave(c, rt_then(e, rt_pool_check(c, pool)));
}

int rt_call_pool_get(const char *call, void *pool, int attribute, void *value) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_init(c);
    return rt_leave(c, rt_then(e, rt_pool_get(c, pool, attribute, value)));
}

int rt_call_pool_set(const char *call, void *pool, int attribute, const void *value) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_init(c);
    return rt_leave(c, rt_then(e, rt_pool_set(c, pool, attribute, value)));
}

int rt_call_pool_set_access(const char *call, void *pool, const struct rt_pool_access *list, size_t count) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_init(c);
    return rt_leave(c, rt_then(e, rt_pool_set_access(c, pool, list, count)));
}

int rt_call_pool_get_access(const char *call, void *pool, const struct rt_mem_location *location, int *flags) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_init(c);
    return rt_leave(c, rt_then(e, rt_pool_get_access(c, pool, location, flags)));
}

static int give_pool(const char *call, void **pool, int device,
                     int (*which)(struct rt_context *c, struct rt_pool **out)) {
    struct rt_pool *p = NULL;
    struct rt_context *c = rt_enter(call);
    int e = rt_then(rt_check_device(c, device), rt_check_out(c, pool));
    e = rt_then(e, rt_ready(c));
    e = rt_then(e, which(c, &p));
    return rt_leave(c, rt_give(e, pool, p));
}

int rt_call_default_pool(const char *call, void **pool, int device) {
    return give_pool(call, pool, device, rt_pool_default);
}

int rt_call_current_pool(const char *call, void **pool, int device) {
    return give_pool(call, pool, device, rt_pool_current);
}

int rt_call_use_pool(const char *call, int device, void *pool) {
    struct rt_context *c = rt_enter(call);
    int e = rt_check_device(c, device);
    e = rt_then(e, rt_pool_check(c, pool));
    return rt_leave(c, rt_give(e, &c->current_pool, pool));
}

/* --- streams and events ------------------------------------------------------------------------------------------- */

int rt_call_stream_create(const char *call, unsigned flags, int priority, void **out) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, rt_then(c->entered, rt_stream_create(c, flags, priority, out)));
}

int rt_call_destroy(const char *call, void *handle, rt_destroy_fn *destroy) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, rt_then(c->entered, destroy(c, handle)));
}

int rt_call_on_stream(const char *call, void *stream, bool wait) {
    struct rt_context *c = rt_enter_ready(call);
    int e = c->entered;
    if (wait)
        rt_flush_printed(c);
    e = rt_then(e, rt_stream_check(c, stream, NULL));
    if (e == RT_SUCCESS)
        rt_tell(c, HOST_SYNC, stream, NULL);
    return rt_leave(c, e);
}

int rt_call_host_function(const char *call, void *stream, void (*function)(void *), void *data) {
    int e = rt_call_on_stream(call, stream, true);
    if (e == RT_SUCCESS && function != NULL) {
        rt_thread()->call = call;
        function(data);
        rt_thread()->call = NULL;
    }
    return e;
}

struct callback {
    rt_callback_fn *function;
    void *stream, *data;
};

static void run_callback(void *arg) {
    const struct callback *b = arg;
    if (b->function != NULL)
        b->function(b->stream, RT_SUCCESS, b->data);
}

int rt_call_callback(const char *call, void *stream, rt_callback_fn *function, void *data) {
    return rt_call_host_function(call, stream, run_callback, &(struct callback){function, stream, data});
}

int rt_call_event_create(const char *call, unsigned flags, void **out) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, rt_then(c->entered, rt_event_create(c, flags, out)));
}

int rt_call_event_record(const char *call, void *event, void *stream) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, rt_then(c->entered, rt_event_record(c, event, stream)));
}

int rt_call_on_event(const char *call, void *event, bool wait) {
    struct rt_context *c = rt_enter_ready(call);
    int e = c->entered;
    if (wait)
        rt_flush_printed(c);
    e = rt_then(e, rt_event_check(c, event, NULL));
    if (e == RT_SUCCESS)
        rt_tell(c, HOST_SYNC, NULL, event);
    return rt_leave(c, e);
}

int rt_call_event_elapsed(const char *call, float *ms, void *start, void *end) {
    struct rt_context *c = rt_enter_ready(call);
    return rt_leave(c, rt_then(c->entered, rt_event_elapsed(c, start, end, ms)));
}

/* --- modules, functions, launches --------------------------------------------------------------------------------- */

/* A call that loads: enters it, and opens its logs. */
static struct rt_context *enter_load(const char *call, const struct rt_options *options, struct rt_jit *jit) {
    struct rt_context *c = rt_enter_ready(call);
    const struct rt_options none = {0};
    c->entered = rt_then(c->entered, rt_jit_open(c, options ?: &none, jit));
    if (c->entered == RT_SUCCESS)
        rt_jit_resume(c, jit);
    return c;
}

int rt_call_load_image(const char *call, void **module, const void *image, const struct rt_options *options) {
    struct rt_jit jit;
    struct rt_context *c = enter_load(call, options, &jit);
    int e = rt_then(c->entered, rt_module_from_image(c, image, module));
    rt_jit_pause(c);
    return rt_leave(c, e);
}

int rt_call_load_file(const char *call, void **module, const char *path, const struct rt_options *options) {
    struct rt_jit jit;
    struct rt_context *c = enter_load(call, options, &jit);
    int e = rt_then(c->entered, rt_module_from_file(c, path, module));
    rt_jit_pause(c);
    return rt_leave(c, e);
}

int rt_call_unload(const char *call, void *module) {
    struct rt_context *c = rt_enter_module(call, module);
    int e = c->entered;
    if (e == RT_SUCCESS)
        rt_module_drop(c, module);
    return rt_leave(c, e);
}

int rt_call_module_function(const char *call, void **function, void *module, const char *name) {
    struct rt_context *c = rt_enter_module(call, module);
    return rt_leave(c, rt_then(c->entered, rt_function_by_name(c, module, name, function)));
}

int rt_call_kernel_count(const char *call, unsigned *count, void *module) {
    struct rt_context *c = rt_enter_module(call, module);
    int e = rt_then(c->entered, rt_check_out(c, count));
    return rt_leave(c, rt_then(e, rt_module_kernels(c, module, NULL, 0, count)));
}

int rt_call_kernels(const char *call, void **kernels, unsigned most, void *module) {
    unsigned count;
    struct rt_context *c = rt_enter_module(call, module);
    int e = rt_then(c->entered, rt_check_out(c, kernels));
    return rt_leave(c, rt_then(e, rt_module_kernels(c, module, kernels, most, &count)));
}

int rt_call_module_variable(const char *call, uint64_t *address, size_t *bytes, void *module, const char *name,
                            bool managed) {
    uint64_t at = 0;
    int type = RT_MEMORY_UNREGISTERED;
    struct mem_block b;
    struct rt_context *c = rt_enter_module(call, module);
    int e = rt_then(c->entered, rt_variable_by_name(c, module, name, address || !bytes ? address : &at, bytes));
    if (e == RT_SUCCESS && managed) {
        rt_pointer(c, (void *)(uintptr_t)(address ? *address : at), &type, &b);
        if (type != RT_MEMORY_MANAGED)
            e = rt_say(c, RT_ERROR_NOT_FOUND, "%s is not a managed variable", name);
    }
    return rt_leave(c, e);
}

int rt_call_function(const char *call, void **out, const void *function) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    return rt_leave(c, rt_give(c->entered, out, f));
}

int rt_call_function_name(const char *call, const char **name, const void *function) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    return rt_leave(c, rt_give(c->entered, name, f->name));
}

int rt_call_param_info(const char *call, const void *function, size_t index, size_t *offset, size_t *bytes) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    int e = rt_then(c->entered, rt_check_out(c, offset));
    if (e == RT_SUCCESS && index >= f->info.ptx->num_params)
        e = RT_ERROR_INVALID_VALUE; /* no line: so programs count the parameters */
    if (e == RT_SUCCESS) {
        *offset = ptx_param_offset(f->info.ptx, (uint32_t)index, NULL);
        if (bytes != NULL)
            *bytes = f->info.ptx->params[index].size;
    }
    return rt_leave(c, e);
}

int rt_call_set_attribute(const char *call, const void *function, int attribute, int value) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    return rt_leave(c, rt_then(c->entered, rt_func_set_attribute(c, f, attribute, value)));
}

int rt_call_launch(const char *call, const void *function, const struct rt_launch *l) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    return rt_leave(c, rt_then(c->entered, rt_launch(c, f, l)));
}

static int no_config(struct rt_context *c) {
    return rt_say(c, RT_ERROR_INVALID_VALUE, "the configuration is a null pointer");
}

int rt_call_launch_config(const char *call, const struct rt_launch_config *config, const void *function, void **args,
                          void **extra, int shape_error) {
    if (config == NULL) {
        struct rt_context *c = rt_enter(call);
        return rt_leave(c, no_config(c));
    }
    struct rt_launch l = {.config = *config, .args = args, .extra = extra, .shape_error = shape_error};
    return rt_call_launch(call, function, &l);
}

int rt_call_max_ctas(const char *call, int *ctas, const void *function, int block_size, size_t dynamic_shared,
                     unsigned flags) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    int e = c->entered;
    if (e == RT_SUCCESS && flags > 1) /* 1: cudaOccupancyDisableCachingOverride */
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are not known", flags);
    return rt_leave(c, rt_then(e, rt_max_ctas_per_sm(c, f, block_size, dynamic_shared, ctas)));
}

int rt_call_max_clusters(const char *call, int *out, const void *function, const struct rt_launch_config *config,
                         rt_max_fn *most) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    int e = c->entered;
    if (e == RT_SUCCESS && config == NULL)
        e = no_config(c);
    return rt_leave(c, rt_then(e, most(c, f, config, out)));
}

int rt_call_available_shared(const char *call, size_t *bytes, const void *function, int ctas, int threads) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    return rt_leave(c, rt_then(c->entered, rt_available_shared(c, f, ctas, threads, bytes)));
}
