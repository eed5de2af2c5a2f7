/* ptx/parse.c - modules: the directives outside of functions, and the calls of ir.h. */
#include "ptx/parser.h"

#include "base/heap.h"
#include "base/source.h"

#include <stdio.h>
#include <string.h>

static void version(struct ptx_parser *p) { /* .version 9.0 opens every module (11.1.1) */
    if (ptx_directive(p) != PTX_DIR_version) {
        ptx_expected(p, "'.version', which opens every PTX module (PTX ISA 11.1.1)");
        return;
    }
    ptx_next(p);
    char text[16] = "";
    uint32_t n = p->tok.len < sizeof text - 1 ? p->tok.len : (uint32_t)sizeof text - 1;
    memcpy(text, p->lx.text + p->tok.pos, n);
    int end = 0;
    if (p->tok.kind != PTX_TK_F64 ||
        sscanf(text, "%2u.%2u%n", &p->module->version_major, &p->module->version_minor, &end) != 2 ||
        (uint32_t)end != p->tok.len)
        ptx_expected(p, "a version such as 9.0");
    ptx_next(p);
}

static void target(struct ptx_parser *p) { /* .target sm_100a, debug (11.1.2) */
    if (ptx_directive(p) != PTX_DIR_target) {
        ptx_expected(p, "'.target', which follows '.version' (PTX ISA 11.1.2)");
        return;
    }
    ptx_next(p);
    struct ptx_token t = p->tok;
    if (!ptx_expect(p, PTX_TK_IDENT, "a target such as sm_100a"))
        return;
    if (t.len >= sizeof p->module->target)
        ptx_error(p, &t, "this target has a longer name than any that exists");
    else
        memcpy(p->module->target, t.name->text, t.len);
    while (ptx_accept(p, ','))
        ptx_expect(p, PTX_TK_IDENT, "a target option");
}

static void address_size(struct ptx_parser *p) {
    ptx_next(p);
    if (p->tok.kind == PTX_TK_INT && p->tok.value != 64)
        ptx_error(p, &p->tok, "only 64-bit addresses are supported (PTX ISA 11.1.3)");
    ptx_expect(p, PTX_TK_INT, "64");
}

void ptx_file(struct ptx_parser *p) { /* .file 1 "name" [, time, size]; its uses may come before it (11.5.3) */
    ptx_next(p);
    struct ptx_token n = p->tok, s;
    if (!ptx_expect(p, PTX_TK_INT, "a file number"))
        return;
    s = p->tok;
    if (n.value >= PTX_MAX_FILES)
        ptx_error(p, &n, "file numbers end at %d", PTX_MAX_FILES - 1);
    if (!ptx_expect(p, PTX_TK_STRING, "the name of a file"))
        return;
    while (ptx_accept(p, ','))
        ptx_expect(p, PTX_TK_INT, "a number");
    uint32_t index = p->failed ? 0 : (uint32_t)n.value;
    while (p->num_files <= index) {
        p->files = xgrow(p->files, p->num_files, &p->cap_files, sizeof *p->files);
        p->files[p->num_files++] = NULL;
    }
    char *name = arena_strndup(p->keep, p->lx.text + s.pos + 1, s.len - 2);
    source_plain(name, strlen(name)); /* reports print it */
    p->files[index] = name;
}

static void section(struct ptx_parser *p) { /* debugging data (11.5.2): stepped over */
    ptx_next(p);
    if (p->tok.kind != PTX_TK_WORD && p->tok.kind != PTX_TK_IDENT)
        ptx_expected(p, "the name of a section");
    ptx_next(p);
    ptx_expect(p, '{', "'{' of the section");
    for (unsigned depth = 1; depth && p->tok.kind != PTX_TK_END; ptx_next(p))
        depth += p->tok.kind == '{' ? 1u : p->tok.kind == '}' ? -1u : 0u;
}

static void alias(struct ptx_parser *p) { /* .alias name, function; (11.2.3) */
    ptx_next(p);
    struct ptx_token t[2];
    struct ptx_func *f[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        t[i] = p->tok;
        if (!ptx_expect(p, PTX_TK_IDENT, "the name of a function"))
            return;
        struct ptx_binding *b = ptx_lookup(p, t[i].name);
        if (!b || b->kind != PTX_BIND_FUNC || b->func->is_entry)
            ptx_unknown(p, &t[i], "function");
        else
            f[i] = b->func;
        if (i == 0)
            ptx_expect(p, ',', "','");
    }
    ptx_expect(p, ';', "';' after the alias");
    if (p->failed || !f[0] || !f[1])
        return;
    if (!f[0]->is_extern || f[1]->alias_of || f[0] == f[1]) {
        ptx_error(p, &t[0], "an alias is a function without a body, for one that is no alias (PTX ISA 11.2.3)");
        return;
    }
    f[0]->alias_of = f[1];
    t[0].name->func = f[1];
    p->has_alias = true;
}

static void linked(struct ptx_parser *p) { /* [.extern | .visible | .weak | .common] function or variable */
    struct ptx_linkage l = {0};
    for (bool more = true; more && !p->failed;) {
        switch (ptx_directive(p)) {
        case PTX_DIR_extern:
            l.is_extern = true;
            break;
        case PTX_DIR_visible:
            l.is_visible = true;
            break;
        case PTX_DIR_weak:
            l.is_weak = true;
            break;
        case PTX_DIR_common:
            l.is_common = true;
            break;
        default:
            more = false;
        }
        if (more)
            ptx_next(p);
    }
    enum ptx_dir d = ptx_directive(p);
    if (d == PTX_DIR_entry || d == PTX_DIR_func)
        ptx_function(p, l);
    else if (ptx_is_space(p))
        ptx_declaration(p, l);
    else
        ptx_expected(p, "a function or a variable");
}

static void module_item(struct ptx_parser *p) {
    switch (ptx_directive(p)) {
    case PTX_DIR_address_size:
        address_size(p);
        break;
    case PTX_DIR_file:
        ptx_file(p);
        break;
    case PTX_DIR_loc:
        ptx_loc(p);
        break;
    case PTX_DIR_section:
        section(p);
        break;
    case PTX_DIR_pragma:
        ptx_pragma(p);
        break;
    case PTX_DIR_alias:
        alias(p);
        break;
    default:
        linked(p);
    }
}

/* --- what can only be done when the module is complete ------------------------------------------------------------ */

static void name_files(struct ptx_parser *p) {
    for (uint32_t i = 0; i < p->num_funcs; i++) {
        struct ptx_func *f = p->funcs[i];
        struct ptx_insn *insns = (struct ptx_insn *)(uintptr_t)f->insns; /* ours until the module is handed out */
        for (uint32_t k = 0; k < f->num_insns; k++) {
            uint32_t file = p->func_files[i][k];
            insns[k].site.src_file = file < p->num_files ? p->files[file] : NULL;
        }
    }
    for (struct ptx_inline *i = p->inlines; i; i = i->next)
        i->call.file = i->file < p->num_files ? p->files[i->file] : NULL;
}

/* An alias is resolved wherever its name was used before the directive. */
static void resolve_operands(const struct ptx_operand *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        struct ptx_operand *o = (struct ptx_operand *)(uintptr_t)&list[i];
        if (o->func && o->func->alias_of)
            o->func = o->func->alias_of;
        if (o->num_elems)
            resolve_operands(o->elems, o->num_elems);
    }
}

static void resolve_aliases(struct ptx_parser *p) {
    for (struct ptx_table_list *l = p->call_tables; l; l = l->next)
        for (uint32_t k = 0; k < l->table->count; k++)
            if (l->table->funcs[k]->alias_of)
                l->table->funcs[k] = l->table->funcs[k]->alias_of;
    for (uint32_t i = 0; i < p->num_funcs; i++)
        for (uint32_t k = 0; k < p->funcs[i]->num_insns; k++)
            resolve_operands(p->funcs[i]->insns[k].operands, p->funcs[i]->insns[k].num_operands);
}

static void check_symbols(struct ptx_parser *p) {
    for (struct ptx_symbol_ref *r = p->symbols; r && !p->failed; r = r->next)
        if (!r->name->var && !r->name->func)
            ptx_unknown(p, &r->at, "variable or function");
}

static void finish(struct ptx_parser *p) {
    struct ptx_module *m = p->module;
    check_symbols(p);
    if (p->failed)
        return;
    name_files(p);
    if (p->has_alias)
        resolve_aliases(p);
    const struct ptx_func **funcs = arena_array(p->keep, p->num_funcs, sizeof *funcs);
    const struct ptx_var **vars = arena_array(p->keep, p->num_vars, sizeof *vars);
    for (uint32_t i = 0; i < p->num_funcs; i++)
        funcs[i] = p->funcs[i];
    for (uint32_t i = 0; i < p->num_vars; i++)
        vars[i] = p->vars[i];
    m->funcs = funcs;
    m->num_funcs = p->num_funcs;
    m->vars = vars;
    m->num_vars = p->num_vars;
    m->names = p->lx.names;
}

static struct ptx_module *new_module(const char *name) {
    struct arena a = {0};
    struct ptx_module *m = arena_alloc(&a, sizeof *m);
    m->arena = a;
    m->name = arena_strndup(&m->arena, name ? name : "PTX", name ? strlen(name) : 3);
    return m;
}

static void parse_module(struct ptx_parser *p) {
    ptx_scope_open(p);
    ptx_next(p);
    version(p);
    target(p);
    while (p->tok.kind != PTX_TK_END)
        module_item(p);
}

struct ptx_module *ptx_parse(const char *text, size_t len, const char *name, const struct diag_sink *sink) {
    struct ptx_module *m = new_module(name);
    struct ptx_parser p = {.module = m, .keep = &m->arena, .sink = sink};
    bool too_long = len > PTX_MAX_TEXT;
    p.lx = (struct ptx_lexer){
        .text = text, .len = too_long ? 0 : (uint32_t)len, .line = 1, .names = ptx_intern_new(&m->arena)};
    p.sink_name = ptx_intern(p.lx.names, "_", 1);
    p.warp_sz = ptx_intern(p.lx.names, "WARP_SZ", 7);
    p.n_generic = ptx_intern(p.lx.names, "generic", 7);
    if (too_long)
        ptx_error(&p, &p.tok, "the text is longer than %d MiB", PTX_MAX_TEXT >> 20);
    else
        parse_module(&p);
    if (!p.failed)
        finish(&p);
    xfree(p.funcs);
    xfree(p.func_files);
    xfree(p.vars);
    xfree(p.files);
    xfree(p.scratch);
    arena_free(&p.tmp);
    if (p.failed) {
        ptx_module_free(m);
        return NULL;
    }
    return m;
}

void ptx_module_free(struct ptx_module *m) {
    if (!m)
        return;
    struct arena a = m->arena; /* m itself lies in it */
    arena_free(&a);
}

const struct ptx_func *ptx_find_func(const struct ptx_module *m, const char *name) {
    const struct ptx_name *n = ptx_intern_find(m->names, name, strlen(name));
    return n ? n->func : NULL;
}

const struct ptx_var *ptx_find_var(const struct ptx_module *m, const char *name) {
    const struct ptx_name *n = ptx_intern_find(m->names, name, strlen(name));
    return n ? n->var : NULL;
}
