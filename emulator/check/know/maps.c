/* check/know/maps.c - fence.proxy.tensormap; contract in maps.h. */
#include "check/know/cluster.h"

#include "base/heap.h"

/* Remembers a release. The event comes once for each lane of a warp: these are one release. */
static void map_released(struct race *r, uint32_t warp, uint32_t lanes) {
    struct grid_watch *g = r->grid;
    pthread_mutex_lock(&g->lock);
    struct map_release *last = g->num_releases ? &g->releases[g->num_releases - 1] : NULL;
    if (last && last->cluster == r->number && last->warp == warp && last->clock == r->island->clock) {
        last->lanes |= lanes;
        last->time = r->time;
    } else if (g->num_releases < race_bound(r, BOUND_RELEASES)) {
        g->releases = xgrow(g->releases, g->num_releases, &g->cap_releases, sizeof *g->releases);
        g->releases[g->num_releases++] = (struct map_release){
            .clock = r->island->clock, .cluster = r->number, .warp = warp, .lanes = lanes, .time = r->time};
    } else {
        g->lost_releases = true;
    }
    pthread_mutex_unlock(&g->lock);
}

/* Remembers an acquire of the map by lanes of a strand: the latest for each warp and map. */
static void map_acquired(struct race *r, uint32_t warp, const struct strand *s, uint32_t lanes, uint64_t map) {
    struct map_acquires *q = &r->acquires;
    uint32_t i = 0;
    while (i < q->num && (q->list[i].map != map || q->list[i].warp != warp))
        i++;
    if (i == q->num && i >= race_bound(r, BOUND_ACQUIRES)) {
        q->lost = true;
        return;
    }
    if (i == q->num) {
        q->list = xgrow(q->list, q->num, &q->cap, sizeof *q->list);
        q->list[q->num++] = (struct map_acquire){0};
    }
    struct map_acquire *a = &q->list[i];
    if (a->lanes && a->known == s->k.now[LAYER_ORDER] && a->clock == r->island->clock) {
        a->lanes |= lanes;
        return;
    }
    vclock_set(&r->clocks, &a->known, s->k.now[LAYER_ORDER]);
    *a = (struct map_acquire){map, r->island->clock, warp, lanes, r->time, a->known};
}

void maps_fence(struct race *r, const struct event_sync *e) {
    const uint32_t warp = race_warp_of(r, &e->by);
    const struct warp_watch *w = &r->warps[warp];
    if (!r->grid)
        return;
    if (e->by.order == ORDER_RELEASE)
        map_released(r, warp, e->by.lanes);
    for (uint32_t i = 0; e->by.order == ORDER_ACQUIRE && i < w->num_strands; i++)
        if (w->strand[i].lanes & e->by.lanes)
            map_acquired(r, warp, &w->strand[i], w->strand[i].lanes & e->by.lanes, e->map);
}

bool maps_is_released(const struct race *r, const struct map_acquire *a, uint32_t cluster, uint32_t time) {
    struct grid_watch *g = r->grid;
    const bool near = cluster == r->number;
    const struct vclock *c = near ? a->known : far_of(vclock_far(a->known), cluster);
    bool found = false;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = g->num_releases; i-- && !found;) {
        const struct map_release *m = &g->releases[i];
        const bool own = near && m->warp == a->warp && m->lanes & a->lanes && m->time <= a->time;
        found = m->cluster == cluster && m->time >= time && (own || vclock_knows_any(c, m->warp, m->lanes, m->time));
    }
    const bool lost = !found && g->lost_releases;
    pthread_mutex_unlock(&g->lock);
    if (lost)
        race_lost(r, BOUND_RELEASES);
    return found || lost;
}

void maps_end(struct race *r) {
    for (uint32_t i = 0; i < r->acquires.num; i++)
        vclock_drop(&r->clocks, r->acquires.list[i].known);
    xfree(r->acquires.list);
}
