/* stats/by_line.c - the counters of instructions by lines of the source; contract in stats.h. */
#include "base/compare.h"
#include "base/heap.h"
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

enum { WHERE = 1024 };

/* By place, and instructions of one in the order of the PTX, which is that of their addresses here: `total.site` of
 * lines that have not been put together yet stands in the order of stats.sites. */
static int by_where(const void *x, const void *y) {
    const struct stats_line *a = x, *b = y;
    return strcmp(a->where, b->where) ?: COMPARE(a->total.site->ptx_line, b->total.site->ptx_line);
}

static uint64_t weight(const struct stats_site *s) { return s->shared.wavefronts + s->global.sectors + s->polls; }

static void add(struct stats_site *to, const struct stats_site *s, uint64_t *heaviest) {
    stats_add_site(to, s);
    if (weight(s) <= *heaviest)
        return;
    *heaviest = weight(s);
    to->site = s->site;
    to->what = s->what;
}

struct stats_lines stats_lines_of(const struct stats *s) {
    struct stats_lines l = {.line = xcalloc(s->num_sites + 1, sizeof *l.line)};
    for (uint32_t i = 0; i < s->num_sites; i++) {
        char where[WHERE];
        l.line[i] = (struct stats_line){xstrdup(diag_where(s->sites[i].site, where, sizeof where)), s->sites[i]};
    }
    if (s->num_sites)
        qsort(l.line, s->num_sites, sizeof *l.line, by_where);
    uint64_t heaviest = 0;
    for (uint32_t i = 0; i < s->num_sites; i++) {
        struct stats_line *last = l.num ? &l.line[l.num - 1] : NULL;
        if (last && strcmp(last->where, l.line[i].where) == 0) {
            add(&last->total, &l.line[i].total, &heaviest);
            xfree(l.line[i].where);
            continue;
        }
        heaviest = weight(&l.line[i].total);
        l.line[l.num++] = l.line[i];
    }
    return l;
}

void stats_lines_free(struct stats_lines *l) {
    for (uint32_t i = 0; i < l->num; i++)
        xfree(l->line[i].where);
    xfree(l->line);
    *l = (struct stats_lines){0};
}
