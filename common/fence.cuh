/* fence.cuh - fences between threads, between the generic and the async proxy, and around tcgen05 operations.
 *
 * A proxy is a way to reach memory (PTX ISA 8.6). Plain loads and stores use the generic proxy; tcgen05.mma, tcgen05.cp
 * and TMA read and write shared memory through the async proxy (9.7.16.6.5). A barrier orders threads, not proxies:
 * between a write through one and a read through the other there must be a proxy fence.
 */
#ifndef COMMON_FENCE_CUH
#define COMMON_FENCE_CUH

#include <stdint.h>

/* Makes this thread's earlier generic-proxy accesses to shared memory visible to later async-proxy accesses, and the
 * other way round.
 * Who: every thread that wrote what the tensor core or TMA will read, after its writes and before the barrier that
 * releases the issuing thread. One thread cannot fence for all: a fence orders only its own thread's accesses.
 * Completion: synchronous. PTX ISA 9.7.13.4. */
static __device__ __forceinline__ void fence_proxy_async_shared(void) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Publishes this thread's mbarrier.init to the cluster, the async units included.
 * Who: the thread that initialised the barriers, before the barrier that lets others use them.
 * Completion: synchronous. PTX ISA 9.7.13.4. */
static __device__ __forceinline__ void fence_mbarrier_init(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* After a relaxed wait that found its phase complete: this thread's later accesses, and its copies and UMMAs, see what
 * was released to it in shared memory, of this CTA or another of the cluster. It does not order global memory, so it
 * costs nothing: ptxas makes no instruction of it.
 * Who: the thread that waited. Completion: synchronous. PTX ISA 9.7.13.4 (example), 8.8. */
static __device__ __forceinline__ void fence_acquire_shared(void) {
    asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}

/* Before a relaxed arrival: this thread's earlier accesses to its CTA's shared memory, and those that a barrier ordered
 * before it, come before everything after the wait.
 * Who: the thread that arrives, directly before it. A release covers what comes before its first instruction (8.8). So
 * it covers other lanes if __syncwarp() comes before the fence, but not if it comes between fence and arrival.
 * Completion: synchronous. PTX ISA 9.7.13.4 (example). */
static __device__ __forceinline__ void fence_release_shared(void) {
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}

/* Orders this thread's memory accesses at GPU scope, sequentially consistent.
 * Who: any thread. Completion: synchronous. PTX ISA 9.7.13.4. */
static __device__ __forceinline__ void fence_gpu(void) { asm volatile("fence.sc.gpu;" ::: "memory"); }

/* Before signalling another thread (barrier, mbarrier, flag): this thread's earlier asynchronous tcgen05 operations
 * come before what follows. Who: each thread with such operations. Completion: synchronous. PTX ISA 9.7.16.11.1. */
static __device__ __forceinline__ void tcgen05_fence_before(void) {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

/* After a wait: this thread's later asynchronous tcgen05 operations are ordered after what came before it.
 * Who: each thread that will issue such operations. Completion: synchronous. PTX ISA 9.7.16.11.1. */
static __device__ __forceinline__ void tcgen05_fence_after(void) {
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

#endif
