/* isa/async_group.h - async-groups of a thread (PTX ISA 9.7.9.25.1.1): operations that the thread issued, batched by a
 * commit and awaited by a wait. Bulk operations and cp.async have groups of their own.
 */
#ifndef ISA_ASYNC_GROUP_H
#define ISA_ASYNC_GROUP_H

#include "engines/tma.h"
#include "isa/isa.h"

enum isa_group_kind { ASYNC_BULK, ASYNC_COPY, ASYNC_KINDS };

/* The lanes in whose groups an act of lanes `mask` counts: these, or lane 0 for all. */
uint32_t isa_group_lanes(struct warp *w, enum isa_group_kind kind, uint32_t mask);
/* What lane l's next operation counts itself in: the group that is not committed yet. */
struct tma_track *isa_group_open(struct warp *w, enum isa_group_kind kind, uint32_t l);
/* Commits the open groups of lanes `mask`, empty ones too. */
void isa_group_commit(struct warp *w, const struct insn *in, enum isa_group_kind kind, uint32_t mask);
/* Suspends until all but the `n` latest committed groups of every lane in `mask` have finished (`read`: have read their
 * sources). */
enum warp_status isa_group_wait(struct warp *w, const struct insn *in, uint32_t mask, enum isa_group_kind kind,
                                uint32_t n, bool read);

#endif
