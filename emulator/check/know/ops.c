/* check/know/ops.c - asynchronous operations; contract in ops.h. */
#include "check/know/cluster.h"

#include "base/heap.h"

#include <string.h>

#define NOTES_AT_ONCE 16u
#define RECORDS_AT_ONCE 64u

/* A block of records; until the launch ends. All blocks are in a list of struct grid_watch. */
struct record_chunk {
    struct record_chunk *next;
    uint32_t num;
    struct op_record record[RECORDS_AT_ONCE];
};

/* --- life --------------------------------------------------------------------------------------------------------- */

void shared_part_drop(struct shared_part *p) {
    if (p && !--p->holders)
        xfree(p);
}

struct note *note_of(const struct listener *self, const struct async_op *op) {
    return *event_op_watch(self, op);
}

/* A block of insights; until the cluster ends. */
struct insights {
    struct insights *next;
    struct insight insight[NOTES_AT_ONCE];
};

static void drop_insight(struct race *r, struct insight *i) {
    if (--i->holders)
        return;
    for (unsigned l = 0; l < race_layers(r); l++)
        vclock_drop(&r->clocks, i->now[l]);
    i->next = r->free_insights;
    r->free_insights = i;
}

/* Adds a block to the free insights. */
static void make_insights(struct race *r) {
    struct insights *m = xcalloc(1, sizeof *m);
    m->next = r->made_insights;
    r->made_insights = m;
    for (uint32_t i = 0; i < NOTES_AT_ONCE; i++) {
        m->insight[i].next = r->free_insights;
        r->free_insights = &m->insight[i];
    }
}

/* What a warp's threads know now; the caller holds it. */
static struct insight *insight_of(struct race *r, struct warp_ops *w, const struct know *k) {
    struct insight *i = w->latest;
    if (i && memcmp(i->now, k->now, race_layers(r) * sizeof *k->now) == 0) {
        i->holders++;
        return i;
    }
    if (i)
        drop_insight(r, i);
    if (!r->free_insights)
        make_insights(r);
    w->latest = i = r->free_insights;
    r->free_insights = i->next;
    i->holders = 2;
    for (unsigned l = 0; l < race_layers(r); l++)
        i->now[l] = vclock_hold(k->now[l]);
    return i;
}

/* The note is going: its record keeps what other clusters may still need. */
static void note_ends(struct note *n) {
    if (n->record) {
        n->record->read = n->read;
        n->record->written = n->written;
        n->record->note = NULL;
    }
    shared_part_drop(n->sum[0]);
    shared_part_drop(n->sum[1]);
}

void note_free(struct race *r, struct note *n) {
    note_ends(n);
    drop_insight(r, n->insight);
    n->next = r->free_notes;
    r->free_notes = n;
}

void note_over(struct race *r, const struct listener *self, const struct async_op *op) {
    void **watch = event_op_watch(self, op);
    if (*watch)
        note_drop(r, *watch);
    *watch = NULL;
}

/* A block of notes; until the cluster ends. Each note begins a cache line. */
#define NOTE_LINE 64u /* bytes */
struct notes {
    struct notes *next;
    struct {
        _Alignas(NOTE_LINE) struct note n;
    } note[NOTES_AT_ONCE];
};

/* Adds a block to the free notes. */
static void make_notes(struct race *r) {
    struct notes *m = xaligned(NOTE_LINE, sizeof *m);
    m->next = r->made;
    r->made = m;
    for (uint32_t i = 0; i < NOTES_AT_ONCE; i++) {
        m->note[i].n.holders = 0;
        m->note[i].n.next = r->free_notes;
        r->free_notes = &m->note[i].n;
    }
}

void notes_end(struct race *r) {
    for (struct notes *m = r->made, *next; m; m = next) {
        next = m->next;
        for (uint32_t i = 0; i < NOTES_AT_ONCE; i++)
            if (m->note[i].n.holders) /* a fault stopped its operation */
                note_ends(&m->note[i].n);
        xfree(m);
    }
    for (struct insights *m = r->made_insights, *next; m; m = next) {
        next = m->next;
        xfree(m);
    }
}

static struct note *new_note(struct race *r) {
    if (!r->free_notes)
        make_notes(r);
    struct note *n = r->free_notes;
    r->free_notes = n->next;
    /* for the next one: it may have left the cache */
    for (size_t i = 0; r->free_notes && i < sizeof *n; i += NOTE_LINE)
        __builtin_prefetch((const char *)r->free_notes + i, 1);
    memset(n, 0, sizeof *n);
    return n;
}

static void drop_list(struct race *r, struct note *n) {
    for (struct note *next; n; n = next) {
        next = n->next;
        note_drop(r, n);
    }
}

void notes_end_warp(struct race *r, struct warp_ops *w) {
    drop_list(r, w->loads);
    drop_list(r, w->stores);
    drop_list(r, w->bulk);
    drop_list(r, w->maps);
    if (w->latest)
        drop_insight(r, w->latest);
    xfree(w->bulk_groups);
    xfree(w->copies);
    xfree(w->tensor);
}

/* A record from the cluster's block, or from a new block; NULL: BOUND_RECORDS is reached. */
static struct op_record *new_record(struct race *r) {
    struct grid_watch *g = r->grid;
    if (!r->chunk || r->chunk->num == RECORDS_AT_ONCE) {
        if (atomic_fetch_add(&g->num_records, RECORDS_AT_ONCE) >= race_bound(r, BOUND_RECORDS)) {
            race_lost(r, BOUND_RECORDS);
            return NULL;
        }
        r->chunk = xcalloc(1, sizeof *r->chunk);
        pthread_mutex_lock(&g->lock);
        r->chunk->next = g->chunks;
        g->chunks = r->chunk;
        pthread_mutex_unlock(&g->lock);
    }
    return &r->chunk->record[r->chunk->num++];
}

struct op_record *note_record(struct race *r, struct note *n) {
    if (n->record)
        return n->record;
    struct op_record *record = new_record(r);
    if (record)
        *record = (struct op_record){.note = n,
                                     .cluster = r->number,
                                     .warp = n->warp,
                                     .lanes = n->lanes,
                                     .clock = n->clock,
                                     .source = n->source,
                                     .site = n->origin.site,
                                     .name = n->name};
    return n->record = record;
}

void notes_end_launch(struct grid_watch *g) {
    for (struct record_chunk *c = g->chunks, *next; c; c = next) {
        next = c->next;
        xfree(c);
    }
}

/* --- the queues --------------------------------------------------------------------------------------------------- */

/* The counter of one thread's tcgen05 operations; created at the first. */
static struct tensor_queue *tensor_queue(struct race *r, uint32_t warp, uint32_t lane) {
    struct warp_ops *w = &r->warps[warp].ops;
    if (!w->tensor)
        w->tensor = xcalloc(VCLOCK_LANES, sizeof *w->tensor);
    struct tensor_queue *q = &w->tensor[lane];
    if (!q->used)
        q->token = vclock_new_token(&r->clocks);
    q->used = true;
    return q;
}

/* Puts the note at the head of a list, which holds it. */
static void link_note(struct note **list, struct note *n) {
    n->next = *list;
    *list = note_hold(n);
}

/* Removes the first note of a list; the caller now holds it. */
static struct note *unlink_note(struct note **list) {
    struct note *n = *list;
    *list = n->next;
    return n;
}

/* The lane that issued it; a warp's operation counts as its first lane's. */
static uint32_t lane_of(const struct note *n) { return n->lanes ? (uint32_t)__builtin_ctz(n->lanes) : 0; }

/* Halves the list of bulk operations: no kernel waits for so many. The oldest count as complete from now on; if that
 * decides a verdict, it is announced (viewer.c). */
static void shorten(struct race *r, struct warp_ops *w) {
    const uint32_t keep = (uint32_t)race_bound(r, BOUND_BULK) / 2;
    struct note **at = &w->bulk;
    for (uint32_t i = 0; *at && i < keep; i++)
        at = &(*at)->next;
    while (*at) {
        (*at)->read = (*at)->written = (struct done){.how = DONE_FORGOTTEN};
        note_drop(r, unlink_note(at));
    }
    w->num_bulk = keep + 1; /* with the new one */
    w->writing = NULL;
}

/* A bulk or tensor store to global memory is two operations: the first reads shared memory, the second writes. `n` is
 * the second half, `first` the number of the first half. Both count as issued together. So `n` gets the first half's
 * time of issue, its bulk-group, and what its issuers knew. */
static void follow(struct race *r, struct note *n, uint64_t first) {
    struct warp_ops *w = &r->warps[n->warp].ops;
    const struct note *f = w->bulk;
    while (f && (f->number != first || f->cta != n->cta))
        f = f->next;
    n->follows = true;
    if (!f) { /* dropped by shorten */
        n->written = (struct done){.how = DONE_FORGOTTEN};
        return;
    }
    n->time = f->time;
    n->clock = f->clock;
    n->source = f->source;
    n->fenced_at = f->fenced_at;
    n->global_at = f->global_at;
    n->group = f->group;
    n->written = f->written;
    f->insight->holders++;
    drop_insight(r, n->insight);
    n->insight = f->insight;
    n->now = f->now;
}

/* The number of bulk-groups that the lane has committed since the warp's first bulk operation. */
static uint32_t *groups_of(struct warp_ops *w, uint32_t lane) {
    if (!w->bulk_groups)
        w->bulk_groups = xcalloc(VCLOCK_LANES, sizeof *w->bulk_groups);
    return &w->bulk_groups[lane];
}

/* The operation joins the open bulk-group of its lane, which cp.async.bulk.commit_group closes (9.7.9.27.2.1).
 * `follows`: number of the first half of the same store; 0: it is none's second half. */
static void join_bulk_group(struct race *r, struct note *n, uint64_t follows) {
    struct warp_ops *w = &r->warps[n->warp].ops;
    if (++w->num_bulk > race_bound(r, BOUND_BULK))
        shorten(r, w);
    n->group = *groups_of(w, lane_of(n));
    if (follows)
        follow(r, n, follows);
    link_note(&w->bulk, n);
}

/* At the issue: fills in what the operation's kind needs, so that threads can learn that it is complete. */
static void enqueue(struct race *r, struct note *n, const struct event_work *work) {
    struct tensor_queue *q;
    switch (n->agent) {
    case AGENT_TENSOR_CORE:
    case AGENT_TENSOR_COPY:
        q = tensor_queue(r, n->warp, lane_of(n));
        n->tensor = true;
        /* .shift moves rows of its own tensor memory; .cp reads shared memory, by a descriptor */
        n->shifts = n->agent == AGENT_TENSOR_COPY && work->from == work->to && !work->a;
        n->copies_4x256b = n->agent == AGENT_TENSOR_COPY && !n->shifts && work->m == 4;
        n->before = q->latest;
        if (n->agent == AGENT_TENSOR_CORE)
            q->latest.mma = n->time;
        else if (n->shifts)
            q->latest = (struct tensor_times){q->latest.mma, n->time, q->latest.mma};
        n->read = n->written = (struct done){.how = DONE_TOKEN, .token = q->token, .step = ++q->steps};
        n->cta_group = work->cta_group;
        n->fresh = n->agent == AGENT_TENSOR_CORE && !work->accumulate;
        n->d = work->to_off;
        n->m = work->m;
        n->n = work->n;
        break;
    case AGENT_COMMIT:
        q = tensor_queue(r, n->warp, lane_of(n));
        n->tensor = work->ctas != 0; /* none: cp.async.mbarrier.arrive */
        n->read = (struct done){.how = DONE_TOKEN, .token = q->token, .step = q->steps};
        break;
    case AGENT_TENSOR_LDST:
        link_note(n->loads ? &r->warps[n->warp].ops.loads : &r->warps[n->warp].ops.stores, n);
        break;
    case AGENT_TMA:
    case AGENT_BULK:
        if (!work->signals)
            join_bulk_group(r, n, work->follows);
        break;
    default:
        break;
    }
}

struct note *note_issued(struct race *r, const struct listener *self, const struct event_op *e,
                         const struct event_work *work) {
    const struct async_op *op = e->by.op;
    struct note *n = new_note(r);
    n->holders = 1;
    n->agent = op->kind->agent;
    n->name = op->name;
    n->cta = op->cta;
    n->origin = op->origin;
    n->origin.op = NULL; /* the note lives longer */
    n->number = op->number;
    n->warp = race_warp(r, op->cta, op->origin.thread.warp == DIAG_NO_WARP ? 0 : op->origin.thread.warp);
    n->lanes = op->origin.thread.lanes;
    n->time = r->time;
    n->clock = r->island->clock;
    n->source = op->src_off;
    n->signals = work->signals != NULL;
    n->mbar_rank = work->signals ? work->signals->rank : 0;
    n->mbar_off = work->signals_off;
    n->loads = n->agent == AGENT_TENSOR_LDST && !work->to;
    const struct know *k = &race_strand(r, n->warp, n->lanes)->k;
    n->fenced_at = k->fenced_at;
    n->global_at = k->global_at;
    n->insight = insight_of(r, &r->warps[n->warp].ops, k);
    n->now = n->insight->now;
    enqueue(r, n, work);
    *event_op_watch(self, op) = n;
    return n;
}

struct note *note_again(struct race *r, const struct listener *self, const struct async_op *op) {
    struct note *old = note_of(self, op), *n = new_note(r);
    *n = *old;
    n->holders = 1;
    n->read = n->written = (struct done){0};
    n->record = NULL;
    n->sum[0] = n->sum[1] = NULL; /* not a tcgen05.mma */
    n->insight->holders++;
    note_drop(r, old);
    return *event_op_watch(self, op) = n;
}

/* --- completion --------------------------------------------------------------------------------------------------- */

/* After a wait of the operation's own thread: it is complete for threads that know this thread's acts up to now. */
static struct done by_warp(const struct race *r, const struct note *n) {
    return (struct done){.how = DONE_THREAD, .warp = n->warp, .lanes = n->lanes, .time = r->time};
}

void note_used_ld(struct race *r, uint32_t warp, uint64_t number) {
    for (struct note *n = r->warps[warp].ops.loads; n; n = n->next)
        n->used |= n->number == number;
}

void note_waited(struct race *r, uint32_t warp, bool loads) {
    struct note **list = loads ? &r->warps[warp].ops.loads : &r->warps[warp].ops.stores;
    while (*list) {
        *(loads ? &(*list)->read : &(*list)->written) = by_warp(r, *list);
        note_drop(r, unlink_note(list));
    }
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* The cp.async state of a lane, created at the first call. */
static struct lane_copies *copies_of(struct race *r, uint32_t warp, uint32_t lane) {
    struct warp_ops *w = &r->warps[warp].ops;
    if (!w->copies)
        w->copies = xcalloc(VCLOCK_LANES, sizeof *w->copies);
    return &w->copies[lane];
}

void note_copies_done(struct race *r, uint32_t warp, uint32_t lane, uint32_t until, const struct done *done) {
    struct lane_copies *c = copies_of(r, warp, lane);
    const uint32_t keep = (uint32_t)race_bound(r, BOUND_COPY_WAITS);
    struct copies_waited *oldest = &c->waited[c->num_waited % (keep ? keep : 1)];
    if (c->num_waited++ >= keep && c->forgotten < oldest->until)
        c->forgotten = oldest->until;
    *oldest = (struct copies_waited){until, *done};
}

/* Did the lane's latest wait_group cover the copies up to the same time? */
static bool waited_for(const struct race *r, const struct lane_copies *c, uint32_t until) {
    const uint32_t keep = (uint32_t)race_bound(r, BOUND_COPY_WAITS);
    const struct copies_waited *latest = c->num_waited ? &c->waited[(c->num_waited - 1) % (keep ? keep : 1)] : NULL;
    return latest && latest->until == until && latest->done.how == DONE_THREAD;
}

/* cp.async.wait_group of a lane: all but the latest `but` groups are complete (9.7.9.25.3.3). */
static void wait_copies(struct race *r, uint32_t warp, uint32_t lane, uint32_t but) {
    const struct lane_copies *c = copies_of(r, warp, lane);
    if (but >= c->groups || but >= COPY_GROUPS)
        return;
    const uint32_t until = c->committed[(c->groups - but - 1) % COPY_GROUPS];
    if (!waited_for(r, c, until))
        note_copies_done(r, warp, lane, until,
                         &(struct done){.how = DONE_THREAD, .warp = warp, .lanes = 1u << lane, .time = r->time});
}

/* cp.async.bulk.wait_group: all but the latest `but` groups of each lane are complete; with .read only their reads. */
static void wait_bulk(struct race *r, uint32_t warp, uint32_t lanes, uint32_t but, bool read) {
    const struct warp_ops *w = &r->warps[warp].ops;
    for (struct note *n = w->bulk; n != w->writing; n = n->next) {
        const uint32_t lane = lane_of(n);
        if (!(lanes >> lane & 1) || n->group + but >= w->bulk_groups[lane])
            continue;
        if (n->read.how == DONE_NOT)
            n->read = by_warp(r, n);
        if (!read)
            n->written = by_warp(r, n);
    }
}

/* The list `maps` of a warp keeps loads until a wait_group covers their read of the tensor map. Of the loads that are
 * already complete it keeps so many, the latest. */
#define MAPS_OVER 32u

void note_reads_map(struct race *r, struct note *n) {
    struct warp_ops *w = &r->warps[n->warp].ops;
    if (!n->signals)
        return;
    n->group = *groups_of(w, lane_of(n));
    link_note(&w->maps, n);
    uint32_t over = 0;
    for (struct note **at = &w->maps; *at;)
        if ((*at)->read.how != DONE_NOT && over++ >= MAPS_OVER)
            note_drop(r, unlink_note(at));
        else
            at = &(*at)->next;
}

/* The same as wait_bulk, for reads of tensor maps by loads that signal an mbarrier. */
static void wait_maps(struct race *r, uint32_t warp, uint32_t lanes, uint32_t but) {
    struct warp_ops *w = &r->warps[warp].ops;
    for (struct note **at = &w->maps; *at;) {
        struct note *n = *at;
        if (lanes >> lane_of(n) & 1 && n->group + but < *groups_of(w, lane_of(n))) {
            n->record->waited = by_warp(r, n);
            note_drop(r, unlink_note(at));
        } else {
            at = &n->next;
        }
    }
}

/* Drops operations from the list that no later wait can change: a store's second half once its write is complete, any
 * other once its read is. */
static void forget_bulk(struct race *r, uint32_t warp) {
    struct warp_ops *w = &r->warps[warp].ops;
    struct note **at = &w->bulk, **writing = at;
    while (*at != w->writing) {
        struct note *n = *at;
        if (n->follows ? n->written.how != DONE_NOT : n->read.how != DONE_NOT) {
            note_drop(r, unlink_note(at));
            w->num_bulk--;
            continue;
        }
        at = &n->next;
        if (!n->follows || n->read.how == DONE_NOT)
            writing = at;
    }
    w->writing = *writing;
}

void note_group_commit(struct race *r, uint32_t warp, uint32_t lanes, bool bulk) {
    struct warp_ops *w = &r->warps[warp].ops;
    for (uint32_t l = 0; l < VCLOCK_LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        if (bulk && w->bulk_groups)
            w->bulk_groups[l]++;
        if (bulk)
            continue;
        struct lane_copies *c = copies_of(r, warp, l);
        c->committed[c->groups++ % COPY_GROUPS] = r->time;
    }
}

void note_group_wait(struct race *r, uint32_t warp, uint32_t lanes, uint32_t but, bool bulk, bool read) {
    r->warps[warp].ops.group_waited[bulk] = r->time;
    if (bulk) {
        if (!read)
            r->warps[warp].ops.writing = NULL;
        wait_bulk(r, warp, lanes, but, read);
        wait_maps(r, warp, lanes, but);
        forget_bulk(r, warp);
        return;
    }
    for (uint32_t l = 0; l < VCLOCK_LANES; l++)
        if (lanes >> l & 1)
            wait_copies(r, warp, l, but);
}

/* The current phase gets what the operation's issuers knew of others at the issue, but not their own acts. As in
 * give_some (know.c), a clock that joined before need not join again. */
static void give_known(struct race *r, const struct note *n, struct meeting *m) {
    struct vclock *others[LAYERS] = {NULL};
    struct vclock_step step;
    vclock_step_begin(&step, 0, 0, 0);
    for (unsigned l = 0; l < LAYER_NEAR && l < race_layers(r); l++) {
        struct vclock *known = n->now[l];
        if (!known || m->joined[l] == known)
            continue;
        if (l == LAYER_TENSOR || l == LAYER_TENSOR_SCOPED) /* tcgen05.fence orders the issuers' own acts, too */
            others[l] = vclock_hold(known);
        else if (l && l < LAYER_TENSOR && known == n->now[l - 1] && others[l - 1])
            others[l] = vclock_hold(others[l - 1]);
        else
            others[l] = vclock_others(&r->clocks, known, n->warp, n->lanes);
        vclock_learn(&r->clocks, &step, &m->open[l], others[l], 0, 0);
    }
    /* an observer at .cta scope takes only the NEAR layer of the meeting (take_scoped in know.c) */
    if (r->strict)
        vclock_learn(&r->clocks, &step, &m->open[LAYER_TENSOR_NEAR], n->now[LAYER_TENSOR_SCOPED], 0, 0);
    for (unsigned l = 0; l < race_layers(r); l++) /* held until the vclock_step is over */
        vclock_drop(&r->clocks, others[l]);
}

void carried_forget(struct race *r, struct carried *c) {
    if (c->latest)
        note_drop(r, c->latest);
    if (c->before)
        note_drop(r, c->before);
    *c = (struct carried){NULL, NULL};
}

/* Has the phase got all that the issuers of the operation knew, from another operation? */
static bool is_carried(const struct note *n, const struct carried *c) {
    if (!n->now[LAYER_RAN])
        return false;
    return (c->latest && c->latest->now[LAYER_RAN] == n->now[LAYER_RAN]) ||
           (c->before && c->before->warp == n->warp && c->before->lanes == n->lanes &&
            (c->before->now == n->now || memcmp(c->before->now, n->now, sizeof n->insight->now) == 0));
}

/* What the issuers knew of others passes on as they knew it: they had acquired it, so it was performed before the
 * operation. Their own acts pass on only as executed (LAYER_RAN), because a copy releases only its own bytes (8.9.1.1).
 */
void note_lands(struct race *r, struct note *n, struct meeting *m, struct carried *c) {
    /* the boxes of a stage are mostly issued with the same knowledge, by one CTA or in turn by two: the phase needs it
     * once */
    if (!is_carried(n, c))
        give_known(r, n, m);
    if (c->before)
        note_drop(r, c->before);
    *c = (struct carried){note_hold(n), c->latest};
    vclock_add_lanes(&r->clocks, &m->open[LAYER_RAN], n->warp, n->lanes, n->time);
}

void note_arrives(struct race *r, const struct note *n, uint32_t lanes, struct meeting *m) {
    vclock_join(&r->clocks, &m->open[LAYER_RAN], n->now[LAYER_RAN]);
    vclock_add_lanes(&r->clocks, &m->open[LAYER_RAN], n->warp, lanes, n->time);
}

void note_commit(struct race *r, struct note *n, struct meeting *m, struct carried *c) {
    note_lands(r, n, m, c);
    know_token(r, m, n->read.token, n->read.step);
}
