/* isa/mma_sync.c - mma.sync: the warp-wide matrix product in registers (PTX ISA 9.7.14.5.6 - .14).
 *
 * D = A B + C with A 16 x K, B K x 8, C and D 16 x 8. With E = 32 / (bits of an element) elements in a register, lane
 * l, g = l / 4 and t = l % 4, element i of register r is
 *   A:    row g + 8 (r % 2), column 4 E (r / 2) + E t + i
 *   B:    row 4 E r + E t + i, column g
 *   C, D: row g + 8 (r / 2), column 2 t + r % 2 in 32-bit registers; row g + 8 r, column 2 t + i in .f16x2 ones,
 * which are the formulas of every .m16n8kK that is known here. Refused by name: .m8n8kK, .f64, .b1, .block_scale and
 * .kind::f8f6f4 (which sm_100 does not have).
 *
 * Numerics. The ISA leaves order, rounding and the fate of subnormals open. Here acc = fma(a, b, acc) in f32 for k
 * ascending, subnormals kept, as for tcgen05.mma; .f16 accumulators are rounded once, at the end. Integers are exact,
 * and wrapped or clamped (.satfinite) at the end. Poison of A's row, B's column or C makes the element of D poison.
 */
#include "isa/half.h"
#include "isa/isa.h"
#include "num/num.h"
#include "simd/target.h"
#include "warp/parts.h"

#include <math.h>

enum { ROWS = 16, COLS = 8, MAX_K = 64 };

struct mma_form {
    enum ptx_mod a, b, acc; /* element types, as written */
    uint32_t k, bits;       /* of an element of A and B */
    uint32_t regs_a, regs_b, regs_c;
    bool saturate, exact; /* every product is representable in f32 */
    warp_slot ra[4], rb[2], rc[4], rd[4];
};

/* Of A, as its registers lie: register r, row g and 4 E columns of it follow each other. B by rows. */
union mma_value {
    float f;
    int32_t i;
};
struct mma_values {
    union mma_value a[ROWS * MAX_K], b[MAX_K * COLS];
    uint32_t c[ROWS * COLS]; /* by rows; bits: f32 or s32 */
};

DIAG(warp_incomplete) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "mma-warp-incomplete", "9.7.14.5.14"),
    .rule = "all 32 threads of the warp execute mma.sync together, and none has exited",
    .hint = "Move the instruction out of the condition, and let no thread of the warp return before it",
    .reason = "the ISA leaves the product undefined.",
};

static uint32_t bits_of(enum ptx_mod t) {
    static const uint8_t bits[PTX_MOD_COUNT] = {
        [PTX_MOD_u4] = 4,   [PTX_MOD_s4] = 4,   [PTX_MOD_u8] = 8,    [PTX_MOD_s8] = 8,    [PTX_MOD_e4m3] = 8,
        [PTX_MOD_e5m2] = 8, [PTX_MOD_f16] = 16, [PTX_MOD_bf16] = 16, [PTX_MOD_tf32] = 32,
    };
    return bits[t];
}

/* The elements of a register, lane by lane. */
#define DECODE(E, field, value)                                                                                        \
    for (uint32_t l = 0; l < MACH_WARP; l++)                                                                           \
        for (uint32_t i = 0; i < (E); i++) {                                                                           \
            const uint32_t v = word[l] >> (32 / (E)*i);                                                                \
            out[(E)*l + i].field = (value);                                                                            \
        }                                                                                                              \
    return;
static void decode(enum ptx_mod t, const uint32_t *word, union mma_value *out) {
    switch (t) {
    case PTX_MOD_f16:
        DECODE(2, f, num_f32_from_bits(half_f32_of_f16(v & 0xffff)))
    case PTX_MOD_bf16:
        DECODE(2, f, num_f32_from_bits(v << 16))
    case PTX_MOD_e4m3:
        DECODE(4, f, num_f32_from_bits(half_f32_of_f16(half_f16_of_f8(v & 0xff, 3, false))))
    case PTX_MOD_e5m2:
        DECODE(4, f, num_f32_from_bits(half_f32_of_f16(half_f16_of_f8(v & 0xff, 2, false))))
    case PTX_MOD_s8:
        DECODE(4, i, (int32_t)((v & 0xff) ^ 128) - 128)
    case PTX_MOD_u8:
        DECODE(4, i, v & 0xff)
    case PTX_MOD_s4:
        DECODE(8, i, (int32_t)((v & 15) ^ 8) - 8)
    case PTX_MOD_u4:
        DECODE(8, i, v & 15)
    default:
        DECODE(1, f, num_decode_tf32(v))
    }
}

static void gather(const struct warp *w, const struct mma_form *f, struct mma_values *m) {
    const uint32_t wide = 128 / f->bits; /* 4 E */
    union mma_value b[8 * MAX_K];
    for (uint32_t r = 0; r < f->regs_a; r++)
        decode(f->a, warp_src32(w, f->ra[r]), m->a + 8 * wide * r);
    for (uint32_t r = 0; r < f->regs_b; r++)
        decode(f->b, warp_src32(w, f->rb[r]), b + 8 * wide * r);
    for (uint32_t k = 0; k < f->k; k++)
        for (uint32_t g = 0; g < COLS; g++)
            m->b[COLS * k + g] = b[8 * wide * (k / wide) + wide * g + k % wide];
}

/* Two 32-bit registers are 8 rows, an .f16x2 one is. */
static void gather_c(const struct warp *w, const struct mma_form *f, struct mma_values *m) {
    for (uint32_t h = 0; h < 2; h++) {
        uint32_t *c = m->c + 8 * COLS * h;
        const bool half = f->acc == PTX_MOD_f16;
        const uint32_t *lo = warp_src32(w, f->rc[half ? h : 2 * h]), *hi = warp_src32(w, f->rc[half ? h : 2 * h + 1]);
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            c[2 * l] = half ? half_f32_of_f16(lo[l] & 0xffff) : lo[l];
            c[2 * l + 1] = half ? half_f32_of_f16(lo[l] >> 16) : hi[l];
        }
    }
}

static void scatter(const struct mma_form *f, const struct mma_values *m, uint32_t out[4][MACH_WARP]) {
    for (uint32_t h = 0; h < 2; h++) {
        const uint32_t *d = m->c + 8 * COLS * h;
        for (uint32_t l = 0; l < MACH_WARP; l++)
            if (f->acc == PTX_MOD_f16)
                out[h][l] = half_f16_of_f32(d[2 * l]) | half_f16_of_f32(d[2 * l + 1]) << 16;
            else {
                out[2 * h][l] = d[2 * l];
                out[2 * h + 1][l] = d[2 * l + 1];
            }
    }
}

/* --- the product: 8 rows at a time, a row of 8 columns a vector --------------------------------------------------- */

typedef float floats __attribute__((vector_size(4 * COLS)));
typedef int32_t ints __attribute__((vector_size(4 * COLS)));

static const union mma_value *row_of(const struct mma_form *f, const struct mma_values *m, uint32_t h, uint32_t k) {
    const uint32_t wide = 128 / f->bits;
    return m->a + 8 * wide * (h + 2 * (k / wide)) + k % wide;
}

static void multiply_floats(const struct mma_form *f, struct mma_values *m, uint32_t h) {
    const uint32_t wide = 128 / f->bits;
    floats acc[8], b;
    memcpy(acc, m->c + 8 * COLS * h, sizeof acc);
    for (uint32_t k = 0; k < f->k; k++) {
        const union mma_value *a = row_of(f, m, h, k);
        memcpy(&b, m->b + COLS * k, sizeof b);
        UNROLL for (uint32_t g = 0; g < 8; g++) acc[g] += a[wide * g].f * b;
    }
    memcpy(m->c + 8 * COLS * h, acc, sizeof acc);
}

static void multiply_ints(const struct mma_form *f, struct mma_values *m, uint32_t h) {
    const uint32_t wide = 128 / f->bits;
    ints acc[8] = {0}, b;
    for (uint32_t k = 0; k < f->k; k++) {
        const union mma_value *a = row_of(f, m, h, k);
        memcpy(&b, m->b + COLS * k, sizeof b);
        UNROLL for (uint32_t g = 0; g < 8; g++) acc[g] += a[wide * g].i * b; /* 64 products of 16 bits */
    }
    for (uint32_t g = 0; g < 8; g++)
        for (uint32_t n = 0; n < COLS; n++) {
            int64_t d = (int64_t)(int32_t)m->c[COLS * (8 * h + g) + n] + acc[g][n];
            if (f->saturate)
                d = d > INT32_MAX ? INT32_MAX : d < INT32_MIN ? INT32_MIN : d;
            m->c[COLS * (8 * h + g) + n] = (uint32_t)d;
        }
}

/* Is every product representable in f32? Those of bf16 and tf32 are where no operand is huge or tiny. */
static bool is_exact(const struct mma_form *f, const struct mma_values *m) {
    uint32_t out = 0;
    if (f->exact)
        return true;
    for (uint32_t i = 0; i < ROWS * f->k; i++) {
        const uint32_t v = num_f32_bits(m->a[i].f) & 0x7fffffff;
        out |= v - 0x26800000 < 0x38800000 ? 0 : v; /* 2^-50 to 2^63, or zero */
    }
    for (uint32_t i = 0; i < COLS * f->k; i++) {
        const uint32_t v = num_f32_bits(m->b[i].f) & 0x7fffffff;
        out |= v - 0x26800000 < 0x38800000 ? 0 : v;
    }
    return out == 0;
}

static void multiply_fused(const struct mma_form *f, struct mma_values *m, uint32_t h) {
    const uint32_t wide = 128 / f->bits;
    for (uint32_t g = 0; g < 8; g++)
        for (uint32_t n = 0; n < COLS; n++) {
            float acc = num_f32_from_bits(m->c[COLS * (8 * h + g) + n]);
            for (uint32_t k = 0; k < f->k; k++)
                acc = fmaf(row_of(f, m, h, k)[wide * g].f, m->b[COLS * k + n].f, acc);
            m->c[COLS * (8 * h + g) + n] = num_f32_bits(acc);
        }
}

static void multiply(const struct mma_form *f, struct mma_values *m) {
    const bool exact = f->acc == PTX_MOD_s32 || is_exact(f, m);
    for (uint32_t h = 0; h < 2; h++)
        if (f->acc == PTX_MOD_s32)
            multiply_ints(f, m, h);
        else if (exact)
            multiply_floats(f, m, h);
        else
            multiply_fused(f, m, h);
    for (uint32_t i = 0; f->acc != PTX_MOD_s32 && i < ROWS * COLS; i++)
        m->c[i] = (m->c[i] & 0x7fffffff) > 0x7f800000 ? NUM_NAN_F32 : m->c[i];
}

/* --- poison ------------------------------------------------------------------------------------------------------- */

/* The place of half i of accumulator register r of lane l. */
static void place(const struct mma_form *f, uint32_t l, uint32_t r, uint32_t i, uint32_t *row, uint32_t *col) {
    bool half = f->acc == PTX_MOD_f16;
    *row = l / 4 + 8 * (half ? r : r / 2);
    *col = 2 * (l % 4) + (half ? i : r % 2);
}

static uint32_t poisoned_lanes(const struct warp *w, const struct mma_form *f) {
    uint32_t any = 0;
    for (uint32_t r = 0; r < f->regs_a; r++)
        any |= warp_poison(w, f->ra[r]);
    for (uint32_t r = 0; r < f->regs_b; r++)
        any |= warp_poison(w, f->rb[r]);
    for (uint32_t r = 0; r < f->regs_c; r++)
        any |= warp_poison(w, f->rc[r]);
    return any;
}

/* What of D nothing has written. */
static void find_unwritten(const struct warp *w, const struct mma_form *f, uint32_t unwritten[4][MACH_WARP]) {
    const uint32_t halves = f->acc == PTX_MOD_f16 ? 2 : 1;
    bool rows[ROWS] = {0}, cols[COLS] = {0};
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        for (uint32_t r = 0; r < f->regs_a; r++)
            rows[l / 4 + 8 * (r % 2)] |= warp_poison(w, f->ra[r]) >> l & 1;
        for (uint32_t r = 0; r < f->regs_b; r++)
            cols[l / 4] |= warp_poison(w, f->rb[r]) >> l & 1;
    }
    for (uint32_t l = 0; l < MACH_WARP; l++)
        for (uint32_t r = 0; r < f->regs_c; r++)
            for (uint32_t i = 0; i < halves; i++) {
                const uint32_t part = (halves == 2 ? 0xffff : UINT32_MAX) << (16 * i);
                uint32_t row, col;
                place(f, l, r, i, &row, &col);
                if (rows[row] || cols[col] || warp_unwritten(w, f->rc[r], 32, l) & part)
                    unwritten[r][l] |= part;
            }
}

static enum warp_status do_mma(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mma_form *f = in->data;
    if (mask != WARP_ALL_LANES)
        return warp_fault(w, in, mask, &warp_incomplete, "only the lanes of mask 0x%08x execute it", mask);
    const bool poisoned = poisoned_lanes(w, f) != 0;
    struct mma_values m;
    uint32_t out[4][MACH_WARP], unwritten[4][MACH_WARP] = {0};
    gather(w, f, &m);
    gather_c(w, f, &m);
    multiply(f, &m);
    scatter(f, &m, out);
    if (poisoned)
        find_unwritten(w, f, unwritten);
    for (uint32_t r = 0; r < f->regs_c; r++) {
        if (f->rd[r] == WARP_SINK)
            continue;
        memcpy(warp_dst32(w, f->rd[r]), out[r], sizeof out[r]);
        warp_set_poison(w, f->rd[r], WARP_ALL_LANES, 0);
        for (uint32_t l = 0; poisoned && l < MACH_WARP; l++)
            if (unwritten[r][l])
                warp_set_unwritten(w, f->rd[r], 32, l, unwritten[r][l]);
    }
    return WARP_NEXT;
}

/* --- binding ------------------------------------------------------------------------------------------------------ */

static uint32_t shape_k(const struct ptx_insn *p) {
    static const struct {
        enum ptx_mod mod;
        uint32_t k;
    } shapes[] = {{PTX_MOD_m16n8k4, 4},
                  {PTX_MOD_m16n8k8, 8},
                  {PTX_MOD_m16n8k16, 16},
                  {PTX_MOD_m16n8k32, 32},
                  {PTX_MOD_m16n8k64, 64}};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (ptx_has(p, shapes[i].mod))
            return shapes[i].k;
    return 0;
}

/* The combinations of 9.7.14.5.14. A row of A has 2 or 1 registers of a lane's four, in K: 4 E or 8 E elements. */
static bool legal(const struct mma_form *f, enum ptx_mod d) {
    bool fp8 = f->bits == 8 && (f->a == PTX_MOD_e4m3 || f->a == PTX_MOD_e5m2);
    if (d != f->acc || !f->bits || f->bits != bits_of(f->b) || (f->k != 128 / f->bits && f->k != 256 / f->bits))
        return false;
    if (fp8)
        return (f->b == PTX_MOD_e4m3 || f->b == PTX_MOD_e5m2) && (d == PTX_MOD_f32 || d == PTX_MOD_f16);
    if (f->bits <= 8)
        return f->b != PTX_MOD_e4m3 && f->b != PTX_MOD_e5m2 && d == PTX_MOD_s32;
    return f->a == f->b && (d == PTX_MOD_f32 || (d == PTX_MOD_f16 && f->a == PTX_MOD_f16));
}

static bool take(const struct warp_opnd *o, uint32_t count, warp_slot *slots) {
    if (!isa_is_list(o, count))
        return false;
    memcpy(slots, o->list, count * sizeof *slots);
    return true;
}

/* .sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype, in this order and nothing else. */
static bool written_so(const struct ptx_insn *p, bool saturate) {
    return p->num_mods == 9u + saturate && p->mods[0] == PTX_MOD_sync && p->mods[1] == PTX_MOD_aligned &&
           p->mods[3] == PTX_MOD_row && p->mods[4] == PTX_MOD_col && (!saturate || p->mods[5] == PTX_MOD_satfinite);
}

bool isa_bind_mma(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *p = in->src;
    struct mma_form *f = arena_alloc(b->arena, sizeof *f);
    memset(f, 0, sizeof *f);
    f->saturate = ptx_has(p, PTX_MOD_satfinite);
    f->k = shape_k(p);
    b->why = "of mma.sync the .m16n8 shapes of f16, bf16, tf32, e4m3, e5m2 and 4- and 8-bit integers are known";
    if (!written_so(p, f->saturate))
        return false;
    const uint16_t *types = p->mods + 5 + f->saturate;
    f->a = (enum ptx_mod)types[1];
    f->b = (enum ptx_mod)types[2];
    f->acc = (enum ptx_mod)types[3];
    f->bits = bits_of(f->a);
    if (!f->k || !legal(f, (enum ptx_mod)types[0]) || (f->saturate && f->acc != PTX_MOD_s32))
        return false;
    b->why = NULL;
    f->regs_a = f->k * f->bits / 64;
    f->regs_b = f->regs_a / 2;
    f->regs_c = f->acc == PTX_MOD_f16 ? 2 : 4;
    f->exact = f->a != PTX_MOD_bf16 && f->a != PTX_MOD_tf32;
    if (!take(&in->o[0], f->regs_c, f->rd) || !take(&in->o[1], f->regs_a, f->ra) ||
        !take(&in->o[2], f->regs_b, f->rb) || !take(&in->o[3], f->regs_c, f->rc))
        return false;
    in->data = f;
    in->aligned = true;
    in->fn = do_mma;
    return true;
}
