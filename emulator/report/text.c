/* report/text.c - the text of the reports; contracts in diag.h. */
#include "report/diag.h"

#include "base/fatal.h"
#include "base/strbuf.h"
#include "report/excerpt.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 6144
#define ID_COLUMN 72       /* where [id] stands when the headline is shorter */
#define CALLS_SHOWN 8u     /* inlined calls of a chain */
#define PTX_TEXT_SHOWN 160 /* characters of an instruction; tcgen05.ld.x128 has thousands */

/* A report under construction, in TEXT_BYTES of which the last is for the end of a line. A report that does not fit is
 * cut, never overrun, and still ends its line. */
#define REPORT() strbuf_in((char[TEXT_BYTES]){0}, TEXT_BYTES - 1)

static void end_line(struct strbuf *t) {
    if (t->len > TEXT_BYTES - 2)
        t->len = TEXT_BYTES - 2;
    t->s[t->len++] = '\n';
    t->s[t->len] = '\0';
}

/* Appends the readable part of a C++ symbol: the nested names of _ZN2ns3fooILi4EEvi are "ns::foo<...>". Itanium C++
 * ABI 5.1.2, 5.1.3; anything else is shown as it is. */
static void put_func(struct strbuf *t, const char *name) {
    const char *s = name;
    size_t start = t->len;
    if (strncmp(s, "_Z", 2) == 0) {
        bool nested = s[2] == 'N';
        unsigned parts = 0;
        s += nested ? 3 : 2;
        for (s += strspn(s, "LKVr"); isdigit((unsigned char)*s) && parts < 16; parts++) {
            char *after;
            unsigned long n = strtoul(s, &after, 10);
            if (n == 0 || n > strlen(after))
                break;
            bool anonymous = strncmp(after, "_GLOBAL__N_", 11) == 0 || strncmp(after, "_INTERNAL_", 10) == 0;
            if (!anonymous)
                strbuf_put(t, "%s%.*s", t->len > start ? "::" : "", n < 200 ? (int)n : 200, after);
            s = after + n;
            if (!nested)
                break;
        }
        if (*s == 'I' && t->len > start)
            strbuf_put(t, "<...>");
    }
    if (t->len == start)
        strbuf_put(t, "%.300s", name);
}

/* Removes "name/../" from a path; nvcc writes headers as they were included, a/../b/c.cuh. */
static void fold_path(char *path) {
    for (char *up = strstr(path, "/../"); up; up = strstr(path, "/../")) {
        char *name = up;
        while (name > path && name[-1] != '/')
            name--;
        if (name == up || (up - name == 2 && name[0] == '.' && name[1] == '.'))
            return;
        memmove(name, up + 4, strlen(up + 4) + 1);
    }
}

/* A path below the working directory is shown from there, as a compiler given a relative path would. */
static void put_path(struct strbuf *t, const char *path) {
    char cwd[PATH_MAX], folded[512];
    snprintf(folded, sizeof folded, "%s", path);
    fold_path(folded);
    size_t n = getcwd(cwd, sizeof cwd) ? strlen(cwd) : 0;
    bool below = n && strncmp(folded, cwd, n) == 0 && folded[n] == '/';
    strbuf_put(t, "%s", below ? folded + n + 1 : folded);
}

/* The toolkit's own wrappers of single instructions (__syncwarp, __shfl_sync): sm_NN_intrinsics.hpp, crt/. */
static bool is_wrapper(const char *file) {
    const char *name = strrchr(file, '/');
    name = name ? name + 1 : file;
    if (strncmp(name, "sm_", 3) == 0 && strstr(name, "_intrinsics."))
        return true;
    return name - file >= 5 && strncmp(name - 5, "/crt/", 5) == 0;
}

/* The line in a source that the reader wrote: behind calls of the toolkit's wrappers, where the call is known. */
static struct diag_inline own_line(const struct diag_site *s) {
    struct diag_inline at = {s->src_file, s->src_line, s->src_column, s->inlined};
    while (at.file && at.outer && at.outer->file && is_wrapper(at.file))
        at = *at.outer;
    return at;
}

static void put_place(struct strbuf *t, const struct diag_site *s) {
    const struct diag_inline at = own_line(s);
    const bool known = at.file && at.line;
    put_path(t, known ? at.file : s->ptx_name ? s->ptx_name : "PTX");
    strbuf_put(t, ":%u", known ? at.line : s->ptx_line);
}

/* The line itself and a mark below it, where the file can be read. */
static void put_excerpt(struct strbuf *t, const char *file, uint32_t line, uint32_t column) {
    char text[EXCERPT_BYTES];
    uint32_t mark;
    if (!file || !line || !excerpt_read(file, line, column, text, &mark))
        return;
    strbuf_put(t, "%7u | %s", line, text);
    end_line(t);
    strbuf_put(t, "        | %*s^", (int)mark, "");
    end_line(t);
}

/* "a.cu:12, b.cu:30": the innermost call first. */
static void put_calls(struct strbuf *t, const struct diag_inline *call) {
    for (unsigned depth = 0; call && depth < CALLS_SHOWN; call = call->outer, depth++) {
        strbuf_put(t, "%s", depth ? ", " : "");
        put_path(t, call->file ? call->file : "?");
        strbuf_put(t, ":%u", call->line);
    }
}

const char *diag_where(const struct diag_site *s, char *buf, size_t size) {
    struct strbuf t = strbuf_in(buf, size);
    put_place(&t, s ? s : &(struct diag_site){0});
    const struct diag_inline *calls = s ? own_line(s).outer : NULL;
    if (calls) {
        strbuf_put(&t, " (from ");
        put_calls(&t, calls);
        strbuf_put(&t, ")");
    }
    return buf;
}

const char *diag_own(const struct diag_site *s, char *buf, size_t size) {
    struct strbuf t = strbuf_in(buf, size);
    struct diag_inline at = own_line(s);
    const struct diag_inline first = at;
    for (const struct diag_inline *call = at.outer; call; call = call->outer)
        if (call->file && strcmp(call->file, at.file ? at.file : "") != 0)
            at = *call;
    if (at.file == first.file || !first.line) {
        put_place(&t, s);
    } else {
        put_path(&t, at.file);
        strbuf_put(&t, ":%u, in ", at.line);
        put_place(&t, s);
    }
    return buf;
}

const char *diag_path(const char *path, char *buf, size_t size) {
    struct strbuf t = strbuf_in(buf, size);
    put_path(&t, path);
    return buf;
}

const char *diag_function(const char *symbol, char *buf, size_t size) {
    struct strbuf t = strbuf_in(buf, size);
    put_func(&t, symbol);
    return buf;
}

static void put_where(struct strbuf *t, const struct diag_site *s) {
    const char *name = s->ptx_name ? s->ptx_name : "PTX";
    strbuf_put(t, "  --> ");
    put_place(t, s);
    if (s->func) {
        strbuf_put(t, " in ");
        put_func(t, s->func);
    }
    end_line(t);
    const struct diag_inline own = own_line(s);
    put_excerpt(t, own.file, own.line, own.column);
    if (own.outer) {
        const struct diag_inline *call = own.outer; /* the outermost one stands in the function itself */
        for (unsigned depth = 1; call->outer && depth < CALLS_SHOWN; depth++)
            call = call->outer;
        strbuf_put(t, "   from: ");
        put_calls(t, own.outer);
        end_line(t);
        put_excerpt(t, call->file, call->line, call->column);
    }
    if (!s->ptx_text)
        return;
    size_t n = strlen(s->ptx_text);
    bool cut = n > PTX_TEXT_SHOWN;
    strbuf_put(t, "   ptx: ");
    if (s->src_file && s->src_line)
        strbuf_put(t, "%.300s:%u   ", name, s->ptx_line);
    strbuf_put(t, "%.*s%s", cut ? PTX_TEXT_SHOWN : (int)n, s->ptx_text, cut ? " ...;" : "");
    end_line(t);
}

/* "lanes 0-3,8,31" */
static void put_lanes(struct strbuf *t, uint32_t lanes) {
    const char *sep = lanes & (lanes - 1) ? "lanes " : "lane ";
    for (unsigned i = 0; i < 32; i++) {
        if (!(lanes >> i & 1))
            continue;
        unsigned end = i;
        while (end < 31 && lanes >> (end + 1) & 1)
            end++;
        if (end == i)
            strbuf_put(t, "%s%u", sep, i);
        else
            strbuf_put(t, "%s%u-%u", sep, i, end);
        sep = ",";
        i = end;
    }
}

static void put_who(struct strbuf *t, const struct diag_thread *d) {
    strbuf_put(t, "CTA (%u,%u,%u)", d->cta.x, d->cta.y, d->cta.z);
    if (d->cluster_size > 1)
        strbuf_put(t, ", rank %u of a cluster of %u,", d->cluster_rank, d->cluster_size);
    if (d->warp != DIAG_NO_WARP) {
        strbuf_put(t, " warp %u", d->warp);
        if (d->lanes) {
            strbuf_put(t, ", ");
            put_lanes(t, d->lanes);
            strbuf_put(t, " (%sthread (%u,%u,%u))", d->lanes & (d->lanes - 1) ? "first " : "", d->tid.x, d->tid.y,
                       d->tid.z);
        }
    } else if (t->s[t->len - 1] == ',') {
        t->s[--t->len] = '\0';
    }
}

static void put_thread(struct strbuf *t, const struct diag_thread *d) {
    strbuf_put(t, "   by:  ");
    put_who(t, d);
    end_line(t);
}

const char *diag_who(const struct diag_thread *thread, char *buf, size_t size) {
    struct strbuf t = strbuf_in(buf, size);
    put_who(&t, thread);
    return buf;
}

/* The party that came first. */
static void put_other(struct strbuf *t, const struct diag_party *o) {
    strbuf_put(t, "  and: %s", o->what);
    end_line(t);
    if (o->site)
        put_where(t, o->site);
    if (o->thread)
        put_thread(t, o->thread);
}

static void put_headline(struct strbuf *t, const struct diag *d, const char *fmt, va_list ap) {
    const char *id = d->id;
    strbuf_put(t, d->warning ? "warning: " : "error: ");
    strbuf_vput(t, fmt, ap);
    if (id && t->len < ID_COLUMN)
        strbuf_put(t, "%*s", (int)(ID_COLUMN - t->len), "");
    if (id)
        strbuf_put(t, " [%s]", id);
    end_line(t);
}

static void deliver(const struct diag_sink *sink, const struct strbuf *t) {
    if (sink && sink->write)
        sink->write(sink->ctx, t->s, t->len);
}

void diag_vreport(const struct diag_sink *sink, const struct diag *d, const char *fmt, va_list ap) {
    struct strbuf t = REPORT();
    put_headline(&t, d, fmt, ap);
    if (d->site)
        put_where(&t, d->site);
    if (d->thread)
        put_thread(&t, d->thread);
    if (d->other)
        put_other(&t, d->other);
    if (d->rule || d->section) {
        strbuf_put(&t, "   rule: %s", d->rule ? d->rule : "");
        if (d->section)
            strbuf_put(&t, "%s(%s)", d->rule ? "   " : "", d->section);
        end_line(&t);
    }
    if (d->hint) {
        strbuf_put(&t, "   hint: %s", d->hint);
        end_line(&t);
    }
    if (d->after) {
        strbuf_put(&t, "   note: the warning [%s] came before; this may follow from it", d->after);
        end_line(&t);
    }
    if (d->id) {
        strbuf_put(&t, "   more: %s#%s", DIAG_PAGE, d->id);
        end_line(&t);
    }
    deliver(sink, &t);
}

void diag_report(const struct diag_sink *sink, const struct diag *d, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    diag_vreport(sink, d, fmt, ap);
    va_end(ap);
}

void diag_report_more(const struct diag_sink *sink, const struct diag *d, uint64_t more, const char *when,
                      const struct diag_thread *last) {
    struct strbuf t = REPORT();
    strbuf_put(&t, "note: %llu more of [%s]", (unsigned long long)more, d->id);
    if (d->site) {
        strbuf_put(&t, " at ");
        put_place(&t, d->site);
    }
    strbuf_put(&t, "%s", when);
    if (last) {
        strbuf_put(&t, ", last by ");
        put_who(&t, last);
    }
    end_line(&t);
    deliver(sink, &t);
}

static void write_stderr(void *ctx, const char *text, size_t len) {
    (void)ctx;
    stderr_write(text, len);
}

struct diag_sink diag_stderr(void) {
    return (struct diag_sink){.write = write_stderr, .ctx = NULL};
}

void diag_api(const char *call, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    stderr_line(call, fmt, ap);
    va_end(ap);
}
