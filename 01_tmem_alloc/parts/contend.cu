/* contend - more of step 01: several blocks of columns, and two CTAs on an SM that want them all.
 *
 * Ends with a PASS or FAIL line; exit code 0 or 1. The lesson is in further.md.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../common/cluster.cuh"
#include "../../common/cmdline.h"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/tmem.cuh"

enum {
    MAX_BLOCKS = 4,  /* 256 + 128 + 64 + 32 columns */
    PATIENCE = 2000, /* naps of a microsecond until a CTA no longer waits for another CTA on its SM */
    HOLD = 50,       /* further naps for which it keeps its columns, while the other's alloc blocks */
};

struct block {
    uint32_t columns, base; /* as asked for; as alloc answers */
};

/* Moments of one CTA, numbered across the GPU: each is a ticket drawn from one counter. */
struct visit {
    uint32_t sm, asked, got, freed;
};

/* One warp in each CTA. All SMs hold two CTAs, each wants all the blocks. blocks: count of them, columns given, base
 * filled in by CTA 0. tickets: the counter. company: for each SM, how many CTAs have come to ask. The CTA that gets the
 * columns first keeps them until the other asks, so that the other's alloc has to wait. Dynamic shared memory: unused;
 * its size limits the CTAs on an SM. */
__global__ void __launch_bounds__(32)
    contend(struct block *blocks, int count, struct visit *visits, uint32_t *tickets, uint32_t *company) {
    __shared__ uint32_t bases[MAX_BLOCKS];
    const uint32_t sm = sm_index(), lane = lane_index();
    struct visit v = {.sm = sm};

    if (lane == 0) {
        v.asked = atomicAdd(tickets, 1);
        fence_gpu(); /* the ticket is drawn before the company sees us */
        atomicAdd(&company[sm], 1);
    }
    __syncwarp(); /* .aligned: the warp must be converged again */

    /* Here the second CTA of an SM waits. */
#pragma unroll 1
    for (int i = 0; i < count; i++)
        tmem_alloc(smem_address(&bases[i]), blocks[i].columns); /* never more than the one before */
    tmem_relinquish_alloc_permit();

    if (blockIdx.x == 0 && lane < (uint32_t)count)
        blocks[lane].base = bases[lane];
    if (lane == 0) {
        v.got = atomicAdd(tickets, 1);
#pragma unroll 1
        for (int naps = 0; naps < PATIENCE && atomicAdd(&company[sm], 0) < 2; naps++)
            __nanosleep(1000);
#pragma unroll 1
        for (int naps = 0; naps < HOLD; naps++)
            __nanosleep(1000);
        v.freed = atomicAdd(tickets, 1);
        fence_gpu(); /* the ticket is drawn before the columns are free */
        visits[blockIdx.x] = v;
    }
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < count; i++)
        tmem_dealloc(bases[i], blocks[i].columns);
}

/* ---------------------------------------------------------------- host */

#define EMPTY 0xEEEEEEEEu /* a word that nobody wrote */

/* Plans the blocks: the size asked for, then halves of it, down to 32 columns, as long as 512 are enough for all. */
static int plan_blocks(int columns, struct block *blocks) {
    int count = 0, left = TMEM_COLUMNS;
    for (int c = columns; count < MAX_BLOCKS && c >= 32 && c <= left; c /= 2) {
        blocks[count].columns = (uint32_t)c;
        blocks[count++].base = EMPTY;
        left -= c;
    }
    return count;
}

/* Prints the blocks. Returns how many are not in the 512 columns, or share one with a block before them. */
static int check_blocks(const struct block *blocks, int count) {
    int wrong = 0;
    printf("  each CTA allocates %d block%s; CTA 0 got\n", count, count > 1 ? "s" : "");
    for (int i = 0; i < count; i++) {
        uint32_t first = blocks[i].base & 0xFFFF, end = first + blocks[i].columns;
        int bad = blocks[i].base >> 16 || end > TMEM_COLUMNS;
        for (int j = 0; j < i; j++)
            bad |= first < (blocks[j].base & 0xFFFF) + blocks[j].columns && (blocks[j].base & 0xFFFF) < end;
        printf("     %c  %3u columns at 0x%08x: lane %u, column %u%s\n", 'A' + i, blocks[i].columns, blocks[i].base,
               blocks[i].base >> 16, first, bad ? "  WRONG" : "");
        wrong += bad;
    }
    return wrong;
}

static void print_visit(int cta, const struct visit *v, const char *note) {
    printf("     CTA %-4d asked at ticket %-4u got the columns at %-4u freed them at %u%s\n", cta, v->asked, v->got,
           v->freed, note);
}

/* For each two CTAs of an SM that has too few columns for both: the one that got them later must have got them after
 * the other freed them. Returns the pairs for which that is wrong; *seen counts those of which one waited. */
static int check_visits(const struct visit *v, int ctas, int *seen) {
    int broken = 0, shown = 0;
    for (int i = 0; i < ctas; i++)
        for (int j = 0; j < ctas; j++) {
            if (i == j || v[i].sm != v[j].sm || v[i].got > v[j].got)
                continue;
            int waited = v[j].asked < v[i].freed;
            *seen += waited;
            broken += v[j].got < v[i].freed;
            if (waited && !shown++) {
                printf("     on SM %u:\n", v[i].sm);
                print_visit(i, &v[i], "");
                print_visit(j, &v[j], "  <- waited");
            }
        }
    return broken;
}

int main(int argc, char **argv) {
    int columns = 256, allocated = 0, seen = 0, broken = 0;
    const struct cl_option option = cl_pow2("columns", &columns, "of the first block", 32, TMEM_COLUMNS);
    cmdline_parse(argc, argv, "two CTAs on each SM allocate tensor memory", &option, 1);
    struct cudaDeviceProp prop = cuda_require_sm100();

    struct block blocks[MAX_BLOCKS], *blocks_gpu;
    int count = plan_blocks(columns, blocks);
    for (int i = 0; i < count; i++)
        allocated += (int)blocks[i].columns;
    /* Two CTAs for each SM: each takes more than a third of an SM's shared memory, so that two fit and three do not.
     * The GPU chooses the SM of a CTA; %smid tells which one it is. */
    int ctas = 2 * prop.multiProcessorCount, smem = (int)prop.sharedMemPerMultiprocessor / 3;
    struct visit *visits = (struct visit *)malloc(sizeof(struct visit) * ctas), *visits_gpu;
    uint32_t *counters_gpu; /* the tickets, then the company on each SM; an SM's number is less than the limit */
    size_t bytes = sizeof(uint32_t) * (1 + 1024);
    CUDA_CHECK(cudaMalloc((void **)&blocks_gpu, sizeof blocks));
    CUDA_CHECK(cudaMalloc((void **)&visits_gpu, sizeof(struct visit) * ctas));
    CUDA_CHECK(cudaMalloc((void **)&counters_gpu, bytes));
    CUDA_CHECK(cudaMemcpy(blocks_gpu, blocks, sizeof blocks, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(counters_gpu, 0, bytes));
    CUDA_CHECK(cudaFuncSetAttribute((const void *)contend, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    contend<<<ctas, 32, smem>>>(blocks_gpu, count, visits_gpu, counters_gpu, counters_gpu + 1);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(blocks, blocks_gpu, sizeof blocks, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(visits, visits_gpu, sizeof(struct visit) * ctas, cudaMemcpyDeviceToHost));

    printf("contend   two CTAs on each SM, each wants %d of its 512 columns (%d CTAs on %d SMs)\n", allocated, ctas,
           ctas / 2);
    int wrong = check_blocks(blocks, count);
    if (2 * allocated <= TMEM_COLUMNS)
        printf("     an SM has enough for both, so none had to wait\n");
    else
        broken = check_visits(visits, ctas, &seen);
    if (seen)
        printf("     %d SMs had a CTA whose tcgen05.alloc waited; %d got columns that were not free\n", seen, broken);
    else if (2 * allocated > TMEM_COLUMNS)
        printf("     no two CTAs were on one SM at the same time, so none had to wait\n");
    printf("\n%s  contend: %d of %d blocks right; %d allocations waited, %d overlapped\n",
           wrong || broken ? "FAIL" : "PASS", count - wrong, count, seen, broken);
    CUDA_CHECK(cudaFree(blocks_gpu));
    CUDA_CHECK(cudaFree(visits_gpu));
    CUDA_CHECK(cudaFree(counters_gpu));
    free(visits);
    return cmdline_end(wrong || broken);
}
