/* report/bounds.c - bounds by name; contract in bounds.h. */
#include "report/bounds.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[BOUNDS] = {
#define BOUND(name, most, text) [BOUND_##name] = #name,
#include "report/bounds.def"
#undef BOUND
};

/* The bound that a text begins with, behind whose name stands '=', or BOUNDS. */
static enum bound named(const char *text) {
    enum bound b = 0;
    const size_t n = strcspn(text, "=");
    while (b < BOUNDS && (strlen(names[b]) != n || memcmp(names[b], text, n) != 0))
        b++;
    return text[n] ? b : BOUNDS;
}

bool bounds_lower(struct bounds *bounds, const char *text) {
    for (char *end; *text; text = *end ? end + 1 : end) {
        const enum bound b = named(text);
        text += strcspn(text, "=") + 1;
        if (b == BOUNDS || *text < '0' || *text > '9')
            return false;
        const unsigned long long most = strtoull(text, &end, 10);
        if (most > bounds->most[b] || (*end && *end != ','))
            return false;
        bounds->most[b] = most;
    }
    return true;
}
