/* isa/reach.h - loads and stores of a warp by the host's vectors (isa/unit.h): the addresses of all lanes at once, one
 * check of their bounds, and bytes that are moved, gathered or scattered.
 *
 * This is for what nearly every access is: weak, of 1 to 32 bytes for each lane, all lanes in one allocation, in the
 * shared memory of their own CTA or in their local memory, nothing poisoned. Stores of 32 bytes may be strong, too.
 * Everything else reach_open refuses, and nothing has happened then.
 */
#ifndef ISA_REACH_H
#define ISA_REACH_H

#include "isa/isa.h"
#include "isa/tell.h"
#include "isa/unit.h"
#include "simd/vectors.h"

#define REACH_INLINE static inline __attribute__((always_inline))

struct reach {
    uint8_t *host; /* what `rel` counts from */
    uint64_t at;   /* its device address, or its offset in shared memory */
    uint64_t room; /* bytes from `host` to the end of the allocation, or of shared memory */
    bool shared, local;
    bool row;                            /* all lanes, one after the other from `host` on */
    _Alignas(64) int32_t rel[MACH_WARP]; /* distance of each active lane; in a row only after reach_spread */
};

/* Is a bit set in one of them? */
REACH_INLINE bool reach_any(const uint32_t v[MACH_WARP]) {
#if defined(__AVX512F__)
    const __m512i x = _mm512_or_si512(_mm512_loadu_si512(v), _mm512_loadu_si512(v + 16));
    return _mm512_test_epi32_mask(x, x) != 0;
#else
    const __m256i_u *p = (const void *)v;
    const __m256i x = _mm256_or_si256(_mm256_or_si256(p[0], p[1]), _mm256_or_si256(p[2], p[3]));
    return !_mm256_testz_si256(x, x);
#endif
}

/* Are the n addresses `step` bytes apart? n is a multiple of 8. */
typedef uint32_t reach_words __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t reach_longs __attribute__((vector_size(32), aligned(8), may_alias));
REACH_INLINE bool reach_even32(const uint32_t *b, unsigned n, uint32_t step) {
    reach_words apart = {0}, next = {0, step, 2 * step, 3 * step, 4 * step, 5 * step, 6 * step, 7 * step};
    next += b[0];
    for (unsigned l = 0; l < n; l += 8, next += 8 * step)
        apart |= *(const reach_words *)(b + l) ^ next;
    return _mm256_testz_si256((__m256i)apart, (__m256i)apart);
}
REACH_INLINE bool reach_even64(const uint64_t *b, unsigned n, uint64_t step) {
    reach_longs apart = {0}, next = {0, step, 2 * step, 3 * step};
    next += b[0];
    for (unsigned l = 0; l < n; l += 4, next += 4 * step)
        apart |= *(const reach_longs *)(b + l) ^ next;
    return _mm256_testz_si256((__m256i)apart, (__m256i)apart);
}
REACH_INLINE void reach_spread(struct reach *r, uint32_t size) {
    for (uint32_t l = 0; r->row && l < MACH_WARP; l++)
        r->rel[l] = (int32_t)(l * size);
}

/* Offsets that carry no address into bits that wrap. */
REACH_INLINE bool reach_near(uint64_t offset) { return offset + 0x1000000 <= 0x2000000; }

/* The allocation that holds addr, if it is one of the two that were found last, or any; NULL: none. */
REACH_INLINE const struct mem_near *reach_near_block(const struct warp *w, uint64_t addr) {
    const struct mem_near *near = w->island->near;
    return mem_is_near(&near[0], addr) ? &near[0] : mem_is_near(&near[1], addr) ? &near[1] : NULL;
}

/* Is the first lane's access the start of a row? False: no, or it leaves what it is in. */
REACH_INLINE bool reach_row_shared(const struct warp *w, const uint32_t *b, uint64_t offset, uint32_t size,
                                   struct reach *r) {
    const struct cta *cta = w->cta;
    const uint32_t off = b[0] + (uint32_t)offset - (cta->rank << MACH_SMEM_RANK_SHIFT), end = cta->smem_end;
    if (!reach_near(offset) || b[0] >= 0xfd000000 || off & (size - 1) || off < MACH_SMEM_FIRST || off >= end ||
        end - off < MACH_WARP * size || b[31] - b[0] != 31 * size || !reach_even32(b, MACH_WARP, size))
        return false;
    r->shared = r->row = true;
    r->at = off;
    r->host = cta->smem + off;
    return true;
}
REACH_INLINE bool reach_row_global(const struct warp *w, const uint64_t *b, uint64_t offset, uint32_t size,
                                   struct reach *r) {
    r->at = b[0] + offset;
    if (r->at & (size - 1) || b[31] - b[0] != 31 * size || !reach_even64(b, MACH_WARP, size))
        return false;
    const struct mem_near *block = island_near(w->island, r->at);
    if (block == NULL)
        return false;
    r->host = block->host + (r->at - block->addr);
    return r->row = block->bytes - (r->at - block->addr) >= MACH_WARP * size;
}

/* Addresses in a register of 32 bits, of the CTA's own shared memory. */
REACH_INLINE bool reach_shared(const struct warp *w, const uint32_t *b, uint64_t offset, uint32_t mask, uint32_t size,
                               struct reach *r) {
    const struct cta *cta = w->cta;
    const uint32_t rank = cta->rank << MACH_SMEM_RANK_SHIFT, room = cta->smem_end - MACH_SMEM_FIRST;
    const uint32_t add = (uint32_t)offset - rank - MACH_SMEM_FIRST;
    uint32_t bad[MACH_WARP];
    if (room < size || !reach_near(offset))
        return false;
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        const uint32_t off = b[l] + add;
        r->rel[l] = (int32_t)off;
        const uint32_t wrong = (off & (size - 1)) | (off > room - size ? 1 : 0) | (b[l] >= 0xfe000000 ? 1 : 0);
        bad[l] = mask >> l & 1 ? wrong : 0;
    }
    if (reach_any(bad))
        return false;
    const uint32_t first = (uint32_t)r->rel[warp_lowest(mask)];
    for (uint32_t l = 0; l < MACH_WARP; l++)
        r->rel[l] -= (int32_t)first;
    r->shared = true;
    r->at = MACH_SMEM_FIRST + first;
    r->host = cta->smem + r->at;
    r->room = cta->smem_end - r->at;
    return true;
}

/* Addresses in a register of 64 bits, of one allocation. */
REACH_INLINE bool reach_global(const struct warp *w, const uint64_t *b, uint64_t offset, uint32_t mask, uint32_t size,
                               struct reach *r) {
    const uint64_t first = b[warp_lowest(mask)];
    uint32_t bad[MACH_WARP];
    r->shared = false;
    r->at = first + offset;
    const struct mem_near *block = island_near(w->island, r->at);
    if (block == NULL || block->bytes < size || r->at & (size - 1))
        return false;
    const uint64_t before = r->at - block->addr, bytes = block->bytes;
    r->host = block->host + before;
    r->room = bytes - before;
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        const uint64_t d = b[l] - first;
        const uint64_t wrong = (d & (size - 1)) | (d + before > bytes - size ? 1 : 0) | (d + 0x80000000) >> 32;
        r->rel[l] = (int32_t)d;
        bad[l] = mask >> l & 1 ? (uint32_t)(wrong | wrong >> 32) : 0;
    }
    return !reach_any(bad);
}

/* Addresses in local memory: lane after lane, local_stride bytes apart. */
REACH_INLINE bool reach_local(const struct warp *w, const struct warp_opnd *o, uint32_t mask, uint32_t size,
                              struct reach *r) {
    const uint32_t stride = w->local_stride;
    const uint64_t offset = (uint64_t)o->offset;
    uint32_t bad[MACH_WARP];
    if (!w->local || stride < size || stride > INT32_MAX / MACH_WARP)
        return false;
    uint64_t wide[MACH_WARP];
    const uint64_t *b = wide;
    if (o->bits == 64)
        b = warp_src64(w, o->slot);
    else
        for (uint32_t l = 0; l < MACH_WARP; l++)
            wide[l] = warp_src32(w, o->slot)[l];
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        const uint64_t at = b[l] + offset;
        const uint64_t wrong = (at & (size - 1)) | (at > stride - size ? 1 : 0);
        r->rel[l] = (int32_t)(l * stride + (uint32_t)at);
        bad[l] = mask >> l & 1 ? (uint32_t)wrong : 0;
    }
    r->local = true;
    r->at = 0;
    r->host = w->local;
    r->room = (uint64_t)stride * MACH_WARP;
    return !reach_any(bad);
}

/* `size` bytes a lane, a power of two of at most 16, and aligned so. */
REACH_INLINE bool reach_open(const struct warp *w, const struct warp_opnd *o, uint32_t mask, enum warp_space space,
                             uint32_t size, struct reach *r) {
    const bool shared = space == XS_SHARED_CTA || space == XS_SHARED_CLUSTER, all = mask == WARP_ALL_LANES;
    const uint64_t offset = (uint64_t)o->offset;
    if (!o->has_base)
        return false;
    r->shared = r->local = r->row = false;
    if (space == XS_LOCAL)
        return reach_local(w, o, mask, size, r);
    if (o->bits == 32 && shared) {
        const uint32_t *b = warp_src32(w, o->slot);
        return (all && reach_row_shared(w, b, offset, size, r)) || reach_shared(w, b, offset, mask, size, r);
    }
    if (o->bits == 64 && shared) {
        const uint64_t *b = warp_src64(w, o->slot);
        uint32_t low[MACH_WARP], high[MACH_WARP];
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            low[l] = (uint32_t)b[l];
            high[l] = mask >> l & 1 ? (uint32_t)(b[l] >> 32) : 0;
        }
        if (reach_any(high))
            return false;
        return (all && reach_row_shared(w, low, offset, size, r)) || reach_shared(w, low, offset, mask, size, r);
    }
    if (o->bits == 64 && (space == XS_GLOBAL || space == XS_GENERIC || space == XS_CONST)) {
        const uint64_t *b = warp_src64(w, o->slot);
        return (all && reach_row_global(w, b, offset, size, r)) || reach_global(w, b, offset, mask, size, r);
    }
    return false;
}

/* --- 16 or 8 lanes at a time -------------------------------------------------------------------------------------- */

#if defined(__AVX512F__)
/* Most of what is no row is one word for all lanes, two words, or lies within 256 bytes: no gather then, which takes as
 * long as 32 loads. */
static inline void reach_gather32(uint32_t *d, const uint8_t *p, uint64_t room, const struct reach *r, uint32_t mask) {
    const __m512i a0 = _mm512_load_si512(r->rel), a1 = _mm512_load_si512(r->rel + 16);
    const __mmask16 k0 = (__mmask16)mask, k1 = (__mmask16)(mask >> 16);
    const int32_t first = r->rel[warp_lowest(mask)];
    const __m512i f = _mm512_set1_epi32(first);
    const uint32_t rest = _mm512_mask_cmpneq_epi32_mask(k0, a0, f) | (uint32_t)_mm512_mask_cmpneq_epi32_mask(k1, a1, f)
                                                                         << 16;
    uint32_t word, other;
    memcpy(&word, p + first, sizeof word);
    __m512i v0 = _mm512_set1_epi32((int)word), v1 = v0;
    if (rest) {
        const __m512i g = _mm512_set1_epi32(r->rel[warp_lowest(rest)]);
        const uint32_t more = _mm512_mask_cmpneq_epi32_mask((__mmask16)rest, a0, g) |
                              (uint32_t)_mm512_mask_cmpneq_epi32_mask((__mmask16)(rest >> 16), a1, g) << 16;
        const __m512i i0 = _mm512_srli_epi32(_mm512_sub_epi32(a0, f), 2),
                      i1 = _mm512_srli_epi32(_mm512_sub_epi32(a1, f), 2), most = _mm512_set1_epi32(64);
        if (!more) {
            memcpy(&other, p + r->rel[warp_lowest(rest)], sizeof other);
            v0 = _mm512_mask_set1_epi32(v0, (__mmask16)rest, (int)other);
            v1 = _mm512_mask_set1_epi32(v1, (__mmask16)(rest >> 16), (int)other);
        } else if (first == 0 && room >= 256 && !_mm512_mask_cmpge_epu32_mask(k0, i0, most) &&
                   !_mm512_mask_cmpge_epu32_mask(k1, i1, most)) {
            const __m512i t0 = _mm512_loadu_si512(p), t1 = _mm512_loadu_si512(p + 64), t2 = _mm512_loadu_si512(p + 128),
                          t3 = _mm512_loadu_si512(p + 192);
            const __m512i half = _mm512_set1_epi32(32);
            v0 = _mm512_mask_blend_epi32(_mm512_test_epi32_mask(i0, half), _mm512_permutex2var_epi32(t0, i0, t1),
                                         _mm512_permutex2var_epi32(t2, i0, t3));
            v1 = _mm512_mask_blend_epi32(_mm512_test_epi32_mask(i1, half), _mm512_permutex2var_epi32(t0, i1, t1),
                                         _mm512_permutex2var_epi32(t2, i1, t3));
        } else {
            v0 = _mm512_mask_i32gather_epi32(v0, k0, a0, p, 1);
            v1 = _mm512_mask_i32gather_epi32(v1, k1, a1, p, 1);
        }
    }
    _mm512_mask_storeu_epi32(d, k0, v0);
    _mm512_mask_storeu_epi32(d + 16, k1, v1);
}
#else
REACH_INLINE void reach_gather32(uint32_t *d, const uint8_t *p, uint64_t room, const struct reach *r, uint32_t mask) {
    (void)room;
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (unsigned i = 0; i < MACH_WARP; i += 8) {
        const __m256i at = _mm256_load_si256((const __m256i *)(r->rel + i));
        const __m256i old = _mm256_loadu_si256((const __m256i_u *)(d + i));
        const __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(mask >> i)), bit), bit);
        _mm256_storeu_si256((__m256i_u *)(d + i), _mm256_mask_i32gather_epi32(old, (const int *)p, at, on, 1));
    }
}
#endif

REACH_INLINE void reach_gather64(uint64_t *d, const uint8_t *p, const struct reach *r, uint32_t mask) {
#if defined(__AVX512F__)
    for (unsigned i = 0; i < MACH_WARP; i += 8) {
        const __m256i at = _mm256_load_si256((const __m256i *)(r->rel + i));
        const __m512i old = _mm512_loadu_si512(d + i);
        _mm512_storeu_si512(d + i, _mm512_mask_i32gather_epi64(old, (__mmask8)(mask >> i), at, p, 1));
    }
#else
    WARP_FOR_LANES(l, mask) { memcpy(d + l, p + r->rel[l], sizeof *d); }
#endif
}

REACH_INLINE void reach_scatter32(const uint32_t *s, uint8_t *p, const struct reach *r, uint32_t mask) {
#if defined(__AVX512F__)
    /* where lanes name the same word, the highest lane's remains, as lane by lane */
    for (unsigned i = 0; i < MACH_WARP; i += 16)
        _mm512_mask_i32scatter_epi32(p, (__mmask16)(mask >> i), _mm512_load_si512(r->rel + i),
                                     _mm512_loadu_si512(s + i), 1);
#else
    WARP_FOR_LANES(l, mask) { memcpy(p + r->rel[l], s + l, sizeof *s); }
#endif
}

/* Four words of each of eight lanes: lane i's and i + 4's, in the halves of v[i], become the i-th of all lanes; and
 * back. */
REACH_INLINE void reach_turn(__m256i v[4]) {
    const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpacklo_epi32(v[2], v[3]);
    const __m256i c = _mm256_unpackhi_epi32(v[0], v[1]), d = _mm256_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm256_unpacklo_epi64(a, b);
    v[1] = _mm256_unpackhi_epi64(a, b);
    v[2] = _mm256_unpacklo_epi64(c, d);
    v[3] = _mm256_unpackhi_epi64(c, d);
}

/* Four registers of all lanes, each lane's in 16 bytes. Rows are spread before (reach_spread). */
REACH_INLINE void reach_gather_quads(struct warp *w, const warp_slot slot[4], const uint8_t *p, const struct reach *r) {
    for (unsigned l = 0; l < MACH_WARP; l += 8) {
        __m256i v[4];
        UNROLL
        for (unsigned i = 0; i < 4; i++)
            v[i] =
                _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i_u *)(p + r->rel[l + i]))),
                                        _mm_loadu_si128((const __m128i_u *)(p + r->rel[l + 4 + i])), 1);
        reach_turn(v);
        UNROLL
        for (unsigned i = 0; i < 4; i++)
            _mm256_storeu_si256((__m256i_u *)(warp_dst32(w, slot[i]) + l), v[i]);
    }
}

/* In the order of the lanes: where they name the same bytes, the highest lane's remain. */
REACH_INLINE void reach_scatter_quads(const struct warp *w, const warp_slot slot[4], uint8_t *p,
                                      const struct reach *r) {
    for (unsigned l = 0; l < MACH_WARP; l += 8) {
        __m256i v[4];
        UNROLL
        for (unsigned i = 0; i < 4; i++)
            v[i] = _mm256_loadu_si256((const __m256i_u *)(warp_src32(w, slot[i]) + l));
        reach_turn(v);
        UNROLL
        for (unsigned i = 0; i < 8; i++)
            _mm_storeu_si128((__m128i_u *)(p + r->rel[l + i]),
                             i < 4 ? _mm256_castsi256_si128(v[i]) : _mm256_extracti128_si256(v[i - 4], 1));
    }
}

/* --- poison of shared and of local memory ------------------------------------------------------------------------- */

/* Is a byte of the lanes' poison? */
REACH_INLINE bool reach_shared_poisoned(const struct warp *w, const struct reach *r, uint32_t size, uint32_t mask) {
    const uint8_t *map = w->cta->smem_poison;
    const uint32_t off = (uint32_t)r->at;
    uint32_t any = 0;
    if (r->row) {
        for (uint32_t i = 0; i < size; i++) {
            uint64_t word;
            memcpy(&word, map + (off >> 3) + 4 * i, sizeof word);
            any |= (uint32_t)(word >> (off & 7));
        }
        return any != 0;
    }
    const uint32_t part = (1u << size) - 1;
#if defined(__AVX512F__)
    /* words of the map: mostly within 32, around the first lane's; in front are those of the system's own bytes, behind
     * it has room */
    __m512i sum = _mm512_setzero_si512();
    const uint32_t from = ((off + (uint32_t)r->rel[warp_lowest(mask)]) >> 5) - 8;
    const __m512i t0 = _mm512_loadu_si512(map + 4 * from), t1 = _mm512_loadu_si512(map + 4 * from + 64);
    for (unsigned i = 0; i < MACH_WARP; i += 16) {
        const __mmask16 k = (__mmask16)(mask >> i);
        const __m512i at = _mm512_add_epi32(_mm512_load_si512(r->rel + i), _mm512_set1_epi32((int)off));
        const __m512i number = _mm512_srli_epi32(at, 5), near = _mm512_sub_epi32(number, _mm512_set1_epi32((int)from));
        __m512i word = _mm512_maskz_permutex2var_epi32(k, t0, near, t1);
        if (__builtin_expect(_mm512_mask_cmpge_epu32_mask(k, near, _mm512_set1_epi32(32)) != 0, 0))
            word = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), k, number, map, 4);
        sum = _mm512_or_si512(sum, _mm512_srlv_epi32(word, _mm512_and_si512(at, _mm512_set1_epi32(31))));
    }
    return _mm512_test_epi32_mask(sum, _mm512_set1_epi32((int)part)) != 0;
#else
    WARP_FOR_LANES(l, mask) {
        const uint32_t at = off + (uint32_t)r->rel[l];
        uint32_t word;
        memcpy(&word, map + (at >> 5) * 4, sizeof word);
        any |= word >> (at & 31);
    }
    return any & part;
#endif
}

REACH_INLINE bool reach_local_poisoned(const struct warp *w, const struct reach *r, uint32_t size, uint32_t mask) {
    uint32_t bits[MACH_WARP];
    for (unsigned i = 0; i < MACH_WARP; i += 8) { /* lanes that take no part may name anything */
        const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        const __m256i at = _mm256_load_si256((const __m256i *)(r->rel + i));
        const __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(mask >> i)), bit), bit);
        const __m256i word = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)(void *)w->local_poison,
                                                         _mm256_srli_epi32(at, 5), on, 4);
        const __m256i here = _mm256_srlv_epi32(word, _mm256_and_si256(at, _mm256_set1_epi32(31)));
        _mm256_storeu_si256((__m256i_u *)(bits + i),
                            _mm256_and_si256(here, _mm256_set1_epi32((int)((1u << size) - 1))));
    }
    return reach_any(bits);
}

REACH_INLINE bool reach_poisoned(const struct warp *w, const struct reach *r, uint32_t size, uint32_t mask) {
    return r->local ? reach_local_poisoned(w, r, size, mask) : r->shared && reach_shared_poisoned(w, r, size, mask);
}

/* --- words of all lanes, of which each half is a row or one word -------------------------------------------------- */

struct reach_halves {
    const uint8_t *host[2];
    bool row[2];
    uint64_t at; /* of the first half, and the other's distance */
    int64_t apart;
};

/* A row: its lanes follow each other; else all have the first's address. False: neither. */
REACH_INLINE bool reach_is_half32(const uint32_t *b, bool *row) {
    *row = b[0] != b[1];
    return *row ? reach_even32(b, 16, 4) : reach_even32(b, 16, 0);
}
REACH_INLINE bool reach_is_half64(const uint64_t *b, bool *row) {
    *row = b[0] != b[1];
    return *row ? reach_even64(b, 16, 4) : reach_even64(b, 16, 0);
}

/* A half in the CTA's shared memory, at these addresses with an offset that is reach_near; NULL where one may leave it,
 * or is poison. */
REACH_INLINE const uint8_t *reach_half_in(const struct cta *cta, uint32_t first, uint32_t offset, bool row) {
    const uint32_t off = first + offset - (cta->rank << MACH_SMEM_RANK_SHIFT), size = row ? 64 : 4;
    const uint32_t room = cta->smem_end - MACH_SMEM_FIRST;
    if ((first >= 0xfd000000) | (off & 3) | (room < size) | (off - MACH_SMEM_FIRST > room - size))
        return NULL;
    const uint8_t *map = cta->smem_poison + (off >> 3);
    const unsigned shift = off & 4;
    uint64_t bits;
    memcpy(&bits, map, sizeof bits);
    bits = row ? bits >> shift | (map[8] & (shift ? 15 : 0)) : bits >> shift & 15;
    return bits ? NULL : cta->smem + off;
}
REACH_INLINE bool reach_halves_in(const struct warp *w, uint32_t first, uint32_t second, uint64_t offset,
                                  struct reach_halves *h) {
    const struct cta *cta = w->cta;
    h->host[0] = reach_half_in(cta, first, (uint32_t)offset, h->row[0]);
    h->host[1] = reach_half_in(cta, second, (uint32_t)offset, h->row[1]);
    h->at = first + (uint32_t)offset - (cta->rank << MACH_SMEM_RANK_SHIFT);
    h->apart = (int64_t)second - (int64_t)first;
    return h->host[0] && h->host[1];
}

REACH_INLINE bool reach_halves_shared(const struct warp *w, const struct warp_opnd *o, struct reach_halves *h) {
    const uint32_t *b = warp_src32(w, o->slot);
    return reach_is_half32(b, &h->row[0]) && reach_is_half32(b + 16, &h->row[1]) &&
           reach_halves_in(w, b[0], b[16], (uint64_t)o->offset, h);
}

/* Halves that begin at these addresses, of which the lower is in a block: false, if one may leave it. */
REACH_INLINE bool reach_halves_at(const struct mem_near *block, uint64_t first, uint64_t second,
                                  struct reach_halves *h) {
    const uint64_t low = first < second ? first : second, end = first < second ? second : first;
    if (block == NULL || (first | second) & 3 || end - low > 0x40000000 ||
        end - low + 64 > block->bytes - (low - block->addr))
        return false;
    h->at = first;
    h->apart = (int64_t)(second - first);
    h->host[0] = block->host + (first - block->addr);
    h->host[1] = block->host + (second - block->addr);
    return true;
}
/* The same in one of the two blocks that were found last. */
REACH_INLINE bool reach_halves_near(const struct warp *w, uint64_t first, uint64_t second, uint64_t offset,
                                    struct reach_halves *h) {
    first += offset;
    second += offset;
    return reach_halves_at(reach_near_block(w, first < second ? first : second), first, second, h);
}

REACH_INLINE bool reach_halves_global(const struct warp *w, const struct warp_opnd *o, struct reach_halves *h) {
    const uint64_t *b = warp_src64(w, o->slot), first = b[0] + (uint64_t)o->offset,
                   second = b[16] + (uint64_t)o->offset;
    return reach_is_half64(b, &h->row[0]) && reach_is_half64(b + 16, &h->row[1]) &&
           reach_halves_at(island_near(w->island, first < second ? first : second), first, second, h);
}

/* The words. */
REACH_INLINE void reach_halves_load(uint32_t *d, const struct reach_halves *h) {
    for (unsigned i = 0; i < 2; i++, d += 16) {
        uint32_t word;
        memcpy(&word, h->host[i], sizeof word);
        if (h->row[i])
            unit_copy(d, h->host[i], 16 * sizeof *d);
        else
            for (uint32_t l = 0; l < 16; l++)
                d[l] = word;
    }
}

/* Those halves have been read or written, of which the first `rows` has a bit for each that is a row. Values one by
 * one, as what was just written in parts is slow to load as a whole. */
REACH_INLINE void reach_tell_halves(const struct warp *w, const struct insn *in, uint64_t at, int64_t apart,
                                    unsigned rows, bool shared, enum event_effect effect) {
    struct isa_lanes t;
    t.cta = shared ? w->cta : NULL;
    t.halves = t.spread = true;
    t.step = rows & 1 ? 4 : 0;
    t.high = rows & 2 ? 4 : 0;
    t.affine = t.step == t.high && apart == 16 * t.step;
    t.at[0] = at;
    t.at[MACH_WARP / 2] = at + (uint64_t)apart;
    isa_tell_at(w, in, &t, 4, WARP_ALL_LANES, effect, NULL);
}

#endif
