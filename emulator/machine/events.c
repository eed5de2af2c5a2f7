/* machine/events.c - telling the listeners; contract in events.h. */
#include "machine/events.h"

#include "base/heap.h"

bool events_attach(struct gpu *gpu, const struct listener *l) {
    if (gpu->num_listeners == MACH_LISTENERS)
        return false;
    gpu->listeners = xrealloc_array(gpu->listeners, gpu->num_listeners + 1, sizeof *gpu->listeners);
    struct listener *mine = &gpu->listeners[gpu->num_listeners];
    *mine = *l;
    mine->slot = gpu->num_listeners++;
    gpu->wanted |= mine->wants;
    gpu->apart |= mine->joins ? 0 : mine->wants;
    return true;
}

void events_close(struct gpu *gpu) {
    for (uint32_t i = 0; i < gpu->num_listeners; i++)
        if (gpu->listeners[i].close)
            gpu->listeners[i].close(&gpu->listeners[i]);
}

struct event_by event_by_origin(struct cta *cta, const struct mach_origin *origin, const char *what,
                                enum event_order order, enum event_scope scope) {
    static const struct mach_origin nobody;
    const struct mach_origin *o = origin ? origin : &nobody;
    return (struct event_by){.cta = o->op ? o->op->cta : cta,
                             .op = o->op,
                             .site = o->site,
                             .what = o->op ? o->op->name : what,
                             .warp = o->thread.warp,
                             .lanes = o->thread.lanes,
                             .order = order,
                             .scope = scope};
}

struct mach_origin event_origin(const struct event_by *by) {
    if (by->op)
        return by->op->origin;
    const struct cta *cta = by->cta;
    const uint32_t first = by->warp * MACH_WARP + (by->lanes ? (uint32_t)__builtin_ctz(by->lanes) : 0);
    const struct diag_dim3 block = cta->cluster->block;
    return (struct mach_origin){
        .site = by->site,
        .thread = {.cta = cta->id,
                   .cluster_rank = cta->rank,
                   .cluster_size = cta->cluster->num_ctas,
                   .tid = {first % block.x, first / block.x % block.y, first / (block.x * block.y)},
                   .warp = by->warp,
                   .lanes = by->lanes}};
}

/* --- which kinds an event is of ----------------------------------------------------------------------------------- */

static inline bool by_threads(enum event_agent agent) { return agent == AGENT_THREAD || agent == AGENT_CP_ASYNC; }

static inline uint32_t access_wants(const struct event_access *e) {
    static const uint32_t wants[][2][2] = {
        /* engines: reads, writes; threads: the same */
        [SPACE_SHARED] = {{WANT_ENGINE_READ, WANT_ENGINE_WRITE}, {WANT_SHARED_READ, WANT_SHARED_WRITE}},
        [SPACE_TENSOR] = {{WANT_TENSOR, WANT_TENSOR}, {WANT_TENSOR, WANT_TENSOR}},
        [SPACE_GLOBAL] = {{WANT_ENGINE_GLOBAL, WANT_ENGINE_GLOBAL}, {WANT_GLOBAL, WANT_GLOBAL}},
    };
    return wants[e->space][by_threads(e->agent)][(e->effect & EFFECT_WRITE) != 0];
}

/* Kinds that one bit stands for follow each other. */
static uint32_t sync_wants(enum event_sync_kind kind) {
    if (kind <= SYNC_MBAR_PHASE)
        return WANT_MBARRIER;
    return kind == SYNC_MBAR_TEST ? WANT_POLL : kind <= SYNC_WARP ? WANT_BARRIER : WANT_FENCE;
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

void event_spread(const struct event_access *e) {
    typedef uint64_t two_longs __attribute__((vector_size(16), aligned(8), may_alias));
    uint64_t *const at = e->spread;
    if (!at)
        return;
    const uint64_t step = (uint64_t)e->step, high = (uint64_t)e->high;
    two_longs a = {at[0], at[0] + step}, b = {at[MACH_WARP / 2], at[MACH_WARP / 2] + high};
    for (uint32_t l = 0; l < MACH_WARP / 2; l += 2, a += 2 * step, b += 2 * high) {
        *(two_longs *)(at + l) = a;
        *(two_longs *)(at + MACH_WARP / 2 + l) = b;
    }
}

/* For a listener that does not do it itself. */
static inline void spread_for(const struct listener *l, const struct event_access *e) {
    if (!l->spreads)
        event_spread(e);
}

#define SEND(kind, is_of, ready)                                                                                       \
    static inline void send_##kind(const struct listener *l, uint32_t wants, const struct event_##kind *e) {           \
        if (l->wants & wants && l->kind) {                                                                             \
            ready;                                                                                                     \
            l->kind(l, e);                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    static __attribute__((noinline)) void all_##kind(const struct gpu *gpu, const struct event_##kind *e) {            \
        for (uint32_t i = 0; i < gpu->num_listeners; i++)                                                              \
            send_##kind(&gpu->listeners[i], is_of, e);                                                                 \
    }                                                                                                                  \
    void events_send_##kind(const struct gpu *gpu, const struct event_##kind *e) { /* mostly to one listener */        \
        if (gpu->num_listeners == 1)                                                                                   \
            send_##kind(gpu->listeners, is_of, e);                                                                     \
        else                                                                                                           \
            all_##kind(gpu, e);                                                                                        \
    }
SEND(access, access_wants(e), spread_for(l, e))
SEND(sync, sync_wants(e->kind), )
SEND(op, WANT_OP, )
SEND(wait, WANT_WAIT, )
SEND(step, WANT_STEP, )
SEND(life, WANT_LIFE, )
SEND(host, WANT_HOST, )
