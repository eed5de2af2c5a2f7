/* 01_tmem_alloc - tensor memory: get some, reach every cell of it, and give it back.
 *
 * Three kernels:
 *   map_cells    one CTA allocates blocks of columns, one warpgroup writes every cell, another reads them
 *   contend      two CTAs a SM want all 512 columns: the second waits until the first frees them
 *   image_*      which thread and register holds which cell, for every shape and count of tcgen05.ld and st
 * The host checks every cell. README.md walks through it. Ends with a PASS or FAIL line; exit code 0 or 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/cluster.cuh"
#include "../common/cmdline.h"
#include "../common/cuda_check.h"
#include "../common/fence.cuh"
#include "../common/tmem.cuh"
#include "../common/umma.cuh"

/* ---------------------------------------------------------------- sizes */

enum {
    WARPGROUP = 128,     /* threads: four warps, together they reach the 128 lanes */
    PIECE = 32,          /* columns, hence registers, a thread moves at a time */
    MAX_BLOCKS = 4,      /* 256 + 128 + 64 + 32 columns */
    IMAGE_COLUMNS = 256, /* as wide as the widest image: 16x256b.x32 and others of 128 registers */
    MAX_REGISTERS = 128, /* a thread, in one tcgen05.ld or st */
    COUNTS = 8,          /* x1, x2, x4 ... x128 */
    SHAPES = 5,
    PATIENCE = 2000, /* naps of a microsecond until a CTA gives up waiting for company on its SM */
    HOLD = 50,       /* naps that it then keeps its columns, while the other's alloc blocks */
};

static_assert(IMAGE_COLUMNS % PIECE == 0, "whole pieces");

#define EMPTY 0xEEEEEEEEu /* a cell or word that nobody wrote */

/* ---------------------------------------------------------------- 1. allocation, addresses, windows */

struct block {
    uint32_t columns, base; /* as asked for, as answered */
};

/* What the map kernel writes into a cell: its block, its lane, its column within the block. */
static __host__ __device__ uint32_t cell_code(uint32_t block, uint32_t lane, uint32_t column) {
    return block << 24 | lane << 16 | column;
}

/* One CTA of two warpgroups. blocks: count of them, columns given, base filled in. cells: 128 x 512 words, lane by
 * lane; those of unallocated columns are left alone. */
__global__ void __launch_bounds__(2 * WARPGROUP) map_cells(struct block *blocks, int count, uint32_t *cells) {
    __shared__ uint32_t bases[MAX_BLOCKS];
    const uint32_t warp = warp_index();
    const uint32_t window = warp % 4 * TMEM_WINDOW; /* first of the 32 lanes this warp can reach */
    const uint32_t lane = window + lane_index();    /* with 32x32b a thread reaches one lane */

    if (warp == 0) { /* one warp, all 32 threads: alloc is .sync.aligned */
#pragma unroll 1
        for (int i = 0; i < count; i++)
            tmem_alloc(smem_address(&bases[i]), blocks[i].columns); /* never more than the one before */
        tmem_relinquish_alloc_permit();
    }
    __syncthreads(); /* the bases are in shared memory for everyone */
    if (threadIdx.x < (uint32_t)count)
        blocks[threadIdx.x].base = bases[threadIdx.x];

    if (warp < 4) {
        for (int i = 0; i < count; i++)
            for (uint32_t c = 0; c < blocks[i].columns; c += PIECE) {
                uint32_t r[PIECE];
                for (int j = 0; j < PIECE; j++)
                    r[j] = cell_code(i, lane, c + j);
                tmem_st_32x32b_x32(tmem_at(bases[i], window, c), r);
            }
        tmem_wait_st();         /* the cells are written ... */
        tcgen05_fence_before(); /* ... before the barrier tells the readers */
    }
    __syncthreads();
    if (warp >= 4) {
        tcgen05_fence_after(); /* our loads come after the barrier */
        for (int i = 0; i < count; i++)
            for (uint32_t c = 0; c < blocks[i].columns; c += PIECE) {
                uint32_t r[PIECE];
                tmem_ld_32x32b_x32(r, tmem_at(bases[i], window, c));
                tmem_wait_ld();
                uint32_t *to = cells + lane * TMEM_COLUMNS + (bases[i] & 0xFFFF) + c;
                for (int j = 0; j < PIECE; j++)
                    to[j] = r[j];
            }
        tcgen05_fence_before(); /* the loads are complete (wait::ld); order them before the dealloc */
    }
    __syncthreads();
    if (warp == 0)
#pragma unroll 1
        for (int i = 0; i < count; i++)
            tmem_dealloc(bases[i], blocks[i].columns); /* synchronous: needs no fence of its own */
}

/* ---------------------------------------------------------------- 2. contention */

/* Moments of one CTA, numbered across the GPU: each is a ticket drawn from one counter. */
struct visit {
    uint32_t sm, asked, got, freed;
};

/* One warp a CTA. All SMs hold two CTAs, each wants all 512 columns. tickets: the counter. company: per SM, how many
 * CTAs have come to ask. Whoever gets the columns first keeps them until the other is there too, so that the other's
 * alloc has to wait. Dynamic shared memory: any, its size limits the CTAs an SM holds. */
__global__ void __launch_bounds__(32) contend(struct visit *visits, uint32_t *tickets, uint32_t *company) {
    __shared__ uint32_t base;
    const uint32_t sm = sm_index(), lane = lane_index();
    struct visit v = {.sm = sm};

    if (lane == 0) {
        v.asked = atomicAdd(tickets, 1);
        fence_gpu(); /* the ticket is drawn before the company sees us */
        atomicAdd(&company[sm], 1);
    }
    __syncwarp(); /* .aligned: the warp must be converged again */

    tmem_alloc(smem_address(&base), TMEM_COLUMNS); /* here the second CTA of an SM waits */
    tmem_relinquish_alloc_permit();

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
    tmem_dealloc(base, TMEM_COLUMNS);
}

/* ---------------------------------------------------------------- 3. shapes
 * A warp's window of 256 columns, filled, emptied or copied out with 32x32b, where thread t has lane t and register r
 * column r. Converged warp. window: TMEM address of the window's first cell. */

static __device__ __forceinline__ uint32_t image_code(uint32_t lane, uint32_t column) { return lane << 16 | column; }

static __device__ __forceinline__ void fill_window(uint32_t window, uint32_t lane, int empty) {
#pragma unroll 1
    for (uint32_t c = 0; c < IMAGE_COLUMNS; c += PIECE) {
        uint32_t r[PIECE];
        for (int i = 0; i < PIECE; i++)
            r[i] = empty ? EMPTY : image_code(lane, c + i);
        tmem_st_32x32b_x32(window + c, r);
    }
    tmem_wait_st();
}

/* row: 256 words of global memory, this thread's lane. */
static __device__ __forceinline__ void copy_window(uint32_t window, uint32_t *row) {
#pragma unroll 1
    for (uint32_t c = 0; c < IMAGE_COLUMNS; c += PIECE) {
        uint32_t r[PIECE];
        tmem_ld_32x32b_x32(r, window + c);
        tmem_wait_ld();
        for (int i = 0; i < PIECE; i += 4)
            *(uint4 *)(row + c + i) = make_uint4(r[i], r[i + 1], r[i + 2], r[i + 3]);
    }
}

/* What image_* leaves for one shape. A word nobody wrote is EMPTY. */
struct image {
    uint32_t loaded[COUNTS][MAX_REGISTERS][WARPGROUP];  /* [count][register][thread]: the code of the cell it got */
    uint32_t stored[COUNTS][TMEM_LANES][IMAGE_COLUMNS]; /* [count][lane][column]: the code of who wrote it */
};

/* Load with the shape what was written with 32x32b. */
#define IMAGE_LD(shape, num, regs, count)                                                                              \
    {                                                                                                                  \
        uint32_t r[regs];                                                                                              \
        tmem_ld_##shape##_##num(r, at);                                                                                \
        tmem_wait_ld();                                                                                                \
        for (int i = 0; i < regs; i++)                                                                                 \
            out->loaded[count][i][threadIdx.x] = r[i];                                                                 \
    }

/* Store with the shape, then look with 32x32b. */
#define IMAGE_ST(shape, num, regs, count)                                                                              \
    {                                                                                                                  \
        fill_window(window, lane, 1);                                                                                  \
        uint32_t r[regs];                                                                                              \
        for (int i = 0; i < regs; i++)                                                                                 \
            r[i] = threadIdx.x << 16 | i;                                                                              \
        tmem_st_##shape##_##num(at, r);                                                                                \
        tmem_wait_st();                                                                                                \
        copy_window(window, out->stored[count][lane]);                                                                 \
    }

/* One kernel a shape, one warpgroup. half: the 16-lane shapes can start at lane 0 or at lane 16 of a window; odd warps
 * take the upper half. */
#define IMAGE_KERNEL(shape, half, EACH_COUNT)                                                                          \
    __global__ void __launch_bounds__(WARPGROUP) image_##shape(struct image *out) {                                    \
        __shared__ uint32_t base;                                                                                      \
        const uint32_t warp = warp_index(), first = warp * TMEM_WINDOW, lane = first + lane_index();                   \
        if (warp == 0) {                                                                                               \
            tmem_alloc(smem_address(&base), IMAGE_COLUMNS);                                                            \
            tmem_relinquish_alloc_permit();                                                                            \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        const uint32_t window = tmem_at(base, first, 0), at = tmem_at(window, warp % 2 * (half), 0);                   \
        fill_window(window, lane, 0);                                                                                  \
        EACH_COUNT(IMAGE_LD, shape)                                                                                    \
        EACH_COUNT(IMAGE_ST, shape)                                                                                    \
        tcgen05_fence_before();                                                                                        \
        __syncthreads();                                                                                               \
        if (warp == 0)                                                                                                 \
            tmem_dealloc(base, IMAGE_COLUMNS);                                                                         \
    }

/* Registers a thread: one, two or four for x1, and no more than 128 (Tables 49 and 50). */
#define COUNTS_OF_1(DO, shape)                                                                                         \
    DO(shape, x1, 1, 0)                                                                                                \
    DO(shape, x2, 2, 1)                                                                                                \
    DO(shape, x4, 4, 2)                                                                                                \
    DO(shape, x8, 8, 3)                                                                                                \
    DO(shape, x16, 16, 4)                                                                                              \
    DO(shape, x32, 32, 5)                                                                                              \
    DO(shape, x64, 64, 6)                                                                                              \
    DO(shape, x128, 128, 7)
#define COUNTS_OF_2(DO, shape)                                                                                         \
    DO(shape, x1, 2, 0)                                                                                                \
    DO(shape, x2, 4, 1)                                                                                                \
    DO(shape, x4, 8, 2)                                                                                                \
    DO(shape, x8, 16, 3)                                                                                               \
    DO(shape, x16, 32, 4)                                                                                              \
    DO(shape, x32, 64, 5)                                                                                              \
    DO(shape, x64, 128, 6)
#define COUNTS_OF_4(DO, shape)                                                                                         \
    DO(shape, x1, 4, 0)                                                                                                \
    DO(shape, x2, 8, 1)                                                                                                \
    DO(shape, x4, 16, 2)                                                                                               \
    DO(shape, x8, 32, 3)                                                                                               \
    DO(shape, x16, 64, 4)                                                                                              \
    DO(shape, x32, 128, 5)

IMAGE_KERNEL(32x32b, 0, COUNTS_OF_1)
IMAGE_KERNEL(16x64b, 16, COUNTS_OF_1)
IMAGE_KERNEL(16x128b, 16, COUNTS_OF_2)
IMAGE_KERNEL(16x256b, 16, COUNTS_OF_4)
IMAGE_KERNEL(16x32bx2, 16, COUNTS_OF_1)

/* ---------------------------------------------------------------- host: 1. the map */

/* Splits off blocks: the size asked for, then halves of it, down to 32 columns, while all 512 suffice. */
static int plan_blocks(int columns, struct block *blocks) {
    int count = 0, left = TMEM_COLUMNS;
    for (int c = columns; count < MAX_BLOCKS && c >= 32 && c <= left; c /= 2) {
        blocks[count].columns = (uint32_t)c;
        blocks[count++].base = EMPTY;
        left -= c;
    }
    return count;
}

/* The block whose cell this is, by the bases that alloc answered, or -1. */
static int block_at(const struct block *blocks, int count, uint32_t column) {
    for (int i = 0; i < count; i++)
        if (column >= (blocks[i].base & 0xFFFF) && column < (blocks[i].base & 0xFFFF) + blocks[i].columns)
            return i;
    return -1;
}

/* Wrong cells among `lanes` x `columns` from (lane, column) on. */
static int wrong_cells(const struct block *blocks, int count, const uint32_t *cells, uint32_t lane, int lanes,
                       uint32_t column, int columns) {
    int wrong = 0;
    for (uint32_t l = lane; l < lane + lanes; l++)
        for (uint32_t c = column; c < column + columns; c++) {
            int b = block_at(blocks, count, c);
            uint32_t want = b < 0 ? EMPTY : cell_code((uint32_t)b, l, c - (blocks[b].base & 0xFFFF));
            wrong += cells[l * TMEM_COLUMNS + c] != want;
        }
    return wrong;
}

static void print_map(const struct block *blocks, int count, const uint32_t *cells) {
    printf("\n1. Who holds which lane and column (a letter is 8 columns x 32 lanes, ! is a wrong cell)\n");
    for (int i = 0; i < count; i++)
        printf("     %c  %3u columns at 0x%08x: lane %u, column %u\n", 'A' + i, blocks[i].columns, blocks[i].base,
               blocks[i].base >> 16, blocks[i].base & 0xFFFF);
    printf("     column                  0       64      128     192     256     320     384     448   511\n");
    for (uint32_t warp = 0; warp < 4; warp++) {
        char line[TMEM_COLUMNS / 8 + 1] = "";
        for (uint32_t c = 0; c < TMEM_COLUMNS; c += 8) {
            int b = block_at(blocks, count, c);
            int wrong = wrong_cells(blocks, count, cells, warp * TMEM_WINDOW, TMEM_WINDOW, c, 8);
            line[c / 8] = wrong ? '!' : b < 0 ? '.' : (char)('A' + b);
        }
        printf("     lanes %3u-%3u warp %u,%u  %s\n", warp * 32, warp * 32 + 31, warp, warp + 4, line);
    }
}

/* Returns the number of wrong cells; adds the right ones to *right. */
static int run_map(int columns, int *right) {
    struct block blocks[MAX_BLOCKS];
    int count = plan_blocks(columns, blocks), cells = TMEM_LANES * TMEM_COLUMNS, allocated = 0;
    size_t bytes = (size_t)cells * sizeof(uint32_t);
    uint32_t *map = (uint32_t *)malloc(bytes), *map_gpu;
    struct block *blocks_gpu;
    CUDA_CHECK(cudaMalloc((void **)&map_gpu, bytes));
    CUDA_CHECK(cudaMalloc((void **)&blocks_gpu, sizeof blocks));
    CUDA_CHECK(cudaMemset(map_gpu, 0xEE, bytes));
    CUDA_CHECK(cudaMemcpy(blocks_gpu, blocks, sizeof blocks, cudaMemcpyHostToDevice));
    map_cells<<<1, 2 * WARPGROUP>>>(blocks_gpu, count, map_gpu);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(blocks, blocks_gpu, sizeof blocks, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(map, map_gpu, bytes, cudaMemcpyDeviceToHost));

    print_map(blocks, count, map);
    int wrong = wrong_cells(blocks, count, map, 0, TMEM_LANES, 0, TMEM_COLUMNS);
    for (int i = 0; i < count; i++)
        allocated += (int)blocks[i].columns * TMEM_LANES;
    printf("     %d cells allocated, written by warps 0-3, read by warps 4-7: %d wrong\n", allocated, wrong);
    *right += allocated - wrong;
    CUDA_CHECK(cudaFree(map_gpu));
    CUDA_CHECK(cudaFree(blocks_gpu));
    free(map);
    return wrong;
}

/* ---------------------------------------------------------------- host: 2. contention */

static void print_visit(int cta, const struct visit *v, const char *note) {
    printf("     CTA %-4d asked at ticket %-4u got the columns at %-4u freed them at %u%s\n", cta, v->asked, v->got,
           v->freed, note);
}

/* Every two CTAs of an SM: the one that got the columns later must have got them after the other freed them.
 * Returns the pairs for which that is not so; *seen counts those of which one waited. */
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

/* Two CTAs for each SM: each takes more than a third of an SM's shared memory, so that two fit and three do not. Where
 * CTAs land is the GPU's business; they tell by %smid. Returns the number of broken pairs. */
static int run_contention(const struct cudaDeviceProp *prop, int *seen) {
    int ctas = 2 * prop->multiProcessorCount, smem = (int)prop->sharedMemPerMultiprocessor / 3;
    struct visit *visits = (struct visit *)malloc(sizeof(struct visit) * ctas), *visits_gpu;
    uint32_t *counters_gpu; /* the tickets, then the company on each SM; an SM's number is less than the limit */
    size_t bytes = sizeof(uint32_t) * (1 + 1024);
    CUDA_CHECK(cudaMalloc((void **)&visits_gpu, sizeof(struct visit) * ctas));
    CUDA_CHECK(cudaMalloc((void **)&counters_gpu, bytes));
    CUDA_CHECK(cudaMemset(counters_gpu, 0, bytes));
    CUDA_CHECK(cudaFuncSetAttribute((const void *)contend, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    contend<<<ctas, 32, smem>>>(visits_gpu, counters_gpu, counters_gpu + 1);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(visits, visits_gpu, sizeof(struct visit) * ctas, cudaMemcpyDeviceToHost));

    printf("\n2. Two CTAs on an SM, each wants all 512 columns (%d CTAs on %d SMs)\n", ctas, ctas / 2);
    int broken = check_visits(visits, ctas, seen);
    if (*seen)
        printf("     %d SMs had a CTA whose tcgen05.alloc waited; %d got columns that were not free\n", *seen, broken);
    else
        printf("     no two CTAs were on one SM at the same time, so none had to wait\n");
    CUDA_CHECK(cudaFree(visits_gpu));
    CUDA_CHECK(cudaFree(counters_gpu));
    free(visits);
    return broken;
}

/* ---------------------------------------------------------------- host: 3. shapes */

struct cell {
    int lane, column; /* from the address given to the instruction */
};

/* The cell of thread t's register r. count: N of xN, which is also how far apart the halves of 16x32bx2 are. 16 lanes
 * are two groups of 8 with thread t / 4 in the first; the rest of t and r tells group and column. */
static struct cell image_32x32b_cell(int t, int r, int) { return {t, r}; }
static struct cell image_16x64b_cell(int t, int r, int) { return {t / 4 + 8 * (t % 2), 2 * r + t / 2 % 2}; }
static struct cell image_16x128b_cell(int t, int r, int) { return {t / 4 + 8 * (r % 2), 4 * (r / 2) + t % 4}; }
static struct cell image_16x256b_cell(int t, int r, int) {
    return {t / 4 + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * (t % 4) + r % 2};
}
static struct cell image_16x32bx2_cell(int t, int r, int count) { return {t % 16, count * (t / 16) + r}; }

struct shape {
    const char *name;
    void (*kernel)(struct image *);
    struct cell (*cell)(int t, int r, int count);
    int registers; /* of x1 */
    int half;      /* lanes that odd warps start further down */
    int drawn;     /* the count whose picture is printed, as an index */
};

static const struct shape shapes[SHAPES] = {
    {.name = "32x32b", .kernel = image_32x32b, .cell = image_32x32b_cell, .registers = 1, .half = 0, .drawn = 1},
    {.name = "16x64b", .kernel = image_16x64b, .cell = image_16x64b_cell, .registers = 1, .half = 16, .drawn = 1},
    {.name = "16x128b", .kernel = image_16x128b, .cell = image_16x128b_cell, .registers = 2, .half = 16, .drawn = 0},
    {.name = "16x256b", .kernel = image_16x256b, .cell = image_16x256b_cell, .registers = 4, .half = 16, .drawn = 0},
    {.name = "16x32bx2", .kernel = image_16x32bx2, .cell = image_16x32bx2_cell, .registers = 1, .half = 16, .drawn = 1},
};

/* Words of a load that are not the code of the cell that the formula names. */
static int wrong_loads(const struct shape *s, const struct image *image, int count) {
    int wrong = 0;
    for (int thread = 0; thread < WARPGROUP; thread++)
        for (int r = 0; r < MAX_REGISTERS; r++) {
            uint32_t want = EMPTY;
            if (r < s->registers << count) {
                struct cell c = s->cell(thread % 32, r, 1 << count);
                int first = thread / 32 * TMEM_WINDOW + thread / 32 % 2 * s->half;
                want = (uint32_t)(first + c.lane) << 16 | (uint32_t)c.column;
            }
            wrong += image->loaded[count][r][thread] != want;
        }
    return wrong;
}

/* Cells that a store left other than the formula says: those it owns and those it must leave alone. */
static int wrong_stores(const struct shape *s, const struct image *image, int count) {
    static uint32_t want[TMEM_LANES][IMAGE_COLUMNS];
    int wrong = 0;
    memset(want, 0xEE, sizeof want);
    for (int thread = 0; thread < WARPGROUP; thread++)
        for (int r = 0; r < s->registers << count; r++) {
            struct cell c = s->cell(thread % 32, r, 1 << count);
            int first = thread / 32 * TMEM_WINDOW + thread / 32 % 2 * s->half;
            want[first + c.lane][c.column] = (uint32_t)thread << 16 | (uint32_t)r;
        }
    for (int lane = 0; lane < TMEM_LANES; lane++)
        for (int c = 0; c < IMAGE_COLUMNS; c++)
            wrong += image->stored[count][lane][c] != want[lane][c];
    return wrong;
}

/* A picture of what warp 0 loaded: for some lanes, which thread and register got the cell. */
static void print_image(const struct shape *s, const struct image *image) {
    static const int lanes[] = {0, 1, 8, 15, 31};
    int registers = s->registers << s->drawn, columns = s->half ? 2 * registers : registers;
    printf("     %s.x%d: %d register%s a thread\n", s->name, 1 << s->drawn, registers, registers > 1 ? "s" : "");
    for (int i = 0; i < (s->half ? 4 : 5); i++) {
        printf("       lane %2d", lanes[i]);
        for (int c = 0; c < columns; c++)
            for (int t = 0; t < 32; t++)
                for (int r = 0; r < registers; r++)
                    if (image->loaded[s->drawn][r][t] == ((uint32_t)lanes[i] << 16 | (uint32_t)c))
                        printf(t < 10 ? "   t%d.r%d" : "  t%d.r%d", t, r);
        printf("\n");
    }
}

/* Returns the number of images that are wrong; adds those that are right to *right. */
static int run_images(int *right) {
    int bad = 0;
    size_t bytes = sizeof(struct image);
    struct image *image = (struct image *)malloc(bytes), *image_gpu;
    CUDA_CHECK(cudaMalloc((void **)&image_gpu, bytes));
    printf("\n3. Which thread and register holds which cell (t2.r1: thread 2, register 1; columns from left)\n");
    for (int i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        CUDA_CHECK(cudaMemset(image_gpu, 0xEE, bytes));
        s->kernel<<<1, WARPGROUP>>>(image_gpu);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaMemcpy(image, image_gpu, bytes, cudaMemcpyDeviceToHost));
        print_image(s, image);
        printf("       load and store checked:");
        for (int count = 0; count < COUNTS && s->registers << count <= MAX_REGISTERS; count++) {
            int wrong = (wrong_loads(s, image, count) != 0) + (wrong_stores(s, image, count) != 0);
            printf(" x%d%s", 1 << count, wrong ? " WRONG" : "");
            bad += wrong;
            *right += 2 - wrong;
        }
        printf("\n");
    }
    CUDA_CHECK(cudaFree(image_gpu));
    free(image);
    return bad;
}

int main(int argc, char **argv) {
    int columns = 256, cells = 0, waits = 0, images = 0;
    const struct cl_option option =
        cl_pow2("columns", &columns, "of the first allocation of the map", 32, TMEM_COLUMNS);
    cmdline_parse(argc, argv, "allocate, reach and free tensor memory", &option, 1);
    struct cudaDeviceProp prop = cuda_require_sm100();
    printf("01_tmem_alloc   tensor memory: 128 lanes x 512 columns of 32-bit cells an SM\n");

    int wrong = run_map(columns, &cells);
    int broken = run_contention(&prop, &waits);
    int bad = run_images(&images);
    printf("\n%s  01_tmem_alloc: %d cells mapped, %d wrong; %d allocations waited, %d overlapped; "
           "%d images of ld and st right, %d wrong\n",
           wrong || broken || bad ? "FAIL" : "PASS", cells, wrong, waits, broken, images, bad);
    return cmdline_end(wrong || broken || bad);
}
