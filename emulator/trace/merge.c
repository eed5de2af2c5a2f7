/* trace/merge.c - merges the clusters' parts of a launch into one log, in the order of their numbers; contract in
 * build.h. */
#include "base/heap.h"
#include "trace/build.h"

#include <string.h>

#define MAX_CLUSTERS (UINT64_C(1) << 20) /* limit for each launch */

/* --- beginning ---------------------------------------------------------------------------------------------------- */

static uint64_t volume(struct diag_dim3 d) { return (uint64_t)d.x * d.y * d.z; }

struct launch_track *track_launch(const struct trace_sink *sink, const struct event_host *h) {
    struct launch_track *l = xcalloc(1, sizeof *l);
    const uint64_t clusters = volume(h->grid) / volume(h->cluster);
    l->sink = sink;
    l->num_clusters = clusters < MAX_CLUSTERS ? clusters : MAX_CLUSTERS;
    l->clusters = xcalloc(l->num_clusters, sizeof *l->clusters);
    l->sms = xcalloc(h->gpu->config.num_sms, sizeof *l->sms);
    uint64_t kept = l->num_clusters;
    if (sink->window.ctas && sink->window.last_cta - sink->window.first_cta < kept)
        kept = sink->window.last_cta - sink->window.first_cta + 1;
    const uint64_t events = sink->window.bytes / sizeof(struct trace_event) / kept;
    l->window_events = sink->window.bytes && events < UINT32_MAX ? events : UINT32_MAX - 1;
    l->log = xcalloc(1, sizeof *l->log);
    l->log->version = TRACE_VERSION;
    l->log->cut = sink->window.ctas || sink->window.tiles || clusters > MAX_CLUSTERS;
    l->log->grid = h->grid;
    l->log->block = h->block;
    l->log->cluster = h->cluster;
    l->log->smem = h->static_smem + h->dynamic_smem;
    l->log->resident = h->resident;
    l->kernel = h->kernel;
    return l;
}

bool track_wanted(const struct launch_track *l, const struct cluster *cl) {
    const struct trace_window *w = &l->sink->window;
    const struct diag_dim3 grid = l->log->grid;
    for (uint32_t r = 0; w->ctas && r < cl->num_ctas; r++) {
        const struct diag_dim3 id = cl->cta[r].id;
        const uint64_t number = id.x + (uint64_t)grid.x * (id.y + (uint64_t)grid.y * id.z);
        if (number >= w->first_cta && number <= w->last_cta)
            return true;
    }
    return !w->ctas;
}

/* --- text and instructions ---------------------------------------------------------------------------------------- */

struct merge {
    struct trace_log *log;
    uint32_t cap_text, cap_sites, cap_calls;
    uint32_t *texts, num_texts, text_places; /* open addressing: offsets; 0 is free */
    struct site_entry {
        const struct diag_site *site; /* NULL: free */
        uint32_t number;
    } * site_at; /* the same of instructions */
    uint32_t site_places;
};

static uint64_t mix(const void *bytes, size_t n) {
    uint64_t key = UINT64_C(0xCBF29CE484222325);
    for (const unsigned char *p = bytes; n; n--)
        key = (key ^ *p++) * UINT64_C(0x100000001B3);
    return key;
}

static uint32_t *text_place(const struct merge *m, const char *s) {
    uint32_t at = (uint32_t)mix(s, strlen(s)) & (m->text_places - 1);
    while (m->texts[at] && strcmp(m->log->text + m->texts[at], s) != 0)
        at = (at + 1) & (m->text_places - 1);
    return &m->texts[at];
}

static void more_texts(struct merge *m) {
    uint32_t *old = m->texts;
    const uint32_t places = m->text_places;
    m->text_places = places ? 2 * places : 1024;
    m->texts = xcalloc(m->text_places, sizeof *m->texts);
    for (uint32_t i = 0; i < places; i++)
        if (old[i])
            *text_place(m, m->log->text + old[i]) = old[i];
    xfree(old);
}

static trace_text put_text(struct merge *m, const char *s) {
    if (!s || !*s)
        return 0;
    if (2 * (m->num_texts + 1) > m->text_places)
        more_texts(m);
    uint32_t *place = text_place(m, s);
    if (*place)
        return *place;
    const size_t bytes = strlen(s) + 1;
    while (m->log->text_bytes + bytes > m->cap_text) {
        m->cap_text = m->cap_text ? 2 * m->cap_text : 4096;
        m->log->text = xrealloc_array(m->log->text, m->cap_text, 1);
    }
    memcpy(m->log->text + m->log->text_bytes, s, bytes);
    *place = m->log->text_bytes;
    m->log->text_bytes += (uint32_t)bytes;
    m->num_texts++;
    return *place;
}

static uint32_t put_calls(struct merge *m, const struct diag_inline *call) {
    struct trace_log *log = m->log;
    if (!call)
        return 0;
    const struct trace_call c = {
        .file = put_text(m, call->file), .line = call->line, .outer = put_calls(m, call->outer)};
    for (uint32_t i = 0; i < log->num_calls; i++)
        if (memcmp(&log->calls[i], &c, sizeof c) == 0)
            return i + 1;
    log->calls = xgrow(log->calls, log->num_calls, &m->cap_calls, sizeof c);
    log->calls[log->num_calls++] = c;
    return log->num_calls;
}

static struct site_entry *site_place(struct site_entry *table, uint32_t places, const struct diag_site *site) {
    uint32_t at = (uint32_t)mix(&site, sizeof site) & (places - 1);
    while (table[at].site && table[at].site != site)
        at = (at + 1) & (places - 1);
    return &table[at];
}

static void more_sites(struct merge *m) {
    const uint32_t places = m->site_at ? 2 * m->site_places : 1024;
    struct site_entry *table = xcalloc(places, sizeof *table);
    for (uint32_t i = 0; m->site_at && i < m->site_places; i++)
        if (m->site_at[i].site)
            *site_place(table, places, m->site_at[i].site) = m->site_at[i];
    xfree(m->site_at);
    m->site_at = table;
    m->site_places = places;
}

static uint32_t put_site(struct merge *m, const struct diag_site *s) {
    struct trace_log *log = m->log;
    if (!m->site_at || 2 * (log->num_sites + 1) > m->site_places)
        more_sites(m);
    struct site_entry *place = site_place(m->site_at, m->site_places, s);
    if (place->site)
        return place->number;
    log->sites = xgrow(log->sites, log->num_sites, &m->cap_sites, sizeof *log->sites);
    log->sites[log->num_sites] = (struct trace_site){.file = put_text(m, s->src_file),
                                                     .line = s->src_line,
                                                     .column = s->src_column,
                                                     .ptx = put_text(m, s->ptx_name),
                                                     .ptx_line = s->ptx_line,
                                                     .text = put_text(m, s->ptx_text),
                                                     .func = put_text(m, s->func),
                                                     .inlined = put_calls(m, s->inlined)};
    *place = (struct site_entry){s, ++log->num_sites};
    return log->num_sites;
}

/* --- clusters ----------------------------------------------------------------------------------------------------- */

/* Replaces the cluster's own instruction numbers by the log's, and causes elsewhere by places in the log. */
static void renumber(struct merge *m, struct cluster_track *t, const uint32_t *index_of, uint64_t num_clusters) {
    uint32_t *to = xcalloc(t->num_sites + 1, sizeof *to);
    for (uint32_t i = 0; i < t->num_sites; i++)
        to[i + 1] = put_site(m, t->sites[i].site);
    for (uint32_t i = 0; i < t->out.num_events; i++) {
        struct trace_event *e = &t->out.events[i];
        e->site = to[e->site];
        if (!e->cluster)
            continue;
        e->cluster = e->cluster <= num_clusters ? index_of[e->cluster - 1] : 0;
        e->cause = e->cluster ? e->cause : 0;
    }
    for (uint32_t i = 0; i < t->out.num_ops; i++) {
        t->out.ops[i].site = to[t->out.ops[i].site];
        t->out.ops[i].name = put_text(m, t->op_names[i]);
    }
    for (uint32_t i = 0; i < t->out.num_objects; i++) {
        t->out.objects[i].site = to[t->out.objects[i].site];
        t->out.objects[i].name = put_text(m, t->object_names[i]);
    }
    xfree(to);
}

static void put_clusters(struct merge *m, struct launch_track *l) {
    struct trace_log *log = m->log;
    uint32_t *index_of = xcalloc(l->num_clusters, sizeof *index_of);
    for (uint64_t i = 0; i < l->num_clusters; i++)
        if (l->clusters[i])
            index_of[i] = ++log->num_clusters;
    log->clusters = xcalloc(log->num_clusters + 1, sizeof *log->clusters);
    for (uint64_t i = 0; i < l->num_clusters; i++) {
        struct cluster_track *t = l->clusters[i];
        if (!t)
            continue;
        renumber(m, t, index_of, l->num_clusters);
        log->clusters[index_of[i] - 1] = t->out;
        log->counted += t->counted;
        xfree(t->sites);
        xfree(t->object_names);
        xfree(t->op_names);
        xfree(t);
    }
    xfree(index_of);
}

void track_merge(struct launch_track *l, const struct gpu *gpu) {
    struct merge m = {.log = l->log};
    m.log->text = xcalloc(1, 1);
    m.log->text_bytes = 1;
    m.log->fault = (uint32_t)gpu->fault;
    m.log->instructions = gpu->clock;
    m.log->kernel = put_text(&m, l->kernel);
    m.log->schedule = put_text(&m, l->sink->schedule);
    put_clusters(&m, l);
    for (uint32_t i = 0; i < m.log->num_clusters; i++)
        m.log->cut |= !m.log->clusters[i].complete && !m.log->fault;
    xfree(m.texts);
    xfree(m.site_at);
    l->sink->take(l->sink->ctx, m.log);
    xfree(l->clusters);
    xfree(l->sms);
    xfree(l);
}
