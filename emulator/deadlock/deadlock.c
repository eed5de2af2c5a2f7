/* deadlock/deadlock.c - what a launch that cannot go on looks like: its cause, then every warp, what it waits for and
 * what that lacks; contract in deadlock.h. Lines that differ in the CTA alone are one, and of many only the first are
 * told, unless --verbose asks for all.
 */
#include "base/budget.h"
#include "base/heap.h"
#include "base/strbuf.h"
#include "deadlock/blame.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES 1350u
#define LINES_SHOWN 12u /* of two rows each: a screen */
#define LINES_KEPT 512u /* among which alike ones are looked for */

/* What is told of the groups of one CTA, or of several alike. */
struct line {
    const struct insn *in;
    const struct cta *first, *last;
    uint32_t ctas;
    struct diag_dim3 step; /* what their distances from the first have in common, by axis; 0: the same place */
    uint32_t of;           /* index of the first group */
    uint32_t depth;        /* how far from the root it is, the nearest of them */
    char *names;           /* "warps 0-3 lanes 0xffffffff each" */
    char *what;            /* "waits ..." */
};

struct listing {
    const struct deadlock_scene *at;
    const struct stuck *list;
    uint32_t count;
    struct deadlock_names names;
    struct line *lines;
    uint32_t num_lines, cap_lines, dropped;
};

/* --- one group ---------------------------------------------------------------------------------------------------- */

/* What an mbarrier lacks: phase, pending arrivals, tx-count. */
static void describe_mbarrier(struct listing *o, struct warp *w, uint32_t addr, struct strbuf *b) {
    struct mbar_view v;
    uint32_t off;
    struct cta *cta = smem_resolve(w->cta, addr, 8, &off);
    if (!cta || mbar_peek(cta, off, &v) != MBAR_OK) {
        strbuf_put(b, "mbarrier 0x%x, which is not initialised", addr);
        return;
    }
    const char *name = deadlock_barrier_name(&o->names, cta, off, w);
    strbuf_put(b, *name ? "%s (0x%x)" : "mbarrier%s 0x%x", name, off);
    strbuf_put(b, ": phase %llu incomplete, %u of %u arrivals pending, tx-count %d", (unsigned long long)v.phases,
               v.pending, v.expected, v.tx);
    if (v.pending == v.expected)
        strbuf_put(b, " (nobody has arrived in it; a wait for parity %u returns at once)", !v.phase);
}

/* Columns that the CTA has; NULL: that are free. */
static uint32_t columns_of(const struct sm *sm, const struct cta *cta) {
    uint32_t n = 0;
    for (uint32_t g = 0; g < TMEM_COLUMNS / TMEM_GRANULE; g++)
        n += sm->tmem_owner[g] == cta ? TMEM_GRANULE : 0;
    return n;
}

static void describe_wait(struct listing *o, struct warp *w, const struct group *g, struct strbuf *b) {
    const struct warp_wait *x = &g->wait;
    switch (x->kind) {
    case WAIT_MBARRIER:
        strbuf_put(b, "waits for parity %llu of ", (unsigned long long)x->value);
        describe_mbarrier(o, w, x->addr, b);
        return;
    case WAIT_BARRIER: {
        const struct mach_barrier *at = &w->cta->bar[x->addr % MACH_BARRIERS];
        strbuf_put(b, "waits at barrier %u: %u of %u threads have arrived", x->addr, at->arrived, at->expected);
        if (w->cta->live_warps < w->cta->num_warps)
            strbuf_put(b, "; %u of the CTA's %u warps have exited", w->cta->num_warps - w->cta->live_warps,
                       w->cta->num_warps);
        return;
    }
    case WAIT_CLUSTER:
        strbuf_put(b, "waits at the cluster barrier: %u threads have arrived", w->cta->cluster->bar_arrived);
        return;
    case WAIT_WARP_SYNC:
    case WAIT_ALIGNED:
        strbuf_put(b, "waits for the lanes 0x%08x of its warp",
                   (x->kind == WAIT_ALIGNED ? UINT32_MAX : (uint32_t)x->value) & w->live & ~g->mask);
        return;
    case WAIT_TMEM_ALLOC:
        strbuf_put(b, "waits for %u columns: %u free", (uint32_t)x->value, columns_of(w->cta->sm, NULL));
        if (columns_of(w->cta->sm, w->cta))
            strbuf_put(b, ", %u this CTA's", columns_of(w->cta->sm, w->cta));
        return;
    case WAIT_PAIR:
        strbuf_put(b, "waits until a warp of its pair's other CTA, rank %u, executes the same instruction",
                   w->cta->rank ^ 1);
        return;
    case WAIT_REGISTERS:
        strbuf_put(b, "waits for %u registers a thread; %u are left in the CTA's pool", (uint32_t)x->value, x->addr);
        return;
    case WAIT_TMEM_LDST:
        strbuf_put(b, "waits for its tcgen05.ld/st");
        return;
    case WAIT_ASYNC:
        strbuf_put(b, "waits for its copies");
        return;
    case WAIT_ROOM:
        strbuf_put(b, "waits until fewer than %u operations of its CTA are in flight", ASYNC_MAX_OPS);
        return;
    case WAIT_GRID:
        strbuf_put(b, "waits in griddepcontrol.wait for the end of the kernel before");
        return;
    case WAIT_JOIN:
        strbuf_put(b, "waits for the other lanes of its warp after a branch");
        return;
    default:
        strbuf_put(b, "waits");
        return;
    }
}

/* Has warp `o` a group that stands where `g` of `w` does, for the same reason? */
static bool stands_alike(const struct warp *w, const struct group *g, const struct warp *o) {
    for (unsigned k = 0; k < MACH_WARP && o->live; k++) {
        const struct group *h = &o->groups[k];
        if (h->state != g->state || h->mask != g->mask || deadlock_insn(o, h) != deadlock_insn(w, g))
            continue;
        if (g->state != GROUP_WAITING ||
            (h->wait.kind == g->wait.kind && h->wait.addr == g->wait.addr && h->wait.value == g->wait.value))
            return true;
    }
    return false;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static void free_lines(struct listing *o) {
    for (uint32_t i = 0; i < o->num_lines; i++) {
        xfree(o->lines[i].names);
        xfree(o->lines[i].what);
    }
    xfree(o->lines);
    deadlock_forget_names(&o->names);
}

static uint32_t common_step(uint32_t step, uint32_t a, uint32_t b) {
    for (uint32_t n = a > b ? a - b : b - a; n;) {
        const uint32_t rest = step % n;
        step = n, n = rest;
    }
    return step;
}

/* Is there a line that says the same of another CTA? Then it is said of that one, too. */
static bool join_line(struct listing *o, const struct insn *in, const struct cta *cta, const char *names,
                      const char *what, uint32_t depth) {
    const bool verbose = o->at->gpu->config.verbose;
    for (uint32_t i = 0; i < o->num_lines && !verbose; i++) {
        struct line *l = &o->lines[i];
        if (l->in != in || l->last == cta || strcmp(l->what, what) != 0 || strcmp(l->names, names) != 0)
            continue;
        const struct diag_dim3 a = l->first->id, b = cta->id;
        l->step = (struct diag_dim3){common_step(l->step.x, a.x, b.x), common_step(l->step.y, a.y, b.y),
                                     common_step(l->step.z, a.z, b.z)};
        l->last = cta;
        l->depth = depth < l->depth ? depth : l->depth;
        l->ctas++;
        return true;
    }
    return false;
}

/* Does it only wait for other lanes of its warp, of which another line tells what they wait for? */
static bool waits_within(const struct listing *o, uint32_t at) {
    const struct stuck *s = &o->list[at];
    if (o->at->gpu->config.verbose || s->depth == 0 || !deadlock_waits_within(s->kind))
        return false;
    uint32_t i = at;
    while (i > 0 && o->list[i - 1].w == s->w)
        i--;
    for (; i < o->count && o->list[i].w == s->w; i++)
        if (!deadlock_waits_within(o->list[i].kind))
            return true;
    return false;
}

/* A line for the group, and for the warps behind it that stand alike. */
static void describe_group(struct listing *o, uint32_t at) {
    struct warp *w = o->list[at].w;
    const struct group *g = o->list[at].g;
    char what[400], names[96];
    struct strbuf b = strbuf_in(what, sizeof what);
    const struct warp *last = w, *end = w->cta->warps + w->cta->num_warps;
    if (w > w->cta->warps && stands_alike(w, g, w - 1))
        return;
    if (waits_within(o, at)) {
        o->dropped++;
        return;
    }
    uint32_t depth = o->list[at].depth;
    while (last + 1 < end && stands_alike(w, g, last + 1))
        last++;
    for (uint32_t i = at + 1; i < o->count && o->list[i].w <= last && o->list[i].w->cta == w->cta; i++)
        if (o->list[i].g->mask == g->mask && stands_alike(w, g, o->list[i].w) && o->list[i].depth < depth)
            depth = o->list[i].depth;
    if (last == w)
        snprintf(names, sizeof names, "warp %u lanes 0x%08x", w->index, g->mask);
    else
        snprintf(names, sizeof names, "warps %u-%u lanes 0x%08x each", w->index, last->index, g->mask);
    if (g->state == GROUP_WAITING)
        describe_wait(o, w, g, &b);
    else if (o->list[at].poll.in)
        deadlock_describe_poll(&o->list[at].poll, &b);
    else
        strbuf_put(&b, "runs");
    const struct insn *in = o->list[at].poll.in ? o->list[at].poll.in : deadlock_insn(w, g);
    if (join_line(o, in, w->cta, names, what, depth))
        return;
    if (o->num_lines == LINES_KEPT && !o->at->gpu->config.verbose) {
        o->dropped++;
        return;
    }
    o->lines = xgrow(o->lines, o->num_lines, &o->cap_lines, sizeof *o->lines);
    o->lines[o->num_lines++] = (struct line){.in = in,
                                             .first = w->cta,
                                             .last = w->cta,
                                             .ctas = 1,
                                             .of = at,
                                             .depth = depth,
                                             .names = xstrdup(names),
                                             .what = xstrdup(what)};
}

static void tell(const struct listing *o, const char *text) {
    const struct gpu *gpu = o->at->gpu;
    gpu->sink.write(gpu->sink.ctx, text, strlen(text));
}

/* "8 CTAs from (0,0,0) to (2,3,0) in steps of 2 along x", or "5 of the CTAs from ..." where they are no grid. */
static void describe_ctas(const struct line *l, struct strbuf *b) {
    const uint32_t first[] = {l->first->id.x, l->first->id.y, l->first->id.z},
                   last[] = {l->last->id.x, l->last->id.y, l->last->id.z}, step[] = {l->step.x, l->step.y, l->step.z};
    uint64_t grid = 1;
    for (int i = 0; i < 3; i++)
        grid *= last[i] < first[i] ? 0 : step[i] ? (last[i] - first[i]) / step[i] + 1 : 1;
    if (l->ctas == 1) {
        strbuf_put(b, "CTA (%u,%u,%u)", first[0], first[1], first[2]);
        return;
    }
    strbuf_put(b, "%u %sCTAs from (%u,%u,%u) to (%u,%u,%u)", l->ctas, grid == l->ctas ? "" : "of the ", first[0],
               first[1], first[2], last[0], last[1], last[2]);
    const char *in = " in steps of";
    for (int i = 0; i < 3 && grid == l->ctas; i++)
        if (step[i] > 1) {
            strbuf_put(b, "%s %u along %c", in, step[i], "xyz"[i]);
            in = ",";
        }
}

static void tell_line(const struct listing *o, const struct line *l) {
    const struct diag_site *s = &l->in->src->site;
    const bool verbose = o->at->gpu->config.verbose;
    char text[LINE_BYTES], ctas[200], where[600], ptx[200] = "";
    struct strbuf b = strbuf_in(ctas, sizeof ctas);
    describe_ctas(l, &b);
    if (verbose || !s->src_line)
        snprintf(ptx, sizeof ptx, " (ptx line %u: %.160s)", s->ptx_line, s->ptx_text ? s->ptx_text : "");
    snprintf(text, sizeof text, "  %s %s %s\n         at %s%s\n", ctas, l->names, l->what,
             (verbose ? diag_where : diag_own)(s, where, sizeof where), ptx);
    tell(o, text);
}

static int by_depth(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    return x->depth != y->depth ? (x->depth > y->depth) - (x->depth < y->depth) : (x->of > y->of) - (x->of < y->of);
}

/* The root's first, then those that wait for it, and so on. */
static void tell_lines(struct listing *o) {
    const bool verbose = o->at->gpu->config.verbose;
    const uint32_t shown = verbose || o->num_lines < LINES_SHOWN ? o->num_lines : LINES_SHOWN;
    char more[80];
    if (o->lines)
        qsort(o->lines, o->num_lines, sizeof *o->lines, by_depth);
    for (uint32_t i = 0; o->lines && i < shown; i++)
        tell_line(o, &o->lines[i]);
    if (o->num_lines - shown + o->dropped == 0)
        return;
    snprintf(more, sizeof more, "  ... and %u more groups of warps that wait; --verbose lists all\n",
             o->num_lines - shown + o->dropped);
    tell(o, more);
}

#define MAX_STRAYS 4u

/* Would one of those that are held up announce bytes there? */
static bool is_announced(const struct listing *o, const struct cta *cta, uint32_t off) {
    for (uint32_t i = 0; i < o->count; i++)
        if (ahead_what(&o->list[i].ahead, cta, off) & AHEAD_EXPECTS)
            return true;
    return false;
}

/* The other barriers of the cluster that got bytes which no expect_tx announced: those of a barrier that lacks some may
 * have gone there. */
static void tell_strays(struct listing *o, const struct cluster *cl, uint32_t named) {
    uint32_t told = 0;
    for (uint32_t r = 0; r < cl->num_ctas; r++)
        for (uint32_t i = 0; i < cl->cta[r].num_mbars && told < MAX_STRAYS; i++) {
            const struct cta *cta = &cl->cta[r];
            const uint32_t off = cta->mbars[i].off;
            struct mbar_view v;
            char text[400];
            if (off == named || mbar_peek(cta, off, &v) != MBAR_OK || v.tx >= 0 ||
                (v.pending && is_announced(o, cta, off)))
                continue;
            const char *name = cta->warps ? deadlock_barrier_name(&o->names, cta, off, cta->warps) : "";
            snprintf(text, sizeof text, "  CTA (%u,%u,%u): %s (0x%x) got %d bytes that no expect_tx announced\n",
                     cta->id.x, cta->id.y, cta->id.z, *name ? name : "mbarrier", off, -v.tx);
            tell(o, text);
            told++;
        }
}

/* Who last wrote the word that the root polls, if that is known. */
static void tell_writer(struct listing *o, const struct stuck *root) {
    const struct mach_writer *by = island_writer(root->w->island, root->poll.addr);
    char where[600], text[800];
    if (!root->poll.in || !by->site || by->addr != root->poll.addr)
        return;
    snprintf(text, sizeof text, "  0x%llx: CTA (%u,%u,%u) warp %u wrote it last\n         at %s\n",
             (unsigned long long)by->addr, by->cta.x, by->cta.y, by->cta.z, by->warp,
             diag_own(by->site, where, sizeof where));
    tell(o, text);
}

/* --- why ---------------------------------------------------------------------------------------------------------- */

#define DEADLOCK(section_, rule_, hint_)                                                                               \
    { .id = "deadlock", .rule = rule_, .section = section_, .hint = hint_, .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT }

/* By what the first warp waits for; 0 is for all others. */
DIAG_ARRAY(deadlocks, WAIT_LAST) = {
    [WAIT_NONE] = {.id = "deadlock",
                   .rule = "every wait needs another thread or operation that completes it",
                   .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
                   .reason = "in this order of events each thread waits for something that can no longer happen. On "
                             "the chip the kernel hangs."},
    [WAIT_MBARRIER] = DEADLOCK(
        "PTX ISA 9.7.13.15.6", "a phase completes when no arrivals are pending and the tx-count is zero",
        "Check the parity, the arrival count, that each expect_tx has its copy, and that no commit is missing"),
    [WAIT_BARRIER] =
        DEADLOCK("PTX ISA 9.7.13.1", "a barrier waits until all its threads have arrived",
                 "Find the warp that exits, waits or branches away before the barrier, or correct the thread count"),
    [WAIT_CLUSTER] = DEADLOCK("PTX ISA 9.7.13.3",
                              "the cluster barrier waits until all threads of all its CTAs have arrived",
                              "Find the warp that waits elsewhere, or the arrive that only some threads execute"),
    [WAIT_WARP_SYNC] = DEADLOCK(
        "PTX ISA 9.7.9.6", "a .sync instruction waits until all threads of its membermask execute the same one",
        "Name only the threads that take this branch: the membermask names all, but not all of them come"),
    [WAIT_PAIR] = DEADLOCK("PTX ISA 9.7.16.5",
                           "with .cta_group::2 one warp of each CTA of the pair executes tcgen05.alloc and .dealloc, "
                           "and the first may wait for the second",
                           "Let a warp of each CTA of the pair execute this instruction. The other CTA never comes to "
                           "it, or waits at another one for this CTA (PTX ISA, Table 48)"),
    [WAIT_REGISTERS] = DEADLOCK("PTX ISA 9.7.19.5", "setmaxnreg.inc waits until the CTA's pool has enough registers",
                                "Let the counts of all warps add up to no more than the CTA had at launch"),
    [WAIT_TMEM_ALLOC] = DEADLOCK("PTX ISA 9.7.16.7.1",
                                 "tcgen05.alloc waits until another CTA of its SM gives columns or the permit back",
                                 "Free each allocation before the next one, or add tcgen05.relinquish_alloc_permit"),
};
/* In place of deadlocks[WAIT_WARP_SYNC], of a warp that waits for its own lanes at a barrier of the CTA. */
DIAG(deadlock_at_barrier) =
    DEADLOCK("PTX ISA 9.7.13.1", "a thread at a barrier waits for all others of its warp that have not exited",
             "Move the barrier out of the branch, or let the warp's other lanes come to it too");
DIAG(watchdog) = {
    .id = "watchdog",
    .rule = "a kernel must end; --watchdog=N sets the limit (warp instructions of one launch)",
    .hint = "Look for an endless loop, or a loop that polls memory which no thread writes",
    .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
    .reason = "a limit of the emulation, not of the kernel.",
};
DIAG(launch_timeout) = {
    .id = "launch-timeout",
    .rule = "a launch takes no longer than --timeout=SECONDS allows",
    .hint = "Look for an endless loop, or a loop that polls memory which no thread writes. If the kernel is only "
            "large, give it a longer --timeout",
    .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
    .reason = "a limit of the emulation, not of the kernel.",
};
DIAG(host_memory) = {
    .id = "host-memory",
    .rule = "program and emulator together use no more of the host's memory than --memory=BYTES allows",
    .hint = "Use fewer CTAs, less device memory, or less data of the program's own, or allow more by --memory",
    .reason = "a limit of the host, not of the kernel.",
};

/* A CTA of another grid that has columns of tensor memory on the SM of the warp: of a launch that overlaps. */
static const struct cta *owner_of_another_grid(const struct warp *w) {
    for (uint32_t g = 0; g < TMEM_COLUMNS / TMEM_GRANULE; g++) {
        const struct cta *owner = w->cta->sm->tmem_owner[g];
        if (owner && owner->warps && owner->warps[0].grid != w->grid)
            return owner;
    }
    return NULL;
}

static const char *say_columns(const struct stuck *root, struct strbuf *b) {
    const struct sm *sm = root->w->cta->sm;
    const struct cta *other = owner_of_another_grid(root->w);
    char name[160];
    if (columns_of(sm, root->w->cta) + root->g->wait.value > TMEM_COLUMNS)
        return "Allocate once, for all buffers together, and at most 512 columns: this CTA itself has the columns that "
               "it waits for";
    if (!other)
        return NULL;
    strbuf_put(b, ", %u of the overlapping kernel %s", columns_of(sm, other),
               diag_function(other->warps[0].grid->kernel->src->name, name, sizeof name));
    return "Let a kernel allocate tensor memory after griddepcontrol.wait, or execute .launch_dependents after its own "
           "allocation. Overlapping kernels share an SM's tensor memory, and the later one waits for the end of the "
           "earlier one";
}

/* "deadlock: " and the cause; the hint, or NULL. */
static const char *say_cause(struct listing *o, const struct stuck *root, const char *what, char *text, size_t size) {
    const int n = snprintf(text, size, "%s", what);
    if (!root)
        return NULL;
    const char *hint = deadlock_cause(o->at, root, o->list, o->count, &o->names, text + n, size - (size_t)n);
    if (text[n])
        return hint;
    const struct diag_dim3 id = root->w->cta->id;
    struct strbuf b = strbuf_in(text + n, size - (size_t)n);
    strbuf_put(&b, "warp %u of CTA (%u,%u,%u) ", root->w->index, id.x, id.y, id.z);
    describe_wait(o, root->w, root->g, &b);
    return root->kind == WAIT_TMEM_ALLOC ? say_columns(root, &b) : NULL;
}

/* `proto` NULL: a deadlock. */
static void report_stop(const struct deadlock_scene *scene, const struct diag *proto, const char *what) {
    struct listing *o = xcalloc(1, sizeof *o);
    char text[700] = "";
    const char *hint = NULL;
    const bool hangs = !proto;
    o->at = scene;
    struct stuck *root, *list = deadlock_groups(scene, &o->count, &root);
    o->list = list;
    struct mach_origin origin = {.thread.warp = DIAG_NO_WARP};
    if (root)
        origin = warp_origin(root->w, root->poll.in ? root->poll.in : deadlock_insn(root->w, root->g), root->g->mask);
    if (!proto) {
        hint = say_cause(o, root, what, text, sizeof text);
        what = text;
        proto = &deadlocks[root && deadlocks[root->kind].id ? root->kind : WAIT_NONE];
        if (root && root->kind == WAIT_WARP_SYNC && deadlock_insn(root->w, root->g)->src->op == PTX_OP_barrier)
            proto = &deadlock_at_barrier;
    }
    struct island *isl = root ? root->w->island : scene->island;
    if (!hangs && root && root->poll.in) {
        deadlock_cause(scene, root, list, o->count, &o->names, text, sizeof text);
        hint = text;
    }
    struct diag d = *proto;
    d.hint = hint ? hint : d.hint;
    mach_fault(isl, root ? &origin : NULL, &d, "%s", what);
    island_tell(isl);
    if (root)
        tell_strays(o, root->w->cta->cluster, root->kind == WAIT_MBARRIER ? root->g->wait.addr & 0xffffff : 0);
    if (root)
        tell_writer(o, root);
    for (uint32_t i = 0; list && i < o->count; i++)
        describe_group(o, i);
    tell_lines(o);
    if (hangs)
        tell(o, "  A GPU hangs here. The launch ends with cudaErrorLaunchTimeout, the code of a launch that a watchdog "
                "stops.\n");
    free_lines(o);
    deadlock_free_groups(list, o->count);
    xfree(o);
}

void deadlock_report(const struct deadlock_scene *at) { report_stop(at, NULL, "deadlock: "); }

void deadlock_report_watchdog(const struct deadlock_scene *at) {
    const struct gpu *gpu = at->gpu;
    char what[160];
    const int n = snprintf(what, sizeof what, "stopped after %llu warp instructions", (unsigned long long)gpu->clock);
    if (gpu->starts > gpu->clock)
        snprintf(what + n, sizeof what - (size_t)n, ", and starts of CTAs that count as %llu",
                 (unsigned long long)gpu->starts);
    report_stop(at, &watchdog, what);
}

void deadlock_report_late(const struct deadlock_scene *at) {
    const struct gpu *gpu = at->gpu;
    const bool timeout = atomic_load(&gpu->late) == MACH_TIMEOUT;
    const unsigned long long limit = budget_limit(), own = limit - budget_left();
    char what[160];
    if (timeout)
        snprintf(what, sizeof what, "stopped after %.3f seconds", (double)gpu->config.timeout / 1e9);
    else
        snprintf(what, sizeof what, "stopped: the process has more than %llu bytes in memory, %llu the emulator's",
                 limit, own);
    report_stop(at, timeout ? &launch_timeout : &host_memory, what);
}
