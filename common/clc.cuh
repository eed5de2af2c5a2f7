/* clc.cuh - cluster launch control: a running cluster takes over the work of one that has not been launched yet.
 *
 * The grid has one cluster for each piece of work. The first clusters fill the GPU. While one works, it asks that the
 * launch of a later one be cancelled. If that succeeds, it gets the number of the later cluster's first CTA and does
 * its work; if not, no work is left. PTX ISA 9.7.13.17, 9.7.13.18.
 */
#ifndef COMMON_CLC_CUH
#define COMMON_CLC_CUH

#include <stdint.h>

/* Asks once, for the whole cluster. Each of its CTAs gets the answer, 16 bytes at `response` in its shared memory, and
 * the mbarrier at `bar` there counts these bytes. Both are shared-window addresses of this CTA.
 * Who: one thread of the cluster, and none after an answer "no". All CTAs of the cluster must be running.
 * Completion: asynchronous, by the mbarriers. PTX ISA 9.7.13.17. */
static __device__ __forceinline__ void clc_try_cancel(uint32_t response, uint32_t bar) {
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
                 ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(response),
                 "r"(bar)
                 : "memory");
}

/* Reads an answer that has arrived: 1 if a cluster was cancelled; then *cta is the x of its first CTA.
 * Who: any thread, after the wait. PTX ISA 9.7.13.18. */
static __device__ __forceinline__ uint32_t clc_read(uint32_t response, uint32_t *cta) {
    uint32_t yes, x;
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 ".reg .b128 r;\n\t"
                 "ld.shared.b128 r, [%2];\n\t"
                 "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t"
                 "mov.u32 %1, 0;\n\t"
                 "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, r;\n\t"
                 "}"
                 : "=r"(yes), "=r"(x)
                 : "r"(response)
                 : "memory");
    *cta = x;
    return yes;
}

/* Answers are written through the async proxy and read through the generic one. Before the next answer may come to the
 * same place, each reader releases after its read and then signals the asking thread, which acquires before it asks.
 * These two fences are about proxies: fence_release_shared() and mbarrier_wait_cluster() order the threads.
 * PTX ISA 9.7.13.4, 9.7.13.17 (example). */
static __device__ __forceinline__ void clc_release(void) {
    asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}

static __device__ __forceinline__ void clc_acquire(void) {
    asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}

#endif
