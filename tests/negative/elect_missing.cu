// Mistake: elect.sync is missing, so that all 32 threads of the warp issue the UMMA and its commit.
// On the chip: 32 UMMAs, in an order that nobody knows, and 32 phases of `done`, which the CTA does not wait for.
// Rule: each thread that executes them issues its own operations (PTX ISA 9.7.16.5, Table 46). The report is about
// that, not about the arrivals that come after the CTA has exited.
//
// EMU: --schedule=lazy
// EXPECT: ^warning: 32 threads of a warp each issue this tcgen05\.mma on D at 0x0 +\[tcgen05-many-threads\]$
// EXPECT: from: .*elect_missing.cu:@MMA@
// EXPECT: hint: Choose one thread by elect.sync, and let only this thread branch
// EXPECT: \[mbarrier-cta-exited\]$
// EXPECT: hint: Let a warp of the CTA wait for this mbarrier's phase before it exits
// EXPECT: note: the warning \[tcgen05-many-threads\] came before; this may follow from it
// NEVER: barrier.cluster.arrive
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"

__global__ void elect_missing(void) {
    __shared__ alignas(1024) uint4 a[256], b[32]; // rows of 16 f16
    __shared__ uint64_t done;
    __shared__ uint32_t base;
    for (int i = threadIdx.x; i < 256; i += 64)
        a[i] = b[i % 32] = make_uint4(0, 0, 0, 0);
    fence_proxy_async_shared();
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&done), 1);
        fence_mbarrier_init();
    }
    if (warp_index() == 0)
        tmem_alloc(smem_address(&base), 32);
    __syncthreads();
    if (warp_index() == 0) { // && elect_one() is missing
        umma_f16_ss(base, umma_smem_desc_packed(smem_address(a), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 128), // MMA
                    umma_smem_desc_packed(smem_address(b), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 16),
                    umma_idesc(128, 16, UMMA_D_F32, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_K), 0);
        umma_commit(smem_address(&done));
    }
    mbarrier_wait(smem_address(&done), 0);
    __syncthreads();
    if (warp_index() == 0)
        tmem_dealloc(base, 32);
}

int main(void) {
    elect_missing<<<1, 64>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
