/* engines/tma.h - bulk and tensor copies between global and shared memory, seen from one CTA (PTX ISA 9.7.9.25.4,
 * 9.7.9.27).
 *
 * The executor decodes instructions and calls tma_issue_*. What can be judged then (alignment, which CTA a barrier lies
 * in, multicast masks) faults at once; everything else happens when the operation runs: it reads the tensor map, moves
 * the data and signals. Copies have no order among themselves. A multicast is one operation per destination CTA. A
 * store is two: one reads shared memory, one writes global memory, so that cp.async.bulk.wait_group.read can come
 * between them. Functions that return bool return false after mach_fault.
 *
 * Shared addresses are those of machine.h: rank << 24 | offset.
 */
#ifndef ENGINES_TMA_H
#define ENGINES_TMA_H

#include "engines/tensormap.h"
#include "machine/async.h"
#include "machine/machine.h"
#include "num/num.h"

#include <stdbool.h>
#include <stdint.h>

enum tma_element {
    TMA_E_NONE,
    TMA_E_U32,
    TMA_E_S32,
    TMA_E_U64,
    TMA_E_S64,
    TMA_E_F16,
    TMA_E_BF16,
    TMA_E_F32,
    TMA_E_F32_FTZ, /* subnormals in and out are flushed */
    TMA_E_F64,
    TMA_E_B32,
    TMA_E_B64
};

/* Operations of one bulk group that are not finished: the issuing thread waits for zeros. Must live until both are. */
struct tma_track {
    uint32_t reading; /* have not read their sources */
    uint32_t writing; /* are not complete */
    bool committed;
};

/* The box of a tensor copy. `map` must stay readable until the operation has run. */
struct tma_box {
    const uint8_t *map;   /* TMAP_BYTES */
    uint64_t map_address; /* in global memory; 0: a kernel parameter */
    uint32_t rank;        /* .dim of the instruction */
    bool rows4;           /* .tile::gather4, .tile::scatter4: coord is x, y0 .. y3 */
    int32_t coord[TMAP_MAX_RANK];
};

/* Where a copy into shared memory goes and whom it tells. */
struct tma_target {
    uint32_t dst, mbar; /* shared addresses */
    unsigned cta_group; /* 1 or 2: where the mbarrier may lie (9.7.9.27.1.2) */
    bool own;           /* .shared::cta: dst lies in the executing CTA */
    bool multicast;
    uint32_t ctas; /* multicast: bit = rank */
};

/* cp.async.bulk.tensor, global to shared. */
bool tma_issue_load(struct cta *cta, const struct mach_origin *origin, const struct tma_box *box,
                    const struct tma_target *to);
/* cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, shared to global. Counts `track` up now and down later. */
bool tma_issue_store(struct cta *cta, const struct mach_origin *origin, const struct tma_box *box, uint32_t src,
                     num_op op, struct tma_track *track);
/* cp.async.bulk, global to shared. */
bool tma_issue_bulk_load(struct cta *cta, const struct mach_origin *origin, uint64_t src, uint32_t size,
                         const struct tma_target *to);
/* cp.async.bulk and cp.reduce.async.bulk, shared::cta to global. `mask`: bytes of every 16 that are copied
 * (.cp_mask). */
bool tma_issue_bulk_store(struct cta *cta, const struct mach_origin *origin, uint64_t dst, uint32_t src, uint32_t size,
                          uint16_t mask, num_op op, enum tma_element type, struct tma_track *track);
/* cp.async.bulk and cp.reduce.async.bulk, shared::cta to the shared memory of another CTA. */
bool tma_issue_bulk_peer(struct cta *cta, const struct mach_origin *origin, uint32_t dst, uint32_t src, uint32_t size,
                         uint32_t mbar, num_op op, enum tma_element type);

/* What a reduction takes the elements of a tensor map's type for. */
enum tma_element tma_element_of(uint32_t type, num_op op);
/* Is this operation defined for the element (tables of 9.7.9.25.4.2; `tensor`: 9.7.9.27.1.3)? */
bool tma_reduce_exists(num_op op, enum tma_element type, bool to_shared, bool tensor);
/* dst[i] = dst[i] op src[i] for `bytes` bytes of elements, each in one step that no other thread can come into; dst is
 * aligned to elements. */
void tma_reduce_bytes(num_op op, enum tma_element type, uint8_t *dst, const uint8_t *src, uint32_t bytes);

#endif
