/* compare.h - is D right? The worst element by relative error, against a bound derived from K and the type. Host only.
 *
 * Relative to what: element (i, j) of D = alpha A B^T + beta C is a sum that may cancel, so its error is measured
 * against the size of what was added up, |alpha| |a_i| |b_j| + |beta c_ij|, with the Euclidean lengths of row i of A
 * and row j of B (by Cauchy and Schwarz no less than the sum of the products' magnitudes).
 */
#ifndef COMMON_COMPARE_H
#define COMMON_COMPARE_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmdline.h"
#include "descriptors.h"
#include "random.h"
#include "reference.h"

struct compare_result {
    double worst;     /* relative error of the worst element; infinite where D is NaN or an infinity */
    int row, column;  /* of that element */
    double got, want; /* its value in D, and the reference's */
    size_t bad;       /* elements beyond the bound */
    double bound;
};

/* Nothing compared yet. */
static inline struct compare_result compare_start(double bound) {
    return (struct compare_result){.worst = -1, .bound = bound};
}

/* The largest error that f32 accumulation may make. The ISA does not state how an UMMA rounds, so every addition, of a
 * product to the sum or of one UMMA's sum to the accumulator, is allowed to lose a whole unit in the last place (2^-23,
 * truncation), and the epilogue's two products and one sum half a unit each. One forgotten product of K is about 1/K,
 * thousands of times more. A B200 cuts each term of an UMMA at a quarter of that unit of the greatest one, and the sum
 * at a whole one (docs/conformance.md): K / 4 + 1.25 steps, within this for every K. */
static inline double compare_bound(int k, enum umma_kind kind) {
    double ulp = 0x1p-23, steps = (double)k / (double)umma_k(kind);
    return (k + steps + 1.5) * ulp;
}

/* Adds one element of D to the result. scale: the size that its error is divided by; loss: the error that rounding to
 * D's type may make, 0 for f32. */
static inline void compare_element(struct compare_result *r, int row, int column, double got, double want, double scale,
                                   double loss) {
    double off = got == want ? 0 : fabs(got - want); /* not by fmax() below: that would make a NaN a 0 */
    off = off <= loss ? 0 : off - loss;
    double error = off == 0 ? 0 : off / scale;
    if (!(error < INFINITY)) /* NaN compares false with everything, so `error >= INFINITY` would miss it */
        error = INFINITY;
    if (!(error <= r->bound))
        r->bad++;
    if (error > r->worst) {
        r->worst = error;
        r->row = row;
        r->column = column;
        r->got = got;
        r->want = want;
    }
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

/* Compares d (m x n) with alpha product + beta c, product being a b^T in double. c may be NULL where beta is 0. */
static inline struct compare_result compare_gemm(int m, int n, int k, float alpha, const float *a, const float *b,
                                                 const double *product, float beta, const float *c, const float *d,
                                                 double bound) {
    struct compare_result r = compare_start(bound);
    double *a_length = row_lengths(m, k, a), *b_length = row_lengths(n, k, b);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            size_t at = (size_t)i * n + j;
            double add = beta != 0 ? (double)beta * c[at] : 0;
            double want = (double)alpha * product[at] + add, got = d[at];
            double scale = fabs((double)alpha) * a_length[i] * b_length[j] + fabs(add);
            compare_element(&r, i, j, got, want, scale, 0);
        }
    free(a_length);
    free(b_length);
    return r;
}

/* ---------------------------------------------------------------- how much of D is looked at */

enum verify { VERIFY_AUTO, VERIFY_FULL, VERIFY_SAMPLED, VERIFY_NONE };

/* In the order of enum verify; ends with NULL, as cmdline.h wants it. */
static const char *const verify_names[] = {"auto", "full", "sampled", "none", NULL};

enum { SAMPLES = 4096 }; /* elements of D, at least */

#define SAMPLE_SEED 0x5A5A5A5A5A5A5A5Aull /* XORed with the seed of the inputs: the seed of the sample */

/* What auto stands for: the reference takes a CPU about a second for 1024 cubed multiply-adds, which is the most that
 * is checked in full. */
static inline int verify_mode(int verify, double multiply_adds) {
    if (verify != VERIFY_AUTO)
        return verify;
    return multiply_adds > 1024.0 * 1024 * 1024 ? VERIFY_SAMPLED : VERIFY_FULL;
}

typedef void compare_look_fn(void *context, int row, int column);

/* A place from 0 to count - 1. */
static inline int compare_pick(uint64_t *state, int count) {
    return (int)(((double)random_float(state) + 1) / 2 * count) % count;
}

/* Calls look(context, row, column) for a sample of an m x n matrix: of each tile of 128 x tile_n the four corners, a
 * random place on each edge and four inside; then random places until there have been `least`. Returns how many. state:
 * of random_float(). */
static inline size_t compare_sample(int m, int n, int tile_n, size_t least, uint64_t *state, compare_look_fn *look,
                                    void *context) {
    size_t looked = 0;
    for (int m0 = 0; m0 < m; m0 += 128)
        for (int n0 = 0; n0 < n; n0 += tile_n) {
            const int rows = m - m0 < 128 ? m - m0 : 128, columns = n - n0 < tile_n ? n - n0 : tile_n;
            for (int i = 0; i < 12; i++, looked++) {
                int row = compare_pick(state, rows), column = compare_pick(state, columns);
                if (i < 6) /* corners and the edges above and below */
                    row = i & 1 ? rows - 1 : 0;
                if (i < 4) /* corners */
                    column = i & 2 ? columns - 1 : 0;
                if (i == 6 || i == 7) /* the edges left and right */
                    column = i & 1 ? columns - 1 : 0;
                look(context, m0 + row, n0 + column);
            }
        }
    for (; looked < least; looked++) {
        const int row = compare_pick(state, m);
        look(context, row, compare_pick(state, n));
    }
    return looked;
}

/* The last line of a step: PASS or FAIL, what was computed, and the figures. Returns the exit code, 0 or 1. */
static inline int compare_report(const char *what, const struct compare_result *r) {
    if (r->bad == 0) {
        printf("PASS  %s: max relative error %.2e (bound %.2e)\n", what, r->worst, r->bound);
        return cmdline_end(0);
    }
    printf("FAIL  %s: %zu element%s beyond the bound; worst D[%d][%d] = %.9g, expected %.9g, relative error %.2e "
           "(bound %.2e)\n",
           what, r->bad, r->bad == 1 ? "" : "s", r->row, r->column, r->got, r->want, r->worst, r->bound);
    return cmdline_end(1);
}

/* The same with --verify none. */
static inline int compare_not(const char *what) {
    printf("PASS  %s: ran to its end; D was not looked at (--verify none)\n", what);
    return cmdline_end(0);
}

#endif
