/* Driver functions by name; contract in entry.h. */
#include "cudart/driver/entry.h"

#include "cudart/core/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Addresses only: the functions are defined with their own types in the other files. */
#define DRV(name, symbol, version) extern void symbol(void);
#define STUB(name, symbol, version) extern void symbol(void);
#define PER_THREAD(symbol)
#define STUB_PER_THREAD(symbol)
#include "cudart/driver/entries.def"

static const struct {
    const char *name;
    void (*function)(void);
    int version;
} entries[] = {
#define DRV(name, symbol, version) {#name, symbol, version},
#define STUB(name, symbol, version) {#name, symbol, version},
#define PER_THREAD(symbol)
#define STUB_PER_THREAD(symbol)
#include "cudart/driver/entries.def"
};

static void *find(const char *name, int version, int *result) {
    void (*best)(void) = NULL;
    bool seen = false;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (strcmp(entries[i].name, name) != 0)
            continue;
        seen = true;
        if (entries[i].version <= version)
            best = entries[i].function; /* versions of one name rise */
    }
    *result = best != NULL ? RT_ENTRY_FOUND : seen ? RT_ENTRY_VERSION_TOO_OLD : RT_ENTRY_NOT_FOUND;
    void *address;
    memcpy(&address, &best, sizeof address);
    return address;
}

int driver_entry(const char *call, const char *name, void **out, int version, int *result) {
    struct rt_context *c = rt_enter(call);
    int found, e = RT_SUCCESS;
    if (name == NULL || out == NULL)
        return rt_leave(c, rt_say(c, RT_ERROR_INVALID_VALUE, "no name, or no place for the result"));
    *out = find(name, version, &found);
    if (*out == NULL && c->driver)
        e = RT_ERROR_NOT_FOUND;
    if (result != NULL)
        *result = found;
    return rt_leave(c, e);
}
