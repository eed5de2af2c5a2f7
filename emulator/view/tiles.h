/* view/tiles.h - which tile of D each tcgen05.mma of a cluster works on.
 *
 * A tile begins with a tcgen05.mma that does not accumulate, behind one of the same CTA that does or at the start
 * (trace/record.h); each CTA counts its own, from 0.
 */
#ifndef VIEW_TILES_H
#define VIEW_TILES_H

#include "trace/log.h"

#define TILES_NONE UINT32_MAX

/* By operation, number - 1; TILES_NONE for what is no tcgen05.mma. To be freed with xfree. */
uint32_t *tiles_of(const struct trace_cluster *c);

#endif
