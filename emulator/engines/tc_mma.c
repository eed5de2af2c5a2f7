/* engines/tc_mma.c - tcgen05.mma (PTX ISA 9.7.16.10).
 *
 * D lies in tensor memory as 9.7.16.10.5 names it (the figures' facts from CUTLASS mma_traits_sm100_frag.hpp):
 *  - cta_group::1, M = 128 (layout D): row r in lane r.
 *  - cta_group::1, M = 64 (layout F): row r in lane 32 * (r / 16) + r % 16, plus 16 when the address says lane 16.
 *  - cta_group::2, M = 256 (layout A): row r in lane r % 128 of CTA r / 128 of the pair, N columns.
 *  - cta_group::2, M = 128 (layout B, "2x2"): row r in CTA r / 64 of the pair, in lane r % 64 for n < N / 2 and lane
 *    64 + r % 64 for the others; N / 2 columns, element (r, n) in column n % (N / 2).
 * Element (r, n) is a whole cell of its column; 16-bit results are zero-extended. A in tensor memory uses the same lanes
 * as D, 8 columns; in layout B its 64 rows stand twice, in lanes 0-63 for the first half of N and in 64-127 for the
 * second (CUTLASS's "duplicated" allocation). Of a pair's matrices in shared memory each CTA holds one half, the even
 * CTA the first: M / 2 rows of A, N / 2 rows of B (ALayout and BLayout of CUTLASS's 2x1SM traits), at the address that
 * the one descriptor names in each CTA's own shared memory. disable-output-lane: the even CTA's lanes come first.
 *
 * Numerics: tc_kernel.h; a 16-bit D is widened, summed in f32 over the instruction's K and rounded once; integers are
 * summed exactly, then added to D modulo 2^32 or saturated. With block scaling the elements of A and B are multiplied
 * by their scale factors first, in f32, which is exact unless it leaves f32's range; the chip's order is not documented.
 * scale_A has the rows of A that the CTA multiplies, scale_B all N rows of B in every CTA (tc_operand.h); in layout B
 * lanes 0-63 have scale_B of the first half of N and lanes 64-127 that of the second.
 */
#include "base/arena.h"
#include "engines/tc_kernel.h"
#include "engines/tc_operand.h"
#include "num/num.h"

#include <string.h>

#define MAX_M 128u
#define MAX_STEPS 4u /* operations that are multiplied at once: 128 bytes along K */
#define MAX_K 128u   /* of all together */

struct tc_scratch {
    struct tc_decoder decoder;
    float a[MAX_M * MAX_K];
    float b[TC_MAX_ROWS * MAX_K];
    float scaled_b[TC_MAX_ROWS * TC_MAX_K]; /* of one part */
    float factors[TC_MAX_ROWS * 4];
    uint32_t d[TC_MAX_ROWS * MAX_M]; /* D on the side, when it is not f32 or keeps some lanes */
};

struct mma_op {
    struct async_op op;
    struct tc_mma mma;
    bool done; /* together with an earlier operation */
};

/* One execution of an operation, or of some that follow each other along K, and the part of D that is worked on: some rows and columns in the tensor memory of one
 * CTA. cta_group::1 has one part, a pair with M = 256 two, a pair with M = 128 four. */
struct job {
    const struct mach_origin *origin;
    const struct tc_mma *mma;
    struct tc_idesc id;
    const struct mma_op *step[MAX_STEPS]; /* the operations, the first's origin and mma are those above */
    uint32_t steps, k;                    /* their number, and K of all together */
    struct tc_scratch *s;
    enum tc_simd simd;
    struct gpu *gpu;
    struct cta *pair[2]; /* pair[0] alone with cta_group::1 */
    uint32_t column;     /* D's first */
    /* the part */
    struct cta *cta;
    uint32_t half;     /* index in pair */
    uint32_t rows, n;  /* its extent */
    uint32_t row0, n0; /* of matrix D, its first element */
    uint32_t lane[8];  /* first lane of each 16 rows */
    uint32_t used[4];  /* its lanes, bit per lane */
    uint32_t keep[4];  /* those of them that are written */
    bool partial;      /* some lane is disabled */
};

static const struct diag bad_lane = {
    .id = "tcgen05-mma-lane",
    .rule = "D and A in tensor memory start at lane 0; with M = 64 both start at lane 0 or both at lane 16",
    .section = "PTX ISA 9.7.16.10.5",
    .hint =
        "the layout of D is fixed by M and the cta_group; warps choose their lanes in tcgen05.ld, not here",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
};
static const struct diag bad_ashift = {
    .id = "tcgen05-mma-ashift",
    .rule = ".ashift is allowed with M = 128 or 256 and A in tensor memory only",
    .section = "PTX ISA 9.7.16.10.9.1",
    .cuda_error = DIAG_CUDA_ILLEGAL_INSTRUCTION,
};
static const struct diag poisoned_d = {
    .id = "tcgen05-accumulator-uninitialised",
    .rule = "with enable-input-d true, D is read and must have been written",
    .section = "PTX ISA 9.7.16.10",
    .hint = "pass a false enable-input-d to the first tcgen05.mma of each accumulator",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};

static bool fault(const struct job *j, const struct tc_problem *p) {
    mach_fault(j->gpu, j->origin, p->rule, "%s", p->text);
    return false;
}

static bool is_layout_f(const struct job *j) { return j->id.m == 64; }
static bool is_layout_b(const struct job *j) { return j->mma->group == 2 && j->id.m == 128; }

/* First lanes of D and A. */
static bool check_lanes(const struct job *j) {
    uint32_t base = j->mma->d >> 16, a_lane = (uint32_t)j->mma->a >> 16;
    if (base != 0 && !(is_layout_f(j) && base == 16))
        mach_fault(j->gpu, j->origin, &bad_lane, "D starts at lane %u with M = %u (address 0x%08x)", base,
                   j->id.m, j->mma->d);
    else if (j->mma->a_in_tmem && a_lane != base)
        mach_fault(j->gpu, j->origin, &bad_lane, "A starts at lane %u, D at lane %u, with M = %u", a_lane,
                   base, j->id.m);
    return !j->gpu->fault;
}

static uint32_t num_parts(const struct job *j) { return is_layout_b(j) ? 4 : j->mma->group; }

/* Extent and lanes of part i; the parts of a CTA follow each other. */
static void choose_part(struct job *j, uint32_t i) {
    bool f = is_layout_f(j), b = is_layout_b(j);
    uint32_t base = b ? i % 2 * 64 : j->mma->d >> 16;
    j->half = b ? i / 2 : i;
    j->cta = j->pair[j->half];
    j->rows = j->mma->group == 2 ? j->id.m / 2 : j->id.m;
    j->row0 = j->half * j->rows;
    j->n = b ? j->id.n / 2 : j->id.n;
    j->n0 = b ? i % 2 * j->n : 0;
    for (uint32_t s = 0; s < j->rows / 16; s++)
        j->lane[s] = base + s * (f ? 32 : 16);
    j->partial = false;
    for (uint32_t w = 0; w < 4; w++) {
        j->used[w] = f ? UINT32_C(0xffff) << base : !b || w / 2 == i % 2 ? UINT32_MAX : 0;
        j->keep[w] = j->used[w] & ~j->mma->disable[4 * j->half + w];
        j->partial |= j->keep[w] != j->used[w];
    }
}

/* D's columns in this part's CTA, and, when they are read, what they hold. */
static bool check_accumulator(const struct job *j) {
    if (!tc_check_columns(j->cta, j->origin, "accumulator D", j->column, j->n))
        return false;
    const struct tmem *t = j->cta->sm->tmem;
    for (uint32_t n = 0; j->mma->accumulate && n < j->n; n++)
        for (uint32_t w = 0; w < 4; w++) {
            uint32_t bad = t->poison[j->column + n][w] & j->keep[w];
            if (!bad)
                continue;
            uint32_t lane = 32 * w + (uint32_t)__builtin_ctz(bad);
            uint32_t row = is_layout_f(j) ? lane / 32 * 16 + lane % 16 : lane % j->rows;
            mach_fault(
                j->gpu, j->origin, &poisoned_d,
                "accumulator D, row %u, column %u: lane %u, column %u of tensor memory%s was never written",
                j->row0 + row, j->n0 + n, lane, j->column + n,
                j->mma->group == 1 ? ""
                : j->half          ? " of the pair's odd CTA"
                                   : " of the pair's even CTA");
            return false;
        }
    return true;
}

/* Fetches and decodes an operand of step i out of one CTA. `bits`: descriptor or tensor memory address; out: where the
 * first step's elements go. */
static bool load_operand(const struct job *j, struct cta *cta, const struct tc_operand *o, bool in_tmem,
                         uint32_t i, float *out) {
    const struct mach_origin *origin = &j->step[i]->op.origin;
    uint64_t bits = o->panels ? j->step[i]->mma.a : j->step[i]->mma.b;
    struct tc_decoder *s = &j->s->decoder;
    struct tc_problem problem;
    struct tc_desc d;
    s->simd = j->simd;
    out += o->panels ? (size_t)i * o->k * TC_PANEL : (size_t)i * o->k;
    if (in_tmem) {
        uint32_t column = bits & 0xffff;
        if (!tc_check_columns(cta, origin, "matrix A", column, TC_ROW_BYTES / 4) ||
            !tc_fetch_tmem(cta, origin, o, column, j->lane, s->raw))
            return false;
        if (j->mma->ashift) /* row r takes row r + 1; the last row stays */
            memmove(s->raw, s->raw + TC_ROW_BYTES, (size_t)(o->rows - 1) * TC_ROW_BYTES);
        tc_decode(s, o, true, out);
        return true;
    }
    if (!tc_desc_decode(bits, o->matrix, &d, &problem) ||
        !tc_check_swizzle(o->matrix, o->elem, o->mn_major, d.swizzle, &problem)) {
        mach_fault(j->gpu, origin, problem.rule, "%s", problem.text);
        return false;
    }
    return tc_load_smem(s, cta, origin, o, &d, out);
}

/* Smallest and largest biased exponent of the finite non-zero elements (subnormals count as 1). */
static void exponents(const float *x, size_t n, uint32_t *low, uint32_t *high) {
    uint32_t lo = 255, hi = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t u = num_f32_bits(x[i]) & UINT32_C(0x7fffffff), e = u >> 23;
        if (u == 0 || e == 255)
            continue;
        e = e ? e : 1;
        lo = e < lo ? e : lo;
        hi = e > hi ? e : hi;
    }
    *low = lo;
    *high = hi;
}

/* Are all products exact in f32? bf16 and tf32 have the exponents of f32; with at most 11 significant bits
 * each, the last bit of a product is worth at least 2^(ea + eb - 254 - 20), which f32 holds from 2^-149 up.
 */
static bool products_exact(const struct job *j, enum tc_simd simd) {
    if (simd != TC_SIMD_PORTABLE) /* the vector paths have a fused multiply-add and do not ask */
        return false;
    if (tc_is_scaled(j->mma->kind)) /* factors may take a product anywhere */
        return false;
    if (j->id.a != TC_BF16 && j->id.a != TC_TF32 && j->id.b != TC_BF16)
        return true;
    uint32_t la, ha, lb, hb;
    exponents(j->s->a, (size_t)j->rows * j->k, &la, &ha);
    exponents(j->s->b + (size_t)j->n0 * j->k, (size_t)j->n * j->k, &lb, &hb);
    return la + lb >= 125 && ha + hb <= 380;
}

/* The rows of A that this part multiplies. */
static bool load_a(const struct job *j) {
    const struct tc_idesc *id = &j->id;
    struct tc_operand a = {"A", id->a, j->rows, id->k, id->mn_major_a, true, j->k};
    for (uint32_t i = 0; i < j->steps; i++)
        if (!load_operand(j, j->cta, &a, j->mma->a_in_tmem, i, j->s->a))
            return false;
    if (id->negate_a != id->negate_b)
        for (uint32_t i = 0; i < j->rows * j->k; i++)
            j->s->a[i] = -j->s->a[i];
    return true;
}

/* The whole of B: a pair's CTAs hold half of its rows each. */
static bool load_b(const struct job *j) {
    const struct tc_idesc *id = &j->id;
    uint32_t rows = j->mma->group == 2 ? id->n / 2 : id->n;
    struct tc_operand b = {"B", id->b, rows, id->k, id->mn_major_b, false, j->k};
    for (uint32_t h = 0; h < j->mma->group; h++)
        for (uint32_t i = 0; i < j->steps; i++)
            if (!load_operand(j, j->pair[h], &b, false, i, j->s->b + (size_t)h * rows * j->k))
                return false;
    return true;
}

/* Block scaling: the rows of A, and those of B that this part multiplies, times their factors. */
static bool scale_operands(const struct job *j) {
    const struct tc_idesc *id = &j->id;
    uint32_t block = j->mma->block, factors = id->k / block;
    bool right = is_layout_b(j) && j->n0;
    struct tc_scales a = {.matrix = "scale_A",
                          .taddr = j->mma->sfa,
                          .rows = j->rows,
                          .factors = factors,
                          .id = id->sfa_id,
                          .count = 4,
                          .ue4m3 = id->scale_ue4m3};
    struct tc_scales b = {.matrix = "scale_B",
                          .taddr = j->mma->sfb,
                          .rows = j->n,
                          .factors = factors,
                          .id = id->sfb_id,
                          .first = right ? 2 : 0,
                          .count = is_layout_b(j) ? 2 : 4,
                          .ue4m3 = id->scale_ue4m3};
    float *f = j->s->factors;
    if (!tc_fetch_scales(j->cta, j->origin, &a, f))
        return false;
    for (uint32_t k = 0; k < id->k; k++)
        for (uint32_t r = 0; r < j->rows; r++)
            j->s->a[tc_tile_a(id->k, r, k)] *= f[r * factors + k / block];
    if (!tc_fetch_scales(j->cta, j->origin, &b, f))
        return false;
    for (uint32_t n = 0; n < j->n; n++)
        for (uint32_t k = 0; k < id->k; k++)
            j->s->scaled_b[n * id->k + k] = j->s->b[(j->n0 + n) * id->k + k] * f[n * factors + k / block];
    return true;
}

/* --- D --- */

/* The row's cell in a column of tensor memory. */
static uint32_t *cell(const struct job *j, uint32_t n, uint32_t row) {
    return &j->cta->sm->tmem->cell[j->column + n][j->lane[row / 16] + row % 16];
}

/* D as f32 bits into the side buffer, element (row, n) at d[n * rows + row]. */
static void read_side(const struct job *j) {
    for (uint32_t n = 0; n < j->n; n++) {
        uint32_t *to = j->s->d + (size_t)n * j->rows;
        uint8_t half[2 * MAX_M];
        float wide[MAX_M];
        for (uint32_t r = 0; r < j->rows; r++) {
            to[r] = *cell(j, n, r);
            half[2 * r] = (uint8_t)to[r];
            half[2 * r + 1] = (uint8_t)(to[r] >> 8);
        }
        if (j->id.d != TC_D_F16)
            continue;
        num_decode_row_f16(half, wide, j->rows);
        memcpy(to, wide, j->rows * sizeof *to);
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

static uint32_t integer_result(const struct job *j, uint32_t old, uint32_t sum_bits) {
    int64_t sum = (int64_t)num_f32_from_bits(sum_bits) + (j->mma->accumulate ? (int32_t)old : 0);
    if (j->id.saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(uint64_t)sum;
}

static void write_side(const struct job *j) {
    for (uint32_t n = 0; n < j->n; n++)
        for (uint32_t r = 0; r < j->rows; r++) {
            uint32_t lane = j->lane[r / 16] + r % 16, v = j->s->d[n * j->rows + r];
            if (!(j->keep[lane / 32] >> (lane % 32) & 1))
                continue;
            uint32_t *to = cell(j, n, r);
            if (j->id.d == TC_D_F16)
                v = f16_of(v);
            else if (j->id.d == TC_D_S32)
                v = integer_result(j, *to, v);
            *to = v;
        }
}

static void multiply(const struct job *j) {
    enum tc_simd simd = j->simd;
    bool side = j->id.d != TC_D_F32 || j->partial, integer = j->id.d == TC_D_S32;
    struct tc_tile t = {
        .d = side ? j->s->d : j->cta->sm->tmem->cell[j->column],
        .d_stride = side ? j->rows : TMEM_LANES,
        .segments = j->rows / TC_SEGMENT,
        .n = j->n,
        .k = j->k,
        .a = j->s->a,
        .b = tc_is_scaled(j->mma->kind) ? j->s->scaled_b : j->s->b + (size_t)j->n0 * j->k,
        .accumulate = j->mma->accumulate && !integer,
        .scale = 1.0f / (float)(1u << j->mma->scale_d),
        .exact_products = products_exact(j, simd),
    };
    for (uint32_t s = 0; s < t.segments; s++)
        t.lane[s] = side ? s * TC_SEGMENT : j->lane[s];
    if (side && t.accumulate)
        read_side(j);
    tc_kernel_run(simd, &t);
    if (side)
        write_side(j);
    struct tmem *m = j->cta->sm->tmem;
    for (uint32_t n = 0; n < j->n; n++)
        for (uint32_t w = 0; w < 4; w++)
            m->poison[j->column + n][w] &= ~j->keep[w];
}

static bool check_form(struct job *j) {
    struct tc_problem problem;
    if (!tc_idesc_decode(j->mma->kind, j->mma->group, j->mma->idesc, j->mma->a_in_tmem, &j->id, &problem))
        return fault(j, &problem);
    if (tc_is_scaled(j->mma->kind) &&
        !tc_check_scale(j->mma->kind, &j->id, j->id.k / j->mma->block, &problem))
        return fault(j, &problem);
    if (j->mma->ashift && (j->id.m == 64 || !j->mma->a_in_tmem)) {
        mach_fault(j->gpu, j->origin, &bad_ashift, ".ashift with M = %u and A in %s memory", j->id.m,
                   j->mma->a_in_tmem ? "tensor" : "shared");
        return false;
    }
    return true;
}

/* Does `next` continue the sum of `first`: the same but for the operands, D read as it was written? An f32 D is the
 * same whether it is kept between the two or stored and read again, so they may run as one. */
static bool continues(const struct mma_op *first, const struct mma_op *next) {
    const struct tc_mma *a = &first->mma, *b = &next->mma;
    return b->kind == a->kind && b->group == a->group && b->d == a->d && b->idesc == a->idesc &&
           !tc_is_scaled(a->kind) && !b->a_in_tmem && !a->a_in_tmem && b->accumulate && !b->scale_d &&
           !b->ashift && !a->ashift && memcmp(a->disable, b->disable, sizeof a->disable) == 0;
}

/* The operation and those behind it that continue it, unless a seed chooses when each runs. */
static void choose_steps(struct job *j, struct mma_op *first) {
    j->step[0] = first;
    j->steps = 1;
    for (struct async_op *n = first->op.next; n && n->run == first->op.run && j->steps < MAX_STEPS;
         n = n->next) {
        struct mma_op *next = (struct mma_op *)n;
        if (j->id.d != TC_D_F32 || j->gpu->config.schedule == MACH_SCHED_RANDOM || !continues(first, next))
            break;
        next->done = true;
        j->step[j->steps++] = next;
    }
    j->k = j->steps * j->id.k;
}

/* A and B are multiplied part by part. */
static void run_job(struct job *j) {
    if (!check_lanes(j) || !tc_pair(j->step[0]->op.cta, j->origin, j->mma->group, "tcgen05.mma", j->pair))
        return;
    /* everything is checked before anything is written */
    for (uint32_t i = 0; i < num_parts(j); i++) {
        choose_part(j, i);
        if (!check_accumulator(j))
            return;
    }
    choose_part(j, 0);
    if (!load_a(j) || !load_b(j))
        return;
    for (uint32_t i = 0; i < num_parts(j); i++) {
        bool scaled = tc_is_scaled(j->mma->kind);
        bool same_a = is_layout_b(j) && i % 2 && !j->mma->a_in_tmem && !scaled;
        choose_part(j, i);
        if ((i && !same_a && !load_a(j)) || (scaled && !scale_operands(j)))
            return;
        multiply(j);
    }
}

static bool run_mma(struct async_op *op) {
    struct mma_op *o = (struct mma_op *)op;
    struct gpu *gpu = op->cta->gpu;
    if (o->done)
        return true;
    struct job j = {.gpu = gpu,
                    .origin = &op->origin,
                    .mma = &o->mma,
                    .simd = tc_state_of(op->cta)->simd,
                    .column = o->mma.d & 0xffff};
    if (j.simd == TC_SIMD_BEST || !tc_simd_available(j.simd))
        j.simd = tc_simd_best();
    if (!check_form(&j))
        return true;
    choose_steps(&j, o);
    if (!gpu->tc_scratch)
        gpu->tc_scratch = xcalloc(1, sizeof *j.s);
    j.s = gpu->tc_scratch;
    run_job(&j);
    return true;
}

void tc_issue_mma(struct cta *cta, const struct mach_origin *origin, const struct tc_mma *mma) {
    struct mma_op *o = async_op_create(sizeof *o, "tcgen05.mma", cta, origin, run_mma);
    o->mma = *mma;
    async_issue(tc_queue(cta), &o->op);
}
