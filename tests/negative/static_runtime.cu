// The runtime is linked statically and the program stripped: nothing tells where the runtime's functions are.
// NVCC: -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart static --no-compress -Xlinker -s
// EXPECT: links the CUDA runtime statically and was stripped
// EXPECT: NVCC_APPEND_FLAGS='-cudart shared', or link it again without -s
#include <cuda_runtime.h>

int main() { return cudaDeviceSynchronize() != cudaSuccess; }
