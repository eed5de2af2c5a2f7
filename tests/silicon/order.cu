// order.cu: what a Hopper GPU shows of orders on which docs/memory-model.md takes a position. Not part of `make test`.
//
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o order tests/silicon/order.cu && ./order [ROUNDS]
//
// Each round a tile holds ones, a warpgroup uses it, tells a fifth warp so, and that warp puts twos there. A use that
// sees a two is counted. The controls tell too early on purpose: if none of them counts anything, the tile is used too
// fast to be overtaken, and the zeros beside them say nothing. wgmma stands for tcgen05.mma: its reads go through the
// async proxy as well (PTX ISA 9.7.15.4), and wgmma.wait_group stands for the commit that was observed (9.7.16.12.1).
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

enum use {
    USE_WGMMA,
    USE_LOAD,
    USE_STORE
};                                         // how the warpgroup uses the tile; USE_STORE: it writes the twos itself,
                                           // and the fifth warp copies them to global memory
enum writer { WRITER_STORE, WRITER_COPY }; // how the fifth warp puts twos
enum handover { EARLY, RELAXED, RELEASE, FENCED }; // FENCED: with a fence.proxy.async before the arrival

enum { GROUP = 128, TILES = 32, TILE_BYTES = 2048, STEPS = 128, BYTES = TILES * TILE_BYTES };
static const uint32_t ones = 0x3c003c00, twos = 0x40004000; // pairs of f16

struct shared {
    alignas(1024) uint32_t tiles[BYTES / 4]; // A: tiles of 64 rows of 16 f16
    alignas(1024) uint32_t b[64];            // B: 8 rows of 16 f16
    uint64_t used, landed;
};

// Blocks of 8 rows of 16 bytes, no swizzle (9.7.15.5.1.2); all elements are equal, so only the range matters.
__device__ static uint64_t descriptor(uint32_t address) {
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

__device__ static void arrive(uint32_t bar, bool relaxed) {
    if (relaxed)
        asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
    else
        mbarrier_arrive(bar);
}

// 128 steps of 64 x 8 x 16; the last tile is read last. Gives the sums of this thread.
__device__ static void multiply(const shared *s, float d[4], bool wait) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < STEPS; i++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "l"(descriptor(smem_address(s->tiles) + i % TILES * TILE_BYTES)),
                       "l"(descriptor(smem_address(s->b))));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (wait)
        asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
}

// The fifth warp, once it has been told: twos over all tiles, or the tiles to global memory.
template <use USE, writer WRITER> __device__ static void overwrite(shared *s, uint32_t *global, uint32_t phase) {
    mbarrier_wait(smem_address(&s->used), phase);
    if (USE == USE_STORE) {
        if (threadIdx.x == GROUP)
            asm volatile(
                "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\tcp.async.bulk.commit_group;\n\t"
                "cp.async.bulk.wait_group 0;" ::"l"(global),
                "r"(smem_address(s->tiles)), "r"((int)BYTES)
                : "memory");
    } else if (WRITER == WRITER_COPY) {
        if (threadIdx.x == GROUP) {
            mbarrier_arrive_expect_tx(smem_address(&s->landed), BYTES);
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                    smem_address(s->tiles)),
                "l"(global), "r"((int)BYTES), "r"(smem_address(&s->landed))
                : "memory");
        }
        mbarrier_wait(smem_address(&s->landed), phase);
    } else {
        for (int i = BYTES / 4 - 1 - (int)(threadIdx.x - GROUP); i >= 0; i -= 32) // the last tile first
            ((volatile uint32_t *)s->tiles)[i] = twos;
    }
}

// The warpgroup's part; gives whether it has seen what came after.
template <use USE, handover HOW> __device__ static bool use_tiles(shared *s) {
    const uint32_t used = smem_address(&s->used);
    bool seen = false;
    if (USE == USE_WGMMA) {
        float d[4] = {0, 0, 0, 0};
        multiply(s, d, HOW != EARLY);
        arrive(used, HOW == RELAXED);
        if (HOW == EARLY)
            asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
        for (int i = 0; i < 4; i++)
            seen |= d[i] != STEPS * 16.f;
    } else if (USE == USE_LOAD) {
        uint32_t sum = 0;
        if (HOW == EARLY)
            arrive(used, false);
        for (int i = threadIdx.x; i < BYTES / 4; i += GROUP)
            sum |= s->tiles[i] ^ ones;
        if (HOW == FENCED)
            fence_proxy_async_shared();
        if (HOW != EARLY)
            arrive(used, HOW == RELAXED);
        seen = sum != 0;
    } else {
        if (HOW == EARLY)
            arrive(used, false);
        for (int i = threadIdx.x; i < BYTES / 4; i += GROUP)
            s->tiles[i] = twos;
        if (HOW == FENCED)
            fence_proxy_async_shared();
        if (HOW != EARLY)
            arrive(used, HOW == RELAXED);
    }
    return seen;
}

// global: BYTES of twos for each CTA to copy from, or to copy to (USE_STORE, where a one that arrives is counted).
template <use USE, writer WRITER, handover HOW>
__global__ void __launch_bounds__(GROUP + 32) order(uint32_t *global, int rounds, unsigned long long *count) {
    extern __shared__ shared memory[];
    shared *s = memory;
    global += blockIdx.x * (BYTES / 4);
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&s->used), GROUP);
        mbarrier_init(smem_address(&s->landed), 1);
        fence_mbarrier_init();
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = threadIdx.x; i < BYTES / 4; i += GROUP + 32)
            s->tiles[i] = ones;
        if (threadIdx.x < 64)
            s->b[threadIdx.x] = ones;
        fence_proxy_async_shared();
        __syncthreads();
        bool seen = false;
        if (threadIdx.x < GROUP)
            seen = use_tiles<USE, HOW>(s);
        else
            overwrite<USE, WRITER>(s, global, round & 1);
        fence_proxy_async_shared();
        __syncthreads();
        if (USE == USE_STORE)
            for (int i = threadIdx.x; i < BYTES / 4; i += GROUP + 32)
                seen |= ((volatile uint32_t *)global)[i] != twos;
        if (seen)
            atomicAdd(count, 1ull);
        __syncthreads();
    }
}

template <use USE, writer WRITER, handover HOW>
static void measure(const char *what, int ctas, int rounds, uint32_t *global, unsigned long long *count) {
    unsigned long long n;
    CUDA_CHECK(cudaMemset(count, 0, sizeof *count));
    CUDA_CHECK(cudaFuncSetAttribute((const void *)order<USE, WRITER, HOW>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)sizeof(shared)));
    order<USE, WRITER, HOW><<<ctas, GROUP + 32, sizeof(shared)>>>(global, rounds, count);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(&n, count, sizeof n, cudaMemcpyDeviceToHost));
    printf("%-76s %12llu\n", what, n);
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 20000, ctas = 264;
    const size_t words = (size_t)ctas * (BYTES / 4);
    uint32_t *global, *host = (uint32_t *)malloc(words * 4);
    unsigned long long *count;
    for (size_t i = 0; host && i < words; i++)
        host[i] = twos;
    CUDA_CHECK(cudaMalloc((void **)&global, words * 4));
    CUDA_CHECK(cudaMalloc((void **)&count, sizeof *count));
    CUDA_CHECK(cudaMemcpy(global, host, words * 4, cudaMemcpyHostToDevice));
    printf("%d CTAs, %d rounds each; threads that saw bytes which should have come later (or earlier)\n", ctas, rounds);
#define MEASURE(what, ...) measure<__VA_ARGS__>(what, ctas, rounds, global, count)
    MEASURE("control: wgmma, told before wait_group, then st.shared", USE_WGMMA, WRITER_STORE, EARLY);
    MEASURE("wgmma, wait_group, arrive.release, then st.shared", USE_WGMMA, WRITER_STORE, RELEASE);
    MEASURE("wgmma, wait_group, arrive.relaxed, then st.shared", USE_WGMMA, WRITER_STORE, RELAXED);
    MEASURE("control: wgmma, told before wait_group, then cp.async.bulk", USE_WGMMA, WRITER_COPY, EARLY);
    MEASURE("wgmma, wait_group, arrive.release, then cp.async.bulk", USE_WGMMA, WRITER_COPY, RELEASE);
    MEASURE("wgmma, wait_group, arrive.relaxed, then cp.async.bulk", USE_WGMMA, WRITER_COPY, RELAXED);
    MEASURE("control: told before ld.shared, then cp.async.bulk", USE_LOAD, WRITER_COPY, EARLY);
    MEASURE("ld.shared, arrive.relaxed, then cp.async.bulk", USE_LOAD, WRITER_COPY, RELAXED);
    MEASURE("ld.shared, arrive.release, then cp.async.bulk", USE_LOAD, WRITER_COPY, RELEASE);
    MEASURE("ld.shared, fence.proxy.async, arrive.release, then cp.async.bulk", USE_LOAD, WRITER_COPY, FENCED);
    MEASURE("control: told before st.shared, then cp.async.bulk to global memory", USE_STORE, WRITER_COPY, EARLY);
    MEASURE("st.shared, arrive.relaxed, then cp.async.bulk to global memory", USE_STORE, WRITER_COPY, RELAXED);
    MEASURE("st.shared, arrive.release, then cp.async.bulk to global memory", USE_STORE, WRITER_COPY, RELEASE);
    MEASURE("st.shared, fence.proxy.async, arrive.release, then cp.async.bulk to global", USE_STORE, WRITER_COPY,
            FENCED);
    free(host);
    return 0;
}
