/* Step 05's ReLU: what is negative becomes 0, everything else stays, a NaN too. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../05_persistent_warpspec/out_type.cuh"
#include "../../common/gemm_host.h"

enum { COUNT = 8 };

__global__ void apply(const float *in, float *out) { out[threadIdx.x] = relu(in[threadIdx.x]); }

int main(void) {
    const float in[COUNT] = {-1, -1e-40f, -INFINITY, 0, 1e-40f, 3, INFINITY, NAN};
    const float want[COUNT] = {0, 0, 0, 0, 1e-40f, 3, INFINITY, NAN};
    float out[COUNT];
    int bad = 0;
    void *a = gpu_upload(in, sizeof in), *b = gpu_alloc_unwritten(sizeof out);
    cuda_require_sm100();
    apply<<<1, COUNT>>>((const float *)a, (float *)b);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(out, b, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        if (isnan(want[i]) ? !isnan(out[i]) : !(out[i] == want[i])) {
            printf("  wrong: relu(%g) is %g\n", (double)in[i], (double)out[i]);
            bad++;
        }
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    printf(bad ? "FAIL  relu: %d values\n" : "PASS  relu: a NaN stays\n", bad);
    return bad != 0;
}
