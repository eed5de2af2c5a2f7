/* Options that the launcher checks and hands to the shared library through the environment. */
#ifndef CUDART_CORE_OPTIONS_H
#define CUDART_CORE_OPTIONS_H

#include "machine/machine.h"

#include <stdbool.h>
#include <stddef.h>

/* One option: `--name=value` of the launcher, the variable `env` of the library. */
struct rt_option {
    const char *name, *env;
    bool (*parse)(const char *text, struct mach_config *config); /* false: not a value of this option */
    /* Where in mach_config the name of a file goes, which needs no `parse`. The launcher hands it on from the root, as
     * programs change their directory. */
    size_t path;
    const char *expects; /* what its values are, to be put behind "expected: " */
};
#define RT_NUM_OPTIONS 18u
extern const struct rt_option rt_options[RT_NUM_OPTIONS];
/* Enters the value: false: not one of this option. */
bool rt_option_take(const struct rt_option *o, const char *text, struct mach_config *config);

#endif
