/* exec/report.c - faults of warps, and what a launch that cannot go on looks like. */
#include "exec/core.h"

#include "machine/mbarrier.h"

#include <stdio.h>
#include <stdlib.h>

struct mach_origin exec_origin(const struct warp *w, const struct insn *in, uint32_t lanes) {
    struct mach_origin o = {.site = in->src->site};
    o.thread = (struct diag_thread){
        .cta = w->cta->id,
        .cluster_rank = w->cta->rank,
        .cluster_size = w->cta->cluster->num_ctas,
        .warp = w->index,
        .lanes = lanes,
    };
    if (lanes)
        o.thread.tid = exec_tid(w, exec_lowest(lanes));
    return o;
}

enum exec_status exec_fault(struct warp *w, const struct insn *in, uint32_t lanes, const struct diag *proto, const char *fmt,
                            ...) {
    struct mach_origin o = exec_origin(w, in, lanes);
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mach_fault(w->gpu, &o, proto, "%s", text);
    return EXEC_FAULT;
}

static const struct diag poison = {
    .id = "uninitialised",
    .rule = "a value that was never written must not decide anything",
    .hint = "shared memory, tensor memory and registers hold garbage until something writes them",
    .cuda_error = DIAG_CUDA_LAUNCH_FAILURE,
};
enum exec_status exec_fault_poison(struct warp *w, const struct insn *in, uint32_t lanes, exec_slot slot, const char *what) {
    (void)slot;
    return exec_fault(w, in, lanes, &poison, "%s comes from a value that was never written", what);
}

/* --- what every warp is doing ------------------------------------------------------------------------------------------ */

struct out {
    char text[16384];
    size_t len;
    uint32_t lines, dropped;
};

#define MAX_LINES 48u

static void line(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void line(struct out *o, const char *fmt, ...) {
    if (o->lines == MAX_LINES || o->len > sizeof o->text - 512) {
        o->dropped++;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(o->text + o->len, 500, fmt, ap);
    va_end(ap);
    if (n > 0)
        o->len += (size_t)(n < 500 ? n : 499);
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
    snprintf(buf, size, "mbarrier 0x%x: phase %u incomplete, %u of %u arrivals pending, tx-count %d", addr, v.phase, v.pending,
             v.expected, v.tx);
}

static void describe_wait(struct warp *w, const struct group *g, char *buf, size_t size) {
    const struct exec_wait *x = &g->wait;
    char bar[160];
    switch (x->kind) {
    case WAIT_MBARRIER:
        describe_mbarrier(w, x->addr, bar, sizeof bar);
        snprintf(buf, size, "waits for parity %llu of %s", (unsigned long long)x->value, bar);
        return;
    case WAIT_BARRIER: {
        const struct mach_barrier *b = &w->cta->bar[x->addr % MACH_BARRIERS];
        snprintf(buf, size, "waits at barrier %u: %u of %u threads have arrived", x->addr, b->arrived, b->expected);
        return;
    }
    case WAIT_CLUSTER:
        snprintf(buf, size, "waits at the cluster barrier: %u threads have arrived", w->cta->cluster->bar_arrived);
        return;
    case WAIT_WARP_SYNC:
        snprintf(buf, size, "waits for the lanes 0x%llx of its warp", (unsigned long long)x->value);
        return;
    case WAIT_TMEM_ALLOC:
        snprintf(buf, size, "waits for free tensor memory columns on SM %u", w->cta->sm->id);
        return;
    case WAIT_TMEM_LDST:
        snprintf(buf, size, "waits for its tcgen05.ld/st");
        return;
    case WAIT_JOIN:
        snprintf(buf, size, "waits for the other lanes of its warp behind a branch");
        return;
    default:
        snprintf(buf, size, "waits");
        return;
    }
}

static void describe_group(struct out *o, struct warp *w, const struct group *g, bool waiting) {
    char what[320] = "runs", where[600];
    const struct insn *in = &w->frames[g->frame].func->code[g->pc];
    if (waiting && g->wait.in)
        in = g->wait.in;
    const struct diag_site *s = &in->src->site;
    if (g->state == GROUP_WAITING)
        describe_wait(w, g, what, sizeof what);
    line(o, "  CTA (%u,%u,%u) warp %u lanes 0x%08x %s\n         at %s (ptx line %u: %s)\n", w->cta->id.x, w->cta->id.y,
         w->cta->id.z, w->index, g->mask, what, diag_where(s, where, sizeof where), s->ptx_line,
         s->ptx_text ? s->ptx_text : "");
}

static const struct insn *list_warps(struct exec_launch_state *st, struct out *o, struct warp **first, uint32_t *lanes) {
    const struct insn *found = NULL;
    for (struct cluster *cl = st->resident; cl; cl = cl->next)
        for (uint32_t r = 0; r < cl->num_ctas && cl->cta[r].warps; r++)
            for (uint32_t i = 0; i < st->warps; i++) {
                struct warp *w = &cl->cta[r].warps[i];
                for (unsigned k = 0; k < MACH_WARP && w->live; k++) {
                    const struct group *g = &w->groups[k];
                    if (g->state == GROUP_FREE)
                        continue;
                    describe_group(o, w, g, g->state == GROUP_WAITING);
                    bool better = !found || ((*first)->g && g->wait.kind == WAIT_MBARRIER && found->src->op == PTX_OP_bar);
                    if (better && (g->state == GROUP_READY || g->wait.kind != WAIT_JOIN)) {
                        found = g->state == GROUP_WAITING && g->wait.in ? g->wait.in : &w->frames[g->frame].func->code[g->pc];
                        *first = w;
                        *lanes = g->mask;
                    }
                }
            }
    return found;
}

static void report(struct exec_launch_state *st, const struct diag *proto, const char *what) {
    struct out *o = xcalloc(1, sizeof *o);
    struct warp *w = NULL;
    uint32_t lanes = 0;
    const struct insn *in = list_warps(st, o, &w, &lanes);
    if (o->dropped)
        snprintf(o->text + o->len, sizeof o->text - o->len, "  ... and %u more\n", o->dropped);
    struct mach_origin origin = {.thread.warp = DIAG_NO_WARP};
    if (in)
        origin = exec_origin(w, in, lanes);
    mach_fault(st->gpu, in ? &origin : NULL, proto, "%s", what);
    st->gpu->sink.write(st->gpu->sink.ctx, o->text, strlen(o->text));
    free(o);
}

static const struct diag deadlock = {
    .id = "deadlock",
    .rule = "every wait needs somebody who completes it: an arrival, a transaction count, a commit, or a barrier's missing warp",
    .section = "PTX ISA 9.7.13.15",
    .hint = "a wrong parity, an arrival count that nobody reaches, an expect_tx without its copy, or a missing commit",
    .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
};
static const struct diag watchdog = {
    .id = "watchdog",
    .rule = "a kernel must end; the limit is set by --watchdog=N (warp instructions of one launch)",
    .hint = "an endless loop, or a loop that polls memory which nobody writes",
    .cuda_error = DIAG_CUDA_LAUNCH_TIMEOUT,
};

void exec_report_deadlock(struct exec_launch_state *st) {
    report(st, &deadlock, "deadlock: no warp can run and nothing is in flight");
}

void exec_report_watchdog(struct exec_launch_state *st) {
    char what[128];
    snprintf(what, sizeof what, "stopped after %llu warp instructions", (unsigned long long)st->gpu->clock);
    report(st, &watchdog, what);
}
