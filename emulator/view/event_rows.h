/* view/event_rows.h - events as rows of text, one a line: when, where, who, what, why, line. */
#ifndef VIEW_EVENT_ROWS_H
#define VIEW_EVENT_ROWS_H

#include "view/say.h"

#include <stdio.h>

struct rows {
    FILE *out;
    bool colour;      /* with the terminal's */
    uint32_t width;   /* columns of a line, which is cut there; 0: it is not */
    const char *file; /* whose lines are given without its name; NULL: none */
};

struct row {
    double when; /* cycle, or number of the event */
    bool clock;  /* which of them */
    uint32_t rank;
    bool milestone; /* the completion of a phase: it stands out */
    const char *who, *what, *why, *where;
};

/* For a file that is a terminal: its width, and colours unless the environment's NO_COLOR is set; for another none, and
 * lines of 160 columns. */
struct rows rows_to(FILE *out);

/* What the columns are, and where times come from; from here on lines are those of the kernel's file. */
void rows_head(struct rows *r, const struct say *s);
void rows_put(const struct rows *r, const struct row *row);
/* The same of one event, in its own words. */
void rows_event(const struct rows *r, const struct say *s, uint32_t event);
/* A line over the whole width. */
__attribute__((format(printf, 2, 3))) void rows_note(const struct rows *r, const char *format, ...);

#endif
