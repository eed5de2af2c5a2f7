/* check/know/cluster.c - creates and frees what is known of a launch and of a cluster; contract in cluster.h. */
#include "check/know/cluster.h"

#include "base/heap.h"

/* --- launches ----------------------------------------------------------------------------------------------------- */

void race_begin_launch(struct grid_watch *g, const struct event_host *e, bool wide) {
    g->grid = e->grid;
    g->block = e->block;
    g->cluster = e->cluster;
    g->plain = e->plain;
    vclock_pool_init(&g->far, e->cluster.x * e->cluster.y * e->cluster.z, e->block.x * e->block.y * e->block.z);
    g->far.room = 8;
    g->far.wide = wide;
    g->far.far = &g->far;
    g->far.tokens = g->far.room; /* each cluster has its own, so all of a clock have values */
    pthread_mutex_init(&g->lock, NULL);
}

void race_end_launch(struct grid_watch *g) {
    flags_end_launch(&g->flags, &g->far);
    vclock_pool_close(&g->far);
    notes_end_launch(g);
    xfree(g->releases);
    pthread_mutex_destroy(&g->lock);
}

/* --- clusters ----------------------------------------------------------------------------------------------------- */

void race_begin(struct race *r, struct cluster *cl, struct grid_watch *grid, struct site_logs *logs) {
    vclock_pool_init(&r->clocks, cl->num_ctas, cl->block.x * cl->block.y * cl->block.z);
    r->cluster = cl;
    r->most_time = (uint32_t)race_bound(r, BOUND_EVENTS);
    r->island = cl->island;
    r->strict = cl->cta[0].gpu->config.check == MACH_CHECK_STRICT;
    r->warps_each = r->clocks.warps_each;
    r->warps = xcalloc(r->clocks.warps, sizeof *r->warps);
    r->ctas = xcalloc(cl->num_ctas, sizeof *r->ctas);
    for (uint32_t w = 0; w < r->clocks.warps; w++) {
        r->warps[w].strand = xrealloc_array(NULL, VCLOCK_LANES, sizeof(struct strand));
        r->warps[w].strand[0] = (struct strand){.lanes = UINT32_MAX};
        r->warps[w].num_strands = 1;
        r->warps[w].sites.most = (uint32_t)race_bound(r, BOUND_SITES) + 1;
        r->warps[w].sites.logs = logs;
    }
    r->grid = grid;
    r->number = (uint32_t)cl->number;
    r->clocks.far = grid ? &grid->far : NULL;
    r->clocks.wide = grid && grid->far.wide;
}

static void end_warp(struct race *r, struct warp_watch *w) {
    for (uint32_t i = 0; i < w->num_strands; i++)
        know_drop(r, &w->strand[i].k);
    notes_end_warp(r, &w->ops);
    xfree(w->strand);
    sites_end(&w->sites);
    barriers_drop(r, &w->passed);
    flags_end_warp(r, w->giver);
}

/* Also drops the notes of operations that a fault stopped, which are still queued. */
static void end_cta(struct race *r, const struct listener *self, const struct cta *cta) {
    struct cta_watch *c = race_cta(r, cta);
    for (const struct async_queue *q = cta->queues; q; q = q->next)
        for (const struct async_op *op = q->head; op; op = op->next)
            note_over(r, self, op);
    for (uint32_t i = 0; i < MACH_BARRIERS; i++)
        know_forget(r, &c->bars.met[i]);
    know_forget(r, &c->exited);
    mbars_forget(r, &c->mbars);
}

void race_end(struct race *r, const struct listener *self) {
    for (uint32_t i = 0; i < r->cluster->num_ctas; i++)
        end_cta(r, self, &r->cluster->cta[i]);
    for (uint32_t w = 0; w < r->clocks.warps; w++)
        end_warp(r, &r->warps[w]);
    know_forget(r, &r->barrier);
    flags_end(r);
    maps_end(r);
    notes_end(r);
    vclock_pool_close(&r->clocks);
    xfree(r->warps);
    xfree(r->ctas);
}

struct mach_origin race_origin(const struct race *r, uint32_t warp, uint32_t lanes, const struct diag_site *site) {
    const struct event_by by = {
        .cta = &r->cluster->cta[warp / r->warps_each], .site = site, .warp = warp % r->warps_each, .lanes = lanes};
    return event_origin(&by);
}
