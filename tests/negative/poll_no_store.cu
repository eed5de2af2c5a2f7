// Mistake: one CTA polls a flag for 2, and the other stores 1.
// On the chip: the grid hangs.
// Rule: who polls waits for a store. The report says what would end the loop, what is there, and who wrote it last.
//
// EXPECT: ^error: deadlock: warp 0 of CTA \(1,0,0\) polls 0x[0-9a-f]+ until it is 2, and it stays 1 \[deadlock\]$
// EXPECT: --> tests/negative/poll_no_store.cu:@POLL@ in poll_no_store$
// EXPECT: hint: Check the store that it waits for: it is missing, stores another value, or goes to another word
// EXPECT: ^  0x[0-9a-f]+: CTA \(0,0,0\) warp 0 wrote it last$
// EXPECT: ^         at tests/negative/poll_no_store.cu:@STORE@
// EXPECT: ^  CTA \(1,0,0\) warp 0 lanes 0x00000001 polls 0x[0-9a-f]+ until it is 2, and it stays 1$
// EXPECT: ^  CTA \(1,0,0\) warp 1 lanes 0xffffffff waits at barrier 0
#include "../../common/cuda_check.h"

__global__ void poll_no_store(unsigned *flag, int *data) {
    volatile unsigned *f = flag;
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            *f = 1; // STORE
        return;
    }
    if (threadIdx.x == 0)
        while (*f != 2) // POLL
            ;
    __syncthreads();
    __threadfence();
    data[threadIdx.x]++;
}

int main(void) {
    unsigned *flag;
    int *data;
    CUDA_CHECK(cudaMalloc((void **)&flag, sizeof *flag));
    CUDA_CHECK(cudaMalloc((void **)&data, 64 * sizeof *data));
    CUDA_CHECK(cudaMemset(flag, 0, sizeof *flag));
    poll_no_store<<<2, 64>>>(flag, data);
    CUDA_CHECK_LAUNCH();
    return 0;
}
