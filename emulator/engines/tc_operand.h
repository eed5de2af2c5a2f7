/* engines/tc_operand.h - matrices A and B on their way into the multiplier: fetched, checked and decoded to
 * f32.
 *
 * Every kind without block scaling takes 32 bytes of each row along K (16 elements of 16 bits, 8 of 32, 32 of
 * 8), so a matrix is rows * 2 units of 16 bytes in shared memory, or rows * 8 cells in tensor memory.
 */
#ifndef ENGINES_TC_OPERAND_H
#define ENGINES_TC_OPERAND_H

#include "engines/tc_desc.h"
#include "simd/amx.h"

struct tc_operand {
    const char *matrix; /* "A" or "B" */
    enum tc_elem elem;
    uint32_t rows, k; /* rows along M or N */
    bool mn_major;
    const struct event_rows *of_a; /* of matrix A, but for what depends on how it lies; NULL: another */
    bool panels;               /* element (row, k) goes to out[simd_tile_a(row, k)], else to out[simd_tile_b(row, k)] */
    struct simd_amx *tiles;    /* or, if not NULL, into these, */
    uint32_t tile_row, tile_k; /* from here on */
    uint64_t *sum;             /* its bytes in shared memory are added to this checksum, or NULL */
};
/* A checksum that goes on from `sum`. */
uint64_t tc_sum(uint64_t sum, const uint8_t *bytes, size_t n);

/* A shared-memory descriptor, decoded, of an operand. A pair's operands have the same one in both CTAs. */
struct tc_source {
    uint64_t bits;
    uint32_t rows; /* 0: none */
    enum tc_elem elem;
    bool mn_major;
    struct tc_desc d;
    bool alike;         /* K-major, and all groups of 8 rows are alike, SBO apart: */
    uint32_t units[16]; /* shared offsets of the first group's units, */
    uint32_t low, high; /* the least and the greatest of them */
};

/* Working memory of one operand. */
struct tc_decoder {
    enum simd simd;             /* not SIMD_BEST */
    struct tc_source latest[2]; /* of A and of B */
    uint32_t off[SIMD_MAX_ROWS * SIMD_ROW_BYTES / 16];
    struct simd_decoder work;
};

/* Decodes a shared-memory descriptor, tc_desc_decode, and tells what is wrong with it. False after a fault. *told:
 * there was something wrong. */
bool tc_load_desc(struct island *isl, const struct mach_origin *origin, uint64_t bits, const char *matrix,
                  struct tc_desc *d, bool *told);
/* Takes the operand with the descriptor `bits` out of shared memory and decodes it. Faults on a wrong descriptor, on
 * bytes outside the CTA's shared memory, and on poison, naming row and k. */
bool tc_load_smem(struct tc_decoder *t, struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o,
                  uint64_t bits, float *out);
/* Copies A out of tensor memory, always K-major: row r is lane lane[r / 16] + r % 16, its 32 bytes are 8
 * columns; raw[row][32]. Faults on poison, but where a warp's lanes hold nothing at all and others' do: a kernel of few
 * rows leaves those out, and reads none of their sums. unwritten[]: these lanes, bit per lane. */
bool tc_fetch_tmem(struct cta *cta, const struct mach_origin *origin, const struct tc_operand *o, uint32_t column,
                   const uint32_t *lane, uint32_t unwritten[4], uint8_t *raw);
/* Decodes t->work.raw[row][32], which came from tensor memory. */
void tc_decode_tmem(struct tc_decoder *t, const struct tc_operand *o, float *out);
/* Scale factors of `rows` rows, `factors` to each, decoded: out[row][factors] (tc_scale.c). Row r lies in lane r % 32
 * of each of the partitions [first, first + count) of 32 lanes, in column r / 32 after `taddr`, from byte `id` of the
 * cell on (the figures' facts from CUTLASS mma_traits_sm100_frag.hpp). The copies must be equal (9.7.16.10.7). Bits 30
 * and 31 of taddr, in which CUTLASS keeps the ID, are not looked at. */
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

#endif
