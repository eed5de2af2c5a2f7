/* Strict findings: what the check level keeps back is counted in one line when the process ends, and shown in full when
 * a kernel or the program fails, so that a wrong result does not stay without its hint. Contract in context.h.
 *
 * A process that ends without exit handlers (_exit, a signal) ends without the line.
 */
#include "cudart/core/context.h"

#include "base/diag.h"
#include "base/heap.h"

#include <stdio.h>
#include <string.h>

#define FINDINGS_MAX 64u /* kept; the same rule broken in the same function counts once */

struct rt_finding {
    uint64_t key;
    const char *id;
    char *text;
    size_t len;
    bool shown;
};

void rt_keep_finding(void *ctx, uint64_t key, const char *id, const char *text, size_t len) {
    struct rt_context *c = ctx;
    for (uint32_t i = 0; i < c->num_findings; i++)
        if (c->findings[i].key == key)
            return;
    if (c->num_findings == FINDINGS_MAX)
        return;
    c->findings = xgrow(c->findings, c->num_findings, &c->cap_findings, sizeof *c->findings);
    char *copy = memcpy(xcalloc(len, 1), text, len);
    c->findings[c->num_findings++] = (struct rt_finding){.key = key, .id = id, .text = copy, .len = len};
}

/* "2 strict findings"; 0 where all were shown. */
static uint32_t count(const struct rt_context *c, char *text, size_t size) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->num_findings; i++)
        n += !c->findings[i].shown;
    snprintf(text, size, "%u strict finding%s", n, n == 1 ? "" : "s");
    return n;
}

static void show(struct rt_context *c) {
    const struct diag_sink to = diag_stderr();
    for (uint32_t i = 0; i < c->num_findings; i++) {
        if (!c->findings[i].shown)
            to.write(to.ctx, c->findings[i].text, c->findings[i].len);
        c->findings[i].shown = true;
    }
}

void rt_show_findings(struct rt_context *c) {
    char what[40];
    if (!count(c, what, sizeof what))
        return;
    diag_api("note", "%s (see --check=strict), which may be the cause:", what);
    show(c);
}

/* Appends "ID 2" for the findings with the id of the one at `first`, unless it stands there already. */
static void list_id(const struct rt_context *c, uint32_t first, char *text, size_t size) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->num_findings; i++) {
        const bool same = !c->findings[i].shown && strcmp(c->findings[i].id, c->findings[first].id) == 0;
        if (same && i < first)
            return;
        n += same;
    }
    const size_t at = strlen(text);
    snprintf(text + at, size - at, "%s%s %u", at ? ", " : "", c->findings[first].id, n);
}

void rt_end_findings(struct rt_context *c, int status) {
    char what[40], list[480] = "";
    const uint32_t n = count(c, what, sizeof what);
    for (uint32_t i = 0; i < c->num_findings; i++)
        if (!c->findings[i].shown)
            list_id(c, i, list, sizeof list);
    if (n && !status) {
        diag_api("note", "%s (%s): --check=strict shows %s", what, list, n == 1 ? "it" : "them");
    } else if (n) {
        diag_api("note", "the program ends with %d, and has %s (see --check=strict), which may be the cause:", status,
                 what);
        show(c);
    }
    rt_drop_findings(c);
}

void rt_drop_findings(struct rt_context *c) {
    for (uint32_t i = 0; i < c->num_findings; i++)
        xfree(c->findings[i].text);
    xfree(c->findings);
    c->findings = NULL;
    c->num_findings = c->cap_findings = 0;
}
