/* machine/findings.c - the list of what was found; contract in findings.h. */
#include "machine/findings.h"

#include "base/heap.h"

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
    f->changes++;
}

void findings_free(struct findings *f) {
    if (f)
        findings_clear(f);
    xfree(f);
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
