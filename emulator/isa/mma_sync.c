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
#include "isa/isa.h"
#include "num/num.h"
#include "warp/parts.h"

#include <float.h>
#include <math.h>

enum { ROWS = 16, COLS = 8, MAX_K = 64 };

struct mma_form {
    enum ptx_mod a, b, acc; /* element types, as written */
    uint32_t k, bits;       /* of an element of A and B */
    uint32_t regs_a, regs_b, regs_c;
    bool saturate, exact; /* every product is representable in f32 */
    warp_slot ra[4], rb[2], rc[4], rd[4];
};

/* Matrices by row; B by column. */
struct mma_values {
    float a[ROWS][MAX_K], b[COLS][MAX_K];
    int32_t ia[ROWS][MAX_K], ib[COLS][MAX_K];
    uint32_t c[ROWS][COLS], d[ROWS][COLS]; /* bits: f32, f16 or s32 */
    bool poison_a[ROWS], poison_b[COLS], poison_c[ROWS][COLS];
};

DIAG(warp_incomplete) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "mma-warp-incomplete", "9.7.14.5.14"),
    .rule = "all 32 threads of the warp execute mma.sync together, and none has exited",
    .reason = "the ISA leaves the product undefined.",
};

static uint32_t bits_of(enum ptx_mod t) {
    static const uint8_t bits[PTX_MOD_COUNT] = {
        [PTX_MOD_u4] = 4,   [PTX_MOD_s4] = 4,   [PTX_MOD_u8] = 8,    [PTX_MOD_s8] = 8,    [PTX_MOD_e4m3] = 8,
        [PTX_MOD_e5m2] = 8, [PTX_MOD_f16] = 16, [PTX_MOD_bf16] = 16, [PTX_MOD_tf32] = 32,
    };
    return bits[t];
}

static float decode(enum ptx_mod t, uint32_t v) {
    switch (t) {
    case PTX_MOD_f16:
        return num_decode_f16((uint16_t)v);
    case PTX_MOD_bf16:
        return num_decode_bf16((uint16_t)v);
    case PTX_MOD_e4m3:
        return num_decode_e4m3((uint8_t)v);
    case PTX_MOD_e5m2:
        return num_decode_e5m2((uint8_t)v);
    default:
        return num_decode_tf32(v);
    }
}

static int32_t decode_int(enum ptx_mod t, uint32_t v) {
    switch (t) {
    case PTX_MOD_s8:
        return (int8_t)v;
    case PTX_MOD_s4:
        return (int32_t)(v ^ 8) - 8;
    default:
        return (int32_t)v;
    }
}

static void gather(const struct warp *w, const struct mma_form *f, struct mma_values *m) {
    uint32_t per = 32 / f->bits, low = f->bits == 32 ? UINT32_MAX : (1u << f->bits) - 1;
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        uint32_t g = l / 4, t = l % 4;
        for (uint32_t r = 0; r < f->regs_a + f->regs_b; r++) {
            bool is_b = r >= f->regs_a;
            uint32_t q = is_b ? r - f->regs_a : r / 2, row = is_b ? g : g + 8 * (r % 2);
            warp_slot s = is_b ? f->rb[q] : f->ra[r];
            uint32_t word = warp_src32(w, s)[l];
            for (uint32_t i = 0; i < per; i++) {
                uint32_t v = word >> (i * f->bits) & low, at = 4 * per * q + per * t + i;
                if (f->acc == PTX_MOD_s32)
                    (is_b ? m->ib : m->ia)[row][at] = decode_int(is_b ? f->b : f->a, v);
                else
                    (is_b ? m->b : m->a)[row][at] = decode(is_b ? f->b : f->a, v);
            }
            if (warp_poison(w, s) >> l & 1)
                *(is_b ? &m->poison_b[row] : &m->poison_a[row]) = true;
        }
    }
}

/* The place of half i of accumulator register r of lane l. */
static void place(const struct mma_form *f, uint32_t l, uint32_t r, uint32_t i, uint32_t *row, uint32_t *col) {
    bool half = f->acc == PTX_MOD_f16;
    *row = l / 4 + 8 * (half ? r : r / 2);
    *col = 2 * (l % 4) + (half ? i : r % 2);
}

static void gather_c(const struct warp *w, const struct mma_form *f, struct mma_values *m) {
    uint32_t halves = f->acc == PTX_MOD_f16 ? 2 : 1;
    for (uint32_t l = 0; l < MACH_WARP; l++)
        for (uint32_t r = 0; r < f->regs_c; r++)
            for (uint32_t i = 0; i < halves; i++) {
                uint32_t row, col, v = warp_src32(w, f->rc[r])[l];
                place(f, l, r, i, &row, &col);
                m->c[row][col] = halves == 2 ? v >> (16 * i) & 0xffff : v;
                const uint64_t part = halves == 2 ? UINT64_C(0xffff) << (16 * i) : ~UINT64_C(0);
                m->poison_c[row][col] = (warp_unwritten(w, f->rc[r], 32, l) & part) != 0;
            }
}

/* One rounding a step. A product that is not exact in f32 (bf16 and tf32 beyond f32's range) goes through fmaf. */
static float step(float a, float b, float acc, bool exact) {
    float p = a * b, size = fabsf(p);
    if (exact || (size > 0x1p-100f && size <= FLT_MAX))
        return acc + p;
    return fmaf(a, b, acc);
}

static uint32_t float_element(const struct mma_form *f, const struct mma_values *m, uint32_t row, uint32_t col) {
    bool half = f->acc == PTX_MOD_f16;
    uint32_t c = m->c[row][col];
    float acc = half ? num_decode_f16((uint16_t)c) : num_f32_from_bits(c);
    for (uint32_t k = 0; k < f->k; k++)
        acc = step(m->a[row][k], m->b[col][k], acc, f->exact);
    if (acc != acc)
        return half ? NUM_NAN_F16 : NUM_NAN_F32;
    return half ? (uint32_t)num_encode(NUM_F16, (double)acc, NUM_RN, 0) : num_f32_bits(acc);
}

static uint32_t int_element(const struct mma_form *f, const struct mma_values *m, uint32_t row, uint32_t col) {
    int64_t acc = (int32_t)m->c[row][col];
    for (uint32_t k = 0; k < f->k; k++)
        acc += (int64_t)m->ia[row][k] * m->ib[col][k];
    if (f->saturate)
        acc = acc > INT32_MAX ? INT32_MAX : acc < INT32_MIN ? INT32_MIN : acc;
    return (uint32_t)acc;
}

static void scatter(struct warp *w, const struct mma_form *f, const struct mma_values *m) {
    uint32_t halves = f->acc == PTX_MOD_f16 ? 2 : 1;
    for (uint32_t r = 0; r < f->regs_c; r++) {
        uint32_t out[MACH_WARP], unwritten[MACH_WARP] = {0}, poison = 0;
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            out[l] = 0;
            for (uint32_t i = 0; i < halves; i++) {
                uint32_t row, col;
                place(f, l, r, i, &row, &col);
                out[l] |= m->d[row][col] << (16 * i);
                if (m->poison_a[row] || m->poison_b[col] || m->poison_c[row][col])
                    unwritten[l] |= (halves == 2 ? 0xffff : UINT32_MAX) << (16 * i);
            }
            poison |= unwritten[l] ? 1u << l : 0;
        }
        if (f->rd[r] == WARP_SINK)
            continue;
        memcpy(warp_dst32(w, f->rd[r]), out, sizeof out);
        warp_set_poison(w, f->rd[r], ~poison, 0);
        WARP_FOR_LANES(l, poison) { warp_set_unwritten(w, f->rd[r], 32, l, unwritten[l]); }
    }
}

static enum warp_status do_mma(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct mma_form *f = in->data;
    if (mask != WARP_ALL_LANES)
        return warp_fault(w, in, mask, &warp_incomplete, "only lanes 0x%08x execute it", mask);
    struct mma_values m;
    memset(m.poison_a, 0, sizeof m.poison_a);
    memset(m.poison_b, 0, sizeof m.poison_b);
    gather(w, f, &m);
    gather_c(w, f, &m);
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t col = 0; col < COLS; col++)
            m.d[row][col] = f->acc == PTX_MOD_s32 ? int_element(f, &m, row, col) : float_element(f, &m, row, col);
    scatter(w, f, &m);
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
