/* ptx/lex.h - PTX text to tokens, one at a time (4.1 - 4.5). Bounded by `len`; a NUL byte is an error. */
#ifndef PTX_LEX_H
#define PTX_LEX_H

#include "ptx/intern.h"

/* Single characters are their own kind. */
enum ptx_tk {
    PTX_TK_END = 0,
    PTX_TK_IDENT = 256, /* foo, %r1, $L__BB0_1, _ : name */
    PTX_TK_WORD,        /* .b32, .shared::cta : name, without the dot */
    PTX_TK_INT,         /* value, is_unsigned (4.5.1) */
    PTX_TK_F32,         /* 0f...: value = 32 bits */
    PTX_TK_F64,         /* 0d... or decimal: value = 64 bits */
    PTX_TK_STRING,      /* pos/len include the quotes */
    PTX_TK_SHL,
    PTX_TK_SHR,
    PTX_TK_EQ,
    PTX_TK_NE,
    PTX_TK_LE,
    PTX_TK_GE,
    PTX_TK_AND,
    PTX_TK_OR,
};

struct ptx_token {
    int kind;
    uint32_t pos, len, line; /* byte offset and length; line is 1-based */
    bool glued;              /* no blank between this token and the one before */
    bool is_unsigned;
    struct ptx_name *name;
    uint64_t value;
};

struct ptx_lexer {
    const char *text;
    uint32_t len, pos, line;
    struct ptx_interned *names;
    const char *error; /* set once; the offending place is (error_pos, error_line) */
    uint32_t error_pos, error_line;
};

/* The next token; PTX_TK_END at the end of the text or after an error. */
struct ptx_token ptx_lex(struct ptx_lexer *lx);
/* The first byte of the next token, 0 at the end. Consumes blanks and comments only. */
char ptx_lex_peek(struct ptx_lexer *lx);
/* Letters, digits, '_' and '$' (4.4). */
bool ptx_is_follow(char c);
/* What a body will need at most: counts from just after its '{' to the matching '}'. The lexer is not moved. */
struct ptx_body_size {
    uint32_t statements, names;
};
struct ptx_body_size ptx_lex_measure(const struct ptx_lexer *lx);

#endif
