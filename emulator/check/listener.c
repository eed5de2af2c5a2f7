/* check/listener.c - the check of order as a listener: passes events to what is known and to what memory remembers. */
#include "base/fatal.h"
#include "base/heap.h"
#include "check/check.h"
#include "check/grids/grids.h"
#include "check/shadow/shadow.h"
#include "check/verdict/mbarriers.h"
#include "check/verdict/peers.h"
#include "simd/simd.h"

/* The state of the check for a GPU. */
struct checked_gpu {
    struct grids *grids;
    struct site_logs logs;
    bool wide; /* struct vclock_pool; asked once, because the answer is slow in a virtual machine */
};

/* The same for a cluster, from its start to its end. */
struct checked {
    struct race known;
    struct shadow *shadow;
    bool grids; /* check/grids/ wants to know of the launch's accesses */
};

/* The same for a launch. */
struct checked_launch {
    struct grid_watch known;
    struct cells *cells;
};

static struct grids *grids_of(const struct listener *self) { return ((struct checked_gpu *)self->ctx)->grids; }

/* NULL: the cluster has not started, or has ended. */
static struct checked *checked_of(const struct listener *self, struct cta *cta) { return *event_watch(self, cta); }

static void set_checked(const struct listener *self, struct cluster *cl, struct checked *c) {
    for (uint32_t i = 0; i < cl->num_ctas; i++)
        *event_watch(self, &cl->cta[i]) = c;
}

static void begin(const struct listener *self, struct cluster *cl) {
    struct checked_launch *launch = *event_launch_watch(self, cl->cta[0].gpu);
    struct checked *c = xcalloc(1, sizeof *c);
    race_begin(&c->known, cl, launch ? &launch->known : NULL, &((struct checked_gpu *)self->ctx)->logs);
    c->shadow = shadow_new(&c->known, launch ? launch->cells : NULL);
    c->grids = grids_wants(grids_of(self));
    set_checked(self, cl, c);
}

static void end(const struct listener *self, struct cluster *cl) {
    struct checked *c = checked_of(self, &cl->cta[0]);
    shadow_free(c->shadow);
    race_end(&c->known, self);
    xfree(c);
    set_checked(self, cl, NULL);
}

/* Counts events: their number is the cluster's time. False: BOUND_EVENTS is reached, and time stops. */
static bool count(struct race *r, uint32_t events) {
    if (r->time >= r->most_time)
        return false;
    r->time += events;
    return true;
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* Each receiver ignores what is not its own. A thread's strong access first learns and passes on what its word says;
 * then the access is judged with that knowledge. */
static __attribute__((noinline)) void access_any(const struct listener *self, struct checked *c,
                                                 const struct event_access *e) {
    event_spread(e);
    struct note *n = e->by.op ? note_of(self, e->by.op) : NULL;
    if (e->agent == AGENT_THREAD && e->by.order != ORDER_WEAK)
        flags_sync(&c->known, e);
    if (c->known.strict && e->agent == AGENT_THREAD && e->space == SPACE_SHARED && e->effect & EFFECT_WRITE)
        verdict_mbar_store(&c->known, e);
    if (n && e->agent == AGENT_CLC && !n->spanned &&
        n->written.how == DONE_TOKEN) /* the answer of try_cancel goes to one CTA after another */
        n = note_again(&c->known, self, e->by.op);
    if (e->space == SPACE_SHARED && e->owner != e->by.cta)
        verdict_peer(&c->known, e, n);
    if (e->space == SPACE_GLOBAL && c->grids)
        grids_access(grids_of(self), &c->known, e, n);
    shadow_access(c->shadow, e, n);
}

/* A read or write of memory. Most are weak accesses of threads to shared memory of their CTA, or to global memory while
 * one kernel runs. They concern only the shadow. */
static void access(const struct listener *self, const struct event_access *e) {
    struct checked *c = checked_of(self, e->by.cta);
    if (!c)
        return;
    if (!count(&c->known, !e->by.op))
        race_lost(&c->known, BOUND_EVENTS);
    else if (e->agent == AGENT_THREAD && e->by.order == ORDER_WEAK && !c->known.strict &&
             (e->space == SPACE_SHARED ? e->owner == e->by.cta : !c->grids))
        shadow_access(c->shadow, e, NULL);
    else
        access_any(self, c, e);
}

/* The same for most of them. */
static bool halves(const struct listener *self, struct cta *cta, const struct diag_site *site, uint32_t first,
                   uint32_t second, uint32_t how) {
    struct checked *c = checked_of(self, cta);
    if (!c || c->known.strict || !count(&c->known, 1))
        return false;
    if (shadow_halves(c->shadow, cta, site, first, second, how))
        return true;
    c->known.time--; /* `access` counts it */
    return false;
}

static uint32_t matrix(const struct listener *self, struct cta *cta, const struct diag_site *site,
                       const uint64_t row[8], uint32_t how) {
    const uint32_t num = how & MATRIX_TRANS ? 2 : 1;
    struct checked *c = checked_of(self, cta);
    if (!c || c->known.strict || c->known.most_time - c->known.time < num)
        return 0;
    c->known.time += num;
    const uint32_t took = shadow_matrix(c->shadow, cta, site, row, how);
    c->known.time -= num - took;
    return took;
}

/* --- synchronisation ---------------------------------------------------------------------------------------------- */

/* SYNC_MBAR_*: judged by what was known before, then passed on. */
static void sync_of_mbar(const struct listener *self, struct race *r, const struct event_sync *e) {
    struct mbar_watch *m = mbars_find(r, e->owner, e->off);
    struct note *n = e->by.op ? note_of(self, e->by.op) : NULL;
    if (!m)
        return;
    mbars_expect(m, race_warp_of(r, &e->by));
    verdict_mbar_sync(r, e, m, n);
    mbars_sync(r, e, m, n);
}

/* SYNC_FENCE, by its kind. It may also publish mbarriers. */
static void fence(struct race *r, const struct event_sync *e, uint32_t warp) {
    const struct sem how = sem_of(e);
    mbars_released(r, e);
    switch (e->fence) {
    case FENCE_MEMORY:
    case FENCE_SYNC_RESTRICT:
        know_fence(r, warp, e->by.lanes, &how, how.scope >= SCOPE_GPU);
        break;
    case FENCE_PROXY_ASYNC:
        know_proxy_fence(r, warp, e->by.lanes, e->space);
        break;
    case FENCE_PROXY_ASYNC_GENERIC:
        know_half_fence(r, warp, e->by.lanes, &how);
        break;
    case FENCE_PROXY_TENSORMAP:
        maps_fence(r, e);
        break;
    default:
        break;
    }
}

/* Synchronisation that concerns one warp alone: fences, waits, bar.warp.sync. */
static void sync_of_warp(struct race *r, const struct event_sync *e) {
    const uint32_t warp = race_warp_of(r, &e->by);
    switch (e->kind) {
    case SYNC_WARP:
        know_warp_sync(r, warp, e->members);
        break;
    case SYNC_FENCE:
        fence(r, e, warp);
        break;
    case SYNC_GROUP_COMMIT:
        note_group_commit(r, warp, e->by.lanes, e->bulk);
        break;
    case SYNC_GROUP_WAIT:
        note_group_wait(r, warp, e->by.lanes, e->count, e->bulk, e->read);
        break;
    case SYNC_TCGEN05_WAIT_LD:
    case SYNC_TCGEN05_WAIT_ST:
        note_waited(r, warp, e->kind == SYNC_TCGEN05_WAIT_LD);
        break;
    case SYNC_TCGEN05_USE:
        note_used_ld(r, warp, e->awaited);
        break;
    case SYNC_TCGEN05_FENCE_BEFORE:
    case SYNC_TCGEN05_FENCE_AFTER:
        know_tensor_fence(r, warp, e->by.lanes, e->kind == SYNC_TCGEN05_FENCE_BEFORE);
        break;
    default:
        break;
    }
}

/* SYNC_MBAR_ARRIVE by lanes together: at once if that breaks no rule, otherwise as the lanes one after the other. */
static __attribute__((noinline)) void arrive_together(const struct listener *self, struct race *r,
                                                      const struct event_sync *e) {
    const uint32_t lanes = (uint32_t)__builtin_popcount(e->by.lanes);
    struct mbar_watch *m = mbars_find(r, e->owner, e->off);
    if (m && r->most_time - r->time >= lanes && verdict_mbar_joins(r, e, m)) {
        r->time += lanes;
        mbars_join(r, e, m);
        return;
    }
    struct event_sync one = *e;
    one.count /= lanes;
    one.pending += e->count;
    for (uint32_t left = e->by.lanes; left; left &= left - 1) {
        one.by.lanes = left & (0u - left);
        one.pending -= one.count;
        count(r, 1);
        sync_of_mbar(self, r, &one);
    }
}

static void sync(const struct listener *self, const struct event_sync *e) {
    struct checked *c = checked_of(self, e->by.cta);
    if (!c)
        return;
    if (e->kind == SYNC_MBAR_ARRIVE && !e->by.op && e->by.lanes & (e->by.lanes - 1)) {
        arrive_together(self, &c->known, e);
        return;
    }
    count(&c->known, 1);
    if (e->kind <= SYNC_MBAR_TEST)
        sync_of_mbar(self, &c->known, e);
    else if (e->kind <= SYNC_BAR_PASS) {
        barriers_sync_cta(&c->known, e);
        shadow_sync(c->shadow, e);
    } else if (e->kind <= SYNC_CLUSTER_PASS)
        barriers_sync_cluster(&c->known, e);
    else if (e->kind >= SYNC_GRID_WAIT)
        grids_sync(grids_of(self), &c->known, e);
    else
        sync_of_warp(&c->known, e);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

/* OP_ISSUED: the operation gets its note. Its accesses to shared and tensor memory count from now on. */
static void issued(const struct listener *self, struct checked *c, const struct event_op *e) {
    struct race *r = &c->known;
    const struct async_op *op = e->by.op;
    struct event_work work = {0};
    shadow_expect(c->shadow, op);
    op->kind->describe(op, &work);
    struct note *n = note_issued(r, self, e, &work);
    if (work.signals && (n->agent == AGENT_TMA || n->agent == AGENT_BULK))
        mbars_issued(r, work.signals, work.signals_off);
    mbars_commit_issued(r, n, &work);
    if (n->agent == AGENT_CP_ASYNC)
        sites_remember(&r->warps[n->warp].sites, n->time, op->origin.site);
    shadow_issued(c->shadow, n, op);
}

static void op(const struct listener *self, const struct event_op *e) {
    struct checked *c = checked_of(self, e->by.cta);
    if (!c)
        return;
    count(&c->known, 1);
    if (e->stage == OP_ISSUED)
        issued(self, c, e);
    else if (e->stage == OP_COMPLETED)
        note_over(&c->known, self, e->by.op);
}

/* --- lifetimes ---------------------------------------------------------------------------------------------------- */

static void life(const struct listener *self, const struct event_life *e) {
    struct cluster *cl = e->owner->cluster;
    if (e->kind == LIFE_CLUSTER_START)
        begin(self, cl);
    struct checked *c = checked_of(self, e->owner);
    if (!c)
        return;
    count(&c->known, 1);
    switch (e->kind) {
    case LIFE_CLUSTER_END:
        end(self, cl);
        break;
    case LIFE_LANES_EXIT:
        barriers_exit(&c->known, e);
        break;
    case LIFE_CTA_EXIT:
        verdict_mbar_exit(&c->known, e);
        grids_cta_exits(grids_of(self), &c->known, e->owner);
        break;
    case LIFE_MBAR_INIT:
        mbars_begin(&c->known, e);
        break;
    case LIFE_MBAR_INVAL:
        verdict_mbar_inval(&c->known, e);
        mbars_end(&c->known, e);
        break;
    case LIFE_HEAP_ALLOC:
    case LIFE_TMEM_ALLOC:
    case LIFE_TMEM_CLOSING:
    case LIFE_TMEM_DEALLOC:
        shadow_life(c->shadow, e);
        break;
    default:
        break;
    }
}

/* On what the host does: launches have a state here; copies, streams and events concern check/grids/ alone. */
static void host(const struct listener *self, const struct event_host *e) {
    grids_host(grids_of(self), e);
    if (e->kind == HOST_LAUNCH) {
        struct checked_launch *launch = xcalloc(1, sizeof *launch);
        race_begin_launch(&launch->known, e, ((struct checked_gpu *)self->ctx)->wide);
        launch->cells = cells_new(e->gpu);
        *event_launch_watch(self, e->gpu) = launch;
    } else if (e->kind == HOST_LAUNCH_END && *event_launch_watch(self, e->gpu)) {
        struct checked_launch *launch = *event_launch_watch(self, e->gpu);
        cells_free(launch->cells);
        race_end_launch(&launch->known);
        xfree(launch);
        *event_launch_watch(self, e->gpu) = NULL;
    }
}

static void close(const struct listener *self) {
    grids_free(grids_of(self));
    sites_close_logs(&((struct checked_gpu *)self->ctx)->logs);
    xfree(self->ctx);
}

struct listener check_race(struct gpu *gpu) {
    struct checked_gpu *c = xcalloc(1, sizeof *c);
    c->grids = grids_new(gpu);
    sites_open_logs(&c->logs);
    c->wide = gpu->config.host_vectors != SIMD_PORTABLE && simd_available(SIMD_AVX2);
    return (struct listener){.name = "order of accesses",
                             .ctx = c,
                             .spreads = true,
                             .joins = true,
                             .wants = WANT_SHARED_READ | WANT_SHARED_WRITE | WANT_ENGINE_READ | WANT_ENGINE_WRITE |
                                      WANT_GLOBAL | WANT_ENGINE_GLOBAL | WANT_TENSOR | WANT_MBARRIER | WANT_POLL |
                                      WANT_BARRIER | WANT_FENCE | WANT_OP | WANT_LIFE | WANT_HOST,
                             .access = access,
                             .halves = halves,
                             .matrix = matrix,
                             .sync = sync,
                             .op = op,
                             .life = life,
                             .host = host,
                             .close = close};
}

void check_attach(struct gpu *gpu) {
    const struct listener l = check_race(gpu);
    if (!events_attach(gpu, &l))
        fatal_broken("no room for the listener %s", l.name);
}
