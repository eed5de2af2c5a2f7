/* 04_pair_umma - two CTAs, one UMMA: 256 x 256 of D from half of A and half of B in each.
 *
 * D = alpha A B^T + beta C as in step 03, with its multicast. Now two neighbouring CTAs are a pair: the even one, the
 * leader, issues UMMAs that read the shared memory and write the tensor memory of both. Each CTA loads half of the
 * pair's tile of A and half of its tile of B, so each byte of B serves twice as many rows of A as before.
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
    MAX_HALF_M = 128,    /* rows of A and D in a CTA: half of the pair's 256, or of 128 with --mma-m 128 */
    TILE_N = 256,        /* columns of D in a pair */
    HALF_N = TILE_N / 2, /* rows of B in a CTA */
    TILE_K_BYTES = 128,  /* of a row of A or B: 64 f16, 32 tf32, 128 fp8; one swizzle span */
    UMMA_K_BYTES = 32,   /* bytes of a row that one UMMA multiplies */
    UMMAS_PER_TILE = TILE_K_BYTES / UMMA_K_BYTES,
    ATOM_BYTES = 8 * TILE_K_BYTES, /* 8 rows x 128 bytes: the swizzle pattern repeats from here */
    MAX_A_BYTES = MAX_HALF_M * TILE_K_BYTES,
    B_BYTES = HALF_N * TILE_K_BYTES,
    THREADS = 128,         /* a warpgroup: four warps x 32 lanes reach all of TMEM's 128 lanes */
    EPILOGUE_COLUMNS = 32, /* accumulator columns that a thread handles at a time, a register each */
    MAX_CLUSTER = 16,      /* CTAs; a multicast mask has 16 bits */
    MAX_SIDE = 4,          /* CTAs of a cluster along M or N */
    /* Asked for so that an SM (228 KB) holds two CTAs at most, and their columns of TMEM fit: tcgen05.alloc must not
     * wait here. Two clusters would never end if each held columns of one SM and waited for some of another. */
    SHARED_BYTES = 80 * 1024,
};

static_assert(MAX_HALF_M / 2 / MAX_SIDE * TILE_K_BYTES % ATOM_BYTES == 0, "a slice of A starts on a swizzle pattern");
static_assert(HALF_N / (MAX_SIDE / 2) * TILE_K_BYTES % ATOM_BYTES == 0, "a slice of B starts on a swizzle pattern");

struct gemm {
    int n;                    /* columns of C and D */
    int k_tiles, tile_k;      /* tiles along K, and elements of each */
    int cluster_m, cluster_n; /* CTAs of a cluster along M, two in each pair, and along N */
    int half_m;               /* rows of A and D in a CTA: 128 or 64 */
    const float *c;
    float *d;
    float alpha, beta;
    uint32_t idesc;
    enum umma_kind kind;
};

/* What each CTA of the first cluster used, for the host to print. */
struct witness {
    uint32_t a_mask, b_mask, commit_mask, arrivals;
    uint32_t full, full_leader, full_mapped; /* addresses of the barrier: ours, with bit 24 cleared, by mapa */
    uint32_t tmem_base;
};

/* ---------------------------------------------------------------- shared storage
 * The same layout in all CTAs of the cluster: a multicast writes to the same offsets everywhere, and one descriptor
 * serves both CTAs of a pair. */
struct shared_storage {
    alignas(1024) unsigned char a[MAX_A_BYTES];
    alignas(1024) unsigned char b[B_BYTES];
    uint64_t full; /* the leader's: 1 arrival, its own, and the bytes of both CTAs' tiles. The odd CTA's is unused */
    uint64_t free; /* cluster_m / 2 + cluster_n - 1 arrivals: the commits of all pairs that read what we write */
    uint64_t done; /* 1 arrival: our pair's last commit, when the accumulator is complete */
    uint32_t tmem_base;
};

static_assert(sizeof(struct shared_storage) <= SHARED_BYTES, "the storage fits");

/* ---------------------------------------------------------------- who shares what
 * Rank = x + y cluster_m, x counting CTAs along M, y along N. A bit of a mask is a rank; ranks 2 i and 2 i + 1 are a
 * pair. */

struct sharing {
    uint32_t x, y, leads; /* leads: 1 in the even CTA */
    uint16_t a, b;        /* masks: who needs our half of A (same x), our half of B (same y, same parity) */
    uint16_t pair;        /* we and our peer */
    uint16_t commit;      /* both CTAs of every pair that needs a half of A or of B that our pair reads */
};

static __device__ __forceinline__ struct sharing find_sharing(const struct gemm *g) {
    const uint32_t rank = cluster_rank();
    struct sharing s = {.x = rank % g->cluster_m, .y = rank / g->cluster_m, .leads = !(rank & 1)};
    s.pair = 3u << (rank & ~1u);
    for (int y = 0; y < g->cluster_n; y++) {
        s.a |= 1u << (s.x + y * g->cluster_m);
        s.commit |= 3u << ((s.x & ~1u) + y * g->cluster_m);
    }
    for (int x = s.x & 1; x < g->cluster_m; x += 2) {
        s.b |= 1u << (x + s.y * g->cluster_m);
        s.commit |= 3u << ((x & ~1) + s.y * g->cluster_m);
    }
    return s;
}

/* ---------------------------------------------------------------- the K loop, one thread of each CTA */

/* Loads our slices of our halves of the tiles at `k`, for all CTAs that need them. The leaders count the bytes. */
static __device__ __forceinline__ void load_k_tile(const struct gemm *g, const struct sharing *share,
                                                   struct shared_storage *s, const CUtensorMap *a, const CUtensorMap *b,
                                                   int k) {
    const uint32_t full = pair_leader_address(smem_address(&s->full));
    const int a_rows = g->half_m / g->cluster_n, a_slice = share->y * a_rows; /* cluster_n CTAs share A */
    const int b_rows = HALF_N / (g->cluster_m / 2), b_slice = share->x / 2 * b_rows;
    const int a_row = blockIdx.x * g->half_m, b_row = blockIdx.y * TILE_N + (share->x & 1) * HALF_N;
    tma_load_2d_multicast_pair(smem_address(s->a) + a_slice * TILE_K_BYTES, a, k, a_row + a_slice, full, share->a);
    tma_load_2d_multicast_pair(smem_address(s->b) + b_slice * TILE_K_BYTES, b, k, b_row + b_slice, full, share->b);
}

/* The UMMAs of one K tile, by the leader for both CTAs: descriptors step 32 bytes along K in the swizzle atom. */
static __device__ __forceinline__ void issue_k_tile(const struct gemm *g, uint32_t accumulator, uint64_t a_desc,
                                                    uint64_t b_desc, int first) {
    for (int i = 0; i < UMMAS_PER_TILE; i++) {
        uint32_t accumulate = !(first && i == 0); /* the first UMMA overwrites what TMEM held */
        umma_pair_ss(g->kind, accumulator, umma_smem_advance(a_desc, i * UMMA_K_BYTES),
                     umma_smem_advance(b_desc, i * UMMA_K_BYTES), g->idesc, accumulate);
    }
}

static __device__ __forceinline__ void k_loop(const struct gemm *g, const struct sharing *share,
                                              struct shared_storage *s, const CUtensorMap *a, const CUtensorMap *b) {
    const uint32_t full = smem_address(&s->full), free = smem_address(&s->free), done = smem_address(&s->done);
    const uint32_t pair_bytes = 2 * (g->half_m * TILE_K_BYTES + B_BYTES); /* ours and the peer's */
    const uint64_t a_desc = umma_smem_desc_packed(smem_address(s->a), UMMA_MAJOR_K, UMMA_SWIZZLE_128B, g->half_m);
    const uint64_t b_desc = umma_smem_desc_packed(smem_address(s->b), UMMA_MAJOR_K, UMMA_SWIZZLE_128B, HALF_N);

#pragma unroll 1
    for (int kt = 0; kt < g->k_tiles; kt++) {
        if (share->leads)
            mbarrier_arrive_expect_tx(full, pair_bytes);
        load_k_tile(g, share, s, a, b, kt * g->tile_k);
        if (share->leads) {
            mbarrier_wait_cluster(full, kt & 1); /* both CTAs' tiles have landed */
            tcgen05_fence_after();               /* the UMMAs come after the wait; TMA to UMMA is one proxy */
            issue_k_tile(g, s->tmem_base, a_desc, b_desc, kt == 0);
            umma_pair_commit_multicast(free, share->commit); /* tells the writers of our pair's tiles */
            if (kt == g->k_tiles - 1)
                umma_pair_commit_multicast(done, share->pair);
        }
        /* The CTAs that we write to have read their tiles. In the last round: all that was sent here has arrived. */
        mbarrier_wait_cluster(free, kt & 1);
    }
}

/* alpha x accumulator + beta C for this thread's lane. window: TMEM address of the accumulator in this warp's 32
 * lanes. columns: of D that a lane holds. c, d: where they begin. With beta 0, C is not read. All threads. */
static __device__ __forceinline__ void epilogue(const struct gemm *g, uint32_t window, int columns, const float *c,
                                                float *d) {
#pragma unroll 1
    for (int column = 0; column < columns; column += EPILOGUE_COLUMNS) {
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

/* Grid: M / half_m by N / 256 CTAs of 128 threads, in clusters of cluster_m by cluster_n: x runs along M, so that the
 * tiles of a pair are one below the other in D. a, b: boxes of one slice. Dynamic shared memory: SHARED_BYTES, struct
 * shared_storage first. */
__global__ void __launch_bounds__(THREADS)
    pair_umma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
              const __grid_constant__ struct gemm g, struct witness *witness) {
    extern __shared__ __align__(1024) unsigned char storage[];
    struct shared_storage *s = (struct shared_storage *)storage;
    const struct sharing share = find_sharing(&g);
    const uint32_t warp = warp_index(), sharers = g.cluster_m / 2 + g.cluster_n - 1;
    /* Layout A: a lane is a row of 256 columns. Layout B: 64 rows, lanes 64 and up hold their right halves. */
    const int columns = g.half_m == 128 ? TILE_N : TILE_N / 2;
    const int row = threadIdx.x % g.half_m, first_column = threadIdx.x / g.half_m * columns;

    if (threadIdx.x == 0) {
        mbarrier_init(smem_address(&s->full), 1);
        mbarrier_init(smem_address(&s->free), sharers);
        mbarrier_init(smem_address(&s->done), 1);
        fence_mbarrier_init(); /* to the cluster, and to its TMAs and tensor cores */
    }
    __syncwarp();
    cluster_sync(); /* all CTAs run, the peer too, and have initialised their barriers */
    if (warp == 0) {
        tmem_pair_alloc(smem_address(&s->tmem_base), columns); /* with the peer's warp 0 */
        tmem_pair_relinquish_alloc_permit();
    }
    cluster_sync(); /* both CTAs have their columns, and all threads see tmem_base */

    if (warp == 0) {
        if (elect_one())
            k_loop(&g, &share, s, &a, &b);
        __syncwarp(); /* .aligned: the warp must be converged again */
    }
    mbarrier_wait_relaxed(smem_address(&s->done), 0); /* our half of the accumulator is complete */
    tcgen05_fence_after();

    const uint32_t window = warp * TMEM_WINDOW; /* first of the 32 lanes this warp can reach */
    const size_t at = ((size_t)blockIdx.x * g.half_m + row) * g.n + (size_t)blockIdx.y * TILE_N + first_column;
    epilogue(&g, tmem_at(s->tmem_base, window, 0), columns, g.c + at, g.d + at);

    if (threadIdx.x == 0 && blockIdx.x < g.cluster_m && blockIdx.y < g.cluster_n) {
        uint32_t full = smem_address(&s->full);
        struct witness w = {
            .a_mask = share.a,
            .b_mask = share.b,
            .commit_mask = share.leads ? share.commit : 0u,
            .arrivals = sharers,
            .full = full,
            .full_leader = pair_leader_address(full),
            .full_mapped = cluster_map(full, cluster_rank() & ~1u),
            .tmem_base = s->tmem_base,
        };
        witness[cluster_rank()] = w;
    }
    __syncwarp();
    tcgen05_fence_before(); /* the last wait::ld has completed our loads; order them before the barrier */
    cluster_sync();         /* both CTAs have read, and all that any CTA sent has arrived: now we may exit */
    if (warp == 0)
        tmem_pair_dealloc(s->tmem_base, columns); /* with the peer's warp 0 */
}

/* ---------------------------------------------------------------- host */

static const char *const shapes[] = {"2x1", "2x2", "2x4", "4x1", "4x2", "4x4", NULL};
static const char *const mma_ms[] = {"128", "256", NULL};

struct options {
    struct gemm_problem p;
    int shape, cluster_m, cluster_n; /* shape: an index into shapes */
    int mma, half_m;                 /* mma: an index into mma_ms */
    int tile_k;                      /* elements of a K tile */
};

static struct options read_options(int argc, char **argv) {
    struct options o = {.p = gemm_default("04_pair_umma"), .shape = 5, .mma = 1};
    const struct cl_option own[] = {
        cl_choice("mma-m", &o.mma, "rows of D of one UMMA, half of them a CTA", mma_ms),
        cl_choice("cluster", &o.shape, "CTAs along M x along N", shapes),
    };
    o.tile_k = gemm_options(argc, argv, "D = alpha A B^T + beta C, UMMAs of CTA pairs, one 256x256 tile a pair", &o.p,
                            ", whole clusters of tiles", own, 2);
    o.cluster_m = shapes[o.shape][0] - '0';
    o.cluster_n = shapes[o.shape][2] - '0';
    o.half_m = o.mma ? 128 : 64;
    gemm_require_multiple(o.p.step, "m", o.p.m, o.half_m * o.cluster_m, "a cluster of tiles");
    gemm_require_multiple(o.p.step, "n", o.p.n, TILE_N * o.cluster_n, "a cluster of 256-column tiles");
    return o;
}

static void print_plan(const struct options *o) {
    const struct gemm_problem *p = &o->p;
    const int a_bytes = o->half_m * TILE_K_BYTES, share_b = o->cluster_m / 2;
    gemm_print_problem(p);
    printf(
        "  grid      %d x %d pairs of CTAs of %d threads, one %d x 256 tile of D each, in clusters of %d x %d pairs\n",
        p->m / (2 * o->half_m), p->n / TILE_N, THREADS, 2 * o->half_m, o->cluster_m / 2, o->cluster_n);
    printf("  K tile    128 bytes (%d %s), %d of them, %d UMMAs of %dx256x%u each\n", o->tile_k, elem_names[p->type],
           p->k / o->tile_k, UMMAS_PER_TILE, 2 * o->half_m, umma_k(elem_info((enum elem_type)p->type).kind));
    printf("  leader    expect_tx %d = 2 CTAs x (A %d + B %d bytes), half of them from the peer\n",
           2 * (a_bytes + B_BYTES), a_bytes, B_BYTES);
    printf("  each CTA  loads %d of its %d rows of A for %d CTA%s, %d of its 128 rows of B for %d CTA%s\n",
           o->half_m / o->cluster_n, o->half_m, o->cluster_n, o->cluster_n == 1 ? "" : "s", HALF_N / share_b, share_b,
           share_b == 1 ? "" : "s");
    if (o->half_m == 128)
        printf("  TMEM      layout A, 256 columns   even CTA                      odd CTA\n"
               "            lanes   0-127           rows 0-127, columns 0-255     rows 128-255, columns 0-255\n");
    else
        printf("  TMEM      layout B, 128 columns   even CTA                      odd CTA\n"
               "            lanes  0-63             rows 0-63, columns 0-127      rows 64-127, columns 0-127\n"
               "            lanes 64-127            rows 0-63, columns 128-255    rows 64-127, columns 128-255\n");
}

static void print_witness(const struct options *o, const struct witness *w) {
    print_masks(w, o->cluster_m, o->cluster_n, "; odd x never commit");
    printf("  arrivals that free a tile: %d + %d - 1 = %u\n", o->cluster_m / 2, o->cluster_n, w[0].arrivals);
    printf("\n  barrier `full`    own address   & 0xfeffffff   mapa to the leader\n");
    for (int rank = 0; rank < 4 && rank < o->cluster_m * o->cluster_n; rank++)
        printf("    rank %d, %-4s    0x%08x    0x%08x     0x%08x\n", rank, rank & 1 ? "odd" : "even", w[rank].full,
               w[rank].full_leader, w[rank].full_mapped);
    printf("\n");
}

/* Runs the kernel on the matrices and prints what the first cluster used. */
static void run(const struct options *o, const struct gemm_data *x) {
    const struct gemm_problem *p = &o->p;
    const enum elem_type type = (enum elem_type)p->type;
    const struct elem_info e = elem_info(type);
    CUtensorMap a = tensor_map_2d(x->a_gpu, type, p->m, p->k, o->half_m / o->cluster_n);
    CUtensorMap b = tensor_map_2d(x->b_gpu, type, p->n, p->k, HALF_N / (o->cluster_m / 2));
    struct gemm g = {
        .n = p->n,
        .k_tiles = p->k / o->tile_k,
        .tile_k = o->tile_k,
        .cluster_m = o->cluster_m,
        .cluster_n = o->cluster_n,
        .half_m = o->half_m,
        .c = x->c_gpu,
        .d = x->d_gpu,
        .alpha = p->alpha,
        .beta = p->beta,
        .idesc = umma_idesc(2 * o->half_m, TILE_N, UMMA_D_F32, e.format, e.format, UMMA_MAJOR_K, UMMA_MAJOR_K),
        .kind = e.kind,
    };
    struct witness w[MAX_CLUSTER];
    void *w_gpu = gpu_alloc_unwritten(sizeof w), *args[] = {&a, &b, &g, &w_gpu};
    struct timing t = gemm_timing(p, x);
    while (timing_next(&t)) /* once, or as --time says */
        launch_clusters((const void *)pair_umma, dim3(p->m / o->half_m, p->n / TILE_N),
                        dim3(o->cluster_m, o->cluster_n), THREADS, SHARED_BYTES, args);
    gemm_timing_report(&t, p);
    gpu_download(w, w_gpu, sizeof w);
    print_witness(o, w);
}

int main(int argc, char **argv) {
    const struct options o = read_options(argc, argv);
    cuda_require_sm100();
    print_plan(&o);
    struct gemm_data x = gemm_data_make(&o.p);
    run(&o, &x);
    return gemm_finish(&o.p, &x);
}
