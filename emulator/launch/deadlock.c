/* launch/deadlock.c - what a launch that cannot go on looks like: every warp, what it waits for and what that lacks. */
#include "base/budget.h"
#include "base/heap.h"
#include "launch/state.h"
#include "machine/mbarrier.h"

#include <stdio.h>

struct listing {
    char text[1 << 16];
    size_t len;
    uint32_t lines, dropped;
};

#define MAX_LINES 48u
#define LINE_BYTES 1350u

static void add_line(struct listing *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_line(struct listing *o, const char *fmt, ...) {
    if (o->lines == MAX_LINES || o->len > sizeof o->text - LINE_BYTES - 64) {
        o->dropped++;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(o->text + o->len, LINE_BYTES, fmt, ap);
    va_end(ap);
    if (n > 0)
        o->len += n < (int)LINE_BYTES ? (size_t)n : LINE_BYTES - 1;
    o->lines++;
}

/* What an mbarrier lacks: phase, pending arrivals, tx-count. */
static void describe_mbarrier(struct warp *w, uint32_t addr, char *buf, size_t size) {
    struct mbar_view v;
    uint32_t off;
    struct cta *cta = smem_resolve(w->cta, addr, 8, &off);
    if (!cta || mbar_peek(cta, off, &v) != MBAR_OK) {
        snprintf(buf, size, "mbarrier 0x%x, which is not initialised", addr);
        return;
    }
    int n = snprintf(buf, size, "mbarrier 0x%x: phase %u incomplete, %u of %u arrivals pending, tx-count %d", addr,
                     v.phase, v.pending, v.expected, v.tx);
    if (v.pending == v.expected && n > 0 && (size_t)n < size)
        snprintf(buf + n, size - (size_t)n, " (nobody has arrived in it; a wait for parity %u returns at once)",
                 !v.phase);
}

static uint32_t free_columns(const struct sm *sm) {
    uint32_t n = 0;
    for (uint32_t g = 0; g < TMEM_COLUMNS / TMEM_GRANULE; g++)
        n += sm->tmem_owner[g] ? 0 : TMEM_GRANULE;
    return n;
}

static void describe_wait(struct warp *w, const struct group *g, char *buf, size_t size) {
    const struct warp_wait *x = &g->wait;
    char bar[240];
    switch (x->kind) {
    case WAIT_MBARRIER:
        describe_mbarrier(w, x->addr, bar, sizeof bar);
        snprintf(buf, size, "waits for parity %llu of %s", (unsigned long long)x->value, bar);
        return;
    case WAIT_BARRIER: {
        const struct mach_barrier *b = &w->cta->bar[x->addr % MACH_BARRIERS];
        int n =
            snprintf(buf, size, "waits at barrier %u: %u of %u threads have arrived", x->addr, b->arrived, b->expected);
        if (w->cta->live_warps < w->cta->num_warps && n > 0 && (size_t)n < size)
            snprintf(buf + n, size - (size_t)n, "; %u of the CTA's %u warps have exited",
                     w->cta->num_warps - w->cta->live_warps, w->cta->num_warps);
        return;
    }
    case WAIT_CLUSTER:
        snprintf(buf, size, "waits at the cluster barrier: %u threads have arrived", w->cta->cluster->bar_arrived);
        return;
    case WAIT_WARP_SYNC:
        snprintf(buf, size, "waits for the lanes 0x%08x of its warp", (uint32_t)x->value & w->live & ~g->mask);
        return;
    case WAIT_TMEM_ALLOC:
        snprintf(buf, size, "waits for %u columns of tensor memory on SM %u, of which %u are free", (uint32_t)x->value,
                 w->cta->sm->id, free_columns(w->cta->sm));
        return;
    case WAIT_PAIR:
        snprintf(buf, size, "waits until a warp of its pair's other CTA, rank %u, executes the same instruction",
                 w->cta->rank ^ 1);
        return;
    case WAIT_REGISTERS:
        snprintf(buf, size, "waits for %u registers a thread; %u are left in the CTA's pool", (uint32_t)x->value,
                 x->addr);
        return;
    case WAIT_TMEM_LDST:
        snprintf(buf, size, "waits for its tcgen05.ld/st");
        return;
    case WAIT_ASYNC:
        snprintf(buf, size, "waits for its copies");
        return;
    case WAIT_ROOM:
        snprintf(buf, size, "waits until fewer than %u operations of its CTA are in flight", ASYNC_MAX_OPS);
        return;
    case WAIT_JOIN:
        snprintf(buf, size, "waits for the other lanes of its warp behind a branch");
        return;
    default:
        snprintf(buf, size, "waits");
        return;
    }
}

/* Where a group stands: the instruction that it waits in, or its next one. */
static const struct insn *group_insn(const struct warp *w, const struct group *g) {
    return g->state == GROUP_WAITING && g->wait.in ? g->wait.in : &w->frames[g->frame].func->code[g->pc];
}

/* Has warp `o` a group that stands where `g` of `w` does, for the same reason? */
static bool stands_alike(const struct warp *w, const struct group *g, const struct warp *o) {
    for (unsigned k = 0; k < MACH_WARP && o->live; k++) {
        const struct group *h = &o->groups[k];
        if (h->state != g->state || h->mask != g->mask || group_insn(o, h) != group_insn(w, g))
            continue;
        if (g->state != GROUP_WAITING ||
            (h->wait.kind == g->wait.kind && h->wait.addr == g->wait.addr && h->wait.value == g->wait.value))
            return true;
    }
    return false;
}

/* A line for the group, and for the warps behind it that stand alike. */
static void describe_group(struct listing *o, struct warp *w, const struct group *g) {
    char what[400] = "runs", where[600], names[32];
    const struct warp *last = w, *end = w->cta->warps + w->cta->num_warps;
    if (w > w->cta->warps && stands_alike(w, g, w - 1))
        return;
    while (last + 1 < end && stands_alike(w, g, last + 1))
        last++;
    snprintf(names, sizeof names, last == w ? "warp %u" : "warps %u-%u", w->index, last->index);
    const struct diag_site *s = &group_insn(w, g)->src->site;
    if (g->state == GROUP_WAITING)
        describe_wait(w, g, what, sizeof what);
    add_line(o, "  CTA (%u,%u,%u) %s lanes 0x%08x %s%s\n         at %s (ptx line %u: %.160s)\n", w->cta->id.x,
             w->cta->id.y, w->cta->id.z, names, g->mask, last == w ? "" : "each ", what,
             diag_where(s, where, sizeof where), s->ptx_line, s->ptx_text ? s->ptx_text : "");
}

/* Does it wait for other threads, which wait for something else? */
static bool waits_for_threads(enum warp_wait_kind kind) {
    return kind == WAIT_BARRIER || kind == WAIT_CLUSTER || kind == WAIT_WARP_SYNC;
}

/* Who the report is about: the first group that waits for something, one that waits for threads only where all
 * do. */
struct culprit {
    const struct insn *in; /* NULL: none */
    struct warp *w;
    uint32_t lanes;
    enum warp_wait_kind kind; /* WAIT_NONE: it runs */
};

static struct culprit list_warps(struct launch_state *st, struct listing *o) {
    struct culprit c = {0};
    for (struct cluster *cl = NULL; (cl = launch_next_resident(st, cl));)
        for (uint32_t r = 0; r < cl->num_ctas && cl->cta[r].warps; r++)
            for (uint32_t i = 0; i < st->grid.warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                for (unsigned k = 0; k < MACH_WARP && w->live; k++) {
                    const struct group *g = &w->groups[k];
                    if (g->state == GROUP_FREE)
                        continue;
                    describe_group(o, w, g);
                    enum warp_wait_kind kind = g->state == GROUP_WAITING ? g->wait.kind : WAIT_NONE;
                    if (kind == WAIT_JOIN || (c.in && (!waits_for_threads(c.kind) || waits_for_threads(kind))))
                        continue;
                    c = (struct culprit){group_insn(w, g), w, g->mask, kind};
                }
            }
    return c;
}

#define MAX_STRAYS 4u

/* Barriers that got bytes which no expect_tx announced: where the bytes of a barrier that lacks them may have gone. */
static void list_strays(const struct launch_state *st, struct listing *o) {
    for (const struct cluster *cl = NULL; (cl = launch_next_resident(st, cl));)
        for (uint32_t r = 0; r < cl->num_ctas; r++)
            for (uint32_t i = 0; i < cl->cta[r].num_mbars && o->lines < MAX_STRAYS; i++) {
                const struct cta *cta = &cl->cta[r];
                struct mbar_view v;
                if (mbar_peek(cta, cta->mbars[i].off, &v) != MBAR_OK || v.tx >= 0)
                    continue;
                add_line(o,
                         "  CTA (%u,%u,%u), rank %u: mbarrier 0x%x got %d bytes that no expect_tx announced: a "
                         "copy signals it in place of another CTA's, or an expect_tx is missing or too small\n",
                         cta->id.x, cta->id.y, cta->id.z, r, r << MACH_SMEM_RANK_SHIFT | cta->mbars[i].off, -v.tx);
            }
}

#define DEADLOCK(section_, rule_, hint_)                                                                               \
    { .id = "deadlock", .rule = rule_, .section = section_, .hint = hint_, .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT }

/* By what the first warp waits for; 0 is for all others. */
static const struct diag deadlocks[WAIT_LAST] = {
    [WAIT_NONE] = DEADLOCK(NULL, "every wait needs somebody who completes it", NULL),
    [WAIT_MBARRIER] =
        DEADLOCK("PTX ISA 9.7.13.15.6", "a phase completes when no arrivals are pending and the tx-count is zero",
                 "a wrong parity, an arrival count that nobody reaches, an expect_tx without its copy, or a missing "
                 "commit"),
    [WAIT_BARRIER] = DEADLOCK("PTX ISA 9.7.13.1", "a barrier waits until all its threads have arrived",
                              "a warp that exits, waits or takes another way before the barrier, or a thread "
                              "count that nobody reaches"),
    [WAIT_CLUSTER] =
        DEADLOCK("PTX ISA 9.7.13.3", "the cluster barrier waits until all threads of all its CTAs have arrived",
                 "a warp that waits elsewhere, or an arrive that stands under a condition"),
    [WAIT_WARP_SYNC] = DEADLOCK("PTX ISA 9.7.9.6",
                                "a .sync instruction waits until all threads of its membermask execute the same one",
                                "a full membermask in a branch that not all threads of the warp take"),
    [WAIT_PAIR] = DEADLOCK("PTX ISA 9.7.16.5",
                           "tcgen05.alloc and .dealloc with .cta_group::2 are performed by one warp of each "
                           "CTA of the pair, and the first may wait for the second",
                           "a CTA that waits for its peer elsewhere, so that each waits for the other (Table "
                           "48), or never comes here"),
    [WAIT_REGISTERS] = DEADLOCK("PTX ISA 9.7.19.5", "setmaxnreg.inc waits until the CTA's pool has enough registers",
                                "the counts of all warps add up to more than the CTA had at launch"),
    [WAIT_TMEM_ALLOC] = DEADLOCK(
        "PTX ISA 9.7.16.7.1", "tcgen05.alloc waits until another CTA of its SM gives columns or the permit back",
        "an allocation that is not freed before the next one, or a missing tcgen05.relinquish_alloc_permit"),
};
static const struct diag watchdog = {
    .id = "watchdog",
    .rule = "a kernel must end; the limit is set by --watchdog=N (warp instructions of one launch)",
    .hint = "an endless loop, or a loop that polls memory which nobody writes",
    .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
};
static const struct diag launch_timeout = {
    .id = "launch-timeout",
    .rule = "a launch takes no longer than --timeout=SECONDS allows",
    .hint = "an endless loop, or a loop that polls memory which nobody writes; or more work than the emulator does in "
            "that time",
    .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
};
static const struct diag host_memory = {
    .id = "host-memory",
    .rule = "program and emulator together take no more of the host's memory than --memory=BYTES allows",
    .hint = "more CTAs, device memory or data of the program's own than the host has room for",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};

/* `proto` NULL: a deadlock. */
static void report_stop(struct launch_state *st, const struct diag *proto, const char *what) {
    struct listing *o = xcalloc(1, sizeof *o);
    list_strays(st, o);
    struct culprit c = list_warps(st, o);
    if (o->dropped)
        snprintf(o->text + o->len, sizeof o->text - o->len, "  ... and %u more\n", o->dropped);
    struct mach_origin origin = {.thread.warp = DIAG_NO_WARP};
    if (c.in)
        origin = warp_origin(c.w, c.in, c.lanes);
    if (!proto)
        proto = &deadlocks[deadlocks[c.kind].id ? c.kind : WAIT_NONE];
    struct island *isl = c.in ? c.w->island : &st->islands[0].m;
    mach_fault(isl, c.in ? &origin : NULL, proto, "%s", what);
    island_tell(isl);
    st->grid.gpu->sink.write(st->grid.gpu->sink.ctx, o->text, strlen(o->text));
    xfree(o);
}

void launch_report_deadlock(struct launch_state *st) {
    report_stop(st, NULL, "deadlock: no warp can run and nothing is in flight");
}

void launch_report_watchdog(struct launch_state *st) {
    const struct gpu *gpu = st->grid.gpu;
    char what[160];
    const int n = snprintf(what, sizeof what, "stopped after %llu warp instructions", (unsigned long long)gpu->clock);
    if (gpu->starts > gpu->clock)
        snprintf(what + n, sizeof what - (size_t)n, ", and starts of CTAs that count as %llu",
                 (unsigned long long)gpu->starts);
    report_stop(st, &watchdog, what);
}

void launch_report_late(struct launch_state *st) {
    const struct gpu *gpu = st->grid.gpu;
    const bool timeout = atomic_load(&gpu->late) == MACH_TIMEOUT;
    const unsigned long long limit = budget_limit(), own = limit - budget_left();
    char what[160];
    if (timeout)
        snprintf(what, sizeof what, "stopped after %.3f seconds", (double)gpu->config.timeout / 1e9);
    else
        snprintf(what, sizeof what, "stopped: the process has more than %llu bytes in memory, %llu the emulator's",
                 limit, own);
    report_stop(st, timeout ? &launch_timeout : &host_memory, what);
}
