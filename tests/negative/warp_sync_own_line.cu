// Mistake: __syncwarp() of all lanes in a branch that half of them do not take, and those wait for a barrier.
// On the chip: the CTA hangs.
// Rule: bar.warp.sync waits for all threads of its membermask (PTX ISA 9.7.13.2).
//
// The line that is told is the kernel's, not the one of the toolkit's header that has the instruction in it.
//
// EXPECT: ^error: deadlock: .*\[deadlock\]$
// EXPECT: --> tests/negative/warp_sync_own_line.cu:@TOGETHER@ in warp_sync_own_line$
// EXPECT: at tests/negative/warp_sync_own_line.cu:@ALONE@$
// EXPECT: at tests/negative/warp_sync_own_line.cu:@TOGETHER@$
// NEVER: intrinsics
#include "../../common/cuda_check.h"

__global__ void warp_sync_own_line(int *out, int half) {
    const int lane = (int)threadIdx.x;
    if (lane < half)
        __syncwarp(); // ALONE
    else
        __syncthreads(); // TOGETHER
    out[lane] = lane;
}

int main(void) {
    int *out;
    CUDA_CHECK(cudaMalloc((void **)&out, 32 * sizeof *out));
    warp_sync_own_line<<<1, 32>>>(out, 16);
    CUDA_CHECK_LAUNCH();
    return 0;
}
