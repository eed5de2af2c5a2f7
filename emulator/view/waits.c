/* view/waits.c - who waited for what; contract in waits.h. */
#include "view/waits.h"

#include "base/arena.h"
#include "base/heap.h"
#include "base/json.h"
#include "view/names_of.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 10 };

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* What a passed wait was for; NULL: the event is none. */
static const char *awaited(const struct trace_cluster *c, const struct names_cluster *n, const struct trace_event *e) {
    if (e->class == TRACE_WAIT && e->kind == WAIT_MET && (e->what == WAIT_TMEM_ALLOC || e->what == WAIT_PAIR))
        return "tensor memory";
    if (e->class != TRACE_SYNC)
        return NULL;
    switch ((enum event_sync_kind)e->kind) {
    case SYNC_MBAR_TEST:
    case SYNC_BAR_PASS:
    case SYNC_CLUSTER_PASS:
        return e->object && e->object <= c->num_objects ? n->objects[e->object - 1] : NULL;
    case SYNC_GROUP_WAIT:
        return "its copies";
    case SYNC_TCGEN05_WAIT_LD:
    case SYNC_TCGEN05_USE:
        return "tcgen05.ld";
    case SYNC_TCGEN05_WAIT_ST:
        return "tcgen05.st";
    default:
        return NULL;
    }
}

/* The text without what tells one of several from the others: "full[3]" is "full", "epilogue 2" "epilogue"; but "warp 5"
 * and "barrier 1" have nothing else. */
static const char *family_of(struct arena *a, const char *text) {
    const size_t n = strlen(text), word = strcspn(text, "[");
    size_t end = n;
    if (word < n && word)
        return arena_strndup(a, text, word);
    while (end && text[end - 1] >= '0' && text[end - 1] <= '9')
        end--;
    const bool alone = strncmp(text, "warp ", 5) == 0 || strncmp(text, "barrier ", 8) == 0;
    return end < n && end > 1 && text[end - 1] == ' ' && !alone ? arena_strndup(a, text, end - 1) : text;
}

static struct waits_row *row_of(struct waits *w, uint32_t *cap, const char *role, const char *object) {
    for (uint32_t i = 0; i < w->num_rows; i++)
        if (strcmp(w->rows[i].role, role) == 0 && strcmp(w->rows[i].object, object) == 0)
            return &w->rows[i];
    w->rows = xgrow(w->rows, w->num_rows, cap, sizeof *w->rows);
    w->rows[w->num_rows] = (struct waits_row){.role = role, .object = object};
    return &w->rows[w->num_rows++];
}

static void add_cluster(struct waits *w, uint32_t *cap, const struct trace_cluster *c, const struct names_cluster *n,
                        const double *waited) {
    struct arena *a = &w->names->arena;
    const char *role_was = NULL, *role = "", *object_was = NULL, *object = "";
    for (uint32_t i = 0; i < c->num_events; i++) {
        const struct trace_event *e = &c->events[i];
        const char *what = waited[i] > 0 ? awaited(c, n, e) : NULL;
        if (!what || e->warp >= n->num_warps)
            continue;
        const char *who = n->warps[e->rank * n->num_warps + e->warp];
        role = who == role_was ? role : family_of(a, who);
        object = what == object_was ? object : family_of(a, what);
        role_was = who;
        object_was = what;
        struct waits_row *row = row_of(w, cap, role, object);
        row->count++;
        row->cycles += waited[i];
        row->longest = waited[i] > row->longest ? waited[i] : row->longest;
    }
}

static int by_cycles(const void *a, const void *b) {
    const struct waits_row *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    const int role = strcmp(x->role, y->role);
    return role ? role : strcmp(x->object, y->object);
}

struct waits *waits_make(const struct trace_log *log, int64_t newest) {
    const struct clock_table table = clock_b200();
    struct waits *w = xcalloc(1, sizeof *w);
    struct clock_result r;
    uint32_t cap = 0;
    w->names = names_make(log, newest);
    if (!clock_replay(log, &table, &r, w->refused, sizeof w->refused))
        return w;
    w->cycles = r.cycles;
    w->sms = r.sms;
    const double all = r.cycles * r.sms;
    w->tensor = all > 0 ? r.busy.tensor / all : 0;
    w->tma = all > 0 ? r.busy.tma / all : 0;
    w->l2 = r.busy.l2_bytes;
    w->hbm = r.busy.hbm_bytes;
    clock_doubts_text(&r.doubts, w->doubts, sizeof w->doubts);
    for (uint32_t i = 0; i < log->num_clusters; i++)
        add_cluster(w, &cap, &log->clusters[i], names_of(w->names, i), r.clusters[i].waited);
    if (w->num_rows)
        qsort(w->rows, w->num_rows, sizeof *w->rows, by_cycles);
    clock_result_free(&r, log);
    return w;
}

void waits_free(struct waits *w) {
    if (!w)
        return;
    names_free(w->names);
    xfree(w->rows);
    xfree(w);
}

/* --- for people, and for programs --------------------------------------------------------------------------------- */

void waits_print(const struct waits *w, FILE *f) {
    if (w->refused[0]) {
        fprintf(f, "  %-28s %15s  %s\n", "modelled cycles", "none", w->refused);
        return;
    }
    fprintf(f, "  %-28s %15.0f  on a model of a B200: docs/performance.md has its errors%s%s\n", "modelled cycles",
            w->cycles, w->doubts[0] ? "; " : "", w->doubts);
    fprintf(f, "    %-26s %13.1f %%  of %u SMs; their TMAs %.1f %%\n", "tensor cores busy", 100 * w->tensor, w->sms,
            100 * w->tma);
    fprintf(f, "    %-26s %11.1f MiB  of them from or to HBM %.1f MiB\n", "L2 was asked for", (double)w->l2 / 0x1p20,
            (double)w->hbm / 0x1p20);
    if (w->num_rows)
        fputs("  who waited for what                 cycles       waits     longest\n", f);
    for (uint32_t i = 0; i < w->num_rows && i < SHOWN; i++) {
        const struct waits_row *row = &w->rows[i];
        fprintf(f, "    %-12.12s %-17.17s %11.0f %11" PRIu64 " %11.0f\n", row->role, row->object, row->cycles,
                row->count, row->longest);
    }
}

void waits_json(const struct waits *w, FILE *f) {
    fprintf(
        f, "\"clock\":{\"cycles\":%.1f,\"tensor\":%.6f,\"tma\":%.6f,\"l2\":%" PRIu64 ",\"hbm\":%" PRIu64 ",\"sms\":%u,",
        w->cycles, w->tensor, w->tma, w->l2, w->hbm, w->sms);
    fputs("\"doubts\":", f);
    json_string(f, w->doubts);
    fputs(",\"refused\":", f);
    json_string(f, w->refused);
    fputs(",\"waits\":[", f);
    for (uint32_t i = 0; i < w->num_rows; i++) {
        const struct waits_row *row = &w->rows[i];
        fprintf(f, "%s{\"role\":", i ? "," : "");
        json_string(f, row->role);
        fputs(",\"object\":", f);
        json_string(f, row->object);
        fprintf(f, ",\"count\":%" PRIu64 ",\"cycles\":%.1f,\"longest\":%.1f}", row->count, row->cycles, row->longest);
    }
    fputs("]}", f);
}
