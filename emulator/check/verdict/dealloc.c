/* check/verdict/dealloc.c - the rules for a pair's tcgen05.dealloc; contract in dealloc.h. */
#include "check/verdict/dealloc.h"

DIAG(closing) = {
    DIAG_HEAD(WARNING, "tcgen05-pair-dealloc-early", "9.7.16.7.1"),
    .rule = "the CTAs of a pair must synchronise their accesses to tensor memory before either of them deallocates it",
    .hint = "Add barrier.cluster.arrive and .wait in both CTAs after their last access, before tcgen05.dealloc",
    .reason = "if the other CTA is late, its last accesses reach columns that are already given away.",
};

void dealloc_tell_used(const struct event_access *e, uint32_t from, uint32_t to, const struct event_life *l) {
    const struct mach_origin origin = event_origin(&e->by), theirs = event_origin(&l->by);
    mach_warn_pair(e->owner->island, &origin, &theirs, "the pair's tcgen05.dealloc", &closing,
                   "%s uses columns %u to %u of cluster CTA %u after CTA %u's tcgen05.dealloc", e->what, from, to - 1,
                   e->owner->rank, l->by.cta->rank);
}

DIAG(pair_unordered) = {
    DIAG_HEAD(ERROR, "tcgen05-pair-dealloc-unordered", "9.7.16.7.1"),
    .rule = "in a CTA pair, neither CTA may execute tcgen05.dealloc before the other one's tcgen05.alloc: the pair "
            "must synchronise in between",
    .hint =
        "Add a cluster barrier, or an mbarrier on which the peer arrives, between the allocation and the deallocation",
    .reason = "a kernel without this order failed in every run on a B300 (NVIDIA/cutlass#3435).",
};

void dealloc_check_alloc(const struct race *r, const struct event_life *e, const struct pair_alloc *peer) {
    const struct strand *s = &r->warps[race_warp_of(r, &e->by)].strand[0];
    if (e->owner == e->by.cta || vclock_knows_any(s->k.now[LAYER_SEEN], peer->warp, UINT32_MAX, peer->time))
        return;
    const struct mach_origin origin = event_origin(&e->by);
    mach_warn_pair(r->island, &origin, &peer->origin, "tcgen05.alloc of the peer", &pair_unordered,
                   "tcgen05.dealloc by cluster CTA %u, and nothing orders it after the tcgen05.alloc of CTA %u",
                   e->by.cta->rank, e->owner->rank);
}
