/* check/know/barriers.c - barriers of a CTA and of the cluster; contract in barriers.h. */
#include "check/know/cluster.h"

#include "base/heap.h"

#include <string.h>

/* A barrier does not wait for exited threads, so it completes after their exits (9.7.13.1, 9.7.13.3): whoever passes it
 * knows that their acts have been executed. */
static void count_exited(struct race *r, const struct cta_watch *c, struct meeting *m) {
    vclock_join(&r->clocks, &m->open[LAYER_SEEN], c->exited.open[LAYER_SEEN]);
    vclock_join(&r->clocks, &m->open[LAYER_RAN], c->exited.open[LAYER_RAN]);
}

void barriers_drop(struct race *r, struct bar_passed **p) {
    if (*p && !--(*p)->holders) {
        know_forget(r, &(*p)->m);
        xfree(*p);
    }
    *p = NULL;
}

/* A generation completes. It orders only the warps that took part in it, not those of the next generation with that
 * number. */
static void bar_completes(struct race *r, struct cta_watch *c, const struct event_sync *e, struct meeting *m) {
    if (c->bars.arrived[e->number] * MACH_WARP < e->count) /* the others have exited */
        count_exited(r, c, m);
    struct bar_passed *p = xcalloc(1, sizeof *p);
    p->holders = 1;
    memcpy(p->m.done, m->open, sizeof m->open);
    memcpy(p->m.joined, m->joined, sizeof m->joined);
    *m = (struct meeting){.open = {NULL}};
    for (uint32_t left = c->bars.warps[e->number]; left; left &= left - 1) {
        struct warp_watch *w = &r->warps[race_warp(r, e->owner, (uint32_t)__builtin_ctz(left))];
        if (w->bar != e->number)
            continue;
        barriers_drop(r, &w->passed);
        w->passed = p;
        p->holders++;
    }
    barriers_drop(r, &p);
    c->bars.arrived[e->number] = c->bars.warps[e->number] = 0;
}

void barriers_sync_cta(struct race *r, const struct event_sync *e) {
    struct cta_watch *c = race_cta(r, e->owner);
    const struct sem how = sem_of(e);
    const uint32_t warp = race_warp_of(r, &e->by);
    switch (e->kind) {
    case SYNC_BAR_ARRIVE:
        c->bars.arrived[e->number]++;
        c->bars.warps[e->number] |= UINT32_C(1) << e->by.warp;
        r->warps[warp].bar = e->number;
        mbars_released(r, e);
        know_arrive(r, warp, e->by.lanes, &c->bars.met[e->number], &how);
        break;
    case SYNC_BAR_PHASE:
        bar_completes(r, c, e, &c->bars.met[e->number]);
        break;
    default:
        if (r->warps[warp].passed)
            know_observe(r, warp, e->by.lanes, &r->warps[warp].passed->m, r->warps[warp].passed->m.joined, &how);
        break;
    }
}

void barriers_sync_cluster(struct race *r, const struct event_sync *e) {
    const struct sem how = sem_of(e);
    const uint32_t warp = race_warp_of(r, &e->by);
    switch (e->kind) {
    case SYNC_CLUSTER_ARRIVE:
        mbars_released(r, e);
        know_arrive(r, warp, e->by.lanes, &r->barrier, &how);
        break;
    case SYNC_CLUSTER_PHASE:
        for (uint32_t i = 0; i < r->cluster->num_ctas; i++)
            count_exited(r, &r->ctas[i], &r->barrier);
        mbars_met(r);
        know_phase(r, &r->barrier);
        break;
    default:
        know_observe(r, warp, e->by.lanes, &r->barrier, NULL, &how);
        break;
    }
}

void barriers_exit(struct race *r, const struct event_life *e) {
    static const struct sem how = {.order = ORDER_RELAXED, .scope = SCOPE_CTA, .near = true};
    know_arrive(r, race_warp_of(r, &e->by), e->by.lanes, &race_cta(r, e->owner)->exited, &how);
}
