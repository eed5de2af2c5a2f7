/* check/proxy.c - is there a proxy fence between a generic store and an asynchronous read of shared memory?
 *
 * tcgen05.mma and tcgen05.cp read shared memory through the async proxy (PTX ISA 9.7.16.6.5). A store through the generic
 * proxy is ordered before such a read only by a fence.proxy.async on the way (8.6, 9.7.13.4): executed by the writer after
 * its store, or by a thread that synchronised with the writer before it fenced. Without one the read may see older
 * bytes; on the chip it mostly does not, which is why the mistake survives tests.
 *
 * For every 16 bytes of shared memory this keeps who stored last and when. The time is the launch's instruction count.
 * Synchronisation is taken generously (any barrier or mbarrier phase of the CTA counts for all its threads), so what is
 * reported has no fence at all on its way.
 */
#include "check/check.h"

#include "base/arena.h"

#include <stdlib.h>

#define CHUNK 16u
#define THREADS (MACH_MAX_WARPS * MACH_WARP)
#define BUCKETS 512u

struct chunk {
    uint64_t when; /* clock of the store + 1; 0: none */
    const struct diag_site *site;
    uint32_t thread;
};

struct watch { /* one CTA */
    struct watch *next;
    struct cta *cta;
    uint64_t fenced[THREADS]; /* when each thread last executed the fence */
    uint64_t last_sync;       /* when threads last synchronised */
    uint64_t covered;         /* stores up to here were fenced by a thread that synchronised after them */
    uint32_t num_chunks;
    struct chunk chunks[];
};

struct proxy {
    struct observer observer;
    struct watch
        *watches[BUCKETS]; /* by the CTA's address: there are hundreds, and each store looks one up */
};

static struct watch **bucket(struct proxy *p, const struct cta *cta) {
    uint64_t h = (uint64_t)(uintptr_t)cta * 0x9E3779B97F4A7C15u;
    return &p->watches[(h >> 32) % BUCKETS];
}

static struct watch *find(struct proxy *p, struct cta *cta, bool make) {
    struct watch **first = bucket(p, cta);
    for (struct watch **at = first; *at; at = &(*at)->next)
        if ((*at)->cta == cta) { /* most recently used first */
            struct watch *w = *at;
            *at = w->next;
            w->next = *first;
            *first = w;
            return w;
        }
    if (!make)
        return NULL;
    uint32_t n = (cta->smem_end + CHUNK - 1) / CHUNK;
    struct watch *w = xcalloc(1, sizeof *w + n * sizeof *w->chunks);
    w->cta = cta;
    w->num_chunks = n;
    w->next = *first;
    *first = w;
    return w;
}

static void generic_write(void *ctx, struct cta *cta, uint32_t off, uint32_t size, uint32_t thread,
                          const struct diag_site *site) {
    struct watch *w = find(ctx, cta, true);
    for (uint32_t c = off / CHUNK; size && c <= (off + size - 1) / CHUNK && c < w->num_chunks; c++)
        w->chunks[c] = (struct chunk){cta->gpu->clock + 1, site, thread};
}

static void proxy_fence(void *ctx, struct cta *cta, uint32_t warp, uint32_t lanes) {
    struct watch *w = find(ctx, cta, true);
    for (uint32_t l = 0; l < MACH_WARP; l++)
        if (lanes >> l & 1)
            w->fenced[warp * MACH_WARP + l] = cta->gpu->clock + 1;
    w->covered = w->last_sync;
}

static void sync_threads(void *ctx, struct cta *cta) {
    struct watch *w = find(ctx, cta, false);
    if (w)
        w->last_sync = cta->gpu->clock + 1;
}

static const struct diag missing_fence = {
    .id = "missing-proxy-fence",
    .rule = "a store through the generic proxy is seen by the async proxy only behind a fence.proxy.async",
    .section = "PTX ISA 9.7.16.6.5, 9.7.13.4",
    .hint = "let every thread that stored execute fence.proxy.async.shared::cta before the barrier that "
            "tells the issuing thread. Mostly the store has long arrived when the tensor core reads, so it "
            "works by luck on most runs",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};

static void async_read(void *ctx, struct cta *cta, uint32_t off, uint32_t size,
                       const struct mach_origin *reader, const char *what) {
    struct watch *w = find(ctx, cta, false);
    if (!w || !size)
        return;
    for (uint32_t c = off / CHUNK; c <= (off + size - 1) / CHUNK && c < w->num_chunks; c++) {
        struct chunk *k = &w->chunks[c];
        if (!k->when || w->fenced[k->thread % THREADS] >= k->when || w->covered >= k->when)
            continue;
        char where[600] = "?";
        if (k->site)
            diag_where(k->site, where, sizeof where);
        mach_warn(
            cta->gpu, reader, &missing_fence,
            "%s reads shared memory offset 0x%x, which thread %u stored at %s without a proxy fence since",
            what, c * CHUNK, k->thread, where);
        return;
    }
}

static void cta_end(void *ctx, struct cta *cta) {
    struct proxy *p = ctx;
    struct watch *w = find(p, cta, false);
    if (!w)
        return;
    *bucket(p, cta) = w->next; /* find put it first */
    free(w);
}

struct observer *check_proxy_create(void) {
    struct proxy *p = xcalloc(1, sizeof *p);
    p->observer = (struct observer){p, generic_write, proxy_fence, sync_threads, async_read, cta_end};
    return &p->observer;
}

void check_proxy_destroy(struct observer *o) {
    if (!o)
        return;
    struct proxy *p = o->ctx;
    for (uint32_t b = 0; b < BUCKETS; b++)
        while (p->watches[b])
            cta_end(p, p->watches[b]->cta);
    free(p);
}
