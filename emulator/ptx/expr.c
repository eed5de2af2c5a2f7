/* ptx/expr.c - constant expressions (4.5.4 - 4.5.6): C's operators on .s64, .u64 and .f64. */
#include "ptx/parser.h"

#include <string.h>

typedef struct ptx_value value;

static value integer(uint64_t bits, bool is_unsigned) {
    return (value){.kind = PTX_IMM_INT, .bits = bits, .is_unsigned = is_unsigned};
}

static value floating(double d) {
    value v = {.kind = PTX_IMM_F64};
    memcpy(&v.bits, &d, sizeof d);
    return v;
}

static double as_double(value v) {
    double d;
    memcpy(&d, &v.bits, sizeof d);
    return d;
}

static value need_int(struct ptx_parser *p, const struct ptx_token *at, value v) {
    if (v.kind == PTX_IMM_INT)
        return v;
    ptx_error(p, at, "this operator needs integers (PTX ISA 4.5.4)");
    return integer(0, false);
}

static value expr_ternary(struct ptx_parser *p);

/* ( expr ), (.s64) unary, (.u64) unary: the parenthesis has been read. */
static value expr_unary(struct ptx_parser *p);
static value expr_paren(struct ptx_parser *p) {
    if (p->tok.kind == PTX_TK_WORD && (p->tok.name->mod == PTX_MOD_s64 || p->tok.name->mod == PTX_MOD_u64)) {
        bool is_unsigned = p->tok.name->mod == PTX_MOD_u64;
        ptx_next(p);
        ptx_expect(p, ')', "')' after the type of a cast");
        struct ptx_token at = p->tok;
        return integer(need_int(p, &at, expr_unary(p)).bits, is_unsigned);
    }
    value v = expr_ternary(p);
    ptx_expect(p, ')', "')'");
    return v;
}

static value expr_primary(struct ptx_parser *p) {
    struct ptx_token t = p->tok;
    switch (t.kind) {
    case PTX_TK_INT:
        ptx_next(p);
        return integer(t.value, t.is_unsigned);
    case PTX_TK_F32:
    case PTX_TK_F64:
        ptx_next(p);
        return (value){.kind = t.kind == PTX_TK_F32 ? PTX_IMM_F32 : PTX_IMM_F64, .bits = t.value};
    case '(':
        ptx_next(p);
        return expr_paren(p);
    case PTX_TK_IDENT:
        if (t.name == p->warp_sz) {
            ptx_next(p);
            return integer(32, false);
        }
        ptx_unknown(p, &t, "constant");
        return integer(0, false);
    default:
        ptx_expected(p, "a constant");
        return integer(0, false);
    }
}

static value apply_unary(struct ptx_parser *p, const struct ptx_token *op, value v) {
    if (v.kind == PTX_IMM_F32) {
        ptx_error(p, op, "0f constants are exact and take no operator (PTX ISA 4.5.2)");
        return v;
    }
    switch (op->kind) {
    case '+':
        return v;
    case '-':
        return v.kind == PTX_IMM_F64 ? floating(-as_double(v)) : integer(0 - v.bits, v.is_unsigned);
    case '!':
        return integer(!need_int(p, op, v).bits, false);
    default:
        return integer(~need_int(p, op, v).bits, true);
    }
}

static value expr_unary(struct ptx_parser *p) {
    if (!ptx_enter(p))
        return integer(0, false);
    struct ptx_token t = p->tok;
    value v;
    if (t.kind == '-' || t.kind == '+' || t.kind == '!' || t.kind == '~') {
        ptx_next(p);
        v = apply_unary(p, &t, expr_unary(p));
    } else {
        v = expr_primary(p);
    }
    ptx_leave(p);
    return v;
}

/* Higher binds tighter; 0 is no binary operator. */
static int precedence(int tk) {
    static const uint8_t of[] = {
        ['*'] = 10,       ['/'] = 10, ['%'] = 10, ['+'] = 9,       ['-'] = 9,        [PTX_TK_SHL] = 8,
        [PTX_TK_SHR] = 8, ['<'] = 7,  ['>'] = 7,  [PTX_TK_LE] = 7, [PTX_TK_GE] = 7,  [PTX_TK_EQ] = 6,
        [PTX_TK_NE] = 6,  ['&'] = 5,  ['^'] = 4,  ['|'] = 3,       [PTX_TK_AND] = 2, [PTX_TK_OR] = 1};
    return (size_t)tk < sizeof of ? of[tk] : 0;
}

static bool is_comparison(int tk) { return precedence(tk) == 7 || precedence(tk) == 6; }

/* What a comparison says of two of which the first is less, greater or equal: none of these with a NaN. */
static value compared(int tk, bool less, bool greater, bool equal) {
    const bool holds = tk == '<'         ? less
                       : tk == '>'       ? greater
                       : tk == PTX_TK_LE ? less || equal
                       : tk == PTX_TK_GE ? greater || equal
                                         : equal == (tk == PTX_TK_EQ);
    return integer(holds, false);
}

static value apply_floating(struct ptx_parser *p, const struct ptx_token *op, double a, double b) {
    if (is_comparison(op->kind))
        return compared(op->kind, a < b, b < a, a == b);
    switch (op->kind) {
    case '+':
        return floating(a + b);
    case '-':
        return floating(a - b);
    case '*':
        return floating(a * b);
    case '/':
        return floating(a / b);
    default:
        ptx_error(p, op, "this operator needs integers (PTX ISA 4.5.4)");
        return integer(0, false);
    }
}

static uint64_t divide(value a, value b, bool is_unsigned) {
    if (is_unsigned)
        return a.bits / b.bits;
    if (b.bits == UINT64_MAX) /* INT64_MIN / -1 wraps */
        return 0 - a.bits;
    return (uint64_t)((int64_t)a.bits / (int64_t)b.bits);
}

static uint64_t shift_right(value a, uint64_t n) {
    bool negative = !a.is_unsigned && a.bits >> 63;
    if (n >= 64)
        return negative ? UINT64_MAX : 0;
    return n == 0 ? a.bits : a.bits >> n | (negative ? UINT64_MAX << (64 - n) : 0);
}

static bool less(value a, value b, bool is_unsigned) {
    return is_unsigned ? a.bits < b.bits : (int64_t)a.bits < (int64_t)b.bits;
}

static value apply_integer(struct ptx_parser *p, const struct ptx_token *op, value a, value b) {
    bool u = a.is_unsigned || b.is_unsigned;
    if ((op->kind == '/' || op->kind == '%') && b.bits == 0) {
        ptx_error(p, op, "division by zero in a constant expression");
        return a;
    }
    if (is_comparison(op->kind))
        return compared(op->kind, less(a, b, u), less(b, a, u), a.bits == b.bits);
    switch (op->kind) {
    case '+':
        return integer(a.bits + b.bits, u);
    case '-':
        return integer(a.bits - b.bits, u);
    case '*':
        return integer(a.bits * b.bits, u);
    case '/':
        return integer(divide(a, b, u), u);
    case '%':
        return integer(a.bits % b.bits, false);
    case PTX_TK_SHL:
        return integer(b.bits < 64 ? a.bits << b.bits : 0, a.is_unsigned);
    case PTX_TK_SHR:
        return integer(shift_right(a, b.bits), a.is_unsigned);
    case '&':
        return integer(a.bits & b.bits, u);
    case '^':
        return integer(a.bits ^ b.bits, u);
    case '|':
        return integer(a.bits | b.bits, u);
    case PTX_TK_AND:
        return integer(a.bits && b.bits, false);
    default:
        return integer(a.bits || b.bits, false);
    }
}

static value apply_binary(struct ptx_parser *p, const struct ptx_token *op, value a, value b) {
    if (a.kind == PTX_IMM_INT && b.kind == PTX_IMM_INT)
        return apply_integer(p, op, a, b);
    if (a.kind == PTX_IMM_F64 && b.kind == PTX_IMM_F64)
        return apply_floating(p, op, as_double(a), as_double(b));
    ptx_error(p, op,
              a.kind == PTX_IMM_F32 || b.kind == PTX_IMM_F32
                  ? "0f constants are exact and take no operator (PTX ISA 4.5.2)"
                  : "integers and floating-point numbers do not mix in a constant (PTX ISA 4.5.4)");
    return a;
}

/* Recursion is at most one call per precedence level. */
static value expr_binary(struct ptx_parser *p, int lowest) {
    value a = expr_unary(p);
    for (;;) {
        struct ptx_token op = p->tok;
        int k = precedence(op.kind);
        if (k == 0 || k < lowest || p->failed)
            return a;
        ptx_next(p);
        a = apply_binary(p, &op, a, expr_binary(p, k + 1));
    }
}

static value expr_ternary(struct ptx_parser *p) {
    if (!ptx_enter(p))
        return integer(0, false);
    value v = expr_binary(p, 1);
    struct ptx_token at = p->tok;
    if (ptx_accept(p, '?')) {
        bool yes = need_int(p, &at, v).bits != 0;
        value a = expr_ternary(p);
        ptx_expect(p, ':', "':' of the conditional");
        value b = expr_ternary(p);
        if (a.kind != b.kind)
            ptx_error(p, &at, "integers and floating-point numbers do not mix in a constant (PTX ISA 4.5.4)");
        v = yes ? a : b;
        v.is_unsigned = a.is_unsigned || b.is_unsigned;
    }
    ptx_leave(p);
    return v;
}

value ptx_expr(struct ptx_parser *p) { return expr_ternary(p); }

uint64_t ptx_expr_unsigned(struct ptx_parser *p, const char *what, uint64_t max) {
    struct ptx_token at = p->tok;
    value v = need_int(p, &at, ptx_expr(p));
    if (v.bits <= max && (v.is_unsigned || v.bits <= INT64_MAX))
        return v.bits;
    ptx_error(p, &at, "%s must be between 0 and %llu", what, (unsigned long long)max);
    return 0;
}

int64_t ptx_expr_offset(struct ptx_parser *p) {
    uint64_t sum = 0;
    while (p->tok.kind == '+' || p->tok.kind == '-') {
        bool minus = p->tok.kind == '-';
        ptx_next(p);
        struct ptx_token at = p->tok;
        value v = need_int(p, &at, expr_binary(p, 10)); /* operators that bind tighter than + and - */
        sum = minus ? sum - v.bits : sum + v.bits;
    }
    return (int64_t)sum;
}
