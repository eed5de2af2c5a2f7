/* 01_tmem_alloc - tensor memory: get some, write and read every cell of it, and give it back.
 *
 * One CTA of two warpgroups: warps 0-3 write the cells, warps 4-7 read them, and the host checks each. README.md walks
 * through it; parts/ has the lesson's other two programs. Ends with a PASS or FAIL line; exit code 0 or 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/cluster.cuh"
#include "../common/cmdline.h"
#include "../common/cuda_check.h"
#include "../common/fence.cuh"
#include "../common/tmem.cuh"
#include "../common/umma.cuh"

enum {
    WARPGROUP = 128, /* threads: four warps, together they reach the 128 lanes */
    PIECE = 32,      /* columns that a thread moves at a time, a register each */
};

/* What is written into a cell: where it is. */
static __host__ __device__ uint32_t cell_code(uint32_t lane, uint32_t column) { return lane << 16 | column; }

/* One CTA of two warpgroups. columns: how many to allocate. address: gets alloc's answer. cells: 128 x columns words,
 * lane by lane. */
__global__ void __launch_bounds__(2 * WARPGROUP) write_and_read(uint32_t columns, uint32_t *address, uint32_t *cells) {
    __shared__ uint32_t base;
    const uint32_t warp = warp_index();
    const uint32_t window = warp % 4 * TMEM_WINDOW; /* first of the 32 lanes this warp can reach */
    const uint32_t lane = window + lane_index();    /* with 32x32b a thread reaches one lane */

    if (warp == 0) { /* one warp, all 32 threads: alloc is .sync.aligned */
        tmem_alloc(smem_address(&base), columns);
        tmem_relinquish_alloc_permit(); /* we want no more: another CTA may allocate */
    }
    __syncthreads(); /* all threads see the base */
    if (threadIdx.x == 0)
        *address = base;

    if (warp < 4) {
        for (uint32_t c = 0; c < columns; c += PIECE) {
            uint32_t r[PIECE];
            for (int j = 0; j < PIECE; j++)
                r[j] = cell_code(lane, c + j);
            tmem_st_32x32b_x32(tmem_at(base, window, c), r);
        }
        tmem_wait_st();         /* the cells are written ... */
        tcgen05_fence_before(); /* ... before the barrier tells the readers */
    }
    __syncthreads();
    if (warp >= 4) {
        tcgen05_fence_after(); /* our loads come after the barrier */
        for (uint32_t c = 0; c < columns; c += PIECE) {
            uint32_t r[PIECE];
            tmem_ld_32x32b_x32(r, tmem_at(base, window, c));
            tmem_wait_ld();
            for (int j = 0; j < PIECE; j++)
                cells[lane * columns + c + j] = r[j];
        }
        tcgen05_fence_before(); /* the loads are complete (wait::ld); order them before the dealloc */
    }
    __syncthreads();
    if (warp == 0)
        tmem_dealloc(base, columns); /* synchronous: needs no fence of its own */
}

/* ---------------------------------------------------------------- host */

/* Prints a line for each window of lanes. Returns the number of wrong cells. */
static int check_cells(const uint32_t *cells, int columns) {
    int wrong = 0;
    for (int warp = 0; warp < 4; warp++) {
        int first = warp * TMEM_WINDOW, here = 0;
        for (int lane = first; lane < first + TMEM_WINDOW; lane++)
            for (int c = 0; c < columns; c++)
                here += cells[lane * columns + c] != cell_code(lane, c);
        printf("  lanes %3d-%3d   written by warp %d, read by warp %d: %d cells, %d wrong\n", first,
               first + TMEM_WINDOW - 1, warp, warp + 4, TMEM_WINDOW * columns, here);
        wrong += here;
    }
    return wrong;
}

int main(int argc, char **argv) {
    int columns = 256;
    const struct cl_option option = cl_pow2("columns", &columns, "to allocate", 32, TMEM_COLUMNS);
    cmdline_parse(argc, argv, "allocate, write, read and free tensor memory", &option, 1);
    cuda_require_sm100();

    size_t bytes = sizeof(uint32_t) * TMEM_LANES * columns;
    uint32_t *cells = (uint32_t *)malloc(bytes), *cells_gpu, *base_gpu, base;
    CUDA_CHECK(cudaMalloc((void **)&cells_gpu, bytes));
    CUDA_CHECK(cudaMalloc((void **)&base_gpu, sizeof base));
    CUDA_CHECK(cudaMemset(cells_gpu, 0xEE, bytes)); /* a cell that nobody reads is wrong */
    write_and_read<<<1, 2 * WARPGROUP>>>(columns, base_gpu, cells_gpu);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(&base, base_gpu, sizeof base, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(cells, cells_gpu, bytes, cudaMemcpyDeviceToHost));

    printf("01_tmem_alloc   tensor memory: 128 lanes x 512 columns of 32-bit cells in each SM\n");
    printf("  %d columns allocated at 0x%08x: lane %u, column %u\n", columns, base, base >> 16, base & 0xFFFF);
    int wrong = check_cells(cells, columns);
    printf("\n%s  01_tmem_alloc: %d cells written and read, %d wrong\n", wrong ? "FAIL" : "PASS", TMEM_LANES * columns,
           wrong);
    CUDA_CHECK(cudaFree(cells_gpu));
    CUDA_CHECK(cudaFree(base_gpu));
    free(cells);
    return cmdline_end(wrong);
}
