/* main.cu - launches a kernel of learn-cuda's 02e_matmul_sm100 by name: ladder NAME SIZE. With v5 or v6, `ladder NAME
 * SIZE FILE` launches the one that writes a profile of its warps, and puts it into FILE, a span a line: thread, tag of
 * profiler.h, start, duration. README.md: how to build. */
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

typedef void profiled(const nv_bfloat16 *a, const nv_bfloat16 *b, nv_bfloat16 *c, int m, int n, int k, int64_t *profile,
                      int entries);
profiled profile_matmul_v5, profile_matmul_v6;

enum { THREADS = 4096, ENTRIES = 4096 }; /* warps of a launch; spans of each */

static void profile(profiled *run, const nv_bfloat16 *a, const nv_bfloat16 *b, nv_bfloat16 *c, int size,
                    const char *path) {
    const size_t words = 1 + 4 * (size_t)ENTRIES, bytes = THREADS * words * sizeof(int64_t);
    int64_t *device, *found = (int64_t *)malloc(bytes);
    FILE *file = fopen(path, "w");
    if (!found || !file) {
        perror(path);
        exit(1);
    }
    CUDA_CHECK(cudaMalloc(&device, bytes));
    CUDA_CHECK(cudaMemset(device, 0, bytes));
    run(a, b, c, size, size, size, device, ENTRIES);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(found, device, bytes, cudaMemcpyDeviceToHost));
    for (size_t t = 0; t < THREADS; t++)
        for (int64_t i = 0; i < found[t * words]; i++) {
            const int64_t *span = &found[t * words + 1 + 4 * i];
            fprintf(file, "%zu %d %lld %lld\n", t, (int)span[1], (long long)span[2], (long long)span[3]);
        }
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
    free(found);
}

/* Of bytes 0x38 every element is 0x3838, and so every element of C the same. */
static size_t wrong_of(const nv_bfloat16 *c, size_t count, int k) {
    const double x = ldexp(1 + 56.0 / 128, -15), right = k * x * x;
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !(fabs(__bfloat162float(c[i]) - right) <= 0.01 * right);
    return wrong;
}

int main(int argc, char **argv) {
    const int size = argc == 3 || argc == 4 ? atoi(argv[2]) : 0;
    matmul *run = NULL;
    for (size_t i = 0; i < sizeof rungs / sizeof rungs[0] && size > 0; i++)
        if (!strcmp(rungs[i].name, argv[1]))
            run = rungs[i].run;
    profiled *profiles = argc < 4           ? NULL
                         : run == matmul_v5 ? profile_matmul_v5
                         : run == matmul_v6 ? profile_matmul_v6
                                            : NULL;
    if (!run || (argc == 4 && !profiles)) {
        fprintf(stderr, "usage: ladder v1a|v1b|v2a|v2b|v3|v4|v5|v6|v7a|v7b|v7c SIZE, or v5|v6 SIZE FILE\n");
        return 2;
    }
    const size_t count = (size_t)size * size, bytes = count * sizeof(nv_bfloat16);
    nv_bfloat16 *a, *b, *c, *host = (nv_bfloat16 *)malloc(bytes);
    CUDA_CHECK(cudaMalloc(&a, bytes));
    CUDA_CHECK(cudaMalloc(&b, bytes));
    CUDA_CHECK(cudaMalloc(&c, bytes));
    CUDA_CHECK(cudaMemset(a, 0x38, bytes));
    CUDA_CHECK(cudaMemset(b, 0x38, bytes));
    if (profiles)
        profile(profiles, a, b, c, size, argv[3]);
    else
        run(a, b, c, size, size, size);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(host, c, bytes, cudaMemcpyDeviceToHost));
    const size_t wrong = wrong_of(host, count, size);
    printf("%s  %s %d: %zu elements wrong\n", wrong ? "FAIL" : "PASS", argv[1], size, wrong);
    free(host);
    return wrong != 0;
}
