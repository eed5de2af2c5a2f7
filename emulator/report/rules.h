/* report/rules.h - every diagnostic that the emulator can give.
 *
 * Each is defined beside the code that gives it (DIAG), and the linker makes the list. A program that is linked with
 * libsm100emu.a has those of the rooms that it uses; libsm100emu.so and sm100emu-rules have all.
 */
#ifndef REPORT_RULES_H
#define REPORT_RULES_H

#include "report/diag.h"

#include <stdio.h>

/* The definition with this id that says its reason, or else any with this id; NULL: there is none. */
const struct diag *rules_find(const char *id);
/* All definitions as a JSON array, in no order. */
void rules_print(FILE *f);

#endif
