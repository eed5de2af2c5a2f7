/* 05_persistent_warpspec - D = relu?(alpha A B^T + beta C), batched: every warp has one role, every CTA stays.
 *
 * The pairs and the multicast of step 04, now without pauses. A CTA is launched once and makes many tiles of D; its
 * warps load, multiply, fetch C and write D at the same time, each for another part of the work. They synchronise only
 * through mbarriers. Any M, N, K and batch whose rows are multiples of 16 bytes.
 *
 * sizes.h comes first: sizes, the warps' roles, parameters. The host's part is in launch.h.
 * README.md walks through it. Ends with a PASS or FAIL line; exit code 0 or 1.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/clc.cuh"
#include "../common/cluster.cuh"
#include "../common/cuda_check.h"
#include "../common/descriptors.h"
#include "../common/fence.cuh"
#include "../common/mbarrier.cuh"
#include "../common/tma.cuh"
#include "../common/tmem.cuh"
#include "../common/umma.cuh"
#include "launch.h"
#include "problem.h"
#include "sizes.h"
#include "verify.h"

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
    /* Answer i. _full: 1 arrival, of the schedule warp, and 16 bytes; _empty, in rank 0: one of each role and CTA. */
    uint64_t answer_full[ANSWERS], answer_empty[ANSWERS];
    alignas(16) unsigned char answer[ANSWERS][16];
    uint32_t tmem_base;
};

static_assert(sizeof(struct shared_storage) <= STORAGE_BYTES, "the barriers fit in front of the stages");

/* One thread of each CTA. */
static __device__ __forceinline__ void init_barriers(const struct gemm *g, struct shared_storage *s) {
    const uint32_t ctas = g->cluster_m * g->cluster_n;
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
    for (uint32_t i = 0; i < ANSWERS; i++) { /* epilogue warps, load, schedule, C; MMA in every other CTA */
        mbarrier_init(smem_address(&s->answer_full[i]), 1);
        mbarrier_init(smem_address(&s->answer_empty[i]), ctas * (EPILOGUE_WARPS + 2 + (g->beta != 0)) + ctas / 2);
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
 * Every role walks the same sequence on its own. Static: the first item's number is the cluster's; each next one is
 * the number of clusters further. clc: first the cluster's own number, then what the answers say. */

struct work {
    uint32_t index, valid;
    uint32_t m, n, matrix; /* this CTA's tile: first row of A and D, first column of D, number in the batch */
    struct ring answer;
};

static __device__ __forceinline__ void work_locate(const struct gemm *g, const struct place *p, struct work *w) {
    const struct raster_tile t = raster_tile(&g->raster, w->index);
    w->m = (t.m * g->cluster_m + p->x) * CTA_M;
    w->n = (t.n * g->cluster_n + p->y) * g->tile_n;
    w->matrix = t.matrix;
}

static __device__ __forceinline__ struct work work_first(const struct gemm *g, const struct place *p) {
    struct work w = {.index = cluster_index(), .valid = 1};
    work_locate(g, p, &w);
    return w;
}

/* threads: 1 if one thread calls it, 32 if a converged warp does. */
static __device__ __forceinline__ void work_next(const struct gemm *g, const struct place *p, struct shared_storage *s,
                                                 struct work *w, int threads) {
    if (!g->clc) {
        w->index += cluster_count();
        w->valid = w->index < g->works;
    } else {
        uint32_t cta;
        mbarrier_wait_cluster(smem_address(&s->answer_full[w->answer.at]), w->answer.parity);
        w->valid = clc_read(smem_address(s->answer[w->answer.at]), &cta);
        w->index = cta / (g->cluster_m * g->cluster_n); /* powers of two, not worth a struct divisor */
        clc_release();
        if (threads == 32)
            __syncwarp();
        if (threads == 1 || lane_index() == 0) {
            fence_release_shared(); /* after the barrier, so for the other lanes' reads, too */
            mbarrier_arrive_relaxed(cluster_map(smem_address(&s->answer_empty[w->answer.at]), 0));
        }
        ring_next(&w->answer, ANSWERS);
    }
    work_locate(g, p, w);
}

/* ---------------------------------------------------------------- load warp: A and B, one thread of each CTA */

/* Loads a box of A or B to the same place in all CTAs of the mask `ctas`; the leaders count the bytes. */
static __device__ __forceinline__ void load_box(const CUtensorMap *map, uint32_t to, uint32_t full, uint16_t ctas,
                                                uint32_t x, uint32_t y, uint32_t matrix) {
    if (ctas & (ctas - 1))
        tma_load_3d_multicast_pair(to, map, x, y, matrix, full, ctas);
    else
        tma_load_3d_pair(to, map, x, y, matrix, full);
}

/* Our slice of our part of a K tile. x, y: coordinates of its first box, mostly the only one. */
static __device__ __forceinline__ void load_slice(const struct operand *o, const CUtensorMap *map, uint32_t to,
                                                  uint32_t full, uint16_t ctas, uint32_t x, uint32_t y,
                                                  uint32_t matrix) {
    load_box(map, to, full, ctas, x, y, matrix);
#pragma unroll 1
    for (uint32_t i = 1; i < o->boxes; i++)
        load_box(map, to + i * o->box_bytes, full, ctas, x + i * o->box_columns, y, matrix);
}

static __device__ __forceinline__ void load_role(const struct gemm *g, const struct place *p, struct shared_storage *s,
                                                 const CUtensorMap *a, const CUtensorMap *b) {
    const uint32_t pair_bytes = 2 * g->stage_bytes, a_slice = p->y, b_slice = p->x / 2;
    const uint32_t ab = smem_address(s) + g->ab_at, to_a = ab + a_slice * g->a.slice_bytes,
                   to_b = ab + g->a_bytes + b_slice * g->b.slice_bytes;
    struct ring stage = {0, 1};
    uint32_t is_empty = 1; /* the answer of the latest test_wait */
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, s, &w, 1)) {
        const uint32_t b_row = w.n + (p->leads ? 0 : g->tile_n / 2);
        /* where our slices begin in K tile 0: M or N runs along y, or along x if it is contiguous */
        uint32_t a_x = g->a.mn_major ? w.m : 0, a_y = w.m - a_x + a_slice * g->a.slice_rows;
        uint32_t b_x = g->b.mn_major ? b_row : 0, b_y = b_row - b_x + b_slice * g->b.slice_rows;
#pragma unroll 1
        for (uint32_t kt = 0; kt < g->k_tiles; kt++) {
            const uint32_t full = smem_address(&s->full[stage.at]), at = stage.at * g->stage_bytes;
            if (!is_empty)
                mbarrier_wait_cluster(smem_address(&s->empty[stage.at]), stage.parity);
            if (p->leads)
                mbarrier_arrive_expect_tx(full, pair_bytes); /* ours and the peer's */
            load_slice(&g->a, a, to_a + at, pair_leader_address(full), p->a, a_x, a_y, w.matrix);
            load_slice(&g->b, b, to_b + at, pair_leader_address(full), p->b, b_x, b_y, w.matrix);
            a_x += g->a.step_x, a_y += g->a.step_y;
            b_x += g->b.step_x, b_y += g->b.step_y;
            ring_next(&stage, g->stages);
            is_empty = mbarrier_test_wait_cluster(smem_address(&s->empty[stage.at]), stage.parity);
        }
    }
    /* The tail: wait until every stage is empty, so that no commit is still under way to a CTA that has exited. */
    for (uint32_t i = 0; i < g->stages; i++, ring_next(&stage, g->stages))
        mbarrier_wait_cluster(smem_address(&s->empty[stage.at]), stage.parity);
}

/* ---------------------------------------------------------------- MMA warp: one thread of the leader, for the pair */

/* The UMMAs of one K tile into the accumulator. a, b: descriptors of the first one's operands. */
static __device__ __forceinline__ void issue_k_tile(const struct gemm *g, enum umma_kind kind, uint32_t accumulator,
                                                    uint64_t a, uint64_t b, uint32_t accumulate) {
    for (uint32_t i = 0; i < UMMAS_PER_TILE; i++, a += g->a.umma_step, b += g->b.umma_step, accumulate = 1)
        umma_pair_ss(kind, accumulator, a, b, g->idesc, accumulate);
}

/* kind: g->kind, as a constant in each call, so that the loop has one UMMA in it and no choice of three. */
static __device__ __forceinline__ void mma_role(const struct gemm *g, const struct place *p, struct shared_storage *s,
                                                enum umma_kind kind) {
    /* A descriptor's low 14 bits are an address in units of 16 bytes. Shared memory has fewer than 2^18 bytes, so one
     * addition moves the address by stages and steps, and it does not carry out of the field. */
    const uint32_t ab = smem_address(s) + g->ab_at, tmem_base = s->tmem_base;
    const uint64_t a_first = umma_smem_advance(g->a.desc, ab);
    const uint64_t b_first = umma_smem_advance(g->b.desc, ab + g->a_bytes);
    struct ring stage = {0, 0}, acc = {0, 1};
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, s, &w, 1)) {
        const uint32_t accumulator = tmem_at(tmem_base, 0, acc.at * g->tile_n);
        mbarrier_wait_relaxed(smem_address(&s->acc_empty[acc.at]), acc.parity); /* both epilogues have read */
        tcgen05_fence_after(); /* their loads before the UMMAs that overwrite */
#pragma unroll 1
        for (uint32_t kt = 0; kt < g->k_tiles; kt++) {
            const uint64_t at = (uint64_t)stage.at * (g->stage_bytes / 16);
            mbarrier_wait_cluster(smem_address(&s->full[stage.at]), stage.parity);
            tcgen05_fence_after();
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
    const uint32_t bytes = subtile_bytes(g->out), buffers = smem_address(s) + buffer_at(g->out, BUFFERS);
    struct ring buffer = {0, 1};
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, s, &w, 1)) {
#pragma unroll 1
        for (uint32_t column = 0; column < g->tile_n; column += SUBTILE_COLUMNS) {
            const uint32_t full = smem_address(&s->c_full[buffer.at]);
            mbarrier_wait(smem_address(&s->c_empty[buffer.at]), buffer.parity);
            mbarrier_arrive_expect_tx(full, bytes);
            tma_load_3d(buffers + buffer.at * bytes, c, w.n + column, w.m, w.matrix, full);
            ring_next(&buffer, BUFFERS);
        }
    }
}

/* ---------------------------------------------------------------- epilogue: warps 0 ... 3 of each CTA
 * Each warp owns 32 rows of every subtile, a slab of shared memory, and stores them by itself, so that no
 * barrier joins the four. Thread = row. A row of 32 f32 is 128 bytes, of 32 f16 or bf16 64: the swizzle's span. */

/* The places of the thread's row in a buffer, 16 bytes each, in the order of the columns. It is computed once: with the
 * constant buffer_at() added, these are the addresses in each buffer. */
struct row {
    unsigned char *at[SUBTILE_COLUMNS / 4]; /* 8 for f32, 4 for f16 and bf16 */
};

static __device__ __forceinline__ struct row find_row(struct shared_storage *s, enum out_type out) {
    unsigned char *const slab = (unsigned char *)s + warp_index() * (subtile_bytes(out) / EPILOGUE_WARPS);
    const enum umma_swizzle swizzle = out == OUT_F32 ? UMMA_SWIZZLE_128B : UMMA_SWIZZLE_64B;
    const uint32_t span = umma_swizzle_span(swizzle);
    struct row r;
#pragma unroll
    for (uint32_t i = 0; i < span / 16; i++)
        r.at[i] = slab + umma_swizzle_offset(swizzle, lane_index() * span + i * 16);
    return r;
}

/* x += beta times the thread's row of C. at: buffer_at() of C's buffer. */
static __device__ __forceinline__ void add_c(enum out_type out, float beta, const struct row *r, uint32_t at,
                                             float x[SUBTILE_COLUMNS]) {
    if (out == OUT_F32) {
#pragma unroll
        for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 4) {
            const float4 c = *(const float4 *)(r->at[i / 4] + at);
            x[i] = fmaf(beta, c.x, x[i]);
            x[i + 1] = fmaf(beta, c.y, x[i + 1]);
            x[i + 2] = fmaf(beta, c.z, x[i + 2]);
            x[i + 3] = fmaf(beta, c.w, x[i + 3]);
        }
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 8) {
        const uint4 c = *(const uint4 *)(r->at[i / 8] + at);
        const uint32_t word[4] = {c.x, c.y, c.z, c.w};
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const float2 two = unpack_two(out, word[j]);
            x[i + 2 * j] = fmaf(beta, two.x, x[i + 2 * j]);
            x[i + 2 * j + 1] = fmaf(beta, two.y, x[i + 2 * j + 1]);
        }
    }
}

/* The thread's row of D, rounded to its type. at: buffer_at() of D's buffer. */
static __device__ __forceinline__ void put_d(enum out_type out, const struct row *r, uint32_t at,
                                             const float x[SUBTILE_COLUMNS]) {
    if (out == OUT_F32) {
#pragma unroll
        for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 4)
            *(float4 *)(r->at[i / 4] + at) = make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < SUBTILE_COLUMNS; i += 8)
        *(uint4 *)(r->at[i / 8] + at) =
            make_uint4(pack_two(out, x[i], x[i + 1]), pack_two(out, x[i + 2], x[i + 3]),
                       pack_two(out, x[i + 4], x[i + 5]), pack_two(out, x[i + 6], x[i + 7]));
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

/* out: g->out, as a constant in each call. The loop over the buffers is unrolled, too, so every address in them is one
 * of struct row plus a constant. */
static __device__ __forceinline__ void epilogue_role(const struct gemm *g, const struct place *p,
                                                     struct shared_storage *s, const CUtensorMap *d,
                                                     enum out_type out) {
    const uint32_t lane = lane_index(), lanes = warp_index() * TMEM_WINDOW;
    const uint32_t window = tmem_at(s->tmem_base, lanes, 0);
    const struct row r = find_row(s, out);
    struct ring acc = {0, 0};
    uint32_t c_parity = 0;
    for (struct work w = work_first(g, p); w.valid; work_next(g, p, s, &w, 32)) {
        mbarrier_wait_relaxed(smem_address(&s->acc_full[acc.at]), acc.parity);
        tcgen05_fence_after();
#pragma unroll 1
        for (uint32_t column = 0; column < g->tile_n; c_parity ^= 1) /* a round of the buffers */
#pragma unroll
            for (uint32_t buffer = 0; buffer < BUFFERS; buffer++, column += SUBTILE_COLUMNS) {
                float x[SUBTILE_COLUMNS];
                get_accumulator(g, window + acc.at * g->tile_n + column, x);
                if (column + SUBTILE_COLUMNS == g->tile_n) {
                    tcgen05_fence_before(); /* all is read: the leader may overwrite it */
                    __syncwarp();
                    if (lane == 0)
                        mbarrier_arrive_relaxed(pair_leader_address(smem_address(&s->acc_empty[acc.at])));
                }
                if (g->beta != 0) {
                    mbarrier_wait(smem_address(&s->c_full[buffer]), c_parity);
                    add_c(out, g->beta, &r, buffer_at(out, BUFFERS + buffer), x);
                    fence_proxy_async_shared(); /* our reads before the TMA's next write */
                    __syncwarp();
                    if (lane == 0)
                        mbarrier_arrive(smem_address(&s->c_empty[buffer]));
                }
                if (g->relu)
#pragma unroll
                    for (uint32_t i = 0; i < SUBTILE_COLUMNS; i++)
                        x[i] = relu(x[i]);
                if (lane == 0)
                    tma_store_wait_read<BUFFERS - 1>(); /* the buffer's last store has read it */
                __syncwarp();
                put_d(out, &r, buffer_at(out, buffer), x);
                fence_proxy_async_shared(); /* every writer: its stores before the TMA's read */
                __syncwarp();
                if (lane == 0) { /* always the same lane: bulk groups belong to a thread */
                    tma_store_3d(d, w.n + column, w.m + lanes, w.matrix,
                                 smem_address(r.at[0] + buffer_at(out, buffer)));
                    tma_store_commit();
                }
            }
        ring_next(&acc, ACCUMULATORS);
    }
    if (lane == 0)
        tma_store_wait_read<0>(); /* shared memory ends with the CTA */
}

/* ---------------------------------------------------------------- schedule warp: one thread of each CTA, with clc
 * Every CTA expects the answer; rank 0 asks for it, one item ahead, while all CTAs still work. */

static __device__ __forceinline__ void schedule_role(const struct gemm *g, const struct place *p,
                                                     struct shared_storage *s) {
    const uint32_t asks = cluster_rank() == 0;
    struct ring empty = {0, 1};
    struct work w = work_first(g, p);
    while (w.valid) {
        const uint32_t full = smem_address(&s->answer_full[empty.at]);
        mbarrier_arrive_expect_tx(full, sizeof s->answer[0]); /* the last answer has been read */
        if (asks) {
            mbarrier_wait_cluster(smem_address(&s->answer_empty[empty.at]), empty.parity);
            clc_acquire();
            clc_try_cancel(smem_address(s->answer[empty.at]), full);
        }
        ring_next(&empty, ANSWERS);
        work_next(g, p, s, &w, 1);
    }
    /* The tail: the arrivals of other CTAs come to rank 0, which stays until it has them all. */
    if (asks)
        for (uint32_t i = 0; i < ANSWERS; i++, ring_next(&empty, ANSWERS))
            mbarrier_wait_cluster(smem_address(&s->answer_empty[empty.at]), empty.parity);
}

/* ---------------------------------------------------------------- the kernel */

/* Grid: along x, whole clusters of cluster_m x cluster_n CTAs of 224 threads, 256 with clc. a, b, c: boxes to load;
 * d: boxes of a warp's slab to store. Dynamic shared memory: struct shared_storage, then what struct gemm says. */
__global__ void __launch_bounds__(CLC_THREADS, 1)
    persistent_warpspec(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
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
        tmem_pair_alloc(smem_address(&s->tmem_base), ACCUMULATORS * g.tile_n); /* with the peer's MMA warp */
        tmem_pair_relinquish_alloc_permit();
    }
    cluster_sync(); /* both CTAs have their columns, and all threads see tmem_base */

    /* each type has a copy of the role, so that no role chooses by type inside its loop */
    if (warp < EPILOGUE_WARPS) {
        if (g.out == OUT_F32)
            epilogue_role(&g, &p, s, &d, OUT_F32);
        else if (g.out == OUT_F16)
            epilogue_role(&g, &p, s, &d, OUT_F16);
        else
            epilogue_role(&g, &p, s, &d, OUT_BF16);
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
        else if (warp == SCHEDULE_WARP)
            schedule_role(&g, &p, s);
    }
    __syncwarp();
    tcgen05_fence_before(); /* the epilogue's loads before the columns are given back */
    cluster_sync();         /* no CTA arrives on our barriers or writes into our stages any more */
    tcgen05_fence_after();
    if (warp == MMA_WARP)
        tmem_pair_dealloc(s->tmem_base, ACCUMULATORS * g.tile_n); /* with the peer's MMA warp */
}

/* ---------------------------------------------------------------- host: the plan and the launch are in launch.h */

int main(int argc, char **argv) {
    const struct problem p = read_problem(argc, argv);
    cuda_require_sm100();
    print_problem(&p);
    struct inputs in = inputs_make(&p);
    void *d = checked_malloc(in.d_count * out_bytes(p.out));
    run((const void *)persistent_warpspec, &p, &in, d);
    int status = verify(&p, &in, d);
    inputs_free(&in);
    free(d);
    return status;
}
