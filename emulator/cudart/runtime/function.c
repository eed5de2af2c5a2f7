/* Runtime API: launches, function attributes, occupancy, libraries, driver entry points.
 *
 * Programs built with 12.9 see cudaErrorInvalidConfiguration where 13 answers cudaErrorInvalidValue (launch.c), so the
 * launching calls exist once for each version.
 */
#include "cudart/core/calls.h"
#include "cudart/driver/entry.h"

static int launch(const void *function, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
                  void *stream, int shape_error) {
    struct rt_launch l = {.config = {.grid = grid, .block = block, .dynamic_shared = shared, .stream = stream},
                          .args = args,
                          .shape_error = shape_error};
    return rt_call_launch("cudaLaunchKernel", function, &l);
}

RT_API int cudaLaunchKernel(const void *function, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
                            void *stream) {
    return launch(function, grid, block, args, shared, stream, RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel);
/* The stubs of <<<>>>: the function is the handle that __cudaGetKernel gave. */
RT_ALIAS(__cudaLaunchKernel, cudaLaunchKernel);
RT_ALIAS(__cudaLaunchKernel_ptsz, cudaLaunchKernel);

RT_API int cudaLaunchKernelExC(const struct rt_launch_config *config, const void *function, void **args) {
    return rt_call_launch_config("cudaLaunchKernelExC", config, function, args, NULL, RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC);

#define RT12_ALIAS(name, target) extern __typeof__(target) name __attribute__((alias(#target)))

int rt12_cudaLaunchKernel(const void *function, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
                          void *stream) {
    return launch(function, grid, block, args, shared, stream, RT_ERROR_INVALID_CONFIGURATION);
}
RT12_ALIAS(rt12_cudaLaunchKernel_ptsz, rt12_cudaLaunchKernel);
RT12_ALIAS(rt12___cudaLaunchKernel, rt12_cudaLaunchKernel);
RT12_ALIAS(rt12___cudaLaunchKernel_ptsz, rt12_cudaLaunchKernel);

int rt12_cudaLaunchKernelExC(const struct rt_launch_config *config, const void *function, void **args) {
    return rt_call_launch_config("cudaLaunchKernelExC", config, function, args, NULL, RT_ERROR_INVALID_CONFIGURATION);
}
RT12_ALIAS(rt12_cudaLaunchKernelExC_ptsz, rt12_cudaLaunchKernelExC);

RT_API int cudaFuncGetAttributes(struct rt_func_attributes *out, const void *function) {
    int v[RT_FUNC_CLUSTER_POLICY + 1];
    struct rt_function *f;
    struct rt_context *c = rt_enter_function("cudaFuncGetAttributes", function, &f);
    int e = rt_then(c->entered, rt_check_out(c, out));
    for (int i = 0; i <= RT_FUNC_CLUSTER_POLICY && e == RT_SUCCESS; i++)
        e = rt_func_get_attribute(c, f, i, &v[i]);
    if (e == RT_SUCCESS)
        *out = (struct rt_func_attributes){
            .shared_bytes = (size_t)v[RT_FUNC_SHARED_BYTES],
            .const_bytes = (size_t)v[RT_FUNC_CONST_BYTES],
            .local_bytes = (size_t)v[RT_FUNC_LOCAL_BYTES],
            .max_threads_per_block = v[RT_FUNC_MAX_THREADS],
            .num_regs = v[RT_FUNC_NUM_REGS],
            .ptx_version = v[RT_FUNC_PTX_VERSION],
            .binary_version = v[RT_FUNC_BINARY_VERSION],
            .cache_mode_ca = v[RT_FUNC_CACHE_MODE_CA],
            .max_dynamic_shared = v[RT_FUNC_MAX_DYNAMIC_SHARED],
            .shared_carveout = v[RT_FUNC_SHARED_CARVEOUT],
            .cluster_must_be_set = v[RT_FUNC_CLUSTER_MUST_BE_SET],
            .required_cluster = {v[RT_FUNC_CLUSTER_WIDTH], v[RT_FUNC_CLUSTER_HEIGHT], v[RT_FUNC_CLUSTER_DEPTH]},
            .cluster_policy = v[RT_FUNC_CLUSTER_POLICY],
            .non_portable_cluster = v[RT_FUNC_NON_PORTABLE_CLUSTER],
        };
    return rt_leave(c, e);
}

RT_API int cudaFuncSetAttribute(const void *function, int attribute, int value) {
    return rt_call_set_attribute("cudaFuncSetAttribute", function, attribute, value);
}

RT_API int cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device) {
    if (device != 0) {
        struct rt_context *c = rt_enter("cudaKernelSetAttributeForDevice");
        return rt_leave(c, rt_check_device(c, device));
    }
    return cudaFuncSetAttribute(kernel, attribute, value);
}

/* Preferences about caches and banks: hints. */
RT_API int cudaFuncSetCacheConfig(const void *function, int config) {
    (void)config;
    return rt_call_function("cudaFuncSetCacheConfig", NULL, function);
}

RT_API int cudaFuncSetSharedMemConfig(const void *function, int config) {
    (void)config;
    return rt_call_function("cudaFuncSetSharedMemConfig", NULL, function);
}

RT_API int cudaFuncGetName(const char **name, const void *function) {
    return rt_call_function_name("cudaFuncGetName", name, function);
}

RT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int block_size,
                                                                  size_t dynamic_shared, unsigned flags) {
    return rt_call_max_ctas("cudaOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block_size,
                            dynamic_shared, flags);
}

RT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_size,
                                                         size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}

RT_API int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const struct rt_launch_config *config) {
    return rt_call_max_clusters("cudaOccupancyMaxActiveClusters", clusters, function, config, rt_max_clusters);
}

RT_API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int block_size) {
    return rt_call_available_shared("cudaOccupancyAvailableDynamicSMemPerBlock", bytes, function, blocks, block_size);
}

RT_API int cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                const struct rt_launch_config *config) {
    return rt_call_max_clusters("cudaOccupancyMaxPotentialClusterSize", size, function, config, rt_max_cluster_size);
}

/* A host stub's address gives the handle; the other handles are the function itself. */
RT_API int cudaGetFuncBySymbol(void **out, const void *symbol) {
    return rt_call_function("cudaGetFuncBySymbol", out, symbol);
}

RT_API int cudaGetKernel(void **out, const void *symbol) { return rt_call_function("cudaGetKernel", out, symbol); }

RT_API int cudaLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned num_jit,
                               int *options, void **values, unsigned num_options) {
    (void)values; /* of the options that are known none has one */
    return rt_call_load_image("cudaLibraryLoadData", library, code,
                              &(struct rt_options){num_jit, jit, jit_values, num_options, options, false});
}

RT_API int cudaLibraryLoadFromFile(void **library, const char *path, int *jit, void **jit_values, unsigned num_jit,
                                   int *options, void **values, unsigned num_options) {
    (void)values;
    return rt_call_load_file("cudaLibraryLoadFromFile", library, path,
                             &(struct rt_options){num_jit, jit, jit_values, num_options, options, true});
}

RT_API int cudaLibraryUnload(void *library) { return rt_call_unload("cudaLibraryUnload", library); }

RT_API int cudaLibraryGetKernel(void **kernel, void *library, const char *name) {
    return rt_call_module_function("cudaLibraryGetKernel", kernel, library, name);
}

RT_API int cudaLibraryGetGlobal(void **out, size_t *bytes, void *library, const char *name) {
    uint64_t address;
    int e = rt_call_module_variable("cudaLibraryGetGlobal", &address, bytes, library, name, false);
    return rt_give(e, out, (void *)(uintptr_t)address);
}

RT_API int cudaLibraryGetManaged(void **out, size_t *bytes, void *library, const char *name) {
    uint64_t address;
    int e = rt_call_module_variable("cudaLibraryGetManaged", &address, bytes, library, name, true);
    return rt_give(e, out, (void *)(uintptr_t)address);
}

RT_API int cudaLibraryGetKernelCount(unsigned *count, void *library) {
    return rt_call_kernel_count("cudaLibraryGetKernelCount", count, library);
}

RT_API int cudaLibraryEnumerateKernels(void **kernels, unsigned most, void *library) {
    return rt_call_kernels("cudaLibraryEnumerateKernels", kernels, most, library);
}

RT_API int cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes) {
    return rt_call_param_info("cudaFuncGetParamInfo", function, index, offset, bytes);
}

RT_API int cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, unsigned long long flags,
                                            int *result) {
    (void)flags; /* legacy or per-thread default stream: the same here */
    return driver_entry("cudaGetDriverEntryPointByVersion", name, out, (int)version, result);
}
RT_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);

RT_API int cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *result) {
    (void)flags;
    return driver_entry("cudaGetDriverEntryPoint", name, out, RT_VERSION_12, result);
}
RT_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
