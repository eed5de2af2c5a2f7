/* plain.cu - plain CUDA kernels whose speed under the emulator `make bench-emulator` and `make bench-compare` measure.
 *
 * No tensor core and no asynchronous engine: arithmetic, loads, stores, barriers, shuffles and atomics, as in the first
 * kernels that people write. plain_fast.cu is the same with --use_fast_math.
 *
 *   plain KERNEL [ROUNDS]   one of those in `benches` below. The last round's result is compared with that of a plain C
 *                           loop, which runs as often.
 *
 * Ends with a PASS or FAIL line, with the median time of the loop; exit code 0 or 1, 2 for wrong use.
 */
// NVCC: -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart shared --no-compress
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N (1 << 18)   /* elements of the vectors */
#define SIDE 128      /* of the matrices */
#define ROW 1024      /* elements of a row of softmax */
#define STEPS 256     /* rounds of the loop in alu, */
#define HALF_STEPS 16 /*  and in half2 */
#define BINS 256
#define BLOCKS 16
#define THREADS 256
#define TILE 16

/* ---------------------------------------------------------------- kernels: in, in, out, each N words */

/* Chains of dependent arithmetic, f32 and integer; only the last values are stored. */
__host__ __device__ static float alu_value(uint32_t thread) {
    float a = (float)thread, b = 1.0f;
    uint32_t u = thread, v = 7;
    for (int i = 0; i < STEPS; i++) {
        a = fmaf(a, 0.5f, b);
        b += 0.25f;
        u = u * 3 + v;
        v ^= u >> 3;
    }
    return a + (float)((u ^ v) & 0xff);
}

__global__ void alu(const float *, const float *, float *out) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = alu_value(i);
}

/* C = A B, a thread an element, all from global memory. */
__global__ void naive_sgemm(const float *a, const float *b, float *c) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < SIDE; k++)
        sum += a[row * SIDE + k] * b[k * SIDE + column];
    c[row * SIDE + column] = sum;
}

/* The same by tiles in shared memory. */
__global__ void tiled_sgemm(const float *a, const float *b, float *c) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k = 0; k < SIDE; k += TILE) {
        tile_a[y][x] = a[row * SIDE + k + x];
        tile_b[y][x] = b[(k + y) * SIDE + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    c[row * SIDE + column] = sum;
}

/* A sum for each block, by a tree in shared memory. */
__global__ void reduction(const float *in, const float *, float *out) {
    __shared__ float part[THREADS];
    float sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = THREADS / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

/* A warp a row: shuffles and exponentials. */
__global__ void softmax(const float *in, const float *, float *out) {
    const float *row = in + blockIdx.x * ROW;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < ROW; i += 32)
        most = fmaxf(most, row[i]);
    for (int d = 16; d > 0; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, d));
    for (int i = threadIdx.x; i < ROW; i += 32)
        sum += expf(row[i] - most);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int i = threadIdx.x; i < ROW; i += 32)
        out[blockIdx.x * ROW + i] = expf(row[i] - most) / sum;
}

/* To e4m3 and back. */
__global__ void fp8(const float *in, const float *, float *out) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N / 2; i += gridDim.x * blockDim.x)
        ((float2 *)out)[i] = (float2)__nv_fp8x2_e4m3(((const float2 *)in)[i]);
}

__global__ void half2_chain(const float *in, const float *, float *out) {
    const __half2 half = __float2half2_rn(0.5f), one = __float2half2_rn(1.0f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N / 2; i += gridDim.x * blockDim.x) {
        __half2 v = __float22half2_rn(((const float2 *)in)[i]);
        for (int k = 0; k < HALF_STEPS; k++)
            v = __hadd2(__hmul2(__hfma2(v, half, one), half), one);
        ((float2 *)out)[i] = __half22float2(v);
    }
}

/* Atomics on shared memory, then on global memory. Adds to what `out` holds, 0 at first. */
__global__ void histogram(const float *in, const float *, float *out) {
    __shared__ uint32_t count[BINS];
    count[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS)
        atomicAdd(&count[(uint32_t)(in[i] + 15) * 8 % BINS], 1);
    __syncthreads();
    atomicAdd((uint32_t *)out + threadIdx.x, count[threadIdx.x]);
}

/* ---------------------------------------------------------------- the same as plain C loops, on one core */

static void alu_loop(const float *, const float *, float *out) {
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        out[i] = alu_value(i);
}

/* Of whole numbers below 2^24: exact in any order. */
static void sgemm_loop(const float *a, const float *b, float *c) {
    for (int row = 0; row < SIDE; row++)
        for (int k = 0; k < SIDE; k++)
            for (int column = 0; column < SIDE; column++)
                c[row * SIDE + column] += a[row * SIDE + k] * b[k * SIDE + column];
}

static void reduction_loop(const float *in, const float *, float *out) {
    for (int i = 0; i < N; i++)
        out[i / THREADS % BLOCKS] += in[i];
}

static void softmax_loop(const float *in, const float *, float *out) {
    for (int row = 0; row < N / ROW; row++, in += ROW, out += ROW) {
        float most = -INFINITY, sum = 0;
        for (int i = 0; i < ROW; i++)
            most = fmaxf(most, in[i]);
        for (int i = 0; i < ROW; i++)
            sum += out[i] = expf(in[i] - most);
        for (int i = 0; i < ROW; i++)
            out[i] /= sum;
    }
}

static void fp8_loop(const float *in, const float *, float *out) {
    for (int i = 0; i < N / 2; i++)
        ((float2 *)out)[i] = (float2)__nv_fp8x2_e4m3(((const float2 *)in)[i]);
}

/* In f32. */
static void half2_loop(const float *in, const float *, float *out) {
    for (int i = 0; i < N; i++) {
        float v = in[i];
        for (int k = 0; k < HALF_STEPS; k++)
            v = (v * 0.5f + 1) * 0.5f + 1;
        out[i] = v;
    }
}

static void histogram_loop(const float *in, const float *, float *out) {
    uint32_t *count = (uint32_t *)out;
    for (int i = 0; i < N; i++)
        count[(uint32_t)(in[i] + 15) * 8 % BINS]++;
}

/* ---------------------------------------------------------------- program */

typedef void bench_fn(const float *a, const float *b, float *out);
struct bench {
    const char *name;
    bench_fn *kernel, *loop;
    int blocks_x, blocks_y, threads_x, threads_y;
    int answers;              /* words of `out` */
    float absolute, relative; /* how far they may be from the loop's */
};
static const struct bench benches[] = {
    {"alu", alu, alu_loop, BLOCKS, 1, THREADS, 1, BLOCKS *THREADS, 1e-3f, 0},
    {"naive_sgemm", naive_sgemm, sgemm_loop, SIDE / TILE, SIDE / TILE, TILE, TILE, SIDE *SIDE, 0, 0},
    {"tiled_sgemm", tiled_sgemm, sgemm_loop, SIDE / TILE, SIDE / TILE, TILE, TILE, SIDE *SIDE, 0, 0},
    {"reduction", reduction, reduction_loop, BLOCKS, 1, THREADS, 1, BLOCKS, 0, 0},
    {"softmax", softmax, softmax_loop, N / ROW, 1, 32, 1, N, 1e-12f, 1e-4f},
    {"fp8", fp8, fp8_loop, BLOCKS, 1, THREADS, 1, N, 0, 0},
    {"half2", half2_chain, half2_loop, BLOCKS, 1, THREADS, 1, N, 1e-2f, 0},
    {"histogram", histogram, histogram_loop, BLOCKS, 1, THREADS, 1, BINS, 0, 0},
};

static void must(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "plain: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

/* Milliseconds. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The loop's answers, and its median time. */
static double loop(const struct bench *bench, int rounds, const float *a, const float *b, float *out) {
    double *took = (double *)malloc((size_t)rounds * sizeof *took);
    for (int i = 0; i < rounds; i++) {
        memset(out, 0, N * sizeof *out);
        took[i] = now();
        bench->loop(a, b, out);
        took[i] = now() - took[i];
    }
    qsort(took, (size_t)rounds, sizeof *took, by_value);
    const double median = took[(rounds - 1) / 2];
    free(took);
    return median;
}

static int run(const struct bench *bench, int rounds) {
    static float a[N], b[N], out[N], should[N];
    float *device[3];
    for (int i = 0; i < N; i++) {
        const uint32_t random = (uint32_t)i * 2654435761u;
        a[i] = (float)((random >> 8) % 31) - 15;
        b[i] = (float)((random >> 16) % 7) - 3;
    }
    for (int i = 0; i < 3; i++)
        must(cudaMalloc(&device[i], sizeof out), "cudaMalloc");
    must(cudaMemcpy(device[0], a, sizeof a, cudaMemcpyHostToDevice), "cudaMemcpy");
    must(cudaMemcpy(device[1], b, sizeof b, cudaMemcpyHostToDevice), "cudaMemcpy");
    for (int i = 0; i < rounds; i++) {
        must(cudaMemset(device[2], 0, sizeof out), "cudaMemset");
        bench->kernel<<<dim3(bench->blocks_x, bench->blocks_y), dim3(bench->threads_x, bench->threads_y)>>>(
            device[0], device[1], device[2]);
        must(cudaGetLastError(), bench->name);
    }
    must(cudaMemcpy(out, device[2], sizeof out, cudaMemcpyDeviceToHost), bench->name);
    const double took = loop(bench, rounds, a, b, should);
    int wrong = 0;
    for (int i = 0; i < bench->answers; i++)
        wrong += memcmp(&out[i], &should[i], sizeof *out) != 0 &&
                 !(fabsf(out[i] - should[i]) <= bench->absolute + bench->relative * should[i]);
    printf("%s %s: %d wrong; the loop takes %.4f ms\n", wrong ? "FAIL" : "PASS", bench->name, wrong, took);
    return wrong != 0;
}

int main(int argc, char **argv) {
    const size_t num = sizeof benches / sizeof *benches;
    const int rounds = argc == 3 ? atoi(argv[2]) : 1;
    for (size_t i = 0; i < num && (argc == 2 || argc == 3) && rounds > 0; i++)
        if (strcmp(benches[i].name, argv[1]) == 0)
            return run(&benches[i], rounds);
    fprintf(stderr, "usage: plain KERNEL [ROUNDS]; kernels:");
    for (size_t i = 0; i < num; i++)
        fprintf(stderr, " %s", benches[i].name);
    fprintf(stderr, "\n");
    return 2;
}
