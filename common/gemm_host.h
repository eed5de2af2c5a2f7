/* gemm_host.h - what the host does around D = alpha A B^T + beta C in steps 02 to 04, in the order of a run: options,
 * matrices, launch, verdict. A step's own work comes between these calls. Host only. */
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

/* ---------------------------------------------------------------- the problem */

/* What is to be computed: A is m x k, B is n x k, C and D are m x n. */
struct gemm_problem {
    const char *step;  /* the program's name, in front of its messages */
    int m, n, k, type; /* type: enum elem_type */
    float alpha, beta;
    uint64_t seed;
    int verify, time; /* verify: enum verify; time: runs to measure, 0 for one launch and none */
};

/* What a step computes if the command line names nothing else. */
static inline struct gemm_problem gemm_default(const char *step) {
    return (struct gemm_problem){
        .step = step, .m = 512, .n = 1024, .k = 256, .type = ELEM_F16, .alpha = 1.0f, .beta = 0.5f, .seed = 1};
}

/* The options --verify and --time, for a table. The argument is the variable that gets the value. */
static inline struct cl_option gemm_verify_option(int *verify) {
    return cl_choice("verify", verify, "elements of D to check; auto: sampled above 1024 cubed", verify_names);
}

static inline struct cl_option gemm_time_option(int *runs) {
    return cl_int("time", runs, "launches to measure, each with fresh inputs and a cold L2; 0: none", 0,
                  TIMING_MAX_RUNS, 1);
}

/* A size on the command line must be whole tiles; if not, one line on stderr and exit code 2. */
static inline void gemm_require_multiple(const char *step, const char *option, int value, int of, const char *why) {
    if (value % of == 0)
        return;
    fprintf(stderr, "%s: --%s takes a multiple of %d here (%s), not '%d'\n", step, option, of, why, value);
    exit(2);
}

/* Reads the command line of a step: sizes, factors and type, then `own`, the options that only this step has, then the
 * seed, --verify and --time. whole: text after the help of M and N. Returns the elements of a K tile, which is 128
 * bytes of a row; K must be whole tiles. */
static inline int gemm_options(int argc, char **argv, const char *purpose, struct gemm_problem *p, const char *whole,
                               const struct cl_option *own, int own_count) {
    char m_help[64], n_help[64];
    struct cl_option table[16] = {
        cl_int("m", &p->m, m_help, 128, 16384, 128),
        cl_int("n", &p->n, n_help, 256, 16384, 256),
        cl_int("k", &p->k, "columns of A and B, whole tiles of 128 bytes", 32, 16384, 32),
        cl_float("alpha", &p->alpha, "factor of A B^T"),
        cl_float("beta", &p->beta, "factor of C; 0 leaves C unread"),
        cl_choice("type", &p->type, "of A and B", elem_names),
    };
    int count = 6;
    snprintf(m_help, sizeof m_help, "rows of A and D%s", whole);
    snprintf(n_help, sizeof n_help, "rows of B, columns of D%s", whole);
    for (int i = 0; i < own_count; i++)
        table[count++] = own[i];
    table[count++] = cl_seed("seed", &p->seed, "of the random A, B and C");
    table[count++] = gemm_verify_option(&p->verify);
    table[count++] = gemm_time_option(&p->time);
    cmdline_parse(argc, argv, purpose, table, count);
    const int tile_k = 128 / (int)elem_info((enum elem_type)p->type).bytes;
    gemm_require_multiple(p->step, "k", p->k, tile_k, "128 bytes of a row");
    return tile_k;
}

/* Prints the first two lines of a step's output. */
static inline void gemm_print_problem(const struct gemm_problem *p) {
    printf("%s   D = alpha A B^T + beta C\n", p->step);
    printf("  problem   M %d, N %d, K %d, %s -> f32, alpha %g, beta %g, seed %llu\n", p->m, p->n, p->k,
           elem_names[p->type], (double)p->alpha, (double)p->beta, (unsigned long long)p->seed);
}

/* ---------------------------------------------------------------- the matrices */

/* A copy of host memory on the GPU. The caller frees it. */
static inline void *gpu_upload(const void *host, size_t bytes) {
    void *gpu;
    CUDA_CHECK(cudaMalloc(&gpu, bytes));
    CUDA_CHECK(cudaMemcpy(gpu, host, bytes, cudaMemcpyHostToDevice));
    return gpu;
}

/* GPU memory with every bit set: as floats they are NaN, so an element never written shows. The caller frees it. */
static inline void *gpu_alloc_unwritten(size_t bytes) {
    void *gpu;
    CUDA_CHECK(cudaMalloc(&gpu, bytes));
    CUDA_CHECK(cudaMemset(gpu, 0xFF, bytes));
    return gpu;
}

/* Copies GPU memory to the host, then frees it on the GPU. */
static inline void gpu_download(void *host, void *gpu, size_t bytes) {
    CUDA_CHECK(cudaMemcpy(host, gpu, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(gpu));
}

/* The matrices: on the host as floats, A and B also as the bytes of their type, and on the GPU as the kernel gets them.
 * d: what the GPU computed, after gemm_finish() has fetched it. */
struct gemm_data {
    float *a, *b, *c, *d;
    void *a_bytes, *b_bytes;
    void *a_gpu, *b_gpu;
    float *c_gpu, *d_gpu;
    size_t a_count, b_count, d_count; /* elements */
};

/* A, B and C at random; gemm_finish() frees all. */
static inline struct gemm_data gemm_data_make(const struct gemm_problem *p) {
    struct gemm_data x;
    const enum elem_type type = (enum elem_type)p->type;
    const size_t size = elem_info(type).bytes;
    uint64_t state = p->seed;
    x.a_count = (size_t)p->m * p->k;
    x.b_count = (size_t)p->n * p->k;
    x.d_count = (size_t)p->m * p->n;
    x.a = (float *)checked_malloc(x.a_count * sizeof(float));
    x.b = (float *)checked_malloc(x.b_count * sizeof(float));
    x.c = (float *)checked_malloc(x.d_count * sizeof(float));
    x.d = (float *)checked_malloc(x.d_count * sizeof(float));
    x.a_bytes = checked_malloc(x.a_count * size);
    x.b_bytes = checked_malloc(x.b_count * size);
    elem_fill_random(type, x.a_count, x.a_bytes, x.a, &state);
    elem_fill_random(type, x.b_count, x.b_bytes, x.b, &state);
    for (size_t i = 0; i < x.d_count; i++)
        x.c[i] = random_float(&state);
    x.a_gpu = gpu_upload(x.a_bytes, x.a_count * size);
    x.b_gpu = gpu_upload(x.b_bytes, x.b_count * size);
    x.c_gpu = (float *)gpu_upload(x.c, x.d_count * sizeof(float));
    x.d_gpu = (float *)gpu_alloc_unwritten(x.d_count * sizeof(float));
    return x;
}

/* ---------------------------------------------------------------- the launch */

/* Launches a kernel in clusters of `cluster` CTAs, which divide the grid. smem: bytes of dynamic shared memory. args: a
 * pointer to each parameter, as for cudaLaunchKernelExC. Clusters of more than 8 CTAs are not portable: not every GPU
 * must be able to place them. So the kernel needs an attribute that allows them. */
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

/* The launches of a step: see timing.h. */
static inline struct timing gemm_timing(const struct gemm_problem *p, const struct gemm_data *x) {
    const size_t size = elem_info((enum elem_type)p->type).bytes;
    const struct timing_input inputs[] = {{x->a_gpu, x->a_bytes, x->a_count * size},
                                          {x->b_gpu, x->b_bytes, x->b_count * size}};
    return timing_make(p->time, inputs, 2);
}

static inline void gemm_timing_report(struct timing *t, const struct gemm_problem *p) {
    char size[64], type[32];
    snprintf(size, sizeof size, "%dx%dx%d", p->m, p->n, p->k);
    snprintf(type, sizeof type, "%s->f32", elem_names[p->type]);
    timing_report(t, p->step, size, type, 2.0 * p->m * p->n * p->k);
}

/* Prints the multicast masks that the CTAs of a cluster used, as grids. witness: of each CTA, by rank, with a_mask,
 * b_mask and commit_mask. note: text after the caption. */
template <class Witness>
static inline void print_masks(const Witness *witness, int cluster_m, int cluster_n, const char *note) {
    const int used = 5 * cluster_n - 1, width = used < 6 ? 6 : used;
    printf("\n  masks of the CTAs of a cluster: x along M goes down, y along N goes right, rank = x + %d y%s\n",
           cluster_m, note);
    printf("        %-*s     %-*s     commit\n", width, "A", width, "B");
    for (int x = 0; x < cluster_m; x++) {
        printf("    x %d ", x);
        for (int part = 0; part < 3; part++) {
            for (int y = 0; y < cluster_n; y++) {
                const Witness *w = &witness[x + y * cluster_m];
                printf(" %04x", part == 0 ? w->a_mask : part == 1 ? w->b_mask : w->commit_mask);
            }
            printf(part < 2 ? "%*s" : "", width - used + 4, "");
        }
        printf("\n");
    }
}

/* ---------------------------------------------------------------- the verdict */

/* What a sample of D is compared with. */
struct gemm_sample {
    const struct gemm_problem *p;
    const struct gemm_data *x;
    const double *a_length, *b_length; /* of the rows of A and B */
    struct compare_result r;
};

static inline void gemm_look(void *context, int row, int column) {
    struct gemm_sample *s = (struct gemm_sample *)context;
    const struct gemm_problem *p = s->p;
    const struct gemm_data *x = s->x;
    const size_t at = (size_t)row * p->n + column;
    const double sum = reference_element(p->k, x->a + (size_t)row * p->k, x->b + (size_t)column * p->k);
    const double add = p->beta != 0 ? (double)p->beta * x->c[at] : 0;
    compare_element(&s->r, row, column, x->d[at], (double)p->alpha * sum + add,
                    fabs((double)p->alpha) * s->a_length[row] * s->b_length[column] + fabs(add), 0);
}

/* Compares a sample of D, in tiles of 128 x 256. *looked: how many elements. */
static inline struct compare_result gemm_compare_sample(const struct gemm_problem *p, const struct gemm_data *x,
                                                        double bound, size_t *looked) {
    double *a_length = row_lengths(p->m, p->k, x->a), *b_length = row_lengths(p->n, p->k, x->b);
    struct gemm_sample s = {.p = p, .x = x, .a_length = a_length, .b_length = b_length, .r = compare_start(bound)};
    uint64_t state = p->seed ^ SAMPLE_SEED;
    *looked = compare_sample(p->m, p->n, 256, SAMPLES, &state, gemm_look, &s);
    free(a_length);
    free(b_length);
    return s.r;
}

/* Compares D with the reference as --verify says, prints the step's last line and returns its exit code. */
static inline int gemm_verdict(const struct gemm_problem *p, const struct gemm_data *x) {
    const int mode = verify_mode(p->verify, (double)p->m * p->n * p->k);
    const double bound = compare_bound(p->k, elem_info((enum elem_type)p->type).kind);
    char what[128];
    int used = snprintf(what, sizeof what, "%s %dx%dx%d %s", p->step, p->m, p->n, p->k, elem_names[p->type]);
    struct compare_result r;
    if (mode == VERIFY_NONE)
        return compare_not(what);
    if (mode == VERIFY_SAMPLED) {
        size_t looked;
        r = gemm_compare_sample(p, x, bound, &looked);
        snprintf(what + used, sizeof what - (size_t)used, ", %zu elements of it", looked);
    } else {
        double *product = (double *)checked_malloc(x->d_count * sizeof(double));
        reference_product(p->m, p->n, p->k, x->a, x->b, product);
        r = compare_gemm(p->m, p->n, p->k, p->alpha, x->a, x->b, product, p->beta, x->c, x->d, bound);
        free(product);
    }
    return compare_report(what, &r);
}

/* Fetches D, judges it, frees everything; returns the exit code of the step. */
static inline int gemm_finish(const struct gemm_problem *p, struct gemm_data *x) {
    gpu_download(x->d, x->d_gpu, x->d_count * sizeof(float));
    const int status = gemm_verdict(p, x);
    void *on_gpu[] = {x->a_gpu, x->b_gpu, x->c_gpu}, *on_host[] = {x->a, x->b, x->c, x->d, x->a_bytes, x->b_bytes};
    for (size_t i = 0; i < sizeof on_gpu / sizeof on_gpu[0]; i++)
        CUDA_CHECK(cudaFree(on_gpu[i]));
    for (size_t i = 0; i < sizeof on_host / sizeof on_host[0]; i++)
        free(on_host[i]);
    return status;
}

#endif
