/* verify.h - is D right? All of it, or a sample that touches every edge of every tile. Host only.
 *
 * The measure is that of common/compare.h, but for the rounding to D's type, of which the half unit that it may lose is
 * taken off first. Not part of the measure: where it lies. So every element is checked against its own expected value.
 */
#ifndef STEP05_VERIFY_H
#define STEP05_VERIFY_H

#include "../common/compare.h"
#include "problem.h"

enum { SAMPLES = 4096 }; /* at least */

struct verdict {
    struct compare_result worst; /* the row counts through the whole batch */
    size_t checked;
    const double *a_length, *b_length; /* of the rows of A and B */
};

/* The half unit in the last place of D's type, of 11 or 8 significant bits, that rounding x may lose. */
static inline double rounding_loss(int type, double x) {
    int exponent; /* |x| < 2^exponent */
    if (!isfinite(x))
        return 0;
    frexp(x, &exponent);
    if (type == OUT_F16)
        return fmax(ldexp(1, exponent - 12), 0x1p-25);
    return type == OUT_BF16 ? ldexp(1, exponent - 9) : 0;
}

/* Checks one element. row: of D, counted through the batch. product: of row `row` of A and row `column` of B there. */
static inline void check_element(const struct problem *p, const struct inputs *in, const unsigned char *d,
                                 size_t row, int column, double product, struct verdict *v) {
    const size_t at = row * p->n + column, matrix = row / p->m;
    const double add = p->beta != 0 ? (double)p->beta * in->c[at] : 0;
    const double scale =
        fabs((double)p->alpha) * v->a_length[row] * v->b_length[matrix * p->n + column] + fabs(add);
    double want = (double)p->alpha * product + add, got = out_load(p->out, d + at * out_bytes(p->out));
    if (p->relu && want < 0)
        want = 0;
    if (p->out == OUT_F16 && fabs(want) >= 65520) /* beyond f16: an infinity is right */
        want = copysign(INFINITY, want);
    double off = got == want ? 0 : fabs(got - want); /* not by fmax() below: that would make a NaN a 0 */
    off = off <= rounding_loss(p->out, want) ? 0 : off - rounding_loss(p->out, want);
    double error = off == 0 ? 0 : off / scale;
    if (!(error < INFINITY)) /* NaN compares false with everything: name what is wanted */
        error = INFINITY;
    v->checked++;
    if (!(error <= v->worst.bound))
        v->worst.bad++;
    if (error > v->worst.worst) {
        v->worst.worst = error;
        v->worst.row = (int)row;
        v->worst.column = column;
        v->worst.got = got;
        v->worst.want = want;
    }
}

static inline void check_all(const struct problem *p, const struct inputs *in, const unsigned char *d,
                             struct verdict *v) {
    const size_t count = (size_t)p->m * p->n;
    double *product = (double *)checked_malloc(count * sizeof(double));
    for (int l = 0; l < p->batch; l++) {
        reference_product(p->m, p->n, p->k, in->a + (size_t)l * p->m * p->k, in->b + (size_t)l * p->n * p->k,
                          product);
        for (size_t i = 0; i < count; i++)
            check_element(p, in, d, (size_t)l * p->m + i / p->n, (int)(i % p->n), product[i], v);
    }
    free(product);
}

static inline void check_sample(const struct problem *p, const struct inputs *in, const unsigned char *d,
                                int l, int row, int column, struct verdict *v) {
    const float *a = in->a + ((size_t)l * p->m + row) * p->k, *b = in->b + ((size_t)l * p->n + column) * p->k;
    double sum = 0;
    for (int i = 0; i < p->k; i++)
        sum += (double)a[i] * b[i];
    check_element(p, in, d, (size_t)l * p->m + row, column, sum, v);
}

/* Of every CTA's tile of 128 rows the corners, a random place on each edge and four random places inside; then
 * random places of D until there are enough. */
static inline void check_some(const struct problem *p, const struct inputs *in, const unsigned char *d,
                              struct verdict *v) {
    uint64_t state = p->seed ^ 0x5A5A5A5A5A5A5A5Aull;
    for (int l = 0; l < p->batch; l++)
        for (int m = 0; m < p->m; m += 128)
            for (int n = 0; n < p->n; n += p->tile_n) {
                const int rows = p->m - m < 128 ? p->m - m : 128;
                const int columns = p->n - n < p->tile_n ? p->n - n : p->tile_n;
                for (int i = 0; i < 12; i++) {
                    int row = (int)((random_float(&state) + 1) / 2 * (float)rows) % rows;
                    int column = (int)((random_float(&state) + 1) / 2 * (float)columns) % columns;
                    if (i < 4 || i == 4 || i == 5) /* corners and the edges above and below */
                        row = i & 1 ? rows - 1 : 0;
                    if (i < 4 || i == 6 || i == 7) /* corners and the edges left and right */
                        column = i < 4 ? (i & 2 ? columns - 1 : 0) : (i & 1 ? columns - 1 : 0);
                    check_sample(p, in, d, l, m + row, n + column, v);
                }
            }
    while (v->checked < SAMPLES) {
        const double where = ((double)random_float(&state) + 1) / 2 * (double)p->batch * p->m;
        const size_t row = (size_t)where % ((size_t)p->batch * p->m);
        const int column = (int)((random_float(&state) + 1) / 2 * (float)p->n) % p->n;
        check_sample(p, in, d, (int)(row / p->m), (int)(row % p->m), column, v);
    }
}

/* Checks D as --verify says, prints the step's last line and returns the exit code, 0 or 1. d: bytes of the batch. */
static inline int verify(const struct problem *p, const struct inputs *in, const void *d) {
    const int round = p->out == OUT_F32 ? 0 : 1;
    char what[160];
    int used = snprintf(what, sizeof what, "05_persistent_warpspec %dx%dx%d", p->m, p->n, p->k);
    if (p->batch > 1)
        used += snprintf(what + used, sizeof what - (size_t)used, "x%d", p->batch);
    used += snprintf(what + used, sizeof what - (size_t)used, " %s", elem_names[p->type]);
    if (round)
        used += snprintf(what + used, sizeof what - (size_t)used, " -> %s", out_names[p->out]);
    if (p->verify == VERIFY_NONE) {
        printf("PASS  %s: ran to its end; D was not looked at (--verify none)\n", what);
        return 0;
    }
    double *a_length = row_lengths(p->m * p->batch, p->k, in->a);
    double *b_length = row_lengths(p->n * p->batch, p->k, in->b);
    const double bound = compare_bound(p->k, elem_info((enum elem_type)p->type).kind);
    struct verdict v = {{-1, 0, 0, 0, 0, 0, bound}, 0, a_length, b_length};
    if (p->verify == VERIFY_FULL)
        check_all(p, in, (const unsigned char *)d, &v);
    else
        check_some(p, in, (const unsigned char *)d, &v);
    if (p->verify == VERIFY_SAMPLED)
        snprintf(what + used, sizeof what - (size_t)used, ", %zu elements of it", v.checked);
    free(a_length);
    free(b_length);
    return compare_report(what, &v.worst);
}

#endif
