/* isa/operands.c - what may be an operand: every instruction's, by the operands column of ptx/opcodes.def.
 *
 * Lowering makes a slot of nearly anything, and a handler reads and writes slots without asking. That a destination is
 * a register, that a source has a value and that both are as wide as they are used is settled here, for every family,
 * before its binder sees the instruction. `*` leaves the width to the binder, and the number of a list's elements is
 * always its own: isa_has_bits and isa_is_list ask.
 */
#include "isa/isa.h"

#include <stdio.h>

struct judge {
    struct isa_binder *b;
    const struct insn *in;
    unsigned at; /* the operand, counted from 1, that the reason is about: the furthest one that was reached */
};

static bool refuse(struct judge *j, unsigned operand, const char *format, const char *what) {
    char why[160];
    if (operand >= j->at) {
        int n = snprintf(why, sizeof why, "operand %u ", operand);
        n += snprintf(why + n, sizeof why - (size_t)n, format, what);
        j->b->why = arena_strndup(j->b->arena, why, (size_t)n);
        j->at = operand;
    }
    return false;
}

/* The same about an operand of another shape, which says less than what an alternative of its shape says. */
static bool mismatch(struct judge *j, unsigned operand, const char *format, const char *what) {
    return operand > j->at && refuse(j, operand, format, what);
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

/* The letter of a value, and what stands before it. */
struct value_form {
    bool dst, sink, sreg, var, reg_only;
    char letter;
};

static struct value_form value_form(const char *s) {
    struct value_form f = {0};
    for (;; s++) {
        switch (*s) {
        case '=':
            f.dst = true;
            break;
        case '_':
            f.sink = true;
            break;
        case '%':
            f.sreg = true;
            break;
        case '&':
            f.var = true;
            break;
        case '-':
            f.reg_only = true;
            break;
        default:
            f.letter = *s;
            return f;
        }
    }
}

static enum ptx_type letter_type(const struct judge *j, char c) {
    return c == 't' || c == 'T'   ? ptx_insn_type(j->in->src, 0)
           : c == 'u' || c == 'U' ? ptx_insn_type(j->in->src, 1)
           : c == 'p'             ? PTX_PRED
           : c == 'h'             ? PTX_B16
           : c == 'w'             ? PTX_B32
           : c == 'd'             ? PTX_B64
           : c == 'q'             ? PTX_B128
                                  : PTX_NOTYPE;
}

bool isa_takes_constant(const struct warp_opnd *o, enum ptx_type type) {
    if (type == PTX_F32 ||
        type == PTX_F64) /* integer constants do not become floating-point ones, nor the reverse (4.5.2) */
        return o->imm_float;
    if (type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2 ||
        type == PTX_B128) /* have none */
        return false;
    return type == PTX_NOTYPE || type == PTX_B32 || type == PTX_B64 || type == PTX_PRED || !o->imm_float;
}

/* mov.u16 reads %tid.x and its like, mov.u32 %gridid (10.1, 10.13). */
static bool sreg_has_bits(enum ptx_sreg r, unsigned bits) {
    return ptx_sreg_bits(r) == bits || (ptx_sreg_is_fixed(r) && bits >= 16 && bits < ptx_sreg_bits(r));
}

bool isa_has_bits(const struct warp_opnd *o, unsigned bits) {
    if (o->kind != WARP_SLOT && o->kind != WARP_NONE)
        return o->kind == WARP_DISCARD;
    const struct ptx_operand *p = o->more->src;
    switch (p->kind) {
    case PTX_OPND_REG:
        return o->bits == bits;
    case PTX_OPND_SREG:
        return sreg_has_bits((enum ptx_sreg)p->sreg, bits);
    case PTX_OPND_VAR: /* shared, local and parameter memory have short addresses too */
        return bits == 64 ? o->bits == 64
                          : (bits == 16 || bits == 32) && o->bits == 32 && p->var->space != PTX_SPACE_GLOBAL &&
                                p->var->space != PTX_SPACE_CONST;
    default:
        return o->bits == (bits == 8 || bits == 16 ? 32 : bits);
    }
}

static bool as_wide(const struct warp_opnd *o, char letter, enum ptx_type type) {
    const unsigned bits = ptx_type_bits(type);
    if (letter == '*')
        return true;
    if (!bits)
        return o->bits > 1;
    if (letter == 'w' && o->is_imm) /* warp_u32 takes it as written */
        return true;
    if (letter != 'T' && letter != 'U')
        return isa_has_bits(o, bits);
    return o->more->src->kind == PTX_OPND_REG ? o->bits >= bits && o->bits > 1 : isa_has_bits(o, bits);
}

static bool is_value(const struct judge *j, const struct value_form *f, const struct warp_opnd *o) {
    const enum ptx_type type = letter_type(j, f->letter);
    if (o->kind == WARP_DISCARD)
        return f->sink;
    if (o->kind != WARP_SLOT || (o->neg && (f->dst || o->bits != 1)))
        return false;
    switch (o->more->src->kind) {
    case PTX_OPND_REG:
        break;
    case PTX_OPND_IMM:
        if (f->dst || f->reg_only || o->neg || !isa_takes_constant(o, type))
            return false;
        break;
    case PTX_OPND_SREG:
        if (f->dst || !f->sreg)
            return false;
        break;
    default:
        if (f->dst || !f->var)
            return false;
    }
    return as_wide(o, f->letter, type);
}

static bool value(struct judge *j, const char *s, const struct warp_opnd *o, unsigned operand) {
    const struct value_form f = value_form(s);
    char size[24] = "", what[120];
    if (is_value(j, &f, o))
        return true;
    const enum ptx_type type = letter_type(j, f.letter);
    if (!f.dst && !f.reg_only && o->is_imm && !isa_takes_constant(o, type))
        return refuse(j, operand, "is a %s", "constant that does not have the kind of the instruction's type");
    if (type == PTX_PRED)
        snprintf(size, sizeof size, "predicate ");
    else if (type != PTX_NOTYPE)
        snprintf(size, sizeof size, "%u-bit ", ptx_type_bits(type));
    if (f.dst)
        snprintf(what, sizeof what, "destination: it must be a %sregister%s", size, f.sink ? " or _" : "");
    else
        snprintf(what, sizeof what, "source: it must be a %sregister%s", size, f.reg_only ? "" : " or constant");
    const bool scalar = o->kind != WARP_VEC && o->kind != WARP_MEM;
    return (scalar ? refuse : mismatch)(j, operand, "is a %s", what);
}

/* --- one operand -------------------------------------------------------------------------------------------------- */

static bool item(struct judge *j, const char *s, const struct warp_opnd *o, unsigned operand);

static bool list(struct judge *j, const char *s, const struct warp_opnd *o, unsigned operand) {
    if (o->kind != WARP_VEC)
        return mismatch(j, operand, "must be a %s", "list in braces");
    for (uint32_t i = 0; i < o->num_sub; i++)
        if (!item(j, s, &o->more->sub[i], operand))
            return false;
    return true;
}

/* An address in a register is zero-extended (6.4.1), and a tensor memory address has 32 bits (9.7.16.1.1). */
static bool address(struct judge *j, const char *s, const struct warp_opnd *o, unsigned operand) {
    const unsigned bits = o->bits;
    const enum warp_opnd_kind kind = *s == '$' ? WARP_PARAM : WARP_MEM;
    if (o->kind != kind || o->more->src->kind != PTX_OPND_MEM || o->num_sub != (*s == '{' ? 1 : 0))
        return mismatch(j, operand, "must be an address in brackets%s", *s == '{' ? ", with a list after it" : "");
    if (o->has_base && (*s == 'w' ? bits != 32 : bits != 16 && bits != 32 && bits != 64))
        return refuse(j, operand, "is an address: its register must have %s bits", *s == 'w' ? "32" : "16, 32 or 64");
    return *s != '{' || list(j, s + 1, &o->more->sub[0], operand);
}

static bool item(struct judge *j, const char *s, const struct warp_opnd *o, unsigned operand) {
    switch (*s) {
    case '{':
        return list(j, s + 1, o, operand);
    case '[':
        return address(j, s + 1, o, operand);
    case '#':
        return o->is_imm || refuse(j, operand, "must be a %s", "constant");
    case 'c':
        return (o->kind == WARP_NONE && o->more->src->kind == PTX_OPND_SREG &&
                isa_has_bits(o, ptx_type_bits(letter_type(j, 't')))) ||
               mismatch(j, operand, "is a %s", "special register of another width");
    case '$':
        return (o->kind == WARP_PARAM && o->more->src->kind == PTX_OPND_VAR) ||
               refuse(j, operand, "must be a %s", "parameter of a call");
    case 'l':
        return o->kind == WARP_LABEL || refuse(j, operand, "must be a %s", "label");
    case 'j':
        return o->kind == WARP_TABLE || refuse(j, operand, "must be a %s", "list of labels or functions");
    case 'f':
        return o->kind == WARP_FUNC || mismatch(j, operand, "must be a %s", "function");
    default:
        return value(j, s, o, operand);
    }
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* Do the words of `s` suit the operands from the one that is lowered to o on? */
static bool suits(struct judge *j, const char *s, unsigned operand, const struct warp_opnd *o) {
    const struct ptx_insn *src = j->in->src;
    const char *end = s + strcspn(s, " ;");
    const bool optional = end > s && end[-1] == '?',
               pair = operand < src->num_operands && src->operands[operand].kind == PTX_OPND_PAIR;
    if (end == s)
        return operand == src->num_operands || refuse(j, operand + 1, "is %s", "more than the instruction has");
    const char *rest = end + (*end == ' ');
    if (operand == src->num_operands)
        return optional ? suits(j, rest, operand, o) : refuse(j, operand + 1, "is %s", "missing");
    for (;; s++) {
        const char *next = s + strcspn(s, "/? ;"), *second = memchr(s, '|', (size_t)(next - s));
        if (pair != (second != NULL))
            mismatch(j, operand + 1, pair ? "%s no pair" : "%s a pair", pair ? "is" : "must be");
        else if (item(j, s, o, operand + 1) && (!second || item(j, second + 1, o + 1, operand + 1)) &&
                 suits(j, rest, operand + 1, o + 1 + pair))
            return true;
        s = next;
        if (*s != '/')
            break;
    }
    return optional && suits(j, rest, operand, o);
}

bool isa_judge_operands(struct isa_binder *b, const struct insn *in) {
    struct judge j = {.b = b, .in = in};
    const char *form = ptx_insn_form(in->src);
    if (*form != '-' && !suits(&j, form, 0, in->o))
        return false;
    b->why = NULL; /* of the alternatives that were not taken */
    return true;
}
