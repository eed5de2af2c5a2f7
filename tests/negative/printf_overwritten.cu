// Mistake: the threads of a warp print at once more than the device's buffer holds.
// On the chip: the buffer is circular, and the oldest output is lost.
// Rule: the buffer has a fixed size (CUDA C++ Programming Guide, Formatted Output, Limitations).
//
// EXIT: 3
// EXPECT: ^warning: output is lost: more than the 1048576 bytes of the buffer wait for it +\[printf-overwritten\]$
// EXPECT: printf_overwritten.cu:@CALL@ in printf_overwritten
// EXPECT: ^31: b+$
// NEVER: ^0: b
#include <cstdio>

__global__ void printf_overwritten(const char *s) {
    printf("%d: %s\n", (int)threadIdx.x, s); // CALL
}

int main() {
    char *s;
    const size_t n = 60000;
    if (cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20) != cudaSuccess || cudaMalloc(&s, n + 1) != cudaSuccess)
        return 1;
    cudaMemset(s, 'b', n);
    cudaMemset(s + n, 0, 1);
    printf_overwritten<<<1, 32>>>(s);
    return cudaDeviceSynchronize() != cudaSuccess;
}
