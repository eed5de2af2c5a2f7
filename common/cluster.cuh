/* cluster.cuh - who am I: thread, warp, CTA, SM; and choosing one thread of a warp. */
#ifndef COMMON_CLUSTER_CUH
#define COMMON_CLUSTER_CUH

#include <stdint.h>

/* The 32-bit shared-window address of a shared variable, as PTX wants it in [brackets] with .shared.
 * Who: any thread; p points into this CTA's shared memory. PTX ISA 5.2.1. */
static __device__ __forceinline__ uint32_t smem_address(const void *p) {
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Warp index within the CTA, known to the compiler to be the same in all 32 lanes, so that a branch on it
 * stays uniform and .aligned instructions below it are legal. Who: a converged warp. */
static __device__ __forceinline__ uint32_t warp_index(void) {
    return __shfl_sync(0xFFFFFFFFu, threadIdx.x / 32, 0);
}

static __device__ __forceinline__ uint32_t lane_index(void) { return threadIdx.x % 32; }

/* 1 in exactly one lane of the warp, the same one each time, 0 in the others.
 * Who: a converged warp, all 32 lanes. The compiler knows that one lane is left below it, which plain
 * `lane == 0` does not tell it. Completion: synchronous. PTX ISA 9.7.13.14. */
static __device__ __forceinline__ uint32_t elect_one(void) {
    uint32_t elected;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "elect.sync _|p, 0xFFFFFFFF;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(elected));
    return elected;
}

/* The SM this CTA runs on. Who: any thread. PTX ISA 10 (%smid). */
static __device__ __forceinline__ uint32_t sm_index(void) {
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

#endif
