/* engines/tc_desc.h - shared-memory and instruction descriptors, decoded from their bits (PTX
 * ISA 9.7.16.3, 9.7.16.4). Pure functions: no CTA, no faults; what is wrong comes back as a struct
 * tc_problem.
 */
#ifndef ENGINES_TC_DESC_H
#define ENGINES_TC_DESC_H

#include "engines/tc.h"
#include "report/diag.h"
#include "simd/swizzle.h"

/* A broken rule: the finding without site and thread, and its sentence. */
struct tc_problem {
    const struct diag *rule;
    char text[224];
};

/* Bits 61-63 (Table 40). */
enum tc_swizzle { TC_SW_NONE = 0, TC_SW_128B_32B = 1, TC_SW_128B = 2, TC_SW_64B = 4, TC_SW_32B = 6 };
const char *tc_swizzle_name(enum tc_swizzle s);

struct tc_desc {
    uint32_t start, lbo, sbo; /* bytes; start is an offset in the CTA's shared memory */
    uint32_t base_offset;     /* 0 .. 7 */
    enum tc_swizzle swizzle;
    struct simd_swizzle xor ; /* and the row that it swizzles */
    uint32_t rows;            /* rows after which an MN-major layout strides: 8, or 4 with 32-byte atoms */
    uint32_t along_k;         /* K-major: bytes from one 16-byte chunk to the next along K */
};
/* Splits the fields and checks fixed and reserved bits, and that the start address suits the base offset. Where true is
 * returned, a problem with a rule is one that the chip does not mind. `matrix`: "A", "B", "s-desc". */
bool tc_desc_decode(uint64_t bits, const char *matrix, struct tc_desc *d, struct tc_problem *problem);

/* Shared-memory offset of a 16-byte unit of a K-major matrix: row along M or N, 16-byte chunk along K.
 * ((8,m),(T,2k)):((T,SBO),(1,LBO)) without swizzling, ((8,m),(T,2k)):((W,SBO),(1,T)) with it, W the swizzled
 * row. */
static inline uint32_t tc_desc_unit_k(const struct tc_desc *d, uint32_t row, uint32_t chunk) {
    return simd_swizzled(&d->xor, d->start + row % 8 * d->xor.row + row / 8 * d->sbo + chunk * d->along_k);
}
/* The same of an MN-major matrix: 16-byte chunk along M or N, line along K; the two add up, and are swizzled together.
 * ((T,1,m),(8,k)):((1,T,SBO),(T,LBO)) without swizzling, ((T,W/16,m),(8,k)):((1,T,LBO),(W,SBO)) with it; the
 * 32-byte-atom layout has 4 rows for the 8. */
static inline uint32_t tc_desc_chunk_mn(const struct tc_desc *d, uint32_t chunk) {
    uint32_t units = (uint32_t)__builtin_ctz(d->xor.row / 16);
    if (d->swizzle == TC_SW_NONE)
        return chunk * d->sbo;
    return (chunk & ((1u << units) - 1)) * 16 + (chunk >> units) * d->lbo;
}
static inline uint32_t tc_desc_line_mn(const struct tc_desc *d, uint32_t k) {
    if (d->swizzle == TC_SW_NONE)
        return k % 8 * 16 + k / 8 * d->lbo;
    return k % d->rows * d->xor.row + k / d->rows * d->sbo;
}

/* TC_E2M1X2: e2m1 without padding, two to a byte (9.7.16.10.4.5, .6) */
enum tc_elem { TC_F16, TC_BF16, TC_TF32, TC_E4M3, TC_E5M2, TC_E2M3, TC_E3M2, TC_E2M1, TC_U8, TC_S8, TC_E2M1X2 };
const char *tc_elem_name(enum tc_elem e);
/* Bytes that an element takes in shared and tensor memory, padding included: 1, 2 or 4. */
uint32_t tc_elem_bytes(enum tc_elem e);

enum tc_dtype { TC_D_F16, TC_D_F32, TC_D_S32 };

/* Of the bits of an instruction with block scaling: which bytes of their cells the scale factors are. */
#define TC_IDESC_SCALE_IDS (UINT32_C(3) << 29 | UINT32_C(3) << 4)
struct tc_idesc {
    uint32_t m, n, k;
    enum tc_elem a, b;
    enum tc_dtype d;
    uint32_t sfa_id, sfb_id; /* block scaling: byte of the scale factors in their cells */
    bool scale_ue4m3;        /* else ue8m0 */
    bool negate_a, negate_b, mn_major_a, mn_major_b, saturate;
};
/* Table 42, or 43 and 44 for the kinds with block scaling, then Tables 39, 51, 52, 53 for the cta_group. Which scale
 * factor IDs and types suit the number of scale factors is tc_check_scale's. True with problem->rule set: legal on
 * chips, not in the text. */
bool tc_idesc_decode(enum tc_kind kind, unsigned group, uint32_t bits, bool a_in_tmem, struct tc_idesc *out,
                     struct tc_problem *problem);
/* Tables 54 and 55: may this operand have this major-ness with this swizzling? */
bool tc_check_swizzle(const char *matrix, enum tc_elem e, bool mn_major, enum tc_swizzle s, struct tc_problem *problem);

/* Tables 56 and 57: `factors` scale factors along K (1, 2, 4). */
bool tc_check_scale(enum tc_kind kind, const struct tc_idesc *d, uint32_t factors, struct tc_problem *problem);

#endif
