/* verify.h - is D right? All of it, or a sample that touches every edge of every tile. Host only.
 *
 * The measure is that of common/compare.h, after subtracting the half unit that rounding to D's type may lose. Every
 * element is compared with the expected value of its own place, so a right value in a wrong place is an error.
 */
#ifndef STEP05_VERIFY_H
#define STEP05_VERIFY_H

#include "../common/compare.h"
#include "problem.h"

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
static inline void check_element(const struct problem *p, const struct inputs *in, const unsigned char *d, size_t row,
                                 int column, double product, struct verdict *v) {
    const size_t at = row * p->n + column, matrix = row / p->m;
    const double add = p->beta != 0 ? (double)p->beta * in->c[at] : 0;
    const double scale = fabs((double)p->alpha) * v->a_length[row] * v->b_length[matrix * p->n + column] + fabs(add);
    double want = (double)p->alpha * product + add, got = out_load(p->out, d + at * out_bytes(p->out));
    if (p->relu && want < 0)
        want = 0;
    if (p->out == OUT_F16 && fabs(want) >= 65520) /* beyond f16: an infinity is right */
        want = copysign(INFINITY, want);
    compare_element(&v->worst, (int)row, column, got, want, scale, rounding_loss(p->out, want));
    v->checked++;
}

static inline void check_all(const struct problem *p, const struct inputs *in, const unsigned char *d,
                             struct verdict *v) {
    const size_t count = (size_t)p->m * p->n;
    double *product = (double *)checked_malloc(count * sizeof(double));
    for (int l = 0; l < p->batch; l++) {
        reference_product(p->m, p->n, p->k, in->a + (size_t)l * p->m * p->k, in->b + (size_t)l * p->n * p->k, product);
        for (size_t i = 0; i < count; i++)
            check_element(p, in, d, (size_t)l * p->m + i / p->n, (int)(i % p->n), product[i], v);
    }
    free(product);
}

/* The matrix of the batch that a sample is taken from. */
struct sampled_matrix {
    const struct problem *p;
    const struct inputs *in;
    const unsigned char *d;
    int index;
    struct verdict *v;
};

static inline void check_sample(void *context, int row, int column) {
    const struct sampled_matrix *s = (const struct sampled_matrix *)context;
    const struct problem *p = s->p;
    const size_t d_row = (size_t)s->index * p->m + row;
    const float *a = s->in->a + d_row * p->k, *b = s->in->b + ((size_t)s->index * p->n + column) * p->k;
    check_element(p, s->in, s->d, d_row, column, reference_element(p->k, a, b), s->v);
}

/* A sample of every matrix of the batch. */
static inline void check_some(const struct problem *p, const struct inputs *in, const unsigned char *d,
                              struct verdict *v) {
    uint64_t state = p->seed ^ SAMPLE_SEED;
    for (int l = 0; l < p->batch; l++) {
        struct sampled_matrix s = {.p = p, .in = in, .d = d, .index = l, .v = v};
        compare_sample(p->m, p->n, p->tile_n, (SAMPLES + p->batch - 1) / p->batch, &state, check_sample, &s);
    }
}

/* Checks D as --verify says, prints the step's last line and returns the exit code, 0 or 1. d: bytes of the batch. */
static inline int verify(const struct problem *p, const struct inputs *in, const void *d) {
    char what[160];
    int used = snprintf(what, sizeof what, "05_persistent_warpspec %dx%dx%d", p->m, p->n, p->k);
    if (p->batch > 1)
        used += snprintf(what + used, sizeof what - (size_t)used, "x%d", p->batch);
    used += snprintf(what + used, sizeof what - (size_t)used, " %s", elem_names[p->type]);
    if (p->out != OUT_F32)
        used += snprintf(what + used, sizeof what - (size_t)used, " -> %s", out_names[p->out]);
    if (p->verify == VERIFY_NONE)
        return compare_not(what);
    double *a_length = row_lengths(p->m * p->batch, p->k, in->a);
    double *b_length = row_lengths(p->n * p->batch, p->k, in->b);
    const double bound = compare_bound(p->k, elem_info((enum elem_type)p->type).kind);
    struct verdict v = {.worst = compare_start(bound), .a_length = a_length, .b_length = b_length};
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
