/* check/check.h - the check of order.
 *
 * An instruction or an engine reports what is illegal in itself (an operand, a state, a limit) where it runs. This
 * folder reports, from the events alone, what is wrong only because nothing orders it with the act of another agent.
 * That is a warning by default, and the kernel goes on. If it cannot go on, because bytes are still in flight or a CTA
 * has exited, the instruction or the engine faults and names the missing order: tcgen05-smem-in-flight, ...-cta-exited.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "machine/events.h"

/* The listener for that GPU; events_attach takes it. */
struct listener check_race(struct gpu *gpu);
/* Makes one and attaches it. */
void check_attach(struct gpu *gpu);

#endif
