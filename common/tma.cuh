/* tma.cuh - the TMA: one thread has boxes of a tensor copied to shared memory, here or in many CTAs at once.
 *
 * A tensor map (tensor_map.h) says where the tensor lies and how large a box is and how it is swizzled; the
 * instruction says which box, where to, and which mbarrier hears of it. The copy runs in the async proxy, as the
 * UMMAs that read it do, so between the two stands an mbarrier and no proxy fence. PTX ISA 9.7.9.27.1.2, 5.5.
 */
#ifndef COMMON_TMA_CUH
#define COMMON_TMA_CUH

#include <cuda.h> /* CUtensorMap */
#include <stdint.h>

/* Copies the box at column x, row y to `to` in the shared memory of every CTA whose rank is a bit of `ctas`, and on
 * each of these CTAs takes the bytes of the whole box off the tx-count of the mbarrier at `bar`.
 * map: a __grid_constant__ parameter. x, y: elements; what lies outside the tensor comes as zeros and counts.
 * to: shared-window address, 128-byte aligned, and on the swizzle's boundary: 1024 for 128 bytes. Both `to` and `bar`
 * are addresses of this CTA; the offsets hold for all.
 * Who: one thread. Every CTA of `ctas` must be running and stay until the bytes have landed.
 * Completion: asynchronous, seen by waiting on the mbarrier that lies beside the data. PTX ISA 9.7.9.27.1.2. */
static __device__ __forceinline__ void tma_load_2d_multicast(uint32_t to, const CUtensorMap *map, int x,
                                                             int y, uint32_t bar, uint16_t ctas) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"((uint64_t)map), "r"(x), "r"(y), "r"(bar), "h"(ctas)
        : "memory");
}

/* The same, but the mbarrier may lie in the peer of the CTA that gets the data (cta_group::2): the parity of the CTA
 * that `bar` names decides whether the even or the odd CTA of each destination's pair hears of the bytes.
 * bar: shared-window address of this CTA or its peer. */
static __device__ __forceinline__ void tma_load_2d_multicast_pair(uint32_t to, const CUtensorMap *map, int x,
                                                                  int y, uint32_t bar, uint16_t ctas) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        ".cta_group::2 [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"((uint64_t)map), "r"(x), "r"(y), "r"(bar), "h"(ctas)
        : "memory");
}

#endif
