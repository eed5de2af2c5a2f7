/* launcher/frontends.c - contract in frontends.h. */
#include "launcher/frontends.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Where there is no home. Code is loaded from there, so nobody else may have made the folder, or write to it. */
static bool make_private(const char *folder, char *why, size_t why_size) {
    struct stat st;
    const char *wrong = NULL;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        wrong = strerror(errno);
    else if (lstat(folder, &st) != 0)
        wrong = strerror(errno);
    else if (!S_ISDIR(st.st_mode))
        wrong = "it is not a folder";
    else if (st.st_uid != getuid())
        wrong = "it is another user's";
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        wrong = "others may write to it";
    if (wrong)
        snprintf(why, why_size, "%s cannot hold the cache of front ends: %s; set HOME or " FRONTEND_CACHE_VARIABLE,
                 folder, wrong);
    return wrong == NULL;
}

/* The emulator's cache: its name. It is made by those who write to it, but for that without a home. */
static bool cache_folder(char *buf, size_t size, char *why, size_t why_size) {
    const char *own = getenv(FRONTEND_CACHE_VARIABLE), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && *own)
        snprintf(buf, size, "%s", own);
    else if (xdg && *xdg == '/') /* a relative path is to be ignored (XDG Base Directory Specification) */
        snprintf(buf, size, "%s/sm100emu", xdg);
    else if (home && *home == '/')
        snprintf(buf, size, "%s/.cache/sm100emu", home);
    else {
        const char *temporary = getenv("TMPDIR");
        snprintf(buf, size, "%s/sm100emu-%ld", temporary && *temporary == '/' ? temporary : "/tmp", (long)getuid());
        return make_private(buf, why, why_size);
    }
    return true;
}

/* `had`: the variable's value before, or NULL. */
static const char *value_of(const struct frontend *f, const char *folder, const char *cache, const char *had, char *buf,
                            size_t size) {
    switch (f->kind) {
    case KIND_FILE:
        snprintf(buf, size, "%s/%s", folder, f->value);
        return buf;
    case KIND_FOLDER:
        return folder;
    case KIND_CACHE:
        snprintf(buf, size, "%s/%s", cache, f->value);
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

bool frontends_set(const char *folder, void (*set)(const char *name, const char *value), char *why, size_t why_size) {
    char value[FRONTEND_LONGEST], cache[PATH_MAX];
    char was[128];
    if (!cache_folder(cache, sizeof cache, why, why_size))
        return false;
    for (size_t i = 0; i < sizeof frontends / sizeof *frontends; i++) {
        const struct frontend *f = &frontends[i];
        const char *had = getenv(f->variable), *to = value_of(f, folder, cache, had, value, sizeof value);
        if (f->kind != KIND_LIST && had && *had && strcmp(had, to) != 0) { /* the same: of a launcher around this one */
            snprintf(was, sizeof was, FRONTEND_WAS "%s", f->variable);
            set(was, had);
        }
        set(f->variable, to);
    }
    return true;
}
