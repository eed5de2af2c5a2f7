// The only PTX is generic. A kernel without tcgen05 runs from it, and a note says why one with it would not.
// NVCC: -gencode arch=compute_100,code=compute_100 -cudart shared --no-compress
// EXPECT: note: the program carries only generic PTX \(sm_100\), which has no tcgen05
// EXPECT: compute_100f
// EXIT: 0
#include <cuda_runtime.h>

__global__ void nothing() {}

int main() {
    nothing<<<1, 1>>>();
    return cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
}
