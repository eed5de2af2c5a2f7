/* The heap of the device's malloc(): its size, its life across launches, and the calls of the host that may not use it.
 * The answers are an H100's, but for how many blocks fit and cudaMemset, which it takes. */
#include <stdint.h>
#include <stdio.h>

#include "../../common/gemm_host.h"

enum { THREADS = 64, CTAS = 32, HEAP = 16 << 20 };

static int bad;
static void expect(bool right, const char *what) {
    if (!right)
        printf("  wrong: %s\n", what);
    bad += !right;
}

/* A list of all blocks of n bytes that there is room for. */
__global__ void fill(uint64_t n, void **list, uint64_t *count) {
    for (void **p; (p = (void **)malloc(n)) != NULL; ++*count) {
        *p = *list;
        *list = p;
    }
}

__global__ void release(void **list) {
    while (*list) {
        void *p = *list;
        *list = *(void **)p;
        free(p);
    }
}

__global__ void sizes(void **out) {
    out[0] = malloc(0);
    out[1] = malloc(0);
    out[2] = malloc(SIZE_MAX);
    out[3] = malloc((uint64_t)HEAP + 1);
    out[4] = malloc(100);
    free(NULL);
}

__global__ void take(int **mine) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[i] = (int *)malloc(4 + 4 * (i % 7));
    *mine[i] = i;
}

__global__ void give(int **mine, int *wrong) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = CTAS * THREADS - 1 - i;
    if (*mine[other] != other)
        atomicAdd(wrong, 1);
    free(mine[other]);
}

static uint64_t room_for(uint64_t n, void **list, uint64_t *count) {
    *list = NULL;
    *count = 0;
    fill<<<1, 1>>>(n, list, count);
    release<<<1, 1>>>(list);
    CUDA_CHECK(cudaDeviceSynchronize());
    return *count;
}

int main(void) {
    size_t size;
    void **out;
    uint64_t *count;
    int **mine, *wrong, value;
    CUDA_CHECK(cudaMallocManaged((void **)&out, 8 * sizeof *out));
    CUDA_CHECK(cudaMallocManaged((void **)&count, sizeof *count));
    CUDA_CHECK(cudaMallocManaged((void **)&mine, CTAS * THREADS * sizeof *mine));
    CUDA_CHECK(cudaMallocManaged((void **)&wrong, sizeof *wrong));
    CUDA_CHECK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
    expect(size == 8 << 20, "8 MiB where nothing is set");
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1000));
    CUDA_CHECK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
    expect(size == 4 << 20, "no less than 4 MiB");
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, HEAP));
    sizes<<<1, 1>>>(out);
    CUDA_CHECK(cudaDeviceSynchronize());
    expect(out[0] && out[1] && out[0] != out[1], "malloc(0) gives a block");
    expect(!out[2] && !out[3] && out[4], "what the heap cannot hold is NULL");
    expect(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * HEAP) == cudaErrorInvalidValue,
           "a limit that comes too late");
    expect(cudaMemcpy(&value, out[4], 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue, "cudaMemcpy from the heap");
    expect(cudaMemcpy(out[4], &value, 4, cudaMemcpyDefault) == cudaErrorInvalidValue, "cudaMemcpy to the heap");
    expect(cudaFree(out[4]) == cudaErrorInvalidValue, "cudaFree of the heap's");
    cudaGetLastError();
    for (uint64_t n = 16; n <= 1 << 20; n *= 16) {
        uint64_t fit = room_for(n, out, count);
        expect(fit * (n + 16) <= HEAP && HEAP - fit * (n + 16) < n + 16 + 160, "blocks of one size fill the heap");
        expect(room_for(n, out, count) == fit, "freed blocks are one again");
    }
    *wrong = 0;
    take<<<CTAS, THREADS>>>(mine);
    give<<<CTAS, THREADS>>>(mine, wrong);
    CUDA_CHECK(cudaDeviceSynchronize());
    expect(*wrong == 0, "blocks live across launches");
    int64_t sum = 0;
    for (int i = 0; i < CTAS * THREADS; i++) {
        expect((uintptr_t)mine[i] % 16 == 0, "a multiple of 16 bytes");
        sum = sum * 31 + ((char *)mine[i] - (char *)mine[0]);
    }
    printf("%s  device heap, places %llx\n", bad ? "FAIL" : "PASS", (unsigned long long)sum);
    return bad != 0;
}
