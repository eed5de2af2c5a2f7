/* cudart/core/report.c - what a process says of its findings beside their reports: the file of --check-json, what is
 * told at its end, and its exit code; contract in context.h. */
#include "base/diag.h"
#include "base/heap.h"
#include "cudart/core/context.h"
#include "cudart/core/options.h"
#include "cudart/core/sarif.h"
#include "machine/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* That the file cannot be written is told once: what was found is on stderr. */
static bool write_json(struct rt_report *r, const char *call) {
    char why[512];
    const bool ok = r->json == NULL || sarif_write(r->findings, r->json, why, sizeof why);
    if (!ok && !r->json_lost)
        diag_api(call, "--check-json: %s", why);
    r->json_lost |= !ok;
    r->written = r->findings->met;
    return ok;
}

/* The list has grown: whatever becomes of the process, the file has it. */
static void on_change(void *ctx) {
    struct rt_context *c = ctx;
    write_json(&c->report, c->call);
}

int rt_report_open(struct rt_context *c, const struct mach_config *config) {
    struct rt_report *r = &c->report;
    const char *launched = getenv(RT_LAUNCHED);
    char why[512];
    if (r->findings != NULL)
        return RT_SUCCESS;
    if (config->suppress != NULL && !suppress_read(&r->suppressions, config->suppress, why, sizeof why)) {
        suppress_free(&r->suppressions);
        return rt_say(c, RT_ERROR_NOT_INITIALIZED, "--suppress: %s", why);
    }
    if (config->check_json != NULL && (r->json = rt_strdup(c, config->check_json)) == NULL)
        return RT_ERROR_MEMORY_ALLOCATION;
    r->findings = xcalloc(1, sizeof *r->findings);
    r->findings->suppressions = &r->suppressions;
    r->findings->changed = on_change;
    r->findings->changed_ctx = c;
    r->launched = launched != NULL && strtol(launched, NULL, 10) == (long)getpid();
    if (write_json(r, c->call))
        return RT_SUCCESS;
    findings_free(r->findings);
    suppress_free(&r->suppressions);
    xfree(r->json);
    *r = (struct rt_report){0};
    return RT_ERROR_NOT_INITIALIZED;
}

void rt_report_fork(struct rt_context *c) {
    struct rt_report *r = &c->report;
    for (struct finding *x = r->findings != NULL ? r->findings->first : NULL; x != NULL; x = x->next)
        x->told = x->count;
    if (r->findings != NULL)
        r->written = r->findings->met;
    r->launched = false;
    r->ended = true;
}

static bool was_used(const struct findings *f, const struct suppression *s) {
    const struct finding *x = f->first;
    while (x != NULL && x->suppression != s)
        x = x->next;
    return x != NULL;
}

bool rt_report_end(struct rt_context *c) {
    struct rt_report *r = &c->report;
    const struct diag_sink sink = diag_stderr();
    if (r->findings == NULL || r->findings->launches == 0)
        return false;
    findings_tell_more(r->findings, &sink, true, " in later launches");
    for (const struct suppression *s = r->ended ? NULL : r->suppressions.first; s != NULL; s = s->next)
        if (!was_used(r->findings, s))
            diag_api("--suppress", "%s:%u: %s: no such finding, or an error, which cannot be suppressed",
                     r->suppressions.path, s->at, s->rule);
    r->ended = true;
    if (r->written != r->findings->met)
        write_json(r, "at exit");
    return r->launched && findings_of_level(r->findings) != 0;
}
