// Mistake: the thread that issues tcgen05.cp does not commit it; all others wait for the commit's arrival.
// On the chip: the grid hangs.
// Rule: tcgen05.commit makes an mbarrier track the operations before it; they tell nobody by themselves (PTX
// ISA 9.7.16.12.1).
//
// EXPECT: ^error: deadlock: phase 0 of done of CTA \(0,0,0\) lacks 1 of 1 arrivals: nobody has ever arrived \[deadlock\]$
// EXPECT: warp 0 lanes 0xffffffff waits for parity 0 of done \(0x[0-9a-f]+\): phase 0 incomplete, 1 of 1 arrivals pending, tx-count 0
// EXPECT: warp 1 lanes 0xffffffff waits at barrier 0: 32 of 64 threads have arrived
// EXPECT: at tests/negative/commit_missing.cu:@WAIT@, in common/mbarrier.cuh:[0-9]+$
// EXPECT: at tests/negative/commit_missing.cu:@BARRIER@$
// EXPECT: hint: Add the arrive or the tcgen05.commit for it
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tmem.cuh"

__global__ void commit_missing(void) {
    __shared__ alignas(1024) uint4 tile[128]; // 128 rows of 16 bytes
    __shared__ uint64_t done;
    __shared__ uint32_t base;
    for (int row = threadIdx.x; row < 128; row += 64)
        tile[row] = make_uint4(row, 0, 0, 0);
    fence_proxy_async_shared();
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&done), 1);
        fence_mbarrier_init();
    }
    if (warp_index() == 0)
        tmem_alloc(smem_address(&base), 32);
    __syncthreads();
    if (threadIdx.x == 0)
        tmem_cp_128x128b(base, umma_smem_desc(smem_address(tile), 16, 128, UMMA_SWIZZLE_NONE));
    if (warp_index() == 0)
        mbarrier_wait(smem_address(&done), 0); // WAIT
    __syncthreads();                           // BARRIER
    if (warp_index() == 0)
        tmem_dealloc(base, 32);
}

int main(void) {
    commit_missing<<<1, 64>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
