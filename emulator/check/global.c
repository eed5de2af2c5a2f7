/* check/global.c - global memory: events to accesses; contract in global.h. */
#include "check/global.h"

#include "base/heap.h"

#include <string.h>

/* Runs of bytes that a cluster's threads load and that are looked at: kernels that load for seconds walk through
 * tables, each lane on its own. */
#define MAX_READS 32768u

#define CHUNK 64u
#define MAX_OPS (1u << 20) /* of a launch; of more nothing is kept */
#define MAX_ACQUIRES 256u  /* of a cluster: of more the oldest is forgotten */

struct op_chunk {
    struct op_chunk *next;
    uint32_t num;
    struct global_op op[CHUNK];
};

/* --- launches ----------------------------------------------------------------------------------------------------- */

void global_launch(const struct listener *self, const struct event_host *e) {
    struct global *g = xcalloc(1, sizeof *g);
    g->grid = e->grid;
    g->block = e->block;
    g->cluster = e->cluster;
    clock_pool_init(&g->far, e->cluster.x * e->cluster.y * e->cluster.z, e->block.x * e->block.y * e->block.z);
    g->far.room = 8;
    g->far.far = &g->far;
    pthread_mutex_init(&g->lock, NULL);
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&g->shard[i].lock, NULL);
    *event_launch_watch(self, e->gpu) = g;
}

void global_launch_end(const struct listener *self, const struct event_host *e) {
    struct global *g = *event_launch_watch(self, e->gpu);
    if (!g)
        return;
    cells_free(g);
    global_words_free(g);
    clock_pool_close(&g->far);
    for (struct op_chunk *c = g->chunks, *next; c; c = next) {
        next = c->next;
        xfree(c);
    }
    xfree(g->releases);
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&g->shard[i].lock);
    pthread_mutex_destroy(&g->lock);
    xfree(g);
    *event_launch_watch(self, e->gpu) = NULL;
}

void global_begin(struct race *r, const struct listener *self) {
    struct global *g = *event_launch_watch(self, r->cluster->cta[0].gpu);
    if (!g)
        return;
    r->global = xcalloc(1, sizeof *r->global);
    r->global->launch = g;
    r->global->cluster = (uint32_t)r->cluster->number;
    r->clocks.far = &g->far;
}

void global_end(struct race *r) {
    struct global_watch *g = r->global;
    if (!g)
        return;
    global_words_end(r);
    for (uint32_t i = 0; i < g->num_acquires; i++)
        clock_drop(&r->clocks, g->acquires[i].known);
    xfree(g->acquires);
    xfree(g);
    r->global = NULL;
}

/* --- operations --------------------------------------------------------------------------------------------------- */

static struct global_op *new_op(struct global_watch *g) {
    struct global *launch = g->launch;
    if (!g->chunk || g->chunk->num == CHUNK) {
        if (atomic_fetch_add(&launch->num_ops, CHUNK) >= MAX_OPS)
            return NULL;
        g->chunk = xcalloc(1, sizeof *g->chunk);
        pthread_mutex_lock(&launch->lock);
        g->chunk->next = launch->chunks;
        launch->chunks = g->chunk;
        pthread_mutex_unlock(&launch->lock);
    }
    return &g->chunk->op[g->chunk->num++];
}

static struct global_op *op_of(struct race *r, struct note *n) {
    if (n->global)
        return n->global;
    struct global_op *op = new_op(r->global);
    if (op)
        *op = (struct global_op){.note = n,
                                 .cluster = r->global->cluster,
                                 .lanes = n->lanes,
                                 .clock = n->clock,
                                 .source = n->source,
                                 .warp = n->warp,
                                 .site = n->origin.site,
                                 .name = n->name};
    return n->global = op;
}

void global_note_ends(struct note *n) {
    if (!n->global)
        return;
    n->global->read = n->read;
    n->global->written = n->written;
    n->global->note = NULL;
    n->global = NULL;
}

static void engine(struct race *r, const struct event_access *e, struct note *n) {
    const struct viewer v = viewer_of_note(&e->by, n, true, e->what ? e->what : n->name);
    struct global_op *op = op_of(r, n);
    uint8_t flags = MARK_OP | ONE_LANE * MARK_UNIT;
    if (!op)
        return;
    if (e->effect & EFFECT_WRITE)
        flags |= MARK_WRITE;
    if (e->effect == EFFECT_ATOMIC)
        flags |= MARK_STRONG;
    struct toucher t = {.r = r, .v = &v};
    t.mark = (struct mark){.by.op = op, .time = n->time, .cluster = r->global->cluster, .flags = flags};
    t.mark.warp = (uint16_t)n->warp;
    for (uint32_t i = 0; i < (e->pieces ? e->pieces : 1); i++)
        cells_touch(&t, e->at[i], e->size, e->rows ? e->rows : 1, e->stride);
}

/* Told when the copy is issued. Who knows of the issue may change the map: the text wants wait_group by the issuer, or
 * the copy's completion (9.7.9.25.1, 9.7.9.27.1.2), and well-kept kernels do with less (docs/memory-model.md). */
static void reads_map(struct race *r, const struct event_access *e, const struct note *n) {
    const struct viewer v = viewer_of_note(&e->by, n, true, e->what);
    struct toucher t = {.r = r, .v = &v, .map = true};
    t.mark = (struct mark){.by.site = n->origin.site, .time = n->time, .cluster = r->global->cluster};
    t.mark.flags = ONE_LANE * MARK_UNIT;
    t.mark.warp = (uint16_t)n->warp;
    t.mark.lane = (int8_t)(n->lanes ? __builtin_ctz(n->lanes) : 0);
    cells_touch(&t, e->at[0], e->size, 1, 0);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

bool global_is_map_copy(const struct event_access *e) {
    return e->by.what && strcmp(e->by.what, "tensormap.cp_fenceproxy") == 0;
}

static uint8_t thread_flags(const struct event_access *e) {
    const bool even = e->size <= SECTOR && (e->size & (e->size - 1)) == 0;
    uint8_t flags = e->effect & EFFECT_WRITE ? MARK_WRITE : 0;
    if (global_is_map_copy(e))
        return flags | ONE_WARP * MARK_UNIT;
    flags |= (uint8_t)((even ? (uint32_t)__builtin_ctz(e->size) : ONE_LANE) * MARK_UNIT);
    if (e->by.order != ORDER_WEAK || e->effect == EFFECT_ATOMIC)
        flags |= MARK_STRONG | (e->by.scope < SCOPE_GPU ? MARK_NARROW : 0);
    return flags;
}

/* Lanes `first` and on touch [at, at + bytes), as `unit` says. */
static void run(struct toucher *t, const struct event_access *e, uint32_t first, uint64_t bytes, uint32_t unit) {
    const uint64_t at = e->at[first];
    if (e->effect == EFFECT_READ && e->by.order == ORDER_WEAK && t->r->global->reads++ >= MAX_READS)
        return;
    t->mark.flags = (uint8_t)(thread_flags(e) % MARK_UNIT + unit * MARK_UNIT);
    t->mark.lane = (int8_t)first;
    t->written = e->effect == EFFECT_WRITE ? mem_at(e->by.cta->gpu->mem, at, bytes) : NULL;
    cells_touch(t, at, (uint32_t)bytes, 1, 0);
}

static bool all_same(const struct event_access *e) {
    uint64_t other = 0;
    for (uint32_t l = 1; l < CLOCK_LANES; l++)
        other |= e->at[l] ^ e->at[0];
    return !other;
}

/* Neighbouring lanes with neighbouring bytes make one run; so do lanes that all read the same. */
static void touch_lanes(struct toucher *t, const struct event_access *e, uint32_t lanes) {
    const uint32_t unit = thread_flags(e) / MARK_UNIT;
    if (lanes == UINT32_MAX && e->effect == EFFECT_READ && all_same(e)) {
        run(t, e, 0, e->size, EVERY_LANE);
        return;
    }
    while (lanes) {
        const uint32_t first = (uint32_t)__builtin_ctz(lanes);
        uint32_t n = 1;
        lanes &= lanes - 1;
        while (unit < ONE_LANE && first + n < CLOCK_LANES && lanes >> (first + n) & 1 &&
               e->at[first + n] == e->at[first] + (uint64_t)n * e->size)
            lanes &= ~(1u << (first + n++));
        run(t, e, first, (uint64_t)n * e->size, unit);
    }
}

static void threads(struct race *r, const struct event_access *e, const struct note *copy) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    struct toucher t = {.r = r};
    t.mark = (struct mark){.by.site = e->by.site, .cluster = r->global->cluster, .warp = (uint16_t)warp};
    t.mark.time = copy ? copy->time : r->time;
    if (copy) { /* cp.async: a read, as of its issue */
        const struct viewer v = viewer_of_note(&e->by, copy, false, copy->name);
        t.v = &v;
        touch_lanes(&t, e, e->by.lanes);
        return;
    }
    for (uint32_t i = 0; i < w->num_strands; i++) {
        const struct viewer v = viewer_of_strand(r, &e->by, warp, &w->strand[i], e->effect);
        t.v = &v;
        t.k = &w->strand[i].k;
        touch_lanes(&t, e, v.lanes);
    }
}

void global_access(struct race *r, const struct event_access *e, struct note *n) {
    if (!r->global || !e->size || r->global->launch->quiet)
        return;
    if (e->agent == AGENT_THREAD)
        threads(r, e, NULL);
    else if (e->agent == AGENT_CP_ASYNC && n)
        threads(r, e, n);
    else if (n && e->proxy == PROXY_TENSORMAP)
        reads_map(r, e, n);
    else if (n)
        engine(r, e, n);
}

/* --- tensor maps -------------------------------------------------------------------------------------------------- */

/* Lanes of a warp are told of one by one. */
static void map_released(struct race *r, uint32_t warp, uint32_t lanes) {
    struct global *g = r->global->launch;
    pthread_mutex_lock(&g->lock);
    struct map_release *last = g->num_releases ? &g->releases[g->num_releases - 1] : NULL;
    if (last && last->cluster == r->global->cluster && last->warp == warp && last->clock == r->island->clock) {
        last->lanes |= lanes;
        last->time = r->time;
    } else if (g->num_releases < MAX_RELEASES) {
        g->releases = xgrow(g->releases, g->num_releases, &g->cap_releases, sizeof *g->releases);
        g->releases[g->num_releases++] = (struct map_release){
            .clock = r->island->clock, .cluster = r->global->cluster, .warp = warp, .lanes = lanes, .time = r->time};
    }
    pthread_mutex_unlock(&g->lock);
}

static void map_acquired(struct race *r, uint32_t warp, const struct strand *s, uint32_t lanes, uint64_t map) {
    struct global_watch *g = r->global;
    uint32_t i = 0;
    while (i < g->num_acquires && (g->acquires[i].map != map || g->acquires[i].warp != warp))
        i++;
    if (i == MAX_ACQUIRES)
        i = 0;
    if (i == g->num_acquires) {
        g->acquires = xgrow(g->acquires, g->num_acquires, &g->cap_acquires, sizeof *g->acquires);
        g->acquires[g->num_acquires++] = (struct map_acquire){0};
    }
    struct map_acquire *a = &g->acquires[i];
    if (a->lanes && a->known == s->k.now[LAYER_ORDER] && a->clock == r->island->clock) {
        a->lanes |= lanes;
        return;
    }
    clock_set(&r->clocks, &a->known, s->k.now[LAYER_ORDER]);
    *a = (struct map_acquire){map, r->island->clock, warp, lanes, r->time, a->known};
}

void global_map_fence(struct race *r, const struct event_sync *e) {
    const uint32_t warp = race_warp(r, e->by.cta, e->by.warp);
    const struct warp_watch *w = &r->warps[warp];
    if (!r->global)
        return;
    if (e->by.order == ORDER_RELEASE)
        map_released(r, warp, e->by.lanes);
    for (uint32_t i = 0; e->by.order == ORDER_ACQUIRE && i < w->num_strands; i++)
        if (w->strand[i].lanes & e->by.lanes)
            map_acquired(r, warp, &w->strand[i], w->strand[i].lanes & e->by.lanes, e->map);
}
