/* global.cu - small kernels that hand over global memory, each with its variants: in order, and ways to get it wrong.
 * What is right to say of each stands in the table at the end; README.md of the folder above has the classes. */
#include <stdint.h>

#include "../../../common/cluster.cuh"
#include "../../../common/fence.cuh"
#include "../../../common/mbarrier.cuh"
#include "../../../common/tma.cuh"
#include "ptx.cuh"
#include "table.h"

/* grid barrier. 0: in order; 1 no barrier before; 2 no fence before; 3 no fence behind; 4 no barrier behind; 5: in
 * order, by release and acquire */
template <int variant> __global__ void grid_barrier(uint32_t *out, uint32_t *count, uint32_t *) {
    const uint32_t n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t round = 0; round < 3; round++) {
        out[round % 2 * n + i] = i + round;
        if (variant != 1)
            __syncthreads();
        if (threadIdx.x == 0) {
            if (variant == 5)
                red_release(count, 1);
            else {
                if (variant != 2)
                    __threadfence();
                atomicAdd(count, 1);
            }
            if (variant == 5)
                while (ld_acquire(count) < (round + 1) * gridDim.x) {
                }
            else {
                while (ld_volatile(count) < (round + 1) * gridDim.x) {
                }
                if (variant != 3)
                    __threadfence();
            }
        }
        if (variant != 4)
            __syncthreads();
        uint32_t other = out[round % 2 * n + (i + 33) % n];
        if (other == 12345)
            out[2 * n] = 1;
    }
}

/* last block. 0: in order; 1 fence before the barrier (thread 0 only); 2 no second fence; 3 shared flag
 * unsynchronised */
template <int variant> __global__ void last_block(uint32_t *out, uint32_t *count, uint32_t *sum) {
    __shared__ uint32_t last;
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    if (variant == 1 && threadIdx.x == 0)
        __threadfence();
    if (variant == 4)
        __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (variant != 1 && variant != 4)
            __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
        if (variant != 2)
            __threadfence();
    }
    if (variant != 3)
        __syncthreads();
    if (last) {
        uint32_t s = 0;
        for (uint32_t b = 0; b < gridDim.x; b++)
            s += out[b * blockDim.x + (threadIdx.x ^ 1)];
        sum[threadIdx.x] = s;
    }
}

/* stream-K fixup. 0: in order; 1 no barrier behind spin; 2 relaxed red without fence; 3 ok red.release / ld.acquire
 * + barrier; 4 ok all spin; 5 red.release without barrier before; 6 spin by relaxed, no fence; 7 flag by plain
 * volatile store no fence */
template <int variant> __global__ void stream_k(uint32_t *ws, uint32_t *flag, uint32_t *out) {
    if (blockIdx.x != 0) {
        ws[(blockIdx.x - 1) * blockDim.x + threadIdx.x] = threadIdx.x;
        if (variant != 5)
            __syncthreads();
        if (threadIdx.x == 0) {
            if (variant == 0 || variant == 1 || variant == 4 || variant == 6) {
                __threadfence();
                atomicAdd(flag, 1);
            } else if (variant == 2)
                red_relaxed(flag, 1);
            else if (variant == 7) {
                if (blockIdx.x == 1) {
                    while (ld_acquire(flag) != gridDim.x - 2) {
                    }
                    *(volatile uint32_t *)flag = gridDim.x - 1;
                } else
                    red_release(flag, 1);
            } else
                red_release(flag, 1);
        }
        return;
    }
    if (variant == 4 || threadIdx.x == 0) {
        if (variant == 6)
            while (ld_relaxed(flag) != gridDim.x - 1) {
            }
        else
            while (ld_acquire(flag) != gridDim.x - 1) {
            }
    }
    if (variant != 1 && variant != 4)
        __syncthreads();
    uint32_t s = 0;
    for (uint32_t b = 1; b < gridDim.x; b++)
        s += ws[(b - 1) * blockDim.x + threadIdx.x];
    out[threadIdx.x] = s;
}

/* dynamic tiles. 0: in order two barriers; 1 one barrier; 2 ok two slots, one barrier; 3 ok by shfl; 4 none after
 * fetch */
template <int variant> __global__ void tiles(uint32_t *out, uint32_t *next, uint32_t *) {
    __shared__ uint32_t slot[2];
    for (uint32_t round = 0;; round++) {
        uint32_t tile;
        if (variant == 3) {
            if (threadIdx.x % 32 == 0)
                tile = atomicAdd(next, 1);
            tile = __shfl_sync(~0u, tile, 0);
        } else {
            const uint32_t at = variant == 2 ? round % 2 : 0;
            if (threadIdx.x == 0)
                slot[at] = atomicAdd(next, 1);
            if (variant != 4)
                __syncthreads();
            tile = slot[at];
            if (variant == 0 || variant == 4)
                __syncthreads();
        }
        if (tile >= 12)
            break;
        out[tile * blockDim.x + threadIdx.x] = tile;
    }
}

/* bulk reduce. 0: in order; 1 only .read before the flag; 2 no proxy fence at the source; 3 the source filled again
 * without a wait; 4 reader w/o acquire */
template <int variant> __global__ void bulk_reduce(float *acc, uint32_t *flag, float *out) {
    __shared__ alignas(16) float part[64];
    part[threadIdx.x] = 1;
    if (variant != 2)
        fence_proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_add(acc, smem_address(part), sizeof part);
        tma_store_commit();
        if (variant == 1)
            tma_store_wait_read<0>();
        else if (variant != 3)
            bulk_wait();
        if (variant != 3) {
            __threadfence();
            atomicAdd(flag, 1);
        }
    }
    if (variant == 3) {
        __syncthreads();
        part[threadIdx.x] = 2;
        if (threadIdx.x == 0) {
            bulk_wait();
            __threadfence();
            atomicAdd(flag, 1);
        }
    }
    if (blockIdx.x != 0)
        return;
    if (threadIdx.x == 0) {
        while (ld_volatile(flag) != gridDim.x) {
        }
        if (variant != 4)
            __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = acc[threadIdx.x];
}

/* TMA store of an intermediate, loaded by another CTA. 0: in order; 1 .read wait; 2 no wait at all; 3 no release
 * before the flag(relaxed red); 4 ok: without proxy fences */
template <int variant> __global__ void through_global(uint32_t *mid, uint32_t *flag, uint32_t *out) {
    __shared__ alignas(128) uint32_t buf[64];
    __shared__ uint64_t full;
    const uint32_t t = threadIdx.x, f = smem_address(&full);
    if (blockIdx.x == 0) {
        buf[t] = t;
        buf[t + 32] = t;
        fence_proxy_async_shared();
        __syncwarp();
        if (t == 0) {
            bulk_out(mid, smem_address(buf), sizeof buf);
            tma_store_commit();
            if (variant == 1)
                tma_store_wait_read<0>();
            else if (variant != 2)
                bulk_wait();
            if (variant == 0)
                asm volatile("fence.proxy.async.global;" ::: "memory");
            if (variant == 3)
                red_relaxed(flag, 1);
            else
                red_release(flag, 1);
            if (variant == 2)
                bulk_wait();
        }
    } else if (t == 0) {
        mbarrier_init(f, 1);
        fence_mbarrier_init();
        while (!ld_acquire(flag)) {
        }
        if (variant == 0)
            asm volatile("fence.proxy.async.global;" ::: "memory");
        mbarrier_arrive_expect_tx(f, sizeof buf);
        bulk_in(smem_address(buf), mid, sizeof buf, f);
        mbarrier_wait(f, 0);
        out[0] = buf[7];
    }
}

/* generic global stores, then a bulk load elsewhere. 0: in order fence at the writers; 1 none; 2 fence for shared
 * only; 3 ok fence at the reader only (behind acquire) -> open; 4 only thread 0 of writers fences, before barrier */
template <int variant> __global__ void generic_then_bulk(uint32_t *mid, uint32_t *flag, uint32_t *out) {
    __shared__ alignas(128) uint32_t buf[32];
    __shared__ uint64_t full;
    const uint32_t t = threadIdx.x, f = smem_address(&full);
    if (blockIdx.x == 0) {
        mid[t] = t;
        if (variant == 0 || (variant == 4 && t == 0))
            asm volatile("fence.proxy.async.global;" ::: "memory");
        if (variant == 2)
            fence_proxy_async_shared();
        __syncwarp();
        if (t == 0)
            red_release(flag, 1);
    } else if (t == 0) {
        mbarrier_init(f, 1);
        fence_mbarrier_init();
        while (!ld_acquire(flag)) {
        }
        if (variant == 3)
            asm volatile("fence.proxy.async.global;" ::: "memory");
        mbarrier_arrive_expect_tx(f, sizeof buf);
        bulk_in(smem_address(buf), mid, sizeof buf, f);
        mbarrier_wait(f, 0);
        out[0] = buf[7];
    }
}

/* producer of tiles by st.global + __threadfence + flag, consumer reads by __ldcg/ld.volatile; 0 ok; 1 consumer
 * plain without fence; 2 (open) consumer volatile loads behind a volatile flag, no fence */
template <int variant> __global__ void volatile_reader(uint32_t *data, uint32_t *flag, uint32_t *out) {
    const uint32_t t = threadIdx.x;
    if (blockIdx.x == 1) {
        data[t] = t;
        __threadfence();
        __syncthreads();
        if (t == 0)
            *(volatile uint32_t *)flag = 1;
        return;
    }
    if (t == 0) {
        while (!ld_volatile(flag)) {
        }
        if (variant == 0)
            __threadfence();
    }
    __syncthreads();
    out[t] = variant == 2 ? ld_volatile(&data[31 - t]) : data[31 - t];
}

/* spin lock with critical section. 0: in order atomicCAS + fence .. fence + atomicExch; 1 no fence at entry; 2
 * unlock by plain store; 3 ok atom.acquire / st.release */
template <int variant> __global__ void lock(uint32_t *data, uint32_t *l, uint32_t *) {
    if (threadIdx.x == 0) {
        if (variant == 3) {
            uint32_t o;
            do
                asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(o) : "l"(l) : "memory");
            while (o);
        } else {
            while (atomicCAS(l, 0, 1)) {
            }
            if (variant != 1)
                __threadfence();
        }
        data[0] += 1;
        if (variant == 3)
            st_release(l, 0);
        else {
            __threadfence();
            if (variant == 2)
                *l = 0;
            else
                atomicExch(l, 0);
        }
    }
}

static const struct small table[] = {
    SMALL(grid_barrier, 0, "legal", 3, 64),
    SMALL(grid_barrier, 1, "warning: global-race", 3, 64),
    SMALL(grid_barrier, 2, "warning: global-race", 3, 64),
    SMALL(grid_barrier, 3, "warning: relaxed-handover", 3, 64),
    SMALL(grid_barrier, 4, "warning: global-race", 3, 64),
    SMALL(grid_barrier, 5, "legal", 3, 64),
    SMALL(last_block, 0, "legal", 3, 64),
    SMALL(last_block, 1, "warning: relaxed-handover", 3, 64),
    SMALL(last_block, 2, "warning: relaxed-handover", 3, 64),
    SMALL(last_block, 3, "warning: shared-race uninitialised-branch", 3, 64),
    SMALL(last_block, 4, "legal", 3, 64),
    SMALL(stream_k, 0, "legal", 3, 64),
    SMALL(stream_k, 1, "warning: global-race", 3, 64),
    SMALL(stream_k, 2, "warning: global-race", 3, 64),
    SMALL(stream_k, 3, "legal", 3, 64),
    SMALL(stream_k, 4, "legal", 3, 64),
    SMALL(stream_k, 5, "warning: global-race", 3, 64),
    SMALL(stream_k, 6, "warning: relaxed-handover", 3, 64),
    SMALL(stream_k, 7, "warning: global-race", 3, 64),
    SMALL(tiles, 0, "legal", 2, 64),
    SMALL(tiles, 1, "warning: shared-race", 2, 64),
    SMALL(tiles, 2, "legal", 2, 64),
    SMALL(tiles, 3, "legal", 2, 64),
    SMALL(tiles, 4, "warning: shared-race uninitialised-branch uninitialised", 2, 64),
    SMALL(bulk_reduce, 0, "legal", 3, 64),
    SMALL(bulk_reduce, 1, "warning: global-race copy-not-awaited", 3, 64),
    SMALL(bulk_reduce, 2, "warning: missing-proxy-fence", 3, 64),
    SMALL(bulk_reduce, 3, "warning: bulk-store-overwritten", 3, 64),
    SMALL(bulk_reduce, 4, "warning: relaxed-handover", 3, 64),
    SMALL(through_global, 0, "legal", 2, 32),
    SMALL(through_global, 1, "warning: global-race copy-not-awaited", 2, 32),
    SMALL(through_global, 2, "warning: global-race copy-not-awaited", 2, 32),
    SMALL(through_global, 3, "warning: global-race relaxed-copy-handover", 2, 32),
    SMALL(through_global, 4, "legal", 2, 32),
    SMALL(generic_then_bulk, 0, "legal", 2, 32),
    SMALL(generic_then_bulk, 1, "warning: missing-proxy-fence", 2, 32),
    SMALL(generic_then_bulk, 2, "warning: missing-proxy-fence", 2, 32),
    SMALL(generic_then_bulk, 3, "open", 2, 32),
    SMALL(generic_then_bulk, 4, "warning: missing-proxy-fence", 2, 32),
    SMALL(volatile_reader, 0, "legal", 2, 32),
    SMALL(volatile_reader, 1, "warning: relaxed-handover", 2, 32),
    SMALL(volatile_reader, 2, "warning: relaxed-handover", 2, 32),
    SMALL(lock, 0, "legal", 4, 32),
    SMALL(lock, 1, "warning: relaxed-handover", 4, 32),
    SMALL(lock, 2, "warning: global-race", 4, 32),
    SMALL(lock, 3, "legal", 4, 32),
};

int main(int argc, char **argv) { return small_run(table, sizeof table / sizeof *table, 0, argc, argv); }
