/* launcher/frontends.h - the environment of front ends: launcher/frontends.def. */
#ifndef LAUNCHER_FRONTENDS_H
#define LAUNCHER_FRONTENDS_H

#include <stdbool.h>
#include <stddef.h>

/* What a variable of a front end held before the launcher set it: SM100EMU_WAS_TRITON_PTXAS_PATH. */
#define FRONTEND_WAS "SM100EMU_WAS_"
/* The folder of the emulator's cache, where it is not $XDG_CACHE_HOME/sm100emu or ~/.cache/sm100emu. Without a home it
 * is $TMPDIR/sm100emu-UID or /tmp/sm100emu-UID, which is made, and belongs to this user alone. */
#define FRONTEND_CACHE_VARIABLE "SM100EMU_CACHE"

/* Sets them all through `set`. `folder` is that of the emulator's libraries. False, with the reason in `why`, where the
 * cache would be in a folder that others can write to. */
bool frontends_set(const char *folder, void (*set)(const char *name, const char *value), char *why, size_t why_size);

#endif
