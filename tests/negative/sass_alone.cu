// The fat binary has code for the chip and no PTX.
// NVCC: -gencode arch=compute_100f,code=sm_100f -cudart shared --no-compress
// EXPECT: carries machine code \(SASS\) alone and no PTX
// EXPECT: compute_100f
#include <cuda_runtime.h>

__global__ void nothing() {}

int main() {
    nothing<<<1, 1>>>();
    return cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
}
