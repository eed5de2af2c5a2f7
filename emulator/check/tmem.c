/* check/tmem.c - tensor memory that is given on or given back too early.
 *
 * A tcgen05.ld reads its cells some time before tcgen05.wait::ld is passed (PTX ISA 9.7.16.8.5). A thread that uses a
 * loaded register waits for that load (9.7.16.6.4.5), but one that tells others to go on must have passed the wait. The
 * CTAs of a pair deallocate together (9.7.16.7.1): from when one of them has executed its tcgen05.dealloc, nothing may
 * use the columns.
 */
#include "check/check.h"

struct watch {                                              /* one CTA */
    uint32_t loads[MACH_MAX_WARPS];                         /* tcgen05.ld issued and not waited for */
    struct event_life closing[TMEM_COLUMNS / TMEM_GRANULE]; /* a pair's half done deallocations */
    uint32_t num_closing;
};

static const struct diag not_waited = {
    .id = "tcgen05-ld-not-waited",
    .rule = "using a register of a tcgen05.ld waits for its value, but only tcgen05.wait::ld says that the "
            "cells have been read",
    .section = "PTX ISA 9.7.16.6.4.5, 9.7.16.8.5",
    .hint = "put tcgen05.wait::ld.sync.aligned between the loads and what tells others to go on: without "
            "it a later tcgen05.mma or tcgen05.dealloc may overtake a load. It mostly loses the race, so "
            "it works by luck on most runs",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

/* Threads let somebody overwrite or free what their loads read. */
static void tells_others(const struct listener *self, const struct event_by *by) {
    struct watch *w = *event_watch(self, by->cta);
    if (!w || by->op || by->warp >= MACH_MAX_WARPS || !w->loads[by->warp])
        return;
    const struct mach_origin origin = event_origin(by);
    mach_warn(by->cta->island, &origin, &not_waited, "%u tcgen05.ld of this warp have not been waited for",
              w->loads[by->warp]);
    w->loads[by->warp] = 0; /* said once */
}

static void sync(const struct listener *self, const struct event_sync *e) {
    struct watch *w = *event_watch(self, e->by.cta);
    switch (e->kind) {
    case SYNC_TCGEN05_LD:
        w = check_watch(self, e->by.cta, sizeof *w);
        w->loads[e->by.warp]++;
        break;
    case SYNC_TCGEN05_WAIT_LD:
        if (w)
            w->loads[e->by.warp] = 0;
        break;
    case SYNC_BAR_ARRIVE:
    case SYNC_CLUSTER_ARRIVE:
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
    case SYNC_TCGEN05_FENCE_BEFORE:
        tells_others(self, &e->by);
        break;
    default:
        break;
    }
}

static const struct diag closing = {
    .id = "tcgen05-pair-dealloc-early",
    .rule = "the CTAs of a pair must synchronise their accesses to tensor memory before either of them "
            "attempts to deallocate it",
    .section = "PTX ISA 9.7.16.7.1",
    .hint = "barrier.cluster.arrive and .wait by both CTAs after their last access, then tcgen05.dealloc",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

static void access(const struct listener *self, const struct event_access *e) {
    const struct watch *w = *event_watch(self, e->owner);
    const uint32_t column = (uint32_t)e->at[0];
    for (uint32_t i = 0; e->doubt == DOUBT_CLOSING && w && i < w->num_closing; i++) {
        const struct event_life *c = &w->closing[i];
        if (column >= c->column + c->columns || c->column >= column + e->columns)
            continue;
        const struct mach_origin origin = event_origin(&e->by);
        char where[600];
        mach_warn(e->owner->island, &origin, &closing,
                  "%s uses columns %u to %u of cluster CTA %u; CTA %u has already executed the pair's "
                  "tcgen05.dealloc, at %s",
                  e->what, column, column + e->columns - 1, e->owner->rank, c->by.cta->rank,
                  diag_where(c->by.site, where, sizeof where));
        return;
    }
}

static void forget(struct watch *w, uint32_t column) {
    for (uint32_t i = 0; w && i < w->num_closing; i++)
        if (w->closing[i].column == column)
            w->closing[i--] = w->closing[--w->num_closing];
}

static void life(const struct listener *self, const struct event_life *e) {
    struct watch *w;
    switch (e->kind) {
    case LIFE_TMEM_CLOSING:
        if (e->owner == e->by.cta)
            tells_others(self, &e->by);
        w = check_watch(self, e->owner, sizeof *w);
        w->closing[w->num_closing++] = *e;
        break;
    case LIFE_TMEM_DEALLOC:
        if (e->owner == e->by.cta)
            tells_others(self, &e->by);
        forget(*event_watch(self, e->owner), e->column);
        break;
    case LIFE_CTA_END:
        check_forget(self, e->owner);
        break;
    default:
        break;
    }
}

struct listener check_tmem(void) {
    return (struct listener){.name = "tensor memory",
                             .wants = WANT_DOUBT | WANT_MBARRIER | WANT_BARRIER | WANT_FENCE | WANT_LIFE,
                             .access = access,
                             .sync = sync,
                             .life = life};
}
