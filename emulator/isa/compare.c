/* isa/compare.c - comparison and selection (PTX ISA 9.7.6, 9.7.7; operators 9.3.1).
 *
 * A comparison of all 32 lanes yields a lane mask, through one of the functions below that the bound row names; set and
 * setp then combine it with a predicate and write it out. The halves of f16x2 and bf16x2 are compared separately.
 */
#include "isa/alu.h"
#include "simd/vectors.h"
#include "warp/parts.h"

/* Bit l, of the lanes in `mask` at least: lane l of a compares true with lane l of b. Words as in the frame, u32[32] or
 * u64[32]. What is not here is one of these with its operands exchanged, its result inverted, or both. */
typedef uint32_t (*compare_fn)(const void *a, const void *b, uint32_t mask);

#if defined(ISA_UNIT)
/* Bit l of the result is the sign of t[l]. */
static inline uint32_t gather_signs(const uint32_t t[MACH_WARP]) {
#if defined(__AVX512F__)
    return _mm512_movepi32_mask(_mm512_loadu_si512(t)) | (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(t + 16))
                                                             << 16;
#else
    uint32_t m = 0;
    for (unsigned i = 0; i < MACH_WARP; i += 8)
        m |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_loadu_si256((const __m256i_u *)(t + i)))) << i;
    return m;
#endif
}
#define COMPARE(name, word, elem, load, cond)                                                                          \
    static uint32_t name(const void *va, const void *vb, uint32_t mask) {                                              \
        const word *pa = va, *pb = vb;                                                                                 \
        uint32_t t[MACH_WARP];                                                                                         \
        (void)mask;                                                                                                    \
        for (uint32_t l = 0; l < MACH_WARP; l++) {                                                                     \
            const elem a = load(pa[l]), b = load(pb[l]);                                                               \
            t[l] = (cond) ? ~0u : 0;                                                                                   \
        }                                                                                                              \
        return gather_signs(t);                                                                                        \
    }
#else
#define COMPARE(name, word, elem, load, cond)                                                                          \
    static uint32_t name(const void *va, const void *vb, uint32_t mask) {                                              \
        const word *pa = va, *pb = vb;                                                                                 \
        uint8_t t[MACH_WARP];                                                                                          \
        if (!(mask & (mask - 1))) { /* a thread that was elected */                                                    \
            const unsigned l = warp_lowest(mask);                                                                      \
            const elem a = load(pa[l]), b = load(pb[l]);                                                               \
            return (uint32_t)(cond) << l;                                                                              \
        }                                                                                                              \
        for (uint32_t l = 0; l < MACH_WARP; l++) {                                                                     \
            const elem a = load(pa[l]), b = load(pb[l]);                                                               \
            t[l] = (uint8_t)(cond);                                                                                    \
        }                                                                                                              \
        return alu_gather(t);                                                                                          \
    }
#endif

/* Words of 32 bits, which the host compares at once, by `op`. */
#if defined(ISA_UNIT)
#if defined(__AVX512F__)
#define COMPARE_OP(name, ints512, ints256)                                                                             \
    static ALU_INLINE uint32_t name##_op(const uint32_t *a, const uint32_t *b, unsigned i) {                           \
        const __m512i x = _mm512_loadu_si512(a + i), y = _mm512_loadu_si512(b + i);                                    \
        return ints512;                                                                                                \
    }
#define COMPARE_PART 16u
#define COMPARE_FLOATS(how) _mm512_cmp_ps_mask(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), how)
#else
#define COMPARE_OP(name, ints512, ints256)                                                                             \
    static ALU_INLINE uint32_t name##_op(const uint32_t *a, const uint32_t *b, unsigned i) {                           \
        const __m256i x = _mm256_loadu_si256((const __m256i_u *)(a + i)),                                              \
                      y = _mm256_loadu_si256((const __m256i_u *)(b + i));                                              \
        return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(ints256));                                             \
    }
#define COMPARE_PART 8u
#define COMPARE_FLOATS(how) _mm256_castps_si256(_mm256_cmp_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), how))
#endif
#define COMPARE_32(name, elem, load, cond, ints512, ints256)                                                           \
    COMPARE_OP(name, ints512, ints256)                                                                                 \
    static uint32_t name(const void *a, const void *b, uint32_t mask) {                                                \
        uint32_t t = 0;                                                                                                \
        (void)mask;                                                                                                    \
        for (unsigned i = 0; i < MACH_WARP; i += COMPARE_PART)                                                         \
            t |= name##_op(a, b, i) << i;                                                                              \
        return t;                                                                                                      \
    }
#else
#define COMPARE_32(name, elem, load, cond, ints512, ints256) COMPARE(name, uint32_t, elem, load, cond)
#endif

/* 9.3.1.1 */
#define TO_u16(x) ((uint16_t)(x))
#define TO_s16(x) ((int16_t)(x))
#define TO_u32(x) (x)
#define TO_s32(x) ((int32_t)(x))
#define TO_u64(x) (x)
#define TO_s64(x) ((int64_t)(x))
#define EQUAL(T, word, elem) COMPARE(eq_##T, word, elem, TO_##T, a == b)
#define LESS(T, word, elem) COMPARE(lt_##T, word, elem, TO_##T, a < b)
EQUAL(u16, uint32_t, uint16_t)
LESS(u16, uint32_t, uint16_t)
LESS(s16, uint32_t, int16_t)
#define TOP(x) _mm256_xor_si256(x, _mm256_set1_epi32(INT32_MIN))
COMPARE_32(eq_u32, uint32_t, TO_u32, a == b, _mm512_cmpeq_epi32_mask(x, y), _mm256_cmpeq_epi32(x, y))
COMPARE_32(lt_u32, uint32_t, TO_u32, a < b, _mm512_cmplt_epu32_mask(x, y), _mm256_cmpgt_epi32(TOP(y), TOP(x)))
COMPARE_32(lt_s32, int32_t, TO_s32, a < b, _mm512_cmplt_epi32_mask(x, y), _mm256_cmpgt_epi32(y, x))
EQUAL(u64, uint64_t, uint64_t)
LESS(u64, uint64_t, uint64_t)
LESS(s64, uint64_t, int64_t)

/* 9.3.1.2: C's own operators are ordered, but for != */
#define FLOATS(name, cond, how)                                                                                        \
    COMPARE_32(name##_f32, float, num_f32_from_bits, cond, COMPARE_FLOATS(how), COMPARE_FLOATS(how))                   \
    COMPARE(name##_f64, uint64_t, double, num_f64_from_bits, cond)
FLOATS(eq, a == b, _CMP_EQ_OQ)
FLOATS(ne, a<b || a> b, _CMP_NEQ_OQ)
FLOATS(lt, a < b, _CMP_LT_OQ)
FLOATS(le, a <= b, _CMP_LE_OQ)
FLOATS(num, a == a && b == b, _CMP_ORD_Q)

struct comparison {
    enum ptx_mod cmp, type; /* .lo, .ls, .hi and .hs are lt, le, gt and ge of unsigned types */
    compare_fn fn;
    bool exchanged; /* fn gets b and a */
    uint32_t flip;  /* of fn's result */
};
#define ROW(op, t, fn, exchanged, flip)                                                                                \
    { PTX_MOD_##op, PTX_MOD_##t, fn, exchanged, flip ? WARP_ALL_LANES : 0 }
#define EQ_ROWS(t, u) ROW(eq, t, eq_##u, false, false), ROW(ne, t, eq_##u, false, true)
#define ORDER_ROWS(t)                                                                                                  \
    ROW(lt, t, lt_##t, false, false), ROW(le, t, lt_##t, true, true), ROW(gt, t, lt_##t, true, false),                 \
        ROW(ge, t, lt_##t, false, true)
#define FLOAT_ROWS(t)                                                                                                  \
    ROW(eq, t, eq_##t, false, false), ROW(ne, t, ne_##t, false, false), ROW(lt, t, lt_##t, false, false),              \
        ROW(le, t, le_##t, false, false), ROW(gt, t, lt_##t, true, false), ROW(ge, t, le_##t, true, false),            \
        ROW(equ, t, ne_##t, false, true), ROW(neu, t, eq_##t, false, true), ROW(ltu, t, le_##t, true, true),           \
        ROW(leu, t, lt_##t, true, true), ROW(gtu, t, le_##t, false, true), ROW(geu, t, lt_##t, false, true),           \
        ROW(num, t, num_##t, false, false), ROW(nan, t, num_##t, false, true)
static const struct comparison comparisons[] = {
    EQ_ROWS(b16, u16), EQ_ROWS(u16, u16), EQ_ROWS(s16, u16), ORDER_ROWS(u16), ORDER_ROWS(s16),   EQ_ROWS(b32, u32),
    EQ_ROWS(u32, u32), EQ_ROWS(s32, u32), ORDER_ROWS(u32),   ORDER_ROWS(s32), EQ_ROWS(b64, u64), EQ_ROWS(u64, u64),
    EQ_ROWS(s64, u64), ORDER_ROWS(u64),   ORDER_ROWS(s64),   FLOAT_ROWS(f32), FLOAT_ROWS(f64),
};

/* What a set or setp does, made when it is bound. */
struct compare_plan {
    const struct comparison *compare;
    enum { HALF_NONE, HALF_F16, HALF_BF16 } half; /* sources are decoded to f32 first */
    bool packed;                                  /* f16x2, bf16x2 */
    bool ftz;
    enum { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR } bool_op;
    unsigned src;       /* operand number of a; b and c follow */
    bool has_q;         /* setp p|q */
    uint32_t true_word; /* set: what a lane gets; packed: one half of it */
};

/* Half h (0: low) of a source as f32 bits. */
static void decode_half(uint32_t dst[MACH_WARP], const uint32_t *src, const struct compare_plan *p, unsigned h) {
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        uint16_t v = (uint16_t)(src[l] >> (16 * h));
        if (p->ftz)
            v = (uint16_t)num_ftz(p->half == HALF_F16 ? NUM_F16 : NUM_BF16, v);
        dst[l] = p->half == HALF_F16 ? num_f32_bits(num_decode_f16(v)) : (uint32_t)v << 16;
    }
}

static inline uint32_t compare_words(const struct comparison *c, const void *a, const void *b, uint32_t mask) {
    return c->fn(c->exchanged ? b : a, c->exchanged ? a : b, mask) ^ c->flip;
}

static uint32_t compare_lanes(const struct warp *w, const struct insn *in, const struct compare_plan *p, unsigned h,
                              uint32_t mask) {
    const uint32_t *a = warp_src32(w, in->o[p->src].slot), *b = warp_src32(w, in->o[p->src + 1].slot);
    if (!p->half && !p->ftz)
        return compare_words(p->compare, a, b, mask);
    uint32_t x[MACH_WARP], y[MACH_WARP];
    if (p->half) {
        decode_half(x, a, p, h);
        decode_half(y, b, p, h);
    } else {
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            x[l] = (uint32_t)num_ftz(NUM_F32, a[l]);
            y[l] = (uint32_t)num_ftz(NUM_F32, b[l]);
        }
    }
    return compare_words(p->compare, x, y, mask);
}

/* BoolOp(t, c) and its poison, where t's poison is *poison. */
static uint32_t combine(const struct warp *w, const struct insn *in, const struct compare_plan *p, uint32_t t,
                        uint32_t *poison) {
    if (p->bool_op == BOOL_NONE)
        return t;
    const struct warp_opnd *o = &in->o[p->src + 2];
    const uint32_t c = warp_pred(w, o), pc = warp_poison(w, o->slot), pt = *poison;
    *poison = p->bool_op == BOOL_AND  ? alu_and_poison(t, pt, c, pc)
              : p->bool_op == BOOL_OR ? alu_or_poison(t, pt, c, pc)
                                      : pt | pc;
    return p->bool_op == BOOL_AND ? t & c : p->bool_op == BOOL_OR ? t | c : t ^ c;
}

static uint32_t source_poison(const struct warp *w, const struct insn *in, const struct compare_plan *p) {
    return warp_poison(w, in->o[p->src].slot) | warp_poison(w, in->o[p->src + 1].slot);
}

static void write_pred(struct warp *w, const struct warp_opnd *o, uint32_t mask, uint32_t value, uint32_t poison) {
    if (alu_is_sink(o))
        return;
    warp_set_pred(w, o->slot, mask, value);
    warp_set_poison(w, o->slot, mask, poison);
}

/* setp of one register and no BoolOp, which is nearly all of them. */
#define SETP_PLAIN(name, compare_ab)                                                                                   \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        const struct comparison *c = ((const struct compare_plan *)in->data)->compare;                                 \
        const void *a = warp_fast_src(w, in, c->exchanged ? 2 : 1), *b = warp_fast_src(w, in, c->exchanged ? 1 : 2);   \
        const uint32_t t = (compare_ab)(a, b, mask) ^ c->flip;                                                         \
        uint32_t *d = warp_fast_dst(w, in, 0);                                                                         \
        *d = (*d & ~mask) | (t & mask);                                                                                \
        return alu_poison(w, in, mask, 2);                                                                             \
    }
SETP_PLAIN(setp_plain, c->fn)
SETP_PLAIN(setp_eq_u32, eq_u32)
SETP_PLAIN(setp_lt_u32, lt_u32)
SETP_PLAIN(setp_lt_s32, lt_s32)
static warp_fn plain_setp(const struct comparison *c) {
    return c->fn == eq_u32 ? setp_eq_u32 : c->fn == lt_u32 ? setp_lt_u32 : c->fn == lt_s32 ? setp_lt_s32 : setp_plain;
}

static uint8_t setp_link(const struct comparison *c) {
    return c->fn == eq_u32   ? CHAIN_setp_eq
           : c->fn == lt_u32 ? c->exchanged ? CHAIN_setp_gt_u : CHAIN_setp_lt_u
           : c->fn == lt_s32 ? c->exchanged ? CHAIN_setp_gt_s : CHAIN_setp_lt_s
                             : CHAIN_NONE;
}

/* 9.7.6.2, 9.7.7.2 */
static enum warp_status setp(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct compare_plan *p = in->data;
    const uint32_t from = source_poison(w, in, p);
    const uint32_t t = compare_lanes(w, in, p, 0, mask);
    uint32_t pp = from, pq = from;
    const uint32_t vp = combine(w, in, p, t, &pp);
    const uint32_t vq = p->has_q ? combine(w, in, p, p->packed ? compare_lanes(w, in, p, 1, mask) : ~t, &pq) : 0;
    write_pred(w, &in->o[0], mask, vp, pp);
    if (p->has_q)
        write_pred(w, &in->o[1], mask, vq, pq);
    return WARP_NEXT;
}

/* 9.7.6.1, 9.7.7.1 */
static enum warp_status set(struct warp *w, const struct insn *in, uint32_t mask) {
    const struct compare_plan *p = in->data;
    uint32_t poison = source_poison(w, in, p), ignored = poison;
    const uint32_t lo = combine(w, in, p, compare_lanes(w, in, p, 0, mask), &poison);
    const uint32_t hi = p->packed ? combine(w, in, p, compare_lanes(w, in, p, 1, mask), &ignored) : 0;
    uint32_t *d = warp_dst32(w, in->o[0].slot);
    WARP_FOR_LANES(l, mask) {
        const uint32_t low = lo >> l & 1 ? p->true_word : 0, high = hi >> l & 1 ? p->true_word : 0;
        d[l] = p->packed ? low | high << 16 : low;
    }
    return warp_done(w, in->o[0].slot, mask, poison | (p->packed ? ignored : 0));
}

/* 9.7.6.3 */
static enum warp_status select_unwritten(struct warp *w, const struct insn *in, uint32_t mask, uint32_t from,
                                         uint32_t all) {
    const struct warp_opnd *d = &in->o[0];
    const uint32_t c = warp_pred(w, &in->o[3]);
    WARP_FOR_LANES(l, from & mask) {
        const struct warp_opnd *a = &in->o[c >> l & 1 ? 1 : 2];
        warp_set_unwritten(w, d->slot, d->bits, l, warp_unwritten(w, a->slot, a->bits, l));
    }
    return warp_done(w, d->slot, mask & ~from, all);
}
#define SELP(n, word, BITS)                                                                                            \
    static enum warp_status selp_b##n(struct warp *w, const struct insn *in, uint32_t mask) {                          \
        const word *pa = warp_src##BITS(w, in->o[1].slot), *pb = warp_src##BITS(w, in->o[2].slot);                     \
        word *pd = warp_dst##BITS(w, in->o[0].slot);                                                                   \
        const uint32_t c = warp_pred(w, &in->o[3]), pc = warp_poison(w, in->o[3].slot);                                \
        const uint32_t from = (c & warp_poison(w, in->o[1].slot)) | (~c & warp_poison(w, in->o[2].slot));              \
        ALU_SET(mask, pd, c >> l & 1 ? pa[l] : pb[l]);                                                                 \
        if (__builtin_expect(((from | pc) & mask) != 0, 0))                                                            \
            return select_unwritten(w, in, mask, from & ~pc, pc);                                                      \
        return warp_done(w, in->o[0].slot, mask, 0);                                                                   \
    }
SELP(32, uint32_t, 32)
SELP(64, uint64_t, 64)

/* 9.7.6.4: c >= 0 takes a; a NaN takes b, and with .ftz a subnormal c is a zero */
static inline bool not_negative(uint32_t c, unsigned f) {
    return num_f32_from_bits(f & NUM_FTZ ? (uint32_t)num_ftz(NUM_F32, c) : c) >= 0.0f;
}
ALU_FN3(slct_b16_s32, u16, u16, u16, s32, c >= 0 ? a : b)
ALU_FN3(slct_b32_s32, u32, u32, u32, s32, c >= 0 ? a : b)
ALU_FN3(slct_b64_s32, u64, u64, u64, s32, c >= 0 ? a : b)
ALU_LONG3(slct_b16_f32, u16, u16, u16, u32, not_negative(c, f) ? a : b)
ALU_LONG3(slct_b32_f32, u32, u32, u32, u32, not_negative(c, f) ? a : b)
ALU_LONG3(slct_b64_f32, u64, u64, u64, u32, not_negative(c, f) ? a : b)

/* --- forms -------------------------------------------------------------------------------------------------------- */

#define SELP_ROW(t, sig, fn) ALU_ROW(selp, t, 0, 0, sig, selp_##fn)
#define SLCT_ROWS(t, sig, n)                                                                                           \
    ALU_ROW2(slct, t, s32, 0, 0, sig, slct_b##n##_s32), ALU_ROW2(slct, t, f32, 0, ALU_M(ftz), sig, slct_b##n##_f32)
static const struct alu_row rows[] = {
    SELP_ROW(b16, "hhhp", b32), SELP_ROW(u16, "hhhp", b32), SELP_ROW(s16, "hhhp", b32), SELP_ROW(b32, "wwwp", b32),
    SELP_ROW(u32, "wwwp", b32), SELP_ROW(s32, "wwwp", b32), SELP_ROW(f32, "wwwp", b32), SELP_ROW(b64, "dddp", b64),
    SELP_ROW(u64, "dddp", b64), SELP_ROW(s64, "dddp", b64), SELP_ROW(f64, "dddp", b64), SLCT_ROWS(b16, "hhhw", 16),
    SLCT_ROWS(u16, "hhhw", 16), SLCT_ROWS(s16, "hhhw", 16), SLCT_ROWS(b32, "wwww", 32), SLCT_ROWS(u32, "wwww", 32),
    SLCT_ROWS(s32, "wwww", 32), SLCT_ROWS(f32, "wwww", 32), SLCT_ROWS(b64, "dddw", 64), SLCT_ROWS(u64, "dddw", 64),
    SLCT_ROWS(s64, "dddw", 64), SLCT_ROWS(f64, "dddw", 64),
};

static bool is_unsigned(enum ptx_mod t) { return t == PTX_MOD_u16 || t == PTX_MOD_u32 || t == PTX_MOD_u64; }

/* The comparison that the modifiers name, for operands of type `type`; NULL where the type does not have it. */
static const struct comparison *find_comparison(const struct alu_form *form, enum ptx_mod type) {
    static const struct {
        uint64_t flag;
        enum ptx_mod written, means;
    } lower[] = {{ALU_M(lo), 0, PTX_MOD_lt},
                 {ALU_M(hi), 0, PTX_MOD_gt},
                 {0, PTX_MOD_ls, PTX_MOD_le},
                 {0, PTX_MOD_hs, PTX_MOD_ge}};
    enum ptx_mod cmp = form->cmp;
    for (size_t i = 0; i < sizeof lower / sizeof *lower; i++) {
        if (!(form->flags & lower[i].flag) && (!cmp || cmp != lower[i].written))
            continue;
        if (!is_unsigned(type) || (lower[i].flag && cmp))
            return NULL;
        cmp = lower[i].means;
        break;
    }
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (comparisons[i].cmp == cmp && comparisons[i].type == type)
            return &comparisons[i];
    return NULL;
}

/* The compared type, and with it what .ftz may accompany. */
static bool plan_source(struct isa_binder *b, const struct alu_form *form, enum ptx_mod type, struct compare_plan *p) {
    p->half = type == PTX_MOD_f16 || type == PTX_MOD_f16x2     ? HALF_F16
              : type == PTX_MOD_bf16 || type == PTX_MOD_bf16x2 ? HALF_BF16
                                                               : HALF_NONE;
    p->packed = type == PTX_MOD_f16x2 || type == PTX_MOD_bf16x2;
    p->ftz = form->flags & ALU_M(ftz);
    p->compare = find_comparison(form, p->half ? PTX_MOD_f32 : type);
    const uint64_t bools = ALU_M(and) | ALU_M(or) | ALU_M(xor), op = form->flags & bools;
    p->bool_op = op == ALU_M(and) ? BOOL_AND : op == ALU_M(or) ? BOOL_OR : op ? BOOL_XOR : BOOL_NONE;
    if (!p->compare || form->space || (op & (op - 1)) || (form->flags & ALU_M(lo) && form->flags & ALU_M(hi)) ||
        form->flags & ~(bools | ALU_M(ftz) | ALU_M(lo) | ALU_M(hi)))
        return isa_refuse(b, "this comparison is not defined for this type");
    return true;
}

static bool plan_operands(struct isa_binder *b, const struct insn *in, const struct compare_plan *p) {
    return in->num_opnds == p->src + 2u + (p->bool_op != BOOL_NONE) || isa_refuse(b, "wrong number of operands");
}

static bool bind_setp(struct isa_binder *b, struct insn *in, const struct alu_form *form, struct compare_plan *p) {
    const enum ptx_mod t = form->type[0];
    p->has_q = in->src->operands[0].kind == PTX_OPND_PAIR;
    p->src = p->has_q ? 2 : 1;
    if (form->num_types != 1 || !plan_source(b, form, t, p))
        return isa_refuse(b, b->why ? b->why : "setp takes one type");
    if (p->ftz && t != PTX_MOD_f32 && t != PTX_MOD_f16 && t != PTX_MOD_f16x2)
        return isa_refuse(b, ".ftz is for .f32, .f16 and .f16x2");
    if (p->half && p->has_q != p->packed) /* 9.7.7.2 */
        return isa_refuse(b, "setp writes p|q for the x2 types, and only p for .f16 and .bf16");
    if (!plan_operands(b, in, p))
        return false;
    bool plain = !p->has_q && !p->bool_op && !p->half && !p->ftz && !alu_is_sink(&in->o[0]);
    in->fn = plain ? plain_setp(p->compare) : setp;
    in->link = plain ? setp_link(p->compare) : CHAIN_NONE;
    in->aux = p->compare->flip;
    return true;
}

/* What `set` writes for true, by destination type; the sources that each destination goes with (9.7.6.1, 9.7.7.1). */
static bool plan_result(enum ptx_mod dst, enum ptx_mod src, const struct compare_plan *p, uint32_t *word) {
    const bool from_f16 = p->half == HALF_F16, from_bf16 = p->half == HALF_BF16;
    switch (dst) {
    case PTX_MOD_u32:
    case PTX_MOD_s32:
        *word = p->packed ? 0xffff : 0xffffffff;
        return true;
    case PTX_MOD_f32:
        *word = 0x3f800000;
        return !p->half;
    case PTX_MOD_u16:
    case PTX_MOD_s16:
        *word = 0xffff;
        return p->half && !p->packed;
    case PTX_MOD_f16:
        *word = 0x3c00;
        return !p->packed && !from_bf16;
    case PTX_MOD_bf16:
        *word = 0x3f80;
        return !p->packed;
    case PTX_MOD_f16x2:
        *word = 0x3c00;
        return p->packed && from_f16;
    case PTX_MOD_bf16x2:
        *word = 0x3f80;
        return p->packed && src == PTX_MOD_bf16x2;
    default:
        return false;
    }
}

static bool bind_set(struct isa_binder *b, struct insn *in, const struct alu_form *form, struct compare_plan *p) {
    const enum ptx_mod d = form->type[0], t = form->type[1];
    p->src = 1;
    if (form->num_types != 2 || !plan_source(b, form, t, p))
        return isa_refuse(b, b->why ? b->why : "set takes two types");
    if (!plan_result(d, t, p, &p->true_word))
        return isa_refuse(b, "set does not go from this source type to this destination type");
    if (p->ftz && ((t != PTX_MOD_f32 && t != PTX_MOD_f16 && t != PTX_MOD_f16x2) || d == PTX_MOD_bf16))
        return isa_refuse(b, ".ftz is for .f32, .f16 and .f16x2");
    in->fn = set;
    return plan_operands(b, in, p);
}

bool isa_bind_select(struct isa_binder *b, struct insn *in) {
    if (!alu_bind(b, in, rows, sizeof rows / sizeof *rows))
        return false;
    ALU_LINKED(selp_b32, selp)
    return true;
}

bool isa_bind_compare(struct isa_binder *b, struct insn *in) {
    struct alu_form form;
    struct compare_plan *p = arena_alloc(b->arena, sizeof *p);
    in->data = p;
    if (!alu_parse(b, in->src, &form))
        return false;
    return in->src->op == PTX_OP_setp ? bind_setp(b, in, &form, p) : bind_set(b, in, &form, p);
}
