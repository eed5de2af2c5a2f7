/* isa/links.c - the links of chains (warp/chain.h), for the host's vectors alone (isa/unit.h). Their results are those
 * of the same instructions' handlers, bit for bit. */
#include "isa/isa.h"
#include "isa/tell.h"
#include "warp/chain.h"

#if defined(ISA_UNIT)
#include "isa/reach.h"
#include "num/num.h"
#include "simd/vectors.h"

#define UNUSED __attribute__((unused))

/* A register: some vectors, twice as many for 64 bits, handed on in as many registers of the host. With AVX-512 there
 * are registers left for what `finish` needs. */
#if defined(__AVX512F__)
#define HANDED                                                                                                         \
    lanes h0 UNUSED, lanes h1 UNUSED, lanes h2 UNUSED, lanes h3 UNUSED, lanes nan UNUSED, lanes classes UNUSED
#define HAND(v) v##0, v##1, h2, h3, nan, classes
#define HAND_WIDE(v) v##0, v##1, v##2, v##3, nan, classes
#define HAND_ON h0, h1, h2, h3, nan, classes
#define HAND_NONE(v) v, v, v, v, v + NUM_NAN_F32, v + NAN_CLASSES
#define HAND_STORED(v, none) v[0], v[1], none, none, none + NUM_NAN_F32, none + NAN_CLASSES
#define NAN_CLASSES 0x11111100 /* vfixupimm: NaNs of both kinds become what is in the destination, all else stays */
#define EACH_PART(F, ...) F(0, __VA_ARGS__) F(1, __VA_ARGS__)
#define EACH_WIDE(F, ...) EACH_PART(F, __VA_ARGS__) F(2, __VA_ARGS__) F(3, __VA_ARGS__)
typedef uint32_t lanes __attribute__((vector_size(64)));
typedef uint64_t longs __attribute__((vector_size(64)));
typedef float floats __attribute__((vector_size(64)));
#define COUNT_ON                                                                                                       \
    { 0, 4, 8, 12, 16, 20, 24, 28 }
#define COUNT_WORDS                                                                                                    \
    { 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60 }
#define finish(v) (lanes) _mm512_fixupimm_ps((__m512)nan, (__m512)(v), (__m512i)classes, 0)
static ALWAYS_INLINE floats fused(lanes a, lanes b, lanes c) {
    return (floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
static ALWAYS_INLINE lanes shift_left(lanes a, lanes b) { return (lanes)_mm512_sllv_epi32((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE lanes shift_right(lanes a, lanes b) { return (lanes)_mm512_srlv_epi32((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE lanes shift_signed(lanes a, lanes b) { return (lanes)_mm512_srav_epi32((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE uint32_t equal(lanes a, lanes b) { return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE uint32_t less_u(lanes a, lanes b) { return _mm512_cmplt_epu32_mask((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE uint32_t less_s(lanes a, lanes b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE longs widen(const void *p) { return (longs)_mm512_cvtepu32_epi64(_mm256_loadu_si256(p)); }
static ALWAYS_INLINE longs multiply_u(longs a, longs b) { return (longs)_mm512_mul_epu32((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE longs multiply_s(longs a, longs b) { return (longs)_mm512_mul_epi32((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE bool is_zero(longs a) { return _mm512_test_epi64_mask((__m512i)a, (__m512i)a) == 0; }
static ALWAYS_INLINE lanes choose(uint32_t p, lanes a, lanes b) {
    return (lanes)_mm512_mask_mov_epi32((__m512i)b, (__mmask16)p, (__m512i)a);
}
#else
#define HANDED                                                                                                         \
    lanes h0 UNUSED, lanes h1 UNUSED, lanes h2 UNUSED, lanes h3 UNUSED, lanes h4 UNUSED, lanes h5 UNUSED,              \
        lanes h6 UNUSED, lanes h7 UNUSED
#define HAND(v) v##0, v##1, v##2, v##3, h4, h5, h6, h7
#define HAND_WIDE(v) v##0, v##1, v##2, v##3, v##4, v##5, v##6, v##7
#define HAND_ON h0, h1, h2, h3, h4, h5, h6, h7
#define HAND_NONE(v) v, v, v, v, v, v, v, v
#define HAND_STORED(v, none) v[0], v[1], v[2], v[3], none, none, none, none
#define EACH_PART(F, ...) F(0, __VA_ARGS__) F(1, __VA_ARGS__) F(2, __VA_ARGS__) F(3, __VA_ARGS__)
#define EACH_WIDE(F, ...)                                                                                              \
    EACH_PART(F, __VA_ARGS__) F(4, __VA_ARGS__) F(5, __VA_ARGS__) F(6, __VA_ARGS__) F(7, __VA_ARGS__)
typedef uint32_t lanes __attribute__((vector_size(32)));
typedef uint64_t longs __attribute__((vector_size(32)));
#define COUNT_ON                                                                                                       \
    { 0, 4, 8, 12 }
#define COUNT_WORDS                                                                                                    \
    { 0, 4, 8, 12, 16, 20, 24, 28 }
typedef float floats __attribute__((vector_size(32)));
static ALWAYS_INLINE lanes finish(floats v) {
    const __m256 nan = _mm256_cmp_ps((__m256)v, (__m256)v, _CMP_UNORD_Q);
    return (lanes)_mm256_blendv_ps((__m256)v, (__m256)_mm256_set1_epi32(NUM_NAN_F32), nan);
}
static ALWAYS_INLINE floats fused(lanes a, lanes b, lanes c) {
    return (floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
static ALWAYS_INLINE lanes shift_left(lanes a, lanes b) { return (lanes)_mm256_sllv_epi32((__m256i)a, (__m256i)b); }
static ALWAYS_INLINE lanes shift_right(lanes a, lanes b) { return (lanes)_mm256_srlv_epi32((__m256i)a, (__m256i)b); }
static ALWAYS_INLINE lanes shift_signed(lanes a, lanes b) { return (lanes)_mm256_srav_epi32((__m256i)a, (__m256i)b); }
static ALWAYS_INLINE uint32_t bits(lanes a) { return (uint32_t)_mm256_movemask_ps((__m256)a); }
static ALWAYS_INLINE uint32_t equal(lanes a, lanes b) { return bits((lanes)(a == b)); }
static ALWAYS_INLINE uint32_t less_u(lanes a, lanes b) { return bits((lanes)(a < b)); }
static ALWAYS_INLINE uint32_t less_s(lanes a, lanes b) {
    return bits((lanes)_mm256_cmpgt_epi32((__m256i)b, (__m256i)a));
}
static ALWAYS_INLINE longs widen(const void *p) { return (longs)_mm256_cvtepu32_epi64(_mm_loadu_si128(p)); }
static ALWAYS_INLINE longs multiply_u(longs a, longs b) { return (longs)_mm256_mul_epu32((__m256i)a, (__m256i)b); }
static ALWAYS_INLINE longs multiply_s(longs a, longs b) { return (longs)_mm256_mul_epi32((__m256i)a, (__m256i)b); }
static ALWAYS_INLINE bool is_zero(longs a) { return _mm256_testz_si256((__m256i)a, (__m256i)a); }
static ALWAYS_INLINE lanes choose(uint32_t p, lanes a, lanes b) {
    const lanes bit = {1, 2, 4, 8, 16, 32, 64, 128}, take = (lanes)((p & bit) == bit);
    return (a & take) | (b & ~take);
}
#endif

typedef lanes slot_lanes __attribute__((may_alias, aligned(4))); /* in a frame */
typedef uint64_t slot_long __attribute__((may_alias));
typedef uint32_t slot_word __attribute__((may_alias));
typedef const struct chain_op *(*link_fn)(char *base, const struct chain_op *op, struct warp *w, HANDED);

static ALWAYS_INLINE void *place(char *base, uint64_t at, unsigned i) { return base + chain_byte(at, i); }
static ALWAYS_INLINE lanes load(char *base, uint64_t at, unsigned i, unsigned k) {
    return ((const slot_lanes *)place(base, at, i))[k];
}

/* Source number n is the one that is handed. Source 2 is the same in all lanes where f is 1, and loaded once. A link
 * finds all its places by one load: loads are what a link has most of. */
#define NAME(name, n, f) link_##name##n##f
#define BEGIN(name, n, f)                                                                                              \
    static const struct chain_op *NAME(name, n, f)(char *base, const struct chain_op *op, struct warp *w, HANDED) {    \
        const uint64_t at = op->at;
#define PART(k, n, f, sources, value)                                                                                  \
    lanes d##k;                                                                                                        \
    {                                                                                                                  \
        const lanes a = n == 1 ? h##k : load(base, at, 1, k);                                                          \
        const lanes b = n == 2 ? h##k : f ? fixed : load(base, at, sources > 1 ? 2 : 1, k);                            \
        const lanes c = n == 3 ? h##k : load(base, at, sources > 2 ? 3 : 1, k);                                        \
        (void)b, (void)c;                                                                                              \
        d##k = (value);                                                                                                \
    }
#define LINK(name, n, f, sources, value)                                                                               \
    BEGIN(name, n, f)                                                                                                  \
    const lanes fixed UNUSED = load(base, at, f ? 2 : 1, 0);                                                           \
    EACH_PART(PART, n, f, sources, value)                                                                              \
    slot_lanes *const d = place(base, at, 0);                                                                          \
    op++;                                                                                                              \
    EACH_PART(STORE, 0)                                                                                                \
    return ((link_fn)op->fn)(base, op, w, HAND(d));                                                                    \
    }
#define STORE(k, none) d[k] = d##k;
#define LINK1(name, value) LINK(name, 0, 0, 1, value) LINK(name, 1, 0, 1, value)
#define LINK2(name, value)                                                                                             \
    LINK(name, 0, 0, 2, value)                                                                                         \
    LINK(name, 0, 1, 2, value)                                                                                         \
    LINK(name, 1, 0, 2, value)                                                                                         \
    LINK(name, 1, 1, 2, value)                                                                                         \
    LINK(name, 2, 0, 2, value)
#define LINK3(name, value)                                                                                             \
    LINK(name, 0, 0, 3, value)                                                                                         \
    LINK(name, 0, 1, 3, value)                                                                                         \
    LINK(name, 1, 0, 3, value)                                                                                         \
    LINK(name, 1, 1, 3, value)                                                                                         \
    LINK(name, 2, 0, 3, value)                                                                                         \
    LINK(name, 3, 0, 3, value)                                                                                         \
    LINK(name, 3, 1, 3, value)

LINK1(mov, a)
LINK2(add, a + b)
LINK2(sub, a - b)
LINK2(mul, a *b)
LINK3(mad, a *b + c)
LINK2(and, a &b)
LINK2(or, a | b)
LINK2(xor, a ^ b)
LINK2(shl, shift_left(a, b)) /* 9.7.8: by more than 31 is by 32 here, as the host does it */
LINK2(shr_u, shift_right(a, b))
LINK2(shr_s, shift_signed(a, b))
LINK2(add_f, finish((floats)a + (floats)b))
LINK2(sub_f, finish((floats)a - (floats)b))
LINK2(mul_f, finish((floats)a *(floats)b))
LINK3(fma_f, finish(fused(a, b, c)))

/* A predicate has a bit for each lane, and is not handed on. */
#define COMPARE_PART(k, n, f, test)                                                                                    \
    {                                                                                                                  \
        const lanes a = n == 1 ? h##k : load(base, at, 1, k);                                                          \
        const lanes b = n == 2 ? h##k : f ? fixed : load(base, at, 2, k);                                              \
        t ^= (test) << k * sizeof(lanes) / 4;                                                                          \
    }
#define SETP(name, n, f, test)                                                                                         \
    BEGIN(name, n, f)                                                                                                  \
    const lanes fixed UNUSED = load(base, at, 2, 0);                                                                   \
    uint32_t t = (uint32_t)op->in->aux;                                                                                \
    EACH_PART(COMPARE_PART, n, f, test)                                                                                \
    *(slot_word *)place(base, at, 0) = t;                                                                              \
    op++;                                                                                                              \
    return ((link_fn)op->fn)(base, op, w, HAND_ON);                                                                    \
    }
#define SETP2(name, test)                                                                                              \
    SETP(name, 0, 0, test)                                                                                             \
    SETP(name, 0, 1, test)                                                                                             \
    SETP(name, 1, 0, test)                                                                                             \
    SETP(name, 1, 1, test)                                                                                             \
    SETP(name, 2, 0, test)
SETP2(setp_eq, equal(a, b))
SETP2(setp_lt_u, less_u(a, b))
SETP2(setp_gt_u, less_u(b, a))
SETP2(setp_lt_s, less_s(a, b))
SETP2(setp_gt_s, less_s(b, a))

/* The bits of a predicate are taken from the lowest on. */
static ALWAYS_INLINE lanes choose_next(uint32_t *p, lanes a, lanes b) {
    const lanes d = choose(*p, a, b);
    *p >>= sizeof(lanes) / 4;
    return d;
}
#define SELECT(name, n, f)                                                                                             \
    BEGIN(name, n, f)                                                                                                  \
    uint32_t p = *(const slot_word *)place(base, at, 3) ^ (0 - (uint32_t)op->in->o[3].neg);                            \
    const lanes fixed UNUSED = load(base, at, f ? 2 : 1, 0);                                                           \
    EACH_PART(PART, n, f, 2, choose_next(&p, a, b))                                                                    \
    slot_lanes *const d = place(base, at, 0);                                                                          \
    op++;                                                                                                              \
    EACH_PART(STORE, 0)                                                                                                \
    return ((link_fn)op->fn)(base, op, w, HAND(d));                                                                    \
    }
SELECT(selp, 0, 0)
SELECT(selp, 0, 1)
SELECT(selp, 1, 0)
SELECT(selp, 1, 1)
SELECT(selp, 2, 0)

/* For 64 bits, of sources of 64 bits or of 32. */
#define WIDE_LOAD(i, k) (longs) load(base, at, i, k)
#define WIDE_WIDEN(i, k) widen((char *)place(base, at, i) + k * sizeof(longs) / 2)
#define WIDE_PART(k, n, f, LOAD, value)                                                                                \
    lanes d##k;                                                                                                        \
    {                                                                                                                  \
        const longs a = n == 1 ? (longs)h##k : LOAD(1, k), b = n == 2 ? (longs)h##k : f ? fixed : LOAD(2, k);          \
        d##k = (lanes)(value);                                                                                         \
    }
#define WIDE(name, n, f, LOAD, value)                                                                                  \
    BEGIN(name, n, f)                                                                                                  \
    const longs fixed UNUSED = LOAD(2, 0);                                                                             \
    EACH_WIDE(WIDE_PART, n, f, LOAD, value)                                                                            \
    slot_lanes *const d = place(base, at, 0);                                                                          \
    op++;                                                                                                              \
    EACH_WIDE(STORE, 0)                                                                                                \
    return ((link_fn)op->fn)(base, op, w, HAND_WIDE(d));                                                               \
    }
WIDE(mul_w_u, 0, 0, WIDE_WIDEN, multiply_u(a, b))
WIDE(mul_w_u, 0, 1, WIDE_WIDEN, multiply_u(a, b))
WIDE(mul_w_s, 0, 0, WIDE_WIDEN, multiply_s(a, b))
WIDE(mul_w_s, 0, 1, WIDE_WIDEN, multiply_s(a, b))
WIDE(add_w, 0, 0, WIDE_LOAD, a + b)
WIDE(add_w, 0, 1, WIDE_LOAD, a + b)
WIDE(add_w, 1, 0, WIDE_LOAD, a + b)
WIDE(add_w, 1, 1, WIDE_LOAD, a + b)
WIDE(add_w, 2, 0, WIDE_LOAD, a + b)

/* By the handler. False: the chain ends here, as the links that follow trust that nothing is poison. */
static ALWAYS_INLINE bool call(struct warp *w, const struct chain_op *op) {
    w->island->clock = w->chain_clock + (uint64_t)(op - w->chain) + 1;
    const enum warp_status s = op->in->fn(w, op->in, WARP_ALL_LANES);
    if (s != WARP_NEXT || w->island->fault)
        w->chain_status = WARP_FAULT;
    const bool goes_on = w->chain_status == WARP_NEXT && !w->pz[chain_byte(op->at, 0) / (MACH_WARP * sizeof(uint32_t))];
    if (!goes_on)
        w->chain_left = 0; /* it was perhaps the last link of a loop */
    return goes_on;
}

static const struct chain_op *link_any(char *base, const struct chain_op *op, struct warp *w, HANDED) {
    const lanes none = {0};
    const struct insn *in = op->in;
    const bool goes_on = call(w, op);
    op++;
    if (!goes_on)
        return op;
    chain_clean(w, &in->chain->entry[in->chain_at + 1]);
    return ((link_fn)op->fn)(base, op, w, HAND_NONE(none)); /* that takes nothing handed */
}

/* A link that its handler does has a result to hand over, too. */
static __attribute__((noinline)) const struct chain_op *by_handler(char *base, const struct chain_op *op,
                                                                   struct warp *w) {
    const slot_lanes *const d = place(base, op->at, 0);
    const lanes none = {0};
    op++;
    if (!call(w, op - 1))
        return op;
    return ((link_fn)op->fn)(base, op, w, HAND_STORED(d, none));
}

/* Tells of words that a link has loaded or stored. False: the chain ends here. */
static __attribute__((noinline)) bool tell(struct warp *w, const struct chain_op *op, uint64_t at, int64_t apart,
                                           unsigned rows, bool shared, enum event_effect effect) {
    w->island->clock = w->chain_clock + (uint64_t)(op - w->chain) + 1;
    reach_tell_halves(w, op->in, at, apart, rows, shared, effect);
    if (w->island->fault)
        w->chain_status = WARP_FAULT;
    return w->chain_status == WARP_NEXT;
}

/* Each half of the warp loads words that follow each other, or all the same word; it stores words that follow each
 * other. The handler has all else. WORDS and LONGS: addresses of 32 and 64 bits, parts of a half. */
#define WORDS_IN_HALF (64 / sizeof(lanes))
#define LONGS_IN_HALF (2 * WORDS_IN_HALF)
#define WORDS_APART(k, n, number)                                                                                      \
    apart |= (n == number ? h##k : load(base, at, number, k)) ^                                                        \
             (first[k / WORDS_IN_HALF] + (step[k / WORDS_IN_HALF] & (on + k % WORDS_IN_HALF * sizeof(lanes))));
#define LONGS_APART(k, n, number)                                                                                      \
    apart |= (n == number ? (longs)h##k : WIDE_LOAD(number, k)) ^                                                      \
             (first[k / LONGS_IN_HALF] + (step[k / LONGS_IN_HALF] & (on + k % LONGS_IN_HALF * sizeof(longs) / 2)));
/* Finds the halves that source `number` addresses, of which number n is handed. */
#define HALVES(word, type, EACH, APART, n, number, operand, count, reached)                                            \
    const type on = count;                                                                                             \
    const word *const a = place(base, at, number);                                                                     \
    const word first[2] = {a[0], a[16]};                                                                               \
    struct reach_halves half = {.row = {a[1] != a[0], a[17] != a[16]}};                                                \
    const word step[2] = {(word)(0 - (word)half.row[0]), (word)(0 - (word)half.row[1])};                               \
    type apart = {0};                                                                                                  \
    EACH(APART, n, number)                                                                                             \
    const bool found =                                                                                                 \
        is_zero((longs)apart) && reached(w, first[0], first[1], (uint64_t)op->in->o[operand].offset, &half);
#define HALVES_XS_GLOBAL(n, number, operand)                                                                           \
    HALVES(slot_long, longs, EACH_WIDE, LONGS_APART, n, number, operand, COUNT_ON, reach_halves_near)
#define HALVES_XS_SHARED_CTA(n, number, operand)                                                                       \
    HALVES(slot_word, lanes, EACH_PART, WORDS_APART, n, number, operand, COUNT_WORDS, reach_halves_in)

#define TOLD(rows, writes)                                                                                             \
    isa_told_halves(w, op[-1].in, (uint32_t)half.at, (uint32_t)(half.at + (uint64_t)half.apart), rows, 4, writes)

#define LOADED(k, half)                                                                                                \
    d##k = half.row[k / WORDS_IN_HALF] ? (lanes)((const slot_lanes *)half.host[k / WORDS_IN_HALF])[k % WORDS_IN_HALF]  \
                                       : *(const slot_word *)half.host[k / WORDS_IN_HALF] - none;
#define LOAD_WORD(name, n, space)                                                                                      \
    BEGIN(name, n, 0)                                                                                                  \
    const lanes none = {0};                                                                                            \
    HALVES_##space(n, 1, 1) if (!found) return by_handler(base, op, w);                                                \
    slot_lanes *const d = place(base, at, 0);                                                                          \
    lanes d0, d1, d2 UNUSED, d3 UNUSED;                                                                                \
    op++;                                                                                                              \
    EACH_PART(LOADED, half)                                                                                            \
    EACH_PART(STORE, 0)                                                                                                \
    if (!events_wanted(w->gpu, isa_wants(space, EFFECT_READ)))                                                         \
        return ((link_fn)op->fn)(base, op, w, HAND(d));                                                                \
    if (!(space == XS_SHARED_CTA && TOLD(half.row[0] | half.row[1] << 1, false)) &&                                    \
        !tell(w, op - 1, half.at, half.apart, half.row[0] | half.row[1] << 1, space == XS_SHARED_CTA, EFFECT_READ))    \
        return op;                                                                                                     \
    return ((link_fn)op->fn)(base, op, w, HAND_STORED(d, none));                                                       \
    }
LOAD_WORD(ld, 0, XS_GLOBAL)
LOAD_WORD(ld, 1, XS_GLOBAL)
LOAD_WORD(ld_s, 0, XS_SHARED_CTA)
LOAD_WORD(ld_s, 1, XS_SHARED_CTA)

/* Sources: the words, the addresses. */
#define STORED(k, n)                                                                                                   \
    ((slot_lanes *)(uintptr_t)half.host[k / WORDS_IN_HALF])[k % WORDS_IN_HALF] = n == 1 ? h##k : load(base, at, 1, k);
#define STORE_WORD(name, n, space)                                                                                     \
    BEGIN(name, n, 0)                                                                                                  \
    HALVES_##space(n, 2, 0) if (!found || !half.row[0] || !half.row[1]) return link_any(base, op, w, HAND_ON);         \
    w->island->progress++;                                                                                             \
    EACH_PART(STORED, n)                                                                                               \
    op++;                                                                                                              \
    if (!events_wanted(w->gpu, isa_wants(space, EFFECT_WRITE)))                                                        \
        return ((link_fn)op->fn)(base, op, w, HAND_ON);                                                                \
    if (!(space == XS_SHARED_CTA && TOLD(3, true)) &&                                                                  \
        !tell(w, op - 1, half.at, half.apart, 3, space == XS_SHARED_CTA, EFFECT_WRITE))                                \
        return op;                                                                                                     \
    return ((link_fn)op->fn)(base, op, w, HAND_NONE((lanes){0}));                                                      \
    }
STORE_WORD(st, 0, XS_GLOBAL)
STORE_WORD(st, 1, XS_GLOBAL)
STORE_WORD(st_s, 0, XS_SHARED_CTA)
STORE_WORD(st_s, 1, XS_SHARED_CTA)

static const struct chain_op *link_end(char *base, const struct chain_op *op, struct warp *w, HANDED) {
    (void)base, (void)w;
    return op;
}

/* The chain ended at a branch to its first link: to that, if all lanes take it and a whole round more may run. The
 * links do not go there themselves, for the sake of hosts and compilers where they leave something on the stack. */
static ALWAYS_INLINE bool starts_again(const char *base, struct warp *w, const struct chain_op **end) {
    const struct chain_op *op = *end;
    if (!op->in || !op->in->branch)
        return false;
    const uint32_t guard = *(const slot_word *)(const void *)(base + chain_byte(op->at, 0));
    const uint32_t links = (uint32_t)(op->in - w->func->code) - op->in->o[0].target;
    const uint64_t done = (uint64_t)(op - w->chain) + 1;
    if ((op->in->guard_neg ? ~guard : guard) != WARP_ALL_LANES || w->chain_left < done + links)
        return false;
    w->chain_clock += done;
    w->chain_left -= done;
    w->chain = *end = op - links;
    return true;
}

static const struct chain_op *run(struct warp *w, const struct chain_op *op, chain_fn entered) {
    const lanes none = {0};
    char *const base = (char *)w->base;
    for (link_fn fn = (link_fn)entered;; fn = (link_fn)op->fn) {
        op = fn(base, op, w, HAND_NONE(none));
        if (!starts_again(base, w, &op))
            return op;
    }
}

#define FN(name, n, f) (chain_fn) NAME(name, n, f)
#define OWN0(name)                                                                                                     \
    {                                                                                                                  \
        { FN(name, 0, 0), FN(name, 0, 1) }                                                                             \
    }
#define OWN1(name)                                                                                                     \
    {                                                                                                                  \
        {FN(name, 0, 0)}, { FN(name, 1, 0) }                                                                           \
    }
#define OWN2(name)                                                                                                     \
    {                                                                                                                  \
        {FN(name, 0, 0), FN(name, 0, 1)}, {FN(name, 1, 0), FN(name, 1, 1)}, { FN(name, 2, 0) }                         \
    }
#define OWN3(name)                                                                                                     \
    {                                                                                                                  \
        {FN(name, 0, 0), FN(name, 0, 1)}, {FN(name, 1, 0), FN(name, 1, 1)}, {FN(name, 2, 0)}, {                        \
            FN(name, 3, 0), FN(name, 3, 1)                                                                             \
        }                                                                                                              \
    }
const struct chain_links ISA_UNIT_NAME(isa_chain_links) = {
#define F(name, sources) [CHAIN_##name] = OWN##sources(name),
    .own = {CHAIN_LINKS(F)},
#undef F
    .any = (chain_fn)link_any,
    .end = (chain_fn)link_end,
    .run = run};

#endif
