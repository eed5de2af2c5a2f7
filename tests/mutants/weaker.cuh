/* weaker.cuh - weaker and stronger forms of what common/ wraps, for the cases of this folder to name. It stands in
 * front of every case's source. Contracts: those of the function without the suffix, but for the semantics in the name.
 */
#ifndef MUTANTS_WEAKER_CUH
#define MUTANTS_WEAKER_CUH

#include <stdint.h>

/* ---------------------------------------------------------------- .relaxed: no order of memory. PTX ISA 9.7.13.15 */

static __device__ __forceinline__ void mbarrier_arrive_expect_tx_relaxed(uint32_t bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ uint32_t mbarrier_test_wait_relaxed(uint32_t bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.relaxed.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
    return done;
}

/* barrier.cluster whose arrival releases nothing. PTX ISA 9.7.13.3 */
static __device__ __forceinline__ void cluster_sync_relaxed(void) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* ---------------------------------------------------------------- .cta: order within the CTA alone */

static __device__ __forceinline__ void mbarrier_arrive_cluster_cta_scope(uint32_t bar) {
    asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
}

static __device__ __forceinline__ uint32_t mbarrier_test_wait_cta_scope(uint32_t bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
    return done;
}

/* ---------------------------------------------------------------- stronger forms. PTX ISA 9.7.13.4 */

static __device__ __forceinline__ void fence_proxy_async_all(void) { asm volatile("fence.proxy.async;" ::: "memory"); }

static __device__ __forceinline__ void fence_proxy_async_global(void) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

static __device__ __forceinline__ void fence_cluster(void) { asm volatile("fence.acq_rel.cluster;" ::: "memory"); }

static __device__ __forceinline__ void fence_system(void) { asm volatile("fence.sc.sys;" ::: "memory"); }

/* A barrier of the CTA by number, all threads of it or `threads` of them. PTX ISA 9.7.13.1 */
static __device__ __forceinline__ void cta_barrier(uint32_t number, uint32_t threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* mbarrier_arrive_relaxed() that releases what its thread did. PTX ISA 9.7.13.15.13 */
static __device__ __forceinline__ void mbarrier_arrive_cluster(uint32_t bar) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
}

/* An arrival with a count. PTX ISA 9.7.13.15.13 */
static __device__ __forceinline__ void mbarrier_arrive_count(uint32_t bar, uint32_t count) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

/* expect_tx and arrive as two instructions. PTX ISA 9.7.13.15.11 */
static __device__ __forceinline__ void mbarrier_expect_tx(uint32_t bar, uint32_t bytes) {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

/* mbarrier_wait_cluster() by an instruction that acquires. PTX ISA 9.7.13.15.16 */
static __device__ __forceinline__ void mbarrier_wait_acquire(uint32_t bar, uint32_t parity) {
    for (uint32_t done = 0; !done;)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t"
                     "}"
                     : "=r"(done)
                     : "r"(bar), "r"(parity)
                     : "memory");
}

/* The same by test_wait. PTX ISA 9.7.13.15.16 */
static __device__ __forceinline__ void mbarrier_spin_cluster(uint32_t bar, uint32_t parity) {
    for (uint32_t done = 0; !done;)
        asm volatile("{\n\t"
                     ".reg .pred p;\n\t"
                     "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t"
                     "}"
                     : "=r"(done)
                     : "r"(bar), "r"(parity)
                     : "memory");
}

/* tma_store_wait_read() that waits for the writes too. PTX ISA 9.7.9.27.2.2 */
template <int GROUPS> static __device__ __forceinline__ void tma_store_wait_written(void) {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(GROUPS) : "memory");
}

#endif
