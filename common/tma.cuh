/* tma.cuh - the TMA: one thread has boxes of a tensor copied to shared memory, here or in many CTAs at once.
 *
 * A tensor map (tensor_map.h) says where the tensor is, how large a box is and how it is swizzled. The instruction
 * says which box to copy, where to, and which mbarrier counts its bytes. The copy runs in the async proxy, as do the
 * UMMAs that read the box. So an mbarrier orders the two, without a proxy fence. PTX ISA 9.7.9.27.1.2, 5.5.
 */
#ifndef COMMON_TMA_CUH
#define COMMON_TMA_CUH

#include <cuda.h> /* CUtensorMap */
#include <stdint.h>

/* Copies the box at column x, row y to `to` in the shared memory of every CTA whose rank is a bit of `ctas`. In each of
 * these CTAs it subtracts the bytes of the whole box from the tx-count of the mbarrier at `bar`.
 * map: a __grid_constant__ parameter. x, y: elements; those outside the tensor arrive as zeros and are counted, too.
 * to: shared-window address, 128-byte aligned, and on the swizzle's boundary: 1024 for 128 bytes. Both `to` and `bar`
 * are addresses of this CTA; the offsets hold for all.
 * Who: one thread. Every CTA of `ctas` must be running and stay until the bytes have landed.
 * Completion: asynchronous, seen by waiting on the mbarrier of the same CTA as the data. PTX ISA 9.7.9.27.1.2. */
static __device__ __forceinline__ void tma_load_2d_multicast(uint32_t to, const CUtensorMap *map, int x, int y,
                                                             uint32_t bar, uint16_t ctas) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(bar), "h"(ctas)
                 : "memory");
}

/* The same, but the mbarrier may be in the peer of the CTA that gets the data (cta_group::2). `bar` is in a CTA of even
 * or odd rank; the CTA of that parity in each destination's pair counts the bytes.
 * bar: shared-window address of this CTA or its peer. */
static __device__ __forceinline__ void tma_load_2d_multicast_pair(uint32_t to, const CUtensorMap *map, int x, int y,
                                                                  uint32_t bar, uint16_t ctas) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".cta_group::2 [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(bar), "h"(ctas)
                 : "memory");
}

/* ---------------------------------------------------------------- three dimensions: matrices in a batch
 *
 * x, y, z: column, row and matrix, in elements. Everything else as above. */

/* Only into this CTA; bar: of this CTA. */
static __device__ __forceinline__ void tma_load_3d(uint32_t to, const CUtensorMap *map, int x, int y, int z,
                                                   uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(z), "r"(bar)
                 : "memory");
}

/* Only into this CTA; bar: of this CTA or its peer. */
static __device__ __forceinline__ void tma_load_3d_pair(uint32_t to, const CUtensorMap *map, int x, int y, int z,
                                                        uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2"
                 " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(z), "r"(bar)
                 : "memory");
}

/* tma_load_2d_multicast_pair() of three dimensions. */
static __device__ __forceinline__ void tma_load_3d_multicast_pair(uint32_t to, const CUtensorMap *map, int x, int y,
                                                                  int z, uint32_t bar, uint16_t ctas) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                 ".cta_group::2 [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(z), "r"(bar), "h"(ctas)
                 : "memory");
}

/* Copies a box from `from` in this CTA's shared memory to the tensor; elements outside the tensor are not written.
 * from: shared-window address, aligned as for a load; the box there is swizzled as the map says.
 * Who: one thread, when every writer of the box has executed fence_proxy_async_shared() and then passed a barrier with
 * this thread. Completion: asynchronous, by the bulk groups of this thread. PTX ISA 9.7.9.27.1.2. */
static __device__ __forceinline__ void tma_store_3d(const CUtensorMap *map, int x, int y, int z, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"((uint64_t)map),
                 "r"(x), "r"(y), "r"(z), "r"(from)
                 : "memory");
}

/* Closes a bulk group: this thread's stores since the last one. PTX ISA 9.7.9.27.2.1. */
static __device__ __forceinline__ void tma_store_commit(void) {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until all but the latest `GROUPS` bulk groups of this thread have read their shared memory. Then this memory
 * may be overwritten or freed, although their writes to global memory may still be in flight.
 * Who: the thread that closed them. PTX ISA 9.7.9.27.2.2. */
template <int GROUPS> static __device__ __forceinline__ void tma_store_wait_read(void) {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory");
}

/* Has the 128 bytes of a tensor map fetched into the cache that the TMA reads them from, before the first copy needs
 * them. Who: one thread. Completion: a hint, nothing waits. PTX ISA 9.7.9.15. */
static __device__ __forceinline__ void tma_prefetch_map(const CUtensorMap *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"((uint64_t)map) : "memory");
}

/* ---------------------------------------------------------------- two dimensions, one CTA
 *
 * tma_load_3d(), tma_load_3d_pair() and tma_store_3d() of a matrix that is alone. */

static __device__ __forceinline__ void tma_load_2d(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(bar)
                 : "memory");
}

static __device__ __forceinline__ void tma_load_2d_pair(uint32_t to, const CUtensorMap *map, int x, int y,
                                                        uint32_t bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"((uint64_t)map), "r"(x), "r"(y), "r"(bar)
                 : "memory");
}

static __device__ __forceinline__ void tma_store_2d(const CUtensorMap *map, int x, int y, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"((uint64_t)map),
                 "r"(x), "r"(y), "r"(from)
                 : "memory");
}

#endif
