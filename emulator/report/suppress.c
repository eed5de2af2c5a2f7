/* report/suppress.c - the file of --suppress; contract in suppress.h. */
#include "report/suppress.h"

#include "base/heap.h"
#include "report/rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define MAX_BYTES (1u << 20) /* of the file, which may be no file: /dev/zero never ends */

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Takes ":line" from the end of a glob. */
static uint32_t take_line(char *glob) {
    char *colon = strrchr(glob, ':');
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return 0;
    *colon = '\0';
    return (uint32_t)strtoul(colon + 1, NULL, 10);
}

/* A line of the file, which is cut into words; nothing is kept of an empty one. NULL, or what is wrong with it. */
static const char *read_line(struct suppressions *s, char *text, unsigned at, struct suppression ***tail) {
    char *rest = NULL, *word[4] = {NULL};
    text[strcspn(text, "#")] = '\0';
    word[0] = strtok_r(text, BLANKS, &rest);
    for (unsigned i = 1; i < 4 && word[i - 1]; i++)
        word[i] = strtok_r(NULL, BLANKS, &rest);
    if (!word[0])
        return NULL;
    if (word[3])
        return "a line is `rule-id [file-glob[:line] [function-glob]]'";
    if (!rules_find(word[0]))
        return "there is no such rule";
    struct suppression *x = arena_alloc(&s->arena, sizeof *x);
    x->at = at;
    x->rule = arena_strndup(&s->arena, word[0], strlen(word[0]));
    if (word[1]) {
        x->line = take_line(word[1]);
        x->file = arena_strndup(&s->arena, word[1], strlen(word[1]));
    }
    if (word[2])
        x->func = arena_strndup(&s->arena, word[2], strlen(word[2]));
    **tail = x;
    *tail = &x->next;
    return NULL;
}

bool suppress_read(struct suppressions *s, const char *path, char *why, size_t why_size) {
    struct suppression **tail = &s->first;
    const char *wrong = NULL;
    FILE *file = fopen(path, "re");
    char *const text = xcalloc(MAX_BYTES + 2, 1);
    const size_t n = file ? fread(text, 1, MAX_BYTES + 1, file) : 0;
    if (!file || ferror(file))
        wrong = strerror(errno);
    else if (n > MAX_BYTES)
        wrong = "longer than 1 MiB";
    if (wrong)
        snprintf(why, why_size, "%s: %s", path, wrong);
    s->path = arena_strndup(&s->arena, path, strlen(path));
    char *line = text, *next;
    for (unsigned at = 1; !wrong && *line; at++, line = next) {
        next = line + strcspn(line, "\n");
        next += *next ? (*next = 0, 1) : 0;
        wrong = read_line(s, line, at, &tail);
        if (wrong) /* the line was cut behind its first word */
            snprintf(why, why_size, "%s:%u: %s: %s", path, at, line + strspn(line, BLANKS), wrong);
    }
    xfree(text);
    if (file)
        fclose(file);
    return !wrong;
}

void suppress_free(struct suppressions *s) {
    arena_free(&s->arena);
    s->first = NULL;
}

__attribute__((visibility("default"))) bool sm100emu_suppress_check(const char *path, char *why, size_t why_size) {
    struct suppressions list = {0};
    const bool ok = suppress_read(&list, path, why, why_size);
    suppress_free(&list);
    return ok;
}

/* --- matching ----------------------------------------------------------------------------------------------------- */

static bool file_fits(const struct suppression *x, const char *file, uint32_t line) {
    char shown[512];
    if (!file || (x->line && x->line != line))
        return false;
    const char *slash = strrchr(file, '/');
    return fnmatch(x->file, file, 0) == 0 || fnmatch(x->file, diag_path(file, shown, sizeof shown), 0) == 0 ||
           (slash && fnmatch(x->file, slash + 1, 0) == 0);
}

static bool site_fits(const struct suppression *x, const struct diag_site *s) {
    char shown[512];
    if (!s)
        return false;
    if (x->func && (!s->func || (fnmatch(x->func, s->func, 0) != 0 &&
                                 fnmatch(x->func, diag_function(s->func, shown, sizeof shown), 0) != 0)))
        return false;
    const bool source = s->src_file && s->src_line;
    bool fits = file_fits(x, source ? s->src_file : s->ptx_name, source ? s->src_line : s->ptx_line);
    for (const struct diag_inline *call = s->inlined; call && !fits; call = call->outer)
        fits = file_fits(x, call->file, call->line);
    return fits;
}

const struct suppression *suppress_match(const struct suppressions *s, const struct diag *d) {
    for (const struct suppression *x = s ? s->first : NULL; x; x = x->next)
        if (strcmp(x->rule, d->id) == 0 &&
            (!x->file || site_fits(x, d->site) || (d->other && site_fits(x, d->other->site))))
            return x;
    return NULL;
}
