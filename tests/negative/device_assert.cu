// Mistake: an assertion of the kernel is false for one thread.
// On the chip: the message, and cudaErrorAssert.
// Rule: a false assert() stops the grid (CUDA C++ Programming Guide, Assertion).
//
// EXPECT: ^error: .*device_assert.cu:@ASSERT@: .*assertion `threadIdx.x < 40` failed
// EXPECT: \[device-assert\]$
// EXPECT: warp 1, lanes 8-31 \(first thread \(40,0,0\)\)
// EXPECT: cudaErrorAssert
#include <assert.h>

#include "../../common/cuda_check.h"

__global__ void device_assert(void) {
    assert(threadIdx.x < 40); // ASSERT
}

int main(void) {
    device_assert<<<1, 64>>>();
    CUDA_CHECK_LAUNCH();
    return 0;
}
