/* The binary interface of libcudart.so.12 (12.9), libcudart.so.13 and libcuda.so.1: types, values and layouts.
 *
 * Declared here because the emulator is built without NVIDIA's headers. Names carry the prefix rt_, so that the unit
 * test can include both and compare sizes, offsets and values with the installed toolkit's (tests/unit/cudart/
 * test_abi.c). Sources: driver_types.h, cuda_runtime_api.h, cuda.h and crt/host_runtime.h of 12.9 and 13.0.
 */
#ifndef CUDART_CORE_ABI_H
#define CUDART_CORE_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Marks a function that programs call: exported from the shared library under CUDA's name. */
#define RT_API __attribute__((visibility("default")))

/* A second name for an entry point: the variants for the per-thread default stream (_ptsz, _ptds) do the same here. */
#define RT_ALIAS(name, target) RT_API extern __typeof__(target) name __attribute__((alias(#target)))

#define RT_VERSION_12 12090 /* cudaRuntimeGetVersion of a program built with 12.9 */
#define RT_VERSION_13 13000

/* cudaError_t and CUresult share their numbers; the full table is errors.def. */
enum {
    RT_SUCCESS = 0,
    RT_ERROR_INVALID_VALUE = 1,
    RT_ERROR_MEMORY_ALLOCATION = 2,
    RT_ERROR_NOT_INITIALIZED = 3,
    RT_ERROR_UNLOADING = 4,
    RT_ERROR_INVALID_CONFIGURATION = 9,
    RT_ERROR_INVALID_PITCH = 12,
    RT_ERROR_INVALID_SYMBOL = 13,
    RT_ERROR_INVALID_MEMCPY_DIRECTION = 21,
    RT_ERROR_MISSING_CONFIGURATION = 52,
    RT_ERROR_INVALID_DEVICE_FUNCTION = 98,
    RT_ERROR_INVALID_DEVICE = 101,
    RT_ERROR_INVALID_IMAGE = 200,
    RT_ERROR_INVALID_CONTEXT = 201,
    RT_ERROR_NO_BINARY = 209,
    RT_ERROR_UNSUPPORTED_LIMIT = 215,
    RT_ERROR_INVALID_PTX = 218,
    RT_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    RT_ERROR_FILE_NOT_FOUND = 301,
    RT_ERROR_OPERATING_SYSTEM = 304,
    RT_ERROR_INVALID_HANDLE = 400,
    RT_ERROR_ILLEGAL_STATE = 401,
    RT_ERROR_NOT_FOUND = 500,
    RT_ERROR_OUT_OF_RESOURCES = 701,
    RT_ERROR_CONTEXT_IS_DESTROYED = 709,
    RT_ERROR_NOT_PERMITTED = 800,
    RT_ERROR_NOT_SUPPORTED = 801,
    RT_ERROR_INVALID_CLUSTER_SIZE = 912,
};

struct rt_dim3 {
    unsigned x, y, z;
};

enum rt_memcpy_kind { RT_HOST_TO_HOST, RT_HOST_TO_DEVICE, RT_DEVICE_TO_HOST, RT_DEVICE_TO_DEVICE, RT_COPY_DEFAULT };
enum rt_memory_type { RT_MEMORY_UNREGISTERED, RT_MEMORY_HOST, RT_MEMORY_DEVICE, RT_MEMORY_MANAGED };

/* Stream handles that are not pointers: 0 and 1 are the legacy stream, 2 the per-thread one. */
#define RT_STREAM_LEGACY ((void *)1)
#define RT_STREAM_PER_THREAD ((void *)2)
enum { RT_STREAM_NON_BLOCKING = 1 };
enum { RT_LEAST_PRIORITY = 0, RT_GREATEST_PRIORITY = -5 }; /* of streams */
enum { RT_EVENT_BLOCKING_SYNC = 1, RT_EVENT_DISABLE_TIMING = 2, RT_EVENT_INTERPROCESS = 4 };

enum rt_limit {
    RT_LIMIT_STACK_SIZE,
    RT_LIMIT_PRINTF_FIFO,
    RT_LIMIT_MALLOC_HEAP,
    RT_LIMIT_SYNC_DEPTH,
    RT_LIMIT_PENDING_LAUNCHES,
    RT_LIMIT_L2_FETCH,
    RT_LIMIT_PERSISTING_L2,
    RT_LIMIT_SHMEM_SIZE, /* from here on the driver's names alone */
    RT_LIMIT_CIG_ENABLED,
    RT_LIMIT_CIG_FALLBACK,
    RT_LIMIT_COUNT
};

/* cudaDeviceProp of CUDA 13 and, with more fields between, of CUDA 12: PROP(type, name, attribute) and PROPN(type,
 * name, count, first attribute). PROP12 fields left with 13.0; PROP13 ones came with it. */
struct rt_prop_12 {
#define PROP(type, name, attribute) type name;
#define PROPN(type, name, count, first) type name[count];
#define PROP12(type, name, attribute) type name;
#define PROP13(type, name, attribute)
#include "cudart/core/prop.def"
    int reserved[63];
};
struct rt_prop_13 {
#define PROP(type, name, attribute) type name;
#define PROPN(type, name, count, first) type name[count];
#define PROP12(type, name, attribute)
#define PROP13(type, name, attribute) type name;
#include "cudart/core/prop.def"
    int reserved[56];
};

/* cudaPointerAttributes; CUDA 13 appended eight reserved words. */
struct rt_pointer_attributes_12 {
    int type; /* enum rt_memory_type */
    int device;
    void *device_pointer, *host_pointer;
};
struct rt_pointer_attributes_13 {
    struct rt_pointer_attributes_12 base;
    long reserved[8];
};

struct rt_driver_prop { /* CUdevprop */
    int max_threads, max_block[3], max_grid[3];
    int shared, constant, warp, pitch, registers, clock, texture_alignment;
};

struct rt_func_attributes { /* cudaFuncAttributes, the same in 12.9 and 13 */
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads_per_block, num_regs, ptx_version, binary_version, cache_mode_ca;
    int max_dynamic_shared, shared_carveout, cluster_must_be_set;
    int required_cluster[3];
    int cluster_policy, non_portable_cluster;
    int reserved[16];
};

/* CUfunction_attribute; cudaFuncAttribute has the same numbers from 8 on. */
enum rt_func_attribute {
    RT_FUNC_MAX_THREADS = 0,
    RT_FUNC_SHARED_BYTES = 1,
    RT_FUNC_CONST_BYTES = 2,
    RT_FUNC_LOCAL_BYTES = 3,
    RT_FUNC_NUM_REGS = 4,
    RT_FUNC_PTX_VERSION = 5,
    RT_FUNC_BINARY_VERSION = 6,
    RT_FUNC_CACHE_MODE_CA = 7,
    RT_FUNC_MAX_DYNAMIC_SHARED = 8,
    RT_FUNC_SHARED_CARVEOUT = 9,
    RT_FUNC_CLUSTER_MUST_BE_SET = 10,
    RT_FUNC_CLUSTER_WIDTH = 11,
    RT_FUNC_CLUSTER_HEIGHT = 12,
    RT_FUNC_CLUSTER_DEPTH = 13,
    RT_FUNC_NON_PORTABLE_CLUSTER = 14,
    RT_FUNC_CLUSTER_POLICY = 15,
    RT_FUNC_NODE_UPDATE = 16, /* of 13.3 and later */
    RT_FUNC_SHARED_MODE = 17, /* enum rt_shared_mode; of 13.4 and later */
    RT_FUNC_COUNT
};

/* cudaLaunchAttributeID and CUlaunchAttributeID. */
enum rt_launch_attribute_id {
    RT_LAUNCH_IGNORE = 0,
    RT_LAUNCH_ACCESS_POLICY = 1,
    RT_LAUNCH_COOPERATIVE = 2,
    RT_LAUNCH_SYNC_POLICY = 3,
    RT_LAUNCH_CLUSTER_DIMENSION = 4,
    RT_LAUNCH_CLUSTER_POLICY = 5,
    RT_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6,
    RT_LAUNCH_PROGRAMMATIC_EVENT = 7,
    RT_LAUNCH_PRIORITY = 8,
    RT_LAUNCH_MEM_SYNC_DOMAIN_MAP = 9,
    RT_LAUNCH_MEM_SYNC_DOMAIN = 10,
    RT_LAUNCH_PREFERRED_CLUSTER = 11,
    RT_LAUNCH_COMPLETION_EVENT = 12,
    RT_LAUNCH_DEVICE_UPDATABLE = 13,
    RT_LAUNCH_SHARED_CARVEOUT = 14,
    RT_LAUNCH_NVLINK_CENTRIC = 16,
    RT_LAUNCH_PORTABLE_CLUSTER = 17, /* enum rt_cluster_mode; of 13.2 and later, as the next one */
    RT_LAUNCH_SHARED_MODE = 18,      /* enum rt_shared_mode */
};

/* CUlaunchAttributePortableClusterMode: the default is what RT_FUNC_NON_PORTABLE_CLUSTER says. */
enum rt_cluster_mode { RT_CLUSTER_DEFAULT, RT_CLUSTER_PORTABLE, RT_CLUSTER_NON_PORTABLE, RT_CLUSTER_MODES };

/* CUsharedMemoryMode: the default is what RT_FUNC_MAX_DYNAMIC_SHARED says. */
enum rt_shared_mode {
    RT_SHARED_DEFAULT,
    RT_SHARED_PORTABLE,     /* within device attribute 8 */
    RT_SHARED_NON_PORTABLE, /* within device attribute 97 */
    RT_SHARED_ALLOW_OVERSIZED,
    RT_SHARED_PREFER_OVERSIZED,
    RT_SHARED_MODES
};

struct rt_launch_attribute { /* 72 bytes in both APIs */
    int id;
    char pad[4];
    union {
        char bytes[64];
        struct rt_dim3 cluster; /* cluster and preferred cluster dimension */
        int number;             /* cooperative, priority, serialisation, ... */
    } value;
};

struct rt_launch_config { /* cudaLaunchConfig_t */
    struct rt_dim3 grid, block;
    size_t dynamic_shared;
    void *stream;
    struct rt_launch_attribute *attrs;
    unsigned num_attrs;
};

struct rt_driver_launch_config { /* CUlaunchConfig: the same, with 32-bit shared bytes */
    struct rt_dim3 grid, block;
    unsigned dynamic_shared;
    void *stream;
    struct rt_launch_attribute *attrs;
    unsigned num_attrs;
};

/* Terminator and keys of cuLaunchKernel's `extra` list. */
#define RT_EXTRA_END ((void *)0)
#define RT_EXTRA_BUFFER ((void *)1)
#define RT_EXTRA_SIZE ((void *)2)

struct rt_driver_copy_2d { /* CUDA_MEMCPY2D_v2 */
    size_t src_x, src_y;
    int src_type; /* CUmemorytype: 1 host, 2 device, 3 array, 4 unified */
    const void *src_host;
    uint64_t src_device;
    void *src_array;
    size_t src_pitch;
    size_t dst_x, dst_y;
    int dst_type;
    void *dst_host;
    uint64_t dst_device;
    void *dst_array;
    size_t dst_pitch;
    size_t width, height;
};

struct rt_mem_location { /* cudaMemLocation, passed by value */
    int type, id;
};

struct rt_pool_props { /* cudaMemPoolProps, CUmemPoolProps */
    int type;          /* of the allocations: 1 pinned, the only one for a device */
    int handle_types;  /* 0: for this process alone */
    struct rt_mem_location location;
    void *security;
    size_t most; /* bytes; 0: no limit */
    unsigned short usage;
    unsigned char reserved[54];
};

struct rt_pool_access { /* cudaMemAccessDesc, CUmemAccessDesc */
    struct rt_mem_location location;
    int flags; /* 3: reads and writes */
};

struct rt_channel_desc { /* cudaChannelFormatDesc */
    int x, y, z, w, kind;
};

/* cudaDriverEntryPointQueryResult, CUdriverProcAddressQueryResult */
enum { RT_ENTRY_FOUND = 0, RT_ENTRY_NOT_FOUND = 1, RT_ENTRY_VERSION_TOO_OLD = 2 };

#endif
