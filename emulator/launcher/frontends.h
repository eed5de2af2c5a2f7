/* launcher/frontends.h - the environment of front ends: launcher/frontends.def. */
#ifndef LAUNCHER_FRONTENDS_H
#define LAUNCHER_FRONTENDS_H

/* What a variable of a front end held before the launcher set it: SM100EMU_WAS_TRITON_PTXAS_PATH. */
#define FRONTEND_WAS "SM100EMU_WAS_"
/* The folder of the emulator's cache, where it is not $XDG_CACHE_HOME/sm100emu or ~/.cache/sm100emu. */
#define FRONTEND_CACHE_VARIABLE "SM100EMU_CACHE"

/* Sets them all through `set`. `folder` is that of the emulator's libraries. */
void frontends_set(const char *folder, void (*set)(const char *name, const char *value));

#endif
