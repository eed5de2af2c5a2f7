/* engines/tc_mma.c - tcgen05.mma (PTX ISA 9.7.16.10).
 *
 * D and A lie in tensor memory as tc_layout.h says; 16-bit results are zero-extended to a cell, and A takes 8 columns.
 * Of a pair's matrices in shared memory each CTA holds one half, the even CTA the first: M / 2 rows of A, N / 2 rows of
 * B (ALayout and BLayout of CUTLASS's 2x1SM traits), at the address that the one descriptor names in each CTA's own
 * shared memory. disable-output-lane: the even CTA's lanes come first.
 *
 * Numerics: simd/multiply.h; a 16-bit D is widened, summed in f32 over the instruction's K and rounded once; integers
 * are summed exactly, then added to D modulo 2^32 or saturated. With block scaling the elements of A and B are
 * multiplied by their scale factors first, in f32, which is exact unless it leaves f32's range. --umma=b200:
 * simd/fused.h. scale_A has the rows of A that the CTA multiplies, scale_B all N rows of B in every CTA (tc_operand.h);
 * in layout B lanes 0-63 have scale_B of the first half of N and lanes 64-127 that of the second.
 */
#include "engines/tc_chain.h"
#include "engines/tc_layout.h"

#include <string.h>

struct mma_op {
    struct async_op op;
    struct tc_mma mma;
};

/* One execution of an operation. What it has in common with those that continue it is in the chain. */
struct job {
    struct island *island;
    struct cta *cta; /* the issuer */
    const struct mach_origin *origin;
    const struct tc_mma *mma;
    struct tc_scratch *s;
    struct tc_chain *c; /* the scratch's */
    bool continues;     /* the chain's sum */
};

DIAG(bad_lane) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-mma-lane", "9.7.16.10.5"),
    .rule = "D and A in tensor memory start at lane 0; with M = 64 both start at lane 0 or both at lane 16",
    .hint = "Do not choose lanes here: M and the cta_group fix the layout of D. Warps choose their lanes in tcgen05.ld",
    .reason = "the hardware has no such layout.",
};
DIAG(bad_ashift) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-mma-ashift", "9.7.16.10.9.1"),
    .rule = "only M = 128 or 256 with A in tensor memory may use .ashift",
    .reason = "the form is defined only for these shapes.",
};
DIAG(poisoned_d) = {
    DIAG_HEAD(ERROR, "tcgen05-accumulator-uninitialised", "9.7.16.10"),
    .rule = "if enable-input-d is true, D is read and must have been written",
    .hint = "Pass a false enable-input-d to the first tcgen05.mma of each accumulator",
    .reason = "the sum is garbage in every order.",
};

static bool fault(const struct job *j, const struct tc_problem *p) {
    return mach_fails(j->island, j->origin, p->rule, "%s", p->text);
}

/* --- form and checks ---------------------------------------------------------------------------------------------- */

static bool check_form(const struct job *j, struct tc_idesc *id) {
    struct tc_problem problem;
    if (!tc_idesc_decode(j->mma->kind, j->mma->group, j->mma->idesc, j->mma->a_in_tmem, id, &problem))
        return fault(j, &problem);
    if (problem.rule && !mach_warn(j->island, j->origin, problem.rule, "%s", problem.text))
        return false;
    if (tc_is_scaled(j->mma->kind) && !tc_check_scale(j->mma->kind, id, id->k / j->mma->block, &problem))
        return fault(j, &problem);
    if (j->mma->ashift && (id->m == 64 || !j->mma->a_in_tmem))
        return mach_fails(j->island, j->origin, &bad_ashift, ".ashift with M = %u and A in %s memory", id->m,
                          j->mma->a_in_tmem ? "tensor" : "shared");
    return true;
}

/* First lanes of D and A. */
static bool check_lanes(const struct job *j) {
    uint32_t base = j->mma->d >> 16, a_lane = (uint32_t)j->mma->a >> 16;
    if (base % 16 || base >= j->c->layout->stride)
        mach_fault(j->island, j->origin, &bad_lane, "D starts at lane %u with M = %u (address 0x%08x)", base,
                   j->c->id.m, j->mma->d);
    else if (j->mma->a_in_tmem && a_lane != base)
        mach_fault(j->island, j->origin, &bad_lane, "A starts at lane %u, D at lane %u, with M = %u", a_lane, base,
                   j->c->id.m);
    return !j->island->fault;
}

/* Are the operands multiplied by their scale factors as they are loaded? With --umma=b200 those stay by themselves. */
static bool scales_first(const struct job *j) { return tc_is_scaled(j->mma->kind) && !tc_is_fused(j->c); }

/* Extent and lanes of part i: a CTA's rows of one half of N. */
static void set_part(const struct job *j, uint32_t i) {
    struct tc_chain *c = j->c;
    struct tc_part *p = &c->part[i];
    const struct tc_layout *l = c->layout;
    uint32_t used[4] = {0};
    p->half = i / l->halves;
    p->cta = c->pair[p->half];
    p->rows = l->rows;
    p->row0 = p->half * p->rows;
    p->n = c->id.n / l->halves;
    p->n0 = i % l->halves * p->n;
    p->row_a = i * p->rows;
    p->a = j->s->a + (size_t)p->row_a * SIMD_A_STRIDE;
    /* the factors of B are each CTA's own: those of the last one are multiplied in place */
    p->b = (scales_first(j) && p->half + 1 < j->mma->group ? j->s->scaled_b : j->s->b) + simd_tile_b(p->n0, 0);
    for (uint32_t s = 0; s < p->rows / 16; s++) {
        p->lane[s] = (j->mma->d >> 16) + tc_layout_place(l, c->id.n, p->row0 + 16 * s, p->n0).lane;
        used[p->lane[s] / 32] |= UINT32_C(0xffff) << p->lane[s] % 32;
    }
    p->partial = false;
    p->sfa = p->sfb = NULL;
    memset(p->blank, 0, sizeof p->blank);
    for (uint32_t w = 0; w < 4; w++) {
        p->keep[w] = used[w] & ~j->mma->disable[4 * p->half + w];
        p->partial |= p->keep[w] != used[w];
    }
}

/* D's columns in a part's CTA. */
static bool check_columns(const struct job *j, const struct tc_part *p) {
    const enum event_effect effect = j->mma->accumulate ? EFFECT_READ | EFFECT_WRITE : EFFECT_WRITE;
    const struct tc_cells d = {"accumulator D",
                               AGENT_TENSOR_CORE,
                               effect,
                               j->c->column,
                               p->n,
                               {p->keep[0], p->keep[1], p->keep[2], p->keep[3]}};
    return tc_use_cells(p->cta, j->origin, &d);
}

/* D is read: what does it hold? */
static bool check_content(const struct job *j, const struct tc_part *p) {
    struct tmem *t = p->cta->sm->tmem;
    const uint32_t first = j->c->column, end = first + p->n;
    typedef uint32_t four __attribute__((vector_size(16)));
    four poison = {0}, keep, blank;
    if (t->clean <= first && end <= t->clean_end)
        return true;
    for (uint32_t n = 0; n < p->n; n++) {
        four column;
        memcpy(&column, t->poison[j->c->column + n], sizeof column);
        poison |= column;
    }
    if (!(poison[0] | poison[1] | poison[2] | poison[3])) {
        t->clean = first;
        t->clean_end = end;
        return true;
    }
    memcpy(&keep, p->keep, sizeof keep);
    memcpy(&blank, p->blank, sizeof blank);
    poison &= keep & ~blank;
    if (!(poison[0] | poison[1] | poison[2] | poison[3]))
        return true;
    for (uint32_t n = 0; n < p->n; n++)
        for (uint32_t w = 0; w < 4; w++) {
            uint32_t bad = t->poison[j->c->column + n][w] & p->keep[w] & ~p->blank[w];
            if (!bad)
                continue;
            uint32_t lane = 32 * w + (uint32_t)__builtin_ctz(bad);
            return mach_fails(
                j->island, j->origin, &poisoned_d,
                "accumulator D, row %u, column %u: lane %u, column %u of tensor memory%s was never written",
                p->row0 + tc_layout_row(j->c->layout, lane), p->n0 + n, lane, j->c->column + n,
                j->mma->group == 1 ? ""
                : p->half          ? " of the pair's odd CTA"
                                   : " of the pair's even CTA");
        }
    return true;
}

static bool has_blank(const struct tc_part *p) { return p->blank[0] | p->blank[1] | p->blank[2] | p->blank[3]; }

/* D is written; each row is what its row of A is. */
static void set_content(const struct job *j, const struct tc_part *p) {
    struct tmem *t = p->cta->sm->tmem;
    if (has_blank(p))
        t->clean_end = t->clean = 0;
    for (uint32_t n = 0; n < p->n; n++)
        for (uint32_t w = 0; w < 4; w++) {
            uint32_t *poison = &t->poison[j->c->column + n][w];
            *poison = (j->continues ? *poison : *poison & ~p->keep[w]) | (p->keep[w] & p->blank[w]);
        }
}

/* --- operands, behind those that the chain has -------------------------------------------------------------------- */

static bool load_tmem(const struct job *j, struct tc_part *p, const struct tc_operand *o, float *out) {
    struct tc_decoder *s = &j->s->decoder;
    uint32_t column = j->mma->a & 0xffff;
    struct tc_cells cells = {"matrix A", AGENT_TENSOR_CORE, EFFECT_READ, column, SIMD_ROW_BYTES / 4, {0}};
    for (uint32_t i = 0; i < p->rows / 16; i++)
        cells.lanes[p->lane[i] / 32] |= UINT32_C(0xffff) << p->lane[i] % 32;
    if (!tc_use_cells(p->cta, j->origin, &cells) ||
        !tc_fetch_tmem(p->cta, j->origin, o, column, p->lane, p->blank, s->work.raw))
        return false;
    if (o->sum)
        *o->sum = tc_sum(*o->sum, s->work.raw, (size_t)o->rows * SIMD_ROW_BYTES);
    if (j->mma->ashift) { /* row r takes row r + 1; the last row stays */
        memmove(s->work.raw, s->work.raw + SIMD_ROW_BYTES, (size_t)(o->rows - 1) * SIMD_ROW_BYTES);
        for (uint32_t w = 0; w < 4; w++)
            p->blank[w] = p->blank[w] >> 1 | (w < 3 ? p->blank[w + 1] << 31 : p->blank[w] & UINT32_C(0x80000000));
    }
    tc_decode_tmem(s, o, out);
    return true;
}

/* The rows of A that a part multiplies. */
static bool load_a(const struct job *j, struct tc_part *p) {
    const struct tc_idesc *id = &j->c->id;
    const struct event_rows of_a = {.lane = j->mma->d >> 16,
                                    .stride = j->c->layout->stride,
                                    .twin = j->c->layout->halves == 2 ? TMEM_LANES / 2 : 0};
    struct tc_operand a = {.matrix = "A",
                           .of_a = &of_a,
                           .elem = id->a,
                           .rows = p->rows,
                           .k = id->k,
                           .mn_major = id->mn_major_a,
                           .panels = true,
                           .tiles = j->c->tiles ? &j->s->amx : NULL,
                           .tile_row = p->row_a,
                           .tile_k = j->c->k,
                           .sum = j->mma->collector == TC_COLLECTOR_DISCARD ? NULL : &j->s->sum_a};
    float *out = p->a + simd_tile_a(0, j->c->k);
    if (!(j->mma->a_in_tmem ? load_tmem(j, p, &a, out)
                            : tc_load_smem(&j->s->decoder, p->cta, j->origin, &a, j->mma->a, out)))
        return false;
    for (uint32_t r = 0; id->negate_a != id->negate_b && r < p->rows; r++)
        for (uint32_t k = 0; k < id->k; k++)
            out[simd_tile_a(r, k)] = -out[simd_tile_a(r, k)];
    return true;
}

/* The whole of B: a pair's CTAs hold half of its rows each. */
static bool load_b(const struct job *j) {
    const struct tc_idesc *id = &j->c->id;
    uint32_t rows = j->mma->group == 2 ? id->n / 2 : id->n;
    struct tc_operand b = {.matrix = "B",
                           .elem = id->b,
                           .rows = rows,
                           .k = id->k,
                           .mn_major = id->mn_major_b,
                           .tiles = j->c->tiles ? &j->s->amx : NULL,
                           .tile_k = j->c->k};
    for (uint32_t h = 0; h < j->mma->group; h++, b.tile_row += rows)
        if (!tc_load_smem(&j->s->decoder, j->c->pair[h], j->origin, &b, j->mma->b,
                          j->s->b + simd_tile_b(h * rows, j->c->k)))
            return false;
    return true;
}

static bool load_all(const struct job *j) {
    struct tc_chain *c = j->c;
    j->s->decoder.simd = c->simd;
    if (!load_a(j, &c->part[0]) || !load_b(j))
        return false;
    for (uint32_t i = 1; i < c->num_parts; i++) {
        if (i % c->layout->halves && !j->mma->a_in_tmem && !tc_is_scaled(j->mma->kind)) {
            c->part[i].a = c->part[i - 1].a;
            c->part[i].row_a = c->part[i - 1].row_a;
        } else if (!load_a(j, &c->part[i])) {
            return false;
        }
    }
    return true;
}

/* Block scaling: the factors of a part, from where they are to f and g. */
static bool load_scales(const struct job *j, const struct tc_part *p, float *f, float *g) {
    const struct tc_idesc *id = &j->c->id;
    const uint32_t factors = id->k / j->mma->block;
    struct tc_scales a = {.matrix = "scale_A",
                          .taddr = j->mma->sfa,
                          .rows = p->rows,
                          .factors = factors,
                          .id = id->sfa_id,
                          .count = 4,
                          .ue4m3 = id->scale_ue4m3};
    struct tc_scales b = {.matrix = "scale_B",
                          .taddr = j->mma->sfb,
                          .rows = p->n,
                          .factors = factors,
                          .id = id->sfb_id,
                          .first = p->lane[0] / 32,
                          .count = 4 / j->c->layout->halves,
                          .ue4m3 = id->scale_ue4m3};
    return tc_fetch_scales(p->cta, j->origin, &a, f) && tc_fetch_scales(p->cta, j->origin, &b, g);
}

/* The rows of A, and those of B that a part multiplies, times their factors. */
static bool scale_operands(const struct job *j) {
    const struct tc_chain *c = j->c;
    float *f = j->s->factors, *g = j->s->factors_b;
    for (uint32_t i = 0; i < c->num_parts; i++) {
        const struct tc_part *p = &c->part[i];
        if (!load_scales(j, p, f, g))
            return false;
        simd_scale_panels(c->simd, p->a + simd_tile_a(0, c->k), f, p->rows, c->id.k, j->mma->block);
        simd_scale_rows(c->simd, j->s->b + simd_tile_b(p->n0, c->k), g, p->n, c->id.k, j->mma->block,
                        p->b + simd_tile_b(0, c->k));
    }
    return true;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

/* Does the operation continue the chain's sum: the same but for the operands, D read as it was written? */
static bool continues(const struct tc_chain *c, const struct cta *cta, const struct tc_mma *b) {
    const struct tc_mma *a = &c->mma;
    const uint32_t other = tc_is_scaled(b->kind) ? TC_IDESC_SCALE_IDS : 0;
    return c->k && (cta == c->pair[0] || cta == c->pair[1]) && b->kind == a->kind && b->group == a->group &&
           b->d == a->d && !((b->idesc ^ a->idesc) & ~other) && b->a_in_tmem == a->a_in_tmem &&
           b->ashift == a->ashift && b->block == a->block && b->accumulate && !b->scale_d &&
           memcmp(a->disable, b->disable, sizeof a->disable) == 0;
}

/* Is the sum of several operations what one after the other gives? */
static bool may_continue(const struct job *j) {
    const struct tc_idesc *id = &j->c->id;
    return tc_is_scaled(j->mma->kind) ? !tc_is_fused(j->c) : id->d == TC_D_F32 || (id->d == TC_D_S32 && !id->saturate);
}

/* What operations that continue each other have in common. False after a fault. */
static bool begin(const struct job *j) {
    struct tc_chain *c = j->c;
    c->mma = *j->mma;
    c->column = j->mma->d & 0xffff;
    c->simd = tc_state_of(j->cta)->simd;
    if (!(j->s->available >> c->simd & 1))
        c->simd = j->s->best;
    if (!check_form(j, &c->id))
        return false;
    c->layout = tc_layout_of(c->id.m, c->mma.group);
    /* a second half of N must begin with a tile */
    c->tiles = c->simd == SIMD_AMX && c->id.a == TC_BF16 && c->id.b == TC_BF16 && !c->id.mn_major_a &&
               !c->id.mn_major_b && !c->mma.a_in_tmem && c->id.negate_a == c->id.negate_b &&
               (c->layout->halves == 1 || c->id.n % 32 == 0) && j->cta->gpu->config.umma != MACH_UMMA_B200;
    if (c->tiles)
        simd_amx_begin(&j->s->amx);
    return true;
}

/* Everything is checked before anything is written. */
static bool check_and_load(const struct job *j) {
    struct tc_chain *c = j->c;
    if (!check_lanes(j) || !tc_pair(j->cta, j->origin, j->mma->group, "tcgen05.mma", c->pair))
        return false;
    if (!j->continues)
        c->num_parts = j->mma->group * c->layout->halves;
    for (uint32_t i = 0; i < c->num_parts; i++) {
        if (!j->continues)
            set_part(j, i);
        if (!check_columns(j, &c->part[i]))
            return false;
    }
    j->s->sum_a = 0;
    if (!load_all(j) || !tc_collect(c->pair[0], j->origin, j->mma, &c->id, j->s->sum_a))
        return false;
    for (uint32_t i = 0; i < c->num_parts; i++)
        if (!j->continues && j->mma->accumulate && !check_content(j, &c->part[i]))
            return false;
    for (uint32_t i = 0; i < c->num_parts; i++)
        if (has_blank(&c->part[i]) || (!j->continues && !j->mma->accumulate)) /* D that is read has its content */
            set_content(j, &c->part[i]);
    return true;
}

/* --umma=b200 with block scaling: one operation. */
static void run_fused_scaled(const struct job *j) {
    struct tc_chain *c = j->c;
    for (uint32_t i = 0; i < c->num_parts; i++) {
        struct tc_part *p = &c->part[i];
        p->sfa = j->s->factors;
        p->sfb = j->s->factors_b;
        if (!load_scales(j, p, j->s->factors, j->s->factors_b))
            break;
        c->k = c->id.k;
        tc_multiply_part(j->s, p, false);
    }
    c->k = 0;
}

/* One chain at a time has the columns of a CTA. */
static void finish_others(struct cta *cta, uint32_t group) {
    struct cta *peer = group == 2 ? cta_peer(cta) : NULL;
    tc_sync(cta, 0, TMEM_COLUMNS);
    if (peer)
        tc_sync(peer, 0, TMEM_COLUMNS);
}

static bool run_mma(struct async_op *op) {
    const struct mma_op *o = (const struct mma_op *)op;
    struct cta *even = o->mma.group == 2 && op->cta->rank & 1 ? cta_peer(op->cta) : op->cta;
    struct tc_scratch *s = tc_scratch_of(even);
    struct tc_chain *c = &s->chain;
    if (o->mma.a_in_tmem)
        tc_sync(op->cta, o->mma.a & 0xffff, SIMD_ROW_BYTES / 4);
    if (tc_is_scaled(o->mma.kind)) {
        tc_sync(op->cta, o->mma.sfa & 0xffff, SIMD_MAX_ROWS / 32);
        tc_sync(op->cta, o->mma.sfb & 0xffff, SIMD_MAX_ROWS / 32);
    }
    struct job j = {op->cta->island, op->cta, &op->origin, &o->mma, s, c, continues(c, op->cta, &o->mma)};
    if (!j.continues) {
        tc_finish(s);
        finish_others(op->cta, o->mma.group);
        if (!begin(&j))
            return true;
    } else if (tc_is_scaled(o->mma.kind) && !check_form(&j, &c->id)) { /* the bytes of the factors are each one's own */
        return true;
    }
    if (!check_and_load(&j))
        return true;
    if (scales_first(&j) && !scale_operands(&j))
        return true;
    if (tc_is_scaled(o->mma.kind) && tc_is_fused(c)) {
        run_fused_scaled(&j);
        return true;
    }
    c->k += c->id.k;
    if (c->k + c->id.k > SIMD_MAX_K || !may_continue(&j))
        tc_finish(s);
    return true;
}

static void describe_mma(const struct async_op *op, struct event_work *work) {
    const struct tc_mma *mma = &((const struct mma_op *)op)->mma;
    struct tc_problem problem;
    struct tc_idesc id;
    work->cta_group = mma->group;
    work->kind = mma->kind;
    work->accumulate = mma->accumulate;
    work->sfa = mma->sfa;
    work->sfb = mma->sfb;
    work->a = mma->a;
    work->a_in_tmem = mma->a_in_tmem;
    work->b = mma->b;
    work->from = work->to = op->cta;
    work->to_off = mma->d;
    if (!tc_idesc_decode(mma->kind, mma->group, mma->idesc, mma->a_in_tmem, &id, &problem))
        return;
    work->m = id.m;
    work->n = id.n;
    work->k = id.k;
}

static const struct async_kind mma_kind = {AGENT_TENSOR_CORE, run_mma, describe_mma};

void tc_issue_mma(struct cta *cta, const struct mach_origin *origin, const struct tc_mma *mma) {
    struct mma_op *o = async_op_create(sizeof *o, &mma_kind, "tcgen05.mma", cta, origin);
    o->mma = *mma;
    o->op.silent = true; /* a tcgen05.commit tells (9.7.16.12) */
    async_issue(tc_queue(cta), &o->op);
}
