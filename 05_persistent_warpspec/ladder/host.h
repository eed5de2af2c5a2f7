/* host.h - what the rungs of the ladder share: the sizes and parameters of their kernels (host and device), and all
 * that the host does around them, from the command line to the verdict. The differences of rungs are in struct rung. */
#ifndef STEP05_LADDER_HOST_H
#define STEP05_LADDER_HOST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../common/cmdline.h"
#include "../../common/descriptors.h"
#include "../../common/gemm_host.h"
#include "../../common/tensor_map.h"
#include "../../common/tmem.cuh"
#include "../../common/types.h"
#include "../raster.h"

/* ---------------------------------------------------------------- sizes */

enum {
    CTA_M = 128,         /* rows of A and D in a CTA, half of the pair's 256 */
    TILE_N = 256,        /* columns of D in a pair */
    HALF_N = TILE_N / 2, /* rows of B in a CTA */
    TILE_K_BYTES = 128,  /* along K: 64 f16, 32 tf32, 128 fp8 */
    UMMA_K_BYTES = 32,   /* along K, that one UMMA multiplies */
    UMMAS_PER_TILE = TILE_K_BYTES / UMMA_K_BYTES,
    A_BYTES = CTA_M * TILE_K_BYTES,
    STAGE_BYTES = A_BYTES + HALF_N * TILE_K_BYTES, /* a CTA's part of a K tile: A, then B */
    PAIR_BYTES = 2 * STAGE_BYTES,
    SUBTILE_COLUMNS = 32, /* of D that the epilogue handles at a time: registers of a thread */
    SUBTILE_BYTES = CTA_M * SUBTILE_COLUMNS * (int)sizeof(float),
    STORAGE_BYTES = 1024, /* struct shared_storage; what follows is on the boundary of the swizzle pattern */
    MIN_STAGES = 2,
    MAX_STAGES = 7,
    GROUP = 8, /* rows of cluster tiles that are walked together (raster.h) */
};

static_assert(MAX_STAGES * STAGE_BYTES + STORAGE_BYTES <= 227 * 1024, "what a CTA may have");
static_assert(SUBTILE_COLUMNS == 32, "tcgen05.ld.32x32b.x32 a subtile");

/* ---------------------------------------------------------------- parameters, the same for all CTAs */

struct gemm {
    uint32_t k_tiles, tile_k;      /* tiles along K, and elements of each */
    uint32_t cluster_m, cluster_n; /* CTAs of a cluster along M, two in each pair, and along N */
    uint32_t stages;
    uint32_t ab_at; /* offset of the first stage in shared memory */
    enum umma_kind kind;
    uint32_t idesc;
    float alpha, beta;
    uint32_t n; /* columns of C and D, which are reached by pointers in rungs 0 to 4 */
    const float *c;
    float *d;
    struct raster raster; /* from rung 3 on: work item to place in D, */
    uint32_t works;       /* and how many there are: tiles of clusters in D */
};

/* ---------------------------------------------------------------- host: options */

/* What a rung's launch depends on. */
struct rung {
    const char *name;   /* of its file */
    const void *kernel; /* (a, b, g), or (a, b, c, d, g) with tma_epilogue: tensor maps, struct gemm */
    int threads;
    int accumulators;
    int stages;       /* 0: as many as fit, or as --stages says */
    int persistent;   /* 1: as many clusters as fit, each makes many tiles; 0: one cluster for each tile of a cluster */
    int tma_epilogue; /* above 0: buffers of C and D in shared memory, this many of each, before the stages */
};

struct ladder_options {
    struct gemm_problem p;
    int cluster_m, cluster_n;
    int clusters; /* at most so many at the same time; 0: as many as the GPU takes */
    int stages;   /* at most so many */
    int tile_k;   /* elements of a K tile */
};

static const char *const ladder_clusters[] = {"2x1", "2x2", "4x1", "4x2", NULL};

static inline struct ladder_options ladder_read_options(int argc, char **argv, const struct rung *r) {
    struct ladder_options o = {.p = gemm_default(r->name), .clusters = 4, .stages = r->stages ? r->stages : MAX_STAGES};
    int cluster = 0;
    o.p.m = o.p.n = 1024;
    o.p.k = 512;
    const struct cl_option own[] = {
        cl_choice("cluster", &cluster, "CTAs along M x along N", ladder_clusters),
        /* and of those that have it: */
        cl_int("stages", &o.stages, "K tiles in shared memory, at most", MIN_STAGES, MAX_STAGES, 1),
        cl_int("clusters", &o.clusters, "at most so many run; 0: as many as fit", 0, 1 << 20, 1),
    };
    o.tile_k = gemm_options(argc, argv, "D = alpha A B^T + beta C, a rung of the ladder to step 05", &o.p,
                            ", whole clusters of tiles", own,
                            r->stages       ? 1
                            : r->persistent ? 3
                                            : 2);
    o.cluster_m = ladder_clusters[cluster][0] - '0';
    o.cluster_n = ladder_clusters[cluster][2] - '0';
    gemm_require_multiple(r->name, "m", o.p.m, CTA_M * o.cluster_m, "a cluster of tiles");
    gemm_require_multiple(r->name, "n", o.p.n, TILE_N * o.cluster_n, "a cluster of tiles");
    return o;
}

/* ---------------------------------------------------------------- host: the plan and the launch */

/* The kernel's parameters. shared: bytes that a CTA may have. */
static inline struct gemm ladder_plan(const struct rung *r, const struct ladder_options *o, const struct gemm_data *x,
                                      uint32_t shared) {
    const struct gemm_problem *p = &o->p;
    const struct elem_info e = elem_info((enum elem_type)p->type);
    const int kinds = p->beta != 0 ? 2 : 1; /* of buffers: D's, and C's if it is read */
    struct gemm g = {
        .k_tiles = (uint32_t)(p->k / o->tile_k),
        .tile_k = (uint32_t)o->tile_k,
        .cluster_m = (uint32_t)o->cluster_m,
        .cluster_n = (uint32_t)o->cluster_n,
        .ab_at = STORAGE_BYTES + (uint32_t)(kinds * r->tma_epilogue * SUBTILE_BYTES),
        .kind = e.kind,
        .idesc = umma_idesc(2 * CTA_M, TILE_N, UMMA_D_F32, e.format, e.format, UMMA_MAJOR_K, UMMA_MAJOR_K),
        .alpha = p->alpha,
        .beta = p->beta,
        .n = (uint32_t)p->n,
        .c = x->c_gpu,
        .d = x->d_gpu,
        .raster =
            raster_make((uint32_t)(p->m / (CTA_M * o->cluster_m)), (uint32_t)(p->n / (TILE_N * o->cluster_n)), GROUP),
    };
    g.works = g.raster.tiles_m * g.raster.tiles_n;
    g.stages = (shared - g.ab_at) / STAGE_BYTES; /* all that is left */
    if (g.stages > (uint32_t)o->stages)
        g.stages = (uint32_t)o->stages;
    return g;
}

/* Bytes of shared memory to ask for. With few stages it is more than they take. So an SM, which has 228 KB and keeps
 * 1 KB for each CTA, holds no more CTAs than have room in tensor memory: tcgen05.alloc must not wait here
 * (step 04). */
static inline uint32_t ladder_shared(const struct rung *r, const struct gemm *g) {
    const uint32_t ctas = TMEM_COLUMNS / (uint32_t)(r->accumulators * TILE_N);
    const uint32_t needed = g->ab_at + g->stages * STAGE_BYTES, least = 228 * 1024 / (ctas + 1);
    return needed > least ? needed : least;
}

/* How many clusters the GPU runs at the same time. */
static inline uint32_t ladder_resident(const struct rung *r, const struct ladder_options *o, uint32_t used) {
    const unsigned ctas = (unsigned)(o->cluster_m * o->cluster_n);
    cudaLaunchAttribute cluster = {};
    cudaLaunchConfig_t config = {};
    int resident = 0;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = ctas;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3(ctas);
    config.blockDim = dim3((unsigned)r->threads);
    config.dynamicSmemBytes = used;
    config.attrs = &cluster;
    config.numAttrs = 1;
    CUDA_CHECK(cudaFuncSetAttribute(r->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)used));
    CUDA_CHECK(cudaOccupancyMaxActiveClusters(&resident, r->kernel, &config));
    if (resident < 1) {
        fprintf(stderr, "the GPU takes no cluster of %u CTAs with %u bytes of shared memory each\n", ctas, used);
        exit(1);
    }
    return (uint32_t)resident;
}

static inline void ladder_print(const struct rung *r, const struct ladder_options *o, const struct gemm *g,
                                uint32_t used, uint32_t shared) {
    cudaFuncAttributes f;
    CUDA_CHECK(cudaFuncGetAttributes(&f, r->kernel));
    gemm_print_problem(&o->p);
    printf("  tiles     %d x %d of D a pair, %u x %u a cluster: %u x %u\n", 2 * CTA_M, TILE_N, CTA_M * g->cluster_m,
           TILE_N * g->cluster_n, g->raster.tiles_m, g->raster.tiles_n);
    printf("  K loop    %u tiles of 128 bytes (%u %s), %d UMMAs of %dx%dx%u each\n", g->k_tiles, g->tile_k,
           elem_names[o->p.type], UMMAS_PER_TILE, 2 * CTA_M, TILE_N, umma_k(g->kind));
    printf("  shared    %u stage%s x %d bytes", g->stages, g->stages > 1 ? "s" : "", STAGE_BYTES);
    if (r->tma_epilogue)
        printf(", %d + %d subtiles of C and D x %d", g->beta != 0 ? r->tma_epilogue : 0, r->tma_epilogue,
               SUBTILE_BYTES);
    printf(", barriers: %u of %u bytes\n", used, shared);
    printf("  TMEM      %d accumulator%s of 128 lanes x %d columns a CTA\n", r->accumulators,
           r->accumulators > 1 ? "s" : "", TILE_N);
    printf("  registers %d a thread\n", f.numRegs);
}

/* Runs the kernel on the matrices. */
static inline void ladder_run(const struct rung *r, const struct ladder_options *o, const struct gemm_data *x) {
    const struct gemm_problem *p = &o->p;
    const enum elem_type type = (enum elem_type)p->type;
    int device = 0, shared = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    struct gemm g = ladder_plan(r, o, x, (uint32_t)shared);
    const uint32_t used = ladder_shared(r, &g), ctas = g.cluster_m * g.cluster_n;
    ladder_print(r, o, &g, used, (uint32_t)shared);

    dim3 grid((unsigned)(p->m / CTA_M), (unsigned)(p->n / TILE_N)), cluster(g.cluster_m, g.cluster_n);
    uint32_t resident = ladder_resident(r, o, used), clusters = g.works;
    if (r->persistent) { /* as many as run at the same time: each stays to the end */
        resident = o->clusters && (uint32_t)o->clusters < resident ? (uint32_t)o->clusters : resident;
        clusters = g.works < resident ? g.works : resident;
        grid = dim3(clusters * ctas), cluster = dim3(ctas);
    }
    printf("  grid      %u clusters of %u x %u CTAs, %d threads each; %u run at the same time\n", clusters, g.cluster_m,
           g.cluster_n, r->threads, resident);

    CUtensorMap a = tensor_map_2d(x->a_gpu, type, p->m, p->k, CTA_M / g.cluster_n);
    CUtensorMap b = tensor_map_2d(x->b_gpu, type, p->n, p->k, HALF_N / (g.cluster_m / 2));
    /* f32 in boxes of 128 bytes, a subtile's columns: C's for all four warps, D's for one */
    CUtensorMap c = tensor_map_2d(x->c_gpu, ELEM_TF32, p->m, p->n, CTA_M);
    CUtensorMap d = tensor_map_2d(x->d_gpu, ELEM_TF32, p->m, p->n, TMEM_WINDOW);
    void *by_pointer[] = {&a, &b, &g}, *by_tma[] = {&a, &b, &c, &d, &g};
    struct timing t = gemm_timing(p, x);
    while (timing_next(&t)) /* once, or as --time says */
        launch_clusters(r->kernel, grid, cluster, r->threads, (int)used, r->tma_epilogue ? by_tma : by_pointer);
    gemm_timing_report(&t, p);
}

/* The whole program: main() of every rung. */
static inline int ladder_main(int argc, char **argv, const struct rung *r) {
    const struct ladder_options o = ladder_read_options(argc, argv, r);
    cuda_require_sm100();
    struct gemm_data x = gemm_data_make(&o.p);
    ladder_run(r, &o, &x);
    return gemm_finish(&o.p, &x);
}

#endif
