// main() returns while a kernel of another thread runs, which never ends.
// On the chip: the process ends, and the kernel with it.
// Rule: the end of a process waits for no kernel; only cudaDeviceSynchronize and its like wait.
//
// EXPECT: ^the kernel runs$
// NEVER: sm100emu:
// EXIT: 3
#include <thread>
#include <unistd.h>

#include "../../common/cuda_check.h"

__global__ void main_returns(int *flag) {
    *flag = 1;
    for (;;)
        __nanosleep(1000);
}

int main(void) {
    int *flag;
    CUDA_CHECK(cudaMallocManaged((void **)&flag, sizeof *flag));
    *flag = 0;
    std::thread([flag] { main_returns<<<1, 32>>>(flag); }).detach();
    while (*(volatile int *)flag == 0)
        usleep(1000);
    printf("the kernel runs\n");
    return 3;
}
