// Mistake: nobody waits for the commit of the UMMAs; barriers of the threads are all that lies between them and the
// deallocation.
// On the chip: UMMAs write columns that belong to another CTA by then, or nothing is wrong as they were fast enough.
// Rule: tcgen05.mma is asynchronous; that it is over is known from the mbarrier that tcgen05.commit names (PTX
// ISA 9.7.16.6.4.1, 9.7.16.12.1).
//
// EXPECT: ^error: accumulator D covers columns 0 to 15, which are not all allocated to this CTA +\[tcgen05-tmem-unallocated\]$
// EXPECT: from: .*umma_wait_missing.cu:@MMA@
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"

__global__ void umma_wait_missing(void) {
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
    for (int k = 0; threadIdx.x == 0 && k < 4; k++)
        umma_f16_ss(base, umma_smem_desc_packed(smem_address(a), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 128), // MMA
                    umma_smem_desc_packed(smem_address(b), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 16),
                    umma_idesc(128, 16, UMMA_D_F32, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_K), k > 0);
    if (threadIdx.x == 0)
        umma_commit(smem_address(&done));
    __syncthreads(); // mbarrier_wait(smem_address(&done), 0) is missing
    __syncthreads(); // time for one UMMA here, not for four
    if (warp_index() == 0)
        tmem_dealloc(base, 32);
}

int main(void) {
    umma_wait_missing<<<1, 64>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
