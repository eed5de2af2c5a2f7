/* view/names.h - what people call the things in a log: barriers, warps, ranges of shared and tensor memory.
 *
 * A log knows offsets and numbers. The names are in the program's source, whose lines the log names: an mbarrier's in
 * the line that initialises it, a warp's task in the line of the kernel that calls it, a buffer's in the line that
 * fills it. Warps of one number have one name in all CTAs, after the task in which they do most; if that is the same
 * for all numbers, names are numbers. If a file is missing or was changed later, names fall back on offsets and
 * numbers; nothing fails.
 */
#ifndef VIEW_NAMES_H
#define VIEW_NAMES_H

#include "trace/log.h"

/* Bytes of shared memory or columns of tensor memory, [from, to) of a CTA. */
struct names_range {
    uint32_t rank, from, to;
    const char *name; /* "A stage 0" */
};

/* Of a cluster; lives as long as the names of its log. */
struct names_cluster {
    const char **objects;     /* num_objects of them: "full[0]", or "mbarrier 0x418"; no two of a CTA are the same */
    const char **warps;       /* of rank r warp w at r * num_warps + w: "load", or "warp 5" */
    uint32_t ctas, num_warps; /* warps of each CTA that the log tells of */
    struct names_range *smem; /* destinations of copies and sources of bulk stores, by rank and from */
    struct names_range *tmem; /* accumulators, by rank and from */
    uint32_t num_smem, num_tmem;
};

/* Of a log, which is to stay while they are used. newest: seconds since 1970; source files that were changed later are
 * not asked; 0: all are. */
struct names *names_make(const struct trace_log *log, int64_t newest);
void names_free(struct names *names);

/* Warps are called as in `other`, a run of the same kernel beside this one, if it has the cluster; it is to stay while
 * the names are used. A run that ended early has not come to all tasks. */
void names_like(struct names *names, struct names *other);

/* Warps 0, 1, ... of a CTA are called by the words of `list`, with commas between them: for kernels whose lines name no
 * task, as a compiler of Python makes them. Warps behind the last word keep their names; NULL changes none. */
void names_call_warps(struct names *names, const char *list);

/* Of the cluster at log->clusters[cluster]; worked out when it is first asked for. */
const struct names_cluster *names_of(struct names *names, uint32_t cluster);

/* Have all warps the same task? They are called by their numbers then. */
bool names_alike(const struct names *names);

/* "load", or for one of several warps with that name "epilogue 2", or "warp 5"; the unit's name for TRACE_NO_WARP. */
const char *names_warp(const struct names_cluster *n, uint32_t rank, uint32_t warp, char *buf, size_t size);

/* The range that holds `at`, or NULL. */
const struct names_range *names_range_at(const struct names_range *list, uint32_t count, uint32_t rank, uint32_t at);

/* The columns of D of a tcgen05.mma: from its first one to *end, in the tensor memory of each of its CTAs. */
uint32_t names_accumulator(const struct trace_op *op, uint32_t *end);

#endif
