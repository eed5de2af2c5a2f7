/* raster.h - the order in which tiles of D are made: from a work item's number to its place in D. Host and device.
 *
 * Items that run at the same time should share rows of A and columns of B while those are in L2. So tiles are taken in
 * groups of some rows: down a column of the group, then its next column, then the next group, then the next matrix:
 *
 *     0  2  4  6          groups of 2 rows in 3 x 4 tiles
 *     1  3  5  7
 *     8  9 10 11
 */
#ifndef STEP05_RASTER_H
#define STEP05_RASTER_H

#include <stdint.h>

/* Division by a number that is known before the kernel starts, as a multiplication and a shift: floor(n / d) =
 * n * multiplier >> shift for n < 2^31, with shift = 31 + ceil(log2 d), multiplier = ceil(2^shift / d) < 2^32. The
 * multiplier exceeds 2^shift / d by less than 1, so the product is too large by less than n / 2^shift, which is less
 * than the 1 / d that would reach the next integer. A division in hardware would be some 30 instructions. */
struct divisor {
    uint32_t d, multiplier, shift;
};

static inline struct divisor divisor_make(uint32_t d) {
    struct divisor v = {.d = d, .shift = 31};
    while ((uint64_t)1 << (v.shift - 31) < d)
        v.shift++;
    v.multiplier = (uint32_t)((((uint64_t)1 << v.shift) + d - 1) / d);
    return v;
}

static inline __host__ __device__ uint32_t divide(struct divisor v, uint32_t n) {
    return (uint32_t)((uint64_t)n * v.multiplier >> v.shift);
}

struct raster {
    uint32_t tiles_m, tiles_n;
    struct divisor matrix;          /* tiles of a matrix */
    struct divisor group;           /* tiles of a group */
    struct divisor rows, last_rows; /* rows of tiles in a group, and in the last one, which may have fewer */
};

struct raster_tile {
    uint32_t m, n, matrix; /* row and column, in tiles */
};

/* tiles_m * tiles_n * batch must be less than 2^31. */
static inline struct raster raster_make(uint32_t tiles_m, uint32_t tiles_n, uint32_t rows) {
    rows = rows < tiles_m ? rows : tiles_m;
    return (struct raster){
        .tiles_m = tiles_m,
        .tiles_n = tiles_n,
        .matrix = divisor_make(tiles_m * tiles_n),
        .group = divisor_make(rows * tiles_n),
        .rows = divisor_make(rows),
        .last_rows = divisor_make(tiles_m % rows ? tiles_m % rows : rows),
    };
}

static inline __host__ __device__ struct raster_tile raster_tile(const struct raster *r, uint32_t item) {
    struct raster_tile t;
    t.matrix = divide(r->matrix, item);
    const uint32_t in_matrix = item - t.matrix * r->matrix.d, group = divide(r->group, in_matrix);
    const uint32_t in_group = in_matrix - group * r->group.d, first = group * r->rows.d;
    const struct divisor rows = first + r->rows.d <= r->tiles_m ? r->rows : r->last_rows;
    t.n = divide(rows, in_group);
    t.m = first + in_group - t.n * rows.d;
    return t;
}

#endif
