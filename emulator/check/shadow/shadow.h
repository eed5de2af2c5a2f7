/* check/shadow/shadow.h - the shadow: what memory remembers of the accesses to it.
 *
 * Every access is compared with what the shadow remembers of the same bytes. If the two conflict, check/verdict/ says
 * whether they are ordered; if not, it is reported. Then the access itself is remembered, until a later access that is
 * ordered after it replaces it.
 *
 *   shared memory   accesses of threads by words of 4 bytes (stamps.c, epochs.c), of operations by spans (spans.c);
 *                   operations are compared with threads in operations.c
 *   tensor memory   columns and lanes that operations access (columns.c); the sums of tcgen05.mma there (sums.c)
 *   global memory   runs of bytes, or sectors of 32, for all clusters of a launch (global.c, cells.c, pages.c)
 *
 * If it takes too much memory, some of it is forgotten (report/bounds.h): then a race may be missed, but none is
 * invented.
 */
#ifndef CHECK_SHADOW_SHADOW_H
#define CHECK_SHADOW_SHADOW_H

#include "check/know/cluster.h"

struct shadow; /* of a cluster's shared and tensor memory, from its start to its end */
struct cells;  /* of global memory, from the start of a launch to its end */

struct cells *cells_new(struct gpu *gpu);
void cells_free(struct cells *c);

/* `global`: of the launch; NULL: global memory is not checked. */
struct shadow *shadow_new(struct race *r, struct cells *global);
void shadow_free(struct shadow *s);

/* On an access to memory; `n` is the note of the operation that makes it, or NULL: threads do. */
void shadow_access(struct shadow *s, const struct event_access *e, struct note *n);
/* The same in its short form (enum event_halves), by default checks. False: perhaps it is not in order. */
bool shadow_halves(struct shadow *s, const struct cta *cta, const struct diag_site *site, uint32_t first,
                   uint32_t second, uint32_t how);
/* The same for a matrix (enum event_matrix), whose last access is now. Returns how many of its accesses are in order,
 * of which the first ones. */
uint32_t shadow_matrix(struct shadow *s, const struct cta *cta, const struct diag_site *site, const uint64_t row[8],
                       uint32_t how);
/* At the issue of an operation: from now on it may read and write what `op` names. And before that: fetches what is
 * remembered there, which may have left the cache. */
void shadow_expect(const struct shadow *s, const struct async_op *op);
void shadow_issued(struct shadow *s, struct note *n, const struct async_op *op);
/* On SYNC_BAR_*: a barrier of the CTA orders what its threads did. */
void shadow_sync(struct shadow *s, const struct event_sync *e);
/* On LIFE_TMEM_* (columns are allocated or freed) and LIFE_HEAP_ALLOC (the device's malloc). */
void shadow_life(struct shadow *s, const struct event_life *e);

#endif
