/* isa/reach.h - loads and stores of a warp by the host's vectors (isa/unit.h): the addresses of all lanes at once, one
 * check of their bounds, and bytes that are moved, gathered or scattered.
 *
 * This is for what nearly every access is: weak, of 1 to 16 bytes a lane, all lanes in one allocation or in the shared
 * memory of their own CTA, nothing poisoned. Of everything else reach_open says so, and nothing has happened then.
 */
#ifndef ISA_REACH_H
#define ISA_REACH_H

#include "isa/isa.h"
#include "simd/vectors.h"

#define REACH_INLINE static inline __attribute__((always_inline))

struct reach {
    uint8_t *host; /* of the lowest byte */
    uint64_t at;   /* its device address, or its offset in shared memory */
    bool shared;
    bool row; /* all lanes, one after the other */
    _Alignas(
        64) uint32_t rel[MACH_WARP]; /* of each lane, from there. Those that are not active have one in bounds, too */
};

/* Lowest address in *lo, the distance to the highest in *extent. False: further apart than 2 GiB. */
REACH_INLINE bool reach_lanes(const struct warp *w, const struct warp_opnd *o, uint32_t mask, struct reach *r,
                              uint64_t *lo, uint32_t *extent) {
    const unsigned one = warp_lowest(mask);
    if (!o->has_base) {
        memset(r->rel, 0, sizeof r->rel);
        *lo = (uint64_t)o->offset;
        *extent = 0;
        return true;
    }
    if (o->bits == 64) {
        const uint64_t *b = warp_src64(w, o->slot), first = b[one];
        int32_t d[MACH_WARP], least = 0, most = 0;
        uint64_t wide = 0;
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            const uint64_t x = mask >> l & 1 ? b[l] - first : 0;
            wide |= x + 0x80000000;
            d[l] = (int32_t)x;
        }
        if (wide >> 32)
            return false;
        for (uint32_t l = 0; l < MACH_WARP; l++) {
            least = d[l] < least ? d[l] : least;
            most = d[l] > most ? d[l] : most;
        }
        for (uint32_t l = 0; l < MACH_WARP; l++)
            r->rel[l] = (uint32_t)d[l] - (uint32_t)least;
        *lo = first + (uint64_t)(int64_t)least + (uint64_t)o->offset;
        *extent = (uint32_t)most - (uint32_t)least;
        return true;
    }
    const uint32_t *b = warp_src32(w, o->slot), first = b[one];
    uint32_t x[MACH_WARP], least = first, most = first;
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        x[l] = mask >> l & 1 ? b[l] : first;
        least = x[l] < least ? x[l] : least;
        most = x[l] > most ? x[l] : most;
    }
    for (uint32_t l = 0; l < MACH_WARP; l++)
        r->rel[l] = x[l] - least;
    *lo = least + (uint64_t)o->offset;
    *extent = most - least;
    return true;
}

/* `size` bytes a lane, a power of two of at most 16, and aligned so. */
REACH_INLINE bool reach_open(const struct warp *w, const struct warp_opnd *o, uint32_t mask, enum warp_space space,
                             uint32_t size, struct reach *r) {
    uint64_t lo;
    uint32_t extent, odd = 0, apart = 0;
    if (!reach_lanes(w, o, mask, r, &lo, &extent))
        return false;
    for (uint32_t l = 0; l < MACH_WARP; l++) {
        odd |= r->rel[l];
        apart |= r->rel[l] ^ l * size;
    }
    if ((odd | lo) & (size - 1) || extent > INT32_MAX) /* gathers take signed distances */
        return false;
    r->row = !apart && mask == WARP_ALL_LANES;
    if (space == XS_GENERIC && lo - MACH_WINDOW_SHARED < MACH_WINDOW_SIZE) {
        space = XS_SHARED_CLUSTER;
        lo -= MACH_WINDOW_SHARED;
    }
    r->shared = space == XS_SHARED_CTA || space == XS_SHARED_CLUSTER;
    if (r->shared) {
        const struct cta *cta = w->cta;
        const uint64_t off = lo - ((uint64_t)cta->rank << MACH_SMEM_RANK_SHIFT);
        r->host = cta->smem + off;
        r->at = off;
        return off >= MACH_SMEM_FIRST && off < cta->smem_end && cta->smem_end - off >= (uint64_t)extent + size;
    }
    r->at = lo;
    r->host = space == XS_GLOBAL || space == XS_GENERIC || space == XS_CONST
                  ? mem_at(w->gpu->mem, lo, (uint64_t)extent + size)
                  : NULL;
    return r->host != NULL;
}

/* --- 16 or 8 lanes at a time -------------------------------------------------------------------------------------- */

REACH_INLINE void reach_gather32(uint32_t *d, const uint8_t *p, const struct reach *r, uint32_t mask) {
#if defined(__AVX512F__)
    for (unsigned i = 0; i < MACH_WARP; i += 16) {
        const __m512i at = _mm512_load_si512(r->rel + i), old = _mm512_loadu_si512(d + i);
        _mm512_storeu_si512(d + i, _mm512_mask_i32gather_epi32(old, (__mmask16)(mask >> i), at, p, 1));
    }
#else
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (unsigned i = 0; i < MACH_WARP; i += 8) {
        const __m256i at = _mm256_load_si256((const __m256i *)(r->rel + i));
        const __m256i old = _mm256_loadu_si256((const __m256i_u *)(d + i));
        const __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(mask >> i)), bit), bit);
        _mm256_storeu_si256((__m256i_u *)(d + i), _mm256_mask_i32gather_epi32(old, (const int *)p, at, on, 1));
    }
#endif
}

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

/* --- shared memory's poison --------------------------------------------------------------------------------------- */

/* Is a byte of the lanes' poison? */
REACH_INLINE bool reach_poisoned(const struct warp *w, const struct reach *r, uint32_t size, uint32_t mask) {
    const uint8_t *map = w->cta->smem_poison;
    const uint32_t off = (uint32_t)r->at;
    uint32_t any = 0;
    if (r->row && (off & 7) == 0) {
        for (uint32_t i = 0; i < MACH_WARP / 8 * size; i++)
            any |= map[(off >> 3) + i];
        return any != 0;
    }
    const uint32_t part = (1u << size) - 1;
#if defined(__AVX512F__)
    __m512i sum = _mm512_setzero_si512();
    for (unsigned i = 0; i < MACH_WARP; i += 16) {
        const __m512i at = _mm512_add_epi32(_mm512_load_si512(r->rel + i), _mm512_set1_epi32((int)off));
        const __m512i word = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), (__mmask16)(mask >> i),
                                                         _mm512_srli_epi32(at, 5), map, 4);
        sum = _mm512_or_si512(sum, _mm512_srlv_epi32(word, _mm512_and_si512(at, _mm512_set1_epi32(31))));
    }
    return _mm512_test_epi32_mask(sum, _mm512_set1_epi32((int)part)) != 0;
#else
    WARP_FOR_LANES(l, mask) {
        const uint32_t at = off + r->rel[l];
        uint32_t word;
        memcpy(&word, map + (at >> 5) * 4, sizeof word);
        any |= word >> (at & 31);
    }
    return any & part;
#endif
}

#endif
