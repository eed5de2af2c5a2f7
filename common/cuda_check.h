/* cuda_check.h - CUDA runtime calls that cannot fail unseen, and the question whether this GPU has tensor memory. Host
 * only. Every failure is one line on stderr and exit code 1.
 */
#ifndef COMMON_CUDA_CHECK_H
#define COMMON_CUDA_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs a runtime API call; on an error prints file:line, the call and what the runtime says, and exits with 1. */
#define CUDA_CHECK(call) cuda_check_((call), #call, __FILE__, __LINE__)

static inline void cuda_check_(cudaError_t status, const char *call, const char *file, int line) {
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s: %s (%s)\n", file, line, call, cudaGetErrorName(status), cudaGetErrorString(status));
    exit(1);
}

/* After a <<<launch>>>: reports a launch that was refused, waits for the kernel, reports what stopped it. */
#define CUDA_CHECK_LAUNCH()                                                                                            \
    do {                                                                                                               \
        CUDA_CHECK(cudaGetLastError());                                                                                \
        CUDA_CHECK(cudaDeviceSynchronize());                                                                           \
    } while (0)

/* The properties of device 0, which must be of compute capability 10.x: tcgen05 for the sm_100 family exists on B200
 * and GB200 (10.0) and on B300 and GB300 (10.3), and nowhere else. */
static inline struct cudaDeviceProp cuda_require_sm100(void) {
    struct cudaDeviceProp prop;
    cudaError_t status = cudaGetDeviceProperties(&prop, 0);
    if (status == cudaSuccess && prop.major == 10)
        return prop;
    if (status == cudaSuccess)
        fprintf(stderr, "device 0 (%s) has compute capability %d.%d", prop.name, prop.major, prop.minor);
    else
        fprintf(stderr, "no GPU that the runtime can use (%s)", cudaGetErrorName(status));
    fprintf(stderr, "; tensor memory needs compute capability 10.0 or 10.3, a B200 or B300. "
                    "The emulator runs this program, too: make run-NN BACKEND=emulator, or sm100emu PROGRAM\n");
    exit(1);
}

#endif
