/* isa/ldmatrix.c - ldmatrix, stmatrix and movmatrix of 8x8 matrices of 16-bit elements (PTX ISA 9.7.14.5.15 - .17).
 *
 * Row r of matrix m is the 16 bytes at the address of lane 8 m + r. Lane l holds elements 2 (l % 4) and 2 (l % 4) + 1
 * of row l / 4 in one register per matrix; with .trans, of column l / 4. The shapes of 8-, 6- and 4-bit elements are
 * refused: their fragments are given only in figures.
 */
#include "isa/form.h"
#include "isa/tell.h"
#include "simd/target.h"
#include "warp/parts.h"
#include "warp/unwritten.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

struct matrix_form {
    enum warp_space space;
    bool store, trans;
    uint32_t count; /* matrices: 1, 2, 4 */
    const struct warp_opnd *addr;
    warp_slot reg[4];
};

DIAG(warp_incomplete) = {
    DIAG_FAULT(ILLEGAL_INSTRUCTION, "matrix-warp-incomplete", "9.7.14.5.15"),
    .rule = "all 32 threads of the warp execute ldmatrix, stmatrix and movmatrix together, and none has exited",
    .hint = "Move the instruction out of the condition, and let no thread of the warp return before it",
    .reason = "the ISA leaves undefined what the lanes get if not all 32 take part.",
};
DIAG(not_shared) = {
    DIAG_FAULT(ILLEGAL_ADDRESS, "matrix-address-space", "9.7.14.5.15"),
    .rule = "ldmatrix reads, and stmatrix writes, rows in the shared memory of the executing CTA",
    .hint = "Check the row addresses: lane 8*m + r gives the address of row r of matrix m",
    .reason = "the ISA leaves the behaviour undefined.",
};

/* Do all lanes execute it, and are the addresses of all rows known? Else it is a fault. */
static bool may_run(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct matrix_form *f = in->data;
    if (mask == WARP_ALL_LANES)
        return warp_address_known(w, in, f->addr, f->count == 4 ? WARP_ALL_LANES : (1u << (8 * f->count)) - 1);
    return warp_fails(w, in, mask, &warp_incomplete, "only the lanes of mask 0x%08x execute it", mask);
}

/* The rows of matrix m as locations in shared memory. False after a fault. */
static bool find_rows(struct warp *w, const struct insn *in, const struct matrix_form *f, uint32_t m,
                      struct warp_loc row[8]) {
    for (uint32_t r = 0; r < 8; r++) {
        uint32_t lane = 8 * m + r;
        uint64_t addr = warp_address(w, f->addr, lane);
        if (!warp_resolve(w, in, lane, f->space, addr, 16, 16, f->store, &row[r]))
            return false;
        if (row[r].space != XS_SHARED_CTA || row[r].cta != w->cta)
            return warp_fails(w, in, 1u << lane, &not_shared, "row %u of matrix %u is not in this CTA's shared memory",
                              r, m);
    }
    return true;
}

/* Element (row, column) that is half h of lane l's register. */
static void element_of(uint32_t l, uint32_t h, bool trans, uint32_t *row, uint32_t *col) {
    uint32_t a = l / 4, b = 2 * (l % 4) + h;
    *row = trans ? b : a;
    *col = trans ? a : b;
}

/* Each lane reads or writes the two elements of a row that its register holds. */
static void tell_words(const struct warp *w, const struct insn *in, const uint64_t row[8], enum event_effect effect) {
    const uint32_t first = (uint32_t)row[0];
    bool row_after_row = true;
    for (uint32_t r = 0; r + 1 < 8; r++)
        row_after_row &= row[r + 1] - row[r] == 16;
    if (row_after_row ? isa_told_halves(w, in, first, first + MACH_WARP / 2 * 4, 3, 4, effect & EFFECT_WRITE)
                      : isa_told_matrix(w, in, row, false, effect & EFFECT_WRITE))
        return;
    struct isa_lanes t;
    t.cta = w->cta;
    t.affine = t.halves = t.spread = false;
    t.step = t.high = 0;
    if (row_after_row)
        isa_lanes_row(&t, row[0], 4);
    for (uint32_t r = 0; !row_after_row && r < 8; r++)
        for (uint32_t l = 0; l < 4; l++)
            t.at[4 * r + l] = row[r] + 4 * l;
    isa_tell_at(w, in, &t, 4, WARP_ALL_LANES, effect, NULL);
}

/* With .trans they are of a column: the lower half of the registers, or the upper one. */
typedef uint64_t two_longs __attribute__((vector_size(16), aligned(8), may_alias));
static void tell_column(const struct warp *w, const struct insn *in, const uint64_t row[8], uint32_t h,
                        enum event_effect effect) {
    struct isa_lanes t;
    t.cta = w->cta;
    t.affine = t.halves = t.spread = false;
    t.step = t.high = 0;
    two_longs first = {row[h], row[2 + h]}, other = {row[4 + h], row[6 + h]};
    for (uint32_t col = 0; col < 8; col++, first += 2, other += 2) {
        *(two_longs *)(t.at + 4 * col) = first;
        *(two_longs *)(t.at + 4 * col + 2) = other;
    }
    isa_tell_at(w, in, &t, 2, WARP_ALL_LANES, effect, NULL);
}

static void tell_matrix(const struct warp *w, const struct insn *in, const uint64_t row[8], bool trans,
                        enum event_effect effect) {
    if (!events_wanted(w->gpu, isa_wants(XS_SHARED_CTA, effect)))
        return;
    if (!trans)
        tell_words(w, in, row, effect);
    for (uint32_t h = trans ? isa_told_matrix(w, in, row, true, effect & EFFECT_WRITE) : 2; h < 2; h++)
        tell_column(w, in, row, h, effect);
}

static void tell_rows(const struct warp *w, const struct insn *in, const struct warp_loc row[8], bool trans,
                      enum event_effect effect) {
    uint64_t at[8];
    for (uint32_t r = 0; r < 8; r++)
        at[r] = row[r].off;
    tell_matrix(w, in, at, trans, effect);
}

/* --- all rows in this CTA's shared memory, and nothing poisoned --------------------------------------------------- */

#if defined(__SSE2__)
/* A matrix in the order of its rows, 16 bytes each, which is that of the lanes' registers: pairs of elements, then of
 * words, then of halves. */
static ALWAYS_INLINE void transpose(uint32_t *matrix, const uint32_t *from) {
    __m128i_u *const m = (void *)matrix;
    const __m128i_u *const f = (const void *)from;
    __m128i a[8], b[8];
    UNROLL for (unsigned i = 0; i < 4; i++) {
        const __m128i x = _mm_loadu_si128(f + i), y = _mm_loadu_si128(f + i + 4);
        a[2 * i] = _mm_unpacklo_epi16(x, y);
        a[2 * i + 1] = _mm_unpackhi_epi16(x, y);
    }
    UNROLL for (unsigned i = 0; i < 4; i++) {
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    UNROLL for (unsigned i = 0; i < 4; i++) {
        _mm_storeu_si128(m + 2 * i, _mm_unpacklo_epi16(b[i], b[i + 4]));
        _mm_storeu_si128(m + 2 * i + 1, _mm_unpackhi_epi16(b[i], b[i + 4]));
    }
}
#else
/* A block of 4 x 4 elements, one row after the other a word of 64 bits. */
static ALWAYS_INLINE void transpose_block(uint64_t a[4]) {
    UNROLL for (unsigned i = 0; i < 4; i += 2) {
        const uint64_t t = ((a[i] >> 16) ^ a[i + 1]) & UINT64_C(0x0000ffff0000ffff);
        a[i] ^= t << 16;
        a[i + 1] ^= t;
    }
    UNROLL for (unsigned i = 0; i < 2; i++) {
        const uint64_t t = ((a[i] >> 32) ^ a[i + 2]) & UINT64_C(0xffffffff);
        a[i] ^= t << 32;
        a[i + 2] ^= t;
    }
}

/* A matrix in the order of its rows, 16 bytes each, which is that of the lanes' registers. */
static void transpose(uint32_t *matrix, const uint32_t *from) {
    uint64_t row[8][2], block[4][4];
    memcpy(row, from, sizeof row);
    UNROLL for (unsigned n = 0; n < 4; n++) {
        UNROLL for (unsigned r = 0; r < 4; r++) block[n][r] = row[4 * (n / 2) + r][n % 2];
        transpose_block(block[n]);
    }
    UNROLL for (unsigned n = 0; n < 4; n++) {
        UNROLL for (unsigned r = 0; r < 4; r++) row[4 * (n / 2) + r][n % 2] = block[2 * (n % 2) + n / 2][r];
    }
    memcpy(matrix, row, sizeof row);
}
#endif

/* Eight rows of a matrix, and back. */
static ALWAYS_INLINE void copy_matrix(void *to, const void *from, bool trans) {
    if (trans)
        transpose(to, from);
    else
        UNROLL for (unsigned r = 0; r < 8; r++) memcpy((char *)to + 16 * r, (const char *)from + 16 * r, 16);
}

/* Four matrices whose rows follow each other. */
static bool is_block(const struct warp_span *s) { return s->affine && s->stride == 16; }

/* The rows' places; of a block the others are for events. False where one is elsewhere, or its address bad. */
static bool all_rows(const struct warp *w, const struct matrix_form *f, struct warp_span *s) {
    const uint32_t lanes = f->count == 4 ? WARP_ALL_LANES : (1u << (8 * f->count)) - 1;
    if (!warp_span(w, f->addr, lanes, f->space, 16, 16, f->store, s) || s->space != XS_SHARED_CTA || s->cta != w->cta)
        return false;
    const enum event_effect effect = f->store ? EFFECT_WRITE : EFFECT_READ;
    const bool needed = !is_block(s) || events_wanted(w->gpu, isa_wants(XS_SHARED_CTA, effect));
    for (uint32_t l = 1; needed && s->affine && l < MACH_WARP; l++)
        s->at[l] = s->at[0] + (uint64_t)(l * s->stride);
    return true;
}

/* False: nothing has happened. */
static bool load_rows(struct warp *w, const struct insn *in, const struct matrix_form *f) {
    uint32_t none[MACH_WARP], poison = 0;
    struct warp_span s;
    if (!all_rows(w, f, &s))
        return false;
    if (is_block(&s))
        poison = smem_poisoned(w->cta, (uint32_t)s.at[0], MACH_WARP * 16);
    else
        for (uint32_t r = 0; !s.clean && r < 8 * f->count; r++)
            poison |= warp_bits_get(s.poison, s.at[r], 16);
    if (poison)
        return false;
    for (uint32_t m = 0; m < f->count; m++) {
        uint32_t *const d = f->reg[m] == WARP_SINK ? none : warp_dst32(w, f->reg[m]);
        if (is_block(&s))
            copy_matrix(d, s.host + s.at[0] + 128 * m, f->trans);
        for (uint32_t r = 0; !is_block(&s) && r < 8; r++)
            memcpy(d + 4 * r, s.host + s.at[8 * m + r], 16);
        if (!is_block(&s) && f->trans)
            transpose(d, d);
        if (f->reg[m] != WARP_SINK)
            warp_set_poison(w, f->reg[m], WARP_ALL_LANES, 0);
        tell_matrix(w, in, s.at + 8 * m, f->trans, EFFECT_READ);
    }
    return true;
}

/* False: nothing has happened. */
static bool store_rows(struct warp *w, const struct insn *in, const struct matrix_form *f) {
    uint32_t poison = 0;
    struct warp_span s;
    for (uint32_t m = 0; m < f->count; m++)
        poison |= warp_poison(w, f->reg[m]);
    if (poison || !all_rows(w, f, &s))
        return false;
    for (uint32_t m = 0; m < f->count; m++) {
        uint32_t rows[MACH_WARP];
        copy_matrix(is_block(&s) ? (void *)(s.host + s.at[0] + 128 * m) : rows, warp_src32(w, f->reg[m]), f->trans);
        for (uint32_t r = 0; !is_block(&s) && r < 8; r++) {
            memcpy(s.host + s.at[8 * m + r], rows + 4 * r, 16);
            if (!s.clean)
                warp_bits_set(s.poison, s.at[8 * m + r], 16, 0);
        }
        tell_matrix(w, in, s.at + 8 * m, f->trans, EFFECT_WRITE);
    }
    if (is_block(&s))
        smem_clear_poison(w->cta, (uint32_t)s.at[0], MACH_WARP * 16);
    w->island->progress++;
    return true;
}

/* --- any rows ----------------------------------------------------------------------------------------------------- */

static enum warp_status do_ldmatrix(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct matrix_form *f = in->data;
    if (!may_run(w, in, mask))
        return WARP_FAULT;
    if (load_rows(w, in, f))
        return WARP_NEXT;
    uint32_t out[4][MACH_WARP], unwritten[4][MACH_WARP] = {0}, poison[4] = {0};
    for (uint32_t m = 0; m < f->count; m++) {
        struct warp_loc row[8];
        if (!find_rows(w, in, f, m, row))
            return WARP_FAULT;
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            out[m][l] = 0;
            for (uint32_t h = 0; h < 2; h++) {
                uint32_t r, c;
                uint16_t v;
                element_of(l, h, f->trans, &r, &c);
                memcpy(&v, row[r].host + 2 * c, 2);
                out[m][l] |= (uint32_t)v << (16 * h);
                const uint32_t bytes = warp_bits_get(row[r].cta->smem_poison, row[r].off + 2 * c, 2);
                if (!bytes)
                    continue;
                unwritten[m][l] |= (uint32_t)warp_bits_of_bytes(bytes) << (16 * h);
                poison[m] |= 1u << l;
                warp_found_unwritten(w, in, poison[m], WARP_FROM_SHARED, row[r].cta, row[r].off + 2 * c, 2);
            }
        }
        tell_rows(w, in, row, f->trans, EFFECT_READ);
    }
    for (uint32_t m = 0; m < f->count; m++) { /* after all addresses are read: a destination may be one of them */
        if (f->reg[m] == WARP_SINK)
            continue;
        memcpy(warp_dst32(w, f->reg[m]), out[m], sizeof out[m]);
        warp_set_poison(w, f->reg[m], ~poison[m], 0);
        WARP_FOR_LANES(l, poison[m]) { warp_set_unwritten(w, f->reg[m], 32, l, unwritten[m][l]); }
    }
    return WARP_NEXT;
}

static enum warp_status do_stmatrix(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct matrix_form *f = in->data;
    if (!may_run(w, in, mask))
        return WARP_FAULT;
    if (store_rows(w, in, f))
        return WARP_NEXT;
    for (uint32_t m = 0; m < f->count; m++) {
        struct warp_loc row[8];
        if (!find_rows(w, in, f, m, row))
            return WARP_FAULT;
        const uint32_t *src = warp_src32(w, f->reg[m]);
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            const uint32_t poison = warp_bytes_of_bits(warp_unwritten(w, f->reg[m], 32, l));
            for (uint32_t h = 0; h < 2; h++) {
                uint32_t r, c;
                uint16_t v = (uint16_t)(src[l] >> (16 * h));
                element_of(l, h, f->trans, &r, &c);
                memcpy(row[r].host + 2 * c, &v, 2);
                warp_bits_set(row[r].cta->smem_poison, row[r].off + 2 * c, 2, poison >> (2 * h) & 3);
                if (poison >> (2 * h) & 3)
                    smem_doubt(row[r].cta, row[r].off + 2 * c, 2);
            }
        }
        tell_rows(w, in, row, f->trans, EFFECT_WRITE);
    }
    w->island->progress++;
    return WARP_NEXT;
}

/* 9.7.14.5.17: lane l gets, in place of its row fragment, the column fragment of the same matrix. */
static enum warp_status do_movmatrix(struct warp *w, const struct insn *in, uint32_t mask) {
    if (mask != WARP_ALL_LANES)
        return warp_fault(w, in, mask, &warp_incomplete, "only the lanes of mask 0x%08x execute it", mask);
    const uint32_t *a = warp_src32(w, in->o[1].slot);
    uint32_t out[MACH_WARP], unwritten[MACH_WARP] = {0}, poison = 0;
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        out[l] = 0;
        for (uint32_t h = 0; h < 2; h++) {
            uint32_t r, c;
            element_of(l, h, true, &r, &c);
            uint32_t lane = 4 * r + c / 2;
            out[l] |= (a[lane] >> (16 * (c & 1)) & 0xffff) << (16 * h);
            unwritten[l] |= (uint32_t)(warp_unwritten(w, in->o[1].slot, 32, lane) >> (16 * (c & 1)) & 0xffff)
                            << (16 * h);
        }
        poison |= unwritten[l] ? 1u << l : 0;
    }
    memcpy(warp_dst32(w, in->o[0].slot), out, sizeof out);
    WARP_FOR_LANES(l, poison) { warp_set_unwritten(w, in->o[0].slot, 32, l, unwritten[l]); }
    return warp_done(w, in->o[0].slot, ~poison, 0);
}

bool isa_bind_transpose(struct isa_binder *b, struct insn *in) {
    in->fn = do_movmatrix;
    if (!isa_spelled(in->src, ISA_WORDS(PTX_MOD_sync, PTX_MOD_aligned, PTX_MOD_m8n8, PTX_MOD_trans, PTX_MOD_b16)))
        return isa_refuse(b, "the form is movmatrix.sync.aligned.m8n8.trans.b16");
    return true;
}

/* One 32-bit register per matrix; a load may discard some. */
static bool take_registers(struct matrix_form *f, const struct warp_opnd *o) {
    if (!isa_is_list(o, f->count))
        return false;
    memcpy(f->reg, o->list, f->count * sizeof *f->reg);
    return true;
}

bool isa_bind_matrix(struct isa_binder *b, struct insn *in) {
    const struct ptx_insn *src = in->src;
    struct matrix_form *f = arena_alloc(b->arena, sizeof *f);
    struct isa_words k;
    if (!isa_sort(b, src,
                  ISA_WORDS(PTX_MOD_sync, PTX_MOD_aligned, ISA_ANY(shape), PTX_MOD_x1, PTX_MOD_x2, PTX_MOD_x4,
                            PTX_MOD_trans, PTX_MOD_shared, PTX_MOD_shared__cta, ISA_ANY(type), ISA_ANY(unpacked),
                            ISA_ANY(packed)),
                  &k))
        return false;
    if (k.of[PTX_KIND_shape] != PTX_MOD_m8n8 || k.of[PTX_KIND_type] != PTX_MOD_b16 || k.of[PTX_KIND_unpacked] ||
        k.of[PTX_KIND_packed])
        return isa_refuse(b,
                          "only .m8n8 matrices of .b16 are known; the ISA shows the other fragments only in figures");
    f->space = isa_space(k.of[PTX_KIND_space]);
    f->store = src->op == PTX_OP_stmatrix;
    f->trans = ptx_has(src, PTX_MOD_trans);
    f->count = ptx_mod_number(k.of[PTX_KIND_repeat]);
    f->addr = &in->o[f->store ? 0 : 1];
    if (!ptx_has(src, PTX_MOD_sync) || !ptx_has(src, PTX_MOD_aligned) || !f->count)
        return isa_refuse(b, ".sync.aligned and the number of matrices are mandatory");
    if (!take_registers(f, &in->o[f->store ? 1 : 0]))
        return false;
    in->data = f;
    in->fn = f->store ? do_stmatrix : do_ldmatrix;
    return true;
}
