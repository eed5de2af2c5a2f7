/* ptx/error.c - reports of malformed text, and the token steps that make them.
 *
 *   name.ptx:12:7: error: unknown register '%r99'; is '%r9' meant?
 *       add.s32 %r1, %r2, %r99;
 *                         ^
 */
#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_BEFORE 90 /* columns of a long line that are kept before and after the caret */
#define SHOWN_AFTER 60

static uint32_t line_start(const struct ptx_lexer *lx, uint32_t pos) {
    while (pos > 0 && lx->text[pos - 1] != '\n')
        pos--;
    return pos;
}

/* The line and the caret, at most 150 columns of it; bytes that are not printable are shown as '?'. */
static int format_line(const struct ptx_lexer *lx, uint32_t pos, char *out, size_t room) {
    uint32_t start = line_start(lx, pos), end = pos;
    if (pos - start > SHOWN_BEFORE)
        start = pos - SHOWN_BEFORE;
    while (end < lx->len && end - pos < SHOWN_AFTER && lx->text[end] != '\n')
        end++;
    while (start < pos && (lx->text[start] == ' ' || lx->text[start] == '\t'))
        start++;
    char shown[SHOWN_BEFORE + SHOWN_AFTER + 1];
    uint32_t n = 0;
    for (uint32_t i = start; i < end; i++) {
        unsigned char c = (unsigned char)lx->text[i];
        shown[n++] = c == '\t' || c == '\r' ? ' ' : c >= 32 && c < 127 ? (char)c : '?';
    }
    return snprintf(out, room, "    %.*s\n    %*s\n", (int)n, shown, (int)(pos - start) + 1, "^");
}

static void report_at(struct ptx_parser *p, uint32_t pos, uint32_t line, const char *fmt, va_list ap) {
    if (p->failed)
        return;
    p->failed = true;
    p->lx.pos = p->lx.len;
    p->tok = (struct ptx_token){.kind = PTX_TK_END, .pos = pos, .line = line};
    char text[2048];
    size_t room = sizeof text, n;
    int k = snprintf(text, room / 2, "%.300s:%u:%u: error: ", p->module->name, line, pos - line_start(&p->lx, pos) + 1);
    n = k < 0 ? 0 : (size_t)k;
    vsnprintf(text + n, room / 2 - n, fmt, ap);
    n = strlen(text); /* of what fitted */
    text[n++] = '\n';
    k = format_line(&p->lx, pos, text + n, room - n);
    n += k < 0 ? 0 : (size_t)k;
    if (p->sink && p->sink->write)
        p->sink->write(p->sink->ctx, text, n);
}

void ptx_error(struct ptx_parser *p, const struct ptx_token *at, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report_at(p, at->pos, at->line, fmt, ap);
    va_end(ap);
}

__attribute__((format(printf, 4, 5))) static void error_at(struct ptx_parser *p, uint32_t pos, uint32_t line,
                                                           const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    report_at(p, pos, line, fmt, ap);
    va_end(ap);
}

void ptx_expected(struct ptx_parser *p, const char *what) {
    if (p->tok.kind == PTX_TK_END) {
        ptx_error(p, &p->tok, "expected %s, found the end of the text", what);
        return;
    }
    int shown = p->tok.len < 60 ? (int)p->tok.len : 60;
    ptx_error(p, &p->tok, "expected %s, found '%.*s'", what, shown, p->lx.text + p->tok.pos);
}

void ptx_unknown(struct ptx_parser *p, const struct ptx_token *at, const char *what) {
    if (p->failed)
        return;
    const struct ptx_binding *range = at->name->prefix ? at->name->prefix->range : NULL;
    if (range) {
        ptx_error(p, at, "'%.200s' is not one of %.200s<%u>", at->name->text, range->name->text, range->range.count);
        return;
    }
    const char *name = at->name->text, *near = ptx_nearest(p, name);
    ptx_error(p, at, "unknown %s '%.200s'%s%.200s%s", what, name, near ? "; is '" : "", near ? near : "",
              near ? "' meant?" : "");
}

void ptx_next(struct ptx_parser *p) {
    if (p->failed)
        return;
    p->prev_end = p->tok.pos + p->tok.len;
    p->tok = ptx_lex(&p->lx);
    if (p->lx.error)
        error_at(p, p->lx.error_pos, p->lx.error_line, "%s", p->lx.error);
}

bool ptx_accept(struct ptx_parser *p, int kind) {
    if (p->tok.kind != kind)
        return false;
    ptx_next(p);
    return true;
}

bool ptx_expect(struct ptx_parser *p, int kind, const char *what) {
    if (ptx_accept(p, kind))
        return true;
    ptx_expected(p, what);
    return false;
}

bool ptx_enter(struct ptx_parser *p) {
    if (p->nesting >= PTX_MAX_NESTING) {
        ptx_error(p, &p->tok, "more than %d levels of nesting", PTX_MAX_NESTING);
        return false;
    }
    p->nesting++;
    return true;
}

void ptx_leave(struct ptx_parser *p) { p->nesting--; }
