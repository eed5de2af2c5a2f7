/* check/verdict/cause.c - why two accesses are not ordered; contract in cause.h. */
#include "check/verdict/cause.h"

#include <stdio.h>

/* --- who came too early ------------------------------------------------------------------------------------------- */

const struct tell *cause_lane_that_told(const struct race *r, const struct stamp *first, const struct viewer *v) {
    const struct tells *t = &r->warps[first->warp].tells;
    if (!v->note || first->time > v->note->time)
        return NULL;
    for (uint32_t i = t->end > TELLS ? t->end - TELLS : 0; i < t->end; i++) {
        const struct tell *tell = &t->log[i % TELLS];
        if (tell->time > first->time && !(tell->lanes >> first->lane & 1) &&
            vclock_knows_any(v->now[LAYER_SEEN], first->warp, tell->lanes, tell->time))
            return tell;
    }
    return NULL;
}

bool cause_is_ahead(const struct race *r, const struct stamp *first, const struct viewer *v) {
    if (cause_lane_that_told(r, first, v))
        return false;
    const uint32_t before = sites_before(&r->warps[first->warp].sites, first->time);
    return before && viewer_knows_lane(v, LAYER_SEEN, first->warp, first->lane, before);
}

/* --- causes ------------------------------------------------------------------------------------------------------- */

/* Does another thread of the CTA of `warp` know that *d is complete? */
static bool mate_knows(const struct race *r, uint32_t warp, const struct done *d) {
    const uint32_t from = warp - warp % r->warps_each;
    for (uint32_t w = from; w < from + r->warps_each; w++)
        for (uint32_t i = 0; i < r->warps[w].num_strands; i++) {
            const struct viewer mate = {.now = r->warps[w].strand[i].k.now, .warp = w, .time = r->time};
            if (viewer_knows_step(&mate, LAYER_SEEN, d))
                return true;
        }
    return false;
}

/* Has `v` seen an arrival on an mbarrier by another lane of the first thread's warp after the access (`after`), or by
 * the first thread itself before it? */
static bool has_told(const struct race *r, const struct stamp *first, const struct viewer *v, bool after) {
    const struct tells *t = &r->warps[first->warp].tells;
    for (uint32_t i = t->end > TELLS ? t->end - TELLS : 0; i < t->end; i++) {
        const struct tell *tell = &t->log[i % TELLS];
        if ((tell->time > first->time) == after && (tell->lanes >> first->lane & 1) != after &&
            vclock_knows_any(v->now[LAYER_SEEN], first->warp, tell->lanes, tell->time))
            return true;
    }
    return false;
}

/* Has the first thread, a reader, waited for this thread's write of the round before? Then it is this thread that does
 * not wait for the readers. */
static bool never_returns(const struct race *r, const struct stamp *first, const struct viewer *v) {
    const uint32_t before = sites_latest(&r->warps[v->warp].sites, v->by->site, v->time);
    const struct know *reader = &race_strand(r, first->warp, 1u << first->lane)->k;
    return before && vclock_knows_any(reader->now[LAYER_SEEN], v->warp, v->lanes, before);
}

enum cause cause_of_race(const struct race *r, const struct stamp *first, bool wrote, const struct viewer *v,
                         bool writes) {
    const struct done access = {
        .how = DONE_THREAD, .warp = first->warp, .lanes = 1u << first->lane, .time = first->time};
    if (first->warp == v->warp)
        return CAUSE_WARP;
    if (has_told(r, first, v, true))
        return CAUSE_TELLER;
    if (!v->note && mate_knows(r, v->warp, &access) && !race_is_near(r, first->warp, v))
        return CAUSE_WAITER;
    if (!wrote && writes && !v->note && never_returns(r, first, v))
        return CAUSE_RETURN;
    if (!race_is_near(r, first->warp, v))
        return CAUSE_CLUSTER;
    return wrote && !cause_is_ahead(r, first, v) && has_told(r, first, v, false) ? CAUSE_LATE : CAUSE_ANY;
}

enum cause cause_of_copy(const struct race *r, const struct stamp *first, const struct viewer *v) {
    const struct lane_copies *c = r->warps[first->warp].ops.copies;
    c = c ? &c[first->lane] : NULL;
    for (uint32_t i = 0; c && i < COPY_WAITS && i < c->num_waited; i++)
        if (c->waited[i].until >= first->time)
            return c->waited[i].done.how == DONE_THREAD ? CAUSE_WAITER : CAUSE_ANY;
    const bool waited = r->warps[first->warp].ops.group_waited[0] > first->time;
    const bool committed = c && c->groups && c->committed[(c->groups - 1) % COPY_GROUPS] > first->time;
    if (!waited && first->warp != v->warp && r->warps[v->warp].ops.group_waited[0])
        return CAUSE_OWN;
    return !waited ? CAUSE_ANY : committed ? CAUSE_GROUP : CAUSE_COMMIT;
}

enum cause cause_under_way(const struct race *r, const struct stamp *first, const struct viewer *v) {
    const struct stamp copy = {.time = v->time, .warp = first->warp, .lane = first->lane};
    const struct viewer reader = {.warp = first->warp};
    const bool own = v->agent == AGENT_CP_ASYNC && first->warp == v->warp && v->lanes >> first->lane & 1;
    return own ? cause_of_copy(r, &copy, &reader) : CAUSE_ANY;
}

enum cause cause_of_write(const struct race *r, const struct note *n, const struct viewer *v) {
    const uint32_t *waited = r->warps[v->warp].ops.group_waited;
    if (n->written.how != DONE_NOT && mate_knows(r, v->warp, &n->written))
        return CAUSE_WAITER;
    if (cause_stale(r, n, v))
        return CAUSE_PARITY;
    return !v->note && n->signals && (waited[0] > n->time || waited[1] > n->time) ? CAUSE_OTHER_WAIT : CAUSE_ANY;
}

/* Is it this thread's first store at that line, and does the thread not know of the copy's issue? Then the copy came
 * too early. */
static bool comes_first(const struct race *r, const struct note *n, const struct viewer *v) {
    const struct done issue = {.warp = n->warp, .lanes = n->lanes, .time = n->time};
    return v && !v->note && v->warp != n->warp && !viewer_knows_lanes(v, LAYER_RAN, &issue, false) &&
           !sites_latest(&r->warps[v->warp].sites, v->by->site, v->time);
}

enum cause cause_of_read(const struct race *r, const struct note *n, const struct viewer *v) {
    const struct warp_ops *w = &r->warps[n->warp].ops;
    const uint32_t lane = n->lanes ? (uint32_t)__builtin_ctz(n->lanes) : 0;
    if (n->signals)
        return CAUSE_PEER;
    if (n->read.how == DONE_THREAD)
        return CAUSE_WAITER;
    if (comes_first(r, n, v))
        return CAUSE_EARLY;
    if (w->group_waited[1] <= n->time)
        return w->bulk_groups && n->group < w->bulk_groups[lane] ? CAUSE_UNWAITED : CAUSE_ANY;
    return !w->bulk_groups || n->group >= w->bulk_groups[lane] ? CAUSE_COMMIT : CAUSE_GROUP;
}

/* --- mbarriers ---------------------------------------------------------------------------------------------------- */

/* The mbarrier at a shared offset of the CTA with that rank, or NULL. */
static struct mbar_watch *mbar_of(const struct race *r, uint32_t rank, uint32_t off) {
    struct race *mine = (struct race *)(uintptr_t)r; /* only the cache in `mbars` changes */
    return rank < r->cluster->num_ctas ? mbars_find(mine, &r->cluster->cta[rank], off) : NULL;
}

/* Is the poll on the mbarrier that the copy signals, or on which the tcgen05 operation's thread commits? */
static bool tells_of(const struct race *r, const struct poll *p, const struct note *n) {
    if (n->signals)
        return n->mbar_rank == p->rank && n->mbar_off == p->off;
    const struct mbar_watch *m = n->tensor ? mbar_of(r, p->rank, p->off) : NULL;
    return m && m->commit.warp == n->warp && m->commit.lanes & n->lanes;
}

/* The warp's latest poll up to `time` that returned true for the operation's mbarrier: tells_of(). */
static const struct poll *poll_for(const struct race *r, uint32_t warp, uint32_t time, const struct note *n) {
    const struct polls *q = &r->warps[warp].polls;
    for (uint32_t i = q->end; i > (q->end > POLLS ? q->end - POLLS : 0); i--) {
        const struct poll *p = &q->log[(i - 1) % POLLS];
        if (p->time <= time && tells_of(r, p, n))
            return p;
    }
    return NULL;
}

const struct poll *cause_stale(const struct race *r, const struct note *first, const struct viewer *v) {
    const struct poll *p = poll_for(r, v->warp, v->time, first);
    if (p && p->stale)
        return p;
    p = v->note ? poll_for(r, first->warp, first->time, v->note) : NULL;
    return p && p->stale ? p : NULL;
}

void cause_say_stale(const struct poll *p, char *text, size_t size) {
    char where[120];
    snprintf(text, size,
             "the wait at %s asks for a phase of parity %u of the mbarrier at shared offset 0x%x that was over before",
             diag_where(p->site, where, sizeof where), p->parity, p->off);
}

/* The mbarrier of the warp's latest poll, if the latest tcgen05.commit on it is by another thread than the operation's,
 * and that thread had issued nothing. Or NULL. */
static const struct mbar_watch *idle_commit(const struct race *r, const struct note *first, const struct viewer *v) {
    const struct polls *q = &r->warps[v->warp].polls;
    const struct poll *p = q->end ? &q->log[(q->end - 1) % POLLS] : NULL;
    const struct mbar_watch *m = p ? mbar_of(r, p->rank, p->off) : NULL;
    return m && m->commit.idle && (m->commit.warp != first->warp || !(m->commit.lanes & first->lanes)) ? m : NULL;
}

enum cause cause_of_mma(const struct race *r, const struct note *first, const struct viewer *v) {
    const struct done before = {.how = DONE_TOKEN, .token = first->written.token, .step = 1};
    if (cause_stale(r, first, v))
        return CAUSE_PARITY;
    if (idle_commit(r, first, v))
        return CAUSE_COMMIT;
    return first->fresh && v->note && v->note->loads && first->written.step > 1 &&
                   viewer_knows_step(v, LAYER_SEEN, &before)
               ? CAUSE_RETURN
               : CAUSE_ANY;
}

void cause_say_commit(const struct race *r, const struct note *first, const struct viewer *v, char *text, size_t size) {
    const struct mbar_watch *m = idle_commit(r, first, v);
    char where[120];
    snprintf(text, size, "the tcgen05.commit at %s is by a thread that had issued no tcgen05 operation",
             diag_where(m->commit.site, where, sizeof where));
}

/* --- handovers ---------------------------------------------------------------------------------------------------- */

enum cause cause_of_handover(const struct race *r, const struct stamp *first, const struct viewer *v) {
    const struct know *k = &race_strand(r, v->warp, v->lanes)->k;
    if (v->note)
        return CAUSE_ANY;
    return vclock_knows_lane(k->pending[LAYER_ORDER], first->warp, first->lane, first->time) ? CAUSE_ACQUIRE
                                                                                             : CAUSE_RELEASE;
}
