/* gemm_host.h - what the host does around D = alpha A B^T + beta C in every step: inputs, uploads, the cluster's
 * launch, the verdict. Host only. */
#ifndef COMMON_GEMM_HOST_H
#define COMMON_GEMM_HOST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmdline.h"
#include "compare.h"
#include "cuda_check.h"
#include "reference.h"
#include "timing.h"
#include "types.h"

/* A command line's size that must be whole tiles: otherwise one line on stderr and exit code 2. */
static inline void gemm_require_multiple(const char *step, const char *option, int value, int of, const char *why) {
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
    int verify, time; /* verify: enum verify; time: runs to measure, 0 for one launch and none */
};

/* The options --verify and --time, for a step's table; the step's variable is where they go. */
static inline struct cl_option gemm_verify_option(int *verify) {
    const struct cl_option o = {"verify", CL_CHOICE, verify, "elements of D to check; auto: sampled above 1024 cubed",
                                0,        0,         0,      verify_names};
    return o;
}

static inline struct cl_option gemm_time_option(int *runs) {
    const struct cl_option o = {
        "time", CL_INT,          runs, "launches to measure, each with fresh inputs and a cold L2; 0: none",
        0,      TIMING_MAX_RUNS, 1,    NULL};
    return o;
}

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

/* Launches a kernel in clusters of `cluster` CTAs, which divide the grid. smem: bytes of dynamic
 * shared memory. args: a pointer to each parameter, as for cudaLaunchKernelExC. More than 8 CTAs a cluster are more
 * than every GPU of the architecture must be able to place, so the kernel has to say that it knows. */
static inline void launch_clusters(const void *kernel, dim3 grid, dim3 cluster, int threads, int smem, void **args) {
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
}

/* The launches of a step: see timing.h. a_gpu, b_gpu: where A and B were uploaded to. */
static inline struct timing gemm_timing(const struct gemm_problem *p, const struct gemm_inputs *in, void *a_gpu,
                                        void *b_gpu) {
    const size_t size = elem_info((enum elem_type)p->type).bytes;
    const struct timing_input inputs[] = {{a_gpu, in->a_bytes, in->a_count * size},
                                          {b_gpu, in->b_bytes, in->b_count * size}};
    return timing_make(p->time, inputs, 2);
}

static inline void gemm_timing_report(struct timing *t, const char *step, const struct gemm_problem *p) {
    char size[64], type[32];
    snprintf(size, sizeof size, "%dx%dx%d", p->m, p->n, p->k);
    snprintf(type, sizeof type, "%s->f32", elem_names[p->type]);
    timing_report(t, step, size, type, 2.0 * p->m * p->n * p->k);
}

/* What a sample of D is compared with. */
struct gemm_sample {
    const struct gemm_problem *p;
    const struct gemm_inputs *in;
    const float *d;
    const double *a_length, *b_length; /* of the rows of A and B */
    struct compare_result r;
};

static inline void gemm_look(void *context, int row, int column) {
    struct gemm_sample *s = (struct gemm_sample *)context;
    const struct gemm_problem *p = s->p;
    const float *a = s->in->a + (size_t)row * p->k, *b = s->in->b + (size_t)column * p->k;
    const size_t at = (size_t)row * p->n + column;
    const double add = p->beta != 0 ? (double)p->beta * s->in->c[at] : 0;
    double sum = 0;
    for (int i = 0; i < p->k; i++)
        sum += (double)a[i] * b[i];
    compare_element(&s->r, row, column, s->d[at], (double)p->alpha * sum + add,
                    fabs((double)p->alpha) * s->a_length[row] * s->b_length[column] + fabs(add), 0);
}

/* Compares a sample of D, tiles being 128 x 256. *looked: elements of it. */
static inline struct compare_result gemm_compare_sample(const struct gemm_problem *p, const struct gemm_inputs *in,
                                                        const float *d, double bound, size_t *looked) {
    double *a_length = row_lengths(p->m, p->k, in->a), *b_length = row_lengths(p->n, p->k, in->b);
    struct gemm_sample s = {p, in, d, a_length, b_length, {-1, 0, 0, 0, 0, 0, bound}};
    uint64_t state = p->seed ^ 0x5A5A5A5A5A5A5A5Aull;
    *looked = compare_sample(p->m, p->n, 256, SAMPLES, &state, gemm_look, &s);
    free(a_length);
    free(b_length);
    return s.r;
}

/* Compares D with the reference as --verify says, prints the step's last line and returns its exit code. d: m x n. */
static inline int gemm_verdict(const char *step, const struct gemm_problem *p, const struct gemm_inputs *in,
                               const float *d) {
    const int mode = verify_mode(p->verify, (double)p->m * p->n * p->k);
    const double bound = compare_bound(p->k, elem_info((enum elem_type)p->type).kind);
    char what[128];
    int used = snprintf(what, sizeof what, "%s %dx%dx%d %s", step, p->m, p->n, p->k, elem_names[p->type]);
    struct compare_result r;
    if (mode == VERIFY_NONE) {
        printf("PASS  %s: ran to its end; D was not looked at (--verify none)\n", what);
        return 0;
    }
    if (mode == VERIFY_SAMPLED) {
        size_t looked;
        r = gemm_compare_sample(p, in, d, bound, &looked);
        snprintf(what + used, sizeof what - (size_t)used, ", %zu elements of it", looked);
    } else {
        double *product = (double *)checked_malloc(in->d_count * sizeof(double));
        reference_product(p->m, p->n, p->k, in->a, in->b, product);
        r = compare_gemm(p->m, p->n, p->k, p->alpha, in->a, in->b, product, p->beta, in->c, d, bound);
        free(product);
    }
    return compare_report(what, &r);
}

#endif
