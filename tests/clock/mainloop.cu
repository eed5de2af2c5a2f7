/* mainloop.cu - the loop that cutlass_gemm_mainloop times in figures/fit_mainloop.csv, for the clock's predictions.
 *
 * One CTA, one tile of D, a long K: a warp has the TMA bring tiles of A and B into a ring of stages, another multiplies
 * them and frees the stages. As there, a tile's rows are packed in swizzle spans of up to 128 bytes along K, a span of
 * A or B is one box, and all stages are asked for before the first is used.
 *
 *     mainloop --m 128 --n 64 --tile-k 64 --stages 4 --type bf16 --k 131072
 */
#include <stdint.h>
#include <stdio.h>

#include "../../common/cluster.cuh"
#include "../../common/cmdline.h"
#include "../../common/cuda_check.h"
#include "../../common/descriptors.h"
#include "../../common/mbarrier.cuh"
#include "../../common/tensor_map.h"
#include "../../common/tma.cuh"
#include "../../common/tmem.cuh"
#include "../../common/types.h"
#include "../../common/umma.cuh"

enum {
    THREADS = 192, /* four warps that can reach all of tensor memory, one that loads, one that multiplies */
    LOAD_WARP = 4,
    MMA_WARP = 5,
    MAX_STAGES = 8,
    UMMA_BYTES = 32, /* bytes of a row that one UMMA multiplies */
    ALIGN = 1024,
};

struct loop {
    int m, n, k_tiles, stages;
    uint32_t a_bytes, b_bytes; /* of a box of A and of B */
    uint32_t idesc;
    float *d;
};

/* A tile is BYTES wide along K; SPAN of them are one box. */
#define SPAN (BYTES < 128 ? BYTES : 128)
#define SPANS (BYTES / SPAN)
#define STEP (SPAN / (KIND == UMMA_KIND_F16 ? 2 : 1)) /* elements of a span */
#define SWIZZLE (SPAN == 128 ? UMMA_SWIZZLE_128B : SPAN == 64 ? UMMA_SWIZZLE_64B : UMMA_SWIZZLE_32B)

struct barriers {
    uint64_t full[MAX_STAGES], empty[MAX_STAGES], done;
    uint32_t tmem_base;
};

/* What a role steps through the ring. */
struct stage {
    int at;
    uint32_t parity;
};
static __device__ __forceinline__ void next_stage(struct stage *s, int stages) {
    if (++s->at == stages) {
        s->at = 0;
        s->parity ^= 1;
    }
}

template <enum umma_kind KIND, int BYTES>
static __device__ void load(const struct loop *l, struct barriers *s, uint32_t ring, const CUtensorMap *a,
                            const CUtensorMap *b) {
    const uint32_t bytes = (l->a_bytes + l->b_bytes) * SPANS, b_at = l->a_bytes * SPANS;
    struct stage stage = {0, 1};
#pragma unroll 1
    for (int t = 0; t < l->k_tiles; t++) {
        const uint32_t full = smem_address(&s->full[stage.at]), to = ring + stage.at * bytes;
        mbarrier_wait_cluster(smem_address(&s->empty[stage.at]), stage.parity);
        mbarrier_arrive_expect_tx(full, bytes);
#pragma unroll
        for (int i = 0; i < SPANS; i++)
            tma_load_3d(to + i * l->a_bytes, a, (t * SPANS + i) * STEP, 0, 0, full);
#pragma unroll
        for (int i = 0; i < SPANS; i++)
            tma_load_3d(to + b_at + i * l->b_bytes, b, (t * SPANS + i) * STEP, 0, 0, full);
        next_stage(&stage, l->stages);
    }
}

template <enum umma_kind KIND, int BYTES>
static __device__ void multiply(const struct loop *l, struct barriers *s, uint32_t ring) {
    const uint32_t bytes = (l->a_bytes + l->b_bytes) * SPANS, tmem = s->tmem_base;
    const uint64_t a_first = umma_smem_desc_packed(ring, UMMA_MAJOR_K, SWIZZLE, l->m);
    const uint64_t b_first = umma_smem_desc_packed(ring + l->a_bytes * SPANS, UMMA_MAJOR_K, SWIZZLE, l->n);
    struct stage stage = {0, 0};
#pragma unroll 1
    for (int t = 0; t < l->k_tiles; t++) {
        const uint64_t a_desc = umma_smem_advance(a_first, stage.at * bytes);
        const uint64_t b_desc = umma_smem_advance(b_first, stage.at * bytes);
        mbarrier_wait_relaxed(smem_address(&s->full[stage.at]), stage.parity);
        tcgen05_fence_after();
#pragma unroll
        for (int k = 0; k < BYTES; k += UMMA_BYTES)
            umma_ss(KIND, tmem, umma_smem_advance(a_desc, k / SPAN * l->a_bytes + k % SPAN),
                    umma_smem_advance(b_desc, k / SPAN * l->b_bytes + k % SPAN), l->idesc, t || k);
        umma_commit(smem_address(&s->empty[stage.at]));
        next_stage(&stage, l->stages);
    }
    umma_commit(smem_address(&s->done));
}

/* Row 0 of D is enough: nobody times this. */
static __device__ void epilogue(const struct loop *l, const struct barriers *s) {
    for (int column = 0; column < l->n; column += 16) {
        uint32_t bits[16];
        tmem_ld_32x32b_x16(bits, tmem_at(s->tmem_base, 0, column));
        tmem_wait_ld();
        if (threadIdx.x == 0)
            for (int i = 0; i < 16; i++)
                l->d[column + i] = __uint_as_float(bits[i]);
    }
}

template <enum umma_kind KIND, int BYTES>
__global__ void __launch_bounds__(THREADS)
    mainloop(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             const __grid_constant__ struct loop l) {
    extern __shared__ __align__(ALIGN) unsigned char storage[];
    struct barriers *s = (struct barriers *)storage;
    const uint32_t ring = smem_address(storage) + ALIGN, warp = threadIdx.x / 32;
    const uint32_t columns = l.n < 32 ? 32 : l.n > 128 ? 256 : l.n;
    if (threadIdx.x == 0) {
        for (int i = 0; i < l.stages; i++) {
            mbarrier_init(smem_address(&s->full[i]), 1);
            mbarrier_init(smem_address(&s->empty[i]), 1);
        }
        mbarrier_init(smem_address(&s->done), 1);
        fence_mbarrier_init();
    }
    if (warp == MMA_WARP) {
        tmem_alloc(smem_address(&s->tmem_base), columns);
        tmem_relinquish_alloc_permit();
    }
    tcgen05_fence_before();
    __syncthreads();
    tcgen05_fence_after();
    if (warp == LOAD_WARP && elect_one())
        load<KIND, BYTES>(&l, s, ring, &a, &b);
    if (warp == MMA_WARP && elect_one())
        multiply<KIND, BYTES>(&l, s, ring);
    __syncwarp();
    if (warp == 0) {
        mbarrier_wait_relaxed(smem_address(&s->done), 0);
        tcgen05_fence_after();
        epilogue(&l, s);
        tcgen05_fence_before();
    }
    __syncthreads();
    if (warp == MMA_WARP)
        tmem_dealloc(s->tmem_base, columns);
}

/* ---------------------------------------------------------------- host */

static const char *const types[] = {"bf16", "e4m3", NULL};

typedef void (*kernel)(const CUtensorMap, const CUtensorMap, const struct loop);

template <enum umma_kind KIND> static kernel kernel_of(size_t bytes) {
    switch (bytes) {
    case 32:
        return mainloop<KIND, 32>;
    case 64:
        return mainloop<KIND, 64>;
    case 128:
        return mainloop<KIND, 128>;
    case 256:
        return mainloop<KIND, 256>;
    case 512:
        return mainloop<KIND, 512>;
    default:
        fprintf(stderr, "mainloop: a tile is 32, 64, 128, 256 or 512 bytes wide along K, not %zu\n", bytes);
        exit(2);
    }
}

static CUtensorMap map_of(void *base, size_t size, int rows, int k, size_t span) {
    const CUtensorMapSwizzle swizzle = span == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : span == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                    : CU_TENSOR_MAP_SWIZZLE_32B;
    const CUtensorMapDataType type = size == 2 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_UINT8;
    return tensor_map_3d(base, type, size, 1, rows, k, rows, span / size, swizzle);
}

/* Bytes of 0x38 are 1 in e4m3, and 0x3838 in bf16: */
static double element(size_t size) { return size == 1 ? 1 : ldexp(1 + 56.0 / 128, -15); }

int main(int argc, char **argv) {
    int m = 128, n = 64, tile_k = 64, stages = 4, k = 131072, type = 0, launches = 1;
    const struct cl_option options[] = {
        cl_int("m", &m, "rows of the tile", 64, 128, 64),
        cl_int("n", &n, "its columns", 16, 256, 16),
        cl_int("tile-k", &tile_k, "elements along K of a stage", 16, 512, 16),
        cl_int("stages", &stages, "stages of the ring", 1, MAX_STAGES, 1),
        cl_int("k", &k, "elements along K", 512, 1 << 20, 512),
        cl_choice("type", &type, "of A and B", types),
        cl_int("launches", &launches, "how often", 1, 20, 1),
    };
    cmdline_parse(argc, argv, "The loop of cutlass_gemm_mainloop.", options, sizeof options / sizeof options[0]);
    cuda_require_sm100();

    const size_t size = type == 0 ? 2 : 1, bytes = tile_k * size, span = bytes < 128 ? bytes : 128;
    const kernel run = type == 0 ? kernel_of<UMMA_KIND_F16>(bytes) : kernel_of<UMMA_KIND_F8F6F4>(bytes);
    struct loop l = {.m = m, .n = n, .k_tiles = k / tile_k, .stages = stages};
    l.a_bytes = m * span;
    l.b_bytes = n * span;
    const enum umma_format format = type == 0 ? UMMA_BF16 : UMMA_E4M3;
    l.idesc = umma_idesc_pack({.d_format = UMMA_D_F32,
                               .a_format = (uint32_t)format,
                               .b_format = (uint32_t)format,
                               .n = (uint32_t)n,
                               .m = (uint32_t)m});
    void *a, *b;
    CUDA_CHECK(cudaMalloc(&a, (size_t)m * k * size));
    CUDA_CHECK(cudaMalloc(&b, (size_t)n * k * size));
    CUDA_CHECK(cudaMalloc((void **)&l.d, n * sizeof(float)));
    CUDA_CHECK(cudaMemset(a, 0x38, (size_t)m * k * size));
    CUDA_CHECK(cudaMemset(b, 0x38, (size_t)n * k * size));
    const CUtensorMap a_map = map_of(a, size, m, k, span), b_map = map_of(b, size, n, k, span);
    const int shared = ALIGN + stages * (m + n) * tile_k * size;
    CUDA_CHECK(cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    for (int i = 0; i < launches; i++)
        run<<<1, THREADS, shared>>>(a_map, b_map, l);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());

    static float d[256];
    CUDA_CHECK(cudaMemcpy(d, l.d, n * sizeof(float), cudaMemcpyDeviceToHost));
    const double right = k * element(size) * element(size);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += !(fabs(d[i] - right) <= 1e-3 * right);
    printf("%s  mainloop %dx%d tile-k %d stages %d %s: %d of %d columns wrong\n", wrong ? "FAIL" : "PASS", m, n, tile_k,
           stages, types[type], wrong, n);
    return wrong != 0;
}
