/* check/check.h - listeners that look for broken ordering rules.
 *
 * What is illegal in itself (an operand, a state, a limit) the instruction or the engine reports where it runs; what is
 * wrong only because nothing orders it with what another agent does is reported here, from the events alone: by default
 * a warning, and the kernel goes on. Where it cannot, because what it needs is not there (bytes that a copy is still
 * writing, the memory of a CTA that has exited), the instruction or the engine faults and names the missing order as
 * the cause: tcgen05-smem-in-flight, ...-cta-exited.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "machine/events.h"

/* Attaches all of them, in the order in which they report. */
void check_attach(struct gpu *gpu);

/* Accesses that nothing orders: check/race.h. */
struct listener check_race(void);
/* Tensor memory used while the pair gives it back. */
struct listener check_tmem(void);
/* An mbarrier used by another CTA before it was published; bytes that no expect_tx announced. */
struct listener check_mbarrier(void);

/* What a listener keeps for a CTA: `size` zeroed bytes, made at the first call and freed by check_forget. */
void *check_watch(const struct listener *self, struct cta *cta, size_t size);
void check_forget(const struct listener *self, struct cta *cta);

#endif
