/* report/sarif.c - SARIF 2.1.0; contract in sarif.h. Section numbers are those of the OASIS standard.
 *
 * The class of a finding is its level (3.27.10): error, warning, or note where the ISA alone forbids it. Its first
 * place is that of the instruction; the other party of a race is a related location (3.27.22); calls that the compiler
 * inlined are stacks (3.44), innermost first.
 */
#include "report/sarif.h"

#include "base/heap.h"
#include "base/json.h"
#include "base/path.h"
#include "report/record.h"
#include "report/rules.h"
#include "report/suppress.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- strings ------------------------------------------------------------------------------------------------------ */

/* `"name": "text"`, with `before` in front; nothing where there is no text. */
static void put_member(FILE *f, const char *before, const char *name, const char *text) {
    if (!text)
        return;
    fprintf(f, "%s\"%s\": ", before, name);
    json_string(f, text);
}

/* `"name": {"text": "..."}` (3.11) */
static void put_message(FILE *f, const char *before, const char *name, const char *text) {
    if (!text)
        return;
    fprintf(f, "%s\"%s\": {\"text\": ", before, name);
    json_string(f, text);
    fputc('}', f);
}

/* A path as a URI reference (RFC 3986): from the working directory, or file:// (3.4.3). */
static void put_uri(FILE *f, const char *path) {
    char shown[512];
    diag_path(path, shown, sizeof shown);
    fputs(shown[0] == '/' ? "\"file://" : "\"", f);
    for (const unsigned char *s = (const unsigned char *)shown; *s; s++) {
        const bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
                           strchr("-._~/", *s) != NULL;
        fprintf(f, plain ? "%c" : "%%%02X", *s);
    }
    fputc('"', f);
}

/* --- places ------------------------------------------------------------------------------------------------------- */

/* A location (3.28) in braces. */
static void put_location(FILE *f, const char *file, uint32_t line, uint32_t column, const char *func,
                         const char *message) {
    char name[512];
    fputs("{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", f);
    put_uri(f, file ? file : "PTX");
    fputc('}', f);
    if (line) {
        fprintf(f, ", \"region\": {\"startLine\": %u", line);
        if (column)
            fprintf(f, ", \"startColumn\": %u", column);
        fputc('}', f);
    }
    fputc('}', f);
    if (func) {
        fputs(", \"logicalLocations\": [{\"kind\": \"function\"", f);
        put_member(f, ", ", "fullyQualifiedName", diag_function(func, name, sizeof name));
        put_member(f, ", ", "decoratedName", func);
        fputs("}]", f);
    }
    put_message(f, ", ", "message", message);
    fputc('}', f);
}

static void put_site(FILE *f, const struct diag_site *s, const char *message) {
    const bool source = s->src_file && s->src_line;
    put_location(f, source ? s->src_file : s->ptx_name, source ? s->src_line : s->ptx_line, source ? s->src_column : 0,
                 s->func, message);
}

/* A stack of inlined calls. */
static void put_stack(FILE *f, const struct diag_site *s, const char *message) {
    fputs("{", f);
    put_message(f, "", "message", message);
    fputs(", \"frames\": [{\"location\": ", f);
    put_site(f, s, NULL);
    fputc('}', f);
    for (const struct diag_inline *call = s->inlined; call; call = call->outer) {
        fputs(", {\"location\": ", f);
        put_location(f, call->file, call->line, call->column, NULL, NULL);
        fputc('}', f);
    }
    fputs("]}", f);
}

static void put_places(FILE *f, const struct diag *d) {
    const struct diag_site *other = d->other ? d->other->site : NULL;
    if (d->site) {
        fputs(",\n     \"locations\": [", f);
        put_site(f, d->site, NULL);
        fputc(']', f);
    }
    if (other) {
        fputs(",\n     \"relatedLocations\": [", f);
        put_site(f, other, d->other->what);
        fputc(']', f);
    }
    const bool calls = d->site && d->site->inlined, other_calls = other && other->inlined;
    if (!calls && !other_calls)
        return;
    fputs(",\n     \"stacks\": [", f);
    if (calls)
        put_stack(f, d->site, "inlined calls");
    if (other_calls) {
        fputs(calls ? ", " : "", f);
        put_stack(f, other, d->other->what);
    }
    fputc(']', f);
}

/* --- results ------------------------------------------------------------------------------------------------------ */

static bool is_shown(const struct finding *x) { return x->state != FINDING_BELOW; }

static const char *level_of(const struct diag *d) {
    static const char *const levels[] = {[DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_STRICT] = "note"};
    return levels[d->class];
}

/* The findings with whose rules the run begins: the first of each. */
struct rules {
    const struct finding **first;
    uint32_t num;
};

/* Where the rule of x stands; rules->num where it does not. */
static uint32_t index_of(const struct rules *rules, const struct finding *x) {
    uint32_t i = 0;
    while (i < rules->num && strcmp(rules->first[i]->diag->id, x->diag->id) != 0)
        i++;
    return i;
}

static struct rules gather(const struct findings *all) {
    struct rules rules = {.first = xcalloc(all->num + 1, sizeof(struct finding *))};
    for (const struct finding *x = all->first; x; x = x->next)
        if (is_shown(x) && index_of(&rules, x) == rules.num)
            rules.first[rules.num++] = x;
    return rules;
}

/* A reporting descriptor (3.49): the definition, as findings have words of their own. */
static void put_rule(FILE *f, const struct diag *d) {
    const struct diag *defined = rules_find(d->id);
    fputs("\n    {", f);
    put_member(f, "", "id", d->id);
    put_message(f, ", ", "shortDescription", d->rule ? d->rule : d->id);
    put_message(f, ",\n     ", "fullDescription", defined ? defined->reason : NULL);
    put_message(f, ",\n     ", "help", defined ? defined->hint : NULL);
    fprintf(f, ", \"defaultConfiguration\": {\"level\": \"%s\"},\n     \"properties\": {", level_of(d));
    fprintf(f, "\"page\": \"%s#%s\"", DIAG_PAGE, d->id);
    put_member(f, ", ", "section", d->section);
    fputs("}}", f);
}

static void put_properties(FILE *f, const struct finding *x) {
    const struct diag *d = x->diag;
    char who[256];
    fprintf(f, ",\n     \"properties\": {\"reported\": %s", x->state == FINDING_TOLD ? "true" : "false");
    if (d->site && d->site->ptx_text) {
        put_member(f, ", ", "ptxFile", d->site->ptx_name);
        fprintf(f, ", \"ptxLine\": %u", d->site->ptx_line);
        put_member(f, ", ", "ptx", d->site->ptx_text);
    }
    if (d->thread) {
        put_member(f, ", ", "thread", diag_who(d->thread, who, sizeof who));
        put_member(f, ", ", "lastThread", diag_who(&x->last, who, sizeof who));
    }
    if (d->other && d->other->thread)
        put_member(f, ", ", "otherThread", diag_who(d->other->thread, who, sizeof who));
    put_member(f, ", ", "section", d->section);
    put_member(f, ", ", "hint", d->hint);
    fputc('}', f);
}

static void put_result(FILE *f, const struct findings *all, const struct finding *x, uint32_t rule) {
    fputs("\n    {", f);
    put_member(f, "", "ruleId", x->diag->id);
    fprintf(f, ", \"ruleIndex\": %u, \"level\": \"%s\",\n", rule, level_of(x->diag));
    put_message(f, "     ", "message", x->message);
    put_places(f, x->diag);
    fprintf(f, ",\n     \"occurrenceCount\": %" PRIu64, x->count ? x->count : 1);
    fprintf(f, ", \"partialFingerprints\": {\"bug/v1\": \"%016" PRIx64 "\"}", x->key);
    if (x->suppression) {
        fputs(",\n     \"suppressions\": [{\"kind\": \"external\", \"location\": ", f);
        put_location(f, all->suppressions->path, x->suppression->at, 0, NULL, NULL);
        fputs("}]", f);
    }
    put_properties(f, x);
    fputc('}', f);
}

/* 3.20: a process that went to its end, and what was not seen of it. */
static void put_invocation(FILE *f, uint32_t unseen) {
    const char *between = "";
    char command[256];
    fputs("  \"invocations\": [{\"executionSuccessful\": true, ", f);
    put_member(f, "", "commandLine", record_command(command, sizeof command));
    fputs(", \"toolExecutionNotifications\": [", f);
    for (unsigned i = 0; i < BOUNDS; i++) {
        if (!(unseen >> i & 1))
            continue;
        fprintf(f, "%s{\"level\": \"warning\", \"message\": {\"text\": ", between);
        json_string(f, bound_text(i));
        fputs("}}", f);
        between = ", ";
    }
    fputs("]}],\n", f);
}

#define TOOL "  \"tool\": {\"driver\": {\"name\": \"sm100emu\", \"version\": \"" VERSION "\", \"rules\": ["

/* A run (3.14), without its braces. Those of several processes are told apart by their ids (3.17.3). */
static void put_run(FILE *f, const struct findings *all, unsigned turn) {
    const struct rules rules = gather(all);
    const char *between = "";
    if (turn > 1)
        fprintf(f, "  \"automationDetails\": {\"id\": \"process %u/\"},\n", turn);
    fputs(TOOL, f);
    for (uint32_t i = 0; i < rules.num; i++) {
        fputs(i ? "," : "", f);
        put_rule(f, rules.first[i]->diag);
    }
    fputs("]}},\n  \"results\": [", f);
    for (const struct finding *x = all->first; x; x = x->next) {
        if (!is_shown(x))
            continue;
        fputs(between, f);
        put_result(f, all, x, index_of(&rules, x));
        between = ",";
    }
    xfree(rules.first);
    fputs("],\n", f);
    put_invocation(f, all->unseen);
    fprintf(f, "  \"properties\": {\"launches\": %" PRIu64 ", \"occurrencesWithoutResult\": %" PRIu64 "}",
            all->launches, all->lost);
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* Lines of the file in which nothing else stands: strings hold no newline. */
#define BEFORE_RUNS "\n \"runs\": [{\n"
#define BETWEEN_RUNS "\n},{\n"
#define BEHIND_RUNS "\n}]}\n"

#define MOST_BYTES ((size_t)1 << 28) /* of a file that others have begun */

/* The runs in the file, as others have written them; owned by the caller. Empty where the file is none of ours. */
static char *read_runs(const char *path) {
    struct stat st;
    FILE *f = fopen(path, "re");
    const size_t size = f && fstat(fileno(f), &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
    char *text = xcalloc(size < MOST_BYTES ? size + 1 : 1, 1);
    if (size < MOST_BYTES && f)
        text[fread(text, 1, size, f)] = 0;
    if (f)
        fclose(f);
    char *first = strstr(text, BEFORE_RUNS), *end = first ? strstr(first, BEHIND_RUNS) : NULL;
    if (end)
        *end = 0;
    first = end ? first + strlen(BEFORE_RUNS) : text;
    memmove(text, first, end ? strlen(first) + 1 : 0);
    text[end ? strlen(text) : 0] = 0;
    return text;
}

/* The runs of others stay at their places; of one that is not there, there is an empty one. */
static void put_log(FILE *f, const struct findings *all, const char *path, unsigned turn) {
    char *runs = turn ? read_runs(path) : NULL, *at = runs && *runs ? runs : NULL;
    fputs("{\"$schema\": "
          "\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\n"
          " \"version\": \"2.1.0\"," BEFORE_RUNS,
          f);
    for (unsigned i = 1; i <= turn || at || i == 1; i++) {
        char *next = at ? strstr(at, BETWEEN_RUNS) : NULL;
        if (next)
            *next = 0;
        fputs(i > 1 ? BETWEEN_RUNS : "", f);
        if (i == (turn ? turn : 1))
            put_run(f, all, turn);
        else
            fputs(at ? at : TOOL "]}},\n  \"results\": []", f);
        at = next ? next + strlen(BETWEEN_RUNS) : NULL;
    }
    fputs(BEHIND_RUNS, f);
    xfree(runs);
}

bool sarif_write(const struct findings *f, const char *path, unsigned turn, char *why, size_t why_size) {
    char to[PATH_MAX], temporary[PATH_MAX + 32];
    struct stat st;
    path_of_option(path, to, sizeof to);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", to, (long)getpid());
    if (stat(to, &st) == 0 && !S_ISREG(st.st_mode)) {
        snprintf(why, why_size, "%s: no regular file", to);
        return false;
    }
    FILE *file = fopen(temporary, "we");
    bool ok = file != NULL;
    if (ok) {
        put_log(file, f, to, turn);
        ok = !ferror(file);
        ok &= fclose(file) == 0;
        ok = ok && rename(temporary, to) == 0;
    }
    if (!ok) {
        snprintf(why, why_size, "%s: %s", to, strerror(errno));
        if (file)
            unlink(temporary);
    }
    return ok;
}
