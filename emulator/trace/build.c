/* trace/build.c - a cluster's part of a log; contract in build.h. */
#include "trace/build.h"

#include "base/heap.h"
#include "trace/describe.h"

/* --- instructions ------------------------------------------------------------------------------------------------- */

static uint32_t hash(const struct diag_site *site) {
    const uint64_t v = (uint64_t)(uintptr_t)site * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(v >> 32);
}

struct site_seen *track_seen(struct cluster_track *t, const struct diag_site *site) {
    struct site_seen *s = &t->seen[hash(site) & (TRACE_SEEN - 1)];
    if (s->site == site)
        return s;
    const struct trace_kind k = trace_kind_of(site);
    *s = (struct site_seen){.site = site, .run = k.run, .timed = k.timed, .own = k.own, .more = k.more};
    return s;
}

static uint32_t *place_of(const struct cluster_track *t, const struct diag_site *site) {
    uint32_t at = hash(site) & (t->site_places - 1);
    while (t->site_at[at] && t->sites[t->site_at[at] - 1].site != site)
        at = (at + 1) & (t->site_places - 1);
    return &t->site_at[at];
}

static void more_places(struct cluster_track *t) {
    xfree(t->site_at);
    t->site_places = t->site_places ? 2 * t->site_places : 256;
    t->site_at = xcalloc(t->site_places, sizeof *t->site_at);
    for (uint32_t i = 0; i < t->num_sites; i++)
        *place_of(t, t->sites[i].site) = i + 1;
}

uint32_t track_site(struct cluster_track *t, const struct diag_site *site) {
    if (!site)
        return 0;
    struct site_seen *s = track_seen(t, site);
    if (s->number)
        return s->number;
    if (2 * (t->num_sites + 1) > t->site_places)
        more_places(t);
    uint32_t *place = place_of(t, site);
    if (!*place) {
        t->sites = xgrow(t->sites, t->num_sites, &t->cap_sites, sizeof *t->sites);
        t->sites[t->num_sites++] = *s;
        *place = t->num_sites;
    }
    return s->number = *place;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

uint32_t track_append(struct cluster_track *t, const struct trace_event *e) {
    struct trace_cluster *out = &t->out;
    if (t->outside || out->num_events + out->num_spans / 4 >= t->max_events) {
        out->complete = 0;
        return 0;
    }
    out->events = xgrow(out->events, out->num_events, &t->cap_events, sizeof *out->events);
    out->events[out->num_events++] = *e;
    return out->num_events;
}

uint32_t track_spans(struct cluster_track *t, const struct event_access *a) {
    struct trace_cluster *out = &t->out;
    struct trace_span *s = NULL;
    uint32_t n = 0;
    if (t->outside || out->num_events >= t->max_events)
        return 0;
    for (uint32_t lanes = a->by.lanes; lanes; lanes &= lanes - 1) {
        const uint64_t at = a->at[__builtin_ctz(lanes)];
        const int64_t step = s ? (int64_t)(at - s->first - (uint64_t)((int64_t)s->step * (s->lanes - 1))) : 0;
        if (s && (s->lanes == 1 ? step >= INT32_MIN && step <= INT32_MAX : step == s->step)) {
            s->step = (int32_t)step;
            s->lanes++;
            continue;
        }
        out->spans = xgrow(out->spans, out->num_spans, &t->cap_spans, sizeof *out->spans);
        s = &out->spans[out->num_spans++];
        *s = (struct trace_span){.first = at, .lanes = 1};
        n++;
    }
    return n;
}

uint32_t track_object(struct cluster_track *t, const struct trace_object *o, const char *name) {
    struct trace_cluster *out = &t->out;
    out->objects = xgrow(out->objects, out->num_objects, &t->cap_objects, sizeof *o);
    t->object_names = xgrow(t->object_names, out->num_objects, &t->cap_object_names, sizeof *t->object_names);
    t->object_names[out->num_objects] = name;
    out->objects[out->num_objects++] = *o;
    return out->num_objects;
}

uint32_t track_op(struct cluster_track *t, const struct trace_op *o, const char *name) {
    struct trace_cluster *out = &t->out;
    out->ops = xgrow(out->ops, out->num_ops, &t->cap_ops, sizeof *o);
    t->op_names = xgrow(t->op_names, out->num_ops, &t->cap_op_names, sizeof *t->op_names);
    t->op_names[out->num_ops] = name;
    out->ops[out->num_ops++] = *o;
    return out->num_ops;
}

/* --- beginning and end -------------------------------------------------------------------------------------------- */

struct cluster_track *track_open(const struct launch_track *l, const struct cluster *cl) {
    struct cluster_track *t = xcalloc(1, sizeof *t);
    const uint32_t threads = cl->block.x * cl->block.y * cl->block.z;
    t->window = &l->sink->window;
    t->outside = t->window->tiles && t->window->first_tile > 0;
    t->max_events = l->window_events;
    t->warps_each = (threads + MACH_WARP - 1) / MACH_WARP;
    t->ctas = xcalloc(cl->num_ctas, sizeof *t->ctas);
    t->out.number = cl->number;
    t->out.id = cl->id;
    t->out.ctas = cl->num_ctas;
    t->out.complete = 1;
    for (uint32_t r = 0; r < cl->num_ctas; r++) {
        t->out.sm[r] = cl->cta[r].sm->id;
        t->ctas[r].warps = xcalloc(t->warps_each, sizeof *t->ctas[r].warps);
        t->ctas[r].mbar_at = xcalloc(cl->cta[r].smem_end / 8 + 1, sizeof *t->ctas[r].mbar_at);
    }
    return t;
}

/* Frees everything but the events. */
void track_close(struct cluster_track *t) {
    for (uint32_t r = 0; t->ctas && r < t->out.ctas; r++) {
        struct cta_track *c = &t->ctas[r];
        for (uint32_t i = 0; i < c->num_mbars; i++)
            xfree(c->mbars[i].phases);
        xfree(c->warps);
        xfree(c->mbars);
        xfree(c->mbar_at);
        xfree(c->queues);
        xfree(c->ops);
    }
    xfree(t->ctas);
    xfree(t->site_at);
    t->ctas = NULL;
    t->site_at = NULL;
}
