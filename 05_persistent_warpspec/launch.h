/* launch.h - the host's half of step 05: the kernel's parameters, the number of clusters, and the run. Host only. */
#ifndef STEP05_LAUNCH_H
#define STEP05_LAUNCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/tensor_map.h"
#include "problem.h"
#include "sizes.h"

/* ---------------------------------------------------------------- the plan */

/* The part of A or B that a CTA holds, `rows` of M or N, in K tiles of tile_k; `sharers` CTAs load a slice each. */
static inline struct operand make_operand(const struct elem_info *e, int mn_major, uint32_t rows, uint32_t tile_k,
                                          uint32_t sharers) {
    struct operand o = {};
    o.mn_major = (uint32_t)mn_major;
    if (!mn_major) { /* rows of 128 bytes of K */
        o.boxes = 1;
        o.slice_rows = rows / sharers;
        o.slice_bytes = o.slice_rows * TILE_K_BYTES;
        o.step_x = tile_k;
        o.umma_step = UMMA_K_BYTES / 16;
        o.desc = umma_smem_desc_packed(0, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, rows);
        return o;
    }
    /* tile_k rows of at most 128 bytes of M or N each; a wider part is several boxes */
    const uint32_t row_bytes = rows * (uint32_t)e->bytes, span = row_bytes < 128 ? row_bytes : 128;
    const enum umma_swizzle swizzle = operand_swizzle(e, 1, span);
    o.boxes = row_bytes / span;
    o.box_bytes = span * tile_k;
    o.box_columns = span / (uint32_t)e->bytes;
    o.slice_rows = tile_k / sharers;
    o.slice_bytes = o.slice_rows * span;
    o.step_y = tile_k;
    o.umma_step = umma_k(e->kind) * span / 16;
    o.desc = umma_smem_desc_packed(0, UMMA_MAJOR_MN, swizzle, tile_k);
    return o;
}

static inline CUtensorMap operand_map(const struct operand *o, const struct elem_info *e, enum elem_type type,
                                      void *gpu, const struct problem *p, int extent) {
    const CUtensorMapDataType t = tensor_map_type(type);
    if (!o->mn_major)
        return tensor_map_3d(gpu, t, e->bytes, p->batch, extent, p->k, o->slice_rows, TILE_K_BYTES / e->bytes,
                             CU_TENSOR_MAP_SWIZZLE_128B);
    const uint32_t span = o->box_columns * (uint32_t)e->bytes;
    return tensor_map_3d(gpu, t, e->bytes, p->batch, p->k, extent, o->slice_rows, o->box_columns,
                         tma_swizzle(operand_swizzle(e, 1, span)));
}

/* The kernel's parameters. shared: bytes that a CTA may have; *used: bytes that it uses. */
static inline struct gemm make_plan(const struct problem *p, uint32_t shared, uint32_t *used) {
    const struct elem_info e = elem_info((enum elem_type)p->type);
    struct gemm g = {};
    g.tile_n = (uint32_t)p->tile_n;
    g.cluster_m = (uint32_t)p->cluster_m;
    g.cluster_n = (uint32_t)p->cluster_n;
    g.tile_k = TILE_K_BYTES / (uint32_t)e.bytes;
    g.k_tiles = ((uint32_t)p->k + g.tile_k - 1) / g.tile_k;
    g.a = make_operand(&e, p->a_major, CTA_M, g.tile_k, g.cluster_n);
    g.b = make_operand(&e, p->b_major, g.tile_n / 2, g.tile_k, g.cluster_m / 2);
    g.a_bytes = CTA_M * TILE_K_BYTES;
    g.stage_bytes = g.a_bytes + g.tile_n / 2 * TILE_K_BYTES;
    g.out = (enum out_type)p->out;
    g.ab_at = buffer_at(g.out, p->beta != 0 ? 2 * BUFFERS : BUFFERS); /* after D's, or D's and C's */
    g.stages = (shared - g.ab_at) / g.stage_bytes;                    /* all that is left */
    g.stages = g.stages < MAX_STAGES ? g.stages : MAX_STAGES;
    if (g.stages < MIN_STAGES) {
        fprintf(stderr, "%u bytes of shared memory do not hold %d stages of %u\n", shared, MIN_STAGES, g.stage_bytes);
        exit(1);
    }
    *used = g.ab_at + g.stages * g.stage_bytes;
    const uint32_t rows = CTA_M * g.cluster_m, columns = g.tile_n * g.cluster_n;
    g.raster =
        raster_make(((uint32_t)p->m + rows - 1) / rows, ((uint32_t)p->n + columns - 1) / columns, (uint32_t)p->group);
    g.works = g.raster.tiles_m * g.raster.tiles_n * (uint32_t)p->batch;
    g.clc = p->scheduler == SCHEDULER_CLC;
    g.kind = e.kind;
    g.idesc = umma_idesc(2 * CTA_M, g.tile_n, UMMA_D_F32, e.format, e.format, (enum umma_major)p->a_major,
                         (enum umma_major)p->b_major);
    g.relu = (uint32_t)p->relu;
    g.alpha = p->alpha;
    g.beta = p->beta;
    return g;
}

/* ---------------------------------------------------------------- the launch */

struct launch {
    cudaLaunchConfig_t config;
    cudaLaunchAttribute cluster;
};

/* Fills l, which must not move afterwards. */
static inline void make_launch(struct launch *l, const void *kernel, const struct problem *p, const struct gemm *g,
                               uint32_t shared) {
    const uint32_t ctas = g->cluster_m * g->cluster_n;
    int resident = 0;
    *l = {};
    l->cluster.id = cudaLaunchAttributeClusterDimension;
    l->cluster.val.clusterDim.x = ctas;
    l->cluster.val.clusterDim.y = l->cluster.val.clusterDim.z = 1;
    l->config.blockDim = dim3(g->clc ? CLC_THREADS : THREADS);
    l->config.dynamicSmemBytes = shared;
    l->config.attrs = &l->cluster;
    l->config.numAttrs = 1;
    l->config.gridDim = dim3(g->works * ctas); /* clc: a cluster for each item, most of them never launched */
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    CUDA_CHECK(cudaOccupancyMaxActiveClusters(&resident, kernel, &l->config));
    if (resident < 1) {
        fprintf(stderr, "the GPU takes no cluster of %u CTAs with %u bytes of shared memory each\n", ctas, shared);
        exit(1);
    }
    if (p->clusters && p->clusters < resident)
        resident = p->clusters;
    uint32_t clusters = (uint32_t)resident < g->works ? (uint32_t)resident : g->works;
    if (!g->clc) /* as many as run at the same time: each stays to the end */
        l->config.gridDim = dim3(clusters * ctas);
    printf("  grid      %u clusters of %u x %u CTAs, %u threads each; %d run at the same time\n",
           l->config.gridDim.x / ctas, g->cluster_m, g->cluster_n, l->config.blockDim.x, resident);
}

static inline void print_plan(const void *kernel, const struct problem *p, const struct gemm *g, uint32_t used,
                              uint32_t shared) {
    cudaFuncAttributes f;
    CUDA_CHECK(cudaFuncGetAttributes(&f, kernel));
    printf("  tiles     %u x %u of D a pair, %u x %u a cluster: %u x %u x %d, in groups of %d rows of them\n",
           2 * CTA_M, g->tile_n, CTA_M * g->cluster_m, g->tile_n * g->cluster_n, g->raster.tiles_m, g->raster.tiles_n,
           p->batch, p->group);
    printf("  K loop    %u tiles of 128 bytes (%u %s), %d UMMAs of %ux%ux%u each\n", g->k_tiles, g->tile_k,
           elem_names[p->type], UMMAS_PER_TILE, 2 * CTA_M, g->tile_n, umma_k(g->kind));
    printf("  shared    %u stages x %u bytes, %d + %d subtiles of C and D x %u, barriers: %u of %u bytes\n", g->stages,
           g->stage_bytes, p->beta != 0 ? BUFFERS : 0, BUFFERS, subtile_bytes(g->out), used, shared);
    printf("  TMEM      %d accumulators of 128 lanes x %u columns a CTA\n", ACCUMULATORS, g->tile_n);
    printf("  registers %d of at most %d a thread (65536 for %d threads)\n", f.numRegs,
           65536 / CLC_THREADS < 255 ? 65536 / CLC_THREADS : 255, CLC_THREADS);
}

/* The line of --time. */
static inline void report_time(const struct problem *p, struct timing *t) {
    char size[64], type[32];
    snprintf(size, sizeof size, p->batch > 1 ? "%dx%dx%dx%d" : "%dx%dx%d", p->m, p->n, p->k, p->batch);
    snprintf(type, sizeof type, "%s->%s", elem_names[p->type], out_names[p->out]);
    timing_report(t, "05_persistent_warpspec", size, type, 2.0 * p->m * p->n * p->k * p->batch);
}

/* Runs the kernel on the inputs' bytes and fills d. */
static inline void run(const void *kernel, const struct problem *p, struct inputs *in, void *d) {
    const struct elem_info e = elem_info((enum elem_type)p->type);
    const size_t out = out_bytes(p->out);
    int device = 0, shared = 0;
    uint32_t used;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    struct gemm g = make_plan(p, (uint32_t)shared, &used);
    print_plan(kernel, p, &g, used, (uint32_t)shared);

    void *a_gpu = gpu_upload(in->a_bytes, in->a_count * e.bytes);
    void *b_gpu = gpu_upload(in->b_bytes, in->b_count * e.bytes);
    void *c_gpu = gpu_upload(in->c_bytes, in->d_count * out);
    void *d_gpu = gpu_alloc_unwritten(in->d_count * out);
    CUtensorMap a = operand_map(&g.a, &e, (enum elem_type)p->type, a_gpu, p, p->m);
    CUtensorMap b = operand_map(&g.b, &e, (enum elem_type)p->type, b_gpu, p, p->n);
    CUtensorMapSwizzle swizzle = out == 4 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
    CUtensorMap c =
        tensor_map_3d(c_gpu, out_map_type(p->out), out, p->batch, p->m, p->n, CTA_M, SUBTILE_COLUMNS, swizzle);
    CUtensorMap m = tensor_map_3d(d_gpu, out_map_type(p->out), out, p->batch, p->m, p->n, CTA_M / EPILOGUE_WARPS,
                                  SUBTILE_COLUMNS, swizzle);
    struct launch l;
    make_launch(&l, kernel, p, &g, used);
    void *args[] = {&a, &b, &c, &m, &g};
    const struct timing_input inputs[] = {{a_gpu, in->a_bytes, in->a_count * e.bytes},
                                          {b_gpu, in->b_bytes, in->b_count * e.bytes}};
    struct timing t = timing_make(p->time, inputs, 2);
    while (timing_next(&t)) /* once, or as --time says */
        CUDA_CHECK(cudaLaunchKernelExC(&l.config, kernel, args));
    report_time(p, &t);

    gpu_download(d, d_gpu, in->d_count * out);
    void *all[] = {a_gpu, b_gpu, c_gpu};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CUDA_CHECK(cudaFree(all[i]));
}

#endif
