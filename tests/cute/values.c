/* values.c - what the code computes where docs/cute.md says that a CuTe layout computes the same, one line a value:
 *   swizzle SPAN OFFSET RESULT        umma_swizzle_offset(), for each 16-byte chunk of 2048 bytes
 *   advance BYTES UNITS               by how much umma_smem_advance() changes a descriptor
 *   stride MAJOR ROWS SBO             umma_smem_desc_packed() of a 128-byte-swizzled tile
 *   cell LANE COLUMN ADDRESS          tmem_at()
 *   leader ADDRESS RESULT             pair_leader_address()
 * Host code: device functions of the headers are compiled as they are; those with instructions are not called. */
#include <stdio.h>

#define asm __asm__
#define __device__
#define __forceinline__ inline
#define __shfl_sync(mask, value, lane) (value)
#define __cvta_generic_to_shared(p) ((size_t)(p))
static const struct { unsigned x; } threadIdx = {0};

#include "common/cluster.cuh"
#include "common/descriptors.h"
#include "common/tmem.cuh"

int main(void) {
    static const enum umma_swizzle swizzles[] = {UMMA_SWIZZLE_NONE, UMMA_SWIZZLE_32B, UMMA_SWIZZLE_64B,
                                                 UMMA_SWIZZLE_128B};
    for (unsigned i = 0; i < sizeof swizzles / sizeof *swizzles; i++)
        for (unsigned offset = 0; offset < 2048; offset += 16)
            printf("swizzle %u %u %u\n", umma_swizzle_span(swizzles[i]), offset,
                   umma_swizzle_offset(swizzles[i], offset));
    const uint64_t desc = umma_smem_desc_packed(0x400, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, 128);
    for (unsigned bytes = 0; bytes < 128; bytes += 32)
        printf("advance %u %llu\n", bytes, (unsigned long long)(umma_smem_advance(desc, bytes) - desc));
    printf("stride K 128 %u\n", umma_smem_unpack(desc).stride);
    for (unsigned lane = 0; lane < TMEM_LANES; lane += 31)
        for (unsigned column = 0; column < TMEM_COLUMNS; column += 73)
            printf("cell %u %u %u\n", lane, column, tmem_at(0, lane, column));
    for (unsigned rank = 0; rank < 16; rank++)
        printf("leader %u %u\n", rank << 24 | 0x8400, pair_leader_address(rank << 24 | 0x8400));
    return 0;
}
