/* launch/timed.c - MACH_SCHED_MODEL: warps and queues of all clusters in the order of the times of a model.
 *
 * Each warp and each queue is an agent, with the time at which it runs next (machine/timing.h). The earliest runs
 * first. At one time the order is that of cluster, rank and number, warps before queues. Times are the model's alone,
 * so every run gives the same on every machine.
 *
 * A warp runs ahead of its time through instructions whose time nobody can notice: those that touch registers alone,
 * weak accesses to shared memory, and fences. Others notice these only by a later synchronisation. At the next
 * instruction of another sort the warp asks when all of these are issued. It runs that instruction at that time, after
 * all that others do before. An operation gets its end when it is issued, and runs at that time.
 *
 * Weak accesses to global memory run ahead, too, but they take time: their lines are asked for in the order of the
 * times of all warps. Straight code with them, over branches that all lanes take alike, runs at once, while the host's
 * caches have what it needs, and is noted (struct ran). Later turns find out when each of its instructions would have
 * run, and for how long. So do operations of the tensor core run in a row (run_queue).
 */
#include "base/fatal.h"
#include "base/heap.h"
#include "base/later.h"
#include "engines/tc.h"
#include "launch/known.h"
#include "launch/state.h"
#include "warp/loads.h"

#include <math.h>

#define AHEAD 256u /* instructions that a warp runs ahead at a time */
#define LOOK 64u   /* agents that run between two checks whether the turn is over */
#define KNOWN 4096u

/* Instructions that have run. Only the first may wait for a load, only the last may access global memory. */
struct piece {
    double cycles;
    const struct diag_site *access; /* the last's, or NULL */
    uint32_t waits, load;           /* number of the latest load that the first waits for; of the last, if it is one */
    uint32_t slots, num;
};
#define PIECES 62u

/* What a warp's group has run before its time. */
struct ran {
    struct ran *free, *all; /* the next in the list of those that no warp has; in the list of all */
    struct piece piece[PIECES];
};

/* An agent, as long as it is in the heap. What a turn needs of code that has run is here and not with the warp, because
 * the host's caches do not hold hundreds of warps. */
struct seat {
    struct mach_agent *agent;
    struct warp *w; /* or NULL: it is a queue */
    struct cluster *cl;
    struct ran *ran; /* or NULL */
    struct mach_timed *timed;
    struct warp_time time; /* its group's, while it has run ahead */
    uint32_t num, next;    /* pieces */
};

/* An agent in the heap. */
struct place {
    double at;
    uint64_t order;
    uint32_t number;
};

struct timed {
    struct place *heap;
    /* by number, which an agent has as long as it is in the heap: where, and who */
    uint32_t *at;
    struct seat *seats;
    uint32_t *spare; /* numbers that nobody has */
    uint32_t *then;  /* by number: whose turn came after its latest */
    uint32_t num, num_spare, numbers, cap, last;
    struct ran *free, *all;
    struct known known[KNOWN]; /* by a hash */
};

/* --- agents in the order of their times --------------------------------------------------------------------------- */

static bool sooner(const struct place *a, const struct place *b) {
    return (a->at < b->at) | ((a->at == b->at) & (a->order < b->order));
}

static void put_at(struct timed *t, struct place a, uint32_t i) {
    t->heap[i] = a;
    t->at[a.number] = i;
}

/* Puts it where it belongs, into place `i` or one above or below. */
static void put(struct timed *t, struct place a, uint32_t i) {
    for (; i && sooner(&a, &t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        put_at(t, t->heap[(i - 1) / 2], i);
    for (uint32_t k = 2 * i + 1; k < t->num; i = k, k = 2 * i + 1) {
        k += k + 1 < t->num && sooner(&t->heap[k + 1], &t->heap[k]);
        if (!sooner(&t->heap[k], &a))
            break;
        put_at(t, t->heap[k], i);
    }
    put_at(t, a, i);
}

static void enlarge(struct timed *t) {
    t->cap = t->cap ? 2 * t->cap : 256;
    t->heap = xrealloc_array(t->heap, t->cap, sizeof *t->heap);
    t->at = xrealloc_array(t->at, t->cap, sizeof *t->at);
    t->seats = xrealloc_array(t->seats, t->cap, sizeof *t->seats);
    t->spare = xrealloc_array(t->spare, t->cap, sizeof *t->spare);
    t->then = xrealloc_array(t->then, t->cap, sizeof *t->then);
}

static void next_at(struct timed *t, struct mach_agent *a, double at) {
    uint32_t i = a->number ? t->at[a->number - 1] : t->num;
    if (!a->number) {
        if (!t->num_spare && t->numbers == t->cap)
            enlarge(t);
        a->number = 1 + (t->num_spare ? t->spare[--t->num_spare] : t->numbers++);
        t->seats[a->number - 1] =
            (struct seat){.agent = a, .w = a->w, .cl = a->w ? a->w->cta->cluster : a->q->cta->cluster};
        t->then[a->number - 1] = a->number - 1;
        t->num++;
    }
    put(t, (struct place){at, a->order, a->number - 1}, i);
}

static void take_out(struct timed *t, struct mach_agent *a) {
    if (!a->number)
        return;
    const uint32_t i = t->at[a->number - 1];
    t->spare[t->num_spare++] = a->number - 1;
    a->number = 0;
    if (i != --t->num)
        put(t, t->heap[t->num], i);
}

static uint64_t order_of(const struct cta *cta, bool queue, uint64_t number) {
    return cta->cluster->number << 16 | (uint64_t)cta->rank << 12 | (uint64_t)queue << 11 | number;
}

/* The warp is next when the first of its groups is. */
static void place_warp(struct timed *t, struct warp *w) {
    double at = INFINITY;
    for (unsigned i = 0; w->live && i < w->num_groups; i++)
        if (w->groups[i].state == GROUP_READY)
            at = w->groups[i].time.at < at ? w->groups[i].time.at : at;
    const struct seat *s = w->agent.number ? &t->seats[w->agent.number - 1] : NULL;
    if (s && s->ran)
        at = s->time.at;
    if (at < INFINITY)
        next_at(t, &w->agent, at);
    else
        take_out(t, &w->agent);
}

static void place_queue(struct timed *t, struct async_queue *q) {
    if (!q->agent.q) {
        uint64_t number = 0;
        for (const struct async_queue *o = q->cta->queues; o != q; o = o->next)
            number++;
        q->agent.q = q;
        q->agent.order = order_of(q->cta, true, number);
    }
    if (q->head)
        next_at(t, &q->agent, async_due(q));
    else
        take_out(t, &q->agent);
}

/* --- clusters ----------------------------------------------------------------------------------------------------- */

static struct mach_timing *timing_of(const struct launch_island *isl) { return isl->m.gpu->timing; }

/* Starts the clusters that have become resident. */
static void start_clusters(struct launch_island *isl) {
    const double at = timing_of(isl)->begin(timing_of(isl)->ctx);
    for (struct cluster *cl = isl->resident; cl; cl = cl->next) {
        if (launch_started(cl))
            continue;
        launch_start_cluster(isl->st, cl);
        for (uint32_t r = 0; r < cl->num_ctas; r++)
            for (uint32_t i = 0; i < cl->cta[r].num_warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                w->agent = (struct mach_agent){.order = order_of(w->cta, false, i),
                                               .w = w,
                                               .timed = timing_of(isl)->warp(timing_of(isl)->ctx, w->cta, i)};
                w->g->time.at = at;
                place_warp(isl->timed, w);
            }
    }
}

/* Takes up what has changed: queues that have got operations, and warps that may go on. */
static void look_at_changes(struct launch_island *isl) {
    struct island *m = &isl->m;
    for (struct async_queue *q; (q = m->issued); place_queue(isl->timed, q)) {
        m->issued = q->next_issued;
        q->listed = false;
    }
    for (struct cta *cta; (cta = m->woken);) {
        m->woken = cta->next_woken;
        cta->woken = false;
        for (uint32_t i = 0; cta->warps && i < cta->num_warps; i++)
            if (warp_resume(&cta->warps[i], timing_of(isl)->now))
                place_warp(isl->timed, &cta->warps[i]);
    }
}

/* The next clusters come as soon as there is room. */
static void end_clusters(struct launch_island *isl) {
    if (!launch_reap(isl, false))
        return;
    look_at_changes(isl);
    while (launch_admit(isl->st))
        ;
    start_clusters(isl);
}

/* --- warps -------------------------------------------------------------------------------------------------------- */

static const struct known *know(struct launch_island *isl, const struct insn *in) {
    struct known *k = &isl->timed->known[((uintptr_t)in / sizeof *in) % KNOWN];
    if (k->in == in)
        return k;
    *k = launch_known(in, timing_of(isl)->cost(timing_of(isl)->ctx, &in->src->site));
    return k;
}

/* The latest load that the group's next instruction waits for. */
static uint32_t awaits(const struct warp *w, const struct group *g, const struct known *k) {
    return g->again ? 0 : k->cost.needs_loads ? UINT32_MAX : warp_loads_uses(w, g, k->in);
}

/* The time at which that load has answered. */
static double answered_at(struct launch_island *isl, const struct warp *w, uint32_t load) {
    const struct mach_timing *t = timing_of(isl);
    return load ? t->answered(t->ctx, w->agent.timed, load) : 0;
}

/* Does the next instruction wait for a load that has not answered yet? Then what was run ahead is issued, and the group
 * is next when the load has answered. */
static bool waits_for_load(struct launch_island *isl, struct warp *w, struct group *g, const struct known *k) {
    struct mach_timing *t = timing_of(isl);
    const double answered = answered_at(isl, w, awaits(w, g, k));
    if (answered <= t->now)
        return false;
    if (g->time.slots)
        g->time.at = t->issue(t->ctx, w->agent.timed, g->time.at, g->time.slots, g->time.cycles);
    g->time = (struct warp_time){.at = later(g->time.at, answered)};
    return true;
}

static void count(struct group *g, const struct known *k) {
    g->time.slots += k->cost.slots;
    g->time.cycles += k->cost.cycles;
}

/* Runs the next instruction; without one (`k` is NULL) the group parks. */
static void run_one_ahead(struct warp *w, struct group *g, const struct known *k) {
    if (k && !g->again)
        count(g, k);
    warp_step(w, g);
}

/* --- straight code ------------------------------------------------------------------------------------------------ */

/* Can no other group of the warp run before this one has? */
static bool runs_alone(const struct warp *w, const struct group *g) {
    for (unsigned i = 0; i < w->num_groups; i++) {
        const struct group *o = &w->groups[i];
        if (o != g && o->state != GROUP_FREE && (o->state != GROUP_WAITING || o->wait.kind != WAIT_JOIN))
            return false;
    }
    return true;
}

static void take_ran(struct timed *t, struct seat *s, const struct warp *w, const struct group *g) {
    struct ran *r = t->free;
    if (r)
        t->free = r->free;
    else {
        r = xcalloc(1, sizeof *r);
        r->all = t->all;
        t->all = r;
    }
    *s = (struct seat){.agent = s->agent, .w = s->w, .cl = s->cl, .ran = r, .timed = w->agent.timed, .time = g->time};
}

/* Its group goes on. */
static void drop_ran(struct timed *t, struct seat *s, struct group *g) {
    g->time = s->time;
    s->ran->free = t->free;
    t->free = s->ran;
    s->ran = NULL;
}

static void note(struct seat *s, const struct warp *w, const struct known *k, uint32_t waits) {
    struct piece *p = s->num ? &s->ran->piece[s->num - 1] : NULL;
    if (!p || p->access || waits) {
        p = &s->ran->piece[s->num++];
        *p = (struct piece){.waits = waits};
    }
    p->num++;
    p->slots += (uint32_t)k->cost.slots;
    p->cycles += k->cost.cycles;
    p->load = w->loads ? w->loads->num : 0;
    p->access = k->weak ? &k->in->src->site : NULL;
}

/* Notes the instructions from `in` on that are straight; how many. `since` have been since the latest access. */
static uint32_t note_straight(struct launch_island *isl, struct warp *w, struct group *g, const struct insn *in,
                              struct seat *s, bool alone, uint32_t *since) {
    uint32_t n = 0;
    for (; n < in->run && s->num < PIECES && *since < AHEAD; n++) {
        const struct known *k = know(isl, &in[n]);
        if (!k->registers && !(alone && k->weak))
            break;
        if (!alone && n && answered_at(isl, w, awaits(w, g, k)) > timing_of(isl)->now)
            break;
        const uint32_t uses = warp_loads_execute(w, g, k->in);
        note(s, w, k, k->cost.needs_loads ? UINT32_MAX : uses);
        *since = k->weak ? 0 : *since + 1;
    }
    return n;
}

/* Runs the group's next instruction, which has been counted. */
static void run_counted(struct warp *w, struct group *g) {
    g->again = true;
    warp_step(w, g);
}

/* Runs the group's next instruction, with those after it that are straight, over branches that all its lanes take or
 * none. `n` have been in this turn: those between two accesses stay below what a turn has. Groups that take turns do
 * not run ahead of what takes time. */
static void run_straight_ahead(struct launch_island *isl, struct warp *w, struct group *g, struct seat *s, uint32_t n) {
    struct mach_timing *t = timing_of(isl);
    const bool alone = runs_alone(w, g);
    t->ahead = true;
    for (const struct insn *in; !isl->m.fault && (in = warp_next(w, g));) {
        const uint32_t num = note_straight(isl, w, g, in, s, alone, &n);
        for (uint32_t ran = 0; ran < num && !isl->m.fault; ran++) {
            ran += warp_step_straight(w, g, num - ran);
            if (ran < num && !isl->m.fault)
                run_counted(w, g); /* its guard has to be looked at */
        }
        if (!alone)
            break;
        if (num)
            continue;
        const struct known *k = know(isl, in);
        if (s->num == PIECES || n >= AHEAD || !k->registers || in->src->op != PTX_OP_bra ||
            !warp_goes_one_way(w, g, in))
            break;
        note(s, w, k, warp_loads_execute(w, g, in));
        n++;
        run_counted(w, g);
    }
    t->ahead = false;
}

/* What has run takes its time; in this turn, `n` instructions. True: the turn ends. False: nothing is left. */
static bool take_time(struct mach_timing *t, struct seat *s, uint32_t *n) {
    struct warp_time *time = &s->time;
    if (time->issued) {
        const struct piece *p = &s->ran->piece[s->next++];
        t->goes_on = t->now;
        t->access(t->ctx, s->timed, p->access, p->load);
        *time = (struct warp_time){.at = later(time->at, t->goes_on)};
        if (time->at > t->now)
            return true; /* else it is the first again */
    }
    for (; s->next < s->num; s->next++) {
        const struct piece *p = &s->ran->piece[s->next];
        const double answered = p->waits ? t->answered(t->ctx, s->timed, p->waits) : 0;
        const bool waits = answered > t->now;
        if (!waits) {
            time->slots += p->slots;
            time->cycles += p->cycles;
            *n += p->num;
            if (!p->access)
                continue;
        }
        if (!waits || time->slots)
            time->at = t->issue(t->ctx, s->timed, time->at, time->slots, time->cycles);
        *time = (struct warp_time){.at = waits ? later(time->at, answered) : time->at, .issued = !waits};
        return true;
    }
    return false;
}

/* The host fetches what the next turns will ask for. They mostly come in the order in which they came last. What is
 * fetched names what is fetched some turns later. */
static void expect_turns(const struct mach_timing *t, struct timed *of, uint32_t number) {
    if (of->last != number)
        of->then[of->last] = number;
    of->last = number;
    for (uint32_t i = 1; i < 9; i++) {
        number = of->then[number];
        const struct seat *s = &of->seats[number];
        if (!s->ran && s->w && i == 4) {
            __builtin_prefetch(s->w);
            __builtin_prefetch(&s->w->num_groups);
            __builtin_prefetch(&s->w->groups[0].state);
            __builtin_prefetch(&s->w->groups[0].time);
            __builtin_prefetch(&s->w->loads);
        } else if (s->ran && i == 8) {
            __builtin_prefetch(&s->ran->piece[s->next]);
            __builtin_prefetch(s->timed);
        } else if (s->ran && s->time.issued && i < 7)
            t->expect(t->ctx, s->timed, i);
    }
}

/* Instructions that nobody can tell the time of; then all of them are issued, with the one after them. `n` have been in
 * this turn. */
static void run_ahead(struct launch_island *isl, struct warp *w, struct group *g, uint32_t n) {
    struct mach_timing *t = timing_of(isl);
    const struct known *k = NULL;
    const bool straight = !w->before && !events_wanted(w->gpu, WANT_STEP);
    for (uint32_t more = 1; n < AHEAD; n += more) {
        const struct insn *in = warp_next(w, g);
        k = in ? know(isl, in) : NULL;
        if (k && waits_for_load(isl, w, g, k))
            return;
        struct seat *s = &isl->timed->seats[w->agent.number - 1];
        more = 0;
        if (straight && k && in->run && !g->again && !g->told && (k->registers || (k->weak && runs_alone(w, g)))) {
            take_ran(isl->timed, s, w, g);
            run_straight_ahead(isl, w, g, s, n);
            if (isl->m.fault || take_time(t, s, &more))
                return;
            drop_ran(isl->timed, s, g);
        } else if (k && !k->registers)
            break;
        else {
            more = 1;
            run_one_ahead(w, g, k);
        }
        if (!k || g->state != GROUP_READY || isl->m.fault)
            return;
        k = NULL;
    }
    const double slots = g->time.slots + (k ? k->cost.slots : 0), cycles = g->time.cycles + (k ? k->cost.cycles : 0);
    g->time =
        (struct warp_time){.at = t->issue(t->ctx, w->agent.timed, g->time.at, slots, cycles), .issued = k != NULL};
}

/* An instruction takes effect. */
static void run_now(struct launch_island *isl, struct warp *w, struct group *g) {
    struct mach_timing *t = timing_of(isl);
    t->goes_on = t->now;
    warp_step(w, g);
    g->time = (struct warp_time){.at = later(g->time.at, t->goes_on), .issued = g->again};
}

static struct group *first_group(struct warp *w) {
    struct group *first = NULL;
    for (unsigned i = 0; i < w->num_groups; i++) {
        struct group *g = &w->groups[i];
        if (g->state == GROUP_READY && (!first || g->time.at < first->time.at))
            first = g;
    }
    if (!first)
        fatal_broken("a warp is next, and none of its groups");
    return first;
}

/* `n` instructions have been in this turn. */
static void run_warp(struct launch_island *isl, struct warp *w, uint32_t n) {
    struct timed *t = isl->timed;
    struct group *first = first_group(w);
    struct seat *s = &t->seats[w->agent.number - 1];
    if (s->ran)
        drop_ran(t, s, first);
    if (first->time.issued)
        run_now(isl, w, first);
    else
        run_ahead(isl, w, first, n);
    launch_note_exit(w);
    place_warp(t, w);
}

/* --- queues ------------------------------------------------------------------------------------------------------- */

/* Can nobody but the agents of its cluster tell when the operation runs? */
static bool is_own(const struct async_op *op) {
    const enum event_agent a = op->kind->agent;
    return a == AGENT_TENSOR_CORE || a == AGENT_TENSOR_COPY || a == AGENT_TENSOR_LDST || a == AGENT_COMMIT;
}

static bool is_after(const struct timed *t, const struct mach_agent *a, double at) {
    return !a->number || t->heap[t->at[a->number - 1]].at > at;
}

/* Does nobody else of the cluster do anything up to that time? */
static bool others_are_after(const struct timed *t, const struct async_queue *q, double at) {
    const struct cluster *cl = q->cta->cluster;
    for (const struct cta *cta = cl->cta; cta < cl->cta + cl->num_ctas; cta++) {
        for (uint32_t i = 0; cta->warps && i < cta->num_warps; i++)
            if (!is_after(t, &cta->warps[i].agent, at))
                return false;
        for (const struct async_queue *o = cta->queues; o; o = o->next)
            if (o != q && !is_after(t, &o->agent, at))
                return false;
    }
    return true;
}

/* Runs the operation that is due. Those after it run at once, each at its time, up to one by whose time another of the
 * cluster is next: the host's caches have the operands. A cluster ends only when all others have come to that time. */
static void run_queue(struct launch_island *isl, struct async_queue *q) {
    struct mach_timing *t = timing_of(isl);
    const double now = t->now;
    for (;;) {
        if (!async_step(q)) {
            take_out(isl->timed, &q->agent); /* it asks the grid, which always answers here */
            break;
        }
        place_queue(isl->timed, q);
        look_at_changes(isl);
        if (isl->m.fault || !q->head || q->unordered || !is_own(q->head) || !q->cta->cluster->live_ctas ||
            !others_are_after(isl->timed, q, q->head->due))
            break;
        t->now = later(t->now, q->head->due);
    }
    t->now = now;
}

/* --- turns -------------------------------------------------------------------------------------------------------- */

static void run_agent(struct launch_island *isl) {
    struct timed *of = isl->timed;
    struct mach_timing *t = timing_of(isl);
    struct place first = of->heap[0];
    struct seat *s = &of->seats[first.number];
    uint32_t n = 0;
    t->now = later(t->now, first.at);
    t->steps++;
    expect_turns(t, of, first.number);
    if (s->ran && take_time(t, s, &n)) {
        first.at = s->time.at;
        put(of, first, 0);
        return;
    }
    struct cluster *cl = s->cl;
    if (s->w)
        run_warp(isl, s->w, n);
    else
        run_queue(isl, s->agent->q);
    look_at_changes(isl);
    if (launch_has_ended(cl))
        end_clusters(isl);
}

/* Groups that launch_unstick has resumed go on now. */
static void place_all(struct launch_island *isl) {
    for (struct cluster *cl = isl->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas; r++)
            for (uint32_t i = 0; i < cl->cta[r].num_warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                for (unsigned k = 0; k < w->num_groups; k++)
                    w->groups[k].time.at = later(w->groups[k].time.at, timing_of(isl)->now);
                place_warp(isl->timed, w);
            }
}

void launch_take_timed_turn(struct launch_island *isl) {
    if (!isl->timed)
        isl->timed = xcalloc(1, sizeof *isl->timed);
    start_clusters(isl);
    for (uint32_t n = 0; isl->resident; n++) {
        if (isl->m.fault || (n % LOOK == 0 && launch_turn_over(isl)))
            return;
        if (isl->timed->num)
            run_agent(isl);
        else if (launch_unstick(isl))
            place_all(isl);
        else {
            isl->idle = true;
            return;
        }
    }
}

void launch_timed_free(struct launch_island *isl) {
    struct timed *t = isl->timed;
    if (!t)
        return;
    for (struct ran *r = t->all, *next; r; r = next) {
        next = r->all;
        xfree(r);
    }
    xfree(t->heap);
    xfree(t->at);
    xfree(t->seats);
    xfree(t->spare);
    xfree(t->then);
    xfree(t);
    isl->timed = NULL;
}
