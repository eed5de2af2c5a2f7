/* engines/tc_ldst.c - tcgen05.ld and tcgen05.st: the images of tensor memory in registers (PTX
 * ISA 9.7.16.2.3, 9.7.16.8).
 *
 * The ISA gives the images as figures. The formulas in image are those of the 16dp/32dp layouts in CUTLASS
 * copy_traits_sm100.hpp; ld and st share them. With .pack::16b a register holds the low halves of two
 * neighbouring columns, the lower column in its low half; .unpack::16b writes them back, zero-extended, one
 * to each column.
 */
#include "engines/tc.h"

#include "base/fatal.h"

#include <string.h>

/* Where register `reg` of thread `thread` lies: lane and 32-bit column from the address operand; half 1
 * starts at taddr + immHalfSplitoff (.16x32bx2 only). With .pack::16b a column stands for two TMEM columns.
 */
struct cell {
    uint32_t lane, column, half;
};
static struct cell image(enum tc_shape shape, uint32_t thread, uint32_t reg) {
    switch (shape) {
    case TC_32X32B:
        return (struct cell){thread, reg, 0};
    case TC_16X64B:
        return (struct cell){thread / 4 + 8 * (thread % 2), 2 * reg + thread / 2 % 2, 0};
    case TC_16X128B:
        return (struct cell){thread / 4 + 8 * (reg % 2), 4 * (reg / 2) + thread % 4, 0};
    case TC_16X256B:
        return (struct cell){thread / 4 + 8 * (reg / 2 % 2), 8 * (reg / 4) + 2 * (thread % 4) + reg % 2, 0};
    case TC_16X32BX2:
        return (struct cell){thread % 16, reg, thread / 16};
    }
    fatal_broken("tcgen05.ld/st shape %d", (int)shape);
}

/* 32-bit columns of one repetition, which is also (lanes x columns) / 32 registers. */
static uint32_t base_columns(enum tc_shape shape) {
    switch (shape) {
    case TC_32X32B:
    case TC_16X32BX2:
        return 1;
    case TC_16X64B:
        return 2;
    case TC_16X128B:
        return 4;
    case TC_16X256B:
        return 8;
    }
    fatal_broken("tcgen05.ld/st shape %d", (int)shape);
}

uint32_t tc_image_lanes(enum tc_shape shape) { return shape == TC_32X32B ? 32 : 16; }

uint32_t tc_image_regs(enum tc_shape shape, uint32_t num) {
    uint32_t base = base_columns(shape);
    uint32_t regs = num * (base > 1 ? base / 2 : 1);
    bool power = num && !(num & (num - 1));
    return power && num <= 128 && regs <= 128 ? regs : 0;
}

DIAG(lane_window) = {
    DIAG_HEAD(STRICT, "tcgen05-lane-window", "9.7.16.8.1"),
    .rule = "warp w of a CTA accesses lanes 32*(w%4) to 32*(w%4)+31 of tensor memory and no others",
    .hint = "Add (warp % 4) * 32 << 16 to the address, or let another warp of the warpgroup do it. The chip uses the "
            "warp's own lanes, whatever the address says; the ISA does not promise it",
    .reason = "the chip uses the warp's own lanes, whatever the address says, as DeepGEMM's source states; the "
              "emulator does the same.",
};
DIAG(lane_alignment) = {
    DIAG_HEAD(ERROR, "tcgen05-lane-alignment", "9.7.16.8"),
    .rule = "a .32x32b access starts at the first lane of the warp's window, a .16x* access at its lane 0 or 16",
    .hint = "Add (warp % 4) * 32 << 16 to the address, and for the second half of a .16x* access 16 << 16 more",
    .reason = "the lanes are in two windows, or in none.",
};
DIAG(out_of_columns) = {
    DIAG_HEAD(ERROR, "tcgen05-tmem-columns", "9.7.16.1"),
    .rule = "tensor memory has 512 columns",
    .hint =
        "Check the address's column and the repeat factor: the access covers .xN times the shape's columns from there",
    .reason = "there are no such columns.",
};

/* Columns of tensor memory per half. */
static uint32_t tmem_columns(const struct tc_access *a) { return base_columns(a->shape) * a->num << (a->pack ? 1 : 0); }

bool tc_check_window(struct cta *cta, const struct mach_origin *origin, const char *name, struct tc_access *a,
                     uint32_t warp) {
    const uint32_t lane = a->taddr >> 16, column = a->taddr & 0xffff, lanes = tc_image_lanes(a->shape);
    const uint32_t first = warp % 4 * 32, own = first + lane % 32;
    const uint32_t end = column + tmem_columns(a) + (a->shape == TC_16X32BX2 ? a->split : 0);
    if (lane % 32 + lanes > 32 || lane % 16)
        mach_fault(cta->island, origin, &lane_alignment, "%s starts at lane %u (address 0x%08x)", name, lane, a->taddr);
    else if (a->split > TMEM_COLUMNS || end > TMEM_COLUMNS)
        mach_fault(cta->island, origin, &out_of_columns, "%s covers columns %u to %u (address 0x%08x)", name, column,
                   end - 1, a->taddr);
    else if (lane != own) {
        mach_warn(cta->island, origin, &lane_window,
                  "%s touches lanes %u to %u (address 0x%08x); warp %u has lanes %u to %u", name, lane,
                  lane + lanes - 1, a->taddr, warp, first, first + 31);
        a->taddr = own << 16 | column;
    }
    return !cta->island->fault;
}

/* Lanes of the address's partition that are touched: with .32x32b each thread's own. */
static uint32_t partition_lanes(const struct tc_access *a) {
    const uint32_t all = (uint32_t)((UINT64_C(1) << tc_image_lanes(a->shape)) - 1) << (a->taddr >> 16) % 32;
    return a->shape == TC_32X32B ? all & a->threads : all;
}

static bool use_cells(struct cta *cta, const struct mach_origin *origin, const char *name, enum event_effect effect,
                      const struct tc_access *a) {
    struct tc_cells c = {.what = name,
                         .agent = AGENT_TENSOR_LDST,
                         .effect = effect,
                         .column = a->taddr & 0xffff,
                         .columns = tmem_columns(a)};
    c.lanes[(a->taddr >> 16) / 32] = partition_lanes(a);
    if (a->shape != TC_16X32BX2)
        return tc_use_cells(cta, origin, &c);
    struct tc_cells half = c;
    half.column += a->split;
    return tc_use_cells(cta, origin, &c) && tc_use_cells(cta, origin, &half);
}

static void sync_columns(struct cta *cta, const struct tc_access *a) {
    uint32_t column = a->taddr & 0xffff, n = tmem_columns(a);
    tc_sync(cta, column, n);
    if (a->shape == TC_16X32BX2)
        tc_sync(cta, column + a->split, n);
}

/* Where a register of a thread lies in the SM's tensor memory. */
static struct cell place(const struct tc_access *a, uint32_t thread, uint32_t reg) {
    struct cell c = image(a->shape, thread, reg);
    c.lane += a->taddr >> 16;
    c.column = (a->taddr & 0xffff) + c.half * a->split + (c.column << (a->pack ? 1 : 0));
    return c;
}

static uint32_t poisoned(const struct tmem *t, uint32_t column, uint32_t lane) {
    return t->poison[column][lane / 32] >> (lane % 32) & 1;
}

static void set_cell(struct tmem *t, uint32_t column, uint32_t lane, uint32_t value, uint32_t poison) {
    uint32_t *p = &t->poison[column][lane / 32], bit = 1u << (lane % 32);
    t->cell[column][lane] = value;
    *p = poison ? *p | bit : *p & ~bit;
}

/* A whole column of the window is one register of the warp. */
static bool is_straight(const struct tc_access *a) {
    return a->shape == TC_32X32B && !a->pack && a->threads == UINT32_MAX;
}

bool tc_load(struct cta *cta, const struct mach_origin *origin, const struct tc_access *a, uint32_t *data,
             uint32_t *poison) {
    if (!use_cells(cta, origin, "tcgen05.ld", EFFECT_READ, a))
        return false;
    sync_columns(cta, a);
    const struct tmem *t = cta->sm->tmem;
    uint32_t regs = tc_image_regs(a->shape, a->num);
    for (uint32_t r = 0; r < regs; r++) {
        uint32_t p = 0;
        if (is_straight(a)) {
            uint32_t column = (a->taddr & 0xffff) + r, lane = a->taddr >> 16;
            memcpy(data + r * 32, &t->cell[column][lane], 32 * sizeof *data);
            p = t->poison[column][lane / 32];
        } else {
            for (uint32_t th = 0; th < 32; th++) {
                struct cell c = place(a, th, r);
                uint32_t v = t->cell[c.column][c.lane], bad = poisoned(t, c.column, c.lane);
                if (a->pack) {
                    v = (v & 0xffff) | t->cell[c.column + 1][c.lane] << 16;
                    bad |= poisoned(t, c.column + 1, c.lane);
                }
                data[r * 32 + th] = v;
                p |= bad << th;
            }
        }
        poison[r] = p;
    }
    return true;
}

bool tc_store(struct cta *cta, const struct mach_origin *origin, const struct tc_access *a, const uint32_t *data,
              const uint32_t *poison) {
    if (!use_cells(cta, origin, "tcgen05.st", EFFECT_WRITE, a))
        return false;
    sync_columns(cta, a);
    struct tmem *t = cta->sm->tmem;
    uint32_t regs = tc_image_regs(a->shape, a->num);
    t->clean_end = t->clean = 0;
    for (uint32_t r = 0; r < regs; r++) {
        if (is_straight(a)) {
            uint32_t column = (a->taddr & 0xffff) + r, lane = a->taddr >> 16;
            memcpy(&t->cell[column][lane], data + r * 32, 32 * sizeof *data);
            t->poison[column][lane / 32] = poison[r];
            continue;
        }
        for (uint32_t th = 0; th < 32; th++) {
            if (!(a->threads >> th & 1))
                continue;
            struct cell c = place(a, th, r);
            uint32_t v = data[r * 32 + th], bad = poison[r] >> th & 1;
            set_cell(t, c.column, c.lane, a->pack ? v & 0xffff : v, bad);
            if (a->pack)
                set_cell(t, c.column + 1, c.lane, v >> 16, bad);
        }
    }
    return true;
}

/* --- asynchronous forms ------------------------------------------------------------------------------------------- */

struct ld_op {
    struct async_op op;
    struct tc_access access;
    uint32_t *data, *poison;
    bool *done;
};

static bool run_ld(struct async_op *op) {
    struct ld_op *ld = (struct ld_op *)op;
    tc_load(op->cta, &op->origin, &ld->access, ld->data, ld->poison);
    *ld->done = true;
    return true;
}

static void describe_access(const struct tc_access *a, struct event_work *work) {
    work->m = tc_image_lanes(a->shape);
    work->n = tmem_columns(a);
    work->bytes = (uint64_t)work->m * work->n * 4;
}

static void describe_ld(const struct async_op *op, struct event_work *work) {
    const struct ld_op *ld = (const struct ld_op *)op;
    describe_access(&ld->access, work);
    work->from = op->cta;
    work->from_off = ld->access.taddr;
}

static const struct async_kind ld_kind = {AGENT_TENSOR_LDST, run_ld, describe_ld};

uint64_t tc_issue_ld(struct async_queue *q, const struct mach_origin *origin, const struct tc_access *a, uint32_t *data,
                     uint32_t *poison, bool *done) {
    struct ld_op *ld = async_op_create(sizeof *ld, &ld_kind, "tcgen05.ld", q->cta, origin);
    ld->access = *a;
    ld->data = data;
    ld->poison = poison;
    ld->done = done;
    async_issue(q, &ld->op);
    return ld->op.number;
}

struct st_op {
    struct async_op op;
    struct tc_access access;
    uint32_t *outstanding;
    uint32_t words[]; /* 32 per register, then a poison mask per register */
};

static bool run_st(struct async_op *op) {
    struct st_op *st = (struct st_op *)op;
    uint32_t regs = tc_image_regs(st->access.shape, st->access.num);
    tc_store(op->cta, &op->origin, &st->access, st->words, st->words + regs * 32);
    --*st->outstanding;
    return true;
}

static void describe_st(const struct async_op *op, struct event_work *work) {
    const struct st_op *st = (const struct st_op *)op;
    describe_access(&st->access, work);
    work->to = op->cta;
    work->to_off = st->access.taddr;
}

static const struct async_kind st_kind = {AGENT_TENSOR_LDST, run_st, describe_st};

void tc_issue_st(struct async_queue *q, const struct mach_origin *origin, const struct tc_access *a,
                 const uint32_t *data, const uint32_t *poison, uint32_t *outstanding) {
    uint32_t regs = tc_image_regs(a->shape, a->num);
    struct st_op *st =
        async_op_create_with(sizeof *st, regs * 33 * sizeof(uint32_t), &st_kind, "tcgen05.st", q->cta, origin);
    st->access = *a;
    st->outstanding = outstanding;
    memcpy(st->words, data, regs * 32 * sizeof *data);
    memcpy(st->words + regs * 32, poison, regs * sizeof *poison);
    ++*outstanding;
    async_issue(q, &st->op);
}
