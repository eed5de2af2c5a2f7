/* blas.h - OpenBLAS beside the emulator. Loaded at run time, never linked; where the library is older than the CPU it
 * takes a kernel for a generic one, so the best core type that the CPU has is asked for, unless OPENBLAS_CORETYPE is
 * set. */
#ifndef TESTS_BENCH_BLAS_H
#define TESTS_BENCH_BLAS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);

struct blas {
    sgemm_fn *sgemm;
    const char *core; /* the type of CPU that its kernels are for */
    float *a, *b, *c; /* n x n */
    int n;
};

static void blas_choose_core(void) {
#if defined(__x86_64__)
    setenv("OPENBLAS_CORETYPE",
           __builtin_cpu_supports("avx512bf16") ? "Cooperlake"
           : __builtin_cpu_supports("avx512f")  ? "SkylakeX"
           : __builtin_cpu_supports("avx2")     ? "Haswell"
                                                : "Prescott",
           0);
#endif
}

static void *blas_matrix(size_t count) {
    void *p = calloc(count, sizeof(float));
    if (!p) {
        fprintf(stderr, "out of memory: a matrix of %zu floats\n", count);
        exit(1);
    }
    return p;
}

/* Makes x ready for n x n x n products on `threads` threads. False, and nothing to free, where there is no OpenBLAS;
 * otherwise blas_close() frees. */
static bool blas_open(struct blas *x, int n, int threads) {
    blas_choose_core();
    memset(x, 0, sizeof *x);
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!lib)
        lib = dlopen("libopenblas.so", RTLD_NOW);
    if (!lib)
        return false;
    void (*set_threads)(int);
    char *(*core)(void);
    *(void **)&x->sgemm = dlsym(lib, "cblas_sgemm");
    *(void **)&set_threads = dlsym(lib, "openblas_set_num_threads");
    *(void **)&core = dlsym(lib, "openblas_get_corename");
    if (!x->sgemm || !set_threads) {
        x->sgemm = NULL;
        return false;
    }
    set_threads(threads);
    x->core = core ? core() : "?";
    x->n = n;
    size_t count = (size_t)n * (size_t)n;
    x->a = blas_matrix(count);
    x->b = blas_matrix(count);
    x->c = blas_matrix(count);
    for (size_t i = 0; i < count; i++) {
        x->a[i] = (float)(i % 7) - 3;
        x->b[i] = (float)(i % 5) - 2;
    }
    return true;
}

/* C = A B^T + C / 2, what the steps compute unless told otherwise, both operands with their K contiguous. */
static void blas_run(const struct blas *x) {
    x->sgemm(102, 112, 111, x->n, x->n, x->n, 1, x->a, x->n, x->b, x->n, 0.5f, x->c, x->n);
}

static void blas_close(struct blas *x) {
    free(x->a);
    free(x->b);
    free(x->c);
}

#endif
