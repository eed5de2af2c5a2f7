/* stats/count.c - the listener that counts; contract in stats.h. */
#include "base/heap.h"
#include "report/diag.h"
#include "stats/tally.h"

#include <pthread.h>
#include <string.h>

/* What is kept for the running launch: the tallies of its islands. */
struct counting {
    pthread_mutex_t lock;
    struct tally *tallies;
    struct footprint touched;
};

static struct tally *tally_of(const struct listener *self, struct cta *cta) { return *event_watch(self, cta); }

/* --- launches and CTAs -------------------------------------------------------------------------------------------- */

static void begin(const struct listener *self, const struct event_host *e) {
    struct counting *c = xcalloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    footprint_init(&c->touched);
    *event_launch_watch(self, e->gpu) = c;
}

/* Sums do not depend on the order of the islands. */
static void end(const struct listener *self, const struct event_host *e) {
    const struct stats_sink *sink = self->ctx;
    struct counting *c = *event_launch_watch(self, e->gpu);
    struct tally *all = xcalloc(1, sizeof *all);
    for (struct tally *t = c->tallies, *next; t; t = next) {
        next = t->next;
        tally_close(t);
        tally_join(all, t);
        tally_free(t);
    }
    tally_finish(all);
    all->sum.footprint_read = STATS_SECTOR * footprint_count(&c->touched, false);
    all->sum.footprint_written = STATS_SECTOR * footprint_count(&c->touched, true);
    footprint_free(&c->touched);
    pthread_mutex_destroy(&c->lock);
    xfree(c);
    *event_launch_watch(self, e->gpu) = NULL;
    struct stats *s = xcalloc(1, sizeof *s);
    *s = all->sum;
    all->sum = (struct stats){0};
    tally_free(all);
    s->kernel = e->kernel;
    s->grid = e->grid;
    s->block = e->block;
    s->cluster = e->cluster;
    s->static_smem = e->static_smem;
    s->dynamic_smem = e->dynamic_smem;
    s->unseen = atomic_load(&e->gpu->unseen);
    sink->take(sink->ctx, s);
}

static void host(const struct listener *self, const struct event_host *e) {
    if (e->kind == HOST_LAUNCH)
        begin(self, e);
    else if (e->kind == HOST_LAUNCH_END)
        end(self, e);
}

static void cta_starts(const struct listener *self, struct cta *cta) {
    struct counting *c = *event_launch_watch(self, cta->gpu);
    pthread_mutex_lock(&c->lock);
    struct tally *t = c->tallies;
    while (t && t->island != cta->island)
        t = t->next;
    if (!t) {
        t = xcalloc(1, sizeof *t);
        t->island = cta->island;
        t->touched.of = &c->touched;
        t->next = c->tallies;
        c->tallies = t;
    }
    pthread_mutex_unlock(&c->lock);
    t->sum.ctas++;
    t->sum.warps += cta->num_warps;
    *event_watch(self, cta) = t;
}

static void life(const struct listener *self, const struct event_life *e) {
    if (e->kind == LIFE_CTA_START)
        cta_starts(self, e->owner);
    else if (e->kind == LIFE_CTA_END)
        *event_watch(self, e->owner) = NULL;
    else if (e->kind == LIFE_MBAR_INIT)
        tally_of(self, e->owner)->sum.mbar_inits++;
}

/* --- instructions ------------------------------------------------------------------------------------------------- */

static void step(const struct listener *self, const struct event_step *e) {
    struct tally *t = tally_of(self, e->by.cta);
    tally_close(t);
    t->steps++;
    struct stats_site *s = tally_site(t, e->by.site, e->by.what);
    s->issued++;
    s->lanes += (uint32_t)__builtin_popcount(e->by.lanes);
    s->idle += e->by.lanes == 0;
    s->partial += e->group != e->live;
    if (e->by.lanes && e->by.lanes != e->group && strcmp(e->by.what, "bra") == 0)
        s->splits++;
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

static void add_bytes(struct tally *t, const struct event_access *e, uint64_t bytes) {
    uint64_t *of = t->sum.bytes[e->agent][e->space];
    if (e->effect == EFFECT_ATOMIC) {
        of[STATS_ATOMIC] += bytes;
        return;
    }
    of[STATS_READ] += e->effect & EFFECT_READ ? bytes : 0;
    of[STATS_WRITE] += e->effect & EFFECT_WRITE ? bytes : 0;
}

/* Cells are 4 bytes. */
static uint64_t tensor_bytes(const struct event_access *e) {
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 4; i++)
        lanes += (uint32_t)__builtin_popcount(e->tmem_lanes[i]);
    return UINT64_C(4) * lanes * e->columns;
}

static void engine_global(const struct listener *self, struct tally *t, const struct event_access *e) {
    const uint64_t rows = e->rows ? e->rows : 1, bytes = rows * e->size;
    if (e->proxy == PROXY_TENSORMAP)
        return; /* descriptors have a cache of their own */
    if (e->by.op && *event_op_watch(self, e->by.op)) {
        t->sum.multicast_saved += bytes;
        return;
    }
    if (e->effect & EFFECT_READ)
        footprint_add(&t->touched, false, e->at[0], e->size, rows, e->stride);
    if (e->effect & EFFECT_WRITE)
        footprint_add(&t->touched, true, e->at[0], e->size, rows, e->stride);
    add_bytes(t, e, bytes);
}

static void access(const struct listener *self, const struct event_access *e) {
    struct tally *t = tally_of(self, e->by.cta);
    if (e->space == SPACE_TENSOR) {
        add_bytes(t, e, tensor_bytes(e));
    } else if (e->agent == AGENT_THREAD || e->agent == AGENT_CP_ASYNC) {
        const uint64_t bytes = (uint64_t)e->size * (uint32_t)__builtin_popcount(e->by.lanes);
        add_bytes(t, e, bytes);
        t->sum.remote += e->space == SPACE_SHARED && e->owner != e->by.cta ? bytes : 0;
        tally_access(t, e);
    } else if (e->space == SPACE_GLOBAL) {
        engine_global(self, t, e);
    } else {
        add_bytes(t, e, (uint64_t)e->size * (e->pieces ? e->pieces : 1) * (e->rows ? e->rows : 1));
    }
}

/* --- synchronisation ---------------------------------------------------------------------------------------------- */

static void polled(struct tally *t, const struct event_sync *e) {
    struct stats_site *s = tally_site(t, e->by.site, e->by.what);
    s->polls++;
    s->failed += e->done != e->by.lanes;
}

static void sync(const struct listener *self, const struct event_sync *e) {
    struct tally *t = tally_of(self, e->by.cta);
    switch (e->kind) {
    case SYNC_MBAR_ARRIVE:
    case SYNC_MBAR_DROP:
        *(e->by.op ? &t->sum.mbar_op_arrivals : &t->sum.mbar_arrivals) += e->count;
        break;
    case SYNC_MBAR_COMPLETE_TX:
        t->sum.mbar_bytes += e->bytes;
        break;
    case SYNC_MBAR_PHASE:
        t->sum.mbar_phases++;
        break;
    case SYNC_MBAR_TEST:
        polled(t, e);
        break;
    case SYNC_BAR_PHASE:
        t->sum.bar_phases++;
        break;
    case SYNC_CLUSTER_PHASE:
        t->sum.cluster_phases++;
        break;
    default:
        break;
    }
}

/* Waits for an mbarrier alone have an owner. */
static void wait(const struct listener *self, const struct event_wait *e) {
    struct tally *t = tally_of(self, e->by.cta);
    if (!e->owner)
        return;
    if (e->end == WAIT_BEGINS)
        tally_site(t, e->by.site, e->by.what)->waits++;
    t->sum.mbar_timed_out += e->end == WAIT_TIMED_OUT;
}

static void op(const struct listener *self, const struct event_op *e) {
    if (e->stage == OP_ISSUED)
        tally_op(tally_of(self, e->by.cta), self, e);
}

bool stats_attach(struct gpu *gpu, const struct stats_sink *sink) {
    const struct listener l = {.name = "statistics",
                               .wants = WANT_ACCESS | WANT_MBARRIER | WANT_POLL | WANT_BARRIER | WANT_OP | WANT_WAIT |
                                        WANT_STEP | WANT_LIFE | WANT_HOST,
                               .ctx = (void *)(uintptr_t)sink,
                               .access = access,
                               .sync = sync,
                               .op = op,
                               .wait = wait,
                               .step = step,
                               .life = life,
                               .host = host};
    return events_attach(gpu, &l);
}
