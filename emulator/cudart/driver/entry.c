/* Driver functions by name; contract in entry.h. */
#include "cudart/driver/entry.h"

#include "cudart/core/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Addresses only: the functions are defined with their own types in the other files. */
#define DRV(name, symbol, version) extern void symbol(void);
#include "cudart/driver/entries.def"

static const struct {
    const char *name;
    void (*function)(void);
    int version;
} entries[] = {
#define DRV(name, symbol, version) {#name, symbol, version},
#include "cudart/driver/entries.def"
};

void *driver_entry(const char *name, int version, int *result) {
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
