/* launch/place.h - where CTAs become resident.
 *
 * CTAs spread breadth-first over the SMs, as threads, registers, shared memory and slots allow. The CTAs of a cluster
 * go to one GPC, and its pairs (ranks 2i and 2i + 1) to the two SMs of one TPC, the even rank on the even SM: that is
 * what .cta_group::2 needs. GPC sizes are the configuration's (machine.h).
 */
#ifndef LAUNCH_PLACE_H
#define LAUNCH_PLACE_H

#include "machine/machine.h"

/* What a CTA needs of an SM. */
struct place_needs {
    uint32_t threads, regs, smem; /* regs: 32-bit registers of all its threads; smem: bytes */
};

/* Finds room for all CTAs of a cluster at once and takes it: sms[rank]. False: no room, nothing taken. */
bool place_cluster(struct gpu *gpu, const struct place_needs *n, uint32_t ctas, struct sm *sms[MACH_MAX_CLUSTER]);
/* Frees the room of one CTA. */
void place_leave(struct sm *sm, const struct place_needs *n);
/* How many such clusters an empty GPU holds. */
uint32_t place_capacity(const struct mach_config *config, const struct place_needs *n, uint32_t ctas);

#endif
