/* stats/json.c - the counters of a launch as JSON; contract in stats.h. */
#include "base/json.h"
#include "stats/stats.h"

#include <inttypes.h>

/* One `"key": value`, with a comma before all but the first of an object. */
static void put(FILE *f, const char *key, uint64_t value) { fprintf(f, "\"%s\":%" PRIu64 ",", key, value); }
static void put_last(FILE *f, const char *key, uint64_t value) { fprintf(f, "\"%s\":%" PRIu64, key, value); }
static void put_text(FILE *f, const char *key, const char *text) {
    fprintf(f, "\"%s\":", key);
    json_string(f, text);
    fputc(',', f);
}
static void put_dim(FILE *f, const char *key, struct diag_dim3 d) {
    fprintf(f, "\"%s\":[%u,%u,%u],", key, d.x, d.y, d.z);
}

static void put_instructions(const struct stats *s, const struct stats_site *all, FILE *f) {
    uint64_t by[STATS_KINDS] = {0};
    for (uint32_t i = 0; i < s->num_sites; i++)
        by[stats_kind_of(&s->sites[i])] += s->sites[i].issued;
    fputs("\"instructions\":{", f);
    put(f, "issued", all->issued);
    put(f, "lanes", all->lanes);
    put(f, "no_lane", all->idle);
    put(f, "part_of_warp", all->partial);
    put(f, "split_branches", all->splits);
    fputs("\"kinds\":{", f);
    for (unsigned k = 0; k < STATS_KINDS; k++)
        fprintf(f, "%s\"%s\":%" PRIu64, k ? "," : "", stats_kind_key(k), by[k]);
    fputs("}},\n", f);
}

/* {"thread":{"read":1,"written":2,"atomic":3},...} of those that touched any */
static void put_bytes(const struct stats *s, const char *key, enum event_space space, FILE *f) {
    static const char *const keys[STATS_AGENTS] = {
        [AGENT_THREAD] = "threads",
        [AGENT_CP_ASYNC] = "cp_async",
        [AGENT_TMA] = "tma",
        [AGENT_BULK] = "bulk",
        [AGENT_TENSOR_CORE] = "tcgen05_mma",
        [AGENT_TENSOR_COPY] = "tcgen05_cp",
        [AGENT_TENSOR_LDST] = "tcgen05_ldst",
        [AGENT_TENSOR_ALLOC] = "tcgen05_alloc",
        [AGENT_COMMIT] = "commit",
        [AGENT_CLC] = "clc",
    };
    const char *comma = "";
    fprintf(f, "\"%s\":{", key);
    for (unsigned a = 0; a < STATS_AGENTS; a++) {
        const uint64_t *b = s->bytes[a][space];
        if (!(b[STATS_READ] | b[STATS_WRITE] | b[STATS_ATOMIC]))
            continue;
        fprintf(f, "%s\"%s\":{", comma, keys[a]);
        put(f, "read", b[STATS_READ]);
        put(f, "written", b[STATS_WRITE]);
        put_last(f, "atomic", b[STATS_ATOMIC]);
        fputc('}', f);
        comma = ",";
    }
    fputs("},", f);
}

static void put_shared(const struct stats_shared *h, FILE *f) {
    put(f, "requests", h->requests);
    put(f, "bytes", h->bytes);
    put(f, "wavefronts", h->wavefronts);
    put_last(f, "wavefronts_without_conflicts", h->least);
}

static void put_global(const struct stats_global *g, FILE *f) {
    put(f, "requests", g->requests);
    put(f, "bytes", g->bytes);
    put(f, "sectors", g->sectors);
    put_last(f, "sectors_needed", g->least);
}

static void put_memory(const struct stats *s, const struct stats_site *all, FILE *f) {
    fputs("\"bytes\":{", f);
    put_bytes(s, "global", SPACE_GLOBAL, f);
    put_bytes(s, "shared", SPACE_SHARED, f);
    put_bytes(s, "tensor", SPACE_TENSOR, f);
    put(f, "multicast_saved", s->multicast_saved);
    put(f, "shared_of_other_ctas", s->remote);
    put(f, "global_different_read", s->footprint_read);
    put_last(f, "global_different_written", s->footprint_written);
    fputs("},\n\"shared_accesses\":{", f);
    put_shared(&all->shared, f);
    fputs("},\n\"global_accesses\":{", f);
    put_global(&all->global, f);
    fputs("},\n", f);
}

static void put_units(const struct stats *s, FILE *f) {
    fputs("\"ummas\":[", f);
    for (uint32_t i = 0; i < s->num_ummas; i++) {
        const struct stats_umma *u = &s->ummas[i];
        fprintf(
            f, "%s{\"kind\":\"%.*s\",\"m\":%u,\"n\":%u,\"k\":%u,\"cta_group\":%u,\"count\":%" PRIu64 ",\"flop\":%.17g}",
            i ? "," : "", (int)u->kind_len, u->kind, u->m, u->n, u->k, u->cta_group, u->count, u->flop);
    }
    fputs("],\n\"operations\":{", f);
    for (uint32_t i = 0; i < s->num_ops; i++) {
        fputs(i ? "," : "", f);
        json_string(f, s->ops[i].name);
        fputs(":{", f);
        put(f, "instructions", s->ops[i].instructions);
        put(f, "count", s->ops[i].count);
        put_last(f, "bytes", s->ops[i].bytes);
        fputc('}', f);
    }
    fputs("},\n", f);
}

static void put_barriers(const struct stats *s, FILE *f) {
    fputs("\"mbarriers\":{", f);
    put(f, "inits", s->mbar_inits);
    put(f, "phases", s->mbar_phases);
    put(f, "arrivals_of_threads", s->mbar_arrivals);
    put(f, "arrivals_of_operations", s->mbar_op_arrivals);
    put(f, "bytes", s->mbar_bytes);
    put(f, "polls", s->mbar_polls);
    put(f, "failed_polls", s->mbar_failed);
    put(f, "waits", s->mbar_waits);
    put_last(f, "timed_out_waits", s->mbar_timed_out);
    fputs("},\n\"barriers\":{", f);
    put(f, "cta_phases", s->bar_phases);
    put_last(f, "cluster_phases", s->cluster_phases);
    fputs("},\n", f);
}

static void put_real(FILE *f, const char *key, double value) { fprintf(f, "\"%s\":%.9g,", key, value); }

static void put_cycles(const struct stats_cycles *c, FILE *f) {
    fputs("\"model\":{", f);
    put_text(f, "why_not", c->why);
    put_text(f, "doubts", c->doubts);
    put_real(f, "cycles", c->cycles);
    put_real(f, "tensor_busy", c->tensor);
    put_real(f, "tma_busy", c->tma);
    put_real(f, "hbm_busy", c->hbm);
    put(f, "sms", c->sms);
    put(f, "l2_bytes", c->l2_bytes);
    put(f, "hbm_bytes", c->hbm_bytes);
    fputs("\"waits\":[", f);
    for (uint32_t i = 0; i < c->num_waits; i++) {
        const struct stats_wait *w = &c->waits[i];
        fputs(i ? ",{" : "{", f);
        put_text(f, "role", w->role);
        put_text(f, "for", w->what);
        put_real(f, "cycles", w->cycles);
        put_real(f, "share", w->share);
        put(f, "warps", w->warps);
        put_last(f, "waits", w->waits);
        fputc('}', f);
    }
    fputs("]},\n", f);
}

static void put_line(const struct stats_line *l, FILE *f) {
    const struct stats_site *t = &l->total;
    fputc('{', f);
    put_text(f, "where", l->where);
    if (t->site->src_file) {
        put_text(f, "file", t->site->src_file);
        put(f, "line", t->site->src_line);
    }
    put_text(f, "ptx", t->site->ptx_name);
    put(f, "ptx_line", t->site->ptx_line);
    put_text(f, "text", t->site->ptx_text);
    put(f, "issued", t->issued);
    put(f, "lanes", t->lanes);
    put(f, "no_lane", t->idle);
    put(f, "part_of_warp", t->partial);
    put_last(f, "split_branches", t->splits);
    if (t->shared.bytes) {
        fputs(",\"shared\":{", f);
        put_shared(&t->shared, f);
        fputc('}', f);
    }
    if (t->global.bytes) {
        fputs(",\"global\":{", f);
        put_global(&t->global, f);
        fputc('}', f);
    }
    if (t->polls) {
        fputs(",\"mbarrier\":{", f);
        put(f, "polls", t->polls);
        put(f, "failed_polls", t->failed);
        put_last(f, "waits", t->waits);
        fputc('}', f);
    }
    fputc('}', f);
}

void stats_json(const struct stats *s, int fault, FILE *f) {
    const struct stats_site all = stats_total(s);
    struct stats_lines lines = stats_lines_of(s);
    fputc('{', f);
    put_text(f, "kernel", s->kernel);
    put(f, "fault", (uint64_t)fault);
    put_dim(f, "grid", s->grid);
    put_dim(f, "block", s->block);
    put_dim(f, "cluster", s->cluster);
    put(f, "static_shared_bytes", s->static_smem);
    put(f, "dynamic_shared_bytes", s->dynamic_smem);
    put(f, "ctas", s->ctas);
    put(f, "warps", s->warps);
    fputc('\n', f);
    put_instructions(s, &all, f);
    put_memory(s, &all, f);
    put_units(s, f);
    put_barriers(s, f);
    if (s->cycles)
        put_cycles(s->cycles, f);
    fputs("\"lines\":[\n", f);
    for (uint32_t i = 0; i < lines.num; i++) {
        put_line(&lines.line[i], f);
        fputs(i + 1 < lines.num ? ",\n" : "\n", f);
    }
    fputs("]}", f);
    stats_lines_free(&lines);
}
