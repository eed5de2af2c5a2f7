// nvcc's own choice of compression: the image is unpacked by the system's library, or the refusal names its
// package.
// NVCC: -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart shared
// EXPECT: ^(ran|.*libzstd|.*liblz4)
// EXIT: 0
#include <cstdio>
#include <cuda_runtime.h>

__global__ void nothing() {}

int main() {
    nothing<<<1, 1>>>();
    if (cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess)
        printf("ran\n");
    return 0;
}
