/* main.cu - launches a kernel of learn-cuda's 02e_matmul_sm100 by name: ladder NAME SIZE. README.md: how to build. */
#include <cuda_bf16.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../common/cuda_check.h"

typedef void matmul(const nv_bfloat16 *a, const nv_bfloat16 *b, nv_bfloat16 *c, int m, int n, int k);
matmul matmul_v1a, matmul_v1b, matmul_v2a, matmul_v2b, matmul_v3, matmul_v4, matmul_v5, matmul_v6, matmul_v7a,
    matmul_v7b, matmul_v7c;

static const struct {
    const char *name;
    matmul *run;
} rungs[] = {
    {"v1a", matmul_v1a}, {"v1b", matmul_v1b}, {"v2a", matmul_v2a}, {"v2b", matmul_v2b},
    {"v3", matmul_v3},   {"v4", matmul_v4},   {"v5", matmul_v5},   {"v6", matmul_v6},
    {"v7a", matmul_v7a}, {"v7b", matmul_v7b}, {"v7c", matmul_v7c},
};

/* Of bytes 0x38 every element is 0x3838, and so every element of C the same. */
static size_t wrong_of(const nv_bfloat16 *c, size_t count, int k) {
    const double x = ldexp(1 + 56.0 / 128, -15), right = k * x * x;
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !(fabs(__bfloat162float(c[i]) - right) <= 0.01 * right);
    return wrong;
}

int main(int argc, char **argv) {
    const int size = argc == 3 ? atoi(argv[2]) : 0;
    matmul *run = NULL;
    for (size_t i = 0; i < sizeof rungs / sizeof rungs[0] && argc == 3; i++)
        if (!strcmp(rungs[i].name, argv[1]))
            run = rungs[i].run;
    if (!run || size <= 0) {
        fprintf(stderr, "usage: ladder v1a|v1b|v2a|v2b|v3|v4|v5|v6|v7a|v7b|v7c SIZE\n");
        return 2;
    }
    const size_t count = (size_t)size * size, bytes = count * sizeof(nv_bfloat16);
    nv_bfloat16 *a, *b, *c, *host = (nv_bfloat16 *)malloc(bytes);
    CUDA_CHECK(cudaMalloc(&a, bytes));
    CUDA_CHECK(cudaMalloc(&b, bytes));
    CUDA_CHECK(cudaMalloc(&c, bytes));
    CUDA_CHECK(cudaMemset(a, 0x38, bytes));
    CUDA_CHECK(cudaMemset(b, 0x38, bytes));
    run(a, b, c, size, size, size);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(host, c, bytes, cudaMemcpyDeviceToHost));
    const size_t wrong = wrong_of(host, count, size);
    printf("%s  %s %d: %zu elements wrong\n", wrong ? "FAIL" : "PASS", argv[1], size, wrong);
    free(host);
    return wrong != 0;
}
