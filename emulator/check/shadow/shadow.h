/* check/shadow/shadow.h - the shadow: what memory remembers of the accesses to it.
 *
 * Every access is compared with what the shadow remembers of the same bytes. If the two conflict, check/verdict/ says
 * whether they are ordered; if they are not, it is reported. Then the access itself is remembered, until an access that
 * is ordered behind it takes its place.
 *
 *   shared memory   accesses of threads by words of 4 bytes (stamps.c), of operations by what they touch (spans.c)
 *   tensor memory   columns and lanes that operations touch (columns.c); what tcgen05.mma adds up there (sums.c)
 *   global memory   runs of bytes, or sectors of 32, for all clusters of a launch (global.c, cells.c, pages.c)
 *
 * What takes too much memory is forgotten (report/bounds.h): then a race may be missed, but none is invented.
 */
#ifndef CHECK_SHADOW_SHADOW_H
#define CHECK_SHADOW_SHADOW_H

#include "check/know/cluster.h"

struct shadow; /* of a cluster's memories, from its start to its end */
struct cells;  /* of global memory, from the start of a launch to its end */

struct cells *cells_new(struct gpu *gpu);
void cells_free(struct cells *c);

/* `global`: of the launch; NULL: global memory is not checked. */
struct shadow *shadow_new(struct race *r, struct cells *global);
void shadow_free(struct shadow *s);

/* Memory is accessed; `n` is the note of the operation that does it, or NULL: threads do. */
void shadow_access(struct shadow *s, const struct event_access *e, struct note *n);
/* An operation has been issued: from now on it may read and write what `op` names. */
void shadow_issued(struct shadow *s, struct note *n, const struct async_op *op);
/* LIFE_TMEM_*: columns are allocated or given back; LIFE_HEAP_ALLOC: the device's malloc gives memory. */
void shadow_life(struct shadow *s, const struct event_life *e);

#endif
