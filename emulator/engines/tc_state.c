/* engines/tc_state.c - the tcgen05 state of a CTA, from its first instruction to its exit, and its peer (PTX
 * ISA 9.7.16.5, 9.7.16.7.1).
 */
#include "engines/tc.h"

#include "base/fatal.h"
#include "base/heap.h"

DIAG(missing_dealloc) = {
    DIAG_HEAD(ERROR, "tcgen05-dealloc-missing", "9.7.16.7.1"),
    .rule = "a kernel must deallocate all tensor memory that it allocates before it exits",
    .hint = "Let one warp execute tcgen05.dealloc, with the same address and number of columns, before the CTA exits",
    .reason = "the columns stay taken, and a later CTA of the SM may wait for them for ever.",
};
DIAG(mixed_groups) = {
    DIAG_FAULT(INVALID_PTX, "tcgen05-cta-group-mixed", "9.7.16.7.1"),
    .rule = "all tcgen05 instructions of a kernel must have the same .cta_group",
    .hint = "Choose .cta_group::1 or ::2 for the whole kernel: alloc, dealloc, mma, cp and commit",
    .reason = "the ISA leaves the behaviour undefined.",
};
DIAG(no_peer) = {
    DIAG_HEAD(ERROR, "tcgen05-pair-missing", "9.7.16.5.1"),
    .rule = "an instruction with .cta_group::2 needs the peer CTA, whose %cluster_ctarank differs in the "
            "last bit",
    .hint = "Launch the kernel with clusters of an even number of CTAs",
    .reason = "half of the operation has no memory to work in.",
};
DIAG(peer_exited) = {
    DIAG_HEAD(ERROR, "tcgen05-pair-exited", "9.7.16.5"),
    .rule = "when a CTA issues an instruction with .cta_group::2, its peer must be running, and must not exit before "
            "the instruction has completed",
    .hint = "Let each CTA of a pair wait, with barrier.cluster or an mbarrier, until the pair's last instruction is "
            "done before it exits",
    .reason = "half of the operation has no memory to work in.",
};

struct tc_state *tc_state_of(struct cta *cta) {
    if (!cta->tc) {
        cta->tc = xcalloc(1, sizeof *cta->tc);
        cta->tc->cta = cta;
    }
    return cta->tc;
}

struct async_queue *tc_queue(struct cta *cta) {
    struct tc_state *tc = tc_state_of(cta);
    if (!tc->queue)
        tc->queue = async_queue_create(cta, "tensor core");
    return tc->queue;
}

bool tc_use_group(struct cta *cta, const struct mach_origin *origin, unsigned group) {
    struct tc_state *tc = tc_state_of(cta);
    if (tc->cta_group && tc->cta_group != group)
        return mach_fails(cta->island, origin, &mixed_groups,
                          "this instruction has .cta_group::%u, an earlier one .cta_group::%u", group, tc->cta_group);
    tc->cta_group = group;
    return true;
}

bool tc_pair(struct cta *cta, const struct mach_origin *origin, unsigned group, const char *name, struct cta *pair[2]) {
    pair[0] = cta;
    pair[1] = NULL;
    if (group == 1)
        return true;
    struct cta *peer = cta_peer(cta);
    if (!peer)
        return mach_fails(cta->island, origin, &no_peer,
                          "%s.cta_group::2 in CTA %u of a cluster of %u: CTA %u does not exist", name, cta->rank,
                          cta->cluster->num_ctas, cta->rank ^ 1);
    if (!peer->live_warps)
        return mach_fails(cta->island, origin, &peer_exited,
                          "%s.cta_group::2 of cluster CTA %u, whose peer, CTA %u, has exited", name, cta->rank,
                          peer->rank);
    pair[0] = cta->rank & 1 ? peer : cta;
    pair[1] = cta->rank & 1 ? cta : peer;
    if (pair[0]->sm == pair[1]->sm)
        fatal_broken("both CTAs of a pair are on SM %u", cta->sm->id);
    return true;
}

bool tc_cta_exit(struct cta *cta) {
    struct tc_state *tc = cta->tc;
    if (!tc)
        return true;
    tc_give_up_permit(tc);
    if (!tc->num_allocs)
        return true;
    const struct tc_allocation a = tc->allocs[0];
    mach_fault(cta->island, &a.origin, &missing_dealloc,
               "the CTA exited without tcgen05.dealloc of the %u columns at 0x%08x that were allocated here", a.columns,
               a.column);
    tc_free_blocks(tc);
    return false;
}

void tc_cta_release(struct cta *cta) {
    if (!cta->tc)
        return;
    tc_drop(cta);
    tc_free_blocks(cta->tc); /* a launch that failed */
    tc_give_up_permit(cta->tc);
    xfree(cta->tc);
    cta->tc = NULL;
}
