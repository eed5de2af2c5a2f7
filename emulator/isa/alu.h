/* isa/alu.h - what the arithmetic families share: reading modifiers, checking operands, and generating handlers.
 *
 * Private to the register-to-register families (integer, carry, float, half, compare, logic, cvt, move, space).
 *
 * A handler works on a whole warp: ALU_FN1..ALU_FN4 make one from an expression over the lane's sources a, b, c, e.
 * With all 32 lanes active it is a loop that the compiler vectorises, otherwise it visits the active lanes. A lane of
 * the result is poison when any of its sources is, but for instructions that move bits (isa/bits.c).
 *
 * A family is a table of rows: opcode, type, the modifiers that must and may be there, the operands' widths, handler.
 * What no row allows is refused, so everything a row accepts is a form that the PTX ISA lists.
 */
#ifndef ISA_ALU_H
#define ISA_ALU_H

#include "isa/isa.h"
#include "num/num.h"
#include "warp/chain.h"

/* --- modifiers ---------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define ALU_FLAGS(F)                                                                                \
    F(lo) F(hi) F(wide) F(sat) F(cc) F(relu) F(shiftamt) F(clamp) F(wrap)                           \
    F(rn) F(rz) F(rm) F(rp) F(rna) F(rs) F(rni) F(rzi) F(rmi) F(rpi)                                \
    F(ftz) F(approx) F(full) F(NaN) F(abs) F(xorsign) F(satfinite) F(oob) F(scaled__n2__ue8m0)      \
    F(finite) F(infinite) F(number) F(notanumber) F(normal) F(subnormal)                            \
    F(l) F(r) F(and) F(or) F(xor) F(f4e) F(b4e) F(rc8) F(ecl) F(ecr) F(rc16) F(to)
/* clang-format on */

enum alu_bit {
#define F(name) ALU_BIT_##name,
    ALU_FLAGS(F)
#undef F
        ALU_BIT_COUNT
};
#define ALU_M(name) (UINT64_C(1) << ALU_BIT_##name)
#define ALU_RND (ALU_M(rn) | ALU_M(rz) | ALU_M(rm) | ALU_M(rp))
#define ALU_IRND (ALU_M(rni) | ALU_M(rzi) | ALU_M(rmi) | ALU_M(rpi))
#define ALU_NEED_RND (UINT64_C(1) << 63) /* in alu_row.need: one of ALU_RND must be there */

/* The modifiers of an instruction, sorted: flags as ALU_M bits, types and the rest in the order written. */
#define ALU_MAX_TYPES 4
struct alu_form {
    uint64_t flags;
    enum ptx_mod type[ALU_MAX_TYPES]; /* PTX_MOD_unknown beyond num_types */
    unsigned num_types;
    enum ptx_mod cmp;   /* eq, ltu, num, ...; .lo and .hi stay flags */
    enum ptx_mod space; /* shared, shared::cluster, ... */
};

/* False (b->why set) for a modifier that no register-to-register instruction has, or one that is there twice. */
bool alu_parse(struct isa_binder *b, const struct ptx_insn *src, struct alu_form *form);

/* in->aux for handlers that round: the mode and the flags of num.h. */
uint64_t alu_rounding(uint64_t flags);
static inline num_round alu_round(const struct insn *in) { return (num_round)(in->aux & 0xff); }
static inline unsigned alu_num_flags(const struct insn *in) { return (unsigned)(in->aux >> 8); }

/* --- operands ----------------------------------------------------------------------------------------------------- */

/* Operand widths, one letter each, destination first: h 16 bits, w 32, d 64, q 128, p predicate. False (b->why set)
 * when number or width differ; after success every slot may be read or written at that width. */
bool alu_operands(struct isa_binder *b, const struct insn *in, const char *sig);
static inline bool alu_is_sink(const struct warp_opnd *o) { return o->kind == WARP_DISCARD; }
/* False (b->why set) when a constant among the sources is of the wrong kind for operands of type `type`. */
bool alu_literals(struct isa_binder *b, const struct insn *in, enum ptx_mod type);

/* --- tables ------------------------------------------------------------------------------------------------------- */

struct alu_row {
    uint16_t op, type, type2; /* enum ptx_op, enum ptx_mod; type2 0: the instruction has one type */
    uint64_t need, may;       /* ALU_M bits */
    const char *sig;
    warp_fn fn;
};
#define ALU_ROW(op, type, need, may, sig, fn)                                                                          \
    { PTX_OP_##op, PTX_MOD_##type, 0, need, may, sig, fn }
#define ALU_ROW2(op, type, type2, need, may, sig, fn)                                                                  \
    { PTX_OP_##op, PTX_MOD_##type, PTX_MOD_##type2, need, may, sig, fn }

/* The link of the instruction that is bound to `handler`: warp/chain.h. */
#define ALU_LINKED(handler, name) in->link = in->fn == handler ? CHAIN_##name : in->link;
/* Binds to the first row that takes the instruction; in->aux becomes alu_rounding of its modifiers. */
bool alu_bind(struct isa_binder *b, struct insn *in, const struct alu_row *rows, size_t num_rows);

bool alu_bind_half(struct isa_binder *b, struct insn *in);                                /* isa/half.c, 9.7.4, 9.7.5 */
bool alu_bind_narrow(struct isa_binder *b, struct insn *in, const struct alu_form *form); /* isa/cvt_pack.c */

/* --- lanes -------------------------------------------------------------------------------------------------------- */

/* A destination either is a source's slot or shares no lane with it, so lanes never depend on each other. clang finds
 * that out at run time, and warns where it is told and still cannot vectorise. */
#if defined(__clang__)
#define ALU_INDEPENDENT
#else
#define ALU_INDEPENDENT _Pragma("GCC ivdep")
#endif
/* d[l] becomes `value`, an expression of l, for all lanes of `mask`; where the compiler has masks of vectors at hand,
 * that is a loop over all lanes, too. What the others hold must do `value` no harm. */
#if defined(ISA_UNIT)
#define ALU_SET_SOME(mask, d, value)                                                                                   \
    ALU_INDEPENDENT                                                                                                    \
    for (uint32_t l = 0; l < MACH_WARP; l++)                                                                           \
        (d)[l] = (mask) >> l & 1 ? (value) : (d)[l];
#else
#define ALU_SET_SOME(mask, d, value)                                                                                   \
    WARP_FOR_LANES(l, (mask)) { (d)[l] = (value); }
#endif
#define ALU_SET_IF(all, mask, d, value)                                                                                \
    do {                                                                                                               \
        if (all) {                                                                                                     \
            ALU_INDEPENDENT                                                                                            \
            for (uint32_t l = 0; l < MACH_WARP; l++)                                                                   \
                (d)[l] = (value);                                                                                      \
        } else {                                                                                                       \
            ALU_SET_SOME(mask, d, value)                                                                               \
        }                                                                                                              \
    } while (0)

#define ALU_SET(mask, d, value) ALU_SET_IF((mask) == WARP_ALL_LANES, mask, d, value)
/* The same in a function that is made twice: for all lanes, where the mask is a constant, and for some. */
#define ALU_SET_ONE(mask, d, value) ALU_SET_IF(__builtin_constant_p(mask), mask, d, value)

/* The same where no compiler vectorises it, as it calls a function or takes long for each lane: one loop. */
#define ALU_SET_EACH(mask, d, value)                                                                                   \
    WARP_FOR_LANES(l, (mask)) { (d)[l] = (value); }

/* The end of a handler where lanes `p` of its n sources are poison: by bits where the instruction moves bits
 * (isa/bits.c). It has its result; where the rule needs the sources' values, alu_poisoned is for it, which has `lanes`
 * make the result. */
enum warp_status alu_unwritten(struct warp *w, const struct insn *in, uint32_t mask, uint32_t p, unsigned n);
enum warp_status alu_poisoned(struct warp *w, const struct insn *in, uint32_t mask, uint32_t p, unsigned n,
                              void (*lanes)(struct warp *w, const struct insn *in, uint32_t mask));
static inline uint32_t alu_source_poison(const struct warp *w, const struct insn *in, unsigned n) {
    uint32_t p = 0;
    for (unsigned i = 1; i <= n; i++)
        p |= warp_fast_poison(w, in, i);
    return p;
}
/* The end of a handler: poison of the destination o[0], that of any of the sources o[1..n]. */
static inline enum warp_status alu_poison(struct warp *w, const struct insn *in, uint32_t mask, unsigned n) {
    const uint32_t p = alu_source_poison(w, in, n);
    if (__builtin_expect((p & mask) != 0, 0))
        return alu_unwritten(w, in, mask, p, n);
    w->pz[in->poison[0]] &= ~mask;
    return WARP_NEXT;
}

/* Bit l of the result is byte l of c (each 0 or 1). */
static inline uint32_t alu_gather(const uint8_t c[MACH_WARP]) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < MACH_WARP; i += 8) {
        uint64_t v = 0;
        for (unsigned j = 0; j < 8; j++)
            v |= (uint64_t)c[i + j] << (8 * j);
        mask |= (uint32_t)(v * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return mask;
}

/* Poison of a & b and of a | b for predicates: a clean operand that decides the result makes it clean. */
static inline uint32_t alu_and_poison(uint32_t a, uint32_t pa, uint32_t b, uint32_t pb) {
    return (pa | pb) & (pa | a) & (pb | b);
}
static inline uint32_t alu_or_poison(uint32_t a, uint32_t pa, uint32_t b, uint32_t pb) {
    return (pa | pb) & (pa | ~a) & (pb | ~b);
}

/* Types of lanes: the frame's word, the element an expression sees, and how elements lie in the word. */
#define ALU_WORD_u16 uint32_t
#define ALU_WORD_s16 uint32_t
#define ALU_WORD_u32 uint32_t
#define ALU_WORD_s32 uint32_t
#define ALU_WORD_u64 uint64_t
#define ALU_WORD_s64 uint64_t
#define ALU_WORD_u16x2 uint32_t
#define ALU_WORD_s16x2 uint32_t
#define ALU_WORD_u32x2 uint64_t
#define ALU_ELEM_u16 uint16_t
#define ALU_ELEM_s16 int16_t
#define ALU_ELEM_u32 uint32_t
#define ALU_ELEM_s32 int32_t
#define ALU_ELEM_u64 uint64_t
#define ALU_ELEM_s64 int64_t
#define ALU_ELEM_u16x2 uint16_t
#define ALU_ELEM_s16x2 int16_t
#define ALU_ELEM_u32x2 uint32_t
#define ALU_HIGH_u16(x) (x)
#define ALU_HIGH_s16(x) (x)
#define ALU_HIGH_u32(x) (x)
#define ALU_HIGH_s32(x) (x)
#define ALU_HIGH_u64(x) (x)
#define ALU_HIGH_s64(x) (x)
#define ALU_HIGH_u16x2(x) ((x) >> 16)
#define ALU_HIGH_s16x2(x) ((x) >> 16)
#define ALU_HIGH_u32x2(x) ((x) >> 32)
/* Scalars take the first value only; the second is not evaluated. */
#define ALU_JOIN_u16(lo, hi) ((uint16_t)(lo))
#define ALU_JOIN_s16(lo, hi) ((uint16_t)(lo))
#define ALU_JOIN_u32(lo, hi) ((uint32_t)(lo))
#define ALU_JOIN_s32(lo, hi) ((uint32_t)(lo))
#define ALU_JOIN_u64(lo, hi) ((uint64_t)(lo))
#define ALU_JOIN_s64(lo, hi) ((uint64_t)(lo))
#define ALU_JOIN_u16x2(lo, hi) ((uint32_t)(uint16_t)(lo) | (uint32_t)(uint16_t)(hi) << 16)
#define ALU_JOIN_s16x2(lo, hi) ALU_JOIN_u16x2(lo, hi)
#define ALU_JOIN_u32x2(lo, hi) ((uint64_t)(uint32_t)(lo) | (uint64_t)(uint32_t)(hi) << 32)

#define ALU_CAT_(a, b) a##b
#define ALU_CAT(a, b) ALU_CAT_(a, b)
#define ALU_SRC(T, i) ((const ALU_WORD_##T *)warp_fast_src(w, in, i))
#define ALU_DST(T) ((ALU_WORD_##T *)warp_fast_dst(w, in, 0))
#define ALU_LO(T, x) ((ALU_ELEM_##T)(x))
#define ALU_HI(T, x) ((ALU_ELEM_##T)ALU_HIGH_##T(x))

/* The handler `name`: destination o[0] of type TD, sources o[1].. of types TA, TB, ...; `expr` sees a, b, c, e and the
 * rounding r and flags f of alu_rounding. ALU_LONG1, ...: the same for what ALU_SET_EACH is for.
 *
 * Three functions: on all lanes, which is nearly always, and so has all registers for itself; on some; and with poison
 * among the sources (alu_poisoned). */
#define ALU_INLINE inline __attribute__((always_inline))
#define ALU_POISON_1 warp_fast_poison(w, in, 1)
#define ALU_POISON_2 (ALU_POISON_1 | warp_fast_poison(w, in, 2))
#define ALU_POISON_3 (ALU_POISON_2 | warp_fast_poison(w, in, 3))
#define ALU_POISON_4 (ALU_POISON_3 | warp_fast_poison(w, in, 4))
#define ALU_HANDLER(name, n)                                                                                           \
    static __attribute__((noinline)) void name##_some(struct warp *w, const struct insn *in, uint32_t mask) {          \
        name##_lanes(w, in, mask);                                                                                     \
    }                                                                                                                  \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        const uint32_t poison = ALU_POISON_##n & mask;                                                                 \
        if (__builtin_expect(poison != 0, 0))                                                                          \
            return alu_poisoned(w, in, mask, poison, n, name##_some);                                                  \
        w->pz[in->poison[0]] &= ~mask;                                                                                 \
        if (__builtin_expect(mask == WARP_ALL_LANES, 1))                                                               \
            name##_lanes(w, in, WARP_ALL_LANES);                                                                       \
        else                                                                                                           \
            name##_some(w, in, mask);                                                                                  \
        return WARP_NEXT;                                                                                              \
    }

#define ALU_MAKE1(LOOP, name, TD, TA, expr)                                                                            \
    static ALU_INLINE ALU_ELEM_##TD name##_1(ALU_ELEM_##TA a, num_round r, unsigned f) {                               \
        (void)r, (void)f;                                                                                              \
        return (ALU_ELEM_##TD)(expr);                                                                                  \
    }                                                                                                                  \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const num_round r = alu_round(in);                                                                             \
        const unsigned f = alu_num_flags(in);                                                                          \
        (void)r, (void)f;                                                                                              \
        const ALU_WORD_##TA *pa = ALU_SRC(TA, 1);                                                                      \
        ALU_WORD_##TD *pd = ALU_DST(TD);                                                                               \
        LOOP(mask, pd, ALU_JOIN_##TD(name##_1(ALU_LO(TA, pa[l]), r, f), name##_1(ALU_HI(TA, pa[l]), r, f)));           \
    }                                                                                                                  \
    ALU_HANDLER(name, 1)

#define ALU_MAKE2(LOOP, name, TD, TA, TB, expr)                                                                        \
    static ALU_INLINE ALU_ELEM_##TD name##_1(ALU_ELEM_##TA a, ALU_ELEM_##TB b, num_round r, unsigned f) {              \
        (void)r, (void)f;                                                                                              \
        return (ALU_ELEM_##TD)(expr);                                                                                  \
    }                                                                                                                  \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const num_round r = alu_round(in);                                                                             \
        const unsigned f = alu_num_flags(in);                                                                          \
        (void)r, (void)f;                                                                                              \
        const ALU_WORD_##TA *pa = ALU_SRC(TA, 1);                                                                      \
        const ALU_WORD_##TB *pb = ALU_SRC(TB, 2);                                                                      \
        ALU_WORD_##TD *pd = ALU_DST(TD);                                                                               \
        LOOP(mask, pd,                                                                                                 \
             ALU_JOIN_##TD(name##_1(ALU_LO(TA, pa[l]), ALU_LO(TB, pb[l]), r, f),                                       \
                           name##_1(ALU_HI(TA, pa[l]), ALU_HI(TB, pb[l]), r, f)));                                     \
    }                                                                                                                  \
    ALU_HANDLER(name, 2)

#define ALU_MAKE3(LOOP, name, TD, TA, TB, TC, expr)                                                                    \
    static ALU_INLINE ALU_ELEM_##TD name##_1(ALU_ELEM_##TA a, ALU_ELEM_##TB b, ALU_ELEM_##TC c, num_round r,           \
                                             unsigned f) {                                                             \
        (void)r, (void)f;                                                                                              \
        return (ALU_ELEM_##TD)(expr);                                                                                  \
    }                                                                                                                  \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const num_round r = alu_round(in);                                                                             \
        const unsigned f = alu_num_flags(in);                                                                          \
        (void)r, (void)f;                                                                                              \
        const ALU_WORD_##TA *pa = ALU_SRC(TA, 1);                                                                      \
        const ALU_WORD_##TB *pb = ALU_SRC(TB, 2);                                                                      \
        const ALU_WORD_##TC *pc = ALU_SRC(TC, 3);                                                                      \
        ALU_WORD_##TD *pd = ALU_DST(TD);                                                                               \
        LOOP(mask, pd,                                                                                                 \
             ALU_JOIN_##TD(name##_1(ALU_LO(TA, pa[l]), ALU_LO(TB, pb[l]), ALU_LO(TC, pc[l]), r, f),                    \
                           name##_1(ALU_HI(TA, pa[l]), ALU_HI(TB, pb[l]), ALU_HI(TC, pc[l]), r, f)));                  \
    }                                                                                                                  \
    ALU_HANDLER(name, 3)

#define ALU_MAKE4(LOOP, name, TD, TA, TB, TC, TE, expr)                                                                \
    static ALU_INLINE ALU_ELEM_##TD name##_1(ALU_ELEM_##TA a, ALU_ELEM_##TB b, ALU_ELEM_##TC c, ALU_ELEM_##TE e,       \
                                             num_round r, unsigned f) {                                                \
        (void)r, (void)f;                                                                                              \
        return (ALU_ELEM_##TD)(expr);                                                                                  \
    }                                                                                                                  \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const num_round r = alu_round(in);                                                                             \
        const unsigned f = alu_num_flags(in);                                                                          \
        (void)r, (void)f;                                                                                              \
        const ALU_WORD_##TA *pa = ALU_SRC(TA, 1);                                                                      \
        const ALU_WORD_##TB *pb = ALU_SRC(TB, 2);                                                                      \
        const ALU_WORD_##TC *pc = ALU_SRC(TC, 3);                                                                      \
        const ALU_WORD_##TE *pe = ALU_SRC(TE, 4);                                                                      \
        ALU_WORD_##TD *pd = ALU_DST(TD);                                                                               \
        LOOP(mask, pd,                                                                                                 \
             ALU_JOIN_##TD(                                                                                            \
                 name##_1(ALU_LO(TA, pa[l]), ALU_LO(TB, pb[l]), ALU_LO(TC, pc[l]), ALU_LO(TE, pe[l]), r, f),           \
                 name##_1(ALU_HI(TA, pa[l]), ALU_HI(TB, pb[l]), ALU_HI(TC, pc[l]), ALU_HI(TE, pe[l]), r, f)));         \
    }                                                                                                                  \
    ALU_HANDLER(name, 4)

#define ALU_FN1(name, TD, TA, expr) ALU_MAKE1(ALU_SET_ONE, name, TD, TA, expr)
#define ALU_FN2(name, TD, TA, TB, expr) ALU_MAKE2(ALU_SET_ONE, name, TD, TA, TB, expr)
#define ALU_FN3(name, TD, TA, TB, TC, expr) ALU_MAKE3(ALU_SET_ONE, name, TD, TA, TB, TC, expr)
#define ALU_FN4(name, TD, TA, TB, TC, TE, expr) ALU_MAKE4(ALU_SET_ONE, name, TD, TA, TB, TC, TE, expr)
#define ALU_LONG1(name, TD, TA, expr) ALU_MAKE1(ALU_SET_EACH, name, TD, TA, expr)
#define ALU_LONG2(name, TD, TA, TB, expr) ALU_MAKE2(ALU_SET_EACH, name, TD, TA, TB, expr)
#define ALU_LONG3(name, TD, TA, TB, TC, expr) ALU_MAKE3(ALU_SET_EACH, name, TD, TA, TB, TC, expr)
#define ALU_LONG4(name, TD, TA, TB, TC, TE, expr) ALU_MAKE4(ALU_SET_EACH, name, TD, TA, TB, TC, TE, expr)

/* The same of an expression `fast` for the host's vectors, which adds to `*doubt` where it may not be what `expr` is;
 * for such lanes `expr` is asked. Without vectors it always is. For u32 (SURE), pairs of u32 (SURE_PAIR) and u64
 * (SURE_WIDE). ALU_PAIR: pairs without a doubt. */
#if defined(ISA_UNIT)
#define ALU_MAKE_SURE(name, n, TYPE, log, SOURCES, fast, expr, a_, b_, c_)                                             \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const num_round r = alu_round(in);                                                                             \
        const unsigned f = alu_num_flags(in);                                                                          \
        SOURCES(TYPE)                                                                                                  \
        TYPE *pd = warp_fast_dst(w, in, 0), t[MACH_WARP << log];                                                       \
        uint32_t unsure[MACH_WARP << log], any = 0;                                                                    \
        (void)r, (void)f;                                                                                              \
        for (uint32_t l = 0; l < MACH_WARP << log; l++) {                                                              \
            const TYPE a = a_, b = b_, c = c_;                                                                         \
            uint32_t of_lane = 0, *const doubt = &of_lane;                                                             \
            (void)b, (void)c, (void)doubt;                                                                             \
            t[l] = (fast);                                                                                             \
            any |= unsure[l] = of_lane & (0 - (mask >> (l >> log) & 1));                                               \
        }                                                                                                              \
        if (__builtin_expect(any != 0, 0))                                                                             \
            for (uint32_t l = 0; l < MACH_WARP << log; l++) {                                                          \
                const TYPE a = a_, b = b_, c = c_;                                                                     \
                (void)b, (void)c;                                                                                      \
                if (unsure[l])                                                                                         \
                    t[l] = (TYPE)(expr);                                                                               \
            }                                                                                                          \
        if (mask == WARP_ALL_LANES)                                                                                    \
            unit_copy(pd, t, sizeof t);                                                                                \
        else                                                                                                           \
            for (uint32_t l = 0; l < MACH_WARP << log; l++)                                                            \
                pd[l] = mask >> (l >> log) & 1 ? t[l] : pd[l];                                                         \
    }                                                                                                                  \
    ALU_HANDLER(name, n)
#define ALU_SURE_A(T) const T *pa = warp_fast_src(w, in, 1);
#define ALU_SURE_B(T) ALU_SURE_A(T) const T *pb = warp_fast_src(w, in, 2);
#define ALU_SURE_C(T) ALU_SURE_B(T) const T *pc = warp_fast_src(w, in, 3);
#define ALU_SURE_1(name, T, log, fast, expr) ALU_MAKE_SURE(name, 1, T, log, ALU_SURE_A, fast, expr, pa[l], 0, 0)
#define ALU_SURE_2(name, T, log, fast, expr) ALU_MAKE_SURE(name, 2, T, log, ALU_SURE_B, fast, expr, pa[l], pb[l], 0)
#define ALU_SURE_3(name, T, log, fast, expr) ALU_MAKE_SURE(name, 3, T, log, ALU_SURE_C, fast, expr, pa[l], pb[l], pc[l])
#define ALU_SURE1(name, fast, expr) ALU_SURE_1(name, uint32_t, 0, fast, expr)
#define ALU_SURE2(name, fast, expr) ALU_SURE_2(name, uint32_t, 0, fast, expr)
#define ALU_SURE3(name, fast, expr) ALU_SURE_3(name, uint32_t, 0, fast, expr)
#define ALU_SURE_PAIR2(name, fast, expr) ALU_SURE_2(name, uint32_t, 1, fast, expr)
#define ALU_SURE_PAIR3(name, fast, expr) ALU_SURE_3(name, uint32_t, 1, fast, expr)
#define ALU_PAIR2(name, expr) ALU_SURE_PAIR2(name, expr, expr)
#define ALU_PAIR3(name, expr) ALU_SURE_PAIR3(name, expr, expr)
#define ALU_SURE_WIDE1(name, fast, expr) ALU_SURE_1(name, uint64_t, 0, fast, expr)
#define ALU_SURE_WIDE2(name, fast, expr) ALU_SURE_2(name, uint64_t, 0, fast, expr)
#define ALU_SURE_WIDE3(name, fast, expr) ALU_SURE_3(name, uint64_t, 0, fast, expr)
#else
#define ALU_SURE1(name, fast, expr) ALU_LONG1(name, u32, u32, expr)
#define ALU_SURE2(name, fast, expr) ALU_LONG2(name, u32, u32, u32, expr)
#define ALU_SURE3(name, fast, expr) ALU_LONG3(name, u32, u32, u32, u32, expr)
#define ALU_SURE_PAIR2(name, fast, expr) ALU_LONG2(name, u32x2, u32x2, u32x2, expr)
#define ALU_SURE_PAIR3(name, fast, expr) ALU_LONG3(name, u32x2, u32x2, u32x2, u32x2, expr)
#define ALU_PAIR2(name, expr) ALU_FN2(name, u32x2, u32x2, u32x2, expr)
#define ALU_PAIR3(name, expr) ALU_FN3(name, u32x2, u32x2, u32x2, u32x2, expr)
#define ALU_SURE_WIDE1(name, fast, expr) ALU_LONG1(name, u64, u64, expr)
#define ALU_SURE_WIDE2(name, fast, expr) ALU_LONG2(name, u64, u64, u64, expr)
#define ALU_SURE_WIDE3(name, fast, expr) ALU_LONG3(name, u64, u64, u64, u64, expr)
#endif

#endif
