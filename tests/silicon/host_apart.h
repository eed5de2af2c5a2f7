/* host_apart.h - the calls whose recorded answers are not the emulator's, and why: a B200 is not an H200, cuda.h's text
 * is against the driver, or the emulator refuses by name. The first pattern that fits a case's name counts (fnmatch).
 */
#ifndef TESTS_SILICON_HOST_APART_H
#define TESTS_SILICON_HOST_APART_H

#include <fnmatch.h>
#include <stddef.h>

static const struct Apart {
    const char *cases, *why;
} APART[] = {
    /* the device */
    {"tensormap.tiled.type=13", "sm_90 has no packed types"},
    {"tensormap.tiled.type=14,*", "sm_90 has no packed types"},
    {"tensormap.tiled.type=15,*", "sm_90 has no packed types"},
    {"tensormap.tiled.swizzle=[456]", "sm_90 has no 128-byte swizzle with atoms of 32 and 64 bytes"},
    {"function.get.*.6", "the version of the machine code is the device's"},
    {"device.cuDeviceGetAttribute.14[89]", "device attributes of CUDA 13.1 and 13.3, newer than the driver"},
    {"device.cuDeviceGetAttribute.15?", "device attributes of CUDA 13.3 and 13.4, newer than the driver"},
    {"function.get.16", "a function attribute of CUDA 13.3, newer than the driver"},
    {"function.set.empty.16=0", "a function attribute of CUDA 13.3, newer than the driver"},
    {"config.attribute.1[78]", "launch attributes of CUDA 13.2, newer than the driver"},
    {"context.cu*Limit.6*", "persisting L2 cache is by the size of the L2; the emulator has none"},
    {"runtime.cudaDeviceGetLimit.6", "persisting L2 cache is by the size of the L2; the emulator has none"},
    /* the text */
    {"tensormap.tiled.interleave=2", "cuda.h: INTERLEAVE_32B needs SWIZZLE_32B"},
    {"tensormap.tiled.interleave=2,swizzle=[23]", "cuda.h: INTERLEAVE_32B needs SWIZZLE_32B"},
    {"tensormap.replace.16,interleave=2,*", "cuda.h: the new address must follow the encoder's requirements"},
    /* the emulator: what it refuses by name */
    {"tensormap.im2col.*", "im2col tensor maps are refused by name"},
    {"stream.cuEventCreate.flags=[67]", "events of several processes are refused by name"},
    {"runtime.cudaEventCreateWithFlags.[67]", "events of several processes are refused by name"},
    {"config.attribute.2_cooperative=[12]", "cooperative launches are refused by name"},
    {"config.config.cluster_and_cooperative", "cooperative launches are refused by name"},
    {"config.config.cooperative_too_large", "cooperative launches are refused by name"},
    {"config.cooperative*", "cuLaunchCooperativeKernel is refused by name"},
    {"config.attribute.7_*", "events of launches are refused by name"},
    {"config.attribute.12_*", "events of launches are refused by name"},
    /* the emulator: what it does otherwise */
    {"module.cuModuleLoadData.unknown_instruction", "what is unknown is refused by name where a thread comes to it"},
    {"module.cuModuleLoadData.wrong_type", "a wrong type is refused where a thread comes to it"},
    {"module.cuModuleLoadData.unresolved_call", "a call of nothing is refused where a thread comes to it"},
    {"module.cuModuleLoadData.version_1.0", "how old a text is does not matter"},
    {"module.cuModuleLoadData.version_9.9", "the PTX of newer toolkits is taken, as far as it is known"},
    {"module.cuLibraryLoadData.rubbish", "a library is loaded at once, by the driver when a kernel is asked for"},
    {"runtime.cudaLibraryLoadData.rubbish", "a library is loaded at once, by the driver when a kernel is asked for"},
    {"runtime.cudaLibraryLoadData.newer", "a library is loaded at once, by the driver when a kernel is asked for"},
    {"launch.parameters.extra_too_short", "a parameter without a value is an error"},
    {"fault.runtime.*.reset.cuda[MD]*", "cudaDeviceReset begins anew; the driver serves the process no more"},
    /* what the emulated device does not offer: textures and cooperative launches; pinning, page tables and pools of the
     * host's memory; exported memory and handles; 64-bit stream operations; compression */
    {"memory.cuPointerGetAttribute.device.1[05]", "not offered"},
    {"device.cuDeviceGetAttribute.44", "not offered"},
    {"device.cuDeviceGetAttribute.91", "not offered"},
    {"device.cuDeviceGetAttribute.9[569]", "not offered"},
    {"device.cuDeviceGetAttribute.10[237]", "not offered"},
    {"device.cuDeviceGetAttribute.11[02346789]", "not offered"},
    {"device.cuDeviceGetAttribute.12[1234589]", "not offered"},
    {"device.cuDeviceGetAttribute.14[1245]", "not offered"},
};

static inline const char *why_apart(const char *name) {
    for (size_t i = 0; i < sizeof APART / sizeof *APART; i++)
        if (fnmatch(APART[i].cases, name, 0) == 0)
            return APART[i].why;
    return NULL;
}

#endif
