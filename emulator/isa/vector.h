/* isa/vector.h - handlers for AVX-512 that say what the host does with 16 words at once.
 *
 * Such a handler stands before one of isa/alu.h, `name`_any, and leaves to it poison, and what it has in doubt.
 */
#ifndef ISA_VECTOR_H
#define ISA_VECTOR_H

#include "isa/alu.h"
#include "simd/vectors.h"

#if defined(ISA_UNIT) && defined(__AVX512F__)
#define ISA_VECTORS

static ALU_INLINE __m512 vector_of(const struct warp *w, const struct insn *in, unsigned source, unsigned part) {
    return _mm512_loadu_ps((const float *)warp_fast_src(w, in, source) + 16 * part);
}
/* d, and the canonical NaN where v is one. */
static ALU_INLINE __m512 vector_canonical_of(__m512 v, __m512 d) {
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    return _mm512_castsi512_ps(_mm512_mask_set1_epi32(_mm512_castps_si512(d), nan, NUM_NAN_F32));
}
static ALU_INLINE __m512 vector_canonical(__m512 v) { return vector_canonical_of(v, v); }
/* The sum of a b and c, rounded to odd: of two floats around it the odd one, which no later rounding takes for the
 * middle of two codes. */
static ALU_INLINE __m512 vector_odd(__m512 a, __m512 b, __m512 c) {
    const __m512 down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    return _mm512_mask_mov_ps(up, odd, down);
}
/* Has an element a subnormal operand, or may it be what .ftz flushes? */
static ALU_INLINE uint32_t vector_subnormal(__m512 v) { return _mm512_fpclass_ps_mask(v, 0x20); }
static ALU_INLINE uint32_t vector_tiny(__m512 v) {
    const __m512i size = _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7fffffff));
    return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(size, _mm512_set1_epi32(1)), _mm512_set1_epi32(0x00800000));
}

/* The end of a handler: stores 2 vectors of words, or 4 of pairs. */
static ALU_INLINE enum warp_status vector_end(struct warp *w, const struct insn *in, uint32_t mask, const __m512 *v,
                                              unsigned parts) {
    float *const d = warp_fast_dst(w, in, 0);
    w->pz[in->poison[0]] &= ~mask;
    UNROLL
    for (unsigned i = 0; i < parts; i++)
        if (__builtin_expect(mask == WARP_ALL_LANES, 1))
            _mm512_storeu_ps(d + 16 * i, v[i]);
        else if (parts == 2)
            _mm512_mask_storeu_ps(d + 16 * i, (__mmask16)(mask >> 16 * i), v[i]);
        else
            _mm512_mask_storeu_pd(d + 16 * i, (__mmask8)(mask >> 8 * i), _mm512_castps_pd(v[i]));
    return WARP_NEXT;
}
/* `value` of each vector sees the sources a, b and c, and adds to doubt. */
#define VECTOR_EACH(n, parts, value)                                                                                   \
    UNROLL                                                                                                             \
    for (unsigned i = 0; i < parts; i++) {                                                                             \
        const __m512 a = vector_of(w, in, 1, i), b = vector_of(w, in, n > 1 ? 2 : 1, i),                               \
                     c = vector_of(w, in, n > 2 ? 3 : 1, i);                                                           \
        (void)b, (void)c;                                                                                              \
        v[i] = vector_canonical(value);                                                                                \
    }
/* Rounded as the instruction says: value(a, b, c, round). */
#define VECTOR_ROUNDED(name, n, parts, value)                                                                          \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        __m512 v[parts];                                                                                               \
        const num_round r = alu_round(in);                                                                             \
        if (alu_num_flags(in) || r == NUM_RN || ALU_POISON_##n & mask)                                                 \
            return name##_any(w, in, mask);                                                                            \
        if (r == NUM_RZ)                                                                                               \
            VECTOR_EACH(n, parts, value(a, b, c, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))                              \
        else if (r == NUM_RM)                                                                                          \
            VECTOR_EACH(n, parts, value(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC))                           \
        else                                                                                                           \
            VECTOR_EACH(n, parts, value(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC))                           \
        return vector_end(w, in, mask, v, parts);                                                                      \
    }
/* With .ftz: value(a, b, c), if nothing is there to be flushed. */
#define VECTOR_FLUSHED(name, n, parts, value)                                                                          \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        __m512 v[parts];                                                                                               \
        uint32_t doubt = 0;                                                                                            \
        if (alu_num_flags(in) != NUM_FTZ || ALU_POISON_##n & mask)                                                     \
            return name##_any(w, in, mask);                                                                            \
        VECTOR_EACH(n, parts, value(a, b, c))                                                                          \
        UNROLL                                                                                                         \
        for (unsigned i = 0; i < parts; i++) {                                                                         \
            doubt |= vector_tiny(v[i]);                                                                                \
            UNROLL                                                                                                     \
            for (unsigned k = 1; k <= n; k++)                                                                          \
                doubt |= vector_subnormal(vector_of(w, in, k, i));                                                     \
        }                                                                                                              \
        return doubt ? name##_any(w, in, mask) : vector_end(w, in, mask, v, parts);                                    \
    }
#endif

#endif
