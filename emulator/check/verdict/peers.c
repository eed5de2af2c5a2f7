/* check/verdict/peers.c - is the CTA known to run, before its shared memory is accessed? Contract in peers.h. */
#include "check/verdict/peers.h"

DIAG(not_started) = {
    DIAG_HEAD(WARNING, "shared-peer-not-started", "5.1.7, 9.7.13.3"),
    .rule = "shared memory belongs to a running CTA. Other CTAs of the cluster may access it only when they know that "
            "this CTA has started",
    .hint = "Add a cluster barrier (cluster.sync(), or barrier.cluster.arrive.relaxed and .wait) between the start of "
            "the kernel and the first access to another CTA's memory. A barrier after the access comes too late",
    .reason = "the CTAs of a cluster usually start together. If one is late, its memory is not there yet. The CUDA C++ "
              "Programming Guide (Distributed Shared Memory) asks for the barrier.",
    .by_site = true,
};

/* Does the clock know any act of a thread of the CTA? */
static bool knows_of(const struct race *r, const struct vclock *known, const struct cta *cta) {
    for (uint32_t i = 0; i < r->warps_each; i++)
        if (vclock_knows_any(known, race_warp(r, cta, i), UINT32_MAX, 1))
            return true;
    return false;
}

/* Those of the lanes that do not know that the CTA runs. */
static uint32_t lanes_early(const struct race *r, const struct warp_watch *w, uint32_t lanes, const struct cta *cta) {
    uint32_t early = 0;
    for (uint32_t i = 0; i < w->num_strands; i++)
        if (w->strand[i].lanes & lanes && !knows_of(r, w->strand[i].k.now[LAYER_RAN], cta))
            early |= w->strand[i].lanes & lanes;
    return early;
}

/* Is it a copy, or the answer of clusterlaunchcontrol? The tensor core needs no check: it accesses only the CTA of its
 * pair, and both have met in tcgen05.alloc.cta_group::2 (9.7.16.7.1). */
static bool is_copy(const struct note *n) {
    return n->agent == AGENT_TMA || n->agent == AGENT_BULK || n->agent == AGENT_CP_ASYNC || n->agent == AGENT_CLC;
}

/* Does the copy signal, and has the CTA an unpublished mbarrier? Then mbarrier-unpublished reports that mistake. */
static bool is_told_of_mbarrier(struct race *r, const struct note *n, const struct cta *peer) {
    const struct mbars *b = &race_cta(r, peer)->mbars;
    for (uint32_t i = 0; n && n->signals && i < b->num; i++)
        if (b->list[i].published != MBAR_PUBLISHED)
            return true;
    return false;
}

void verdict_peer(struct race *r, const struct event_access *e, const struct note *n) {
    const struct cta *peer = e->owner;
    if (!(n ? is_copy(n) : e->agent == AGENT_THREAD))
        return;
    const uint32_t warp = n ? n->warp : race_warp_of(r, &e->by);
    struct warp_watch *w = &r->warps[warp];
    if (w->peers >> peer->rank & 1)
        return;
    struct event_by by = e->by;
    if (n ? knows_of(r, n->now[LAYER_RAN], peer) : !(by.lanes = lanes_early(r, w, e->by.lanes, peer))) {
        w->peers |= 1u << peer->rank;
        return;
    }
    if (is_told_of_mbarrier(r, n, peer))
        return;
    const struct mach_origin origin = n ? n->origin : event_origin(&by);
    mach_warn(r->island, &origin, &not_started, "%s accesses memory of cluster CTA %u, which may not have started",
              e->by.what ? e->by.what : "an access", peer->rank);
}
