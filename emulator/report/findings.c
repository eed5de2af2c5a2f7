/* report/findings.c - the list of what was found; contract in findings.h. */
#include "report/findings.h"

#include "base/heap.h"
#include "report/suppress.h"

#include <stdio.h>
#include <string.h>

struct finding *findings_find(const struct findings *f, uint64_t key) {
    struct finding *x = f->first;
    while (x && x->key != key)
        x = x->next;
    return x;
}

struct finding *findings_add(struct findings *f, uint64_t key, const struct diag *d, const char *message) {
    if (f->num >= FINDINGS_MAX && d->warning)
        return NULL;
    struct finding *x = arena_alloc(&f->arena, sizeof *x);
    x->key = key;
    x->diag = diag_keep(&f->arena, d);
    x->message = arena_strndup(&f->arena, message, strlen(message));
    if (f->last)
        f->last->next = x;
    else
        f->first = x;
    f->last = x;
    f->num++;
    return x;
}

void findings_clear(struct findings *f) {
    arena_free(&f->arena);
    f->first = f->last = NULL;
    f->num = 0;
    f->met = f->lost = 0;
    f->reports = f->cut = 0;
    f->changes++;
}

void findings_free(struct findings *f) {
    if (f)
        findings_clear(f);
    xfree(f);
}

enum finding_state findings_judge(const struct findings *f, const struct diag *d, bool strict,
                                  const struct suppression **by) {
    if (d->class == DIAG_STRICT && !strict)
        return FINDING_BELOW;
    *by = d->class == DIAG_ERROR ? NULL : suppress_match(f->suppressions, d);
    return *by ? FINDING_SUPPRESSED : FINDING_TOLD;
}

/* --- from an island to the process -------------------------------------------------------------------------------- */

void findings_begin_launch(struct findings *f) {
    f->launches++;
    f->reports = f->cut = 0;
}

/* The entry of the process for one of an island, made where it is new; NULL where there is no room. */
static struct finding *entry_of(struct findings *all, const struct finding *f) {
    struct finding *x = findings_find(all, f->key);
    if (!x && (x = findings_add(all, f->key, f->diag, f->message))) {
        x->state = f->state == FINDING_TOLD ? FINDING_CUT : f->state; /* until it is told */
        x->suppression = f->suppression;
        all->changes++;
    }
    return x;
}

void findings_tell(struct findings *all, const struct diag_sink *sink, const struct finding *f) {
    struct finding *x = entry_of(all, f);
    const bool fault = !f->diag->warning;
    if (!x || f->state != FINDING_TOLD || (!fault && x->state != FINDING_CUT))
        return;
    if (!fault && all->reports == FINDINGS_REPORTS) {
        all->cut += x->launch != all->launches;
        x->launch = all->launches;
        return;
    }
    diag_report(sink, f->diag, "%s", f->message);
    all->reports += !fault;
    all->changes += x->state != FINDING_TOLD;
    x->state = FINDING_TOLD;
    x->launch = all->launches;
    x->told++;
}

void findings_take_counts(struct findings *all, struct findings *found) {
    for (struct finding *f = found->first; f; f = f->next) {
        struct finding *x = f->count ? findings_find(all, f->key) : NULL;
        if (x) {
            x->count += f->count;
            all->met += f->count;
            x->last = f->last;
        } else {
            all->lost += f->count;
        }
        f->count = 0;
    }
    all->lost += found->lost;
    found->lost = 0;
}

uint32_t findings_of_level(const struct findings *f) {
    uint32_t n = 0;
    for (const struct finding *x = f->first; x; x = x->next)
        n += x->state == FINDING_TOLD || x->state == FINDING_CUT;
    return n;
}

void findings_tell_more(struct findings *f, const struct diag_sink *sink, bool all, const char *when) {
    for (struct finding *x = f->first; x; x = x->next) {
        if (x->state != FINDING_TOLD || x->count <= x->told || (!all && x->launch != f->launches))
            continue;
        diag_report_more(sink, x->diag, x->count - x->told, when, x->diag->thread ? &x->last : NULL);
        x->told = x->count;
    }
}

void findings_end_launch(struct findings *f, const struct diag_sink *sink, uint32_t unseen) {
    char text[160];
    f->unseen |= unseen;
    findings_tell_more(f, sink, false, "");
    if (f->launch_ended)
        f->launch_ended(f->ctx);
    if (!f->cut)
        return;
    const int n =
        snprintf(text, sizeof text, "note: %u more findings of this launch are not shown, only counted\n", f->cut);
    sink->write(sink->ctx, text, (size_t)n);
}
