/* engines/tc_scale.c - scale factors of block-scaled tcgen05.mma; contract in tc_operand.h (PTX ISA 9.7.16.10.7). */
#include "engines/tc_operand.h"
#include "num/num.h"

#include <string.h>

DIAG(poisoned_scale) = {
    DIAG_HEAD(ERROR, "tcgen05-tmem-uninitialised", "9.7.16.10.7"),
    .rule = "tensor memory must be written before the tensor core reads it",
    .hint = "Copy the scale factors with tcgen05.cp into all four partitions of 32 lanes",
};
DIAG(scale_copies) = {
    DIAG_HEAD(ERROR, "tcgen05-scale-duplicates", "9.7.16.10.7"),
    .rule = "scale factors must be duplicated to all 32-lane partitions of tensor memory",
    .hint = "Copy them with tcgen05.cp.32x128b.warpx4 (or .64x128b.warpx2::02_13 for scale_B of a pair with M = 128)",
    .reason = "each partition multiplies by its own copy, so the rows differ in every order.",
};
DIAG(scale_lane) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "tcgen05-scale-lane", "9.7.16.10.7"),
    .rule = "the addresses of scale_A and scale_B have lane 0",
    .reason = "the hardware has no such layout.",
};

/* The factors of one row, in their place in the cell, the same in every partition. */
static bool scale_cell(struct cta *cta, const struct mach_origin *origin, const struct tc_scales *s, uint32_t row,
                       uint32_t *cell) {
    const struct tmem *t = cta->sm->tmem;
    uint32_t column = (s->taddr & 0xffff) + row / 32;
    uint32_t mask = (uint32_t)((UINT64_C(1) << 8 * s->factors) - 1) << 8 * s->id;
    for (uint32_t p = s->first; p < s->first + s->count; p++) {
        if (t->poison[column][p] >> (row % 32) & 1)
            return mach_fails(cta->island, origin, &poisoned_scale, "%s, row %u: lane %u, column %u was never written",
                              s->matrix, row, 32 * p + row % 32, column);
        uint32_t v = t->cell[column][32 * p + row % 32] & mask;
        if (p > s->first && v != *cell)
            return mach_fails(cta->island, origin, &scale_copies,
                              "%s, row %u, column %u: lanes %u and %u differ (0x%08x, 0x%08x)", s->matrix, row, column,
                              32 * s->first + row % 32, 32 * p + row % 32, *cell, v);
        *cell = v;
    }
    return true;
}

/* The factors of 32 rows at once: false where some cell was never written or the partitions differ, which scale_cell
 * finds and names. */
static bool scale_column(const struct cta *cta, const struct tc_scales *s, uint32_t column, uint32_t cell[32]) {
    const struct tmem *t = cta->sm->tmem;
    const uint32_t mask = (uint32_t)((UINT64_C(1) << 8 * s->factors) - 1) << 8 * s->id;
    const uint32_t *first = t->cell[column] + 32 * (size_t)s->first;
    uint32_t wrong = 0;
    for (uint32_t p = 0; p < s->count; p++) {
        wrong |= t->poison[column][s->first + p];
        for (uint32_t i = 0; i < 32; i++)
            wrong |= (first[32 * p + i] ^ first[i]) & mask;
    }
    memcpy(cell, first, 32 * sizeof *cell);
    return !wrong;
}

bool tc_fetch_scales(struct cta *cta, const struct mach_origin *origin, const struct tc_scales *s, float *out) {
    uint32_t lane = s->taddr >> 16 & 0x3fff;
    if (lane)
        return mach_fails(cta->island, origin, &scale_lane, "%s starts at lane %u (address 0x%08x)", s->matrix, lane,
                          s->taddr);
    struct tc_cells c = {s->matrix, AGENT_TENSOR_CORE, EFFECT_READ, s->taddr & 0xffff, (s->rows + 31) / 32, {0}};
    for (uint32_t p = s->first; p < s->first + s->count; p++)
        c.lanes[p] = UINT32_MAX;
    if (!tc_use_cells(cta, origin, &c))
        return false;
    for (uint32_t r = 0; r < s->rows; r += 32) {
        const uint32_t rows = s->rows - r < 32 ? s->rows - r : 32;
        uint32_t cells[32];
        if (!scale_column(cta, s, (s->taddr & 0xffff) + r / 32, cells))
            for (uint32_t i = 0; i < rows; i++)
                if (!scale_cell(cta, origin, s, r + i, &cells[i]))
                    return false;
        uint8_t codes[32 * 4];
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t f = 0; f < s->factors; f++)
                codes[i * s->factors + f] = (uint8_t)(cells[i] >> 8 * (s->id + f) & (s->ue4m3 ? 0x7f : 0xff));
        (s->ue4m3 ? num_decode_row_e4m3 : num_decode_row_ue8m0)(codes, out + r * s->factors, rows * s->factors);
    }
    return true;
}
