/* tma.cu - the loops of the TMA's microbenchmarks in figures/fit_tma_latency.csv, fit_tma_throughput.csv and
 * fit_tma_sharing.csv, for the clock.
 *
 * One CTA an SM on 148 of them. A CTA has `warps` warps, and each has one thread that keeps `stages` boxes of 128
 * floats by `rows` on their way; box after box, `rounds` in all. Boxes are its own, or those of a group of `share` CTAs
 * that all read the same, by themselves or (--multicast) as a cluster to which its first CTA sends them; all threads of
 * the cluster meet after each round where --meet.
 */
#include <stdint.h>
#include <stdio.h>

#include "../../common/cluster.cuh"
#include "../../common/cmdline.h"
#include "../../common/cuda_check.h"
#include "../../common/mbarrier.cuh"
#include "../../common/tensor_map.h"
#include "../../common/tma.cuh"

enum { SMS = 148, COLUMNS = 128, MOST = 16 };

struct job {
    int rounds, rows, stages, share, groups, multicast, meet;
};

/* The box of round r: those of all groups lie side by side. */
static __device__ __forceinline__ int row_of(const struct job *j, int group, int warps, int warp, int r) {
    return ((r * j->groups + group) * warps + warp) * j->rows;
}

static __device__ __forceinline__ void ask(const struct job *j, const CUtensorMap *map, uint32_t to, uint32_t bar,
                                           int row) {
    mbarrier_arrive_expect_tx(bar, j->rows * COLUMNS * 4);
    if (!j->multicast)
        tma_load_3d(to, map, 0, row, 0, bar);
    else if (cluster_rank() == 0)
        tma_load_2d_multicast(to, map, 0, row, bar, (1u << j->share) - 1);
}

__global__ void boxes(const __grid_constant__ CUtensorMap map, const __grid_constant__ struct job j) {
    extern __shared__ __align__(1024) unsigned char storage[];
    __shared__ uint64_t bars[MOST];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32, group = blockIdx.x / j.share;
    const uint32_t bytes = j.rows * COLUMNS * 4, own = smem_address(storage) + warp * j.stages * bytes;
    const uint32_t bar = smem_address(&bars[warp * j.stages]);
    const bool leads = threadIdx.x % 32 == 0;
    if (leads)
        for (int i = 0; i < j.stages; i++)
            mbarrier_init(bar + 8 * i, 1);
    fence_mbarrier_init();
    __syncthreads();
    cluster_sync();
    for (int r = 0; r < j.stages && leads && !j.meet; r++)
        ask(&j, &map, own + r * bytes, bar + 8 * r, row_of(&j, group, warps, warp, r));
    int at = 0;
    uint32_t parity = 0;
    for (int r = 0; r < j.rounds; r++) {
        if (leads && j.meet)
            ask(&j, &map, own, bar, row_of(&j, group, warps, warp, r));
        if (leads)
            mbarrier_wait_cluster(bar + 8 * at, parity);
        if (leads && !j.meet && r + j.stages < j.rounds)
            ask(&j, &map, own + at * bytes, bar + 8 * at, row_of(&j, group, warps, warp, r + j.stages));
        if (++at == j.stages) {
            at = 0;
            parity ^= 1;
        }
        __syncwarp();
        if (j.meet)
            cluster_sync();
    }
    cluster_sync();
}

int main(int argc, char **argv) {
    int warps = 1, ctas = SMS;
    struct job j = {.rounds = 8, .rows = 32, .stages = 1, .share = 1};
    const struct cl_option options[] = {
        cl_int("rounds", &j.rounds, "boxes that each warp asks for", 1, 4096, 1),
        cl_int("rows", &j.rows, "of a box, 512 bytes each", 1, 256, 1),
        cl_int("stages", &j.stages, "boxes on their way for a warp", 1, 4, 1),
        cl_int("warps", &warps, "of a CTA", 1, 4, 1),
        cl_int("share", &j.share, "CTAs that read the same", 1, 16, 1),
        cl_flag("multicast", &j.multicast, "the first CTA sends each box to all that share it"),
        cl_flag("meet", &j.meet, "all threads of a cluster meet after each box"),
    };
    cmdline_parse(argc, argv, "Boxes from global to shared memory.", options, sizeof options / sizeof options[0]);
    cuda_require_sm100();
    ctas = SMS / j.share * j.share;
    j.groups = ctas / j.share;
    const size_t rows = (size_t)j.rounds * j.groups * warps * j.rows;
    void *data;
    CUDA_CHECK(cudaMalloc(&data, rows * COLUMNS * 4));
    CUDA_CHECK(cudaMemset(data, 0, rows * COLUMNS * 4));
    CUtensorMap map;
    cuuint64_t extent[3] = {COLUMNS, rows, 1}, stride[2] = {COLUMNS * 4, rows * COLUMNS * 4};
    cuuint32_t box[3] = {COLUMNS, (cuuint32_t)j.rows, 1}, every[3] = {1, 1, 1};
    const CUresult made =
        tensor_map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, j.multicast ? 2 : 3, data, extent, stride, box,
                             every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS) {
        fprintf(stderr, "tma: cuTensorMapEncodeTiled: error %d\n", (int)made);
        return 1;
    }
    cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension};
    cluster.val.clusterDim = {j.multicast ? (unsigned)j.share : 1, 1, 1};
    cudaLaunchConfig_t config = {.gridDim = {(unsigned)ctas, 1, 1}, .blockDim = {32u * warps, 1, 1}};
    config.dynamicSmemBytes = 226 * 1024; /* so that one CTA fits an SM */
    config.attrs = &cluster;
    config.numAttrs = 1;
    CUDA_CHECK(cudaFuncSetAttribute(boxes, cudaFuncAttributeMaxDynamicSharedMemorySize, 226 * 1024));
    CUDA_CHECK(cudaLaunchKernelEx(&config, boxes, map, j));
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("PASS  tma: boxes of %d rows, %d stages, %d warps, %d share them\n", j.rows, j.stages, warps, j.share);
    return 0;
}
