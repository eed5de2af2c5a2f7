/* sizes.h - what the kernel of step 05 and its launch agree on: sizes, the warps' roles, parameters, the layout of
 * shared memory. Host and device. */
#ifndef STEP05_SIZES_H
#define STEP05_SIZES_H

#include <stdint.h>

#include "../common/descriptors.h"
#include "../common/tmem.cuh"
#include "out_type.cuh"
#include "raster.h"

/* ---------------------------------------------------------------- sizes */

enum {
    CTA_M = 128,        /* rows of A and D in a CTA, half of the pair's 256 */
    MAX_TILE_N = 256,   /* columns of D in a pair; 128 with --tile-n 128. Each CTA holds half as many rows of B */
    TILE_K_BYTES = 128, /* along K: 64 f16, 32 tf32, 128 fp8 */
    UMMA_K_BYTES = 32,  /* along K, that one UMMA multiplies */
    UMMAS_PER_TILE = TILE_K_BYTES / UMMA_K_BYTES,
    ACCUMULATORS = 2,     /* in tensor memory: one is filled while the other is read */
    SUBTILE_COLUMNS = 32, /* of D that the epilogue handles at a time: registers of a thread */
    BUFFERS = 2,          /* subtiles of C in shared memory, and of D */
    ANSWERS = 2,          /* of cluster launch control */
    MIN_STAGES = 2,
    MAX_STAGES = 9,
};

/* The roles of a CTA's warps. The epilogue takes four in a row, from 0: warp w reaches lanes 32 (w % 4) ... of TMEM. */
enum {
    EPILOGUE_WARPS = 4,
    MMA_WARP = 4,
    LOAD_WARP = 5,
    C_WARP = 6,
    SCHEDULE_WARP = 7, /* with --scheduler clc only */
    THREADS = 7 * 32,
    CLC_THREADS = 8 * 32,
};

static_assert(EPILOGUE_WARPS * TMEM_WINDOW == CTA_M, "a warp's window is its rows of D");
static_assert(ACCUMULATORS * MAX_TILE_N <= TMEM_COLUMNS, "both accumulators fit into tensor memory");
static_assert(SUBTILE_COLUMNS == 32, "tcgen05.ld.32x32b.x32 a subtile");
static_assert(MAX_TILE_N / 2 % (BUFFERS * SUBTILE_COLUMNS) == 0, "a tile is whole rounds of the buffers");

/* ---------------------------------------------------------------- parameters, the same for all CTAs */

/* How a CTA's part of a K tile of A or B is loaded into shared memory, and how the tensor core reads it there. */
struct operand {
    uint32_t mn_major;    /* 1: M or N is contiguous in memory, 0: K */
    uint32_t boxes;       /* in the part, side by side: M-major rows may be wider than a swizzle span */
    uint32_t box_bytes;   /* from one box to the next in shared memory */
    uint32_t box_columns; /* elements, from one box to the next in memory */
    uint32_t slice_rows;  /* of a box that one CTA loads for all that need them: rows of the tensor map */
    uint32_t slice_bytes;
    uint32_t step_x, step_y; /* columns and rows of the tensor map from one K tile to the next: one is 0 */
    uint64_t desc;           /* SMEM descriptor of a part at address 0 */
    uint64_t umma_step;      /* from one UMMA's operand to the next, as the descriptor counts: in 16 bytes */
};

struct gemm {
    struct operand a, b;
    uint32_t k_tiles, tile_k;              /* tiles along K, and elements of each */
    uint32_t tile_n;                       /* columns of D in a pair: 256 or 128 */
    uint32_t cluster_m, cluster_n;         /* CTAs of a cluster along M, two in each pair, and along N */
    uint32_t stages, stage_bytes, a_bytes; /* a stage is a_bytes of A, then B */
    uint32_t ab_at;                        /* offset of the first stage in shared memory */
    struct raster raster;                  /* work item to place in D */
    uint32_t works;                        /* tiles of clusters in D, all matrices of the batch */
    uint32_t clc;                          /* 1: cluster launch control hands out the work */
    enum umma_kind kind;
    uint32_t idesc;
    enum out_type out; /* of C and D */
    uint32_t relu;
    float alpha, beta;
};

/* ---------------------------------------------------------------- shared memory: barriers, subtiles, stages */

enum { STORAGE_BYTES = 1024 }; /* struct shared_storage; the first stage is on the boundary of the swizzle pattern */

/* Bytes of a subtile of C or D in shared memory, and the offset of buffer i: 0 and 1 are D's, 2 and 3 C's. */
static inline __host__ __device__ uint32_t subtile_bytes(enum out_type out) {
    return CTA_M * SUBTILE_COLUMNS * (uint32_t)out_bytes(out);
}

static inline __host__ __device__ uint32_t buffer_at(enum out_type out, uint32_t i) {
    return STORAGE_BYTES + i * subtile_bytes(out);
}

#endif
