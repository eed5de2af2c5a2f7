/* report/report.c - contract in report.h. */
#include "report/report.h"

#include "base/heap.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "report/diag.h"
#include "report/record.h"
#include "report/sarif.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the file ----------------------------------------------------------------------------------------------------- */

/* The first process of a run begins the file anew, the others add to it. */
static bool write_json(struct report *r, char *why, size_t why_size) {
    char to[PATH_MAX];
    r->written = r->findings->met;
    r->launches = r->findings->launches;
    if (r->json == NULL)
        return true;
    path_of_option(r->json, to, sizeof to);
    const int lock = record_lock(getenv(RECORD_RUN_VARIABLE));
    const bool begun = r->turn != 0;
    if (lock >= 0 && !begun)
        r->turn = record_turn(lock, to);
    const bool ok = sarif_write(r->findings, r->json, begun || r->turn > 1 ? r->turn : 0, why, why_size);
    record_unlock(lock);
    return ok;
}

/* That the file cannot be written is told once: what was found is on stderr. */
static void rewrite_json(struct report *r, const char *call) {
    char why[512];
    if (write_json(r, why, sizeof why))
        return;
    if (!r->json_lost)
        diag_api(call, "--check-json: %s", why);
    r->json_lost = true;
}

/* --- the record of the run ---------------------------------------------------------------------------------------- */

/* Which process and which test meets it; never 0. */
static uint64_t here(void) {
    char test[512];
    uint64_t key = UINT64_C(0xCBF29CE484222325) ^ (uint64_t)getpid();
    for (const char *c = record_test(test, sizeof test); *c; c++)
        key = (key ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
    return key | 1;
}

/* What the record could not take is said once. */
static void recorded(struct report *r, bool is) {
    if (!is && !r->record_lost)
        diag_api("note", RECORD_LOST);
    r->record_lost |= !is;
}

/* A line for each finding that is new, or that another test has met again. */
static void note(struct report *r) {
    static const char *const classes[] = {[DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_STRICT] = "strict"};
    const uint64_t by = r->record ? here() : 0;
    char place[640];
    for (struct finding *x = r->record ? r->findings->first : NULL; x != NULL; x = x->next) {
        const bool again = x->count > x->recorded, told = x->state == FINDING_TOLD || x->state == FINDING_CUT;
        x->recorded = x->count;
        if (!told || x->recorded_by == by || (x->recorded_by != 0 && !again))
            continue;
        x->recorded_by = by;
        const struct diag_site *site = x->diag->site; /* NULL: met as a CTA ended, say */
        recorded(r, record_found(r->record, classes[x->diag->class], x->diag->id,
                                 site ? diag_own(site, place, sizeof place) : "no line of the kernel"));
    }
}

static void on_launch_end(void *ctx) {
    struct report *r = ctx;
    note(r);
    if (r->findings->unseen == r->unseen)
        return;
    r->unseen = r->findings->unseen;
    recorded(r, record_unseen(r->record));
    rewrite_json(r, *r->call);
}

/* The list has grown: whatever becomes of the process, the file and the record have it. */
static void on_change(void *ctx) {
    struct report *r = ctx;
    rewrite_json(r, *r->call);
    note(r);
}

bool report_open(struct report *r, const char *const *call, const char *suppress, const char *json, char *why,
                 size_t why_size) {
    const char *record = getenv(RECORD_VARIABLE);
    if (r->findings != NULL)
        return true;
    int n = snprintf(why, why_size, "--suppress: ");
    bool ok = suppress == NULL || suppress_read(&r->suppressions, suppress, why + n, why_size - (size_t)n);
    r->call = call;
    r->findings = xcalloc(1, sizeof *r->findings);
    r->findings->suppressions = &r->suppressions;
    r->findings->changed = on_change;
    r->findings->launch_ended = on_launch_end;
    r->findings->ctx = r;
    if (ok && json != NULL) {
        r->json = strcpy(xcalloc(1, strlen(json) + 1), json);
        n = snprintf(why, why_size, "--check-json: ");
        ok = write_json(r, why + n, why_size - (size_t)n);
    }
    if (ok) {
        r->record = record != NULL && *record != 0 ? xstrdup(record) : NULL;
        recorded(r, record_use(r->record));
        return true;
    }
    findings_free(r->findings);
    suppress_free(&r->suppressions);
    xfree(r->json);
    *r = (struct report){0};
    return false;
}

/* --- strict findings ---------------------------------------------------------------------------------------------- */

static struct finding *first_of(const struct report *r) { return r->findings ? r->findings->first : NULL; }

static bool is_kept(const struct finding *f) { return f->state == FINDING_BELOW && f->told == 0; }

/* "2 strict findings"; 0 where all were shown. */
static uint32_t count(const struct report *r, char *text, size_t size) {
    uint32_t n = 0;
    for (const struct finding *f = first_of(r); f; f = f->next)
        n += is_kept(f);
    snprintf(text, size, "%u strict finding%s", n, n == 1 ? "" : "s");
    return n;
}

static void show(const struct report *r) {
    const struct diag_sink to = diag_stderr();
    for (struct finding *f = first_of(r); f; f = f->next) {
        if (!is_kept(f))
            continue;
        diag_report(&to, f->diag, "%s", f->message);
        f->told = f->count;
    }
}

void report_strict(const struct report *r) {
    char what[40];
    if (!count(r, what, sizeof what))
        return;
    diag_api("note", "%s (see --check=strict), which may be the cause:", what);
    show(r);
}

/* Appends "ID 2" for the findings with the id of `of`, unless it stands there already. */
static void list_id(const struct report *r, const struct finding *of, char *text, size_t size) {
    uint32_t n = 0;
    bool before = true;
    for (const struct finding *f = first_of(r); f; f = f->next) {
        const bool same = is_kept(f) && strcmp(f->diag->id, of->diag->id) == 0;
        before &= f != of;
        if (same && before)
            return;
        n += same;
    }
    const size_t at = strlen(text);
    snprintf(text + at, size - at, "%s%s %u", at ? ", " : "", of->diag->id, n);
}

static void end_strict(const struct report *r, int status) {
    char what[40], list[480] = "";
    const uint32_t n = count(r, what, sizeof what);
    for (const struct finding *f = first_of(r); f; f = f->next)
        if (is_kept(f))
            list_id(r, f, list, sizeof list);
    if (n && !status) {
        diag_api("note", "%s (%s): --check=strict shows %s", what, list, n == 1 ? "it" : "them");
    } else if (n) {
        diag_api("note", "the program ends with %d, and has %s (see --check=strict), which may be the cause:", status,
                 what);
        show(r);
    }
}

/* --- a fork, and the end ------------------------------------------------------------------------------------------ */

void report_fork(struct report *r) {
    for (struct finding *x = first_of(r); x != NULL; x = x->next)
        x->told = x->recorded = x->count;
    if (r->findings != NULL) {
        r->written = r->findings->met;
        r->launches = r->findings->launches;
    }
    r->turn = 0;
    r->ended = true;
}

static bool was_used(const struct findings *f, const struct suppression *s) {
    const struct finding *x = f->first;
    while (x != NULL && x->suppression != s)
        x = x->next;
    return x != NULL;
}

static void end_unseen(const struct report *r) {
    char list[2048] = "";
    struct strbuf t = strbuf_in(list, sizeof list);
    for (unsigned i = 0; i < BOUNDS; i++)
        if (r->findings->unseen >> i & 1)
            strbuf_put(&t, "%s%s", t.len ? "; " : "", bound_text(i));
    if (t.len)
        diag_api("note", "the checks did not see all of a launch (%s): run a smaller problem, too", list);
}

void report_end(struct report *r, int status) {
    const struct diag_sink sink = diag_stderr();
    end_strict(r, status);
    if (r->findings == NULL || r->findings->launches == 0)
        return;
    findings_tell_more(r->findings, &sink, true, " in later launches");
    if (!r->ended)
        end_unseen(r);
    for (const struct suppression *s = r->ended ? NULL : r->suppressions.first; s != NULL; s = s->next)
        if (!was_used(r->findings, s))
            diag_api("--suppress", "%s:%u: %s: no such finding, or an error, which cannot be suppressed",
                     r->suppressions.path, s->at, s->rule);
    r->ended = true;
    if (r->written != r->findings->met || r->launches != r->findings->launches)
        rewrite_json(r, "at exit");
}
