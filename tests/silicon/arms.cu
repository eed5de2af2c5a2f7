// arms.cu: do the lanes of a warp meet at barriers in the two arms of a branch (PTX ISA 9.7.13.1)? What a Hopper GPU
// shows. Not part of `make test`.
//
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o arms tests/silicon/arms.cu && ./arms CASE [THREADS]
//
// A case that hangs is ended by the caller (timeout 10 ./arms 3). On an H100 the lanes meet in "same", "counted", "two
// arrives" and "popc" (each arm gets 32, the count of both); "two numbers" is an illegal instruction, "sync and arrive"
// hangs. The lanes without a barrier in "one arm" exit, and are not waited for.
#include "../../common/cuda_check.h"
#include <stdint.h>

// Lanes 0 to 15 execute LOW, the others HIGH; each writes what its arm found.
#define ARMS(name, low, high)                                                                                          \
    __global__ void name(uint32_t *out) {                                                                              \
        uint32_t x = 0;                                                                                                \
        if (threadIdx.x % 32 < 16) {                                                                                   \
            asm volatile(low : "+r"(x)::"memory");                                                                     \
            out[threadIdx.x] = x + 1;                                                                                  \
        } else {                                                                                                       \
            asm volatile(high : "+r"(x)::"memory");                                                                    \
            out[threadIdx.x] = x + 2;                                                                                  \
        }                                                                                                              \
    }

ARMS(same, "barrier.sync 4;", "barrier.sync 4;")
ARMS(counted, "barrier.sync 4, 64;", "barrier.sync 4, 64;")
ARMS(two_numbers, "barrier.sync 4;", "barrier.sync 5;")
ARMS(sync_and_arrive, "barrier.sync 4, 64;", "barrier.arrive 4, 64;")
ARMS(two_arrives, "barrier.arrive 4, 64; barrier.sync 5, 64;", "barrier.arrive 4, 64; barrier.sync 5, 64;")
ARMS(popc, "{ .reg .pred p; setp.eq.u32 p, %0, 0; barrier.red.popc.u32 %0, 4, p; }",
     "{ .reg .pred p; setp.eq.u32 p, %0, 0; barrier.red.popc.u32 %0, 4, !p; }")
ARMS(one_arm, "barrier.sync 4, 64;", "")

int main(int argc, char **argv) {
    static void (*const cases[])(uint32_t *) = {same,        counted, two_numbers, sync_and_arrive,
                                                two_arrives, popc,    one_arm};
    static const char *const names[] = {"same",        "counted", "two numbers", "sync and arrive",
                                        "two arrives", "popc",    "one arm"};
    const unsigned which = argc > 1 ? atoi(argv[1]) % 7 : 0, threads = argc > 2 ? atoi(argv[2]) : 64;
    uint32_t *out, low_high[32];
    CUDA_CHECK(cudaMalloc(&out, 4 * threads));
    cases[which]<<<1, threads>>>(out);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(low_high, out, sizeof low_high, cudaMemcpyDeviceToHost));
    printf("%-16s low %u, high %u\n", names[which], low_high[0], low_high[31]);
}
