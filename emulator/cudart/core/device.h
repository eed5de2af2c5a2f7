/* The emulated device as the APIs describe it: a B200. Pure functions of the machine's configuration.
 *
 * Sources. Per-SM limits: CUDA C++ Programming Guide, technical specifications of compute capability 10.0, and
 * machine/machine.c. SM count, L2 size (126 MB), clocks and memory bus: public deviceQuery and nvidia-smi output of
 * B200. Texture and surface limits and feature flags: cudaDeviceGetAttribute of an H200 (driver 580), which the
 * programming guide does not tell apart from 10.0.
 */
#ifndef CUDART_CORE_DEVICE_H
#define CUDART_CORE_DEVICE_H

#include "cudart/core/abi.h"
#include "machine/machine.h"

#include <stdbool.h>

#define RT_DEVICE_NAME "Emulated NVIDIA B200 (sm100emu)"
#define RT_DEVICE_L2_BYTES (126 * 1024 * 1024)
#define RT_DEVICE_SMEM_DEFAULT (48 * 1024) /* a CTA's shared memory without the opt-in attribute */
#define RT_DEVICE_SMEM_OPTIN (227 * 1024)  /* with it */
#define RT_DEVICE_MAX_THREADS 1024         /* of a CTA */
#define RT_DEVICE_DOMAINS 4                /* memory synchronisation domains: device attribute 126 */
#define RT_DEVICE_PORTABLE_CLUSTER 8       /* CTAs; up to MACH_MAX_CLUSTER with the non-portable attribute */

/* cudaDeviceAttr and CUdevice_attribute share their numbers. False for a number that neither knows. */
bool rt_device_attribute(int attribute, int *value);
/* Fills both layouts of cudaDeviceProp. `memory` is the capacity of device memory in bytes. */
void rt_device_prop_12(struct rt_prop_12 *p, uint64_t memory);
void rt_device_prop_13(struct rt_prop_13 *p, uint64_t memory);
/* cudaDeviceGetLimit's answers before any cudaDeviceSetLimit (RT_LIMIT_COUNT of them). */
void rt_device_default_limits(size_t *limits);

#endif
