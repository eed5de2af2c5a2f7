/* Driver API: modules, libraries, functions, launches, occupancy. CUmodule and CUlibrary are rt_module, CUfunction and
 * CUkernel rt_function. */
#include "cudart/core/calls.h"

RT_API int cuModuleLoad(void **module, const char *path) { return rt_call_load_file("cuModuleLoad", module, path); }
RT_API int cuModuleLoadData(void **module, const void *image) {
    return rt_call_load_image("cuModuleLoadData", module, image);
}
RT_API int cuModuleLoadFatBinary(void **module, const void *image) {
    return rt_call_load_image("cuModuleLoadFatBinary", module, image);
}

/* JIT options tune or describe a compilation; there is none. Log buffers are emptied. */
RT_API int cuModuleLoadDataEx(void **module, const void *image, unsigned num_options, int *options, void **values) {
    for (unsigned i = 0; i + 1 < num_options && options != NULL && values != NULL; i++)
        if ((options[i] == 3 || options[i] == 5) && options[i + 1] == options[i] + 1 && values[i] != NULL &&
            (uintptr_t)values[i + 1] != 0) /* CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER and their sizes */
            *(char *)values[i] = 0;
    return rt_call_load_image("cuModuleLoadDataEx", module, image);
}

RT_API int cuLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned num_jit,
                             int *options, void **values, unsigned num_options) {
    (void)jit, (void)jit_values, (void)num_jit, (void)options, (void)values, (void)num_options;
    return rt_call_load_image("cuLibraryLoadData", library, code);
}

RT_API int cuLibraryLoadFromFile(void **library, const char *path, int *jit, void **jit_values, unsigned num_jit,
                                 int *options, void **values, unsigned num_options) {
    (void)jit, (void)jit_values, (void)num_jit, (void)options, (void)values, (void)num_options;
    return rt_call_load_file("cuLibraryLoadFromFile", library, path);
}

RT_API int cuModuleUnload(void *module) { return rt_call_unload("cuModuleUnload", module); }
RT_ALIAS(cuLibraryUnload, cuModuleUnload);

RT_API int cuModuleGetFunction(void **function, void *module, const char *name) {
    return rt_call_module_function("cuModuleGetFunction", function, module, name);
}
RT_ALIAS(cuLibraryGetKernel, cuModuleGetFunction);

RT_API int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name) {
    return rt_call_module_variable("cuModuleGetGlobal", address, bytes, module, name);
}
RT_ALIAS(cuLibraryGetGlobal, cuModuleGetGlobal_v2);

RT_API int cuLibraryGetModule(void **module, void *library) {
    struct rt_context *c = rt_enter_module("cuLibraryGetModule", library);
    return rt_leave(c, rt_give(c->entered, module, library));
}

RT_API int cuKernelGetFunction(void **function, void *kernel) {
    return rt_call_function("cuKernelGetFunction", function, kernel);
}

RT_API int cuFuncGetModule(void **module, void *function) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function("cuFuncGetModule", function, &f);
    return rt_leave(c, rt_give(c->entered, module, f->module));
}

RT_API int cuFuncGetName(const char **name, void *function) {
    if (name == NULL || function == NULL) {
        struct rt_context *c = rt_enter("cuFuncGetName");
        int e = rt_check_init(c);
        return rt_leave(c, rt_then(e, rt_say(c, RT_ERROR_INVALID_VALUE, "no function, or no place for its name")));
    }
    return rt_call_function_name("cuFuncGetName", name, function);
}
RT_ALIAS(cuKernelGetName, cuFuncGetName);

RT_API int cuFuncGetAttribute(int *value, int attribute, void *function) {
    struct rt_function *f;
    if (function == NULL) { /* needs neither cuInit nor a context */
        struct rt_context *c = rt_enter("cuFuncGetAttribute");
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_HANDLE, "the function is a null pointer"));
    }
    struct rt_context *c = rt_enter_function("cuFuncGetAttribute", function, &f);
    return rt_leave(c, rt_then(c->entered, rt_func_get_attribute(c, f, attribute, value)));
}

RT_API int cuFuncSetAttribute(void *function, int attribute, int value) {
    return rt_call_set_attribute("cuFuncSetAttribute", function, attribute, value);
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
    (void)config;
    return rt_call_function("cuFuncSetCacheConfig", NULL, function);
}

RT_API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **args,
                          void **extra) {
    struct rt_launch l = {.config = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .dynamic_shared = shared,
                                     .stream = stream},
                          .args = args,
                          .extra = extra,
                          .shape_error = RT_ERROR_INVALID_VALUE};
    return rt_call_launch("cuLaunchKernel", function, &l);
}
RT_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);

/* The runtime's form of a configuration, in *out; NULL stays NULL. */
static const struct rt_launch_config *runtime_config(const struct rt_driver_launch_config *config,
                                                     struct rt_launch_config *out) {
    if (config == NULL)
        return NULL;
    *out = (struct rt_launch_config){.grid = config->grid,
                                     .block = config->block,
                                     .dynamic_shared = config->dynamic_shared,
                                     .stream = config->stream,
                                     .attrs = config->attrs,
                                     .num_attrs = config->num_attrs};
    return out;
}

RT_API int cuLaunchKernelEx(const struct rt_driver_launch_config *config, void *function, void **args, void **extra) {
    struct rt_launch_config same;
    return rt_call_launch_config("cuLaunchKernelEx", runtime_config(config, &same), function, args, extra,
                                 RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);

RT_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function, int block_size,
                                                                size_t dynamic_shared, unsigned flags) {
    return rt_call_max_ctas("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block_size, dynamic_shared,
                            flags);
}

RT_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block_size,
                                                       size_t dynamic_shared) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}

RT_API int cuOccupancyMaxActiveClusters(int *clusters, void *function, const struct rt_driver_launch_config *config) {
    struct rt_launch_config same;
    return rt_call_max_clusters("cuOccupancyMaxActiveClusters", clusters, function, runtime_config(config, &same),
                                rt_max_clusters);
}

RT_API int cuOccupancyMaxPotentialClusterSize(int *size, void *function, const struct rt_driver_launch_config *config) {
    struct rt_launch_config same;
    return rt_call_max_clusters("cuOccupancyMaxPotentialClusterSize", size, function, runtime_config(config, &same),
                                rt_max_cluster_size);
}

RT_API int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void *function, int blocks, int block_size) {
    return rt_call_available_shared("cuOccupancyAvailableDynamicSMemPerBlock", bytes, function, blocks, block_size);
}

RT_API int cuOccupancyMaxPotentialBlockSizeWithFlags(int *blocks, int *block_size, void *function,
                                                     size_t (*shared_of)(int), size_t shared, int limit,
                                                     unsigned flags) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function("cuOccupancyMaxPotentialBlockSize", function, &f);
    int e = c->entered;
    if (e == RT_SUCCESS && flags > 1)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are not known", flags);
    return rt_leave(c, rt_then(e, rt_best_block(c, f, shared_of, shared, limit, blocks, block_size)));
}

RT_API int cuOccupancyMaxPotentialBlockSize(int *blocks, int *block_size, void *function, size_t (*shared_of)(int),
                                            size_t shared, int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(blocks, block_size, function, shared_of, shared, limit, 0);
}
