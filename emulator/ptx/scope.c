/* ptx/scope.c - what names mean where: braces nest, inner declarations shadow outer ones, and a label is visible in
 * the whole of the scope that declares it, also before its place (9.7.12.1, 4.3.1). */
#include "ptx/parser.h"

#include "base/fatal.h"

#include <string.h>

void ptx_scope_open(struct ptx_parser *p) {
    if (p->scope && p->scope->depth >= PTX_MAX_NESTING)
        ptx_error(p, &p->tok, "more than %d levels of braces", PTX_MAX_NESTING);
    struct ptx_scope *s = arena_alloc(&p->tmp, sizeof *s);
    s->outer = p->scope;
    s->depth = p->scope ? p->scope->depth + 1 : 0;
    p->scope = s;
}

static void add_ref(struct ptx_scope *s, struct ptx_label_ref *r) {
    r->next = NULL;
    if (s->last_ref)
        s->last_ref->next = r;
    else
        s->refs = r;
    s->last_ref = r;
}

static void hand_out(struct ptx_scope *s) { /* the refs of a scope without labels of its own */
    if (!s->refs)
        return;
    if (s->outer->last_ref)
        s->outer->last_ref->next = s->refs;
    else
        s->outer->refs = s->refs;
    s->outer->last_ref = s->last_ref;
}

static void resolve_labels(struct ptx_parser *p, struct ptx_scope *s) {
    bool outermost = s->depth <= 2; /* 1: a function's parameters, 2: its body; labels end there */
    if (!s->has_labels && !outermost) {
        hand_out(s);
        return;
    }
    for (struct ptx_label_ref *r = s->refs, *next; r; r = next) {
        next = r->next;
        struct ptx_binding *b = r->name->top;
        if (b && b->scope == s && b->kind == PTX_BIND_LABEL)
            *r->target = b->label;
        else if (!outermost)
            add_ref(s->outer, r);
        else
            ptx_unknown(p, &r->at, "label");
    }
}

void ptx_scope_close(struct ptx_parser *p) {
    struct ptx_scope *s = p->scope;
    if (s->depth > 0)
        resolve_labels(p, s);
    for (struct ptx_binding *b = s->bindings; b; b = b->in_scope) {
        if (b->kind == PTX_BIND_RANGE)
            b->name->range = b->outer;
        else
            b->name->top = b->outer;
    }
    p->scope = s->outer;
}

static struct ptx_binding *push(struct ptx_parser *p, struct ptx_scope *s, struct ptx_name *name,
                                enum ptx_binding_kind kind) {
    struct ptx_binding *b = arena_alloc(&p->tmp, sizeof *b);
    struct ptx_binding **stack = kind == PTX_BIND_RANGE ? &name->range : &name->top;
    b->kind = kind;
    b->name = name;
    b->scope = s;
    b->outer = *stack;
    *stack = b;
    b->in_scope = s->bindings;
    s->bindings = b;
    s->has_labels |= kind == PTX_BIND_LABEL;
    return b;
}

/* Is `name` one of a range declared in this very scope? */
static bool in_range_here(const struct ptx_parser *p, const struct ptx_name *name) {
    const struct ptx_binding *r = name->prefix ? name->prefix->range : NULL;
    return r && r->scope == p->scope && name->suffix < r->range.count;
}

struct ptx_binding *ptx_bind(struct ptx_parser *p, const struct ptx_token *at, enum ptx_binding_kind kind) {
    struct ptx_binding *old = kind == PTX_BIND_RANGE ? at->name->range : at->name->top;
    if ((old && old->scope == p->scope) || (kind != PTX_BIND_RANGE && in_range_here(p, at->name)))
        ptx_error(p, at, "'%.200s' is declared twice in this scope", at->name->text);
    else if (at->name->sreg)
        ptx_error(p, at, "'%.200s' is a special register", at->name->text);
    return push(p, p->scope, at->name, kind);
}

static const struct ptx_reg *make_reg(struct ptx_parser *p, struct ptx_name *name, enum ptx_type type) {
    struct ptx_body *b = &p->body;
    if (b->num_regs >= b->cap_regs)
        fatal_broken("ptx: a body names more registers than it has names");
    struct ptx_reg *r = &b->regs[b->num_regs];
    r->name = name->text;
    r->type = type;
    r->index = b->num_regs++;
    return r;
}

struct ptx_binding *ptx_lookup(struct ptx_parser *p, struct ptx_name *name) {
    struct ptx_binding *b = name->top, *r = name->prefix ? name->prefix->range : NULL;
    while (r && name->suffix >= r->range.count)
        r = r->outer;
    if (!r || (b && b->scope->depth >= r->scope->depth) || p->failed)
        return b;
    struct ptx_binding *made = push(p, r->scope, name, PTX_BIND_REG);
    made->reg = make_reg(p, name, r->range.type);
    return made;
}

const struct ptx_reg *ptx_new_reg(struct ptx_parser *p, const struct ptx_token *at, enum ptx_type type) {
    struct ptx_binding *b = ptx_bind(p, at, PTX_BIND_REG);
    if (!p->failed)
        b->reg = make_reg(p, at->name, type);
    return b->reg;
}

void ptx_new_range(struct ptx_parser *p, const struct ptx_token *at, enum ptx_type type, uint32_t count) {
    struct ptx_binding *b = ptx_bind(p, at, PTX_BIND_RANGE);
    b->range.count = count;
    b->range.type = type;
}

void ptx_label_use(struct ptx_parser *p, const struct ptx_token *at, uint32_t *target) {
    struct ptx_label_ref *r = arena_alloc(&p->tmp, sizeof *r);
    r->name = at->name;
    r->target = target;
    r->at = *at;
    add_ref(p->scope, r);
}

/* Levenshtein distance of two names of at most 63 characters. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb) {
    unsigned row[64];
    for (unsigned j = 0; j <= nb; j++)
        row[j] = j;
    for (unsigned i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            unsigned replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            unsigned shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replace < shift ? replace : shift;
        }
    }
    return row[nb];
}

const char *ptx_nearest(struct ptx_parser *p, const char *name) {
    size_t n = strlen(name);
    const char *best = NULL;
    unsigned best_distance = n < 4 ? 2 : 3, looked_at = 0;
    for (struct ptx_scope *s = p->scope; s; s = s->outer) {
        for (struct ptx_binding *b = s->bindings; b && looked_at < 100000; b = b->in_scope, looked_at++) {
            size_t m = b->name->len;
            if (b->kind == PTX_BIND_RANGE || n > 63 || m > 63 || (n > m ? n - m : m - n) >= best_distance)
                continue;
            unsigned d = distance(name, n, b->name->text, m);
            if (d > 0 && (d < best_distance || (d == best_distance && best && strcmp(b->name->text, best) < 0))) {
                best = b->name->text;
                best_distance = d;
            }
        }
    }
    return best;
}
