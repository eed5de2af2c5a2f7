/* 0_pair - step 04 with the names of step 05: the ladder begins here.
 *
 * One buffer; one thread of each CTA loads, multiplies and waits, then all four warps store the tile. New are only the
 * names, and some things are left out: tiles of D are 256 x 256, and nothing is reported to the host.
 *
 * host.h comes first: sizes, parameters, the host's part. ../README.md walks up the ladder.
 */
#include <cuda.h>
#include <stdint.h>

#include "../../common/cluster.cuh"
#include "../../common/descriptors.h"
#include "../../common/fence.cuh"
#include "../../common/mbarrier.cuh"
#include "../../common/tma.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"
#include "host.h"

enum { THREADS = 128 }; /* four warps x 32 lanes reach all of TMEM's 128 lanes */

/* ---------------------------------------------------------------- shared storage and barriers
 * The same layout in all CTAs of a cluster. After it: a stage of A and B. */

struct shared_storage {
    /* The stage holds a K tile. full: in the leader; 1 arrival, its own, and the bytes of both CTAs.
     * empty: cluster_m / 2 + cluster_n - 1 arrivals, the commits of all pairs that read what we write. */
    uint64_t full, empty;
    uint64_t acc_full; /* the accumulator is complete: 1 arrival, the leader's commit, in both CTAs */
    uint32_t tmem_base;
};

static_assert(sizeof(struct shared_storage) <= STORAGE_BYTES, "the barriers fit in front of the stage");

/* One thread of each CTA. */
static __device__ __forceinline__ void init_barriers(const struct gemm *g, struct shared_storage *s) {
    mbarrier_init(smem_address(&s->full), 1);
    mbarrier_init(smem_address(&s->empty), g->cluster_m / 2 + g->cluster_n - 1);
    mbarrier_init(smem_address(&s->acc_full), 1);
    fence_mbarrier_init();
}

/* ---------------------------------------------------------------- who shares what (step 04)
 * Rank = x + cluster_m y, x counting CTAs along M, y along N. A bit of a mask is a rank; 2 i and 2 i + 1 are a pair. */

struct place {
    uint32_t x, y, leads; /* leads: 1 in the even CTA */
    uint16_t a, b;        /* masks: who needs our half of A (same x), our half of B (same y, same parity) */
    uint16_t pair;        /* we and our peer */
    uint16_t commit;      /* both CTAs of every pair that loads tiles for ours */
};

static __device__ __forceinline__ struct place find_place(const struct gemm *g) {
    const uint32_t rank = cluster_rank();
    struct place p = {.x = rank % g->cluster_m, .y = rank / g->cluster_m, .leads = !(rank & 1)};
    p.pair = 3u << (rank & ~1u);
    for (uint32_t y = 0; y < g->cluster_n; y++) {
        p.a |= 1u << (p.x + y * g->cluster_m);
        p.commit |= 3u << ((p.x & ~1u) + y * g->cluster_m);
    }
    for (uint32_t x = p.x & 1; x < g->cluster_m; x += 2) {
        p.b |= 1u << (x + p.y * g->cluster_m);
        p.commit |= 3u << ((x & ~1u) + p.y * g->cluster_m);
    }
    return p;
}

/* ---------------------------------------------------------------- the K loop, one thread of each CTA */

/* Loads a box of A or B to the same place in all CTAs of the mask `ctas`; the leaders count the bytes. */
static __device__ __forceinline__ void load_box(const CUtensorMap *map, uint32_t to, uint32_t full, uint16_t ctas,
                                                uint32_t x, uint32_t y) {
    if (ctas & (ctas - 1))
        tma_load_2d_multicast_pair(to, map, x, y, full, ctas);
    else
        tma_load_2d_pair(to, map, x, y, full);
}

/* Loads our slices of our halves of K tile `kt` into the stage of all CTAs that need them. */
static __device__ __forceinline__ void load_k_tile(const struct gemm *g, const struct place *p,
                                                   struct shared_storage *s, const CUtensorMap *a, const CUtensorMap *b,
                                                   uint32_t kt) {
    const uint32_t a_rows = CTA_M / g->cluster_n, a_slice = p->y * a_rows; /* cluster_n CTAs share A */
    const uint32_t b_rows = HALF_N / (g->cluster_m / 2), b_slice = p->x / 2 * b_rows;
    const uint32_t a_row = blockIdx.x * CTA_M + a_slice, b_row = blockIdx.y * TILE_N + (p->x & 1) * HALF_N + b_slice;
    const uint32_t to = smem_address(s) + g->ab_at;
    const uint32_t full = smem_address(&s->full);
    if (p->leads)
        mbarrier_arrive_expect_tx(full, PAIR_BYTES); /* ours and the peer's */
    load_box(a, to + a_slice * TILE_K_BYTES, pair_leader_address(full), p->a, kt * g->tile_k, a_row);
    load_box(b, to + A_BYTES + b_slice * TILE_K_BYTES, pair_leader_address(full), p->b, kt * g->tile_k, b_row);
}

/* The UMMAs of one K tile into the accumulator. a, b: descriptors of the first one's operands; each next one's are 32
 * bytes further along K, inside the swizzle atom. */
static __device__ __forceinline__ void issue_k_tile(const struct gemm *g, uint32_t accumulator, uint64_t a, uint64_t b,
                                                    uint32_t accumulate) {
    for (uint32_t i = 0; i < UMMAS_PER_TILE; i++, a += UMMA_K_BYTES / 16, b += UMMA_K_BYTES / 16, accumulate = 1)
        umma_pair_ss(g->kind, accumulator, a, b, g->idesc, accumulate);
}

static __device__ __forceinline__ void k_loop(const struct gemm *g, const struct place *p, struct shared_storage *s,
                                              const CUtensorMap *a, const CUtensorMap *b) {
    const uint32_t ab = smem_address(s) + g->ab_at;
    const uint64_t a_first = umma_smem_desc_packed(ab, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, CTA_M);
    const uint64_t b_first = umma_smem_desc_packed(ab + A_BYTES, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, HALF_N);
#pragma unroll 1
    for (uint32_t kt = 0; kt < g->k_tiles; kt++) {
        load_k_tile(g, p, s, a, b, kt);
        if (p->leads) {
            mbarrier_wait_cluster(smem_address(&s->full), kt & 1); /* both CTAs' tiles have landed */
            tcgen05_fence_after(); /* the UMMAs come after the wait; TMA to UMMA is one proxy */
            /* the first UMMA overwrites what TMEM held */
            issue_k_tile(g, s->tmem_base, a_first, b_first, kt > 0);
            umma_pair_commit_multicast(smem_address(&s->empty), p->commit);
        }
        /* The CTAs that we write to have read their tiles. In the last round: all that was sent here has arrived. */
        mbarrier_wait_cluster(smem_address(&s->empty), kt & 1);
    }
    if (p->leads)
        umma_pair_commit_multicast(smem_address(&s->acc_full), p->pair);
}

/* ---------------------------------------------------------------- epilogue: four warps of each CTA
 * Thread = row of D. */

/* x += beta times 32 elements of C in the thread's row. */
static __device__ __forceinline__ void add_c(float beta, const float *from, float x[SUBTILE_COLUMNS]) {
#pragma unroll
    for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 4) {
        const float4 c = *(const float4 *)(from + i);
        x[i] = fmaf(beta, c.x, x[i]);
        x[i + 1] = fmaf(beta, c.y, x[i + 1]);
        x[i + 2] = fmaf(beta, c.z, x[i + 2]);
        x[i + 3] = fmaf(beta, c.w, x[i + 3]);
    }
}

static __device__ __forceinline__ void put_d(float *to, const float x[SUBTILE_COLUMNS]) {
#pragma unroll
    for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 4)
        *(float4 *)(to + i) = make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
}

/* The thread's row of one subtile: alpha times the accumulator, in x. window: TMEM address, in the warp's lanes. */
static __device__ __forceinline__ void get_accumulator(const struct gemm *g, uint32_t window,
                                                       float x[SUBTILE_COLUMNS]) {
    tmem_ld_32x32b_x32_f32(x, window);
    tmem_wait_ld();
    if (g->alpha != 1)
#pragma unroll
        for (uint32_t i = 0; i < SUBTILE_COLUMNS; i++)
            x[i] *= g->alpha;
}

static __device__ __forceinline__ void epilogue(const struct gemm *g, struct shared_storage *s) {
    const uint32_t window = tmem_at(s->tmem_base, warp_index() * TMEM_WINDOW, 0);
    const size_t row = (size_t)blockIdx.x * CTA_M + threadIdx.x, at = row * g->n + blockIdx.y * TILE_N;
    mbarrier_wait_relaxed(smem_address(&s->acc_full), 0);
    tcgen05_fence_after();
#pragma unroll 1
    for (uint32_t column = 0; column < TILE_N; column += SUBTILE_COLUMNS) {
        float x[SUBTILE_COLUMNS];
        get_accumulator(g, window + column, x);
        if (g->beta != 0) /* with 0, C is not read */
            add_c(g->beta, g->c + at + column, x);
        put_d(g->d + at + column, x);
    }
}

/* ---------------------------------------------------------------- the kernel */

/* Grid: M / 128 by N / 256 CTAs of 128 threads, in clusters of cluster_m by cluster_n. a, b: boxes of one slice.
 * Dynamic shared memory: struct shared_storage, then what struct gemm says. */
__global__ void __launch_bounds__(THREADS)
    pair(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         const __grid_constant__ struct gemm g) {
    extern __shared__ __align__(1024) unsigned char storage[];
    struct shared_storage *s = (struct shared_storage *)storage;
    const struct place p = find_place(&g);
    const uint32_t warp = warp_index();

    if (threadIdx.x == 0)
        init_barriers(&g, s);
    __syncwarp();
    cluster_sync(); /* all CTAs run, the peer too, and have initialised their barriers */
    if (warp == 0) {
        tmem_pair_alloc(smem_address(&s->tmem_base), TILE_N); /* with the peer's warp 0 */
        tmem_pair_relinquish_alloc_permit();
    }
    cluster_sync(); /* both CTAs have their columns, and all threads see tmem_base */

    if (warp == 0 && elect_one())
        k_loop(&g, &p, s, &a, &b);
    __syncwarp(); /* .aligned: the warp must be converged again */
    epilogue(&g, s);
    tcgen05_fence_before(); /* the epilogue's loads before the columns are given back */
    cluster_sync();         /* no CTA arrives on our barriers or writes into our stages any more */
    tcgen05_fence_after();
    if (warp == 0)
        tmem_pair_dealloc(s->tmem_base, TILE_N); /* with the peer's warp 0 */
}

int main(int argc, char **argv) {
    const struct rung r = {
        .name = "0_pair",
        .kernel = (const void *)pair,
        .threads = THREADS,
        .accumulators = 1,
        .stages = 1,
    };
    return ladder_main(argc, argv, &r);
}
