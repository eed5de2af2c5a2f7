/* stats/text.c - the counters of a launch for people; contract in stats.h. */
#include "stats/stats.h"

#include <inttypes.h>
#include <string.h>

enum { WORST = 5, WAITS = 12, NUMBER = 48 };

/* --- figures ------------------------------------------------------------------------------------------------------ */

/* 1234567 as 1,234,567 */
static const char *number(uint64_t n, char buf[NUMBER]) {
    char digits[24];
    const int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    char *to = buf;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return buf;
}
#define N(n) number(n, (char[NUMBER]){0})

static const char *bytes(uint64_t n, char buf[NUMBER]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    unsigned u = 0;
    double x = (double)n;
    for (; x >= 1024 && u + 1 < sizeof units / sizeof *units; u++)
        x /= 1024;
    snprintf(buf, NUMBER, u ? "%.1f %s" : "%.0f %s", x, units[u]);
    return buf;
}
#define B(n) bytes(n, (char[NUMBER]){0})

static double share(uint64_t part, uint64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }
static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

/* --- instructions ------------------------------------------------------------------------------------------------- */

static void print_kinds(const struct stats *s, uint64_t issued, FILE *f) {
    uint64_t by[STATS_KINDS] = {0};
    for (uint32_t i = 0; i < s->num_sites; i++)
        by[stats_kind_of(&s->sites[i])] += s->sites[i].issued;
    for (;;) {
        unsigned most = 0;
        for (unsigned k = 1; k < STATS_KINDS; k++)
            most = by[k] > by[most] ? k : most;
        if (by[most] == 0)
            return;
        fprintf(f, "    %-26s %15s  %5.1f %%\n", stats_kind_name(most), N(by[most]), share(by[most], issued));
        by[most] = 0;
    }
}

static void print_instructions(const struct stats *s, const struct stats_site *all, FILE *f) {
    fprintf(f, "  %-28s %15s  lanes active: %.1f of 32 on average\n", "warp instructions", N(all->issued),
            ratio(all->lanes, all->issued));
    print_kinds(s, all->issued, f);
    fprintf(f, "  %-28s %15s  branches that split a warp\n", "divergence", N(all->splits));
    fprintf(f, "    %-26s %15s  %5.1f %%\n", "a part of the live lanes", N(all->partial),
            share(all->partial, all->issued));
    fprintf(f, "    %-26s %15s  %5.1f %%\n", "no lane: guard false", N(all->idle), share(all->idle, all->issued));
}

/* --- bytes -------------------------------------------------------------------------------------------------------- */

static const char *const agents[STATS_AGENTS] = {
    [AGENT_THREAD] = "threads",
    [AGENT_CP_ASYNC] = "cp.async",
    [AGENT_TMA] = "TMA tensor copies",
    [AGENT_BULK] = "bulk copies",
    [AGENT_TENSOR_CORE] = "tcgen05.mma",
    [AGENT_TENSOR_COPY] = "tcgen05.cp, .shift",
    [AGENT_TENSOR_LDST] = "tcgen05.ld, .st",
    [AGENT_TENSOR_ALLOC] = "tcgen05.alloc",
    [AGENT_COMMIT] = "commits",
    [AGENT_CLC] = "CLC answers",
};

static void print_bytes(const struct stats *s, const char *name, enum event_space space, FILE *f) {
    bool any = false;
    for (unsigned a = 0; a < STATS_AGENTS; a++) {
        const uint64_t *b = s->bytes[a][space];
        if (!(b[STATS_READ] | b[STATS_WRITE] | b[STATS_ATOMIC]))
            continue;
        fprintf(f, "  %-28s %-20s read %11s   written %11s", any ? "" : name, agents[a], B(b[STATS_READ]),
                B(b[STATS_WRITE]));
        if (b[STATS_ATOMIC])
            fprintf(f, "   atomics %11s", B(b[STATS_ATOMIC]));
        fputc('\n', f);
        any = true;
    }
}

static void print_global(const struct stats *s, const struct stats_site *all, FILE *f) {
    const struct stats_global *g = &all->global;
    print_bytes(s, "global memory, L2", SPACE_GLOBAL, f);
    if (s->multicast_saved)
        fprintf(f, "    %-26s %15s  more arrived, not read again\n", "saved by multicast", B(s->multicast_saved));
    if (s->footprint_read || s->footprint_written)
        fprintf(f, "    %-26s %-20s read %11s   written %11s\n", "HBM at the least", "different sectors",
                B(s->footprint_read), B(s->footprint_written));
    if (g->requests)
        fprintf(f, "    %-26s %15s  sectors of 32 bytes; %s would hold the bytes: %.0f %% used\n", "threads' accesses",
                N(g->sectors), N(g->least), share(g->least, g->sectors));
}

static void print_shared(const struct stats *s, const struct stats_site *all, FILE *f) {
    const struct stats_shared *h = &all->shared;
    print_bytes(s, "shared memory", SPACE_SHARED, f);
    if (s->remote)
        fprintf(f, "    %-26s %15s  of the threads' bytes\n", "in other CTAs", B(s->remote));
    if (h->requests)
        fprintf(f, "    %-26s %15s  wavefronts; %s without bank conflicts: %.2f times\n", "threads' accesses",
                N(h->wavefronts), N(h->least), ratio(h->wavefronts, h->least));
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static uint64_t conflicts(const struct stats_line *l) { return l->total.shared.wavefronts - l->total.shared.least; }
static uint64_t scattered(const struct stats_line *l) { return l->total.global.sectors - l->total.global.least; }

/* Of an opcode, before the place. */
static const char *verb(const char *what) {
    return strcmp(what, "st") == 0 ? "stored" : strcmp(what, "ld") == 0 ? "loaded" : what;
}

/* The lines of the most cost, the first of them where several cost the same. */
static void print_worst(const struct stats_lines *l, uint64_t (*cost)(const struct stats_line *), bool shared,
                        FILE *f) {
    uint64_t below = UINT64_MAX;
    uint32_t at = 0;
    for (unsigned shown = 0; shown < WORST; shown++) {
        uint64_t most = 0;
        uint32_t best = l->num;
        for (uint32_t i = 0; i < l->num; i++) {
            const uint64_t c = cost(&l->line[i]);
            if ((c < below || (c == below && i > at)) && c > most) {
                most = c;
                best = i;
            }
        }
        if (best == l->num)
            return;
        const struct stats_site *t = &l->line[best].total;
        if (shown == 0)
            fprintf(f, "  %s\n", shared ? "most bank conflicts" : "least coalesced");
        if (shared)
            fprintf(f, "    %5.2f times the wavefronts, %s more  %s at %s\n",
                    ratio(t->shared.wavefronts, t->shared.least), N(most), verb(t->what), l->line[best].where);
        else
            fprintf(f, "    %5.2f times the sectors, %s more  %s at %s\n", ratio(t->global.sectors, t->global.least),
                    N(most), verb(t->what), l->line[best].where);
        below = most;
        at = best;
    }
}

/* --- units -------------------------------------------------------------------------------------------------------- */

static void print_ummas(const struct stats *s, FILE *f) {
    for (uint32_t i = 0; i < s->num_ummas; i++) {
        const struct stats_umma *u = &s->ummas[i];
        char shape[64];
        snprintf(shape, sizeof shape, "%.*s %u x %u x %u%s", (int)u->kind_len, u->kind, u->m, u->n, u->k,
                 u->cta_group == 2 ? ", a pair" : "");
        fprintf(f, "  %-28s %-20s %12s  %.6g GFLOP\n", i ? "" : "UMMAs", shape, N(u->count), 1e-9 * u->flop);
    }
}

static void print_ops(const struct stats *s, FILE *f) {
    for (uint32_t i = 0; i < s->num_ops; i++) {
        const struct stats_op *o = &s->ops[i];
        fprintf(f, "  %-28s %-28s %12s", i ? "" : "operations", o->name, N(o->instructions));
        if (o->count != o->instructions)
            fprintf(f, "  to %s CTAs", N(o->count));
        if (o->bytes)
            fprintf(f, "  %s", B(o->bytes));
        fputc('\n', f);
    }
}

static void print_barriers(const struct stats *s, FILE *f) {
    if (s->mbar_inits || s->mbar_phases) {
        fprintf(f, "  %-28s %15s  phases of %s objects\n", "mbarriers", N(s->mbar_phases), N(s->mbar_inits));
        fprintf(f, "    %-26s %15s  by threads, %s by operations, %s\n", "arrivals", N(s->mbar_arrivals),
                N(s->mbar_op_arrivals), B(s->mbar_bytes));
        fprintf(f, "    %-26s %15s  %s failed; %s waits suspended their warp\n", "polls", N(s->mbar_polls),
                N(s->mbar_failed), N(s->mbar_waits));
    }
    if (s->bar_phases || s->cluster_phases)
        fprintf(f, "  %-28s %15s  of CTAs, %s of clusters\n", "barriers", N(s->bar_phases), N(s->cluster_phases));
}

void stats_time_print(const struct stats_time *t, FILE *f) {
    fprintf(f, "%.1f us at %.3f GHz (%s)", t->ns / 1000, t->ghz, t->state);
    if (t->ptx)
        fputs(", instructions counted in PTX", f);
    if (t->low < t->high)
        fprintf(f, "; of ten such kernels, eight take %.1f to %.1f us", t->low / 1000, t->high / 1000);
}

static void print_cycles(const struct stats_cycles *c, FILE *f) {
    if (c->why[0]) {
        fprintf(f, "  modelled cycles: none: %s\n", c->why);
        return;
    }
    fprintf(f, "  %-28s %15s  on a model of a B200, %u SMs%s%s\n", "modelled cycles", N((uint64_t)(c->cycles + 0.5)),
            c->sms, c->doubts[0] ? ": " : "", c->doubts);
    fprintf(f, "    %-26s ", "time");
    stats_time_print(&c->time, f);
    fputc('\n', f);
    fprintf(f, "    %-26s %13.1f %%  TMA %.1f %%, HBM %.1f %%; %s asked of L2, %s of HBM\n", "tensor cores busy",
            100 * c->tensor, 100 * c->tma, 100 * c->hbm, B(c->l2_bytes), B(c->hbm_bytes));
    for (uint32_t i = 0; i < c->num_waits && i < WAITS; i++) {
        const struct stats_wait *w = &c->waits[i];
        fprintf(f, "    %-26s %13.1f %%  for %s: %s waits of %s warps, %.0f cycles each\n", w->role, 100 * w->share,
                w->what, N(w->waits), N(w->warps), w->cycles / (double)w->waits);
    }
}

void stats_print(const struct stats *s, FILE *f) {
    const struct stats_site all = stats_total(s);
    struct stats_lines lines = stats_lines_of(s);
    fprintf(f, "  %-28s %15s  of %u threads, %u + %u bytes of shared memory, %u to a cluster\n", "CTAs", N(s->ctas),
            s->block.x * s->block.y * s->block.z, s->static_smem, s->dynamic_smem,
            s->cluster.x * s->cluster.y * s->cluster.z);
    print_instructions(s, &all, f);
    print_global(s, &all, f);
    print_shared(s, &all, f);
    print_bytes(s, "tensor memory", SPACE_TENSOR, f);
    print_ummas(s, f);
    print_ops(s, f);
    print_barriers(s, f);
    if (s->cycles)
        print_cycles(s->cycles, f);
    print_worst(&lines, conflicts, true, f);
    print_worst(&lines, scattered, false, f);
    stats_lines_free(&lines);
}
