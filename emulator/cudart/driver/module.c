/* Driver API: modules, libraries, functions, launches, occupancy. CUmodule and CUlibrary are rt_module, CUfunction and
 * CUkernel rt_function. */
#include "cudart/core/calls.h"

#include <stdlib.h>
#include <string.h>

RT_API int cuModuleLoad(void **module, const char *path) {
    return rt_call_load_file("cuModuleLoad", module, path, NULL);
}

RT_API int cuModuleLoadData(void **module, const void *image) {
    return rt_call_load_image("cuModuleLoadData", module, image, NULL);
}

RT_API int cuModuleLoadFatBinary(void **module, const void *image) {
    return rt_call_load_image("cuModuleLoadFatBinary", module, image, NULL);
}

RT_API int cuModuleLoadDataEx(void **module, const void *image, unsigned num_options, int *options, void **values) {
    return rt_call_load_image("cuModuleLoadDataEx", module, image,
                              &(struct rt_options){.num_jit = num_options, .jit = options, .jit_values = values});
}

RT_API int cuLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned num_jit,
                             int *options, void **values, unsigned num_options) {
    (void)values; /* of the options that are known none has one */
    return rt_call_load_image("cuLibraryLoadData", library, code,
                              &(struct rt_options){num_jit, jit, jit_values, num_options, options, false});
}

RT_API int cuLibraryLoadFromFile(void **library, const char *path, int *jit, void **jit_values, unsigned num_jit,
                                 int *options, void **values, unsigned num_options) {
    (void)values;
    return rt_call_load_file("cuLibraryLoadFromFile", library, path,
                             &(struct rt_options){num_jit, jit, jit_values, num_options, options, true});
}

/* CU_MODULE_EAGER_LOADING or CU_MODULE_LAZY_LOADING, the default. Modules are loaded when they are first used anyway:
 * no program can tell. */
RT_API int cuModuleGetLoadingMode(int *mode) {
    const char *text = getenv("CUDA_MODULE_LOADING");
    return rt_call_answer("cuModuleGetLoadingMode", mode, text != NULL && strcmp(text, "EAGER") == 0 ? 1 : 2);
}

RT_API int cuModuleUnload(void *module) { return rt_call_unload("cuModuleUnload", module); }
RT_API int cuLibraryUnload(void *library) { return rt_call_unload("cuLibraryUnload", library); }

RT_API int cuModuleGetFunction(void **function, void *module, const char *name) {
    return rt_call_module_function("cuModuleGetFunction", function, module, name);
}

RT_API int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    return rt_call_module_function("cuLibraryGetKernel", kernel, library, name);
}

RT_API int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name) {
    return rt_call_module_variable("cuModuleGetGlobal", address, bytes, module, name, false);
}

RT_API int cuLibraryGetGlobal(uint64_t *address, size_t *bytes, void *library, const char *name) {
    return rt_call_module_variable("cuLibraryGetGlobal", address, bytes, library, name, false);
}

RT_API int cuLibraryGetManaged(uint64_t *address, size_t *bytes, void *library, const char *name) {
    return rt_call_module_variable("cuLibraryGetManaged", address, bytes, library, name, true);
}

RT_API int cuModuleGetFunctionCount(unsigned *count, void *module) {
    return rt_call_kernel_count("cuModuleGetFunctionCount", count, module);
}

RT_API int cuLibraryGetKernelCount(unsigned *count, void *library) {
    return rt_call_kernel_count("cuLibraryGetKernelCount", count, library);
}

RT_API int cuModuleEnumerateFunctions(void **functions, unsigned most, void *module) {
    return rt_call_kernels("cuModuleEnumerateFunctions", functions, most, module);
}

RT_API int cuLibraryEnumerateKernels(void **kernels, unsigned most, void *library) {
    return rt_call_kernels("cuLibraryEnumerateKernels", kernels, most, library);
}

RT_API int cuLibraryGetModule(void **module, void *library) {
    struct rt_context *c = rt_enter_module("cuLibraryGetModule", library);
    return rt_leave(c, rt_give(c->entered, module, library));
}

RT_API int cuKernelGetFunction(void **function, void *kernel) {
    return rt_call_function("cuKernelGetFunction", function, kernel);
}

static int module_of(const char *call, void **module, void *function) {
    struct rt_function *f;
    struct rt_context *c = rt_enter_function(call, function, &f);
    return rt_leave(c, rt_give(c->entered, module, f->module));
}

RT_API int cuFuncGetModule(void **module, void *function) { return module_of("cuFuncGetModule", module, function); }
RT_API int cuKernelGetLibrary(void **library, void *kernel) { return module_of("cuKernelGetLibrary", library, kernel); }

RT_API int cuFuncLoad(void *function) { return rt_call_function("cuFuncLoad", NULL, function); }

/* The one call about a function that does not load it. */
RT_API int cuFuncIsLoaded(int *state, void *function) {
    struct rt_context *c = rt_enter_ready("cuFuncIsLoaded");
    const struct rt_function *f = c->entered == RT_SUCCESS ? rt_function_find(c, function) : NULL;
    int e = rt_then(c->entered, rt_check_out(c, state));
    if (e == RT_SUCCESS && f == NULL)
        e = rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is not a function of this process", function);
    return rt_leave(c, rt_give(e, state, f->kernel != NULL));
}

RT_API int cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *bytes) {
    return rt_call_param_info("cuFuncGetParamInfo", function, index, offset, bytes);
}

RT_API int cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *bytes) {
    return rt_call_param_info("cuKernelGetParamInfo", kernel, index, offset, bytes);
}

static int name_of(const char *call, const char **name, void *function) {
    if (name == NULL || function == NULL) {
        struct rt_context *c = rt_enter(call);
        int e = rt_check_init(c);
        return rt_leave(c, rt_then(e, rt_say(c, RT_ERROR_INVALID_VALUE, "no function, or no place for its name")));
    }
    return rt_call_function_name(call, name, function);
}

RT_API int cuFuncGetName(const char **name, void *function) { return name_of("cuFuncGetName", name, function); }
RT_API int cuKernelGetName(const char **name, void *kernel) { return name_of("cuKernelGetName", name, kernel); }

static int get_attribute(const char *call, int *value, int attribute, void *function) {
    struct rt_function *f;
    if (function == NULL) { /* needs neither cuInit nor a context */
        struct rt_context *c = rt_enter(call);
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_HANDLE, "the function is a null pointer"));
    }
    struct rt_context *c = rt_enter_function(call, function, &f);
    return rt_leave(c, rt_then(c->entered, rt_func_get_attribute(c, f, attribute, value)));
}

RT_API int cuFuncGetAttribute(int *value, int attribute, void *function) {
    return get_attribute("cuFuncGetAttribute", value, attribute, function);
}

RT_API int cuFuncSetAttribute(void *function, int attribute, int value) {
    return rt_call_set_attribute("cuFuncSetAttribute", function, attribute, value);
}

/* A kernel's attributes are kept for each device: for the one that there is. */
static int wrong_device(const char *call, int device) {
    struct rt_context *c = rt_enter(call);
    return rt_leave(c, rt_check_device(c, device));
}

RT_API int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device) {
    const char *call = "cuKernelGetAttribute";
    return wrong_device(call, device) ?: get_attribute(call, value, attribute, kernel);
}

RT_API int cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
    const char *call = "cuKernelSetAttribute";
    return wrong_device(call, device) ?: rt_call_set_attribute(call, kernel, attribute, value);
}

/* Preferences about caches and banks: hints. */
RT_API int cuFuncSetCacheConfig(void *function, int config) {
    (void)config;
    return rt_call_function("cuFuncSetCacheConfig", NULL, function);
}

RT_API int cuKernelSetCacheConfig(void *kernel, int config, int device) {
    (void)config;
    return wrong_device("cuKernelSetCacheConfig", device) ?: rt_call_function("cuKernelSetCacheConfig", NULL, kernel);
}

RT_API int cuFuncSetSharedMemConfig(void *function, int config) {
    (void)config;
    return rt_call_function("cuFuncSetSharedMemConfig", NULL, function);
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
