/* isa/move.c - mov and prmt (PTX ISA 9.7.9.3, 9.7.9.4, 9.7.9.7), and the door to the address conversions of space.c.
 *
 * Immediates, addresses of variables and special registers that never change are slots like registers, so most movs
 * copy a slot. What remains are the clocks, packing and unpacking of vectors, and special registers of predicate type.
 */
#include "isa/alu.h"
#include "warp/parts.h"

ALU_FN1(mov_b16, u16, u16, a)

static enum warp_status mov_b32(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *a = warp_fast_src(w, in, 1);
    uint32_t *d = warp_fast_dst(w, in, 0);
    ALU_SET(mask, d, a[l]);
    return alu_poison(w, in, mask, 1);
}

static enum warp_status mov_b64(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint64_t *a = warp_fast_src(w, in, 1);
    uint64_t *d = warp_fast_dst(w, in, 0);
    ALU_SET(mask, d, a[l]);
    return alu_poison(w, in, mask, 1);
}

/* u64[32] low halves, then u64[32] high halves. */
static enum warp_status mov_b128(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint64_t *a = warp_src64(w, in->o[1].slot);
    uint64_t *d = warp_dst64(w, in->o[0].slot);
    WARP_FOR_LANES(l, mask) {
        d[l] = a[l];
        d[MACH_WARP + l] = a[MACH_WARP + l];
    }
    const uint32_t poison = warp_poison(w, in->o[1].slot) & mask;
    warp_set_poison(w, in->o[0].slot, mask & ~poison, 0);
    WARP_FOR_LANES(l, poison) {
        const uint64_t low = warp_unwritten_half(w, in->o[1].slot, 128, 0, l);
        warp_set_unwritten_wide(w, in->o[0].slot, 128, l, low, warp_unwritten_half(w, in->o[1].slot, 128, 1, l));
    }
    return WARP_NEXT;
}

static enum warp_status mov_pred(struct warp *w, const struct insn *in, uint32_t mask) {
    warp_set_pred(w, in->o[0].slot, mask, warp_pred(w, &in->o[1]));
    return alu_poison(w, in, mask, 1);
}

/* %is_explicit_cluster (10.13): the slot has a word per lane, as for other special registers. */
static enum warp_status mov_pred_sreg(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *a = warp_src32(w, in->o[1].slot);
    uint32_t p = 0;
    WARP_FOR_LANES(l, mask) p |= (uint32_t)(a[l] != 0) << l;
    warp_set_pred(w, in->o[0].slot, mask, p);
    return warp_done(w, in->o[0].slot, mask, 0);
}

/* --- special registers that change (10.26 - 10.29) ---------------------------------------------------------------- */

/* The clock counts issued warp instructions of the launch; %globaltimer is the same count taken as nanoseconds. Under
 * MACH_SCHED_MODEL they are the model's cycles and nanoseconds. The fourth component of a vector special register reads
 * as 0. False: a register without a value here. */
static bool dynamic_value(uint32_t sreg, uint64_t clock, uint64_t *v) {
    switch (sreg) {
    case PTX_SREG_clock:
    case PTX_SREG_clock64:
    case PTX_SREG_globaltimer:
    case PTX_SREG_globaltimer_lo:
        *v = clock;
        return true;
    case PTX_SREG_clock_hi:
    case PTX_SREG_globaltimer_hi:
        *v = clock >> 32;
        return true;
    case PTX_SREG_tid_w:
    case PTX_SREG_ntid_w:
    case PTX_SREG_ctaid_w:
    case PTX_SREG_nctaid_w:
    case PTX_SREG_clusterid_w:
    case PTX_SREG_nclusterid_w:
    case PTX_SREG_cluster_ctaid_w:
    case PTX_SREG_cluster_nctaid_w:
        *v = 0;
        return true;
    default:
        return false;
    }
}

static uint64_t clock_of(const struct warp *w, uint32_t sreg) {
    const struct mach_timing *t = w->gpu->timing;
    const bool timer =
        sreg == PTX_SREG_globaltimer || sreg == PTX_SREG_globaltimer_lo || sreg == PTX_SREG_globaltimer_hi;
    return w->island->timed ? t->read(t->ctx, timer) : w->island->clock;
}

static enum warp_status mov_sreg(struct warp *w, const struct insn *in, uint32_t mask) {
    uint64_t v = 0;
    dynamic_value(in->o[1].more->src->sreg, clock_of(w, in->o[1].more->src->sreg), &v);
    if (in->o[0].bits == 64) {
        uint64_t *d = warp_dst64(w, in->o[0].slot);
        ALU_SET(mask, d, v);
    } else {
        uint32_t *d = warp_dst32(w, in->o[0].slot);
        ALU_SET(mask, d, (uint32_t)v);
    }
    return warp_done(w, in->o[0].slot, mask, 0);
}

/* --- vectors (9.7.9.4) -----------------------------------------------------------------------------------------------
 * A vector's first element is the least significant. in->aux: bits of an element. */

struct wide {
    uint64_t part[2][MACH_WARP]; /* bits 63..0 and 127..64 */
};

/* ors element `o`, `bits` wide, into v at bit `at` */
static void put_element(const struct warp *w, const struct warp_opnd *o, unsigned bits, unsigned at, struct wide *v) {
    uint64_t *part = v->part[at / 64];
    const uint64_t keep = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    if (o->bits == 64) {
        const uint64_t *a = warp_src64(w, o->slot);
        for (uint32_t l = 0; l < MACH_WARP; l++)
            part[l] |= (a[l] & keep) << at % 64;
    } else {
        const uint32_t *a = warp_src32(w, o->slot);
        for (uint32_t l = 0; l < MACH_WARP; l++)
            part[l] |= (a[l] & keep) << at % 64;
    }
}

static void write_lanes(struct warp *w, const struct warp_opnd *o, uint32_t mask, const uint64_t *v, uint64_t keep) {
    if (o->bits == 64) {
        uint64_t *d = warp_dst64(w, o->slot);
        ALU_SET(mask, d, v[l] & keep);
    } else {
        uint32_t *d = warp_dst32(w, o->slot);
        ALU_SET(mask, d, (uint32_t)(v[l] & keep));
    }
}

/* Poison of what lanes `poison` pack: the elements' bits. */
static void pack_unwritten(struct warp *w, const struct insn *in, uint32_t poison) {
    const struct warp_opnd *d = &in->o[0], *a = &in->o[1];
    const unsigned bits = (unsigned)in->aux;
    WARP_FOR_LANES(l, poison) {
        uint64_t u[2] = {0};
        for (uint32_t k = 0; k < a->num_sub; k++) {
            const struct warp_opnd *e = &a->more->sub[k];
            u[k * bits / 64] |= (warp_unwritten(w, e->slot, e->bits, l) & warp_low_bits(bits)) << k * bits % 64;
        }
        warp_set_unwritten_wide(w, d->slot, d->bits, l, u[0], u[1]);
    }
}

static enum warp_status mov_pack(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct warp_opnd *d = &in->o[0], *a = &in->o[1];
    const unsigned bits = (unsigned)in->aux;
    struct wide v;
    memset(&v, 0, d->bits == 128 ? sizeof v : sizeof v.part[0]);
    uint32_t poison = 0;
    for (uint32_t k = 0; k < a->num_sub; k++) {
        put_element(w, &a->more->sub[k], bits, k * bits, &v);
        poison |= warp_poison(w, a->more->sub[k].slot);
    }
    if (d->bits == 128) {
        uint64_t *low = warp_dst64(w, d->slot), *high = low + MACH_WARP;
        ALU_SET(mask, low, v.part[0][l]);
        ALU_SET(mask, high, v.part[1][l]);
    } else {
        write_lanes(w, d, mask, v.part[0], ~UINT64_C(0));
    }
    pack_unwritten(w, in, poison & mask);
    return warp_done(w, d->slot, mask & ~poison, 0);
}

static enum warp_status mov_unpack(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct warp_opnd *d = &in->o[0], *a = &in->o[1];
    const unsigned bits = (unsigned)in->aux;
    const uint64_t keep = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
    struct wide v;
    if (a->bits == 128)
        memcpy(&v, warp_src64(w, a->slot), sizeof v);
    else if (a->bits == 64)
        memcpy(v.part[0], warp_src64(w, a->slot), sizeof v.part[0]);
    else
        for (uint32_t l = 0; l < MACH_WARP; l++)
            v.part[0][l] = warp_src32(w, a->slot)[l];
    const uint32_t poison = warp_poison(w, a->slot) & mask;
    uint64_t u[2][MACH_WARP]; /* of lanes `poison`: a destination may be the source */
    WARP_FOR_LANES(l, poison) {
        u[0][l] = warp_unwritten_half(w, a->slot, a->bits, 0, l);
        u[1][l] = a->bits == 128 ? warp_unwritten_half(w, a->slot, 128, 1, l) : 0;
    }
    for (uint32_t k = 0; k < d->num_sub; k++) {
        const struct warp_opnd *e = &d->more->sub[k];
        if (alu_is_sink(e))
            continue;
        uint64_t part[MACH_WARP];
        for (uint32_t l = 0; l < MACH_WARP; l++)
            part[l] = v.part[k * bits / 64][l] >> k * bits % 64;
        write_lanes(w, e, mask, part, keep);
        warp_set_poison(w, e->slot, mask & ~poison, 0);
        WARP_FOR_LANES(l, poison) {
            warp_set_unwritten(w, e->slot, e->bits, l, u[k * bits / 64][l] >> k * bits % 64 & keep);
        }
    }
    return WARP_NEXT;
}

/* --- prmt (9.7.9.7) --------------------------------------------------------------------------------------------------
 * Every mode is a list of four 4-bit selectors: bits 2..0 the byte of {b, a}, bit 3 the sign of that byte instead. */

enum { PRMT_GENERIC, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };
static const uint16_t prmt_modes[][4] = {
    [PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543}, [PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333}, [PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210}, [PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
};

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t s = selectors >> (4 * i) & 0xf, byte = (uint32_t)(bytes >> (8 * (s & 7))) & 0xff;
        d |= (s & 8 ? (byte & 0x80 ? 0xffu : 0) : byte) << (8 * i);
    }
    return d;
}

/* The bytes that the selectors name bring their poison. */
static void permute_unwritten(struct warp *w, const struct insn *in, uint32_t mask, const uint32_t *selectors) {
    const struct warp_opnd *a = &in->o[1], *b = &in->o[2];
    const uint32_t poison = (warp_poison(w, a->slot) | warp_poison(w, b->slot)) & mask;
    WARP_FOR_LANES(l, poison) {
        const uint64_t from_a = warp_unwritten(w, a->slot, 32, l), from_b = warp_unwritten(w, b->slot, 32, l);
        warp_set_unwritten(w, in->o[0].slot, 32, l, permute((uint32_t)from_a, (uint32_t)from_b, selectors[l]));
    }
    warp_set_poison(w, in->o[0].slot, mask & ~poison, 0);
}

static enum warp_status prmt(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *pa = warp_src32(w, in->o[1].slot), *pb = warp_src32(w, in->o[2].slot);
    const uint32_t *pc = warp_src32(w, in->o[3].slot);
    uint32_t *pd = warp_dst32(w, in->o[0].slot), sel[MACH_WARP];
    const uint16_t *mode = in->aux == PRMT_GENERIC ? NULL : prmt_modes[in->aux];
    for (uint32_t l = 0; l < MACH_WARP; l++)
        sel[l] = mode ? mode[pc[l] & 3] : pc[l] & 0xffff;
    const uint32_t unknown = warp_poison(w, in->o[3].slot) & mask;
    ALU_SET(mask, pd, permute(pa[l], pb[l], sel[l]));
    permute_unwritten(w, in, mask & ~unknown, sel);
    return warp_done(w, in->o[0].slot, unknown, unknown);
}

/* A constant selector, in->aux: which is how compilers use it. */
static enum warp_status prmt_constant(struct warp *w, const struct insn *in, uint32_t mask) {
    const uint32_t *pa = warp_src32(w, in->o[1].slot), *pb = warp_src32(w, in->o[2].slot);
    uint32_t *pd = warp_dst32(w, in->o[0].slot), d[MACH_WARP] = {0}, poison = 0;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t s = (uint32_t)in->aux >> (4 * i) & 0xf, from = 8 * (s & 3), to = 8 * i;
        const uint32_t *src = s & 4 ? pb : pa;
        poison |= warp_poison(w, in->o[s & 4 ? 2 : 1].slot);
        if (s & 8)
            for (uint32_t l = 0; l < MACH_WARP; l++)
                d[l] |= ((0 - (src[l] >> (from + 7) & 1)) & 0xff) << to;
        else
            for (uint32_t l = 0; l < MACH_WARP; l++)
                d[l] |= (src[l] >> from & 0xff) << to;
    }
    ALU_SET(mask, pd, d[l]);
    if (poison & mask) {
        for (uint32_t l = 0; l < MACH_WARP; l++)
            d[l] = (uint32_t)in->aux;
        permute_unwritten(w, in, mask, d);
        return WARP_NEXT;
    }
    return warp_done(w, in->o[0].slot, mask, 0);
}

static const struct alu_row prmt_rows[] = {
    ALU_ROW(prmt, b32, 0, 0, "wwww", prmt),           ALU_ROW(prmt, b32, ALU_M(f4e), 0, "wwww", prmt),
    ALU_ROW(prmt, b32, ALU_M(b4e), 0, "wwww", prmt),  ALU_ROW(prmt, b32, ALU_M(rc8), 0, "wwww", prmt),
    ALU_ROW(prmt, b32, ALU_M(ecl), 0, "wwww", prmt),  ALU_ROW(prmt, b32, ALU_M(ecr), 0, "wwww", prmt),
    ALU_ROW(prmt, b32, ALU_M(rc16), 0, "wwww", prmt),
};

bool isa_bind_permute(struct isa_binder *b, struct insn *in) {
    static const enum ptx_mod names[] = {PTX_MOD_f4e, PTX_MOD_b4e, PTX_MOD_rc8, PTX_MOD_ecl, PTX_MOD_ecr, PTX_MOD_rc16};
    if (!alu_bind(b, in, prmt_rows, sizeof prmt_rows / sizeof *prmt_rows))
        return false;
    in->aux = PRMT_GENERIC;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (ptx_has(in->src, names[i]))
            in->aux = PRMT_F4E + i;
    const struct warp_opnd *selector = &in->o[3];
    if (selector->is_imm) {
        in->aux = in->aux == PRMT_GENERIC ? selector->more->imm & 0xffff : prmt_modes[in->aux][selector->more->imm & 3];
        in->fn = prmt_constant;
    }
    return true;
}

/* --- binding mov -------------------------------------------------------------------------------------------------- */

static bool bind_vector(struct isa_binder *b, struct insn *in, unsigned bits) {
    const bool pack = in->o[1].kind == WARP_VEC;
    const struct warp_opnd *vec = &in->o[pack ? 1 : 0];
    if (in->o[pack ? 0 : 1].kind != WARP_SLOT)
        return isa_refuse(b, "one side of mov is a scalar that keeps its value");
    if ((vec->num_sub != 2 && vec->num_sub != 4) || bits / vec->num_sub < 8 || bits / vec->num_sub > 64)
        return isa_refuse(b, "mov packs 2 or 4 elements of 8 to 64 bits");
    const unsigned element = bits / vec->num_sub;
    unsigned registers = 0;
    for (uint32_t k = 0; k < vec->num_sub; k++) {
        const struct warp_opnd *e = &vec->more->sub[k];
        if (!e->is_imm && !isa_has_bits(e, element))
            return isa_refuse(b, "the vector's elements do not fill mov's type");
        registers += !alu_is_sink(e);
    }
    if (!registers)
        return isa_refuse(b, "at least one element has to be a register");
    in->aux = element;
    in->fn = pack ? mov_pack : mov_unpack;
    return true;
}

static bool bind_scalar(struct isa_binder *b, struct insn *in, enum ptx_type type, unsigned bits) {
    const struct warp_opnd *a = &in->o[1];
    const bool sreg = a->more->src->kind == PTX_OPND_SREG;
    uint64_t v;
    if (a->kind == WARP_NONE && (type == PTX_PRED || !dynamic_value(a->more->src->sreg, 0, &v)))
        return isa_refuse(b, "this special register has no value here");
    if (a->kind == WARP_FUNC && bits != 64)
        return isa_refuse(b, "a function's address has 64 bits");
    in->fn = a->kind == WARP_NONE ? mov_sreg
             : type == PTX_PRED   ? (sreg ? mov_pred_sreg : mov_pred)
             : bits == 16         ? mov_b16
             : bits == 32         ? mov_b32
             : bits == 64         ? mov_b64
                                  : mov_b128;
    ALU_LINKED(mov_b32, mov)
    return true;
}

bool isa_bind_move(struct isa_binder *b, struct insn *in) {
    struct alu_form form;
    if (!alu_parse(b, in->src, &form))
        return false;
    const enum ptx_type type = ptx_mod_type(form.type[0]);
    const unsigned bits = ptx_type_bits(type);
    const bool packed =
        type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2 || type == PTX_F32X2;
    if (form.num_types != 1 || form.flags || form.cmp || form.space || bits == 8 || type == PTX_NOTYPE || packed)
        return isa_refuse(b, "mov takes .pred, or one bit-size, integer, .f32 or .f64 type of 16 bits or more");
    if (in->o[0].kind == WARP_VEC || in->o[1].kind == WARP_VEC)
        return type == PTX_PRED ? isa_refuse(b, "a vector has no predicates") : bind_vector(b, in, bits);
    return bind_scalar(b, in, type, bits);
}
