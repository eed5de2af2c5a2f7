// The runtime is linked statically: nothing can take its place.
// NVCC: -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart static --no-compress
// EXPECT: links the CUDA runtime statically
// EXPECT: -cudart shared
#include <cuda_runtime.h>

int main() { return cudaDeviceSynchronize() != cudaSuccess; }
