/* view/perfetto.c - a log in the trace-event format; contract in perfetto.h.
 *
 * Slices of one thread of the format must nest. Where those of a track do not, as operations that are under way at a
 * time, they are laid on several threads of one name. What takes no time is a slice of 1 ns, so that an arrow has
 * something to hold on to.
 */
#include "view/perfetto.h"

#include "base/compare.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdlib.h>

#define RANKS 16u /* of a cluster at most: pid = cluster * RANKS + rank + 1 */

enum track_kind { TRACK_WARP, TRACK_QUEUE, TRACK_BARRIER };
struct track {
    enum track_kind kind;
    uint32_t rank, number; /* warp, or object */
    uint32_t first_tid;    /* of its threads */
    uint32_t threads;
};

enum slice_kind { SLICE_EVENT, SLICE_WAIT, SLICE_OP, SLICE_PHASE };
struct slice {
    uint32_t track, lane; /* lane: which thread of the track */
    uint64_t from, to;
    enum slice_kind kind;
    uint32_t event; /* of a wait its end, or 0 where it has none */
    uint32_t other; /* of a wait its begin, of an operation its number, of a phase the object */
};

/* A cluster as tracks and slices. */
struct picture {
    struct say s;
    uint64_t end; /* of the log */
    struct track *tracks;
    uint32_t num_tracks, cap_tracks;
    uint32_t warps;          /* tracks of warps: those of rank r begin at r * warps */
    uint32_t *object_tracks; /* by object - 1 */
    struct slice *slices;
    uint32_t num_slices, cap_slices;
    uint32_t *slice_of; /* by event - 1: number from 1, 0: it is not shown */
};

enum item_kind { ITEM_SLICE, ITEM_FLOW_BEGIN, ITEM_FLOW_END, ITEM_COUNTER };
struct item {
    uint64_t at, length; /* length: of slices */
    enum item_kind kind;
    uint32_t picture;
    uint32_t number; /* of a slice, or an event */
    uint64_t flow;
};

struct out {
    FILE *f;
    struct picture *pictures;
    uint32_t num_pictures;
    struct item *items;
    uint32_t num_items, cap_items;
    uint64_t flows;
    bool any; /* of the list of events is written */
};

/* --- times -------------------------------------------------------------------------------------------------------- */

static uint64_t time_of(const struct picture *p, uint32_t event) {
    const double cycle = say_when(&p->s, event);
    return cycle > 0 && cycle < 1e15 ? (uint64_t)cycle : 0;
}

/* --- tracks ------------------------------------------------------------------------------------------------------- */

static uint32_t add_track(struct picture *p, enum track_kind kind, uint32_t rank, uint32_t number) {
    p->tracks = xgrow(p->tracks, p->num_tracks, &p->cap_tracks, sizeof *p->tracks);
    p->tracks[p->num_tracks] = (struct track){.kind = kind, .rank = rank % RANKS, .number = number};
    return p->num_tracks++;
}

/* One for each warp, and one for each place of an object. */
static void add_tracks(struct picture *p) {
    const struct trace_cluster *c = p->s.c;
    p->warps = p->s.n->num_warps;
    for (uint32_t r = 0; r < RANKS && r < p->s.n->ctas; r++)
        for (uint32_t w = 0; w < p->warps; w++)
            add_track(p, TRACK_WARP, r, w);
    p->object_tracks = xcalloc((size_t)c->num_objects + 1, sizeof *p->object_tracks);
    const uint32_t first = p->num_tracks;
    for (uint32_t i = 0; i < c->num_objects; i++) {
        const struct trace_object *o = &c->objects[i];
        uint32_t at = first;
        for (; at < p->num_tracks; at++) {
            const struct trace_object *other = &c->objects[p->tracks[at].number - 1];
            if (other->kind == o->kind && other->rank == o->rank && other->at == o->at)
                break;
        }
        p->object_tracks[i] = at < p->num_tracks
                                  ? at
                                  : add_track(p, o->kind == OBJECT_QUEUE ? TRACK_QUEUE : TRACK_BARRIER, o->rank, i + 1);
    }
}

static bool warp_track(const struct picture *p, const struct trace_event *e, uint32_t *track) {
    if (e->rank >= RANKS || e->rank >= p->s.n->ctas || e->warp == TRACE_NO_WARP || e->warp >= p->warps)
        return false;
    *track = e->rank * p->warps + e->warp;
    return true;
}

/* --- slices ------------------------------------------------------------------------------------------------------- */

static uint32_t add_slice(struct picture *p, const struct slice *s) {
    p->slices = xgrow(p->slices, p->num_slices, &p->cap_slices, sizeof *p->slices);
    p->slices[p->num_slices] = *s;
    return ++p->num_slices;
}

static void add_point(struct picture *p, uint32_t track, uint32_t event) {
    const uint64_t at = time_of(p, event);
    p->slice_of[event - 1] = add_slice(p, &(struct slice){.track = track, .from = at, .to = at + 1, .event = event});
}

/* Waits that have begun and not ended, by the warp that waits. */
struct waits {
    uint32_t *begin;
    uint32_t count, cap;
};

static void end_wait(struct picture *p, struct waits *open, uint32_t track, uint32_t event) {
    const struct trace_event *e = &p->s.c->events[event - 1];
    for (uint32_t i = open->count; i > 0; i--) {
        const struct trace_event *b = &p->s.c->events[open->begin[i - 1] - 1];
        if (b->rank != e->rank || b->warp != e->warp || b->lanes != e->lanes)
            continue;
        const uint32_t begin = open->begin[i - 1];
        const uint64_t from = time_of(p, begin), to = time_of(p, event);
        p->slice_of[event - 1] = p->slice_of[begin - 1] =
            add_slice(p, &(struct slice){.track = track,
                                         .from = from,
                                         .to = (to > from ? to : from) + 1,
                                         .kind = SLICE_WAIT,
                                         .event = event,
                                         .other = begin});
        open->begin[i - 1] = open->begin[--open->count];
        return;
    }
    add_point(p, track, event);
}

/* What never ended. */
static void end_waits(struct picture *p, struct waits *open) {
    for (uint32_t i = 0; i < open->count; i++) {
        uint32_t track;
        if (warp_track(p, &p->s.c->events[open->begin[i] - 1], &track))
            p->slice_of[open->begin[i] - 1] = add_slice(p, &(struct slice){.track = track,
                                                                           .from = time_of(p, open->begin[i]),
                                                                           .to = p->end + 1,
                                                                           .kind = SLICE_WAIT,
                                                                           .other = open->begin[i]});
    }
    xfree(open->begin);
}

static void add_operations(struct picture *p) {
    const struct trace_cluster *c = p->s.c;
    uint32_t *slices = xcalloc((size_t)c->num_ops + 1, sizeof *slices);
    for (uint32_t i = 0; i < c->num_ops; i++) {
        const struct trace_op *op = &c->ops[i];
        if (!op->queue || !op->started)
            continue;
        const uint64_t from = time_of(p, op->started), to = op->completed ? time_of(p, op->completed) : p->end;
        slices[i] = add_slice(p, &(struct slice){.track = p->object_tracks[op->queue - 1],
                                                 .from = from,
                                                 .to = (to > from ? to : from) + 1,
                                                 .kind = SLICE_OP,
                                                 .event = op->started,
                                                 .other = i + 1});
    }
    for (uint32_t i = 0; i < c->num_events; i++) {
        const struct trace_event *e = &c->events[i];
        if (e->op && !say_is_phase(e) && !(e->class == TRACE_OP && e->kind == OP_ISSUED))
            p->slice_of[i] = slices[e->op - 1];
    }
    xfree(slices);
}

/* A phase of a barrier lasts from the completion of the one before; its own has a slice of its own. */
static void add_phases(struct picture *p) {
    const struct trace_cluster *c = p->s.c;
    uint32_t *since = xcalloc((size_t)c->num_objects + 1, sizeof *since);
    for (uint32_t i = 1; i <= c->num_events; i++) {
        const struct trace_event *e = &c->events[i - 1];
        if (!e->object)
            continue;
        if (!since[e->object])
            since[e->object] = i;
        if (!say_is_phase(e))
            continue;
        const uint64_t from = time_of(p, since[e->object]), to = time_of(p, i);
        const uint32_t track = p->object_tracks[e->object - 1];
        if (to > from)
            add_slice(p,
                      &(struct slice){
                          .track = track, .from = from, .to = to, .kind = SLICE_PHASE, .event = i, .other = e->object});
        add_point(p, track, i);
        since[e->object] = i;
    }
    xfree(since);
}

static void add_slices(struct picture *p) {
    const struct trace_cluster *c = p->s.c;
    struct waits open = {0};
    p->slice_of = xcalloc((size_t)c->num_events + 1, sizeof *p->slice_of);
    for (uint32_t i = 1; i <= c->num_events; i++)
        p->end = time_of(p, i) > p->end ? time_of(p, i) : p->end;
    add_operations(p);
    add_phases(p);
    for (uint32_t i = 1; i <= c->num_events; i++) {
        const struct trace_event *e = &c->events[i - 1];
        uint32_t track;
        if (say_is_phase(e) || p->slice_of[i - 1] || !warp_track(p, e, &track))
            continue;
        if (e->class == TRACE_WAIT && e->kind == WAIT_BEGINS) {
            open.begin = xgrow(open.begin, open.count, &open.cap, sizeof *open.begin);
            open.begin[open.count++] = i;
        } else if (e->class == TRACE_WAIT) {
            end_wait(p, &open, track, i);
        } else {
            add_point(p, track, i);
        }
    }
    end_waits(p, &open);
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

struct order {
    const struct slice *slice;
    uint32_t number;
};

static int by_track(const void *a, const void *b) {
    const struct slice *p = ((const struct order *)a)->slice, *q = ((const struct order *)b)->slice;
    return COMPARE(p->track, q->track) ?: COMPARE(p->from, q->from) ?: COMPARE(q->to, p->to) ?: COMPARE(p, q);
}

/* The ends of the slices that are open in a lane, outermost first. */
struct lane {
    uint64_t *ends;
    uint32_t depth, cap;
};

/* Lays a slice into a lane where it is apart from, or inside of, what is there. */
static bool fits(struct lane *l, const struct slice *s) {
    while (l->depth && l->ends[l->depth - 1] <= s->from)
        l->depth--;
    if (l->depth && l->ends[l->depth - 1] < s->to)
        return false;
    l->ends = xgrow(l->ends, l->depth, &l->cap, sizeof *l->ends);
    l->ends[l->depth++] = s->to;
    return true;
}

static void lay_out(struct picture *p) {
    struct order *list = xcalloc((size_t)p->num_slices + 1, sizeof *list);
    struct lane *lanes = NULL;
    uint32_t count = 0, cap = 0;
    for (uint32_t i = 0; i < p->num_slices; i++)
        list[i] = (struct order){&p->slices[i], i};
    qsort(list, p->num_slices, sizeof *list, by_track);
    for (uint32_t i = 0; i < p->num_slices; i++) {
        struct slice *s = &p->slices[list[i].number];
        for (uint32_t j = 0; j < count && (i == 0 || list[i - 1].slice->track != s->track); j++)
            lanes[j].depth = 0;
        uint32_t lane = 0;
        while (lane < count && !fits(&lanes[lane], s))
            lane++;
        if (lane == count) {
            lanes = xgrow(lanes, count, &cap, sizeof *lanes);
            lanes[count] = (struct lane){0};
            fits(&lanes[count++], s);
        }
        s->lane = lane;
        struct track *t = &p->tracks[s->track];
        t->threads = lane >= t->threads ? lane + 1 : t->threads;
    }
    for (uint32_t j = 0; j < count; j++)
        xfree(lanes[j].ends);
    xfree(lanes);
    xfree(list);
    for (uint32_t i = 0, tid = 1; i < p->num_tracks; i++) {
        p->tracks[i].first_tid = tid;
        tid += p->tracks[i].threads;
    }
}

/* --- items -------------------------------------------------------------------------------------------------------- */

static void add_item(struct out *o, const struct item *i) {
    o->items = xgrow(o->items, o->num_items, &o->cap_items, sizeof *o->items);
    o->items[o->num_items++] = *i;
}

static bool has_arrow(const struct trace_event *e) {
    return say_is_phase(e) || (e->class == TRACE_WAIT && e->kind != WAIT_BEGINS) ||
           (e->class == TRACE_OP && e->kind == OP_STARTED);
}

/* The picture of the event's cause, and the cause in it. */
static uint32_t cause_of(const struct out *o, uint32_t picture, uint32_t event, uint32_t *in) {
    const struct picture *p = &o->pictures[picture];
    const struct trace_event *e = &p->s.c->events[event - 1];
    *in = picture;
    const uint32_t own = say_cause(&p->s, event);
    if (own || !e->cause || !e->cluster || e->cluster > o->num_pictures)
        return own;
    *in = e->cluster - 1;
    return e->cause <= o->pictures[*in].s.c->num_events ? e->cause : 0;
}

static void add_arrow(struct out *o, uint32_t picture, uint32_t event) {
    uint32_t in;
    const uint32_t cause = cause_of(o, picture, event, &in);
    const struct picture *p = &o->pictures[picture], *q = &o->pictures[in];
    if (!cause || !p->slice_of[event - 1] || !q->slice_of[cause - 1] || time_of(q, cause) > time_of(p, event) ||
        (p == q && p->slice_of[event - 1] == q->slice_of[cause - 1]))
        return;
    o->flows++;
    add_item(o,
             &(struct item){
                 .at = time_of(q, cause), .kind = ITEM_FLOW_BEGIN, .picture = in, .number = cause, .flow = o->flows});
    add_item(
        o, &(struct item){
               .at = time_of(p, event), .kind = ITEM_FLOW_END, .picture = picture, .number = event, .flow = o->flows});
}

static void add_items(struct out *o, uint32_t picture) {
    const struct picture *p = &o->pictures[picture];
    for (uint32_t i = 0; i < p->num_slices; i++)
        add_item(o, &(struct item){.at = p->slices[i].from,
                                   .length = p->slices[i].to - p->slices[i].from,
                                   .picture = picture,
                                   .number = i});
    for (uint32_t i = 1; i <= p->s.c->num_events; i++) {
        const struct trace_event *e = &p->s.c->events[i - 1];
        if (has_arrow(e))
            add_arrow(o, picture, i);
        if (e->object && ((e->class == TRACE_SYNC && e->kind < SYNC_MBAR_TEST) ||
                          (e->class == TRACE_LIFE && e->kind == LIFE_MBAR_INIT)))
            add_item(o, &(struct item){.at = time_of(p, i), .kind = ITEM_COUNTER, .picture = picture, .number = i});
    }
}

static int by_time(const void *a, const void *b) {
    const struct item *p = a, *q = b;
    return COMPARE(p->at, q->at) ?: COMPARE(p->kind, q->kind) ?: COMPARE(q->length, p->length)
               ?: COMPARE(p->picture, q->picture) ?: COMPARE(p->number, q->number);
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static uint32_t pid_of(uint32_t picture, uint32_t rank) { return picture * RANKS + rank % RANKS + 1; }

/* "full[0]", and what the thread of a slice or an event is. */
static void put_place(struct out *o, uint32_t picture, const struct slice *s) {
    const struct track *t = &o->pictures[picture].tracks[s->track];
    fprintf(o->f, ",\"pid\":%u,\"tid\":%u", pid_of(picture, t->rank), t->first_tid + s->lane);
}

static void put_time(struct out *o, const char *name, uint64_t ns) {
    fprintf(o->f, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void put_argument(struct out *o, const char *before, const char *name, const char *text) {
    fprintf(o->f, "%s\"%s\":", before, name);
    json_string(o->f, text);
}

/* The next event of the list begins. */
static void put_begin(struct out *o, const char *phase) {
    fprintf(o->f, "%s{\"ph\":\"%s\"", o->any ? ",\n" : "", phase);
    o->any = true;
}

static void put_slice(struct out *o, const struct item *i) {
    const struct picture *p = &o->pictures[i->picture];
    const struct slice *s = &p->slices[i->number];
    static const char *const category[] = {"event", "wait", "operation", "phase"};
    const uint32_t event = s->kind == SLICE_WAIT ? s->other : s->event;
    const struct trace_event *e = &p->s.c->events[event - 1];
    char name[320], why[480], where[160];
    if (s->kind == SLICE_OP)
        say_op(&p->s, s->other, name, sizeof name);
    else if (s->kind == SLICE_PHASE)
        snprintf(name, sizeof name, "phase %u", e->phase);
    else
        say_what(&p->s, event, name, sizeof name);
    put_begin(o, "X");
    put_place(o, i->picture, s);
    put_time(o, "ts", i->at);
    put_time(o, "dur", i->length);
    fprintf(o->f, ",\"cat\":\"%s\"", category[s->kind]);
    put_argument(o, ",", "name", name);
    fprintf(o->f, ",\"args\":{\"event\":%u", event);
    put_argument(o, ",", "line", say_where(&p->s, e->site, where, sizeof where));
    if (s->event)
        put_argument(o, ",", "because", say_why(&p->s, s->event, why, sizeof why));
    else
        fputs(",\"because\":\"it did not end before the end of the log\"", o->f);
    fputs("}}", o->f);
}

static void put_flow(struct out *o, const struct item *i) {
    const struct picture *p = &o->pictures[i->picture];
    const bool begins = i->kind == ITEM_FLOW_BEGIN;
    put_begin(o, begins ? "s" : "f");
    put_place(o, i->picture, &p->slices[p->slice_of[i->number - 1] - 1]);
    put_time(o, "ts", i->at);
    fprintf(o->f, ",\"cat\":\"cause\",\"name\":\"cause\",\"id\":%" PRIu64 "%s}", i->flow,
            begins ? "" : ",\"bp\":\"e\"");
}

static void put_counter(struct out *o, const struct item *i) {
    const struct picture *p = &o->pictures[i->picture];
    const struct trace_event *e = &p->s.c->events[i->number - 1];
    const struct trace_object *object = &p->s.c->objects[e->object - 1];
    const bool init = e->class == TRACE_LIFE;
    const uint32_t pending = p->s.times ? p->s.times->pending[i->number - 1] : e->pending;
    const int32_t tx = p->s.times ? p->s.times->tx[i->number - 1] : e->tx;
    put_begin(o, "C");
    fprintf(o->f, ",\"pid\":%u", pid_of(i->picture, object->rank));
    put_time(o, "ts", i->at);
    put_argument(o, ",", "name", p->s.n->objects[e->object - 1]);
    fprintf(o->f, ",\"args\":{\"arrivals to come\":%u,\"bytes to come\":%d}}", init ? object->count : pending,
            init ? 0 : tx);
}

static void put_metadata(struct out *o, const char *kind, uint32_t pid, uint32_t tid, const char *name, uint32_t sort) {
    put_begin(o, "M");
    fprintf(o->f, ",\"name\":\"%s_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", kind, pid, tid);
    json_string(o->f, name);
    fputs("}}", o->f);
    put_begin(o, "M");
    fprintf(o->f, ",\"name\":\"%s_sort_index\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}", kind, pid, tid,
            sort);
}

static void put_tracks(struct out *o, uint32_t picture) {
    const struct picture *p = &o->pictures[picture];
    char name[160], warp[80];
    for (uint32_t r = 0; r < p->s.n->ctas && r < RANKS; r++) {
        snprintf(name, sizeof name, "cluster %" PRIu64 " cta%u", p->s.c->number, r);
        put_metadata(o, "process", pid_of(picture, r), 0, name, pid_of(picture, r));
    }
    for (uint32_t i = 0; i < p->num_tracks; i++) {
        const struct track *t = &p->tracks[i];
        for (uint32_t lane = 0; lane < t->threads; lane++) {
            if (t->kind == TRACK_WARP)
                snprintf(name, sizeof name, "warp %u: %s", t->number,
                         names_warp(p->s.n, t->rank, t->number, warp, sizeof warp));
            else
                snprintf(name, sizeof name, "%s", p->s.n->objects[t->number - 1]);
            put_metadata(o, "thread", pid_of(picture, t->rank), t->first_tid + lane, name, t->first_tid + lane);
        }
    }
}

static void put_head(struct out *o, const struct trace_log *log, bool clock) {
    char kernel[160];
    fputs("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{", o->f);
    put_argument(o, "", "kernel", diag_function(trace_string(log, log->kernel), kernel, sizeof kernel));
    put_argument(o, ",", "schedule", trace_string(log, log->schedule));
    put_argument(o, ",", "time",
                 clock ? "1 ns is a cycle of a model of a B200, counted from the launch"
                       : "1 ns is an event: the order of a cluster's events, no time");
    fputs("},\n\"traceEvents\":[\n", o->f);
}

static void put_items(struct out *o) {
    if (o->num_items)
        qsort(o->items, o->num_items, sizeof *o->items, by_time);
    for (uint32_t i = 0; i < o->num_items; i++) {
        const struct item *item = &o->items[i];
        if (item->kind == ITEM_SLICE)
            put_slice(o, item);
        else if (item->kind == ITEM_COUNTER)
            put_counter(o, item);
        else
            put_flow(o, item);
    }
    fputs("\n]}\n", o->f);
}

bool perfetto_write(FILE *file, const struct trace_log *log, struct names *names, const struct say_times *times) {
    struct out o = {.f = file, .num_pictures = log->num_clusters};
    o.pictures = xcalloc((size_t)log->num_clusters + 1, sizeof *o.pictures);
    put_head(&o, log, times != NULL);
    for (uint32_t i = 0; i < log->num_clusters; i++) {
        o.pictures[i].s = say_of(log, names, i, times);
        add_tracks(&o.pictures[i]);
        add_slices(&o.pictures[i]);
        lay_out(&o.pictures[i]);
        put_tracks(&o, i);
    }
    for (uint32_t i = 0; i < log->num_clusters; i++)
        add_items(&o, i);
    put_items(&o);
    for (uint32_t i = 0; i < log->num_clusters; i++) {
        xfree(o.pictures[i].tracks);
        xfree(o.pictures[i].object_tracks);
        xfree(o.pictures[i].slices);
        xfree(o.pictures[i].slice_of);
    }
    xfree(o.pictures);
    xfree(o.items);
    return fflush(file) == 0 && !ferror(file);
}
