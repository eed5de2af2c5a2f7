/* compare.h - is D right? The worst element by relative error, against a bound derived from K and the type.
 * Host only.
 *
 * Relative to what: element (i, j) of D = alpha A B^T + beta C is a sum that may cancel, so its error is
 * measured against the size of what was added up, |alpha| |a_i| |b_j| + |beta c_ij|, with the Euclidean
 * lengths of row i of A and row j of B (by Cauchy and Schwarz no less than the sum of the products'
 * magnitudes).
 */
#ifndef COMMON_COMPARE_H
#define COMMON_COMPARE_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "descriptors.h"
#include "reference.h"

struct compare_result {
    double worst;     /* relative error of the worst element; infinite where D is NaN or an infinity */
    int row, column;  /* where */
    double got, want; /* what */
    size_t bad;       /* elements beyond the bound */
    double bound;
};

/* The largest error that f32 accumulation may make. The ISA does not state how an UMMA rounds, so every
 * addition, of a product to the sum or of one UMMA's sum to the accumulator, is allowed to lose a whole unit
 * in the last place (2^-23, truncation), and the epilogue's two products and one sum half a unit each. One
 * forgotten product of K is about 1/K, thousands of times more. */
static inline double compare_bound(int k, enum umma_kind kind) {
    double ulp = 0x1p-23, steps = (double)k / (double)umma_k(kind);
    return (k + steps + 1.5) * ulp;
}

/* The Euclidean length of each of `rows` rows of k floats. The caller frees it. */
static inline double *row_lengths(int rows, int k, const float *a) {
    double *length = (double *)checked_malloc(sizeof(double) * (size_t)rows);
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int l = 0; l < k; l++)
            sum += (double)a[(size_t)i * k + l] * a[(size_t)i * k + l];
        length[i] = sqrt(sum);
    }
    return length;
}

/* Compares d (m x n) with alpha product + beta c, product being a b^T in double. c may be NULL where beta is
 * 0. */
static inline struct compare_result compare_gemm(int m, int n, int k, float alpha, const float *a,
                                                 const float *b, const double *product, float beta,
                                                 const float *c, const float *d, double bound) {
    struct compare_result r = {-1, 0, 0, 0, 0, 0, bound};
    double *a_length = row_lengths(m, k, a), *b_length = row_lengths(n, k, b);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            size_t at = (size_t)i * n + j;
            double add = beta != 0 ? (double)beta * c[at] : 0;
            double want = (double)alpha * product[at] + add, got = d[at];
            double scale = fabs((double)alpha) * a_length[i] * b_length[j] + fabs(add);
            double error = got == want ? 0 : fabs(got - want) / scale;
            if (!(error <
                  INFINITY)) /* NaN compares false with everything: name what is wanted, not what is not */
                error = INFINITY;
            if (!(error <= bound))
                r.bad++;
            if (error > r.worst) {
                r.worst = error;
                r.row = i;
                r.column = j;
                r.got = got;
                r.want = want;
            }
        }
    free(a_length);
    free(b_length);
    return r;
}

/* The last line of a step: PASS or FAIL, what was computed, and the figures. Returns the exit code, 0 or 1.
 */
static inline int compare_report(const char *what, const struct compare_result *r) {
    if (r->bad == 0) {
        printf("PASS  %s: max relative error %.2e (bound %.2e)\n", what, r->worst, r->bound);
        return 0;
    }
    printf("FAIL  %s: %zu element%s beyond the bound; worst D[%d][%d] = %.9g, expected %.9g, "
           "relative error %.2e (bound %.2e)\n",
           what, r->bad, r->bad == 1 ? "" : "s", r->row, r->column, r->got, r->want, r->worst, r->bound);
    return 1;
}

#endif
