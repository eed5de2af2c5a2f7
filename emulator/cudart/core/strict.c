/* Strict findings: what the check level keeps back is counted in one line when the process ends, and shown in full when
 * a kernel or the program fails, so that a wrong result does not stay without its hint. Contract in context.h.
 *
 * A process that ends without exit handlers (_exit, a signal) ends without the line.
 */
#include "cudart/core/context.h"

#include "base/diag.h"

#include <stdio.h>
#include <string.h>

static struct finding *first_of(const struct rt_context *c) {
    return c->report.findings ? c->report.findings->first : NULL;
}

static bool is_kept(const struct finding *f) { return f->state == FINDING_BELOW && f->told == 0; }

/* "2 strict findings"; 0 where all were shown. */
static uint32_t count(const struct rt_context *c, char *text, size_t size) {
    uint32_t n = 0;
    for (const struct finding *f = first_of(c); f; f = f->next)
        n += is_kept(f);
    snprintf(text, size, "%u strict finding%s", n, n == 1 ? "" : "s");
    return n;
}

static void show(const struct rt_context *c) {
    const struct diag_sink to = diag_stderr();
    for (struct finding *f = first_of(c); f; f = f->next) {
        if (!is_kept(f))
            continue;
        diag_report(&to, f->diag, "%s", f->message);
        f->told = f->count;
    }
}

void rt_show_strict(struct rt_context *c) {
    char what[40];
    if (!count(c, what, sizeof what))
        return;
    diag_api("note", "%s (see --check=strict), which may be the cause:", what);
    show(c);
}

/* Appends "ID 2" for the findings with the id of `of`, unless it stands there already. */
static void list_id(const struct rt_context *c, const struct finding *of, char *text, size_t size) {
    uint32_t n = 0;
    bool before = true;
    for (const struct finding *f = first_of(c); f; f = f->next) {
        const bool same = is_kept(f) && strcmp(f->diag->id, of->diag->id) == 0;
        before &= f != of;
        if (same && before)
            return;
        n += same;
    }
    const size_t at = strlen(text);
    snprintf(text + at, size - at, "%s%s %u", at ? ", " : "", of->diag->id, n);
}

void rt_end_strict(struct rt_context *c, int status) {
    char what[40], list[480] = "";
    const uint32_t n = count(c, what, sizeof what);
    for (const struct finding *f = first_of(c); f; f = f->next)
        if (is_kept(f))
            list_id(c, f, list, sizeof list);
    if (n && !status) {
        diag_api("note", "%s (%s): --check=strict shows %s", what, list, n == 1 ? "it" : "them");
    } else if (n) {
        diag_api("note", "the program ends with %d, and has %s (see --check=strict), which may be the cause:", status,
                 what);
        show(c);
    }
}
