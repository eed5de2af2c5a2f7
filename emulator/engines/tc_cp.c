/* engines/tc_cp.c - tcgen05.cp, tcgen05.shift and tcgen05.commit (PTX ISA 9.7.16.9, 9.7.16.12).
 *
 * cp reads a K-major matrix of rows x 16 or 32 bytes; which lanes a row reaches is given by the shape (facts
 * beside the text: the UTCCP layouts of CUTLASS copy_traits_sm100.hpp). Decompression (9.7.16.9.1) widens
 * every 16-byte unit: 16 packed 6-bit elements in its first 12 bytes, or 4-bit ones in its first 8, become 16
 * bytes; a 6-bit element takes the low 6 bits of its byte, a 4-bit one bits 2-5, the containers that
 * kind::f8f6f4 reads.
 */
#include "engines/tc_operand.h"
#include "machine/mbarrier.h"

#include <string.h>

DIAG(cp_extent) = {
    DIAG_HEAD(ERROR, "tcgen05-cp-lanes", "9.7.16.9.2"),
    .rule = "tcgen05.cp writes lanes counted from the lane of its address, and they must be below 128",
    .hint = "Give the address lane 0, for all shapes but .4x256b",
    .reason = "tensor memory has no such lanes.",
};
DIAG(shift_lane) = {
    DIAG_HEAD(ERROR, "tcgen05-shift-lane", "9.7.16.9.3"),
    .rule = "the lane of tcgen05.shift's address must be a multiple of 32",
    .reason = "the hardware has no such layout.",
};

/* Row r of the source goes to lanes r % span + (r / span) * stride + repeat * every, for each repeat <
 * copies. */
static const struct cp_shape {
    uint32_t rows, bytes; /* of the source */
    uint32_t span, stride, copies, every;
} cp_shapes[] = {
    [TC_CP_128X256B] = {128, 32, 128, 0, 1, 0},      [TC_CP_4X256B] = {4, 32, 1, 32, 1, 0},
    [TC_CP_128X128B] = {128, 16, 128, 0, 1, 0},      [TC_CP_64X128B_02_13] = {64, 16, 64, 0, 2, 64},
    [TC_CP_64X128B_01_23] = {64, 16, 32, 64, 2, 32}, [TC_CP_32X128B] = {32, 16, 32, 0, 4, 32},
};

struct cp_op {
    struct async_op op;
    unsigned group;
    enum tc_cp_shape shape;
    enum tc_cp_format format;
    uint32_t taddr;
    uint64_t desc;
};

static uint32_t extent(const struct cp_shape *s) {
    return (s->rows - 1) % s->span + (s->rows - 1) / s->span * s->stride + (s->copies - 1) * s->every + 1;
}

/* 16 elements of 6 or 4 bits, packed from bit 0 of `from`, one to a byte of `to`. */
static void widen(enum tc_cp_format format, const uint8_t *from, uint8_t to[16]) {
    for (uint32_t i = 0; i < 16; i++) {
        if (format == TC_CP_B4X16_P64) {
            to[i] = (uint8_t)((from[i / 2] >> (i % 2 * 4) & 0xf) << 2);
            continue;
        }
        uint32_t bit = i * 6, word = from[bit / 8];
        if (bit % 8 > 2)
            word |= (uint32_t)from[bit / 8 + 1] << 8;
        to[i] = word >> (bit % 8) & 0x3f;
    }
}

static uint32_t row_lane(const struct cp_op *cp, const struct cp_shape *s, uint32_t row) {
    return (cp->taddr >> 16) + row % s->span + row / s->span * s->stride;
}

static void write_row(const struct cp_op *cp, struct cta *cta, const struct cp_shape *s, uint32_t row,
                      const uint8_t *bytes) {
    struct tmem *t = cta->sm->tmem;
    uint32_t lane = row_lane(cp, s, row), column = cp->taddr & 0xffff;
    for (uint32_t i = 0; i < s->copies; i++, lane += s->every)
        for (uint32_t c = 0; c < s->bytes / 4; c++) {
            memcpy(&t->cell[column + c][lane], bytes + 4 * c, 4);
            t->poison[column + c][lane / 32] &= ~(1u << (lane % 32));
        }
}

static struct tc_cells cells_of(const struct cp_op *cp, const struct cp_shape *s) {
    struct tc_cells c = {.what = "tcgen05.cp",
                         .agent = AGENT_TENSOR_COPY,
                         .effect = EFFECT_WRITE,
                         .column = cp->taddr & 0xffff,
                         .columns = s->bytes / 4};
    for (uint32_t row = 0; row < s->rows; row++)
        for (uint32_t i = 0; i < s->copies; i++) {
            const uint32_t lane = row_lane(cp, s, row) + i * s->every;
            c.lanes[lane / 32] |= 1u << lane % 32;
        }
    return c;
}

/* From a CTA's shared memory into its tensor memory; false after a fault. */
static bool copy_one(const struct cp_op *cp, struct cta *cta, const struct cp_shape *s, const struct tc_desc *d) {
    static const uint32_t used[] = {[TC_CP_RAW] = 16, [TC_CP_B6X16_P32] = 12, [TC_CP_B4X16_P64] = 8};
    uint32_t chunks = s->bytes / 16;
    uint8_t raw[128 * 32];
    const struct tc_cells cells = cells_of(cp, s);
    if (!tc_use_cells(cta, &cp->op.origin, &cells) ||
        !tc_fetch_units(cta, &cp->op.origin, "s-desc", d, s->rows, chunks, used[cp->format], raw))
        return false;
    for (uint32_t u = 0; cp->format != TC_CP_RAW && u < s->rows * chunks; u++) {
        uint8_t wide[16];
        widen(cp->format, raw + 16 * u, wide);
        memcpy(raw + 16 * u, wide, sizeof wide);
    }
    tc_sync(cta, cp->taddr & 0xffff, s->bytes / 4);
    for (uint32_t r = 0; r < s->rows; r++)
        write_row(cp, cta, s, r, raw + r * s->bytes);
    return true;
}

/* .cta_group::2: the descriptor's addresses hold in the shared memory of each CTA of the pair, as for matrix A of a
 * pair's tcgen05.mma; so each gets the scale factors of its own rows (CUTLASS's block-scaled kernels rely on it). */
static bool run_cp(struct async_op *op) {
    const struct cp_op *cp = (const struct cp_op *)op;
    const struct cp_shape *s = &cp_shapes[cp->shape];
    uint32_t lane = cp->taddr >> 16;
    struct tc_problem problem;
    struct tc_desc d;
    struct cta *pair[2];
    bool told;
    if (lane + extent(s) > TMEM_LANES) {
        mach_fault(op->cta->island, &op->origin, &cp_extent, "tcgen05.cp writes %u lanes from lane %u (address 0x%08x)",
                   extent(s), lane, cp->taddr);
        return true;
    }
    if (!tc_load_desc(op->cta->island, &op->origin, cp->desc, "s-desc", &d, &told))
        return true;
    if (!tc_check_swizzle("s-desc", TC_E4M3, false, d.swizzle, &problem)) {
        mach_fault(op->cta->island, &op->origin, problem.rule, "%s", problem.text);
        return true;
    }
    if (!tc_pair(op->cta, &op->origin, cp->group, "tcgen05.cp", pair))
        return true;
    for (unsigned i = 0; i < cp->group; i++)
        if (!copy_one(cp, pair[i], s, &d))
            break;
    return true;
}

static void describe_cp(const struct async_op *op, struct event_work *work) {
    const struct cp_op *cp = (const struct cp_op *)op;
    const struct cp_shape *s = &cp_shapes[cp->shape];
    work->cta_group = cp->group;
    work->m = s->rows;
    work->n = s->bytes / 4;
    work->bytes = (uint64_t)s->rows * s->bytes;
    work->a = cp->desc;
    work->from = work->to = op->cta;
    work->to_off = cp->taddr;
}

static const struct async_kind cp_kind = {AGENT_TENSOR_COPY, run_cp, describe_cp};

void tc_issue_cp(struct cta *cta, const struct mach_origin *origin, unsigned group, enum tc_cp_shape shape,
                 enum tc_cp_format format, uint32_t taddr, uint64_t desc) {
    struct cp_op *cp = async_op_create(sizeof *cp, &cp_kind, "tcgen05.cp", cta, origin);
    cp->group = group;
    cp->shape = shape;
    cp->format = format;
    cp->taddr = taddr;
    cp->desc = desc;
    async_issue(tc_queue(cta), &cp->op);
}

/* --- shift -------------------------------------------------------------------------------------------------------- */

struct shift_op {
    struct async_op op;
    unsigned group;
    uint32_t taddr;
};

/* The text leaves the direction to a figure. The row that a shift vacates is the one that .4x256b refreshes
 * afterwards (pipelined pair 4 of 9.7.16.6.2), which is the last lane of a 32-lane partition; so rows move to
 * the lane below. */
static void shift_one(struct cta *cta, uint32_t lane, uint32_t column) {
    struct tmem *t = cta->sm->tmem;
    tc_sync(cta, column, 8);
    for (uint32_t c = column; c < column + 8; c++) {
        memmove(&t->cell[c][lane], &t->cell[c][lane + 1], 31 * sizeof t->cell[c][0]);
        uint32_t p = t->poison[c][lane / 32];
        t->poison[c][lane / 32] = p >> 1 | (p & UINT32_C(0x80000000));
    }
}

static bool run_shift(struct async_op *op) {
    const struct shift_op *s = (const struct shift_op *)op;
    uint32_t lane = s->taddr >> 16, column = s->taddr & 0xffff;
    struct cta *pair[2];
    if (lane % 32 || lane >= TMEM_LANES) {
        mach_fault(op->cta->island, &op->origin, &shift_lane, "tcgen05.shift at lane %u (address 0x%08x)", lane,
                   s->taddr);
        return true;
    }
    if (!tc_pair(op->cta, &op->origin, s->group, "tcgen05.shift", pair))
        return true;
    struct tc_cells c = {"tcgen05.shift", AGENT_TENSOR_COPY, EFFECT_READ | EFFECT_WRITE, column, 8, {0}};
    c.lanes[lane / 32] = UINT32_MAX;
    for (unsigned i = 0; i < s->group && tc_use_cells(pair[i], &op->origin, &c); i++)
        shift_one(pair[i], lane, column);
    return true;
}

static void describe_shift(const struct async_op *op, struct event_work *work) {
    const struct shift_op *s = (const struct shift_op *)op;
    work->cta_group = s->group;
    work->m = 32;
    work->n = 8;
    work->bytes = UINT64_C(32) * 8 * 4;
    work->from = work->to = op->cta;
    work->from_off = work->to_off = s->taddr;
}

static const struct async_kind shift_kind = {AGENT_TENSOR_COPY, run_shift, describe_shift};

void tc_issue_shift(struct cta *cta, const struct mach_origin *origin, unsigned group, uint32_t taddr) {
    struct shift_op *s = async_op_create(sizeof *s, &shift_kind, "tcgen05.shift", cta, origin);
    s->group = group;
    s->taddr = taddr;
    async_issue(tc_queue(cta), &s->op);
}

/* --- commit ------------------------------------------------------------------------------------------------------- */

struct commit_op {
    struct async_op op;
    uint32_t ctas, off;
};

static bool run_commit(struct async_op *op) {
    const struct commit_op *c = (const struct commit_op *)op;
    struct cluster *cl = op->cta->cluster;
    /* 9.7.16.12.1 gives the arrival's scope and names no order */
    const struct event_by by = event_by_op(op, ORDER_RELAXED, SCOPE_CLUSTER);
    for (uint32_t rank = 0; rank < cl->num_ctas; rank++) {
        if (!(c->ctas >> rank & 1))
            continue;
        enum mbar_error e = mbar_arrive(&by, &cl->cta[rank], c->off, 1, false, NULL);
        if (e == MBAR_OK)
            continue;
        mach_fault(op->cta->island, &op->origin, mbar_op_error_diag(e, op->cta, &cl->cta[rank]),
                   "tcgen05.commit arrives on mbarrier 0x%x of cluster CTA %u: %s", c->off, rank, mbar_error_text(e));
        return true;
    }
    return true;
}

static void describe_commit(const struct async_op *op, struct event_work *work) {
    const struct commit_op *c = (const struct commit_op *)op;
    work->ctas = c->ctas;
    work->signals = op->cta;
    work->signals_off = c->off;
}

static const struct async_kind commit_kind = {AGENT_COMMIT, run_commit, describe_commit};

void tc_issue_commit(struct cta *cta, const struct mach_origin *origin, uint32_t ctas, uint32_t off) {
    struct commit_op *c = async_op_create(sizeof *c, &commit_kind, "tcgen05.commit", cta, origin);
    c->ctas = ctas;
    c->off = off;
    async_issue(tc_queue(cta), &c->op);
}
