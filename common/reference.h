/* reference.h - the product in double on the host, in blocks that stay in the cache. Host only. */
#ifndef COMMON_REFERENCE_H
#define COMMON_REFERENCE_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* 64 x 256 doubles of B, transposed, are 128 KB: they stay in the second-level cache while A passes by. */
enum { REFERENCE_COLUMNS = 256, REFERENCE_K = 64 };

static inline void *checked_malloc(size_t bytes) {
    void *p = malloc(bytes ? bytes : 1);
    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

/* P = A B^T: a is m x k, b is n x k, p is m x n, all row-major and dense. Products of the steps' input types are exact
 * in double and the sum loses at most k * 2^-53 of its magnitude, far below what an f32 accumulator does. */
static inline void reference_product(int m, int n, int k, const float *a, const float *b, double *p) {
    double *bt = (double *)checked_malloc(sizeof(double) * REFERENCE_K * REFERENCE_COLUMNS);
    for (size_t i = 0; i < (size_t)m * n; i++)
        p[i] = 0;
    for (int n0 = 0; n0 < n; n0 += REFERENCE_COLUMNS)
        for (int k0 = 0; k0 < k; k0 += REFERENCE_K) {
            int cols = n - n0 < REFERENCE_COLUMNS ? n - n0 : REFERENCE_COLUMNS;
            int depth = k - k0 < REFERENCE_K ? k - k0 : REFERENCE_K;
            for (int j = 0; j < cols; j++)
                for (int l = 0; l < depth; l++)
                    bt[l * REFERENCE_COLUMNS + j] = b[(size_t)(n0 + j) * k + k0 + l];
            for (int i = 0; i < m; i++)
                for (int l = 0; l < depth; l++) {
                    double x = a[(size_t)i * k + k0 + l], *row = p + (size_t)i * n + n0;
                    const double *y = bt + l * REFERENCE_COLUMNS;
                    for (int j = 0; j < cols; j++)
                        row[j] += x * y[j];
                }
        }
    free(bt);
}

/* One element of it: a and b are its rows of A and of B. */
static inline double reference_element(int k, const float *a, const float *b) {
    double sum = 0;
    for (int i = 0; i < k; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

#endif
