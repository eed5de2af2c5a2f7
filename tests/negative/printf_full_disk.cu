// Mistake: what the kernels print goes to a full disk.
// On the chip: the output is lost; here this is said, once.
//
// EXIT: 0
// EXPECT: ^sm100emu: cudaDeviceSynchronize: the kernels' printf output cannot be written to stdout: No space left on device$
// EXPECT: ^said once$
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

__global__ void printf_full_disk() { printf("thread %d\n", (int)threadIdx.x); }

int main() {
    if (dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO) < 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        printf_full_disk<<<1, 32>>>();
        if (cudaDeviceSynchronize() != cudaSuccess)
            return 1;
    }
    fprintf(stderr, "said once\n");
    return 0;
}
