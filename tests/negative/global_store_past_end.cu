// Mistake: 1000 elements in blocks of 256 threads, and no bound check for the last block.
// On the chip: mostly nothing; what lies behind the array is overwritten.
// Rule: an access lies inside one live allocation (PTX ISA 5.1.4).
//
// EXPECT: ^error: lane 8 writes 4 bytes at 0x[0-9a-f]+, right after the 4000-byte allocation
// EXPECT: --> tests/negative/global_store_past_end.cu:@STORE@ in global_store_past_end$
// EXPECT: by: +CTA \(3,0,0\) warp 7, lane 8 \(thread \(232,0,0\)\)
// EXPECT: cudaErrorIllegalAddress
#include "../../common/cuda_check.h"

__global__ void global_store_past_end(float *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (float)i; // STORE
}

int main(void) {
    float *out;
    CUDA_CHECK(cudaMalloc((void **)&out, 1000 * sizeof *out));
    global_store_past_end<<<4, 256>>>(out);
    CUDA_CHECK_LAUNCH();
    return 0;
}
