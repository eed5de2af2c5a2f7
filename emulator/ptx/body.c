/* ptx/body.c - function bodies: scopes, labels, tables and instructions (4.3, 9.7.12, 11.3, 11.5). */
#include "ptx/parser.h"

#include "base/fatal.h"
#include "base/heap.h"

#include <string.h>

#define MAX_PATH_WORDS 6 /* of an opcode: multimem.cp.reduce.async.bulk has five */
#define MAX_PATH_BYTES 64

/* The text as written, without comments, every run of blanks one space. */
static char *folded(struct ptx_parser *p, uint32_t start, uint32_t end) {
    const char *s = p->lx.text;
    char *out = arena_alloc(p->keep, (size_t)(end - start) + 1);
    size_t n = 0;
    bool blank = false;
    for (uint32_t i = start; i < end; i++) {
        if (s[i] == '/' && i + 1 < end && s[i + 1] == '/') {
            while (i + 1 < end && s[i + 1] != '\n')
                i++;
            blank = true;
        } else if (s[i] == '/' && i + 1 < end && s[i + 1] == '*') {
            for (i += 2; i + 1 < end && !(s[i] == '*' && s[i + 1] == '/');)
                i++;
            i++;
            blank = true;
        } else if ((unsigned char)s[i] <= ' ') {
            blank = true;
        } else {
            if (blank && n)
                out[n++] = ' ';
            out[n++] = s[i];
            blank = false;
        }
    }
    return out;
}

/* --- instructions ------------------------------------------------------------------------------------------------- */

struct words {
    struct ptx_name *list[MAX_PATH_WORDS + PTX_MAX_MODS];
    uint32_t count;
};

static void read_words(struct ptx_parser *p, struct words *w) {
    w->count = 0;
    while (p->tok.kind == PTX_TK_WORD) {
        if (w->count >= MAX_PATH_WORDS + PTX_MAX_MODS) {
            ptx_error(p, &p->tok, "more than %d modifiers", PTX_MAX_MODS);
            return;
        }
        w->list[w->count++] = p->tok.name;
        ptx_next(p);
    }
}

/* The longest opcode that the words spell: cp.async.bulk.tensor rather than cp.async. Returns how many words after the
 * first belong to it. */
static uint32_t find_op(const struct ptx_parser *p, const struct ptx_name *first, const struct words *w,
                        enum ptx_op *op) {
    char path[MAX_PATH_BYTES];
    size_t n = first->len;
    uint32_t used = 0;
    *op = (enum ptx_op)first->op;
    if (!first->op_prefix || n >= sizeof path)
        return 0;
    memcpy(path, first->text, n);
    for (uint32_t i = 0; i < w->count; i++) {
        if (n + 1 + w->list[i]->len >= sizeof path)
            break;
        path[n++] = '.';
        memcpy(path + n, w->list[i]->text, w->list[i]->len);
        n += w->list[i]->len;
        const struct ptx_name *name = ptx_intern_find(p->lx.names, path, n);
        if (name && name->op) {
            *op = (enum ptx_op)name->op;
            used = i + 1;
        }
        if (!name || !name->op_prefix)
            break;
    }
    return used;
}

/* vote.ballot.sync.b32, which ptxas takes and CUB writes, for vote.sync.ballot.b32 (9.7.13.9). */
static void sync_first(struct words *w) {
    for (uint32_t i = w->count; i > 1; i--)
        if (w->list[i - 1]->mod == PTX_MOD_sync) {
            struct ptx_name *before = w->list[i - 2];
            w->list[i - 2] = w->list[i - 1];
            w->list[i - 1] = before;
        }
}

static void set_opcode(struct ptx_parser *p, const struct ptx_token *at, struct ptx_insn *in) {
    struct words w;
    read_words(p, &w);
    if (at->name->op == PTX_OP_vote)
        sync_first(&w);
    uint32_t used = find_op(p, at->name, &w, &in->op);
    if (w.count - used > PTX_MAX_MODS) {
        ptx_error(p, at, "more than %d modifiers", PTX_MAX_MODS);
        return;
    }
    for (uint32_t i = used; i < w.count; i++)
        in->mods[in->num_mods++] = w.list[i]->mod;
}

/* The operands up to the ';', in `o`; how many. */
static uint32_t operands(struct ptx_parser *p, struct ptx_operand *o) {
    uint32_t n = 0;
    if (p->tok.kind == '}') /* the ';' is what lacks */
        return n;
    while (p->tok.kind != ';' && p->tok.kind != PTX_TK_END) {
        if (n >= PTX_MAX_OPERANDS) {
            ptx_error(p, &p->tok, "more than %d operands", PTX_MAX_OPERANDS);
            return n;
        }
        ptx_operand(p, &o[n++]);
        if (!ptx_accept(p, ','))
            break;
        if (p->tok.kind == ';')
            ptx_expected(p, "an operand");
    }
    return n;
}

static void branch(struct ptx_parser *p, struct ptx_insn *in) {
    struct ptx_token t = p->tok;
    if (!ptx_expect(p, PTX_TK_IDENT, "a label"))
        return;
    struct ptx_operand *o = arena_alloc(p->keep, sizeof *o);
    o->kind = PTX_OPND_LABEL;
    in->operands = o;
    in->num_operands = 1;
    ptx_label_use(p, &t, &o->label);
}

/* call (rets), target, (args), table: the order of ir.h, whatever is left out (9.7.12.5). */
static uint32_t call(struct ptx_parser *p, struct ptx_operand *o) {
    o[0].kind = o[2].kind = PTX_OPND_VEC;
    if (ptx_accept(p, '(')) {
        ptx_operand_list(p, ')', "')' after the results", &o[0]);
        ptx_expect(p, ',', "',' after the results");
    }
    struct ptx_token at = p->tok;
    ptx_operand(p, &o[1]);
    if (o[1].kind != PTX_OPND_FUNC && o[1].kind != PTX_OPND_REG)
        ptx_error(p, &at, "what is called must be a function or a register");
    if (!ptx_accept(p, ','))
        return 3;
    if (ptx_accept(p, '(')) {
        ptx_operand_list(p, ')', "')' after the arguments", &o[2]);
        if (!ptx_accept(p, ','))
            return 3;
    }
    at = p->tok;
    ptx_operand(p, &o[3]);
    if (o[3].kind != PTX_OPND_TABLE && o[3].kind != PTX_OPND_VAR)
        ptx_error(p, &at, "the list of call targets or the prototype must be a label of one");
    return 4;
}

static void keep_operands(struct ptx_parser *p, struct ptx_insn *in) {
    struct ptx_operand list[PTX_MAX_OPERANDS] = {0};
    const uint32_t n = in->op == PTX_OP_call ? call(p, list) : operands(p, list);
    in->operands = memcpy(arena_array(p->keep, n, sizeof *list), list, n * sizeof *list);
    in->num_operands = (uint8_t)n;
}

static void guard(struct ptx_parser *p, struct ptx_insn *in) { /* '@' is current (9.7.12.2) */
    ptx_next(p);
    in->guard_neg = ptx_accept(p, '!');
    struct ptx_token t = p->tok;
    if (!ptx_expect(p, PTX_TK_IDENT, "a predicate register"))
        return;
    const struct ptx_binding *b = ptx_lookup(p, t.name);
    if (!b)
        ptx_unknown(p, &t, "register");
    else if (b->kind != PTX_BIND_REG || b->reg->type != PTX_PRED)
        ptx_error(p, &t, "'%.200s' is not a predicate register", t.name->text);
    else
        in->guard = b->reg;
}

static void instruction(struct ptx_parser *p) {
    struct ptx_body *b = &p->body;
    struct ptx_token start = p->tok;
    if (b->num_insns >= b->cap_insns)
        fatal_broken("ptx: a body has more instructions than semicolons");
    struct ptx_insn *in = &b->insns[b->num_insns];
    if (p->tok.kind == '@')
        guard(p, in);
    struct ptx_token op = p->tok;
    if (!ptx_expect(p, PTX_TK_IDENT, "an instruction"))
        return;
    set_opcode(p, &op, in);
    if (in->op == PTX_OP_bra)
        branch(p, in);
    else
        keep_operands(p, in);
    if (p->tok.kind != ';') {
        ptx_expected(p, "';' after the instruction");
        return;
    }
    in->site = (struct diag_site){.src_line = b->loc_line,
                                  .src_column = b->loc_column,
                                  .inlined = b->loc_inlined,
                                  .ptx_name = p->module->name,
                                  .ptx_line = start.line,
                                  .ptx_text = folded(p, start.pos, p->tok.pos + 1),
                                  .func = b->func->name};
    b->files[b->num_insns++] = b->loc_file;
    ptx_next(p);
}

/* --- labels and tables -------------------------------------------------------------------------------------------- */

static void add_label(struct ptx_parser *p, struct ptx_token **at, uint32_t *count, uint32_t *cap,
                      const struct ptx_token *t) {
    if (*count >= PTX_MAX_ELEMENTS || p->targets++ >= PTX_MAX_STATEMENTS) {
        ptx_error(p, t, "more than %d labels", *count >= PTX_MAX_ELEMENTS ? PTX_MAX_ELEMENTS : PTX_MAX_STATEMENTS);
        return;
    }
    *at = xgrow(*at, *count, cap, sizeof **at);
    (*at)[(*count)++] = *t;
}

/* N<5> names N0 ... N4 (11.3.1); the '<' has been read. */
static void label_range(struct ptx_parser *p, const struct ptx_token *t, struct ptx_token **at, uint32_t *count,
                        uint32_t *cap) {
    uint64_t n = p->tok.value;
    ptx_expect(p, PTX_TK_INT, "the number of labels");
    ptx_expect(p, '>', "'>'");
    for (uint64_t i = 0; i < n && !p->failed; i++) {
        char digits[24];
        size_t len = t->name->len, k = 0;
        for (uint64_t v = i; v || !k; v /= 10)
            digits[k++] = (char)('0' + v % 10);
        char *text = arena_alloc(&p->tmp, len + k);
        memcpy(text, t->name->text, len);
        for (size_t j = 0; j < k; j++)
            text[len + j] = digits[k - 1 - j];
        struct ptx_token one = *t;
        one.name = ptx_intern(p->lx.names, text, len + k);
        add_label(p, at, count, cap, &one);
    }
}

static void branch_targets(struct ptx_parser *p, struct ptx_table *table) {
    struct ptx_token *at = NULL;
    uint32_t count = 0, cap = 0;
    do {
        struct ptx_token t = p->tok;
        if (!ptx_expect(p, PTX_TK_IDENT, "a label"))
            break;
        if (ptx_accept(p, '<'))
            label_range(p, &t, &at, &count, &cap);
        else
            add_label(p, &at, &count, &cap, &t);
    } while (ptx_accept(p, ','));
    uint32_t *labels = arena_array(p->keep, count, sizeof *labels);
    for (uint32_t i = 0; i < count; i++)
        ptx_label_use(p, &at[i], &labels[i]);
    table->labels = labels;
    table->count = count;
    xfree(at);
}

static void call_targets(struct ptx_parser *p, struct ptx_table *table) {
    struct ptx_operand list = {.kind = PTX_OPND_NONE};
    ptx_operand_list(p, ';', "';' after the functions", &list);
    const struct ptx_func **funcs = arena_array(p->keep, list.num_elems, sizeof *funcs);
    for (uint32_t i = 0; i < list.num_elems; i++) {
        funcs[i] = list.elems[i].func;
        if (list.elems[i].kind != PTX_OPND_FUNC)
            ptx_error(p, &p->tok, ".calltargets names functions only");
    }
    table->funcs = funcs;
    table->count = list.num_elems;
    struct ptx_table_list *l = arena_alloc(&p->tmp, sizeof *l);
    l->table = table;
    l->next = p->call_tables;
    p->call_tables = l;
}

/* .callprototype (ret) _ (params) .noreturn */
static void call_prototype(struct ptx_parser *p, struct ptx_table *table) {
    struct ptx_formals rets = {0}, params = {0};
    struct ptx_func *f = arena_alloc(p->keep, sizeof *f);
    f->name = table->name;
    f->is_extern = true;
    f->line = p->tok.line;
    if (p->tok.kind == '(')
        ptx_formal_list(p, &rets);
    ptx_expect(p, PTX_TK_IDENT, "'_' of the prototype");
    if (p->tok.kind == '(')
        ptx_formal_list(p, &params);
    ptx_func_directives(p, f);
    f->num_rets = rets.count;
    f->rets = ptx_keep_formals(p, &rets, f);
    f->num_params = params.count;
    f->params = ptx_keep_formals(p, &params, f);
    table->proto = f;
    xfree(rets.list);
    xfree(params.list);
}

static void label(struct ptx_parser *p) { /* name ':' */
    struct ptx_token t = p->tok;
    ptx_next(p);
    ptx_next(p);
    enum ptx_dir d = ptx_directive(p);
    if (d != PTX_DIR_branchtargets && d != PTX_DIR_calltargets && d != PTX_DIR_callprototype) {
        ptx_bind(p, &t, PTX_BIND_LABEL)->label = p->body.num_insns;
        return;
    }
    ptx_next(p);
    struct ptx_table *table = arena_alloc(p->keep, sizeof *table);
    table->name = t.name->text;
    if (d == PTX_DIR_branchtargets)
        branch_targets(p, table);
    else if (d == PTX_DIR_callprototype)
        call_prototype(p, table);
    if (d == PTX_DIR_calltargets)
        call_targets(p, table);
    else
        ptx_expect(p, ';', "';' after the directive");
    ptx_bind(p, &t, PTX_BIND_TABLE)->table = table;
}

/* --- directives --------------------------------------------------------------------------------------------------- */

static uint32_t small(const struct ptx_token *t) { return t->value > UINT32_MAX ? UINT32_MAX : (uint32_t)t->value; }

static struct ptx_loc_memo *memo_of(struct ptx_parser *p, const uint32_t at[3]) {
    return &p->loc_memo[(at[0] * 40503u + at[1] * 31u + at[2]) % PTX_LOC_MEMO];
}

/* File, line, and the column where there is one. */
static void position(struct ptx_parser *p, uint32_t at[3]) {
    static const char *const what[3] = {"a file number", "a line number", ""};
    for (unsigned i = 0; i < 3; i++) {
        bool number = p->tok.kind == PTX_TK_INT;
        at[i] = number ? small(&p->tok) : 0;
        if (number)
            ptx_next(p);
        else if (i < 2)
            ptx_expect(p, PTX_TK_INT, what[i]);
    }
}

static const struct diag_inline *inlined_at(struct ptx_parser *p, const uint32_t at[3]) {
    const struct ptx_loc_memo *m = memo_of(p, at);
    bool known = m->file == at[0] && m->line == at[1] && m->column == at[2];
    struct ptx_inline *n = arena_alloc(p->keep, sizeof *n);
    n->call = (struct diag_inline){.line = at[1], .column = at[2], .outer = known ? m->inlined : NULL};
    n->file = at[0];
    n->next = p->inlines;
    p->inlines = n;
    return &n->call;
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column] (11.5.4) */
void ptx_loc(struct ptx_parser *p) {
    uint32_t at[3], call[3];
    ptx_next(p);
    position(p, at);
    const struct diag_inline *inlined = NULL;
    while (ptx_accept(p, ',')) {
        ptx_expect(p, PTX_TK_IDENT, "function_name or inlined_at");
        if (p->tok.kind == PTX_TK_INT) {
            position(p, call);
            inlined = inlined_at(p, call);
        } else if (p->tok.kind == PTX_TK_IDENT || p->tok.kind == PTX_TK_WORD) {
            ptx_next(p);
        }
        while (p->tok.kind == '+' || p->tok.kind == PTX_TK_INT)
            ptx_next(p);
    }
    p->body.loc_file = at[0];
    p->body.loc_line = at[1];
    p->body.loc_column = at[2];
    p->body.loc_inlined = inlined;
    *memo_of(p, at) = (struct ptx_loc_memo){at[0], at[1], at[2], inlined};
}

void ptx_pragma(struct ptx_parser *p) { /* advice to a compiler (12) */
    ptx_next(p);
    do
        ptx_expect(p, PTX_TK_STRING, "a string");
    while (ptx_accept(p, ','));
    ptx_expect(p, ';', "';' after the pragma");
}

static void body_directive(struct ptx_parser *p) {
    struct ptx_linkage linkage = {0};
    if (ptx_is_space(p)) {
        ptx_declaration(p, linkage);
        return;
    }
    switch (ptx_directive(p)) {
    case PTX_DIR_loc:
        ptx_loc(p);
        break;
    case PTX_DIR_pragma:
        ptx_pragma(p);
        break;
    case PTX_DIR_file:
        ptx_file(p);
        break;
    case PTX_DIR_extern:
        ptx_next(p);
        linkage.is_extern = true;
        if (ptx_is_space(p))
            ptx_declaration(p, linkage);
        else
            ptx_expected(p, "a state space");
        break;
    default:
        ptx_error(p, &p->tok, "'.%.60s' cannot stand in a function's body", p->tok.name->text);
    }
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

static void statements(struct ptx_parser *p) { /* from '{' to its '}' */
    uint32_t depth = 0;
    do {
        switch (p->tok.kind) {
        case '{':
            ptx_next(p);
            ptx_scope_open(p);
            depth++;
            break;
        case '}':
            ptx_scope_close(p);
            depth--;
            ptx_next(p);
            break;
        case PTX_TK_WORD:
            body_directive(p);
            break;
        case PTX_TK_IDENT:
            if (ptx_lex_peek(&p->lx) == ':')
                label(p);
            else
                instruction(p);
            break;
        case '@':
            instruction(p);
            break;
        default:
            ptx_expected(p, "an instruction, a label or a directive");
        }
    } while (depth && !p->failed);
}

/* Room for all that the body can hold, known from a first look at its text. */
static bool reserve(struct ptx_parser *p, const struct ptx_formals *rets, const struct ptx_formals *params) {
    struct ptx_body *b = &p->body;
    struct ptx_body_size size = ptx_lex_measure(&p->lx);
    p->statements += size.statements;
    if (p->statements > PTX_MAX_STATEMENTS) {
        ptx_error(p, &p->tok, "this module has more than %d instructions", PTX_MAX_STATEMENTS);
        return false;
    }
    b->cap_insns = size.statements + 1; /* the last may lack its ';' and be an error */
    b->insns = arena_array(p->keep, b->cap_insns, sizeof *b->insns);
    b->files = arena_array(p->keep, b->cap_insns, sizeof *b->files);
    b->cap_regs = size.names + rets->count + params->count;
    b->regs = arena_array(p->keep, b->cap_regs, sizeof *b->regs);
    return true;
}

static void bind_formals(struct ptx_parser *p, struct ptx_var *vars, const struct ptx_formals *f) {
    for (uint32_t i = 0; i < f->count; i++) {
        const struct ptx_token *at = &f->list[i].at;
        if (!f->list[i].name)
            continue;
        if (vars[i].space == PTX_SPACE_REG)
            vars[i].reg = ptx_new_reg(p, at, vars[i].type);
        else
            ptx_bind(p, at, PTX_BIND_VAR)->var = &vars[i];
    }
}

void ptx_body(struct ptx_parser *p, struct ptx_func *f, struct ptx_formals *rets, struct ptx_formals *params) {
    struct ptx_body *b = &p->body;
    *b = (struct ptx_body){.func = f};
    if (!reserve(p, rets, params))
        return;
    ptx_scope_open(p);
    struct ptx_var *kept_rets = ptx_keep_formals(p, rets, f), *kept_params = ptx_keep_formals(p, params, f);
    bind_formals(p, kept_rets, rets);
    bind_formals(p, kept_params, params);
    f->rets = kept_rets;
    f->params = kept_params;
    statements(p);
    ptx_scope_close(p);
    const struct ptx_var **vars = arena_array(p->keep, b->num_vars, sizeof *vars);
    if (b->num_vars)
        memcpy(vars, b->vars, b->num_vars * sizeof *vars);
    xfree(b->vars);
    f->vars = vars;
    f->num_vars = b->num_vars;
    f->regs = b->regs;
    f->num_regs = b->num_regs;
    f->insns = b->insns;
    f->num_insns = b->num_insns;
    p->func_files[f->index] = b->files;
    *b = (struct ptx_body){.func = NULL};
}
