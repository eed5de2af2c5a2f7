/* ptx/lex.c - see lex.h. */
#include "ptx/lex.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { C_FOLLOW = 1, C_DIGIT = 2, C_HEX = 4, C_BLANK = 8 };

static unsigned class_of(char c) {
    static const unsigned char classes[256] = {
        [' '] = C_BLANK,
        ['\t'] = C_BLANK,
        ['\n'] = C_BLANK,
        ['\r'] = C_BLANK,
        ['\v'] = C_BLANK,
        ['\f'] = C_BLANK,
        ['_'] = C_FOLLOW,
        ['$'] = C_FOLLOW,
        ['0' ... '9'] = C_FOLLOW | C_DIGIT | C_HEX,
        ['a' ... 'f'] = C_FOLLOW | C_HEX,
        ['g' ... 'z'] = C_FOLLOW,
        ['A' ... 'F'] = C_FOLLOW | C_HEX,
        ['G' ... 'Z'] = C_FOLLOW,
    };
    return classes[(unsigned char)c];
}

bool ptx_is_follow(char c) { return class_of(c) & C_FOLLOW; }

static char at(const struct ptx_lexer *lx, uint32_t pos) { return pos < lx->len ? lx->text[pos] : '\0'; }

static void fail(struct ptx_lexer *lx, uint32_t pos, const char *what) {
    if (lx->error)
        return;
    lx->error = what;
    lx->error_pos = pos;
    lx->error_line = lx->line;
    lx->pos = lx->len;
}

static void skip_block_comment(struct ptx_lexer *lx) {
    uint32_t start = lx->pos, line = lx->line;
    for (lx->pos += 2; lx->pos + 1 < lx->len; lx->pos++) {
        if (lx->text[lx->pos] == '\n')
            lx->line++;
        if (lx->text[lx->pos] == '*' && lx->text[lx->pos + 1] == '/') {
            lx->pos += 2;
            return;
        }
    }
    lx->line = line;
    fail(lx, start, "this comment never ends");
}

static void skip_blanks(struct ptx_lexer *lx) {
    while (lx->pos < lx->len) {
        char c = lx->text[lx->pos];
        if (class_of(c) & C_BLANK) {
            lx->line += c == '\n';
            lx->pos++;
        } else if (c == '/' && at(lx, lx->pos + 1) == '/') {
            const char *end = memchr(lx->text + lx->pos, '\n', lx->len - lx->pos);
            lx->pos = end ? (uint32_t)(end - lx->text) : lx->len;
        } else if (c == '/' && at(lx, lx->pos + 1) == '*') {
            skip_block_comment(lx);
        } else {
            return;
        }
    }
}

char ptx_lex_peek(struct ptx_lexer *lx) {
    skip_blanks(lx);
    return at(lx, lx->pos);
}

static uint32_t skip_follow(const struct ptx_lexer *lx, uint32_t p) {
    while (p < lx->len && class_of(lx->text[p]) & C_FOLLOW)
        p++;
    return p;
}

/* The end of a dotted word whose first character is at p: "shared::cta" is one word, "L1:" ends before the colon. */
static uint32_t skip_word(const struct ptx_lexer *lx, uint32_t p) {
    for (p = skip_follow(lx, p); at(lx, p) == ':' && at(lx, p + 1) == ':' && ptx_is_follow(at(lx, p + 2));)
        p = skip_follow(lx, p + 2);
    return p;
}

static bool lex_integer(struct ptx_lexer *lx, struct ptx_token *t, uint32_t p, unsigned base) {
    uint64_t v = 0;
    uint32_t first = p;
    for (; ptx_is_follow(at(lx, p)) && at(lx, p) != 'U'; p++) {
        char c = at(lx, p);
        unsigned d = class_of(c) & C_DIGIT ? (unsigned)(c - '0')
                     : class_of(c) & C_HEX ? (unsigned)(c | 32) - 'a' + 10
                                           : 99;
        if (d >= base) {
            fail(lx, p, "this digit does not belong in the number");
            return false;
        }
        if (__builtin_mul_overflow(v, (uint64_t)base, &v) || __builtin_add_overflow(v, (uint64_t)d, &v)) {
            fail(lx, t->pos, "this number does not fit in 64 bits (PTX ISA 4.5.1)");
            return false;
        }
    }
    if (p == first) {
        fail(lx, t->pos, "a number without digits");
        return false;
    }
    t->kind = PTX_TK_INT;
    t->value = v;
    t->is_unsigned = v > INT64_MAX;
    if (at(lx, p) == 'U') {
        t->is_unsigned = true;
        if (ptx_is_follow(at(lx, ++p))) {
            fail(lx, p, "nothing may follow the U of a number");
            return false;
        }
    }
    lx->pos = p;
    return true;
}

/* 0fXXXXXXXX, 0dXXXXXXXXXXXXXXXX: the bits themselves (4.5.2). */
static void lex_bits(struct ptx_lexer *lx, struct ptx_token *t, unsigned digits) {
    uint32_t p = t->pos + 2;
    if (skip_follow(lx, p) - p != digits || at(lx, p + digits - 1) == 'U') {
        fail(lx, t->pos,
             digits == 8 ? "0f needs exactly 8 hexadecimal digits (PTX ISA 4.5.2)"
                         : "0d needs exactly 16 hexadecimal digits (PTX ISA 4.5.2)");
        return;
    }
    if (lex_integer(lx, t, p, 16))
        t->kind = digits == 8 ? PTX_TK_F32 : PTX_TK_F64;
}

static double c_strtod(const char *s) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c)
        return strtod(s, NULL);
    double v = strtod_l(s, NULL, c);
    freelocale(c);
    return v;
}

/* The end of a decimal floating-point literal at pos, or 0 when the text there is an integer. */
static uint32_t decimal_float_end(const struct ptx_lexer *lx, uint32_t p) {
    uint32_t start = p;
    while (class_of(at(lx, p)) & C_DIGIT)
        p++;
    bool is_float = at(lx, p) == '.';
    if (is_float)
        for (p++; class_of(at(lx, p)) & C_DIGIT;)
            p++;
    if (p > start + is_float && (at(lx, p) | 32) == 'e') {
        uint32_t e = p + 1;
        if (at(lx, e) == '+' || at(lx, e) == '-')
            e++;
        if (class_of(at(lx, e)) & C_DIGIT) {
            is_float = true;
            while (class_of(at(lx, e)) & C_DIGIT)
                e++;
            p = e;
        }
    }
    return is_float && !ptx_is_follow(at(lx, p)) ? p : 0;
}

static void lex_number(struct ptx_lexer *lx, struct ptx_token *t) {
    char c = at(lx, t->pos), x = (char)(at(lx, t->pos + 1) | 32);
    if (c == '0' && (x == 'f' || x == 'd')) {
        lex_bits(lx, t, x == 'f' ? 8 : 16);
        return;
    }
    uint32_t end = decimal_float_end(lx, t->pos);
    if (end) {
        char buf[256];
        uint32_t n = end - t->pos;
        if (n >= sizeof buf) {
            fail(lx, t->pos, "this floating-point number has more than 255 characters");
            return;
        }
        memcpy(buf, lx->text + t->pos, n);
        buf[n] = '\0';
        double v = c_strtod(buf);
        if (isinf(v)) {
            fail(lx, t->pos, "this number is too large for a double");
            return;
        }
        t->kind = PTX_TK_F64;
        memcpy(&t->value, &v, sizeof v);
        lx->pos = end;
    } else if (c == '0' && (x == 'x' || x == 'b')) {
        lex_integer(lx, t, t->pos + 2, x == 'x' ? 16 : 2);
    } else {
        bool octal = c == '0' && class_of(at(lx, t->pos + 1)) & C_DIGIT;
        lex_integer(lx, t, t->pos, octal ? 8 : 10);
    }
}

static void lex_string(struct ptx_lexer *lx, struct ptx_token *t) {
    uint32_t p = t->pos + 1;
    while (p < lx->len && lx->text[p] != '"' && lx->text[p] != '\n')
        p += lx->text[p] == '\\' && at(lx, p + 1) != '\n' ? 2 : 1;
    if (at(lx, p) != '"') {
        fail(lx, t->pos, "this string never ends");
        return;
    }
    t->kind = PTX_TK_STRING;
    lx->pos = p + 1;
}

static void lex_punctuation(struct ptx_lexer *lx, struct ptx_token *t, char c) {
    static const struct {
        char a, b;
        int kind;
    } pairs[] = {{'<', '<', PTX_TK_SHL}, {'>', '>', PTX_TK_SHR}, {'=', '=', PTX_TK_EQ},  {'!', '=', PTX_TK_NE},
                 {'<', '=', PTX_TK_LE},  {'>', '=', PTX_TK_GE},  {'&', '&', PTX_TK_AND}, {'|', '|', PTX_TK_OR}};
    char d = at(lx, t->pos + 1);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (c == pairs[i].a && d == pairs[i].b) {
            t->kind = pairs[i].kind;
            lx->pos = t->pos + 2;
            return;
        }
    }
    if (!c || !strchr("{}[]()<>,;:=+-*/%!~&|^?@", c)) {
        fail(lx, t->pos, c ? "a character that PTX does not use" : "a NUL byte in the text");
        return;
    }
    t->kind = (unsigned char)c;
    lx->pos = t->pos + 1;
}

static void lex_name(struct ptx_lexer *lx, struct ptx_token *t, uint32_t start, uint32_t end, int kind) {
    t->kind = kind;
    t->name = ptx_intern(lx->names, lx->text + start, end - start);
    lx->pos = end;
}

struct ptx_token ptx_lex(struct ptx_lexer *lx) {
    uint32_t before = lx->pos;
    skip_blanks(lx);
    struct ptx_token t = {.pos = lx->pos, .line = lx->line, .glued = lx->pos == before && before > 0};
    if (lx->pos >= lx->len)
        return t;
    char c = lx->text[lx->pos], d = at(lx, lx->pos + 1);
    unsigned k = class_of(c);
    if (c == '.' && ptx_is_follow(d)) {
        bool word = !(class_of(d) & C_DIGIT) || (t.glued && ptx_is_follow(lx->text[before - 1])) ||
                    !decimal_float_end(lx, t.pos);
        if (word)
            lex_name(lx, &t, t.pos + 1, skip_word(lx, t.pos + 1), PTX_TK_WORD);
        else
            lex_number(lx, &t);
    } else if (k & C_DIGIT) {
        lex_number(lx, &t);
    } else if (k & C_FOLLOW || (c == '%' && ptx_is_follow(d))) {
        lex_name(lx, &t, t.pos, skip_follow(lx, t.pos + 1), PTX_TK_IDENT);
    } else if (c == '"') {
        lex_string(lx, &t);
    } else {
        lex_punctuation(lx, &t, c);
    }
    if (lx->error)
        t.kind = PTX_TK_END;
    t.len = lx->pos - t.pos;
    return t;
}

struct ptx_body_size ptx_lex_measure(const struct ptx_lexer *original) {
    struct ptx_lexer lx = *original;
    struct ptx_body_size n = {0, 0};
    for (uint32_t depth = 1; depth && lx.pos < lx.len;) {
        skip_blanks(&lx);
        char c = at(&lx, lx.pos);
        uint32_t start = lx.pos;
        if (ptx_is_follow(c) || c == '%') {
            lx.pos = skip_follow(&lx, lx.pos + 1);
            n.names += !(class_of(c) & C_DIGIT);
        } else if (c == '.') {
            lx.pos = skip_follow(&lx, lx.pos + 1);
        } else if (c == '"') {
            struct ptx_token t = {.pos = start};
            lex_string(&lx, &t);
        } else {
            depth += c == '{';
            depth -= c == '}';
            n.statements += c == ';';
            lx.pos += lx.pos < lx.len;
        }
    }
    return n;
}
