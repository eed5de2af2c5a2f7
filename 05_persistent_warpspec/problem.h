/* problem.h - what step 05 is asked to compute: the command line, what the kernel can do, inputs. Host only. */
#ifndef STEP05_PROBLEM_H
#define STEP05_PROBLEM_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/cmdline.h"
#include "../common/gemm_host.h"
#include "../common/types.h"
#include "out_type.cuh"
#include "raster.h"

enum scheduler { SCHEDULER_STATIC, SCHEDULER_CLC };

/* A is m x k, B is n x k, C and D are m x n, `batch` of each, one after the other. */
struct problem {
    int m, n, k, batch;
    int type, out;        /* of A and B: enum elem_type; of C and D: enum out_type */
    int a_major, b_major; /* enum umma_major */
    float alpha, beta;
    int relu, scheduler, verify, group;
    int clusters; /* at most so many at the same time; 0: as many as the GPU takes */
    int tile_n, cluster_m, cluster_n;
    uint64_t seed;
    int time; /* runs to measure, 0 for one launch and none */
};

/* ---------------------------------------------------------------- what the kernel can do */

/* NULL, or why the kernel cannot compute this. Needs no GPU. */
static inline const char *can_implement(const struct problem *p) {
    const long bytes = (long)elem_info((enum elem_type)p->type).bytes, out = (long)out_bytes(p->out);
    if ((p->a_major == UMMA_MAJOR_K ? p->k : p->m) * bytes % 16)
        return p->a_major == UMMA_MAJOR_K
                   ? "a row of A (K elements) is not a multiple of 16 bytes, which the TMA needs"
                   : "a row of A (M elements) is not a multiple of 16 bytes, which the TMA needs";
    if ((p->b_major == UMMA_MAJOR_K ? p->k : p->n) * bytes % 16)
        return p->b_major == UMMA_MAJOR_K
                   ? "a row of B (K elements) is not a multiple of 16 bytes, which the TMA needs"
                   : "a row of B (N elements) is not a multiple of 16 bytes, which the TMA needs";
    if (p->n * out % 16)
        return "a row of D (N elements) is not a multiple of 16 bytes, which the TMA needs";
    /* the stride from matrix to matrix in a tensor map is less than 2^40 bytes, in a batch of one too */
    const double a = (double)p->m * p->k * bytes, b = (double)p->n * p->k * bytes, d = (double)p->m * p->n * out;
    if (a >= 0x1p40 || b >= 0x1p40 || d >= 0x1p40)
        return "a matrix of A, B or D has 2^40 bytes or more, which the TMA cannot stride over";
    if ((double)p->m * p->batch >= 0x1p31 || (double)p->n * p->batch >= 0x1p31)
        return "more than 2^31 - 1 rows of A or B in the batch";
    const uint64_t rows = 128u * (unsigned)p->cluster_m, columns = (unsigned)(p->tile_n * p->cluster_n);
    if ((p->m + rows - 1) / rows * ((p->n + columns - 1) / columns) * (uint64_t)p->batch >= (uint64_t)1 << 27)
        return "more than 2^27 tiles of D";
    return NULL;
}

/* The swizzle of a part with rows of `span` bytes. K-major: 128 bytes. M-major tf32: in pieces of 32 bytes, since 8 K
 * of one column are what an UMMA takes (PTX ISA 9.7.16.3, 9.7.16.4.1). */
static inline enum umma_swizzle operand_swizzle(const struct elem_info *e, int mn_major, uint32_t span) {
    if (mn_major && e->bytes == 4)
        return UMMA_SWIZZLE_128B_ATOM32B;
    return span == 128 ? UMMA_SWIZZLE_128B : UMMA_SWIZZLE_64B;
}

/* The TMA's name of the same pattern. */
static inline CUtensorMapSwizzle tma_swizzle(enum umma_swizzle swizzle) {
    return swizzle == UMMA_SWIZZLE_128B_ATOM32B ? CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B
           : swizzle == UMMA_SWIZZLE_128B       ? CU_TENSOR_MAP_SWIZZLE_128B
                                                : CU_TENSOR_MAP_SWIZZLE_64B;
}

/* ---------------------------------------------------------------- command line */

static const char *const major_names[] = {"k", "mn", NULL};
static const char *const cluster_names[] = {"2x1", "2x2", "4x1", "4x2", NULL};
static const char *const tile_n_names[] = {"128", "256", NULL};
static const char *const scheduler_names[] = {"static", "clc", NULL};

static inline struct problem read_problem(int argc, char **argv) {
    struct problem p = {.m = 1024,
                        .n = 1024,
                        .k = 512,
                        .batch = 1,
                        .type = ELEM_F16,
                        .out = OUT_F32,
                        .alpha = 1.0f,
                        .beta = 0.5f,
                        .group = 8,
                        .seed = 1};
    int cluster = 0, tile_n = 1;
    const struct cl_option table[] = {
        cl_int("m", &p.m, "rows of A and D", 1, 1 << 20, 1),
        cl_int("n", &p.n, "rows of B, columns of D", 1, 1 << 20, 1),
        cl_int("k", &p.k, "columns of A and B", 1, 1 << 20, 1),
        cl_int("batch", &p.batch, "products of this size", 1, 1 << 16, 1),
        cl_choice("type", &p.type, "of A and B", elem_names),
        cl_choice("d-type", &p.out, "of C and D", out_names),
        cl_choice("a-major", &p.a_major, "what is contiguous in A, K or M", major_names),
        cl_choice("b-major", &p.b_major, "what is contiguous in B, K or N", major_names),
        cl_float("alpha", &p.alpha, "factor of A B^T"),
        cl_float("beta", &p.beta, "factor of C; with 0, C is NaN all over and must not be seen"),
        cl_flag("relu", &p.relu, "negative elements of D become 0"),
        cl_choice("tile-n", &tile_n, "columns of D of a CTA pair, rows are 256", tile_n_names),
        cl_choice("cluster", &cluster, "CTAs along M x along N", cluster_names),
        cl_int("group", &p.group, "rows of cluster tiles that are walked together", 1, 1 << 20, 1),
        cl_choice("scheduler", &p.scheduler, "who hands out tiles: a formula, or cluster launch control",
                  scheduler_names),
        cl_int("clusters", &p.clusters, "at most so many run, static only; 0: as many as fit", 0, 1 << 20, 1),
        cl_seed("seed", &p.seed, "of the random A, B and C"),
        gemm_verify_option(&p.verify),
        gemm_time_option(&p.time),
    };
    cmdline_parse(argc, argv, "D = alpha A B^T + beta C, batched: persistent and warp-specialised", table,
                  sizeof table / sizeof table[0]);
    p.cluster_m = cluster_names[cluster][0] - '0';
    p.cluster_n = cluster_names[cluster][2] - '0';
    p.tile_n = tile_n ? 256 : 128;
    const char *why = can_implement(&p);
    if (!why && p.clusters && p.scheduler == SCHEDULER_CLC)
        why = "--clusters is for --scheduler static; with clc the GPU launches what fits";
    if (why) {
        fprintf(stderr, "05_persistent_warpspec: %s\n", why);
        exit(2);
    }
    p.verify = verify_mode(p.verify, (double)p.m * p.n * p.k * p.batch);
    return p;
}

static inline void print_problem(const struct problem *p) {
    printf("05_persistent_warpspec   D = %salpha A B^T + beta C%s\n", p->relu ? "relu(" : "", p->relu ? ")" : "");
    printf("  problem   M %d, N %d, K %d, batch %d, %s -> %s, A %s-major, B %s-major, alpha %g, beta %g, "
           "seed %llu\n",
           p->m, p->n, p->k, p->batch, elem_names[p->type], out_names[p->out], p->a_major == UMMA_MAJOR_K ? "K" : "M",
           p->b_major == UMMA_MAJOR_K ? "K" : "N", (double)p->alpha, (double)p->beta, (unsigned long long)p->seed);
}

/* ---------------------------------------------------------------- inputs */

/* The floats are m x k and n x k, whatever the major is; the bytes are in the GPU's layout. */
struct inputs {
    float *a, *b, *c;
    unsigned char *a_bytes, *b_bytes, *c_bytes;
    size_t a_count, b_count, d_count; /* elements, of the whole batch */
};

/* A batch of matrices of rows x k random elements. mn_major: the bytes of each are transposed, k x rows. */
static inline void fill_operand(enum elem_type type, int mn_major, size_t batch, size_t rows, size_t k, float *values,
                                unsigned char *bytes, uint64_t *state) {
    const size_t size = elem_info(type).bytes;
    if (!mn_major) {
        elem_fill_random(type, batch * rows * k, bytes, values, state);
        return;
    }
    for (size_t l = 0; l < batch; l++, values += rows * k, bytes += rows * k * size)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < k; j++)
                values[i * k + j] = elem_store(type, random_float(state), bytes + (j * rows + i) * size);
}

/* inputs_free() frees them. */
static inline struct inputs inputs_make(const struct problem *p) {
    const enum elem_type type = (enum elem_type)p->type;
    const size_t size = elem_info(type).bytes, out = out_bytes(p->out);
    const size_t batch = (size_t)p->batch, m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    uint64_t state = p->seed;
    struct inputs in;
    in.a_count = batch * m * k;
    in.b_count = batch * n * k;
    in.d_count = batch * m * n;
    in.a = (float *)checked_malloc(in.a_count * sizeof(float));
    in.b = (float *)checked_malloc(in.b_count * sizeof(float));
    in.c = (float *)checked_malloc(in.d_count * sizeof(float));
    in.a_bytes = (unsigned char *)checked_malloc(in.a_count * size);
    in.b_bytes = (unsigned char *)checked_malloc(in.b_count * size);
    in.c_bytes = (unsigned char *)checked_malloc(in.d_count * out);
    fill_operand(type, p->a_major, batch, m, k, in.a, in.a_bytes, &state);
    fill_operand(type, p->b_major, batch, n, k, in.b, in.b_bytes, &state);
    if (p->beta == 0) /* all bits set is a NaN in each type */
        memset(in.c_bytes, 0xFF, in.d_count * out);
    else
        for (size_t i = 0; i < in.d_count; i++)
            in.c[i] = out_store(p->out, random_float(&state), in.c_bytes + i * out);
    return in;
}

static inline void inputs_free(struct inputs *in) {
    void *all[] = {in->a, in->b, in->c, in->a_bytes, in->b_bytes, in->c_bytes};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

#endif
