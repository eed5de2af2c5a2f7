/* engines/tc_operand.c - fetching and decoding A and B; contract in tc_operand.h (PTX
 * ISA 9.7.16.3, 9.7.16.10.4, .6). */
#include "engines/tc_operand.h"

#include <stdio.h>
#include <string.h>

DIAG(out_of_smem) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "tcgen05-smem-bounds", "9.7.16.4.1"),
    .rule = "the matrix that a shared-memory descriptor describes must be inside the CTA's shared memory",
    .hint = "Check the start address, leading and stride byte offsets, and the size of the dynamic shared memory",
    .reason = "the operand is beyond the CTA's memory.",
};
DIAG(poisoned_smem) = {
    DIAG_HEAD(ERROR, "tcgen05-smem-uninitialised", "9.7.16.6.5"),
    .rule = "an operand must be written before the tensor core reads it",
    .hint = "Write these bytes first: no store has written them, and no copy to them is in flight. Check that the "
            "stores or the box cover the whole operand, and that the descriptor's layout is right",
    .reason = "the product is garbage in every order.",
};
DIAG(landing_smem) = {
    DIAG_HEAD(ERROR, "tcgen05-smem-in-flight", "9.7.9.25.1, 9.7.13.15.5"),
    .rule = "a copy's destination may be read only after the phase of the mbarrier that it signals has completed. A "
            "copy into it may be issued only after the old contents have been read",
    .hint = "Wait for the copy's mbarrier, with the right parity, before the tensor core reads. If a wait is there, "
            "let expect_tx announce all bytes, and let the copy wait until the tile before has been read",
    .reason = "in this order the bytes have not arrived yet, and the product has no value.",
};
DIAG(landing_from_peer) = {
    DIAG_HEAD(ERROR, "tcgen05-smem-in-flight", "9.7.9.25.1, 9.7.13.15.5"),
    .rule = "a copy's destination may be read only after the phase of the mbarrier that it signals has completed. A "
            "copy into it may be issued only after the old contents have been read",
    .hint =
        "Let expect_tx announce also the bytes that other CTAs send, as here, and let those CTAs wait until this one "
        "has read the tile before. If they do, correct the ctaMask of this copy: bit r sends it to the CTA of rank r",
};
DIAG(poisoned_tmem) = {
    DIAG_HEAD(ERROR, "tcgen05-tmem-uninitialised", "9.7.16.10"),
    .rule = "tensor memory must be written before the tensor core reads it",
    .hint = "Add tcgen05.wait::st after tcgen05.st, or write the columns first",
    .reason = "the product is garbage in every order. Whole warps that wrote no row of A are not reported here: their "
              "rows of D are garbage, and are reported when they are read.",
};

bool tc_load_desc(struct island *isl, const struct mach_origin *origin, uint64_t bits, const char *matrix,
                  struct tc_desc *d, bool *told) {
    struct tc_problem p;
    const bool usable = tc_desc_decode(bits, matrix, d, &p);
    if (!usable)
        mach_fault(isl, origin, p.rule, "%s", p.text);
    *told = p.rule != NULL;
    return usable && (!p.rule || mach_warn(isl, origin, p.rule, "%s", p.text));
}

/* What unit i of a list is, for messages. */
struct naming {
    const char *matrix;
    bool mn_major;
    uint32_t per_line; /* units per row (K-major) or per k (MN-major) */
    uint32_t elems;    /* elements of a unit */
    const struct event_rows *of_a;
};

static void name_fault(struct cta *cta, const struct mach_origin *origin, const struct diag *rule,
                       const struct naming *n, uint32_t unit, uint32_t off, const char *what) {
    const uint32_t line = unit / n->per_line, along = unit % n->per_line * n->elems,
                   bytes = rule == &poisoned_smem ? 16 : 0;
    if (n->mn_major)
        mach_fault_unwritten(cta, off, bytes, origin, rule, "matrix %s, k %u, rows %u to %u: shared offset 0x%x %s",
                             n->matrix, line, along, along + n->elems - 1, off, what);
    else
        mach_fault_unwritten(cta, off, bytes, origin, rule, "matrix %s, row %u, k %u to %u: shared offset 0x%x %s",
                             n->matrix, line, along, along + n->elems - 1, off, what);
}

/* A unit that was never written, or that a copy is writing. */
static void name_poison(struct cta *cta, const struct mach_origin *origin, const struct naming *n, uint32_t unit,
                        uint32_t off, uint32_t bytes) {
    const struct async_op *op = async_landing(cta, off, bytes);
    if (!op) {
        name_fault(cta, origin, &poisoned_smem, n, unit, off, "was never written");
        return;
    }
    char said[160];
    snprintf(said, sizeof said, "%s, which writes it", op->name);
    const struct diag_party copy = {said, op->origin.site, &op->origin.thread};
    struct diag d = op->cta == cta ? landing_smem : landing_from_peer;
    d.other = &copy;
    name_fault(cta, origin, &d, n, unit, off, "is still being written");
}

/* Tells those who watch what is read: the groups, `used` bytes of each unit. */
static void tell_reads(struct cta *cta, const struct mach_origin *origin, const struct naming *names,
                       const struct simd_groups *g, uint32_t units, uint32_t groups, uint32_t used) {
    const bool a = names->matrix[0] == 'A', b = names->matrix[0] == 'B';
    struct event_rows of_a;
    const char *what = a ? "operand A of tcgen05.mma" : b ? "operand B of tcgen05.mma" : "tcgen05.cp";
    uint64_t at[SIMD_MAX_ROWS * SIMD_ROW_BYTES / 16];
    for (uint32_t i = 0; i < units; i++)
        at[i] = g->unit[i];
    if (names->of_a) {
        of_a = *names->of_a;
        of_a.line = names->per_line;
        of_a.per_piece = names->mn_major ? names->elems : 0;
    }
    events_send_access(cta->gpu,
                       &(struct event_access){.by = event_by_origin(cta, origin, what, ORDER_WEAK, SCOPE_NONE),
                                              .agent = a || b ? AGENT_TENSOR_CORE : AGENT_TENSOR_COPY,
                                              .space = SPACE_SHARED,
                                              .effect = EFFECT_READ,
                                              .proxy = PROXY_ASYNC,
                                              .owner = cta,
                                              .what = what,
                                              .at = at,
                                              .size = used,
                                              .pieces = units,
                                              .rows = groups,
                                              .stride = g->stride,
                                              .of_a = names->of_a ? &of_a : NULL});
}

/* May `count` units whose offsets are in off[] be read? `used` leading bytes of each are data. */
static bool check_units(enum simd simd, struct cta *cta, const struct mach_origin *origin, const struct naming *names,
                        const uint32_t *off, uint32_t count, uint32_t used) {
    if (!count)
        return true;
    uint32_t low, high, end = cta->smem_end;
    simd_span(simd, off, count, &low, &high);
    if (low < MACH_SMEM_FIRST || end < 16 || high > end - 16) {
        uint32_t i = 0;
        while (i + 1 < count && off[i] >= MACH_SMEM_FIRST && end >= 16 && off[i] <= end - 16)
            i++;
        name_fault(cta, origin, &out_of_smem, names, i, off[i], "is outside shared memory");
        return false;
    }
    if (smem_poisoned(cta, low, high + 16 - low))
        for (uint32_t i = 0; i < count; i++)
            if (smem_poisoned(cta, off[i], used)) {
                name_poison(cta, origin, names, i, off[i], used);
                return false;
            }
    if (events_wanted(cta->gpu, WANT_ENGINE_READ))
        tell_reads(cta, origin, names, &(struct simd_groups){off, 0, 0}, count, 1, used);
    return true;
}

static uint32_t data_bytes(enum tc_elem e) { return e == TC_E2M1 ? 8 : e == TC_E2M3 || e == TC_E3M2 ? 12 : 16; }

bool tc_fetch_units(struct cta *cta, const struct mach_origin *origin, const char *matrix, const struct tc_desc *d,
                    uint32_t rows, uint32_t chunks, uint32_t used, uint8_t *raw) {
    uint32_t off[SIMD_MAX_ROWS * 2] = {0};
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < chunks; c++)
            off[r * chunks + c] = tc_desc_unit_k(d, r, c);
    struct naming names = {matrix, false, chunks, 16, NULL};
    if (!check_units(SIMD_PORTABLE, cta, origin, &names, off, rows * chunks, used))
        return false;
    for (uint32_t i = 0; i < rows * chunks; i++)
        memcpy(raw + 16 * (size_t)i, cta->smem + off[i], 16);
    return true;
}

/* All groups of 8 rows are alike if SBO is a multiple of what the swizzling repeats itself in. */
static bool are_alike(const struct tc_desc *d) { return d->swizzle == TC_SW_NONE || d->sbo % (8 * d->xor.row) == 0; }

/* May all of the groups, which are alike, be read without a closer look? */
static bool may_read(struct cta *cta, const struct tc_source *p, uint32_t rows) {
    const uint64_t end = p->high + 16 + (uint64_t)(rows / 8 - 1) * p->d.sbo;
    return p->low >= MACH_SMEM_FIRST && end <= cta->smem_end && !smem_poisoned(cta, p->low, (uint32_t)end - p->low);
}

/* How elements lie in shared memory (9.7.16.10.4), and in tensor memory: there one to a byte, those of 4 bits in its
 * bits 2-5, as in the containers of mma.sync's kind::f8f6f4 (9.7.14.5). */
static struct simd_matrix matrix_of(const struct tc_operand *o, bool in_tmem) {
    static const enum simd_elem elems[][2] = {
        [TC_F16] = {SIMD_F16, SIMD_F16},
        [TC_BF16] = {SIMD_BF16, SIMD_BF16},
        [TC_TF32] = {SIMD_TF32, SIMD_TF32},
        [TC_E4M3] = {SIMD_E4M3, SIMD_E4M3},
        [TC_E5M2] = {SIMD_E5M2, SIMD_E5M2},
        [TC_E2M3] = {SIMD_E2M3_P32, SIMD_E2M3},
        [TC_E3M2] = {SIMD_E3M2_P32, SIMD_E3M2},
        [TC_E2M1] = {SIMD_E2M1_P64, SIMD_E2M1_MID},
        [TC_U8] = {SIMD_U8, SIMD_U8},
        [TC_S8] = {SIMD_S8, SIMD_S8},
        [TC_E2M1X2] = {SIMD_E2M1_PACKED, SIMD_E2M1_PACKED},
    };
    return (struct simd_matrix){
        .elem = elems[o->elem][in_tmem],
        .rows = o->rows,
        .k = o->k,
        .lines = o->mn_major ? o->k : o->rows,
        .units = o->mn_major ? o->rows * tc_elem_bytes(o->elem) / 16 : SIMD_ROW_BYTES / 16,
        .mn_major = o->mn_major,
        .panels = o->panels,
    };
}

/* Shared-memory offsets of the operand's units, line by line. A K-major one repeats 8 rows every SBO; M and N are
 * multiples of 8. one_group: only of the first of these. */
static void locate(enum simd simd, const struct tc_desc *d, const struct simd_matrix *m, bool one_group,
                   uint32_t *off) {
    uint32_t line[SIMD_ROW_MAX_K], unit[SIMD_MAX_ROWS * 4 / 16];
    const uint32_t lines = one_group ? 1 : m->mn_major ? m->lines : m->lines / 8, units = m->mn_major ? m->units : 16;
    for (uint32_t l = 0; l < lines; l++)
        line[l] = d->start + (m->mn_major ? tc_desc_line_mn(d, l) : l * d->sbo);
    for (uint32_t u = 0; m->mn_major && u < units; u++)
        unit[u] = tc_desc_chunk_mn(d, u);
    for (uint32_t u = 0, row = 0; !m->mn_major && u < units; u += 2, row += d->xor.row) {
        unit[u] = row;
        unit[u + 1] = row + d->along_k;
    }
    simd_locate(simd, &d->xor, line, lines, unit, units, off);
}

uint64_t tc_sum(uint64_t sum, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) /* FNV-1a */
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* Decodes the operand's descriptor, or finds it as it was. NULL after a fault. */
static const struct tc_source *source_of(struct tc_decoder *t, struct island *isl, const struct mach_origin *origin,
                                         const struct tc_operand *o, const struct simd_matrix *m, uint64_t bits) {
    struct tc_source *p = &t->latest[!o->panels];
    struct tc_problem problem;
    bool told;
    if (p->bits == bits && p->rows == o->rows && p->elem == o->elem && p->mn_major == o->mn_major)
        return p;
    p->rows = 0;
    if (!tc_load_desc(isl, origin, bits, o->matrix, &p->d, &told))
        return NULL;
    if (!tc_check_swizzle(o->matrix, o->elem, o->mn_major, p->d.swizzle, &problem)) {
        mach_fault(isl, origin, problem.rule, "%s", problem.text);
        return NULL;
    }
    p->alike = !o->mn_major && are_alike(&p->d);
    if (p->alike) {
        locate(t->simd, &p->d, m, true, p->units);
        simd_span(t->simd, p->units, 16, &p->low, &p->high);
    }
    p->bits = bits;
    p->rows = told ? 0 : o->rows; /* what is told comes again */
    p->elem = o->elem;
    p->mn_major = o->mn_major;
    return p;
}

bool tc_load_smem(struct tc_decoder *t, struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o,
                  uint64_t bits, float *out) {
    const struct simd_matrix m = matrix_of(o, false);
    const uint32_t used = data_bytes(o->elem);
    uint32_t *off = t->off, elems = o->mn_major ? 16 / tc_elem_bytes(o->elem) : o->k / 2;
    struct naming names = {o->matrix, o->mn_major, m.units, elems, o->of_a};
    const struct tc_source *p = source_of(t, cta->island, origin, o, &m, bits);
    if (!p)
        return false;
    const struct tc_desc *d = &p->d;
    struct simd_groups groups = {p->units, 0, d->sbo};
    if (p->alike && may_read(cta, p, o->rows)) {
        if (events_wanted(cta->gpu, WANT_ENGINE_READ))
            tell_reads(cta, origin, &names, &groups, 16, o->rows / 8, used);
    } else {
        locate(t->simd, d, &m, false, off);
        if (!check_units(t->simd, cta, origin, &names, off, m.lines * m.units, used))
            return false;
        groups = (struct simd_groups){off, 16, 0};
    }
    if (o->sum) {
        locate(t->simd, d, &m, false, off);
        for (uint32_t i = 0; i < m.lines * m.units; i++)
            *o->sum = tc_sum(*o->sum, cta->smem + off[i], used);
    }
    if (o->tiles)
        (o->panels ? simd_amx_gather_a : simd_amx_gather_b)(o->tiles, cta->smem, &groups, o->tile_row, o->rows,
                                                            o->tile_k);
    else
        simd_gather(t->simd, &m, cta->smem, &groups, &t->work, out);
    return true;
}

/* Lanes among `used` of which nothing was ever written in the columns of A: by whole warps' windows, and not all. */
static void find_unwritten(const struct tmem *t, uint32_t column, const uint32_t used[4], uint32_t unwritten[4]) {
    bool written = false;
    for (uint32_t w = 0; w < 4; w++) {
        unwritten[w] = used[w];
        for (uint32_t c = 0; c < SIMD_ROW_BYTES / 4; c++)
            unwritten[w] &= t->poison[column + c][w];
        if (unwritten[w] != used[w])
            unwritten[w] = 0;
        written |= unwritten[w] != used[w];
    }
    if (!written)
        memset(unwritten, 0, 4 * sizeof *unwritten);
}

bool tc_fetch_tmem(struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o, uint32_t column,
                   const uint32_t *lane, uint32_t unwritten[4], uint8_t *raw) {
    const struct tmem *t = cta->sm->tmem;
    uint32_t used[4] = {0};
    for (uint32_t r = 0; r < o->rows; r += 16)
        used[lane[r / 16] / 32] |= UINT32_C(0xffff) << lane[r / 16] % 32;
    find_unwritten(t, column, used, unwritten);
    for (uint32_t c = 0; c < SIMD_ROW_BYTES / 4; c++)
        for (uint32_t r = 0; r < o->rows; r++) {
            uint32_t l = lane[r / 16] + r % 16;
            if ((t->poison[column + c][l / 32] & ~unwritten[l / 32]) >> (l % 32) & 1)
                return mach_fails(cta->island, origin, &poisoned_tmem,
                                  "matrix %s in tensor memory, row %u: lane %u, column %u was never written", o->matrix,
                                  r, l, column + c);
            memcpy(raw + r * SIMD_ROW_BYTES + 4 * c, &t->cell[column + c][l], 4);
        }
    return true;
}

void tc_decode_tmem(struct tc_decoder *t, const struct tc_operand *o, float *out) {
    const struct simd_matrix m = matrix_of(o, true);
    simd_decode(&m, &t->work, out);
}
