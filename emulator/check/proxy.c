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
#define BLOCK 64u /* chunks whose open stores are counted together */
#define THREADS (MACH_MAX_WARPS * MACH_WARP)

struct chunk {
    uint64_t when; /* clock of the store + 1; 0: none, or known to be fenced */
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
    uint32_t *open; /* by block: chunks with a store not known to be fenced */
    struct chunk chunks[];
};

struct proxy {
    struct observer observer;
    struct watch *watches;
};

static struct watch *make(struct proxy *p, struct cta *cta) {
    if (cta->check)
        return cta->check;
    uint32_t n = (cta->smem_end + CHUNK - 1) / CHUNK;
    struct watch *w = xcalloc(1, sizeof *w + n * sizeof *w->chunks);
    w->cta = cta;
    w->num_chunks = n;
    w->open = xcalloc(n / BLOCK + 1, sizeof *w->open);
    w->next = p->watches;
    p->watches = w;
    cta->check = w;
    return w;
}

static void generic_write(void *ctx, struct cta *cta, uint32_t off, uint32_t size, uint32_t thread,
                          const struct diag_site *site) {
    struct watch *w = make(ctx, cta);
    for (uint32_t c = off / CHUNK; size && c <= (off + size - 1) / CHUNK && c < w->num_chunks; c++) {
        w->open[c / BLOCK] += w->chunks[c].when == 0;
        w->chunks[c] = (struct chunk){cta->gpu->clock + 1, site, thread};
    }
}

static void proxy_fence(void *ctx, struct cta *cta, uint32_t warp, uint32_t lanes) {
    struct watch *w = make(ctx, cta);
    for (uint32_t l = 0; l < MACH_WARP; l++)
        if (lanes >> l & 1)
            w->fenced[warp * MACH_WARP + l] = cta->gpu->clock + 1;
    w->covered = w->last_sync;
}

static void sync_threads(void *ctx, struct cta *cta) {
    struct watch *w = cta->check;
    (void)ctx;
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
    struct watch *w = cta->check;
    (void)ctx;
    if (!w || !size)
        return;
    for (uint32_t c = off / CHUNK; c <= (off + size - 1) / CHUNK && c < w->num_chunks; c++) {
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
        mach_warn(
            cta->gpu, reader, &missing_fence,
            "%s reads shared memory offset 0x%x, which thread %u stored at %s without a proxy fence since",
            what, c * CHUNK, k->thread, where);
        return;
    }
}

static bool settled(void *ctx, struct cta *cta, uint32_t off, uint32_t size) {
    const struct watch *w = cta->check;
    (void)ctx;
    if (!w || !size)
        return true;
    for (uint32_t b = off / CHUNK / BLOCK;
         b <= (off + size - 1) / CHUNK / BLOCK && b <= w->num_chunks / BLOCK; b++)
        if (w->open[b])
            return false;
    return true;
}

static void release(struct watch *w) {
    w->cta->check = NULL;
    free(w->open);
    free(w);
}

static void cta_end(void *ctx, struct cta *cta) {
    struct proxy *p = ctx;
    for (struct watch **at = &p->watches; *at; at = &(*at)->next)
        if ((*at)->cta == cta) {
            struct watch *w = *at;
            *at = w->next;
            release(w);
            return;
        }
}

struct observer *check_proxy_create(void) {
    struct proxy *p = xcalloc(1, sizeof *p);
    p->observer =
        (struct observer){p, generic_write, proxy_fence, sync_threads, async_read, settled, cta_end};
    return &p->observer;
}

void check_proxy_destroy(struct observer *o) {
    if (!o)
        return;
    struct proxy *p = o->ctx;
    while (p->watches)
        cta_end(p, p->watches->cta);
    free(p);
}
