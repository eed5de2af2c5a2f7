// init.cu: may all lanes of a warp initialise one mbarrier by the same instruction? What a Hopper GPU shows.
// Not part of `make test`.
//
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o init tests/silicon/init.cu && ./init [ROUNDS]
//
// Warp 0 initialises an mbarrier for 32 arrivals, as WAY says. After a barrier all 32 lanes arrive: the phase must be
// incomplete before and complete after. AGAIN is the control: lane 31 initialises it once more behind the arrivals.
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

enum way { ONE, LANES, AGAIN };

__device__ static void begin(uint64_t *bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(bar)), "r"(count) : "memory");
}

__device__ static bool complete(uint64_t *bar) {
    uint32_t done;
    asm volatile("{ .reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(smem_address(bar))
                 : "memory");
    return done;
}

template <way WAY> __global__ void initialise(uint32_t rounds, uint32_t count, unsigned long long *counted) {
    __shared__ uint64_t bar;
    const uint32_t lane = threadIdx.x % 32;
    unsigned long long wrong = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        if (threadIdx.x < 32 && (WAY != ONE || lane == 0))
            begin(&bar, count);
        __syncthreads();
        if (threadIdx.x < 32) {
            wrong += complete(&bar);
            __syncwarp();
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_address(&bar)) : "memory");
            __syncwarp();
            if (WAY == AGAIN && lane == 31)
                begin(&bar, count);
            __syncwarp();
            wrong += !complete(&bar);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_address(&bar)) : "memory");
        __syncthreads();
    }
    atomicAdd(counted, wrong);
}

template <way WAY> static void ask(const char *name, uint32_t rounds) {
    const uint32_t ctas = 1056;
    unsigned long long *counted, got;
    CUDA_CHECK(cudaMalloc((void **)&counted, sizeof got));
    CUDA_CHECK(cudaMemset(counted, 0, sizeof got));
    initialise<WAY><<<ctas, 64>>>(rounds, 32, counted);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(&got, counted, sizeof got, cudaMemcpyDeviceToHost));
    printf("%-34s %llu objects, %llu wrong answers of 64 for each\n", name, (unsigned long long)ctas * rounds, got);
    CUDA_CHECK(cudaFree(counted));
}

int main(int argc, char **argv) {
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 20000;
    ask<ONE>("one lane", rounds);
    ask<LANES>("all lanes, the same count", rounds);
    ask<AGAIN>("control: lane 31 once more, later", rounds);
    return 0;
}
