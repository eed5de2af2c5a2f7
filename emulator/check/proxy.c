/* check/proxy.c - is there a proxy fence between a generic store and an asynchronous read of shared memory?
 *
 * tcgen05.mma and tcgen05.cp read shared memory through the async proxy (PTX ISA 9.7.16.6.5). A store through the
 * generic proxy is ordered before such a read only by a fence.proxy.async on the way (8.6, 9.7.13.4): executed by the
 * writer after its store, or by a thread that synchronised with the writer before it fenced. Without one the read may
 * see older bytes; on the chip it mostly does not, which is why the mistake survives tests.
 *
 * For every 16 bytes of shared memory this keeps who stored last and when. The time is the launch's instruction count.
 * Synchronisation is taken generously (any barrier or mbarrier phase of the CTA counts for all its threads), so what is
 * reported has no fence at all on its way.
 */
#include "check/check.h"

#define CHUNK 16u
#define BLOCK 64u /* chunks whose open stores are counted together */
#define THREADS (MACH_MAX_WARPS * MACH_WARP)

struct chunk {
    uint64_t when; /* clock of the store + 1; 0: none, or known to be fenced */
    const struct diag_site *site;
    uint32_t thread;
};

struct watch {                /* one CTA */
    uint64_t fenced[THREADS]; /* when each thread last executed the fence */
    uint64_t last_sync;       /* when threads last synchronised */
    uint64_t covered;         /* stores up to here were fenced by a thread that synchronised after them */
    uint32_t num_chunks;
    uint32_t *open; /* by block: chunks with a store not known to be fenced */
    struct chunk chunks[];
};

static struct watch *make(const struct listener *self, struct cta *cta) {
    struct watch *w = *event_watch(self, cta);
    if (w)
        return w;
    uint32_t n = (cta->smem_end + CHUNK - 1) / CHUNK;
    w = check_watch(self, cta, sizeof *w + n * sizeof *w->chunks);
    w->num_chunks = n;
    w->open = worker_alloc(cta->island->worker, (n / BLOCK + 1) * sizeof *w->open);
    return w;
}

static void generic_write(const struct listener *self, const struct event_access *e) {
    struct watch *w = make(self, e->owner);
    const uint64_t when = e->owner->island->clock + 1;
    for (uint32_t m = e->by.lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m), off = (uint32_t)e->at[l], last = (off + e->size - 1) / CHUNK;
        for (uint32_t c = off / CHUNK; c <= last && c < w->num_chunks; c++) {
            w->open[c / BLOCK] += w->chunks[c].when == 0;
            w->chunks[c] = (struct chunk){when, e->by.site, e->by.warp * MACH_WARP + l};
        }
    }
}

static const struct diag missing_fence = {
    .id = "missing-proxy-fence",
    .rule = "a store through the generic proxy is seen by the async proxy only behind a fence.proxy.async",
    .section = "PTX ISA 9.7.16.6.5, 9.7.13.4",
    .hint = "let every thread that stored execute fence.proxy.async.shared::cta before the barrier that "
            "tells the issuing thread. Mostly the store has long arrived when the engine reads, so it works "
            "by luck on most runs",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
    .class = DIAG_WARNING,
};

static void async_read(struct watch *w, const struct event_access *e) {
    const uint32_t off = (uint32_t)e->at[0];
    for (uint32_t c = off / CHUNK; c <= (off + e->size - 1) / CHUNK && c < w->num_chunks; c++) {
        struct chunk *k = &w->chunks[c];
        if (!k->when)
            continue;
        if (w->fenced[k->thread % THREADS] >= k->when || w->covered >= k->when) { /* and will remain so */
            k->when = 0;
            w->open[c / BLOCK]--;
            continue;
        }
        char where[600] = "?";
        if (k->site)
            diag_where(k->site, where, sizeof where);
        const struct mach_origin reader = event_origin(&e->by);
        mach_warn(e->owner->island, &reader, &missing_fence,
                  "%s reads shared memory offset 0x%x, which thread %u stored at %s without a proxy fence since",
                  e->what, c * CHUNK, k->thread, where);
        return;
    }
}

static void access(const struct listener *self, const struct event_access *e) {
    if (e->space != SPACE_SHARED || !e->size)
        return;
    if (e->effect & EFFECT_WRITE && e->proxy == PROXY_GENERIC)
        generic_write(self, e);
    else if (e->effect == EFFECT_READ && e->proxy == PROXY_ASYNC && *event_watch(self, e->owner))
        async_read(*event_watch(self, e->owner), e);
}

static bool settled(const struct listener *self, struct cta *cta, uint32_t off, uint32_t size) {
    const struct watch *w = *event_watch(self, cta);
    if (!w || !size)
        return true;
    for (uint32_t b = off / CHUNK / BLOCK; b <= (off + size - 1) / CHUNK / BLOCK && b <= w->num_chunks / BLOCK; b++)
        if (w->open[b])
            return false;
    return true;
}

static void proxy_fence(struct watch *w, const struct event_sync *e) {
    for (uint32_t l = 0; l < MACH_WARP; l++)
        if (e->by.lanes >> l & 1)
            w->fenced[e->by.warp * MACH_WARP + l] = e->owner->island->clock + 1;
    w->covered = w->last_sync;
}

static void synchronised(const struct listener *self, struct cta *cta) {
    struct watch *w = *event_watch(self, cta);
    if (w)
        w->last_sync = cta->island->clock + 1;
}

/* A fence of shared memory from the generic towards the async proxy? */
static bool fences(const struct event_sync *e) {
    return (e->fence == FENCE_PROXY_ASYNC && e->space != FENCE_GLOBAL) ||
           (e->fence == FENCE_PROXY_ASYNC_GENERIC && e->by.order == ORDER_RELEASE);
}

static void sync(const struct listener *self, const struct event_sync *e) {
    switch (e->kind) {
    case SYNC_FENCE:
        if (fences(e))
            proxy_fence(make(self, e->owner), e);
        break;
    case SYNC_BAR_PHASE:
    case SYNC_MBAR_PHASE:
        synchronised(self, e->owner);
        break;
    case SYNC_CLUSTER_PHASE:
        for (uint32_t r = 0; r < e->owner->cluster->num_ctas; r++)
            synchronised(self, &e->owner->cluster->cta[r]);
        break;
    default:
        break;
    }
}

static void life(const struct listener *self, const struct event_life *e) {
    struct watch *w = *event_watch(self, e->owner);
    if (e->kind != LIFE_CTA_END || !w)
        return;
    worker_free(e->owner->island->worker, w->open);
    check_forget(self, e->owner);
}

struct listener check_proxy(void) {
    return (struct listener){
        .name = "proxy fences",
        .wants = WANT_SHARED_WRITE | WANT_ENGINE_READ | WANT_MBARRIER | WANT_BARRIER | WANT_FENCE | WANT_LIFE,
        .access = access,
        .settled = settled,
        .sync = sync,
        .life = life,
    };
}
