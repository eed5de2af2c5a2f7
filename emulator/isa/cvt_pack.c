/* isa/cvt_pack.c - cvt to and from packed and alternate floating-point formats (PTX ISA 9.7.9.21; formats 5.2.3).
 *
 * Every form is a list of elements: of two sources a goes to the upper half of d and b to the lower; the halves of a
 * packed source go to the same halves of d. Of e2m3, e3m2 an element takes 8 bits, the upper two zero, of e2m1 four.
 */
#include "isa/alu.h"
#include "isa/half.h"
#include "warp/parts.h"

enum how {
    TWO_F32,  /* d, a, b: two f32 into a pair */
    ONE_PAIR, /* d, a: a pair into a pair */
    ONE_F32,  /* d, a: tf32 */
    TWO_RS,   /* d, a, b, rbits */
};

struct form_row {
    enum ptx_mod d, a;
    enum how how;
    num_type dt, at;
    unsigned dbits, abits; /* of one element; a register has two of them (ONE_F32: one) */
    uint64_t rounds;       /* one of them is mandatory */
    uint64_t need, may;
};

#define RN ALU_M(rn)
#define RZ ALU_M(rz)
#define RP ALU_M(rp)
#define RELU ALU_M(relu)
#define SATF ALU_M(satfinite)
#define SCALED ALU_M(scaled__n2__ue8m0)
/* f8, f6, f4: .satfinite is mandatory downward */
#define NARROW_FORMS(t, T, bits)                                                                                       \
    {PTX_MOD_##t, PTX_MOD_f32, TWO_F32, T, NUM_F32, bits, 32, RN, SATF, RELU},                                         \
        {PTX_MOD_##t, PTX_MOD_f16x2, ONE_PAIR, T, NUM_F16, bits, 16, RN, SATF, RELU},                                  \
        {PTX_MOD_##t, PTX_MOD_bf16x2, ONE_PAIR, T, NUM_BF16, bits, 16, RN, SATF, RELU}, {                              \
        PTX_MOD_f16x2, PTX_MOD_##t, ONE_PAIR, NUM_F16, T, 16, bits, RN, 0, RELU                                        \
    }

static const struct form_row forms[] = {
    {PTX_MOD_f16x2, PTX_MOD_f32, TWO_F32, NUM_F16, NUM_F32, 16, 32, RN | RZ, 0, RELU | SATF},
    {PTX_MOD_bf16x2, PTX_MOD_f32, TWO_F32, NUM_BF16, NUM_F32, 16, 32, RN | RZ, 0, RELU | SATF},
    {PTX_MOD_f16x2, PTX_MOD_f32, TWO_RS, NUM_F16, NUM_F32, 16, 32, ALU_M(rs), 0, RELU | SATF},
    {PTX_MOD_bf16x2, PTX_MOD_f32, TWO_RS, NUM_BF16, NUM_F32, 16, 32, ALU_M(rs), 0, RELU | SATF},
    {PTX_MOD_tf32, PTX_MOD_f32, ONE_F32, NUM_TF32, NUM_F32, 32, 32, ALU_M(rna), 0, SATF},
    {PTX_MOD_tf32, PTX_MOD_f32, ONE_F32, NUM_TF32, NUM_F32, 32, 32, RN | RZ, 0, RELU | SATF},
    NARROW_FORMS(e4m3x2, NUM_E4M3, 8),
    NARROW_FORMS(e5m2x2, NUM_E5M2, 8),
    NARROW_FORMS(e2m3x2, NUM_E2M3, 8),
    NARROW_FORMS(e3m2x2, NUM_E3M2, 8),
    NARROW_FORMS(e2m1x2, NUM_E2M1, 4),
    {PTX_MOD_ue8m0x2, PTX_MOD_f32, TWO_F32, NUM_UE8M0, NUM_F32, 8, 32, RZ | RP, 0, SATF},
    {PTX_MOD_ue8m0x2, PTX_MOD_bf16x2, ONE_PAIR, NUM_UE8M0, NUM_BF16, 8, 16, RZ | RP, 0, SATF},
    {PTX_MOD_bf16x2, PTX_MOD_ue8m0x2, ONE_PAIR, NUM_BF16, NUM_UE8M0, 16, 8, RN, 0, 0},
    {PTX_MOD_s2f6x2, PTX_MOD_f32, TWO_F32, NUM_S2F6, NUM_F32, 8, 32, RN, SATF, RELU | SCALED},
    {PTX_MOD_s2f6x2, PTX_MOD_bf16x2, ONE_PAIR, NUM_S2F6, NUM_BF16, 8, 16, RN, SATF, RELU | SCALED},
    {PTX_MOD_bf16x2, PTX_MOD_s2f6x2, ONE_PAIR, NUM_BF16, NUM_S2F6, 16, 8, RN, 0, RELU | SATF | SCALED},
};

/* --- lanes -------------------------------------------------------------------------------------------------------- */

struct pack_plan {
    const struct form_row *row;
    num_round round;
    unsigned flags;
    unsigned scale; /* operand number of the scale factors, 0: none */
};

/* One element: `a` in the low bits, with its random bits or scale where the form has them. */
static uint32_t convert(const struct pack_plan *p, uint64_t a, uint32_t rbits, uint8_t scale) {
    const struct form_row *f = p->row;
    if (f->how == TWO_RS)
        return f->dt == NUM_F16 ? num_f32_to_f16_rs((uint32_t)a, (uint16_t)rbits, p->flags)
                                : num_f32_to_bf16_rs((uint32_t)a, (uint16_t)rbits, p->flags);
    if (f->dt == NUM_S2F6)
        return num_to_s2f6_scaled(num_decode(f->at, a), scale, p->flags);
    /* The ISA is silent on NaNs here; an H200 cuts them, so that a small payload leaves an infinity. */
    if (f->dt == NUM_TF32 && p->round == NUM_RNA && !p->flags && num_is_nan(NUM_F32, a))
        return (uint32_t)a & 0xffffe000;
    if (f->at == NUM_S2F6)
        return num_s2f6_to_bf16_scaled((uint8_t)a, scale, p->flags);
    return (uint32_t)num_cvt_ff(f->dt, f->at, a & ((UINT64_C(1) << f->abits) - 1), p->round, p->flags);
}

/* Poison of lanes `poison`: an element's comes of its own source. Scales and random bits are all of them or none. */
static void narrow_unwritten(struct warp *w, const struct insn *in, uint32_t poison) {
    const struct pack_plan *p = in->data;
    const struct form_row *f = p->row;
    const bool two = f->how == TWO_F32 || f->how == TWO_RS;
    const struct warp_opnd *d = &in->o[0], *low = &in->o[two ? 2 : 1];
    WARP_FOR_LANES(l, poison) {
        const uint64_t a = warp_unwritten(w, in->o[1].slot, in->o[1].bits, l),
                       b = warp_unwritten(w, low->slot, low->bits, l);
        bool all = f->how == ONE_F32;
        for (unsigned i = two ? 3 : 2; i < in->num_opnds; i++)
            all |= warp_unwritten(w, in->o[i].slot, in->o[i].bits, l) != 0;
        const uint64_t element = warp_low_bits(f->dbits);
        const bool hi = two ? a : a >> f->abits & warp_low_bits(f->abits), lo = b & warp_low_bits(f->abits);
        warp_set_unwritten(w, d->slot, d->bits, l,
                           all ? ~UINT64_C(0) : (hi ? element << f->dbits : 0) | (lo ? element : 0));
    }
}

/* The pairs of small floats, from and to what kernels have them from and to; false for another form. */
#define NARROW_LANES(hi, lo, F)                                                                                        \
    for (uint32_t l = 0; l < MACH_WARP; l++)                                                                           \
    v[l] = half_f8_of_f32(hi, F, relu) << 8 | half_f8_of_f32(lo, F, relu)
#define NARROW(man)                                                                                                    \
    if (p->row->at == NUM_F32)                                                                                         \
        NARROW_LANES(a[l], b[l], man);                                                                                 \
    else if (p->row->at == NUM_F16)                                                                                    \
        NARROW_LANES(half_f32_of_f16(a[l] >> 16), half_f32_of_f16(a[l] & 0xffff), man);                                \
    else                                                                                                               \
        NARROW_LANES(a[l] & 0xffff0000, a[l] << 16, man)
#define WIDEN(man)                                                                                                     \
    for (uint32_t l = 0; l < MACH_WARP; l++)                                                                           \
    v[l] = half_f16_of_f8(a[l] >> 8 & 0xff, man, relu) << 16 | half_f16_of_f8(a[l] & 0xff, man, relu)
static bool pair_of_small(const struct pack_plan *p, const uint32_t *a, const uint32_t *b, uint32_t v[MACH_WARP]) {
    const bool relu = p->flags & NUM_RELU, up = p->round == NUM_RP, finite = p->flags & NUM_SATFINITE;
    const num_type d = p->row->dt, from = p->row->at;
    if (d == NUM_E4M3) {
        NARROW(3);
    } else if (d == NUM_E5M2) {
        NARROW(2);
    } else if (from == NUM_E4M3) {
        WIDEN(3);
    } else if (from == NUM_E5M2) {
        WIDEN(2);
    } else if (d == NUM_E2M1 && from == NUM_F32) {
        for (uint32_t l = 0; l < MACH_WARP; l++)
            v[l] = half_e2m1_of_f32(a[l], relu) << 4 | half_e2m1_of_f32(b[l], relu);
    } else if (d == NUM_UE8M0 && from == NUM_F32) {
        for (uint32_t l = 0; l < MACH_WARP; l++)
            v[l] = half_ue8m0_of_f32(a[l], up, finite) << 8 | half_ue8m0_of_f32(b[l], up, finite);
    } else if (from == NUM_UE8M0) {
        for (uint32_t l = 0; l < MACH_WARP; l++)
            v[l] = half_bf16_of_ue8m0(a[l] >> 8 & 0xff) << 16 | half_bf16_of_ue8m0(a[l] & 0xff);
    } else
        return false;
    return true;
}

static enum warp_status cvt_narrow(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct pack_plan *p = in->data;
    const struct form_row *f = p->row;
    const bool two = f->how == TWO_F32 || f->how == TWO_RS;
    const uint32_t *a = warp_src32(w, in->o[1].slot), *b = two ? warp_src32(w, in->o[2].slot) : a;
    const uint32_t *r = f->how == TWO_RS ? warp_src32(w, in->o[3].slot) : a;
    const uint32_t *s = p->scale ? warp_src32(w, in->o[p->scale].slot) : NULL;
    uint32_t *d = warp_dst32(w, in->o[0].slot);
    uint32_t v[MACH_WARP];
    if (pair_of_small(p, a, b, v))
        ALU_SET(mask, d, v[l]);
    else
        WARP_FOR_LANES(l, mask) {
            const uint32_t hi = two ? a[l] : a[l] >> (f->abits & 31), lo = b[l], factors = s ? s[l] : 0x7f7f;
            if (f->how == ONE_F32)
                d[l] = convert(p, a[l], 0, 0);
            else
                d[l] = convert(p, hi, r[l] >> 16, (uint8_t)(factors >> 8)) << f->dbits |
                       convert(p, lo, r[l] & 0xffff, (uint8_t)factors);
        }
    uint32_t poison = 0;
    for (unsigned i = 1; i < in->num_opnds; i++)
        poison |= warp_poison(w, in->o[i].slot) & mask;
    narrow_unwritten(w, in, poison);
    return warp_done(w, in->o[0].slot, mask & ~poison, 0);
}

/* What kernels quantise by. */
#define SMALL_PAIR(name, value)                                                                                        \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        const uint32_t *a = warp_fast_src(w, in, 1), *b = warp_fast_src(w, in, 2);                                     \
        uint32_t *d = warp_fast_dst(w, in, 0);                                                                         \
        if (ALU_POISON_2 & mask)                                                                                       \
            return cvt_narrow(w, in, mask);                                                                            \
        ALU_SET(mask, d, value);                                                                                       \
        w->pz[in->poison[0]] &= ~mask;                                                                                 \
        return WARP_NEXT;                                                                                              \
    }
SMALL_PAIR(cvt_e4m3x2_f32, half_f8_of_f32(a[l], 3, false) << 8 | half_f8_of_f32(b[l], 3, false))
SMALL_PAIR(cvt_e2m1x2_f32, half_e2m1_of_f32(a[l], false) << 4 | half_e2m1_of_f32(b[l], false))
SMALL_PAIR(cvt_ue8m0x2_f32, half_ue8m0_of_f32(a[l], true, true) << 8 | half_ue8m0_of_f32(b[l], true, true))

/* cvt.rn.bf16x2.f32, the epilogue of most matrix kernels: ties to even on the upper 16 bits, NaN 0x7fff. */
static inline uint32_t bf16_rn(uint32_t a) {
    const uint32_t rounded = (a + 0x7fff + (a >> 16 & 1)) >> 16;
    return (a & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded;
}
ALU_FN2(cvt_rn_bf16x2_f32, u32, u32, u32, bf16_rn(a) << 16 | bf16_rn(b))

ALU_FN2(cvt_rn_f16x2_f32, u32, u32, u32, half_f16_of_f32(a) << 16 | half_f16_of_f32(b))

/* --- binding ------------------------------------------------------------------------------------------------------ */

static unsigned operand_bits(const struct form_row *f, bool dest) {
    const unsigned element = dest ? f->dbits : f->abits;
    return element == 32 ? 32 : 2 * element;
}

/* A register as wide as the type, 8 bits in one of up to 32, or a constant of type f32. */
static bool fits(const struct warp_opnd *o, unsigned bits) {
    if (o->is_imm)
        return bits == 32 && o->imm_float;
    return o->more->src->kind == PTX_OPND_REG && (bits == 8 ? o->bits > 1 && o->bits <= 32 : o->bits == bits);
}

static bool bind_operands(struct isa_binder *b, struct insn *in, struct pack_plan *p, bool scaled) {
    const struct form_row *f = p->row;
    unsigned sources = f->how == TWO_RS ? 3 : f->how == TWO_F32 ? 2 : 1;
    if (scaled)
        p->scale = ++sources;
    if (in->num_opnds != sources + 1)
        return isa_refuse(b, "wrong number of operands");
    bool ok = fits(&in->o[0], operand_bits(f, true));
    for (unsigned i = 1; i <= sources; i++)
        ok = ok && (i == p->scale                ? isa_has_bits(&in->o[i], 16)
                    : f->how == TWO_RS && i == 3 ? isa_has_bits(&in->o[i], 32)
                                                 : fits(&in->o[i], operand_bits(f, false)));
    return ok || isa_refuse(b, "an operand is not a register that holds the instruction's type");
}

static bool is_quad(enum ptx_mod t) {
    return t == PTX_MOD_e4m3x4 || t == PTX_MOD_e5m2x4 || t == PTX_MOD_e3m2x4 || t == PTX_MOD_e2m3x4 ||
           t == PTX_MOD_e2m1x4;
}

/* What kernels make pairs of f32 with has handlers of its own. */
static warp_fn handler_of(const struct form_row *f, uint64_t rounding, uint64_t rest) {
    static const struct {
        num_type d;
        uint64_t rounding, rest;
        warp_fn fn;
    } own[] = {{NUM_BF16, RN, 0, cvt_rn_bf16x2_f32},
               {NUM_F16, RN, 0, cvt_rn_f16x2_f32},
               {NUM_E4M3, RN, SATF, cvt_e4m3x2_f32},
               {NUM_E2M1, RN, SATF, cvt_e2m1x2_f32},
               {NUM_UE8M0, RP, SATF, cvt_ue8m0x2_f32}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (f->how == TWO_F32 && f->dt == own[i].d && rounding == own[i].rounding && rest == own[i].rest)
            return own[i].fn;
    return cvt_narrow;
}

bool alu_bind_narrow(struct isa_binder *b, struct insn *in, const struct alu_form *form) {
    const uint64_t all_rounds = ALU_RND | ALU_IRND | ALU_M(rna) | ALU_M(rs);
    const uint64_t rounding = form->flags & all_rounds, rest = form->flags & ~all_rounds;
    if (form->num_types == 2 && rounding == ALU_M(rs) && is_quad(form->type[0]))
        return isa_refuse(b, "how the elements share the random bits is stated only in figures of the ISA");
    isa_refuse(b, "this combination of modifiers and types is not one of cvt's forms");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form_row *f = &forms[i];
        if (form->num_types != 2 || f->d != form->type[0] || f->a != form->type[1] || !rounding ||
            rounding & (rounding - 1) || rounding & ~f->rounds || (rest & f->need) != f->need ||
            rest & ~(f->need | f->may))
            continue;
        struct pack_plan *p = arena_alloc(b->arena, sizeof *p);
        const uint64_t aux = alu_rounding(form->flags);
        *p = (struct pack_plan){f, (num_round)(aux & 0xff), (unsigned)(aux >> 8), 0};
        if (!bind_operands(b, in, p, rest & SCALED))
            return false;
        in->data = p;
        in->fn = handler_of(f, rounding, rest);
        return true;
    }
    return false;
}
