/* engines/tc_chain.c - tcgen05.mma's products; contract in tc_chain.h, numerics in tc_mma.c and simd/multiply.h. */
#include "engines/tc_chain.h"

#include "base/heap.h"
#include "num/num.h"

#include <string.h>

/* Integers are summed in f32, which is exact below 2^24. */
_Static_assert(SIMD_MAX_K * 255 * 255 < 1 << 24, "a chain of 8-bit integers is exact");

/* Where the working memory for this CTA's operations hangs: of the thread that runs it, freed with xfree(), or its own;
 * NULL: there is none. */
static void **slot(const struct cta *cta) {
    if (!cta->island->timed)
        return &cta->island->worker->tc_scratch;
    return cta->tc ? &cta->tc->scratch : NULL;
}

struct tc_scratch *tc_scratch_of(struct cta *cta) {
    tc_state_of(cta);
    void **at = slot(cta);
    if (!*at) {
        struct tc_scratch *s = cta->island->timed ? worker_alloc_zeroed(cta->island->worker, sizeof *s, 0)
                                                  : xaligned(_Alignof(struct tc_scratch), sizeof *s);
        s->chain.k = 0;
        s->decoder.latest[0].rows = s->decoder.latest[1].rows = 0;
        s->best = simd_best((enum simd)cta->gpu->config.host_vectors);
        s->available = 0;
        for (enum simd i = SIMD_PORTABLE; i <= s->best; i++)
            s->available |= (uint32_t)simd_available(i) << i;
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
    if (c->simd != SIMD_PORTABLE) /* the vector paths have a fused multiply-add and do not ask */
        return false;
    if (tc_is_scaled(c->mma.kind)) /* factors may take a product anywhere */
        return false;
    if (c->id.a != TC_BF16 && c->id.a != TC_TF32 && c->id.b != TC_BF16)
        return true;
    uint32_t la = 255, ha = 0, lb = 255, hb = 0;
    for (uint32_t r = 0; r < p->rows; r += SIMD_PANEL)
        exponents(p->a + simd_tile_a(r, 0), (size_t)SIMD_PANEL * c->k, &la, &ha);
    for (uint32_t n = 0; n < p->n; n++)
        exponents(p->b + simd_tile_b(n, 0), c->k, &lb, &hb);
    return la + lb >= 125 && ha + hb <= 380;
}

/* --- D on the side ------------------------------------------------------------------------------------------------ */

/* The cells of 16 rows in a column of tensor memory. */
static uint32_t *cells(const struct tc_chain *c, const struct tc_part *p, uint32_t n, uint32_t segment) {
    return &p->cta->sm->tmem->cell[c->column + n][p->lane[segment]];
}

/* D as f32 bits into the side buffer, element (row, n) at d[n * rows + row]. */
static void read_side(struct tc_scratch *s, const struct tc_part *p) {
    for (uint32_t n = 0; n < p->n; n++)
        for (uint32_t i = 0; i < p->rows / SIMD_SEGMENT; i++) {
            uint32_t *to = s->d + (size_t)n * p->rows + i * SIMD_SEGMENT;
            const uint32_t *from = cells(&s->chain, p, n, i);
            if (s->chain.id.d != TC_D_F16) {
                memcpy(to, from, SIMD_SEGMENT * sizeof *to);
                continue;
            }
            uint8_t half[2 * SIMD_SEGMENT];
            float wide[SIMD_SEGMENT];
            for (uint32_t r = 0; r < SIMD_SEGMENT; r++) {
                half[2 * r] = (uint8_t)from[r];
                half[2 * r + 1] = (uint8_t)(from[r] >> 8);
            }
            num_decode_row_f16(half, wide, SIMD_SEGMENT);
            memcpy(to, wide, sizeof wide);
        }
}

/* Integers, whose sum is an f32: added to D or in place of it. */
static void integer_results(const struct tc_chain *c, const uint32_t *sum_bits, uint32_t *to) {
    const uint32_t old = c->mma.accumulate ? UINT32_MAX : 0;
    if (!c->id.saturate) {
        for (uint32_t i = 0; i < SIMD_SEGMENT; i++)
            to[i] = (to[i] & old) + (uint32_t)(int32_t)num_f32_from_bits(sum_bits[i]);
        return;
    }
    for (uint32_t i = 0; i < SIMD_SEGMENT; i++) {
        int64_t sum = (int64_t)num_f32_from_bits(sum_bits[i]) + (int32_t)(to[i] & old);
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        to[i] = (uint32_t)(uint64_t)sum;
    }
}

static void write_side(struct tc_scratch *s, const struct tc_part *p) {
    for (uint32_t n = 0; n < p->n; n++)
        for (uint32_t i = 0; i < p->rows / SIMD_SEGMENT; i++) {
            const uint32_t *from = s->d + (size_t)n * p->rows + i * SIMD_SEGMENT;
            uint32_t *to = cells(&s->chain, p, n, i), v[SIMD_SEGMENT];
            memcpy(v, to, sizeof v);
            if (s->chain.id.d == TC_D_S32)
                integer_results(&s->chain, from, v);
            if (s->chain.id.d == TC_D_F16)
                simd_narrow_f16(from, v, SIMD_SEGMENT);
            if (s->chain.id.d == TC_D_F16 && tc_is_fused(&s->chain)) /* zero results are +0 */
                for (uint32_t r = 0; r < SIMD_SEGMENT; r++)
                    v[r] = v[r] == 0x8000 ? 0 : v[r];
            const uint32_t *result = s->chain.id.d == TC_D_F32 ? from : v;
            uint32_t keep = p->keep[p->lane[i] / 32] >> p->lane[i] % 32;
            if ((keep & 0xffff) == 0xffff) {
                memcpy(to, result, sizeof v);
                continue;
            }
            for (uint32_t r = 0; r < SIMD_SEGMENT; r++)
                to[r] = keep >> r & 1 ? result[r] : to[r];
        }
}

/* --- the product -------------------------------------------------------------------------------------------------- */

/* bf16 numbers whose sum an element is. */
static unsigned parts_of(enum tc_elem e) { return e == TC_F16 || e == TC_TF32 ? 2 : 1; }

/* Elements along K whose even and odd ones are summed apart (simd/multiply.h). */
static uint32_t step_of(const struct tc_idesc *id) {
    if (parts_of(id->a) * parts_of(id->b) > 1)
        return 0;
    return id->a == TC_BF16 ? 16 : 32;
}

static bool run_amx(struct tc_scratch *s, const struct tc_part *p, const struct simd_tile *t, bool same_b) {
    const struct tc_chain *c = &s->chain;
    return c->simd == SIMD_AMX && (t->step || p->cta->gpu->config.umma == MACH_UMMA_FAST) &&
           simd_amx_multiply(t, parts_of(c->id.a), parts_of(c->id.b), same_b, &s->amx);
}

/* Exponent of the type's subnormals. */
static int least_of(enum tc_elem e) {
    static const int least[] = {
        [TC_F16] = -14, [TC_BF16] = -126, [TC_TF32] = -126, [TC_E4M3] = -6,  [TC_E5M2] = -14,
        [TC_E2M3] = 0,  [TC_E3M2] = -2,   [TC_E2M1] = 0,    [TC_E2M1X2] = 0,
    };
    return least[e];
}

/* --umma=b200: the operations of a chain are summed one after the other. */
static void multiply_fused(struct tc_scratch *s, const struct tc_part *p, const struct simd_tile *t, bool same_b) {
    const struct tc_chain *c = &s->chain;
    struct simd_fused f = {
        .t = *t,
        .least_a = least_of(c->id.a),
        .least_b = least_of(c->id.b),
        .least_d = c->id.d == TC_D_F16 ? -14 : -126,
        .floor = c->id.d == TC_D_F16    ? -21
                 : c->id.a == TC_E2M1X2 ? -139
                                        : -133,
        .shift = (int)c->mma.scale_d,
        .odd = c->id.d == TC_D_F16,
        .sfa = p->sfa,
        .sfb = p->sfb,
        .factors = p->sfa ? c->id.k / c->mma.block : 0,
        .least_scale = c->id.scale_ue4m3 ? -6 : -127,
        .work = &s->exponents,
    };
    f.t.step = c->id.k;
    if (c->id.a == TC_E2M1X2)
        simd_fused_blocks(c->simd, &f);
    else
        simd_fused_multiply(c->simd, &f, same_b);
}

void tc_multiply_part(struct tc_scratch *s, const struct tc_part *p, bool same_b) {
    const struct tc_chain *c = &s->chain;
    bool side = c->id.d != TC_D_F32 || p->partial, integer = c->id.d == TC_D_S32;
    struct simd_tile t = {
        .d = side ? s->d : p->cta->sm->tmem->cell[c->column],
        .d_stride = side ? p->rows : TMEM_LANES,
        .segments = p->rows / SIMD_SEGMENT,
        .n = p->n,
        .k = c->k,
        .step = step_of(&c->id),
        .a = p->a,
        .b = p->b,
        .tiles = c->tiles,
        .tiles_a = p->row_a,
        .tiles_b = p->n0,
        .accumulate = c->mma.accumulate && !integer,
        .scale = 1.0f / (float)(1u << c->mma.scale_d),
        .exact_products = !tc_is_fused(c) && products_exact(c, p),
    };
    for (uint32_t i = 0; i < t.segments; i++)
        t.lane[i] = side ? i * SIMD_SEGMENT : p->lane[i];
    if (side && t.accumulate)
        read_side(s, p);
    if (tc_is_fused(c)) {
        multiply_fused(s, p, &t, same_b);
    } else if (!run_amx(s, p, &t, same_b)) {
        if (t.tiles)
            simd_amx_unpack(&s->amx, &t, p->a, p->b);
        simd_multiply(c->simd, &t);
    }
    if (side)
        write_side(s, p);
}

void tc_finish(struct tc_scratch *s) {
    const struct tc_part *p = s->chain.part;
    for (uint32_t i = 0; s->chain.k && i < s->chain.num_parts; i++)
        tc_multiply_part(s, &p[i], i && p[i].b == p[i - 1].b);
    s->chain.k = 0;
}

static struct tc_scratch *scratch_at(const struct cta *cta) {
    void **at = slot(cta);
    return at ? *at : NULL;
}

void tc_flush(const struct cluster *cl) {
    for (uint32_t r = 0; r < (cl->cta[0].island->timed ? cl->num_ctas : 1); r++) {
        struct tc_scratch *s = scratch_at(&cl->cta[r]);
        if (s)
            tc_finish(s);
    }
}

/* The working memory with a chain of this CTA's, its own and then its peer's; NULL: there is none. */
static struct tc_scratch *chain_of(const struct cta *cta, bool peers) {
    const struct cluster *cl = cta->cluster;
    const uint32_t rank = peers ? cta->rank ^ 1 : cta->rank;
    struct tc_scratch *s = rank < cl->num_ctas ? scratch_at(&cl->cta[rank]) : NULL;
    return s && s->chain.k && (s->chain.pair[0] == cta || s->chain.pair[1] == cta) ? s : NULL;
}

void tc_sync(const struct cta *cta, uint32_t column, uint32_t n) {
    for (unsigned peers = 0; peers < 2; peers++) {
        struct tc_scratch *s = chain_of(cta, peers);
        const uint32_t first = s ? s->chain.column : 0, end = s ? first + s->chain.part[0].n : 0;
        if (column < end && first < (uint64_t)column + n)
            tc_finish(s);
    }
}

void tc_drop(struct cta *cta) {
    for (unsigned peers = 0; peers < 2; peers++) {
        struct tc_scratch *s = chain_of(cta, peers);
        if (s)
            s->chain.k = 0;
    }
    if (cta->island->timed && cta->tc) {
        worker_free(cta->island->worker, cta->tc->scratch);
        cta->tc->scratch = NULL;
    }
}
