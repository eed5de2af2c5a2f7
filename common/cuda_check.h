/* cuda_check.h - CUDA runtime calls that cannot fail unseen, and the question whether this GPU has tensor
 * memory. Host only. Every failure is one line on stderr and exit code 1.
 */
#ifndef COMMON_CUDA_CHECK_H
#define COMMON_CUDA_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs a runtime API call; on an error prints file:line, the call and what the runtime says, and exits
 * with 1. */
#define CUDA_CHECK(call) cuda_check_((call), #call, __FILE__, __LINE__)

static inline void cuda_check_(cudaError_t status, const char *call, const char *file, int line) {
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, cudaGetErrorName(status),
            cudaGetErrorString(status));
    exit(1);
}

/* After a <<<launch>>>: reports a launch that was refused, waits for the kernel, reports what stopped it. */
#define CUDA_CHECK_LAUNCH()                                                                                  \
    do {                                                                                                     \
        CUDA_CHECK(cudaGetLastError());                                                                      \
        CUDA_CHECK(cudaDeviceSynchronize());                                                                 \
    } while (0)

/* The properties of device 0, which must be of compute capability 10.x: tcgen05 for the sm_100 family exists
 * on B200 and GB200 (10.0) and on B300 and GB300 (10.3), and nowhere else. */
static inline struct cudaDeviceProp cuda_require_sm100(void) {
    struct cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    if (prop.major == 10)
        return prop;
    fprintf(stderr,
            "device 0 (%s) has compute capability %d.%d; tensor memory needs 10.0 or 10.3 (B200, B300). The "
            "emulator runs this program too.\n",
            prop.name, prop.major, prop.minor);
    exit(1);
}

#endif
