/* latencies - what loads, stores and barriers take on a GPU that does nothing else: a line NAME VALUE for each, in
 * cycles of an SM, with the clock at the end. latencies.txt is what an H200 gave; emulator/clock/table.def cites it.
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
#define STEPS 256              /* of a chain of loads */
#define FAR_STEPS 64           /* of one through memory that no cache holds */
#define L2_LINES 512           /* of which each is asked for */
#define FAR_BYTES (160u << 20) /* more than L2 holds */
#define BULK 4096
#define ROUNDS 64
#define WARM 4

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* The clock when `x` is known. */
static __device__ long long clock_after(uint64_t x) {
    __shared__ volatile uint64_t known[128];
    known[threadIdx.x % 128] = x;
    __syncwarp();
    (void)known[threadIdx.x % 128];
    return clock64();
}

/* ---------------------------------------------------------------- chains: a cell holds the address of the next */

static __device__ uint64_t load(uint64_t at, bool l1) {
    uint64_t x;
    if (l1)
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(x) : "l"(at) : "memory");
    else
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(at) : "memory");
    return x;
}

/* What a step takes. */
template <bool L1> static __device__ double chain(uint64_t *at, int steps) {
    uint64_t x = *at;
    const long long from = clock_after(x);
#pragma unroll 8
    for (int i = 0; i < steps; i++)
        x = load(x, L1);
    *at = x;
    return (double)(clock_after(x) - from) / steps;
}

template <bool L1> __global__ void chase(uint64_t first, int steps, double *out) {
    uint64_t at = first;
    *out = chain<L1>(&at, steps);
}

/* Each line holds its own address. */
__global__ void l2_lines(uint64_t *cells, double *out) {
    for (int i = 0; i < L2_LINES; i++) {
        uint64_t *cell = cells + i * (LINE / 8), at = (uint64_t)cell;
        *cell = at;
        __threadfence();
        chain<false>(&at, 8);
        out[i] = chain<false>(&at, 64);
    }
}

__global__ void chase_shared(double *out) {
    __shared__ uint32_t cell[64];
    for (int i = 0; i < 64; i++)
        cell[i] = shared_address(&cell[(i + 7) % 64]);
    uint32_t at = shared_address(cell);
    const long long from = clock_after(at);
#pragma unroll 8
    for (int i = 0; i < STEPS; i++)
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    *out = (double)(clock_after(at) - from) / STEPS;
}

/* A thread writes a word and reads it, in a line that L1 has (`known`) or has not; `wide`: it has written the whole
 * sector. From the store to the answer. */
__global__ void write_read(char *at, bool known, bool wide, double *out) {
    long long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t line = (uint64_t)at + i * 4096;
        uint64_t x = known ? load(line, true) : 0;
        const long long from = clock_after(x);
        for (int w = 0; w < (wide ? 4 : 1); w++)
            asm volatile("st.global.u64 [%0], %1;" ::"l"(line + 8 * w), "l"((uint64_t)i) : "memory");
        x = load(line, true);
        sum += clock_after(x) - from;
    }
    *out = (double)sum / ROUNDS;
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

template <bool RELAXED> static __device__ void bar_cluster(double *out) {
    long long from = 0;
    for (int i = -WARM; i < ROUNDS; i++) {
        if (i == 0)
            from = clock64();
        if (RELAXED)
            asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
        else
            asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    }
    *out = (double)(clock64() - from) / ROUNDS;
}
__global__ void __cluster_dims__(2, 1, 1) bar_cluster_release(double *out) { bar_cluster<false>(out); }
__global__ void __cluster_dims__(2, 1, 1) bar_cluster_relaxed(double *out) { bar_cluster<true>(out); }

template <bool TEST> static __device__ void mbar_wait(uint32_t at, uint32_t parity) {
    uint32_t done = 0;
    while (!done)
        if (TEST)
            asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p;\n}"
                         : "=r"(done)
                         : "r"(at), "r"(parity)
                         : "memory");
        else
            asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                         "selp.u32 %0, 1, 0, p;\n}"
                         : "=r"(done)
                         : "r"(at), "r"(parity)
                         : "memory");
}

enum { SELF, OWN, OWN_TEST, RELEASE, RELAXED };

/* From one thread's arrival to the next instruction of another, which then answers the same way; SELF: of itself. */
template <int HOP> __global__ void __cluster_dims__(2, 1, 1) hop(double *out) {
    __shared__ __align__(8) uint64_t bar[2];
    const bool remote = HOP >= RELEASE;
    uint32_t rank, other;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const uint32_t side = HOP == SELF ? 0 : remote ? rank : threadIdx.x / 32;
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar[i])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x % 32 == 0 && (remote ? threadIdx.x == 0 : rank == 0 && threadIdx.x < (HOP == SELF ? 32 : 64))) {
        const uint32_t own = shared_address(&bar[remote ? 0 : side]);
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(other)
            : "r"(shared_address(&bar[remote || HOP == SELF ? 0 : side ^ 1])), "r"(remote ? rank ^ 1 : rank));
        long long from = 0;
        for (int i = -WARM; i < ROUNDS; i++) {
            if (i == 0)
                from = clock64();
            if (side)
                mbar_wait<HOP == OWN_TEST>(own, i & 1);
            if (HOP == RELEASE)
                asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
            else if (HOP == RELAXED)
                asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
            else
                asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(other)
                             : "memory");
            if (!side)
                mbar_wait<HOP == OWN_TEST>(own, i & 1);
        }
        if (!side)
            *out = (double)(clock64() - from) / ((HOP == SELF ? 1 : 2) * ROUNDS);
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/* ---------------------------------------------------------------- bulk copies
 * out[0]: `copies` loads of what L2 has, to the end of the wait; out[1]: as many stores, until their sources have been
 * read; out[2]: and from then on, until the bytes are written. */

__global__ void bulk(char *at, uint32_t bytes, uint32_t copies, double *out) {
    extern __shared__ __align__(128) char buffer[];
    __shared__ __align__(8) uint64_t bar;
    const uint32_t full = shared_address(&bar), here = shared_address(buffer);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(full) : "memory");
    long long load = 0, read = 0, written = 0;
    for (int i = 0; i < 2 * WARM; i++) {
        if (i == WARM)
            load = read = written = 0;
        const long long t0 = clock64();
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(bytes * copies)
                     : "memory");
        for (uint32_t k = 0; k < copies; k++)
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                    here + k * BULK),
                "l"(at + k * BULK), "r"(bytes), "r"(full)
                : "memory");
        mbar_wait<false>(full, i & 1);
        const long long t1 = clock64();
        for (uint32_t k = 0; k < copies; k++)
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(at + k * BULK),
                         "r"(here + k * BULK), "r"(bytes)
                         : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
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
    for (int i = 0; i <= FAR_STEPS; i++) { /* lines far from each other, none twice */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t next =
            (uint64_t)(i + 1) * (FAR_BYTES / (FAR_STEPS + 2) / LINE * LINE) + (seed >> 50) / LINE * LINE;
        cells[at / 8] = (uint64_t)gpu + next;
        at = next;
    }
    CHECK(cudaMemcpy(gpu, cells.data(), FAR_BYTES, cudaMemcpyHostToDevice));
    char *other;
    CHECK(cudaMalloc(&other, FAR_BYTES));
    CHECK(cudaMemset(other, 0, FAR_BYTES));
    chase<false><<<1, 1>>>((uint64_t)gpu, FAR_STEPS, result());
    say("hbm");
    CHECK(cudaFree(other));

    for (int i = 0; i < 64; i++)
        cells[i] = (uint64_t)gpu + (i + 13) % 64 * 8;
    CHECK(cudaMemcpy(gpu, cells.data(), 64 * 8, cudaMemcpyHostToDevice));
    chase<true><<<1, 1>>>((uint64_t)gpu, 64 * STEPS, result());
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
    for (int known = 0; known < 2; known++)
        for (int wide = 0; wide < 2; wide++) {
            write_read<<<1, 1>>>(gpu + 64 * known, known, wide, result());
            printf("write_read_%s_of_%s %.1f\n", wide ? "sector" : "word", known ? "known_line" : "new_line",
                   answers(1)[0]);
        }
}

static void copies(char *gpu) {
    CHECK(cudaFuncSetAttribute(bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, 16 * BULK));
    for (uint32_t bytes : {512u, (uint32_t)BULK})
        for (uint32_t n : {1u, 4u, 16u}) {
            bulk<<<1, 1, 16 * BULK>>>(gpu, bytes, n, result());
            const std::vector<double> took = answers(3);
            printf("bulk_%ux%u load %.1f store_read %.1f store_written %.1f\n", n, bytes, took[0], took[1], took[2]);
        }
}

int main(void) {
    char *gpu;
    CHECK(cudaMalloc(&gpu, FAR_BYTES));
    ticks<<<1, 1>>>(result()); /* the clock comes up */
    answers(1);
    memory(gpu);
    const struct {
        const char *name;
        int threads;
        void (*kernel)(double *);
    } barriers[] = {{"bar_sync", 128, bar_sync},
                    {"bar_cluster_release", 128, bar_cluster_release},
                    {"bar_cluster_relaxed", 128, bar_cluster_relaxed},
                    {"hop_self", 64, hop<SELF>},
                    {"hop_own", 64, hop<OWN>},
                    {"hop_own_test_wait", 64, hop<OWN_TEST>},
                    {"hop_remote_release", 64, hop<RELEASE>},
                    {"hop_remote_relaxed", 64, hop<RELAXED>}};
    for (const auto &b : barriers) {
        b.kernel<<<2, b.threads>>>(result());
        say(b.name);
    }
    copies(gpu);
    between_ctas();
    ticks<<<1, 1>>>(result());
    printf("ghz %.3f\n", answers(1)[0]);
    return 0;
}
