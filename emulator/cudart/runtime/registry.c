/* What nvcc's host stubs call before main and around each launch (crt/host_runtime.h of 12.9 and 13.0): fat binaries,
 * kernels and variables are registered by address here and loaded when first used. */
#include "cudart/core/context.h"

#include "base/fatal.h"
#include "base/heap.h"

/* The handle of a registered binary is the module. */
static struct rt_module *module_of(struct rt_context *c, void **handle) {
    struct rt_module *m = (struct rt_module *)handle;
    return rt_module_known(c, m) ? m : NULL;
}

RT_API void **__cudaRegisterFatBinary(const void *wrapper) {
    struct rt_context *c = rt_enter("__cudaRegisterFatBinary");
    struct rt_module *m = rt_module_create(c);
    if (m == NULL)
        heap_exhausted(1, sizeof *m);
    m->registered = true;
    m->wrapper = wrapper;
    c->watches_exit = false; /* the program registers its exit handler next */
    rt_leave(c, RT_SUCCESS);
    return (void **)m;
}

RT_API void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

RT_API void __cudaUnregisterFatBinary(void **handle) {
    struct rt_context *c = rt_enter("__cudaUnregisterFatBinary");
    rt_finish(c);
    struct rt_module *m = module_of(c, handle);
    if (c->printed_len != 0) { /* as on a GPU: what was printed after the last synchronisation is lost */
        rt_say(c, 0,
               "%zu bytes of the kernels' printf output were never shown: the program ended without a "
               "cudaDeviceSynchronize after the launch",
               c->printed_len);
        c->printed_len = 0;
    }
    if (m != NULL)
        rt_module_drop(c, m);
    rt_leave(c, RT_SUCCESS);
}

RT_API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                   void *tid, void *bid, void *block, void *grid, int *warp_size) {
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    struct rt_context *c = rt_enter("__cudaRegisterFunction");
    struct rt_module *m = module_of(c, handle);
    if (m != NULL && name != NULL && rt_function_create(c, m, name, host) == NULL)
        heap_exhausted(1, sizeof(struct rt_function));
    rt_leave(c, RT_SUCCESS);
}

static void register_variable(const char *call, void **handle, const void *host, void **managed, const char *name,
                              size_t size) {
    struct rt_context *c = rt_enter(call);
    struct rt_module *m = module_of(c, handle);
    if (m != NULL && name != NULL) {
        struct rt_variable *v = xcalloc(1, sizeof *v);
        v->host = host;
        v->managed = managed;
        v->size = size;
        v->name = xstrdup(name);
        v->next = m->variables;
        m->variables = v;
    }
    rt_leave(c, RT_SUCCESS);
}

RT_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
                              int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    register_variable("__cudaRegisterVar", handle, host, NULL, name, size);
}

RT_API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
    register_variable("__cudaRegisterHostVar", handle, host, NULL, name, size);
}

RT_API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size,
                                     int constant, int global) {
    (void)device, (void)ext, (void)constant, (void)global;
    register_variable("__cudaRegisterManagedVar", handle, NULL, host, name, size);
}

/* Called before the host first touches a managed variable; not 0: done. */
RT_API char __cudaInitModule(void **handle) {
    struct rt_context *c = rt_enter("__cudaInitModule");
    struct rt_module *m = module_of(c, handle);
    int e = m == NULL ? RT_ERROR_INVALID_HANDLE : rt_ready(c);
    if (e == RT_SUCCESS)
        e = rt_module_ready(c, m);
    else if (m != NULL)
        rt_publish_managed(m);
    if (e == RT_ERROR_MEMORY_ALLOCATION) /* which the host could not be told */
        fatal_host("memory", "there is none for the program's managed variables");
    return rt_leave(c, e) == RT_SUCCESS;
}

/* The stub keeps the handle for good, so it must not depend on the module being loadable: a launch tells that. */
RT_API int __cudaGetKernel(void **kernel, const void *host) {
    struct rt_context *c = rt_enter("__cudaGetKernel");
    struct rt_function *f = rt_function_find(c, host);
    if (kernel != NULL)
        *kernel = f;
    return rt_leave(c, f != NULL && kernel != NULL ? RT_SUCCESS : RT_ERROR_INVALID_DEVICE_FUNCTION);
}

/* 0 lets the launch that follows go on (<<<>>> becomes: push, then the stub, which pops). */
RT_API unsigned __cudaPushCallConfiguration(struct rt_dim3 grid, struct rt_dim3 block, size_t dynamic_shared,
                                            void *stream) {
    struct rt_thread *t = rt_thread();
    if (t->depth == sizeof t->config / sizeof t->config[0]) {
        struct rt_context *c = rt_enter("__cudaPushCallConfiguration");
        return (unsigned)rt_leave(c, rt_say(c, RT_ERROR_INVALID_VALUE, "%u launches nested in arguments", t->depth));
    }
    t->config[t->depth++] = (struct rt_call_config){grid, block, dynamic_shared, stream};
    return RT_SUCCESS;
}

RT_API int __cudaPopCallConfiguration(struct rt_dim3 *grid, struct rt_dim3 *block, size_t *dynamic_shared,
                                      void *stream) {
    struct rt_thread *t = rt_thread();
    if (t->depth == 0) {
        struct rt_context *c = rt_enter("__cudaPopCallConfiguration");
        return rt_leave(c, rt_say(c, RT_ERROR_MISSING_CONFIGURATION, "no launch is configured"));
    }
    const struct rt_call_config *config = &t->config[--t->depth];
    *grid = config->grid;
    *block = config->block;
    *dynamic_shared = config->dynamic_shared;
    *(void **)stream = config->stream;
    return RT_SUCCESS;
}
