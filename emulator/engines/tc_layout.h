/* engines/tc_layout.h - the data-path layouts: where matrix D of tcgen05.mma lies in tensor memory (PTX ISA
 * 9.7.16.10.5; the figures' facts from CUTLASS mma_traits_sm100_frag.hpp).
 *
 * Each CTA of the operation has M / cta_group rows. They take its lanes in order, 16 at a time: one behind the other,
 * or every other 16 lanes (layout F: 16-31 of each 32 are free, and taken instead when the address says lane 16).
 * Columns are those of D, or half of them, and then n >= N / 2 lies in the same columns 64 lanes further (layout B,
 * "2x2"). Element (row, n) is a whole cell. A in tensor memory has the lanes of D; in layout B its rows stand twice, in
 * lanes 0-63 and 64-127 (CUTLASS's "duplicated" allocation).
 */
#ifndef ENGINES_TC_LAYOUT_H
#define ENGINES_TC_LAYOUT_H

#include <stdint.h>

struct tc_layout {
    uint32_t m, group; /* of the operations that have it */
    uint32_t rows;     /* of D in each CTA */
    uint32_t halves;   /* of N that share the columns: 1 or 2 */
    uint32_t stride;   /* lanes from 16 rows to the next 16 */
};

/* Layouts D, F, A and B; NULL: there is no such operation. */
const struct tc_layout *tc_layout_of(uint32_t m, uint32_t group);

/* CTA of the pair, lane (at an address with lane 0) and column, counted from D's first. */
struct tc_place {
    uint32_t cta, lane, column;
};
/* Of element (row, column) of a D with n columns. */
struct tc_place tc_layout_place(const struct tc_layout *l, uint32_t n, uint32_t row, uint32_t column);
/* The row, counted from the CTA's first, that a lane holds. */
uint32_t tc_layout_row(const struct tc_layout *l, uint32_t lane);

#endif
