// Mistake: every warp loads the accumulator's first 32 lanes: the warp's own lanes were not added to the
// address.
// On the chip: the hardware reaches the warp's own lanes, whatever the address says. The ISA does not promise it: hence
// --check=strict.
// Rule: warp w of the CTA reaches lanes 32 (w % 4) to 32 (w % 4) + 31 (PTX ISA 9.7.16.8.1).
//
// EMU: --check=strict
// EXIT: 3
// EXPECT: ^warning: tcgen05\.ld touches lanes 0 to 31 \(address 0x00000000\); warp 1 has lanes 32 to 63 +\[tcgen05-lane-window\]$
// EXPECT: --> common/tmem.cuh:[0-9]+ in lane_window$
// EXPECT: from: tests/negative/lane_window.cu:@LOAD@$
// EXPECT: by: +CTA \(0,0,0\) warp 1, lanes 0-31 \(first thread \(32,0,0\)\)
// NEVER: loaded lane
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/tmem.cuh"

__global__ void lane_window(uint32_t *out) {
    __shared__ uint32_t base;
    if (warp_index() == 0)
        tmem_alloc(smem_address(&base), 32);
    __syncthreads();
    uint32_t own[1] = {threadIdx.x}, row[1];
    tmem_st_32x32b_x1(tmem_at(base, 32 * warp_index(), 0), own);
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
    uint32_t rows[64];
    CUDA_CHECK(cudaMemcpy(rows, out, sizeof rows, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < 64; i++)
        if (rows[i] != i)
            printf("thread %u loaded lane %u\n", i, rows[i]);
    return 0;
}
