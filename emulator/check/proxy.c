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

static struct watch *make(struct cta *cta) {
    if (cta->check)
        return cta->check;
    uint32_t n = (cta->smem_end + CHUNK - 1) / CHUNK;
    struct worker *worker = cta->island->worker;
    struct watch *w = worker_alloc(worker, sizeof *w + n * sizeof *w->chunks);
    w->num_chunks = n;
    w->open = worker_alloc(worker, (n / BLOCK + 1) * sizeof *w->open);
    cta->check = w;
    return w;
}

static void generic_write(void *ctx, struct cta *cta, const uint32_t off[MACH_WARP], uint32_t size, uint32_t warp,
                          uint32_t lanes, const struct diag_site *site) {
    struct watch *w = make(cta);
    const uint64_t when = cta->island->clock + 1;
    (void)ctx;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m), last = (off[l] + size - 1) / CHUNK;
        for (uint32_t c = off[l] / CHUNK; c <= last && c < w->num_chunks; c++) {
            w->open[c / BLOCK] += w->chunks[c].when == 0;
            w->chunks[c] = (struct chunk){when, site, warp * MACH_WARP + l};
        }
    }
}

static void proxy_fence(void *ctx, struct cta *cta, uint32_t warp, uint32_t lanes) {
    struct watch *w = make(cta);
    (void)ctx;
    for (uint32_t l = 0; l < MACH_WARP; l++)
        if (lanes >> l & 1)
            w->fenced[warp * MACH_WARP + l] = cta->island->clock + 1;
    w->covered = w->last_sync;
}

static void sync_threads(void *ctx, struct cta *cta) {
    struct watch *w = cta->check;
    (void)ctx;
    if (w)
        w->last_sync = cta->island->clock + 1;
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

static void async_read(void *ctx, struct cta *cta, uint32_t off, uint32_t size, const struct mach_origin *reader,
                       const char *what) {
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
        mach_warn(cta->island, reader, &missing_fence,
                  "%s reads shared memory offset 0x%x, which thread %u stored at %s without a proxy fence since", what,
                  c * CHUNK, k->thread, where);
        return;
    }
}

static bool settled(void *ctx, struct cta *cta, uint32_t off, uint32_t size) {
    const struct watch *w = cta->check;
    (void)ctx;
    if (!w || !size)
        return true;
    for (uint32_t b = off / CHUNK / BLOCK; b <= (off + size - 1) / CHUNK / BLOCK && b <= w->num_chunks / BLOCK; b++)
        if (w->open[b])
            return false;
    return true;
}

static void cta_end(void *ctx, struct cta *cta) {
    struct watch *w = cta->check;
    (void)ctx;
    if (!w)
        return;
    worker_free(cta->island->worker, w->open);
    worker_free(cta->island->worker, w);
    cta->check = NULL;
}

/* All it knows hangs on the CTAs, so it has no state of its own. */
static const struct observer proxy = {
    .generic_write = generic_write,
    .proxy_fence = proxy_fence,
    .sync = sync_threads,
    .async_read = async_read,
    .settled = settled,
    .cta_end = cta_end,
};

const struct observer *check_proxy(void) { return &proxy; }
