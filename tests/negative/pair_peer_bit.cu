// Mistake: the odd CTA of a pair names its own mbarrier in the copy, where the leader's belongs: bit 24 of the address
// is not cleared. Its bytes are reported where nobody waits for them.
// On the chip: the grid hangs.
// Rule: the parity of the CTA that the mbarrier's address names decides which CTA of the pair hears of the bytes (PTX
// ISA 9.7.9.27.1.2, .cta_group::2).
//
// EXPECT: ^error: deadlock: full of CTA \(0,0,0\) lacks 16384 of 32768 bytes; CTA \(1,0,0\) got 16384 unannounced \[deadlock\]$
// EXPECT: from: .*pair_peer_bit.cu:@WAIT@
// EXPECT: CTA \(0,0,0\) warp 0 lanes 0x00000001 waits for parity 0 of full \(0x[0-9a-f]+\): phase 0 incomplete, 0 of 1 arrivals pending, tx-count 16384
// EXPECT: hint: .*The other CTA's copies signalled its own mbarrier: a copy signals the mbarrier of the CTA that its address names
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tensor_map.h"
#include "../../common/tma.cuh"

enum { ROWS = 128, COLUMNS = 64, BYTES = ROWS * 128 }; // one box: 64 f16 are 128 bytes

__global__ void __cluster_dims__(2, 1, 1) pair_peer_bit(const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(1024) unsigned char tile[BYTES];
    __shared__ uint64_t full;
    const uint32_t here = smem_address(&full);
    if (threadIdx.x == 0) {
        mbarrier_init(here, 1);
        fence_mbarrier_init();
    }
    __syncwarp();
    cluster_sync();
    if (threadIdx.x == 0) {
        tma_load_2d_multicast_pair(smem_address(tile), &map, 0, cluster_rank() * ROWS,
                                   here, // pair_leader_address(here)
                                   1 << cluster_rank());
        if (cluster_rank() == 0) {
            mbarrier_arrive_expect_tx(here, 2 * BYTES);
            mbarrier_wait_cluster(here, 0); // WAIT
        }
    }
    __syncwarp();
    cluster_sync();
}

int main(void) {
    void *matrix;
    CUDA_CHECK(cudaMalloc(&matrix, 2 * BYTES));
    CUDA_CHECK(cudaMemset(matrix, 0, 2 * BYTES));
    pair_peer_bit<<<2, 32>>>(tensor_map_2d(matrix, ELEM_F16, 2 * ROWS, COLUMNS, ROWS));
    CUDA_CHECK_LAUNCH();
    return 0;
}
