/* isa/cvt.c - conversions of one value (PTX ISA 9.7.9.21) and cvt.pack (9.7.9.22). The forms with packed and alternate
 * floating-point formats are in isa/cvt_pack.c.
 *
 * Sources may sit in registers wider than their type (the upper bits are ignored), destinations in wider ones too:
 * signed integers are then sign-extended to the register, everything else zero-extended (9.4.1).
 */
#include "isa/alu.h"
#include "isa/approx.h"
#include "isa/half.h"

/* --- types -------------------------------------------------------------------------------------------------------- */

struct cvt_type {
    bool is_float, is_signed;
    unsigned bits;
    num_type f; /* is_float */
    num_int i;  /* otherwise */
};

static bool type_of(enum ptx_mod mod, struct cvt_type *t) {
    static const struct {
        enum ptx_mod mod;
        struct cvt_type t;
    } types[] = {
        {PTX_MOD_u8, {false, false, 8, 0, NUM_U8}},    {PTX_MOD_s8, {false, true, 8, 0, NUM_S8}},
        {PTX_MOD_u16, {false, false, 16, 0, NUM_U16}}, {PTX_MOD_s16, {false, true, 16, 0, NUM_S16}},
        {PTX_MOD_u32, {false, false, 32, 0, NUM_U32}}, {PTX_MOD_s32, {false, true, 32, 0, NUM_S32}},
        {PTX_MOD_u64, {false, false, 64, 0, NUM_U64}}, {PTX_MOD_s64, {false, true, 64, 0, NUM_S64}},
        {PTX_MOD_f16, {true, false, 16, NUM_F16, 0}},  {PTX_MOD_bf16, {true, false, 16, NUM_BF16, 0}},
        {PTX_MOD_f32, {true, false, 32, NUM_F32, 0}},  {PTX_MOD_f64, {true, false, 64, NUM_F64, 0}},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].mod == mod) {
            *t = types[i].t;
            return true;
        }
    return false;
}

struct cvt_plan {
    struct cvt_type d, a;
    num_round round;
    unsigned flags;
};

/* --- lanes -------------------------------------------------------------------------------------------------------- */

static void load(const struct warp *w, const struct warp_opnd *o, uint64_t v[MACH_WARP]) {
    if (o->bits == 64) {
        memcpy(v, warp_src64(w, o->slot), MACH_WARP * sizeof *v);
        return;
    }
    const uint32_t *a = warp_src32(w, o->slot);
    for (uint32_t l = 0; l < MACH_WARP; l++)
        v[l] = a[l];
}

/* v: already extended to 64 bits in the way the type asks for */
static void store(struct warp *w, const struct warp_opnd *o, uint32_t mask, const uint64_t v[MACH_WARP]) {
    if (o->bits == 64) {
        uint64_t *d = warp_dst64(w, o->slot);
        ALU_SET(mask, d, v[l]);
    } else {
        const uint32_t keep = o->bits == 32 ? 0xffffffff : (1u << o->bits) - 1;
        uint32_t *d = warp_dst32(w, o->slot);
        ALU_SET(mask, d, (uint32_t)v[l] & keep);
    }
}

#define CVT_FN(name, expr)                                                                                             \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        const struct cvt_plan *p = in->data;                                                                           \
        uint64_t v[MACH_WARP];                                                                                         \
        load(w, &in->o[1], v);                                                                                         \
        WARP_FOR_LANES(l, mask) {                                                                                      \
            const uint64_t a = v[l];                                                                                   \
            v[l] = (expr);                                                                                             \
        }                                                                                                              \
        store(w, &in->o[0], mask, v);                                                                                  \
        return alu_poison(w, in, mask, 1);                                                                             \
    }
CVT_FN(cvt_int_int, num_cvt_ii(p->d.i, p->a.i, a, p->flags))
CVT_FN(cvt_float_int, num_cvt_fi(p->d.i, p->a.f, a, p->round, p->flags))
CVT_FN(cvt_int_float, num_cvt_if(p->d.f, p->a.i, a, p->round, p->flags))
CVT_FN(cvt_float_float, num_cvt_ff(p->d.f, p->a.f, a, p->round, p->flags))
CVT_FN(cvt_integral, num_cvt_round(p->d.f, a, p->round, p->flags))

/* Width changes, which are most of the conversions that compilers emit: chop, zero- and sign-extend. */
static enum warp_status cvt_keep(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct cvt_plan *p = in->data;
    uint64_t v[MACH_WARP];
    load(w, &in->o[1], v);
    const unsigned n = p->a.bits < p->d.bits ? p->a.bits : p->d.bits;
    /* a narrower result is extended by its own signedness, a wider one by the source's */
    const bool is_signed = p->a.bits < p->d.bits ? p->a.is_signed : p->d.is_signed;
    const uint64_t keep = p->d.is_signed || p->d.bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << p->d.bits) - 1;
    if (n < 64 && is_signed)
        for (uint32_t l = 0; l < MACH_WARP; l++) /* sign bit n-1 */
            v[l] = ((v[l] << (64 - n) >> (64 - n)) ^ UINT64_C(1) << (n - 1)) - (UINT64_C(1) << (n - 1));
    else if (n < 64)
        for (uint32_t l = 0; l < MACH_WARP; l++)
            v[l] &= (UINT64_C(1) << n) - 1;
    for (uint32_t l = 0; l < MACH_WARP; l++)
        v[l] &= keep;
    store(w, &in->o[0], mask, v);
    return alu_poison(w, in, mask, 1);
}

static enum warp_status cvt_u64_u32(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *a = warp_fast_src(w, in, 1);
    uint64_t *d = warp_fast_dst(w, in, 0);
    ALU_SET(mask, d, a[l]);
    return alu_poison(w, in, mask, 1);
}

static enum warp_status cvt_s64_s32(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *a = warp_fast_src(w, in, 1);
    uint64_t *d = warp_fast_dst(w, in, 0);
    ALU_SET(mask, d, (uint64_t)(int64_t)(int32_t)a[l]);
    return alu_poison(w, in, mask, 1);
}

/* Conversions of registers of their types' own size, round to nearest or to zero, without other modifiers. A NaN gives
 * 0 as an integer and the canonical NaN as f32. */
static inline uint32_t f32_bits(double v) { return v == v ? num_f32_bits((float)v) : NUM_NAN_F32; }
static inline int32_t to_s32(float v) {
    return v >= 0x1p31f ? INT32_MAX : v >= -0x1p31f ? (int32_t)v : v == v ? INT32_MIN : 0;
}
static inline uint32_t to_u32(float v) { return v >= 0x1p32f ? UINT32_MAX : v > 0 ? (uint32_t)(int64_t)v : 0; }
ALU_FN1(cvt_f32_f16, u32, u16, f32_bits(half_value(a, 10)))
ALU_FN1(cvt_rn_f16_f32, u16, u32, half_f16_of_f32(a))
ALU_FN1(cvt_flags_f32, u32, u32, approx_exact(a, f))
ALU_FN1(cvt_rn_bf16_f32, u16, u32, (a & 0x7fffffff) > 0x7f800000 ? 0x7fff : (a + 0x7fff + (a >> 16 & 1)) >> 16)
ALU_FN1(cvt_f32_bf16, u32, u16, (uint32_t)a << 16)
ALU_FN1(cvt_rn_f32_s64, u32, s64, num_f32_bits((float)a))
ALU_FN1(cvt_rn_f32_u64, u32, u64, num_f32_bits((float)a))
ALU_FN1(cvt_rn_f16_s32, u16, s32, half_nearest((double)a, 10, 15))
ALU_FN1(cvt_rn_f16_u32, u16, u32, half_nearest((double)a, 10, 15))
ALU_FN1(cvt_rn_f32_s32, u32, s32, num_f32_bits((float)a))
ALU_FN1(cvt_rn_f32_u32, u32, u32, num_f32_bits((float)a))
ALU_FN1(cvt_rzi_s32_f32, s32, u32, to_s32(num_f32_from_bits(a)))
ALU_FN1(cvt_rzi_u32_f32, u32, u32, to_u32(num_f32_from_bits(a)))
/* Widths that compilers change most. */
ALU_FN1(cvt_u32_u16, u32, u16, a)
ALU_FN1(cvt_u16_u32, u16, u32, a)
ALU_FN1(cvt_u32_u64, u32, u64, a)
ALU_FN1(cvt_s16_s8, s16, s16, (int8_t)a)
ALU_FN1(cvt_s32_s8, s32, s32, (int8_t)a)

static const struct alu_row plain_rows[] = {
    ALU_ROW2(cvt, u32, u16, 0, 0, "wh", cvt_u32_u16),
    ALU_ROW2(cvt, u16, u32, 0, 0, "hw", cvt_u16_u32),
    ALU_ROW2(cvt, u32, u64, 0, 0, "wd", cvt_u32_u64),
    ALU_ROW2(cvt, s16, s8, 0, 0, "hh", cvt_s16_s8),
    ALU_ROW2(cvt, s32, s8, 0, 0, "wh", cvt_s32_s8),
    ALU_ROW2(cvt, s32, s8, 0, 0, "ww", cvt_s32_s8),
    ALU_ROW2(cvt, f32, f32, ALU_M(ftz), ALU_M(sat), "ww", cvt_flags_f32),
    ALU_ROW2(cvt, f32, f32, ALU_M(sat), 0, "ww", cvt_flags_f32),
    ALU_ROW2(cvt, f32, f16, 0, 0, "wh", cvt_f32_f16),
    ALU_ROW2(cvt, f16, f32, ALU_M(rn), 0, "hw", cvt_rn_f16_f32),
    ALU_ROW2(cvt, bf16, f32, ALU_M(rn), 0, "hw", cvt_rn_bf16_f32),
    ALU_ROW2(cvt, f32, bf16, 0, 0, "wh", cvt_f32_bf16),
    ALU_ROW2(cvt, f32, s64, ALU_M(rn), 0, "wd", cvt_rn_f32_s64),
    ALU_ROW2(cvt, f32, u64, ALU_M(rn), 0, "wd", cvt_rn_f32_u64),
    ALU_ROW2(cvt, f16, s32, ALU_M(rn), 0, "hw", cvt_rn_f16_s32),
    ALU_ROW2(cvt, f16, u32, ALU_M(rn), 0, "hw", cvt_rn_f16_u32),
    ALU_ROW2(cvt, f32, s32, ALU_M(rn), 0, "ww", cvt_rn_f32_s32),
    ALU_ROW2(cvt, f32, u32, ALU_M(rn), 0, "ww", cvt_rn_f32_u32),
    /* .ftz makes no difference: a subnormal is 0 as an integer */
    ALU_ROW2(cvt, s32, f32, ALU_M(rzi), ALU_M(ftz), "ww", cvt_rzi_s32_f32),
    ALU_ROW2(cvt, u32, f32, ALU_M(rzi), ALU_M(ftz), "ww", cvt_rzi_u32_f32),
};

/* --- which rounding and which modifiers --------------------------------------------------------------------------- */

/* Does the destination's range hold the source's? Then .sat is illegal between integers. */
static bool holds(const struct cvt_type *d, const struct cvt_type *a) {
    if (d->is_signed == a->is_signed)
        return d->bits >= a->bits;
    return d->is_signed && d->bits > a->bits;
}

/* Rounding modifiers a conversion takes: *need of which one is mandatory, or only *may. */
static void rounding_of(const struct cvt_type *d, const struct cvt_type *a, uint64_t *need, uint64_t *may) {
    *need = *may = 0;
    if (a->is_float && !d->is_float)
        *need = ALU_IRND;
    else if (!a->is_float && d->is_float)
        *need = ALU_RND;
    else if (a->is_float && d->is_float && d->f == a->f)
        *may = ALU_IRND;
    else if (a->is_float && d->is_float && d->bits < a->bits)
        *need = ALU_RND;
    else if (a->is_float && d->is_float && (a->f == NUM_BF16 || d->f == NUM_BF16))
        *may = ALU_RND; /* equally wide or exact; ptxas takes them with and without */
}

static bool legal(struct isa_binder *b, const struct alu_form *form, const struct cvt_type *d,
                  const struct cvt_type *a) {
    const uint64_t rounding = form->flags & (ALU_RND | ALU_IRND | ALU_M(rna) | ALU_M(rs));
    uint64_t need, may;
    rounding_of(d, a, &need, &may);
    if (rounding & (rounding - 1) || rounding & ~(need | may))
        return isa_refuse(b, "this rounding modifier does not go with these types");
    if (need && !rounding)
        return isa_refuse(b, "this conversion needs a rounding modifier");
    const bool has_f32 = (d->is_float && d->f == NUM_F32) || (a->is_float && a->f == NUM_F32);
    if (form->flags & ALU_M(ftz) && !has_f32)
        return isa_refuse(b, ".ftz is for conversions from or to .f32");
    if (form->flags & ALU_M(sat) && !a->is_float && !d->is_float && holds(d, a))
        return isa_refuse(b, ".sat is illegal where the destination holds every source value");
    if (form->flags & ALU_M(sat) && ((d->is_float && d->f == NUM_BF16) || (a->is_float && a->f == NUM_BF16)))
        return isa_refuse(b, ".sat does not apply to .bf16");
    /* .relu and .satfinite: f32 to f16 and bf16 with .rn or .rz */
    const uint64_t clamps = ALU_M(relu) | ALU_M(satfinite);
    if (form->flags & clamps && !(d->is_float && d->bits == 16 && a->is_float && a->f == NUM_F32 &&
                                  rounding & (ALU_M(rn) | ALU_M(rz)) && !(form->flags & (ALU_M(sat) | ALU_M(ftz)))))
        return isa_refuse(b, ".relu and .satfinite need .rn or .rz and a narrow floating-point destination");
    if (form->flags & ~(rounding | clamps | ALU_M(ftz) | ALU_M(sat)))
        return isa_refuse(b, "a modifier does not belong to this conversion");
    return true;
}

/* Registers at least as wide as the types; bf16 has to fit exactly (9.7.9.21, Notes). */
static bool fits(const struct warp_opnd *o, const struct cvt_type *t) {
    return o->kind == WARP_SLOT && o->bits > 1 && o->bits >= t->bits && o->bits <= 64 &&
           !(t->is_float && t->f == NUM_BF16 && o->bits != 16 && !o->is_imm);
}

static warp_fn choose(const struct insn *in, const struct cvt_plan *p, bool integral) {
    const struct cvt_type *d = &p->d, *a = &p->a;
    /* The ISA is silent on NaNs here; an H200 moves the bits, signalling NaNs too. */
    if (a->is_float && d->is_float && d->f == a->f && d->bits >= 32 && !integral && !p->flags)
        return cvt_keep;
    if (a->is_float)
        return !d->is_float ? cvt_float_int : integral ? cvt_integral : cvt_float_float;
    if (d->is_float)
        return cvt_int_float;
    if (p->flags & NUM_SAT)
        return cvt_int_int;
    if (a->bits == 32 && d->bits == 64 && in->o[1].bits == 32)
        return a->is_signed ? cvt_s64_s32 : cvt_u64_u32;
    return cvt_keep;
}

static bool bind_one(struct isa_binder *b, struct insn *in, const struct alu_form *form) {
    struct cvt_plan *p = arena_alloc(b->arena, sizeof *p);
    if (!type_of(form->type[0], &p->d) || !type_of(form->type[1], &p->a) || form->num_types != 2)
        return isa_refuse(b, "cvt does not convert between these types");
    if (!legal(b, form, &p->d, &p->a))
        return false;
    if (in->num_opnds != 2 || !fits(&in->o[0], &p->d) || !fits(&in->o[1], &p->a))
        return isa_refuse(b, "an operand is not a register that holds the instruction's type");
    if (in->o[1].more->src->kind == PTX_OPND_SREG && (p->d.is_float || p->a.is_float))
        return isa_refuse(b, "a special register is converted from integer to integer");
    if (!alu_literals(b, in, form->type[1]))
        return false;
    const uint64_t aux = alu_rounding(form->flags);
    p->round = (num_round)(aux & 0xff);
    p->flags = (unsigned)(aux >> 8);
    in->data = p;
    in->fn = choose(in, p, form->flags & ALU_IRND);
    const char *why = b->why;
    alu_bind(b, in, plain_rows, sizeof plain_rows / sizeof *plain_rows); /* where one fits, it takes over */
    b->why = why;
    return true;
}

/* --- cvt.pack (9.7.9.22): a above b in the low bits, c above both ------------------------------------------------- */

static enum warp_status cvt_pack(struct warp *w, const struct insn *in, uint32_t mask) {
    const unsigned size = (unsigned)(in->aux & 0xff);
    const bool is_signed = in->aux >> 8;
    const int32_t most = (int32_t)((1u << (is_signed ? size - 1 : size)) - 1), least = is_signed ? -most - 1 : 0;
    const uint32_t keep = (1u << size) - 1;
    const bool has_c = in->num_opnds == 4;
    const uint32_t *a = warp_src32(w, in->o[1].slot), *b = warp_src32(w, in->o[2].slot);
    const uint32_t *c = has_c ? warp_src32(w, in->o[3].slot) : a;
    uint32_t *d = warp_dst32(w, in->o[0].slot);
    WARP_FOR_LANES(l, mask) {
        const int32_t x = (int32_t)a[l], y = (int32_t)b[l];
        const uint32_t hi = (uint32_t)(x < least ? least : x > most ? most : x) & keep;
        const uint32_t lo = (uint32_t)(y < least ? least : y > most ? most : y) & keep;
        d[l] = (has_c ? c[l] << (2 * size) : 0) | hi << size | lo;
    }
    return alu_poison(w, in, mask, has_c ? 3 : 2);
}

static bool bind_pack(struct isa_binder *b, struct insn *in, const struct alu_form *form) {
    static const struct {
        enum ptx_mod type;
        uint8_t size;
        bool is_signed;
    } types[] = {{PTX_MOD_u16, 16, false}, {PTX_MOD_s16, 16, true}, {PTX_MOD_u8, 8, false}, {PTX_MOD_s8, 8, true},
                 {PTX_MOD_u4, 4, false},   {PTX_MOD_s4, 4, true},   {PTX_MOD_u2, 2, false}, {PTX_MOD_s2, 2, true}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const bool half = types[i].size == 16;
        if (form->type[0] != types[i].type || form->flags != ALU_M(sat) || form->type[1] != PTX_MOD_s32 ||
            form->num_types != (half ? 2u : 3u) || (!half && form->type[2] != PTX_MOD_b32))
            continue;
        in->aux = types[i].size | (uint64_t)types[i].is_signed << 8;
        in->fn = cvt_pack;
        return alu_operands(b, in, half ? "www" : "wwww");
    }
    return isa_refuse(b, "this combination of types is not one of cvt.pack's forms");
}

bool isa_bind_convert(struct isa_binder *b, struct insn *in) {
    struct alu_form form;
    struct cvt_type t;
    if (!alu_parse(b, in->src, &form))
        return false;
    if (form.cmp || form.space)
        return isa_refuse(b, "a modifier does not belong to this instruction");
    if (in->src->op == PTX_OP_cvt_pack)
        return bind_pack(b, in, &form);
    if (form.num_types == 2 && type_of(form.type[0], &t) && type_of(form.type[1], &t))
        return bind_one(b, in, &form);
    return alu_bind_narrow(b, in, &form);
}
