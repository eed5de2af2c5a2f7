/* Runtime API: launches, function attributes, occupancy, libraries, driver entry points.
 *
 * Programs built with 12.9 see cudaErrorInvalidConfiguration where 13 answers cudaErrorInvalidValue (launch.c), so the
 * launching calls exist once for each version.
 */
#include "cudart/core/context.h"
#include "cudart/driver/entry.h"

#include <string.h>

static int launch(const char *call, const void *function, const struct rt_launch *l) {
    struct rt_context *c = rt_enter(call);
    struct rt_function *f;
    int e = rt_ready(c);
    if (e == RT_SUCCESS)
        e = rt_function_get(c, function, &f);
    if (e == RT_SUCCESS)
        e = rt_launch(c, f, l);
    return rt_leave(c, e);
}

static int launch_plain(const void *function, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
                        void *stream, int shape_error) {
    struct rt_launch l = {.grid = grid,
                          .block = block,
                          .dynamic_shared = shared,
                          .stream = stream,
                          .args = args,
                          .shape_error = shape_error};
    return launch("cudaLaunchKernel", function, &l);
}

static struct rt_launch from_config(const struct rt_launch_config *config, void **args, int shape_error) {
    return (struct rt_launch){.grid = config->grid,
                              .block = config->block,
                              .dynamic_shared = config->dynamic_shared,
                              .stream = config->stream,
                              .attrs = config->attrs,
                              .num_attrs = config->num_attrs,
                              .args = args,
                              .shape_error = shape_error};
}

static int launch_config(const struct rt_launch_config *config, const void *function, void **args, int shape_error) {
    if (config == NULL) {
        struct rt_context *c = rt_enter("cudaLaunchKernelExC");
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_VALUE, "the configuration is a null pointer"));
    }
    struct rt_launch l = from_config(config, args, shape_error);
    return launch("cudaLaunchKernelExC", function, &l);
}

RT_API int cudaLaunchKernel(const void *function, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
                            void *stream) {
    return launch_plain(function, grid, block, args, shared, stream, RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel);
/* The stubs of <<<>>>: the function is the handle that __cudaGetKernel gave. */
RT_ALIAS(__cudaLaunchKernel, cudaLaunchKernel);
RT_ALIAS(__cudaLaunchKernel_ptsz, cudaLaunchKernel);

RT_API int cudaLaunchKernelExC(const struct rt_launch_config *config, const void *function, void **args) {
    return launch_config(config, function, args, RT_ERROR_INVALID_VALUE);
}
RT_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC);

#define RT12_ALIAS(name, target) extern __typeof__(target) name __attribute__((alias(#target)))

int rt12_cudaLaunchKernel(const void *function, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
                          void *stream);
int rt12_cudaLaunchKernel(const void *function, struct rt_dim3 grid, struct rt_dim3 block, void **args, size_t shared,
                          void *stream) {
    return launch_plain(function, grid, block, args, shared, stream, RT_ERROR_INVALID_CONFIGURATION);
}
RT12_ALIAS(rt12_cudaLaunchKernel_ptsz, rt12_cudaLaunchKernel);
RT12_ALIAS(rt12___cudaLaunchKernel, rt12_cudaLaunchKernel);
RT12_ALIAS(rt12___cudaLaunchKernel_ptsz, rt12_cudaLaunchKernel);

int rt12_cudaLaunchKernelExC(const struct rt_launch_config *config, const void *function, void **args);
int rt12_cudaLaunchKernelExC(const struct rt_launch_config *config, const void *function, void **args) {
    return launch_config(config, function, args, RT_ERROR_INVALID_CONFIGURATION);
}
RT12_ALIAS(rt12_cudaLaunchKernelExC_ptsz, rt12_cudaLaunchKernelExC);

/* Enters, finds the function and loads it; the caller leaves. */
static struct rt_context *enter_function(const char *call, const void *function, struct rt_function **f, int *e) {
    struct rt_context *c = rt_enter(call);
    *e = rt_ready(c);
    if (*e == RT_SUCCESS)
        *e = rt_function_get(c, function, f);
    return c;
}

RT_API int cudaFuncGetAttributes(struct rt_func_attributes *out, const void *function) {
    int e, v[RT_FUNC_CLUSTER_POLICY + 1];
    struct rt_function *f;
    struct rt_context *c = enter_function("cudaFuncGetAttributes", function, &f, &e);
    if (e == RT_SUCCESS && out == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "no place for the result");
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
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cudaFuncSetAttribute", function, &f, &e);
    if (e == RT_SUCCESS)
        e = rt_func_set_attribute(c, f, attribute, value);
    return rt_leave(c, e);
}

RT_API int cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device) {
    if (device != 0) {
        struct rt_context *c = rt_enter("cudaKernelSetAttributeForDevice");
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_DEVICE, "device %d; there is device 0 alone", device));
    }
    return cudaFuncSetAttribute(kernel, attribute, value);
}

/* Preferences about caches and banks: hints. */
RT_API int cudaFuncSetCacheConfig(const void *function, int config) {
    int e;
    struct rt_function *f;
    (void)config;
    struct rt_context *c = enter_function("cudaFuncSetCacheConfig", function, &f, &e);
    return rt_leave(c, e);
}

RT_API int cudaFuncSetSharedMemConfig(const void *function, int config) {
    int e;
    struct rt_function *f;
    (void)config;
    struct rt_context *c = enter_function("cudaFuncSetSharedMemConfig", function, &f, &e);
    return rt_leave(c, e);
}

RT_API int cudaFuncGetName(const char **name, const void *function) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cudaFuncGetName", function, &f, &e);
    if (e == RT_SUCCESS && name != NULL)
        *name = f->name;
    return rt_leave(c, e);
}

RT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int block_size,
                                                                  size_t dynamic_shared, unsigned flags) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cudaOccupancyMaxActiveBlocksPerMultiprocessor", function, &f, &e);
    if (e == RT_SUCCESS && flags > 1) /* cudaOccupancyDisableCachingOverride */
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "flags 0x%x are not known", flags);
    if (e == RT_SUCCESS)
        e = rt_max_ctas_per_sm(c, f, block_size, dynamic_shared, blocks);
    return rt_leave(c, e);
}

RT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_size,
                                                         size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}

RT_API int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const struct rt_launch_config *config) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function("cudaOccupancyMaxActiveClusters", function, &f, &e);
    if (e == RT_SUCCESS && config == NULL)
        e = rt_say(c, RT_ERROR_INVALID_VALUE, "the configuration is a null pointer");
    if (e == RT_SUCCESS) {
        struct rt_launch l = from_config(config, NULL, RT_ERROR_INVALID_VALUE);
        e = rt_max_clusters(c, f, &l, clusters);
    }
    return rt_leave(c, e);
}

/* A host stub's address gives the handle; the other handles are the function itself. */
static int handle_of(const char *call, void **out, const void *function) {
    int e;
    struct rt_function *f;
    struct rt_context *c = enter_function(call, function, &f, &e);
    if (e == RT_SUCCESS && out != NULL)
        *out = f;
    return rt_leave(c, e);
}

RT_API int cudaGetFuncBySymbol(void **out, const void *symbol) { return handle_of("cudaGetFuncBySymbol", out, symbol); }
RT_API int cudaGetKernel(void **out, const void *symbol) { return handle_of("cudaGetKernel", out, symbol); }

RT_API int cudaLibraryLoadData(void **library, const void *code, int *jit, void **jit_values, unsigned num_jit,
                               int *options, void **values, unsigned num_options) {
    (void)jit, (void)jit_values, (void)num_jit, (void)options, (void)values, (void)num_options;
    struct rt_context *c = rt_enter("cudaLibraryLoadData");
    int e = rt_ready(c);
    if (e == RT_SUCCESS)
        e = rt_module_from_image(c, code, (struct rt_module **)library);
    return rt_leave(c, e);
}

RT_API int cudaLibraryLoadFromFile(void **library, const char *path, int *jit, void **jit_values, unsigned num_jit,
                                   int *options, void **values, unsigned num_options) {
    (void)jit, (void)jit_values, (void)num_jit, (void)options, (void)values, (void)num_options;
    struct rt_context *c = rt_enter("cudaLibraryLoadFromFile");
    int e = rt_ready(c);
    if (e == RT_SUCCESS)
        e = rt_module_from_file(c, path, (struct rt_module **)library);
    return rt_leave(c, e);
}

static struct rt_context *enter_library(const char *call, void *library, int *e) {
    struct rt_context *c = rt_enter(call);
    *e = rt_ready(c);
    if (*e == RT_SUCCESS && !rt_module_known(c, library))
        *e = rt_say(c, RT_ERROR_INVALID_HANDLE, "%p is no library of this process", library);
    return c;
}

RT_API int cudaLibraryUnload(void *library) {
    int e;
    struct rt_context *c = enter_library("cudaLibraryUnload", library, &e);
    if (e == RT_SUCCESS)
        rt_module_drop(c, library);
    return rt_leave(c, e);
}

RT_API int cudaLibraryGetKernel(void **kernel, void *library, const char *name) {
    int e;
    struct rt_context *c = enter_library("cudaLibraryGetKernel", library, &e);
    if (e == RT_SUCCESS)
        e = rt_function_by_name(c, library, name, (struct rt_function **)kernel);
    return rt_leave(c, e);
}

RT_API int cudaLibraryGetGlobal(void **out, size_t *bytes, void *library, const char *name) {
    int e;
    uint64_t address = 0;
    struct rt_context *c = enter_library("cudaLibraryGetGlobal", library, &e);
    if (e == RT_SUCCESS)
        e = rt_variable_by_name(c, library, name, &address, bytes);
    if (e == RT_SUCCESS && out != NULL)
        *out = (void *)(uintptr_t)address;
    return rt_leave(c, e);
}

/* A driver function that is missing is no error of the call: *result says it (measured), and a line names it. */
static int entry_point(const char *call, const char *name, void **out, int version, int *result) {
    struct rt_context *c = rt_enter(call);
    int found = RT_ENTRY_NOT_FOUND;
    if (name == NULL || out == NULL)
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_VALUE, "no name, or no place for the result"));
    *out = driver_entry(name, version, &found);
    if (*out == NULL)
        rt_say(c, 0,
               found == RT_ENTRY_VERSION_TOO_OLD ? "%s is newer than the CUDA version asked for"
                                                 : "%s is not supported by the emulator",
               name);
    if (result != NULL)
        *result = found;
    return rt_leave(c, RT_SUCCESS);
}

RT_API int cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version, unsigned long long flags,
                                            int *result) {
    (void)flags; /* legacy or per-thread default stream: the same here */
    return entry_point("cudaGetDriverEntryPointByVersion", name, out, (int)version, result);
}
RT_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);

RT_API int cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *result) {
    (void)flags;
    return entry_point("cudaGetDriverEntryPoint", name, out, RT_VERSION_12, result);
}
RT_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
