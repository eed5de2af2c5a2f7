/* cluster.cuh - who am I: thread, warp, CTA, place in the cluster, SM; choosing one thread of a warp; waiting for the
 * whole cluster. */
#ifndef COMMON_CLUSTER_CUH
#define COMMON_CLUSTER_CUH

#include <stdint.h>

/* The 32-bit shared-window address of a shared variable, as PTX wants it in [brackets] with .shared.
 * Who: any thread; p points into this CTA's shared memory. PTX ISA 5.2.1. */
static __device__ __forceinline__ uint32_t smem_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

/* Warp index within the CTA, known to the compiler to be the same in all 32 lanes, so that a branch on it stays uniform
 * and .aligned instructions below it are legal. Who: a converged warp. */
static __device__ __forceinline__ uint32_t warp_index(void) { return __shfl_sync(0xFFFFFFFFu, threadIdx.x / 32, 0); }

static __device__ __forceinline__ uint32_t lane_index(void) { return threadIdx.x % 32; }

/* 1 in exactly one lane of the warp, the same one each time, 0 in the others.
 * Who: a converged warp, all 32 lanes. Below it the compiler knows that only one lane runs, which plain `lane == 0`
 * does not show. Completion: synchronous. PTX ISA 9.7.13.14. */
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

/* ---------------------------------------------------------------- clusters
 *
 * The CTAs of a cluster run at the same time and reach each other's shared memory. Rank is this CTA's number among
 * them, x first: x + y nx + z nx ny. It is the bit that stands for the CTA in every multicast mask, and it is in
 * every shared-window address: bits 24 and up. */

/* This CTA's rank in its cluster. Who: any thread. PTX ISA 10 (%cluster_ctarank). */
static __device__ __forceinline__ uint32_t cluster_rank(void) {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* This cluster's number in the grid, and how many clusters the grid has, for grids that extend along x only.
 * Who: any thread. PTX ISA 10 (%clusterid, %nclusterid). */
static __device__ __forceinline__ uint32_t cluster_index(void) {
    uint32_t index;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(index));
    return index;
}

static __device__ __forceinline__ uint32_t cluster_count(void) {
    uint32_t count;
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(count));
    return count;
}

/* The same place in the shared memory of the CTA of that rank. address: 32-bit shared-window address of this CTA.
 * The result may be used with .shared::cluster only. Who: any thread. PTX ISA 9.7.9.23. */
static __device__ __forceinline__ uint32_t cluster_map(uint32_t address, uint32_t rank) {
    uint32_t mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

/* Waits for all threads of the cluster. Each then sees what the others wrote before, except for asynchronous operations
 * in flight. Who: all threads of the cluster, converged warps. PTX ISA 9.7.13.3. */
static __device__ __forceinline__ void cluster_sync(void) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* ---------------------------------------------------------------- CTA pairs (9.7.16.5.1)
 *
 * Two CTAs whose ranks differ in the last bit only. The even one leads here; the ISA leaves the choice open. */

/* The leader's address for a shared-window address of either CTA of the pair: the same offset, with bit 24 cleared,
 * which is bit 0 of the rank. mapa for rank & ~1 would give the same; this is one AND. */
static __device__ __forceinline__ uint32_t pair_leader_address(uint32_t address) { return address & 0xFEFFFFFFu; }

#endif
