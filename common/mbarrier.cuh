/* mbarrier.cuh - the 8-byte barrier in shared memory that asynchronous units can arrive on.
 *
 * An mbarrier counts arrivals (and, for TMA, bytes). When the pending count reaches zero the phase completes: the count
 * is set up again and the phase number goes up by one. A waiter names the parity (phase & 1) of the phase it waits for:
 * 0 the first time, 1 the second, and so on. PTX ISA 9.7.13.15.
 * All addresses are 32-bit shared-window addresses, 8-byte aligned.
 */
#ifndef COMMON_MBARRIER_CUH
#define COMMON_MBARRIER_CUH

#include <stdint.h>

#include "fence.cuh"

/* Starts a barrier in phase 0 that `count` arrivals complete (1 ... 2^20 - 1).
 * Who: one thread of the CTA; then fence_mbarrier_init() and a CTA barrier before another thread uses it.
 * Completion: synchronous. PTX ISA 9.7.13.15.9. */
static __device__ __forceinline__ void mbarrier_init(uint32_t bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}

/* Ends the barrier's life, so that its 8 bytes may be used for something else.
 * Who: one thread, when no thread can still wait or arrive. Completion: synchronous. PTX ISA 9.7.13.15.10. */
static __device__ __forceinline__ void mbarrier_inval(uint32_t bar) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}

/* One arrival on a barrier of this CTA. Release semantics at CTA scope.
 * Who: any thread that the count accounts for. Completion: synchronous. PTX ISA 9.7.13.15.13. */
static __device__ __forceinline__ void mbarrier_arrive(uint32_t bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}

/* 1 if the phase of this parity is complete; may sleep for a while before it says 0.
 * Who: any thread of the CTA. Acquire semantics at CTA scope when it says 1. PTX ISA 9.7.13.15.16. */
static __device__ __forceinline__ uint32_t mbarrier_try_wait(uint32_t bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
    return done;
}

/* Waits until the phase of this parity is complete. The parity of the phase before the current one returns at once, so
 * a wait for the wrong parity either falls through or never ends.
 * Who: any thread of the CTA. Completion: synchronous. */
static __device__ __forceinline__ void mbarrier_wait(uint32_t bar, uint32_t parity) {
    while (!mbarrier_try_wait(bar, parity)) {
    }
}

/* ---------------------------------------------------------------- bytes, and arrivals from other CTAs */

/* One arrival, and `bytes` that must also land before the phase completes: adds them to the current phase's tx-count.
 * Each asynchronous copy that signals here subtracts the bytes it brought. Bytes may land first.
 * Who: any thread that the count accounts for. Completion: synchronous. PTX ISA 9.7.13.15.13, 9.7.13.15.5. */
static __device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t bar, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

/* mbarrier_try_wait() for arrivals at cluster scope: from another CTA, a commit or a copy.
 * Relaxed: it says that the phase is complete, but orders no memory. PTX ISA 9.7.13.15.16. */
static __device__ __forceinline__ uint32_t mbarrier_try_wait_relaxed(uint32_t bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
    return done;
}

/* mbarrier_wait() that orders tcgen05 operations only: it hands over tensor memory, and tcgen05_fence_after() must
 * follow. PTX ISA 9.7.16.6.4. */
static __device__ __forceinline__ void mbarrier_wait_relaxed(uint32_t bar, uint32_t parity) {
    while (!mbarrier_try_wait_relaxed(bar, parity)) {
    }
}

/* mbarrier_wait() that hands over shared memory, here or in another CTA of the cluster: bytes that a copy brought, or
 * stages that have been read. The barrier is always one of this CTA. Not for data that threads left in global memory:
 * that needs .acquire.cluster, and a release before the arrival. */
static __device__ __forceinline__ void mbarrier_wait_cluster(uint32_t bar, uint32_t parity) {
    mbarrier_wait_relaxed(bar, parity);
    fence_acquire_shared();
}

/* 1 if the phase of this parity is complete. Unlike try_wait it never sleeps, so a thread can ask early, while it has
 * other work. After a 1 all is ordered as after mbarrier_wait_cluster(). PTX ISA 9.7.13.15.16. */
static __device__ __forceinline__ uint32_t mbarrier_test_wait_cluster(uint32_t bar, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.relaxed.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "}"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
    fence_acquire_shared();
    return done;
}

/* One arrival on a barrier of any CTA of the cluster, which must still be there.
 * bar: shared-window address from cluster_map() or pair_leader_address(). Relaxed: it orders no memory of this thread.
 * tcgen05_fence_before() before it orders accesses to tensor memory, fence_release_shared() those to shared memory.
 * Who: any thread that the count accounts for. Completion: synchronous. PTX ISA 9.7.13.15.13, 9.7.16.6.4. */
static __device__ __forceinline__ void mbarrier_arrive_relaxed(uint32_t bar) {
    asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
}

#endif
