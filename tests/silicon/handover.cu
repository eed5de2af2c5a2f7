// handover.cu: what the forms of an arrival at the peer's mbarrier, and of a wait, cost a thread of a Hopper GPU; the
// table of 05_persistent_warpspec/README.md. Not part of `make test`.
//
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o handover tests/silicon/handover.cu && ./handover
//
// A cluster of two. One thread of CTA 0 arrives LOOPS times at an mbarrier of CTA 1, with or without a store to global
// memory before each arrival, and takes the clock before the first and behind the last: what is printed is what an
// arrival occupies the thread, the store included, not how long it takes to come. The same of waits for a phase that is
// complete; and of loads of a line that the wait before may have cleared from the L1. Each is the median of RUNS.
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

enum form { ARRIVE_RELEASE, ARRIVE_RELAXED, ARRIVE_FENCED, WAIT_ACQUIRE, WAIT_RELAXED, WAIT_FENCED };

enum { LOOPS = 200, RUNS = 21 };

template <form FORM> __device__ static void once(uint32_t peer, uint32_t own) {
    uint32_t done = 1;
    if (FORM == ARRIVE_RELEASE)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer) : "memory");
    if (FORM == ARRIVE_FENCED)
        fence_release_shared();
    if (FORM == ARRIVE_RELAXED || FORM == ARRIVE_FENCED)
        mbarrier_arrive_relaxed(peer);
    if (FORM == WAIT_ACQUIRE)
        asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 1;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(own)
                     : "memory");
    if (FORM == WAIT_RELAXED || FORM == WAIT_FENCED)
        done = mbarrier_try_wait_relaxed(own, 1);
    if (FORM == WAIT_FENCED)
        fence_acquire_shared();
    if (!done)
        __trap();
}

// global: 2 words; the first is stored, the second is loaded.
template <form FORM, bool STORE, bool LOAD>
__global__ void __cluster_dims__(2, 1, 1) handover(uint32_t *global, long long *cycles) {
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&bar), LOOPS + 1);
        fence_mbarrier_init();
    }
    cluster_sync();
    if (threadIdx.x == 0 && cluster_rank() == 0) {
        const uint32_t own = smem_address(&bar), peer = cluster_map(own, 1);
        uint32_t sum = ((const uint32_t *)global)[1];
        const long long from = clock64();
#pragma unroll 1
        for (int i = 0; i < LOOPS; i++) {
            if (STORE)
                global[0] = i;
            once<FORM>(peer, own);
            if (LOAD) {
                uint32_t word;
                asm volatile("ld.global.ca.b32 %0, [%1];" : "=r"(word) : "l"(global + 1 + (sum & 1)) : "memory");
                sum += word; // each load waits for the one before
            }
        }
        *cycles = clock64() - from + (sum & 1);
    }
    cluster_sync();
}

static int ascending(const void *a, const void *b) {
    const long long x = *(const long long *)a, y = *(const long long *)b;
    return x < y ? -1 : x > y;
}

template <form FORM, bool STORE, bool LOAD> static double measure(uint32_t *global, long long *cycles) {
    long long of[RUNS];
    for (int i = -1; i < RUNS; i++) { // one to warm up
        handover<FORM, STORE, LOAD><<<2, 32>>>(global, cycles);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaMemcpy(&of[i < 0 ? 0 : i], cycles, sizeof *cycles, cudaMemcpyDeviceToHost));
    }
    qsort(of, RUNS, sizeof *of, ascending);
    return (double)of[RUNS / 2] / LOOPS;
}

template <form FORM> static void measure_form(const char *what, uint32_t *global, long long *cycles) {
    printf("%-58s %8.1f %8.1f %8.1f\n", what, measure<FORM, false, false>(global, cycles),
           measure<FORM, true, false>(global, cycles), measure<FORM, false, true>(global, cycles));
}

int main(void) {
    uint32_t *global;
    long long *cycles;
    CUDA_CHECK(cudaMalloc((void **)&global, 64));
    CUDA_CHECK(cudaMemset(global, 0, 64));
    CUDA_CHECK(cudaMalloc((void **)&cycles, sizeof *cycles));
    printf("%-58s %8s %8s %8s\n", "cycles each, of one thread", "alone", "store", "load");
    measure_form<ARRIVE_RELEASE>("arrive.release.cluster at the peer's", global, cycles);
    measure_form<ARRIVE_RELAXED>("arrive.relaxed.cluster at the peer's", global, cycles);
    measure_form<ARRIVE_FENCED>("fence.release.sync_restrict and arrive.relaxed.cluster", global, cycles);
    measure_form<WAIT_ACQUIRE>("try_wait.acquire.cluster of a complete phase", global, cycles);
    measure_form<WAIT_RELAXED>("try_wait.relaxed.cluster", global, cycles);
    measure_form<WAIT_FENCED>("try_wait.relaxed.cluster and fence.acquire.sync_restrict", global, cycles);
    return 0;
}
