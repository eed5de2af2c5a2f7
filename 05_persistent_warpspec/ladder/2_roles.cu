/* 2_roles - warps with roles: one loads, one multiplies, four store.
 *
 * In rung 1 a thread that waits for one thing cannot do the other. Here the load warp waits for empty stages and the
 * MMA warp for full ones, each in a loop of its own, and the four warps of the epilogue do nothing but wait for the
 * accumulator. So far they have one tile of D to do, and then the CTA ends.
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

/* The roles of a CTA's warps. Warps 0 ... 3 must be the epilogue: warp w reaches lanes 32 (w % 4) ... of TMEM. */
enum {
    EPILOGUE_WARPS = 4,
    MMA_WARP = 4,
    LOAD_WARP = 5,
    THREADS = 6 * 32,
};

/* ---------------------------------------------------------------- shared storage and barriers
 * The same layout in all CTAs of a cluster. After it: stages of A and B. */

struct shared_storage {
    /* Stage s holds a K tile. full: in the leader; 1 arrival, of the leader's load warp, and the bytes of both CTAs.
     * empty: cluster_m / 2 + cluster_n - 1 arrivals, the commits of all pairs that read what we write. */
    uint64_t full[MAX_STAGES], empty[MAX_STAGES];
    uint64_t acc_full; /* the accumulator is complete: 1 arrival, the leader's commit, in both CTAs */
    uint32_t tmem_base;
};

static_assert(sizeof(struct shared_storage) <= STORAGE_BYTES, "the barriers fit in front of the stages");

/* One thread of each CTA. */
static __device__ __forceinline__ void init_barriers(const struct gemm *g, struct shared_storage *s) {
    for (uint32_t i = 0; i < g->stages; i++) {
        mbarrier_init(smem_address(&s->full[i]), 1);
        mbarrier_init(smem_address(&s->empty[i]), g->cluster_m / 2 + g->cluster_n - 1);
    }
    mbarrier_init(smem_address(&s->acc_full), 1);
    fence_mbarrier_init();
}

/* The place of a role in a ring of barriers: the stage, and the parity of the phase that it waits for next. The role
 * that fills stages begins with the other parity, so its first round passes: the phase before the first is over. */
struct ring {
    uint32_t at, parity;
};

static __device__ __forceinline__ void ring_next(struct ring *r, uint32_t size) {
    if (++r->at == size) {
        r->at = 0;
        r->parity ^= 1;
    }
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

/* ---------------------------------------------------------------- load warp: A and B, one thread of each CTA */

/* Loads a box of A or B to the same place in all CTAs of the mask `ctas`; the leaders count the bytes. */
static __device__ __forceinline__ void load_box(const CUtensorMap *map, uint32_t to, uint32_t full, uint16_t ctas,
                                                uint32_t x, uint32_t y) {
    if (ctas & (ctas - 1))
        tma_load_2d_multicast_pair(to, map, x, y, full, ctas);
    else
        tma_load_2d_pair(to, map, x, y, full);
}

static __device__ __forceinline__ void load_role(const struct gemm *g, const struct place *p, struct shared_storage *s,
                                                 const CUtensorMap *a, const CUtensorMap *b) {
    /* our slices of our halves: cluster_n CTAs share A, every other one of cluster_m B */
    const uint32_t a_rows = CTA_M / g->cluster_n, a_slice = p->y * a_rows;
    const uint32_t b_rows = HALF_N / (g->cluster_m / 2), b_slice = p->x / 2 * b_rows;
    const uint32_t a_row = blockIdx.x * CTA_M + a_slice, b_row = blockIdx.y * TILE_N + (p->x & 1) * HALF_N + b_slice;
    const uint32_t ab = smem_address(s) + g->ab_at, to_a = ab + a_slice * TILE_K_BYTES,
                   to_b = ab + A_BYTES + b_slice * TILE_K_BYTES;
    struct ring stage = {0, 1};
    uint32_t is_empty = 1; /* the answer of the latest test_wait */
#pragma unroll 1
    for (uint32_t kt = 0; kt < g->k_tiles; kt++) {
        const uint32_t full = smem_address(&s->full[stage.at]), at = stage.at * STAGE_BYTES;
        if (!is_empty)
            mbarrier_wait_cluster(smem_address(&s->empty[stage.at]), stage.parity);
        if (p->leads)
            mbarrier_arrive_expect_tx(full, PAIR_BYTES); /* ours and the peer's */
        load_box(a, to_a + at, pair_leader_address(full), p->a, kt * g->tile_k, a_row);
        load_box(b, to_b + at, pair_leader_address(full), p->b, kt * g->tile_k, b_row);
        ring_next(&stage, g->stages);
        is_empty = mbarrier_test_wait_cluster(smem_address(&s->empty[stage.at]), stage.parity);
    }
    /* The tail: wait until every stage is empty, so that no commit is still under way to a CTA that has exited. */
    for (uint32_t i = 0; i < g->stages; i++, ring_next(&stage, g->stages))
        mbarrier_wait_cluster(smem_address(&s->empty[stage.at]), stage.parity);
}

/* ---------------------------------------------------------------- MMA warp: one thread of the leader, for the pair */

/* The UMMAs of one K tile into the accumulator. a, b: descriptors of the first one's operands; each next one's are 32
 * bytes further along K, inside the swizzle atom. */
static __device__ __forceinline__ void issue_k_tile(const struct gemm *g, enum umma_kind kind, uint32_t accumulator,
                                                    uint64_t a, uint64_t b, uint32_t accumulate) {
    for (uint32_t i = 0; i < UMMAS_PER_TILE; i++, a += UMMA_K_BYTES / 16, b += UMMA_K_BYTES / 16, accumulate = 1)
        umma_pair_ss(kind, accumulator, a, b, g->idesc, accumulate);
}

/* kind: g->kind, as a constant in each call, so that the loop has one UMMA in it and no choice of three. */
static __device__ __forceinline__ void mma_role(const struct gemm *g, const struct place *p, struct shared_storage *s,
                                                enum umma_kind kind) {
    /* A descriptor's low 14 bits are an address in units of 16 bytes. Shared memory has fewer than 2^18 bytes, so one
     * addition moves the address by stages and steps, and it does not carry out of the field. */
    const uint32_t ab = smem_address(s) + g->ab_at, tmem_base = s->tmem_base;
    const uint64_t a_first = umma_smem_desc_packed(ab, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, CTA_M);
    const uint64_t b_first = umma_smem_desc_packed(ab + A_BYTES, UMMA_MAJOR_K, UMMA_SWIZZLE_128B, HALF_N);
    struct ring stage = {0, 0};
#pragma unroll 1
    for (uint32_t kt = 0; kt < g->k_tiles; kt++) {
        const uint64_t at = (uint64_t)stage.at * (STAGE_BYTES / 16);
        mbarrier_wait_cluster(smem_address(&s->full[stage.at]), stage.parity); /* both CTAs' tiles have landed */
        tcgen05_fence_after(); /* the UMMAs come after the wait; TMA to UMMA is one proxy */
        /* the first UMMA overwrites what TMEM held */
        issue_k_tile(g, kind, tmem_base, a_first + at, b_first + at, kt > 0);
        umma_pair_commit_multicast(smem_address(&s->empty[stage.at]), p->commit);
        ring_next(&stage, g->stages);
    }
    umma_pair_commit_multicast(smem_address(&s->acc_full), p->pair);
}

/* ---------------------------------------------------------------- epilogue: warps 0 ... 3 of each CTA
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

static __device__ __forceinline__ void epilogue_role(const struct gemm *g, struct shared_storage *s) {
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

/* Grid: M / 128 by N / 256 CTAs of 192 threads, in clusters of cluster_m by cluster_n. a, b: boxes of one slice.
 * Dynamic shared memory: struct shared_storage, then what struct gemm says. */
__global__ void __launch_bounds__(THREADS, 1)
    warp_roles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
               const __grid_constant__ struct gemm g) {
    extern __shared__ __align__(1024) unsigned char storage[];
    struct shared_storage *s = (struct shared_storage *)storage;
    const struct place p = find_place(&g);
    const uint32_t warp = warp_index();

    if (threadIdx.x == 0)
        init_barriers(&g, s);
    __syncwarp();
    cluster_sync(); /* all CTAs run, the peer too, and have initialised their barriers */
    if (warp == MMA_WARP) {
        tmem_pair_alloc(smem_address(&s->tmem_base), TILE_N); /* with the peer's MMA warp */
        tmem_pair_relinquish_alloc_permit();
    }
    cluster_sync(); /* both CTAs have their columns, and all threads see tmem_base */

    if (warp < EPILOGUE_WARPS) {
        epilogue_role(&g, s);
    } else if (elect_one()) {
        if (warp == MMA_WARP && p.leads && g.kind == UMMA_KIND_F16)
            mma_role(&g, &p, s, UMMA_KIND_F16);
        else if (warp == MMA_WARP && p.leads && g.kind == UMMA_KIND_TF32)
            mma_role(&g, &p, s, UMMA_KIND_TF32);
        else if (warp == MMA_WARP && p.leads)
            mma_role(&g, &p, s, UMMA_KIND_F8F6F4);
        else if (warp == LOAD_WARP)
            load_role(&g, &p, s, &a, &b);
    }
    __syncwarp();           /* .aligned: the warp must be converged again */
    tcgen05_fence_before(); /* the epilogue's loads before the columns are given back */
    cluster_sync();         /* no CTA arrives on our barriers or writes into our stages any more */
    tcgen05_fence_after();
    if (warp == MMA_WARP)
        tmem_pair_dealloc(s->tmem_base, TILE_N); /* with the peer's MMA warp */
}

int main(int argc, char **argv) {
    const struct rung r = {
        .name = "2_roles",
        .kernel = (const void *)warp_roles,
        .threads = THREADS,
        .accumulators = 1,
    };
    return ladder_main(argc, argv, &r);
}
