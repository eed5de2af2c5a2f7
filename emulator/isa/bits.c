/* isa/bits.c - poison by bits, of the instructions that only move bits about or where a bit of the result comes of few.
 *
 * Handlers come here when a source is poison, so that no instruction on written registers pays: behind their result,
 * or, where the rule needs the sources' values, before it, since the result may take the place of a source.
 * The rules: what is copied, shifted, extended or inserted keeps its bits; of `and` and `or` a written bit that decides
 * makes the result's bit written; a sum's or product's bits come of those at their place and below; elements of a
 * packed type do not touch one another. Everything else is poison as a whole.
 */
#include "isa/alu.h"
#include "warp/parts.h"

/* One lane of an instruction. */
struct lane_bits {
    unsigned width; /* of the result */
    unsigned n;     /* sources */
    uint64_t u[4];  /* their bits that nothing has written, */
    uint64_t v[4];  /*  and, before the result, their values */
};

#define WHOLE (~UINT64_C(0))

static uint64_t any_of(const struct lane_bits *b) {
    uint64_t u = 0;
    for (unsigned i = 0; i < b->n; i++)
        u |= b->u[i];
    return u;
}

/* The lowest bit and all above it. */
static uint64_t from_lowest(uint64_t u) { return u ? ~((u & (0 - u)) - 1) : 0; }

/* All of an element of `bits` bits of which a bit is set. */
static uint64_t fill_elements(uint64_t u, unsigned bits) {
    uint64_t all = 0;
    for (unsigned at = 0; at < 64; at += bits)
        all |= u >> at & warp_low_bits(bits) ? warp_low_bits(bits) << at : 0;
    return all;
}

/* Bit n - 1 takes all places from n on. */
static uint64_t extend(uint64_t u, unsigned n) {
    u &= warp_low_bits(n);
    return n < 64 && u >> (n - 1) & 1 ? u | ~warp_low_bits(n) : u;
}

/* `one`: the bit that decides, 0 of and, all ones of or. */
static uint64_t decided(const struct lane_bits *b, uint64_t one) {
    const uint64_t decides_a = ~b->u[0] & ~(b->v[0] ^ one), decides_b = ~b->u[1] & ~(b->v[1] ^ one);
    return any_of(b) & ~decides_a & ~decides_b;
}

static uint64_t shift(const struct lane_bits *b, const struct ptx_insn *src) {
    const bool left = src->op == PTX_OP_shl;
    const enum ptx_type t = ptx_insn_type(src, 0);
    const uint64_t n = b->v[1];
    if (b->u[1])
        return WHOLE;
    if (!left && (t == PTX_S16 || t == PTX_S32 || t == PTX_S64))
        return (uint64_t)((int64_t)extend(b->u[0], b->width) >> (n < 63 ? n : 63));
    return n >= b->width ? 0 : left ? b->u[0] << n : b->u[0] >> n;
}

/* shf: [b, a] shifted by c. */
static uint64_t funnel(const struct lane_bits *b, const struct ptx_insn *src) {
    const uint64_t pair = b->u[1] << 32 | b->u[0];
    const uint32_t most = b->v[2] < 32 ? (uint32_t)b->v[2] : 32;
    const uint32_t n = ptx_has(src, PTX_MOD_clamp) ? most : b->v[2] & 31;
    if (b->u[2])
        return WHOLE;
    return ptx_has(src, PTX_MOD_l) ? pair << n >> 32 : pair >> n;
}

/* bfe: `c` bits of a from bit `b` on. */
static uint64_t extract(const struct lane_bits *b, const struct ptx_insn *src) {
    const enum ptx_type t = ptx_insn_type(src, 0);
    const unsigned at = b->v[1] & 0xff, bits = b->v[2] & 0xff;
    if (b->u[1] || b->u[2])
        return WHOLE;
    if (!bits)
        return 0;
    if (t == PTX_U32 || t == PTX_U64)
        return at >= b->width ? 0 : b->u[0] >> at & warp_low_bits(bits);
    const uint64_t u = extend(b->u[0], b->width);
    return at >= b->width ? (uint64_t)((int64_t)u >> 63) : extend((uint64_t)((int64_t)u >> at), bits < 64 ? bits : 64);
}

/* bfi: `e` bits of a in the place of those of b from bit `c` on. */
static uint64_t insert(const struct lane_bits *b) {
    const unsigned at = b->v[2] & 0xff, bits = b->v[3] & 0xff;
    if (b->u[2] || b->u[3])
        return WHOLE;
    if (at > 63)
        return b->u[1];
    const uint64_t m = warp_low_bits(bits) << at;
    return (b->u[1] & ~m) | (b->u[0] << at & m);
}

static uint64_t reverse(uint64_t u, unsigned width) {
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i++)
        r |= (u >> i & 1) << (width - 1 - i);
    return r;
}

static bool is_integer(enum ptx_type t) {
    return t == PTX_U8 || t == PTX_S8 || t == PTX_U16 || t == PTX_S16 || t == PTX_U32 || t == PTX_S32 || t == PTX_U64 ||
           t == PTX_S64;
}
static bool is_signed(enum ptx_type t) { return t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64; }

/* Integers change their width, and two numbers become the elements of one register. */
static uint64_t convert(const struct lane_bits *b, const struct ptx_insn *src) {
    const enum ptx_type d = ptx_insn_type(src, 0), a = ptx_insn_type(src, 1);
    if (is_integer(d) && is_integer(a) && !ptx_has(src, PTX_MOD_sat)) {
        const unsigned from = ptx_type_bits(a), to = ptx_type_bits(d), n = from < to ? from : to;
        const uint64_t u = is_signed(from < to ? a : d) ? extend(b->u[0], n) : b->u[0] & warp_low_bits(n);
        return is_signed(d) ? u : u & warp_low_bits(to);
    }
    if (b->n == 2 && a == PTX_F32) {
        const unsigned half = ptx_type_bits(d) / 2;
        return (b->u[0] ? warp_low_bits(half) << half : 0) | (b->u[1] ? warp_low_bits(half) : 0);
    }
    return any_of(b) ? WHOLE : 0;
}

/* Bits of an element of a packed type, or 0. */
static unsigned element_of(const struct ptx_insn *src) {
    const enum ptx_type t = ptx_insn_type(src, 0);
    if (t == PTX_F32X2)
        return 32;
    return t == PTX_F16X2 || t == PTX_BF16X2 || ptx_has(src, PTX_MOD_u16x2) || ptx_has(src, PTX_MOD_s16x2) ? 16 : 0;
}

/* The bits of the result that nothing has written. */
static uint64_t result(const struct lane_bits *b, const struct ptx_insn *src) {
    const enum ptx_type t = ptx_insn_type(src, 0);
    const uint64_t u = any_of(b);
    if (!u)
        return 0;
    if (src->op == PTX_OP_cvt)
        return convert(b, src);
    if (element_of(src))
        return fill_elements(u, element_of(src));
    switch (src->op) {
    case PTX_OP_mov:
    case PTX_OP_xor:
    case PTX_OP_not:
        return u;
    case PTX_OP_and:
        return decided(b, 0);
    case PTX_OP_or:
        return decided(b, WHOLE);
    case PTX_OP_shl:
    case PTX_OP_shr:
        return shift(b, src);
    case PTX_OP_shf:
        return funnel(b, src);
    case PTX_OP_bfe:
        return extract(b, src);
    case PTX_OP_bfi:
        return insert(b);
    case PTX_OP_brev:
        return reverse(u, b->width);
    case PTX_OP_add:
    case PTX_OP_sub:
    case PTX_OP_neg:
    case PTX_OP_mul:
    case PTX_OP_mad:
        return is_integer(t) && !ptx_has(src, PTX_MOD_hi) && !ptx_has(src, PTX_MOD_sat) ? from_lowest(u) : WHOLE;
    default:
        return WHOLE;
    }
}

static void read_source(const struct warp *w, const struct insn *in, unsigned i, uint32_t l, struct lane_bits *b) {
    const struct warp_opnd *o = &in->o[i + 1];
    b->u[i] = warp_unwritten(w, o->slot, o->bits, l);
    b->v[i] = o->bits == 64 ? warp_src64(w, o->slot)[l] : warp_src32(w, o->slot)[l];
}

static void find_unwritten(const struct warp *w, const struct insn *in, uint32_t poison, unsigned n,
                           uint64_t unwritten[MACH_WARP]) {
    WARP_FOR_LANES(l, poison) {
        struct lane_bits b = {.width = in->o[0].bits, .n = n};
        for (unsigned i = 0; i < n; i++)
            read_source(w, in, i, l, &b);
        unwritten[l] = result(&b, in->src);
    }
}

static void set_unwritten(struct warp *w, const struct insn *in, uint32_t poison, const uint64_t unwritten[MACH_WARP]) {
    WARP_FOR_LANES(l, poison) { warp_set_unwritten(w, in->o[0].slot, in->o[0].bits, l, unwritten[l]); }
}

enum warp_status alu_unwritten(struct warp *w, const struct insn *in, uint32_t mask, uint32_t p, unsigned n) {
    const struct warp_opnd *d = &in->o[0];
    uint64_t unwritten[MACH_WARP];
    if (n > 4 || d->kind != WARP_SLOT || d->bits == 1 || d->bits == 128)
        return warp_done(w, d->slot, mask, p);
    find_unwritten(w, in, mask & p, n, unwritten);
    set_unwritten(w, in, mask & p, unwritten);
    return warp_done(w, d->slot, mask & ~p, 0);
}

enum warp_status alu_poisoned(struct warp *w, const struct insn *in, uint32_t mask, uint32_t p, unsigned n,
                              void (*lanes)(struct warp *w, const struct insn *in, uint32_t mask)) {
    uint64_t unwritten[MACH_WARP];
    find_unwritten(w, in, p, n, unwritten); /* the result may take the place of a source */
    lanes(w, in, mask);
    set_unwritten(w, in, p, unwritten);
    return warp_done(w, in->o[0].slot, mask & ~p, 0);
}
