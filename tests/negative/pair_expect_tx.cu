// Mistake: the leader of a pair expects the bytes of its own tile. Both CTAs' tiles are reported to it, so the first
// half to come, anybody's, ends the wait.
// On the chip: now and then the UMMA multiplies what has not come yet; no error. So the emulator warns, whatever
// came first; --schedule=lazy makes the UMMA come first.
// Rule: the leader of a pair expects the bytes of both (PTX ISA 9.7.9.27.1.2, .cta_group::2; 9.7.13.15.5).
//
// EXPECT: ^warning: no expect_tx announced 16384 bytes on mbarrier 0x4400 of CTA \(0,0,0\), rank 0 +\[mbarrier-bytes-unannounced\]$
// EXPECT: hint: Let expect_tx announce all bytes of the phase, also those that other CTAs send \(of a CTA pair: both halves
// EXIT: 3
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tensor_map.h"
#include "../../common/tma.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"

enum { ROWS = 128, COLUMNS = 64, BYTES = ROWS * 128 }; // A and B of one CTA are one box; 64 f16 are 128 bytes

/* Each CTA brings its rows of the matrix, which are its half of both A and B. */
__global__ void __cluster_dims__(2, 1, 1) pair_expect_tx(const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(1024) unsigned char tile[BYTES];
    __shared__ uint64_t full, done;
    __shared__ uint32_t base;
    const uint32_t here = smem_address(&full);
    if (threadIdx.x == 0) {
        mbarrier_init(here, 1);
        mbarrier_init(smem_address(&done), 1);
        fence_mbarrier_init();
    }
    __syncwarp();
    cluster_sync();
    tmem_pair_alloc(smem_address(&base), 256);
    cluster_sync();
    if (threadIdx.x == 0) {
        tma_load_2d_multicast_pair(smem_address(tile), &map, 0, cluster_rank() * ROWS, pair_leader_address(here),
                                   1 << cluster_rank());
        if (cluster_rank() == 0) {
            mbarrier_arrive_expect_tx(here, BYTES); // 2 * BYTES
            mbarrier_wait_cluster(here, 0);
            tcgen05_fence_after();
            const uint64_t desc = umma_smem_desc_packed(smem_address(tile), UMMA_MAJOR_K, UMMA_SWIZZLE_128B, ROWS);
            umma_pair_ss(UMMA_KIND_F16, base, desc, desc,
                         umma_idesc(256, 256, UMMA_D_F32, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_K), 0);
            umma_pair_commit_multicast(smem_address(&done), 3);
        }
        mbarrier_wait_cluster(smem_address(&done), 0);
    }
    __syncwarp();
    cluster_sync();
    tmem_pair_dealloc(base, 256);
}

int main(void) {
    void *matrix;
    CUDA_CHECK(cudaMalloc(&matrix, 2 * BYTES));
    CUDA_CHECK(cudaMemset(matrix, 0, 2 * BYTES));
    pair_expect_tx<<<2, 32>>>(tensor_map_2d(matrix, ELEM_F16, 2 * ROWS, COLUMNS, ROWS));
    CUDA_CHECK_LAUNCH();
    return 0;
}
