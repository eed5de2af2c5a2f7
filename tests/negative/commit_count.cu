// Mistake: `free` waits for the commits of all 16 CTAs of the cluster; 7 share a tile with this one and commit to it: 4
// in its row, 4 in its column, itself counted twice.
// On the chip: the grid hangs.
// Rule: the count of mbarrier.init is the number of arrivals of each phase (PTX ISA 9.7.13.15.2).
//
// EXPECT: ^error: deadlock: phase 0 of free of CTA \(0,0,0\) lacks 9 of 16 arrivals +\[deadlock\]$
// EXPECT: from: .*commit_count.cu:@WAIT@
// EXPECT: 16 CTAs from \(0,0,0\) to \(3,3,0\) warp 0 lanes 0x00000001 waits for parity 0 of free \(0x[0-9a-f]+\): phase 0 incomplete, 9 of 16 arrivals pending, tx-count 0
// EXPECT: hint: .*counts more arrivals than come in a phase
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/umma.cuh"

__global__ void __cluster_dims__(4, 4, 1) commit_count(void) {
    __shared__ uint64_t free;
    const uint32_t x = cluster_rank() % 4, y = cluster_rank() / 4;
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&free), 16); // 7
        fence_mbarrier_init();
    }
    __syncwarp();
    cluster_sync();
    if (threadIdx.x == 0) {
        umma_commit_multicast(smem_address(&free), 0x1111 << x | 0x000f << 4 * y);
        mbarrier_wait_cluster(smem_address(&free), 0); // WAIT
    }
    __syncwarp();
    cluster_sync();
}

int main(void) {
    CUDA_CHECK(cudaFuncSetAttribute((const void *)commit_count, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    commit_count<<<dim3(4, 4), 32>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
