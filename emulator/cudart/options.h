/* Options that the launcher checks and hands to the shared library through the environment. */
#ifndef CUDART_OPTIONS_H
#define CUDART_OPTIONS_H

#include "machine/machine.h"

#include <stdbool.h>

/* "default", "eager", "lazy" or "random:SEED" into config; false for anything else. */
bool rt_parse_schedule(const char *text, struct mach_config *config);
/* "warn", "error" or "off": what becomes of a broken ordering rule. */
bool rt_parse_check(const char *text, struct mach_config *config);
/* A number of warp instructions, at least 1. */
bool rt_parse_watchdog(const char *text, struct mach_config *config);
/* The SMs of each GPC, "20,18,18": at most MACH_MAX_GPCS numbers whose sum is MACH_B200_SMS. */
bool rt_parse_gpc_sizes(const char *text, struct mach_config *config);

#endif
