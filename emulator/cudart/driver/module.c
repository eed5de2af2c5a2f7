/* Driver API: modules, libraries, functions, launches, occupancy. CUmodule and CUlibrary are rt_module, CUfunction and
 * CUkernel rt_function. */
#include "cudart/core/context.h"

#include <string.h>

/* Enters for a call that needs the device. */
static struct rt_context *enter(const char *call, int *e) {
    struct rt_context *c = rt_enter(call);
    *e = c->driver_ready ? rt_ready(c) : rt_say(c, RT_ERROR_NOT_INITIALIZED, "cuInit was not called");
    return c;
}

static struct rt_context *enter_module(const char *call, void *module, int *e) {
    struct rt_context *c = enter(call, e);
    if (*e == RT_SUCCESS && !rt_module_known(c, module))
        *e = rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is no module of this process", module);
    return c;
}

static struct rt_context *enter_function(const char *call, void *function, struct rt_function **f, int *e) {
    struct rt_context *c = enter(call, e);
    *f = NULL;
    if (*e == RT_SUCCESS)
        *e = rt_function_get(c, function, f);
    return c;
}

static int load_data(const char *call, void **module, const void *image) {
    int e;
    struct rt_context *c = enter(call, &e);
    if (e == RT_SUCCESS)
        e = rt_module_from_image(c, image, (struct rt_module **)module);
    return rt_leave_driver(c, e);
}

static int load_file(const char *call, void **module, const char *path) {
    int e;
    struct rt_context *c = enter(call, &e);
    if (e == RT_SUCCESS)
        e = rt_module_from_file(c, path, (struct rt_module **)module);
    return rt_leave_driver(c, e);
}

RT_API int cuModuleLoad(void **module, const char *path) { return load_file("cuModuleLoad", module, path); }
RT_API int cuModuleLoadData(void **module, const void *image) { return load_data("cuModuleLoadData", module, image); }
RT_API int cuModuleLoadFatBinary(void **module, const void *image) {
    return load_data("cuModuleLoadFatBinary", module, image);
}

/* JIT options tune or describe a compilation; there is none. Log buffers are emptied. */
RT_API int cuModuleLoadDataEx(void **module, const void *image, unsigned num_options, int *options, void **values) {
    for (unsigned i = 0; i + 1 < num_options && options != NULL && values != NULL; i++)
        if ((options[i] == 3 || options[i] == 5) && options[i + 1] == options[i] + 1 && values[i] != NULL &&
            (uintptr_t)values[i + 1] != 0) /* CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER and their sizes */
            *(char *)values[i] = 0;
    return load_data("cuModuleLoadDataEx", module, image);
}

RT_API int cuLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned num_jit,
                             int *options, void **values, unsigned num_options) {
    (void)jit, (void)jit_values, (void)num_jit, (void)options, (void)values, (void)num_options;
    return load_data("cuLibraryLoadData", library, code);
}

RT_API int cuLibraryLoadFromFile(void **library, const char *path, int *jit, void **jit_values, unsigned num_jit,
                                 int *options, void **values, unsigned num_options) {
    (void)jit, (void)jit_values, (void)num_jit, (void)options, (void)values, (void)num_options;
    return load_file("cuLibraryLoadFromFile", library, path);
}

RT_API int cuModuleUnload(void *module) {
    int e;
    struct rt_context *c = enter_module("cuModuleUnload", module, &e);
    if (e == RT_SUCCESS)
        rt_module_drop(c, module);
    return rt_leave_driver(c, e);
}
RT_ALIAS(cuLibraryUnload, cuModuleUnload);

RT_API int cuModuleGetFunction(void **function, void *module, const char *name) {
    int e;
    struct rt_context *c = enter_module("cuModuleGetFunction", module, &e);
    if (e == RT_SUCCESS)
        e = rt_function_by_name(c, module, name, (struct rt_function **)function);
    return rt_leave_driver(c, e);
}
RT_ALIAS(cuLibraryGetKernel, cuModuleGetFunction);

RT_API int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name) {
    int e;
    struct rt_context *c = enter_module("cuModuleGetGlobal", module, &e);
    if (e == RT_SUCCESS)
        e = rt_variable_by_name(c, module, name, address, bytes);
    return rt_leave_driver(c, e);
}
RT_ALIAS(cuLibraryGetGlobal, cuModuleGetGlobal_v2);

RT_API int cuLibraryGetModule(void **module, void *library) {
    int e;
    struct rt_context *c = enter_module("cuLibraryGetModule", library, &e);
    if (e == RT_SUCCESS && module != NULL)
        *module = library;
    return rt_leave_driver(c, e);
}

RT_API int cuKernelGetFunction(void **function, void *kernel) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cuKernelGetFunction", kernel, &f, &e);
    if (e == RT_SUCCESS && function != NULL)
        *function = f;
    return rt_leave_driver(c, e);
}

RT_API int cuFuncGetModule(void **module, void *function) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cuFuncGetModule", function, &f, &e);
    if (e == RT_SUCCESS && module != NULL)
        *module = f->module;
    return rt_leave_driver(c, e);
}

RT_API int cuFuncGetName(const char **name, void *function) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cuFuncGetName", function, &f, &e);
    if (e == RT_SUCCESS && name != NULL)
        *name = f->name;
    return rt_leave_driver(c, e);
}
RT_ALIAS(cuKernelGetName, cuFuncGetName);

RT_API int cuFuncGetAttribute(int *value, int attribute, void *function) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cuFuncGetAttribute", function, &f, &e);
    if (e == RT_SUCCESS)
        e = rt_func_get_attribute(c, f, attribute, value);
    return rt_leave_driver(c, e);
}

RT_API int cuFuncSetAttribute(void *function, int attribute, int value) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cuFuncSetAttribute", function, &f, &e);
    if (e == RT_SUCCESS)
        e = rt_func_set_attribute(c, f, attribute, value);
    return rt_leave_driver(c, e);
}

RT_API int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device) {
    (void)device;
    return cuFuncGetAttribute(value, attribute, kernel);
}

RT_API int cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
    (void)device;
    return cuFuncSetAttribute(kernel, attribute, value);
}

RT_API int cuFuncSetCacheConfig(void *function, int config) {
    int e;
    struct rt_function *f;
    (void)config;
    struct rt_context *c = enter_function("cuFuncSetCacheConfig", function, &f, &e);
    return rt_leave_driver(c, e);
}

/* The list that `extra` points to: a buffer with all parameters and its size, and an end mark. */
static int read_extra(struct rt_context *c, void **extra, struct rt_launch *l) {
    for (unsigned i = 0; extra != NULL && extra[i] != RT_EXTRA_END; i += 2) {
        if (extra[i] == RT_EXTRA_BUFFER)
            l->packed = extra[i + 1];
        else if (extra[i] == RT_EXTRA_SIZE && extra[i + 1] != NULL)
            memcpy(&l->packed_size, extra[i + 1], sizeof l->packed_size);
        else
            return rt_say(c, RT_ERROR_INVALID_VALUE, "key %p of the extra list is not known", extra[i]);
    }
    if (l->packed != NULL && l->args != NULL)
        return rt_say(c, RT_ERROR_INVALID_VALUE, "parameters given twice: by pointers and by extra");
    return RT_SUCCESS;
}

static int launch(const char *call, void *function, struct rt_launch *l, void **extra) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function(call, function, &f, &e);
    l->shape_error = RT_ERROR_INVALID_VALUE;
    if (e == RT_SUCCESS)
        e = read_extra(c, extra, l);
    if (e == RT_SUCCESS)
        e = rt_launch(c, f, l);
    return rt_leave_driver(c, e);
}

RT_API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **args,
                          void **extra) {
    struct rt_launch l = {.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .dynamic_shared = shared,
                          .stream = stream,
                          .args = args};
    return launch("cuLaunchKernel", function, &l, extra);
}
RT_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);

static struct rt_launch from_config(const struct rt_driver_launch_config *config, void **args) {
    return (struct rt_launch){.grid = config->grid,
                              .block = config->block,
                              .dynamic_shared = config->dynamic_shared,
                              .stream = config->stream,
                              .attrs = config->attrs,
                              .num_attrs = config->num_attrs,
                              .args = args};
}

RT_API int cuLaunchKernelEx(const struct rt_driver_launch_config *config, void *function, void **args, void **extra) {
    if (config == NULL) {
        struct rt_context *c = rt_enter("cuLaunchKernelEx");
        return rt_leave_driver(c, rt_say(c, RT_ERROR_INVALID_VALUE, "the configuration is a null pointer"));
    }
    struct rt_launch l = from_config(config, args);
    return launch("cuLaunchKernelEx", function, &l, extra);
}
RT_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);

RT_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function, int block_size,
                                                                size_t dynamic_shared, unsigned flags) {
    int e;
    struct rt_function *f;
    (void)flags;
    struct rt_context *c = enter_function("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, &f, &e);
    if (e == RT_SUCCESS)
        e = rt_max_ctas_per_sm(c, f, block_size, dynamic_shared, blocks);
    return rt_leave_driver(c, e);
}

RT_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block_size,
                                                       size_t dynamic_shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}

RT_API int cuOccupancyMaxActiveClusters(int *clusters, void *function, const struct rt_driver_launch_config *config) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cuOccupancyMaxActiveClusters", function, &f, &e);
    if (e == RT_SUCCESS && config == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the configuration is a null pointer");
    if (e == RT_SUCCESS) {
        struct rt_launch l = from_config(config, NULL);
        e = rt_max_clusters(c, f, &l, clusters);
    }
    return rt_leave_driver(c, e);
}
