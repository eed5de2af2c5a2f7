// order.cu: what a Hopper GPU shows of orders on which docs/memory-model.md takes a position. Not part of `make test`.
//
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o order tests/silicon/order.cu && ./order [ROUNDS]
//
// Each round a tile holds ones, two warpgroups use it, tell a last warp so, and that warp puts twos there. A use that
// sees a two is counted. The controls tell too early on purpose: if none of them counts anything, the tile is used too
// fast to be overtaken, and the zeros beside them say nothing. wgmma stands for tcgen05.mma: its reads go through the
// async proxy as well (PTX ISA 9.7.15.4), and wgmma.wait_group stands for the commit that was observed (9.7.16.12.1).
// The warpgroups share the tensor cores, so that the last products of each wait for those of the others.
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

enum use {
    USE_WGMMA,
    USE_LOAD,
    USE_STORE
};                                         // how the warpgroups use the tile; USE_STORE: it writes the twos itself,
                                           // and the last warp copies them to global memory
enum writer { WRITER_STORE, WRITER_COPY }; // how the last warp puts twos
enum handover { EARLY, RELAXED, RELEASE, FENCED }; // FENCED: with a fence.proxy.async before the arrival

enum { GROUP = 2 * 128, TILES = 32, TILE_BYTES = 2048, STEPS = 32, BYTES = TILES * TILE_BYTES, N = 256, SUMS = N / 2 };
static const uint32_t ones = 0x3c003c00, twos = 0x40004000; // pairs of f16

struct shared {
    alignas(1024) uint32_t tiles[BYTES / 4]; // A: tiles of 64 rows of 16 f16
    alignas(1024) uint32_t b[N * 8];         // B: N rows of 16 f16
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

#define SUMS_8(d, i)                                                                                                   \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),        \
        "+f"(d[i + 7])
#define SUMS_32(d, i) SUMS_8(d, i), SUMS_8(d, i + 8), SUMS_8(d, i + 16), SUMS_8(d, i + 24)
#define SUMS_128(d) SUMS_32(d, 0), SUMS_32(d, 32), SUMS_32(d, 64), SUMS_32(d, 96)

// 64 x 256 x 16.
__device__ static void multiply_once(float d[SUMS], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
                 "}, %128, %129, 1, 1, 1, 0, 0;"
                 : SUMS_128(d)
                 : "l"(a), "l"(b));
}

// The last tile is read last. Gives the sums of this thread.
__device__ static void multiply(const shared *s, float d[SUMS], bool wait) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        multiply_once(d, descriptor(smem_address(s->tiles) + i % TILES * TILE_BYTES), descriptor(smem_address(s->b)));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (wait)
        asm volatile("wgmma.wait_group.sync.aligned 0;" : SUMS_128(d)::"memory");
}

// The last warp, once it has been told: twos over all tiles, or the tiles to global memory.
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
            for (int i = TILES - 1; i >= 0; i--)
                asm volatile(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                        smem_address(s->tiles) + i * TILE_BYTES),
                    "l"(global + i * (TILE_BYTES / 4)), "r"((int)TILE_BYTES), "r"(smem_address(&s->landed))
                    : "memory");
        }
        mbarrier_wait(smem_address(&s->landed), phase);
    } else {
        for (int i = BYTES / 4 - 1 - (int)(threadIdx.x - GROUP); i >= 0; i -= 32) // the last tile first
            ((volatile uint32_t *)s->tiles)[i] = twos;
    }
}

// A warpgroup's part; gives whether it has seen what came after.
template <use USE, writer WRITER, handover HOW> __device__ static bool use_tiles(shared *s) {
    const uint32_t used = smem_address(&s->used);
    bool seen = false;
    if (USE == USE_WGMMA) {
        const bool before = HOW == EARLY && WRITER == WRITER_COPY; // a copy takes longer than the last products
        float d[SUMS] = {0};
        if (before)
            arrive(used, false);
        multiply(s, d, HOW != EARLY);
        if (!before)
            arrive(used, HOW == RELAXED);
        if (HOW == EARLY)
            asm volatile("wgmma.wait_group.sync.aligned 0;" : SUMS_128(d)::"memory");
        for (int i = 0; i < SUMS; i++)
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
__global__ void __launch_bounds__(GROUP + 32, 1) order(uint32_t *global, int rounds, unsigned long long *count) {
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
        for (int i = threadIdx.x; i < N * 8; i += GROUP + 32)
            s->b[i] = ones;
        fence_proxy_async_shared();
        __syncthreads();
        bool seen = false;
        if (threadIdx.x < GROUP)
            seen = use_tiles<USE, WRITER, HOW>(s);
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
    MEASURE("control: told before wgmma, then cp.async.bulk", USE_WGMMA, WRITER_COPY, EARLY);
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
