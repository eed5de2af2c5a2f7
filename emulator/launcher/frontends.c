/* launcher/frontends.c - contract in frontends.h. */
#include "launcher/frontends.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { KIND_FILE, KIND_FOLDER, KIND_CACHE, KIND_TEXT, KIND_DEFAULT, KIND_LIST };

/* Of a value. A list that would be longer is replaced. */
#define FRONTEND_LONGEST (1 << 17)

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

/* `had`: the variable's value before, or NULL. */
static const char *value_of(const struct frontend *f, const char *folder, const char *had, char *buf, size_t size) {
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
    case KIND_DEFAULT:
        return had && *had ? had : f->value;
    case KIND_LIST: /* a launcher around this one may have put it there */
        snprintf(buf, size, "%s/%s", folder, f->value);
        const size_t n = strlen(buf);
        if (had && strncmp(had, buf, n) == 0 && (had[n] == 0 || had[n] == ':'))
            return had;
        if (had && *had && (size_t)snprintf(buf + n, size - n, ":%s", had) >= size - n)
            buf[n] = 0;
        return buf;
    default:
        return f->value;
    }
}

void frontends_set(const char *folder, void (*set)(const char *name, const char *value)) {
    char value[FRONTEND_LONGEST];
    char was[128];
    for (size_t i = 0; i < sizeof frontends / sizeof *frontends; i++) {
        const struct frontend *f = &frontends[i];
        const char *had = getenv(f->variable), *to = value_of(f, folder, had, value, sizeof value);
        if (f->kind != KIND_LIST && had && *had && strcmp(had, to) != 0) { /* the same: of a launcher around this one */
            snprintf(was, sizeof was, FRONTEND_WAS "%s", f->variable);
            set(was, had);
        }
        set(f->variable, to);
    }
}
