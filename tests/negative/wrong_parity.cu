// Mistake: the wait for the first phase names parity 1.
// On the chip: the wait falls through while the phase lasts, and never ends once it is complete. Here it is
// complete.
// Rule: the phases of an mbarrier have parity 0, 1, 0, ... from its initialisation on (PTX ISA 9.7.13.15.16).
//
// EXPECT: ^error: deadlock: warp 0 waits for parity 1 of bar of CTA \(0,0,0\), but has not seen phase 0 \[deadlock\]$
// EXPECT: CTA \(0,0,0\) warps 0-1 lanes 0xffffffff each waits for parity 1 of bar \(0x400\): phase 1 incomplete, 64 of 64 arrivals pending, tx-count 0
// EXPECT: at tests/negative/wrong_parity.cu:@WAIT@, in common/mbarrier.cuh:[0-9]+$
// EXPECT: --> common/mbarrier.cuh:[0-9]+ in wrong_parity$
// EXPECT: wrong_parity.cu:[0-9]+: cudaDeviceSynchronize\(\): cudaErrorLaunchTimeout
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

__global__ void wrong_parity(void) {
    __shared__ uint64_t bar;
    uint32_t b = smem_address(&bar);
    if (threadIdx.x == 0) {
        mbarrier_init(b, 64);
        fence_mbarrier_init();
    }
    __syncthreads();
    mbarrier_arrive(b);
    __syncthreads();
    mbarrier_wait(b, 1); // WAIT
}

int main(void) {
    wrong_parity<<<1, 64>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
