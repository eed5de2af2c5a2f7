/* ptx/decl.c - declarations of registers and variables (5.1, 5.4). */
#include "ptx/parser.h"

#include "base/heap.h"

#define MAX_ALIGN ((uint64_t)1 << 30)
#define MAX_RANGE ((uint64_t)1 << 24) /* of name<n>; a register of a range costs nothing until it is named */

bool ptx_attribute(struct ptx_parser *p) { /* .attribute( ... ), its word is current (5.4.8) */
    bool managed = false;
    ptx_next(p);
    ptx_expect(p, '(', "'(' after .attribute");
    for (unsigned depth = 1; depth && p->tok.kind != PTX_TK_END; ptx_next(p)) {
        depth += p->tok.kind == '(' ? 1u : p->tok.kind == ')' ? -1u : 0u;
        managed |= ptx_directive(p) == PTX_DIR_managed;
    }
    return managed;
}

static uint32_t alignment(struct ptx_parser *p) { /* .align n */
    ptx_next(p);
    struct ptx_token at = p->tok;
    uint64_t n = p->tok.kind == PTX_TK_INT ? p->tok.value : 0;
    if (n == 0 || n > MAX_ALIGN || n & (n - 1)) {
        ptx_error(p, &at, "an alignment must be a power of two (PTX ISA 5.4.5)");
        return 1;
    }
    ptx_next(p);
    return (uint32_t)n;
}

/* .ptr [.space] [.align n]: what a kernel parameter points to; nothing that changes how it runs (5.1.6.3). */
static void skip_ptr(struct ptx_parser *p) {
    ptx_next(p);
    enum ptx_dir d = ptx_directive(p);
    if (d == PTX_DIR_const || d == PTX_DIR_global || d == PTX_DIR_local || d == PTX_DIR_shared)
        ptx_next(p);
    if (ptx_directive(p) == PTX_DIR_align)
        alignment(p);
}

static uint32_t vector_of(enum ptx_mod m) {
    return m == PTX_MOD_v2 ? 2 : m == PTX_MOD_v4 ? 4 : m == PTX_MOD_v8 ? 8 : 0;
}

static void head_word(struct ptx_parser *p, struct ptx_var *v) {
    struct ptx_token t = p->tok;
    enum ptx_mod mod = (enum ptx_mod)t.name->mod;
    if (t.name->dir == PTX_DIR_align) {
        v->align = alignment(p);
    } else if (t.name->dir == PTX_DIR_attribute) {
        v->managed |= ptx_attribute(p);
    } else if (t.name->dir == PTX_DIR_ptr) {
        skip_ptr(p);
    } else if (vector_of(mod)) {
        v->vector = vector_of(mod);
        ptx_next(p);
    } else if (ptx_mod_type(mod) != PTX_NOTYPE && v->type == PTX_NOTYPE) {
        v->type = ptx_mod_type(mod);
        ptx_next(p);
    } else if (mod == PTX_MOD_texref || mod == PTX_MOD_samplerref || mod == PTX_MOD_surfref) {
        ptx_error(p, &t, ".%s variables are not supported by this emulator (PTX ISA 5.3)", t.name->text);
    } else {
        ptx_error(p, &t, "'.%.60s' cannot stand in a declaration", t.name->text);
    }
}

void ptx_var_head(struct ptx_parser *p, struct ptx_var *v) {
    v->vector = 1;
    while (p->tok.kind == PTX_TK_WORD)
        head_word(p, v);
    if (v->type == PTX_NOTYPE)
        ptx_expected(p, "a type such as .b32");
    else if (v->type == PTX_PRED && v->space != PTX_SPACE_REG)
        ptx_error(p, &p->tok, ".pred variables exist only in registers (PTX ISA 5.4.1)");
    uint32_t natural = ptx_type_bits(v->type) / 8 * v->vector;
    if (v->align < natural)
        v->align = natural;
    if (v->align == 0)
        v->align = 1;
}

void ptx_var_dims(struct ptx_parser *p, struct ptx_var *v, struct ptx_dims *dims) {
    struct ptx_token at = p->tok;
    dims->count = 0;
    v->size = ptx_type_bits(v->type) / 8 * v->vector;
    while (ptx_accept(p, '[')) {
        if (dims->count >= PTX_MAX_DIMS) {
            ptx_error(p, &at, "more than %d array dimensions", PTX_MAX_DIMS);
            return;
        }
        uint64_t n = 0;
        if (p->tok.kind == ']' && dims->count == 0)
            v->incomplete = true;
        else
            n = ptx_expr_unsigned(p, "an array dimension", PTX_MAX_VAR_BYTES);
        ptx_expect(p, ']', "']'");
        dims->extent[dims->count++] = n;
        if (dims->count > 1 || !v->incomplete) {
            if (__builtin_mul_overflow(v->size, n, &v->size) || v->size > PTX_MAX_VAR_BYTES)
                ptx_error(p, &at, "this variable is larger than 1 TiB");
        }
    }
    if (v->incomplete)
        v->size = 0;
}

/* Enters it in the list of the body or the module. */
static void own_var(struct ptx_parser *p, struct ptx_var *v) {
    struct ptx_body *b = &p->body;
    if (b->func && v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) {
        b->vars = xgrow(b->vars, b->num_vars, &b->cap_vars, sizeof *b->vars);
        v->index = b->num_vars;
        v->owner = b->func;
        b->vars[b->num_vars++] = v;
    } else {
        p->vars = xgrow(p->vars, p->num_vars, &p->cap_vars, sizeof *p->vars);
        v->index = p->num_vars;
        p->vars[p->num_vars++] = v;
    }
}

/* The variable that a declaration names: a new one, or the earlier .extern (or same .extern again) it completes. */
static struct ptx_var *declare_var(struct ptx_parser *p, const struct ptx_token *at, const struct ptx_var *v) {
    struct ptx_binding *old = at->name->top;
    if (old && old->scope == p->scope && old->kind == PTX_BIND_VAR && (old->var->is_extern || v->is_extern) &&
        !p->body.func) {
        if (old->var->space != v->space || old->var->type != v->type)
            ptx_error(p, at, "'%.200s' is declared twice with different types", at->name->text);
        if (!v->is_extern) {
            uint32_t index = old->var->index;
            *old->var = *v;
            old->var->index = index;
        }
        return old->var;
    }
    struct ptx_var *kept = arena_alloc(p->keep, sizeof *kept);
    *kept = *v;
    ptx_bind(p, at, PTX_BIND_VAR)->var = kept;
    own_var(p, kept);
    if (!p->body.func)
        at->name->var = kept;
    return kept;
}

static void declare_variable(struct ptx_parser *p, struct ptx_var v) {
    struct ptx_token at = p->tok;
    struct ptx_dims dims;
    if (!ptx_expect(p, PTX_TK_IDENT, "the name of a variable"))
        return;
    v.name = at.name->text;
    v.line = at.line;
    if (p->tok.kind == '<') {
        ptx_error(p, &p->tok, "name<n> is supported for registers only");
        return;
    }
    ptx_var_dims(p, &v, &dims);
    bool initialised = p->tok.kind == '=';
    if (initialised && (v.is_extern || (v.space != PTX_SPACE_GLOBAL && v.space != PTX_SPACE_CONST)))
        ptx_error(p, &p->tok, "only .global and .const variables defined here have initialisers (PTX ISA 5.4.4)");
    if (initialised)
        ptx_initialiser(p, &v, &dims);
    if (v.incomplete && !v.is_extern && !initialised)
        ptx_error(p, &at, "'%.200s' has no size: only .extern arrays may leave it open", v.name);
    if (!p->failed)
        declare_var(p, &at, &v);
}

static void declare_register(struct ptx_parser *p, enum ptx_type type) {
    struct ptx_token at = p->tok;
    if (!ptx_expect(p, PTX_TK_IDENT, "the name of a register"))
        return;
    if (!ptx_accept(p, '<')) {
        ptx_new_reg(p, &at, type);
        return;
    }
    struct ptx_token n = p->tok;
    if (!ptx_expect(p, PTX_TK_INT, "the number of registers"))
        return;
    if (n.value > MAX_RANGE)
        ptx_error(p, &n, "more than %u registers", (unsigned)MAX_RANGE);
    ptx_expect(p, '>', "'>'");
    ptx_new_range(p, &at, type, (uint32_t)n.value);
}

static void registers(struct ptx_parser *p) {
    struct ptx_var head = {.space = PTX_SPACE_REG};
    struct ptx_token at = p->tok;
    if (!p->body.func) {
        ptx_error(p, &at, "registers are declared inside functions only");
        return;
    }
    ptx_next(p);
    ptx_var_head(p, &head);
    if (head.vector != 1)
        ptx_error(p, &at, "vector registers are not supported by this emulator; declare scalar ones (PTX ISA 5.4.2)");
    do
        declare_register(p, head.type);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';', "';' after the declaration");
}

bool ptx_is_space(const struct ptx_parser *p) {
    switch (ptx_directive(p)) {
    case PTX_DIR_reg:
    case PTX_DIR_param:
    case PTX_DIR_local:
    case PTX_DIR_shared:
    case PTX_DIR_global:
    case PTX_DIR_const:
    case PTX_DIR_tex:
        return true;
    default:
        return false;
    }
}

static enum ptx_space space_of(struct ptx_parser *p) {
    switch (ptx_directive(p)) {
    case PTX_DIR_local:
        return PTX_SPACE_LOCAL;
    case PTX_DIR_shared:
        return PTX_SPACE_SHARED;
    case PTX_DIR_global:
        return PTX_SPACE_GLOBAL;
    case PTX_DIR_const:
        return PTX_SPACE_CONST;
    case PTX_DIR_param:
        if (p->body.func)
            return PTX_SPACE_PARAM;
        ptx_error(p, &p->tok, ".param variables belong to functions");
        return PTX_SPACE_PARAM;
    default:
        ptx_error(p, &p->tok, "the .tex state space is deprecated and not supported (PTX ISA 5.1.8)");
        return PTX_SPACE_GLOBAL;
    }
}

void ptx_declaration(struct ptx_parser *p, struct ptx_linkage linkage) {
    if (ptx_directive(p) == PTX_DIR_reg) {
        registers(p);
        return;
    }
    struct ptx_var v = {.space = space_of(p),
                        .is_extern = linkage.is_extern,
                        .is_visible = linkage.is_visible,
                        .is_weak = linkage.is_weak,
                        .is_common = linkage.is_common};
    ptx_next(p);
    if (p->tok.kind == '[')
        ptx_error(p, &p->tok, "numbered constant banks are deprecated and not supported (PTX ISA 5.1.3.1)");
    ptx_var_head(p, &v);
    do
        declare_variable(p, v);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';', "';' after the declaration");
}
