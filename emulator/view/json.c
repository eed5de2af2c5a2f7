/* view/json.c - logs as JSON; contract in json.h. */
#include "view/json.h"

#include "base/heap.h"
#include "base/json.h"
#include "view/names.h"
#include "view/times.h"

#include <inttypes.h>
#include <string.h>

#define EXACT (UINT64_C(1) << 53) /* numbers of JSON hold whole ones up to here (RFC 8259, section 6) */

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* Unsigned numbers: their bytes. */
enum field_type {
    FIELD_U8 = 1,
    FIELD_U16 = 2,
    FIELD_U32 = 4,
    FIELD_U64 = 8,
    FIELD_I32,
    FIELD_TEXT,
    FIELD_COORD,
    FIELD_DIM
};
struct field {
    const char *name;
    enum field_type type;
    size_t offset;
};
#define FIELD(of, name, type)                                                                                          \
    { #name, FIELD_##type, offsetof(struct of, name) }

static const struct field site_fields[] = {
    FIELD(trace_site, file, TEXT), FIELD(trace_site, line, U32),     FIELD(trace_site, column, U32),
    FIELD(trace_site, ptx, TEXT),  FIELD(trace_site, ptx_line, U32), FIELD(trace_site, text, TEXT),
    FIELD(trace_site, func, TEXT), FIELD(trace_site, inlined, U32),  {0},
};
static const struct field call_fields[] = {
    FIELD(trace_call, file, TEXT), FIELD(trace_call, line, U32), FIELD(trace_call, outer, U32), {0}};
static const struct field object_fields[] = {
    FIELD(trace_object, kind, U32),
    FIELD(trace_object, rank, U32),
    FIELD(trace_object, at, U32),
    FIELD(trace_object, count, U32),
    FIELD(trace_object, site, U32),
    FIELD(trace_object, name, TEXT),
    {0},
};
static const struct field op_fields[] = {
    FIELD(trace_op, name, TEXT),     FIELD(trace_op, agent, U32),
    FIELD(trace_op, rank, U32),      FIELD(trace_op, warp, U32),
    FIELD(trace_op, site, U32),      FIELD(trace_op, queue, U32),
    FIELD(trace_op, leader, U32),    FIELD(trace_op, follows, U32),
    FIELD(trace_op, issued, U32),    FIELD(trace_op, started, U32),
    FIELD(trace_op, completed, U32), FIELD(trace_op, m, U32),
    FIELD(trace_op, n, U32),         FIELD(trace_op, k, U32),
    FIELD(trace_op, cta_group, U32), FIELD(trace_op, kind, U32),
    FIELD(trace_op, from, U32),      FIELD(trace_op, from_off, U32),
    FIELD(trace_op, to, U32),        FIELD(trace_op, to_off, U32),
    FIELD(trace_op, signals, U32),   FIELD(trace_op, signals_off, U32),
    FIELD(trace_op, ctas, U32),      FIELD(trace_op, accumulate, U32),
    FIELD(trace_op, a_in_tmem, U32), FIELD(trace_op, taken, U32),
    FIELD(trace_op, sfa, U32),       FIELD(trace_op, sfb, U32),
    FIELD(trace_op, row, U32),       FIELD(trace_op, dims, U32),
    FIELD(trace_op, coord, COORD),   FIELD(trace_op, bytes, U64),
    FIELD(trace_op, a, U64),         FIELD(trace_op, b, U64),
    FIELD(trace_op, global, U64),    FIELD(trace_op, map, U64),
    FIELD(trace_op, first, DIM),     {0},
};
#define RAN(name, kind)                                                                                                \
    { "ran_" #name, FIELD_U16, offsetof(struct trace_event, ran) + (kind) * sizeof(uint16_t) }
static const struct field event_fields[] = {
    FIELD(trace_event, class, U8),
    FIELD(trace_event, kind, U8),
    FIELD(trace_event, rank, U8),
    FIELD(trace_event, warp, U8),
    FIELD(trace_event, lanes, U32),
    FIELD(trace_event, site, U32),
    FIELD(trace_event, cause, U32),
    FIELD(trace_event, object, U32),
    FIELD(trace_event, op, U32),
    FIELD(trace_event, phase, U32),
    FIELD(trace_event, count, U32),
    FIELD(trace_event, pending, U32),
    FIELD(trace_event, tx, I32),
    FIELD(trace_event, value, U64),
    FIELD(trace_event, what, U16),
    FIELD(trace_event, times, U16),
    FIELD(trace_event, cluster, U32),
    RAN(alu, RUN_ALU),
    RAN(control, RUN_CONTROL),
    RAN(shared, RUN_SHARED),
    RAN(global, RUN_GLOBAL),
    RAN(async, RUN_ASYNC),
    {0},
};

/* What places of text in a log are among the texts of the JSON: by their order. */
struct texts {
    const struct trace_log *log;
    uint32_t *index; /* by offset */
};

static struct texts texts_of(const struct trace_log *log) {
    struct texts t = {log, xcalloc(log->text_bytes + 1, sizeof *t.index)};
    uint32_t n = 0;
    for (uint32_t at = 0; at < log->text_bytes; at++) {
        t.index[at] = n;
        n += log->text[at] == '\0';
    }
    return t;
}

static void put_u64(FILE *f, uint64_t v) { fprintf(f, v > EXACT ? "\"%" PRIu64 "\"" : "%" PRIu64, v); }

static void put_field(FILE *f, const struct texts *t, enum field_type type, const unsigned char *at) {
    uint64_t v = 0;
    int32_t signed_v, coord[5];
    uint32_t word, dim[3];
    switch (type) {
    case FIELD_TEXT:
        memcpy(&word, at, sizeof word);
        v = t->index[word];
        break;
    case FIELD_I32:
        memcpy(&signed_v, at, sizeof signed_v);
        fprintf(f, "%" PRId32, signed_v);
        return;
    case FIELD_COORD:
        memcpy(coord, at, sizeof coord);
        fprintf(f, "[%d,%d,%d,%d,%d]", coord[0], coord[1], coord[2], coord[3], coord[4]);
        return;
    case FIELD_DIM:
        memcpy(dim, at, sizeof dim);
        fprintf(f, "[%u,%u,%u]", dim[0], dim[1], dim[2]);
        return;
    case FIELD_U8:
    case FIELD_U16:
    case FIELD_U32:
    case FIELD_U64:
        memcpy(&v, at, type);
        break;
    }
    put_u64(f, v);
}

static void put_columns(FILE *f, const struct texts *t, const char *name, const struct field *fields, const void *rows,
                        uint32_t count, size_t size) {
    fprintf(f, ",\n\"%s\": {", name);
    for (const struct field *x = fields; x->name; x++) {
        fprintf(f, "%s\"%s\": [", x == fields ? "" : ",\n ", x->name);
        for (uint32_t i = 0; i < count; i++) {
            if (i)
                fputc(',', f);
            put_field(f, t, x->type, (const unsigned char *)rows + i * size + x->offset);
        }
        fputc(']', f);
    }
    fputc('}', f);
}
#define PUT_COLUMNS(f, t, of, singular, list, count)                                                                   \
    put_columns(f, t, #list, singular##_fields, (of)->list, count, sizeof *(of)->list)

/* --- logs --------------------------------------------------------------------------------------------------------- */

static void put_dim(FILE *f, const char *name, struct diag_dim3 d) {
    fprintf(f, ", \"%s\": [%u, %u, %u]", name, d.x, d.y, d.z);
}

static void put_strings(FILE *f, const char *const *list, uint32_t count) {
    fputc('[', f);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", f);
        json_string(f, list[i]);
    }
    fputc(']', f);
}

static void put_ranges(FILE *f, const char *name, const struct names_range *list, uint32_t count) {
    fprintf(f, ",\n \"%s\": [", name);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(f, "%s[%u, %u, %u, ", i ? ", " : "", list[i].rank, list[i].from, list[i].to);
        json_string(f, list[i].name);
        fputc(']', f);
    }
    fputc(']', f);
}

static void put_names(FILE *f, const struct names_cluster *n, uint32_t objects) {
    fputs(",\n\"names\": {\"objects\": ", f);
    put_strings(f, n->objects, objects);
    fputs(",\n \"warps\": [", f);
    for (uint32_t r = 0; r < n->ctas; r++) {
        fputs(r ? ", " : "", f);
        put_strings(f, n->warps + (size_t)r * n->num_warps, n->num_warps);
    }
    fputc(']', f);
    put_ranges(f, "smem", n->smem, n->num_smem);
    put_ranges(f, "tmem", n->tmem, n->num_tmem);
    fputc('}', f);
}

static void put_times(FILE *f, const struct clock_cluster *times, uint32_t count) {
    fputs(",\n\"cycle\": [", f);
    for (uint32_t i = 0; i < count; i++)
        fprintf(f, "%s%.1f", i ? "," : "", times->cycle[i]);
    fputs("],\n\"blame\": [", f);
    for (uint32_t i = 0; i < count; i++)
        fprintf(f, "%s%u", i ? "," : "", times->cause[i]);
    fputc(']', f);
}

/* times: NULL: none are known */
static void put_cluster(FILE *f, const struct texts *t, const struct trace_cluster *c, const struct names_cluster *n,
                        const struct clock_cluster *times) {
    fputs("{\"number\": ", f);
    put_u64(f, c->number);
    put_dim(f, "id", c->id);
    fputs(", \"sm\": [", f);
    for (uint32_t r = 0; r < c->ctas; r++)
        fprintf(f, "%s%u", r ? ", " : "", c->sm[r]);
    fprintf(f, "], \"complete\": %u", c->complete);
    PUT_COLUMNS(f, t, c, object, objects, c->num_objects);
    PUT_COLUMNS(f, t, c, op, ops, c->num_ops);
    PUT_COLUMNS(f, t, c, event, events, c->num_events);
    put_names(f, n, c->num_objects);
    if (times)
        put_times(f, times, c->num_events);
    fputs("}", f);
}

static void put_texts(FILE *f, const struct trace_log *log) {
    fputs(",\n\"text\": [", f);
    for (uint32_t at = 0; at < log->text_bytes; at += (uint32_t)strlen(log->text + at) + 1) {
        fputs(at ? ",\n " : "", f);
        json_string(f, log->text + at);
    }
    fputs("]", f);
}

static void put_log(FILE *f, const struct trace_log *log, struct names *names, bool clock) {
    struct texts t = texts_of(log);
    struct times times;
    char why[256] = "";
    clock = clock && times_make(&times, log, why, sizeof why);
    fputs("{\"kernel\": ", f);
    json_string(f, trace_string(log, log->kernel));
    fputs(", \"schedule\": ", f);
    json_string(f, trace_string(log, log->schedule));
    fprintf(f, ", \"fault\": %u, \"cut\": %u", log->fault, log->cut);
    put_dim(f, "grid", log->grid);
    put_dim(f, "block", log->block);
    put_dim(f, "cluster", log->cluster);
    fprintf(f, ", \"smem\": %u, \"resident\": %u, \"instructions\": ", log->smem, log->resident);
    put_u64(f, log->instructions);
    if (*why || (clock && *times.doubts)) {
        fprintf(f, ", \"%s\": ", *why ? "untimed" : "doubts");
        json_string(f, *why ? why : times.doubts);
    }
    put_texts(f, log);
    PUT_COLUMNS(f, &t, log, site, sites, log->num_sites);
    PUT_COLUMNS(f, &t, log, call, calls, log->num_calls);
    fputs(",\n\"clusters\": [", f);
    for (uint32_t i = 0; i < log->num_clusters; i++) {
        fputs(i ? ",\n" : "", f);
        put_cluster(f, &t, &log->clusters[i], names_of(names, i), clock ? &times.result.clusters[i] : NULL);
    }
    fputs("]}", f);
    if (clock)
        times_free(&times, log);
    xfree(t.index);
}

bool view_json(FILE *file, const struct view_run *run, const struct view_run *like, bool clock) {
    fprintf(file, "{\"version\": %u, \"logs\": [", TRACE_VERSION);
    for (uint32_t i = 0; i < run->count; i++) {
        struct names *names = names_make(run->logs[i], run->newest),
                     *other = like && i < like->count ? names_make(like->logs[i], like->newest) : NULL;
        names_like(names, other);
        names_call_warps(names, run->warps);
        fputs(i ? ",\n" : "\n", file);
        put_log(file, run->logs[i], names, clock);
        names_free(names);
        names_free(other);
    }
    fputs("\n]}\n", file);
    return fflush(file) == 0 && !ferror(file);
}
