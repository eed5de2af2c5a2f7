/* isa/half.c - f16, bf16 and mixed-precision arithmetic (PTX ISA 9.7.4, 9.7.5).
 *
 * The x2 types are two independent operations on the halves of a 32-bit register. Mixed precision converts its half
 * operands to f32, which is exact, and then is f32 arithmetic.
 */
#include "isa/half.h"
#include "isa/vector.h"

/* Among the flags of num.h in in->aux: the operands are bf16, not f16. */
enum { BF16_OPERANDS = 1 << 20 };

/* What the host does with f32 vectors, rounded to odd; a register of 16 bits has a zero in its upper half, and keeps
 * it. */
#if defined(ISA_VECTORS)
#define ODD_add(a, b, c) vector_odd(a, _mm512_set1_ps(1), b)
#define ODD_sub(a, b, c) vector_odd(b, _mm512_set1_ps(-1), a)
#define ODD_mul(a, b, c) vector_odd(a, b, _mm512_set1_ps(-0.0f))
#define ODD_fma(a, b, c) vector_odd(a, b, c)
static ALU_INLINE __m512 relu(__m512 v, unsigned f) {
    const __m512i bits = _mm512_castps_si512(v), positive = _mm512_max_epi32(bits, _mm512_setzero_si512());
    return _mm512_castsi512_ps(f & NUM_RELU ? positive : bits);
}
#endif

/* Of f16, both halves of all registers: codes become f32, each is worked on, and becomes a code again. */
#if defined(ISA_UNIT)
enum { HALVES = 2 * MACH_WARP };
static ALU_INLINE void decode_all(float *v, const uint32_t *a) {
    const uint16_t *s = (const uint16_t *)a;
#if defined(__AVX512F__)
    for (unsigned i = 0; i < HALVES; i += 16)
        _mm512_storeu_ps(v + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i_u *)(s + i))));
#else
    for (unsigned i = 0; i < HALVES; i += 8)
        _mm256_storeu_ps(v + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)(s + i))));
#endif
}
static ALU_INLINE void encode_all(uint32_t *d, const float *v) {
    uint16_t *c = (uint16_t *)d;
#if defined(__AVX512F__)
    for (unsigned i = 0; i < HALVES; i += 16)
        _mm256_storeu_si256((__m256i_u *)(c + i), _mm512_cvtps_ph(_mm512_loadu_ps(v + i), _MM_FROUND_TO_NEAREST_INT));
#else
    for (unsigned i = 0; i < HALVES; i += 8)
        _mm_storeu_si128((__m128i_u *)(c + i), _mm256_cvtps_ph(_mm256_loadu_ps(v + i), _MM_FROUND_TO_NEAREST_INT));
#endif
}
#define F16_EACH(value)                                                                                                \
    for (uint32_t l = 0; l < HALVES; l++)                                                                              \
        v[l] = num_f32_from_bits(value);
#define F16_LANES(name, n, keep, value)                                                                                \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const unsigned f = alu_num_flags(in);                                                                          \
        float x[n][HALVES], v[HALVES];                                                                                 \
        uint32_t t[MACH_WARP], *pd = warp_fast_dst(w, in, 0);                                                          \
        for (unsigned i = 0; i < n; i++)                                                                               \
            decode_all(x[i], warp_fast_src(w, in, i + 1));                                                             \
        if (f == 0)                                                                                                    \
            F16_EACH(value(0))                                                                                         \
        else if (f == NUM_RELU)                                                                                        \
            F16_EACH(value(NUM_RELU))                                                                                  \
        else                                                                                                           \
            F16_EACH(value(f))                                                                                         \
        encode_all(mask == WARP_ALL_LANES && keep == UINT32_MAX ? pd : t, v);                                          \
        if (mask != WARP_ALL_LANES || keep != UINT32_MAX)                                                              \
            ALU_SET_ONE(mask, pd, t[l] & keep);                                                                        \
    }                                                                                                                  \
    ALU_HANDLER(name, n)
#define F16_add(f) half_add_f16(x[0][l], x[1][l], f)
#define F16_sub(f) half_sub_f16(x[0][l], x[1][l], f)
#define F16_mul(f) half_mul_f16(x[0][l], x[1][l], f)
#define F16_fma(f) half_fma_f16(x[0][l], x[1][l], x[2][l], f)
#if defined(ISA_VECTORS)
static ALU_INLINE __m512 f16_of(const struct warp *w, const struct insn *in, unsigned source, unsigned part) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i_u *)warp_fast_src(w, in, source) + part));
}
/* Without .ftz and .sat. */
#define F16_VECTOR(name, n, value)                                                                                     \
    static enum warp_status name(struct warp *w, const struct insn *in, uint32_t mask) {                               \
        const unsigned f = alu_num_flags(in);                                                                          \
        __m256i half[4];                                                                                               \
        __m512 v[2];                                                                                                   \
        if (f & ~(unsigned)NUM_RELU || ALU_POISON_##n & mask)                                                          \
            return name##_any(w, in, mask);                                                                            \
        UNROLL                                                                                                         \
        for (unsigned i = 0; i < 4; i++) {                                                                             \
            const __m512 a = f16_of(w, in, 1, i), b = f16_of(w, in, 2, i), c = f16_of(w, in, n, i),                    \
                         d = value(a, b, c);                                                                           \
            (void)c;                                                                                                   \
            half[i] = _mm512_cvtps_ph(vector_canonical_of(d, relu(d, f)), _MM_FROUND_TO_NEAREST_INT);                  \
        }                                                                                                              \
        UNROLL                                                                                                         \
        for (unsigned i = 0; i < 2; i++)                                                                               \
            v[i] = _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(half[2 * i]), half[2 * i + 1], 1));   \
        return vector_end(w, in, mask, v, 2);                                                                          \
    }
#define F16_OF(op, n, t, keep)                                                                                         \
    F16_LANES(op##_##t##_any, n, keep, F16_##op)                                                                       \
    F16_VECTOR(op##_##t, n, ODD_##op)
#else
#define F16_OF(op, n, t, keep) F16_LANES(op##_##t, n, keep, F16_##op)
#endif
#define F16(op, n)                                                                                                     \
    F16_OF(op, n, f16, 0xffff)                                                                                         \
    F16_OF(op, n, f16x2, UINT32_MAX)
F16(add, 2)
F16(sub, 2)
F16(mul, 2)
F16(fma, 3)
#else
#define F16_VALUE(a) num_f32_from_bits(half_f32_of_f16(a))
#define F16_SUM(op, t, T) ALU_FN2(op##_##t, T, T, T, half_f16_of_f32(half_##op##_f16(F16_VALUE(a), F16_VALUE(b), f)))
#define F16(t, T)                                                                                                      \
    F16_SUM(add, t, T)                                                                                                 \
    F16_SUM(sub, t, T)                                                                                                 \
    F16_SUM(mul, t, T)                                                                                                 \
    ALU_FN3(fma_##t, T, T, T, T, half_f16_of_f32(half_fma_f16(F16_VALUE(a), F16_VALUE(b), F16_VALUE(c), f)))
F16(f16, u16)
F16(f16x2, u16x2)
#endif

static inline uint32_t both(uint32_t low, uint32_t high) { return low | high << 16; }
#if defined(ISA_VECTORS)
/* In the upper half of a word, without its sign where there is .relu. */
static ALU_INLINE __m512i bf16_code(__m512 v, unsigned f) {
    const __m512i bits = _mm512_castps_si512(relu(v, f));
    const __m512i even = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i code = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), even);
    return _mm512_mask_set1_epi32(code, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), NUM_NAN_F32);
}
static ALU_INLINE __m512 bf16_low(__m512 v) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(v), 16));
}
static ALU_INLINE __m512 bf16_high(__m512 v) {
    return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32((int)0xffff0000)));
}
#define BF16_VECTOR(name, n, value)                                                                                    \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        const unsigned f = alu_num_flags(in);                                                                          \
        uint32_t t[MACH_WARP], *const pd = warp_fast_dst(w, in, 0);                                                    \
        UNROLL                                                                                                         \
        for (unsigned i = 0; i < 2; i++) {                                                                             \
            const __m512 a = vector_of(w, in, 1, i), b = vector_of(w, in, 2, i), c = vector_of(w, in, n, i);           \
            const __m512i low = bf16_code(value(bf16_low(a), bf16_low(b), bf16_low(c)), f);                            \
            const __m512i high = bf16_code(value(bf16_high(a), bf16_high(b), bf16_high(c)), f);                        \
            (void)c;                                                                                                   \
            _mm512_storeu_si512(mask == WARP_ALL_LANES ? pd + 16 * i : t + 16 * i,                                     \
                                _mm512_mask_mov_epi16(high, 0x55555555, _mm512_srli_epi32(low, 16)));                  \
        }                                                                                                              \
        if (mask != WARP_ALL_LANES)                                                                                    \
            ALU_SET_SOME(mask, pd, t[l])                                                                               \
    }                                                                                                                  \
    ALU_HANDLER(name, n)
#define BF16(op, n)                                                                                                    \
    BF16_VECTOR(op##_bf16, n, ODD_##op)                                                                                \
    BF16_VECTOR(op##_bf16x2, n, ODD_##op)
BF16(add, 2)
BF16(sub, 2)
BF16(mul, 2)
BF16(fma, 3)
#else
static inline uint32_t low(uint32_t a) { return a & 0xffff; }
static inline uint32_t high(uint32_t a) { return a >> 16; }
static inline unsigned flags_in(unsigned f) { return f & ~(unsigned)BF16_OPERANDS; }
#define BF16_SURE2(op)                                                                                                 \
    static inline uint32_t op##_bf16_of(uint32_t a, uint32_t b, unsigned f) {                                          \
        uint32_t doubt = 0;                                                                                            \
        const uint32_t d = half_##op##_bf16(a, b, f, &doubt);                                                          \
        return doubt ? num_##op##_h(NUM_BF16, (uint16_t)a, (uint16_t)b, flags_in(f)) : d;                              \
    }                                                                                                                  \
    ALU_SURE2(op##_bf16, half_##op##_bf16(low(a), low(b), f, doubt), op##_bf16_of(low(a), low(b), f))                  \
    ALU_SURE2(op##_bf16x2,                                                                                             \
              both(half_##op##_bf16(low(a), low(b), f, doubt), half_##op##_bf16(high(a), high(b), f, doubt)),          \
              both(op##_bf16_of(low(a), low(b), f), op##_bf16_of(high(a), high(b), f)))
BF16_SURE2(add)
BF16_SURE2(sub)
BF16_SURE2(mul)
static inline uint32_t fma_bf16_of(uint32_t a, uint32_t b, uint32_t c, unsigned f) {
    uint32_t doubt = 0;
    const uint32_t d = half_fma_bf16(a, b, c, f, &doubt);
    return doubt ? num_fma_h(NUM_BF16, (uint16_t)a, (uint16_t)b, (uint16_t)c, flags_in(f)) : d;
}
ALU_SURE3(fma_bf16, half_fma_bf16(low(a), low(b), low(c), f, doubt), fma_bf16_of(low(a), low(b), low(c), f))
ALU_SURE3(fma_bf16x2,
          both(half_fma_bf16(low(a), low(b), low(c), f, doubt), half_fma_bf16(high(a), high(b), high(c), f, doubt)),
          both(fma_bf16_of(low(a), low(b), low(c), f), fma_bf16_of(high(a), high(b), high(c), f)))
#endif
static inline uint32_t inf_in(unsigned f) { return f & BF16_OPERANDS ? 0x7f80 : 0x7c00; }
/* min and max without modifiers: num/order.c */
#if defined(ISA_VECTORS)
static ALU_INLINE __m512i pick_order(__m512i a) { /* -0 < +0 */
    return _mm512_xor_si512(a, _mm512_srli_epi16(_mm512_srai_epi16(a, 15), 1));
}
static ALU_INLINE __mmask32 pick_nan(__m512i a, __m512i inf) {
    return _mm512_cmpgt_epi16_mask(_mm512_and_si512(a, _mm512_set1_epi16(0x7fff)), inf);
}
#define PICK(name, T, larger)                                                                                          \
    static ALU_INLINE void name##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                        \
        uint32_t t[MACH_WARP], *const pd = warp_fast_dst(w, in, 0);                                                    \
        const __m512i inf = _mm512_set1_epi16((short)inf_in(alu_num_flags(in)));                                       \
        UNROLL                                                                                                         \
        for (unsigned i = 0; i < 2; i++) {                                                                             \
            const __m512i a = _mm512_castps_si512(vector_of(w, in, 1, i)),                                             \
                          b = _mm512_castps_si512(vector_of(w, in, 2, i));                                             \
            const __mmask32 nan_a = pick_nan(a, inf), nan_b = pick_nan(b, inf),                                        \
                            more = _mm512_cmpgt_epi16_mask(pick_order(a), pick_order(b));                              \
            const __mmask32 take_b = ((larger ? ~more : more) | nan_a) & ~nan_b;                                       \
            const __m512i d = _mm512_mask_mov_epi16(a, take_b, b);                                                     \
            _mm512_storeu_si512(mask == WARP_ALL_LANES ? pd + 16 * i : t + 16 * i,                                     \
                                _mm512_mask_mov_epi16(d, nan_a & nan_b, _mm512_set1_epi16(0x7fff)));                   \
        }                                                                                                              \
        if (mask != WARP_ALL_LANES)                                                                                    \
            ALU_SET_SOME(mask, pd, t[l])                                                                               \
    }                                                                                                                  \
    ALU_HANDLER(name, 2)
#else
#define PICK(name, T, larger) ALU_FN2(name, T, T, T, half_pick(a, b, inf_in(f), 0, larger))
#endif
#define HALF(T)                                                                                                        \
    ALU_FN1(neg_##T, T, T, half_neg(a, inf_in(f), f))                                                                  \
    ALU_FN1(abs_##T, T, T, half_abs(a, inf_in(f), f))                                                                  \
    PICK(min_plain_##T, T, false)                                                                                      \
    PICK(max_plain_##T, T, true)                                                                                       \
    ALU_FN2(min_##T, T, T, T, half_pick(a, b, inf_in(f), f, false))                                                    \
    ALU_FN2(max_##T, T, T, T, half_pick(a, b, inf_in(f), f, true))
HALF(u16)
HALF(u16x2)
#define TANH_F16(a) num_tanh_approx_h(NUM_F16, (uint16_t)(a))
#define TANH_BF16(a) num_tanh_approx_h(NUM_BF16, (uint16_t)(a))
#define EX2_F16(a) num_ex2_approx_h(NUM_F16, (uint16_t)(a), 0)
#define EX2_BF16(a) num_ex2_approx_h(NUM_BF16, (uint16_t)(a), NUM_FTZ)
#if defined(ISA_VECTORS)
/* 2^(i / 16) */
static const float f16_powers[16] = {0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                     0x1.306fe0p+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                     0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                     0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
static ALU_INLINE __m512 f16_step(__m512 a, __m512 x, float b) { return _mm512_fmadd_ps(a, x, _mm512_set1_ps(b)); }
/* Of the table's 16 values that which the low 4 bits of `index` choose. */
static ALU_INLINE __m512 f16_at(const float *table, __m512 index) {
    return _mm512_permutexvar_ps(_mm512_castps_si512(index), _mm512_loadu_ps(table));
}

/* 2^n 2^r, n the multiple of 1 / 16 next to x. As in half_ex2, the middle of two codes is above it, but for an integer.
 * The tests compare all codes of this and of f16_tanh. */
static ALU_INLINE __m512 f16_ex2(__m512 x) {
    const __m512 r = _mm512_reduce_ps(x, 4 << 4 | _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 t = f16_at(f16_powers, _mm512_add_ps(x, _mm512_set1_ps(0x1.8p19f))); /* 16 n in the low bits */
    const __m512 p = f16_step(f16_step(_mm512_set1_ps(0x1.c6b08ep-5f), r, 0x1.ebfbe0p-3f), r, 0x1.62e430p-1f);
    const __m512i d = _mm512_castps_si512(_mm512_fmadd_ps(_mm512_mul_ps(t, r), p, t)), last = _mm512_set1_epi32(1);
    const __mmask16 above = _mm512_cmp_ps_mask(r, _mm512_setzero_ps(), _CMP_NEQ_OQ);
    return _mm512_scalef_ps(_mm512_castsi512_ps(_mm512_mask_or_epi32(d, above, d, last)), _mm512_sub_ps(x, r));
}

/* tanh(n w + t), n below 16, w = 5/16, |t| <= w/2, as a polynomial of t: of each coefficient the 16 values. Above 15 w
 * the code is that of 1. */
static const float f16_tanhs[6][16] = {
    {0x0.000000p+0f, 0x1.35f988p-2f, 0x1.1bf47ep-1f, 0x1.77d83ap-1f, 0x1.b2523cp-1f, 0x1.d4e6f4p-1f, 0x1.e8789ep-1f,
     0x1.f3451ep-1f, 0x1.f92582p-1f, 0x1.fc51f6p-1f, 0x1.fe06ecp-1f, 0x1.fef168p-1f, 0x1.ff6f18p-1f, 0x1.ffb26ap-1f,
     0x1.ffd678p-1f, 0x1.ffe9c4p-1f},
    {0x1.000000p+0f, 0x1.d11574p-1f, 0x1.6284c4p-1f, 0x1.d834d2p-2f, 0x1.1f2512p-2f, 0x1.4a4584p-3f, 0x1.6fcfa6p-4f,
     0x1.924bd2p-5f, 0x1.b3afe2p-6f, 0x1.d553f8p-7f, 0x1.f81bd8p-8f, 0x1.0e505ap-8f, 0x1.21a7aep-9f, 0x1.363ddep-10f,
     0x1.4c3652p-11f, 0x1.63b170p-12f},
    {0x0.000000p+0f, -0x1.198bd4p-2f, -0x1.89393cp-2f, -0x1.5aa394p-2f, -0x1.e72bc2p-3f, -0x1.2e797ep-3f,
     -0x1.5ee8ccp-4f, -0x1.884abcp-5f, -0x1.add9e4p-6f, -0x1.d1f30ap-7f, -0x1.f628dap-8f, -0x1.0dc084p-8f,
     -0x1.2154a2p-9f, -0x1.360db2p-10f, -0x1.4c1a1ep-11f, -0x1.63a0a4p-12f},
    {-0x1.5550a8p-2f, -0x1.c1a4a6p-3f, -0x1.245040p-6f, 0x1.843270p-4f, 0x1.bba5acp-4f, 0x1.4dd812p-4f, 0x1.a85c6ap-5f,
     0x1.f0e23ap-6f, 0x1.16df28p-6f, 0x1.322982p-7f, 0x1.4c3178p-8f, 0x1.662fc2p-9f, 0x1.80ec96p-10f, 0x1.9ceb30p-11f,
     0x1.ba869ap-12f, 0x1.da0360p-13f},
    {0x0.000000p+0f, 0x1.3e704ep-3f, 0x1.189ae0p-3f, 0x1.677432p-5f, -0x1.8a4696p-7f, -0x1.9d1006p-6f, -0x1.55723ep-6f,
     -0x1.becd90p-7f, -0x1.089210p-7f, -0x1.2a7ccap-8f, -0x1.488082p-9f, -0x1.64dfe6p-10f, -0x1.810bf8p-11f,
     -0x1.9dedf0p-12f, -0x1.bc1cfap-13f, -0x1.dc00a4p-14f},
    {0x1.0d104cp-3f, 0x1.74bb92p-5f, -0x1.bae26ap-5f, -0x1.b11986p-5f, -0x1.3d40fcp-6f, -0x1.c9a62ep-12f,
     0x1.2ccde2p-8f, 0x1.165e4cp-8f, 0x1.76e332p-9f, 0x1.c09aa4p-10f, 0x1.fc5dc2p-11f, 0x1.185458p-11f, 0x1.30dc30p-12f,
     0x1.491a7ap-13f, 0x1.61e3c4p-14f, 0x1.7bc08ep-15f}};
static ALU_INLINE __m512 f16_tanh(__m512 x) {
    const __m512 sign = _mm512_set1_ps(-0.0f), width = _mm512_set1_ps(0.3125f);
    const __m512 size = _mm512_min_ps(_mm512_andnot_ps(sign, x), _mm512_set1_ps(15 * 0.3125f));
    const __m512 s = f16_step(size, _mm512_set1_ps(3.2f), 0x1.8p23f); /* n in the low bits */
    const __m512 t = _mm512_fnmadd_ps(_mm512_sub_ps(s, _mm512_set1_ps(0x1.8p23f)), width, size);
    __m512 p = f16_at(f16_tanhs[5], s);
    UNROLL
    for (unsigned i = 5; i-- > 0;)
        p = _mm512_fmadd_ps(p, t, f16_at(f16_tanhs[i], s));
    return _mm512_or_ps(p, _mm512_and_ps(sign, x));
}

#define APPROX_F16(name, t, keep)                                                                                      \
    static ALU_INLINE void name##_##t##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                  \
        uint32_t d[MACH_WARP], *pd = warp_fast_dst(w, in, 0);                                                          \
        __m256i_u *const to = (void *)(mask == WARP_ALL_LANES && keep == UINT32_MAX ? pd : d);                         \
        UNROLL                                                                                                         \
        for (unsigned i = 0; i < 4; i++)                                                                               \
            to[i] = _mm512_cvtps_ph(vector_canonical_of(f16_of(w, in, 1, i), f16_##name(f16_of(w, in, 1, i))),         \
                                    _MM_FROUND_TO_NEAREST_INT);                                                        \
        if (mask != WARP_ALL_LANES || keep != UINT32_MAX)                                                              \
            ALU_SET_ONE(mask, pd, d[l] & keep);                                                                        \
    }                                                                                                                  \
    ALU_HANDLER(name##_##t, 1)
#elif defined(ISA_UNIT)
#define APPROX_F16(name, t, keep)                                                                                      \
    static ALU_INLINE void name##_##t##_lanes(struct warp *w, const struct insn *in, uint32_t mask) {                  \
        float x[HALVES];                                                                                               \
        uint32_t d[MACH_WARP], *pd = warp_fast_dst(w, in, 0);                                                          \
        decode_all(x, warp_fast_src(w, in, 1));                                                                        \
        for (uint32_t l = 0; l < HALVES; l++)                                                                          \
            x[l] = half_##name(x[l], false);                                                                           \
        encode_all(d, x);                                                                                              \
        ALU_SET_ONE(mask, pd, d[l] & keep);                                                                            \
    }                                                                                                                  \
    ALU_HANDLER(name##_##t, 1)
#endif
#if defined(ISA_UNIT)
#define OF_BF16(name, a) half_bf16_of_f32(num_f32_bits(half_##name(num_f32_from_bits(a), true)))
#define APPROX_HALF(name, NAME)                                                                                        \
    APPROX_F16(name, f16, 0xffff)                                                                                      \
    APPROX_F16(name, f16x2, UINT32_MAX)                                                                                \
    ALU_FN1(name##_bf16, u32, u32, OF_BF16(name, a << 16))                                                             \
    ALU_FN1(name##_bf16x2, u32, u32, both(OF_BF16(name, a << 16), OF_BF16(name, a & 0xffff0000)))
#else
#define APPROX_HALF(name, NAME)                                                                                        \
    ALU_LONG1(name##_f16, u16, u16, NAME##_F16(a))                                                                     \
    ALU_LONG1(name##_f16x2, u16x2, u16x2, NAME##_F16(a))                                                               \
    ALU_LONG1(name##_bf16, u16, u16, NAME##_BF16(a))                                                                   \
    ALU_LONG1(name##_bf16x2, u16x2, u16x2, NAME##_BF16(a))
#endif
APPROX_HALF(tanh, TANH)
APPROX_HALF(ex2, EX2)

/* 9.7.5 */
static inline uint32_t from_f16(uint16_t a) { return num_f32_bits(num_decode_f16(a)); }
static inline uint32_t from_bf16(uint16_t a) { return (uint32_t)a << 16; }
#define MIXED(t)                                                                                                       \
    ALU_LONG2(add_f32_##t, u32, u16, u32, num_add_f32(from_##t(a), b, r, f))                                           \
    ALU_LONG2(sub_f32_##t, u32, u16, u32, num_sub_f32(from_##t(a), b, r, f))                                           \
    ALU_LONG3(fma_f32_##t, u32, u16, u16, u32, num_fma_f32(from_##t(a), from_##t(b), c, r, f))
MIXED(f16)
MIXED(bf16)

#define RN ALU_M(rn)
#define FTZ ALU_M(ftz)
#define SAT ALU_M(sat)
#define RELU ALU_M(relu)
#define NAN_ ALU_M(NaN)
#define SIGN (ALU_M(abs) | ALU_M(xorsign))
#define APPROX ALU_M(approx)
/* One type, and that of its lanes: signatures of 2, 3 and 4 operands; `ftz`, `sat`: the bits where the type has them,
 * `how`: as ex2 needs. */
#define ROWS(t, T, s2, s3, s4, ftz, sat, how)                                                                          \
    ALU_ROW(add, t, 0, RN | ftz | sat, s3, add_##t), ALU_ROW(sub, t, 0, RN | ftz | sat, s3, sub_##t),                  \
        ALU_ROW(mul, t, 0, RN | ftz | sat, s3, mul_##t), ALU_ROW(fma, t, RN, ftz | sat, s4, fma_##t),                  \
        ALU_ROW(fma, t, RN | RELU, ftz, s4, fma_##t), ALU_ROW(neg, t, 0, ftz, s2, neg_##T),                            \
        ALU_ROW(abs, t, 0, ftz, s2, abs_##T), ALU_ROW(min, t, 0, 0, s3, min_plain_##T),                                \
        ALU_ROW(max, t, 0, 0, s3, max_plain_##T), ALU_ROW(min, t, 0, ftz | NAN_, s3, min_##T),                         \
        ALU_ROW(min, t, SIGN, ftz | NAN_, s3, min_##T), ALU_ROW(max, t, 0, ftz | NAN_, s3, max_##T),                   \
        ALU_ROW(max, t, SIGN, ftz | NAN_, s3, max_##T), ALU_ROW(tanh, t, APPROX, 0, s2, tanh_##t),                     \
        ALU_ROW(ex2, t, how, 0, s2, ex2_##t)
#define MIXED_ROWS(t)                                                                                                  \
    ALU_ROW2(add, f32, t, 0, ALU_RND | SAT, "whw", add_f32_##t),                                                       \
        ALU_ROW2(sub, f32, t, 0, ALU_RND | SAT, "whw", sub_f32_##t),                                                   \
        ALU_ROW2(fma, f32, t, ALU_NEED_RND, ALU_RND | SAT, "whhw", fma_f32_##t)

static const struct alu_row rows[] = {
    ROWS(f16, u16, "hh", "hhh", "hhhh", FTZ, SAT, APPROX),
    ROWS(bf16, u16, "hh", "hhh", "hhhh", 0, 0, APPROX | FTZ),
    ROWS(f16x2, u16x2, "ww", "www", "wwww", FTZ, SAT, APPROX),
    ROWS(bf16x2, u16x2, "ww", "www", "wwww", 0, 0, APPROX | FTZ),
    MIXED_ROWS(f16),
    MIXED_ROWS(bf16),
};

bool alu_bind_half(struct isa_binder *b, struct insn *in) {
    if (ptx_has(in->src, PTX_MOD_oob)) /* 9.7.4.4 */
        return isa_refuse(b, "the ISA does not say which bits the OOB NaN of .oob has");
    if (!alu_bind(b, in, rows, sizeof rows / sizeof *rows))
        return false;
    const enum ptx_type t = ptx_insn_type(in->src, 0);
    if (t == PTX_BF16 || t == PTX_BF16X2)
        in->aux |= (uint64_t)BF16_OPERANDS << 8;
    return true;
}
