/* explore/outcome.c - contract in outcome.h. The text that it reads is that of report/text.c and of --time. */
#include "explore/outcome.h"

#include "base/heap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SHOWN 160 /* characters of a line of output */

void text_add(struct text *w, const char *text, size_t len) {
    if (!w->s || w->len + len >= w->cap) {
        w->cap = 2 * (w->len + len) + 256;
        w->s = xrealloc_array(w->s, w->cap, 1);
    }
    memcpy(w->s + w->len, text, len);
    w->len += len;
    w->s[w->len] = 0;
}

void text_format(struct text *w, const char *fmt, ...) {
    char line[4096];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    text_add(w, line, n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

void outcome_free(struct outcome *o) {
    xfree(o->out.s);
    xfree(o->err.s);
    xfree(o->reports.s);
    *o = (struct outcome){0};
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* The next line of [*at, end), without its newline; false behind the last. */
static bool next_line(const char **at, const char *end, const char **line, size_t *len) {
    if (*at >= end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *len = (size_t)((newline ? newline : end) - *at);
    *at = newline ? newline + 1 : end;
    return true;
}

/* Copies a line without what `ignore` matches in it. */
static void add_compared(struct text *to, const char *line, size_t len, const regex_t *ignore) {
    char *copy = xcalloc(len + 1, 1), *at = copy;
    regmatch_t m;
    memcpy(copy, line, len);
    copy[len] = 0;
    for (int flags = 0; regexec(ignore, at, 1, &m, flags) == 0; flags = REG_NOTBOL) {
        text_add(to, at, (size_t)m.rm_so);
        if (m.rm_eo == m.rm_so) { /* nothing was matched: on behind the next character */
            if (!at[m.rm_eo])
                break;
            text_add(to, at + m.rm_eo++, 1);
        }
        at += m.rm_eo;
    }
    text_add(to, at, strlen(at));
    text_add(to, "\n", 1);
    xfree(copy);
}

static void drop_ignored(struct text *text, const regex_t *ignore) {
    struct text kept = {0};
    const char *at = text->s, *line;
    size_t len;
    while (next_line(&at, text->s + text->len, &line, &len))
        add_compared(&kept, line, len, ignore);
    xfree(text->s);
    *text = kept;
}

/* --- reports ------------------------------------------------------------------------------------------------------ */

#define IDS_PLACES 4u

/* A report under way: its id, and the places that it names. */
struct report {
    char id[80], place[IDS_PLACES][512];
    unsigned places;
};

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Both parties of a race are in its report, in the order in which they came: it is the same the other way round. */
static void end_report(struct report *r, struct text *to) {
    struct text line = {0};
    if (!r->id[0])
        return;
    qsort(r->place, r->places, sizeof r->place[0], by_text);
    text_format(&line, "%s", r->id);
    for (unsigned i = 0; i < r->places; i++)
        text_format(&line, " %s %s", i ? "and" : "at", r->place[i]);
    text_add(&line, "\n", 1);
    text_add(to, line.s, line.len);
    xfree(line.s);
    *r = (struct report){0};
}

/* "error: ... [id]": the id, or "". */
static void read_id(const char *line, size_t len, char *id, size_t size) {
    size_t from = len;
    id[0] = 0;
    if (!len || line[len - 1] != ']' ||
        (strncmp(line, "error: ", 7) != 0 && strncmp(line, "warning: ", 9) != 0 && strncmp(line, "strict: ", 8) != 0))
        return;
    while (from && line[from - 1] != '[')
        from--;
    if (from && len - 1 - from < size && strspn(line + from, "abcdefghijklmnopqrstuvwxyz0123456789-") == len - 1 - from)
        snprintf(id, size, "%.*s", (int)(len - 1 - from), line + from);
}

static int by_line(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Sorts lines and drops what is there twice. */
static void sort_lines(struct text *w) {
    struct text sorted = {0};
    size_t n = 0;
    if (!w->len)
        return;
    char **lines = xcalloc(w->len + 1, sizeof *lines);
    for (char *at = w->s, *save; (lines[n] = strtok_r(n ? NULL : at, "\n", &save)); n++)
        ;
    qsort(lines, n, sizeof *lines, by_line);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0)
            text_format(&sorted, "%s\n", lines[i]);
    xfree(lines);
    xfree(w->s);
    *w = sorted;
}

bool outcome_is_time(const char *line, size_t len, uint64_t *steps) {
    static const char end[] = " steps", before[] = " warp instructions, ";
    char text[512];
    len -= len && line[len - 1] == '\n';
    if (len >= sizeof text || len < sizeof end || strncmp(line, "sm100emu: ", 10) != 0 ||
        memcmp(line + len - (sizeof end - 1), end, sizeof end - 1) != 0)
        return false;
    memcpy(text, line, len);
    text[len] = 0;
    const char *at = strstr(text, before);
    if (!at)
        return false;
    const uint64_t n = strtoull(at + sizeof before - 1, NULL, 10);
    *steps = n > *steps ? n : *steps;
    return true;
}

void outcome_judge(struct outcome *o, const regex_t *ignore) {
    struct text err = {0};
    struct report r = {0};
    const char *at = o->err.s, *line;
    size_t len;
    while (next_line(&at, o->err.s + o->err.len, &line, &len)) {
        char id[sizeof r.id];
        if (outcome_is_time(line, len, &o->steps))
            continue;
        text_add(&err, line, len);
        text_add(&err, "\n", 1);
        read_id(line, len, id, sizeof id);
        if (id[0]) {
            end_report(&r, &o->reports);
            memcpy(r.id, id, sizeof id);
        } else if (r.places < IDS_PLACES && len > 6 && strncmp(line, "  --> ", 6) == 0) {
            const char *space = memchr(line + 6, ' ', len - 6);
            snprintf(r.place[r.places++], sizeof r.place[0], "%.*s", (int)(space ? space - line - 6 : (long)len - 6),
                     line + 6);
        }
    }
    end_report(&r, &o->reports);
    sort_lines(&o->reports);
    xfree(o->err.s);
    o->err = err;
    if (ignore)
        drop_ignored(&o->out, ignore);
}

/* --- differences -------------------------------------------------------------------------------------------------- */

static void say_end(const struct outcome *o, struct text *to) {
    if (o->stopped && o->out.len < OUTCOME_BYTES && o->err.len < OUTCOME_BYTES)
        text_format(to, "has not ended after %.0f s", o->seconds);
    else if (o->stopped)
        text_format(to, "printed more than %u MiB", (unsigned)(OUTCOME_BYTES >> 20));
    else if (WIFSIGNALED(o->status))
        text_format(to, "ends by signal %d, %s", WTERMSIG(o->status), strsignal(WTERMSIG(o->status)));
    else
        text_format(to, "ends with exit code %d", WEXITSTATUS(o->status));
}

static bool end_differs(const struct outcome *base, const struct outcome *o, struct text *why) {
    if (base->stopped == o->stopped && (o->stopped || base->status == o->status))
        return false;
    text_format(why, "  it ");
    say_end(o, why);
    text_format(why, "; under the default schedule it ");
    say_end(base, why);
    text_format(why, "\n");
    return true;
}

static void say_line(const char *line, size_t len, bool any, struct text *to) {
    if (any)
        text_format(to, "\"%.*s%s\"", (int)(len < SHOWN ? len : SHOWN), line, len < SHOWN ? "" : "...");
    else
        text_format(to, "missing");
}

static bool output_differs(const struct outcome *base, const struct outcome *o, struct text *why) {
    const char *a = base->out.s, *b = o->out.s, *la = NULL, *lb = NULL;
    size_t na = 0, nb = 0;
    if (base->out.len == o->out.len && (!base->out.len || memcmp(a, b, base->out.len) == 0))
        return false;
    for (unsigned line = 1;; line++) {
        const bool any_a = next_line(&a, base->out.s + base->out.len, &la, &na);
        const bool any_b = next_line(&b, o->out.s + o->out.len, &lb, &nb);
        if (any_a && any_b && na == nb && memcmp(la, lb, na) == 0)
            continue;
        text_format(why, "  line %u of its output is ", line);
        say_line(lb, nb, any_b, why);
        text_format(why, "; under the default schedule it is ");
        say_line(la, na, any_a, why);
        text_format(why, "\n");
        return true;
    }
}

/* Adds the lines of `a` that `b` has not. Both are sorted. */
static bool add_missing(const struct text *a, const struct text *b, const char *how, struct text *why) {
    const char *at = a->s, *line;
    size_t len;
    bool any = false;
    while (next_line(&at, a->s + a->len, &line, &len)) {
        const char *with = b->s, *other = NULL;
        size_t n = 0;
        bool found = false;
        while (!found && next_line(&with, b->s + b->len, &other, &n))
            found = n == len && memcmp(other, line, n) == 0;
        if (!found)
            text_format(why, "  %s: %.*s\n", how, (int)len, line);
        any |= !found;
    }
    return any;
}

bool outcome_differs(const struct outcome *base, const struct outcome *o, struct text *why) {
    bool any = end_differs(base, o, why);
    any |= output_differs(base, o, why);
    any |= add_missing(&o->reports, &base->reports, "reported, but not under the default schedule", why);
    any |= add_missing(&base->reports, &o->reports, "not reported, but under the default schedule", why);
    return any;
}
