/* check/landing.c - does a thread read shared memory that a copy is still writing?
 *
 * The bytes that a copy will write count as never written until it has run (machine/async.h: async_lands), so a load of
 * them is told with a doubt; whether a copy is on its way there the queues say.
 */
#include "check/check.h"

static const struct diag landing = {
    .id = "shared-load-in-flight",
    .rule = "the destination of an asynchronous copy may be read once the phase of the mbarrier that it "
            "signals has completed",
    .section = "PTX ISA 9.7.9.25.1, 9.7.13.15.5",
    .hint = "no wait for the copy's mbarrier, or for the wrong parity; an expect_tx of fewer bytes than "
            "all copies bring; or the copy did not wait until what it overwrites had been read",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

static void access(const struct listener *self, const struct event_access *e) {
    (void)self;
    if (e->doubt != DOUBT_UNWRITTEN || !e->by.cta->island->async_pending)
        return;
    for (uint32_t m = e->by.lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const struct async_op *op = async_landing(e->owner, (uint32_t)e->at[l], e->size);
        if (!op)
            continue;
        struct event_by by = e->by;
        by.lanes = 1u << l;
        const struct mach_origin origin = event_origin(&by);
        char where[600];
        mach_warn(by.cta->island, &origin, &landing,
                  "lane %u reads shared offset 0x%x, which is being written by %s, issued by cluster CTA %u at %s", l,
                  (uint32_t)e->at[l], op->name, op->cta->rank, diag_where(op->origin.site, where, sizeof where));
        return;
    }
}

struct listener check_landing(void) {
    return (struct listener){.name = "loads of what is on its way", .wants = WANT_DOUBT, .access = access};
}
