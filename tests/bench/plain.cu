/* plain.cu - plain CUDA kernels whose speed under the emulator `make bench-compare` measures.
 *
 * No tensor core and no asynchronous engine: arithmetic, loads, stores, barriers, shuffles and atomics, as in the first
 * kernels that people write. plain_fast.cu is the same with --use_fast_math.
 *
 *   plain KERNEL [ROUNDS]   one of those in `benches` below. The last round's result is checked on the host.
 *
 * Ends with a PASS or FAIL line; exit code 0 or 1, 2 for wrong use.
 */
// NVCC: -gencode arch=compute_100f,code=[sm_100f,compute_100f] -cudart shared --no-compress
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---------------------------------------------------------------- the host's answers */

/* How many of the elements are wrong. Inputs: a[i] is a whole number from -15 to 15, b[i] one from -3 to 3. */
typedef int check_fn(const float *a, const float *b, const float *out);

static int differs(float is, float should, float tolerance) { return !(fabsf(is - should) <= tolerance); }

static int check_alu(const float *, const float *, const float *out) {
    int wrong = 0;
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        wrong += differs(out[i], alu_value(i), 1e-3f);
    return wrong;
}

static int check_sgemm(const float *a, const float *b, const float *out) {
    int wrong = 0;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            float sum = 0; /* of whole numbers below 2^24: exact in any order */
            for (int k = 0; k < SIDE; k++)
                sum += a[row * SIDE + k] * b[k * SIDE + column];
            wrong += differs(out[row * SIDE + column], sum, 0);
        }
    return wrong;
}

static int check_reduction(const float *a, const float *, const float *out) {
    int wrong = 0;
    for (int block = 0; block < BLOCKS; block++) {
        float sum = 0;
        for (int i = 0; i < N; i++)
            sum += i / THREADS % BLOCKS == block ? a[i] : 0;
        wrong += differs(out[block], sum, 0);
    }
    return wrong;
}

static int check_softmax(const float *a, const float *, const float *out) {
    int wrong = 0;
    for (int row = 0; row < N / ROW; row++) {
        double sum = 0;
        for (int i = 0; i < ROW; i++)
            sum += exp(a[row * ROW + i] - 15.0);
        for (int i = 0; i < ROW; i++) {
            const double is = exp(a[row * ROW + i] - 15.0) / sum;
            wrong += differs(out[row * ROW + i], (float)is, (float)(1e-4 * is) + 1e-12f);
        }
    }
    return wrong;
}

/* Whole numbers of up to four bits are numbers of e4m3. */
static int check_fp8(const float *a, const float *, const float *out) {
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += differs(out[i], a[i], 0);
    return wrong;
}

static int check_half2(const float *a, const float *, const float *out) {
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        double v = a[i];
        for (int k = 0; k < HALF_STEPS; k++)
            v = (v * 0.5 + 1) * 0.5 + 1;
        wrong += differs(out[i], (float)v, 1e-2f);
    }
    return wrong;
}

static int check_histogram(const float *a, const float *, const float *out) {
    uint32_t count[BINS] = {0}, is[BINS];
    int wrong = 0;
    memcpy(is, out, sizeof is);
    for (int i = 0; i < N; i++)
        count[(uint32_t)(a[i] + 15) * 8 % BINS]++;
    for (int i = 0; i < BINS; i++)
        wrong += is[i] != count[i];
    return wrong;
}

/* ---------------------------------------------------------------- program */

struct bench {
    const char *name;
    void (*kernel)(const float *, const float *, float *);
    int blocks_x, blocks_y, threads_x, threads_y;
    check_fn *check;
};
static const struct bench benches[] = {
    {"alu", alu, BLOCKS, 1, THREADS, 1, check_alu},
    {"naive_sgemm", naive_sgemm, SIDE / TILE, SIDE / TILE, TILE, TILE, check_sgemm},
    {"tiled_sgemm", tiled_sgemm, SIDE / TILE, SIDE / TILE, TILE, TILE, check_sgemm},
    {"reduction", reduction, BLOCKS, 1, THREADS, 1, check_reduction},
    {"softmax", softmax, N / ROW, 1, 32, 1, check_softmax},
    {"fp8", fp8, BLOCKS, 1, THREADS, 1, check_fp8},
    {"half2", half2_chain, BLOCKS, 1, THREADS, 1, check_half2},
    {"histogram", histogram, BLOCKS, 1, THREADS, 1, check_histogram},
};

static void must(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "plain: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

static int run(const struct bench *bench, int rounds) {
    static float a[N], b[N], out[N];
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
    const int wrong = bench->check(a, b, out);
    printf("%s %s: %d wrong\n", wrong ? "FAIL" : "PASS", bench->name, wrong);
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
