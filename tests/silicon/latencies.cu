/* latencies - what loads, stores and barriers take on a GPU that does nothing else: a line NAME VALUE each, in cycles of
 * an SM, with the clock at the end.
 *
 *     nvcc -arch=sm_90a -cudart shared -o latencies latencies.cu
 *     sm100emu --schedule=model latencies
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t error = (call);                                                                              \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define LINE 128
#define STEPS 64               /* of a chain of loads */
#define L2_LINES 512           /* of which each is asked for */
#define FAR_BYTES (160u << 20) /* more than L2 holds */
#define BULK 16384
#define ROUNDS 64
#define WARM 4

/* The clock when `x` is known. */
static __device__ long long clock_after(uint64_t x) {
    if (x == 1)
        __trap();
    return clock64();
}

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* ---------------------------------------------------------------- chains: a cell holds the address of the next */

static __device__ uint64_t load(uint64_t at, bool l1) {
    uint64_t x;
    if (l1)
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(x) : "l"(at) : "memory");
    else
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(x) : "l"(at) : "memory");
    return x;
}

template <bool L1> static __device__ uint64_t chain(uint64_t *at) {
    const long long from = clock64();
    uint64_t x = *at;
#pragma unroll 8
    for (int i = 0; i < STEPS; i++)
        x = load(x, L1);
    *at = x;
    return (uint64_t)(clock_after(x) - from);
}

template <bool L1> __global__ void chase(uint64_t first, int warm, double *out) {
    uint64_t at = first, took = 0;
    for (int i = 0; i <= warm; i++)
        took = chain<L1>(&at);
    *out = (double)took / STEPS;
}

/* Each line holds its own address. */
__global__ void l2_lines(uint64_t *cells, double *out) {
    for (int i = 0; i < L2_LINES; i++) {
        uint64_t *cell = cells + i * (LINE / 8), at = (uint64_t)cell;
        *cell = at;
        __threadfence();
        chain<false>(&at);
        out[i] = (double)chain<false>(&at) / STEPS;
    }
}

__global__ void chase_shared(double *out) {
    __shared__ uint32_t cell[64];
    for (int i = 0; i < 64; i++)
        cell[i] = shared_address(&cell[(i + 7) % 64]);
    uint32_t at = shared_address(cell);
    long long from = 0;
    for (int pass = 0; pass < 2; pass++) {
        from = clock64();
#pragma unroll 8
        for (int i = 0; i < STEPS; i++)
            asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    }
    *out = (double)(clock_after(at) - from) / STEPS;
}

/* ---------------------------------------------------------------- many at a time
 * 16 bytes a lane, `stride` from one to the next. */

template <bool STORE> __global__ void many(char *at, int stride, double *out) {
    __shared__ long long begin[8], end[8];
    const unsigned warp = threadIdx.x / 32;
    char *const mine = at + warp * 32 * LINE + threadIdx.x % 32 * stride;
    uint32_t sum = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        const long long from = clock64();
        uint32_t x[8][4] = {};
#pragma unroll 1
        for (int i = 0; i < ROUNDS / 8; i++)
#pragma unroll
            for (int k = 0; k < 8; k++) {
                if (STORE)
                    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(mine), "r"(i) : "memory");
                else
                    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                                 : "=r"(x[k][0]), "=r"(x[k][1]), "=r"(x[k][2]), "=r"(x[k][3])
                                 : "l"(mine)
                                 : "memory");
            }
        for (int k = 0; k < 8; k++)
            sum += x[k][0] + x[k][1] + x[k][2] + x[k][3];
        begin[warp] = from;
        end[warp] = clock_after(sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < blockDim.x / 32; w++) {
            begin[0] = begin[w] < begin[0] ? begin[w] : begin[0];
            end[0] = end[w] > end[0] ? end[w] : end[0];
        }
        *out = (double)(end[0] - begin[0]) / (ROUNDS * (blockDim.x / 32));
    }
}

/* ---------------------------------------------------------------- barriers */

__global__ void bar_sync(double *out) {
    long long from = 0;
    for (int i = -WARM; i < ROUNDS; i++) {
        if (i == 0)
            from = clock64();
        __syncthreads();
    }
    *out = (double)(clock64() - from) / ROUNDS;
}

__global__ void __cluster_dims__(2, 1, 1) bar_cluster(double *out) {
    long long from = 0;
    for (int i = -WARM; i < ROUNDS; i++) {
        if (i == 0)
            from = clock64();
        asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    }
    *out = (double)(clock64() - from) / ROUNDS;
}

static __device__ void mbar_wait(uint32_t at, uint32_t parity) {
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(at), "r"(parity)
                     : "memory");
}

/* From one thread's arrival to the next instruction of another, which then answers the same way. */
template <bool REMOTE> static __device__ void hop(double *out) {
    __shared__ __align__(8) uint64_t bar[2];
    uint32_t rank, side = threadIdx.x / 32;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (REMOTE)
        side = rank;
    if (threadIdx.x % 32 == 0 && (REMOTE ? threadIdx.x == 0 : rank == 0 && threadIdx.x < 64)) {
        const uint32_t own = shared_address(&bar[REMOTE ? 0 : side]);
        uint32_t other;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(other)
            : "r"(shared_address(&bar[REMOTE ? 0 : side ^ 1])), "r"(REMOTE ? rank ^ 1 : rank));
        long long from = 0;
        for (int i = -WARM; i < ROUNDS; i++) {
            if (i == 0)
                from = clock64();
            if (side)
                mbar_wait(own, i & 1);
            if (REMOTE)
                asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
            else
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(other) : "memory");
            if (!side)
                mbar_wait(own, i & 1);
        }
        if (!side)
            *out = (double)(clock64() - from) / (2 * ROUNDS);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
__global__ void __cluster_dims__(2, 1, 1) hop_own(double *out) { hop<false>(out); }
__global__ void __cluster_dims__(2, 1, 1) hop_remote(double *out) { hop<true>(out); }

/* ---------------------------------------------------------------- bulk copies
 * out[0]: a load of what L2 has, to the end of the wait; out[1]: a store, until its source has been read; out[2]: and
 * from then on, until its bytes are written. */

__global__ void bulk(char *at, uint32_t bytes, double *out) {
    extern __shared__ __align__(128) char buffer[];
    __shared__ __align__(8) uint64_t bar;
    const uint32_t full = shared_address(&bar), here = shared_address(buffer);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(full) : "memory");
    long long load = 0, read = 0, written = 0;
    for (int i = 0; i < 2 * WARM; i++) {
        if (i == WARM)
            load = read = written = 0;
        const long long t0 = clock64();
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(bytes) : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(here),
            "l"(at), "r"(bytes), "r"(full)
            : "memory");
        mbar_wait(full, i & 1);
        const long long t1 = clock64();
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(at),
            "r"(here), "r"(bytes)
            : "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        const long long t2 = clock64();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        load += t1 - t0;
        read += t2 - t1;
        written += clock64() - t2;
    }
    out[0] = (double)load / WARM;
    out[1] = (double)read / WARM;
    out[2] = (double)written / WARM;
}

/* ---------------------------------------------------------------- CTAs one after the other on an SM */

struct life {
    uint64_t sm, begin, end;
};

__global__ void lives(struct life *lives) {
    const long long begin = clock64();
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    while (clock64() < begin + 20000)
        ;
    lives[blockIdx.x] = {sm, (uint64_t)begin, (uint64_t)clock64()};
}

static double middle(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v.empty() ? -1 : v[v.size() / 2];
}

static void between_ctas(void) {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    const int n = 3 * p.multiProcessorCount, bytes = 200 << 10; /* one an SM at a time */
    struct life *gpu;
    CHECK(cudaMalloc(&gpu, n * sizeof *gpu));
    CHECK(cudaFuncSetAttribute(lives, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    std::vector<struct life> found(n);
    for (int pass = 0; pass < 2; pass++)
        lives<<<n, 128, bytes>>>(gpu);
    CHECK(cudaMemcpy(found.data(), gpu, n * sizeof *gpu, cudaMemcpyDeviceToHost));
    std::sort(found.begin(), found.end(), [](const struct life &a, const struct life &b) {
        return a.sm != b.sm ? a.sm < b.sm : a.begin < b.begin;
    });
    std::vector<double> gaps;
    for (int i = 1; i < n; i++)
        if (found[i].sm == found[i - 1].sm)
            gaps.push_back((double)(found[i].begin - found[i - 1].end));
    printf("cta_to_cta %.0f\n", middle(gaps));
    CHECK(cudaFree(gpu));
}

__global__ void ticks(double *out) {
    uint64_t from, to;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from)::"memory");
    const long long begin = clock64();
    while (clock64() < begin + 1000000)
        ;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to)::"memory");
    *out = (double)(clock64() - begin) / (double)(to - from);
}

/* ---------------------------------------------------------------- all */

static double *result(void) {
    static double *gpu;
    if (!gpu)
        CHECK(cudaMalloc(&gpu, L2_LINES * sizeof *gpu));
    return gpu;
}

static std::vector<double> answers(int n) {
    std::vector<double> v(n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(v.data(), result(), n * sizeof *result(), cudaMemcpyDeviceToHost));
    return v;
}

static void say(const char *name) { printf("%s %.1f\n", name, answers(1)[0]); }

static void memory(char *gpu) {
    std::vector<uint64_t> cells(FAR_BYTES / 8);
    uint64_t seed = 1, at = 0;
    for (int i = 0; i <= STEPS; i++) { /* lines far from each other, none twice */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t next = (uint64_t)(i + 1) * (FAR_BYTES / (STEPS + 2) / LINE * LINE) + (seed >> 50) / LINE * LINE;
        cells[at / 8] = (uint64_t)gpu + next;
        at = next;
    }
    CHECK(cudaMemcpy(gpu, cells.data(), FAR_BYTES, cudaMemcpyHostToDevice));
    char *other;
    CHECK(cudaMalloc(&other, FAR_BYTES));
    CHECK(cudaMemset(other, 0, FAR_BYTES));
    chase<false><<<1, 1>>>((uint64_t)gpu, 0, result());
    say("hbm");
    CHECK(cudaFree(other));

    for (int i = 0; i < STEPS; i++)
        cells[i] = (uint64_t)gpu + (i + 13) % STEPS * 8;
    CHECK(cudaMemcpy(gpu, cells.data(), STEPS * 8, cudaMemcpyHostToDevice));
    chase<true><<<1, 1>>>((uint64_t)gpu, 1, result());
    say("l1");
    chase_shared<<<1, 1>>>(result());
    say("shared");

    l2_lines<<<1, 1>>>((uint64_t *)gpu, result());
    std::vector<double> all = answers(L2_LINES), half[2];
    std::sort(all.begin(), all.end());
    const double between = (all[L2_LINES / 20] + all[L2_LINES - 1 - L2_LINES / 20]) / 2;
    for (double cycles : all)
        half[cycles > between].push_back(cycles);
    printf("l2_near %.1f\nl2_far %.1f\nl2_far_lines %.2f\n", middle(half[0]), middle(half[1]),
           (double)half[1].size() / L2_LINES);
}

int main(void) {
    char *gpu;
    CHECK(cudaMalloc(&gpu, FAR_BYTES));
    ticks<<<1, 1>>>(result()); /* the clock comes up */
    answers(1);
    memory(gpu);
    const struct {
        const char *name;
        int threads, stride;
        bool store;
    } loads[] = {{"load_of_4_lines", 32, 16, false},          {"load_of_32_lines", 32, 128, false},
                 {"4_warps_load_of_4_lines", 128, 16, false}, {"4_warps_load_of_32_lines", 128, 128, false},
                 {"store_of_4_lines", 32, 16, true},          {"store_of_32_lines", 32, 128, true},
                 {"4_warps_store_of_4_lines", 128, 16, true}, {"4_warps_store_of_32_lines", 128, 128, true}};
    for (const auto &l : loads) {
        if (l.store)
            many<true><<<1, l.threads>>>(gpu, l.stride, result());
        else
            many<false><<<1, l.threads>>>(gpu, l.stride, result());
        say(l.name);
    }
    bar_sync<<<1, 128>>>(result());
    say("bar_sync");
    bar_cluster<<<2, 128>>>(result());
    say("bar_cluster");
    hop_own<<<2, 64>>>(result());
    say("hop_own");
    hop_remote<<<2, 64>>>(result());
    say("hop_remote");
    CHECK(cudaFuncSetAttribute(bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, BULK));
    for (uint32_t bytes : {2048u, (uint32_t)BULK}) {
        bulk<<<1, 1, BULK>>>(gpu, bytes, result());
        const std::vector<double> took = answers(3);
        printf("bulk_load_%u %.1f\nbulk_store_read_%u %.1f\nbulk_store_written_%u %.1f\n", bytes, took[0], bytes,
               took[1], bytes, took[2]);
    }
    between_ctas();
    ticks<<<1, 1>>>(result());
    say("ghz_100");
    return 0;
}
