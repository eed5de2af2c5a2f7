// Mistake: elect.sync with a full membermask in a branch that half of the warp takes. The others wait for what the
// elected lane would tell.
// On the chip: the CTA hangs.
// Rule: a .sync instruction waits until all threads of its membermask execute it (PTX ISA 9.7.13.14). The report begins
// with that one, not with those who wait for it.
//
// EMU: --check=off
// EXPECT: ^error: deadlock: warp 1 of CTA \(0,0,0\) waits in elect.sync for lanes 0xffff0000, which never come \[deadlock\]$
// EXPECT: from: .*elect_apart.cu:@ELECT@
// EXPECT: hint: Name only the threads that take this branch
// EXPECT: ^  CTA \(0,0,0\) warp 1 lanes 0x0000ffff waits for the lanes 0xffff0000 of its warp$
// EXPECT: ^  CTA \(0,0,0\) warp 1 lanes 0xffff0000 waits for parity 0 of full
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

__global__ void elect_apart(void) {
    __shared__ uint64_t full;
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&full), 1);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (warp == 1 && lane < 16) {
        if (elect_one()) // ELECT
            mbarrier_arrive(smem_address(&full));
    } else {
        mbarrier_wait(smem_address(&full), 0);
    }
}

int main(void) {
    elect_apart<<<1, 64>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
