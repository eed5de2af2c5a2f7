/* machine/observer.h - what the machine tells those who watch it: the only view that check/ and trace/ have.
 *
 * An observer is told of accesses and synchronisation as they happen; it reads the machine but never changes it. It
 * reports through mach_warn. Every function may be NULL, and is called by whichever host thread runs the CTA's island.
 * gpu->observer is NULL when nobody watches, and callers test that first, so watching costs nothing when it is off.
 */
#ifndef MACHINE_OBSERVER_H
#define MACHINE_OBSERVER_H

#include "machine/machine.h"

struct observer {
    void *ctx;
    /* Lane l of a warp wrote shared memory [off[l], off[l] + size) of `cta` through the generic proxy, for each in `lanes`;
     * size is not 0. */
    void (*generic_write)(void *ctx, struct cta *cta, const uint32_t off[MACH_WARP], uint32_t size, uint32_t warp,
                          uint32_t lanes, const struct diag_site *site);
    /* Lanes of a warp executed a fence between the generic and the async proxy that covers shared memory. */
    void (*proxy_fence)(void *ctx, struct cta *cta, uint32_t warp, uint32_t lanes);
    /* Threads of the CTA synchronised: a barrier, a cluster barrier, or a phase of an mbarrier completed. */
    void (*sync)(void *ctx, struct cta *cta);
    /* An asynchronous operation reads shared memory through the async proxy. `what` names it: "operand A of
     * tcgen05.mma". */
    void (*async_read)(void *ctx, struct cta *cta, uint32_t off, uint32_t size, const struct mach_origin *reader,
                       const char *what);
    /* Nothing to be said about an asynchronous read inside [off, off + size): async_read need not be called. */
    bool (*settled)(void *ctx, struct cta *cta, uint32_t off, uint32_t size);
    /* The CTA's memory is about to be released. */
    void (*cta_end)(void *ctx, struct cta *cta);
};

#endif
