// Mistake: a warp loads from tensor memory and goes to the barrier without tcgen05.wait::ld.
// On the chip: the registers are right, since using one waits for it; but nothing says that the cells have
// been read, and
// the tcgen05.dealloc or the next UMMA behind the barrier may overtake a load. So the emulator warns and goes
// on.
// Rule: tcgen05.wait::ld before the thread tells others (PTX ISA 9.7.16.6.4.5).
//
// EXPECT: ^warning: tcgen05.dealloc writes tensor memory column 0, and nothing orders it after tcgen05.ld \[tcgen05-ld-not-waited\]$
// EXPECT: from: .*wait_ld_missing.cu:@FREE@
// EXPECT: hint: Add tcgen05.wait::ld.sync.aligned between the loads and the arrival
// EXPECT: ^PASS$
// EXIT: 3
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/tmem.cuh"

__global__ void wait_ld_missing(uint32_t *out) {
    __shared__ uint32_t base;
    tmem_alloc(smem_address(&base), 32);
    uint32_t cell[1] = {7 * threadIdx.x}, read[1];
    tmem_st_32x32b_x1(base, cell);
    tmem_wait_st();
    tmem_ld_32x32b_x1(read, base);
    out[threadIdx.x] = read[0];
    __syncthreads();
    tmem_dealloc(base, 32); // FREE
}

int main(void) {
    uint32_t *out, host[32];
    CUDA_CHECK(cudaMalloc((void **)&out, sizeof host));
    wait_ld_missing<<<1, 32>>>(out);
    CUDA_CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    puts(host[31] == 7 * 31 ? "PASS" : "FAIL");
    return 0;
}
