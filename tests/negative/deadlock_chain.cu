// Mistake: the consumer never says that a stage is free. The filler waits for stage 0, the consumer for what the filler
// would bring, everybody else at the barrier for these two.
// On the chip: the grid hangs.
// Rule: every wait needs somebody who completes it. The report begins with the one who waits for nothing that another
// would do, and calls its barrier as the source does: shared_storage is a structure in dynamic memory.
//
// EMU: --check=off
// EXPECT: ^error: deadlock: phase 0 of empty\[0\] of CTA \(0,0,0\) lacks 1 of 1 arrivals: nobody has ever arrived \[deadlock\]$
// EXPECT: from: .*deadlock_chain.cu:@FILL@
// EXPECT: hint: Add the arrive or the tcgen05.commit for it
// EXPECT: ^  2 CTAs from \(0,0,0\) to \(1,0,0\) warp 0 lanes 0x00000001 waits for parity 1 of full\[0\] \(0x[0-9a-f]+\): phase 1 incomplete
// EXPECT: ^  2 CTAs from \(0,0,0\) to \(1,0,0\) warp 1 lanes 0x00000001 waits for parity 0 of empty\[0\] \(0x[0-9a-f]+\): phase 0 incomplete
// EXPECT: ^  2 CTAs from \(0,0,0\) to \(1,0,0\) warps 2-3 lanes 0xffffffff each waits at barrier 0
// EXPECT: ^  ... and 2 more groups of warps that wait; --verbose lists all$
// EXPECT: ^  A GPU hangs here\. The launch ends with cudaErrorLaunchTimeout
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

enum { STAGES = 2, ROUNDS = 8 };

struct shared_storage {
    uint64_t full[STAGES], empty[STAGES];
};

__global__ void deadlock_chain(void) {
    extern __shared__ __align__(16) unsigned char storage[];
    struct shared_storage *s = (struct shared_storage *)storage;
    const uint32_t warp = threadIdx.x / 32, first = threadIdx.x % 32 == 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(smem_address(&s->full[i]), 1);
            mbarrier_init(smem_address(&s->empty[i]), 1);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    for (uint32_t i = 0; warp == 1 && first && i < ROUNDS; i++) {
        mbarrier_wait(smem_address(&s->empty[i % STAGES]), (i / STAGES & 1) ^ 1); // FILL
        mbarrier_arrive(smem_address(&s->full[i % STAGES]));
    }
    for (uint32_t i = 0; warp == 0 && first && i < ROUNDS; i++)
        mbarrier_wait(smem_address(&s->full[i % STAGES]), i / STAGES & 1); // and mbarrier_arrive(empty) is missing
    __syncthreads();
}

int main(void) {
    deadlock_chain<<<2, 128, sizeof(struct shared_storage)>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
