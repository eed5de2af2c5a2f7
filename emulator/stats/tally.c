/* stats/tally.c - contract in tally.h. */
#include "stats/tally.h"

#include "base/compare.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256u

/* --- instructions ------------------------------------------------------------------------------------------------- */

static uint32_t place_of(const struct tally *t, const struct diag_site *site) {
    uint32_t i = (uint32_t)((uint64_t)(uintptr_t)site * UINT64_C(0x9E3779B97F4A7C15) >> 40) & (t->room - 1);
    while (t->number[i] && t->key[i] != site)
        i = (i + 1) & (t->room - 1);
    return i;
}

static void grow(struct tally *t) {
    xfree(t->key);
    xfree(t->number);
    t->room = t->room ? 2 * t->room : FIRST_ROOM;
    t->key = xcalloc(t->room, sizeof *t->key);
    t->number = xcalloc(t->room, sizeof *t->number);
    for (uint32_t n = 0; n < t->sum.num_sites; n++) {
        const uint32_t i = place_of(t, t->sum.sites[n].site);
        t->key[i] = t->sum.sites[n].site;
        t->number[i] = n + 1;
    }
}

struct stats_site *tally_site(struct tally *t, const struct diag_site *site, const char *what) {
    if (2 * t->sum.num_sites >= t->room)
        grow(t);
    const uint32_t i = place_of(t, site);
    if (t->number[i])
        return &t->sum.sites[t->number[i] - 1];
    t->sum.sites = xgrow(t->sum.sites, t->sum.num_sites, &t->sum.cap_sites, sizeof *t->sum.sites);
    struct stats_site *s = &t->sum.sites[t->sum.num_sites++];
    *s = (struct stats_site){.site = site, .what = what};
    t->key[i] = site;
    t->number[i] = t->sum.num_sites;
    return s;
}

/* --- accesses of warps -------------------------------------------------------------------------------------------- */

static void count_shared(struct stats_shared *s, const struct request *r) {
    uint32_t least;
    s->wavefronts += stats_wavefronts(r->at, r->size, r->lanes, r->load, &least);
    s->least += least;
    s->requests++;
}

static void count_global(struct stats_global *g, struct request *r) {
    uint64_t bytes;
    g->sectors += stats_sectors(r->piece, r->pieces, &bytes);
    g->least += (bytes + STATS_SECTOR - 1) / STATS_SECTOR;
    g->requests++;
}

void tally_close(struct tally *t) {
    struct request *r = &t->request;
    if (r->open) {
        struct stats_site *s = &t->sum.sites[r->site];
        if (r->space == SPACE_SHARED)
            count_shared(&s->shared, r);
        else
            count_global(&s->global, r);
    }
    r->open = false;
    r->lanes = r->pieces = 0;
}

/* Is it more of the same instruction? Lanes do not come twice, but for elements that are stored apart. */
static bool continues(const struct request *r, const struct event_access *e) {
    const bool more = e->space == SPACE_SHARED ? r->size == e->size && !(r->lanes & e->by.lanes)
                                               : r->pieces + MACH_WARP <= TALLY_PIECES;
    return r->open && r->space == e->space && r->by.site == e->by.site && r->by.cta == e->by.cta &&
           r->by.warp == e->by.warp && r->by.op == e->by.op && more;
}

/* A matrix of ldmatrix or stmatrix; with .trans its elements come in two events. */
static void matrix_access(struct stats_shared *s, struct request *r, const struct event_access *e) {
    const bool second = e->size == 2 && r->lanes;
    memcpy(r->at + (second ? MACH_WARP : 0), e->at, MACH_WARP * sizeof *r->at);
    r->lanes = e->size == 2 && !second ? UINT32_MAX : 0;
    if (r->lanes)
        return;
    s->requests++;
    s->least++;
    s->wavefronts += stats_portion(r->at, e->size, second ? 2 * MACH_WARP : MACH_WARP);
}

static void add_lanes(struct tally *t, struct request *r, const struct event_access *e) {
    const bool write = e->effect & EFFECT_WRITE, read = e->effect & EFFECT_READ;
    r->lanes |= e->by.lanes;
    r->size = e->size;
    for (uint32_t lanes = e->by.lanes; lanes; lanes &= lanes - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(lanes);
        r->at[l] = e->at[l];
        if (e->space == SPACE_SHARED)
            continue;
        r->piece[r->pieces++] = (struct stats_piece){e->at[l], e->size};
        if (read)
            footprint_add(&t->touched, false, e->at[l], e->size, 1, 0);
        if (write)
            footprint_add(&t->touched, true, e->at[l], e->size, 1, 0);
    }
}

void tally_access(struct tally *t, const struct event_access *e) {
    struct request *r = &t->request;
    const uint64_t bytes = (uint64_t)e->size * (uint32_t)__builtin_popcount(e->by.lanes);
    const bool matrix = strcmp(e->by.what + 2, "matrix") == 0; /* ld and st */
    struct stats_site *s = tally_site(t, e->by.site, e->by.what);
    if (e->space == SPACE_SHARED) {
        s->shared.bytes += bytes;
        if (matrix)
            matrix_access(&s->shared, r, e);
        /* no bank conflicts of the SM's own threads: copies, whole blocks (st.bulk), other CTAs' memory */
        if (matrix || e->agent != AGENT_THREAD || e->size > 16 || e->owner != e->by.cta)
            return;
    } else {
        s->global.bytes += bytes;
    }
    if (!continues(r, e)) {
        tally_close(t);
        r->open = true;
        r->space = e->space;
        r->load = e->effect == EFFECT_READ;
        r->by = e->by;
        r->site = (uint32_t)(s - t->sum.sites);
    }
    add_lanes(t, r, e);
}

/* --- operations --------------------------------------------------------------------------------------------------- */

/* The word behind .kind:: of the instruction. */
static const char *kind_of(const struct diag_site *site, uint32_t *len) {
    static const char before[] = ".kind::";
    const char *at = site && site->ptx_text ? strstr(site->ptx_text, before) : NULL;
    at = at ? at + sizeof before - 1 : "";
    *len = (uint32_t)strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789");
    return at;
}

static void add_umma(struct stats *s, const struct stats_umma *u) {
    for (uint32_t i = 0; i < s->num_ummas; i++) {
        struct stats_umma *x = &s->ummas[i];
        if (x->m != u->m || x->n != u->n || x->k != u->k || x->cta_group != u->cta_group ||
            x->kind_len != u->kind_len || memcmp(x->kind, u->kind, u->kind_len) != 0)
            continue;
        x->count += u->count;
        x->flop += u->flop;
        return;
    }
    s->ummas = xgrow(s->ummas, s->num_ummas, &s->cap_ummas, sizeof *s->ummas);
    s->ummas[s->num_ummas++] = *u;
}

static void add_op(struct stats *s, const struct stats_op *o) {
    uint32_t i = 0;
    while (i < s->num_ops && s->ops[i].name != o->name && strcmp(s->ops[i].name, o->name) != 0)
        i++;
    if (i == s->num_ops) {
        s->ops = xgrow(s->ops, s->num_ops, &s->cap_ops, sizeof *s->ops);
        s->ops[s->num_ops++] = (struct stats_op){.name = o->name};
    }
    s->ops[i].instructions += o->instructions;
    s->ops[i].count += o->count;
    s->ops[i].bytes += o->bytes;
}

void tally_op(struct tally *t, const struct listener *self, const struct event_op *e) {
    struct event_work w = {0};
    const struct async_op *op = e->by.op;
    op->kind->describe(op, &w);
    if (w.follows)
        return; /* the second half of a store, which its engine issues */
    const bool copy = t->op.steps == t->steps && t->op.by.site == e->by.site && t->op.by.cta == e->by.cta &&
                      t->op.by.warp == e->by.warp && t->op.by.lanes == e->by.lanes && t->op.by.what == e->by.what;
    t->op.steps = t->steps;
    t->op.by = e->by;
    if (copy)
        *event_op_watch(self, op) = t; /* no memory of its own */
    add_op(&t->sum, &(struct stats_op){e->by.what, !copy, 1, w.bytes});
    if (op->kind->agent != AGENT_TENSOR_CORE)
        return;
    struct stats_umma u = {.m = w.m, .n = w.n, .k = w.k, .cta_group = w.cta_group, .count = 1};
    u.kind = kind_of(e->by.site, &u.kind_len);
    u.flop = 2.0 * w.m * w.n * w.k;
    add_umma(&t->sum, &u);
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

void stats_add_site(struct stats_site *to, const struct stats_site *s) {
    to->issued += s->issued;
    to->lanes += s->lanes;
    to->idle += s->idle;
    to->partial += s->partial;
    to->splits += s->splits;
    to->waits += s->waits;
    to->polls += s->polls;
    to->failed += s->failed;
    to->shared.requests += s->shared.requests;
    to->shared.bytes += s->shared.bytes;
    to->shared.wavefronts += s->shared.wavefronts;
    to->shared.least += s->shared.least;
    to->global.requests += s->global.requests;
    to->global.bytes += s->global.bytes;
    to->global.sectors += s->global.sectors;
    to->global.least += s->global.least;
}

struct stats_site stats_total(const struct stats *s) {
    struct stats_site all = {0};
    for (uint32_t i = 0; i < s->num_sites; i++)
        stats_add_site(&all, &s->sites[i]);
    return all;
}

void tally_join(struct tally *t, const struct tally *from) {
    struct stats *s = &t->sum;
    const struct stats *f = &from->sum;
    s->ctas += f->ctas;
    s->warps += f->warps;
    for (unsigned a = 0; a < STATS_AGENTS; a++)
        for (unsigned p = 0; p < STATS_SPACES; p++)
            for (unsigned e = 0; e < STATS_EFFECTS; e++)
                s->bytes[a][p][e] += f->bytes[a][p][e];
    s->remote += f->remote;
    s->multicast_saved += f->multicast_saved;
    s->mbar_inits += f->mbar_inits;
    s->mbar_phases += f->mbar_phases;
    s->mbar_arrivals += f->mbar_arrivals;
    s->mbar_op_arrivals += f->mbar_op_arrivals;
    s->mbar_bytes += f->mbar_bytes;
    s->mbar_timed_out += f->mbar_timed_out;
    s->bar_phases += f->bar_phases;
    s->cluster_phases += f->cluster_phases;
    for (uint32_t i = 0; i < f->num_ummas; i++)
        add_umma(s, &f->ummas[i]);
    for (uint32_t i = 0; i < f->num_ops; i++)
        add_op(s, &f->ops[i]);
    for (uint32_t i = 0; i < f->num_sites; i++)
        stats_add_site(tally_site(t, f->sites[i].site, f->sites[i].what), &f->sites[i]);
}

/* --- orders ------------------------------------------------------------------------------------------------------- */

static int by_shape(const void *x, const void *y) {
    const struct stats_umma *a = x, *b = y;
    const uint32_t n = a->kind_len < b->kind_len ? a->kind_len : b->kind_len;
    return memcmp(a->kind, b->kind, n) ?: COMPARE(a->kind_len, b->kind_len) ?: COMPARE(a->m, b->m)
               ?: COMPARE(a->n, b->n) ?: COMPARE(a->k, b->k) ?: COMPARE(a->cta_group, b->cta_group);
}

static int by_name(const void *x, const void *y) {
    const struct stats_op *a = x, *b = y;
    return strcmp(a->name, b->name);
}

/* Of one line of the PTX as they stand in it: sites of a function lie in one array. */
static int by_line(const void *x, const void *y) {
    const struct stats_site *a = x, *b = y;
    const char *p = a->site->ptx_name ? a->site->ptx_name : "", *q = b->site->ptx_name ? b->site->ptx_name : "";
    return strcmp(p, q) ?: COMPARE(a->site->ptx_line, b->site->ptx_line) ?: COMPARE(a->site, b->site);
}

void tally_finish(struct tally *t) {
    struct stats *s = &t->sum;
    tally_close(t);
    if (s->num_ummas)
        qsort(s->ummas, s->num_ummas, sizeof *s->ummas, by_shape);
    if (s->num_ops)
        qsort(s->ops, s->num_ops, sizeof *s->ops, by_name);
    if (s->num_sites)
        qsort(s->sites, s->num_sites, sizeof *s->sites, by_line);
    const struct stats_site all = stats_total(s);
    s->mbar_waits = all.waits;
    s->mbar_polls = all.polls;
    s->mbar_failed = all.failed;
}

static void drop_tables(struct stats *s) {
    xfree(s->ummas);
    xfree(s->ops);
    xfree(s->sites);
}

void stats_free(struct stats *s) {
    if (s && s->cycles)
        xfree(s->cycles->waits);
    if (s) {
        xfree(s->cycles);
        drop_tables(s);
    }
    xfree(s);
}

void tally_free(struct tally *t) {
    drop_tables(&t->sum);
    xfree(t->key);
    xfree(t->number);
    xfree(t);
}
