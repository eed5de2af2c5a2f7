// Mistake: one printf() of more than the device's buffer holds: eight times a string of 200,000 characters, with a
// buffer of 1 MiB.
// On the chip: nothing of it appears, and printf() returns -1 (an H100).
// Rule: the buffer has a fixed size (CUDA C++ Programming Guide, Formatted Output, Limitations).
//
// EXIT: 3
// EXPECT: ^warning: lane 0's call prints more than the 1048576 bytes of the buffer
// EXPECT: \[printf-too-long\]$
// EXPECT: printf_too_long.cu:@CALL@ in printf_too_long
// EXPECT: ^returned -1$
// EXPECT: ^aaaaaaaa.*a$
// EXPECT: ^short: 1$
// NEVER: aaaa:
#include <cstdio>

__global__ void printf_too_long(const char *s) {
    int n = printf("%s%s%s%s%s%s%s%s:\n", s, s, s, s, s, s, s, s); // CALL
    printf("returned %d\n", n);
    n = printf("%s\n", s);
    printf("short: %d\n", n);
}

int main() {
    char *s;
    const size_t n = 200000;
    if (cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20) != cudaSuccess || cudaMalloc(&s, n + 1) != cudaSuccess)
        return 1;
    cudaMemset(s, 'a', n);
    cudaMemset(s + n, 0, 1);
    printf_too_long<<<1, 1>>>(s);
    return cudaDeviceSynchronize() != cudaSuccess;
}
