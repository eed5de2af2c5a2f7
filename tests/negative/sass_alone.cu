// The fat binary has code for another chip and no PTX. Code for sm_100 would carry it: all is built with -lineinfo.
// NVCC: -gencode arch=compute_103a,code=sm_103a -cudart shared --no-compress
// EXPECT: carries only machine code \(SASS\) and no PTX
// EXPECT: compute_100f
#include <cuda_runtime.h>

__global__ void nothing() {}

int main() {
    nothing<<<1, 1>>>();
    return cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
}
