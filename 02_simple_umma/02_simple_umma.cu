/* 02_simple_umma - D = alpha A B^T + beta C with one thread issuing the tensor core's work.
 *
 * A is M x K, B is N x K (both K-major: a row is contiguous), C and D are M x N f32, row-major. Each CTA of 128 threads
 * makes one 128 x 256 tile of D. It walks along K in tiles of 128 bytes: copy A and B into swizzled shared memory, let
 * one thread issue four UMMAs, wait, repeat; then bring the accumulator from tensor memory to D. One stage, no overlap:
 * the pipeline comes later, the rules are all here.
 *
 * README.md walks through it. Ends with a PASS or FAIL line; exit code 0 or 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/cluster.cuh"
#include "../common/cmdline.h"
#include "../common/cuda_check.h"
#include "../common/descriptors.h"
#include "../common/fence.cuh"
#include "../common/gemm_host.h"
#include "../common/mbarrier.cuh"
#include "../common/tmem.cuh"
#include "../common/types.h"
#include "../common/umma.cuh"

/* ---------------------------------------------------------------- sizes */

enum {
    TILE_M = 128,       /* rows of A and D in a CTA; each has a TMEM lane */
    TILE_N = 256,       /* rows of B, columns of D; each has a TMEM column */
    TILE_K_BYTES = 128, /* of a row of A or B: 64 f16, 32 tf32, 128 fp8; one swizzle span */
    UMMA_K_BYTES = 32,  /* bytes of a row that one UMMA multiplies */
    UMMAS_PER_TILE = TILE_K_BYTES / UMMA_K_BYTES,
    CHUNK = 16,                            /* bytes; the swizzle moves them as one piece */
    CHUNKS_PER_ROW = TILE_K_BYTES / CHUNK, /* 8 */
    ATOM_BYTES = 8 * TILE_K_BYTES,         /* 8 rows x 128 bytes: the swizzle pattern repeats from here */
    A_BYTES = TILE_M * TILE_K_BYTES,
    B_BYTES = TILE_N * TILE_K_BYTES,
    THREADS = 128,                /* a warpgroup: four warps x 32 lanes reach all of TMEM's 128 lanes */
    EPILOGUE_COLUMNS = 32,        /* accumulator columns that a thread handles at a time, a register each */
    A_COLUMNS = TILE_K_BYTES / 4, /* TMEM columns of an A tile, 4 bytes a cell */
};

static_assert(THREADS == TILE_M, "epilogue and tmem-st: thread t owns row t");
static_assert(TILE_N % EPILOGUE_COLUMNS == 0, "the epilogue takes whole pieces");
static_assert(A_BYTES % ATOM_BYTES == 0 && B_BYTES % ATOM_BYTES == 0, "B starts on a swizzle pattern");
static_assert(TILE_N + A_COLUMNS <= TMEM_COLUMNS, "accumulator and A fit");

/* Where the UMMA finds A: in shared memory, or in TMEM, brought there by the copy engine or from registers. */
enum a_from { A_SMEM, A_TMEM_CP, A_TMEM_ST, A_TMEM };

struct gemm {
    int n;            /* columns of C and D */
    size_t row_bytes; /* of A and B: K elements */
    const unsigned char *a, *b;
    const float *c;
    float *d;
    float alpha, beta;
    uint32_t idesc;
    enum umma_kind kind;
    enum a_from a_from;
};

/* What CTA (0, 0) used, for the host to print. */
struct witness {
    uint64_t a_desc, b_desc;
    uint32_t tmem_base, tmem_columns, smem_base;
};

/* ---------------------------------------------------------------- shared storage
 * Dynamic, because 48 KB of tiles and their barrier are more than static shared memory holds. The tiles come
 * first: a 128-byte swizzle pattern starts on a 1024-byte boundary (PTX ISA Table 41). */
struct shared_storage {
    alignas(1024) unsigned char a[A_BYTES];
    alignas(1024) unsigned char b[B_BYTES];
    uint64_t done;      /* mbarrier, 1 arrival: tcgen05.commit, when the UMMAs of a K tile are complete */
    uint32_t tmem_base; /* written by tcgen05.alloc */
};

/* Copies `rows` rows x 128 bytes of a K-major matrix into shared memory, swizzled: byte chunk c of row r goes to chunk
 * c ^ (r & 7) of row r. Eight neighbouring threads read the 128 contiguous bytes of a row.
 * from: first byte of the tile in global memory. to: 1024-byte aligned. All threads of the CTA. */
static __device__ __forceinline__ void copy_tile(unsigned char *to, const unsigned char *from, size_t row_bytes,
                                                 int rows) {
    int chunk = threadIdx.x % CHUNKS_PER_ROW;
#pragma unroll 8
    for (int row = threadIdx.x / CHUNKS_PER_ROW; row < rows; row += THREADS / CHUNKS_PER_ROW) {
        uint4 data = *(const uint4 *)(from + row * row_bytes + chunk * CHUNK);
        *(uint4 *)(to + row * TILE_K_BYTES + (chunk ^ (row & 7)) * CHUNK) = data;
    }
}

/* Brings 128 bytes of this thread's row of A to its TMEM lane: K elements packed four bytes a cell, lowest K in the
 * lowest byte. window: TMEM address of the A tile in this warp's 32 lanes. All threads of the CTA. */
static __device__ __forceinline__ void store_a_row(uint32_t window, const unsigned char *row) {
    uint32_t words[A_COLUMNS];
#pragma unroll
    for (int i = 0; i < A_COLUMNS / 4; i++) {
        uint4 data = ((const uint4 *)row)[i];
        words[4 * i] = data.x;
        words[4 * i + 1] = data.y;
        words[4 * i + 2] = data.z;
        words[4 * i + 3] = data.w;
    }
    tmem_st_32x32b_x32(window, words);
    tmem_wait_st(); /* complete before this thread tells the issuing thread */
}

/* The four UMMAs of one K tile, and the commit that reports them. One thread.
 * A step of 32 bytes along K is 32 bytes of address, inside the swizzle atom too: the hardware XORs address bits after
 * it has added the offset. In TMEM the same step is 8 columns. */
static __device__ __forceinline__ void issue_k_tile(const struct gemm *g, uint32_t accumulator, uint32_t a_tmem,
                                                    uint64_t a_desc, uint64_t b_desc, uint32_t done, int first) {
    for (int i = 0; i < UMMAS_PER_TILE; i++) {
        uint32_t accumulate = !(first && i == 0); /* enable-input-d: the first UMMA overwrites what TMEM held */
        uint64_t a_step = umma_smem_advance(a_desc, i * UMMA_K_BYTES);
        uint64_t b_step = umma_smem_advance(b_desc, i * UMMA_K_BYTES);
        uint32_t a_cells = a_tmem + i * (UMMA_K_BYTES / 4);
        if (g->a_from == A_TMEM_CP)
            tmem_cp_128x256b(a_cells, a_step); /* runs before the UMMA below: cp -> mma is a pipeline, 9.7.16.6.2 */
        if (g->a_from == A_SMEM)
            umma_ss(g->kind, accumulator, a_step, b_step, g->idesc, accumulate);
        else
            umma_ts(g->kind, accumulator, a_cells, b_step, g->idesc, accumulate);
    }
    umma_commit(done);
}

/* alpha x accumulator + beta C for this thread's row of D. window: TMEM address of the accumulator in this warp's 32
 * lanes. c, d: the tile's row. With beta 0, C is not read: it may be NULL or hold NaN. All threads of the CTA. */
static __device__ __forceinline__ void epilogue(const struct gemm *g, uint32_t window, const float *c, float *d) {
#pragma unroll 1
    for (int column = 0; column < TILE_N; column += EPILOGUE_COLUMNS) {
        uint32_t bits[EPILOGUE_COLUMNS];
        tmem_ld_32x32b_x32(bits, tmem_at(window, 0, column));
        tmem_wait_ld();
#pragma unroll
        for (int i = 0; i < EPILOGUE_COLUMNS; i += 4) {
            float4 out = make_float4(g->alpha * __uint_as_float(bits[i]), g->alpha * __uint_as_float(bits[i + 1]),
                                     g->alpha * __uint_as_float(bits[i + 2]), g->alpha * __uint_as_float(bits[i + 3]));
            if (g->beta != 0) {
                float4 in = *(const float4 *)(c + column + i);
                out.x += g->beta * in.x;
                out.y += g->beta * in.y;
                out.z += g->beta * in.z;
                out.w += g->beta * in.w;
            }
            *(float4 *)(d + column + i) = out;
        }
    }
}

/* Grid: N / 256 by M / 128 CTAs of 128 threads. Dynamic shared memory: struct shared_storage, aligned to 1024
 * bytes: only there does the hardware XOR as copy_tile() does. */
__global__ void __launch_bounds__(THREADS) simple_umma(const struct gemm g, struct witness *witness) {
    extern __shared__ __align__(1024) unsigned char storage[];
    struct shared_storage *s = (struct shared_storage *)storage;
    const uint32_t done = smem_address(&s->done);
    const uint32_t warp = warp_index();
    const uint32_t columns = g.a_from == A_SMEM ? TILE_N : TMEM_COLUMNS; /* a power of two: 256, or 512 with A */
    const size_t tile_m = (size_t)blockIdx.y * TILE_M, tile_n = (size_t)blockIdx.x * TILE_N;

    if (warp == 0) {
        tmem_alloc(smem_address(&s->tmem_base), columns); /* may wait for another CTA of this SM */
        tmem_relinquish_alloc_permit();
    }
    if (threadIdx.x == 0) {
        mbarrier_init(done, 1);
        fence_mbarrier_init(); /* tcgen05.commit arrives at cluster scope: publish the init there */
    }
    __syncthreads(); /* all threads see tmem_base and the barrier */

    const uint32_t accumulator = s->tmem_base, a_tmem = accumulator + TILE_N;
    const uint32_t window = warp * TMEM_WINDOW; /* first of the 32 lanes this warp can reach */
    const uint64_t a_desc = umma_smem_desc_packed(smem_address(s->a), UMMA_MAJOR_K, UMMA_SWIZZLE_128B, TILE_M);
    const uint64_t b_desc = umma_smem_desc_packed(smem_address(s->b), UMMA_MAJOR_K, UMMA_SWIZZLE_128B, TILE_N);

    const int k_tiles = (int)(g.row_bytes / TILE_K_BYTES);
    for (int kt = 0; kt < k_tiles; kt++) {
        const unsigned char *a = g.a + tile_m * g.row_bytes + (size_t)kt * TILE_K_BYTES;
        const unsigned char *b = g.b + tile_n * g.row_bytes + (size_t)kt * TILE_K_BYTES;
        if (g.a_from == A_TMEM_ST)
            store_a_row(tmem_at(a_tmem, window, 0), a + threadIdx.x * g.row_bytes);
        else
            copy_tile(s->a, a, g.row_bytes, TILE_M);
        copy_tile(s->b, b, g.row_bytes, TILE_N);

        fence_proxy_async_shared(); /* each writer: my generic stores, before the tensor core's async reads */
        tcgen05_fence_before();     /* my tcgen05.st, if any, before the barrier */
        __syncthreads();
        if (warp == 0) {
            tcgen05_fence_after(); /* what I issue now comes after what the others did before the barrier */
            if (elect_one())
                issue_k_tile(&g, accumulator, a_tmem, a_desc, b_desc, done, kt == 0);
        }
        mbarrier_wait(done, kt & 1); /* phase kt: the UMMAs have read the tiles and written the accumulator */
        tcgen05_fence_after();       /* our next st, cp or ld comes after them */
    }

    const size_t at = (tile_m + threadIdx.x) * g.n + tile_n;
    epilogue(&g, tmem_at(accumulator, window, 0), g.c + at, g.d + at);

    tcgen05_fence_before(); /* the last wait::ld has completed our loads; order them before the barrier */
    __syncthreads();
    if (warp == 0)
        tmem_dealloc(accumulator, columns); /* synchronous: needs no fence of its own */
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        witness->a_desc = a_desc;
        witness->b_desc = b_desc;
        witness->tmem_base = accumulator;
        witness->tmem_columns = columns;
        witness->smem_base = smem_address(s);
    }
}

/* ---------------------------------------------------------------- host */

struct options {
    struct gemm_problem p;
    int a_from, tile_k; /* tile_k: elements of a K tile */
};

static struct options read_options(int argc, char **argv) {
    static const char *const sources[] = {"smem", "tmem-cp", "tmem-st", "tmem", NULL};
    struct options o = {.p = gemm_default("02_simple_umma"), .a_from = A_SMEM};
    const struct cl_option own = cl_choice("a-from", &o.a_from, "where the UMMA reads A (tmem is tmem-cp)", sources);
    o.tile_k = gemm_options(argc, argv, "D = alpha A B^T + beta C, one 128x256 tile a CTA, one thread issuing UMMAs",
                            &o.p, "", &own, 1);
    if (o.a_from == A_TMEM)
        o.a_from = A_TMEM_CP;
    return o;
}

static void print_plan(const struct options *o) {
    static const char *const from[] = {"shared memory", "tensor memory, by tcgen05.cp", "tensor memory, by tcgen05.st"};
    const struct gemm_problem *p = &o->p;
    gemm_print_problem(p);
    printf("  grid      %d x %d CTAs of %d threads, one 128 x 256 tile of D each\n", p->m / TILE_M, p->n / TILE_N,
           THREADS);
    printf("  K loop    %d tiles of 128 bytes (%d %s), %d UMMAs of 128x256x%u each; A from %s\n", p->k / o->tile_k,
           o->tile_k, elem_names[p->type], UMMAS_PER_TILE, umma_k(elem_info((enum elem_type)p->type).kind),
           from[o->a_from]);
}

static void print_witness(const struct witness *w, const struct gemm *g) {
    printf("\n  descriptors of CTA (0, 0), bits first\n");
    umma_smem_print(stdout, "A in SMEM", w->a_desc);
    umma_smem_print(stdout, "B in SMEM", w->b_desc);
    umma_idesc_print(stdout, "instruction", g->idesc, g->kind);
    printf("  TMEM: accumulator at 0x%08x, %u columns allocated\n\n", w->tmem_base, w->tmem_columns);
}

/* Runs the kernel on the matrices and prints what CTA (0, 0) used. */
static void run(const struct options *o, const struct gemm_data *x) {
    const struct gemm_problem *p = &o->p;
    const struct elem_info e = elem_info((enum elem_type)p->type);
    const struct gemm g = {
        .n = p->n,
        .row_bytes = p->k * e.bytes,
        .a = (const unsigned char *)x->a_gpu,
        .b = (const unsigned char *)x->b_gpu,
        .c = x->c_gpu,
        .d = x->d_gpu,
        .alpha = p->alpha,
        .beta = p->beta,
        .idesc = umma_idesc(TILE_M, TILE_N, UMMA_D_F32, e.format, e.format, UMMA_MAJOR_K, UMMA_MAJOR_K),
        .kind = e.kind,
        .a_from = (enum a_from)o->a_from,
    };
    struct witness w, *w_gpu = (struct witness *)gpu_alloc_unwritten(sizeof w);
    const dim3 grid(p->n / TILE_N, p->m / TILE_M);
    const int smem = sizeof(struct shared_storage);
    CUDA_CHECK(cudaFuncSetAttribute((const void *)simple_umma, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    struct timing t = gemm_timing(p, x);
    while (timing_next(&t)) /* once, or as --time says */
        simple_umma<<<grid, THREADS, smem>>>(g, w_gpu);
    gemm_timing_report(&t, p);
    gpu_download(&w, w_gpu, sizeof w);
    print_witness(&w, &g);
}

int main(int argc, char **argv) {
    const struct options o = read_options(argc, argv);
    cuda_require_sm100();
    print_plan(&o);
    struct gemm_data x = gemm_data_make(&o.p);
    run(&o, &x);
    return gemm_finish(&o.p, &x);
}
