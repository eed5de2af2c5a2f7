// Mistake: registers of a tcgen05.ld are used without tcgen05.wait::ld.
// On the chip: the compiler knows the registers and mostly waits for them, but nothing promises that, and the cells may be
// overwritten while they are read. So the emulator warns and goes on.
// Rule: the registers hold their values after tcgen05.wait::ld (PTX ISA 9.7.16.8.5).
//
// EXPECT: ^warning: a register of the tcgen05.ld at common/tmem.cuh:[0-9]+ \(from tests/negative/wait_ld_missing.cu:@LOAD@\) is used
// EXPECT: wait_ld_missing.cu:@USE@ in wait_ld_missing$
// EXPECT: hint: put tcgen05.wait::ld.sync.aligned between the load and the first use
// EXPECT: ^PASS$
// EXIT: 0
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/tmem.cuh"

__global__ void wait_ld_missing(uint32_t *out) {
    __shared__ uint32_t base;
    tmem_alloc(smem_address(&base), 32);
    uint32_t cell[1] = {7 * threadIdx.x}, read[1];
    tmem_st_32x32b_x1(base, cell);
    tmem_wait_st();
    tmem_ld_32x32b_x1(read, base); // LOAD
    out[threadIdx.x] = read[0];    // USE
    tmem_wait_ld();
    tmem_dealloc(base, 32);
}

int main(void) {
    uint32_t *out, host[32];
    CUDA_CHECK(cudaMalloc((void **)&out, sizeof host));
    wait_ld_missing<<<1, 32>>>(out);
    CUDA_CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    puts(host[31] == 7 * 31 ? "PASS" : "FAIL");
    return 0;
}
