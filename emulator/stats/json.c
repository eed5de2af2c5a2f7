/* stats/json.c - the counters of a launch as JSON; contract in stats.h. */
#include "base/json.h"
#include "stats/stats.h"

#include <inttypes.h>

struct count {
    const char *key;
    uint64_t value;
};

/* A list of `"key":value`, without the braces of an object. */
static void put_counts(FILE *f, const struct count *list, size_t num) {
    for (size_t i = 0; i < num; i++)
        fprintf(f, "%s\"%s\":%" PRIu64, i ? "," : "", list[i].key, list[i].value);
}
#define PUT(f, ...)                                                                                                    \
    put_counts(f, (const struct count[]){__VA_ARGS__}, sizeof(struct count[]){__VA_ARGS__} / sizeof(struct count))

/* One of them, with a comma behind. */
static void put(FILE *f, const char *key, uint64_t value) { fprintf(f, "\"%s\":%" PRIu64 ",", key, value); }
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
    PUT(f, {"issued", all->issued}, {"lanes", all->lanes}, {"no_lane", all->idle}, {"part_of_warp", all->partial},
        {"split_branches", all->splits});
    fputs(",\"kinds\":{", f);
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
        PUT(f, {"read", b[STATS_READ]}, {"written", b[STATS_WRITE]}, {"atomic", b[STATS_ATOMIC]});
        fputc('}', f);
        comma = ",";
    }
    fputs("},", f);
}

static void put_shared(const struct stats_shared *h, FILE *f) {
    PUT(f, {"requests", h->requests}, {"bytes", h->bytes}, {"wavefronts", h->wavefronts},
        {"wavefronts_without_conflicts", h->least});
}

static void put_global(const struct stats_global *g, FILE *f) {
    PUT(f, {"requests", g->requests}, {"bytes", g->bytes}, {"sectors", g->sectors}, {"sectors_needed", g->least});
}

static void put_memory(const struct stats *s, const struct stats_site *all, FILE *f) {
    fputs("\"bytes\":{", f);
    put_bytes(s, "global", SPACE_GLOBAL, f);
    put_bytes(s, "shared", SPACE_SHARED, f);
    put_bytes(s, "tensor", SPACE_TENSOR, f);
    PUT(f, {"multicast_saved", s->multicast_saved}, {"shared_of_other_ctas", s->remote},
        {"global_different_read", s->footprint_read}, {"global_different_written", s->footprint_written});
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
        PUT(f, {"instructions", s->ops[i].instructions}, {"count", s->ops[i].count}, {"bytes", s->ops[i].bytes});
        fputc('}', f);
    }
    fputs("},\n", f);
}

static void put_barriers(const struct stats *s, FILE *f) {
    fputs("\"mbarriers\":{", f);
    PUT(f, {"inits", s->mbar_inits}, {"phases", s->mbar_phases}, {"arrivals_of_threads", s->mbar_arrivals},
        {"arrivals_of_operations", s->mbar_op_arrivals}, {"bytes", s->mbar_bytes}, {"polls", s->mbar_polls},
        {"failed_polls", s->mbar_failed}, {"waits", s->mbar_waits}, {"timed_out_waits", s->mbar_timed_out});
    fputs("},\n\"barriers\":{", f);
    PUT(f, {"cta_phases", s->bar_phases}, {"cluster_phases", s->cluster_phases});
    fputs("},\n", f);
}

static void put_unseen(uint32_t unseen, FILE *f) {
    const char *comma = "";
    fputs("\"unseen\":[", f);
    for (unsigned i = 0; i < BOUNDS; i++)
        if (unseen >> i & 1) {
            fputs(comma, f);
            json_string(f, bound_text(i));
            comma = ",";
        }
    fputs("],\n", f);
}

static void put_real(FILE *f, const char *key, double value) { fprintf(f, "\"%s\":%.9g,", key, value); }

static void put_cycles(const struct stats_cycles *c, FILE *f) {
    fputs("\"model\":{", f);
    put_text(f, "why_not", c->why);
    put_text(f, "doubts", c->doubts);
    put_real(f, "cycles", c->cycles);
    put_text(f, "state", c->time.state);
    put_text(f, "counted", c->time.ptx ? "PTX" : "machine code");
    put_real(f, "ghz", c->time.ghz);
    put_real(f, "ns", c->time.ns);
    put_real(f, "ns_low", c->time.low);
    put_real(f, "ns_high", c->time.high);
    put_real(f, "tensor_busy", c->tensor);
    put_real(f, "tma_busy", c->tma);
    put_real(f, "hbm_busy", c->hbm);
    PUT(f, {"sms", c->sms}, {"l2_bytes", c->l2_bytes}, {"hbm_bytes", c->hbm_bytes});
    fputs(",\"waits\":[", f);
    for (uint32_t i = 0; i < c->num_waits; i++) {
        const struct stats_wait *w = &c->waits[i];
        fputs(i ? ",{" : "{", f);
        put_text(f, "role", w->role);
        put_text(f, "for", w->what);
        put_real(f, "cycles", w->cycles);
        put_real(f, "share", w->share);
        PUT(f, {"warps", w->warps}, {"waits", w->waits});
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
    PUT(f, {"issued", t->issued}, {"lanes", t->lanes}, {"no_lane", t->idle}, {"part_of_warp", t->partial},
        {"split_branches", t->splits});
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
        PUT(f, {"polls", t->polls}, {"failed_polls", t->failed}, {"waits", t->waits});
        fputc('}', f);
    }
    fputc('}', f);
}

void stats_json(const struct stats *s, int fault, unsigned process, FILE *f) {
    const struct stats_site all = stats_total(s);
    struct stats_lines lines = stats_lines_of(s);
    fputc('{', f);
    put_text(f, "kernel", s->kernel);
    put(f, "fault", (uint64_t)fault);
    put(f, "process", process);
    put_dim(f, "grid", s->grid);
    put_dim(f, "block", s->block);
    put_dim(f, "cluster", s->cluster);
    PUT(f, {"static_shared_bytes", s->static_smem}, {"dynamic_shared_bytes", s->dynamic_smem}, {"ctas", s->ctas},
        {"warps", s->warps});
    fputs(",\n", f);
    put_instructions(s, &all, f);
    put_memory(s, &all, f);
    put_units(s, f);
    put_barriers(s, f);
    put_unseen(s->unseen, f);
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
