/* engines/tc_operand.h - matrices A and B on their way into the multiplier: fetched, checked and decoded to
 * f32.
 *
 * Every kind without block scaling takes 32 bytes of each row along K (16 elements of 16 bits, 8 of 32, 32 of
 * 8), so a matrix is rows * 2 units of 16 bytes in shared memory, or rows * 8 cells in tensor memory.
 */
#ifndef ENGINES_TC_OPERAND_H
#define ENGINES_TC_OPERAND_H

#include "engines/tc_desc.h"
#include "engines/tc_kernel.h"

#define TC_ROW_BYTES 32u
#define TC_MAX_K 64u

struct tc_operand {
    const char *matrix; /* "A" or "B" */
    enum tc_elem elem;
    uint32_t rows, k; /* rows along M or N */
    bool mn_major;
    bool panels;               /* element (row, k) goes to out[tc_tile_a(row, k)], else to out[tc_tile_b(row, k)] */
    struct tc_amx *tiles;      /* or, if not NULL, into these, */
    uint32_t tile_row, tile_k; /* from here on */
};

/* In shared memory a matrix is lines of 16-byte units: along K, or along M or N. */
static inline uint32_t tc_lines(const struct tc_operand *o) { return o->mn_major ? o->k : o->rows; }
static inline uint32_t tc_line_units(const struct tc_operand *o) {
    return o->mn_major ? o->rows * tc_elem_bytes(o->elem) / 16 : TC_ROW_BYTES / 16;
}

/* Working memory of one operand. */
struct tc_decoder {
    enum tc_simd simd; /* not TC_SIMD_BEST */
    uint32_t off[TC_MAX_ROWS * TC_ROW_BYTES / 16];
    uint8_t raw[TC_MAX_ROWS * TC_ROW_BYTES];
    float decoded[TC_MAX_ROWS * TC_MAX_K];
};

/* Takes the operand out of shared memory and decodes it. Faults on bytes outside the CTA's shared memory and on poison,
 * naming row and k. */
bool tc_load_smem(struct tc_decoder *t, struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o,
                  const struct tc_desc *d, float *out);
/* Copies A out of tensor memory, always K-major: row r is lane lane[r / 16] + r % 16, its 32 bytes are 8
 * columns; raw[row][32]. */
bool tc_fetch_tmem(struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o, uint32_t column,
                   const uint32_t *lane, uint8_t *raw);
/* Decodes t->raw: raw[row][32] when K-major, raw[k][rows * element bytes] when MN-major. Tensor memory holds 4- and
 * 6-bit elements one to a byte, shared memory 16 to a padded unit (9.7.16.10.4). */
void tc_decode(struct tc_decoder *t, const struct tc_operand *o, bool in_tmem, float *out);
/* Scale factors of `rows` rows, `factors` to each, decoded: out[row][factors] (tc_scale.c). Row r lies in lane r % 32 of
 * each of the partitions [first, first + count) of 32 lanes, in column r / 32 after `taddr`, from byte `id` of the cell on
 * (the figures' facts from CUTLASS mma_traits_sm100_frag.hpp). The copies must be equal (9.7.16.10.7). Bits 30 and 31 of
 * taddr, in which CUTLASS keeps the ID, are not looked at. */
struct tc_scales {
    const char *matrix; /* "scale_A" or "scale_B" */
    uint32_t taddr, rows, factors, id, first, count;
    bool ue4m3;
};
bool tc_fetch_scales(struct cta *cta, const struct mach_origin *origin, const struct tc_scales *s, float *out);
/* The unit fetcher by itself, for tcgen05.cp: units of a K-major matrix, `used` bytes of each 16 checked for
 * poison. */
bool tc_fetch_units(struct cta *cta, const struct mach_origin *origin, const char *matrix, const struct tc_desc *d,
                    uint32_t rows, uint32_t chunks, uint32_t used, uint8_t *raw);

/* --- vector units (tc_gather.c) --- */

/* Shared-memory offsets of the operand's units, line by line. */
void tc_locate(enum tc_simd simd, const struct tc_desc *d, const struct tc_operand *o, uint32_t *off);
/* Smallest and largest of off[0 .. count). */
void tc_span(enum tc_simd simd, const uint32_t *off, uint32_t count, uint32_t *low, uint32_t *high);
/* tc_decode of 16-bit elements straight out of shared memory, `rows` a multiple of 8, of panels of 16. AVX-512. */
void tc_gather_groups(const struct tc_operand *o, const uint8_t *smem, const struct tc_groups *g, float *out);
/* tc_decode straight out of shared memory. False: no vector unit for this type here, nothing done. */
bool tc_gather(enum tc_simd simd, const struct tc_operand *o, const uint8_t *smem, const uint32_t *off, float *out);

#endif
