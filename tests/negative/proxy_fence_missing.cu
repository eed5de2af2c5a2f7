// Mistake: no fence.proxy.async between the stores to shared memory and the tensor core that reads them.
// On the chip: mostly the stores have arrived; sometimes the tensor core reads older bytes. So the emulator
// warns and goes on.
// Rule: a store through the generic proxy is ordered before a read through the async proxy by a proxy fence
// only
// (PTX ISA 9.7.16.6.5).
//
// EXPECT: ^warning: operand A of tcgen05.mma reads shared offset 0x[0-9a-f]+, and nothing orders it after a store \[missing-proxy-fence\]$
// EXPECT: proxy_fence_missing.cu:@STORE@ in proxy_fence_missing$
// EXPECT: hint: Add fence.proxy.async.* in every thread that stored
// EXPECT: ^PASS$
// EXIT: 3
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"

__global__ void proxy_fence_missing(void) {
    __shared__ alignas(1024) uint4 a[256], b[32]; // 128 and 16 rows of 16 f16
    __shared__ uint64_t done;
    __shared__ uint32_t base;
    for (int i = threadIdx.x; i < 256; i += 128) {
        a[i] = make_uint4(0, 0, 0, 0); // STORE
        if (i < 32)
            b[i] = make_uint4(0, 0, 0, 0);
    }
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&done), 1);
        fence_mbarrier_init();
    }
    if (warp_index() == 0)
        tmem_alloc(smem_address(&base), 32);
    __syncthreads();
    if (threadIdx.x == 0) {
        umma_f16_ss(base, umma_smem_desc_packed(smem_address(a), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 128),
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
    proxy_fence_missing<<<1, 128>>>();
    CUDA_CHECK_LAUNCH();
    puts("PASS");
    return 0;
}
