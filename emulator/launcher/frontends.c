/* launcher/frontends.c - contract in frontends.h. */
#include "launcher/frontends.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { KIND_FILE, KIND_FOLDER, KIND_CACHE, KIND_TEXT };

#define FRONTEND(kind, variable, value) {KIND_##kind, variable, value},
static const struct frontend {
    enum kind kind;
    const char *variable, *value;
} frontends[] = {
#include "launcher/frontends.def"
};

/* The emulator's cache. It is made by those who write to it. */
static const char *cache_folder(char *buf, size_t size) {
    const char *own = getenv(FRONTEND_CACHE_VARIABLE), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && *own)
        snprintf(buf, size, "%s", own);
    else if (xdg && *xdg == '/') /* a relative path is to be ignored (XDG Base Directory Specification) */
        snprintf(buf, size, "%s/sm100emu", xdg);
    else if (home && *home == '/')
        snprintf(buf, size, "%s/.cache/sm100emu", home);
    else
        snprintf(buf, size, "/tmp/sm100emu-%ld", (long)getuid());
    return buf;
}

static const char *value_of(const struct frontend *f, const char *folder, char *buf, size_t size) {
    char cache[PATH_MAX];
    switch (f->kind) {
    case KIND_FILE:
        snprintf(buf, size, "%s/%s", folder, f->value);
        return buf;
    case KIND_FOLDER:
        return folder;
    case KIND_CACHE:
        snprintf(buf, size, "%s/%s", cache_folder(cache, sizeof cache), f->value);
        return buf;
    default:
        return f->value;
    }
}

void frontends_set(const char *folder, void (*set)(const char *name, const char *value)) {
    char value[2 * PATH_MAX], was[128];
    for (size_t i = 0; i < sizeof frontends / sizeof *frontends; i++) {
        const struct frontend *f = &frontends[i];
        const char *to = value_of(f, folder, value, sizeof value), *had = getenv(f->variable);
        if (had && *had && strcmp(had, to) != 0) { /* the same: of a launcher around this one */
            snprintf(was, sizeof was, FRONTEND_WAS "%s", f->variable);
            set(was, had);
        }
        set(f->variable, to);
    }
}
