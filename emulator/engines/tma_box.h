/* engines/tma_box.h - where the bytes of a tensor copy's box are, in shared and global memory. Only for tma_tile.c. */
#ifndef ENGINES_TMA_BOX_H
#define ENGINES_TMA_BOX_H

#include "engines/tma.h"
#include "simd/swizzle.h"

/* A box and its map as it was read, laid out. */
struct tile {
    struct tma_box box;
    struct tmap m;
    const char *why;               /* the map is refused, or NULL */
    bool laid;                     /* false: tile_fits() will refuse the box, and what follows tells nothing */
    uint32_t count[TMAP_MAX_RANK]; /* elements along each dimension; [0] is not used */
    uint64_t rows;
    uint32_t planes; /* runs of rows along dimension 1; gather4 and scatter4: a plane each */
    uint32_t plane_rows;
    uint32_t lo, hi; /* bytes [lo, hi) of every row lie inside the tensor along dimension 0 */
    uint32_t inner;  /* bytes of a row in global memory */
    uint32_t width;  /* bytes of a row in shared memory */
    uint32_t pitch;  /* bytes from a row to the next in shared memory */
    uint32_t unit;   /* bytes of global memory in 16 bytes of shared memory: less with the padded types */
    struct simd_swizzle swizzle;
};

/* Rows [in, out) of a plane lie inside the tensor. Row in's byte t->lo is at `addr`, and from row to row it is `stride`
 * further. A plane whose rows have no byte inside has in == out. */
struct plane {
    uint32_t in, out;
    uint64_t addr, stride;
};

/* Reads the map of the box, as it is now, and lays out the box. `w`: of the thread that asks. */
void tile_read(struct worker *w, const struct tma_box *box, struct tile *t);
/* Is the box one that the unit copies? False after a fault. */
bool tile_fits(const struct async_op *op, const struct tile *t);
/* May a store write the box? False after a fault. */
bool tile_check_store(const struct async_op *op, const struct tile *t);
struct plane tile_plane(const struct tile *t, uint32_t p);

static inline uint64_t tile_bytes(const struct tile *t) { return t->rows * t->pitch; }

/* Bytes of shared memory from the box's address that it can touch: a swizzle stays inside lines of 128 bytes. */
static inline uint64_t tile_extent(const struct tile *t) {
    return t->m.swizzle == TMAP_SWIZZLE_NONE ? tile_bytes(t) : (tile_bytes(t) + 127) & ~UINT64_C(127);
}

/* Does the box fill all of [0, tile_bytes)? */
static inline bool tile_dense(const struct tile *t) {
    return t->width == t->pitch && (t->m.swizzle == TMAP_SWIZZLE_NONE || tile_bytes(t) % 128 == 0);
}

/* Bytes of shared memory that the box takes without a gap; 0 where there are gaps, or it will be refused. */
static inline uint64_t tile_whole(const struct tile *t) { return t->laid && tile_dense(t) ? tile_bytes(t) : 0; }

#endif
