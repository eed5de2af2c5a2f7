/* view/names_ranges.c - names of ranges of shared and tensor memory; contract in names.h.
 *
 * A copy's destination is called what its line calls the operand: `load(to, a, ...)` fills A. Of the lines that the
 * instruction was inlined from the innermost one counts that copies of one tensor map alone come from, and of its words
 * the first one that the lines of other maps have not: a letter, if there is such a one. Ranges that signal different
 * mbarriers are different stages.
 */
#include "base/compare.h"
#include "base/heap.h"
#include "view/names_of.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what lines call what they fill ------------------------------------------------------------------------------- */

/* A site with copies, and the line of its chain that tells it from those of other maps. */
struct fill {
    uint32_t site;
    uint64_t map;  /* 0: it has none */
    bool mixed;    /* copies of several maps */
    bool has_line; /* of `line` */
    char line[SOURCE_LINE];
};
struct fills {
    struct fill *list;
    uint32_t count, cap;
    uint32_t *of_site; /* number from 1 in the list, or 0 */
};

static bool is_copy(const struct trace_op *op) {
    return (op->agent == AGENT_TMA || op->agent == AGENT_BULK || op->agent == AGENT_CLC) && !op->follows;
}

static void add_fill(struct fills *f, const struct trace_op *op) {
    uint32_t *number = &f->of_site[op->site];
    if (*number) {
        f->list[*number - 1].mixed |= f->list[*number - 1].map != op->map;
        return;
    }
    f->list = xgrow(f->list, f->count, &f->cap, sizeof *f->list);
    f->list[f->count] = (struct fill){.site = op->site, .map = op->map};
    *number = ++f->count;
}

/* Do copies of another map come from the call's line, too? */
static bool is_shared(const struct names *names, const struct fills *f, const struct fill *own,
                      const struct trace_call *call) {
    const struct trace_call *chain[NAMES_CHAIN];
    for (uint32_t i = 0; i < f->count; i++) {
        const struct fill *other = &f->list[i];
        if (other == own || (other->map == own->map && !other->mixed))
            continue;
        const uint32_t n = names_chain(names, other->site, chain);
        for (uint32_t j = 0; j < n; j++)
            if (chain[j]->line == call->line && chain[j]->file == call->file)
                return true;
    }
    return false;
}

static void find_line(struct names *names, const struct fills *f, struct fill *own) {
    const struct trace_call *chain[NAMES_CHAIN];
    const uint32_t n = own->mixed ? 0 : names_chain(names, own->site, chain);
    for (uint32_t i = 0; i < n && !own->has_line; i++)
        if (!own->map || !is_shared(names, f, own, chain[i]))
            own->has_line =
                source_line(&names->files, trace_string(names->log, chain[i]->file), chain[i]->line, own->line);
}

static bool has_word(const char *line, const char *word, size_t length) {
    size_t n;
    for (const char *at = line, *w; (w = source_word(&at, &n)) != NULL;)
        if (n == length && memcmp(w, word, n) == 0)
            return true;
    return false;
}

/* Is the word in no line of another map? */
static bool is_own(const struct fills *f, const struct fill *own, const char *word, size_t length) {
    for (uint32_t i = 0; i < f->count; i++)
        if (f->list[i].has_line && f->list[i].map && f->list[i].map != own->map &&
            has_word(f->list[i].line, word, length))
            return false;
    return true;
}

static bool find_word(const struct fills *f, const struct fill *own, char *out, size_t size) {
    size_t n;
    bool found = false;
    for (const char *at = own->line, *w; (w = source_word(&at, &n)) != NULL;) {
        if (at[strspn(at, " ")] == '(' || *at == '<' || !is_own(f, own, w, n) || (found && n > 1))
            continue;
        snprintf(out, size, "%.*s", (int)(n < 40 ? n : 40), w);
        found = true;
        if (n == 1) {
            out[0] = (char)toupper((unsigned char)out[0]);
            return true;
        }
    }
    return found;
}

/* Once for a log. */
static void read_fills(struct names *names) {
    const struct trace_log *log = names->log;
    struct fills f = {.of_site = xcalloc((size_t)log->num_sites + 1, sizeof *f.of_site)};
    char text[64];
    for (uint32_t c = 0; c < log->num_clusters; c++)
        for (uint32_t i = 0; i < log->clusters[c].num_ops; i++)
            if (log->clusters[c].ops[i].site && is_copy(&log->clusters[c].ops[i]))
                add_fill(&f, &log->clusters[c].ops[i]);
    for (uint32_t i = 0; i < f.count; i++)
        find_line(names, &f, &f.list[i]);
    names->fills = arena_array(&names->arena, (size_t)log->num_sites + 1, sizeof *names->fills);
    for (uint32_t i = 0; i < f.count; i++) {
        const struct fill *own = &f.list[i];
        if (own->has_line &&
            (own->map ? find_word(&f, own, text, sizeof text) : source_argument(own->line, text, sizeof text)))
            names->fills[own->site] = arena_strndup(&names->arena, text, strlen(text));
    }
    xfree(f.list);
    xfree(f.of_site);
    names->fills_known = true;
}

/* --- ranges ------------------------------------------------------------------------------------------------------- */

struct piece {
    uint32_t rank, from, to;
    const char *word;
    int32_t stage; /* of the mbarrier that is signalled, or -1 */
};

static int by_word(const void *a, const void *b) {
    const struct piece *p = a, *q = b;
    return COMPARE(p->rank, q->rank) ?: strcmp(p->word, q->word) ?: COMPARE(p->stage, q->stage)
               ?: COMPARE(p->from, q->from) ?: COMPARE(p->to, q->to);
}

static int by_place(const void *a, const void *b) {
    const struct names_range *p = a, *q = b;
    return COMPARE(p->rank, q->rank) ?: COMPARE(p->from, q->from) ?: COMPARE(p->to, q->to) ?: strcmp(p->name, q->name);
}

/* The index in the name of the mbarrier that lies there: 2 of "full[2]"; -1: there is none. */
static int32_t stage_of(const struct trace_cluster *c, const struct names_cluster *n, const struct trace_op *op) {
    for (uint32_t i = 0; op->signals && i < c->num_objects; i++)
        if (c->objects[i].kind == OBJECT_MBARRIER && c->objects[i].rank == op->signals - 1 &&
            c->objects[i].at == op->signals_off) {
            const char *open = strchr(n->objects[i], '[');
            return open ? (int32_t)strtol(open + 1, NULL, 10) : -1;
        }
    return -1;
}

/* The same piece of every second operation is one: a ring has few. */
struct pieces {
    struct piece *list;
    uint32_t count, cap;
    struct piece seen[256];
};

static void add_piece(struct pieces *p, uint32_t rank, uint64_t from, uint64_t bytes, const char *word, int32_t stage) {
    if (bytes == 0 || from + bytes > UINT32_MAX)
        return;
    const struct piece piece = {rank, (uint32_t)from, (uint32_t)(from + bytes), word, stage};
    struct piece *seen = &p->seen[(from / 16 + rank * 37) % 256];
    if (seen->word == word && seen->rank == rank && seen->from == piece.from && seen->to == piece.to &&
        seen->stage == stage)
        return;
    *seen = piece;
    p->list = xgrow(p->list, p->count, &p->cap, sizeof *p->list);
    p->list[p->count++] = piece;
}

static void add_range(struct names *names, struct names_range **list, uint32_t *count, uint32_t *cap,
                      const struct piece *p) {
    char text[80];
    *list = arena_grow(&names->arena, *list, *count, cap, sizeof **list);
    if (p->stage < 0)
        snprintf(text, sizeof text, "%s", p->word);
    else
        snprintf(text, sizeof text, "%s stage %d", p->word, p->stage);
    (*list)[(*count)++] =
        (struct names_range){p->rank, p->from, p->to, arena_strndup(&names->arena, text, strlen(text))};
}

/* Puts together what touches and has one name. */
static struct names_range *merge(struct names *names, struct pieces *p, uint32_t *count) {
    struct names_range *list = NULL;
    uint32_t cap = 0;
    if (p->count)
        qsort(p->list, p->count, sizeof *p->list, by_word);
    for (uint32_t i = 0, end; i < p->count; i = end) {
        struct piece whole = p->list[i];
        for (end = i + 1; end < p->count; end++) {
            const struct piece *next = &p->list[end];
            if (next->rank != whole.rank || next->stage != whole.stage || strcmp(next->word, whole.word) != 0 ||
                next->from > whole.to)
                break;
            whole.to = next->to > whole.to ? next->to : whole.to;
        }
        add_range(names, &list, count, &cap, &whole);
    }
    if (list)
        qsort(list, *count, sizeof *list, by_place);
    return list;
}

static void find_smem(struct names *names, const struct trace_cluster *c, struct names_cluster *n) {
    struct pieces p = {0};
    for (uint32_t i = 0; i < c->num_ops; i++) {
        const struct trace_op *op = &c->ops[i];
        const char *word = op->site ? names->fills[op->site] : NULL;
        if (!is_copy(op))
            continue;
        for (uint32_t r = 0; op->agent == AGENT_CLC && r < n->ctas && r < 16; r++)
            if (op->ctas >> r & 1)
                add_piece(&p, r, op->to_off, op->bytes, word ? word : "answer", stage_of(c, n, op));
        if (op->to && op->agent != AGENT_CLC)
            add_piece(&p, op->to - 1, op->to_off, op->bytes, word ? word : "copies", stage_of(c, n, op));
        if (op->from)
            add_piece(&p, op->from - 1, op->from_off, op->bytes, word ? word : "stores", -1);
    }
    n->smem = merge(names, &p, &n->num_smem);
    xfree(p.list);
}

uint32_t names_accumulator(const struct trace_op *op, uint32_t *end) {
    const uint32_t first = op->to_off & 0xffff;
    /* layout B halves the columns: M of 128 rows over two CTAs (9.7.16.10.5.2) */
    *end = first + (op->cta_group == 2 && op->m == 128 ? op->n / 2 : op->n);
    return first;
}

static void add_columns(struct pieces *p, const struct trace_op *op, uint32_t first, uint32_t end, const char *word) {
    add_piece(p, op->to - 1, first, end > first ? end - first : 0, word, -1);
    if (op->cta_group == 2)
        add_piece(p, (op->to - 1) ^ 1, first, end > first ? end - first : 0, word, -1);
}

/* Accumulators are told apart by their number, where a CTA has several; they do not merge. */
static void find_tmem(struct names *names, const struct trace_cluster *c, struct names_cluster *n) {
    struct pieces p = {0};
    char text[32];
    uint32_t cap = 0, number = 0;
    for (uint32_t i = 0; i < c->num_ops; i++) {
        const struct trace_op *op = &c->ops[i];
        uint32_t end;
        const uint32_t first = names_accumulator(op, &end);
        if (op->agent != AGENT_TENSOR_CORE || !op->to)
            continue;
        add_columns(&p, op, first, end, "D");
        if (op->a_in_tmem) /* 32 bytes of a row */
            add_columns(&p, op, (uint32_t)op->a & 0xffff, ((uint32_t)op->a & 0xffff) + 8, "A");
    }
    if (p.count)
        qsort(p.list, p.count, sizeof *p.list, by_word);
    for (uint32_t i = 0; i < p.count; i++) {
        if (i && by_word(&p.list[i - 1], &p.list[i]) == 0)
            continue;
        struct piece *at = &p.list[i];
        const bool first = !i || p.list[i - 1].rank != at->rank || strcmp(p.list[i - 1].word, at->word) != 0;
        number = first ? 0 : number + 1;
        bool alone = first;
        for (uint32_t j = i + 1; j < p.count && alone && p.list[j].rank == at->rank && p.list[j].word == at->word; j++)
            alone = by_word(at, &p.list[j]) == 0;
        snprintf(text, sizeof text, alone ? "%s" : "%s %u", at->word, number);
        n->tmem = arena_grow(&names->arena, n->tmem, n->num_tmem, &cap, sizeof *n->tmem);
        n->tmem[n->num_tmem++] =
            (struct names_range){at->rank, at->from, at->to, arena_strndup(&names->arena, text, strlen(text))};
    }
    if (n->tmem)
        qsort(n->tmem, n->num_tmem, sizeof *n->tmem, by_place);
    xfree(p.list);
}

void names_find_ranges(struct names *names, const struct trace_cluster *c, struct names_cluster *n) {
    if (!names->fills_known)
        read_fills(names);
    find_smem(names, c, n);
    find_tmem(names, c, n);
}

const struct names_range *names_range_at(const struct names_range *list, uint32_t count, uint32_t rank, uint32_t at) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i].rank == rank && at >= list[i].from && at < list[i].to)
            return &list[i];
    return NULL;
}
