// Mistake: the tensor memory that the kernel allocated is not given back.
// On the chip: the columns stay taken; the next kernel on this SM may wait for ever in its tcgen05.alloc.
// Rule: all tensor memory that a kernel allocates is deallocated before it exits (PTX ISA 9.7.16.7.1).
//
// EXPECT: ^error: the CTA exited without tcgen05.dealloc of the 128 columns at 0x00000000 .*\[tcgen05-dealloc-missing\]$
// EXPECT: from: tests/negative/dealloc_missing.cu:@ALLOC@$
// EXPECT: dealloc_missing.cu:[0-9]+: cudaDeviceSynchronize\(\): cudaErrorLaunchFailure
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/tmem.cuh"

__global__ void dealloc_missing(void) {
    __shared__ uint32_t base;
    if (warp_index() == 0)
        tmem_alloc(smem_address(&base), 128); // ALLOC
    __syncthreads();
}

int main(void) {
    dealloc_missing<<<1, 128>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
