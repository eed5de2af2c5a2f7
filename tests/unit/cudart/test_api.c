/* The runtime and driver APIs against each other and against what a real GPU answers.
 *
 * Error codes were recorded on an H200 with CUDA 12.9 and 13.0; the kernels are PTX texts, registered as nvcc's host
 * stubs do it and loaded by the driver API.
 */
#include "check.h"
#include "cudart/core/abi.h"
#include "cudart/loader/fatbin.h"
#include "unit/cudart/containers.h"

#include <pthread.h>
#include <unistd.h>

#define TEXT_HEAD ".version 9.0\n.target sm_100f\n.address_size 64\n"

static const char kernels[] =
    TEXT_HEAD ".visible .global .attribute(.managed) .align 4 .u32 gv[4] = {5, 6, 7, 8};\n"
              ".visible .const .align 4 .u32 cv = 3;\n"
              /* out[i] = i * scale + gv[1] + cv */
              ".visible .entry work(.param .u64 out, .param .u8 pad, .param .u32 scale)\n{\n"
              ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
              "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [scale];\n"
              "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r2, %r3, %r4, %r2;\n"
              "mul.lo.u32 %r5, %r2, %r1; ld.global.u32 %r6, [gv+4]; add.u32 %r5, %r5, %r6;\n"
              "ld.const.u32 %r6, [cv]; add.u32 %r5, %r5, %r6;\n"
              "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r5; ret;\n}\n"
              ".visible .entry bounded() .maxntid 128\n{ ret; }\n"
              ".visible .entry pairs() .reqnctapercluster 2\n{ ret; }\n"
              ".visible .entry big()\n{\n.shared .align 16 .b8 buffer[4096];\n.reg .b32 %r<2>;\n"
              "mov.u32 %r1, buffer; st.shared.u32 [%r1], 1; ret;\n}\n"
              ".visible .entry spin()\n{\n$again: bra $again;\n}\n";

/* --- the entry points that the tests call ------------------------------------------------------------------------- */
void **__cudaRegisterFatBinary(const void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
int __cudaGetKernel(void **, const void *);
unsigned __cudaPushCallConfiguration(struct rt_dim3, struct rt_dim3, size_t, void *);
int __cudaPopCallConfiguration(struct rt_dim3 *, struct rt_dim3 *, size_t *, void *);
int __cudaLaunchKernel(const void *, struct rt_dim3, struct rt_dim3, void **, size_t, void *);
int cudaLaunchKernel(const void *, struct rt_dim3, struct rt_dim3, void **, size_t, void *);
int cudaLaunchKernelExC(const struct rt_launch_config *, const void *, void **);
int rt12_cudaLaunchKernel(const void *, struct rt_dim3, struct rt_dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaMallocHost(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMemGetInfo(size_t *, size_t *);
int cudaFree(void *);
int cudaFreeHost(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaGetSymbolSize(size_t *, const void *);
int cudaPointerGetAttributes(struct rt_pointer_attributes_13 *, const void *);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaGetDeviceProperties(struct rt_prop_13 *, int);
int cudaGetDeviceProperties_v2(struct rt_prop_12 *, int);
int rt12_cudaGetDeviceProperties(void *, int);
int cudaDeviceGetAttribute(int *, int, int);
int cudaRuntimeGetVersion(int *);
int rt12_cudaRuntimeGetVersion(int *);
int cudaFuncSetAttribute(const void *, int, int);
int cudaFuncGetAttributes(struct rt_func_attributes *, const void *);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);
int cudaEventCreateWithFlags(void **, unsigned);
int cudaEventRecord(void *, void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaEventDestroy(void *);
int cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long, int *);
int cudaGraphCreate(void);
int cudaLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cudaLibraryGetGlobal(void **, size_t *, void *, const char *);
int cudaLibraryGetKernel(void **, void *, const char *);
int cudaLibraryUnload(void *);
int cuInit(unsigned);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxDestroy_v2(void *);
int cuCtxGetCurrent(void **);
int cuCtxGetFlags(unsigned *);
int cuCtxPopCurrent_v2(void **);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemcpy2D_v2(const struct rt_driver_copy_2d *);
int cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);

/* What a program built by nvcc has: addresses that stand for its kernels and variables. */
static char work, bounded, pairs, big, spin, stranger, gv_shadow;
static void *managed_gv;
static struct container image;
static struct fatbin_wrapper wrapper;
static void **registered;

static void register_program(void) {
    container_begin(&image);
    container_add(&image, KIND_ELF, 100, 0, "\177ELF....", 8, 0);
    container_ptx(&image, 100, kernels);
    wrapper = (struct fatbin_wrapper){FATBIN_WRAPPER_MAGIC, 1, image.bytes, NULL};
    registered = __cudaRegisterFatBinary(&wrapper);
    static const struct {
        const char *host, *name;
    } functions[] = {{&work, "work"}, {&bounded, "bounded"}, {&pairs, "pairs"}, {&big, "big"}, {&spin, "spin"}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        __cudaRegisterFunction(registered, functions[i].host, NULL, functions[i].name, -1, NULL, NULL, NULL, NULL,
                               NULL);
    __cudaRegisterVar(registered, &gv_shadow, NULL, "gv", 0, 16, 0, 0);
    __cudaRegisterManagedVar(registered, &managed_gv, NULL, "gv", 0, 16, 0, 0);
    __cudaRegisterFatBinaryEnd(registered);
}

#define DIM(x) ((struct rt_dim3){(x), 1, 1})

static int launch(const void *function, struct rt_dim3 grid, struct rt_dim3 block, size_t shared) {
    return cudaLaunchKernel(function, grid, block, NULL, shared, NULL);
}

static int launch_clusters(const void *function, unsigned grid, unsigned cluster, int id) {
    struct rt_launch_attribute a = {.id = id};
    a.value.cluster = DIM(cluster);
    struct rt_launch_config config = {.grid = DIM(grid), .block = DIM(32), .attrs = &a, .num_attrs = 1};
    return cudaLaunchKernelExC(&config, function, NULL);
}

static void check_work(const uint32_t *h, unsigned n, uint32_t scale, uint32_t base) {
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(h[i], i * scale + base);
}

/* A <<<>>> launch as nvcc compiles it: push, handle once, pop, launch. */
static void test_stub_launch(void) {
    uint32_t *d, h[256] = {0}, scale = 3;
    struct rt_dim3 grid, block;
    size_t shared;
    void *stream, *kernel = NULL;
    uint8_t pad = 9;
    CHECK_EQ(cudaMalloc((void **)&d, sizeof h), 0);
    CHECK_EQ(__cudaPushCallConfiguration(DIM(4), DIM(64), 16, NULL), 0);
    CHECK_EQ(__cudaGetKernel(&kernel, &work), 0);
    CHECK_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 0);
    CHECK_EQ(grid.x * 1000 + block.x, 4064);
    CHECK_EQ(shared, 16);
    CHECK_EQ(__cudaPushCallConfiguration(DIM(1), DIM(2), 0, NULL), 0); /* a launch in another's arguments */
    CHECK_EQ(__cudaPushCallConfiguration(DIM(3), DIM(4), 0, NULL), 0);
    CHECK_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 0);
    CHECK_EQ(grid.x * 10 + block.x, 34);
    CHECK_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 0);
    CHECK_EQ(grid.x * 10 + block.x, 12);
    CHECK_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), RT_ERROR_MISSING_CONFIGURATION);
    CHECK_EQ(cudaGetLastError(), RT_ERROR_MISSING_CONFIGURATION);
    void *args[] = {&d, &pad, &scale};
    CHECK_EQ(__cudaLaunchKernel(kernel, DIM(4), DIM(64), args, 16, NULL), 0);
    CHECK_EQ(cudaDeviceSynchronize(), 0);
    CHECK_EQ(cudaMemcpy(h, d, sizeof h, RT_DEVICE_TO_HOST), 0);
    check_work(h, 256, 3, 9);
    CHECK_EQ(__cudaGetKernel(&kernel, &stranger), RT_ERROR_INVALID_DEVICE_FUNCTION);
    CHECK_EQ(cudaFree(d), 0);
    cudaGetLastError();
}

static void test_symbols(void) {
    uint32_t v[4];
    size_t size;
    CHECK_EQ(cudaMemcpyFromSymbol(v, &gv_shadow, 16, 0, RT_DEVICE_TO_HOST), 0);
    CHECK(v[0] == 5 && v[3] == 8);
    v[0] = 60;
    CHECK_EQ(cudaMemcpyToSymbol(&gv_shadow, v, 4, 4, RT_HOST_TO_DEVICE), 0);
    CHECK_EQ(cudaMemcpyFromSymbol(v, &gv_shadow, 16, 0, RT_DEVICE_TO_HOST), 0);
    CHECK(v[0] == 5 && v[1] == 60 && v[2] == 7);
    CHECK_EQ(cudaMemcpyToSymbol(&gv_shadow, v, 17, 0, RT_HOST_TO_DEVICE), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpyToSymbol(&gv_shadow, v, 8, 12, RT_HOST_TO_DEVICE), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpyToSymbol(&gv_shadow, v, 8, SIZE_MAX, RT_HOST_TO_DEVICE), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpyToSymbol(&gv_shadow, v, 8, 0, RT_DEVICE_TO_HOST), RT_ERROR_INVALID_MEMCPY_DIRECTION);
    CHECK_EQ(cudaMemcpyToSymbol(&stranger, v, 8, 0, RT_HOST_TO_DEVICE), RT_ERROR_INVALID_SYMBOL);
    CHECK_EQ(cudaGetSymbolSize(&size, &gv_shadow), 0);
    CHECK_EQ(size, 16);
    CHECK_EQ(__cudaInitModule(registered), 1);
    if (CHECK(managed_gv != NULL)) {
        CHECK_EQ(((uint32_t *)managed_gv)[1], 60);
        ((uint32_t *)managed_gv)[1] = 6;
    }
    cudaGetLastError();
}

static void test_launch_errors(void) {
    int bad = RT_ERROR_INVALID_VALUE, cluster = RT_ERROR_INVALID_CLUSTER_SIZE;
    CHECK_EQ(launch(&big, DIM(0), DIM(1), 0), bad);
    CHECK_EQ(launch(&big, DIM(1), DIM(0), 0), bad);
    CHECK_EQ(launch(&big, DIM(1), DIM(1025), 0), bad);
    CHECK_EQ(launch(&big, DIM(1), (struct rt_dim3){1, 1, 65}, 0), bad);
    CHECK_EQ(launch(&big, (struct rt_dim3){1, 65536, 1}, DIM(1), 0), bad);
    CHECK_EQ(launch(&big, DIM(1), (struct rt_dim3){65536, 65536, 65536}, 0), bad);
    CHECK_EQ(rt12_cudaLaunchKernel(&big, DIM(0), DIM(1), NULL, 0, NULL), RT_ERROR_INVALID_CONFIGURATION);
    CHECK_EQ(rt12_cudaLaunchKernel(&big, DIM(1), DIM(1025), NULL, 0, NULL), RT_ERROR_INVALID_CONFIGURATION);
    CHECK_EQ(rt12_cudaLaunchKernel(&big, DIM(1), DIM(1), NULL, 300000, NULL), bad);
    CHECK_EQ(launch(&bounded, DIM(1), DIM(128), 0), 0);
    CHECK_EQ(launch(&bounded, DIM(1), DIM(129), 0), bad);
    CHECK_EQ(launch(&big, DIM(1), DIM(1), 49152 - 4096), 0);
    CHECK_EQ(launch(&big, DIM(1), DIM(1), 49152 - 4095), bad);
    CHECK_EQ(cudaFuncSetAttribute(&big, RT_FUNC_MAX_DYNAMIC_SHARED, 227 * 1024 - 4096), 0);
    CHECK_EQ(launch(&big, DIM(1), DIM(1), 227 * 1024 - 4096), 0);
    CHECK_EQ(cudaFuncSetAttribute(&big, RT_FUNC_MAX_DYNAMIC_SHARED, 227 * 1024 - 4095), bad);
    CHECK_EQ(launch(NULL, DIM(1), DIM(1), 0), RT_ERROR_INVALID_DEVICE_FUNCTION);
    CHECK_EQ(launch(&stranger, DIM(1), DIM(1), 0), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(launch(&work, DIM(1), DIM(1), 0), bad); /* parameters, and none given */
    CHECK_EQ(cudaLaunchKernel(&big, DIM(1), DIM(1), NULL, 0, &stranger), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(launch(&pairs, DIM(4), DIM(32), 0), 0);
    CHECK_EQ(launch(&pairs, DIM(3), DIM(32), 0), cluster);
    CHECK_EQ(launch_clusters(&pairs, 4, 4, RT_LAUNCH_CLUSTER_DIMENSION), cluster);
    CHECK_EQ(launch_clusters(&big, 4, 2, RT_LAUNCH_CLUSTER_DIMENSION), 0);
    CHECK_EQ(launch_clusters(&big, 3, 2, RT_LAUNCH_CLUSTER_DIMENSION), cluster);
    CHECK_EQ(launch_clusters(&bounded, 16, 16, RT_LAUNCH_CLUSTER_DIMENSION), cluster);
    CHECK_EQ(cudaFuncSetAttribute(&bounded, RT_FUNC_NON_PORTABLE_CLUSTER, 1), 0);
    CHECK_EQ(launch_clusters(&bounded, 16, 16, RT_LAUNCH_CLUSTER_DIMENSION), 0);
    CHECK_EQ(launch_clusters(&bounded, 32, 32, RT_LAUNCH_CLUSTER_DIMENSION), cluster);
    CHECK_EQ(launch_clusters(&bounded, 4, 1, 77), bad);
    CHECK_EQ(launch_clusters(&bounded, 4, 1, RT_LAUNCH_COMPLETION_EVENT), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(launch_clusters(&bounded, 4, 1, RT_LAUNCH_PROGRAMMATIC_SERIALIZATION), 0);
    CHECK_EQ(cudaPeekAtLastError(), RT_ERROR_NOT_SUPPORTED); /* the last one that failed */
    CHECK_EQ(cudaGetLastError(), RT_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cudaGetLastError(), 0);
    CHECK_EQ(cudaDeviceSynchronize(), 0); /* none of them broke the context */
}

static void test_function_queries(void) {
    struct rt_func_attributes a;
    int n = -1;
    CHECK_EQ(cudaFuncGetAttributes(&a, &pairs), 0);
    CHECK_EQ(a.cluster_must_be_set, 0); /* .reqnctapercluster says it */
    CHECK_EQ(a.required_cluster[0] * 100 + a.required_cluster[1] * 10 + a.required_cluster[2], 211);
    CHECK_EQ(a.max_dynamic_shared, 49152);
    CHECK_EQ(a.binary_version, 100);
    CHECK_EQ(cudaFuncGetAttributes(&a, &bounded), 0);
    CHECK_EQ(a.max_threads_per_block, 128);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &bounded, 128, 0), 0);
    CHECK_EQ(n, 16);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &bounded, 32, 0), 0);
    CHECK_EQ(n, 32);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &bounded, 32, 113 * 1024), 0);
    CHECK_EQ(n, 0); /* without the opt-in */
    CHECK_EQ(cudaFuncSetAttribute(&bounded, RT_FUNC_MAX_DYNAMIC_SHARED, 113 * 1024), 0);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &bounded, 32, 113 * 1024), 0);
    CHECK_EQ(n, 2); /* 2 * (113 + 1) KB = 228 KB */
    CHECK_EQ(cudaFuncSetAttribute(&bounded, RT_FUNC_MAX_DYNAMIC_SHARED, 48 * 1024), 0);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &bounded, 129, 0), 0);
    CHECK_EQ(n, 12); /* launch bounds do not count */
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &bounded, 1025, 0), 0);
    CHECK_EQ(n, 0);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &bounded, 0, 0), RT_ERROR_INVALID_VALUE);
}

static void test_memory(void) {
    char h[64] = "host", *d, *z = h;
    void *pinned, *managed;
    struct rt_pointer_attributes_13 a;
    CHECK_EQ(cudaMalloc((void **)&d, 64), 0);
    CHECK_EQ(cudaMalloc((void **)&z, 0), 0);
    CHECK(z == NULL);
    CHECK_EQ(cudaMalloc((void **)&z, (size_t)1 << 50), RT_ERROR_MEMORY_ALLOCATION);
    CHECK_EQ(cudaMemcpy(d, h, 65, RT_HOST_TO_DEVICE), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpy(d, h, 64, RT_HOST_TO_DEVICE), 0);
    CHECK_EQ(cudaMemcpy(d + 1, h, 64, RT_HOST_TO_DEVICE), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpy(h, d, 4, RT_HOST_TO_DEVICE), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpy(h, d, 4, RT_DEVICE_TO_DEVICE), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpy(h, h + 8, 4, RT_DEVICE_TO_HOST), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpy(h, d, 4, 7), RT_ERROR_INVALID_MEMCPY_DIRECTION);
    CHECK_EQ(cudaMemcpy(h + 32, d, 5, RT_COPY_DEFAULT), 0);
    CHECK_STR(h + 32, "host");
    CHECK_EQ(cudaMemset(d, 0x5A, 65), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemset(h, 0, 4), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemset(d + 8, 0x15A, 8), 0);
    CHECK_EQ(cudaMemset2D(d, 8, 0, 16, 2), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemset2D(d + 32, 16, 0x33, 4, 2), 0);
    CHECK_EQ(cudaMemcpy2D(h, 4, d + 32, 16, 8, 2, RT_DEVICE_TO_HOST), RT_ERROR_INVALID_PITCH);
    CHECK_EQ(cudaMemcpy2D(h, 4, d + 32, 16, 4, 3, RT_DEVICE_TO_HOST), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaMemcpy2D(h, 4, d + 32, 16, 4, 2, RT_DEVICE_TO_HOST), 0);
    CHECK_MEM(h, "33333333", 8);
    CHECK_EQ(cudaMemcpy(h, d + 8, 8, RT_DEVICE_TO_HOST), 0);
    CHECK_MEM(h, "ZZZZZZZZ", 8);
    CHECK_EQ(cudaPointerGetAttributes(&a, d + 3), 0);
    CHECK(a.base.type == RT_MEMORY_DEVICE && a.base.device_pointer == d + 3 && a.base.host_pointer == NULL);
    CHECK_EQ(cudaPointerGetAttributes(&a, h), 0);
    CHECK(a.base.type == RT_MEMORY_UNREGISTERED && a.base.device == -2 && a.base.host_pointer == h);
    CHECK_EQ(cudaMallocHost(&pinned, 64), 0);
    CHECK_EQ(cudaMallocManaged(&managed, 64, 1), 0);
    memset(pinned, 1, 64); /* the host may touch both */
    memset(managed, 2, 64);
    CHECK_EQ(cudaPointerGetAttributes(&a, pinned), 0);
    CHECK_EQ(a.base.type, RT_MEMORY_HOST);
    CHECK_EQ(cudaPointerGetAttributes(&a, managed), 0);
    CHECK_EQ(a.base.type, RT_MEMORY_MANAGED);
    CHECK_EQ(cudaMemcpy(pinned, managed, 64, RT_DEVICE_TO_HOST), 0);
    CHECK_EQ(*(char *)pinned, 2);
    CHECK_EQ(cudaFree(pinned), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaFreeHost(d), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaFree(h), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaFree(d + 1), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaFreeHost(pinned) + cudaFree(managed) + cudaFree(d) + cudaFree(NULL) + cudaFreeHost(NULL), 0);
    CHECK_EQ(cudaFree(d), RT_ERROR_INVALID_VALUE);
    cudaGetLastError();
}

static void test_streams(void) {
    void *s, *a, *b, *untimed;
    float ms = -1;
    CHECK_EQ(cudaStreamCreateWithFlags(&s, 5), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaStreamCreateWithFlags(&s, 1), 0);
    CHECK_EQ(cudaEventCreateWithFlags(&a, 64), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaEventCreateWithFlags(&a, 0) + cudaEventCreateWithFlags(&b, 0) + cudaEventCreateWithFlags(&untimed, 2),
             0);
    CHECK_EQ(cudaEventElapsedTime(&ms, a, b), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cudaEventRecord(a, s), 0);
    CHECK_EQ(cudaEventElapsedTime(&ms, a, b), RT_ERROR_INVALID_HANDLE);
    usleep(3000);
    CHECK_EQ(cudaEventRecord(b, s) + cudaEventRecord(untimed, s), 0);
    CHECK_EQ(cudaEventElapsedTime(&ms, a, b), 0);
    CHECK(ms >= 3.0f && ms < 10000.0f);
    CHECK_EQ(cudaEventElapsedTime(&ms, a, untimed), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cudaEventRecord(NULL, s), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cudaStreamDestroy(s), 0);
    CHECK_EQ(cudaStreamDestroy(s), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cudaStreamSynchronize(s), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cudaStreamSynchronize(RT_STREAM_PER_THREAD), 0);
    CHECK_EQ(cudaEventDestroy(a) + cudaEventDestroy(b) + cudaEventDestroy(untimed), 0);
    CHECK_EQ(cudaEventDestroy(NULL), RT_ERROR_INVALID_HANDLE);
    cudaGetLastError();
}

static void test_device(void) {
    struct rt_prop_12 p12;
    struct rt_prop_13 p13;
    int v;
    CHECK_EQ(cudaGetDeviceProperties(&p13, 0), 0);
    CHECK_EQ(cudaGetDeviceProperties_v2(&p12, 0), 0);
    CHECK_STR(p13.name, "Emulated NVIDIA B200 (sm100emu)");
    CHECK(p13.major == 10 && p13.minor == 0 && p13.multiProcessorCount == 148 && p13.warpSize == 32);
    CHECK_EQ(p13.sharedMemPerMultiprocessor, 228 * 1024);
    CHECK_EQ(p13.sharedMemPerBlockOptin, 227 * 1024);
    CHECK_EQ(p13.sharedMemPerBlock, 48 * 1024);
    CHECK_EQ(p13.reservedSharedMemPerBlock, 1024);
    CHECK(p13.maxThreadsPerBlock == 1024 && p13.maxThreadsPerMultiProcessor == 2048 &&
          p13.regsPerMultiprocessor == 65536);
    CHECK(p13.maxBlocksPerMultiProcessor == 32 && p13.clusterLaunch == 1 && p13.l2CacheSize == 126 << 20);
    CHECK(p12.multiProcessorCount == 148 && p12.clockRate == 1965000 && p12.clusterLaunch == 1);
    CHECK_EQ(p12.totalGlobalMem, p13.totalGlobalMem);
    CHECK(p13.totalGlobalMem >= (size_t)1 << 30);
    uint8_t legacy[sizeof p12]; /* CUDA 11's struct is the first 728 bytes */
    memset(legacy, 0xEE, sizeof legacy);
    CHECK_EQ(rt12_cudaGetDeviceProperties(legacy, 0), 0);
    CHECK_MEM(legacy, &p12, 728);
    CHECK_EQ(legacy[728], 0xEE);
    CHECK_EQ(cudaGetDeviceProperties(&p13, 9), RT_ERROR_INVALID_DEVICE);
    CHECK_EQ(cudaDeviceGetAttribute(&v, 97, 0), 0);
    CHECK_EQ(v, 227 * 1024);
    CHECK_EQ(cudaDeviceGetAttribute(&v, 999, 0), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cudaDeviceGetAttribute(&v, 1, 7), RT_ERROR_INVALID_DEVICE);
    CHECK(cudaRuntimeGetVersion(&v) == 0 && v == 13000);
    CHECK(rt12_cudaRuntimeGetVersion(&v) == 0 && v == 12090);
    CHECK_EQ(cudaGraphCreate(), RT_ERROR_NOT_SUPPORTED);
    cudaGetLastError();
}

/* A kernel's fault: the launch succeeds, every later call that reaches the device fails, a reset mends it. */
static void expect_sticky(int code) {
    uint32_t *d;
    CHECK_EQ(cudaPeekAtLastError(), 0);
    CHECK_EQ(cudaDeviceSynchronize(), code);
    CHECK_EQ(cudaPeekAtLastError(), code);
    CHECK_EQ(cudaGetLastError(), code);
    CHECK_EQ(cudaGetLastError(), 0);
    CHECK_EQ(cudaMalloc((void **)&d, 16), code);
    CHECK_EQ(launch(&big, DIM(1), DIM(1), 0), code);
    CHECK_EQ(cudaFree(NULL), code);
    CHECK_EQ(cudaDeviceReset(), 0);
    cudaGetLastError();
    CHECK_EQ(cudaDeviceSynchronize(), 0);
    CHECK_EQ(cudaMalloc((void **)&d, 16), 0);
    CHECK_EQ(launch(&big, DIM(1), DIM(1), 0), 0); /* the module loads again */
    CHECK_EQ(cudaDeviceSynchronize() + cudaFree(d), 0);
}

static void test_faults(void) {
    uint64_t wild = 0x10;
    uint32_t scale = 1;
    uint8_t pad = 0;
    void *args[] = {&wild, &pad, &scale};
    CHECK_EQ(cudaLaunchKernel(&work, DIM(1), DIM(1), args, 0, NULL), 0);
    expect_sticky(700);
    setenv("SM100EMU_WATCHDOG", "5000", 1); /* read when the device is made anew */
    CHECK_EQ(cudaDeviceReset(), 0);
    CHECK_EQ(launch(&spin, DIM(1), DIM(32), 0), 0);
    unsetenv("SM100EMU_WATCHDOG");
    expect_sticky(702);
    setenv("SM100EMU_SCHEDULE", "sometimes", 1);
    CHECK_EQ(cudaDeviceReset(), 0);
    CHECK_EQ(cudaDeviceSynchronize(), RT_ERROR_NOT_INITIALIZED);
    unsetenv("SM100EMU_SCHEDULE");
    setenv("SM100EMU_UMMA", "faster", 1);
    CHECK_EQ(cudaDeviceReset(), 0);
    CHECK_EQ(cudaDeviceSynchronize(), RT_ERROR_NOT_INITIALIZED);
    unsetenv("SM100EMU_UMMA");
    static const char *const wrong[][2] = {
        {"SM100EMU_MEMORY", "1X"},           {"SM100EMU_MEMORY", "0"},   {"SM100EMU_MEMORY", "1KB"},
        {"SM100EMU_MEMORY", "17179869184G"}, {"SM100EMU_TIMEOUT", "0"},  {"SM100EMU_TIMEOUT", "nan"},
        {"SM100EMU_TIMEOUT", "1s"},          {"SM100EMU_TIMEOUT", "-1"}, {"SM100EMU_HOST_VECTORS", "sse"}};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv(wrong[i][0], wrong[i][1], 1);
        CHECK_EQ(cudaDeviceReset(), 0);
        CHECK_EQ(cudaDeviceSynchronize(), RT_ERROR_NOT_INITIALIZED);
        unsetenv(wrong[i][0]);
    }
    setenv("SM100EMU_MEMORY", "256M", 1);
    CHECK_EQ(cudaDeviceReset(), 0);
    void *p = NULL;
    size_t room = 0;
    CHECK_EQ(cudaMalloc(&p, (size_t)256 << 20), RT_ERROR_MEMORY_ALLOCATION);
    CHECK_EQ(cudaMallocManaged(&p, (size_t)256 << 20, 1), RT_ERROR_MEMORY_ALLOCATION);
    CHECK_EQ(cudaMemGetInfo(&room, NULL), 0);
    CHECK(room < (size_t)256 << 20);
    CHECK_EQ(cudaMalloc(&p, (size_t)64 << 20), 0);
    CHECK_EQ(cudaFree(p), 0);
    unsetenv("SM100EMU_MEMORY");
    CHECK_EQ(cudaDeviceReset(), 0);
    CHECK_EQ(cudaDeviceSynchronize(), 0);
    cudaGetLastError();
}

static void test_driver(void) {
    void *context, *current, *module, *f, *entry;
    uint64_t d, global;
    size_t size;
    uint32_t h[64], scale = 2;
    const char elf[64] = "\177ELF..."; /* as long as a header, which is read before it says anything */
    int status;
    CHECK_EQ(cuInit(1), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cuInit(0), 0);
    CHECK_EQ(cuCtxCreate_v2(&context, 0, 1), RT_ERROR_INVALID_DEVICE);
    CHECK_EQ(cuCtxCreate_v2(&context, 0, 0), 0);
    CHECK(cuCtxGetCurrent(&current) == 0 && current == context);
    CHECK_EQ(cuModuleLoadData(&module, elf), RT_ERROR_NO_BINARY);
    CHECK_EQ(cuModuleLoadData(&module, "nonsense"), RT_ERROR_INVALID_IMAGE);
    CHECK_EQ(cuModuleLoadData(&module, ".version 9.0\n.target sm_90a\n"), RT_ERROR_INVALID_PTX);
    CHECK_EQ(cuModuleLoadData(&module, TEXT_HEAD ".visible .entry k( { }"), RT_ERROR_INVALID_PTX);
    CHECK_EQ(cuModuleLoadData(&module, kernels), 0);
    CHECK_EQ(cuModuleGetFunction(&f, module, "nothing"), RT_ERROR_NOT_FOUND);
    CHECK_EQ(cuModuleGetFunction(&f, module, "work"), 0);
    CHECK_EQ(cuModuleGetGlobal_v2(&global, &size, module, "gv"), 0);
    CHECK_EQ(size, 16);
    CHECK_EQ(cuMemsetD32_v2(global + 4, 100, 1), 0);
    CHECK_EQ(cuMemsetD32_v2(global + 4, 100, 4), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cuMemAlloc_v2(&d, 0), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cuMemAlloc_v2(&d, sizeof h), 0);
    struct {
        uint64_t out;
        uint8_t pad;
        uint32_t scale;
    } packed = {d, 0, 5};
    size_t packed_size = sizeof packed;
    void *extra[] = {RT_EXTRA_BUFFER, &packed, RT_EXTRA_SIZE, &packed_size, RT_EXTRA_END};
    CHECK_EQ(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra), 0);
    CHECK_EQ(cuMemcpyDtoH_v2(h, d, sizeof h), 0);
    check_work(h, 64, 5, 103);
    uint8_t pad = 0;
    void *args[] = {&d, &pad, &scale};
    CHECK_EQ(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, args, NULL), 0);
    CHECK_EQ(cuMemcpyDtoH_v2(h, d, sizeof h), 0);
    check_work(h, 64, 2, 103);
    packed_size = 8;
    CHECK_EQ(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, args, NULL), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL), RT_ERROR_INVALID_HANDLE);
    struct rt_driver_copy_2d copy = {.src_type = 2, .src_device = d, .src_pitch = 16, .dst_type = 1, .dst_host = h};
    copy.dst_pitch = copy.width = 8;
    copy.height = 2;
    CHECK_EQ(cuMemcpy2D_v2(&copy), 0);
    copy.src_device = (uintptr_t)&h[32]; /* said to be the device's, and is not */
    CHECK_EQ(cuMemcpy2D_v2(&copy), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cuMemFree_v2(d), 0);
    CHECK_EQ(cuMemFree_v2(d), RT_ERROR_INVALID_VALUE);
    CHECK_EQ(cuModuleUnload(module), 0);
    CHECK_EQ(cuModuleUnload(module), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL), RT_ERROR_INVALID_HANDLE);
    CHECK_EQ(cuGetProcAddress_v2("cuMemAlloc", &entry, 12090, 0, &status), 0);
    int (*alloc)(uint64_t *, size_t) = cuMemAlloc_v2;
    CHECK(memcmp(&entry, &alloc, sizeof entry) == 0 && status == RT_ENTRY_FOUND);
    CHECK_EQ(cuGetProcAddress_v2("cuLaunchKernelEx", &entry, 11000, 0, &status), RT_ERROR_NOT_FOUND);
    CHECK(entry == NULL && status == RT_ENTRY_VERSION_TOO_OLD);
    CHECK_EQ(cudaGetDriverEntryPointByVersion("cuNoSuch", &entry, 12000, 0, &status), 0);
    CHECK(entry == NULL && status == RT_ENTRY_NOT_FOUND);
    CHECK_EQ(cuCtxDestroy_v2(context), 0);
    CHECK_EQ(cuCtxDestroy_v2(context), RT_ERROR_INVALID_CONTEXT);
    CHECK_EQ(cudaPeekAtLastError(), 0); /* the driver API leaves the runtime's last error alone */
}

/* Host threads share the device and keep their own last error. */
static void test_libraries(void) {
    void *library, *global = NULL, *kernel = NULL;
    size_t size = 0;
    /* A module of the program itself, not loaded yet: asking for its variable loads it. */
    CHECK_EQ(cudaDeviceReset(), 0);
    CHECK_EQ(cudaLibraryGetGlobal(&global, &size, registered, "gv"), 0);
    CHECK(global != NULL && size == 16);
    CHECK_EQ(cudaLibraryGetGlobal(&global, &size, &size, "gv"), RT_ERROR_INVALID_HANDLE);
    if (!CHECK_EQ(cudaLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0), 0))
        return;
    size = 0;
    CHECK_EQ(cudaLibraryGetGlobal(NULL, &size, library, "gv"), 0);
    CHECK_EQ(size, 16);
    CHECK_EQ(cudaLibraryGetGlobal(&global, NULL, library, "gv"), 0);
    CHECK_EQ(cudaLibraryGetGlobal(&global, &size, library, "work"), RT_ERROR_NOT_FOUND);
    CHECK_EQ(cudaLibraryGetGlobal(&global, &size, library, NULL), RT_ERROR_NOT_FOUND);
    CHECK_EQ(cudaLibraryGetKernel(&kernel, library, "work"), 0);
    CHECK(kernel != NULL);
    CHECK_EQ(cudaLibraryUnload(library), 0);
    CHECK_EQ(cudaLibraryGetGlobal(&global, &size, library, "gv"), RT_ERROR_INVALID_HANDLE);
    cudaGetLastError();
}

static void *on_thread(void *out) {
    uint32_t *d, h[32] = {0}, scale = 7;
    uint8_t pad = 0;
    unsigned long wrong = 0;
    wrong += cudaGetLastError() != 0;
    for (int round = 0; round < 20; round++) {
        wrong += cudaMalloc((void **)&d, sizeof h) != 0;
        void *args[] = {&d, &pad, &scale};
        wrong += cudaLaunchKernel(&work, DIM(1), DIM(32), args, 0, NULL) != 0;
        wrong += cudaMemcpy(h, d, sizeof h, RT_DEVICE_TO_HOST) != 0;
        wrong += h[31] != 31 * 7 + 9;
        wrong += cudaFree(d) != 0;
    }
    *(unsigned long *)out = wrong;
    return NULL;
}

static void test_threads(void) {
    pthread_t threads[4];
    unsigned long wrong[4];
    CHECK_EQ(launch(NULL, DIM(1), DIM(1), 0), RT_ERROR_INVALID_DEVICE_FUNCTION); /* this thread's error */
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, on_thread, &wrong[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(wrong[i], 0);
    }
    CHECK_EQ(cudaGetLastError(), RT_ERROR_INVALID_DEVICE_FUNCTION);
}

int main(void) {
    register_program();
    test_stub_launch();
    test_symbols();
    test_launch_errors();
    test_function_queries();
    test_memory();
    test_streams();
    test_device();
    test_threads();
    test_faults();
    test_driver();
    test_libraries();
    __cudaUnregisterFatBinary(registered);
    CHECK_EQ(launch(&big, DIM(1), DIM(1), 0), RT_ERROR_INVALID_HANDLE);
    return check_report();
}
