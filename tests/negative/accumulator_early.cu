// Mistake: the accumulator is read without a wait for the commit of the UMMAs.
// On the chip: what was there before, or some of the sum.
// Rule: that a tcgen05.mma is over is known from the mbarrier that tcgen05.commit names (PTX ISA 9.7.16.6.4.3).
//
// EMU: --schedule=lazy
// EXPECT: ^error: 32 of 32 lanes store a value to global memory that was never written +\[uninitialised-global-store\]$
// EXPECT: --> tests/negative/accumulator_early.cu:@STORE@
// EXPECT: ^  and: tcgen05.ld read tensor memory that nothing had written yet, while tcgen05.mma, issued at .*accumulator_early.cu:@MMA@.*, was under way$
// EXPECT: from: .*accumulator_early.cu:@LOAD@
// EXPECT: hint: Wait for the mbarrier that tcgen05.commit names
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"

__global__ void accumulator_early(float *out) {
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
    uint32_t bits[32];
    if (warp_index() == 0) { // an earlier use of these columns
        tmem_ld_32x32b_x32(bits, base);
        tmem_wait_ld();
    }
    __syncthreads();
    for (int k = 0; threadIdx.x == 0 && k < 4; k++)
        umma_f16_ss(base, umma_smem_desc_packed(smem_address(a), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 128), // MMA
                    umma_smem_desc_packed(smem_address(b), UMMA_MAJOR_K, UMMA_SWIZZLE_NONE, 16),
                    umma_idesc(128, 16, UMMA_D_F32, UMMA_F16, UMMA_F16, UMMA_MAJOR_K, UMMA_MAJOR_K), k > 0);
    if (threadIdx.x == 0)
        umma_commit(smem_address(&done));
    __syncthreads(); // mbarrier_wait(smem_address(&done), 0) is missing
    tcgen05_fence_after();
    if (warp_index() == 0) {
        tmem_ld_32x32b_x32(bits, base); // LOAD
        tmem_wait_ld();
        out[threadIdx.x] = __uint_as_float(bits[0]); // STORE
    }
    mbarrier_wait(smem_address(&done), 0);
    if (warp_index() == 0)
        tmem_dealloc(base, 32);
}

int main(void) {
    float *out;
    CUDA_CHECK(cudaMalloc((void **)&out, 64 * sizeof *out));
    accumulator_early<<<1, 64>>>(out);
    CUDA_CHECK_LAUNCH();
    return 0;
}
