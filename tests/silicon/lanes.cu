// lanes.cu: may one lane arrive for its warp without __syncwarp(), as docs/memory-model.md asks? What a Hopper GPU
// shows. Not part of `make test`.
//
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o lanes tests/silicon/lanes.cu && ./lanes [ROUNDS]
//
// One thread brings tiles into a ring of two stages by bulk copies. A warp waits for each tile and reads it with all
// lanes, and lane 0 hands the stage back. A lane that sees another tile than the one it waited for is counted. EARLY is
// the control: it hands the stage back before the loads.
#include "../../common/cluster.cuh"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"

enum way { PLAIN, FENCED, EARLY };
enum { TILES = 64, TILE_BYTES = 2048, LOADS = TILE_BYTES / (32 * 16) };

__device__ static void arrive(uint64_t *bar, bool lane_0) {
    if (lane_0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_address(bar)) : "memory");
}

__device__ static void wait_for(uint64_t *bar, uint32_t parity) {
    asm volatile("{ .reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W; }" ::"r"(
                     smem_address(bar)),
                 "r"(parity)
                 : "memory");
}

__device__ static void bring(uint4 *to, const uint4 *from, uint64_t *full) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(full)),
                 "r"((uint32_t)TILE_BYTES)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     smem_address(to)),
                 "l"(from), "r"((uint32_t)TILE_BYTES), "r"(smem_address(full))
                 : "memory");
}

template <way WAY> __device__ static uint32_t read_tile(const uint4 *tile, uint64_t *empty, uint32_t want) {
    const uint32_t lane = threadIdx.x % 32;
    uint32_t wrong = 0;
    uint4 v[LOADS];
    if (WAY == EARLY) {
        arrive(empty, lane == 0);
        __nanosleep(600);
    }
    for (int j = 0; j < LOADS; j++)
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[j].x), "=r"(v[j].y), "=r"(v[j].z), "=r"(v[j].w)
                     : "r"(smem_address(tile + j * 32 + lane))
                     : "memory");
    if (WAY == FENCED)
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (WAY != EARLY)
        arrive(empty, lane == 0);
    for (int j = 0; j < LOADS; j++)
        wrong += (v[j].x != want) + (v[j].y != want) + (v[j].z != want) + (v[j].w != want);
    return wrong;
}

template <way WAY> __global__ void ring(const uint4 *tiles, unsigned long long *wrong, int rounds) {
    __shared__ alignas(128) uint4 stage[2][TILE_BYTES / 16];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            mbarrier_init(smem_address(&full[i]), 1);
            mbarrier_init(smem_address(&empty[i]), 1);
        }
    }
    __syncthreads();
    unsigned long long sum = 0;
    for (int i = 0; i < rounds; i++) {
        const int s = i % 2, parity = i / 2 % 2;
        if (threadIdx.x == 0) {
            wait_for(&empty[s], parity ^ 1);
            bring(stage[s], tiles + i % TILES * (TILE_BYTES / 16), &full[s]);
        } else if (threadIdx.x >= 32) {
            wait_for(&full[s], parity);
            sum += read_tile<WAY>(stage[s], &empty[s], i % TILES);
        }
    }
    if (threadIdx.x >= 32)
        atomicAdd(wrong, sum);
}

template <way WAY> static void run(const char *name, const uint4 *tiles, unsigned long long *wrong, int rounds) {
    enum { BLOCKS = 1056 };
    unsigned long long sum = 0;
    CUDA_CHECK(cudaMemset(wrong, 0, sizeof *wrong));
    ring<WAY><<<BLOCKS, 64>>>(tiles, wrong, rounds);
    CUDA_CHECK(cudaMemcpy(&sum, wrong, sizeof sum, cudaMemcpyDeviceToHost));
    printf("%-40s %llu of %.2e words are another tile's\n", name, sum, (double)BLOCKS * TILE_BYTES / 4 * rounds);
    fflush(stdout);
}

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 20000;
    static uint32_t host[TILES][TILE_BYTES / 4];
    uint4 *tiles;
    unsigned long long *wrong;
    for (int i = 0; i < TILES; i++)
        for (uint32_t &word : host[i])
            word = (uint32_t)i;
    CUDA_CHECK(cudaMalloc((void **)&tiles, sizeof host));
    CUDA_CHECK(cudaMalloc((void **)&wrong, sizeof *wrong));
    CUDA_CHECK(cudaMemcpy(tiles, host, sizeof host, cudaMemcpyHostToDevice));
    run<PLAIN>("lane 0 arrives behind the loads", tiles, wrong, rounds);
    run<FENCED>("the same, each lane's proxy fence between", tiles, wrong, rounds);
    run<EARLY>("control: lane 0 arrives before the loads", tiles, wrong, rounds);
    return 0;
}
