// Mistakes of the host: launches that no device could run, and a copy that runs over the end of its buffer.
// On the chip: the same error codes, without the reasons.
// Rule: each refused call returns its cudaError_t and says why in one line; the device goes on.
//
// EXPECT: ^sm100emu: cudaLaunchKernel[A-Za-z]*: .*api_errors.*: a CTA of 2048 x 1 x 1 threads; the limits are 1024 x 1024 x 64
// EXPECT: ^2048 threads: (cudaErrorInvalidValue|cudaErrorInvalidConfiguration)$
// EXPECT: ^sm100emu: cudaLaunchKernel[A-Za-z]*: .*65536 bytes of dynamic shared memory .*cudaFuncAttributeMaxDynamicSharedMemorySize
// EXPECT: ^64 KB: cudaErrorInvalidValue$
// EXPECT: ^sm100emu: cudaFuncSetAttribute: .*262144
// EXPECT: ^256 KB: cudaErrorInvalidValue$
// EXPECT: ^sm100emu: cudaMemcpy: .*256
// EXPECT: ^copy past the end: cudaErrorInvalidValue$
// EXPECT: ^sm100emu: cudaFree:
// EXPECT: ^free of no allocation: cudaErrorInvalidValue$
// EXPECT: ^last launch: cudaSuccess$
// EXIT: 0
#include "../../common/cuda_check.h"

__global__ void api_errors(int *out) {
    extern __shared__ int scratch[];
    scratch[threadIdx.x] = 1;
    out[threadIdx.x] = scratch[threadIdx.x];
}

static void show(const char *what, cudaError_t status) {
    printf("%s: %s\n", what, cudaGetErrorName(status));
    fflush(stdout);
}

int main(void) {
    int *buffer, host[64] = {0};
    CUDA_CHECK(cudaMalloc((void **)&buffer, 128));
    api_errors<<<1, 2048, 4096>>>(buffer);
    show("2048 threads", cudaGetLastError());
    api_errors<<<1, 32, 65536>>>(buffer);
    show("64 KB", cudaGetLastError());
    show("256 KB", cudaFuncSetAttribute((const void *)api_errors, cudaFuncAttributeMaxDynamicSharedMemorySize, 262144));
    show("copy past the end", cudaMemcpy(buffer, host, sizeof host, cudaMemcpyHostToDevice));
    show("free of no allocation", cudaFree(buffer + 1));
    cudaGetLastError();
    api_errors<<<1, 32, 128>>>(buffer);
    show("last launch", cudaDeviceSynchronize());
    return 0;
}
