/* view/follow.c - the events of one object of a log alone; contract in follow.h. */
#include "view/follow.h"

#include "base/heap.h"
#include "view/tiles.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- what is asked for -------------------------------------------------------------------------------------------- */

enum target_kind { TARGET_NAME, TARGET_ADDRESS, TARGET_COLUMNS, TARGET_TILE };

struct target {
    enum target_kind kind;
    char name[128];
    uint32_t from, to; /* an address, or bytes or columns [from, to), or a tile */
    uint32_t rank;
    uint64_t cluster; /* its number in the grid */
    bool has_rank, has_cluster;
};

static bool number_in(const char **at, uint32_t *value) {
    char *end;
    const unsigned long n = isdigit((unsigned char)**at) ? strtoul(*at, &end, 0) : UINT64_MAX;
    if (n > UINT32_MAX - 1)
        return false;
    *value = (uint32_t)n;
    *at = end;
    return true;
}

/* "@cta1" or "@cluster0", from the end of the text. */
static bool take_place(char *text, struct target *t) {
    char *at = strrchr(text, '@');
    uint32_t n;
    if (!at)
        return false;
    const char *digits = at + 1;
    const bool cta = strncmp(digits, "cta", 3) == 0, cluster = strncmp(digits, "cluster", 7) == 0;
    digits += cta ? 3 : cluster ? 7 : 0;
    if ((!cta && !cluster) || !number_in(&digits, &n) || *digits)
        return false;
    if (cta) {
        t->has_rank = true;
        t->rank = n;
    } else {
        t->has_cluster = true;
        t->cluster = n;
    }
    *at = 0;
    return true;
}

static bool range_in(const char *text, uint32_t *from, uint32_t *to) {
    if (!number_in(&text, from))
        return false;
    *to = *from + 1;
    if (*text != '-')
        return *text == 0;
    text++;
    if (!number_in(&text, to) || *text || *to < *from)
        return false;
    ++*to;
    return true;
}

static bool parse(const char *what, struct target *t) {
    *t = (struct target){.kind = TARGET_NAME};
    if (strlen(what) >= sizeof t->name)
        return false;
    memcpy(t->name, what, strlen(what) + 1);
    while (take_place(t->name, t))
        ;
    if (strncmp(t->name, "tmem:", 5) == 0) {
        t->kind = TARGET_COLUMNS;
        return range_in(t->name + 5, &t->from, &t->to);
    }
    if (strncmp(t->name, "tile:", 5) == 0) {
        t->kind = TARGET_TILE;
        return range_in(t->name + 5, &t->from, &t->to) && t->to == t->from + 1;
    }
    if (t->name[0] == '0' && t->name[1] == 'x') {
        t->kind = TARGET_ADDRESS;
        return range_in(t->name, &t->from, &t->to);
    }
    return t->name[0] && !strchr(t->name, '@');
}

bool follow_parse(const char *what, char *why, size_t size) {
    struct target t;
    if (parse(what, &t))
        return true;
    snprintf(why, size,
             "expected a name as full[0], a shared address as 0x418, tmem:0-255 or tile:3, then perhaps @cta1, "
             "@cluster2 or both");
    return false;
}

/* --- where -------------------------------------------------------------------------------------------------------- */

/* The cluster in log->clusters; false where it is not in the log. */
static bool find_cluster(const struct trace_log *log, struct target *t, uint32_t *cluster) {
    const bool single = log->cluster.x * log->cluster.y * log->cluster.z <= 1;
    if (single && t->has_rank && !t->has_cluster) {
        t->cluster = t->rank;
        t->has_cluster = true;
        t->rank = 0;
    }
    for (*cluster = 0; *cluster < log->num_clusters; ++*cluster)
        if (!t->has_cluster || log->clusters[*cluster].number == t->cluster)
            return t->rank < log->clusters[*cluster].ctas || log->clusters[*cluster].ctas == 0;
    return false;
}

/* --- what touches it ---------------------------------------------------------------------------------------------- */

/* What is followed in a cluster: objects, and operations with all their events. */
struct marks {
    bool *objects, *ops; /* by number */
    bool columns;        /* allocations, too, of [from, to) in tensor memory */
    uint32_t rank, from, to;
    uint32_t warp, begin, end; /* of a tile: a warp's events of this stretch */
    bool any;
};

static bool overlaps(uint32_t from, uint32_t to, uint64_t at, uint64_t bytes) { return at < to && from < at + bytes; }

static void mark_object(struct marks *m, uint32_t number) {
    m->objects[number] = true;
    m->any = true;
}

static void mark_op(struct marks *m, uint32_t number) {
    m->ops[number] = true;
    m->any = true;
}

/* Mbarriers at `at`, and who signals them. */
static bool mark_mbarrier(const struct say *s, struct marks *m, uint32_t rank, uint32_t at) {
    bool found = false;
    for (uint32_t i = 0; i < s->c->num_objects; i++)
        if (s->c->objects[i].kind == OBJECT_MBARRIER && s->c->objects[i].rank == rank && s->c->objects[i].at == at) {
            mark_object(m, i + 1);
            found = true;
        }
    for (uint32_t i = 0; found && i < s->c->num_ops; i++) {
        const struct trace_op *op = &s->c->ops[i];
        const bool there = op->ctas ? op->ctas >> rank & 1 : op->signals == rank + 1;
        if (op->signals && op->signals_off == at && there)
            mark_op(m, i + 1);
    }
    return found;
}

/* A matrix in shared memory begins at its descriptor's first 14 bits, in 16 bytes (9.7.16.4.1); of a pair each CTA
 * reads its own. */
static bool reads_matrix(const struct trace_op *op, uint64_t desc, uint32_t rank, uint32_t from, uint32_t to) {
    const uint32_t own = op->from ? op->from - 1 : op->rank;
    const uint32_t at = (uint32_t)(desc & 0x3fff) << 4;
    return (rank == own || (op->cta_group == 2 && rank == (own ^ 1))) && at >= from && at < to;
}

static bool touches_shared(const struct trace_op *op, uint32_t rank, uint32_t from, uint32_t to) {
    switch ((enum event_agent)op->agent) {
    case AGENT_TMA:
    case AGENT_BULK:
    case AGENT_CP_ASYNC:
        return (op->to == rank + 1 && overlaps(from, to, op->to_off, op->bytes)) ||
               (op->from == rank + 1 && overlaps(from, to, op->from_off, op->bytes));
    case AGENT_CLC:
        return op->ctas >> rank & 1 && overlaps(from, to, op->to_off, op->bytes);
    case AGENT_TENSOR_CORE:
        return reads_matrix(op, op->b, rank, from, to) || (!op->a_in_tmem && reads_matrix(op, op->a, rank, from, to));
    case AGENT_TENSOR_COPY:
        return op->a && reads_matrix(op, op->a, rank, from, to);
    default:
        return false;
    }
}

static void mark_shared(const struct say *s, struct marks *m, uint32_t rank, uint32_t from, uint32_t to) {
    for (uint32_t i = 0; i < s->c->num_ops; i++)
        if (touches_shared(&s->c->ops[i], rank, from, to))
            mark_op(m, i + 1);
}

static bool touches_columns(const struct trace_op *op, const struct marks *m) {
    const uint32_t own = op->to ? op->to - 1 : op->from ? op->from - 1 : op->rank;
    uint32_t first = (op->to ? op->to_off : op->from_off) & 0xffff, end = first + op->n;
    if (op->agent != AGENT_TENSOR_CORE && op->agent != AGENT_TENSOR_COPY && op->agent != AGENT_TENSOR_LDST)
        return false;
    if (m->rank != own && !(op->cta_group == 2 && m->rank == (own ^ 1)))
        return false;
    if (op->agent == AGENT_TENSOR_CORE)
        first = names_accumulator(op, &end);
    if (op->a_in_tmem && overlaps(m->from, m->to, op->a & 0xffff, 8))
        return true;
    return overlaps(m->from, m->to, first, end - first);
}

static void mark_columns(const struct say *s, struct marks *m, uint32_t rank, uint32_t from, uint32_t to) {
    m->columns = true;
    m->rank = rank;
    m->from = from;
    m->to = to;
    for (uint32_t i = 0; i < s->c->num_ops; i++)
        if (touches_columns(&s->c->ops[i], m))
            mark_op(m, i + 1);
}

/* The UMMAs of a tile, and what their warp did from the first of them until the next tile's. */
static void mark_tile(const struct say *s, struct marks *m, const struct target *t) {
    uint32_t *tiles = tiles_of(s->c), next = 0;
    for (uint32_t i = 0; i < s->c->num_ops; i++) {
        const struct trace_op *op = &s->c->ops[i];
        if (tiles[i] == TILES_NONE || (t->has_rank && op->rank != t->rank) || !op->issued)
            continue;
        if (tiles[i] == t->from && (!m->any || op->rank == m->rank)) {
            m->rank = op->rank;
            m->warp = op->warp;
            m->begin = m->any ? m->begin : op->issued;
            m->end = op->issued;
            mark_op(m, i + 1);
        } else if (m->any && op->rank == m->rank && tiles[i] == t->from + 1 && !next) {
            next = op->issued;
        }
    }
    xfree(tiles);
    if (m->any) /* its last commit, and no wait for the next tile's operands */
        m->end = next ? next - 1 : s->c->num_events;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* By the name of an object or a range; "full" is also full[0]'s where no other has it. */
static void mark_name(const struct say *s, struct marks *m, const struct target *t) {
    for (uint32_t i = 0; i < s->c->num_objects; i++) {
        const struct trace_object *o = &s->c->objects[i];
        if (strcmp(s->n->objects[i], t->name) != 0 || (o->rank != t->rank && o->kind != OBJECT_CLUSTER_BARRIER))
            continue;
        if (o->kind == OBJECT_MBARRIER)
            mark_mbarrier(s, m, o->rank, o->at);
        mark_object(m, i + 1);
    }
    for (uint32_t i = 0; i < s->n->num_smem && !m->any; i++)
        if (s->n->smem[i].rank == t->rank && strcmp(s->n->smem[i].name, t->name) == 0)
            mark_shared(s, m, t->rank, s->n->smem[i].from, s->n->smem[i].to);
    for (uint32_t i = 0; i < s->n->num_tmem && !m->any; i++)
        if (s->n->tmem[i].rank == t->rank && strcmp(s->n->tmem[i].name, t->name) == 0)
            mark_columns(s, m, t->rank, s->n->tmem[i].from, s->n->tmem[i].to);
}

static void mark(const struct say *s, struct marks *m, const struct target *t) {
    switch (t->kind) {
    case TARGET_NAME:
        mark_name(s, m, t);
        break;
    case TARGET_ADDRESS:
        if (!mark_mbarrier(s, m, t->rank, t->from))
            mark_shared(s, m, t->rank, t->from, t->to);
        break;
    case TARGET_COLUMNS:
        mark_columns(s, m, t->rank, t->from, t->to);
        break;
    case TARGET_TILE:
        mark_tile(s, m, t);
        break;
    }
}

/* One more name of a list; not the one before again. */
static void list_name(FILE *out, const char **before, const char *name) {
    if (strcmp(*before, name) == 0)
        return;
    fprintf(out, "%s %s", **before ? "," : "", name);
    *before = name;
}

static void list_names(FILE *out, const struct say *s, uint32_t rank) {
    const char *before = "";
    fprintf(out, "cta%u of cluster %llu has", rank, (unsigned long long)s->c->number);
    for (uint32_t i = 0; i < s->c->num_objects; i++)
        if (s->c->objects[i].rank == rank || s->c->objects[i].kind == OBJECT_CLUSTER_BARRIER)
            list_name(out, &before, s->n->objects[i]);
    for (uint32_t i = 0; i < s->n->num_smem; i++)
        if (s->n->smem[i].rank == rank)
            list_name(out, &before, s->n->smem[i].name);
    for (uint32_t i = 0; i < s->n->num_tmem; i++)
        if (s->n->tmem[i].rank == rank)
            list_name(out, &before, s->n->tmem[i].name);
    fputs(*before ? "\n" : " nothing with a name\n", out);
}

void follow_list(FILE *out, const struct trace_log *log, struct names *names, const char *what) {
    struct target t;
    uint32_t cluster;
    if (!parse(what, &t))
        return;
    if (!find_cluster(log, &t, &cluster)) {
        fprintf(out, "the log has %u cluster%s of %u CTA%s\n", log->num_clusters, log->num_clusters == 1 ? "" : "s",
                log->num_clusters ? log->clusters[0].ctas : 0,
                log->num_clusters && log->clusters[0].ctas == 1 ? "" : "s");
        return;
    }
    const struct say s = say_of(log, names, cluster, NULL);
    list_names(out, &s, t.rank);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static bool is_shown(const struct marks *m, const struct trace_event *e, uint32_t number) {
    if ((e->object && m->objects[e->object]) || (e->op && m->ops[e->op] && e->class == TRACE_OP))
        return true;
    if (m->columns && e->class == TRACE_LIFE &&
        (e->kind == LIFE_TMEM_ALLOC || e->kind == LIFE_TMEM_CLOSING || e->kind == LIFE_TMEM_DEALLOC))
        return e->pending == m->rank && overlaps(m->from, m->to, e->value, e->count);
    return m->end && number >= m->begin && number <= m->end && e->rank == m->rank && e->warp == m->warp &&
           e->class != TRACE_STEP;
}

static void put_head(struct rows *r, const struct say *s, const char *what) {
    char kernel[128];
    rows_note(r, "%s of %s, cluster %llu", what,
              diag_function(trace_string(s->log, s->log->kernel), kernel, sizeof kernel),
              (unsigned long long)s->c->number);
    rows_head(r, s);
}

bool follow_print(struct rows *r, const struct trace_log *log, struct names *names, const struct say_times *times,
                  const char *what, char *why, size_t size) {
    struct target t;
    uint32_t cluster, shown = 0;
    if (!follow_parse(what, why, size))
        return false;
    parse(what, &t);
    if (!find_cluster(log, &t, &cluster)) {
        snprintf(why, size, "%s: the log has no such CTA or cluster", what);
        return false;
    }
    const struct say s = say_of(log, names, cluster, times);
    struct marks m = {.objects = xcalloc((size_t)s.c->num_objects + 1, sizeof *m.objects),
                      .ops = xcalloc((size_t)s.c->num_ops + 1, sizeof *m.ops)};
    mark(&s, &m, &t);
    for (uint32_t n = 0; n < s.c->num_events; n++) {
        const uint32_t i = say_nth(&s, n);
        if (!is_shown(&m, &s.c->events[i - 1], i))
            continue;
        if (!shown++)
            put_head(r, &s, what);
        rows_event(r, &s, i);
    }
    xfree(m.objects);
    xfree(m.ops);
    if (!shown)
        snprintf(why, size, "%s: nothing in the log has to do with it", what);
    return shown != 0;
}
