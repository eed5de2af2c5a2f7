/* engines/tc_operand.c - fetching and decoding A and B; contract in tc_operand.h (PTX
 * ISA 9.7.16.3, 9.7.16.10.4, .6). */
#include "engines/tc_operand.h"

#include "num/num.h"

#include <stdio.h>
#include <string.h>

static const struct diag out_of_smem = {
    .id = "tcgen05-smem-bounds",
    .rule = "the matrix that a shared-memory descriptor describes must lie in the CTA's shared memory",
    .section = "PTX ISA 9.7.16.4.1",
    .hint = "start address, leading or stride byte offset is wrong, or the dynamic shared memory is too small",
    .cuda_error = DIAG_CUDA_ILLEGAL_ADDRESS,
};
static const struct diag poisoned_smem = {
    .id = "tcgen05-smem-uninitialised",
    .rule = "an operand must be written before the tensor core reads it",
    .section = "PTX ISA 9.7.16.6.5",
    .hint = "the copy into shared memory has not completed (mbarrier wait missing, or its expect_tx counts "
            "fewer bytes than "
            "arrive, so that the phase ends early), or writes another layout than the descriptor says",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag landing_smem = {
    .id = "tcgen05-smem-in-flight",
    .rule = "a copy's destination may be read once the phase of the mbarrier that it signals has completed, "
            "and no copy may "
            "be issued into it before what it holds has been read",
    .section = "PTX ISA 9.7.9.25.1, 9.7.13.15.5",
    .hint = "no wait for the copy's mbarrier, or for the wrong parity; an expect_tx of fewer bytes than all "
            "copies bring, so "
            "that the phase ends early; or the copy did not wait until the tile before it had been read",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
static const struct diag poisoned_tmem = {
    .id = "tcgen05-tmem-uninitialised",
    .rule = "tensor memory must be written before the tensor core reads it",
    .section = "PTX ISA 9.7.16.10",
    .hint = "tcgen05.st without tcgen05.wait::st, or columns that were never written",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};

/* What unit i of a list is, for messages. */
struct naming {
    const char *matrix;
    bool mn_major;
    uint32_t per_line; /* units per row (K-major) or per k (MN-major) */
    uint32_t elems;    /* elements of a unit */
};

static void name_fault(struct cta *cta, const struct mach_origin *origin, const struct diag *rule,
                       const struct naming *n, uint32_t unit, uint32_t off, const char *what) {
    uint32_t line = unit / n->per_line, along = unit % n->per_line * n->elems;
    if (n->mn_major)
        mach_fault(cta->island, origin, rule, "matrix %s, k %u, rows %u to %u: shared offset 0x%x %s", n->matrix, line,
                   along, along + n->elems - 1, off, what);
    else
        mach_fault(cta->island, origin, rule, "matrix %s, row %u, k %u to %u: shared offset 0x%x %s", n->matrix, line,
                   along, along + n->elems - 1, off, what);
}

/* A unit that was never written, or that a copy is writing. */
static void name_poison(struct cta *cta, const struct mach_origin *origin, const struct naming *n, uint32_t unit,
                        uint32_t off, uint32_t bytes) {
    const struct async_op *op = async_landing(cta, off, bytes);
    char where[600], what[800];
    if (!op) {
        name_fault(cta, origin, &poisoned_smem, n, unit, off, "was never written");
        return;
    }
    snprintf(what, sizeof what, "is being written by %s, issued by cluster CTA %u at %s", op->name, op->cta->rank,
             diag_where(op->origin.site, where, sizeof where));
    name_fault(cta, origin, &landing_smem, n, unit, off, what);
}

/* Tells those who watch what is read; units that are neighbours in memory at once. */
static void tell_reads(struct cta *cta, const struct mach_origin *origin, const struct naming *names,
                       const uint32_t *off, uint32_t count) {
    const bool a = names->matrix[0] == 'A', b = names->matrix[0] == 'B';
    const char *what = a ? "operand A of tcgen05.mma" : b ? "operand B of tcgen05.mma" : "tcgen05.cp";
    const struct event_by by = event_by_origin(cta, origin, what, ORDER_WEAK, SCOPE_NONE);
    for (uint32_t i = 0, n; i < count; i += n) {
        uint32_t low = off[i], high = off[i] + 16;
        for (n = 1; i + n < count && (off[i + n] == high || off[i + n] + 16 == low); n++) {
            low = off[i + n] < low ? off[i + n] : low;
            high = off[i + n] + 16 > high ? off[i + n] + 16 : high;
        }
        events_send_access(cta->gpu, &(struct event_access){.by = by,
                                                            .agent = a || b ? AGENT_TENSOR_CORE : AGENT_TENSOR_COPY,
                                                            .space = SPACE_SHARED,
                                                            .effect = EFFECT_READ,
                                                            .proxy = PROXY_ASYNC,
                                                            .owner = cta,
                                                            .what = what,
                                                            .at = &(uint64_t){low},
                                                            .size = high - low,
                                                            .rows = 1});
    }
}

/* Does somebody want to know that [low, high) is read? */
static bool is_watched(struct cta *cta, uint32_t low, uint32_t high) {
    return events_wanted(cta->gpu, WANT_ENGINE_READ) && !events_settled(cta->gpu, cta, low, high - low);
}

/* May `count` units whose offsets are in off[] be read? `used` leading bytes of each are data. */
static bool check_units(enum tc_simd simd, struct cta *cta, const struct mach_origin *origin,
                        const struct naming *names, const uint32_t *off, uint32_t count, uint32_t used) {
    if (!count)
        return true;
    uint32_t low, high, end = cta->smem_end;
    tc_span(simd, off, count, &low, &high);
    if (low < MACH_SMEM_FIRST || end < 16 || high > end - 16) {
        uint32_t i = 0;
        while (i + 1 < count && off[i] >= MACH_SMEM_FIRST && end >= 16 && off[i] <= end - 16)
            i++;
        name_fault(cta, origin, &out_of_smem, names, i, off[i], "is outside the CTA's shared memory");
        return false;
    }
    if (smem_poisoned(cta, low, high + 16 - low))
        for (uint32_t i = 0; i < count; i++)
            if (smem_poisoned(cta, off[i], used)) {
                name_poison(cta, origin, names, i, off[i], used);
                return false;
            }
    if (is_watched(cta, low, high + 16))
        tell_reads(cta, origin, names, off, count);
    return true;
}

static void copy_units(const struct cta *cta, const uint32_t *off, uint32_t count, uint8_t *raw) {
    for (uint32_t i = 0; i < count; i++)
        memcpy(raw + 16 * (size_t)i, cta->smem + off[i], 16);
}

static uint32_t data_bytes(enum tc_elem e) { return e == TC_E2M1 ? 8 : e == TC_E2M3 || e == TC_E3M2 ? 12 : 16; }

bool tc_fetch_units(struct cta *cta, const struct mach_origin *origin, const char *matrix, const struct tc_desc *d,
                    uint32_t rows, uint32_t chunks, uint32_t used, uint8_t *raw) {
    uint32_t off[TC_MAX_ROWS * 2] = {0};
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < chunks; c++)
            off[r * chunks + c] = tc_desc_unit_k(d, r, c);
    struct naming names = {matrix, false, chunks, 16};
    if (!check_units(TC_SIMD_PORTABLE, cta, origin, &names, off, rows * chunks, used))
        return false;
    copy_units(cta, off, rows * chunks, raw);
    return true;
}

/* All groups of 8 rows are alike if SBO is a multiple of what the swizzling repeats itself in. */
static bool are_alike(const struct tc_desc *d) { return d->swizzle == TC_SW_NONE || d->sbo % (8 * d->width) == 0; }

/* May all of the groups, which are alike, be read without a closer look? */
static bool may_read(struct cta *cta, const struct tc_groups *g, uint32_t rows) {
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < 16; i++) {
        low = g->unit[i] < low ? g->unit[i] : low;
        high = g->unit[i] > high ? g->unit[i] : high;
    }
    const uint64_t end = high + 16 + (uint64_t)(rows / 8 - 1) * g->stride;
    if (low < MACH_SMEM_FIRST || end > cta->smem_end || smem_poisoned(cta, low, (uint32_t)end - low))
        return false;
    return !is_watched(cta, low, (uint32_t)end);
}

bool tc_load_smem(struct tc_decoder *t, struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o,
                  const struct tc_desc *d, float *out) {
    uint32_t *off = t->off, units = tc_line_units(o), count = tc_lines(o) * units;
    uint32_t elems = o->mn_major ? 16 / tc_elem_bytes(o->elem) : o->k / 2;
    struct naming names = {o->matrix, o->mn_major, units, elems};
    const bool grouped = t->simd >= TC_SIMD_AVX512 && !o->mn_major && o->elem <= TC_BF16;
    uint32_t unit[16];
    struct tc_groups groups = {unit, 0, d->sbo};
    for (uint32_t i = 0; grouped && i < 16; i++)
        unit[i] = tc_desc_unit_k(d, i / 2, i % 2);
    if (!grouped || !are_alike(d) || !may_read(cta, &groups, o->rows)) {
        tc_locate(t->simd, d, o, off);
        if (!check_units(t->simd, cta, origin, &names, off, count, data_bytes(o->elem)))
            return false;
        groups = (struct tc_groups){off, 16, 0};
    }
    if (o->tiles) {
        (o->panels ? tc_amx_gather_a : tc_amx_gather_b)(o->tiles, cta->smem, &groups, o->tile_row, o->rows, o->tile_k);
        return true;
    }
    if (grouped) {
        tc_gather_groups(o, cta->smem, &groups, out);
        return true;
    }
    if (tc_gather(t->simd, o, cta->smem, off, out))
        return true;
    copy_units(cta, off, count, t->raw);
    tc_decode(t, o, false, out);
    return true;
}

bool tc_fetch_tmem(struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o, uint32_t column,
                   const uint32_t *lane, uint8_t *raw) {
    const struct tmem *t = cta->sm->tmem;
    for (uint32_t c = 0; c < TC_ROW_BYTES / 4; c++)
        for (uint32_t r = 0; r < o->rows; r++) {
            uint32_t l = lane[r / 16] + r % 16;
            if (t->poison[column + c][l / 32] >> (l % 32) & 1) {
                mach_fault(cta->island, origin, &poisoned_tmem,
                           "matrix %s in tensor memory, row %u: lane %u, column %u was never written", o->matrix, r, l,
                           column + c);
                return false;
            }
            memcpy(raw + r * TC_ROW_BYTES + 4 * c, &t->cell[column + c][l], 4);
        }
    return true;
}

/* rows x columns, both multiples of 4, in blocks of 4 x 4. */
static void transpose(const float *from, uint32_t rows, uint32_t columns, float *to, uint32_t stride) {
    typedef float vec4 __attribute__((vector_size(16)));
    for (uint32_t r = 0; r < rows; r += 4)
        for (uint32_t c = 0; c < columns; c += 4) {
            vec4 v[4];
            for (uint32_t i = 0; i < 4; i++)
                memcpy(&v[i], from + (size_t)(r + i) * columns + c, sizeof v[i]);
            vec4 p = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5),
                 q = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
            vec4 x = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7),
                 y = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
            v[0] = __builtin_shufflevector(p, q, 0, 1, 4, 5);
            v[1] = __builtin_shufflevector(p, q, 2, 3, 6, 7);
            v[2] = __builtin_shufflevector(x, y, 0, 1, 4, 5);
            v[3] = __builtin_shufflevector(x, y, 2, 3, 6, 7);
            for (uint32_t i = 0; i < 4; i++)
                memcpy(to + (size_t)(c + i) * stride + r, &v[i], sizeof v[i]);
        }
}

static void copy_rows(const float *from, uint32_t rows, uint32_t from_stride, uint32_t columns, float *to,
                      uint32_t stride) {
    for (uint32_t r = 0; r < rows; r++)
        memcpy(to + (size_t)r * stride, from + (size_t)r * from_stride, columns * sizeof *to);
}

/* Elements in the order they lie in. */
static void decode_row(const struct tc_operand *o, bool in_tmem, const uint8_t *raw, float *out) {
    size_t n = (size_t)o->rows * o->k;
    switch (o->elem) {
    case TC_F16:
        num_decode_row_f16(raw, out, n);
        return;
    case TC_BF16:
        num_decode_row_bf16(raw, out, n);
        return;
    case TC_TF32:
        num_decode_row_tf32(raw, out, n);
        return;
    case TC_E4M3:
        num_decode_row_e4m3(raw, out, n);
        return;
    case TC_E5M2:
        num_decode_row_e5m2(raw, out, n);
        return;
    case TC_E2M3:
        (in_tmem ? num_decode_row_e2m3 : num_decode_row_e2m3_p32)(raw, out, n);
        return;
    case TC_E3M2:
        (in_tmem ? num_decode_row_e3m2 : num_decode_row_e3m2_p32)(raw, out, n);
        return;
    case TC_E2M1: /* one to a byte: in its bits 2-5, as in the containers of mma.sync's kind::f8f6f4
                     (9.7.14.5) */
        (in_tmem ? num_decode_row_e2m1_mid : num_decode_row_e2m1_p64)(raw, out, n);
        return;
    case TC_E2M1X2:
        num_decode_row_e2m1_packed(raw, out, n);
        return;
    case TC_U8:
        num_decode_row_u8(raw, out, n);
        return;
    case TC_S8:
        num_decode_row_s8(raw, out, n);
        return;
    }
    diag_broken("element type %d", (int)o->elem);
}

void tc_decode(struct tc_decoder *t, const struct tc_operand *o, bool in_tmem, float *out) {
    decode_row(o, in_tmem, t->raw, t->decoded);
    if (!o->panels && o->mn_major)
        transpose(t->decoded, o->k, o->rows, out, TC_B_STRIDE);
    else if (!o->panels)
        copy_rows(t->decoded, o->rows, o->k, o->k, out, TC_B_STRIDE);
    for (uint32_t r = 0; o->panels && r < o->rows; r += TC_PANEL) {
        float *to = out + tc_tile_a(r, 0);
        if (o->mn_major)
            copy_rows(t->decoded + r, o->k, o->rows, TC_PANEL, to, TC_PANEL);
        else
            transpose(t->decoded + (size_t)r * o->k, TC_PANEL, o->k, to, TC_PANEL);
    }
}
