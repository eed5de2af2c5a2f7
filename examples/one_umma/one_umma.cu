/* one_umma.cu - one tensor-core product on data-center Blackwell: D = A B^T, A 128 x 16 and B 16 x 16 in f16, D in f32.
 *
 *   one_umma                  PASS or FAIL, exit code 0 or 1
 *   one_umma --forget-wait    the same without the wait between tcgen05.mma and the first look at its result: a race
 *                             that a GPU may lose or win without a word, and that sm100emu reports
 *
 * Needs nothing but the CUDA runtime; runs on a B200 or B300, and on sm100emu. PTX ISA sections stand beside the rules.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 128, N = 16, K = 16, COLUMNS = 32 /* of tensor memory, the least that can be had */ };

/* 9.7.16.4.1: 14 bits of address, of leading and of stride offset, each >> 4; bits 46-48 are 0b001; no swizzle. The
 * operands lie in blocks of 8 rows x 16 bytes: the next along K is `rows` * 16 bytes away, the next along rows 128. */
static __device__ uint64_t smem_descriptor(uint32_t address, uint64_t rows) {
    return (address & 0x3FFFF) >> 4 | rows << 16 | (uint64_t)(128 >> 4) << 32 | 1ull << 46;
}

/* Table 42, .kind::f16: D is f32 (bits 4-5), A and B are f16 and K-major, N >> 3 (bits 17-22), M >> 4 (bits 24-28). */
static const uint32_t idesc = 1u << 4 | (uint32_t)(N >> 3) << 17 | (uint32_t)(M >> 4) << 24;

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

static __device__ void wait_for_phase_0(uint32_t bar) {
    uint32_t done = 0;
    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(bar)
                     : "memory");
}

/* One CTA of 128 threads: thread t brings row t of A (and of B, t < N) and takes row t of D. */
__global__ void __launch_bounds__(M) one_umma(const __half *a, const __half *b, float *d, int forget_wait) {
    __shared__ __align__(128) __half a_tile[K / 8][M][8], b_tile[K / 8][N][8];
    __shared__ uint64_t done;
    __shared__ uint32_t tmem;
    const uint32_t t = threadIdx.x, bar = shared_address(&done);

    for (int k = 0; k < K; k++) {
        a_tile[k / 8][t][k % 8] = a[t * K + k];
        if (t < N)
            b_tile[k / 8][t][k % 8] = b[t * K + k];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* 9.7.13.4: the tensor core reads by another proxy */
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (t < 32) /* .sync.aligned: a whole warp */
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&tmem)),
                     "r"(COLUMNS)
                     : "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); /* 9.7.16.11.1: what follows is asynchronous */
    if (t == 0) { /* one thread for the whole CTA; the predicate 0: D = A B^T, what D held is not added */
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, 0, 0;\n\t"
                     "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t}" ::"r"(tmem),
                     "l"(smem_descriptor(shared_address(a_tile), M)), "l"(smem_descriptor(shared_address(b_tile), N)),
                     "r"(idesc)
                     : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar)
                     : "memory");
    }
    if (!forget_wait)
        wait_for_phase_0(bar); /* 9.7.16.6.2: the product is complete when the mbarrier of the commit says so */
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");

    uint32_t r[N]; /* lane t of the 128; a warp reaches the 32 lanes of its own window */
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]),
                   "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15])
                 : "r"(tmem + (t / 32 * 32 << 16)));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (int j = 0; j < N; j++)
        d[t * N + j] = __uint_as_float(r[j]);

    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads(); /* nobody looks at tensor memory any more */
    if (t < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tmem), "r"(COLUMNS) : "memory");
}

static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess)
        return;
    printf("FAIL  one_umma: %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

/* Small integers: every product and sum is exact, so the comparison is too. */
static float a_value(int i, int k) { return (float)((i + 2 * k) % 7 - 3); }
static float b_value(int j, int k) { return (float)((3 * j + k) % 5 - 2); }

int main(int argc, char **argv) {
    const int forget_wait = argc > 1 && strcmp(argv[1], "--forget-wait") == 0;
    __half *a, *b;
    float *d;
    check(cudaMallocManaged(&a, M * K * sizeof *a), "cudaMallocManaged");
    check(cudaMallocManaged(&b, N * K * sizeof *b), "cudaMallocManaged");
    check(cudaMallocManaged(&d, M * N * sizeof *d), "cudaMallocManaged");
    for (int k = 0; k < K; k++) {
        for (int i = 0; i < M; i++)
            a[i * K + k] = __float2half(a_value(i, k));
        for (int j = 0; j < N; j++)
            b[j * K + k] = __float2half(b_value(j, k));
    }
    one_umma<<<1, M>>>(a, b, d, forget_wait);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");

    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += a_value(i, k) * b_value(j, k);
            wrong += !(d[i * N + j] == sum); /* a NaN is wrong too */
        }
    printf("%s  one_umma: %d of %d elements wrong\n", wrong ? "FAIL" : "PASS", wrong, M * N);
    return wrong != 0;
}
