/* report/rules.c - the list of diagnostics; contract in rules.h. */
#include "report/rules.h"

#include "base/json.h"

#include <string.h>

/* GNU ld and lld give these names to both ends of a section; they are NULL where no room in this program has one. */
extern const struct diag_entry *const __start_sm100emu_diags[] __attribute__((weak, visibility("hidden")));
extern const struct diag_entry *const __stop_sm100emu_diags[] __attribute__((weak, visibility("hidden")));

const struct diag *rules_find(const char *id) {
    const struct diag *found = NULL;
    for (const struct diag_entry *const *e = __start_sm100emu_diags; e < __stop_sm100emu_diags; e++)
        for (size_t i = 0; i < (*e)->num; i++) {
            const struct diag *d = &(*e)->first[i];
            if (d->id && strcmp(d->id, id) == 0 && (!found || d->reason))
                found = d;
        }
    return found;
}

static void print_member(FILE *f, const char *name, const char *text) {
    if (!text)
        return;
    fprintf(f, ", \"%s\": ", name);
    json_string(f, text);
}

static void print_rule(FILE *f, const struct diag *d, const struct diag_entry *where) {
    static const char *const classes[] = {[DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_STRICT] = "strict"};
    fprintf(f, "{\"class\": \"%s\"", classes[d->class]);
    print_member(f, "id", d->id);
    print_member(f, "rule", d->rule);
    print_member(f, "section", d->section);
    print_member(f, "hint", d->hint);
    print_member(f, "reason", d->reason);
    print_member(f, "file", where->file);
    fprintf(f, ", \"line\": %u}", where->line);
}

void rules_print(FILE *f) {
    const char *between = "[";
    for (const struct diag_entry *const *e = __start_sm100emu_diags; e < __stop_sm100emu_diags; e++)
        for (size_t i = 0; i < (*e)->num; i++) {
            if (!(*e)->first[i].id)
                continue; /* a gap in an array */
            fprintf(f, "%s\n", between);
            print_rule(f, &(*e)->first[i], *e);
            between = ",";
        }
    fputs("\n]\n", f);
}
