/* clock/online.c - see clock/online.h.
 *
 * The machine's state changes at once when an instruction or an operation runs. But an arrival takes time to reach its
 * barrier. So a thread that finds its phase over goes on only at the time at which the last arrival is there, and
 * test_wait answers no before that.
 */
#include "clock/online.h"

#include "base/heap.h"
#include "clock/engine.h"
#include "trace/describe.h"

#include <string.h>

/* When all arrivals so far of a barrier's current phase have reached it, and when its latest complete phase ended. */
struct barrier_time {
    double arrived, over;
};
struct mbar_time {
    uint32_t off; /* 0: none */
    struct barrier_time t;
};
struct online_cta {
    struct mbar_time *mbars; /* open addressing: `places` of them, a power of two */
    uint32_t num, places;
    struct barrier_time bar[MACH_BARRIERS];
};
/* An access to global memory that ran ahead of its time; kept in program order, as are their lines in `touches`. */
struct kept {
    const struct diag_site *site;
    uint32_t lines;
    bool writes;
};
struct online_kept {
    struct kept *of;
    struct clock_touch *touches;
    uint32_t num, next, cap, lines, next_line, cap_lines;
};
enum { ONLINE_LOADS = 16 }; /* loads of a warp that may be in flight: earlier ones have answered */
struct mach_timed {
    uint32_t sm, index, loads;
    double *stored; /* its place in struct clock_place */
    double latest;  /* the latest answer to a load so far */
    struct online_kept kept;
    struct online_load {
        double answer;
        uint32_t number;
    } load[ONLINE_LOADS];
};
struct online_cluster {
    struct clock_place place;
    struct mach_timed *warps[CLOCK_RANKS * CLOCK_WARPS]; /* by clock_warp */
    struct barrier_time barrier;
    uint32_t num_ctas;
    struct leader { /* by clock_warp: the step of its latest load, and when the bytes are there */
        uint64_t step;
        double there;
    } * leaders;
    struct online_cta cta[]; /* by rank */
};

struct clock_online {
    struct mach_timing timing;
    struct clock_table costs;
    struct clock_model *model;
    const struct listener *listener;
    struct gpu *gpu;
    double cycles;
    uint64_t met, counted; /* instructions whose cost was asked; those of them with machine code */
};

static struct online_cluster *cluster_of(const struct listener *self, const struct cta *cta) {
    return cta ? *event_watch(self, &cta->cluster->cta[0]) : NULL;
}

/* --- barriers ----------------------------------------------------------------------------------------------------- */

static struct mbar_time *mbar_find(const struct online_cta *c, uint32_t off) {
    uint32_t i = off / 8 * UINT32_C(0x9E3779B1) & (c->places - 1);
    while (c->mbars[i].off && c->mbars[i].off != off)
        i = (i + 1) & (c->places - 1);
    return &c->mbars[i];
}

static struct barrier_time *mbar_at(struct online_cta *c, uint32_t off) {
    if (2 * (c->num + 1) > c->places) {
        struct online_cta more = {.places = c->places ? 2 * c->places : 16};
        more.mbars = xcalloc(more.places, sizeof *more.mbars);
        for (uint32_t i = 0; i < c->places; i++)
            if (c->mbars[i].off)
                *mbar_find(&more, c->mbars[i].off) = c->mbars[i];
        xfree(c->mbars);
        c->mbars = more.mbars;
        c->places = more.places;
    }
    struct mbar_time *m = mbar_find(c, off);
    c->num += !m->off;
    m->off = off;
    return &m->t;
}

static void arrives(const struct clock_online *o, struct barrier_time *b, double lag) {
    b->arrived = later(b->arrived, o->timing.now + lag);
}

static void is_over(const struct clock_online *o, struct barrier_time *b) {
    b->over = later(b->arrived, o->timing.now);
    b->arrived = 0;
}

static void on_mbarrier(struct clock_online *o, struct online_cluster *cl, const struct event_sync *s) {
    struct barrier_time *b = mbar_at(&cl->cta[s->owner->rank], s->off);
    const bool own = s->by.cta->rank == s->owner->rank;
    if (s->kind == SYNC_MBAR_PHASE)
        is_over(o, b);
    else if (s->kind != SYNC_MBAR_TEST)
        arrives(o, b, s->by.op ? 0 : own ? o->costs.arrive : o->costs.arrive_remote);
    else if (s->done)
        timing_raise(&o->timing, b->over + o->costs.wake);
}

/* When a release has waited for its warp's stores. */
static double released(const struct clock_online *o, const struct online_cluster *cl, const struct event_sync *s) {
    if (s->kind != SYNC_CLUSTER_ARRIVE && s->kind != SYNC_FENCE)
        return o->timing.now;
    const double stored = cl->place.stores[clock_warp(s->by.cta->rank, s->by.warp)];
    const char *text = s->by.site ? s->by.site->ptx_text : NULL;
    return stored > o->timing.now && text && clock_releases(text) ? stored : o->timing.now;
}

static void on_sync(const struct listener *self, const struct event_sync *s) {
    struct clock_online *o = self->ctx;
    struct online_cluster *cl = cluster_of(self, s->by.cta);
    if (!cl)
        return;
    if (s->kind <= SYNC_MBAR_TEST) {
        on_mbarrier(o, cl, s);
        return;
    }
    const double stored = released(o, cl, s);
    if (s->kind == SYNC_FENCE)
        timing_raise(&o->timing, stored);
    if (s->kind > SYNC_CLUSTER_PASS)
        return;
    const bool of_cta = s->kind < SYNC_CLUSTER_ARRIVE;
    struct barrier_time *b = of_cta ? &cl->cta[s->owner->rank].bar[s->number % MACH_BARRIERS] : &cl->barrier;
    if (s->kind == SYNC_BAR_ARRIVE || s->kind == SYNC_CLUSTER_ARRIVE)
        arrives(o, b, of_cta ? o->costs.barrier : o->costs.cluster_barrier + stored - o->timing.now);
    else if (s->kind == SYNC_BAR_PHASE || s->kind == SYNC_CLUSTER_PHASE)
        is_over(o, b);
    else
        timing_raise(&o->timing, b->over);
}

/* A thread that waited for an async-group learns of it a little later. */
static void on_wait(const struct listener *self, const struct event_wait *w) {
    struct clock_online *o = self->ctx;
    if (w->kind == WAIT_ASYNC && w->end == WAIT_MET)
        timing_raise(&o->timing, o->timing.now + o->costs.wake);
}

static bool sees(void *ctx, struct cta *cta, uint32_t off) {
    const struct clock_online *o = ctx;
    struct online_cluster *cl = cluster_of(o->listener, cta);
    return !cl || mbar_at(&cl->cta[cta->rank], off)->over <= o->timing.now;
}

/* --- global memory ------------------------------------------------------------------------------------------------ */

static struct mach_timed *warp_of(struct online_cluster *cl, const struct cta *cta, uint32_t warp) {
    const uint32_t number = clock_warp(cta->rank, warp);
    struct mach_timed *w = cl->warps[number];
    if (!w) {
        w = cl->warps[number] = xcalloc(1, sizeof *w);
        w->sm = cl->place.sm[cta->rank % CLOCK_RANKS];
        w->index = warp;
        w->stored = &cl->place.stores[number];
    }
    return w;
}

static struct mach_timed *timed_warp(void *ctx, const struct cta *cta, uint32_t warp) {
    const struct clock_online *o = ctx;
    return warp_of(cluster_of(o->listener, cta), cta, warp);
}

static void note_load(struct mach_timed *w, uint32_t number, double answer) {
    w->latest = later(w->latest, answer);
    w->load[w->loads++ % ONLINE_LOADS] = (struct online_load){w->latest, number};
}

static double answered(void *ctx, const struct mach_timed *w, uint32_t number) {
    (void)ctx;
    for (uint32_t i = w->loads; i && i + ONLINE_LOADS > w->loads; i--)
        if (w->load[(i - 1) % ONLINE_LOADS].number <= number)
            return w->load[(i - 1) % ONLINE_LOADS].answer;
    return 0;
}

static void takes_place(struct clock_online *o, struct mach_timed *w, bool writes, const struct clock_access *touched,
                        uint32_t load) {
    if (writes) {
        const double out = clock_thread_write(o->model, w->sm, o->timing.now, touched);
        *w->stored = later(*w->stored, out + o->costs.thread_latency);
        timing_raise(&o->timing, out - CLOCK_STORES_AHEAD);
    } else {
        note_load(w, load, clock_thread_read(o->model, w->sm, o->timing.now, touched));
    }
}

static void keep(struct online_kept *k, const struct diag_site *site, bool writes, const struct clock_access *touched) {
    if (k->num == k->cap) {
        k->cap = k->cap ? 2 * k->cap : 16;
        k->of = xrealloc_array(k->of, k->cap, sizeof *k->of);
    }
    if (k->lines + touched->num > k->cap_lines) {
        k->cap_lines = 2 * (k->cap_lines + CLOCK_TOUCHES);
        k->touches = xrealloc_array(k->touches, k->cap_lines, sizeof *k->touches);
    }
    k->of[k->num++] = (struct kept){site, touched->num, writes};
    memcpy(k->touches + k->lines, touched->touches, touched->num * sizeof *k->touches);
    k->lines += touched->num;
}

static void access(void *ctx, struct mach_timed *w, const struct diag_site *site, uint32_t load) {
    struct online_kept *k = &w->kept;
    for (; k->next < k->num && k->of[k->next].site == site; k->next++) {
        struct clock_access touched;
        touched.num = k->of[k->next].lines;
        touched.strong = false;
        memcpy(touched.touches, k->touches + k->next_line, touched.num * sizeof *k->touches);
        k->next_line += touched.num;
        takes_place(ctx, w, k->of[k->next].writes, &touched, load);
    }
    if (k->next == k->num)
        k->num = k->next = k->lines = k->next_line = 0;
}

static void expect(void *ctx, const struct mach_timed *w, uint32_t turns) {
    const struct clock_online *o = ctx;
    const struct online_kept *k = &w->kept;
    if (k->next >= k->num)
        return;
    if (turns == 6) {
        __builtin_prefetch(&k->of[k->next]);
        __builtin_prefetch(&k->touches[k->next_line]);
    }
    if (turns == 4 || turns == 2)
        clock_thread_expect(o->model, w->sm, k->touches + k->next_line, k->of[k->next].lines, turns == 2);
}

static void on_access(const struct listener *self, const struct event_access *a) {
    struct clock_online *o = self->ctx;
    struct online_cluster *cl = cluster_of(self, a->by.cta);
    if (!cl || a->agent != AGENT_THREAD || !a->by.lanes || !a->size)
        return;
    struct clock_access touched;
    clock_touch_none(&touched, a->by.order != ORDER_WEAK);
    for (uint32_t lanes = a->by.lanes; lanes; lanes &= lanes - 1)
        clock_touch_lane(&touched, a->at[__builtin_ctz(lanes)], a->size);
    struct mach_timed *w = warp_of(cl, a->by.cta, a->by.warp);
    const bool writes = a->effect == EFFECT_WRITE;
    if (o->timing.ahead)
        keep(&w->kept, a->by.site, writes, &touched);
    else
        takes_place(o, w, writes, &touched, a->load);
}

/* --- what the scheduler asks -------------------------------------------------------------------------------------- */

static double begin(void *ctx) {
    const struct clock_online *o = ctx;
    return o->timing.now > 0 ? o->timing.now + o->costs.cta_start : o->costs.launch;
}

static struct mach_cost cost(void *ctx, const struct diag_site *site) {
    struct clock_online *o = ctx;
    o->met++;
    o->counted += site->sass != 0;
    const struct trace_kind k = trace_kind_of(site);
    const char *text = site->ptx_text ? site->ptx_text : "";
    return (struct mach_cost){.slots = k.own + k.more,
                              .cycles = k.own * clock_class_cycles(&o->costs, k.run) + k.more * o->costs.alu,
                              .registers = (k.run == RUN_ALU || k.run == RUN_CONTROL) && !k.timed,
                              .needs_loads = k.run == RUN_ASYNC && (strstr(text, "fence") || strstr(text, "membar"))};
}

static double issue(void *ctx, const struct mach_timed *w, double at, double slots, double cycles) {
    const struct clock_online *o = ctx;
    return clock_issue(o->model, w->sm, w->index, at, slots, cycles);
}

static double take_up(void *ctx, const struct async_op *op) {
    struct clock_online *o = ctx;
    struct online_cluster *cl = cluster_of(o->listener, op->cta);
    struct event_work work;
    struct trace_op t = trace_describe(op, &work);
    struct leader *l = &cl->leaders[clock_warp(t.rank, t.warp)];
    const bool copied = !work.follows && l->step == o->timing.steps && (t.agent == AGENT_TMA || t.agent == AGENT_BULK);
    t.follows = work.follows != 0;
    const struct clock_start s =
        clock_start(o->model, &cl->place, &t, op->name, o->timing.now, copied ? &l->there : NULL);
    if (!copied && !work.follows)
        *l = (struct leader){o->timing.steps, s.there};
    return s.done;
}

static uint64_t read_clock(void *ctx, bool nanoseconds) {
    const struct clock_online *o = ctx;
    return (uint64_t)(nanoseconds ? o->timing.now / o->costs.clock : o->timing.now);
}

static double cycles_of(void *ctx, double nanoseconds) {
    const struct clock_online *o = ctx;
    return nanoseconds * o->costs.clock;
}

/* --- lifetimes ---------------------------------------------------------------------------------------------------- */

static void cluster_begins(const struct listener *self, struct cluster *cl) {
    struct online_cluster *c = xcalloc(1, sizeof *c + cl->num_ctas * sizeof *c->cta);
    uint32_t sm[CLOCK_RANKS] = {0};
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        sm[r] = cl->cta[r].sm->id;
    clock_place_init(&c->place, sm);
    c->num_ctas = cl->num_ctas;
    c->leaders = xcalloc((size_t)CLOCK_RANKS * CLOCK_WARPS, sizeof *c->leaders);
    *event_watch(self, &cl->cta[0]) = c;
}

static void cluster_ends(const struct listener *self, struct cluster *cl) {
    struct online_cluster *c = *event_watch(self, &cl->cta[0]);
    *event_watch(self, &cl->cta[0]) = NULL;
    if (!c)
        return;
    for (uint32_t r = 0; r < c->num_ctas; r++)
        xfree(c->cta[r].mbars);
    for (uint32_t i = 0; i < CLOCK_RANKS * CLOCK_WARPS; i++) {
        struct mach_timed *w = c->warps[i];
        if (w) {
            xfree(w->kept.of);
            xfree(w->kept.touches);
        }
        xfree(w);
    }
    clock_place_free(&c->place);
    xfree(c->leaders);
    xfree(c);
}

static void on_life(const struct listener *self, const struct event_life *x) {
    struct online_cluster *cl = x->by.cta ? cluster_of(self, x->by.cta) : NULL;
    if (x->kind == LIFE_CLUSTER_START)
        cluster_begins(self, x->owner->cluster);
    else if (x->kind == LIFE_CLUSTER_END)
        cluster_ends(self, x->owner->cluster);
    else if (x->kind == LIFE_MBAR_INIT && cl)
        *mbar_at(&cl->cta[x->owner->rank], x->off) = (struct barrier_time){0};
}

static void on_host(const struct listener *self, const struct event_host *h) {
    struct clock_online *o = self->ctx;
    if (h->kind == HOST_LAUNCH) {
        o->listener = self;
        o->timing.now = 0;
        o->met = o->counted = 0;
        clock_model_rewind(o->model);
        o->model->single = h->cluster.x * h->cluster.y * h->cluster.z == 1;
    } else if (h->kind == HOST_LAUNCH_END) {
        o->cycles = o->timing.now;
    }
}

struct clock_online *clock_online_attach(struct gpu *gpu, const struct clock_table *costs) {
    struct clock_online *o = xcalloc(1, sizeof *o);
    o->costs = *costs;
    o->model = clock_model_create(&o->costs);
    o->timing = (struct mach_timing){.ctx = o,
                                     .begin = begin,
                                     .warp = timed_warp,
                                     .cost = cost,
                                     .issue = issue,
                                     .answered = answered,
                                     .access = access,
                                     .expect = expect,
                                     .take_up = take_up,
                                     .sees = sees,
                                     .read = read_clock,
                                     .cycles = cycles_of};
    if (events_attach(gpu, &(struct listener){.name = "clock",
                                              .wants = WANT_MBARRIER | WANT_POLL | WANT_BARRIER | WANT_FENCE |
                                                       WANT_WAIT | WANT_GLOBAL | WANT_LIFE | WANT_HOST | WANT_LOADS,
                                              .ctx = o,
                                              .access = on_access,
                                              .sync = on_sync,
                                              .wait = on_wait,
                                              .life = on_life,
                                              .host = on_host})) {
        gpu->timing = &o->timing;
        return o;
    }
    clock_online_free(o);
    return NULL;
}

void clock_online_free(struct clock_online *o) {
    if (o)
        clock_model_free(o->model);
    xfree(o);
}

double clock_online_cycles(const struct clock_online *o) { return o->cycles; }

bool clock_online_ptx(const struct clock_online *o) { return 2 * o->counted < o->met; }

struct clock_load clock_online_load(const struct clock_online *o) {
    return clock_load_of(o->model, o->cycles);
}
