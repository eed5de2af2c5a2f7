/* Options that the launcher checks and hands to the shared library through the environment. */
#ifndef CUDART_OPTIONS_H
#define CUDART_OPTIONS_H

#include "machine/machine.h"

#include <stdbool.h>

/* One option: `--name=value` of the launcher, the variable `env` of the library. */
struct rt_option {
    const char *name, *env;
    bool (*parse)(const char *text, struct mach_config *config); /* false: not a value of this option */
    const char *expects; /* what its values are, to be put behind "expected: " */
};
extern const struct rt_option rt_options[];
#define RT_NUM_OPTIONS 6u

/* "default", "eager", "lazy" or "random:SEED" into config; false for anything else. */
bool rt_parse_schedule(const char *text, struct mach_config *config);
/* A number of warp instructions, at least 1. */
bool rt_parse_watchdog(const char *text, struct mach_config *config);

#endif
