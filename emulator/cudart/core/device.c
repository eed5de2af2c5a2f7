/* The emulated B200's description; contract and sources in device.h. */
#include "cudart/core/device.h"

#include <string.h>

bool device_attribute(int attribute, int *value) {
    switch (attribute) {
#define ATTR(number, name, v)                                                                                          \
    case number:                                                                                                       \
        *value = v;                                                                                                    \
        return true;
#include "cudart/core/attributes.def"
    case 44:  /* can gather from 2D textures */
    case 102: /* ... 110: features of the driver API that this device lacks */
    case 103:
    case 104:
    case 105:
    case 107:
    case 110:
    case 136:
    case 137:
    case 144:
    case 145:
    case 146:
    case 147:
        *value = 0;
        return true;
    default:
        return false;
    }
}

static int attr(int attribute) {
    int value = 0;
    device_attribute(attribute, &value);
    return value;
}

static void fill(int *out, int count, const int *attributes) {
    for (int i = 0; i < count; i++)
        out[i] = attr(attributes[i]);
}

void device_prop_12(struct rt_prop_12 *p, uint64_t memory) {
    memset(p, 0, sizeof *p);
    strcpy(p->name, DEVICE_NAME);
    memcpy(p->uuid, "sm100emu-B200-00", 16);
    p->totalGlobalMem = memory;
    p->sharedMemPerBlock = (size_t)attr(8);
    p->regsPerBlock = attr(12);
    p->warpSize = attr(10);
    p->memPitch = (size_t)attr(11);
    p->maxThreadsPerBlock = attr(1);
    fill(p->maxThreadsDim, 3, (int[]){2, 3, 4});
    fill(p->maxGridSize, 3, (int[]){5, 6, 7});
    p->clockRate = attr(13);
    p->totalConstMem = (size_t)attr(9);
    p->major = attr(75);
    p->minor = attr(76);
    p->textureAlignment = (size_t)attr(14);
    p->texturePitchAlignment = (size_t)attr(51);
    p->deviceOverlap = attr(15);
    p->multiProcessorCount = attr(16);
    p->kernelExecTimeoutEnabled = attr(17);
    p->canMapHostMemory = attr(19);
    p->computeMode = attr(20);
    p->maxTexture1D = attr(21);
    p->maxTexture1DMipmap = attr(77);
    p->maxTexture1DLinear = attr(69);
    fill(p->maxTexture2D, 2, (int[]){22, 23});
    fill(p->maxTexture2DMipmap, 2, (int[]){73, 74});
    fill(p->maxTexture2DLinear, 3, (int[]){70, 71, 72});
    fill(p->maxTexture2DGather, 2, (int[]){45, 46});
    fill(p->maxTexture3D, 3, (int[]){24, 25, 26});
    fill(p->maxTexture3DAlt, 3, (int[]){47, 48, 49});
    p->maxTextureCubemap = attr(52);
    fill(p->maxTexture1DLayered, 2, (int[]){42, 43});
    fill(p->maxTexture2DLayered, 3, (int[]){27, 28, 29});
    fill(p->maxTextureCubemapLayered, 2, (int[]){53, 54});
    p->maxSurface1D = attr(55);
    fill(p->maxSurface2D, 2, (int[]){56, 57});
    fill(p->maxSurface3D, 3, (int[]){58, 59, 60});
    fill(p->maxSurface1DLayered, 2, (int[]){61, 62});
    fill(p->maxSurface2DLayered, 3, (int[]){63, 64, 65});
    p->maxSurfaceCubemap = attr(66);
    fill(p->maxSurfaceCubemapLayered, 2, (int[]){67, 68});
    p->surfaceAlignment = (size_t)attr(30);
    p->concurrentKernels = attr(31);
    p->ECCEnabled = attr(32);
    p->asyncEngineCount = attr(40);
    p->unifiedAddressing = attr(41);
    p->memoryClockRate = attr(36);
    p->memoryBusWidth = attr(37);
    p->l2CacheSize = attr(38);
    p->maxThreadsPerMultiProcessor = attr(39);
    p->streamPrioritiesSupported = attr(78);
    p->globalL1CacheSupported = attr(79);
    p->localL1CacheSupported = attr(80);
    p->sharedMemPerMultiprocessor = (size_t)attr(81);
    p->regsPerMultiprocessor = attr(82);
    p->managedMemory = attr(83);
    p->singleToDoublePrecisionPerfRatio = attr(87);
    p->pageableMemoryAccess = attr(88);
    p->concurrentManagedAccess = attr(89);
    p->computePreemptionSupported = attr(90);
    p->cooperativeLaunch = attr(95);
    p->sharedMemPerBlockOptin = (size_t)attr(97);
    p->maxBlocksPerMultiProcessor = attr(106);
    p->accessPolicyMaxWindowSize = attr(109);
    p->reservedSharedMemPerBlock = (size_t)attr(111);
    p->clusterLaunch = attr(120);
}

void device_prop_13(struct rt_prop_13 *p, uint64_t memory) {
    struct rt_prop_12 old;
    device_prop_12(&old, memory);
    memset(p, 0, sizeof *p);
#define PROP(type, field) p->field = old.field;
#define PROPN(type, field, count) memcpy(p->field, old.field, sizeof p->field);
#define PROP12(type, field)
#define PROP13(type, field)
#include "cudart/core/prop.def"
    p->deviceNumaConfig = attr(130);
    p->deviceNumaId = attr(131);
    p->hostNumaId = attr(134);
    p->gpuPciDeviceID = (unsigned)attr(139);
}

void device_default_limits(size_t *limits) {
    memset(limits, 0, RT_LIMIT_COUNT * sizeof *limits);
    limits[RT_LIMIT_STACK_SIZE] = 1024;
    limits[RT_LIMIT_PRINTF_FIFO] = 8650752;
    limits[RT_LIMIT_MALLOC_HEAP] = 8388608;
    limits[RT_LIMIT_SYNC_DEPTH] = 2;
    limits[RT_LIMIT_PENDING_LAUNCHES] = 2048;
    limits[RT_LIMIT_L2_FETCH] = 128;
}
