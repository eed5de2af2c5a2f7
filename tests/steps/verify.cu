/* Step 05's own judge, judged: a right D passes in full and sampled, and each thing that can be wrong with an element
 * is found, wherever a sample promises to look. Host only. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../05_persistent_warpspec/verify.h"

static int failures;

static void expect(int condition, const char *what, int out) {
    if (!condition) {
        printf("  wrong: %s (%s)\n", what, out_names[out]);
        failures++;
    }
}

static size_t bad_elements(const struct problem *p, const struct inputs *in, const unsigned char *d, int sampled) {
    double *a = row_lengths(p->m * p->batch, p->k, in->a), *b = row_lengths(p->n * p->batch, p->k, in->b);
    struct verdict v = {.worst = compare_start(compare_bound(p->k, UMMA_KIND_F16)), .a_length = a, .b_length = b};
    if (sampled)
        check_some(p, in, d, &v);
    else
        check_all(p, in, d, &v);
    expect(!sampled || v.checked >= SAMPLES, "too few samples", p->out);
    free(a);
    free(b);
    return v.worst.bad;
}

/* Every element as it should be, rounded once. */
static void fill_right(const struct problem *p, const struct inputs *in, unsigned char *d) {
    for (int l = 0; l < p->batch; l++)
        for (int i = 0; i < p->m; i++)
            for (int j = 0; j < p->n; j++) {
                const size_t row = (size_t)l * p->m + i, at = row * p->n + j;
                double sum = 0;
                for (int k = 0; k < p->k; k++)
                    sum += (double)in->a[row * p->k + k] * in->b[((size_t)l * p->n + j) * p->k + k];
                sum = (double)p->alpha * sum + (p->beta != 0 ? (double)p->beta * in->c[at] : 0);
                out_store(p->out, (float)(p->relu && sum < 0 ? 0 : sum), d + at * out_bytes(p->out));
            }
}

static void try_wrong(const struct problem *p, const struct inputs *in, unsigned char *d, size_t at, float value,
                      const char *what) {
    unsigned char old[4];
    const size_t size = out_bytes(p->out);
    memcpy(old, d + at * size, size);
    out_store(p->out, value, d + at * size);
    expect(bad_elements(p, in, d, 0) == 1, what, p->out);
    expect(bad_elements(p, in, d, 1) >= 1, what, p->out);
    memcpy(d + at * size, old, size);
}

static void test(int out, float beta, int relu) {
    struct problem p = {};
    p.m = 200;
    p.n = 264;
    p.k = 48;
    p.batch = 2;
    p.out = out;
    p.alpha = 2;
    p.beta = beta;
    p.relu = relu;
    p.tile_n = 256;
    p.seed = 3;
    struct inputs in = inputs_make(&p);
    unsigned char *d = (unsigned char *)checked_malloc(in.d_count * out_bytes(out));
    fill_right(&p, &in, d);
    expect(bad_elements(&p, &in, d, 0) == 0, "a right D is refused", out);
    expect(bad_elements(&p, &in, d, 1) == 0, "a right D is refused by the sample", out);
    /* corners of tiles: rows 127, 128 and 199, columns 255, 256 and 263, of the first and the second matrix */
    const int rows[] = {0, 127, 128, 199, 200 + 127, 200 + 199}, columns[] = {0, 255, 256, 263};
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 4; c++) {
            const size_t at = (size_t)rows[r] * p.n + columns[c];
            const float right = out_load(out, d + at * out_bytes(out));
            try_wrong(&p, &in, d, at, NAN, "NaN");
            try_wrong(&p, &in, d, at, INFINITY, "infinity");
            try_wrong(&p, &in, d, at, right + 0.0625f * (1 + fabsf(right)), "a sixteenth too much");
        }
    inputs_free(&in);
    free(d);
}

int main(void) {
    for (int out = OUT_F32; out <= OUT_BF16; out++) {
        test(out, 0.5f, 0);
        test(out, 0, 1);
    }
    if (failures == 0)
        printf("PASS  verify: what is wrong is found\n");
    else
        printf("FAIL  verify: %d expectations\n", failures);
    return failures != 0;
}
