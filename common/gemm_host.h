/* gemm_host.h - what the host does around D = alpha A B^T + beta C in every step: inputs, uploads, the cluster's
 * launch, the verdict. Host only. */
#ifndef COMMON_GEMM_HOST_H
#define COMMON_GEMM_HOST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "cuda_check.h"
#include "reference.h"
#include "types.h"

/* A command line's size that must be whole tiles: otherwise one line on stderr and exit code 2. */
static inline void gemm_require_multiple(const char *step, const char *option, int value, int of,
                                         const char *why) {
    if (value % of == 0)
        return;
    fprintf(stderr, "%s: --%s takes a multiple of %d here (%s), not '%d'\n", step, option, of, why, value);
    exit(2);
}

/* What is to be computed: A is m x k, B is n x k, C and D are m x n. */
struct gemm_problem {
    int m, n, k, type; /* type: enum elem_type */
    float alpha, beta;
    uint64_t seed;
};

/* A, B and C on the host, A and B also as the bytes of their type. gemm_inputs_free() frees them. */
struct gemm_inputs {
    float *a, *b, *c;
    void *a_bytes, *b_bytes;
    size_t a_count, b_count, d_count;
};

static inline struct gemm_inputs gemm_inputs_make(const struct gemm_problem *p) {
    struct gemm_inputs in;
    enum elem_type type = (enum elem_type)p->type;
    size_t size = elem_info(type).bytes;
    uint64_t state = p->seed;
    in.a_count = (size_t)p->m * p->k;
    in.b_count = (size_t)p->n * p->k;
    in.d_count = (size_t)p->m * p->n;
    in.a = (float *)checked_malloc(in.a_count * sizeof(float));
    in.b = (float *)checked_malloc(in.b_count * sizeof(float));
    in.c = (float *)checked_malloc(in.d_count * sizeof(float));
    in.a_bytes = checked_malloc(in.a_count * size);
    in.b_bytes = checked_malloc(in.b_count * size);
    elem_fill_random(type, in.a_count, in.a_bytes, in.a, &state);
    elem_fill_random(type, in.b_count, in.b_bytes, in.b, &state);
    for (size_t i = 0; i < in.d_count; i++)
        in.c[i] = random_float(&state);
    return in;
}

static inline void gemm_inputs_free(struct gemm_inputs *in) {
    void *all[] = {in->a, in->b, in->c, in->a_bytes, in->b_bytes};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

/* A copy of host memory on the GPU. The caller frees it. */
static inline void *gpu_upload(const void *host, size_t bytes) {
    void *gpu;
    CUDA_CHECK(cudaMalloc(&gpu, bytes));
    CUDA_CHECK(cudaMemcpy(gpu, host, bytes, cudaMemcpyHostToDevice));
    return gpu;
}

/* GPU memory with every bit set: floats that are NaN, so an element never written is seen. The caller frees it. */
static inline void *gpu_alloc_unwritten(size_t bytes) {
    void *gpu;
    CUDA_CHECK(cudaMalloc(&gpu, bytes));
    CUDA_CHECK(cudaMemset(gpu, 0xFF, bytes));
    return gpu;
}

/* Launches a kernel in clusters of `cluster` CTAs, which divide the grid, and waits for it. smem: bytes of dynamic
 * shared memory. args: a pointer to each parameter, as for cudaLaunchKernelExC. More than 8 CTAs a cluster are more
 * than every GPU of the architecture must be able to place, so the kernel has to say that it knows. */
static inline void launch_clusters(const void *kernel, dim3 grid, dim3 cluster, int threads, int smem,
                                   void **args) {
    cudaLaunchAttribute shape;
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim.x = cluster.x;
    shape.val.clusterDim.y = cluster.y;
    shape.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = (size_t)smem;
    config.attrs = &shape;
    config.numAttrs = 1;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    if (cluster.x * cluster.y * cluster.z > 8)
        CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CUDA_CHECK(cudaLaunchKernelExC(&config, kernel, args));
    CUDA_CHECK_LAUNCH();
}

/* Compares D with the reference, prints the step's last line and returns its exit code. d: m x n. */
static inline int gemm_verdict(const char *step, const struct gemm_problem *p, const struct gemm_inputs *in,
                               const float *d) {
    double *product = (double *)checked_malloc(in->d_count * sizeof(double));
    reference_product(p->m, p->n, p->k, in->a, in->b, product);
    struct compare_result r = compare_gemm(p->m, p->n, p->k, p->alpha, in->a, in->b, product, p->beta, in->c,
                                           d, compare_bound(p->k, elem_info((enum elem_type)p->type).kind));
    free(product);
    char what[96];
    snprintf(what, sizeof what, "%s %dx%dx%d %s", step, p->m, p->n, p->k, elem_names[p->type]);
    return compare_report(what, &r);
}

#endif
