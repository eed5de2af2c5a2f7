// Mistake: the CTA that would store the flag waits at an mbarrier that nobody arrives at.
// On the chip: the grid hangs.
// Rule: who polls for a store waits for what its writer waits for. The report begins there, and names the poll below.
//
// EMU: --check=off
// EXPECT: ^error: deadlock: phase 0 of ready of CTA \(0,0,0\) lacks 1 of 1 arrivals: nobody has ever arrived \[deadlock\]$
// EXPECT: from: .*poll_behind_wait.cu:@WAIT@
// EXPECT: ^  CTA \(0,0,0\) warp 0 lanes 0x00000001 waits for parity 0 of ready
// EXPECT: ^  CTA \(1,0,0\) warp 0 lanes 0x00000001 polls 0x[0-9a-f]+ until it is not 0, and it stays 0$
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

__global__ void poll_behind_wait(unsigned *flag) {
    __shared__ uint64_t ready;
    volatile unsigned *f = flag;
    if (threadIdx.x != 0)
        return;
    mbarrier_init(smem_address(&ready), 1);
    fence_mbarrier_init();
    if (blockIdx.x == 0) {
        mbarrier_wait(smem_address(&ready), 0); // WAIT
        __threadfence();
        *f = 1;
    } else {
        while (*f == 0)
            ;
        __threadfence();
    }
}

int main(void) {
    unsigned *flag;
    CUDA_CHECK(cudaMalloc((void **)&flag, sizeof *flag));
    CUDA_CHECK(cudaMemset(flag, 0, sizeof *flag));
    poll_behind_wait<<<2, 32>>>(flag);
    CUDA_CHECK_LAUNCH();
    return 0;
}
