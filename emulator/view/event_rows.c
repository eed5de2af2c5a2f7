/* view/event_rows.c - events as rows of text; contract in event_rows.h. */
#include "view/event_rows.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PLAIN "\033[0m"
#define DIM "\033[2m"
#define BOLD "\033[1m"
#define LINE 1024 /* bytes of a line that are made */

struct rows rows_to(FILE *out) {
    struct rows r = {.out = out, .width = 160};
    struct winsize size;
    const char *no = getenv("NO_COLOR");
    if (!isatty(fileno(out)))
        return r;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
        r.width = size.ws_col;
    r.colour = !no || !*no;
    return r;
}

/* One of the terminal's colours for each name, not the two that lack contrast. */
static const char *colour_of(const char *who) {
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[34m", "\033[35m", "\033[36m", "\033[31m"};
    uint32_t key = 5;
    for (; *who && *who != '[' && *who != ' '; who++)
        key = key * 31 + (unsigned char)*who;
    return colours[key % (sizeof colours / sizeof *colours)];
}

/* Text in a colour, as much of it as the line has room for; *left: columns. */
static void put(const struct rows *r, uint32_t *left, const char *colour, const char *text) {
    uint32_t n = (uint32_t)strlen(text);
    n = n < *left ? n : *left;
    *left -= n;
    if (n)
        fprintf(r->out, "%s%.*s%s", r->colour ? colour : "", (int)n, text, r->colour ? PLAIN : "");
}

/* What does not fit ends in "...". */
static void cut(char *text, uint32_t width) {
    if (strlen(text) > width && width > 3)
        memcpy(text + width - 3, "...", 4);
}

void rows_put(const struct rows *r, const struct row *row) {
    uint32_t left = r->width ? r->width : LINE;
    char head[64], who[32], body[LINE];
    const size_t own = r->file ? strlen(r->file) : 0;
    const bool is_own = own && strncmp(row->where, r->file, own) == 0 && row->where[own] == ':';
    const char *line = row->where + (is_own ? own : 0);
    const uint32_t where = (uint32_t)strlen(line) + 2;
    struct strbuf w = strbuf_in(head, sizeof head);
    strbuf_put(&w, row->clock ? "%9.0f  cta%-3u " : "%7.0f  cta%-3u ", row->when, row->rank);
    put(r, &left, DIM, head);
    snprintf(who, sizeof who, "%-13s ", row->who);
    put(r, &left, colour_of(row->who), who);
    const uint32_t room = left > where + 24 ? left - where : left;
    const uint32_t first = room;
    snprintf(body, sizeof body, "%s", row->what);
    cut(body, room);
    uint32_t rest = room;
    put(r, &rest, row->milestone ? BOLD : "", body);
    if (*row->why && rest > 12) {
        snprintf(body, sizeof body, "  <- %s", row->why);
        cut(body, rest);
        put(r, &rest, DIM, body);
    }
    left -= first - rest;
    if (left >= where) {
        snprintf(body, sizeof body, "  %s", line);
        put(r, &left, DIM, body);
    }
    fputc('\n', r->out);
}

void rows_event(const struct rows *r, const struct say *s, uint32_t event) {
    char who[80], what[320], why[400], where[160];
    const struct trace_event *e = &s->c->events[event - 1];
    rows_put(r, &(struct row){.when = say_when(s, event),
                              .clock = s->times != NULL,
                              .rank = say_rank(s, event),
                              .milestone = say_is_phase(e),
                              .who = say_who(s, event, who, sizeof who),
                              .what = say_what(s, event, what, sizeof what),
                              .why = say_why(s, event, why, sizeof why),
                              .where = say_where(s, e->site, where, sizeof where)});
}

void rows_note(const struct rows *r, const char *format, ...) {
    char text[LINE];
    uint32_t left = r->width ? r->width : LINE;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(r, &left, *text == ' ' ? DIM : BOLD, text);
    fputc('\n', r->out);
}

void rows_head(struct rows *r, const struct say *s) {
    r->file = say_file(s);
    if (s->times)
        rows_note(
            r, "    cycle  where  who           what, and <- what made it happen then  (cycles of a model of a B200)");
    else
        rows_note(r, "  event  where  who           what, and <- what made it happen then");
    if (*r->file)
        rows_note(r, "lines without a name are those of %s", r->file);
}
