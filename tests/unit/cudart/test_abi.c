/* The ABI that the shim declares for itself against NVIDIA's headers where a toolkit is installed, and against recorded
 * figures of CUDA 12.9 and 13.0 everywhere. */
#include "check.h"
#include "cudart/core/abi.h"

#if __has_include(<cuda_runtime_api.h>) && __has_include(<cuda.h>)
#define TOOLKIT 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cuda.h>
#include <cuda_runtime_api.h>
#pragma GCC diagnostic pop
#elif __has_include("/usr/local/cuda/include/cuda_runtime_api.h") && __has_include("/usr/local/cuda/include/cuda.h")
#define TOOLKIT 1
#include "/usr/local/cuda/include/cuda.h"
#include "/usr/local/cuda/include/cuda_runtime_api.h"
#else
#define TOOLKIT 0
#endif

/* sizeof and offsetof from the headers of 12.9.79 and 13.0.88, x86-64. */
static void test_recorded(void) {
    CHECK_EQ(sizeof(struct rt_prop_12), 1032);
    CHECK_EQ(sizeof(struct rt_prop_13), 1008);
    CHECK_EQ(offsetof(struct rt_prop_12, hostRegisterSupported), 728); /* sizeof cudaDeviceProp of CUDA 11 */
    CHECK_EQ(sizeof(struct rt_pointer_attributes_12), 24);
    CHECK_EQ(sizeof(struct rt_pointer_attributes_13), 88);
    CHECK_EQ(sizeof(struct rt_func_attributes), 144);
    CHECK_EQ(sizeof(struct rt_launch_attribute), 72);
    CHECK_EQ(sizeof(struct rt_launch_config), 56);
    CHECK_EQ(sizeof(struct rt_driver_launch_config), 56);
    CHECK_EQ(sizeof(struct rt_driver_copy_2d), 128);
    CHECK_EQ(sizeof(struct rt_channel_desc), 20);
    CHECK_EQ(sizeof(struct rt_mem_location), 8);
    CHECK_EQ(sizeof(struct rt_dim3), 12);
}

#if TOOLKIT
#if CUDART_VERSION >= 13000
typedef struct rt_prop_13 prop;
typedef struct rt_pointer_attributes_13 pointer_attributes;
#define PROP13(type, field, attribute) CHECK_EQ(offsetof(prop, field), offsetof(struct cudaDeviceProp, field));
#define PROP12(type, field, attribute)
#else
typedef struct rt_prop_12 prop;
typedef struct rt_pointer_attributes_12 pointer_attributes;
#define PROP13(type, field, attribute)
#define PROP12(type, field, attribute) CHECK_EQ(offsetof(prop, field), offsetof(struct cudaDeviceProp, field));
#endif

static void test_layout(void) {
    CHECK_EQ(sizeof(prop), sizeof(struct cudaDeviceProp));
#define PROP(type, field, attribute) CHECK_EQ(offsetof(prop, field), offsetof(struct cudaDeviceProp, field));
#define PROPN(type, field, count, first) PROP(type, field, first)
#include "cudart/core/prop.def"
    CHECK_EQ(sizeof(pointer_attributes), sizeof(struct cudaPointerAttributes));
    CHECK_EQ(offsetof(struct rt_pointer_attributes_12, host_pointer),
             offsetof(struct cudaPointerAttributes, hostPointer));
    CHECK_EQ(sizeof(struct rt_func_attributes), sizeof(struct cudaFuncAttributes));
    CHECK_EQ(offsetof(struct rt_func_attributes, max_dynamic_shared),
             offsetof(struct cudaFuncAttributes, maxDynamicSharedSizeBytes));
    CHECK_EQ(offsetof(struct rt_func_attributes, required_cluster),
             offsetof(struct cudaFuncAttributes, requiredClusterWidth));
    CHECK_EQ(offsetof(struct rt_func_attributes, non_portable_cluster),
             offsetof(struct cudaFuncAttributes, nonPortableClusterSizeAllowed));
    CHECK_EQ(sizeof(struct rt_launch_attribute), sizeof(cudaLaunchAttribute));
    CHECK_EQ(offsetof(struct rt_launch_attribute, value), offsetof(cudaLaunchAttribute, val));
    CHECK_EQ(sizeof(struct rt_launch_attribute), sizeof(CUlaunchAttribute));
    CHECK_EQ(sizeof(struct rt_launch_config), sizeof(cudaLaunchConfig_t));
    CHECK_EQ(offsetof(struct rt_launch_config, attrs), offsetof(cudaLaunchConfig_t, attrs));
    CHECK_EQ(sizeof(struct rt_driver_launch_config), sizeof(CUlaunchConfig));
    CHECK_EQ(offsetof(struct rt_driver_launch_config, stream), offsetof(CUlaunchConfig, hStream));
    CHECK_EQ(sizeof(struct rt_driver_copy_2d), sizeof(CUDA_MEMCPY2D));
    CHECK_EQ(offsetof(struct rt_driver_copy_2d, dst_device), offsetof(CUDA_MEMCPY2D, dstDevice));
    CHECK_EQ(offsetof(struct rt_driver_copy_2d, width), offsetof(CUDA_MEMCPY2D, WidthInBytes));
    CHECK_EQ(sizeof(struct rt_channel_desc), sizeof(struct cudaChannelFormatDesc));
    CHECK_EQ(sizeof(struct rt_mem_location), sizeof(struct cudaMemLocation));
    CHECK_EQ(sizeof(struct rt_pool_props), sizeof(struct cudaMemPoolProps));
    CHECK_EQ(sizeof(struct rt_pool_props), sizeof(CUmemPoolProps));
    CHECK_EQ(offsetof(struct rt_pool_props, most), offsetof(CUmemPoolProps, maxSize));
    CHECK_EQ(sizeof(struct rt_pool_access), sizeof(struct cudaMemAccessDesc));
    CHECK_EQ(sizeof(struct rt_pool_access), sizeof(CUmemAccessDesc));
    CHECK_EQ(sizeof(struct rt_driver_prop), sizeof(CUdevprop));
    CHECK_EQ(offsetof(struct rt_driver_prop, texture_alignment), offsetof(CUdevprop, textureAlign));
}

static void test_attributes(void) {
#define ATTR(number, name, value) CHECK_EQ(number, cudaDevAttr##name);
#define DRIVER(number, name, value) CHECK_EQ(number, CU_DEVICE_ATTRIBUTE_##name);
#if CUDART_VERSION >= 13040
#define LATER(number, name, value) DRIVER(number, name, value)
#else
#define LATER(number, name, value)
#endif
#if CUDART_VERSION >= 13000
#include "cudart/core/attributes.def"
#endif
#if CUDART_VERSION >= 13040
    CHECK_EQ(RT_FUNC_NODE_UPDATE, CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED);
    CHECK_EQ(RT_FUNC_SHARED_MODE, CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE);
    CHECK_EQ(RT_LAUNCH_PORTABLE_CLUSTER, CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE);
    CHECK_EQ(RT_LAUNCH_SHARED_MODE, CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE);
    CHECK_EQ(RT_CLUSTER_NON_PORTABLE, CU_LAUNCH_PORTABLE_CLUSTER_MODE_ALLOW_NON_PORTABLE);
    CHECK_EQ(RT_SHARED_PREFER_OVERSIZED, CU_SHARED_MEMORY_MODE_PREFER_OVERSIZED_SHARED_MEMORY);
#endif
    CHECK_EQ(RT_FUNC_MAX_DYNAMIC_SHARED, cudaFuncAttributeMaxDynamicSharedMemorySize);
    CHECK_EQ(RT_FUNC_NON_PORTABLE_CLUSTER, cudaFuncAttributeNonPortableClusterSizeAllowed);
    CHECK_EQ(RT_FUNC_CLUSTER_POLICY, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
    CHECK_EQ(RT_FUNC_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
    CHECK_EQ(RT_LAUNCH_CLUSTER_DIMENSION, cudaLaunchAttributeClusterDimension);
    CHECK_EQ(RT_LAUNCH_PROGRAMMATIC_SERIALIZATION, cudaLaunchAttributeProgrammaticStreamSerialization);
    CHECK_EQ(RT_LAUNCH_PREFERRED_CLUSTER, cudaLaunchAttributePreferredClusterDimension);
    CHECK_EQ(RT_LAUNCH_SHARED_CARVEOUT, cudaLaunchAttributePreferredSharedMemoryCarveout);
    CHECK_EQ(RT_LAUNCH_COMPLETION_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
    CHECK_EQ(RT_LIMIT_PERSISTING_L2, cudaLimitPersistingL2CacheSize);
    CHECK_EQ(RT_COPY_DEFAULT, cudaMemcpyDefault);
    CHECK_EQ(RT_MEMORY_MANAGED, cudaMemoryTypeManaged);
    CHECK_EQ(RT_EVENT_DISABLE_TIMING, cudaEventDisableTiming);
    CHECK_EQ(RT_ENTRY_VERSION_TOO_OLD, cudaDriverEntryPointVersionNotSufficent);
    CHECK_EQ((uintptr_t)RT_EXTRA_BUFFER, (uintptr_t)CU_LAUNCH_PARAM_BUFFER_POINTER);
    CHECK_EQ((uintptr_t)RT_EXTRA_SIZE, (uintptr_t)CU_LAUNCH_PARAM_BUFFER_SIZE);
    CHECK_EQ((uintptr_t)RT_STREAM_PER_THREAD, (uintptr_t)cudaStreamPerThread);
}

static void test_errors(void) {
    CHECK_EQ(RT_ERROR_INVALID_CONFIGURATION, cudaErrorInvalidConfiguration);
    CHECK_EQ(RT_ERROR_INVALID_PITCH, cudaErrorInvalidPitchValue);
    CHECK_EQ(RT_ERROR_INVALID_SYMBOL, cudaErrorInvalidSymbol);
    CHECK_EQ(RT_ERROR_INVALID_DEVICE_FUNCTION, cudaErrorInvalidDeviceFunction);
    CHECK_EQ(RT_ERROR_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK_EQ(RT_ERROR_INVALID_PTX, cudaErrorInvalidPtx);
    CHECK_EQ(RT_ERROR_INVALID_HANDLE, cudaErrorInvalidResourceHandle);
    CHECK_EQ(RT_ERROR_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
    CHECK_EQ(RT_ERROR_OUT_OF_RESOURCES, cudaErrorLaunchOutOfResources);
    CHECK_EQ(RT_ERROR_NOT_SUPPORTED, cudaErrorNotSupported);
    CHECK_EQ(RT_ERROR_INVALID_CLUSTER_SIZE, cudaErrorInvalidClusterSize);
}
#endif

int main(void) {
    test_recorded();
#if TOOLKIT
    test_layout();
    test_attributes();
    test_errors();
    printf("compared with the headers of CUDA %d\n", CUDART_VERSION);
#else
    printf("skipped: no toolkit's headers to compare with\n");
#endif
    return check_report();
}
