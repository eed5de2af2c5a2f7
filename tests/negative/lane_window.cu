// Mistake: every warp loads the accumulator's first 32 lanes: the warp's own lanes were not added to the
// address.
// On the chip: undefined; the hardware reaches other lanes than the address says, so rows are repeated.
// Rule: warp w of the CTA reaches lanes 32 (w % 4) to 32 (w % 4) + 31 (PTX ISA 9.7.16.8.1).
//
// EXPECT: ^error: tcgen05.ld by warp 1 touches lanes 0 to 31 \(address 0x00000000\); its window is lanes 32 to 63 \[tcgen05-lane-window\]$
// EXPECT: --> common/tmem.cuh:[0-9]+ in lane_window$
// EXPECT: from: tests/negative/lane_window.cu:@LOAD@$
// EXPECT: by: +CTA \(0,0,0\) warp 1, lanes 0-31 \(first thread \(32,0,0\)\)
// EXPECT: lane_window.cu:[0-9]+: cudaDeviceSynchronize\(\): cudaErrorLaunchFailure
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/tmem.cuh"

__global__ void lane_window(uint32_t *out) {
    __shared__ uint32_t base;
    if (warp_index() == 0)
        tmem_alloc(smem_address(&base), 32);
    __syncthreads();
    uint32_t zero[1] = {0}, row[1];
    tmem_st_32x32b_x1(tmem_at(base, 32 * warp_index(), 0), zero);
    tmem_wait_st();
    tmem_ld_32x32b_x1(row, base); // LOAD
    tmem_wait_ld();
    out[threadIdx.x] = row[0];
    __syncthreads();
    if (warp_index() == 0)
        tmem_dealloc(base, 32);
}

int main(void) {
    uint32_t *out;
    CUDA_CHECK(cudaMalloc((void **)&out, 64 * sizeof *out));
    lane_window<<<1, 64>>>(out);
    CUDA_CHECK_LAUNCH();
    return 0;
}
