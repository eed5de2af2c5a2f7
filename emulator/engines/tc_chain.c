/* engines/tc_chain.c - tcgen05.mma's products; contract in tc_chain.h, numerics in tc_mma.c and tc_kernel.h. */
#include "engines/tc_chain.h"

#include "num/num.h"

#include <stdlib.h>
#include <string.h>

/* Integers are summed in f32, which is exact below 2^24. */
_Static_assert(TC_CHAIN_K * 255 * 255 < 1 << 24, "a chain of 8-bit integers is exact");

/* Where the working memory of the thread that runs this CTA hangs; freed with free(). */
static void **slot(const struct cta *cta) { return &cta->island->worker->tc_scratch; }

struct tc_scratch *tc_scratch_of(const struct cta *cta) {
    void **at = slot(cta);
    if (!*at) {
        struct tc_scratch *s = aligned_alloc(_Alignof(struct tc_scratch), sizeof *s);
        if (!s)
            diag_broken("out of host memory: %zu bytes for tcgen05.mma", sizeof *s);
        s->chain.k = 0;
        *at = s;
    }
    return *at;
}

/* Smallest and largest biased exponent of the finite non-zero ones of `n` elements (subnormals count as 1). */
static void exponents(const float *x, size_t n, uint32_t *low, uint32_t *high) {
    for (size_t i = 0; i < n; i++) {
        uint32_t u = num_f32_bits(x[i]) & UINT32_C(0x7fffffff), e = u >> 23;
        if (u == 0 || e == 255)
            continue;
        e = e ? e : 1;
        *low = e < *low ? e : *low;
        *high = e > *high ? e : *high;
    }
}

/* Are all products exact in f32? bf16 and tf32 have the exponents of f32; with at most 11 significant bits
 * each, the last bit of a product is worth at least 2^(ea + eb - 254 - 20), which f32 holds from 2^-149 up.
 */
static bool products_exact(const struct tc_chain *c, const struct tc_part *p) {
    if (c->simd != TC_SIMD_PORTABLE) /* the vector paths have a fused multiply-add and do not ask */
        return false;
    if (tc_is_scaled(c->mma.kind)) /* factors may take a product anywhere */
        return false;
    if (c->id.a != TC_BF16 && c->id.a != TC_TF32 && c->id.b != TC_BF16)
        return true;
    uint32_t la = 255, ha = 0, lb = 255, hb = 0;
    for (uint32_t r = 0; r < p->rows; r += TC_PANEL)
        exponents(p->a + tc_tile_a(r, 0), (size_t)TC_PANEL * c->k, &la, &ha);
    for (uint32_t n = 0; n < p->n; n++)
        exponents(p->b + tc_tile_b(n, 0), c->k, &lb, &hb);
    return la + lb >= 125 && ha + hb <= 380;
}

/* --- D on the side --- */

/* The row's cell in a column of tensor memory. */
static uint32_t *cell(const struct tc_chain *c, const struct tc_part *p, uint32_t n, uint32_t row) {
    return &p->cta->sm->tmem->cell[c->column + n][p->lane[row / 16] + row % 16];
}

/* D as f32 bits into the side buffer, element (row, n) at d[n * rows + row]. */
static void read_side(struct tc_scratch *s, const struct tc_part *p) {
    for (uint32_t n = 0; n < p->n; n++) {
        uint32_t *to = s->d + (size_t)n * p->rows;
        uint8_t half[2 * TC_MAX_M];
        float wide[TC_MAX_M];
        for (uint32_t r = 0; r < p->rows; r++) {
            to[r] = *cell(&s->chain, p, n, r);
            half[2 * r] = (uint8_t)to[r];
            half[2 * r + 1] = (uint8_t)(to[r] >> 8);
        }
        if (s->chain.id.d != TC_D_F16)
            continue;
        num_decode_row_f16(half, wide, p->rows);
        memcpy(to, wide, p->rows * sizeof *to);
    }
}

/* f32 bits to f16 bits, to nearest even; NaN is 0x7fff. */
static uint32_t f16_of(uint32_t bits) {
    uint32_t sign = bits >> 16 & 0x8000, a = bits & UINT32_C(0x7fffffff);
    if (a > UINT32_C(0x7f800000))
        return NUM_NAN_F16;
    if (a >= UINT32_C(0x477ff000)) /* 65520 and more */
        return sign | 0x7c00;
    if (a < UINT32_C(0x38800000)) /* below 2^-14: adding 0.5 rounds at 2^-24, the last place of a subnormal */
        return sign | (num_f32_bits(num_f32_from_bits(a) + 0.5f) - UINT32_C(0x3f000000));
    return sign | (a - UINT32_C(0x38000000) + 0xfff + (a >> 13 & 1)) >> 13;
}

static uint32_t integer_result(const struct tc_chain *c, uint32_t old, uint32_t sum_bits) {
    int64_t sum = (int64_t)num_f32_from_bits(sum_bits) + (c->mma.accumulate ? (int32_t)old : 0);
    if (c->id.saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(uint64_t)sum;
}

static void write_side(struct tc_scratch *s, const struct tc_part *p) {
    for (uint32_t n = 0; n < p->n; n++)
        for (uint32_t r = 0; r < p->rows; r++) {
            uint32_t lane = p->lane[r / 16] + r % 16, v = s->d[n * p->rows + r];
            if (!(p->keep[lane / 32] >> (lane % 32) & 1))
                continue;
            uint32_t *to = cell(&s->chain, p, n, r);
            if (s->chain.id.d == TC_D_F16)
                v = f16_of(v);
            else if (s->chain.id.d == TC_D_S32)
                v = integer_result(&s->chain, *to, v);
            *to = v;
        }
}

/* --- the product --- */

void tc_multiply_part(struct tc_scratch *s, const struct tc_part *p) {
    const struct tc_chain *c = &s->chain;
    bool side = c->id.d != TC_D_F32 || p->partial, integer = c->id.d == TC_D_S32;
    struct tc_tile t = {
        .d = side ? s->d : p->cta->sm->tmem->cell[c->column],
        .d_stride = side ? p->rows : TMEM_LANES,
        .segments = p->rows / TC_SEGMENT,
        .n = p->n,
        .k = c->k,
        .a = p->a,
        .b = p->b,
        .accumulate = c->mma.accumulate && !integer,
        .scale = 1.0f / (float)(1u << c->mma.scale_d),
        .exact_products = products_exact(c, p),
    };
    for (uint32_t i = 0; i < t.segments; i++)
        t.lane[i] = side ? i * TC_SEGMENT : p->lane[i];
    if (side && t.accumulate)
        read_side(s, p);
    tc_kernel_run(c->simd, &t);
    if (side)
        write_side(s, p);
}

void tc_finish(struct tc_scratch *s) {
    for (uint32_t i = 0; s->chain.k && i < s->chain.num_parts; i++)
        tc_multiply_part(s, &s->chain.part[i]);
    s->chain.k = 0;
}

void tc_flush(const struct cluster *cl) {
    struct tc_scratch *s = *slot(&cl->cta[0]);
    if (s)
        tc_finish(s);
}

static bool belongs(const struct tc_chain *c, const struct cta *cta) {
    return c->k && (c->pair[0] == cta || c->pair[1] == cta);
}

void tc_sync(const struct cta *cta, uint32_t column, uint32_t n) {
    struct tc_scratch *s = *slot(cta);
    if (!s || !belongs(&s->chain, cta))
        return;
    uint32_t first = s->chain.column, end = first + s->chain.part[0].n;
    if (column < end && first < (uint64_t)column + n)
        tc_finish(s);
}

void tc_drop(const struct cta *cta) {
    struct tc_scratch *s = *slot(cta);
    if (s && belongs(&s->chain, cta))
        s->chain.k = 0;
}
