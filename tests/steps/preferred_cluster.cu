/* A launch with a preferred cluster size gets it where that fits, else the regular one; a kernel of a fixed size keeps
 * that; a size that is no multiple of the regular one, or does not divide the grid, is refused. */
#include <stdio.h>

#include "../../common/cuda_check.h"

__device__ unsigned cluster_ctas(void) {
    unsigned n;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    return n;
}

__global__ void any_size(unsigned *out) { out[blockIdx.x] = cluster_ctas(); }

__global__ void __cluster_dims__(2) fixed_size(unsigned *out) { out[blockIdx.x] = cluster_ctas(); }

enum { CTAS = 8, REGULAR = 2 };
static unsigned *out;

static cudaError_t launch(void (*kernel)(unsigned *), unsigned preferred) {
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = REGULAR;
    attributes[1].id = cudaLaunchAttributePreferredClusterDimension;
    attributes[1].val.preferredClusterDim.x = preferred;
    for (int i = 0; i < 2; i++)
        attributes[i].val.clusterDim.y = attributes[i].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(CTAS);
    config.blockDim = dim3(32);
    config.attrs = attributes;
    config.numAttrs = 2;
    return cudaLaunchKernelEx(&config, kernel, out);
}

/* CTAs of the clusters that such a launch gets. */
static unsigned granted(void (*kernel)(unsigned *), unsigned preferred) {
    unsigned n[CTAS];
    CUDA_CHECK(launch(kernel, preferred));
    CUDA_CHECK(cudaMemcpy(n, out, sizeof n, cudaMemcpyDeviceToHost));
    return n[0];
}

int main(void) {
    CUDA_CHECK(cudaMalloc((void **)&out, CTAS * sizeof *out));
    const unsigned sizes[4] = {granted(any_size, 2), granted(any_size, 4), granted(any_size, 8),
                               granted(fixed_size, 4)};
    const bool refused =
        launch(any_size, 3) == cudaErrorInvalidClusterSize && launch(any_size, 6) == cudaErrorInvalidClusterSize;
    const bool right = refused && sizes[0] == 2 && sizes[1] == 4 && sizes[2] == 8 && sizes[3] == 2;
    printf("%s  preferred_cluster: 2, 4 and 8 preferred: %u, %u and %u; a fixed 2: %u; 3 and 6 %s\n",
           right ? "PASS" : "FAIL", sizes[0], sizes[1], sizes[2], sizes[3], refused ? "refused" : "taken");
    return right ? 0 : 1;
}
