/* The driver API as front ends use it that hand over PTX: libraries and their kernels, the linker, logs of what cannot
 * be loaded, attributes of functions and launches, contexts, and the names of the one device. */
#include "check.h"
#include "cudart/core/abi.h"

#include <unistd.h>

static const char kernels[] = ".version 9.0\n.target sm_100f\n.address_size 64\n"
                              ".visible .global .attribute(.managed) .align 4 .u32 shared_value = 7;\n"
                              ".visible .global .align 4 .u32 own_value = 8;\n"
                              /* *out = value */
                              ".visible .entry put(.param .u64 out, .param .u8 pad, .param .u32 value)\n{\n"
                              ".reg .b64 %p; .reg .b32 %v;\n"
                              "ld.param.u64 %p, [out]; ld.param.u32 %v, [value]; st.global.u32 [%p], %v; ret;\n}\n"
                              ".visible .func helper()\n{ ret; }\n"
                              ".visible .entry none()\n{\n.shared .align 16 .b8 buffer[1024];\n.reg .b32 %a;\n"
                              "mov.u32 %a, buffer; st.shared.u32 [%a], 1; ret;\n}\n";

static const char broken[] = ".version 9.0\n.target sm_100f\n.address_size 64\n"
                             ".visible .entry put()\n{\nret\n}\n";

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuCtxGetCurrent(void **);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxCreate_v3(void **, const void *, int, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuCtxGetId(void *, unsigned long long *);
int cuCtxSetFlags(unsigned);
int cuCtxGetFlags(unsigned *);
int cuCtxGetDevice_v2(int *, void *);
int cuCtxSynchronize_v2(void *);
int cuCtxSetCacheConfig(int);
int cuDeviceGetPCIBusId(char *, int, int);
int cuDeviceGetByPCIBusId(int *, const char *);
int cuDeviceGetProperties(struct rt_driver_prop *, int);
int cuDeviceGetP2PAttribute(int *, int, int, int);
int cuDeviceGetAttribute(int *, int, int);
int cuModuleLoadData(void **, const void *);
int cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetFunctionCount(unsigned *, void *);
int cuModuleEnumerateFunctions(void **, unsigned, void *);
int cuModuleGetLoadingMode(int *);
int cuFuncIsLoaded(int *, void *);
int cuFuncLoad(void *);
int cuFuncGetParamInfo(void *, size_t, size_t *, size_t *);
int cuFuncGetAttribute(int *, int, void *);
int cuFuncSetAttribute(void *, int, int);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryLoadFromFile(void **, const char *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryUnload(void *);
int cuLibraryGetKernel(void **, void *, const char *);
int cuLibraryGetKernelCount(unsigned *, void *);
int cuLibraryEnumerateKernels(void **, unsigned, void *);
int cuLibraryGetModule(void **, void *);
int cuLibraryGetGlobal(uint64_t *, size_t *, void *, const char *);
int cuLibraryGetManaged(uint64_t *, size_t *, void *, const char *);
int cuKernelGetFunction(void **, void *);
int cuKernelGetLibrary(void **, void *);
int cuKernelGetName(const char **, void *);
int cuKernelGetParamInfo(void *, size_t, size_t *, size_t *);
int cuKernelGetAttribute(int *, int, void *, int);
int cuKernelSetAttribute(int, int, void *, int);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
int cuLaunchKernelEx(const struct rt_driver_launch_config *, void *, void **, void **);
int cuFuncSetBlockShape(void *, int, int, int);
int cuFuncSetSharedSize(void *, unsigned);
int cuParamSetSize(void *, unsigned);
int cuParamSetv(void *, int, void *, unsigned);
int cuParamSeti(void *, int, unsigned);
int cuParamSetf(void *, int, float);
int cuLaunch(void *);
int cuLaunchGrid(void *, int, int);
int cuCtxAttach(void **, unsigned);
int cuCtxDetach(void *);
int cuGetExportTable(const void **, const void *);
int cuLinkCreate_v2(unsigned, int *, void **, void **);
int cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
int cuLinkAddFile_v2(void *, int, const char *, unsigned, int *, void **);
int cuLinkComplete(void *, void **, size_t *);
int cuLinkDestroy(void *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuStreamGetId(void *, unsigned long long *);
int cuStreamGetDevice(void *, int *);
int cuStreamGetCaptureInfo_v3(void *, int *, void *, void *, void *, void *, void *);
int cuStreamAddCallback(void *, void (*)(void *, int, void *), void *, unsigned);
int cudaLibraryGetKernelCount(unsigned *, void *);
int cudaLibraryEnumerateKernels(void **, unsigned, void *);
int cudaLibraryGetManaged(void **, size_t *, void *, const char *);
int cudaDeviceReset(void);

static const int bad = RT_ERROR_INVALID_VALUE;

/* The kernel put of `function` runs, and its value arrives. */
static void check_put(void *function, uint32_t value) {
    uint64_t d = 0;
    uint32_t h = 0;
    uint8_t pad = 1;
    void *args[] = {&d, &pad, &value};
    CHECK_EQ(cuMemAlloc_v2(&d, sizeof h), 0);
    CHECK_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
    CHECK_EQ(cuMemcpyDtoH_v2(&h, d, sizeof h), 0);
    CHECK_EQ(h, value);
    CHECK_EQ(cuMemFree_v2(d), 0);
}

/* A launch as before CUDA 4: shape and parameters first, the grid with the launch. */
static void test_legacy_launch(void) {
    void *module = NULL, *f = NULL;
    uint64_t d = 0;
    uint32_t h = 0;
    CHECK_EQ(cuModuleLoadData(&module, kernels), 0);
    CHECK_EQ(cuModuleGetFunction(&f, module, "put"), 0);
    CHECK_EQ(cuMemAlloc_v2(&d, sizeof h), 0);
    CHECK_EQ(cuLaunch(f), bad); /* of no threads */
    CHECK_EQ(cuFuncSetBlockShape(f, 2, 1, 1), 0);
    CHECK_EQ(cuFuncSetBlockShape(f, 0, 1, 1), bad);
    CHECK_EQ(cuFuncSetSharedSize(f, 128), 0);
    CHECK_EQ(cuParamSetv(f, 0, &d, sizeof d), 0);
    CHECK_EQ(cuParamSeti(f, 12, 31), 0);
    CHECK_EQ(cuLaunchGrid(f, 2, 2), bad); /* of no parameters */
    CHECK_EQ(cuParamSetSize(f, 16), 0);
    CHECK_EQ(cuLaunchGrid(f, 2, 2), 0);
    CHECK_EQ(cuMemcpyDtoH_v2(&h, d, sizeof h), 0);
    CHECK_EQ(h, 31);
    CHECK_EQ(cuParamSetf(f, 12, 1.0f), 0);
    CHECK_EQ(cuLaunch(f), 0);
    CHECK_EQ(cuMemcpyDtoH_v2(&h, d, sizeof h), 0);
    CHECK_EQ(h, 0x3f800000);
    CHECK_EQ(cuLaunchGrid(f, 0, 1), bad);
    CHECK_EQ(cuParamSetSize(f, 4097), bad);
    CHECK_EQ(cuParamSeti(f, 4093, 0), bad);
    CHECK_EQ(cuParamSeti(f, -1, 0), bad);
    CHECK_EQ(cuParamSetv(f, 0, &d, UINT32_MAX), bad);
    CHECK_EQ(cuParamSetv(f, 0, NULL, 4), bad);
    CHECK_EQ(cuFuncSetBlockShape(NULL, 1, 1, 1), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuMemFree_v2(d), 0);
    CHECK_EQ(cuModuleUnload(module), 0);
}

/* --- libraries ---------------------------------------------------------------------------------------------------- */

static void check_parameters(void *kernel) {
    size_t offset = 99, bytes = 99;
    CHECK_EQ(cuKernelGetParamInfo(kernel, 2, &offset, &bytes), 0);
    CHECK_EQ(offset, 12);
    CHECK_EQ(bytes, 4);
    CHECK_EQ(cuKernelGetParamInfo(kernel, 1, &offset, NULL), 0);
    CHECK_EQ(offset, 8);
    CHECK_EQ(cuKernelGetParamInfo(kernel, 3, &offset, &bytes), bad);
    CHECK_EQ(cuKernelGetParamInfo(kernel, SIZE_MAX, &offset, &bytes), bad);
    CHECK_EQ(cuKernelGetParamInfo(kernel, 0, NULL, &bytes), bad);
}

static void check_kernel(void *library, void *kernel) {
    void *same = NULL, *function = NULL, *module = NULL;
    const char *name = NULL;
    int value = -1;
    CHECK_EQ(cuLibraryGetKernel(&same, library, "put"), 0);
    CHECK(same == kernel);
    CHECK_EQ(cuKernelGetName(&name, kernel), 0);
    CHECK_STR(name, "put");
    CHECK_EQ(cuKernelGetLibrary(&same, kernel), 0);
    CHECK(same == library);
    CHECK_EQ(cuKernelGetLibrary(&same, &value), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuLibraryGetModule(&module, library), 0);
    CHECK_EQ(cuModuleGetFunction(&function, module, "put"), 0);
    check_put(function, 5);
    CHECK_EQ(cuKernelGetFunction(&function, kernel), 0);
    check_put(function, 6);
    CHECK_EQ(cuKernelSetAttribute(RT_FUNC_MAX_DYNAMIC_SHARED, 65536, kernel, 0), 0);
    CHECK_EQ(cuKernelGetAttribute(&value, RT_FUNC_MAX_DYNAMIC_SHARED, kernel, 0), 0);
    CHECK_EQ(value, 65536);
    CHECK_EQ(cuKernelSetAttribute(RT_FUNC_MAX_DYNAMIC_SHARED, 0, kernel, 1), RT_ERROR_INVALID_DEVICE);
    CHECK_EQ(cuKernelGetAttribute(&value, RT_FUNC_MAX_DYNAMIC_SHARED, kernel, 1), RT_ERROR_INVALID_DEVICE);
}

static void check_variables(void *library) {
    uint64_t address = 0;
    size_t bytes = 0;
    void *p = NULL;
    CHECK_EQ(cuLibraryGetManaged(&address, &bytes, library, "shared_value"), 0);
    CHECK_EQ(bytes, 4);
    CHECK_EQ(*(uint32_t *)(uintptr_t)address, 7);
    CHECK_EQ(cuLibraryGetManaged(NULL, &bytes, library, "own_value"), RT_ERROR_NOT_FOUND);
    CHECK_EQ(cuLibraryGetManaged(&address, &bytes, library, "none"), bad); /* a kernel */
    CHECK_EQ(cuLibraryGetManaged(NULL, NULL, library, "shared_value"), bad);
    CHECK_EQ(cuLibraryGetGlobal(&address, &bytes, library, "own_value"), 0);
    CHECK_EQ(cudaLibraryGetManaged(&p, NULL, library, "shared_value"), 0);
    CHECK(p != NULL && *(uint32_t *)p == 7);
}

/* A library needs no context, and the functions of a module are loaded when they are first needed. */
static void test_library(void *context) {
    void *library = NULL, *list[3] = {NULL, NULL, NULL};
    unsigned count = 0;
    int loaded = -1, preserved = 1, tables = 0, unknown = 9;
    CHECK_EQ(cuCtxSetCurrent(NULL), 0);
    CHECK_EQ(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, &preserved, NULL, 1), 0);
    CHECK_EQ(cuLibraryGetKernelCount(&count, library), 0);
    CHECK_EQ(count, 2);
    CHECK_EQ(cuLibraryEnumerateKernels(list, 1, library), 0);
    CHECK(list[0] != NULL && list[1] == NULL);
    CHECK_EQ(cuLibraryEnumerateKernels(list, 3, library), 0);
    CHECK(list[1] != NULL && list[1] != list[0] && list[2] == NULL);
    CHECK_EQ(cuLibraryEnumerateKernels(NULL, 3, library), bad);
    check_parameters(list[0]);
    CHECK_EQ(cuLibraryGetModule(&list[2], list[0]), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuCtxSetCurrent(context), 0);
    CHECK_EQ(cuFuncIsLoaded(&loaded, list[1]), 0);
    CHECK_EQ(loaded, 0);
    CHECK_EQ(cuFuncLoad(list[1]), 0);
    CHECK_EQ(cuFuncIsLoaded(&loaded, list[1]), 0);
    CHECK_EQ(loaded, 1);
    CHECK_EQ(cuFuncIsLoaded(&loaded, &loaded), RT_ERROR_INVALID_HANDLE);
    check_kernel(library, list[0]);
    check_variables(library);
    CHECK_EQ(cudaLibraryGetKernelCount(&count, library), 0);
    CHECK_EQ(cudaLibraryEnumerateKernels(list, 2, library), 0);
    CHECK_EQ(cuLibraryUnload(library), 0);
    CHECK_EQ(cuLibraryGetKernelCount(&count, library), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, &tables, NULL, 1), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, &unknown, NULL, 1), bad);
    CHECK_EQ(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 1), bad);
    CHECK_EQ(cuLibraryLoadFromFile(&library, "/nowhere", NULL, NULL, 0, &preserved, NULL, 1), bad);
    CHECK_EQ(cuLibraryLoadFromFile(&library, "/nowhere", NULL, NULL, 0, NULL, NULL, 0), RT_ERROR_FILE_NOT_FOUND);
}

static void test_module(void) {
    void *module = NULL, *list[2] = {NULL, NULL};
    unsigned count = 0;
    size_t offset = 99;
    int mode = -1;
    CHECK_EQ(cuModuleLoadData(&module, kernels), 0);
    CHECK_EQ(cuModuleGetFunctionCount(&count, module), 0);
    CHECK_EQ(count, 2);
    CHECK_EQ(cuModuleEnumerateFunctions(list, 2, module), 0);
    check_put(list[0], 11);
    CHECK_EQ(cuFuncGetParamInfo(list[0], 2, &offset, NULL), 0);
    CHECK_EQ(offset, 12);
    CHECK_EQ(cuModuleUnload(module), 0);
    CHECK_EQ(cuModuleGetFunctionCount(&count, module), RT_ERROR_INVALID_HANDLE);
    unsetenv("CUDA_MODULE_LOADING");
    CHECK_EQ(cuModuleGetLoadingMode(&mode), 0);
    CHECK_EQ(mode, 2);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    CHECK_EQ(cuModuleGetLoadingMode(&mode), 0);
    CHECK_EQ(mode, 1);
    CHECK_EQ(cuModuleGetLoadingMode(NULL), bad);
}

/* --- the linker and its options ----------------------------------------------------------------------------------- */

enum { JIT_INFO = 3, JIT_INFO_SIZE, JIT_ERROR, JIT_ERROR_SIZE, JIT_LEVEL, JIT_TARGET = 9, JIT_SYMBOLS = 17 };
enum { CUBIN = 0, PTX = 1, OBJECT = 3 };

/* What is wrong with a text is in the log for errors, cut to its size, and how much of it was written. */
static void test_logs(void) {
    void *module = NULL;
    char info[64] = "before", error[512] = "before", small[16] = "before";
    int options[] = {JIT_LEVEL, JIT_INFO, JIT_INFO_SIZE, JIT_ERROR, JIT_ERROR_SIZE};
    void *values[] = {(void *)4, info, (void *)sizeof info, error, (void *)sizeof error};
    CHECK_EQ(cuModuleLoadDataEx(&module, broken, 5, options, values), RT_ERROR_INVALID_PTX);
    CHECK_HAS(error, "expected ';' after the instruction");
    CHECK_HAS(error, "is not valid");
    CHECK_EQ((uintptr_t)values[4], strlen(error));
    CHECK_STR(info, "");
    CHECK(values[2] == NULL);
    values[2] = (void *)sizeof info;
    values[3] = small;
    values[4] = (void *)sizeof small;
    CHECK_EQ(cuModuleLoadDataEx(&module, broken, 5, options, values), RT_ERROR_INVALID_PTX);
    CHECK_EQ(strlen(small), sizeof small - 1);
    CHECK_EQ((uintptr_t)values[4], sizeof small - 1);
    values[2] = (void *)sizeof info;
    values[3] = NULL; /* a size without a buffer */
    values[4] = (void *)sizeof small;
    CHECK_EQ(cuModuleLoadDataEx(&module, broken, 5, options, values), RT_ERROR_INVALID_PTX);
    CHECK_EQ(cuModuleLoadDataEx(&module, broken, 5, NULL, values), bad);
    values[2] = (void *)sizeof info;
    values[3] = error;
    values[4] = (void *)sizeof error;
    CHECK_EQ(cuModuleLoadDataEx(&module, kernels, 5, options, values), 0);
    CHECK_STR(error, "");
    CHECK(values[4] == NULL);
    CHECK_EQ(cuModuleUnload(module), 0);
}

static int load_with(int option, uintptr_t number) {
    void *module = NULL, *value = (void *)number;
    int e = cuModuleLoadDataEx(&module, kernels, 1, &option, &value);
    if (module != NULL)
        cuModuleUnload(module);
    return e;
}

static void test_options(void) {
    CHECK_EQ(load_with(JIT_TARGET, 100), 0);
    CHECK_EQ(load_with(JIT_TARGET, 0x10000 | 100), 0); /* 100a */
    CHECK_EQ(load_with(JIT_TARGET, 90), RT_ERROR_NO_BINARY);
    CHECK_EQ(load_with(JIT_SYMBOLS, 0), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(load_with(35, 1), 0);
    CHECK_EQ(load_with(36, 1), bad);
    CHECK_EQ(load_with(-1, 1), bad);
}

static void test_link(void) {
    char text[sizeof kernels], error[512] = "before", path[] = "/tmp/sm100emu_link.XXXXXX";
    int options[] = {JIT_ERROR, JIT_ERROR_SIZE};
    void *values[] = {error, (void *)sizeof error}, *state = NULL, *linked = NULL, *module = NULL, *function = NULL;
    size_t size = 0;
    memcpy(text, kernels, sizeof text);
    CHECK_EQ(cuLinkCreate_v2(2, options, values, &state), 0);
    CHECK_STR(error, "");
    CHECK_EQ(cuLinkComplete(state, &linked, &size), bad); /* nothing to link */
    CHECK_EQ(cuLinkAddData_v2(state, PTX, (void *)broken, sizeof broken, "mine.ptx", 0, NULL, NULL),
             RT_ERROR_INVALID_PTX);
    CHECK_HAS(error, "mine.ptx:7:1: error: expected ';'");
    CHECK_EQ((uintptr_t)values[1], strlen(error));
    CHECK_EQ(cuLinkAddData_v2(state, OBJECT, text, sizeof text, NULL, 0, NULL, NULL), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cuLinkAddData_v2(state, 6, text, sizeof text, NULL, 0, NULL, NULL), bad);
    CHECK_EQ(cuLinkAddData_v2(state, CUBIN, (char *)"\177ELF\2\1\1", 8, NULL, 0, NULL, NULL), RT_ERROR_NO_BINARY);
    CHECK_EQ(cuLinkAddData_v2(state, PTX, NULL, 8, NULL, 0, NULL, NULL), bad);
    CHECK_EQ(cuLinkAddData_v2(state, PTX, text, sizeof text, NULL, 0, NULL, NULL), 0);
    memset(text, 0, sizeof text); /* no reference is kept */
    CHECK_EQ(cuLinkAddData_v2(state, PTX, (void *)kernels, sizeof kernels, NULL, 0, NULL, NULL),
             RT_ERROR_NOT_SUPPORTED); /* a second input */
    CHECK_EQ(cuLinkComplete(state, NULL, &size), bad);
    CHECK_EQ(cuLinkComplete(state, &linked, &size), 0);
    CHECK_EQ(size, sizeof kernels);
    CHECK_EQ(cuModuleLoadData(&module, linked), 0);
    CHECK_EQ(cuLinkDestroy(state), 0);
    CHECK_EQ(cuModuleGetFunction(&function, module, "put"), 0);
    check_put(function, 21);
    CHECK_EQ(cuModuleUnload(module), 0);
    CHECK_EQ(cuLinkDestroy(state), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuLinkAddData_v2(state, PTX, text, sizeof text, NULL, 0, NULL, NULL), RT_ERROR_INVALID_HANDLE);

    int file = mkstemp(path);
    CHECK_EQ(write(file, kernels, sizeof kernels - 1), sizeof kernels - 1);
    close(file);
    CHECK_EQ(cuLinkCreate_v2(0, NULL, NULL, &state), 0);
    CHECK_EQ(cuLinkAddFile_v2(state, PTX, "/nowhere", 0, NULL, NULL), RT_ERROR_FILE_NOT_FOUND);
    CHECK_EQ(cuLinkAddFile_v2(state, PTX, path, 0, NULL, NULL), 0);
    CHECK_EQ(cuLinkComplete(state, &linked, NULL), 0);
    CHECK_EQ(cuLinkDestroy(state), 0);
    unlink(path);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

static int launch_with(void *function, unsigned grid, unsigned shared, int id, int value, unsigned cluster) {
    struct rt_launch_attribute a[2] = {{.id = id}, {.id = RT_LAUNCH_CLUSTER_DIMENSION}};
    a[0].value.number = value;
    a[1].value.cluster = (struct rt_dim3){cluster, 1, 1};
    struct rt_driver_launch_config config = {
        .grid = {grid, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = shared, .attrs = a, .num_attrs = cluster ? 2 : 1};
    return cuLaunchKernelEx(&config, function, NULL, NULL);
}

/* 1 KB of static shared memory: 47 KB beside it without, 226 KB with the larger limit. */
static void check_shared_mode(void *f) {
    const int id = RT_LAUNCH_SHARED_MODE, small = 47 << 10, large = 226 << 10;
    int value = -1;
    CHECK_EQ(launch_with(f, 1, small, id, RT_SHARED_DEFAULT, 0), 0);
    CHECK_EQ(launch_with(f, 1, small + 1, id, RT_SHARED_DEFAULT, 0), bad);
    CHECK_EQ(launch_with(f, 1, large, id, RT_SHARED_NON_PORTABLE, 0), 0);
    CHECK_EQ(launch_with(f, 1, large + 1, id, RT_SHARED_NON_PORTABLE, 0), bad);
    CHECK_EQ(launch_with(f, 1, 0, id, RT_SHARED_ALLOW_OVERSIZED, 0), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(launch_with(f, 1, 0, id, RT_SHARED_MODES, 0), bad);
    CHECK_EQ(launch_with(f, 1, 0, id, -1, 0), bad);
    CHECK_EQ(cuFuncGetAttribute(&value, RT_FUNC_SHARED_MODE, f), 0);
    CHECK_EQ(value, RT_SHARED_DEFAULT);
    CHECK_EQ(cuFuncSetAttribute(f, RT_FUNC_SHARED_MODE, RT_SHARED_NON_PORTABLE), 0);
    CHECK_EQ(cuFuncGetAttribute(&value, RT_FUNC_SHARED_MODE, f), 0);
    CHECK_EQ(value, RT_SHARED_NON_PORTABLE);
    CHECK_EQ(launch_with(f, 1, large, id, RT_SHARED_DEFAULT, 0), 0);
    CHECK_EQ(launch_with(f, 1, large, id, RT_SHARED_PORTABLE, 0), bad); /* the launch's own counts */
    CHECK_EQ(cuFuncSetAttribute(f, RT_FUNC_SHARED_MODE, RT_SHARED_PREFER_OVERSIZED), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cuFuncSetAttribute(f, RT_FUNC_SHARED_MODE, RT_SHARED_MODES), bad);
    CHECK_EQ(cuFuncSetAttribute(f, RT_FUNC_SHARED_MODE, RT_SHARED_DEFAULT), 0);
}

static void check_cluster_mode(void *f) {
    const int id = RT_LAUNCH_PORTABLE_CLUSTER, cluster = RT_ERROR_INVALID_CLUSTER_SIZE;
    CHECK_EQ(launch_with(f, 8, 0, id, RT_CLUSTER_PORTABLE, 8), 0);
    CHECK_EQ(launch_with(f, 16, 0, id, RT_CLUSTER_DEFAULT, 16), cluster);
    CHECK_EQ(launch_with(f, 16, 0, id, RT_CLUSTER_PORTABLE, 16), cluster);
    CHECK_EQ(launch_with(f, 16, 0, id, RT_CLUSTER_NON_PORTABLE, 16), 0);
    CHECK_EQ(launch_with(f, 16, 0, id, RT_CLUSTER_MODES, 16), bad);
    CHECK_EQ(cuFuncSetAttribute(f, RT_FUNC_NON_PORTABLE_CLUSTER, 1), 0);
    CHECK_EQ(launch_with(f, 16, 0, id, RT_CLUSTER_DEFAULT, 16), 0);
    CHECK_EQ(launch_with(f, 16, 0, id, RT_CLUSTER_PORTABLE, 16), cluster);
    CHECK_EQ(cuFuncSetAttribute(f, RT_FUNC_NON_PORTABLE_CLUSTER, 0), 0);
}

static void test_attributes(void) {
    void *module = NULL, *f = NULL;
    int value = -1;
    CHECK_EQ(cuModuleLoadData(&module, kernels), 0);
    CHECK_EQ(cuModuleGetFunction(&f, module, "none"), 0);
    check_shared_mode(f);
    check_cluster_mode(f);
    CHECK_EQ(cuFuncGetAttribute(&value, RT_FUNC_NODE_UPDATE, f), 0);
    CHECK_EQ(value, 0);
    CHECK_EQ(cuFuncSetAttribute(f, RT_FUNC_NODE_UPDATE, 1), bad);
    CHECK_EQ(cuFuncGetAttribute(&value, RT_FUNC_COUNT, f), bad);
    CHECK_EQ(launch_with(f, 1, 0, 15, 0, 0), bad);
    CHECK_EQ(launch_with(f, 1, 0, 19, 0, 0), bad);
    CHECK_EQ(cuModuleUnload(module), 0);
    for (int i = 1; i <= 161; i++) /* the newest of 13.5 */
        if (!CHECK_EQ(cuDeviceGetAttribute(&value, i, 0), 0))
            fprintf(stderr, "    device attribute %d\n", i);
    CHECK_EQ(cuDeviceGetAttribute(&value, 162, 0), bad);
}

/* --- the device, contexts, streams -------------------------------------------------------------------------------- */

static void test_device(void) {
    char name[16] = "";
    int device = 9;
    struct rt_driver_prop prop;
    CHECK_EQ(cuDeviceGetPCIBusId(name, sizeof name, 0), 0);
    CHECK_EQ(cuDeviceGetByPCIBusId(&device, name), 0);
    CHECK_EQ(device, 0);
    CHECK_EQ(cuDeviceGetByPCIBusId(&device, "0:0:0"), 0);
    CHECK_EQ(cuDeviceGetByPCIBusId(&device, "0:0.0"), 0);
    CHECK_EQ(cuDeviceGetByPCIBusId(&device, "0000:01:00.0"), RT_ERROR_INVALID_DEVICE);
    CHECK_EQ(cuDeviceGetByPCIBusId(&device, "0000:00:00.0 "), bad);
    CHECK_EQ(cuDeviceGetByPCIBusId(&device, ""), bad);
    CHECK_EQ(cuDeviceGetByPCIBusId(&device, NULL), bad);
    CHECK_EQ(cuDeviceGetPCIBusId(name, 12, 0), bad);
    CHECK_EQ(cuDeviceGetProperties(&prop, 0), 0);
    CHECK(prop.max_threads == 1024 && prop.max_block[2] == 64 && prop.warp == 32 && prop.texture_alignment == 512);
    CHECK_EQ(cuDeviceGetP2PAttribute(&device, 1, 0, 0), RT_ERROR_INVALID_DEVICE);
}

static void test_contexts(void *primary) {
    void *other = NULL, *current = NULL;
    unsigned long long first = 0, second = 0, same = 0;
    unsigned flags = 0;
    int device = 9;
    CHECK_EQ(cuCtxGetId(primary, &first), 0);
    CHECK_EQ(cuCtxCreate_v3(&other, NULL, 0, 0, 0), 0);
    CHECK_EQ(cuCtxGetId(NULL, &second), 0);
    CHECK(first != second);
    CHECK_EQ(cuCtxGetId(other, &same), 0);
    CHECK_EQ(same, second);
    CHECK_EQ(cuCtxSetFlags(4), 0);
    CHECK_EQ(cuCtxGetFlags(&flags), 0);
    CHECK_EQ(flags, 4);
    CHECK_EQ(cuCtxSetFlags(3), bad);
    CHECK_EQ(cuCtxGetDevice_v2(&device, primary), 0);
    CHECK_EQ(device, 0);
    CHECK_EQ(cuCtxSynchronize_v2(primary), 0);
    CHECK_EQ(cuCtxSynchronize_v2(&flags), RT_ERROR_INVALID_CONTEXT);
    CHECK_EQ(cuCtxSetCacheConfig(4), bad);
    CHECK_EQ(cuCtxSetCacheConfig(1), 0);
    CHECK_EQ(cuCtxDestroy_v2(other), 0);
    CHECK_EQ(cuCtxCreate_v3(&other, &flags, 1, 0, 0), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == primary);
}

/* A context lives until its maker and all who attached to it have left. */
static void test_attach(void *primary) {
    void *own = NULL, *same = NULL;
    CHECK_EQ(cuCtxCreate_v2(&own, 0, 0), 0);
    CHECK_EQ(cuCtxAttach(&same, 1), bad);
    CHECK_EQ(cuCtxAttach(&same, 0), 0);
    CHECK(same == own);
    CHECK_EQ(cuCtxDetach(primary), RT_ERROR_INVALID_CONTEXT);
    CHECK_EQ(cuCtxDetach(own), 0);
    CHECK_EQ(cuCtxSynchronize_v2(own), 0);
    CHECK_EQ(cuCtxDetach(own), 0);
    CHECK_EQ(cuCtxSynchronize_v2(own), RT_ERROR_INVALID_CONTEXT);
    CHECK_EQ(cuCtxGetCurrent(&same), 0);
    CHECK(same == primary);
}

static void count_call(void *stream, int status, void *data) {
    *(int *)data += stream == RT_STREAM_LEGACY && status == 0;
}

static void test_streams(void) {
    unsigned long long id = 0, other = 0;
    int device = 9, status = 9, calls = 0;
    CHECK_EQ(cuStreamGetId(NULL, &id), 0);
    CHECK_EQ(cuStreamGetId(RT_STREAM_PER_THREAD, &other), 0);
    CHECK(id != other);
    CHECK_EQ(cuStreamGetDevice(NULL, &device), 0);
    CHECK_EQ(device, 0);
    CHECK_EQ(cuStreamGetCaptureInfo_v3(NULL, &status, NULL, NULL, NULL, NULL, NULL), 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(cuStreamAddCallback(RT_STREAM_LEGACY, count_call, &calls, 0), 0);
    CHECK_EQ(calls, 1);
    CHECK_EQ(cuStreamGetId(&calls, &id), RT_ERROR_INVALID_HANDLE);
}

int main(void) {
    void *context = NULL;
    CHECK_EQ(cuInit(0), 0);
    CHECK_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    test_library(context);
    test_module();
    test_logs();
    test_options();
    test_link();
    test_attributes();
    test_device();
    test_contexts(context);
    test_attach(context);
    test_streams();
    test_legacy_launch();
    CHECK_EQ(cuGetExportTable(NULL, NULL), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cudaDeviceReset(), 0);
    return check_report();
}
