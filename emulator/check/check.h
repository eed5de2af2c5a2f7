/* check/check.h - the check of order.
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

/* The listener, to be attached to that GPU. */
struct listener check_race(struct gpu *gpu);
/* Attaches one. */
void check_attach(struct gpu *gpu);

#endif
