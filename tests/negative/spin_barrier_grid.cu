// Mistake: a barrier over the whole grid, by a counter in global memory, and more CTAs than can be resident.
// On the chip: the grid hangs. Those that are resident poll for ever, and none leaves room for the others.
// Rule: CTAs that wait for one another must all be resident at once. The report needs neither --timeout nor --watchdog:
// no warp changes anything any more, and each comes back to the very registers that it had.
//
// EXPECT: ^error: deadlock: warp 0 of CTA \(0,0,0\) polls 0x[0-9a-f]+ until it is 400 or more, and it stays 148: 252 CTAs of the grid cannot start \[deadlock\]$
// EXPECT: --> tests/negative/spin_barrier_grid.cu:@POLL@ in spin_barrier_grid$
// EXPECT: hint: Launch no more CTAs than can be resident at once
// EXPECT: ^  0x[0-9a-f]+: CTA \(147,0,0\) warp 0 wrote it last$
// EXPECT: ^  148 CTAs from \(0,0,0\) to \(147,0,0\) warp 0 lanes 0x00000001 polls 0x[0-9a-f]+ until it is 400 or more
// EXPECT: spin_barrier_grid.cu:[0-9]+: cudaDeviceSynchronize\(\): cudaErrorLaunchTimeout
#include "../../common/cuda_check.h"

__global__ void spin_barrier_grid(unsigned *count) {
    extern __shared__ unsigned char room[]; // as much as one CTA for each SM
    room[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < gridDim.x) // POLL
            ;
        __threadfence();
    }
    __syncthreads();
}

int main(void) {
    const int bytes = 200 * 1024;
    unsigned *count;
    CUDA_CHECK(cudaMalloc((void **)&count, sizeof *count));
    CUDA_CHECK(cudaMemset(count, 0, sizeof *count));
    CUDA_CHECK(cudaFuncSetAttribute(spin_barrier_grid, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    spin_barrier_grid<<<400, 64, bytes>>>(count);
    CUDA_CHECK_LAUNCH();
    return 0;
}
