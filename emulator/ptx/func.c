/* ptx/func.c - functions, kernels, their parameters and directives (5.1.6, 11.2, 11.4, 11.7). */
#include "ptx/parser.h"

#include "base/heap.h"

void ptx_formal_list(struct ptx_parser *p, struct ptx_formals *out) { /* '(' is current */
    ptx_next(p);
    while (p->tok.kind != ')' && p->tok.kind != PTX_TK_END) {
        struct ptx_formal f = {.at = p->tok};
        enum ptx_dir d = ptx_directive(p);
        if (d != PTX_DIR_param && d != PTX_DIR_reg) {
            ptx_expected(p, "a parameter, .param or .reg");
            return;
        }
        f.var.space = d == PTX_DIR_reg ? PTX_SPACE_REG : PTX_SPACE_PARAM;
        ptx_next(p);
        ptx_var_head(p, &f.var);
        f.at = p->tok;
        if (!ptx_expect(p, PTX_TK_IDENT, "the name of a parameter"))
            return;
        f.name = f.at.name == p->sink_name ? NULL : f.at.name;
        f.var.name = f.at.name->text;
        f.var.line = f.at.line;
        struct ptx_dims dims;
        ptx_var_dims(p, &f.var, &dims);
        if (f.var.space == PTX_SPACE_REG && (dims.count || f.var.vector != 1))
            ptx_error(p, &f.at, "a .reg parameter is one scalar register");
        if (out->count >= PTX_MAX_PARAMS)
            ptx_error(p, &f.at, "more than %d parameters", PTX_MAX_PARAMS);
        out->list = xgrow(out->list, out->count, &out->cap, sizeof *out->list);
        out->list[out->count++] = f;
        if (!ptx_accept(p, ','))
            break;
    }
    ptx_expect(p, ')', "')' after the parameters");
}

struct ptx_var *ptx_keep_formals(struct ptx_parser *p, const struct ptx_formals *f, const struct ptx_func *owner) {
    struct ptx_var *kept = arena_array(p->keep, f->count, sizeof *kept);
    for (uint32_t i = 0; i < f->count; i++) {
        kept[i] = f->list[i].var;
        kept[i].index = i;
        kept[i].owner = owner;
    }
    return kept;
}

static uint32_t number(struct ptx_parser *p) {
    struct ptx_token t = p->tok;
    if (!ptx_expect(p, PTX_TK_INT, "a number"))
        return 0;
    if (t.value > UINT32_MAX)
        ptx_error(p, &t, "this number does not fit in 32 bits");
    return (uint32_t)t.value;
}

/* nx [, ny [, nz]]; what is left out is 1 (11.4.2). */
static void extents(struct ptx_parser *p, uint32_t *x, uint32_t *y, uint32_t *z) {
    *x = number(p);
    *y = ptx_accept(p, ',') ? number(p) : 1;
    *z = ptx_accept(p, ',') ? number(p) : 1;
}

void ptx_func_directives(struct ptx_parser *p, struct ptx_func *f) {
    while (p->tok.kind == PTX_TK_WORD) {
        struct ptx_token t = p->tok;
        if (t.name->dir == PTX_DIR_attribute) {
            ptx_attribute(p);
            continue;
        }
        if (t.name->dir == PTX_DIR_pragma) {
            ptx_pragma(p);
            continue;
        }
        ptx_next(p);
        switch (t.name->dir) {
        case PTX_DIR_maxntid:
            extents(p, &f->maxntid.x, &f->maxntid.y, &f->maxntid.z);
            break;
        case PTX_DIR_reqntid:
            extents(p, &f->reqntid.x, &f->reqntid.y, &f->reqntid.z);
            break;
        case PTX_DIR_reqnctapercluster:
            extents(p, &f->reqnctapercluster.x, &f->reqnctapercluster.y, &f->reqnctapercluster.z);
            break;
        case PTX_DIR_minnctapersm:
            f->minnctapersm = number(p);
            break;
        case PTX_DIR_maxnreg:
            f->maxnreg = number(p);
            break;
        case PTX_DIR_maxclusterrank:
            f->maxclusterrank = number(p);
            break;
        case PTX_DIR_explicitcluster:
            f->explicitcluster = true;
            break;
        case PTX_DIR_blocksareclusters:
            f->blocksareclusters = true;
            break;
        case PTX_DIR_noreturn:
            f->is_noreturn = true;
            break;
        case PTX_DIR_maxnctapersm: /* deprecated (11.4.5), advice only, like .abi_preserve (11.4.8) */
        case PTX_DIR_abi_preserve:
        case PTX_DIR_abi_preserve_control:
            number(p);
            break;
        default:
            ptx_error(p, &t, "'.%.60s' cannot stand before a function's body", t.name->text);
        }
        if (f->maxclusterrank && f->reqnctapercluster.x)
            ptx_error(p, &t, ".maxclusterrank cannot stand beside .reqnctapercluster (11.7.3)");
    }
}

static bool same_shape(const struct ptx_var *vars, uint32_t n, const struct ptx_formals *f) {
    if (n != f->count)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (vars[i].size != f->list[i].var.size || vars[i].incomplete != f->list[i].var.incomplete)
            return false;
    return true;
}

/* The function of this name, declared before or new. `parsed` holds the directives just read. */
static struct ptx_func *declare_func(struct ptx_parser *p, const struct ptx_token *at, const struct ptx_func *parsed,
                                     const struct ptx_formals *rets, const struct ptx_formals *params) {
    struct ptx_binding *b = at->name->top;
    struct ptx_func *f;
    if (b && b->scope == p->scope && b->kind == PTX_BIND_FUNC) {
        f = b->func;
        if (f->is_entry != parsed->is_entry || !same_shape(f->rets, f->num_rets, rets) ||
            !same_shape(f->params, f->num_params, params))
            ptx_error(p, at, "'%.200s' was declared with other parameters", at->name->text);
        if (!f->is_extern && !parsed->is_extern)
            ptx_error(p, at, "'%.200s' is defined twice", at->name->text);
        if (!f->is_extern)
            return f; /* a declaration after the definition adds nothing */
        f->is_visible |= parsed->is_visible;
        f->is_weak |= parsed->is_weak;
        f->is_noreturn |= parsed->is_noreturn;
    } else {
        f = arena_alloc(p->keep, sizeof *f);
        *f = *parsed;
        f->name = at->name->text;
        f->index = p->num_funcs;
        f->line = at->line;
        ptx_bind(p, at, PTX_BIND_FUNC)->func = f;
        at->name->func = f;
        uint32_t cap = p->cap_funcs;
        p->funcs = xgrow(p->funcs, p->num_funcs, &p->cap_funcs, sizeof *p->funcs);
        p->func_files = xgrow(p->func_files, p->num_funcs, &cap, sizeof *p->func_files);
        p->func_files[p->num_funcs] = NULL;
        p->funcs[p->num_funcs++] = f;
    }
    if (f->is_extern && !parsed->is_extern) { /* the definition's directives count */
        struct ptx_func old = *f;
        *f = *parsed;
        f->name = old.name;
        f->index = old.index;
        f->line = at->line;
        f->is_visible |= old.is_visible;
        f->is_weak |= old.is_weak;
        f->is_noreturn |= old.is_noreturn;
    }
    f->num_rets = rets->count;
    f->rets = ptx_keep_formals(p, rets, f);
    f->num_params = params->count;
    f->params = ptx_keep_formals(p, params, f);
    return f;
}

void ptx_function(struct ptx_parser *p, struct ptx_linkage linkage) { /* .entry or .func is current */
    struct ptx_func parsed = {
        .is_entry = p->tok.name->dir == PTX_DIR_entry, .is_visible = linkage.is_visible, .is_weak = linkage.is_weak};
    struct ptx_formals rets = {0}, params = {0};
    ptx_next(p);
    ptx_func_directives(p, &parsed); /* .attribute stands before the name */
    if (p->tok.kind == '(' && !parsed.is_entry)
        ptx_formal_list(p, &rets);
    struct ptx_token name = p->tok;
    if (ptx_expect(p, PTX_TK_IDENT, "the name of a function")) {
        if (p->tok.kind == '(')
            ptx_formal_list(p, &params);
        ptx_func_directives(p, &parsed);
        parsed.is_extern = p->tok.kind != '{';
        struct ptx_func *f = p->failed ? NULL : declare_func(p, &name, &parsed, &rets, &params);
        if (f && !parsed.is_extern)
            ptx_body(p, f, &rets, &params);
        else
            ptx_expect(p, ';', "'{' or ';'");
    }
    xfree(rets.list);
    xfree(params.list);
}
