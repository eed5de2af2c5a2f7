// Mistake: the loop waits for parity 0 of `full` every time. The second wait returns at once, since that phase is over,
// and reads while the copy is under way.
// On the chip: the tile before, the new one, or some of each; no error.
// Rule: the phases of an mbarrier have parity 0, 1, 0, ...: the waiter flips it (PTX ISA 9.7.13.15.16).
//
// EXPECT: ^error: matrix [AB], row 0, k 0 to 7: shared offset 0x[0-9a-f]+ is still being written \[tcgen05-smem-in-flight\]$
// EXPECT: from: .*phase_not_flipped.cu:@MMA@
// EXPECT: and: cp.async.bulk to shared memory, which writes it$
// EXPECT: hint: Wait for the copy's mbarrier, with the right parity
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"

enum { A_BYTES = 128 * 32, B_BYTES = 16 * 32 }; // rows of 16 f16

static __device__ void load(uint32_t to, const void *from, uint32_t bytes, uint32_t bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}

__global__ void phase_not_flipped(const void *tiles) {
    __shared__ alignas(1024) unsigned char a[A_BYTES], b[B_BYTES];
    __shared__ uint64_t full, done;
    __shared__ uint32_t base;
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&full), 1);
        mbarrier_init(smem_address(&done), 1);
        fence_mbarrier_init();
    }
    __syncwarp();
    tmem_alloc(smem_address(&base), 32);
    __syncthreads();
    for (int k = 0; threadIdx.x == 0 && k < 4; k++) {
        mbarrier_arrive_expect_tx(smem_address(&full), A_BYTES + B_BYTES);
        load(smem_address(a), tiles, A_BYTES, smem_address(&full));
        load(smem_address(b), tiles, B_BYTES, smem_address(&full));
        mbarrier_wait(smem_address(&full), 0); // k & 1
        tcgen05_fence_after();
        umma_f16_ss(base, umma_smem_desc_packed(smem_address(a), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 128), // MMA
                    umma_smem_desc_packed(smem_address(b), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 16),
                    umma_idesc(128, 16, UMMA_D_F32, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_K), k > 0);
        umma_commit(smem_address(&done));
        mbarrier_wait(smem_address(&done), k & 1);
    }
    __syncwarp();
    tmem_dealloc(base, 32);
}

int main(void) {
    void *tiles;
    CUDA_CHECK(cudaMalloc(&tiles, A_BYTES));
    CUDA_CHECK(cudaMemset(tiles, 0, A_BYTES));
    phase_not_flipped<<<1, 32>>>(tiles);
    CUDA_CHECK_LAUNCH();
    return 0;
}
