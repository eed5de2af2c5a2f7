/* view/names.c - names of barriers and warps; contract in names.h. */
#include "view/names.h"

#include "base/compare.h"
#include "base/heap.h"
#include "view/names_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what lines say, by site -------------------------------------------------------------------------------------- */

/* The call around a chain's link `call`, a number from 1; 0 behind the last. A chain leads outwards by smaller steps
 * than there are calls, whatever a file says. */
static const struct trace_call *call_of(const struct trace_log *log, uint32_t call) {
    return call && call <= log->num_calls ? &log->calls[call - 1] : NULL;
}

/* All of them, and no more than there is room for. */
static uint32_t whole_chain(const struct trace_log *log, uint32_t site, const struct trace_call *chain[NAMES_CHAIN]) {
    uint32_t n = 0;
    for (const struct trace_call *c = site ? call_of(log, log->sites[site - 1].inlined) : NULL; c && n < NAMES_CHAIN;
         c = call_of(log, c->outer))
        chain[n++] = c;
    return n;
}

uint32_t names_chain(const struct names *names, uint32_t site, const struct trace_call *chain[NAMES_CHAIN]) {
    uint32_t n = whole_chain(names->log, site, chain);
    while (n > 1 && names->trampolines[chain[n - 1] - names->log->calls])
        n--;
    return n;
}

static const char *keep(struct names *names, const char *text) {
    return arena_strndup(&names->arena, text, strlen(text));
}

static bool same_text(const struct trace_log *log, trace_text a, trace_text b) {
    return a == b || strcmp(trace_string(log, a), trace_string(log, b)) == 0;
}

static bool same_call(const struct trace_log *log, const struct trace_call *a, const struct trace_call *b) {
    return a->line == b->line && same_text(log, a->file, b->file);
}

/* The variable that a PTX instruction's address names: "bar" of `mbarrier.init.b64 [bar+8], 1;`, with index 1. */
static bool symbol_in(const char *ptx, char *out, size_t size, int32_t *index) {
    const char *open = strchr(ptx, '[');
    if (!open || open[1] == '%')
        return false;
    char symbol[256];
    const size_t n = strcspn(open + 1, "+] ");
    const long bytes = open[1 + n] == '+' ? strtol(open + 2 + n, NULL, 10) : -1;
    *index = bytes >= 0 && bytes < 1 << 20 && bytes % 8 == 0 ? (int32_t)(bytes / 8) : SOURCE_WITHOUT_INDEX;
    snprintf(symbol, sizeof symbol, "%.*s", (int)(n < sizeof symbol ? n : sizeof symbol - 1), open + 1);
    source_symbol(symbol, out, size);
    return n != 0;
}

/* What the source calls the object that the mbarrier.init at `site` makes. */
static struct names_init init_of(struct names *names, uint32_t site) {
    const struct trace_log *log = names->log;
    const struct trace_call *chain[NAMES_CHAIN];
    const uint32_t n = names_chain(names, site, chain);
    struct names_init init = {.index = SOURCE_WITHOUT_INDEX};
    char line[SOURCE_LINE], text[64];
    for (uint32_t i = 0; i < n && !init.text; i++)
        if (source_line(&names->files, trace_string(log, chain[i]->file), chain[i]->line, line) &&
            source_initialises(line, text, sizeof text, &init.index)) {
            init.text = keep(names, text);
            init.at = chain[i];
        }
    if (!init.text && site && symbol_in(trace_string(log, log->sites[site - 1].text), text, sizeof text, &init.index))
        init.text = keep(names, text);
    return init;
}

static uint32_t role_number(struct names *names, const char *text) {
    for (uint32_t i = 0; i < names->num_roles; i++)
        if (strcmp(names->roles[i], text) == 0)
            return i + 1;
    if (names->num_roles == NAMES_ROLES)
        return 0;
    names->roles = arena_grow(&names->arena, names->roles, names->num_roles, &names->roles_cap, sizeof *names->roles);
    names->roles[names->num_roles++] = keep(names, text);
    return names->num_roles;
}

/* "load" of load_role. */
static void cut_suffix(char *text) {
    const size_t n = strlen(text);
    if (n > 5 && strcmp(text + n - 5, "_role") == 0)
        text[n - 5] = 0;
}

/* Does the outermost call name a task? Not if it is a wrapper: one that stays in another file than the kernel's. */
static bool is_task(const struct trace_log *log, const struct trace_site *site, const struct trace_call *const *chain,
                    uint32_t n) {
    const trace_text callee = n > 1 ? chain[n - 2]->file : site->file;
    return same_text(log, callee, chain[n - 1]->file) || !same_text(log, callee, site->file);
}

/* The task that the kernel calls at the site: a number from 1 in names->roles, 0: none. */
static uint32_t role_of(struct names *names, uint32_t number) {
    const struct trace_log *log = names->log;
    const struct trace_site *site = &log->sites[number - 1];
    const struct trace_call *chain[NAMES_CHAIN];
    const uint32_t n = names_chain(names, number, chain);
    char line[SOURCE_LINE], text[64];
    if (*trace_string(log, site->func) && !same_text(log, site->func, log->kernel)) {
        source_symbol(trace_string(log, site->func), text, sizeof text);
    } else if (!n || n == NAMES_CHAIN || !is_task(log, site, chain, n) ||
               !source_line(&names->files, trace_string(log, chain[n - 1]->file), chain[n - 1]->line, line) ||
               !source_calls(line, text, sizeof text)) {
        return 0;
    }
    cut_suffix(text);
    return role_number(names, text);
}

/* --- mbarriers ---------------------------------------------------------------------------------------------------- */

/* Made by the same line? The chains may be those of other copies of an unrolled loop, whose lines are the same. */
static bool same_init(const struct names *names, uint32_t a, uint32_t b) {
    const struct names_init *x = &names->inits[a], *y = &names->inits[b];
    if (a == b)
        return true;
    if (!x->at || !y->at || !same_call(names->log, x->at, y->at))
        return false;
    const struct trace_call *p[NAMES_CHAIN], *q[NAMES_CHAIN];
    const uint32_t n = names_chain(names, a, p), m = names_chain(names, b, q);
    uint32_t i = 1;
    while (i <= n && i <= m && p[n - i] != x->at && q[m - i] != y->at && same_call(names->log, p[n - i], q[m - i]))
        i++;
    return i <= n && i <= m && p[n - i] == x->at && q[m - i] == y->at;
}

/* The first site of the same line. */
static uint32_t like_of(struct names *names, uint32_t site) {
    for (uint32_t i = 0; i < names->num_init_sites; i++)
        if (same_init(names, names->init_sites[i], site))
            return names->init_sites[i];
    names->init_sites = arena_grow(&names->arena, names->init_sites, names->num_init_sites, &names->init_sites_cap,
                                   sizeof *names->init_sites);
    names->init_sites[names->num_init_sites++] = site;
    return site;
}

static const struct names_init *know_init(struct names *names, uint32_t site) {
    struct names_init *init = &names->inits[site];
    if (!init->known) {
        *init = init_of(names, site);
        init->known = true;
        init->like = init->text ? like_of(names, site) : 0;
    }
    return init;
}

/* An mbarrier on its way to a name. */
struct place {
    uint32_t rank, like, at, object;
    const char *name;
};

static int by_line(const void *a, const void *b) {
    const struct place *p = a, *q = b;
    return COMPARE(p->rank, q->rank) ?: COMPARE(p->like, q->like) ?: COMPARE(p->at, q->at)
               ?: COMPARE(p->object, q->object);
}

static int by_name(const void *a, const void *b) {
    const struct place *p = a, *q = b;
    return COMPARE(p->rank, q->rank) ?: strcmp(p->name, q->name) ?: COMPARE(p->at, q->at)
               ?: COMPARE(p->object, q->object);
}

/* Names the mbarriers of a CTA that one line made, [from, end) of the list. */
static void name_run(struct names *names, struct place *from, const struct place *end) {
    const struct names_init *init = &names->inits[from->like];
    char text[96];
    uint32_t number = 0;
    const bool indexed = init->index == SOURCE_SOME_INDEX || end[-1].at != from->at;
    for (struct place *p = from; p < end; p++) {
        const bool again = p > from && p->at == p[-1].at; /* the same place, initialised once more */
        number += p > from && !again;
        if (!init->text)
            snprintf(text, sizeof text, "mbarrier 0x%x", p->at);
        else if (init->index >= 0)
            snprintf(text, sizeof text, "%s[%d]", init->text, init->index);
        else if (indexed)
            snprintf(text, sizeof text, "%s[%u]", init->text, number);
        else
            snprintf(text, sizeof text, "%s", init->text);
        p->name = again ? p[-1].name : keep(names, text);
    }
}

/* Tells those apart that have one name at different places of a CTA, [from, end) of the list. */
static void tell_apart(struct names *names, struct place *from, const struct place *end) {
    char text[128];
    for (struct place *p = from; p < end && from->at != end[-1].at; p++) {
        snprintf(text, sizeof text, "%s 0x%x", p->name, p->at);
        p->name = keep(names, text);
    }
}

static void name_mbarriers(struct names *names, const struct trace_cluster *c, struct names_cluster *n) {
    struct place *list = xcalloc(c->num_objects + 1, sizeof *list);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->num_objects; i++) {
        const struct trace_object *o = &c->objects[i];
        if (o->kind == OBJECT_MBARRIER)
            list[count++] = (struct place){o->rank, know_init(names, o->site)->like, o->at, i, NULL};
    }
    qsort(list, count, sizeof *list, by_line);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && list[end].rank == list[i].rank && list[end].like == list[i].like;)
            end++;
        name_run(names, &list[i], &list[end]);
    }
    qsort(list, count, sizeof *list, by_name);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && list[end].rank == list[i].rank && strcmp(list[end].name, list[i].name) == 0;)
            end++;
        tell_apart(names, &list[i], &list[end]);
    }
    for (uint32_t i = 0; i < count; i++)
        n->objects[list[i].object] = list[i].name;
    xfree(list);
}

static void name_objects(struct names *names, const struct trace_cluster *c, struct names_cluster *n) {
    char text[64];
    n->objects = arena_array(&names->arena, c->num_objects, sizeof *n->objects);
    name_mbarriers(names, c, n);
    for (uint32_t i = 0; i < c->num_objects; i++) {
        const struct trace_object *o = &c->objects[i];
        if (o->kind == OBJECT_BARRIER) {
            snprintf(text, sizeof text, "CTA barrier %u", o->at);
            n->objects[i] = keep(names, text);
        } else if (o->kind == OBJECT_CLUSTER_BARRIER) {
            n->objects[i] = "cluster barrier";
        } else if (o->kind == OBJECT_QUEUE) {
            n->objects[i] = trace_string(names->log, o->name);
        } else if (!n->objects[i]) {
            n->objects[i] = "";
        }
    }
}

/* --- warps -------------------------------------------------------------------------------------------------------- */

static uint32_t site_role(struct names *names, uint32_t site) {
    if (!names->site_roles[site])
        names->site_roles[site] = role_of(names, site) + 1;
    return names->site_roles[site] - 1;
}

/* Is it something that a warp does in a task, if its line is in one? Accesses to global memory have as many events as
 * their addresses have patterns, and say less of a task than what the warp waits for and starts. */
static bool votes(const struct trace_event *e) {
    return e->site && e->warp != TRACE_NO_WARP && e->class != TRACE_LIFE && e->class != TRACE_GLOBAL;
}

/* The number with the most votes, the first of several; 0: there is no vote. */
static uint32_t most(const uint32_t *count, uint32_t roles) {
    uint32_t best = 0;
    for (uint32_t r = 1; r < roles; r++)
        if (count[r] > (best ? count[best] : 0))
            best = r;
    return best;
}

/* Of each warp number the task under which most events lie, in all CTAs of the log. They run the same program, so a
 * warp has one name everywhere, though one CTA of a pair does more of it. A task of all warps names none. */
static void find_tasks(struct names *names) {
    const struct trace_log *log = names->log;
    uint32_t count[TRACE_NO_WARP][NAMES_ROLES + 1] = {{0}};
    bool alike = true;
    for (uint32_t k = 0; k < log->num_clusters; k++)
        for (uint32_t i = 0; i < log->clusters[k].num_events; i++) {
            const struct trace_event *e = &log->clusters[k].events[i];
            if (votes(e))
                count[e->warp][site_role(names, e->site)]++;
            if (e->warp != TRACE_NO_WARP && e->warp >= names->num_warps)
                names->num_warps = e->warp + 1u;
        }
    for (uint32_t w = 0; w < names->num_warps; w++) {
        names->tasks[w] = most(count[w], NAMES_ROLES + 1);
        alike &= names->tasks[w] == names->tasks[0];
    }
    names->alike = alike && names->num_warps > 1;
    names->tasks_known = true;
}

/* A warp that has nothing to do with the task of its number is called by what it does itself. */
/* What the user calls a warp of this number, or NULL. */
static const char *called(struct names *names, uint32_t warp) {
    const char *at = names->called;
    for (; at && warp; warp--) {
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return at ? arena_strndup(&names->arena, at, strcspn(at, ",")) : NULL;
}

static void name_warps(struct names *names, const struct trace_cluster *c, struct names_cluster *n) {
    for (uint32_t i = 0; i < c->num_events; i++) {
        const struct trace_event *e = &c->events[i];
        n->ctas = e->rank >= n->ctas ? e->rank + 1u : n->ctas;
        if (e->warp != TRACE_NO_WARP && e->warp >= n->num_warps)
            n->num_warps = e->warp + 1u;
    }
    const uint32_t warps = n->ctas * n->num_warps, roles = names->num_roles + 1;
    uint32_t *count = xcalloc((size_t)warps * roles + 1, sizeof *count);
    for (uint32_t i = 0; i < c->num_events; i++) {
        const struct trace_event *e = &c->events[i];
        if (votes(e))
            count[(e->rank * n->num_warps + e->warp) * roles + site_role(names, e->site)]++;
    }
    n->warps = arena_array(&names->arena, warps, sizeof *n->warps);
    for (uint32_t w = 0; w < warps; w++) {
        const uint32_t *own = &count[w * roles], task = names->tasks[w % n->num_warps];
        const uint32_t best = task && own[task] ? task : most(own, roles);
        const char *own_name = called(names, w % n->num_warps);
        char text[24];
        snprintf(text, sizeof text, "warp %u", w % n->num_warps);
        n->warps[w] = own_name ?: best && !names->alike ? names->roles[best - 1] : keep(names, text);
    }
    xfree(count);
}

/* Of another run of the same kernel: as they are called there. */
static void name_warps_alike(const struct names *names, const struct trace_cluster *c, struct names_cluster *n) {
    const struct trace_log *like = names->like ? names->like->log : NULL;
    if (!like || strcmp(trace_string(like, like->kernel), trace_string(names->log, names->log->kernel)) != 0)
        return;
    for (uint32_t k = 0; k < like->num_clusters; k++) {
        if (like->clusters[k].number != c->number)
            continue;
        const struct names_cluster *its = names_of(names->like, k);
        for (uint32_t r = 0; r < n->ctas && r < its->ctas; r++)
            for (uint32_t w = 0; w < n->num_warps && w < its->num_warps; w++)
                n->warps[r * n->num_warps + w] = its->warps[r * its->num_warps + w];
        return;
    }
}

const char *names_warp(const struct names_cluster *n, uint32_t rank, uint32_t warp, char *buf, size_t size) {
    if (rank >= n->ctas || warp >= n->num_warps) {
        snprintf(buf, size, "warp %u", warp);
        return buf;
    }
    const char *const *own = &n->warps[rank * n->num_warps], *name = own[warp];
    bool alone = true;
    for (uint32_t w = 0; w < n->num_warps && alone; w++)
        alone = w == warp || strcmp(own[w], name) != 0;
    if (alone)
        return name;
    snprintf(buf, size, "%s %u", name, warp);
    return buf;
}

/* --- trampolines -------------------------------------------------------------------------------------------------- */

#define MANY 8u /* sites */

/* What is known of a source file. */
struct file_facts {
    uint32_t line;  /* of its calls */
    bool several;   /* lines */
    uint32_t sites; /* that it is the outermost one of */
};

static void find_trampolines(struct names *names) {
    const struct trace_log *log = names->log;
    struct file_facts *files = xcalloc(log->text_bytes, sizeof *files); /* by the place of the name */
    for (uint32_t i = 0; i < log->num_calls; i++) {
        struct file_facts *f = &files[log->calls[i].file];
        f->several |= f->line && f->line != log->calls[i].line;
        f->line = log->calls[i].line;
    }
    for (uint32_t site = 1; site <= log->num_sites; site++) {
        const struct trace_call *chain[NAMES_CHAIN];
        const uint32_t n = whole_chain(log, site, chain);
        if (n > 1 && n < NAMES_CHAIN)
            files[chain[n - 1]->file].sites++;
    }
    names->trampolines = arena_array(&names->arena, (size_t)log->num_calls + 1, sizeof *names->trampolines);
    for (uint32_t i = 0; i < log->num_calls; i++) {
        const struct file_facts *f = &files[log->calls[i].file];
        names->trampolines[i] = !f->several && f->sites >= MANY;
    }
    xfree(files);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

struct names *names_make(const struct trace_log *log, int64_t newest) {
    struct names *names = xcalloc(1, sizeof *names);
    names->log = log;
    names->files.newest = newest;
    find_trampolines(names);
    names->inits = arena_array(&names->arena, (size_t)log->num_sites + 1, sizeof *names->inits);
    names->site_roles = arena_array(&names->arena, (size_t)log->num_sites + 1, sizeof *names->site_roles);
    names->clusters = arena_array(&names->arena, (size_t)log->num_clusters + 1, sizeof *names->clusters);
    return names;
}

void names_free(struct names *names) {
    if (!names)
        return;
    source_free(&names->files);
    arena_free(&names->arena);
    xfree(names);
}

void names_like(struct names *names, struct names *other) { names->like = other; }

void names_call_warps(struct names *names, const char *list) { names->called = list; }

bool names_alike(const struct names *names) { return names->alike && !names->called; }

const struct names_cluster *names_of(struct names *names, uint32_t cluster) {
    struct names_cluster **at = &names->clusters[cluster];
    if (*at)
        return *at;
    if (!names->tasks_known)
        find_tasks(names);
    const struct trace_cluster *c = &names->log->clusters[cluster];
    struct names_cluster *n = *at = arena_alloc(&names->arena, sizeof *n);
    n->ctas = c->ctas;
    name_objects(names, c, n);
    name_warps(names, c, n);
    name_warps_alike(names, c, n);
    names_find_ranges(names, c, n);
    return n;
}
