/* ptx/parser.h - what the parts of the parser share (the parser's own; others include ptx/ir.h).
 *
 * One pass, recursive descent. The first error is reported at once, sets `failed` and turns every further token into
 * PTX_TK_END, so that loops end; callers check nothing else. What the IR keeps lives in the module's arena, what only
 * the parse needs in `tmp`.
 *
 *   error.c    the report with line and caret         decl.c   variables, registers, initialisers (init.c)
 *   expr.c     constant expressions                   func.c   functions, parameters, their directives
 *   scope.c    bindings, labels, nearest names        body.c   statements and instructions (operand.c)
 *   parse.c    module directives and the public calls
 */
#ifndef PTX_PARSER_H
#define PTX_PARSER_H

#include "ptx/lex.h"

/* Limits. Generous for compilers, small enough that hostile text cannot exhaust the host. */
enum {
    PTX_MAX_TEXT = 256 << 20,     /* bytes of one module */
    PTX_MAX_STATEMENTS = 1 << 20, /* in one module; an instruction takes about 1 KB. Also of all .branchtargets */
    PTX_MAX_NESTING = 64,         /* braces, parentheses, unary operators */
    PTX_MAX_ELEMENTS = 1 << 16,   /* of a vector operand, call argument or label list */
    PTX_MAX_PARAMS = 1 << 16,
    PTX_MAX_DIMS = 8,               /* of an array */
    PTX_MAX_FILES = 1 << 16,        /* .file numbers */
    PTX_MAX_INIT_BYTES = 256 << 20, /* initialised variables of one module, together */
};
#define PTX_MAX_VAR_BYTES ((uint64_t)1 << 40)

enum ptx_binding_kind { PTX_BIND_REG, PTX_BIND_RANGE, PTX_BIND_VAR, PTX_BIND_FUNC, PTX_BIND_LABEL, PTX_BIND_TABLE };

struct ptx_binding {
    enum ptx_binding_kind kind;
    struct ptx_name *name;
    struct ptx_scope *scope;
    struct ptx_binding *outer;    /* what it shadows */
    struct ptx_binding *in_scope; /* list of its scope */
    union {
        const struct ptx_reg *reg;
        struct ptx_var *var;
        struct ptx_func *func;
        const struct ptx_table *table;
        uint32_t label;
        struct {
            uint32_t count;
            enum ptx_type type;
        } range;
    };
};

/* A label used before its scope is complete; `target` is filled when the label's scope closes. */
struct ptx_label_ref {
    struct ptx_label_ref *next;
    struct ptx_name *name;
    uint32_t *target;
    struct ptx_token at;
};

struct ptx_scope {
    struct ptx_scope *outer;
    uint32_t depth; /* 0 is the module */
    struct ptx_binding *bindings;
    struct ptx_label_ref *refs, *last_ref;
    bool has_labels;
};

struct ptx_linkage {
    bool is_extern, is_visible, is_weak, is_common;
};

/* A parameter while its list is read; it gets its owner and its place afterwards. */
struct ptx_formal {
    struct ptx_var var;
    struct ptx_name *name; /* NULL for _ */
    struct ptx_token at;
};

struct ptx_formals {
    struct ptx_formal *list;
    uint32_t count, cap;
};

/* The function whose body is being read. regs and insns have room for the whole body from the start. */
struct ptx_body {
    struct ptx_func *func;
    struct ptx_reg *regs;
    uint32_t num_regs, cap_regs;
    struct ptx_insn *insns;
    uint32_t *files; /* .file number of each instruction, 0 when unknown */
    uint32_t num_insns, cap_insns;
    const struct ptx_var **vars;
    uint32_t num_vars, cap_vars;
    uint32_t loc_file, loc_line, loc_column;
    const struct diag_inline *loc_inlined;
};

struct ptx_symbol_ref { /* name in an initialiser, checked when the module is complete */
    struct ptx_symbol_ref *next;
    struct ptx_name *name;
    struct ptx_token at;
};

struct ptx_table_list { /* every .calltargets, for .alias */
    struct ptx_table_list *next;
    struct ptx_table *table;
};

/* A call named by .loc ... inlined_at; its file gets a name when the module is complete. */
struct ptx_inline {
    struct diag_inline call;
    uint32_t file;
    struct ptx_inline *next; /* all of the module */
};

/* The latest .loc at a position. A chain of inlined calls is written callers first, each naming the position of the
 * one before. Positions share entries; one that was displaced costs the outer calls of a report, no more. */
#define PTX_LOC_MEMO 256
struct ptx_loc_memo {
    uint32_t file, line, column;
    const struct diag_inline *inlined;
};

struct ptx_parser {
    struct ptx_lexer lx;
    struct ptx_token tok; /* the current token */
    uint32_t prev_end;    /* where the token before it ended */
    const struct diag_sink *sink;
    bool failed;
    struct ptx_module *module;
    struct arena *keep; /* the module's */
    struct arena tmp;
    struct ptx_scope *scope;
    struct ptx_body body; /* body.func is NULL outside of functions */
    struct ptx_func **funcs;
    uint32_t num_funcs, cap_funcs;
    const struct ptx_var **vars;
    uint32_t num_vars, cap_vars;
    uint32_t **func_files; /* per function, see ptx_body.files */
    const char **files;    /* .file number -> name */
    struct ptx_inline *inlines;
    struct ptx_loc_memo loc_memo[PTX_LOC_MEMO];
    uint32_t num_files, cap_files;
    struct ptx_operand *scratch; /* stack of vector elements */
    uint32_t num_scratch, cap_scratch;
    struct ptx_symbol_ref *symbols;
    struct ptx_table_list *call_tables;
    uint64_t statements, init_bytes, targets; /* used up of the module's limits; targets: of .branchtargets */
    uint32_t nesting;                         /* of expressions and operands */
    bool has_alias;
    struct ptx_name *sink_name, *warp_sz, *n_generic; /* "_", "WARP_SZ", "generic" */
};

/* The directive that the current token names, or PTX_DIR_none. */
static inline enum ptx_dir ptx_directive(const struct ptx_parser *p) {
    return p->tok.kind == PTX_TK_WORD ? (enum ptx_dir)p->tok.name->dir : PTX_DIR_none;
}

/* error.c */
void ptx_error(struct ptx_parser *p, const struct ptx_token *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "expected <what>, found <current token>" */
void ptx_expected(struct ptx_parser *p, const char *what);
/* "unknown <what> 'name'", with the nearest name that is visible. */
void ptx_unknown(struct ptx_parser *p, const struct ptx_token *at, const char *what);
void ptx_next(struct ptx_parser *p);
/* Steps over the token when it is `kind`. */
bool ptx_accept(struct ptx_parser *p, int kind);
bool ptx_expect(struct ptx_parser *p, int kind, const char *what);
bool ptx_enter(struct ptx_parser *p); /* one nesting level of recursion; reports and fails at the limit */
void ptx_leave(struct ptx_parser *p);

/* expr.c */
struct ptx_value {
    enum ptx_imm_kind kind;
    bool is_unsigned;
    uint64_t bits;
};
/* A whole constant expression (4.5.4). */
struct ptx_value ptx_expr(struct ptx_parser *p);
uint64_t ptx_expr_unsigned(struct ptx_parser *p, const char *what, uint64_t max);
/* { (+|-) term }: the constant part of an address. */
int64_t ptx_expr_offset(struct ptx_parser *p);

/* scope.c */
void ptx_scope_open(struct ptx_parser *p);
void ptx_scope_close(struct ptx_parser *p);
struct ptx_binding *ptx_bind(struct ptx_parser *p, const struct ptx_token *at, enum ptx_binding_kind kind);
/* What the name means here, or NULL. Makes the register when it is one of a range. */
struct ptx_binding *ptx_lookup(struct ptx_parser *p, struct ptx_name *name);
const struct ptx_reg *ptx_new_reg(struct ptx_parser *p, const struct ptx_token *at, enum ptx_type type);
void ptx_new_range(struct ptx_parser *p, const struct ptx_token *at, enum ptx_type type, uint32_t count);
void ptx_label_use(struct ptx_parser *p, const struct ptx_token *at, uint32_t *target);
const char *ptx_nearest(struct ptx_parser *p, const char *name);

/* decl.c, init.c */
bool ptx_is_space(const struct ptx_parser *p); /* the current token opens a variable declaration */
void ptx_declaration(struct ptx_parser *p, struct ptx_linkage linkage);
/* [.align n] [.attribute] [.vN] .type [.ptr ...]: everything before the name. */
void ptx_var_head(struct ptx_parser *p, struct ptx_var *v);
/* The name has been read: [dims]. Sets size and incomplete; dims[0] is 0 when incomplete. */
struct ptx_dims {
    uint32_t count;
    uint64_t extent[PTX_MAX_DIMS + 1];
};
void ptx_var_dims(struct ptx_parser *p, struct ptx_var *v, struct ptx_dims *dims);
void ptx_initialiser(struct ptx_parser *p, struct ptx_var *v, struct ptx_dims *dims);
bool ptx_attribute(struct ptx_parser *p); /* true: .managed is among them */

/* func.c */
void ptx_function(struct ptx_parser *p, struct ptx_linkage linkage);
void ptx_formal_list(struct ptx_parser *p, struct ptx_formals *out);
struct ptx_var *ptx_keep_formals(struct ptx_parser *p, const struct ptx_formals *f, const struct ptx_func *owner);
void ptx_func_directives(struct ptx_parser *p, struct ptx_func *f);

/* body.c, operand.c */
void ptx_body(struct ptx_parser *p, struct ptx_func *f, struct ptx_formals *rets, struct ptx_formals *params);
void ptx_loc(struct ptx_parser *p);
void ptx_pragma(struct ptx_parser *p);
void ptx_file(struct ptx_parser *p);
void ptx_operand(struct ptx_parser *p, struct ptx_operand *o);
/* List up to `close`, which is consumed; the opening bracket has been. */
void ptx_operand_list(struct ptx_parser *p, int close, const char *what, struct ptx_operand *vec);

#endif
