/* 5_tma_store - the epilogue through shared memory: D leaves, and C comes, by the TMA.
 *
 * A thread has a row, so one store of a warp to global memory is scattered over 32 rows of D. Here the warp puts its
 * rows into a buffer of shared memory, and one TMA store takes them from there in whole lines; another warp
 * fetches C ahead. The kernel is that of the main program with the static scheduler, f32 out, K-major, and no batch.
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
    C_WARP = 6,
    THREADS = 7 * 32,
};

enum {
    ACCUMULATORS = 2, /* in tensor memory: one is filled while the other is read */
    BUFFERS = 2,      /* subtiles of C in shared memory, and of D */
};

static_assert(ACCUMULATORS * TILE_N <= TMEM_COLUMNS, "both accumulators fit into tensor memory");
static_assert(TILE_N % (BUFFERS * SUBTILE_COLUMNS) == 0, "a tile is whole rounds of the buffers");

/* ---------------------------------------------------------------- shared storage and barriers
 * The same layout in all CTAs of a cluster. After it: subtiles of D, of C if there is one, stages of A and B. */

struct shared_storage {
    /* Stage s holds a K tile. full: in the leader; 1 arrival, of the leader's load warp, and the bytes of both CTAs.
     * empty: cluster_m / 2 + cluster_n - 1 arrivals, the commits of all pairs that read what we write. */
    uint64_t full[MAX_STAGES], empty[MAX_STAGES];
    /* acc_full: accumulator i is complete; 1 arrival, the leader's commit, in both CTAs. acc_empty: it has been read;
     * in the leader, 8 arrivals, one for each epilogue warp of both CTAs. */
    uint64_t acc_full[ACCUMULATORS], acc_empty[ACCUMULATORS];
    /* C buffer i. c_full: 1 arrival, of the C warp, and its bytes; c_empty: 4 arrivals, one for each epilogue warp. */
    uint64_t c_full[BUFFERS], c_empty[BUFFERS];
    uint32_t tmem_base;
};

static_assert(sizeof(struct shared_storage) <= STORAGE_BYTES, "the barriers fit in front of the stages");

/* The offset of buffer i: 0 and 1 are D's, 2 and 3 C's. */
static __device__ __forceinline__ uint32_t buffer_at(uint32_t i) { return STORAGE_BYTES + i * SUBTILE_BYTES; }

/* One thread of each CTA. */
static __device__ __forceinline__ void init_barriers(const struct gemm *g, struct shared_storage *s) {
    for (uint32_t i = 0; i < g->stages; i++) {
        mbarrier_init(smem_address(&s->full[i]), 1);
        mbarrier_init(smem_address(&s->empty[i]), g->cluster_m / 2 + g->cluster_n - 1);
    }
    for (uint32_t i = 0; i < ACCUMULATORS; i++) {
        mbarrier_init(smem_address(&s->acc_full[i]), 1);
        mbarrier_init(smem_address(&s->acc_empty[i]), 2 * EPILOGUE_WARPS);
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        mbarrier_init(smem_address(&s->c_full[i]), 1);
        mbarrier_init(smem_address(&s->c_empty[i]), EPILOGUE_WARPS);
    }
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

/* ---------------------------------------------------------------- the work, item by item
 * Every role walks the same sequence on its own, from the cluster's number on, in steps of the number of clusters. */

struct work {
    uint32_t index, valid;
    uint32_t m, n; /* this CTA's tile: first row of A and D, first column of D */
};

static __device__ __forceinline__ void work_locate(const struct gemm *g, const struct place *p, struct work *w) {
    const struct raster_tile t = raster_tile(&g->raster, w->index);
    w->m = (t.m * g->cluster_m + p->x) * CTA_M;
    w->n = (t.n * g->cluster_n + p->y) * TILE_N;
}

static __device__ __forceinline__ struct work work_first(const struct gemm *g, const struct place *p) {
    struct work w = {.index = cluster_index(), .valid = 1};
    work_locate(g, p, &w);
    return w;
}

static __device__ __forceinline__ void work_next(const struct gemm *g, const struct place *p, struct work *w) {
    w->index += cluster_count();
    w->valid = w->index < g->works;
    work_locate(g, p, w);
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
    const uint32_t ab = smem_address(s) + g->ab_at, to_a = ab + a_slice * TILE_K_BYTES,
                   to_b = ab + A_BYTES + b_slice * TILE_K_BYTES;
    struct ring stage = {0, 1};
    uint32_t is_empty = 1; /* the answer of the latest test_wait */
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, &w)) {
        const uint32_t a_row = w.m + a_slice, b_row = w.n + (p->leads ? 0 : HALF_N) + b_slice;
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
    struct ring stage = {0, 0}, acc = {0, 1};
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, &w)) {
        const uint32_t accumulator = tmem_at(tmem_base, 0, acc.at * TILE_N);
        mbarrier_wait_relaxed(smem_address(&s->acc_empty[acc.at]), acc.parity); /* both epilogues have read */
        tcgen05_fence_after(); /* their loads before the UMMAs that overwrite */
#pragma unroll 1
        for (uint32_t kt = 0; kt < g->k_tiles; kt++) {
            const uint64_t at = (uint64_t)stage.at * (STAGE_BYTES / 16);
            mbarrier_wait_cluster(smem_address(&s->full[stage.at]), stage.parity); /* both CTAs' tiles have landed */
            tcgen05_fence_after(); /* the UMMAs come after the wait; TMA to UMMA is one proxy */
            /* the first UMMA overwrites what TMEM held */
            issue_k_tile(g, kind, accumulator, a_first + at, b_first + at, kt > 0);
            umma_pair_commit_multicast(smem_address(&s->empty[stage.at]), p->commit);
            ring_next(&stage, g->stages);
        }
        umma_pair_commit_multicast(smem_address(&s->acc_full[acc.at]), p->pair);
        ring_next(&acc, ACCUMULATORS);
    }
}

/* ---------------------------------------------------------------- C warp: one thread of each CTA, if beta is not 0 */

static __device__ __forceinline__ void c_role(const struct gemm *g, const struct place *p, struct shared_storage *s,
                                              const CUtensorMap *c) {
    const uint32_t buffers = smem_address(s) + buffer_at(BUFFERS);
    struct ring buffer = {0, 1};
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, &w)) {
#pragma unroll 1
        for (uint32_t column = 0; column < TILE_N; column += SUBTILE_COLUMNS) {
            const uint32_t full = smem_address(&s->c_full[buffer.at]);
            mbarrier_wait(smem_address(&s->c_empty[buffer.at]), buffer.parity);
            mbarrier_arrive_expect_tx(full, SUBTILE_BYTES);
            tma_load_2d(buffers + buffer.at * SUBTILE_BYTES, c, w.n + column, w.m, full);
            ring_next(&buffer, BUFFERS);
        }
    }
}

/* ---------------------------------------------------------------- epilogue: warps 0 ... 3 of each CTA
 * Each warp has 32 rows of every subtile, a slab of shared memory, to itself, and stores it by itself, so that no
 * barrier joins the four. Thread = row: 128 bytes, the swizzle's span. */

/* The places of the thread's row in a buffer, 16 bytes each, in the order of the columns. It is computed once: with the
 * constant buffer_at() added, these are the addresses in each buffer. */
struct row {
    unsigned char *at[SUBTILE_COLUMNS / 4];
};

static __device__ __forceinline__ struct row find_row(struct shared_storage *s) {
    unsigned char *const slab = (unsigned char *)s + warp_index() * (SUBTILE_BYTES / EPILOGUE_WARPS);
    struct row r;
#pragma unroll
    for (uint32_t i = 0; i < SUBTILE_COLUMNS / 4; i++)
        r.at[i] = slab + umma_swizzle_offset(UMMA_SWIZZLE_128B, lane_index() * 128 + i * 16);
    return r;
}

/* x += beta times the thread's row of C. at: buffer_at() of C's buffer. */
static __device__ __forceinline__ void add_c(float beta, const struct row *r, uint32_t at, float x[SUBTILE_COLUMNS]) {
#pragma unroll
    for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 4) {
        const float4 c = *(const float4 *)(r->at[i / 4] + at);
        x[i] = fmaf(beta, c.x, x[i]);
        x[i + 1] = fmaf(beta, c.y, x[i + 1]);
        x[i + 2] = fmaf(beta, c.z, x[i + 2]);
        x[i + 3] = fmaf(beta, c.w, x[i + 3]);
    }
}

/* The thread's row of D. at: buffer_at() of D's buffer. */
static __device__ __forceinline__ void put_d(const struct row *r, uint32_t at, const float x[SUBTILE_COLUMNS]) {
#pragma unroll
    for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 4)
        *(float4 *)(r->at[i / 4] + at) = make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
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

/* As the loop over the buffers is unrolled, every address in them is one of struct row and a constant. */
static __device__ __forceinline__ void epilogue_role(const struct gemm *g, const struct place *p,
                                                     struct shared_storage *s, const CUtensorMap *d) {
    const uint32_t lane = lane_index(), lanes = warp_index() * TMEM_WINDOW, window = tmem_at(s->tmem_base, lanes, 0);
    const struct row r = find_row(s);
    struct ring acc = {0, 0};
    uint32_t c_parity = 0;
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, &w)) {
        mbarrier_wait_relaxed(smem_address(&s->acc_full[acc.at]), acc.parity);
        tcgen05_fence_after();
#pragma unroll 1
        for (uint32_t column = 0; column < TILE_N; c_parity ^= 1) /* a round of the buffers */
#pragma unroll
            for (uint32_t buffer = 0; buffer < BUFFERS; buffer++, column += SUBTILE_COLUMNS) {
                float x[SUBTILE_COLUMNS];
                get_accumulator(g, window + acc.at * TILE_N + column, x);
                if (column + SUBTILE_COLUMNS == TILE_N) {
                    tcgen05_fence_before(); /* all is read: the leader may overwrite it */
                    __syncwarp();
                    if (lane == 0)
                        mbarrier_arrive_relaxed(pair_leader_address(smem_address(&s->acc_empty[acc.at])));
                }
                if (g->beta != 0) {
                    mbarrier_wait(smem_address(&s->c_full[buffer]), c_parity);
                    add_c(g->beta, &r, buffer_at(BUFFERS + buffer), x);
                    fence_proxy_async_shared(); /* our reads before the TMA's next write */
                    __syncwarp();
                    if (lane == 0)
                        mbarrier_arrive(smem_address(&s->c_empty[buffer]));
                }
                if (lane == 0)
                    tma_store_wait_read<BUFFERS - 1>(); /* the buffer's last store has read it */
                __syncwarp();
                put_d(&r, buffer_at(buffer), x);
                fence_proxy_async_shared(); /* every writer: its stores before the TMA's read */
                __syncwarp();
                if (lane == 0) { /* always the same lane: bulk groups belong to a thread */
                    tma_store_2d(d, w.n + column, w.m + lanes, smem_address(r.at[0] + buffer_at(buffer)));
                    tma_store_commit();
                }
            }
        ring_next(&acc, ACCUMULATORS);
    }
    if (lane == 0)
        tma_store_wait_read<0>(); /* shared memory ends with the CTA */
}

/* ---------------------------------------------------------------- the kernel */

/* Grid: along x, whole clusters of cluster_m x cluster_n CTAs of 224 threads. a, b, c: boxes to load; d: boxes of a
 * warp's slab to store. Dynamic shared memory: struct shared_storage, then what struct gemm says. */
__global__ void __launch_bounds__(THREADS, 1)
    tma_store(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
              const __grid_constant__ CUtensorMap c, const __grid_constant__ CUtensorMap d,
              const __grid_constant__ struct gemm g) {
    extern __shared__ __align__(1024) unsigned char storage[];
    struct shared_storage *s = (struct shared_storage *)storage;
    const struct place p = find_place(&g);
    const uint32_t warp = warp_index();

    if (threadIdx.x == 0)
        init_barriers(&g, s);
    if (threadIdx.x == LOAD_WARP * 32) {
        tma_prefetch_map(&a);
        tma_prefetch_map(&b);
        tma_prefetch_map(&c);
        tma_prefetch_map(&d);
    }
    __syncwarp();
    cluster_sync(); /* all CTAs run, the peer too, and have initialised their barriers */
    if (warp == MMA_WARP) {
        tmem_pair_alloc(smem_address(&s->tmem_base), ACCUMULATORS * TILE_N); /* with the peer's MMA warp */
        tmem_pair_relinquish_alloc_permit();
    }
    cluster_sync(); /* both CTAs have their columns, and all threads see tmem_base */

    if (warp < EPILOGUE_WARPS) {
        epilogue_role(&g, &p, s, &d);
    } else if (elect_one()) {
        if (warp == MMA_WARP && p.leads && g.kind == UMMA_KIND_F16)
            mma_role(&g, &p, s, UMMA_KIND_F16);
        else if (warp == MMA_WARP && p.leads && g.kind == UMMA_KIND_TF32)
            mma_role(&g, &p, s, UMMA_KIND_TF32);
        else if (warp == MMA_WARP && p.leads)
            mma_role(&g, &p, s, UMMA_KIND_F8F6F4);
        else if (warp == LOAD_WARP)
            load_role(&g, &p, s, &a, &b);
        else if (warp == C_WARP && g.beta != 0)
            c_role(&g, &p, s, &c);
    }
    __syncwarp();           /* .aligned: the warp must be converged again */
    tcgen05_fence_before(); /* the epilogue's loads before the columns are given back */
    cluster_sync();         /* no CTA arrives on our barriers or writes into our stages any more */
    tcgen05_fence_after();
    if (warp == MMA_WARP)
        tmem_pair_dealloc(s->tmem_base, ACCUMULATORS * TILE_N); /* with the peer's MMA warp */
}

int main(int argc, char **argv) {
    const struct rung r = {
        .name = "5_tma_store",
        .kernel = (const void *)tma_store,
        .threads = THREADS,
        .accumulators = ACCUMULATORS,
        .persistent = 1,
        .tma_epilogue = BUFFERS,
    };
    return ladder_main(argc, argv, &r);
}
