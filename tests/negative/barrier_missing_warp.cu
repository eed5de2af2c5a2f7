// Mistake: a named barrier for two warps, and the second warp takes another way.
// On the chip: the grid hangs.
// Rule: bar.sync with a thread count waits for that many threads (PTX ISA 9.7.13.1).
//
// EMU: --verbose
// EXPECT: ^error: deadlock: .*\[deadlock\]$
// EXPECT: CTA \(0,0,0\) warp 0 lanes 0xffffffff waits at barrier 1: 32 of 64 threads have arrived
// EXPECT: at tests/negative/barrier_missing_warp.cu:@BARRIER@ \(ptx line [0-9]+: bar.sync 1, 64;\)
// EXPECT: --> tests/negative/barrier_missing_warp.cu:@BARRIER@ in barrier_missing_warp$
#include "../../common/cuda_check.h"

__global__ void barrier_missing_warp(int *out, int rows) {
    int row = (int)threadIdx.x;
    if (row < rows) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // BARRIER
        out[row] = row;
    }
}

int main(void) {
    int *out;
    CUDA_CHECK(cudaMalloc((void **)&out, 64 * sizeof *out));
    barrier_missing_warp<<<1, 64>>>(out, 32);
    CUDA_CHECK_LAUNCH();
    return 0;
}
