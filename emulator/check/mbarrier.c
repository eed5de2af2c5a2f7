/* check/mbarrier.c - are mbarriers known to the other CTAs before these use them, and is every byte announced?
 *
 * Publication to the other CTAs of the cluster (PTX ISA 9.7.13.4, 8.9): after mbarrier.init a thread of the CTA
 * executes fence.mbarrier_init or another release at cluster scope, and then a cluster barrier completes.
 */
#include "check/check.h"

#include "base/heap.h"

enum seen { FRESH, RELEASED, PUBLISHED }; /* by the other CTAs */

struct object {
    uint32_t off;
    enum seen seen;
};

struct watch { /* one CTA */
    struct object *objects;
    uint32_t num, cap;
};

static struct watch *make(const struct listener *self, struct cta *cta) {
    return check_watch(self, cta, sizeof(struct watch));
}

static void initialised(struct watch *w, uint32_t off) {
    if (w->num == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 16;
        w->objects = xrealloc_array(w->objects, w->cap, sizeof *w->objects);
    }
    w->objects[w->num++] = (struct object){off, FRESH};
}

static struct object *find(const struct watch *w, uint32_t off) {
    for (uint32_t i = 0; w && i < w->num; i++)
        if (w->objects[i].off == off)
            return &w->objects[i];
    return NULL;
}

/* --- publication -------------------------------------------------------------------------------------------------- */

static const struct diag unpublished = {
    .id = "mbarrier-unpublished",
    .rule = "the other CTAs of the cluster may use an mbarrier once its initialisation is visible to them: "
            "a release at cluster scope after mbarrier.init, and a cluster barrier after that",
    .section = "PTX ISA 9.7.13.4, 9.7.13.3",
    .hint = "fence.mbarrier_init.release.cluster by the thread that initialised, then "
            "barrier.cluster.arrive and .wait by all threads; without them it works on most runs",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

/* All objects of a CTA in state `from` are now in state `to`. */
static void move_on(const struct listener *self, struct cta *cta, enum seen from, enum seen to) {
    const struct watch *w = *event_watch(self, cta);
    for (uint32_t i = 0; w && i < w->num; i++)
        if (w->objects[i].seen == from)
            w->objects[i].seen = to;
}

static bool releases_to_cluster(const struct event_sync *e) {
    if (e->by.order == ORDER_RELAXED || e->by.order == ORDER_ACQUIRE || e->by.scope < SCOPE_CLUSTER)
        return false;
    return e->kind == SYNC_CLUSTER_ARRIVE ||
           (e->kind == SYNC_FENCE &&
            (e->fence == FENCE_MEMORY || e->fence == FENCE_SYNC_RESTRICT || e->fence == FENCE_MBARRIER_INIT));
}

static void used(const struct listener *self, const struct event_sync *e) {
    const struct object *object = e->by.cta == e->owner ? NULL : find(*event_watch(self, e->owner), e->off);
    if (!object || object->seen == PUBLISHED)
        return;
    const struct mach_origin origin = event_origin(&e->by);
    mach_warn(e->by.cta->island, &origin, &unpublished,
              "%s by cluster CTA %u on the mbarrier at shared offset 0x%x of CTA %u: since its mbarrier.init %s",
              e->by.what, e->by.cta->rank, e->off, e->owner->rank,
              object->seen == FRESH ? "no thread of that CTA has executed a release at cluster scope"
                                    : "no cluster barrier has completed");
}

static void sync(const struct listener *self, const struct event_sync *e) {
    switch (e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
    case SYNC_MBAR_EXPECT_TX:
    case SYNC_MBAR_COMPLETE_TX:
    case SYNC_MBAR_PENDING:
        used(self, e);
        break;
    case SYNC_CLUSTER_PHASE:
        for (uint32_t r = 0; r < e->owner->cluster->num_ctas; r++)
            move_on(self, &e->owner->cluster->cta[r], RELEASED, PUBLISHED);
        break;
    default:
        if (releases_to_cluster(e))
            move_on(self, e->owner, FRESH, RELEASED);
        break;
    }
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

static const struct diag unannounced = {
    .id = "mbarrier-bytes-unannounced",
    .rule = "expect_tx announces every byte that the copies of a phase bring to its mbarrier",
    .section = "PTX ISA 9.7.13.15.5, 9.7.13.15.6",
    .hint = "an expect_tx of fewer bytes than all copies bring lets the phase end before the last of them "
            "has landed; count those that other CTAs send, too (of a CTA pair: both halves)",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

/* Warns about bytes that landed on a CTA's mbarrier and that no expect_tx announced. */
static void exits(const struct cta *cta) {
    for (uint32_t i = 0; i < cta->num_mbars; i++) {
        struct mbar_view v;
        if (!mbar_last(cta, i, &v) || v.tx >= 0)
            continue;
        mach_warn(cta->island, NULL, &unannounced,
                  "CTA (%u,%u,%u), rank %u, exits, and the mbarrier at shared offset 0x%x got %d bytes that no "
                  "expect_tx announced",
                  cta->id.x, cta->id.y, cta->id.z, cta->rank, cta->mbars[i].off, (int)-v.tx);
        return;
    }
}

static void life(const struct listener *self, const struct event_life *e) {
    struct watch *w = *event_watch(self, e->owner);
    struct object *object = find(w, e->off);
    switch (e->kind) {
    case LIFE_MBAR_INIT:
        initialised(make(self, e->owner), e->off);
        break;
    case LIFE_MBAR_INVAL:
        if (object)
            *object = w->objects[--w->num];
        break;
    case LIFE_CTA_EXIT:
        exits(e->owner);
        break;
    case LIFE_CTA_END:
        if (w)
            xfree(w->objects);
        check_forget(self, e->owner);
        break;
    default:
        break;
    }
}

struct listener check_mbarrier(void) {
    return (struct listener){.name = "mbarriers",
                             .wants = WANT_MBARRIER | WANT_BARRIER | WANT_FENCE | WANT_LIFE,
                             .sync = sync,
                             .life = life};
}
