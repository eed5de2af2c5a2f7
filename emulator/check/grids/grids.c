/* check/grids/grids.c - the order between kernels and copies: events become tasks, and the rules; contract in grids.h.
 */
#include "check/grids/grids.h"

#include "base/heap.h"
#include "check/grids/touches.h"

#include <stdio.h>
#include <string.h>

/* --- the rules ---------------------------------------------------------------------------------------------------- */

DIAG(wait_missing) = {
    DIAG_HEAD(WARNING, "grid-dependency-wait", "9.7.13.13"),
    .rule = "a kernel launched with programmatic stream serialisation may overlap the kernel before it once that one "
            "executes griddepcontrol.launch_dependents. Access memory that both use only after griddepcontrol.wait",
    .hint = "Execute griddepcontrol.wait (cudaGridDependencySynchronize()) before the access: in the same thread, or "
            "in one that this thread synchronises with afterwards. Initialising mbarriers and prefetching tensor maps "
            "may come before it",
    .reason = "the two kernels may run in either order; usually the first one is nearly finished by then.",
};
DIAG(wait_chain) = {
    DIAG_HEAD(WARNING, "grid-dependency-chain", "9.7.13.13"),
    .rule = "griddepcontrol.wait waits for the kernel before. It covers earlier kernels only if the kernel before has "
            "waited for them itself",
    .hint = "Execute griddepcontrol.wait in every kernel of the chain, even in one that needs nothing from the kernel "
            "before. Or launch the kernel that has no wait without programmatic stream serialisation",
    .reason = "the kernel in between may end before the first one does.",
};
DIAG(stream_race) = {
    .class = DIAG_WARNING,
    .id = "stream-race",
    .section = "CUDA C++ Programming Guide, Streams; PTX ISA 8.9.4",
    .rule =
        "kernels and copies in two streams may run in any order, or overlap, unless an event or the host orders them",
    .hint = "Call cudaEventRecord() after the first and cudaStreamWaitEvent() before the second, or "
            "cudaStreamSynchronize() between them. A stream made with cudaStreamNonBlocking and the default stream do "
            "not wait for each other",
    .reason = "the two operations may run in either order.",
};

/* --- state -------------------------------------------------------------------------------------------------------- */

/* The first griddepcontrol.wait of a warp's lanes; until the launch ends. */
struct grid_wait {
    uint32_t cluster, warp, lanes, time;
};

/* The running kernel; from its launch to its end. */
struct run {
    struct task *now;        /* NULL: no kernel runs */
    bool lost, forgotten;    /* dropped, so conflicts may be missed: a whole task; accesses of a task in `open` */
    task_set open;           /* remembered tasks that need not be complete when it begins, or that began beside it */
    struct grid_wait *waits; /* kept only if the kernel began early */
    uint32_t num_waits, cap_waits;
};

/* The state for a device, as long as the listener is attached. */
struct grids {
    struct gpu *gpu;
    struct tasks tasks;
    struct touches *pages;        /* NULL: nothing remembered so far */
    struct run run[MACH_FLIGHTS]; /* kernels that run at the same time: gpu->flight says which one an event is of */
    pthread_mutex_t lock;         /* for run.waits */
};

struct grids *grids_new(struct gpu *gpu) {
    struct grids *g = xcalloc(1, sizeof *g);
    g->gpu = gpu;
    tasks_init(&g->tasks, (uint32_t)event_bound(gpu, BOUND_TASKS));
    pthread_mutex_init(&g->lock, NULL);
    return g;
}

void grids_free(struct grids *g) {
    tasks_free(&g->tasks);
    touches_free(g->pages);
    pthread_mutex_destroy(&g->lock);
    for (uint32_t i = 0; i < MACH_FLIGHTS; i++)
        xfree(g->run[i].waits);
    xfree(g);
}

static struct run *run_of(struct grids *g) { return &g->run[g->gpu->flight]; }

bool grids_wants(const struct grids *g) {
    const struct run *run = &g->run[g->gpu->flight];
    return run->now && (run->open || run->now->kept || run->lost);
}

/* The task's place in the window. */
static uint32_t place_of(const struct grids *g, const struct task *k) { return (uint32_t)(k - g->tasks.task); }

/* --- griddepcontrol ----------------------------------------------------------------------------------------------- */

/* Does the viewer know that lanes have executed that griddepcontrol.wait, or is it one of them? */
static bool knows_wait(const struct race *r, const struct grid_wait *w, const struct viewer *v) {
    const struct done wait = {.warp = w->warp, .lanes = w->lanes, .time = w->time};
    if (w->cluster == r->number)
        return viewer_knows_lanes(v, LAYER_RAN, &wait, false);
    return vclock_knows_any(far_of(vclock_far(v->now[LAYER_RAN]), w->cluster), w->warp, w->lanes, w->time);
}

/* Has the viewer, or a thread that it knows of, executed griddepcontrol.wait? */
static bool has_waited(struct grids *g, const struct race *r, const struct viewer *v) {
    const struct run *run = run_of(g);
    bool found = false;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < run->num_waits && !found; i++)
        found = knows_wait(r, &run->waits[i], v);
    pthread_mutex_unlock(&g->lock);
    return found;
}

/* On the CTA's first griddepcontrol.launch_dependents: if one of its lanes has waited, or knows a thread that has, sets
 * the task's waits_first (tasks.h). */
static void goes_on(struct grids *g, struct race *r, const struct event_by *by) {
    const uint32_t warp = race_warp_of(r, by);
    for (uint32_t i = 0; i < r->warps[warp].num_strands; i++) {
        const struct strand *s = &r->warps[warp].strand[i];
        const struct viewer v = viewer_of_strand(r, by, warp, s, EFFECT_READ);
        if (s->lanes & by->lanes && has_waited(g, r, &v))
            run_of(g)->now->waits_first = true;
    }
}

/* On griddepcontrol.wait: remembers the lanes that execute it, if the kernel began early. */
static void waits(struct grids *g, const struct race *r, const struct event_sync *e) {
    const struct grid_wait w = {r->number, race_warp_of(r, &e->by), e->by.lanes, r->time};
    struct run *run = run_of(g);
    uint32_t before = 0;
    run->now->waits = true;
    if (!run->now->early)
        return;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < run->num_waits; i++)
        before |= run->waits[i].cluster == w.cluster && run->waits[i].warp == w.warp ? run->waits[i].lanes : 0;
    if (w.lanes & ~before) {
        run->waits = xgrow(run->waits, run->num_waits, &run->cap_waits, sizeof *run->waits);
        run->waits[run->num_waits] = w;
        run->waits[run->num_waits++].lanes &= ~before;
    }
    pthread_mutex_unlock(&g->lock);
}

void grids_sync(struct grids *g, struct race *r, const struct event_sync *e) {
    struct task *now = run_of(g)->now;
    if (!now)
        return;
    if (e->kind == SYNC_GRID_WAIT) {
        waits(g, r, e);
        return;
    }
    struct cta_watch *cta = race_cta(r, e->by.cta);
    if (!cta->triggered && now->early) /* a second one has no effect */
        goes_on(g, r, &e->by);
    cta->triggered = true;
    now->triggered = true;
}

void grids_cta_exits(struct grids *g, struct race *r, const struct cta *cta) {
    const struct run *run = run_of(g);
    if (!run->now || !run->now->early || race_cta(r, cta)->triggered)
        return;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < run->num_waits; i++)
        if (run->waits[i].cluster == r->number && run->waits[i].warp / r->warps_each == cta->rank)
            run->now->waits_first = true;
    pthread_mutex_unlock(&g->lock);
}

/* --- verdicts and reports ----------------------------------------------------------------------------------------- */

/* The rule that the two tasks break. In two streams: stream-race. In one stream: wait_missing if the later kernel's own
 * griddepcontrol.wait would order them, otherwise wait_chain, because a kernel between them has not waited. */
static const struct diag *rule_of(const struct grids *g, const struct task *later, const struct task *earlier) {
    if (earlier->stream != later->stream)
        return &stream_race;
    return tasks_can_wait(&g->tasks, place_of(g, later)) & task_bit(place_of(g, earlier)) ? &wait_missing : &wait_chain;
}

static const char *kind_of(const struct task *k) { return k->kind == TASK_COPY ? "copy" : "memset"; }

/* A kernel's access to [at, at + size), by lanes of a strand or by an operation; during its check. */
struct reaching {
    struct grids *g;
    struct run *run;
    struct race *r;
    const struct event_access *e;
    const struct viewer *v;
    struct mach_origin origin;
    int waited; /* did it wait? -1: not yet computed */
};

/* Writes the address, and the byte in its allocation, number/size: a headline has 15 words at most. */
static void name_place(const struct grids *g, uint64_t at, char *place, size_t size) {
    struct mem_block b;
    const int n = snprintf(place, size, "0x%llx", (unsigned long long)at);
    if (mem_nearest(g->gpu->mem, at, &b) && at - b.addr < b.size)
        snprintf(place + n, size - (size_t)n, ", byte %llu/%llu", (unsigned long long)(at - b.addr),
                 (unsigned long long)b.size);
}

/* In words: why the access of `later` need not come after those of another task. */
static const char *unordered(const struct diag *rule, const struct task *later) {
    return rule == &stream_race  ? " of another stream"
           : rule == &wait_chain ? ", for which the kernel before this one has not waited"
           : later->waits        ? ", for which this thread has not waited"
                                 : ", for which this kernel does not wait";
}

static const char *verb(bool writes) { return writes ? "writes" : "reads"; }
static const char *may(bool writes) { return writes ? "write" : "read"; }

/* Reports that the access of *x conflicts with that of the task `k`. */
static void tell(const struct reaching *x, const struct diag *rule, const struct task *k, const struct touch *earlier,
                 uint64_t at) {
    char place[120], said[240];
    const bool writes = x->e->effect & EFFECT_WRITE, wrote = earlier->flags & TOUCH_WRITE;
    const char *when = unordered(rule, x->run->now);
    name_place(x->g, at, place, sizeof place);
    if (k->kind != TASK_KERNEL) {
        mach_warn(x->r->island, &x->origin, rule, "%s %s %s, which %s%s may still %s", x->v->what, verb(writes), place,
                  rule == &stream_race ? "another stream's " : "a ", kind_of(k), may(wrote));
        return;
    }
    const struct mach_origin other = {.site = earlier->site, .thread = earlier->thread};
    snprintf(said, sizeof said, "an access by the kernel %s%s, which %s it", k->name, when, verb(wrote));
    mach_warn_pair(x->r->island, &x->origin, &other, said, rule, "%s %s %s, which the kernel %s may still %s",
                   x->v->what, verb(writes), place, k->name, may(wrote));
}

/* The same if `k` is the later kernel: it began beside the running one and accessed the bytes first. In program order
 * the running kernel's access comes before that, and `k` has not waited for it. */
static void tell_later(const struct reaching *x, const struct diag *rule, const struct task *k, const struct touch *its,
                       uint64_t at) {
    char place[120], said[240];
    const struct task *now = x->run->now;
    const struct mach_origin origin = {.site = its->site, .thread = its->thread};
    const bool writes = its->flags & TOUCH_WRITE, wrote = x->e->effect & EFFECT_WRITE;
    name_place(x->g, at, place, sizeof place);
    snprintf(said, sizeof said, "an access by the kernel %s%s, which %s it", now->name, unordered(rule, k),
             verb(wrote));
    mach_warn_pair(x->r->island, &origin, &x->origin, said, rule, "%s %s %s, which the kernel %s may still %s",
                   its->what, verb(writes), place, now->name, may(wrote));
}

/* touches_fn: the access of *x shares bytes with that of another task. Nothing is reported if one of the two tasks has
 * read a strong write of the other, or if this pair of lines has been reported. */
static void meets(void *ctx, struct touch *earlier, const struct touching *t, uint64_t at) {
    struct reaching *x = ctx;
    struct grids *g = x->g;
    struct task *now = x->run->now;
    const struct task *k = &g->tasks.task[earlier->place];
    const task_set bit = task_bit(earlier->place);
    const bool later = k->number > now->number;
    if (now->seen & bit || (later && k->seen & task_bit(place_of(g, now))) ||
        (earlier->told == t->site && earlier->told_to == t->number))
        return;
    if (now->waited & bit) {
        if (x->waited < 0)
            x->waited = has_waited(g, x->r, x->v);
        if (x->waited)
            return;
    }
    earlier->told = t->site;
    earlier->told_to = t->number;
    if (later)
        tell_later(x, rule_of(g, k, now), k, earlier, at);
    else
        tell(x, rule_of(g, now, k), k, earlier, at);
}

/* --- accesses ----------------------------------------------------------------------------------------------------- */

/* touches_fn: a strong read finds another task's strong write. That task may have released by this write, so from now
 * on the running task counts as after it. */
static void sees(void *ctx, struct touch *earlier, const struct touching *t, uint64_t at) {
    struct grids *g = ctx;
    (void)t;
    (void)at;
    if (earlier->flags & TOUCH_STRONG && earlier->flags & TOUCH_WRITE)
        atomic_fetch_or(&run_of(g)->now->seen, task_bit(earlier->place));
}

/* Checks an access to [at, at + size), then remembers it. */
static void touch(struct reaching *x, uint64_t at, uint64_t size, uint32_t flags) {
    struct grids *g = x->g;
    const struct run *run = x->run;
    struct touching t = {.at = at,
                         .size = size,
                         .place = place_of(g, run->now),
                         .number = run->now->number,
                         .flags = flags,
                         .what = x->v->what,
                         .site = x->origin.site,
                         .thread = &x->origin.thread};
    if (run->lost)
        event_tell_unseen(g->gpu, BOUND_TASKS);
    if (run->forgotten)
        event_tell_unseen(g->gpu, BOUND_TASK_BYTES);
    if (run->open) {
        if (flags & TOUCH_STRONG && x->e->effect & EFFECT_READ) {
            const struct touching poll = {.at = at, .size = size, .flags = 0};
            touches_meet(g->pages, &g->tasks, run->open, &poll, sees, g);
        }
        touches_meet(g->pages, &g->tasks, run->open, &t, meets, x);
    }
    if (run->now->kept && !touches_put(g->pages, &t))
        run->now->forgotten = true;
}

/* enum touch_flag of an access: strong only at a scope that includes other kernels (8.5). */
static uint32_t flags_of(const struct event_access *e) {
    const bool strong = e->effect == EFFECT_ATOMIC || (e->by.order != ORDER_WEAK && e->by.scope >= SCOPE_GPU);
    return (e->effect & EFFECT_WRITE ? TOUCH_WRITE : 0) | (strong ? TOUCH_STRONG : 0);
}

/* On an access by lanes: adjacent lanes with adjacent bytes make one access. */
static void touch_lanes(struct reaching *x, uint32_t lanes) {
    const struct event_access *e = x->e;
    while (lanes) {
        const uint32_t first = (uint32_t)__builtin_ctz(lanes);
        uint32_t n = 1;
        lanes &= lanes - 1;
        while (first + n < MACH_WARP && lanes >> (first + n) & 1 &&
               e->at[first + n] == e->at[first] + (uint64_t)n * e->size)
            lanes &= ~(1u << (first + n++));
        touch(x, e->at[first], (uint64_t)n * e->size, flags_of(e));
    }
}

/* An access by threads, strand by strand. */
static void threads(struct grids *g, struct race *r, const struct event_access *e) {
    const uint32_t warp = race_warp_of(r, &e->by);
    const struct warp_watch *w = &r->warps[warp];
    for (uint32_t i = 0; i < w->num_strands; i++) {
        const struct viewer v = viewer_of_strand(r, &e->by, warp, &w->strand[i], e->effect);
        struct event_by by = e->by;
        by.lanes = v.lanes;
        struct reaching x = {g, run_of(g), r, e, &v, event_origin(&by), -1};
        if (v.lanes)
            touch_lanes(&x, v.lanes);
    }
}

void grids_access(struct grids *g, struct race *r, const struct event_access *e, const struct note *n) {
    if (!e->size)
        return;
    if (e->agent == AGENT_THREAD) {
        threads(g, r, e);
        return;
    }
    if (!n)
        return;
    const struct viewer v = viewer_of_note(&e->by, n, false, e->what ? e->what : n->name);
    struct reaching x = {g, run_of(g), r, e, &v, n->origin, -1};
    if (e->agent == AGENT_CP_ASYNC) {
        touch_lanes(&x, e->by.lanes);
        return;
    }
    const uint32_t rows = e->rows ? e->rows : 1, pieces = e->pieces ? e->pieces : 1;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < pieces; i++)
            touch(&x, e->at[i] + row * e->stride, e->size, flags_of(e));
}

/* --- the host ----------------------------------------------------------------------------------------------------- */

/* A copy or memset, during its check against kernels of other streams. */
struct copying {
    struct grids *g;
    struct island *island;
    struct task *k;
    bool writes;
};

/* touches_fn: a copy shares bytes with the access of a kernel in another stream. */
static void copy_meets(void *ctx, struct touch *earlier, const struct touching *t, uint64_t at) {
    const struct copying *c = ctx;
    const struct task *k = &c->g->tasks.task[earlier->place];
    const struct mach_origin origin = {.site = earlier->site, .thread = earlier->thread};
    const bool wrote = earlier->flags & TOUCH_WRITE;
    char place[120];
    if (k->kind != TASK_KERNEL || earlier->told_to == t->number)
        return;
    earlier->told_to = t->number;
    name_place(c->g, at, place, sizeof place);
    mach_warn(c->island, &origin, &stream_race,
              "a %s of another stream %s %s, and nothing orders it after the kernel %s, which %s it", kind_of(c->k),
              c->writes ? "writes" : "reads", place, k->name, wrote ? "writes" : "reads");
}

/* Checks one side of a copy: `rows` times `bytes`, `pitch` apart. Host memory is not checked. */
static void copy_side(struct copying *c, const struct event_host *e, uint64_t from, uint64_t pitch) {
    struct grids *g = c->g;
    const task_set others = g->tasks.used & ~c->k->begin & ~task_bit(place_of(g, c->k));
    for (uint64_t row = 0; mem_is_device(g->gpu->mem, from) && row < e->rows; row++) {
        const struct touching t = {.at = from + row * pitch,
                                   .size = e->bytes,
                                   .place = place_of(g, c->k),
                                   .number = c->k->number,
                                   .flags = c->writes ? TOUCH_WRITE : 0};
        touches_meet(g->pages, &g->tasks, others, &t, copy_meets, c);
        if (c->k->kept && !touches_put(g->pages, &t))
            c->k->forgotten = true;
    }
}

/* Must accesses be remembered? Only if tasks may run side by side, or once any access was remembered. */
static bool is_tracked(const struct grids *g) { return g->pages || tasks_concurrent(&g->tasks); }

/* Creates the memory of accesses at the first need. */
static void make_pages(struct grids *g) {
    if (!g->pages)
        g->pages = touches_new(event_bound(g->gpu, BOUND_TASK_BYTES));
}

/* HOST_COPY: a copy or memset begins and ends. It belongs to no launch, so it reports through an island of its own. */
static void copy(struct grids *g, const struct event_host *e) {
    struct island island;
    struct task *k = &g->tasks.task[tasks_begin(&g->tasks, e->src ? TASK_COPY : TASK_FILL, e)];
    k->kept = tasks_concurrent(&g->tasks);
    if (!is_tracked(g))
        return;
    make_pages(g);
    touches_sweep(g->pages, &g->tasks);
    island_init(&island, g->gpu, 0);
    struct copying c = {g, &island, k, true};
    copy_side(&c, e, e->dst, e->dst_pitch);
    c.writes = false;
    if (e->src)
        copy_side(&c, e, e->src, e->src_pitch);
    island_tell(&island);
    island_close(&island);
}

/* HOST_LAUNCH: a kernel becomes the running task. */
static void launch(struct grids *g, const struct event_host *e) {
    struct run *run = run_of(g);
    const uint32_t place = tasks_begin(&g->tasks, TASK_KERNEL, e);
    bool beside = false;
    run->now = &g->tasks.task[place];
    for (uint32_t i = 0; i < MACH_FLIGHTS; i++)
        if (g->run[i].now && &g->run[i] != run) {
            g->run[i].open |= task_bit(place);
            beside = true;
        }
    run->now->kept = beside || e->triggers || tasks_concurrent(&g->tasks);
    run->num_waits = 0;
    run->open = 0;
    if (run->now->kept)
        make_pages(g);
    if (g->pages)
        touches_sweep(g->pages, &g->tasks);
    for (uint32_t i = 0; i < TASKS; i++)
        if (g->tasks.task[i].number && g->tasks.task[i].kept && &g->tasks.task[i] != run->now)
            run->open |= task_bit(i);
    run->open &= ~run->now->begin;
    run->forgotten = false;
    for (uint32_t i = 0; i < TASKS; i++)
        run->forgotten |= run->open & task_bit(i) && g->tasks.task[i].forgotten;
    run->lost = g->tasks.lost; /* tasks_begin() dropped a task: announced for the first kernel after that */
    g->tasks.lost = false;
}

/* HOST_LAUNCH_END: the kernel's module may be unloaded now, so the lines of its accesses are copied. */
static void launch_ends(struct grids *g) {
    struct run *run = run_of(g);
    if (!run->now)
        return;
    if (run->now->kept)
        touches_keep_sites(g->pages, run->now->number);
    tasks_end(&g->tasks, place_of(g, run->now));
    run->now = NULL;
}

void grids_host(struct grids *g, const struct event_host *e) {
    switch (e->kind) {
    case HOST_LAUNCH:
        launch(g, e);
        break;
    case HOST_LAUNCH_END:
        launch_ends(g);
        break;
    case HOST_COPY:
        copy(g, e);
        break;
    case HOST_FREE: /* cudaFree waits for the device */
        tasks_all_over(&g->tasks);
        break;
    default:
        tasks_host(&g->tasks, e);
        break;
    }
}
