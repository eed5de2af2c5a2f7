/* ptx/operand.c - the operands of instructions (6). What an opcode does with them is not judged here. */
#include "ptx/parser.h"

#include "base/heap.h"

#include <string.h>

static void immediate(struct ptx_parser *p, struct ptx_operand *o) {
    struct ptx_value v = ptx_expr(p);
    o->kind = PTX_OPND_IMM;
    o->imm_kind = v.kind;
    o->imm = v.bits;
}

/* %tid.x is one register; %tid alone is the vector. The identifier has been stepped over. */
static void special_register(struct ptx_parser *p, const struct ptx_token *at, struct ptx_operand *o) {
    o->kind = PTX_OPND_SREG;
    o->sreg = at->name->sreg;
    if (p->tok.kind != PTX_TK_WORD || !p->tok.glued)
        return;
    char text[64];
    uint32_t n = at->name->len, m = p->tok.name->len;
    struct ptx_name *whole = NULL;
    if (n + m + 1 < sizeof text) {
        memcpy(text, at->name->text, n);
        text[n] = '.';
        memcpy(text + n + 1, p->tok.name->text, m);
        whole = ptx_intern_find(p->lx.names, text, n + m + 1);
    }
    if (!whole || !whole->sreg)
        ptx_error(p, &p->tok, "'%s' has no component '.%.60s'", at->name->text, p->tok.name->text);
    else
        o->sreg = whole->sreg;
    ptx_next(p);
}

static void bound(struct ptx_parser *p, const struct ptx_token *at, const struct ptx_binding *b,
                  struct ptx_operand *o) {
    switch (b->kind) {
    case PTX_BIND_REG:
        o->kind = PTX_OPND_REG;
        o->reg = b->reg;
        if (p->tok.kind == PTX_TK_WORD && p->tok.glued)
            ptx_error(p, &p->tok, "selectors such as '.%.20s' are not supported: registers are scalar (PTX ISA 5.4.2)",
                      p->tok.name->text);
        break;
    case PTX_BIND_VAR:
        o->kind = PTX_OPND_VAR;
        o->var = b->var;
        if (p->tok.kind == '[')
            ptx_error(p, &p->tok, "write %.100s + bytes; an index is not supported (PTX ISA 6.4.2)", at->name->text);
        o->offset = ptx_expr_offset(p);
        break;
    case PTX_BIND_FUNC:
        o->kind = PTX_OPND_FUNC;
        o->func = b->func;
        break;
    case PTX_BIND_LABEL:
        o->kind = PTX_OPND_LABEL;
        o->label = b->label;
        break;
    case PTX_BIND_TABLE:
        o->kind = PTX_OPND_TABLE;
        o->table = b->table;
        break;
    case PTX_BIND_RANGE:
        break; /* lives in another list and is never found by name */
    }
}

/* A name: register, special register, variable with offset, function, label, table, or _. */
static void named(struct ptx_parser *p, struct ptx_operand *o) {
    struct ptx_token t = p->tok;
    if (!ptx_expect(p, PTX_TK_IDENT, "an operand"))
        return;
    if (t.name == p->sink_name) {
        o->kind = PTX_OPND_SINK;
        return;
    }
    const struct ptx_binding *b = ptx_lookup(p, t.name);
    if (b)
        bound(p, &t, b, o);
    else if (t.name->sreg)
        special_register(p, &t, o);
    else
        ptx_unknown(p, &t, t.name->text[0] == '%' ? "register" : "name");
}

/* [base], [base + n], [n], [base, operand, ...] */
static void memory(struct ptx_parser *p, struct ptx_operand *o) {
    ptx_next(p);
    struct ptx_token at = p->tok;
    struct ptx_operand base = {.kind = PTX_OPND_NONE};
    if (p->tok.kind == PTX_TK_IDENT && p->tok.name != p->warp_sz) {
        named(p, &base);
        if (base.kind == PTX_OPND_REG)
            base.offset = ptx_expr_offset(p);
        else if (base.kind != PTX_OPND_VAR)
            ptx_error(p, &at, "'%.200s' cannot be an address: a register, a variable or a constant can", at.name->text);
    } else {
        immediate(p, &base);
        if (base.imm_kind != PTX_IMM_INT)
            ptx_error(p, &at, "an address must be an integer");
        base.offset = (int64_t)base.imm;
    }
    struct ptx_operand rest = {.kind = PTX_OPND_NONE};
    if (ptx_accept(p, ','))
        ptx_operand_list(p, ']', "']' after the address", &rest);
    else
        ptx_expect(p, ']', "']' after the address");
    *o = (struct ptx_operand){.kind = PTX_OPND_MEM,
                              .reg = base.reg,
                              .var = base.var,
                              .offset = base.offset,
                              .elems = rest.elems,
                              .num_elems = rest.num_elems};
}

static void push_scratch(struct ptx_parser *p, const struct ptx_operand *o) {
    p->scratch = xgrow(p->scratch, p->num_scratch, &p->cap_scratch, sizeof *p->scratch);
    p->scratch[p->num_scratch++] = *o;
}

static void keep_elements(struct ptx_parser *p, uint32_t first, struct ptx_operand *vec) {
    uint32_t n = p->num_scratch - first;
    struct ptx_operand *kept = arena_array(p->keep, n, sizeof *kept);
    if (n)
        memcpy(kept, p->scratch + first, n * sizeof *kept);
    vec->elems = kept;
    vec->num_elems = n;
    p->num_scratch = first;
}

void ptx_operand_list(struct ptx_parser *p, int close, const char *what, struct ptx_operand *vec) {
    uint32_t first = p->num_scratch;
    if (!ptx_enter(p))
        return;
    while (p->tok.kind != close && p->tok.kind != PTX_TK_END) {
        struct ptx_operand o = {.kind = PTX_OPND_NONE};
        if (p->num_scratch >= PTX_MAX_ELEMENTS)
            ptx_error(p, &p->tok, "more than %d elements", PTX_MAX_ELEMENTS);
        ptx_operand(p, &o);
        push_scratch(p, &o);
        if (!ptx_accept(p, ','))
            break;
        if (p->tok.kind == close)
            ptx_expected(p, "an operand");
    }
    ptx_expect(p, close, what);
    keep_elements(p, first, vec);
    ptx_leave(p);
}

/* d|p: the first operand has been read. */
static void pair(struct ptx_parser *p, struct ptx_operand *o) {
    struct ptx_operand *elems = arena_array(p->keep, 2, sizeof *elems);
    elems[0] = *o;
    ptx_next(p);
    named(p, &elems[1]);
    if (elems[1].kind != PTX_OPND_REG && elems[1].kind != PTX_OPND_SINK)
        ptx_error(p, &p->tok, "after '|' stands a register or '_'");
    *o = (struct ptx_operand){.kind = PTX_OPND_PAIR, .elems = elems, .num_elems = 2};
}

void ptx_operand(struct ptx_parser *p, struct ptx_operand *o) {
    char after;
    switch (p->tok.kind) {
    case '{':
        ptx_next(p);
        ptx_operand_list(p, '}', "'}' after the vector", o);
        o->kind = PTX_OPND_VEC;
        break;
    case '[':
        memory(p, o);
        break;
    case '!':
        after = ptx_lex_peek(&p->lx);
        if (after == '%' || (ptx_is_follow(after) && !(after >= '0' && after <= '9'))) {
            ptx_next(p);
            struct ptx_token at = p->tok;
            named(p, o);
            o->neg = true;
            if (o->kind != PTX_OPND_REG)
                ptx_error(p, &at, "'!' negates a predicate register");
        } else {
            immediate(p, o);
        }
        break;
    case PTX_TK_IDENT:
        if (p->tok.name == p->warp_sz) {
            immediate(p, o);
            break;
        }
        named(p, o);
        if (p->tok.kind == '|' && (o->kind == PTX_OPND_REG || o->kind == PTX_OPND_SINK))
            pair(p, o);
        break;
    case PTX_TK_INT:
    case PTX_TK_F32:
    case PTX_TK_F64:
    case '-':
    case '+':
    case '~':
    case '(':
        immediate(p, o);
        break;
    default:
        ptx_expected(p, "an operand");
    }
}
