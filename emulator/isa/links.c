/* isa/links.c - the links of chains (warp/chain.h), for the host's vectors alone (isa/unit.h). Their results are those
 * of the same instructions' handlers, bit for bit. */
#include "isa/isa.h"
#include "warp/chain.h"

#if defined(ISA_UNIT)
#include "num/num.h"
#include "simd/vectors.h"

#define UNUSED __attribute__((unused))

/* A register: some vectors, handed on in as many registers of the host. */
#if defined(__AVX512F__)
#define HANDED lanes h0 UNUSED, lanes h1 UNUSED
#define HAND(v) v##0, v##1
#define EACH_PART(F, n, sources, value) F(0, n, sources, value) F(1, n, sources, value)
typedef uint32_t lanes __attribute__((vector_size(64)));
typedef int32_t signed_lanes __attribute__((vector_size(64)));
typedef float floats __attribute__((vector_size(64)));
static ALWAYS_INLINE lanes finish(floats v) {
    const __mmask16 nan = _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q);
    return (lanes)_mm512_mask_mov_epi32((__m512i)v, nan, _mm512_set1_epi32(NUM_NAN_F32));
}
static ALWAYS_INLINE floats fused(lanes a, lanes b, lanes c) {
    return (floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
static ALWAYS_INLINE lanes shift_left(lanes a, lanes b) { return (lanes)_mm512_sllv_epi32((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE lanes shift_right(lanes a, lanes b) { return (lanes)_mm512_srlv_epi32((__m512i)a, (__m512i)b); }
static ALWAYS_INLINE lanes shift_signed(lanes a, lanes b) { return (lanes)_mm512_srav_epi32((__m512i)a, (__m512i)b); }
#else
#define HANDED lanes h0 UNUSED, lanes h1 UNUSED, lanes h2 UNUSED, lanes h3 UNUSED
#define HAND(v) v##0, v##1, v##2, v##3
#define EACH_PART(F, n, sources, value)                                                                                \
    F(0, n, sources, value) F(1, n, sources, value) F(2, n, sources, value) F(3, n, sources, value)
typedef uint32_t lanes __attribute__((vector_size(32)));
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
#endif

typedef lanes slot_lanes __attribute__((may_alias, aligned(4))); /* in a frame */
typedef const struct chain_op *(*link_fn)(char *base, const struct chain_op *op, struct warp *w, HANDED);

static ALWAYS_INLINE lanes load(const char *base, const struct chain_op *op, unsigned i, unsigned k) {
    return ((const slot_lanes *)(const void *)(base + op->at[i]))[k];
}

/* Source number n is the one that is handed. */
#define PART(k, n, sources, value)                                                                                     \
    lanes d##k;                                                                                                        \
    {                                                                                                                  \
        const lanes a = n == 1 ? h##k : load(base, op, 1, k);                                                          \
        const lanes b = n == 2 ? h##k : load(base, op, sources > 1 ? 2 : 1, k);                                        \
        const lanes c = n == 3 ? h##k : load(base, op, sources > 2 ? 3 : 1, k);                                        \
        (void)b, (void)c;                                                                                              \
        d##k = (value);                                                                                                \
    }
#define LINK(name, n, sources, value)                                                                                  \
    static const struct chain_op *link_##name##n(char *base, const struct chain_op *op, struct warp *w, HANDED) {      \
        EACH_PART(PART, n, sources, value)                                                                             \
        slot_lanes *const d = (void *)(base + op->at[0]);                                                              \
        op++;                                                                                                          \
        EACH_PART(STORE, 0, 0, 0)                                                                                      \
        return ((link_fn)op->fn)(base, op, w, HAND(d));                                                                \
    }
#define STORE(k, n, sources, value) d[k] = d##k;
#define LINK1(name, value) LINK(name, 0, 1, value) LINK(name, 1, 1, value)
#define LINK2(name, value) LINK(name, 0, 2, value) LINK(name, 1, 2, value) LINK(name, 2, 2, value)
#define LINK3(name, value)                                                                                             \
    LINK(name, 0, 3, value) LINK(name, 1, 3, value) LINK(name, 2, 3, value) LINK(name, 3, 3, value)

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

static const struct chain_op *link_any(char *base, const struct chain_op *op, struct warp *w, HANDED) {
    const lanes n0 = {0}, n1 UNUSED = {0}, n2 UNUSED = {0}, n3 UNUSED = {0};
    w->island->clock = w->chain_clock + (uint64_t)(op - w->chain) + 1;
    const enum warp_status s = op->in->fn(w, op->in, WARP_ALL_LANES);
    const bool ends = s != WARP_NEXT || w->island->fault;
    if (ends)
        w->chain_status = WARP_FAULT;
    op++;
    if (ends || w->pz[op[-1].pz]) /* the links that follow trust that nothing is poison */
        return op;
    chain_clean(w, op);
    return ((link_fn)op->fn)(base, op, w, HAND(n)); /* that takes nothing handed */
}

static const struct chain_op *link_end(char *base, const struct chain_op *op, struct warp *w, HANDED) {
    (void)base, (void)w;
    return op;
}

static const struct chain_op *run(struct warp *w, const struct chain_op *op) {
    const lanes h0 = {0}, h1 UNUSED = {0}, h2 UNUSED = {0}, h3 UNUSED = {0};
    return ((link_fn)op->entered)((char *)w->base, op, w, HAND(h));
}

#define OWN1(name)                                                                                                     \
    { (chain_fn) link_##name##0, (chain_fn)link_##name##1, NULL, NULL }
#define OWN2(name)                                                                                                     \
    { (chain_fn) link_##name##0, (chain_fn)link_##name##1, (chain_fn)link_##name##2, NULL }
#define OWN3(name)                                                                                                     \
    { (chain_fn) link_##name##0, (chain_fn)link_##name##1, (chain_fn)link_##name##2, (chain_fn)link_##name##3 }
const struct chain_links ISA_UNIT_NAME(isa_chain_links) = {
#define F(name, sources) [CHAIN_##name] = OWN##sources(name),
    .own = {CHAIN_LINKS(F)},
#undef F
    .any = (chain_fn)link_any,
    .end = (chain_fn)link_end,
    .run = run};

#endif
