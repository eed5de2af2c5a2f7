/* 03_tma_multicast - the TMA brings the tiles, each once, to all CTAs of a cluster that need it.
 *
 * D = alpha A B^T + beta C as in step 02: A is M x K, B is N x K, both K-major, C and D are M x N f32. Now 16 CTAs
 * are a cluster of 4 along M by 4 along N. Four of them need the same tile of A, four the same tile of B; each loads
 * a quarter of either and multicasts it. No CTA overwrites a tile before all CTAs that share it have signalled that
 * they are done with it. No barrier in the K loop includes other CTAs than these.
 *
 * README.md walks through it. Ends with a PASS or FAIL line; exit code 0 or 1.
 */
#include <cuda.h>
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
#include "../common/tensor_map.h"
#include "../common/tma.cuh"
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
    ATOM_BYTES = 8 * TILE_K_BYTES, /* 8 rows x 128 bytes: the swizzle pattern repeats from here */
    A_BYTES = TILE_M * TILE_K_BYTES,
    B_BYTES = TILE_N * TILE_K_BYTES,
    THREADS = 128,         /* a warpgroup: four warps x 32 lanes reach all of TMEM's 128 lanes */
    EPILOGUE_COLUMNS = 32, /* accumulator columns that a thread handles at a time, a register each */
    MAX_CLUSTER = 16,      /* CTAs; a multicast mask has 16 bits */
    MAX_SIDE = 4,          /* CTAs of a cluster along M or N */
    /* Asked for so that an SM (228 KB) holds two CTAs at most, and their columns of TMEM fit: tcgen05.alloc must not
     * wait here. Two clusters would never end if each held columns of one SM and waited for some of another. */
    SHARED_BYTES = 80 * 1024,
};

static_assert(THREADS == TILE_M, "epilogue: thread t owns row t");
static_assert(TILE_M % MAX_SIDE == 0 && TILE_M / MAX_SIDE * TILE_K_BYTES % ATOM_BYTES == 0,
              "a slice of A starts on a swizzle pattern");
static_assert(TILE_N % MAX_SIDE == 0 && TILE_N / MAX_SIDE * TILE_K_BYTES % ATOM_BYTES == 0,
              "a slice of B starts on a swizzle pattern");

struct gemm {
    int n;                    /* columns of C and D */
    int k_tiles, tile_k;      /* tiles along K, and elements of each */
    int cluster_m, cluster_n; /* CTAs of a cluster along M and N */
    const float *c;
    float *d;
    float alpha, beta;
    uint32_t idesc;
    enum umma_kind kind;
};

/* What each CTA of the first cluster used, for the host to print. */
struct witness {
    uint32_t a_mask, b_mask, commit_mask, arrivals;
};

/* ---------------------------------------------------------------- shared storage
 * The same layout in all CTAs of the cluster: a multicast writes to the same offsets everywhere. */
struct shared_storage {
    alignas(1024) unsigned char a[A_BYTES];
    alignas(1024) unsigned char b[B_BYTES];
    uint64_t full; /* 1 arrival, ours, and A_BYTES + B_BYTES from the TMAs of all CTAs that share our tiles */
    uint64_t free; /* cluster_m + cluster_n - 1 arrivals: the commits of all CTAs that share a tile with us */
    uint64_t done; /* 1 arrival: our last commit, when the accumulator is complete */
    uint32_t tmem_base;
};

static_assert(sizeof(struct shared_storage) <= SHARED_BYTES, "the storage fits");

/* ---------------------------------------------------------------- who shares what
 * Rank = x + y cluster_m, x counting along M, y along N. A bit of a mask is a rank. */

struct sharing {
    uint32_t x, y;
    uint16_t a, b, commit; /* masks: the CTAs that need our tile of A (same x), of B (same y), either */
};

static __device__ __forceinline__ struct sharing find_sharing(const struct gemm *g) {
    struct sharing s = {.x = cluster_rank() % g->cluster_m, .y = cluster_rank() / g->cluster_m};
    for (int y = 0; y < g->cluster_n; y++)
        s.a |= 1u << (s.x + y * g->cluster_m);
    for (int x = 0; x < g->cluster_m; x++)
        s.b |= 1u << (x + s.y * g->cluster_m);
    s.commit = s.a | s.b;
    return s;
}

/* ---------------------------------------------------------------- the K loop, one thread */

/* Loads our slices of the tiles at `k`, for all CTAs that need them, and announces all bytes that will land here. */
static __device__ __forceinline__ void load_k_tile(const struct gemm *g, const struct sharing *share,
                                                   struct shared_storage *s, const CUtensorMap *a, const CUtensorMap *b,
                                                   int k) {
    const uint32_t full = smem_address(&s->full);
    const int a_rows = TILE_M / g->cluster_n, a_slice = share->y * a_rows; /* cluster_n CTAs share A */
    const int b_rows = TILE_N / g->cluster_m, b_slice = share->x * b_rows;
    mbarrier_arrive_expect_tx(full, A_BYTES + B_BYTES);
    tma_load_2d_multicast(smem_address(s->a) + a_slice * TILE_K_BYTES, a, k, blockIdx.x * TILE_M + a_slice, full,
                          share->a);
    tma_load_2d_multicast(smem_address(s->b) + b_slice * TILE_K_BYTES, b, k, blockIdx.y * TILE_N + b_slice, full,
                          share->b);
}

/* The UMMAs of one K tile: the descriptors step 32 bytes along K inside the swizzle atom. */
static __device__ __forceinline__ void issue_k_tile(const struct gemm *g, uint32_t accumulator, uint64_t a_desc,
                                                    uint64_t b_desc, int first) {
    for (int i = 0; i < UMMAS_PER_TILE; i++) {
        uint32_t accumulate = !(first && i == 0); /* the first UMMA overwrites what TMEM held */
        umma_ss(g->kind, accumulator, umma_smem_advance(a_desc, i * UMMA_K_BYTES),
                umma_smem_advance(b_desc, i * UMMA_K_BYTES), g->idesc, accumulate);
    }
}

static __device__ __forceinline__ void k_loop(const struct gemm *g, const struct sharing *share,
                                              struct shared_storage *s, const CUtensorMap *a, const CUtensorMap *b) {
    const uint32_t full = smem_address(&s->full), free = smem_address(&s->free), done = smem_address(&s->done);
    const uint64_t a_desc = umma_smem_desc_packed(smem_address(s->a), UMMA_MAJOR_K, UMMA_SWIZZLE_128B, TILE_M);
    const uint64_t b_desc = umma_smem_desc_packed(smem_address(s->b), UMMA_MAJOR_K, UMMA_SWIZZLE_128B, TILE_N);

#pragma unroll 1
    for (int kt = 0; kt < g->k_tiles; kt++) {
        load_k_tile(g, share, s, a, b, kt * g->tile_k);
        mbarrier_wait_cluster(full, kt & 1); /* all slices of both tiles have landed here */
        tcgen05_fence_after();               /* the UMMAs come after the wait; TMA to UMMA is one proxy */
        issue_k_tile(g, s->tmem_base, a_desc, b_desc, kt == 0);
        umma_commit_multicast(free, share->commit); /* tells the writers of our tiles */
        if (kt == g->k_tiles - 1)
            umma_commit(done);
        /* The CTAs that we write to have read their tiles. In the last round: all that was sent here has arrived. */
        mbarrier_wait_cluster(free, kt & 1);
    }
}

/* alpha x accumulator + beta C for this thread's row of D. window: TMEM address of the accumulator in this warp's 32
 * lanes. c, d: the tile's row. With beta 0, C is not read. All threads of the CTA. */
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

/* Grid: M / 128 by N / 256 CTAs of 128 threads, in clusters of cluster_m by cluster_n: x runs along M. a, b: boxes
 * of one slice. Dynamic shared memory: SHARED_BYTES, struct shared_storage first. */
__global__ void __launch_bounds__(THREADS)
    tma_multicast(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  const __grid_constant__ struct gemm g, struct witness *witness) {
    extern __shared__ __align__(1024) unsigned char storage[];
    struct shared_storage *s = (struct shared_storage *)storage;
    const struct sharing share = find_sharing(&g);
    const uint32_t warp = warp_index(), sharers = g.cluster_m + g.cluster_n - 1;

    if (warp == 0) {
        tmem_alloc(smem_address(&s->tmem_base), TILE_N);
        tmem_relinquish_alloc_permit();
        if (elect_one()) {
            mbarrier_init(smem_address(&s->full), 1);
            mbarrier_init(smem_address(&s->free), sharers);
            mbarrier_init(smem_address(&s->done), 1);
            fence_mbarrier_init(); /* to the cluster, and to its TMAs and tensor cores */
        }
        __syncwarp();
    }
    cluster_sync(); /* all CTAs run and have initialised their barriers; tmem_base is written */

    if (warp == 0) {
        if (elect_one())
            k_loop(&g, &share, s, &a, &b);
        __syncwarp(); /* .aligned: the warp must be converged again */
    }
    mbarrier_wait_relaxed(smem_address(&s->done), 0); /* the accumulator is complete */
    tcgen05_fence_after();

    const uint32_t window = warp * TMEM_WINDOW; /* first of the 32 lanes this warp can reach */
    const size_t at = ((size_t)blockIdx.x * TILE_M + threadIdx.x) * g.n + (size_t)blockIdx.y * TILE_N;
    epilogue(&g, tmem_at(s->tmem_base, window, 0), g.c + at, g.d + at);

    if (threadIdx.x == 0 && blockIdx.x < g.cluster_m && blockIdx.y < g.cluster_n) {
        struct witness w = {.a_mask = share.a, .b_mask = share.b, .commit_mask = share.commit, .arrivals = sharers};
        witness[cluster_rank()] = w;
    }
    __syncwarp();
    tcgen05_fence_before(); /* the last wait::ld has completed our loads; order them before the barrier */
    cluster_sync();         /* all that any CTA sent has arrived: now we may exit */
    if (warp == 0)
        tmem_dealloc(s->tmem_base, TILE_N);
}

/* ---------------------------------------------------------------- host */

static const char *const shapes[] = {"1x1", "1x2", "1x4", "2x1", "2x2", "2x4", "4x1", "4x2", "4x4", NULL};

struct options {
    struct gemm_problem p;
    int shape, cluster_m, cluster_n; /* shape: an index into shapes */
    int tile_k;                      /* elements of a K tile */
};

static struct options read_options(int argc, char **argv) {
    struct options o = {.p = gemm_default("03_tma_multicast"), .shape = 8};
    const struct cl_option own = cl_choice("cluster", &o.shape, "CTAs along M x along N", shapes);
    o.tile_k = gemm_options(argc, argv, "D = alpha A B^T + beta C, TMA multicast in a cluster, one 128x256 tile a CTA",
                            &o.p, ", whole clusters of tiles", &own, 1);
    o.cluster_m = shapes[o.shape][0] - '0';
    o.cluster_n = shapes[o.shape][2] - '0';
    gemm_require_multiple(o.p.step, "m", o.p.m, TILE_M * o.cluster_m, "a cluster of 128-row tiles");
    gemm_require_multiple(o.p.step, "n", o.p.n, TILE_N * o.cluster_n, "a cluster of 256-column tiles");
    return o;
}

static void print_plan(const struct options *o) {
    const struct gemm_problem *p = &o->p;
    gemm_print_problem(p);
    printf("  grid      %d x %d CTAs of %d threads, one 128 x 256 tile of D each, in clusters of %d along M by %d "
           "along N\n",
           p->m / TILE_M, p->n / TILE_N, THREADS, o->cluster_m, o->cluster_n);
    printf("  K tile    128 bytes (%d %s), %d of them; expect_tx %d = A %d + B %d bytes\n", o->tile_k,
           elem_names[p->type], p->k / o->tile_k, A_BYTES + B_BYTES, A_BYTES, B_BYTES);
    printf("  each CTA  loads %d of the 128 rows of A for %d CTA%s, %d of the 256 rows of B for %d CTA%s\n",
           TILE_M / o->cluster_n, o->cluster_n, o->cluster_n == 1 ? "" : "s", TILE_N / o->cluster_m, o->cluster_m,
           o->cluster_m == 1 ? "" : "s");
}

/* Runs the kernel on the matrices and prints what the first cluster used. */
static void run(const struct options *o, const struct gemm_data *x) {
    const struct gemm_problem *p = &o->p;
    const enum elem_type type = (enum elem_type)p->type;
    const struct elem_info e = elem_info(type);
    CUtensorMap a = tensor_map_2d(x->a_gpu, type, p->m, p->k, TILE_M / o->cluster_n);
    CUtensorMap b = tensor_map_2d(x->b_gpu, type, p->n, p->k, TILE_N / o->cluster_m);
    struct gemm g = {
        .n = p->n,
        .k_tiles = p->k / o->tile_k,
        .tile_k = o->tile_k,
        .cluster_m = o->cluster_m,
        .cluster_n = o->cluster_n,
        .c = x->c_gpu,
        .d = x->d_gpu,
        .alpha = p->alpha,
        .beta = p->beta,
        .idesc = umma_idesc(TILE_M, TILE_N, UMMA_D_F32, e.format, e.format, UMMA_MAJOR_K, UMMA_MAJOR_K),
        .kind = e.kind,
    };
    struct witness w[MAX_CLUSTER];
    void *w_gpu = gpu_alloc_unwritten(sizeof w), *args[] = {&a, &b, &g, &w_gpu};
    struct timing t = gemm_timing(p, x);
    while (timing_next(&t)) /* once, or as --time says */
        launch_clusters((const void *)tma_multicast, dim3(p->m / TILE_M, p->n / TILE_N),
                        dim3(o->cluster_m, o->cluster_n), THREADS, SHARED_BYTES, args);
    gemm_timing_report(&t, p);
    gpu_download(w, w_gpu, sizeof w);
    print_masks(w, o->cluster_m, o->cluster_n, "");
    printf("  arrivals that free a tile: %d + %d - 1 = %u\n\n", o->cluster_m, o->cluster_n, w[0].arrivals);
}

int main(int argc, char **argv) {
    const struct options o = read_options(argc, argv);
    cuda_require_sm100();
    print_plan(&o);
    struct gemm_data x = gemm_data_make(&o.p);
    run(&o, &x);
    return gemm_finish(&o.p, &x);
}
