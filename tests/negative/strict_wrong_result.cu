// Mistake: every warp loads "the first 32 lanes" of the accumulator, and means warp 0's.
// On the chip: the hardware reaches the warp's own lanes, whatever the address says: a wrong result and no error. The
// program sees that and ends with 1; then what --check=strict would tell is told in full.
// Rule: warp w of the CTA reaches lanes 32 (w % 4) to 32 (w % 4) + 31 (PTX ISA 9.7.16.8.1).
//
// EXIT: 1
// EXPECT: ^thread 32 loaded 32, not 0$
// EXPECT: ^sm100emu: note: the program ends with 1, and has 1 strict finding \(see --check=strict\), which may be the cause:$
// EXPECT: ^warning: tcgen05\.ld touches lanes 0 to 31 \(address 0x00000000\); warp 1 has lanes 32 to 63 +\[tcgen05-lane-window\]$
// EXPECT: from: tests/negative/strict_wrong_result.cu:@LOAD@$
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/tmem.cuh"

__global__ void strict_wrong_result(uint32_t *out) {
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
    uint32_t *out, rows[64];
    CUDA_CHECK(cudaMalloc((void **)&out, sizeof rows));
    strict_wrong_result<<<1, 64>>>(out);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(rows, out, sizeof rows, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < 64; i++)
        if (rows[i] != i % 32) {
            printf("thread %u loaded %u, not %u\n", i, rows[i], i % 32);
            return 1;
        }
    return 0;
}
