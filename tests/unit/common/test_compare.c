/* test_compare.c - the steps' judge: the reference product, the bound, and a comparison that nothing wrong
 * passes. */
#include "../../../common/compare.h"
#include "../../../common/reference.h"
#include "../../check.h"

enum { M = 5, N = 300, K = 70 }; /* no multiples of the reference's blocks */

static float a[M * K], b[N * K], c[M * N], d[M * N];
static double product[M * N];

static float next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state * 0x1p-31f;
}

static void fill(void) {
    uint32_t state = 7;
    for (int i = 0; i < M * K; i++)
        a[i] = next(&state);
    for (int i = 0; i < N * K; i++)
        b[i] = next(&state);
    for (int i = 0; i < M * N; i++)
        c[i] = next(&state);
}

static void reference(void) {
    reference_product(M, N, K, a, b, product);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int l = 0; l < K; l++)
                want += (double)a[i * K + l] * b[j * K + l];
            CHECK_NEAR(product[i * N + j], want, 1e-13);
        }
}

static struct compare_result judge(float alpha, float beta) {
    return compare_gemm(M, N, K, alpha, a, b, product, beta, beta != 0 ? c : NULL, d, compare_bound(K, UMMA_KIND_F16));
}

static void make_d(float alpha, float beta) {
    for (int i = 0; i < M * N; i++)
        d[i] = (float)(alpha * product[i] + beta * c[i]);
}

static void right_passes(void) {
    make_d(1.5f, -2.0f);
    struct compare_result r = judge(1.5f, -2.0f);
    CHECK_EQ(r.bad, 0);
    CHECK(r.worst >= 0 && r.worst < 1e-7);
    make_d(-1.0f, 0);
    CHECK_EQ(judge(-1.0f, 0).bad, 0); /* beta 0: C is not looked at, not even its pointer */
    memset(d, 0, sizeof d);
    CHECK_EQ(judge(0, 0).bad, 0); /* nothing was added up, and D is nothing */
}

/* One element spoilt: counted, and named as the worst. */
static void wrong_fails(float value) {
    make_d(1, 0.5f);
    d[3 * N + 257] = value;
    struct compare_result r = judge(1, 0.5f);
    CHECK_EQ(r.bad, 1);
    CHECK_EQ(r.row, 3);
    CHECK_EQ(r.column, 257);
    CHECK(!(r.worst <= r.bound));
    CHECK_NEAR(r.want, product[3 * N + 257] + 0.5 * c[3 * N + 257], 1e-12);
    CHECK_EQ(compare_report("the line of a failure", &r), 1);
}

/* The bound is tight enough to see one product of K missing, and wide enough for f32 sums. */
static void bound(void) {
    CHECK_NEAR(compare_bound(256, UMMA_KIND_F16), (256 + 16 + 1.5) / 8388608.0, 1e-15);
    CHECK(compare_bound(256, UMMA_KIND_TF32) > compare_bound(256, UMMA_KIND_F8F6F4));
    make_d(1, 0);
    d[0] -= a[9] * b[9];
    CHECK_EQ(judge(1, 0).bad, 1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int l = 0; l < K; l++)
                sum += a[i * K + l] * b[j * K + l];
            d[i * N + j] = sum;
        }
    CHECK_EQ(judge(1, 0).bad, 0);
}

/* A map of what a sample has looked at. */
struct looked {
    int m, n;
    unsigned char *at;
};

static void look(void *context, int row, int column) {
    struct looked *l = context;
    CHECK(row >= 0 && row < l->m && column >= 0 && column < l->n);
    l->at[row * l->n + column] = 1;
}

static bool any(const struct looked *l, int m0, int m1, int n0, int n1) {
    for (int i = m0; i < m1; i++)
        for (int j = n0; j < n1; j++)
            if (l->at[i * l->n + j])
                return true;
    return false;
}

/* Of every tile: the corners, and each edge between them. */
static void sample_looks(int m, int n, int tile_n, size_t least) {
    struct looked l = {m, n, calloc((size_t)m * (size_t)n, 1)};
    uint64_t state = 5;
    size_t tiles = 0, count = compare_sample(m, n, tile_n, least, &state, look, &l);
    for (int m0 = 0; m0 < m; m0 += 128)
        for (int n0 = 0; n0 < n; n0 += tile_n, tiles++) {
            int m1 = (m0 + 128 < m ? m0 + 128 : m) - 1, n1 = (n0 + tile_n < n ? n0 + tile_n : n) - 1;
            CHECK(any(&l, m0, m0 + 1, n0, n0 + 1) && any(&l, m1, m1 + 1, n0, n0 + 1));
            CHECK(any(&l, m0, m0 + 1, n1, n1 + 1) && any(&l, m1, m1 + 1, n1, n1 + 1));
            CHECK(any(&l, m0, m1 + 1, n0, n1 + 1));
        }
    CHECK_EQ(count, tiles * 12 > least ? tiles * 12 : least);
    free(l.at);
}

/* "auto" is a full check up to 1024 cubed and a sample above; what is asked for is done. */
static void modes(void) {
    CHECK_EQ(verify_mode(VERIFY_AUTO, 0x1p30), VERIFY_FULL);
    CHECK_EQ(verify_mode(VERIFY_AUTO, 0x1p30 + 1), VERIFY_SAMPLED);
    CHECK_EQ(verify_mode(VERIFY_FULL, 0x1p40), VERIFY_FULL);
    CHECK_EQ(verify_mode(VERIFY_NONE, 1), VERIFY_NONE);
}

int main(void) {
    modes();
    sample_looks(300, 520, 256, SAMPLES);
    sample_looks(1, 8, 256, 20);
    sample_looks(128, 256, 128, 0);
    fill();
    reference();
    right_passes();
    wrong_fails(NAN);
    wrong_fails(INFINITY);
    wrong_fails(-INFINITY);
    wrong_fails(1e30f);
    wrong_fails(0.75f);
    memset(d, 0xFF, sizeof d); /* never written: NaN everywhere */
    CHECK_EQ(judge(1, 0.5f).bad, M * N);
    bound();
    return check_report();
}
