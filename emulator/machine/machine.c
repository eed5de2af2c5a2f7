/* machine/machine.c - creation and shared memory of the emulated GPU; contracts in machine.h. */
#include "machine/machine.h"

#include "base/fatal.h"
#include "base/heap.h"
#include "machine/async.h"
#include "machine/events.h"
#include "machine/gpcs.h"

#include <stdio.h>
#include <string.h>

/* Figures of compute capability 10.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability");
 * a B200 has 148 SMs. */
struct mach_config mach_config_b200(void) {
    return (struct mach_config){
        .num_sms = MACH_B200_SMS,
        .num_gpcs = MACH_B200_GPCS,
        .gpc_sms = MACH_GPC_SMS,
        .smem_per_sm = 228 * 1024,
        .smem_per_cta = 227 * 1024,
        .smem_reserved = 1024,
        .regs_per_sm = 65536,
        .threads_per_sm = 2048,
        .ctas_per_sm = 32,
        .schedule = MACH_SCHED_DEFAULT,
        .seed = 1,
        .threads = 1,
        .watchdog = 20000000000ull,
        .bounds = bounds_default(),
    };
}

bool mach_gpc(const struct mach_config *config, uint32_t g, uint32_t *first, uint32_t *count) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < g && i < config->num_gpcs; i++)
        at += config->gpc_sms[i];
    if (g > config->num_gpcs || at >= config->num_sms)
        return false;
    uint32_t left = config->num_sms - at;
    *first = at;
    *count = g < config->num_gpcs && config->gpc_sms[g] < left ? config->gpc_sms[g] : left;
    return true;
}

#define GPU_MEMORY (180ull << 30)
#define GPU_MEMORY_LEAST (1ull << 30)
#define PRINT_FIFO (1ull << 20) /* cudaLimitPrintfFifoSize, where none is set */

struct gpu *gpu_create(const struct mach_config *config) {
    if (!config->threads)
        fatal_broken("a GPU with no host thread to run it");
    struct gpu *gpu = try_calloc(1, sizeof *gpu);
    if (!gpu)
        return NULL;
    gpu->config = *config;
    gpu->sink = diag_stderr();
    gpu->workers = try_calloc(config->threads, sizeof *gpu->workers);
    gpu->sms = try_calloc(config->num_sms, sizeof *gpu->sms);
    gpu->findings = try_calloc(1, sizeof *gpu->findings);
    /* A host may refuse to reserve that much address space (ulimit -v): take what it gives. */
    for (uint64_t bytes = GPU_MEMORY; !gpu->mem && bytes >= GPU_MEMORY_LEAST; bytes /= 2)
        gpu->mem = mem_create(bytes);
    if (!gpu->workers || !gpu->sms || !gpu->findings || !gpu->mem) {
        mem_destroy(gpu->mem);
        xfree(gpu->findings);
        xfree(gpu->sms);
        xfree(gpu->workers);
        xfree(gpu);
        return NULL;
    }
    for (uint32_t i = 0; i < config->threads; i++)
        gpu->workers[i].index = i;
    gpu->print_fifo = PRINT_FIFO;
    for (uint32_t i = 0; i < config->num_sms; i++) {
        struct sm *sm = &gpu->sms[i];
        sm->id = i;
        sm->free_threads = config->threads_per_sm;
        sm->free_regs = config->regs_per_sm;
        sm->free_smem = config->smem_per_sm;
        sm->free_ctas = config->ctas_per_sm;
    }
    return gpu;
}

void gpu_destroy(struct gpu *gpu) {
    if (!gpu)
        return;
    crew_end(gpu->crew);
    events_close(gpu);
    for (uint32_t i = 0; i < gpu->config.num_sms; i++)
        worker_free(&gpu->workers[0], gpu->sms[i].tmem);
    xfree(gpu->sms);
    for (uint32_t i = 0; i < gpu->config.threads; i++)
        worker_close(&gpu->workers[i]);
    xfree(gpu->workers);
    mem_destroy(gpu->mem);
    findings_free(gpu->findings);
    xfree(gpu->listeners);
    xfree(gpu->flights);
    xfree(gpu);
}

void cluster_init(struct cluster *cl, struct island *isl, struct diag_dim3 id, struct diag_dim3 dim,
                  struct sm *const *sms) {
    memset(cl, 0, sizeof *cl);
    cl->island = isl;
    cl->id = id;
    cl->dim = dim;
    cl->block = (struct diag_dim3){1, 1, 1};
    cl->num_ctas = cl->live_ctas = dim.x * dim.y * dim.z;
    if (cl->num_ctas == 0 || cl->num_ctas > MACH_MAX_CLUSTER)
        fatal_broken("cluster of %u CTAs", cl->num_ctas);
    cl->cta = xcalloc(cl->num_ctas, sizeof *cl->cta);
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        struct cta *cta = &cl->cta[r];
        cta->gpu = isl->gpu;
        cta->island = isl;
        cta->cluster = cl;
        cta->sm = sms[r];
        cta->rank = r;
        cta->rank_id = (struct diag_dim3){r % dim.x, r / dim.x % dim.y, r / (dim.x * dim.y)};
        cta->id = (struct diag_dim3){id.x * dim.x + cta->rank_id.x, id.y * dim.y + cta->rank_id.y,
                                     id.z * dim.z + cta->rank_id.z};
    }
}

void cta_alloc_smem(struct cta *cta, uint32_t bytes) {
    cta->smem_end = MACH_SMEM_FIRST + bytes;
    if (cta->smem_end > sizeof cta->smem_clean * 8 * 1024)
        fatal_broken("a CTA with %u bytes of shared memory", bytes);
    memset(cta->smem_clean, 0, sizeof cta->smem_clean);
    memset(cta->smem_filled, 0, sizeof cta->smem_filled);
    cta->smem = worker_alloc(cta->island->worker, cta->smem_end);
    const uint32_t map = (cta->smem_end + 7) / 8 + 128; /* isa/reach.h reads so much behind it, and takes no notice */
    cta->smem_poison = worker_alloc(cta->island->worker, map);
    memset(cta->smem_poison, 0xff, map);
}

static void queue_free(struct async_queue *q) {
    for (struct async_op *op = q->head, *next; op; op = next) {
        next = op->next;
        async_op_free(op);
    }
    xfree(q);
}

/* Frees everything machine/ allocated for a CTA (shared memory, mbarrier table, queues). */
static void cta_release(struct cta *cta) {
    tell_life(cta->gpu, &(struct event_life){.by = {.cta = cta}, .kind = LIFE_CTA_END, .owner = cta});
    for (struct async_queue *q = cta->queues, *next; q; q = next) {
        next = q->next;
        queue_free(q);
    }
    cta->queues = NULL;
    worker_free(cta->island->worker, cta->smem);
    worker_free(cta->island->worker, cta->smem_poison);
    xfree(cta->mbars);
    cta->smem = NULL;
    cta->smem_poison = NULL;
    cta->mbars = NULL;
    cta->num_mbars = cta->cap_mbars = 0;
    cta->smem_end = 0;
}

void cluster_release(struct cluster *cl) {
    for (struct cta **at = &cl->island->woken; *at;)
        if ((*at)->cluster == cl)
            *at = (*at)->next_woken;
        else
            at = &(*at)->next_woken;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        cta_release(&cl->cta[r]);
    xfree(cl->cta);
    cl->cta = NULL;
    cl->num_ctas = cl->live_ctas = 0;
}

struct cta *cta_peer(struct cta *cta) {
    uint32_t peer = cta->rank ^ 1;
    return peer < cta->cluster->num_ctas ? &cta->cluster->cta[peer] : NULL;
}

struct cta *smem_resolve(struct cta *cta, uint32_t addr, uint32_t size, uint32_t *offset) {
    uint32_t rank = addr >> MACH_SMEM_RANK_SHIFT;
    uint32_t off = addr & ((1u << MACH_SMEM_RANK_SHIFT) - 1);
    if (rank >= cta->cluster->num_ctas)
        return NULL;
    struct cta *owner = &cta->cluster->cta[rank];
    if (!owner->smem || off < MACH_SMEM_FIRST || off > owner->smem_end || size > owner->smem_end - off)
        return NULL;
    *offset = off;
    return owner;
}

/* --- poison bitmap: bit per byte, LSB first ----------------------------------------------------------------------- */

#define KIB_BITS 128u /* bytes of it for a KiB */

static bool any_poison(const uint8_t *p, uint32_t off, uint32_t n) {
    uint32_t end = off + n;
    for (; off < end && (off & 7); off++)
        if (p[off >> 3] >> (off & 7) & 1)
            return true;
    for (; off + 512 <= end; off += 512) {
        uint64_t v[8];
        memcpy(v, p + (off >> 3), sizeof v);
        if (v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7])
            return true;
    }
    for (; off + 64 <= end; off += 64) {
        uint64_t v;
        memcpy(&v, p + (off >> 3), sizeof v);
        if (v)
            return true;
    }
    for (; off + 8 <= end; off += 8)
        if (p[off >> 3])
            return true;
    for (; off < end; off++)
        if (p[off >> 3] >> (off & 7) & 1)
            return true;
    return false;
}

/* The KiB that lie wholly in [off, off + n) have no poison. */
static void note_clean(struct cta *cta, uint32_t off, uint32_t n) {
    for (uint32_t k = (off + 1023) >> 10; k < (off + n) >> 10; k++)
        cta->smem_clean[k / 64] |= UINT64_C(1) << k % 64;
}

void smem_doubt(struct cta *cta, uint32_t off, uint32_t n) {
    for (uint32_t k = off >> 10; n && k <= (off + n - 1) >> 10; k++)
        cta->smem_clean[k / 64] &= ~(UINT64_C(1) << k % 64);
}

void smem_settle_filled(struct cta *cta, uint32_t off, uint32_t n) {
    for (uint32_t k = off >> 10; k < (off + n + 1023) >> 10; k++) {
        const uint64_t filled = cta->smem_filled[k / 64] & UINT64_C(1) << k % 64;
        if (filled & cta->smem_clean[k / 64])
            memset(cta->smem_poison + k * KIB_BITS, 0, KIB_BITS);
        cta->smem_filled[k / 64] &= ~filled;
    }
}

bool smem_poisoned(struct cta *cta, uint32_t off, uint32_t n) {
    if (smem_known_clean(cta, off, n))
        return false;
    smem_settle(cta, off, n);
    if (any_poison(cta->smem_poison, off, n))
        return true;
    note_clean(cta, off, n);
    return false;
}

/* Bytes that share their KiB with others. */
static void poison_some(struct cta *cta, uint32_t off, uint32_t n, bool value) {
    uint8_t *p = cta->smem_poison;
    uint32_t end = off + n;
    if (!n)
        return;
    smem_settle(cta, off, n);
    if (value)
        smem_doubt(cta, off, n);
    for (; off < end && (off & 7); off++)
        p[off >> 3] = (uint8_t)(value ? p[off >> 3] | 1u << (off & 7) : p[off >> 3] & ~(1u << (off & 7)));
    if (end - off >= 8) {
        memset(p + (off >> 3), value ? 0xff : 0, (end - off) >> 3);
        off += (end - off) & ~7u;
    }
    for (; off < end; off++)
        p[off >> 3] = (uint8_t)(value ? p[off >> 3] | 1u << (off & 7) : p[off >> 3] & ~(1u << (off & 7)));
}

/* Writes the bits of KiB `kib` of word i. */
static void poison_kib(struct cta *cta, uint32_t i, uint64_t kib, int bits) {
    for (; kib; kib &= kib - 1)
        memset(cta->smem_poison + (64 * i + (uint32_t)__builtin_ctzll(kib)) * KIB_BITS, bits, KIB_BITS);
}

static void poison_fill(struct cta *cta, uint32_t off, uint32_t n, bool value) {
    const uint32_t first = (off + 1023) >> 10, end = (off + n) >> 10;
    if (first >= end) {
        poison_some(cta, off, n, value);
        return;
    }
    poison_some(cta, off, (first << 10) - off, value);
    poison_some(cta, end << 10, off + n - (end << 10), value);
    for (uint32_t i = first / 64; i < (end + 63) / 64; i++) {
        const uint64_t kib = smem_kib(first, end, i);
        poison_kib(cta, i, kib & ~cta->smem_filled[i], value ? 0xff : 0);
        cta->smem_filled[i] |= value ? kib : 0;
        cta->smem_clean[i] = value ? cta->smem_clean[i] & ~kib : cta->smem_clean[i] | kib;
    }
}

void smem_clear_poison(struct cta *cta, uint32_t off, uint32_t n) {
    if (!smem_known_clean(cta, off, n))
        poison_fill(cta, off, n, false);
}

void smem_set_poison(struct cta *cta, uint32_t off, uint32_t n) { poison_fill(cta, off, n, true); }

void mach_fault_unwritten(struct cta *cta, uint32_t off, uint32_t bytes, const struct mach_origin *origin,
                          const struct diag *proto, const char *fmt, ...) {
    const struct gpu *gpu = cta->gpu;
    struct mach_story story;
    struct diag d = *proto;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (bytes && gpu->explain && gpu->explain(cta, off, bytes, &story)) {
        d.other = &story.party;
        d.hint = story.hint;
    }
    mach_fault(cta->island, origin, &d, "%s", text);
}
