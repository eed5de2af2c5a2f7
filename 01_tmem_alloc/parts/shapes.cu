/* shapes - more of step 01: which thread and register holds which cell, for every shape and count of tcgen05.ld and st.
 *
 * A kernel for each shape, image_*: it loads with the shape what was written with 32x32b, and the other way round. Ends
 * with a PASS or FAIL line; exit code 0 or 1. The lesson is in further.md.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/cluster.cuh"
#include "../../common/cmdline.h"
#include "../../common/cuda_check.h"
#include "../../common/fence.cuh"
#include "../../common/tmem.cuh"
#include "../../common/umma.cuh"

enum {
    WARPGROUP = 128,     /* threads: four warps, together they reach the 128 lanes */
    PIECE = 32,          /* columns that a thread moves at a time, a register each */
    IMAGE_COLUMNS = 256, /* as wide as the widest image: 16x256b.x32 and others of 128 registers */
    MAX_REGISTERS = 128, /* a thread, in one tcgen05.ld or st */
    COUNTS = 8,          /* x1, x2, x4 ... x128 */
    SHAPES = 5,
};

static_assert(IMAGE_COLUMNS % PIECE == 0, "whole pieces");

#define EMPTY 0xEEEEEEEEu /* a cell or word that nobody wrote */

/* A warp's window of 256 columns, filled, emptied or copied out with 32x32b, where thread t has lane t and register r
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

/* The results of image_* for one shape. A word that nothing wrote is EMPTY. */
struct image {
    uint32_t loaded[COUNTS][MAX_REGISTERS][WARPGROUP];  /* [count][register][thread]: the code of the cell it got */
    uint32_t stored[COUNTS][TMEM_LANES][IMAGE_COLUMNS]; /* [count][lane][column]: the code of who wrote it */
};

/* Loads with the shape the cells that were written with 32x32b. */
#define IMAGE_LD(shape, num, regs, count)                                                                              \
    {                                                                                                                  \
        uint32_t r[regs];                                                                                              \
        tmem_ld_##shape##_##num(r, at);                                                                                \
        tmem_wait_ld();                                                                                                \
        for (int i = 0; i < regs; i++)                                                                                 \
            out->loaded[count][i][threadIdx.x] = r[i];                                                                 \
    }

/* Stores with the shape, then copies the window out with 32x32b. */
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

/* Registers of a thread: one, two or four for x1, and no more than 128 (Tables 49 and 50). */
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

/* ---------------------------------------------------------------- host */

struct cell {
    int lane, column; /* from the address given to the instruction */
};

/* The cell of thread t's register r. count: N of xN, which is also how far apart the halves of 16x32bx2 are. The 16
 * lanes are two groups of 8; thread t has lane t / 4 of a group, and t % 4 and r select the group and the column. */
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

/* Counts words of a load that differ from the code of the cell that the formula names. */
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

/* Counts cells that differ from the formula after a store: those it writes and those it must leave alone. */
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
    int images = 0;
    cmdline_parse(argc, argv, "which thread and register holds which cell of tensor memory", NULL, 0);
    cuda_require_sm100();
    printf("shapes   which thread and register holds which cell (t2.r1: thread 2, register 1; columns from left)\n");
    int bad = run_images(&images);
    printf("\n%s  shapes: %d images of ld and st right, %d wrong\n", bad ? "FAIL" : "PASS", images, bad);
    return cmdline_end(bad);
}
